"""Text for LaTeX: what a person typed is set as typed."""

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
_LIGATURE = re.compile(r"([-',`])(?=\1)|[?!](?=`)")  # two letters that TeX sets as one


def text(typed: str) -> str:
    r"""Return a word as text of a formula, in one line: LaTeX reads an empty one as a paragraph.

    >>> text("R&D_1")
    '\\text{R\\&D\\_1}'
    """
    plain = _MARKS.sub(lambda mark: MARKS[mark[0]], " ".join(typed.split()))
    return rf"\text{{{_LIGATURE.sub(lambda mark: mark[0] + '{}', plain)}}}"
