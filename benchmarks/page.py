"""One slider that changes every stage, and the nine panes drawn one way or another.

The address says how, ``?draw=board&tokens=16``: ``draw`` is ``board`` (one component), ``charts``
(nine st.plotly_chart) or ``nothing`` (what a move takes anyway).
"""

import json

import streamlit as st

from attention.figures import panes as figures
from attention.pages import board
from attention.session.run import run, view
from benchmarks.states import rolled

NINE = ("X", "Q", "K", "V", "scores", "scaled", "masked", "weights", "output")


def fitted(figure: dict, fit: dict) -> dict:
    """The figure as the board fits it into its place: size, ticks, numbers where legible."""
    layout = (
        figure["layout"]
        | fit["size"]
        | {axis: figure["layout"][axis] | fit[axis] for axis in ("xaxis", "yaxis")}
    )
    del layout["title"]
    data = [
        t | fit["trace"] | {"showscale": t["showscale"] and fit["showscale"]}
        for t in figure["data"]
    ]
    return {"data": data, "layout": layout}


st.set_page_config(layout="wide")
asked = st.query_params
seed = st.slider("Seed", 0, 1000, key="seed")
s = rolled(int(asked.get("tokens", 16)), seed)
now = view(s, run(s))
panes = [pane for pane in figures.panes(now, query=0) if pane["name"] in NINE]
for pane in panes:
    pane["figure"]["layout"]["meta"] = seed  # what the browser waits for, in all nine

if asked["draw"] == "board":
    board.show("board", panes, tag=str(seed))
elif asked["draw"] == "charts":
    fits = json.loads(asked["fits"])
    for row in (panes[:4], panes[4:]):
        for place, pane in zip(st.columns(len(row)), row, strict=True):
            figure = fitted(pane["figure"], fits[pane["name"]])
            place.plotly_chart(
                figure,
                key=pane["name"],
                theme=None,
                width="content",
                config={"displayModeBar": False},
            )
else:
    st.html(f"<p id='seed'>{seed}</p>")
