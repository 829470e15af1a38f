"""The numbers behind the charts on √d_k: as an HTML table, and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import fields

from attention.html.variance import rows_of
from attention.numbers import exact
from attention.variance import Measured, Point

_MEASURES = [f.name for f in fields(Measured)]


def to_csv(points: tuple[Point, ...]) -> bytes:
    """The same rows; every number reads back as the same float64."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["d_k", "kind", *_MEASURES])
    writer.writerows([d_k, kind, *map(exact, values)] for d_k, kind, values in rows_of(points))
    return text.getvalue().encode()
