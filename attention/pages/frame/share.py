"""Share: the link of what is set, what it holds, its QR code, and the lines that embed it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from ipaddress import ip_address
from urllib.parse import urlencode, urlsplit

import streamlit as st

from attention.limits import MAX_QR
from attention.pages.frame import copy, pieces, state
from attention.pages.frame.navigation import EMBEDDED, PAGES
from attention.vocabulary.sentences import capital
from attention.vocabulary.stages import STAGES

WHOLE = "This link opens to the same numbers wherever this address can be reached."
LOCAL = "This link opens these numbers, but only on this computer."
PART = (
    "These matrices are too large for a link: this one finds them in this browser alone."
    " “Export” on Explore saves the state as a file that opens anywhere."
)
NOWHERE = (
    "These matrices are too large for a link, and this browser keeps nothing: this link does not"
    " open to them. “Export” on Explore saves the state as a file that opens anywhere."
)
TOO_LARGE = "These matrices are too large for a link, and for this browser to keep."

STAGE = "embed_stage"  # a parameter of the board alone: the one stage of it that is shown
WHOLE_PAGE, BOARD, ONE_STAGE = (900, 720, 640)  # px: the heights of frames
QR_URL = "vendor/qr.svg"  # where a code is drawn


def code() -> str:
    """Return the address of the QR code of what is set; "" where it has none."""
    parameters, whole = state.link()
    home, _ = addresses(st.context.url or "")
    link = to_here(parameters)
    why = why_no_code(link, works_here_alone(home), whole)
    return "" if why else f"{home}{QR_URL}?{urlencode({'text': link})}"


def button(stage: str = "") -> None:
    """“Share”, for what is set; with a ``stage`` also the board alone, and that stage of it."""
    parameters, whole = state.link()
    home, _ = addresses(st.context.url or "")
    link = to_here(parameters)
    is_local = works_here_alone(home)
    if whole:
        says = LOCAL if is_local else WHOLE
    elif too_large := state.too_large():
        says = f"{TOO_LARGE} {capital(too_large)}"
    else:
        says = NOWHERE if state.why_not_kept() else PART
    lines = {"The link": link}
    if whole:  # elsewhere a part would show other numbers
        lines["Embed this page"] = _frame("Attention, stage by stage", link, WHOLE_PAGE)
        if stage:
            board = f"{home}{EMBEDDED}?{urlencode(parameters)}"
            one = f"{board}&{urlencode({STAGE: stage})}"
            heading = STAGES[stage].heading
            lines["Embed the board"] = _frame("All stages of attention", board, BOARD)
            lines[f"Embed one stage: {heading}"] = _frame(f"Attention: {heading}", one, ONE_STAGE)
    with st.popover("Share", width="stretch"):
        pieces.note(says)
        copy.show("share", lines)
        if why := why_no_code(link, is_local, whole):
            pieces.note(f"No QR code: {why}")
        else:
            st.image(code(), caption="The link as a QR code", width=240)


def _frame(title: str, link: str, height: int) -> str:
    """The line of HTML that shows a link in another page; screen readers say the title."""
    src = escape(f"{link}&embed=true")
    return f'<iframe title="{escape(title)}" src="{src}" width="100%" height="{height}"></iframe>'


def to_here(parameters: Mapping[str, str]) -> str:
    """Return the link to this page with these parameters; from a frame, to Explore."""
    home, path = addresses(st.context.url or "")
    path = "" if path == EMBEDDED else path
    return f"{home}{path}?{urlencode(parameters)}"


def addresses(page: str) -> tuple[str, str]:
    """Return the address of the first page, and the path of this one below it.

    Streamlit says the address of the first page without a slash at its end.

    >>> addresses("https://example.org/stages/compare"), addresses("https://example.org/stages")
    (('https://example.org/stages/', 'compare'), ('https://example.org/stages/', ''))
    """
    above, _, last = page.rstrip("/").rpartition("/")
    return (
        (f"{above}/", last)
        if last and last in PAGES
        else (f"{page.rstrip('/')}/" if page else "", "")
    )


def works_here_alone(page: str) -> bool:
    """Check whether an address is of this computer, which no other reaches by it.

    >>> works_here_alone("http://localhost:8501/compare"), works_here_alone("https://example.org/")
    (True, False)
    """
    host = urlsplit(page).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def why_no_code(link: str, is_local: bool, whole: bool) -> str:
    """Return why a link has no code for other people's cameras; "" where it has one."""
    if not urlsplit(link).hostname:
        return "the browser has not said at which address this page is."
    if is_local:
        return "this address works on this computer only."
    if not whole:
        return "the link finds these numbers in this browser alone."
    if len(link) > MAX_QR:
        return (
            f"the link has {len(link)} letters; more than {MAX_QR} are too long for a code that a"
            " phone reads from a distance."
        )
    return ""
