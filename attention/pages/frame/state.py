"""The only door to session state and the address: what is set, how it changes, what was refused."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, local
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import streamlit as st

from attention.limits import MAX_ASKED, BadInput
from attention.pages.frame import internals, start, store
from attention.pages.frame.turns import SHORT
from attention.session.edit.parts import fitted
from attention.session.state import kept as in_browser
from attention.session.state import links
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.long_context import brought
from attention.session.state.settings import (
    COMPARED,
    EXERCISE,
    GUIDED,
    LONG,
    LOOKS,
    MOVE,
    OPENED,
    PRINTED,
    SAMPLING,
    Settings,
    TooManyTokens,
    seen_alike,
)
from attention.session.state.validate import check
from attention.session.teach.exercise import answers_kept
from attention.vocabulary.sentences import capital

PATIENCE = 30  # seconds for a browser to say what it keeps; one that runs scripts needs a half
QUIET = 0.4  # seconds without a run: none was under way
SHORTLY = 1  # second without a word of what is awaited
LONGEST_WHY = 100  # characters of a browser's own reason
DATA = "Your data"  # the part below the board where a saved state is opened
UNSEEN = (
    "Nothing was changed: “{}” was pressed before the page had shown what it applies to now. Look"
    " below the board, and press again."
)
GO = "go_to"  # a value of the page: the path of the one that the next run turns to
CARRIED = "carried"  # another: settings whose attention Long context is to show
HEARD = "heard"  # the hidden text box by which the browser says what it has heard
_NOTHING = object()
_VISITS: WeakValueDictionary[str, Visit] = WeakValueDictionary()  # by their tickets
_thread = local()  # .asked: the pages of its runs that were overtaken before they knew their visit
# of the settings, beside another example
KEPT = SAMPLING + PRINTED + COMPARED + GUIDED + EXERCISE + LONG + OPENED + MOVE
Change = Callable[[Settings], Settings]
Act = Callable[..., Settings]  # of settings, and of what a control was moved to
Widening = Callable[[Act], Act]
Finish = Callable[[Settings, Settings], Settings]  # of settings before and after a change
Widget = Callable[..., Any]  # a control of Streamlit
Move = Callable[[Any], object]  # takes what a control was moved to
Told = list[tuple[int, Any]]  # what the browser was told, each with the number of the run


class Slider(NamedTuple):
    """A slider as a run has drawn it."""

    value: int
    least: int
    most: int
    apply: Callable[[Settings, Any], Settings]


@dataclass
class Visit:
    """All that is remembered of one visitor, in one entry of the session.

    One, because Streamlit walks through all entries at every run.
    """

    settings: Settings
    notices: list[str]  # what was refused
    remarks: list[str] = field(default_factory=list)  # what was understood
    too_long: Settings | None = None  # what was refused, where Long context can show it
    page: str = ""  # the last that ran, as Streamlit calls it
    finish: Finish = lambda before, after: after  # what that page makes of each change
    arrived: bool = False  # at a page or an address, which may open with something to see
    # the settings that stand, where the page shows what it opens with until something is changed,
    # and what it opened with
    beside: tuple[Settings, Settings] | None = None
    address: dict[str, str] = field(default_factory=dict)  # as it was opened
    standing: dict[str, str] | None = None  # the address taken over or written last
    # a scrub or a stroke of paint goes on: the address waits for its end, for one step of Back
    stroke_goes_on: bool = False
    written: tuple[bool, str] = (True, "")  # what write_address said last
    # the settings whose link was asked for last, its parameters, and whether they are all
    linked: tuple[Settings, dict[str, str], bool] | None = None
    unkept: tuple[Settings, str] | None = None  # these settings, and why no browser keeps them
    # values of the page alone, such as which panel is open
    page_values: dict[str, Any] = field(default_factory=dict)
    # the labels each menu showed last
    menu_labels: dict[str, list[str] | None] = field(default_factory=dict)

    # the component that keeps large states in the browser
    store_place: AbstractContextManager = field(default_factory=nullcontext)  # on the page
    store_turn: str = ""  # of what it is told; another one makes it do the same again
    awaited_mark: str = ""  # of the state that the browser was asked for
    matrices_in_browser: set[str] = field(default_factory=set)  # by digest
    not_kept: tuple[str, str] = ("", "")  # a mark that the browser could not keep, and why
    told_to_forget: bool = False  # and so to keep nothing until the next change

    # asked for while a state is on its way, or before the first run of the session has ended
    waiting_changes: list[Change] = field(default_factory=list)

    # the first moves after a restart of the server
    controls_heard: set[str] = field(default_factory=set)  # whose first move was handed on
    controls_drawn: set[str] = field(default_factory=set)  # by this run, so far
    controls_in_browser: set[str] = field(default_factory=set)

    # hurried moves: what the browser was told and may not have heard when it asked for this run
    name: str = field(default_factory=lambda: secrets.token_hex(4))
    run: int = 0  # the number of this run
    ended: int = 0  # the last run that reached its end
    heard: int = 0  # the last run all of which the browser is known to have heard
    values: dict[str, Told] = field(default_factory=dict)  # of each control
    addresses: Told = field(default_factory=list)
    told_anew: int = 0  # the run of another address or page, which tells every control its value
    # what a button to confirm is about, since which run, and those whose press is not done yet
    offered: dict[str, tuple[int, Hashable]] = field(default_factory=dict)
    pressed: dict[str, int] = field(default_factory=dict)  # with what was heard by then
    moved: bool = False  # a control, since the last run that reached its end

    # asked between two runs: the name that lets one ask, and what the last board was of
    ticket: str = field(default_factory=partial(secrets.token_urlsafe, 16))
    # those settings but for the cell whose arithmetic is shown, and their number
    shown: tuple[int, Settings] | None = None
    session: str = ""  # as Streamlit calls it
    asking: int = 0  # requests that are being answered
    answered: Event = field(default_factory=Event)  # set once the last of them is
    foreseen: tuple[Settings, Any] | None = None  # what was made of it before its run
    sliders: dict[str, Slider] = field(default_factory=dict)  # by the names of their settings


def _visit() -> Visit:
    return st.session_state["visit"]


def asked_for() -> None:
    """Note the page of this run, before any command of Streamlit: at each it may be overtaken."""
    _thread.asked = [*_asked(), internals.page_hash()]


def _asked() -> list[str]:
    return getattr(_thread, "asked", [])


def begin(
    finish: Finish = lambda before, after: after,
    opening: Callable[[Settings], Settings] | None = None,
) -> Settings:
    """The settings of this run: from the session, or from the address.

    The address counts where the person came with one, or went Back. What the page's controls change
    goes through ``finish``. A page that one arrives at opens with what ``opening`` makes of the
    settings; until a control changes that, the address and other pages keep what was set.
    """
    address = st.query_params.to_dict()
    visit = st.session_state.get("visit")
    if visit is None:
        visit = st.session_state["visit"] = Visit(EXAMPLES[FIRST].build(), [])
    if _said_to_be_heard(visit) < visit.ended:
        _hear(visit)
    visit.run += 1
    if internals.went_back() and not visit.ended:  # what was sent before it is taken back
        visit.waiting_changes = []
        visit.pressed.clear()
    if _turned(visit):  # the browser takes every control away with its page
        visit.told_anew, visit.arrived = visit.run, True
        visit.settings, visit.beside = _own(visit), None
    _arrive(visit, address)
    visit.page, visit.finish, visit.controls_drawn = internals.page_hash(), finish, set()
    _thread.asked = []
    visit.store_place = st.container(key="kept")
    with visit.store_place:
        _awake()
    if visit.awaited_mark:
        _wait(visit)
    if visit.arrived and opening and (shown := opening(visit.settings)) != visit.settings:
        visit.settings, visit.beside = shown, (visit.settings, shown)
    visit.arrived = False
    return visit.settings


def _own(visit: Visit) -> Settings:
    """What is set; of what a page opened with, only what was looked at."""
    if visit.beside is None:
        return visit.settings
    settings, (own, opened) = visit.settings, visit.beside
    looks = {name: getattr(settings, name) for name in LOOKS}
    looked = {name: look for name, look in looks.items() if look != getattr(opened, name)}
    return replace(own, **looked)


def end() -> None:
    """The last line of a page: all there is was drawn, and this session knows every control.

    A control that was not drawn is gone from the browser. A run that another one overtakes never
    comes here, and the browser then keeps all that stands. What the first run had to leave waiting
    is done now, and the page drawn with it.
    """
    visit = _visit()
    visit.controls_in_browser = set(visit.controls_drawn)
    drawn = {name for name in visit.sliders if f"set_{name}" in visit.controls_drawn}
    visit.sliders, visit.foreseen = {name: visit.sliders[name] for name in drawn}, None
    visit.offered = {key: visit.offered[key] for key in visit.offered.keys() & visit.controls_drawn}
    visit.pressed.clear()
    visit.moved = False
    visit.ended = visit.run
    if visit.waiting_changes:
        _carry_out(visit)
        st.rerun()
    st.session_state[HEARD] = f"{visit.name} {visit.run}"
    with visit.store_place:
        st.text_input(HEARD, key=HEARD, label_visibility="collapsed")


@st.fragment(run_every=3600)
def _awake() -> None:
    """Nothing, once an hour: for its sake the browser asks for a run once it is connected again.

    Without it, the first move after a restart would begin the new session, which knows no control.
    It is drawn first, so that most runs that a restart cuts short are asked of the next server.
    """


# ---- what the browser has heard ---------------------------------------------
#
# Moves reach the server later than they are made, and what it answers reaches the browser later
# still: a control told another value goes on showing, and sending, the old one until it hears. So
# the last thing that each run tells is its own number, to a text box that nobody sees. The browser
# sends it back with each move: what was told up to that run it showed when the move was made, what
# was told later it may have shown, and all else is the person's doing. With Back alone it sends no
# text boxes, and the server finds in this one what it wrote there itself.


def _said_to_be_heard(visit: Visit) -> int:
    """The number in the text box; 0 where it was never told one, or by another session."""
    name, _, run = st.session_state.get(HEARD, "").partition(" ")
    return int(run) if name == visit.name else 0


def _hear(visit: Visit) -> None:
    """Believe the text box: the browser has sent it."""
    visit.heard = _said_to_be_heard(visit)


def _may_hold(told: Told, heard: int) -> Told:
    """What the browser may hold of all it was told: the last that it has heard, and all later."""
    before = sum(run <= heard for run, _ in told)
    return told[max(before - 1, 0) :]


def _arrive(visit: Visit, address: dict[str, str]) -> None:
    """Take over the address where the person went Back.

    Streamlit says so of a run that Back alone began. Where a control was moved with it, the address
    is none that the browser may still hold. The menu of pages asks for a page by a bare address,
    and means the settings that stand.
    """
    if not address and _by_menu(visit):
        visit.addresses.append((visit.run, address))  # also for the next run, if it overtakes this
        return
    visit.addresses = _may_hold(visit.addresses, visit.heard)
    held = [told for _, told in _may_hold(visit.addresses, _said_to_be_heard(visit))]
    if internals.went_back():  # the address is the one that the person wants
        held = [visit.standing]
    if address not in held:
        visit.addresses.append((visit.run, address))
        visit.told_anew = visit.run
        _open(visit, address)


def _by_menu(visit: Visit) -> bool:
    """Whether this run is of another page than those before, and not since the person went Back."""
    return _turned(visit) and not internals.went_back()


def _turned(visit: Visit) -> bool:
    """Whether this run is of another page than those before it.

    Before it are the last that began, and what was asked for since: Streamlit ends a run for the
    next, in the same thread, as soon as the browser has heard of its page.
    """
    before = [visit.page, *_asked()] if visit.page else []  # a new visitor has come by an address
    return any(page != internals.page_hash() for page in before)


# ---- large states, kept by the browser --------------------------------------


def _open(visit: Visit, address: dict[str, str]) -> None:
    """Take what an address stands for: by itself, or by a mark that only the browser knows."""
    visit.address = visit.standing = address
    visit.remarks, visit.waiting_changes = [], []
    visit.too_long, visit.beside, visit.arrived = None, None, True
    visit.pressed.clear()
    visit.stroke_goes_on = False
    visit.awaited_mark, visit.store_turn = address.get("partial", ""), secrets.token_hex(8)
    if not visit.awaited_mark:
        _take(visit, partial(start.read, address))


def _take(visit: Visit, read: Callable[[], tuple[Settings, list[str]]]) -> None:
    """Take over what an address stands for; of too many tokens Long context does.

    Who goes Back to such an address would only be led on again, so they get the sentence.
    """
    try:
        visit.settings, visit.notices = read()
    except TooManyTokens as found:
        if found.settings is None:
            raise
        visit.settings, visit.notices = EXAMPLES[found.settings.example].build(), []
        visit.waiting_changes = []
        if visit.ended:
            visit.notices, visit.too_long = [capital(str(found))], found.settings
        else:
            _carry(visit, found.settings)


def _wait(visit: Visit) -> None:
    """Hold this run; the browser's answer begins another, which takes over at the next command.

    What the page showed stays as it is: no example flashes up, and no control is taken away.
    """
    with visit.store_place:
        store.find(visit.store_turn, visit.awaited_mark, _found)
        words = st.empty()
    begun = time.monotonic()
    while (waited := time.monotonic() - begun) < PATIENCE:
        time.sleep(0.03)
        if waited < SHORTLY:
            words.empty()
        else:
            words.html("<p class='awaiting'>Fetching your numbers from this browser</p>")
    words.empty()
    _lose(visit, "it did not answer")


def _found(answer: dict[str, Any]) -> None:
    """The browser says what it keeps under the mark that was asked for."""
    visit = _visit()
    mark, file = visit.awaited_mark, answer.get("file")
    if not mark or answer.get("mark") != mark:
        return  # it answers another page's question
    if file is None:
        _lose(visit, answer.get("why"))
        return
    try:
        _take(visit, lambda: (in_browser.restored(file, mark), []))
    except BadInput as problem:
        _lose(visit)
        visit.notices = [str(problem)]
    else:
        visit.awaited_mark = ""
        visit.matrices_in_browser |= set(in_browser.pack(visit.settings)[1])
        if visit.ended:
            _carry_out(visit)


def _lose(visit: Visit, why: object = None) -> None:
    """There is no state for the mark: an example, a sentence, and where to open a saved state."""
    visit.awaited_mark, visit.waiting_changes = "", []
    visit.settings, visit.notices = links.read(visit.address)
    if why:
        visit.notices[-1] = f"{visit.notices[-1].rstrip('.')} (the browser says: {reason(why)})."
    choose("below", DATA)


def reason(why: object) -> str:
    """Return a browser's own reason, cut short."""
    return " ".join(str(why).split())[:LONGEST_WHY].rstrip(".")


