"""Conventions: the example of Explore as each framework would answer it."""

from dataclasses import replace

import streamlit as st

from attention.figures.panes import comparison
from attention.frameworks.records import CONVENTIONS
from attention.html import frameworks as tables
from attention.limits import MAX_COMPARED
from attention.pages.components import board
from attention.pages.frame import pieces, state
from attention.pages.panels import paper
from attention.session.compare import compare_frameworks as inputs
from attention.session.edit.changes import name_of
from attention.session.state.about import what_it_is
from attention.session.state.run import labels
from attention.session.state.settings import PUSHED, Settings
from attention.vocabulary.parts import called
from attention.vocabulary.sentences import which_of

MOST_SHOWN = 4


def the_tables() -> None:
    """What each framework does, whatever the numbers are."""
    st.subheader("What each framework does", anchor=False)
    st.html(tables.facts())
    st.subheader("Arguments for each feature", anchor=False)
    st.html(tables.arguments())


def the_inputs(s: Settings) -> None:
    """Say what the frameworks get of what Explore shows."""
    head = ", " + which_of("head", [s.head], s.heads) if s.heads > 1 else ""
    pieces.note(f"“{name_of(s)[0]}” from Explore{head}. Change it on Explore.")
    if s.fill == PUSHED:
        pieces.message_box(
            "flag",
            "On Explore −1e9 is added instead of hiding; the frameworks get the mask itself."
            " A row that sees no key keeps its softmax in ours.",
        )
    if left := inputs.left_out(s):
        pieces.message_box(
            "flag",
            f"On Explore there is {called(left)}; here ours uses a softmax, as the frameworks do.",
        )


def the_results(s: Settings) -> None:
    cells = len(s.tokens) * len(s.key_tokens)
    if cells > MAX_COMPARED:
        pieces.message_box(
            "flag",
            f"Results are compared for up to {MAX_COMPARED:,} scores, 128 × 128, and these are"
            f" {cells:,}; use fewer words on Explore.",
        )
        return
    handed = "array"
    if inputs.has_switch(s):
        handed = state.page_control(
            st.segmented_control,
            "Pass the mask",
            "handed",
            handed,
            options=list(inputs.HANDED),
            required=True,
            format_func=inputs.HANDED.__getitem__,
            help=(
                "Some frameworks give other results if the mask is set by a switch instead of an"
                " array."
            ),
        )
    ours, compared = inputs.compare(s, handed)
    st.html(tables.sentences(compared))

    chosen = state.page_control(
        st.pills,
        "Compare with",
        "beside",
        ["torch_mha", "jax"],
        options=list(CONVENTIONS),
        selection_mode="multi",
        format_func=lambda name: CONVENTIONS[name].name,
    )
    if len(chosen) > MOST_SHOWN:
        pieces.message_box("flag", f"Only the first {MOST_SHOWN} chosen are shown.")
    beside = []
    for row in compared:
        if row.name not in chosen[:MOST_SHOWN]:
            continue
        title = CONVENTIONS[row.name].name
        if row.answer.refused:
            pieces.message_box("flag", f"{title} gives no result: {row.answer.refused}")
        else:
            beside.append((row.name, title, row.answer))
    panes = [
        replace(pane, filename=f"attention_conventions_{pane.name}")
        for pane in comparison.beside_ours(ours, beside, labels(s), s.digits)
    ]
    board.show("conventions_board", panes, about=what_it_is(s))
    if panes:
        paper.offer(s, panes, "attention_conventions")


def page(s: Settings) -> None:
    pieces.opening(
        "The same inputs in each framework",
        "Each is called with its defaults; where the result depends on how it is called, each way"
        " has a row.",
    )
    pieces.sentences(*state.sentences())
    if s.weights_alone:
        pieces.message_box(
            "flag",
            "Explore shows only finished weights; frameworks need Q, K and V. Choose an example"
            " there, or upload other data.",
        )
    else:
        the_inputs(s)
        the_results(s)
        the_tables()
    pieces.address()
    state.end()


page(state.begin())
