"""Sheets: every number of every stage on one figure, in bounds, nothing on another, as typed."""

import base64
import html
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import plotly.graph_objects as go
import pytest

from attention.colours import PALETTES, hidden_cells
from attention.figures import panes as board
from attention.figures import variance
from attention.figures.sheet import CM, SMALLEST, Sheet, compose, length, shortened, wrapped
from attention.session import changes
from attention.session.examples import EXAMPLES
from attention.session.matrix import Matrix
from attention.session.run import run, view
from attention.session.validate import check
from attention.variance import draw_scores, histogram, measure_all, middle_row

SHEETS = [
    Sheet(8.6, 7),
    Sheet(17, 9, "dark", "A title", "A caption"),
    Sheet(25, 14, title="T " * 90, caption="word " * 80, height_cm=14),
]
WIDE = replace(EXAMPLES["four-words"].build(), tokens=("antidisestablishment",) * 4)
CASES = {name: e.build() for name, e in EXAMPLES.items()} | {
    "masked, W_O": replace(
        changes.set_output_weights(EXAMPLES["sentence"].build(), True), mask="causal"
    ),
    "long labels": WIDE,
}


def panes(settings, **more):
    now = view(check(settings), run(settings))
    return now, board.panes(now, digits=settings.digits, query=settings.query, **more)


def values(trace) -> np.ndarray:
    z = trace["z"]
    return np.frombuffer(base64.b64decode(z["bdata"]), "<f8").reshape(
        [int(n) for n in z["shape"].split(", ")]
    )


def boxes(figure):
    """The cells of each heatmap, in pixels from the upper left: (left, top, right, bottom)."""
    width, height = figure["layout"]["width"], figure["layout"]["height"]
    for k in range(1, len([key for key in figure["layout"] if key.startswith("xaxis")]) + 1):
        (x0, x1), (y0, y1) = (
            figure["layout"][f"xaxis{k}"]["domain"],
            figure["layout"][f"yaxis{k}"]["domain"],
        )
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
        hidden = hidden_cells(now, name)
        assert np.array_equal(
            np.isnan(shown), np.zeros(matrix.shape, bool) if hidden is None else hidden
        ), name


def seen(text: str) -> str:
    return html.unescape(re.sub("</?(b|sub)>", "", text))


def words(figure):
    """Boxes about as large as drawn: of formulas, title, caption, labels of rows and columns."""
    layout = figure["layout"]
    width, height = layout["width"], layout["height"]
    for note in layout["annotations"]:
        x, y, size = note["x"] * width, (1 - note["y"]) * height, note["font"]["size"]
        yield x, y, x + length(seen(note["text"]), size), y + size
    for k, (left, top, right, bottom) in enumerate(boxes(figure), 1):
        rows, columns = layout[f"yaxis{k}"], layout[f"xaxis{k}"]
        size, off = rows["tickfont"]["size"], rows["ticklabelstandoff"]
        for value, text in zip(rows["tickvals"], rows["ticktext"], strict=True):
            y = top + (value + 0.5) * (bottom - top) / (rows["range"][0] + 0.5)
            yield left - off - length(seen(text), size), y - size / 2, left - off, y + size / 2
        for value, text in zip(columns["tickvals"], columns["ticktext"], strict=True):
            x, long = (
                left + (value + 0.5) * (right - left) / (columns["range"][1] + 0.5),
                length(seen(text), size),
            )
            wide, tall = (size, long) if columns["tickangle"] else (long, size)
            yield x - wide / 2, top - off - tall, x + wide / 2, top - off


def apart(one, other, slack=0.01) -> bool:
    (l1, t1, r1, b1), (l2, t2, r2, b2) = one, other
    return r1 <= l2 + slack or r2 <= l1 + slack or b1 <= t2 + slack or b2 <= t1 + slack


