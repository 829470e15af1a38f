"""Matrices side by side: same colours where they are compared, exact numbers, words around them."""

import numpy as np
import plotly.graph_objects as go
import pytest

from attention import scaled_dot_product_attention
from attention.figures.panes.comparison import beside_ours, compared
from attention.figures.plotly.heatmap import to_plotly
from attention.frameworks.records import answer

inf, nan = np.inf, np.nan
WORDS = [("ours", "First."), ("theirs", "Second."), ("difference", "Third.")]
LABELS = {"queries": ("a", "b"), "keys": ("a", "b"), "d_v": ("1", "2", "3")}


def axes(matrix):
    return tuple(tuple(str(k) for k in range(n)) for n in matrix.shape)


def drawn(ours, theirs, difference, name="scores"):
    return compared(
        name,
        np.array(ours),
        np.array(theirs),
        None if difference is None else np.array(difference),
        axes,
        words=WORDS,
    )


def limits(pane):
    (main, *_) = to_plotly(pane)["data"]
    return main["zmin"], main["zmax"]


def test_compared_matrices_share_their_colours_and_the_difference_has_its_own():
    ours, theirs, difference = drawn([[1.0, -4.0]], [[1.0, 2.0]], [[0.0, 6.0]])
    assert limits(ours) == limits(theirs) == (-4, 4)
    assert limits(difference) == (-6, 6)


def test_weights_are_shares_unless_they_are_not():
    assert limits(drawn([[0.5, 0.5]], [[1.0, 0.0]], [[0.5, -0.5]], "weights")[0]) == (0, 1)
    assert limits(drawn([[0.5, 0.5]], [[3.0, 0.0]], [[2.5, -0.5]], "weights")[0]) == (-3, 3)


def test_minus_infinity_is_hidden_but_an_infinite_difference_is_broken():
    ours, _, difference = drawn([[1.0, -inf]], [[1.0, 2.0]], [[0.0, inf]])
    assert [t["meta"] for t in to_plotly(ours)["data"]] == ["diverging", "hidden"]
    assert [t["meta"] for t in to_plotly(difference)["data"]] == ["diverging", "broken"]


def test_two_shapes_have_no_difference():
    assert [pane.name for pane in drawn([[1.0]], [[1.0, 2.0]], None)] == [
        "scores_ours",
        "scores_theirs",
    ]


@pytest.mark.parametrize("name", ["torch_mha", "keras_attention", "jax"])
def test_each_framework_is_a_group_of_weights_and_output_with_its_own_numbers(name):
    Q, K, V = np.random.default_rng(0).standard_normal((3, 2, 3))
    ours = scaled_dot_product_attention(Q, K, V, allowed=[[True, False], [True, False]])
    theirs = answer(name, Q, K, V, mask=ours.allowed)
    panes = beside_ours(ours, [(name, "Theirs", theirs)], LABELS)
    assert [pane.name for pane in panes] == [
        "weights_ours",
        "output_ours",
        f"weights_{name}",
        f"output_{name}",
    ]
    assert [pane.group for pane in panes] == ["ours", "ours", name, name]
    for pane in panes:
        go.Figure(to_plotly(pane))
        assert pane.alt
        assert pane.sentence in ("weights", "output")
    assert limits(panes[1]) == limits(panes[3])
    assert [t["meta"] for t in to_plotly(panes[0])["data"]] == ["share", "hidden"]


def test_nan_is_drawn_as_broken():
    ours = scaled_dot_product_attention([[1.0]], [[1.0]], [[1.0]], allowed=[[True]])
    theirs = answer("torch_mha", [[1.0]], [[1.0]], [[1.0]], mask=[[True]])
    panes = beside_ours(
        ours, [("torch_mha", "nn", theirs)], {"queries": ("a",), "keys": ("a",), "d_v": ("1",)}
    )
    assert [t["meta"] for t in to_plotly(panes[2])["data"]] == ["share", "broken"]
