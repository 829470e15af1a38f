"""Exercises: what is right is decided once more with fractions and decimals, over many seeds."""

import math
from dataclasses import replace
from decimal import Decimal, getcontext
from fractions import Fraction
from hashlib import blake2b
from random import Random

import messages
import numpy as np
import pytest

from attention.limits import MAX_BLANKS, MAX_EXERCISE, BadInput
from attention.session.edit.changes import set_mask, set_tokens
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.settings import KINDS
from attention.session.state.validate import check
from attention.session.teach.answers import as_printed, is_right, read_answer
from attention.session.teach.by_hand import DIGITS, made, next_seed, powers
from attention.session.teach.exercise import (
    ENOUGH,
    Cell,
    Exercise,
    answers_kept,
    asked_how,
    at_level,
    begun_anew,
    blanks_of,
    faded,
    levels,
    numbers_of,
    shut_of,
    suits,
    turned,
    typed,
)
from attention.vocabulary.numbers import number
from attention.vocabulary.stages import STAGES

getcontext().prec = 40
CAT = EXAMPLES["cat-sat"].build()
STATE = replace(CAT, exercise="state")
SEEDS = range(1, 41)
HALF = Decimal("0.005")


def on(seed, level=1, row=None):
    shown = view(made(seed), run(made(seed)))
    return replace(CAT, exercise_seed=seed, asked=faded(shown, level, row))


# ---- an oracle: plain loops over fractions, and e by Decimal -------------------------------------


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def whole(matrix):
    assert all(x == int(x) for row in matrix.tolist() for x in row)
    return [[Fraction(int(x)) for x in row] for row in matrix.tolist()]


def product(A, B):
    return [
        [sum(a * b[j] for a, b in zip(row, B, strict=True)) for j in range(len(B[0]))] for row in A
    ]


def softmax(row):
    grown = [decimal(x).exp() if x is not None else Decimal(0) for x in row]
    return [g / sum(grown) for g in grown]


def attention_of(seed):
    """Every stage of an exercise by hand; None is −∞."""
    m = {name: whole(matrix.values) for name, matrix in made(seed).matrices.items()}
    Q, K, V = (product(m["X"], m[f"W_{name}"]) for name in "QKV")
    scores = product(Q, [list(column) for column in zip(*K, strict=True)])
    scaled = [[x / 2 for x in row] for row in scores]
    masked = [[x if j <= i else None for j, x in enumerate(row)] for i, row in enumerate(scaled)]
    weights = [softmax(row) for row in masked]
    printed = [[round(w, 2) for w in row] for row in weights]
    values = [[decimal(v) for v in row] for row in V]
    return m | {
        "Q": Q,
        "K": K,
        "V": V,
        "scores": scores,
        "scaled": scaled,
        "masked": masked,
        "weights": weights,
        "output": product(weights, values),
        "output by hand": product(printed, values),
    }


def as_decimal(x):
    return Decimal("-Infinity") if x is None else decimal(x) if isinstance(x, Fraction) else x


def guesses(value, random):
    """Answers near a number: to its digits, between them, and beyond."""
    if value.is_infinite():
        return ["-inf", "−∞", "0", "-1000000", "inf"]
    steps = [random.randrange(-30, 31) for _ in range(6)]
    return [str(value.quantize(Decimal("0.0001")) + step * Decimal("0.001")) for step in steps]


def test_every_answer_is_judged_as_fractions_and_decimals_judge_it():
    judged, right = 0, 0
    for seed in SEEDS:
        expected, random = attention_of(seed), Random(seed)
        exercise = Exercise.of(on(seed, 6))
        for cell in exercise.blanks:
            true = as_decimal(expected[cell.stage][cell.row][cell.column])
            by_hand = (
                expected["output by hand"][cell.row][cell.column]
                if cell.stage == "output"
                else true
            )
            for text in guesses(true, random):
                given = Decimal(text.replace("−", "-").replace("∞", "Infinity"))
                near = (
                    given == true
                    or not true.is_infinite()
                    and min(abs(given - true), abs(given - by_hand)) <= HALF + Decimal("1e-9")
                )
                assert exercise.accepts(cell, text) == near, (seed, cell, text, true)
                judged, right = judged + 1, right + near
    assert judged > 10_000 and judged / 6 < right < judged


