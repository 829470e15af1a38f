"""Heatmaps to print, and charts as Plotly is told of them: Matplotlib's lines and letters alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Colormap, LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.image import AxesImage

from attention.figures.paper.layout import BAR, Layout, PanelBox, ticks_of
from attention.figures.paper.panels import OnPanel, Panel, Scale, headings_of
from attention.figures.paper.sheet import INK, MARGIN, THIN, PaperFigure, Place, Sheet, settings
from attention.figures.paper.text import subscripted
from attention.figures.plotly.charts import Chart
from attention.paper import COLOURS, Paper

WIDE, TALL = 24.0, 13.0  # times the size of the letters: the least room for one chart
GRID, LINE = "#e3e5ea", 1.2  # the width of lines in points
MODES: dict[str, dict[str, Any]] = {  # Plotly's names for lines, and for what they are made of
    "lines": {"linestyle": "--"},
    "lines+markers": {"marker": "o", "markersize": 3},
    "markers": {"linestyle": "none", "marker": "o", "markersize": 6},
    "diamond-open": {"linestyle": "none", "marker": "D", "markersize": 6, "fillstyle": "none"},
}
HIDDEN, STROKE = "#dedede", "#8c8c8c"
SMALLEST, FILLED = 5.0, 0.88  # points: numbers that can be read; how much of a cell they fill
DARK = 0.01  # shares below it look alike
DARK_NOTE = f"Most shares of {{}} are below {DARK:g}: a logarithmic range shows them."


def draw(panels: list[Panel], paper: Paper, on_panel: OnPanel | None = None) -> PaperFigure:
    """The panels in reading order as one figure; ``on_panel(number, of)`` after each."""
    with settings():
        layout = Layout(panels, paper)
        blocks, height = layout.blocks()
        sizes = _number_sizes(blocks, layout) if paper.numbers else {}
        small = {name: size for name, size in sizes.items() if size < SMALLEST}
        if any(block.panel.name in small and block.panel.is_attention for block in blocks):
            small = sizes  # those of the inputs alone would not help
        size = min((sizes[name] for name in sizes.keys() - small), default=0.0)  # of all numbers
        names = ", ".join(dict.fromkeys(panel.name for panel in panels))
        figure = layout.figure(height, f"{names}; rows: {', '.join(panels[-1].labels[0])}")
        for number, block in enumerate(blocks, 1):
            place = block.x, block.y, block.wide, block.tall
            axes = figure.add_axes(layout.share(*place), label=block.panel.label)
            cells = _cells(axes, block, 0 if block.panel.name in small else size)
            if block.bar:
                _bar(figure, cells, block, layout)
            if on_panel:
                on_panel(number, len(blocks))
        figure.notes = tuple(dict.fromkeys([*figure.notes, *_notes(blocks, paper, small)]))
    return figure


def _number_sizes(blocks: list[PanelBox], sheet: Sheet) -> dict[str, float]:
    """Return the size at which the numbers of a stage fit into its cells, one for all its panels.

    Where there is no room for tiny numbers in e-notation, they are rounded, as on the screen.
    """
    sizes: dict[str, float] = {}
    for name in dict.fromkeys(block.panel.name for block in blocks):
        same = [block for block in blocks if block.panel.name == name]
        if (size := min(_fitting(block, sheet) for block in same)) < SMALLEST:
            for block in same:
                block.panel.shorten()
            size = min(_fitting(block, sheet) for block in same)
        sizes[name] = size
    return sizes


def _fitting(block: PanelBox, sheet: Sheet) -> float:
    """The size at which the numbers of a panel fit into its cells."""
    (wide, tall), texts = block.cell, block.panel.texts
    size = min(wide / 2, 0.7 * tall, sheet.paper.tick_size)
    if size <= SMALLEST / 2 or not texts.size:  # there may be very many
        return size
    return min(size, FILLED * wide / sheet.letters.widest(set(texts.ravel()), 1.0))


def _notes(blocks: list[PanelBox], paper: Paper, small: dict[str, float]) -> Iterator[str]:
    """What could not be shown: of numbers, labels, colours, and words without room."""
    if small:
        size = math.floor(10 * min(small.values())) / 10
        yield (
            f"The numbers in the cells of {', '.join(small)} are left out: they would be {size} pt"
            f" high, below the {SMALLEST:g} pt that can be read."
        )
    if paper.tick_size < SMALLEST:
        yield f"Labels of {paper.tick_size:g} pt are below the {SMALLEST:g} pt that can be read."

    def names(of: Callable[[Panel], Any]) -> str:
        return ", ".join(dict.fromkeys(b.panel.name for b in blocks if of(b.panel)))

    if rounded := names(lambda panel: panel.is_rounded and panel.name not in small):
        yield (
            f"Tiny numbers of {rounded} are rounded to the decimals of the others, or ≈0: there is"
            " no room for more."
        )
    if broken := names(lambda panel: (panel.values.mask & ~panel.hidden).any()):
        yield f"Numbers of {broken} that are not finite have the grey of hidden cells."
    if paper.logarithmic and (linear := names(lambda panel: not panel.scale.logarithmic)):
        yield f"The colours of {linear} stay linear: a logarithmic range has no numbers below 0."
    if dark := names(
        lambda panel: panel.name in small and is_dark(panel.values.compressed(), panel.scale)
    ):
        yield DARK_NOTE.format(dark)
    for block in blocks:
        for ticks, where in (block.rows, "beside the rows"), (block.columns, "under the columns"):
            named = len(ticks.labels)
            words = f"{named} of {named + ticks.left_out} words are named {where}"
            if ticks.left_out:
                yield f"{words} of {block.panel.name}: there is no room for all."


def is_dark(shares: np.ndarray, scale: Scale) -> bool:
    """Whether the colours of nearly all shares, from 0 to 1, are alike."""
    return scale[:2] == (0, 1) and not scale.logarithmic and bool((shares < DARK).mean() > 0.95)


def colour_map(name: str) -> Colormap:
    """One of :data:`attention.paper.COLOURS`, or Matplotlib's."""
    if name in COLOURS:
        return LinearSegmentedColormap.from_list(name, COLOURS[name])
    return matplotlib.colormaps[name]


