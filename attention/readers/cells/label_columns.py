"""Which column of a table labels its rows, and which are no dimensions: ids, counts and words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from attention.readers.cells.entry import short
from attention.readers.cells.printouts import is_number
from attention.vocabulary.sentences import first_few

CORNERS = {  # heads of a column of labels
    "",
    "word",
    "token",
    "tokens",
    "label",
    "name",
    "index",
    "key",
    "query",
    "id",
    "token_id",
    "unnamed: 0",
}
# heads of a column that numbers the rows, where it counts
NUMBERING = {"#", "no", "no.", "nr", "nr.", "row", "line", "head", "layer", "item", "step", "epoch"}
LABELLING = CORNERS - {""}  # the same, where columns have names
COUNTING = {"", "index", "id", "unnamed: 0"}  # of these, what just counts goes without saying
# a share, a price or a fraction: no word, and no number that is read
AMOUNT = re.compile(r"[$€£]?[-+−]?\d[\d.,]*\s?[%€$£]|[$€£][-+−]?\d[\d.,]*|\d+/\d+")
# a number beside a bracket or before a mark: [0.5 and 0.5] and 0.5* and "0.5 | sum 1.0"
_MARKED = re.compile(
    r"[\[({]{1,4}[-+−]?[\d.]+,?|[-+−]?[\d.]+[\])}]{1,4},?"
    r"|[-+−]?\d{0,9}\.\d{1,20}(?:\.| ?[*|±#=<>\[(\\;/].*| .*\d)"
)
WORDS, COUNTS, WHOLE, NUMBERS = "words", "counts", "whole numbers", "numbers"
_FIRST = {WHOLE: CORNERS, COUNTS: CORNERS | NUMBERING}  # heads of a first column of labels


class Columns(NamedTuple):
    """The places of the columns of a table, by what they are."""

    label: int | None
    numbers: tuple[int, ...]
    over: tuple[str, ...] = ()  # names of those that are passed over

    @property
    def remark(self) -> str:
        """Return what was passed over, in a sentence."""
        told = first_few([short(name, 20) for name in self.over], 6)
        return f"Skipped: {told}." if self.over else ""


def columns_of(
    names: Sequence[str], kinds: Sequence[str], tokens: Collection[str] = (), rows: bool = False
) -> Columns:
    """Which columns are numbers, and which one labels the rows; none where ``rows`` have labels.

    A column of words labels them, first one whose name says so; else one of whole numbers that is
    called id, token_id, index and the like, first one that does not just count. A name that is
    among the ``tokens`` of the rows is a token, and its column one of numbers.

    >>> columns_of(["", "token_id", "x"], [COUNTS, WHOLE, NUMBERS])
    Columns(label=1, numbers=(2,), over=())
    >>> columns_of(["token_id", "word", "x"], [WHOLE, WORDS, NUMBERS]).remark
    'Skipped: token_id.'
    >>> columns_of(["key", "query", "x"], [COUNTS, WHOLE, WHOLE]).remark
    'Skipped: key.'
    >>> columns_of(["", "key", "x"], [WORDS, WHOLE, WHOLE], tokens=("key", "x"))
    Columns(label=0, numbers=(1, 2), over=())
    """
    known = [name.strip().lower() for name in names]
    words = [k for k, kind in enumerate(kinds) if kind == WORDS]
    ids = [
        k
        for k, kind in enumerate(kinds)
        if kind in (COUNTS, WHOLE)
        and known[k] in (_FIRST[kinds[k]] if k == 0 else LABELLING)
        and names[k] not in tokens
    ]
    if words and set(kinds[words[0] + 1 :]) == {NUMBERS}:  # levels of an index stand before it
        levels = (k for k in range(words[0]) if kinds[k] in (COUNTS, WHOLE))
        ids = list(dict.fromkeys([*ids, *levels]))
    words.sort(key=lambda k: known[k] not in LABELLING)
    beside = words + sorted(ids, key=lambda k: kinds[k] == COUNTS)
    label = None if rows or not beside else beside[0]
    passed = set(beside)
    numbers = tuple(k for k in range(len(names)) if k not in passed)
    untold = {0} if kinds[:1] == [COUNTS] and known[0] in COUNTING else set()
    over = [k for k in beside if k != label and k not in untold]
    return Columns(label, numbers, tuple(names[k] for k in sorted(over)))


def labels_rows(name: str, cells: Sequence[str]) -> bool:
    """Check by its head whether the first column of a table labels or numbers its rows.

    >>> labels_rows("Token", ["7", "9"]), labels_rows("Row", ["7", "8"]), labels_rows("row", ["7"])
    (True, True, False)
    """
    return name.lower() in CORNERS or (name.lower() in NUMBERING and counts_up(cells))


def counts_up(cells: Sequence[str]) -> bool:
    """Check for two or more whole numbers, each one more than the number before it.

    >>> counts_up(["7", "8", "9"]), counts_up(["1.", "2."]), counts_up(["1", "3"]), counts_up(["1"])
    (True, True, False, False)
    """
    numbers = [cell.removesuffix(".") for cell in cells]
    if len(numbers) < 2 or not all(number.isdecimal() and len(number) < 10 for number in numbers):
        return False
    return all(int(after) == int(before) + 1 for before, after in pairwise(numbers))


def kind_of(cells: Sequence[str]) -> str:
    """Return what a column holds, by its cells as texts; empty ones are passed over.

    >>> kind_of(["[CLS]", "2", "cats"]), kind_of(["0", "1"]), kind_of(["7", "7"]), kind_of(["1.0"])
    ('words', 'counts', 'whole numbers', 'numbers')
    >>> kind_of(["50%", "25%"]), kind_of(["$5", "1/2"]), kind_of(["w1", "2nd"])  # to be refused
    ('numbers', 'numbers', 'words')
    """
    cells = [cell for cell in cells if cell]
    others = [
        cell
        for cell in cells
        if not (is_number(cell) or AMOUNT.fullmatch(cell) or _MARKED.fullmatch(cell))
    ]
    if 2 * len(others) > len(cells):
        return WORDS
    if counting(cells):
        return COUNTS
    return WHOLE if cells and all(cell.isdecimal() for cell in cells) else NUMBERS


def counting(cells: Sequence[str]) -> bool:
    """Whether they are 0, 1, 2, … or 1, 2, 3, …, as tables number their columns and rows."""
    return (
        bool(cells)
        and cells[0] in ("0", "1")
        and list(cells) == [str(int(cells[0]) + k) for k in range(len(cells))]
    )
