"""Finished attention weights as libraries hand them over: which layer each is, and of what kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.arrays.conversion import as_numbers, kept, locked, shown
from attention.arrays.distance import blocks
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
BEAMS = "beams change places from step to step, so words after the prompt are not known"
PERHAPS = (
    "its items may be beams, which change places from step to step; give the outputs whole, or a"
    " list of words for each item"
)
OF_BEAMS = frozenset([BEAMS, PERHAPS])  # notes of steps, whose words end with the prompt


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

    >>> found(np.ones((0, 1, 2, 3, 3)), "")
    Traceback (most recent call last):
    attention.limits.BadInput: weights has no layers.
    >>> half = np.full((1, 2, 3, 3), 0.5)
    >>> [(one.layer, one.kind, one.weights.shape) for one in found((half, half), "vision")]
    [(0, 'vision', (1, 2, 3, 3)), (1, 'vision', (1, 2, 3, 3))]
    """
    if not isinstance(given, Mapping) and hasattr(given, "items") and hasattr(given, "keys"):
        given = dict(given.items())  # TransformerLens' cache
    layers = (_of_groups if isinstance(given, Mapping) else _group)(given, kind, name)
    if not layers:
        raise BadInput(f"{name} has no layers.")
    return layers


def _of_groups(given: Mapping[Any, Any], kind: str, name: str) -> list[Given]:
    """Return the layers of transformers' outputs, or of a dict by names of modules."""
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
        stack = "encoder" if GROUPS[group] == ENCODER else "decoder"
        if len(groups) == 1:
            stack = ""
        all_layers += _group(given[group], of, f"{name}[{group!r}]", stack, first)
    return all_layers


def _is_there(value: Any) -> bool:
    return value is not None and (hasattr(value, "ndim") or bool(value))


def _group(given: Any, kind: str, name: str, stack: str = "", first: int = 0) -> list[Given]:
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
        of_layer = {one.layer: one.kind or _grows(one, every) for one in reversed(every)}
        every = [
            Given(one.weights, one.layer, one.call, of_layer[one.layer], one.module)
            for one in every
        ]
    return every


def _grows(first: Given, every: list[Given]) -> str:
    """Return decoder where the last step of a layer sees more keys than the first call."""
    last = next(one for one in reversed(every) if one.layer == first.layer)
    return DECODER if _filled(last.weights) > _filled(first.weights) else ""


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
    if n_q == 1 or n_q > n_k or n_q < n_k and _filled(A) != n_q:
        return ""
    ahead = any(_looks_ahead(item) for item in A)
    return "" if ahead and n_q < n_k else ENCODER if ahead else DECODER


def _looks_ahead(A: np.ndarray) -> bool:
    """Check whether a query of an item (h, n_q, n_k) looks at a later key.

    A query that is padding has none to look at, and looks at all alike; nobody looks at its key.

    >>> padded = [[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5]]
    >>> _looks_ahead(np.array([padded])), _looks_ahead(np.full((1, 2, 2), 0.5))
    (True, True)
    >>> padded[0] = [0.25, 0.25, 0.25]
    >>> _looks_ahead(np.array([padded]))
    False
    """
    ahead, even = (np.zeros(A.shape[1], bool) for _ in range(2))
    seen = np.zeros(A.shape[2], bool)
    for rows in _rows(A.shape):
        looks = A[:, rows] != 0
        even[rows] = (A[:, rows] == A[:, rows, :1]).all(axis=(0, 2))
        seen |= looks[:, ~even[rows]].any(axis=(0, 1))
        ahead[rows] = np.triu(looks.any(axis=0), 1 + rows.start).any(axis=1)
    is_padding = even & ~seen[: len(even)]
    return bool(ahead.any() and (is_padding.all() or (ahead & ~is_padding).any()))


def _filled(A: np.ndarray, row: int = -1) -> int:
    """Return how many keys there are up to the last that the last query sees, or another."""
    seen = (A[:, :, row] != 0).any(axis=(0, 1))
    return int(seen.size - seen[::-1].argmax()) if seen.any() else 0


def placed(layers: Iterable[Given], is_generation: bool) -> Iterator[tuple[Given, int, int]]:
    """Yield each with the positions of its first query and its first key.

    Queries of a step follow those before it. Without a cache a step has all anew, from position 0.
    Keys behind the last query's last are places of a cache that are not filled; of a cache that
    keeps fewer than were read they are the last.

    >>> whole = np.tri(3)[None, None]
    >>> steps = [Given(whole[:, :, :n, :n], 0, n - 2, "", "") for n in (2, 3)]
    >>> [places for _, *places in placed(steps, True)]
    [[0, 0], [0, 0]]
    """
    before: dict[int, tuple[int, int]] = {}  # where the queries of a layer began and ended
    for each in layers:
        (n_q, n_k), cross = each.weights.shape[2:], each.kind == CROSS
        if each.layer not in before:
            at = 0 if cross else _first(each.weights, is_generation)
        else:
            begin, at = before[each.layer]
            grows = begin == 0 and n_q == at + 1
            if n_q > 1 and (grows if cross else n_q == n_k):
                at = 0
        before[each.layer] = at, at + n_q
        yield each, at, 0 if cross else max(at + n_q - n_k, 0)


