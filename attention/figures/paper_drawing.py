"""Paper figures drawn by Matplotlib: lines and letters alone, with settings of their own.

Never through pyplot, whose figures are shared. Matplotlib's settings belong to the whole process:
they are changed only while a figure is made or saved, by one thread at a time.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from threading import RLock
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure

from attention.figures import paper_layout as layout
from attention.figures.paper_fonts import SANS, Measure, families_for
from attention.figures.paper_layout import PAD, Around, Bar, Layout, Slot
from attention.figures.paper_panels import Panel
from attention.paper import CM, COLOURS, Paper

INK, HIDDEN, STROKE = "#000000", "#dedede", "#8c8c8c"
THIN = 0.5  # points: frames and ticks
SMALLEST, FILLED = 5.0, 0.88  # points: numbers that can be read; how much of a cell they fill
DARK = 0.18  # luminance: below it white letters can be read better than black ones
OURS = "0123456789−∞.eNa…"  # letters of numbers
SETTINGS: dict[str, Any] = {
    "pdf.fonttype": 42,  # TrueType, which journals ask for
    "svg.fonttype": "none",  # text that names its fonts
    "svg.hashsalt": "attention",  # the same names in each file
    "font.sans-serif": list(SANS),
    "mathtext.default": "regular",
    "text.hinting": "none",  # else words are wider in PNG than in PDF
    "axes.linewidth": THIN,
}
_ONE_AT_A_TIME = RLock()


@contextmanager
def settings(**more: Any) -> Iterator[None]:
    """Matplotlib's own settings and ours, for one thread at a time."""
    style = matplotlib.style.context(["default", SETTINGS | more])
    with _ONE_AT_A_TIME, style, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # said in `notes`
        yield


class PaperFigure(Figure):
    """A Matplotlib figure that is saved with the settings it was made with."""

    notes: tuple[str, ...] = ()  # what could not be shown, in sentences
    about: Any = None  # what its files say of themselves

    def savefig(self, fname: Any, *, outlines: bool = False, **options: Any) -> None:
        """Write the figure; PDF with TrueType fonts, SVG with text or, as ``outlines``, without.

        Everything else is as in :meth:`matplotlib.figure.Figure.savefig`.
        """
        with settings(**{"svg.fonttype": "path" if outlines else "none"}):
            super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


def draw(
    panels: list[Panel], paper: Paper, tell: Callable[[float], object] | None = None
) -> PaperFigure:
    """The panels in reading order as one figure; ``tell`` hears which share of them is drawn."""
    with settings():
        families, missing = families_for("".join(_texts(panels, paper)))
        measure = Measure(families)
        placed = layout.Setter(panels, paper, measure).layout()
        size = CM * paper.size[0], placed.height
        figure = PaperFigure((size[0] / 72, size[1] / 72), dpi=150)
        letters, small = _number_size(placed.slots, paper, measure)
        with matplotlib.rc_context({"font.family": [*families, "sans-serif"]}):
            Canvas(figure, paper, size).draw(placed, letters, small, tell)
    broken = [panel.name for panel in panels if not (panel.shown | panel.hidden).all()]
    figure.notes = tuple(_notes(small, missing, broken))
    return figure


def _texts(panels: list[Panel], paper: Paper) -> Iterator[str]:
    """All words of a figure, for their letters."""
    words = OURS, paper.title, paper.caption, paper.bar_title or "", paper.query, paper.key
    yield from (" ".join(text.split()) for text in words)
    for panel in panels:
        yield panel.heading
        yield from panel.rows + panel.columns


def _number_size(
    slots: list[Slot], paper: Paper, measure: Measure
) -> tuple[float, dict[str, float]]:
    """The one size of the numbers in all cells, and the stages whose would be too small.

    The panels of one stage are treated alike.
    """
    fitting: dict[str, float] = {}
    for slot in slots if paper.numbers else ():
        name, (rows, columns) = slot.panel.name, slot.panel.matrix.shape
        size = min(slot.wide / columns / 2, 0.7 * slot.tall / rows, paper.tick)
        if size > SMALLEST / 2:  # else there may be very many
            texts = {text for row in slot.panel.texts(paper.digits) for text in row}
            size = min(size, FILLED * slot.wide / columns / measure.widest(texts, 1.0))
        fitting[name] = min(size, fitting.get(name, size))
    small = {name: size for name, size in fitting.items() if size < SMALLEST}
    attention = {slot.panel.name for slot in slots if slot.panel.group[1] == "attention"}
    if attention & small.keys():
        small = fitting  # those of the inputs alone would not help
    return min((size for name, size in fitting.items() if name not in small), default=0.0), small


def _notes(small: dict[str, float], missing: str, broken: list[str]) -> Iterator[str]:
    if small:
        size = math.floor(10 * min(small.values())) / 10
        yield (
            f"The numbers in the cells of {', '.join(small)} are left out: they would be {size} pt"
            f" high, below the {SMALLEST:g} pt that can be read."
        )
    yield from missing_note(missing)
    if broken:
        where = ", ".join(dict.fromkeys(broken))
        yield f"Numbers of {where} that are not finite have the grey of hidden cells."


def missing_note(missing: str) -> Iterator[str]:
    """Which letters have no font, where there are any."""
    if missing:
        listed = " ".join(f"{letter} (U+{ord(letter):04X})" for letter in missing[:12])
        more = f" and {len(missing) - 12} more" if len(missing) > 12 else ""
        yield f"No font of this machine has {listed}{more}; boxes stand for them."


def colour_map(name: str) -> Colormap:
    """One of :data:`attention.paper.COLOURS`."""
    if COLOURS[name]:
        return LinearSegmentedColormap.from_list(name, COLOURS[name])
    return matplotlib.colormaps[name]


