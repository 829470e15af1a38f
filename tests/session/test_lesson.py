"""The guided way: its numbers against plain loops, and each step notices what it asked for."""

import math
import re
from dataclasses import replace

import messages
import numpy as np
import pytest

from attention import variance as maths
from attention.session import lesson
from attention.session.changes import set_mask, set_memory, set_tokens
from attention.session.examples import EXAMPLES
from attention.session.matrix import Matrix
from attention.session.run import run, view
from attention.session.settings import DRAWN, LAST_STEP, allowed, as_drawn
from attention.strip import strongest

CAT = EXAMPLES["cat-sat"].build()
TITLES = [step.title for step in lesson.STEPS]


def at(title, s=CAT):
    return lesson.go(s, 1 + TITLES.index(title))


def said(s):
    step, shown = lesson.STEPS[s.step - 1], view(s, run(s))
    return step.idea(s, shown), step.ask(s, shown)


def loops(s, scale):
    """Scores and weights of the query, by plain loops over lists."""
    m = {name: s.matrices[name].values.tolist() for name in ("X", "W_Q", "W_K", "W_V")}

    def times(row, W):
        columns = zip(*W, strict=True)
        return [sum(x * w for x, w in zip(row, column, strict=True)) for column in columns]

    q = times(m["X"][s.query], m["W_Q"])
    keys = [times(row, m["W_K"]) for row in m["X"]]
    scores = [sum(a * b for a, b in zip(q, k, strict=True)) for k in keys]
    powers = [math.exp(scale * score) for score in scores]
    values = [times(row, m["W_V"]) for row in m["X"]]
    weights = [p / sum(powers) for p in powers]
    mixed = [sum(w * v[d] for w, v in zip(weights, values, strict=True)) for d in range(s.d_v)]
    return {"Q": q, "K": keys, "scores": scores, "weights": weights, "output": mixed}


def test_the_numbers_of_every_step_are_those_of_plain_loops():
    found = loops(CAT, CAT.d_k**-0.5)
    best = found["weights"].index(max(found["weights"]))
    undivided = max(loops(CAT, 1.0)["weights"])
    query, key = (f"“{CAT.tokens[k]}”" for k in (CAT.query, best))
    row = ", ".join(f"{x:g}" for x in found["Q"]).replace("-", "−")
    asks = messages.QUERY_ASKS.format(query=query, row=f"[{row}]")
    assert asks in said(at("What a query asks"))[0]
    row = ", ".join(f"{x:g}" for x in found["K"][best]).replace("-", "−")
    answers = messages.KEY_ANSWERS.format(key=key, row=f"[{row}]")
    assert answers in said(at("What keys answer"))[0]
    total = f"= {found['scores'][best]:g}. {messages.SCORE_IS_LARGE}"
    assert total in said(at("A score by hand"))[0]
    idea = said(at("Divided by √d_k"))[0]
    assert messages.DIVIDED_BY_ROOT.format(root=f"{CAT.d_k**0.5:g}") in idea
    largest = messages.LARGEST_WEIGHT_UNDIVIDED.format(
        query=query, divided=f"{max(found['weights']):.2f}", undivided=f"{undivided:.2f}"
    )
    assert largest in idea
    assert said(replace(at("Divided by √d_k"), scale=1.0))[0] == idea
    hides = messages.LOOK_AHEAD_HIDES.format(scores=36, hidden=15)
    assert hides in said(at("The future is hidden"))[0]
    row = ", ".join(f"{x:.2f}" for x in found["output"]).replace("-", "−")
    assert messages.VALUES_GIVE.format(row=f"[{row}]") in said(at("Values are mixed"))[0]
    half = messages.HALF_OF_THE_COLUMNS.format(columns=4, half=2)
    assert half in said(at("Two heads"))[0]


def test_the_winner_is_that_of_plain_loops_and_what_is_asked_for_is_hidden():
    s = at("Shares that add up to 1")
    step = lesson.STEPS[s.step - 1]
    asked = step.guess(s, view(s, run(s)))
    weights = loops(s, s.d_k**-0.5)["weights"]
    assert list(asked.right) == [CAT.tokens[weights.index(max(weights))]]
    assert set(asked.right) < set(asked.options)
    share = messages.SHARE_OF_ONE.format(share=f"{max(weights):.2f}", total=1)
    assert share in asked.answer
    assert {"weights", "output", "projected", "context"} <= set(step.hides)


def test_another_sentence_is_no_number_that_was_typed():
    s = at("What a query asks")
    other = set_tokens(s, ("a", "dog", "sat"), [None, None, 2])
    assert other.matrices["X"] != s.matrices["X"]
    assert not lesson.STEPS[0].is_done(s, other)


def test_of_wide_queries_the_sum_alone_is_said():
    wide = at("A score by hand", EXAMPLES["three-widths"].build())
    idea = lesson.STEPS[2].idea(wide, view(wide, run(wide)))
    added = re.escape(messages.PRODUCTS_ADDED_UP).replace(r"\{total\}", r"−?\d+(\.\d+)?")
    assert re.search(f"{added} {re.escape(messages.SCORE_IS_LARGE)}", idea)


