"""A trace or a diagnosis as one figure: exact numbers, nothing on top of another, text as text."""

import re
from dataclasses import replace
from itertools import combinations

import messages
import numpy as np
import plotly.graph_objects as go
import pytest

import attention
from attention import View, causal, figure, scaled_dot_product_attention, self_attention
from attention.figures.panes.panes import panes
from attention.figures.plotly.heatmap import stage_figure
from attention.vocabulary.numbers import number, rounded

RNG = np.random.default_rng(0)
HOSTILE = ("<b>x</b>", "$x$ %{y}", "a very long word of a person", "שלום", "犬犬犬犬犬犬犬犬")


def draw(*shape):
    return RNG.standard_normal(shape)


def layer(n=5, **more):
    W = [draw(6, 6) for _ in range(3)]
    return self_attention(
        draw(n, 6), *W, W_O=draw(6, 3), heads=2, allowed=causal(n, n), softcap=3.0, **more
    )


def heatmaps(drawn):
    """The heatmaps of each subplot, by its axis."""
    found = {}
    for trace in drawn.data:
        found.setdefault(trace.xaxis, []).append(trace)
    return found


def z(trace):
    """The numbers of a heatmap: an array as it is."""
    assert type(trace.z) is np.ndarray and trace.z.ndim == 2
    return trace.z


def bold(drawn):
    return [a for a in drawn.layout.annotations if a.text.startswith("<b>")]


def headings(drawn):
    texts = [a.text for a in bold(drawn)] or [drawn.layout.title.text]  # a stage that stands alone
    return [re.sub(r"</?(b|sub)>", "", text).split(" = ")[0] for text in texts]


def boxes(drawn):
    """Left, right, bottom and top of each subplot, in px."""
    width, height = drawn.layout.width, drawn.layout.height
    for axis in heatmaps(drawn):
        across = drawn.layout[f"xaxis{axis[1:]}"].domain
        up = drawn.layout[f"yaxis{axis[1:]}"].domain
        yield across[0] * width, across[1] * width, up[0] * height, up[1] * height


@pytest.mark.parametrize("head", [0, 1])
def test_the_whole_board_holds_the_bits_of_every_stage(head):
    trace = layer()
    stages = attention.View.of(trace, head=head).stages
    drawn = figure(trace, head=head)
    assert isinstance(drawn, go.Figure)
    subplots = list(heatmaps(drawn).values())
    assert len(subplots) == len(stages)
    for (name, matrix), (main, *others) in zip(stages.items(), subplots, strict=True):
        visible = ~np.isnan(z(main))
        assert z(main)[visible].tobytes() == matrix[visible].tobytes()
        hidden = ~causal(5, 5) if name in ("mask", "masked", "weights") else np.zeros(0, bool)
        assert (~visible).sum() == hidden.sum()
        assert [other.meta for other in others] == ["hidden"] * bool(hidden.any())


@pytest.mark.parametrize("n", [1, 5, 17, 60])
@pytest.mark.parametrize("tokens", [None, HOSTILE])
def test_no_subplot_stands_on_another_and_all_stand_within_the_figure(n, tokens):
    tokens = None if tokens is None else [tokens[k % 5] for k in range(n)]
    drawn = figure(layer(n), tokens=tokens, title="A title")
    found = list(boxes(drawn))
    assert len(found) > 10
    for left, right, bottom, top in found:
        assert 0 <= left < right <= drawn.layout.width
        assert 0 <= bottom < top <= drawn.layout.height - 40
    for (left, right, bottom, top), other in combinations(found, 2):
        apart = right + 20 <= other[0] or other[1] + 20 <= left
        assert apart or bottom >= other[3] + 40 or other[2] >= top + 40
    assert drawn.layout.width < 1300


def test_a_single_stage_is_large_and_has_the_scale_of_its_colours():
    trace = layer()
    alone, board = figure(trace, stages=["weights"]), figure(trace)
    assert headings(alone) == ["weights"]
    small = list(boxes(board))[headings(board).index("weights")]
    assert alone.layout.width >= 2 * (small[1] - small[0])
    assert [t.showscale for t in alone.data] == [True, False]
    assert not any(t.showscale for t in board.data)
    assert figure(trace, stages="weights") == alone
    assert alone.data[0].zmin == 0
    assert alone.data[0].zmax == 1


