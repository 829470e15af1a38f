"""What this page itself makes: a line for each cell is read, what holds no arrays is told apart."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attention.limits import MAX_ARRAYS, MAX_ELEMENTS, MAX_STATE, BadInput
from attention.readers.cells import few, plain
from attention.readers.entry import ALONE, ArrayEntry, short
from attention.readers.printouts import is_number, read_number
from attention.readers.tables import rearmed
from attention.stages import PROJECTIONS, STAGES

TIDY = ("stage", "row", "column", "row_label", "column_label", "value", "item", "head", "origin")
ROUNDED = re.compile(r"(?m)^[%-] (rounded to \d{1,2} digits?)\b")
_NAMES = {"row", "column", "value"}  # of columns that make a line for each cell
_WHOLE = re.compile(r"[1-9]\d{0,5}(?:\.0)?")
_ZIP = re.compile(r"cells(?:_(?:item|head)[\w-]*)?\.csv")
STATE = "state.json"  # in a zip of all formats
_OF_CODE = b"# True where query i may look at key j", b"assert_allclose(globals()[name]"
_RENDERED = re.compile(rb"\bmade by\s{1,9}attention-stages \d")  # a report as a browser shows it
_MARK, _NAME = b"recomputed with NumPy alone.", b"attention-stages"
_CELL = tuple[str, int, int]  # stage, row and column, counted from 0


def told(member: str, head: bytes) -> str:
    """What is said of a zip, script, notebook or report of this page; "" of any other file.

    ``member`` is the first file in a zip; ``head`` are the file's first bytes.
    """
    start = head.lstrip()[:15].lower()
    if _RENDERED.search(head[:4000]):
        return _instead("report")
    if _ZIP.fullmatch(member):
        return "is the zip that this page makes; unpack it and open the state.json in it."
    if start.startswith(b"<!doctype html") and b'name="generator" content="' + _NAME in head:
        return _instead("report")
    if _MARK in head and _NAME in head:
        if start.startswith(b'"""'):
            return _instead("Python script")
        if start.startswith(b"{") and b'"cells"' in head:
            return _instead("notebook")
    return _instead("code") if any(mark in head for mark in _OF_CODE) else ""


def state_in(content: bytes) -> bytes:
    """The saved state in a zip of this page; b"" of any other file, and of a damaged one."""
    if content[:4] != b"PK\x03\x04" or content.count(b"PK\x01\x02") > MAX_ARRAYS:
        return b""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if not _ZIP.fullmatch(archive.namelist()[0]):
                return b""
            with archive.open(STATE) as file:
                state = file.read(MAX_STATE + 1)
    except Exception:  # what zipfile and zlib raise of damaged files is many
        return b""
    return state if len(state) <= MAX_STATE else b""


def _instead(what: str) -> str:
    return (
        f"is the {what} that this page makes, which is not read; save “The state as a file” and"
        " open its state.json."
    )


def tidy(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """The stages of “CSV, a line for each cell”, by name; None where the text is no such file.

    Its lines may be sorted, filtered to whole stages, without their first one, or saved again with
    semicolons or tabs. Labels of rows come along. A stage that stands there once a head is joined:
    the heads' columns stand beside each other, as the formula splits them.
    """
    first = re.split(r"[\r\n]", text[:2000].lstrip(), maxsplit=1)[0]
    mark = next((mark for mark in ",;\t" if _told_by(first, mark)), None)
    if mark is None:
        return None
    names = None if set(_split(first, mark)) >= _NAMES else TIDY
    lines = csv.DictReader(io.StringIO(text, newline=""), names, delimiter=mark)
    cells: dict[str, dict[str, dict[tuple[int, int], float]]] = {}
    labels: dict[str, dict[int, str]] = {}
    items: dict[str, str] = {}
    for line in _each(lines, where):
        place = f"{where}, line {lines.line_num}"
        stage, row, column = _place(line, place)
        item = line.get("item") or ""
        if items.setdefault(stage, item) != item:
            raise BadInput(f"{place}: {short(stage, 40)} is of several items; keep one.")
        one = cells.setdefault(stage, {}).setdefault(line.get("head") or "", {})
        if (row, column) in one:
            raise BadInput(f"{place}: this cell of {short(stage, 40)} stands there twice.")
        value = line["value"] or ""
        written = plain(value) if mark == "," else plain(value).replace(",", ".")
        one[row, column] = read_number(written, f"{place}, column value", False, value)
        labels.setdefault(stage, {})[row] = rearmed(line.get("row_label") or str(row + 1))
    if not cells:
        raise BadInput(f"{where} holds no number.")
    few(len(cells), where)
    return {stage: _entry(stage, heads, labels[stage], where) for stage, heads in cells.items()}


def _told_by(first: str, mark: str) -> bool:
    """Whether the first line names the columns, or is a cell of a stage."""
    cells = _split(first, mark)
    if set(cells) >= _NAMES:
        return True
    places = len(cells) == len(TIDY) and all(map(_WHOLE.fullmatch, cells[1:3]))
    return places and cells[0] in STAGES and not is_number(cells[-1])  # rows may be called Q


def _split(line: str, mark: str) -> list[str]:
    """The cells of one line; none where a quotation mark is not closed."""
    try:
        return next(csv.reader([line], delimiter=mark, strict=True), [])
    except csv.Error:
        return []


def _each(lines: csv.DictReader, where: str) -> Iterator[dict[str, str]]:
    try:
        yield from lines
    except csv.Error as problem:
        raise BadInput(f"{where}, line {lines.line_num}: {problem}.") from None


def _place(line: dict[str, str], place: str) -> _CELL:
    """The cell of a line."""
    for name in ("row", "column"):
        if not _WHOLE.fullmatch(line[name] or ""):
            found = short(line[name] or "", 24)
            raise BadInput(f"{place}, column {name}: “{found}” is no number from 1.")
    stage = line.get("stage", ALONE) or ALONE
    return stage, int(float(line["row"])) - 1, int(float(line["column"])) - 1


def _entry(
    stage: str, heads: dict[str, dict[tuple[int, int], float]], labels: dict[int, str], where: str
) -> ArrayEntry:
    """The matrix of a stage, of all its heads beside each other."""
    place = f"{where}, {short(stage, 40)}"
    in_order = sorted(heads, key=lambda head: int(float(head)) if _WHOLE.fullmatch(head) else 0)
    blocks = [_matrix(heads[head], place) for head in in_order]
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


def with_count(found: dict[str, ArrayEntry]) -> dict[str, ArrayEntry]:
    """Add how many heads share the columns of the weights in an .npz of this page, which says it.

    Weights whose columns cannot be shared by so many heads stay as they are.
    """
    count = found.get("heads")
    if count is None or count.shape or "scale" not in found or not count.dtype.startswith("int"):
        return found
    heads = int(count.read())
    return {
        name: replace(entry, heads=heads)
        if heads > 1 and name in PROJECTIONS and entry.shape and entry.shape[-1] % heads == 0
        else entry
        for name, entry in found.items()
    }


def with_rounding(found: dict[str, ArrayEntry], text: str) -> dict[str, ArrayEntry]:
    """With a remark, where the head of a text of this page says that its numbers are rounded."""
    said = ROUNDED.search(text[:20_000])
    if not said:
        return found
    remark = f"These numbers are {said[1]}, as their file says; the state as a file is exact."
    return {name: replace(entry, remark=entry.remark or remark) for name, entry in found.items()}
