"""Nested lists of numbers in JSON as arrays, without a Python object for each number.

Attention weights of a model are millions of numbers; as Python's floats they would take ten times
their text.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from attention.arrays.conversion import locked
from attention.limits import MAX_ARRAYS, MAX_BRACKETS, MAX_HEADER, MAX_RANK, BadInput
from attention.readers.cells.entry import short

DEEPEST = MAX_RANK + 1  # layers, items, heads, queries and keys
BLOCK = 2**14  # bytes that are read as numbers at a time
MOST_SHORT = 2**12  # bytes of what is no list of numbers that are looked at first
_BRACKET = re.compile(rb"[\[\]]")
_KEY = re.compile(rb'\s*+"((?:[^"\\]|\\.){0,200}+)"\s*+:\s*+')
_NEXT = re.compile(rb"\s*+(,|\}|$)")
_SPACE = re.compile(rb"\s*+")
_WORDS = re.compile(rb"\[\s*+(?:\[\s*+)?\"")
_NO_NUMBER = re.compile(rb",\s*+[,\]]|\[\s*+,")
_OUT = bytes.maketrans(b"[]", b"  ")
_OF_NUMBERS = b"0123456789+-.eE,NaInfity \t\r\n"  # NaN and Infinity, as Python writes them
Shape = tuple[int, ...]


def layers_in(content: bytes, where: str, most: int) -> dict[str, Any]:
    """Return the members of a JSON object, or a list under ``""``: arrays, lists of arrays, and
    what is neither as Python's own lists and dicts, such as words.

    A list whose parts differ in shape is a list of arrays. All together hold at most ``most``
    numbers, which is counted before any is read; they are float32. The text stays bytes, in UTF-8:
    Python's own would take up to four bytes a character.

    >>> layers_in(b"[[[0.5, 0.5]], [[1, 0, 0]]]", "a.json", 10)[""]
    [array([[0.5, 0.5]], dtype=float32), array([[1., 0., 0.]], dtype=float32)]
    >>> layers_in(b'{"tokens": ["a"], "A": [[1]]}', "a.json", 10)
    {'tokens': ['a'], 'A': array([[1.]], dtype=float32)}
    """
    lists = content.count(b"[")
    if lists > MAX_BRACKETS:
        raise BadInput(f"{where} has {lists:,} lists; at most {MAX_BRACKETS:,} are read.")
    mark = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    start = _end_of(_SPACE, content, mark)
    if content[start : start + 1] == b"[":
        value, end = _list(content, start, where, most)
        _check_over(content, end, where)
        return {"": value}
    if content[start : start + 1] != b"{":
        raise BadInput(f"{where} holds no list of numbers.")
    found: dict[str, Any] = {}
    for name, value in _members(content, start + 1, where, most):
        if name in found:
            raise BadInput(f"{where} holds {short(name, 60)} twice.")
        found[name] = value
    return found


def _members(content: bytes, at: int, where: str, most: int) -> Iterator[tuple[str, Any]]:
    """Yield the names of an object with their lists and objects; what is neither is passed over."""
    empty = _end_of(_SPACE, content, at)
    if content[empty : empty + 1] == b"}":
        _check_over(content, empty + 1, where)
        return
    for _ in range(MAX_ARRAYS):
        key = _KEY.match(content, at)
        if not key:
            raise BadInput(f"{where} is not valid JSON near “{_near(content, at)}”.")
        at = key.end()
        name = _text(content, *key.span(1), where)
        place = f"{where}, {short(name, 60)}"
        if content[at : at + 1] == b"[" and not _WORDS.match(content, at):
            value, at = _list(content, at, place, most)
            most -= value.size if isinstance(value, np.ndarray) else sum(M.size for M in value)
            yield name, value
        else:
            value, at = _own(content, at, place, where)
            if isinstance(value, list | dict):
                yield name, value
        follows = _NEXT.match(content, at)
        if not follows or not follows[1]:
            raise BadInput(f"{where} is not valid JSON after “{short(name, 60)}”.")
        at = follows.end()
        if follows[1] == b"}":
            _check_over(content, at, where)
            return
    raise BadInput(f"{where} holds more than {MAX_ARRAYS:,} names.")


def _own(content: bytes, at: int, place: str, where: str) -> tuple[Any, int]:
    """Return Python's own objects, of a part of the text that has room for words alone, and where
    they end.
    """
    for most in (MOST_SHORT, MAX_HEADER):
        text = _text(content, at, at + most, where)
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            continue
        if end < len(text) or at + most >= len(content):  # else a number may go on
            return value, at + len(text[:end].encode())
    raise BadInput(f"{place} is not valid JSON, or too long for words.")


def _text(content: bytes, begin: int, end: int, where: str) -> str:
    """Return a part of the text; of a letter that the end cuts nothing."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(content[begin:end])
    except UnicodeDecodeError as problem:
        at = begin + problem.start
        raise BadInput(
            f"{where} is not UTF-8 text: byte {at + 1} is {content[at]:#04x}; save it as UTF-8."
        ) from None


