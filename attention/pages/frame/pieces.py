"""Small pieces that pages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

import streamlit as st

from attention.limits import MAX_LINK
from attention.pages.frame import navigation, state
from attention.session.state.settings import Settings
from attention.vocabulary.markdown import plain as plain
from attention.vocabulary.notation import in_html
from attention.vocabulary.sentences import capital

ONE_LINE = 150  # characters that stand in one line of a laptop
_COUNTED = re.compile(r"\b(head|layer|item|step) (?=\d)", re.IGNORECASE)  # no line ends within
_ENDS = re.compile(r"(?<=[.?!]) (?=[A-Z“])")  # of sentences


class _Ready(str):
    """HTML that Streamlit sends as it is: of other texts it looks at each line for white space at
    its beginning, which for the style takes a third of a millisecond.
    """

    def _repr_html_(self) -> str:
        return str(self)


def opening(
    title: str, promise: str = "", links: Mapping[str, str] | None = None
) -> AbstractContextManager:
    """Draw the title line of a page, and with it the style of all that follows; return its row.

    ``title`` and ``promise`` are HTML, and ``links`` are those of :func:`links_to`. Where a press
    or a link has asked for another page, this run ends and that page is drawn.
    """
    title = _COUNTED.sub("\\1\u00a0", title)
    if (path := state.page_value(state.GO, None)) is not None:
        state.set_page_value(state.GO, None)
        navigation.turn_to(path)
    said = f"<p>{promise}</p>" if promise else ""
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium", key="title")
    with row:
        html = _Ready(f"{dress()}<h1>{title}</h1>{said}")
        st.html(html, width="stretch", unsafe_allow_javascript=True)
        links_to(links or {})
    if links:  # style.css shows them here on a phone, and there elsewhere
        with st.sidebar, st.container(key="menu_links", gap="xxsmall"):
            links_to(links)
    return row


def links_to(links: Mapping[str, str]) -> None:
    """Draw links by their labels, to the path of a page or to a control of this one, in CSS."""
    for label, to in links.items():
        if to in navigation.PAGES:
            st.page_link(navigation.page(to), label=label, width="content")
        else:  # menu.js puts the focus there
            st.html(f"<button type='button' data-focus='{to}'>{label}</button>", width="content")


def sentences(refused: list[str], understood: list[str]) -> None:
    """Say what became of the last change, where it needs saying.

    The container is there in any case: without it, a sentence that comes or goes would move what
    follows, and Streamlit would close its expanders.
    """
    with st.container(gap="xxsmall"):
        for text in refused:
            message_box("refused", text)
        if (settings := state.too_long()) is not None:
            go_on(settings, "continue")
        for text in understood:
            folded("understood", text)


def go_on(settings: Settings, key: str) -> None:
    """Draw the button below a refusal of too many tokens, which shows them on Long context."""
    state.button(
        "Continue on Long context",
        key,
        state.carry,
        (settings,),
    )


def folded(kind: str, text: str) -> None:
    """A text in a box: where it is long its first sentence, behind which the others unfold."""
    first, *others = _ENDS.split(text, maxsplit=1)
    if len(text) <= ONE_LINE or not others:
        message_box(kind, text)
        return
    st.html(
        f"<div role='status'><details class='said {kind}'><summary>{in_html(first)}"
        f" <u>More</u></summary>{in_html(others[0])}</details></div>"
    )


def message_box(kind: str, sentence: str) -> None:
    """One sentence in a box.

    Not st.warning: that reads Markdown, and would make links of what strangers typed.
    """
    st.html(f"<p role='status' class='said {kind}'>{in_html(sentence)}</p>")


def lines_box(kind: str, lines: Sequence[str], more: Sequence[str]) -> None:
    """Lines in a box, the first of them in bold, and sentences that unfold below them."""
    first, *others = map(in_html, lines)
    said = "".join([f"<b>{first}</b>", *(f"<br> {line}" for line in others)])
    folded_in = "".join(f"<p>{in_html(sentence)}</p>" for sentence in more)
    if folded_in:
        folded_in = f"<details><summary>Details</summary>{folded_in}</details>"
    st.html(f"<div role='status' class='said {kind}'>{said}{folded_in}</div>")


def note(*sentences: str) -> None:
    """Quiet lines in our own HTML, one for each."""
    st.html("".join(f"<p class='notice'>{in_html(sentence)}</p>" for sentence in sentences))


def not_here(what: str, again: str) -> None:
    """Say that what was uploaded is lost, as after a reload, and what to do."""
    message_box("flag", f"{what} neither in the address nor in this session: {again}.")


TOO_LARGE = (
    f"These matrices do not fit into a link of {MAX_LINK:,} characters,"
    " so the address holds only a mark of them"
)
KEPT = (
    ", by which this browser finds them again; no other browser does. “Export” on Explore"
    " saves the state as a file that opens anywhere under “Your data”, and lets this browser"
    " forget what it keeps."
)


def address() -> None:
    """Put the settings into the address, and say where they do not fit."""
    whole, why = state.write_address()
    if not whole and (too_large := state.too_large()):
        message_box(
            "flag",
            f"{TOO_LARGE}, and this browser keeps nothing: after a reload they are gone."
            f" {capital(too_large)}",
        )
    elif not whole and why:
        message_box(
            "flag",
            f"{TOO_LARGE}, and this browser keeps nothing ({why}): after a reload they are gone."
            " “Export” on Explore saves the state as a file that opens again under"
            " “Your data”.",
        )
    elif not whole:
        message_box("flag", TOO_LARGE + KEPT)


def dock(name: str, panels: Mapping[str, Callable[[], None]]) -> str | None:
    """Draw the tabs below the board, and the panel of the one that is open; return which it is.

    They are closed to one line until one is opened.
    """
    with st.bottom, st.container(key="dock"):
        panel = state.page_control(
            st.segmented_control,
            "Below the board",
            name,
            None,
            options=list(panels),
            label_visibility="collapsed",
        )
        if panel:
            with (
                st.container(key="dock_content"),
                st.container(key=f"dock_{panel.lower().replace(' ', '_')}"),
            ):
                panels[panel]()
    return panel


@cache
def dress() -> str:
    """The style of every page, and what closes the menu on a phone."""
    here = Path(__file__).parent
    style, script = ((here / name).read_text() for name in ("style.css", "menu.js"))
    return f"<style>{style}</style><script>{script}</script>"
