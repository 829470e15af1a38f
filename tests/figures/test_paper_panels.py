"""Panels are what a page shows: its numbers, what it hides, its labels and its texts."""

import numpy as np
import pytest

from attention import Paper, View, causal, scaled_dot_product_attention
from attention.figures.panes import panes
from attention.figures.paper_panels import panels_of
from attention.numbers import rounded


@pytest.mark.parametrize("broken", [np.nan, np.inf, 1.0])
def test_panels_hold_the_numbers_and_hide_the_cells_of_heatmaps(broken):
    Q, K, V = np.random.default_rng(3).normal(size=(3, 6, 4))
    V[2, 1] = broken
    given = scaled_dot_product_attention(Q, K, V, allowed=causal(6, 6))
    view = View.of(given, tokens=["the", "cat", "sat", "on", "the", "mat"])
    found = panels_of(panes(view), Paper())
    for panel, (name, matrix) in zip(found, view.stages.items(), strict=True):
        hidden = np.zeros(matrix.shape, bool)
        if name in ("mask", "masked", "weights"):
            hidden = np.triu(np.ones((6, 6), bool), 1)
        assert np.array_equal(panel.hidden, hidden)
        assert np.array_equal(panel.values.mask, hidden | ~np.isfinite(matrix)), name
        assert np.array_equal(panel.values.compressed(), matrix[~panel.values.mask]), name
        assert panel.labels == (view.rows(name), view.columns(name))
        assert panel.texts.tolist() == rounded(matrix)
