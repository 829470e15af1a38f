"""One matrix as a heatmap: the trace's bits, the text of `number`, nothing typed comes alive.

``tests/browser/test_heatmap_browser.py`` compares what a browser draws of it with the matrix.
"""

import html
import math
import re

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention.explain.colours import DARK, LIGHT, PALETTES
from attention.figures.panes.pane import MOST_TEXTS, Pane, cell_texts
from attention.figures.plotly.heatmap import (
    MOST_PRINTED,
    MOST_TICKS,
    TAKEN,
    escape,
    label,
    stage_figure,
    to_plotly,
)
from attention.vocabulary.numbers import number, rounded
from attention.vocabulary.sentences import LABEL_LENGTH


def draw(matrix, **options):
    rows, columns = (
        [f"{word}{k}" for k in range(side)] for word, side in zip("rc", matrix.shape, strict=True)
    )
    named = {"rows": tuple(rows), "columns": tuple(columns), "limits": (-1, 1)}
    return to_plotly(Pane(values=matrix, **{"name": "X"} | named | options))


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 4), st.integers(1, 4)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_z_holds_the_matrix_bit_for_bit(matrix):
    figure = draw(matrix)
    assert len(figure["data"]) == 1
    assert figure["data"][0]["z"].tobytes() == matrix.tobytes()
    assert go.Figure(figure).data[0].type == "heatmap"


@pytest.mark.parametrize(
    "lay",
    [
        np.asfortranarray,
        lambda M: M[::-1],
        lambda M: M.T,
        lambda M: M.astype("f4"),
        lambda M: M.astype(int),
    ],
)
def test_the_layout_in_memory_does_not_matter(lay):
    matrix = lay(np.arange(6.0).reshape(2, 3))
    z = draw(matrix)["data"][0]["z"]
    assert z.dtype == np.float64 and z.tolist() == matrix.tolist()


def test_hidden_and_broken_cells_have_traces_of_their_own():
    matrix = np.array([[1.0, -math.inf, math.nan], [math.inf, -2.0, 0.0]])
    hidden = np.array([[False, True, False], [False, False, True]])
    main, grey, broken = draw(matrix, hidden=hidden)["data"]
    assert (main["meta"], grey["meta"], broken["meta"]) == ("diverging", "hidden", "broken")
    assert np.isnan(main["z"]).tolist() == [[False, True, True], [True, False, True]]
    assert (grey["z"] == 0).tolist() == hidden.tolist()
    assert (broken["z"] == 0).tolist() == [[False, False, True], [True, False, False]]
    assert main["text"] == [["1", "", ""], ["", "−2", ""]]
    assert not {"text", "texttemplate", "hovertext"} & grey.keys()
    assert "<b>hidden</b>" in grey["hovertemplate"]
    assert broken["hovertext"] == broken["text"] and "%{hovertext}" in broken["hovertemplate"]
    assert broken["text"] == [["", "", "NaN"], ["∞", "", ""]]
    assert grey["colorscale"] == LIGHT["hidden"]


@pytest.mark.parametrize("digits", [0, 2, 6])
def test_the_text_of_a_cell_is_its_number(digits):
    matrix = np.random.default_rng(0).normal(size=(3, 4)) * 10.0 ** np.arange(-6, 6, 3)
    main = draw(matrix, digits=digits)["data"][0]
    assert main["text"] == rounded(matrix, digits)
    by_itself = [[number(float(v), digits) for v in row] for row in matrix]
    vanished = np.isin(main["text"], ["0.00", "0.000000"])
    pointed_at = np.array(main["hovertext"])
    assert (pointed_at == np.where(vanished, by_itself, main["text"])).all()


@pytest.mark.parametrize("digits", [0, 2, 8])
def test_what_is_pointed_at_is_the_text_of_the_cell(digits):
    matrix = np.array([[0.00049, 27.456], [-1234567.25, 3.0]])
    drawn = draw(matrix, digits=digits)["data"][0]
    assert drawn["hovertemplate"] == "%{y} · %{x}<br><b>%{hovertext}</b><extra></extra>"
    assert drawn["text"] == rounded(matrix, digits)
    if digits == 2:
        assert drawn["hovertext"][0] == ["4.9e−4", "27.46"]
    else:
        assert drawn["hovertext"][1] == drawn["text"][1]


