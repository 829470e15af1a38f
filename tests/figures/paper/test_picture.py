"""A query's weights over a picture: the numbers beside plain loops, and the colours of its dots."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the extra [app] is not installed")

from PIL import Image

import attention
from attention import Paper, over_picture
from attention.core.recorded import Patches, Recorded
from attention.limits import MAX_PIXELS, BadInput
from attention.models.taken import Call, Taken

NAMES = ("[CLS]", "register 0", "patch")
GREY = np.full((40, 60), 0.5)


def traced(rows=4, columns=6, block=1, names=NAMES, heads=0, seed=1):
    special = len(names) - 1
    n = special + rows * columns
    rng = np.random.default_rng(seed)
    Q, K = rng.normal(size=(2, *([heads] if heads else []), n, 5))
    patches = Patches(rows, columns, block, special, names, 0)
    numbers = tuple(range(heads)) or (3,)
    place = Recorded(2, numbers, "encoder.layers.2.attn", "vision", patches=patches)
    return replace(attention.scaled_dot_product_attention(Q, K, K), recorded=place)


def numbers(figure):
    return np.asarray(figure.axes[0].collections[0].get_array())


def dots(figure):
    with Image.open(BytesIO(figure.content("png", dpi=100))) as image:
        return np.asarray(image.convert("RGB"))


def dot_of(figure, i, j, across=0.5, down=0.5):
    """The dot at a place of a cell, from the upper left corner of the picture."""
    axes = figure.axes[0]
    found = dots(figure)
    figure.set_dpi(100)
    x, y = axes.transData.transform((j + across, i + down))
    return found[len(found) - 1 - int(y), int(x)]


@pytest.mark.parametrize("query", [0, 1, 2, 25])
def test_the_map_has_the_weights_of_the_patches_row_by_row(query):
    trace = traced()
    found = numbers(over_picture(trace, query, GREY))
    assert found.shape == (4, 6)
    for row in range(4):
        for column in range(6):
            assert found[row, column] == trace.weights[query, 2 + 6 * row + column]


def test_patches_in_blocks_of_two_are_put_in_rows():
    trace = traced(block=2, names=("patch",))
    found, k = numbers(over_picture(trace, 5, GREY)), 0
    for row in (0, 2):
        for column in (0, 2, 4):
            for i in (0, 1):
                for j in (0, 1):
                    assert found[row + i, column + j] == trace.weights[5, k]
                    k += 1


@pytest.mark.parametrize(
    ("query", "place"), [("[CLS]", 0), ("register 0", 1), ("patch 7", 9), (9, 9)]
)
def test_a_query_is_named_by_number_or_label_and_outlined_where_it_is_a_patch(query, place):
    trace = traced()
    figure = over_picture(trace, query, GREY)
    np.testing.assert_array_equal(numbers(figure).ravel(), trace.weights[place, 2:])
    label = {0: "[CLS]", 1: "register 0", 9: "patch 7"}[place]
    assert figure.axes[0].get_title("left") == f"query {label}"
    outlines = {(each.get_xy(), each.get_width()) for each in figure.axes[0].patches}
    assert outlines == ({((1, 1), 1)} if place == 9 else set())


def test_what_special_tokens_get_is_written_below():
    trace = traced()
    below = over_picture(trace, 3, GREY, paper=Paper("text")).axes[0].get_xlabel()
    parts = {}
    for part in below.replace("; ", ", ").split(", "):
        name, _, text = part.partition(": ")
        parts[name] = float(text)
    assert list(parts) == ["[CLS]", "register 0", "all patches"]
    row = trace.weights[3]
    expected = [row[0], row[1], sum(row[2:])]
    np.testing.assert_allclose(list(parts.values()), expected, atol=0.005)


def test_without_special_tokens_nothing_is_written_below():
    assert over_picture(traced(names=("patch",)), 3, GREY).axes[0].get_xlabel() == ""


def test_a_captured_call_and_its_trace_give_the_same_map():
    trace = traced(heads=2)
    Q, K, V, output = (M[None].astype("f4") for M in (trace.Q, trace.K, trace.V, trace.output))
    call = Call(2, 0, "attn", Q, K, V, output, 5**-0.5, key_names=NAMES, names=NAMES, grid=(4, 6))
    mine = numbers(over_picture(call, "patch 3", GREY, head=1))
    np.testing.assert_array_equal(mine, numbers(over_picture(call.trace(0, 1), 5, GREY)))
    np.testing.assert_allclose(mine.ravel(), trace.weights[1, 5, 2:], rtol=1e-5)


def test_a_special_token_that_alone_looks_has_its_label():
    """As in class attention; where the queries are others', their number is all that is known."""
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(1, 1, 1, 4)), rng.normal(size=(1, 1, 26, 4))
    call = Call(2, 0, "attn", Q, K, K, Q, 0.5, key_names=NAMES, names=NAMES, grid=(4, 6))
    figure = over_picture(call, "[CLS]", GREY)
    np.testing.assert_array_equal(numbers(figure).ravel(), call.trace().weights[0, 0, 0, 2:])
    assert figure.axes[0].get_title("left") == "query [CLS]"
    for other in (replace(call, kind="cross"), replace(call, names=("query",))):
        with pytest.raises(BadInput, match="the queries have no labels"):
            over_picture(other, "[CLS]", GREY)


