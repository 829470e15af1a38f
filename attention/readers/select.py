"""An array on its way to be an input: the wanted rows and part, checked, the right way round."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from attention.heads import join_heads
from attention.limits import LIMIT, MAX_TOKENS, BadInput
from attention.readers.differences import stays_behind
from attention.readers.entry import ALONE, ArrayEntry, short, shown
from attention.readers.fused import LAYOUTS, ModelHeads, outputs_of, shared
from attention.readers.mask_polarity import as_allowed, is_added
from attention.readers.model_config import ModelConfig
from attention.readers.printouts import brief, sides
from attention.readers.tensor_names import ALONE as ONE_WEIGHT
from attention.readers.tensor_names import ASKED, Part, recognised
from attention.readers.tensor_names import place as place_of
from attention.stages import WEIGHTS

MASK, FINISHED = "mask", "weights"
TRANSPOSED = ", transposed"  # at the end of where a weight is from
# What the axis before the rows of Q, K and V counts.
AXES = {"batch": "items of a batch", "heads": "heads"}


@dataclass(frozen=True)
class Selection:
    """How a person wants an array to be taken."""

    words: str = ""  # the rows wanted, by their labels
    cut: str = ""  # the part wanted, as NumPy writes it: "0, :, 64:128"
    # how a square weight matrix is stored: "in_out", "out_in", or "" where nobody said
    stored: str = ""
    true_means: str = "may look"  # in a mask
    axis: str = "batch"  # a name in AXES
    layout: str = ""  # how a tensor holds Q, K and V where its name does not say: in OFFERED
    heads: ModelHeads | None = None  # of the model the tensor is from
    beside: bool = False  # whether ``stored`` was seen at a tensor beside it


AS_IT_IS = Selection()


@dataclass(frozen=True, eq=False)
class SelectedArray:
    """An array as it is to be used, and what a person should know of how it was taken."""

    values: np.ndarray
    tokens: tuple[str, ...] = ()
    stored: str = ""
    # of the tensor, where it says which weight this is; the values are (in, out) then
    name: str = ""
    heads: int | None = None  # where they stood beside each other in an axis of their own
    remarks: tuple[str, ...] = ()
    behind: str = ""  # what the model has and the formula here has not, said before all else
    source: str = ""  # the file and its tensor, as exports name them


def select(entry: ArrayEntry, role: str, where: str, asked: Selection = AS_IT_IS) -> SelectedArray:
    """The numbers of an array as this input.

    In order: the rows that are wanted; of a tensor that holds several weights, its part; the
    slice; the axes the input has; the numbers checked; last, a weight turned to (in, out).
    """
    place = where if entry.name == ALONE else f"{where}, {shown(entry.name, 60)}"
    values, tokens = _rows(entry, place, asked.words)
    part = recognised(entry.name).get(role)
    heads, by = None, ""
    if part:
        if role == "W_Q" and part.layout == ONE_WEIGHT:
            _check_no_gate(values, asked.heads, place)
        stored, by = _stored(part, values, asked)
        values, heads = _part(part, values, stored, asked, place)
        asked = replace(asked, stored=stored)
    tokens = _labels(tokens, values, asked.cut)
    values = _cut(values, asked.cut, place)
    selected = SelectedArray(
        values, tokens, asked.stored, remarks=(entry.remark,) if entry.remark else ()
    )
    selected = _ranked(selected, role, place, asked.axis)
    if role == MASK:
        return _mask(selected, asked.true_means, place)
    if values.dtype == bool:
        raise BadInput(f"{place} holds bool; that is a mask, and {role} needs numbers.")
    selected = replace(selected, values=_finite(selected.values, place))
    if entry.heads and role in ("W_Q", "Q") and not asked.cut.strip() and not selected.heads:
        told = f"{entry.heads} heads share the columns of {role}, as its file says."
        selected = replace(selected, heads=entry.heads, remarks=(*selected.remarks, told))
    if heads and not asked.cut.strip():
        selected = replace(selected, heads=heads)
    return _turned(selected, entry.name, role, (by, asked.cut)) if part else selected


def _stored(part: Part, values: np.ndarray, asked: Selection) -> tuple[str, str]:
    """How the tensor is stored, and who says so.

    Its name does; or its longer side, where it holds three weights; or a person.
    """
    if part.stored:
        return part.stored, "by its name"
    if part.layout != ONE_WEIGHT and values.ndim == 2 and values.shape[0] != values.shape[1]:
        return ("in_out" if values.shape[1] > values.shape[0] else "out_in"), "by its longer side"
    if asked.beside:
        return asked.stored, "as the tensor beside it"
    return asked.stored or "in_out", "as you say" if asked.stored else "taken as if"


def lies_open(part: Part, shape: tuple[int, ...]) -> bool:
    """Whether the name does not say how Q, K and V lie in a tensor.

    An nn.Linear called c_attn is nanoGPT's, all of Q first, or StarCoder's, each head's together.
    """
    linear = part.layout == "in turn" and part.stored is None
    return part.layout == ASKED or linear and len(shape) == 2 and shape[0] == 3 * shape[1]


def _part(
    part: Part, values: np.ndarray, stored: str, asked: Selection, place: str
) -> tuple[np.ndarray, int | None]:
    """Of a tensor that holds several weights or heads the wanted one; and its heads, if known."""
    if part.heads_axis is not None and values.ndim == 3:
        return np.concatenate(list(values), axis=part.heads_axis), len(values)
    layout = asked.layout if lies_open(part, values.shape) else part.layout
    count = asked.heads.heads if asked.heads else None
    if layout == ONE_WEIGHT or values.ndim != 2:
        return values, count
    if layout not in LAYOUTS:
        raise BadInput(
            f"{place} holds Q, K and V in one, and its name does not say how; choose whether all of"
            " Q comes first, or Q, K and V of each head."
        )
    axis = 0 if stored == "out_in" else 1
    sides = (values.shape[axis], values.shape[1 - axis])
    return np.take(values, outputs_of(layout, part.index, sides, asked.heads, place), axis), count


def _check_no_gate(values: np.ndarray, heads: ModelHeads | None, place: str) -> None:
    """Refuse twice as many outputs as the heads have by the config.json.

    Of Qwen3-Next and Qwen3.5 they are each head's query, then a gate for what it puts out.
    """
    if heads and heads.size and values.shape[0] == 2 * heads.heads * heads.size:
        raise BadInput(
            f"{place} has {values.shape[0]} outputs, and {heads.heads} heads of {heads.size} make"
            f" {heads.heads * heads.size}; it holds a gate beside each query, which is not read."
        )


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
        raise BadInput(f"{place} is {size(values)}; reshape it to (rows, columns).")
    if not 2 <= values.ndim <= most or not values.size:
        of = "heads" if role == FINISHED else "a batch"
        wanted_axes = "two axes are" if most == 2 else f"two axes, or three with {of}, are"
        raise BadInput(
            f"{place} is {size(values)}; {wanted_axes} wanted for {role}. Cut it to that."
        )
    return replace(selected, values=values, heads=heads, remarks=remarks)


def _turned(selected: SelectedArray, name: str, role: str, how: tuple[str, str]) -> SelectedArray:
    """A weight whose name says what it is, as (in, out)."""
    turn, (by, cut) = selected.stored == "out_in", how
    way = "(out, in), and transposed" if turn else "(in, out)"
    part = f", of which {cut.strip('[] ')} was cut" if cut.strip() else ""
    told = f"{role} is {shown(name, 60)}{part}, {by} stored as {way}."
    return replace(
        selected,
        values=selected.values.T if turn else selected.values,
        name=name,
        remarks=(*selected.remarks, told),
    )


def gather(
    arrays: dict[str, ArrayEntry],
    picks: dict[str, tuple[str, Selection]],
    where: str,
    config: ModelConfig | None = None,
    typed: bool = False,
) -> dict[str, SelectedArray]:
    """The chosen arrays, each as its input: ``picks`` says which one, and how to take it.

    ``config`` is the model's own config.json, if it was brought: it says how many heads there are,
    and what stays behind. ``typed`` says that a person typed or pasted them, into no file.
    """
    chosen = [name for name, _ in picks.values()]
    place = "typed" if typed else shown(where, 100)
    selected = {
        role: _with_source(
            select(arrays[name], role, where, informed(arrays, name, asked, config)),
            _source(place, name, asked),
            config,
        )
        for role, (name, asked) in picks.items()
    }
    of_model = [name for name in chosen if recognised(name) or name.endswith("weight")]
    config = config.of(of_model[0]) if config and of_model else None
    behind = stays_behind(list(arrays), of_model, config)
    if behind:
        first = next(iter(selected))
        selected[first] = replace(selected[first], behind=behind)
    heads = next((asked.heads.heads for _, asked in picks.values() if asked.heads), None)
    heads = heads or (config.heads.heads if config and config.heads else None)
    heads = heads or next((array.heads for array in selected.values() if array.heads), None)
    cut = any(asked.cut.strip() for _, asked in picks.values())
    return selected if cut else _with_shared_keys(selected, heads)


def _source(place: str, name: str, asked: Selection) -> str:
    """Where an array is from, with its name and the part that was cut."""
    part = "" if name == ALONE else short(name, 100)
    part += f"[{asked.cut.strip('[] ')}]" if asked.cut.strip() else ""
    return f"{place}, {part}" if part else place


def _with_source(selected: SelectedArray, source: str, config: ModelConfig | None) -> SelectedArray:
    """With where it is from; of a model's weight, whether it was turned and what it was read by."""
    if selected.name:
        source += TRANSPOSED if selected.stored == "out_in" else ""
        source += f", read by the config.json beside it ({shown(config.kind)})" if config else ""
    return replace(selected, source=source)


