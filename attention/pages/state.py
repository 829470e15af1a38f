"""The only door to session state and the address: what is set, how it changes, what was refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention.inputs import links
from attention.inputs.examples import EXAMPLES
from attention.inputs.matrices import BadInput
from attention.inputs.settings import SAMPLING, Settings, check

_NOTHING = object()


def begin(page: str) -> Settings:
    """The settings of this run: from the session, or from the address when the person came with one or went Back."""
    state = st.session_state
    address = st.query_params.to_dict()
    moved = state.get("page") == page and not state.get("changed") and address != state.get("address")
    if "settings" not in state or (moved and address):
        state.settings, state.notices = links.read(address)
    state.page, state.changed = page, False
    return state.settings


def current() -> Settings:
    return st.session_state.settings


def change(act: Callable[[Settings], Settings]) -> bool:
    """Let ``act`` make new settings. What it refuses becomes a notice, and everything stays as it was."""
    state = st.session_state
    state.changed, state.notices = True, []
    try:
        settings = check(act(state.settings))
        state.settings = settings if settings.cell is None else _with_existing_cell(settings)
    except BadInput as problem:
        state.notices = [_sentence(str(problem))]
        return False
    return True


def _with_existing_cell(settings: Settings) -> Settings:
    return replace(settings, cell=links.existing_cell(settings))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def say(sentence: str) -> None:
    """A notice that stands until the next change."""
    st.session_state.notices = [*st.session_state.get("notices", []), sentence]


def notices() -> list[str]:
    return st.session_state.get("notices", [])


def example(s: Settings, name: str) -> Settings:
    """An example as it was made; what the other page samples stays."""
    return replace(EXAMPLES[name].build(), **{field: getattr(s, field) for field in SAMPLING})


def reset() -> None:
    """Back to the example the person began with."""
    change(lambda s: example(s, s.example))


def open_file(content: bytes) -> None:
    """Go on from a saved state; a file that is something else changes nothing."""
    found = []

    def act(settings):
        new, sentences = links.from_file(content)
        found.extend(sentences)
        return new

    if change(act):
        st.session_state.notices = found


def bound(widget, label: str, name: str, value, apply, **options):
    """A control that shows ``value`` and hands every move to ``apply(settings, moved_to)``.

    It is keyed by the name of its setting and gets its value from the settings alone, so it obeys
    every move and comes back as it was after a visit to another page.
    """
    key = f"set_{name}"
    menu = [options["format_func"](option) for option in options["options"]] if "format_func" in options else None
    if st.session_state.get(key, _NOTHING) != value or kept(f"menu_{name}", menu) != menu:
        st.session_state[key] = value  # also where only the labels changed: the browser holds the old one
    keep(f"menu_{name}", menu)
    return widget(label, key=key, on_change=_commit, args=(key, apply, options.get("options")), **options)


def _commit(key: str, apply, options) -> None:
    """A menu whose labels were renamed under it reports its old label: that is not a choice."""
    value = st.session_state[key]
    chosen = value if isinstance(value, list) else [value]
    if options is None or all(choice is None or choice in options for choice in chosen):
        change(lambda s: apply(s, value))


def table(name: str, content) -> tuple[str, object]:
    """A key for the table of ``name``, and what it opened with.

    Edits are kept by the table against what it opened with. It opens anew, under a new key, when its
    content was changed elsewhere, or when an edit was refused.
    """
    box = st.session_state.setdefault(f"box_{name}", {"version": 0, "base": None, "now": _NOTHING})
    if box["now"] is _NOTHING or box["now"] != content:
        box.update(version=box["version"] + 1, base=content, now=content)
    return f"table_{name}_{box['version']}", box["base"]


def edits(key: str) -> dict:
    return st.session_state[key]


def table_is(name: str, content) -> None:
    """The open table already shows this content; leave it open."""
    st.session_state[f"box_{name}"]["now"] = content


def reopen(name: str) -> None:
    """Show the table anew, as the settings have it."""
    st.session_state[f"box_{name}"]["now"] = _NOTHING


def kept(name: str, default):
    """A value of the page alone, such as which panel is open, that outlives a visit to another page."""
    return st.session_state.setdefault(f"kept_{name}", default)


def keep(name: str, value) -> None:
    st.session_state[f"kept_{name}"] = value


def write_address() -> bool:
    """Put the settings into the address; False where they do not fit and only the example stands there."""
    link = links.write(current())
    fits = links.fits(link)
    if not fits:
        link = links.partial(current())
    if st.query_params.to_dict() != link:
        st.query_params.from_dict(link)
    st.session_state.address = link
    return fits