def test_keys_that_share_the_first_place_are_all_right():
    alike = Matrix(np.ones(CAT.shape("X")))
    s = at("Shares that add up to 1", CAT.with_matrix("X", alike))
    asked = lesson.STEPS[s.step - 1].guess(s, view(s, run(s)))
    assert list(asked.right) == list(asked.options)
    keys = "“the (1)”, “cat”, “sat”, “on”, “the (2)”, “mat”"
    assert messages.KEYS_ARE_ALIKE.format(keys=keys) in asked.answer
    assert messages.SHARE_OF_EACH.format(share="0.17", total=1) in asked.answer


def turned(s):
    """A state in which the query's strongest key is hidden from it."""
    seen = allowed(s).copy()
    seen[s.query, strongest(view(s, run(s)), s.query)] = False
    return replace(s, mask="drawn", drawn=as_drawn(seen))


DOES = {
    "What a query asks": lambda s: s.with_matrix("X", Matrix(s.matrices["X"].values + 1)),
    "What keys answer": lambda s: replace(s, query=s.query + 1, cell=("Q", s.query + 1, 0)),
    "A score by hand": lambda s: replace(
        s, cell=("scores", s.query, strongest(view(s, run(s)), s.query))
    ),
    "Divided by √d_k": lambda s: replace(s, scale=1.0),
    "The future is hidden": lambda s: set_mask(s, "causal"),
    "Values are mixed": turned,
    "Two heads": lambda s: replace(s, heads=2, head=1),
}


@pytest.mark.parametrize("title", [title for title in TITLES if title in DOES])
def test_a_step_notices_what_it_asked_for_and_nothing_else(title):
    s = at(title)
    step = lesson.STEPS[s.step - 1]
    assert not step.is_done(s, s)
    for other, does in DOES.items():
        assert step.is_done(s, does(s)) == (other == title), other


def test_hiding_is_noticed_of_another_query_and_of_other_words_than_the_step_began_with():
    before = at("Values are mixed")
    step = lesson.STEPS[before.step - 1]
    fewer = set_tokens(before, before.tokens[:3], [0, 1, 2])
    for now in (replace(before, query=before.query + 1), replace(fewer, query=0)):
        assert not step.is_done(before, now)
        assert step.is_done(before, turned(now))


def test_each_step_asks_for_something_and_begins_where_it_can_be_done():
    assert len(lesson.STEPS) == LAST_STEP
    odd = replace(set_mask(CAT, "causal"), heads=2, head=1, scale=3.0, query=1, cell=("Q", 0, 0))
    for k, step in enumerate(lesson.STEPS, 1):
        assert bool(step.guess) != (step.title in DOES)
        s = lesson.go(odd, k)
        assert (s.step, s.cell, s.scale, s.mask) == (k, None, None, "none")
        assert not step.is_done(s, s)
        assert not set(step.stages) - set(view(s, run(s)).stages)


@pytest.mark.parametrize("k", range(1, len(lesson.STEPS) + 1))
def test_each_step_begins_with_one_head(k):
    begun = lesson.go(replace(CAT, heads=2, head=1), k)
    assert (begun.heads, begun.head) == (1, 0)


def test_a_guess_about_a_query_that_sees_no_key_is_not_asked():
    seen = np.ones((len(CAT.tokens), len(CAT.tokens)), bool)
    seen[CAT.query] = False
    blind = replace(at("Shares that add up to 1"), mask=DRAWN, drawn=as_drawn(seen))
    assert messages.BLIND_QUERY in lesson.suits(blind)
    assert lesson.suits(replace(blind, query=CAT.query + 1)) == ""


def test_a_way_that_cannot_be_gone_says_why():
    def typed(s):
        return next(e for e in (example.build() for example in EXAMPLES.values()) if e.typed_qkv)

    one = set_tokens(CAT, ("cat",), [0])
    sentences = {
        messages.WAY_NEEDS_EMBEDDINGS: typed(CAT),
        messages.WAY_NEEDS_WORDS.format(fewest=2, most=10): one,
        messages.WAY_NEEDS_ONE_SEQUENCE: set_memory(CAT, True),
        messages.WAY_NEEDS_EVEN_WIDTH: EXAMPLES["three-widths"].build(),
        messages.WAY_NEEDS_SOFTMAX: replace(CAT, softmax=False),
        "": CAT,
    }
    for sentence, s in sentences.items():
        assert lesson.suits(s) == sentence


def test_the_guesses_on_the_scale_are_right_by_samples_drawn_here():
    point = maths.measure("normal", lesson.GUESSED_D_K, 0, 1000)
    spread, shares = lesson.guesses(point)
    rng = np.random.default_rng(5)
    q, k = rng.standard_normal((2, 20_000, 64))
    drawn = (q * k).sum(axis=1)
    assert float(spread.right[0]) == pytest.approx(drawn.var(), rel=0.05)
    assert f"{point.raw.variance:.1f}" in spread.answer
    rows = np.einsum("nd,nkd->nk", q[:1000], rng.standard_normal((1000, maths.N_KEYS, 64)))
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    largest = (powers / powers.sum(axis=1, keepdims=True)).max(axis=1).mean()
    assert float(shares.right[0]) == pytest.approx(largest, abs=0.03)
    assert len(set(shares.options)) == 4
