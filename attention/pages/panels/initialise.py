"""One matrix initialised in its own way; its numbers are typed on the board itself."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attention.limits import MAX_SEED
from attention.pages.frame import pieces, state
from attention.pages.panels import words
from attention.samples.weights import INITIALISERS
from attention.session.edit import editing
from attention.session.state.links import MATRICES
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.settings import Settings
from attention.vocabulary.stages import STAGES

SYMBOLS = {"memory": "Y"}
# What each begins with where its numbers were given.
SEEDS = {name: seed for seed, name in enumerate(MATRICES)}
FIELDS = ("kind", "seed", "low", "high")


def panel(s: Settings) -> None:
    """The matrix, what it is drawn from, and the button."""
    if s.weights_alone:
        pieces.note(words.ALONE)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        names = [name for name in STAGES if name in s.matrices]
        name = state.page_control(
            st.selectbox,
            "Matrix",
            "matrix",
            "Q" if s.typed_qkv else "W_Q",
            options=names,
            format_func=lambda name: SYMBOLS.get(name, name),
            width=110,
        )
        _draw(s, name)
    if standing := _standing(s, name):
        pieces.note(standing)


def _recipe(s: Settings, name: str) -> Recipe:
    """What the matrix was drawn by, or where its numbers were given, what its fields begin with."""
    return s.matrices[name].recipe or Recipe("integers", SEEDS[name], 0, 3)


def _draw(s: Settings, name: str) -> None:
    recipe = _recipe(s, name)
    kind = state.page_control(
        st.selectbox,
        "Fill with",
        f"kind_{name}",
        recipe.kind,
        options=list(INITIALISERS),
        format_func=lambda kind: INITIALISERS[kind].label,
        help=(
            "Identity: 1 on the diagonal, 0 elsewhere; Xavier / Glorot: random, keeps the variance."
            " Numbers are drawn from “From” up to, but without, “To” (exclusive)."
        ),
        width=170,
    )
    if kind != "identity":
        whole: dict[str, Any] = {"min_value": 0, "max_value": MAX_SEED, "step": 1}
        _number("Seed", f"seed_{name}", recipe.seed, **whole)
    if INITIALISERS[kind].ranged:
        any_number: dict[str, Any] = {"step": 1.0, "format": "%g"}
        _number("From", f"low_{name}", float(recipe.low), **any_number)
        _number("To (exclusive)", f"high_{name}", float(recipe.high), **any_number)
    state.button(
        "Initialise",
        f"roll_{name}",
        _rolled,
        icon=":material/casino:",
        type="primary",
    )


def _number(label: str, name: str, value: float, **options: Any) -> None:
    state.page_control(st.number_input, label, name, value, width=112, **options)


def _rolled() -> None:
    """By what stands in the fields now: who chooses and presses at once means that."""
    name = state.page_value("matrix", "W_Q")

    def act(s: Settings) -> Settings:
        before = _recipe(s, name)
        drawn = {
            field: state.page_value(f"{field}_{name}", getattr(before, field)) for field in FIELDS
        }
        rolled = editing.roll(s, name, Recipe(**drawn))
        recipe = rolled.matrices[name].recipe
        if recipe is not None:
            state.set_page_value(f"seed_{name}", recipe.seed)
        return rolled

    state.change(act)


def _standing(s: Settings, name: str) -> str:
    """What cannot be seen of the matrix on the board."""
    matrix: Matrix = s.matrices[name]
    said = []
    if matrix.values.ndim == 3:
        said.append(f"Only item {s.item} of the batch is filled.")
    heads = s.kv_heads if name in ("W_K", "W_V", "b_K", "b_V") else s.heads
    if heads > 1 and name not in ("X", "memory", "P", "b_O"):
        said.append(f"This matrix holds all {heads} heads.")
    if matrix.remark:
        said.append(f"{name}: {matrix.remark}")
    return " ".join(said)
