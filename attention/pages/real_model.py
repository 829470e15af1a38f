"""Real model: a capture's heads as small maps, each with its proof; one opens on Explore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import streamlit as st

from attention.explain.view import distinct
from attention.exports.across import maps_of, panes_of
from attention.figures.panes.maps import SmallMap, small_map
from attention.figures.panes.shades import BY_ROOT
from attention.figures.paper.figure import of_panes
from attention.limits import MAX_CAPTURE, MAX_DRAWN, MAX_LONG_FILE, MAX_MAPS, MAX_TOKENS, BadInput
from attention.models import examples
from attention.models.labels import label_note, words_of
from attention.models.opening import LONG_OPENS, opened
from attention.models.snippet import LINES, SNIPPET
from attention.models.survey import MEASURES, Head, Survey, survey
from attention.models.taken import Call
from attention.models.verify import AS_GIVEN
from attention.pages.components import board, maps
from attention.pages.frame import pieces, state
from attention.pages.panels import long_source, paper, upload
from attention.pages.panels.upload import UploadedFile
from attention.readers.cells import entry
from attention.session.bring import captured
from attention.session.compare import pair
from attention.session.long.job import sentence_of
from attention.session.state.settings import UPLOADED, Settings
from attention.vocabulary.markdown import plain
from attention.vocabulary.numbers import megabytes, number
from attention.vocabulary.sentences import amount, capital, which_of

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from attention.figures.paper.panels import OnPanel
    from attention.figures.paper.sheet import PaperFigure
    from attention.paper import Paper

FILE = "model_file"
WANTED = (
    "A file written by taken.save(…) or by the code below, or finished attention weights: an array"
    " (layers, items, heads, queries, keys), or one of each layer. A larger file, up to"
    f" {megabytes(MAX_LONG_FILE)}, opens on Long context. Reloading the page removes the file."
)
OPENED = "model_opened"  # the file that was opened last: its name and survey
WHOLE = "model_whole"  # whether a generation is one map
ONE_MAP = "Prompt and steps joined by their positions; keys that a step did not have are hidden."
MOST_NAMED = 20  # modules
MOST_SAID = 3  # layers that do not agree of which all is said
EVERY = "every"
MAPS_FILE, ACROSS_FILE = "attention_maps", "attention_across_layers"
LAYER, NUMBER = "layer", "this number, most striking first"  # by which maps are sorted
OPENS, FIRST = "model_opens", "model_first"  # what a press opens; the head that was pressed first
ALONE, BOTH = "the head", "two heads to compare"
ON_A_MAP = {"": "kind not known", "cross": "cross-attention"}  # others are called as they are


# ---- what is open --------------------------------------------------------------------------------


def uploaded() -> tuple[str, Survey | None]:
    """Return the name of the file that was opened last, and its survey."""
    return state.page_value(OPENED, ("", None))


def standing(s: Settings) -> Survey | None:
    """Return what is open: at first an example, and None where what was uploaded is lost.

    Generations are one map each where that was chosen and their steps can be joined.
    """
    found = uploaded()[1] if s.capture == UPLOADED else examples.surveyed(example_open(s))
    if found is None or not state.page_value(WHOLE, False) or not captured.has_steps(found.taken):
        return found
    whole = captured.joined_survey(found)
    return whole if isinstance(whole, Survey) else found


def the_answers(s: Settings) -> None:
    """Choose between a map for each step of a generation, and one for all of it."""
    found = uploaded()[1] if s.capture == UPLOADED else examples.surveyed(example_open(s))
    if found is None or not captured.has_steps(found.taken):
        return
    label = "Each generation as one map"
    if state.page_control(st.toggle, label, WHOLE, False, help=ONE_MAP):
        whole = captured.joined_survey(found)
        if isinstance(whole, str):
            pieces.message_box("flag", f"{capital(whole)} The steps are shown.")


def example_open(s: Settings) -> str:
    """Return the name of the example that is open; "" where an upload is."""
    return "" if s.capture == UPLOADED else s.capture or next(iter(examples.CAPTURES))


def open_file(file: UploadedFile) -> None:
    """Open the file in place of what was open; where it is refused, all stays."""
    try:
        with st.spinner("Recomputing every head", show_time=True):
            found = survey(opened(file.content(MAX_CAPTURE), file.name))
    except (ValueError, MemoryError) as problem:
        refusal = problem if isinstance(problem, BadInput) else BadInput(sentence_of(problem))
        upload.refuse(FILE, refusal)
    else:
        upload.forget(FILE)
        state.set_page_value(OPENED, (entry.shown(file.name), found))
        stand(UPLOADED)
    if not state.changes_wait():
        st.rerun()


def open_example(name: str) -> None:
    upload.forget(FILE)
    stand(name)


def close() -> None:
    upload.forget(FILE)
    state.set_page_value(OPENED, ("", None))
    stand("")


def stand(capture: str) -> None:
    """Open this in place of what was open, and put a mark of it into the address."""
    state.change(lambda settings: replace(settings, capture=capture))
    for name in ("kind", "layer", "head"):
        state.set_page_value(f"model_{name}", EVERY)
    for name, first in (("item", 0), ("part", 1)):
        state.set_page_value(f"model_{name}", first)


def to_data() -> None:
    state.control_moved()
    state.choose("below", state.DATA)
    state.set_page_value(state.GO, "")


def to_long() -> None:
    state.control_moved()
    state.choose("long_source", "file")
    state.set_page_value(state.GO, "long")


def the_sources(s: Settings) -> DeltaGenerator:
    """The uploader, which opens what comes, and beside it the examples; return their place."""
    left, right = st.columns([3, 4], gap="medium")
    with left:
        label = "Open a capture (.safetensors) or weights (.npy, .npz, .json)"
        if file := upload.upload(FILE, label, MAX_CAPTURE, WANTED):
            open_file(file)
        if standing(s) and s.capture == UPLOADED:
            st.caption(f"Open: {plain(uploaded()[0])}")
    with right:
        pieces.note("Or a trained model that is included:")
        with st.container(horizontal=True, gap="small"):
            for name, example in examples.CAPTURES.items():
                state.button(
                    example.title,
                    f"model_example_{name}",
                    open_example,
                    (name,),
                    type="primary" if example_open(s) == name else "secondary",
                )
            if s.capture == UPLOADED:
                state.button("Close", "model_close", close)
    problem = upload.problem(FILE)
    if state.DATA in str(problem):
        state.button("Go to Your data", "model_data", to_data)
    if LONG_OPENS in str(problem):
        state.button("Go to Long context", "model_long", to_long)
    return right


# ---- the proof -----------------------------------------------------------------------------------


def the_proof(found: Survey) -> None:
    """One sentence for all heads, and what is not as it should be."""
    taken, proof = found.taken, found.verification
    layers = len({head.layer for head in found.heads})
    items = Counter(head.item for head in found.heads)
    alike = len(set(items.values())) == 1  # windows are not
    heads = len(found.heads) // (len(items) if alike else 1)
    counted = f"{amount(heads, 'head')} of {amount(layers, 'layer')}"
    counted += f" in {len(proof.calls)} calls" if len(proof.calls) > layers else ""
    if len(items) > 1:
        counted += f" for each of {len(items)} items" if alike else f" and {len(items)} items"
    kinds = " and ".join(dict.fromkeys(call.dtype for call in taken))
    if proof.is_given:
        model = f"{taken.model or 'A model'}: {counted}."
        pieces.message_box("flag", f"{model} {capital(AS_GIVEN)}.")
        the_notes(found)
        return
    model = f"{taken.model or 'A model'}: {counted}, recomputed in float64."
    wrong = [one for one in proof.calls if not one.agrees]
    if wrong:
        pieces.message_box(
            "refused",
            f"{model} {len(wrong)} of {amount(len(proof.calls), 'call')} differ from the model’s"
            f" own output by more than {kinds} explains.",
        )
        for one in wrong[:MOST_SAID]:
            pieces.message_box("plain", str(one))
        if len(wrong) > MOST_SAID:
            names = ", ".join(one.call.name for one in wrong[MOST_SAID : MOST_SAID + 20])
            pieces.message_box("plain", f"So do: {names}.")
    else:
        share = max(one.share for one in proof.calls)
        pieces.message_box(
            "understood",
            f"{model} Every output matches the model’s own to {number(proof.difference, 1)}"
            f" (rounding in {kinds} could explain {captured.times(share)} as much).",
        )
        lacking = sum(int((~one.proven).sum()) for one in proof.calls if not one.is_given)
        if lacking:
            pieces.message_box(
                "flag",
                f"This proves nothing for {lacking:,} of {amount(len(found.heads), 'head')}:"
                " rounding would also explain an output of 0.",
            )
    the_notes(found)


def the_notes(found: Survey) -> None:
    """What was not recorded, does not fit, or is to be known of the calls."""
    taken = found.taken
    for said, modules in (("Not captured", taken.missed), ("Not run", taken.not_run)):
        if modules:
            others = len(modules) - MOST_NAMED
            more = f" and {others:,} more" if others > 0 else ""
            pieces.message_box("flag", f"{said}: {', '.join(modules[:MOST_NAMED])}{more}.")
    if said := label_note(taken):
        pieces.message_box("flag", capital(said))
    notes = list(dict.fromkeys(note for call in taken for note in call.notes))
    for note in notes[:MOST_SAID]:
        pieces.message_box("flag", f"Note: {note}.")
    if len(notes) > MOST_SAID:
        more = amount(len(notes) - MOST_SAID, "more note")
        pieces.note(f"{more}: attention.verify lists all.")
    left = dict.fromkeys(word for call in taken for word in captured.left_behind(call))
    if left:
        pieces.message_box(
            "flag",
            f"Layers here have a {', a '.join(left)}. Maps and proof include it; Explore has no"
            " control for it yet, so a head opens there without it and shows the difference.",
        )


# ---- the maps ------------------------------------------------------------------------------------


def chosen_heads(found: Survey, row: DeltaGenerator) -> tuple[list[Head], str, bool]:
    """The heads that are wanted, in their order; the measure under them; whether it sorts them."""
    with row:
        measure = state.page_control(
            st.segmented_control,
            "Number under each map",
            "model_measure",
            "entropy",
            options=list(MEASURES),
            required=True,
            format_func=lambda name: MEASURES[name].label,
        )
        order = state.page_control(
            st.segmented_control,
            "Sort by",
            "model_order",
            LAYER,
            options=[LAYER, NUMBER],
            required=True,
        )
        state.page_control(
            st.segmented_control, "Click opens", OPENS, ALONE, options=[ALONE, BOTH], required=True
        )
        item, kind = 0, EVERY
        if found.items > 1:
            item = _select(
                "Item",
                "item",
                0,
                range(found.items),
                said=lambda item: captured.item_name(found, item),
            )
        kinds = list(dict.fromkeys(call.kind for call in found.taken))
        if len(kinds) > 1:
            kind = _select("Kind", "kind", EVERY, [EVERY, *kinds], kind_name, KINDS)
        there = of_kind(found, kind, item)
        layers = list(dict.fromkeys(head.layer for head in there))
        numbers = sorted({head.number for head in there})
        layer = _select("Layer", "layer", EVERY, [EVERY, *layers])
        number = _select("Head", "head", EVERY, [EVERY, *numbers])
    heads = [
        head for head in there if layer in (EVERY, head.layer) and number in (EVERY, head.number)
    ]
    by_number = order == NUMBER
    if by_number:
        sign = -1 if MEASURES[measure].largest_first else 1

        def place(head: Head) -> tuple[bool, float]:
            value = head.measures[measure]
            return value is None, 0.0 if value is None else sign * value

        heads.sort(key=place)
    return heads, measure, by_number


KINDS = "Encoder and decoder attention look at their own sequence, cross-attention at another one."


def _select(
    label: str, name: str, first: Any, options: Any, said: Any = str, help: str | None = None
) -> Any:
    return state.page_control(
        st.selectbox,
        label,
        f"model_{name}",
        first,
        options=list(options),
        format_func=said,
        width=150,
        help=help,
    )


def kind_name(kind: str) -> str:
    return ON_A_MAP.get(kind, kind)


def of_kind(found: Survey, kind: str, item: int) -> list[Head]:
    """The heads of an item, of calls of this kind or of every kind."""
    return [
        head
        for head in found.heads
        if head.item == item and kind in (EVERY, found.taken.calls[head.place].kind)
    ]


def the_words(found: Survey, item: int) -> None:
    """The words that the model read, a line for each sequence."""
    lines = []
    for part, words in captured.sequences(found.taken, item).items():
        said = " ".join(words[: captured.MOST_WORDS])
        said += f" … ({len(words):,} in all)" if len(words) > captured.MOST_WORDS else ""
        lines.append(f"Words ({part}): {said}" if part else f"Words: {said}")
    if lines:
        pieces.note(*lines)


def the_maps(s: Settings, found: Survey) -> None:
    row = st.container(horizontal=True)
    heads, measure, by_number = chosen_heads(found, row)
    the_words(found, state.page_value("model_item", 0))
    said, shown = MEASURES[measure].sentence, heads
    if len(heads) > MAX_MAPS:
        last = -(-len(heads) // MAX_MAPS)
        with row:
            part = state.page_control(
                st.selectbox,
                f"{MAX_MAPS} maps at a time",
                "model_part",
                1,
                options=range(1, last + 1),
                format_func=lambda k: f"{(k - 1) * MAX_MAPS + 1}–{min(k * MAX_MAPS, len(heads))}",
                width=150,
            )
        shown = heads[(part - 1) * MAX_MAPS : part * MAX_MAPS]
        said = f"{len(shown)} of {len(heads):,} heads. {said}"
    pieces.note(
        f"{said} Rows are queries, columns keys. {BY_ROOT} Click a map to open that head on"
        f" Explore, or on Long context if it has more than {MAX_TOKENS} tokens."
    )
    if state.page_value(OPENS, ALONE) == BOTH:
        first = first_pressed(found)
        a = "Click two maps." if first is None else f"A is {_called(found, first)}; click B."
        pieces.note(f"Compare shows the second head next to the first. {a}")
    drawn = drawn_maps(found, shown)
    alone = len({head.place for head in shown}) == len(shown)  # one of each layer
    if by_number or alone:
        title = "In every layer"
        if by_number:
            ending = "largest first" if MEASURES[measure].largest_first else "smallest first"
            title = f"Layer · head by {MEASURES[measure].label}, {ending}"
        buttons = [_button(found, head, drawn, measure, True) for head in shown]
        groups = [maps.Group(title, "", buttons)]
    else:
        groups = [
            maps.Group(
                *_heading(found, place, item),
                [_button(found, head, drawn, measure, False) for head in of_call],
            )
            for (place, item), of_call in groupby(shown, lambda head: (head.place, head.item))
        ]
    maps.show("model_maps", groups, partial(press, s))
    the_figure(s, found, heads)


def drawn_maps(found: Survey, heads: Sequence[Head]) -> dict[tuple[int, int, int], SmallMap]:
    """The maps of these heads; those of the last run are not made again."""
    if state.page_value("model_maps_of", None) is not found:
        state.set_page_value("model_maps_of", found)
        state.set_page_value("model_maps", {})
    kept, drawn = state.page_value("model_maps", {}), {}
    for head in heads:
        key = head.place, head.item, head.head
        if key not in kept:
            trace = found.taken.calls[head.place].trace(head.item, head.head)
            kept[key] = small_map(trace.weights, trace.allowed)
        drawn[key] = kept[key]
    state.set_page_value("model_maps", drawn)
    return drawn


def the_figure(s: Settings, found: Survey, heads: Sequence[Head]) -> None:
    """The maps of these heads as one figure: all of them, or those chosen side by side."""
    if not heads:
        return
    calls = found.taken.calls
    there = {f"{one.place} {one.head}": (calls[one.place], one.head) for one in heads}
    item = heads[0].item
    labels = {
        key: capital(call.place(item, head).title(call.number_of(head)))
        for key, (call, head) in there.items()
    }

    of_calls = dict.fromkeys(call for call, _ in there.values())
    patches = {call.patches for call in of_calls}  # [None] of words
    over = patches.pop() if len(patches) == 1 else None
    words = words_of(found.taken, calls[heads[0].place], item)[0] if over else ()
    queries = distinct(words)

    def drawn(
        chosen: tuple[str, ...], query: int | None, paper: Paper, on_panel: OnPanel
    ) -> PaperFigure:
        if not chosen:
            return maps_of(found.taken, item, list(there.values()), paper, on_panel, query)
        panes, about = panes_of(found.taken, item, [there[key] for key in chosen])
        return of_panes(panes, paper, "; ".join(about.lines()[1:]), on_panel)

    suffix = f"_item{item}" if found.items > 1 else ""
    seen = found, tuple(there)
    paper.offer_maps(s, MAPS_FILE, labels, seen, drawn, suffix, ACROSS_FILE, queries)


def _heading(found: Survey, place: int, item: int) -> tuple[str, str]:
    one = found.verification.calls[place]
    call = one.call
    title = capital(captured.called(call, item))
    queries = amount(call.Q.shape[2], "query", "queries")
    sizes = f"{queries} × {amount(call.K.shape[2], 'key')}"
    if one.is_given:
        return title, f"{AS_GIVEN} · {sizes}"
    difference = number(one.difference, 1)
    proof = f"matches the model to {difference} (rounding in {call.dtype})"
    proof = proof if one.agrees else f"differs from the model by {difference}"
    return title, f"{proof} · {sizes}, d_k {call.Q.shape[3]}"


def _button(found: Survey, head: Head, drawn: dict, measure: str, alone: bool) -> maps.Button:
    """A map with its number and its proof; ``alone``: without a heading that has its layer."""
    call = found.taken.calls[head.place]
    value, difference = head.measures[measure], head.measures["difference"]
    apart = "∞" if difference is None else number(difference, 1)
    proof = f"matches to {apart}" if head.agrees else f"off by {apart}"
    lines = [proof]
    if measure != "difference":
        lines.insert(0, f"{MEASURES[measure].label} {'–' if value is None else number(value, 2)}")
    equal = f"matches the model to {apart}" if head.agrees else f"differs from the model by {apart}"
    if call.weights is not None:
        lines[-1] = equal = "as given"
    says = "; ".join([*lines[:-1], equal])
    item = which_of("item", [head.item], len(call.Q))
    what = ", ".join(filter(None, (call.kind, item, call.when)))
    page = "Long context" if captured.is_long(call) else "Explore"
    return maps.Button(
        f"{head.place} {head.item} {head.head}",
        drawn[head.place, head.item, head.head],
        f"layer {head.layer} · head\u00a0{head.number}" if alone else f"head\u00a0{head.number}",
        tuple(filter(None, (what, *lines, call.module))) if alone else tuple(lines),
        f"{captured.called(call, head.item, head.head)}: {says}. Opens on {page}.",
        not head.agrees,
    )


def press(s: Settings, sent: object) -> None:
    """Put the head of a map on Explore's board, or one of more tokens on Long context; go there."""
    found, pressed = standing(s), sent.get("id") if isinstance(sent, dict) else None
    here = {f"{head.place} {head.item} {head.head}": head for head in found.heads} if found else {}
    if found is None or not isinstance(pressed, str) or pressed not in here:
        return
    head, taken = here[pressed], found.taken
    call = taken.calls[head.place]
    if state.page_value(OPENS, ALONE) == BOTH:
        press_second(found, head)
        return
    if captured.is_long(call):
        try:
            long_source.bring_head(taken, head.place, head.item, head.head)
        except BadInput as problem:
            state.refuse(str(problem))
        leave("long")
        return

    def act(settings: Any) -> Any:
        new = captured.with_head(settings, taken, call, head.item, head.head)
        state.set_page_value(captured.ARRIVED, (new, arrival(head, call, found)))
        return new

    state.change(act)
    leave("")


