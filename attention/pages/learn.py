"""Learn: the guided way over the board, one idea and one thing to do at a time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.captions import formula
from attention.figures import panes as figures
from attention.html import lesson as tables
from attention.pages import board, cells, controls, parts, state, words
from attention.session import lesson
from attention.session.about import what_it_is
from attention.session.examples import EXAMPLES
from attention.session.run import run, view
from attention.session.settings import Settings
from attention.stages import STAGES
from attention.view import View

SUITING = "cat-sat"  # an example
BEGAN, DONE, GUESSED = "lesson_began", "lesson_done", "lesson_guessed"  # values of the page

s = state.begin()
step, count = lesson.STEPS[s.step - 1], len(lesson.STEPS)


def begin(settings: Settings) -> Settings:
    """The step with an example that suits the way."""
    return lesson.go(state.example(settings, SUITING), settings.step)


def began() -> Settings:
    """The settings this step began with, as far as this visit knows."""
    k, before = state.page_value(BEGAN, (None, s))
    before = before if k == s.step and before.tokens == s.tokens else s
    state.set_page_value(BEGAN, (s.step, before))
    return before


def guessed() -> str | None:
    """What was guessed of the sentence and the query that stand."""
    about, choice = state.page_value(GUESSED, (None, None))
    return choice if about == (s.tokens, s.query, s.step) else None


def guess(settings: Settings, choice: str | None) -> Settings:
    if choice is not None:
        about = settings.tokens, settings.query, settings.step
        state.set_page_value(GUESSED, (about, choice))
    return settings


def card(shown: View, choice: str | None) -> None:
    """What the step says and asks for, whether it was done, and the ways on and back."""
    if step.is_done(began(), s) or choice is not None:
        state.set_page_value(DONE, state.page_value(DONE, frozenset()) | {s.step})
    done = s.step in state.page_value(DONE, frozenset())
    with st.container(key="lesson"):
        with st.container(horizontal=True, gap="small", key="lesson_says"):
            idea, ask = step.idea(s, shown), step.did if done else step.ask(s, shown)
            st.html(tables.step(s.step, count, step.title, idea, ask, done), width="stretch")
            with st.container(horizontal=True, gap="small", width="content"):
                way("Previous step", -1, "back", "Left")
                way("Next step", 1, "forward", "Right", "primary" if done else "secondary")
        if step.guess:
            asked = step.guess(s, shown)
            state.setting_control(
                st.pills, asked.question, "lesson_guess", choice, guess, options=list(asked.options)
            )
            if choice is not None:
                st.html(tables.answer(choice in asked.right, asked.answer))


def way(label: str, by: int, arrow: str, key: str, look: str = "secondary") -> None:
    """A button that goes so many steps on from where the lesson is when it is pressed."""
    state.button(
        label,
        f"lesson_{key.lower()}",
        state.change,
        (lambda settings: lesson.go(settings, settings.step + by),),
        icon=f":material/arrow_{arrow}:",
        shortcut=key,
        help="A step of the way.",
        disabled=not 1 <= s.step + by <= count,
        type=look,
    )


def live_board(shown: View, hidden: Collection[str]) -> None:
    """The stages of the step, and dim below them the others; but not those ``hidden``."""
    there = [name for name in shown.stages if name not in hidden]
    # of hidden stages only what was picked, or it would give the answer away
    cell = s.cell if hidden else cells.chosen(s, shown, step.stages[-1])
    look: dict[str, Any] = {"digits": s.digits, "query": s.query, "cell": cell}
    panes = [
        replace(cells.let_edit(pane, s), picks=True)
        for pane in figures.panes(shown, only=there, **look)
    ]

    def show_cell(clicked: object) -> None:
        cell = cells.existing(clicked, cells.shapes(shown))
        if cell:
            i = cell[1] if STAGES[cell[0]].rows == "queries" else s.query
            state.change(lambda settings: replace(settings, cell=cell, query=i))

    board.show(
        "board",
        panes,
        formula=formula(shown),
        spoken_of=step.stages,
        query=s.query,
        cell=cell,
        planned=True,
        card=None if hidden or cell is None else cells.card(s, shown, cell),
        about=what_it_is(s),
        strip=None if "weights" in hidden else cells.strip(s, shown),
        play=() if hidden else cells.play(s, shown),
        on_picked=show_cell,
        on_asked=cells.ask,
        on_edited=cells.edit,
    )


def page() -> None:
    if why_not := lesson.suits(s):
        parts.message_box("flag", why_not)
        title = f"Begin with “{EXAMPLES[SUITING].title}”"
        state.button(title, "lesson_begin", state.change, (begin,))
        return
    shown, choice = view(s, run(s)), guessed()
    card(shown, choice)
    hidden = step.hides if step.guess and choice is None else ()
    live_board(shown, hidden)


parts.opening(f"Attention in {count} steps", "Each explains one idea and asks you to try it.")
controls.rail(s, "")
words.row(s)
parts.sentences(*state.sentences())
page()
parts.address()
state.end()
