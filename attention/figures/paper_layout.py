"""Where everything stands in a paper figure, in points.

1. All cells of a figure are squares of one side, unless a panel would become too long.
2. For each way of breaking the panels into lines the largest side is looked for that fits into the
   width and the greatest height. A panel with the rows of the one before needs no labels, nor do
   the columns of a head with another below it; neighbours whose colours mean the same have one
   bar, and so has a grid of heads.
3. The way is taken that has room for all words and for numbers; among these, the lowest for a grid
   of heads, otherwise the one with the largest cells for its height, rather one that begins each
   group of stages on a new line.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
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
LABEL = 1.05  # times their size: the least height for a label
SEEN = 0.7  # and of a cell that is seen, where labels count
LABELS = 0.25  # of the width: the longest label
MOST = 16  # panels in a line
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # between labels that count


class Ticks(NamedTuple):
    """The labels of an axis."""

    places: range = range(0)
    labels: tuple[str, ...] = ()
    turned: bool = False  # whether those of columns stand upright
    omits: bool = False  # whether there is no room for some words


@dataclass(eq=False)
class Block:
    """A panel as large as it is drawn, and the room around its cells."""

    panel: Panel
    wide: float  # the cells
    tall: float
    rows: Ticks
    columns: Ticks
    bar: float  # how long its colour bar is; 0 without one
    gap: float  # before it
    left: float
    right: float
    above: float
    under: float
    x: float = 0.0  # of the upper left corner of the cells
    y: float = 0.0


Way = list[list[Panel]]  # the panels of each line
Lines = list[list[Block]]


class Layout:
    """Sets panels into lines."""

    def __init__(self, panels: list[Panel], sheet: Sheet) -> None:
        self.panels, self.sheet, self.paper = panels, sheet, sheet.paper
        self.is_grid = len({panel.name for panel in panels}) == 1  # heads of one stage
        stage = STAGES.get(panels[0].name) if self.is_grid else None
        self.bar_title = clean(self.paper.bar_title) or subscripted(stage.heading if stage else "")
        self.bar_least = 6 * self.paper.tick_size  # how long it is, so that its labels have room
        self.title = LINE * self.paper.font_size + 2 * PAD  # the room for one of an axis
        longest, tick = LABELS * sheet.width, self.paper.tick_size
        self.words = {
            words: tuple(sheet.letters.cut(word, tick, longest) for word in words)
            for panel in panels
            for words in panel.labels
        }
        self.least = SEEN if all(map(_counts, self.words)) else LABEL
        self.block, self.bar_room = cache(self._block), cache(self._bar_room)  # asked many times

    def blocks(self) -> tuple[list[Block], float]:
        """All panels in their places, and the height they take; or one sentence."""
        lines = self._best()
        left, y = MARGIN + (self.sheet.room - self._width(lines)) / 2, self.sheet.top
        for line in lines:
            x, y = left, y + max(block.above for block in line)
            for block in line:
                block.x, block.y = x + block.left, y
                x = block.x + block.wide + block.right + self.paper.font_size
            y += max(block.tall + block.under for block in line) + self.paper.font_size
        placed = [block for line in lines for block in line]
        for block in placed if self.is_grid else ():
            if block.bar:
                block.bar = max(block.bar, placed[-1].y + placed[-1].tall - block.y)
        return placed, self._height(lines)

    def _best(self) -> Lines:
        """The lines that show most, with the largest cells for their height; or one sentence."""
        found = []
        for way in {tuple(map(len, way)): way for way in self._ways()}.values():
            k = bisect_left(SIDES, True, key=lambda side: self._fits(self._lines(way, side)))
            if k < len(SIDES):
                lines = self._lines(way, SIDES[k])
                found.append((*self._worth(lines, SIDES[k]), lines))
        if not found:
            raise self.sheet.too_many(len(self.panels))
        return max(found, key=lambda one: one[:2])[2]

    def _ways(self) -> Iterator[Way]:
        """The panels in lines, through the groups or each of these from a new line."""
        apart = [list(panels) for _, panels in groupby(self.panels, lambda one: one.group)]
        for groups in [self.panels], apart:
            for most in range(1, min(len(self.panels), MOST) + 1):
                yield self._broken(groups, most, SIDES[-1])
            for side in () if self.is_grid else SIDES[::4]:
                yield self._broken(groups, MOST, side)

    def _broken(self, groups: Way, most: int, side: float) -> Way:
        """Lines of at most so many panels, which fit into the width with cells of that side."""
        way: Way = []
        for group in groups:
            way.append([])
            for panel in group:
                longer = [*way[-1], panel]
                wide = self._width(self._lines([longer], side))
                if len(longer) > 1 and (len(longer) > most or wide > self.sheet.room):
                    way.append([])
                way[-1].append(panel)
        return way

    def _worth(self, lines: Lines, side: float) -> tuple[int, float]:
        """What they show, and how large for their height; of a grid, how low they are."""
        cell, height = side / self.paper.tick_size, self._height(lines)
        shown = (cell > self.least) + (cell > NUMBER and self.paper.numbers)
        if self.is_grid and shown:  # what can be read need not be larger
            return shown, -height
        apart = all(len({block.panel.group for block in line}) == 1 for line in lines)
        return shown, cell / (height + self.sheet.room / 2) * (1 + apart / 4)

    def _width(self, lines: Lines) -> float:
        gap = self.paper.font_size
        wide = (sum(b.left + b.wide + b.right + gap for b in line) for line in lines)
        return max(wide) - gap

    def _height(self, lines: Lines) -> float:
        gap = self.paper.font_size
        tall = (max(b.above for b in line) + max(b.tall + b.under for b in line) for line in lines)
        return sum(tall) + gap * (len(lines) - 1)

    def _fits(self, lines: Lines) -> bool:
        """A single panel leaves the room of titles it lacks free, or it would only grow."""
        is_bare = len(self.panels) == 1 and not self.paper.axis_titles
        room = self.sheet.room - self.title * is_bare
        return self._height(lines) <= self.sheet.height and self._width(lines) <= room

    def _lines(self, way: Way, side: float) -> Lines:
        """The panels with cells of that side."""
        found: Lines = []
        for line, below in zip(way, [*way[1:], []], strict=True):
            neighbours = zip([None, *line], line, [*line[1:], None], strict=False)
            found.append([])
            for k, (before, panel, after) in enumerate(neighbours):
                outer = not (before and before.same_rows(panel))
                under = not (self.is_grid and k < len(below))
                barred = self.paper.bar and not (after and after.scale == panel.scale)
                if panel.name == "mask":  # 0 and −∞ need none, but others may share theirs
                    barred = barred and before is not None and before.scale == panel.scale
                if self.is_grid:
                    barred = barred and line is way[0]
                found[-1].append(self.block(panel, side, outer, under, barred))
        return found

    def _block(self, panel: Panel, side: float, outer: bool, under: bool, barred: bool) -> Block:
        """A panel with cells of that side, with the room for labels, heading and bar."""
        size, tick, widest = self.paper.font_size, self.paper.tick_size, self.sheet.letters.widest
        most = self.sheet.width if self.is_grid else LONGEST * size
        (high, across), (row_title, column_title) = panel.values.shape, panel.titles
        wide, tall = min(across * side, most), min(high * side, most)
        rows = self._ticks(panel.labels[0], tall / high, False) if outer else Ticks()
        columns = self._ticks(panel.labels[1], wide / across, True) if under else Ticks()
        label, turned = widest(columns.labels, tick), columns.turned
        left = (widest(rows.labels, tick) + TICK + PAD + self.title * bool(row_title)) * outer
        below = TICK + PAD + (label if turned else LINE * tick) + self.title * bool(column_title)
        # words that are longer than their side, in the middle of it or from its beginning
        beyond = max(widest([column_title], size) - wide, label * (not turned) - wide / across, 0)
        right = max(beyond / 2, widest([panel.heading], size) - wide)
        over = max(widest([row_title], size) * outer - tall, 0) / 2
        above = max(over, LINE * size * bool(panel.heading) + self.sheet.pad)
        below, bar = max(below * under, over), barred * max(tall, self.bar_least)
        gap = BAR + beyond / 2 * (bar > tall)  # beside the columns' words
        if barred:
            right = max(right, gap + BAR + self.bar_room(panel.scale))
            below = max(below, bar - tall + tick)
        return Block(
            panel, wide, tall, rows, columns, bar, gap, max(left, beyond / 2), right, above, below
        )

    def _ticks(self, texts: tuple[str, ...], cell: float, across: bool) -> Ticks:
        """Labels for cells of that side: words too wide for it are turned, what touches thinned."""
        labels, tick = self.words[texts], self.paper.tick_size
        counts = _counts(texts)
        needed = self.sheet.letters.widest(labels, tick) + tick / 2
        turned = across and needed > cell and not counts
        step = math.ceil((needed if across and not turned else LABEL * tick) / cell)
        step = next((nice for nice in STEPS if nice >= step), step)
        first = min(step, len(labels)) - 1 if counts else 0
        omits = step > 1 and not counts
        return Ticks(range(first, len(labels), step), labels[first::step], turned, omits)

    def _bar_room(self, scale: Scale) -> float:
        """The width of what stands beside a colour bar."""
        labels = self.sheet.letters.widest(ticks_of(scale)[1], self.paper.tick_size)
        return TICK + PAD + labels + self.title * bool(self.bar_title)


def _counts(texts: tuple[str, ...]) -> bool:
    """Whether labels are numbers from 1, of which some may be left out without a word."""
    return texts == tuple(map(str, range(1, len(texts) + 1)))


def ticks_of(scale: Scale) -> tuple[list[float], list[str]]:
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
