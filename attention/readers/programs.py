"""Printouts that are no table as they stand: LaTeX, Markdown, MATLAB, R, pandas, C, torch's dicts.

Each reader gets a text that was bounded before and gives the arrays in it by name, or None where
the text is none of its own. What is wrong inside is one sentence that names row and column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from attention.latex import read as read_text
from attention.limits import MAX_ARRAYS, MAX_BLOCKS, MAX_ELEMENTS, BadInput
from attention.readers.entry import ALONE, ArrayEntry, short
from attention.readers.printouts import is_number, read_number
from attention.stages import STAGES

Rows = list[list[str]]
TRUTH = {"true": 1.0, "false": 0.0}


def arrays_in(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """The arrays of a printout of one of these programs; None where it is none."""
    return next((found for read in READERS if (found := read(text, where))), None)


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
            read_number(_plain(cell), f"{place}, row {r}, column {c}", False, cell)
            for c, cell in enumerate(row, 1)
        ]
        for r, row in enumerate(rows, 1)
    ]
    return ArrayEntry.of(name, np.array(values).reshape(len(rows), -1), labels)


def _plain(cell: str) -> str:
    """A cell as a number is typed: ∞, R's NA and Inf in other words."""
    cell = cell.replace("\u2212", "-").replace("∞", "inf")
    return {"NA": "nan", "Inf": "inf", "-Inf": "-inf"}.get(cell, cell)


def _few(arrays: int, where: str) -> None:
    """Refuses more arrays than are read."""
    if arrays > MAX_ARRAYS:
        raise BadInput(f"{where} holds {arrays:,} arrays; at most {MAX_ARRAYS:,} are read.")


def _named(found: list[tuple[str, ArrayEntry]], where: str) -> dict[str, ArrayEntry] | None:
    """The arrays by name, each name once."""
    _few(len(found), where)
    arrays = dict(found)
    if len(arrays) < len(found):
        names = [name for name, _ in found]
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise BadInput(f"{where} holds {short(twice, 40)} twice.")
    return arrays or None


# ---- LaTeX and Markdown -------------------------------------------------------------------------

_MATRIX = re.compile(
    r"\\begin\{([bpvBV]?matrix\*?|smallmatrix|array|tabular)\}"
    r"(?:\[[^\]\n]{0,9}\]|\{[^}\n]{0,999}\})?"
)
_BEFORE = re.compile(r"([^=\n]{1,120})=\s{0,9}(?:\\left\s?[\[({|.]\s{0,9})?$")
_POWER = re.compile(r"\s{0,9}\\(?:cdot|times)\s*10\^\{?(-?\d{1,4})\}?")
_INFINITE = re.compile(r"\\infty\b")
_CELLS = re.compile(r"(?<!\\)&")
_NAN = re.compile(r"\\(?:mathrm|text)\{NaN\}")
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule)\b|\\,")


