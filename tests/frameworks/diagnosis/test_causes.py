"""What is said of numbers that no known mistake explains is true of how they were made."""

import messages
import numpy as np
import pytest
from frameworks.diagnosis.planting import all_said

from attention import causal, diagnose
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.diagnosis.mistakes import BY_NAME
from attention.frameworks.given import Given, checked

rng = np.random.default_rng(0)
Q, K, V = rng.normal(size=(3, 12, 7))
BEFORE = messages.BEFORE_WEIGHTS.partition(",")[0]


def softmax(scores):
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


WEIGHTS = softmax(Q @ K.T / 7**0.5)
DROPPED = np.where(np.random.default_rng(1).random((12, 12)) < 0.3, 0, WEIGHTS / 0.7)


# ---- where the trouble lies ----------------------------------------------------------------------


def with_dropout() -> str:
    gone = int((DROPPED == 0).sum())
    return messages.WEIGHTS_WITH_DROPOUT.format(
        sum=gone, sum_2=144, by=messages.TIMES_WHAT_THEY_WERE.format(factor=1.429)
    )


@pytest.mark.parametrize("digits", [15, 4])
def test_dropout_of_the_weights_is_named_and_not_laid_before_them(digits):
    found = diagnose(Q, K, V, output=(DROPPED @ V).round(digits), weights=DROPPED.round(digits))
    ((mistake,),) = (explanation.mistakes for explanation in found.explanations)
    assert mistake.name == "dropout: 0.3" and abs(mistake.number - 0.3) <= mistake.spread
    said = messages.DROPOUT.format(rate=0.3, gone=int((DROPPED == 0).sum()), all=144, by=1.429)
    assert mistake.title.startswith(said) and BEFORE not in str(found)


def test_dropout_of_weights_that_were_not_used_is_told_from_the_output():
    said = all_said(diagnose(Q, K, V, output=WEIGHTS @ V, weights=DROPPED))
    assert messages.OUTPUT_RIGHT_ALL_THE_SAME.format(said=with_dropout()) in said
    said = all_said(diagnose(Q, K, V, output=rng.normal(size=(12, 7)), weights=DROPPED))
    assert messages.OUTPUT_DOES_NOT_FOLLOW.format(said=with_dropout()) in said
    assert messages.TROUBLE_ON_BOTH_SIDES not in said


def test_averaged_weights_are_named_and_not_laid_before_them():
    heads = [slice(0, 4), slice(4, 8)]
    q, k, v = np.random.default_rng(2).normal(size=(3, 5, 8))
    weights = np.stack([softmax(q[:, h] @ k[:, h].T / 2) for h in heads])
    mean = np.stack([weights.mean(axis=0)] * 2)
    made, own = (
        np.concatenate([M @ v[:, h] for M, h in zip(parts, heads, strict=True)], axis=1)
        for parts in (mean, weights)
    )
    averaged = messages.WEIGHTS_AVERAGED.format(axes="heads")
    for output, name in ((made, "shares: averaged"), (own, "shares: handed over")):
        found = diagnose(q, k, v, heads=2, output=output, weights=mean)
        assert [[m.name for m in e.mistakes] for e in found.explanations] == [[name]]
        assert BEFORE not in str(found) and averaged not in found.notes
    noise = np.random.default_rng(3).normal(size=own.shape)
    said = str(diagnose(q, k, v, heads=2, output=noise, weights=mean))
    assert messages.OUTPUT_DOES_NOT_FOLLOW.format(said=averaged) in said
    batch = np.stack([q[:, :4], q[:, 4:]]), np.stack([k[:, :4], k[:, 4:]]), np.stack([v, v])
    found = diagnose(*batch, output=mean @ batch[2], weights=mean)
    assert [[m.name for m in e.mistakes] for e in found.explanations] == [["shares: averaged"]]
    four = [M[:, None] for M in batch]
    said = str(diagnose(*four, output=mean[:, None] @ four[2], weights=mean[:, None]))
    averaged = messages.WEIGHTS_AVERAGED.format(axes="items")
    assert messages.OUTPUT_FOLLOWS.format(said=averaged) in said


def test_weights_that_no_softmax_gives_may_be_the_trouble_themselves():
    other = np.random.default_rng(3).dirichlet(np.ones(12), 12)
    said = all_said(diagnose(Q, K, V, output=other @ V, weights=other))
    assert messages.OUTPUT_FOLLOWS_FROM_WEIGHTS.format(place=messages.BEFORE_WEIGHTS) in said
    grown = other * np.linspace(1, 2, 12)[:, None]
    said = all_said(diagnose(Q, K, V, output=grown @ V, weights=grown))
    place = messages.IN_WEIGHTS.format(before=messages.BEFORE_WEIGHTS)
    assert messages.OUTPUT_FOLLOWS_FROM_WEIGHTS.format(place=place) in said


def test_no_side_is_blamed_where_a_mistake_explains_both_answers():
    """Keys for values is one mistake, and neither answer follows from the other."""
    k, v = rng.normal(size=(2, 12, 7))
    weights = softmax(Q @ v.T / 7**0.5)
    found = diagnose(Q, k, v, output=weights @ k, weights=weights)
    assert [[m.name for m in e.mistakes] for e in found.explanations] == [["order: K and V"]]
    assert "trouble" not in all_said(found)


# ---- what overflowed -----------------------------------------------------------------------------


JUST_THOSE = messages.BEYOND_THE_TYPE.partition(" of ")[0]


def lost_numbers(count, hold, first):
    return messages.NAN_OR_INFINITE.format(
        sum=count, lost=84, name="output", hold=hold, first=first
    )


