"""Lines above tables without brackets that name them: "Q", "Q:", "Q =", "## Q"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attention.readers.cells.label_columns import CORNERS, NUMBERING
from attention.readers.cells.printouts import is_figure
from attention.readers.texts.around import label_above

_LONGEST = 200  # characters of a line with a label
_SEEN = 1000  # characters of a row, by which it is known for one
_SEPARATORS = " \t,;"  # what spreadsheets write behind a cell of a row that has no other
_TRUTH = {"true", "false"}
_CELLS = re.compile(r"[\t,;|\"]")
# What numbers below it are to be multiplied with.
FACTOR = re.compile(r"[*×·/]$|[x*×·/]10|10(?:\^|\*\*|[⁰¹²³⁴-⁹⁻])|.*\d[*×·/]$")


def labels_in(lines: Sequence[str]) -> dict[int, str]:
    """Return the labels of tables by the places of their lines, in order.

    A label is a line without a number, above rows with other cells than the line has words. One
    that ends in ":" or "=" may stand directly below other rows; one of a single word, or a comment,
    is the first line or stands below an empty one.

    >>> labels_in(["Q", "1 0 2", "0 1 1", "", "K", "1 1 1"]), labels_in(["K:", "1 2", "V:", "3 4"])
    ({0: 'Q', 4: 'K'}, {0: 'K', 2: 'V'})
    >>> labels_in(["x", "1", "2"]), labels_in(["word", "the 1 2"])  # names of columns
    ({}, {})
    """
    found: dict[int, str] = {}
    below: list[str] = []  # the next lines that are filled
    is_title = False  # whether the next one is a label itself
    for k in range(len(lines) - 1, -1, -1):
        line = lines[k]
        if not line.strip():
            continue
        label = _label(line, k == 0 or not lines[k - 1].strip())
        if label and not is_title and _is_above(line, below):
            found[k], is_title = label, True
        elif label and is_title:
            found[k] = ""  # a title above a label
        else:
            is_title = False
        below = [line, *below[:2]]
    return {k: found[k] for k in sorted(found) if found[k]}


def is_comment(line: str) -> bool:
    """Check for a comment that may be a label: a mark and words, none of them a number."""
    return line.lstrip().startswith(("#", "%")) and bool(_label(line, True))


def _label(line: str, is_first: bool) -> str:
    """Return the label that a line may be; "" where it has a number, or cells.

    ``is_first``: whether no row is directly above it.
    """
    text = line[: _LONGEST + 1].strip(_SEPARATORS)
    words = _words(text)
    if len(line) > _LONGEST + len(text) or _CELLS.search(text) or not any(map(str.isalpha, text)):
        return ""
    if any(map(_is_cell, words)) or any(map(FACTOR.match, words)):
        return ""
    if not text.endswith((":", "=")):
        comment = text.startswith(("#", "%"))
        alone = len(words) == 1 and words[0].lower() not in CORNERS | NUMBERING
        if not (is_first and (comment or alone)):
            return ""
    return label_above(text)


def _is_above(line: str, below: Sequence[str]) -> bool:
    """Check for rows below a line, or names of columns and rows below these."""
    if not below:
        return False
    words = len(_words(line.strip(_SEPARATORS)))
    is_marked = line.rstrip(_SEPARATORS).endswith((":", "="))
    cells, numbers = _cells(below[0])
    if numbers:  # as many words as numbers are names of columns
        return numbers > words or (is_marked and (words == 1 or numbers != words))
    of_index = len(below) > 2 and _cells(below[1]) == (1, 0)  # its name, below those of columns
    _, numbers = _cells(below[2 if of_index else min(1, len(below) - 1)])
    return numbers > 0 and numbers + 1 >= cells > (not is_marked)


def _cells(row: str) -> tuple[int, int]:
    """Return how many cells a row has, and how many of them at its end are numbers."""
    row = row[:_SEEN].strip(_SEPARATORS)
    if "\t" in row or ";" in row:
        cells = re.split(r"[\t;]", row)
    elif "," in row and not re.search(r"\d\s+[-+.\d]", row):
        cells = row.split(",")
    else:
        cells = row.split()
    numbers = next((k for k, cell in enumerate(reversed(cells)) if not _is_cell(cell)), len(cells))
    return len(cells), numbers


def _words(text: str) -> list[str]:
    """Return the words of a line without the marks of a label."""
    return text.lstrip("#% \t").rstrip(":= \t").split()


def _is_cell(word: str) -> bool:
    word = word.strip()
    return bool(word) and (is_figure(word) or word.lower() in _TRUTH)