def aside() -> AbstractContextManager:
    """Return the place of what is not seen."""
    return _visit().store_place


def session() -> str:
    """Return what names this session."""
    return _visit().name


def _keep(visit: Visit, mark: str) -> None:
    """Have the browser keep the state; matrices that it has are not sent again."""
    link, matrices = in_browser.pack(visit.settings)
    new = {
        digest: matrix
        for digest, matrix in matrices.items()
        if digest not in visit.matrices_in_browser
    }
    parts = {digest: links.write_matrix(matrix) for digest, matrix in new.items()}
    visit.matrices_in_browser |= set(parts)
    store.keep(visit.store_turn, mark, link, parts, lacks=_lacks, failed=_failed)


def _lacks(answer: dict[str, Any]) -> None:
    """Matrices never arrived, or another page let go of them: send them again."""
    visit, digests = _visit(), answer.get("digests")
    visit.store_turn = secrets.token_hex(8)
    if isinstance(digests, list):
        visit.matrices_in_browser -= {digest for digest in digests if isinstance(digest, str)}


def _failed(answer: dict[str, Any]) -> None:
    visit = _visit()
    mark, why = str(answer.get("mark") or ""), reason(answer.get("why"))
    visit.matrices_in_browser, visit.not_kept = set(), (mark, why)
    if not mark:
        visit.notices = [f"This browser did not forget: {why}."]


