"""Numbers as text: one rule for cells, hovers, arithmetic and tables.

A number by itself (:func:`number`) is never a 0 that is not one, and neither is a term of a sum
(:func:`numbers`). The cells of a matrix (:func:`rounded`) all have the same decimals, so there
0.00 is what rounds to 0, and 0 what is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

MINUS = "\u2212"


@lru_cache(4096)  # the same few numbers come again and again in tables and arithmetic
def number(value: float, digits: int = 2, least: int | None = None) -> str:
    """Return ``value`` as text with ``digits`` decimals, or in e-notation where these say little.

    Whole numbers stay whole, and 0 digits round to whole numbers. Two kinds of numbers are written
    in e-notation with ``digits`` significant digits: those from 10⁶ up, and those of which the
    decimals would show fewer than ``least`` significant digits, by default half of ``digits``,
    rounded down, and at least one. So no number is shown as a 0 that is not one.

    >>> [number(v) for v in (55.0, 27.456, -0.5, 3.059e-7, 1.5e9, float("-inf"))]
    ['55', '27.46', '−0.50', '3.1e−7', '1.5e9', '−∞']
    >>> number(0.0049, 4), number(0.00049, 4), number(0.00049, 4, least=1)
    ('0.0049', '4.900e−4', '0.0005')
    >>> number(27.456, 0), number(-0.3, 0)
    ('27', '0')
    """
    value = float(value)  # float16 cannot be compared with 1e6
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if abs(value) < 1e6 and (value == int(value) or digits == 0):
        return str(round(value)).replace("-", MINUS)
    text = f"{value:.{digits}f}"
    significant = len(text.lstrip("-0.").replace(".", ""))
    if abs(value) >= 1e6 or significant < (_half(digits) if least is None else least):
        mantissa, power = f"{value:.{max(digits - 1, 0)}e}".split("e")
        text = f"{mantissa}e{int(power)}"
    return text.replace("-", MINUS)


def constant(value: float, digits: int = 2) -> str:
    """Return a number that others are multiplied or divided by: rounded as they are, it would
    change them.

    It has four significant digits and four decimals, or more ``digits``; fewer where it is exact.

    >>> [constant(v) for v in (20.0, 12.5, 0.0625, 0.00390625, 2**0.5, -1e-6)]
    ['20', '12.50', '0.0625', '0.003906', '1.4142', '−1e−6']
    >>> constant(0.5, 0)
    '0.5'
    """
    value, most = float(value), max(digits, 4)
    if not 1e-3 <= abs(value) < 1e6:  # e-notation
        places = range(1, most)
        most = next((d for d in places if float(f"{value:.{d - 1}e}") == value), most)
        return number(value, most, least=most)
    most = max(most, 3 - math.floor(math.log10(abs(value))))
    places = range(digits, most)
    return number(value, next((d for d in places if round(value, d) == value), most), least=1)


def percent(share: float) -> str:
    """Return a share as a whole percentage, never 0% or 100% where it is neither.

    >>> [percent(share) for share in (0, 0.005, 0.474, 0.998, 1)]
    ['0%', '<1%', '47%', '>99%', '100%']
    """
    if math.isnan(share):
        return "NaN"
    if 0 < share <= 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"


def _half(digits: int) -> int:
    """Return how many significant digits the decimals of a number have to show."""
    return max(digits // 2, 1)


def numbers(
    values: np.ndarray,
    digits: int = 2,
    least: int | None = None,
    whole: bool | None = None,
    shares: bool = False,
) -> list[str]:
    """Return numbers that stand together, as the terms of a sum, with the same decimals: none where
    all are whole.

    An exact 0 is ``0``, and so is an exact 1 of ``shares`` ``1``: what only rounds to them has
    decimals. Numbers too small or too large for their decimals, and those that are not finite, are
    written as in :func:`number`; with 0 for ``least`` no number is too small. Of values that are a
    part of a matrix, ``whole`` says whether all of it :func:`are_whole`.

    >>> numbers(np.array([0.5, 27.456, 3.0, 0, 1e-7])), numbers(np.array([55.0, -3.0]))
    (['0.50', '27.46', '3.00', '0', '1.0e−7'], ['55', '−3'])
    >>> numbers(np.array([3.0]), whole=are_whole(np.array([3.0, 0.5])))
    ['3.00']
    >>> numbers(np.array([0.9975, 1.0, 0.0025]), least=0, shares=True)
    ['1.00', '1', '0.00']
    """
    values = values.astype(np.float64, copy=False).ravel()
    size = np.abs(values)
    integer = values == np.rint(values)
    whole = bool(integer[np.isfinite(values)].all()) if whole is None else whole
    places = 0 if whole else digits
    smallest = _smallest(digits, _half(digits) if least is None else least)
    plain = (size < 1e6) & (integer | (size >= smallest) | (digits == 0))
    listed = np.where(plain, values if places else np.rint(values), 0.0) + 0.0  # makes −0 a 0
    written = " ".join([f"%.{places}f"] * len(listed)) % tuple(listed.tolist()) + " "
    zero = f"{0:.{places}f} "
    texts = written.replace(f"-{zero}", zero).replace("-", MINUS).split()
    for k in np.flatnonzero(~plain).tolist():
        texts[k] = number(values[k], digits, least)
    is_exact = (values == 0) | (values == 1) if shares else values == 0
    for k in np.flatnonzero(is_exact).tolist():
        texts[k] = str(int(values[k]))
    return texts


def _smallest(digits: int, least: int) -> float:
    """Return the smallest number of which the decimals show ``least`` significant digits."""
    return 10.0 ** (least - 1 - digits) if least else 0.0


def are_whole(values: np.ndarray) -> bool:
    """Return whether all values that are finite are whole numbers.

    >>> are_whole(np.array([3.0, np.inf])), are_whole(np.array([0.5]))
    (True, False)
    """
    flat = values.ravel()
    few = flat[:64]  # which is most often enough
    return all(bool(((v == np.rint(v)) | ~np.isfinite(v)).all()) for v in (few, flat))


def rounded(matrix: np.ndarray, digits: int = 2, shares: bool = False) -> list[list[str]]:
    """Return the texts of the cells of a matrix, as a table of (rows, columns).

    They are those of :func:`numbers`, and a small one has the decimals of the others: it is
    ``0.00``, and an exact 0 is ``0``. Only where the decimals would show none of the matrix are its
    numbers in e-notation.

    >>> rounded(np.array([[1, 0.5], [0, -0.25], [0.002, -0.002]]))
    [['1.00', '0.50'], ['0', '−0.25'], ['0.00', '0.00']]
    >>> rounded(np.array([[0.002, 0, -0.0001]]))
    [['2.0e−3', '0', '−1.0e−4']]
    """
    flat, width = cell_writer(matrix, digits, shares)(matrix), matrix.shape[1]
    return [flat[start : start + width] for start in range(0, matrix.size, width or 1)]


def cell_writer(
    matrix: np.ndarray, digits: int = 2, shares: bool = False
) -> Callable[[np.ndarray], list[str]]:
    """Return the function that writes numbers of a matrix as :func:`rounded` writes all of them.

    >>> cell_writer(np.array([[0.002, 0.5]]))(np.array([0.002]))
    ['0.00']
    """
    size = np.abs(matrix.astype(np.float64, copy=False))
    largest = size.max(initial=0, where=size < 1e6)
    least = 0 if largest >= _smallest(digits, _half(digits)) else None
    whole = are_whole(matrix)
    return partial(numbers, digits=digits, least=least, whole=whole, shares=shares)


def exact(value: float) -> str:
    """Return the shortest text that reads back as the same float64.

    >>> exact(0.1), exact(3.0), exact(1e300)
    ('0.1', '3', '1e+300')
    """
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def megabytes(size: int) -> str:
    """Return a number of bytes in MB of 2²⁰, or in kB of 2¹⁰; below 10 with one decimal.

    >>> megabytes(2_500_000), megabytes(8 * 2**20), megabytes(3 * 2**30), megabytes(1536)
    ('2.4 MB', '8 MB', '3,072 MB', '1.5 kB')
    """
    value, unit = (size / 2**20, "MB") if size >= 2**20 else (size / 2**10, "kB")
    text = f"{value:,.1f}".removesuffix(".0") if value < 9.95 else f"{value:,.0f}"
    return f"{text} {unit}"
