"""One figure for paper or slide: a stage, or all of them line by line, at a chosen width, with title and caption."""

from __future__ import annotations

import copy
import math
import unicodedata
from dataclasses import dataclass
from itertools import groupby

from attention.figures.heatmap import escape, subscripts
from attention.figures.theme import PALETTES

CM, POINT = 96 / 2.54, 96 / 72  # pixels, as CSS counts them
SANS = "Arial, Helvetica, sans-serif"  # a file has no web fonts
WIDEST_STRETCH = 1.5  # of cells, so that the lines of a sheet fill it
ROW = 1.9  # height of a cell, in em
TALLEST = 45.0  # a heatmap without numbers, in em


@dataclass(frozen=True)
class Sheet:
    """How a figure is to be set: sizes as in a paper, words as a person typed them."""

    width_cm: float = 17.0
    font_pt: float = 9.0
    mode: str = "light"
    title: str = ""
    caption: str = ""

    @property
    def width(self) -> float:
        return self.width_cm * CM

    @property
    def em(self) -> float:
        return self.font_pt * POINT


@dataclass
class Place:
    """One heatmap on the sheet; lengths in pixels."""

    pane: dict
    rows: int
    columns: int
    left: float  # room for the labels of the rows
    top: float  # and of the columns
    upright: bool  # labels of the columns are turned
    cell: float  # width
    height: float  # of a cell
    printed: bool  # whether numbers stand in the cells
    bar: float  # room for a colour bar
    x: float = 0.0  # where its cells begin
    y: float = 0.0
    head: float = 0.0  # where its formula stands

    @property
    def width(self) -> float:
        return self.left + self.columns * self.cell + self.bar


def compose(panes: list[dict], sheet: Sheet) -> dict:
    """A Plotly figure of these panes, as a dict, ``layout.width`` pixels wide; its height follows from what is on it.

    Panes with rows and columns are heatmaps and stand line by line, each group on lines of its own. A chart
    stands alone.
    """
    if "rows" not in panes[0]:
        return _chart(panes[0], sheet)
    em, room = sheet.em, sheet.width - 1.2 * sheet.em
    places = [_measured(pane, room, em, alone=len(panes) == 1) for pane in panes]
    lines = _broken(places, room, em)
    _stretch(lines, room, em, most=4.0 if len(panes) == 1 else WIDEST_STRETCH)
    words, y = _words(sheet, 0.6 * em)
    for line in lines:
        x, head = 0.6 * em, y + 0.3 * em
        y = head + 1.4 * em + max(place.top for place in line)
        for place in line:
            place.x, place.y, place.head = x + place.left, y, head
            x += place.width + _gap(em)
        y += max(place.rows * place.height for place in line) + 1.1 * em
    note, height = _caption(sheet, y)
    figure = {"data": [], "layout": _layout(sheet, height)}
    for k, place in enumerate(places, 1):
        _add(figure, place, k, sheet, height)
    figure["layout"]["annotations"] += [_annotation(sheet, height, *word) for word in words + note]
    return figure


# ---- where everything stands ----------------------------------------------------------------------------


def length(text: str, em: float) -> float:
    """About how wide a text is drawn."""
    return em * sum(_letter(c) for c in text)


def _letter(c: str) -> float:
    if unicodedata.combining(c) or unicodedata.category(c) == "Cf":
        return 0
    if unicodedata.east_asian_width(c) in "WF":
        return 1.05
    return 0.72 if c.isupper() or c in "mwMW…→" else 0.3 if c in "iljft.,:;|' " else 0.57


def _measured(pane: dict, room: float, em: float, alone: bool) -> Place:
    figure = pane["figure"]
    layout, small = figure["layout"], 0.9 * em
    rows, columns = map(int, figure["data"][0]["z"]["shape"].split(", "))
    left = max((length(_text(t), small) for t in layout["yaxis"]["ticktext"]), default=0) + 0.7 * em
    heads = max((length(_text(t), small) for t in layout["xaxis"]["ticktext"]), default=0)
    texts = [t for trace in figure["data"] for row in trace.get("text", ()) for t in row if t]
    wanted = max((length(t, small) for t in texts), default=0) + 0.7 * em
    bar = 4.2 * em if alone else 0.0
    cell = max(wanted, 2.2 * em)
    printed = bool(texts) and left + columns * cell + bar <= room
    if not printed:
        bar = 4.2 * em
        cell = min(cell, (room - left - bar) / columns)
    height = ROW * em if printed else min(ROW * em, max(cell, 0.2 * em), TALLEST * em / rows)
    step = (layout["xaxis"]["tickvals"][1:] or [1])[0]
    upright = heads + 0.3 * em > cell * step
    return Place(
        pane, rows, columns, left, (heads + 0.6 * em) if upright else 1.5 * em, upright, cell, height, printed, bar
    )


