"""Learn and the guesses of Why √d_k through Streamlit's AppTest."""

from dataclasses import replace
from html import escape

import messages
from pages.conftest import APP, opened_at, ran, settings_of, words
from pages.test_check_page import panes
from streamlit.testing.v1 import AppTest

from attention import variance as maths
from attention.session import lesson, links
from attention.session.examples import EXAMPLES
from attention.session.run import run, view
from attention.strip import strongest

PAGE = "attention/pages/learn.py"
CAT = EXAMPLES["cat-sat"].build()


def opened(settings):
    return opened_at(PAGE, **links.write(settings))


def test_the_step_of_the_link_stands_with_its_numbers_and_the_ways_lead_on_and_back():
    at = opened(replace(CAT, step=3))
    step = lesson.STEPS[2]
    assert escape(step.idea(CAT, view(CAT, run(CAT)))) in words(at)
    ran(at.button(key="lesson_right").click())
    assert settings_of(at).step == 4
    ran(at.button(key="lesson_left").click())
    assert settings_of(at) == lesson.go(CAT, 3)
    last = opened(replace(CAT, step=len(lesson.STEPS)))
    assert last.button(key="lesson_right").disabled
    assert opened(CAT).button(key="lesson_left").disabled


def test_what_a_guess_is_about_is_not_sent_before_it_is_made():
    at = opened(lesson.go(CAT, 6))
    assert not {"weights", "output"} & set(panes(at))
    assert messages.ORDER_IS_KEPT not in words(at)
    shown = view(CAT, run(CAT))
    right = shown.labels["keys"][strongest(shown, CAT.query)]
    wrong = next(key for key in shown.labels["keys"] if key != right)
    ran(at.button_group(key="set_lesson_guess").set_value(wrong))
    assert messages.GUESS_IS_WRONG in words(at)
    assert {"weights", "output"} <= set(panes(at))
    ran(at.button_group(key="set_lesson_guess").set_value(right))
    assert messages.GUESS_IS_RIGHT in words(at)
    # another query is another question
    ran(at.selectbox(key="set_query").set_value(0))
    assert not {"weights", "output"} & set(panes(at))


def test_a_state_that_does_not_suit_the_way_leads_to_one_that_does():
    typed = next(e for e in (example.build() for example in EXAMPLES.values()) if e.typed_qkv)
    at = opened(replace(typed, step=2))
    assert messages.WAY_NEEDS_EMBEDDINGS in words(at)
    ran(at.button(key="lesson_begin").click())
    assert settings_of(at) == lesson.go(CAT, 2)


def test_why_asks_before_it_shows_where_one_guesses_first():
    at = AppTest.from_file(str(APP), default_timeout=30)
    ran(at)
    ran(at.switch_page("attention/pages/variance.py"))
    everything = set(panes(at))
    ran(at.toggle(key="set_guess_first").set_value(True))
    assert not panes(at)
    first, second = lesson.guesses(maths.measure("normal", 64, 0, 1000))
    assert escape(first.answer) not in words(at)
    ran(at.button_group(key="set_why_guess_0").set_value("8"))
    assert messages.GUESS_IS_WRONG in words(at)
    assert escape(first.answer) in words(at)
    assert escape(second.answer) not in words(at)
    assert panes(at) and set(panes(at)) < everything
    ran(at.button_group(key="set_why_guess_1").set_value(second.right[0]))
    assert escape(second.answer) in words(at)
    assert set(panes(at)) == everything


def test_the_first_step_notices_a_change_in_ones_own_sentence_too():
    at = opened(lesson.go(CAT, 1))
    ran(at.text_input(key="set_sentence").set_value("my dog sat"))
    assert lesson.STEPS[0].did not in words(at)
    at.session_state["numbers"] = True
    ran(ran(at).selectbox(key="set_vectors").set_value("one-hot"))
    assert lesson.STEPS[0].did in words(at)
