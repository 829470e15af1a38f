"""The panes of the board: a heatmap for each stage, with its words, marks and text alternative."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NotRequired, TypedDict

import numpy as np

from attention.captions import describe
from attention.colours import colour_limits, hidden_cells
from attention.figures.heatmap import Blank, Mark, around, heatmap, scale
from attention.figures.shades import BY_ROOT, MOST_NUMBERED, ROOTS, SHARE, shades
from attention.numbers import exact, number
from attention.stages import STAGES
from attention.view import View

Cell = tuple[str, int, int]  # stage, row, column
QUERY_KEY = "query", "key"  # a row and a column of what queries make of keys


class Words(TypedDict):
    """What stands around a heatmap."""

    group: str
    symbol: str  # over it
    formula: str
    sentence: str


class Pane(Words):
    """One heatmap with its words, as the board, the paper figures and the report are handed it."""

    name: str
    shape: str
    alt: str  # the heatmap in a sentence
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    sources: list[tuple[str, str]]  # where a cell comes from: (stage, "row i" …)
    figure: dict  # Plotly's JSON
    buckets: NotRequired[list[list[int]]]  # of M the row of R that each cell reads
    codes: NotRequired[bytes]  # of a large one its shades, which its figure then lacks
    chosen: NotRequired[tuple[int, int, str, str]]  # its chosen cell: row, column, number, exact
    edit: NotRequired[str]  # what one can change in it: "cells", "mask", "blanks" or nothing
    blanks: NotRequired[list[tuple[int, int]]]  # that are to be filled in
    tokens: NotRequired[tuple[str, ...]]  # of its rows, where they can be renamed
    picks: NotRequired[bool]  # whether a page shows the arithmetic of its cells
    added: NotRequired[bool]  # by a setting, at the end of a line, which it is not to break
    queries: NotRequired[bool]  # whether its rows are those of queries
    axes: NotRequired[tuple[str, str]]  # what a row and a column are, where its corner says it
    digits: int  # of its numbers
    filename: NotRequired[str]  # of its image
    stage: NotRequired[str]  # whose numbers these are, where its name is another


def panes(
    view: View,
    *,
    digits: int = 2,
    query: int | None = None,
    cell: Cell | None = None,
    title: str = "",
    only: Collection[str] | None = None,
    in_colours: bool = False,
    blanks: Mapping[str, Blank] | None = None,
) -> list[Pane]:
    """A pane for each stage, in reading order; ``query`` frames its row, ``cell`` one cell.

    Stages without a cell are left out, and so are those that ``only`` does not name. Where they may
    be ``in_colours``, large ones have no numbers but shades. The ``blanks`` of a stage say what
    stands in cells that are to be filled in, whose numbers the view does not have.
    """
    limits = colour_limits(view)
    blanks = blanks or {}
    return [
        _stage(
            view,
            name,
            limits[name],
            digits,
            marks_of(name, query, cell),
            title,
            in_colours,
            blanks.get(name),
        )
        for name, matrix in view.stages.items()
        if matrix.size and (only is None or name in only)
    ]


def side_by_side(
    true: View,
    *,
    digits: int = 2,
    query: int | None = None,
    title: str = "",
    in_colours: bool = False,
) -> list[Pane]:
    """Weights and output under a true −∞ mask, beside those of a mask that adds −1e9."""
    both = ("weights", "output")
    compared = panes(
        true, digits=digits, query=query, title=title, only=both, in_colours=in_colours
    )
    for pane in compared:
        pane["name"], pane["symbol"] = f"{pane['name']}_inf", f"{pane['symbol']} with −∞"
        pane["group"], pane["sources"] = "beside", []
    return compared


def _stage(
    view: View,
    name: str,
    limits: tuple[float, float],
    digits: int,
    marks: tuple[Mark, ...],
    title: str,
    in_colours: bool,
    blank: Blank | None,
) -> Pane:
    stage = STAGES[name]
    described = describe(view, name)
    words: Words = {
        "group": stage.group,
        "symbol": stage.heading,
        "formula": described["formula"],
        "sentence": described["sentence"],
    }
    made = pane(
        name,
        view.stages[name],
        view.rows(name),
        view.columns(name),
        printed=view.printed(name),
        limits=limits,
        digits=digits,
        hidden=hidden_cells(view, name),
        marks=marks,
        title=title,
        words=words,
        in_colours=in_colours,
        blank=blank,
    )
    made["sources"] = view.sources(name)
    if name == "mask" and view.buckets is not None and view.buckets.size <= MOST_NUMBERED:
        made["sources"], made["buckets"] = [("R", "bucket")], view.buckets.tolist()
    name_axes(made, name)
    return made


def name_axes(made: Pane, stage: str) -> None:
    """Say of a pane of this stage whether its rows are queries and its columns keys."""
    of = STAGES.get(stage)
    made["queries"] = of is not None and of.rows == "queries"
    if of is not None and (of.rows, of.columns) == ("queries", "keys"):
        made["axes"] = QUERY_KEY


def pane(
    name: str,
    matrix: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    words: Words,
    limits: tuple[float, float],
    printed: np.ndarray | None = None,
    digits: int = 2,
    hidden: np.ndarray | None = None,
    marks: tuple[Mark, ...] = (),
    title: str = "",
    in_colours: bool = False,
    blank: Blank | None = None,
) -> Pane:
    """One (rows, columns) matrix as a heatmap, with the words around it.

    Its numbers are written as those of ``printed``, if it is given.
    """
    printed = matrix if printed is None else printed
    heading = " = ".join(filter(None, (words["symbol"], words["formula"])))
    heading = " · ".join(filter(None, (heading, title)))
    labels = tuple(rows), tuple(columns)
    bar = name != "mask"  # two values, grey and not: a scale would say nothing
    large = in_colours and matrix.size > MOST_NUMBERED
    figure: dict = (
        {"data": [scale(limits, bar)], "layout": around(*labels, heading, marks)}
        if large
        else heatmap(
            matrix,
            *labels,
            limits=limits,
            printed=printed,
            digits=digits,
            hidden=hidden,
            marks=marks,
            title=heading,
            bar=bar,
            blank=blank,
        )
    )
    made: Pane = {
        "name": name,
        **words,
        "shape": f"{matrix.shape[0]} × {matrix.shape[1]}",
        "alt": alternative(printed, rows, columns, hidden, words["symbol"], digits, blank),
        "rows": tuple(rows),
        "columns": tuple(columns),
        "sources": [],
        "digits": digits,
        "figure": figure,
    }
    if large:
        made["codes"] = shades(matrix, limits, hidden)
        if limits == SHARE:
            made["sentence"] = f"{made['sentence']} {BY_ROOT}"
            figure["data"][0]["colorbar"] |= ROOTS
        for _, i, j in marks:
            if j is not None:
                made["chosen"] = (i, j, number(printed[i, j], digits), exact(matrix[i, j]))
    return made


def alternative(
    matrix: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    hidden: np.ndarray | None,
    symbol: str,
    digits: int,
    blank: Blank | None = None,
) -> str:
    """What is in the heatmap in one sentence, for those who do not see it."""
    shown = np.isfinite(matrix) if hidden is None else np.isfinite(matrix) & ~hidden
    parts = []
    if shown.any():
        for word, place in (
            ("largest", np.where(shown, matrix, -np.inf).argmax()),
            ("smallest", np.where(shown, matrix, np.inf).argmin()),
        ):
            i, j = divmod(int(place), matrix.shape[1])
            at = f"at row {rows[i]}, column {columns[j]}"
            parts.append(f"{word} {number(matrix[i, j], digits)} {at}")
    covered = 0
    if hidden is not None:
        covered = int(hidden.sum()) - sum(bool(hidden[place]) for place in blank or ())
    parts += [f"{_count(covered, 'cell')} hidden"] * bool(covered)
    parts += [f"{_count(len(blank), 'cell')} to be filled in"] if blank else []
    sides = f"{_count(matrix.shape[0], 'row')}, {_count(matrix.shape[1], 'column')}"
    return f"{symbol}, {sides}{': ' * bool(parts)}{'; '.join(parts)}."


def _count(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def marks_of(name: str, query: int | None, cell: Cell | None) -> tuple[Mark, ...]:
    """The frames of a stage: around the query's row, and around the chosen cell."""
    marks: list[Mark] = []
    if query is not None and STAGES[name].rows == "queries":
        marks.append(("query", query, None))
    if cell is not None and cell[0] == name:
        marks.append(("cell", cell[1], cell[2]))
    return tuple(marks)
