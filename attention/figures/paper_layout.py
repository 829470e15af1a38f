"""Where everything stands in a paper figure, in points from its upper left corner.

1. All cells of a figure are squares of one side, unless a panel would become too long.
2. For each side, and for each way of breaking the panels into lines, the lines are set: a panel
   that has the rows of the one before it needs no labels, and neighbours whose colours mean the
   same have one bar.
3. Of those that fit into the width and the greatest height, the one is taken whose cells are large
   enough for labels and numbers; among these, the one with the largest cells for its height.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from attention.figures.paper_fonts import Measure, clean
from attention.figures.paper_panels import Panel, Scale, with_subscripts
from attention.limits import BadInput
from attention.numbers import number, numbers
from attention.paper import CM, Paper
from attention.stages import STAGES

LINE = 1.2  # times the size of the letters
MARGIN, TICK, PAD = 3.0, 1.5, 2.0  # around the figure; a tick's length; between ticks and words
BAR_GAP, BAR = 6.0, 6.0  # before a colour bar; its width
SIDES = [72 * 0.95**k for k in range(112)]  # of a cell: an inch to 0.24 points
LONGEST = 24  # times the size of the letters: a side of a panel among others
NUMBER = 2.2  # times the size of labels: a cell whose number can be read
LABELS = 0.3  # of the width: the longest label
DIMENSIONS = {stage.columns for stage in STAGES.values()} | {"d_model", "d_v"}
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # between labels that count


class Ticks(NamedTuple):
    """The labels of an axis."""

    places: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    title: str = ""
    turned: bool = False  # whether those of columns stand upright


class Bar(NamedTuple):
    """A colour bar."""

    beyond: tuple[bool, bool]  # whether numbers lie below and above it
    places: list[float]
    labels: list[str]
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


class Around(NamedTuple):
    """The words over and under all panels, in lines, and the room they take."""

    title: list[str]
    caption: list[str]
    top: float
    under: float

    @classmethod
    def of(cls, paper: Paper, measure: Measure) -> Around:
        size, room = paper.font, CM * paper.size[0] - 2 * MARGIN
        title = measure.wrapped(paper.title, LINE * size, room)
        caption = measure.wrapped(paper.caption, size, room)
        top = MARGIN + (LINE * LINE * len(title) + 0.4) * size * bool(title)
        return cls(title, caption, top, MARGIN + (LINE * len(caption) + 0.6) * size * bool(caption))


class Layout(NamedTuple):
    """Everything in its place."""

    slots: list[Slot]
    height: float
    around: Around
    bar: tuple[Bar, float, float] | None  # of all panels, with its upper left corner


@dataclass(frozen=True)
class Setter:
    """Sets panels into lines."""

    panels: list[Panel]
    paper: Paper
    measure: Measure

    @cached_property
    def is_grid(self) -> bool:
        """Whether they are heads of one stage."""
        return len({panel.name for panel in self.panels}) == 1

    def layout(self) -> Layout:
        """The best way to set them, or one sentence."""
        width, most = (CM * cm for cm in self.paper.size)
        size, room = self.paper.font, width - 2 * MARGIN
        around = Around.of(self.paper, self.measure)
        common = self.is_grid and len(self.panels) > 1 and self.paper.bar
        inside = room - (BAR_GAP + self._bar(self.panels, 15 * size).room) * common
        lines = self._best(inside, most - around.top - around.under)
        longest = max(map(_wide, lines))
        left = MARGIN + (inside - longest) / 2
        slots: list[Slot] = []
        bottom = around.top
        for line in lines:
            x, above = left, max(slot.above for slot in line)
            for slot in line:
                slots.append(replace(slot, x=x + slot.left, y=bottom + above))
                x += slot.left + slot.wide + slot.right
            bottom += _tall(line) + size
        lowest, first = max(slot.y + slot.tall for slot in slots), slots[0].y
        bar = self._bar(self.panels, lowest - first), left + longest + BAR_GAP, first
        height = bottom - size + around.under
        return Layout(slots, height, around, bar if common else None)

    # ---- lines -----------------------------------------------------------------------------------

    def _best(self, room: float, height: float) -> list[list[Slot]]:
        """The lines that show most, with the largest cells for their height; or one sentence."""
        best: tuple[tuple[int, float], list[list[Slot]]] = ((-1, 0.0), [])
        tick = self.paper.tick
        for most, apart in self._ways():
            for side in SIDES:
                lines = self._lines(side, room, most, apart)
                tall = sum(map(_tall, lines)) + self.paper.font * (len(lines) - 1)
                if tall <= height and max(map(_wide, lines)) <= room:
                    shown = (side > LINE * tick) + (side > NUMBER * tick and self.paper.numbers)
                    worth = shown, side / (tall + room / 2)
                    best = max(best, (worth, lines), key=lambda one: one[0])
                    if self.is_grid:
                        break  # smaller cells are no gain in the same lines
        if best[1]:
            return best[1]
        raise BadInput(too_many(len(self.panels), self.paper))

    def _ways(self) -> Iterator[tuple[int, bool]]:
        """How many panels a line holds at most, and whether each group begins a line."""
        count = len(self.panels)
        yield from ((k + 1, False) for k in range(count)) if self.is_grid else ((count, True),)
        yield count, False

    def _lines(self, side: float, room: float, most: int, apart: bool) -> list[list[Slot]]:
        """As many panels in each line as fit; in a grid no labels over another panel."""
        lines: list[list[Panel]] = []
        for panel in self.panels:
            longer = [*lines[-1], panel] if lines else []
            goes_on = 0 < len(longer) <= most
            goes_on = goes_on and not (apart and longer[-2].group != panel.group)
            if goes_on and (self.is_grid or _wide(self._line(longer, side)) <= room):
                lines[-1] = longer
            else:
                lines.append([panel])
        found = [self._line(line, side) for line in lines]
        for line, following in zip(found, found[1:] if self.is_grid else [], strict=False):
            for k in range(len(following)):
                line[k] = replace(line[k], columns=Ticks(), below=0.0)
        return found

    def _line(self, panels: list[Panel], side: float) -> list[Slot]:
        """Panels side by side."""
        slots: list[Slot] = []
        run: list[Panel] = []
        for k, panel in enumerate(panels):
            run = [*run, panel] if run and run[-1].scale == panel.scale else [panel]
            is_last = k + 1 == len(panels) or panels[k + 1].scale != panel.scale
            barred = is_last and self.paper.bar and (len(self.panels) == 1 or not self.is_grid)
            before = panels[k - 1]
            outer = k == 0 or (before.titles[0], before.rows) != (panel.titles[0], panel.rows)
            slot = self._slot(panel, side, outer, run if barred else [])
            slots.append(replace(slot, left=slot.left + self.paper.font * (k > 0)))
        return slots

    # ---- panels ----------------------------------------------------------------------------------

    def _slot(self, panel: Panel, side: float, outer: bool, run: list[Panel]) -> Slot:
        """A panel with cells of that side, with the room for labels, heading and bar."""
        size, tick, widest = self.paper.font, self.paper.tick, self.measure.widest
        most = CM * self.paper.size[0] if self.is_grid else LONGEST * size
        (height, across), (all_rows, all_columns) = panel.matrix.shape, self._labels[panel]
        wide, tall = min(across * side, most), min(height * side, most)
        rows = _thinned(all_rows, math.ceil(LINE * tick * height / tall)) if outer else Ticks()
        columns = self._fitting(all_columns, wide / across)
        label, title = widest(columns.labels, tick), PAD + LINE * size
        over = max(
            widest([columns.title], size) - wide, (not columns.turned) * label - wide / across
        )
        left = TICK + PAD + widest(rows.labels, tick) + title * bool(rows.title)
        left, right = max(left * bool(rows.labels), over / 2), max(over / 2, 0.0)
        over = (widest([rows.title], size) - tall) / 2
        above = max(over, 0.0) + PAD if not panel.heading else max(over, LINE * size + 2 * PAD)
        below = TICK + PAD + (label if columns.turned else LINE * tick)
        below = max(below + title * bool(columns.title), over)
        bar = None
        if any(one.name != "mask" for one in run):  # 0 and −∞ need none
            bar = self._bar(run, max(tall, 4 * tick))
            right, below = max(right, BAR_GAP + bar.room), max(below, bar.tall - tall + tick)
        right = max(right, widest([panel.heading], size) - wide)
        return Slot(panel, wide, tall, rows, columns, left, right, above, below, bar)

    @cached_property
    def _labels(self) -> dict[Panel, list[Ticks]]:
        """All labels of each panel's rows and columns, as they are printed."""
        room, tick = LABELS * CM * self.paper.size[0], self.paper.tick
        found: dict[Panel, list[Ticks]] = {panel: [] for panel in self.panels}
        for panel, ticks in found.items():
            for texts, axis in zip((panel.rows, panel.columns), panel.titles, strict=True):
                labels = tuple(self.measure.cut(text, tick, room) for text in texts)
                title = with_subscripts(axis) if axis in DIMENSIONS else clean(axis)
                title *= self.paper.axis_titles
                ticks.append(Ticks(tuple(range(len(labels))), labels, title))
        return found

    def _fitting(self, labels: Ticks, cell: float) -> Ticks:
        """Labels of columns: where they do not fit, numbers are thinned and words turned."""
        needed = self.measure.widest(labels.labels, self.paper.tick) + 0.5 * self.paper.tick
        if needed <= cell or _counts(labels):
            return _thinned(labels, math.ceil(needed / cell))
        return _thinned(labels, math.ceil(LINE * self.paper.tick / cell))._replace(turned=True)

    def _bar(self, run: list[Panel], tall: float) -> Bar:
        """The colour bar of panels whose colours mean the same."""
        tick, below, above = self.paper.tick, *zip(*(panel.beyond for panel in run), strict=True)
        places, labels = _marks(run[0].scale, min(max(int(tall / (2.5 * tick)), 1), 6))
        title = clean(self.paper.bar_title or "")
        if self.paper.bar_title is None and self.is_grid and run[0].name in STAGES:
            title = with_subscripts(STAGES[run[0].name].heading)
        room = BAR + TICK + PAD + self.measure.widest(labels, tick)
        room += (PAD + LINE * self.paper.font) * bool(title)
        return Bar((any(below), any(above)), places, labels, title, tall, room)


