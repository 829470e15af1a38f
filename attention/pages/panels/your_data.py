"""Your data: paste numbers or open a file, see what was understood, say what each array is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import streamlit as st

from attention.frameworks.printed.reading import related as how_related
from attention.frameworks.printed.relations import Found
from attention.html import preview as tables
from attention.limits import MAX_DIMENSION, MAX_FILE, MAX_PASTED, MAX_STATE, MAX_TOKENS, BadInput
from attention.models.snippet import LINES
from attention.pages.components import typed
from attention.pages.frame import pieces, state
from attention.pages.panels import upload
from attention.pages.panels.upload import UploadedFile
from attention.readers import opening
from attention.readers.cells.entry import PASTED, ArrayEntry
from attention.readers.cells.mask_polarity import POLARITIES
from attention.readers.cells.printouts import sides
from attention.readers.files import array_files, own_files
from attention.readers.files.other_files import OtherKind
from attention.readers.select import (
    AS_IT_IS,
    AXES,
    MASK,
    WEIGHTS,
    SelectedArray,
    Selection,
    TooWide,
    gather,
    thirds,
)
from attention.readers.texts.grid import OPTIONS
from attention.session.bring import adopt, printed
from attention.session.bring.adopt import ROLES
from attention.session.bring.printed import Compared
from attention.session.compare.check_yours import in_boxes
from attention.session.edit import changes
from attention.session.state import links
from attention.session.state.settings import Settings, TooManyTokens
from attention.session.state.validate import check
from attention.vocabulary.numbers import megabytes
from attention.vocabulary.sentences import amount, capital

FILE = "load_file"
WANTED = (
    f"Arrays, tables or word vectors (at most {megabytes(MAX_FILE)}), or a saved state. Reloading"
    " the page removes the file."
)
TYPED = {"load_text": typed.text()}  # what a reload does not lose
SENTENCE, NUMBERS = "a sentence", "numbers"
FAMILY_LABELS = {
    "weights": "X and weights",
    "qkv": "Q, K and V directly",
    "finished": "finished attention weights",
}
SEVERAL = "several"  # inputs, all out of the only array of a file
ALL, SLICE = "all", "a slice"
THIRDS = "first third", "second third", "last third"
UNDO = "To undo, press the browser’s Back button."
TRANSPOSED = "torch’s Linear stores its weight as (out, in): tick *transposed*."
SIDE_BY_SIDE = (
    f"{TRANSPOSED} If one array holds W_Q, W_K and W_V side by side, choose it for each of them and"
    " select a third."
)
# What can be chosen for one array, and what is chosen to begin with.
CHOICES = {
    "words": "",
    "cut": "",
    "part": ALL,
    "transposed": False,
    "true": AS_IT_IS.true_means,
}
# What a text leaves open, by the key of the question.
ASKED = {
    "comma": "The comma is",
    "names": "The first line holds",
    "labels": "The first column holds",
    "rows": "Lines of one label and one row are",
}
PLACEHOLDER = """cat 0.1 -0.3 2
dog 0.4 1 0

or a printout of NumPy, PyTorch, JAX or TensorFlow, JSON, a spreadsheet range, word vectors"""
Picks = dict[str, tuple[str, Selection]]


def panel(s: Settings) -> None:
    """The box and the file on the left; on the right what they hold, and what becomes of it."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        text = state.page_control(
            st.text_area,
            "Paste numbers or a sentence",
            "load_text",
            "",
            height=170,
            max_chars=MAX_PASTED,
            placeholder=PLACEHOLDER,
        )
        typed.keep("load_typed", TYPED)
        # leaving the box is what hands the text over
        asked = st.button(
            "Preview",
            key="load_read",
            on_click=state.control_moved,
        )
        if _given_last(text, asked):
            upload.forget(FILE)
        file = upload.upload(FILE, "Upload a file", MAX_STATE, WANTED)
    with right:
        refused = st.container()
        try:
            if file:
                _uploaded_file(s, file)
            elif text.strip():
                _content(s, PASTED, text.encode(), typed=True)
            else:
                state.set_page_value("load_found", None)
                if asked:
                    raise BadInput("the box is empty; paste numbers or a sentence.")
                pieces.note(
                    "You get a preview first. Nothing changes until you press “Use these numbers”."
                )
        except BadInput as problem:
            with refused:
                _refuse(problem)
            problem.bare()  # it may be kept, to be said again by the next run


