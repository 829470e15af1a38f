"""Heads: each is an attention of its own on its own columns, and they come back side by side."""

import messages
import numpy as np
import pytest
from build import draw
from hypothesis import given
from hypothesis import strategies as st
from oracle import COMPUTED, agree, attend, product

from attention import (
    diagnose,
    join_heads,
    multi_head_attention,
    padding,
    self_attention,
    split_heads,
)


def columns(M, heads, head):
    """The block of columns that belongs to one head, by counting."""
    width = len(M[0]) // heads
    return [
        [row[c] for c in range(head * width, (head + 1) * width)] for row in np.asarray(M).tolist()
    ]


@given(
    st.lists(st.integers(0, 3), max_size=2), st.integers(0, 4), st.integers(1, 4), st.integers(0, 3)
)
def test_joining_is_the_inverse_of_splitting(lead, n, heads, width):
    M = np.arange(np.prod([*lead, n, heads * width])).reshape(*lead, n, heads * width)
    assert split_heads(M, heads).shape == (*lead, heads, n, width)
    assert np.array_equal(join_heads(split_heads(M, heads)), M)


def test_head_k_takes_the_kth_block_of_columns():
    M = draw((3, 12))
    for head in range(4):
        assert split_heads(M, 4)[head].tolist() == columns(M, 4, head)


@pytest.mark.parametrize("heads", [1, 2, 3, 6])
def test_each_head_attends_alone_and_the_outputs_stand_side_by_side(heads):
    Q, K, V, W_O = draw((3, 6), 1), draw((4, 6), 2), draw((4, 12), 3), draw((12, 5), 4)
    see = np.tri(3, 4, dtype=bool)
    trace = multi_head_attention(Q, K, V, heads=heads, W_O=W_O, allowed=see)
    alone = [attend(*(columns(M, heads, h) for M in (Q, K, V)), see) for h in range(heads)]
    for h, expected in enumerate(alone):
        for name, values in expected.items():
            stage = getattr(trace, name) if heads == 1 else getattr(trace, name)[h]
            np.testing.assert_allclose(stage, values, rtol=1e-12, atol=1e-14)
    side_by_side = [[cell for one in alone for cell in one["output"][i]] for i in range(3)]
    np.testing.assert_allclose(trace.joined, side_by_side, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        trace.projected, product(side_by_side, W_O.tolist()), rtol=1e-11, atol=1e-13
    )


def test_the_default_scale_is_that_of_one_head():
    assert multi_head_attention(draw((2, 8)), draw((2, 8)), draw((2, 8)), heads=2).scale == 0.5


def test_without_output_weights_nothing_is_projected():
    assert multi_head_attention(draw((2, 8)), draw((2, 8)), draw((2, 8)), heads=2).projected is None


def test_self_attention_makes_q_k_and_v_from_the_embeddings():
    X, W_Q, W_K, W_V = draw((4, 10), 1), draw((10, 20), 2), draw((10, 20), 3), draw((10, 25), 4)
    trace = self_attention(X, W_Q, W_K, W_V)
    Q, K, V = (product(X.tolist(), W.tolist()) for W in (W_Q, W_K, W_V))
    agree(trace, {"X": X, "Q": Q, "K": K, "V": V} | attend(Q, K, V), 1e-11)
    assert trace.context.shape == (25,)


def test_cross_attention_takes_keys_and_values_from_the_second_sequence():
    X, Y = draw((3, 4), 1), draw((5, 4), 2)
    W_Q, W_K, W_V = draw((4, 2), 3), draw((4, 2), 4), draw((4, 3), 5)
    trace = self_attention(X, W_Q, W_K, W_V, memory=Y)
    Q, K, V = (
        product(X.tolist(), W_Q.tolist()),
        product(Y.tolist(), W_K.tolist()),
        product(Y.tolist(), W_V.tolist()),
    )
    agree(trace, {"X": X, "memory": Y} | attend(Q, K, V), 1e-11)
    assert trace.weights.shape == (3, 5)


