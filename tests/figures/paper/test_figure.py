"""Paper figures: what is drawn is the trace's, as large as asked, with nothing cut, in any file."""

import io
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

import messages
import numpy as np
import pypdf
import pypdfium2
import pytest
from matplotlib.colors import to_rgb
from PIL import Image
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

from attention import (
    Paper,
    View,
    __version__,
    causal,
    paper_figure,
    self_attention,
)
from attention.exports.paper import to_bytes
from attention.figures.paper import printing
from attention.figures.paper.drawing import SMALLEST, colour_map
from attention.figures.paper.figure import plain
from attention.figures.paper.sheet import settings
from attention.limits import BadInput
from attention.paper import SHARES, SIGNS
from attention.vocabulary.stages import STAGES

MM = 72 / 25.4  # points
LOGARITHMIC = Paper(limits="own", lowest=0.01, highest=1, logarithmic=True)
WORDS = ("the", "cat", "sat", "on", "the", "mat")
HOUSE = Path(__file__).resolve().parents[3]


def trace(n=6, heads=1, width=4, allowed=None, seed=0, bias=None):
    rng = np.random.default_rng(seed)
    X, *W = (rng.normal(size=(rows, heads * width)) for rows in (n, *[heads * width] * 4))
    options = {"W_O": W[3], "heads": heads, "allowed": allowed, "bias": bias}
    return self_attention(X, *(w / 2 for w in W[:3]), **options)


CASES = {
    "one stage": (trace(allowed=causal(6, 6)), {"tokens": WORDS}),
    "all stages": (trace(), {"tokens": WORDS, "stages": None, "paper": Paper(width="text")}),
    "a grid of heads": (
        trace(heads=8),
        {"tokens": WORDS, "heads": None, "paper": Paper(title="T " * 99, caption="word " * 80)},
    ),
    "stages of heads": (
        trace(heads=2),
        {
            "tokens": WORDS,
            "heads": [0, 1],
            "stages": ["scores", "weights"],
            "paper": Paper(width="slide", limits="data"),
        },
    ),
    "64 tokens": (
        trace(64, allowed=causal(64, 64)),
        {"tokens": [f"word{k}" for k in range(64)], "paper": Paper(numbers=False)},
    ),
    "words as they come": (
        trace(),
        {
            "tokens": ["antidisestablishmentarianism", "$x_1$", "a\nb", "\\$", "<b>&", ""],
            "paper": Paper(
                query="a long title of $Q$ of one axis", logarithmic=True, limits="data"
            ),
        },
    ),
    "long titles": (
        trace(2, heads=6),
        {"heads": None, "paper": Paper(query="a very long title of one axis, too long")},
    ),
    "a long title of a bar": (trace(2, width=2), {"paper": Paper(bar_title="α " * 40, width=5.0)}),
    "headings beside bars": (
        trace(3, heads=2, allowed=causal(3, 3)),
        {"stages": None, "paper": Paper(width=12.3, font_size=12.0)},
    ),
    "one token": (trace(1), {"stages": None, "paper": Paper(width="text")}),
}


class Drawn:
    """A figure with its words measured; each of its files is saved once it is asked for."""

    def __init__(self, case: str):
        given, more = CASES[case]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of numbers left out
            self.unmeasured = paper_figure(given, **more)

    @cached_property
    def pdf(self) -> bytes:
        return to_bytes(self.unmeasured, "pdf")

    @cached_property
    def png(self) -> bytes:
        return to_bytes(self.unmeasured, "png", dpi=200)

    @cached_property
    def svg(self) -> bytes:
        return to_bytes(self.unmeasured, "svg")

    @property
    def figure(self):
        return settled(self.unmeasured)


@pytest.fixture(scope="module", params=CASES)
def drawn(request) -> Drawn:
    return Drawn(request.param)


def settled(figure):
    """The figure, with its words measured where its own resolution puts them."""
    with settings():
        figure.draw_without_rendering()
    return figure


def raster(pdf: bytes, dpi: int = 200) -> np.ndarray:
    """(height, width, 3) as PDFium, which is none of Matplotlib's, draws the page."""
    page = pypdfium2.PdfDocument(pdf)[0]
    return page.render(scale=dpi / 72, prefer_bgrx=False).to_numpy()[..., :3][..., ::-1]


def pixels(png: bytes) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def panels(figure, name=None):
    """The axes with cells, in order: all, or those of a stage."""
    found = [axes for axes in figure.axes if axes.get_label() in STAGES]
    return [axes for axes in found if axes.get_label() == name or name is None]


# ---- the numbers ---------------------------------------------------------------------------------


def test_cells_hold_the_numbers_of_the_trace_and_hide_what_the_mask_hides():
    given = trace(allowed=causal(6, 6))
    figure = paper_figure(given, stages=None, paper=Paper(width="text", numbers=False))
    view = View.of(given)
    assert [axes.get_label() for axes in panels(figure)] == list(view.stages)
    for axes, (name, matrix) in zip(panels(figure), view.stages.items(), strict=True):
        cells = axes.collections[0].get_array()
        hidden = np.zeros(matrix.shape, bool)
        if name in ("mask", "masked", "weights"):
            hidden = np.triu(np.ones((6, 6), bool), 1)
        assert np.array_equal(np.ma.getmaskarray(cells), hidden), name
        assert np.array_equal(cells.data[~hidden], matrix[~hidden]), name