def _refuse(problem: BadInput) -> None:
    """Say what is wrong with a text or file, with what can be done instead."""
    pieces.message_box("refused", capital(str(problem)))
    if isinstance(problem, TooManyTokens) and problem.settings:
        pieces.go_on(problem.settings, "load_continue")
    code = problem.code if isinstance(problem, OtherKind) else ""
    if code := LINES if isinstance(problem, TooWide) else code:
        st.code(code, language="python", wrap_lines=True)


def _uploaded_file(s: Settings, file: UploadedFile) -> None:
    """What a file holds."""
    if zipped := own_files.state_in(file.whole):
        _saved_state(zipped, "This is a zip from this page; it contains a saved state.")
        return
    _content(s, file.name, file.content())


def _given_last(text: str, asked: bool) -> bool:
    """Whether a text came after the files: it is another one, or they ``asked`` to read it."""
    before = state.page_value("load_text_before", text)
    state.set_page_value("load_text_before", text)
    return (asked or text != before) and bool(text.strip())


def forget() -> None:
    """Let go of what was read."""
    state.set_page_value("load_found", None)
    state.set_page_value("load_compared", None)
    upload.forget(FILE)


def _content(s: Settings, where: str, content: bytes, typed: bool = False) -> None:
    """What one file holds, or a text that was ``typed``."""
    if links.is_file(content):
        _saved_state(content, "This is a saved state of this page.")
        return
    mark = hashlib.blake2b(content, digest_size=8).digest()
    may_be_words = typed or where.lower().endswith(".txt")  # no file of arrays is one
    prose = opening.prose_in(content) if may_be_words else None
    if prose is not None and _is_sentence(prose, mark):
        _sentence(s, prose.text)
        return
    if state.page_value("load_mark", None) != mark:
        _start(mark)
    every = _arrays(where, content)
    arrays, unreadable = array_files.readable(every)
    mark = hashlib.blake2b(repr([mark, *every]).encode(), digest_size=8).digest()  # and as read
    related = _related(mark, every)
    if unreadable and not related:
        pieces.message_box("flag", unreadable)
        label = "Continue with the others" if len(arrays) > 1 else "Continue with the other one"
        if not state.page_control(st.checkbox, label, "load_others", False):
            return
    if state.page_value("load_guessed", None) != mark:
        _guess(s, mark, arrays, related)
    if related:
        _text_of_arrays(s, where, mark, every, arrays, related, typed)
        return
    picks, heads = _single(s, arrays) if len(arrays) == 1 else _several(s, arrays)
    selected = gather(arrays, picks, where, typed)
    selected = adopt.with_own_parts(selected, arrays, picks, where)
    try:
        said = adopt.adopt(s, selected, heads)[1][1:] if selected else []
    finally:
        for role, array in selected.items():
            st.html(tables.preview(role, array, rows=4 if len(selected) == 1 else 2))
    _confirm(mark, selected, heads, said)


def _confirm(
    mark: bytes,
    selected: dict[str, SelectedArray],
    heads: int | None,
    said: list[str],
    text: tuple[dict[str, ArrayEntry], Found] | None = None,
    boxes: dict[str, object] | None = None,
) -> None:
    """Draw the button that uses the numbers; and one for why they differ, with what it fills in."""
    if said:
        pieces.note(" ".join(said))
    if not selected:
        pieces.note("Choose which array is which input; then they can be used.")
    with st.container(horizontal=True):
        state.confirm(
            "Use these numbers",
            "load_use",
            _use,
            (selected, heads, text),
            about=mark,
            type="primary",
            disabled=not selected,
        )
        if boxes:
            state.confirm("Why do they differ?", "load_check", _check, (boxes,), about=mark)
    pieces.note(UNDO)


def _text_of_arrays(
    s: Settings,
    where: str,
    mark: bytes,
    every: dict[str, ArrayEntry],
    arrays: dict[str, ArrayEntry],
    related: Found,
    typed: bool,
) -> None:
    """Several arrays of a text: what each is, whether it agrees, and what can be changed.

    ``arrays`` are those that can be read.
    """
    action, listed = st.container(), st.container()  # a long list would hide the buttons
    selected: dict[str, SelectedArray] = {}
    said: list[str] = []
    compared: list[Compared] | None = None
    boxes: dict[str, object] | None = None
    with st.expander("Change what they are"):
        picks, heads = _several(s, arrays, related, every)
    try:
        selected = gather(arrays, picks, where, typed)
        selected = adopt.with_own_parts(selected, arrays, picks, where)
        if selected:
            new, said = _adopted(s, selected, heads, every, related)
            said = said[1:]
            compared = _compared(s, (mark, picks, heads), every, related, new)
            if any(one.agrees is False for one in compared):
                boxes = in_boxes(new, *printed.answers(every, related, compared))
    finally:
        with listed:
            _list(every, related, compared)
        together = " · ".join(map(str, printed.explained(related)))
        if told := list(filter(None, (together, printed.summary(compared or [])))):
            with action:
                pieces.note(*told)
    with action:
        _confirm(mark, selected, heads, said, (every, related), boxes)


