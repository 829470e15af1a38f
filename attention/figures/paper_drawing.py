"""Heatmaps to print, and charts as Plotly is told of them: Matplotlib's lines and letters alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import Colormap, LinearSegmentedColormap, LogNorm, Normalize

from attention.figures.paper_layout import BAR, Block, Layout, ticks_of
from attention.figures.paper_panels import Panel, lettered, subscripted
from attention.figures.paper_sheet import INK, MARGIN, THIN, PaperFigure, Sheet, settings
from attention.paper import COLOURS, Paper

WIDE, TALL = 24.0, 13.0  # times the size of the letters: the least room for one chart
GRID, LINE, DOT = "#e3e5ea", 1.2, 3.0  # the lines' width and the markers' size in points
HIDDEN, STROKE = "#dedede", "#8c8c8c"
SMALLEST, FILLED = 5.0, 0.88  # points: numbers that can be read; how much of a cell they fill
DARK = 0.01  # shares below it look alike
SHORTER = np.vectorize(lambda text: "≈0" if "e−" in text else text, otypes=[object])


def draw(panels: list[Panel], paper: Paper) -> PaperFigure:
    """The panels in reading order as one figure."""
    with settings():
        layout = Layout(panels, paper)
        blocks, height = layout.blocks()
        size, small = _number_size(blocks, layout)
        names = ", ".join(dict.fromkeys(panel.name for panel in panels))
        alt = f"{names}; rows: {', '.join(panels[-1].labels[0])}"
        figure = layout.figure(height, alt)
        for block in blocks:
            cells = _panel(figure, block, 0 if block.panel.name in small else size)
            if block.bar:
                _bar(figure, cells, block, layout)
        figure.notes = tuple(dict.fromkeys([*figure.notes, *_notes(blocks, paper, small)]))
    return figure


def _number_size(blocks: list[Block], sheet: Sheet) -> tuple[float, dict[str, float]]:
    """The one size of the numbers in all cells, and the stages whose would be too small.

    The panels of one stage are treated alike. Where there is no room for tiny numbers, they are
    ≈0, as on the screen.
    """
    stages: dict[str, list[Block]] = {}
    for block in blocks if sheet.paper.numbers else ():
        stages.setdefault(block.panel.name, []).append(block)
    sizes = {name: min(_fitting(block, sheet) for block in same) for name, same in stages.items()}
    for name in (name for name in stages if sizes[name] < SMALLEST):
        for panel in (block.panel for block in stages[name]):
            panel.texts = SHORTER(panel.texts) if panel.texts.size else panel.texts
        sizes[name] = min(_fitting(block, sheet) for block in stages[name])
    small = {name: size for name, size in sizes.items() if size < SMALLEST}
    if any(stages[name][0].panel.group.endswith("attention") for name in small):
        small = sizes  # those of the inputs alone would not help
    return min((size for name, size in sizes.items() if name not in small), default=0.0), small


def _fitting(block: Block, sheet: Sheet) -> float:
    """The size at which the numbers of a panel fit into its cells."""
    (rows, columns), texts = block.panel.values.shape, block.panel.texts
    size = min(block.wide / columns / 2, 0.7 * block.tall / rows, sheet.paper.tick_size)
    if size <= SMALLEST / 2 or not texts.size:  # there may be very many
        return size
    return min(size, FILLED * block.wide / columns / sheet.letters.widest(set(texts.ravel()), 1.0))


def _notes(blocks: list[Block], paper: Paper, small: dict[str, float]) -> Iterator[str]:
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

    if broken := names(lambda panel: (panel.values.mask & ~panel.hidden).any()):
        yield f"Numbers of {broken} that are not finite have the grey of hidden cells."
    if paper.logarithmic and (linear := names(lambda panel: not panel.scale.logarithmic)):
        yield f"The colours of {linear} stay linear: a logarithmic range has no numbers below 0."
    if dark := names(lambda panel: panel.name in small and _is_dark(panel)):
        yield f"Most shares of {dark} are below {DARK:g}: a logarithmic range shows them."
    for block in blocks:
        for ticks, where in (block.rows, "beside the rows"), (block.columns, "under the columns"):
            named = len(ticks.labels)
            words = f"{named} of {named + ticks.left_out} words are named {where}"
            if ticks.left_out:
                yield f"{words} of {block.panel.name}: there is no room for all."


def _is_dark(panel: Panel) -> bool:
    """Whether the colours of nearly all shares, from 0 to 1, are alike."""
    below = panel.values.compressed() < DARK
    return panel.scale[:2] == (0, 1) and not panel.scale.logarithmic and below.mean() > 0.95


def colour_map(name: str) -> Colormap:
    """One of :data:`attention.paper.COLOURS`, or Matplotlib's."""
    if name in COLOURS:
        return LinearSegmentedColormap.from_list(name, COLOURS[name])
    return matplotlib.colormaps[name]


