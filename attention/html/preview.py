"""What was understood of a person's arrays, as small HTML tables: names, shapes, first values."""

from __future__ import annotations

from collections.abc import Sequence

from attention.html.tables import line, table
from attention.readers.cells.entry import REFUSED, ArrayEntry, shown
from attention.readers.cells.printouts import sides
from attention.readers.select import SelectedArray
from attention.vocabulary.numbers import MINUS, exact, number

COLUMNS, NAMES = 6, 200
FIRST, FEW = 3, 4  # numbers of an array in a list, and their digits
DIGITS = 6  # of a number that is longer


def contents(arrays: dict[str, ArrayEntry]) -> str:
    """One line for each array of a file."""
    lines = [
        line([shown(name, 60), sides(entry.shape), entry.dtype])
        for name, entry in list(arrays.items())[:NAMES]
    ]
    if len(arrays) > NAMES:
        lines.append(line([f"… and {len(arrays) - NAMES:,} more", "", ""]))
    return table("numbers", ["array", "shape", "type"], lines)


def found(arrays: dict[str, ArrayEntry], uses: Sequence[tuple[str, str]]) -> str:
    """One line for each array of a text: label, shape, use, how it compares, first numbers.

    ``uses`` are the third and fourth of each.
    """
    lines = []
    for (name, entry), (use, said) in zip(list(arrays.items())[:NAMES], uses, strict=False):
        if entry.dtype == REFUSED:
            lines.append(line([shown(name, 40), "", "", said, ""]))
            continue
        values = entry.read().ravel()
        first = "  ".join(number(float(value), FEW) for value in values[:FIRST])
        first += " …" if values.size > FIRST else ""
        lines.append(line([shown(name, 40), sides(entry.shape), use or "–", said, first]))
    heads = ["array", "shape", "use", "beside the board", "first numbers"]
    return table("numbers found", heads, lines)


def preview(role: str, selected: SelectedArray, rows: int = 4) -> str:
    """The first rows of an array, in full digits, with its labels."""
    matrix = selected.values.reshape(-1, *selected.values.shape[-2:])[0]
    columns = min(matrix.shape[1], COLUMNS)
    beyond = ["…"] if matrix.shape[1] > COLUMNS else []
    labels = selected.tokens[:rows] or [str(i + 1) for i in range(rows)]
    lines = [
        line([label, *map(_brief, row[:COLUMNS]), *beyond])
        for label, row in zip(labels, matrix[:rows], strict=False)
    ]
    if len(matrix) > rows:
        lines.append(line(["…", *[""] * (columns + len(beyond))]))
    heads = [f"{role}, {sides(selected.values.shape)}", *map(str, range(1, columns + 1)), *beyond]
    return table("numbers close", heads, lines)


def _brief(value: float) -> str:
    """A number in full, or its first digits where it has many."""
    text = exact(value).replace("-", MINUS)
    return text if len(text) <= 10 else f"{number(value, DIGITS)}…"