def _saved_state(content: bytes, says: str) -> None:
    """What goes on from a saved state, once it is opened."""
    pieces.note(says)
    state.confirm(
        "Open this state",
        "open_file",
        state.open_file,
        (content,),
        about=hash(content),
        type="primary",
    )
    pieces.note(UNDO)


def _is_sentence(prose: opening.Prose, mark: bytes) -> bool:
    """Whether words are meant; asked where the text holds numbers as well."""
    if not prose.has_numbers:
        return True
    if state.page_value("load_as_mark", None) != mark:
        state.set_page_value("load_as_mark", mark)
        state.set_page_value("load_as", SENTENCE if prose.likely else NUMBERS)
    chosen = state.page_control(
        st.segmented_control,
        "This has words and numbers. Read it as",
        "load_as",
        SENTENCE,
        options=[SENTENCE, NUMBERS],
        required=True,
        help="Sentence: each number is a token. Numbers: rows with labels.",
    )
    return chosen == SENTENCE


def _sentence(s: Settings, sentence: str) -> None:
    """A sentence, for the tokens or for the second sequence."""
    tokens = check(changes.set_sentence(s, sentence)).tokens
    pieces.note(f"This is a sentence of {amount(len(tokens), 'token')}: {' · '.join(tokens)}")
    if said := changes.sentence_ends(s):
        pieces.note(said)
    with st.container(horizontal=True):
        for memory in (False, True)[: 1 + bool(s.memory_tokens)]:
            label = "Use as second sentence" if memory else "Use this sentence"
            key = f"load_sentence_{memory}"
            kind = "secondary" if memory else "primary"
            asked = sentence, memory
            state.confirm(label, key, _use_sentence, asked, about=sentence, type=kind)


def _use_sentence(sentence: str, memory: bool) -> None:
    state.change(lambda s: changes.set_sentence(s, sentence, memory))


def _start(mark: bytes) -> None:
    """Forget all that was chosen for another text or file."""
    state.set_page_value("load_mark", mark)
    for name in ("load_found", "load_compared", "load_picks", *(f"load_{key}" for key in ASKED)):
        state.set_page_value(name, None)
    state.set_page_value("load_others", False)
    for role in (*ROLES, "QKV"):
        for choice, first in CHOICES.items():
            state.set_page_value(f"load_{choice}_{role}", first)


def _related(mark: bytes, arrays: dict[str, ArrayEntry]) -> Found | None:
    """How the arrays of a text belong together, found once; None of a file."""
    if not printed.can_be_related(arrays):
        return None
    known = state.page_value("load_related", None)
    if not known or known[0] != mark:
        known = mark, how_related(arrays)
        state.set_page_value("load_related", known)
    return known[1]


def _list(arrays: dict[str, ArrayEntry], related: Found, compared: list[Compared] | None) -> None:
    """All arrays of a text: what each is used as, and whether it agrees with the new board."""
    if compared is None:
        uses = [
            (use.role or "", arrays[name].remark)
            for name, use in zip(arrays, related.uses, strict=True)
        ]
    else:
        uses = [(one.role or "", one.said) for one in compared]
    st.html(tables.found(arrays, uses))


def _compared(
    s: Settings,
    about: tuple[bytes, Picks, int | None],
    arrays: dict[str, ArrayEntry],
    related: Found,
    new: Settings,
) -> list[Compared]:
    """Compare a text with the ``new`` settings, which are ``s`` with the numbers it is about."""
    known = state.page_value("load_compared", None)
    if not known or known[0] is not s or known[1] != about:
        inputs = {role: name for role, (name, _) in about[1].items()}
        known = s, about, printed.compared(new, arrays, related, inputs)
        state.set_page_value("load_compared", known)
    return known[2]


def _check(boxes: dict[str, object]) -> None:
    """Go on to Check yours, with what stands in its boxes."""
    for name, value in boxes.items():
        state.choose(f"check_{name}", value)
    state.set_page_value(state.GO, "check")


def _adopted(
    s: Settings,
    selected: dict[str, SelectedArray],
    heads: int | None,
    every: dict[str, ArrayEntry],
    related: Found,
) -> tuple[Settings, list[str]]:
    """The settings with these inputs, with the scale and mask that a text shows."""
    new, said = adopt.adopt(s, selected, heads)
    proven = {use.role for use in related.uses if use.by == "relation"}
    said = [one for one in said if one.partition(" was read as ")[0] not in proven]
    return printed.settings_with(new, every, related, set(selected)), said


