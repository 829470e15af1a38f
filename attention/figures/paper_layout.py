"""Where everything stands in a paper figure, in points from its upper left corner.

1. All cells of a figure are squares of one side, unless a panel would become too long.
2. For each side, and for each way of breaking the panels into lines, the lines are set: a panel
   that has the rows of the one before it needs no labels, and neighbours whose colours mean the
   same have one bar.
3. Of those that fit into the width and the greatest height, the one with the largest cells for its
   height is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from attention.figures.paper import CM, Paper
from attention.figures.paper_fonts import Measure, clean
from attention.figures.paper_panels import Panel, Scale, with_subscripts
from attention.limits import BadInput
from attention.numbers import number, numbers
from attention.stages import STAGES

LINE = 1.2  # times the size of the letters
MARGIN, TICK, PAD = 3.0, 1.5, 2.0  # around the figure; a tick's length; between ticks and words
BAR_GAP, BAR = 6.0, 6.0  # before a colour bar; its width
SIDES = [72 * 0.95**k for k in range(112)]  # of a cell: an inch to 0.24 points
LONGEST = 24  # times the size of the letters: a side of a panel among others
LABELS = 0.3  # of the width: the longest label
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # between labels that count


class Ticks(NamedTuple):
    """The labels of an axis."""

    places: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    title: str = ""
    turned: bool = False  # whether those of columns stand upright


class Bar(NamedTuple):
    """A colour bar."""

    scale: Scale
    beyond: tuple[bool, bool]  # whether numbers lie below and above it
    places: tuple[float, ...]
    labels: tuple[str, ...]
    title: str
    tall: float
    room: float  # the width of all that belongs to it


@dataclass(frozen=True, eq=False)
class Slot:
    """A panel, and the room around its cells."""

    panel: Panel
    wide: float  # the cells
    tall: float
    rows: Ticks
    columns: Ticks
    left: float
    right: float
    above: float
    below: float
    bar: Bar | None
    x: float = 0.0  # of the upper left corner of the cells
    y: float = 0.0


class Layout(NamedTuple):
    """Everything in its place."""

    slots: list[Slot]
    height: float
    title: list[str]
    caption: list[str]
    bar: tuple[Bar, float, float] | None  # of all panels, with its upper left corner


@dataclass(frozen=True)
class Setter:
    """Sets panels into lines."""

    panels: list[Panel]
    paper: Paper
    measure: Measure

    @property
    def is_grid(self) -> bool:
        """Whether they are heads of one stage."""
        return len({panel.name for panel in self.panels}) == 1

    def layout(self) -> Layout:
        """The best way to set them, or one sentence."""
        width, most = (CM * cm for cm in self.paper.size)
        size, room = self.paper.font, width - 2 * MARGIN
        title = self.measure.wrapped(self.paper.title, LINE * size, room)
        caption = self.measure.wrapped(self.paper.caption, size, room)
        top = MARGIN + (LINE * LINE * len(title) + 0.4) * size * bool(title)
        under = MARGIN + (LINE * len(caption) + 0.6) * size * bool(caption)
        common = self.is_grid and len(self.panels) > 1 and self.paper.bar
        bar = self._bar(self.panels, 10 * size) if common else None
        inside = room - (bar.room if bar else 0)
        lines = self._best(inside, most - top - under)
        if not lines:
            raise BadInput(self._refusal())
        left = MARGIN + (inside - max(map(_wide, lines))) / 2
        slots, bottom = [], top
        for line in lines:
            x, above = left, max(slot.above for slot in line)
            for slot in line:
                slots.append(replace(slot, x=x + slot.left, y=bottom + above))
                x += slot.left + slot.wide + slot.right
            bottom += _tall(line) + size
        placed = None
        if bar:
            lowest = max(slot.y + slot.tall for slot in slots)
            bar = self._bar(self.panels, lowest - slots[0].y)
            placed = bar, left + max(map(_wide, lines)) + BAR_GAP, slots[0].y
        return Layout(slots, bottom - size + under, title, caption, placed)

    def _refusal(self) -> str:
        wide, high = self.paper.size
        count = len(self.panels)
        return (
            f"{'1 panel does' if count == 1 else f'{count} panels do'} not fit on"
            f" {wide:g} × {high:g} cm with letters of {self.paper.font:g} pt: choose fewer"
            " stages or heads, smaller letters, or a larger width or height."
        )

    # ---- lines -----------------------------------------------------------------------------------

    def _best(self, room: float, height: float) -> list[list[Slot]]:
        """The lines with the largest cells for their height; none where nothing fits."""
        best: tuple[float, list[list[Slot]]] = (0.0, [])
        for split in self._splits(room):
            for side in SIDES:
                lines = split(side)
                tall = sum(map(_tall, lines)) + self.paper.font * (len(lines) - 1)
                if tall > height or max(map(_wide, lines)) > room:
                    continue
                best = max(best, (side / (tall + room / 2), lines), key=lambda one: one[0])
                if self.is_grid:
                    break  # smaller cells are no gain in the same lines
        return best[1]

    def _splits(self, room: float) -> Iterator[Callable[[float], list[list[Slot]]]]:
        """The ways to break the panels into lines, each for a given side of a cell."""
        if self.is_grid:
            for count in range(1, len(self.panels) + 1):
                yield lambda side, count=count: self._grid(side, count)
        else:
            yield lambda side: self._flow(side, room, apart=True)
            yield lambda side: self._flow(side, room, apart=False)

    def _grid(self, side: float, count: int) -> list[list[Slot]]:
        """So many in each line; labels only where no panel lies further out."""
        starts = range(0, len(self.panels), count)
        lines = [self._line(self.panels[start : start + count], side) for start in starts]
        for line, following in zip(lines, lines[1:], strict=False):
            for k in range(len(following)):
                line[k] = replace(line[k], columns=Ticks(), below=0.0)
        return lines

    def _flow(self, side: float, room: float, apart: bool) -> list[list[Slot]]:
        """As many in each line as fit; ``apart``: each group and head begins a line."""
        lines: list[list[Panel]] = []
        for panel in self.panels:
            if lines and not (apart and _group(panel) != _group(lines[-1][-1])):
                longer = [*lines[-1], panel]
                if _wide(self._line(longer, side)) <= room:
                    lines[-1] = longer
                    continue
            lines.append([panel])
        return [self._line(line, side) for line in lines]

    def _line(self, panels: list[Panel], side: float) -> list[Slot]:
        """Panels side by side."""
        slots: list[Slot] = []
        run: list[Panel] = []
        for k, panel in enumerate(panels):
            run = [*run, panel] if run and run[-1].scale == panel.scale else [panel]
            is_last = k + 1 == len(panels) or panels[k + 1].scale != panel.scale
            barred = is_last and self.paper.bar and not (self.is_grid and len(self.panels) > 1)
            outer = k == 0 or _rows(panels[k - 1]) != _rows(panel)
            slot = self._slot(panel, side, outer, run if barred else [])
            slots.append(replace(slot, left=slot.left + self.paper.font * (k > 0)))
        return slots

    # ---- panels ----------------------------------------------------------------------------------

    def _slot(self, panel: Panel, side: float, outer: bool, run: list[Panel]) -> Slot:
        """A panel with cells of that side, with the room for labels, heading and bar."""
        size, tick = self.paper.font, self.paper.tick
        width = CM * self.paper.size[0]
        most = width if len(self.panels) == 1 else LONGEST * size
        wide, tall = (min(count * side, most) for count in reversed(panel.matrix.shape))
        stage, (count, across) = STAGES[panel.name], panel.matrix.shape
        rows = self._labels(panel.view.rows(panel.name), stage.rows)
        columns = self._labels(panel.view.columns(panel.name), stage.columns)
        rows = _thinned(rows, math.ceil(LINE * tick / (tall / count))) if outer else Ticks()
        columns = self._fitting(columns, wide / across)
        title = PAD + LINE * size
        left = right = above = 0.0
        if rows.labels:
            left = TICK + PAD + self.measure.widest(rows.labels, tick) + title * bool(rows.title)
        widest = self.measure.widest(columns.labels, tick)
        below = TICK + PAD + (widest if columns.turned else LINE * tick)
        below += title * bool(columns.title)
        over = max(0.0 if columns.turned else widest - wide / across, 0.0)
        over = max(over, self._title(columns.title) - wide) / 2
        left, right = max(left, over), max(right, over)
        over = max(self._title(rows.title) - tall, 0.0) / 2
        above, below = max(above, over), max(below, over)
        above = max(above + PAD, (LINE * size + 2 * PAD) * bool(panel.heading))
        bar = self._bar(run, max(tall, 4 * tick)) if run and panel.has_bar else None
        if bar:
            right = max(right, BAR_GAP + bar.room)
            below = max(below, bar.tall - tall + tick)
        right = max(right, self.measure.width(panel.heading, size, True) - wide)
        return Slot(panel, wide, tall, rows, columns, left, right, above, below, bar)

    def _title(self, text: str) -> float:
        return self.measure.width(text, self.paper.font, True) if text else 0.0

    def _labels(self, texts: tuple[str, ...], axis: str) -> Ticks:
        """All labels of an axis, as they are printed."""
        room, tick = LABELS * CM * self.paper.size[0], self.paper.tick
        names = {"queries": self.paper.query, "keys": self.paper.key, "sum": ""}
        title = clean(names[axis]).replace("$", r"\$") if axis in names else with_subscripts(axis)
        labels = tuple(self.measure.cut(clean(text), tick, room) for text in texts)
        return Ticks(tuple(range(len(texts))), labels, title if self.paper.axis_titles else "")

    def _fitting(self, all_of_them: Ticks, cell: float) -> Ticks:
        """Labels of columns: side by side where they fit; else turned, or thinned where short.

        They are turned where that shows all, or where they are too long to stand side by side.
        """
        tick = self.paper.tick
        needed = self.measure.widest(all_of_them.labels, tick) + 0.5 * tick
        if needed <= cell:
            return all_of_them
        if cell < LINE * tick and needed <= 3 * tick:
            return _thinned(all_of_them, math.ceil(needed / cell))
        thinned = _thinned(all_of_them, math.ceil(LINE * tick / cell))
        return thinned._replace(turned=True)

    def _bar(self, run: list[Panel], tall: float) -> Bar:
        """The colour bar of panels whose colours mean the same."""
        scale, tick = run[0].scale, self.paper.tick
        below, above = zip(*(panel.beyond for panel in run), strict=True)
        places, labels = _marks(scale, max(int(tall / (2.5 * tick)), 1))
        title = self.paper.bar_title
        if title is None:
            title = STAGES[run[0].name].heading if self.is_grid else ""
        room = BAR + TICK + PAD + max(self.measure.width(one, tick, True) for one in labels)
        room += (PAD + LINE * self.paper.font) * bool(title)
        shown = clean(title).replace("$", r"\$")
        return Bar(scale, (any(below), any(above)), places, labels, shown, tall, room)


def _wide(line: list[Slot]) -> float:
    return sum(slot.left + slot.wide + slot.right for slot in line)


def _tall(line: list[Slot]) -> float:
    return max(slot.above for slot in line) + max(slot.tall + slot.below for slot in line)


def _group(panel: Panel) -> tuple[int, str]:
    return panel.view.head, STAGES[panel.name].group


def _rows(panel: Panel) -> tuple[str, tuple[str, ...]]:
    return STAGES[panel.name].rows, panel.view.rows(panel.name)


def _thinned(ticks: Ticks, step: int) -> Ticks:
    """Each so manieth label; of those that count, multiples of 2, 5, 10 …"""
    if step <= 1:
        return ticks
    first = 0
    if ticks.labels == tuple(str(k + 1) for k in ticks.places):
        step = next((nice for nice in STEPS if nice >= step), step)
        first = min(step, len(ticks.labels)) - 1
    places = tuple(range(first, len(ticks.labels), step))
    return ticks._replace(places=places, labels=tuple(ticks.labels[k] for k in places))


def _marks(scale: Scale, most: int) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The ticks of a colour bar and their labels: round numbers, or powers of ten."""
    if scale.logarithmic:
        powers = range(math.ceil(math.log10(scale.low)), math.floor(math.log10(scale.high)) + 1)
        powers = powers[:: -(-len(powers) // (most + 1)) or 1]
        if len(powers) > 1:
            return tuple(10.0**k for k in powers), tuple(f"$10^{{{k}}}$" for k in powers)
        return (scale.low, scale.high), (number(scale.low), number(scale.high))
    found = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(scale.low, scale.high)
    slack = 1e-9 * (scale.high - scale.low)
    found = found[(found >= scale.low - slack) & (found <= scale.high + slack)]
    digits = next((d for d in range(12) if np.allclose(np.round(found, d), found, rtol=1e-9)), 12)
    return tuple(found.tolist()), tuple(numbers(found, digits))