@pytest.mark.parametrize(("name", "digits"), [("cat-sat", 2), ("four-words", 1), ("sentence", 3)])
def test_on_any_state_what_stands_on_the_board_is_right_and_what_is_a_digit_beside_it_wrong(
    name, digits
):
    s = replace(EXAMPLES[name].build(), exercise="state", digits=digits)
    shown = view(s, run(s))
    exercise = Exercise.of(replace(s, asked=faded(shown, 6)))
    assert len(exercise.blanks) > 30
    for cell in exercise.blanks:
        value = shown.stages[cell.stage][cell[1:]]
        assert exercise.accepts(cell, number(value, digits))
        if np.isfinite(value) and cell.stage not in ("output", "weights"):
            beside = value + math.copysign(1.6 * 10.0**-digits, value)
            printed = 10.0**-digits * 40  # of scores, made of rounded queries and keys
            assert not exercise.accepts(cell, f"{beside + math.copysign(printed, value):.6f}")


def test_what_follows_from_the_rounded_numbers_on_the_board_is_right_too():
    shown = view(CAT, run(CAT))
    exercise = Exercise.of(STATE)
    assert {cell.stage for cell in exercise.blanks} == {"output"}
    apart = 0
    for cell in exercise.blanks:
        weights = [round(Fraction(w), 2) for w in shown.stages["weights"][cell.row]]
        values = [Fraction(v) for v in shown.stages["V"][:, cell.column]]
        by_hand = sum(w * v for w, v in zip(weights, values, strict=True))
        exact = shown.stages["output"][cell[1:]]
        apart = max(apart, abs(float(by_hand) - exact))
        assert exercise.accepts(cell, f"{float(by_hand):.2f}")
        assert exercise.accepts(cell, f"{exact:.2f}")
        assert not exercise.accepts(cell, f"{exact + 0.1:.2f}")
        now = Exercise.of(typed(STATE, cell, f"{float(by_hand):.2f}"))
        assert now.is_rounded(cell) == (abs(round(float(by_hand), 2) - exact) > 0.005 + 1e-9)
    assert apart > 0.005  # so the two differ as they are printed


# ---- reading answers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3), ("+3", 3), ("-0.5", Fraction(-1, 2)), ("−0,5", Fraction(-1, 2)),
        ("– 0.5", Fraction(-1, 2)), ("—.5", Fraction(-1, 2)), ("－５", -5), ("٣", 3),
        ("1/3", Fraction(1, 3)), ("-1 / 3", Fraction(-1, 3)), ("1⁄3", Fraction(1, 3)),
        ("1/-3", Fraction(-1, 3)), ("½", Fraction(1, 2)), ("−¾", Fraction(-3, 4)),
        ("50 %", Fraction(1, 2)), ("12,5%", Fraction(1, 8)), ("1/3 %", Fraction(1, 300)),
        ("1.5e2", 150), ("2e-3", Fraction(1, 500)), ("3.", 3), ("\u00a07\u202f", 7),
        ("−∞", -math.inf), ("-inf", -math.inf), ("- ∞", -math.inf), ("–Infinity", -math.inf),
        ("∞", math.inf),
    ],
)  # fmt: skip
def test_an_answer_is_read_as_people_write_it(text, value):
    assert read_answer(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "abc", "1.2.3", "1,234.5", "1 2", "1 1/2", "1½", "1/0", "1//2", "--1", "10²", "0x10",
     "1_0", "nan", "e", "1e9999", "5%%", "√2", "1" * 41, "3~4"],
)  # fmt: skip
def test_what_is_no_number_is_refused_with_a_sentence(text):
    shown = text if len(text) <= 40 else text[:39] + "…"
    with pytest.raises(BadInput) as refused:
        read_answer(text)
    assert str(refused.value) == messages.NOT_AN_ANSWER.format(text=shown)