def test_batch_heads_second_sequence_mask_of_each_item_and_output_weights_together():
    X, Y = draw((2, 3, 4), 1), draw((2, 5, 4), 2)
    W_Q, W_K, W_V, W_O = draw((4, 6), 3), draw((4, 6), 4), draw((4, 9), 5), draw((9, 2), 6)
    see = draw((2, 3, 5), 7) > 0
    see[1, 0] = False
    trace = self_attention(X, W_Q, W_K, W_V, memory=Y, heads=3, W_O=W_O, allowed=see[:, None])
    assert trace.weights.shape == (2, 3, 3, 5)
    assert trace.hidden_rows[1, :, 0].all()
    for b in range(2):
        Q, K, V = (product(M[b].tolist(), W.tolist()) for M, W in ((X, W_Q), (Y, W_K), (Y, W_V)))
        alone = [attend(*(columns(M, 3, h) for M in (Q, K, V)), see[b]) for h in range(3)]
        for h in range(3):
            for name, values in alone[h].items():
                np.testing.assert_allclose(
                    getattr(trace, name)[b, h], values, rtol=1e-10, atol=1e-12
                )
        joined = [[cell for one in alone for cell in one["output"][i]] for i in range(3)]
        np.testing.assert_allclose(
            trace.projected[b], product(joined, W_O.tolist()), rtol=1e-10, atol=1e-12
        )


def test_padding_of_each_item_serves_every_head_and_query():
    Q, K, V = (draw((2, 3, 4), seed) for seed in range(3))
    real = [[True, True, False], [True, False, False]]
    trace = multi_head_attention(Q, K, V, heads=2, allowed=padding(real)[:, None])
    for b in range(2):
        for h in range(2):
            assert (trace.weights[b, h] > 0).tolist() == [real[b]] * 3


def test_a_bias_of_each_item_serves_every_head():
    Q, K, V = (draw((2, 3, 4), seed) for seed in range(3))
    bias = draw((2, 3, 3), 5)
    trace = multi_head_attention(Q, K, V, heads=2, bias=bias[:, None])
    np.testing.assert_allclose(trace.masked - trace.scaled, np.stack([bias, bias], 1), atol=1e-14)


def test_one_head_takes_a_mask_with_an_axis_for_it():
    Q, K, V = (draw((2, 3, 4), seed) for seed in range(3))
    see = draw((2, 1, 1, 3), 6) > -0.5
    trace = multi_head_attention(Q, K, V, heads=1, allowed=see)
    plain = multi_head_attention(Q, K, V, heads=1, allowed=np.repeat(see[:, 0], 3, axis=1))
    np.testing.assert_array_equal(trace.output, plain.output)
    assert diagnose(Q, K, V, allowed=see, output=plain.output).correct


@pytest.mark.parametrize("shape", [(2, 1, 1, 3), (2, 2, 3, 3), (1, 2, 1, 3), (2, 1, 3, 3)])
def test_a_mask_and_a_bias_with_an_axis_for_the_heads_are_taken_as_they_are(shape):
    Q, K, V = (draw((2, 3, 4), seed) for seed in range(3))
    see, bias = draw(shape, 6) > -0.5, draw(shape, 5)
    trace = multi_head_attention(Q, K, V, heads=2, allowed=see, bias=bias)
    see, bias = (np.broadcast_to(M, (2, 2, 3, 3)) for M in (see, bias))
    for b in range(2):
        for h in range(2):
            parts = [columns(M[b].tolist(), 2, h) for M in (Q, K, V)]
            expected = attend(*parts, see[b, h])["scaled"]
            expected = np.where(see[b, h], np.array(expected) + bias[b, h], -np.inf)
            np.testing.assert_allclose(trace.masked[b, h], expected, atol=1e-14)
    found = diagnose(Q, K, V, heads=2, allowed=see, bias=bias, output=trace.joined)
    assert found.correct, found


def test_each_head_has_its_own_bias_without_a_batch():
    Q, K, V = (draw((3, 4), seed) for seed in range(3))
    bias = draw((2, 3, 3), 5)
    trace = multi_head_attention(Q, K, V, heads=2, bias=bias)
    np.testing.assert_allclose(trace.masked - trace.scaled, bias, atol=1e-14)
    with pytest.raises(ValueError) as refused:
        multi_head_attention(Q, K, V, heads=2, bias=draw((4, 3, 3), 5))
    assert str(refused.value) == (
        messages.SHAPE_DOES_NOT_FIT.format(name="bias", shape="(4, 3, 3)", scores="(2, 3, 3)")
    )


