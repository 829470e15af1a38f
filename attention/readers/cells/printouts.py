"""A matrix a person gives: its values, how they came about, and the text it is typed as."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from attention.limits import LIMIT, LOWEST, MAX_JOINED, MAX_TYPED_TEXT, BadInput
from attention.vocabulary.numbers import exact
from attention.vocabulary.sentences import plural

# What NumPy, JAX, PyTorch and TensorFlow write around the numbers.
_PRINTED = re.compile(
    r"\s*(?:Parameter containing:\s{0,99})?"
    r"(?:<tf\.(?:Tensor|Variable)[^\[]{0,99}numpy=\s*)?"
    r"(?:[A-Za-z]\w{0,20}\.)?(?:[Aa]rray|[Tt]ensor|[Mm]atrix)\("
)
_GAP = re.compile(r"\s*,\s*|\s+")
_ROW = re.compile(r"\[[^\[\]]*\]")
_WIDTH = 75  # characters of a line that NumPy prints
_DIGIT = re.compile(r"\d")
_SPECIAL = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
# There is one way to match it: no backtracking.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")


def read_number(text: str, where: str, finite: bool = True, typed: str = "") -> float:
    """One number within ±LIMIT, or a sentence that names the place.

    NaN and inf are numbers only where not ``finite``, and what is at or below LOWEST is −inf there.
    Others become the nearest float64, and none but 0 becomes 0. A sentence quotes ``typed``, where
    the text was made of that.

    >>> read_number(" -2.5e-3 ", "X, row 1, column 2")
    -0.0025
    """
    text = str(text).strip().replace("\u2212", "-")
    if not text:
        raise BadInput(f"{where} is empty; expected a number.")
    if not finite and _SPECIAL.fullmatch(text):
        return float(text)
    shown = typed or text
    shown = shown if len(shown) <= 24 else shown[:23] + "…"
    if not text.isascii() or not _NUMBER.fullmatch(text):
        raise BadInput(f"{where} holds “{shown}”; expected a number such as 3, -0.5 or 2e-3.")
    value = float(text)
    if not finite and -math.inf < value <= LOWEST:
        return -math.inf
    if abs(value) > LIMIT:
        raise BadInput(f"{where} holds {shown}; numbers from -1e12 to 1e12 are allowed.")
    if vanishes(text, value):
        raise BadInput(
            f"{where} holds {shown}, which float64 cannot tell from 0; write 0 if it may be."
        )
    return value


def read_cells(
    cells: Sequence[str],
    place: Callable[[int], str],
    typed: Sequence[str] | None = None,
    finite: bool = False,
) -> list[float]:
    """Return the numbers of cells as :func:`read_number` reads each; many of them fast.

    ``place`` names a cell, counted from 0, where one is refused; ``typed`` is what was typed there,
    where the cells were made of that.

    >>> read_cells(["1", "-2.5", "nan"], "cell {}".format, ["1", "-2.5", "nan"])
    [1.0, -2.5, nan]
    """
    if all(map(_NUMBER.fullmatch, cells)) and "".join(cells).isascii():
        values = list(map(float, cells))
        large = any(abs(value) > LIMIT for value in values)
        if not large and not any(map(vanishes, cells, values)):
            return values
    values = []
    for k, cell in enumerate(cells):
        try:
            values.append(read_number(cell, "", finite))
        except BadInput:  # named here: to name the place of every cell takes quadratic time
            read_number(cell, place(k), finite, typed[k] if typed else "")
            raise
    return values


def vanishes(text: str, value: float) -> bool:
    """Whether a number that is not 0, such as 1e-400, became 0."""
    return value == 0 and re.match("[+-]?[0.]*[1-9]", text) is not None


def is_number(text: str) -> bool:
    """Whether it is written as a number, NaN and inf among them."""
    if text[:1].isalpha() and text[0] not in "niNI":  # as most words
        return False
    text = text.replace("\u2212", "-")
    return text.isascii() and bool(_NUMBER.fullmatch(text) or _SPECIAL.fullmatch(text))


def is_figure(text: str) -> bool:
    """Check for a number in any way of writing: 3, 3,50, (2), 12:30, 1/2, nan.

    >>> is_figure("12:30"), is_figure("(2):"), is_figure("1/2"), is_figure("x2"), is_figure("...")
    (True, True, True, False, False)
    """
    bare = text.strip(".,;:!?()%")
    if not _DIGIT.search(bare):
        return is_number(bare)
    return not any(map(str.isalpha, bare)) or is_number(bare)


def read_matrix(text: str, name: str, finite: bool = True) -> np.ndarray:
    """Rows by line or semicolon, numbers by space, comma or tab.

    Where rows stand in brackets, these count, not the lines.

    >>> read_matrix("[[1, 2], [3, 4.5]]", "W_Q")
    array([[1. , 2. ],
           [3. , 4.5]])
    >>> read_matrix("1 2\\n3", "W_Q")
    Traceback (most recent call last):
    ...
    attention.limits.BadInput: W_Q, row 2 has 1 number and row 1 has 2; every row needs the same.
    """
    if len(text) > MAX_TYPED_TEXT:
        raise BadInput(
            f"{name}: {len(text):,} characters are too many; at most {MAX_TYPED_TEXT:,} are read."
        )
    if "..." in text:
        raise BadInput(
            f"{name}: the printout leaves numbers out (...); print all, with"
            " set_printoptions(threshold=10**6)."
        )
    rows = _split(text, name)
    if not rows:
        raise BadInput(f"{name} is empty; type one row of numbers on each line.")
    widths = [1 + sum(1 for _ in _GAP.finditer(row)) for row in rows]
    if max(len(rows), *widths) > MAX_JOINED:
        raise BadInput(
            f"{name} is {len(rows)} × {max(widths)}; at most {MAX_JOINED} × {MAX_JOINED} fits."
        )
    for r, width in enumerate(widths, 1):
        if width != widths[0]:
            raise BadInput(
                f"{name}, row {r} has {width} {plural(width, 'number')} and row 1 has"
                f" {widths[0]}; every row needs the same."
            )
    numbers = []
    for r, row in enumerate(rows, 1):
        cells = row.split() if "," not in row else _GAP.split(row)

        def place(k: int, r: int = r) -> str:
            return f"{name}, row {r}, column {k + 1}"

        numbers.append(read_cells(cells, place, finite=finite))
    return np.array(numbers)


def _split(text: str, name: str) -> list[str]:
    """Return the rows, still as text. NumPy breaks long rows over several lines, in brackets."""
    text = _bare(text)
    in_rows = text.lstrip().startswith("[") and text.count("[") > 1 and ";" not in text
    if in_rows or re.match(r"\s*\[\s*\[", text):
        lines, between = _ROW.findall(text), _ROW.sub("", text)
        odd = re.sub(r"[\[\]\s,]+", " ", between).strip()
        if odd or between.count("[") != between.count("]"):
            trouble = (
                f"unexpected “{odd[:20]}” between its rows"
                if odd
                else "a bracket is missing; part of it may be cut off"
            )
            raise BadInput(f"{name}: {trouble}; every number must be given.")
    else:
        lines = re.split(r"[\n;]|\][\s,]*\[", text)
        if "[" in text and ";" not in text and is_wrapped(lines):
            lines = [" ".join(lines)]
    lines = [line.strip(" \t\r\n,[](){}") for line in lines]
    return [line for line in lines if line]


def is_wrapped(lines: Sequence[str]) -> bool:
    """Check whether these lines are one row that a program broke: by a comma, or for its width."""
    lines = [line.rstrip() for line in lines]
    widest = 1 + max((len(cell) for line in lines for cell in line.split()), default=0)
    return all(line.endswith(",") or len(line) + widest >= _WIDTH for line in lines[:-1])


def _bare(text: str) -> str:
    """Without what programs write around the numbers."""
    text = text.strip("\ufeff")
    printed = _PRINTED.match(text)
    text = text[printed.end() : text.rfind("]") + 1] if printed else text
    return re.sub(r"\bnp\.float\d\d\(([^()\s]{1,40})\)", r"\1", text)


def brief(value: float) -> str:
    """Return the very number, with few digits where they are enough; an integer with all of them.

    >>> brief(1e13), brief(1234567890123.5), brief(9007199254740993)
    ('1e+13', '1234567890123.5', '9007199254740993')
    """
    if isinstance(value, (int, np.integer)):
        return str(value)
    text = f"{value:g}"
    return text if float(text) == value or math.isnan(value) else exact(value)


def sides(shape: Sequence[int]) -> str:
    """Return a shape in words: "3 × 4"."""
    return " × ".join(map(str, shape)) or "one number"


def write_matrix(values: np.ndarray, written: Callable[[float], str] | None = None) -> str:
    """Return the text :func:`read_matrix` turns into the same float64 values: a line for each row.

    ``written`` writes a number, by default in full. Integers keep all their digits; what is too
    large for a float64 is refused as what it is.
    """
    written = written or (str if values.dtype.kind in "iu" else exact)
    return "\n".join(" ".join(map(written, row)) for row in values.tolist())