def latex(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """Matrices between ``\\begin{bmatrix}`` and ``\\end``, with what stands before their "="."""
    if "\\begin{" not in text:
        return None
    text = re.sub(r"(?<!\\)%[^\n]*", "", text)
    known = {_letters(stage.latex): name for name, stage in STAGES.items()}
    found: list[tuple[str, ArrayEntry]] = []
    starts = list(_MATRIX.finditer(text))
    for k, start in enumerate(starts):
        stop = text.find("\\end{" + start[1] + "}", start.end())
        if stop < 0:
            raise BadInput(f"{where}: \\end{{{start[1]}}} is missing; part of it may be cut off.")
        before = _BEFORE.search(text[max(start.start() - 150, 0) : start.start()])
        title = _letters(before[1]) if before else ""
        alone = ALONE if len(starts) == 1 else f"{ALONE} {k + 1}"
        name = known.get(title) or (title if title.isidentifier() else alone)
        rows, labels = _without_labels(_latex_rows(text[start.end() : stop]))
        found.append((name, array(name, rows, labels, where)))
    return _named(found, where)


def _letters(text: str) -> str:
    """A symbol without spaces, dollars and brackets."""
    return re.sub(r"[\s${}]|\\\[|\\\(|&", "", text)


def _latex_rows(body: str) -> Rows:
    body = _NAN.sub("nan", _INFINITE.sub("inf", _POWER.sub(r"e\1", _RULES.sub("", body))))
    lines = re.split(r"\\\\(?:\[[^\]\n]{0,20}\])?", body)
    rows = [
        [cell.strip(" \t\r\n$") for cell in _CELLS.split(line)] for line in lines if line.strip()
    ]
    return [[re.sub(r"-\s+inf", "-inf", cell) for cell in row] for row in rows]


def _without_labels(rows: Rows) -> tuple[Rows, tuple[str, ...]]:
    """Numbers without the words above them, and the words beside them."""

    def words(cells: list[str]) -> list[str]:
        """Those in ``\\text{…}``; none where a cell is a number."""
        found = ["NaN" if cell == "nan" else read_text(cell) for cell in cells]
        given = [word for word in found if word is not None]
        is_word = any(read_text(cell) is not None for cell in cells)
        return given if is_word and len(given) == len(cells) else []

    if rows and words(rows[0][1:] if rows[0][0] == "" else rows[0]):
        rows = rows[1:]
    labels = words([row[0] for row in rows])
    return ([row[1:] for row in rows] if labels else rows), tuple(labels)


_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")


def markdown(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """Tables with a line of dashes under their first; a heading above is the name."""
    if "|" not in text or "--" not in text:
        return None
    lines = [line.strip() for line in text.splitlines()]
    known = {_unmarked(stage.heading): name for name, stage in STAGES.items()}
    rules = [k for k, line in enumerate(lines) if k and "|" in line and _RULE.fullmatch(line)]
    found: list[tuple[str, ArrayEntry]] = []
    _few(len(rules), where)
    for k in rules:
        end = next((at for at in range(k + 1, len(lines)) if "|" not in lines[at]), len(lines))
        rows = [_cells(line) for line in lines[k + 1 : end]]
        above = next((lines[at] for at in range(k - 2, -1, -1) if lines[at]), "")
        title = _unmarked(above.lstrip("# ")) if above.startswith("#") else ""
        alone = ALONE if len(rules) == 1 else f"{ALONE} {len(found) + 1}"
        name = known.get(title) or title or alone
        labelled = bool(rows) and not all(is_number(_plain(row[0])) for row in rows if row)
        labelled = labelled or _cells(lines[k - 1])[:1] == [""]
        labels = tuple(row[0] for row in rows) if labelled else ()
        cut = [row[1:] for row in rows] if labelled else rows
        if cut:
            found.append((name, array(name, cut, labels, where)))
    return _named(found, where) if found else None


def _cells(line: str) -> list[str]:
    """What stands between the bars of a line of a table."""
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [_unmarked(cell.strip()) for cell in re.split(r"(?<!\\)\|", inner)]


def _unmarked(text: str) -> str:
    """Without stars and backticks around it, and with what a backslash kept as it is."""
    text = re.sub(r"^(\*\*|__|`)(.*)\1$", r"\2", text)
    return re.sub(r"\\([^A-Za-z0-9\s])", r"\1", text)


# ---- MATLAB, R, pandas --------------------------------------------------------------------------

_VARIABLE = re.compile(r"\s*([A-Za-z]\w{0,62})(?:\(:,:,(\d{1,4})\))?\s*=\s*")
_FACTOR = re.compile(r"\s*1\.0{1,6}(e[+-]\d{1,3})\s*\*\s*")
_COLUMNS = re.compile(r"Columns?\s+\d+(?:\s+(?:through|to|and)\s+\d+)?\s*:?")
_KIND = re.compile(r"\d+[x×]\d+(?:[x×]\d+)*(?: [A-Za-z]+)+")


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
    return [[cell + factor if cell[-1:].isdigit() else cell for cell in row] for row in rows]


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
    _few(len(pages), where)
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


_R_ROW = re.compile(r"\s*\[\d+,\]\s")
_R_LINE = re.compile(r"\s*\[\d+\]\s+\S.*")
_R_PAGE = re.compile(r"\s*, , \S.*")
_R_HEAD = re.compile(r"\s*\[,\d+\](?:\s+\[,\d+\])*\s*")
_R_TITLE = re.compile(r"(?:\$`?|>\s{1,9}(?:print\()?)([A-Za-z.][\w.$]{0,80})[`)]?\s*|>\s.*|\[\[.*")
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
    _few(len(parts), where)
    if len(parts) > 1 and not all(name for name, _ in parts):
        raise BadInput(f"{where} holds {len(parts)} arrays, not all with names; {_APART}")
    return _named([(name or ALONE, _r_array(name, part, where)) for name, part in parts], where)


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
        numbers = [f"[,{k}]" for k in range(len(columns) + 1, len(columns) + len(head) + 1)]
        if head != numbers if _R_HEAD.fullmatch(" ".join(head)) else set(head) & set(columns):
            raise BadInput(
                f"{place}: columns from {short(head[0], 24)} on do not follow the {len(columns)}"
                f" before them; {_APART}"
            )
        labels = [" ".join(cells[: _r_start(cells, len(head), place)]) for cells in lines]
        if columns and labels != order:
            raise BadInput(f"{place}: a group of columns has other rows than the first.")
        matrix = matrix or [[] for _ in lines]
        for row, cells in zip(matrix, lines, strict=True):
            row += cells[_r_start(cells, len(head), place) :]
        columns, order = columns + head, labels
    if not any(_R_ROW.match(f"{label} ") for label in order):
        return tuple(order), matrix
    for k, label in enumerate(order, 1):
        if label != f"[{k},]":
            raise BadInput(f"{place}: row {k} is called {short(label, 24)}; {_APART}")
    return (), matrix


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
    return is_number(_plain(last)) or last.lower() in TRUTH


_PANDAS_SIZE = re.compile(r"\s*\[\d+ rows x \d+ columns\]\s*")


def pandas_print(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """A DataFrame in groups of columns, or with its size below; one cut short is refused."""
    lines = text.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    sized = bool(lines) and _PANDAS_SIZE.fullmatch(lines[-1]) is not None
    wrapped = any(line.rstrip().endswith(" \\") for line in lines[:1])
    if not (sized or wrapped):
        return None
    lines = lines[:-1] if sized else lines
    if any("..." in line.split() or "\u2026" in line.split() for line in lines):
        raise BadInput(
            f"{where}: the printout leaves numbers out (...); print all, with"
            " print(frame.to_string())."
        )
    rows: dict[str, list[str]] = {}
    order: list[list[str]] = []
    for group in _groups(lines):
        width = len(group[0].rstrip().removesuffix("\\").split())
        parted = [line.split() for line in group[1:]]
        labels = [" ".join(cells[:-width]) for cells in parted]
        order.append(labels)
        if labels != order[0]:
            raise BadInput(f"{where}: a group of columns has other rows than the first.")
        for k, cells in enumerate(parted):
            rows.setdefault(str(k), []).extend(cells[-width:])
    tokens = tuple(order[0]) if order and any(order[0]) else ()
    return {ALONE: array(ALONE, list(rows.values()), tokens, where)} if rows else None


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


# ---- C and torch's dicts, in the words of Python ------------------------------------------------

_C_ARRAY = re.compile(
    r"(?m)^[ \t]*(?:[A-Za-z_][\w:<>]{0,40}[ \t*]{1,9}){1,6}([A-Za-z_]\w{0,39})[ \t]{0,9}"
    r"(?:\[[ \w]{0,12}\][ \t]{0,9}){1,4}=\s{0,9}\{"
)
_C_SUFFIX = re.compile(r"(?<=[\d.])[fFlL]\b")
_C_COMMENT = re.compile(r"//[^\n]*|/\*(?s:.*?)(\*/|\Z)")  # the group is "" where none closes it


def from_c(text: str) -> str:
    """C's arrays as assignments: ``float W[1][2] = {{1.f, 2.f}};`` as ``W = [[1., 2.]]``.

    >>> from_c("const float W[1][2] = {{1.f, 2.f}};")
    'W = [[1., 2.]] '
    """
    if "{" not in text or not _C_ARRAY.search(text):
        return text
    text = _C_COMMENT.sub(lambda found: found[0] if found[1] == "" else "", text)
    text = _C_ARRAY.sub(lambda found: f"{found[1]} = {{", text)
    return _C_SUFFIX.sub("", text).translate(str.maketrans("{};", "[] "))


_TENSOR = re.compile(
    r"(?:(?:'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"|\b([A-Za-z_]\w{0,80}))\s{0,9}[:,=]\s{0,9})?"
    r"(?:Parameter containing:\s{0,9})?(?:np\.|torch\.|numpy\.)?(?:tensor|array|Array)\("
)
_AROUND = re.compile(
    r"[\s,(){}\[\]]|OrderedDict|dict|[A-Z]\w{0,60}Output\w{0,60}"
    r"|(?:'\w{1,80}':|\w{1,80}=)\s{0,9}None|\w{1,80}=(?=[(\[])"
)
_INSIDE = re.compile(r"(\w{1,80})=[(\[]$")


def tensors_in(text: str, limit: int) -> list[tuple[str, str]] | None:
    """Printed tensors in a dict, list, tuple or model's output: each with its name and text.

    None where the text is something else; a name is "" where there is none.

    >>> tensors_in("{'q': tensor([[1.]])}", 9)
    [('q', 'array([[1.]])')]
    """
    first = text.lstrip()[:40]
    if not re.match(r"[({\[]|OrderedDict|dict\(|[A-Z]\w*Output", first):
        return None
    found: list[tuple[str, str]] = []
    around: list[str] = []
    at = 0
    for start in _TENSOR.finditer(text):
        if start.start() < at:
            continue
        stop = _closing(text, start.end() - 1)
        if stop < 0 or len(found) > limit:
            return None
        around.append(text[at : start.start()])
        inside = _INSIDE.search(around[-1][-90:])  # attentions=(tensor(…
        name = start[1] or start[2] or start[3] or (inside[1] if inside else "")
        found.append((name, f"array({text[start.end() : stop]}"))
        at = stop
    around.append(text[at:])
    left = "".join(around)
    closed = all(left.count(one) == left.count(other) for one, other in ("()", "[]", "{}"))
    return found if found and closed and not _AROUND.sub("", left) else None


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at ``start`` is closed; -1 where it is not."""
    depth = 0
    for bracket in re.compile(r"[()]").finditer(text, start):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.end()
    return -1
