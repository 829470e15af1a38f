"""Tables in Markdown: this page's own, pandas' and those of others.

What is wrong inside is one sentence that names row and column.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from attention.limits import MAX_ARRAYS, MAX_ELEMENTS, BadInput
from attention.readers.cells.entry import ALONE, ArrayEntry, repeated, short
from attention.readers.cells.label_columns import NUMBERS, WORDS, columns_of, kind_of, labels_rows
from attention.readers.cells.printouts import is_number, read_cells
from attention.readers.texts.tables import check_lines
from attention.vocabulary import markdown
from attention.vocabulary.sentences import plural
from attention.vocabulary.stages import STAGES

Rows = list[list[str]]
TRUTH = ("true", "false")
KNOWN_BY = 99  # rows, by which a column is known for one of words or of numbers
_AROUND = re.compile(r"^(\*\*|__|`)(.*)\1$")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")


def tables_in(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """Return the tables with a line of dashes under their first line, named by the heading above.

    None where there is none. The text is one whose marks were counted.
    """
    if "|" not in text or "--" not in text:
        return None
    lines = [line.strip() for line in text.splitlines()]
    known = {_unmarked(stage.heading): name for name, stage in STAGES.items()}
    rules = [k for k, line in enumerate(lines) if k and "|" in line and _RULE.fullmatch(line)]
    found: list[tuple[str, ArrayEntry]] = []
    if len(rules) > MAX_ARRAYS:
        raise BadInput(f"{where} holds {len(rules):,} arrays; at most {MAX_ARRAYS:,} are read.")
    if rules:
        check_lines(len(lines), where)
    for k in rules:
        end = next((at for at in range(k + 1, len(lines)) if "|" not in lines[at]), len(lines))
        _check_size(lines[k + 1 : end], where)
        rows, names = [_cells(line) for line in lines[k + 1 : end]], _cells(lines[k - 1])
        above = next((lines[at] for at in range(k - 2, -1, -1) if lines[at]), "")
        title = _unmarked(above.lstrip("# ")) if above.startswith("#") else ""
        alone = ALONE if len(rules) == 1 else f"{ALONE} {len(found) + 1}"
        name = known.get(title) or title or alone
        labelled = bool(rows) and not all(is_number(_plain(row[0])) for row in rows if row)
        labelled = labelled or labels_rows(names[0], [row[0] for row in rows])
        labels = tuple(row[0] for row in rows) if labelled else ()
        cut = [row[1:] for row in rows] if labelled else rows
        if cut:
            own = name in STAGES  # whose columns may be tokens of any name
            others = None if own else _with_label_column(name, names, rows, where)
            found.append((name, others or _array(name, cut, labels, where)))
    if twice := repeated(name for name, _ in found):
        raise BadInput(f"{where} holds {short(twice, 40)} twice.")
    return dict(found) or None


def _cells(line: str) -> list[str]:
    """What stands between the bars of a line of a table."""
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    cells = inner.split("|") if "\\" not in inner else re.split(r"(?<!\\)\|", inner)
    return [_unmarked(cell.strip()) for cell in cells]


def _check_size(rows: list[str], where: str) -> None:
    """Refuse a table of more cells than MAX_ELEMENTS, not counting one label a row.

    They are counted by their bars, as cells take a hundred times as long and as much room.
    """
    between = (
        row.count("|") - row.count("\\|") - row.startswith("|") - row.endswith("|") for row in rows
    )
    if sum(between) > MAX_ELEMENTS:  # as many as cells, but for one in each row
        raise BadInput(f"{where} is too large; at most {MAX_ELEMENTS:,} numbers are read.")


def _unmarked(text: str) -> str:
    """Without stars and backticks around it, and with what a backslash kept as it is."""
    if text.startswith(("**", "__", "`")):
        around = _AROUND.match(text)
        text = around[2] if around else text
    return markdown.read(text) if "\\" in text or "&" in text else text


def _array(name: str, rows: Rows, labels: tuple[str, ...], where: str) -> ArrayEntry:
    """Return cells as numbers, or all of them as True and False; rows have one length."""
    place = where if name == ALONE else f"{where}, {short(name, 40)}"
    if len(rows) * max(map(len, rows), default=0) > MAX_ELEMENTS:
        raise BadInput(f"{place} is too large; at most {MAX_ELEMENTS:,} numbers are read.")
    if not rows or not rows[0]:
        raise BadInput(f"{place} holds no number.")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise BadInput(
                f"{place}, row {number} has {len(row)} {plural(len(row), 'number')} and row 1 has"
                f" {len(rows[0])}; every row needs the same."
            )
    if rows and all(cell.lower() in TRUTH for row in rows for cell in row):
        truth = np.array([[cell.lower() == "true" for cell in row] for row in rows])
        return ArrayEntry(name, truth.shape, "bool", lambda: truth, labels)
    cells, width = [cell for row in rows for cell in row], len(rows[0])

    def at(k: int) -> str:
        return f"{place}, row {k // width + 1}, column {k % width + 1}"

    values = read_cells(list(map(_plain, cells)), at, cells)
    return ArrayEntry.of(name, np.array(values).reshape(len(rows), -1), labels)


def _with_label_column(name: str, names: list[str], rows: Rows, where: str) -> ArrayEntry | None:
    """Return rows without columns of ids, and with the column of words as their labels.

    None where they have no such column but the first.
    """
    if not rows or any(len(row) != len(names) for row in rows):
        return None
    columns = list(zip(*rows[:KNOWN_BY], strict=True))
    truth = [all(cell.lower() in TRUTH for cell in column) for column in columns]
    kinds = [
        NUMBERS if bools else kind_of([_plain(cell) for cell in column])
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
    labels = tuple(row[found.label] for row in rows)
    return replace(_array(name, cells, labels, where), remark=found.remark)


def _plain(cell: str) -> str:
    """Return a cell as a number is typed: ∞, NA and Inf in other words."""
    if cell.isascii() and cell[-1:] not in ("A", "f"):
        return cell
    cell = cell.replace("\u2212", "-").replace("∞", "inf")
    return {"NA": "nan", "Inf": "inf", "-Inf": "-inf"}.get(cell, cell)
