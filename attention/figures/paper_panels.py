"""What stands in a paper figure: panes of heatmaps, with the range of their colours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from attention.colours import around_zero
from attention.figures.heatmap import unpack
from attention.paper import DIVERGING, Paper
from attention.stages import STAGES
from attention.view import View, distinct

FAINTEST = 1e-6  # of the highest: what a logarithmic range reaches down to


class Scale(NamedTuple):
    """What the colours say; neighbours with the same have one bar."""

    low: float
    high: float
    colours: str
    logarithmic: bool = False
    extend: str = "neither"  # which of its ends numbers go beyond: min, max, both


class Panel:
    """One matrix with its words: a stage of one head, or what is compared with it."""

    def __init__(self, pane: Mapping[str, Any], heading: str, paper: Paper) -> None:
        main, *others = pane["figure"]["data"]  # the cells of one kind each: shown, hidden, broken
        self.name, self.heading = pane["name"], heading
        self.group = pane["group"]  # panels of one stand in a line where there is room
        # (rows, columns), masked where the colour does not say the number
        self.values = np.ma.masked_invalid(unpack(main["z"]))
        self.hidden = np.zeros(self.values.shape, bool)  # where the mask hides
        for one in others:
            if one["meta"] == "hidden":
                self.hidden = ~np.isnan(unpack(one["z"]))
        # (rows, columns), the numbers as the screen prints them; empty for very many
        printed = [one["text"] for one in (main, *others) if "text" in one]
        self.texts = np.array(printed or [[[]]], dtype=object).sum(axis=0)
        self.labels: tuple[tuple[str, ...], tuple[str, ...]] = pane["rows"], pane["columns"]
        self.titles = _titles(self.name, paper)  # of both axes
        self.rows = self.titles[0], self.labels[0]  # which neighbours may share
        self.scale = Scale(main["zmin"], main["zmax"], main["meta"])  # its own, on the screen


def plain(view: View, *words: Sequence[str] | None) -> View:
    """The view with these words as they are, those that repeat too."""
    typed = {distinct(some): some for some in map(tuple, filter(None, words))}
    labels = {axis: typed.get(found, found) for axis, found in view.labels.items()}
    return replace(view, labels=labels)


def panels_of(
    panes: Sequence[Mapping[str, Any]], headings: Sequence[str], paper: Paper
) -> list[Panel]:
    """The panes of a page as panels; what can be compared has one range of colours."""
    headings = lettered(headings, paper)
    found = [Panel(*both, paper) for both in zip(panes, headings, strict=True)]
    compared: dict[object, list[Panel]] = {}
    for panel in found:  # a stage of all heads, or what a page shows beside it
        compared.setdefault(panel.name if panel.name in STAGES else panel.scale, []).append(panel)
    for together in compared.values():
        scale = _scale(together, paper)
        for panel in together:
            panel.scale = scale
    return found


def _titles(name: str, paper: Paper) -> tuple[str, str]:
    """What the rows and the columns of a stage are."""
    if name not in STAGES or not paper.axis_titles:
        return "", ""
    stage, words = STAGES[name], {"queries": "token", "keys": "token"}  # of the inputs
    if stage.group != "inputs":
        words = {"queries": clean(paper.query), "keys": clean(paper.key), "sum": ""}
    rows, columns = (words.get(axis, subscripted(axis)) for axis in (stage.rows, stage.columns))
    return rows, columns


def _scale(panels: list[Panel], paper: Paper) -> Scale:
    """The colours of panels that are compared."""
    shown = np.concatenate([panel.values.compressed() for panel in panels])
    least, most = (shown.min(), shown.max()) if shown.size else (0.0, 0.0)
    low = min(panel.scale.low for panel in panels)
    high = max(panel.scale.high for panel in panels)
    if paper.limits == "own":
        low, high = paper.lowest, paper.highest
    elif paper.limits == "data" and shown.size:
        low, high = least, most
    is_log = paper.logarithmic and least >= 0 < most and high > 0
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


def clean(text: str) -> str:
    """Text as Matplotlib prints it, with nothing in it read as a formula or unfit for a file."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)  # halves of letters
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).replace("$", r"\$")


def subscripted(name: str) -> str:
    """A name of ours with its index set low, in Matplotlib's words for formulas."""
    return re.sub(r"\b([A-Za-z])(?:_|<sub>)(\w+)(?:</sub>)?", r"\1$_{\\mathregular{\2}}$", name)


def lettered(headings: Sequence[str], paper: Paper) -> list[str]:
    """Our headings with (a), (b) … (z), (aa), (ab) … before them, where there are several."""
    headings = [subscripted(heading) for heading in headings]
    if not paper.letters or len(headings) < 2:
        return headings
    letters = (f"({a}{b})" for a in ("", *ascii_lowercase) for b in ascii_lowercase)
    return [f"{next(letters)} {heading}".strip() for heading in headings]
