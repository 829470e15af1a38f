"""An array on its way to be an input: the wanted rows or part, checked, the right way round."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attention.arrays.layouts import join_heads
from attention.limits import LIMIT, MAX_DIMENSION, MAX_ELEMENTS, MAX_TOKENS, BadInput
from attention.readers.cells.entry import ALONE, ArrayEntry, Index, shape_of, short, shown
from attention.readers.cells.mask_polarity import HIDDEN_FROM, as_allowed, is_added
from attention.readers.cells.printouts import brief, sides
from attention.vocabulary.numbers import number
from attention.vocabulary.stages import WEIGHTS

MASK, FINISHED = "mask", "weights"
TRANSPOSED = ", transposed"  # at the end of where a weight is from
# What the axis before the rows of Q, K and V counts.
AXES = {"batch": "items of a batch", "heads": "heads"}


class TooWide(BadInput):
    """Weights wider than the board; attention.capture shows such a layer."""


@dataclass(frozen=True)
class Selection:
    """How the user wants an array to be read."""

    words: str = ""  # the rows wanted, by their labels
    cut: str = ""  # the part wanted, as NumPy writes it: "0, :, 64:128"
    transposed: bool = False  # a weight: stored as (out, in); X: one column for each token
    true_means: str = "may look"  # in a mask
    axis: str = "batch"  # a name in AXES


AS_IT_IS = Selection()


@dataclass(frozen=True, eq=False)
class SelectedArray:
    """An array as it is to be used, and what the user should know of how it was read."""

    values: np.ndarray
    tokens: tuple[str, ...] = ()
    transposed: bool = False  # the user said so: the values are (in, out)
    heads: int | None = None  # where they stood beside each other in an axis of their own
    remarks: tuple[str, ...] = ()
    source: str = ""  # the file and its tensor, as exports name them


def select(entry: ArrayEntry, role: str, where: str, asked: Selection = AS_IT_IS) -> SelectedArray:
    """Return the numbers of an array as this input.

    In order: the rows or the slice that is wanted, counted before it is read; the axes the input
    has; the numbers checked; last, a weight transposed to (in, out).
    """
    place = where if entry.name == ALONE else f"{where}, {shown(entry.name, 60)}"
    values, tokens = _part(entry, role, place, asked)
    selected = SelectedArray(values, tokens, remarks=(entry.remark,) if entry.remark else ())
    selected = _ranked(selected, role, place, asked.axis)
    if role == MASK:
        return _as_mask(selected, asked.true_means, place)
    if values.dtype == bool:
        raise BadInput(f"{place} holds bool; that is a mask, and {role} needs numbers.")
    selected = replace(selected, values=_finite(selected.values, place))
    if entry.heads and role in ("W_Q", "Q") and not asked.cut.strip() and not selected.heads:
        told = f"{entry.heads} heads share the columns of {role}, as its file says."
        selected = replace(selected, heads=entry.heads, remarks=(*selected.remarks, told))
    if role in WEIGHTS and asked.transposed:
        return replace(selected, values=selected.values.T, transposed=True)
    if role == "X" and asked.transposed:  # one column for each token
        return replace(selected, values=selected.values.swapaxes(-1, -2), tokens=())
    return selected


def thirds(shape: Sequence[int]) -> list[str]:
    """Return the slices of three equal parts along the longer side of a matrix, if it has them.

    >>> thirds((64, 192)), thirds((12, 4)), thirds((64, 64))
    ([':, 0:64', ':, 64:128', ':, 128:192'], ['0:4, :', '4:8, :', '8:12, :'], [])
    """
    if len(shape) != 2 or shape[0] == shape[1] or max(shape) % 3:
        return []
    third = max(shape) // 3
    parts = [f"{k * third}:{(k + 1) * third}" for k in range(3)]
    return [f":, {part}" if shape[1] > shape[0] else f"{part}, :" for part in parts]


def too_wide(what: str) -> TooWide:
    """Return the refusal of weights wider than the board."""
    return TooWide(
        f"{what}; the board holds at most {MAX_DIMENSION} × {MAX_DIMENSION}. Record the layer with"
        " attention.capture while your model runs, and open it on Real model."
    )


def _part(
    entry: ArrayEntry, role: str, place: str, asked: Selection
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the rows or the part that is wanted, with its labels."""
    if asked.words.strip():
        rows, tokens = _labelled_rows(entry, place, asked.words)
        cut = rows[_index(rows.shape, asked.cut, place)]
        return cut, _sliced_labels(tokens, rows.shape, asked.cut)
    if entry.pick and entry.shape[0] > MAX_TOKENS:
        raise BadInput(
            f"{place} holds {entry.shape[0]:,} words; type those you want, at most {MAX_TOKENS:,}."
        )
    index = _index(entry.shape, asked.cut, place)
    shape = shape_of(entry.shape, index)
    large = math.prod(shape) > MAX_ELEMENTS or min(shape, default=0) > MAX_DIMENSION
    if role in WEIGHTS and len(shape) == 2 and large:
        raise too_wide(f"{place}: {role} would be {sides(shape)}")
    return entry.of_part(index), _sliced_labels(entry.rows, entry.shape, asked.cut)


