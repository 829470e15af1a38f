"""All panes of a board as one Plotly figure, for notebooks and scripts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from attention.colours import LIGHT
from attention.figures.heatmap import escape, subscripts
from attention.figures.panes import Pane, panes
from attention.figures.theme import layout
from attention.limits import MAX_DRAWN
from attention.stages import STAGES
from attention.trace import AttentionTrace
from attention.view import View

if TYPE_CHECKING:
    import plotly.graph_objects as go

CELL = 34  # px: a cell whose number can be read
LEAST, MOST = 110, 420  # px: the sides of a pane
ALONE = 640  # px: what a single pane may take
GAP, HEAD, LABELS = 34, 58, 62  # px: between panes; above one; left of one


def figure(
    trace: AttentionTrace,
    *,
    stages: Collection[str] | None = None,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    item: int = 0,
    head: int = 0,
    digits: int = 2,
    title: str = "",
) -> go.Figure:
    """The stages of a trace as one Plotly figure: the whole board, or one stage large.

    Parameters
    ----------
    trace : AttentionTrace
    stages : names such as ``["scores", "weights"]``; default: every stage the trace has
    tokens, key_tokens, item, head :
        As in :meth:`attention.view.View.of`.
    digits : of the numbers printed in the cells, where there is room

    Raises
    ------
    ValueError
        One sentence, where a stage is not there, the labels do not fit, or the stages hold more
        cells than a browser can draw.
    """
    view = View.of(trace, tokens=tokens, key_tokens=key_tokens, item=item, head=head, context=True)
    if stages is None:
        chosen = [name for name in view.stages if name != "context"]
    else:
        chosen = [stages] if isinstance(stages, str) else list(stages)
    for name in chosen:
        if name not in view.stages:
            why = "this trace does not have it" if name in STAGES else "there is no such stage"
            raise ValueError(f"stages names {name!r}; {why}: {', '.join(view.stages)} are there.")
    cells = sum(view.stages[name].size for name in chosen)
    if cells > MAX_DRAWN:
        raise ValueError(
            f"these stages hold {cells:,} cells; at most {MAX_DRAWN:,} can be drawn."
            " Choose fewer stages."
        )
    shown = [pane for pane in panes(view, digits=digits) if pane["name"] in chosen]
    return whole_figure(shown, title)


def whole_figure(panes: list[Pane], title: str = "") -> go.Figure:
    """One figure with a subplot for each pane, those of one group in one row.

    Every pane has axes of its own, so that each can be zoomed; the size follows the cells.
    """
    import plotly.graph_objects as go

    rows = _rows(panes)
    width = max(sum(_width(p, panes) + LABELS + GAP for p in row) for row in rows)
    heights = [max(_height(p, panes) for p in row) for row in rows]
    top = 40 if title else 0
    height = sum(heights) + len(rows) * (HEAD + GAP) + top
    data: list[dict[str, Any]] = []
    shown = layout(width=width, height=height, margin={"l": 0, "r": 0, "t": 0, "b": 0})
    shown |= {"annotations": [], "shapes": [], "showlegend": False, "paper_bgcolor": LIGHT["paper"]}
    if title:
        shown["title"] = {"text": escape(title), "x": 0.5, "y": 1 - 20 / height, "yanchor": "top"}
    k, y = 0, height - top
    for row, tall in zip(rows, heights, strict=True):
        x = 0
        for pane in row:
            k += 1
            x += LABELS
            box = (x, y - HEAD - _height(pane, panes), _width(pane, panes), _height(pane, panes))
            _place(data, shown, pane, k, box, (width, height))
            x += box[2] + GAP
        y -= tall + HEAD + GAP
    return go.Figure({"data": data, "layout": shown})


def _rows(panes: list[Pane]) -> list[list[Pane]]:
    """The panes by their group, in the order in which the groups come."""
    groups: dict[str, list[Pane]] = {}
    for pane in panes:
        groups.setdefault(pane["group"], []).append(pane)
    return list(groups.values())


def _width(pane: Pane, panes: list[Pane]) -> int:
    return _side(len(pane["columns"]), len(panes))


def _height(pane: Pane, panes: list[Pane]) -> int:
    return _side(len(pane["rows"]), len(panes))


def _side(cells: int, panes: int) -> int:
    return min(max(cells * CELL, LEAST), ALONE if panes == 1 else MOST)


def _place(
    data: list[dict[str, Any]],
    whole: dict[str, Any],
    pane: Pane,
    k: int,
    box: tuple[int, int, int, int],
    size: tuple[int, int],
) -> None:
    """Put one pane's traces, axes, frames and heading into the whole; ``box``: left, bottom, sides."""
    (left, bottom, wide, tall), (width, height) = box, size
    figure = pane["figure"]
    x, y = f"x{k}", f"y{k}"
    across = [left / width, (left + wide) / width]
    up = [bottom / height, (bottom + tall) / height]
    for trace in figure["data"]:
        data.append({**trace, "xaxis": x, "yaxis": y, "showscale": False})
    axes = figure["layout"]
    whole[f"xaxis{k}"] = {**axes["xaxis"], "domain": across, "anchor": y}
    whole[f"yaxis{k}"] = {**axes["yaxis"], "domain": up, "anchor": x}
    whole["shapes"] += [{**shape, "xref": x, "yref": y} for shape in axes.get("shapes", ())]
    heading = " = ".join(filter(None, (pane["symbol"], pane["formula"])))
    whole["annotations"].append(
        {
            "text": f"<b>{subscripts(escape(heading))}</b>",
            "x": across[0],
            "y": up[1],
            "yshift": 22,
            "xref": "paper",
            "yref": "paper",
            "xanchor": "left",
            "yanchor": "bottom",
            "showarrow": False,
        }
    )
