"""Explore's numbers as two libraries are handed them, and what changes from one to the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attention.core.scores import SIGMOID
from attention.core.trace import AttentionTrace
from attention.explain.view import distinct
from attention.frameworks.libraries.convention import GROUPS, PARTS
from attention.frameworks.moves import Move, moved
from attention.frameworks.records import CONVENTIONS
from attention.session.state.run import one, run
from attention.session.state.settings import Settings, added, allowed, real_keys

LOOK_AHEAD = ("causal", "causal_lower_right")
HANDED = {"array": "as a boolean array", "switch": "as the library's look-ahead switch"}


def has_switch(s: Settings) -> bool:
    """Whether the mask is a look-ahead mask, which libraries make themselves."""
    return s.mask in LOOK_AHEAD and not s.window


def between(s: Settings, handed: str) -> Move:
    """What changes for the chosen item and head from one chosen library to the other.

    A window goes over by the argument that a library has for it, else as a part of the mask.
    """
    ours = shown(s)
    Q, K, V = (M.astype(np.float32) for M in (ours.Q, ours.K, ours.V))  # as libraries mostly run
    rows = tuple(f"“{token}”" for token in distinct(s.tokens))
    rest = _mask_arguments(s, handed) | _parts(s)
    return moved(s.move_from, s.move_to, Q, K, V, rows=rows, **rest)


def in_neither(s: Settings) -> tuple[str, ...]:
    """The parts in use, in words, that both libraries leave out; grouped heads too."""
    takes = CONVENTIONS[s.move_from].takes | CONVENTIONS[s.move_to].takes
    parts = [PARTS[name] for name in _parts(s) if name not in takes | {"window"}]
    groups = s.kv_heads < s.heads and GROUPS not in takes
    return (*parts, *(["fewer heads of keys and values"] if groups else []))


def shown(s: Settings) -> AttentionTrace:
    """Our own attention of the chosen item and head, with a softmax."""
    s = replace(s, softmax=bool(s.softmax))
    return one(s, run(s))


def _parts(s: Settings) -> dict[str, Any]:
    """The parts of the head that is looked at, as a library's answer takes them."""
    found: dict[str, Any] = {} if s.softcap is None else {"softcap": s.softcap}
    found |= {} if s.scale is None else {"scale": s.scale}
    found |= {"window": s.window} if s.window else {}
    found |= {"sinks": s.sinks[s.head % len(s.sinks)]} if s.sinks else {}
    bias = added(s)
    return found | ({} if bias is None else {"bias": bias[s.head]})


def left_out(s: Settings) -> tuple[str, ...]:
    """The parts of real layers that are on Explore and in no library."""
    return tuple(name for name in s.parts if name == SIGMOID)


def _mask_arguments(s: Settings, handed: str) -> dict[str, Any]:
    """The mask without the window, which goes over by itself."""
    looks = s.window and s.mask in LOOK_AHEAD  # the look-ahead is a part of the window
    s = replace(s, window=0, mask="none" if looks else s.mask)
    seen = allowed(s)
    if handed == "switch" and has_switch(s):
        real = real_keys(s)
        return {"mask": None if real.all() else np.broadcast_to(real, seen.shape), "causal": True}
    return {"mask": None if seen.all() else seen, "causal": False}
