"""A capture as a stranger's file: every size is compared with a bound before anything is made."""

from __future__ import annotations

import math
from typing import Any

from attention.limits import (
    MAX_HEADER,
    MAX_MASKS,
    MAX_RANK,
    BadInput,
)
from attention.models.taken import ARRAYS, FORMAT, Counts, Taken, beyond, header_of, is_for_long
from attention.vocabulary.numbers import megabytes
from attention.vocabulary.sentences import capital

LONG_OPENS = "Long context opens it"
LESS = "choose layers=, heads=, queries= or calls= of capture"
WEIGHTS = "holds a model’s weights and no capture; “Your data” on Explore opens them"


def opened(content: bytes, where: str, *, is_drawn: bool = True) -> Taken:
    """The capture in a file; one sentence where it is another, damaged, or more than is read.

    ``is_drawn``: whether all its heads are drawn at once, which bounds their numbers.

    >>> opened(b"", "run.safetensors")
    Traceback (most recent call last):
        ...
    attention.limits.BadInput: run.safetensors is not a complete .safetensors file.
    """
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
    """What there is, and how many bytes are made of the masks, by the header alone."""
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
    """The shapes of a call's Q, K and V; of finished weights they have no columns."""
    if f"{name}.weights" not in header:
        return [_shape(header, f"{name}.{letter}") for letter in "QKV"]
    b, h, n_q, n_k = _shape(header, f"{name}.weights")
    return [(b, h, n, 0) for n in (n_q, n_k, n_k)]


def _shape(header: dict[str, Any], name: str) -> tuple[int, ...]:
    """The four axes of an array."""
    shape = _rank(header[name])
    if len(shape) != MAX_RANK:
        raise ValueError(name)
    return shape


def _rank(entry: dict[str, Any]) -> tuple[int, ...]:
    shape = tuple(entry["shape"])
    if len(shape) > MAX_RANK or not all(type(side) is int and side >= 0 for side in shape):
        raise ValueError("a shape")
    return shape
