"""Printouts that are no table as they stand: MATLAB's, R's and pandas'.

Each reader gets a text that was bounded before and gives the arrays in it by name, or None where
the text is none of its own. What is wrong inside is one sentence that names row and column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import accumulate, chain

import numpy as np

from attention.limits import MAX_BLOCKS, BadInput
from attention.readers.cells import TRUTH, Rows, array, few, named, plain, table
from attention.readers.entry import ALONE, ArrayEntry, short
from attention.readers.markup import latex, markdown
from attention.readers.printouts import is_number, sides


def arrays_in(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """The arrays of a printout of one of these programs; None where it is none."""
    return next((found for read in READERS if (found := read(text, where))), None)


# ---- MATLAB -------------------------------------------------------------------------------------

_VARIABLE = re.compile(r"\s*([A-Za-z]\w{0,62})(?:\(:,:,(\d{1,4})\))?\s*=\s*")
_FACTOR = re.compile(r"\s*1\.0{1,6}(e[+-]\d{1,3})\s*\*\s*")
_DIGITS = tuple(".0123456789")  # ends of a number that is finite
_COLUMNS = re.compile(r"Columns?\s+\d+(?:\s+(?:through|to|and)\s+\d+)?\s*:?")
_KIND = re.compile(r"\d+[x×]\d+(?:[x×]\d+)*(?: [A-Za-z]+)+|Diagonal Matrix|>>.*")


def matlab(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """What MATLAB and Octave print: a name and "=", a common factor, groups of columns."""
    lines = text.splitlines()
    if not any(map(_told_by_matlab, lines[:400])):
        return None
    pages: dict[str, list[Rows]] = {}
    groups: list[Rows] = [[]]
    name, page, factor = ALONE, "", ""
    for line in [*lines, "end ="]:
        if variable := _VARIABLE.fullmatch(line):
            if rows := _side_by_side(groups, where):
                if name in pages and not page:
                    raise BadInput(f"{where} holds {short(name, 40)} twice.")
                pages.setdefault(name, []).append(_times(rows, factor))
            elif name != ALONE:
                raise BadInput(f"{where}, {name} holds no numbers.")
            name, page, groups, factor = variable[1], variable[2], [[]], ""
        elif power := _FACTOR.fullmatch(line):
            factor = power[1]
        elif _COLUMNS.fullmatch(line.strip()):
            groups.append([])
        elif line.strip() and not _KIND.fullmatch(line.strip()):
            groups[-1].append(line.split())
    return _stacked(pages, where)


def _told_by_matlab(line: str) -> bool:
    return any(form.fullmatch(line.strip()) for form in (_VARIABLE, _FACTOR, _COLUMNS))


def _times(rows: Rows, factor: str) -> Rows:
    """Each number with the power of ten that stands above all of them."""
    if not factor:
        return rows
    return [[cell + factor if cell[-1:] in _DIGITS else cell for cell in row] for row in rows]


def _side_by_side(groups: list[Rows], where: str) -> Rows:
    """Groups of columns as one matrix."""
    groups = [rows for rows in groups if rows]
    for rows in groups:
        if len(rows) != len(groups[0]):
            raise BadInput(
                f"{where}: a group of columns has {len(rows)} rows and the first has"
                f" {len(groups[0])}; part of it may be cut off."
            )
    return [list(chain(*parts)) for parts in zip(*groups, strict=True)]


def _stacked(pages: dict[str, list[Rows]], where: str) -> dict[str, ArrayEntry] | None:
    """The matrices by name; those of one name one behind the other."""
    few(len(pages), where)
    found = {}
    for name, blocks in pages.items():
        if len(blocks) > MAX_BLOCKS:
            raise BadInput(
                f"{where}, {name} is {len(blocks):,} matrices; at most {MAX_BLOCKS} fit."
            )
        each = [array(name, rows, (), where) for rows in blocks]
        if len({one.shape for one in each}) > 1:
            raise BadInput(f"{where}, {name}: its pages have different shapes.")
        stacked = np.stack([one.read() for one in each])
        found[name] = each[0] if len(each) == 1 else ArrayEntry.of(name, stacked)
    return found or None


# ---- R ---------------------------------------------------------------------------------------

_R_ROW = re.compile(r"\s*\[\d+,\]\s")
_R_LINE = re.compile(r"\s*\[\d+\]\s+\S.*")
_R_PAGE = re.compile(r"\s*, , \S.*")
_R_HEAD = re.compile(r"\s*\[,\d+\](?:\s+\[,\d+\])*\s*")
_R_TITLE = re.compile(r"(?:\$`?|>\s{1,9}(?:print\()?)([A-Za-z.][\w.$]{0,80})[`)]?\s*|>\s.*|\[\[.*")
R_WIDTH = 59  # a narrower line has room for another column
_APART = "print each array under its name, as “> Q” does."


def r_matrix(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """What R prints: [1,] and [,1] around the numbers, columns in groups, pages under ", , 1"."""
    if "[ reached " in text and "max.print" in text:
        raise BadInput(
            f"{where}: the printout leaves numbers out (max.print); print all, with"
            " options(max.print = 1e6)."
        )
    lines = [line for line in text.splitlines() if line.strip()]
    parts = _r_parts(lines)
    told = any(_R_HEAD.fullmatch(line) or _R_ROW.match(line) for line in lines[:4])
    if not told and not all(_R_LINE.fullmatch(line) for _, part in parts for line in part):
        return None
    few(len(parts), where)
    if len(parts) > 1 and not all(name for name, _ in parts):
        raise BadInput(f"{where} holds {len(parts)} arrays, not all with names; {_APART}")
    return named([(name or ALONE, _r_array(name, part, where)) for name, part in parts], where)


def _r_parts(lines: list[str]) -> list[tuple[str, list[str]]]:
    """The lines under each ``$Q`` or ``> Q``, with that name."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        title = _R_TITLE.fullmatch(line.strip())
        if title and not _ends_in_number(line):
            parts.append((title[1] or "", []))
        else:
            parts[-1][1].append(line)
    return [part for part in parts if part[1]]


