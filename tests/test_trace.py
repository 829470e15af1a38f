"""The numerical decisions of scaled dot-product attention, each as a claim with an oracle of its own."""

import math
import warnings
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import agree, attend

from attention import AttentionTrace, scaled_dot_product_attention, self_attention

STAGES = ("Q", "K", "V", "scores", "scaled", "masked", "weights", "output")
inf, nan = math.inf, math.nan


def draw(shape, seed=0, dtype=float):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def three(n_q=3, n_k=4, d_k=5, d_v=2, dtype=float):
    return draw((n_q, d_k), 1, dtype), draw((n_k, d_k), 2, dtype), draw((n_k, d_v), 3, dtype)


# ---- against plain loops ----------------------------------------------------------------------------


@st.composite
def problems(draw_from):
    n_q, n_k, d_k, d_v = (draw_from(st.integers(1, 4)) for _ in range(4))
    cells = st.floats(-8, 8, allow_subnormal=False)

    def matrix(rows, columns, cell=cells):
        return [[draw_from(cell) for _ in range(columns)] for _ in range(rows)]

    Q, K, V = matrix(n_q, d_k), matrix(n_k, d_k), matrix(n_k, d_v)
    options = {
        "allowed": draw_from(st.none() | st.just(matrix(n_q, n_k, st.booleans()))),
        "bias": draw_from(st.none() | st.just(matrix(n_q, n_k))),
        "scale": draw_from(st.none() | st.floats(0.01, 4)),
        "softmax": draw_from(st.booleans()),
    }
    return Q, K, V, options


@given(problems())
def test_every_stage_equals_plain_loops(problem):
    Q, K, V, options = problem
    agree(scaled_dot_product_attention(Q, K, V, **options), attend(Q, K, V, **options), 1e-9)


@given(problems())
def test_rows_of_weights_sum_to_one_or_are_all_zero(problem):
    Q, K, V, options = problem
    trace = scaled_dot_product_attention(Q, K, V, **options | {"softmax": True})
    for row, hidden in zip(trace.weights, trace.hidden_rows, strict=True):
        assert math.fsum(row) == pytest.approx(0 if hidden else 1, abs=1e-14)
        assert (row >= 0).all()