def check_sheet(drawn, sheet):
    figure = compose(drawn, sheet)
    layout, em = figure["layout"], sheet.em
    assert abs(layout["width"] - sheet.width_cm * CM) <= 0.5
    cells, texts = list(boxes(figure)), [box for box in words(figure) if box[2] > box[0]]
    for left, top, right, bottom in cells:
        assert right - left > 0.5 and bottom - top > 0.5
    for left, top, right, bottom in cells + texts:
        assert -0.05 * em <= left <= right <= layout["width"] + 0.05 * em
        assert -0.05 * em <= top <= bottom <= layout["height"] + 0.05 * em
    for one, other in combinations(cells, 2):
        assert apart(one, other)
    for text in texts:
        assert all(apart(text, box) for box in cells)
    for one, other in combinations(texts, 2):
        assert apart(one, other, 0.25 * em), (one, other)
    for trace in figure["data"]:
        if trace.get("showscale"):
            assert (
                trace["colorbar"]["len"] > 0
                and trace["colorbar"]["x"] + trace["colorbar"]["thickness"] / layout["width"] < 1
            )
    if layout["height"] > sheet.height_cm * CM:  # only where nothing can be smaller
        k, most = max(
            enumerate(max(len(p["rows"]), len(p["columns"])) for p in drawn), key=lambda one: one[1]
        )
        left, top, right, bottom = cells[k]
        rows, columns = len(drawn[k]["rows"]), len(drawn[k]["columns"])
        assert min((right - left) / columns, (bottom - top) / rows) <= 1.3 * SMALLEST * em
    return figure


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("case", CASES)
def test_nothing_leaves_the_sheet_or_lies_on_another(case, sheet):
    go.Figure(check_sheet(panes(CASES[case])[1], sheet))


EXTREMES = [
    Sheet(width, font, height_cm=height, title=title, caption=title)
    for width in (4, 8.6, 25, 60)
    for font in (4, 9, 40)
    for height in (4, 14, 100)
    for title in ("", "Attention 漢字 " * 3)
]


def grown(n: int, word="w"):
    settings = (
        EXAMPLES["four-words"]
        .build()
        .with_matrix("X", Matrix(np.random.default_rng(0).normal(size=(n, 4))))
    )
    return replace(settings, tokens=tuple(f"{word}{k}" for k in range(n)), mask="causal")


def shaped(*shapes, label="d"):
    drawn = []
    for k, (rows, columns) in enumerate(shapes):
        matrix = np.random.default_rng(k).normal(size=(rows, columns))
        labels = [tuple(f"{label}{i + 1}" for i in range(n)) for n in (rows, columns)]
        text = {
            "group": "g",
            "symbol": f"M_{'ABCDEFG'[k]}",
            "formula": "what it is",
            "sentence": "",
        }
        drawn.append(board.pane(f"m{k}", matrix, *labels, words=text, limits=(-3, 3)))
    return drawn


HARD = {
    "8 tokens": panes(grown(8))[1],
    "64 tokens": panes(grown(64))[1],
    "wide words": panes(grown(6, "漢" * 39))[1],
    "one cell": shaped((1, 1), label="漢" * 40),
    "64 × 512": shaped((64, 512)),
    "512 × 4": shaped((512, 4)),
    "all shapes": shaped((1, 1), (512, 4), (64, 512), (2, 9)),
    "three alike": shaped((512, 4), (512, 4), (512, 4)),
}


@pytest.mark.parametrize("case", HARD)
def test_at_any_size_everything_is_positive_and_inside_and_apart(case):
    for sheet in EXTREMES:
        check_sheet(HARD[case], sheet)


@pytest.mark.parametrize("sheet", [Sheet(8.6, 7), Sheet(17, 9), Sheet(25, 14, height_cm=14)])
@pytest.mark.parametrize("tokens", [4, 8, 20])
def test_papers_and_slides_hold_all_stages(tokens, sheet):
    figure = check_sheet(panes(grown(tokens))[1], sheet)
    assert figure["layout"]["height"] <= sheet.height_cm * CM


def test_numbers_stay_while_there_is_room_and_cells_of_a_few_pixels_have_no_gaps():
    _, drawn = panes(grown(8))
    assert all("text" in trace for trace in compose(drawn, Sheet(30, 9, height_cm=60))["data"])
    small = compose(panes(grown(64))[1], Sheet(17, 9))
    gaps = {trace["xgap"] for trace in small["data"] if trace["z"]["shape"] == "64, 64"}
    assert gaps == {0}


def test_frames_can_be_left_off_and_the_head_stands_after_the_title():
    _, drawn = panes(EXAMPLES["four-words"].build(), cell=("scores", 1, 2))
    assert compose(drawn, Sheet(framed=False))["layout"]["shapes"] == []
    for title, expected in (("Mine", "<b>Mine · head 1 of 2</b>"), ("", "<b>head 1 of 2</b>")):
        figure = compose(drawn, Sheet(title=title, note="head 1 of 2"))
        assert figure["layout"]["annotations"][0]["text"] == expected


