"""A capture as a stranger's file: every size is compared with a bound before anything is made."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from attention.limits import (
    MAX_CAPTURE,
    MAX_CAPTURED_CELLS,
    MAX_HEADER,
    MAX_LONG_WEIGHTS,
    MAX_MASKS,
    MAX_RANK,
    BadInput,
)
from attention.models.taken import ARRAYS, FORMAT, Counts, Taken, beyond, header_of, is_for_long
from attention.readers.cells.entry import REFUSED
from attention.readers.files import array_files
from attention.readers.opening import check_not_utf16
from attention.readers.texts.json_numbers import layers_in
from attention.vocabulary.numbers import megabytes
from attention.vocabulary.sentences import capital

LONG_OPENS = "Long context opens it"
LESS = "choose layers=, heads=, queries= or calls= of capture"
WEIGHTS = "holds a model’s weights and no capture; “Your data” on Explore opens them"


def opened(content: bytes, where: str, *, is_drawn: bool = True) -> Taken:
    """Return the capture in a file, or finished weights; raise one sentence where it is another or
    damaged, or holds more than is read.

    ``is_drawn``: whether all its heads are drawn at once, which bounds their numbers.

    >>> opened(b"", "run.safetensors")
    Traceback (most recent call last):
        ...
    attention.limits.BadInput: run.safetensors is not a complete .safetensors file.
    """
    if are_weights(content, where):
        return opened_weights(content, where, is_drawn=is_drawn)
    try:
        header, about, _ = header_of(content, where, MAX_HEADER)
    except BadInput:
        if _is_checkpoint(content):
            raise BadInput(f"{where} {WEIGHTS}.") from None
        raise
    try:
        counts, masks = _sizes(header, about)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise BadInput(f"{where} is a damaged capture.") from None
    if said := beyond(len(header), counts, is_drawn):
        ways = f"{LESS}, or attention.verify in Python."
        if not beyond(len(header), counts, False) and _first_is_for_long(header, about):
            raise BadInput(f"{where} {said}. {LONG_OPENS}; or {ways}")
        raise BadInput(f"{where} {said}. {capital(ways)}")
    if masks > MAX_MASKS:
        most = megabytes(MAX_MASKS)
        raise BadInput(
            f"{where} has masks of {megabytes(masks)} in memory; at most {most} are read."
        )
    taken = Taken.of_bytes(content, where)
    if not taken.calls:
        raise BadInput(f"{where} is a capture of nothing.")
    return taken


def are_weights(content: bytes, where: str) -> bool:
    """Check whether a file can only hold finished weights: arrays or JSON, and no capture."""
    begins = content[:6] == b"\x93NUMPY" or content[:2] == b"PK"
    return begins or where.lower().endswith((".npy", ".npz", ".json"))


def opened_weights(
    content: bytes, where: str, *, is_drawn: bool = True, size: int = MAX_CAPTURE
) -> Taken:
    """Return the finished attention weights in a .npy, .npz or .json as a capture.

    A .npy is (layers, items, heads, queries, keys), or has fewer axes in front; a .npz and a JSON
    object hold such an array, or one of each layer, and may hold the words as ``tokens``. Numbers
    are counted by the headers, and in JSON by its commas, before any is read.

    >>> opened_weights(b"[[[1, 0], [0.25, 0.75]]]", "mine.json")[0].weights.shape
    (1, 1, 2, 2)
    """
    array_files.check_size(content, where, size)
    given: Any
    if array_files.is_arrays(where, content):
        given, tokens = _in_arrays(content, where, is_drawn, size)
    else:
        check_not_utf16(content, where)
        found = layers_in(content, where, _most(is_drawn))
        tokens = found.pop("tokens", [])
        found = {name: each for name, each in found.items() if _are_layers(each)}
        given = found.get("", found)
        shapes = [M.shape for each in found.values() for M in _each(each)]
        _check_room(shapes, where, is_drawn)
        if not found:
            raise BadInput(f"{where} holds no attention weights.")
    if isinstance(given, dict) and len(given) == 1:
        (given,) = given.values()
    elif isinstance(given, dict) and all(_UNNAMED.fullmatch(name) for name in given):
        given = list(given.values())
    try:
        return Taken.of_weights(given, tokens=tokens, model=where)
    except (TypeError, ValueError) as problem:
        raise BadInput(f"{where}: {problem}") from None


_UNNAMED = re.compile(r"arr_\d{1,6}")  # by np.savez without names


def _in_arrays(
    content: bytes, where: str, is_drawn: bool, size: int
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the arrays of a .npy or .npz by name, and the words of a .npz."""
    bounds = array_files.Bounds(size, _most(is_drawn), MAX_RANK + 1)
    found = array_files.entries(where, content, bounds)
    words = array_files.words_in(content) if content[:2] == b"PK" else None
    if words == ():
        raise BadInput(f"{where}, tokens {NO_WORDS}.")
    _check_room([entry.shape for entry in found.values()], where, is_drawn)
    for entry in found.values():
        if entry.dtype == REFUSED:
            raise BadInput(entry.remark)
        if entry.dtype not in FLOATS:
            raise BadInput(f"{where} holds {entry.dtype}; expected floats, of attention weights.")
    held = sum(math.prod(entry.shape) * FLOATS[entry.dtype] for entry in found.values())
    if held > MOST_GROWN * size:
        raise BadInput(
            f"{where} takes {megabytes(held)} in memory; at most {megabytes(MOST_GROWN * size)}"
            " are read."
        )
    return {name: np.asarray(entry.read()) for name, entry in found.items()}, list(words or ())