def test_both_neighbours_of_a_tie_are_right_and_nothing_further_away():
    for value, digits in ((0.125, 2), (2.5, 0), (-0.375, 2), (1.5, 0), (0.5, 0)):
        exact, step = Fraction(value), Fraction(1, 10**digits)
        for k in (-1, 1):
            tie = exact + k * step / 2
            assert is_right(tie, value, digits)
            assert not is_right(tie + k * step / 100, value, digits)
    assert is_right(read_answer("1.2e9"), 1.234e9, 2) and not is_right(Fraction(10**9), 1.234e9, 2)
    assert is_right(Fraction(0), 3e-7, 2)
    assert is_right(-math.inf, -math.inf, 2) and not is_right(Fraction(0), -math.inf, 2)
    assert not is_right(-math.inf, 0.0, 2)


def test_what_is_printed_is_read_again():
    for value in (0.126, -12.0, 1.5e9, 3e-7, -math.inf, 0.0):
        text = number(value, 2)
        assert (
            read_answer(text) == Fraction(str(as_printed(value, 2)))
            if math.isfinite(value)
            else as_printed(value, 2) == value
        )


# ---- what the seeds promise ----------------------------------------------------------------------


def test_an_exercise_made_by_its_number_can_be_done_by_hand():
    for seed in range(1, 101):
        s, found = made(seed), attention_of(seed)
        shown = view(s, run(s))
        for name, most in (
            ("X", 2),
            ("W_Q", 1),
            ("W_K", 1),
            ("W_V", 2),
            ("Q", 3),
            ("K", 3),
            ("V", 4),
            ("scores", 8),
        ):
            assert all(x.denominator == 1 and abs(x) <= most for row in found[name] for x in row)
        assert s.d_k == 4 and len(s.tokens) == 3 and s.query == 2 and s.digits == DIGITS
        assert len(set(s.tokens)) == 3 and check(s) == s
        for i, row in enumerate(found["masked"]):
            seen = [x for x in row if x is not None]
            assert len(seen) == i + 1 and max(seen) - min(seen) <= 4
            # the powers of e, to two digits, give the weights that are printed, which add up to 1
            for less in (0, max(seen)):  # as the arithmetic of a weight does
                given = [Decimal(*powers([float(x - less)]).values()) for x in seen]
                for weight, e in zip(found["weights"][i], given, strict=False):
                    assert round(e / sum(given), 2) == round(weight, 2)
            assert sum(round(w, 2) for w in found["weights"][i]) == 1
            for a, b in zip(found["output"][i], found["output by hand"][i], strict=True):
                assert round(a, 2) == round(b, 2)
        for name in ("Q", "K", "V", "scores", "scaled", "weights", "output"):
            expected = [[float(x) for x in row] for row in found[name]]
            np.testing.assert_allclose(shown.stages[name], expected, atol=1e-12)


def test_numbers_are_the_same_for_one_seed_and_others_for_every_other():
    again = made.__wrapped__(7)
    assert again.matrices == made(7).matrices and again.tokens == made(7).tokens
    digest, all_of_them = blake2b(digest_size=8), set()
    for seed in range(1, 101):
        held = [M.values.tobytes() for _, M in sorted(made(seed).matrices.items())]
        digest.update(" ".join(made(seed).tokens).encode() + b"".join(held))
        all_of_them.add(tuple(held))
    assert len(all_of_them) == 100
    assert digest.hexdigest() == "3b4f5d6a9200f87b"  # links have the seed alone
    assert next_seed(1) == 2 and next_seed(MAX_EXERCISE) == 1


# ---- blanks and what they shut -------------------------------------------------------------------


