"""The list of pages, as a menu at the top."""

from copy import copy
from functools import cache
from pathlib import Path

import streamlit as st

from attention.pages.frame import state
from attention.pages.frame.turns import turn

_PAGES = Path(__file__).parents[1]
SIDEBAR = 256  # px wide: five matrices of six tokens stand beside it at 1440
# By their paths: file, name, and the section it stands in; the first is the one without a path.
# Streamlit puts pages without a section first; style.css has Learn stand before Compare.
PAGES = {
    "": ("explore.py", "Explore", ""),
    "compare": ("compare.py", "Compare", ""),
    "learn": ("learn.py", "Guided tour", "Learn"),
    "why": ("variance.py", "Why √dₖ", "Learn"),
    "exercises": ("exercises.py", "Exercises", "Learn"),
    "model": ("real_model.py", "Real model", "Models"),
    "long": ("long_context.py", "Long context", "Models"),
    "check": ("check.py", "Check yours", "Check"),
    "conventions": ("conventions.py", "Conventions", "Check"),
    "board": ("embedded.py", "The board", "Check"),
}
EMBEDDED = "board"  # for frames in other pages: no menu names it


def show() -> None:
    """Offer the pages and run the chosen one."""
    state.asked_for()
    state.let_answer()
    st.set_page_config(
        page_title="Attention, stage by stage", layout="wide", initial_sidebar_state=SIDEBAR
    )
    sections: dict[str, list] = {}
    for path, (_, _, section) in PAGES.items():
        sections.setdefault(section, []).append(page(path))
    chosen = st.navigation(sections, position="top")
    here = list(sections).index(PAGES[chosen.url_path][2])
    if here:  # Streamlit marks the chosen page, but not the section that it stands in
        item = f".rc-overflow-item:nth-child({len(sections['']) + here})"
        st.html(f"<style>{item} > button {{ background: #8883; font-weight: 600; }}</style>")
    with turn():
        chosen.run()


def turn_to(path: str) -> None:
    """End this run and go on with another page, with what is set."""
    st.switch_page(page(path), query_params=state.next_address(path))


def page(path: str) -> st.Page:
    """Return a page of the menu by its path."""
    return copy(_as_made(path))


@cache
def _as_made(path: str) -> st.Page:
    """A page as Streamlit makes it, which looks for its file; a run marks its own."""
    file, name, _ = PAGES[path]
    return st.Page(
        _PAGES / file,
        title=name,
        url_path=path or None,
        default=not path,
        visibility="hidden" if path == EMBEDDED else "visible",
    )