def _gap(em: float) -> float:
    return 1.4 * em


def _broken(places: list[Place], room: float, em: float) -> list[list[Place]]:
    """Lines of places: new ones for each group, as few as there is room for, and about equally long."""
    lines = []
    for _, group in groupby(places, lambda place: place.pane["group"]):
        group = list(group)
        best = _filled(group, room, em)
        for narrower in range(95, 20, -5):
            found = _filled(group, room * narrower / 100, em)
            if len(found) > len(best):
                break
            best = found
        lines += best
    return lines


def _filled(group: list[Place], room: float, em: float) -> list[list[Place]]:
    lines: list[list[Place]] = [[]]
    for place in group:
        if lines[-1] and sum(other.width + _gap(em) for other in lines[-1]) + place.width > room:
            lines.append([])
        lines[-1].append(place)
    return lines


def _stretch(lines: list[list[Place]], room: float, em: float, most: float) -> None:
    """Widen the cells, all by one factor, until the fullest line fills the sheet."""
    factor = most
    for line in lines:
        cells = sum(place.columns * place.cell for place in line)
        rest = sum(place.left + place.bar for place in line) + _gap(em) * (len(line) - 1)
        factor = min(factor, (room - rest) / cells)
    for line in lines:
        for place in line:
            place.cell *= max(factor, 1.0)


def _words(sheet: Sheet, y: float) -> tuple[list, float]:
    """The title as annotations, and where the figure begins below it."""
    lines = wrapped(sheet.title, sheet.width - 1.2 * sheet.em, 1.25 * sheet.em)
    words = [
        (f"<b>{escape(line)}</b>", 0.6 * sheet.em, y + k * 1.6 * sheet.em, 1.25, 0) for k, line in enumerate(lines)
    ]
    return words, y + len(lines) * 1.6 * sheet.em


def _caption(sheet: Sheet, y: float) -> tuple[list, float]:
    lines = wrapped(sheet.caption, sheet.width - 1.2 * sheet.em, sheet.em)
    words = [(escape(line), 0.6 * sheet.em, y + k * 1.35 * sheet.em, 1.0, 0) for k, line in enumerate(lines)]
    return words, y + len(lines) * 1.35 * sheet.em + (0.5 * sheet.em if lines else 0)


def wrapped(text: str, room: float, em: float) -> list[str]:
    """A text in lines that fit; a word too long for any line is cut."""
    lines: list[str] = []
    for word in text.split():
        while length(word, em) > room:
            cut = max(next((k for k in range(1, len(word)) if length(word[: k + 1], em) > room), 1), 1)
            lines.append(word[:cut])
            word = word[cut:]
        if lines and length(f"{lines[-1]} {word}", em) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


# ---- the figure -----------------------------------------------------------------------------------------


def _layout(sheet: Sheet, height: float) -> dict:
    palette = PALETTES[sheet.mode]
    return {
        "width": round(sheet.width),
        "height": math.ceil(height),
        "font": {"family": SANS, "size": 0.9 * sheet.em, "color": palette["ink"]},
        "paper_bgcolor": palette["paper"],
        "plot_bgcolor": palette["paper"],
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "autoexpand": False},
        "showlegend": False,
        "annotations": [],
        "shapes": [],
    }


