"""A pane as Plotly takes it: its own JSON as a dict, with arrays; ``go.Figure(…)`` opens it.

Plain dicts, because building nine ``go.Figure`` costs twenty times what a slider move may take.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

from attention.explain.colours import LIGHT
from attention.explain.view import distinct
from attention.figures.panes.pane import CellKind, Pane
from attention.figures.plotly.theme import FONT, TEMPLATE
from attention.vocabulary.notation import subscripts
from attention.vocabulary.sentences import shortened
from attention.vocabulary.stages import STAGES

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_TICKS = 32  # of an axis
MOST_PRINTED = 24  # cells of a side; Plotly needs seconds for the numbers of a few thousand cells
MOST_APART = 64  # cells of a side with a gap between them, which would hide smaller ones
CELL, LARGEST = 80, 640  # px: a cell, and the longest side of all of them
WIDEST = 1000  # px: a figure with a long title
DIGIT = 5.8  # px: width of a digit in a cell
CHARACTER = {11: 6.2, 13: 7.6, 14: 8.2}  # px: width of a letter by its size, the last ones bold
EDGE, LINE, BAR = 12, 24, 56  # px: around a figure; a line of words; the scale of the colours
# Plotly keeps categories in an object of JavaScript, in which these names mean something else: the
# cells of a label of such a name would not be drawn.
TAKEN = frozenset(
    [
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "__proto__",
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    ]
)


def stage_figure(pane: Pane) -> go.Figure:
    """One pane as a figure: in a notebook of this size, on a page as wide as there is room."""
    import plotly.graph_objects as go

    return go.Figure(to_plotly(pane))


def to_plotly(pane: Pane) -> dict[str, Any]:
    """A heatmap, and one more for the cells of each kind that has no colour of the scale.

    The first has the numbers to the bit, NaN where a cell is of another kind. The ``z`` of the
    others are those of their cells, 0 where these are not finite. Up to MOST_PRINTED rows and
    columns each prints its own texts, but hidden cells have none; what is pointed at says its text
    where the pane has texts. Ink and paper are in the template, so that a page may have others.

    >>> pane = Pane(
    ...     name="", values=np.eye(2), rows=("a", "b"), columns=("c", "d"), limits=(0, 1)
    ... )
    >>> figure = to_plotly(pane)
    >>> figure["data"][0]["text"], figure["data"][0]["x"]
    ([['1', '0'], ['0', '1']], ['c', 'd'])
    """
    kinds, values = pane.kinds, np.asarray(pane.values, float)
    there = np.where(np.isfinite(values) & (kinds < CellKind.BLANK), values, 0.0)
    gap = 1 if max(pane.shape) <= MOST_APART else 0
    data = []
    for kind in CellKind:
        here = kinds == kind
        if kind != CellKind.SHOWN and not here.any():
            continue
        trace = {
            "type": "heatmap",
            "x": list(_categories(pane.columns)),
            "y": list(_categories(pane.rows)),
            "z": np.where(here, there, np.nan),
            "xgap": gap,
            "ygap": gap,
            "hoverongaps": False,
        }
        trace |= _grey(kind.name.lower()) if kind else _scale(pane)
        if pane.texts and pane.single_texts and kind != CellKind.HIDDEN:
            if max(pane.shape) <= MOST_PRINTED:
                trace |= _printed(_only(pane.texts, here))
            if kind in (CellKind.SHOWN, CellKind.BROKEN):
                trace["hovertext"] = _only(pane.single_texts, here)
                trace["hovertemplate"] = _hover("%{hovertext}")
        data.append(trace)
    return {"data": data, "layout": _around(pane)}


def _grey(name: str) -> dict[str, Any]:
    """What tells the cells of a kind from the others."""
    return {
        "meta": name,
        "colorscale": LIGHT[name],
        "showscale": False,
        "hovertemplate": _hover(name),
    }


def _scale(pane: Pane) -> dict[str, Any]:
    """The colours of the numbers, and what they stand for."""
    return {
        "meta": pane.role,
        "zmin": pane.limits[0],
        "zmax": pane.limits[1],
        "colorscale": LIGHT[pane.role],
        "showscale": pane.has_bar,
        "colorbar": {
            "thickness": 8,
            "x": 1,
            "xpad": 10,
            "outlinewidth": 0,
            "tickfont": {"size": 11},
            "nticks": 5,
        },
        "hovertemplate": _hover(formatted("z", pane.digits)),
    }


def _printed(texts: list[list[str]]) -> dict[str, Any]:
    """The texts in the cells, in the ink that can be read on the colours of any page."""
    return {"text": texts, "texttemplate": "%{text}", "textfont": {"color": LIGHT["ink"]}}


def _only(texts: list[list[str]], where: np.ndarray) -> list[list[str]]:
    """The texts of these cells alone: each trace prints its own, so that none stands twice."""
    if where.all():
        return texts
    return [
        [text if here else "" for text, here in zip(*row, strict=True)]
        for row in zip(texts, where.tolist(), strict=True)
    ]


def _hover(said: str) -> str:
    """The template of a cell that is pointed at; Plotly writes whole categories for x and y."""
    return f"%{{y}} · %{{x}}<br><b>{said}</b><extra></extra>"


def formatted(numbers: str, digits: int) -> str:
    """Return what a template says of a number for which there is no text.

    It has ``digits`` and four more significant digits: Plotly cannot change between decimals and
    e-notation as our texts do.
    """
    return f"%{{{numbers}:.{digits + 4}~g}}"


# ---- labels --------------------------------------------------------------------------------------


def label(text: str) -> str:
    """A tick label: shortened, and escaped so that nothing typed comes alive."""
    return escape(shortened(text))


def escape(text: str) -> str:
    """Text that Plotly draws as typed: no markup, no template, no formula where MathJax is at hand.

    Nor a name that JavaScript gives to all its objects, nor one of the colours from #000001 on that
    Streamlit replaces by those of its theme, wherever they are in a figure. Plotly knows no &quot;,
    so quotation marks stay: in a text node they are harmless.

    >>> escape('<b> "$x$" %{y}'), escape("constructor")
    ('&lt;b&gt; "&#36;x&#36;" &#37;{y}', '&#99;onstructor')
    """
    if text in TAKEN:
        return f"&#{ord(text[0])};{text[1:]}"
    escaped = html.escape(text, quote=False).replace("$", "&#36;").replace("%{", "&#37;{")
    return escaped.replace("#0000", "&#35;0000")


@lru_cache(256)
def _categories(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The places of an axis; labels that repeat are numbered, as they would share a place."""
    return tuple(map(escape, distinct(labels)))


