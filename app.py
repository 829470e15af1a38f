"""The list of pages, and the server that shows them: ``streamlit run app.py``."""

import streamlit as st

if __name__ == "__main__":  # Streamlit runs this file anew for every visitor and every move
    st.set_page_config(page_title="Attention, stage by stage", layout="wide")
    pages = [
        st.Page("attention/pages/explore.py", title="Explore", default=True),
        st.Page("attention/pages/variance.py", title="Why √d_k", url_path="why"),
        st.Page("attention/pages/conventions.py", title="Conventions", url_path="conventions"),
        st.Page("attention/pages/check.py", title="Check yours", url_path="check"),
    ]
    st.navigation(pages, position="top").run()
else:  # the server imports it once
    from attention.pages.server import lifespan, routes

    app = st.App(__file__, routes=routes, lifespan=lifespan)
