"""Weight initialisers: seeded, inside their bounds, spread as they say."""

import math

import messages
import numpy as np
import pytest

from attention import initialise
from attention.samples.weights import INITIALISERS


@pytest.mark.parametrize("kind", INITIALISERS)
def test_the_same_seed_gives_the_same_numbers_and_another_one_others(kind):
    one, two, other = (initialise(kind, (5, 7), seed) for seed in (3, 3, 4))
    assert one.tobytes() == two.tobytes()
    assert (one.dtype, one.shape) == (np.float64, (5, 7))
    assert kind == "identity" or one.tobytes() != other.tobytes()


@pytest.mark.parametrize("kind", INITIALISERS)
def test_rolling_leaves_numpys_global_generator_alone(kind):
    before = np.random.get_state()[1].tobytes()
    initialise(kind, (3, 3), 0)
    assert np.random.get_state()[1].tobytes() == before


def test_identity_is_one_on_the_diagonal():
    assert initialise("identity", (2, 3), 0).tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0, 3, {0, 1, 2}), (-1, 1, {-1, 0}), (0.2, 2.5, {1, 2})]
)
def test_integers_are_whole_and_reach_every_number_of_their_range(low, high, expected):
    assert set(initialise("integers", (20, 20), 1, low, high).ravel()) == expected


def test_uniform_fills_its_range_and_stays_inside():
    W = initialise("uniform", (100, 100), 2, -2, 5)
    assert -2 <= W.min() < -1.99
    assert 4.99 < W.max() < 5
    assert W.mean() == pytest.approx(1.5, abs=0.1)


def test_normal_has_mean_0_and_variance_1():
    W = initialise("normal", (200, 200), 5)
    assert W.mean() == pytest.approx(0, abs=0.02)
    assert W.var() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("shape", [(30, 50), (50, 30), (100, 100)])
def test_xavier_stays_within_root_six_over_the_sum_of_both_sides(shape):
    W, limit = initialise("xavier", shape, 6), math.sqrt(6 / sum(shape))
    assert 0.95 * limit < np.abs(W).max() <= limit
    assert W.var() == pytest.approx(2 / sum(shape), rel=0.1)


REFUSALS = [
    (
        ("gauss", (2, 2), 0),
        messages.UNKNOWN_INITIALISER.format(name="'gauss'", known=", ".join(INITIALISERS)),
    ),
    (
        ("uniform", (2, 2), 0, 3, 3),
        messages.EMPTY_RANGE.format(low=3, high=3),
    ),
    (
        ("integers", (2, 2), 0, 3, 1),
        messages.EMPTY_RANGE.format(low=3, high=1),
    ),
    (
        ("integers", (2, 2), 0, 0.2, 0.8),
        messages.EMPTY_RANGE.format(low="0.2", high="0.8"),
    ),
    (
        ("integers", (2, 2), 0, math.nan, 3),
        messages.EMPTY_RANGE.format(low="nan", high=3),
    ),
    (
        ("uniform", (2, 2), 0, 0, math.inf),
        messages.EMPTY_RANGE.format(low=0, high="inf"),
    ),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSALS)
def test_a_kind_or_range_that_is_none_is_refused(arguments, message):
    with pytest.raises(ValueError) as refused:
        initialise(*arguments)
    assert str(refused.value) == message
