"""What there is to set of biases, norm, rotary positions and relative bias, in the panel of real
layers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from attention.core.rotary import PAIRS
from attention.limits import MAX_SCALE, MAX_SEED, MAX_SIDE, BadInput
from attention.pages.frame import state
from attention.readers.cells.printouts import read_matrix
from attention.session.edit import parts as prepared
from attention.session.state.settings import Settings
from attention.vocabulary.numbers import exact

FILLED = {"random": "random numbers", "zero": "zero", "typed": "as on the board"}
MEANS = {False: "each head by itself", True: "all heads together"}
SIDES = {True: "behind and ahead", False: "behind alone"}
ORDERS = {False: "before rotation", True: "after rotation"}


def biases(s: Settings) -> None:
    """Random by a seed, or 0; their numbers are typed on the board."""
    seed = prepared.seed_of_biases(s)
    zero = seed is None and prepared.biases_are_zero(s)
    kind = "zero" if zero else "typed" if seed is None else "random"
    _choice(
        "Biases are",
        "bias_kind",
        kind,
        {name: label for name, label in FILLED.items() if name in ("random", "zero", kind)},
        lambda s, kind: prepared.filled_biases(s, kind),
    )
    if seed is not None:
        _whole_box("Seed of the biases", "bias_seed", seed, prepared.draw_biases, MAX_SEED)


def norm(s: Settings) -> None:
    """Over what the mean is taken, when, and what each column is multiplied by."""
    if s.norm is None:
        return
    if s.heads > 1:
        _choice("Mean over", "norm_whole", s.norm.whole, MEANS, _normed("whole"))
    if s.rotary:
        _choice("Normed", "norm_after", s.norm.after_rotary, ORDERS, _normed("after_rotary"))
    has_gain = s.norm.gain_Q is not None or s.norm.gain_K is not None
    state.setting_control(st.toggle, "Gain", "norm_gain", has_gain, prepared.set_gains)
    for name in "QK" if has_gain else "":
        given: Any = getattr(s.norm, f"gain_{name}")
        state.setting_control(
            st.text_input,
            f"Gain of {name}, one number per column",
            f"gain_{name}",
            " ".join(map(exact, given or (1.0,) * s.d_k)),
            partial(_gain, name),
        )


def _gain(name: str, s: Settings, text: str) -> Settings:
    found = read_matrix(text, f"the gain of {name}")
    if len(found) != 1:
        raise BadInput(f"the gain of {name} has {len(found)} rows; expected numbers in a line.")
    return prepared.set_gain(s, name, tuple(found[0].tolist()))


def _normed(field: str) -> Any:
    return lambda s, value: prepared.normed(s, **{field: value})


def rotary(s: Settings) -> None:
    """Which columns are pairs, how fast and how many of them turn, and where queries begin."""
    if s.rotary is None:
        return
    _choice("Pairs", "rotary_pairs", s.rotary.pairs, {p: p for p in PAIRS}, _turned("pairs"))
    width = 2 * len(s.rotary.turns(s.d_k))
    widths = {w: f"all {w}" if w == s.d_k else f"{w} of {s.d_k}" for w in range(2, s.d_k + 1, 2)}
    _choice("Columns that turn", "rotary_width", width, widths, _turned("width"))
    if s.rotary.frequencies is None:
        state.setting_control(
            st.number_input,
            "Base",
            "rotary_base",
            s.rotary.base,
            _turned("base"),
            min_value=1.0,
            max_value=1e12,
            step=100.0,
            format="%.6g",
        )
        st.caption("For each position pair k of w columns turns by base^(−2k / w).")
    _whole_box(
        "Position of the first query",
        "rotary_offset",
        s.rotary.offset,
        lambda s, offset: prepared.turned(s, offset=offset),
        int(MAX_SCALE),
    )


def _turned(field: str) -> Any:
    return lambda s, value: prepared.turned(s, **{field: value})


def relative(s: Settings) -> None:
    """How many rows the table has, for which distances, and its seed; it is typed on the board."""
    _choice("Keys told apart", "relative_sides", s.bidirectional, SIDES, prepared.set_sides)
    state.setting_control(
        st.number_input,
        "Buckets",
        "relative_buckets",
        s.shape("R")[0],
        prepared.set_buckets,
        min_value=4 if s.bidirectional else 2,
        max_value=MAX_SIDE,
        step=2,
    )
    state.setting_control(
        st.number_input,
        "Furthest distance",
        "relative_distance",
        s.max_distance,
        prepared.set_furthest,
        min_value=prepared.nearest_end(s),
        max_value=int(MAX_SCALE),
        step=1,
    )
    st.caption(
        "A bucket is a row of the table R. Half of those of a side are for near keys, one each;"
        " keys beyond the furthest distance share the last one."
    )
    seed = prepared.seed_of_relative(s)
    if seed is not None:
        _whole_box("Seed of the table", "relative_seed", seed, prepared.draw_relative, MAX_SEED)


def _choice(label: str, name: str, value: Any, labels: dict[Any, str], apply: Any) -> None:
    state.setting_control(
        st.selectbox,
        label,
        name,
        value,
        apply,
        options=list(labels),
        format_func=labels.__getitem__,
    )


def _whole_box(label: str, name: str, value: int, apply: Any, most: int, **options: Any) -> None:
    state.setting_control(
        st.number_input,
        label,
        name,
        value,
        apply,
        min_value=0,
        max_value=most,
        step=1,
        **options,
    )
