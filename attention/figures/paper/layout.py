"""Where everything stands in a paper figure, in points.

1. All cells of a figure are squares of one side, unless a panel would become too long.
2. For each side the panels are broken into lines as long as fit, with and without a new line for
   each group of stages. A panel with the rows of the one before needs no labels, nor do the columns
   of a head with another below it; neighbours whose colours mean the same have one bar, and so has
   a grid of heads.
3. Of those that fit the lines are taken that have room for all words and for numbers; among these
   the lowest of a grid of heads, otherwise those with the largest cells for their height, rather
   with each group of stages on a new line. The sides of a comparison have a line for each stage.
"""

from __future__ import annotations

import math
from functools import cache, partial
from itertools import groupby
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from attention.figures.paper.panels import Panel, Scale
from attention.figures.paper.sheet import LINE, MARGIN, PAD, TICK, Sheet
from attention.figures.paper.text import clean, subscripted
from attention.paper import Paper
from attention.vocabulary.numbers import number, numbers
from attention.vocabulary.stages import STAGES

BAR = 6.0  # the width of a colour bar, and of the gap before it
SIDES = [72 * 0.95**k for k in range(112)]  # of a cell: an inch to 0.24 points
LONGEST = 24  # times the size of the letters: a side of a panel among others
NUMBER = 2.4  # times the size of labels: a cell whose number can be read
LABEL = 1.05  # times their size: the least height for a label
SEEN = 0.7  # and of a cell that is seen, where labels count
LABELS = 0.25  # of the width: the longest label
OURS = "0123456789−∞≈.eNa…(abcdefghijklmnopqrstuvwxyz)"  # letters of numbers and headings
ACROSS = 3  # sides of a comparison: two, and their difference
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # between labels that count


class Ticks(NamedTuple):
    """The labels of an axis."""

    places: range = range(0)
    labels: tuple[str, ...] = ()
    turned: bool = False  # whether those of columns stand upright
    left_out: int = 0  # how many words there is no room for


class PanelBox:
    """A panel with cells of one side, and the room around these for labels, heading and bar."""

    x = y = 0.0  # of the upper left corner of the cells

    def __init__(
        self, layout: Layout, panel: Panel, side: float, outer: bool, under: bool, barred: bool
    ) -> None:
        size, tick = layout.paper.font_size, layout.paper.tick_size
        widest, title = layout.letters.widest, layout.axis_title
        self.panel, self.side = panel, side
        (high, across), (row_title, column_title) = panel.values.shape, panel.titles
        most = layout.width if layout.is_grid else LONGEST * size
        self.wide, self.tall = min(across * side, most), min(high * side, most)  # the cells
        self.cell = self.wide / across, self.tall / high
        self.rows = layout.ticks(panel.labels[0], self.cell[1], False) if outer else Ticks()
        columns = layout.ticks(panel.labels[1], self.cell[0], True)
        self.columns = columns if under else Ticks()  # there is room for them above others too
        label, turned = widest(columns.labels, tick), columns.turned
        # words that are longer than their side, in the middle of it or from its beginning
        over = max(widest([row_title], size) * outer - self.tall, 0) / 2
        beyond = widest([column_title], size) - self.wide, label * (not turned) - self.cell[0]
        beside = max(*beyond, 0) / 2
        rows = TICK + PAD + widest(self.rows.labels, tick) + title * bool(row_title)
        below = TICK + PAD + (label if turned else LINE * tick) + title * bool(column_title)
        self.left, self.under = max(rows * outer, beside), max(below * under, over)
        self.above = max(over, LINE * size * bool(panel.heading) + layout.pad)
        self.right = max(beside, widest([panel.heading], size) - self.wide)
        self.bar = barred * max(self.tall, layout.bar_least)  # how long it is
        self.gap = BAR + beside * (self.bar > self.tall)  # before it, beside the columns' words
        if barred:
            self.right = max(self.right, self.gap + BAR + layout.bar_room(panel.scale))
            self.under = max(self.under, self.bar - self.tall + tick * under)


Line = list[PanelBox]


