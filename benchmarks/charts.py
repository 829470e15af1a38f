"""Nine stages as nine st.plotly_chart, each as the board fitted it when Plotly still drew it.

As a page, ``benchmarks/server.py -- benchmarks/charts.py``: the dashboard, and these in place of
its board.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from attention.figures.panes.pane import Pane
from attention.figures.plotly.heatmap import to_plotly

NINE = ("X", "Q", "K", "V", "scores", "scaled", "masked", "weights", "output")
FITS = json.loads((Path(__file__).parent / "fits.json").read_text())


def draw(panes: Sequence[Pane], tag: str = "") -> None:
    """The nine in two lines; sizes, ticks and numbers are those for this many tokens."""
    chosen = [pane for pane in panes if pane.name in NINE]
    fits = FITS.get(str(len(chosen[0].rows)), {})
    for row in (chosen[:4], chosen[4:]):
        for place, pane in zip(st.columns(len(row)), row, strict=True):
            figure = to_plotly(pane)
            figure["layout"]["meta"] = tag
            place.plotly_chart(
                fitted(figure, fits[pane.name]) if fits else large(figure),
                key=pane.name,
                theme=None,
                width="content",
                config={"displayModeBar": False},
            )


def fitted(figure: dict, fit: dict) -> dict:
    """The figure as the board fitted it into its place: size, ticks, numbers where legible."""
    layout = figure["layout"] | fit["size"]
    del layout["title"]
    for axis, names in (("xaxis", "x"), ("yaxis", "y")):
        labels = figure["data"][0][names]
        places = [labels[k] for k in fit[axis]["tickvals"] if k < len(labels)]
        layout[axis] = layout[axis] | fit[axis] | {"tickvals": places, "title": None}
    data = [
        t | fit["trace"] | {"showscale": t["showscale"] and fit["showscale"]}
        for t in figure["data"]
    ]
    return {"data": data, "layout": layout}


def large(figure: dict) -> dict:
    """A figure of hundreds of tokens: no numbers in its cells, and a mark of those it holds."""
    size = {"width": 270, "height": 380, "margin": {"l": 60, "r": 40, "t": 60, "b": 4}}
    numbers = b"".join(trace["z"].tobytes() for trace in figure["data"])
    layout = figure["layout"] | size | {"meta": hashlib.blake2b(numbers).hexdigest()}
    data = [{k: v for k, v in t.items() if not k.startswith("text")} for t in figure["data"]]
    return {"data": [t | {"xgap": 0, "ygap": 0} for t in data], "layout": layout}


if __name__ == "__main__":
    from attention.figures.panes import panes as figures
    from attention.pages.components import board
    from attention.pages.frame.navigation import show

    panes = figures.panes
    figures.panes = lambda *given, **look: panes(*given, **look | {"in_colours": False})
    board.show = lambda key, panes, **_: draw(panes)
    show()
