"""Several heads, or several layers, as one map of weights: means, and attention rollout."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attention.arrays.conversion import as_array, shown
from attention.core.recorded import RECEIVED
from attention.core.trace import AttentionTrace
from attention.limits import BadInput
from attention.models.kinds import CROSS, ITEMS, stack_of
from attention.models.labels import real_queries, words_of
from attention.models.taken import Call, Taken
from attention.vocabulary.sentences import amount, in_words


def mean_of_heads(call: Call) -> AttentionTrace:
    """Return the mean of all heads of a call, as a trace of weights alone.

    The mean is over the heads that were recorded, each counting the same. It hides differences
    between heads: a key with a small mean may have all the weight of one of them.

    Parameters
    ----------
    call : Call
        Of a capture, such as ``taken[3]``.

    Returns
    -------
    AttentionTrace
        Its weights are (b, 1, n_q, n_k).

    Raises
    ------
    TypeError
        If ``call`` is not a call of a capture.

    >>> from attention.models.examples import load
    >>> call = load("pronoun")[3]
    >>> mean = mean_of_heads(call).weights
    >>> mean.shape, bool(np.allclose(mean[0, 0], call.trace().weights[0].mean(axis=0)))
    ((1, 1, 15, 15), True)
    """
    _check_call(call)
    total, seen = _sum_of_heads(call)
    trace, place = AttentionTrace.of_weights(total / call.Q.shape[1], allowed=seen), call.place()
    of = replace(place, heads=(0,), combined=f"mean of {amount(len(place.heads), 'head')}")
    return replace(trace, recorded=of)


def received(call: Call) -> AttentionTrace:
    """Return the mean weight that each key receives, as a trace of weights alone.

    The mean is over the queries that see any key and are no padding, so that a row adds up to 1
    where theirs do. Under a look-ahead mask the first keys are seen by more queries, and receive
    more for that alone.

    Parameters
    ----------
    call : Call
        Of a capture, such as ``taken[3]``.

    Returns
    -------
    AttentionTrace
        Its weights are (b, h, 1, n_k): one row for each head.

    Raises
    ------
    TypeError
        If ``call`` is not a call of a capture.

    >>> from attention.models.examples import load
    >>> found = received(load("pronoun")[3]).weights
    >>> found.shape, found.sum(axis=-1).round(6).tolist()
    ((1, 5, 1, 15), [[[1.0], [1.0], [1.0], [1.0], [1.0]]])
    """
    _check_call(call)
    b, h, _, n_k = *call.Q.shape[:3], call.K.shape[2]
    means: np.ndarray = np.zeros((b, h, 1, n_k))
    seen: np.ndarray = np.zeros((b, h, 1, n_k), bool)
    real = real_queries(Taken(calls=[call]), call)[:, None, :, None]
    for head in range(h):
        trace = call.trace(head=head)
        sees = trace.allowed.any(axis=-1, keepdims=True) & real  # (b, 1, n_q, 1)
        count = np.maximum(np.count_nonzero(sees, axis=-2, keepdims=True), 1)
        total = np.where(sees, trace.weights, 0).sum(axis=-2, keepdims=True)
        means[:, head] = np.asarray(total / count)[:, 0]
        seen[:, head] = np.asarray(trace.allowed.any(axis=-2, keepdims=True))[:, 0]
    place, alone = call.place(), Taken(calls=[call])
    of = replace(
        place,
        when=", ".join(filter(None, (place.when, RECEIVED))),
        labels=tuple((("average",), words_of(alone, call, item)[1]) for item in range(b)),
        patches=place.patches and replace(place.patches, first=None),
    )
    return replace(AttentionTrace.of_weights(means, allowed=seen), recorded=of)


def rollout(taken: Taken, residual: float = 0.5, *, kind: str = "") -> AttentionTrace:
    """Return how much of each token of the input reaches each token after all layers.

    Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3: of each layer
    A' = residual · I + (1 − residual) · A, where A is the mean of its heads and I the residual
    connection; the product A'_L ⋯ A'_2 A'_1 has a row for each token after the last layer.

    Its limits: values, output projections, norms and feed-forward layers are left out, all heads
    count the same, and the share of the residual connection is a guess, the same in every layer.
    Layers and heads that were not recorded are left out of the product. A row adds up to 1 where
    the rows of all layers do.

    Parameters
    ----------
    taken : Taken
        Self-attention of one stack of layers, over one sequence. A generation is joined first, as
        :meth:`attention.Taken.joined` does.
    residual : float, from 0 to 1
        The share of the residual connection.
    kind : str
        Only calls of this kind, such as "encoder", where the capture has several.

    Returns
    -------
    AttentionTrace
        Weights alone, (b, 1, n, n).

    Raises
    ------
    BadInput
        One sentence: there are several stacks, cross-attention, several runs, other numbers of
        queries than of keys or from layer to layer, or a generation does not join.
    TypeError
        If ``taken`` is no capture, or ``residual`` no number.

    >>> from attention.models.examples import load
    >>> trace = rollout(load("pronoun"))
    >>> trace.weights.shape, bool(np.allclose(trace.weights.sum(axis=-1), 1))
    ((1, 1, 15, 15), True)
    """
    if not isinstance(taken, Taken):
        raise TypeError(f"taken is {shown(taken)}; expected a capture, an attention.Taken.")
    if not isinstance(kind, str):
        raise TypeError(f"kind is {shown(kind)}; expected text, such as 'encoder'.")
    share = _share(residual)
    product: np.ndarray | None = None
    calls = _layers(taken, kind)
    for call in calls:
        mean = _sum_of_heads(call)[0] / call.Q.shape[1]
        mixed = share * np.eye(mean.shape[-1]) + (1 - share) * mean
        product = mixed if product is None else mixed @ product
    assert product is not None
    of = replace(
        taken.place(calls[0]),
        layer=-1,
        heads=(0,),
        combined=f"rollout of {amount(len(calls), 'layer')}",
        labels=tuple(words_of(taken, calls[0], item) for item in range(len(product))),
    )
    return replace(AttentionTrace.of_weights(product), recorded=of)


def _share(residual: Any) -> float:
    """Return the share of the residual connection; raise one sentence if it is none."""
    given = as_array("residual", residual)
    if given.ndim or given.dtype.kind not in "iuf":
        raise TypeError(f"residual is {shown(residual)}; expected a number from 0 to 1.")
    if not 0 <= given <= 1:
        raise BadInput(f"residual is {shown(residual)}; expected a number from 0 to 1.")
    return float(given)


def _layers(taken: Taken, kind: str) -> list[Call]:
    """Return one call of each layer, in their order; raise one sentence where they do not chain."""
    calls = [call for call in taken if kind in ("", call.kind)]
    kinds = list(dict.fromkeys(call.kind or "unknown" for call in taken))
    if not taken.calls:
        raise BadInput("the capture is empty; expected a call of each layer.")
    if not calls:
        there = f"; there are {in_words(kinds)}" if kinds else ""
        raise BadInput(f"kind is {shown(kind)}, and no call is of it{there}.")
    if any(call.kind == CROSS for call in calls):
        raise BadInput(
            f"rollout follows one sequence, and this capture has {in_words(kinds)} attention; give"
            " kind=, such as kind='decoder'."
        )
    stacks = list(dict.fromkeys(stack_of(call.module) for call in calls))
    if len(stacks) > 1:
        raise BadInput(
            f"rollout follows one stack of layers, and these are of {in_words(stacks, 4)}; give"
            " kind=, or Taken(calls=[…]) of one stack."
        )
    if any(call.run for call in calls):
        raise BadInput("the model ran several times; give Taken(calls=[…]) of one run.")
    if any(call.repeat == "step" for call in calls):
        calls = [taken.joined(layer) for layer in dict.fromkeys(call.layer for call in calls)]
    if odd := next((call for call in calls if call.repeat not in ("call", "use", "step")), None):
        raise BadInput(f"layer {odd.layer}, {odd.when} is another run of the same layer.")
    if any(note.startswith(ITEMS) for call in calls for note in call.notes):
        raise BadInput("rollout follows whole pictures, and the items of this capture are windows.")
    if all(call.repeat == "call" for call in calls):  # given ones may come in any order
        calls.sort(key=lambda call: call.layer)
    shape = calls[0].Q.shape[0], calls[0].Q.shape[2], calls[0].K.shape[2]
    for call in calls:
        b, n_q, n_k = here = call.Q.shape[0], call.Q.shape[2], call.K.shape[2]
        if n_q != n_k:
            raise BadInput(
                f"layer {call.layer} has {amount(n_q, 'query', 'queries')} and"
                f" {amount(n_k, 'key')}; expected as many queries as keys."
            )
        if here != shape:
            raise BadInput(
                f"layer {call.layer} has {amount(n_q, 'token')} in {amount(b, 'item')}; expected"
                f" {shape[1]} in {shape[0]}, as in layer {calls[0].layer}."
            )
    return calls


def _sum_of_heads(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """(b, 1, n_q, n_k) twice: the sum of the heads' weights, and where one of them may look."""
    shape = call.Q.shape[0], 1, call.Q.shape[2], call.K.shape[2]
    total, seen = np.zeros(shape), np.zeros(shape, bool)
    for head in range(call.Q.shape[1]):
        trace = call.trace(head=head)
        total += trace.weights
        seen |= trace.allowed
    return total, seen


def _check_call(call: Any) -> None:
    if not isinstance(call, Call):
        raise TypeError(f"call is {shown(call)}; expected a call of a capture, such as taken[3].")