def test_each_number_stands_in_its_own_cell():
    given = trace()
    (axes,) = panels(paper_figure(given, tokens=WORDS))
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {
        (j + 0.5, i + 0.5): f"{given.weights[i, j]:.2f}" for i in range(6) for j in range(6)
    }


def test_heads_are_drawn_in_the_order_asked_for_with_one_bar():
    given = trace(heads=8)
    figure = paper_figure(given, heads=[5, 0, 2], paper=Paper(limits="data"))
    for axes, head in zip(panels(figure), [5, 0, 2], strict=True):
        assert np.array_equal(axes.collections[0].get_array(), given.weights[head])
    assert [axes.get_title("left") for axes in panels(figure)] == [
        "(a) head 5",
        "(b) head 0",
        "(c) head 2",
    ]
    assert len(figure.axes) == 4
    chosen = given.weights[[5, 0, 2]]
    limits = {axes.collections[0].get_clim() for axes in panels(figure)}
    assert limits == {(chosen.min(), chosen.max())}


def test_what_all_heads_share_is_drawn_once():
    figure = paper_figure(
        trace(heads=2), heads=None, stages=["X", "weights", "W_O"], paper=Paper(numbers=False)
    )
    names = [axes.get_label() for axes in panels(figure)]
    assert names == ["X", "weights", "weights", "W_O"]


@pytest.mark.filterwarnings(
    "ignore:" + messages.COLOURS_STAY_LINEAR.format(linear="scores").partition(":")[0]
)
@pytest.mark.parametrize(
    ("paper", "name", "limits"),
    [
        (Paper(), "weights", lambda m: (0, 1)),
        (Paper(), "scores", lambda m: (-abs(m).max(), abs(m).max())),
        (Paper(limits="data"), "weights", lambda m: (m.min(), m.max())),
        (Paper(limits="data"), "scores", lambda m: (-abs(m).max(), abs(m).max())),
        (Paper(limits="data", signs="cividis"), "scores", lambda m: (m.min(), m.max())),
        (Paper(limits="own", lowest=0.1, highest=0.5), "weights", lambda m: (0.1, 0.5)),
        (Paper(limits="own", lowest=-1, highest=3), "scores", lambda m: (-3, 3)),
        (LOGARITHMIC, "weights", lambda m: (0.01, 1)),
        (Paper(logarithmic=True), "weights", lambda m: (m.min(), 1)),
        (Paper(logarithmic=True), "scores", lambda m: (-abs(m).max(), abs(m).max())),
    ],
)
def test_the_range_is_what_the_setting_says(paper, name, limits):
    given = trace()
    (axes,) = panels(paper_figure(given, stages=[name], paper=paper))
    assert axes.collections[0].get_clim() == pytest.approx(limits(getattr(given, name)))


def test_a_logarithmic_range_gives_equal_ratios_equal_steps():
    (axes,) = panels(paper_figure(trace(), paper=LOGARITHMIC))
    places = axes.collections[0].norm([0.01, 0.1, 1.0])
    assert places.tolist() == pytest.approx([0, 0.5, 1])


def test_a_logarithmic_range_says_which_stages_stay_linear():
    with pytest.warns(UserWarning) as caught:
        figure = paper_figure(
            trace(), stages=["scores", "weights"], paper=Paper(logarithmic=True, width="text")
        )
    sentence = messages.COLOURS_STAY_LINEAR.format(linear="scores")
    assert str(caught[0].message) == sentence and figure.notes == (sentence,)


def test_numbers_too_small_to_read_are_left_out_with_a_sentence():
    with pytest.warns(UserWarning) as caught:
        figure = paper_figure(trace(40))
    (sentence,) = figure.notes
    assert str(caught[0].message) == sentence
    expected = messages.NUMBERS_LEFT_OUT.format(names="weights", size="SIZE", smallest=5)
    found = re.fullmatch(re.escape(expected).replace("SIZE", r"(\d\.\d)"), sentence)
    assert float(found[1]) < SMALLEST == 5
    assert not panels(figure)[0].texts


@pytest.mark.parametrize(
    ("share", "digits", "whole", "short"),
    [
        (3e-10, 2, "3.0e−10", "≈0"),
        (0.00084996, 4, "8.500e−4", "0.0008"),
        (3e-10, 6, "3.00000e−10", "≈0"),
    ],
)
def test_shares_that_are_all_tiny_are_never_printed_as_0(share, digits, whole, short):
    """Without room they are rounded, and the figure says so."""
    given = replace(trace(3, width=2, seed=1), weights=np.full((3, 3), share))
    rounded = (messages.TINY_NUMBERS_ROUNDED.format(rounded="weights"),)
    widths = {2: 3.9, 4: 5, 6: 5.8}
    for width, tiny, notes in (("text", whole, ()), (widths[digits], short, rounded)):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            figure = paper_figure(given, digits=digits, paper=Paper(width=width))
        texts = [text.get_text() for text in panels(figure)[0].texts]
        assert texts == 9 * [tiny]
        assert figure.notes == notes