def informed(
    arrays: dict[str, ArrayEntry], name: str, asked: Selection, config: ModelConfig | None
) -> Selection:
    """With the heads of the config.json, and which way round GPT-2's c_attn beside it lies."""
    config = config.of(name) if config else None
    if asked.heads is None:
        asked = replace(asked, heads=config.heads if config else _heads_by_shape(arrays, name))
    heads = asked.heads
    if config and config.kind == "gpt_bigcode" and heads and heads.keys == heads.heads:
        # StarCoder's c_attn is GPT-2's by name alone, where each head has keys of its own
        fused = name.endswith("attn.c_attn.weight")
        asked = replace(asked, layout="by head") if fused else asked
    beside = arrays.get(name.replace("attn.c_proj.", "attn.c_attn."))
    if not asked.stored and beside and beside.name != name and len(beside.shape) == 2:
        rows, columns = beside.shape
        if rows != columns:
            return replace(asked, stored="in_out" if columns > rows else "out_in", beside=True)
    return asked


_T5 = "SelfAttention.relative_attention_bias.weight"


def _heads_by_shape(arrays: dict[str, ArrayEntry], name: str) -> ModelHeads | None:
    """How many heads a model has, where a tensor beside this one has a number for each of them."""
    if not recognised(name):
        return None
    layer, side = place_of(name), name.partition(".")[0]
    biases = (
        entry
        for other, entry in arrays.items()
        if other.startswith(f"{side}.") and other.endswith(_T5) and len(entry.shape) == 2
    )
    if of_positions := next(biases, None):  # T5's: one column for each head
        return ModelHeads(of_positions.shape[1])
    norm, W_Q = arrays.get(f"{layer}.q_norm.weight"), arrays.get(f"{layer}.q_proj.weight")
    if norm and W_Q and len(norm.shape) == 1 and len(W_Q.shape) == 2:  # Qwen 3's, of one head
        heads, odd = divmod(W_Q.shape[0], max(norm.shape[0], 1))
        return ModelHeads(heads) if heads > 1 and not odd else None
    return None


