"""Small pieces that pages share."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path

import streamlit as st

from attention import scaled_dot_product_attention


def opening(what: str, notice: str = "") -> None:
    """The first lines of a page, in our own HTML, and with them the style of all that follows."""
    st.html(f"{_style()}<p class='intro'>{what}</p><p class='notice'>{notice}</p>")


def sentences(refused: list[str], understood: list[str]) -> None:
    """What became of the last change, where it needs saying."""
    for sentence in refused:
        st.warning(plain(sentence))
    for sentence in understood:
        st.success(plain(sentence))


@cache
def _style() -> str:
    return f"<style>{(Path(__file__).parent / 'style.css').read_text()}</style>"


@cache
def code() -> str:
    """The one-screen formula, as it runs."""
    return inspect.getsource(scaled_dot_product_attention)


def plain(text: str) -> str:
    """What a person typed, for places that read Markdown: its characters as they are."""
    return "".join("\\" + c if c in r"\`*_{}[]()#+-.!|~$:<>" else c for c in text)
