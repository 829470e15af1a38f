"""Check yours: both sides' inputs, another code's numbers, and which mistake explains them."""

from dataclasses import replace
from typing import Any

import streamlit as st

from attention.core.masks import MASK_LABELS
from attention.figures.panes import differing
from attention.figures.panes.pane import Pane
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.diagnosis.mistakes import Mistake
from attention.frameworks.diagnosis.result import Diagnosis
from attention.frameworks.records import CONVENTIONS
from attention.limits import MAX_FILE, MAX_SCALE, BadInput
from attention.pages.components import board, typed
from attention.pages.frame import pieces, state
from attention.pages.panels import paper, upload
from attention.pages.panels.upload import UploadedFile
from attention.readers.cells.mask_polarity import POLARITIES
from attention.readers.files.array_files import Unreadable
from attention.readers.files.other_files import OtherKind
from attention.session.compare import check_yours as inputs
from attention.session.edit.changes import name_of
from attention.session.state.about import what_it_is
from attention.session.state.settings import Settings
from attention.vocabulary.notation import in_plain
from attention.vocabulary.parts import called
from attention.vocabulary.sentences import capital
from attention.vocabulary.stages import COMPUTED

ANSWERS = {"output": "Your output", "weights": "Your weights"}
MASKS = MASK_LABELS | {inputs.PASTED: "pasted, as 0 and 1"}
RIGHT = "none (correct)"
WANTED = "Numbers as text, or arrays saved by your code. Reloading the page removes the file."
OTHERS = "Continue with the other arrays"
EXAMPLE = (
    "An example, until you enter your numbers: the output of code with the mistake chosen under"
    " “Try a known mistake”."
)
RIGHT_EXAMPLE = "An example, until you enter your numbers: the output of correct code."
MOST_HEADS, SOFTCAPS = 64, (1e-6, 1e6)
SCALES = (1e-6, MAX_SCALE)
STAGES_HEIGHT = 220  # pixels of their boxes, which scroll: the verdict stays in sight
TYPED = {  # what a reload does not lose
    "check_source": typed.text("explore"),
    **{
        f"check_{name}": typed.text() for source in inputs.SOURCES.values() for name in source.names
    },
    **{f"check_{name}": typed.text() for name in ("mask", *ANSWERS, "stages")},
    **{f"check_stage_{name}": typed.text() for name in COMPUTED},
    "check_library": typed.text(inputs.OURS),
    "check_mask_kind": typed.text("none"),
    "check_true": typed.text("may look"),
    "check_heads": typed.count(1, MOST_HEADS, 1),
    "check_kv_heads": typed.count(1, MOST_HEADS, None),
    "check_scale": typed.count(*SCALES, None),
    "check_softcap": typed.count(*SOFTCAPS, None),
}


def text(name: str) -> str:
    return state.page_value(f"check_{name}", "")


def box(label: str, name: str, height: int, placeholder: str = "") -> None:
    state.page_control(
        st.text_area,
        label,
        f"check_{name}",
        "",
        height=height,
        placeholder=placeholder,
    )


def count(label: str, name: str, default: int | None, **options: Any) -> Any:
    return state.page_control(st.number_input, label, f"check_{name}", default, **options)


def pasted(source: str) -> dict[str, Any]:
    """The mask and the numbers of heads, the boxes to paste inputs into, and what is in them."""
    wanted = inputs.SOURCES[source].names
    mask, true_means, numbers = settings_of_pasted()
    for name, place in zip(wanted, st.columns(len(wanted)), strict=True):
        with place:
            box(name, name, 120, "1 0 2\n0 1 1")
    pieces.note(
        "Paste each as your code prints it, or as rows of plain numbers. Biases, norms,"
        " positions and sinks (an extra score in the sum of the softmax, which belongs to no"
        " key) are only used with the inputs from Explore."
    )
    if not all(text(name).strip() for name in wanted):
        raise BadInput(f"paste {', '.join(wanted)} above, the same as your code uses.")
    return inputs.pasted(
        source,
        {name: text(name) for name in (*wanted, "mask")},
        mask=mask,
        true_means=true_means,
        **numbers,
    )