@pytest.mark.parametrize("width", ["text", 3.9])
def test_a_tiny_share_among_others_has_their_decimals(width):
    given = replace(trace(3, width=2, seed=1), weights=np.array([[1, 3e-10, 0]] * 3))
    texts = [
        text.get_text() for text in panels(paper_figure(given, paper=Paper(width=width)))[0].texts
    ]
    assert texts == 3 * ["1", "0.00", "0"]


def test_without_titles_of_axes_the_cells_stay_as_large_and_the_figure_is_lower():
    with_titles = paper_figure(trace(), tokens=WORDS)
    without = paper_figure(trace(), tokens=WORDS, paper=Paper(axis_titles=False))
    sides = [panels(settled(one))[0].bbox.width for one in (with_titles, without)]
    assert sides[0] == pytest.approx(sides[1])
    assert without.get_figheight() < with_titles.get_figheight()


def test_heads_stand_below_each_other_and_their_bar_beside_them_all():
    """Labels of the last line that are wider than a cell move none of its heads."""
    figure = paper_figure(trace(16, heads=12), heads=None, paper=Paper(numbers=False))
    places = [axes.get_position() for axes in panels(figure)]
    (bar,) = (axes.get_position() for axes in figure.axes if axes not in panels(figure))
    lefts, lows = ({round(end, 9) for end in side} for side in np.transpose([p.p0 for p in places]))
    assert len(lefts) * len(lows) == 12 and len(lows) > 1
    assert all(place.x1 < bar.x0 for place in places)
    assert (bar.y0, bar.y1) == pytest.approx((min(lows), max(place.y1 for place in places)))


def test_four_heads_on_a_slide_name_all_words():
    words = ["the", "animal", "did", "not", "cross", "the", "street", "because", "it"]
    figure = paper_figure(
        trace(9, heads=4), tokens=words, heads=None, paper=Paper(width="slide", numbers=False)
    )
    assert len(labels(panels(figure)[0].yaxis)) == 9
    assert {len(labels(axes.xaxis)) for axes in panels(figure)} <= {0, 9}


def test_where_nearly_all_shares_look_alike_a_sentence_hints_at_the_logarithmic_range():
    hint = messages.MOST_SHARES_DARK.format(dark="weights", dark_2="0.01")
    given = trace(200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert hint in paper_figure(given).notes
        assert hint not in paper_figure(given, paper=Paper(logarithmic=True)).notes
        assert hint not in paper_figure(trace(20)).notes


def test_markup_in_title_and_caption_is_text_in_the_svg():
    alive = '</text><script>alert(1)</script><a href="//evil.example">x</a>'
    drawn = [
        ElementTree.fromstring(to_bytes(paper_figure(trace(2), paper=paper), "svg"))
        for paper in (Paper(title="a", caption="b"), Paper(title=alive, caption=f"$x$ {alive}"))
    ]
    plain, marked = ({node.tag for node in root.iter()} for root in drawn)
    assert marked == plain
    texts = " ".join("".join(node.itertext()) for node in drawn[1].findall(".//{*}text"))
    assert texts.count("<script>alert(1)</script>") == 2


ODD = [*map(chr, range(32)), "\x7f", "\x85", "\ud800", "\ufffe", "\uffff"]


@pytest.mark.filterwarnings("ignore:No font")
@pytest.mark.parametrize("odd", ODD)
def test_no_character_of_a_title_makes_the_svg_no_xml(odd):
    figure = paper_figure(trace(2), paper=Paper(title=f"a{odd}", caption=f"b{odd}c"))
    figure.about = f"layer{odd}"
    ElementTree.fromstring(to_bytes(figure, "svg"))


def test_two_heads_stand_side_by_side_on_a_page():
    figure = paper_figure(trace(9, heads=2), heads=None, paper=Paper(width="text"))
    first, second = panels(figure)
    assert first.get_position().y0 == pytest.approx(second.get_position().y0)
    assert all(axes.texts for axes in (first, second))


def test_words_left_out_and_labels_too_small_are_said():
    words = [f"word{k}" for k in range(9)]
    with pytest.warns(UserWarning):
        figure = paper_figure(trace(9), tokens=words, paper=Paper(height=3.5, numbers=False))
    shown = len(labels(panels(figure)[0].yaxis))
    assert 0 < shown < 9
    sentence = messages.WORDS_WITHOUT_ROOM.format(named=shown, count=9, stage="weights")
    assert sentence in figure.notes
    with pytest.warns(UserWarning):
        figure = paper_figure(trace(), paper=Paper(tick_size=4, numbers=False))
    assert figure.notes == (messages.LABELS_TOO_SMALL.format(size=4, smallest=5),)


def test_files_hold_the_title_and_a_png_has_no_transparency():
    figure = paper_figure(trace(), paper=Paper(title="Größe & more"))
    assert pypdf.PdfReader(io.BytesIO(to_bytes(figure, "pdf"))).metadata.title == "Größe & more"
    assert "<dc:title>Größe &amp; more</dc:title>" in to_bytes(figure, "svg").decode()
    image = Image.open(io.BytesIO(to_bytes(figure, "png")))
    assert image.mode == "RGB" and image.text["Title"] == "Größe & more"
    assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)