def _first(A: np.ndarray, is_generation: bool) -> int:
    """Return the position of the first query of a layer's first call."""
    n_q, n_k = A.shape[2:]
    filled = _filled(A)
    rises = n_q > 1 and filled == _filled(A, -2) + 1
    if n_q < n_k and filled and (rises or is_generation):
        return max(filled - n_q, 0)
    return max(n_k - n_q, 0)


def note_of_beams(given: Any, layers: list[Given], tokens: Any) -> str:
    """Return what is to say of the steps of a generation whose items are beams, or may be; or "".

    Outputs that are given whole tell. Else several items are sequences of their own only where
    there is a list of words for each.

    >>> step = Given(np.ones((3, 1, 1, 2)), 0, 1, "", "")
    >>> note_of_beams((), [step], ["a"])[:22], note_of_beams((), [step], [["a"]] * 3)
    ('its items may be beams', '')
    """
    items = max((len(each.weights) for each in layers if each.call), default=1)
    whole = isinstance(given, Mapping)
    if items == 1 or whole and "sequences" in given and given.get("beam_indices") is None:
        return ""
    if whole and given.get("beam_indices") is not None:
        return BEAMS
    of_queries = [tokens]
    if isinstance(tokens, Mapping):
        of_queries = [words for part, words in tokens.items() if part not in ("encoder", "keys")]
    lists = [len(words) if words and not isinstance(words[0], str) else 1 for words in of_queries]
    return "" if min(lists, default=1) >= items else PERHAPS


def _rows(shape: tuple[int, ...]) -> Iterator[slice]:
    """Return slices of rows, so few that what is made of them is little beside a small file."""
    return blocks((8, *shape))


def seen_by(A: np.ndarray) -> np.ndarray | None:
    """Return False where a weight is 0 in every head, (b, 1, n_q, n_k); None if none is."""
    seen = np.empty((len(A), 1, *A.shape[2:]), bool)
    for rows in _rows(A.shape):
        seen[:, 0, rows] = (A[:, :, rows] != 0).any(axis=1)
    return None if seen.all() else seen


def odd_rows(
    A: np.ndarray, layer: int, when: str = "", heads: tuple[int, ...] = ()
) -> tuple[str, ...]:
    """Return sentences that name rows that are no weights: NaN, negative, or of another sum than 1.

    ``when``: which call of the layer, such as "step 2"; ``heads``: the model's numbers of them. A
    row of zeros sees no key, and is none of them.

    >>> odd_rows(np.array([[[[0.5, 0.5], [0.5, -0.5]]]]), 3, "step 2", (7,))
    ('layer 3, step 2, head 7, row 1 holds negative weights (rows count from 0)',)
    """
    said = []
    place = ", ".join(filter(None, [f"layer {layer}", when]))
    for (single, several), count, rows in _kinds_of_odd(A):
        named = [
            ", ".join(
                [f"item {item}"] * (len(A) > 1)
                + [f"head {heads[head] if heads else head}, row {row}"]
            )
            for item, head, row in rows
        ]
        more = count - len(named)
        which = "; ".join([*named, f"{more:,} more"] if more > 0 else named)
        said.append(f"{place}, {which} {plural(count, single, several)} (rows count from 0)")
    return tuple(said)


_ODD = (
    ("holds NaN or infinity", "hold NaN or infinity"),
    ("holds negative weights", "hold negative weights"),
    ("does not add up to 1", "do not add up to 1"),
)


def _kinds_of_odd(
    A: np.ndarray,
) -> Iterator[tuple[tuple[str, str], int, list[tuple[int, int, int]]]]:
    """Yield what rows are, of one and of several, how many, and (item, head, row) of the first."""
    counts = [0] * len(_ODD)
    first: list[list[tuple[int, int, int]]] = [[] for _ in _ODD]
    for item, head in np.ndindex(A.shape[:2]):
        for rows in _rows(A.shape[2:]):
            block = A[item, head, rows]
            with np.errstate(all="ignore"):
                sums = block.sum(axis=-1, dtype=np.float64)
            broken = ~np.isfinite(sums)
            negative = ~broken & (block < 0).any(axis=-1)
            apart = ~broken & ~negative & (block != 0).any(axis=-1)
            apart[apart] = np.abs(sums[apart] - 1) > ROUNDED
            for k, found in enumerate((broken, negative, apart)):
                counts[k] += int(np.count_nonzero(found))
                places = np.flatnonzero(found)[: MOST_NAMED - len(first[k])]
                first[k] += [(item, head, rows.start + int(row)) for row in places]
    yield from (each for each in zip(_ODD, counts, first, strict=True) if each[1])
