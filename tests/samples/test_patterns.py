"""Patterns do what their sentence says, by weights computed in float64 without the package."""

import math

import messages
import numpy as np
import pytest

from attention.samples.patterns import NEAR, PATTERNS, REPEATS, made


def weights(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """softmax(Q Kᵀ / √d_k) under a look-ahead mask, in float64, row by row."""
    rows = []
    for i, q in enumerate(Q.astype(float)):
        scores = np.array([q @ k for k in K[: i + 1].astype(float)]) / math.sqrt(len(q))
        grown = np.exp(scores - scores.max())
        rows.append(np.pad(grown / grown.sum(), (0, len(K) - i - 1)))
    return np.array(rows)


def test_a_local_head_stays_near():
    Q, K, _ = made("local", 600)
    w = weights(Q, K)[300:]
    near = np.abs(np.arange(300, 600)[:, None] - np.arange(600)) <= 2 * NEAR
    assert (w * near).sum(axis=1).min() > 0.85


def test_an_induction_head_finds_what_followed_its_word_before():
    n = 400
    Q, K, ids = made("induction", n, seed=3)
    period = n // REPEATS
    assert ids.tolist() == [k % period for k in range(n)]
    w = weights(Q, K)
    for query in range(period, n):
        before = [j for j in range(1, query + 1) if ids[j - 1] == ids[query]]
        assert w[query, before].sum() > 0.8
        assert all(ids[j] == (ids[query] + 1) % period for j in before)


@pytest.mark.parametrize("n", [300, 1200])
def test_a_sink_takes_most_of_every_query_however_many_there_are(n):
    Q, K, _ = made("sink", n)
    first = weights(Q, K)[n // 2 :, 0]
    assert first.min() > 0.5 and first.max() < 0.95


def test_random_keys_get_about_as_much():
    Q, K, _ = made("random", 500)
    assert weights(Q, K)[250:].max() < 0.25


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("d_k", [2, 7, 64])
def test_the_same_seed_gives_the_same_numbers_of_any_width(name, d_k):
    one, other, third = made(name, 33, d_k), made(name, 33, d_k), made(name, 33, d_k, seed=1)
    for a, b, shape in ((one.Q, other.Q, (33, d_k)), (one.K, other.K, (33, d_k))):
        np.testing.assert_array_equal(a, b)
        assert a.shape == shape and a.dtype == np.float32 and np.isfinite(a).all()
    assert not np.array_equal(one.Q, third.Q)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            ("swirl", 8),
            messages.UNKNOWN_PATTERN.format(name="'swirl'", known="random, local, induction, sink"),
        ),
        (("local", 0), messages.INTEGER_EXPECTED.format(name="tokens", given=0, least=1)),
        (("local", 8, 1), messages.INTEGER_EXPECTED.format(name="d_k", given=1, least=2)),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(given, sentence):
    with pytest.raises(ValueError) as refused:
        made(*given)
    assert str(refused.value) == sentence