def test_levels_fade_from_the_output_backwards():
    shown = view(made(1), run(made(1)))
    assert levels(shown) == (
        ("output",),
        ("weights",),
        ("masked",),
        ("scaled",),
        ("scores",),
        ("Q", "K", "V"),
    )
    assert faded(shown, 3) == ("masked", "weights", "output")
    assert faded(shown, 6, 2) == (
        "Q.2",
        "K",
        "V",
        "scores.2",
        "scaled.2",
        "masked.2",
        "weights.2",
        "output.2",
    )
    plain = view(CAT, run(CAT))
    assert ("masked",) not in levels(plain)  # nothing is masked: it is a copy
    typed_qkv = next(e for e in (x.build() for x in EXAMPLES.values()) if e.typed_qkv)
    given = view(typed_qkv, run(typed_qkv))
    assert ("Q", "K", "V") not in levels(given)


def test_places_are_stages_rows_and_cells_and_others_ask_for_nothing():
    shown = view(made(1), run(made(1)))
    assert blanks_of(shown, ["weights.2.0", "scores.1"]) == (
        ("scores", 1, 0),
        ("scores", 1, 1),
        ("scores", 1, 2),
        ("weights", 2, 0),
    )
    for nothing in (
        "X",
        "W_Q",
        "mask",
        "nothing",
        "",
        "weights.9",
        "weights.-1",
        "weights.x",
        "weights.0.9",
        "context",
    ):
        assert blanks_of(shown, [nothing]) == ()
    assert len(blanks_of(shown, faded(shown, 6))) == 3 * 4 * 2 + 3 * 2 * 2 + 3 * 3 * 4


def follows(shown, blank):
    """What is made of these cells, found cell by cell in plain loops, the cells themselves too."""
    n_q, n_k = shown.stages["scores"].shape
    shut = {name: np.zeros(M.shape, bool) for name, M in shown.stages.items()}
    for stage, i, j in blank:
        shut[stage][i, j] = True
    for i in range(n_q):
        for j in range(n_k):
            for d in range(shown.stages["Q"].shape[1]):
                shut["scores"][i, j] |= shut["Q"][i, d] | shut["K"][j, d]
            shut["scaled"][i, j] |= shut["scores"][i, j]
            if shown.allowed[i, j]:
                shut["masked"][i, j] |= shut["scaled"][i, j]
        for j in range(n_k):
            for k in range(n_k):
                shut["weights"][i, j] |= shut["masked"][i, k]
        for c in range(shown.stages["V"].shape[1]):
            for k in range(n_k):
                shut["output"][i, c] |= shut["weights"][i, k] | shut["V"][k, c]
    return shut


def test_what_is_made_of_a_blank_is_shut_until_it_is_answered_and_nothing_else_is():
    random = Random(1)
    names = ("Q", "K", "V", "scores", "scaled", "masked", "weights", "output")
    for seed in SEEDS:
        s = made(seed)
        shown = view(s, run(s))
        every = [Cell(n, i, j) for n in names for i, j in np.ndindex(shown.stages[n].shape)]
        blank = random.sample(every, random.randrange(1, 5))
        expected = follows(shown, blank)
        found = shut_of(shown, blank, ())
        for name in names:
            assert np.array_equal(found[name], expected[name]), (seed, blank, name)
        places = tuple(".".join(map(str, cell)) for cell in blank)
        exercise = Exercise.of(replace(CAT, exercise_seed=seed, asked=places))
        assert set(exercise.blanks) == set(blank)
        for name, where in expected.items():
            assert np.array_equal(np.isnan(exercise.seen.stages[name]), where)
            kept = shown.stages[name][~where]
            assert np.array_equal(exercise.seen.stages[name][~where], kept)


def solve(s, cells=None):
    exercise = Exercise.of(s)
    for cell in exercise.blanks if cells is None else cells:
        s = typed(s, cell, number(exercise.shown.stages[cell.stage][cell[1:]], 2))
    return s


