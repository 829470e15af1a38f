"""A pane as the board is sent it: its words as JSON, its numbers and colours as bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from attention.figures.panes.pane import WAITS, Pane
from attention.figures.panes.shades import BLANK, BY_ROOT, LAST, ROOTS, shades
from attention.vocabulary.numbers import exact, number

WORDS = (
    *("name", "group", "symbol", "formula", "alt", "sources", "digits"),
    *("edit", "tokens", "picks", "queries", "axes", "buckets"),
)


class Sent(NamedTuple):
    """What the board gets of a pane."""

    words: dict[str, Any]  # what is written around it, and what can be done in it
    drawn: dict[str, Any]  # what its picture is made of, beside ``raw``
    raw: bytes


def to_board(pane: Pane) -> Sent:
    """The words of a pane, and the bytes of its cells, row by row.

    ``raw`` has a byte for each cell: its shade from 0 to 252, or 253 of a blank, 254 of a hidden
    and 255 of a broken cell. Behind these come the numbers as float64, little end first, NaN where
    there is none yet; of a large pane, which is drawn in colours alone, they are left out.

    >>> values, columns = np.array([[-1.0, 1.0]]), ("1", "2")
    >>> pane = Pane(name="X", values=values, rows=("a",), columns=columns, limits=(-1, 1))
    >>> words, drawn, raw = to_board(pane)
    >>> words["shape"], drawn["texts"], list(raw[:2]), np.frombuffer(raw[2:], "<f8")
    ('1 × 2', [['−1', '1']], [0, 252], array([-1.,  1.]))
    """
    by_root = pane.is_large and pane.role == "share"
    words = {name: getattr(pane, name) for name in WORDS}
    words["sentence"] = " ".join(filter(None, (pane.sentence, BY_ROOT if by_root else "")))
    words["shape"] = "{} × {}".format(*pane.shape)
    words["large"] = pane.is_large
    words["filename"] = pane.filename or f"attention_{pane.name}"
    if pane.edit == "blanks":
        words["blanks"] = [place for place, text in pane.blanks.items() if text != WAITS]
    if pane.is_large:
        words["chosen"] = _chosen(pane)
    drawn = {
        "rows": pane.rows,
        "columns": pane.columns,
        "title": pane.title_line,
        "role": pane.role,
        "limits": pane.limits,
        "bar": pane.has_bar,
        "ticks": ROOTS if by_root else None,
        "marks": pane.marks,
        "texts": pane.texts,
    }
    codes = bytearray(shades(pane.values, pane.limits, pane.hidden, by_root=by_root))
    values = np.array(pane.values, "<f8") if pane.blanks else np.asarray(pane.values, "<f8")
    for (i, j), text in pane.blanks.items():
        zero = 0 if pane.role == "share" else LAST // 2
        codes[i * len(pane.columns) + j] = zero if text == WAITS else BLANK
        values[i, j] = np.nan
    return Sent(words, drawn, bytes(codes) + (b"" if pane.is_large else values.tobytes()))


def _chosen(pane: Pane) -> tuple[int, int, str, str] | None:
    """Return row, column, number and exact number of the chosen cell."""
    for _, i, j in pane.marks:
        if j is not None:
            return i, j, number(pane.written[i, j], pane.digits), exact(pane.values[i, j])
    return None
