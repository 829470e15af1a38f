"""A figure to take away: one stage or all of them, at the size of a paper or a slide, as SVG, PNG or PDF."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import streamlit as st

from attention.exports import images
from attention.figures.sheet import Sheet, compose
from attention.pages import parts, state
from attention.pages.board import LOADER, PLOTLY_URL

_HERE = Path(__file__).parent
ALL = "all"
SIZES = {"column": ("paper column", 8.6, 7.0), "page": ("paper page", 17.0, 9.0), "slide": ("slide", 25.0, 14.0)}
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
    if state.own(st.toggle, "Save a figure", f"sheet_open_{filename}", False):
        section(panes, filename)


def section(panes: list[dict], filename: str, *, together: bool = False) -> Sheet:
    """Choose a figure and its size, see it as it will be, and save it. ``together``: all of them may stand on one sheet."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        chosen = _chosen(panes, together)
        sheet, scale = _sheet()
    with right:
        figure = compose(chosen, sheet)
        name = f"{filename}_{chosen[0]['name'] if len(chosen) == 1 else 'stages'}"
        _show(figure, sheet, scale, name, " ".join(pane.get("alt", "") for pane in chosen))
        _pdf(figure, name)
    return sheet


def _chosen(panes: list[dict], together: bool) -> list[dict]:
    symbols = {pane["name"]: pane["symbol"] for pane in panes}
    options = [ALL] * (together and len(panes) > 1) + list(symbols)
    if state.kept("sheet_figure", None) not in options:
        state.keep("sheet_figure", options[0])
    name = state.own(st.selectbox, "Figure", "sheet_figure", options[0], options=options,
                     format_func=lambda name: symbols.get(name, "all stages on one sheet"))  # fmt: skip
    return panes if name == ALL else [pane for pane in panes if pane["name"] == name]


def _sheet() -> tuple[Sheet, int]:
    size = state.own(st.segmented_control, "Made for a", "sheet_for", "page", options=list(SIZES), required=True,
                     format_func=lambda name: SIZES[name][0])  # fmt: skip
    if state.kept("sheet_was", "page") != size:
        for key, value in zip(("sheet_was", "sheet_width", "sheet_font"), (size, *SIZES[size][1:]), strict=True):
            state.keep(key, value)
    with st.container(horizontal=True):
        width = state.own(st.number_input, "Width in cm", "sheet_width", SIZES["page"][1], min_value=4.0, max_value=60.0,
                          step=0.5, format="%.1f", width=130)  # fmt: skip
        font = state.own(st.number_input, "Font size in pt", "sheet_font", SIZES["page"][2], min_value=4.0, max_value=40.0,
                         step=0.5, format="%.1f", width=130)  # fmt: skip
    with st.container(horizontal=True):
        mode = state.own(st.segmented_control, "Paper", "sheet_mode", "light", options=["light", "dark"], required=True)
        scale = state.own(st.segmented_control, "PNG, times", "sheet_scale", 3, options=[1, 2, 3, 4], required=True)
    title = state.own(st.text_input, "Title", "sheet_title", "", max_chars=200)
    caption = state.own(st.text_area, "Caption", "sheet_caption", "", max_chars=2000, height=70)
    return Sheet(width, font, mode, title, caption), scale


def _show(figure: dict, sheet: Sheet, scale: int, filename: str, alt: str) -> None:
    drawn = json.dumps(figure, separators=(",", ":"))
    tag = hashlib.blake2b(drawn.encode(), digest_size=8).hexdigest()
    head = {"plotly": PLOTLY_URL, "cm": sheet.width_cm, "scale": scale, "filename": filename, "alt": alt, "tag": tag}
    _COMPONENT(key="sheet", data=f'{json.dumps(head)[:-1]},"figure":{drawn}}}'.encode())


def _pdf(figure: dict, filename: str) -> None:
    """Made by the server, when asked for."""
    if images.missing():
        parts.note(images.missing())
        return
    if st.button("Make a PDF", key="make_pdf", on_click=state.touched):
        try:
            with st.spinner("Drawing …"):
                content = images.draw(figure, "pdf")
        except images.NoImage as problem:
            parts.say("refused", str(problem))
        else:
            st.download_button(
                "Save the PDF",
                content,
                f"{filename}.pdf",
                "application/pdf",
                on_click="ignore",
                key="pdf",
                type="primary",
            )
