"""The only door to session state and the address: what is set, how it changes, what was refused."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

import streamlit as st

from attention.inputs import links
from attention.inputs.examples import EXAMPLES
from attention.inputs.matrices import BadInput
from attention.inputs.settings import SAMPLING, Settings, check
from attention.pages import start

MOST_UNTOLD = 8_000_000  # numbers in all states too large for a link that the server keeps for Back and reload
_NOTHING = object()
_UNTOLD: OrderedDict[str, Settings] = OrderedDict()  # by the mark in their address; the oldest go first
_LOCK = Lock()


@dataclass
class Visit:
    """All that is remembered of one visitor, in one entry of the session (Streamlit walks through them all)."""

    settings: Settings
    notices: list[str]  # what was refused
    remarks: list[str] = field(default_factory=list)  # what was understood
    page: str = ""
    address: dict[str, str] = field(default_factory=dict)  # as this page wrote it
    arrived: bool = True  # whether the browser has taken over the address this page wrote
    changed: bool = False  # whether a control began this run
    kept: dict = field(default_factory=dict)  # values of the page alone, such as which panel is open
    menus: dict = field(default_factory=dict)  # the labels each menu showed last
    tables: dict = field(default_factory=dict)  # what each table opened with
    drawn: set = field(default_factory=set)  # the controls this run has drawn so far
    standing: set = field(default_factory=set)  # those that stand in the browser


def _visit() -> Visit:
    return st.session_state["visit"]


def begin(page: str) -> Settings:
    """The settings of this run: from the session, or from the address when the person came with one or went Back.

    A run that a control began may still carry an address from before the last move, so only a run that
    none began is taken for Back.
    """
    address = st.query_params.to_dict()
    visit = st.session_state.get("visit")
    if visit is None:
        visit = st.session_state["visit"] = Visit(*_opened(address), page=page)
    elif visit.page != page:
        visit.page, visit.arrived = page, False  # the menu of pages leads to bare addresses
    elif (address or visit.arrived) and not visit.changed and address != visit.address:
        visit.settings, visit.notices = _opened(address)
        visit.remarks = []
    visit.arrived, visit.changed = visit.arrived or bool(address), False
    visit.drawn = set()
    return visit.settings


def end() -> None:
    """The run has drawn all there is: a control it did not draw is gone from the browser.

    A run that another one overtakes never comes here, and the browser then keeps all that stands.
    """
    visit = _visit()
    visit.standing = set(visit.drawn)


def _opened(address: dict[str, str]) -> tuple[Settings, list[str]]:
    """What an address stands for: by itself, or by its mark."""
    known = _UNTOLD.get(address.get("partial", ""))
    return (known, []) if known else start.read(address)


def _remember(mark: str, settings: Settings) -> None:
    """Keep a state that no link can hold, so that Back and a reload find it."""
    with _LOCK:
        _UNTOLD[mark] = settings
        _UNTOLD.move_to_end(mark)
        held = sum(_numbers(known) for known in _UNTOLD.values())
        while held > MOST_UNTOLD:
            held -= _numbers(_UNTOLD.popitem(last=False)[1])


def _numbers(settings: Settings) -> int:
    return sum(matrix.values.size for matrix in settings.matrices.values())


def current() -> Settings:
    return _visit().settings


def touched() -> None:
    """A control began this run. Every control says so, whatever else it does; what was said before is over."""
    visit = _visit()
    visit.changed, visit.notices, visit.remarks = True, [], []


def change(act: Callable[[Settings], Settings]) -> bool:
    """Let ``act`` make new settings. What it refuses becomes a notice, and everything stays as it was."""
    visit = _visit()
    visit.changed, visit.notices, visit.remarks = True, [], []
    try:
        settings = check(act(visit.settings))
        visit.settings = replace(settings, cell=links.existing_cell(settings)) if settings.cell else settings
    except BadInput as problem:
        refuse(str(problem))
        return False
    return True


def refuse(sentence: str) -> None:
    """What could not be used; everything stays as it was."""
    visit = _visit()
    visit.changed, visit.notices, visit.remarks = True, [capital(sentence)], []


def capital(sentence: str) -> str:
    """With a capital letter, unless it begins with the name of a file."""
    return sentence if "." in sentence.split(" ", 1)[0] else sentence[:1].upper() + sentence[1:]


def say(sentence: str) -> None:
    """How something was understood; it stands until the next change."""
    _visit().remarks.append(sentence)


def sentences() -> tuple[list[str], list[str]]:
    """What was refused, and what was understood, at the last change."""
    return _visit().notices, _visit().remarks


def example(s: Settings, name: str) -> Settings:
    """An example as it was made; what the other page samples stays."""
    return replace(EXAMPLES[name].build(), **{sampled: getattr(s, sampled) for sampled in SAMPLING})


def reset() -> None:
    """Back to the example the person began with."""
    change(lambda s: example(s, s.example))


def open_file(content: bytes) -> None:
    """Go on from a saved state; a file that is something else changes nothing."""
    change(lambda settings: links.from_file(content))


# ---- controls ---------------------------------------------------------------------------------------


def bound(widget, label: str, name: str, value, apply, **options):
    """A control that shows ``value`` and hands every move to ``apply(settings, moved_to)``.

    It is keyed by the name of its setting and gets its value from the settings alone, so it obeys
    every move and comes back as it was after a visit to another page.
    """
    return _keyed(widget, label, name, value, lambda moved: change(lambda s: apply(s, moved)), options)


def own(widget, label: str, name: str, default, **options):
    """A control of the page alone, such as which panel is open; it outlives a visit to another page.

    A kept value that is no longer on offer gives way to the default, or to the first that is.
    """
    value = _offered(kept(name, default), default, options.get("options"))
    keep(name, value)
    _keyed(widget, label, name, value, lambda moved: keep(name, moved), options)
    return value


def _offered(value, default, choices):
    """The value as far as it is among the choices; None, for no choice, where that is the default."""
    if choices is None:
        return value
    if isinstance(value, list):
        return [choice for choice in value if choice in choices]
    if value in choices or (value is None and default is None):
        return value
    return default if default is None or default in choices else next(iter(choices), None)


def _keyed(widget, label, name, value, move, options):
    """Draw the control with this value.

    The browser remembers what a control shows for as long as it stands there; one that stands
    anew is told its value, or it would show Streamlit's own default and report that as a move.
    """
    key, visit, menu = f"set_{name}", _visit(), None
    if "format_func" in options:
        menu = [options["format_func"](option) for option in options["options"]]
    known = key in visit.standing and visit.menus.get(name) == menu
    if not known or st.session_state.get(key, _NOTHING) != value:
        st.session_state[key] = value  # also where only the labels changed: the browser holds the old one
    visit.menus[name] = menu
    visit.drawn.add(key)
    visit.standing.add(key)
    return widget(label, key=key, on_change=_moved, args=(key, move, options), **options)


def _moved(key: str, move, options: dict) -> None:
    """Hand on what was chosen.

    A menu whose labels were renamed under it reports its old label, one that is gone what it
    showed last, and one where something must be chosen can report nothing: none is a choice.
    """
    if key not in _visit().standing:
        return
    touched()
    value = st.session_state[key]
    choices, chosen = options.get("options"), value if isinstance(value, list) else [value]
    if value is None and options.get("required"):
        return
    if choices is None or all(choice is None or choice in choices for choice in chosen):
        move(value)


def kept(name: str, default):
    """A value of the page alone."""
    return _visit().kept.setdefault(name, default)


def keep(name: str, value) -> None:
    _visit().kept[name] = value


def trigger(key: str, name: str):
    """What a component of ours has just sent; None where it sent nothing."""
    touched()
    return st.session_state[key].get(name)


def typed(key: str) -> str:
    """What stands in a text box."""
    return st.session_state[key]


# ---- tables to type in ------------------------------------------------------------------------------


def table(name: str, content) -> tuple[str, object]:
    """A key for the table of ``name``, and what it opened with.

    Edits are kept by the table against what it opened with. It opens anew, under a new key, when its
    content was changed elsewhere, or when an edit was refused.
    """
    box = _visit().tables.setdefault(name, {"version": 0, "base": None, "now": _NOTHING})
    if box["now"] is _NOTHING or box["now"] != content:
        box.update(version=box["version"] + 1, base=content, now=content)
    return f"table_{name}_{box['version']}", box["base"]


def edits(name: str, key: str) -> tuple[object, dict]:
    """What the table opened with, and Streamlit's record of what was typed since."""
    return _visit().tables[name]["base"], st.session_state[key]


def table_is(name: str, content) -> None:
    """The open table already shows this content; leave it open."""
    _visit().tables[name]["now"] = content


def reopen(name: str) -> None:
    """Show the table anew, as the settings have it."""
    table_is(name, _NOTHING)


# ---- the address ------------------------------------------------------------------------------------


def write_address() -> bool:
    """Put the settings into the address; False where they do not fit and only a mark of them stands there."""
    visit, address = _visit(), st.query_params.to_dict()
    link, whole = links.address(visit.settings)
    if not whole:
        _remember(link["partial"], visit.settings)
    if address != link and (address or not start.is_bare(link)):
        st.query_params.from_dict(link)
    visit.address = link if address or not start.is_bare(link) else {}
    return whole
