"""How numbers were written down: to how many decimals or digits, and in which float type.

Inputs are rounded where their text or their type says so, or whoever gives them; else they are
exact. Of an answer only the numbers themselves can tell. They are taken for rounded ones where all
of them are multiples of one decimal unit: 1, 0 and 0.5 may stand for 0.998, 0.0004 and 0.4961, so
they are granted two decimals. They may be of half precision where all of them lie as near to
numbers of float16 or bfloat16 as their rounding allows, and are where that is no coincidence. Large
arrays are looked at by blocks of rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention.arrays.distance import blocks
from attention.vocabulary.sentences import amount

UNIT_ROUNDOFF = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
# of kernels that may be named; TF32 multiplies so, and its answers are float32
KERNELS = UNIT_ROUNDOFF | {"TF32": 2.0**-11}
Places = int | str  # decimals, or a key of KERNELS
SINGLE = 2.0**-24
DOUBLE = 2.0**-53
CHANCE = 1e-4  # what happens more rarely than that is no coincidence
FIRST = 256  # numbers that are looked at before all are
LONGEST = 7  # decimals: numbers of float32 have as many
FEWEST, MOST = 3, 12  # decimals in a text that show rounding: fewer may be exact, more are all
_FRACTION = re.compile(rf"\.\d{{{FEWEST},{MOST}}}(?!\d)")
_ROUNDED = re.compile(rf"(?<!\d)\d++{_FRACTION.pattern}(?:[eE][+-]?\d{{1,4}})?")
_DECIMAL_COMMA = re.compile(rf",\d{{{FEWEST}}}")

Parts = Callable[[], Iterator[np.ndarray]]  # an array's blocks of rows, as often as they are asked


@dataclass(frozen=True)
class Written:
    """How some numbers were written down."""

    decimals: int | None = None  # how many, where they were rounded to some, as 0.0012
    digits: int | None = None  # how many, where they were rounded to some, as 1.2e-03
    kept: float = 0.0  # what the float type may change in a decimal number, as a share of it
    half: str | None = None  # a key of KERNELS that is named, or that the numbers show
    may_be: tuple[str, ...] = ()  # of these, all that the numbers leave possible

    def __str__(self) -> str:
        """Return what the numbers were rounded to, such as "4 decimals"."""
        if self.half:
            return self.half
        if self.decimals is None:
            return amount(self.digits or 0, "digit")
        return amount(self.decimals, "decimal")

    def text(self, value: float) -> str:
        """Return a number with so many decimals or digits.

        >>> Written(decimals=4).text(0.5), Written(digits=4).text(0.5)
        ('0.5000', '5.000e-01')
        """
        if self.decimals is None:
            return f"{value:.{(self.digits or 1) - 1}e}"
        return f"{value:.{self.decimals}f}"

    def half_unit(self, values: np.ndarray) -> np.ndarray:
        """Return what rounding may have changed in each of these numbers."""
        size = np.abs(np.where(np.isfinite(values), values, 0))
        with np.errstate(all="ignore"):
            unit = size * self.kept
            if self.decimals is not None or self.digits is not None:
                places: list[Any] = []
                if self.decimals is not None:
                    places.append(10.0**-self.decimals)
                if self.digits is not None:
                    places.append(np.where(size == 0, 0, _last_place(size, self.digits)))
                unit = 0.5000001 * np.maximum(places[0], places[-1]) + unit
            if self.half:
                unit = np.maximum(unit, size * KERNELS[self.half] + 2.0**-25)
        return unit


def written(values: np.ndarray, given: Any, decimals: Places | None = None) -> Written:
    """How ``values`` were written: seen in the numbers, and in the type of what was ``given``.

    ``decimals`` says it instead, or of which kernels they are.
    """

    def parts() -> Iterator[np.ndarray]:
        for rows in blocks(values.shape):
            part = values[..., rows, :]
            yield np.where(np.isfinite(part), part, 0)

    with np.errstate(all="ignore"):
        named = decimals if isinstance(decimals, str) else None
        found = Written(decimals) if isinstance(decimals, int) else _rounded(parts)
        may_be = tuple(name for name in UNIT_ROUNDOFF if _holds(name, parts, found))
        half = (
            named or _declared(given) or next((n for n in may_be if _shows(n, parts, found)), None)
        )
    return replace(found, half=half, may_be=may_be)


def named_half(values: np.ndarray, name: str) -> Written | None:
    """Return how an input of a kernel that is named was rounded; None: it is exact."""
    with np.errstate(all="ignore"):
        holds = name in NEAREST and (NEAREST[name](values) == values).all()
    return None if not holds or _whole(values) else Written(half=name)


def in_half(values: np.ndarray, given: Any) -> Written | None:
    """Return how an input given in half precision was rounded; None: it is exact."""
    half = _declared(given)
    return None if half is None or _whole(values) else Written(half=half)


def printed(text: str, values: np.ndarray) -> Written | None:
    """Return how the numbers of a matrix were rounded when printed into ``text``; None: exact.

    They were where each is printed with the same number of decimals, at least three.

    >>> printed("[[0.1235, -1.0000]]", np.array([[0.1235, -1]]))
    Written(decimals=4, digits=None, kept=0.0, half=None, may_be=())
    >>> printed("1.235e-01 1.000e+00", np.array([[0.1235, 1]])).digits
    4
    >>> printed("0.125 0.5", np.array([[0.125, 0.5]]))
    """
    if _whole(values):
        return None
    finite = np.abs(values[np.isfinite(values)])
    sizes = set(finite.tolist())
    commas = _DECIMAL_COMMA.search(text)  # 0,125 is a number in many languages
    for written_out in (text, text.replace(",", ".")) if commas else (text,):
        if len(_FRACTION.findall(written_out)) < finite.size:
            continue  # some numbers were printed in another way
        ways: dict[tuple[int, bool], set[float]] = {}
        for number in set(_ROUNDED.findall(written_out)):
            mantissa, power, _ = number.lower().partition("e")
            way = len(mantissa.partition(".")[2]), bool(power)
            ways.setdefault(way, set()).add(float(number))
        for count, of_ten in sorted(ways, reverse=True):
            if sizes <= ways[count, of_ten]:
                return Written(digits=count + 1) if of_ten else Written(count)
    return None


def shows(values: np.ndarray, decimals: int) -> bool:
    """Check whether all finite numbers have so many decimals, and not all of them fewer."""
    if _whole(values):
        return False
    finite = values[np.isfinite(values)]
    first = finite[:FIRST]
    with np.errstate(all="ignore"):  # what is too large for float32 is inf there
        if not _multiples(first, 10.0**-decimals, np.abs(first) * SINGLE):
            return False
        single = (finite.astype(np.float32) == finite).all()
        loss = np.abs(finite) * (SINGLE if single else DOUBLE)
        fits, shorter = (_multiples(finite, 10.0**-each, loss) for each in (decimals, decimals - 1))
    return fits and not shorter


def seems_rounded(values: np.ndarray) -> Written | None:
    """Return how an input seems to have been rounded, by its numbers alone; None: not at all.

    To so many decimals, or digits, from three to six, where at least half of the numbers have
    exactly that many and none has more; or to half precision.

    >>> print(seems_rounded(np.array([[0.1235, -1.0002], [0.5, 0.2217]])))
    4 decimals
    >>> seems_rounded(np.array([0.25, 1.5]))
    """
    if _whole(values):
        return None
    finite = values[np.isfinite(values)]
    if _seems_rounded(finite[:FIRST]) is None:  # as most do in a few numbers
        return None
    return _seems_rounded(finite)


def _seems_rounded(finite: np.ndarray) -> Written | None:
    with np.errstate(all="ignore"):
        found = _rounded(lambda: iter([finite]))
        counts = {"decimals": found.decimals, "digits": found.digits}
        for name, count in counts.items():
            if count is None or not FEWEST <= count < LONGEST:
                continue
            coarse = 10.0 ** (1 - count) if name == "decimals" else _last_place(finite, count - 1)
            exactly = np.abs(np.round(finite / coarse) * coarse - finite) > 1e-6 * coarse
            if 2 * exactly.sum() >= finite.size:
                return Written(count) if name == "decimals" else Written(digits=count)
    half = written(finite[None], None).half
    return None if half is None else Written(half=half)


def _whole(values: np.ndarray) -> bool:
    """Check whether all finite numbers are whole."""
    parts = (
        values.reshape(-1)[:FIRST],
        values,
    )  # most matrices show in a few numbers that it is not
    return all((part[np.isfinite(part)] % 1 == 0).all() for part in parts)


def alike(each: list[Written]) -> list[Written]:
    """How several answers of one code were written: the type that one shows others may be of."""
    shown = next((name for name in UNIT_ROUNDOFF if any(w.half == name for w in each)), None)
    return [w if w.half or shown not in w.may_be else replace(w, half=shown) for w in each]


def _declared(given: Any) -> str | None:
    """Return the half precision type that an array of NumPy, torch or JAX says it has."""
    name = str(getattr(given, "dtype", "")).rpartition(".")[-1]
    return name if name in UNIT_ROUNDOFF else None


def _rounded(parts: Parts) -> Written:
    """To few decimals or digits, as far as the numbers show, kept in float32 or else in float64."""
    single = all((part.astype(np.float32) == part).all() for part in parts())
    kept = SINGLE if single else DOUBLE
    if not any(part.any() for part in parts()):
        return Written(kept=kept)
    fewest = 1 if _tell_decimals(parts) else 2  # numbers such as 1 and 0.5 may as well be exact

    def fits(unit: Callable[[np.ndarray, int], Any], k: int) -> bool:
        sizes = ((part, np.abs(part)) for part in parts())
        return all(_multiples(part, unit(size, k), size * kept) for part, size in sizes)

    decimals = (k for k in range(fewest, 7) if fits(lambda _, k: np.float64(10.0**-k), k))
    digits = (k for k in range(3, 8) if fits(_last_place, k))
    return Written(next(decimals, None), next(digits, None), kept)


def _tell_decimals(parts: Parts) -> bool:
    """Whether two numbers differ that no short binary fraction is, as 0.7 and 0.3 are none."""
    telling = (np.abs(part[part % 0.125 != 0]) for part in parts())
    ends = [(sizes.min(), sizes.max()) for sizes in telling if sizes.size]
    return bool(ends) and min(low for low, _ in ends) < max(high for _, high in ends)


def _last_place(size: np.ndarray, digits: int) -> np.ndarray:
    """Return the unit of the last of so many digits."""
    places = np.floor(np.log10(np.where(size == 0, 1, size)))
    return 10.0 ** (places - digits + 1)


def _multiples(values: np.ndarray, unit: np.ndarray | float, loss: np.ndarray) -> bool:
    """Whether every number is a multiple of its unit, as nearly as its float type can say."""
    apart = np.abs(np.round(values / unit) * unit - values)
    return bool((apart <= 1.01 * loss + 1e-12 * np.maximum(np.abs(values), unit)).all())


def _room(part: np.ndarray, found: Written) -> np.ndarray:
    """How far writing may have taken numbers from those of the type that they were computed in."""
    size = np.abs(part)
    unit = found.half_unit(part) + size * found.kept  # as rounding in the type is inexact too
    return np.maximum(unit, np.spacing(size))


def _holds(name: str, parts: Parts, found: Written) -> bool:
    """Whether all of these may be numbers of that precision, rounded."""
    return all((np.abs(p - NEAREST[name](p)) <= _room(p, found)).all() for p in parts())


def _shows(name: str, parts: Parts, found: Written) -> bool:
    """Whether that they all are is no coincidence.

    Each number lies near enough to one of the type with the chance of what its rounding covers of
    the distance between two. Numbers such as 0.5 and 1.25, which any type holds, tell nothing.
    """
    chance = sum(_chance(part, _room(part, found), UNIT_ROUNDOFF[name]) for part in parts())
    return chance < math.log(CHANCE)


def _chance(values: np.ndarray, room: np.ndarray, roundoff: float) -> float:
    """Return the log of the chance that all of these lie so near to numbers of that precision."""
    size = np.abs(values)
    exponent = np.floor(np.log2(np.where(size == 0, 1, size)))
    telling = (size != 0) & (size * 8 / 2.0**exponent % 1 != 0)
    spacing = 2 * roundoff * 2.0 ** exponent[telling]
    return float(np.log(np.minimum(1, 2 * room[telling] / spacing)).sum())


def _to_float16(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float16).astype(np.float64)


def _to_bfloat16(values: np.ndarray) -> np.ndarray:
    """To the nearest bfloat16, the upper half of a float32, ties to even."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    bits += 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


NEAREST = {"bfloat16": _to_bfloat16, "float16": _to_float16}
