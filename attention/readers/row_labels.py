"""Numbers and signs in the labels of rows: part of the label, part of the row, or refused."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence

from attention.limits import BadInput
from attention.readers.entry import short
from attention.readers.label_columns import NUMBERING, counts_up
from attention.readers.printouts import is_figure

FRACTION = re.compile(r"\.\d|\d[eE]|nan|inf")
# What acts on the number after it, or compares it.
_SIGNS = frozenset("+-\u2212\u2013±*/×·^$€£<>≤≥≈~")
_BULLETS = "*>"  # at the beginning of a line these mean nothing
_LAST_NUMBER = re.compile(r"([=:|,;])\s?[-+]?\.?\d[\d.eE+-]*$")
# A label that ends in a number, or in one and a word between brackets.
_COUNTED = re.compile(r"(\D*)(\d{1,9})[\])]?[.:]?(?: \([^()\d]*\):?)? ?[:|=>→-]{0,2}")
_WORD = re.compile(r"[^\s=:|,;]+")
_SHAPE = re.compile(r"(?:[\w.]{0,40}\.)?(?:shape|size)\s?[:=]?", re.IGNORECASE)


def numbered(
    rows: Sequence[tuple[str, Sequence[str]]], labelled: bool, by_spaces: bool, place: str
) -> int:
    """Return 1 where the first number of each row is part of its label, as in "Head 0", else 0.

    Refuse first numbers that may number the rows: whole, each one more than the number before it,
    next to decimals. ``rows`` are a label and the cells of its row.

    >>> numbered([("Head", ["0", "0.5"]), ("Head", ["1", "0.25"])], True, True, "line 1")
    1
    >>> numbered([("", ["1.", "0.5"]), ("", ["2.", "3"])], False, True, "line 1: “1. 0.5”")
    Traceback (most recent call last):
    ...
    attention.limits.BadInput: line 1: “1. 0.5” begins with 1., and the next line with 2.; remove \
the numbers of the rows, or write them with decimals if they are part of the matrix.
    """
    firsts = [values[0] for _, values in rows]
    others = [cell for _, values in rows for cell in values[1:]]
    if not others or not all(first.removesuffix(".").isdecimal() for first in firsts):
        return 0
    decimals = all(map(FRACTION.search, others))
    if labelled and len({label for label, _ in rows}) == 1 and _belong(rows[0][0], firsts):
        if decimals and len(rows) > 1 and by_spaces:
            return 1
        raise BadInput(
            f"{place} begins with a word and a number; put “:” after the number if it is part of"
            " the label, or write it with decimals."
        )
    if not counts_up(firsts):
        return 0
    listed = all(first.endswith(".") for first in firsts) and not any(
        cell.endswith(".") for cell in others
    )
    sure = len(rows) > 2 and not labelled
    if listed or (decimals and len(others) > 3 and (sure or _printed(others, 1 + labelled))):
        raise BadInput(
            f"{place} begins with {firsts[0]}, and the next line with {firsts[1]}; remove the"
            " numbers of the rows, or write them with decimals if they are part of the matrix."
        )
    return 0


def _belong(word: str, numbers: Sequence[str]) -> bool:
    """Check whether these numbers belong to the word that is before each of them."""
    if len(numbers) == 1:
        return word.lower() in NUMBERING
    whole = [int(number.removesuffix(".")) for number in numbers if len(number) < 10]
    return len(whole) == len(numbers) and all(map(operator.lt, whole, whole[1:]))


def _printed(cells: Sequence[str], least: int) -> bool:
    """Check whether all have as many decimals, not fewer than ``least``, or one ends in 0."""
    lengths = {len(cell.partition(".")[2]) for cell in cells}
    alike = len(lengths) == 1 and lengths.pop() >= least
    return alike or any("." in cell and cell.endswith("0") for cell in cells)


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


def are_signs(labels: Sequence[str]) -> bool:
    """Check for signs alone, which may belong to the numbers after them."""
    return all(label in _SIGNS and label not in _BULLETS for label in labels)


def is_word(label: str) -> bool:
    """Check for one word without a mark, about which there is no question, as most are."""
    return _WORD.fullmatch(label) is not None and not _SHAPE.fullmatch(label)


def problem(label: str, values: Sequence[str], counted: bool, in_cells: bool | None) -> str:
    """Return why a row with this label is refused; "" where it is not.

    ``counted``: whether the labels of all rows count. ``in_cells``: whether a tab or quotation
    marks end the label; None where only spaces do.

    >>> problem("epoch 1 loss", ["0.5"], False, None)[:33]
    'holds “1” before its last numbers'
    >>> problem("d_k =", ["4"], False, None)
    'is no row of a matrix; remove it, or write only its numbers.'
    >>> problem("Row 1", ["0.5"], False, True), problem("Word 2 (dog):", ["1", "2"], False, None)
    ('', '')
    """
    words = label.split()
    alone = len(values) == 1 and label.endswith((":", "="))
    if alone or (_SHAPE.fullmatch(label) and _are_sides(values)):
        return "is no row of a matrix; remove it, or write only its numbers."
    if counted:
        return ""
    several = len(words) > 1
    inside = [word for word in words if is_figure(word)] if several else []
    if not (several and words[-1] in _SIGNS) and not _took_a_number(label):
        if not inside:
            return ""
        whole = all(word.strip("():").isdecimal() for word in inside)
        ended = label.endswith((":", "=")) and len(values) > 1
        in_a_cell = in_cells or (in_cells is not None and not is_figure(words[-1]))
        if whole and (ended or in_a_cell):
            return ""
    odd = short(inside[-1] if inside else words[-1], 24)
    return (
        f"holds “{odd}” before its last numbers; write one label without numbers or signs, then"
        " numbers alone."
    )


def _are_sides(values: Sequence[str]) -> bool:
    """Check whether numbers may be a shape: whole, from 1, at most four."""
    return len(values) < 5 and all(value.isdecimal() and value != "0" for value in values)


def _took_a_number(label: str) -> bool:
    """Check for a label with the first number of its row: "loss=0.5", "Head,0"."""
    last = _LAST_NUMBER.search(label)
    before = label[: last.start()].rstrip() if last else ""
    if last and last[1] in ",;":
        return any(map(str.isalpha, before))  # else it is a number, which is a word of GloVe
    return before[-1:].isalnum()
