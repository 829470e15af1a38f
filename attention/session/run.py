"""From settings to numbers: run the attention, and pick the item and head that stand on the page."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from attention.heads import multi_head_attention, self_attention
from attention.session.settings import Settings, allowed
from attention.stages import STAGES, View
from attention.trace import AttentionTrace

TUTORIAL_FILL = -1e9


def run(settings: Settings) -> AttentionTrace:
    """Every stage of the settings' attention, with batch and head axes."""
    m = {name: matrix.values for name, matrix in settings.matrices.items()}
    options = {
        "heads": settings.heads,
        "W_O": m.get("W_O"),
        "scale": settings.scale,
        "softmax": settings.softmax,
    }
    visible = allowed(settings)
    visible = visible[None] if settings.batch else visible  # the same for every item
    if settings.fill == "-1e9":
        options["bias"] = np.where(visible, 0.0, TUTORIAL_FILL)
    else:
        options["allowed"] = visible
    if settings.typed_qkv:
        return multi_head_attention(m["Q"], m["K"], m["V"], **options)
    return self_attention(m["X"], m["W_Q"], m["W_K"], m["W_V"], memory=m.get("memory"), **options)


def view(settings: Settings, trace: AttentionTrace) -> View:
    """The stages of the chosen item and head, in reading order, each with two axes."""
    item, head = _chosen(settings)
    visible = _pick(trace.allowed, item, head)
    bias = np.where(allowed(settings), 0.0, TUTORIAL_FILL) if settings.fill == "-1e9" else None
    stages = {}
    for name in STAGES:
        values = (
            _mask(visible, bias) if name == "mask" else _stage(settings, trace, name, item, head)
        )
        if values is not None:
            stages[name] = values
    return View(
        stages,
        labels(settings),
        visible,
        trace.scale,
        bias,
        settings.softmax,
        settings.head,
        settings.heads,
    )


def _chosen(settings: Settings) -> tuple[int | None, int | None]:
    """Item and head that are looked at; None where there is no such axis."""
    return settings.item if settings.batch else None, settings.head if settings.heads > 1 else None


def one(settings: Settings, trace: AttentionTrace) -> AttentionTrace:
    """The attention of the chosen item and head alone: every array has two axes."""
    item, head = _chosen(settings)
    names = ("Q", "K", "V", "scores", "scaled", "masked", "weights", "output", "allowed")
    picked = {name: _pick(getattr(trace, name), item, head) for name in names}
    return replace(trace, **picked, X=None, memory=None, joined=None, projected=None)


def _mask(visible: np.ndarray, bias: np.ndarray | None) -> np.ndarray | None:
    """M as it is added to the scaled scores; None where nothing is hidden."""
    if visible.all() and (bias is None or not bias.any()):
        return None
    return np.where(visible, 0.0 if bias is None else bias, -np.inf)


def _pick(values, item, head):
    values = values[item] if item is not None else values
    return values[head] if head is not None else values


def _stage(s: Settings, trace: AttentionTrace, name: str, item, head):
    if name in ("W_Q", "W_K", "W_V"):
        if name not in s.matrices:
            return None
        values = s.matrices[name].values
        return values if head is None else np.split(values, s.heads, axis=1)[head]
    if name == "W_O":
        return s.matrices["W_O"].values if "W_O" in s.matrices else None
    if name in ("joined", "projected"):
        values = getattr(trace, name) if s.heads > 1 or trace.projected is not None else None
        return None if values is None else _pick(values, item, None)
    if name == "context":
        return _pick(trace.context, item, head)[None, :] if s.context else None
    values = getattr(trace, name)
    if values is None:
        return None
    return _pick(values, item, None if name in ("X", "memory") else head)


def labels(s: Settings) -> dict[str, tuple[str, ...]]:
    """What stands on the axes. Tokens that repeat are told apart: ``the (1)``, ``the (2)``."""
    d_v = s.d_v * s.heads
    d_out = s.shape("W_O")[1] if "W_O" in s.matrices else 0
    sizes = {"d_model": s.d_model or 0, "d_k": s.d_k, "d_v": s.d_v, "h·d_v": d_v, "d_out": d_out}
    found = {axis: _dimension(s, axis, size) for axis, size in sizes.items()}
    return found | {"queries": distinct(s.tokens), "keys": distinct(s.key_tokens), "sum": ("Σ",)}


def _dimension(s: Settings, axis: str, size: int) -> tuple[str, ...]:
    names = s.names.get(axis, ())
    return names if len(names) == size else tuple(str(i) for i in range(1, size + 1))


def distinct(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """
    >>> distinct(("the", "cat", "the"))
    ('the (1)', 'cat', 'the (2)')
    >>> distinct(("the", "the", "the (1)"))
    ('the (2)', 'the (3)', 'the (1)')
    """
    counts, seen = Counter(tokens), Counter()
    found = []
    for token in tokens:
        seen[token] += 1
        while f"{token} ({seen[token]})" in counts:  # somebody's own name
            seen[token] += 1
        found.append(f"{token} ({seen[token]})" if counts[token] > 1 else token)
    return tuple(found)
