"""One matrix as a heatmap.

A figure here is Plotly's own JSON as a dict: ``go.Figure(heatmap(…))`` opens it.
Plain dicts, because building nine ``go.Figure`` costs twenty times what a slider move may take.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from attention.colours import LIGHT
from attention.figures.theme import layout
from attention.numbers import rounded
from attention.sentences import shortened

MOST_TEXTS = 16_384  # cells; a larger matrix is drawn without numbers in its cells
MOST_LABELS = 24
WAITS = "…"  # stands in a cell that waits for another
Blank = Mapping[tuple[int, int], str]  # (row, column) → what stands there
Mark = tuple[str, int, int | None]  # what the frame is for, a row and, for one cell, a column


def heatmap(
    matrix: np.ndarray,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    *,
    limits: tuple[float, float],
    title: str = "",
    printed: np.ndarray | None = None,
    digits: int = 2,
    hidden: np.ndarray | None = None,
    marks: tuple[Mark, ...] = (),
    bar: bool = True,
    blank: Blank | None = None,
) -> dict:
    """A Plotly figure, as a dict, of a (rows, columns) matrix.

    Parameters
    ----------
    matrix : (r, c)
    rows, columns : r and c labels, shown as typed (nothing in them is read as markup)
    printed : (r, c), what is written in the cells, where that is not the matrix
    limits : the colour range; (0, 1) is a share, anything else is taken to diverge about 0
    hidden : (r, c), True where the cell stands behind a mask: grey, with its number
    marks : ("query", row, None) frames a row, ("cell", row, column) frames a cell
    bar : whether it has a colour bar
    blank : what stands in cells whose number is to be filled in, or waits for one that is; there
        the matrix is NaN

    >>> figure = heatmap(np.eye(2), ("a", "b"), ("c", "d"), limits=(0, 1))
    >>> figure["data"][0]["text"]
    [['1', '0'], ['0', '1']]
    """
    text = cells(matrix if printed is None else printed, digits)
    asked, waits = _blank(blank or {}, matrix.shape)
    shut = asked | waits
    covered = np.zeros(matrix.shape, bool) if hidden is None else hidden & ~shut
    broken = ~np.isfinite(matrix) & ~covered & ~shut
    if text:
        for (i, j), written in (blank or {}).items():
            text[i][j] = written
    there = np.isfinite(matrix) & ~shut
    others = ("hidden", covered), ("broken", broken), ("blank", asked), ("waits", waits)
    main = scale(limits, bar) | {
        "z": pack(np.where(covered | broken | shut, np.nan, matrix)),
        "hovertemplate": f"%{{y}} · %{{x}}<br>{hover_of(text, 'z', digits)}",
    }
    data = [main] + [
        {
            "type": "heatmap",
            "meta": name,
            "z": pack(np.where(where, np.where(there, matrix, 0.0), np.nan)),
            "colorscale": LIGHT[name],
            "showscale": False,
            "xgap": 1,
            "ygap": 1,
            "hoverongaps": False,
            "hovertemplate": "%{y} · %{x}<br><b>" + name + "</b><extra></extra>",
        }
        for name, where in others
        if where.any()
    ]
    if text is not None:
        wheres = [~(covered | broken | shut), *(where for _, where in others if where.any())]
        for trace, where in zip(data, wheres, strict=True):
            shown = text if where.all() else _only(text, where)
            trace |= {"text": shown, "texttemplate": "%{text}", "textfont": {"color": LIGHT["ink"]}}
    return {"data": data, "layout": around(rows, columns, title, marks)}


def _blank(blank: Blank, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Where a number is to be filled in, and where one waits for that."""
    asked, waits = np.zeros(shape, bool), np.zeros(shape, bool)
    for cell, text in blank.items():
        (waits if text == WAITS else asked)[cell] = True
    return asked, waits


def scale(limits: tuple[float, float], bar: bool) -> dict[str, Any]:
    """The heatmap's trace without its numbers: its colours and what they stand for."""
    role = "share" if limits == (0, 1) else "diverging"
    return {
        "type": "heatmap",
        "meta": role,
        "zmin": limits[0],
        "zmax": limits[1],
        "colorscale": LIGHT[role],
        "showscale": bar,
        "colorbar": {
            "thickness": 5,
            "x": 1,
            "xpad": 4,
            "outlinewidth": 0,
            "tickfont": {"size": 9},
            "nticks": 5,
        },
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
    }


