"""The numbers behind the charts on √d_k: as an HTML table, and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import fields

from attention import program
from attention.html.variance import rows_of
from attention.samples.variance import DISTRIBUTIONS, Measured, Point
from attention.session.state.about import UNKNOWN, About
from attention.session.state.settings import Settings
from attention.vocabulary.numbers import exact

_MEASURES = [f.name for f in fields(Measured)]


def what_was_drawn(s: Settings) -> About:
    """What the charts say of themselves: what their queries and keys were drawn from."""
    entries = DISTRIBUTIONS[s.distribution].label
    words = f"{entries} entries, seed {s.sample_seed}, {s.samples} scores for each d_k"
    return About({"samples": words})


def to_csv(points: tuple[Point, ...], about: About = UNKNOWN) -> bytes:
    """The same rows; every number reads back as the same float64.

    What it is stands in columns, so that no line comes before the header.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["d_k", "kind", *_MEASURES, "origin"])
    origin = "; ".join([*about.inputs.values(), program.made_by()])
    for d_k, kind, values in rows_of(points):
        writer.writerow([d_k, kind, *map(exact, values), origin])
    return text.getvalue().encode()
