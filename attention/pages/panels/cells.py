"""The cells of stages on a board: which was clicked, how it is made, what is typed into inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attention.explain.card import Card, card_of
from attention.explain.play import PlayStep, play_of
from attention.explain.strip import Strip, strip_of, strongest
from attention.explain.view import View
from attention.figures.panes.pane import Pane
from attention.figures.panes.panes import Cell
from attention.pages.frame import state
from attention.session.edit import board_edits
from attention.session.edit.board_edits import Operation, Refusal
from attention.session.edit.editing import token_sequence
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.vocabulary.sentences import called, capital
from attention.vocabulary.stages import STAGES

GLANCE = 8  # numbers of a row

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


def chosen(s: Settings, shown: View, stage: str = "scores") -> Cell:
    """Return the cell whose arithmetic is shown: at first that of the key that weighs most."""
    if s.cell is not None:
        name, i, j = s.cell
        rows, columns = shown.stages[name].shape if name in shown.stages else (0, 0)
        if i < rows and j < columns:
            return s.cell
    return first_of(s, shown, "weights" if s.weights_alone else stage)


def first_of(s: Settings, shown: View, stage: str) -> Cell:
    """Return the cell of a stage that is chosen at first: of the query, and its strongest key."""
    at = {"queries": s.query, "keys": strongest(shown, s.query)}
    return stage, at.get(STAGES[stage].rows, 0), at.get(STAGES[stage].columns, 0)


def strip(s: Settings, shown: View) -> Strip:
    """Return where the chosen query looks."""
    return strip_of(shown, s.query, s.digits)


def play(s: Settings, shown: View) -> tuple[PlayStep, ...]:
    """Return the steps of the chosen query."""
    return play_of(shown, s.query, s.digits)


def word(clicked: object, tokens: Sequence[str]) -> int | None:
    """Which word was clicked; None where there is no such word."""
    if type(clicked) is int and 0 <= clicked < len(tokens):  # True is no row
        return clicked
    return None


def ask(clicked: object) -> None:
    """Make a word that was clicked the query; the browser is not trusted with which.

    The chosen cell stays in its stage, and follows to the row of that word; where it is about a
    key, to the key that weighs most in the numbers of then.
    """

    def act(s: Settings) -> Settings:
        query = word(clicked, s.tokens)
        if query is None:
            return s
        cell = s.cell
        if cell is not None and STAGES[cell[0]].rows == "queries":
            is_key = STAGES[cell[0]].columns == "keys"
            cell = cell[0], query, strongest(view(s, run(s)), query) if is_key else cell[2]
        return replace(s, query=query, cell=cell)

    state.change(act)


def card(s: Settings, shown: View, cell: Cell) -> Card:
    """Return how a cell is made; of an input also what the query makes of it."""
    if cell[0] not in s.matrices:
        return card_of(shown, cell, s.digits)
    found = card_of(shown, cell, s.digits, editable=True)
    return replace(found, lines=(*found.lines, _what_follows(s, shown)))


def _what_follows(s: Settings, shown: View) -> str:
    """What the query makes of the inputs: an edit shows its effect next to it, on a phone too."""
    last, words = "output", "output"
    if "projected" in shown.stages:
        last, words = "projected", "projected output"
    weights, values = (shown.row_texts(name, s.query, s.digits) for name in ("weights", last))
    labels = shown.labels["keys"]
    keys = [f"{called(labels, k)} {weight}" for k, weight in enumerate(weights)]
    token = capital(called(shown.labels["queries"], s.query))
    weighs, gives = (_brief_list(found) for found in (keys, values))
    return f"{token} gives the weights {weighs} and has the {words} {gives}."


def _brief_list(words: list[str]) -> str:
    """As many as can be read at a glance."""
    return ", ".join(words[:GLANCE]) + (" …" if len(words) > GLANCE else "")
