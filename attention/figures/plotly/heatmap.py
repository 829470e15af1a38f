"""A pane as Plotly takes it: its own JSON as a dict, with arrays; ``go.Figure(…)`` opens it.

Plain dicts, because building nine ``go.Figure`` costs twenty times what a slider move may take.
"""

from __future__ import annotations

import html
from functools import lru_cache
from typing import Any

import numpy as np

from attention.explain.colours import LIGHT
from attention.figures.panes.pane import CellKind, Pane
from attention.figures.plotly.theme import layout
from attention.vocabulary.notation import subscripts
from attention.vocabulary.sentences import shortened

MOST_LABELS = 24


def to_plotly(pane: Pane) -> dict[str, Any]:
    """A heatmap, and one more for the cells of each kind that has no colour of the scale.

    The first has the numbers to the bit, NaN where a cell is of another kind. The ``z`` of the
    others are those of their cells, 0 where these are not finite. Each prints its own texts.

    >>> pane = Pane(
    ...     name="", values=np.eye(2), rows=("a", "b"), columns=("c", "d"), limits=(0, 1)
    ... )
    >>> figure = to_plotly(pane)
    >>> figure["data"][0]["text"]
    [['1', '0'], ['0', '1']]
    """
    texts, kinds = pane.texts, pane.kinds
    values = np.asarray(pane.values, float)
    there = np.where(np.isfinite(values) & (kinds < CellKind.BLANK), values, 0.0)
    data = []
    for kind in CellKind:
        here = kinds == kind
        if kind != CellKind.SHOWN and not here.any():
            continue
        trace = {
            "type": "heatmap",
            "z": np.where(here, there, np.nan),
            "xgap": 1,
            "ygap": 1,
            "hoverongaps": False,
        }
        trace |= _grey(kind.name.lower()) if kind else _scale(pane)
        if texts is not None:
            shown = texts if here.all() else _only(texts, here)
            trace |= {"text": shown, "texttemplate": "%{text}", "textfont": {"color": LIGHT["ink"]}}
            if not kind and pane.single_texts != texts:
                trace["hovertext"] = pane.single_texts
        data.append(trace)
    return {"data": data, "layout": _around(pane)}


def _grey(name: str) -> dict[str, Any]:
    """What tells the cells of a kind from the others."""
    return {
        "meta": name,
        "colorscale": LIGHT[name],
        "showscale": False,
        "hovertemplate": f"%{{y}} · %{{x}}<br><b>{name}</b><extra></extra>",
    }


def _scale(pane: Pane) -> dict[str, Any]:
    """The colours of the numbers, and what they stand for."""
    own = "text" if pane.single_texts == pane.texts else "hovertext"
    return {
        "meta": pane.role,
        "zmin": pane.limits[0],
        "zmax": pane.limits[1],
        "colorscale": LIGHT[pane.role],
        "showscale": pane.has_bar,
        "colorbar": {
            "thickness": 5,
            "x": 1,
            "xpad": 4,
            "outlinewidth": 0,
            "tickfont": {"size": 9},
            "nticks": 5,
        },
        "hovertemplate": f"%{{y}} · %{{x}}<br>{hover_of(pane.single_texts, 'z', pane.digits, own)}",
    }


def _around(pane: Pane) -> dict[str, Any]:
    """Plotly's layout: title, labels and frames."""
    return layout(
        title={
            "text": subscripts(escape(pane.title_line)),
            "font": {"size": 14},
            "x": 0,
            "xref": "paper",
        },
        xaxis=_axis(pane.columns, side="top"),
        yaxis=_axis(pane.rows, autorange="reversed"),
        shapes=[_frame(*mark, len(pane.columns)) for mark in pane.marks],
    )


def _only(text: list[list[str]], where: np.ndarray) -> list[list[str]]:
    """The texts of these cells alone: each trace prints its own, so that none stands twice."""
    return [
        [t if w else "" for t, w in zip(*row, strict=True)]
        for row in zip(text, where.tolist(), strict=True)
    ]


def hover_of(text: list[list[str]] | None, numbers: str, digits: int, name: str = "text") -> str:
    """Return the end of the template of a cell that is pointed at: its text, which the figure has
    under this ``name``, where there is one.

    Without one Plotly writes the number that it finds under this name, with ``digits`` and four
    more significant digits: it cannot change between decimals and e-notation as our texts do.
    """
    said = f"%{{{name}}}" if text else f"%{{{numbers}:.{digits + 4}~g}}"
    return f"<b>{said}</b><extra></extra>"


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
