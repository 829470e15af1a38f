"""Figures about a stage: how far its numbers spread, how sharp its weights are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.conversion import as_array


def variance(stage: ArrayLike, visible: ArrayLike | None = None) -> float:
    """Return the population variance (ddof 0) of the visible, finite cells; NaN if there are none.

    It is computed in at least float32.

    >>> variance([[1.0, 3.0, -np.inf]])
    1.0
    """
    stage = as_array("stage", stage)
    stage = stage.astype(np.result_type(stage, np.float32), copy=False)
    keep = np.isfinite(stage) if visible is None else np.isfinite(stage) & np.asarray(visible)
    with np.errstate(over="ignore", invalid="ignore"):
        return float(stage[keep].var()) if keep.any() else float("nan")


def entropy(weights: ArrayLike) -> np.ndarray:
    """Return the entropy of each row, −Σ w ln w in nats, (…, n_q).

    It is 0 for one key with all the weight and ln n_k for equal weights.

    >>> entropy([[0.5, 0.5], [1.0, 0.0]]).round(4)
    array([0.6931, 0.    ])
    """
    weights = np.asarray(as_array("weights", weights), float)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(weights == 0, 0.0, weights * np.log(weights))
    return np.asarray(0.0 - terms.sum(axis=-1))


def largest(weights: ArrayLike, allowed: ArrayLike | None = None) -> np.ndarray:
    """Return the largest weight of each row among its allowed keys, (…, n_q); 0 without any.

    Without softmax a weight may be negative, and then the 0 of a hidden key is not the largest.

    >>> largest([[-2.0, 0.0]], [[True, False]])
    array([-2.])
    """
    weights = np.asarray(as_array("weights", weights), float)
    seen = np.broadcast_to(True if allowed is None else allowed, weights.shape)
    return np.where(seen.any(axis=-1), weights.max(axis=-1, initial=-np.inf, where=seen), 0)
