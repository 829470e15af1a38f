"""The sheet of a paper figure: Matplotlib's Figure with its settings, fonts, title and caption.

Never through pyplot, whose figures are shared. Matplotlib's settings belong to the whole process:
they are changed only while a figure is made or saved, by one thread at a time.
"""

from __future__ import annotations

import unicodedata
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, time
from functools import cache, partialmethod
from io import BytesIO
from threading import RLock
from typing import Any

import matplotlib.style
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.textpath import text_to_path
from PIL import Image, PngImagePlugin

from attention import program
from attention.figures.paper.text import clean, fit_for_files
from attention.limits import BadInput
from attention.paper import Paper

INK, THIN = "#000000", 0.5  # frames and ticks, in points
LINE = 1.2  # times the size of the letters
MARGIN, TICK, PAD = 3.0, 1.5, 2.0  # around all; a tick's length; between ticks and words
SANS = ("Arial", "Helvetica", "Liberation Sans", "DejaVu Sans")  # Matplotlib brings the last
REGULAR = (400, 500, "normal", "regular", "medium")  # weights of fonts
INVISIBLE = ("Cf", "Cc", "Zs", "Zl", "Zp")  # kinds of letters that need no font
VARIANTS = tuple(map(chr, range(0xFE00, 0xFE10)))  # ask for a variant of the letter before
_TICKS = {"size": TICK, "width": THIN, "pad": PAD}
SETTINGS: dict[str, Any] = {
    "pdf.fonttype": 42,  # TrueType, which journals ask for
    "svg.fonttype": "none",  # text that names its fonts
    "svg.hashsalt": "attention",  # the same names in each file
    "font.sans-serif": list(SANS),
    "mathtext.default": "regular",
    "text.hinting": "none",  # else words are wider in PNG than in PDF
    "axes.linewidth": THIN,
    "axes.labelpad": 2 * PAD,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.loc": "lower left",
    "legend.borderaxespad": 0.2,
    **{f"{axis}tick.major.{name}": points for axis in "xy" for name, points in _TICKS.items()},
}
KEYS = {  # of what made it, its title, what it is, and when, in each kind of file
    "pdf": ("Creator", "Title", "Subject", "CreationDate"),
    "svg": ("Creator", "Title", "Description", "Date"),
    "png": ("Software", "Title", "Description", "Creation Time"),
}
Place = tuple[float, float, float, float]  # left, bottom, width, height
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
            words = map(fit_for_files, (program.made_by(), self.title, self.about))
            named = zip(KEYS[form], (*words, date), strict=True)
            said = {key: value for key, value in named if value}
            options["metadata"] = said | (options.get("metadata") or {})
        with settings(**{"svg.fonttype": "path" if outlines else "none"}):
            if form != "png" or "pil_kwargs" in options:
                return super().savefig(fname, **options)
            file, texts = BytesIO(), PngImagePlugin.PngInfo()
            plain = {"format": form, "pil_kwargs": {"compress_level": 0}}  # it is written anew
            super().savefig(file, **options | plain)
        with Image.open(file) as image:
            for key, words in image.text.items():  # type: ignore[attr-defined]
                texts.add_itxt(key, words)
            is_opaque = image.getchannel("A").getextrema() == (255, 255)
            kept = image.convert("RGB") if is_opaque else image
            kept.save(fname, form, pnginfo=texts, dpi=image.info["dpi"])

    def content(self, form: str, **options: Any) -> bytes:
        """The bytes of a file."""
        file = BytesIO()
        self.savefig(file, format=form, **options)
        return file.getvalue()

    _repr_png_ = partialmethod(content, "png")  # what a notebook shows


@cache
def _letters(family: str) -> frozenset[str]:
    """The letters of a font; none of one that has bitmaps alone, as those of coloured emoji."""
    try:
        font = get_font(fontManager.findfont(FontProperties(family=[family])))
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(map(chr, font.get_charmap()))


