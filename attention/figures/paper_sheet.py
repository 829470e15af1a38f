"""The sheet of a paper figure: Matplotlib's Figure with settings of its own, title and caption.

Never through pyplot, whose figures are shared. Matplotlib's settings belong to the whole process:
they are changed only while a figure is made or saved, by one thread at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, time
from io import BytesIO
from threading import RLock
from typing import Any

import matplotlib.style
from matplotlib.figure import Figure
from PIL import Image, PngImagePlugin

from attention import program
from attention.figures.paper_fonts import SANS, Letters
from attention.limits import BadInput
from attention.paper import Paper

INK, THIN = "#000000", 0.5  # frames and ticks, in points
LINE = 1.2  # times the size of the letters
MARGIN, TICK, PAD = 3.0, 1.5, 2.0  # around all; a tick's length; between ticks and words
SETTINGS: dict[str, Any] = {
    "pdf.fonttype": 42,  # TrueType, which journals ask for
    "svg.fonttype": "none",  # text that names its fonts
    "svg.hashsalt": "attention",  # the same names in each file
    "font.sans-serif": list(SANS),
    "mathtext.default": "regular",
    "text.hinting": "none",  # else words are wider in PNG than in PDF
    "axes.linewidth": THIN,
    "axes.labelpad": 2 * PAD,
}
for _tick in ("xtick.major", "ytick.major"):
    SETTINGS |= {f"{_tick}.size": TICK, f"{_tick}.width": THIN, f"{_tick}.pad": PAD}
KEYS = {  # of what made it, its title, what it is, and when, in each kind of file
    "pdf": ("Creator", "Title", "Subject", "CreationDate"),
    "svg": ("Creator", "Title", "Description", "Date"),
    "png": ("Software", "Title", "Description", "Creation Time"),
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
    alt: str = ""  # what it shows, for those who do not see it
    about: str = ""  # what its files say of themselves, beside the title and what made them
    title: str = ""  # of its files

    def savefig(self, fname: Any, *, outlines: bool = False, **options: Any) -> None:
        """Write the figure; PDF with TrueType fonts, SVG with text or, as ``outlines``, without.

        Everything else is as in :meth:`matplotlib.figure.Figure.savefig`; the ``metadata`` name
        this program, its version and the date, and what the figure is. A PNG has no alpha channel,
        which some journals refuse, where it would say nothing.
        """
        form = options.get("format") or str(fname).rpartition(".")[2]
        if form in KEYS:
            moment = datetime.combine(program.today(), time(), UTC)
            date = moment if form == "pdf" else f"{moment:%Y-%m-%d}"
            named = zip(KEYS[form], (program.made_by(), self.title, self.about, date), strict=True)
            said = {key: words for key, words in named if words}
            options["metadata"] = said | (options.get("metadata") or {})
        with settings(**{"svg.fonttype": "path" if outlines else "none"}):
            if form != "png" or "pil_kwargs" in options:
                return super().savefig(fname, **options)
            file, texts = BytesIO(), PngImagePlugin.PngInfo()
            super().savefig(file, **options | {"format": form})
        with Image.open(file) as image:
            for key, words in image.text.items():  # type: ignore[attr-defined]
                texts.add_itxt(key, words)
            opaque = image.getchannel("A").getextrema() == (255, 255)
            kept = image.convert("RGB") if opaque else image
            kept.save(fname, format=form, pnginfo=texts, dpi=image.info["dpi"])

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


class Sheet:
    """The fonts for all words of a figure, and the room that title and caption leave, in points.

    Made within :func:`settings`, to which it adds these fonts and their sizes.
    """

    def __init__(self, paper: Paper, words: str) -> None:
        self.paper, (self.width, self.most) = paper, paper.size
        self.letters = Letters(words + paper.title + paper.caption + paper.bar_title)
        size, self.room = paper.font_size, self.width - 2 * MARGIN
        self.title = self.letters.wrapped(paper.title, LINE * size, self.room)
        self.caption = self.letters.wrapped(paper.caption, size, self.room)
        self.top = MARGIN + (LINE * LINE * len(self.title) + 0.4 * bool(self.title)) * size
        self.under = MARGIN + (LINE * len(self.caption) + 0.6 * bool(self.caption)) * size
        self.height = self.most - self.top - self.under  # at most, of what is between them
        self.pad = max(2 * PAD, 0.8 * paper.tick_size)  # over cells: half a label of their bar
        style: dict[Any, Any] = {"font.family": [*self.letters.families, "sans-serif"]}
        style |= dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), size)
        style |= dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), paper.tick_size)
        matplotlib.rcParams.update(style | {"axes.titlepad": self.pad})

    def figure(self, height: float, alt: str) -> PaperFigure:
        """A figure with so much between title and caption."""
        tall, size = self.top + height + self.under, self.paper.font_size
        figure = PaperFigure((self.width / 72, tall / 72), dpi=150)
        figure.title, figure.alt = self.paper.title, alt
        foot = tall - MARGIN - LINE * size * len(self.caption)
        for lines, top, each in (self.title, MARGIN, LINE * size), (self.caption, foot, size):
            for k, line in enumerate(lines):
                base = 1 - (top + (k + 0.8) * LINE * each) / tall
                figure.text(MARGIN / self.width, base, line, fontsize=each)
        if missing := self.letters.missing:
            listed = " ".join(f"{letter} (U+{ord(letter):04X})" for letter in missing[:12])
            more = f" and {len(missing) - 12} more" if len(missing) > 12 else ""
            figure.notes = (f"No font of this machine has {listed}{more}; boxes stand for them.",)
        return figure

    def too_many(self, count: int) -> BadInput:
        """The sentence where panels do not fit."""
        wide, high, size = self.paper.width, self.paper.height, self.paper.font_size
        return BadInput(
            f"{'1 panel does' if count == 1 else f'{count} panels do'} not fit on {wide:g} ×"
            f" {high:g} cm with letters of {size:g} pt: choose fewer panels, smaller"
            " letters, or a larger width or height."
        )
