"""Ways to fill a weight matrix.

Each takes the shape, a generator and, where it has one, a range.
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from attention.arrays.checks import check_count
from attention.arrays.conversion import shown
from attention.vocabulary.choices import Choice

Shape = tuple[int, int]
WIDEST = 512  # numbers drawn for each row of a named matrix; part of what a seed means


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
    limit = xavier_limit(shape)
    return rng.uniform(-limit, limit, shape)


def xavier_limit(shape: Shape) -> float:
    return math.sqrt(6 / sum(shape))


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

    Raises ValueError or TypeError, one sentence that names the argument.

    >>> initialise("normal", (1, 2), seed=7).round(4)
    array([[0.0012, 0.2987]])
    """
    if not isinstance(kind, str) or kind not in INITIALISERS:
        raise ValueError(
            f"there is no initialiser {shown(kind)}; choose one of {', '.join(INITIALISERS)}."
        )
    least, most = _real("low", low), _real("high", high)
    rounded = math.ceil if kind == "integers" and math.isfinite(least + most) else float
    if INITIALISERS[kind].ranged and not (-math.inf < rounded(least) < rounded(most) < math.inf):
        raise ValueError(
            f"the range {low:g} … {high:g} is empty; the first number needs to be the smaller one."
        )
    rng = np.random.default_rng(_seed(seed))
    return INITIALISERS[kind](_rows_and_columns(shape), rng, low, high)


def _real(name: str, given: float) -> float:
    """A bound of the range."""
    try:
        if isinstance(given, (bool, str, bytes)) or np.ndim(given):
            raise TypeError
        return float(given)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {shown(given)}; expected a number.") from None


def _rows_and_columns(shape: Sequence[int]) -> Shape:
    try:
        rows, columns = shape
        return check_count("rows", rows, 0), check_count("columns", columns, 0)
    except (TypeError, ValueError):
        raise ValueError(
            f"shape is {shown(shape)}; expected the numbers of rows and columns, such as (4, 3)."
        ) from None


def _seed(given: int | list[int]) -> int | list[int]:
    try:
        if isinstance(given, (list, tuple)) and given:
            return [_whole(number) for number in given]
        return _whole(given)
    except TypeError:
        raise ValueError(
            f"seed is {shown(given)}; expected a whole number from 0, or a list of them."
        ) from None


def _whole(given: Any) -> int:
    """A whole number from 0, however large."""
    if isinstance(given, (bool, np.bool_)) or operator.index(given) < 0:
        raise TypeError
    return operator.index(given)


def stream(seed: int, name: str) -> Generator:
    """The random numbers of one seed for one name: those of another name are others.

    From a digest, as ``hash()`` gives another number in each process; and from a named generator,
    as the default one of NumPy may change.

    >>> float(stream(7, "W_Q").random()) == float(stream(7, "W_K").random())
    False
    """
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    entropy = [seed, *np.frombuffer(digest, "<u4").tolist()]
    return Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def drawn(
    kind: str, shape: Shape, seed: int, name: str, low: float = 0, high: float = 3
) -> np.ndarray:
    """The (rows, columns) matrix of this name: a stream of its own for each name of one seed.

    Rows are drawn WIDEST long and cut, so that a matrix that grows keeps the numbers it has (but
    for Xavier's, whose range depends on the shape).

    >>> drawn("integers", (2, 3), 7, "W_Q")[:, :2].tolist() == drawn(
    ...     "integers", (2, 2), 7, "W_Q").tolist()
    True
    """
    rows, columns = shape
    if kind == "xavier":
        high = xavier_limit(shape)
        kind, low = "uniform", -high
    wide = (rows, max(columns, WIDEST))
    return INITIALISERS[kind](wide, stream(seed, name), low, high)[:, :columns]
