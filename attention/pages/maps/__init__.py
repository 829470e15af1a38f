"""Many small maps, each a button: a glance at every head."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from attention.colours import PALETTES
from attention.figures.maps import SmallMap
from attention.pages import state

_HERE = Path(__file__).parent
_BOARD = "../board/"
SCRIPTS = ("../elements.js", f"{_BOARD}scales.js", f"{_BOARD}shades.js", "maps.js")  # as one
_COMPONENT = st.components.v2.component(
    "attention_maps",
    html='<div class="maps"></div>\n',
    css=(_HERE / "maps.css").read_text(),
    js="\n".join((_HERE / script).read_text() for script in SCRIPTS),
    isolate_styles=False,
)


class Button(NamedTuple):
    """One map: what is sent back when it is pressed, and what stands under it and is read out."""

    id: str
    map: SmallMap
    name: str
    lines: tuple[str, ...]
    says: str
    is_wrong: bool = False


class Group(NamedTuple):
    """Maps under a heading, with a quiet line beside that."""

    title: str
    note: str
    buttons: Sequence[Button]


def show(key: str, groups: Sequence[Group], on_pressed: Callable[[object], None]) -> None:
    """Draw the maps; ``on_pressed`` gets what the browser sent, unchecked."""
    written: list[dict[str, Any]] = []
    codes = b""
    for title, note, buttons in groups:
        maps = []
        for button in buttons:
            rows, columns, shades = button.map
            maps.append(button._asdict() | {"map": [rows, columns]})
            codes += shades
        written.append({"title": title, "note": note, "buttons": maps})
    head: dict[str, Any] = {"palettes": PALETTES, "groups": written}
    head["tag"] = hashlib.blake2b(repr(written).encode() + codes, digest_size=8).hexdigest()
    data = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\0" + codes
    pressed = partial(_pressed, key, on_pressed)
    _COMPONENT(key=key, data=data, on_pressed_change=pressed)
    if state.missed(key, "pressed"):
        pressed()
        st.rerun()


def _pressed(key: str, handler: Callable[[object], None]) -> None:
    value = state.trigger(key, "pressed")
    if value is not None:
        handler(value)
