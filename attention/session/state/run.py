"""From settings to numbers: run the attention, and pick the item and head that are shown."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from attention.arrays.layouts import split_heads
from attention.core.finite import listed
from attention.core.heads import multi_head_attention, self_attention
from attention.core.masks import TUTORIAL_FILL
from attention.core.recorded import Recorded
from attention.core.trace import ALONE, AttentionTrace
from attention.explain.view import View, dimension, distinct
from attention.session.state.matrix import captured_head
from attention.session.state.settings import (
    MATRICES,
    TRUE_MASK,
    Settings,
    added,
    allowed,
    by_slopes,
    relative,
)
from attention.vocabulary.sentences import capital
from attention.vocabulary.stages import STAGES


def run(settings: Settings) -> AttentionTrace:
    """Every stage of the settings' attention, with batch and head axes."""
    matrices = {name: matrix.values for name, matrix in settings.matrices.items()}
    visible = allowed(settings)
    if settings.weights_alone:
        A = matrices["Q"] if settings.heads == 1 else split_heads(matrices["Q"], settings.heads)
        return AttentionTrace.of_weights(A, allowed=visible)
    hides = settings.fill == TRUE_MASK
    filled = None if hides else np.where(visible, 0.0, TUTORIAL_FILL)
    given = [bias for bias in (filled, by_slopes(settings)) if bias is not None]
    bias = np.asarray(sum(given)) if given else None
    if settings.batch:  # items, heads, queries, keys: the same for every item
        visible = visible[None, None]
        bias = None if bias is None else bias[(None,) * (4 - bias.ndim)]
    mask = visible if hides else None
    attend = (
        partial(multi_head_attention, matrices["Q"], matrices["K"], matrices["V"])
        if settings.typed_qkv
        else partial(
            self_attention,
            matrices["X"],
            matrices["W_Q"],
            matrices["W_K"],
            matrices["W_V"],
            memory=matrices.get("memory"),
            positions=matrices.get("P"),
            b_Q=matrices.get("b_Q"),
            b_K=matrices.get("b_K"),
            b_V=matrices.get("b_V"),
        )
    )
    return attend(
        heads=settings.heads,
        kv_heads=settings.kv_heads,
        W_O=matrices.get("W_O"),
        b_O=matrices.get("b_O"),
        allowed=mask,
        bias=bias,
        scale=settings.scale,
        softcap=settings.softcap,
        softmax=settings.softmax,
        norm=settings.norm,
        rotary=settings.rotary,
        relative=relative(settings),
        sinks=settings.sinks or None,
    )


def view(settings: Settings, trace: AttentionTrace) -> View:
    """The stages of the chosen item and head, in reading order, each with two axes.

    A captured head is called as in its model.
    """
    shown = _every_stage(settings, trace)
    of = recorded(settings)
    return replace(shown, recorded=of) if of else shown


def recorded(settings: Settings) -> Recorded | None:
    """Return the head of a real model that is shown; None where it is none, or was changed."""
    return captured_head(settings.matrices) if settings.heads == 1 else None


def _every_stage(settings: Settings, trace: AttentionTrace) -> View:
    return View.of(
        trace,
        tokens=settings.tokens,
        key_tokens=settings.memory_tokens or None,
        item=settings.item,
        head=settings.head,
        names=settings.names,
        context=settings.context,
    )


def no_key_sentences(shown: View) -> list[str]:
    """One sentence on the queries that see no key, where there are any."""
    blind = np.flatnonzero(~shown.allowed.any(axis=1)).tolist()
    if not blind:
        return []
    who = listed([f"“{shown.labels['queries'][i]}”" for i in blind])
    does = "see no key: their weights and their outputs"
    if len(blind) == 1:
        does = "sees no key: its weights and its output"
    return [f"{capital(who)} {does} are 0."]


def one(settings: Settings, trace: AttentionTrace) -> AttentionTrace:
    """The attention of the chosen item and head alone: every array has two axes.

    It begins with the queries and keys that meet, normed and rotated where they are.
    """
    shown = _every_stage(settings, trace)
    return AttentionTrace(
        Q=shown.stages[shown.source("Q")],
        K=shown.stages[shown.source("K")],
        V=shown.stages["V"],
        scores=shown.stages["scores"],
        scaled=shown.stages["scaled"],
        masked=shown.stages["masked"],
        weights=shown.stages["weights"],
        output=shown.stages["output"],
        allowed=shown.allowed,
        scale=trace.scale,
    )


def sizes(s: Settings) -> dict[str, tuple[int, int]]:
    """(rows, columns) of every stage that :func:`view` shows, without running the attention.

    >>> from attention.session.state.examples import EXAMPLES
    >>> sizes(EXAMPLES["four-words"].build())["weights"]
    (4, 4)
    """
    absent = {"modified"} | set(MATRICES) - {"Q", "K", "V"} - set(s.matrices)
    absent |= set() if "P" in s.matrices else {"X_P"}
    absent |= set() if s.norm else {"Q_normed", "K_normed"}
    absent |= set() if s.rotary else {"Q_rotated", "K_rotated"}
    absent |= {"capped"} if s.softcap is None else set()
    bias = added(s)
    if allowed(s).all() and (bias is None or not bias[s.head].any()):
        absent.add("mask")
    if "W_O" not in s.matrices:
        absent |= {"projected"} if s.heads > 1 else {"projected", "joined"}
    if not s.context:
        absent.add("context")
    count = {axis: len(names) for axis, names in labels(s).items()}
    return {
        name: (count[stage.rows], count[stage.columns])
        for name, stage in STAGES.items()
        if name not in absent and (name in ALONE or not s.weights_alone)
    }


def labels(s: Settings) -> dict[str, tuple[str, ...]]:
    """What stands on the axes; also on those that no stage has now."""
    sizes = {
        "d_model": s.d_model or 0,
        "d_k": s.d_k,
        "d_v": s.d_v,
        "h·d_v": s.d_v * s.heads,
        "d_out": s.shape("W_O")[1] if "W_O" in s.matrices else 0,
    }
    dimensions = {axis: dimension(s.names.get(axis, ()), size) for axis, size in sizes.items()}
    words = {
        "queries": distinct(s.tokens),
        "keys": distinct(s.key_tokens),
        "sum": ("Σ",),
        "bias": ("b",),
    }
    if "R" in s.matrices:
        words["buckets"] = dimension((), s.shape("R")[0])
    return dimensions | words