def test_no_number_is_printed_smaller_than_can_be_read_nor_wider_than_its_cell(drawn):
    figure = drawn.figure
    for axes in panels(figure):
        if axes.texts:
            cell = axes.get_window_extent().width / axes.get_xlim()[1]
            assert all(text.get_fontsize() >= SMALLEST for text in axes.texts)
            assert max(text.get_window_extent().width for text in axes.texts) <= cell


def test_numbers_of_inputs_go_where_those_of_the_attention_go():
    """W_Q's zeros would be large enough; the weights' numbers are not."""
    wide = np.random.default_rng(0).normal(size=(16, 4)) * 99
    expected = messages.NUMBERS_LEFT_OUT.format(names="W_Q, weights", size="SIZE", smallest=5)
    with pytest.warns(UserWarning, match=re.escape(expected).replace("SIZE", r"\d\.\d")):
        figure = paper_figure(
            self_attention(wide, *[np.eye(4)] * 3), stages=["W_Q", "weights"], paper=Paper()
        )
    assert not any(axes.texts for axes in figure.axes)


def test_a_mask_at_the_end_of_a_line_takes_no_bar_away():
    given = trace(allowed=causal(6, 6))
    figure = paper_figure(given, stages=["scaled", "mask"], paper=Paper(width="text"))
    scaled, mask, bar = (axes.get_position() for axes in figure.axes)
    assert scaled.x1 < mask.x0 < mask.x1 < bar.x0
    assert len(paper_figure(given, stages=["mask"], paper=Paper()).axes) == 1


def test_a_stage_of_one_head_alone_is_drawn():
    bias = np.zeros((3, 6, 6))
    bias[1] = 1.5
    given = trace(heads=3, bias=bias)
    figure = paper_figure(given, stages=["mask"], heads=None, paper=Paper(width="text"))
    (mask,) = panels(figure)
    assert (mask.collections[0].get_array() == 1.5).all()
    assert mask.get_title("left").endswith("head 1")
    assert len(panels(paper_figure(given, stages=["mask", "scaled"], heads=None))) == 4


def test_neighbours_with_one_range_share_a_bar():
    figure = paper_figure(trace(), stages=["Q", "K"], paper=Paper(width="text"))
    assert len(figure.axes) == 3
    assert len({axes.collections[0].get_clim() for axes in panels(figure)}) == 1


# ---- labels --------------------------------------------------------------------------------------


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_the_smallest_letters_are_those_of_labels_too():
    assert (Paper(font_size=4).tick_size, Paper().tick_size, Paper(tick_size=6).tick_size) == (
        4,
        7,
        6,
    )


def test_words_that_repeat_are_counted_or_left_plain():
    given = trace()
    (counted,) = panels(paper_figure(given, tokens=WORDS))
    assert labels(counted.yaxis) == ["the (1)", "cat", "sat", "on", "the (2)", "mat"]
    (alike,) = panels(paper_figure(given, tokens=WORDS, paper=Paper(count_repeats=False)))
    assert labels(alike.yaxis) == labels(alike.xaxis) == list(WORDS)


def test_words_of_keys_are_left_plain_by_their_own_name():
    keys = list("aabbcc")
    view = plain(View.of(trace(), tokens=WORDS, key_tokens=keys), WORDS, keys)
    assert view.labels["queries"] == WORDS
    assert view.labels["keys"] == tuple(keys)


def test_labels_that_count_are_thinned_to_round_numbers():
    (axes,) = panels(paper_figure(trace(64), paper=Paper(numbers=False)))
    numbers = [int(text) for text in labels(axes.yaxis)]
    assert numbers[0] in (2, 5, 10) and numbers == list(range(numbers[0], 65, numbers[0]))
    assert [place + 0.5 for place in axes.get_yticks()] == numbers


def test_no_two_labels_touch(drawn):
    figure = drawn.figure
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
            sides = sorted(
                (b.x0, b.x1) if axis is axes.xaxis else (b.y0, b.y1) for b in boxes if b.width
            )
            assert all(a[1] <= b[0] + 0.5 for a, b in zip(sides, sides[1:], strict=False))


