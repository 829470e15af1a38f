"""What is 0 but for rounding is printed as 0, beside exact arithmetic in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from attention import report, save, scaled_dot_product_attention, self_attention
from attention.explain import cancellation
from attention.explain.arithmetic import cell, walk
from attention.explain.cancellation import zeros_of
from attention.explain.view import View
from attention.figures.panes.panes import panes

DECIMALS = np.array([0.0, 0.1, -0.1, 0.2, -0.3, 0.7, 0.001, 3.0])


def exact(A: np.ndarray, B: np.ndarray) -> list[list[Fraction]]:
    """A @ B of the decimals that were typed."""
    left, right = ([[Fraction(repr(v)) for v in row] for row in M.tolist()] for M in (A, B))
    return [
        [sum(row[k] * right[k][j] for k in range(len(right))) for j in range(len(right[0]))]
        for row in left
    ]


@pytest.mark.parametrize("heads", [1, 2])
def test_a_stage_is_0_by_cancellation_where_fractions_give_0_and_nowhere_else(heads):
    rng, found = np.random.default_rng(heads), 0
    for _ in range(60):
        X, W_Q, W_K, W_V = (rng.choice(DECIMALS, (4, 4)) for _ in range(4))
        trace = self_attention(X, W_Q, W_K, W_V, heads=heads)
        zeros, Q = zeros_of(trace), exact(X, W_Q)
        whole = np.array([[float(value) for value in row] for row in Q])
        joined = np.hstack(list(trace.Q)) if heads > 1 else trace.Q
        flags = zeros.get("Q", np.zeros(trace.Q.shape, bool))
        flags = np.hstack(list(flags)) if heads > 1 else flags
        assert ((joined == 0) | flags).tolist() == (whole == 0).tolist()
        found += flags.sum()
    assert found


def test_what_its_factors_inherited_counts_and_small_numbers_stay():
    Q, K = np.array([[0.1, 0.2, -0.3], [1e-30, 0, 0]]), np.ones((2, 3))
    trace = scaled_dot_product_attention(Q, K, np.array([[1e-20], [1e-20]]))
    assert trace.scores[0, 0] != 0
    for stage in ("scores", "scaled", "masked"):
        assert zeros_of(trace)[stage].tolist() == [[True, True], [False, False]]
    assert "output" not in zeros_of(trace)
    X = np.array([[0.1, 0.2, -0.3]])
    trace = self_attention(X, np.ones((3, 1)), [[5], [0], [0]], np.eye(3))
    assert trace.scores[0, 0] != 0 and zeros_of(trace)["scores"].all()


def test_products_of_whole_numbers_are_exact_so_a_sharp_weight_stays_what_it_is():
    X = np.array([[1.0, -1.0], [1.0, 1.0]])
    trace = self_attention(X, 20 * np.eye(2), np.eye(2), np.ones((2, 1)))
    assert trace.V.tolist() == [[0.0], [2.0]]
    assert 0 < trace.output[0, 0] < 1e-10 and zeros_of(trace) == {}


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_heads_that_share_keys_batches_masks_and_what_is_not_finite_raise_nothing(kv_heads):
    rng = np.random.default_rng(0)
    X, W = rng.choice(DECIMALS, (2, 3, 8)), rng.choice(DECIMALS, (8, 8))
    shared = W[:, : 2 * kv_heads]
    trace = self_attention(
        X, W, shared, shared, heads=4, kv_heads=kv_heads, W_O=W, allowed=np.tri(3) > 0
    )
    for item in range(2):
        for head in range(4):
            view = View.of(trace, item=item, head=head)
            for name, matrix in view.stages.items():
                assert view.printed(name).shape == matrix.shape
    K = np.array([[np.nan, 1.0], [np.inf, 0.1]])
    trace = scaled_dot_product_attention([[0.1, 0.2]], K, K, allowed=[[False, True]])
    assert View.of(trace).printed("masked")[0, 0] == -np.inf


@pytest.fixture
def cancelled():
    """A trace whose one score is 0 by cancellation, and its view."""
    trace = scaled_dot_product_attention([[0.1, 0.2, -0.3]], [[1.0, 1.0, 1.0]], [[0.5]])
    assert trace.scores[0, 0] != 0
    return trace


def test_board_arithmetic_latex_markdown_report_and_notebooks_print_it_and_the_numbers_stay(
    cancelled, tmp_path
):
    view = View.of(cancelled)
    pane = next(pane for pane in panes(view) if pane.name == "scores")
    assert pane.texts == [["0"]]
    assert "largest 0 at" in pane.alt
    assert cell(view, "scores", 0, 0)[-1] == "= 0"
    assert walk(view, 0).scores.tolist() == walk(view, 0).masked.tolist() == [0]
    assert "e−17" not in cancelled._repr_html_()
    save(cancelled, tmp_path / "a.tex")
    save(cancelled, tmp_path / "a.md")
    report(cancelled, tmp_path / "a.html")
    for name in ("a.tex", "a.md", "a.html"):
        text = (tmp_path / name).read_text()
        assert not any(power in text for power in ("e−17", "10^{-17}")), name
    save(cancelled, tmp_path / "a.csv", stages=["scores"])
    assert repr(float(cancelled.scores[0, 0])) in (tmp_path / "a.csv").read_text()
    assert view.only(["scores"]).printed("scores").tolist() == [[0.0]]
    assert view.stages["scores"][0, 0] == cancelled.scores[0, 0] != 0


def test_without_softmax_a_weight_is_0_where_its_score_is(cancelled):
    trace = scaled_dot_product_attention(cancelled.Q, cancelled.K, cancelled.V, softmax=False)
    view = View.of(trace)
    assert trace.weights[0, 0] != 0
    assert view.printed("weights").tolist() == [[0]] == view.printed("output").tolist()
    assert cell(view, "weights", 0, 0)[-1] == "= 0"
    assert cell(view, "output", 0, 0)[0] == "weights = [0]"
    assert walk(view, 0).weights.tolist() == [0]


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("crossed", [False, True])
def test_the_bound_of_a_stage_is_above_the_error_of_each_of_its_numbers(heads, crossed):
    rng = np.random.default_rng(5)
    X, memory = rng.standard_normal((7, 4)), rng.standard_normal((9, 4)) * 1e3
    W = [rng.standard_normal((4, 4)) for _ in range(4)]
    trace = multi_head(X, W, heads, memory if crossed else None)
    bounds = cancellation._largest_errors(trace)
    for name, errors in cancellation._errors(trace).items():
        assert np.max(errors) <= bounds[name] * (1 + 1e-9), name


def multi_head(X, W, heads, memory):
    P = 1e-3 * np.ones_like(X)
    bias = np.linspace(-1, 1, len(X) * (9 if memory is not None else len(X))).reshape(len(X), -1)
    return self_attention(
        X, *W[:3], W_O=W[3], heads=heads, memory=memory, positions=P, bias=bias, b_V=X[:1]
    )
