"""Finished attention weights as libraries hand them over: which layer each is, and of what kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.arrays.conversion import as_numbers, kept, locked, shown
from attention.limits import ROUNDED, BadInput
from attention.models.kinds import CROSS, DECODER, ENCODER, kind_by_name, stack_of
from attention.vocabulary.sentences import plural

# of transformers' outputs, in the order in which a model runs; and what their layers are called
GROUPS = {"encoder_attentions": ENCODER, "decoder_attentions": DECODER}
GROUPS |= {"attentions": "", "cross_attentions": CROSS}
PATTERN = "hook_pattern"  # the end of TransformerLens' names of weights
AXES = "(layers, items, heads, queries, keys)"
EAGER = "; load the model with attn_implementation='eager' and ask for output_attentions=True"
MOST_NAMED = 3  # rows that are named of a layer


@dataclass(frozen=True, eq=False)
class Given:
    """The weights of one call of one layer."""

    weights: np.ndarray  # (b, h, n_q, n_k), read-only
    layer: int
    call: int
    kind: str
    module: str
    keys_of: str = ""


def found(given: Any, kind: str, name: str = "weights") -> list[Given]:
    """Return the weights of all layers and steps, in their order.

    Raises
    ------
    BadInput, TypeError
        One sentence: nothing is there, an array has other axes, or holds no numbers.

    >>> half = np.full((1, 2, 3, 3), 0.5)
    >>> [(one.layer, one.kind, one.weights.shape) for one in found((half, half), "vision")]
    [(0, 'vision', (1, 2, 3, 3)), (1, 'vision', (1, 2, 3, 3))]
    """
    if not isinstance(given, Mapping) and hasattr(given, "items") and hasattr(given, "keys"):
        given = dict(given.items())  # TransformerLens' cache
    if not isinstance(given, Mapping):
        return _group(given, kind, name, "", 0)
    groups = [group for group in GROUPS if _is_there(given.get(group))]
    if not groups:
        asked = [group for group in GROUPS if group in given]
        if asked:
            raise BadInput(f"{name} has no {' and no '.join(asked)}{EAGER}.")
        return _named(given, kind, name)
    all_layers: list[Given] = []
    for group in groups:
        first = 1 + max((one.layer for one in all_layers), default=-1)
        of = kind or GROUPS[group]
        stack = {ENCODER: "encoder", DECODER: "decoder", CROSS: "decoder"}.get(GROUPS[group], "")
        if len(groups) == 1 or not stack:
            stack = ""
        all_layers += _group(given[group], of, f"{name}[{group!r}]", stack, first)
    return all_layers


def _is_there(value: Any) -> bool:
    return value is not None and (hasattr(value, "ndim") or bool(value))


def _group(given: Any, kind: str, name: str, stack: str, first: int) -> list[Given]:
    """Return the layers of a tuple, list or array; of a generation the layers of each step."""
    deep = _depth(given)
    if deep is None:
        raise BadInput(f"{name} holds no attention weights, only {shown(given)}{EAGER}.")
    if not 2 <= deep <= 6:
        raise BadInput(f"{name} has {deep} axes; expected {AXES}.")
    steps = list(given) if deep == 6 else [given]
    cross = kind == CROSS
    every: list[Given] = []
    for step, layers in enumerate(steps):
        listed = list(layers) if deep >= 4 else [layers]
        where = f"{name}[{step}]" if deep == 6 else name
        for k, layer in enumerate(listed):
            if layer is None:  # of a layer without attention
                continue
            A = checked(f"{where}[{k}]" if deep >= 4 else where, layer)
            module = f"{stack}.{k}{'.cross' if cross else ''}" if stack else ""
            keys_of = "encoder.0" if cross and stack else ""
            every.append(Given(A, first + k, step, kind or _guessed(A), module, keys_of))
    if not kind and len(steps) > 1:  # one query says nothing: the prompt does
        of_layer = {one.layer: one.kind for one in reversed(every)}
        every = [
            Given(one.weights, one.layer, one.call, of_layer[one.layer], one.module)
            for one in every
        ]
    return every


def _named(given: Mapping[Any, Any], kind: str, name: str) -> list[Given]:
    """Return the layers of a dict, whose names are those of modules; others than TransformerLens'
    patterns are left out where there are such.
    """
    names = [each for each in given if isinstance(each, str)]
    if not {"logits", "last_hidden_state"}.isdisjoint(names):
        raise BadInput(f"{name} has no attentions{EAGER}.")
    if len(names) < len(given) or not names:
        said = "is empty" if not given else "has names that are no text"
        raise BadInput(f"{name} {said}; expected names of layers and their weights.")
    patterns = [each for each in names if each.endswith(PATTERN)]
    modules = {each: each.removesuffix(f".{PATTERN}") for each in patterns or names}
    numbers = [re.search(r"\d{1,6}", module) for module in modules.values()]
    counted = [int(number[0]) for number in numbers if number]
    if len(set(counted)) < len(modules):
        counted = list(range(len(modules)))
    every: list[Given] = []
    for layer, (each, module) in zip(counted, modules.items(), strict=True):
        A = checked(f"{name}[{each!r}]", given[each])
        said = kind or kind_by_name(module) or _guessed(A)
        others = (
            one.module
            for one in reversed(every)
            if one.kind != CROSS and stack_of(one.module) != stack_of(module)
            if one.weights.shape[2] == A.shape[3]
        )
        every.append(Given(A, layer, 0, said, module, next(others, "") if said == CROSS else ""))
    return every


def _depth(given: Any) -> int | None:
    """Return how many axes lists and arrays have together; None where nothing is inside."""
    deep = 0
    while isinstance(given, list | tuple):
        given, deep = next((each for each in given if each is not None), None), deep + 1
        if given is None or deep > 6:
            return None if given is None else deep
    return None if given is None else deep + int(getattr(given, "ndim", 0))


def checked(name: str, layer: Any) -> np.ndarray:
    """Return the weights of a layer, (b, h, n_q, n_k), in a float type and read-only.

    (h, n_q, n_k) and (n_q, n_k) are of one item, and of its only head.

    >>> checked("A", [[1, 0]]).shape
    (1, 1, 1, 2)
    """
    A = as_numbers(name, layer, "expected attention weights")
    if A.dtype == bool:
        raise TypeError(f"{name} holds bool; expected attention weights.")
    if not 2 <= A.ndim <= 4 or not A.size:
        raise BadInput(f"{name} has shape {A.shape}; expected (items, heads, queries, keys).")
    single = A.dtype.kind == "f" and A.dtype.itemsize <= 4
    wanted = np.dtype("<f4" if single else "<f8")
    A = kept(A) if A.dtype == wanted else locked(A.astype(wanted))
    return A.reshape((1,) * (4 - A.ndim) + A.shape)


def _guessed(A: np.ndarray) -> str:
    """Return decoder where no query looks at a later key, and encoder where one does."""
    n_q, n_k = A.shape[2:]
    if n_q != n_k or n_q == 1:
        return ""
    ahead = any(np.triu(one, 1).any() for item in A for one in item)
    return ENCODER if ahead else DECODER


def seen_by(A: np.ndarray) -> np.ndarray | None:
    """Return False where a weight is 0 in every head, (b, 1, n_q, n_k); None if none is."""
    seen = np.zeros((len(A), 1, *A.shape[2:]), bool)
    for head in range(A.shape[1]):
        seen[:, 0] |= A[:, head] != 0
    return None if seen.all() else seen


def odd_rows(A: np.ndarray, layer: int, heads: tuple[int, ...] = ()) -> tuple[str, ...]:
    """Return sentences that name rows that are no weights: NaN, negative, or of another sum than 1.

    A row of zeros sees no key, and is none of them.

    >>> odd_rows(np.array([[[[0.5, 0.5], [0.5, -0.5]]]]), 3)
    ('layer 3, head 0, row 1 holds negative weights (rows count from 0)',)
    """
    said = []
    for what, rows in _kinds_of_odd(A):
        if not len(rows):
            continue
        named = [
            ", ".join(
                [f"item {item}"] * (len(A) > 1)
                + [f"head {heads[head] if heads else head}, row {row}"]
            )
            for item, head, row in rows[:MOST_NAMED].tolist()
        ]
        more = len(rows) - len(named)
        which = "; ".join([*named, f"{more:,} more"] if more > 0 else named)
        word = plural(len(rows), what[0], what[1])
        said.append(f"layer {layer}, {which} {word} (rows count from 0)")
    return tuple(said)


def _kinds_of_odd(A: np.ndarray) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """Yield what rows are, of one and of several, with (item, head, row) of each."""
    shape = A.shape[:3]
    broken, negative, other = (np.zeros(shape, bool) for _ in range(3))
    for at in np.ndindex(shape[:2]):  # so that no array as large as all is made
        sums = A[at].sum(axis=-1, dtype=np.float64)
        broken[at] = ~np.isfinite(sums)
        negative[at] = ~broken[at] & (A[at] < 0).any(axis=-1)
        apart = np.abs(sums - 1) > ROUNDED
        other[at] = ~broken[at] & ~negative[at] & apart & (A[at] != 0).any(axis=-1)
    yield ("holds NaN or infinity", "hold NaN or infinity"), np.argwhere(broken)
    yield ("holds negative weights", "hold negative weights"), np.argwhere(negative)
    yield ("does not add up to 1", "do not add up to 1"), np.argwhere(other)