@pytest.mark.parametrize("stage", ["X", "W_O", "scores", "weights", "output"])
def test_a_single_stage_is_drawn_as_everywhere(stage):
    trace = layer()
    (pane,) = panes(View.of(trace, head=1), only=[stage])
    assert figure(trace, stages=[stage], head=1) == stage_figure(pane)
    assert figure(trace, stages=[stage], head=1, title="a") == stage_figure(
        replace(pane, title="a")
    )


def test_stages_are_drawn_in_reading_order_with_the_colours_of_the_board():
    trace = layer()
    some = figure(trace, stages=["weights", "scaled", "Q"])
    assert headings(some) == ["Q", "scaled", "weights"]
    board = dict(zip(headings(figure(trace)), heatmaps(figure(trace)).values(), strict=True))
    for name, (main, *_) in zip(headings(some), heatmaps(some).values(), strict=True):
        assert (main.zmin, main.zmax) == (board[name][0].zmin, board[name][0].zmax)


def test_what_a_person_typed_stays_text():
    drawn = figure(layer(), tokens=HOSTILE, title="<b>$x$</b>", stages=["weights"])
    title = "&lt;b&gt;&#36;x&#36;&lt;/b&gt;"
    assert drawn.layout.title.text == f"weights = softmax(masked) · {title}"
    assert figure(layer(), title="<b>$x$</b>").layout.title.text == title
    assert drawn.layout.xaxis.ticktext[:2] == ("&lt;b&gt;x&lt;/b&gt;", "&#36;x&#36; &#37;{y}")
    assert drawn.layout.yaxis.ticktext == drawn.layout.xaxis.ticktext
    assert drawn.layout.xaxis.ticktext[2] == "a very long w…"


@pytest.mark.parametrize("n", [25, 60])
def test_numbers_are_printed_in_one_size_where_there_is_room(n):
    small, large = figure(layer(5), digits=3), figure(layer(n), stages=["weights", "scores"])
    for traces in heatmaps(small).values():
        (size,) = {t.textfont.size for t in traces if t.text is not None}
        assert size >= 8
    assert all(t.texttemplate is None and t.text is None for t in large.data)
    for main, *_ in heatmaps(large).values():  # what is pointed at is still written
        texts = [text for row in main.hovertext for text in row if text]
        numbers = main.z[np.isfinite(main.z)].tolist()
        printed = rounded(np.array([numbers]), 2, main.meta == "share")[0]
        assert texts == [
            number(value, 2) if text == "0.00" else text
            for text, value in zip(printed, numbers, strict=True)
        ]
        assert "%{hovertext}" in main.hovertemplate
    said = [[" · in colours</b>" in a.text for a in bold(drawn)] for drawn in (small, large)]
    assert not any(said[0]) and all(said[1])


def test_stages_without_a_cell_are_left_out():
    drawn = figure(scaled_dot_product_attention(draw(0, 3), draw(4, 3), draw(4, 2)))
    assert headings(drawn) == ["K", "V"]


def test_of_a_large_trace_the_small_stages_can_be_drawn():
    x = draw(1500, 4).astype(np.float32)
    trace = scaled_dot_product_attention(x, x, x)
    assert headings(figure(trace, stages=["output"])) == ["output"]


ALL = "Q, K, V, scores, scaled, masked, weights, output"
PLAIN = scaled_dot_product_attention(*draw(3, 2, 3))
REFUSED = [
    (
        {"stages": ["wieghts"]},
        messages.UNKNOWN_STAGE.format(name="'wieghts'", known=ALL),
    ),
    (
        {"stages": ["X"]},
        messages.STAGE_NOT_IN_TRACE.format(name="'X'", known=ALL),
    ),
    (
        {"stages": []},
        messages.NOTHING_TO_DRAW.format(listed="Q, K, V, scores, scaled, masked, weights, output"),
    ),
    ({"stages": 5}, messages.NAMES_OF_STAGES_EXPECTED.format(stages=5)),
    ({"digits": -1}, messages.RANGE_EXPECTED.format(name="digits", given=-1, least=0, most=12)),
    ({"digits": "x"}, messages.WHOLE_NUMBER_EXPECTED.format(argument="digits", given="'x'")),
    (
        {"tokens": ["a"]},
        messages.LABELS_COUNT.format(argument="tokens", have="1 word", count=2),
    ),
    ({"head": 1}, messages.ONLY_ONE.format(word="head", place=1)),
]


