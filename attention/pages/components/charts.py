"""Charts by Plotly, each with its sentence below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from attention.figures.plotly.charts import Chart
from attention.pages.frame import pieces

BUTTONS = 24  # px: the column of Plotly's buttons
SHARP = 3  # pixels of a picture for each of the screen


def show(charts: Sequence[Chart], across: int = 1) -> None:
    """Draw charts, so many beside each other.

    One whose figure is the same as before is not drawn again.
    """
    for k in range(0, len(charts), across):
        row = charts[k : k + across]
        for column, chart in zip(st.columns(across, gap="medium"), row, strict=False):
            with column:
                plotly(chart.figure, chart.name, chart.filename, chart.alt)
                pieces.note(*chart.sentence.splitlines())


def plotly(
    figure: dict[str, Any],
    key: str,
    filename: str,
    alt: str,
    height: int | Literal["content"] = "content",
) -> None:
    """Draw a figure as wide as there is room, in the theme of the page; its picture is a file.

    Its buttons zoom, as a finger that is dragged over it scrolls the page; they stand at its right,
    so that they cover no title.
    """
    layout = figure["layout"] | {"dragmode": False, "modebar": {"orientation": "v"}}
    margin = layout["margin"] | {"r": layout["margin"]["r"] + BUTTONS}
    figure = figure | {"layout": layout | {"margin": margin}}
    config = {"toImageButtonOptions": {"filename": filename, "scale": SHARP}}
    st.plotly_chart(
        figure, key=f"plotly_{key}", width="stretch", height=height, alt=alt, config=config
    )
