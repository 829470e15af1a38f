"""Exercises: blanks on the board that one fills in, and attentions with a mistake to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attention.explain.captions import describe, formula
from attention.explain.card import Card
from attention.explain.strip import Strip, asking, strip_of
from attention.explain.view import View
from attention.figures.panes import panes as figures
from attention.frameworks.diagnosis.mistakes import BY_NAME
from attention.html import lesson as tables
from attention.limits import MAX_EXERCISE, BadInput
from attention.pages.components import board
from attention.pages.frame import copy, pieces, share, state
from attention.pages.panels import cells, worksheet
from attention.session.edit.board_edits import Operation, Refusal
from attention.session.state import links
from attention.session.state.about import what_it_is
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.settings import KINDS, Settings
from attention.session.teach import exercise, planted
from attention.session.teach.by_hand import next_seed
from attention.session.teach.exercise import Cell, Exercise
from attention.vocabulary.numbers import number
from attention.vocabulary.sentences import capital, in_words
from attention.vocabulary.stages import ALWAYS, STAGES

CELL = "exercise_cell"  # a value of the page: the last that was typed or clicked
ONLY_ONE = "Only one of the known mistakes changes this stage first."
CHOOSES = "choose_blanks"  # a value of the page
QUERY = "exercise_query"  # a value of the page: the exercise and the word chosen in its strip
NUMBER = (
    f"From 1 to {MAX_EXERCISE:,}. The same number gives everyone the same exercise; a different"
    " number gives a different one."
)
FIND = (
    "Someone’s code computed this from X, W_Q, W_K and W_V, with a look-ahead mask and with one"
    " mistake. In which stage do the numbers first differ from the correct ones?"
)
FOR_A_CLASS = "Each student enters a number and gets their own exercise."
RIGHT, WRONG = "✓ Right.", "✗ Not yet."
WHICH = "Which of these mistakes did the code make?"


def begin(settings: Settings, **changes: Any) -> Settings:
    """Another exercise."""
    state.set_page_value(CELL, None)
    return exercise.begun_anew(settings, **changes)


def next_one(settings: Settings) -> Settings:
    """An exercise of the same kind with other numbers."""
    return begin(settings, exercise_seed=next_seed(settings.exercise_seed))


def to_level(settings: Settings, level: int | None, every_row: bool) -> Settings:
    state.set_page_value(CELL, None)
    return exercise.at_level(settings, level, every_row) if level else settings


# ---- what can be set -----------------------------------------------------------------------------


def rail(s: Settings, done: Exercise | None) -> None:
    with st.sidebar:
        if s.exercise != "state" and s.exercise_seed:
            number_box("Exercise number", s.exercise_seed)
        if done:
            state.setting_control(
                st.toggle,
                "Every row",
                "every_row",
                done.asks_every_row and done.level is not None,
                lambda settings, on: to_level(settings, done.level or 1, on),
            )
            state.page_control(
                st.toggle,
                "Choose the blanks",
                CHOOSES,
                False,
            )
        share.button()
        if s.exercise != "state" and s.exercise_seed:
            link = share.to_here(links.address(for_a_class(s))[0])
            copy.button("exercise_class", "Link for a class", link, FOR_A_CLASS)
        if done and done.blanks:
            worksheet.of_exercise(s, done.shown, done.blanks[0].stage)


def number_box(label: str, value: int, **options: Any) -> None:
    state.setting_control(
        st.number_input,
        label,
        "exercise_number",
        value or None,
        lambda settings, seed: begin(settings, exercise_seed=int(seed or settings.exercise_seed)),
        min_value=1,
        max_value=MAX_EXERCISE,
        step=1,
        help=NUMBER,
        **options,
    )


def choices(s: Settings, done: Exercise | None) -> None:
    """Which exercise, and what is missing."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="exercise"):
        state.setting_control(
            st.segmented_control,
            "Exercise",
            "exercise",
            s.exercise,
            lambda settings, kind: begin(settings, exercise=kind or settings.exercise, asked=()),
            options=list(KINDS),
            format_func=KINDS.__getitem__,
            required=True,
            label_visibility="collapsed",
        )
        if done:
            labels = [
                in_words([STAGES[name].heading for name in level])
                for level in exercise.levels(done.shown)
            ]
            state.setting_control(
                st.pills,
                "Missing",
                "exercise_level",
                done.level,
                lambda settings, level: to_level(
                    settings, level, done.asks_every_row and done.level is not None
                ),
                options=range(1, len(labels) + 1),
                format_func=lambda level: ("also " if level > 1 else "") + labels[level - 1],
                label_visibility="collapsed",
                width="stretch",
            )


