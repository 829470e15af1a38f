"""Worksheets on A4, as PDF: lines and letters drawn by Matplotlib, page after page.

Places are millimetres from the upper left corner of a page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

from matplotlib.artist import Artist
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2D

from attention.figures.paper import clean
from attention.figures.paper_sheet import Letters, settings
from attention.worksheet import Grid, Sheet, Task

WIDE, TALL, MARGIN = 210.0, 297.0, 15.0  # of A4
INSIDE = WIDE - 2 * MARGIN
PT = 25.4 / 72  # a point in millimetres
TEXT, SMALL, FINE, TITLE, FORMULA = 10.0, 9.0, 6.5, 16.0, 13.0  # points
LINE = 1.35  # times the size of letters
BLANK = 16.0, 10.0  # a cell to write in, at least 9 mm high where all of them fit
FULL = 9.0, 6.5  # a cell with a number
HEAD, PAD, GAP = 5.5, 1.5, 8.0  # of a grid: its head, beside words, to the next one
APART = 5.0  # between tasks
LABEL, HEADING = 30.0, 22.0  # the longest word beside a grid, and above a column
SQUARE = 5.0  # of the paper to work on
BESIDE, BELOW = 40.0, 20.0  # its least width beside a grid, and its height below one
INK, PALE, QUIET = "#000000", "#c4c4c4", "#444444"
FORMULAS = {"mathtext.default": "it"}
MOST_FOOT, MOST_MISSING = 3, 8  # lines; letters that are named
Box = list[tuple[float, float]]
Rule = list[tuple[float, float]]


def to_pdf(sheets: Sequence[Sheet], with_key: bool, metadata: Mapping[str, Any]) -> bytes:
    """The sheets one after another and, behind them all, their keys."""
    letters, file = Letters("".join(_words(sheets))), BytesIO()
    with settings():
        flow = _Flow(letters, PdfPages(file, metadata=dict(metadata)))
    for sheet in sheets:  # others draw between them
        with settings(**FORMULAS):
            flow.begin(sheet)
            _sheet(flow, sheet)
            flow.end()
    if with_key:
        with settings(**FORMULAS):
            flow.begin(sheets[0], key=True)
        for sheet in sheets:
            with settings(**FORMULAS):
                _key(flow, sheet)
    with settings(**FORMULAS):
        flow.end()
        flow.pdf.close()
    return file.getvalue()


def _words(sheets: Iterable[Sheet]) -> Iterable[str]:
    """All that is typed or printed in the fonts for words."""
    for sheet in sheets:
        yield from (sheet.title, sheet.sentence, *sheet.notes, *sheet.about)
        for grid in (*sheet.given, *(task.grid for task in sheet.tasks)):
            yield from (*grid.rows, *grid.columns)
    yield "0123456789−∞≈√·.,;:()…_ abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ’“”×"


class _Ink(Artist):
    """All words of a page, without the layout that Matplotlib would do for each."""

    def __init__(self, families: Sequence[str]) -> None:
        super().__init__()
        self.families = list(families)
        self.words: list[tuple[float, float, str, float, str, str]] = []

    def draw(self, renderer: RendererBase) -> None:
        inner: Any = getattr(renderer, "_renderer", renderer)
        inner._text2path = text_to_path  # which keeps formulas from page to page
        pen, faces = renderer.new_gc(), {}
        for x, y, text, size, colour, weight in self.words:
            if (size, weight) not in faces:
                face = FontProperties(family=self.families, size=size, weight=weight)
                face.set_math_fontfamily("stix")  # as textbooks set formulas
                faces[size, weight] = face
            pen.set_foreground(colour)
            is_formula = text.startswith("$")
            place = x / PT, (TALL - y) / PT
            shown = text if is_formula else text.replace(r"\$", "$")
            renderer.draw_text(pen, *place, shown, faces[size, weight], 0, is_formula)
        pen.restore()


class _Flow:
    """Pages that are filled from above; a new one begins where something does not fit."""

    def __init__(self, letters: Letters, pdf: PdfPages) -> None:
        self.letters, self.pdf, self.open = letters, pdf, False

    def begin(self, sheet: Sheet, key: bool = False) -> None:
        """A new page, and what stands at the head and the foot of all that follow."""
        self.end()
        self.running = " · ".join(filter(None, (sheet.title, "Key" if key else sheet.name)))
        codes = ", ".join(f"U+{ord(letter):04X}" for letter in self.letters.missing[:MOST_MISSING])
        missing = [f"boxes stand for letters without a font here: {codes}"] * bool(codes)
        about = sheet.about[:1] if key and sheet.number else sheet.about  # of all sheets
        foot = self.letters.wrapped(" · ".join([*about, *missing]), FINE, INSIDE / PT - 60)
        self.foot = foot[:MOST_FOOT]
        if len(foot) > MOST_FOOT:
            self.foot[-1] += " …"
        self.bottom = TALL - MARGIN - LINE * FINE * PT * len(self.foot) - 2
        self.number = 0
        self._begin_page()

    def _begin_page(self) -> None:
        self.open, self.y, self.ink = True, MARGIN, _Ink(self.letters.families)
        self.boxes: list[Box] = []
        self.pale: list[Rule] = []
        self.dark: list[Rule] = []
        self.number += 1
        if self.number > 1:
            self.words(MARGIN, self.running, SMALL, self.y, QUIET)
            self.y += 8

    def end(self) -> None:
        """The page is done."""
        if not self.open:
            return
        for k, line in enumerate(self.foot):
            above = (len(self.foot) - k) * LINE * FINE * PT
            self.words(MARGIN, line, FINE, TALL - MARGIN - above, QUIET)
        last = TALL - MARGIN - LINE * FINE * PT
        self.words(WIDE - MARGIN, f"page {self.number}", FINE, last, QUIET, align="right")
        page = Figure((WIDE / 25.4, TALL / 25.4))
        down = Affine2D().translate(0, -TALL).scale(1 / 25.4, -1 / 25.4)
        places = down + page.dpi_scale_trans
        for lines, colour, width in (self.pale, PALE, 0.35), (self.dark, INK, 0.5):
            rules = LineCollection(lines, colors=colour, linewidths=width, transform=places)
            page.add_artist(rules)
        cells = PolyCollection(self.boxes, facecolors="none", edgecolors=INK, linewidths=0.7)
        cells.set_transform(places)
        page.add_artist(cells)
        page.add_artist(self.ink)
        self.pdf.savefig(page)
        self.open = False

    def room(self, height: float) -> float:
        """Where something so high may stand: below what is there, or on a new page."""
        if self.y + height > self.bottom and self.y > MARGIN + 8:
            self.new_page()
        here = self.y
        self.y += height
        return here

    def new_page(self) -> None:
        self.end()
        self._begin_page()

    def words(
        self,
        x: float,
        text: str,
        size: float,
        top: float,
        colour: str = INK,
        align: str = "left",
        weight: str = "normal",
    ) -> None:
        """A line whose letters hang below ``top``; cleaned, or a formula."""
        wide = 0.0 if align == "left" else self.letters.width(text, size) * PT
        wide *= 1.1 if weight == "bold" else 1.0
        left = x - {"left": 0.0, "center": wide / 2, "right": wide}[align]
        self.ink.words.append((left, top + size * PT, text, size, colour, weight))

    def paragraph(self, text: str, size: float, colour: str = INK, weight: str = "normal") -> None:
        """Text in lines as wide as the page."""
        for line in self.letters.wrapped(text, size, INSIDE / PT):
            self.words(MARGIN, line, size, self.room(LINE * size * PT), colour, weight=weight)


def _box(x: float, y: float, wide: float, tall: float) -> Box:
    return [(x, y), (x + wide, y), (x + wide, y + tall), (x, y + tall)]


# ---- a grid --------------------------------------------------------------------------------------


class _Drawn:
    """A grid as large as it is drawn, empty or full."""

    def __init__(self, grid: Grid, letters: Letters, empty: bool) -> None:
        self.grid, self.letters, self.empty = grid, letters, empty
        least, self.tall = BLANK if empty else FULL
        size, across = SMALL, len(grid.columns)
        symbol = letters.width(f"${grid.symbol}$", 11) * PT
        labels = max(letters.widest(map(clean, grid.rows), size) * PT, symbol)
        self.label = min(labels, LABEL) + 2 * PAD
        words = letters.widest(map(clean, grid.columns), size) * PT
        texts = [] if empty else [text for row in grid.texts for text in row]
        numbers = letters.widest(texts, TEXT) * PT
        most = (INSIDE - self.label) / across
        self.cell = min(max(least, min(words, HEADING) + 2 * PAD, numbers + 3 * PAD), most)
        self.size = TEXT * min(1.0, (self.cell - PAD) / max(numbers, 1e-9))
        self.wide = self.label + across * self.cell
        self.high = HEAD + len(grid.rows) * self.tall

    def draw(self, flow: _Flow, x: float, y: float) -> None:
        """The symbol in the corner, words above and beside, cells."""
        grid = self.grid
        flow.words(x + PAD, f"${grid.symbol}$", 11, y + 0.7)
        inner = x + self.label
        for j, word in enumerate(grid.columns):
            middle = inner + (j + 0.5) * self.cell
            text = self._cut(word, self.cell - 2)
            flow.words(middle, text, SMALL, y + 1.3, QUIET, "center")
        for i, word in enumerate(grid.rows):
            top = y + HEAD + i * self.tall
            base = top + self.tall / 2 - 0.5 * TEXT * PT
            text = self._cut(word, self.label - PAD)
            flow.words(inner - PAD, text, SMALL, base, QUIET, "right")
            for j in range(len(grid.columns)):
                flow.boxes.append(_box(inner + j * self.cell, top, self.cell, self.tall))
                if not self.empty:
                    middle = inner + (j + 0.5) * self.cell
                    flow.words(middle, grid.texts[i][j], self.size, base, align="center")

    def _cut(self, word: str, room: float) -> str:
        return self.letters.cut(word, SMALL, room / PT)


def _line_by_line(flow: _Flow, grids: Iterable[Grid]) -> list[list[_Drawn]]:
    """Full grids beside each other, as many as fit."""
    lines: list[list[_Drawn]] = []
    left = 0.0
    for drawn in (_Drawn(grid, flow.letters, empty=False) for grid in grids):
        if not lines or drawn.wide > left:
            lines.append([])
            left = INSIDE
        lines[-1].append(drawn)
        left -= drawn.wide + GAP
    return lines


def _height(lines: list[list[_Drawn]]) -> float:
    return sum(max(drawn.high for drawn in line) + GAP / 2 for line in lines)


def _grids(flow: _Flow, lines: list[list[_Drawn]]) -> None:
    for line in lines:
        x, y = MARGIN, flow.room(max(drawn.high for drawn in line) + GAP / 2)
        for drawn in line:
            drawn.draw(flow, x, y)
            x += drawn.wide + GAP


# ---- a sheet and its key -------------------------------------------------------------------------


def _sheet(flow: _Flow, sheet: Sheet) -> None:
    top, right = flow.room(11), WIDE - MARGIN
    flow.words(MARGIN, clean(sheet.title), TITLE, top, weight="bold")
    flow.words(right, sheet.name, TITLE, top, align="right", weight="bold")
    top = flow.room(11) + 2
    flow.words(MARGIN, "Name", TEXT, top)
    flow.words(right - 50, "Date", TEXT, top)
    base = top + 1.2 * TEXT * PT
    flow.dark += [[(MARGIN + 12, base), (right - 56, base)], [(right - 40, base), (right, base)]]
    flow.paragraph(f"Sentence: {sheet.sentence}", TEXT + 1)
    flow.y += 1
    for note in sheet.notes:
        flow.paragraph(note, SMALL, QUIET)
    flow.y += 3
    flow.paragraph("Given", TEXT + 1, weight="bold")
    flow.y += 1
    _grids(flow, _line_by_line(flow, sheet.given))
    flow.y += 2
    for k, task in enumerate(sheet.tasks, 1):
        _task(flow, k, task)


def _task(flow: _Flow, k: int, task: Task) -> None:
    """The formula, what to do, the empty grid, and squared paper beside or below it."""
    drawn = _Drawn(task.grid, flow.letters, empty=True)
    formula = f"${task.formula}$"
    said = MARGIN + 8 + flow.letters.width(formula, FORMULA) * PT + 6  # where the sentence begins
    lines = flow.letters.wrapped(task.sentence, SMALL, (WIDE - MARGIN - said) / PT)
    left = (INSIDE - drawn.wide - GAP) // SQUARE * SQUARE
    work = SQUARE * math.ceil(task.work / SQUARE)
    beside = left >= BESIDE
    work = work if beside else min(work, BELOW)
    below = (work + GAP / 2) * bool(work and not beside)
    head = max(11.0 if "frac" in formula else 7.0, LINE * SMALL * PT * len(lines) + 2)
    tall = max(drawn.high, work) if beside else drawn.high
    top = flow.room(head + tall + below + APART)
    base = top + (head - 7) / 2
    flow.words(MARGIN, f"{k}.", TEXT + 1, base + 0.5, weight="bold")
    flow.words(MARGIN + 8, formula, FORMULA, base - 0.2)
    for n, line in enumerate(lines):
        flow.words(said, line, SMALL, base + 1.2 + (n - (len(lines) - 1) / 2) * LINE * SMALL * PT)
    top += head
    drawn.draw(flow, MARGIN, top)
    if work and beside:
        high = max(work, drawn.high // SQUARE * SQUARE)
        _squares(flow, WIDE - MARGIN - left, top, left, high)
    elif work:
        _squares(flow, MARGIN, top + drawn.high + GAP / 2, INSIDE // SQUARE * SQUARE, work)


def _squares(flow: _Flow, x: float, y: float, wide: float, tall: float) -> None:
    """Paper to work on."""
    across, down = round(wide / SQUARE), round(tall / SQUARE)
    places = [x + k * SQUARE for k in range(across + 1)]
    flow.pale += [[(at, y), (at, y + tall)] for at in places]
    places = [y + k * SQUARE for k in range(down + 1)]
    flow.pale += [[(x, at), (x + wide, at)] for at in places]


def _key(flow: _Flow, sheet: Sheet) -> None:
    """All answers of a sheet, on one page where they fit."""
    lines = _line_by_line(flow, (task.grid for task in sheet.tasks))
    if flow.y > MARGIN + 8 and flow.y + _height(lines) + 9 > flow.bottom:
        flow.new_page()
    top = flow.room(9)
    flow.words(MARGIN, sheet.key_name, TEXT + 2, top + 1, weight="bold")
    _grids(flow, lines)
    flow.y += 3
