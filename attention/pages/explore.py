"""Explore: inputs, every stage on one board, a cell's arithmetic, a query played, exports."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from attention.core.trace import AttentionTrace
from attention.explain import spread
from attention.explain.view import View
from attention.exports import citation, code
from attention.exports.formats import FORMATS, PageContents, everything, refusal
from attention.exports.paper import about
from attention.figures.panes.panes import Cell
from attention.html import looks
from attention.pages import asked
from attention.pages.components import board, picture, tables
from attention.pages.frame import pieces, state
from attention.pages.panels import (
    all_stages,
    cells,
    controls,
    initialise,
    one_stage,
    paper,
    words,
    worksheet,
    your_data,
)
from attention.session.bring import captured
from attention.session.edit.changes import name_of
from attention.session.state.about import behind
from attention.session.state.examples import EXAMPLES, OWN, as_made
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.vocabulary.notation import in_html
from attention.vocabulary.numbers import number
from attention.vocabulary.sentences import capital
from attention.vocabulary.stages import STAGES

FORGET = (
    "The button above deletes states too large for a link (this browser saves the newest 50, or"
    " 50 MB), and the text typed under “Your data” and on Check yours, which is otherwise kept"
    " until this tab is closed."
)
LINES = "Lines"
WITH_LINES = "trained-it"  # the example that opens with its lines
SEEN = "example_seen"  # a value of the page


def notice(s: Settings) -> str:
    """Return what to see in the example, as long as it is as it was made."""
    if as_made(s):
        return f"<b>Notice:</b> {in_html(EXAMPLES[s.example].notice)}"
    if s.example == OWN:
        return ""
    is_own = s.tokens != EXAMPLES[s.example].build().tokens
    if is_own:
        return "This sentence is yours. Reset restores the example."
    return "You changed this example. Reset restores it."


def the_board(s: Settings, shown: View, cell: Cell) -> None:
    board.show(
        "board",
        state.foreseen(s) or all_stages.contents(s, shown, cell),
        asks=asked.address(state.ticket()),
        # the session keeps it until the next run: it must not hold the stages, which take 16 MB
        # for eight heads of 512 tokens
        on_picked=all_stages.chooses(cells.shapes(shown)),
        on_asked=cells.ask,
        on_opened=one_stage.open_heatmap,
        on_edited=cells.edit,
        on_lost=lambda _: state.set_page_value(one_stage.LOST, True),
    )


def the_spread(s: Settings, shown: View) -> None:
    import pandas as pd  # only where the tables are opened

    left, right = st.columns([2, 3], gap="large")
    if variances := spread.variances(shown):
        with left:
            st.subheader("How far the numbers spread", anchor=False)
            table = pd.DataFrame(variances.items(), columns=["stage", "variance"])
            written = partial(number, digits=max(s.digits, 4))
            tables.show(table, "spread_variances", written, hide_index=True)
            pieces.note(
                "Population variance, the mean squared distance from the mean (NumPy’s ddof=0),"
                " over the visible, finite cells."
            )
    with right if variances else left:
        st.subheader("How sharp the weights are", anchor=False)
        table = pd.DataFrame(spread.sharpness(shown))
        written = partial(number, digits=s.digits)
        tables.show(table, "spread_sharpness", written, hide_index=True)
        pieces.note(
            "Entropy in nats (natural logarithm): 0 if one key has all the weight, ln n if each of"
            " n keys has the same."
        )


def the_looks(s: Settings, shown: View) -> None:
    if sentence := looks.refusal(shown):
        pieces.note(capital(sentence))
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        picture.show("looks", looks.svg(shown, s.query, s.digits), cells.ask)
    with right:
        pieces.note(
            "Thicker line = larger weight, from query (left) to key (right). Hover over a word to"
            " see its lines; click or tap it to make it the query."
        )


def page_contents(
    s: Settings, trace: AttentionTrace, shown: View, cell: Cell, wanted: tuple[str, ...] = ()
) -> PageContents:
    """Return what the formats write; of ``wanted`` stages where they hold only these."""
    drawn = partial(all_stages.drawn, s, shown, cell, False)
    return PageContents(s, trace, shown, all_stages.title(s), drawn, wanted)


def the_exports(s: Settings, trace: AttentionTrace, shown: View, cell: Cell) -> None:
    name = f"attention_{name_of(s)[1]}"
    st.subheader("Numbers, code, state", anchor=False)
    files = st.container(horizontal=True, key="formats")
    wanted = tuple(stages_wanted(list(shown.stages)))
    contents = page_contents(s, trace, shown, cell, wanted)
    refused = {key: why for key in FORMATS if (why := refusal(key, contents))}
    with files:
        for key, format in FORMATS.items():
            st.download_button(
                format.label,
                partial(format.write, contents),
                f"{name}_{format.name(contents.about)}",
                format.mime,
                on_click="ignore",
                key=f"take_{key}",
                disabled=key in refused,
            )
    for why in dict.fromkeys(refused.values()):
        pieces.note(f"Not available: {_labels(refused, why)}; {why}")
    pieces.note(
        "Each file records version, date and the source of its inputs. CSV, JSON, LaTeX and"
        " Markdown contain the “Stages to include” (all if none is chosen) of the item and head"
        " shown; NPZ and the saved state contain everything. Upload a saved state under “Your"
        " data”. The page address holds all settings, unless a message says that they are too"
        " large. The menu ⋯ of a stage copies its numbers."
    )
    with st.expander("What each file contains"):
        st.markdown("\n".join(f"- **{one.label}**: {one.contents}" for one in FORMATS.values()))
    state.button("Delete states saved in this browser", "forget", state.forget)
    pieces.note(FORGET)
    st.subheader("A figure", anchor=False)
    paper.stages_and_heads(s, trace, list(shown.stages), name + about(s).suffix)
    st.subheader("A worksheet", anchor=False)
    worksheet.offer(s, shown, name + contents.about.suffix)
    st.subheader("Everything", anchor=False)
    pieces.note(
        "The zip contains all numbers, the code, the state, the figure above and a picture of each"
        " stage."
    )
    if st.button(
        "Build a zip of all files",
        key="build_zip",
        on_click=state.control_moved,
    ):
        bar = st.progress(0.0)
        zipped = b""
        for done, written, zipped in everything(contents):  # noqa: B007
            bar.progress(done, f"Writing {written} …")  # the last is the whole zip
        bar.empty()
        st.download_button(
            "Save the zip",
            zipped,
            f"{name}{contents.about.suffix}.zip",
            "application/zip",
            on_click="ignore",
            key="zip",
            type="primary",
        )
    with st.expander("How to cite"):
        st.code(citation.sentence(), language=None, wrap_lines=True)
        st.code(citation.bibtex(), language="bibtex")


def _labels(sentences: dict[str, str], why: str) -> str:
    """The formats of which the same is said."""
    return ", ".join(f"“{FORMATS[key].label}”" for key in sentences if sentences[key] == why)


def stages_wanted(there: list[str]) -> list[str]:
    """Those that tables and texts hold; none: all."""
    return state.page_control(
        st.multiselect,
        "Stages to include",
        "text_stages",
        [],
        options=there,
        format_func=lambda name: STAGES[name].heading,
        placeholder="all",
        width=420,
    )


def the_code(s: Settings, trace: AttentionTrace, shown: View, cell: Cell) -> None:
    if lines := code.brief(s, trace):
        st.code(lines, language="python")
    whole = st.expander("The whole script, with the numbers", key="script", on_change="rerun")
    if not whole.open:
        return
    with whole:
        if why := refusal("python", page_contents(s, trace, shown, cell)):
            pieces.note(capital(why))
        else:
            st.code(code.to_python(s, trace, all_stages.title(s)).decode(), language="python")


def the_panels(s: Settings, trace: AttentionTrace, shown: View, cell: Cell) -> None:
    """Draw the tabs below the board, and what the open one holds."""
    panels: dict[str, Callable[[], None]] = {LINES: partial(the_looks, s, shown)}
    if patches := one_stage.patches_of(s, shown):
        panels[one_stage.OVER] = partial(one_stage.over_picture, s, shown, patches)
    panels |= {
        one_stage.HEATMAP: partial(one_stage.heatmap, s, shown, cell),
        one_stage.TABLE: partial(one_stage.table, s, shown, cell),
        "Spread": partial(the_spread, s, shown),
        "Initialise": partial(initialise.panel, s),
        state.DATA: partial(your_data.panel, s),
        "Export": partial(the_exports, s, trace, shown, cell),
        "Code": partial(the_code, s, trace, shown, cell),
    }
    if s.example != state.page_value(SEEN, ""):
        state.set_page_value(SEEN, s.example)
        if s.example == WITH_LINES:
            state.choose("below", LINES)
    if pieces.dock("below", panels) != state.DATA:
        your_data.forget()


def page(s: Settings) -> None:
    trace = run(s)
    shown = view(s, trace)
    cell = cells.chosen(s, shown)
    pieces.opening(
        "Attention, stage by stage",
        "Type a sentence. See every number.",
        {
            "Learn in 8 steps →": "learn",
            "Your own sentence →": ".st-key-sentence_box input",
            "Check your code →": "check",
        },
    )
    controls.rail(s, notice(s))
    words.row(s, cell[0])
    if of_model := behind(s):
        pieces.folded("flag", " ".join(of_model[::-1]))  # what stayed behind first
    pieces.sentences(*state.sentences())
    if arrived := captured.arrival(s, state.page_value(captured.ARRIVED, None)):
        pieces.message_box(*arrived)
    if state.page_value(one_stage.LOST, False):
        one_stage.without_board(s, shown, cell)
    else:
        the_board(s, shown, cell)
    for sentence in all_stages.flags(s, trace, shown):
        pieces.message_box("flag", sentence)
    pieces.address()
    the_panels(s, trace, shown, cell)
    state.end()


page(state.begin())