def another(s: Settings, is_done: bool) -> None:
    if s.exercise != "state":
        state.button(
            "New exercise",
            "exercise_next",
            state.change,
            (next_one,),
            type="primary" if is_done else "secondary",
        )


def query_of(name: str, settings: Settings) -> int:
    """The word whose weights are in the strip: at first that of the exercise of this name."""
    chosen_in, query = state.page_value(QUERY, ("", 0))
    is_there = chosen_in == name and query < len(settings.tokens)
    return query if is_there else settings.query


def asks(name: str, settings: Settings) -> Callable[[object], None]:
    """Return what a click on a word of the strip does: the exercise stays as it is."""

    def ask(clicked: object) -> None:
        query = cells.word(clicked, settings.tokens)
        if query is not None:
            state.set_page_value(QUERY, (name, query))

    return ask


def strip(done: Exercise, query: int) -> Strip:
    """Where the word looks, without what is blank; the output, too, could be said of it."""
    shown = done.shown.only([name for name in done.shown.stages if name != "output"])
    found = strip_of(shown, query, done.digits)
    return asking(found, done.shut["weights"][query].tolist())


def verdict(is_right: bool, sentence: str, where: str = "") -> str:
    """What is answered to a number, a stage or a mistake."""
    return tables.answer(is_right, sentence, where, (RIGHT, WRONG))


# ---- filling in ----------------------------------------------------------------------------------


def focus(done: Exercise) -> Cell | None:
    """The cell that is spoken of: the last typed or clicked, else the first that is wrong or
    blank.
    """
    cell = state.page_value(CELL, None)
    if cell and cells.existing(
        {"stage": cell.stage, "i": cell.row, "j": cell.column}, cells.shapes(done.shown)
    ):
        return cell
    wrong = [cell for cell in done.open if done.wrong_tries(cell)]
    return next(iter([*wrong, *done.open, *done.blanks]), None)


def hinted(done: Exercise, cell: Cell | None) -> Cell | None:
    """The answer that a hint is about, this one or else the first that is wrong; a right ``cell``
    where none is wrong.
    """
    wrong = [cell for cell in done.open if done.typed(cell)]
    return wrong[0] if wrong and cell not in wrong else cell


def answered(done: Exercise, cell: Cell | None) -> str:
    """What is said of the last answer, or of the first that is wrong."""
    if done.blanks and not done.open:
        count = len(done.blanks)
        last = f"All {count} are done." if count > 1 else "All done."
        return verdict(True, _with_all_digits(done, cell) + last)
    cell = hinted(done, cell)
    if cell in done.open and done.typed(cell):
        on_board = " The arithmetic is on the board." if _has_lines(done, cell) else ""
        return verdict(False, done.hint(cell) + on_board, done.place(cell))
    if cell in done.blanks and cell not in done.open:
        return verdict(True, f"{_with_all_digits(done, cell)}{len(done.open)} to go.")
    return tables.quiet("Hover over or tap a blank to see its inputs.")


def _with_all_digits(done: Exercise, cell: Cell | None) -> str:
    """A sentence where the answer follows from the board, whose numbers are rounded."""
    if cell not in done.blanks or not done.is_rounded(cell):
        return ""
    value = number(float(done.shown.stages[cell.stage][cell[1:]]), done.digits)
    return f"The board shows rounded numbers; with all digits it is {value}. "


def _has_lines(done: Exercise, cell: Cell) -> bool:
    return done.shows_how(cell) and bool(done.how(cell))


def card(s: Settings, done: Exercise, cell: Cell | None) -> None:
    """What is to be done, how far one got, and what was answered."""
    stages = list(dict.fromkeys(STAGES[cell.stage].heading for cell in done.blanks))
    count = f"{done.done} of {len(done.blanks)}" if stages else ""
    title = f"Fill in {in_words(stages)}" if stages else "Nothing is blank"
    ask = f"Click a blank, type its number {done.precision}, and press Enter for the next."
    if stages and not done.open:
        ask = "Click any number to see how it is computed."
    if not stages:
        ask = "Switch on “Choose the blanks” in the sidebar, and click the numbers to blank."
    if state.page_value(CHOOSES, False):
        ask = "Click numbers to blank or restore them. Switch off “Choose the blanks” to solve."
    with st.container(key="lesson"):
        with st.container(horizontal=True, gap="small", key="lesson_says"):
            st.html(tables.head(count, title, ask), width="stretch")
            with st.container(horizontal=True, gap="small", width="content"):
                ways_on(s, done, cell)
        st.html(tables.powers(done.given_powers()) + answered(done, cell))


