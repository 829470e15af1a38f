"""The panel where numbers come in: a table to type in, a roll of the dice, a box to paste into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from attention.inputs import editing
from attention.inputs import settings as inputs
from attention.inputs.editing import WEIGHTS
from attention.inputs.matrices import Recipe, write_matrix
from attention.inputs.settings import DRAWN, Settings
from attention.inputs.system import distinct, labels
from attention.pages import state
from attention.stages import STAGES
from attention.weights import INITIALISERS

MASK = "mask"


def editable(s: Settings) -> list[str]:
    """What can be edited now, in reading order."""
    return [name for name in STAGES if name in s.matrices] + [MASK]


def panel(s: Settings, sizes: str) -> None:
    """The row of names to choose from, and the editor of the chosen one."""
    options = editable(s)
    chosen = state.kept("editing", None)
    chosen = chosen if chosen in options else None
    st.session_state["editing"] = chosen
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="edit_row"):
        st.markdown("Edit the numbers of")
        st.pills("Edit", options, key="editing", on_change=lambda: state.keep("editing", st.session_state["editing"]),
                 format_func=lambda name: name.replace("_", "\\_"), label_visibility="collapsed")  # fmt: skip
        st.caption(escape(sizes))
    if chosen is None:
        return
    with st.container(border=True, key="editor"):
        if chosen == MASK:
            _mask(s)
            return
        left, right = st.columns([3, 2], gap="medium")
        with left:
            _numbers(s, chosen)
        with right:
            _roll(s, chosen)
            _paste(s, chosen)


# ---- typing cell by cell ----------------------------------------------------------------------------


def _numbers(s: Settings, name: str) -> None:
    import pandas as pd

    key, (tokens, rows) = state.table(name, editing.content(s, name))
    titles = editing.column_labels(s, name, len(rows[0]))
    frame = pd.DataFrame([list(row) for row in rows], columns=[f"c{k}" for k in range(len(rows[0]))], dtype=object)
    config = {f"c{k}": st.column_config.TextColumn(title, width=64) for k, title in enumerate(titles)}
    if tokens is not None:
        frame.insert(0, "token", list(tokens))
        config["token"] = st.column_config.TextColumn("token", width=90)
    else:
        given = labels(s).get(STAGES[name].rows, ())
        frame.index = list(given) if len(given) == len(rows) else range(1, len(rows) + 1)
        config["_index"] = st.column_config.Column(disabled=True)
    remark = s.matrices[name].remark
    st.caption(escape(f"{name}, {len(rows)} × {len(rows[0])}" + (f" · {remark}" if remark else "")))
    st.data_editor(frame, key=key, column_config=config, hide_index=tokens is not None, width="stretch",
                   num_rows="dynamic" if tokens is not None else "fixed", on_change=_commit, args=(name, key))  # fmt: skip
    if tokens is not None:
        st.button("Add a token", key=f"add_{name}", on_click=state.change, args=(lambda s: editing.add_token(s, name),))


def _commit(name: str, key: str) -> None:
    _, base = state.table(name, editing.content(state.current(), name))
    found = state.edits(key)
    if not state.change(lambda s: editing.edit(s, name, base, found)) or found["added_rows"] or found["deleted_rows"]:
        state.reopen(name)
    else:
        state.table_is(name, editing.content(state.current(), name))


# ---- rolling and pasting ----------------------------------------------------------------------------


def _roll(s: Settings, name: str) -> None:
    recipe = s.matrices[name].recipe or Recipe("integers", 0, 0, 3)
    kind, seed = state.kept(f"kind_{name}", recipe.kind), state.kept(f"seed_{name}", recipe.seed)
    low, high = state.kept(f"low_{name}", recipe.low), state.kept(f"high_{name}", recipe.high)

    def field(widget, label, part, value, **options):
        key = f"roll_{part}_{name}"
        if st.session_state.get(key) != value:
            st.session_state[key] = value
        widget(label, key=key, on_change=lambda: state.keep(f"{part}_{name}", st.session_state[key]), **options)

    first, second = st.columns([3, 2])
    with first:
        field(
            st.selectbox,
            "Choose or roll",
            "kind",
            kind,
            options=list(INITIALISERS),
            format_func=lambda kind: INITIALISERS[kind].label,
        )
    with second:
        field(st.number_input, "Seed", "seed", seed, min_value=0, max_value=2**32 - 1, step=1)
    if INITIALISERS[kind].ranged:
        first, second = st.columns(2)
        with first:
            field(st.number_input, "From", "low", float(low), step=1.0, format="%g")
        with second:
            field(st.number_input, "To, not included", "high", float(high), step=1.0, format="%g")
    buttons = st.columns(2)
    word = "Use identity" if kind == "identity" else "Roll"
    buttons[0].button(word, key=f"roll_{name}", type="primary", on_click=_rolled, args=(name,), width="stretch")
    if name == "X":
        buttons[1].button("One-hot", key="one_hot", on_click=state.change, args=(inputs.one_hot,), width="stretch")


def _rolled(name: str) -> None:
    kind, seed, low, high = (state.kept(f"{part}_{name}", None) for part in ("kind", "seed", "low", "high"))
    state.change(lambda s: editing.roll(s, name, Recipe(kind, int(seed), float(low), float(high))))
    state.keep(f"seed_{name}", (state.current().matrices[name].recipe or Recipe(kind)).seed)


def _paste(s: Settings, name: str) -> None:
    with st.expander("Type or paste the whole matrix", expanded=False):
        st.text_area("One row on each line; numbers by space, comma or tab", key=f"text_{name}", height=120,
                     placeholder=write_matrix(s.matrices[name].values.reshape(-1, s.shape(name)[1])[:3, :6]))  # fmt: skip
        stored = "in_out"
        if name in WEIGHTS:
            stored = st.radio("A square matrix is read as", ["in_out", "out_in"], key=f"stored_{name}", horizontal=True,
                              format_func={"in_out": "(d_in, d_out), X W", "out_in": "(d_out, d_in), W Xᵀ"}.get)  # fmt: skip
        st.button("Use these numbers", key=f"use_{name}", on_click=_pasted, args=(name, stored))


def _pasted(name: str, stored: str) -> None:
    text = st.session_state[f"text_{name}"]
    if state.change(lambda s: editing.paste(s, name, text, stored)) and state.current().matrices[name].remark:
        state.say(state.current().matrices[name].remark)


# ---- the mask ---------------------------------------------------------------------------------------


def _mask(s: Settings) -> None:
    import pandas as pd

    allowed = inputs.as_drawn(inputs.allowed(replace(s, padding=())))
    queries, keys = distinct(s.tokens), distinct(s.key_tokens)
    key, base = state.table(MASK, (queries, keys, allowed))
    frame = pd.DataFrame(base[2], index=list(queries), columns=[f"c{k}" for k in range(len(keys))])
    config = {f"c{k}": st.column_config.CheckboxColumn(escape(token), width=80) for k, token in enumerate(keys)}
    st.caption("Ticked: the query (row) may look at the key (column). A change makes this the drawn mask.")
    st.data_editor(frame, key=key, column_config=config, width="content", on_change=_commit_mask, args=(key,))


def _commit_mask(key: str) -> None:
    s = state.current()
    _, base = state.table(MASK, st.session_state[f"box_{MASK}"]["now"])
    grid = np.array(base[2], bool)
    for row, cells in state.edits(key)["edited_rows"].items():
        for column, ticked in cells.items():
            grid[int(row), int(column[1:])] = bool(ticked)
    drawn = inputs.as_drawn(grid)
    if state.change(lambda s: replace(s, mask=DRAWN, drawn=drawn)):
        state.table_is(MASK, (distinct(s.tokens), distinct(s.key_tokens), drawn))


def escape(text: str) -> str:
    """Markdown's own characters as text."""
    return "".join("\\" + c if c in r"\`*_{}[]()#+-.!|~$:<>" else c for c in text)