def first_pressed(found: Survey) -> Head | None:
    """The head of what is open that was pressed to be A of a comparison."""
    whose, head = state.page_value(FIRST, (None, None))
    return head if whose is found else None


def press_second(found: Survey, head: Head) -> None:
    """Keep the head as A where none is kept; else compare it, as B, with the one that is."""
    call, first = found.taken.calls[head.place], first_pressed(found)
    if captured.is_long(call):
        state.refuse(f"Compare shows up to {MAX_TOKENS} tokens; this head has more.")
        return
    if first is None:
        state.control_moved()
        state.set_page_value(FIRST, (found, head))
        return

    def act(settings: Settings) -> Settings:
        a, b = (
            captured.with_head(
                settings, found.taken, found.taken.calls[one.place], one.item, one.head
            )
            for one in (first, head)
        )
        return pair.compared(pair.Pair(a, b))

    state.change(act)
    state.set_page_value(FIRST, (None, None))
    leave("compare")


def _called(found: Survey, head: Head) -> str:
    return captured.called(found.taken.calls[head.place], head.item, head.head)


def leave(path: str) -> None:
    """Turn to another page, unless something was refused or is still to be done."""
    if not state.sentences()[0] and not state.changes_wait():
        state.set_page_value(state.GO, path)


def arrival(head: Head, call: Call, found: Survey) -> tuple[str, str]:
    """Return the kind of the box on Explore, and what it says of a head that came."""
    of_call = captured.called(call, head.item, head.head)
    name = f"{capital(of_call)}, of {found.taken.model or 'a model'}"
    if call.weights is not None:
        return "plain", f"{name}. {capital(AS_GIVEN)}."
    difference = head.measures["difference"]
    if difference is None or not head.agrees:
        return "refused", f"{name}: its output does not match the model’s own."
    return "understood", (
        f"{name}: as captured, its output matches the model’s own to {number(difference, 1)}"
        f" (rounding in {call.dtype})."
    )