@pytest.mark.parametrize("level", range(1, 7))
@pytest.mark.parametrize("row", [None, 2])
def test_every_level_is_done_when_all_is_right_and_opens_as_it_goes(level, row):
    s = on(level, level, row)
    exercise = Exercise.of(s)
    total, shut = len(exercise.blanks), sum(where.sum() for where in exercise.shut.values())
    assert 0 < total <= MAX_BLANKS and exercise.done == 0 and len(exercise.open) == total
    for k, cell in enumerate(exercise.blanks, 1):
        s = solve(s, [cell])
        now = Exercise.of(s)
        assert now.done == k and cell not in now.open
        assert not np.isnan(now.seen.stages[cell.stage][cell[1:]])
        now_shut = sum(where.sum() for where in now.shut.values())
        assert now_shut < shut
        shut = now_shut
    assert not shut and not Exercise.of(s).open
    # and all of it is in the link
    assert links.read(links.write(s))[0] == s
    assert links.address(s)[1]


def test_a_wrong_answer_stays_is_counted_and_says_which_step_to_look_at():
    s = on(8, 4, 2)
    cell = Cell("scaled", 2, 0)
    exercise = Exercise.of(s)
    assert exercise.wrong_tries(cell) == 0 and not exercise.shows_how(cell)
    score = exercise.shown.stages["scores"][2, 0]
    s = typed(s, cell, "99")
    exercise = Exercise.of(s)
    assert cell in exercise.open and exercise.wrong_tries(cell) == 1
    assert exercise.texts("scaled")[2, 0] == "99 ✗"
    look = messages.LOOK_AT.format(stage="scaled", step=messages.STEP_OF_SCALED.format(root=2))
    assert exercise.hint(cell) == look
    assert not exercise.shows_how(cell)
    assert Exercise.of(typed(s, cell, "1234567/89")).texts("scaled")[2, 0] == "123456… ✗"
    s = typed(s, cell, "99")  # the same once more is no other try
    assert Exercise.of(s).wrong_tries(cell) == 1
    s = typed(s, cell, number(score))
    exercise = Exercise.of(s)
    assert exercise.hint(cell) == messages.SCORE_ITSELF
    assert exercise.wrong_tries(cell) == ENOUGH and exercise.shows_how(cell)
    value = exercise.shown.stages["scaled"][2, 0]
    assert exercise.how(cell)[-1] == f"= {number(value)}"
    # the rest waits
    assert np.isnan(exercise.seen.stages["scaled"][2, 1])
    s = typed(s, cell, number(value))
    exercise = Exercise.of(s)
    assert cell not in exercise.open and exercise.wrong_tries(cell) == ENOUGH
    assert typed(s, cell, "5") == s  # what is right stays


def test_the_arithmetic_comes_when_asked_for_and_not_before_what_it_is_made_of_is_there():
    s = on(2, 2, 2)
    weight, output = Cell("weights", 2, 0), Cell("output", 2, 0)
    exercise = Exercise.of(asked_how(asked_how(s, weight), output))
    assert exercise.shows_how(weight) and exercise.how(weight)
    assert exercise.shows_how(output) and exercise.how(output) == []
    assert exercise.waits_for(output) == "weights" and exercise.waits_for(weight) is None
    assert exercise.hint(output) == messages.LOOK_FIRST.format(name="weights")
    done = Exercise.of(solve(s, [cell for cell in exercise.blanks if cell.stage == "weights"]))
    assert done.how(output) and done.waits_for(output) is None