def _with_shared_keys(
    selected: dict[str, SelectedArray], heads: int | None
) -> dict[str, SelectedArray]:
    """Where several heads share the keys and values of one, these stand once for each of them."""
    W_Q, W_K, W_V = (selected.get(f"W_{name}") for name in "QKV")
    if not (W_Q and W_K and heads and W_Q.name and W_K.name):
        return selected
    d_k, odd = divmod(W_Q.values.shape[1], heads)
    keys, over = divmod(W_K.values.shape[1], d_k or 1)
    if odd or over or not 0 < keys < heads or heads % keys:
        return selected
    told = f"{keys} of {heads} heads have keys and values, which {heads // keys} share each."
    told = told if keys > 1 else f"All {heads} heads share the keys and values of one."
    selected = dict(selected)
    for name, weight, d in (("W_K", W_K, d_k), ("W_V", W_V, 0)):
        if weight is None or not weight.name:
            continue
        size = d or weight.values.shape[1] // keys
        selected[name] = replace(
            weight,
            values=shared(weight.values, heads, size),
            heads=heads,
            remarks=(*weight.remarks, told),
        )
    return selected


def _mask(selected: SelectedArray, true_means: str, place: str) -> SelectedArray:
    values = selected.values.astype(np.float64)
    said = "0 and −∞ are added" if is_added(values) else f"True and 1 mean {true_means}"
    if is_added(values) and np.isfinite(values[values != 0]).any():
        said = "−∞ hides; its other numbers, which are added, stay behind"
    return SelectedArray(
        as_allowed(values, true_means, place), remarks=(*selected.remarks, f"The mask: {said}.")
    )


