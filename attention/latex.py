"""Text for LaTeX: what a person typed is set as typed, and read again."""

from __future__ import annotations

import re

MARKS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
} | {mark: "\\" + mark for mark in "{}$&%#_"}
_MARKS = re.compile("|".join(map(re.escape, MARKS)))
_WRITTEN = re.compile("|".join(re.escape(text) for text in MARKS.values()))
_READ = {text: mark for mark, text in MARKS.items()}
_LIGATURE = re.compile(r"([-',`])(?=\1)|[?!](?=`)")  # two letters that TeX sets as one


def text(typed: str) -> str:
    r"""A word for a formula; one line, as LaTeX takes an empty one for a paragraph.

    >>> text("R&D_1")
    '\\text{R\\&D\\_1}'
    """
    plain = _MARKS.sub(lambda mark: MARKS[mark[0]], " ".join(typed.split()))
    return rf"\text{{{_LIGATURE.sub(lambda mark: mark[0] + '{}', plain)}}}"


def read(written: str) -> str | None:
    r"""The word in a ``\text{…}``; None for anything else.

    >>> read(r"\text{R\&D\_1}"), read("3.5")
    ('R&D_1', None)
    """
    inner = re.fullmatch(r"\\text\{(.*)\}", written.strip(), re.DOTALL)
    if not inner:
        return None
    apart = re.sub(r"([-',`?!])\{\}", r"\1", inner[1])
    return _WRITTEN.sub(lambda found: _READ[found[0]], apart)
