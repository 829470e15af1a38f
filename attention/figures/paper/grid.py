"""All heads of several layers as one figure: a line for each layer, a column for each head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize

from attention.figures.paper.drawing import (
    DARK_NOTE,
    HIDDEN,
    colour_bar,
    colour_map,
    draw_picture,
    is_dark,
)
from attention.figures.paper.layout import BAR, ticks_of
from attention.figures.paper.panels import OnPanel, scale_of
from attention.figures.paper.picture import OPACITY
from attention.figures.paper.sheet import INK, MARGIN, THIN, PaperFigure, Sheet, settings
from attention.figures.paper.text import clean
from attention.paper import Paper

DRAWN = 64  # rows and columns of a map whose cells are drawn one by one; a larger one is an image
GAP, LEAST = 2.0, 9.0  # points between maps, and the least width of one
LOWEST, HIGHEST = 0.15, 2.0  # the height of a map in its width, of one query and of many
BAR_LEAST, BAR_MOST = 6, 40  # times the size of labels: the length of the colour bar


class Line(NamedTuple):
    """The maps of one layer."""

    label: str
    maps: Mapping[int, np.ma.MaskedArray]  # (rows, columns), by the model's number of the head


class Grid(Sheet):
    """A sheet with a line of maps for each layer; lengths in points."""

    def __init__(
        self,
        lines: Sequence[Line],
        paper: Paper,
        query: str = "",
        picture: np.ndarray | None = None,
    ) -> None:
        self.lines, self.picture = lines, picture
        corner = ("row of", query) if query else (f"{paper.query} ↓", f"{paper.key} →")
        self.corner = [clean(words) for words in corner]
        self.labels = [clean(line.label) for line in lines]
        self.bar_title = clean(paper.bar_title) or "weights"
        letters = [*self.labels, *self.corner, self.bar_title, "head0123456789,.−×"]
        super().__init__(paper, "".join(letters))
        self.heads = sorted({head for line in lines for head in line.maps})
        self.maps = [values for line in lines for values in line.maps.values()]
        largest = max((float(M.max()) for M in self.maps if M.count()), default=0.0)
        share = SimpleNamespace(low=0.0, high=(query and largest) or 1.0, colours="share")
        self.scale = scale_of([SimpleNamespace(values=M, scale=share) for M in self.maps], paper)
        tick, widest = paper.tick_size, self.letters.widest
        named = self.labels + self.corner * (paper.axis_titles and bool(query))
        self.left, self.above = widest(named, tick) + 3 * GAP, 2.4 * tick
        beside = 3 * BAR + widest(ticks_of(self.scale)[1], tick) + 2 * paper.font_size
        across = self.room - self.left - beside * paper.bar
        shapes = [next(iter(line.maps.values())).shape for line in lines]
        self.heights = [min(max(rows / columns, LOWEST), HIGHEST) for rows, columns in shapes]
        high = (self.height - self.above - GAP * len(lines)) / sum(self.heights)
        self.step = min(across / len(self.heads), high)  # from one map to the next
        if self.step < LEAST or min(self.heights) * self.step < tick:
            raise self.too_many(len(self.maps))
        self.under_heads = sum(height * (self.step - GAP) + GAP for height in self.heights)
        self.long = max(min(self.under_heads, BAR_MOST * tick), BAR_LEAST * tick)

    def draw(self, on_panel: OnPanel | None) -> PaperFigure:
        """Draw all maps, and hear of each."""
        tick, wide = self.paper.tick_size, self.step - GAP
        tall = self.above + max(self.under_heads, self.long * self.paper.bar)
        names = f"weights of {len(self.maps)} heads, {len(self.lines)} × {len(self.heads)}"
        figure = self.figure(tall, names)
        axes = figure.add_axes(self.share(MARGIN, self.top, self.room, tall), label="maps")
        middle: dict[str, Any] = {"fontsize": tick, "ha": "center"}
        axes.text(self.left + len(self.heads) * self.step / 2, 0, "head", va="top", **middle)
        columns = {head: self.left + k * self.step for k, head in enumerate(self.heads)}
        if self.paper.axis_titles:
            axes.text(0, 0, "\n".join(self.corner), fontsize=tick, va="top")
        for head, x in columns.items():
            axes.text(x + wide / 2, self.above - GAP, str(head), va="bottom", **middle)
        y, drawn, cells = self.above, 0, ScalarMappable()
        for line, label, height in zip(self.lines, self.labels, self.heights, strict=True):
            high = height * wide
            axes.text(self.left - GAP, y + high / 2, label, fontsize=tick, ha="right", va="center")
            for head, values in line.maps.items():
                cells = self._map(axes, values, columns[head], y, wide, high)
                cells.set_gid(f"{line.label}, head {head}")  # type: ignore[attr-defined]
                drawn += 1
                if on_panel:
                    on_panel(drawn, len(self.maps))
            y += high + GAP
        axes.set(xlim=(0, self.room), ylim=(tall, 0))
        axes.set_axis_off()
        if self.paper.bar:
            x = MARGIN + self.left + len(self.heads) * self.step + BAR
            place = self.share(x, self.top + self.above, BAR, self.long)
            bar = colour_bar(figure, cells, place, self.scale, BAR / self.long)
            bar.set_label(self.bar_title)
        every = [values.compressed() for values in self.maps]
        if is_dark(np.concatenate(every), self.scale):
            figure.notes = (*figure.notes, DARK_NOTE.format("these weights"))
        return figure

    def _map(
        self, axes: Axes, values: np.ma.MaskedArray, x: float, y: float, wide: float, high: float
    ) -> ScalarMappable:
        """One map and its frame; the cells of a larger one are an image."""
        norm = (LogNorm if self.scale.logarithmic else Normalize)(*self.scale[:2], clip=True)
        style: dict[str, Any] = {"cmap": colour_map(self.scale.colours).with_extremes(bad=HIDDEN)}
        axes.plot(
            [x, x + wide, x + wide, x, x],
            [y, y, y + high, y + high, y],
            color=INK,
            linewidth=THIN / 2,
        )
        extent = x, x + wide, y + high, y
        if (image := self.picture) is not None:
            draw_picture(axes, image, extent).set_gid("picture")
            style["alpha"] = OPACITY
        rows, columns = values.shape
        if max(rows, columns) > DRAWN:
            return axes.imshow(values, norm=norm, extent=extent, aspect="auto", **style)
        if self.picture is None:  # lines would be seen twice through each other
            style |= {"edgecolors": "face", "linewidth": min(THIN, wide / columns / 5)}
        edges = np.linspace(x, x + wide, columns + 1), np.linspace(y, y + high, rows + 1)
        return axes.pcolormesh(*edges, values, norm=norm, **style)


def grid_figure(
    lines: Sequence[Line],
    paper: Paper,
    about: str = "",
    on_panel: OnPanel | None = None,
    query: str = "",
    picture: np.ndarray | None = None,
) -> PaperFigure:
    """Draw these lines one below the other, the maps of one head in one column.

    The colours of all mean the same. ``about`` is what the figure's files say of it; ``on_panel``
    hears of each map. ``query`` is that whose rows the maps are, from 0 to their largest weight,
    over the ``picture`` if there is one.
    """
    with settings():
        figure = Grid(lines, paper, query, picture).draw(on_panel)
    figure.about = about
    return figure