def forget() -> None:
    """Let the browser forget all states it keeps; with the next change it begins anew."""
    control_moved()
    visit = _visit()
    visit.told_to_forget, visit.store_turn = True, secrets.token_hex(8)
    visit.matrices_in_browser = set()


def control_moved() -> None:
    """A control began this run: every control says so, and what was said before is over.

    Where the person went Back just before, it is moved on what the address stands for.
    """
    visit, address = _visit(), st.query_params.to_dict()
    _hear(visit)
    _arrive(visit, address)
    visit.notices, visit.remarks, visit.too_long, visit.moved = [], [], None, True


def change(act: Change, goes_on: bool = False) -> None:
    """Let ``act`` make new settings; where it refuses, a notice says why and all stays as is.

    Where more of the same ``goes_on``, such as a number that is dragged, Back takes it together.
    It waits for a state on its way here; and in a new session until all controls were drawn, for
    what the browser sent for them is meant for the settings before.
    """
    control_moved()
    visit = _visit()
    visit.told_to_forget, visit.stroke_goes_on = False, goes_on
    if visit.awaited_mark or not visit.ended:
        visit.waiting_changes.append(act)
    else:
        _apply(visit, act)


def _apply(visit: Visit, act: Change) -> None:
    remarks = list(visit.remarks)
    try:
        settings, said = changed(visit.settings, act, visit.finish)
        visit.remarks += said
        if not seen_alike(visit.settings, settings):
            visit.beside, visit.arrived = None, False
        visit.settings = settings
    except BadInput as problem:
        visit.notices.append(capital(str(problem)))
        visit.remarks = remarks
        visit.too_long = problem.settings if isinstance(problem, TooManyTokens) else None