def test_each_stage_has_a_step_to_look_at_and_slips_are_named():
    exercise = Exercise.of(on(1, 6))
    a, b, c = exercise.settings.tokens
    said = {
        Cell("Q", 2, 1): messages.STEP_OF_PROJECTION.format(
            row=c, rows="X", column=2, weight="W_Q"
        ),
        Cell("K", 1, 0): messages.STEP_OF_PROJECTION.format(
            row=b, rows="X", column=1, weight="W_K"
        ),
    }
    for cell, step in said.items():
        assert exercise.hint(cell) == messages.LOOK_AT.format(stage=cell.stage, step=step)
    s = on(1, 5)
    sentence = Exercise.of(s).hint(Cell("scores", 2, 0))
    step = messages.STEP_OF_SCORES.format(query=c, key=a)
    assert sentence == messages.LOOK_AT.format(stage="scores", step=step)
    assert Exercise.of(on(1, 3)).hint(Cell("masked", 0, 1)) == (
        messages.LOOK_AT.format(stage="masked", step=messages.STEP_OF_MASKED)
    )
    assert Exercise.of(on(1, 2)).hint(Cell("weights", 0, 1)) == (
        messages.LOOK_AT.format(stage="weights", step=messages.STEP_OF_WEIGHTS)
    )
    step = messages.STEP_OF_OUTPUT.format(column=2)
    assert Exercise.of(on(1)).hint(Cell("output", 2, 1)) == (
        messages.LOOK_AT.format(stage="output", step=step)
    )
    value = Exercise.of(on(1)).shown.stages["output"][2, 0]
    turned = Exercise.of(typed(on(1), Cell("output", 2, 0), f"{-value:.2f}"))
    assert turned.hint(Cell("output", 2, 0)) == messages.SIGN_IS_WRONG
    near = Exercise.of(typed(on(1), Cell("output", 2, 0), f"{value + 0.02:.2f}"))
    assert near.hint(Cell("output", 2, 0)) == messages.NEARLY_RIGHT


def test_the_powers_of_e_are_given_for_weights_once_the_masked_scores_are_there():
    s = on(4, 2, 2)
    masked = Exercise.of(s).shown.stages["masked"][2].tolist()
    assert Exercise.of(s).given_powers() == {x: f"{math.exp(x):.2f}" for x in sorted(set(masked))}
    assert Exercise.of(on(4, 3, 2)).given_powers() == {}
    assert Exercise.of(on(4, 1, 2)).given_powers() == {}
    assert Exercise.of(solve(s)).given_powers() == {}
    for digits in (2, 3, 4):
        cat = Exercise.of(replace(STATE, asked=("weights",), digits=digits))
        given = {x: Fraction(text) for x, text in cat.given_powers().items()}
        [decimals] = {len(text.split(".")[1]) for text in cat.given_powers().values()}

        def leads(decimals, cat=cat, digits=digits):
            """Whether powers of so many decimals give all weights as they are printed."""
            for i, row in enumerate(cat.shown.stages["masked"]):
                powers = [Fraction(f"{math.exp(x):.{decimals}f}") for x in row]
                for j, power in enumerate(powers):
                    by_hand = number(float(power / sum(powers)), digits)
                    if by_hand != number(cat.shown.stages["weights"][i, j], digits):
                        return False
            return True

        # as few as do not lead astray
        assert leads(decimals) and not any(map(leads, range(2, decimals)))
        for cell in cat.blanks:
            row = [given[x] for x in cat.shown.stages["masked"][cell.row]]
            assert cat.accepts(cell, f"{float(row[cell.column] / sum(row)):.6f}")
    odd = replace(EXAMPLES["sentence"].build(), exercise="state", asked=("weights",))
    assert Exercise.of(odd).given_powers() == {}  # of 4.24: a rounded power would mislead


# ---- what is refused, and what links hold --------------------------------------------------------


def test_what_is_not_asked_or_no_number_changes_nothing():
    s = on(1)
    for cell in (Cell("weights", 0, 0), Cell("output", 9, 0), Cell("none", 0, 0)):
        with pytest.raises(BadInput) as refused:
            typed(s, cell, "1")
        assert str(refused.value) == messages.NO_BLANK_THERE.format(stage=cell.stage)
    with pytest.raises(BadInput) as refused:
        typed(s, Cell("output", 0, 0), "abc")
    assert str(refused.value) == messages.NOT_AN_ANSWER.format(text="abc")
    assert typed(s, Cell("output", 0, 0), "  ") == s
    assert asked_how(s, Cell("weights", 0, 0)) == s