def too_many(count: int, paper: Paper) -> str:
    """The sentence where panels do not fit."""
    wide, high = paper.size
    return (
        f"{'1 panel does' if count == 1 else f'{count} panels do'} not fit on {wide:g} ×"
        f" {high:g} cm with letters of {paper.font:g} pt: choose fewer panels, smaller"
        " letters, or a larger width or height."
    )


def _wide(line: list[Slot]) -> float:
    return sum(slot.left + slot.wide + slot.right for slot in line)


def _tall(line: list[Slot]) -> float:
    return max(slot.above for slot in line) + max(slot.tall + slot.below for slot in line)


def _counts(ticks: Ticks) -> bool:
    return ticks.labels == tuple(str(k + 1) for k in ticks.places)


def _thinned(ticks: Ticks, step: int) -> Ticks:
    """One label of so many; of those that count, multiples of 2, 5, 10 …"""
    first = 0
    if _counts(ticks):
        step = next((nice for nice in STEPS if nice >= step), step)
        first = min(step, len(ticks.labels)) - 1
    return ticks._replace(places=ticks.places[first::step], labels=ticks.labels[first::step])


@lru_cache(256)
def _marks(scale: Scale, most: int) -> tuple[list[float], list[str]]:
    """The ticks of a colour bar and their labels: round numbers, or powers of ten."""
    if scale.logarithmic:
        powers = range(math.ceil(math.log10(scale.low)), math.floor(math.log10(scale.high)) + 1)
        powers = powers[:: -(-len(powers) // (most + 1)) or 1]
        if len(powers) < 2:
            return [scale.low, scale.high], [number(scale.low), number(scale.high)]
        return [10.0**k for k in powers], [f"$10^{{{k}}}$" for k in powers]
    ticks = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(scale.low, scale.high)
    slack, found = 1e-9 * (scale.high - scale.low), np.asarray(ticks)
    found = found[(found >= scale.low - slack) & (found <= scale.high + slack)]
    digits = next((d for d in range(12) if np.allclose(np.round(found, d), found, rtol=1e-9)), 12)
    return found.tolist(), numbers(found, digits)
