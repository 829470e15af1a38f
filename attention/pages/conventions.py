"""Conventions: what changes for the example of Explore from one library to another."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd
import streamlit as st

from attention.figures.panes import comparison
from attention.figures.panes.pane import Pane
from attention.frameworks import table
from attention.frameworks.libraries.convention import FACETS
from attention.frameworks.moves import Move, digits_alike
from attention.frameworks.records import CONVENTIONS
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
from attention.vocabulary.sentences import amount, in_words, which_of

Labels = tuple[str, ...]
UNDOES = "These lines make the second library answer as the first. Names as in NumPy:"
UNDOES_SOME = "With these lines fewer rows differ. Names as in NumPy:"
NO_LINE = "No line of NumPy around the call makes the second library answer as the first."


def named(key: str) -> str:
    """Return a library as a menu has it."""
    return CONVENTIONS[key].name


def swapped(s: Settings) -> Settings:
    return replace(s, move_from=s.move_to, move_to=s.move_from)


def the_two(s: Settings) -> None:
    """Choose the two libraries."""
    left, middle, right = st.columns([6, 1, 6], vertical_alignment="bottom")
    with left:
        state.setting_control(
            st.selectbox,
            "From",
            "move_from",
            s.move_from,
            lambda settings, name: replace(settings, move_from=name),
            options=list(CONVENTIONS),
            format_func=named,
        )
    with middle:
        state.button(
            "Swap", "swap_libraries", state.change, (swapped,), width="stretch", type="tertiary"
        )
    with right:
        state.setting_control(
            st.selectbox,
            "To",
            "move_to",
            s.move_to,
            lambda settings, name: replace(settings, move_to=name),
            options=list(CONVENTIONS),
            format_func=named,
        )


def the_inputs(s: Settings) -> None:
    """Say what the libraries get of what Explore shows."""
    head = ", " + which_of("head", [s.head], s.heads) if s.heads > 1 else ""
    pieces.note(f"“{name_of(s)[0]}” from Explore{head}, in float32. Change it on Explore.")
    if s.fill == PUSHED:
        pieces.message_box(
            "flag",
            "On Explore −1e9 is added instead of hiding; the libraries get the mask itself.",
        )
    if left := inputs.left_out(s):
        pieces.message_box(
            "flag",
            f"On Explore there is {called(left)}; here a softmax is used, as the libraries do.",
        )


def how_the_mask_is_passed(s: Settings) -> str:
    """Draw the choice, where the mask is one that libraries make by a switch."""
    if not inputs.has_switch(s):
        return "array"
    return state.page_control(
        st.segmented_control,
        "Pass the mask",
        "handed",
        "array",
        options=list(inputs.HANDED),
        required=True,
        format_func=inputs.HANDED.__getitem__,
        help="Some libraries give other results if the mask is set by a switch, not by an array.",
    )


def the_changes(s: Settings, move: Move) -> None:
    """Say what changes, which lines undo it, and what to look at."""
    for key, answer in ((s.move_from, move.a), (s.move_to, move.b)):
        if answer.refused:
            pieces.message_box("flag", f"{CONVENTIONS[key].name} gives no result: {answer.refused}")
    if move.a.refused or move.b.refused:
        return
    seen = [change for change in move.changes if not change.fine]
    fine = [change.sentence for change in move.changes if change.fine]
    if seen:
        st.markdown("\n".join(f"- {in_text(change.sentence)}" for change in seen))
    else:
        digits = amount(digits_alike(move), "digit")
        pieces.message_box(
            "understood", " ".join([f"Nothing changes here: both agree to {digits}.", *fine])
        )
    if seen and not (move.before or move.after):
        pieces.note(NO_LINE)
    if move.before or move.after:
        pieces.note(UNDOES if move.undone else UNDOES_SOME)
        call = f"output = …  # {CONVENTIONS[s.move_to].title}"
        st.code("\n".join([*move.before, call, *move.after]), language="python", wrap_lines=True)
    if move.checks:
        pieces.note("In your own numbers, look at " + " Look at ".join(move.checks))
    if seen and fine:
        pieces.note(*fine)


def in_text(sentence: str) -> str:
    """Return a sentence in which no token of a person is Markdown."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#+-!|$~:" else c for c in sentence)


