"""The walk of a query and the figures about the stages as HTML, everything typed escaped."""

from __future__ import annotations

import html

import numpy as np

from attention.arithmetic import Walk, terms, vector
from attention.captions import fills, pushed
from attention.html.tables import line, table
from attention.numbers import number
from attention.scores import SIGMOID
from attention.stages import STAGES
from attention.statistics import entropy, largest, variance
from attention.view import View

# What each step is called, and the stage that it makes.
STEPS = ("q · k", "scale", "mask", "exp and Σ", "weights", "weighted sum")
MAKES = ("scores", "scaled", "masked", "weights", "weights", "output")
_MOST_TERMS = 6
_MOST_LINES = 64  # of a table; more are not read


def walk(view: View, w: Walk, token: str, digits: int, steps: int = 6) -> str:
    """The first ``steps`` sentences of a query's walk, and its table."""
    sentences = walk_sentences(view, w, token, digits)
    items = [f"<li>{html.escape(text)}</li>" for text in sentences[:steps]]
    items += ["<li class='next'>…</li>"] * (len(sentences) - steps)
    return f"<ol class='walk'>{''.join(items)}</ol>{walk_table(view, w, digits, steps)}"


def figures(view: View, digits: int) -> str:
    """How far the numbers spread, and how sharp the weights are, side by side."""
    spread = ""
    if "scores" in view.stages:  # no finished weights alone
        spread = (
            "<section><h3>How far the numbers spread</h3>"
            f"{statistics_table(view, digits)}<p class='fine'>"
            "Population variance (ddof 0) over the visible, finite cells.</p></section>"
        )
    return (
        f"<div class='beside'>{spread}"
        f"<section><h3>How sharp the weights are</h3>{rows_table(view, digits)}</section></div>"
    )


def walk_sentences(view: View, w: Walk, token: str, digits: int) -> list[str]:
    """One sentence for each step of the walk, with its numbers."""
    seen = int(np.isfinite(w.masked).sum())
    return [
        f"The query of “{token}” is {_vector(w.query, digits)}. Multiply it with each key,"
        " number by number, and add up.",
        _scale_sentence(view, len(w.query), digits),
        _mask_sentence(view, w, seen),
        _exp_sentence(view, w, seen, digits),
        _weights_sentence(view, w, seen, digits),
        _output_sentence(w, digits),
    ]


def _scale_sentence(view: View, d_k: int, digits: int) -> str:
    said = f"multiply by {number(view.scale, digits)}."
    if view.divides_by_root:
        said = f"divide by √{d_k} = {number(d_k**0.5, digits)}."
    if view.softcap is not None:
        said += f" Cap: tanh keeps them within ±{number(view.softcap, digits)}."
    return f"Scale: {said}"


def _exp_sentence(view: View, w: Walk, seen: int, digits: int) -> str:
    if not view.softmax:
        return "Softmax is off: exp is not taken."
    if view.softmax is not True:
        return f"No row is added up: a {view.softmax} takes the place of the softmax."
    if not seen:
        return "Every key of this query is hidden: there is nothing to take exp of."
    sink = "" if view.sink is None else f" the sink’s is {number(w.sink, digits)}, and with it"
    return (
        f"Subtract the largest, {number(w.highest, digits)}, and take exp;{sink}"
        f" they add up to Σ = {number(w.total, digits)}."
    )


def _weights_sentence(view: View, w: Walk, seen: int, digits: int) -> str:
    if not view.softmax:
        return "The weights are the masked scores themselves."
    if not seen:
        return "All weights are 0."
    if view.softmax == SIGMOID:
        return "Each weight is 1 / (1 + exp(−score)), by itself."
    if view.softmax is not True:
        return "The weights are what the given function makes of the row."
    if view.sink is not None:
        together = number(float(w.weights.sum()), digits)
        return (
            f"Divide by Σ: these are the weights; together they make {together}, and the sink takes"
            " the rest."
        )
    return "Divide by Σ: these are the weights, and together they make 1."


