"""How numbers were written down: to how many decimals or digits, and in which float type.

Only the numbers themselves can tell. They are taken for rounded ones where all of them are
multiples of one decimal unit, and for half precision where all of them lie as near to numbers of
float16 or bfloat16 as their rounding allows, although few numbers do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

UNIT_ROUNDOFF = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
SINGLE = 2.0**-24
DOUBLE = 2.0**-53
SHORT = 1e-5  # numbers rounded as coarsely as that rarely show in which type they were computed
CHANCE = 1e-4  # what happens more rarely than that is no coincidence


@dataclass(frozen=True, eq=False)
class Written:
    """How an array of numbers was written down."""

    half_unit: np.ndarray  # what rounding them may have changed
    decimals: int | None  # how many, where they were rounded to some
    short: bool  # too few digits to show the float type
    half: str | None  # "float16" or "bfloat16" where the numbers show it


def written(values: np.ndarray, given: Any, decimals: int | None = None) -> Written:
    """How ``values`` were written: seen in the numbers, and in the type of what was ``given``."""
    finite = np.where(np.isfinite(values), values, 0)
    found = decimals
    with np.errstate(all="ignore"):
        if decimals is None:
            half_unit, found = _decimal_unit(finite)
        else:
            half_unit = np.full(values.shape, 0.5000001 * 10.0**-decimals)
        half = _declared(given) or _half(finite, half_unit)
    if half:
        half_unit = np.maximum(half_unit, np.abs(finite) * UNIT_ROUNDOFF[half] + 2.0**-25)
    largest = float(np.abs(finite).max(initial=0)) or 1.0
    short = half is None and bool(half_unit.max(initial=0) > SHORT * largest)
    return Written(half_unit, found, short, half)


def _declared(given: Any) -> str | None:
    """The half precision type that an array of NumPy, torch or JAX says it has."""
    name = str(getattr(given, "dtype", "")).rpartition(".")[-1]
    return name if name in UNIT_ROUNDOFF else None


def _decimal_unit(values: np.ndarray) -> tuple[np.ndarray, int | None]:
    """Half of the last place: of few decimals or digits, of float32, or else of float64."""
    size = np.abs(values)
    single = bool((values.astype(np.float32) == values).all())
    loss = size * (SINGLE if single else DOUBLE)  # what the float type keeps of a decimal number
    if not (values % 1).any():
        return loss, None
    fewest = (
        1 if values.size >= 12 else 3
    )  # a few numbers such as 0.5 are rather exact than rounded
    places = np.floor(np.log10(np.where(size == 0, 1, size)))
    fixed = ((k, np.float64(10.0**-k)) for k in range(fewest, 7))  # as 0.0012
    powers = ((None, 10.0 ** (places - k + 1)) for k in range(3, 8))  # as 1.2e-03
    coarsest = [
        next(((k, unit) for k, unit in kind if _multiples(values, unit, loss)), None)
        for kind in (fixed, powers)
    ]
    units = [np.where((size == 0) & (k is None), 0, unit) for k, unit in filter(None, coarsest)]
    if not units:
        return loss, None
    half_unit = 0.5000001 * np.maximum(units[0], units[-1]) + loss
    return half_unit, coarsest[0][0] if coarsest[0] else None


def _multiples(values: np.ndarray, unit: np.ndarray | float, loss: np.ndarray) -> bool:
    """Whether every number is a multiple of its unit, as nearly as its float type can say."""
    apart = np.abs(np.round(values / unit) * unit - values)
    return bool((apart <= 1.01 * loss + 1e-12 * np.maximum(np.abs(values), unit)).all())


def _half(values: np.ndarray, half_unit: np.ndarray) -> str | None:
    """The half precision type whose numbers these are, rounded, where that is no coincidence.

    Each number lies near enough to one of the type with the chance of what its rounding covers of
    the distance between two. Numbers such as 0.5 and 1.25, which any type holds, tell nothing.
    """
    room = np.maximum(half_unit, np.spacing(np.abs(values)))
    for name, nearest in (("bfloat16", _to_bfloat16), ("float16", _to_float16)):
        if (np.abs(values - nearest(values)) <= room).all():
            size = np.abs(values)
            exponent = np.floor(np.log2(np.where(size == 0, 1, size)))
            telling = (size != 0) & (size * 8 / 2.0**exponent % 1 != 0)
            spacing = 2 * UNIT_ROUNDOFF[name] * 2.0 ** exponent[telling]
            if np.log(np.minimum(1, 2 * room[telling] / spacing)).sum() < np.log(CHANCE):
                return name
    return None


def _to_float16(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float16).astype(np.float64)


def _to_bfloat16(values: np.ndarray) -> np.ndarray:
    """To the nearest bfloat16, the upper half of a float32, ties to even."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    bits += 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)
