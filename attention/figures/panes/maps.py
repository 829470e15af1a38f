"""A head's weights as a small map: shades alone, in few rows and columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attention.figures.panes.shades import SHARE, shades

SIDE = 96  # rows and columns of a small map at most


class SmallMap(NamedTuple):
    """A byte for each cell, row by row."""

    rows: int
    columns: int
    shades: bytes


def small_map(weights: np.ndarray, allowed: np.ndarray) -> SmallMap:
    """(n_q, n_k) weights, and where they are not hidden, in at most 96 rows and columns.

    Of cells that share a place the largest weight is shown; a hidden one only where all are.

    >>> small_map(np.eye(2), np.tri(2, dtype=bool))
    SmallMap(rows=2, columns=2, shades=b'\\xfc\\xfe\\x00\\xfc')
    >>> small_map(np.eye(512), np.ones((512, 512), bool))[:2]
    (96, 96)
    """
    hidden = ~np.broadcast_to(allowed, weights.shape)
    shown = np.where(hidden, 0, weights)
    for axis in (0, 1):
        count = weights.shape[axis]
        if count > SIDE:
            starts = np.arange(SIDE) * count // SIDE
            shown = np.maximum.reduceat(shown, starts, axis=axis)
            hidden = np.logical_and.reduceat(hidden, starts, axis=axis)
    rows, columns = shown.shape
    return SmallMap(rows, columns, shades(shown, SHARE, hidden))
