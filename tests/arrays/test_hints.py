"""Signatures say what is taken, and another library's word is answered with ours."""

import inspect

import messages
import numpy as np
import pytest

import attention
from attention.arrays.hints import HINTS

ARRAYS = [np.eye(2)] * 3
CALLS = {
    "scaled_dot_product_attention": lambda **given: attention.scaled_dot_product_attention(
        *ARRAYS, **given
    ),
    "multi_head_attention": lambda **given: attention.multi_head_attention(*ARRAYS, **given),
    "self_attention": lambda **given: attention.self_attention(np.eye(2), *ARRAYS, **given),
    "diagnose": lambda **given: attention.diagnose(*ARRAYS, output=np.eye(2), **given),
}
BY_PLACE = {"long_attention": lambda **given: attention.long_attention(*ARRAYS, **given)}
TOLD = {
    "mask": messages.GIVE_ALLOWED_OR_BIAS,
    "attn_mask": messages.GIVE_ALLOWED_OR_BIAS,
    "is_causal": messages.GIVE_CAUSAL,
    "dropout_p": messages.LEAVE_DROPOUT_OUT,
    "key_padding_mask": messages.GIVE_PADDING.format(padding="padding(real)"),
    "softmax_scale": messages.GIVE_ARGUMENT.format(argument="scale"),
}
ELSEWHERE = {
    "num_heads": "heads",
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("word", TOLD)
def test_the_word_of_another_library_is_answered_with_what_to_write_here(word, call):
    with pytest.raises(TypeError) as refused:
        CALLS[call](**{word: None})
    told = TOLD[word]
    if call != "scaled_dot_product_attention":  # there may be heads, which a mask serves alike
        told = told.replace("padding(real)", "padding(real)[:, None]")
    assert str(refused.value) == messages.NO_ARGUMENT.format(name=word, name_2=told)


def test_the_hint_for_padding_fits_any_number_of_heads():
    real, X = np.array([[True, True, False], [True, False, False]]), np.ones((2, 3, 4))
    with pytest.raises(TypeError) as refused:
        attention.self_attention(X, *[np.eye(4)] * 3, key_padding_mask=~real)
    padding = "padding(real)[:, None]"
    assert str(refused.value) == messages.NO_ARGUMENT.format(
        name="key_padding_mask", name_2=messages.GIVE_PADDING.format(padding=padding)
    )
    seen = eval(f"attention.{padding}", {"attention": attention, "real": real})
    for heads in (1, 2, 4):
        trace = attention.self_attention(X, *[np.eye(4)] * 3, heads=heads, allowed=seen)
        for item, weights in enumerate(trace.weights):
            assert (weights.reshape(-1, 3) > 0).tolist() == [real[item].tolist()] * 3 * heads


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("word", ELSEWHERE)
def test_a_hint_sends_to_another_function_only_where_this_one_does_not_take_it(word, call):
    with pytest.raises(TypeError) as refused:
        CALLS[call](**{word: None})
    here = call != "scaled_dot_product_attention"
    told = messages.GIVE_ARGUMENT if here else messages.GIVE_ARGUMENT_TO
    told = told.format(argument=ELSEWHERE[word], function="multi_head_attention")
    assert str(refused.value) == messages.NO_ARGUMENT.format(name=word, name_2=told)


@pytest.mark.parametrize("call", CALLS | BY_PLACE)
def test_shared_heads_are_sent_to_what_computes_them(call):
    with pytest.raises(TypeError) as refused:
        (CALLS | BY_PLACE)[call](enable_gqa=True)
    told = messages.REPEAT_HEADS
    told = messages.GIVE_ARGUMENT.format(argument="kv_heads") if call == "self_attention" else told
    assert str(refused.value) == messages.NO_ARGUMENT.format(name="enable_gqa", name_2=told)


def test_repeated_heads_are_those_that_enable_gqa_shares():
    """By loops; the same where a function takes heads as an axis of their own."""
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(2, 4, 3, 5)), *rng.normal(size=(2, 2, 2, 6, 5))
    expected = np.empty((2, 4, 3, 5))
    for item, head in np.ndindex(2, 4):
        shares = np.exp(Q[item, head] @ K[item, head // 2].T / 5**0.5)
        expected[item, head] = shares / shares.sum(axis=1, keepdims=True) @ V[item, head // 2]
    K, V = (attention.repeat_heads(M, 4) for M in (K, V))
    for function in (attention.scaled_dot_product_attention, attention.multi_head_attention):
        np.testing.assert_allclose(function(Q, K, V).output, expected, rtol=1e-12)
    assert attention.diagnose(Q, K, V, output=expected).correct


def test_an_argument_of_a_neighbouring_function_is_sent_there():
    with pytest.raises(TypeError) as refused:
        CALLS["scaled_dot_product_attention"](heads=2)
    told = messages.GIVE_IT_TO.format(function="multi_head_attention")
    assert str(refused.value) == messages.NO_ARGUMENT.format(name="heads", name_2=told)
    assert CALLS["multi_head_attention"](heads=2).weights.shape == (2, 2, 2)


def test_what_a_hint_tells_to_write_is_an_argument_or_a_function_that_exists():
    known = {
        name for call in CALLS for name in inspect.signature(getattr(attention, call)).parameters
    }
    for hint in HINTS.values():
        words = hint.replace("(", " ").replace(",", " ").split()
        for word in words:
            if "=" in word:
                name, _, rest = word.partition("=")
                assert name in known, hint
                word = rest
            if word.startswith("attention."):
                assert word.removeprefix("attention.") in attention.__all__, hint


@pytest.mark.parametrize("call", CALLS)
def test_a_misspelt_argument_is_an_error(call):
    with pytest.raises(TypeError, match="unexpected keyword argument 'allowd'"):
        CALLS[call](allowd=None)


MODULES = ("heads", "layouts", "masks", "scores", "trace", "weights")
FUNCTIONS = [
    function
    for name in attention.__all__
    if inspect.isfunction(function := getattr(attention, name))
    and function.__module__.split(".")[-1] in MODULES
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_signature_names_and_annotates_everything_that_a_function_takes(function):
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        assert parameter.annotation is not parameter.empty, parameter.name
    assert signature.return_annotation is not signature.empty