class Layout(Sheet):
    """A sheet with panels in lines."""

    def __init__(self, panels: list[Panel], paper: Paper) -> None:
        labels = {labels for panel in panels for labels in panel.labels}
        words = {word for some in labels for word in some} | {panel.heading for panel in panels}
        super().__init__(paper, "".join(words | {OURS, paper.query, paper.key}))
        self.panels = panels
        names = {panel.name for panel in panels}
        # heads of one stage, whose columns are called alike
        alike = {(panel.labels[1], panel.scale) for panel in panels}
        self.is_grid = len(names) == 1 and len(alike) == 1
        self.are_sides = not self.is_grid and all(panel.is_side for panel in panels)
        stage = STAGES.get(panels[0].name) if len(names) == 1 else None
        self.bar_title = clean(paper.bar_title) or subscripted(stage.heading if stage else "")
        self.bar_least = 6 * paper.tick_size  # how long it is, so that its labels have room
        self.axis_title = LINE * paper.font_size + 2 * PAD  # the room for one of an axis
        cut = partial(self.letters.cut, size=paper.tick_size, room=LABELS * self.width)
        self.words = {words: tuple(map(cut, words)) for words in labels}
        self.least = SEEN if all(map(_counts, labels)) else LABEL
        self.block, self.bar_room = cache(partial(PanelBox, self)), cache(self._bar_room)

    def blocks(self) -> tuple[list[PanelBox], float]:
        """All panels in their places, and the height they take; or one sentence."""
        apart = [list(panels) for _, panels in groupby(self.panels, lambda panel: panel.group)]
        tried = (self._lines(way, side) for side in SIDES for way in ([self.panels], apart))
        found: dict[tuple[int, ...], list[Line]] = {}  # by the lengths of lines, the largest cells
        for lines in filter(self._fits, tried):
            found.setdefault(tuple(map(len, lines)), lines)
        if not found:
            raise self.too_many(len(self.panels))
        counts = tuple(map(len, apart))  # the sides of a stage are read across
        across = found.get(counts) if self.are_sides and max(counts) <= ACROSS else None
        lines = across or max(found.values(), key=self._worth)
        wide, tall = self._placed(lines, self.top)
        blocks = [block for line in lines for block in line]
        for block in blocks:
            block.x += MARGIN + (self.room - wide) / 2
        if self.is_grid and (bar := lines[0][-1]).bar:
            bar.bar = max(bar.bar, blocks[-1].y + blocks[-1].tall - bar.y)
        return blocks, tall

    def _lines(self, groups: list[list[Panel]], side: float) -> list[Line]:
        """Each group from a new line, in lines as long as fit with cells of that side."""
        way: list[list[Panel]] = []
        for group in groups:
            way.append([])
            for panel in group:
                longer = self._line([*way[-1], panel], side)
                if way[-1] and self._placed([longer])[0] > self.room:
                    way.append([])
                way[-1].append(panel)
        below = zip(way, [*way[1:], []], strict=True)
        return [self._line(line, side, len(under), line is not way[0]) for line, under in below]

    def _line(self, line: list[Panel], side: float, below: int = 0, lower: bool = False) -> Line:
        """Panels side by side, above so many; in a grid the bar stands beside the first line."""
        found: Line = []
        for before, panel, after in zip([None, *line], line, [*line[1:], None], strict=False):
            outer = before is None or before.rows != panel.rows
            under = not self.is_grid or len(found) >= below
            barred = self.paper.bar and not (after and after.scale == panel.scale)
            barred = barred and not (self.is_grid and lower)
            if panel.name == "mask":  # 0 and −∞ need none, but others may share theirs
                barred = barred and before is not None and before.scale == panel.scale
            found.append(self.block(panel, side, outer, under, barred))
        return found

    def _placed(self, lines: list[Line], top: float = 0.0) -> tuple[float, float]:
        """Width and height of all blocks, each put in its place."""
        gap, wide, y = self.paper.font_size, 0.0, top
        for line in lines:
            x, y = 0.0, y + max(block.above for block in line)
            for block in line:
                block.x, block.y = x + block.left, y
                x = block.x + block.wide + block.right + gap
            wide = max(wide, x - gap)
            y += max(block.tall + block.under for block in line) + gap
        return wide, y - gap - top

    def _fits(self, lines: list[Line]) -> bool:
        """A single panel leaves the room of titles it lacks free, or it would only grow."""
        is_bare = len(self.panels) == 1 and not self.paper.axis_titles
        wide, tall = self._placed(lines)
        return tall <= self.height and wide <= self.room - self.axis_title * is_bare

    def _worth(self, lines: list[Line]) -> tuple[int, float]:
        """What they show, and how large for their height; of a grid, how low they are."""
        cell, height = lines[0][0].side / self.paper.tick_size, self._placed(lines)[1]
        shown = (cell > self.least) + (cell > NUMBER and self.paper.numbers)
        if self.is_grid and shown:  # what can be read need not be larger
            return shown, -height
        apart = all(len({block.panel.group for block in line}) == 1 for line in lines)
        return shown, cell / (height + self.room / 2) * (1 + apart / 4)

    def ticks(self, texts: tuple[str, ...], cell: float, across: bool) -> Ticks:
        """Labels for cells of that side: words too wide for it are turned, what touches thinned."""
        labels, tick, counts = self.words[texts], self.paper.tick_size, _counts(texts)
        needed = self.letters.widest(labels, tick) + tick / 2
        turned = across and needed > cell and not counts
        step = math.ceil((needed if across and not turned else LABEL * tick) / cell)
        step = next((nice for nice in STEPS if nice >= step), step)
        places = range(min(step, len(labels)) - 1 if counts else 0, len(labels), step)
        left_out = 0 if counts else len(labels) - len(places)
        return Ticks(places, labels[places.start :: step], turned, left_out)

    def _bar_room(self, scale: Scale) -> float:
        """The width of what stands beside a colour bar."""
        labels = self.letters.widest(ticks_of(scale)[1], self.paper.tick_size)
        return TICK + PAD + labels + self.axis_title * bool(self.bar_title)


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
    return found.tolist(), numbers(found, digits, least=1)  # they are exact with these decimals
