"""The parts that real layers add, behind one line of the rail: each off until it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.core.scores import SIGMOID
from attention.limits import MAX_LONG_TOKENS
from attention.pages.frame import pieces, state
from attention.pages.panels import before_scores
from attention.session.edit import changes
from attention.session.edit import parts as prepared
from attention.session.state.settings import Settings
from attention.vocabulary.parts import PARTS

HEADING = "Features of real models"
FIRST_CAP, FIRST_WINDOW = 2.0, 2
Change = Callable[[Settings, Any], Settings]


def panel(s: Settings) -> None:
    """A closed panel, whose controls are made once it is open, and the parts that are in use."""
    opened = st.expander(HEADING, key="real_layers", on_change="rerun")
    if s.parts and not opened.open:
        pieces.note(f"In use: {', '.join(PARTS[name].label for name in s.parts)}.")
    if opened.open:
        with opened:
            for name, row in ROWS.items():
                row(s, name)
                st.caption(PARTS[name].sentence)


def _toggle(turn: Change, more: Callable[[Settings], None] | None = None) -> Callable:
    """A switch, and where it is on what more there is to set."""

    def row(s: Settings, name: str) -> None:
        on = name in s.parts
        state.setting_control(st.toggle, PARTS[name].label, f"{name}_on", on, turn)
        if on and more:
            more(s)

    return row


def _kv_heads(s: Settings, name: str) -> None:
    state.setting_control(
        st.selectbox,
        "Heads of keys and values",
        "kv_heads",
        s.kv_heads,
        changes.set_kv_heads,
        options=[g for g in range(1, s.heads + 1) if s.heads % g == 0],
    )


def _number(label: str, name: str, value: float, apply: Change, **options: Any) -> None:
    state.setting_control(st.number_input, label, name, value, apply, **options)


def _softcap(s: Settings) -> None:
    _number(
        "Scores stay within ±",
        "softcap",
        s.softcap or FIRST_CAP,
        lambda s, cap: replace(s, softcap=cap),
        min_value=1e-3,
        max_value=1e6,
        step=0.5,
        format="%.6g",
    )


def _window(s: Settings) -> None:
    _number(
        "Keys that a query sees",
        "window",
        s.window,
        lambda s, seen: replace(s, window=seen),
        min_value=1,
        max_value=MAX_LONG_TOKENS,
        step=1,
    )


def _sink(s: Settings) -> None:
    """That of the head that is shown."""
    _number(
        f"Sink of head {s.head}" if s.heads > 1 else "Sink",
        "sink",
        s.sinks[s.head % len(s.sinks)],
        changes.set_sink,
        min_value=-1e6,
        max_value=1e6,
        step=0.5,
        format="%.6g",
    )


def _sinks(s: Settings, on: bool) -> Settings:
    if on and s.softmax is not True:
        gone = f"“{PARTS[SIGMOID].label}” is off: a sink" if s.softmax else "Softmax is on: a sink"
        state.remark(f"{gone} is part of the sum of a softmax.")
    return changes.set_sinks(s, on)


def _sigmoid(s: Settings, on: bool) -> Settings:
    """The sinks, which have no place beside a sigmoid, are back once it is off again."""
    new, before = changes.set_sigmoid(s, on), state.page_value("sinks_before", ())
    if s.sinks and on:
        state.remark("“Sinks” are off: each weight is made by itself, without a sum.")
    elif not on and len(before) in (1, s.heads):
        state.remark("“Sinks” are on again, as they were.")
        new = replace(new, sinks=before)
    state.set_page_value("sinks_before", s.sinks if on else ())
    return new


ROWS: dict[str, Callable[[Settings, str], None]] = {
    "biases": _toggle(prepared.set_biases, before_scores.biases),
    "positions": _toggle(prepared.set_positions),
    "norm": _toggle(prepared.set_norm, before_scores.norm),
    "rotary": _toggle(prepared.set_rotary, before_scores.rotary),
    "kv_heads": _kv_heads,
    "softcap": _toggle(lambda s, on: replace(s, softcap=FIRST_CAP if on else None), _softcap),
    "alibi": _toggle(lambda s, on: replace(s, alibi=on)),
    "relative": _toggle(prepared.set_relative, before_scores.relative),
    "window": _toggle(lambda s, on: replace(s, window=FIRST_WINDOW if on else 0), _window),
    "sinks": _toggle(_sinks, _sink),
    SIGMOID: _toggle(_sigmoid),
}