def test_axes_and_bars_have_titles_which_can_be_chosen():
    (axes, bar) = paper_figure(trace()).axes
    assert (axes.get_xlabel(), axes.get_ylabel(), bar.get_ylabel()) == ("key", "query", "weights")
    paper = Paper(query="from", key="to", bar_title="attention")
    (axes, bar) = paper_figure(trace(), paper=paper).axes
    assert (axes.get_xlabel(), axes.get_ylabel(), bar.get_ylabel()) == ("to", "from", "attention")
    (axes,) = paper_figure(trace(), paper=Paper(axis_titles=False, bar=False)).axes
    assert axes.get_xlabel() == axes.get_ylabel() == ""


def test_a_title_too_long_for_its_bar_is_cut_at_letters_of_labels_with_a_sentence():
    paper = Paper(bar_title="α " * 40, width=5.0)
    with pytest.warns(UserWarning) as caught:
        figure = paper_figure(trace(2, width=2), paper=paper)
    sentence = messages.COLOUR_BAR_TITLE_CUT
    assert str(caught[0].message) == figure.notes[0] == sentence
    label = figure.axes[-1].yaxis.label
    assert label.get_fontsize() == paper.tick_size and re.fullmatch("(α ?)+…", label.get_text())


def test_letters_that_no_font_has_are_named():
    with pytest.warns(UserWarning) as caught:
        figure = paper_figure(trace(2), tokens=["\U0001fbf0", "\U00013000"])
    assert str(caught[0].message) == figure.notes[0]
    expected = messages.NO_FONT.format(listed="𓀀 (U+13000) 🯰 (U+1FBF0)", more="")
    assert figure.notes == (expected,)


def test_arabic_letters_are_joined_and_run_from_right_to_left():
    """Seen, meem, lam, alef: joined they are narrower than apart, as lam and alef make one."""
    from attention.figures.paper.sheet import Letters

    letters = Letters("سلام")
    assert letters.width("سلام", 8) < 0.9 * sum(letters.width(one, 8) for one in "سلام")


def test_numbers_that_are_not_finite_are_grey_with_a_sentence():
    given = self_attention([[np.inf], [1.0]], [[1.0]], [[1.0]], [[1.0]])
    sentence = messages.NUMBERS_NOT_FINITE.format(broken="X")
    with pytest.warns(UserWarning, match=f"^{sentence}$"):
        figure = paper_figure(given, stages=["X"])
    (axes,) = panels(figure)
    assert np.ma.getmaskarray(axes.collections[0].get_array()).tolist() == [[True], [False]]
    assert [text.get_text() for text in axes.texts] == ["∞", "1"]


# ---- colours -------------------------------------------------------------------------------------


def lab(rgb) -> np.ndarray:
    """CIELAB of sRGB colours, by the printed formulas (white D65)."""
    rgb = np.asarray(rgb, float)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = linear @ np.transpose(to_xyz) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1)


@pytest.mark.parametrize("name", SIGNS)
def test_both_ends_of_a_colour_map_differ_in_grey_by_a_third_of_all_lightness(name):
    low, high = lab(colour_map(name)([0.0, 1.0])[:, :3])[:, 0]
    assert abs(high - low) > 33


@pytest.mark.parametrize("name", SIGNS)
def test_equal_steps_of_numbers_are_equal_steps_of_colour(name):
    """In CIELAB's plain distance, within half of their mean; Matplotlib's hold in CAM02-UCS."""
    steps = np.linalg.norm(
        np.diff(lab(colour_map(name)(np.linspace(0, 1, 13))[:, :3]), axis=0), axis=1
    )
    assert steps.min() > 0.5 * steps.mean()


@pytest.mark.parametrize("name", SHARES)
def test_lightness_of_shares_goes_one_way_and_spans_seventy(name):
    lightness = lab(colour_map(name)(np.linspace(0, 1, 50))[:, :3])[:, 0]
    steps = np.diff(lightness)
    assert (steps > 0).all() or (steps < 0).all()
    assert abs(lightness[-1] - lightness[0]) > 70


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("name", SHARES)
def test_numbers_have_the_ink_that_stands_out_more_from_their_cell(name, logarithmic):
    """By the printed formula of WCAG 2, in whose terms one of the two reaches 4.5 anywhere."""
    paper = Paper(shares=name, limits="data", logarithmic=logarithmic, width="text")
    (axes,) = panels(paper_figure(trace(9), paper=paper))
    fills = axes.collections[0].to_rgba(axes.collections[0].get_array())[..., :3]
    for text in axes.texts:
        j, i = (int(place) for place in text.get_position())
        luminance = [
            sum(
                share * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
                for share, c in zip((0.2126, 0.7152, 0.0722), colour, strict=True)
            )
            for colour in (to_rgb("black"), to_rgb("white"), fills[i, j], to_rgb(text.get_color()))
        ]
        dark, light, cell, ink = (one + 0.05 for one in luminance)
        best = max(cell / dark, light / cell)
        assert best >= 4.5 and max(cell / ink, ink / cell) == pytest.approx(best)


# ---- files ---------------------------------------------------------------------------------------


