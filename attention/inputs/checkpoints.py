"""Which tensor of a checkpoint is which weight, by the names that Hugging Face and PyTorch give them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Part(NamedTuple):
    """What a tensor's name says: how it is stored, and which of several equal parts is meant."""

    stored: str  # "out_in", as nn.Linear keeps it, or "in_out"
    index: int = 0
    count: int = 1

    def of(self, values: np.ndarray) -> np.ndarray:
        """This part, along the axis of what comes out."""
        return np.split(values, self.count, axis=0 if self.stored == "out_in" else -1)[self.index]


_END = r"(?:^|[._])(?:{})\.weight$"
NAMES: list[tuple[re.Pattern, dict[str, Part]]] = [
    (re.compile(pattern), parts)
    for pattern, parts in (
        (_END.format("query|q_proj|q_lin|q|wq|to_q"), {"W_Q": Part("out_in")}),
        (_END.format("key|k_proj|k_lin|k|wk|to_k"), {"W_K": Part("out_in")}),
        (_END.format("value|v_proj|v_lin|v|wv|to_v"), {"W_V": Part("out_in")}),
        (r"(?:attention\.output\.dense|attn\.out_proj|self_attn\.o_proj|out_lin|SelfAttention\.o|attention\.wo)\.weight$", {"W_O": Part("out_in")}),
        (r"attn\.c_attn\.weight$", {f"W_{name}": Part("in_out", k, 3) for k, name in enumerate("QKV")}),
        (r"attn\.c_proj\.weight$", {"W_O": Part("in_out")}),
        (r"in_proj_weight$", {f"W_{name}": Part("out_in", k, 3) for k, name in enumerate("QKV")}),
    )
]  # fmt: skip
ALIASES = {"mask": "allowed", "memory": "y"}
_LAYER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?|resblocks)\.(\d{1,4})\.")


def recognised(name: str) -> dict[str, Part]:
    """The weights a tensor of this name holds; none where the name says nothing.

    >>> recognised("encoder.layer.0.attention.self.query.weight")
    {'W_Q': Part(stored='out_in', index=0, count=1)}
    >>> list(recognised("h.3.attn.c_attn.weight"))
    ['W_Q', 'W_K', 'W_V']
    """
    return next((parts for pattern, parts in NAMES if pattern.search(name)), {})


def layer(name: str) -> int | None:
    """The number of the layer in a tensor's name.

    >>> layer("encoder.layer.11.attention.self.query.weight"), layer("X")
    (11, None)
    """
    found = _LAYER.search(name)
    return int(found[1]) if found else None


def layers(names: Iterable[str]) -> list[int]:
    """The layers that have attention weights, in order."""
    return sorted({layer(name) for name in names if recognised(name) and layer(name) is not None})


def guess(names: list[str], role: str, of_layer: int | None = None) -> str | None:
    """The array that is most likely this input: by its own name, or as a checkpoint calls it, in this layer."""
    if role in names:
        return role
    own = {name.lower(): name for name in names}
    alias = ALIASES.get(role, role.lower().replace("_", ""))
    return own.get(role.lower()) or own.get(alias) or next(
        (name for name in names if role in recognised(name) and (of_layer is None or layer(name) == of_layer)), None
    )  # fmt: skip


def left_out(names: Iterable[str], chosen: Iterable[str]) -> list[str]:
    """Biases that belong to the chosen weights; the formula here has none."""
    wanted = {re.sub(r"weight$", "bias", name) for name in chosen if name.endswith("weight")}
    return [name for name in names if name in wanted]
