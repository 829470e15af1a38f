"""The map of a long attention: its cells of many queries and keys, on axes of tokens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from attention.explain.colours import FAINTEST, LIGHT
from attention.figures.panes.pane import MOST_TEXTS
from attention.figures.plotly.charts import DIGITS
from attention.figures.plotly.heatmap import escape, formatted
from attention.figures.plotly.theme import layout
from attention.long.attention import LongAttention
from attention.vocabulary.numbers import number

if TYPE_CHECKING:
    import plotly.graph_objects as go

SIDE, BAR = 640, 90  # px: the cells; the bar with its labels


def map_of(attended: LongAttention, item: int, head: int) -> np.ndarray:
    """(rows, columns), the mean map of an item and head, or a sentence where there is none."""
    at = attended.place(item, head)
    if attended.mean_map is None:
        raise ValueError('this record has no mean_map; name it in results=["mean_map", …].')
    values = attended.mean_map[at]
    if not values.size:
        raise ValueError("nothing to draw: the map has no cell.")
    return values


def long_figure(attended: LongAttention, *, item: int, head: int, title: str) -> go.Figure:
    """The mean map in Plotly: colours by the logarithm, cells without a weight grey."""
    import plotly.graph_objects as go

    values = map_of(attended, item, head)
    low, high = _ends(values)
    with np.errstate(all="ignore"):
        shades = np.log10(np.where(values > 0, np.maximum(values, low), np.nan))
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    few = values.size <= MOST_TEXTS
    text = [[number(value, DIGITS) for value in row] for row in values.tolist()] if few else None
    said = "%{text}" if text else formatted("customdata", DIGITS)
    heatmap = go.Heatmap(
        z=shades,
        x=attended.key_edges,
        y=attended.row_edges,
        customdata=values,
        text=text,
        zmin=math.log10(low),
        zmax=math.log10(high),
        colorscale=[[0, "#e8f1fa"], [0.5, "#4a9be0"], [1, "#0b2f57"]],
        colorbar={
            "title": {"text": "share of the cell's keys, mean of its queries", "side": "right"},
            "tickvals": list(powers),
            "ticktext": [f"{10.0**power:g}" for power in powers],
            "thickness": 8,
            "outlinewidth": 0,
        },
        hovertemplate=f"around query %{{y}}, key %{{x}}<br><b>{said}</b><extra></extra>",
    )
    above, height = (100, SIDE + 110) if title else (60, SIDE + 70)
    margin = {"l": 70, "r": 10, "t": above, "b": 10}
    whole = layout(width=SIDE + BAR + 70, height=height, margin=margin)
    whole |= {"paper_bgcolor": LIGHT["paper"], "plot_bgcolor": "#dedede"}
    whole["xaxis"] = {"title": "key", "side": "top", "constrain": "domain", "showgrid": False}
    whole["yaxis"] = {"title": "query", "autorange": "reversed", "showgrid": False}
    if title:
        whole["title"] = {"text": escape(title), "x": 0.5, "y": 1 - 12 / height, "yanchor": "top"}
    return go.Figure(heatmap, whole)


def _ends(values: np.ndarray) -> tuple[float, float]:
    """The lowest and the highest number that has a colour of its own."""
    there: Any = values[np.isfinite(values) & (values > 0)]
    high = float(there.max(initial=0)) or 1.0
    low = max(float(there.min(initial=high)), FAINTEST * high)
    return (low, high) if low < high else (high / 10, high)
