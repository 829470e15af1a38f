"""What is particular to the libraries over PyTorch, beside the recorded answers."""

import numpy as np
import pytest

from attention import causal, causal_lower_right
from attention.frameworks.moves import moved
from attention.frameworks.records import answer

PADDED = np.array([[False, True, True]])


def numbers(n_q=3, n_k=3, dtype="float32"):
    """Q, K and V."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal((n, 4)).astype(dtype) for n in (n_q, n_k, n_k)]


@pytest.mark.parametrize(
    ("n_q", "n_k", "expected"), [(2, 4, causal_lower_right(2, 4)), (4, 2, causal(4, 2))]
)
def test_the_flash_way_of_x_transformers_has_two_corners(n_q, n_k, expected):
    given = answer("x_transformers_flash", *numbers(n_q, n_k), causal=True)
    assert ((given.weights > 0) == expected).all()


def test_a_padded_query_of_curated_transformers_has_output_0_inside_enable_torch_sdp_alone():
    arrays = numbers()
    inside = answer("curated_transformers_sdp", *arrays, mask=PADDED).output
    outside = answer("curated_transformers", *arrays, mask=PADDED).output
    assert not inside[0].any() and outside[0].any()
    np.testing.assert_allclose(inside[1:], outside[1:], atol=1e-6)
    move = moved("curated_transformers", "curated_transformers_sdp", *arrays, mask=PADDED)
    (change,) = move.changes
    assert change.facet == "hidden_row"
    assert change.sentence.endswith("enable_torch_sdp sets the output of padded queries to 0.")
    assert not move.undone


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_padding_and_look_ahead_that_leave_no_key_are_0_by_the_flash_way_alone(kind):
    Q, K, V = numbers(dtype=kind)
    flash = answer("x_transformers_flash", Q, K, V, mask=PADDED, causal=True).output[0]
    plain = answer("x_transformers", Q, K, V, mask=PADDED, causal=True).output[0]
    assert not flash.any()
    expected = V.mean(axis=0) if kind == "float32" else np.full(4, np.nan)
    np.testing.assert_allclose(plain, expected, atol=1e-6)


def test_x_transformers_caps_scores_and_bias_together():
    bias = np.array([[0.0, -1000.0, 0.0]])
    Q, K, V = np.zeros((1, 4)), np.zeros((3, 4)), np.eye(3)
    given = answer("x_transformers", Q, K, V, softcap=5.0, bias=bias)
    shares = np.exp([0, -5, 0])
    np.testing.assert_allclose(given.weights, [shares / shares.sum()], atol=1e-6)
    move = moved("ours", "x_transformers", Q, K, V, softcap=5.0, bias=bias)
    (said,) = (change.sentence for change in move.changes if not change.fine)
    assert said.startswith("The soft cap of x-transformers Attend")
    assert said.endswith(" is of scores and bias.")
    assert not move.undone


@pytest.mark.parametrize(
    ("name", "sizes", "rest", "said"),
    [
        ("torch_nested", (3, 3), {"mask": PADDED}, "It takes no mask."),
        ("torch_nested", (3, 3), {"bias": [[0.5]]}, "It takes no mask."),
        (
            "torch_nested",
            (3, 3),
            {"causal": True},
            "It raises an error for a look-ahead on the CPU.",
        ),
        ("x_transformers_flash", (3, 3), {"sinks": 0.0}, "It raises an error for sinks."),
        ("x_transformers_flash", (3, 3), {"softcap": 2.0}, "It raises an error for a soft cap."),
        (
            "curated_transformers",
            (3, 2),
            {"causal": True},
            "It raises an error for a look-ahead of more queries than keys.",
        ),
        (
            "curated_transformers_sdp",
            (1, 3),
            {},
            "Its output has a row for each key, not for each query.",
        ),
        (
            "curated_transformers_sdp",
            (2, 3),
            {},
            "It raises an error where there are not as many queries as keys.",
        ),
        (
            "curated_transformers_sdp",
            (3, 3),
            {"mask": np.eye(3, dtype=bool)},
            "It raises an error for a mask that is not the same for all queries.",
        ),
    ],
)
def test_what_is_refused_is_a_sentence(name, sizes, rest, said):
    given = answer(name, *numbers(*sizes), **rest)
    assert (given.refused, given.output) == (said, None)