def what_else_differs(s: Settings, move: Move) -> None:
    """List the facets that differ and that these numbers do not show."""
    if not move.unseen:
        return
    quiet = not [change for change in move.changes if not change.fine]
    with st.expander("Other differences", expanded=quiet):
        a, b = (CONVENTIONS[key] for key in (s.move_from, s.move_to))
        lines = [f"From {in_text(a.name)} to {in_text(b.name)}:", ""]
        for name in move.unseen:
            of_a, of_b = in_text(getattr(a, name)), in_text(getattr(b, name))
            lines.append(f"- {in_text(FACETS[name])}: {of_a} → {of_b}")
        st.markdown("\n".join(lines))


def panes_of(s: Settings, move: Move) -> list[Pane]:
    """Weights and output of both, and the difference."""
    titles = [CONVENTIONS[key].name for key in (s.move_from, s.move_to)]
    of, panes = labels(s), []
    for stage, columns in (("weights", "keys"), ("output", "d_v")):
        a, b = getattr(move.a, stage), getattr(move.b, stage)
        there = [(M, title) for M, title in zip((a, b), titles, strict=True) if M is not None]
        if not there:
            continue
        words = [(title, stage) for _, title in there]
        panes += comparison.compared(
            stage,
            there[0][0],
            there[-1][0],
            b - a if len(there) == 2 else None,
            partial(_labels, of["queries"], of[columns]),
            words=[*words, ("difference", f"{stage}, second − first")],
            digits=s.digits,
        )[: None if len(there) == 2 else 1]
    return [replace(pane, filename=f"attention_conventions_{pane.name}") for pane in panes]


def _labels(rows: Labels, columns: Labels, matrix: np.ndarray) -> tuple[Labels, Labels]:
    """Return the same labels for each matrix of a stage."""
    return rows, columns


def the_results(s: Settings) -> None:
    cells = len(s.tokens) * len(s.key_tokens)
    if cells > MAX_COMPARED:
        pieces.message_box(
            "flag",
            f"Results are compared for up to {MAX_COMPARED:,} scores, 128 × 128, and these are"
            f" {cells:,}; use fewer words on Explore.",
        )
        return
    move = inputs.between(s, how_the_mask_is_passed(s))
    if neither := inputs.in_neither(s):
        pieces.message_box(
            "flag",
            f"Neither library has an argument for the {in_words(neither)} on Explore: both results"
            " are without.",
        )
    the_changes(s, move)
    panes = panes_of(s, move)
    board.show("conventions_board", board.Contents(panes, about=what_it_is(s)))
    if panes:
        paper.offer(s, panes, "attention_conventions")
    what_else_differs(s, move)


@cache
def whole_table() -> pd.DataFrame:
    """Return the table with its headings; it is the same for everybody."""
    return table().rename(columns=FACETS | {"library": "library and mode"})


def the_table() -> None:
    """What each library does, whatever the numbers are."""
    st.subheader("What each library does", anchor=False)
    pieces.note("Each row was run and recorded; sort by a column, or search with the lens.")
    st.dataframe(whole_table(), key="libraries", hide_index=True, width="stretch", height=420)


def page(s: Settings) -> None:
    pieces.opening(
        "From one library to another",
        "The same inputs in two libraries, each called with its defaults: what changes, why, and"
        " which line undoes it.",
    )
    pieces.sentences(*state.sentences())
    the_two(s)
    if s.weights_alone:
        pieces.message_box(
            "flag",
            "Explore shows only finished weights; libraries need Q, K and V. Choose an example"
            " there, or upload other data.",
        )
    else:
        the_inputs(s)
        the_results(s)
    the_table()
    pieces.address()
    state.end()


page(state.begin())
