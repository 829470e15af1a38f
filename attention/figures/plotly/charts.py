"""What every chart has: a title and a sentence, quiet axes, a legend above.

A figure is Plotly's own JSON as a dict, and ``go.Figure(…)`` opens it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from attention.explain.colours import LIGHT
from attention.figures.plotly.theme import layout
from attention.vocabulary.notation import subscripts
from attention.vocabulary.numbers import number

DIGITS = 4  # of the numbers of a point


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
    frame = figure["layout"]
    heading = {
        "text": subscripts(title),
        "font": {"size": 17},
        "x": 0,
        "xref": "paper",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 14},
    }
    titled = frame | {"title": heading, "margin": frame["margin"] | {"t": 84}}
    return Chart(name, title, sentence, figure | {"layout": titled})


def axis(title: str, **options: Any) -> dict:
    """A titled axis with a quiet grid."""
    return {
        "title": {"text": title, "standoff": 6},
        "gridcolor": LIGHT["grid"],
        "linecolor": LIGHT["grid"],
        "zerolinecolor": LIGHT["grid"],
        "automargin": True,
        "fixedrange": True,
        **options,
    }


def chart_layout(xaxis: dict, yaxis: dict, **options: Any) -> dict:
    """The frame of a chart, its legend above it."""
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}
    margin = {"l": 52, "r": 14, "t": 12, "b": 44}
    frame = {"xaxis": xaxis, "yaxis": yaxis, "legend": legend, "margin": margin, "height": 340}
    return layout(**(frame | options))


def pointed_at(values: Iterable[float]) -> list[str]:
    """Return what a chart says of each of its points when it is pointed at, as ``customdata``."""
    return [number(value, DIGITS) for value in values]
