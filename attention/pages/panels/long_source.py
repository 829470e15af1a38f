"""Where the queries and keys of Long context come from: a pattern, a file, a captured model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from attention.limits import (
    MAX_HEADER,
    MAX_LONG_FILE,
    MAX_LONG_NUMBERS,
    MAX_LONG_TOKENS,
    MAX_SEED,
    BadInput,
)
from attention.models import examples
from attention.models.opening import are_weights, opened, opened_weights
from attention.models.survey import Survey
from attention.models.taken import Taken, header_of
from attention.pages.frame import state
from attention.pages.panels import upload
from attention.readers.cells.entry import ArrayEntry, shown
from attention.readers.files.array_files import Bounds, entries
from attention.readers.files.other_files import answer
from attention.samples.patterns import PATTERNS
from attention.session.bring.captured import called
from attention.session.long.long_inputs import (
    LongInputs,
    captured_inputs,
    explored_inputs,
    guessed_names,
    hold,
    items_of,
    made_inputs,
    read_inputs,
)
from attention.session.state.long_context import TOKENS, LongContext, brought
from attention.session.state.settings import UPLOADED, Settings
from attention.vocabulary.markdown import plain
from attention.vocabulary.sentences import amount

OPENED = "model_opened"  # what is open on Real model
BROUGHT = "long_brought"  # the inputs that a person brought
ARRAYS = "long_arrays"  # a file whose arrays wait for their names
CAPTURE = "long_capture_file"  # a file that is a capture of several layers or items
MADE = "long_made"  # what was made last, and by what settings
WORK = "long_work"  # what was computed, and of what
FILE = "long_file"
BOUNDS = Bounds(MAX_LONG_FILE, MAX_LONG_NUMBERS)
ONE_ARRAY = "{} holds one array; expected Q and K, as from np.savez(file, Q=Q, K=K)."
LETTERS = {"Q": "Queries", "K": "Keys", "V": "Values (optional)"}
NOT_HERE = (
    "The queries and keys that were chosen are",
    "upload the file again, or open them again from Explore or the captured model. Until then a"
    " pattern is shown",
)


@dataclass(frozen=True, eq=False)
class Waiting:
    """A file whose arrays are to be named."""

    name: str
    arrays: dict[str, ArrayEntry]
    size: int  # bytes


@dataclass(frozen=True, eq=False)
class CaptureFile:
    """A capture of several layers or items, of which one at a time is looked at."""

    name: str
    taken: Taken
    size: int  # bytes


def changed(**fields: Any) -> state.Change:
    """A change of what this page is set to."""
    return lambda s: replace(s, long=replace(s.long, **fields))


def control(s: Settings, widget: state.Widget, label: str, name: str, **options: Any) -> None:
    """The control of one setting of this page; ``value``: what of it these inputs have."""
    state.setting_control(
        widget,
        label,
        f"long_{name}",
        options.pop("value", getattr(s.long, name)),
        lambda s, value: changed(**{name: value})(s),
        **options,
    )


def show(s: Settings) -> None:
    """The choice of a source, and what it asks."""
    source = state.page_control(
        st.selectbox,
        "Queries and keys from",
        "long_source",
        "pattern",
        options=list(SOURCES),
        format_func=LABELS.__getitem__,
    )
    SOURCES[source](s)


def take_over() -> None:
    """Look at what just came from Explore, which has no room for so many tokens."""
    carried: Settings | None = state.page_value(state.CARRIED, None)
    if carried is None:
        return
    state.set_page_value(state.CARRIED, None)
    try:
        inputs = explored_inputs(carried)
        _hold(inputs)
    except BadInput as problem:
        state.refuse(str(problem))
    else:
        state.set_page_value("long_source", "pattern")  # which says that these are your data
        state.remark(inputs.remark)


def is_lost(s: Settings) -> bool:
    """Whether what was brought is not here, as after a reload."""
    return not s.long.pattern and state.page_value(BROUGHT, None) is None


def the_inputs(s: Settings) -> LongInputs:
    """What is looked at: brought, or made by what is set."""
    if not s.long.pattern:
        found: LongInputs | None = state.page_value(BROUGHT, None)
        if found is not None:
            return found
    c = s.long if s.long.pattern else replace(s.long, pattern=LongContext.pattern)
    key = c.pattern, c.tokens, c.seed, c.rotary
    kept = state.page_value(MADE, (None, None))
    if kept[0] != key:
        kept = None
        let_go()
        kept = key, hold(made_inputs(c))
        state.set_page_value(MADE, kept)
    made: LongInputs = kept[1]
    return made


def let_go() -> None:
    """Of what was made, and of what is being computed."""
    end_work()
    state.set_page_value(MADE, (None, None))


def end_work() -> None:
    """Compute no more of what was asked for before, and let go of it."""
    work = state.page_value(WORK, (None, None, None))[1]
    if work is not None:
        work.cancel()
    state.set_page_value(WORK, (None, None, None))


# ---- a pattern -----------------------------------------------------------------------------------


def _pattern(s: Settings) -> None:
    state.setting_control(
        st.selectbox,
        "Pattern",
        "long_pattern",
        s.long.pattern,
        lambda s, name: changed(
            pattern=name, mask="causal" if s.long.mask == "own" else s.long.mask
        )(s),
        options=list(PATTERNS) if s.long.pattern else ["", *PATTERNS],
        format_func=lambda name: PATTERNS[name].label if name else "your data",
    )
    if not s.long.pattern:  # what was brought has its own number of tokens
        return
    sentence = PATTERNS[s.long.pattern].sentence
    st.caption(f"Before the rotation: {sentence}" if s.long.rotary else sentence)
    control(
        s,
        st.selectbox,
        "Tokens",
        "tokens",
        options=sorted({*TOKENS, s.long.tokens}),
        format_func=lambda n: f"{n:,}",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        control(
            s,
            st.number_input,
            "Seed",
            "seed",
            min_value=0,
            max_value=MAX_SEED,
            step=1,
            width=100,
        )
        control(s, st.toggle, "Rotary positions", "rotary")


# ---- a file --------------------------------------------------------------------------------------


def _source_file(s: Settings) -> None:
    """Tensors of any names, or a capture; its bytes are forgotten once it is read."""
    says = (
        ".npz or .safetensors; tokens × columns, or heads × tokens × columns; finished weights also"
        f" as .npy or .json; up to {MAX_LONG_TOKENS:,} tokens. Reloading the page removes the file."
    )
    label = "Q and K (and V), a capture, or weights"
    if file := upload.upload(FILE, label, MAX_LONG_FILE, says):
        try:
            _read(file.name, shown(file.name), file.whole)
        except BadInput as problem:
            upload.refuse(FILE, problem)
        else:
            upload.forget(FILE)  # not before: another run may overtake this one
        st.rerun()
    capture: CaptureFile | None = state.page_value(CAPTURE, None)
    if capture is not None:
        st.caption(plain(capture.name))
        _one_layer(capture.taken, "long_of_file")
    waiting: Waiting | None = state.page_value(ARRAYS, None)
    if waiting is None:
        return
    st.caption(f"Which array of {plain(waiting.name)} is which?")
    arrays = waiting.arrays
    labels = {each: f"{each} {entry.shape}" for each, entry in arrays.items()}
    for letter, label in LETTERS.items():
        state.page_control(
            st.selectbox,
            label,
            f"long_name_{letter}",
            None,
            options=list(labels),
            format_func=labels.__getitem__,
        )
    if (items := items_of(arrays.values())) > 1:
        state.page_control(
            st.number_input,
            "Item",
            "long_array_item",
            0,
            min_value=0,
            max_value=items - 1,
            step=1,
        )
    state.button("Use these", "long_use", _use, type="primary")


def _read(filename: str, name: str, content: bytes) -> None:
    if told := answer(filename, content[: MAX_HEADER + 8], 0):  # its size is looked at elsewhere
        raise told
    taken = _of_a_model(filename, name, content)
    if taken is not None:
        first = taken.calls[0]
        items = max(len(call.Q) for call in taken)
        has_more = len(taken.calls) > 1 or items > 1
        capture = hold(CaptureFile(name, taken, len(content))) if has_more else None
        bring(captured_inputs(taken, first, 0))
        _offer(capture)
        if has_more:
            many = f"{amount(len(taken.calls), 'call')} and {amount(items, 'item')}"
            state.remark(
                f"{name} holds {many}; {called(first, 0)} is shown. Choose another below the file."
            )
        return
    arrays = entries(filename, content, BOUNDS)
    if len(arrays) < 2:
        raise BadInput(ONE_ARRAY.format(name))
    _offer(None)
    names = guessed_names(arrays)
    if names and items_of(arrays[each] for each in names.values()) == 1:
        bring(read_inputs(arrays, names, name))
        return
    state.set_page_value(ARRAYS, hold(Waiting(name, arrays, len(content))))
    state.set_page_value("long_array_item", 0)
    for letter in LETTERS:
        state.set_page_value(f"long_name_{letter}", names.get(letter))


def _of_a_model(filename: str, name: str, content: bytes) -> Taken | None:
    """Return the capture, or the finished weights, that a file holds; None where it holds Q and K.

    A single array is finished weights where its numbers can be.
    """
    if _is_capture(content):
        return opened(content, name, is_drawn=False)
    if not _has_weights(filename, content):
        return None
    taken = opened_weights(content, filename, is_drawn=False, size=MAX_LONG_FILE)
    A = taken.calls[0].weights
    if A is not None and not ((A >= 0) & (A <= 1)).all():
        raise BadInput(ONE_ARRAY.format(name))
    return taken


def _has_weights(filename: str, content: bytes) -> bool:
    """Check whether a file has a single array, which can only be finished weights."""
    if content[:2] == b"PK":
        return content.count(b"PK\x01\x02") == 1 + (b"tokens.npy" in content)
    return are_weights(content, filename)


def _offer(capture: CaptureFile | None) -> None:
    """Let one choose among what this file holds, its first layer and item first."""
    state.set_page_value(CAPTURE, capture)
    for which in ("layer", "item"):
        state.set_page_value(f"long_of_file_{which}", 0)


def _is_capture(content: bytes) -> bool:
    try:
        header_of(content, "", len(content))
    except BadInput:
        return False
    return True


def _use() -> None:
    waiting: Waiting | None = state.page_value(ARRAYS, None)
    if waiting is None:
        return
    asked = {letter: state.page_value(f"long_name_{letter}", None) for letter in LETTERS}
    names = {letter: name for letter, name in asked.items() if name in waiting.arrays}
    item = int(state.page_value("long_array_item", 0))
    try:
        if not names.keys() >= {"Q", "K"}:
            raise BadInput("choose which arrays are the queries and the keys.")
        bring(read_inputs(waiting.arrays, names, waiting.name, item))
    except BadInput as problem:
        state.refuse(str(problem))


def bring(inputs: LongInputs, head: int = 0) -> None:
    """Look at a head of these, under the mask they came with."""
    _hold(inputs)
    mask = "causal" if inputs.n_q == inputs.n_k else "lower_right"
    if inputs.is_captured:
        mask = "own"
    state.change(lambda s: replace(s, long=brought(s.long, mask, head)))
    if inputs.remark:
        state.remark(inputs.remark)


def bring_head(taken: Taken, place: int, item: int, head: int) -> None:
    """Look at a head of what is open on Real model, and show its layer beside the map."""
    bring(captured_inputs(taken, taken.calls[place], item), head)
    chosen = {"source": "model", "capture": "", "layer": place, "item": item}
    for name, value in chosen.items():
        state.set_page_value(f"long_{name}", value)


def _hold(inputs: LongInputs) -> None:
    """Keep these in place of what was brought before."""
    state.set_page_value(BROUGHT, hold(inputs))
    state.set_page_value(ARRAYS, None)
    let_go()


# ---- a captured model ----------------------------------------------------------------------------


def _model(s: Settings) -> None:
    """A layer of what is open on Real model, or of the captures that come along."""
    survey: Survey | None = None
    if s.capture == UPLOADED:
        survey = state.page_value(OPENED, ("", None))[1]
    known = {name: one.title for name, one in examples.CAPTURES.items()}
    if survey is not None:
        known = {"": f"open on Real model: {survey.taken.model or 'a model'}"} | known
    name = state.page_control(
        st.selectbox,
        "Capture",
        "long_capture",
        next(iter(known)),
        options=list(known),
        format_func=known.__getitem__,
    )
    st.caption("To use your own, open it on Real model first, or choose “a file” above.")
    taken = survey.taken if survey is not None and not name else examples.load(name)
    _one_layer(taken, "long")


def _one_layer(taken: Taken, key: str) -> None:
    """The choice of one layer and item of a capture; ``key`` begins those of its controls."""
    place = state.page_control(
        st.selectbox,
        "Layer",
        f"{key}_layer",
        0,
        options=list(range(len(taken.calls))),
        format_func=lambda k: called(taken.calls[k]),
    )
    item, items = 0, len(taken.calls[place].Q)
    if items > 1:
        item = state.page_control(
            st.selectbox,
            "Item",
            f"{key}_item",
            0,
            options=list(range(items)),
        )
    asked = taken, place, item
    state.confirm("Look at it", f"{key}_look", _look, asked, type="primary")


def _look(taken: Taken, place: int, item: int) -> None:
    try:
        bring(captured_inputs(taken, taken.calls[place], item))
    except BadInput as problem:
        state.refuse(str(problem))


LABELS = {"pattern": "a pattern", "file": "a file", "model": "a captured model"}
SOURCES: dict[str, Callable[[Settings], None]] = {
    "pattern": _pattern,
    "file": _source_file,
    "model": _model,
}