def settings_of_pasted() -> tuple[str, str, dict[str, Any]]:
    """Draw the mask, what 1 means in it, the numbers of heads and the soft cap; return them."""
    numbers: dict[str, Any] = {}
    true_means = "may look"
    places = st.columns([1.6, 1, 1, 1, 1], vertical_alignment="bottom")
    with places[0]:
        mask = state.page_control(
            st.selectbox,
            "Mask",
            "check_mask_kind",
            "none",
            options=list(MASKS),
            format_func=MASKS.__getitem__,
        )
    with places[1]:
        numbers["heads"] = count(
            "Heads",
            "heads",
            1,
            min_value=1,
            max_value=MOST_HEADS,
            step=1,
            help="Their columns are side by side in Q, K and V.",
        )
    with places[2]:
        numbers["kv_heads"] = count(
            "Key/value heads",
            "kv_heads",
            None,
            min_value=1,
            max_value=MOST_HEADS,
            step=1,
            placeholder="same",
        )
    with places[3]:
        numbers["scale"] = count(
            "Scale",
            "scale",
            None,
            min_value=SCALES[0],
            max_value=SCALES[1],
            placeholder="1/√dₖ",
            help="What the scores are multiplied by.",
        )
    with places[4]:
        numbers["softcap"] = count(
            "Soft cap",
            "softcap",
            None,
            min_value=SOFTCAPS[0],
            max_value=SOFTCAPS[1],
            placeholder="none",
            help="Limits the scaled scores s: each becomes cap · tanh(s / cap) before the mask.",
        )
    if mask == inputs.PASTED:
        left, right = st.columns([4, 1.4])
        with left:
            box("Mask: one row per query, one column per key", "mask", 100, "1 0\n1 1")
        with right:
            true_means = state.page_control(
                st.segmented_control,
                "1 means",
                "check_true",
                true_means,
                required=True,
                options=list(POLARITIES),
            )
    return mask, true_means, numbers


def from_explore(s: Settings) -> dict[str, Any]:
    given = inputs.from_settings(s)
    seen = "no mask" if given["allowed"] is None else "with its mask (−∞)"
    scale = "scale 1/√d_k" if s.scale is None else f"scale {s.scale:g}"
    beside = f", {called(s.parts)}" if s.parts else ""
    there = f"“{name_of(s)[0]}” from Explore: {scale}, {seen}{beside}"
    pieces.note(f"{there}. Change it on Explore.")
    return given


def answers(bench: Bench, stages: bool) -> tuple[dict[str, str], str]:
    """The boxes for the other code's numbers; where all are empty, an example and what it is.

    ``stages`` says whether there are boxes for what is on the way to the output, too.
    """
    shapes = inputs.shapes(bench)
    for (name, label), place in zip(ANSWERS.items(), st.columns(2), strict=True):
        with place:
            box(
                f"{label}, {shapes[name]}",
                name,
                110,
                "Paste what your code prints: NumPy, PyTorch, JSON or plain numbers",
            )
    with st.container(key="check_more", gap="xsmall"):
        title, mistakes = others(bench, stages)
    boxes = {name: text(name) for name in ANSWERS}
    boxes |= {name: text(f"stage_{name}") for name in inputs.stages(bench) if stages}
    if any(typed.strip() for typed in boxes.values()):
        return boxes, ""
    boxes["output"] = inputs.planted(bench, mistakes[title], "output")
    return boxes, EXAMPLE if mistakes[title] else RIGHT_EXAMPLE


def others(bench: Bench, stages: bool) -> tuple[str, dict[str, Mistake | None]]:
    """Draw what else fills the boxes; return the mistake that is chosen, and all by title."""
    left, right = st.columns(2, vertical_alignment="bottom")
    asked_about = state.page_value("check_asked", None)
    if stages:
        left, way = left.columns(2)
        with way:
            draw_stages(bench)
    with left, st.expander("From a file", expanded=asked_about is not None):
        file = upload.upload("check_file", "Upload your numbers", MAX_FILE, WANTED)
        if file is None:
            state.set_page_value("check_asked", None)
        with st.container(horizontal=True):
            for name, label in ANSWERS.items():
                state.confirm(
                    f"Use as {label.lower()}",
                    f"check_use_{name}",
                    opened,
                    (name, file),
                    about=hash(file),  # another may have come over it
                    disabled=file is None,
                )
        if file is not None and asked_about == file:
            state.page_control(
                st.checkbox,
                OTHERS,
                "check_others",
                False,
            )
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        mistakes = {RIGHT: None} | {mistake.title: mistake for mistake in bench.applicable}
        first = inputs.first_example(bench)
        title = state.page_control(
            st.selectbox,
            "No numbers yet? Try a known mistake",
            "check_plant",
            first.title if first else RIGHT,
            options=list(mistakes),
            format_func=in_plain,
        )
        state.confirm(
            "Use this output",
            "check_planted",
            plant,
            (bench, mistakes[title]),
        )
    return title, mistakes


def draw_stages(bench: Bench) -> None:
    """Draw a folded box for each stage, and one from which all are filled."""
    way = st.expander("Stages before them")
    with way, st.container(height=STAGES_HEIGHT, border=False, key="check_way"):
        box("Several, each after its name", "stages", 80, "scores\n1 0 2\n0 1 1")
        state.confirm("Fill the boxes", "check_fill", fill, (bench,))
        for name, shape in inputs.stages(bench).items():
            box(f"Your {name}, {shape}", f"stage_{name}", 80)


def fill(bench: Bench) -> None:
    """Put each array of the text into the box of its name."""
    try:
        boxes = inputs.filled(bench, text("stages"))
    except (BadInput, OtherKind) as problem:
        state.refuse(capital(str(problem)))
        return
    for name, numbers in boxes.items():
        key = name if name in ANSWERS else f"stage_{name}"
        state.set_page_value(f"check_{key}", numbers)
    state.set_page_value("check_stages", "")


