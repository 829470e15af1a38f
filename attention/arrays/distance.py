"""The distance between two arrays, both of which may hold NaN and infinities.

What takes several copies of large arrays on the way is done by blocks of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

CELLS = 2**17  # of a block


def blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Return slices of the rows, the axis before the last, of about :data:`CELLS` numbers each.

    >>> list(blocks((2, 300, 512)))
    [slice(0, 128, None), slice(128, 256, None), slice(256, 384, None)]
    """
    rows = shape[-2]
    step = max(1, CELLS // max(math.prod(shape) // max(rows, 1), 1))
    return (slice(k, k + step) for k in range(0, rows, step))


def distance(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return |found − wanted| cell by cell.

    It is 0 where both are the same infinity or NaN, and ∞ where only one is.

    >>> distance(np.array([1.0, np.nan, np.inf]), np.array([3.0, np.nan, 0.0]))
    array([ 2.,  0., inf])
    """
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where(same, 0, np.abs(found - wanted))
    return np.where(np.isfinite(apart), apart, np.inf)


def furthest(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the largest distance; 0 for empty arrays.

    >>> furthest(np.array([[1.0, 2.0]]), np.array([[1.0, 5.0]]))
    3.0
    """
    apart = (distance(found[..., rows, :], wanted[..., rows, :]) for rows in blocks(found.shape))
    return max((float(block.max(initial=0)) for block in apart), default=0.0)


def difference(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """Return theirs − ours; 0 where both are the same infinity or NaN.

    >>> difference(np.array([[1.0, -np.inf]]), np.array([[3.0, -np.inf]]))
    array([[-2.,  0.]])
    """
    apart = np.zeros(theirs.shape)
    for rows in blocks(theirs.shape):
        one, other = theirs[..., rows, :], ours[..., rows, :]
        with np.errstate(invalid="ignore", over="ignore"):
            np.subtract(one, other, out=apart[..., rows, :], where=distance(one, other) != 0)
    return apart


def largest_finite(M: np.ndarray) -> float:
    """Return the largest absolute value of the finite numbers; 0 if there are none.

    >>> largest_finite(np.array([1.0, -2.0, np.inf]))
    2.0
    """
    most = max(float(M.max(initial=0)), -float(M.min(initial=0)))
    if math.isfinite(most):  # and so are all numbers, for NaN would show
        return abs(most)
    finite = np.isfinite(M)
    high, low = (float(pick(M, initial=0, where=finite)) for pick in (np.max, np.min))
    return abs(max(high, -low))
