"""Compare: what is pinned as A, the settings as B, and every stage of both with B − A."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attention.explain import beside
from attention.explain.arithmetic import cell as cell_arithmetic
from attention.explain.strip import strip_of_pair
from attention.explain.view import View
from attention.exports import bounds
from attention.exports import pairs as files
from attention.figures.panes.comparison import apart
from attention.figures.panes.pane import Pane
from attention.figures.panes.panes import Cell
from attention.html import pairs as tables
from attention.limits import BadInput
from attention.pages.components import board
from attention.pages.frame import pieces, state
from attention.pages.panels import cells, controls, paper, words, your_data
from attention.pages.panels.compared import Comparison
from attention.session.compare import pair as pairs
from attention.session.edit.changes import name_of
from attention.session.edit.decoding import is_step
from attention.session.state import links
from attention.session.state.about import what_it_is
from attention.session.state.matrix import captured_head
from attention.session.state.settings import Settings
from attention.vocabulary.notation import in_label
from attention.vocabulary.numbers import number
from attention.vocabulary.sentences import capital
from attention.vocabulary.stages import STAGES

CHANGED, CELL = "What changed", "This cell"
TOO_LARGE = "too large for a link. Explore in the menu shows B, or A after Swap."
SIDES = ("_difference", "_a")  # end the names of panes beside that of B
NAME = "attention_compare"
MIME = {"csv": "text/csv", "npz": "application/zip", "json": "application/json"}
REFUSED = {".csv": "No CSV", ".json": "No file of A and B together"}
MADE_OF = "compare_made_of"  # a value of the page: the last of these comparisons, and of what


def made(settings: Settings, name: str) -> Settings:
    """One of the comparisons that everyone wants, of these settings."""
    pair = pairs.PRESETS[name].make(settings)
    state.set_page_value(MADE_OF, (pair, settings))
    return pairs.compared(pair)


def made_of(settings: Settings) -> Settings:
    """What the comparison was made of, looked at as now; B where it is none of everyone's."""
    before = pairs.pair_of(settings)
    pair, begun = state.page_value(MADE_OF, (None, None))
    is_still = pair and pairs.are_seen_alike(pair, before)
    return pairs.looking_as(before.b, begun if is_still else pairs.begun_with(before))


def preset(settings: Settings, name: str | None) -> Settings:
    """One of these comparisons in place of the one that is shown."""
    return made(made_of(settings), name) if name else settings  # else it was pressed again


def in_both(act: state.Act) -> state.Act:
    """The same change; of A, too, while one of these comparisons is selected."""

    def changed(settings: Settings, *moved_to: Any) -> Settings:
        name = pairs.preset_of(possible(pairs.pair_of(settings))[0])
        if name is None:
            return act(settings, *moved_to)
        after = act(made_of(settings), *moved_to)
        try:
            return made(after, name)
        except BadInput as problem:
            title = pairs.PRESETS[name].title
            raise BadInput(f"“{title}” is not possible with that: {problem}") from None

    return changed


def pin(settings: Settings) -> Settings:
    """B becomes A."""
    b = pairs.pair_of(settings).b
    return pairs.compared(pairs.Pair(b, b))


def only_a(settings: Settings) -> Settings:
    """A takes the place of B, and nothing is pinned."""
    return pairs.pair_of(settings).a


PINNED: dict[str, tuple[str, Callable[[Settings], Settings]]] = {
    "pin": ("Use B as A", pin),
    "swap": ("Swap", pairs.swapped),
    "only_a": ("Make B equal to A", only_a),
}


def possible(pair: pairs.Pair) -> tuple[pairs.Pair, str]:
    """What is compared; without the mistake, and why, where B cannot make it."""
    if not pair.mistake:
        return pair, ""
    try:
        pairs.views(pair)
    except BadInput as problem:
        return replace(pair, mistake=""), f"B has no mistake: {problem}"
    return pair, ""


File = tuple[str, Callable[[], bytes]]  # its label, and what writes it


def saved_states(s: Settings, pair: pairs.Pair, too_large: str) -> dict[str, File]:
    """Return the state as a file, by its ending; A and B as two where one would be too large."""
    if not too_large:
        return {".json": ("Save state (.json)", partial(links.to_file, s))}
    return {
        f"_{side}.json": (f"Save {side} (.json)", partial(links.to_file, alone))
        for side, alone in (("A", pair.a), ("B", pair.b))
    }


