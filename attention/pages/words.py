"""The first row of Explore: a sentence, how its words become numbers, and Randomize."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from attention.limits import MAX_SEED, MAX_TOKENS, BadInput
from attention.pages import controls, share, state
from attention.session import changes, editing, seeds
from attention.session.settings import Settings
from attention.session.validate import check
from attention.weights import INITIALISERS
from attention.words import KINDS as WORD_KINDS

KINDS = {name: kind.label for name, kind in INITIALISERS.items() if name != "identity"}
SENTENCE = (
    f"Enter makes a token of each word and each punctuation mark, at most {MAX_TOKENS:,}; the"
    " tokenizer of a language model splits otherwise. The same word always gets the same vector."
)
SECOND = "Keys and values come from this sentence, queries from the first; a translation, say."
VECTORS = (
    "How a word becomes its row of X, at once and for every sentence that follows: drawn from the"
    " word itself, or one-hot, with a column for each different word."
)
RANDOMIZE = "Draws new random {} from the seed. Press again for the next seed."
SEED = (
    "Randomize draws from it, then goes on to the next that gives no two equal or opposite columns"
    " of a weight and no query or key of 0. A seed that you type is used as it is."
)
HOW = (
    "How Randomize draws. Random integers are −1, 0 and 1, to be followed by hand; uniform ones lie"
    " between −1 and 1."
)
WITH_X = "Randomize draws the vectors of the words anew as well, from the same seed."
ALONE = (
    "These are finished weights: nothing leads to them here, and nothing is made of them. Type as"
    " many words as they have rows to name these; an example, or other data, takes their place."
)
BESIDE = 36  # letters of a sentence that has room beside the other controls
ONE_LINE = "@media (min-width: 1400px) { .st-key-words.st-key-words { flex-wrap: nowrap; } }"
TWO_LINES = (  # as tall as they become once all controls have come
    "@media (min-width: 1000px) and (max-width: 1600px) { .st-key-words { min-height: 7.86rem; }"
    " .st-key-words > :has(> .st-key-sentence_box) { min-width: 100%; } }"
)
COUNTED = "randomize_counted"  # the next seed, while it is the page's own and not typed
GIVEN = "given"  # rows of X that were typed or brought


def row(s: Settings) -> None:
    """The sentence, and beside it what its numbers are drawn from."""
    st.html(f"<h2 class='unseen'>Sentence and numbers</h2><style>{_room(s)}</style>")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="words"):
        _sentence(s, memory=False)
        if s.memory_tokens:
            _sentence(s, memory=True)
        if s.d_model is not None:
            _vectors(s)
            controls.number(
                "d_model", "d_model_of_words", s.d_model, controls.SIZES["d_model"], width=84
            )
        if not s.weights_alone:
            _randomize(s)
        with st.container(width=110):
            share.button()


def _room(s: Settings) -> str:
    """A style by which a sentence is seen whole: one that is too long for a place beside the other
    controls has a line of its own. Two share the line that one had, so that nothing moves; nor
    does it where controls come one by one, as they are in one line from the first.
    """
    letters = len(changes.sentence_of(s))
    if s.memory_tokens or letters <= BESIDE:
        return ONE_LINE
    width = f"min(100%, {2.5 + 0.4 * letters:g}rem)"
    return f".st-key-words > :has(> .st-key-sentence_box) {{ min-width: {width}; }} {TWO_LINES}"


def _sentence(s: Settings, memory: bool) -> None:
    name = "second_sentence" if memory else "sentence"
    refused = state.page_value(f"refused_{name}", "") if state.sentences()[0] else ""
    with st.container(key=f"{name}_box", width="stretch"):
        state.setting_control(
            st.text_input,
            "Second sentence" if memory else "Sentence",
            name,
            refused or changes.sentence_of(s, memory),
            _telling(partial(_said, name, memory)),
            help=SECOND if memory else SENTENCE,
            placeholder="Type a sentence and press Enter",
        )


def _vectors(s: Settings) -> None:
    kind = editing.kind_of_vectors(s)
    labels = ({} if kind else {GIVEN: "as given"}) | WORD_KINDS
    state.setting_control(
        st.selectbox,
        "Each word",
        "vectors",
        kind or GIVEN,
        _telling(lambda s, kind: s if kind == GIVEN else editing.set_vectors(s, kind)),
        options=list(labels),
        format_func=labels.__getitem__,
        help=VECTORS,
        width=152,
    )


def _telling(act: Callable[..., Settings]) -> Callable[..., Settings]:
    """The same change; where a batch, or typed Q, K and V, end with it, a sentence says so."""

    def telling(s: Settings, *moved_to: Any) -> Settings:
        after = act(s, *moved_to)
        if (s.batch, s.typed_qkv) != (after.batch, after.typed_qkv):
            state.remark(changes.sentence_ends(s))
        return after

    return telling


def _said(name: str, memory: bool, s: Settings, sentence: str) -> Settings:
    """The settings with this sentence; one that is refused stays in its box to be mended."""
    state.set_page_value(f"refused_{name}", "")
    try:
        return check(changes.set_sentence(s, sentence, memory=memory))
    except BadInput:
        state.set_page_value(f"refused_{name}", sentence)
        raise


def _randomize(s: Settings) -> None:
    state.page_control(
        st.selectbox,
        "Numbers" if s.typed_qkv else "Weights",
        "randomize_kind",
        "integers",
        options=list(KINDS),
        format_func=KINDS.__getitem__,
        help=HOW,
        width=152,
    )
    if state.page_value("randomize_seed", None) is None:
        state.set_page_value("randomize_seed", _count_on(s))
    seed = state.page_control(
        st.number_input,
        "Next seed",
        "randomize_seed",
        0,
        min_value=0,
        max_value=MAX_SEED,
        step=1,
        help=SEED,
        width=84,
    )
    if seed != state.page_value(COUNTED, None):  # typed; so is the same one, typed after it
        state.set_page_value(COUNTED, None)
    if not s.typed_qkv:
        state.page_control(st.checkbox, "X too", "randomize_X", False, help=WITH_X)
    state.button(
        "Randomize",
        "randomize",
        _randomized,
        icon=":material/casino:",
        type="primary",
        help=RANDOMIZE.format("Q, K and V" if s.typed_qkv else "W_Q, W_K and W_V"),
    )


def _randomized() -> None:
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

    state.change(_telling(act))


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
