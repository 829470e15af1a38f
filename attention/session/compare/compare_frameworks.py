"""Explore's numbers as a framework is handed them, and the framework's answers beside ours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from attention.core.scores import SIGMOID
from attention.core.trace import AttentionTrace
from attention.explain.view import distinct
from attention.frameworks.reasons import differs
from attention.frameworks.records import CONVENTIONS, Answer, answer, checked_parts
from attention.session.state.run import one, run
from attention.session.state.settings import Settings, added, allowed, real_keys

CORNER = "torch_sdpa_lower_right"  # whose mask leaves no room for another
LOOK_AHEAD = ("causal", "causal_lower_right")
HANDED = {"array": "as a boolean array", "switch": "as the framework's look-ahead switch"}


@dataclass(frozen=True, eq=False)
class FrameworkAnswer:
    """One framework's answer to Explore's item and head, and where it differs from ours."""

    name: str
    answer: Answer
    sentence: str


def has_switch(s: Settings) -> bool:
    """Whether the mask is a look-ahead mask, which frameworks make themselves."""
    return s.mask in LOOK_AHEAD and not s.window


def compare(s: Settings, handed: str) -> tuple[AttentionTrace, list[FrameworkAnswer]]:
    """Ours for the chosen item and head, and every convention's answer to the same inputs.

    A window goes over by the argument that a framework has for it, else as a part of the mask.
    """
    s = replace(s, softmax=bool(s.softmax))
    ours = one(s, run(s))
    rows = tuple(f"“{token}”" for token in distinct(s.tokens))
    compared = []
    for name, convention in CONVENTIONS.items():
        by_argument = "window" in convention.takes or name == CORNER
        options = _mask_arguments(_without_window(s) if by_argument else s, handed)
        parts = _parts(s, bool(s.window) and by_argument)
        theirs = answer(name, ours.Q, ours.K, ours.V, **options, **parts)
        handed_over = checked_parts(ours.scores.shape, ours.Q.dtype, **parts)
        said = differs(name, ours, theirs, rows=rows, parts=handed_over, **options)
        compared.append(FrameworkAnswer(name, theirs, said))
    return ours, compared


def _without_window(s: Settings) -> Settings:
    """Without it, and without the look-ahead that it is a part of."""
    looks = s.window and s.mask in LOOK_AHEAD
    return replace(s, window=0, mask="none" if looks else s.mask)


def _parts(s: Settings, window: bool) -> dict:
    """The parts of the head that is looked at, as :func:`answer` takes them."""
    found: dict = {} if s.softcap is None else {"softcap": s.softcap}
    found |= {"window": s.window} if window else {}
    found |= {"sinks": s.sinks[s.head % len(s.sinks)]} if s.sinks else {}
    bias = added(s)
    return found | ({} if bias is None else {"bias": bias[s.head]})


def left_out(s: Settings) -> tuple[str, ...]:
    """The parts of real layers that are on Explore and in no framework."""
    return tuple(name for name in s.parts if name == SIGMOID)


def _mask_arguments(s: Settings, handed: str) -> dict:
    seen = allowed(s)
    if handed == "switch" and has_switch(s):
        real = real_keys(s)
        return {"mask": None if real.all() else np.broadcast_to(real, seen.shape), "causal": True}
    return {"mask": None if seen.all() else seen, "causal": False}