# ---- one head across layers ----------------------------------------------------------------------


def the_layers(s: Settings, found: Survey) -> None:
    """The weights of one head in every layer, beside each other, and as a figure to print."""
    item, kind = state.page_value("model_item", 0), state.page_value("model_kind", EVERY)
    there = of_kind(found, kind, item)
    numbers = sorted({head.number for head in there})
    wanted = state.page_value("model_head", EVERY)
    if wanted == EVERY:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            wanted = _select("Head across layers", "across", numbers[0], numbers)
    heads = [head for head in there if head.number == wanted]
    cells, kept = 0, list[Head]()
    for head in heads:
        call = found.taken.calls[head.place]
        cells += call.Q.shape[2] * call.K.shape[2]
        if cells <= MAX_DRAWN and len(kept) < MAX_MAPS:
            kept.append(head)
    if len(kept) < len(heads):
        pieces.note(f"The first {len(kept)} of {len(heads)} layers and calls.")
    calls = [(found.taken.calls[head.place], head.head) for head in kept]
    panes, about = panes_of(found.taken, item, calls)
    board.show("model_board", board.Contents(panes, about=about))
    if panes:
        suffix = f"_head{wanted}_item{item}" if found.items > 1 else f"_head{wanted}"
        paper.offer(s, panes, ACROSS_FILE, about, suffix, MAPS_FILE)


def the_lines() -> None:
    pieces.note("If this package is installed with torch (your model runs unchanged):")
    st.code(LINES, language="python")
    pieces.note(
        "Choose layers, heads, queries and calls to keep the file of a large model small. Without"
        " this package, for models of transformers 5 with sdpa or eager:"
    )
    st.code(SNIPPET, language="python")


def page(s: Settings) -> None:
    pieces.opening(
        "What did the model really do?",
        "Open a capture of its attention. Every head is recomputed, compared with the model’s own"
        " output, and opens on Explore.",
    )
    pieces.sentences(*state.sentences())
    beside = the_sources(s)
    shown = standing(s)
    if shown is None:
        pieces.not_here("What was uploaded is", "upload the file again")
    else:
        with beside:
            the_proof(shown)
        if name := example_open(s):
            pieces.note(examples.CAPTURES[name].notice)
        the_answers(s)
        the_maps(s, shown)
        if state.page_control(st.toggle, "One head across layers", "model_layers", False):
            the_layers(s, shown)
    with st.expander("How to capture your own model", key="model_lines"):
        the_lines()
    pieces.address()
    state.end()


page(state.begin())
