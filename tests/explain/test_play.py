"""Play has the steps that lead from a query to its output, and their cards the trace's numbers."""

from dataclasses import replace

import messages
import numpy as np
import pytest
from amount import few
from build import view_of

from attention import View, scaled_dot_product_attention
from attention.explain.card import card_of
from attention.explain.play import MOST_CARDS, play_of
from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.matrix import Matrix

CAT = EXAMPLES[FIRST].build()
CASES = {
    **{name: example.build() for name, example in EXAMPLES.items()},
    "look-ahead": replace(CAT, mask="causal"),
    "no key": replace(CAT, mask="causal", padding=(0,), query=0),
    "soft cap and sink": replace(CAT, softcap=5.0, sinks=(1.0,), mask="causal"),
    "sigmoid": replace(CAT, softmax="sigmoid"),
    "one": changes.set_sentence(CAT, "hello"),
    "crossed": changes.set_memory(EXAMPLES["sentence"].build(), True),
    "24 tokens": changes.set_sentence(CAT, " ".join(f"w{k}" for k in range(24))),
}


def titles(s) -> dict[str, str]:
    """The title of each step of the query, by its name."""
    steps = play_of(view_of(s), s.query, s.digits)
    return {step.name: "".join(text for text, _ in step.cards[0].title) for step in steps}


@pytest.mark.parametrize("name", few(CASES))
def test_each_step_begins_where_the_one_before_ended(name):
    s = CASES[name]
    view = view_of(s)
    first, *others = play_of(view, s.query, s.digits)
    assert (first.takes, first.above) == (view.source("Q"), view.source("K"))
    made = first.makes
    for step in others:
        assert step.takes == made
        row = view.printed(step.takes)[s.query], view.printed(step.makes)[s.query]
        if step.kind == "each":
            assert row[0].shape == row[1].shape
        made = step.makes
    assert made == "output"
    left_out = {name for name in ("scaled", "capped", "modified", "masked") if name in view.stages}
    left_out -= {step.makes for step in others}
    assert left_out <= {"masked"}  # where nothing is masked it is the stage before it
    for name in left_out:
        assert view.stages[name].tolist() == view.stages[view.source("scaled", name)].tolist()


@pytest.mark.parametrize("name", few(CASES))
def test_the_cards_are_those_of_the_cells_without_their_chains(name):
    s = CASES[name]
    view = view_of(s)
    for step in play_of(view, s.query, s.digits):
        for card in step.cards:
            assert (card.stage, card.row, card.chain) == (step.makes, s.query, ())
            own = card_of(view, (card.stage, card.row, card.column), s.digits)
            assert replace(own, title=card.title, chain=()) == card


@pytest.mark.parametrize("name", few(CASES))
def test_the_dot_product_of_each_key_is_written_out_where_there_are_few(name):
    s = CASES[name]
    view = view_of(s)
    step = play_of(view, s.query, s.digits)[0]
    count = view.stages["scores"].shape[1]
    if count <= MOST_CARDS:
        assert [card.column for card in step.cards] == list(range(count))
    else:
        (card,) = step.cards
        assert view.stages["weights"][s.query].max() == view.stages["weights"][s.query, card.column]
    for card in step.cards:
        score = sum(
            float(q) * float(k)
            for q, k in zip(
                view.stages[step.takes][s.query], view.stages[step.above][card.column], strict=True
            )
        )
        assert abs(score - view.stages["scores"][s.query, card.column]) < 1e-9


def test_the_titles_say_what_is_done():
    assert titles(CAT) == {
        "Dot products": "Score of “sat” with the first “the”",
        "Scale": "Divide every score by √4 = 2",
        "Softmax": messages.SOFTMAX_RAISES_E,
        "Mix": messages.MIX_ADDS_ROWS,
    }
    assert titles(replace(CAT, scale=0.25))["Scale"] == "Multiply every score by 0.25"
    assert titles(replace(CAT, softcap=5.0))["Cap"] == messages.CAP_KEEPS_SCORES.format(cap=5)
    assert titles(CASES["look-ahead"])["Mask"] == "Hide the masked keys"
    last = replace(CASES["look-ahead"], query=5)
    assert titles(last)["Mask"] == "Hide the masked keys: none for “mat”"


def test_the_titles_say_what_is_added():
    biased = CAT.with_matrix("R", Matrix(np.arange(8.0).reshape(8, 1)))
    assert titles(biased)["Bias"] == "Add the bias"
    assert titles(EXAMPLES["alibi"].build())["Mask"] == messages.BIAS_THEN_HIDES
    assert titles(EXAMPLES["minus-1e9"].build())["Mask"] == messages.FILL_ADDED_WHERE_HIDDEN
    first = replace(CAT, mask="causal", fill="-1e9", query=5)
    assert titles(first)["Mask"] == f"{messages.FILL_ADDED_WHERE_HIDDEN}: none for “mat”"
    both = replace(CAT, mask="causal", fill="-1e9", alibi=True)
    assert titles(both)["Mask"] == f"Add the bias, and {messages.FILL_WHERE_HIDDEN}"


def test_the_titles_say_what_makes_the_weights():
    assert titles(EXAMPLES["bare-bones"].build())["Weights"] == messages.SCORES_ARE_WEIGHTS
    assert titles(CASES["sigmoid"])["Weights"] == "Take the sigmoid of each score"
    assert titles(CASES["soft cap and sink"])["Softmax"] == messages.SOFTMAX_WITH_SINK
    assert titles(CASES["no key"])["Softmax"] == messages.WEIGHTS_OF_NO_KEY.format(
        token="The first “the”"
    )


def test_the_score_that_is_masked_is_a_hidden_one_else_one_with_a_bias():
    steps = {step.name: step for step in play_of(view_of(CASES["look-ahead"]), 2)}
    assert steps["Mask"].cards[0].column == 3
    biased = CAT.with_matrix("R", Matrix(np.array([[0.0], [0.0], [1.0], *[[0.0]] * 5])))
    view = view_of(biased)
    (card,) = next(step for step in play_of(view, 2) if step.name == "Bias").cards
    assert view.stages["mask"][2, card.column] == 1


def test_functions_of_a_caller_are_named_as_such():
    Q = np.arange(6.0).reshape(3, 2)
    trace = scaled_dot_product_attention(
        Q,
        Q,
        Q,
        score_mod=lambda score, b, h, q, k: score + 1,
        softmax=lambda masked, allowed: masked,
    )
    found = [(step.name, step.cards[0].title[0][0]) for step in play_of(View.of(trace), 1)]
    assert ("Function", messages.FUNCTION_OF_SCORES) in found
    assert ("Weights", messages.FUNCTION_OF_ROW) in found


def test_weights_that_were_given_have_no_steps():
    weights = View.of(scaled_dot_product_attention(*[[[1.0]]] * 3)).only(["weights"])
    assert play_of(weights, 0) == ()
