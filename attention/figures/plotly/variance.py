"""The charts on √d_k, each with its words.

How far scores spread, what softmax makes of it, and the matrices on Explore. As in
:mod:`attention.figures.plotly.heatmap`, a figure is Plotly's own JSON as a dict, and ``go.Figure``
opens it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attention.figures.plotly.charts import Chart, axis, chart, chart_layout, pointed_at
from attention.figures.plotly.theme import LINES
from attention.samples.variance import N_KEYS, Point, Prediction
from attention.vocabulary.notation import subscripts
from attention.vocabulary.numbers import number

SCALED, RAW, MATRIX = LINES[0], LINES[1], LINES[2]
REFERENCE = "#868c98"  # lines to compare with; readable on both papers
# The d_k axis always ends here, so that points stay in place while the ladder grows.
FURTHEST = 1024
_DIMENSION = subscripts("d_k")


def spread_panes(points: tuple[Point, ...], counts: np.ndarray, edges: np.ndarray) -> list[Chart]:
    """Variance against d_k, and how the scores of the last point lie around 0."""
    last, samples = points[-1], int(np.sum(counts))
    d_k, raw, scaled = last.d_k, last.raw, last.scaled
    measured = (
        f"At d_k = {d_k}, {samples:,} scores have variance {number(raw.variance)} ±"
        f" {number(raw.margin)}; theory says {d_k}. Scaled: {number(scaled.variance)} ±"
        f" {number(scaled.margin)}; theory says 1 (±\u00a0two standard errors)."
    )
    squeezed = (
        f"The same shape, squeezed by √{d_k} = {number(math.sqrt(d_k))}: the standard deviation is"
        f" {number(math.sqrt(raw.variance))} for the scores,"
        f" {number(math.sqrt(scaled.variance))} for the scaled ones."
    )
    if d_k == 1:
        squeezed = "At d_k = 1 the scale is 1: scores and scaled scores are the same."
    return [
        chart("variances", "Variance against d_k", measured, variances(points)),
        chart("histogram", f"The scores at d_k = {d_k}", squeezed, histogram(counts, edges, d_k)),
    ]


def softmax_panes(points: tuple[Point, ...], row: np.ndarray) -> list[Chart]:
    """One row of weights, and three measures of how sharp the rows are against d_k."""
    last = points[-1]
    d_k, raw, scaled = last.d_k, last.raw, last.scaled
    one = (
        f"Key {row[0].argmax() + 1} gets {_share(row[0].max())} unscaled, {_share(row[1].max())}"
        " scaled: a typical query (about half are sharper)."
    )
    top = (
        f"At d_k = {d_k} the strongest key gets {_share(raw.largest)} unscaled,"
        f" {_share(scaled.largest)} scaled; if equal, each of {N_KEYS} would get"
        f" {number(100 / N_KEYS)}\u00a0%."
    )
    nats = (
        f"In nats (natural logarithm): {number(raw.entropy)} unscaled, {number(scaled.entropy)}"
        f" scaled; at most ln {N_KEYS} = {number(math.log(N_KEYS))}."
        " At 0 one key has all the weight."
    )
    slope = (
        f"Σ w(1 − w) is {number(raw.slope)} unscaled, {number(scaled.slope)} scaled."
        " At 0 no gradient flows."
    )
    return [
        chart("row", f"One query, {N_KEYS} keys, d_k = {d_k}", one, row_of_weights(row)),
        chart("largest", "Largest weight", top, largest(points)),
        chart("entropy", "Entropy", nats, entropy(points)),
        chart("slope", "Gradient of the softmax", slope, slope_left(points)),
    ]


def explored_pane(measured: dict[str, float], predicted: dict[str, float], sentence: str) -> Chart:
    """The variances of Q, K, scores and scaled on Explore, with what theory makes of Q and K."""
    return chart("explored", "Variances on Explore", sentence, explored(measured, predicted))


def variances(points: tuple[Point, ...]) -> dict:
    """Variance of scores and of scaled scores against d_k, axes logarithmic, d_k and 1 dashed."""
    whole: list[float] = [1, FURTHEST]
    raw, scaled = _both(points, "variance", "scores")
    for line, kind in ((raw, "raw"), (scaled, "scaled")):
        margins = [getattr(point, kind).margin for point in points]
        line["error_y"] = {"type": "data", "array": margins, "thickness": 1.4, "width": 3}
    lines = [raw, _dashed(whole, whole, f"theory: {_DIMENSION}", RAW)]
    lines += [scaled, _dashed(whole, [1, 1], "theory: 1", SCALED)]
    return _against_d_k(lines, points, "variance", type="log", dtick=1)


def largest(points: tuple[Point, ...]) -> dict:
    """Mean largest weight of a row against d_k; all keys alike would give 1/N_KEYS."""
    lines = [*_both(points, "largest"), _reference(1 / N_KEYS, f"uniform: 1/{N_KEYS}")]
    return _against_d_k(lines, points, "largest weight, mean", range=[0, 1.03])


def entropy(points: tuple[Point, ...]) -> dict:
    """Mean entropy of a row against d_k, under ln N_KEYS."""
    most = math.log(N_KEYS)
    lines = [*_both(points, "entropy"), _reference(most, f"uniform: ln {N_KEYS}")]
    return _against_d_k(lines, points, "entropy in nats, mean", range=[0, 1.06 * most])


def slope_left(points: tuple[Point, ...]) -> dict:
    """Mean Σ w (1 − w) of a row, the trace of the softmax's Jacobian; at most 1 − 1/N_KEYS."""
    lines = [*_both(points, "slope"), _reference(1 - 1 / N_KEYS, f"uniform: {N_KEYS - 1}/{N_KEYS}")]
    return _against_d_k(lines, points, "Σ w (1 − w), mean", range=[0, 1.03])


