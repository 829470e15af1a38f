"""The stage of the chosen cell as Plotly draws it, and as a table of pandas; and the weights of the
chosen query over a picture.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attention.core.recorded import Patches
from attention.explain.view import View, distinct
from attention.exports.tables import to_csv
from attention.figures.panes.pane import Pane
from attention.figures.panes.panes import Cell, panes
from attention.figures.plotly.heatmap import MOST_PRINTED, to_plotly
from attention.limits import MAX_DRAWN, MAX_LISTED, MAX_STYLED, MAX_TABLE, BadInput
from attention.pages.components import charts, over, tables
from attention.pages.frame import pieces, state
from attention.pages.panels import cells
from attention.readers.texts.tables import disarmed
from attention.session.edit.changes import name_of
from attention.session.state.about import what_it_is
from attention.session.state.run import recorded, run, view
from attention.session.state.settings import Settings
from attention.vocabulary.stages import STAGES

HEATMAP, TABLE, OVER = "Heatmap", "Table", "Over a picture"
STAGE = "stage_shown"  # a value of the page
LOST = "board_lost"  # a value of the page: whether the board's scripts did not load
WITHOUT_BOARD = (
    "The board’s scripts could not be loaded, so Plotly draws the stages, and no cell can be"
    " clicked or edited; reload the page to try again."
)
ROOM = 340  # px that a laptop has below the board
ROW, AROUND = 18, 100  # px: a row whose numbers can be read; what is around all of them
READ = (
    "The buttons at its right zoom, fill the screen and save a PNG. Up to"
    f" {MOST_PRINTED} × {MOST_PRINTED} cells have their numbers in them; point at a cell for its"
    " tokens and its number."
)


def open_heatmap(asked: object) -> None:
    """Open the heatmap of a stage; the browser is not trusted with which."""
    if isinstance(asked, str):
        state.change(partial(_with_stage, stage=asked))
        state.choose("below", HEATMAP)


def _with_stage(s: Settings, stage: str) -> Settings:
    """Choose a cell of this stage, where it has one."""
    shown = view(s, run(s))
    there = stage in shown.stages and shown.stages[stage].size
    return replace(s, cell=cells.first_of(s, shown, stage)) if there else s


def _the_stage(s: Settings, shown: View, cell: Cell) -> str:
    """Which stage is shown: that of the chosen cell, and another one chooses a cell of its own."""
    options = [name for name, matrix in shown.stages.items() if matrix.size]
    if s.cell is not None:
        state.set_page_value(STAGE, s.cell[0])  # stays where a new sentence ends the choice
    wanted = state.page_value(STAGE, cell[0])
    stage = next(name for name in (wanted, cell[0], options[0]) if name in options)
    state.setting_control(
        st.selectbox,
        "Stage",
        "stage",
        stage,
        _with_stage,
        held=partial(state.set_page_value, STAGE) if s.cell is None else None,
        options=options,
        format_func=lambda name: STAGES[name].heading,
        width=260,
    )
    held = state.page_value(STAGE, stage)
    return held if held in options else stage


def _file(s: Settings, stage: str) -> str:
    """The name of a file of this stage, without the ending."""
    return f"attention_{name_of(s)[1]}_{stage}{what_it_is(s).suffix}"


# ---- by Plotly -----------------------------------------------------------------------------------


def heatmap(s: Settings, shown: View, cell: Cell) -> None:
    """Draw the stage of the chosen cell."""
    left, right = st.columns([3, 2], gap="large")
    with right:
        stage = _the_stage(s, shown, cell)
        if (count := shown.stages[stage].size) > MAX_DRAWN:
            pieces.note(f"This stage has {count:,} cells; at most {MAX_DRAWN:,} can be drawn.")
            return
        (pane,) = panes(shown, digits=s.digits, query=s.query, cell=cell, only=[stage])
        pieces.note(pane.sentence, READ)
    with left:
        _draw(s, pane, "tab")


def _draw(s: Settings, pane: Pane, where: str) -> None:
    """Draw a stage no higher than a laptop has room for, unless its rows need it."""
    figure = to_plotly(pane)
    height = min(figure["layout"]["height"], max(ROOM, ROW * len(pane.rows) + AROUND))
    charts.plotly(figure, f"{where}_{pane.name}", _file(s, pane.name), pane.alt, height)


def without_board(s: Settings, shown: View, cell: Cell) -> None:
    """Draw all stages, where the browser has none of the board's scripts, and say so.

    Where they are too many to draw, the largest are left out.
    """
    pieces.message_box("flag", WITHOUT_BOARD)
    only, left_out = list(shown.stages), list[str]()
    while sum(shown.stages[name].size for name in only) > MAX_DRAWN:
        largest = max(only, key=lambda name: shown.stages[name].size)
        only.remove(largest)
        left_out.append(STAGES[largest].heading)
    if left_out:
        pieces.note(f"Too large to draw beside the others: {', '.join(left_out)}.")
    drawn = panes(shown, cell=cell, digits=s.digits, query=s.query, only=only)
    for k in range(0, len(drawn), 3):
        for column, pane in zip(st.columns(3, gap="medium"), drawn[k : k + 3], strict=False):
            with column:
                _draw(s, pane, "all")


# ---- by pandas -----------------------------------------------------------------------------------


def table(s: Settings, shown: View, cell: Cell) -> None:
    """Show the numbers of the stage of the chosen cell, or offer them where they are too many."""
    import pandas as pd  # only where a table is opened

    left, right = st.columns([1, 3], gap="large", vertical_alignment="bottom")
    with left:
        stage = _the_stage(s, shown, cell)
    matrix = shown.stages[stage]
    is_listed, is_styled = matrix.size <= MAX_TABLE, matrix.size <= MAX_STYLED
    with right:
        row, column = STAGES[stage].sides
        said = [f"Rows by {row}, columns by {column}."] if row else []
        if any(disarmed(label) != label for label in (*shown.rows(stage), *shown.columns(stage))):
            said.append("An apostrophe keeps spreadsheets from running a label as a formula.")
        pieces.note(" ".join([*said, _said_of(matrix, is_listed, is_styled)]))
    if is_listed:
        labels = {"index": distinct(shown.rows(stage)), "columns": distinct(shown.columns(stage))}
        written = partial(_written, _texts(shown, stage, s.digits)) if is_styled else None
        tables.show(pd.DataFrame(matrix, **labels), "stage_table", written, "NaN")
    if not is_listed and matrix.size <= MAX_LISTED:
        st.download_button(
            "CSV",
            partial(to_csv, shown.only([stage]), what_it_is(s)),
            f"{_file(s, stage)}.csv",
            "text/csv",
            on_click="ignore",
            key="stage_csv",
        )


def _texts(shown: View, stage: str, digits: int) -> dict[float, str]:
    """How each number of a stage is written on the board; equal numbers are written as the last."""
    numbers = shown.stages[stage].ravel().tolist()
    texts = (text for row in shown.texts(stage, digits) for text in row)
    return dict(zip(numbers, texts, strict=True))


def _written(texts: dict[float, str], value: float) -> str:
    return texts.get(float(value), "NaN")  # which equals nothing


def _said_of(matrix: np.ndarray, is_listed: bool, is_styled: bool) -> str:
    if not is_listed:
        file = "The file" if matrix.size <= MAX_LISTED else "NPZ under “Export”"
        return (
            f"This stage has {matrix.size:,} numbers; a table shows at most {MAX_TABLE:,}. {file}"
            " has them all."
        )
    if is_styled:
        return "Rounded as on the board; the table’s own download has all digits."
    return "Too many numbers to be rounded; NaN is written as NaN, −∞ as -Infinity."


# ---- over a picture ------------------------------------------------------------------------------


def patches_of(s: Settings, shown: View) -> Patches | None:
    """Return where the patches of a picture are among the keys; None where they are none."""
    of = recorded(s)
    if of is None or of.patches is None:
        return None
    try:
        of.patches.places(len(shown.labels["keys"]))
    except BadInput:  # of a link that anybody may have written
        return None
    return of.patches


def over_picture(s: Settings, shown: View, patches: Patches) -> None:
    """Draw the chosen query's weights, each patch at its place."""
    weights, of, about = shown.stages["weights"][s.query], recorded(s), what_it_is(s)
    found = over.of_row(
        weights,
        ~shown.allowed[s.query],
        patches,
        (shown.labels["queries"], shown.labels["keys"]),
        s.query,
        title=of.heading if of else "",
        file=f"attention_{name_of(s)[1]}_picture{about.suffix}",
        about="; ".join(about.lines()),
        digits=s.digits,
    )
    over.show("over_picture", found, cells.ask)
