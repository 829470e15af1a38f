"""The dashboard in a clone of the repository: ``streamlit run app.py``."""

import streamlit as st

if __name__ == "__main__":  # Streamlit runs this file anew for every visitor and every move
    from attention.pages.frame.navigation import show

    show()
else:  # the server imports it once, and finds the next line by reading it
    from attention.pages.server import lifespan, middleware, routes

    app = st.App(__file__, routes=routes, middleware=middleware, lifespan=lifespan)
