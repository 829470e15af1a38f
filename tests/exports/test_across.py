"""One head across layers, from Python: the numbers of each layer, one bar, one note."""

import re
from dataclasses import replace

import messages
import numpy as np
import pytest
from models.test_recorded import recorded

import attention
from attention.models.examples import load
from attention.models.taken import Call, Taken

pytest.importorskip("matplotlib", reason="the extra [app] is not installed")


def panels(figure):
    return [axes for axes in figure.axes if axes.get_title("left")]


def test_each_layer_has_its_weights_and_all_share_one_bar_and_one_note():
    taken = load("pronoun")
    begin = messages.NUMBERS_LEFT_OUT.partition("{names}")[0]
    with pytest.warns(UserWarning, match=begin):
        figure = attention.across_layers(taken, 8, paper=attention.Paper(width=17.8))
    assert len(figure.axes) == len(taken) + 1 and len(figure.notes) == 1
    for call, axes in zip(taken, panels(figure), strict=True):
        expected = call.trace(0, call.heads.index(8)).weights
        drawn = np.asarray(axes.collections[0].get_array())
        np.testing.assert_array_equal(drawn.reshape(expected.shape), expected)
    (bar,) = (axes for axes in figure.axes if axes not in panels(figure))
    assert bar.get_ylabel() == "weights"


def test_layers_and_items_are_chosen_and_what_is_not_there_is_refused(tmp_path):
    taken = recorded("gpt2")
    taken.save(tmp_path / "run.safetensors")
    figure = attention.across_layers(tmp_path / "run.safetensors", 2, layers=1)
    assert [axes.get_title("left") for axes in panels(figure)] == ["Layer 1, head 2"]
    sentence = messages.HEAD_NOT_CAPTURED.format(head=7, there="0, 1, 2, 3")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        attention.across_layers(taken, 7)
    with pytest.raises(
        ValueError, match=messages.LAYER_NOT_CAPTURED.format(layer=5, step="", there="layers 0, 1")
    ):
        attention.across_layers(taken, layers=[0, 5])
    sentence = messages.ONLY_ONE.format(word="item", place=1)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        attention.across_layers(taken, item=1)
    with pytest.raises(ValueError, match=messages.NO_LAYERS_NAMED):
        attention.across_layers(taken, layers=[])


def test_layers_of_other_words_each_have_their_own():
    figure = attention.across_layers(recorded("t5"), 0)
    named = [[label.get_text() for label in axes.get_xticklabels()] for axes in panels(figure)]
    assert len(named) == 3 and all(named)


# ---- all heads -----------------------------------------------------------------------------------


def maps_in(figure):
    axes = figure.axes[0]
    return {map.get_gid(): map for map in (*axes.collections, *axes.images)}


def test_an_overview_has_every_head_in_its_layers_line_and_its_own_column():
    taken = load("pronoun")
    figure = attention.overview(taken)
    maps = maps_in(figure)
    assert len(maps) == sum(call.Q.shape[1] for call in taken)
    corners = {}
    for call in taken:
        for head, number in enumerate(call.heads):
            drawn = maps[f"layer {call.layer}, head {number}"]
            np.testing.assert_array_equal(drawn.get_array(), call.trace(0, head).weights)
            corners[call.layer, number] = drawn.get_coordinates()[0, 0]
    for (layer, number), (x, y) in corners.items():
        assert x == corners[0, number][0] and y == corners[layer, 1][1]
    assert len({tuple(corner) for corner in corners.values()}) == len(maps)
    assert figure.about == "captured from sentence-transformers/all-MiniLM-L6-v2"
    assert 2.54 * figure.get_figwidth() == pytest.approx(17.1)


def test_a_head_that_a_layer_has_not_leaves_its_place_empty_and_steps_are_lines_of_their_own():
    Q = np.random.default_rng(0).standard_normal((1, 2, 5, 3))
    calls = [
        Call(0, 0, "a", Q, Q, Q, Q, 1.0, heads=(1, 4)),
        Call(3, 0, "b", Q, Q, Q, Q, 1.0, heads=(4, 6)),
        Call(3, 1, "b", Q[:, :, :1], Q, Q, Q[:, :, :1], 1.0, heads=(4, 6), repeat="step"),
    ]
    figure = attention.overview(Taken("m", calls=calls))
    assert list(maps_in(figure)) == [
        *("layer 0, head 1", "layer 0, head 4", "layer 3, head 4", "layer 3, head 6"),
        *("layer 3, step 1, head 4", "layer 3, step 1, head 6"),
    ]
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts[2:] == ["1", "4", "6", "layer 0", "layer 3", "layer 3, step 1"]
    only = attention.overview(Taken("m", calls=calls), layers=0)
    assert list(maps_in(only)) == ["layer 0, head 1", "layer 0, head 4"]


