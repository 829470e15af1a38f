"""Two views compared: every stage with B − A, the largest change, the strongest keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attention.arrays.distance import difference, distance, largest_finite
from attention.explain.view import View
from attention.vocabulary.stages import STAGES

AT_MOST = 1e-12  # of the largest number: what rounding may change


@dataclass(frozen=True, eq=False)
class StagePair:
    """One stage of A and of B; a side that has no such stage is None."""

    name: str
    a: np.ndarray | None  # (rows, columns)
    b: np.ndarray | None
    less: np.ndarray | None  # B − A; None where they cannot be subtracted
    why_not: str = ""  # one sentence, where they cannot
    # where B has the same words in another order, or fewer words ask than answer: its numbers in
    # the order of A, as subtracted
    in_order: np.ndarray | None = None

    @property
    def is_alike(self) -> bool:
        """Return whether A and B are identical, to the bit."""
        same = self.less is not None and not self.less.any()
        return same and self.in_order is None

    @property
    def drawn(self) -> np.ndarray | None:
        """Return B − A, with 0 where only the order of the words changed the rounding."""
        if self.less is None or self.a is None or self.in_order is None:
            return self.less
        return np.where(np.abs(self.less) <= AT_MOST * largest_finite(self.a), 0.0, self.less)


@dataclass(frozen=True)
class Change:
    """Where a stage changed most."""

    stage: str
    row: int
    column: int
    before: float
    after: float


def stages(a: View, b: View) -> Iterator[StagePair]:
    """Yield every stage of the two in reading order, each with B − A where it is defined.

    If B has the words of A in another order, each word is compared with itself. Differences that
    are only rounding do not count then, nor if a few queries look at many keys, as in a step of
    decoding.
    """
    fewer = all(len(side.labels["queries"]) < len(side.labels["keys"]) for side in (a, b))
    for name in STAGES:
        mine, other = a.stages.get(name), b.stages.get(name)
        if mine is None and other is None:
            continue
        why_not = _why_not(name, a, b)
        if why_not or mine is None or other is None:
            yield StagePair(name, mine, other, None, why_not)
            continue
        rows = _order(a.rows(name), b.rows(name))
        columns = _order(a.columns(name), b.columns(name))
        in_order = None
        if rows or columns:
            in_order = other[rows or slice(None)][:, columns or slice(None)]
        less = difference(other if in_order is None else in_order, mine)
        if fewer and in_order is None and less.any():  # one row at a time is rounded otherwise
            in_order = other
        yield StagePair(name, mine, other, less, "", in_order)


def _order(mine: Sequence[str], other: Sequence[str]) -> list[int] | None:
    """Return the index in B of each word of A; None if the order is the same or words differ."""
    if mine == other or sorted(mine) != sorted(other):
        return None
    return [other.index(word) for word in mine]


def _why_not(name: str, a: View, b: View) -> str:
    heading = STAGES[name].heading
    for side, other in ((a, "B"), (b, "A")):
        if name not in side.stages:
            return f"Only {other} has {heading}."
    (n, m), (rows, columns) = a.stages[name].shape, b.stages[name].shape
    if (n, m) != (rows, columns):
        return f"{heading} is {n} × {m} in A and {rows} × {columns} in B."
    return ""


def that_differ(found: Sequence[StagePair]) -> list[StagePair]:
    """Return the stages that differ, but not those that repeat the one before, in A and in B.

    So masked scores do not follow the scaled ones where nothing is masked.

    >>> eye = np.eye(2)
    >>> names = ("scores", "scaled", "masked", "weights")
    >>> sides = zip(names, (eye, eye, eye, eye), (eye, 2 * eye, 2 * eye, 3 * eye), strict=True)
    >>> pairs = [StagePair(name, a, b, b - a) for name, a, b in sides]
    >>> [both.name for both in that_differ(pairs)]
    ['scaled', 'weights']
    """
    before = [None, *found]
    return [
        both
        for both, last in zip(found, before, strict=False)
        if not both.is_alike and not (last and _repeats(both, last))
    ]


def _repeats(both: StagePair, last: StagePair) -> bool:
    """Return whether a stage equals another one, in A and in B."""
    return all(
        M is not None and other is not None and np.array_equal(M, other)
        for M, other in ((both.a, last.a), (both.b, last.b))
    )


def largest_change(both: StagePair) -> Change | None:
    """Return where B differs most from A; None if only by rounding.

    >>> eye = np.eye(2)
    >>> largest_change(StagePair("weights", eye, eye[::-1], difference(eye[::-1], eye)))
    Change(stage='weights', row=0, column=0, before=1.0, after=0.0)
    """
    other = both.b if both.in_order is None else both.in_order
    if both.less is None or both.a is None or other is None or not both.less.size:
        return None
    apart = distance(other, both.a)
    if not apart.max() > AT_MOST * largest_finite(both.a):
        return None
    i, j = (int(k) for k in np.unravel_index(int(apart.argmax()), apart.shape))
    return Change(both.name, i, j, float(both.a[i, j]), float(other[i, j]))


def strongest_changed(a: View, b: View) -> list[tuple[str, str, str]]:
    """Return the queries whose strongest key changed, in words: (query, key in A, key in B).

    Keys that tie for the largest weight do not count.
    """
    weights = next(both for both in stages(a, b) if both.name == "weights")
    if weights.a is None or weights.b is None or weights.less is None:
        return []
    other, keys = weights.b, b.labels["keys"]
    if weights.in_order is not None:
        other, keys = weights.in_order, a.labels["keys"]
    found = []
    for i, rows in enumerate(zip(weights.a, other, strict=True)):
        first, then = (_winner(row) for row in rows)
        if first is not None and then is not None and first != then:
            found.append((a.labels["queries"][i], a.labels["keys"][first], keys[then]))
    return found


def _winner(weights: np.ndarray) -> int | None:
    most = weights.max(initial=0)
    near = np.flatnonzero(weights >= most * (1 - AT_MOST))
    return int(near[0]) if most > 0 and len(near) == 1 else None
