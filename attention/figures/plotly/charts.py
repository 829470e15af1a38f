"""What every chart has: a title and a sentence, titled axes, a legend below.

A figure is Plotly's own JSON as a dict, and ``go.Figure(…)`` opens it. It has the colours of its
lines alone: letters, grid and paper are those of the page's theme.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from attention.vocabulary.notation import subscripts
from attention.vocabulary.numbers import number

DIGITS = 4  # of the numbers of a point
HEIGHT = 372  # px
CORNER = {"x": 0, "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 8}}  # of a title


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart with its words; ``figure`` is Plotly's JSON."""

    name: str
    symbol: str  # over it
    sentence: str
    figure: dict[str, Any]
    group: str = "charts"
    heading: None = None  # in print it has its symbol
    file: str = ""  # the name of its pictures, without the ending; "" is by its name

    @property
    def alt(self) -> str:
        return f"Chart. {self.symbol}. {self.sentence}"

    @property
    def filename(self) -> str:
        return self.file or f"attention_{self.name}"


def chart(name: str, title: str, sentence: str, figure: dict) -> Chart:
    """A chart with its words, its title written into it."""
    titled = figure["layout"] | {"title": {"text": subscripts(title), **CORNER}}
    return Chart(name, title, sentence, figure | {"layout": titled})


def axis(title: str, **options: Any) -> dict:
    """A titled axis."""
    return {"title": {"text": title, "standoff": 6}, **options}


def chart_layout(xaxis: dict, yaxis: dict, **options: Any) -> dict:
    """The frame of a chart, its legend below it."""
    legend = {"orientation": "h", "x": 0, "traceorder": "normal"}
    legend |= {"y": 0, "yref": "container", "yanchor": "bottom"}
    # with room for four lines of a legend; Plotly would draw twice to find how many there are
    margin = {"l": 56, "r": 24, "t": 44, "b": 120, "autoexpand": False}
    frame = {"xaxis": xaxis, "yaxis": yaxis, "legend": legend, "margin": margin, "height": HEIGHT}
    return frame | options


def pointed_at(values: Iterable[float]) -> list[str]:
    """Return what a chart says of each of its points when it is pointed at, as ``customdata``."""
    return [number(value, DIGITS) for value in values]
