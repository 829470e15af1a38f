"""A view is the item and head one would take by hand, with labels, of any trace."""

import re

import messages
import numpy as np
import pytest
from oracle import COMPUTED

from attention import View, causal, multi_head_attention, scaled_dot_product_attention
from attention import self_attention as attend

RNG = np.random.default_rng(0)
WEIGHTS = ("W_Q", "W_K", "W_V")


def draw(*shape):
    return RNG.standard_normal(shape)


def same(found, wanted):
    assert found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()
    assert found.shape == wanted.shape


def test_every_item_and_head_of_a_layer_is_the_attention_of_its_own_slices():
    X, W = draw(3, 4, 6), [draw(6, 6) for _ in WEIGHTS]
    trace = attend(X, *W, heads=2, W_O=draw(6, 5), allowed=causal(4, 4))
    for item in range(3):
        for head in range(2):
            stages = View.of(trace, item=item, head=head).stages
            for name, M in zip(WEIGHTS, W, strict=True):
                same(stages[name], M[:, 3 * head : 3 * head + 3])
            for name in COMPUTED:
                same(stages[name], getattr(trace, name)[item, head])
            for name in ("X", "joined", "projected"):
                same(stages[name], getattr(trace, name)[item])
            np.testing.assert_allclose(stages["Q"], stages["X"] @ stages["W_Q"])


def test_heads_that_share_keys_show_the_columns_they_share():
    trace = attend(draw(4, 6), draw(6, 8), draw(6, 4), draw(6, 4), heads=4, kv_heads=2)
    for head in range(4):
        stages = View.of(trace, head=head).stages
        shared = slice(2 * (head // 2), 2 * (head // 2) + 2)
        same(stages["W_K"], trace.W_K[:, shared])
        np.testing.assert_allclose(stages["K"], trace.X @ trace.W_K[:, shared])


def test_of_several_batch_axes_the_items_are_counted_through():
    Q = draw(2, 3, 5, 4, 2)
    trace = scaled_dot_product_attention(Q, Q, Q)
    for item, at in enumerate(np.ndindex(2, 3)):
        for head in range(5):
            view = View.of(trace, item=item, head=head)
            same(view.stages["weights"], trace.weights[(*at, head)])
            assert (view.head, view.heads) == (head, 5)


def test_a_single_axis_counts_items_or_the_heads_that_were_joined():
    Q = draw(3, 4, 2)
    same(View.of(scaled_dot_product_attention(Q, Q, Q), item=2).stages["Q"], Q[2])
    trace = multi_head_attention(draw(4, 6), draw(5, 6), draw(5, 6), heads=3)
    same(View.of(trace, head=2).stages["output"], trace.output[2])
    assert View.of(trace).heads == 3


def test_values_and_sequences_may_have_axes_that_others_broadcast():
    Q, V = draw(4, 8), draw(2, 4, 3)
    trace = scaled_dot_product_attention(Q, Q, V)
    same(View.of(trace, item=1).stages["V"], V[1])
    same(View.of(trace, item=1).stages["scores"], trace.scores)
    X, memory = draw(2, 1, 4, 6), draw(3, 5, 6)
    trace = attend(X, *(draw(6, 6) for _ in WEIGHTS), memory=memory, heads=2)
    stages = View.of(trace, item=5, head=1).stages
    same(stages["X"], X[1, 0])
    same(stages["memory"], memory[2])
    same(stages["joined"], trace.joined[1, 2])


def test_a_bias_a_cap_and_hidden_keys_show_as_what_was_added():
    Q, bias = draw(3, 4), draw(3, 3)
    trace = scaled_dot_product_attention(Q, Q, Q, bias=bias, softcap=2.0, allowed=causal(3, 3))
    view = View.of(trace)
    wanted = [[bias[i, j] if j <= i else -np.inf for j in range(3)] for i in range(3)]
    assert view.stages["mask"].tolist() == wanted
    np.testing.assert_allclose(
        view.stages["capped"] + view.stages["mask"], view.stages["masked"], rtol=1e-15
    )
    assert "mask" not in View.of(scaled_dot_product_attention(Q, Q, Q)).stages


def test_float32_stays_float32_in_every_stage():
    X = draw(3, 4).astype(np.float32)
    trace = attend(X, X.T @ X, X.T @ X, X.T @ X, allowed=causal(3, 3))
    assert {M.dtype.name for M in View.of(trace, context=True).stages.values()} == {"float32"}


def test_labels_are_the_words_and_numbers_elsewhere():
    X, W = draw(3, 2), [draw(2, 2) for _ in WEIGHTS]
    words = ("the", "cat", "the")
    view = View.of(attend(X, *W), tokens=words, names={"d_v": ("yes", "no")})
    assert view.rows("weights") == view.columns("weights") == ("the (1)", "cat", "the (2)")
    assert (view.columns("V"), view.columns("Q")) == (("yes", "no"), ("1", "2"))
    assert View.of(attend(X, *W), tokens=iter(words)).rows("Q") == view.rows("Q")
    crossed = attend(X, *W, memory=draw(3, 2))
    assert View.of(crossed, tokens=words).columns("weights") == ("1", "2", "3")
    assert View.of(crossed, key_tokens=words).rows("K") == ("the (1)", "cat", "the (2)")


TRACE = scaled_dot_product_attention(draw(2, 3, 4), draw(2, 5, 4), draw(2, 5, 4))
REFUSED = [
    ({"item": 2}, messages.OUT_OF_RANGE.format(word="item", place="2", count=2)),
    ({"item": -1}, messages.OUT_OF_RANGE.format(word="item", place="-1", count=2)),
    ({"head": 1}, messages.ONLY_ONE.format(word="head", place=1)),
    ({"head": "a"}, messages.WHOLE_NUMBER_EXPECTED.format(argument="head", given="'a'")),
    ({"item": 1.0}, messages.WHOLE_NUMBER_EXPECTED.format(argument="item", given="1.0")),
    (
        {"tokens": ["a"]},
        messages.LABELS_COUNT.format(argument="tokens", have="1 word", count=3),
    ),
    (
        {"key_tokens": "abcde"},
        messages.WORDS_EXPECTED.format(argument="key_tokens", words="'abcde'"),
    ),
    ({"tokens": 3}, messages.WORDS_EXPECTED.format(argument="tokens", words=3)),
]


@pytest.mark.parametrize(("given", "sentence"), REFUSED)
def test_what_does_not_fit_is_refused_in_a_sentence(given, sentence):
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(sentence)}$"):
        View.of(TRACE, **given)


def test_what_is_no_trace_is_refused_in_a_sentence():
    wanted = messages.TRACE_EXPECTED.format(name="list")
    with pytest.raises(TypeError, match=f"^{re.escape(wanted)}$"):
        View.of([[1.0]])