def ways_on(s: Settings, done: Exercise, cell: Cell | None) -> None:
    is_done = bool(done.blanks) and not done.open
    if is_done and done.level and done.level < len(exercise.levels(done.shown)):
        more = partial(to_level, level=done.level + 1, every_row=done.asks_every_row)
        state.button("Add a stage", "exercise_more", state.change, (more,))
    elif cell in done.open:
        state.button(
            "Show how",
            "exercise_how",
            state.change,
            (partial(exercise.asked_how, cell=cell),),
            disabled=_has_lines(done, cell),
        )
    another(s, is_done)


def filled(operations: list[Operation], goes_on: bool) -> list[Refusal]:
    """What was typed into blanks; returns what was refused."""
    refused: list[Refusal] = []

    def act(settings: Settings) -> Settings:
        for operation in operations:
            if operation.of != exercise.name_of(settings):
                continue  # it was typed into the one before, which is gone
            cell = Cell(operation.stage, operation.row, operation.column)
            try:
                settings = exercise.typed(settings, cell, operation.text)
                state.set_page_value(CELL, hinted(Exercise.of(settings), cell))
            except BadInput as problem:
                refused.append((operation.number, capital(str(problem))))
        return settings

    state.change(act, goes_on)
    return refused


def the_board(s: Settings, done: Exercise, cell: Cell | None) -> None:
    name = exercise.name_of(s)
    query = query_of(name, done.settings)
    texts = {stage: done.texts(stage) for stage in done.seen.stages}
    chooses = state.page_value(CHOOSES, False)  # then nothing is typed
    made = figures.panes(done.seen, digits=done.digits, query=query, cell=cell, blanks=texts)
    panes = [replace(pane, picks=True, edit="" if chooses else "blanks") for pane in made]
    first = done.open[0].stage if done.open and not chooses else ""
    made_of = [source for source, _ in done.shown.sources(first)] if first else []

    def clicked(place: object) -> None:
        found = cells.existing(place, cells.shapes(done.shown))
        if found is None:
            return
        state.set_page_value(CELL, Cell(*found))
        if chooses:
            state.change(partial(exercise.turned, cell=Cell(*found)))

    board.show(
        "board",
        board.Contents(
            panes,
            formula=formula(done.shown),
            spoken_of=[*made_of, first] if first else (),
            about=what_it_is(done.settings),
            query=query,
            cell=cell,
            strip=strip(done, query),
            planned=True,
            # Present picks a cell where there is a card; while blanks are chosen that would
            # empty it
            card=how_it_is_made(done, cell) if cell and not chooses else None,
        ),
        edited=name,
        on_picked=clicked,
        on_asked=asks(name, done.settings),
        on_edited=filled,
    )


def how_it_is_made(done: Exercise, cell: Cell) -> Card:
    """The arithmetic of a cell, or why it is not said yet."""
    is_shut = bool(done.shut[cell.stage][cell[1:]])
    lines = done.how(cell) if done.shows_how(cell) and (cell in done.open or not is_shut) else []
    lines += [remark] if lines and (remark := done.remark(cell)) else []
    note = "" if lines else _no_lines_yet(done, cell)
    title = ((done.place(cell), ""),)
    return Card(*cell, title=title, value="", lines=tuple(lines), note=note)


def _no_lines_yet(done: Exercise, cell: Cell) -> str:
    if cell in done.open and done.typed(cell):  # on a phone, what is said above is out of sight
        return f"{WRONG} {done.hint(cell)}"
    if waits := done.waits_for(cell):
        return f"Fill in {STAGES[waits].heading} first."
    later = "The arithmetic appears here after two wrong tries, or press “Show how”."
    return later if cell in done.open else ""


def fill_in(s: Settings, done: Exercise) -> None:
    cell = focus(done)
    card(s, done, cell)
    pieces.sentences(*state.sentences())
    the_board(s, done, cell)


# ---- finding the mistake -------------------------------------------------------------------------


