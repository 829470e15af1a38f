"""One figure for paper or slide: stages line by line, at a chosen width and greatest height, with title and caption."""

from __future__ import annotations

import copy
import html
import math
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, groupby

from attention.colours import PALETTES
from attention.figures.heatmap import LABEL_LENGTH, escape, label, subscripts
from attention.numbers import number

CM, POINT = 96 / 2.54, 96 / 72  # pixels, as CSS counts them
SANS = "Arial, Helvetica, sans-serif"  # a file has no web fonts
SMALL = 0.9  # em: numbers and labels
SMALLEST, LARGEST = 0.1, 1.6  # em: cells without numbers
ROOMY, DENSE = 1.9, 1.5  # em: height of cells with numbers
WIDEST_SIDE = 24.0  # em: a matrix without numbers among others
EASY_SIDE = 12.0  # em: one of many cells that can still be read without effort
LOWEST_BAR = 2.5  # em
FINEST_GAPS = 6  # pixels: smaller cells with gaps between them look dotted
MARGIN, GAP = 0.6, 1.4  # em: around the sheet, between panes
BOLD = 1.08  # times as wide
HEAD = 1.4  # em: a line of a formula
TIDY = 1.15  # lines by groups may make a sheet so much taller
SQUEEZED = (
    (3, False, 0.6),
    (5, False, 0.7),
    (5, True, 0.95),
    (math.inf, True, 1),
)  # labels in em, bars, worth


@dataclass(frozen=True)
class Sheet:
    """How a figure is to be set: sizes as in a paper, words as a person typed them."""

    width_cm: float = 17.0
    font_pt: float = 9.0
    mode: str = "light"
    title: str = ""
    caption: str = ""
    height_cm: float = 24.0  # at most
    framed: bool = True  # the query and the chosen cell
    note: str = ""  # after the title, such as the head shown

    @property
    def width(self) -> int:
        return round(self.width_cm * CM)

    @property
    def height(self) -> int:
        return int(self.height_cm * CM)

    @property
    def em(self) -> float:
        return self.font_pt * POINT

    @property
    def room(self) -> float:
        return self.width - 2 * MARGIN * self.em


@dataclass(frozen=True)
class Measured:
    """A heatmap, and of the room it takes in pixels what does not depend on the size of its cells."""

    pane: dict
    em: float
    rows: int
    columns: int
    number: float  # room for the widest number; 0 where there are too many to print
    bar: float  # room for a colour bar; 0 where it would say nothing
    symbol: float  # width of the symbol
    head: list[str]  # symbol and formula, where these may take several lines


@dataclass(frozen=True)
class Cells:
    """How large the cells of all heatmaps are to be, and the words beside them."""

    side: float  # pixels, at most, of a matrix without numbers
    most: float = math.inf  # cells; a larger matrix has no numbers
    row: float = DENSE  # em: height of a cell with a number
    apart: bool = False  # each group has lines of its own
    labels: float = math.inf  # em: the longest
    bars: bool = True


@dataclass
class Place:
    """One heatmap on the sheet; lengths in pixels."""

    of: Measured
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    cell: float  # width
    height: float  # of a cell
    printed: bool  # whether numbers stand in the cells
    bar: float  # room for a colour bar, 0 for none
    upright: bool = False  # labels of the columns are turned
    x: float = 0.0  # where its cells begin
    y: float = 0.0
    head: float = 0.0  # where its formula stands
    room: float = 0.0  # for the formula

    @property
    def cells(self) -> tuple[float, float]:
        """Width and height of them all."""
        return self.of.columns * self.cell, self.of.rows * self.height

    @property
    def width(self) -> float:
        return max(self.left + self.cells[0] + self.bar, self.of.symbol)

    @property
    def left(self) -> float:
        """Room for the labels of the rows."""
        return _longest(self.row_labels, self.of.em) + 0.7 * self.of.em

    @property
    def top(self) -> float:
        """Room for the labels of the columns."""
        em = self.of.em
        longest = _longest(self.column_labels, em)
        return (longest + 0.6 * em if self.upright else 1.5 * em) if longest else 0.3 * em

    @property
    def row_step(self) -> int:
        """Each how manieth row has its label."""
        em = self.of.em
        return 1 if self.height >= SMALL * em else math.ceil(1.15 * em / self.height)

    @property
    def column_step(self) -> int:
        if self.upright:
            return math.ceil(SMALL * self.of.em / self.cell)
        longest = _longest(self.column_labels, self.of.em) + 0.3 * self.of.em
        return math.ceil(longest / self.cell)

    def turned(self) -> bool:
        """Whether labels of columns are better upright: all fit so, or they are too long to leave some out."""
        longest, em = _longest(self.column_labels, self.of.em), self.of.em
        return longest + 0.3 * em > self.cell and (self.cell >= em or longest > 2.5 * em)


