"""The board: one component that holds every pane, draws in place and reports what was clicked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from attention.colours import PALETTES
from attention.pages import state

_HERE = Path(__file__).parent
LOADER = (
    _HERE.parent / "plotly.js"
).read_text()  # goes before the script of every component that draws
PLOTLY_URL = "vendor/plotly.min.js"  # served by app.py out of the installed plotly package

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)
_COMPONENT = st.components.v2.component(
    "attention_board",
    html='<div class="board"></div>\n',
    css=(_HERE / "board.css").read_text(),
    js=LOADER + (_HERE / "board.js").read_text(),
    isolate_styles=False,
)


def show(
    key: str,
    panes: list[dict],
    *,
    formula: list | None = None,
    remark: str = "",
    tag: str = "",
    on_picked: Callable[[object], None] | None = None,
    on_edit: Callable[[object], None] | None = None,
) -> None:
    """Draw the panes in place. ``on_picked`` and ``on_edit`` get what the browser sent, unchecked.

    Each pane carries a digest of its figure, and only those that changed are drawn anew. When all are
    painted, the board's ``data-tag`` is ``tag``, by default a digest of them all.
    """
    figures = [_json(pane["figure"]) for pane in panes]
    digests = [_digest(figure) for figure in figures]
    tag = tag or _digest("".join(digests))
    words = [
        _json({k: v for k, v in pane.items() if k != "figure"} | {"digest": d})
        for pane, d in zip(panes, digests, strict=True)
    ]
    joined = ",".join(
        f'{w[:-1]},"figure":{figure}}}' for w, figure in zip(words, figures, strict=True)
    )
    head = _json(
        {
            "plotly": PLOTLY_URL,
            "palettes": PALETTES,
            "formula": formula,
            "remark": remark,
            "tag": tag,
        }
    )
    handlers = {
        name: handler for name, handler in (("picked", on_picked), ("edit", on_edit)) if handler
    }
    events = {
        f"on_{name}_change": lambda name=name, handler=handler: _forward(key, name, handler)
        for name, handler in handlers.items()
    }
    _COMPONENT(key=key, data=f'{head[:-1]},"panes":[{joined}]}}'.encode(), **events)
    for name, handler in handlers.items():
        if state.missed(key, name):
            _forward(key, name, handler)
            st.rerun()


def _json(value) -> str:
    return _ENCODER.encode(value)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _forward(key: str, name: str, handler) -> None:
    value = state.trigger(key, name)
    if value is not None:
        handler(value)