def heads_shown(pair: pairs.Pair) -> str:
    """Say of which heads of a real model Q, K and V, or finished weights, are; "" of none. Mask and
    scale may be others than the model's.
    """
    if not any(captured_head(side.matrices) for side in (pair.a, pair.b)):
        return ""
    a, b = (
        ("weights" if side.weights_alone else "Q, K, V", name_of(side)[0])
        for side in (pair.a, pair.b)
    )
    if a == b:
        return f"{capital(a[0])} of A and B: {a[1]}."
    of_b = "of B" if a[0] == b[0] else f"{b[0]} of B"
    return f"{capital(a[0])} of A: {a[1]}; {of_b}: {b[1]}."


def filename(pair: pairs.Pair) -> str:
    """Return what the names of the files begin with: whose numbers are compared, and how."""
    numbers = dict.fromkeys(name_of(side)[1] for side in (pair.a, pair.b))
    return "_".join(filter(None, [NAME, *numbers, pairs.preset_of(pair)]))


def offer(formats: dict[str, File], refused: dict[str, str], name: str) -> None:
    """Draw a button for each file, by its ending, and a sentence on each that is ``refused``."""
    with st.container(horizontal=True, key="pair_formats"):
        for ending, (label, write) in formats.items():
            st.download_button(
                label,
                write,
                f"{name}{ending}",
                MIME[ending.rpartition(".")[2]],
                on_click="ignore",
                key=f"take_{ending.lstrip('._').replace('.', '_')}",
                disabled=ending in refused,
            )
    for ending, why in refused.items():
        pieces.note(f"{REFUSED[ending]}: {why}")


def opening(settings: Settings) -> Settings:
    """The first of these comparisons, where nothing is compared yet."""
    pair = pairs.pair_of(settings)
    if settings.pinned or pair.mistake:
        return settings
    return made(pair.b, "scale")


def the_pinned(s: Settings, pair: pairs.Pair) -> None:
    """Draw what can be done with A and B, and links that open each alone."""
    with st.sidebar, st.container(horizontal=True, gap="small", key="pinned"):
        for key, (label, act) in PINNED.items():
            state.button(label, key, state.change, (act,), disabled=not s.pinned)
        for name, side in (("A", pair.a), ("B", pair.b)):
            link, whole = links.address(side)
            st.link_button(f"Open {name}", f"./?{urlencode(link)}", disabled=not whole)
            if not whole:
                pieces.note(f"{name} is {TOO_LARGE}")


def panes_of(shown: Comparison) -> list[Pane]:
    """Return A, B and B − A of the stages; identical ones too where that is asked for.

    They are also there where all are identical, or where B is one step of decoding.
    """
    s, pair, identical = shown.s, shown.pair, shown.identical
    name = filename(pair)

    def dressed(pane: Pane) -> Pane:
        """Name the pane's file, and say what is wrong in it and what can be done in it."""
        pane = replace(cells.let_edit(pane, s), filename=f"{name}_{pane.name}", picks=True)
        if pane.name in STAGES and pairs.is_wrong(pair, shown.b, pane.name):
            return replace(pane, sentence="With the mistake.")
        return pane

    is_whole = identical == shown.stages or is_step(pair.a, pair.b)
    wanted = state.page_value("alike", False) or is_whole
    return [
        dressed(pane)
        for both in (shown.stages if wanted else beside.that_differ(shown.stages))
        for pane in apart(both, shown.a, shown.b, digits=s.digits, query=s.query, cell=s.cell)
    ]


def picks(*there: cells.Shapes) -> Callable[[object], None]:
    """Return what a click on a cell of A, of B or of their difference does.

    The session keeps it until the next run: it must not hold the stages themselves.
    """

    def show_cell(clicked: object) -> None:
        if isinstance(clicked, dict) and isinstance(stage := clicked.get("stage"), str):
            for side in SIDES:
                stage = stage.removesuffix(side)
            clicked = clicked | {"stage": stage}
        cell = cells.existing(clicked, *there)
        if cell:
            state.change(lambda settings: replace(settings, cell=cell))
            state.choose("below_compare", CELL)

    return show_cell


def weighed(side: View, mistake: str) -> View:
    """Return the side for the strip; after a mistake its weights may not be shares of 1."""
    return replace(side, softmax=False) if mistake else side


def the_board(shown: Comparison, panes: list[Pane]) -> None:
    s, mistake = shown.s, shown.pair.mistake
    sides = weighed(shown.a, mistake), weighed(shown.b, mistake)
    board.show(
        "compare_board",
        board.Contents(
            panes,
            about=what_it_is(s),
            strip=strip_of_pair(*sides, s.query, s.digits),
        ),
        on_picked=picks(cells.shapes(shown.a), cells.shapes(shown.b)),
        on_asked=cells.ask,
        on_edited=cells.edit,
    )
    for both in shown.stages:
        if both.why_not:
            pieces.note(both.why_not)