@dataclass(frozen=True)
class Word:
    """A line of text on the sheet: what Plotly draws, where it begins, how large in em."""

    text: str
    x: float
    y: float
    size: float = 1.0


def compose(panes: list[dict], sheet: Sheet) -> dict:
    """A Plotly figure of these panes, as a dict, ``layout.width`` and ``layout.height`` pixels large.

    Panes with rows and columns are heatmaps and stand line by line, in their order. It is as tall as they need with
    all their numbers. Where that is more than the sheet allows, groups share lines, then numbers give way to colour
    bars and cells shrink; with the smallest cells it is as tall as it must be. A chart stands alone.
    """
    if "rows" not in panes[0]:
        return _chart(panes[0], sheet)
    words, top = _title(sheet)
    _, below = _caption(sheet, top)
    found = [_measure(pane, sheet, alone=len(panes) == 1) for pane in panes]
    lines = _arranged(found, sheet, sheet.height - below)
    _stretch(lines, sheet)
    bottom = _stand(lines, sheet, top)
    note, height = _caption(sheet, bottom)
    figure = {"data": [], "layout": _layout(sheet, math.ceil(height))}
    for k, place in enumerate((place for line in lines for place in line), 1):
        _add(figure, place, k, sheet)
        words += _head(place)
    figure["layout"]["annotations"] = [
        _annotation(word, sheet, figure["layout"]["height"]) for word in words + note
    ]
    return figure


# ---- how long texts are ---------------------------------------------------------------------------------


def length(text: str, em: float) -> float:
    """About how wide a text is drawn."""
    return em * sum(map(_letter, text))


@lru_cache(4096)
def _letter(c: str) -> float:
    if unicodedata.combining(c) or unicodedata.category(c) == "Cf":
        return 0
    if unicodedata.east_asian_width(c) in "WF":
        return 1.05
    return 0.72 if c.isupper() or c in "mwMW…→" else 0.3 if c in "iljft.,:;|' " else 0.57


def shortened(text: str, room: float, em: float) -> str:
    """As much of a text as fits, with … where something is missing; nothing where not even that fits."""
    if length(text, em) <= room:
        return text
    ends = accumulate((em * _letter(c) for c in text), initial=length("…", em))
    fitting = sum(end <= room for end in ends)
    return text[: fitting - 1] + "…" if fitting else ""


