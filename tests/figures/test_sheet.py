"""Sheets: every number of every stage on one figure, inside its bounds, nothing on top of another, words as typed."""

import base64
from dataclasses import replace
from itertools import combinations

import numpy as np
import plotly.graph_objects as go
import pytest

from attention.figures import board, variance
from attention.figures.sheet import CM, Sheet, compose, length, wrapped
from attention.figures.theme import PALETTES
from attention.inputs import settings as inputs
from attention.inputs.examples import EXAMPLES
from attention.inputs.matrices import Matrix
from attention.inputs.settings import check
from attention.inputs.system import run, view
from attention.variance import draw_scores, histogram, measure_all, middle_row

SHEETS = [
    Sheet(8.6, 7),
    Sheet(17, 9, "dark", "A title", "A caption"),
    Sheet(25, 14, title="T " * 90, caption="word " * 80),
]
WIDE = replace(EXAMPLES["four-words"].build(), tokens=("antidisestablishment",) * 4)
CASES = {name: e.build() for name, e in EXAMPLES.items()} | {
    "masked, W_O": replace(inputs.set_output_weights(EXAMPLES["sentence"].build(), True), mask="causal"), "long labels": WIDE,
}  # fmt: skip


def panes(settings, **more):
    now = view(check(settings), run(settings))
    return now, board.panes(now, digits=settings.digits, query=settings.query, **more)


def values(trace) -> np.ndarray:
    z = trace["z"]
    return np.frombuffer(base64.b64decode(z["bdata"]), "<f8").reshape([int(n) for n in z["shape"].split(", ")])


def boxes(figure):
    """The cells of each heatmap, in pixels from the upper left: (left, top, right, bottom)."""
    width, height = figure["layout"]["width"], figure["layout"]["height"]
    for k in range(1, len([key for key in figure["layout"] if key.startswith("xaxis")]) + 1):
        (x0, x1), (y0, y1) = figure["layout"][f"xaxis{k}"]["domain"], figure["layout"][f"yaxis{k}"]["domain"]
        yield x0 * width, (1 - y1) * height, x1 * width, (1 - y0) * height


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("case", CASES)
def test_every_stage_stands_on_the_sheet_with_its_own_numbers(case, sheet):
    now, drawn = panes(CASES[case])
    figure = compose(drawn, sheet)
    go.Figure(figure)  # Plotly knows every name in it
    mains = [t for t in figure["data"] if t["meta"] in ("share", "diverging")]
    assert len(mains) == len(now.stages)
    for trace, (name, matrix) in zip(mains, now.stages.items(), strict=True):
        shown = values(trace)
        assert np.array_equal(shown[~np.isnan(shown)], matrix[~np.isnan(shown)]), name
        hidden = board.hidden_cells(now, name)
        assert np.array_equal(np.isnan(shown), np.zeros(matrix.shape, bool) if hidden is None else hidden), name


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("case", CASES)
def test_nothing_leaves_the_sheet_or_lies_on_another(case, sheet):
    _, drawn = panes(CASES[case])
    figure = compose(drawn, sheet)
    width, height = figure["layout"]["width"], figure["layout"]["height"]
    assert abs(width - sheet.width_cm * CM) <= 0.5
    found = list(boxes(figure))
    for left, top, right, bottom in found:
        assert 0 <= left < right <= width + 0.5 and 0 <= top < bottom <= height
    for (l1, t1, r1, b1), (l2, t2, r2, b2) in combinations(found, 2):
        assert r1 <= l2 or r2 <= l1 or b1 <= t2 or b2 <= t1
    for note in figure["layout"]["annotations"]:
        assert 0 <= note["x"] <= 1 and 0 <= note["y"] <= 1


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_query_and_the_chosen_cell_are_framed_and_colours_are_those_of_the_paper(mode):
    _, drawn = panes(EXAMPLES["four-words"].build(), cell=("scores", 1, 2))
    figure = compose(drawn, Sheet(mode=mode))
    palette = PALETTES[mode]
    frames = [(s["name"], s["line"]["color"], s["xref"][0] + s["yref"][0]) for s in figure["layout"]["shapes"]]
    assert frames.count(("query", palette["query"], "xy")) == 7  # X, Q and the five stages of the attention
    assert frames.count(("cell", palette["cell"], "xy")) == 1
    cell = next(s for s in figure["layout"]["shapes"] if s["name"] == "cell")
    assert (cell["x0"], cell["y0"], cell["xref"]) == (1.5, 0.5, "x8")
    assert figure["layout"]["paper_bgcolor"] == palette["paper"]
    assert all(t["colorscale"] == palette[t["meta"]] for t in figure["data"])


def test_numbers_that_do_not_fit_give_way_to_a_colour_bar():
    settings = EXAMPLES["four-words"].build().with_matrix("X", Matrix(np.random.default_rng(0).normal(size=(40, 4))))
    settings = replace(settings, tokens=tuple(f"w{k}" for k in range(40)))
    _, drawn = panes(settings)
    figure = compose(drawn, Sheet(8.6, 8))
    traces = {
        pane["name"]: t
        for pane, t in zip(drawn, [t for t in figure["data"] if t["meta"] in ("share", "diverging")], strict=True)
    }
    assert "text" not in traces["weights"] and traces["weights"]["showscale"]
    assert "text" in traces["X"] and not traces["X"]["showscale"]


def test_a_stage_alone_has_its_numbers_and_its_bar():
    now, drawn = panes(EXAMPLES["sentence"].build())
    figure = compose([pane for pane in drawn if pane["name"] == "weights"], Sheet(8.6, 7))
    (trace,) = figure["data"]
    assert trace["showscale"] and trace["text"][4][1] == "0.98"
    assert np.array_equal(values(trace), now.stages["weights"])


def test_title_and_caption_stand_as_typed():
    _, drawn = panes(EXAMPLES["four-words"].build())
    figure = compose(drawn, Sheet(title="<b>x</b> $a$", caption="%{z} & <a href='x'>y</a>"))
    texts = [note["text"] for note in figure["layout"]["annotations"]]
    assert "<b>&lt;b&gt;x&lt;/b&gt; &#36;a&#36;</b>" in texts
    assert "&#37;{z} &amp; &lt;a href='x'&gt;y&lt;/a&gt;" in texts


@pytest.mark.parametrize("text", ["", "one", "word " * 50, "x" * 500, "漢字" * 100, "a\n\nb", "🙂" * 70])
def test_wrapped_lines_fit_and_lose_no_letter(text):
    lines = wrapped(text, 300, 12)
    assert all(length(line, 12) <= 300 for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(text.split())


def test_marks_that_take_no_room_are_measured_so():
    assert length("e\u0301", 10) == length("e", 10)
    assert length("a\u200db", 10) == length("ab", 10)
    assert length("漢", 10) > length("a", 10)


@pytest.mark.parametrize("sheet", SHEETS)
def test_charts_are_set_at_the_same_sizes(sheet):
    points = measure_all("normal", 16, 0, 100)
    counts, edges = histogram(draw_scores("normal", 16, 0, 100))
    charts = variance.spread_panes(points, counts, edges) + variance.softmax_panes(
        points, middle_row("normal", 16, 0, 100)
    )
    for chart in charts:
        before = repr(chart)
        figure = compose([chart], sheet)
        go.Figure(figure)
        assert repr(chart) == before
        assert abs(figure["layout"]["width"] - sheet.width_cm * CM) <= 0.5
        assert figure["layout"]["font"]["size"] == pytest.approx(0.9 * sheet.font_pt * 96 / 72)
        assert len(figure["data"]) == len(chart["figure"]["data"])
