"""The cells of stages on a board: which was clicked, how it is made, what is typed into inputs."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st

from attention.arithmetic import cell as cell_arithmetic
from attention.figures.pane import Pane
from attention.figures.panes import Cell
from attention.html.cell import panel as panel_of
from attention.numbers import number, rounded
from attention.pages import state
from attention.session import board_edits
from attention.session.board_edits import Operation, Refusal
from attention.session.editing import token_sequence
from attention.session.settings import Settings
from attention.stages import STAGES
from attention.view import View

GLANCE = 8  # numbers of a row
HOW_TO_CHANGE = (
    " <span class='fine by-keys'>Type to change it.</span>"
    " <span class='fine by-touch'>Tap it again to change it.</span>"
)


Shapes = dict[str, tuple[int, ...]]  # of each stage


def shapes(view: View) -> Shapes:
    """What ``existing`` needs to know of a view, for what outlives it."""
    return {name: matrix.shape for name, matrix in view.stages.items()}


def existing(clicked: object, *views: Shapes) -> Cell | None:
    """The stage, row and column that were clicked; None where no view has such a cell.

    The browser is not trusted with more than a cell that exists.
    """
    if not isinstance(clicked, dict):
        return None
    stage, i, j = (clicked.get(name) for name in ("stage", "i", "j"))
    if not isinstance(stage, str) or type(i) is not int or type(j) is not int:  # True is no row
        return None
    found = (view[stage] for view in views if stage in view)
    there = any(0 <= i < rows and 0 <= j < columns for rows, columns in found)
    return (stage, i, j) if there else None


def edit(operations: list[Operation], goes_on: bool) -> list[Refusal]:
    """What was typed on the board; returns what was refused."""
    refused: list[Refusal] = []

    def act(settings: Settings) -> Settings:
        settings, found = board_edits.apply(settings, operations)
        refused.extend(found)
        return settings

    state.change(act, goes_on)
    return refused


def let_edit(pane: Pane, s: Settings) -> Pane:
    """Let one type into the pane of an input, and paint on that of the masked scores."""
    if pane.name not in s.matrices:
        return replace(pane, edit="mask" if pane.name == "masked" else "")
    sequence = token_sequence(s, pane.name)
    return replace(pane, edit="cells", tokens=getattr(s, sequence) if sequence else None)


def panel(s: Settings, shown: View) -> None:
    """The arithmetic of the chosen cell; of an input also what the query makes of it."""
    stage, i, j = s.cell or ("weights" if s.weights_alone else "scores", s.query, 0)
    where = f"{STAGES[stage].heading}, row {shown.rows(stage)[i]}, column {shown.columns(stage)[j]}"
    lines = cell_arithmetic(shown, stage, i, j, s.digits)
    result = number(shown.printed(stage)[i, j], s.digits)  # in sight, however long the lines
    how = HOW_TO_CHANGE if stage in s.matrices else ""
    st.html(
        panel_of(f"{where} = {result}", lines, (stage, i, j), how)
        + (_what_follows(s, shown) if stage in s.matrices else "")
    )


def _what_follows(s: Settings, shown: View) -> str:
    """What the query makes of the inputs: an edit shows its effect beside it, on a phone too."""
    last, words = "output", "output"
    if "projected" in shown.stages:
        last, words = "projected", "projected output"
    weights, values = (
        rounded(shown.printed(name), s.digits)[s.query] for name in ("weights", last)
    )
    keys = [f"{key} {weight}" for key, weight in zip(shown.labels["keys"], weights, strict=True)]
    token = escape(shown.labels["queries"][s.query])
    weighs, gives = (escape(_brief_list(found)) for found in (keys, values))
    return (
        f"<p class='follows'><b>“{token}”</b> gives the weights {weighs}"
        f" and has the {words} {gives}.</p>"
    )


def _brief_list(words: list[str]) -> str:
    """As many as can be read at a glance."""
    return ", ".join(words[:GLANCE]) + (" …" if len(words) > GLANCE else "")