def changed(
    before: Settings, act: Change, finish: Finish = lambda before, after: after
) -> tuple[Settings, list[str]]:
    """Return what ``act`` makes of settings, checked, and how it was understood.

    Raises
    ------
    BadInput
        Where that would be none.
    """
    after, said = fitted(before, act(before))
    after = finish(before, after)
    after = check(answers_kept(before, after))
    return replace(after, cell=links.existing_cell(after)) if after.cell else after, said


def changes_wait() -> bool:
    """Whether what was asked for is still to be done."""
    return bool(_visit().waiting_changes)


def _carry_out(visit: Visit) -> None:
    """What was asked for while it could not be done."""
    waiting, visit.waiting_changes = visit.waiting_changes, []
    for act in waiting:
        _apply(visit, act)


def refuse(sentence: str) -> None:
    """What could not be used; everything stays as it was."""
    control_moved()
    _visit().notices = [capital(sentence)]


def remark(sentence: str) -> None:
    """How something was understood; it stands until the next change."""
    _visit().remarks.append(sentence)


def sentences() -> tuple[list[str], list[str]]:
    """What was refused, and what was understood, at the last change."""
    return _visit().notices, _visit().remarks


def too_long() -> Settings | None:
    """Return what was refused at the last change for its tokens alone."""
    return _visit().too_long


