"""Cells that a program printed as arrays: the sides they need, their numbers, and their names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.limits import MAX_ARRAYS, MAX_ELEMENTS, BadInput
from attention.readers.entry import ALONE, ArrayEntry, repeated, short
from attention.readers.label_columns import NUMBERS, WORDS, columns_of, kind_of
from attention.readers.printouts import read_number

Rows = list[list[str]]
TRUTH = {"true": 1.0, "false": 0.0}


def array(name: str, rows: Rows, labels: tuple[str, ...], where: str) -> ArrayEntry:
    """Cells as numbers, or all of them as True and False; all rows need the same length."""
    place = where if name == ALONE else f"{where}, {short(name, 40)}"
    if len(rows) * max(map(len, rows), default=0) > MAX_ELEMENTS:
        raise BadInput(f"{place} is too large; at most {MAX_ELEMENTS:,} numbers are read.")
    if not rows or not rows[0]:
        raise BadInput(f"{place} holds no number.")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            plural = "" if len(row) == 1 else "s"
            raise BadInput(
                f"{place}, row {number} has {len(row)} number{plural} and row 1 has"
                f" {len(rows[0])}; every row needs the same."
            )
    if rows and all(cell.lower() in TRUTH for row in rows for cell in row):
        truth = np.array([[cell.lower() == "true" for cell in row] for row in rows])
        return ArrayEntry(name, truth.shape, "bool", lambda: truth, labels)
    values = [
        [
            read_number(plain(cell), f"{place}, row {r}, column {c}", False, cell)
            for c, cell in enumerate(row, 1)
        ]
        for r, row in enumerate(rows, 1)
    ]
    return ArrayEntry.of(name, np.array(values).reshape(len(rows), -1), labels)


def table(name: str, names: list[str], rows: Rows, where: str) -> ArrayEntry | None:
    """Rows under names of columns, without ids and with the words beside them as labels.

    None where they have no such column but the first.
    """
    if not rows or any(len(row) != len(names) for row in rows):
        return None
    columns = list(zip(*rows, strict=True))
    truth = [all(cell.lower() in TRUTH for cell in column) for column in columns]
    kinds = [
        NUMBERS if bools else kind_of([plain(cell) for cell in column])
        for column, bools in zip(columns, truth, strict=True)
    ]
    found = columns_of(names, kinds, columns[0] if kinds[0] == WORDS else ())
    if (
        found.label is None
        or not found.numbers
        or len(found.numbers) == len(names) - 1
        and (found.label == 0)
    ):
        return None
    cells = [[row[k] for k in found.numbers] for row in rows]
    return replace(array(name, cells, columns[found.label], where), remark=found.remark)


def plain(cell: str) -> str:
    """A cell as a number is typed: ∞, R's NA and Inf in other words."""
    cell = cell.replace("\u2212", "-").replace("∞", "inf")
    return {"NA": "nan", "Inf": "inf", "-Inf": "-inf"}.get(cell, cell)


def few(arrays: int, where: str) -> None:
    """Refuses more arrays than are read."""
    if arrays > MAX_ARRAYS:
        raise BadInput(f"{where} holds {arrays:,} arrays; at most {MAX_ARRAYS:,} are read.")


def named(found: list[tuple[str, ArrayEntry]], where: str) -> dict[str, ArrayEntry] | None:
    """The arrays by name, each name once."""
    few(len(found), where)
    arrays = dict(found)
    if len(arrays) < len(found):
        twice = repeated(name for name, _ in found) or ""
        raise BadInput(f"{where} holds {short(twice, 40)} twice.")
    return arrays or None
