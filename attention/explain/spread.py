"""How far the numbers of a view spread, and how sharp its weights are."""

from __future__ import annotations

import numpy as np

from attention.arrays.statistics import entropy, largest, variance
from attention.explain.view import View
from attention.vocabulary.stages import STAGES


def variances(view: View) -> dict[str, float]:
    """Return the population variance of Q, K, scores and scaled, by their headings.

    Of Q and K as given and as they meet; of the masked scores that of the visible cells. A view of
    finished weights has none.

    >>> from attention import scaled_dot_product_attention
    >>> trace = scaled_dot_product_attention([[1.0], [3.0]], [[0.0], [2.0]], [[1.0], [1.0]])
    >>> variances(View.of(trace))
    {'Q': 1.0, 'K': 1.0, 'scores': 6.0, 'scaled': 6.0}
    """
    if "scores" not in view.stages:
        return {}
    names = dict.fromkeys(["Q", "K", view.source("Q"), view.source("K"), "scores", "scaled"])
    found = {STAGES[name].heading: variance(view.stages[name]) for name in names}
    visible = view.allowed  # and where −1e9 is added, the score is none
    if view.bias is not None:
        visible = visible & (view.bias == 0)
    if "mask" in view.stages:
        found["masked (visible cells)"] = variance(view.stages["masked"], visible)
    return found


def sharpness(view: View) -> dict[str, list]:
    """Return what tells how sharp the weights of each query are, as columns of a table.

    The entropy is NaN where the weights are no distribution; a query that sees no key has none that
    is the strongest.

    >>> from attention import scaled_dot_product_attention
    >>> trace = scaled_dot_product_attention([[0.0]], [[1.0], [2.0]], [[1.0], [1.0]])
    >>> sharpness(View.of(trace))["visible keys"]
    [2]
    """
    weights, allowed, keys = view.stages["weights"], view.allowed, view.labels["keys"]
    counts = allowed.sum(axis=-1)
    tops = np.where(allowed, weights, -np.inf).argmax(axis=-1)
    entropies = entropy(weights) if view.softmax is True else np.full(len(weights), np.nan)
    return {
        "query": list(view.labels["queries"]),
        "entropy (nats)": entropies.tolist(),
        "largest weight": largest(weights, allowed).tolist(),
        "strongest key": [
            keys[k] if seen else "none" for k, seen in zip(tops, counts, strict=True)
        ],
        "visible keys": counts.tolist(),
    }
