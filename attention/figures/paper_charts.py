"""The charts of lines and bars as a figure to print: Matplotlib's, of what Plotly shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine

from attention.figures.paper_panels import Tell, lettered, subscripted
from attention.figures.paper_sheet import INK, MARGIN, THIN, PaperFigure, Sheet, settings
from attention.paper import Paper

WIDE, TALL = 24.0, 13.0  # times the size of the letters: the least room for one chart
GRID, LINE, DOT = "#e3e5ea", 1.2, 3.0  # the lines' width and the markers' size in points


def draw_charts(
    panes: Sequence[Mapping[str, Any]], paper: Paper, tell: Tell = lambda share: None
) -> PaperFigure:
    """The charts in reading order as one figure; ``tell`` hears which share of them is drawn."""
    headings = lettered([pane["symbol"] for pane in panes], paper)
    with settings():
        sheet, least = Sheet(paper, "".join(headings)), TALL * paper.font_size
        across = min(len(panes), max(int(sheet.width // (WIDE * paper.font_size)), 1))
        lines = math.ceil(len(panes) / across)
        tall = min(max(0.75 * sheet.width / across, least), sheet.height / lines)
        if tall < least:
            raise sheet.too_many(len(panes))
        figure = sheet.figure(lines * tall, "; ".join(pane["alt"] for pane in panes))
        height, edge = 72 * figure.get_size_inches()[1], MARGIN / sheet.width
        inside = edge, sheet.under / height, 1 - 2 * edge, lines * tall / height
        figure.set_layout_engine(ConstrainedLayoutEngine(rect=inside))
        for k, (pane, heading) in enumerate(zip(panes, headings, strict=True)):
            tell(k / len(panes))
            axes = figure.add_subplot(lines, across, k + 1, label=pane["name"])
            _chart(axes, **pane["figure"])
            _words(axes, heading, pane["figure"]["layout"], sheet, sheet.width / across)
        for _ in range(2):  # ticks may change as axes find their size
            figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def _words(axes: Axes, heading: str, layout: Mapping, sheet: Sheet, room: float) -> None:
    """The heading, below it the names in two columns where there is room, and the axes' titles."""
    paper, names = sheet.paper, axes.get_legend_handles_labels()[1]
    half = sheet.letters.widest(names, paper.tick_size) + 4 * paper.tick_size
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    style = place | {"title_fontsize": paper.font_size, "fontsize": paper.tick_size}
    columns = 1 + (2 * half < room - 5 * paper.font_size)
    axes.legend(title=heading, ncols=columns, alignment="left", frameon=False, **style)
    axes.tick_params(labelsize=paper.tick_size)  # of ticks that are made later too
    for name in "xy" if paper.axis_titles else "":
        axes.set(**{f"{name}label": subscripted(layout[f"{name}axis"]["title"]["text"])})


def _chart(axes: Axes, data: Sequence[Mapping], layout: Mapping[str, Any]) -> None:
    """The lines and bars of one chart, and its axes."""
    axes.set_axisbelow(True)
    axes.grid(color=GRID, linewidth=THIN)
    axes.spines[["top", "right"]].set_visible(False)
    bars = [one for one in data if one["type"] == "bar"]
    side = 0.375 * (len(bars) > 1 and layout.get("barmode") != "overlay")  # width beside another
    for one in data:
        if one["type"] == "bar":
            x = np.asarray(one["x"]) + side * (bars.index(one) - 0.5)
            colour, wide = one["marker"]["color"], one.get("width", side)
            bar = axes.bar(x, one["y"], wide, color=colour, alpha=one.get("opacity"))
            bar.set_label(subscripted(one["name"]))
        else:
            _line(axes, one, layout["yaxis"].get("categoryarray"))
    for shape in layout.get("shapes", ()):
        axes.axvline(shape["x0"], color=INK, linewidth=THIN, linestyle=":", zorder=0)
    for name in "xy":
        _axis(axes, name, layout[f"{name}axis"])
    axes.minorticks_off()


def _line(axes: Axes, one: Mapping[str, Any], categories: Sequence[str] | None) -> None:
    """A line, dashed or with markers; or markers alone, one for each category."""
    line, mark, mode = one.get("line", {}), one.get("marker", {}), one["mode"]
    y = [categories.index(name) for name in one["y"]] if categories else one["y"]
    style: dict[str, Any] = {"marker": "o"} if "markers" in mode else {}
    if mark.get("symbol") == "diamond-open":
        style = {"marker": "D", "fillstyle": "none"}
    style |= {"color": line.get("color", mark.get("color")), "label": subscripted(one["name"])}
    style |= {"markersize": DOT if "lines" in mode else 2 * DOT, "linewidth": LINE, "capsize": 1.5}
    style["linestyle"] = "--" if "dash" in line else "-" if "lines" in mode else "none"
    axes.errorbar(one["x"], y, one.get("error_y", {}).get("array"), **style)


def _axis(axes: Axes, name: str, one: Mapping[str, Any]) -> None:
    """An axis as Plotly is told of it: its scale, its ends, its ticks."""
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
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in one["tickvals"] if low <= tick <= high]
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
