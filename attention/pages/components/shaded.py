"""Components that paint cells in shades: what they are told is JSON, and behind a zero the rest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from attention.explain.colours import PALETTES
from attention.pages.frame import scripts, state

_HERE = Path(__file__).parent


def component(name: str) -> Any:
    """The component with the module of that name, and the style in the folder of that name."""
    return st.components.v2.component(
        f"attention_{name}",
        html=f'<div class="{name}"></div>\n',
        css=(_HERE / name / f"{name}.css").read_text(),
        js=scripts.importing(f"{name}.js"),
        isolate_styles=False,
    )


def show(
    made: Any,
    key: str,
    head: dict[str, Any],
    content: bytes,
    sends: str,
    handler: Callable[[object], None],
) -> None:
    """Draw a component; the ``handler`` gets what it ``sends``, unchecked."""
    head = head | {"palettes": PALETTES}
    head["tag"] = hashlib.blake2b(repr(head).encode() + content, digest_size=8).hexdigest()
    data = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\0" + content
    sent = {sends: partial(state.heard, key, sends, handler)}
    made(key=key, data=data, **{f"on_{sends}_change": sent[sends]})
    state.catch_up(key, sent)