def test_a_pane_alone_keeps_its_formula_however_narrow():
    _, drawn = panes(EXAMPLES["four-words"].build())
    for pane in drawn:
        for sheet in (Sheet(4, 9), Sheet(4, 30), Sheet()):
            texts = " ".join(
                seen(note["text"]) for note in compose([pane], sheet)["layout"]["annotations"]
            )
            assert texts.replace(" ", "") == re.sub(
                "[ _]", "", f"{pane['symbol']}={pane['formula']}"
            )


def test_labels_are_thinned_by_the_room_there_is():
    _, drawn = panes(grown(40))
    (scores,) = [pane for pane in drawn if pane["name"] == "scores"]
    for sheet, most in ((Sheet(40, 9, height_cm=60), 40), (Sheet(6, 9), 20)):
        shown = compose([scores], sheet)["layout"]["yaxis1"]["ticktext"]
        assert (len(shown) == 40) == (most == 40) and len(shown) <= most


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_query_and_the_chosen_cell_are_framed_and_colours_are_those_of_the_paper(mode):
    _, drawn = panes(EXAMPLES["four-words"].build(), cell=("scores", 1, 2))
    figure = compose(drawn, Sheet(mode=mode))
    palette = PALETTES[mode]
    frames = [
        (s["name"], s["line"]["color"], s["xref"][0] + s["yref"][0])
        for s in figure["layout"]["shapes"]
    ]
    assert (
        frames.count(("query", palette["query"], "xy")) == 7
    )  # X, Q and the five stages of the attention
    assert frames.count(("cell", palette["cell"], "xy")) == 1
    cell = next(s for s in figure["layout"]["shapes"] if s["name"] == "cell")
    assert (cell["x0"], cell["y0"], cell["xref"]) == (1.5, 0.5, "x8")
    assert figure["layout"]["paper_bgcolor"] == palette["paper"]
    assert all(t["colorscale"] == palette[t["meta"]] for t in figure["data"])


def test_numbers_that_do_not_fit_give_way_to_a_colour_bar():
    settings = (
        EXAMPLES["four-words"]
        .build()
        .with_matrix("X", Matrix(np.random.default_rng(0).normal(size=(40, 4))))
    )
    settings = replace(settings, tokens=tuple(f"w{k}" for k in range(40)))
    _, drawn = panes(settings)
    figure = compose(drawn, Sheet(8.6, 8, height_cm=200))
    traces = {
        pane["name"]: t
        for pane, t in zip(
            drawn, [t for t in figure["data"] if t["meta"] in ("share", "diverging")], strict=True
        )
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


@pytest.mark.parametrize("room", [-5, 0, 3, 20])
@pytest.mark.parametrize("text", ["", "a", "word and words", "漢字 漢字", "🙂e\u0301"])
def test_texts_end_in_any_room(text, room):
    assert "".join(wrapped(text, room, 12)) == text.replace(" ", "") or room == 20
    short = shortened(text, room, 12)
    assert length(short, 12) <= max(room, 0)


@pytest.mark.parametrize(
    "text", ["", "one", "word " * 50, "x" * 500, "漢字" * 100, "a\n\nb", "🙂" * 70]
)
def test_wrapped_lines_fit_and_lose_no_letter(text):
    lines = wrapped(text, 300, 12)
    assert all(length(line, 12) <= 300 for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(text.split())


def test_marks_that_take_no_room_are_measured_so():
    assert length("e\u0301", 10) == length("e", 10)
    assert length("a\u200db", 10) == length("ab", 10)
    assert length("漢", 10) > length("a", 10)


@pytest.mark.parametrize("sheet", [*SHEETS, *EXTREMES])
def test_charts_are_set_at_the_same_sizes(sheet):
    points = measure_all("normal", 4, 0, 100)
    counts, edges = histogram(draw_scores("normal", 4, 0, 100))
    charts = variance.spread_panes(points, counts, edges) + variance.softmax_panes(
        points, middle_row("normal", 4, 0, 100)
    )
    for chart in charts:
        before = repr(chart)
        figure = compose([chart], sheet)
        go.Figure(figure)
        assert repr(chart) == before
        assert abs(figure["layout"]["width"] - sheet.width_cm * CM) <= 0.5
        assert figure["layout"]["font"]["size"] == pytest.approx(0.9 * sheet.font_pt * 96 / 72)
        assert len(figure["data"]) == len(chart["figure"]["data"])
        margin = figure["layout"]["margin"]
        assert margin["l"] + margin["r"] < 0.5 * figure["layout"]["width"]
        assert (
            min(margin.values()) >= 0
            and margin["t"] + margin["b"] < figure["layout"]["height"] - 10
        )
