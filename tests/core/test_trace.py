"""The numerical decisions of the attention, each as a claim with an oracle of its own."""

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction

import messages
import numpy as np
import pytest
from build import draw
from hypothesis import given
from hypothesis import strategies as st
from oracle import COMPUTED, agree, attend

from attention import (
    AttentionTrace,
    RelativeBias,
    RMSNorm,
    Rotary,
    View,
    multi_head_attention,
    scaled_dot_product_attention,
    self_attention,
)

inf, nan = math.inf, math.nan


def three(n_q=3, n_k=4, d_k=5, d_v=2, dtype=float):
    return draw((n_q, d_k), 1, dtype), draw((n_k, d_k), 2, dtype), draw((n_k, d_v), 3, dtype)


# ---- against plain loops -------------------------------------------------------------------------


@st.composite
def problems(draw_from):
    n_q, n_k, d_k, d_v = (draw_from(st.integers(1, 4)) for _ in range(4))
    cells = st.floats(-8, 8, allow_subnormal=False)

    def matrix(rows, columns, cell=cells):
        return [[draw_from(cell) for _ in range(columns)] for _ in range(rows)]

    Q, K, V = matrix(n_q, d_k), matrix(n_k, d_k), matrix(n_k, d_v)
    options = {
        "allowed": draw_from(st.none() | st.just(matrix(n_q, n_k, st.booleans()))),
        "bias": draw_from(st.none() | st.just(matrix(n_q, n_k, cells.filter(lambda b: b != 1)))),
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
    exact = [
        [sum(Fraction(q) * Fraction(k) for q, k in zip(row, key, strict=True)) for key in K]
        for row in Q
    ]
    assert trace.scores.tolist() == [[float(cell) for cell in row] for row in exact]


def test_float64_is_within_a_few_ulps_of_long_double():
    Q, K, V = three(6, 7, 33, 5)
    trace = scaled_dot_product_attention(Q, K, V)
    q, k, v = (M.astype(np.longdouble) for M in (Q, K, V))
    scaled = np.array([[(a * b).sum() / np.sqrt(np.longdouble(33)) for b in k] for a in q])
    grown = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = grown / grown.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(trace.weights, weights.astype(float), rtol=1e-14)
    np.testing.assert_allclose(
        trace.output, (weights[..., None] * v).sum(axis=-2).astype(float), rtol=0, atol=1e-14
    )


# ---- the record ----------------------------------------------------------------------------------


def test_every_stage_of_the_table_is_an_attribute_and_none_can_be_assigned():
    trace = self_attention(draw((3, 4)), *(draw((4, 4), k) for k in range(3)))
    for name in ("X", *COMPUTED, "allowed", "scale", "joined"):
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


NO_ARRAYS = "scale", "softmax", "softcap", "norm", "relative", "rotary", "recorded", "weights_alone"
ARRAYS = [field.name for field in fields(AttentionTrace) if field.name not in NO_ARRAYS]


def complete():
    """A trace in which no stage is missing."""
    X, W = draw((2, 3, 4)), [draw((4, 4), seed) for seed in range(4)]
    more = {"bias": draw((3, 5), 8), "softcap": 2, "norm": RMSNorm(), "rotary": Rotary()}
    more |= {"score_mod": lambda score, b, h, q, k: score + q, "sinks": [0.5, 1]}
    more |= {"relative": RelativeBias(draw((4, 2), 10)), "positions": np.ones((3, 4))}
    more |= {f"b_{name}": np.ones(4) for name in "QKVO"}
    return self_attention(X, *W[:3], memory=draw((5, 4), 9), heads=2, W_O=W[3], **more)


PATHS = {
    "as computed": complete,
    "replaced": lambda: replace(complete(), output=np.zeros((2, 2, 3, 2))),
    "copied": lambda: copy.deepcopy(complete()),
    "from a pickle": lambda: pickle.loads(pickle.dumps(complete())),
}


@pytest.mark.parametrize("path", PATHS)
def test_no_stage_can_be_written_to(path):
    trace = PATHS[path]()
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(trace, name)[..., 0] = 0


def test_a_trace_made_of_somebodys_array_leaves_that_array_to_them():
    mine = np.zeros((2, 2, 3, 2))
    replace(complete(), output=mine)
    mine[:] = 1
    assert mine.all()


GIVEN = {"Q": (3, 4), "K": (5, 4), "V": (5, 4)}
LAYOUTS = {
    "its own": lambda M: M,
    "a view": lambda M: M[:, :],
    "a transposed view": lambda M: np.ascontiguousarray(M.T).T,
    "one row for all": lambda M: np.broadcast_to(M[:1], M.shape),
    "marked read-only": lambda M: _marked(M[:]),
}


def _marked(view):
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("heads", [1, 2])
def test_a_later_change_of_what_was_given_changes_nothing_in_the_trace(layout, heads):
    owned = {name: draw(shape, seed) for seed, (name, shape) in enumerate(GIVEN.items())}
    given = {name: LAYOUTS[layout](M) for name, M in owned.items()}
    masks = {"allowed": np.tri(3, 5, 1, dtype=bool), "bias": draw((3, 5), 7)}
    trace = multi_head_attention(**given, **masks, heads=heads)
    before = [getattr(trace, name).tobytes() for name in COMPUTED]
    for array in (*owned.values(), *masks.values(), *given.values()):
        while isinstance(array, np.ndarray):  # and whatever it is a view of
            if array.flags.writeable:
                array[...] = 0
            array = array.base
    assert [getattr(trace, name).tobytes() for name in COMPUTED] == before


def test_embeddings_and_memory_changed_later_change_nothing_in_the_trace():
    X, Y, W = draw((3, 4), 1), draw((5, 4), 2), draw((4, 4), 3)
    trace = self_attention(X, W, W, W, memory=Y)
    before = X.tolist(), Y.tolist()
    X[:], Y[:] = 0, 0
    assert (trace.X.tolist(), trace.memory.tolist()) == before


def test_a_softmax_function_can_neither_change_a_stage_nor_keep_one():
    mine = np.zeros((3, 4))

    def in_place(masked, allowed):
        np.exp(masked, out=mine)
        masked[:], allowed[:] = 0, False
        return mine

    plain = scaled_dot_product_attention(*three())
    trace = scaled_dot_product_attention(*three(), softmax=in_place)
    mine[:] = 0
    assert trace.masked.tolist() == plain.masked.tolist()
    assert trace.allowed.all()
    np.testing.assert_allclose(trace.weights, np.exp(plain.masked), rtol=1e-15)


# ---- masks ---------------------------------------------------------------------------------------


def test_true_means_may_look():
    trace = scaled_dot_product_attention(
        [[1.0]], [[1.0], [1.0]], [[10.0], [20.0]], allowed=[[True, False]]
    )
    assert trace.weights.tolist() == [[1, 0]]
    assert trace.output.tolist() == [[10]]
    assert trace.masked.tolist() == [[1, -inf]]


@given(problems())
def test_a_hidden_weight_is_exactly_plus_zero(problem):
    Q, K, V, options = problem
    trace = scaled_dot_product_attention(Q, K, V, **options)
    hidden = trace.weights[~trace.allowed]
    assert hidden.tobytes() == np.zeros(hidden.shape).tobytes()
    assert (trace.masked[~trace.allowed] == -inf).all()


def test_a_bias_of_minus_infinity_hides_like_the_mask():
    Q, K, V = three()
    see = np.array([[1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]]) == 1
    one = scaled_dot_product_attention(Q, K, V, allowed=see)
    two = scaled_dot_product_attention(Q, K, V, bias=np.where(see, 0.0, -inf))
    for name in ("masked", "weights", "output", "allowed"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_mask_and_bias_hide_together():
    see, bias = [[True, False, True]], [[-inf, 0.0, 2.0]]
    trace = scaled_dot_product_attention(
        [[0.0]], [[1.0]] * 3, [[1.0], [2.0], [3.0]], allowed=see, bias=bias
    )
    assert trace.weights.tolist() == [[0, 0, 1]]
    assert trace.masked.tolist() == [[-inf, -inf, 2]]


def test_a_bias_too_low_for_float32_hides_instead_of_making_nan():
    Q, K, V = (M.astype("f4") for M in three())
    with np.errstate(all="raise"):  # the cast of −1e300 to float32 is the package's own affair
        trace = scaled_dot_product_attention(
            Q, K, V, bias=[[-1e300] * 4, [0, -1e300, 0, 0], [0] * 4]
        )
    assert trace.weights[0].tolist() == [0] * 4
    assert trace.weights[1, 1] == 0
    assert trace.hidden_rows.tolist() == [True, False, False]


@pytest.mark.parametrize("hidden_score", [1e9, 1e300])
def test_a_hidden_score_far_above_the_visible_ones_does_not_move_them(hidden_score):
    trace = scaled_dot_product_attention(
        [[1.0]], [[hidden_score], [1.0], [2.0]], np.eye(3), allowed=[False, True, True]
    )
    np.testing.assert_allclose(
        trace.weights, [[0, 1 / (1 + math.e), math.e / (1 + math.e)]], rtol=1e-14
    )


def test_one_row_of_allowed_serves_every_query():
    trace = scaled_dot_product_attention(*three(), allowed=[True, False, True, True])
    assert (trace.weights[:, 1] == 0).all()
    assert trace.allowed.shape == (3, 4)


# ---- softmax and scale ---------------------------------------------------------------------------


@pytest.mark.parametrize("d_k", [1, 2, 3, 7, 8, 64])
def test_the_scale_is_applied_once_to_the_scores(d_k):
    Q, K, V = three(d_k=d_k)
    trace = scaled_dot_product_attention(Q, K, V)
    assert trace.scale == 1 / math.sqrt(d_k)
    assert trace.scaled.tolist() == [
        [cell * (1 / math.sqrt(d_k)) for cell in row] for row in trace.scores.tolist()
    ]
    agree(trace, attend(Q, K, V))


def test_a_scale_given_replaces_one_over_root_d_k():
    trace = scaled_dot_product_attention(*three(), scale=0.25)
    assert trace.scale == 0.25
    assert trace.scaled.tolist() == [[cell * 0.25 for cell in row] for row in trace.scores.tolist()]


def test_without_softmax_the_masked_scores_are_the_weights_and_hidden_ones_are_zero():
    see = np.array([[True, False], [True, True]])
    trace = scaled_dot_product_attention(
        [[2], [-3]], [[4], [5]], [[1], [10]], allowed=see, scale=1, softmax=False
    )
    assert trace.weights.tolist() == [[8, 0], [-12, -15]]
    assert trace.output.tolist() == [[8], [-162]]


def test_float32_weights_are_those_of_float64_to_float32_precision():
    Q, K, V = three(8, 9, 64, 4)
    one, two = (
        scaled_dot_product_attention(Q, K, V),
        scaled_dot_product_attention(*(M.astype("f4") for M in (Q, K, V))),
    )
    np.testing.assert_allclose(two.weights, one.weights, rtol=2e-5)
    np.testing.assert_allclose(two.output, one.output, atol=2e-6)


# ---- shapes --------------------------------------------------------------------------------------

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
        draw((*lead, *shape), k)
        for k, (lead, shape) in enumerate(zip(leads, [(3, 5), (4, 5), (4, 2)], strict=True))
    )
    lead = np.broadcast_shapes(*leads)
    allowed = None
    if masked:
        allowed = draw((*np.broadcast_shapes(leads[0], leads[1]), 3, 4), 9) > -0.5
        V[..., 0, 0] = nan  # the slower way round hidden values
        allowed[..., 0] = False
    trace = scaled_dot_product_attention(Q, K, V, allowed=allowed)
    assert trace.output.shape == (*lead, 3, 2)
    q, k, v, w, z = (
        np.broadcast_to(M, (*lead, *M.shape[-2:])) for M in (Q, K, V, trace.weights, trace.output)
    )
    see = None if allowed is None else np.broadcast_to(allowed, (*lead, 3, 4))
    for at in np.ndindex(lead):
        alone = attend(q[at], k[at], v[at], None if see is None else see[at])
        np.testing.assert_allclose(w[at], alone["weights"], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(z[at], alone["output"], rtol=1e-12, atol=1e-12)


# ---- refusals ------------------------------------------------------------------------------------

TWO = np.ones((2, 2))
REFUSALS = [
    (
        {"Q": [[1, 2], [3]]},
        ValueError,
        messages.ROWS_OF_DIFFERENT_LENGTHS.format(name="Q"),
    ),
    ({"K": [["a", "b"]]}, TypeError, messages.NUMBERS_EXPECTED.format(name="K", seen="holds text")),
    (
        {"V": TWO * 1j},
        TypeError,
        messages.NUMBERS_EXPECTED.format(name="V", seen="holds complex128"),
    ),
    (
        {"V": [[None, 1]] * 2},
        TypeError,
        messages.NUMBERS_EXPECTED.format(name="V", seen="holds objects such as None"),
    ),
    ({"Q": [1, 2]}, ValueError, messages.TOKENS_AND_FEATURES.format(name="Q", shape="(2,)")),
    ({"K": np.ones((2, 3))}, ValueError, messages.D_K_DIFFERS.format(q=2, k=3)),
    (
        {"Q": np.ones((2, 0)), "K": np.ones((2, 0))},
        ValueError,
        messages.NO_COLUMNS,
    ),
    (
        {"V": np.ones((3, 2))},
        ValueError,
        messages.ONE_VALUE_FOR_EACH_KEY.format(keys=2, values=3),
    ),
    (
        {"Q": np.ones((2, 2, 2)), "K": np.ones((3, 2, 2))},
        ValueError,
        messages.LEADING_AXES_DIFFER.format(q="(2,)", k="(3,)", v="()"),
    ),
    (
        {"allowed": np.ones((3, 2), bool)},
        ValueError,
        messages.SHAPE_DOES_NOT_FIT.format(name="allowed", shape="(3, 2)", scores="(2, 2)"),
    ),
    (
        {"allowed": np.ones((5, 2, 2), bool)},
        ValueError,
        messages.SHAPE_DOES_NOT_FIT.format(name="allowed", shape="(5, 2, 2)", scores="(2, 2)"),
    ),
    (
        {"allowed": [[True], [True, False]]},
        ValueError,
        messages.ROWS_OF_DIFFERENT_LENGTHS.format(name="allowed"),
    ),
    (
        {"bias": [[True, False]] * 2},
        TypeError,
        messages.BIAS_NUMBERS_EXPECTED.format(seen="holds bool"),
    ),
    (
        {"bias": np.full((2, 3), 0.5)},
        ValueError,
        messages.SHAPE_DOES_NOT_FIT.format(name="bias", shape="(2, 3)", scores="(2, 2)"),
    ),
    (
        {"bias": [[1], [1, 2]]},
        ValueError,
        messages.ROWS_OF_DIFFERENT_LENGTHS.format(name="bias"),
    ),
    ({"scale": 0}, ValueError, messages.POSITIVE_EXPECTED.format(name="scale", given=0)),
    ({"scale": -0.5}, ValueError, messages.POSITIVE_EXPECTED.format(name="scale", given="-0.5")),
    ({"scale": nan}, ValueError, messages.POSITIVE_EXPECTED.format(name="scale", given="nan")),
    ({"scale": inf}, ValueError, messages.POSITIVE_EXPECTED.format(name="scale", given="inf")),
    (
        {"scale": "sqrt"},
        ValueError,
        messages.POSITIVE_EXPECTED.format(name="scale", given="'sqrt'"),
    ),
    (
        {"scale": [1, 2]},
        ValueError,
        messages.POSITIVE_EXPECTED.format(name="scale", given="[1, 2]"),
    ),
]


@pytest.mark.parametrize(("change", "kind", "message"), REFUSALS)
def test_a_refusal_names_the_argument_what_came_and_what_is_wanted(change, kind, message):
    arguments = {"Q": TWO, "K": TWO, "V": TWO} | change
    with pytest.raises(kind) as refused:
        scaled_dot_product_attention(**arguments)
    assert type(refused.value) is kind
    assert str(refused.value) == message


def test_finished_weights_are_a_trace_of_these_and_their_mask_alone():
    given = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3, 4)).astype(np.float32)
    given[1, :, 0, 3:] = 0  # hidden in every head of item 1
    given[0, 2, 1, 0] = 0  # in one head alone
    trace = AttentionTrace.of_weights(given)
    np.testing.assert_array_equal(trace.weights, given)
    assert trace.weights_alone and trace.weights.dtype == np.float32
    assert not trace.allowed[1, :, 0, 3:].any() and trace.allowed[0].all()
    assert trace.Q.size == trace.K.size == trace.V.size == trace.output.size == 0
    view = View.of(trace, item=1, head=2)
    assert list(view.stages) == ["mask", "weights"] and view.heads == 3
    np.testing.assert_array_equal(view.stages["weights"], given[1, 2])
    assert list(View.of(trace, head=1).stages) == ["weights"]
    mine = np.ones((2, 2))
    ours = AttentionTrace.of_weights(mine, allowed=[[True, False], [True, True]])
    mine[:] = 0
    assert ours.weights.all() and ours.allowed.tolist() == [[True, False], [True, True]]


def test_a_single_axis_before_finished_weights_counts_heads():
    trace = AttentionTrace.of_weights(np.full((3, 2, 2), 0.5))
    assert View.of(trace, head=2).heads == 3


def test_finished_weights_that_are_none_are_refused_and_odd_ones_named():
    with pytest.raises(ValueError, match=r"^weights has shape \(2,\)"):
        AttentionTrace.of_weights([1.0, 0.0])
    with pytest.raises(TypeError, match="^weights holds text"):
        AttentionTrace.of_weights([["a"]])
    broken = AttentionTrace.of_weights([[[1.0, 0.0]], [[np.nan, 1.0]]])
    said = "Head 1, query 0, counted from 0: the weights hold NaN or infinity."
    assert broken.warnings == (said,)
