"""One slider that changes every stage, one number of X, and the nine panes drawn in one of three
ways.

The address says how, ``?draw=board&tokens=16``: ``draw`` is ``board`` (one component, and X is
typed into it), ``charts`` (nine st.plotly_chart, and a field for the number) or ``nothing`` (what a
move takes anyway).
"""

from dataclasses import replace

import streamlit as st

from attention.figures.panes import panes as figures
from attention.pages.components import board
from attention.pages.frame import state
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from benchmarks import charts
from benchmarks.states import rolled


def edit(operations: list, goes_on: bool) -> list:
    """What was typed into the first cell of X, or what it was dragged to."""
    for operation in operations:
        if operation.kind == "cell":
            st.session_state["typed"] = float(operation.text)
    return []


st.set_page_config(layout="wide")
with st.container(key="title"):  # a page is shown once it has its first line
    st.html("<h1>Nine stages</h1>")
asked = st.query_params
s = rolled(int(asked.get("tokens", 16)), st.slider("Seed", 0, 1000, key="seed"))
st.session_state.setdefault("visit", state.Visit(s, []))
typed = st.number_input("The first number of X", key="typed")
X = s.matrices["X"].values.copy()
X[0, 0] += typed
s = replace(s, matrices=s.matrices | {"X": Matrix(X)})
found = figures.panes(view(s, run(s)), query=0, only=charts.NINE)
panes = [replace(pane, edit="cells" if pane.name == "X" else "") for pane in found]
tag = f"{st.session_state['seed']} {typed:g}"  # what the browser waits for, in all nine

if asked["draw"] == "board":
    board.show("board", panes, tag=tag, planned=True, query=0, on_edited=edit)
elif asked["draw"] == "charts":
    charts.draw(panes, tag)
else:
    st.html(f"<p id='seed'>{tag}</p>")
