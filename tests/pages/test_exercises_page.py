"""Exercises through Streamlit's AppTest: what is sent, what is said, and where one is led."""

from dataclasses import replace
from html import escape
from urllib.parse import parse_qsl, urlsplit

import messages
import numpy as np
import pytest
from pages.conftest import opened_at, ran, settings_of, words
from pages.test_check_page import head, panes
from pages.test_words_row import shared

from attention.explain.strip import strip_of
from attention.exports.worksheet import Wanted, sheets_of
from attention.figures.panes.shades import BLANK
from attention.session.compare import pair
from attention.session.edit.board_edits import Operation
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.teach import exercise, planted
from attention.session.teach.by_hand import made
from attention.session.teach.exercise import Cell, Exercise, faded
from attention.vocabulary.numbers import number

PAGE = "attention/pages/exercises.py"
CAT = EXAMPLES["cat-sat"].build()


def opened(settings):
    return opened_at(PAGE, **links.write(settings))


def asking(seed, level, row=2, **changes):
    shown = view(made(seed), run(made(seed)))
    return replace(CAT, exercise_seed=seed, asked=faded(shown, level, row), **changes)


def solved(s, count=None):
    done = Exercise.of(s)
    for cell in done.blanks[:count]:
        text = number(done.shown.stages[cell.stage][cell[1:]])
        s = exercise.typed(s, cell, text)
    return s


def everything(at) -> list[bytes]:
    """All that the browser is sent of the page, but the number of the run."""

    def walk(node):
        proto = getattr(node, "proto", None)
        if hasattr(proto, "deferred_file_id"):  # made when it is pressed; its name is random
            proto.deferred_file_id = ""
        if proto is not None and getattr(node, "label", "") != "heard":
            yield proto.SerializeToString(deterministic=True)
        for child in getattr(node, "children", {}).values():
            yield from walk(child)

    sent = list(walk(at._tree))
    assert any(b'"panes":[{' in each for each in sent)  # the board with all its figures
    return sent


# ---- the strip of words --------------------------------------------------------------------------


def test_the_strip_asks_what_is_blank_and_says_what_is_filled_in():
    s = asking(3, 2)
    whole = strip_of(view(made(3), run(made(3))), 2)
    for count in range(4):
        found = head(opened(solved(s, count)))["strip"]
        assert found["query"] == 2
        assert found["shares"] == [*whole.shares[:count], *"?" * (3 - count)]
        said = "".join(text for text, _ in found["sentence"])
        if count < 3:
            assert said == f"Where does “{made(3).tokens[2]}” look most?"
        else:
            assert said == "".join(text for text, _ in whole.sentence)


def test_the_strip_does_not_say_that_an_output_is_0_that_is_asked_for():
    four = EXAMPLES["four-words"].build()
    drawn = ((False,) * 4, *[(True,) * 4] * 3)
    s = replace(four, mask="drawn", drawn=drawn, query=0, exercise="state")
    said = head(opened(s))["strip"]["sentence"]
    assert "".join(text for text, _ in said) == "“w1” sees no key, so its weights are 0."


def test_the_word_of_the_strip_is_that_of_its_exercise():
    at = opened(asking(3, 1))
    visit = at.session_state["visit"]
    visit.page_values["exercise_query"] = exercise.name_of(settings_of(at)), 0
    assert head(ran(at))["strip"]["query"] == 0
    at.query_params["exercise_seed"] = "5"  # by Back, for one
    assert head(ran(at))["strip"]["query"] == 2
    s = replace(CAT, exercise="state")
    at = opened(s)
    at.session_state["visit"].page_values["exercise_query"] = exercise.name_of(s), 5
    assert head(ran(at))["strip"]["query"] == 5
    for name, value in links.write(replace(made(1), exercise="state")).items():
        at.query_params[name] = value  # three words now
    assert len(head(ran(at))["strip"]["queries"]) == 3


def test_of_a_mistake_the_strip_has_the_numbers_of_the_board():
    for seed in (2, 4, 9):
        found = planted.planted(seed)
        strip = head(opened(replace(CAT, exercise="mistake", exercise_seed=seed)))["strip"]
        row = found.wrong.stages["weights"][found.settings.query]
        assert strip["shares"] == [number(weight) if weight else "–" for weight in row]


