"""Numbers and signs in the labels of rows: part of the label, part of the row, or refused."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence, Set
from typing import NamedTuple

from attention.limits import BadInput
from attention.readers.cells.entry import short
from attention.readers.cells.label_columns import NUMBERING, counts_up
from attention.readers.cells.printouts import is_figure, is_number

FRACTION = re.compile(r"\.\d|\d[eE]|nan|inf")
# What acts on the number after it, or compares it.
_SIGNS = frozenset("+-\u2212\u2013±*/×·^$€£<>≤≥≈~")
_BULLETS = "*>"  # at the beginning of a line these mean nothing
_LAST_NUMBER = re.compile(r"[=:|,;]\s?[-+]?\.?\d[\d.eE+-]*$")
# A label that ends in a number, or in one and a word between brackets.
_COUNTED = re.compile(r"(\D*)(\d{1,9})[\])]?[.:]?(?: \([^()\d]*\):?)? ?[:|=>→-]{0,2}")
_SPECIAL = frozenset(("nan", "inf", "infinity"))  # numbers that are written in letters
_WORD = re.compile(r"[^\s=:|,;]+")
# What is printed next to matrices and is no row of one, where a mark or nothing else says so.
_NO_ROW = re.compile(r"(?:[\w.]{0,40}\.)?(?:shape|size|d_\w{1,9})\s?[:=]?", re.IGNORECASE)


def numbered(
    rows: Sequence[tuple[str, Sequence[str]]], labelled: bool, by_spaces: bool, place: str
) -> int:
    """Return 1 where the first number of each row is part of its label, as in "Head 0", else 0.

    Refuse first numbers that number the rows: whole, each one more than the number before it, and
    alone in ending with a point, or next to rows that sum to 1 without them. ``rows`` are a label
    and the cells of its row.

    >>> numbered([("Head", ["0", "0.5"]), ("Head", ["1", "0.25"])], True, True, "line 1")
    1
    >>> numbered([("", ["0", "0.5"]), ("", ["1", "0.25"])], False, True, "line 1")
    0
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
    named = labelled and (by_spaces or len(rows) > 1)
    if named and _belong({label.lower() for label, _ in rows}, firsts):
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
    shares = decimals and len(rows) > 2 and all(_is_shared_out(values[1:]) for _, values in rows)
    if listed or shares:
        raise BadInput(
            f"{place} begins with {firsts[0]}, and the next line with {firsts[1]}; remove the"
            " numbers of the rows, or write them with decimals if they are part of the matrix."
        )
    return 0


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


def are_signs(labels: Sequence[str]) -> bool:
    """Check for signs alone, which may belong to the numbers after them."""
    return all(label in _SIGNS and label not in _BULLETS for label in labels)


def is_word(label: str) -> bool:
    """Check for words about which there is no question, as most are: letters, or one word without a
    mark.

    >>> is_word("New York"), is_word("w2"), is_word("top 10"), is_word("x nan"), is_word("shape")
    (True, True, False, False, False)
    """
    if " " in label and label.replace(" ", "").isalpha():
        return _SPECIAL.isdisjoint(label.lower().split())
    return _WORD.fullmatch(label) is not None and not _NO_ROW.fullmatch(label)


class Column(NamedTuple):
    """What holds for the labels of a table together."""

    in_cells: bool  # whether a separator, not a space, ends each
    one: bool  # whether there is one line, and no names of columns above it
    counted: bool  # whether they count
    plain: bool  # whether one has no number
    alike: bool  # whether all end in ":", or all in "="
    took: bool  # whether each took the first number of its row: "loss=0.5", "Head,0"

    @classmethod
    def of(
        cls, labels: Sequence[str], in_cells: bool, quoted: bool = False, names: bool = False
    ) -> Column:
        """Look at all labels; ``quoted``: whether no number of a row can be in one.

        ``names``: whether names of columns are above them.

        >>> Column.of(["the:", "cat:"], False).alike, Column.of(["a=1", "b=2"], False).took
        (True, True)
        """
        return cls(
            in_cells,
            len(labels) == 1 and not names,
            count(labels),
            any(not any(map(is_figure, label.split())) for label in labels),
            labels[0].endswith((":", "=")) and len({label[-1:] for label in labels}) == 1,
            not quoted and all(map(_took_a_number, labels)),
        )


def problem(label: str, values: Sequence[str], column: Column) -> str:
    """Return why a row with this label is refused; "" where it is not.

    >>> problem("epoch 1 loss", ["0.5"], Column.of(["epoch 1 loss"], False))[:33]
    'holds “1” before its last numbers'
    >>> problem("d_k =", ["4"], Column.of(["d_k ="], False))
    'is not a row of a matrix; remove it, or write only its numbers.'
    >>> problem("top 10", ["0.5"], Column.of(["top 10", "the"], True))
    ''
    """
    ended = label.endswith((":", "="))
    lone = ended and len(values) == 1 and (column.one or not (column.alike or column.in_cells))
    sides = _NO_ROW.fullmatch(label) and _are_sides(values)
    if lone or (sides and (column.one or ended or "." in label)):
        return "is not a row of a matrix; remove it, or write only its numbers."
    words = label.split()
    inside = [word for word in words if is_figure(word)] if len(words) > 1 else []
    sign = len(words) > 1 and words[-1] in _SIGNS and not column.in_cells
    if column.counted or not (inside or sign or column.took):
        return ""
    if not sign and not column.took:
        whole = all(word.strip("():").isdecimal() for word in inside)
        separate = whole and (column.in_cells or (ended and len(values) > 1))
        if separate or (column.in_cells and column.plain):
            return ""
    odd = short(inside[-1] if inside else words[-1], 24)
    return (
        f"holds “{odd}” before its last numbers; write one label without numbers or signs, then"
        " numbers alone."
    )


def remark(labels: Sequence[str], width: int, column: Column) -> str:
    """Return what a person should know of labels that may be read otherwise.

    >>> remark(["Apollo 11", "Saturn 5"], 2, Column.of(["Apollo 11", "Saturn 5"], True))
    'The labels end in numbers, as “Apollo 11” does; if these belong to the matrix, put a comma \
before them.'
    """
    if column.alike and width == 1:
        return (
            f"Each line is read as a row: a label, such as “{short(labels[0], 24)}”, and a number."
        )
    if column.in_cells and not (column.counted or column.plain or all(map(is_word, labels))):
        return (
            f"The labels end in numbers, as “{short(labels[0], 24)}” does; if these belong to the"
            " matrix, put a comma before them."
        )
    return ""


def _are_sides(values: Sequence[str]) -> bool:
    """Check whether numbers may be a shape: whole, from 1, at most four."""
    return len(values) < 5 and all(value.isdecimal() and value != "0" for value in values)


def _took_a_number(label: str) -> bool:
    """Check for a label with the first number of its row: "loss=0.5", "Head,0"."""
    last = _LAST_NUMBER.search(label)
    return last is not None and any(map(str.isalpha, label[: last.start()]))
