"""The first row of Explore: a sentence, how its words become numbers, and Randomize."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.limits import MAX_SEED, MAX_TOKENS, BadInput
from attention.pages import controls, share, state
from attention.session import changes, editing
from attention.session.settings import Settings
from attention.weights import INITIALISERS

KINDS = {name: kind.label for name, kind in INITIALISERS.items() if name != "identity"}
SENTENCE = (
    f"Enter makes a token of each word and each punctuation mark, at most {MAX_TOKENS}; the"
    " tokenizer of a language model splits otherwise. The same word always gets the same vector."
)
SECOND = "Keys and values come from this sentence, queries from the first; a translation, say."
RANDOMIZE = (
    "Draws W_Q, W_K and W_V anew, from one seed, each from a stream of its own; press again for the"
    " next seed."
)


def row(s: Settings) -> None:
    """The sentence, and beside it what its numbers are drawn from."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="words"):
        _sentence(s, memory=False)
        if s.memory_tokens:
            _sentence(s, memory=True)
        if s.d_model is not None:
            controls.number(
                "d_model", "d_model_of_words", s.d_model, controls.SIZES["d_model"], width=110
            )
        _randomize(s)
        with st.container(width=120):
            share.button()


def _sentence(s: Settings, memory: bool) -> None:
    name = "second_sentence" if memory else "sentence"
    refused = state.page_value(f"refused_{name}", "") if state.sentences()[0] else ""
    with st.container(key=f"{name}_box", width="stretch"):
        state.setting_control(
            st.text_input,
            "Second sentence" if memory else "Sentence",
            name,
            refused or changes.sentence_of(s, memory),
            partial(_said, name, memory),
            help=SECOND if memory else SENTENCE,
            placeholder="Type a sentence and press Enter",
        )


def _said(name: str, memory: bool, s: Settings, sentence: str) -> Settings:
    """The settings with this sentence; one that is refused stays in its box to be mended."""
    state.set_page_value(f"refused_{name}", "")
    try:
        return changes.set_sentence(s, sentence, memory=memory)
    except BadInput:
        state.set_page_value(f"refused_{name}", sentence)
        raise


def _randomize(s: Settings) -> None:
    state.page_control(
        st.selectbox,
        "Numbers",
        "randomize_kind",
        "integers",
        options=list(KINDS),
        format_func=KINDS.__getitem__,
        help="How Randomize draws: small whole numbers can be followed by hand.",
        width=170,
    )
    state.page_control(
        st.number_input,
        "Seed",
        "randomize_seed",
        editing.next_seed(s),
        min_value=0,
        max_value=MAX_SEED,
        step=1,
        help="The same seed always draws the same numbers.",
        width=120,
    )
    state.button(
        "Randomize",
        "randomize",
        _randomized,
        icon=":material/casino:",
        type="primary",
        help=RANDOMIZE,
    )


def _randomized() -> None:
    """By what stands in the fields now: who types and presses at once means that."""
    seed = state.page_value("randomize_seed", 0)
    kind = state.page_value("randomize_kind", "integers")
    if state.change(lambda s: editing.randomize(s, seed, kind)):
        state.set_page_value("randomize_seed", editing.next_seed(state.current()))