def test_words_that_were_recorded_name_the_queries_of_another_sequence():
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(3, 5)), rng.normal(size=(26, 5))
    words = ("a", "red", "cat"), tuple(map(str, range(26)))
    place = Recorded(2, (3,), "attn", "cross", labels=(words,), patches=Patches(4, 6, 1, 2, NAMES))
    trace = replace(attention.scaled_dot_product_attention(Q, K, K), recorded=place)
    figure = over_picture(trace, "cat", GREY)
    np.testing.assert_array_equal(numbers(figure).ravel(), trace.weights[2, 2:])
    assert figure.axes[0].get_title("left") == "query cat"
    with pytest.raises(BadInput, match="expected one of 3 labels, 'a', 'red', 'cat'"):
        over_picture(trace, "patch 3", GREY)
    unknown = over_picture(replace(trace, recorded=replace(place, labels=())), 1, GREY)
    assert unknown.axes[0].get_title("left") == "query 1"


def test_a_grid_of_ones_own_takes_the_place_of_what_was_recorded():
    trace = replace(traced(), recorded=None)
    with pytest.raises(BadInput) as refused:
        over_picture(trace, 0, GREY)
    assert str(refused.value) == (
        "grid is not known of this trace; give grid=(rows, columns) of the patches."
    )
    figure = over_picture(trace, 0, GREY, grid=(3, 8), special=2)
    assert numbers(figure).shape == (3, 8)
    with pytest.raises(BadInput) as refused:
        over_picture(trace, 0, GREY, grid=(4, 7), special=2)
    assert str(refused.value) == (
        "grid is 4 × 7, so 28 patches; expected 24, as there are 26 keys, 2 of them special."
    )
    with pytest.raises(BadInput, match="queries have no labels"):
        over_picture(trace, "[CLS]", GREY, grid=(4, 6), special=2)


@pytest.mark.parametrize("kind", [np.uint8, np.float16, np.float32, np.float64])
def test_without_opacity_the_dots_are_the_pictures_own(kind):
    colours = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 255]]], np.uint8)
    colours = np.kron(colours, np.ones((20, 20, 1), np.uint8))
    picture = colours if kind is np.uint8 else (colours / 255).astype(kind)
    figure = over_picture(traced(2, 2), 0, picture, opacity=0)
    for i in range(2):
        for j in range(2):
            assert dot_of(figure, i, j).tolist() == colours[20 * i + 5, 20 * j + 5].tolist()


def test_a_dot_is_the_colour_of_the_weight_blended_with_the_picture():
    trace = traced(2, 3)
    for opacity in (0.6, 1.0):
        figure = over_picture(trace, 0, np.full((20, 30, 3), 51, np.uint8), opacity=opacity)
        weights = numbers(figure)
        import matplotlib

        for (i, j), weight in np.ndenumerate(weights):
            ours = np.array(matplotlib.colormaps["viridis"](weight / weights.max())[:3])
            expected = 255 * (opacity * ours + (1 - opacity) * 51 / 255)
            np.testing.assert_allclose(dot_of(figure, i, j), expected, atol=4)


