"""Explore's numbers as a framework is handed them, and the framework's answers beside ours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from attention.frameworks.explain import differs
from attention.frameworks.records import CONVENTIONS, Answer, answer
from attention.scores import SIGMOID
from attention.session.run import one, run
from attention.session.settings import Settings, allowed, real_keys
from attention.trace import AttentionTrace
from attention.view import distinct

LOOK_AHEAD = ("causal", "causal_lower_right")
HANDED = {"array": "as a boolean array", "switch": "as the framework's look-ahead switch"}


@dataclass(frozen=True, eq=False)
class Compared:
    """One framework's answer to Explore's item and head, and where it differs from ours."""

    name: str
    answer: Answer
    sentence: str


def has_switch(s: Settings) -> bool:
    """Whether the mask is a look-ahead mask, which frameworks make themselves."""
    return s.mask in LOOK_AHEAD and not s.window


def compare(s: Settings, handed: str) -> tuple[AttentionTrace, list[Compared]]:
    """Ours for the chosen item and head, and every convention's answer to the same inputs."""
    ours = one(s, run(_without_parts(s)))
    options = _mask(s, handed)
    rows = tuple(f"“{token}”" for token in distinct(s.tokens))
    compared = []
    for name in CONVENTIONS:
        theirs = answer(name, ours.Q, ours.K, ours.V, **options)
        compared.append(Compared(name, theirs, differs(name, ours, theirs, rows=rows, **options)))
    return ours, compared


def _without_parts(s: Settings) -> Settings:
    """Without what frameworks do not do by themselves to scores and weights."""
    return replace(s, softcap=None, sinks=(), alibi=False, softmax=bool(s.softmax))


def left_out(s: Settings) -> tuple[str, ...]:
    """The parts of real layers that are on Explore and not here."""
    return tuple(name for name in s.parts if name in ("softcap", "alibi", "sinks", SIGMOID))


def _mask(s: Settings, handed: str) -> dict:
    seen = allowed(s)
    if handed == "switch" and has_switch(s):
        real = real_keys(s)
        return {"mask": None if real.all() else np.broadcast_to(real, seen.shape), "causal": True}
    return {"mask": None if seen.all() else seen, "causal": False}
