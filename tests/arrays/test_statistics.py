"""Variance, entropy and largest weight against sums in plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.arrays.statistics import entropy, largest, variance

inf, nan = math.inf, math.nan


def population_variance(values) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((v - mean) ** 2 for v in values) / len(values)


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.booleans()), min_size=1, max_size=12))
def test_variance_is_the_population_variance_of_the_visible_cells(cells):
    values, visible = zip(*cells, strict=True)
    seen = [v for v, s in cells if s]
    found = variance([values], [visible])
    assert (math.isnan(found) and not seen) or found == pytest.approx(
        population_variance(seen), rel=1e-9, abs=1e-9
    )


def test_variance_leaves_out_what_is_not_finite():
    assert variance([[1.0, 3.0, -inf], [nan, inf, 5.0]]) == pytest.approx(8 / 3, rel=1e-15)


def test_variance_takes_visible_cells_of_every_head():
    stage = np.array([[[1.0, 9.0]], [[5.0, 7.0]]])
    assert variance(stage, np.array([[True, False]])) == 4  # of 1 and 5


@pytest.mark.parametrize("hidden", [[[True]], [[]]])
def test_variance_of_nothing_is_nan_without_a_warning(hidden):
    assert math.isnan(variance(np.where(hidden, -inf, 0)))


def test_variance_of_one_cell_is_zero():
    assert variance([[7.0]]) == 0


def test_variance_of_float16_is_taken_wider():
    assert variance(np.array([[300.0, -300.0]], "f2")) == 90_000


def test_variance_of_integers_does_not_wrap():
    assert variance(np.array([[127, -128]], "i1")) == 127.5**2


def test_entropy_is_zero_for_one_key_and_the_logarithm_for_all_alike():
    assert entropy([[0, 1, 0]]).tolist() == [0]
    assert entropy([[0.25] * 4])[0] == pytest.approx(math.log(4), rel=1e-15)
    assert math.copysign(1, entropy([[1.0]])[0]) == 1


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=6))
def test_entropy_is_minus_the_sum_of_w_log_w(parts):
    weights = [p / math.fsum(parts) for p in parts]
    assert entropy([weights])[0] == pytest.approx(
        -math.fsum(w * math.log(w) for w in weights), abs=1e-12
    )


def test_a_hidden_row_has_entropy_zero_and_largest_weight_zero():
    assert entropy(np.zeros((2, 3))).tolist() == [0, 0]
    assert largest(np.zeros((2, 3)), np.zeros((2, 3), bool)).tolist() == [0, 0]


def test_the_largest_weight_is_the_largest_of_its_row():
    assert largest([[[0.2, 0.8], [0.6, 0.4]]]).tolist() == [[0.8, 0.6]]


def test_the_largest_weight_may_be_negative_when_softmax_is_off():
    assert largest([[-3.0, -2.0]]).tolist() == [-2]
    assert largest([[-3.0, 0.0]], [[True, False]]).tolist() == [-3]


def test_rows_without_keys_have_no_largest_weight():
    assert largest(np.ones((2, 0))).tolist() == [0, 0]