def in_float16(q, k, v):
    """By a program that computes the scores in float16."""
    with np.errstate(all="ignore"):
        scores = (q @ k.T).astype("f2").astype(float)
        return softmax(scores / 7**0.5) @ v


def test_queries_whose_scores_overflow_in_float16_are_named_as_just_those():
    q, k = 100 * Q, 110 * K
    output = in_float16(q, k, V)
    lost = np.isnan(output).sum()
    assert 0 < lost < 84
    said = all_said(diagnose(q, k, V, output=output))
    first = ", ".join(map(str, np.argwhere(np.isnan(output))[0]))
    assert lost_numbers(lost, "are", first) in said
    assert (
        messages.BEYOND_THE_TYPE.format(what="a score Q Kᵀ", limit="65,504", kind="float16") in said
    )
    output = output.copy()
    output[np.isnan(output).all(axis=1).argmin()] = np.nan  # another one
    assert JUST_THOSE not in all_said(diagnose(q, k, V, output=output))


@pytest.mark.parametrize("both", [True, False])
def test_an_exp_that_overflows_in_float32_is_named_as_just_that(both):
    with np.errstate(all="ignore"):
        grown = np.exp((9 * Q).astype("f4") @ (9 * K).astype("f4").T / np.float32(7**0.5))
        weights = grown / grown.sum(axis=1, keepdims=True)
    assert 0 < np.isnan(weights).sum() < 144
    answers = {"output": weights @ V} | ({"weights": weights} if both else {})
    said = all_said(diagnose(9 * Q, 9 * K, V, **answers))
    assert messages.EXP_IS_INFINITE.format(what="a score", limit="88.7", kind="float32") in said
    assert "trouble" not in said


def test_outputs_beyond_what_float16_holds_are_named_as_just_those():
    with np.errstate(over="ignore"):
        output = (WEIGHTS @ (6e4 * V)).astype("f2")
    assert 0 < np.isinf(output).sum() < 84
    said = all_said(diagnose(Q, K, 6e4 * V, output=output))
    assert messages.OUTPUT_BEYOND_THE_TYPE.format(limit="65,504", kind="float16") in said


def test_the_heads_of_lost_rows_are_told_apart():
    q, k, v = np.random.default_rng(5).normal(size=(3, 6, 8))
    q[:, 4:] *= 100
    k[:, 4:] *= 300
    with np.errstate(all="ignore"):
        scores = [(q[:, h] @ k[:, h].T).astype("f2").astype(float) for h in (slice(4), slice(4, 8))]
        output = np.concatenate(
            [
                softmax(s / 2) @ v[:, h]
                for s, h in zip(scores, (slice(4), slice(4, 8)), strict=True)
            ],
            axis=1,
        )
    assert not np.isnan(output[:, :4]).any() and 0 < np.isnan(output[:, 4:]).sum() < 24
    assert messages.BEYOND_THE_TYPE.format(
        what="a score Q Kᵀ", limit="65,504", kind="float16"
    ) in all_said(diagnose(q, k, v, heads=2, output=output))


def test_a_number_that_is_lost_for_another_reason_has_no_cause_named():
    output = (WEIGHTS @ V).copy()
    output[3, 2] = np.nan
    said = all_said(diagnose(Q, K, V, output=output))
    assert lost_numbers(1, "is", "3, 2") in said and JUST_THOSE not in said


# ---- names that are true beside each other -------------------------------------------------------


def filled(q, k, v, number):
    return softmax(np.where(causal(5, 5), q @ k.T / 2, number)) @ v


@pytest.mark.parametrize("number", [-1e5, -3.0, -1.0, 0.0, -10.0])
def test_a_fill_is_named_only_where_its_number_was_singled_out(number):
    q, k, v = np.random.default_rng(4).normal(size=(3, 5, 4))
    far = np.ones((5, 4)), np.abs(k) - 5.5e4, v  # scores of about −1.1e5
    given = {"allowed": causal(5, 5)}
    found = diagnose(*far, **given, output=filled(*far, number))
    some_number = f"{messages.FILLED_WITH_SOME_NUMBER.capitalize()}."
    assert found.verdict.startswith(some_number), str(found)
    assert len(found.explanations) == 1
    if number in (0.0, -1.0, -10.0):
        found = diagnose(q, k, v, **given, output=filled(q, k, v, number))
        title = {
            0.0: messages.SCORES_BECOME_0,
            -1.0: messages.FILLED_WITH.format(number="−1"),
            -10.0: messages.FILLED_WITH.format(number="−10"),
        }[number]
        assert found.verdict.startswith(f"{title.capitalize()}.")
    right = diagnose(q, k, v, **given, output=filled(q, k, v, -np.inf))
    assert messages.FILLED_WITH.format(number="−") not in str(right).lower()


def test_no_sentence_speaks_of_a_softmax_beside_one_that_says_there_is_none():
    q, k, v = np.random.default_rng(4).normal(size=(3, 5, 4))
    given = {"Q": q, "K": k, "V": v, "allowed": causal(5, 5), "sinks": 0.3}
    bench = Bench(checked(Given(**given)))
    for hiding in ("hiding: after softmax", "hiding: 0", "hiding: filled"):
        wrong = (BY_NAME[hiding], BY_NAME["softmax: none"])
        found = diagnose(**given, output=bench.run(wrong)["output"])
        said = all_said(found).lower()
        assert messages.NO_SOFTMAX in said
        for fix in {m.fix for e in found.explanations for m in e.mistakes}:
            said = said.replace(fix.lower(), "")
        assert said.count("softmax") == said.count(messages.NO_SOFTMAX), said
