"""Typed text that survives a reload: the browser's tab keeps it, and gives it to a new session.

A component without a face. Text is kept letter by letter, before the server has it; other values as
the server has them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from attention.limits import MAX_FILE
from attention.pages.frame import pieces, scripts, state

LOST = (
    "A reload loses what is typed here: this browser does not keep it ({}). Keep a copy of your"
    " numbers."
)
TURNS = 5  # runs that ask what was kept: an answer to one that is overtaken is lost
_COMPONENT = st.components.v2.component(
    "attention_typed", html="<i hidden></i>\n", js=scripts.importing("typed.js")
)


class Field(NamedTuple):
    """Hold the default of a value that is kept, and what reads one that a browser sends.

    ``read`` raises ValueError for what the page could not have had.
    """

    default: Any
    read: Callable[[Any], Any]


def text(default: str = "") -> Field:
    """Keep a text, or a choice, which falls back on its default where it is not on offer."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or len(value) > MAX_FILE:
            raise ValueError
        return value

    return Field(default, read)


def count(least: float, most: float, default: float | None) -> Field:
    """Keep a number from ``least`` to ``most``, of their type."""
    kind = type(least)

    def read(value: Any) -> float:
        if type(value) not in (int, float) or not least <= value <= most or kind(value) != value:
            raise ValueError
        return kind(value)

    return Field(default, read)


def keep(key: str, fields: Mapping[str, Field]) -> None:
    """Have the tab keep these values of the page; in a new session put back what it kept.

    Where it keeps nothing, a sentence says so.
    """
    turn = 0 if state.page_value(f"{key}_answered", False) else state.page_value(f"{key}_turn", 1)
    if 0 < turn <= TURNS:
        state.set_page_value(f"{key}_turn", turn + 1)
    values = {name: state.page_value(name, field.default) for name, field in fields.items()}
    kept = {name: value for name, value in values.items() if value != fields[name].default}
    ask = turn if turn <= TURNS else 0
    data = {"names": list(fields), "values": kept, "session": state.session(), "ask": ask}
    with state.aside():
        _COMPONENT(
            key=key,
            data=json.dumps(data, separators=(",", ":")).encode(),
            on_found_change=partial(_found, key, fields),
            on_failed_change=partial(_failed, key),
        )
    if why := state.page_value(f"{key}_why", ""):
        pieces.message_box("flag", LOST.format(why))


def read(fields: Mapping[str, Field], sent: object) -> dict[str, Any]:
    """Return those values of what a browser sent that the page could have had.

    >>> read({"a": text(), "b": count(1, 9, 1), "c": count(0.5, 9.5, None)}, {"b": 12, "c": 2})
    {'c': 2.0}
    """
    found = {}
    for name, value in sent.items() if isinstance(sent, dict) else ():
        with suppress(KeyError, ValueError):
            found[name] = fields[name].read(value)
    return found


def _found(key: str, fields: Mapping[str, Field]) -> None:
    """Put back what the tab kept, where nothing else was typed since."""
    sent = st.session_state.get(key, {}).get("found")
    if sent is None or state.page_value(f"{key}_answered", False):
        return
    state.set_page_value(f"{key}_answered", True)
    for name, value in read(fields, sent).items():
        if state.page_value(name, fields[name].default) == fields[name].default:
            state.set_page_value(name, value)


def _failed(key: str) -> None:
    why = st.session_state.get(key, {}).get("failed")
    if why is not None:
        state.set_page_value(f"{key}_why", state.reason(why))