@pytest.mark.parametrize("shape", [(MOST_PRINTED, 3), (3, MOST_PRINTED), (MOST_PRINTED,) * 2])
def test_numbers_are_printed_up_to_24_rows_and_columns(shape):
    for side in (0, 1):
        larger = tuple(n + (axis == side) * (n == MOST_PRINTED) for axis, n in enumerate(shape))
        drawn = draw(np.full(larger, 0.25))["data"][0]
        assert ("text" in drawn) == ("texttemplate" in drawn) == (max(larger) <= MOST_PRINTED)
        assert {text for row in drawn["hovertext"] for text in row} == {"0.25"}


def test_a_large_matrix_is_drawn_without_texts():
    side = int(MOST_TEXTS**0.5)
    assert len(cell_texts(np.ones((side, side)), 2, "diverging")) == side
    assert cell_texts(np.ones((side, side + 1)), 2, "diverging") is None
    for digits in (2, 8):
        drawn = draw(np.ones((side, side + 1)), digits=digits)["data"][0]
        assert not {"text", "hovertext"} & drawn.keys()
        assert f"%{{z:.{digits + 4}~g}}" in drawn["hovertemplate"]


@pytest.mark.parametrize(
    ("limits", "role"), [((0, 1), "share"), ((-3, 3), "diverging"), ((-1, 1), "diverging")]
)
def test_the_limits_are_those_asked_for_and_choose_the_scale(limits, role):
    main = draw(np.eye(2), limits=limits)["data"][0]
    assert (main["zmin"], main["zmax"], main["meta"], main["colorscale"]) == (
        *limits,
        role,
        LIGHT[role],
    )


def test_a_heatmap_has_a_slim_colour_bar_unless_it_is_a_mask():
    assert (
        draw(np.eye(2))["data"][0]["showscale"]
        and draw(np.eye(2))["data"][0]["colorbar"]["thickness"] <= 8
    )
    assert not draw(np.eye(2), name="mask")["data"][0]["showscale"]


def test_marks_frame_a_row_or_a_cell():
    row, cell = draw(np.ones((3, 4)), marks=(("query", 1, None), ("cell", 2, 3)))["layout"][
        "shapes"
    ]
    assert [row[k] for k in ("name", "x0", "x1", "y0", "y1")] == ["query", -0.5, 3.5, 0.5, 1.5]
    assert [cell[k] for k in ("name", "x0", "x1", "y0", "y1")] == ["cell", 2.5, 3.5, 1.5, 2.5]


# ---- labels -----------------------------------------------------------------

HOSTILE = [
    "<b>x</b>",
    "<img src=x onerror=alert(1)>",
    "%{z}",
    "$x$",
    "a" * 40,
    "&lt;",
    '"quoted"',
    "it's",
    "1",
    "2024-01-01",
    "",
    "</text>",
    "<a href='javascript:0'>",
]


@pytest.mark.parametrize("token", HOSTILE)
def test_a_token_is_shown_as_typed_and_never_as_markup_or_formula(token):
    text = label(token)
    assert not set("<>$") & set(text)
    assert html.unescape(text) == (
        token if len(token) <= LABEL_LENGTH else token[: LABEL_LENGTH - 1] + "…"
    )


@given(st.one_of(st.text(max_size=50), st.text("#0019 ", max_size=9), st.sampled_from([*TAKEN])))
def test_any_label_reads_back_and_holds_only_entities_plotly_knows(token):
    for text, meant in ((label(token), LABEL_LENGTH), (escape(token), len(token))):
        assert not set("<>$") & set(text)
        assert "&" not in re.sub("&(amp|lt|gt|#[0-9]+);", "", text)
        assert "#0000" not in text and text not in TAKEN
        assert len(html.unescape(text)) <= meant
    assert html.unescape(escape(token)) == token


