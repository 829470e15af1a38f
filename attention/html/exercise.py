"""What stands above and below the board of an exercise, as static HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from attention.numbers import number


def head(count: str, title: str, ask: str) -> str:
    """The heading, with how far one got, and what is to be done."""
    counted = f"<span>{escape(count)}</span> " if count else ""
    return f"<h2 class='step'>{counted}{escape(title)}</h2><p class='idea'>{escape(ask)}</p>"


def powers(given: Mapping[float, str]) -> str:
    """The powers of e that are given; nothing where none are."""
    if not given:
        return ""
    said = " ".join(
        f"<span>e<sup>{number(power, 1)}</sup> = {escape(text)}</span>"
        for power, text in given.items()
    )
    return f"<p class='given'>Given: {said}</p>"


def verdict(is_right: bool, sentence: str, where: str = "") -> str:
    """What is answered: by a mark and a word, not by a colour alone."""
    said = "✓ Right." if is_right else "✗ Not yet."
    kind = "done" if is_right else "missed"
    place = f"<b>{escape(where)}</b> · " if where else ""
    return f"<p class='ask {kind}' role='status'><b>{said}</b> {place}{escape(sentence)}</p>"


def quiet(sentence: str) -> str:
    """The same line where nothing was answered yet: so nothing moves when it is."""
    return f"<p class='ask'>{escape(sentence)}</p>"


def cell(where: str, sentence: str, lines: Sequence[str], at: tuple[str, int, int]) -> str:
    """A cell with its arithmetic, or what is said in place of that."""
    stage, i, j = at
    shown = escape("\n".join(lines)) if lines else escape(sentence)
    return (
        f"<div class='chosen'><p><b>{escape(where)}</b></p>"
        f"<pre class='cell' data-cell='{stage},{i},{j}'>{shown}</pre></div>"
    )
