"""How inputs were written down, as their text or type shows it."""

import numpy as np
import pytest

from attention.frameworks import precision
from attention.frameworks.precision import Written, in_half, printed, shows

M = np.array([[0.1235, -1.0], [2.5, 0.0]])


@pytest.mark.parametrize(
    ("text", "values", "how"),
    [
        ("tensor([[ 0.1235, -1.0000],\n        [ 2.5000,  0.0000]])", M, "4 decimals"),
        ("Q = [[0.1235 -1.0000] [2.5000 0.0000]] # 4 of 8", M, "4 decimals"),
        ("cat 1 0.1235 -1.0000\ndog 2 2.5000 0.0000", M, "4 decimals"),
        ("0,1235;-1,0000\n2,5000;0,0000", M, "4 decimals"),
        ("1.235e-01 -1.000e+00\n2.500e+00 0.000e+00", M, "4 digits"),
        ("[[0.1235 −1.0000] [2.5000 0.0000]]", M, "4 decimals"),
        ("0.1235 -1. 2.5 0.", M, None),  # NumPy's, whose zeros are cut off
        ("0.12 -1.00 2.50 0.00", M.round(2), None),  # short
        ("1.0000 -2.0000", np.array([[1.0, -2.0]]), None),  # whole
        ("0.123 nan", np.array([[0.123, np.nan]]), "3 decimals"),
        ("nan", np.array([[np.nan]]), None),
        ("0.12345678901234567", np.array([[0.12345678901234567]]), None),  # in full
        ("0.125 0.500 beside 1 2", np.array([[1.0, 2.0]]), None),
    ],
)
def test_a_text_shows_to_how_many_decimals_its_numbers_were_rounded(text, values, how):
    found = printed(text, values)
    assert (found and str(found)) == how


def test_a_long_text_is_searched_once_for_its_numbers():
    text = "[" + "9" * 200_000 + ", 0.123 " + "1." * 50_000
    assert printed(text, np.array([[0.123]])) == Written(3)


@pytest.mark.parametrize("between", [" ", ", ", ","])
def test_a_text_with_numbers_in_full_is_not_parsed_again(between, monkeypatch):
    parsed = []
    monkeypatch.setattr(precision, "float", lambda t: parsed.append(t) or float(t), raising=False)
    values = np.random.default_rng(0).normal(size=(1, 500))
    assert printed(between.join(map(repr, values[0].tolist())), values) is None
    assert not parsed
    rounded = values.round(4)
    text = between.join(f"{value:.4f}" for value in rounded[0])
    assert str(printed(text, rounded)) == "4 decimals"
    assert len(parsed) <= 500


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lost", [np.nan, np.inf, -np.inf, 1e300])
def test_numbers_that_are_lost_or_huge_warn_of_nothing(lost):
    values = np.array([[0.1235, lost]])
    if not np.isfinite(lost):
        assert shows(values, 4) and not shows(values, 3)
        assert str(printed(f"0.1235 {lost}", values)) == "4 decimals"
        assert in_half(values, values.astype("f2")) == Written(half="float16")
        assert not shows(np.array([[lost, 1.0]]), 4)
    assert not shows(np.array([[lost, 0.12345]]), 4)
    assert printed("nan inf", np.array([[np.nan, np.inf]])) is None


def test_half_precision_rounds_what_is_not_whole():
    assert in_half(M, M.astype("f2")) == Written(half="float16")
    assert in_half(M, M.astype("f4")) is None
    assert in_half(np.rint(M), np.rint(M).astype("f2")) is None


@pytest.mark.parametrize(("decimals", "seen"), [(3, False), (4, True), (5, False)])
def test_numbers_show_as_many_decimals_as_none_of_them_exceeds(decimals, seen):
    assert shows(M, decimals) == seen
    assert not shows(np.rint(M), decimals)
    assert shows(M.astype("f4").astype("f8"), decimals) == seen