# ---- nothing of a blank is sent ------------------------------------------------------------------


@pytest.mark.parametrize(
    "s",
    [
        asking(3, 1),
        asking(3, 2, None),
        solved(asking(5, 4), 5),
        replace(solved(asking(7, 3), 2), answers=("99", "", "88"), tries=(1, 0, 1)),
        asking(2, 6, None),
        replace(CAT, exercise="state"),
        replace(CAT, exercise="state", asked=("scores.1.2", "V.0", "weights.3")),
        replace(EXAMPLES["sentence"].build(), exercise="state", asked=("weights",)),
        replace(asking(4, 1), asked=("masked", "scaled.2.0")),
    ],
)
def test_the_page_would_be_sent_the_same_whatever_numbers_are_shut(s, monkeypatch):
    rng = np.random.default_rng(1)
    shut = Exercise.of(s).shut
    assert any(where.any() for where in shut.values())

    def with_others(settings, trace):
        """The view with other numbers wherever they are not to be seen, and other zeros."""
        true = view(settings, trace)
        other = {
            name: np.where(shut[name], rng.normal(0, 50, M.shape), M)
            for name, M in true.stages.items()
        }
        return replace(true, stages=other, zeros={n: ~shut[n] & w for n, w in true.zeros.items()})

    as_it_is = everything(opened(s))
    monkeypatch.setattr(exercise, "view", with_others)
    assert everything(opened(s)) == as_it_is
    # and the test can fail: what is seen is sent
    monkeypatch.setattr(exercise.Exercise, "seen", property(lambda self: self.shown))
    assert everything(opened(s)) != as_it_is


def test_what_is_right_is_shown_and_what_is_made_of_it_too():
    s = asking(5, 2)
    before = panes(opened(s))
    assert before["weights"]["blanks"] == [[2, 0], [2, 1], [2, 2]]
    assert before["output"]["blanks"] == [[2, 0], [2, 1]]
    assert before["weights"]["texts"][2] == ["?", "?", "?"]
    assert (before["weights"]["codes"] == BLANK).sum() == 3
    assert np.isnan(before["weights"]["values"][2]).all()
    assert before["weights"]["alt"].endswith(
        "; " + messages.CELLS_TO_FILL_IN.format(cells="3 cells")
    )
    after = panes(opened(solved(s)))
    assert not any(pane["blanks"] for pane in after.values())
    assert not (after["weights"]["codes"] == BLANK).any()
    only_scores = replace(s, asked=("scores.2.1",))
    waiting = panes(opened(only_scores))
    assert waiting["output"]["texts"][2] == ["…", "…"] and waiting["output"]["blanks"] == []
    assert waiting["output"]["codes"][2].tolist() == [126, 126]  # the colour of 0
    assert np.isnan(waiting["output"]["values"][2]).all()


# ---- what is said --------------------------------------------------------------------------------


def test_no_arithmetic_is_shown_while_blanks_are_chosen():
    at = opened(asking(3, 2))
    assert head(at)["card"]
    (switch,) = [each for each in at.toggle if each.label == "Choose the blanks"]
    ran(switch.set_value(True))
    assert head(at)["card"] is None  # Present picks a cell where there is one, which would empty it


