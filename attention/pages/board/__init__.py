"""The board: one component that holds every pane, draws in place and reports what was clicked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from attention.colours import PALETTES
from attention.pages import state

_HERE = Path(__file__).parent
# Goes before the script of every component that draws.
LOADER = (_HERE.parent / "plotly.js").read_text()
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
    panes: Sequence[Mapping[str, Any]],
    *,
    formula: Sequence[tuple[str, str | None]] | None = None,
    remark: str = "",
    tag: str = "",
    on_picked: Callable[[object], None] | None = None,
    on_edit: Callable[[object], None] | None = None,
) -> None:
    """Draw the panes in place. ``on_picked`` and ``on_edit`` get what the browser sent, unchecked.

    Each pane carries a digest of its figure, and only those that changed are drawn anew. When all
    are painted, the board's ``data-tag`` is ``tag``, by default a digest of them all.
    """
    figures = [_json(pane["figure"]) for pane in panes]
    digests = [_digest(figure) for figure in figures]
    head = {
        "plotly": PLOTLY_URL,
        "palettes": PALETTES,
        "formula": formula,
        "remark": remark,
        "tag": tag or _digest("".join(digests)),
    }
    written = [
        _with(_words(pane) | {"digest": digest}, "figure", figure)
        for pane, digest, figure in zip(panes, digests, figures, strict=True)
    ]
    data = _with(head, "panes", f"[{','.join(written)}]").encode()
    handlers = {"picked": on_picked, "edit": on_edit}
    moves: dict[str, Any] = {
        name: partial(_forward, key, name, handler) for name, handler in handlers.items() if handler
    }
    _COMPONENT(key=key, data=data, **{f"on_{name}_change": move for name, move in moves.items()})
    for name, move in moves.items():
        if state.missed(key, name):
            move()
            st.rerun()


def _words(pane: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in pane.items() if name != "figure"}


def _with(record: dict[str, Any], name: str, written: str) -> str:
    """The record as JSON, with one more entry that is JSON already."""
    return f'{_json(record)[:-1]},"{name}":{written}}}'


def _json(value: object) -> str:
    return _ENCODER.encode(value)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _forward(key: str, name: str, handler: Callable[[object], None]) -> None:
    value = state.trigger(key, name)
    if value is not None:
        handler(value)
