"""The letters of a paper figure: which fonts of the machine have them, and how wide they are."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache

from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.textpath import text_to_path

SANS = ("Arial", "Helvetica", "Liberation Sans", "DejaVu Sans")  # Matplotlib brings the last
_SHOW_NOTHING = ("Cf", "Zs")
_VARIANTS = ("\ufe00", "\ufe0f")  # ask for a variant of the letter before


def clean(text: str) -> str:
    """Text as Matplotlib prints it, with nothing in it read as a formula or unfit for a file."""
    kinds = [(letter, unicodedata.category(letter)) for letter in text]
    kept = [" " if k in ("Cc", "Zl", "Zp") else "\ufffd" if k == "Cs" else c for c, k in kinds]
    return "".join(kept).replace("$", r"\$")


def families_for(text: str) -> tuple[tuple[str, ...], str]:
    """The font families to print a text in, and its letters that no font of the machine has."""
    seen = (c for c in set(text) if unicodedata.category(c) not in _SHOW_NOTHING)
    wanted = {letter for letter in seen if not _VARIANTS[0] <= letter <= _VARIANTS[1]}
    installed = fontManager.get_font_names()
    chosen = [name for name in SANS if name in installed]
    for name in (*chosen, *_others()):
        if not wanted:
            break
        found = {letter for letter in wanted if ord(letter) in _letters(name)}
        chosen += [name] * bool(found and name not in chosen)
        wanted -= found
    return tuple(chosen), "".join(sorted(wanted))


def _others() -> list[str]:
    """The other upright families, Noto's of one script each first."""
    fonts = (font for font in fontManager.ttflist if font.style == "normal")
    names = {font.name for font in fonts if font.weight in (400, "normal", "regular")}
    kept = (name for name in names if name not in SANS and "Last Resort" not in name)
    return sorted(kept, key=lambda name: (not name.startswith("Noto Sans"), name))


@lru_cache(1024)
def _letters(family: str) -> frozenset[int]:
    """The letters of a font; none of one that has bitmaps alone, as those of coloured emoji."""
    try:
        font = get_font(fontManager.findfont(FontProperties(family=family)))
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(font.get_charmap())


class Measure:
    """How wide texts are in points, in the given font families."""

    def __init__(self, families: Iterable[str]) -> None:
        self.families = list(families)
        self._known: dict[tuple[str, float], float] = {}

    def width(self, text: str, size: float) -> float:
        """The width of a line, cleaned or of our own."""
        if (text, size) not in self._known:
            font, plain = FontProperties(family=self.families, size=size), text.replace(r"\$", "")
            shown = text if "$" in plain else text.replace(r"\$", "$")
            measured = text_to_path.get_text_width_height_descent(shown, font, "$" in plain)
            self._known[text, size] = float(measured[0])
        return self._known[text, size]

    def widest(self, texts: Iterable[str], size: float) -> float:
        return max((self.width(text, size) for text in texts), default=0.0)

    def fitting(self, text: str, size: float, room: float) -> int:
        """How many letters of a text fit, one at least."""
        ends = range(1, len(text) + 1)
        return max(bisect_right(ends, room, key=lambda end: self.width(clean(text[:end]), size)), 1)

    def cut(self, text: str, size: float, room: float) -> str:
        """As much of a text as fits, with … where something is missing; cleaned."""
        if self.width(clean(text), size) <= room:
            return clean(text)
        return clean(text[: self.fitting(text, size, room - self.width("…", size))]) + "…"

    def wrapped(self, text: str, size: float, room: float) -> list[str]:
        """A text in lines that fit, broken at spaces where there are any; cleaned."""
        lines = []
        for paragraph in text.splitlines():
            while paragraph:
                end = self.fitting(paragraph[: int(5 * room / size) + 1], size, room)
                if end < len(paragraph):
                    end = paragraph.rfind(" ", 1, end + 1) if " " in paragraph[1 : end + 1] else end
                lines.append(clean(paragraph[:end]))
                paragraph = paragraph[end:].lstrip()
        return lines