def test_axes_have_a_category_for_each_whole_label():
    rows, columns = ("1", "2024-01-01"), ("the", "the", "a very long word <b>", "constructor")
    figure = draw(np.ones((2, 4)), rows=rows, columns=columns)
    x, y = figure["layout"]["xaxis"], figure["layout"]["yaxis"]
    places = ["the (1)", "the (2)", "a very long word &lt;b&gt;", "&#99;onstructor"]
    assert [figure["data"][0][axis] for axis in "xy"] == [places, [*rows]]
    assert (x["type"], x["tickmode"], x["tickvals"]) == ("category", "array", places)
    assert x["ticktext"] == ["the (1)", "the (2)", "a very long w…", "&#99;onstructor"]
    assert (y["type"], y["tickvals"], y["ticktext"]) == ("category", [*rows], [*rows])
    assert y["autorange"] == "reversed" and not {"fixedrange"} & (x.keys() | y.keys())


@given(st.lists(st.sampled_from([*HOSTILE, *TAKEN, "the", "the (1)", "&#99;onstructor"])))
def test_no_two_labels_share_a_category(labels):
    labels = tuple(labels) or ("a",)
    drawn = draw(np.ones((1, len(labels))), columns=labels)["data"][0]
    assert len(set(drawn["x"])) == len(labels)
    for place, token in zip(drawn["x"], labels, strict=True):
        assert html.unescape(place).startswith(token)


@pytest.mark.parametrize("n", [1, MOST_TICKS, MOST_TICKS + 1, 64, 200])
def test_labels_are_thinned_evenly_and_stay_at_their_places(n):
    columns = tuple(f"a very long token {k}" for k in range(n))
    drawn = draw(np.ones((1, n)), columns=columns)
    axis = drawn["layout"]["xaxis"]
    step = drawn["data"][0]["x"].index(axis["tickvals"][1]) if n > 1 else 1
    assert axis["tickvals"] == list(columns[::step]) and len(axis["tickvals"]) <= MOST_TICKS
    assert len(axis["tickvals"]) > MOST_TICKS / 2 or n < MOST_TICKS
    assert axis["ticktext"] == [label(column) for column in axis["tickvals"]]


AXES = [
    ("weights", ("query", "key")),
    ("X", ("token", "d<sub>model</sub>")),
    ("memory", ("token", "d<sub>model</sub>")),
    ("W_Q", ("d<sub>model</sub>", "d<sub>k</sub>")),
    ("Q", ("query", "d<sub>k</sub>")),
    ("K_rotated", ("key", "d<sub>k</sub>")),
    ("output", ("query", "d<sub>v</sub>")),
    ("R", ("key − query", "bias")),
    ("context", ("", "d<sub>v</sub>")),
    ("no stage", ("", "")),
]


@pytest.mark.parametrize(("name", "titles"), AXES)
def test_axes_say_what_a_row_and_a_column_are(name, titles):
    for named in ({"name": name}, {"name": "theirs", "stage": name}):
        around = draw(np.eye(2), **named)["layout"]
        assert tuple(around[axis]["title"]["text"] for axis in ("yaxis", "xaxis")) == titles


def test_the_axes_of_a_pane_come_before_those_of_its_stage():
    around = draw(np.eye(2), name="weights", axes=("Frage", "Antwort"))["layout"]
    assert around["yaxis"]["title"]["text"] == "Frage"


def test_hostile_titles_and_labels_stay_out_of_the_templates():
    figure = draw(np.ones((1, 1)), rows=("%{z}<b>",), columns=("<i>",), title="<script>$x$")
    assert figure["layout"]["title"]["text"] == "&lt;script&gt;&#36;x&#36;"
    for trace in figure["data"]:
        assert "%{z}<b>" not in trace["hovertemplate"]
        assert trace["texttemplate"] == "%{text}"


# ---- the theme --------------------------------------------------------------