def _rows(entry: ArrayEntry, place: str, words: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """The rows of a table that are wanted, in that order; of any other array all of it."""
    if words.strip():
        chosen = wanted(entry, words, place)
        return entry.pick(chosen) if entry.pick else entry.read()[..., chosen, :], tuple(
            entry.rows[row] for row in chosen
        )
    if entry.pick and entry.shape[0] > MAX_TOKENS:
        raise BadInput(
            f"{place} holds {entry.shape[0]:,} words; type those you want, at most {MAX_TOKENS:,}."
        )
    return entry.read(), entry.rows


def wanted(entry: ArrayEntry, words: str, place: str) -> list[int]:
    """The rows with these labels, in the order typed.

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


def _labels(labels: tuple[str, ...], values: np.ndarray, text: str) -> tuple[str, ...]:
    """The labels of the rows that a slice leaves; none where it takes one row."""
    parts = [part.strip() for part in text.strip("[] ").split(",") if part.strip()]
    row = values.ndim - 2
    if not labels or len(parts) <= row or parts[row] == ":":
        return labels
    bounds = re.fullmatch(r"(\d{0,6}):(\d{0,6})", parts[row])
    return labels[int(bounds[1] or 0) : int(bounds[2]) if bounds[2] else None] if bounds else ()


def _cut(values: np.ndarray, text: str, place: str) -> np.ndarray:
    """A part of an array, as NumPy writes it, counted from 0: whole numbers, a:b and :."""
    parts = [part.strip() for part in text.strip("[] ").split(",") if part.strip()]
    if len(parts) > values.ndim:
        raise BadInput(
            f"{place} has {values.ndim} axes; the slice “{short(text, 24)}” has {len(parts)}."
        )
    index: list[int | slice] = []
    for axis, part in enumerate(parts):
        match = re.fullmatch(r"(\d{1,6})|(\d{0,6}):(\d{0,6})", part)
        if not match:
            raise BadInput(
                f"“{short(part, 24)}” is no slice; a number such as 0, a range such as 0:64, or :"
                " is wanted."
            )
        one, start, end = match.groups()
        first = int(one or start or 0)
        stop = first + 1 if one else int(end) if end else values.shape[axis]
        if not first < stop <= values.shape[axis]:
            raise BadInput(
                f"the slice {part} lies outside of {place}, which is {size(values)}; places count"
                " from 0."
            )
        index.append(first if one else slice(first, stop))
    return values[tuple(index)]


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


def size(values: np.ndarray) -> str:
    """The shape in words."""
    return f"{sides(values.shape)} numbers in one axis" if values.ndim == 1 else sides(values.shape)
