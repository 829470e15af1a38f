"""Arrays out of text: what programs print, JSON, tables and word vectors.

What is read is an :class:`ArrayEntry` for each array, as out of a file; what is refused is one
sentence that names the line.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from attention.limits import MAX_ARRAYS, MAX_BRACKETS, MAX_COMMAS, MAX_ELEMENTS, MAX_FILE, BadInput
from attention.readers.entry import ALONE, ArrayEntry, short
from attention.readers.json_arrays import nested
from attention.readers.printouts import read_matrices
from attention.readers.tables import tables

BOUNDS = (
    ("\n", MAX_ELEMENTS, "lines"),
    ("\r", MAX_ELEMENTS, "lines"),
    (",", MAX_COMMAS, "commas"),
    ("\t", MAX_COMMAS, "tabs"),
    (";", MAX_ELEMENTS, "semicolons"),
    ("[", MAX_BRACKETS, "brackets"),
    ("{", MAX_BRACKETS, "brackets"),
)
_NAMED = re.compile(
    r"(?m)^[ \t]{0,9}([A-Za-z_]\w{0,39})[ \t]{0,9}[=:][ \t]{0,9}"
    r"(?=(?:[A-Za-z][\w.]{0,40}\(\s{0,9})?\[)"
)
# How a printout begins.
_BRACKETS = re.compile(
    r"(?:Parameter containing:|<tf\."
    r"|(?:[A-Za-z][\w.]{0,40})?[\[({]\s{0,99}(?:[\[({\])}]|[+-]?[\d.]|nan|-?inf|np\.float))"
)
_TRUTH = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_COMMENT = re.compile(r"#[^\n]*")
# Lines that hold no numbers.
_CODE = re.compile(r"(?m)^[ \t]*(?:#[^\n]*|import [^\n]*|from [\w.]+ import [^\n]*)$")
_TAIL = re.compile(
    r"(?:[\s,;)>]"
    r"|(?:dtype|device|grad_fn|requires_grad|shape|name|weak_type)\s?=\s?"
    r"(?:'[^'\n]*'|<[^>\n]*>|\([^)\n]*\)|[\w.:]+))*"
)
_MIXED = re.compile(r"\d,\d+[ ]+[\d.+-][^\[\]\n]{0,20}")  # [0,5 1,5]
# Rows in other brackets: Python's tuples, C's initialisers.
_TUPLES = re.compile(r"[\d\s.,eE+\-()\[\]{}]*")
_SQUARE = str.maketrans("(){}", "[][]")


def entries(text: str, where: str, comma: str | None = None) -> dict[str, ArrayEntry]:
    """The arrays that stand in a text, by name; one without a name is called "numbers".

    ``comma`` answers :class:`Ambiguous`: a key of ``COMMAS``. NaN and inf are numbers here; who
    takes the array decides.

    >>> found = entries("cat 0.5 1\\ndog 2 -3", "the text")["numbers"]
    >>> found.shape, found.rows, found.read()[1].tolist()
    ((2, 2), ('cat', 'dog'), [2.0, -3.0])
    """
    text = _bounded(text.removeprefix("\ufeff"), where)
    text = _counted(text)
    first = text.lstrip()[0]
    if first in "[{":
        arrays = nested(text, where, must=first == "{" and '"' in text)
        if arrays is not None:
            return arrays
    named = _NAMED.split(text)
    if len(named) > 1:
        return _printed(named, where)
    if _BRACKETS.match(text.lstrip()):
        return {ALONE: ArrayEntry.of(ALONE, _printout(text, where))}
    return tables(text, where, comma)


def _bounded(text: str, where: str) -> str:
    """The text, if it is one and not too large; counted before anything is made of it."""
    if len(text) > MAX_FILE:
        raise BadInput(f"{where} has {len(text):,} characters; at most {MAX_FILE:,} are read.")
    if not text.strip():
        raise BadInput(f"{where} is empty; numbers are wanted.")
    for mark, most, word in BOUNDS:
        if text.count(mark) > most:
            raise BadInput(f"{where} has {text.count(mark):,} {word}; at most {most:,} are read.")
    if "\x00" in text:
        raise BadInput(
            f"{where}, character {text.index(chr(0)) + 1} is a zero byte; this is no text."
        )
    return text


def _counted(text: str) -> str:
    """True and False as 1 and 0, where no number stands beside them."""
    return (
        text
        if re.search(r"\d", text)
        else _TRUTH.sub(lambda word: "1" if word[0].lower() == "true" else "0", text)
    )


def _printout(text: str, where: str) -> np.ndarray:
    """The numbers between brackets; only what programs print may follow, nothing to compute."""
    if _TUPLES.fullmatch(text):
        text = text.translate(_SQUARE)
    end = text.rfind("]") + 1
    tail = _COMMENT.sub("", text[end:])
    if end and not _TAIL.fullmatch(tail):
        raise BadInput(
            f"{where}: “{short(tail.strip(), 24)}” follows the numbers; nothing is computed here,"
            " so paste the result."
        )
    inner = text[:end] or text
    start = max(inner.find("["), 0)
    inner = inner[:start] + _counted(inner[start:])
    for row in _MIXED.findall(inner):
        raise BadInput(
            f"{where}: “{short(row, 24)}” can be read in two ways; put points for decimals, or a"
            " space after each comma."
        )
    return read_matrices(inner, where, finite=False)


def _printed(parts: list[str], where: str) -> dict[str, ArrayEntry]:
    """Several printouts with their names in front: ``X = [[1, 2], …``, as in code."""
    before, arrays, words = parts[0], {}, ()
    if left := _CODE.sub("", before).strip():
        raise BadInput(
            f"{where}: “{short(left, 24)}” stands before the first name; only named arrays are read"
            " beside each other."
        )
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        if name in arrays:
            raise BadInput(f"{where} holds {name} twice.")
        text = _CODE.sub("", text)
        if re.fullmatch(r"\s*\[\s*[\"'][^\[\]]*\]\s*", text):
            words = words or tuple(word[1:-1] for word in re.findall(r"\"[^\"]*\"|'[^']*'", text))
            continue
        arrays[name] = ArrayEntry.of(name, _printout(text, f"{where}, {name}"))
        if len(arrays) > MAX_ARRAYS:
            raise BadInput(
                f"{where} holds more than {MAX_ARRAYS:,} arrays, which is the most that is read."
            )
    if not arrays:
        raise BadInput(f"{where} holds words and no numbers.")
    return {
        name: replace(entry, rows=words)
        if name in ("X", "Q") and len(words) == entry.shape[-2]
        else entry
        for name, entry in arrays.items()
    }
