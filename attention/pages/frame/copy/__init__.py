"""Lines of text to copy, each with a button, which works on plain http too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from attention.pages.frame import scripts

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "attention_copy",
    html='<div class="copy"></div>\n',
    css=(_HERE / "copy.css").read_text(),
    js=scripts.importing("copy.js"),
    isolate_styles=False,
)


def show(key: str, lines: Mapping[str, str]) -> None:
    """Draw a field and a button for each text, by its label."""
    _draw(key, lines)


def button(key: str, label: str, text: str, says: str) -> None:
    """Draw a button that copies the text, and below it what it ``says``; where copying fails, the
    text itself is seen.
    """
    _draw(key, {label: text}, alone=True, says=says)


def _draw(key: str, lines: Mapping[str, str], alone: bool = False, says: str = "") -> None:
    data = {"lines": list(lines.items()), "alone": alone, "says": says}
    _COMPONENT(key=key, data=json.dumps(data).encode())
