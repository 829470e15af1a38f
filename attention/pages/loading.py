"""Your data: paste numbers or open a file, see what was understood, and say what each array is to be."""

from __future__ import annotations

import hashlib

import streamlit as st

from attention.exports import loading as tables
from attention.inputs import links, loading
from attention.inputs.checkpoints import layers, recognised
from attention.inputs.files import Entry
from attention.inputs.loading import AS_IT_IS, MASK, ROLES, WEIGHTS, Asked
from attention.inputs.matrices import BadInput
from attention.inputs.polarity import POLARITIES
from attention.inputs.settings import MAX_TOKENS, Settings
from attention.inputs.texts import COMMAS, Ambiguous
from attention.pages import parts, state

PASTED = "the text"
FAMILIES = {"weights": "X and weights", "qkv": "Q, K and V themselves"}
IN_OUT = AS_IT_IS.stored
STORED = {IN_OUT: "(in, out), X W", "out_in": "(out, in), W Xᵀ"}


def panel(s: Settings) -> None:
    """The box and the file on the left; on the right what they hold, and what becomes of it."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        text = state.own(st.text_area, "Paste numbers", "load_text", "", height=170, max_chars=2_000_000,
                         placeholder="cat 0.1 -0.3 2\ndog 0.4 1 0\n\nor what NumPy, PyTorch, JAX or TensorFlow print, JSON, a spreadsheet range, word vectors")  # fmt: skip
        file = st.file_uploader("or open a file", type=loading.TYPES, key="load_file", max_upload_size=8,
                                help="Text as UTF-8, arrays, or a state saved under “Take it away”", on_change=state.touched)  # fmt: skip
    with right:
        try:
            if file is not None:
                _content(s, file.name, file.getvalue())
            elif text.strip():
                _content(s, PASTED, text.encode())
            else:
                parts.note("Nothing changes until you have seen what was understood and pressed “Use these numbers”.")
        except BadInput as problem:
            parts.say("refused", state.capital(str(problem)))


def _content(s: Settings, where: str, content: bytes) -> None:
    """What one text or file holds."""
    if links.is_file(content):
        parts.note("This is a saved state of this page.")
        st.button("Open it", key="open_file", type="primary", on_click=state.open_file, args=(content,))
        return
    fresh = _is_new(content)
    found = _arrays(where, content)
    if fresh:
        state.keep("load_layer", (layers(found) or [None])[0])
        state.keep("load_family", loading.family_of(list(found)))
        state.keep("load_role", loading.likely(*next(iter(found.items())), s))
    picks = _single(found) if len(found) == 1 else _several(found)
    brought = loading.gather(found, picks, where)
    for role, b in brought.items():
        st.html(tables.preview(role, b, rows=4 if len(brought) == 1 else 2))
    said = list(dict.fromkeys(remark for b in brought.values() for remark in b.remarks))
    if said:
        parts.note(" ".join(said))
    st.button("Use these numbers", key="load_use", type="primary", disabled=not brought, on_click=_use, args=(brought,))


def _is_new(content: bytes) -> bool:
    """Whether this was not here on the last run: then all that was chosen for the one before is forgotten."""
    mark = hashlib.blake2b(content, digest_size=8).digest()
    if state.kept("load_mark", None) == mark:
        return False
    for name, value in (("load_mark", mark), ("load_comma", None), ("load_picks", None), ("load_found", None)):
        state.keep(name, value)
    for role in ROLES:
        for choice in ("words", "cut", "stored"):
            state.keep(f"load_{choice}_{role}", IN_OUT if choice == "stored" else "")
    return True


def _arrays(where: str, content: bytes) -> dict[str, Entry]:
    """Read once for each text, and again once the question about its commas is answered."""
    comma = state.kept("load_comma", None)
    known = state.kept("load_found", None)
    if known and known[0] == (where, comma):
        found = known[1]
    else:
        try:
            found = loading.opened(where, content, comma)
        except BadInput as problem:
            found = problem
        state.keep("load_found", ((where, comma), found))
    if isinstance(found, Ambiguous) or comma:
        if isinstance(found, Ambiguous):
            parts.say("flag", state.capital(str(found)))
        state.own(st.segmented_control, "The comma", "load_comma", None, options=list(COMMAS), format_func=COMMAS.get)
    if isinstance(found, BadInput):
        raise BadInput("choose one of the two above.") if isinstance(found, Ambiguous) else found
    return found


def _single(found: dict[str, Entry]) -> dict[str, tuple[str, Asked]]:
    """One array: what is it?"""
    name, entry = next(iter(found.items()))
    wanted = state.kept("load_for", None)
    if wanted:
        state.keep("load_role", wanted)
        state.keep("load_for", None)
    role = state.own(st.selectbox, f"These are {' × '.join(map(str, entry.shape))} numbers. Use them as", "load_role", "X",
                     options=list(ROLES), format_func=ROLES.__getitem__)  # fmt: skip
    return {role: (name, _asked(role, entry))}


def _several(found: dict[str, Entry]) -> dict[str, tuple[str, Asked]]:
    """Several arrays: which of them is which input?"""
    with st.expander(f"{len(found):,} arrays"):
        st.html(tables.contents(found))
    known = layers(found)
    with st.container(horizontal=True):
        family = state.own(st.segmented_control, "They are", "load_family", "weights", options=list(FAMILIES), required=True,
                           format_func=FAMILIES.__getitem__)  # fmt: skip
        layer = None
        if len(known) > 1 and family == "weights":
            layer = state.own(st.selectbox, "Layer", "load_layer", known[0], options=known, width=110)
    if state.kept("load_picks", None) != (family, layer):
        state.keep("load_picks", (family, layer))
        for role, name in loading.picks_of(list(found), family, layer).items():
            state.keep(f"load_pick_{role}", name)
    picks = {}
    for role in loading.FAMILIES[family]:
        left, right = st.columns([3, 2])
        with left:
            name = state.own(st.selectbox, ROLES[role].replace("_", "\\_"), f"load_pick_{role}", None, options=list(found), placeholder="leave as it is",
                             format_func=lambda name: f"{name}   {' × '.join(map(str, found[name].shape))}")  # fmt: skip
        if name is not None:
            with right:
                picks[role] = (name, _asked(role, found[name]))
    return picks


def _asked(role: str, entry: Entry) -> Asked:
    """How the array is to be taken, where there is a choice."""
    words = cut = ""
    stored, true_means = IN_OUT, "may look"
    with st.container(horizontal=True):
        if entry.rows and role not in WEIGHTS and (entry.pick or len(entry.shape) == 2):
            most = f" of {entry.shape[0]:,}, at most {MAX_TOKENS}" if entry.shape[0] > MAX_TOKENS else ""
            words = state.own(st.text_input, f"Words wanted{most}, in their order", f"load_words_{role}", "",
                              placeholder=" ".join(entry.rows[:4]))  # fmt: skip
        elif entry.dtype != "text" or len(entry.shape) > 2:
            cut = state.own(st.text_input, f"Slice of {' × '.join(map(str, entry.shape))}", f"load_cut_{role}", "",
                            placeholder="such as 0, :, 0:64; counted from 0", help="Layer, head or rows, as NumPy writes it")  # fmt: skip
        if role in WEIGHTS and role not in recognised(entry.name):
            stored = state.own(st.segmented_control, "A square one is", f"load_stored_{role}", stored, options=list(STORED),
                               format_func=STORED.__getitem__, required=True)  # fmt: skip
        if role == MASK:
            true_means = state.own(st.segmented_control, "1 or True means", "load_true", true_means, options=list(POLARITIES),
                                   required=True)  # fmt: skip
    return Asked(words, cut, stored, true_means)


def _use(brought) -> None:
    remarks = []

    def act(s: Settings) -> Settings:
        new, said = loading.use(s, brought)
        remarks.extend(said)
        return new

    if state.change(act):
        state.say(" ".join(remarks))
