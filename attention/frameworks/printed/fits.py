"""Test whether printed arrays belong together, to their printed digits: by products, scales, masks
and softmax.

Every printed number stands for an interval, half a unit of its last place to each side. A test
passes the intervals of the operands through the formula and asks whether they can meet those of the
result. Passing is no proof: numbers with one decimal meet easily. So each fit also counts its
evidence in bits, −log₂ of the probability that as many numbers of this spread fit by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from attention.readers.cells.mask_polarity import HIDDEN_FROM

SINGLE = 2.0**-22  # what sums and products in float32 may lose, relative to the largest term
CLOSE = 1e-9  # what float64 may lose here
DEVIATIONS = 6  # standard deviations of many roundings that are accepted
SAMPLED = 1024  # numbers of an array whose evidence is counted
ROWS = 8  # of an array that a first test compares


class Printed(NamedTuple):
    """An array as somebody printed it."""

    name: str  # the label as written, or a name such as “numbers 2”
    values: np.ndarray  # float64 or bool, with 1 to 4 axes
    unit: np.ndarray | float  # one unit in the last printed place; 0: exact
    named: bool = True  # whether the text gave the name


@dataclass
class Numbers:
    """A printed array with three axes, (items, rows, columns), and what is known of each number."""

    index: int
    M: np.ndarray
    half: np.ndarray  # half a unit, of M's shape
    is_bool: bool
    is_vector: bool

    @classmethod
    def of(cls, index: int, array: Printed) -> Numbers:
        """Return the array with its leading axes as one; a vector is one row."""
        values = np.asarray(array.values)
        unit = np.broadcast_to(np.asarray(array.unit, float), values.shape)
        shape = (-1, *np.atleast_2d(values).shape[-2:])
        M = values.reshape(shape).astype(float)
        half = np.abs(unit.reshape(shape)) / 2
        return cls(index, M, half, values.dtype == bool, values.ndim == 1)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.M.shape

    def rows(self, rows: np.ndarray) -> Numbers:
        """Return some of its rows."""
        M, half = self.M[:, rows], self.half[:, rows]
        return Numbers(self.index, M, half, self.is_bool, self.is_vector)

    @cached_property
    def is_symmetric(self) -> bool:
        M, T = self.M, self.M.swapaxes(-1, -2)
        return M.shape == T.shape and all(
            np.array_equal(M[:, rows], T[:, rows], equal_nan=True)
            for rows in (slice(0, 1), slice(None))
        )

    @cached_property
    def hidden(self) -> np.ndarray:
        """Where a mask put −∞, or a number as low."""
        with np.errstate(invalid="ignore"):
            return self.M <= HIDDEN_FROM

    @cached_property
    def has_hidden(self) -> bool:
        return bool(self.hidden.any() and not self.hidden.all())

    @cached_property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.M).all())

    @cached_property
    def visible(self) -> np.ndarray:
        """Where a number can be compared."""
        return np.isfinite(self.M) & ~self.hidden

    @cached_property
    def most(self) -> float:
        """Half of the largest unit."""
        return float(self.half.max(initial=0))

    @cached_property
    def grid(self) -> float:
        """The step that all numbers are multiples of, such as 0.5; their unit in general.

        Nobody chooses 0.57735027 and its double as a grid: more than three digits are no step.
        """
        shown = self.M[self.visible][:SAMPLED]
        unit = 2 * float(self.half[self.visible].min(initial=np.inf)) or 1.0
        steps = np.round(shown / unit)
        if not len(shown) or np.abs(steps).max(initial=0) > 2**52:
            return unit
        step = max(1, int(np.gcd.reduce(steps.astype(np.int64))))
        return unit * step if step < 1000 or not self.most else unit

    @cached_property
    def sorted(self) -> np.ndarray:
        shown = self.M[self.visible]
        return np.sort(shown[:: max(1, len(shown) // SAMPLED)])

    @cached_property
    def is_constant(self) -> bool:
        """Whether all numbers are equal, as far as they are looked at: they say nothing."""
        return not len(self.sorted) or bool(self.sorted[0] == self.sorted[-1])

    @cached_property
    def oriented(self) -> tuple[Oriented, Oriented]:
        return Oriented(self, False), Oriented(self, True)

    @cached_property
    def sum_rows(self) -> bool:
        """Whether each row is shares of 1, to the printed digits."""
        return _shares(self, -1)

    @cached_property
    def sum_columns(self) -> bool:
        """Whether each column is shares of 1."""
        return _shares(self, -2)


def _shares(a: Numbers, axis: int) -> bool:
    """Return whether numbers are shares of 1 along an axis; rows that see no key are left out."""
    if a.is_bool or a.M.shape[axis] < 2:
        return False
    few = slice(0, 4)
    part = (slice(None), few) if axis == -1 else (slice(None), slice(None), few)
    return _are_shares(a.M[part], a.half[part], axis) and _are_shares(a.M, a.half, axis, True)


def _are_shares(M: np.ndarray, half: np.ndarray, axis: int, whole: bool = False) -> bool:
    """Return whether numbers are shares of 1; the ``whole`` may not be words, or empty."""
    half = half + SINGLE
    with np.errstate(invalid="ignore"):
        if not ((np.abs(M - 0.5) <= 0.5 + half) | np.isnan(M)).all():
            return False
        empty = (np.isnan(M) | (M == 0)).all(axis)
        near = np.abs(M.sum(axis) - 1) <= half.sum(axis)
    # One-hot rows are words as often as weights: they say nothing by their sums.
    one_hot = np.isin(M, (0, 1)).all()
    return bool((near | empty).all() and not (whole and (empty.all() or one_hot)))


@dataclass
class Oriented:
    """An array as it is printed, or transposed, as a factor of a product."""

    numbers: Numbers
    transposed: bool

    @cached_property
    def M(self) -> np.ndarray:
        return self.numbers.M.swapaxes(-1, -2) if self.transposed else self.numbers.M

    @cached_property
    def probed(self) -> np.ndarray:
        """The product with the vector of :func:`probe`, (items, rows, 1)."""
        return self.M @ probe(self.M.shape[2])

    @cached_property
    def absolute(self) -> tuple[np.ndarray, np.ndarray]:
        """The sums of absolute values of rows and of columns."""
        size = np.abs(self.M)
        return size.sum(-1, keepdims=True), size.sum(-2, keepdims=True)

    @cached_property
    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """The sums of squares of rows and of columns."""
        square = np.square(self.M)
        return square.sum(-1, keepdims=True), square.sum(-2, keepdims=True)

    @cached_property
    def total(self) -> float:
        return float(np.abs(self.M).sum((-1, -2)).max(initial=0))

    def rows(self, rows: slice | np.ndarray) -> Oriented:
        """Return some of its rows."""
        a = self.numbers
        part = Numbers(a.index, self.M[:, rows], np.full((1, 1, 1), a.most), a.is_bool, False)
        return Oriented(part, False)


@dataclass
class Fit:
    """A factor with which the operands make the result, and how much speaks for it."""

    low: float  # the factors that fit, from
    high: float  # to
    bits: float = 0.0
    factor: float = field(init=False)

    def __post_init__(self) -> None:
        whole = named_factor(self.low, self.high)
        self.factor = (self.low + self.high) / 2 if whole is None else whole


def named_factor(low: float, high: float, widths: tuple[int, ...] = ()) -> float | None:
    """Return the factor in this range that has a name: 1, 1 / √n, 1 / n or n, for a whole n.

    Of several whole n none is known, unless one of these ``widths`` is among them.

    >>> named_factor(0.49, 0.51), named_factor(0.99, 1.01), named_factor(0.3, 0.301)
    (0.5, 1.0, None)
    >>> named_factor(0.05, 0.06), named_factor(0.12, 0.13, (64,))
    (None, 0.125)
    """
    if low <= 1 <= high:
        return 1.0
    for width in widths:
        for factor in (width**-0.5, 1 / width):
            if low <= factor <= high:
                return factor
    if low > 1:
        whole = np.ceil(low)
        return float(whole) if whole <= high < whole + 1 else None
    first, last = np.ceil(high**-2), np.floor(low**-2) if low > 0 else np.inf
    return float(first**-0.5) if first == last else None


def factors(
    d: np.ndarray, error: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the factors c ≥ 0 for which c (d ± error) meets low to high, along the last axis.

    Where the first one is above the second, no factor fits.
    """
    with np.errstate(all="ignore"):
        below, above = d - error, d + error
        first, second = high / below, low / above
        most = np.minimum(np.where(below > 0, first, np.inf), np.where(above < 0, second, np.inf))
        least = np.maximum(np.where(below < 0, first, 0.0), np.where(above > 0, second, 0.0))
        never = ((below == 0) & (high < 0)) | ((above == 0) & (low > 0))
    return (
        np.where(never, np.inf, least).max(-1, initial=0.0),
        np.where(never, -np.inf, most).min(-1, initial=np.inf),
    )


