"""Where everything stands in a paper figure, in points.

1. All cells of a figure are squares of one side, unless a panel would become too long.
2. For each way of breaking the panels into lines the largest side is looked for that fits into the
   width and the greatest height. A panel with the rows of the one before needs no labels,
   neighbours whose colours mean the same have one bar, and so has a grid of heads.
3. The way is taken whose cells are large enough for labels and numbers; among these, the lowest
   for a grid of heads, otherwise the one with the largest cells for its height, rather
   one that begins each group of stages on a new line.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from attention.figures.paper_panels import Panel, Scale, clean, subscripted
from attention.figures.paper_sheet import LINE, MARGIN, PAD, TICK, Sheet
from attention.numbers import number, numbers
from attention.stages import STAGES

BAR = 6.0  # the width of a colour bar, and of the gap before it
SIDES = [72 * 0.95**k for k in range(112)]  # of a cell: an inch to 0.24 points
LONGEST = 24  # times the size of the letters: a side of a panel among others
NUMBER = 2.4  # times the size of labels: a cell whose number can be read
LABELS = 0.25  # of the width: the longest label
MOST = 16  # panels in a line
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # between labels that count


class Ticks(NamedTuple):
    """The labels of an axis."""

    places: range = range(0)
    labels: tuple[str, ...] = ()
    turned: bool = False  # whether those of columns stand upright


class Bar(NamedTuple):
    """A colour bar."""

    beyond: tuple[bool, bool]  # whether numbers lie below and above it
    places: list[float]
    labels: list[str]
    title: str
    room: float  # the width of all that belongs to it


@dataclass(frozen=True, eq=False)
class Block:
    """A panel with cells of one side, and the room around them with the gap to the next."""

    panel: Panel
    wide: float  # the cells
    tall: float
    rows: Ticks
    columns: Ticks
    left: float
    after: float  # from the left edge of the cells
    above: float
    under: float  # from the upper edge of the cells
    inner: float  # the same without labels of columns
    bar: Bar | None
    x: float = 0.0  # of the upper left corner of the cells
    y: float = 0.0


class Layout:
    """Sets panels into lines."""

    def __init__(self, panels: list[Panel], sheet: Sheet) -> None:
        self.panels, self.sheet, self.paper = panels, sheet, sheet.paper
        self.is_grid = len({panel.name for panel in panels}) == 1  # heads of one stage
        self.bars = {panel.scale: self._bar(panel.scale) for panel in panels}
        is_shared = self.is_grid and len(panels) > 1 and self.paper.bar
        self.shared = self.bars[panels[0].scale] if is_shared else None
        self.room = sheet.room - (BAR + self.shared.room if self.shared else 0)
        self.block, self.words = cache(self._block), cache(self._words)  # asked for many times

    def blocks(self) -> tuple[list[Block], float]:
        """All panels in their places, and the height they take; or one sentence."""
        lines, placed, y = self._best(), [], self.sheet.top
        left = MARGIN + (self.room + self.paper.font_size - max(map(_wide, lines))) / 2
        for line in lines:
            x, above = left, max(block.above for block in line)
            for block in line:
                placed.append(replace(block, x=x + block.left, y=y + above))
                x += block.left + block.after
            y += _tall(line)
        return placed, y - self.sheet.top - self.paper.font_size

    def _best(self) -> list[list[Block]]:
        """The lines that show most, with the largest cells for their height; or one sentence."""
        apart = (False, True)[: len({panel.group for panel in self.panels})]
        found = []
        for way in product(range(1, min(len(self.panels), MOST) + 1), apart):
            k = bisect_left(SIDES, True, key=partial(self._goes, way))
            if k < len(SIDES):
                lines, cell = self._lines(SIDES[k], *way), SIDES[k] / self.paper.tick_size
                shown = (cell > LINE) + (cell > NUMBER and self.paper.numbers)
                tall = sum(map(_tall, lines))
                worth = cell / (tall + self.room / 2) * (1 + way[1] / 4)
                if self.is_grid and shown:  # what can be read need not be larger
                    worth = -tall
                found.append((shown, worth, lines))
        if not found:
            raise self.sheet.too_many(len(self.panels))
        return max(found, key=lambda one: one[:2])[2]

    def _goes(self, way: tuple[int, bool], side: float) -> bool:
        """Whether cells of that side fit; in a grid with as many in a line as the way says."""
        lines = self._lines(side, *way)
        return self._fits(lines) and (not self.is_grid or len(lines[0]) == way[0])

    def _fits(self, lines: list[list[Block]]) -> bool:
        gap = self.paper.font_size  # behind the last one
        tall = sum(map(_tall, lines)) - gap
        return tall <= self.sheet.height and max(map(_wide, lines)) - gap <= self.room

    def _lines(self, side: float, most: int, apart: bool) -> list[list[Block]]:
        """As many panels in each line as fit; in a grid no labels over another panel."""
        lines: list[list[Panel]] = []
        for panel in self.panels:
            longer = [*lines[-1], panel] if lines else []
            goes_on = 0 < len(longer) <= most and not (apart and longer[-2].group != panel.group)
            if goes_on and self._fits([self._line(longer, side)]):
                lines[-1] = longer
            else:
                lines.append([panel])
        found = [self._line(line, side) for line in lines]
        for line, following in pairwise(found) if self.is_grid else ():
            for k, block in enumerate(line[: len(following)]):
                line[k] = replace(block, columns=Ticks(), under=block.inner)
        return found

    def _line(self, panels: list[Panel], side: float) -> list[Block]:
        """Panels side by side."""
        blocks: list[Block] = []
        run: list[str] = []  # neighbours whose colours mean the same
        for k, panel in enumerate(panels):
            of_rows = [(one.titles[0], one.labels[0]) for one in (panels[k - 1], panel)]
            outer = k == 0 or of_rows[0] != of_rows[1]
            run.append(panel.name)
            barred = False
            if k + 1 == len(panels) or panels[k + 1].scale != panel.scale:
                barred = self.paper.bar and not self.shared and run != ["mask"]  # 0, −∞ need none
                run = []
            blocks.append(self.block(panel, side, outer, barred))
        return blocks

    def _block(self, panel: Panel, side: float, outer: bool, barred: bool) -> Block:
        """A panel with cells of that side, with the room for labels, heading and bar."""
        size, tick, widest = self.paper.font_size, self.paper.tick_size, self.sheet.letters.widest
        most = self.sheet.width if self.is_grid else LONGEST * size
        (high, across), (row_title, column_title) = panel.values.shape, panel.titles
        line, title = LINE * size, LINE * size + 2 * PAD
        wide, tall = min(across * side, most), min(high * side, most)
        rows = self._ticks(panel.labels[0], tall / high, False) if outer else Ticks()
        columns = self._ticks(panel.labels[1], wide / across, True)
        label, turned = widest(columns.labels, tick), columns.turned
        left = (widest(rows.labels, tick) + TICK + PAD + title * bool(row_title)) * outer
        below = TICK + PAD + (label if turned else LINE * tick) + title * bool(column_title)
        # words that are longer than their side, in the middle of it or from its beginning
        beyond = max(widest([column_title], size) - wide, label * (not turned) - wide / across)
        beyond = max(beyond, 0) / 2
        right = max(beyond, widest([panel.heading], size) - wide)
        over = max(widest([row_title], size) * outer - tall, 0) / 2
        above = max(over, line * bool(panel.heading) + self.sheet.pad)
        bar = self.bars[panel.scale] if barred else None
        if bar:
            right, below = max(right, BAR + bar.room), max(below, self.bar_tall(tall) - tall + tick)
        around = max(left, beyond), wide + right + size, above
        under, inner = tall + max(below, over) + size, tall + over + size
        return Block(panel, wide, tall, rows, columns, *around, under, inner, bar)

    def _words(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Labels as they are printed."""
        tick, room = self.paper.tick_size, LABELS * self.sheet.width
        return tuple(self.sheet.letters.cut(text, tick, room) for text in texts)

    def _ticks(self, texts: tuple[str, ...], cell: float, across: bool) -> Ticks:
        """Labels for cells of that side: words too wide for it are turned, what touches thinned."""
        labels, tick = self.words(texts), self.paper.tick_size
        counts = texts == tuple(map(str, range(1, len(texts) + 1)))
        needed = self.sheet.letters.widest(labels, tick) + tick / 2
        turned = across and needed > cell and not counts
        step = math.ceil((needed if across and not turned else LINE * tick) / cell)
        step = next((nice for nice in STEPS if nice >= step), step)
        first = min(step, len(labels)) - 1 if counts else 0
        return Ticks(range(first, len(labels), step), labels[first::step], turned)

    def bar_tall(self, tall: float) -> float:
        """How long the bar beside a panel is: there is room for its labels."""
        return max(tall, 6 * self.paper.tick_size)

    def _bar(self, scale: Scale) -> Bar:
        """The colour bar of the panels whose colours mean this."""
        panels = [panel for panel in self.panels if panel.scale == scale]
        shown = np.concatenate([panel.values.compressed() for panel in panels])
        beyond = bool((shown < scale.low).any()), bool((shown > scale.high).any())
        places, labels = _marks(scale)
        title = clean(self.paper.bar_title)
        if not title and self.is_grid and panels[0].name in STAGES:
            title = subscripted(STAGES[panels[0].name].heading)
        room = BAR + TICK + PAD + self.sheet.letters.widest(labels, self.paper.tick_size)
        room += (2 * PAD + LINE * self.paper.font_size) * bool(title)
        return Bar(beyond, places, labels, title, room)


def _wide(line: list[Block]) -> float:
    return sum(block.left + block.after for block in line)


def _tall(line: list[Block]) -> float:
    return max(block.above for block in line) + max(block.under for block in line)


def _marks(scale: Scale) -> tuple[list[float], list[str]]:
    """The ticks of a colour bar and their labels: round numbers, or powers of ten."""
    low, high = scale.low, scale.high
    if scale.logarithmic:
        powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        if len(powers) < 2:
            return [low, high], [number(low), number(high)]
        powers = powers[:: -(-len(powers) // 5)]
        return [10.0**k for k in powers], [f"$10^{{{k}}}$" for k in powers]
    found = np.asarray(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    slack = 1e-9 * (high - low)
    found = found[(found >= low - slack) & (found <= high + slack)]
    digits = next((d for d in range(12) if np.allclose(np.round(found, d), found, rtol=1e-9)), 12)
    return found.tolist(), numbers(found, digits)
