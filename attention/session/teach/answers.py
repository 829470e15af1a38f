"""What a person answers: read as a number, and judged at the digits that were asked for."""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction

from attention.limits import MAX_ANSWER, BadInput
from attention.vocabulary.numbers import MINUS, number

Number = Fraction | float  # a float only where it is infinite

WANTED = "type one such as −0.5, 1/3, 50 % or −∞"
SLACK = Fraction(1, 10**9)  # of the number: what rounding may have left in float64
POWERS = 1e6  # from here on numbers are printed as powers of ten
_MINUS = dict.fromkeys("−–—‐‑‒﹣－⁻", "-") | {"＋": "+", "⁄": "/", "∕": "/", "％": "%", "，": ","}
_PLAIN = r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_NUMBER = re.compile(rf"([+-]?) ?({_PLAIN})(?: ?/ ?([+-]?{_PLAIN}))? ?(%?)")
_INFINITE = re.compile(r"([+-]?) ?(?:∞|inf|infinity)", re.IGNORECASE)


def read_answer(text: str) -> Number:
    """The number that was typed, or one sentence.

    >>> read_answer("−0,5"), read_answer("1/3"), read_answer("50 %"), read_answer("–∞")
    (Fraction(-1, 2), Fraction(1, 3), Fraction(1, 2), -inf)
    >>> read_answer("half")
    Traceback (most recent call last):
    ...
    attention.limits.BadInput: “half” is not a number; type one such as −0.5, 1/3, 50 % or −∞.
    """
    is_short = len(text) <= MAX_ANSWER
    plain = " ".join("".join(map(_plain, text)).split()) if is_short else ""
    if infinite := _INFINITE.fullmatch(plain):
        return -math.inf if infinite[1] == "-" else math.inf
    match = _NUMBER.fullmatch(plain)
    below = _value(match[3]) if match and match[3] else Fraction(1)
    if not match or not below:
        shown = text if is_short else text[: MAX_ANSWER - 1] + "…"
        raise BadInput(f"“{shown}” is not a number; {WANTED}.")
    value = _value(match[2]) / below / (100 if match[4] else 1)
    return -value if match[1] == "-" else value


def _plain(character: str) -> str:
    """A digit, sign or space of any script as ASCII has it, and ½ as 1/2."""
    if character in _MINUS:
        return _MINUS[character]
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.decimal(character))
    parts = unicodedata.decomposition(character).split()
    if len(parts) == 4 and parts[0] == "<fraction>":
        return " " + "".join(_plain(chr(int(part, 16))) for part in parts[1:])
    return character


def _value(text: str) -> Fraction:
    return Fraction(text.replace(",", "."))


def is_right(given: Number, value: float, digits: int) -> bool:
    """Whether an answer is no further than half a unit of the last digit from the number.

    So both neighbours of a tie are right.

    >>> [is_right(read_answer(text), 0.125, 2) for text in ("0.12", "0.13", "1/8", "0.1")]
    [True, True, True, False]
    """
    if isinstance(given, float) or not math.isfinite(value):
        return given == value
    exact = Fraction(value)
    apart = abs(given - exact)
    return apart <= unit(value, digits) / 2 + SLACK * max(abs(exact), Fraction(1))


def unit(value: float, digits: int) -> Fraction:
    """The last digit of a number as it is printed: 1/100, or more where it is in powers of ten."""
    least = Fraction(f"1e-{digits}")
    if abs(value) < POWERS:
        return least
    decimals = max(digits - 1, 0)
    power = int(f"{value:.{decimals}e}".split("e")[1])
    return max(least, Fraction(f"1e{power - decimals}"))


def as_printed(value: float, digits: int) -> float:
    """The number that stands on the board for this one.

    >>> as_printed(0.126, 2), as_printed(-math.inf, 2), as_printed(3.059e-7, 2)
    (0.13, -inf, 3.1e-07)
    """
    return float(number(value, digits).replace(MINUS, "-").replace("∞", "inf"))