def test_the_card_counts_says_what_to_look_at_and_leads_on():
    s = asking(5, 2)
    at = opened(s)
    assert "<span>0 of 5</span> " + messages.FILL_IN.format(stages="weights and output") in words(
        at
    )
    given = Exercise.of(s).given_powers()
    assert given and all(f" = {text}</span>" in words(at) for text in given.values())
    wrong = exercise.typed(s, Cell("weights", 2, 1), "0.99")
    at = opened(wrong)
    hint = Exercise.of(wrong).hint(Cell("weights", 2, 1))
    not_yet = f"{messages.ANSWER_IS_WRONG}</b>"
    assert f"{not_yet} <b>weights, row rivers, column feeds</b> · {hint}" in words(at)
    lines = Exercise.of(wrong).how(Cell("weights", 2, 1))
    assert len(lines) == 4 and head(at)["card"]["lines"] == []
    assert head(at)["card"]["note"] == f"{messages.ANSWER_IS_WRONG} {hint}"
    ran(at.button(key="exercise_how").click())
    assert head(at)["card"]["lines"][:4] == lines and at.button(key="exercise_how").disabled
    assert (
        head(at)["card"]["lines"][4] == messages.POWERS_ARE_ROUNDED
        and not head(at)["card"]["chain"]
    )
    assert messages.ARITHMETIC_IS_ON_THE_BOARD in words(at)
    at = opened(solved(s))
    said = messages.ALL_OF_THEM.format(count=5)
    assert f"{messages.ANSWER_IS_RIGHT}</b> {said}" in words(at)
    ran(at.button(key="exercise_more").click())
    assert settings_of(at).asked == ("masked.2", "weights.2", "output.2")
    assert settings_of(at).answers == ()
    ran(at.button(key="exercise_next").click())
    assert settings_of(at).exercise_seed == 6
    assert settings_of(at).asked == ("masked.2", "weights.2", "output.2")
    at.session_state["visit"].settings = replace(settings_of(at), exercise_seed=8)  # overtaken
    ran(at.button(key="exercise_next").click())
    assert settings_of(at).exercise_seed == 9


def test_what_is_typed_on_the_board_is_judged_and_no_number_is_refused(monkeypatch):
    s = asking(5, 1)
    at = opened(s)
    value = number(Exercise.of(s).shown.stages["output"][2, 0])
    type_on(at, monkeypatch, [Operation(1, "cell", "output", 2, 0, value)])
    assert settings_of(at).answers == (value,)
    assert f"{messages.ANSWER_IS_RIGHT}</b> {messages.TO_GO.format(count=1)}" in words(at)
    type_on(
        at,
        monkeypatch,
        [
            Operation(2, "cell", "output", 2, 1, "abc"),
            Operation(3, "cell", "X", 0, 0, "5"),
            Operation(4, "cell", "nothing", 9, 9, "5"),
            Operation(5, "cell", "output", 2, 1, "77"),
        ],
    )
    assert settings_of(at).answers == (value, "77") and settings_of(at).tries == (0, 1)
    assert settings_of(at).matrices == CAT.matrices
    refused = at.session_state["visit"].page_values["board_edits"]["refused"]
    assert [k for k, _ in refused] == [2, 3, 4]
    assert refused[0][1].startswith(messages.NOT_AN_ANSWER.format(text="abc"))


def test_hint_card_and_chosen_cell_are_of_one_blank(monkeypatch):
    """After a wrong answer and a right one, the wrong one is still spoken of."""
    s = asking(5, 1)
    first, second = Exercise.of(s).blanks
    right = number(Exercise.of(s).shown.stages[second.stage][second[1:]])
    at = opened(s)
    type_on(at, monkeypatch, [Operation(1, "cell", *first, "99")])
    type_on(at, monkeypatch, [Operation(2, "cell", *second, right)])
    done = Exercise.of(settings_of(at))
    assert done.place(first) in words(at) and done.place(second) not in words(at)
    assert head(at)["cell"] == list(first)
    assert head(at)["card"]["title"][0][0] == done.place(first)


def test_what_was_typed_before_another_exercise_came_is_no_answer_to_that(monkeypatch):
    before = asking(5, 1)
    for now in (asking(6, 1), asking(5, 2), replace(before, exercise="state")):
        at = opened(now)
        typed = [Operation(1, "cell", "output", 2, 0, "77")]
        type_on(at, monkeypatch, typed, exercise.name_of(before))
        assert settings_of(at).answers == () == settings_of(at).tries


def type_on(at, monkeypatch, operations, of="") -> None:
    """As the board sends it: AppTest cannot fire a component's trigger."""
    from attention.pages.components import board

    of = of or exercise.name_of(settings_of(at))
    sent = [list(op._replace(of=of)) for op in operations]
    message = {"client": "a", "operations": sent, "more": False}
    shown = board._COMPONENT

    def fires(**given):
        if not fires.done:
            fires.done = True
            monkeypatch.setattr(board.state, "trigger", lambda key, name: message)
            given["on_edited_change"]()
        return shown(**given)

    fires.done = False
    with monkeypatch.context() as patch:
        patch.setattr(board, "_COMPONENT", fires)
        ran(at)
    ran(at)