def _near(content: bytes, at: int) -> str:
    return short(content[at : at + 30].decode("utf-8", "replace").strip(), 24)


def _check_over(content: bytes, at: int, where: str) -> None:
    if _end_of(_SPACE, content, at) < len(content):
        raise BadInput(f"{where} has text after its JSON: “{_near(content, at)}”.")


def _end_of(pattern: re.Pattern[bytes], content: bytes, at: int) -> int:
    found = pattern.match(content, at)
    return found.end() if found else at


def _list(content: bytes, start: int, where: str, most: int) -> tuple[Any, int]:
    """Return the list that begins there, as an array or a list of arrays, and where it ends."""
    shapes, end = _shapes(content, start, where)
    counts = [math.prod(shape) for shape in shapes]
    if sum(counts) > most:
        raise BadInput(f"{where} holds {sum(counts):,} numbers; at most {most:,} are read.")
    if _NO_NUMBER.search(content, start, end):
        raise BadInput(f"{where} is not valid JSON: a comma has no number or list beside it.")
    flat = np.empty(sum(counts), np.float32)
    _read(content, start, end, flat, where)
    flat = locked(flat)  # else each that keeps a part of it would copy it
    if len(set(shapes)) == 1:
        # a list of numbers alone is its own only part
        alone = content.find(b"]", start, end) == end - 1
        return flat.reshape(shapes[0] if alone else (len(shapes), *shapes[0])), end
    parts = np.split(flat, np.cumsum(counts[:-1]))
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)], end


def _shapes(content: bytes, start: int, where: str) -> tuple[list[Shape], int]:
    """Return the shapes of the lists directly inside of one, or its own where it has none, and
    where it ends.

    Between lists is a comma, and numbers are in the innermost ones alone.
    """
    counts: list[int] = []  # of the lists in each that is open,
    inside: list[Shape] = []  # and the shape of the first of them
    shapes: list[Shape] = []
    last, after = start, b""
    for bracket in _BRACKET.finditer(content, start):
        at, this = bracket.start(), bracket[0]
        if this == b"[":
            if len(counts) > DEEPEST:
                raise BadInput(f"{where} is nested more than {DEEPEST + 1} lists deep.")
            _check_between(content, last, at, b"," if after == b"]" else b"", where)
            counts.append(0)
            inside.append(())
        else:
            count, first = counts.pop(), inside.pop()
            if count:
                _check_between(content, last, at, b"", where)
            elif not content[last:at].strip():
                raise BadInput(f"{where} has an empty list.")
            shape = (count, *first) if count else (content.count(b",", last, at) + 1,)
            if not counts:
                return shapes or [shape], at + 1
            if len(counts) == 1:
                shapes.append(shapes[-1] if shapes and shapes[-1] == shape else shape)
            elif counts[-1] and shape != inside[-1]:
                raise BadInput(f"{where} has rows of different lengths inside of one layer.")
            counts[-1] += 1
            inside[-1] = shape
        last, after = at + 1, this
    raise BadInput(f"{where} is not complete JSON: a “]” is missing.")


def _check_between(content: bytes, begin: int, end: int, mark: bytes, where: str) -> None:
    """Refuse anything but a mark and space between two brackets."""
    between = content[begin:end].strip()
    if between == mark:
        return
    if between.strip(b", \t\r\n"):
        raise BadInput(f"{where} has something other than lists beside lists.")
    raise BadInput(f"{where} is not valid JSON: lists need one comma between them.")


def _read(content: bytes, begin: int, end: int, flat: np.ndarray, where: str) -> None:
    """Read the numbers between two places into an array, a block of the text at a time."""
    done = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # of what is no number
        while begin < end:
            stop = end
            if begin + BLOCK < end:
                comma = content.rfind(b",", begin, begin + BLOCK)
                comma = comma if comma >= 0 else content.find(b",", begin + BLOCK, end)
                stop = comma if comma >= 0 else end
            block = content[begin:stop].translate(_OUT)
            count = block.count(b",") + 1
            try:
                values = np.fromstring(block, np.float32, sep=",")
            except (DeprecationWarning, ValueError):
                values = flat[:0]
            if values.size != count or block.translate(None, _OF_NUMBERS):
                raise BadInput(f"{where} holds something other than numbers.")
            flat[done : done + count] = values
            done, begin = done + count, stop + 1