def histogram(counts: np.ndarray, edges: np.ndarray, d_k: int) -> dict:
    """Scores and scaled scores as bars, each with its normal curve dashed.

    ``counts``: (b,) of the scores between the (b + 1,) ``edges``; the scaled scores are the same
    divided by √d_k.
    """
    counts, edges = np.asarray(counts), np.asarray(edges, float)
    data = [
        *_bars_and_curve("scores", RAW, 0.55, counts, edges, d_k),
        *_bars_and_curve("scaled", SCALED, 0.9, counts, edges / math.sqrt(d_k), 1),
    ]
    xaxis, yaxis = axis("score"), axis("samples in a bin")
    return {"data": data, "layout": chart_layout(xaxis, yaxis, lines=4, barmode="overlay")}


def _bars_and_curve(
    name: str, colour: str, opacity: float, counts: np.ndarray, edges: np.ndarray, variance: int
) -> tuple[dict, dict]:
    """Bars of the counts, and the normal curve of this variance that holds as many samples."""
    spread = math.sqrt(variance)
    bars = {
        "type": "bar",
        "name": name,
        "x": _middles(edges),
        "y": counts.tolist(),
        "width": np.diff(edges).tolist(),
        "marker": {"color": colour, "line": {"width": 0}},
        "opacity": opacity,
        "customdata": pointed_at(_middles(edges)),
        "hovertemplate": "around %{customdata}: %{y} samples<extra>" + name + "</extra>",
    }
    x = np.linspace(-4, 4, 81) * spread
    density = np.exp(-((x / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
    y = counts.sum() * (edges[1] - edges[0]) * density
    return bars, _dashed(x.tolist(), y.tolist(), f"normal, variance {variance}", colour)


def row_of_weights(row: np.ndarray) -> dict:
    """(2, N_KEYS), the weights of one query without the scale and with it, side by side."""
    keys = list(range(1, row.shape[1] + 1))
    data = [
        {
            "type": "bar",
            "name": name,
            "x": keys,
            "y": weights.tolist(),
            "marker": {"color": colour},
            "customdata": pointed_at(weights),
            "hovertemplate": "key %{x}: %{customdata}<extra>" + name + "</extra>",
        }
        for name, colour, weights in zip(("unscaled", "scaled"), (RAW, SCALED), row, strict=True)
    ]
    xaxis = axis("key", tickvals=keys[::3], showgrid=False)
    return {
        "data": data,
        "layout": chart_layout(xaxis, axis("weight", range=[0, 1.03]), bargap=0.25),
    }


def explored(measured: dict[str, float], predicted: dict[str, float]) -> dict:
    """One row for each stage: its variance as a dot, what theory predicts as an open diamond."""
    names = list(measured)
    dots = {
        "type": "scatter",
        "mode": "markers",
        "name": "measured",
        "x": list(measured.values()),
        "y": names,
        "marker": {"color": MATRIX, "size": 14},
        "customdata": pointed_at(measured.values()),
        "hovertemplate": "%{y}: %{customdata}<extra>measured</extra>",
    }
    theory = dots | {
        "name": "theory: independent, means 0",
        "x": list(predicted.values()),
        "y": list(predicted),
        "marker": {"color": RAW, "size": 17, "symbol": "diamond-open", "line": {"width": 2.5}},
        "customdata": pointed_at(predicted.values()),
        "hovertemplate": "%{y}: %{customdata}<extra>theory</extra>",
    }
    xaxis = axis("variance", **_log_ticks([*measured.values(), *predicted.values()]))
    yaxis = axis("", type="category", categoryorder="array", categoryarray=names[::-1])
    return {"data": [dots, theory], "layout": chart_layout(xaxis, yaxis)}


def _both(points: tuple[Point, ...], measure: str, unscaled: str = "unscaled") -> tuple[dict, dict]:
    """The measured line without the scale and the one with it."""
    return (
        _measured(points, [getattr(point.raw, measure) for point in points], unscaled, RAW),
        _measured(points, [getattr(point.scaled, measure) for point in points], "scaled", SCALED),
    )


def _measured(points: tuple[Point, ...], values: list[float], name: str, colour: str) -> dict:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": [point.d_k for point in points],
        "y": values,
        "line": {"color": colour, "width": 2.5},
        "marker": {"color": colour, "size": 8},
        "customdata": pointed_at(values),
        "hovertemplate": "%{customdata}<extra>" + name + "</extra>",
    }


def _dashed(x: list[float], y: list[float], name: str, colour: str) -> dict:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 2, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _reference(height: float, name: str) -> dict:
    return _dashed([1, FURTHEST], [height, height], name, REFERENCE)


def _against_d_k(lines: list[dict], points: tuple[Point, ...], title: str, **yaxis: Any) -> dict:
    """Lines over a logarithmic d_k, with an upright at the chosen one."""
    xaxis = axis(
        _DIMENSION,
        type="log",
        tickvals=[4**p for p in range(6)],
        range=[-0.06, math.log10(FURTHEST) + 0.06],
    )
    chosen = points[-1].d_k
    line = {"color": REFERENCE, "width": 1.5, "dash": "dot"}
    upright = {
        "type": "line",
        "x0": chosen,
        "x1": chosen,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
    }
    upright |= {"line": line, "layer": "below"}
    return {
        "data": lines,
        "layout": chart_layout(xaxis, axis(title, **yaxis), shapes=[upright], hovermode="x"),
    }


def _log_ticks(values: list[float]) -> dict:
    """A logarithmic axis with ticks at 1, 3, 10, 30 …; a linear one where something is 0."""
    if min(values) <= 0:
        return {"rangemode": "tozero"}
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    ends = [math.log10(min(values)) - 0.2, math.log10(max(values)) + 0.2]
    if last - first > 5:
        return {"type": "log", "range": ends, "exponentformat": "power", "nticks": 8}
    return {
        "type": "log",
        "range": ends,
        "tickvals": [m * 10.0**p for p in range(first - 1, last + 1) for m in (1, 3)],
    }


def _middles(edges: np.ndarray) -> list[float]:
    return ((edges[:-1] + edges[1:]) / 2).tolist()


def _share(value: float) -> str:
    """A weight as a percentage, never rounded to 100 where it is less."""
    if 0.9995 <= value < 1:
        return "over 99.9\u00a0%"
    return f"{number(100 * value, 1 if value > 0.99 or value < 0.1 else 0)}\u00a0%"


def explore_sentence(
    d_k: int,
    scores: float,
    rule: Prediction,
    means: tuple[float, float],
    count: int,
    names: tuple[str, str] = ("Q", "K"),
) -> str:
    """Whether the short rule holds for the matrices on Explore, with the numbers that decide it."""
    (q, k), (Q, K) = (number(mean) for mean in means), names
    start = (
        f"d_k · var({Q}) · var({K}) = {number(rule.centred)},"
        f" and the {count} scores have variance {number(scores)}."
    )
    if rule.centred == 0:
        return (
            f"{start} A matrix whose entries are all equal has variance 0, so the rule says"
            " nothing here."
        )
    if not rule.applies:
        return (
            f"{start} The rule does not apply here: it needs means near 0,"
            f" and those of {Q} and {K} are {q} and {k}. Independent entries with such means"
            f" would give {number(rule.full)}."
        )
    return (
        f"{start} The means of {Q} and {K}, {q} and {k}, are near 0, as the rule needs; but"
        " entries depend on each other and there are few scores, so the measured variance is"
        f" {number(scores / rule.centred)} times the rule's."
    )