def test_the_size_is_exact_in_each_file_to_a_tenth_of_a_millimetre(drawn):
    pdf, png, svg, figure = drawn.pdf, drawn.png, drawn.svg, drawn.figure
    wide, high = 25.4 * figure.get_size_inches()
    page = pypdf.PdfReader(io.BytesIO(pdf)).pages[0].mediabox
    size = r'<svg [^>]*width="([\d.]+)pt" height="([\d.]+)pt"'
    width, height = re.search(size, svg.decode()).groups()
    for across, up in ((page.width, page.height), (width, height)):
        assert float(across) / MM == pytest.approx(wide, abs=0.1)
        assert float(up) / MM == pytest.approx(high, abs=0.1)
    tall, across, _ = pixels(png).shape
    assert (across * 25.4 / 200, tall * 25.4 / 200) == pytest.approx((wide, high), abs=0.13)


@pytest.mark.parametrize("name", ["column", "text", "slide", 12.5])
def test_the_width_is_the_one_chosen_and_the_height_stays_below_the_greatest(name):
    paper = Paper(width=name)
    given = trace()
    figure = paper_figure(given, stages=["scores", "weights"], paper=paper)
    wide, high = 2.54 * figure.get_size_inches()
    assert wide == pytest.approx({"column": 8.25, "text": 17.1, "slide": 25.4}.get(name, name))
    assert high <= paper.height


def test_nothing_is_cut_in_any_file(drawn):
    pdf, png, figure = drawn.pdf, drawn.png, drawn.figure
    for image in (raster(pdf), pixels(png)):
        edge = (
            np.concatenate([image[:2], image[-2:]]),
            np.concatenate([image[:, :2], image[:, -2:]]),
        )
        assert all((side > 250).all() for side in edge)
    page = figure.bbox
    for text in figure.findobj(lambda artist: hasattr(artist, "get_text")):
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent()
            assert page.x0 <= box.x0 and box.x1 <= page.x1, text
            assert page.y0 <= box.y0 and box.y1 <= page.y1, text


def test_no_words_lie_on_cells_or_on_other_words(drawn):
    figure = drawn.figure
    words = [t for t in figure.findobj(lambda a: hasattr(a, "get_text")) if t.get_text().strip()]
    inside = {text for axes in figure.axes for text in axes.texts}
    outside = [text.get_window_extent() for text in words if text not in inside]
    cells = [axes.get_window_extent() for axes in figure.axes]
    for k, box in enumerate(outside):
        for other in (*outside[:k], *cells):
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            up = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert across < 1.5 or up < 1.5, (box, other)


