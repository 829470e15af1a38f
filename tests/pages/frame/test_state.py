"""What a browser sends that has not yet heard, or never hears, what its controls were told."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import messages
import numpy as np
import pytest
import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.testing.v1 import AppTest

from attention.limits import BadInput
from attention.pages.components import board
from attention.pages.frame import pieces, state, store
from attention.pages.panels import controls
from attention.session.state import links
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.matrix import Matrix
from attention.session.state.settings import Settings
from attention.session.teach import tour
from attention.vocabulary.sentences import capital

APP = Path(__file__).parents[3] / "app.py"
LIST = "examples_four-words"  # of all examples


@pytest.fixture
def at() -> AppTest:
    """Explore after Reset has taken the look-ahead mask off."""
    at = AppTest.from_file(str(APP), default_timeout=30)
    at.query_params["example"] = "four-words"
    at.run()
    at.selectbox(key="set_mask").set_value("causal").run()
    at.before = heard(at).value
    at.button(key="reset").click().run()
    assert (settings(at).mask, at.selectbox(key="set_mask").value) == ("none", "none")
    return at


def heard(at: AppTest):
    """What the browser says that it has heard; here all, unless a test sets it back."""
    return at.text_input(key=state.HEARD)


def settings(at: AppTest):
    assert not at.exception, [e.value for e in at.exception]
    return at.session_state["visit"].settings


def went_back(at: AppTest, address: dict, monkeypatch) -> None:
    """Back or Forward, with which the browser sends no control."""
    at.query_params.clear()
    at.query_params.update(address)
    with monkeypatch.context() as begun:
        begun.setattr(state.internals, "went_back", lambda: True)
        at._run(WidgetStates())


def left_before_it_came(at: AppTest, monkeypatch) -> None:
    """A page chosen by the menu, whose run Back to Explore overtakes."""
    with monkeypatch.context() as overtaken:
        overtaken.setattr(pieces, "opening", lambda *given: st.stop())
        at.switch_page("attention/pages/variance.py")
        at.query_params.clear()
        at.run()
    at.switch_page("attention/pages/explore.py")


def large_state() -> Settings:
    """Four words with weights that no link holds."""
    large, rng = EXAMPLES["four-words"].build(), np.random.default_rng(3)
    for name in ("W_Q", "W_K"):
        large = large.with_matrix(name, Matrix(rng.standard_normal((4, 32))))
    return large


def store_answers(monkeypatch, **answer) -> None:
    """The browser answers so, whatever state it is asked for."""

    def find(turn, mark, found):
        found({"mark": mark} | answer)
        st.rerun()

    monkeypatch.setattr(store, "find", find)


def test_an_old_value_sent_along_with_another_move_is_no_move(at):
    heard(at).set_value(at.before)
    at.selectbox(key="set_mask").set_value("causal")
    at.selectbox(key="set_scale_kind").set_value("none").run()
    assert (settings(at).scale, settings(at).mask) == (1.0, "none")
    assert at.selectbox(key="set_mask").proto.set_value, "the browser was not told again"
    at.slider(key="set_digits").set_value(5).run()
    assert (settings(at).digits, settings(at).mask) == (5, "none")


def test_an_old_value_sent_along_with_back_is_no_move(at):
    heard(at).set_value(at.before)
    at.selectbox(key="set_mask").set_value("causal")
    at.query_params["digits"] = "4"
    at.run()
    assert (settings(at).digits, settings(at).mask) == (4, "none")


def test_a_value_chosen_before_the_browser_heard_another_is_kept_and_told_again(at):
    """The browser hears of Reset only now, and would show and send that with the next move."""
    heard(at).set_value(at.before)
    at.selectbox(key="set_mask").set_value("causal_lower_right").run()
    assert settings(at).mask == "causal_lower_right"
    assert at.selectbox(key="set_mask").proto.set_value
    heard(at).set_value(at.before)
    at.selectbox(key="set_mask").set_value("none")
    at.slider(key="set_digits").set_value(5).run()
    assert (settings(at).digits, settings(at).mask) == (5, "causal_lower_right")


def test_a_control_moved_together_with_back_moves_what_the_address_stands_for(at):
    at.query_params["digits"] = "4"
    at.selectbox(key="set_mask").set_value("causal_lower_right").run()
    assert (settings(at).digits, settings(at).mask) == (4, "causal_lower_right")


def test_back_is_told_its_address_where_another_may_still_be_on_its_way(at, monkeypatch):
    written = []
    monkeypatch.setattr(
        type(state.st.query_params), "from_dict", lambda self, found: written.append(found)
    )
    at.query_params["digits"] = ["4"]
    heard(at).set_value(at.before)
    at.run()
    assert (settings(at).digits, written) == (4, [{"example": "four-words", "digits": "4"}])


def test_back_tells_every_control_its_value_for_a_move_just_before_may_be_lost(at):
    """Streamlit drops the moves of a message that one of Back overtakes."""
    at.query_params["digits"] = ["4"]
    at.run()
    assert at.selectbox(key="set_scale_kind").proto.set_value
    at.slider(key="set_digits").set_value(5).run()
    assert not at.selectbox(key="set_scale_kind").proto.set_value


def test_an_address_that_the_browser_was_told_later_is_not_back(at):
    """A move made before the browser has taken over the address of the last one."""
    at.slider(key="set_digits").set_value(5).run()
    before, earlier = heard(at).value, dict(at.query_params)
    at.slider(key="set_digits").set_value(6).run()
    heard(at).set_value(before)
    at.query_params.clear()
    at.query_params.update(earlier)
    at.selectbox(key="set_mask").set_value("causal_lower_right").run()
    assert (settings(at).digits, settings(at).mask) == (6, "causal_lower_right")


def test_forward_counts_though_the_browser_had_not_heard_of_back(at, monkeypatch):
    """Both runs are overtaken before their end."""
    at.slider(key="set_digits").set_value(5).run()
    before, here = heard(at).value, dict(at.query_params)
    for address, digits in (({"example": ["four-words"]}, 2), (here, 5)):
        heard(at).set_value(before)
        went_back(at, address, monkeypatch)
        assert settings(at).digits == digits


def test_back_from_a_page_that_never_came_keeps_what_was_changed_just_before(at, monkeypatch):
    address = dict(at.query_params)
    with monkeypatch.context() as overtaken:
        overtaken.setattr(pieces, "opening", lambda *given: st.stop())
        at.slider(key="set_digits").set_value(5).run()
    left_before_it_came(at, monkeypatch)
    went_back(at, address, monkeypatch)
    assert settings(at).digits == 5


def test_back_to_the_bare_address_opens_it_though_the_menu_asked_by_it(monkeypatch):
    at = AppTest.from_file(str(APP), default_timeout=30).run()
    at.switch_page("attention/pages/explore.py").run()
    assert not at.query_params
    at.slider(key="set_digits").set_value(5).run()
    left_before_it_came(at, monkeypatch)
    went_back(at, {}, monkeypatch)
    assert settings(at).digits == 2


def test_back_to_a_large_state_that_still_stands_does_not_ask_the_browser_for_it(at, monkeypatch):
    store_answers(monkeypatch, file=None, why="denied")
    large = large_state()
    at.session_state["visit"].settings = large
    at.switch_page("attention/pages/explore.py").run()
    address = dict(at.query_params)
    assert "partial" in address
    left_before_it_came(at, monkeypatch)
    went_back(at, address, monkeypatch)
    assert settings(at) == large


def test_the_menu_leads_to_another_page_by_a_bare_address_and_keeps_what_is_set(at):
    at.slider(key="set_digits").set_value(5).run()
    at.switch_page("attention/pages/variance.py")
    at.query_params.clear()
    at.run()
    assert (settings(at).digits, at.query_params["digits"]) == (5, "5")


def test_back_to_the_bare_address_of_another_page_opens_what_it_opened(at, monkeypatch):
    at.slider(key="set_digits").set_value(5).run()
    at.switch_page("attention/pages/variance.py")
    at.query_params.clear()
    monkeypatch.setattr(state, "_by_menu", lambda visit: False)
    at.run()
    assert (settings(at).example, settings(at).digits) == ("cat-sat", 2)


def test_a_control_moved_together_with_back_to_a_bare_address_moves_what_that_opens(at):
    at.query_params.clear()
    at.slider(key="set_digits").set_value(5).run()
    assert (settings(at).example, settings(at).digits) == ("cat-sat", 5)


def test_back_to_the_opening_opens_it_though_another_page_was_looked_at_before_anything_changed():
    at = AppTest.from_file(str(APP), default_timeout=30).run()
    opening = settings(at)
    for page in ("variance", "explore"):
        at.switch_page(f"attention/pages/{page}.py").run()
        assert not at.query_params
    at.slider(key="set_digits").set_value(5).run()
    assert settings(at).digits == 5
    at.query_params.clear()
    at.run()
    assert settings(at) == opening


def test_the_chosen_cell_stays_in_the_link_where_the_tour_opens_with_another():
    at = AppTest.from_file(str(APP), default_timeout=30)
    at.query_params |= {"example": "cat-sat", "cell": "weights,1,2", "heads": "2"}
    before = settings(at.run())
    assert before.cell == ("weights", 1, 2)
    at.switch_page("attention/pages/learn.py").run()
    assert settings(at).cell is None and settings(at).heads == 1
    at.query_params.clear()  # as the menu asks for a page
    at.switch_page("attention/pages/explore.py").run()
    assert settings(at) == before


def test_the_old_value_chosen_again_is_a_move(at):
    at.selectbox(key="set_mask").set_value("causal").run()
    assert settings(at).mask == "causal"


def test_a_new_value_chosen_together_with_another_is_a_move(at):
    at.selectbox(key="set_mask").set_value("causal_lower_right")
    at.selectbox(key="set_scale_kind").set_value("none").run()
    assert (settings(at).scale, settings(at).mask) == (1.0, "causal_lower_right")


def test_an_old_value_chosen_beside_another_long_after_is_a_move(at):
    at.slider(key="set_digits").set_value(5).run()
    at.selectbox(key="set_mask").set_value("causal")
    at.selectbox(key="set_scale_kind").set_value("none").run()
    assert (settings(at).scale, settings(at).mask) == (1.0, "causal")


def test_what_an_overtaken_run_told_a_control_is_told_again(at, monkeypatch):
    at.selectbox(key="set_mask").set_value("causal").run()
    at.run()
    assert not at.selectbox(key="set_mask").proto.set_value
    with monkeypatch.context() as overtaken:
        overtaken.setattr(state, "end", lambda: None)
        at.button(key="reset").click().run()
        at.slider(key="set_digits").set_value(5).run()
    at.run()
    assert at.selectbox(key="set_mask").proto.set_value
    assert at.selectbox(key="set_mask").proto.raw_value == at.selectbox(key="set_mask").options[0]
    at.slider(key="set_digits").set_value(4).run()
    assert not at.selectbox(key="set_mask").proto.set_value


def test_a_control_drawn_anew_by_an_overtaken_run_is_told_its_value_again(at, monkeypatch):
    with monkeypatch.context() as overtaken:
        overtaken.setattr(state, "end", lambda: None)
        at.button_group(key="set_below").set_value("Initialise").run()
        assert at.selectbox(key="set_matrix").proto.set_value
    at.run()
    assert at.selectbox(key="set_matrix").proto.set_value


def test_numbers_confirmed_first_after_a_restart_are_used():
    before = AppTest.from_file(str(APP), default_timeout=30).run()
    before.button_group(key="set_below").set_value("Your data").run()
    before.text_area(key="set_load_text").set_value("1 2\n3 4").run()
    before.button(key="load_use").click()
    restarted = AppTest.from_file(str(APP), default_timeout=30)
    restarted._run(before._tree.get_widget_states())
    assert settings(restarted).matrices["X"].values.tolist() == [[1, 2], [3, 4]]


def test_a_press_goes_on_from_the_press_before_though_no_step_of_it_was_drawn_yet():
    at = AppTest.from_file(str(APP), default_timeout=30).run()
    at.switch_page("attention/pages/learn.py").run()
    at.session_state["visit"].settings = tour.go(settings(at), 3)
    at.button(key="tour_next").click().run()
    assert settings(at).step == 4


@pytest.fixture
def pasted() -> AppTest:
    """Explore with four rows pasted and not used yet."""
    at = AppTest.from_file(str(APP), default_timeout=30).run()
    at.button_group(key="set_below").set_value("Your data").run()
    return at.text_area(key="set_load_text").set_value("1 2 3 4\n" * 4).run()


def values(at: AppTest, name: str) -> list:
    return settings(at).matrices[name].values.tolist()


def test_a_press_waits_for_the_field_that_was_moved_just_before(pasted):
    X = values(pasted, "X")
    pasted.selectbox(key="set_load_role").set_value("W_V")
    pasted.button(key="load_use").click().run()
    assert (values(pasted, "X"), values(pasted, "W_V")) == (X, [[1, 2, 3, 4]] * 4)


def test_a_text_that_was_not_seen_is_not_used(pasted):
    X = values(pasted, "X")
    pasted.text_area(key="set_load_text").set_value("5 6\n7 8")
    pasted.button(key="load_use").click().run()
    assert values(pasted, "X") == X
    assert pasted.session_state["visit"].notices == [state.UNSEEN.format("Use these numbers")]
    pasted.button(key="load_use").click().run()
    assert values(pasted, "X") == [[5, 6], [7, 8]]


def test_a_button_pressed_as_soon_as_it_stands_there_counts(pasted, monkeypatch):
    pasted.text_area(key="set_load_text").set_value("").run()
    with monkeypatch.context() as overtaken:
        overtaken.setattr(state, "end", lambda: None)
        pasted.text_area(key="set_load_text").set_value("5 6\n7 8").run()
    pasted.button(key="load_use").click().run()
    assert values(pasted, "X") == [[5, 6], [7, 8]]


def test_a_saved_state_that_was_not_seen_is_not_opened(pasted):
    seen, unseen = (
        links.to_file(replace(EXAMPLES["lookup"].build(), digits=digits)).decode()
        for digits in (5, 6)
    )
    pasted.text_area(key="set_load_text").set_value(seen).run()
    before = settings(pasted)
    pasted.text_area(key="set_load_text").set_value(unseen)
    pasted.button(key="open_file").click().run()
    assert settings(pasted) == before
    assert pasted.session_state["visit"].notices == [state.UNSEEN.format("Open this state")]
    pasted.button(key="open_file").click().run()
    assert settings(pasted).digits == 6


def test_a_saved_state_of_another_format_is_refused_and_all_stays(pasted):
    file = json.loads(links.to_file(EXAMPLES["lookup"].build())) | {"format": 2}
    before = settings(pasted)
    pasted.text_area(key="set_load_text").set_value(json.dumps(file)).run()
    pasted.button(key="open_file").click().run()
    assert settings(pasted) == before
    said = capital(messages.OTHER_FORMAT.format(written=2, read=1))
    assert pasted.session_state["visit"].notices == [said]
    assert any(said in element.proto.body for element in pasted.get("html"))


def test_back_counts_above_a_press_that_waits(pasted):
    pasted.session_state["visit"].pressed["load_use"] = 99  # by a run that was overtaken
    pasted.query_params.clear()
    pasted.query_params["digits"] = "4"
    pasted.run()
    assert settings(pasted).digits == 4 and values(pasted, "X") != [[1, 2, 3, 4]] * 4


def test_a_page_chosen_by_the_menu_keeps_what_is_set_though_its_first_run_is_overtaken(
    at, monkeypatch
):
    at.switch_page("attention/pages/variance.py").run()
    at.query_params.clear()
    with monkeypatch.context() as overtaken:
        overtaken.setattr(board, "show", lambda *given, **more: st.stop())
        at.switch_page("attention/pages/explore.py").run()
    at.query_params.clear()
    assert settings(at.run()).example == "four-words" != FIRST


def test_a_move_made_before_the_browser_hears_of_another_page_counts(at, monkeypatch):
    explore = at._tree
    with monkeypatch.context() as overtaken:
        overtaken.setattr(pieces, "opening", lambda *given: st.stop())
        at.switch_page("attention/pages/variance.py").run()
    at._tree = explore
    at.slider(key="set_digits").set_value(5)
    assert settings(at.switch_page("attention/pages/explore.py").run()).digits == 5


def test_a_page_chosen_before_that_of_another_choice_could_begin_keeps_what_is_set(at, monkeypatch):
    """Why √d_k and at once Explore: the run of the first ends before it knows its visitor."""
    explore = at.switch_page("attention/pages/explore.py")._page_hash
    pressed, configure = [RerunData(page_script_hash=explore)], st.set_page_config

    def overtaken(**config):
        if pressed:
            raise RerunException(pressed.pop())
        configure(**config)

    monkeypatch.setattr(st, "set_page_config", overtaken)
    at.switch_page("attention/pages/variance.py").query_params.clear()
    assert settings(at.run()).example == "four-words" != FIRST
    at.switch_page("attention/pages/explore.py").query_params.clear()
    assert settings(at.run()).example == FIRST, "Back to the bare address opens it"


def test_an_answer_of_the_store_that_comes_after_it_left_the_page_is_dropped(monkeypatch):
    monkeypatch.setattr(store.st, "session_state", {})
    answers: list[dict] = []
    store._hand_on("lacks", answers.append)
    assert answers == []
    monkeypatch.setattr(store.st, "session_state", {store.KEY: {"lacks": {"digests": []}}})
    store._hand_on("lacks", answers.append)
    assert answers == [{"digests": []}]


@pytest.fixture
def set_up() -> AppTest:
    """Explore with controls moved away from the example."""
    at = AppTest.from_file(str(APP), default_timeout=30)
    at.query_params |= {"example": "four-words", "heads": "2", "mask": "causal"}
    return at.run()


def begun_anew(before: AppTest) -> AppTest:
    """Another session, begun by what the browser sends next, as after a restart."""
    restarted = AppTest.from_file(str(APP), default_timeout=30)
    if LIST in before.session_state:  # whether it is open is sent too, which AppTest does not
        restarted.session_state[LIST] = before.session_state[LIST]
    restarted.query_params |= links.address(settings(before))[0]
    return restarted._run(before._tree.get_widget_states())


@pytest.mark.parametrize(
    ("kind", "key", "value", "changed"),
    [
        ("selectbox", "set_heads", 1, {"heads": 1}),
        ("selectbox", "set_scale_kind", "number", {"scale": 0.5**0.5}),
        ("button_group", "set_parts", ["softmax", "context"], {"context": True}),
        ("button_group", "set_head", 1, {"head": 1}),
        ("multiselect", "set_padding", [1], {"padding": (1,)}),
    ],
)
def test_the_first_move_of_a_new_session_is_carried_out(set_up, kind, key, value, changed):
    getattr(set_up, kind)(key=key).set_value(value)
    assert settings(begun_anew(set_up)) == replace(settings(set_up), **changed)


def test_after_a_restart_the_heatmap_shows_the_stage_it_showed_and_no_cell_is_chosen(set_up):
    set_up.button_group(key="set_below").set_value("Heatmap").run()
    set_up.selectbox(key="set_stage").set_value("V").run()
    set_up.text_input(key="set_sentence").set_value("my own five words here").run()
    assert settings(set_up).cell is None and set_up.selectbox(key="set_stage").value == "V"
    restarted = begun_anew(set_up)
    assert settings(restarted) == settings(set_up)
    for at in (restarted, restarted.run()):
        assert at.selectbox(key="set_stage").value == "V"
        (drawn,) = at.get("plotly_chart")
        (before,) = set_up.get("plotly_chart")
        assert drawn.proto.spec == before.proto.spec
    restarted.selectbox(key="set_stage").set_value("K").run()
    assert settings(restarted).cell[0] == "K"


@pytest.mark.parametrize("page", ["variance", "conventions", "check"])
def test_a_page_that_is_opened_first_has_what_its_link_leaves_out(page, monkeypatch):
    large = large_state()
    address = links.address(large)[0]
    file = json.dumps({"attention": "stage by stage", "link": links.write(large)})
    store_answers(monkeypatch, file=file)
    at = AppTest.from_file(str(APP), default_timeout=30)
    at.query_params |= address
    at.switch_page(f"attention/pages/{page}.py").run()
    assert "partial" in address and settings(at) == large


@pytest.mark.parametrize(("pressed", "example"), [("reset", "four-words"), ("batch", "batch")])
def test_what_sets_all_anew_is_not_undone_by_what_controls_showed(set_up, pressed, example):
    """Where it is the first move of a session, which takes controls as the browser sent them."""
    key = pressed if pressed == "reset" else f"example_{pressed}"
    set_up.session_state[LIST] = True
    set_up.run()
    set_up.button(key=key).click()
    restarted = begun_anew(set_up)
    assert links.address(settings(restarted)) == links.address(EXAMPLES[example].build())
    assert restarted.selectbox(key="set_heads").value == 1


def test_a_press_that_overtakes_the_first_run_of_a_session_is_not_undone(set_up, monkeypatch):
    """That run had drawn the button, and not yet the controls below it."""
    with monkeypatch.context() as overtaken:
        overtaken.setitem(controls.GROUPS, "Attention", lambda s: st.stop())
        restarted = begun_anew(set_up)
    set_up.button(key="reset").click()
    restarted._run(set_up._tree.get_widget_states())
    assert links.address(settings(restarted)) == links.address(EXAMPLES["four-words"].build())


def test_a_control_moved_in_a_first_run_that_is_overtaken_keeps_showing_it(set_up, monkeypatch):
    set_up.selectbox(key="set_heads").set_value(1)
    with monkeypatch.context() as overtaken:
        overtaken.setitem(controls.GROUPS, "Parts", lambda s: st.stop())
        restarted = begun_anew(set_up)
        for _ in range(2):
            assert restarted.selectbox(key="set_heads").value == 1
            assert settings(restarted).heads == 2
            restarted.run()
    assert settings(restarted.run()).heads == 1


def test_back_takes_back_what_a_first_run_that_it_overtakes_was_sent(set_up, monkeypatch):
    """After a restart the browser sends its controls, and then Back once more."""
    set_up.selectbox(key="set_heads").set_value(1)
    with monkeypatch.context() as overtaken:
        overtaken.setitem(controls.GROUPS, "Parts", lambda s: st.stop())
        restarted = begun_anew(set_up)
    went_back(restarted, dict(restarted.query_params), monkeypatch)
    assert settings(restarted).heads == restarted.selectbox(key="set_heads").value == 2


def test_the_browser_is_told_to_ask_the_next_server_before_any_control_is_drawn(at, monkeypatch):
    drawn = []
    monkeypatch.setattr(state, "_awake", lambda: drawn.append(True))
    monkeypatch.setitem(controls.GROUPS, "Attention", lambda s: st.stop())
    at.run()
    assert drawn == [True]


def test_of_changes_that_waited_each_is_done_and_each_refusal_said(monkeypatch):
    def refused(settings):
        raise BadInput("this is too much.")

    visit = state.Visit(EXAMPLES["four-words"].build(), [])
    visit.waiting_changes = [refused, lambda settings: replace(settings, digits=5), refused]
    monkeypatch.setattr(state.st, "session_state", {"visit": visit})
    assert "last" not in board._answer("board"), "what waits was acknowledged"
    state._carry_out(visit)
    assert visit.settings.digits == 5
    assert visit.notices == ["This is too much."] * 2
    assert board._answer("board")["last"] == 0


def test_a_file_waits_for_a_run_that_begins_late_and_for_the_one_that_follows_it(at, monkeypatch):
    visit, now = at.session_state["visit"], [0.0]
    runs = {0.2: "begins", 0.6: "ends", 0.9: "begins", 1.5: "ends"}  # seconds of a clock of ours

    def sleep(seconds):
        now[0] += seconds
        for moment in [moment for moment in runs if moment <= now[0]]:
            if runs.pop(moment) == "begins":
                visit.run += 1
            else:
                visit.ended = visit.run
                visit.page_values["title"] = moment

    clock = SimpleNamespace(sleep=sleep, monotonic=lambda: now[0])
    monkeypatch.setattr(state, "time", clock)
    monkeypatch.setattr(state, "_visit", lambda: visit)
    visit.ended = visit.run
    assert state.page_values_at_rest()()["title"] == 1.5 and not runs