def _axes(figure: PaperFigure, x: float, y: float, wide: float, tall: float) -> Axes:
    """Axes in points from the upper left corner."""
    width, height = 72 * figure.get_size_inches()
    return figure.add_axes((x / width, 1 - (y + tall) / height, wide / width, tall / height))


def _panel(figure: PaperFigure, block: Block, letters: float) -> QuadMesh:
    """The cells of a panel, its labels and heading; ``letters``: the size of its numbers."""
    panel, (rows, columns) = block.panel, block.panel.values.shape
    axes = _axes(figure, block.x, block.y, block.wide, block.tall)
    norm = (LogNorm if panel.scale.logarithmic else Normalize)(*panel.scale[:2], clip=True)
    colours = colour_map(panel.scale.colours).with_extremes(bad=HIDDEN)
    edge = min(THIN, block.wide / columns / 5, block.tall / rows / 5)  # or paper shows between
    cells = axes.pcolormesh(
        panel.values, cmap=colours, norm=norm, edgecolors="face", linewidth=edge
    )
    axes.set(xlim=(0, columns), ylim=(rows, 0), label=panel.name)
    if letters:
        inks = _contrasting(np.asarray(cells.to_rgba(panel.values))[..., :3])
        style: dict[str, Any] = {"fontsize": letters, "ha": "center", "va": "center_baseline"}
        for (i, j), text in np.ndenumerate(panel.texts):
            axes.text(j + 0.5, i + 0.5, text, color=inks[i, j], **style)
    else:  # a grey might be taken for a number's
        struck = [((j, i + 1), (j + 1, i)) for i, j in np.argwhere(panel.hidden).tolist()]
        axes.add_collection(LineCollection(struck, linewidths=THIN, colors=STROKE), autolim=False)
    turned = 90 if block.columns.turned else 0
    axes.set_xticks([k + 0.5 for k in block.columns.places], block.columns.labels, rotation=turned)
    axes.set_yticks([k + 0.5 for k in block.rows.places], block.rows.labels)
    axes.set_xlabel(panel.titles[1] if block.columns.labels else "")
    axes.set_ylabel(panel.titles[0] if block.rows.labels else "")
    axes.set_title(panel.heading, loc="left")
    return cells


def _contrasting(rgb: np.ndarray) -> np.ndarray:
    """(…, 3) colours → (…): black or white, whichever has the higher contrast by WCAG 2."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ (0.2126, 0.7152, 0.0722)
    return np.where((luminance + 0.05) ** 2 < 1.05 * 0.05, "#ffffff", INK)


def _bar(figure: PaperFigure, cells: QuadMesh, block: Block, layout: Layout) -> None:
    """A colour bar of lines, since Matplotlib's own becomes an image in PDF and SVG."""
    place = _axes(figure, block.x + block.wide + block.gap, block.y, BAR, block.bar)
    bar = figure.colorbar(
        cells, cax=place, extend=block.panel.scale.extend, extendfrac=BAR / block.bar
    )
    assert bar.solids is not None  # the cells are filled
    bar.solids.set(rasterized=False, edgecolor="face", linewidth=THIN)
    places, labels = ticks_of(block.panel.scale)
    bar.set_ticks(places, labels=labels)
    bar.minorticks_off()
    paper, letters, title = layout.paper, layout.letters, layout.bar_title
    size = max(min(paper.font_size, block.bar / letters.widest([title, "x"], 1.0)), paper.tick_size)
    if letters.width(title, size) > block.bar:
        title = letters.cut(paper.bar_title, size, block.bar)
        figure.notes = (*figure.notes, "The title of the colour bar is cut: it is too long for it.")
    bar.set_label(title, fontsize=size)


# ---- charts --------------------------------------------------------------------------------------


def draw_charts(panes: Sequence[Mapping[str, Any]], paper: Paper) -> PaperFigure:
    """The charts in reading order as one figure."""
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
        figure.set_layout_engine("constrained", rect=inside)
        for k, (pane, heading) in enumerate(zip(panes, headings, strict=True)):
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
    columns = 1 + (2 * half < room - 5 * paper.font_size)
    style: dict[str, Any] = {"title_fontsize": paper.font_size, "fontsize": paper.tick_size}
    style |= {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2, "frameon": False}
    axes.legend(title=heading, ncols=columns, alignment="left", **style)
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
            style = {"color": one["marker"]["color"], "alpha": one.get("opacity")}
            label = subscripted(one["name"])
            axes.bar(x, one["y"], one.get("width", side), label=label, **style)
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
