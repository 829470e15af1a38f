"""What Streamlit runs anew for every visitor and every move, once ``attention-stages`` serves it.

It has a folder of its own because Streamlit looks for modules in this file's folder first: from
``attention/`` itself, ``numbers`` and ``statistics`` would hide Python's own.
"""

if __name__ == "__main__":
    from attention.pages.navigation import show

    show()
