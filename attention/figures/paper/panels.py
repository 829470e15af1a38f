"""The panels of a paper figure: what a page shows, with titles and the range of its colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from attention.explain.colours import FAINTEST, around_zero
from attention.figures.panes.pane import CellKind, Pane
from attention.figures.paper.text import clean, subscripted
from attention.figures.plotly.charts import Chart
from attention.paper import DIVERGING, Paper
from attention.vocabulary.numbers import number
from attention.vocabulary.stages import STAGES

OnPanel = Callable[[int, int], object]  # is told of each panel that is drawn: its number, of all


class Scale(NamedTuple):
    """What the colours say; neighbours with the same have one bar."""

    low: float
    high: float
    colours: str
    logarithmic: bool = False
    extend: str = "neither"  # which of its ends numbers go beyond: min, max, both


class Panel:
    """One matrix with its words: a stage of one head, or what is compared with it."""

    def __init__(self, pane: Pane, heading: str, paper: Paper) -> None:
        self.name, self.heading = pane.stage or pane.name, heading
        self.label = pane.name  # of its axes in the figure
        self.group = pane.group  # panels of one stand in a line where there is room
        self.is_side = bool(pane.stage)  # one of several of a stage, whose name is another
        self.is_attention = self.group.endswith("attention")
        # (rows, columns), masked where the colour does not say the number
        self.values = np.ma.array(pane.values, mask=pane.kinds != CellKind.SHOWN)
        self.hidden = pane.kinds == CellKind.HIDDEN
        # (rows, columns), the numbers as the screen prints them; empty for very many
        self.texts = np.array(pane.texts or [[]], dtype=object)
        self.numbers = pane.values  # of texts
        self.is_rounded = False  # whether tiny numbers lost digits for want of room
        self.labels: tuple[tuple[str, ...], tuple[str, ...]] = pane.rows, pane.columns
        self.titles = _titles(self.name, paper)  # of both axes
        self.rows = self.titles[0], self.labels[0]  # which neighbours may share
        self.scale = Scale(*pane.limits, pane.role)  # its own, on the screen

    def shorten(self) -> None:
        """Write tiny numbers with the decimals of the others, or as ≈0."""
        for place, text in np.ndenumerate(self.texts):
            mantissa, is_tiny, _ = text.partition("e−")
            if is_tiny:
                digits = sum(map(str.isdigit, mantissa))
                shorter = number(float(self.numbers[place]), digits, least=1)
                self.texts[place] = "≈0" if "e−" in shorter else shorter
                self.is_rounded = True


def panels_of(panes: Sequence[Pane], paper: Paper) -> list[Panel]:
    """The panes of a page as panels; what can be compared has one range of colours."""
    headings = headings_of(panes, paper)
    found = [Panel(*both, paper) for both in zip(panes, headings, strict=True)]
    compared: dict[object, list[Panel]] = {}
    for panel in found:  # a stage of all heads, its sides without their difference, or frameworks
        of: object = panel.name if panel.name in STAGES else panel.scale
        compared.setdefault((of, panel.scale) if panel.is_side else of, []).append(panel)
    for together in compared.values():
        scale = scale_of(together, paper)
        for panel in together:
            panel.scale = scale
    return found


def _titles(name: str, paper: Paper) -> tuple[str, str]:
    """What the rows and the columns of a stage are."""
    if name not in STAGES or not paper.axis_titles:
        return "", ""
    words = {"query": clean(paper.query), "key": clean(paper.key)}
    rows, columns = (words.get(side, subscripted(side)) for side in STAGES[name].sides)
    return rows, columns


def scale_of(panels: Sequence[Any], paper: Paper) -> Scale:
    """The colours of panels that are compared."""
    shown = np.concatenate([panel.values.compressed() for panel in panels])
    stage = min(panel.scale.low for panel in panels), max(panel.scale.high for panel in panels)
    least, most = (shown.min(), shown.max()) if shown.size else stage
    ranges = {"stage": stage, "data": (least, most), "own": (paper.lowest, paper.highest)}
    low, high = ranges[paper.limits]
    is_log = paper.logarithmic and shown.size and least >= 0 < most and high > 0
    is_share = panels[0].scale.colours == "share"
    colours = paper.shares if is_share or is_log else paper.signs
    if is_log and (paper.limits != "own" or low <= 0):
        low = max(float(shown[shown > 0].min()), FAINTEST * high)
    elif colours == DIVERGING:
        low, high = around_zero(max(-low, high))
    if low >= high:
        low, high = (high / 10, high) if is_log else (low - 0.5, low + 0.5)
    extend = ("neither", "min", "max", "both")[(least < low) + 2 * (most > high)]
    return Scale(float(low), float(high), colours, bool(is_log), extend)


def title_of(pane: Pane | Chart, panes: Sequence[Pane | Chart]) -> str:
    """What a pane shows, in words that hold without the panes around it."""
    if pane.heading is not None:
        return pane.heading
    others = (other.symbol for other in panes if other.group == pane.group)
    whose = next(filter(None, others), "")
    return pane.symbol or ", ".join(filter(None, (pane.sentence, whose)))


def headings_of(panes: Sequence[Pane | Chart], paper: Paper) -> list[str]:
    """Their titles with (a), (b) … (z), (aa), (ab) … before them, where there are several."""
    titles = [subscripted(title_of(pane, panes)) for pane in panes]
    if not paper.letters or len(titles) < 2:
        return titles
    letters = (f"({a}{b})" for a in ("", *ascii_lowercase) for b in ascii_lowercase)
    return [f"{next(letters)} {title}".strip() for title in titles]
