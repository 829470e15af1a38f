"""Masks by their definition, corner by corner. True = may look."""

import messages
import numpy as np
import pytest

from attention import alibi, causal, causal_lower_right, padding, real_tokens, sliding_window
from attention.core.masks import MASKS, everything
from attention.long import places

SIZES = [(4, 4), (2, 5), (5, 2), (1, 3), (3, 1), (0, 3), (3, 0)]


@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_top_left_lets_query_i_see_keys_0_to_i(n_q, n_k):
    assert causal(n_q, n_k).tolist() == [[j <= i for j in range(n_k)] for i in range(n_q)]


@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_bottom_right_lets_the_last_query_see_every_key(n_q, n_k):
    expected = [[n_k - 1 - j >= n_q - 1 - i for j in range(n_k)] for i in range(n_q)]
    assert causal_lower_right(n_q, n_k).tolist() == expected


def test_the_two_corners_differ_where_queries_and_keys_do():
    assert causal(2, 3).astype(int).tolist() == [[1, 0, 0], [1, 1, 0]]
    assert causal_lower_right(2, 3).astype(int).tolist() == [[1, 1, 0], [1, 1, 1]]
    assert causal_lower_right(3, 2).astype(int).tolist() == [[0, 0], [1, 0], [1, 1]]


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_every_mask_of_the_table_is_boolean_and_has_the_shape_asked_for(name, n_q, n_k):
    mask = MASKS[name](n_q, n_k)
    assert (mask.dtype, mask.shape) == (bool, (n_q, n_k))


def test_no_mask_hides_nothing():
    assert everything(2, 3).all()


def test_padding_hides_a_key_from_every_query_of_its_item():
    allowed = causal(3, 3) & padding([[True, True, False], [False, True, True]])
    assert allowed.shape == (2, 3, 3)
    assert allowed.astype(int).tolist() == [
        [[1, 0, 0], [1, 1, 0], [1, 1, 0]],
        [[0, 0, 0], [0, 1, 0], [0, 1, 1]],
    ]


def test_the_four_token_look_ahead_mask_is_the_printed_one():
    assert np.where(causal(4, 4), 0, -np.inf).tolist() == [
        [0, -np.inf, -np.inf, -np.inf],
        [0, 0, -np.inf, -np.inf],
        [0, 0, 0, -np.inf],
        [0, 0, 0, 0],
    ]


@pytest.mark.parametrize("padding", [padding, places.padding])
@pytest.mark.parametrize("real", [[3, 5], [0.5, 1.0], [float("nan")]])
def test_padding_of_other_numbers_than_0_and_1_is_refused(padding, real):
    with pytest.raises(ValueError) as refused:
        padding(real)
    assert str(refused.value) == messages.REAL_TOKENS_EXPECTED.format(seen=f"is {real}")


@pytest.mark.parametrize("tokens", [lambda lengths: real_tokens(lengths, 3), places.real_tokens])
def test_fewer_than_no_tokens_are_refused(tokens):
    with pytest.raises(ValueError) as refused:
        tokens([1, -1])
    assert str(refused.value) == messages.TOKEN_COUNTS_EXPECTED.format(lengths=[1, -1])


def test_no_tokens_at_all_may_be_padded():
    assert padding([]).shape == (1, 0)
    assert places.padding([]).fitted((1, 0)).spans(0, 0, 0, 0) == ((0, 0), (0, 0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: causal(-1, 2), messages.INTEGER_EXPECTED.format(name="n_q", given="-1", least=0)),
        (
            lambda: causal(2, 2.5),
            messages.INTEGER_EXPECTED.format(name="n_k", given="2.5", least=0),
        ),
        (
            lambda: causal("4", 4),
            messages.INTEGER_EXPECTED.format(name="n_q", given="'4'", least=0),
        ),
        (
            lambda: causal_lower_right(None, 4),
            messages.INTEGER_EXPECTED.format(name="n_q", given="None", least=0),
        ),
        (
            lambda: causal_lower_right(4, True),
            messages.INTEGER_EXPECTED.format(name="n_k", given="True", least=0),
        ),
        (
            lambda: sliding_window(2.5, 4, 1),
            messages.INTEGER_EXPECTED.format(name="n_q", given="2.5", least=0),
        ),
        (
            lambda: real_tokens([2], "4"),
            messages.INTEGER_EXPECTED.format(name="n_k", given="'4'", least=0),
        ),
    ],
)
def test_a_mask_of_no_whole_number_of_tokens_is_refused_by_its_argument(call, message):
    with pytest.raises(ValueError) as refused:
        call()
    assert str(refused.value) == message


def test_cached_keys_that_are_no_number_are_refused():
    for made, past in (
        (lambda: causal(2, 3, np.nan), "nan"),
        (lambda: alibi(2, 3, 2, past=np.inf), "inf"),
    ):
        with pytest.raises(ValueError) as refused:
            made()
        assert str(refused.value) == messages.CACHED_KEYS_EXPECTED.format(past=past)
