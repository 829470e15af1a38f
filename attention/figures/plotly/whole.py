"""A trace, or a diagnosis, as one Plotly figure, for notebooks and scripts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from attention.core.trace import AttentionTrace
from attention.explain.colours import LIGHT
from attention.explain.view import View
from attention.figures.panes.arguments import checked_digits, checked_title, chosen_stages, need
from attention.figures.panes.differing import panes_of
from attention.figures.panes.pane import Pane
from attention.figures.panes.panes import panes
from attention.figures.plotly.heatmap import (
    CHARACTER,
    escape,
    length,
    longest_text,
    stage_figure,
    to_plotly,
)
from attention.figures.plotly.long_map import long_figure
from attention.figures.plotly.theme import layout
from attention.frameworks.diagnosis.result import Diagnosis
from attention.long.attention import LongAttention
from attention.vocabulary.notation import subscripts

if TYPE_CHECKING:
    import plotly.graph_objects as go

CELL = 36  # px: a cell whose number can be read
SMALLEST, LARGEST = 8, 12  # px: the letters of a number in a cell
DIGIT = 0.58  # of a letter's size: how wide a digit is
MOST = 540  # px: the longest side of a pane
WIDEST = 1150  # px: a line of panes; what a notebook has room for
GAP, HEADING, EDGE = 30, 26, 12  # px: between panes; for the words above one; around all
CORNER, SMALL = 44, 9  # px: the room of what a row and a column are, and its letters


def figure(
    shown: AttentionTrace | Diagnosis | LongAttention,
    *,
    stages: Collection[str] | None = None,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    item: int = 0,
    head: int = 0,
    digits: int = 2,
    title: str = "",
) -> go.Figure:
    """The stages of a trace, or what a diagnosis found, as one Plotly figure.

    Parameters
    ----------
    shown : AttentionTrace, Diagnosis or LongAttention
        Of a trace the whole board; of a diagnosis ours, theirs and the difference, in the first
        stage that differs and in the numbers given; of a long attention its mean map, on axes of
        tokens, its colours by the logarithm: item, head and title hold.
    stages : names such as ``["scores", "weights"]``
        A single one is drawn large, with titled axes and the scale of its colours. Default: all
        that are there.
    tokens, key_tokens : n_q and n_k words, the labels of queries and keys
    item, head : counted from 0
        These four as in :meth:`attention.View.of`.
    digits : of the numbers printed in the cells, up to 24 rows and columns where there is room
    title : over the figure, of a single stage after its name; by default nothing, or of a captured
        layer which head it is

    Returns
    -------
    plotly.graph_objects.Figure
        The heatmaps' ``z`` are arrays of the trace's numbers, to the bit, NaN where a cell is
        hidden or not finite; those cells are heatmaps of their own.

    Raises
    ------
    ValueError, TypeError
        One sentence, where a stage is not there, the labels do not fit, or the stages hold more
        cells than a browser can draw.
    ModuleNotFoundError
        One sentence, where Plotly is not installed.

    >>> import numpy as np
    >>> from attention import self_attention
    >>> eye = np.eye(2)
    >>> drawn = figure(self_attention(eye, eye, eye, eye), stages=["weights"], tokens=["a", "b"])
    >>> [list(row) for row in drawn.data[0].text]
    [['0.67', '0.33'], ['0.33', '0.67']]
    >>> drawn.data[0].z.round(4)
    array([[0.6698, 0.3302],
           [0.3302, 0.6698]])
    """
    need("plotly", "figure")
    digits, title = checked_digits(digits), checked_title(title)
    if isinstance(shown, LongAttention):
        return long_figure(shown, item=item, head=head, title=title)
    if isinstance(shown, Diagnosis):
        found = panes_of(
            shown, item=item, head=head, tokens=tokens, key_tokens=key_tokens, digits=digits
        )
        cells = {pane.group: 3 * pane.values.size for pane in found}
        chosen = chosen_stages(stages, cells, "diagnosis")
        return whole_figure([pane for pane in found if pane.group in chosen], title)
    view = View.of(shown, tokens=tokens, key_tokens=key_tokens, item=item, head=head)
    chosen = chosen_stages(stages, {name: M.size for name, M in view.stages.items()}, "trace")
    title = title or (view.recorded.words(view.head_number) if view.recorded else "")
    return whole_figure(panes(view, digits=digits, only=chosen), title)


def whole_figure(panes: Sequence[Pane], title: str = "") -> go.Figure:
    """One figure with a subplot for each pane; a single pane as :func:`stage_figure` draws it.

    1. Each pane gets a slot: its cells, its labels at the left and above, and its heading.
    2. The slots of one group stand in one line, or in several where they are wider than a page.
    3. Every pane has axes of its own, so that each can be zoomed; the size follows the slots.
    """
    import plotly.graph_objects as go

    if len(panes) == 1:
        return stage_figure(replace(panes[0], title=title))
    lines = _lines_of_slots([_slot(pane) for pane in panes])
    top = EDGE + (34 if title else 0)
    width = 2 * EDGE + max(sum(s.width for s in line) + GAP * (len(line) - 1) for line in lines)
    height = top + sum(max(s.height for s in line) + GAP for line in lines) - GAP + EDGE
    data: list[dict[str, Any]] = []
    whole = layout(width=width, height=height, margin={"l": 0, "r": 0, "t": 0, "b": 0})
    whole |= {"annotations": [], "shapes": [], "showlegend": False, "paper_bgcolor": LIGHT["paper"]}
    if title:
        whole["title"] = {"text": escape(title), "x": 0.5, "y": 1 - 12 / height, "yanchor": "top"}
    y, number = top, 0
    for line in lines:
        x, above = EDGE, max(slot.above for slot in line)  # the cells of a line begin at one height
        for slot in line:
            number += 1
            _place(data, whole, slot, number, (x + slot.left, y + above))
            x += slot.width + GAP
        y += max(slot.height for slot in line) + GAP
    return go.Figure({"data": data, "layout": whole})


class _Slot(NamedTuple):
    """The room of a pane, in px."""

    pane: Pane
    figure: dict[str, Any]  # of the pane alone
    heading: str
    left: int  # for the labels of the rows
    above: int  # for the heading and the labels of the columns
    wide: int  # the cells
    tall: int
    turned: bool  # whether the labels of the columns stand upright
    width: int  # of all
    letters: int  # of the numbers in cells; 0 where there is no room for them

    @property
    def height(self) -> int:
        return self.above + self.tall


def _slot(pane: Pane) -> _Slot:
    """How much room a pane takes."""
    drawn, (rows, columns) = to_plotly(pane), pane.shape
    axes = drawn["layout"]
    wide, tall = _side(columns, int(longest_text(pane) * DIGIT * 10) + 6), _side(rows)
    left, longest = (length(axes[axis]["ticktext"]) for axis in ("yaxis", "xaxis"))
    left = max(left, CORNER) if pane.axes else left
    turned = longest > wide / max(len(axes["xaxis"]["ticktext"]), 1)
    above = HEADING + (longest if turned else 18)
    heading = " = ".join(filter(None, (pane.symbol, pane.formula)))
    letters = _letters(pane, wide, tall) if "text" in drawn["data"][0] else 0
    heading += "" if letters else " · in colours"
    width = max(left + wide, int(len(heading) * CHARACTER[13]))
    return _Slot(
        pane=pane,
        figure=drawn,
        heading=heading,
        left=left,
        above=above,
        wide=wide,
        tall=tall,
        turned=turned,
        width=width,
        letters=letters,
    )


def _side(cells: int, needed: int = 0) -> int:
    """Of as many cells; each as wide as its number needs, as far as there is room."""
    return min(cells * max(CELL, needed), MOST)


def _lines_of_slots(slots: Iterable[_Slot]) -> list[list[_Slot]]:
    """The slots by their groups; a new line where one would become too wide."""
    lines: list[list[_Slot]] = []
    for slot in slots:
        line = lines[-1] if lines else []
        room = sum(before.width + GAP for before in line) + slot.width <= WIDEST
        if line and room and line[-1].pane.group == slot.pane.group:
            line.append(slot)
        else:
            lines.append([slot])
    return lines


def _letters(pane: Pane, wide: int, tall: int) -> int:
    """Return one size for the numbers of all heatmaps of a pane; 0 where they are too small."""
    across, up = wide / len(pane.columns), tall / len(pane.rows)
    size = min(LARGEST, int((across - 4) / (DIGIT * longest_text(pane))), int(up - 4))
    return size if size >= SMALLEST else 0


def _place(
    data: list[dict[str, Any]],
    whole: dict[str, Any],
    slot: _Slot,
    number: int,
    cells: tuple[int, int],
) -> None:
    """Put a pane's heatmaps, axes, frames and heading into the whole; ``cells``: their corner."""
    (left, top), width, height = cells, whole["width"], whole["height"]
    axes, x, y = slot.figure["layout"], f"x{number}", f"y{number}"
    across = [left / width, (left + slot.wide) / width]
    up = [1 - (top + slot.tall) / height, 1 - top / height]
    for heatmap in slot.figure["data"]:
        printed: dict[str, Any] = {}
        if "text" in heatmap:
            ink = {"textfont": {**heatmap["textfont"], "size": slot.letters}}
            printed = ink if slot.letters else {"text": None, "texttemplate": None}
        data.append({**heatmap, **printed, "showscale": False, "xaxis": x, "yaxis": y})
    here = {"title": None, "automargin": False}  # the slot has its room, and says its axes
    turned = {"tickangle": -90 if slot.turned else 0}
    whole[f"xaxis{number}"] = {**axes["xaxis"], **here, **turned, "domain": across, "anchor": y}
    whole[f"yaxis{number}"] = {**axes["yaxis"], **here, "domain": up, "anchor": x}
    whole["shapes"] += [{**shape, "xref": x, "yref": y} for shape in axes["shapes"]]
    heading = f"<b>{subscripts(escape(slot.heading))}</b>"
    over = (left - slot.left) / width, 1 - (top - slot.above + HEADING) / height
    whole["annotations"].append(_note(heading, 13, *over, "left"))
    if slot.pane.axes:
        row, column = slot.pane.axes
        corner = (left - 5) / width, 1 - (top - 3) / height
        whole["annotations"].append(_note(f"{column} →<br>{row} ↓", SMALL, *corner, "right"))


def _note(text: str, letters: int, x: float, y: float, side: str) -> dict[str, Any]:
    """Words of the figure that end, or begin, above a point of it."""
    return {
        "text": text,
        "font": {"size": letters},
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": side,
        "yanchor": "bottom",
        "align": side,
        "borderpad": 0,
        "showarrow": False,
    }
