"""Numbers as text: rounded as printed, and never a 0 that is not one."""

import math
import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.vocabulary.numbers import cell_writer, exact, number, numbers, rounded

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
    (0.00049, 4, "4.900e−4"),
    (-0.00049, 4, "−4.900e−4"),
    (0.0049, 4, "0.0049"),
    (0.05, 4, "0.0500"),
    (9.9999e-4, 4, "0.0010"),
    (0.00099996, 4, "0.0010"),
    (0.00094999, 4, "9.500e−4"),
    (9.9999e-5, 4, "1.000e−4"),
    (3.0590217e-7, 8, "3.0590217e−7"),
    (3.0590217e-7, 10, "3.059021700e−7"),
    (0.99999, 4, "1.0000"),
    (999_999.5, 3, "999999.500"),
    (5e-324, 8, "4.9406565e−324"),
]


@pytest.mark.parametrize(("value", "digits", "text"), PRINTED)
def test_a_number_is_printed_so(value, digits, text):
    assert number(value, digits) == text


def expected(value, digits):
    """The rule, once more: with decimals that are exact, and no text of Python's formats."""
    exactly = Decimal(value)
    minus = "−" if exactly < 0 else ""
    size = abs(exactly)
    if size < 10**6 and (size == size.to_integral_value() or digits == 0):
        whole = int(size.to_integral_value(ROUND_HALF_EVEN))
        return f"{minus if whole else ''}{whole}"
    units = int(size.scaleb(digits).to_integral_value(ROUND_HALF_EVEN))  # of the last decimal
    enough = units >= 10 ** (max(digits // 2, 1) - 1)
    if size < 10**6 and enough:
        shown = str(units).rjust(digits + 1, "0")
        return f"{minus}{shown[:-digits]}.{shown[-digits:]}"
    power, places = size.adjusted(), max(digits, 1) - 1
    units = int(size.scaleb(places - power).to_integral_value(ROUND_HALF_EVEN))
    if units == 10 ** (places + 1):
        units, power = units // 10, power + 1
    first, rest = str(units)[:1], str(units)[1:]
    return f"{minus}{first}{'.' if rest else ''}{rest}e{str(power).replace('-', '−')}"


def before(value, digits):
    """What was printed until e-notation also came for few significant digits."""
    if abs(value) < 1e6 and (value == int(value) or digits == 0):
        return str(round(value)).replace("-", "−")
    text = f"{value:.{digits}f}"
    if abs(value) >= 1e6 or float(text) == 0:
        mantissa, power = f"{value:.{max(digits - 1, 0)}e}".split("e")
        text = f"{mantissa}e{int(power)}"
    return text.replace("-", "−")


MANTISSAS = (1, 1.25, 2.5, 3.0590217, 4.9, 5, 9.4999, 9.5, 9.9949, 9.9951, 9.9999, 9.99999999)
SIZES = [float(f"{m}e{k}") for m in MANTISSAS for k in range(-12, 13)]
RANDOM = np.random.default_rng(6)
SIZES += (10 ** RANDOM.uniform(-12, 12, 3000)).tolist()
SIZES += (10 ** RANDOM.uniform(-12, 12, 500)).astype(np.float32).astype(float).tolist()
SIZES += [0.0, 0.5, 0.125, 999_999.5, 1e6, 5e-324, 2.2e-308, 1.7e308]
VALUES = [sign * size for size in SIZES for sign in (1, -1)]


@pytest.mark.parametrize("digits", range(13))
def test_numbers_of_all_sizes_are_printed_by_the_rule(digits):
    with localcontext(Context(prec=1200)):
        wanted = [expected(value, digits) for value in VALUES]
    assert [number(value, digits) for value in VALUES] == wanted
    mixed = numbers(np.array([0.5, *VALUES]), digits)[1:]
    alone = [
        text
        if value != round(value) or abs(value) >= 1e6 or not digits or not value
        else f"{text}.{digits * '0'}"
        for value, text in zip(VALUES, wanted, strict=True)
    ]
    assert mixed == alone


@pytest.mark.parametrize("digits", range(4))
def test_up_to_three_digits_nothing_looks_different(digits):
    assert [number(value, digits) for value in VALUES] == [before(v, digits) for v in VALUES]


@pytest.mark.parametrize("digits", range(4, 13))
def test_only_few_significant_digits_look_different(digits):
    for value in VALUES:
        units = abs(Decimal(value)) * 10**digits
        few = value != round(value) and units < 10 ** (digits // 2 - 1)
        assert (number(value, digits) == before(value, digits)) or few


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
    "one is not": ([55, 0.5, 0, -3], 2, "55.00 0.50 0 −3.00"),
    "tiny": ([1, 3.059e-7, 0, 0.006], 2, "1.00 3.1e−7 0 0.01"),
    "tiny among whole numbers": ([1, 3.059e-7, 0], 3, "1.000 3.06e−7 0"),
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


CELLS = {
    "what rounds to 0 or 1": ([0.9975, 0.0025, 1, 0, 0.47], 2, "1.00 0.00 1 0 0.47"),
    "below 0": ([-0.004, -0.0, 0.25], 2, "0.00 0 0.25"),
    "few digits": ([0.00049, 0.25], 4, "0.0005 0.2500"),
    "none that is shown": ([0.0049, 0, -3e-7], 2, "4.9e−3 0 −3.0e−7"),
    "hidden": ([0.004, -np.inf, -1e9, 2], 2, "0.00 −∞ −1.0e9 2.00"),
    "all whole": ([1, 0, 1], 2, "1 0 1"),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_of_a_matrix_all_have_its_decimals_but_an_exact_0_or_1(name):
    values, digits, text = CELLS[name]
    assert rounded(np.array([values], float), digits, shares=True) == [text.split()]


def test_an_exact_1_that_is_no_share_has_the_decimals_of_the_others():
    assert rounded(np.array([[1, 0, 0.5]])) == [["1.00", "0", "0.50"]]


def test_some_cells_are_written_as_in_all_of_the_matrix():
    matrix = np.array([[0.004, 1.0], [0.25, 0.0]])
    write = cell_writer(matrix, shares=True)
    assert [write(row) for row in matrix] == rounded(matrix, shares=True)


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
