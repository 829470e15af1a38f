"""The letters of a paper figure: which fonts of the machine have them, and how wide they are."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache, lru_cache

from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.textpath import text_to_path

from attention.figures.paper_panels import clean

SANS = ("Arial", "Helvetica", "Liberation Sans", "DejaVu Sans")  # Matplotlib brings the last
REGULAR = (400, 500, "normal", "regular", "medium")  # weights of fonts
INVISIBLE = ("Cf", "Cc", "Zs", "Zl", "Zp")  # kinds of letters that need no font
VARIANTS = ("\ufe00", "\ufe0f")  # ask for a variant of the letter before


@lru_cache(1024)
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
        wanted -= {c for c in wanted if VARIANTS[0] <= c <= VARIANTS[1]}
        wanted = wanted.difference(*map(_letters, self.families))
        # the others, Noto's of one script each first
        for name in sorted(upright, key=lambda name: (not name.startswith("Noto Sans"), name)):
            if wanted and wanted & _letters(name) and "Last Resort" not in name:
                self.families.append(name)
                wanted -= _letters(name)
        self.missing = "".join(sorted(wanted))
        self._of_size_1 = cache(self._measured)

    def _measured(self, text: str) -> float:
        font = FontProperties(family=self.families, size=1)
        is_formula = "$" in text.replace(r"\$", "")
        shown = text if is_formula else text.replace(r"\$", "$")
        return float(text_to_path.get_text_width_height_descent(shown, font, is_formula)[0])

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
