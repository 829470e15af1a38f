"""The charts on √d_k: Plotly opens them, and what they plot is what was measured."""

import math

import messages
import numpy as np
import plotly.graph_objects as go
import pytest

from attention.figures.plotly import variance as figures
from attention.figures.plotly.charts import Chart, stacked
from attention.samples import variance as maths

ASKED = ("normal", 100, 3, 200)
POINTS = maths.measure_all(*ASKED)
COUNTS, EDGES = maths.histogram(maths.draw_scores(*ASKED))
ROW = maths.middle_row(*ASKED)
MEASURED, PREDICTED = (
    {"Q": 1.0, "K": 2.0, "scores": 30.0, "scaled": 7.5},
    {"scores": 8.0, "scaled": 2.0},
)
PANES = [
    *figures.spread_panes(POINTS, COUNTS, EDGES),
    *figures.softmax_panes(POINTS, ROW),
    figures.explored_pane(MEASURED, PREDICTED, "A sentence."),
]


def traces(figure):
    return {trace.name: trace for trace in go.Figure(figure).data}


@pytest.mark.parametrize("pane", PANES, ids=lambda pane: pane.name)
def test_plotly_opens_every_chart_with_axes_named_and_a_text_alternative(pane):
    figure = go.Figure(pane.figure)
    assert figure.layout.xaxis.title.text
    assert figure.layout.yaxis.title.text or pane.name == "explored"
    assert len({trace.name for trace in figure.data}) == len(figure.data) >= 2
    assert pane.sentence in pane.alt and pane.symbol in pane.alt
    assert isinstance(pane, Chart)


@pytest.mark.parametrize(
    ("draw", "what", "name"),
    [
        (figures.variances, "variance", "scores"),
        (figures.largest, "largest", "unscaled"),
        (figures.entropy, "entropy", "unscaled"),
        (figures.slope_left, "slope", "unscaled"),
    ],
)
def test_the_lines_are_the_measured_numbers(draw, what, name):
    found = traces(draw(POINTS))
    for line, kind in ((found[name], "raw"), (found["scaled"], "scaled")):
        assert list(line.x) == [1, 2, 4, 8, 16, 32, 64, 100]
        assert list(line.y) == [getattr(getattr(point, kind), what) for point in POINTS]


def test_theory_is_dashed_and_runs_along_d_k_and_along_1():
    found = traces(figures.variances(POINTS))
    raw, scaled = found["theory: d<sub>k</sub>"], found["theory: 1"]
    assert raw.line.dash == scaled.line.dash == "dash"
    assert tuple(raw.x) == tuple(raw.y) == (1, 1024)
    assert tuple(scaled.y) == (1, 1)
    assert found["scores"].line.dash is None
    assert found["scores"].line.color == raw.line.color != scaled.line.color


def test_both_axes_of_the_variances_are_logarithmic_and_d_k_stays_in_place():
    for points in (POINTS, POINTS[:1]):
        layout = go.Figure(figures.variances(points)).layout
        assert layout.xaxis.type == layout.yaxis.type == "log"
        assert layout.xaxis.range[0] < 0 and layout.xaxis.range[1] > math.log10(1024)
        assert layout.shapes[0].x0 == points[-1].d_k


@pytest.mark.parametrize(
    ("draw", "height"),
    [(figures.largest, 1 / 16), (figures.entropy, math.log(16)), (figures.slope_left, 15 / 16)],
)
def test_equal_weights_are_a_dashed_line_at_their_height(draw, height):
    line = go.Figure(draw(POINTS)).data[-1]
    assert tuple(line.y) == pytest.approx((height, height)) and line.line.dash == "dash"
    assert go.Figure(draw(POINTS)).layout.yaxis.range[1] > height


def test_the_error_bars_are_the_margins():
    found = traces(figures.variances(POINTS))
    assert list(found["scores"].error_y.array) == [point.raw.margin for point in POINTS]
    assert list(found["scaled"].error_y.array) == [point.scaled.margin for point in POINTS]


def test_the_histogram_shows_the_counts_twice_and_the_second_time_squeezed():
    scores, scaled = (
        traces(figures.histogram(COUNTS, EDGES, 100))[name] for name in ("scores", "scaled")
    )
    assert list(scores.y) == list(scaled.y) == COUNTS.tolist()
    for bars, by in ((scores, 1), (scaled, 10)):
        left = np.array(bars.x) - np.array(bars.width) / 2
        assert left == pytest.approx(EDGES[:-1] / by)
        assert np.array(bars.width) == pytest.approx(np.diff(EDGES) / by)


def test_the_normal_curves_hold_as_many_samples_as_the_bars():
    found = traces(figures.histogram(COUNTS, EDGES, 100))
    for name, by in (("normal, variance 100", 1), ("normal, variance 1", 10)):
        x, y = np.array(found[name].x), np.array(found[name].y)
        area = ((y[1:] + y[:-1]) / 2 * np.diff(x)).sum()
        assert area / ((EDGES[1] - EDGES[0]) / by) == pytest.approx(COUNTS.sum(), rel=0.001)


def test_the_bars_are_the_weights_of_the_row():
    found = traces(figures.row_of_weights(ROW))
    assert list(found["unscaled"].y) == ROW[0].tolist()
    assert list(found["scaled"].y) == ROW[1].tolist()


