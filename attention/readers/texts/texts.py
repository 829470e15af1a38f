"""Arrays out of text: what programs print, JSON, tables and word vectors.

What is read is an :class:`ArrayEntry` for each array, as out of a file; what is refused is one
sentence that names the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from attention.limits import LOWEST, MAX_BRACKETS, MAX_COMMAS, MAX_ELEMENTS, MAX_FILE, BadInput
from attention.readers.cells.entry import REFUSED, ArrayEntry
from attention.readers.cells.printouts import is_figure
from attention.readers.cells.what_is_meant import embeddings, without_comments
from attention.readers.texts import other_texts
from attention.readers.texts.block_labels import is_comment
from attention.readers.texts.grid import check_lines
from attention.readers.texts.json_arrays import nested
from attention.readers.texts.printed import arrays_in
from attention.readers.texts.tables import tables, tables_in

BOUNDS = (
    ("\n", MAX_ELEMENTS, "lines"),
    ("\r", MAX_ELEMENTS, "lines"),
    (",", MAX_COMMAS, "commas"),
    ("\t", MAX_COMMAS, "tabs"),
    (";", MAX_ELEMENTS, "semicolons"),
    ("|", MAX_COMMAS, "bars"),
    ("[", MAX_BRACKETS, "brackets"),
    ("{", MAX_BRACKETS, "brackets"),
)
_NAME_ALONE = re.compile(r"[ \t]*[#%]+[ \t]*[^\W\d]\w{0,39}[ \t]*[:=]?[ \t\r]*")  # of a matrix
_SHAPE = re.compile(r"(?:torch\.Size)?\(\[?[\d,x ]{0,60}\]?\)|\[[\d,x ]{1,60}\]")
_TRUTH = {"true", "false"}
_CODE = re.compile(r"(?m)^[ \t]*(?:import \w|from [\w.]{1,60} import|def \w{1,60}\(|>>> )")
_POWER = re.compile(r"-\d{1,20}(?:\.\d{0,40})?[eE]\+?\d{2,3}(?!\d)")
_CELL = re.compile(r"[^\s,;|\"]+")
_NUMBERS = (*"0123456789", "nan", "inf", "true", "false")


def entries(
    text: str, where: str, chosen: Mapping[str, str] | None = None
) -> dict[str, ArrayEntry]:
    """Return the arrays that stand in a text, by name; one without a name is called "numbers".

    ``chosen`` answers the questions in the ``choices`` of a reading before: the key of an option
    for the key of a question. NaN and inf are numbers here; who takes the array decides.

    >>> found = entries("cat 0.5 1\\ndog 2 -3", "the text")["numbers"]
    >>> found.shape, found.rows, found.read()[1].tolist()
    ((2, 2), ('cat', 'dog'), [2.0, -3.0])
    """
    text = _bounded(text.removeprefix("\ufeff"), where)
    found = _json(text, where) or _printouts(text, where, chosen or {})
    if not found:
        other_texts.refuse(text, where)  # the kinds that are not read
        found = tables_in(text, where)
    if not found:
        _check_numbers(text, where)
        found = _text_table(text, where, chosen)
    return _with_lowest(found, text)


def _with_lowest(found: dict[str, ArrayEntry], text: str) -> dict[str, ArrayEntry]:
    """Return the arrays, with a remark on numbers that were read as −∞."""
    powers = (float(one[0]) for one in _POWER.finditer(text))
    lowest = next((value for value in powers if -np.inf < value <= LOWEST), None)
    if lowest is None:
        return found
    told = _with_remark(found, f"{lowest:.2g} is read as −∞.".replace("e+", "e"))
    return {
        name: told[name] if _has_minus_infinity(entry) else entry for name, entry in found.items()
    }


def _has_minus_infinity(entry: ArrayEntry) -> bool:
    try:
        return bool(np.isneginf(entry.read()).any())
    except BadInput:
        return False


def _check_numbers(text: str, where: str) -> None:
    """Refuse a text of shapes, code or words: no cell of it is a number."""
    lines = _SHAPE.sub("", text).splitlines()
    if _CODE.search(text):
        lines = [line for line in lines if "=" not in line and "(" not in line]
    if not any(map(_has_number, lines)):
        raise BadInput(
            f"{where} holds no array, such as [[1, 2], [3, 4]], and no table of numbers; shapes and"
            " code that computes are not enough."
        )


def _has_number(line: str) -> bool:
    if not any(map(line.lower().__contains__, _NUMBERS)):
        return False
    return any(is_figure(cell) or cell.lower() in _TRUTH for cell in _CELL.findall(line))


def _json(text: str, where: str) -> dict[str, ArrayEntry] | None:
    first = text.lstrip()[0]
    if first not in "[{":
        return None
    arrays = nested(text, where, must=first == "{" and '"' in text)
    return embeddings(arrays, where) if arrays else None


def _printouts(text: str, where: str, chosen: Mapping[str, str]) -> dict[str, ArrayEntry] | None:
    """Read arrays between brackets; refused where none of them can be read."""
    found = arrays_in(text, where, chosen.get("rows", "matrix"))
    if found and all(entry.dtype == REFUSED for entry in found.values()):
        other_texts.refuse(text, where)
        next(iter(found.values())).read()
    return embeddings(found, where) if found else None


def _text_table(text: str, where: str, chosen: Mapping[str, str] | None) -> dict[str, ArrayEntry]:
    """Read rows of numbers, with or without names of columns and labels."""
    check_lines(text.count("\n") + text.count("\r") - text.count("\r\n"), where)
    table = without_comments(text)
    remark = _of_comments(table, text, where)
    return _with_remark(tables(_with_labels(table, text), where, chosen), remark)


def _with_labels(table: str, text: str) -> str:
    """Return a text without comments, but for those that may be labels: the first of each part."""
    if "\x0b" not in table:
        return table
    lines, before = table.split("\n"), text.replace("\r\n", "\n").split("\n")
    for k, line in enumerate(lines):
        if line == "\x0b" and (k == 0 or not lines[k - 1].strip(" \t\r")):
            lines[k] = before[k] if is_comment(before[k]) else line
    return "\n".join(lines)


def _with_remark(found: dict[str, ArrayEntry], remark: str) -> dict[str, ArrayEntry]:
    """Return the arrays, each with one more remark."""
    if not remark:
        return found
    return {
        name: replace(entry, remark=f"{entry.remark} {remark}".strip())
        for name, entry in found.items()
    }


def _of_comments(table: str, text: str, where: str) -> str:
    """Return a remark on a comment between rows where one is above the first row.

    Refuse it where both are names, as each names a matrix. ``table`` is the text with a vertical
    tab in place of each comment.
    """
    if not table.lstrip(" \t\r\n").startswith("\x0b"):
        return ""
    lines, before = table.split("\n"), text.replace("\r\n", "\n").split("\n")
    rows = [k for k, line in enumerate(lines) if line.strip()]
    if not rows:
        return ""
    named = any(map(_NAME_ALONE.fullmatch, before[: rows[0]]))
    between = [k for k in range(rows[0], rows[-1]) if lines[k] == "\x0b" and lines[k - 1].strip()]
    for k in between:
        if named and _NAME_ALONE.fullmatch(before[k]):
            raise BadInput(
                f"{where}, line {k + 1} is a comment between rows; put an empty line before it if"
                " another matrix begins there, else remove it."
            )
    if not between:
        return ""
    return (
        f"Line {between[0] + 1} is a comment between rows; put an empty line before it if another"
        " matrix begins there."
    )


def _bounded(text: str, where: str) -> str:
    """Return the text, if it is one and not too large; counted before anything is made of it."""
    if len(text) > MAX_FILE:
        raise BadInput(f"{where} has {len(text):,} characters; at most {MAX_FILE:,} are read.")
    if not text.strip():
        raise BadInput(f"{where} is empty; expected numbers.")
    for mark, most, word in BOUNDS:
        if text.count(mark) > most:
            raise BadInput(f"{where} has {text.count(mark):,} {word}; at most {most:,} are read.")
    if "\x00" in text:
        raise BadInput(
            f"{where}, character {text.index(chr(0)) + 1} is a zero byte; expected text."
        )
    return text