@pytest.mark.parametrize("kind", [np.uint8, np.float64])
def test_a_large_picture_is_drawn_by_the_means_of_its_pixels(kind):
    large = np.random.default_rng(0).integers(0, 256, (1500, 4100, 3), np.uint8)
    picture = large if kind is np.uint8 else large / 255
    drawn = over_picture(traced(1, 3), 0, picture).axes[0].images[0].get_array()
    assert drawn.shape == (500, 1366, 3)
    for i, j in ((0, 0), (7, 900), (499, 1365)):
        mean = picture[3 * i : 3 * i + 3, 3 * j : 3 * j + 3].reshape(9, 3).mean(axis=0)
        np.testing.assert_allclose(drawn[i, j], mean, atol=0.51 if kind is np.uint8 else 1e-6)


def test_a_wide_picture_stays_wide():
    figure = over_picture(traced(4, 4), 0, np.zeros((100, 300)))
    figure.draw_without_rendering()
    box = figure.axes[0].get_window_extent()
    assert box.width / box.height == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        ("cat.png", "picture holds text; expected uint8, or floats from 0 to 1."),
        (
            np.array([[{}]]),
            "picture holds objects such as {}; expected uint8, or floats from 0 to 1.",
        ),
        (np.zeros((2, 2), int), "picture holds int64; expected uint8, or floats from 0 to 1."),
        (
            np.zeros((3, 8, 8)),
            "picture has shape (3, 8, 8); expected (H, W), (H, W, 3) or (H, W, 4); its colours are"
            " the first axis: np.moveaxis(picture, 0, -1).",
        ),
        (
            np.zeros((8, 8, 2)),
            "picture has shape (8, 8, 2); expected (H, W), (H, W, 3) or (H, W, 4).",
        ),
        (
            np.array([[-2.0, 2.5]]),
            "picture holds numbers from −2 to 2.50; expected 0 to 1, from before the processor"
            " takes the mean off.",
        ),
        (
            np.array([[np.nan, 1]]),
            "picture holds numbers from NaN to NaN; expected 0 to 1, from before the processor"
            " takes the mean off.",
        ),
        (
            np.zeros((0, 5)),
            "picture has 0 × 5 pixels; expected 1 to 16,000,000 in all.",
        ),
        (
            np.broadcast_to(np.uint8(0), (MAX_PIXELS, 2)),
            "picture has 16,000,000 × 2 pixels; expected 1 to 16,000,000 in all.",
        ),
    ],
)
def test_what_is_no_picture_is_refused_with_what_was_found(picture, said):
    with pytest.raises((BadInput, TypeError)) as refused:
        over_picture(traced(), 0, picture)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (26, "query is 26; expected 0 to 25."),
        (-1, "query is -1; expected 0 to 25."),
        ("dog", "query is 'dog'; expected one of 26 labels, '[CLS]', 'register 0', 'patch 0' …."),
    ],
)
def test_a_query_that_is_not_there_is_refused(query, said):
    with pytest.raises(BadInput) as refused:
        over_picture(traced(), query, GREY)
    assert str(refused.value) == said


def test_files_say_where_the_weights_are_from(tmp_path):
    figure = over_picture(traced(), "patch 7", GREY)
    figure.savefig(tmp_path / "a.svg")
    text = Path(tmp_path / "a.svg").read_text()
    assert "layer 2 (vision, encoder.layers.2.attn), head 3" in text and "<image" in text
    assert text.count("patch 7") == 1  # letters, not outlines


def test_a_special_token_that_is_hidden_or_nan_is_said_to_be_so():
    A = np.full((1, 1, 1, 4, 10), 0.1)
    A[..., 0], A[..., 1] = np.nan, 0.0
    call = Taken.of_weights(A)[0]
    figure = over_picture(call, 0, np.zeros((2, 4)), grid=(2, 4), special=2)
    said = figure.axes[0].get_xlabel().replace("\n", " ")
    assert said == "special 0: NaN, special 1: hidden; all patches: 0.80"


def test_calls_in_text_have_no_grid():
    taken = Taken.load(Path(__file__).parents[2] / "models/recorded/bert.safetensors")
    with pytest.raises(BadInput, match="grid is not known"):
        over_picture(taken[0], 0, GREY)