def test_keys_and_values_without_the_batch_axis_serve_every_item_and_head():
    Q, K, V = draw((2, 3, 4), 1), draw((5, 4), 2), draw((5, 6), 3)
    trace = multi_head_attention(Q, K, V, heads=2)
    assert trace.joined.shape == (2, 3, 6)
    for b in range(2):
        alone = multi_head_attention(Q[b], K, V, heads=2)
        np.testing.assert_allclose(trace.joined[b], alone.joined, rtol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"heads": 2}, {"heads": 2, "W_O": draw((4, 3), 9, "f4")}, {"scale": 0.3}]
)
def test_float32_stays_float32_from_embeddings_to_projection(options):
    X, W = draw((3, 4), 1, "f4"), draw((4, 4), 2, "f4")
    trace = self_attention(X, W, W, W, memory=X, allowed=np.tri(3, dtype=bool), **options)
    for name in ("X", "memory", *COMPUTED, "joined"):
        assert getattr(trace, name).dtype == "f4", name
    assert trace.projected is None or trace.projected.dtype == "f4"


def test_integer_embeddings_and_weights_become_float64():
    trace = self_attention([[1, 0], [0, 1]], [[1], [2]], [[1], [2]], [[3], [4]])
    assert trace.X.dtype == trace.Q.dtype == trace.output.dtype == "f8"


def test_embeddings_and_weights_are_never_changed():
    arrays = [draw((3, 4), 1), draw((4, 4), 2), draw((4, 4), 3), draw((4, 4), 4)]
    before = [a.tobytes() for a in arrays]
    for a in arrays:
        a.setflags(write=False)
    self_attention(*arrays, heads=2, W_O=arrays[1])
    assert [a.tobytes() for a in arrays] == before


# ---- fewer heads of keys and values --------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 1), (4, 2), (4, 4), (6, 3), (1, 1)])
def test_each_head_of_queries_attends_to_the_head_of_keys_and_values_that_it_shares(
    heads, kv_heads, batch
):
    Q, K, V = (
        draw((*batch, 3, 2 * heads), 1),
        draw((*batch, 5, 2 * kv_heads), 2),
        draw((*batch, 5, 3 * kv_heads), 3),
    )
    W_O, see = draw((3 * heads, 2), 4), np.tri(3, 5, 1, dtype=bool)
    trace = multi_head_attention(Q, K, V, heads=heads, kv_heads=kv_heads, W_O=W_O, allowed=see)
    for at in np.ndindex(batch):
        joined = [[] for _ in range(3)]
        for h in range(heads):
            g = h // (heads // kv_heads)  # h0, h0, h1, h1
            alone = attend(
                columns(Q[at], heads, h),
                columns(K[at], kv_heads, g),
                columns(V[at], kv_heads, g),
                see,
            )
            here = (*at, h) if heads > 1 else at
            for name, values in alone.items():
                np.testing.assert_allclose(
                    getattr(trace, name)[here], values, rtol=1e-12, atol=1e-14
                )
            for row, more in zip(joined, alone["output"], strict=True):
                row += more
        np.testing.assert_allclose(
            trace.projected[at], product(joined, W_O.tolist()), rtol=1e-11, atol=1e-13
        )


def test_embeddings_may_be_turned_into_fewer_heads_of_keys_and_values():
    X, W_Q, W_K, W_V, W_O = (
        draw((4, 5), 1),
        draw((5, 8), 2),
        draw((5, 4), 3),
        draw((5, 6), 4),
        draw((12, 2), 5),
    )
    trace = self_attention(X, W_Q, W_K, W_V, heads=4, kv_heads=2, W_O=W_O)
    Q, K, V = (np.array(product(X.tolist(), W.tolist())) for W in (W_Q, W_K, W_V))
    again = multi_head_attention(Q, K, V, heads=4, kv_heads=2, W_O=W_O)
    np.testing.assert_allclose(trace.projected, again.projected, rtol=1e-11)
    assert trace.K.shape == (4, 4, 2)
    assert np.array_equal(trace.K[0], trace.K[1]) and np.array_equal(trace.K[2], trace.K[3])


