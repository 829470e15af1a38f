"""The charts on √d_k as a figure to print: the numbers of the screen, and nothing cut."""

import io

import messages
import numpy as np
import pytest
from matplotlib.container import BarContainer

from attention.exports.paper import to_bytes
from attention.figures.paper.drawing import draw_charts
from attention.figures.paper.sheet import settings
from attention.figures.plotly import variance as screen
from attention.limits import BadInput
from attention.paper import Paper
from attention.samples import variance as maths

ASKED = "normal", 64, 0, 300


@pytest.fixture(scope="module")
def panes():
    points = maths.measure_all(*ASKED)
    counts, edges = maths.sampled_histogram(*ASKED)
    found = screen.spread_panes(points, counts, edges)
    found += screen.softmax_panes(points, maths.middle_row(*ASKED))
    variances = {"Q": 1.2, "K": 0.8, "scores": 30.0, "scaled": 0.7}
    found.append(screen.explored_pane(variances, {"scores": 20.0, "scaled": 0.5}, "A sentence."))
    return {pane.name: pane for pane in found}


def axes_of(panes, *names, **paper):
    figure = draw_charts([panes[name] for name in names], Paper(**paper))
    return {axes.get_label(): axes for axes in figure.axes}


def test_lines_have_the_measured_points(panes):
    axes = axes_of(panes, "variances")["variances"]
    lines = [line for line in axes.lines if line.get_linestyle() == "-"]
    drawn = [np.asarray(line.get_data()).T.tolist() for line in lines]
    points = maths.measure_all(*ASKED)
    for kind in ("raw", "scaled"):
        assert [[p.d_k, getattr(p, kind).variance] for p in points] in drawn
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_bars_have_the_counts_over_their_bins(panes):
    axes = axes_of(panes, "histogram")["histogram"]
    counts, edges = maths.sampled_histogram(*ASKED)
    raw, scaled = (c for c in axes.containers if isinstance(c, BarContainer))
    for bars, scale in ((raw, 1), (scaled, 8)):
        assert [bar.get_height() for bar in bars] == counts.tolist()
        lefts = [bar.get_x() for bar in bars]
        assert np.allclose(lefts, np.asarray(edges)[:-1] / scale)


def test_bars_of_one_query_stand_side_by_side(panes):
    axes = axes_of(panes, "row")["row"]
    row = maths.middle_row(*ASKED)
    both = [c for c in axes.containers if isinstance(c, BarContainer)]
    assert [[bar.get_height() for bar in bars] for bars in both] == row.tolist()
    for first, second in zip(*both, strict=True):
        assert first.get_x() + first.get_width() == pytest.approx(second.get_x())


def test_stages_stand_from_top_to_bottom_with_their_dots(panes):
    axes = axes_of(panes, "explored")["explored"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["scaled", "scores", "K", "Q"]
    measured, theory = axes.lines
    assert dict(zip(measured.get_ydata(), measured.get_xdata(), strict=True)) == {
        3: 1.2,
        2: 0.8,
        1: 30.0,
        0: 0.7,
    }
    assert theory.get_xdata().tolist() == [20.0, 0.5]


SETS = {
    "one": (["variances"], {}),
    "two in a column": (["variances", "histogram"], {"title": "Why", "caption": "word " * 60}),
    "all on a page": (None, {"width": "text", "title": "T " * 60, "caption": "A caption."}),
    "four on a slide": (["row", "largest", "entropy", "slope"], {"width": "slide"}),
    "large letters": (["slope"], {"font_size": 14.0}),
}


@pytest.mark.parametrize("case", SETS)
def test_nothing_is_cut_and_no_words_lie_on_others(panes, case):
    names, paper = SETS[case]
    figure = draw_charts([panes[name] for name in names or panes], Paper(**paper))
    wide = figure.get_size_inches()[0] * 2.54
    assert wide == pytest.approx(Paper(**paper).width, abs=0.001)
    with settings():
        figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.texts]
    for axes in figure.axes:
        legend = axes.get_legend()
        words = [axes.xaxis.label, axes.yaxis.label, legend.get_title(), *legend.get_texts()]
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            ticks = axis.get_major_ticks()
            words += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
        boxes += [word.get_window_extent() for word in words if word.get_text()]
    inside = figure.bbox
    for box in boxes:
        assert inside.x0 <= box.x0 and box.x1 <= inside.x1, box
        assert inside.y0 <= box.y0 and box.y1 <= inside.y1, box
    for k, one in enumerate(boxes):
        for other in boxes[k + 1 :]:
            over = min(one.x1, other.x1) - max(one.x0, other.x0)
            under = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert over <= 1 or under <= 1.5, (one, other)


def test_the_files_are_of_one_figure_and_hold_no_image(panes):
    pypdf = pytest.importorskip("pypdf", reason="the package pypdf is not installed")
    figure = draw_charts([panes["variances"], panes["entropy"]], Paper(title="A title"))
    (page,) = pypdf.PdfReader(io.BytesIO(to_bytes(figure, "pdf"))).pages
    assert not page.images and {"variance", "title"} <= set(page.extract_text().split())
    assert b"<image" not in to_bytes(figure, "svg")


def test_charts_that_do_not_fit_are_refused_in_a_sentence(panes):
    with pytest.raises(BadInput) as caught:
        draw_charts(list(panes.values()), Paper())
    assert str(caught.value) == messages.PANELS_DO_NOT_FIT.format(
        count=7, wide=8.25, high=23, size=8
    )
