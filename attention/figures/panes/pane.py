"""One heatmap as it is true: its numbers, its words, and what there is to know of its cells.

The board, the notebook's figure, the printed figure and the report are all made of this record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np

from attention.figures.panes.shades import MOST_NUMBERED, SHARE
from attention.vocabulary.numbers import number, rounded
from attention.vocabulary.sentences import plural

MOST_TEXTS = 16_384  # cells; a larger matrix is drawn without numbers in its cells
VANISHED = re.compile(r"0\.0+")  # what the decimals of the others make a 0, and is none
WAITS = "…"  # is written in a cell that waits for another
QUERY_KEY = "query", "key"  # a row and a column of what queries make of keys
Place = tuple[int, int]  # row, column
Mark = tuple[str, int, int | None]  # what the frame is for, a row and, for one cell, a column


class CellKind(IntEnum):
    """What a cell is."""

    SHOWN = 0  # in the colour of its number
    HIDDEN = 1  # behind a mask
    BROKEN = 2  # neither hidden nor finite
    BLANK = 3  # to be filled in
    WAITS = 4  # for one that is to be filled in


@dataclass(frozen=True, eq=False, kw_only=True)
class Pane:
    """One (rows, columns) matrix with its words.

    Parameters
    ----------
    name : of its stage, where it has one
    values : (r, c)
    rows, columns : r and c labels, as typed
    limits : the range of the colours; (0, 1) is a share, anything else diverges about 0
    group, symbol, formula, sentence : what it stands with, what is written over it and below
    title : of the page, for pictures; "" where there is none
    printed : (r, c), what is written in the cells, where that is not ``values``
    digits : of the numbers
    hidden : (r, c), True where a cell is behind a mask
    blanks : (row, column) → the text of a cell whose number is to be filled in, or WAITS
    marks : ("query", row, None) frames a row, ("cell", row, column) frames a cell
    in_colours : whether a large one is drawn without its numbers
    sources : where a cell comes from: (stage, "row i" …)
    buckets : of M the row of R that each cell reads
    axes : what a row and a column are, where the corner says it
    queries : whether its rows are those of queries
    stage : whose numbers these are, where its name is another
    heading : over it in print, where that is not its symbol
    filename : of its pictures, without the ending
    edit : what can be changed on the board: "cells", "mask", "blanks" or nothing
    tokens : of its rows, where they can be renamed
    picks : whether a page shows the arithmetic of its cells

    >>> pane = Pane(
    ...     name="weights",
    ...     values=np.array([[1.0, 0.0]]),
    ...     rows=("a",),
    ...     columns=("a", "b"),
    ...     limits=(0, 1),
    ...     symbol="weights",
    ...     hidden=np.array([[False, True]]),
    ... )
    >>> pane.texts, pane.kinds.tolist(), pane.role
    ([['1', '0']], [[0, 1]], 'share')
    >>> pane.alt.split(": ")[1]
    'largest 1 at row a, column a; smallest 1 at row a, column a; 1 cell hidden.'
    """

    name: str
    values: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    limits: tuple[float, float]
    group: str = ""
    symbol: str = ""
    formula: str = ""
    sentence: str = ""
    title: str = ""
    printed: np.ndarray | None = None
    digits: int = 2
    hidden: np.ndarray | None = None
    blanks: Mapping[Place, str] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    in_colours: bool = False
    sources: Sequence[tuple[str, str]] = ()
    buckets: list[list[int]] | None = None
    axes: tuple[str, str] | None = None
    queries: bool = False
    stage: str = ""
    heading: str | None = None
    filename: str = ""
    edit: str = ""
    tokens: tuple[str, ...] | None = None
    picks: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def role(self) -> str:
        """Return the name of its colours: "share" or "diverging"."""
        return "share" if self.limits == SHARE else "diverging"

    @property
    def has_bar(self) -> bool:
        """Whether a colour bar says something: of two values, grey and not, it would not."""
        return self.name != "mask"

    @property
    def is_large(self) -> bool:
        """Whether it is drawn in colours alone."""
        return self.in_colours and self.values.size > MOST_NUMBERED

    @property
    def title_line(self) -> str:
        """Return symbol, formula and title in one line."""
        made = " = ".join(filter(None, (self.symbol, self.formula)))
        return " · ".join(filter(None, (made, self.title)))

    @property
    def written(self) -> np.ndarray:
        """Return (r, c), the numbers that are written in the cells."""
        return self.values if self.printed is None else self.printed

    @cached_property
    def kinds(self) -> np.ndarray:
        """Return (r, c) of :class:`CellKind`, as small integers."""
        kinds = np.full(self.values.shape, CellKind.SHOWN, np.uint8)
        kinds[~np.isfinite(self.values)] = CellKind.BROKEN
        if self.hidden is not None:
            kinds[self.hidden] = CellKind.HIDDEN
        for place, text in self.blanks.items():
            kinds[place] = CellKind.WAITS if text == WAITS else CellKind.BLANK
        return kinds

    @cached_property
    def texts(self) -> list[list[str]] | None:
        """Return what is written in each cell; None where there are too many."""
        texts = None if self.is_large else cell_texts(self.written, self.digits, self.role)
        if texts is not None:
            for (i, j), text in self.blanks.items():
                texts[i][j] = text
        return texts

    @cached_property
    def single_texts(self) -> list[list[str]] | None:
        """Return the number of each cell by itself, in which none is 0.00; as ``texts``."""
        return self.texts and [
            [
                number(value, self.digits) if VANISHED.fullmatch(text) else text
                for text, value in zip(row, values, strict=True)
            ]
            for row, values in zip(self.texts, self.written.tolist(), strict=True)
        ]

    @cached_property
    def alt(self) -> str:
        """Return what is in the heatmap in one sentence, for those who do not see it."""
        matrix, hidden = self.written, self.hidden
        shown = np.isfinite(matrix) if hidden is None else np.isfinite(matrix) & ~hidden
        parts = []
        if shown.any():
            for word, place in (
                ("largest", np.where(shown, matrix, -np.inf).argmax()),
                ("smallest", np.where(shown, matrix, np.inf).argmin()),
            ):
                i, j = divmod(int(place), matrix.shape[1])
                at = f"at row {self.rows[i]}, column {self.columns[j]}"
                parts.append(f"{word} {number(matrix[i, j], self.digits)} {at}")
        covered = 0
        if hidden is not None:
            covered = int(hidden.sum()) - sum(bool(hidden[place]) for place in self.blanks)
        parts += [f"{_count(covered, 'cell')} hidden"] if covered else []
        parts += [f"{_count(len(self.blanks), 'cell')} to be filled in"] if self.blanks else []
        sides = f"{self.symbol}, {_count(self.shape[0], 'row')}, {_count(self.shape[1], 'column')}"
        return f"{sides}: {'; '.join(parts)}." if parts else f"{sides}."


def cell_texts(matrix: np.ndarray, digits: int, role: str) -> list[list[str]] | None:
    """Return the number of each cell as text; None where there are too many to print."""
    return None if matrix.size > MOST_TEXTS else rounded(matrix, digits, role == "share")


def _count(count: int, word: str) -> str:
    return f"{count} {plural(count, word)}"