EYE = np.eye(4)
REFUSALS = [
    (
        lambda: multi_head_attention(EYE, EYE, EYE, heads=4, kv_heads=3),
        messages.HEADS_NOT_A_MULTIPLE.format(heads=4, kv_heads=3),
    ),
    (
        lambda: multi_head_attention(EYE, EYE, EYE, kv_heads=2),
        messages.HEADS_NOT_A_MULTIPLE.format(heads=1, kv_heads=2),
    ),
    (
        lambda: multi_head_attention(EYE, EYE, EYE, heads=4, kv_heads=2.0),
        messages.INTEGER_EXPECTED.format(name="kv_heads", given="2.0", least=1),
    ),
    (
        lambda: multi_head_attention(EYE, EYE, EYE, heads=4, kv_heads=2),
        messages.HEAD_WIDTHS_DIFFER.format(q=4, h=4, q_2=1, k=4, g=2, k_2=2),
    ),
    (
        lambda: multi_head_attention(EYE, np.ones((4, 3)), EYE, heads=4, kv_heads=2),
        messages.NOT_EQUAL_HEADS.format(what="K has 3 columns; they", heads=2),
    ),
    (
        lambda: self_attention(EYE, EYE, EYE, np.ones(4)),
        messages.TWO_AXES_EXPECTED.format(name="W_V", shape="(4,)"),
    ),
    (
        lambda: multi_head_attention(EYE, EYE, EYE, heads=2, W_O=np.ones((2, 2, 4))),
        messages.TWO_AXES_EXPECTED.format(name="W_O", shape="(2, 2, 4)"),
    ),
    (
        lambda: self_attention(np.ones((2, 4, 4)), EYE, EYE, EYE, memory=np.ones((3, 4, 4))),
        messages.MEMORY_DOES_NOT_BROADCAST.format(x="(2,)", memory="(3,)"),
    ),
    (
        lambda: self_attention(EYE, EYE, EYE, EYE, memory=[1, 2, 3, 4]),
        messages.TOKENS_AND_FEATURES.format(name="memory", shape="(4,)"),
    ),
    (
        lambda: multi_head_attention(EYE, EYE, EYE, heads=2, allowed=np.ones((2, 3, 4), bool)),
        messages.SHAPE_DOES_NOT_FIT.format(name="allowed", shape="(2, 3, 4)", scores="(2, 4, 4)"),
    ),
    (lambda: split_heads(EYE, 3), messages.NOT_EQUAL_HEADS.format(what="4 columns", heads=3)),
    (lambda: split_heads(EYE, 0), messages.INTEGER_EXPECTED.format(name="heads", given=0, least=1)),
    (
        lambda: multi_head_attention(EYE, EYE, EYE, heads=-2),
        messages.INTEGER_EXPECTED.format(name="heads", given="-2", least=1),
    ),
    (
        lambda: self_attention(EYE, EYE, EYE, np.eye(3)),
        messages.ROWS_DO_NOT_MEET.format(name="W_V", rows=3, columns=4, meets="of X"),
    ),
    (
        lambda: self_attention(EYE, EYE, EYE, EYE, memory=np.eye(3)),
        messages.ROWS_DO_NOT_MEET.format(name="W_K", rows=4, columns=3, meets="of memory"),
    ),
    (
        lambda: multi_head_attention(EYE, EYE, EYE, W_O=np.eye(2)),
        messages.ROWS_DO_NOT_MEET.format(name="W_O", rows=2, columns=4, meets="of joined"),
    ),
    (
        lambda: self_attention(EYE, EYE, np.ones((4, 2)), EYE),
        messages.D_K_DIFFERS.format(q=4, k=2),
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSALS)
def test_what_does_not_fit_is_refused_with_a_sentence(call, message):
    with pytest.raises(ValueError) as refused:
        call()
    assert str(refused.value) == message
