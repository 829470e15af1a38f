"""A worksheet to print: of the numbers on the board, or a set for a class."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from attention.explain.view import View
from attention.explain.worksheet import choices, refusal
from attention.exports.worksheet import MIME, Wanted, to_bytes
from attention.limits import MAX_EXERCISE, MAX_SHEETS
from attention.pages.frame import pieces, state
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.session.teach.by_hand import made
from attention.vocabulary.sentences import capital
from attention.vocabulary.stages import STAGES

HOW_TO_PRINT = "Open the file in a browser and press Ctrl+P to print it or to save it as PDF."
WITHOUT_KEY = "The worksheet leaves whole stages blank and has no answer key."
OWN, CLASS = "numbers on the board", "a class set"
SET = (
    "In a class set each sheet is one page with its own small whole numbers, drawn from a seed:"
    " the first sheet from the first seed, the others from the next seeds. Seed 7 gives the numbers"
    " of exercise 7 (“By hand”) on the page Exercises. The answer keys are on separate pages at the"
    " end."
)


def offer(s: Settings, shown: View, name: str) -> None:
    """What stands on the sheets, and their files."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = state.page_control(
            st.segmented_control,
            "Numbers",
            "worksheet_numbers",
            OWN,
            options=[OWN, CLASS],
            required=True,
        )
        is_class = kind == CLASS
        numbers = _example() if is_class else shown
        first = _first(numbers)
        with_key = state.page_control(st.toggle, "with answer key", "worksheet_key", True)
        count, seed = _set() if is_class else (0, 1)
    why = refusal(numbers, first)
    wanted = Wanted(first, with_key, count, seed)
    state.set_page_value("worksheet", (wanted, s))
    st.download_button(
        "Download worksheet (HTML)",
        partial(_sheet_at_rest, state.page_values_at_rest()),
        f"{'attention_class_set' if is_class else name}_worksheet.html",
        MIME,
        on_click="ignore",
        key="take_worksheet",
        disabled=bool(why),
    )
    if why:
        pieces.note(capital(why))
    else:
        pieces.note(HOW_TO_PRINT, *([SET] if is_class else []))


def of_exercise(s: Settings, shown: View, stage: str) -> None:
    """A button for the sheet of an exercise, empty from the stage on that is asked first; without
    its key, which would be sent before anything is answered.
    """
    first = _from(shown, stage)
    wanted = Wanted(first, with_key=False)
    if s.exercise != "state":
        wanted = Wanted(first, with_key=False, sheets=1, seed=s.exercise_seed)
    state.set_page_value("worksheet", (wanted, s))
    why = refusal(shown, first)
    st.download_button(
        "Download worksheet (HTML)",
        partial(_sheet_at_rest, state.page_values_at_rest()),
        "attention_exercise.html",
        MIME,
        on_click="ignore",
        key="take_exercise",
        disabled=bool(why),
    )
    pieces.note(capital(why) if why else f"{WITHOUT_KEY} {HOW_TO_PRINT}")


def _from(shown: View, stage: str) -> str:
    """The first stage of a sheet that begins with this one."""
    order, offered = list(shown.stages), choices(shown)
    least = order.index("Q" if stage in ("K", "V") else stage)
    return next((name for name in offered if order.index(name) >= least), offered[-1])


def _example() -> View:
    """What every sheet of a class has, but for its numbers."""
    return view(made(1), run(made(1)))


def _first(numbers: View) -> str:
    """The stage from which on all is empty."""
    options = choices(numbers)
    if not options:
        return ""
    return state.page_control(
        st.selectbox,
        "Leave blank from this stage on",
        "worksheet_first",
        options[0],
        options=options,
        format_func=lambda stage: "Q, K, V" if stage == "Q" else STAGES[stage].heading,
        width=150,
    )


def _set() -> tuple[int, int]:
    """How many sheets, and the seed of the first."""
    number: dict[str, Any] = {"min_value": 1, "step": 1, "width": 130}
    count = state.page_control(
        st.number_input, "Sheets", "worksheet_count", 30, max_value=MAX_SHEETS, **number
    )
    seed = state.page_control(
        st.number_input, "First seed", "worksheet_seed", 1, max_value=MAX_EXERCISE, **number
    )
    return count, seed


def _sheet_at_rest(values_at_rest: Callable[[], dict[str, Any]]) -> bytes:
    """What is chosen in the end, where the press follows a change at once."""
    wanted, settings = values_at_rest()["worksheet"]
    return to_bytes(wanted, settings)