def _output_sentence(w: Walk, digits: int) -> str:
    exactly = " to the last digit"
    nearly = f", up to {number(w.difference, 1)} of rounding"
    return (
        f"Multiply each value with its weight and add up: {_vector(w.output, digits)}."
        f" The matrix form has the same row{exactly if w.difference == 0 else nearly}."
    )


def _mask_sentence(view: View, w: Walk, seen: int) -> str:
    added = 0 if view.bias is None else int((view.bias[w.row] != 0).sum())
    if added and not fills(view):
        hidden = "" if seen == len(w.masked) else "; hidden ones become −∞"
        if not hidden and pushed(view)[w.row].any():
            hidden = "; hidden ones get −1e9 besides"
        return f"Mask: a bias is added to {added} of {len(w.masked)} keys{hidden}."
    if added:
        return (
            f"Mask: {added} of {len(w.masked)} keys get −1e9 added;"
            " that hides them only beside one without it."
        )
    if seen < len(w.masked):
        return f"Mask: {seen} of {len(w.masked)} keys stay visible; the others become −∞."
    return "Mask: every key is visible."


def walk_table(view: View, w: Walk, digits: int, steps: int = 6) -> str:
    """One line for each key, one column for each step; the first ``steps`` of them are filled."""
    heads = [
        "key",
        "query · key",
        "score",
        "scaled",
        "masked",
        "exp(· − max)",
        "weight",
        "weight × value",
    ]
    needs = [0, 1, 1, 2, 3, 4, 5, 6]
    lines = []
    for j, key in enumerate(view.labels["keys"][:_MOST_LINES]):
        hidden = not view.allowed[w.row, j]
        exp = number(w.exponentials[j], digits) if view.softmax is True else "–"
        cells = [
            key,
            _terms(w.query, view.stages[view.source("K")][j], digits),
            number(w.scores[j], digits),
            number(w.scaled[j], digits),
            number(w.masked[j], digits),
            exp,
            number(w.weights[j], digits),
            _vector(w.shares[j], digits),
        ]
        shown = [text if need <= steps else "" for text, need in zip(cells, needs, strict=True)]
        lines.append(line(shown, "hidden" if hidden and steps >= 3 else ""))
    total = number(w.total, digits) if view.softmax is True and steps >= 4 else ""
    weights = number(float(w.weights.sum()), digits) if steps >= 5 else ""
    output = f"Σ = {_vector(w.output, digits)}" if steps >= 6 else ""
    foot = line(["sum", "", "", "", "", total, weights, output], "sum")
    left_out = _left_out(len(w.weights), "keys", " The sums are those of all.")
    return table("walk", heads, lines + [foot]) + left_out


def _left_out(count: int, what: str, more: str = "") -> str:
    """What a table leaves out, in a sentence; "" where it holds all."""
    if count <= _MOST_LINES:
        return ""
    return f"<p class='fine'>The first {_MOST_LINES} of {count} {what}.{more}</p>"


def statistics_table(view: View, digits: int) -> str:
    """Variance of Q, K, scores and scaled; of Q and K as given and as they meet."""
    names = dict.fromkeys(["Q", "K", view.source("Q"), view.source("K"), "scores", "scaled"])
    shown = [(STAGES[name].heading, view.stages[name]) for name in names]
    lines = [line([name, number(variance(matrix), max(digits, 4))]) for name, matrix in shown]
    visible = view.allowed  # and where −1e9 is added, the score is none
    if view.bias is not None:
        visible = visible & (view.bias == 0)
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


def _terms(q: np.ndarray, k: np.ndarray, digits: int) -> str:
    if len(q) <= _MOST_TERMS:
        return terms(q, k, digits)
    return f"{terms(q[:3], k[:3], digits)} + … + {terms(q[-1:], k[-1:], digits)}"


def _vector(values: np.ndarray, digits: int) -> str:
    if len(values) <= 2 * _MOST_TERMS:
        return vector(values, digits)
    start, end = vector(values[:4], digits), vector(values[-2:], digits)
    return f"{start[:-1]}, …, {end[1:]}"
