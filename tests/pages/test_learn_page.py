"""Learn and the guesses of Why √d_k through Streamlit's AppTest."""

from dataclasses import replace
from html import escape

import messages
import numpy as np
import pytest
from pages.conftest import APP, charts, opened_at, ran, settings_of, words
from pages.test_check_page import head, numbers, panes
from streamlit.testing.v1 import AppTest

from attention.samples import variance as maths
from attention.session.edit.changes import set_tokens
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.settings import LAST_STEP
from attention.session.teach import tour
from attention.session.teach.guesses import guesses
from attention.session.teach.tour import Now

PAGE = "attention/pages/learn.py"
CAT = EXAMPLES["cat-sat"].build()
HIDDEN = {"weights", "output"}  # before the question of softmax is answered


def opened(settings):
    return opened_at(PAGE, **links.write(settings))


@pytest.mark.parametrize("k", range(LAST_STEP + 1))
def test_each_step_opens_by_its_link_with_its_text_and_a_card_of_its_stage(k):
    s = tour.go(CAT, k)
    at, now = opened(s), Now(s)
    assert escape(tour.idea(now, now)) in words(at)
    assert escape(tour.reply(now, now).text) in words(at)
    stage, i, j = tour.cell(now, now) if k != 6 else ("scaled", CAT.query, 0)
    shown = head(at)["card"]
    assert (shown["stage"], shown["row"], shown["column"]) == (stage, i, j)
    assert "mask" not in panes(at)


def test_the_introduction_begins_as_next_and_back_begin_it_whatever_was_set_before():
    came_from = replace(CAT, mask="causal", scale=1.0, padding=(1,))
    at = opened(came_from)
    assert settings_of(at) == tour.go(CAT, 0)
    assert "masked" not in panes(at)
    ran(at.button(key="tour_next").click())
    assert settings_of(at) == tour.go(CAT, 1)


@pytest.mark.parametrize("k", range(LAST_STEP + 1))
def test_a_step_shows_and_names_masked_only_with_a_mask_or_where_one_is_to_be_drawn(k):
    at = opened(tour.go(CAT, k))
    said, drawn = words(at), panes(at)
    assert ("masked" in drawn) == (k == tour.DRAWS_MASK)
    assert "+ M" not in said
    assert set(head(at)["spokenOf"]) <= set(drawn)
    formulas = {name: pane["formula"] for name, pane in drawn.items()}
    assert formulas["weights"] == "softmax(scaled)"
    assert not any("M" in formula for formula in formulas.values())
    if k != tour.DRAWS_MASK:
        assert "masked" not in said
    at = opened(replace(tour.go(CAT, k or 1), mask="causal"))
    assert panes(at)["masked"]["formula"] == "scaled + M"
    assert panes(at)["weights"]["formula"] == "softmax(masked)"


def test_the_ways_lead_on_and_back_and_restore_what_a_step_changed():
    at = opened(replace(tour.go(CAT, 3), scale=1.0, mask="causal"))
    ran(at.button(key="tour_next").click())
    assert settings_of(at) == tour.go(CAT, 4)
    ran(at.button(key="tour_back").click())
    assert settings_of(at) == tour.go(CAT, 3)
    ran(at.button(key="tour_skip").click())
    assert settings_of(at) == tour.go(CAT, LAST_STEP)
    assert not any(button.key == "tour_next" for button in at.button)
    ran(at.button(key="tour_skip").click())
    assert settings_of(at) == tour.go(CAT, 0)
    assert at.button(key="tour_back").disabled


def test_steps_of_other_links_are_those_that_there_are():
    for step, k in (("-3", 0), ("42", LAST_STEP), ("5", 5)):
        assert settings_of(opened_at(PAGE, example="cat-sat", step=step)).step == k


def test_what_is_asked_is_not_sent_before_it_is_answered():
    at = opened(tour.go(CAT, 6))
    assert all(np.isnan(panes(at)[name]["values"]).all() for name in HIDDEN)
    assert not head(at)["card"]["chain"]
    now = Now(settings_of(at))
    options = tour.options(now)
    wrong, right = (options[k] for k in (0, now.strongest))
    ran(at.button_group(key="set_tour_answer").set_value(wrong))
    assert escape(tour.reply(now, now, wrong).text) in words(at)
    assert all(np.isnan(panes(at)[name]["values"]).all() for name in HIDDEN)
    ran(at.button_group(key="set_tour_answer").set_value(right))
    assert escape(tour.reply(now, now, right).text) in words(at)
    assert not any(np.isnan(numbers(panes(at)[name])).any() for name in HIDDEN)
    # another query is another question
    at.query_params["query"] = "0"
    ran(at)
    assert all(np.isnan(panes(at)[name]["values"]).all() for name in HIDDEN)


def test_a_state_that_does_not_suit_the_tour_leads_to_one_that_does():
    typed = next(e for e in (example.build() for example in EXAMPLES.values()) if e.typed_qkv)
    at = opened(replace(typed, step=2))
    assert messages.TOUR_NEEDS_VECTORS in words(at)
    ran(at.button(key="tour_example").click())
    assert settings_of(at) == tour.go(CAT, 2)


def test_another_sentence_is_no_number_that_was_typed():
    at = opened(tour.go(CAT, 1))
    ran(at.text_input(key="set_sentence").set_value("my dog sat"))
    dog = Now(set_tokens(tour.go(CAT, 1), ("my", "dog", "sat"), [None, None, 2]))
    assert escape(tour.STEPS[1].ask(dog)) in words(at)
    assert "class='ask done'" not in words(at)


def test_why_asks_before_it_shows_where_one_guesses_first():
    at = AppTest.from_file(str(APP), default_timeout=30)
    ran(at)
    ran(at.switch_page("attention/pages/variance.py"))
    everything = set(charts(at))
    ran(at.toggle(key="set_guess_first").set_value(True))
    assert not charts(at)
    first, second = guesses(maths.measure("normal", 64, 0, 1000))
    assert escape(first.answer) not in words(at)
    ran(at.button_group(key="set_why_guess_0").set_value("8"))
    assert messages.GUESS_IS_WRONG in words(at)
    assert escape(first.answer) in words(at)
    assert escape(second.answer) not in words(at)
    assert charts(at) and set(charts(at)) < everything
    ran(at.button_group(key="set_why_guess_1").set_value(second.right[0]))
    assert escape(second.answer) in words(at)
    assert set(charts(at)) == everything