def draw_picture(
    axes: Axes, image: np.ndarray, extent: tuple[float, float, float, float]
) -> AxesImage:
    """Draw a picture of uint8 or of floats from 0 to 1, in grey if it has no colours."""
    white = 255 if image.dtype == np.uint8 else 1
    return axes.imshow(image, extent=extent, aspect="auto", cmap="gray", vmin=0, vmax=white)


def _cells(axes: Axes, block: PanelBox, letters: float) -> QuadMesh:
    """The cells of a panel, its labels and heading; ``letters``: the size of its numbers."""
    panel, (rows, columns) = block.panel, block.panel.values.shape
    norm = (LogNorm if panel.scale.logarithmic else Normalize)(*panel.scale[:2], clip=True)
    style: dict[str, Any] = {"cmap": colour_map(panel.scale.colours).with_extremes(bad=HIDDEN)}
    style |= {"edgecolors": "face", "linewidth": min(THIN, *(side / 5 for side in block.cell))}
    cells = axes.pcolormesh(panel.values, norm=norm, **style)
    axes.set(xlim=(0, columns), ylim=(rows, 0), title=panel.heading)
    if letters:
        inks = _contrasting(np.asarray(cells.to_rgba(panel.values))[..., :3])
        style = {"fontsize": letters, "ha": "center", "va": "center_baseline"}
        for (i, j), text in np.ndenumerate(panel.texts):
            axes.text(j + 0.5, i + 0.5, text, color=inks[i, j], **style)
    else:  # a grey might be taken for a number's
        struck = [((j, i + 1), (j + 1, i)) for i, j in np.argwhere(panel.hidden).tolist()]
        axes.add_collection(LineCollection(struck, linewidths=THIN, colors=STROKE), autolim=False)
    for axis, ticks, title in zip("yx", (block.rows, block.columns), panel.titles, strict=True):
        places = [k + 0.5 for k in ticks.places]
        axes.set(**{f"{axis}ticks": places, f"{axis}ticklabels": ticks.labels})
        axes.set(**{f"{axis}label": title if ticks.labels else ""})
    axes.tick_params("x", rotation=90 if block.columns.turned else 0)
    return cells


