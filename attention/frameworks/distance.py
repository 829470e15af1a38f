"""How far two arrays are apart, where both may hold NaN and infinities."""

from __future__ import annotations

import numpy as np


def distance(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """How far apart, cell by cell; 0 where both are the same infinity or NaN, ∞ where only one is.

    >>> distance(np.array([1.0, np.nan, np.inf]), np.array([3.0, np.nan, 0.0]))
    array([ 2.,  0., inf])
    """
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where(same, 0, np.abs(found - wanted))
    return np.where(np.isfinite(apart), apart, np.inf)


def difference(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """theirs − ours, where the same infinity on both sides is no difference.

    >>> difference(np.array([1.0, -np.inf]), np.array([3.0, -np.inf]))
    array([-2.,  0.])
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(distance(theirs, ours) == 0, 0.0, theirs - ours)


def largest_finite(M: np.ndarray) -> float:
    """The largest finite size; 0 where there is none.

    >>> largest_finite(np.array([1.0, -2.0, np.inf]))
    2.0
    """
    return float(np.abs(M[np.isfinite(M)]).max(initial=0))