def _r_array(name: str, lines: list[str], where: str) -> ArrayEntry:
    """A vector, or a matrix on each page."""
    place = f"{where}, {short(name, 40)}" if name else where
    name = name or ALONE
    if all(map(_R_LINE.fullmatch, lines)):
        return array(name, [_r_vector(lines, place)], (), where)
    pages = [_r_page(groups, place) for groups in _r_groups(lines, place) if groups]
    if len(pages) > MAX_BLOCKS:
        raise BadInput(f"{place} is {len(pages):,} matrices; at most {MAX_BLOCKS} are read.")
    blocks = [array(name, rows, labels, where) for labels, rows in pages]
    if len({block.shape for block in blocks}) != 1:
        raise BadInput(f"{place}: its pages have different shapes.")
    if len(blocks) == 1:
        return blocks[0]
    return ArrayEntry.of(name, np.stack([block.read() for block in blocks]))


def _r_vector(lines: list[str], place: str) -> list[str]:
    """The numbers after [1], and after [7] where six stand above."""
    cells: list[str] = []
    for line in lines:
        number, *more = line.split()
        if number != f"[{len(cells) + 1}]":
            raise BadInput(f"{place}: {number} does not follow {len(cells)} numbers; {_APART}")
        cells += more
    return cells


def _r_groups(lines: list[str], place: str) -> list[list[tuple[list[str], Rows]]]:
    """On each page, the words above each group of columns, and the rows under them."""
    pages: dict[str, list[tuple[list[str], Rows]]] = {"": []}
    page = ""
    for line in lines:
        if _R_PAGE.fullmatch(line):
            page = line.strip()
            if page in pages:
                raise BadInput(f"{place} holds the page “{short(page, 24)}” twice; {_APART}")
            pages[page] = []
        elif _R_HEAD.fullmatch(line) or not _R_ROW.match(line) and not _ends_in_number(line):
            pages[page].append((line.split(), []))
        elif pages[page]:
            pages[page][-1][1].append(line.split())
        else:
            pages[page].append(([], [line.split()]))
    return [[(head, rows) for head, rows in groups if rows] for groups in pages.values()]


def _r_page(groups: list[tuple[list[str], Rows]], place: str) -> tuple[tuple[str, ...], Rows]:
    """A matrix and its row names; a group of columns goes on with what stands before it."""
    columns: list[str] = []
    order: list[str] = []
    matrix: Rows = []
    for head, lines in groups:
        starts = [_r_start(cells, len(head), place) for cells in lines]
        labels = [" ".join(cells[:at]) for cells, at in zip(lines, starts, strict=True)]
        if matrix and labels != order:
            raise BadInput(f"{place}: a group of columns has other rows than the first.")
        matrix = matrix or [[] for _ in lines]
        for row, cells, at in zip(matrix, lines, starts, strict=True):
            row += cells[at:]
        columns += head
        order = labels
    _check_columns([head for head, _ in groups], order, matrix, place)
    if not any(_R_ROW.match(f"{label} ") for label in order):
        return tuple(order), matrix
    for k, label in enumerate(order, 1):
        if label != f"[{k},]":
            raise BadInput(f"{place}: row {k} is called {short(label, 24)}; {_APART}")
    return (), matrix


