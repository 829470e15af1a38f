"""What stands in a paper figure: which stages of which heads, and the range of their colours."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attention.colours import around_zero, colour_limits, hidden_cells
from attention.figures.whole import chosen_stages
from attention.limits import MAX_PRINTED, BadInput
from attention.numbers import number, rounded
from attention.paper import DIVERGING, Paper
from attention.stages import STAGES
from attention.view import WITHOUT_HEADS, View

SHARED = (*WITHOUT_HEADS, "W_O")  # stages of all heads together
NOT_FINITE = {"−∞": -np.inf, "∞": np.inf, "NaN": np.nan}  # as they are printed
FAINTEST = 1e-6  # of the highest: what a logarithmic range reaches down to


@dataclass(frozen=True)
class Scale:
    """What the colours say; neighbours with the same have one bar."""

    low: float
    high: float
    colours: str
    logarithmic: bool


@dataclass(frozen=True, eq=False)
class Panel:
    """One matrix with its words: a stage of one head, or what is compared with it."""

    name: str
    matrix: np.ndarray  # (rows, columns)
    hidden: np.ndarray  # (rows, columns), True where the mask hides
    rows: tuple[str, ...]  # labels
    columns: tuple[str, ...]
    titles: tuple[str, str]  # of both axes; dimensions by their name, such as d_k
    group: tuple[int, str]  # panels of one may stand in a line: its head, and what it belongs to
    heading: str
    scale: Scale

    @cached_property
    def shown(self) -> np.ndarray:
        """(rows, columns), True where the colour says the number."""
        return np.isfinite(self.matrix) & ~self.hidden

    @cached_property
    def beyond(self) -> tuple[bool, bool]:
        """Whether numbers lie below and above the range."""
        values = self.matrix[self.shown]
        return bool((values < self.scale.low).any()), bool((values > self.scale.high).any())

    def texts(self, digits: int) -> list[list[str]]:
        """The numbers of the cells; one too small for its digits takes no more room than others."""
        texts = rounded(self.matrix, digits)
        for i, j in np.argwhere((np.abs(self.matrix) < 1) & (self.matrix != 0)).tolist():
            if "e" in texts[i][j]:
                texts[i][j] = number(self.matrix[i, j], 1)
        return texts


def panels_of(views: Sequence[View], stages: Collection[str] | None, paper: Paper) -> list[Panel]:
    """A panel for each stage of each head, head by head; what all heads share comes once."""
    if not views:
        raise BadInput("heads names none; at least one is wanted.")
    there = {name: matrix.size for name, matrix in views[0].stages.items()}
    chosen = chosen_stages(stages, there, "trace")
    kept = [
        (name, view)
        for view in views
        for name in view.stages
        if name in chosen and (name not in SHARED or view is _holder(name, views))
    ]
    cells = sum(view.stages[name].size for name, view in kept)
    if cells > MAX_PRINTED:
        raise BadInput(
            f"these panels hold {cells:,} cells; at most {MAX_PRINTED:,} can be printed."
            " Choose fewer stages or heads, or trace fewer tokens."
        )
    scales = {name: _scale(name, views, paper) for name in chosen}
    headings = [_heading(name, view, len(views), scales) for name, view in kept]
    return [
        Panel(
            name,
            view.stages[name],
            _hidden(view, name),
            view.rows(name),
            view.columns(name),
            _titles(name, paper),
            (view.head, STAGES[name].group),
            heading,
            scales[name],
        )
        for heading, (name, view) in zip(lettered(headings, paper), kept, strict=True)
    ]


def panels_from(panes: Sequence[Mapping[str, Any]], paper: Paper) -> list[Panel]:
    """The heatmaps of a page as panels, each with its own range of colours."""
    headings = lettered([with_subscripts(title_of(pane, panes)) for pane in panes], paper)
    return [
        _panel(pane, title_of(pane, panes), heading, paper)
        for pane, heading in zip(panes, headings, strict=True)
    ]


def title_of(pane: Mapping[str, Any], panes: Sequence[Mapping[str, Any]]) -> str:
    """What a pane shows, in words that hold without the panes around it."""
    others = (other["symbol"] for other in panes if other["group"] == pane["group"])
    whose = next(filter(None, others), "")
    return str(pane["symbol"]) or ", ".join(filter(None, (pane["sentence"], whose)))


def _panel(pane: Mapping[str, Any], name: str, heading: str, paper: Paper) -> Panel:
    main, *others = pane["figure"]["data"]
    matrix = unpacked(main["z"]).copy()
    hidden = np.zeros(matrix.shape, bool)
    for other in others:  # cells that the mask hides, or whose numbers are not finite
        values = unpacked(other["z"])
        there = ~np.isnan(values)
        hidden |= there & (other["meta"] == "hidden")
        texts = np.array(other.get("text", np.full(matrix.shape, "")))
        for text, value in NOT_FINITE.items():
            values = np.where(texts == text, value, values)
        matrix[there] = values[there]
    colours = paper.shares if main["meta"] == "share" else paper.signs
    scale = Scale(main["zmin"], main["zmax"], colours, False)
    labels = pane["rows"], pane["columns"]
    return Panel(name, matrix, hidden, *labels, ("", ""), (0, pane["group"]), heading, scale)


def unpacked(packed: dict[str, Any]) -> np.ndarray:
    """The inverse of :func:`attention.figures.heatmap.pack`."""
    shape = [int(side) for side in packed["shape"].split(",")]
    return np.frombuffer(base64.b64decode(packed["bdata"]), "<f8").reshape(shape)


def _hidden(view: View, name: str) -> np.ndarray:
    found = hidden_cells(view, name)
    return np.zeros(view.stages[name].shape, bool) if found is None else found


def _titles(name: str, paper: Paper) -> tuple[str, str]:
    """What the rows and the columns of a stage are, in the words of the paper."""
    stage = STAGES[name]
    words = {"queries": paper.query, "keys": paper.key, "sum": ""}
    if stage.group == "inputs":
        words = {"queries": "token", "keys": "token", "sum": ""}
    rows, columns = (words.get(axis, axis) for axis in (stage.rows, stage.columns))
    return rows, columns


def _holder(name: str, views: Sequence[View]) -> View:
    """Beside which head a stage of all heads stands: inputs at the first, answers at the last."""
    return views[0 if STAGES[name].group == "inputs" else -1]


def _heading(name: str, view: View, heads: int, names: Collection[str]) -> str:
    """What tells a panel from the others: its stage, its head, or both."""
    head = f"head {view.head + 1}" if view.heads > 1 and name not in SHARED else ""
    if len(names) == 1:
        return head
    heading = with_subscripts(STAGES[name].heading)
    return f"{heading}, {head}" if head and heads > 1 else heading


def with_subscripts(name: str) -> str:
    """A name of ours with its index set low, in Matplotlib's words for formulas."""
    return re.sub(r"\b([A-Za-z])_(\w+)", r"\1$_{\\mathregular{\2}}$", name)


