"""The other code's numbers, and whether rounding alone can part them from ours.

Three kinds of rounding are told apart: what writing the numbers down cost (see
:mod:`attention.frameworks.precision`), what arithmetic in float32 may cost, and what arithmetic in
half precision may cost. The last is granted where the numbers show half precision, and else only as
a possibility. The bounds were set by measuring torch's kernels (tests/peers/record_kernels.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from attention.arrays.checks import as_floats
from attention.arrays.distance import CELLS, blocks, distance, largest_finite
from attention.frameworks.diagnosis.bench import Bench, Stages
from attention.frameworks.diagnosis.mistakes import Mistake
from attention.frameworks.precision import KERNELS, SINGLE, Written

Set = tuple[Mistake, ...]
MOST_EXCUSED = 0.05  # of the size of a number, by any arithmetic


@dataclass(frozen=True, eq=False)
class Target:
    """The numbers to be explained: the other code's output, or its weights."""

    name: str  # "output" or "weights"
    values: np.ndarray
    written: Written
    size: np.ndarray  # what errors are measured by: Σ weight · |value|, which cancels nothing
    turn: float = 0.0  # the largest angle of a rotation
    room: np.ndarray | None = None  # what rounding the inputs may change in each; None: nothing

    @cached_property
    def half_unit(self) -> np.ndarray:
        """Return how far rounding, that of the inputs too, may have changed each of the numbers."""
        unit = self.written.half_unit(self.values)
        return unit if self.room is None else unit + self.room

    @cached_property
    def unit(self) -> float:
        """Return how far rounding may have changed most numbers, as a share of the largest."""
        units: np.ndarray = np.empty(self.values.shape)
        for rows, part in self.parts():
            np.multiply(2, part.written.half_unit(part.values), out=units[..., rows, :])
        units = units.reshape(-1)
        below, share = divmod(0.9 * (units.size - 1), 1)  # as np.quantile does, but in place
        units.partition(int(below))
        upper = units[int(below) :]
        near = [upper[0], upper[1:].min(initial=np.inf) if share else upper[0]]
        with np.errstate(over="ignore"):  # beside subnormal numbers any other is far
            return float(np.quantile(near, share) / (largest_finite(self.values) or 1.0))

    @cached_property
    def spread(self) -> float:
        """The root of the mean squared number, relative to the size: how far off 0 would be."""
        squares = 0.0
        for _, part in self.parts():
            numbers = np.abs(np.where(np.isfinite(part.values), part.values, 0))
            squares += _squares(_relative(numbers, part.size))
        return math.sqrt(squares / self.values.size)

    def rows(self, queries: np.ndarray | slice | None) -> Target:
        """Those of some queries."""
        if queries is None:
            return self
        return self._cut((..., queries, slice(None)))

    def columns(self, columns: slice) -> Target:
        """Those of some columns."""
        return self._cut((..., columns))

    def parts(self) -> Iterator[tuple[slice, Target]]:
        """Blocks of rows that take little memory, and which rows they are; a small one is whole."""
        for rows in blocks(self.values.shape):
            whole = rows.start == 0 and rows.stop >= self.values.shape[-2]
            yield rows, self if whole else self.rows(rows)

    def of_head(self, index: tuple[int, ...]) -> Target:
        """Those of one item and head, where they have these axes."""
        return self._cut(index)

    def _cut(self, index: tuple) -> Target:
        room = None if self.room is None else self.room[index]
        return replace(self, values=self.values[index], size=self.size[index], room=room)

    def view(self, bench: Bench, stages: Stages, what: str = "") -> np.ndarray | None:
        """Return the stage in the shape of these numbers; None where it has none."""
        views = bench.views(self.name, stages[self.name + what])
        return next((view for view in views if view.shape == self.values.shape), None)

    def drawn_view(self, bench: Bench, stages: Stages) -> np.ndarray | None:
        """Return the stage in the shape of these numbers, once for each draw of the inputs."""
        views = bench.views(self.name, stages[self.name])
        return next((view for view in views if view.shape[1:] == self.values.shape), None)


