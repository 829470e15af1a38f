"""The list of pages, as a menu at the top."""

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent
SIDEBAR = 256  # px wide: five matrices of six tokens stand beside it at 1440
PATHS = ("", "why", "conventions", "check")


def show() -> None:
    """Offer the pages and run the chosen one."""
    st.set_page_config(
        page_title="Attention, stage by stage", layout="wide", initial_sidebar_state=SIDEBAR
    )
    pages = [
        st.Page(_HERE / "explore.py", title="Explore", default=True),
        st.Page(_HERE / "variance.py", title="Why √d_k", url_path=PATHS[1]),
        st.Page(_HERE / "conventions.py", title="Conventions", url_path=PATHS[2]),
        st.Page(_HERE / "check.py", title="Check yours", url_path=PATHS[3]),
    ]
    st.navigation(pages, position="top").run()
