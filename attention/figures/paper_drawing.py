"""Heatmaps to print, drawn by Matplotlib: lines and letters alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import Colormap, LinearSegmentedColormap, LogNorm, Normalize

from attention.figures.paper_layout import BAR, Bar, Block, Layout
from attention.figures.paper_panels import Panel
from attention.figures.paper_sheet import INK, THIN, PaperFigure, Sheet, settings
from attention.paper import COLOURS, Paper

HIDDEN, STROKE = "#dedede", "#8c8c8c"
SMALLEST, FILLED = 5.0, 0.88  # points: numbers that can be read; how much of a cell they fill
OURS = "0123456789−∞.eNa…(abcdefghijklmnopqrstuvwxyz)"  # letters of numbers and headings
Tell = Callable[[float], object]


def draw(panels: list[Panel], paper: Paper, tell: Tell = lambda share: None) -> PaperFigure:
    """The panels in reading order as one figure; ``tell`` hears which share of them is drawn."""
    words = {OURS, paper.query, paper.key}
    for panel in panels:
        words |= {panel.heading, *panel.labels[0], *panel.labels[1]}
    with settings():
        sheet = Sheet(paper, "".join(words))
        layout = Layout(panels, sheet)
        blocks, height = layout.blocks()
        size, small = _number_size(blocks, sheet)
        with sheet.figure(height) as figure:
            for done, block in enumerate(blocks):
                tell(done / len(blocks))
                cells = _panel(figure, block, 0 if block.panel.name in small else size)
                if block.bar:
                    place = block.x + block.wide + BAR, block.y, BAR, layout.bar_tall(block.tall)
                    _bar(figure, cells, block.bar, place, sheet)
            if layout.shared:
                x, y = max(block.x + block.after for block in blocks) - paper.font_size, blocks[0].y
                bottom = max(block.y + block.tall for block in blocks)
                _bar(figure, cells, layout.shared, (x + BAR, y, BAR, bottom - y), sheet)
            figure.notes = (
                *dict.fromkeys(figure.notes),
                *_notes(panels, paper, small),
                *_thinned(blocks),
            )
    return figure


def _number_size(blocks: list[Block], sheet: Sheet) -> tuple[float, dict[str, float]]:
    """The one size of the numbers in all cells, and the stages whose would be too small.

    The panels of one stage are treated alike.
    """
    fitting: dict[str, float] = {}
    for block in blocks if sheet.paper.numbers else ():
        name, (rows, columns) = block.panel.name, block.panel.values.shape
        size = min(block.wide / columns / 2, 0.7 * block.tall / rows, sheet.paper.tick_size)
        if size > SMALLEST / 2 and block.panel.texts.size:  # else there may be very many
            widest = sheet.letters.widest(set(block.panel.texts.ravel()), 1.0)
            size = min(size, FILLED * block.wide / columns / widest)
        fitting[name] = min(size, fitting.get(name, size))
    small = {name: size for name, size in fitting.items() if size < SMALLEST}
    if any(
        block.panel.name in small for block in blocks if block.panel.group.endswith("attention")
    ):
        small = fitting  # those of the inputs alone would not help
    return min((size for name, size in fitting.items() if name not in small), default=0.0), small


def _notes(panels: list[Panel], paper: Paper, small: dict[str, float]) -> Iterator[str]:
    """What could not be shown, in sentences."""

    def names(of: Callable[[Panel], Any]) -> str:
        return ", ".join(dict.fromkeys(panel.name for panel in panels if of(panel)))

    if small:
        size = math.floor(10 * min(small.values())) / 10
        yield (
            f"The numbers in the cells of {', '.join(small)} are left out: they would be {size} pt"
            f" high, below the {SMALLEST:g} pt that can be read."
        )
    if paper.tick_size < SMALLEST:
        yield (f"Labels of {paper.tick_size:g} pt are below the {SMALLEST:g} pt that can be read.")
    if broken := names(lambda panel: (panel.values.mask & ~panel.hidden).any()):
        yield f"Numbers of {broken} that are not finite have the grey of hidden cells."
    if paper.logarithmic and (linear := names(lambda panel: not panel.scale.logarithmic)):
        yield f"The colours of {linear} stay linear: a logarithmic range has no numbers below 0."


def _thinned(blocks: list[Block]) -> Iterator[str]:
    """Where there was no room for all words; numbers that count need not all be there."""
    said = {}
    for block in blocks:
        sides = zip(
            ("beside the rows", "under the columns"),
            (block.rows, block.columns),
            block.panel.labels,
            strict=True,
        )
        for where, ticks, words in sides:
            counts = words == tuple(map(str, range(1, len(words) + 1)))
            if not counts and 0 < len(ticks.labels) < len(words):
                said[where, block.panel.name] = (
                    f"{len(ticks.labels)} of {len(words)} words are named {where} of"
                    f" {block.panel.name}: there is no room for all."
                )
    yield from said.values()


def colour_map(name: str) -> Colormap:
    """One of :data:`attention.paper.COLOURS`."""
    if COLOURS[name]:
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
        for (i, j), text in np.ndenumerate(panel.texts):
            style: dict[str, Any] = {"ha": "center", "va": "center_baseline", "color": inks[i, j]}
            axes.text(j + 0.5, i + 0.5, text, fontsize=letters, **style)
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


def _bar(
    figure: PaperFigure,
    cells: QuadMesh,
    bar: Bar,
    place: tuple[float, float, float, float],
    sheet: Sheet,
) -> None:
    """A colour bar of lines, since Matplotlib's own becomes an image in PDF and SVG."""
    extend = ("neither", "min", "max", "both")[bar.beyond[0] + 2 * bar.beyond[1]]
    drawn = figure.colorbar(
        cells, cax=_axes(figure, *place), extend=extend, extendfrac=BAR / place[3]
    )
    assert drawn.solids is not None  # the cells are filled
    drawn.solids.set(rasterized=False, edgecolor="face", linewidth=THIN)
    drawn.outline.set_linewidth(THIN)
    drawn.set_ticks(bar.places, labels=bar.labels)
    drawn.minorticks_off()
    paper, title, wide = sheet.paper, bar.title, sheet.letters.widest([bar.title], 1.0)
    size = min(paper.font_size, max(place[3] / max(wide, 0.1), paper.tick_size))
    if wide * size > place[3]:
        title = sheet.letters.cut(paper.bar_title, size, place[3])
        figure.notes = (*figure.notes, "The title of the colour bar is cut: it is too long for it.")
    drawn.set_label(title, fontsize=size)
