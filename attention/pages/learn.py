"""Learn: the guided tour over the board, one idea and one thing to try at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from attention.explain.captions import formula
from attention.explain.card import Card, Cell, card_of
from attention.explain.strip import Strip, asking
from attention.explain.view import View
from attention.figures.panes import panes as figures
from attention.html import lesson as tables
from attention.pages.components import board
from attention.pages.frame import pieces, state
from attention.pages.panels import cells, controls, words
from attention.session.state.about import what_it_is
from attention.session.state.examples import FIRST
from attention.session.state.settings import LAST_STEP, Settings
from attention.session.teach import tour
from attention.session.teach.tour import Now
from attention.vocabulary.notation import in_html

COUNT = LAST_STEP - 1  # steps, without the introduction and the end
BEGAN, CHOSEN = "tour_began", "tour_chosen"  # values of the page
ON = {
    "Practise in Exercises": "exercises",
    "Use your own sentence": ".st-key-sentence_box input",
    "See a trained head": "model",
}


def with_example(settings: Settings) -> Settings:
    """The step with an example that suits the tour."""
    return tour.go(state.example(settings, FIRST), settings.step)


def opening(settings: Settings) -> Settings:
    """The introduction as “Next” and “Back” begin a step, whatever was set on another page."""
    begins = settings.step == 0 and not tour.tour_problem(settings)
    return tour.go(settings, 0) if begins else settings


def began(now: Now) -> Now:
    """What this step began with, as far as this session knows."""
    before: Now = state.page_value(BEGAN, now)
    if tour.remembered(before.s, now.s) is not before.s:
        before = now
    state.set_page_value(BEGAN, before)
    return before


def about(now: Now) -> tuple:
    """What an answer is about: another sentence, query or number is another question."""
    return now.s.step, now.s.tokens, now.s.query, now.shown.stages["masked"][now.i].tobytes()


def chosen(now: Now) -> str | None:
    question, choice = state.page_value(CHOSEN, (None, None))
    return choice if question == about(now) else None


def choose(settings: Settings, choice: str | None) -> Settings:
    if choice is not None:
        state.set_page_value(CHOSEN, (about(Now(settings)), choice))
    return settings


def way(s: Settings, label: str, by: int, key: str, look: str = "secondary") -> None:
    """A button that goes so many steps on from where the tour is when it is pressed."""
    state.button(
        label,
        f"tour_{label.lower()}",
        state.change,
        (lambda settings: tour.go(settings, settings.step + by),),
        shortcut=key,
        disabled=not 0 <= s.step + by <= LAST_STEP,
        type=look,
    )


def ways(s: Settings, is_done: bool) -> None:
    with st.container(horizontal=True, gap="small", width="content", key="tour_ways"):
        way(s, "Back", -1, "Left")
        if s.step < LAST_STEP:
            way(s, "Next", 1, "Right", "primary" if is_done else "secondary")
            to, label = LAST_STEP, "Skip the tour"
        else:
            to, label = 0, "Start again"
        go = (lambda settings: tour.go(settings, to),)
        state.button(label, "tour_skip", state.change, go, type="tertiary")


def text(before: Now, now: Now, said: tour.Reply, choice: str | None) -> None:
    """The idea, and what the step asks for or says of what was done."""
    with st.container(key="lesson"), st.container(key="tour", gap="xsmall"):
        st.html(tables.tour_step(tour.idea(before, now), said.kind, said.text))
        if options := tour.options(now):
            state.setting_control(
                st.pills,
                "The key with the largest weight",
                "tour_answer",
                choice,
                choose,
                options=list(options),
                label_visibility="collapsed",
            )
        if now.s.step == LAST_STEP:
            with st.container(horizontal=True, vertical_alignment="center", key="tour_end"):
                pieces.links_to(ON)


def without_numbers(shown: View, hidden: tuple[str, ...]) -> View:
    """The view without the numbers that would give the answer away."""
    blank = {name: np.full_like(shown.stages[name], np.nan) for name in hidden}
    return replace(shown, stages=shown.stages | blank, zeros={}) if hidden else shown


def strip(now: Now, hides: bool) -> Strip:
    found = cells.strip(now.s, now.shown)
    return asking(found, [hides] * len(found.shares))


def card(now: Now, cell: Cell, hidden: tuple[str, ...]) -> Card:
    if not hidden:
        return cells.card(now.s, now.shown, cell)
    return replace(card_of(now.shown, cell, now.s.digits), chain=())


def cell_of_card(before: Now, now: Now, hidden: tuple[str, ...]) -> Cell:
    s, shown = now.s, now.shown.stages
    if s.cell is not None and s.cell[0] in tour.stages(now) and s.cell[0] not in hidden:
        name, i, j = s.cell
        rows, columns = shown[name].shape
        if i < rows and j < columns:
            return s.cell
    return (now.shown.before_weights, s.query, 0) if hidden else tour.cell(before, now)


def live_board(before: Now, now: Now, is_done: bool) -> None:
    """All stages; those that the step does not speak of are dimmed."""
    s, step = now.s, tour.STEPS[now.s.step]
    hidden = () if is_done else tuple(name for name in step.hides if name in now.shown.stages)
    cell = cell_of_card(before, now, hidden)
    shown = without_numbers(now.shown, hidden)
    look: dict[str, Any] = {"digits": s.digits, "query": s.query, "cell": cell}
    look["blanks"] = {
        name: dict.fromkeys(np.ndindex(shown.stages[name].shape), "") for name in hidden
    }
    panes = [
        replace(cells.let_edit(pane, s), picks=True)
        for pane in figures.panes(shown, only=tour.stages(now), **look)
    ]

    def show_cell(clicked: object) -> None:
        """The query stays: the tour goes on about it, also where another row was clicked."""
        if found := cells.existing(clicked, cells.shapes(now.shown)):
            state.change(lambda settings: replace(settings, cell=found))

    board.show(
        "board",
        board.Contents(
            panes,
            formula=formula(now.shown),
            spoken_of=tour.spoken_of(now),
            query=s.query,
            cell=cell,
            planned=True,
            steady=True,
            card=card(now, cell, hidden),
            about=what_it_is(s),
            strip=strip(now, bool(hidden)),
            play=() if hidden else cells.play(s, now.shown),
        ),
        on_picked=show_cell,
        on_asked=cells.ask,
        on_edited=cells.edit,
    )


def refused(s: Settings, why: str) -> None:
    pieces.opening("Guided tour")
    controls.rail(s, "")
    words.row(s)
    pieces.sentences(*state.sentences())
    with st.container(key="lesson"):
        pieces.message_box("flag", why)
        state.button("Start with the example", "tour_example", state.change, (with_example,))


def the_step(s: Settings) -> None:
    now = Now(s)
    before, choice = began(now), chosen(now)
    said = tour.reply(before, now, choice)
    is_done = said.kind == "done"
    count = f"<span>{s.step} of {COUNT}</span>" if 0 < s.step < LAST_STEP else ""
    with pieces.opening(f"{count}{in_html(tour.STEPS[s.step].title)}"):
        ways(s, is_done)
    controls.tour_rail(s)
    text(before, now, said, choice)
    words.row(s)
    pieces.sentences(*state.sentences())
    live_board(before, now, is_done)


def page(s: Settings) -> None:
    if why := tour.tour_problem(s):
        refused(s, why)
    else:
        the_step(s)
    pieces.address()
    state.end()


page(state.begin(opening=opening))