def _ranked(selected: SelectedArray, role: str, place: str, axis: str) -> SelectedArray:
    """With as many axes as the input has: two, or a batch in front; heads beside each other."""
    values = selected.values
    if (
        role == MASK
        and values.ndim > 2
        and (values == values.reshape(-1, *values.shape[-2:])[0]).all()
    ):
        values = values.reshape(-1, *values.shape[-2:])[0]  # the same for every item and head
    most, remarks, heads = 2 if role in (*WEIGHTS, MASK) else 3, selected.remarks, None
    if role in "QKV" and axis == "heads" and values.ndim > 2:
        heads, values = values.shape[-3], join_heads(values)
    elif role == FINISHED:  # a batch of one in front of heads is none
        values = values[0] if values.ndim == 4 and len(values) == 1 else values
    elif values.ndim == 3 == most:
        remarks = (*remarks, f"{role} has three axes: taken as a batch of {len(values)}.")
    if values.ndim == 1:
        raise BadInput(f"{place} is {size(values.shape)}; reshape it to (rows, columns).")
    if not 2 <= values.ndim <= most or not values.size:
        of = "heads" if role == FINISHED else "a batch"
        expected = "two axes" if most == 2 else f"two axes, or three with {of},"
        raise BadInput(
            f"{place} is {size(values.shape)}; expected {expected} for {role}. Cut it to that."
        )
    return replace(selected, values=values, heads=heads, remarks=remarks)


def gather(
    arrays: dict[str, ArrayEntry],
    picks: dict[str, tuple[str, Selection]],
    where: str,
    typed: bool = False,
) -> dict[str, SelectedArray]:
    """Return the chosen arrays, each as its input: ``picks`` says which one, and how to take it.

    ``typed`` says that a person typed or pasted them, into no file.
    """
    place = "typed" if typed else shown(where, 100)
    return {
        role: replace(
            select(arrays[name], role, where, asked), source=_source(place, name, role, asked)
        )
        for role, (name, asked) in picks.items()
    }


def _source(place: str, name: str, role: str, asked: Selection) -> str:
    """Where an array is from, with its name, the part that was cut, and whether it was turned."""
    part = "" if name == ALONE else short(name, 100)
    part += f"[{asked.cut.strip('[] ')}]" if asked.cut.strip() else ""
    turned = TRANSPOSED if role in ("X", *WEIGHTS) and asked.transposed else ""
    return (f"{place}, {part}" if part else place) + turned


def _as_mask(selected: SelectedArray, true_means: str, place: str) -> SelectedArray:
    values = selected.values.astype(np.float64)
    said = f"True and 1 were read as “{true_means}”."
    if is_added(values):
        low = number(values.min())
        said = f"0 was read as “may look”, {low} as “hidden”."
        if (values[values != 0] > HIDDEN_FROM).any():
            said = f"{low} was read as “hidden”; the other numbers of the mask are ignored."
    return SelectedArray(as_allowed(values, true_means, place), remarks=(*selected.remarks, said))