Sizes = Callable[[np.ndarray, np.ndarray], np.ndarray]
Apart = tuple[np.ndarray, np.ndarray, Target]  # of some rows: distances, finite sizes, numbers


@dataclass(frozen=True)
class Verdict:
    """How far attention with some mistakes is from the numbers."""

    far: float  # the largest distance, relative to the size
    spread: float  # the root of the mean squared one
    error: float  # the largest distance as it is
    half: str | None  # the half precision that excuses it, where nothing shows that
    fits: bool  # whether rounding explains the distance, half precision included
    by_inputs: bool = False  # whether it takes the rounding of the inputs

    @property
    def as_written(self) -> bool:
        """Whether the rounding that can be seen explains it."""
        return self.fits and self.half is None


def numbers_of(
    given: dict[str, Any], right: dict[str, list[tuple[int, ...]]], more: list[tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """Return the other code's numbers as they came, or refuse a shape that no set can give.

    ``right`` are the shapes that right attention may give, ``more`` those that some mistake gives
    the output.
    """
    found = {}
    for name, value in given.items():
        if value is None:
            continue
        values = as_floats(**{name: value})[0].astype(np.float64)
        if values.shape not in [*right[name], *(more if name == "output" else [])]:
            wanted = " or ".join(map(str, sorted(set(right[name]), key=len)))
            turned = (
                name == "output"
                and (
                    *values.shape[:-2],
                    *values.shape[:-3:-1],
                )
                in right[name]
            )
            raise ValueError(
                f"{name}: the shape is {values.shape}; expected {wanted} for these inputs."
                + (" Are its tokens the columns? Then transpose it." if turned else "")
            )
        if not values.size:
            raise ValueError(
                f"{name}: the shape is {values.shape}; there is no number in it to compare."
            )
        found[name] = values
    if not found:
        raise ValueError("neither output nor weights is given; give the numbers of the other code.")
    return found


def floored(size: np.ndarray) -> np.ndarray:
    """Return sizes where a row that sees no key, of size 0, is measured by others of its column."""
    size = np.where(np.isfinite(size), size, 0)
    size = np.maximum(size, (size / max(size.shape[-2], 1)).sum(axis=-2, keepdims=True))
    return np.where(size > 0, size, largest_finite(size) or 1.0)


def judge(bench: Bench, mistakes: Set, given: Iterable[Target]) -> Verdict | None:
    """Whether rounding alone parts these mistakes from the numbers; None: there is no room."""
    stages = bench.run(mistakes)
    return None if stages is None else judge_answers(bench, stages, given)


def judge_answers(bench: Bench, stages: Stages, given: Iterable[Target]) -> Verdict | None:
    """Return the verdict on all answers; None where these stages give none of the shape of one."""
    largest_score = largest_finite(stages["scaled"])
    verdicts = [judge_stages(bench, stages, target, largest_score) for target in given]
    told = [verdict for verdict in verdicts if verdict is not None]
    return worst(told) if len(told) == len(verdicts) else None


def judge_stages(
    bench: Bench, stages: Stages, target: Target, largest_score: float
) -> Verdict | None:
    """Return the verdict on one answer; None where these stages give none of its shape."""
    view, size = target.view(bench, stages), target.view(bench, stages, " size")
    return None if view is None or size is None else compare(target, view, size, largest_score)


def _relative(distances: np.ndarray, size: np.ndarray | float) -> np.ndarray:
    with np.errstate(over="ignore"):  # a huge number beside tiny ones is infinitely far off
        return distances / size


def _squares(relative: np.ndarray) -> float:
    return float(np.square(np.minimum(relative, 1e150)).sum())


def compare(
    target: Target,
    view: np.ndarray,
    size: np.ndarray,
    largest_score: float,
    telling: Sizes | None = None,
) -> Verdict:
    """One verdict: by what is written first, by half precision that nothing shows last.

    ``telling`` makes, of some numbers and their sizes, the sizes by which distances are looked at
    for whether they are like rounding, where those that bound them were raised; numbers of size 0
    do not tell.
    """

    def blocks_apart(telling: Sizes | None = None) -> Iterator[Apart]:
        for rows, part in target.parts():
            ours, of_size = view[..., rows, :], size[..., rows, :]
            of_size = np.nan_to_num(telling(ours, of_size) if telling else of_size, posinf=0)
            yield distance(ours, part.values), of_size, part

    small = list(blocks_apart()) if target.values.size <= CELLS else None
    apart = blocks_apart if small is None else lambda: small
    tells = apart if telling is None else lambda: blocks_apart(telling)
    far = error = squares = 0.0
    near = True
    for distances, of_size, part in apart():
        near = near and not (distances > part.half_unit + MOST_EXCUSED * of_size).any()
        relative = _relative(distances, part.size)
        squares += _squares(relative)
        far, error = max(far, float(relative.max())), max(error, float(distances.max()))
    spread = math.sqrt(squares / target.values.size)
    if not near:
        return Verdict(far, spread, error, None, False)
    shown = target.written.half
    if shown:
        return Verdict(far, spread, error, None, _within_half(apart, largest_score, shown))
    if _within_single(apart, largest_score):
        return Verdict(far, spread, error, None, True)
    for half in sorted(("float16", "bfloat16"), key=lambda name: name not in target.written.may_be):
        if _within_half(apart, largest_score, half) and _even(tells, half):
            return Verdict(far, spread, error, half, True)
    return Verdict(far, spread, error, None, False)


def _within_single(apart: Callable[[], Iterable[Apart]], largest_score: float) -> bool:
    """Return the share by which an error of the scores moves a weight; it excuses no noise."""

    def rounding(turn: float) -> float:
        return min((6 * (1 + largest_score) + 2 * largest_score * turn) * SINGLE, 0.01)

    return all(
        (far <= part.half_unit + rounding(part.turn) * size).all() for far, size, part in apart()
    )


def _within_half(apart: Callable[[], Iterable[Apart]], largest_score: float, half: str) -> bool:
    """Half precision excuses much: its errors are bounded each, more tightly all together."""
    roundoff = KERNELS[half]
    most = min(1.5 * (1 + largest_score) * roundoff, MOST_EXCUSED)
    together = min(0.6 + 0.15 * largest_score, 4) * roundoff
    squares = room = 0.0
    for distances, size, part in apart():
        if not (distances <= part.half_unit + most * size).all():
            return False
        squares += _squares(_relative(distances, part.size))
        room += _squares(_relative(part.half_unit + together * size, part.size))
    return squares <= room


def _even(apart: Callable[[], Iterable[Apart]], half: str) -> bool:
    """Whether the distances look like rounding: everywhere, and none far beyond the others.

    Each is measured by what half precision and writing the number down may have changed.
    """
    relative, count = np.empty(sum(part.values.size for _, _, part in apart())), 0
    for distances, size, part in apart():
        tells = size > 0
        room = size[tells] * KERNELS[half] + part.half_unit[tells]
        told = distances[tells] / room
        relative[count : count + len(told)] = told
        count += len(told)
    relative = relative[:count]
    if count < 3:
        return True
    relative.sort()
    largest, middle = relative[-1], np.median(relative[(count - 1) // 2 : count // 2 + 1])
    others = math.sqrt(float(np.square(relative[:-1], out=relative[:-1]).mean()))
    return bool(largest <= 15 * others and middle >= 0.05 * others)


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the verdict on several arrays or blocks together."""
    halves = {v.half for v in verdicts} - {None}
    return Verdict(
        max(v.far for v in verdicts),
        max(v.spread for v in verdicts),
        max(v.error for v in verdicts),
        "bfloat16" if "bfloat16" in halves else next(iter(halves), None),
        all(v.fits for v in verdicts),
    )
