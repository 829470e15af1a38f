"""How far the numbers of a view spread, and how sharp its weights are, as HTML."""

from __future__ import annotations

import numpy as np

from attention.arrays.statistics import entropy, largest, variance
from attention.explain.view import View
from attention.html.tables import line, table
from attention.vocabulary.numbers import number
from attention.vocabulary.stages import STAGES

NATS = (
    "Entropy in nats (natural logarithm): 0 if one key has all the weight, ln n if each of n keys"
    " has the same."
)
_MOST_LINES = 64  # of a table; more are not read


def figures(view: View, digits: int) -> str:
    """How far the numbers spread, and how sharp the weights are, side by side."""
    spread = ""
    if "scores" in view.stages:  # no finished weights alone
        spread = (
            "<section><h3>How far the numbers spread</h3>"
            f"{statistics_table(view, digits)}<p class='fine'>"
            "Population variance, the mean squared distance from the mean (NumPy’s ddof=0), over"
            " the visible, finite cells.</p></section>"
        )
    return (
        f"<div class='beside'>{spread}"
        f"<section><h3>How sharp the weights are</h3>{rows_table(view, digits)}"
        f"<p class='fine'>{NATS}</p></section></div>"
    )


def _left_out(count: int, what: str) -> str:
    """What a table leaves out, in a sentence; "" where it holds all."""
    if count <= _MOST_LINES:
        return ""
    return f"<p class='fine'>The first {_MOST_LINES} of {count} {what}.</p>"


def statistics_table(view: View, digits: int) -> str:
    """Variance of Q, K, scores and scaled; of Q and K as given and as they meet."""
    names = dict.fromkeys(["Q", "K", view.source("Q"), view.source("K"), "scores", "scaled"])
    shown = [(STAGES[name].heading, view.stages[name]) for name in names]
    lines = [line([name, number(variance(matrix), max(digits, 4))]) for name, matrix in shown]
    visible = view.allowed  # and where −1e9 is added, the score is none
    if view.bias is not None:
        visible = visible & (view.bias == 0)
    if "mask" in view.stages:
        spread = variance(view.stages["masked"], visible)
        lines.append(line(["masked (visible cells)", number(spread, max(digits, 4))]))
    return table("numbers", ["stage", "variance"], lines)


def rows_table(view: View, digits: int) -> str:
    """Entropy and largest weight of each query's row."""
    weights = view.stages["weights"]
    entropies, peaks = entropy(weights), largest(weights, view.allowed)
    tops = np.where(view.allowed, weights, -np.inf).argmax(axis=-1)
    lines = []
    for i, token in enumerate(view.labels["queries"][:_MOST_LINES]):
        seen = int(view.allowed[i].sum())
        at = view.labels["keys"][tops[i]] if seen else "none"
        # raw weights are no distribution
        spread = number(entropies[i], digits) if view.softmax is True else "–"
        lines.append(line([token, spread, number(peaks[i], digits), at, str(seen)]))
    heads = ["query", "entropy (nats)", "largest weight", "strongest key", "visible keys"]
    return table("numbers", heads, lines) + _left_out(len(weights), "queries")
