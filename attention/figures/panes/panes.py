"""The panes of the board: a heatmap for each stage, with its words and marks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from attention.explain.captions import describe
from attention.explain.colours import colour_limits, hidden_cells
from attention.explain.view import View
from attention.figures.panes.pane import QUERY_KEY, Mark, Pane, Place
from attention.figures.panes.shades import MOST_NUMBERED
from attention.vocabulary.stages import STAGES

Cell = tuple[str, int, int]  # stage, row, column


def panes(
    view: View,
    *,
    digits: int = 2,
    query: int | None = None,
    cell: Cell | None = None,
    title: str = "",
    only: Collection[str] | None = None,
    in_colours: bool = False,
    blanks: Mapping[str, Mapping[Place, str]] | None = None,
) -> list[Pane]:
    """A pane for each stage, in reading order; ``query`` frames its row, ``cell`` one cell.

    Stages without a cell are left out, and so are those that ``only`` does not name. Where they may
    be ``in_colours``, large ones have no numbers but shades. The ``blanks`` of a stage say what
    stands in cells that are to be filled in, whose numbers the view does not have.
    """
    limits, made = colour_limits(view), list[Pane]()
    for name, matrix in view.stages.items():
        if not matrix.size or (only is not None and name not in only):
            continue
        stage, described = STAGES[name], describe(view, name)
        pane = Pane(
            name=name,
            values=matrix,
            rows=tuple(view.rows(name)),
            columns=tuple(view.columns(name)),
            limits=limits[name],
            group=stage.group,
            symbol=stage.heading,
            formula=described["formula"],
            sentence=described["sentence"],
            title=title,
            printed=view.printed(name),
            digits=digits,
            hidden=hidden_cells(view, name),
            blanks=(blanks or {}).get(name, {}),
            marks=marks_of(name, query, cell),
            in_colours=in_colours,
            sources=view.sources(name),
            **named_axes(name),
        )
        if name == "mask" and view.buckets is not None and view.buckets.size <= MOST_NUMBERED:
            pane = replace(pane, sources=[("R", "bucket")], buckets=view.buckets.tolist())
        made.append(pane)
    return made


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
    return [
        replace(
            pane,
            name=f"{pane.name}_inf",
            symbol=f"{pane.symbol} with −∞",
            group="beside",
            sources=(),
        )
        for pane in panes(
            true, digits=digits, query=query, title=title, only=both, in_colours=in_colours
        )
    ]


def named_axes(stage: str) -> dict[str, Any]:
    """Return what a pane of this stage says of its axes: whether they are queries and keys."""
    of = STAGES.get(stage)
    queries = of is not None and of.rows == "queries"
    keys = of is not None and of.columns == "keys"
    return {"queries": queries, "axes": QUERY_KEY if queries and keys else None}


def marks_of(name: str, query: int | None, cell: Cell | None) -> tuple[Mark, ...]:
    """The frames of a stage: around the query's row, and around the chosen cell."""
    marks: list[Mark] = []
    if query is not None and STAGES[name].rows == "queries":
        marks.append(("query", query, None))
    if cell is not None and cell[0] == name:
        marks.append(("cell", cell[1], cell[2]))
    return tuple(marks)
