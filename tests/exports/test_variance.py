"""The tables on √d_k and their CSV: every number is the measured one, to the last bit."""

import csv
import io
from dataclasses import asdict

import messages
import numpy as np
import pandas as pd

import attention
from attention.exports import variance as exports
from attention.samples import variance as maths
from attention.session.state.examples import EXAMPLES

POINTS = maths.measure_all("normal", 100, 3, 200)
LINES = [(p.d_k, k, m) for p in POINTS for k, m in (("scores", p.raw), ("scaled", p.scaled))]
HEADER = ["d_k", "kind", "variance", "margin", "largest", "entropy", "slope"]


def test_the_table_has_every_plotted_number():
    table = exports.points_table(POINTS)
    assert list(table) == HEADER
    assert list(zip(table["d_k"], table["kind"], strict=True)) == [line[:2] for line in LINES]
    for name in HEADER[2:]:
        assert table[name].tolist() == [getattr(measured, name) for _, _, measured in LINES]


def test_the_csv_reads_back_as_the_same_numbers():
    about = exports.what_was_drawn(EXAMPLES["four-words"].build())
    rows = list(csv.DictReader(io.StringIO(exports.to_csv(POINTS, about).decode())))
    said = messages.SAMPLED_ENTRIES.format(distribution="normal", seed=0, samples=1000)
    for row, (d_k, kind, measured) in zip(rows, LINES, strict=True):
        assert list(row) == [*HEADER, "origin"]
        assert (row["d_k"], row["kind"]) == (str(d_k), kind)
        assert row["origin"].startswith(said)
        assert f"attention-stages {attention.__version__}, " in row["origin"]
        for name, value in asdict(measured).items():
            assert float(row[name]) == value


def test_the_table_of_explore_leaves_theory_open_where_there_is_none():
    measured = {"Q": 1.0, "K": 2.0, "scores": 30.0, "scaled": 7.5}
    predicted = {"scores": 8.0, "scaled": 2.0}
    table = exports.explored_table(dict.fromkeys(measured, 0.5), measured, predicted)
    expected = pd.DataFrame(
        [[0.5, 1, np.nan], [0.5, 2, np.nan], [0.5, 30, 8], [0.5, 7.5, 2]],
        index=["Q", "K", "scores", "scaled"],
        columns=["mean", "variance", "theory if means are 0"],
    )
    pd.testing.assert_frame_equal(table, expected, check_exact=True)