@pytest.mark.parametrize(("given", "sentence"), REFUSED)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(given, sentence):
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(sentence)}$"):
        figure(PLAIN, **given)


def test_more_cells_than_a_browser_draws_are_refused_before_anything_is_drawn():
    x = np.zeros((1500, 1), np.float32)
    sentence = messages.CELLS_TOO_MANY.format(cells="2,250,000", max_drawn="2,000,000")
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        figure(scaled_dot_product_attention(x, x, x), stages=["weights"])


def test_without_plotly_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr("attention.figures.panes.arguments.find_spec", lambda wanted: None)
    sentence = messages.PACKAGE_MISSING.format(name="figure", name_2="plotly")
    with pytest.raises(ModuleNotFoundError, match=f"^{re.escape(sentence)}$"):
        figure(PLAIN)


# ---- a diagnosis ---------------------------------------------------------------------------------


def unscaled(*shape):
    Q, K, V = draw(3, *shape)
    raw = np.exp(Q @ K.swapaxes(-1, -2))
    return Q, K, V, raw / raw.sum(axis=-1, keepdims=True) @ V


def test_a_diagnosis_is_drawn_as_ours_theirs_and_the_difference():
    Q, K, V, mine = unscaled(4, 8)
    drawn = figure(attention.diagnose(Q, K, V, output=mine), tokens=list("abcd"))
    assert headings(drawn) == [
        "scaled, ours",
        "scaled, explained",
        "difference",
        "output, ours",
        "your output",
        "difference",
    ]
    shown = [z(main) for main, *_ in heatmaps(drawn).values()]
    right = scaled_dot_product_attention(Q, K, V)
    np.testing.assert_allclose(shown[0], right.scaled, rtol=1e-14)
    np.testing.assert_allclose(shown[1], Q @ K.T, rtol=1e-14)
    assert shown[4].tobytes() == mine.tobytes()
    np.testing.assert_allclose(shown[5], mine - right.output, atol=1e-14)
    assert drawn.layout.yaxis.ticktext == tuple("abcd")


def test_of_a_diagnosis_any_item_and_head_and_stage_can_be_drawn():
    Q, K, V, mine = unscaled(2, 3, 4, 8)
    found = attention.diagnose(Q, K, V, output=mine)
    for item, head in np.ndindex(2, 3):
        drawn = figure(found, item=item, head=head, stages=["output_given"])
        assert z(drawn.data[1]).tobytes() == mine[item, head].tobytes()
    sentence = messages.OUT_OF_RANGE.format(word="item", place=2, count=2)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        figure(found, item=2)


def test_heads_given_side_by_side_are_joined_outputs_of_each_item():
    X = draw(2, 4, 6)
    trace = self_attention(X, *(np.eye(6),) * 3, heads=3)
    found = attention.diagnose(X, X, X, heads=3, output=trace.joined + 1)
    drawn = figure(found, item=1, head=2, stages=["output_given"])
    assert z(drawn.data[1]).tobytes() == (trace.joined + 1)[1].tobytes()


def test_maps_say_that_rows_are_queries_and_columns_keys():
    drawn = figure(layer(), stages=["weights", "scores", "Q", "output"])
    corners = [a for a in drawn.layout.annotations if a.text == "key →<br>query ↓"]
    maps = [list(boxes(drawn))[headings(drawn).index(name)] for name in ("scores", "weights")]
    for corner, (left, _, _, top) in zip(corners, maps, strict=True):
        x, y = corner.x * drawn.layout.width, corner.y * drawn.layout.height
        assert 35 < x < left and y > top  # room for its words, left of the columns' labels
