"""The numbers behind the charts on √d_k as HTML tables."""

from __future__ import annotations

from dataclasses import astuple

from attention.html.tables import line, table
from attention.samples.variance import Point
from attention.vocabulary.numbers import number

_HEADS = [
    "d_k",
    "kind",
    "variance",
    "± (2 standard errors)",
    "largest weight",
    "entropy (nats)",
    "Σ w(1 − w)",
]


def points_table(points: tuple[Point, ...], digits: int = 4) -> str:
    """Two lines for each d_k: the scores, and the scaled scores."""
    lines = [
        line([str(d_k), kind, *(number(v, digits) for v in values)])
        for d_k, kind, values in rows_of(points)
    ]
    return table("numbers", _HEADS, lines)


def explored_table(
    means: dict[str, float], measured: dict[str, float], predicted: dict[str, float], digits: int
) -> str:
    """One line for each stage: mean, variance, and what theory predicts where it does."""
    lines = []
    for name, value in measured.items():
        theory = number(predicted[name], digits) if name in predicted else "–"
        lines.append(line([name, number(means[name], digits), number(value, digits), theory]))
    return table("numbers", ["stage", "mean", "variance", "theory if means are 0"], lines)


def rows_of(points: tuple[Point, ...]) -> list[tuple[int, str, tuple[float, ...]]]:
    """(d_k, kind, measures) of each line: the scores, then the scaled scores."""
    return [
        (p.d_k, kind, astuple(m))
        for p in points
        for kind, m in (("scores", p.raw), ("scaled", p.scaled))
    ]
