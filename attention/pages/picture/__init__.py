"""A picture in SVG that is part of the page: one can point at what is in it."""

from __future__ import annotations

import streamlit as st

from attention.pages import scripts

_COMPONENT = st.components.v2.component(
    "attention_picture",
    html='<div class="picture"></div>\n',
    js=scripts.importing("picture.js"),
    isolate_styles=False,
)


def show(key: str, svg: str) -> None:
    """An SVG of ours, in which all that was typed is text: Streamlit's own HTML leaves SVG out."""
    _COMPONENT(key=key, data=svg.encode())
