"""What was understood of a person's arrays, as small HTML tables: names, shapes, first values."""

from __future__ import annotations

from attention.html.tables import line, table
from attention.readers.cells.entry import ArrayEntry, shown
from attention.readers.cells.printouts import sides
from attention.readers.select import SelectedArray
from attention.vocabulary.numbers import MINUS, exact, number

COLUMNS, NAMES = 6, 200
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
