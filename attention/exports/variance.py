"""The numbers behind the charts on √d_k: as an HTML table, and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, fields

from attention.exports.html import line, table
from attention.numbers import exact, number
from attention.variance import Measured, Point

_MEASURES = [f.name for f in fields(Measured)]
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
        for d_k, kind, values in _rows(points)
    ]
    return table("numbers", _HEADS, lines)


def to_csv(points: tuple[Point, ...]) -> bytes:
    """The same rows; every number reads back as the same float64."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["d_k", "kind", *_MEASURES])
    writer.writerows([d_k, kind, *map(exact, values)] for d_k, kind, values in _rows(points))
    return text.getvalue().encode()


def explored_table(
    means: dict[str, float], measured: dict[str, float], predicted: dict[str, float], digits: int
) -> str:
    """One line for each stage: mean, variance, and what theory predicts where it predicts something."""
    lines = []
    for name, value in measured.items():
        theory = number(predicted[name], digits) if name in predicted else "–"
        lines.append(line([name, number(means[name], digits), number(value, digits), theory]))
    return table("numbers", ["stage", "mean", "variance", "theory, means 0"], lines)


def _rows(points: tuple[Point, ...]):
    return [
        (p.d_k, kind, astuple(m))
        for p in points
        for kind, m in (("scores", p.raw), ("scaled", p.scaled))
    ]