def wrapped(text: str, room: float, em: float) -> list[str]:
    """A text in lines that fit; a word too long for any line is cut, a letter too wide for any stands alone."""
    lines: list[str] = []
    for word in text.split():
        while len(word) > 1 and length(word, em) > room:
            cut = next(
                k
                for k in range(1, len(word))
                if k == len(word) - 1 or length(word[: k + 1], em) > room
            )
            lines.append(word[:cut])
            word = word[cut:]
        if lines and length(f"{lines[-1]} {word}", em) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _measure(pane: dict, sheet: Sheet, alone: bool) -> Measured:
    main, em = pane["figure"]["data"][0], sheet.em
    rows, columns = map(int, main["z"]["shape"].split(", "))
    texts = {t for trace in pane["figure"]["data"] for row in trace.get("text", ()) for t in row}
    widest = max((length(t, SMALL * em) for t in texts), default=0)
    bar = max(length(t, 0.8 * em) for t in _scale(main)[1]) + 1.6 * em
    return Measured(
        pane,
        em,
        rows,
        columns,
        number=max(widest + 0.7 * em, 2.2 * em) if texts else 0,
        bar=0 if pane["name"] == "mask" else bar,
        symbol=min(BOLD * length(pane["symbol"], em), sheet.room),
        head=wrapped(_words(pane), sheet.room, BOLD * em) if alone else [],
    )


def _words(pane: dict) -> str:
    return " = ".join(filter(None, (pane["symbol"], pane["formula"])))


@lru_cache(256)
def _labels(texts: tuple[str, ...], room: float, em: float) -> tuple[str, ...]:
    """Labels as Plotly draws them, cut to a room."""
    short = (
        text if len(text) <= LABEL_LENGTH else text[: LABEL_LENGTH - 1] + "…" for text in texts
    )
    return tuple(label(shortened(text, room, SMALL * em)) for text in short)


@lru_cache(256)
def _longest(labels: tuple[str, ...], em: float) -> float:
    return max((_drawn(text, SMALL * em) for text in labels), default=0)


@lru_cache(16_384)
def _drawn(text: str, em: float) -> float:
    """How wide a label is, from what Plotly gets."""
    return length(html.unescape(text), em)


def _scale(trace: dict) -> tuple[list[float], list[str]]:
    """Ticks of a colour bar: both ends and the middle."""
    ends = [trace["zmin"], (trace["zmin"] + trace["zmax"]) / 2, trace["zmax"]]
    return ends, [number(value) for value in ends]


# ---- where everything stands ----------------------------------------------------------------------------


def _arranged(found: list[Measured], sheet: Sheet, height: float) -> list[list[Place]]:
    """Lines of heatmaps with as many numbers and as large cells as fit into a height."""
    most = max(sheet.room, height) if len(found) == 1 else min(WIDEST_SIDE * sheet.em, sheet.room)
    full = [_lines(found, Cells(most, row=row, apart=apart), sheet) for row, apart in
            ((ROOMY, True), (ROOMY, False), (DENSE, False))]  # fmt: skip
    if _tall(full[0]) <= min(height, TIDY * _tall(full[1])):
        return full[0]
    for lines in full[1:]:
        if _tall(lines) <= height:
            return lines
    for size in sorted({one.rows * one.columns for one in found}, reverse=True):
        bare = [max(one.rows, one.columns) for one in found if one.rows * one.columns >= size]
        easy = Cells(min(max(bare), EASY_SIDE) * sheet.em, size - 1)
        if _tall(_lines(found, easy, sheet)) <= height:
            return _lines(found, _largest(found, sheet, height, easy, max(most, easy.side)), sheet)
    return _squeezed(found, sheet, height, most)


def _squeezed(found: list[Measured], sheet: Sheet, height: float, most: float) -> list[list[Place]]:
    """Lines without numbers, and with shorter labels and no bars if that leaves larger cells."""
    em, best = sheet.em, []
    least = SMALLEST * em * max(max(one.rows, one.columns) for one in found)
    for labels, bars, worth in SQUEEZED:
        cells = _largest(
            found, sheet, height, Cells(least, 0, labels=labels, bars=bars), max(least, most)
        )
        lines = _lines(found, cells, sheet)
        best.append((min(height - _tall(lines), 0), worth * min(cells.side, EASY_SIDE * em), lines))
    return max(best, key=lambda one: one[:2])[2]


def _largest(found, sheet: Sheet, height: float, cells: Cells, most: float) -> Cells:
    """The largest side that fits, between that of ``cells``, which is taken to, and another."""
    for _ in range(12):
        middle = replace(cells, side=(cells.side + most) / 2)
        if _tall(_lines(found, middle, sheet)) <= height:
            cells = middle
        else:
            most = middle.side
    return cells