def test_the_pdf_looks_like_the_png(drawn):
    one, other = raster(drawn.pdf).astype(float), pixels(drawn.png).astype(float)
    height, width = (min(a, b) for a, b in zip(one.shape[:2], other.shape[:2], strict=True))
    one, other = one[:height, :width], other[:height, :width]

    def coarse(image):  # means of 8 × 8 dots, which forgive the edges of letters
        image = image[: height // 8 * 8, : width // 8 * 8]
        return image.reshape(height // 8, 8, width // 8, 8, 3).mean((1, 3))

    difference = np.abs(coarse(one) - coarse(other))
    assert difference.mean() < 3.5
    assert np.quantile(difference, 0.99) < 60


def test_cells_are_paths_and_no_file_holds_an_image(drawn):
    pdf, svg, figure = drawn.pdf, drawn.svg, drawn.figure
    images = pypdfium2.PdfDocument(pdf)[0].get_objects(filter=[FPDF_PAGEOBJ_IMAGE], max_depth=15)
    assert list(images) == [] and b"/Subtype /Image" not in pdf  # drawn, or kept and not drawn
    assert b"<image" not in svg
    cells = sum(axes.collections[0].get_array().size for axes in panels(figure))
    assert svg.count(b"<path") >= cells


def test_the_pdf_embeds_truetype_fonts_and_its_text_can_be_selected():
    figure = paper_figure(trace(), tokens=("größe", "naïve", "Ωmega", "−1", "سلام", "x"))
    pdf = to_bytes(figure, "pdf")
    page = pypdf.PdfReader(io.BytesIO(pdf)).pages[0]
    fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
    assert fonts
    for font in fonts:
        (descendant,) = font["/DescendantFonts"]
        descendant = descendant.get_object()
        assert descendant["/Subtype"] == "/CIDFontType2"
        assert "/FontFile2" in descendant["/FontDescriptor"].get_object()
    text = pypdfium2.PdfDocument(pdf)[0].get_textpage().get_text_range()
    for word in ("größe", "naïve", "Ωmega", "−1", "query", "key", "weights"):
        assert word in text


def test_the_svg_has_text_that_names_its_fonts_or_outlines():
    figure = paper_figure(trace(), tokens=("größe", "b", "c", "d", "e", "f"))
    text = to_bytes(figure, "svg").decode()
    assert ">größe</text>" in text
    assert "'DejaVu Sans'" in text and "'Arial'" in text and "sans-serif" in text
    assert "<text" not in to_bytes(figure, "svg", outlines=True).decode()


def test_each_cell_has_an_edge_of_its_own_colour_so_that_no_seam_shows_between_them():
    """Cairo's family (rsvg, Poppler) shows paper there; PDFium and Matplotlib's own PNG do not."""
    svg = to_bytes(paper_figure(trace(4), paper=Paper(numbers=False, bar=False)), "svg").decode()
    _, group = svg.split('<g id="QuadMesh_1">')
    edged = r'style="fill: (#\w{6}); stroke: \1; stroke-width: 0.5"'
    assert len(re.findall(edged, group)) == 16


def test_64_by_64_cells_stay_below_2_mb_in_each_file():
    figure = paper_figure(trace(64), paper=Paper(numbers=False))
    for form in ("pdf", "svg", "png"):
        assert len(to_bytes(figure, form, dpi=600)) < 2 * 2**20


def test_two_saves_are_the_same_bytes():
    first, second = (paper_figure(trace(), tokens=WORDS) for _ in range(2))
    for form in ("pdf", "svg", "png"):
        assert to_bytes(first, form) == to_bytes(second, form)


def test_two_threads_draw_at_once_as_one_after_the_other():
    def make(width):
        figure = paper_figure(trace(), tokens=WORDS, paper=Paper(width=width))
        return to_bytes(figure, "pdf"), to_bytes(figure, "svg", outlines=width == 8)

    widths = [8, 10, 12, 14] * 2
    alone = [make(width) for width in widths[:4]]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(make, widths)) == alone * 2


def test_settings_of_the_caller_are_neither_used_nor_changed():
    import matplotlib

    expected = to_bytes(paper_figure(trace(), tokens=WORDS), "pdf")
    theirs = {"font.size": 30, "text.color": "red", "pdf.fonttype": 3, "figure.facecolor": "black"}
    with matplotlib.rc_context(theirs):
        assert to_bytes(paper_figure(trace(), tokens=WORDS), "pdf") == expected
        assert {name: matplotlib.rcParams[name] for name in theirs} == theirs


def test_savefig_alone_says_what_drew_it_and_embeds_truetype_fonts(tmp_path):
    paper_figure(trace()).savefig(tmp_path / "a.pdf")
    made = pypdf.PdfReader(tmp_path / "a.pdf").metadata.creator
    assert made == f"attention-stages {__version__}, {date.today()}"
    page = pypdf.PdfReader(tmp_path / "a.pdf").pages[0]
    kinds = {font.get_object()["/Subtype"] for font in page["/Resources"]["/Font"].values()}
    assert kinds == {"/Type0"}


def test_a_notebook_shows_the_figure():
    assert paper_figure(trace())._repr_png_().startswith(b"\x89PNG")


def test_matplotlib_is_imported_when_a_figure_is_first_drawn_and_pyplot_never(tmp_path):
    """With a home that cannot be written to."""
    home = tmp_path / "home"
    home.write_text("a file, below which no folder can be made")
    code = """
import sys
import attention, attention.exports.paper
from attention import Paper
assert "matplotlib" not in sys.modules
trace = attention.self_attention([[1.0], [2.0]], [[1.0]], [[1.0]], [[1.0]])
figure = attention.paper_figure(trace, paper=Paper(width="text"))
pdf = attention.exports.paper.to_bytes(figure, "pdf")
print(len(pdf) > 1000, "matplotlib.pyplot" in sys.modules)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=HOUSE,
        env={"HOME": str(home), "PATH": "", "TMPDIR": str(tmp_path)},
    )
    assert ran.stdout.split() == ["True", "False"], ran.stderr


def test_where_no_folder_can_be_written_to_a_sentence_says_so(tmp_path):
    """As on a read-only file system: neither a home nor a folder for what is temporary."""
    home = tmp_path / "home"
    home.write_text("a file, below which no folder can be made")
    code = """
import tempfile
import attention
from attention.models.examples import load

def read_only(*_, **__):
    raise OSError(30, "Read-only file system")

tempfile.mkdtemp = read_only
trace = attention.self_attention([[1.0], [2.0]], [[1.0]], [[1.0]], [[1.0]])
one = [[1.0]]
drawings = [
    lambda: attention.paper_figure(trace),
    lambda: attention.paper_figure(attention.long_attention(one, one, one)),
    lambda: attention.across_layers(load("pronoun"), 8, layers=[0]),
]
for draw in drawings:
    try:
        draw()
    except attention.limits.BadInput as problem:
        print(problem)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=HOUSE,
        env={"HOME": str(home), "PATH": ""},
    )
    assert ran.stdout.splitlines() == [printing.NO_FOLDER] * 3, ran.stderr


# ---- refusals ------------------------------------------------------------------------------------

