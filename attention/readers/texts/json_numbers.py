"""Nested lists of numbers in JSON as arrays, without a Python object for each number.

Attention weights of a model are millions of numbers; as Python's floats they would take ten times
their text.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from attention.limits import MAX_ARRAYS, MAX_BRACKETS, MAX_HEADER, MAX_RANK, BadInput
from attention.readers.cells.entry import short

DEEPEST = MAX_RANK + 1  # layers, items, heads, queries and keys
_BRACKET = re.compile(r"[\[\]]")
_KEY = re.compile(r'\s*+"((?:[^"\\]|\\.){0,200}+)"\s*+:\s*+')
_NEXT = re.compile(r"\s*+(,|\}|$)")
_SPACE = re.compile(r"\s*+")
_WORDS = re.compile(r"\[\s*+(?:\[\s*+)?\"")
_OUT = str.maketrans("[]", "  ")


def layers_in(text: str, where: str, most: int) -> dict[str, Any]:
    """Return the members of a JSON object, or a list under ``""``: arrays, lists of arrays, words.

    A list whose parts differ in shape is a list of arrays. All together hold at most ``most``
    numbers, which is counted before any is read; they are float32.

    >>> layers_in("[[[0.5, 0.5]], [[1, 0, 0]]]", "a.json", 10)[""]
    [array([[0.5, 0.5]], dtype=float32), array([[1., 0., 0.]], dtype=float32)]
    >>> layers_in('{"tokens": ["a"], "A": [[1]]}', "a.json", 10)
    {'tokens': ['a'], 'A': array([[1.]], dtype=float32)}
    """
    if text.count("[") > MAX_BRACKETS:
        raise BadInput(f"{where} has {text.count('['):,} lists; at most {MAX_BRACKETS:,} are read.")
    start = _end_of(_SPACE, text, 0)
    if text[start : start + 1] == "[":
        value, end = _list(text, start, where, most)
        _check_over(text, end, where)
        return {"": value}
    if text[start : start + 1] != "{":
        raise BadInput(f"{where} holds no list of numbers.")
    return dict(_members(text, start + 1, where, most))


def _members(text: str, at: int, where: str, most: int) -> Iterator[tuple[str, Any]]:
    """Yield the names and lists of an object; what is no list is passed over."""
    for _ in range(MAX_ARRAYS):
        key = _KEY.match(text, at)
        if not key:
            raise BadInput(f"{where} is not valid JSON near “{short(text[at : at + 30], 24)}”.")
        at = key.end()
        place = f"{where}, {short(key[1], 60)}"
        if text[at : at + 1] == "[" and not _WORDS.match(text, at):
            value, at = _list(text, at, place, most)
            most -= value.size if isinstance(value, np.ndarray) else sum(M.size for M in value)
            yield key[1], value
        else:
            try:
                # Python's own objects, of a part of the text that has room for words alone
                value, end = json.JSONDecoder().raw_decode(text[at : at + MAX_HEADER])
            except (ValueError, RecursionError):
                raise BadInput(f"{place} is not valid JSON, or too long for words.") from None
            at += end
            if isinstance(value, list):
                yield key[1], value
        follows = _NEXT.match(text, at)
        if not follows or not follows[1]:
            raise BadInput(f"{where} is not valid JSON after “{short(key[1], 60)}”.")
        at = follows.end()
        if follows[1] == "}":
            _check_over(text, at, where)
            return
    raise BadInput(f"{where} holds more than {MAX_ARRAYS:,} names.")


def _check_over(text: str, at: int, where: str) -> None:
    if _end_of(_SPACE, text, at) < len(text):
        raise BadInput(
            f"{where} has text after its JSON: “{short(text[at : at + 30].strip(), 24)}”."
        )


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _list(text: str, start: int, where: str, most: int) -> tuple[Any, int]:
    """Return the list that begins there, as an array or a list of arrays, and where it ends."""
    parts, end = _parts(text, start, where)
    if parts[0][1] != start:
        _check_between(text, start + 1, parts, end - 1, where)
    count = sum(int(np.prod(shape)) for shape, _, _ in parts)
    if count > most:
        raise BadInput(f"{where} holds {count:,} numbers; at most {most:,} are read.")
    arrays = [_numbers(text, *part, where) for part in parts]
    if len({M.shape for M in arrays}) == 1:
        whole = np.stack(arrays) if parts[0][1] != start else arrays[0]
        return whole, end
    return arrays, end


Part = tuple[tuple[int, ...], int, int]  # its shape, and where its text begins and ends


def _parts(text: str, start: int, where: str) -> tuple[list[Part], int]:
    """Return the lists directly inside of one, or itself where it has none, and where it ends."""
    open_lists: list[tuple[int, list[tuple[int, ...]]]] = []
    parts: list[Part] = []
    for bracket in _BRACKET.finditer(text, start):
        at = bracket.start()
        if bracket[0] == "[":
            if len(open_lists) > DEEPEST:
                raise BadInput(f"{where} is nested more than {DEEPEST + 1} lists deep.")
            open_lists.append((at, []))
            continue
        begin, inside = open_lists.pop()
        shape: tuple[int, ...] = (len(inside), *inside[0]) if inside else ()
        if not inside:
            shape = (text.count(",", begin, at) + 1,)
        elif len(open_lists) and len(set(inside)) > 1:
            raise BadInput(f"{where} has rows of different lengths inside of one layer.")
        if not open_lists:
            return parts or [(shape, start, at + 1)], at + 1
        open_lists[-1][1].append(shape)
        if len(open_lists) == 1:
            parts.append((shape, begin, at + 1))
    raise BadInput(f"{where} is not complete JSON: a “]” is missing.")


def _check_between(text: str, at: int, parts: list[Part], end: int, where: str) -> None:
    """Refuse anything but commas between the parts of a list."""
    for k, (_, begin, after) in enumerate(parts):
        if text[at:begin].strip() != ("," if k else ""):
            raise BadInput(f"{where} has something else than lists beside lists.")
        at = after
    if text[at:end].strip():
        raise BadInput(f"{where} has something else than lists beside lists.")


def _numbers(text: str, shape: tuple[int, ...], begin: int, end: int, where: str) -> np.ndarray:
    """Return the numbers between two places of a text, in float32."""
    inside = text[begin:end].translate(_OUT)
    if not inside.strip():
        raise BadInput(f"{where} has an empty list.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # of what is no number
            flat = np.fromstring(inside, np.float32, sep=",")
    except (DeprecationWarning, ValueError):
        raise BadInput(f"{where} holds something else than numbers.") from None
    if flat.size != int(np.prod(shape)):
        raise BadInput(f"{where} has numbers beside lists, or empty lists.")
    return flat.reshape(shape)
