"""The panel where numbers come in: a table to type in, a roll of the dice, a box to paste into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from attention.inputs import settings as inputs
from attention.inputs.matrices import BadInput, Matrix, Recipe, orient, read_matrix, read_number, write_matrix
from attention.inputs.settings import DRAWN, Settings
from attention.inputs.system import distinct, labels
from attention.numbers import exact
from attention.pages import state
from attention.stages import STAGES
from attention.weights import INITIALISERS

KINDS = {
    "identity": "identity",
    "integers": "random integers",
    "uniform": "uniform",
    "normal": "standard normal",
    "xavier": "Xavier / Glorot",
}
WEIGHTS = ("W_Q", "W_K", "W_V", "W_O")
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


def _token_sequence(s: Settings, name: str) -> str | None:
    """Whose tokens the rows of this matrix are: "tokens", "memory_tokens", or None for weights."""
    rows = STAGES[name].rows
    if rows not in ("queries", "keys"):
        return None
    return "memory_tokens" if rows == "keys" and s.memory_tokens else "tokens"


def _content(s: Settings, name: str):
    """What the table of ``name`` shows: its tokens, and its numbers as text."""
    sequence = _token_sequence(s, name)
    values = s.matrices[name].values
    values = values[s.item] if values.ndim == 3 else values
    return getattr(s, sequence) if sequence else None, tuple(tuple(exact(v) for v in row) for row in values)


def _column_labels(s: Settings, name: str, count: int) -> list[str]:
    found = labels(s)[STAGES[name].columns]
    return list(found) if len(found) == count else [str(k) for k in range(1, count + 1)]


def _numbers(s: Settings, name: str) -> None:
    import pandas as pd

    key, (tokens, rows) = state.table(name, _content(s, name))
    titles = _column_labels(s, name, len(rows[0]))
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
        st.button("Add a token", key=f"add_{name}", on_click=_add_token, args=(name,))


def _commit(name: str, key: str) -> None:
    _, base = state.table(name, _content(state.current(), name))
    found = state.edits(key)
    if not state.change(lambda s: _edited(s, name, base, found)) or found["added_rows"] or found["deleted_rows"]:
        state.reopen(name)
    else:
        state.table_is(name, _content(state.current(), name))


def _edited(s: Settings, name: str, base, found: dict) -> Settings:
    tokens, rows = base
    grid = [list(row) for row in rows]
    names = None if tokens is None else list(tokens)
    for row, cells in found["edited_rows"].items():
        for column, text in cells.items():
            if column == "token":
                names[int(row)] = text or ""
            else:
                grid[int(row)][int(column[1:])] = text
    keep = list(range(len(grid)))
    for added in found["added_rows"]:
        names.append(added.get("token") or f"w{len(names) + 1}")
        grid.append([added.get(f"c{k}") or "0" for k in range(len(rows[0]))])
        keep.append(None)
    gone = set(found["deleted_rows"])
    left = [k for k in range(len(grid)) if k not in gone]
    old = s.matrices[name]
    before = old.values[s.item] if old.values.ndim == 3 else old.values
    values = np.array([[_cell(grid, rows, before, name, i, j) for j in range(len(rows[0]))] for i in left])
    if names is not None and (len(left) != len(rows) or found["added_rows"] or tuple(names) != tokens):
        memory = _token_sequence(s, name) == "memory_tokens"
        s = inputs.set_tokens(s, tuple(names[k] for k in left), [keep[k] for k in left], memory)
    matrix = s.matrices[name]
    full = matrix.values.copy()
    full[s.item if full.ndim == 3 else ...] = values
    return s.with_matrix(name, Matrix(full, matrix.recipe, matrix.remark))


def _cell(grid, rows, before, name, i, j) -> float:
    text = grid[i][j]
    if i < len(rows) and text == rows[i][j]:
        return float(text)
    return read_number("" if text is None else text, f"{name}, row {i + 1}, column {j + 1}")


def _add_token(name: str) -> None:
    def act(s: Settings) -> Settings:
        memory = _token_sequence(s, name) == "memory_tokens"
        tokens = s.memory_tokens if memory else s.tokens
        return inputs.set_tokens(s, (*tokens, f"w{len(tokens) + 1}"), [*range(len(tokens)), None], memory)

    state.change(act)


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
        field(st.selectbox, "Choose or roll", "kind", kind, options=list(INITIALISERS), format_func=KINDS.__getitem__)
    with second:
        field(st.number_input, "Seed", "seed", seed, min_value=0, max_value=2**32 - 1, step=1)
    if kind in ("integers", "uniform"):
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
    """Draw with the seed shown; where the matrix shows that draw already, take the next seed."""
    kind, seed, low, high = (state.kept(f"{part}_{name}", None) for part in ("kind", "seed", "low", "high"))

    def act(s: Settings) -> Settings:
        old, recipe = s.matrices[name], Recipe(kind, int(seed), float(low), float(high))
        if old.recipe == recipe and kind != "identity":
            recipe = replace(recipe, seed=recipe.seed + 1)
        values = old.values.copy()
        values[s.item if values.ndim == 3 else ...] = recipe.fill(old.shape[-2:])
        state.keep(f"seed_{name}", recipe.seed)
        return s.with_matrix(name, Matrix(values, recipe))

    state.change(act)


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
    remarks = []

    def act(s: Settings) -> Settings:
        values = read_matrix(st.session_state[f"text_{name}"], name)
        if name in WEIGHTS:
            values, remark = orient(values, s.shape(name)[0], name, stored)
            remarks.append(remark)
            return _with_weights(s, name, Matrix(values, remark=remark))
        return _with_rows(s, name, values)

    if state.change(act):
        for remark in remarks:
            state.say(remark)


def _with_weights(s: Settings, name: str, matrix: Matrix) -> Settings:
    """A typed weight matrix sets its width; its partner follows, as queries and keys need the same d_k."""
    width = matrix.shape[1]
    if name != "W_O":
        if width % s.heads:
            raise BadInput(f"{name} has {width} columns, which {s.heads} heads cannot share equally.")
        s = inputs.set_dimension(s, "d_v" if name == "W_V" else "d_k", width // s.heads)
    return s.with_matrix(name, matrix)


def _with_rows(s: Settings, name: str, values: np.ndarray) -> Settings:
    """Typed embeddings, queries, keys or values: their rows are the tokens, their columns set the width."""
    memory = _token_sequence(s, name) == "memory_tokens"
    tokens = s.memory_tokens if memory else s.tokens
    n = len(values)
    if n != len(tokens):
        names = tokens[:n] + tuple(f"w{k}" for k in range(len(tokens) + 1, n + 1))
        s = inputs.set_tokens(s, names, [k if k < len(tokens) else None for k in range(n)], memory)
    width = values.shape[1]
    if width != s.shape(name)[1]:
        dimension = {"X": "d_model", "memory": "d_model", "V": "d_v"}.get(name, "d_k")
        heads = 1 if dimension == "d_model" else s.heads
        if width % heads:
            raise BadInput(f"{name} has {width} columns, which {heads} heads cannot share equally.")
        s = inputs.set_dimension(s, dimension, width // heads)
    full = s.matrices[name].values.copy()
    full[s.item if full.ndim == 3 else ...] = values
    return s.with_matrix(name, Matrix(full))


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
