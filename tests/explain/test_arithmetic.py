"""The arithmetic shown for a cell is that cell's, and the walk ends where the matrices do."""

import math
import re
from dataclasses import replace

import messages
import numpy as np
import pytest
from amount import few
from build import view_of

from attention.explain.arithmetic import cell, dot, terms, vector, walk
from attention.explain.captions import describe
from attention.explain.view import View
from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.vocabulary.numbers import number

SENTENCE = EXAMPLES["sentence"].build()
CASES = {
    **{name: e.build() for name, e in EXAMPLES.items()},
    "head 1": replace(SENTENCE, head=1),
    "W_O": changes.set_output_weights(SENTENCE, True).with_matrix(
        "W_O", Matrix(np.random.default_rng(1).normal(size=(4, 3)))
    ),
    "hidden row": replace(EXAMPLES["four-words"].build(), mask="causal", padding=(0,)),
    "raw and masked": replace(EXAMPLES["bare-bones"].build(), mask="causal", padding=(0,)),
    "crossed": replace(
        changes.set_memory(EXAMPLES["three-widths"].build(), True), mask="causal_lower_right"
    ),
    "large": EXAMPLES["four-words"].build().with_matrix("X", Matrix(np.full((4, 4), -1e12))),
    "small": EXAMPLES["four-words"].build().with_matrix("X", Matrix(np.full((4, 4), 1e-300))),
    "item 9": replace(EXAMPLES["batch"].build(), item=9, context=True),
}


