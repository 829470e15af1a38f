"""The panel where numbers come in: a table to type in, a roll of the dice, a person's own data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from attention.limits import MAX_EDITED
from attention.pages import parts, state, your_data
from attention.session import changes, editing
from attention.session import settings as inputs
from attention.session.links import MATRICES
from attention.session.matrix import Recipe
from attention.session.run import labels
from attention.session.settings import DRAWN, Settings
from attention.stages import STAGES
from attention.view import distinct
from attention.weights import INITIALISERS

MASK, DATA = "mask", "data"
NAMES = {"memory": "Y", DATA: ":material/upload: your data"}
# Each begins with its own: equal seeds roll equal matrices.
SEEDS = {name: seed for seed, name in enumerate(MATRICES)}


def editable(s: Settings) -> list[str]:
    """What can be edited now, in reading order."""
    return [name for name in STAGES if name in s.matrices] + [MASK, DATA]


def choice(s: Settings) -> str | None:
    """The row of names to choose from, and which is chosen."""
    options = editable(s)
    if state.page_value("editing", None) not in options:
        state.set_page_value("editing", None)
    return state.page_control(
        st.pills,
        "Edit",
        "editing",
        None,
        options=options,
        format_func=lambda name: NAMES.get(name, name.replace("_", "\\_")),
    )


def editor(s: Settings, chosen: str | None) -> None:
    """The editor of what is chosen."""
    if chosen is None:
        return
    with st.container(border=True, key="editor"):
        if chosen != DATA:
            your_data.forget()
        if chosen in (MASK, DATA):
            (_mask if chosen == MASK else your_data.panel)(s)
            return
        left, right = st.columns([3, 2], gap="medium")
        with left:
            _numbers(s, chosen)
        with right:
            _roll(s, chosen)
            state.button(
                "Paste it or open a file",
                f"bring_{chosen}",
                _bring,
                (chosen,),
                icon=":material/upload:",
            )


# ---- typing cell by cell ----------------------------------------------------


def _numbers(s: Settings, name: str) -> None:
    import pandas as pd

    if s.shape(name)[0] * s.shape(name)[1] > MAX_EDITED:
        parts.note(
            f"{name} has {s.shape(name)[0]} × {s.shape(name)[1]} numbers, too many to type into;"
            " roll it or bring a file."
        )
        return
    key, (tokens, rows) = state.table(name, editing.content(s, name))
    titles = editing.column_labels(s, name, len(rows[0]))
    frame = pd.DataFrame(
        [list(row) for row in rows], columns=[f"c{k}" for k in range(len(rows[0]))], dtype=object
    )
    config = {
        f"c{k}": st.column_config.TextColumn(title, width=64) for k, title in enumerate(titles)
    }
    if tokens is not None:
        frame.insert(0, "token", list(tokens))
        config["token"] = st.column_config.TextColumn("token", width=90)
    else:
        given = labels(s).get(STAGES[name].rows, ())
        frame.index = list(given) if len(given) == len(rows) else range(1, len(rows) + 1)
        config["_index"] = st.column_config.Column(disabled=True)
    remark = s.matrices[name].remark
    st.caption(
        parts.plain(f"{name}, {len(rows)} × {len(rows[0])}" + (f" · {remark}" if remark else ""))
    )
    st.data_editor(
        frame,
        key=key,
        column_config=config,
        hide_index=tokens is not None,
        width="stretch",
        num_rows="dynamic" if tokens is not None else "fixed",
        on_change=_commit,
        args=(name, key),
    )
    if tokens is not None:
        state.button(
            "Add a token", f"add_{name}", state.change, (lambda s: editing.add_token(s, name),)
        )
    state.heed(key, _commit, name, key)


def _commit(name: str, key: str) -> None:
    base, found = state.edits(name, key)
    if (
        not state.change(lambda s: editing.edit(s, name, base, found))
        or found["added_rows"]
        or found["deleted_rows"]
    ):
        state.reopen(name)
    else:
        state.table_is(name, editing.content(state.current(), name))


# ---- rolling ----------------------------------------------------------------


def _roll(s: Settings, name: str) -> None:
    recipe = s.matrices[name].recipe or Recipe("integers", SEEDS[name], 0, 3)
    first, second = st.columns([3, 2])
    with first:
        kind = state.page_control(
            st.selectbox,
            "Choose or roll",
            f"kind_{name}",
            recipe.kind,
            options=list(INITIALISERS),
            format_func=lambda kind: INITIALISERS[kind].label,
        )
    with second:
        seed = state.page_control(
            st.number_input,
            "Seed",
            f"seed_{name}",
            recipe.seed,
            min_value=0,
            max_value=2**32 - 1,
            step=1,
        )
    ends = float(recipe.low), float(recipe.high)
    if INITIALISERS[kind].ranged:
        first, second = st.columns(2)
        with first:
            low = state.page_control(
                st.number_input, "From", f"low_{name}", ends[0], step=1.0, format="%g"
            )
        with second:
            high = state.page_control(
                st.number_input, "To, not included", f"high_{name}", ends[1], step=1.0, format="%g"
            )
        ends = low, high
    buttons = st.columns(2)
    word = "Use identity" if kind == "identity" else "Roll"
    with buttons[0]:
        state.button(
            word,
            f"roll_{name}",
            _rolled,
            (name, kind, seed, *ends),
            type="primary",
            width="stretch",
        )
    if name == "X":
        with buttons[1]:
            state.button("One-hot", "one_hot", state.change, (changes.one_hot,), width="stretch")


def _rolled(name: str, *drawn: Any) -> None:
    """By what stands in the fields now: who chooses and presses at once means that."""
    fields = ("kind", "seed", "low", "high")
    kind, seed, low, high = (
        state.page_value(f"{field}_{name}", value)
        for field, value in zip(fields, drawn, strict=True)
    )
    if state.change(lambda s: editing.roll(s, name, Recipe(kind, seed, low, high))):
        rolled = state.current().matrices[name].recipe
        if rolled is not None:
            state.set_page_value(f"seed_{name}", rolled.seed)


def _bring(name: str) -> None:
    state.set_page_value("editing", DATA)
    state.set_page_value("load_for", name)


# ---- the mask ---------------------------------------------------------------


def _mask(s: Settings) -> None:
    import pandas as pd

    allowed = inputs.as_drawn(inputs.allowed(replace(s, padding=())))
    queries, keys = distinct(s.tokens), distinct(s.key_tokens)
    key, base = state.table(MASK, (queries, keys, allowed))
    frame = pd.DataFrame(base[2], index=list(queries), columns=[f"c{k}" for k in range(len(keys))])
    config = {
        f"c{k}": st.column_config.CheckboxColumn(token, width=80) for k, token in enumerate(keys)
    }
    st.caption(
        "Ticked: the query (row) may look at the key (column). A change makes this the drawn mask."
    )
    st.data_editor(
        frame, key=key, column_config=config, width="content", on_change=_commit_mask, args=(key,)
    )
    state.heed(key, _commit_mask, key)


def _commit_mask(key: str) -> None:
    s = state.current()
    base, found = state.edits(MASK, key)
    grid = np.array(base[2], bool)
    for row, cells in found["edited_rows"].items():
        for column, ticked in cells.items():
            grid[int(row), int(column[1:])] = bool(ticked)
    drawn = inputs.as_drawn(grid)
    if state.change(lambda s: replace(s, mask=DRAWN, drawn=drawn)):
        state.table_is(MASK, (distinct(s.tokens), distinct(s.key_tokens), drawn))
