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
    """Fill with 1 on the diagonal and 0 elsewhere: X W = X if the matrix is square."""
    return np.eye(*shape)


def integers(shape: Shape, rng: Generator, low: float = 0, high: float = 3) -> np.ndarray:
    """Draw whole numbers, low ≤ w < high, each equally likely.

    >>> integers((2, 3), np.random.default_rng(7))
    array([[2., 1., 2.],
           [2., 1., 2.]])
    """
    return rng.integers(math.ceil(low), math.ceil(high), shape).astype(np.float64)


def uniform(shape: Shape, rng: Generator, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Draw real numbers, low ≤ w < high."""
    return rng.uniform(low, high, shape)


def normal(shape: Shape, rng: Generator, low: float = 0, high: float = 0) -> np.ndarray:
    """Draw from the standard normal distribution: mean 0, variance 1."""
    return rng.standard_normal(shape)


def xavier(shape: Shape, rng: Generator, low: float = 0, high: float = 0) -> np.ndarray:
    """Draw within ±√(6 / (d_in + d_out)), evenly, so that a layer keeps the variance of its input.

    Glorot and Bengio 2010, equation 16, called Xavier or Glorot uniform.
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
    """Return a matrix filled by ``kind``; the same seed always gives the same numbers.

    "xavier" is Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward
    neural networks", equation 16.

    Parameters
    ----------
    kind : "identity", "integers", "uniform", "normal" or "xavier"
    shape : two int
        Numbers of rows and columns.
    seed : int or list of int
        As of ``numpy.random.default_rng``; from 0.
    low, high : float
        The range of "integers" and "uniform": low ≤ w < high.

    Returns
    -------
    ndarray, (rows, columns), float64

    Raises
    ------
    ValueError
        If there is no such kind, ``shape`` is not two whole numbers from 0, ``seed`` is not one
        from 0 or a list of them, or the range is empty.
    TypeError
        If ``low`` or ``high`` is not a number.

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
    """Return a bound of the range as a float."""
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
            return [_checked_seed(number) for number in given]
        return _checked_seed(given)
    except TypeError:
        raise ValueError(
            f"seed is {shown(given)}; expected a whole number from 0, or a list of them."
        ) from None


def _checked_seed(given: Any) -> int:
    """Return a whole number from 0, however large."""
    if isinstance(given, (bool, np.bool_)) or operator.index(given) < 0:
        raise TypeError
    return operator.index(given)


def stream(seed: int, name: str) -> Generator:
    """Return a generator for one name and seed; another name has other random numbers.

    It is seeded by a digest, as ``hash()`` differs between processes, and PCG64 is named, as
    NumPy's default generator may change.

    >>> float(stream(7, "W_Q").random()) == float(stream(7, "W_K").random())
    False
    """
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    entropy = [seed, *np.frombuffer(digest, "<u4").tolist()]
    return Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def drawn(
    kind: str, shape: Shape, seed: int, name: str, low: float = 0, high: float = 3
) -> np.ndarray:
    """Draw the (rows, columns) matrix of this name, each name of one seed from its own stream.

    Rows are drawn WIDEST long and cut, so that a matrix that grows keeps its numbers (except
    Xavier's, whose range depends on the shape).

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