@given(problems(), st.randoms(use_true_random=False))
def test_permuting_the_keys_permutes_the_weights_and_leaves_the_output(problem, random):
    Q, K, V, options = problem
    order = list(range(len(K)))
    random.shuffle(order)
    moved = dict(options)
    for name in ("allowed", "bias"):
        if moved[name] is not None:
            moved[name] = np.array(moved[name])[:, order]
    one = scaled_dot_product_attention(Q, K, V, **options)
    two = scaled_dot_product_attention(Q, np.array(K)[order], np.array(V)[order], **moved)
    np.testing.assert_allclose(two.weights, one.weights[:, order], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(two.output, one.output, rtol=1e-9, atol=1e-9)


def test_integer_scores_are_exact_fractions():
    Q, K, V = [[3, -7, 2]], [[1, 2, 5], [-4, 1, 1]], [[1], [2]]
    trace = scaled_dot_product_attention(Q, K, V)
    exact = [[sum(Fraction(q) * Fraction(k) for q, k in zip(row, key, strict=True)) for key in K] for row in Q]
    assert trace.scores.tolist() == [[float(cell) for cell in row] for row in exact]


def test_float64_is_within_a_few_ulps_of_long_double():
    Q, K, V = three(6, 7, 33, 5)
    trace = scaled_dot_product_attention(Q, K, V)
    q, k, v = (M.astype(np.longdouble) for M in (Q, K, V))
    scaled = np.array([[(a * b).sum() / np.sqrt(np.longdouble(33)) for b in k] for a in q])
    grown = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = grown / grown.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(trace.weights, weights.astype(float), rtol=1e-14)
    np.testing.assert_allclose(trace.output, (weights[..., None] * v).sum(axis=-2).astype(float), rtol=0, atol=1e-14)


# ---- the record -------------------------------------------------------------------------------------


def test_every_stage_of_the_table_is_an_attribute_and_none_can_be_assigned():
    trace = self_attention(draw((3, 4)), *(draw((4, 4), k) for k in range(3)))
    for name in ("X", *STAGES, "allowed", "scale", "joined"):
        assert getattr(trace, name) is not None
        with pytest.raises(FrozenInstanceError):
            setattr(trace, name, 0)


def test_a_trace_that_began_with_q_k_and_v_has_no_embeddings():
    trace = scaled_dot_product_attention(*three())
    assert isinstance(trace, AttentionTrace)
    assert (trace.X, trace.memory, trace.joined, trace.projected) == (None, None, None, None)


def test_context_is_the_sum_of_the_outputs_over_the_tokens():
    trace = scaled_dot_product_attention(*three(d_v=3))
    expected = [math.fsum(row[c] for row in trace.output.tolist()) for c in range(3)]
    np.testing.assert_allclose(trace.context, expected, rtol=1e-14)


# ---- masks ------------------------------------------------------------------------------------------


def test_true_means_may_look():
    trace = scaled_dot_product_attention([[1.0]], [[1.0], [1.0]], [[10.0], [20.0]], allowed=[[True, False]])
    assert trace.weights.tolist() == [[1, 0]]
    assert trace.output.tolist() == [[10]]
    assert trace.masked.tolist() == [[1, -inf]]


@pytest.mark.parametrize("how", ["allowed", "bias"])
@pytest.mark.parametrize("softmax", [True, False])
def test_a_fully_hidden_row_is_zero_flagged_and_silent(how, softmax):
    Q, K, V = three()
    see = np.ones((3, 4), bool)
    see[1] = False
    options = {"allowed": see} if how == "allowed" else {"bias": np.where(see, 0, -inf)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = scaled_dot_product_attention(Q, K, V, softmax=softmax, **options)
    assert trace.weights[1].tolist() == [0] * 4
    assert trace.output[1].tolist() == [0] * 2
    assert not np.signbit(trace.weights[1]).any()
    assert not np.signbit(trace.output[1]).any()
    assert (trace.masked[1] == -inf).all()
    assert trace.hidden_rows.tolist() == [False, True, False]
    agree(trace, attend(Q, K, V, see, softmax=softmax))


@given(problems())
def test_a_hidden_weight_is_exactly_plus_zero(problem):
    Q, K, V, options = problem
    trace = scaled_dot_product_attention(Q, K, V, **options)
    hidden = trace.weights[~trace.allowed]
    assert hidden.tobytes() == np.zeros(hidden.shape).tobytes()
    assert (trace.masked[~trace.allowed] == -inf).all()


@pytest.mark.parametrize("poison", [nan, inf, -inf, 3e38])
@pytest.mark.parametrize("softmax", [True, False])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_what_stands_at_a_hidden_key_never_reaches_weights_or_output(poison, softmax, dtype):
    Q, K, V = three(dtype=dtype)
    see = np.array([[1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]) == 1
    clean = scaled_dot_product_attention(Q, K, V, allowed=see, softmax=softmax)
    K[3], V[3] = poison, poison  # hidden from every query
    trace = scaled_dot_product_attention(Q, K, V, allowed=see, softmax=softmax)
    assert trace.weights.tobytes() == clean.weights.tobytes()
    np.testing.assert_allclose(trace.output, clean.output, rtol=1e-5 if dtype == "f4" else 1e-14)
    assert trace.output.dtype == dtype


def test_a_poisoned_value_reaches_only_the_queries_that_see_it():
    Q, K, V = three()
    V[1, 0] = nan
    see = np.array([[1, 0, 1, 1], [1, 1, 1, 1], [1, 0, 0, 0]]) == 1
    output = scaled_dot_product_attention(Q, K, V, allowed=see).output
    assert np.isnan(output).tolist() == [[False, False], [True, False], [False, False]]


def test_behind_a_causal_mask_nan_in_the_last_key_and_value_leaves_the_earlier_rows_clean():
    Q, K, V = three(4)
    K[3], V[3] = nan, nan
    trace = scaled_dot_product_attention(Q, K, V, allowed=np.tri(4, dtype=bool))
    assert np.isnan(trace.output).any(axis=-1).tolist() == [False, False, False, True]
    assert np.isnan(trace.weights).any(axis=-1).tolist() == [False, False, False, True]


def test_nan_at_a_visible_key_or_in_a_query_shows_in_its_row_alone_and_hidden_weights_stay_zero():
    Q, K, V = three()
    Q[0] = nan
    see = np.ones((3, 4), bool)
    see[:, 2] = False
    trace = scaled_dot_product_attention(Q, K, V, allowed=see)
    assert np.isnan(trace.weights[0]).tolist() == [True, True, False, True]
    assert trace.weights[0, 2] == 0
    assert np.isnan(trace.output).any(axis=-1).tolist() == [True, False, False]


def test_a_finite_bias_of_minus_1e9_is_not_a_mask():
    Q, K, V = three()
    plain = scaled_dot_product_attention(Q, K, V)
    trace = scaled_dot_product_attention(Q, K, V, bias=np.full((3, 4), -1e9))
    assert trace.allowed.all()
    assert not trace.hidden_rows.any()
    np.testing.assert_allclose(trace.weights, plain.weights, atol=1e-6)  # softmax(scores − c) = softmax(scores)
    partly = scaled_dot_product_attention(Q, K + 1e10, V, bias=[[-1e9, 0, 0, 0]] * 3)
    assert partly.masked[0, 0] == partly.scaled[0, 0] - 1e9


def test_a_bias_of_minus_infinity_hides_like_the_mask():
    Q, K, V = three()
    see = np.array([[1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]]) == 1
    one = scaled_dot_product_attention(Q, K, V, allowed=see)
    two = scaled_dot_product_attention(Q, K, V, bias=np.where(see, 0.0, -inf))
    for name in ("masked", "weights", "output", "allowed"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_mask_and_bias_hide_together():
    see, bias = [[True, False, True]], [[-inf, 0.0, 2.0]]
    trace = scaled_dot_product_attention([[0.0]], [[1.0]] * 3, [[1.0], [2.0], [3.0]], allowed=see, bias=bias)
    assert trace.weights.tolist() == [[0, 0, 1]]
    assert trace.masked.tolist() == [[-inf, -inf, 2]]


def test_a_bias_too_low_for_float32_hides_instead_of_making_nan():
    Q, K, V = (M.astype("f4") for M in three())
    with np.errstate(all="raise"):  # the cast of −1e300 to float32 is the package's own affair
        trace = scaled_dot_product_attention(Q, K, V, bias=[[-1e300] * 4, [0, -1e300, 0, 0], [0] * 4])
    assert trace.weights[0].tolist() == [0] * 4
    assert trace.weights[1, 1] == 0
    assert trace.hidden_rows.tolist() == [True, False, False]


def test_minus_1e9_is_a_bias_for_float16_too_because_its_scores_are_float32():
    Q, K, V = (M.astype("f2") for M in three())
    trace = scaled_dot_product_attention(Q, K, V, bias=[[-1e9] * 4, [0, -1e9, 0, 0], [0] * 4])
    assert trace.weights[0].tolist() == [0.25] * 4
    assert not trace.hidden_rows.any()


@pytest.mark.parametrize("hidden_score", [1e9, 1e300])
def test_a_hidden_score_far_above_the_visible_ones_does_not_move_them(hidden_score):
    trace = scaled_dot_product_attention(
        [[1.0]], [[hidden_score], [1.0], [2.0]], np.eye(3), allowed=[False, True, True]
    )
    np.testing.assert_allclose(trace.weights, [[0, 1 / (1 + math.e), math.e / (1 + math.e)]], rtol=1e-14)


def test_one_row_of_allowed_serves_every_query():
    trace = scaled_dot_product_attention(*three(), allowed=[True, False, True, True])
    assert (trace.weights[:, 1] == 0).all()
    assert trace.allowed.shape == (3, 4)


# ---- softmax and scale ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("base", [1e4, -1e4])
def test_softmax_of_scores_of_ten_thousand_keeps_their_gap(dtype, base):
    K = np.array([[base + 1], [base]], dtype)
    trace = scaled_dot_product_attention(np.ones((1, 1), dtype), K, np.eye(2, dtype=dtype))
    np.testing.assert_allclose(trace.weights, [[0.7310586, 0.2689414]], atol=1e-7)


def test_softmax_of_minus_800_does_not_vanish():
    trace = scaled_dot_product_attention([[1.0]], [[-800.0], [-801.0], [-802.0]], np.eye(3))
    assert trace.weights.round(3).tolist() == [[0.665, 0.245, 0.09]]


@pytest.mark.parametrize("d_k", [1, 2, 3, 7, 8, 64])
def test_the_scale_is_applied_once_to_the_scores(d_k):
    Q, K, V = three(d_k=d_k)
    trace = scaled_dot_product_attention(Q, K, V)
    assert trace.scale == 1 / math.sqrt(d_k)
    assert trace.scaled.tolist() == [[cell * (1 / math.sqrt(d_k)) for cell in row] for row in trace.scores.tolist()]
    agree(trace, attend(Q, K, V))


def test_the_scale_is_not_split_into_two_roots_in_float32():
    Q, K = np.full((1, 3), 100, "f4"), np.array([[33.333332] * 3, [33.323332] * 3], "f4")
    trace = scaled_dot_product_attention(Q, K, np.eye(2, dtype="f4"))
    once = trace.scores * np.float32(1 / math.sqrt(3))
    assert trace.scaled.tobytes() == once.tobytes()


def test_a_scale_given_replaces_one_over_root_d_k():
    trace = scaled_dot_product_attention(*three(), scale=0.25)
    assert trace.scale == 0.25
    assert trace.scaled.tolist() == [[cell * 0.25 for cell in row] for row in trace.scores.tolist()]


def test_without_softmax_the_masked_scores_are_the_weights_and_hidden_ones_are_zero():
    see = np.array([[True, False], [True, True]])
    trace = scaled_dot_product_attention([[2], [-3]], [[4], [5]], [[1], [10]], allowed=see, scale=1, softmax=False)
    assert trace.weights.tolist() == [[8, 0], [-12, -15]]
    assert trace.output.tolist() == [[8], [-162]]


# ---- types ------------------------------------------------------------------------------------------

OPTIONS = {
    "plain": {},
    "allowed": {"allowed": np.tri(3, 4, dtype=bool)},
    "hidden row": {"allowed": np.array([[False] * 4, [True] * 4, [False] * 4])},
    "float64 bias": {"bias": np.full((3, 4), 0.1)},
    "integer bias": {"bias": np.full((3, 4), -2)},
    "bias of −∞": {"bias": np.where(np.tri(3, 4), 0.0, -inf)},
    "python scale": {"scale": 0.3},
    "float64 scale": {"scale": np.float64(0.3)},
    "integer scale": {"scale": 2},
    "no softmax": {"softmax": False},
    "no softmax, hidden": {"softmax": False, "allowed": np.zeros((3, 4), bool)},
}


@pytest.mark.parametrize("poison", [0, nan])
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "longdouble"])
def test_a_float_type_comes_out_as_it_went_in_at_every_stage(dtype, option, poison):
    Q, K, V = three(dtype=dtype)
    V[3] += poison
    trace = scaled_dot_product_attention(Q, K, V, **OPTIONS[option])
    expected = "f4" if dtype == "f2" else dtype  # half precision is computed in float32
    assert {name: getattr(trace, name).dtype for name in STAGES} == dict.fromkeys(STAGES, np.dtype(expected))
    assert trace.context.dtype == expected
    assert trace.allowed.dtype == bool
    assert type(trace.scale) is float


def test_float32_weights_are_those_of_float64_to_float32_precision():
    Q, K, V = three(8, 9, 64, 4)
    one, two = scaled_dot_product_attention(Q, K, V), scaled_dot_product_attention(*(M.astype("f4") for M in (Q, K, V)))
    np.testing.assert_allclose(two.weights, one.weights, rtol=2e-5)
    np.testing.assert_allclose(two.output, one.output, atol=2e-6)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8", "?"])
def test_integers_and_booleans_become_float64(dtype):
    Q, K, V = (np.array(M).astype(dtype) for M in ([[1, 0], [1, 1]], [[1, 1], [0, 1]], [[1], [0]]))
    trace = scaled_dot_product_attention(Q, K, V)
    assert {getattr(trace, name).dtype for name in STAGES} == {np.dtype("f8")}
    agree(trace, attend(Q.astype(int), K.astype(int), V.astype(int)))


def test_small_integers_do_not_wrap_around():
    Q = np.full((1, 4), 100, "i1")
    assert scaled_dot_product_attention(Q, Q, Q).scores.tolist() == [[40000]]


def test_the_widest_float_wins():
    Q, K, V = three()
    trace = scaled_dot_product_attention(Q.astype("f2"), K.astype("f4"), V.astype("f4"))
    assert {getattr(trace, name).dtype for name in STAGES} == {np.dtype("f4")}


# ---- inputs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_inputs_are_never_changed(dtype):
    Q, K, V = (np.round(10 * M).astype(dtype) for M in three())
    allowed, bias = np.tri(3, 4, dtype=bool), np.full((3, 4), 0.5)
    before = [a.tobytes() for a in (Q, K, V, allowed, bias)]
    for array in (Q, K, V, allowed, bias):
        array.setflags(write=False)
    scaled_dot_product_attention(Q, K, V, allowed=allowed, bias=bias)
    assert [a.tobytes() for a in (Q, K, V, allowed, bias)] == before


def test_the_trace_does_not_share_its_mask_with_the_caller():
    allowed = np.ones((3, 4), bool)
    trace = scaled_dot_product_attention(*three(), allowed=allowed)
    allowed[:] = False
    assert trace.allowed.all()


def _apart(M):
    wide = np.zeros((2 * M.shape[0], 3 * M.shape[1]))
    wide[::2, ::3] = M
    return wide[::2, ::3]


@pytest.mark.parametrize("lay", [np.asfortranarray, _apart, lambda M: M[::-1][::-1], lambda M: M.tolist(), np.asmatrix])
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_the_layout_in_memory_does_not_matter(lay):
    Q, K, V = three()
    trace = scaled_dot_product_attention(lay(Q), lay(K), lay(V))
    agree(trace, attend(Q, K, V))
    assert type(trace.output) is np.ndarray


# ---- shapes -----------------------------------------------------------------------------------------

LEADS = [
    ((), (), ()),
    ((2,), (2,), (2,)),
    ((2, 3), (2, 3), (2, 3)),
    ((2,), (), ()),  # K and V without the batch axis of Q
    ((), (2,), (2,)),
    ((2, 1), (3,), (2, 3)),
    ((), (), (2,)),
    ((2, 3, 1), (1, 3, 2), (2,)),
]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("leads", LEADS)
def test_any_leading_axes_broadcast(leads, masked):
    Q, K, V = (
        draw((*lead, *shape), k) for k, (lead, shape) in enumerate(zip(leads, [(3, 5), (4, 5), (4, 2)], strict=True))
    )
    lead = np.broadcast_shapes(*leads)
    allowed = None
    if masked:
        allowed = draw((*np.broadcast_shapes(leads[0], leads[1]), 3, 4), 9) > -0.5
        V[..., 0, 0] = nan  # the slower way round hidden values
        allowed[..., 0] = False
    trace = scaled_dot_product_attention(Q, K, V, allowed=allowed)
    assert trace.output.shape == (*lead, 3, 2)
    q, k, v, w, z = (np.broadcast_to(M, (*lead, *M.shape[-2:])) for M in (Q, K, V, trace.weights, trace.output))
    see = None if allowed is None else np.broadcast_to(allowed, (*lead, 3, 4))
    for at in np.ndindex(lead):
        alone = attend(q[at], k[at], v[at], None if see is None else see[at])
        np.testing.assert_allclose(w[at], alone["weights"], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(z[at], alone["output"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("softmax", [True, False])
@pytest.mark.parametrize("poison", [0, nan])
@pytest.mark.parametrize(("lead", "n_q", "n_k"), [((0,), 3, 4), ((), 0, 4), ((), 3, 0), ((), 0, 0), ((2, 0), 1, 1)])
def test_nothing_to_do_is_done(lead, n_q, n_k, poison, softmax):
    Q, K, V = np.ones((*lead, n_q, 5), "f4"), np.ones((*lead, n_k, 5), "f4"), np.full((*lead, n_k, 2), poison, "f4")
    trace = scaled_dot_product_attention(Q, K, V, softmax=softmax)
    assert trace.weights.shape == (*lead, n_q, n_k)
    assert trace.output.shape == (*lead, n_q, 2)
    assert trace.output.dtype == "f4"
    assert trace.hidden_rows.shape == (*lead, n_q)
    if n_k == 0:
        assert trace.hidden_rows.all()
        assert (trace.output == 0).all()


# ---- refusals ---------------------------------------------------------------------------------------

TWO = np.ones((2, 2))
BOOLEANS = "; booleans are wanted, True where a query may look at a key (write `mask == 1` or `mask == 0`)."
REFUSALS = [
    ({"Q": [[1, 2], [3]]}, ValueError, "Q has rows of different lengths; every row needs the same."),
    ({"K": [["a", "b"]]}, TypeError, "K holds <U1; real numbers are wanted."),
    ({"V": TWO * 1j}, TypeError, "V holds complex128; real numbers are wanted."),
    ({"V": [[None, 1]] * 2}, TypeError, "V holds object; real numbers are wanted."),
    ({"Q": [1, 2]}, ValueError, "Q has shape (2,); (tokens, features) is wanted."),
    ({"K": np.ones((2, 3))}, ValueError, "Q has 2 columns and K has 3; both need the same d_k."),
    ({"Q": np.ones((2, 0)), "K": np.ones((2, 0))}, ValueError, "Q and K have no columns; d_k needs to be at least 1."),
    ({"V": np.ones((3, 2))}, ValueError, "K has 2 rows and V has 3; there is one value for each key."),
    (
        {"Q": np.ones((2, 2, 2)), "K": np.ones((3, 2, 2))},
        ValueError,
        "the leading axes (2,) of Q, (3,) of K and () of V do not broadcast.",
    ),
    ({"allowed": [[1, 0], [1, 1]]}, TypeError, "allowed holds int64" + BOOLEANS),
    ({"allowed": np.ones((2, 2), "f4")}, TypeError, "allowed holds float32" + BOOLEANS),
    ({"allowed": np.ones((3, 2), bool)}, ValueError, "allowed has shape (3, 2), which does not fit the scores (2, 2)."),
    (
        {"allowed": np.ones((5, 2, 2), bool)},
        ValueError,
        "allowed has shape (5, 2, 2), which does not fit the scores (2, 2).",
    ),
    (
        {"allowed": [[True], [True, False]]},
        ValueError,
        "allowed has rows of different lengths; every row needs the same.",
    ),
    ({"bias": [[True, False]] * 2}, TypeError, "bias holds bool; numbers to add to the scores are wanted."),
    ({"bias": np.ones((2, 3))}, ValueError, "bias has shape (2, 3), which does not fit the scores (2, 2)."),
    ({"bias": [[1], [1, 2]]}, ValueError, "bias has rows of different lengths; every row needs the same."),
    ({"scale": 0}, ValueError, "scale is 0; a positive number is wanted."),
    ({"scale": -0.5}, ValueError, "scale is -0.5; a positive number is wanted."),
    ({"scale": nan}, ValueError, "scale is nan; a positive number is wanted."),
    ({"scale": inf}, ValueError, "scale is inf; a positive number is wanted."),
    ({"scale": "sqrt"}, ValueError, "scale is 'sqrt'; a positive number is wanted."),
    ({"scale": [1, 2]}, ValueError, "scale is [1, 2]; a positive number is wanted."),
]


@pytest.mark.parametrize(("change", "kind", "message"), REFUSALS)
def test_a_refusal_names_the_argument_what_came_and_what_is_wanted(change, kind, message):
    arguments = {"Q": TWO, "K": TWO, "V": TWO} | change
    with pytest.raises(kind) as refused:
        scaled_dot_product_attention(**arguments)
    assert type(refused.value) is kind
    assert str(refused.value) == message