def what_changed(shown: Comparison) -> None:
    a, b, identical = shown.a, shown.b, shown.identical
    largest = [found for both in shown.stages if (found := beside.largest_change(both))]
    with st.container(horizontal=True, gap="large"):
        if largest:
            st.html(tables.changes(largest, a, shown.s.digits), width="content")
        with st.container(width="stretch"):
            if winners := tables.winners(beside.strongest_changed(a, b)):
                st.html(winners)
            if identical:
                names = ", ".join(STAGES[both.name].heading for both in identical)
                pieces.note(f"Identical in A and B: {names}.")
            state.page_control(
                st.toggle,
                "Also show identical stages",
                "alike",
                False,
            )


def the_cell(shown: Comparison) -> None:
    cell = cells.chosen(shown.s, shown.b, "weights")
    sides = (("A", shown.a), ("B", shown.b))
    both = [
        tables.arithmetic(name, side, cell, lines(shown, name, side, cell)) for name, side in sides
    ]
    st.html(f"<div class='two'>{''.join(both)}</div>")


def lines(shown: Comparison, name: str, side: View, cell: Cell) -> list[str]:
    """Return how a cell of one side is made; nothing where it has no such cell."""
    (stage, i, j), digits = cell, shown.s.digits
    if cells.existing({"stage": stage, "i": i, "j": j}, cells.shapes(side)) is None:
        return []
    pair = shown.pair
    if name == "B" and pairs.is_wrong(pair, side, stage):  # no formula leads to its number
        result = number(side.printed(stage)[i, j], digits)
        return [f"in B {pairs.BY_NAME[pair.mistake].title}", f"= {result}"]
    return cell_arithmetic(side, stage, i, j, digits)


def the_files(shown: Comparison, panes: list[Pane]) -> None:
    s, pair, a, b = shown.s, shown.pair, shown.a, shown.b
    name = filename(pair)
    formats: dict[str, File] = {
        ".csv": ("CSV, one row per cell", partial(files.to_csv, pair, a, b, shown.stages)),
        ".npz": ("NPZ for NumPy", partial(files.to_npz, pair, a, b, shown.stages)),
    }
    refused = {
        ".csv": bounds.too_large("csv", a) or bounds.too_large("csv", b),
        ".json": links.too_large(s),
    }
    formats |= saved_states(s, pair, refused[".json"])
    offer(formats, {ending: why for ending, why in refused.items() if why}, name)
    if state.link()[1]:  # a box says it otherwise
        pieces.note("The link under “Share” holds both A and B.")
    again = "the saved state under “Your data”"
    if refused[".json"]:
        again = "A under “Your data”, press “Use B as A”, and open B"
    pieces.note(
        "CSV and NPZ contain A, B and B − A of every stage, exact. To continue later, open"
        f" {again}."
    )
    paper.offer(s, panes, name)


def page(s: Settings) -> None:
    pair, no_mistake = possible(pairs.pair_of(s))
    chosen = pairs.preset_of(pair)
    pieces.opening(
        "Compare two settings",
        "Your changes go to B. With a comparison selected below, a new sentence, another example"
        " and Randomize go to both.",
    )
    the_pinned(s, pair)
    controls.rail(s, "", in_both)
    begun = made_of(s) if chosen else s
    words.row(begun, widened=in_both)
    state.setting_control(
        st.pills,
        "Comparisons",
        "preset",
        chosen,
        preset,
        options=list(pairs.PRESETS),
        format_func=lambda name: in_label(pairs.PRESETS[name].title),
        label_visibility="collapsed",
    )
    heads = heads_shown(pair)
    look_for = f"{pairs.look_for(chosen, pair)} {pairs.also_changed(begun, pair)}".strip()
    st.html(tables.differing(pairs.differing(pair), look_for, heads))
    pieces.sentences(*state.sentences())
    if no_mistake:
        pieces.message_box("flag", no_mistake)
    shown = Comparison.of(s, pair)
    panes = panes_of(shown)
    the_board(shown, panes)
    pieces.address()
    panels: dict[str, Callable[[], None]] = {
        CHANGED: partial(what_changed, shown),
        CELL: partial(the_cell, shown),
        state.DATA: partial(your_data.panel, s),
        "Export": partial(the_files, shown, panes),
    }
    if pieces.dock("below_compare", panels) != state.DATA:
        your_data.forget()
    state.end()


page(state.begin(pairs.pin_first, opening))
