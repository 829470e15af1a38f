"""Matrices and tables in LaTeX and Markdown: this page's own, pandas' and those of papers.

Each reader gets a text that was bounded before and gives the arrays in it by name, or None where
the text is none of its own. What is wrong inside is one sentence that names row and column.
"""

from __future__ import annotations

import re
from dataclasses import replace

from attention import markdown as markdown_text
from attention.latex import read as read_text
from attention.limits import BadInput
from attention.readers.cells import TRUTH, Rows, array, few, named, plain, table
from attention.readers.entry import ALONE, ArrayEntry, short
from attention.readers.label_columns import labels_rows
from attention.readers.printouts import is_number
from attention.stages import STAGES

# ---- LaTeX --------------------------------------------------------------------------------------

_MATRIX = re.compile(
    r"\\begin\{([bpvBV]?matrix\*?|smallmatrix|array|tabular|longtable)\}(?:\[[^\]\n]{0,9}\])?"
    r"(?:\{(?:[^{}\n]|\{[^{}\n]{0,99}\}){0,999}\})?"
)
_TEXT_TABLES = ("tabular", "longtable")
_POWER = re.compile(r"\s{0,9}\\(?:cdot|times)\s*10\^\{?(-?\d{1,4})\}?")
_INFINITE = re.compile(r"\\infty\b")
_CELLS = re.compile(r"(?<!\\)&")
_NAN = re.compile(r"\\(?:mathrm|text)\{NaN\}")
_BOLD = re.compile(r"\\(?:text|math)(?:bf|it|rm|tt)\{([^{}]{0,99})\}")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule)\b|\\,"
    r"|\\(?:cline|cmidrule(?:\([lr]{0,2}\))?)\{[\d-]{1,9}\}"
)
_NAMES_END = re.compile(r"\\(?:midrule|hline)\b")
_PAGES_END = re.compile(r"\\end(?:first|last)?(?:head|foot)\b")
# What parts formulas, and what stands around a matrix and means nothing.
_PARTING = re.compile(
    r"\\\\(?:\[[^\]\n]{0,20}\])?|\\[\[\]()]|\$|\\(?:begin|end)\{[^{}\n]{0,40}\}|\n\s*\n"
    r"|(?:[,;:]|(?<!\d)\.)(?=[\s\\$]|$)|\\q?quad\b|\\text\{[\s,]{0,9}(?:and|with)?[\s,]{0,9}\}"
    r"|\\(?:label|tag|caption)\{[^{}\n]{0,400}\}|\\setcounter\{\w{0,40}\}\{\d{0,9}\}"
    r"|\n(?=[^=\n]{1,120}=\s*$)"
)
_AROUND = re.compile(
    r"\\(?:left|right|[bB]igg?[lrm]?)(?![A-Za-z])\s*\.?|\\[,;:!> {}|]|[\s~&(){}\[\]|]"
    r"|\\(?:displaystyle|nonumber|notag|centering)\b"
)