def test_ink_and_paper_are_those_of_the_template_and_cells_keep_theirs():
    pane = Pane(
        name="weights",
        values=np.array([[1.0, 0.0], [math.nan, 2.0]]),
        rows=("a", "b"),
        columns=("c", "d"),
        limits=(0, 1),
        symbol="weights",
        hidden=np.array([[False, True], [False, False]]),
    )
    figure = stage_figure(pane)
    assert figure.to_dict() == go.Figure(to_plotly(pane)).to_dict()
    assert figure.layout.template.layout.font.color == LIGHT["ink"]
    assert figure.layout.template.layout.paper_bgcolor == LIGHT["paper"]
    own = figure.layout.to_plotly_json() | {"template": None}
    assert re.findall(r"#[0-9a-f]{6}|rgba?\(", str(own)) == [LIGHT["paper"]]
    assert own["plot_bgcolor"] == LIGHT["paper"]  # between cells
    colours = [(t.meta, t.colorscale[0][1], t.textfont.color) for t in figure.data]
    ink = LIGHT["ink"]
    assert colours == [
        ("share", LIGHT["share"][0][1], ink),
        ("hidden", LIGHT["hidden"][0][1], None),
        ("broken", LIGHT["broken"][0][1], ink),
    ]


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (40, 4), (512, 512)])
def test_a_figure_has_room_for_its_words_and_no_more_than_a_page(shape):
    rows, columns = (tuple(f"antidisestablishment{k}" for k in range(n)) for n in shape)
    around = draw(np.ones(shape), rows=rows, columns=columns, symbol="s" * 40)["layout"]
    assert 40 * 8 <= around["width"] <= 1000 and 200 <= around["height"] <= 900


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2)."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, two: str) -> float:
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def between(scale, at: float) -> str:
    """The colour of a scale at one place, mixed as plotly.js does."""
    (a, left), (b, right) = next(
        pair for pair in zip(scale, scale[1:], strict=False) if pair[0][0] <= at <= pair[1][0]
    )
    t = (at - a) / (b - a)
    mixed = (
        round((1 - t) * int(left[k : k + 2], 16) + t * int(right[k : k + 2], 16)) for k in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("role", ["diverging", "share", "hidden", "broken"])
def test_the_numbers_can_be_read_on_every_colour(palette, role):
    colours = PALETTES[palette]
    for step in range(101):
        assert contrast(colours["ink"], between(colours[role], step / 100)) >= 4.5


@pytest.mark.parametrize("palette", PALETTES)
def test_hidden_numbers_and_words_can_be_read(palette):
    colours = PALETTES[palette]
    hidden = colours["hidden"][0][1]
    assert contrast(colours["onHidden"], hidden) >= 4.5
    for role in ("query", "source", "soft", "ink"):
        assert contrast(colours[role], colours["paper"]) >= 4.5, role


# How linear red, green and blue are seen without one kind of cone: Machado, Oliveira and Fernandes
# (2009), table of severity 1.0.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
D65 = np.array([0.95047, 1.0, 1.08883])


def seen(colour: str, blindness: str) -> np.ndarray:
    """L*, a*, b* of #rrggbb as it is seen with a kind of colour blindness."""
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    x, y, z = TO_XYZ @ np.clip(BLINDNESS[blindness] @ linear, 0, 1) / D65
    x, y, z = (c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in (x, y, z))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("palette", PALETTES)
def test_signs_differ_for_the_colour_blind_and_larger_numbers_are_further_from_0(
    palette, blindness
):
    scale = [seen(between(PALETTES[palette]["diverging"], k / 8), blindness) for k in range(9)]
    apart = [float(np.linalg.norm(scale[k] - scale[8 - k])) for k in range(4)]
    assert min(apart) >= 20 and apart == sorted(apart, reverse=True)
    for side in (scale[4::-1], scale[4:]):
        from_zero = [float(np.linalg.norm(colour - scale[4])) for colour in side]
        assert from_zero == sorted(from_zero) and from_zero[-1] >= 40


def test_both_palettes_know_the_same_roles():
    assert LIGHT.keys() == DARK.keys()