def lettered(headings: Sequence[str], paper: Paper) -> list[str]:
    """The headings with (a), (b) … (z), (aa), (ab) … before them, where there are several."""
    if not paper.letters or len(headings) < 2:
        return list(headings)
    ones = [chr(ord("a") + k) for k in range(26)]
    letters = (f"({a}{b})" for a in ("", *ones) for b in ones)
    return [f"{next(letters)} {heading}".strip() for heading in headings]


def _scale(name: str, views: Sequence[View], paper: Paper) -> Scale:
    """The same range for all heads."""
    usual = [colour_limits(view)[name] for view in views]
    colours = paper.shares if set(usual) == {(0, 1)} else paper.signs
    found = [(view.stages[name], _hidden(view, name)) for view in views]
    values = np.concatenate([M[np.isfinite(M) & ~hidden] for M, hidden in found], dtype=np.float64)
    if paper.limits == "stage":
        low, high = min(low for low, _ in usual), max(high for _, high in usual)
    elif paper.limits == "data":
        low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
        if colours == DIVERGING:
            low, high = around_zero(max(-low, high))
        elif low == high:
            low, high = low - 0.5, high + 0.5
    else:
        low, high = (float(limit) for limit in paper.limits)
    if paper.logarithmic:
        low = _logarithmic(name, values, low, high, paper)
    elif colours == DIVERGING and low != -high:
        most = max(-low, high)
        raise BadInput(
            f"limits is {paper.limits!r}; {DIVERGING} has 0 in its middle and wants"
            f" ({-most:g}, {most:g}), or choose other colours for signs."
        )
    return Scale(float(low), float(high), colours, paper.logarithmic)


def _logarithmic(name: str, values: np.ndarray, low: float, high: float, paper: Paper) -> float:
    """Where a logarithmic range begins, or one sentence."""
    if (values < 0).any():
        raise BadInput(
            f"{name} has numbers below 0; a logarithmic range wants numbers above it, as the"
            " weights are."
        )
    if isinstance(paper.limits, str):
        return max(float(values[values > 0].min(initial=high / 10)), FAINTEST * high)
    if low <= 0:
        raise BadInput(f"limits is {paper.limits!r}; a logarithmic range begins above 0.")
    return low