def test_levels_rows_kinds_and_numbers_begin_anew():
    at = opened(solved(asking(5, 1)))
    ran(at.button_group(key="set_exercise_level").set_value(3))
    assert settings_of(at).asked == ("masked.2", "weights.2", "output.2")
    assert settings_of(at).answers == ()
    ran(at.toggle(key="set_every_row").set_value(True))
    assert settings_of(at).asked == ("masked", "weights", "output")
    ran(at.number_input(key="set_exercise_number").set_value(40))
    assert settings_of(at).exercise_seed == 40
    assert settings_of(at).asked == ("masked", "weights", "output")
    ran(at.button_group(key="set_exercise").set_value("state"))
    assert settings_of(at).exercise == "state" and settings_of(at).asked == ()
    assert panes(at)["X"]["rows"] == ["the (1)", "cat", "sat", "on", "the (2)", "mat"]
    assert panes(at)["output"]["blanks"] == [[2, j] for j in range(4)]


def test_a_teachers_link_asks_each_pupil_for_a_number():
    at = opened(asking(5, 2))
    sent = [element.proto.bytes for element in at.get("bidi_component")]
    assert any(messages.FOR_A_CLASS.encode() in each for each in sent)
    link = shared(at)["Link for a class"]
    at = opened_at(PAGE, **dict(parse_qsl(urlsplit(link).query)))
    assert settings_of(at).exercise_seed == 0 and not panes(at)
    assert at.query_params["exercise_seed"] in ("0", ["0"])
    ran(at.number_input(key="set_exercise_number").set_value(17))
    assert panes(at)["X"]["rows"] == list(made(17).tokens)
    assert panes(at)["weights"]["blanks"] == [[2, 0], [2, 1], [2, 2]]


def test_a_state_without_an_exercise_says_why():
    from attention.session.edit.changes import set_tokens

    long = set_tokens(CAT, tuple(f"w{k}" for k in range(13)), [None] * 13)
    at = opened(replace(long, exercise="state"))
    assert messages.EXERCISE_TOO_LONG.format(limit=12) in words(at) and not panes(at)


@pytest.mark.parametrize(
    ("s", "first", "seed"),
    [
        (asking(5, 1), "output", 5),
        (asking(5, 6, None), "Q", 5),
        (replace(asking(5, 1), asked=("V.0",)), "Q", 5),
        (replace(CAT, exercise="state", asked=("scaled.1",), scale=1.0), "weights", 0),
    ],
)
def test_it_is_there_on_paper_from_what_is_asked_first_and_without_its_key(s, first, seed):
    at = opened(s)
    wanted, settings = at.session_state["visit"].page_values["worksheet"]
    assert wanted == Wanted(first, with_key=False, sheets=min(seed, 1), seed=seed or 1)
    (sheet,) = sheets_of(wanted, settings)
    assert sheet.tasks[0].grid.name == first
    assert sheet.tasks[-1].grid.rows == Exercise.of(s).shown.rows("output")
    assert [b.proto.label for b in at.get("download_button")] == ["Download worksheet (HTML)"]
    assert not at.get("download_button")[0].proto.disabled
    assert messages.OPEN_AND_PRINT in words(at)


# ---- find the mistake ----------------------------------------------------------------------------


def test_the_one_mistake_of_a_stage_is_named_and_not_called_an_answer():
    found = planted.planted(1)
    at = opened(replace(CAT, exercise="mistake", exercise_seed=1))
    ran(at.button_group(key="set_planted_stage").set_value("Q"))
    said = f"{messages.ONLY_ONE_MISTAKE} {planted.of_mistake(found, found.mistake.name)}"
    assert escape(said) in words(at)
    assert words(at).count(messages.ANSWER_IS_RIGHT) == 1


