"""A map of many thousand tokens, in cells: a box, a key or a button looks closer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from attention.colours import PALETTES
from attention.figures.long_cells import LongMap
from attention.pages import state

_HERE = Path(__file__).parent
_BOARD = "../board/"
SCRIPTS = ("../elements.js", f"{_BOARD}scales.js", f"{_BOARD}shades.js", "zoom.js")  # as one
_COMPONENT = st.components.v2.component(
    "attention_zoom",
    html='<div class="zoom"></div>\n',
    css=(_HERE / "zoom.css").read_text(),
    js="\n".join((_HERE / script).read_text() for script in SCRIPTS),
    isolate_styles=False,
)


def show(
    key: str, shown: LongMap, query: int, on_moved: Callable[[object], None], about: str = ""
) -> None:
    """Draw the map; ``on_moved`` gets what the browser sent, unchecked: a window or a query.

    ``about`` follows each number that is read, such as that it is not exact yet.
    """
    cells = shown.cells
    head: dict[str, Any] = {
        "palettes": PALETTES,
        "rowEdges": cells.row_edges.tolist(),
        "keyEdges": cells.key_edges.tolist(),
        "whole": shown.whole,
        "queryTicks": shown.query_ticks,
        "keyTicks": shown.key_ticks,
        "scale": shown.scale,
        "measure": shown.measure,
        "queryWords": shown.query_words,
        "keyWords": shown.key_words,
        "says": shown.says,
        "about": about,
        "exact": not about,
        "query": query,
    }
    content = shown.shades + np.ascontiguousarray(cells.values, "<f4").tobytes()
    head["tag"] = hashlib.blake2b(repr(head).encode() + content, digest_size=8).hexdigest()
    data = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\0" + content
    moved = partial(_moved, key, on_moved)
    _COMPONENT(key=key, data=data, on_moved_change=moved)
    if state.missed(key, "moved"):
        moved()
        st.rerun()


def _moved(key: str, handler: Callable[[object], None]) -> None:
    value = state.trigger(key, "moved")
    if value is not None:
        handler(value)