def latex(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """Matrices between ``\\begin{bmatrix}`` and ``\\end``, with what stands before their "="."""
    if "\\begin{" not in text:
        return None
    text = re.sub(r"(?<!\\)%[^\n]*", "", text)
    known = {_AROUND.sub("", stage.latex): name for name, stage in STAGES.items()}
    starts = list(_MATRIX.finditer(text))
    few(len(starts), where)
    found: list[tuple[str, ArrayEntry]] = []
    at, last = 0, ""
    for k, start in enumerate(starts, 1):
        if start.start() < at:
            raise BadInput(f"{where}: matrix {k} begins inside another one; paste them apart.")
        end = "\\end{" + start[1] + "}"
        stop = text.find(end, start.end())
        if stop < 0:
            raise BadInput(f"{where}: {end} is missing; part of it may be cut off.")
        between = _PARTING.split(text[at : start.start()])
        place = where if len(starts) == 1 else f"{where}, before matrix {k}"
        _check_beside(between, last, start[1], place)
        title = _AROUND.sub("", between[-1][-200:]).rstrip(":=")
        alone = ALONE if len(starts) == 1 else f"{ALONE} {k}"
        name = known.get(title) or (title if title.isidentifier() else alone)
        found.append((name, _array(name, start[1], text[start.end() : stop], where)))
        at, last = stop + len(end), start[1]
    place = where if len(starts) == 1 else f"{where}, after matrix {len(starts)}"
    _check_beside(_PARTING.split(text[at:]), last, "", place)
    return named(found, where)


def _check_beside(between: list[str], last: str, following: str, place: str) -> None:
    """Refuse what computes with a matrix before or after it: a factor, a power, another matrix.

    ``last`` and ``following`` are the environments of these; a table in a text computes nothing.
    """
    behind, before = (_AROUND.sub("", part) for part in (between[0], between[-1]))
    last, following = ("" if one in _TEXT_TABLES else one for one in (last, following))
    if last and behind and not behind.startswith(("=", "\\approx", "\\in\\mathbb")):
        odd = between[0]
    elif following and before and not before.endswith(("=", "\\approx")):
        odd = between[-1].rpartition("=")[2]
    elif last and following and len(between) == 1 and not before:
        odd = f"\\begin{{{following}}}"
    else:
        return
    raise BadInput(
        f"{place}: “{short(' '.join(odd.split()), 24)}” stands beside the matrix; nothing is"
        " computed here, so write the result."
    )


def _array(name: str, kind: str, body: str, where: str) -> ArrayEntry:
    """A matrix or table, without what stands above and beside its numbers."""
    above, rows = _parted(body) if kind in ("array", *_TEXT_TABLES) else ([], _latex_rows(body))
    of_heads = 0
    while of_heads < len(rows) and _is_head(rows[of_heads], kind, bool(above)):
        above.append(rows[of_heads])
        of_heads += 1
    rows = rows[of_heads:]
    head = next((row for row in above if any(row[1:])), [])
    names, words = list(map(_word, head)), [[_plain(cell) for cell in row] for row in rows]
    if name not in STAGES and (found := table(name, names, words, where)):
        return found
    firsts = [row[0] for row in rows]
    labelled = any(labels_rows(row[0], firsts) for row in above) or _all_text(firsts)
    if kind in _TEXT_TABLES:
        labelled = labelled or 2 * sum(map(_is_cell, firsts)) < len(firsts)
    labels = tuple(map(_word, firsts)) if labelled else ()
    found = array(name, [row[labelled:] for row in rows], labels, where)
    if any(is_number(cell) for row in above for cell in row):
        return replace(found, remark="The line above the numbers names the columns.")
    return found


def _is_head(row: list[str], kind: str, goes_on: bool) -> bool:
    """Whether it names columns; ``goes_on``: a row above it does."""
    cells = row[1:] if row[0] == "" else row
    if _all_text(cells) or kind not in ("array", *_TEXT_TABLES):
        return _all_text(cells)
    empty = goes_on and len(row) > 1 and not any(row[1:])  # pandas' name of the index
    words = kind in _TEXT_TABLES and not any(map(_is_cell, cells))
    return empty or words or (row[0] == "" and len(row) > 1)


def _is_cell(text: str) -> bool:
    return is_number(text) or text.lower() in TRUTH


def _all_text(cells: list[str]) -> bool:
    """Whether each is a ``\\text{…}``, "NaN" among them."""
    texts = [read_text(cell) for cell in cells]
    words = [word is not None or cell == "nan" for word, cell in zip(texts, cells, strict=True)]
    return all(words) and texts.count(None) < len(texts)


def _plain(cell: str) -> str:
    """A number as it is, a word without its ``\\text`` and backslashes."""
    return cell if _is_cell(cell) else _word(cell)


def _word(cell: str) -> str:
    """A label without its ``\\text`` and backslashes."""
    word = read_text(cell)
    return word if word is not None else read_text(f"\\text{{{cell}}}") or ""


def _parted(body: str) -> tuple[Rows, Rows]:
    """The rows above the line that ends the names of columns, and those below it."""
    pages = _PAGES_END.split(body)  # longtable says the names for each page
    first, *rest = _NAMES_END.split(pages[0])
    if "\\midrule" in pages[0]:
        below = pages[-1] if len(pages) > 1 else "".join(rest)
        return _latex_rows(first), _latex_rows(below)
    parts = [rows for part in (first, *rest) if (rows := _latex_rows(part))]
    ruled = not first.strip() and len(parts) == 2 and len(parts[0]) == 1 < len(parts[1])
    return (parts[0], parts[1]) if ruled else ([], [row for part in parts for row in part])


def _latex_rows(body: str) -> Rows:
    body = _BOLD.sub(r"\1", _RULES.sub("", body))
    body = _NAN.sub("nan", _INFINITE.sub("inf", _POWER.sub(r"e\1", body)))
    lines = re.split(r"\\\\(?:\[[^\]\n]{0,20}\])?", body)
    rows = [
        [cell.strip(" \t\r\n$") for cell in _CELLS.split(line)] for line in lines if line.strip()
    ]
    return [[re.sub(r"-\s+inf", "-inf", cell) for cell in row] for row in rows]


# ---- Markdown -----------------------------------------------------------------------------------

_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")


def markdown(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """Tables with a line of dashes under their first; a heading above is the name."""
    if "|" not in text or "--" not in text:
        return None
    lines = [line.strip() for line in text.splitlines()]
    known = {_unmarked(stage.heading): name for name, stage in STAGES.items()}
    rules = [k for k, line in enumerate(lines) if k and "|" in line and _RULE.fullmatch(line)]
    found: list[tuple[str, ArrayEntry]] = []
    few(len(rules), where)
    for k in rules:
        end = next((at for at in range(k + 1, len(lines)) if "|" not in lines[at]), len(lines))
        rows, names = [_cells(line) for line in lines[k + 1 : end]], _cells(lines[k - 1])
        above = next((lines[at] for at in range(k - 2, -1, -1) if lines[at]), "")
        title = _unmarked(above.lstrip("# ")) if above.startswith("#") else ""
        alone = ALONE if len(rules) == 1 else f"{ALONE} {len(found) + 1}"
        name = known.get(title) or title or alone
        labelled = bool(rows) and not all(is_number(plain(row[0])) for row in rows if row)
        labelled = labelled or labels_rows(names[0], [row[0] for row in rows])
        labels = tuple(row[0] for row in rows) if labelled else ()
        cut = [row[1:] for row in rows] if labelled else rows
        if cut:
            own = name in STAGES  # whose columns may be tokens of any name
            others = None if own else table(name, names, rows, where)
            found.append((name, others or array(name, cut, labels, where)))
    return named(found, where) if found else None


def _cells(line: str) -> list[str]:
    """What stands between the bars of a line of a table."""
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [_unmarked(cell.strip()) for cell in re.split(r"(?<!\\)\|", inner)]


def _unmarked(text: str) -> str:
    """Without stars and backticks around it, and with what a backslash kept as it is."""
    text = re.sub(r"^(\*\*|__|`)(.*)\1$", r"\2", text)
    return markdown_text.read(text)
