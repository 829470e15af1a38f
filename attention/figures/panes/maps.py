"""A head's weights as a small map: shades alone, in few rows and columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attention.figures.panes.shades import SHARE, shades

SIDE = 96  # rows and columns of a small map at most
ROWS = 12  # of a small map, that are made at once


class SmallMap(NamedTuple):
    """A byte for each cell, row by row."""

    rows: int
    columns: int
    shades: bytes


def small_map(weights: np.ndarray, allowed: np.ndarray) -> SmallMap:
    """Return the shades of (n_q, n_k) weights in at most 96 rows and columns.

    >>> small_map(np.eye(2), np.tri(2, dtype=bool))
    SmallMap(rows=2, columns=2, shades=b'\\xfc\\xfe\\x00\\xfc')
    >>> small_map(np.eye(512), np.ones((512, 512), bool))[:2]
    (96, 96)
    """
    shown = in_few_cells(weights, allowed)
    rows, columns = shown.shape
    return SmallMap(rows, columns, shades(shown.filled(0), SHARE, np.ma.getmaskarray(shown)))


def in_few_cells(weights: np.ndarray, allowed: np.ndarray) -> np.ma.MaskedArray:
    """Return (n_q, n_k) weights in at most 96 rows and columns, masked where they are hidden.

    Of cells that share a place the largest weight is kept; it is hidden only where all are.

    >>> print(in_few_cells(np.eye(2), np.tri(2, dtype=bool)))
    [[1.0 --]
     [0.0 1.0]]
    """
    allowed, (n_q, n_k) = np.broadcast_to(allowed, weights.shape), weights.shape
    rows, columns = (np.arange(min(n, SIDE)) * n // max(min(n, SIDE), 1) for n in (n_q, n_k))
    parts = [(weights[:0, : len(columns)], ~allowed[:0, : len(columns)])]
    for k in range(0, len(rows), ROWS):  # a part at a time, so that no copy of all is made
        starts = rows[k : k + ROWS]
        part = slice(starts[0], rows[k + ROWS] if k + ROWS < len(rows) else n_q)
        hidden = ~allowed[part]
        shown = np.where(hidden, 0, weights[part])
        for axis, first, n in ((0, starts - starts[0], n_q), (1, columns, n_k)):
            if n > SIDE:
                shown = np.maximum.reduceat(shown, first, axis=axis)
                hidden = np.logical_and.reduceat(hidden, first, axis=axis)
        parts.append((shown, hidden))
    shown, hidden = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.ma.array(shown, mask=hidden)