def _check_columns(heads: Rows, labels: list[str], matrix: Rows, place: str) -> None:
    """Refuse groups of columns that R would not print: it goes on counting, or broke a full line.

    With names, R fills each line up to its width, so that no column of the next group fits.
    """
    columns = [name for head in heads for name in head]
    cells = zip(columns, *matrix, strict=True) if columns else ()
    widths = [1 + max(map(len, column)) for column in cells]
    ends = list(accumulate(map(len, heads)))
    beside = max(map(len, labels))
    lines = [
        beside + sum(widths[end - len(head) : end]) for head, end in zip(heads, ends, strict=True)
    ]
    room = min((line + widths[end] for line, end in zip(lines, ends[:-1], strict=False)), default=0)
    named = room > max(R_WIDTH, *lines) and not any(map(_R_HEAD.match, columns))
    before: set[str] = set()
    for k, (head, end) in enumerate(zip(heads, ends, strict=True)):
        start = end - len(head)
        if _R_HEAD.fullmatch(" ".join(head)):
            follows = head == [f"[,{n}]" for n in range(start + 1, end + 1)]
        else:
            follows = k == 0 or (named and before.isdisjoint(head))
        before.update(head)
        if not follows:
            raise BadInput(
                f"{place}: columns from {short(head[0], 24)} on do not follow the {start} before"
                f" them; {_APART}"
            )


def _r_start(cells: list[str], width: int, place: str) -> int:
    """Where the numbers of a row begin."""
    at = len(cells) - width if width else 1
    if at < 1:
        plural = "" if len(cells) == 2 else "s"
        raise BadInput(
            f"{place}, row {short(cells[0], 24)} has {len(cells) - 1} number{plural};"
            f" {width} are wanted, as above it."
        )
    return at


def _ends_in_number(line: str) -> bool:
    last = line.split()[-1]
    return is_number(plain(last)) or last.lower() in TRUTH


# ---- pandas ----------------------------------------------------------------------------------

_PANDAS_SIZE = re.compile(r"\s*\[(\d{1,9}) rows x (\d{1,9}) columns\]\s*")
_PRINT_ALL = "print all, with print(frame.to_string())."


def pandas_print(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """A DataFrame in groups of columns, or with its size below; one cut short is refused."""
    lines = text.rstrip().splitlines()
    size = _PANDAS_SIZE.fullmatch(lines[-1])
    lines = lines[:-1] if size else lines
    told = bool(size) or _without_index_name(lines[:3]) != lines[:3]
    told = told or (bool(lines) and lines[0].rstrip().endswith(" \\"))
    if _is_cut(lines, told):
        raise BadInput(f"{where}: the printout leaves numbers out (...); {_PRINT_ALL}")
    if not told:
        return None
    rows: Rows = []
    order: list[str] = []
    columns: list[str] = []
    for names, *group in map(_without_index_name, _groups(lines)):
        columns += (heads := names.rstrip().removesuffix("\\").split())
        width = len(heads)
        parted = [line.split() for line in group]
        labels = [" ".join(cells[:-width]) for cells in parted]
        if rows and labels != order:
            raise BadInput(f"{where}: a group of columns has other rows than the first.")
        rows, order = rows or [[] for _ in parted], labels
        for row, cells in zip(rows, parted, strict=True):
            row += cells[-width:]
    if not rows:
        return None
    labelled = [[label, *row] for label, row in zip(order, rows, strict=True)]
    found = table(ALONE, ["", *columns], labelled, where) if any(order) else None
    of_columns = found and (len(rows), len(rows[0]))
    found = found or array(ALONE, rows, tuple(order) if any(order) else (), where)
    if size and (of_columns or found.shape) != (wanted := tuple(map(int, size.groups()))):
        raise BadInput(
            f"{where} says that it is {sides(wanted)}, and {sides(found.shape)} stand there;"
            f" {_PRINT_ALL}"
        )
    return {ALONE: found}


def _is_cut(lines: list[str], of_pandas: bool) -> bool:
    """Whether dots stand for rows or columns; a token of dots begins a row of numbers."""
    marks = {"..", "...", "\u2026"}
    if not any(mark in line for mark in marks for line in lines):
        return False
    rows = [line.split() for line in lines if line.strip()]
    beside = [bool(marks.intersection(row[1:])) for row in rows]
    alone = any(len(row) > 1 and marks.issuperset(row) for row in rows)
    return alone or (any(beside) if of_pandas else len(rows) > 1 and all(beside))


def _without_index_name(lines: list[str]) -> list[str]:
    """Without the name of the index, alone under those of columns, and that of the columns."""
    first, second, third = [*lines[:3], "", "", ""][:3]
    if len(second.split()) != 1 or _ends_in_number(second) or len(third.split()) < 2:
        return lines
    names = first.startswith(" ") or (bool(first.strip()) and not _ends_in_number(first))
    if not names or not _ends_in_number(third) or re.search('[\t;,"]', first + second):
        return lines
    return [re.sub(r"^\S+", "", first), *lines[2:]]


def _groups(lines: list[str]) -> Iterator[list[str]]:
    """The lines between empty ones."""
    group: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            group.append(line)
        elif group:
            yield group
            group = []


READERS: tuple[Callable[[str, str], dict[str, ArrayEntry] | None], ...] = (
    latex,
    markdown,
    matlab,
    r_matrix,
    pandas_print,
)
