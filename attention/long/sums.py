"""Results of a block of queries, as they grow tile by tile, next to the sum of its softmax.

exp(score) is summed as it is where no score can be large; else a running maximum is taken off, and
what was summed before is scaled whenever it grows (Milakov and Gimelshein 2018; Rabe and Staats
2021; FlashAttention). Each result is a :class:`Result`, which sees every tile once, and is divided
by the sum in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.arrays.checks import weighted_sum
from attention.long.tiles import Cut, LogSum, cells_of, exponentials, over_keys, over_queries

SAFE = 32.0  # scores that stay within it need no maximum taken off before exp
LARGE = 1e12  # values beyond it could overflow all the same
Found = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """Which results are computed, and the size of their cells."""

    results: tuple[str, ...]
    query_cell: int = 1
    key_cell: int = 1


class Result:
    """One result of a block, as it grows tile by tile."""

    def __init__(self, asked: Asked, part: Cut) -> None:
        self.asked, self.part = asked, part

    def scores(self, scores: np.ndarray, begin: int) -> None:
        """Read the scores before the maximum is subtracted; hidden ones are −∞."""

    def rescale(self, factor: np.ndarray, moved: np.ndarray, total: np.ndarray) -> None:
        """Rescale the sums so far after the running maximum changed; all arguments are (r,).

        ``factor`` is exp(moved), where ``moved`` is the old maximum minus the new one; ``total`` is
        the sum of the keys' exponentials so far.
        """

    def grown(self, grown: np.ndarray, less: np.ndarray, begin: int, running: Running) -> None:
        """Add a tile: ``grown`` is exp of its scores minus the maximum so far.

        ``less`` is those differences, only while the entropy is computed; otherwise ``grown`` is
        written over them.
        """

    def found(self, running: Running) -> Any:
        """Return the final result."""
        raise NotImplementedError


class Output(Result):
    def __init__(self, asked: Asked, part: Cut) -> None:
        super().__init__(asked, part)
        assert part.V is not None
        self.V = part.V
        self.sum = np.zeros((self.V.shape[1], len(part.q)), part.q.dtype)  # (d_v, r)
        self.room = np.empty_like(self.sum)

    def rescale(self, factor: np.ndarray, moved: np.ndarray, total: np.ndarray) -> None:
        self.sum *= factor

    def grown(self, grown: np.ndarray, less: np.ndarray, begin: int, running: Running) -> None:
        V = self.V[begin - self.part.first :][: len(grown)]
        if self.part.finite:
            self.sum += np.matmul(V.T, grown, out=self.room)
        else:
            seen = np.ones(grown.shape, bool) if running.seen is None else running.seen
            self.sum += weighted_sum(grown.T, V, seen.T).T

    def found(self, running: Running) -> np.ndarray:
        self.sum *= running.share
        return self.sum.T


class MeanMap(Result):
    def found(self, running: Running) -> tuple[slice, slice, np.ndarray]:
        running.sums *= running.share
        first, cell = int(self.part.queries[0]), self.asked.query_cell
        rows, cells = over_queries(np.add, running.sums, first, cell)
        return rows, running.cells, cells


class Largest(Result):
    def __init__(self, asked: Asked, part: Cut) -> None:
        super().__init__(asked, part)
        self.most = np.full(len(part.q), -np.inf, part.q.dtype)

    def scores(self, scores: np.ndarray, begin: int) -> None:
        np.maximum(self.most, scores.max(axis=0), out=self.most)

    def found(self, running: Running) -> np.ndarray:
        return running.log_sum.weights(self.most)


class Entropy(Result):
    """−Σ w ln w = lse · Σ w − Σ w · score, all minus the maximum."""

    def __init__(self, asked: Asked, part: Cut) -> None:
        super().__init__(asked, part)
        self.sum = np.zeros(len(part.q), part.q.dtype)

    def rescale(self, factor: np.ndarray, moved: np.ndarray, total: np.ndarray) -> None:
        self.sum += np.where(total > 0, moved, 0) * total
        self.sum *= factor

    def grown(self, grown: np.ndarray, less: np.ndarray, begin: int, running: Running) -> None:
        if running.seen is not None or not running.is_safe:
            np.maximum(less, -np.finfo(less.dtype).max, out=less)  # 0 × −∞ would be NaN
        less *= grown
        self.sum += less.sum(axis=0)

    def found(self, running: Running) -> np.ndarray:
        entropy = (running.log_total * running.total - self.sum) * running.share
        return np.maximum(entropy, 0).astype(self.sum.dtype)


class First(Result):
    """The weight of the first key."""

    def found(self, running: Running) -> np.ndarray:
        part = self.part
        if part.first or not len(part.K):
            return np.zeros(len(part.q), part.q.dtype)
        scores, _ = part.scores((0, 1), running.columns, part.room())
        return running.log_sum.weights(scores[0])


class Distance(Result):
    """The mean distance of the keys from the query, by weight."""

    def __init__(self, asked: Asked, part: Cut) -> None:
        super().__init__(asked, part)
        self.sum = np.zeros(len(part.q), part.q.dtype)

    def rescale(self, factor: np.ndarray, moved: np.ndarray, total: np.ndarray) -> None:
        self.sum *= factor

    def grown(self, grown: np.ndarray, less: np.ndarray, begin: int, running: Running) -> None:
        k = np.arange(begin, begin + len(grown))[:, None]
        far = np.abs(self.part.queries - k).astype(grown.dtype)
        self.sum += np.einsum("kr,kr->r", far, grown)

    def found(self, running: Running) -> np.ndarray:
        return np.asarray(self.sum * running.share)


class Profile(Result):
    """The weights summed by distance, query − key.

    It is a second pass over all keys, as a weight is known only when its row is. A tile is part of
    a wider array of zeros, read with one more column a row, so that its diagonals are columns.
    """

    def found(self, running: Running) -> tuple[slice, np.ndarray]:
        part, queries, known = self.part, self.part.queries, running.log_sum
        out = part.room()
        m, r = out.shape
        lowest = int(queries[0]) - (part.first + len(part.K) - 1)
        sums = np.zeros(max(len(part.K) + r - 1, 0))
        wide = m + r
        room = np.zeros((m + 1) * wide, part.q.dtype)
        skewed = np.lib.stride_tricks.as_strided(
            room, (m, wide - 1), ((wide + 1) * room.itemsize, room.itemsize)
        )
        for begin, end in part.tiles():
            place = room.reshape(m + 1, wide)[: end - begin, m - 1 : m - 1 + r]
            tile = exponentials(part, (begin, end), running.columns, known, out)
            np.multiply(tile, known.rest, out=place)
            # column j holds queries[0] − begin − (m − 1) + j
            at = int(queries[0]) - begin - (m - 1) - lowest
            most = slice(max(-at, 0), wide - 1)
            sums[at + most.start : at + most.stop] += skewed[: end - begin, most].sum(axis=0)
        return slice(lowest, lowest + len(sums)), sums


RESULTS: dict[str, type[Result]] = {
    "output": Output,
    "mean_map": MeanMap,
    "entropy": Entropy,
    "largest": Largest,
    "first": First,
    "distance": Distance,
    "profile": Profile,
}


# ---- the block -----------------------------------------------------------------------------------


class Running:
    """The sums of a block's softmax, and its results, which read them."""

    def __init__(self, asked: Asked, part: Cut) -> None:
        r, dtype = len(part.q), part.q.dtype
        self.part, self.columns = part, part.columns()
        self.is_safe = part.reach < SAFE or part.formula.sigmoid  # whose logs are below 0
        self.highest = np.full(r, -np.inf, dtype)  # score of a key, where it is not safe
        sink = 0.0 if part.sink is None else part.sink
        begin = 0.0 if self.is_safe else -np.inf if part.sink is None else sink
        self.shift = np.full(r, begin, dtype)  # the maximum so far, which is taken off
        self.sunk = np.full(r, 0.0 if part.sink is None else np.exp(sink - begin), dtype)
        self.total = np.zeros(r, dtype)  # of the keys
        self.cell = asked.key_cell if "mean_map" in asked.results else len(part.K) or 1
        self.cells = cells_of(part, self.cell)
        self.sums = np.zeros((self.cells.stop - self.cells.start, r), dtype)
        self.seen: np.ndarray | None = None
        self.results = {name: RESULTS[name](asked, part) for name in asked.results}

    def run(self) -> Found:
        room = self.part.room()
        spare = np.empty_like(room) if "entropy" in self.results else room
        for begin, end in self.part.tiles():
            scores, self.seen = self.part.scores((begin, end), self.columns, room)
            for result in self.results.values():
                result.scores(scores, begin)
            if not self.is_safe:
                self._take_off(scores)
            grown = np.exp(scores, out=spare[: end - begin])
            cells, sums = over_keys(np.add, grown, begin, self.cell)
            self.sums[cells.start - self.cells.start : cells.stop - self.cells.start] += sums
            self.total += sums.sum(axis=0)
            for result in self.results.values():
                result.grown(grown, scores, begin, self)
        self._end()
        found: Found = {name: result.found(self) for name, result in self.results.items()}
        hidden = self.highest == -np.inf if not self.is_safe else self.total == 0
        return found | {"lse": self.lse, "hidden_rows": hidden}

    def _take_off(self, scores: np.ndarray) -> None:
        """Subtract the largest score so far, and rescale what was summed before."""
        np.maximum(self.highest, scores.max(axis=0), out=self.highest)
        highest = np.maximum(self.shift, self.highest)
        base = np.where(highest == -np.inf, 0, highest)  # no key is seen yet
        if (highest != self.shift).any():
            moved = self.shift - base
            factor = np.exp(moved)
            for result in self.results.values():
                result.rescale(factor, moved, self.total)
            for sums in (self.total, self.sunk, self.sums):
                sums *= factor
        self.shift = highest
        scores -= base

    def _end(self) -> None:
        wide = np.result_type(self.total, np.float64)
        total = (self.total + self.sunk).astype(wide)
        if self.part.formula.sigmoid:  # nothing is divided
            total = np.where(total == 0, total, 1)
        self.share = np.where(total == 0, 0, 1 / total).astype(self.total.dtype)
        self.log_total = np.log(np.where(total == 0, 1, total))
        self.lse = np.log(total) + np.where(self.shift == -np.inf, 0, self.shift)
        self.log_sum = LogSum.of(self.lse, self.total.dtype)


def computed(asked: Asked, part: Cut) -> Found:
    """Return a block's results by name, with each row's log-sum and which rows have no key."""
    with np.errstate(all="ignore"):
        return Running(asked, part).run()