def carry(settings: Settings) -> None:
    """Go on with the attention of these settings, which have too many tokens, on Long context."""
    control_moved()
    _carry(_visit(), settings)


def _carry(visit: Visit, settings: Settings) -> None:
    long = brought(visit.settings.long, "own", settings.head)
    visit.settings, visit.beside = replace(_own(visit), long=long), None
    visit.page_values |= {CARRIED: settings, GO: "long"}


def example(settings: Settings, name: str) -> Settings:
    """An example as it was made; what other pages show beside it stays, and how a figure is set."""
    kept: dict[str, Any] = {field: getattr(settings, field) for field in KEPT}
    return replace(EXAMPLES[name].build(), **kept)


def as_it_is(act: Act) -> Act:
    """The same change, of these settings alone."""
    return act


def open_file(content: bytes) -> None:
    """Go on from a saved state, beside what is pinned unless it has something pinned itself; a file
    that is something else changes nothing. One of too many tokens goes on on Long context.
    """

    def opened(settings: Settings) -> Settings:
        found = links.from_file(content)
        return found if found.pinned else replace(found, pinned=settings.pinned)

    change(opened)
    if (settings := too_long()) is not None:
        carry(settings)


# ---- controls ---------------------------------------------------------------


def setting_control(
    widget: Widget,
    label: str,
    name: str,
    value: Any,
    apply: Callable[[Settings, Any], Settings],
    held: Callable[[Any], None] | None = None,
    **options: Any,
) -> None:
    """A control that shows ``value`` and hands every move to ``apply(settings, moved_to)``.

    It is keyed by the name of its setting and gets its value from the settings alone, so it obeys
    every move and comes back as it was after a visit to another page. A value beyond its bounds, as
    a link may have, widens them: Streamlit raises an error there. Where the browser alone remembers
    what it shows, ``held`` gets that after a restart, and the first move there, in place of
    ``apply``.
    """
    for bound, outer in (("min_value", min), ("max_value", max)):
        if options.get(bound) is not None and value is not None:
            options[bound] = outer(options[bound], value)

    if widget is st.slider:
        bounds = options["min_value"], options["max_value"]
        _visit().sliders[name] = Slider(value, *bounds, apply)

    def move(moved_to: Any) -> None:
        if held is not None and not _visit().ended:
            held(moved_to)
        else:
            change(lambda settings: apply(settings, moved_to))

    _keyed(widget, label, name, value, move, options)


def page_control(widget: Widget, label: str, name: str, default: Any, **options: Any) -> Any:
    """A control of the page alone, such as which panel is open; visits to other pages keep it.

    A kept value that is no longer on offer gives way to the default, or to the first that is.
    """
    visit, value = _visit(), _offered(page_value(name, default), default, options.get("options"))
    set_page_value(name, value)
    said = visit.notices, visit.remarks
    if _keyed(widget, label, name, value, partial(set_page_value, name), options):
        # a panel that was open before a restart answers nothing
        visit.notices, visit.remarks = said
    return page_value(name, default)


def button(
    label: str, key: str, press: Callable[..., object], args: tuple = (), **options: Any
) -> None:
    """A button; what it does is done before the page is drawn again."""

    def pressed() -> None:
        _visit().controls_heard.add(key)
        press(*args)

    if st.button(label, key=key, on_click=pressed, **options) and _unheard(key):
        pressed()
        st.rerun()