def find(s: Settings) -> None:
    found, said = planted.planted(s.exercise_seed), planted.Said.of(s)
    is_found, is_shown = said.stage == found.first, said.stage_tries >= exercise.ENOUGH
    with st.container(key="lesson"):
        with st.container(horizontal=True, gap="small", key="lesson_says"):
            ask = WHICH if is_found and len(found.options) > 1 else FIND
            st.html(tables.head("", "Find the mistake", ask), width="stretch")
            with st.container(horizontal=True, gap="small", width="content"):
                ways_to_find(s, found, said)
        if not is_found:
            asked("Stage", "planted_stage", said.stage, list(ALWAYS), _heading, "stage")
        if said.stage:
            st.html(verdict(is_found, planted.of_stage(found, said.stage)))
        if is_shown and not is_found:
            st.html(tables.quiet(planted.of_stage(found, found.first)))
        if is_found and len(found.options) > 1:
            options = list(found.options)
            asked("Mistake", "planted_mistake", said.mistake, options, _title, "mistake")
        if said.mistake:
            is_right = said.mistake == found.mistake.name
            sentence = planted.of_mistake(found, said.mistake)
            if len(found.options) > 1:
                st.html(verdict(is_right, sentence))
            else:
                st.html(tables.quiet(f"{ONLY_ONE} {sentence}"))
    pieces.sentences(*state.sentences())
    cell = found.cell if is_found or is_shown else None
    name = exercise.name_of(s)
    query = query_of(name, found.settings)
    panes = [  # with the words of what it should be: its own could name the mistake
        replace(pane, sentence=describe(found.right, pane.name)["sentence"])
        for pane in figures.panes(found.wrong, digits=found.settings.digits, query=query, cell=cell)
    ]
    board.show(
        "board",
        board.Contents(
            panes,
            formula=formula(found.right),
            about=what_it_is(found.settings),
            query=query,
            cell=cell,
            strip=strip_of(as_computed(found.wrong), query, found.settings.digits),
            planned=True,
            card=how_it_should_be(found) if is_shown else None,
        ),
        on_asked=asks(name, found.settings),
    )


def how_it_should_be(found: planted.Planted) -> Card:
    """The right arithmetic of the first number that is wrong."""
    title = ((planted.should_be(found), ""),)
    return Card(*found.cell, title=title, value="", lines=tuple(planted.how(found)))


def as_computed(wrong: View) -> View:
    """The weights as they were computed, not as the mask means them: in numbers, as not all are
    shares, and hidden where they are 0 alone.
    """
    return replace(wrong, softmax=False, allowed=wrong.stages["weights"] != 0)


def ways_to_find(s: Settings, found: planted.Planted, said: planted.Said) -> None:
    is_done = said.mistake == found.mistake.name
    if is_done:
        link, _ = links.address(planted.beside(found))
        st.link_button("See both on Compare", f"./compare?{urlencode(link)}")
    elif said.stage != found.first:
        state.button(
            "Show where",
            "exercise_how",
            state.change,
            (planted.shown_how,),
            disabled=said.stage_tries >= exercise.ENOUGH,
        )
    another(s, is_done)


def asked(label: str, name: str, value: str, options: list[str], words: Any, what: str) -> None:
    state.setting_control(
        st.pills,
        label,
        name,
        value or None,
        lambda settings, choice: planted.said(settings, **{what: choice}),
        options=options,
        format_func=words,
        label_visibility="collapsed",
    )


def _heading(stage: str) -> str:
    return STAGES[stage].heading


def _title(name: str) -> str:
    return BY_NAME[name].title


# ---- the page ------------------------------------------------------------------------------------


def for_a_class(settings: Settings) -> Settings:
    """The settings of a link by which each student gets an exercise of their own like this one."""
    asked = {name: getattr(settings, name) for name in ("exercise", "asked")}
    return replace(EXAMPLES[FIRST].build(), **asked, exercise_seed=0)


def by_number(s: Settings) -> None:
    """Nothing yet: each student types a number."""
    with st.container(key="lesson"):
        ask = "Enter your number (for example from the class list) to get your own exercise."
        st.html(tables.head("", KINDS[s.exercise], ask))
        number_box("Your number", 0, width=160)
    pieces.sentences(*state.sentences())


def the_exercise(s: Settings) -> None:
    if s.exercise != "state" and not s.exercise_seed:
        rail(s, None)
        return by_number(s)
    if s.exercise == "mistake":
        rail(s, None)
        choices(s, None)
        return find(s)
    if why_not := exercise.suits(exercise.numbers_of(s)):
        rail(s, None)
        choices(s, None)
        return pieces.message_box("flag", why_not)
    done = Exercise.of(s)
    rail(s, done)
    choices(s, done)
    return fill_in(s, done)


def page(s: Settings) -> None:
    keeps = " The link keeps your progress." if state.link()[1] else ""
    pieces.opening("Exercises", f"Each answer is checked at once, with a hint.{keeps}")
    the_exercise(s)
    pieces.address()
    state.end()


page(state.begin())
