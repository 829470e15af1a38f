"""Panels are what a page shows: its numbers, what it hides, its labels and its texts."""

import re
from dataclasses import replace
from itertools import groupby

import messages
import numpy as np
import pytest

from attention import Paper, View, causal, scaled_dot_product_attention
from attention.explain.beside import stages, that_differ
from attention.figures.panes.across import layer_pane
from attention.figures.panes.comparison import apart
from attention.figures.panes.panes import panes
from attention.figures.paper.figure import of_panes
from attention.figures.paper.panels import panels_of
from attention.limits import MAX_PRINTED, BadInput
from attention.paper import SIZES
from attention.session.compare.pair import PRESETS, views
from attention.session.state.examples import EXAMPLES
from attention.vocabulary.numbers import rounded


def compared_panes(preset):
    """The panes of a comparison, as the page Compare has them first."""
    pair = PRESETS[preset].make(EXAMPLES["cat-sat"].build())
    a, b = views(pair)
    return [pane for both in that_differ(list(stages(a, b))) for pane in apart(both, a, b)]


@pytest.mark.parametrize("preset", ["scale", "mask"])
@pytest.mark.parametrize("size", SIZES)
def test_a_comparison_has_a_line_for_each_stage_and_no_title_between_its_sides(preset, size):
    panes = compared_panes(preset)
    sides = [len(list(group)) for _, group in groupby(panes, lambda pane: pane.group)]
    assert max(sides) == 3
    figure = of_panes(panes, replace(Paper(), **SIZES[size]))
    cells = [axes for axes in figure.axes if axes.get_label()]
    lines = {}
    for axes in cells:
        stage, *_ = axes.get_label().split("_")
        lines.setdefault(round(axes.get_position().y1, 6), []).append(stage)
    assert [len(line) for line in lines.values()] == sides
    assert all(len(set(line)) == 1 for line in lines.values())
    titles = [axes.get_title(loc="left").split(") ")[1] for axes in cells]
    assert titles == [pane.symbol for pane in panes]
    left = min(axes.get_position().x0 for axes in cells)
    named = [axes.get_position().x0 for axes in cells if axes.get_ylabel()]
    assert named == pytest.approx([left] * len(sides))


def test_the_difference_has_colours_of_its_own_and_both_sides_have_the_same():
    panes = compared_panes("scale")[:3]
    a, b, less = panels_of(panes, Paper(limits="data"))
    assert a.scale == b.scale != less.scale


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
        assert panel.texts.tolist() == rounded(matrix, shares=name == "weights")


def of_layer(n):
    """The weights of a layer, in colours alone on the screen."""
    Q, K = np.random.default_rng(1).normal(size=(2, n, 3))
    trace = scaled_dot_product_attention(Q, K, K, allowed=causal(n, n))
    words = tuple(f"t{k}" for k in range(n))
    return trace, layer_pane("Layer 0, head 0", trace, (words, words))


def test_what_the_screen_shows_in_colours_alone_is_printed_by_its_numbers():
    trace, pane = of_layer(100)
    assert pane.is_large
    (panel,) = panels_of([pane], Paper())
    assert np.array_equal(panel.values.compressed(), trace.weights[np.tri(100, dtype=bool)])
    assert np.array_equal(panel.hidden, ~np.tri(100, dtype=bool)) and not panel.texts.size


def test_more_cells_than_can_be_printed_are_refused():
    _, pane = of_layer(300)
    said = messages.PANES_TOO_LARGE.format(cells="180,000", max_printed=f"{MAX_PRINTED:,}")
    with pytest.raises(BadInput, match=re.escape(said)):
        of_panes([pane, pane], Paper())