FLOATS = {"float16": 4, "float32": 4, "float64": 8}  # bytes of each number as it is kept
MOST_GROWN = 4  # times the bytes of a file
NO_WORDS = (
    "is expected to be text with one axis, as np.array(words) gives it: at most 9,999 words of up"
    " to 999 characters"
)


def _most(is_drawn: bool) -> int:
    """Return how many weights of all arrays are read."""
    return MAX_CAPTURED_CELLS if is_drawn else MAX_LONG_WEIGHTS


def _each(given: Any) -> list[np.ndarray]:
    return given if isinstance(given, list) else [given]


def _are_layers(value: Any) -> bool:
    return not isinstance(value, dict) and all(isinstance(M, np.ndarray) for M in _each(value))


def _check_room(shapes: list[tuple[int, ...]], where: str, is_drawn: bool) -> None:
    """Refuse more heads or weights than are shown, by the shapes of all arrays."""
    heads = sum(math.prod(shape[:-2]) for shape in shapes)
    counts = Counts(heads, sum(map(math.prod, shapes)), 0)
    if said := beyond(len(shapes), counts, is_drawn):
        fits = is_drawn and not beyond(len(shapes), counts, False)
        raise BadInput(f"{where} {said}.{f' {LONG_OPENS}, a layer at a time.' if fits else ''}")


def _first_is_for_long(header: dict[str, Any], about: dict[str, Any]) -> bool:
    """Check whether its first call, by the header, is within the bounds of Long context."""
    first = next(iter(about["layers"]), None)
    return first is not None and is_for_long(*_sides(header, first))


def _is_checkpoint(content: bytes) -> bool:
    """Whether it begins as a .safetensors without anything of ours."""
    length = int.from_bytes(content[:8], "little")
    ours = content.find(FORMAT.encode(), 8, 8 + length) >= 0
    return 0 < length <= len(content) - 8 and content[8:10] == b'{"' and not ours


def _sizes(header: dict[str, Any], about: dict[str, Any]) -> tuple[Counts, int]:
    """Return what there is, and how many bytes are made of the masks, by the header alone."""
    calls, made = [], 0
    for name in about["layers"]:
        Q, K, V = _sides(header, name)
        (b, h, n_q, d_k), n_k, d_v = Q, V[2], V[3]
        alone = f"{name}.weights" in header
        if min(b, h, n_q, n_k) < 1 or (not alone and min(d_k, d_v) < 1):
            raise ValueError(name)
        calls.append((Q, (b, h, n_k, d_v)))
        scores = (b, h, n_q, n_k)
        masks = [mask for mask in ("mask", "allowed", "bias") if f"{name}.{mask}" in header]
        shapes = [_shape(header, f"{name}.{mask}") for mask in masks]
        for mask, shape in zip(masks, shapes, strict=True):
            if any(side not in (1, most) for side, most in zip(shape, scores, strict=True)):
                raise ValueError(mask)
        if masks != ["allowed"]:  # booleans of what is added, and that without what hides
            widths = [_WIDTHS[header[f"{name}.{mask}"]["dtype"]] for mask in masks]
            # where both are there, their sum, and what is left of that
            width = 16 if {"mask", "bias"} <= set(masks) else max(widths, default=0)
            joined = [max(sides) for sides in zip(*shapes, strict=True)] if shapes else [0]
            made += math.prod(joined) * (1 + width)
    known = {f"{name}.{array}" for name in about["layers"] for array in (*ARRAYS, "mask")}
    if set(header) - known or any(math.prod(_rank(entry)) < 0 for entry in header.values()):
        raise ValueError("another array")
    return Counts.of(calls), made


_WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BOOL": 1}  # bytes of a number


def _sides(header: dict[str, Any], name: str) -> list[tuple[int, ...]]:
    """Return the shapes of a call's Q, K and V; of finished weights they have no columns."""
    if f"{name}.weights" not in header:
        return [_shape(header, f"{name}.{letter}") for letter in "QKV"]
    b, h, n_q, n_k = _shape(header, f"{name}.weights")
    return [(b, h, n, 0) for n in (n_q, n_k, n_k)]


def _shape(header: dict[str, Any], name: str) -> tuple[int, ...]:
    """Return the four axes of an array."""
    shape = _rank(header[name])
    if len(shape) != MAX_RANK:
        raise ValueError(name)
    return shape


def _rank(entry: dict[str, Any]) -> tuple[int, ...]:
    shape = tuple(entry["shape"])
    if len(shape) > MAX_RANK or not all(type(side) is int and side >= 0 for side in shape):
        raise ValueError("a shape")
    return shape