def around(values: np.ndarray, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the range of each number."""
    room = room + CLOSE * (1 + np.abs(values))
    return values - room, values + room


def evidence(
    result: Numbers,
    predicted: np.ndarray,
    room: np.ndarray,
    where: np.ndarray,
    fitted: bool,
    free: float = 1.0,
) -> float:
    """Return −log₂ of the probability that the numbers fit by chance; −1 where they do not fit.

    A number of chance is anywhere in the spread of the result, on its grid: of whole numbers from
    0 to 3, every fourth fits. It is also any other number of the result: of many zeros, most fit.
    Of numbers that set a ``fitted`` factor, the one that says most counts for nothing; ``free`` is
    the part of the numbers that does not follow from the others.
    """
    shown, near, room = result.M[where], predicted[where], np.broadcast_to(room, where.shape)[where]
    room = room + CLOSE * np.abs(shown)
    if not len(shown) or not (np.abs(shown - near) <= room).all():
        return -1.0
    step = max(1, len(shown) // SAMPLED)
    shown, near, room = shown[::step], near[::step], room[::step]
    ordered = result.sorted
    spread = ordered[-1] - ordered[0] + result.grid
    chance = (2 * room + result.grid) / spread if spread > 0 else np.ones(len(shown))
    within = np.searchsorted(ordered, near + room, "right") - np.searchsorted(ordered, near - room)
    others = (within - 1) / max(1, len(ordered) - 1)
    bits = -np.log2(np.clip(np.maximum(chance, others), 1e-6, 1))
    return float(free * (bits.sum() - (bits.max() if fitted else 0.0)))


def judged(
    result: Numbers,
    base: np.ndarray,
    error: np.ndarray,
    where: np.ndarray,
    widths: tuple[int, ...] = (),
) -> Fit | None:
    """Return the factor of ``base ± error`` that makes the result at these places."""
    if result.is_constant:
        return None
    room = result.half + SINGLE * np.abs(np.where(where, result.M, 0))
    error = np.broadcast_to(error, base.shape)
    low, high = factors(base[where], error[where], *around(result.M[where], room[where]))
    if not low <= high or high == 0 or not np.isfinite(high):
        return None
    fit = _named(float(low), float(high), widths)
    loose = error * fit.factor + room
    fitted = not _is_usual(float(low), float(high), widths)
    if named_factor(fit.low, fit.high, widths) is None:
        if not np.isfinite(high) or high > 1.5 * low:
            return None  # as good as any number
        loose = loose + (high - low) / 2 * np.abs(np.where(where, base, 0))
    fit.bits = evidence(result, base * fit.factor, loose, where, fitted)
    return fit if fit.bits > 0 else None


def _is_usual(low: float, high: float, widths: tuple[int, ...]) -> bool:
    """Return whether 1, or 1 / √n of a width n, fits: no number is used up to find the factor."""
    return any(low <= factor <= high for factor in (1.0, *(width**-0.5 for width in widths)))


def _named(low: float, high: float, widths: tuple[int, ...]) -> Fit:
    """Return a fit whose factor is the named one, where there is one."""
    fit = Fit(low, high)
    named = named_factor(low, high, widths)
    fit.factor = fit.factor if named is None else named
    return fit


# ---- products -----------------------------------------------------------------------------------


def joins(left: Oriented, right: Oriented, shape: tuple[int, ...]) -> bool:
    """Return whether the product of two factors has this shape, items broadcast."""
    a, b = left.M.shape, right.M.shape
    return (
        a[2] == b[1]
        and (a[1], b[2]) == shape[1:]
        and max(a[0], b[0]) == shape[0]
        and {a[0], b[0]} <= {1, shape[0]}
    )


def multiplied(left: Oriented, right: Oriented) -> tuple[np.ndarray, np.ndarray]:
    """Return the product of two factors and what roundings may change in each number.

    At worst all roundings add up; of many, never more than six standard deviations, each rounding
    being uniform with a variance of a third of its half unit squared.
    """
    a, b, inner = left.numbers.most, right.numbers.most, left.M.shape[2]
    worst = a * right.absolute[1] + b * left.absolute[0] + inner * a * b
    variance = (a**2 * right.squares[1] + b**2 * left.squares[0] + inner * (a * b) ** 2) / 3
    lost = SINGLE * np.sqrt(left.squares[0] * right.squares[1])
    return left.M @ right.M, np.minimum(worst, DEVIATIONS * np.sqrt(variance)) + lost


def sums_of(left: Oriented, right: Oriented, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return A (B p), with the vector p of a probe, in some rows, and what roundings may change."""
    a, b = left.numbers.most, right.numbers.most
    inner, columns = right.M.shape[1:]
    size = left.absolute[0][:, rows]
    worst = a * right.total + columns * b * size + inner * columns * a * b
    variance = a**2 * np.square(right.probed).sum(-2, keepdims=True) + columns * (
        b**2 * left.squares[0][:, rows] + inner * (a * b) ** 2
    )
    error = np.minimum(worst, DEVIATIONS * np.sqrt(variance / 3))
    lost = SINGLE * np.sqrt(left.squares[0][:, rows] * inner) * right.total
    sums = left.M[:, rows] @ right.probed
    return sums[..., 0], (error + lost)[..., 0]


def probe(count: int) -> np.ndarray:
    """Return a vector within ±1 for first tests of products, (count, 1).

    Not one of ones: the rows of any product of weights add up to 1.
    """
    return np.cos(2.4 * np.arange(count))[:, None]


def some_rows(count: int, most: int = ROWS) -> np.ndarray:
    """Return the rows that a first test compares, from the first to the last."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).astype(int))


# ---- masks --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hiding:
    """A way to hide keys."""

    kind: str  # "", "look-ahead", "printed", "other"
    allowed: np.ndarray | None  # (items, queries, keys)
    index: int | None = None  # of the printed mask
    inverted: bool = False  # True or 1 hides

    def rows(self, rows: np.ndarray) -> Hiding:
        """Return the part for some of the queries."""
        if self.allowed is None or self.allowed.shape[1] == 1:
            return self
        return replace(self, allowed=self.allowed[:, rows])


def look_ahead(queries: int, keys: int) -> np.ndarray:
    """Return which keys are visible where each query sees those up to its own, (1, n_q, n_k)."""
    return np.tri(queries, keys, keys - queries, dtype=bool)[None]


def readings_of_mask(a: Numbers) -> list[tuple[np.ndarray, bool]]:
    """Return which keys a mask leaves visible, either way round; [] for an array that is no mask.

    A mask has two different numbers: True and False, 1 and 0, or 0 and −∞ or as low.
    """
    M = a.M
    if np.isnan(M).any() or M.shape[2] < 2:
        return []
    if a.has_hidden:
        return [(~a.hidden, False)] if (M[~a.hidden] == 0).all() else []
    if not np.isin(M, (0, 1)).all() or M.min() == M.max():
        return []
    return [(M == 1, False), (M == 0, True)]


def hidings(shape: tuple[int, ...], masks: list[Numbers]) -> Iterator[Hiding]:
    """Yield no mask, then printed masks, then look-ahead, for scores of this shape."""
    yield Hiding("", None)
    ahead = look_ahead(*shape[1:])
    printed = False
    for a in masks:
        fits = all(n in (1, m) for n, m in zip(a.shape, shape, strict=True))
        for allowed, inverted in readings_of_mask(a) if fits else ():
            same = allowed.shape[1:] == ahead.shape[1:] and bool((allowed == ahead).all())
            printed = printed or same
            yield Hiding("look-ahead" if same else "printed", allowed, a.index, inverted)
    if not printed and shape[1] > 1:
        yield Hiding("look-ahead", ahead)


def hidings_of_weights(w: Numbers, masks: list[Numbers]) -> Iterator[Hiding]:
    """Yield what may hide keys from these weights: last, whatever hides those of exactly 0."""
    yield from hidings(w.shape, masks)
    zero = w.M == 0
    if zero.any():
        yield Hiding("other", ~zero)


# ---- softmax ------------------------------------------------------------------------------------


def softmax_fit(
    weights: Numbers,
    scores: np.ndarray,
    error: np.ndarray,
    hiding: Hiding,
    columns: bool = False,
    widths: tuple[int, ...] = (),
) -> Fit | None:
    """Return the factor c with weights = softmax(c · scores), each row or each column by itself.

    In each row the logarithm of a weight over the largest one is c times the difference of their
    scores, which gives a range of c for each number.
    """
    W: np.ndarray = weights.M
    # In float32 a power of e is as exact as its exponent, relative to its size.
    half: np.ndarray = weights.half + SINGLE * np.abs(weights.M)
    shown: np.ndarray
    error = error + SINGLE * np.where(np.isfinite(scores), np.abs(scores), 0)
    with np.errstate(invalid="ignore"):
        shown = scores > HIDDEN_FROM
    if hiding.allowed is not None:
        shown = shown & hiding.allowed
    scores = np.broadcast_to(scores, W.shape)
    error, shown = np.broadcast_to(error, W.shape), np.broadcast_to(shown, W.shape)
    if columns:
        W, half, scores, error, shown = (
            M.swapaxes(-1, -2) for M in (W, half, scores, error, shown)
        )
    full: np.ndarray = shown.any(-1, keepdims=True) & ~np.isnan(W).all(-1, keepdims=True)
    if not (np.abs(W) <= half + SINGLE)[full & ~shown].all():
        return None  # a hidden key has no weight
    shown = shown & full
    if not shown.any():
        return None
    safe = np.where(shown, W, -np.inf)
    largest = safe.argmax(-1)[..., None]
    pick = [np.take_along_axis(M, largest, -1) for M in (W, half, scores, error)]
    with np.errstate(all="ignore"):
        low = np.log(np.maximum(W - half, 0)) - np.log(pick[0] + pick[1])
        high = np.log(W + half) - np.log(np.maximum(pick[0] - pick[1], 0))
        d = np.where(shown, scores - pick[2], 0)
    other = shown & (np.arange(W.shape[-1]) != largest)
    if not other.any():
        return None
    e, low, high, d = (error + pick[3])[other], low[other], high[other], d[other]
    low = np.where(np.isnan(low), -np.inf, low)
    high = np.where(np.isnan(high), np.inf, high)
    least, most = (float(end) for end in factors(d, e, low - CLOSE, high + CLOSE))
    if not least <= most or most == 0:
        return None
    fit = _named(least, most, widths)
    unnamed = named_factor(least, most, widths) is None
    if unnamed and (not np.isfinite(most) or most > 1.5 * least):
        return None
    c = fit.factor
    with np.errstate(all="ignore"):
        top = np.where(shown, scores, -np.inf).max(-1, keepdims=True)
        p = np.where(shown, np.exp(c * (scores - top)), 0)
        p = p / p.sum(-1, keepdims=True)
    lean = c * np.where(shown, error, 0)
    if unnamed:
        lean = lean + (most - least) / 2 * np.where(shown, np.abs(scores - top), 0)
    mean = (p * lean).sum(-1, keepdims=True)
    room = np.minimum(p * (lean + mean) * np.exp(np.minimum(lean + mean, 50)), 1) + half
    where = shown & np.isfinite(W)
    # Each row adds up to 1, so one of its numbers follows from the others.
    count = where.sum(-1)
    free = float((count - 1)[count > 1].sum() / max(1, count[count > 0].sum()))
    if columns:
        p, room, where = (M.swapaxes(-1, -2) for M in (p, room, where))
    fitted = not _is_usual(least, most, widths)
    fit.bits = evidence(weights, p, room, where, fitted, free)
    return fit if fit.bits > 0 else None
