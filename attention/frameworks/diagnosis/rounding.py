"""Measure how far rounding the inputs moves an answer: attention on many draws of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from attention.arrays.distance import distance
from attention.frameworks.diagnosis.answers import Set, Target
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.given import Given

DRAWS = 32
DEVIATIONS = 7  # of an answer's change that are accepted
AT_ONCE = 2**20  # numbers of inputs and scores that are drawn together


class Draws:
    """Draw the inputs repeatedly within half a unit of their last decimal, by seed."""

    def __init__(self, given: Given, scores: int) -> None:
        self.given = given
        self.axes = max(2, *(M.ndim for M in given.arrays.values()))
        numbers = scores + sum(given.arrays[name].size for name in given.rounded)
        count = min(DRAWS, max(1, AT_ONCE // numbers))
        self.counts = [min(count, DRAWS - first) for first in range(0, DRAWS, count)]
        self._first: Bench | None = None

    def room(self, bench: Bench, mistakes: Set, targets: Sequence[Target]) -> list[np.ndarray]:
        """Return, for each target, what rounding the inputs may change in each of its numbers.

        Empty where the drawn inputs leave no room for one of the mistakes.
        """
        stages = bench.run(mistakes)
        views = [None if stages is None else target.view(bench, stages) for target in targets]
        squares = [np.zeros(target.values.shape) for target in targets]
        for drawn in self._benches(bench):
            stages = drawn.run(mistakes)
            for target, ours, total in zip(targets, views, squares, strict=True):
                theirs = None if stages is None else target.drawn_view(drawn, stages)
                if ours is None or theirs is None:
                    return []
                with np.errstate(all="ignore"):
                    total += np.square(distance(theirs, ours)).sum(axis=0)
        return [DEVIATIONS * np.sqrt(total / DRAWS) for total in squares]

    def _benches(self, bench: Bench) -> Iterator[Bench]:
        """Yield benches that compute the same queries from drawn inputs; keep the first."""
        for k, count in enumerate(self.counts):
            if k or self._first is None:
                drawn = Bench(self._drawn(k, count), bench.queries)
                self._first = self._first or drawn
            else:
                drawn = self._first
            if bench.answer is not None:
                drawn.answer = np.broadcast_to(bench.answer, (count, *bench.answer.shape))
                drawn.answer_unit = bench.answer_unit
            yield drawn

    def _drawn(self, seed: int, count: int) -> Given:
        """Return ``count`` draws of the rounded inputs, along a new first axis."""
        rng, drawn = np.random.default_rng(seed), {}
        for name, how in self.given.rounded.items():
            M = self.given.arrays[name]
            shape = (count, *(1,) * (self.axes - M.ndim), *M.shape)
            drawn[name] = M + how.half_unit(M) * rng.uniform(-1, 1, shape)
        return replace(self.given, **drawn)
