"""Matrices and tables in LaTeX and Markdown: this page's own, pandas' and those of papers.

Each reader gets a text that was bounded before and gives the arrays in it by name, or None where
the text is none of its own. What is wrong inside is one sentence that names row and column.
"""

from __future__ import annotations

import re

from attention.latex import read as read_text
from attention.limits import BadInput
from attention.readers.cells import Rows, array, few, named, plain
from attention.readers.entry import ALONE, ArrayEntry
from attention.readers.printouts import is_number
from attention.stages import STAGES

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
    return named(found, where)


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
    few(len(rules), where)
    for k in rules:
        end = next((at for at in range(k + 1, len(lines)) if "|" not in lines[at]), len(lines))
        rows = [_cells(line) for line in lines[k + 1 : end]]
        above = next((lines[at] for at in range(k - 2, -1, -1) if lines[at]), "")
        title = _unmarked(above.lstrip("# ")) if above.startswith("#") else ""
        alone = ALONE if len(rules) == 1 else f"{ALONE} {len(found) + 1}"
        name = known.get(title) or title or alone
        labelled = bool(rows) and not all(is_number(plain(row[0])) for row in rows if row)
        labelled = labelled or _cells(lines[k - 1])[:1] == [""]
        labels = tuple(row[0] for row in rows) if labelled else ()
        cut = [row[1:] for row in rows] if labelled else rows
        if cut:
            found.append((name, array(name, cut, labels, where)))
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
    return re.sub(r"\\([^A-Za-z0-9\s])", r"\1", text)