def _lines(found: list[Measured], cells: Cells, sheet: Sheet) -> list[list[Place]]:
    places = [_place(one, cells, sheet, alone=len(found) == 1) for one in found]
    groups = (
        [list(g) for _, g in groupby(places, lambda p: p.of.pane["group"])]
        if cells.apart
        else [places]
    )
    return [line for group in groups for line in _broken(group, sheet.room, sheet.em)]


def _place(one: Measured, cells: Cells, sheet: Sheet, alone: bool) -> Place:
    em, room = sheet.em, min(0.4 * sheet.room, cells.labels * sheet.em)
    rows = _labels(tuple(one.pane["rows"]), max(room - 0.7 * em, 0), em)
    columns = _labels(tuple(one.pane["columns"]), min(room, 0.3 * sheet.height), em)
    left = _longest(rows, em) + 0.7 * em
    numbers = (
        one.rows * one.columns <= cells.most and 0 < one.columns * one.number <= sheet.room - left
    )
    sized = _with_numbers if numbers else _without_numbers
    place = Place(one, rows, columns, *sized(one, cells, sheet.room - left, alone))
    place.upright = place.turned()
    return place


def _with_numbers(
    one: Measured, cells: Cells, room: float, alone: bool
) -> tuple[float, float, bool, float]:
    """Width and height of a cell, True, and room for a colour bar, which only a pane alone has beside numbers."""
    barred = (
        alone and one.columns * one.number + one.bar <= room and one.rows * cells.row >= LOWEST_BAR
    )
    return one.number, cells.row * one.em, True, one.bar if barred else 0


def _without_numbers(
    one: Measured, cells: Cells, room: float, alone: bool
) -> tuple[float, float, bool, float]:
    em, least = one.em, SMALLEST * one.em
    side = max(cells.side, least * max(one.rows, one.columns))
    barred = (
        cells.bars
        and min(side, LARGEST * em * one.rows) >= LOWEST_BAR * em
        and one.bar <= 0.4 * room
    )
    bar = one.bar if barred else 0
    width, height = (
        min(max(min(side, room - bar) / n, least), LARGEST * em) for n in (one.columns, one.rows)
    )
    return min(width, (room - bar) / one.columns), height, False, bar


def _broken(places: list[Place], room: float, em: float) -> list[list[Place]]:
    """Lines that are least tall together; among such, those that are filled alike."""
    best: list[tuple[float, list]] = [(0.0, [])]
    for end in range(1, len(places) + 1):
        found = []
        for start in range(end - 1, -1, -1):
            line = places[start:end]
            wide = sum(place.width for place in line) + GAP * em * (len(line) - 1)
            if len(line) > 1 and wide > room:
                break
            cost, before = best[start]
            found.append((cost + _tall([line]) + em * (1 - wide / room) ** 2, [*before, line]))
        best.append(min(found, key=lambda one: one[0]))
    return best[-1][1]


def _tall(lines: list[list[Place]]) -> float:
    return sum(
        _above(line) + max(place.cells[1] for place in line) + 0.9 * line[0].of.em for line in lines
    )


def _above(line: list[Place]) -> float:
    """From the end of the line before to the cells: formulas, and labels of the columns."""
    heads = max(len(place.of.head) for place in line) or 1
    return (0.3 + HEAD * heads) * line[0].of.em + max(place.top for place in line)


def _stretch(lines: list[list[Place]], sheet: Sheet) -> None:
    """Widen the cells, all by one factor, until the fullest line fills the sheet."""
    places = [place for line in lines for place in line]
    printed = all(place.printed for place in places)
    factor = (4.0 if len(places) == 1 else 1.5) if printed else 1.25
    for line in lines:
        cells = sum(place.cells[0] for place in line)
        rest = sum(place.width - place.cells[0] for place in line) + GAP * sheet.em * (
            len(line) - 1
        )
        factor = min(factor, (sheet.room - rest) / cells)
    for place in places:
        place.cell *= max(factor, 1.0)
        place.upright &= place.turned()  # lines may become lower, not taller


