"""The list of pages, as a menu at the top."""

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent
SIDEBAR = 256  # px wide: five matrices of six tokens stand beside it at 1440
PAGES = {  # by their paths; the first is the one without
    "": ("explore.py", "Explore"),
    "learn": ("learn.py", "Learn"),
    "exercises": ("exercises.py", "Exercises"),
    "why": ("variance.py", "Why √d_k"),
    "compare": ("compare.py", "Compare"),
    "conventions": ("conventions.py", "Conventions"),
    "check": ("check.py", "Check yours"),
}


def show() -> None:
    """Offer the pages and run the chosen one."""
    st.set_page_config(
        page_title="Attention, stage by stage", layout="wide", initial_sidebar_state=SIDEBAR
    )
    pages = [
        st.Page(_HERE / file, title=title, url_path=path or None, default=not path)
        for path, (file, title) in PAGES.items()
    ]
    st.navigation(pages, position="top").run()
