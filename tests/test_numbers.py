"""Numbers as text: rounded as printed, and never a 0 that is not one."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.numbers import exact, number, numbers

PRINTED = [
    (0.0, 2, "0"),
    (-0.0, 2, "0"),
    (55.0, 2, "55"),
    (-3.0, 4, "−3"),
    (27.456, 2, "27.46"),
    (-0.5, 2, "−0.50"),
    (0.125, 2, "0.12"),
    (0.3, 0, "0"),
    (-0.3, 0, "0"),
    (2.5e6, 0, "2e6"),
    (1.7, 0, "2"),
    (3.059e-7, 2, "3.1e−7"),
    (-1.3887937e-11, 4, "−1.389e−11"),
    (999_999.0, 2, "999999"),
    (1e6, 2, "1.0e6"),
    (-1e9, 2, "−1.0e9"),
    (1.5e300, 3, "1.50e300"),
    (5e-324, 2, "4.9e−324"),
    (math.inf, 2, "∞"),
    (-math.inf, 2, "−∞"),
    (math.nan, 2, "NaN"),
]


@pytest.mark.parametrize(("value", "digits", "text"), PRINTED)
def test_a_number_is_printed_so(value, digits, text):
    assert number(value, digits) == text


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_numpy_scalars_print_like_their_python_values(kind):
    assert number(kind(0.1), 4) == "0.1000"


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 10))
def test_the_text_reads_back_to_the_digits_it_shows(value, digits):
    text = number(value, digits).replace("−", "-")
    assert (float(text) == 0) == (value == 0 if digits else abs(value) <= 0.5)
    if abs(value) < sys.float_info.max / 2:
        off = abs(float(text) - value)
        small = 0.5 * 10.0**-digits * (1 + 1e-9)
        relative = 0.5 * 10.0 ** -max(digits - 1, 0) * abs(value) * (1 + 1e-9)
        assert off <= max(small, relative, 5e-324)


MATRICES = {
    "all whole": ([55, 0, -3, -0.0], 2, "55 0 −3 0"),
    "one is not": ([55, 0.5, 0, -3], 2, "55.00 0.50 0.00 −3.00"),
    "tiny": ([1, 3.059e-7, 0, 0.006], 2, "1.00 3.1e−7 0.00 0.01"),
    "tiny among whole numbers": ([1, 3.059e-7, 0], 3, "1.000 3.06e−7 0.000"),
    "hidden": ([-np.inf, 1.25, np.inf, np.nan], 1, "−∞ 1.2 ∞ NaN"),
    "hidden among whole numbers": ([-np.inf, 1, 2], 2, "−∞ 1 2"),
    "large": ([1.5e9, 2, -999_999], 2, "1.5e9 2 −999999"),
    "large among others": ([1.5e9, 2, 0.25], 2, "1.5e9 2.00 0.25"),
    "no digits": ([0.4, -0.4, 1.7, 3, 1e-9, 2.5e6], 0, "0 0 2 3 0 2e6"),
    "none": ([], 2, ""),
}


@pytest.mark.parametrize("name", MATRICES)
def test_the_numbers_of_one_matrix_have_the_same_digits_after_the_point(name):
    values, digits, text = MATRICES[name]
    assert numbers(np.array(values, float), digits) == text.split()


@given(
    st.lists(st.floats(-1e7, 1e7) | st.integers(-9, 9), min_size=1, max_size=8), st.integers(1, 6)
)
def test_no_number_of_a_matrix_is_shown_as_0_that_is_not_one(values, digits):
    for value, text in zip(values, numbers(np.array(values, float), digits), strict=True):
        plain = text.replace("−", "-")
        assert (float(plain) == 0) == (value == 0)
        assert not plain.startswith("-0.") or value < 0
        assert abs(float(plain) - value) <= 0.5000001 * max(
            10.0**-digits, abs(value) * 10.0 ** (1 - digits)
        )


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_the_exact_text_reads_back_bit_for_bit(value):
    assert np.float64(float(exact(value))).tobytes() == np.float64(value).tobytes() or math.isnan(
        value
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (-0.0, "-0"), (0.1, "0.1"), (1e300, "1e+300"), (-math.inf, "-inf")],
)
def test_the_exact_text_is_the_shortest(value, text):
    assert exact(value) == text
