"""The letters of a paper figure: which fonts of the machine have them, and how wide they are."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.textpath import text_to_path

SANS = ("Arial", "Helvetica", "Liberation Sans", "DejaVu Sans")  # Matplotlib brings the last
_UNPRINTED = ("Cc", "Cs", "Cn")  # control characters, halves of a pair, and what is no letter
_SHOW_NOTHING = ("Cf", "Zs", "Zl", "Zp")


def clean(text: str) -> str:
    """What a file can hold: white space as spaces, and a mark for control characters."""
    spaced = "".join(" " if letter.isspace() else letter for letter in text)
    return "".join("\ufffd" if unicodedata.category(c) in _UNPRINTED else c for c in spaced)


def families_for(texts: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """The font families to print these texts in, and the letters that none of the machine has."""
    installed = fontManager.get_font_names()
    chosen = [name for name in SANS if name in installed]
    wanted = {letter for text in texts for letter in text if _is_seen(letter)}
    for name in (*chosen, *_others()):
        if not wanted:
            break
        found = {letter for letter in wanted if ord(letter) in _letters(name)}
        if found and name not in chosen:
            chosen.append(name)
        wanted -= found
    return tuple(chosen), "".join(sorted(wanted))


def _is_seen(letter: str) -> bool:
    is_selector = "\ufe00" <= letter <= "\ufe0f"  # of a variant of the letter before
    return not is_selector and unicodedata.category(letter) not in _SHOW_NOTHING


def _others() -> list[str]:
    """The other upright families, Noto's of one script each first."""
    names = {font.name for font in fontManager.ttflist if font.style == "normal"}
    names = {name for name in names if name not in SANS and "Last Resort" not in name}
    return sorted(names, key=lambda name: (not name.startswith("Noto Sans"), name))


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
        self.width: Callable[..., float] = lru_cache(None)(self._width)
        self.widest: Callable[[tuple[str, ...], float], float] = lru_cache(None)(self._widest)

    def _width(self, text: str, size: float, math: bool = False) -> float:
        font = FontProperties(family=self.families, size=size)
        return float(text_to_path.get_text_width_height_descent(text, font, math)[0])

    def _widest(self, texts: tuple[str, ...], size: float) -> float:
        return max((self.width(text, size) for text in texts), default=0.0)

    def cut(self, text: str, size: float, room: float) -> str:
        """As much of the text as fits, with … where something is missing."""
        if self.width(text, size) <= room:
            return text
        ends = (end for end in range(len(text), 0, -1) if not _is_mark(text[end : end + 1]))
        fitting = (f"{text[:end]}…" for end in ends)
        return next((short for short in fitting if self.width(short, size) <= room), "…")

    def wrapped(self, text: str, size: float, room: float) -> list[str]:
        """The text in lines that fit; a word too long for any is broken."""
        lines: list[str] = []
        for paragraph in text.splitlines():
            line = ""
            for word in clean(paragraph).split():
                longer = f"{line} {word}".lstrip()
                if self.width(longer, size) <= room:
                    line = longer
                    continue
                lines += [line] * bool(line)
                while self.width(word, size) > room and len(word) > 1:
                    end = len(self.cut(word, size, room)) - 1 or 1
                    lines.append(word[:end])
                    word = word[end:]
                line = word
            lines.append(line)
        return lines


def _is_mark(letter: str) -> bool:
    return bool(letter) and unicodedata.category(letter).startswith("M")
