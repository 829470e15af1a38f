"""The other code's numbers, and whether rounding alone can part them from ours.

Three kinds of rounding are told apart: what writing the numbers down cost (see
:mod:`attention.frameworks.precision`), what arithmetic in float32 may cost, and what arithmetic in
half precision may cost. The last is granted where the numbers show half precision, and else only as
a possibility. The bounds were set by measuring torch's kernels (tests/peers/record_kernels.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention.arrays import as_floats
from attention.frameworks.bench import Bench, Stages
from attention.frameworks.distance import distance, largest_finite
from attention.frameworks.mistakes import Mistake
from attention.frameworks.precision import SINGLE, UNIT_ROUNDOFF, Written, written

Set = tuple[Mistake, ...]


@dataclass(frozen=True, eq=False)
class Target:
    """The numbers to be explained: the other code's output, or its weights."""

    name: str  # "output" or "weights"
    values: np.ndarray
    written: Written
    size: np.ndarray  # what errors are measured by: Σ weight · |value|, which cancels nothing

    def rows(self, queries: np.ndarray | None) -> Target:
        """Those of some queries."""
        if queries is None:
            return self
        half_unit = self.written.half_unit[..., queries, :]
        return replace(
            self,
            values=self.values[..., queries, :],
            size=self.size[..., queries, :],
            written=replace(self.written, half_unit=half_unit),
        )

    def of_head(self, index: tuple[int, ...]) -> Target:
        """Those of one item and head, where they have these axes."""
        return replace(
            self,
            values=self.values[index],
            size=self.size[index],
            written=replace(self.written, half_unit=self.written.half_unit[index]),
        )

    def view(self, bench: Bench, stages: Stages, what: str = "") -> np.ndarray | None:
        """The stage in the shape of these numbers; None where it has none."""
        views = bench.views(self.name, stages[self.name + what])
        return next((view for view in views if view.shape == self.values.shape), None)


@dataclass(frozen=True)
class Verdict:
    """How far attention with some mistakes is from the numbers."""

    far: float  # the largest distance, relative to the size
    spread: float  # the root of the mean squared one
    error: float  # the largest distance as it is
    half: str | None  # the half precision that excuses it, where nothing shows that
    fits: bool  # whether rounding explains the distance, half precision included

    @property
    def as_written(self) -> bool:
        """Whether the rounding that can be seen explains it."""
        return self.fits and self.half is None


def targets(
    given: dict[str, Any],
    shapes: dict[str, list[tuple[int, ...]]],
    sizes: dict[str, list[np.ndarray]],
    decimals: int | None,
) -> list[Target]:
    """The other code's numbers as they came, or one sentence about a shape that no set can give."""
    found = []
    for name, value in given.items():
        if value is None:
            continue
        values = as_floats(**{name: value})[0].astype(np.float64)
        right, possible = [size.shape for size in sizes[name]], shapes[name]
        if values.shape not in possible:
            wanted = " or ".join(map(str, sorted(set(right), key=len)))
            raise ValueError(
                f"{name}: the shape is {values.shape}; {wanted} is wanted for these inputs."
            )
        if not values.size:
            raise ValueError(
                f"{name}: the shape is {values.shape}; there is no number in it to compare."
            )
        size = next((size for size in sizes[name] if size.shape == values.shape), None)
        if name == "weights":
            size = np.ones(values.shape)
        elif size is None:
            size = np.full(values.shape, largest_finite(values) or 1.0)
        found.append(Target(name, values, written(values, value, decimals), _floored(size)))
    if not found:
        raise ValueError("neither output nor weights is given; give the numbers of the other code.")
    return found


def _floored(size: np.ndarray) -> np.ndarray:
    """A row that sees no key has size 0; it is measured by the others of its column."""
    size = np.where(np.isfinite(size), size, 0)
    size = np.maximum(size, size.mean(axis=-2, keepdims=True))
    return np.where(size > 0, size, largest_finite(size) or 1.0)


def judge(bench: Bench, mistakes: Set, given: Iterable[Target]) -> Verdict | None:
    """Whether rounding alone parts these mistakes from the numbers; None: there is no room."""
    stages = bench.run(mistakes)
    if stages is None:
        return None
    largest_score = largest_finite(stages["scaled"])
    verdicts = [judge_stages(bench, stages, target, largest_score) for target in given]
    told = [verdict for verdict in verdicts if verdict is not None]
    return worst(told) if len(told) == len(verdicts) else None


def judge_stages(
    bench: Bench, stages: Stages, target: Target, largest_score: float
) -> Verdict | None:
    """The verdict on one answer; None where these stages give none of its shape."""
    view, size = target.view(bench, stages), target.view(bench, stages, " size")
    return None if view is None or size is None else compare(target, view, size, largest_score)


def compare(target: Target, view: np.ndarray, size: np.ndarray, largest_score: float) -> Verdict:
    """One verdict: by what is written first, by half precision that nothing shows last."""
    distances = distance(view, target.values)
    size = np.nan_to_num(size, posinf=0)
    with np.errstate(over="ignore"):  # a huge number beside tiny ones is infinitely far off
        relative = distances / target.size
    spread = math.sqrt(float(np.square(np.minimum(relative, 1e150)).mean()))
    far, error = float(relative.max(initial=0)), float(distances.max(initial=0))
    shown = target.written.half
    known = (
        _within_half(distances, size, target, largest_score, shown)
        if shown
        else _within_single(distances, size, target, largest_score)
    )
    if known:
        return Verdict(far, spread, error, None, True)
    for half in ("float16", "bfloat16") if not shown else ():
        if _within_half(distances, size, target, largest_score, half) and _even(distances, size):
            return Verdict(far, spread, error, half, True)
    return Verdict(far, spread, error, None, False)


def _within_single(
    distances: np.ndarray, size: np.ndarray, target: Target, largest_score: float
) -> bool:
    """An error of the scores moves a weight by as much; never so much as to excuse noise."""
    rounding = min(6 * (1 + largest_score) * SINGLE, 0.01)
    return bool((distances <= target.written.half_unit + rounding * size).all())


def _within_half(
    distances: np.ndarray, size: np.ndarray, target: Target, largest_score: float, half: str
) -> bool:
    """Half precision excuses much: its errors are bounded each, more tightly all together."""
    roundoff, half_unit = UNIT_ROUNDOFF[half], target.written.half_unit
    if not (distances <= half_unit + min(1.5 * (1 + largest_score) * roundoff, 0.05) * size).all():
        return False
    measured = np.where(size > 0, size, target.size)
    spread = math.sqrt(float(np.square(distances / measured).mean()))
    unit = math.sqrt(float(np.square(half_unit / measured).mean()))
    return spread <= min(0.6 + 0.15 * largest_score, 4) * roundoff + unit


def _even(distances: np.ndarray, size: np.ndarray) -> bool:
    """Whether the distances look like rounding: everywhere, and none far beyond the others."""
    relative = np.sort((distances / np.where(size > 0, size, 1))[(size > 0) | (distances > 0)])
    if len(relative) < 3:
        return True
    others = math.sqrt(float(np.square(relative[:-1]).mean()))
    return relative[-1] <= 15 * others and bool(np.median(relative) >= 0.05 * others)


def worst(verdicts: list[Verdict]) -> Verdict:
    """The verdict on several arrays or blocks together."""
    halves = {v.half for v in verdicts} - {None}
    return Verdict(
        max(v.far for v in verdicts),
        max(v.spread for v in verdicts),
        max(v.error for v in verdicts),
        "bfloat16" if "bfloat16" in halves else next(iter(halves), None),
        all(v.fits for v in verdicts),
    )
