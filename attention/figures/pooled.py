"""Stages with more rows or columns than a board draws: several of its cells are shown as one.

Weights are summed over the keys of a cell and averaged over its queries, as those of a long
attention are, so a row still adds up to 1; of every other stage the mean of what is seen is taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.colours import HIDING, hidden_cells
from attention.cuts import cell_of, edges_of
from attention.figures.heatmap import Mark
from attention.figures.long_cells import measure_of
from attention.long import Cells
from attention.tiles import over_keys
from attention.view import View

MOST = 512  # rows, and columns, of what is drawn
OFFER = "click for the largest of them"


def is_pooled(matrix: np.ndarray) -> bool:
    return max(matrix.shape) > MOST


def pooled_view(view: View) -> View:
    """The view with at most 512 rows and columns a stage, its axes labelled by ranges.

    Its weights, bias and mask are for drawing alone; a view that is small is given back.
    """
    stages = view.stages
    if not any(map(is_pooled, stages.values())):
        return view
    drawn = {name: _pooled(view, name) if is_pooled(M) else M for name, M in stages.items()}
    seen = view.allowed if view.bias is None else view.allowed & (view.bias > HIDING)
    return replace(
        view,
        stages=drawn,
        labels={axis: _short(labels) for axis, labels in view.labels.items()},
        allowed=_sums(seen.astype(np.float32)) > 0,
        bias=None,
    )


def shares(view: View, name: str) -> bool:
    """Whether the cells of a stage are shares, which are summed over keys."""
    return name == "weights" and view.softmax is True


def _pooled(view: View, name: str) -> np.ndarray:
    matrix = view.stages[name]
    edges = [edges_of(0, count, cell_of(count, MOST)) for count in matrix.shape]
    rows, columns = (np.diff(edge) for edge in edges)
    with np.errstate(all="ignore"):
        if shares(view, name):
            return np.asarray(_sums(matrix) / rows[:, None])
        hidden = hidden_cells(view, name)
        if hidden is None or not hidden.any():
            return np.asarray(_sums(matrix) / (rows[:, None] * columns))
        seen = _sums((~hidden).astype(np.float32))
        mean = _sums(np.where(hidden, 0, matrix)) / seen
    return np.asarray(np.where(seen > 0, mean, -np.inf))


def _sums(matrix: np.ndarray) -> np.ndarray:
    """(rows, columns) → at most (512, 512), the sum of each cell."""
    tall, wide = (cell_of(count, MOST) for count in matrix.shape)
    _, over_rows = over_keys(np.add, matrix, 0, tall)
    return over_keys(np.add, over_rows.T, 0, wide)[1].T


def ranges(count: int) -> tuple[str, ...]:
    """The places, counted from 1, that stand together along an axis.

    >>> ranges(1023)[:2], ranges(1023)[-1], ranges(2)
    (('1–2', '3–4'), '1,023', ('1', '2'))
    """
    cell = cell_of(count, MOST)
    ends = ((begin + 1, min(begin + cell, count)) for begin in range(0, count, cell))
    return tuple(f"{one:,}" + f"–{last:,}" * (last > one) for one, last in ends)


def _short(labels: tuple[str, ...]) -> tuple[str, ...]:
    return ranges(len(labels)) if len(labels) > MOST else labels


def spans(labels: tuple[str, ...]) -> tuple[str, ...]:
    """What stands along an axis, from which to which word.

    >>> spans(tuple(f"w{k}" for k in range(1023)))[-2:]
    ('1,021–1,022: w1020 … w1021', '1,023: w1022')
    """
    cell = cell_of(len(labels), MOST)
    if cell == 1:
        return labels
    places = ranges(len(labels))
    if labels[-1] == str(len(labels)):
        return places
    words = (labels[begin : begin + cell] for begin in range(0, len(labels), cell))
    named = (" … ".join(dict.fromkeys((some[0], some[-1]))) for some in words)
    return tuple(f"{place}: {name}" for place, name in zip(places, named, strict=True))


def measure(view: View, name: str) -> str:
    """What a cell of a pooled stage is, in a sentence.

    >>> labels = {"queries": ("",) * 1024, "keys": ("",) * 1024}
    >>> stages = {"weights": np.zeros((1024, 1024)), "X": np.zeros((1024, 4))}
    >>> shown = View(stages, labels, np.ones((1024, 1024), bool), 1.0)
    >>> measure(shown, "weights"), measure(shown, "X")
    ('Each cell: share of 2 keys, mean of 2 queries.', 'Each cell: mean of 2 rows.')
    """
    matrix = view.stages[name]
    rows, columns = (edges_of(0, count, cell_of(count, MOST)) for count in matrix.shape)
    if shares(view, name):
        said = measure_of(Cells(matrix, rows, columns), "mean").rstrip(",")
    else:
        sides = [
            f"{edges[1]} {word}"
            for edges, word in ((rows, "rows"), (columns, "columns"))
            if edges[1] > 1
        ]
        hidden = hidden_cells(view, name)
        within = " of " if hidden is None or not hidden.any() else " of what is seen in "
        said = f"mean{within}{' × '.join(sides)}"
    return f"Each cell: {said}."


def place_of(mark: Mark, matrix: np.ndarray) -> Mark:
    """Where a row or a cell that is framed is drawn.

    >>> place_of(("cell", 7, 2), np.zeros((1024, 4)))
    ('cell', 3, 2)
    """
    tall, wide = (cell_of(count, MOST) for count in matrix.shape)
    what, row, column = mark
    return what, row // tall, None if column is None else column // wide


def exact_cell(view: View, name: str, row: int, column: int) -> tuple[int, int]:
    """Of a cell that is drawn, the one furthest from 0 of those seen in it; else its first.

    >>> M = np.zeros((1024, 4))
    >>> M[7, 2] = -3
    >>> exact_cell(View({"X": M}, {}, np.ones((1, 1), bool), 1.0), "X", 3, 2)
    (7, 2)
    """
    matrix = view.stages[name]
    tall, wide = (cell_of(count, MOST) for count in matrix.shape)
    i, j = row * tall, column * wide
    part = slice(i, i + tall), slice(j, j + wide)
    hidden = hidden_cells(view, name)
    seen = np.isfinite(matrix[part]) & (True if hidden is None else ~hidden[part])
    size = np.where(seen, np.abs(matrix[part]), -1.0)
    down, across = divmod(int(size.argmax()), size.shape[1])
    return i + down, j + across


def drawn_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """How many rows and columns are drawn of a stage of this shape."""
    return tuple(-(-count // cell_of(count, MOST)) for count in shape)