def _stand(lines: list[list[Place]], sheet: Sheet, y: float) -> float:
    """Give each heatmap its place, from y downward, and find where the last line ends."""
    gap, end = GAP * sheet.em, sheet.width - MARGIN * sheet.em
    for line in lines:
        starts = _starts(line, lines, sheet)
        head = y + 0.3 * sheet.em
        top, y = y + _above(line), y + _tall([line])
        ends = [start - gap for start in starts[1:]] + [end]
        for place, start, right in zip(line, starts, ends, strict=True):
            place.x, place.y, place.head, place.room = start + place.left, top, head, right - start
    return y


def _starts(line: list[Place], lines: list[list[Place]], sheet: Sheet) -> list[float]:
    """Where the heatmaps of a line begin: below those of all lines or of equally long ones, if there is room for that."""
    em = sheet.em
    for others in (lines, [other for other in lines if len(other) == len(line)], [line]):
        widths = [
            max(o[k].width for o in others if len(o) > k) for k in range(max(map(len, others)))
        ]
        free = sheet.room - sum(widths) - GAP * em * (len(widths) - 1)
        if free >= 0:
            break
    gap = GAP * em + min(max(free, 0) / max(len(widths) - 1, 1), 3 * em)
    return list(accumulate((width + gap for width in widths[: len(line) - 1]), initial=MARGIN * em))


def _title(sheet: Sheet) -> tuple[list[Word], float]:
    """The title, and where the figure begins below it."""
    text = " · ".join(filter(None, (sheet.title, sheet.note)))
    return _written(text, sheet, MARGIN * sheet.em, 1.25)


def _caption(sheet: Sheet, y: float) -> tuple[list[Word], float]:
    words, end = _written(sheet.caption, sheet, y, 1.0)
    return words, end + (0.5 * sheet.em if words else 0)


def _written(text: str, sheet: Sheet, y: float, size: float) -> tuple[list[Word], float]:
    """The lines of a text from y downward, and where they end; what is larger is bold."""
    em, bold = size * sheet.em, size > 1
    lines = [escape(line) for line in wrapped(text, sheet.room, BOLD * em if bold else em)]
    texts = [f"<b>{line}</b>" if bold else line for line in lines]
    words = [Word(line, MARGIN * sheet.em, y + 1.35 * k * em, size) for k, line in enumerate(texts)]
    return words, y + 1.35 * em * len(lines)


# ---- the figure -----------------------------------------------------------------------------------------


def _layout(sheet: Sheet, height: int) -> dict:
    palette = PALETTES[sheet.mode]
    return {
        "width": sheet.width,
        "height": height,
        "font": {"family": SANS, "size": SMALL * sheet.em, "color": palette["ink"]},
        "paper_bgcolor": palette["paper"],
        "plot_bgcolor": palette["paper"],
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "autoexpand": False},
        "showlegend": False,
        "annotations": [],
        "shapes": [],
    }


def _add(figure: dict, place: Place, k: int, sheet: Sheet) -> None:
    """A heatmap in its place, with its axes and its marks."""
    source, layout, axes = (
        place.of.pane["figure"],
        figure["layout"],
        {"xaxis": f"x{k}", "yaxis": f"y{k}"},
    )
    traces = [_coloured(trace, place, sheet) | axes for trace in source["data"]]
    traces[0] |= {"showscale": place.bar > 0, "colorbar": _colour_bar(place, layout)}
    figure["data"] += traces
    layout |= _axes(place, k, layout)
    for shape in source["layout"]["shapes"] if sheet.framed else ():
        thin = max(min(place.cell, place.height) / 3, 1)
        line = {
            "color": PALETTES[sheet.mode][shape["name"]],
            "width": min(shape["line"]["width"], thin),
        }
        layout["shapes"].append(
            shape | {"xref": axes["xaxis"], "yref": axes["yaxis"], "line": line}
        )


