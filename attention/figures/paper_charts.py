"""The charts of lines and bars as a figure to print: Matplotlib's, of what Plotly shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine

from attention.figures.paper_panels import lettered, subscripted
from attention.figures.paper_sheet import INK, MARGIN, THIN, PaperFigure, Sheet, settings
from attention.paper import Paper

WIDE, TALL = 24.0, 13.0  # times the size of the letters: the least room for one chart
GRID, LINE, DOT = "#e3e5ea", 1.2, 3.0  # the lines' width and the markers' size in points
MARKS = {"diamond-open": {"marker": "D", "fillstyle": "none"}}


def draw_charts(
    panes: Sequence[Mapping[str, Any]],
    paper: Paper,
    tell: Callable[[float], object] = lambda share: None,
) -> PaperFigure:
    """The charts in reading order as one figure; ``tell`` hears which share of them is drawn."""
    headings = lettered([subscripted(pane["symbol"]) for pane in panes], paper)
    with settings():
        sheet, least = Sheet(paper, "".join(headings)), TALL * paper.font_size
        across = min(len(panes), max(int(sheet.width // (WIDE * paper.font_size)), 1))
        lines = math.ceil(len(panes) / across)
        tall = min(max(0.75 * sheet.width / across, least), sheet.height / lines)
        if tall < least:
            raise sheet.too_many(len(panes))
        with sheet.figure(lines * tall) as figure:
            height, edge = 72 * figure.get_size_inches()[1], MARGIN / sheet.width
            inside = edge, sheet.under / height, 1 - 2 * edge, lines * tall / height
            figure.set_layout_engine(ConstrainedLayoutEngine(rect=inside))
            places = figure.subplots(lines, across, squeeze=False).ravel()
            for k, (axes, pane) in enumerate(zip(places, panes, strict=False)):
                tell(k / len(panes))
                traces = pane["figure"]["data"]
                names = [subscripted(trace["name"]) for trace in traces]
                half = sheet.letters.widest(names, paper.tick_size) + 4 * paper.tick_size
                fits = 2 * half < sheet.width / across - 5 * paper.font_size
                _chart(axes, traces, pane["figure"]["layout"], paper, 1 + fits)
                axes.set_label(pane["name"])
                axes.get_legend().set_title(headings[k], {"size": paper.font_size})
            for axes in places[len(panes) :]:
                axes.remove()
            for _ in range(2):  # ticks may change as axes find their size
                figure.draw_without_rendering()
            figure.set_layout_engine("none")
    return figure


def _chart(
    axes: Axes, traces: list[dict], frame: Mapping[str, Any], paper: Paper, columns: int
) -> None:
    """One chart, its heading and, in so many columns, its names over it."""
    axes.set_axisbelow(True)
    axes.grid(color=GRID, linewidth=THIN)
    axes.spines[["top", "right"]].set_visible(False)
    bars = [trace for trace in traces if trace["type"] == "bar"]
    side = 0.375 * (len(bars) > 1 and frame.get("barmode") != "overlay")  # width beside another
    for trace in traces:
        name = subscripted(trace["name"])
        if trace["type"] == "bar":
            x = np.asarray(trace["x"]) + side * (bars.index(trace) - 0.5)
            colour, wide = trace["marker"]["color"], trace.get("width", side)
            axes.bar(x, trace["y"], wide, color=colour, alpha=trace.get("opacity"), label=name)
        else:
            _line(axes, trace, name, frame["yaxis"].get("categoryarray"))
    for shape in frame.get("shapes", ()):
        axes.axvline(shape["x0"], color=INK, linewidth=THIN, linestyle=":", zorder=0)
    for name in "xy":
        _axis(axes, name, frame[f"{name}axis"], paper)
    axes.minorticks_off()
    axes.tick_params(labelsize=paper.tick_size)  # of ticks that are made later too
    corner: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    axes.legend(ncols=columns, alignment="left", frameon=False, fontsize=paper.tick_size, **corner)


def _line(axes: Axes, trace: dict, name: str, categories: Sequence[str] | None) -> None:
    """A line, dashed or with markers; or markers alone, one for each category."""
    line, mark, mode = trace.get("line", {}), trace.get("marker", {}), trace["mode"]
    y = [categories.index(one) for one in trace["y"]] if categories else trace["y"]
    dots = MARKS.get(mark.get("symbol", ""), {"marker": "o"}) if "markers" in mode else {}
    style: dict[str, Any] = dict(dots)
    style |= {"color": line.get("color", mark.get("color")), "label": name, "linewidth": LINE}
    style |= {"markersize": DOT if "lines" in mode else 2 * DOT, "capsize": 1.5}
    style["linestyle"] = "--" if "dash" in line else "-" if "lines" in mode else "none"
    axes.errorbar(trace["x"], y, trace.get("error_y", {}).get("array"), **style)


def _axis(axes: Axes, name: str, one: Mapping[str, Any], paper: Paper) -> None:
    """An axis as Plotly is told of it."""
    axis, is_log = getattr(axes, f"{name}axis"), one.get("type") == "log"
    if is_log:
        axes.set(**{f"{name}scale": "log"})
    if "range" in one:
        axes.set(**{f"{name}lim": [10.0**end if is_log else end for end in one["range"]]})
    elif one.get("rangemode") == "tozero":
        axes.set(**{f"{name}lim": (0, None)})
    if names := one.get("categoryarray"):
        axis.set_ticks(range(len(names)), names)
        axes.set(**{f"{name}lim": (-0.6, len(names) - 0.4)})
    elif "tickvals" in one:
        low, high = getattr(axes, f"get_{name}lim")()
        ticks = [tick for tick in one["tickvals"] if low <= tick <= high]
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_label_text(subscripted(one["title"]["text"]) if paper.axis_titles else "")