class Letters:
    """The fonts that have all letters of a text, and how wide words are in them, in points."""

    def __init__(self, text: str) -> None:
        fonts = (font for font in fontManager.ttflist if font.style == "normal")
        upright = {font.name for font in fonts if font.weight in REGULAR}
        self.families = [name for name in SANS if name in upright]
        wanted = {c for c in set(text) if unicodedata.category(c) not in INVISIBLE}
        wanted = wanted.difference(VARIANTS, *map(_letters, self.families))
        # the others, Noto's of one script each first
        for name in sorted(upright, key=lambda name: (not name.startswith("Noto Sans"), name)):
            if wanted and wanted & _letters(name) and "Last Resort" not in name:
                self.families.append(name)
                wanted -= _letters(name)
        self.missing = "".join(sorted(wanted))
        self.font = FontProperties(family=self.families, size=1)
        self._of_size_1 = cache(self._measured)

    def _measured(self, text: str) -> float:
        is_formula = is_math_text(text)
        shown = text if is_formula else text.replace(r"\$", "$")
        return text_to_path.get_text_width_height_descent(shown, self.font, is_formula)[0]

    def width(self, text: str, size: float) -> float:
        """The width of a line, cleaned or of our own."""
        return size * self._of_size_1(text)

    def widest(self, texts: Iterable[str], size: float) -> float:
        return size * max(map(self._of_size_1, texts), default=0.0)

    def _fitting(self, text: str, size: float, room: float) -> int:
        """How many letters of a text fit, one at least."""
        ends = range(1, len(text) + 1)
        return max(bisect_right(ends, room, key=lambda end: self.width(clean(text[:end]), size)), 1)

    def cut(self, text: str, size: float, room: float) -> str:
        """As much of a text as fits, with … where something is missing; cleaned."""
        if self.width(clean(text), size) <= room:
            return clean(text)
        return clean(text[: self._fitting(text, size, room - self.width("…", size))]) + "…"

    def wrapped(self, text: str, size: float, room: float) -> list[str]:
        """A text in lines that fit, broken at spaces where there are any; cleaned."""
        lines = []
        for paragraph in text.splitlines():
            while paragraph:
                end = self._fitting(paragraph[: int(5 * room / size) + 1], size, room)
                if end < len(paragraph) and " " in paragraph[1 : end + 1]:
                    end = paragraph.rindex(" ", 1, end + 1)
                lines.append(clean(paragraph[:end]))
                paragraph = paragraph[end:].lstrip()
        return lines


class Sheet:
    """The fonts for all words of a figure, and the room that title and caption leave, in points.

    Made within :func:`settings`, to which it adds these fonts and their sizes.
    """

    def __init__(self, paper: Paper, words: str) -> None:
        self.paper = paper
        self.width, most = (72 / 2.54 * float(side) for side in (paper.width, paper.height))
        self.letters = Letters(words + paper.title + paper.caption + paper.bar_title)
        size, self.room = paper.font_size, self.width - 2 * MARGIN
        self.title = self.letters.wrapped(paper.title, LINE * size, self.room)
        self.caption = self.letters.wrapped(paper.caption, size, self.room)
        self.top = MARGIN + (LINE * LINE * len(self.title) + 0.4 * bool(self.title)) * size
        self.under = MARGIN + (LINE * len(self.caption) + 0.6 * bool(self.caption)) * size
        self.height = most - self.top - self.under  # at most, of what is between them
        self.pad = max(2 * PAD, 0.8 * paper.tick_size)  # over cells: half a label of their bar
        style: dict[Any, Any] = {"font.family": [*self.letters.families, "sans-serif"]}
        large = "font.size", "axes.labelsize", "axes.titlesize", "legend.title_fontsize"
        small = "xtick.labelsize", "ytick.labelsize", "legend.fontsize"
        style |= dict.fromkeys(large, size) | dict.fromkeys(small, paper.tick_size)
        matplotlib.rcParams.update(style | {"axes.titlepad": self.pad})

    def figure(self, height: float, alt: str) -> PaperFigure:
        """A figure with so much between title and caption."""
        self.tall, size = self.top + height + self.under, self.paper.font_size
        figure = PaperFigure((self.width / 72, self.tall / 72), dpi=150)
        figure.title, figure.alt = self.paper.title, alt
        x, y, _, up = self.share(MARGIN, MARGIN, self.room, self.tall - 2 * MARGIN)
        figure.text(x, y + up, "\n".join(self.title), fontsize=LINE * size, va="top")
        figure.text(x, y, "\n".join(self.caption), va="bottom")
        if missing := self.letters.missing:
            listed = " ".join(f"{letter} (U+{ord(letter):04X})" for letter in missing[:12])
            more = f" and {len(missing) - 12} more" if len(missing) > 12 else ""
            figure.notes = (f"No font of this machine has {listed}{more}; boxes stand for them.",)
        return figure

    def share(self, x: float, y: float, wide: float, tall: float) -> Place:
        """A place from the upper left corner of the figure, as Matplotlib counts: up, in shares."""
        return x / self.width, 1 - (y + tall) / self.tall, wide / self.width, tall / self.tall

    def too_many(self, count: int) -> BadInput:
        """The sentence where panels do not fit."""
        wide, high, size = self.paper.width, self.paper.height, self.paper.font_size
        return BadInput(
            f"{'1 panel does' if count == 1 else f'{count} panels do'} not fit on {wide:g} ×"
            f" {high:g} cm with letters of {size:g} pt: choose fewer panels, smaller"
            " letters, or a larger width or height."
        )