def _axes(place: Place, k: int, layout: dict) -> dict:
    """Both axes, in fractions of the layout, as Plotly wants them."""
    one, (wide, tall), em = place.of, place.cells, place.of.em
    x, y = place.x / layout["width"], 1 - place.y / layout["height"]
    common = {"tickmode": "array", "ticks": "", "showgrid": False, "zeroline": False, "tickfont": {"size": SMALL * em},
              "ticklabelstandoff": round(0.3 * em)}  # fmt: skip
    return {
        f"xaxis{k}": common | _ticks(place.column_labels, _shown(place)) | {
            "domain": [x, x + wide / layout["width"]], "anchor": f"y{k}", "side": "top",
            "range": [-0.5, one.columns - 0.5], "tickangle": -90 if place.upright else 0,
        },
        f"yaxis{k}": common | _ticks(place.row_labels, range(0, one.rows, place.row_step)) | {
            "domain": [y - tall / layout["height"], y], "anchor": f"x{k}", "range": [one.rows - 0.5, -0.5],
        },
    }  # fmt: skip


def _shown(place: Place) -> list[int]:
    """The columns with labels, but for one that would stand out too far to the right."""
    em, labels = place.of.em, place.column_labels
    halves = [em / 2 if place.upright else _drawn(text, SMALL * em) / 2 for text in labels]
    most = place.cells[0] + MARGIN * em
    return [
        j
        for j in range(0, len(labels), place.column_step)
        if (j + 0.5) * place.cell + halves[j] <= most
    ]


def _ticks(labels: tuple[str, ...], shown) -> dict:
    return {"tickvals": list(shown), "ticktext": [labels[k] for k in shown]}


def _colour_bar(place: Place, layout: dict) -> dict:
    em, (wide, tall) = place.of.em, place.cells
    values, texts = _scale(place.of.pane["figure"]["data"][0])
    return {
        "x": (place.x + wide + 0.5 * em) / layout["width"], "xanchor": "left", "xpad": 0,
        "y": 1 - place.y / layout["height"], "yanchor": "top", "ypad": 0, "len": tall, "lenmode": "pixels",
        "thickness": 0.5 * em, "outlinewidth": 0, "tickmode": "array", "tickvals": values, "ticktext": texts, "ticks": "",
        "tickfont": {"size": 0.8 * em},
    }  # fmt: skip


def _coloured(trace: dict, place: Place, sheet: Sheet) -> dict:
    """A trace in the colours of the sheet, with its numbers or without."""
    palette = PALETTES[sheet.mode]
    found = {
        k: v
        for k, v in trace.items()
        if k not in ("text", "texttemplate", "textfont", "hovertemplate")
    }
    found |= {"colorscale": palette[trace["meta"]], "hoverinfo": "skip"}
    if min(place.cell, place.height) < FINEST_GAPS:
        found |= {"xgap": 0, "ygap": 0}
    if place.printed and "text" in trace:
        font = {"size": SMALL * sheet.em, "color": palette["ink"]}
        found |= {"text": trace["text"], "texttemplate": "%{text}", "textfont": font}
    return found


def _head(place: Place) -> list[Word]:
    """Symbol and formula above a heatmap: the formula where there is room for it, or where the pane is alone."""
    one, x = place.of, place.x - place.left
    symbol, formula = one.pane["symbol"], one.pane["formula"]
    if len(one.head) > 1:
        return [
            Word(subscripts(escape(line)), x, place.head + k * HEAD * one.em)
            for k, line in enumerate(one.head)
        ]
    if BOLD * length(_words(one.pane), one.em) > place.room:
        symbol, formula = shortened(symbol, place.room / BOLD + 0.01, one.em), ""
    bold = f"<b>{subscripts(escape(symbol))}</b>" if symbol else ""
    return [Word(" = ".join(filter(None, (bold, subscripts(escape(formula))))), x, place.head)]


