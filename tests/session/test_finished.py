"""Finished attention weights come back as the weights of a board, to the last digits of float64."""

import numpy as np
import pytest

from attention.limits import BadInput
from attention.readers import texts
from attention.readers.entry import ALONE, ArrayEntry
from attention.readers.select import FINISHED, select
from attention.session import links
from attention.session.adopt import adopt, likely
from attention.session.changes import set_mask, set_output_weights
from attention.session.examples import EXAMPLES
from attention.session.run import run
from attention.session.settings import DRAWN

RNG = np.random.default_rng(0)


def four_words():
    return EXAMPLES["four-words"].build()


def softmax(scores) -> np.ndarray:
    """Row by row, with Python's own sum."""
    rows = scores.reshape(-1, scores.shape[-1])
    shares = [[np.exp(v - max(row)) for v in row] for row in rows.tolist()]
    return np.array([[v / sum(row) for v in row] for row in shares]).reshape(scores.shape)


def entry(values, name=ALONE, **more) -> ArrayEntry:
    return ArrayEntry(name, values.shape, values.dtype.name, lambda: values, **more)


def brought(values, s=None, **more):
    found = select(entry(values, **more), FINISHED, "it")
    return adopt(s or four_words(), {FINISHED: found})


@pytest.mark.parametrize("shape", [(4, 4), (3, 4, 4), (1, 2, 5, 5), (3, 6), (2, 3, 6)])
def test_the_weights_of_the_board_are_those_that_were_brought(shape):
    A = softmax(3 * RNG.standard_normal(shape))
    s, said = brought(A)
    heads = A.reshape(-1, *shape[-2:])
    assert (s.heads, s.softmax, s.scale) == (len(heads), True, 1)
    weights = run(s).weights.reshape(heads.shape)
    np.testing.assert_allclose(weights, heads, rtol=1e-13, atol=0)
    np.testing.assert_allclose(run(s).output.reshape(heads.shape), heads, rtol=1e-13, atol=0)
    assert said[1] == (
        "These are finished weights: Q is their logarithm, K and V are 1, and the scale is 1, so"
        " that softmax gives them again; Q, K, V, scores and output are none of a model."
    )
    assert len(s.tokens) == shape[-2] and len(s.key_tokens) == shape[-1]
    assert links.from_file(links.to_file(s)) == s


def test_zeros_stay_zeros_and_what_all_heads_hide_is_hidden():
    A = softmax(RNG.standard_normal((2, 4, 4))) * np.tril(np.ones((4, 4)))
    A[1, 3, 0] = 0  # in one head alone
    A /= A.sum(axis=-1, keepdims=True)
    s, _ = brought(A)
    assert s.mask == DRAWN and np.array_equal(s.drawn, np.tril(np.ones((4, 4), bool)))
    weights = run(s).weights
    assert np.array_equal(weights == 0, A == 0)
    np.testing.assert_allclose(weights, A, rtol=1e-13)


def test_a_row_of_zeros_sees_no_key():
    A = np.array([[0.25, 0.75], [0.0, 0.0]])
    s, _ = brought(A)
    np.testing.assert_allclose(np.squeeze(run(s).weights), A, rtol=1e-14)


def test_printed_weights_sum_to_1_again_and_it_is_said_by_how_much_they_did_not():
    A = softmax(RNG.standard_normal((4, 4))).round(2)
    A[0] = [0.33, 0.33, 0.33, 0.0]
    s, said = brought(A)
    np.testing.assert_allclose(np.squeeze(run(s).weights).sum(axis=-1), 1, rtol=1e-14)
    assert said[2] == "Rows were 0.0100 off 1 at most, and sum to 1 now."


def test_what_stood_on_the_board_before_does_not_change_them():
    s = set_output_weights(set_mask(four_words(), "causal"), True)
    A = softmax(RNG.standard_normal((4, 4)))
    new, _ = brought(A, s)
    np.testing.assert_allclose(np.squeeze(run(new).weights), A, rtol=1e-13)
    assert new.mask == "none" and set(new.matrices) == set("QKV")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            np.array([[0.5, 0.5], [1.5, -0.5]]),
            "the weights, row 2, column 1 hold 1.50; shares from 0 to 1 are wanted.",
        ),
        (
            np.array([[0.5, 0.5], [0.5, 0.2]]),
            "the weights, row 2 sum to 0.70; each row of attention weights sums to 1.",
        ),
        (
            np.array([[[0.5, 0.5]], [[0.5, 0.2]]]),
            "the weights, head 2, row 1 sum to 0.70; each row of attention weights sums to 1.",
        ),
    ],
)
def test_what_is_no_matrix_of_weights_is_refused(values, message):
    with pytest.raises(BadInput) as refused:
        brought(values)
    assert str(refused.value) == message


def test_weights_stand_alone():
    A = select(entry(np.full((2, 2), 0.5)), FINISHED, "it")
    X = select(entry(np.ones((2, 2))), "X", "it")
    with pytest.raises(
        BadInput, match="^finished weights stand alone; bring nothing beside them.$"
    ):
        adopt(four_words(), {FINISHED: A, "X": X})


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (softmax(RNG.standard_normal((4, 4))), FINISHED),
        (softmax(RNG.standard_normal((12, 5, 5))).astype("f2"), FINISHED),
        (softmax(RNG.standard_normal((4, 6))).round(2), FINISHED),
        (np.eye(4), "X"),  # one-hot embeddings
        (RNG.standard_normal((4, 4)), "X"),
        (np.array([[0.2, 0.3], [0.5, 0.5]]), "X"),
        (np.array([[1.0], [1.0]]), "X"),
    ],
)
def test_weights_are_recognised_and_embeddings_are_not_taken_for_them(values, role):
    assert likely(ALONE, entry(values), four_words()) == role


def test_words_beside_printed_weights_are_the_tokens():
    found = texts.entries("cat,0.75,0.25\ndog,0.5,0.5\n", "it")[ALONE]
    s, _ = adopt(four_words(), {FINISHED: select(found, FINISHED, "it")})
    assert s.tokens == ("cat", "dog")