def _guess(s: Settings, mark: bytes, arrays: dict[str, ArrayEntry], related: Found | None) -> None:
    """What the arrays most likely are."""
    state.set_page_value("load_guessed", mark)
    state.set_page_value("load_picks", None)
    own = printed.family_of(related) if related else None
    state.set_page_value("load_family", own or adopt.family_of(arrays))
    state.set_page_value("load_axis", adopt.axis_of(arrays))
    likely = adopt.likely(*next(iter(arrays.items())), s)
    state.set_page_value("load_role", likely)


def _arrays(where: str, content: bytes) -> dict[str, ArrayEntry]:
    """Read once for each text, and again where a question about it is answered in another way."""
    answers = {key: state.page_value(f"load_{key}", None) for key in ASKED}
    chosen = {key: answer for key, answer in answers.items() if answer}
    known = state.page_value("load_found", None)
    read: dict[str, ArrayEntry] | BadInput
    if known and known[0] == (where, chosen):
        read = known[1]
    else:
        try:
            read = opening.opened(where, content, chosen)
        except BadInput as problem:
            read = problem.bare()
        state.set_page_value("load_found", ((where, chosen), read))
    if isinstance(read, BadInput):
        for key, answer in chosen.items():  # another answer may do
            _choice(key, OPTIONS[key], answer)
        raise read
    for choice in {choice.key: choice for one in read.values() for choice in one.choices}.values():
        _choice(choice.key, choice.options, choice.taken, capital(choice.question))
    return read


def _choice(key: str, options: Mapping[str, str], taken: str, question: str | None = None) -> None:
    """Show a question that a text leaves open, with the answer by which it is read."""
    state.page_control(
        st.segmented_control,
        ASKED[key],
        f"load_{key}",
        taken,
        options=list(options),
        required=True,
        format_func=options.__getitem__,
    )
    if question:
        pieces.note(question)


def _single(s: Settings, arrays: dict[str, ArrayEntry]) -> tuple[Picks, int | None]:
    """One array: what is it?"""
    name, entry = next(iter(arrays.items()))
    role = state.page_control(
        st.selectbox,
        f"These are {sides(entry.shape)} numbers. Use them as",
        "load_role",
        "X",
        options=[*ROLES, SEVERAL],
        format_func=lambda role: ROLES.get(role, "several of these inputs"),
    )
    if role == SEVERAL:
        return _several(s, arrays)
    if role in WEIGHTS:
        st.caption(SIDE_BY_SIDE)
    picks: Picks = {role: (name, _selection(role, entry))}
    return picks, _heads(s, picks, arrays)


def _several(
    s: Settings,
    arrays: dict[str, ArrayEntry],
    related: Found | None = None,
    every: dict[str, ArrayEntry] | None = None,
) -> tuple[Picks, int | None]:
    """Several arrays: which of them is which input?

    ``related`` is how ``every`` array of a text, also those that cannot be read, belong together.
    """
    if len(arrays) > 1 and not related:
        with st.expander(f"{len(arrays):,} arrays"):
            st.html(tables.contents(arrays))
    family = state.page_control(
        st.segmented_control,
        "These arrays are",
        "load_family",
        "weights",
        options=list(FAMILY_LABELS),
        required=True,
        format_func=FAMILY_LABELS.__getitem__,
    )
    if state.page_value("load_picks", None) != family:
        state.set_page_value("load_picks", family)
        guessed = adopt.picks_of(arrays, family)
        if related and every:
            proposed = printed.picks_of(every, related, family)
            guessed |= {role: name for role, name in proposed.items() if name or role == MASK}
            for role in printed.turned(related, every, guessed):
                state.set_page_value(f"load_transposed_{role}", True)
            if printed.hides(related):
                state.set_page_value(f"load_true_{MASK}", "hide")
        for role, name in guessed.items():
            state.set_page_value(f"load_pick_{role}", name)
    if {*WEIGHTS} & {*adopt.FAMILIES[family]}:
        st.caption(SIDE_BY_SIDE if family == "weights" else TRANSPOSED)
    picks: Picks = {}
    for role in adopt.FAMILIES[family]:
        left, right = st.columns([3, 2])
        with left:
            name = state.page_control(
                st.selectbox,
                ROLES[role],
                f"load_pick_{role}",
                None,
                options=list(arrays),
                index=None,
                placeholder="unchanged",
                format_func=lambda name: f"{name}   {sides(arrays[name].shape)}",
            )
        if name is not None:
            with right:
                picks[role] = (
                    name,
                    _selection(role, arrays[name], first=not picks.keys() & set("QKV")),
                )
    return picks, _heads(s, picks, arrays)


