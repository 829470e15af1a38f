"""A picture in SVG that is part of the page: one can point at what is in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from attention.pages.frame import scripts, state

_COMPONENT = st.components.v2.component(
    "attention_picture",
    html='<div class="picture"></div>\n',
    js=scripts.importing("picture.js"),
    isolate_styles=False,
)


def show(key: str, svg: str, on_asked: Callable[[object], None]) -> None:
    """An SVG of ours, in which all that was typed is text: Streamlit's own HTML leaves SVG out.

    ``on_asked`` gets the ``data-query`` of what was clicked, as the browser sent it, unchecked.
    """
    moves = {"asked": partial(state.heard, key, "asked", on_asked)}
    _COMPONENT(key=key, data=svg.encode(), on_asked_change=moves["asked"])
    state.catch_up(key, moves)
