"""Matrices side by side: same colours where they are compared, exact numbers, words around them."""

import numpy as np

from attention.figures.panes.comparison import compared
from attention.figures.plotly.heatmap import to_plotly

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
