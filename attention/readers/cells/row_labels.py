"""Numbers and signs in the labels of rows: part of the label, part of the row, or refused."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence, Set

import numpy as np

from attention.readers.cells.entry import short
from attention.readers.cells.label_columns import NUMBERING, counts_up
from attention.readers.cells.printouts import is_figure, is_number

FRACTION = re.compile(r"\.\d|\d[eE]|nan|inf")
# What acts on the number after it, or compares it; some begin a line and mean nothing.
_SIGNS = frozenset("+-\u2212\u2013±*/×·^$€£<>≤≥≈~")
_BULLETS = frozenset("*>")
_LAST_NUMBER = re.compile(r"[=:|,;]\s?[-+]?\.?\d[\d.eE+-]*$")
# A label that ends in a number, or in one and a word between brackets.
_COUNTED = re.compile(r"(\D*)(\d{1,9})[\])]?[.:]?(?: \([^()\d]*\):?)? ?[:|=>→-]{0,2}")
_SPECIAL = frozenset(("nan", "inf", "infinity"))  # numbers that are written in letters
_WORD = re.compile(r"[^\s=:|,;]+")
# What is printed next to matrices and is no row of one, where a mark or nothing else says so.
_NO_ROW = re.compile(r"(?:[\w.]{0,40}\.)?(?:shape|size|d_\w{1,9})\s?[:=]?", re.IGNORECASE)


def numbered(
    rows: Sequence[tuple[str, Sequence[str]]], labelled: bool, by_spaces: bool
) -> str | None:
    """Guess whether the first number of each row is part of its label, where that can be asked.

    It is part of it after a word that takes a number, as Head does. It numbers the rows where it is
    one more than the number before it, and alone in ending with a point, or next to rows that sum
    to 1 without it. ``rows`` are a label and the cells of its row.

    >>> numbered([("Head", ["0", "0.5"]), ("Head", ["1", "0.25"])], True, True)
    'labels'
    >>> numbered([("", ["0", "0.5"]), ("", ["1", "0.25"])], False, True)
    'numbers'
    >>> numbered([("", ["1", "2"]), ("", ["3", "4"])], False, True)
    """
    firsts = [values[0] for _, values in rows]
    others = [cell for _, values in rows for cell in values[1:]]
    if not others or not all(first.removesuffix(".").isdecimal() for first in firsts):
        return None
    if labelled and (by_spaces or len(rows) > 1) and _belong({x.lower() for x, _ in rows}, firsts):
        return "labels"
    if not counts_up(firsts):
        return None
    decimals = all(map(FRACTION.search, others))
    pointed = all(first.endswith(".") for first in firsts)
    listed = pointed and not any(cell.endswith(".") for cell in others)
    shares = decimals and len(rows) > 2 and all(_is_shared_out(values[1:]) for _, values in rows)
    if listed or shares:
        return "labels"
    return "numbers" if decimals or len(rows) > 2 else None


def _belong(labels: Set[str], numbers: Sequence[str]) -> bool:
    """Check for one word that takes a number, as Head does, and numbers that increase."""
    if len(labels) > 1 or not labels <= NUMBERING:
        return False
    whole = [int(number.removesuffix(".")) for number in numbers if len(number) < 10]
    return len(whole) == len(numbers) and all(map(operator.lt, whole, whole[1:]))


def _is_shared_out(cells: Sequence[str]) -> bool:
    """Check for two or more numbers from 0 that sum to 1, but for their rounding."""
    if len(cells) < 2 or not all(cell.isascii() and is_number(cell) for cell in cells):
        return False
    values = [float(cell) for cell in cells]
    decimals = max(len(cell.partition(".")[2]) for cell in cells)
    return min(values) >= 0 and abs(sum(values) - 1) < 0.51 * len(cells) / 10**decimals


def count(labels: Sequence[str]) -> bool:
    """Check for labels with a number that counts: Row 1, Row 2, … or the (1), cat (2), …

    >>> count(["Row 1:", "Row 2:"]), count(["the (0)", "cat (1)"]), count(["the 1", "cat 2"])
    (True, True, False)
    """
    words, numbers = set(), []
    for label in labels:
        if not (found := _COUNTED.fullmatch(label)):
            return False
        words.add(found[1])
        numbers.append(found[2])
    return counts_up(numbers) and (len(words) == 1 or all(one[-1] in ")]:" for one in labels))


def is_word(label: str) -> bool:
    """Check for words about which there is no question, as most are: letters, or one word without a
    mark.

    >>> is_word("New York"), is_word("w2"), is_word("top 10"), is_word("x nan"), is_word("shape")
    (True, True, False, False, False)
    """
    if " " in label and label.replace(" ", "").isalpha():
        return _SPECIAL.isdisjoint(label.lower().split())
    return _WORD.fullmatch(label) is not None and not _NO_ROW.fullmatch(label)


def judge(
    labels: Sequence[str],
    row: Callable[[int], np.ndarray],
    in_cells: bool = False,
    own: bool = False,
    names: bool = False,
) -> tuple[int | None, str]:
    """Return the first row whose label is refused, and why; else None, and a remark or "".

    ``row`` returns the numbers of one. ``in_cells``: whether a separator, not a space, ends each
    label; ``own``: whether no number of a row can be in it; ``names``: whether names of columns are
    above.

    >>> def judged(*labels, **how):
    ...     return judge(labels, lambda k: np.array([0.5]), **how)
    >>> judged("epoch 1 loss")[1][:33], judged("d_k =")[1][:27], judged("the", "cat")
    ('holds “1” before its last numbers', 'is not a row of a matrix; r', (None, ''))
    >>> judged("Apollo 11", "Saturn 5", in_cells=True)[1][:45]
    'The labels end in numbers, as “Apollo 11” doe'
    """
    odd = [k for k, label in enumerate(labels) if not is_word(label)]
    if not odd:
        return None, ""
    alone = len(labels) == 1 and not names
    alike = labels[0].endswith((":", "=")) and len({label[-1:] for label in labels}) == 1
    counted = count(labels)
    plain = any(not any(map(is_figure, label.split())) for label in labels)
    took = not own and all(map(_took_a_number, labels))  # the first number: "loss=0.5", "Head,0"
    for k in odd:
        label, words = labels[k], labels[k].split()
        ended, numbers = label.endswith((":", "=")), row(k)
        lone = ended and len(numbers) == 1 and (alone or not (alike or in_cells))
        sides = _NO_ROW.fullmatch(label) and _are_sides(numbers)
        if lone or (sides and (alone or ended or "." in label)):
            return k, "is not a row of a matrix; remove it, or write only its numbers."
        inside = [word for word in words if is_figure(word)] if len(words) > 1 else []
        sign = len(words) > 1 and words[-1] in _SIGNS and not in_cells
        if counted or not (inside or sign or took):
            continue
        whole = all(word.strip("():").isdecimal() for word in inside)
        separate = whole and (in_cells or (ended and len(numbers) > 1))
        if not sign and not took and (separate or (in_cells and plain)):
            continue
        found = short(inside[-1] if inside else words[-1], 24)
        return k, (
            f"holds “{found}” before its last numbers; write one label without numbers or signs,"
            " then numbers alone."
        )
    first = short(labels[0], 24)
    if own:
        return None, ""
    if alike and len(row(0)) == 1:
        return None, f"Each line is read as a row: a label, such as “{first}”, and a number."
    if in_cells and not (counted or plain):
        return None, (
            f"The labels end in numbers, as “{first}” does; if these belong to the matrix, put a"
            " comma before them."
        )
    return None, ""


def are_signs(labels: Sequence[str]) -> bool:
    """Check for signs alone, which may belong to the numbers after them."""
    return set(labels) <= _SIGNS - _BULLETS


def _are_sides(numbers: np.ndarray) -> bool:
    """Check whether numbers may be a shape: whole, from 1, at most four."""
    return len(numbers) < 5 and bool((numbers >= 1).all() and (numbers % 1 == 0).all())


def _took_a_number(label: str) -> bool:
    """Check for a label with the first number of its row: "loss=0.5", "Head,0"."""
    last = _LAST_NUMBER.search(label)
    return last is not None and any(map(str.isalpha, label[: last.start()]))