def places(matrix, most=40):
    """Every cell, or some of them in a matrix with many."""
    cells = list(np.ndindex(matrix.shape))
    return cells[:: max(1, len(cells) // most)]


def value_of(text: str) -> float:
    """What a printed number says; a rounded one says it only to its digits."""
    return float(text.strip("()").replace("−", "-").replace("∞", "inf"))


def last_number(line: str) -> str:
    return line.replace("=", " ").split()[-1]


@pytest.mark.parametrize("digits", [0, 2, 7])
@pytest.mark.parametrize("name", few(CASES))
def test_the_last_line_ends_in_the_number_of_the_cell(name, digits):
    now = view_of(CASES[name])
    for stage, matrix in now.stages.items():
        for i, j in places(matrix):
            lines = cell(now, stage, i, j, digits)
            assert last_number(lines[-1]) == number(matrix[i, j], digits), (stage, i, j, lines)


@pytest.mark.parametrize("name", [name for name in few(CASES) if name not in ("large", "small")])
@pytest.mark.parametrize("stage", ["Q", "K", "V", "scores", "output", "projected"])
def test_the_terms_multiply_up_and_add_up_to_the_cell(name, stage):
    now = view_of(CASES[name])
    for i, j in places(now.stages.get(stage, np.zeros((0, 0))), 12):
        lines = cell(now, stage, i, j, 10)
        if len(lines) < 4:
            assert lines[0].startswith(("an input: ", messages.EVERY_KEY_HIDDEN))
            continue
        if " more … " in lines[-3]:
            continue
        factors = re.findall(r"(\S+)·(\S+)", lines[-3])
        products = lines[-2].removeprefix("= ").split(" + ")
        bias = now.stages.get(f"b_{stage}")
        added = [] if bias is None else [bias[0, j]]
        assert [value_of(p) for p in products[len(factors) :]] == added
        products = products[: len(factors)]
        for (a, b), p in zip(factors, products, strict=True):
            assert value_of(a) * value_of(b) == pytest.approx(value_of(p), rel=1e-7, abs=1e-8)
        total = math.fsum(value_of(a) * value_of(b) for a, b in factors) + sum(added)
        assert total == pytest.approx(now.stages[stage][i, j], rel=1e-7, abs=1e-7)


def test_a_product_shows_the_row_and_the_column_it_comes_from():
    now = view_of(CASES["four-words"])
    assert cell(now, "Q", 0, 2) == [
        "row of X (the token) = [0, 1, 1, 2]",
        "column of W_Q (the dimension) = [0, 2, 2, 2]",
        "0·0 + 1·2 + 1·2 + 2·2",
        "= 0 + 2 + 2 + 4",
        "= 8",
    ]


def test_a_score_shows_both_vectors_the_products_and_the_sum():
    assert cell(view_of(CASES["four-words"]), "scores", 0, 0) == [
        "query = [1, 2, 8, 8]",
        "key = [3, 2, 2, 4]",
        "1·3 + 2·2 + 8·2 + 8·4",
        "= 3 + 4 + 16 + 32",
        "= 55",
    ]


def test_the_scale_is_shown_as_a_root_or_as_the_number_chosen():
    assert cell(view_of(CASES["four-words"]), "scaled", 0, 0) == ["55 / √4 = 55 / 2", "= 27.50"]
    s = replace(EXAMPLES["four-words"].build(), scale=0.25)
    assert cell(view(s, run(s)), "scaled", 0, 0) == ["55 × 0.25", "= 13.75"]
    assert cell(view(s, run(s)), "scaled", 0, 0, 0) == ["55 × 0.25", "= 14"]
    capped = view_of(replace(s, softcap=0.3))
    assert cell(capped, "capped", 0, 0, 0) == ["0.3 · tanh(14 / 0.3)", "= 0"]


def test_a_mask_hides_keeps_or_adds():
    now = view_of(CASES["random-qkv"])
    assert cell(now, "masked", 0, 1) == [messages.HIDDEN_FROM_QUERY, "1.12 becomes −∞"]
    assert cell(now, "masked", 1, 1) == [messages.SEEN_BY_QUERY, "1.75 stays 1.75"]
    assert cell(view_of(CASES["minus-1e9"]), "masked", 0, 1) == ["0.06 + (−1.0e9)", "= −1.0e9"]


def test_alibi_is_slope_times_distance_and_hides_nothing_by_itself():
    s = replace(EXAMPLES["four-words"].build(), alibi=True)
    now = view(s, run(s))
    assert now.allowed.all() and now.stages["mask"][2, 0] == -(2**-8) * 2
    assert cell(now, "mask", 2, 0, 4) == [
        "−slope × distance = −0.003906 × 2 = −0.0078",
        "M = −0.0078",
    ]
    assert describe(now, "mask") == {
        "formula": "−slope × distance",
        "sentence": messages.BIAS_FOR_EACH_SCORE,
    }
    assert describe(now, "masked")["sentence"] == messages.BIAS_IS_ADDED
    hidden = replace(s, mask="causal_lower_right")
    assert describe(view(hidden, run(hidden)), "masked")["sentence"] == messages.BIAS_HIDES


def test_alibi_beside_minus_1e9_says_what_hidden_keys_get():
    s = replace(EXAMPLES["four-words"].build(), fill="-1e9", mask="causal", alibi=True)
    now = view(s, run(s))
    assert cell(now, "mask", 0, 2) == [messages.HIDDEN_FROM_QUERY, "M = −1.0e9"]
    assert cell(now, "mask", 2, 0, 4)[0] == "−slope × distance = −0.003906 × 2 = −0.0078"
    said = {name: describe(now, name)["sentence"] for name in ("mask", "masked")}
    assert said == {
        "mask": messages.BIAS_AND_FILL,
        "masked": messages.BIAS_FILLS,
    }


def test_a_weight_shows_max_exp_sum_and_quotient():
    assert cell(view_of(CASES["softmax"]), "weights", 0, 1, 4) == [
        "max of the row = 2",
        "exp(2 − 2) = exp(0) = 1",
        "Σ of the row = 0.3679 + 1 + 0.3679 = 1.7358",
        "1 ÷ 1.7358",
        "= 0.5761",
    ]
    assert cell(view_of(CASES["softmax"]), "weights", 1, 1) == [
        messages.HIDDEN_KEY,
        messages.WEIGHT_IS_0,
    ]
    assert cell(view_of(CASES["hidden row"]), "weights", 0, 1) == [
        messages.EVERY_KEY_HIDDEN,
        messages.WEIGHT_IS_0,
    ]


def test_an_output_leaves_the_hidden_keys_out():
    assert cell(view_of(CASES["hidden row"]), "output", 1, 0) == [
        "weights = [1]",
        "values = [5]",
        "1·5",
        "= 5",
        "= 5",
    ]
    assert cell(view_of(CASES["hidden row"]), "output", 0, 0) == [
        messages.EVERY_KEY_HIDDEN,
        messages.OUTPUT_IS_0,
    ]


def test_a_joined_cell_says_which_head_it_is_copied_from():
    now = view_of(CASES["W_O"])
    said = [cell(now, "joined", 0, j)[0] for j in range(4)]
    assert said == [
        f"column {column} of head {head}, copied" for head in (0, 1) for column in (1, 2)
    ]


def test_an_input_is_an_input():
    assert cell(view_of(CASES["four-words"]), "W_Q", 1, 2) == ["an input: 2"]
    assert cell(view_of(CASES["lookup"]), "Q", 0, 0) == ["an input: 1"]


def test_negative_factors_stand_in_brackets():
    assert terms([1, -2], [-3.5, 4]) == "1·(−3.50) + (−2)·4"
    assert dot([1, -2], [-3, 4], -11) == ["1·(−3) + (−2)·4", "= (−3) + (−8)", "= −11"]
    assert vector([1, -2.5]) == "[1, −2.50]"


def test_sums_over_hundreds_of_terms_name_the_first_the_last_and_how_many_stand_between():
    n, d = 300, 512
    weights = np.full((1, n), 1 / n)
    stages = {"Q": np.ones((1, d)), "K": np.ones((n, d))}
    stages |= {"scores": stages["Q"] @ stages["K"].T, "V": np.arange(1.0, n + 1)[:, None]}
    stages |= {"masked": stages["scores"], "weights": weights}
    stages["output"] = weights @ stages["V"]
    long = View(stages, {}, np.ones((1, n), bool), 1.0)
    assert cell(long, "scores", 0, 1) == [
        "query = [1, 1, 1, 1, … 506 more …, 1, 1]",
        "key = [1, 1, 1, 1, … 506 more …, 1, 1]",
        "1·1 + 1·1 + 1·1 + 1·1 + … 506 more … + 1·1 + 1·1",
        "= 1 + 1 + 1 + 1 + … 506 more … + 1 + 1",
        "= 512",
    ]
    assert cell(long, "weights", 0, 0, 1) == [
        "max of the row = 512",
        "exp(512 − 512) = exp(0) = 1",
        "Σ of the row = 1 + 1 + 1 + 1 + … 294 more … + 1 + 1 = 300",
        "1 ÷ 300",
        "= 3e−3",
    ]
    assert cell(long, "output", 0, 0, 3)[1:] == [
        "values = [1, 2, 3, 4, … 294 more …, 299, 300]",
        "0.003·1 + 0.003·2 + 0.003·3 + 0.003·4 + … 294 more … + 0.003·299 + 0.003·300",
        "= 0.003 + 0.007 + 0.010 + 0.013 + … 294 more … + 0.997 + 1",
        "= 150.500",
    ]


# ---- the walk ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", few(CASES))
def test_the_walk_of_every_query_equals_the_matrix_form(name):
    now = view_of(CASES[name])
    for i in range(len(now.stages["Q"])):
        w = walk(now, i)
        assert w.query.tolist() == now.stages[now.source("Q")][i].tolist()
        for stage in ("scores", "scaled", "masked", "weights", "output"):
            row = now.stages[stage][i]
            reach = np.abs(row[np.isfinite(row)]).max(initial=1e-300)
            np.testing.assert_allclose(
                getattr(w, stage), row, rtol=1e-12, atol=1e-13 * max(reach, 1e-16), err_msg=stage
            )
        gaps = [
            np.abs(getattr(w, stage) - now.stages[stage][i]).max()
            for stage in ("weights", "output")
        ]
        assert w.difference == max(gaps)


def test_the_steps_of_a_walk_lead_into_each_other():
    now = view_of(CASES["random-qkv"])
    w = walk(now, 2)
    for j in range(4):
        assert w.products[j].tolist() == [
            q * k for q, k in zip(w.query, now.stages["K"][j], strict=True)
        ]
        assert w.scores[j] == pytest.approx(math.fsum(w.products[j]), rel=1e-14)
        assert w.scaled[j] == w.scores[j] * now.scale
    assert w.masked[3] == -math.inf
    assert w.highest == max(w.masked)
    assert w.exponentials.tolist() == pytest.approx(
        [math.exp(m - w.highest) for m in w.masked], rel=1e-15
    )
    assert w.total == pytest.approx(math.fsum(w.exponentials), rel=1e-15)
    assert w.weights.tolist() == [e / w.total for e in w.exponentials]
    np.testing.assert_array_equal(
        w.shares, [[x * v for v in row] for x, row in zip(w.weights, now.stages["V"], strict=True)]
    )
    np.testing.assert_allclose(w.output, [math.fsum(column) for column in w.shares.T], rtol=1e-14)


def test_a_walk_that_sees_no_key_ends_in_zeros():
    w = walk(view_of(CASES["hidden row"]), 0)
    assert (w.weights.tolist(), w.output.tolist(), w.total, w.difference) == (
        [0] * 4,
        [0] * 4,
        0,
        0,
    )
    assert math.isnan(w.highest)
