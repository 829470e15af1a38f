"""Paper figures drawn by Matplotlib: lines and letters alone, with settings of their own.

Never through pyplot, whose figures are shared. Matplotlib's settings belong to the whole process:
they are changed only while a figure is made or saved, by one thread at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure

from attention.figures.paper import CM, COLOURS, Paper
from attention.figures.paper_fonts import SANS, Measure, families_for
from attention.figures.paper_layout import BAR, BAR_GAP, LINE, MARGIN, PAD, TICK, Bar, Setter, Slot
from attention.figures.paper_panels import Panel, panels_of
from attention.numbers import rounded
from attention.stages import STAGES
from attention.view import View

INK, HIDDEN, STROKE, BROKEN = "#000000", "#dedede", "#8c8c8c", "#e7c6e8"
THIN = 0.5  # points: frames and ticks
OVERLAP = 0.3  # points: a cell reaches below the next ones, so that no seam shows between them
SMALLEST = 5.0  # points: numbers that can be read
_RC: dict[str, Any] = {
    "pdf.fonttype": 42,  # TrueType, which journals ask for
    "svg.fonttype": "none",  # text that names its fonts
    "svg.hashsalt": "attention",  # the same names in each file
    "font.sans-serif": list(SANS),
    "mathtext.default": "regular",
    "axes.linewidth": THIN,
    "axes.formatter.use_mathtext": True,
    "savefig.transparent": False,
}
_ONE_AT_A_TIME = RLock()


@contextmanager
def settings(**more: Any) -> Iterator[None]:
    """Matplotlib's own settings and ours, for one thread at a time."""
    with _ONE_AT_A_TIME, matplotlib.style.context(["default", _RC | more]):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # said in `notes`
            yield


class PaperFigure(Figure):
    """A Matplotlib figure that is saved with the settings it was made with."""

    notes: tuple[str, ...] = ()  # what could not be shown, in sentences

    def savefig(self, fname: Any, *, outlines: bool = False, **options: Any) -> None:
        """Write the figure; PDF with TrueType fonts, SVG with text or, as ``outlines``, without.

        Everything else is as in :meth:`matplotlib.figure.Figure.savefig`.
        """
        with settings(**{"svg.fonttype": "path" if outlines else "none"}):
            super().savefig(fname, **options)


def draw(views: Sequence[View], stages: Collection[str] | None, paper: Paper) -> PaperFigure:
    """The stages of these heads, in reading order, as one figure."""
    with settings():
        return _draw(panels_of(views, stages, paper), paper)


def _draw(panels: list[Panel], paper: Paper) -> PaperFigure:
    families, missing = families_for(_texts(panels, paper))
    measure = Measure(families)
    layout = Setter(panels, paper, measure).layout()
    size = CM * paper.size[0], layout.height
    figure = PaperFigure((size[0] / 72, size[1] / 72), dpi=150)
    with matplotlib.rc_context({"font.family": [*families, "sans-serif"]}):
        canvas = _Canvas(figure, paper, size)
        letters, small = _number_sizes(layout.slots, paper, measure)
        for slot in layout.slots:
            cells = canvas.panel(slot, letters if slot not in small else 0)
            if slot.bar:
                canvas.bar(cells, slot.bar, slot.x + slot.wide + BAR_GAP, slot.y)
        if layout.bar:
            canvas.bar(cells, *layout.bar)
        canvas.words(layout.title, MARGIN, LINE * paper.font)
        foot = size[1] - MARGIN - LINE * paper.font * len(layout.caption)
        canvas.words(layout.caption, foot, paper.font)
    figure.notes = tuple(_notes(small, len(layout.slots), missing))
    return figure


def _texts(panels: list[Panel], paper: Paper) -> Iterator[str]:
    """All words of a figure, for their letters."""
    yield from ("0123456789−∞.eNa√()", paper.title, paper.caption, paper.bar_title or "")
    yield from (paper.query, paper.key)
    for panel in panels:
        yield panel.heading
        yield from panel.view.rows(panel.name) + panel.view.columns(panel.name)


def _number_sizes(
    slots: list[Slot], paper: Paper, measure: Measure
) -> tuple[float, dict[Slot, float]]:
    """The one size of the numbers in all cells, and the panels where they would be too small."""
    fitting = {}
    for slot in slots if paper.numbers else ():
        rows, columns = slot.panel.matrix.shape
        across, up = slot.wide / columns, slot.tall / rows
        if min(across, up) < SMALLEST:
            fitting[slot] = min(across, up)
            continue
        texts = {text for row in rounded(slot.panel.matrix, paper.digits) for text in row}
        widest = max(measure.width(text, 1.0) for text in texts)
        fitting[slot] = min(0.86 * across / widest, 0.7 * up, paper.tick)
    small = {slot: size for slot, size in fitting.items() if size < SMALLEST}
    return min((size for size in fitting.values() if size >= SMALLEST), default=0.0), small


def _notes(small: dict[Slot, float], count: int, missing: str) -> Iterator[str]:
    if small:
        names = dict.fromkeys(slot.panel.name for slot in small)
        where = f" of {', '.join(names)}" if len(small) < count or len(names) == 1 else ""
        yield (
            f"The numbers in the cells{where} are left out: they would be"
            f" {min(small.values()):.1f} pt high, below the {SMALLEST:g} pt that can be read."
        )
    if missing:
        listed = " ".join(f"{letter} (U+{ord(letter):04X})" for letter in missing[:12])
        more = f" and {len(missing) - 12} more" if len(missing) > 12 else ""
        yield f"No font of this machine has {listed}{more}; boxes stand for them."


