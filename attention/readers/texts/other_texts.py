"""Texts of other kinds: what they are, and what to save instead.

Each kind is recognised by marks that no text has that is read. Every pattern takes time in
proportion to the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from attention.limits import BadInput

# \begin{bmatrix}, or a row: 1 & 2 \\
_LATEX = re.compile(
    r"(?m)\\begin\{[A-Za-z]{1,20}\*?\}"
    r"|&[ \t]*[-+.\d\\][^&\n]*\\\\[ \t\r]*(?:\\hline[ \t\r]*)?$"
)
# "Columns 1 through 8", a common factor, or a name and "=" on a line of its own, with an empty line
# below it, above numbers.
_MATLAB = re.compile(
    r"(?m)^[ \t]*Columns[ ]{1,9}\d{1,9}[ ]{1,9}(?:through|to|and)[ ]{1,9}\d"
    r"|^[ \t]*1\.0e[+-]\d{2,3}[ ]{0,9}\*[ \t\r]*$"
    r"|^[ \t]*[A-Za-z]\w{0,62}(?:\(:,:,\d{1,9}\))?[ \t]*=[ \t\r]*\n"
    r"(?:[ \t\r]*\n\s*(?:[-.\d]|NaN|Inf|true\b|false\b)"
    r"|\s*(?:\d{1,9}×\d|Columns? \d|Diagonal Matrix))"
)
# [,1] above columns, [1,] before a row, or [1] before the numbers of a vector.
_R = re.compile(
    r"(?m)^[ \t]*(?:\[,\d{1,9}\]|\[\d{1,9},\][ \t]|\[1\][ \t]+(?:[-.\d]|TRUE|FALSE|NA|NaN|Inf))"
)
# 2×2 Matrix{Float64}:
_JULIA = re.compile(r"(?m)^[ \t]*\d{1,9}(?:(?:×\d{1,9}){1,9}|-element) [A-Za-z]\w{0,60}[{(]")
# W[2] = {1, 2} or {{1, 2}, {3, 4}}
_C = re.compile(r"(?:\][ \t]{0,9}=\s{0,9}|\{\s{0,9})\{[{\s]{0,9}[-+.\d][\w.+-]{0,40}\s{0,9}[,}]")
_CELLS = {"row", "column", "value"}


def _has_row_per_cell(text: str) -> bool:
    """Check for columns that are called row, column and value."""
    first = re.split(r"[\r\n]", text[:2000].lstrip(), maxsplit=1)[0]
    return {name.strip(' "') for name in re.split("[,;\t]", first)} >= _CELLS


class OtherText(NamedTuple):
    """A kind of text: how it is recognised, and the sentence about it, after the text's name."""

    recognised: Callable[[str], object]
    said: str


KINDS = (
    OtherText(
        _LATEX.search,
        "is LaTeX, which is not read; export NPZ or the state instead, or paste the numbers as"
        " plain rows.",
    ),
    OtherText(
        _MATLAB.search,
        'is a printout of MATLAB or Octave; save the matrix with writematrix(A, "A.csv"), or in'
        ' Octave csvwrite("A.csv", A), and open that file.',
    ),
    OtherText(
        _R.search,
        'is a printout of R; save the matrix with write.csv(A, "A.csv") and open that file.',
    ),
    OtherText(
        _JULIA.search,
        "is a printout of Julia; save the matrix with writedlm(\"A.csv\", A, ',') of"
        " DelimitedFiles and open that file.",
    ),
    OtherText(_C.search, "is an array in C; write its rows as lines of CSV, without braces."),
    OtherText(
        _has_row_per_cell,
        "has one row per cell (row, column, value); export “CSV, matrices”, NPZ or the state"
        " instead.",
    ),
)


def refuse(text: str, where: str) -> None:
    """Raise BadInput for a text of one of these kinds.

    >>> refuse("[[1, 2]]", "it")
    >>> refuse("     [,1] [,2]\\n[1,]    1    2", "it")
    Traceback (most recent call last):
    ...
    attention.limits.BadInput: it is a printout of R; save the matrix with write.csv(A, "A.csv") \
and open that file.
    """
    for kind in KINDS:
        if kind.recognised(text):
            raise BadInput(f"{where} {kind.said}")