def around(
    rows: tuple[str, ...], columns: tuple[str, ...], title: str, marks: tuple[Mark, ...]
) -> dict[str, Any]:
    """Plotly's layout: title, labels and frames."""
    return layout(
        title={
            "text": subscripts(escape(title)),
            "font": {"size": 14},
            "x": 0,
            "xref": "paper",
        },
        xaxis=_axis(columns, side="top"),
        yaxis=_axis(rows, autorange="reversed"),
        shapes=[_frame(*mark, len(columns)) for mark in marks],
    )


def _only(text: list[list[str]], where: np.ndarray) -> list[list[str]]:
    """The texts of these cells alone: each trace prints its own, so that none stands twice."""
    return [
        [t if w else "" for t, w in zip(*row, strict=True)]
        for row in zip(text, where.tolist(), strict=True)
    ]


def cells(matrix: np.ndarray, digits: int) -> list[list[str]] | None:
    """The number of each cell as text; None where there are too many to print."""
    return None if matrix.size > MOST_TEXTS else rounded(matrix, digits)


def hover_of(text: list[list[str]] | None, numbers: str, digits: int) -> str:
    """Return the end of the template of a cell that is pointed at: its text, where it has one.

    Without one Plotly writes the number that it finds under this name, with ``digits`` and four
    more significant digits: it cannot change between decimals and e-notation as our texts do.
    """
    said = "%{text}" if text else f"%{{{numbers}:.{digits + 4}~g}}"
    return f"<b>{said}</b><extra></extra>"


def pack(values: np.ndarray) -> dict:
    """An array as Plotly's typed array: raw float64, exact, far quicker than a list of numbers."""
    values = np.ascontiguousarray(values, dtype="<f8")
    shape = ", ".join(map(str, values.shape))
    return {"dtype": "f8", "bdata": base64.b64encode(values.tobytes()).decode(), "shape": shape}


def unpack(packed: dict[str, str]) -> np.ndarray:
    """The inverse of :func:`pack`.

    >>> unpack(pack(np.array([[0.5, 2.0]])))
    array([[0.5, 2. ]])
    """
    shape = [int(side) for side in packed["shape"].split(",")]
    return np.frombuffer(base64.b64decode(packed["bdata"]), "<f8").reshape(shape)


def label(text: str) -> str:
    """A tick label: shortened, and escaped so that nothing typed comes alive."""
    return escape(shortened(text))


def escape(text: str) -> str:
    """Text that Plotly draws as typed: no markup, no template, no formula where MathJax is at hand.

    Plotly knows no &quot;, so quotation marks stay: in a text node they are harmless.

    >>> escape('<b> "$x$" %{y}')
    '&lt;b&gt; "&#36;x&#36;" &#37;{y}'
    """
    return html.escape(text, quote=False).replace("$", "&#36;").replace("%{", "&#37;{")


def subscripts(text: str) -> str:
    return re.sub(r"\b([A-Za-z])_([A-Za-z])\b", r"\1<sub>\2</sub>", text)


def _axis(labels: tuple[str, ...], **options: Any) -> dict[str, Any]:
    places, texts = _ticks(labels)
    return {
        "tickmode": "array",
        "tickvals": list(places),
        "ticktext": list(texts),
        "tickfont": {"size": 11},
        "ticks": "",
        "ticklabelstandoff": 3,
        "showgrid": False,
        "zeroline": False,
        **options,
    }


@lru_cache(256)
def _ticks(labels: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Which places get a label, and the labels; the panes of a board share a few of these."""
    step = -(-len(labels) // MOST_LABELS)
    places = tuple(range(0, len(labels), step))
    return places, tuple(label(labels[i]) for i in places)


def _frame(role: str, row: int, column: int | None, width: int) -> dict:
    x0, x1 = (-0.5, width - 0.5) if column is None else (column - 0.5, column + 0.5)
    line = {"color": LIGHT[role], "width": 2 if column is None else 3}
    return {
        "type": "rect",
        "name": role,
        "x0": x0,
        "x1": x1,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "line": line,
    }