def _contrasting(rgb: np.ndarray) -> np.ndarray:
    """(…, 3) colours → (…): black or white, whichever has the higher contrast by WCAG 2."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ (0.2126, 0.7152, 0.0722)
    return np.where((luminance + 0.05) ** 2 < 1.05 * 0.05, "#ffffff", INK)


def _bar(figure: PaperFigure, cells: QuadMesh, block: PanelBox, layout: Layout) -> None:
    """The colour bar of a panel, with its title."""
    place = layout.share(block.x + block.wide + block.gap, block.y, BAR, block.bar)
    bar = colour_bar(figure, cells, place, block.panel.scale, BAR / block.bar)
    paper, letters, title = layout.paper, layout.letters, layout.bar_title
    size = max(min(paper.font_size, block.bar / letters.widest([title, "x"], 1.0)), paper.tick_size)
    if letters.width(title, size) > block.bar:
        title = letters.cut(paper.bar_title, size, block.bar)
        figure.notes = (*figure.notes, "The title of the colour bar is cut: it is too long for it.")
    bar.set_label(title, fontsize=size)


def colour_bar(
    figure: PaperFigure, cells: ScalarMappable, place: Place, scale: Scale, ends: float
) -> Colorbar:
    """A colour bar of lines, since Matplotlib's own becomes an image in PDF and SVG.

    ``ends``: how long each of its ends is, as a share of its length, if numbers go beyond it.
    """
    bar = figure.colorbar(cells, figure.add_axes(place), extend=scale.extend, extendfrac=ends)
    assert bar.solids is not None  # the cells are filled
    bar.solids.set(rasterized=False, edgecolor="face", linewidth=THIN)
    places, labels = ticks_of(scale)
    bar.set_ticks(places, labels=labels)
    bar.minorticks_off()
    return bar


# ---- charts --------------------------------------------------------------------------------------


def draw_charts(panes: Sequence[Chart], paper: Paper) -> PaperFigure:
    """The charts in reading order as one figure."""
    headings = headings_of(panes, paper)
    with settings():
        sheet, least = Sheet(paper, "".join(headings)), TALL * paper.font_size
        across = min(len(panes), max(int(sheet.width // (WIDE * paper.font_size)), 1))
        lines, wide = math.ceil(len(panes) / across), sheet.width / across
        tall = min(max(0.75 * wide, least), sheet.height / lines)
        if tall < least:
            raise sheet.too_many(len(panes))
        figure = sheet.figure(lines * tall, "; ".join(pane.alt for pane in panes))
        inside = sheet.share(MARGIN, sheet.top, sheet.room, lines * tall)
        figure.set_layout_engine("constrained", rect=inside)
        for k, (pane, heading) in enumerate(zip(panes, headings, strict=True)):
            axes = figure.add_subplot(lines, across, k + 1, label=pane.name)
            _chart(axes, **pane.figure)
            names = axes.get_legend_handles_labels()[1]
            half = sheet.letters.widest(names, paper.tick_size) + 4 * paper.tick_size
            columns = 1 + (2 * half < wide - 5 * paper.font_size)
            axes.legend(title=heading, ncols=columns, alignment="left", bbox_to_anchor=(0, 1))
            axes.tick_params(labelsize=paper.tick_size)  # of ticks that are made later too
            if not paper.axis_titles:
                axes.set(xlabel="", ylabel="")
        for _ in range(2):  # ticks may change as axes find their size
            figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def _chart(axes: Axes, data: Sequence[Mapping], layout: Mapping[str, Any]) -> None:
    """The lines and bars of one chart, and its axes."""
    axes.set_axisbelow(True)
    axes.grid(color=GRID, linewidth=THIN)
    axes.spines[["top", "right"]].set_visible(False)
    bars = [one for one in data if one["type"] == "bar"]
    is_beside = len(bars) > 1 and layout.get("barmode") != "overlay"
    side = 0.375 if is_beside else 0.0  # the width of a bar beside another
    for one in data:
        name, mark = subscripted(one["name"]), one.get("marker") or one["line"]
        style: dict[str, Any] = {"label": name, "color": mark["color"]}
        if one["type"] == "bar":
            x = np.asarray(one["x"]) + side * (bars.index(one) - 0.5)
            axes.bar(x, one["y"], one.get("width", side), alpha=one.get("opacity"), **style)
        else:
            names = layout["yaxis"].get("categoryarray")
            y = [names.index(name) for name in one["y"]] if names else one["y"]
            style |= MODES[mark.get("symbol", one["mode"])] | {"linewidth": LINE, "capsize": 1.5}
            axes.errorbar(one["x"], y, one.get("error_y", {}).get("array"), **style)
    for shape in layout.get("shapes", ()):
        axes.axvline(shape["x0"], color=INK, linewidth=THIN, linestyle=":", zorder=0)
    for name in "xy":
        found = _axis(layout[f"{name}axis"])
        axes.set(**{f"{name}{key}": value for key, value in found.items()})
    axes.minorticks_off()


def _axis(one: Mapping[str, Any]) -> dict[str, Any]:
    """An axis as Plotly is told of it: its title, scale, ticks and ends, for Matplotlib."""
    is_log = one.get("type") == "log"
    found: dict[str, Any] = {"label": subscripted(one["title"]["text"])}
    if is_log:
        found["scale"] = "log"
    if names := one.get("categoryarray"):
        found |= {"ticks": range(len(names)), "ticklabels": names, "lim": (-0.6, len(names) - 0.4)}
    elif ticks := one.get("tickvals"):
        found |= {"ticks": ticks, "ticklabels": [f"{tick:g}" for tick in ticks]}
    if ends := one.get("range"):
        found["lim"] = [10.0**end if is_log else end for end in ends]
    elif one.get("rangemode") == "tozero":
        found["lim"] = (0, None)
    return found