def test_the_matrices_on_explore_are_dots_and_theory_is_an_open_diamond():
    found = traces(figures.explored(MEASURED, PREDICTED))
    dots, theory = found["measured"], found["theory: independent, means 0"]
    assert dict(zip(dots.y, dots.x, strict=True)) == MEASURED
    assert dict(zip(theory.y, theory.x, strict=True)) == PREDICTED
    assert theory.marker.symbol == "diamond-open"


@pytest.mark.parametrize(
    ("value", "type_"), [(0.0, None), (1e-9, "log"), (1e60, "log"), (30.0, "log")]
)
def test_the_axis_of_explore_is_logarithmic_unless_something_is_zero(value, type_):
    axis = go.Figure(figures.explored({**MEASURED, "Q": value}, PREDICTED)).layout.xaxis
    assert axis.type == type_
    if type_:
        assert axis.range[0] < math.log10(min(value, 2)) and axis.range[1] > math.log10(
            max(value, 30)
        )


def test_the_sentences_name_the_numbers_of_the_chosen_d_k():
    words = {pane.name: pane.sentence for pane in PANES}
    raw, scaled = POINTS[-1].raw, POINTS[-1].scaled
    said = messages.VARIANCE_OF_SCORES.format(
        count=200, variance=f"{raw.variance:.2f}", margin=f"{raw.margin:.2f}", d_k=100
    )
    assert said in words["variances"]
    said = messages.VARIANCE_WHEN_SCALED.format(
        variance=f"{scaled.variance:.2f}", margin=f"{scaled.margin:.2f}"
    )
    assert said in words["variances"]
    said = messages.DEVIATIONS.format(
        scores=f"{math.sqrt(raw.variance):.2f}", scaled=f"{math.sqrt(scaled.variance):.2f}"
    )
    assert said in words["histogram"]
    assert messages.KEY_TAKES.format(key=ROW[0].argmax() + 1) in words["row"]
    said = messages.UNSCALED_AND_SCALED.format(
        unscaled=f"{100 * raw.largest:.0f}\u00a0%", scaled=f"{100 * scaled.largest:.0f}\u00a0%"
    )
    assert said in words["largest"]
    said = messages.NATS_LEFT.format(unscaled=f"{raw.entropy:.2f}", scaled=f"{scaled.entropy:.2f}")
    assert said in words["entropy"]
    said = messages.UNSCALED_AND_SCALED.format(
        unscaled=f"{raw.slope:.2f}", scaled=f"{scaled.slope:.2f}"
    )
    assert said in words["slope"]


def test_a_weight_just_short_of_everything_is_not_said_to_be_100_percent():
    row = np.zeros((2, 16))
    row[:, 0], row[:, 1] = 0.99999, 0.00001
    said = messages.TAKES_OVER.format(share="99.9\u00a0%")
    assert said in figures.softmax_panes(POINTS, row)[0].sentence


def test_at_d_k_1_the_page_says_that_the_scale_changes_nothing():
    points = maths.measure_all("normal", 1, 0, 50)
    counts, edges = maths.histogram(maths.draw_scores("normal", 1, 0, 50))
    said = figures.spread_panes(points, counts, edges)[1].sentence
    assert said.startswith(messages.SCALE_IS_1)


@pytest.mark.parametrize(
    ("Q", "K", "words"),
    [
        ([[5.0, 6.0]], [[3.0, 4.0]], messages.RULE_DOES_NOT_APPLY),
        ([[1.0, -1.0]], [[2.0, -2.0]], messages.RULE_APPLIES),
        ([[1.0, 1.0]], [[2.0, -2.0]], messages.NO_SPREAD),
    ],
)
def test_the_sentence_on_explore_says_whether_the_rule_applies(Q, K, words):
    Q, K = np.array(Q), np.array(K)
    sentence = figures.explore_sentence(
        2, (Q @ K.T).var(), maths.predict(Q, K), (Q.mean(), K.mean()), 1
    )
    assert words in sentence


def test_panels_have_the_lines_of_their_charts_over_one_axis():
    charts = figures.softmax_panes(POINTS, ROW)[1:]
    pane = stacked("sharpness", "How sharp", charts)
    figure = go.Figure(pane.figure)
    lines = [line for chart in charts for line in chart.figure["data"]]
    assert len(figure.data) == len(lines) == 9
    for drawn, line in zip(figure.data, lines, strict=True):
        assert list(drawn.y) == list(line["y"]) and list(drawn.x) == list(line["x"])
        assert drawn.name == line["name"].split(":")[0] and not drawn.xaxis
    assert [drawn.yaxis for drawn in figure.data] == ["y"] * 3 + ["y2"] * 3 + ["y3"] * 3
    domains = [figure.layout[axis].domain for axis in ("yaxis", "yaxis2", "yaxis3")]
    for (low, _), (_, high) in zip(domains[:-1], domains[1:], strict=True):
        assert low > high  # one below the other
    assert sum(drawn.showlegend for drawn in figure.data) == 3
    assert all(drawn.legendgroup == drawn.name for drawn in figure.data)
    assert pane.sentence.splitlines() == [f"{one.symbol}. {one.sentence}" for one in charts]
