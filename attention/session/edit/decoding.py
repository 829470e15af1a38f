"""One step of decoding: the last word asks alone, with the keys and values of all words kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.explain.view import View, distinct
from attention.limits import BadInput
from attention.session.edit.changes import set_mask
from attention.session.state.matrix import Matrix
from attention.session.state.origin import Origin
from attention.session.state.settings import TRUE_MASK, Settings
from attention.vocabulary.stages import STAGES


def whole(s: Settings) -> Settings:
    """The settings as a decoder has them: no word sees those after it."""
    if s.memory_tokens:
        raise BadInput("a cache holds one sequence; here keys and values come from a second one.")
    if len(s.tokens) < 2:
        raise BadInput("there is one word, so no keys and values are cached yet; add a word.")
    causal = s if s.mask == "causal" else set_mask(s, "causal")
    return replace(causal, fill=TRUE_MASK, context=False)


def last_step(s: Settings) -> Settings:
    """The last query of these alone, at the position where it stands in the whole.

    >>> from attention.session.state.examples import EXAMPLES
    >>> step = last_step(whole(EXAMPLES["rotary"].build()))
    >>> step.tokens, len(step.memory_tokens), step.rotary.offset
    (('ha (5)',), 5, 4)
    """
    past, m = len(s.tokens) - 1, dict(s.matrices)
    if not s.typed_qkv:
        m["memory"] = m["X"]
        if "P" in m:
            kept = m["X"].values + m["P"].values
            m["memory"] = Matrix(kept, origin=Origin.of("X + P", kept))
    for name in m.keys() & {"X", "P", "Q"}:
        m[name] = m[name].with_values(m[name].values[..., past:, :])
    rotary = s.rotary and replace(s.rotary, offset=s.rotary.offset + past)
    return replace(
        s,
        tokens=distinct(s.tokens)[past:],
        memory_tokens=s.tokens,
        matrices=m,
        mask="causal_lower_right",
        rotary=rotary,
        query=0,
        cell=None,
    )


def is_step(a: Settings, b: Settings) -> bool:
    """Whether B asks with the last words of A alone, and has the keys and values of all."""
    last = distinct(a.tokens)[-len(b.tokens) :]
    fewer = len(b.tokens) < len(a.tokens)
    return fewer and not a.memory_tokens and (b.tokens, b.memory_tokens) == (last, a.tokens)


def last_rows(shown: View, count: int) -> View:
    """The same with its last queries alone; keys and values come from all words."""
    past = len(shown.labels["queries"]) - count
    stages = {}
    for name, M in shown.stages.items():
        stages[name] = M[past:] if STAGES[name].rows == "queries" else M
        if name == "X":
            stages["memory"] = shown.stages[shown.source("X")]
    if not np.any(stages.get("mask", 0)):
        stages.pop("mask", None)
    zeros = {
        name: where[past:] if STAGES[name].rows == "queries" else where
        for name, where in shown.zeros.items()
    }
    roots = dict(shown.root_mean_squares)
    if "Q" in roots:
        roots["Q"] = roots["Q"][past:]
    return replace(
        shown,
        stages=stages,
        labels=shown.labels | {"queries": shown.labels["queries"][past:]},
        allowed=shown.allowed[past:],
        bias=None if shown.bias is None else shown.bias[past:],
        buckets=None if shown.buckets is None else shown.buckets[past:],
        relative=None if shown.relative is None else shown.relative[past:],
        rotary=shown.rotary and replace(shown.rotary, offset=shown.rotary.offset + past),
        root_mean_squares=roots,
        zeros=zeros,
    )
