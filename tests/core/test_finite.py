"""A trace says where its numbers stop being finite, and why; what is hidden does not count."""

import math
import re

import messages
import numpy as np
import pytest

from attention import causal, multi_head_attention, scaled_dot_product_attention, self_attention

nan, inf = math.nan, math.inf
ENDS = {"kind": "float32", "end": "3.4e+38"}


def ones(*shape, dtype="f4"):
    return np.ones(shape, dtype)


def at(place, value, shape=(3, 2)):
    M = ones(*shape)
    M[place] = value
    return M


CASES = {
    "a NaN in a query": (
        {"Q": at((1, 0), nan)},
        "Query 1",
        messages.Q_NOT_FINITE,
    ),
    "a NaN in a key": (
        {"K": at((1, 0), nan), "allowed": causal(3, 3)},
        "Queries 1 and 2",
        messages.K_NOT_FINITE,
    ),
    "an infinity in a value": (
        {"V": at((2, 0), inf), "allowed": causal(3, 3)},
        "Query 2",
        messages.V_NOT_FINITE,
    ),
    "large scores": (
        {"Q": at(0, 1e30), "K": 1e30 * ones(3, 2)},
        "Query 0",
        messages.SCORES_TOO_LARGE.format(**ENDS),
    ),
    "large scores below 0, whose weights are 0": (
        {"Q": at(0, 1e30), "K": at(1, -1e30)},
        "Query 0",
        messages.SCORES_TOO_LARGE.format(**ENDS),
    ),
    "large scores under a cap": (
        {"Q": at(0, 1e30), "K": 1e30 * ones(3, 2), "softcap": 5},
        "Query 0",
        messages.SCORES_TOO_LARGE.format(**ENDS),
    ),
    "a large scale": (
        {"Q": at(0, 1e30), "scale": 1e30},
        "Query 0",
        messages.SCALE_TOO_LARGE.format(**ENDS),
    ),
    "a bias of infinity": (
        {"bias": at((2, 0), inf, (3, 3))},
        "Query 2",
        messages.BIAS_NOT_FINITE.format(**ENDS),
    ),
    "large values": (
        {"V": 3e38 * ones(3, 2), "softmax": False},
        "Queries 0, 1 and 2",
        messages.OUTPUT_NOT_FINITE.format(**ENDS),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_warning_names_the_queries_and_the_first_cause(case):
    given, queries, reason = CASES[case]
    sentence = messages.MET_BY_QUERIES.format(queries=queries, reason=reason)
    plain = {"Q": ones(3, 2), "K": ones(3, 2), "V": ones(3, 2)}
    assert scaled_dot_product_attention(**plain | given).warnings == (sentence,)


QUIET = {
    "finite numbers": {},
    "a hidden key of NaN": {"K": at(2, nan), "allowed": [True, True, False]},
    "a hidden value of infinity": {"V": at(2, inf), "allowed": [True, True, False]},
    "a hidden score beyond float32": {
        "Q": 1e30 * ones(3, 2),
        "K": at(2, 1e30),
        "allowed": [True, True, False],
    },
    "a query of NaN that sees nothing": {"Q": at(1, nan), "allowed": [[True], [False], [True]]},
    "a bias of −∞": {"bias": [[-inf, 0, 0]] * 3},
    "nothing at all": {"Q": ones(0, 2), "K": ones(0, 2), "V": ones(0, 2)},
    "no columns of values": {"V": ones(3, 0)},
}


@pytest.mark.parametrize("case", QUIET)
def test_where_all_that_is_visible_is_finite_nothing_is_said(case):
    plain = {"Q": ones(3, 2), "K": ones(3, 2), "V": ones(3, 2)}
    assert scaled_dot_product_attention(**plain | QUIET[case]).warnings == ()


def no_numbers_in_q(queries: str) -> str:
    return messages.MET_BY_QUERIES.format(queries=queries, reason=messages.Q_NOT_FINITE)


def test_item_and_head_are_named_as_far_as_there_are_such_axes():
    Q = ones(2, 3, 4)
    Q[1, 2, 3] = nan  # the second head's column
    of = multi_head_attention(Q, ones(2, 3, 4), ones(2, 3, 4), heads=2)
    assert of.warnings == (no_numbers_in_q("Item 1, head 1, query 2"),)
    assert multi_head_attention(*[Q] * 3).warnings[0] == no_numbers_in_q("Item 1, query 2")
    of = multi_head_attention(*[Q[1]] * 3, heads=2)
    assert of.warnings[0] == no_numbers_in_q("Head 1, query 2")
    four = np.stack([Q, Q])  # items, heads, tokens, features
    of = scaled_dot_product_attention(*[four] * 3)
    assert of.warnings[0] == no_numbers_in_q("Item 0, head 1, query 2")


def test_one_sentence_and_all_of_them_are_bounded():
    Q = np.full((30, 40, 2), nan)
    first, *_, last = warnings = scaled_dot_product_attention(Q, Q, Q).warnings
    assert first == no_numbers_in_q("Item 0, queries 0, 1, 2, 3, 4 and 35 more")
    assert last == messages.WARNINGS_LEFT_OUT.format(left=22)
    assert len(warnings) == 9


def test_weights_behind_the_heads_are_named_where_they_spoil_the_numbers():
    W_O = np.eye(2)
    W_O[0, 0] = inf
    found = self_attention(
        [[1, 0], [0, 1]], *[np.eye(2)] * 3, W_O=W_O, allowed=causal(2, 2)
    ).warnings
    assert found == (
        messages.MET_BY_QUERIES.format(
            queries="Queries 0 and 1",
            reason=messages.W_O_NOT_FINITE.format(kind="float64", end="1.8e+308"),
        ),
    )


def test_what_each_query_is_told_equals_a_search_cell_by_cell():
    rng = np.random.default_rng(0)
    before, between, after = map(re.escape, re.split(r"\{\w+\}", messages.MET_BY_QUERIES))
    about = re.compile(f"{before}(.+){between}.+{after}")
    for _ in range(40):
        Q, K, V = (
            rng.choice([1.0, 2.0, 1e200, nan, -inf], (2, 4, 2), p=[0.5, 0.35, 0.05, 0.05, 0.05])
            for _ in range(3)
        )
        see = rng.random((4, 4)) > 0.5
        trace = scaled_dot_product_attention(Q, K, V, allowed=see)
        told = set()
        for sentence in trace.warnings:
            place, _, rest = about.fullmatch(sentence)[1].removeprefix("Item ").partition(", ")
            names = rest.removeprefix("queries ").removeprefix("query ")
            told |= {(int(place), int(i)) for i in names.replace(" and ", ", ").split(", ")}
        expected = set()
        for b, i in np.ndindex(2, 4):
            keys = [j for j in range(4) if see[i, j]]
            met = [*trace.scores[b, i, keys], *V[b, keys].ravel(), *trace.output[b, i]]
            met += [*Q[b, i], *K[b, keys].ravel()] if keys else []
            if not all(map(math.isfinite, met)):
                expected.add((b, i))
        assert told == expected
