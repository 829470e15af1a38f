"""Which tensor of a checkpoint is which weight, by Hugging Face's and PyTorch's names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Part:
    """What a tensor's name says: how it is stored, and which of several equal parts is meant."""

    stored: str | None  # "out_in", as nn.Linear keeps it, "in_out", or None: used for both
    index: int = 0
    count: int = 1

    def of(self, values: np.ndarray, stored: str) -> np.ndarray:
        """This part, along the axis of what comes out."""
        return np.split(values, self.count, axis=0 if stored == "out_in" else -1)[self.index]


NAMES: list[tuple[re.Pattern, dict[str, Part]]] = [
    (re.compile(pattern), parts)
    for pattern, parts in (
        (
            r"(?:(?:^|[._])(?:query|q_proj|q_lin)|(?:^|\.)(?:q|wq|to_q))\.weight$",
            {"W_Q": Part("out_in")},
        ),
        (
            r"(?:(?:^|[._])(?:key|k_proj|k_lin)|(?:^|\.)(?:k|wk|to_k))\.weight$",
            {"W_K": Part("out_in")},
        ),
        (
            r"(?:(?:^|[._])(?:value|v_proj|v_lin)|(?:^|\.)(?:v|wv|to_v))\.weight$",
            {"W_V": Part("out_in")},
        ),
        (
            r"(?:attention\.output\.dense|attn\.out_proj|self_attn\.o_proj|out_lin"
            r"|SelfAttention\.o|attention\.wo)\.weight$",
            {"W_O": Part("out_in")},
        ),
        (r"attn\.c_proj\.weight$", {"W_O": Part(None)}),
        (r"attn\.c_attn\.weight$", {f"W_{name}": Part(None, k, 3) for k, name in enumerate("QKV")}),
        (r"in_proj_weight$", {f"W_{name}": Part("out_in", k, 3) for k, name in enumerate("QKV")}),
    )
]
ALIASES = {"mask": "allowed", "memory": "y"}


def recognised(name: str) -> dict[str, Part]:
    """The weights a tensor of this name holds; none where the name says nothing.

    >>> recognised("encoder.layer.0.attention.self.query.weight")
    {'W_Q': Part(stored='out_in', index=0, count=1)}
    >>> list(recognised("h.3.attn.c_attn.weight"))
    ['W_Q', 'W_K', 'W_V']
    """
    return next((parts for pattern, parts in NAMES if pattern.search(name)), {})


def place(name: str) -> str:
    """Where in a model a weight stands: its name up to what says which one it is.

    >>> place("encoder.layer.0.attention.self.query.weight")
    'encoder.layer.0.attention.self'
    """
    matches = (pattern.search(name) for pattern, _ in NAMES)
    first = next(filter(None, matches), None)
    return name[: first.start()].rstrip("._") if first else ""


def layers(names: Iterable[str]) -> list[str]:
    """A model's attentions: the places with all of W_Q, W_K and W_V, in the file's order."""
    there: dict[str, set[str]] = {}
    for name in names:
        there.setdefault(place(name), set()).update(recognised(name))
    return [where for where, roles in there.items() if {"W_Q", "W_K", "W_V"} <= roles]


def guess(names: list[str], role: str, layer: str | None = None) -> str | None:
    """The array that most likely is this input, by its own name or a checkpoint's in this layer."""
    own = {name.lower(): name for name in names}
    known = own.get(role.lower()) or own.get(ALIASES.get(role, role.lower().replace("_", "")))
    if known:
        return known
    candidates = [name for name in names if role in recognised(name)]
    if layer is not None:  # W_O stands a step higher than the others
        candidates = [
            name for name in candidates if f"{layer}.".startswith(f"{place(name)}") and place(name)
        ] or [name for name in candidates if place(name) == layer]
        candidates.sort(key=lambda name: -len(place(name)))
    return candidates[0] if candidates else None


def left_out(names: Iterable[str], chosen: Iterable[str]) -> list[str]:
    """Biases that belong to the chosen weights; the formula here has none."""
    wanted = {re.sub(r"weight$", "bias", name) for name in chosen if name.endswith("weight")}
    return [name for name in names if name in wanted]