def _heads(s: Settings, picks: Picks, arrays: dict[str, ArrayEntry]) -> int | None:
    """How many heads share the columns of what comes; None: as the arrays have them."""
    joined = state.page_value("load_axis", "batch") == "heads" and picks.keys() & set("QKV")
    names = [picks[role][0] for role in ("W_Q", "W_K", "W_V", "Q", "K", "V") if role in picks]
    if joined or not names:
        return None
    own = next((arrays[name].heads for name in names if arrays[name].heads), None)
    return state.page_control(
        st.number_input,
        "Number of heads",
        "load_heads",
        None,
        min_value=1,
        max_value=MAX_DIMENSION,
        step=1,
        placeholder=f"{own} (from the file)" if own else f"{s.heads}, as now",
    )


def _selection(role: str, entry: ArrayEntry, first: bool = True) -> Selection:
    """How the array is to be read, where there is a choice.

    Q, K and V are cut alike, and asked about once.
    """
    group = "QKV" if role in "QKV" else role
    chosen = {
        choice: state.page_value(f"load_{choice}_{group}", first_choice)
        for choice, first_choice in CHOICES.items()
    }
    axis = state.page_value("load_axis", "batch") if group == "QKV" else AS_IT_IS.axis
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if role in WEIGHTS:
            chosen["cut"] = _part(role, entry)
            chosen["transposed"] = state.page_control(
                st.checkbox,
                "transposed",
                f"load_transposed_{role}",
                False,
            )
        elif entry.rows and (entry.pick or len(entry.shape) == 2):
            most = ""
            if entry.shape[0] > MAX_TOKENS:
                most = f" of {entry.shape[0]:,}, at most {MAX_TOKENS:,}"
            chosen["words"] = state.page_control(
                st.text_input,
                f"Words to use{most}, in order (empty: the first rows)",
                f"load_words_{role}",
                "",
                placeholder=" ".join(entry.rows[:4]),
            )
        elif first and _can_be_cut(entry):
            chosen["cut"] = _slice(group, entry)
        if role == "X" and len(entry.shape) == 2 and not chosen["words"]:
            chosen["transposed"] = state.page_control(
                st.checkbox,
                "transposed",
                "load_transposed_X",
                False,
                help="For X with one column for each token.",
            )
        if group == "QKV" and first and len(entry.shape) > 2:
            axis = state.page_control(
                st.segmented_control,
                "The axis before the rows is",
                "load_axis",
                "batch",
                options=list(AXES),
                required=True,
                format_func=AXES.__getitem__,
            )
        if role == MASK:
            chosen["true"] = state.page_control(
                st.segmented_control,
                "1 or True means",
                f"load_true_{MASK}",
                AS_IT_IS.true_means,
                options=list(POLARITIES),
                required=True,
            )
    return Selection(chosen["words"], chosen["cut"], chosen["transposed"], chosen["true"], axis)


def _can_be_cut(entry: ArrayEntry) -> bool:
    """Whether a slice is asked for; a matrix that was typed is pasted as it is wanted."""
    return entry.dtype != "text" or len(entry.shape) > 2


def _part(role: str, entry: ArrayEntry) -> str:
    """The slice of an array that becomes a weight: all of it, a third, or one that is typed."""
    if not _can_be_cut(entry):
        return ""
    cuts = thirds(entry.shape)
    named = {cut: f"{third} ({cut})" for third, cut in zip(THIRDS, cuts, strict=False)}
    part = state.page_control(
        st.selectbox,
        "Which part",
        f"load_part_{role}",
        ALL,
        options=[ALL, *cuts, SLICE],
        format_func=lambda part: named.get(part, part),
    )
    if part == SLICE:
        return _slice(role, entry)
    return "" if part == ALL else part


def _slice(group: str, entry: ArrayEntry) -> str:
    return state.page_control(
        st.text_input,
        f"Which part of {sides(entry.shape)}, as a NumPy slice",
        f"load_cut_{group}",
        "",
        placeholder=f"for example {'0, ' * (len(entry.shape) - 2)}:, 0:64",
    )


def _use(
    selected: dict[str, SelectedArray],
    heads: int | None,
    text: tuple[dict[str, ArrayEntry], Found] | None = None,
) -> None:
    def act(s: Settings) -> Settings:
        if text:
            new, said = _adopted(s, selected, heads, *text)
        else:
            new, said = adopt.adopt(s, selected, heads)
        state.remark(" ".join(said))
        return new

    state.change(act)