def plant(bench: Bench, mistake: Mistake | None) -> None:
    """Answer as the mistake does, or rightly."""
    state.set_page_value("check_output", inputs.planted(bench, mistake, "output"))
    state.set_page_value("check_weights", "")


def opened(name: str, file: UploadedFile) -> None:
    others = False
    if state.page_value("check_asked", None) == file:
        others = state.page_value("check_others", False)
    try:
        numbers = inputs.from_file(file.name, file.content(), name, others)
    except Unreadable as problem:
        state.set_page_value("check_asked", file)
        state.set_page_value("check_others", False)
        state.refuse(f"{problem} Tick “{OTHERS}” and press again.")
    except OtherKind as problem:
        where = " Explore shows them under “Your data”." if problem.code else ""
        state.refuse(f"{problem}{where}")
    except BadInput as problem:
        state.refuse(str(problem))
    else:
        state.set_page_value(f"check_{name}", numbers)


def verdict(diagnosis: Diagnosis, source: str) -> None:
    """What was found, in at most three lines; the details fold under them."""
    named = diagnosis.explanations or diagnosis.mask
    kind = "understood" if diagnosis.correct else "flag" if named else "refused"
    pieces.lines_box(kind, lines_of(diagnosis, source), diagnosis.more)


def lines_of(diagnosis: Diagnosis, source: str) -> list[str]:
    """Return the lines, with the place on the page where a missing mask is chosen."""
    first, *others = diagnosis.lines
    if diagnosis.mask:
        others = [f"Choose it {'on Explore' if source == 'explore' else 'above'}."]
    return [first, *others]


def panes_of(diagnosis: Diagnosis, head: int, s: Settings | None) -> list[Pane]:
    """Heatmaps of the first stage that differs, and of the numbers given, of this head."""
    if s is None:
        panes = differing.panes_of(diagnosis, head=head)
    else:
        panes = differing.panes_of(
            diagnosis, head=head, tokens=s.tokens, key_tokens=s.key_tokens, names=s.names
        )
    return [replace(pane, filename=f"attention_check_{pane.name}") for pane in panes]


def numbers_come_from() -> str:
    """Draw the choice of a library, and return its name."""
    return state.page_control(
        st.selectbox,
        "My numbers come from",
        "check_library",
        inputs.OURS,
        options=list(CONVENTIONS),
        format_func=called_in_menu,
    )


def called_in_menu(name: str) -> str:
    """Return a library as the menu has it."""
    if name == inputs.OURS:
        return "my own code, or another library"
    return CONVENTIONS[name].name


def the_diagnosis(s: Settings, source: str, bench: Bench) -> None:
    """Draw the boxes for the numbers, and what explains them, of inputs from this source."""
    library = numbers_come_from()
    with st.container(key="check_answer", gap="xsmall"):
        boxes, example = answers(bench, library == inputs.OURS)
        if example:
            pieces.note(example)
            library = inputs.OURS  # there is nothing of a library to compare yet
        diagnosis = inputs.explain(bench, boxes, library)
        verdict(diagnosis, source)
    heads = bench.right["weights"].shape[0] if bench.right["weights"].ndim == 3 else 1
    head = min(state.page_value("check_head", 0), heads - 1)
    state.set_page_value("check_head", head)
    if heads > 1:
        state.page_control(
            st.segmented_control,
            "Head",
            "check_head",
            0,
            options=range(heads),
            required=True,
            format_func=str,
        )
    panes = panes_of(diagnosis, head, s if source == "explore" else None)
    if library != inputs.OURS:
        there = CONVENTIONS[library].title
        panes = [
            replace(pane, symbol=pane.symbol.replace(", ours", f", {there}")) for pane in panes
        ]
    board.show("check_board", board.Contents(panes, about=what_it_is(s)))
    if panes:
        paper.offer(s, panes, "attention_check")


def page(s: Settings) -> None:
    pieces.opening(
        "Why does mine differ?",
        "Enter the inputs and the numbers your code returns; the page names the mistake, or the"
        " two, that give exactly these.",
    )
    pieces.sentences(*state.sentences())
    with st.container(
        horizontal=True, vertical_alignment="bottom", gap="medium", key="check_inputs"
    ):
        source = state.page_control(
            st.segmented_control,
            "Inputs",
            "check_source",
            "explore",
            required=True,
            options=list(inputs.SOURCES),
            format_func=lambda name: inputs.SOURCES[name].label,
        )
        beside = st.container()
    try:
        if source == "explore":
            with beside:
                given = from_explore(s)
        else:
            given = pasted(source)
        the_diagnosis(s, source, inputs.bench_of(given))
    except BadInput as problem:
        pieces.message_box("refused", capital(str(problem)))
    typed.keep("check_typed", TYPED)
    pieces.address()
    state.end()


page(state.begin())
