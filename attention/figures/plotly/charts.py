"""What every chart has: a title and a sentence, titled axes, a legend below.

A figure is Plotly's own JSON as a dict, and ``go.Figure(…)`` opens it. It has the colours of its
lines alone: letters, grid and paper are those of the page's theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from attention.vocabulary.notation import subscripts
from attention.vocabulary.numbers import number

DIGITS = 4  # of the numbers of a point
HEIGHT, PANEL = 296, 110  # px: a chart; what another panel adds to it
LINE = 19  # px: of a legend
GAP, OVER = 0.1, 18  # between two panels, of the height; px: the heading of one
CORNER = {"x": 0, "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 8}}  # of a title


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart with its words; ``figure`` is Plotly's JSON."""

    name: str
    symbol: str  # over it
    sentence: str  # several, a line each, of panels
    figure: dict[str, Any]
    group: str = "charts"
    heading: None = None  # in print it has its symbol
    file: str = ""  # the name of its pictures, without the ending; "" is by its name

    @property
    def alt(self) -> str:
        return " ".join(["Chart.", f"{self.symbol}.", *self.sentence.splitlines()])

    @property
    def filename(self) -> str:
        return self.file or f"attention_{self.name}"


def chart(name: str, title: str, sentence: str, figure: dict) -> Chart:
    """A chart with its words, its title written into it."""
    titled = figure["layout"] | {"title": {"text": subscripts(title), **CORNER}}
    return Chart(name, title, sentence, figure | {"layout": titled})


def stacked(name: str, title: str, charts: Sequence[Chart]) -> Chart:
    """Charts over one axis as a figure of panels, the first one at the top.

    They have the same axis at the bottom, the same upright on it and lines that are called alike up
    to a colon, so one of each is drawn. Pointing at a place says what all panels have there. Plotly
    draws three panels in half the time of three figures.
    """
    tall = (1 - GAP * (len(charts) - 1)) / len(charts)
    data, first = list[dict[str, Any]](), charts[0].figure["layout"]
    layout = first | {
        "hoversubplots": "axis",
        "height": first["height"] + OVER + PANEL * (len(charts) - 1),
    }
    layout["margin"] = first["margin"] | {"t": first["margin"]["t"] + OVER}
    layout |= {"annotations": [], "title": {"text": subscripts(title), **CORNER}}
    for k, chart in enumerate(charts):
        y = f"y{k + 1}"
        top = 1 - k * (tall + GAP)
        data += [
            line | {"name": name, "legendgroup": name, "yaxis": y, "showlegend": k == 0}
            for line in chart.figure["data"]
            for name in [line["name"].split(":")[0]]
        ]
        panel = {"domain": [max(top - tall, 0), top]}
        layout[f"yaxis{k + 1}"] = chart.figure["layout"]["yaxis"] | panel
        layout["annotations"].append(_over(chart.symbol, top))
    layout["xaxis"] = layout["xaxis"] | {"anchor": f"y{len(charts)}"}
    layout.pop("yaxis")
    sentence = "\n".join(f"{chart.symbol}. {chart.sentence}" for chart in charts)
    return Chart(name, title, sentence, {"data": data, "layout": layout})


def _over(text: str, top: float) -> dict[str, Any]:
    """The heading of a panel."""
    place = {"x": 0, "y": top, "xref": "paper", "yref": "paper"}
    place |= {"xanchor": "left", "yanchor": "bottom", "showarrow": False}
    return place | {"text": f"<b>{subscripts(text)}</b>"}


def axis(title: str, **options: Any) -> dict:
    """A titled axis."""
    return {"title": {"text": title, "standoff": 10}, **options}


def chart_layout(xaxis: dict, yaxis: dict, lines: int = 2, **options: Any) -> dict:
    """The frame of a chart, below it its legend, of so many ``lines`` on a phone."""
    legend = {"orientation": "h", "x": 0, "traceorder": "normal"}
    legend |= {"y": 0, "yref": "container", "yanchor": "bottom"}
    # Plotly would draw twice to find out how much room its legend takes
    room = LINE * lines if options.get("showlegend", True) else 0
    margin = {"l": 56, "r": 24, "t": 44, "b": 44 + room, "autoexpand": False}
    frame = {"xaxis": xaxis, "yaxis": yaxis, "legend": legend, "margin": margin}
    return frame | {"height": HEIGHT + room} | options


def pointed_at(values: Iterable[float]) -> list[str]:
    """Return what a chart says of each of its points when it is pointed at, as ``customdata``."""
    return [number(value, DIGITS) for value in values]