def colour_map(name: str) -> Colormap:
    """One of :data:`attention.figures.paper.COLOURS`."""
    if COLOURS[name]:
        return LinearSegmentedColormap.from_list(name, COLOURS[name])
    return matplotlib.colormaps[name]


class _Canvas:
    """Puts panels, bars and words on a figure; lengths in points from the upper left corner."""

    def __init__(self, figure: Figure, paper: Paper, size: tuple[float, float]) -> None:
        self.figure, self.paper, (self.width, self.height) = figure, paper, size

    def axes(self, x: float, y: float, wide: float, tall: float) -> Axes:
        up = self.height - y - tall
        box = x / self.width, up / self.height, wide / self.width, tall / self.height
        return self.figure.add_axes(box)

    def words(self, lines: list[str], y: float, size: float) -> None:
        """Lines of text from the left margin."""
        for k, line in enumerate(lines):
            place = MARGIN / self.width, 1 - (y + (k + 0.8) * LINE * size) / self.height
            self.figure.text(*place, line, fontsize=size, color=INK, parse_math=False)

    def panel(self, slot: Slot, letters: float) -> PolyCollection:
        """The cells of a panel, its labels and heading; ``letters``: the size of its numbers."""
        panel, (rows, columns) = slot.panel, slot.panel.matrix.shape
        axes = self.axes(slot.x, slot.y, slot.wide, slot.tall)
        axes.set(xlim=(0, columns), ylim=(rows, 0), label=panel.name)
        cells = _cells(slot)
        axes.add_collection(cells, autolim=False)
        struck = np.argwhere(panel.hidden)
        lines = [((j, i + 1), (j + 1, i)) for i, j in struck.tolist()]
        axes.add_collection(LineCollection(lines, linewidths=THIN, colors=STROKE), autolim=False)
        if letters:
            self._numbers(axes, panel, cells, letters)
        self._labels(axes, slot)
        if panel.heading:
            axes.set_title(panel.heading, loc="left", fontsize=self.paper.font, pad=2 * PAD)
        return cells

    def _numbers(self, axes: Axes, panel: Panel, cells: PolyCollection, size: float) -> None:
        colours = cells.to_rgba(cells.get_array())[:, :3]
        linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
        light = (linear @ (0.2126, 0.7152, 0.0722) > 0.18).reshape(panel.matrix.shape)
        light |= ~panel.shown
        style: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": size}
        for i, row in enumerate(rounded(panel.matrix, self.paper.digits)):
            for j, text in enumerate(row):
                ink = INK if light[i, j] else "#ffffff"
                axes.text(j + 0.5, i + 0.5, text, color=ink, parse_math=False, **style)

    def _labels(self, axes: Axes, slot: Slot) -> None:
        tick = self.paper.tick
        axes.tick_params(length=TICK, width=THIN, pad=PAD, labelsize=tick, colors=INK)
        style: dict[str, Any] = {"parse_math": False, "fontsize": tick}
        turned: dict[str, Any] = {"rotation": 90} if slot.columns.turned else {}
        places = [k + 0.5 for k in slot.columns.places]
        axes.set_xticks(places, slot.columns.labels, **style, **turned)
        axes.set_yticks([k + 0.5 for k in slot.rows.places], slot.rows.labels, **style)
        size = {"fontsize": self.paper.font, "labelpad": PAD}
        if slot.columns.title:
            axes.set_xlabel(slot.columns.title, **size)
        if slot.rows.title:
            axes.set_ylabel(slot.rows.title, **size)

    def bar(self, cells: PolyCollection, bar: Bar, x: float, y: float) -> None:
        """A colour bar of lines, since Matplotlib's own becomes an image in PDF and SVG."""
        axes = self.axes(x, y, BAR, bar.tall)
        extend = ("neither", "min", "max", "both")[bar.beyond[0] + 2 * bar.beyond[1]]
        drawn = self.figure.colorbar(cells, cax=axes, extend=extend, extendfrac=0.06)
        drawn.solids.set(rasterized=False, edgecolor="face", linewidth=OVERLAP)
        drawn.outline.set_linewidth(THIN)
        drawn.set_ticks(bar.places, labels=bar.labels)
        drawn.minorticks_off()
        axes.tick_params(length=TICK, width=THIN, pad=PAD, labelsize=self.paper.tick)
        if bar.title:
            drawn.set_label(bar.title, fontsize=self.paper.font, labelpad=PAD)


def _cells(slot: Slot) -> PolyCollection:
    """A rectangle for each cell, row by row, which holds the number of the trace."""
    panel, (rows, columns) = slot.panel, slot.panel.matrix.shape
    i, j = (axis.ravel() for axis in np.mgrid[:rows, :columns])
    right = np.minimum(j + 1 + OVERLAP * columns / slot.wide, columns)
    low = np.minimum(i + 1 + OVERLAP * rows / slot.tall, rows)
    corners = np.stack([np.stack(p, -1) for p in ((j, i), (right, i), (right, low), (j, low))], 1)
    scale = panel.scale
    norm = (LogNorm if scale.logarithmic else Normalize)(scale.low, scale.high, clip=True)
    map_ = colour_map(scale.colours).with_extremes(bad=BROKEN)
    cells = PolyCollection(corners, linewidths=0, cmap=map_, norm=norm)
    cells.set_array(np.ma.array(panel.matrix.ravel(), mask=~panel.shown.ravel()))
    return cells