ASKED = [
    (
        {"width": "poster"},
        messages.NAME_OR_RANGE_EXPECTED.format(
            name="width",
            given="'poster'",
            names="column, text, slide",
            least=2,
            most=120,
            unit="cm",
        ),
    ),
    (
        {"width": 1},
        messages.NAME_OR_RANGE_EXPECTED.format(
            name="width", given=1, names="column, text, slide", least=2, most=120, unit="cm"
        ),
    ),
    (
        {"height": 500},
        messages.RANGE_WITH_UNIT_EXPECTED.format(
            name="height", given=500, least=2, most=120, unit="cm"
        ),
    ),
    (
        {"font_size": 2},
        messages.RANGE_WITH_UNIT_EXPECTED.format(
            name="font_size", given=2, least=4, most=72, unit="pt"
        ),
    ),
    (
        {"tick_size": "7"},
        messages.RANGE_WITH_UNIT_EXPECTED.format(
            name="tick_size", given="'7'", least=4, most=72, unit="pt"
        ),
    ),
    (
        {"tick_size": True},
        messages.RANGE_WITH_UNIT_EXPECTED.format(
            name="tick_size", given=True, least=4, most=72, unit="pt"
        ),
    ),
    ({"bar": 1}, messages.TRUE_OR_FALSE_EXPECTED.format(name="bar", given=1)),
    ({"title": None}, messages.LETTERS_EXPECTED.format(name="title", given=None, most="2,000")),
    (
        {"shares": "jet"},
        messages.ONE_OF_WANTED.format(
            name="shares", given="'jet'", known="viridis, cividis, magma, blues"
        ),
    ),
    ({"limits": "own", "lowest": 1}, messages.LESS_EXPECTED.format(name="lowest", given=1, most=1)),
    (
        {"limits": (0, 1)},
        messages.ONE_OF_WANTED.format(name="limits", given="(0, 1)", known="stage, data, own"),
    ),
]


@pytest.mark.parametrize(("given", "sentence"), ASKED)
def test_a_setting_that_cannot_be_is_refused_in_a_sentence(given, sentence):
    with pytest.raises(BadInput) as caught:
        Paper(**given)
    assert str(caught.value) == sentence


DRAWN = [
    (
        {"stages": None, "paper": Paper(height=8)},
        messages.PANELS_DO_NOT_FIT.format(count=15, wide=8.25, high=8, size=8),
    ),
    ({"tokens": "abcdef"}, messages.WORDS_EXPECTED.format(argument="tokens", words="'abcdef'")),
    ({"tokens": 6}, messages.WORDS_EXPECTED.format(argument="tokens", words=6)),
    ({"heads": 0.5}, messages.WHOLE_NUMBER_EXPECTED.format(argument="head", given="0.5")),
    ({"heads": []}, messages.NO_HEADS_NAMED),
    ({"heads": [0, 9]}, messages.OUT_OF_RANGE.format(word="head", place=9, count=2)),
    (
        {"stages": ["attention"]},
        messages.UNKNOWN_STAGE.format(
            name="'attention'",
            known="X, W_Q, W_K, W_V, Q, K, V, scores, scaled, masked, weights, output, joined, W_O,"
            " projected",
        ),
    ),
]


@pytest.mark.parametrize(("more", "sentence"), DRAWN)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(more, sentence):
    with pytest.raises((ValueError, TypeError)) as caught:
        paper_figure(trace(heads=2), **({"tokens": WORDS} | more))
    assert str(caught.value) == sentence


def test_more_cells_than_can_be_printed_are_refused():
    with pytest.raises(BadInput) as caught:
        paper_figure(trace(400))
    assert str(caught.value) == (
        messages.PANELS_TOO_LARGE.format(cells="160,000", max_printed="131,072")
    )


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr("attention.figures.panes.arguments.find_spec", lambda wanted: None)
    with pytest.raises(ModuleNotFoundError) as caught:
        paper_figure(trace())
    assert str(caught.value) == (
        messages.PACKAGE_MISSING.format(name="paper_figure", name_2="matplotlib")
    )


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"form": "eps"}, messages.UNKNOWN_FORM.format(form="'eps'", known="pdf, svg, png")),
        (
            {"form": "png", "dpi": 1200},
            messages.RANGE_EXPECTED.format(name="dpi", given=1200, least=50, most=600),
        ),
    ],
)
def test_a_file_of_another_kind_is_refused(more, sentence):
    with pytest.raises(BadInput) as caught:
        to_bytes(paper_figure(trace(1)), **more)
    assert str(caught.value) == sentence


def test_a_png_too_large_to_draw_is_refused_before_it_is_drawn():
    figure = paper_figure(trace(), paper=Paper(width=120.0, height=120.0, font_size=30.0))
    wide, tall = (2.54 * inches for inches in figure.get_size_inches())
    with pytest.raises(BadInput) as caught:
        to_bytes(figure, "png", dpi=600)
    assert str(caught.value) == (
        messages.TOO_MANY_DOTS.format(
            wide=f"{wide:.1f}",
            tall=f"{tall:.1f}",
            dpi=600,
            count=f"{wide * tall * (600 / 2.54) ** 2 / 1000000.0:,.0f}",
            max_dots=64,
        )
    )
    assert to_bytes(figure, "pdf").startswith(b"%PDF")
