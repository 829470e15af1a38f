"""Explore's controls and an address, and nothing drawn: what a move there costs anyway."""

import streamlit as st

from attention.pages import controls, parts, state, words

BELOW = ("Lines", "Spread", "Initialise", "Your data", "Export", "Code")

s = state.begin()
with st.sidebar:
    parts.opening("Controls alone")
controls.rail(s, "")
words.row(s)
parts.address()
parts.dock("below", {name: lambda: None for name in BELOW})
state.end()