def _labelled_rows(entry: ArrayEntry, place: str, words: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the rows of a table with these labels, in that order."""
    chosen = wanted(entry, words, place)
    values = entry.pick(chosen) if entry.pick else entry.read()[..., chosen, :]
    return values, tuple(entry.rows[row] for row in chosen)


def wanted(entry: ArrayEntry, words: str, place: str) -> list[int]:
    """Return the rows with these labels, in the order typed.

    Between labels stand spaces, or commas where labels have spaces. A label that stands there
    several times is taken row by row, each time it is typed; a word that is not there is answered
    with near ones.
    """
    places: dict[str, deque[int]] = {}
    for row, label in enumerate(entry.rows):
        places.setdefault(label, deque()).append(row)
    for label in entry.rows:  # " the" may be typed without its space
        places.setdefault(label.strip(), places[label])
    typed = [words.strip()] if words.strip() in places else words.split()
    if "," in words and not all(word in places for word in typed):
        typed = [word.strip() for word in words.split(",") if word.strip()]
    chosen = []
    for word in typed:
        if word not in places:
            labels = dict.fromkeys(label.strip() for label in places)
            near = [label for label in labels if label.lower().startswith(word.lower())][:8]
            hint = f"; it has {', '.join(short(label, 20) for label in near)}" if near else ""
            raise BadInput(f"{place} has no word “{short(word, 24)}”{hint}.")
        rows = places[word]
        chosen.append(rows.popleft() if len(rows) > 1 else rows[0])
    return chosen


def _sliced_labels(labels: tuple[str, ...], shape: Sequence[int], text: str) -> tuple[str, ...]:
    """Return the labels of the rows that a slice leaves; none where it takes one row."""
    parts = [part.strip() for part in text.strip("[] ").split(",") if part.strip()]
    row = len(shape) - 2
    if not labels or len(parts) <= row or parts[row] == ":":
        return labels
    bounds = re.fullmatch(r"(\d{0,6}):(\d{0,6})", parts[row])
    return labels[int(bounds[1] or 0) : int(bounds[2]) if bounds[2] else None] if bounds else ()


def _index(shape: Sequence[int], text: str, place: str) -> Index:
    """Return a part of an array, as NumPy writes it, counted from 0: whole numbers, a:b and :."""
    parts = [part.strip() for part in text.strip("[] ").split(",") if part.strip()]
    if len(parts) > len(shape):
        raise BadInput(
            f"{place} has {len(shape)} axes; the slice “{short(text, 24)}” has {len(parts)}."
        )
    index: list[int | slice] = []
    for length, part in zip(shape, parts, strict=False):
        match = re.fullmatch(r"(\d{1,6})|(\d{0,6}):(\d{0,6})", part)
        if not match:
            raise BadInput(
                f"“{short(part, 24)}” is not a slice; expected a number such as 0, a range such as"
                " 0:64, or “:”."
            )
        one, start, end = match.groups()
        first = int(one or start or 0)
        stop = first + 1 if one else int(end) if end else length
        if not first < stop <= length:
            raise BadInput(
                f"the slice {part} lies outside of {place}, which is {size(shape)}; places count"
                " from 0."
            )
        index.append(first if one else slice(first, stop))
    return tuple(index)


def _finite(values: np.ndarray, place: str) -> np.ndarray:
    """As float64, which holds each accepted number exactly; any other is refused by its place."""
    original, values = values, values.astype(np.float64)
    odd = np.argwhere(~(np.abs(values) <= LIMIT))
    if len(odd):
        value, words = original[tuple(odd[0])], ["block"] * (values.ndim - 2) + ["row", "column"]
        at = ", ".join(f"{word} {k + 1}" for word, k in zip(words, odd[0], strict=True))
        raise BadInput(
            f"{place}, {at} holds {brief(value)}; numbers from -1e12 to 1e12 are allowed."
        )
    return values


def size(shape: Sequence[int]) -> str:
    """Return the shape in words."""
    return f"{sides(shape)} numbers in one axis" if len(shape) == 1 else sides(shape)
