"""Numbers as text: one rule for cells, hovers, arithmetic and tables."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

MINUS = "\u2212"


@lru_cache(4096)  # 0, 1 and −∞ stand in most cells of a masked matrix
def number(value: float, digits: int = 2) -> str:
    """``value`` with that many digits after the point, and never a 0 that is not one.

    Whole numbers stay whole; a number too small or too large for its digits turns to powers of
    ten, with one digit less, so that it takes no more room.

    >>> [number(v) for v in (55.0, 27.456, -0.5, 3.059e-7, 1.5e9, float("-inf"))]
    ['55', '27.46', '−0.50', '3.1e−7', '1.5e9', '−∞']
    """
    value = float(value)  # float16 cannot be compared with 1e6
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value)).replace("-", MINUS)
    text = f"{value:.{digits}f}"
    if abs(value) >= 1e6 or float(text) == 0:
        mantissa, power = f"{value:.{max(digits - 1, 0)}e}".split("e")
        text = f"{mantissa}e{int(power)}"
    return text.replace("-", MINUS)


def numbers(values: np.ndarray, digits: int = 2) -> list[str]:
    """:func:`number` of each of them, several times as fast: plain ones are formatted in one go.

    >>> numbers(np.array([0.5, 27.456, 3.0, 1e-7]))
    ['0.50', '27.46', '3', '1.0e−7']
    """
    values = values.astype(np.float64, copy=False)
    size = np.abs(values)
    with np.errstate(invalid="ignore"):
        plain = (size >= 10.0**-digits) & (size < 1e6) & (values != np.rint(values))
    listed = values.tolist()
    texts = (" ".join([f"%.{digits}f"] * len(listed)) % tuple(listed)).replace("-", MINUS).split()
    for k in np.flatnonzero(~plain).tolist():
        texts[k] = number(listed[k], digits)
    return texts


def exact(value: float) -> str:
    """The shortest text that reads back as the same float64.

    >>> exact(0.1), exact(3.0), exact(1e300)
    ('0.1', '3', '1e+300')
    """
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text
