"""Text for Markdown: what a person typed is shown as typed, and read again."""

from __future__ import annotations

import re

MARKS = r"\`*_{}[]()#+-.!|~$:<>&"
# Spaces that a reader of Markdown drops, and what ends a line or shows nothing.
_SPACES = re.compile(r"^ | $|(?<= ) |[^\S ]|[\x00-\x1f\x7f-\x9f]")
_WRITTEN = re.compile(r"\\([^A-Za-z0-9\s])|&#([0-9]{1,7});")


def plain(text: str) -> str:
    r"""Return the text with each mark of Markdown, HTML and its entities escaped.

    A line break, and a space at either end, is written by its number, as CommonMark reads it: so a
    table keeps its lines, and stars around a word make it bold.

    >>> plain("*a* <b>|"), plain(" the"), plain("\n")
    ('\\*a\\* \\<b\\>\\|', '&#32;the', '&#10;')
    """
    marked = "".join("\\" + c if c in MARKS else c for c in text)
    return _SPACES.sub(lambda space: f"&#{ord(space[0])};", marked)


def bold(text: str) -> str:
    """Return the text in bold; nothing for an empty text, as stars without text stay stars.

    >>> bold("cat"), bold("")
    ('**cat**', '')
    """
    return f"**{plain(text)}**" if text else ""


def read(written: str) -> str:
    r"""Read back the text that :func:`plain` wrote.

    >>> read(plain("*a* <b>|")), read(plain("\n")), read(plain("&#10;"))
    ('*a* <b>|', '\n', '&#10;')
    """
    return _WRITTEN.sub(lambda found: found[1] or _character(found), written)


def _character(found: re.Match[str]) -> str:
    number = int(found[2])
    is_text = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
    return chr(number) if is_text else found[0]