def test_the_answers_of_another_exercise_and_broken_ones_do_no_harm():
    s = solve(on(5, 2))
    assert begun_anew(s, exercise_seed=6).answers == () == begun_anew(s).tries
    other = Exercise.of(replace(s, exercise_seed=6))  # judged by its own numbers
    assert len(other.open) > 0
    odd = replace(CAT, answers=("abc", "1/0", "0.5"), tries=(1,))
    assert Exercise.of(odd).answers[:2] == ("", "")
    read, notices = links.read({"exercise": "none", "tries": "1-", "answers": "1~~x"})
    assert read.exercise == "made" and len(notices) == 2
    assert Exercise.of(read).answers == ("1", "")
    with pytest.raises(BadInput) as refused:
        check(replace(CAT, answers=("1",) * (MAX_BLANKS + 1)))
    assert str(refused.value) == messages.TOO_MANY_ENTRIES.format(
        limit=100, called="answers", length=40
    )
    with pytest.raises(BadInput) as refused:
        check(replace(CAT, asked=("weights." + "9" * 5000,)))
    assert str(refused.value) == messages.TOO_MANY_ENTRIES.format(
        limit=100, called="places to fill in", length=40
    )


def test_a_number_beyond_all_floats_is_wrong_and_no_more():
    for text in ("1e999", "-1e999", "1e-999"):
        s = typed(STATE, Cell("output", 2, 0), text)
        step = messages.STEP_OF_OUTPUT.format(column=1)
        assert Exercise.of(s).hint(Cell("output", 2, 0)) == (
            messages.LOOK_AT.format(stage="output", step=step)
        )


def test_answers_go_with_the_numbers_they_were_of():
    s = solve(replace(STATE, asked=("weights.2", "output")), [Cell("weights", 2, 0)])
    for now in (
        replace(s, digits=3),
        replace(s, query=0),
        replace(s, pinned=CAT, step=2),
        solve(s),
    ):
        assert answers_kept(s, now) is now
    for now in (set_mask(s, "causal"), replace(s, scale=2.0), replace(s, softmax=False)):
        assert answers_kept(s, now) == replace(now, answers=(), tries=())
    usual = solve(STATE)  # of the query that is chosen
    assert answers_kept(usual, replace(usual, query=0)) == replace(STATE, query=0)
    made_by_seed = solve(on(5, 2))
    assert answers_kept(made_by_seed, set_mask(made_by_seed, "causal")).answers
    none_there = replace(STATE, asked=("weights.9", "nothing"))
    assert Exercise.of(none_there).blanks == Exercise.of(STATE).blanks


def test_single_cells_are_emptied_and_filled_again():
    s = on(5)
    assert Exercise.of(s).places == ("output",)
    s = solve(s)
    s = turned(s, Cell("weights", 2, 0))
    assert s.asked == ("weights.2.0", "output") and s.answers == ()
    assert Exercise.of(s).level is None and Exercise.of(s).asks_every_row
    for j in (1, 2):
        s = turned(s, Cell("weights", 2, j))
    assert s.asked == ("weights.2", "output")
    s = turned(s, Cell("output", 0, 1))
    assert s.asked == ("weights.2", "output.0.0", "output.1", "output.2")
    for cell in Exercise.of(s).blanks:
        s = turned(s, cell)
    assert s.asked == ("nowhere",) and Exercise.of(s).blanks == () and check(s) == s
    with pytest.raises(BadInput) as refused:
        turned(s, Cell("X", 0, 0))
    assert str(refused.value) == messages.GIVEN_STAGE.format(stage="X")
    full = replace(STATE, asked=("scores", "scaled"))  # 72 blanks; 36 more are too many
    full = replace(full, asked=(*full.asked, "K"))
    assert len(Exercise.of(full).blanks) == 96
    with pytest.raises(BadInput) as refused:
        for j in range(6):
            full = turned(full, Cell("weights", 0, j))
    assert str(refused.value) == messages.TOO_MANY_BLANKS.format(limit=100)