def _annotation(word: Word, sheet: Sheet, height: float) -> dict:
    return {
        "text": word.text, "x": word.x / sheet.width, "y": 1 - word.y / height, "xref": "paper", "yref": "paper",
        "xanchor": "left", "yanchor": "top", "showarrow": False, "align": "left", "borderpad": 0,
        "font": {"size": word.size * sheet.em, "color": PALETTES[sheet.mode]["ink"]},
    }  # fmt: skip


# ---- charts ---------------------------------------------------------------------------------------------


def _chart(pane: dict, sheet: Sheet) -> dict:
    """A line chart or histogram, at the sheet's width, with its sizes and colours."""
    figure = copy.deepcopy(pane["figure"])
    words, top = _title(sheet)
    _, below = _caption(sheet, top)
    legend = _legend(figure["data"], sheet)
    tall = max(min(0.62 * sheet.width + legend, sheet.height - below), 0.3 * sheet.width)
    legend *= legend <= 0.4 * tall
    note, height = _caption(sheet, top + tall)
    layout = figure["layout"] | _layout(sheet, math.ceil(height)) | {"showlegend": legend > 0}
    layout.pop("title", None)
    layout["margin"] = _margin(sheet, layout["height"] - top - tall, tall)
    layout["margin"]["t"] = top + max(legend, min(sheet.em, 0.1 * tall))
    layout["shapes"] = figure["layout"].get("shapes", [])
    _recolour(layout, sheet)
    own = figure["layout"].get("annotations", ())
    layout["annotations"] = [*own, *(_beside(word, sheet, layout) for word in words + note)]
    return figure | {"layout": layout}


def _legend(traces: list[dict], sheet: Sheet) -> float:
    """Room for a legend above a chart, whose entries Plotly makes equally wide."""
    names = [trace["name"] for trace in traces if "name" in trace and trace.get("showlegend", True)]
    entry = (
        max((length(re.sub("<.*?>", "", name), SMALL * sheet.em) for name in names), default=0) + 45
    )  # pixels of line and gaps
    in_a_line = max(int((sheet.room - 6 * sheet.em) / entry), 1)
    return (
        math.ceil(len(names) / in_a_line) * max(1.4 * sheet.em, 19) + 0.5 * sheet.em if names else 0
    )


def _margin(sheet: Sheet, under: float, tall: float) -> dict:
    """Room for labels left, right and below, as much as leaves something for the chart; under it stands the caption."""
    em, wide = sheet.em, sheet.width
    return {
        "l": min(5 * em, 0.3 * wide),
        "r": min(1.2 * em, 0.1 * wide),
        "b": under + min(4.5 * em, 0.4 * tall),
    }


def _recolour(layout: dict, sheet: Sheet) -> None:
    palette = PALETTES[sheet.mode]
    for name in ("xaxis", "yaxis"):
        axis = layout.get(name, {})
        axis |= {
            "gridcolor": palette["grid"],
            "linecolor": palette["grid"],
            "zerolinecolor": palette["grid"],
        }
        if isinstance(axis.get("title"), dict):
            axis["title"] |= {"font": {"size": sheet.em, "color": palette["ink"]}}
    for shape in layout["shapes"]:
        shape["line"]["color"] = palette[shape["name"]]


def _beside(word: Word, sheet: Sheet, layout: dict) -> dict:
    """An annotation outside of a chart, whose fractions count from its margins."""
    margin = layout["margin"]
    wide = sheet.width - margin["l"] - margin["r"]
    tall = layout["height"] - margin["t"] - margin["b"]
    place = {"x": (word.x - margin["l"]) / wide, "y": 1 - (word.y - margin["t"]) / tall}
    return _annotation(word, sheet, layout["height"]) | place
