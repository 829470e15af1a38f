"""The button that copies the link: what it holds, and the line that embeds the page elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from attention.limits import MAX_QR
from attention.pages import scripts, state

WHOLE = "This link opens to the same numbers wherever this address can be reached."
LOCAL = "This link opens to the same numbers, but it works on this computer only."
PART = (
    "These matrices are too large for a link: this one finds them in this browser alone."
    " “Take it away” on Explore saves the state as a file that opens anywhere."
)
NOWHERE = (
    "These matrices are too large for a link, and this browser keeps nothing: this link does not"
    " open to them. “Take it away” on Explore saves the state as a file that opens anywhere."
)
TOO_LARGE = "These matrices are too large for a link, and for this browser to keep."

QR_URL = "vendor/qr.svg"  # where a code is drawn
_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "attention_share",
    html='<div class="share"></div>\n',
    css=(_HERE / "share.css").read_text(),
    js=scripts.importing("share"),
    isolate_styles=False,
)


def button() -> None:
    """“Copy link”, for what is set."""
    parameters, whole = state.link()
    says: dict[str, str | bool | int] = {"code": QR_URL, "most": MAX_QR}
    if too_large := state.too_large():
        part = f"{TOO_LARGE} {state.capital(too_large)}"
    else:
        part = NOWHERE if state.why_not_kept() else PART
    says |= {"query": urlencode(parameters), "says": WHOLE if whole else part}
    says["local"] = LOCAL if whole else part  # on this computer's own address
    says["embeds"] = whole  # elsewhere a part would show other numbers
    _COMPONENT(key="share", data=json.dumps(says).encode())
