"""What was understood of a person's arrays, as small HTML tables: names, shapes, first values."""

from __future__ import annotations

from attention.html.tables import line, table
from attention.numbers import exact
from attention.readers.entry import ArrayEntry, shown
from attention.readers.printouts import sides
from attention.readers.select import SelectedArray

COLUMNS, NAMES = 6, 200


def contents(found: dict[str, ArrayEntry]) -> str:
    """One line for each array of a file."""
    lines = [
        line([shown(name, 60), sides(entry.shape), entry.dtype])
        for name, entry in list(found.items())[:NAMES]
    ]
    more = [line([f"… and {len(found) - NAMES:,} more", "", ""])] if len(found) > NAMES else []
    return table("numbers", ["array", "shape", "type"], lines + more)


def preview(role: str, brought: SelectedArray, rows: int = 4) -> str:
    """The first rows of an array, in full digits, with its labels."""
    values = brought.values
    first = values.reshape(-1, *values.shape[-2:])[0]
    beyond = ["…"] * (first.shape[1] > COLUMNS)
    lines = [
        line(
            [
                brought.tokens[i] if brought.tokens else str(i + 1),
                *map(_brief, row[:COLUMNS]),
                *beyond,
            ]
        )
        for i, row in enumerate(first[:rows])
    ]
    lines += (
        [line(["…", *[""] * (min(first.shape[1], COLUMNS) + len(beyond))])]
        if len(first) > rows
        else []
    )
    heads = [
        f"{role}, {sides(values.shape)}",
        *map(str, range(1, min(first.shape[1], COLUMNS) + 1)),
        *beyond,
    ]
    return table("numbers", heads, lines)


def _brief(value: float) -> str:
    """A number in full, or its first digits where it has many."""
    text = exact(value)
    return text if len(text) <= 10 else f"{float(value):.6g}…"
