"""Ways to fill a weight matrix.

Each takes the shape, a generator and, where it has one, a range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from attention.choices import Choice

Shape = tuple[int, int]


def identity(shape: Shape, rng: Generator, low: float = 0, high: float = 0) -> np.ndarray:
    """1 on the diagonal, 0 elsewhere: X W = X where the matrix is square."""
    return np.eye(*shape)


def integers(shape: Shape, rng: Generator, low: float = 0, high: float = 3) -> np.ndarray:
    """Whole numbers, low ≤ w < high, each equally likely.

    >>> integers((2, 3), np.random.default_rng(7))
    array([[2., 1., 2.],
           [2., 1., 2.]])
    """
    return rng.integers(math.ceil(low), math.ceil(high), shape).astype(np.float64)


def uniform(shape: Shape, rng: Generator, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Real numbers, low ≤ w < high."""
    return rng.uniform(low, high, shape)


def normal(shape: Shape, rng: Generator, low: float = 0, high: float = 0) -> np.ndarray:
    """Standard normal: mean 0, variance 1."""
    return rng.standard_normal(shape)


def xavier(shape: Shape, rng: Generator, low: float = 0, high: float = 0) -> np.ndarray:
    """Xavier/Glorot uniform: within ±√(6 / (d_in + d_out)), so that variances survive a layer.

    Glorot and Bengio 2010, equation 16.
    """
    limit = math.sqrt(6 / sum(shape))
    return rng.uniform(-limit, limit, shape)


INITIALISERS: dict[str, Choice[[Shape, Generator, float, float], np.ndarray]] = {
    "identity": Choice("identity", identity),
    "integers": Choice("random integers", integers, ranged=True),
    "uniform": Choice("uniform", uniform, ranged=True),
    "normal": Choice("standard normal", normal),
    "xavier": Choice("Xavier / Glorot", xavier),
}


def initialise(
    kind: str, shape: Sequence[int], seed: int | list[int], low: float = 0, high: float = 3
) -> np.ndarray:
    """The matrix that ``kind`` gives for a seed; the same seed always gives the same numbers.

    >>> initialise("normal", (1, 2), seed=7).round(4)
    array([[0.0012, 0.2987]])
    """
    if kind not in INITIALISERS:
        raise ValueError(
            f"there is no initialiser {kind!r}; choose one of {', '.join(INITIALISERS)}."
        )
    rounded = (
        math.ceil if kind == "integers" and math.isfinite(low) and math.isfinite(high) else float
    )
    if INITIALISERS[kind].ranged and not (-math.inf < rounded(low) < rounded(high) < math.inf):
        raise ValueError(
            f"the range {low:g} … {high:g} is empty; the first number needs to be the smaller one."
        )
    rows, columns = shape
    return INITIALISERS[kind]((rows, columns), np.random.default_rng(seed), low, high)
