"""How one tensor of a checkpoint holds W_Q, W_K and W_V: which of its outputs are whose."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attention.limits import MAX_NUMBERS, BadInput


class ModelHeads(NamedTuple):
    """How many heads a model has; several may share the keys and values of one."""

    heads: int
    keys: int | None = None
    size: int | None = None  # columns of one head


class Split(NamedTuple):
    """How many heads, how many of keys, and the columns of one."""

    heads: int
    keys: int
    size: int


def in_turn(outputs: np.ndarray, split: Split) -> list[np.ndarray]:
    """All of Q, then all of K, then all of V, as GPT-2, Phi-3 and torch keep them."""
    heads, keys, size = split
    return np.split(outputs, [heads * size, (heads + keys) * size])


def thirds(outputs: np.ndarray, _: Split) -> list[np.ndarray]:
    """Q, K and V of one size, as torch's nn.MultiheadAttention keeps them."""
    return np.split(outputs, 3)


def by_head(outputs: np.ndarray, split: Split) -> list[np.ndarray]:
    """For each head of keys: the queries that share it, its key, its value.

    So GPT-NeoX, BLOOM and Falcon keep them; in the first two each key has one query.
    """
    heads, keys, size = split
    groups = outputs.reshape(keys, heads // keys + 2, size)
    return [part.ravel() for part in (groups[:, :-2], groups[:, -2], groups[:, -1])]


def codegen(outputs: np.ndarray, _: Split) -> list[np.ndarray]:
    """In four blocks, as for four devices; in each Q, then V, then K."""
    blocks = outputs.reshape(4, 3, -1)
    return [blocks[:, k].ravel() for k in (0, 2, 1)]


LAYOUTS: dict[str, Callable[[np.ndarray, Split], list[np.ndarray]]] = {
    "thirds": thirds,
    "in turn": in_turn,
    "by head": by_head,
    "CodeGen": codegen,
}
PARTED = {"thirds": 3, "CodeGen": 12}  # into how many parts of one size, without a count of heads
# What a person is offered where the name does not say.
OFFERED = {"in turn": "all of Q, then K, then V", "by head": "Q, K and V of each head"}


def outputs_of(
    layout: str, index: int, sides: tuple[int, int], heads: ModelHeads | None, where: str
) -> np.ndarray:
    """Which of the outputs are Q's (``index`` 0), K's (1) or V's (2).

    ``sides`` are how many outputs the tensor has and how many inputs. Raises BadInput where they
    do not come out even, or heads have to be known and are not.

    >>> outputs_of("by head", 1, (12, 4), ModelHeads(2), "it").tolist()
    [2, 3, 8, 9]
    """
    size, width = sides
    if layout in PARTED:
        parts = PARTED[layout]
        if size % parts:
            raise BadInput(
                f"{where} is {size} × {width}; {parts} equal parts are wanted, for Q, K and V."
            )
        return LAYOUTS[layout](np.arange(size), Split(1, 1, size // 3))[index]
    split = _split(layout, sides, heads, where)
    if (split.heads + 2 * split.keys) * split.size != size or split.heads % split.keys:
        raise BadInput(
            f"{where} is {size} × {width}; {split.heads} heads cannot share its {size} outputs."
        )
    return LAYOUTS[layout](np.arange(size), split)[index]


def _split(layout: str, sides: tuple[int, int], heads: ModelHeads | None, where: str) -> Split:
    """Heads and their size, from what is known of the model and the sides of the tensor."""
    size, width = sides
    if layout == "in turn" and size == 3 * width and not (heads and heads.keys):
        return Split(1, 1, width)
    if heads is None:
        raise BadInput(
            f"{where} holds Q, K and V of several heads in one; say how many heads the model has"
            " (num_attention_heads in its config.json)."
        )
    count, keys, of_one = heads
    if keys:
        return Split(count, keys, size // (count + 2 * keys))
    if size == 3 * width:
        return Split(count, count, width // count)
    of_one = of_one or width // count or 1
    return Split(count, max((size // of_one - count) // 2, 1), of_one)


def shared(values: np.ndarray, heads: int, size: int) -> np.ndarray:
    """Columns of fewer heads, each repeated for the heads that share it, next to each other.

    >>> shared(np.array([[1, 2, 3, 4]]), 4, 2).tolist()
    [[1, 2, 1, 2, 3, 4, 3, 4]]
    """
    keys = values.shape[1] // size
    if len(values) * heads * size > MAX_NUMBERS:
        raise BadInput(
            f"{keys} heads of keys and values that {heads} share are {len(values)} ×"
            f" {heads * size:,} numbers; at most {MAX_NUMBERS:,} fit."
        )
    parts = values.reshape(len(values), keys, size)
    return np.repeat(parts, heads // keys, axis=1).reshape(len(values), heads * size)
