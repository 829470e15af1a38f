"""A figure to take away: one stage or all of them, at the size of a paper or a slide, as SVG, PNG or PDF."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import streamlit as st

from attention.exports import images
from attention.figures.sheet import CM, Sheet, compose
from attention.pages import parts, state
from attention.pages.board import LOADER, PLOTLY_URL
from attention.stages import STAGES

_HERE = Path(__file__).parent
SIZES = {  # what the figure is for: its words, width and greatest height in cm, font size in pt
    "column": ("paper column", 8.6, 24.0, 7.0),
    "page": ("paper page", 17.0, 24.0, 9.0),
    "slide": ("slide", 25.0, 14.0, 14.0),
}
SAVE = "Below it a figure for paper or slide is put together and saved."
_COMPONENT = st.components.v2.component(
    "attention_sheet",
    html='<div class="sheet"><div class="sheet-buttons"><button type="button">Save as SVG</button><button type="button">Save as PNG</button>'
    '<span role="status"></span></div><div class="sheet-paper"><img alt=""></div></div>\n',
    css=(_HERE / "sheet.css").read_text(),
    js=LOADER + (_HERE / "sheet.js").read_text(),
    isolate_styles=False,
)


def offer(panes: list[dict], filename: str) -> None:
    """The section behind a switch, for pages with other things to show."""
    if state.page_control(st.toggle, "Save a figure", f"sheet_open_{filename}", False, help=SAVE):
        section(panes, filename)


def section(panes: list[dict], filename: str, *, together: bool = False, note: str = "") -> Sheet:
    """Choose a figure and its size, see it as it will be, and save it.

    ``together``: several of them may stand on one sheet. ``note``: what it shows, such as a head; after the title.
    """
    left, right = st.columns([2, 3], gap="large")
    with left:
        chosen = (_several if together else _one)(_named(panes))
        sheet, scale = _sheet(filename, note)
    with right:
        figure = compose(chosen, sheet)
        name = f"{filename}_{chosen[0]['name'] if len(chosen) == 1 else 'stages'}"
        _show(figure, sheet, scale, name, " ".join(pane.get("alt", "") for pane in chosen))
        parts.note(f"{sheet.width_cm:.1f} × {figure['layout']['height'] / CM:.1f} cm")
        _pdf(figure, name)
    return sheet


def _named(panes: list[dict]) -> list[dict]:
    """The panes with symbols that differ, as menus need them; their sentences tell two differences apart."""
    symbols = [_symbol(pane, panes) for pane in panes]
    return [
        pane | {"symbol": symbol if symbols.count(symbol) == 1 else f"{symbol}: {pane['sentence']}"}
        for pane, symbol in zip(panes, symbols, strict=True)
    ]


def _symbol(pane: dict, panes: list[dict]) -> str:
    """What a pane shows, in words that hold without the panes around it: the stage, and of the group whose it is."""
    stage = next(
        (s for s in STAGES if pane["name"].startswith(f"{s}_") and pane["name"] not in STAGES), ""
    )
    symbols = (other["symbol"] for other in panes if other.get("group") == pane.get("group"))
    whose = pane["symbol"] or next(filter(None, symbols), "")
    return f"{stage}, {whose}" if stage not in whose else whose


def _several(panes: list[dict]) -> list[dict]:
    symbols = {pane["name"]: parts.plain(pane["symbol"]) for pane in panes}
    kept = state.page_value("sheet_stages", [])
    if not set(kept) <= set(symbols):  # of another example
        state.set_page_value("sheet_stages", [name for name in kept if name in symbols])
    names = state.page_control(st.pills, "Stages on it", "sheet_stages", [], options=list(symbols), selection_mode="multi",
                      format_func=symbols.get, help="None chosen: all of them.")  # fmt: skip
    return [pane for pane in panes if pane["name"] in names] or panes


def _one(panes: list[dict]) -> list[dict]:
    symbols = {pane["name"]: pane["symbol"] for pane in panes}
    first = next(iter(symbols))
    if state.page_value("sheet_figure", first) not in symbols:
        state.set_page_value("sheet_figure", first)
    chosen = state.page_control(
        st.selectbox,
        "Figure",
        "sheet_figure",
        first,
        options=list(symbols),
        format_func=symbols.get,
        help="The one that is saved.",
    )
    return [pane for pane in panes if pane["name"] == chosen]


def _sheet(filename: str, note: str) -> tuple[Sheet, int]:
    width, height, font = _size()
    with st.container(horizontal=True):
        mode = state.page_control(
            st.segmented_control,
            "Paper",
            "sheet_mode",
            "light",
            options=["light", "dark"],
            required=True,
            help="Dark for a dark slide.",
        )
        scale = state.page_control(
            st.segmented_control,
            "PNG, times",
            "sheet_scale",
            3,
            options=[1, 2, 3, 4],
            required=True,
            help="So many pixels for each of the screen; 3 are enough for print.",
        )
    framed = state.page_control(
        st.toggle, "Frame the query", "sheet_framed", True, help="And the chosen cell."
    )
    title = state.page_control(
        st.text_input,
        "Title",
        f"sheet_title_{filename}",
        "",
        max_chars=200,
        help="Stands above the figure.",
    )
    caption = state.page_control(
        st.text_area,
        "Caption",
        f"sheet_caption_{filename}",
        "",
        max_chars=2000,
        height=70,
        help="Stands below the figure.",
    )
    return Sheet(width, font, mode, title, caption, height, framed, note), scale


def _size() -> list[float]:
    """Width, greatest height and font size: those of a paper or a slide, until a person changes them."""
    size = state.page_control(st.segmented_control, "Made for a", "sheet_for", "page", options=list(SIZES), required=True,
                     format_func=lambda name: SIZES[name][0], help="Sets the three sizes to its own.")  # fmt: skip
    if state.page_value("sheet_was", "page") != size:
        for key, value in zip(
            ("was", "width", "height", "font"), (size, *SIZES[size][1:]), strict=True
        ):
            state.set_page_value(f"sheet_{key}", value)
    fields = {
        "width": ("Width in cm", 4.0, 60.0, "Of the whole figure."),
        "height": ("Height at most, in cm", 4.0, 100.0, "What is taller gets lower rows."),
        "font": (
            "Font size in pt",
            4.0,
            40.0,
            "Of titles; labels and numbers are a little smaller.",
        ),
    }
    with st.container(horizontal=True):
        return [
            state.page_control(st.number_input, label, f"sheet_{key}", default, min_value=least, max_value=most, step=0.5,
                      format="%.1f", width=145, help=help)
            for (key, (label, least, most, help)), default in zip(fields.items(), SIZES["page"][1:], strict=True)
        ]  # fmt: skip


def _show(figure: dict, sheet: Sheet, scale: int, filename: str, alt: str) -> None:
    drawn = json.dumps(figure, separators=(",", ":"))
    tag = hashlib.blake2b(drawn.encode(), digest_size=8).hexdigest()
    head = {
        "plotly": PLOTLY_URL,
        "cm": sheet.width_cm,
        "scale": scale,
        "filename": filename,
        "alt": alt,
        "tag": tag,
    }
    _COMPONENT(key="sheet", data=f'{json.dumps(head)[:-1]},"figure":{drawn}}}'.encode())


def _pdf(figure: dict, filename: str) -> None:
    """Made by the server, when asked for."""
    if images.missing():
        parts.note(images.missing())
        return
    help = "Draws the same figure as a PDF on the server, which takes some seconds."
    if st.button("Make a PDF", key="make_pdf", on_click=state.control_moved, help=help):
        try:
            with st.spinner("Drawing …"):
                content = images.draw(figure, "pdf")
        except images.NoImage as problem:
            parts.message_box("refused", str(problem))
        else:
            st.download_button(
                "Save the PDF",
                content,
                f"{filename}.pdf",
                "application/pdf",
                on_click="ignore",
                key="pdf",
                type="primary",
                help="Saves what was just drawn.",
            )
