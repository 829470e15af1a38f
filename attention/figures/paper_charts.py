"""The charts of lines and bars as a figure to print: Matplotlib's, of what Plotly shows.

Each has the numbers, names and colours of its pane; the layout is Matplotlib's constrained one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine

from attention.figures.paper_drawing import INK, THIN, Canvas, PaperFigure, missing_note, settings
from attention.figures.paper_fonts import Measure, families_for
from attention.figures.paper_layout import MARGIN, PAD, TICK, Around, too_many
from attention.figures.paper_panels import lettered, with_subscripts
from attention.limits import BadInput
from attention.paper import CM, Paper

LEAST_WIDE, LEAST_TALL = 24.0, 13.0  # times the size of the letters: room for one chart
GRID, LINE, DOT = "#e3e5ea", 1.2, 3.0  # the lines' width and the markers' size in points
MARKS = {"diamond-open": {"marker": "D", "fillstyle": "none"}}


def draw_charts(
    panes: Sequence[Mapping[str, Any]],
    paper: Paper,
    tell: Callable[[float], object] | None = None,
) -> PaperFigure:
    """The charts in reading order as one figure; ``tell`` hears which share of them is drawn."""
    headings = lettered([with_subscripts(pane["symbol"]) for pane in panes], paper)
    width, most = (CM * cm for cm in paper.size)
    with settings():
        families, missing = families_for(paper.title + paper.caption + "".join(headings))
        measure = Measure(families)
        across = min(len(panes), max(int(width // (LEAST_WIDE * paper.font)), 1))
        around, lines = Around.of(paper, measure), math.ceil(len(panes) / across)
        room = most - around.top - around.under
        least = LEAST_TALL * paper.font
        tall = min(max(0.75 * width / across, least), room / lines)
        if tall < least:
            raise BadInput(too_many(len(panes), paper))
        size = width, lines * tall + around.top + around.under
        edge, low, high = MARGIN / size[0], around.under / size[1], 1 - around.top / size[1]
        inside = ConstrainedLayoutEngine(rect=(edge, low, 1 - 2 * edge, high - low))
        with matplotlib.rc_context({"font.family": [*families, "sans-serif"]}):
            figure = PaperFigure((size[0] / 72, size[1] / 72), dpi=150, layout=inside)
            places = figure.subplots(lines, across, squeeze=False).ravel()
            for k, pane in enumerate(panes):
                if tell:
                    tell(k / len(panes))
                named = measure.widest(map(_named, pane["figure"]["data"]), paper.tick)
                fits = 2 * (named + 4 * paper.tick) < width / across - 5 * paper.font
                _chart(places[k], pane, headings[k], paper, 1 + fits)
            for axes in places[len(panes) :]:
                axes.remove()
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            Canvas(figure, paper, size).around(around)
    figure.notes = tuple(missing_note(missing))
    return figure


def _chart(axes: Axes, pane: Mapping[str, Any], heading: str, paper: Paper, columns: int) -> None:
    """One chart, its names over it in so many columns."""
    frame, traces = pane["figure"]["layout"], pane["figure"]["data"]
    axes.set(label=pane["name"])
    axes.set_axisbelow(True)
    axes.grid(color=GRID, linewidth=THIN)
    axes.spines[["top", "right"]].set_visible(False)
    bars = sum(trace["type"] == "bar" for trace in traces)
    shared = 1 if frame.get("barmode") == "overlay" else bars
    for k, trace in enumerate(traces):
        if trace["type"] == "bar":
            _bars(axes, trace, (k - (shared - 1) / 2) * (shared > 1), shared)
        else:
            _line(axes, trace, frame["yaxis"].get("categoryarray"))
    for shape in frame.get("shapes", ()):
        axes.axvline(shape["x0"], color=INK, linewidth=THIN, linestyle=":", zorder=0)
    for name, one in (("x", frame["xaxis"]), ("y", frame["yaxis"])):
        _axis(axes, name, one, paper)
    axes.tick_params(which="both", length=TICK, width=THIN, pad=PAD, labelsize=paper.tick)
    axes.minorticks_off()
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        frameon=False,
        fontsize=paper.tick,
        borderaxespad=0.2,
        handlelength=1.6,
        columnspacing=1.2,
    )
    above = math.ceil(len(traces) / columns) * 1.45 * paper.tick + 2 * PAD
    axes.set_title(heading, loc="left", fontsize=paper.font, pad=above)


def _bars(axes: Axes, trace: Mapping[str, Any], place: float, shared: int) -> None:
    """Bars as wide as they say, or side by side where ``shared`` series have a place together."""
    wide = trace.get("width", 0.75 / shared)
    colour, opacity = trace["marker"]["color"], trace.get("opacity", 1)
    x = np.asarray(trace["x"], float) + place * 0.75 / max(shared, 1)
    axes.bar(x, trace["y"], wide, color=colour, alpha=opacity, label=_named(trace))


def _line(axes: Axes, trace: Mapping[str, Any], categories: Sequence[str] | None) -> None:
    """A line, dashed or with markers; or markers alone, one for each category."""
    line, mark, mode = trace.get("line", {}), trace.get("marker", {}), trace["mode"]
    y = [categories.index(name) for name in trace["y"]] if categories else trace["y"]
    dots = MARKS.get(mark.get("symbol", ""), {"marker": "o"}) if "markers" in mode else {}
    style: dict[str, Any] = {"color": line.get("color", mark.get("color")), "label": _named(trace)}
    style |= {"markersize": DOT if "lines" in mode else 2 * DOT, "linewidth": LINE, **dots}
    dash = "--" if "dash" in line else "-" if "lines" in mode else "none"
    if "error_y" in trace:
        margins = trace["error_y"]["array"]
        axes.errorbar(trace["x"], y, margins, linestyle=dash, capsize=1.5, **style)
    else:
        axes.plot(trace["x"], y, linestyle=dash, **style)


def _axis(axes: Axes, name: str, one: Mapping[str, Any], paper: Paper) -> None:
    axis = getattr(axes, f"{name}axis")
    is_log = one.get("type") == "log"
    if is_log:
        axes.set(**{f"{name}scale": "log"})
    if "range" in one:
        axes.set(**{f"{name}lim": [10.0**end if is_log else end for end in one["range"]]})
    elif one.get("rangemode") == "tozero":
        axes.set(**{f"{name}lim": (0, None)})
    if "categoryarray" in one:
        axis.set_ticks(range(len(one["categoryarray"])), one["categoryarray"])
        axes.set(**{f"{name}lim": (-0.6, len(one["categoryarray"]) - 0.4)})
    elif "tickvals" in one:
        low, high = getattr(axes, f"get_{name}lim")()
        ticks = [tick for tick in one["tickvals"] if low <= tick <= high]
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    if paper.axis_titles:
        axis.set_label_text(_printed(one["title"]["text"]), fontsize=paper.font)


def _named(trace: Mapping[str, Any]) -> str:
    return _printed(trace["name"])


def _printed(text: str) -> str:
    return re.sub(r"<sub>(\w+)</sub>", r"$_{\\mathregular{\1}}$", text)