@lru_cache(256)
def _ticks(labels: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which places get a label, and the labels; the panes of a board share a few of these.

    The places by name: of a number Plotly would first look for the place that is called so.
    """
    step = -(-len(labels) // MOST_TICKS)
    return _categories(labels)[::step], tuple(map(label, distinct(labels)[::step]))


def length(labels: Iterable[str]) -> int:
    """How long the longest of these tick labels is drawn, in px, with the space beside it."""
    texts = (html.unescape(text) for text in labels)
    letters = (sum(1 + (east_asian_width(c) in "WF") for c in text) for text in texts)
    return int(max(letters, default=0) * CHARACTER[11]) + 10


# ---- what is around the cells --------------------------------------------------------------------


def _around(pane: Pane) -> dict[str, Any]:
    """Plotly's layout: size, title, labels and frames."""
    stage = STAGES.get(pane.stage or pane.name)
    row, column = pane.axes or (stage.sides if stage else ("", ""))
    width, height = _size(pane)
    return {
        "template": TEMPLATE,
        "font": {"family": FONT, "size": 12},
        "plot_bgcolor": LIGHT["paper"],  # between cells, whose colours are the same on any page
        "width": width,
        "height": height,
        "margin": {"l": EDGE, "r": EDGE, "t": EDGE, "b": EDGE, "pad": 0},
        "title": {
            "text": subscripts(escape(pane.title_line)),
            "font": {"size": 14},
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"l": EDGE, "t": EDGE, "b": 6},
            "automargin": True,
        },
        "xaxis": _axis(pane.columns, column, side="top"),
        "yaxis": _axis(pane.rows, row, autorange="reversed"),
        "shapes": [_frame(*mark, len(pane.columns)) for mark in pane.marks],
    }


def _size(pane: Pane) -> tuple[int, int]:
    """Width and height of a figure, in px; cells are as wide as their numbers need."""
    (rows, columns), longest = pane.shape, longest_text(pane)
    wide = min(columns * max(CELL, longest * DIGIT + 6), LARGEST)
    tall = min(rows * CELL, LARGEST)
    left, above = length(_ticks(pane.rows)[1]), length(_ticks(pane.columns)[1])
    labels = min(columns, MOST_TICKS)
    above = above if above > wide / max(labels, 1) else LINE  # upright where they need the room
    title = min(len(pane.title_line) * CHARACTER[14], WIDEST)
    width = max(left + LINE + wide + BAR, title)
    return int(width) + 2 * EDGE, int(tall + above + 2 * LINE) + 2 * EDGE


def longest_text(pane: Pane) -> int:
    """The letters of the longest number that is printed in a cell."""
    return max((len(text) for row in pane.texts or () for text in row), default=1)


def _axis(labels: tuple[str, ...], title: str, **options: Any) -> dict[str, Any]:
    places, texts = _ticks(labels)
    return {
        "type": "category",
        "title": {"text": subscripts(title), "standoff": 6, "font": {"size": 13}},
        "tickmode": "array",
        "tickvals": list(places),
        "ticktext": list(texts),
        "tickfont": {"size": 11},
        "autotickangles": [0, -90],
        "ticks": "",
        "ticklabelstandoff": 3,
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
        **options,
    }


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
