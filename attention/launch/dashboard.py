"""The dashboard that ``attention-stages`` serves: Streamlit runs this file again for every change.

It has a folder of its own because Streamlit looks for modules in this file's folder first: from
``attention/`` itself, ``numbers`` and ``statistics`` would hide Python's own.
"""

if __name__ == "__main__":
    from attention.pages.frame.navigation import show

    show()
elif __name__ == "dashboard":  # the server imports it once, by this name, for what it adds
    import streamlit as st

    from attention.pages.server import lifespan, middleware, routes

    app = st.App(__file__, routes=routes, middleware=middleware, lifespan=lifespan)
