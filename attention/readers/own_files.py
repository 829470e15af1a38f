"""What this page itself makes: a line for each cell is read, what holds no arrays is told apart."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np

from attention.limits import MAX_ELEMENTS, BadInput
from attention.readers.cells import few, plain
from attention.readers.entry import ArrayEntry, short
from attention.readers.printouts import read_number
from attention.readers.tables import rearmed

TIDY = ("stage", "row", "column", "row_label", "column_label", "value", "item", "head", "origin")
ROUNDED = re.compile(r"(?m)^[%-] (rounded to \d{1,2} digits?)\b")
_TIDY = re.compile(r"\"?stage\"?,\"?row\"?,\"?column\"?,")
_ZIP = re.compile(r"cells(?:_(?:item|head)[\w-]*)?\.csv")
_MARK, _NAME = b"recomputed with NumPy alone.", b"attention-stages"
_CELL = tuple[str, int, int]  # stage, row and column, counted from 0


def told(member: str, head: bytes) -> str:
    """What is said of a zip, script, notebook or report of this page; "" of any other file.

    ``member`` is the first file in a zip; ``head`` are the file's first bytes.
    """
    start = head.lstrip()[:15].lower()
    if _ZIP.fullmatch(member):
        return "is the zip that this page makes; unpack it and open the state.json in it."
    if start.startswith(b"<!doctype html") and b'name="generator" content="' + _NAME in head:
        return _instead("report")
    if _MARK in head and _NAME in head:
        if start.startswith(b'"""'):
            return _instead("Python script")
        if start.startswith(b"{") and b'"cells"' in head:
            return _instead("notebook")
    return ""


def _instead(what: str) -> str:
    return (
        f"is the {what} that this page makes, which is not read; save “The state as a file” and"
        " open its state.json."
    )


def tidy(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """The stages of “CSV, a line for each cell”, by name; None where the text is no such file.

    Labels of rows come along. A stage that stands there once a head is joined: the heads' columns
    stand beside each other, as the formula splits them.
    """
    if not _TIDY.match(text):
        return None
    lines = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in TIDY[:6] if name not in (lines.fieldnames or ())]
    if missing:
        raise BadInput(f"{where} has no column {missing[0]}; a line for each cell needs it.")
    cells: dict[str, dict[str, dict[tuple[int, int], float]]] = {}
    labels: dict[str, dict[int, str]] = {}
    items: dict[str, str] = {}
    for line in lines:
        place = f"{where}, line {lines.line_num}"
        stage, row, column = _place(line, place)
        item = line.get("item") or ""
        if items.setdefault(stage, item) != item:
            raise BadInput(f"{place}: {short(stage, 40)} is of several items; keep one.")
        one = cells.setdefault(stage, {}).setdefault(line.get("head") or "", {})
        if (row, column) in one:
            raise BadInput(f"{place}: this cell of {short(stage, 40)} stands there twice.")
        value = line["value"] or ""
        one[row, column] = read_number(plain(value), f"{place}, column value", False, value)
        labels.setdefault(stage, {})[row] = rearmed(line["row_label"] or "")
    if not cells:
        raise BadInput(f"{where} holds no number.")
    few(len(cells), where)
    return {stage: _entry(stage, heads, labels[stage], where) for stage, heads in cells.items()}


def _place(line: dict[str, str], place: str) -> _CELL:
    """The cell of a line."""
    for name in ("row", "column"):
        if not re.fullmatch(r"[1-9]\d{0,5}", line[name] or ""):
            found = short(line[name] or "", 24)
            raise BadInput(f"{place}, column {name}: “{found}” is no number from 1.")
    return line["stage"], int(line["row"]) - 1, int(line["column"]) - 1


def _entry(
    stage: str, heads: dict[str, dict[tuple[int, int], float]], labels: dict[int, str], where: str
) -> ArrayEntry:
    """The matrix of a stage, of all its heads beside each other."""
    place = f"{where}, {short(stage, 40)}"
    blocks = [_matrix(cells, place) for cells in heads.values()]
    if len({len(block) for block in blocks}) > 1:
        raise BadInput(f"{place}: its heads have different numbers of rows.")
    words = tuple(labels[row] for row in range(len(blocks[0])))
    counted = all(word == str(k) for k, word in enumerate(words, 1))
    found = ArrayEntry.of(stage, np.hstack(blocks), () if counted else words)
    if len(blocks) == 1:
        return found
    return replace(found, remark=f"{stage}: its {len(blocks)} heads stand beside each other.")


def _matrix(cells: dict[tuple[int, int], float], place: str) -> np.ndarray:
    """Cells at their places, none missing."""
    rows, columns = (max(axis) + 1 for axis in zip(*cells, strict=True))
    if rows * columns > MAX_ELEMENTS:
        raise BadInput(f"{place} is too large; at most {MAX_ELEMENTS:,} numbers are read.")
    if len(cells) != rows * columns:
        raise BadInput(
            f"{place} has {len(cells):,} lines, and {rows} × {columns} cells are wanted; some are"
            " missing."
        )
    matrix = np.empty((rows, columns))
    for place_of_one, value in cells.items():
        matrix[place_of_one] = value
    return matrix


def with_rounding(found: dict[str, ArrayEntry], text: str) -> dict[str, ArrayEntry]:
    """With a remark, where the head of a text of this page says that its numbers are rounded."""
    said = ROUNDED.search(text[:20_000])
    if not said:
        return found
    remark = f"These numbers are {said[1]}, as their file says; the state as a file is exact."
    return {name: replace(entry, remark=entry.remark or remark) for name, entry in found.items()}
