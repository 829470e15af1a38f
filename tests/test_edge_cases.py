"""The hard cases of attention, each with the answer it has to give."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import messages
import numpy as np
import pytest
from build import draw
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracle import COMPUTED, agree, attend, dot, share

from attention import (
    causal,
    extend,
    heads_first,
    lengthened,
    multi_head_attention,
    padding,
    real_tokens,
    repeat_heads,
    scaled_dot_product_attention,
    sliding_window,
    softmax_in,
)

inf, nan = math.inf, math.nan
GAP_OF_ONE = [[1 / (1 + math.exp(-1)), 1 / (1 + math.e)]]  # 0.7311, 0.2689


def three(n_q=3, n_k=4, d_k=5, d_v=2, dtype=float):
    return draw((n_q, d_k), 1, dtype), draw((n_k, d_k), 2, dtype), draw((n_k, d_v), 3, dtype)


def in_two_heads(Q, K, V, **options):
    """The same arrays side by side, so that each of two heads sees them."""
    return multi_head_attention(
        *(np.concatenate((M, M), axis=-1) for M in (Q, K, V)), heads=2, **options
    )


def half(name):
    """float16, or bfloat16 from its package."""
    return (
        pytest.importorskip("ml_dtypes", reason="bfloat16 is a type of ml_dtypes").bfloat16
        if name == "bf16"
        else name
    )


def bits(*matrices):
    return [M.tobytes() for M in matrices]


def refusal(kind, call) -> str:
    with pytest.raises(kind) as refused:
        call()
    assert type(refused.value) is kind
    return str(refused.value)


# ---- large scores --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("base", [1e4, -1e4])
def test_scores_of_ten_thousand_a_gap_of_one_apart_give_0_7311_to_float_precision(dtype, base):
    K = np.array(
        [[2 * base + 2, 0, 0, 0], [2 * base, 0, 0, 0]], dtype
    )  # halved by the scale: no rounding at all
    trace = scaled_dot_product_attention(np.eye(1, 4, dtype=dtype), K, np.eye(2, dtype=dtype))
    assert trace.scaled.tolist() == [[base + 1, base]]
    np.testing.assert_allclose(trace.weights, GAP_OF_ONE, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_scale_is_not_split_into_a_root_on_each_side(dtype):
    Q, K, V = three(d_k=2, dtype=dtype)  # √½ twice is not ½
    trace = scaled_dot_product_attention(1e4 * Q, K, V, scale=0.5)
    assert trace.scaled.tolist() == [[cell / 2 for cell in row] for row in trace.scores.tolist()]


@pytest.mark.parametrize("dtype", ["f2", "bf16"])
def test_a_half_precision_score_of_102400_is_finite_and_keeps_its_gap(dtype):
    Q, K = np.full((1, 64), 32.0), np.full((2, 64), 50.0)
    K[1, 0] -= 0.25  # 32 · 0.25 / √64 = 1
    trace = scaled_dot_product_attention(*(M.astype(half(dtype)) for M in (Q, K, np.eye(2))))
    assert trace.scores.tolist() == [[102400, 102392]]
    assert trace.scaled.tolist() == [[12800, 12799]]
    np.testing.assert_allclose(trace.weights, GAP_OF_ONE, rtol=1e-6)
    assert trace.output.tobytes() == trace.weights.tobytes()


@pytest.mark.parametrize("dtype", ["f2", "bf16"])
def test_a_half_precision_score_that_is_too_large_even_when_scaled_gives_one_and_zero(dtype):
    Q, K = np.array([[1024.0]]), np.array([[1024.0], [1000.0]])
    trace = scaled_dot_product_attention(*(M.astype(half(dtype)) for M in (Q, K, np.eye(2))))
    assert trace.scaled.tolist() == [[1048576, 1024000]]
    assert trace.weights.tolist() == [[1, 0]]


def test_softmax_of_minus_800_does_not_vanish():
    trace = scaled_dot_product_attention([[1.0]], [[-800.0], [-801.0], [-802.0]], np.eye(3))
    assert trace.weights.round(3).tolist() == [[0.665, 0.245, 0.09]]


# ---- hidden rows ---------------------------------------------------------------------------------

SEE_ALL_BUT_ROW_1 = np.array([[True] * 4, [False] * 4, [True] * 4])
HIDING = {
    "allowed": {"allowed": SEE_ALL_BUT_ROW_1},
    "bias": {"bias": np.where(SEE_ALL_BUT_ROW_1, 0, -inf)},
    "both": {
        "allowed": SEE_ALL_BUT_ROW_1 | [True, True, False, False],
        "bias": np.where(SEE_ALL_BUT_ROW_1 | [False, False, True, True], 0, -inf),
    },
}
VARIANTS = {
    "plain": {},
    "softcap": {"softcap": 0.5},
    "no softmax": {"softmax": False},
    "softmax in float32": {"softmax": softmax_in("f4")},
}


@pytest.mark.parametrize("call", [scaled_dot_product_attention, in_two_heads])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("how", HIDING)
def test_a_fully_hidden_row_is_plus_zero_flagged_and_silent(how, variant, call):
    Q, K, V = three()
    trace = call(Q, K, -abs(V), **HIDING[how], **VARIANTS[variant])
    for stage in (trace.weights, trace.output):
        hidden = stage[..., 1, :]
        assert hidden.tobytes() == np.zeros(hidden.shape).tobytes()
        assert stage[..., [0, 2], :].all()
    assert (trace.masked[..., 1, :] == -inf).all()
    assert (trace.hidden_rows == [False, True, False]).all()


# ---- NaN and infinity ----------------------------------------------------------------------------

LAST_IS_HIDDEN = np.array([[1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]) == 1
POISONS = [nan, inf, -inf]


@pytest.mark.parametrize("options", [{}, {"softmax": False}, {"softcap": 2}], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("poison", [*POISONS, 3e38])
def test_what_stands_in_a_hidden_key_changes_no_bit_of_weights_and_output(poison, dtype, options):
    Q, K, V = three(dtype=dtype)
    clean = scaled_dot_product_attention(Q, K, V, allowed=LAST_IS_HIDDEN, **options)
    K[3] = poison
    trace = scaled_dot_product_attention(Q, K, V, allowed=LAST_IS_HIDDEN, **options)
    assert bits(trace.weights, trace.output) == bits(clean.weights, clean.output)


@pytest.mark.parametrize("options", [{}, {"softmax": False}], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("poison", [*POISONS, 3e38])
def test_what_stands_in_a_hidden_value_changes_no_bit_of_the_output(poison, dtype, options):
    Q, K, V = three(n_k=8, d_v=6, dtype=dtype)
    see = np.tile(LAST_IS_HIDDEN, 2)
    clean = scaled_dot_product_attention(Q, K, V, allowed=see, **options)
    V[[3, 7]] = poison
    trace = scaled_dot_product_attention(Q, K, V, allowed=see, **options)
    np.testing.assert_allclose(trace.output, clean.output, rtol=16 * np.finfo(dtype).eps)
    assert bits(trace.output) == bits(clean.output)


@pytest.mark.parametrize("poison", POISONS)
def test_a_poisoned_value_shows_in_its_column_of_the_rows_that_see_it_and_nowhere_else(poison):
    Q, K, V = three(n_k=8, d_v=6)
    see = np.tile(np.array([[1, 0, 1, 1], [1, 1, 1, 1], [1, 0, 0, 0]]) == 1, 2)
    see[:, 5] = False
    clean = scaled_dot_product_attention(Q, K, V, allowed=see).output
    V[1, 0] = poison
    output = scaled_dot_product_attention(Q, K, V, allowed=see).output.copy()
    np.testing.assert_array_equal(output[1, 0], poison)
    output[1, 0] = clean[1, 0]
    np.testing.assert_allclose(output, clean, rtol=1e-14)
    assert bits(output) == bits(clean)


def test_nan_in_a_visible_key_shows_in_the_rows_that_see_it_and_changes_no_bit_of_the_others():
    Q, K, V = three()
    see = np.array([[1, 0, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0]]) == 1
    clean = scaled_dot_product_attention(Q, K, V, allowed=see)
    K[1, 2] = nan
    trace = scaled_dot_product_attention(Q, K, V, allowed=see)
    assert np.isnan(trace.weights).tolist() == [[False] * 4, [True, True, True, False], [False] * 4]
    assert np.isnan(trace.output).tolist() == [[False] * 2, [True] * 2, [False] * 2]
    assert bits(trace.weights[::2], trace.output[::2]) == bits(
        clean.weights[::2], clean.output[::2]
    )


def test_a_score_of_infinity_is_nan_in_its_row_and_one_of_minus_infinity_a_weight_of_zero():
    Q, K, V = np.array([[1.0], [-1.0], [1.0]]), np.array([[inf], [0.5], [-2.0]]), np.eye(3)
    see = np.array([[True] * 3, [True] * 3, [False, True, True]])
    trace = scaled_dot_product_attention(Q, K, V, allowed=see)
    assert np.isnan(trace.weights[0]).all()  # ∞ − ∞
    e = math.exp(-2.5)
    np.testing.assert_allclose(
        trace.weights[1:], [[0, e / (1 + e), 1 / (1 + e)], [0, 1 / (1 + e), e / (1 + e)]]
    )


@pytest.mark.parametrize("poison", POISONS)
def test_a_poisoned_query_shows_in_its_own_row_alone_and_its_hidden_weights_stay_zero(poison):
    Q, K, V = three()
    see = np.array([True, True, False, True])
    clean = scaled_dot_product_attention(Q, K, V, allowed=see)
    Q[0] = poison
    trace = scaled_dot_product_attention(Q, K, V, allowed=see)
    assert np.isnan(trace.weights[0]).tolist() == see.tolist()
    assert trace.weights[0, 2] == 0
    assert np.isnan(trace.output[0]).all()
    assert bits(trace.weights[1:], trace.output[1:]) == bits(clean.weights[1:], clean.output[1:])


def test_behind_a_causal_mask_nan_in_the_last_token_leaves_the_earlier_rows_clean():
    Q, K, V = three(4)
    Q[3], K[3], V[3] = nan, nan, nan
    trace = scaled_dot_product_attention(Q, K, V, allowed=causal(4, 4))
    for stage in (trace.weights, trace.output):
        assert np.isnan(stage).all(axis=-1).tolist() == [False, False, False, True]
        assert np.isfinite(stage[:3]).all()


# ---- finite fills --------------------------------------------------------------------------------


def test_a_finite_bias_of_minus_1e9_is_not_a_mask():
    Q, K, V = three()
    bias = np.array([[-1e9] * 4, [0, -1e9, 0, 0], [0] * 4])
    trace = scaled_dot_product_attention(Q, K, V, bias=bias)
    assert trace.allowed.all()
    assert not trace.hidden_rows.any()
    agree(trace, attend(Q, K, V, bias=bias))
    plain = scaled_dot_product_attention(Q, K, V)
    np.testing.assert_allclose(
        trace.weights[0], plain.weights[0], atol=1e-6
    )  # softmax(scores − c) = softmax(scores)
    assert (trace.weights[0] != 0.25).all()


def test_scores_above_a_bias_of_minus_1e9_show_through_it():
    trace = scaled_dot_product_attention([[1.0]], [[1e9 + 1], [0.0]], np.eye(2), bias=[-1e9, 0])
    np.testing.assert_allclose(trace.weights, GAP_OF_ONE, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["f2", "bf16", "f4"])
def test_in_float32_a_bias_of_minus_1e9_swallows_the_scores_of_its_row_and_still_is_no_mask(dtype):
    Q, K, V = (M.astype(half(dtype)) for M in three())
    trace = scaled_dot_product_attention(Q, K, V, bias=[[-1e9] * 4, [0, -1e9, 0, 0], [0] * 4])
    assert trace.weights[0].tolist() == [0.25] * 4
    assert not trace.hidden_rows.any()


# ---- nothing at all ------------------------------------------------------------------------------

EMPTY = [
    ((0,), 3, 4),
    ((), 0, 4),
    ((), 3, 0),
    ((), 0, 0),
    ((0,), 0, 4),
    ((0,), 3, 0),
    ((2, 0), 1, 1),
    ((2,), 3, 0),
]
EMPTY_OPTIONS = {
    "plain": lambda n_q, n_k: {},
    "allowed": lambda n_q, n_k: {"allowed": np.ones((n_q, n_k), bool)},
    "causal": lambda n_q, n_k: {"allowed": causal(n_q, n_k)},
    "bias": lambda n_q, n_k: {"bias": np.zeros((n_q, n_k))},
    "softcap": lambda n_q, n_k: {"softcap": 2},
    "no softmax": lambda n_q, n_k: {"softmax": False},
    "another softmax": lambda n_q, n_k: {"softmax": softmax_in("f8")},
}


@pytest.mark.parametrize("heads", [None, 2])
@pytest.mark.parametrize("option", EMPTY_OPTIONS)
@pytest.mark.parametrize(("lead", "n_q", "n_k"), EMPTY)
def test_nothing_to_do_is_done(lead, n_q, n_k, option, heads):
    Q, K, V = (
        np.ones((*lead, n_q, 5), "f4"),
        np.ones((*lead, n_k, 5), "f4"),
        np.full((*lead, n_k, 2), nan, "f4"),
    )
    trace = (in_two_heads if heads else scaled_dot_product_attention)(
        Q, K, V, **EMPTY_OPTIONS[option](n_q, n_k)
    )
    lead = (*lead, heads) if heads else lead
    for name in ("scores", "scaled", "masked", "weights", "allowed"):
        assert getattr(trace, name).shape == (*lead, n_q, n_k), name
    assert trace.output.shape == (*lead, n_q, 2)
    assert {getattr(trace, name).dtype for name in COMPUTED} == {np.dtype("f4")}
    assert trace.hidden_rows.shape == (*lead, n_q)
    if n_k == 0:  # an empty sum
        assert trace.hidden_rows.all()
        assert (trace.output == 0).all()


def test_values_without_columns_give_an_output_without_columns():
    assert scaled_dot_product_attention(*three(d_v=0)).output.shape == (3, 0)


# ---- types ---------------------------------------------------------------------------------------

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
    "softcap": {"softcap": 0.7},
    "float64 softcap": {"softcap": np.float64(0.7)},
    "softmax in float64": {"softmax": softmax_in("f8")},
    "no softmax": {"softmax": False},
    "no softmax, hidden": {"softmax": False, "allowed": np.zeros((3, 4), bool)},
}


@pytest.mark.parametrize("poison", [0, nan])
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("dtype", ["f2", "bf16", "f4", "f8", "longdouble"])
def test_a_float_type_comes_out_as_it_went_in_at_every_stage(dtype, option, poison):
    Q, K, V = three(dtype=half(dtype))
    V[3] += poison
    trace = scaled_dot_product_attention(Q, K, V, **OPTIONS[option])
    expected = np.dtype(
        "f4" if dtype in ("f2", "bf16") else dtype
    )  # half precision is computed in float32
    stages = (*COMPUTED, "capped") if "softcap" in option else COMPUTED
    assert {name: getattr(trace, name).dtype for name in stages} == dict.fromkeys(stages, expected)
    assert trace.context.dtype == expected
    assert trace.allowed.dtype == bool
    assert type(trace.scale) is float


@pytest.mark.parametrize(
    ("Q", "K", "V", "expected"),
    [
        ("f2", "f4", "f4", "f4"),
        ("f2", "f2", "bf16", "f4"),
        ("f4", "f8", "f4", "f8"),
        ("f4", "f4", "f8", "f8"),
        ("bf16", "f8", "bf16", "f8"),
        ("i8", "f4", "f4", "f8"),  # an integer counts as float64, whatever it meets
        ("f2", "i1", "f4", "f8"),
        ("f4", "f4", "?", "f8"),
    ],
)
def test_of_mixed_types_the_widest_float_is_that_of_every_stage(Q, K, V, expected):
    matrices = [(M * 3).astype(half(dtype)) for M, dtype in zip(three(), (Q, K, V), strict=True)]
    trace = scaled_dot_product_attention(*matrices, softcap=2)
    assert {getattr(trace, name).dtype for name in (*COMPUTED, "capped")} == {np.dtype(expected)}
    wide = scaled_dot_product_attention(*(M.astype("f8") for M in matrices), softcap=2)
    np.testing.assert_allclose(
        trace.output, wide.output, rtol=1e-5 if expected == "f4" else 0, atol=1e-6
    )


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8", "?"])
def test_integers_and_booleans_become_float64(dtype):
    Q, K, V = (np.array(M).astype(dtype) for M in ([[1, 0], [1, 1]], [[1, 1], [0, 1]], [[1], [0]]))
    trace = scaled_dot_product_attention(Q, K, V)
    assert {getattr(trace, name).dtype for name in COMPUTED} == {np.dtype("f8")}
    agree(trace, attend(Q.astype(int), K.astype(int), V.astype(int)))


def test_small_integers_do_not_wrap_around():
    Q = np.full((1, 4), 100, "i1")
    assert scaled_dot_product_attention(Q, Q, Q).scores.tolist() == [[40000]]


# ---- memory --------------------------------------------------------------------------------------


def _apart(M):
    wide = np.zeros((2 * M.shape[0], 3 * M.shape[1]), M.dtype)
    wide[::2, ::3] = M
    return wide[::2, ::3]


def _read_only(M):
    M = M.copy()
    M.setflags(write=False)
    return M


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "not contiguous": _apart,
    "backwards": lambda M: np.ascontiguousarray(M[::-1, ::-1])[::-1, ::-1],
    "the first row throughout": lambda M: np.broadcast_to(M[:1], M.shape),
    "the first column throughout": lambda M: np.broadcast_to(M[:, :1], M.shape),
    "read only": _read_only,
    "other byte order": lambda M: M.astype(M.dtype.newbyteorder()),
    "not aligned": lambda M: np.frombuffer(b"x" + M.tobytes(), M.dtype, offset=1).reshape(M.shape),
    "lists": lambda M: M.tolist(),
    "matrix": np.asmatrix,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_the_layout_in_memory_does_not_matter(layout):
    Q, K, V = (
        np.rint(3 * M) for M in three(6, 9, 4, 5)
    )  # of whole numbers, so the order of a sum changes nothing
    lay, allowed, bias = LAYOUTS[layout], draw((6, 9), 4) > -0.5, draw((6, 9), 5)
    laid = [lay(M) for M in (Q, K, V, allowed, bias)]
    plain = [
        np.array(M, dtype, order="C")
        for M, dtype in zip(laid, ("f8", "f8", "f8", bool, "f8"), strict=True)
    ]
    one = scaled_dot_product_attention(*laid[:3], allowed=laid[3], bias=laid[4])
    two = scaled_dot_product_attention(*plain[:3], allowed=plain[3], bias=plain[4])
    for name in ("scores", "scaled", "masked", "weights", "allowed"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name
    np.testing.assert_allclose(one.output, two.output, rtol=1e-14, atol=1e-14)
    assert {type(getattr(one, name)) for name in COMPUTED} == {np.ndarray}


@pytest.mark.parametrize("options", [{}, {"softcap": 2}, {"softmax": False}, {"scale": 1}], ids=str)
@pytest.mark.parametrize("call", [scaled_dot_product_attention, in_two_heads])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i8"])
def test_inputs_are_never_changed(dtype, call, options):
    Q, K, V = (np.round(10 * M).astype(dtype) for M in three())
    given = Q, K, V, np.tri(3, 4, dtype=bool), np.where(np.tri(3, 4), 0.5, -inf)
    before = bits(*given)
    for array in given:
        array.setflags(write=False)
    call(Q, K, V, allowed=given[3], bias=given[4], **options)
    assert bits(*given) == before


@pytest.mark.parametrize("call", [scaled_dot_product_attention, in_two_heads])
def test_the_trace_shares_no_memory_with_the_masks_of_the_caller(call):
    allowed, bias = np.ones((3, 4), bool), np.full((3, 4), 0.5)
    trace = call(*three(), allowed=allowed, bias=bias, softmax=lambda masked, allowed: masked)
    for name in ("scores", "scaled", "masked", "weights", "output", "allowed"):
        assert not np.shares_memory(getattr(trace, name), allowed), name
        assert not np.shares_memory(getattr(trace, name), bias), name
    allowed[:] = False
    assert trace.allowed.all()
    with pytest.raises(ValueError, match="^assignment destination is read-only$"):
        trace.allowed[..., 0, 0] = False  # one cell of it may stand for several


# ---- boolean masks and masks of 0 and 1 ----------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("mask", [[[1, 0], [1, 1]], [[0, 0], [0, 0]]])
def test_a_mask_of_0_and_1_is_not_taken_for_a_boolean_one(dtype, mask):
    message = refusal(
        TypeError,
        lambda: scaled_dot_product_attention(*[np.eye(2)] * 3, allowed=np.array(mask, dtype)),
    )
    assert message == (messages.BOOLEANS_EXPECTED.format(seen=f"holds {dtype}"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("mask", [[[1, 0], [1, 1]], [[1, 1], [1, 1]], 1])
def test_a_mask_of_0_and_1_is_not_added_as_a_bias(dtype, mask):
    message = refusal(
        ValueError,
        lambda: scaled_dot_product_attention(*[np.eye(2)] * 3, bias=np.array(mask, dtype)),
    )
    assert message == (messages.BIAS_LIKE_A_MASK.format(name="bias"))


def test_a_bias_that_begins_with_0_and_1_is_added_where_other_numbers_follow():
    trace = scaled_dot_product_attention(*[np.eye(2)] * 3, bias=[[0, 1], [1, 2]], scale=1.0)
    assert trace.masked.tolist() == [[1, 1], [1, 3]]


def test_a_mask_that_all_heads_share_is_kept_once_beside_a_bias_for_each_head():
    Q = np.ones((3, 2, 2))
    bias = np.full((3, 2, 2), 0.5)
    trace = scaled_dot_product_attention(Q, Q, Q, allowed=np.tri(2, dtype=bool), bias=bias)
    assert trace.allowed.shape == (3, 2, 2)
    assert trace.allowed.strides[0] == 0


def test_a_mask_changed_afterwards_changes_no_trace():
    allowed = np.tri(2, dtype=bool)
    trace = scaled_dot_product_attention(*[np.eye(2)] * 3, allowed=allowed)
    allowed[:] = False
    assert trace.allowed.tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_an_integer_bias_of_zeros_is_no_mask_and_changes_nothing(dtype):
    trace = scaled_dot_product_attention(*three(), bias=np.zeros((3, 4), dtype))
    assert trace.allowed.all()
    assert bits(trace.output) == bits(scaled_dot_product_attention(*three()).output)


@pytest.mark.parametrize("bias", [[0, 2, 1, 0], [0, -1, 0, 1]])
def test_an_integer_bias_of_other_numbers_is_added(bias):
    trace = scaled_dot_product_attention(*three(), bias=bias)
    assert trace.masked.tolist() == [
        [cell + b for cell, b in zip(row, bias, strict=True)] for row in trace.scaled.tolist()
    ]


# ---- masks short of an axis ----------------------------------------------------------------------


def problem_of(*lead, n_q, n_k=4):
    return draw((*lead, n_q, 6), 1), draw((*lead, n_k, 6), 2), draw((*lead, n_k, 6), 3)


DOUBTFUL = problem_of(2, 2, n_q=3), (2, 3, 4)  # items and heads are two each: which has the mask's?


def as_argument(name, mask):
    return {name: mask if name == "allowed" else np.where(mask, 0.0, -inf)}


def told(name) -> str:
    matrices, shape = DOUBTFUL
    mask = as_argument(name, draw(shape, 7) > 0)
    return refusal(ValueError, lambda: scaled_dot_product_attention(*matrices, **mask))


@pytest.mark.parametrize("name", ["allowed", "bias"])
def test_a_mask_of_three_axes_whose_first_could_be_two_is_refused_with_the_shapes(name):
    assert told(name) == messages.ITEM_OR_HEAD.format(
        name=name,
        shape=(2, 3, 4),
        scores=(2, 2, 3, 4),
        item=f"{name}[:, None]",
        head=f"{name}[None]",
    )


@pytest.mark.parametrize("name", ["allowed", "bias"])
def test_each_way_out_that_the_refusal_names_is_taken_and_means_what_it_says(name):
    matrices, shape = DOUBTFUL
    mask = draw(shape, 7) > 0
    ways = f"{name}[:, None]", f"{name}[None]"
    assert told(name) == messages.ITEM_OR_HEAD.format(
        name=name, shape=shape, scores=(2, 2, 3, 4), item=ways[0], head=ways[1]
    )
    masks = (as_argument(name, eval(way, {name: mask})) for way in ways)
    batch, other = (scaled_dot_product_attention(*matrices, **given).allowed for given in masks)
    for b in range(2):
        assert (batch[b] == mask[b]).all()
        assert (other[b] == mask).all()


TWO_AXES = {  # the call, the batch, n_q: the batch, or the heads, are as many as the queries
    "a batch of 2": (scaled_dot_product_attention, (2,), 2),
    "a batch of 4, square": (scaled_dot_product_attention, (4,), 4),
    "a batch of 2 with 3 heads": (scaled_dot_product_attention, (2, 3), 2),
    "3 items with 2 heads": (scaled_dot_product_attention, (3, 2), 2),
    "a batch of 2, before heads": (in_two_heads, (2,), 2),
    "a batch of 4, before heads": (in_two_heads, (4,), 4),
}


@pytest.mark.parametrize("name", ["allowed", "bias"])
@pytest.mark.parametrize("case", TWO_AXES)
def test_a_mask_of_two_axes_means_queries_and_keys_whatever_the_batch(case, name):
    call, lead, n_q = TWO_AXES[case]
    mask = draw((n_q, 4), 7) > 0
    trace = call(*problem_of(*lead, n_q=n_q), **as_argument(name, mask))
    for at in np.ndindex(trace.weights.shape[:-2]):
        assert ((trace.weights[at] > 0) == mask).all()


@pytest.mark.parametrize(
    ("lead", "n_q", "shape"),
    [
        ((2,), 3, (3, 4)),
        ((1,), 2, (2, 4)),
        ((1,), 1, (1, 4)),
        ((2,), 2, (1, 4)),
        ((2, 3), 5, (3, 5, 4)),
        ((2,), 2, (4,)),
    ],
)
def test_a_mask_short_of_an_axis_serves_the_whole_batch_where_only_that_can_be_meant(
    lead, n_q, shape
):
    mask = draw(shape, 7) > 0
    trace = scaled_dot_product_attention(*problem_of(*lead, n_q=n_q), allowed=mask)
    for b in range(lead[0]):
        assert (trace.allowed[b] == mask).all()


@pytest.mark.parametrize("name", ["allowed", "bias"])
def test_a_mask_of_queries_and_keys_serves_every_head_also_where_there_are_as_many_heads_as_queries(
    name,
):
    mask = np.array([[True, False, True, True], [False, True, False, True]])
    trace = in_two_heads(*problem_of(n_q=2), **as_argument(name, mask))
    assert trace.allowed.tolist() == [mask.tolist()] * 2


def test_a_mask_of_each_item_serves_every_head_also_where_there_are_as_many_heads_as_items():
    mask = draw((2, 3, 4), 7) > 0
    trace = in_two_heads(*problem_of(2, n_q=3), allowed=mask[:, None])
    for h in range(2):
        assert trace.allowed[:, h].tolist() == mask.tolist()


# ---- refusals ------------------------------------------------------------------------------------

ONE = np.ones((1, 1))
NOT_POSITIVE = [
    (0, "0"),
    (-2.5, "-2.5"),
    (nan, "nan"),
    (inf, "inf"),
    ("big", "'big'"),
    ([1, 2], "[1, 2]"),
]
REFUSALS = [
    *(
        (
            lambda cap=cap: scaled_dot_product_attention(ONE, ONE, ONE, softcap=cap),
            messages.POSITIVE_EXPECTED.format(name="softcap", given=shown),
        )
        for cap, shown in NOT_POSITIVE
    ),
    (
        lambda: multi_head_attention(np.ones((2, 4)), np.ones((2, 4)), np.ones((2, 5)), heads=2),
        messages.NOT_EQUAL_HEADS.format(what="V has 5 columns; they", heads=2),
    ),
    *(
        (
            lambda given=given, heads=heads: repeat_heads(np.ones((given, 3, 1)), heads),
            messages.HEADS_DO_NOT_SHARE.format(heads=heads, given=given),
        )
        for given, heads in [(2, 3), (4, 2), (0, 3)]
    ),
    *(
        (
            lambda past=past, new=new: extend(np.ones(past), np.ones(new)),
            messages.CACHE_DOES_NOT_FIT.format(past=past, new=new),
        )
        for past, new in [((3, 4), (1, 5)), ((2, 3, 4), (1, 4)), ((2, 3, 4), (3, 3, 4))]
    ),
    (
        lambda: sliding_window(3, 3, before=-1),
        messages.BOUND_EXPECTED.format(name="before", bound="-1"),
    ),
    (
        lambda: sliding_window(3, 3, 0, after=-2),
        messages.BOUND_EXPECTED.format(name="after", bound="-2"),
    ),
    (
        lambda: lengthened(np.ones((2, 5), bool), 3),
        messages.MORE_COLUMNS_THAN_KEYS.format(mask=5, n_k=3),
    ),
    (
        lambda: in_two_heads(np.eye(2), np.eye(2), np.eye(2), allowed=[[True], [True, False]]),
        messages.ROWS_OF_DIFFERENT_LENGTHS.format(name="allowed"),
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSALS)
def test_what_does_not_fit_is_refused_with_a_sentence(call, message):
    assert refusal(ValueError, call) == message


def test_leading_axes_that_do_not_broadcast_are_refused_with_a_sentence_also_before_heads():
    message = refusal(ValueError, lambda: in_two_heads(np.ones((2, 1, 2)), np.ones((3, 1, 2)), ONE))
    assert message == messages.LEADING_AXES_DIFFER.format(q="(2,)", k="(3,)", v="()")


# ---- softcap -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cap", [0.3, 1, 30.0])
def test_the_stages_under_a_softcap_equal_plain_loops(cap):
    Q, K, V = three()
    see, bias = np.tri(3, 4, 1, dtype=bool), draw((3, 4), 4)
    trace = scaled_dot_product_attention(4 * Q, K, V, allowed=see, bias=bias, softcap=cap)
    scaled = attend(4 * Q, K, V)["scaled"]
    capped = [[cap * math.tanh(x / cap) for x in row] for row in scaled]
    masked = [
        [capped[i][j] + bias[i, j] if see[i, j] else -inf for j in range(4)] for i in range(3)
    ]
    weights = [share(*pair) for pair in zip(masked, see, strict=True)]
    output = [[dot(row, V[:, c]) for c in range(2)] for row in weights]
    agree(
        trace,
        {
            "scaled": scaled,
            "capped": capped,
            "masked": masked,
            "weights": weights,
            "output": output,
        },
    )


def test_without_a_softcap_there_is_no_capped_stage():
    assert scaled_dot_product_attention(*three()).capped is None


@pytest.mark.parametrize("how", ["allowed", "bias"])
def test_a_softcap_comes_before_the_mask_so_that_a_hidden_weight_is_exactly_zero(how):
    see = np.array([[True, False, True]])
    trace = scaled_dot_product_attention(
        [[1.0]], [[1.0], [9.0], [2.0]], np.eye(3), softcap=0.1, **as_argument(how, see)
    )
    assert trace.weights[0, 1] == 0
    assert trace.masked[0, 1] == -inf


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("cap", [1e-3, 1 / 3, 1, 30, 49.9])
def test_a_capped_score_never_exceeds_the_softcap_and_keeps_its_sign(cap, dtype):
    K = np.concatenate((np.geomspace(1e-30, 1e30, 301), [inf])).astype(dtype)[:, None]
    capped = scaled_dot_product_attention(np.array([[1], [-1]], dtype), K, K, softcap=cap).capped
    assert (abs(capped) <= np.dtype(dtype).type(cap)).all()
    assert (capped[0] > 0).all()
    assert (np.diff(capped[0]) >= 0).all()
    assert (capped[1] == -capped[0]).all()


@pytest.mark.parametrize(
    ("dtype", "smallest", "largest"), [("f4", 1e-36, 1e-5), ("f8", 1e-305, 1e-9)]
)
@pytest.mark.parametrize("cap", [1, 7, 30, 50])
def test_a_softcap_leaves_tiny_scores_as_they_are_to_a_few_ulps(cap, dtype, smallest, largest):
    K = np.geomspace(smallest, largest, 200).astype(dtype)[:, None]
    trace = scaled_dot_product_attention(np.ones((1, 1), dtype), K, K, softcap=cap)
    np.testing.assert_array_max_ulp(trace.capped, trace.scaled, 4)  # a quotient, tanh, a product


@pytest.mark.parametrize("cap", [1e39, 1e-50])
def test_a_softcap_beyond_the_range_of_float32_makes_no_nan(cap):
    K = np.array([[2.0], [0.0], [-3.0]], "f4")
    trace = scaled_dot_product_attention(np.ones((1, 1), "f4"), K, K, softcap=cap)
    expected = [cap * math.tanh(x / cap) for x in (2.0, 0.0, -3.0)]
    np.testing.assert_allclose(trace.capped, np.array([expected], "f4"), rtol=1e-6)


# ---- another softmax -----------------------------------------------------------------------------


@pytest.mark.parametrize("masked", [False, True])
def test_a_softmax_in_float64_of_float32_scores_is_at_least_as_near_to_the_exact_one(masked):
    Q, K, V = three(12, 40, 16, 2, "f4")
    options = {"allowed": draw((12, 40), 4) > -1} if masked else {}
    one = scaled_dot_product_attention(5 * Q, K, V, **options)
    two = scaled_dot_product_attention(5 * Q, K, V, softmax=softmax_in(np.float64), **options)
    assert bits(one.masked) == bits(two.masked)
    assert two.weights.dtype == two.output.dtype == "f4"
    exact = [share(*row) for row in zip(one.masked.tolist(), one.allowed, strict=True)]
    far = [abs(weights.astype("f8") - exact) for weights in (one.weights, two.weights)]
    assert (far[1] <= far[0]).all()
    assert (far[1] < far[0]).any()


# ---- masks by plain double loops -----------------------------------------------------------------

SIZES = [(4, 4), (2, 5), (5, 2), (1, 3), (0, 3), (3, 0)]
PASTS = [0, 3, -2, 9, [0], [2, 0, -1, -9], [[1, -1], [4, 0]], np.array([2, 0], "u1")]


def loops(n_q, n_k, past, sees):
    """Whether the query at place p may see key j, item by item of the batch."""
    past = np.asarray(past)
    found = np.zeros((*past.shape, n_q, n_k), bool)
    for item in np.ndindex(past.shape):
        for i in range(n_q):
            for j in range(n_k):
                found[item][i, j] = sees(int(past[item]) + i, j)
    return found


def same(mask, expected):
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, expected, strict=True)


@pytest.mark.parametrize("past", PASTS, ids=str)
@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_causal_with_a_past_lets_a_query_see_the_keys_up_to_its_place(n_q, n_k, past):
    same(causal(n_q, n_k, past), loops(n_q, n_k, past, lambda place, j: j <= place))


@pytest.mark.parametrize("after", [None, 0, 1, 7])
@pytest.mark.parametrize("before", [None, 0, 1, 2, 7])
@pytest.mark.parametrize("past", PASTS, ids=str)
def test_a_sliding_window_holds_the_keys_between_its_bounds(past, before, after):
    def sees(place, j):
        return (before is None or j >= place - before) and (after is None or j <= place + after)

    for n_q, n_k in SIZES:
        same(sliding_window(n_q, n_k, before, after, past), loops(n_q, n_k, past, sees))


@pytest.mark.parametrize("lengths", [0, 3, 9, [4, 0, 1], [[1, 5], [2, 0]]], ids=str)
def test_the_real_tokens_are_the_first_of_each_sequence(lengths):
    lengths = np.array(lengths)
    expected = np.zeros((*lengths.shape, 5), bool)
    for item in np.ndindex(lengths.shape):
        for j in range(5):
            expected[item][j] = j < lengths[item]
    same(real_tokens(lengths, 5), expected)
    same(padding(real_tokens(lengths, 5)), expected[..., None, :])


@pytest.mark.parametrize("dtype", ["?", "f4", "f8"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 1, 3), (2, 0)])
@pytest.mark.parametrize("n_k", [3, 5])
def test_a_lengthened_mask_hides_the_keys_it_does_not_mention(shape, n_k, dtype):
    mask = (2 * draw(shape)).astype(dtype)
    longer = lengthened(mask, n_k)
    assert longer.shape == (*shape[:-1], n_k)
    for at in np.ndindex(longer.shape):
        hidden = False if dtype == "?" else -inf
        assert longer[at] == (mask[at] if at[-1] < shape[-1] else hidden)
    assert longer.dtype == dtype


def test_a_mask_of_integers_0_and_1_is_not_lengthened_into_a_bias():
    message = refusal(ValueError, lambda: lengthened([[1, 0]], 3))
    assert message == messages.BIAS_LIKE_A_MASK.format(name="the mask")


def test_a_lengthened_bias_of_integers_is_minus_infinity_at_the_keys_it_does_not_mention():
    assert lengthened([[-2, 5]], 3).tolist() == [[-2, 5, -inf]]


# ---- layouts and shared heads --------------------------------------------------------------------


def test_heads_first_moves_each_head_before_its_tokens_and_is_its_own_inverse():
    M = draw((2, 5, 3, 4))
    moved = heads_first(M)
    for b, n, h in np.ndindex(2, 5, 3):
        assert moved[b, h, n].tolist() == M[b, n, h].tolist()
    assert np.array_equal(heads_first(moved), M)


@pytest.mark.parametrize("lead", [(), (2,)])
def test_repeated_heads_stand_in_the_order_0_0_1_1(lead):
    M = draw((*lead, 2, 3, 5))
    assert np.array_equal(
        repeat_heads(M, 4), np.stack([M[..., h, :, :] for h in (0, 0, 1, 1)], axis=-3)
    )
    assert np.array_equal(repeat_heads(M, 2), M)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_each_head_of_grouped_attention_attends_to_its_own_group(groups):
    Q, K, V = draw((4, 3, 5), 1), draw((groups, 6, 5), 2), draw((groups, 6, 2), 3)
    see = np.tri(3, 6, 1, dtype=bool)
    trace = scaled_dot_product_attention(Q, repeat_heads(K, 4), repeat_heads(V, 4), allowed=see)
    for h in range(4):
        group = h * groups // 4
        for name, expected in attend(Q[h], K[group], V[group], see).items():
            np.testing.assert_allclose(
                getattr(trace, name)[h], expected, rtol=1e-12, atol=1e-14, err_msg=name
            )


def test_a_cache_extended_token_by_token_holds_them_in_their_order():
    K = draw((2, 5, 4))
    cache = K[:, :0]
    for i in range(5):
        cache = extend(cache, K[:, i : i + 1])
    assert np.array_equal(cache, K)


# ---- how near to the exact numbers ---------------------------------------------------------------
#
# Each stage is held against exact arithmetic on the stage before it, so that no error can hide
# behind another. A single + or × of IEEE 754 is rounded once, by half an ulp (U, relative), or by
# half the smallest subnormal number (TINY / 2, absolute) where a product is too small for U. So
#
# - scaled and masked, one operation a cell, are the exact result rounded, to the last bit;
# - a sum of n products, added in any order, fused or not, is off by at most
#   n U / (1 − n U) · Σ |a b| and n TINY / 2 (Higham, Accuracy and Stability of Numerical
#   Algorithms, section 3.1). It is no multiple of the result itself, which may have cancelled;
# - a weight e^(x − m) / Σ is off by U |x − m| from rounding the difference, which the exponent
#   takes over; by n U / e from those of the other cells, as |t| e^t ≤ 1 / e; by 4 ulp = 8 U for
#   exp, above and below; n U for the sum and U for the quotient. Together less than
#   (|x − m| + 2 n + 18) U, and a few TINY where exp itself is subnormal.

U, TINY = Fraction(1, 2**53), Fraction(1, 2**1074)
CELLS = (
    st.floats(-3, 3)
    | st.floats(-1e3, 1e3)
    | st.builds(math.ldexp, st.floats(-1, 1), st.integers(-500, 10))  # down to 1e-150 and below
    | st.sampled_from([0.0, -0.0, 5e-324, -2e-308, 1e-160, 1e3])
)


@st.composite
def problems(draw_from):
    n_q, n_k, d_k, d_v = (draw_from(st.integers(1, 6)) for _ in range(4))

    def matrix(rows, columns, cells=CELLS, dtype=float):
        return draw_from(arrays(dtype, (rows, columns), elements=cells, fill=st.nothing()))

    Q, K, V = matrix(n_q, d_k), matrix(n_k, d_k), matrix(n_k, d_v)
    allowed = (
        matrix(n_q, n_k, st.booleans(), bool)
        if draw_from(st.booleans())
        else np.ones((n_q, n_k), bool)
    )
    biases = CELLS.filter(lambda b: b != 1) | st.just(-inf)  # only 0 and 1 would be a mask
    bias = matrix(n_q, n_k, biases) if draw_from(st.booleans()) else np.zeros((n_q, n_k))
    return Q, K, V, allowed, bias


def assert_dot(found, a, b):
    """A sum of products within its bound."""
    products, n = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)], len(a)
    bound = n * U / (1 - n * U) * sum(map(abs, products)) + n * TINY / 2
    assert abs(Fraction(found) - sum(products)) <= bound


@given(problems())
def test_scores_of_any_size_are_exact_dot_products_to_the_bound_of_a_floating_sum(problem):
    Q, K, V, _, _ = problem
    scores = scaled_dot_product_attention(Q, K, V).scores
    for i, j in np.ndindex(scores.shape):
        assert_dot(scores[i, j].item(), Q[i].tolist(), K[j].tolist())


@given(problems(), st.none() | st.floats(1e-3, 1e3))
def test_scaled_and_masked_scores_of_any_size_are_exact_and_rounded_once(problem, scale):
    Q, K, V, allowed, bias = problem
    trace = scaled_dot_product_attention(Q, K, V, allowed=allowed, bias=bias, scale=scale)
    for at in np.ndindex(allowed.shape):
        score, scaled, add = (M[at].item() for M in (trace.scores, trace.scaled, bias))
        assert scaled == float(Fraction(score) * Fraction(trace.scale))
        hidden = not allowed[at] or add == -inf
        assert trace.masked[at] == (-inf if hidden else float(Fraction(scaled) + Fraction(add)))


@given(problems())
def test_weights_of_scores_of_any_size_are_within_a_few_ulps_of_60_digits(problem):
    Q, K, V, allowed, bias = problem
    trace = scaled_dot_product_attention(Q, K, V, allowed=allowed, bias=bias)
    with localcontext(prec=60):
        u, tiny = 1 / Decimal(2**53), 1 / Decimal(2**1074)
        for masked, weights, see in zip(trace.masked, trace.weights, trace.allowed, strict=True):
            row = [Decimal(x) for x in masked[see].tolist()]
            differences = [x - max(row) for x in row]
            grown = [d.exp() for d in differences]
            for found, d, g in zip(weights[see].tolist(), differences, grown, strict=True):
                exact = g / sum(grown)
                assert (
                    abs(Decimal(found) - exact)
                    <= exact * (abs(d) + 2 * len(row) + 18) * u + 8 * tiny
                )
            assert (weights[~see] == 0).all()


@given(problems())
def test_outputs_of_values_of_any_size_are_sums_of_what_is_seen_to_the_bound_of_a_floating_sum(
    problem,
):
    Q, K, V, allowed, bias = problem
    V[~(allowed & (bias > -inf)).any(axis=0)] = nan  # at the keys that nobody sees
    trace = scaled_dot_product_attention(Q, K, V, allowed=allowed, bias=bias)
    for i, c in np.ndindex(trace.output.shape):
        see = trace.allowed[i]
        assert_dot(trace.output[i, c].item(), trace.weights[i, see].tolist(), V[see, c].tolist())