def _add(figure: dict, place: Place, k: int, sheet: Sheet, height: float) -> None:
    """A heatmap in its place, with its axes, its marks and its formula above."""
    palette, layout, em = PALETTES[sheet.mode], figure["layout"], sheet.em
    source, x, y = place.pane["figure"], f"x{k}", f"y{k}"
    right, bottom = place.x + place.columns * place.cell, place.y + place.rows * place.height
    for trace in source["data"]:
        figure["data"].append(_coloured(trace, palette, em, place.printed) | {"xaxis": x, "yaxis": y})
    main = figure["data"][-len(source["data"])]
    main["showscale"] = place.bar > 0
    main["colorbar"] = {
        "x": (right + 0.6 * em) / layout["width"], "xanchor": "left", "y": 1 - place.y / height, "yanchor": "top",
        "len": max(place.rows * place.height, 4 * em), "lenmode": "pixels", "thickness": 0.7 * em, "outlinewidth": 0, "nticks": 4,
        "ypad": 0, "tickfont": {"size": 0.8 * em},
    }  # fmt: skip
    labels = {
        "tickmode": "array",
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
        "tickfont": {"size": 0.9 * em},
        "ticklabelstandoff": round(0.3 * em),
    }
    layout[f"xaxis{k}"] = labels | _tick(source["layout"]["xaxis"]) | {
        "domain": [place.x / layout["width"], right / layout["width"]], "anchor": y, "side": "top",
        "range": [-0.5, place.columns - 0.5], "tickangle": -90 if place.upright else 0,
    }  # fmt: skip
    layout[f"yaxis{k}"] = labels | _tick(source["layout"]["yaxis"], math.ceil(1.1 * em / place.height)) | {
        "domain": [1 - bottom / height, 1 - place.y / height], "anchor": x, "range": [place.rows - 0.5, -0.5],
    }  # fmt: skip
    for shape in source["layout"]["shapes"]:
        line = shape["line"] | {"color": palette[shape["name"]]}
        layout["shapes"].append(shape | {"xref": x, "yref": y, "line": line})
    symbol, formula = (subscripts(escape(place.pane[word])) for word in ("symbol", "formula"))
    above = f"<b>{symbol}</b>" + (
        f" = {formula}"
        if formula and length(place.pane["symbol"] + place.pane["formula"], em) + 2.5 * em < place.width
        else ""
    )
    layout["annotations"].append(_annotation(sheet, height, above, place.x - place.left, place.head, 1.0, 0))


def _coloured(trace: dict, palette: dict, em: float, printed: bool) -> dict:
    """A trace in the colours of the sheet, with its numbers or without."""
    found = {
        key: value for key, value in trace.items() if key not in ("text", "texttemplate", "textfont", "hovertemplate")
    }
    found |= {"colorscale": palette[trace["meta"]], "hoverinfo": "skip"}
    if printed and "text" in trace:
        found |= {
            "text": trace["text"],
            "texttemplate": "%{text}",
            "textfont": {"size": 0.9 * em, "color": palette["ink"]},
        }
    return found


def _tick(axis: dict, least: int = 1) -> dict:
    """The labels of an axis, thinned where the cells are lower than a line of text."""
    step = (axis["tickvals"][1:] or [1])[0]
    every = max(math.ceil(least / step), 1)
    return {"tickvals": axis["tickvals"][::every], "ticktext": axis["ticktext"][::every]}


def _annotation(sheet: Sheet, height: float, text: str, x: float, y: float, size: float, turn: int) -> dict:
    return {
        "text": text, "x": x / round(sheet.width), "y": 1 - y / height, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "top",
        "showarrow": False, "align": "left", "textangle": turn, "borderpad": 0, "font": {"size": size * sheet.em, "color": PALETTES[sheet.mode]["ink"]},
    }  # fmt: skip


def _text(label: str) -> str:
    """A label as it is seen, for measuring it."""
    return (
        label.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#36;", "$")
        .replace("&#37;", "%")
        .replace("&amp;", "&")
    )


# ---- charts ---------------------------------------------------------------------------------------------


def _chart(pane: dict, sheet: Sheet) -> dict:
    """A line chart or histogram, at the sheet's width, with its sizes and colours."""
    figure, em, palette = copy.deepcopy(pane["figure"]), sheet.em, PALETTES[sheet.mode]
    words, top = _words(sheet, 0.6 * em)
    body = top + 0.62 * sheet.width
    note, height = _caption(sheet, body)
    base, layout = _layout(sheet, height), figure["layout"]
    base |= {"margin": {"l": 5 * em, "r": 1.2 * em, "t": top + em, "b": height - body + 4.5 * em}, "showlegend": True}
    for name in ("xaxis", "yaxis"):
        axis = layout.get(name, {})
        axis |= {"gridcolor": palette["grid"], "linecolor": palette["grid"], "zerolinecolor": palette["grid"]}
        if isinstance(axis.get("title"), dict):
            axis["title"] |= {"font": {"size": em, "color": palette["ink"]}}
    for shape in layout.get("shapes", ()):
        shape["line"]["color"] = palette[shape["name"]]
    figure["layout"] = {
        **layout,
        **base,
        "annotations": [*layout.get("annotations", ())],
        "shapes": layout.get("shapes", []),
    }
    figure["layout"].pop("title", None)
    inner = {"width": sheet.width - 6.2 * em, "height": height - base["margin"]["t"] - base["margin"]["b"]}
    for text, x, y, size, _ in words + note:
        figure["layout"]["annotations"].append(
            _annotation(sheet, height, text, 0, 0, size, 0)
            | {"x": (x - 5 * em) / inner["width"], "y": 1 - (y - base["margin"]["t"]) / inner["height"]}
        )
    return figure