def test_a_map_of_more_than_64_tokens_is_an_image_that_keeps_the_largest_weight_of_each_place():
    n = 130
    Q = np.random.default_rng(1).standard_normal((1, 1, n, 4))
    seen = np.tri(n, dtype=bool)
    call = Call(0, 0, "a", Q, Q, Q, Q, 1.0, allowed=seen[None, None])
    figure = attention.overview(Taken("m", calls=[call]))
    (image,) = figure.axes[0].images
    weights, starts = call.trace(0, 0).weights, [k * n // 96 for k in range(96)] + [n]
    for i in range(96):
        for j in range(96):
            rows, columns = slice(*starts[i : i + 2]), slice(*starts[j : j + 2])
            hidden = not seen[rows, columns].any()
            assert image.get_array().mask[i, j] == hidden
            if not hidden:
                assert image.get_array()[i, j] == weights[rows, columns].max()


def tower(rows=2, columns=4, heads=3, block=2):
    """Return two layers of a tower of pictures, with [CLS] before patches in blocks, and a text."""
    rng = np.random.default_rng(5)
    calls = []
    for layer in range(2):
        Q = rng.standard_normal((1, heads, 1 + rows * columns, 4))
        names = {"names": ("[CLS]", "patch"), "key_names": ("[CLS]", "patch"), "kind": "vision"}
        grid = {"grid": (rows, columns), "grid_block": block}
        calls.append(Call(layer, 0, f"v.{layer}", Q, Q, Q, Q, 0.5, **names, **grid))
    return Taken("m", calls=[*calls, Call(2, 0, "t", Q, Q, Q, Q, 0.5, kind="decoder")])


@pytest.mark.parametrize("picture", [None, np.zeros((300, 600, 3), np.uint8), np.ones((2, 2))])
def test_an_overview_of_a_query_has_its_row_over_the_patches_of_each_head(picture):
    taken = tower()
    figure = attention.overview(taken, query="patch 2", picture=picture)
    maps = maps_in(figure)
    under = [each for each in figure.axes[0].images if each.get_gid() == "picture"]
    assert len(under) == (0 if picture is None else 6)
    drawn = [name for name in maps if name != "picture"]
    assert drawn == [f"layer {layer}, head {head}" for layer in range(2) for head in range(3)]
    for layer, head in np.ndindex(2, 3):
        row = taken[layer].trace(0, head).weights[3]
        blocks = [[row[1], row[2], row[5], row[6]], [row[3], row[4], row[7], row[8]]]
        np.testing.assert_array_equal(maps[f"layer {layer}, head {head}"].get_array(), blocks)
    assert figure.about == "captured from m, row of patch 2"
    assert maps_in(attention.overview(taken, layers=1, query=0)).keys() == {
        f"layer 1, head {head}" for head in range(3)
    }


def test_a_query_has_the_words_of_its_layer_and_a_number_is_one_of_them_only():
    Q = np.random.default_rng(0).standard_normal((1, 2, 8, 4))
    bare = {"names": ("patch",), "key_names": ("patch",), "kind": "vision", "grid": (2, 4)}
    both = tower().calls[:1] + [Call(1, 0, "w.1", Q, Q, Q, Q, 0.5, **bare)]
    with pytest.raises(ValueError, match="query is 3, which is patch 2 in layer 0 and patch 3 in"):
        attention.overview(Taken("m", calls=both), query=3)
    maps = maps_in(attention.overview(Taken("m", calls=both), query="patch 3"))
    for layer, row in ((0, 4), (1, 3)):
        of = both[layer].trace(0, 0).weights[row]
        places = both[layer].patches.places(len(of))
        np.testing.assert_array_equal(maps[f"layer {layer}, head 0"].get_array(), of[places])

    text = {"kind": "cross", "key_names": ("patch",), "grid": (2, 4), "query_position": 0}
    call = Call(0, 0, "decoder.0.cross_attn", Q[:, :, :3], Q, Q, Q[:, :, :3], 0.5, **text)
    taken = Taken("m", ["a", "cat", "sat"], calls=[call])
    drawn = maps_in(attention.overview(taken, query="cat"))["layer 0, head 1"].get_array()
    np.testing.assert_array_equal(drawn.ravel(), call.trace(0, 1).weights[1])


def test_a_hidden_patch_of_an_overview_is_hidden():
    seen = np.ones((1, 1, 9, 9), bool)
    seen[..., 0, 2] = False  # patch 1: first row, second column
    call = replace(tower()[0], allowed=seen)
    figure = attention.overview(Taken("m", calls=[call]), query="[CLS]")
    mask = maps_in(figure)["layer 0, head 1"].get_array().mask
    assert np.argwhere(mask).tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"query": "patch 8"}, "query is 'patch 8'; expected one of 9 labels"),
        ({"query": 9}, "query is 9; expected 0 to 8"),
        ({"query": 0, "layers": 2}, "no grid of patches is known of these layers"),
        ({"picture": np.zeros((2, 2))}, "picture is given without query"),
        ({"query": 0, "picture": np.zeros((2, 2), int)}, "expected uint8, or floats"),
    ],
)
def test_what_no_row_over_patches_can_be_drawn_of_is_one_sentence(asked, said):
    with pytest.raises((ValueError, TypeError), match=re.escape(said)):
        attention.overview(tower(), **asked)


def test_what_no_overview_can_be_drawn_of_is_one_sentence():
    taken = load("pronoun")
    with pytest.raises(
        ValueError,
        match=re.escape(
            messages.LAYER_NOT_CAPTURED.format(layer=9, step="", there="layers 0, 1, 2, 3, 4, 5")
        ),
    ):
        attention.overview(taken, layers=9)
    with pytest.raises(TypeError, match="expected an attention.Paper"):
        attention.overview(taken, paper="column")
    with pytest.raises(ValueError, match="30 panels do not fit"):
        attention.overview(taken, paper=attention.Paper(2, height=2))
    M = np.broadcast_to(np.float32(0), (1, 3, 2048, 1))
    large = Taken("m", calls=[Call(0, 0, "a", M, M, M, M, 1.0)])
    said = messages.TOO_MANY_MAPPED.format(found="12,582,912", limit="8,388,608")
    with pytest.raises(ValueError, match=re.escape(said)):
        attention.overview(large)