@dataclass(frozen=True)
class Canvas:
    """Puts panels, bars and words on a figure; lengths in points from the upper left corner."""

    figure: Figure
    paper: Paper
    size: tuple[float, float]

    def draw(
        self,
        placed: Layout,
        letters: float,
        small: Collection[str],
        tell: Callable[[float], object] | None,
    ) -> None:
        """Everything; ``letters``: the size of the numbers, and ``small`` goes without."""
        for done, slot in enumerate(placed.slots):
            if tell:
                tell(done / len(placed.slots))
            cells = self.panel(slot, 0.0 if slot.panel.name in small else letters)
            if slot.bar:
                self.bar(cells, slot.bar, slot.x + slot.wide + layout.BAR_GAP, slot.y)
        if placed.bar:
            self.bar(cells, *placed.bar)
        self.around(placed.around)

    def around(self, words: Around) -> None:
        """The title and the caption."""
        line = layout.LINE * self.paper.font
        self._words(words.title, layout.MARGIN, line)
        foot = self.size[1] - layout.MARGIN - line * len(words.caption)
        self._words(words.caption, foot, self.paper.font)

    def _words(self, lines: list[str], y: float, size: float) -> None:
        """Lines of text from the left margin."""
        for k, line in enumerate(lines):
            base = 1 - (y + (k + 0.8) * layout.LINE * size) / self.size[1]
            self.figure.text(layout.MARGIN / self.size[0], base, line, fontsize=size, color=INK)

    def axes(self, x: float, y: float, wide: float, tall: float) -> Axes:
        (width, height), tick = self.size, self.paper.tick
        axes = self.figure.add_axes(
            (x / width, 1 - (y + tall) / height, wide / width, tall / height)
        )
        axes.tick_params(length=layout.TICK, width=THIN, pad=PAD, labelsize=tick, colors=INK)
        return axes

    def panel(self, slot: Slot, letters: float) -> PolyCollection:
        """The cells of a panel, its labels and heading; ``letters``: the size of its numbers."""
        panel, (rows, columns) = slot.panel, slot.panel.matrix.shape
        axes = self.axes(slot.x, slot.y, slot.wide, slot.tall)
        axes.set(xlim=(0, columns), ylim=(rows, 0), label=panel.name)
        cells = _cells(slot)
        axes.add_collection(cells, autolim=False)
        if letters:
            self._numbers(axes, panel, cells, letters)
        else:  # a grey might be taken for a number's
            struck = [((j, i + 1), (j + 1, i)) for i, j in np.argwhere(panel.hidden).tolist()]
            strokes = LineCollection(struck, linewidths=THIN, colors=STROKE)
            axes.add_collection(strokes, autolim=False)
        size, turned = self.paper.font, 90 if slot.columns.turned else 0
        places = [k + 0.5 for k in slot.columns.places]
        axes.set_xticks(places, slot.columns.labels, rotation=turned)
        axes.set_yticks([k + 0.5 for k in slot.rows.places], slot.rows.labels)
        axes.set_xlabel(slot.columns.title, fontsize=size, labelpad=PAD)
        axes.set_ylabel(slot.rows.title, fontsize=size, labelpad=PAD)
        axes.set_title(panel.heading, loc="left", fontsize=size, pad=2 * PAD)
        return cells

    def _numbers(self, axes: Axes, panel: Panel, cells: PolyCollection, size: float) -> None:
        values = np.where(panel.shown, panel.matrix, 0)
        colours = np.asarray(cells.to_rgba(values))[..., :3]
        linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
        dark = (linear @ (0.2126, 0.7152, 0.0722) < DARK) & panel.shown
        style: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": size}
        for i, row in enumerate(panel.texts(self.paper.digits)):
            for j, text in enumerate(row):
                axes.text(j + 0.5, i + 0.5, text, color="#ffffff" if dark[i, j] else INK, **style)

    def bar(self, cells: PolyCollection, bar: Bar, x: float, y: float) -> None:
        """A colour bar of lines, since Matplotlib's own becomes an image in PDF and SVG."""
        axes = self.axes(x, y, layout.BAR, bar.tall)
        extend = ("neither", "min", "max", "both")[bar.beyond[0] + 2 * bar.beyond[1]]
        arrow = layout.BAR / bar.tall
        drawn = self.figure.colorbar(cells, cax=axes, extend=extend, extendfrac=arrow)
        assert drawn.solids is not None  # the cells are filled
        drawn.solids.set(rasterized=False, edgecolor="face", linewidth=THIN)
        drawn.outline.set_linewidth(THIN)
        drawn.set_ticks(bar.places, labels=bar.labels)
        drawn.minorticks_off()
        drawn.set_label(bar.title, fontsize=self.paper.font, labelpad=PAD)


def _cells(slot: Slot) -> PolyCollection:
    """A rectangle for each cell, row by row, which holds the number of the trace.

    Each reaches below the next ones, so that no seam of paper shows between them.
    """
    panel, (rows, columns), scale = slot.panel, slot.panel.matrix.shape, slot.panel.scale
    i, j = (axis.ravel() for axis in np.mgrid[:rows, :columns])
    right, low = np.minimum(j + 1.5, columns), np.minimum(i + 1.5, rows)
    corners = np.stack([j, i, right, i, right, low, j, low], 1).reshape(-1, 4, 2)
    norm = (LogNorm if scale.logarithmic else Normalize)(scale.low, scale.high, clip=True)
    colours = colour_map(scale.colours).with_extremes(bad=HIDDEN)
    cells = PolyCollection(list(corners), linewidths=0, cmap=colours, norm=norm)
    cells.set_array(np.ma.array(panel.matrix.ravel(), mask=~panel.shown.ravel()))
    return cells
