"""What a browser sends that has not yet heard, or never hears, what its controls were told."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention.pages import state

APP = Path(__file__).parents[2] / "app.py"


@pytest.fixture
def at() -> AppTest:
    """Explore after Reset has set the query back from the third token to the first."""
    at = AppTest.from_file(str(APP), default_timeout=30)
    at.query_params["example"] = "four-words"
    at.run()
    at.selectbox(key="set_query").set_value(2).run()
    at.button(key="reset").click().run()
    assert (settings(at).query, at.selectbox(key="set_query").value) == (0, 0)
    return at


def settings(at: AppTest):
    assert not at.exception, [e.value for e in at.exception]
    return at.session_state["visit"].settings


def test_an_old_value_sent_along_with_another_move_is_no_move(at):
    at.selectbox(key="set_query").set_value(2)
    at.selectbox(key="set_scale_kind").set_value("none").run()
    assert (settings(at).scale, settings(at).query) == (1.0, 0)
    assert at.selectbox(key="set_query").proto.set_value, "the browser was not told again"
    at.slider(key="set_digits").set_value(5).run()
    assert (settings(at).digits, settings(at).query) == (5, 0)


def test_an_old_value_sent_along_with_back_is_no_move(at):
    at.selectbox(key="set_query").set_value(2)
    at.query_params["digits"] = "4"
    at.run()
    assert (settings(at).digits, settings(at).query) == (4, 0)


def test_the_old_value_chosen_again_is_a_move(at):
    at.selectbox(key="set_query").set_value(2).run()
    assert settings(at).query == 2


def test_a_new_value_chosen_together_with_another_is_a_move(at):
    at.selectbox(key="set_query").set_value(1)
    at.selectbox(key="set_scale_kind").set_value("none").run()
    assert (settings(at).scale, settings(at).query) == (1.0, 1)


def test_an_old_value_chosen_beside_another_long_after_is_a_move(at):
    at.slider(key="set_digits").set_value(5).run()
    at.selectbox(key="set_query").set_value(2)
    at.selectbox(key="set_scale_kind").set_value("none").run()
    assert (settings(at).scale, settings(at).query) == (1.0, 2)


def test_what_an_overtaken_run_told_a_control_is_told_again(at, monkeypatch):
    at.selectbox(key="set_query").set_value(2).run()
    at.run()
    assert not at.selectbox(key="set_query").proto.set_value
    with monkeypatch.context() as overtaken:
        overtaken.setattr(state, "end", lambda: None)
        at.button(key="reset").click().run()
        at.slider(key="set_digits").set_value(5).run()
    at.run()
    assert at.selectbox(key="set_query").proto.set_value
    assert at.selectbox(key="set_query").proto.raw_value == at.selectbox(key="set_query").options[0]
    at.run()
    assert not at.selectbox(key="set_query").proto.set_value


def test_a_control_drawn_anew_by_an_overtaken_run_is_told_its_value_again(at, monkeypatch):
    with monkeypatch.context() as overtaken:
        overtaken.setattr(state, "end", lambda: None)
        at.button_group(key="set_below").set_value("Step by step").run()
        assert at.button_group(key="set_steps").proto.set_value
    at.run()
    assert at.button_group(key="set_steps").proto.set_value