def confirm(
    label: str,
    key: str,
    press: Callable[..., object],
    args: tuple = (),
    about: Hashable = None,
    **options: Any,
) -> None:
    """A button that goes by the fields above it: what was typed as it was pressed counts, too.

    Where a field has just moved, the press waits until this run has read it. What it is ``about``,
    such as the digest of a file, the person must have seen: where it came in the place of another,
    and the browser has not heard of it, nothing is done, and a sentence says so.
    """
    visit = _visit()
    if options.get("disabled"):
        visit.offered.pop(key, None)
    elif key not in visit.offered:  # it can only be pressed where it was seen
        visit.offered[key] = 0, about
    elif visit.offered[key][1] != about:
        visit.offered[key] = visit.run, about
    visit.controls_drawn.add(key)

    def carry_out(heard: int) -> None:
        since, _ = visit.offered.get(key, (visit.run, about))
        if about is not None and visit.ended and since > heard:
            refuse(UNSEEN.format(label))
        else:
            press(*args)

    def pressed() -> None:
        settled = visit.run == visit.ended and not visit.moved
        control_moved()
        visit.controls_heard.add(key)
        if settled:
            carry_out(visit.heard)
        else:
            visit.pressed[key] = visit.heard

    if st.button(label, key=key, on_click=pressed, **options) and _unheard(key):
        pressed()
    if key in visit.pressed and not options.get("disabled"):
        carry_out(visit.pressed[key])
        visit.pressed.pop(key, None)
        st.rerun()


def _offered(value: Any, default: Any, choices: Collection | None) -> Any:
    """The value where it is among the choices, else the default or the first of them.

    None, for no choice, stays where that is the default.
    """
    if choices is None:
        return value
    if isinstance(value, list):
        return [choice for choice in value if choice in choices]
    if value in choices or (value is None and default is None):
        return value
    return default if default is None or default in choices else next(iter(choices), None)


def _keyed(
    widget: Widget,
    label: str,
    name: str,
    value: Any,
    move: Callable[[Any], None],
    options: dict[str, Any],
) -> bool:
    """Draw the control with this value; True where a move of it was handed on only now.

    The browser remembers what a control shows for as long as it stands there; one that stands
    anew is told its value, or it would show Streamlit's own default and report that as a move.
    """
    key, visit, menu = f"set_{name}", _visit(), None
    if "format_func" in options:
        menu = [options["format_func"](option) for option in options["options"]]
    first, told = _unheard(key), _may_hold(visit.values.get(key, []), visit.heard)
    told = visit.values[key] = told or [(visit.run, value)]
    known = key in visit.controls_in_browser and visit.menu_labels.get(name) == menu
    # a move made just before Back may have got lost: all controls are told what is set
    last = max(told[-1][0], visit.told_anew)
    shown = st.session_state.get(key, _NOTHING)
    sure = known and last <= visit.heard and shown == value
    if visit.waiting_changes:  # the browser shows already what is to come
        sure = sure or known and any(shown == value for _, value in told)
    if not first and not sure:
        # also where only the labels changed: the browser holds the old one
        st.session_state[key] = value
        if not known or told[-1][1] != value:
            told.append((visit.run, value))
    visit.menu_labels[name] = menu
    visit.controls_drawn.add(key)
    visit.controls_in_browser.add(key)
    began = options | _start(widget, value, options.get("options")) if first else options
    sent = widget(label, key=key, on_change=_moved, args=(key, move, options), **began)
    late = first and sent != value
    if late:
        _moved(key, move, options)
    return late


def _unheard(key: str) -> bool:
    """Whether a move of this control would go by unseen.

    After a restart of the server the browser goes on with a new session, and Streamlit calls nobody
    for the move of a control that this session has not drawn yet. So until one run has reached its
    end, a control is left as the browser sent it, and what differs from the settings is a move.
    Back sends no controls, and may take back a move that the browser still shows: they are told.
    """
    visit = _visit()
    return not visit.ended and key not in visit.controls_heard and not internals.went_back()


def _start(widget: Widget, value: Any, choices: Collection | None) -> dict[str, Any]:
    """What a control shows where the browser has sent nothing."""
    kind = getattr(widget, "__name__", "")
    if kind == "selectbox":
        offered = list(choices or ())
        return {"index": offered.index(value) if value in offered else None}
    return {"default" if kind in ("pills", "segmented_control", "multiselect") else "value": value}


