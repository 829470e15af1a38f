"""The first row of Explore: a sentence, how its words become numbers, and Randomize."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from attention.limits import MAX_SEED, BadInput
from attention.pages.frame import share, state
from attention.samples.weights import INITIALISERS
from attention.samples.words import KINDS as WORD_KINDS
from attention.session.edit import changes, editing, seeds
from attention.session.state.settings import Settings
from attention.session.state.validate import check

KINDS = {name: kind.label for name, kind in INITIALISERS.items() if name != "identity"}
SAME = (
    "The same word always gets the same vector. Each word and each punctuation mark is a token;"
    " language models split text differently."
)
SEED = "A seed that you type is used as it is; Randomize then goes on to the next."
ALONE = (
    "These are finished weights: nothing leads to them here, and nothing is made of them. Type as"
    " many words as they have rows to name these; an example, or other data, takes their place."
)
COUNTED = "randomize_counted"  # the next seed, while it is the page's own and not typed
GIVEN = "given"  # rows of X that were typed or brought
NUMBERS = "numbers"  # the list of what is drawn


def row(s: Settings, stage: str = "", widened: state.Widening = state.as_it_is) -> None:
    """The sentence, what its numbers are drawn from, Randomize and Share, in one row.

    With the ``stage`` of the chosen cell, Share embeds the board and that stage, too. What is done
    here is ``widened`` where it changes more than these settings, as on Compare.
    """
    st.html("<h2 class='unseen'>Sentence and numbers</h2>")
    if not s.weights_alone and state.page_value("randomize_seed", None) is None:
        state.set_page_value("randomize_seed", _count_on(s))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="words"):
        _sentence(s, widened, memory=False)
        if s.memory_tokens:
            _sentence(s, widened, memory=True)
        if not s.weights_alone:
            _numbers_behind_a_button(s, widened)
            state.button(
                "Randomize",
                "randomize",
                _randomized,
                (widened,),
                icon=":material/casino:",
                type="primary",
            )
        with st.container(width=110):
            share.button(stage)


def _sentence(s: Settings, widened: state.Widening, memory: bool) -> None:
    name = "second_sentence" if memory else "sentence"
    refused = state.page_value(f"refused_{name}", "") if state.sentences()[0] else ""
    with st.container(key=f"{name}_box", width="stretch"):
        state.setting_control(
            st.text_input,
            "Second sentence: its words are the keys" if memory else "Sentence",
            name,
            refused or changes.sentence_of(s, memory),
            _telling(partial(_said, name, memory, widened)),
            placeholder="Type a sentence and press Enter",
            label_visibility="visible" if s.memory_tokens else "collapsed",
        )


def _numbers_behind_a_button(s: Settings, widened: state.Widening) -> None:
    """What the word vectors and the weights are drawn from, behind a button.

    It is made once it is open: what is closed hears of nothing, and would send what it last held.
    """
    listed = st.popover("Numbers", key=NUMBERS, on_change="rerun")
    if not listed.open:
        return
    with listed, st.container(width=320):
        if s.d_model is not None:
            _vectors(s, widened)
        _drawn(s)
        st.caption(SAME if s.d_model is not None else SEED)


def _vectors(s: Settings, widened: state.Widening) -> None:
    kind = editing.kind_of_vectors(s)
    labels = ({} if kind else {GIVEN: "my numbers"}) | WORD_KINDS
    state.setting_control(
        st.selectbox,
        "Word vectors",
        "vectors",
        kind or GIVEN,
        widened(_telling(lambda s, kind: s if kind == GIVEN else editing.set_vectors(s, kind))),
        options=list(labels),
        format_func=labels.__getitem__,
    )


def _telling(act: state.Act) -> state.Act:
    """The same change; where a batch, or typed Q, K and V, end with it, a sentence says so."""

    def telling(s: Settings, *moved_to: Any) -> Settings:
        after = act(s, *moved_to)
        if (s.batch, s.typed_qkv) != (after.batch, after.typed_qkv):
            state.remark(changes.sentence_ends(s))
        return after

    return telling


def _said(name: str, memory: bool, widened: state.Widening, s: Settings, sentence: str) -> Settings:
    """The settings with this sentence; one that is refused stays in its box to be mended."""
    state.set_page_value(f"refused_{name}", "")
    try:
        return widened(lambda s: check(changes.set_sentence(s, sentence, memory=memory)))(s)
    except BadInput:
        state.set_page_value(f"refused_{name}", sentence)
        raise


def _drawn(s: Settings) -> None:
    """What Randomize draws, and from which seed."""
    state.page_control(
        st.selectbox,
        "Q, K and V that Randomize draws" if s.typed_qkv else "Weights that Randomize draws",
        "randomize_kind",
        "integers",
        options=list(KINDS),
        format_func=KINDS.__getitem__,
    )
    seed = state.page_control(
        st.number_input,
        "Seed of the next Randomize",
        "randomize_seed",
        0,
        min_value=0,
        max_value=MAX_SEED,
        step=1,
    )
    if seed != state.page_value(COUNTED, None):  # typed; so is the same one, typed after it
        state.set_page_value(COUNTED, None)
    if not s.typed_qkv:
        state.page_control(st.checkbox, "Also redraw X", "randomize_X", False)


def _randomized(widened: state.Widening) -> None:
    """By what stands in the fields now: who types and presses at once means that."""
    seed = state.page_value("randomize_seed", 0)
    is_counted = seed == state.page_value(COUNTED, None)

    def act(s: Settings) -> Settings:
        draw = _draw(s)
        used = seeds.regular(draw, seed) if is_counted else seed
        drawn = draw(used)
        if not is_counted and (said := seeds.repetition(drawn)):
            state.remark(f"With seed {used}, {said}.")
        state.choose("randomize_seed", _count_on(drawn))
        return drawn

    state.change(widened(_telling(act)))


def _draw(s: Settings) -> Callable[[int], Settings]:
    """Return the function that draws by a seed as Randomize does, with its other fields."""
    kind = state.page_value("randomize_kind", "integers")
    low, high = editing.WEIGHT_ENDS.get(kind, (0, 1))
    with_X = bool(state.page_value("randomize_X", False))
    return partial(editing.randomize, s, kind=kind, low=low, high=high, with_X=with_X)


def _count_on(s: Settings) -> int:
    """Return the seed to go on to from these numbers, and note that nobody typed it."""
    seed = seeds.regular(_draw(s), editing.next_seed(s))
    state.set_page_value(COUNTED, seed)
    return seed
