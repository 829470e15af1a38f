"""The store: a component without a face that keeps large states in the person's own browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from attention.pages.frame import scripts

Answer = Callable[[dict[str, Any]], None]
KEY = "store"
_COMPONENT = st.components.v2.component(
    "attention_store",
    html="<i hidden></i>\n",
    js=scripts.importing("store.js"),
)


def find(turn: str, mark: str, found: Answer) -> None:
    """Ask for the state kept under a mark.

    ``found`` gets ``{"mark", "file", "why"}`` as the browser sent it, unchecked. An order is
    carried out once for each ``turn``.
    """
    _order({"turn": f"find {mark} {turn}", "find": mark}, found=found)


def keep(
    turn: str,
    mark: str,
    link: dict[str, str],
    parts: dict[str, str],
    *,
    lacks: Answer,
    failed: Answer,
) -> None:
    """Keep a link whose matrices are named by digests, and the texts of those the browser lacks.

    ``lacks`` gets ``{"digests"}`` where a text is missing, ``failed`` gets ``{"mark", "why"}``.
    """
    order = {"turn": f"keep {mark} {turn}", "keep": mark, "link": link, "parts": parts}
    _order(order, lacks=lacks, failed=failed)


def forget(turn: str, failed: Answer) -> None:
    """Forget every state that this browser keeps."""
    _order({"turn": f"forget {turn}", "forget": True}, failed=failed)


def _order(order: dict[str, Any], **answers: Answer) -> None:
    data = json.dumps(order, separators=(",", ":")).encode()
    events: dict[str, Any] = {
        f"on_{name}_change": partial(_hand_on, name, answer) for name, answer in answers.items()
    }
    _COMPONENT(key=KEY, data=data, **events)


def _hand_on(name: str, answer: Answer) -> None:
    value = st.session_state.get(KEY, {}).get(name)  # nothing, once it is no longer on the page
    if isinstance(value, dict):
        answer(value)
