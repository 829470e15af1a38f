"""The numbers behind the charts on √d_k: as tables of pandas, and as CSV."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from attention import program
from attention.samples.variance import DISTRIBUTIONS, Point
from attention.session.state.about import UNKNOWN, About
from attention.session.state.settings import Settings

if TYPE_CHECKING:
    import pandas as pd


def what_was_drawn(s: Settings) -> About:
    """What the charts say of themselves: what their queries and keys were drawn from."""
    entries = DISTRIBUTIONS[s.distribution].label
    words = f"{entries} entries, seed {s.sample_seed}, {s.samples} scores for each d_k"
    return About({"samples": words})


def points_table(points: tuple[Point, ...]) -> pd.DataFrame:
    """Two rows for each d_k: the measures of the scores, and of the scaled scores."""
    import pandas as pd

    return pd.DataFrame(
        {"d_k": point.d_k, "kind": kind, **asdict(measured)}
        for point in points
        for kind, measured in (("scores", point.raw), ("scaled", point.scaled))
    )


def explored_table(
    means: dict[str, float], measured: dict[str, float], predicted: dict[str, float]
) -> pd.DataFrame:
    """A row for each stage: mean, variance, and what theory predicts, NaN where it does not."""
    import pandas as pd

    columns = {"mean": means, "variance": measured, "theory if means are 0": predicted}
    return pd.DataFrame(columns, index=list(measured))


def to_csv(points: tuple[Point, ...], about: About = UNKNOWN) -> bytes:
    """The table of the points; every number reads back as the same float64.

    What it is stands in a column, so that no line comes before the header.
    """
    origin = "; ".join([*about.inputs.values(), program.made_by()])
    table = points_table(points).assign(origin=origin)
    return table.to_csv(index=False, lineterminator="\n").encode()