def _moved(key: str, move: Move, options: dict[str, Any]) -> None:
    """Hand on what was chosen, unless it is what the browser was told and showed anyway."""
    visit = _visit()
    if key not in visit.controls_in_browser:
        return
    _hear(visit)
    visit.controls_heard.add(key)
    value = st.session_state[key]
    told = _may_hold(visit.values.get(key, []), visit.heard)
    if all(value != shown for _, shown in told):
        # what it has not heard yet will take the place of the value chosen
        later = [(run, other) for run, other in told if run > visit.heard]
        visit.values[key] = [(visit.heard, value), *later]
        _hand_on(value, move, options)


def _hand_on(value: Any, move: Move, options: dict[str, Any]) -> None:
    """Hand on a choice that is on offer.

    A menu whose labels were renamed under it reports its old label, one that is gone what it
    showed last, and one where something must be chosen can report nothing: none is a choice.
    """
    control_moved()
    choices, chosen = options.get("options"), value if isinstance(value, list) else [value]
    if value is None and options.get("required"):
        return
    if choices is None or all(choice is None or choice in choices for choice in chosen):
        move(value)


def page_value(name: str, default: Any) -> Any:
    """A value of the page alone."""
    return _visit().page_values.setdefault(name, default)


def set_page_value(name: str, value: Any) -> None:
    _visit().page_values[name] = value


def page_values_at_rest() -> Callable[[], dict[str, Any]]:
    """What gives the values of the page, outside of a run, once none goes on.

    For files that are made when they are asked for: what was typed last begins a run as the button
    is pressed.
    """
    visit = _visit()

    def at_rest() -> dict[str, Any]:
        ends, rested = time.monotonic() + PATIENCE, time.monotonic()
        while rested + QUIET > time.monotonic() < ends:  # on a busy machine a run begins late
            time.sleep(0.03)
            if visit.run != visit.ended:
                rested = time.monotonic()
        return visit.page_values

    return at_rest


def choose(name: str, value: Any) -> None:
    """Choose for the person: it counts above what a control of the page showed at a restart."""
    set_page_value(name, value)
    _visit().controls_heard.add(f"set_{name}")


def trigger(key: str, name: str) -> Any:
    """What a component of ours has just sent; None where it sent nothing, or its page was left."""
    control_moved()
    _visit().controls_heard.add(f"{key} {name}")
    return st.session_state.get(key, {}).get(name)


def missed(key: str, name: str) -> bool:
    """Whether a component of ours has sent something to a session that did not know it yet."""
    return st.session_state[key].get(name) is not None and _unheard(f"{key} {name}")


def heard(key: str, name: str, handler: Callable[[Any], object]) -> None:
    """Hand on what a component of ours has just sent."""
    value = trigger(key, name)
    if value is not None:
        handler(value)


def catch_up(key: str, moves: Mapping[str, Callable[[], object]]) -> None:
    """Make the moves, by what was sent, of which the session had not heard; then run anew."""
    for name, move in moves.items():
        if missed(key, name):
            move()
            st.rerun()


def stands(key: str) -> bool:
    """Whether a component of ours, which is about to be drawn, stands on the page already."""
    visit = _visit()
    stood = key in visit.controls_in_browser
    visit.controls_drawn.add(key)
    visit.controls_in_browser.add(key)
    return stood


def typed(key: str) -> str:
    """What stands in a text box."""
    return st.session_state[key]


# ---- between two runs -------------------------------------------------------
#
# What a board asks for while no run goes on, such as how another cell is made, is answered from the
# settings that it shows: by a request of its own, which begins no run and changes no setting.


def ticket() -> str:
    """Return the name of the settings of this run, under which more can be asked of them."""
    visit = _visit()
    settings, (revision, before) = replace(visit.settings, cell=None), visit.shown or (0, None)
    if settings != before:
        visit.shown = revision, settings = revision + 1, settings
    visit.session = internals.session_id()
    _VISITS[visit.ticket] = visit
    return f"{visit.ticket}/{revision}"


@contextmanager
def asking(name: str) -> Iterator[bool]:
    """Count a request of a ticket, in the server's own thread; False where its page is gone, or
    asks for too much at a time.
    """
    visit = _VISITS.get(name)
    if visit is None or visit.asking >= MAX_ASKED or not internals.is_open(visit.session):
        yield False
        return
    visit.asking += 1
    visit.answered.clear()
    try:
        yield True
    finally:
        visit.asking -= 1
        if not visit.asking:
            visit.answered.set()


def let_answer() -> None:
    """Wait at the beginning of a run until what was asked before it is answered, but not for long.

    The answer is seen sooner, before the browser has to draw what the run sends, and the run shows
    a preview without making it again.
    """
    visit = st.session_state.get("visit")
    if visit is not None and visit.asking:
        visit.answered.wait(SHORT)