def test_a_mistake_is_found_by_its_stage_and_its_name():
    found = planted.planted(4)
    at = opened(replace(CAT, exercise="mistake", exercise_seed=4))
    shown = panes(at)
    assert shown["output"]["alt"] == next(
        pane.alt for name, pane in _panes_of(found.wrong).items() if name == "output"
    )
    titles = [pair.BY_NAME[name].title for name in found.options]
    assert not any(escape(title) in words(at) for title in titles)
    assert len(at.button_group) == 2  # the kinds and the stages: no mistake is offered yet
    ran(at.button_group(key="set_planted_stage").set_value("output"))
    said = messages.STAGES_BEFORE_ARE_WRONG.format(stage="output")
    assert f"{messages.ANSWER_IS_WRONG}</b> {said}" in words(at)
    assert not head(at).get("cell") and not head(at).get("card")
    ran(at.button(key="exercise_how").click())
    assert escape(planted.seen_at(found)) in words(at)
    assert tuple(head(at)["cell"]) == found.cell
    assert head(at)["card"]["lines"] == planted.how(found)
    assert head(at)["card"]["title"] == [["scaled, row dogs, column dogs: should be 0.50", ""]]
    assert messages.WHICH_MISTAKE not in words(at)
    ran(at.button_group(key="set_planted_stage").set_value("scaled"))
    assert messages.WHICH_MISTAKE in words(at)
    said = messages.DIFFERS_FIRST.format(stage="scaled", cell=escape(planted.seen_at(found)))
    assert f"{messages.ANSWER_IS_RIGHT}</b> {said}" in words(at)
    ran(at.button_group(key="set_planted_mistake").set_value("scale: none"))
    assert escape(planted.of_mistake(found, "scale: none")) in words(at)
    ran(at.button_group(key="set_planted_mistake").set_value("scale: d_k"))
    assert escape(planted.of_mistake(found, "scale: d_k")) in words(at)
    link = dict(parse_qsl(urlsplit(at.get("link_button")[0].proto.url).query))
    assert links.read(link)[0] == planted.beside(found)
    ran(at.button(key="exercise_next").click())
    assert settings_of(at).exercise_seed == 5 and settings_of(at).answers == ()


def _panes_of(shown):
    from attention.figures.panes.panes import panes as made_panes

    return {pane.name: pane for pane in made_panes(shown)}


def test_before_it_is_found_the_page_is_sent_nothing_of_what_would_be_right(monkeypatch):
    s = replace(CAT, exercise="mistake", exercise_seed=4, answers=("output",), tries=(1,))
    as_it_is = everything(opened(s))
    found = planted.planted(4)
    right = {name: M + 1000 for name, M in found.right.stages.items()}
    other = replace(found, right=replace(found.right, stages=right), options=("scale: none",) * 4)
    monkeypatch.setattr(planted, "planted", lambda seed: other)
    assert everything(opened(s)) == as_it_is


@pytest.mark.parametrize("seed", [4, 7, 16, 28])
def test_no_words_around_a_matrix_name_the_mistake(seed):
    shown = panes(opened(replace(CAT, exercise="mistake", exercise_seed=seed)))
    right = _panes_of(planted.planted(seed).right)
    for name, pane in shown.items():
        assert [pane[word] for word in ("formula", "sentence", "symbol", "group")] == [
            getattr(right[name], word) for word in ("formula", "sentence", "symbol", "group")
        ]


@pytest.mark.parametrize("whole", [True, False])
def test_the_link_is_said_to_keep_the_progress_only_where_it_does(whole):
    at = opened(asking(5, 2))
    if not whole:
        visit = at.session_state["visit"]
        rng = np.random.default_rng(1)
        wide = {name: Matrix(rng.normal(size=(4, 300))) for name in ("W_Q", "W_K")}
        visit.settings = replace(visit.settings, matrices=CAT.matrices | wide)
        ran(at)
    assert (messages.PROGRESS_IS_KEPT in words(at)) == whole
    assert len(shared(at)["Link for a class"]) < 100  # numbers of Explore are not in it
    assert (messages.DO_NOT_FIT_INTO_A_LINK in words(at)) != whole
