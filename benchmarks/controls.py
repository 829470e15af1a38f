"""Explore's controls and an address, and nothing drawn: what a move there costs anyway."""

import streamlit as st

from attention.pages.frame import pieces, state
from attention.pages.panels import controls, words

BELOW = ("Lines", "Spread", "Initialise", "Your data", "Export", "Code")

s = state.begin()
with st.sidebar:
    pieces.opening("Controls alone")
controls.rail(s, "")
words.row(s)
pieces.address()
pieces.dock("below", {name: lambda: None for name in BELOW})
state.end()