def named(name: str, revision: str = "") -> Settings | None:
    """Return the settings that the board of a ticket shows; None where it shows others than those
    of its ``revision``, or is gone.
    """
    visit = _VISITS.get(name)
    shown = visit.shown if visit is not None else None
    if visit is None or shown is None or revision not in ("", str(shown[0])):
        return None
    return replace(shown[1], cell=visit.settings.cell)


def foresee(name: str, settings: Settings, made: Any) -> None:
    """Keep for the next run of a page what was made of its settings before, such as a board."""
    if (visit := _VISITS.get(name)) is not None:
        visit.foreseen = settings, made


def foreseen(settings: Settings) -> Any:
    """Return what was made of these settings before this run; None where nothing was."""
    visit = _visit()
    kept, visit.foreseen = visit.foreseen, None
    return kept[1] if kept is not None and kept[0] == settings else None


def slider_values() -> dict[str, int]:
    """Return what the sliders show that this run has drawn, or the last one did."""
    return {name: slider.value for name, slider in _visit().sliders.items()}


def slid(name: str, moves: Mapping[str, object]) -> Change:
    """Return what the sliders beside the board of a ticket do where they are moved.

    Raises
    ------
    BadInput
        Where there is no such slider, or it does not go so far.
    """
    visit, acts = _VISITS.get(name), []
    for setting, value in moves.items():
        slider = visit.sliders.get(setting) if visit is not None else None
        if slider is None or type(value) is not int or not slider.least <= value <= slider.most:
            raise BadInput(f"no slider “{setting}” goes to {value!r}")
        acts.append((slider.apply, value))

    def act(settings: Settings) -> Settings:
        for apply, value in acts:
            settings = apply(settings, value)
        return settings

    return act


# ---- the address ------------------------------------------------------------


def link() -> tuple[dict[str, str], bool]:
    """The parameters of the link of what is set, and whether they are all; computed once."""
    visit = _visit()
    if visit.linked is None or visit.linked[0] is not visit.settings:
        visit.linked = (visit.settings, *links.address(visit.settings))
    return visit.linked[1:]


def too_large() -> str:
    """Return why a browser does not keep what is set; "" where it does. Computed once."""
    visit = _visit()
    if visit.unkept is None or visit.unkept[0] is not visit.settings:
        why = "" if link()[1] else links.too_large(visit.settings, kept=True)
        visit.unkept = visit.settings, why
    return visit.unkept[1]


def write_address() -> tuple[bool, str]:
    """Put the settings into the address, or a mark of them where they do not fit.

    Returns whether they fit, and where they do not, why the browser keeps nothing; "" where it
    does. What it could not hand back is not sent to it.
    """
    visit, address = _visit(), st.query_params.to_dict()
    if visit.stroke_goes_on:
        return visit.written
    with _as_set(visit):
        return _write(visit, address)


@contextmanager
def _as_set(visit: Visit) -> Iterator[None]:
    """Set aside what a page opened with, which no address holds before it is changed."""
    shown, beside = visit.settings, visit.beside
    visit.settings, visit.beside = _own(visit), None
    try:
        yield
    finally:
        visit.settings, visit.beside = shown, beside


def _write(visit: Visit, address: dict[str, str]) -> tuple[bool, str]:
    parameters, whole = link()
    mark = parameters.get("partial", "")
    with visit.store_place:
        if visit.told_to_forget:
            store.forget(visit.store_turn, _failed)
        elif not whole and not too_large():
            _keep(visit, mark)
    bare = not address and start.is_bare(parameters)
    wanted = {} if bare else parameters
    if any(address != wanted for address in [address, *(told for _, told in visit.addresses)]):
        st.query_params.from_dict(wanted)
        visit.addresses.append((visit.run, wanted))
    visit.standing = wanted
    visit.written = whole, why_not_kept()
    return visit.written


def why_not_kept() -> str:
    """Return why the browser does not keep what is set; "" where it does, or need not."""
    visit, mark = _visit(), link()[0].get("partial", "")
    not_kept, why = visit.not_kept
    if mark and mark == not_kept:
        return why
    return "it was told to forget" if visit.told_to_forget else too_large()


def next_address(path: str) -> dict[str, str]:
    """The address of what is set, for another page that is turned to: it is no step of Back.

    It names that page, by which history.js makes one step of it.
    """
    visit = _visit()
    with _as_set(visit):
        parameters, _ = link()
    visit.standing = {} if start.is_bare(parameters) else parameters
    wanted = visit.standing | {"to": path}
    visit.addresses.append((visit.run, wanted))
    return wanted