@pytest.mark.parametrize("every_row", [True, False])
def test_a_level_is_known_again(every_row):
    for level in range(1, 7):
        s = at_level(on(5), level, every_row)
        exercise = Exercise.of(s)
        assert (exercise.level, exercise.asks_every_row) == (level, every_row)
    assert Exercise.of(CAT).level == 1 and not Exercise.of(CAT).asks_every_row


def test_an_exercise_is_beside_the_state_and_changes_none_of_it():
    s = solve(on(3, 2))
    assert numbers_of(s) == made(3) and s.matrices == CAT.matrices
    assert numbers_of(STATE) is STATE
    link = links.write(
        replace(
            CAT,
            exercise_seed=12,
            asked=("weights.2", "output.2"),
            answers=("0.5", "", "−1"),
            tries=(0, 2),
        )
    )
    assert link == {
        "example": "cat-sat",
        "exercise_seed": "12",
        "asked": "weights.2 output.2",
        "answers": "0.5~~−1",
        "tries": "02",
    }
    assert links.read(link)[0].tries == (0, 2)


def test_states_that_have_no_exercise_say_so():
    assert not suits(CAT)
    long = EXAMPLES["cat-sat"].build()
    words = tuple(f"w{k}" for k in range(13))
    assert suits(set_tokens(long, words, [None] * 13)) == messages.EXERCISE_TOO_LONG.format(
        limit=12
    )
    causal = replace(set_mask(CAT, "causal"), exercise="state")
    assert ("masked",) in levels(view(causal, run(causal)))
    assert set(KINDS) == {"made", "state", "mistake"} and STAGES["output"].heading == "output"


def test_an_answer_that_is_rounded_too_far_is_told_so():
    exercise = Exercise.of(on(3))
    cell = Cell("output", 2, 1)
    value = float(exercise.shown.stages[cell.stage][cell[1:]])
    assert round(value, 1) != round(value, 2)
    near = Exercise.of(typed(on(3), cell, f"{value:.1f}"))
    precision = messages.TO_DECIMALS.format(digits=2)
    assert near.hint(cell) == messages.ROUNDED_TOO_FAR.format(precision=precision)
    assert messages.SHOWN_ROUNDED in near.remark(cell)
    assert near.remark(Cell("scores", 2, 0)) == ""
    assert near.remark(Cell("weights", 2, 0)) == messages.POWERS_ARE_ROUNDED
    odd = Exercise.of(replace(EXAMPLES["sentence"].build(), exercise="state", asked=("weights",)))
    assert messages.LARGEST_TAKEN_AWAY in odd.remark(odd.blanks[-1])


def test_the_arithmetic_of_a_weight_is_done_with_the_powers_that_are_given():
    for digits, row in ((2, None), (3, None), (2, 2)):
        settings = on(4, 1, row) if digits == 2 else replace(STATE, digits=digits)
        settings = replace(settings, asked=("weights",) if row is None else (f"weights.{row}",))
        asked = Exercise.of(settings)
        given = asked.given_powers()
        for cell in asked.blanks:
            masked = asked.shown.stages["masked"][cell.row].tolist()
            if masked[cell.column] == -math.inf:
                assert asked.how(cell)[-1] == "the weight is 0"
                continue
            power, total, share, weight = asked.how(cell)
            mine = given[masked[cell.column]]
            others = [Decimal(given[x]) for x in masked if x != -math.inf]
            assert power == f"e^{{{number(masked[cell.column], 1)}}} = {mine}"
            assert total == f"Σ of the row = {' + '.join(map(str, others))} = {sum(others)}"
            assert share == f"{mine} ÷ {sum(others)}"
            by_hand = Decimal(mine) / sum(others)
            shown = Decimal(weight.removeprefix("= "))
            assert abs(by_hand - shown) <= Decimal(10) ** -digits / 2
