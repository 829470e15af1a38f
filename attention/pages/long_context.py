"""Long context: a map of up to 131,072 tokens, coarse at once, then exact; each zoom computed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.exports import long as exports
from attention.figures.plotly import long_cells
from attention.limits import MAX_LONG_TOKENS
from attention.pages.components import charts, over, zoom
from attention.pages.frame import pieces, state
from attention.pages.panels import long_source
from attention.pages.panels.long_source import WORK, changed, control
from attention.session.long.job import Job, sentence_of
from attention.session.long.long_inputs import LongInputs, computed_part, settled
from attention.session.long.long_work import AT_ONCE, BEYOND, LongWork, Look
from attention.session.state.long_context import ALSO, MASKS, SHOWN, LongContext, fitted, moved
from attention.session.state.settings import Settings
from attention.vocabulary.numbers import megabytes, number
from attention.vocabulary.sentences import amount, capital

OVER = "Over a picture"
TOP = 8  # of the strongest keys
OFTEN = 0.5  # seconds between two looks at how far it is


def the_controls(s: Settings, inputs: LongInputs, c: LongContext) -> None:
    """Who sees whom, and what is shown of it."""
    st.html("<h2 class='rail'>Attention</h2>")
    masks = [name for name in MASKS if name != "own" or inputs.is_captured]
    control(
        s,
        st.selectbox,
        "Mask",
        "mask",
        value=c.mask,
        options=masks,
        format_func=MASKS.__getitem__,
        help="Which keys a query may look at (last key: aligned so that the last query sees the"
        " last key, as with cached keys).",
    )
    if c.mask == "window":
        control(
            s,
            st.number_input,
            "Keys that a query sees",
            "seen",
            min_value=1,
            max_value=MAX_LONG_TOKENS,
            step=64,
            help="At most: its own key and those before it.",
        )
    if inputs.heads > 1:
        control(
            s,
            st.selectbox,
            "Head",
            "head",
            value=c.head,
            options=list(range(inputs.heads)),
            format_func=lambda head: str(inputs.number(head)),
        )
    st.html("<h2 class='rail'>View</h2>")
    control(
        s,
        st.selectbox,
        "Cells show the",
        "of",
        options=list(SHOWN),
        format_func=SHOWN.__getitem__,
        help=(
            "A cell of several queries and keys shows the total weight of its keys, averaged over"
            " its queries, or its largest weight; a cell of one query and one key shows its weight."
        ),
    )
    control(
        s,
        st.toggle,
        "Logarithmic colours",
        "logarithmic",
    )
    state.setting_control(
        st.pills,
        "Plots (take extra time)",
        "long_also",
        list(s.long.also),
        lambda s, names: changed(also=tuple(name for name in ALSO if name in names))(s),
        options=list(ALSO),
        format_func=ALSO.__getitem__,
        selection_mode="multi",
    )


def kept_work(inputs: LongInputs, c: LongContext) -> LongWork | None:
    """What was computed of these inputs so far."""
    kept: tuple[Any, ...] = state.page_value(WORK, (None, None, None))
    return kept[1] if kept[0] == _key(inputs, c) and kept[2] is inputs else None


def _key(inputs: LongInputs, c: LongContext) -> tuple[Any, ...]:
    """What is to be computed of them."""
    alone = c.head if computed_part(inputs, c.head) is not inputs else -1
    return alone, c.mask, c.seen if c.mask == "window" else 0, c.also


def new_work(inputs: LongInputs, c: LongContext) -> LongWork:
    """Work of what else is asked for, in the place of what was computed."""
    long_source.end_work()
    work = LongWork(computed_part(inputs, c.head), c)
    if work.seconds < AT_ONCE:
        work.begin()
    state.set_page_value(WORK, (_key(inputs, c), work, inputs))
    return work


def among(work: LongWork, c: LongContext) -> int:
    """The place of the head among those that are computed together."""
    return min(c.head, work.inputs.heads - 1)


def looked(sent: object) -> None:
    """What the map sent."""
    state.change(lambda s: replace(s, long=moved(s.long, sent)))


# ---- how far it is -------------------------------------------------------------------------------


def in_time(seconds: float) -> str:
    """About how long, in words."""
    return f"{max(round(seconds), 1)} s" if seconds < 90 else f"{round(seconds / 60)} min"


def the_state(work: LongWork, look: Look) -> None:
    """How far the exact numbers are, or what they would take; nothing where they are there."""
    job = look.job or work.whole
    if job and job.problem:
        pieces.message_box("refused", capital(job.problem))
    elif job and not job.was_cancelled and (look.sampled or not job.is_over):
        # over already where it ended while the first look was made: then the page is drawn anew
        what = "All queries" if job is work.whole else "This window"
        the_progress(job, f"Overview. {what}" if look.sampled else f"Exact here. {what}")
    elif work.record is not None and not look.sampled:
        pieces.note("Exact: every query of these cells was computed.")
    else:
        left, right = st.columns([4, 1], vertical_alignment="center")
        with left:
            first = "Exact here."
            if look.sampled:
                first = f"Overview: each row shows one query of {look.sampled:,}."
            pieces.note(
                f"{first} All queries: about {in_time(work.seconds)},"
                f" {megabytes(work.inputs.size)} for the inputs and at most {megabytes(BEYOND)}"
                " more."
            )
        with right:
            state.button("Compute all", "long_begin", work.begin, type="primary")


@st.fragment(run_every=OFTEN)
def the_progress(job: Job, what: str) -> None:
    """A bar with the time left, and a way to end it; the page is drawn anew when it is over."""
    if job.is_over:
        st.rerun()
    rest = f", about {in_time(job.left)} left" if job.left is not None else ""
    said = f"{what}: {job.share:.0%}{rest}"
    if job.is_waiting:
        said = f"{what}: waiting for other computations on this server"
    left, right = st.columns([4, 1], vertical_alignment="center")
    left.progress(job.share, said)
    with right:
        state.button("Cancel", "long_cancel", job.cancel)


# ---- what is seen --------------------------------------------------------------------------------


def the_map(work: LongWork, look: Look, inputs: LongInputs, c: LongContext, head: int) -> None:
    drawn = long_cells.long_map(
        look.cells,
        (inputs.n_q, inputs.n_k),
        hidden=long_cells.hidden_cells(look.cells, work.inputs.mask(c, head), inputs.n_k),
        of=c.of,
        logarithmic=c.logarithmic,
        words=(inputs.query_words, inputs.key_words),
    )
    about = f" (one query of {look.sampled:,})" if look.sampled else ""
    zoom.show("long_map", drawn, c.query, looked, about)


def of_head(inputs: LongInputs, head: int) -> str:
    """Return what the names of the files of one head begin with."""
    named = inputs.heads > 1
    return f"{inputs.file}_head{inputs.number(head)}" if named else inputs.file


def the_query(work: LongWork, inputs: LongInputs, c: LongContext, head: int) -> None:
    """The exact row of one query, and its strongest keys."""
    state.setting_control(
        st.number_input,
        "Query",
        "long_query",
        c.query + 1,
        lambda s, value: changed(query=int(value) - 1)(s),
        min_value=1,
        max_value=inputs.n_q,
        step=1,
        help="Counted from 1. Its row is exact, however coarse the map is.",
        width=170,
    )
    weights = work.weights(c.query, head)
    _, _, left, right = fitted(c.window, inputs.n_q, inputs.n_k)
    words = inputs.query_words, inputs.key_words
    pane = long_cells.row_pane(weights[left:right], left, c.query, words)
    pane = replace(pane, file=f"{of_head(work.inputs, head)}_query{c.query + 1}")
    charts.show([pane])
    best = np.argsort(-weights, kind="stable")[:TOP]
    said = []
    for key in best[weights[best] > 0]:
        word = f" “{inputs.key_words[key]}”" if inputs.key_words else ""
        said.append(f"{key + 1:,}{word} → {number(float(weights[key]), 4)}".replace(" ", "\u00a0"))
    pieces.note(f"Strongest keys: {', '.join(said)}." if said else "It sees no key.")


def the_picture(work: LongWork, inputs: LongInputs, c: LongContext, head: int) -> None:
    """The row of the query over the picture whose patches the keys are."""
    if inputs.patches is None or not state.page_control(st.toggle, OVER, "long_over", False):
        return
    weights = work.weights(c.query, head)
    words = inputs.query_words, inputs.key_words
    labels = [
        words[side] or [inputs.patches.label(k) for k in range(count)]
        for side, count in enumerate((inputs.n_q, inputs.n_k))
    ]
    source = inputs.of_head(head).source if inputs.heads > 1 else inputs.source
    drawn = over.of_row(
        weights,
        weights == 0,
        inputs.patches,
        (labels[0], labels[1]),
        c.query,
        title=capital(source),
        file=f"{of_head(work.inputs, head)}_query{c.query + 1}_picture",
        about=source,
        digits=4,
    )
    over.show("long_over_picture", drawn, lambda sent: looked({"query": sent}))


def the_lines(work: LongWork, c: LongContext, head: int) -> None:
    """Figures of every query, once they are there."""
    past = 0 if c.mask in ("causal", "window") else work.inputs.n_k - work.inputs.n_q
    if work.record is None:
        return
    numbers = work.inputs.numbers
    panes = [
        replace(pane, file=f"{work.inputs.file}_{pane.name.removeprefix('long_')}")
        for pane in long_cells.panes_along(work.record, head, past, numbers)
    ]
    charts.show(panes, across=2)


def the_take_away(work: LongWork, inputs: LongInputs, c: LongContext) -> None:
    if work.record is None:
        return
    with st.expander("Export"):
        st.download_button(
            "Numbers (.npz)",
            partial(exports.to_npz, work.record, work.inputs, c),
            f"{inputs.file}.npz",
            "application/octet-stream",
            on_click="ignore",
            key="long_npz",
        )
        pieces.note(
            "The file contains, for all computed heads, the map of total weights with its edges,"
            " the logarithm of each row’s sum, the plots chosen, and the output if it is small"
            " enough. The same in Python:"
        )
        st.code(exports.code(c, inputs), language="python")


def the_context(s: Settings) -> None:
    with st.sidebar:
        long_source.show(s)
        inputs = long_source.the_inputs(s)
        c = settled(s.long, inputs)
        the_controls(s, inputs, c)
    if long_source.is_lost(s):
        pieces.not_here(*long_source.NOT_HERE)
    if inputs.flag:
        pieces.message_box("flag", capital(inputs.flag))
    pieces.note(
        f"{capital(inputs.source)}: {amount(inputs.n_q, 'query', 'queries')}"
        f" × {amount(inputs.n_k, 'key')}"
        f"{inputs.said_of_heads},"
        f"{'' if inputs.weights_alone else f' d_k {inputs.Q.shape[2]},'} {inputs.Q.dtype};"
        f" {inputs.n_q * inputs.n_k:,} weights per head."
    )
    window, work = fitted(c.window, inputs.n_q, inputs.n_k), kept_work(inputs, c)
    left, right = st.columns([5, 4], gap="large")
    with left:
        waiting = st.empty()
        is_known = work is not None and work.is_known(window, among(work, c), c.of)
        # what is said of the numbers before is not true of others: it goes at once
        said = st.container() if is_known else st.empty()
        with waiting, st.spinner("Computing the overview", show_time=True):
            work = work or new_work(inputs, c)
            head = among(work, c)
            look = work.look(window, head, c.of)
        with said.container():
            the_state(work, look)
        the_map(work, look, inputs, c, head)
    with right:
        the_query(work, inputs, c, head)
    the_picture(work, inputs, c, head)
    the_lines(work, c, head)
    the_take_away(work, inputs, c)


def page(s: Settings) -> None:
    pieces.opening(
        "Long context",
        "Up to 131,072 tokens: first an overview, then exact numbers."
        " Zoom in, down to single weights.",
    )
    long_source.take_over()
    pieces.sentences(*state.sentences())
    try:
        the_context(s)
    except (ValueError, MemoryError, RuntimeError) as problem:  # of inputs, or what is made of them
        pieces.message_box("refused", capital(sentence_of(problem)))
    pieces.address()
    state.end()


page(state.begin())
