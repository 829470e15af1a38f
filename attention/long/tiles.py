"""Queries of one block over their keys, tile by tile: what long attention is made of.

A tile is KEYS keys × ROWS queries of scores, a megabyte in float32, which stays in a core's cache
from the product to the last sum. Its rows are the keys, so that all sums over keys add whole
rows. :mod:`attention.long.sums` makes results of the tiles of a row whose sum is not known yet;
here are the weights of rows whose sum is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.core.mods import Grids, bias_of, mask_of, modify
from attention.core.scores import soft_cap
from attention.long.places import Allowed, Span

KEYS, ROWS = 512, 512  # of a tile, at most


@dataclass(frozen=True, eq=False)
class Formula:
    """The steps between the product and the softmax, the same in every block."""

    scale: float
    softcap: float | None = None
    mask: Allowed | None = None
    mask_mod: Callable[..., Any] | None = None
    score_mod: Callable[..., Any] | None = None
    bias: Callable[..., Any] | None = None
    sigmoid: bool = False  # instead of the softmax: the sum of a row is nothing in particular


@dataclass(frozen=True, eq=False)
class Cut:
    """Queries of one item and head, and the keys that some of them see."""

    formula: Formula
    b: int
    h: int
    queries: np.ndarray  # (r,)  their indices
    q: np.ndarray  # (r, d_k)
    K: np.ndarray  # (m, d_k)
    V: np.ndarray | None  # (m, d_v)
    first: int  # the index of the first key
    every: Span  # keys that the formula's mask hides from none of the queries
    allowed: np.ndarray | None = None  # broadcasts to (r, m)
    bias: np.ndarray | None = None  # broadcasts to (r, m)
    sink: float | None = None
    reach: float = np.inf  # no score is beyond ± it
    finite: bool = True  # whether all values are

    def tiles(self) -> Iterator[Span]:
        """Yield tiles of keys, from the first to before the last."""
        end = self.first + len(self.K)
        return ((begin, min(begin + KEYS, end)) for begin in range(self.first, end, KEYS))

    def room(self) -> np.ndarray:
        return np.empty((min(KEYS, len(self.K)), len(self.q)), self.q.dtype)

    def columns(self) -> np.ndarray:
        """Return the queries times the scale, (d_k, r)."""
        return np.ascontiguousarray((self.q * self.q.dtype.type(self.formula.scale)).T)

    def scores(
        self, span: Span, columns: np.ndarray, out: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the masked scores of a tile, (keys, r), and which are allowed; None if all are.

        For a sigmoid they are the logs of the weights.
        """
        begin, end = span
        keys = slice(begin - self.first, end - self.first)
        scores = np.matmul(self.K[keys], columns, out=out[: end - begin])
        if self.formula.softcap is not None:
            soft_cap(scores, self.formula.softcap, out=scores)
        seen = self._seen(span, keys)
        if self.formula.score_mod is not None:
            before = scores == -np.inf
            scores[...] = modify(self.formula.score_mod, scores.T, self._places(span)).T
            seen = _both(seen, (scores != -np.inf) | before)
        for added in self._added(span, keys):
            hides = added == -np.inf
            seen = _both(seen, ~hides) if hides.any() else seen
            np.add(scores, added, out=scores, casting="same_kind")
        if self.formula.sigmoid:
            np.negative(np.logaddexp(0, np.negative(scores, out=scores), out=scores), out=scores)
        if seen is not None:
            np.copyto(scores, -np.inf, where=~seen)
        return scores, seen

    def _seen(self, span: Span, keys: slice) -> np.ndarray | None:
        (begin, end), (most, least) = span, self.every
        shape, seen = (end - begin, len(self.queries)), None
        mask, mask_mod = self.formula.mask, self.formula.mask_mod
        if mask is not None and not most <= begin <= end <= least:
            k = np.arange(begin, end)[:, None]
            seen = np.broadcast_to(mask.seen(self.b, self.h, self.queries, k), shape)
        if self.allowed is not None:
            seen = _both(seen, np.broadcast_to(_keys(self.allowed, keys).T, shape))
        if mask_mod is not None:
            seen = _both(seen, mask_of(mask_mod, shape[::-1], self._places(span)).T)
        return seen

    def _added(self, span: Span, keys: slice) -> Iterator[np.ndarray]:
        if self.bias is not None:
            yield _keys(self.bias, keys).T
        if self.formula.bias is not None:
            shape = len(self.queries), span[1] - span[0]
            yield bias_of(self.formula.bias, shape, self._places(span)).T

    def _places(self, span: Span) -> Grids:
        return np.array(self.b), np.array(self.h), self.queries[:, None], np.arange(*span)


def _keys(M: np.ndarray, keys: slice) -> np.ndarray:
    return M[:, keys] if M.shape[1] > 1 else M


def _both(seen: np.ndarray | None, other: np.ndarray) -> np.ndarray:
    return other if seen is None else seen & other


# ---- sums over cells -----------------------------------------------------------------------------


def over_keys(sums: np.ufunc, M: np.ndarray, begin: int, cell: int) -> tuple[slice, np.ndarray]:
    """Reduce keys by cells, (keys, r) → (cells, r), by ``sums``; return which cells, and them.

    ``begin`` is the index of the first key.

    >>> over_keys(np.add, np.ones((5, 1)), 3, 4)
    (slice(0, 2, None), array([[1.],
           [4.]]))
    """
    head = min(-begin % cell, len(M))
    body = head + (len(M) - head) // cell * cell
    parts = [sums.reduce(M[:head], axis=0)[None]] if head else []
    if body > head:
        parts.append(sums.reduce(M[head:body].reshape(-1, cell, M.shape[1]), axis=1))
    if body < len(M):
        parts.append(sums.reduce(M[body:], axis=0)[None])
    cells = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return slice(begin // cell, begin // cell + len(cells)), cells


def over_queries(sums: np.ufunc, M: np.ndarray, begin: int, cell: int) -> tuple[slice, np.ndarray]:
    """Reduce queries by cells, (cells, r) → (cells of queries, cells), as :func:`over_keys` does.

    ``begin`` is the index of the first query.

    >>> over_queries(np.add, np.ones((1, 5)), 3, 4)
    (slice(0, 2, None), array([[1.],
           [4.]]))
    """
    starts = [0, *range(-begin % cell or cell, M.shape[1], cell)]
    cells = sums.reduceat(M, starts, axis=1).T
    return slice(begin // cell, begin // cell + len(cells)), cells


def cells_of(part: Cut, cell: int) -> slice:
    """Return the cells that the part's keys are in."""
    return slice(part.first // cell, -(-(part.first + len(part.K)) // cell))


# ---- weights -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LogSum:
    """The log of each row's sum, (r,), for scores of fewer digits than it has.

    A weight is exp(score − high) · rest. Of a log of 540 float32 keeps four decimals, and
    without the rest a weight would be right to no more.

    >>> known = LogSum.of(np.log([3e9]), np.dtype("f4"))
    >>> known.high, known.rest
    (array([21.821878], dtype=float32), array([1.0000004], dtype=float32))
    """

    high: np.ndarray  # in the type of the scores; of a row without keys 0, so that exp(−∞) is 0
    rest: np.ndarray  # exp(high − lse)

    @classmethod
    def of(cls, lse: np.ndarray, dtype: np.dtype) -> LogSum:
        lse = np.where(lse == -np.inf, 0, lse)
        high = lse.astype(dtype)
        rest = np.where(np.isfinite(high), np.exp(high - lse), 1)
        return cls(high, rest.astype(dtype))

    def weights(self, scores: np.ndarray) -> np.ndarray:
        """Return the weights of scores, both (…, r)."""
        return np.asarray(np.exp(scores - self.high) * self.rest)


def exponentials(
    part: Cut, span: Span, columns: np.ndarray, lse: LogSum, out: np.ndarray
) -> np.ndarray:
    """Return exp(score − high) of a tile, (keys, r); times ``rest`` these are its weights."""
    scores, seen = part.scores(span, columns, out)
    scores -= lse.high
    np.exp(scores, out=scores)
    if seen is not None:
        np.copyto(scores, 0, where=~seen)  # of a row of NaN too
    return scores


@dataclass(frozen=True, eq=False)
class Window:
    """A window of the weights: its first query and key, and the size of its cells."""

    query: int
    key: int
    query_cell: int
    key_cell: int
    sums: str  # "add" or "maximum"


def pooled_weights(window: Window, part_and_lse: tuple[Cut, np.ndarray]) -> tuple[slice, Any]:
    """Return the cells of a window that a block's queries are in, and their sums or maxima."""
    part, lse = part_and_lse
    sums = getattr(np, window.sums)
    with np.errstate(all="ignore"):
        columns, out = part.columns(), part.room()
        known = LogSum.of(lse, part.q.dtype)
        cells = -(-(part.first + len(part.K) - window.key) // window.key_cell)
        pooled = np.zeros((max(cells, 0), len(part.q)), part.q.dtype)
        for span in part.tiles():
            tile = exponentials(part, span, columns, known, out)
            at, found = over_keys(sums, tile, span[0] - window.key, window.key_cell)
            sums(pooled[at], found, out=pooled[at])
        pooled *= known.rest
        first = int(part.queries[0]) - window.query
        return over_queries(sums, pooled, first, window.query_cell)


def chosen_weights(part_and_lse: tuple[Cut, np.ndarray]) -> np.ndarray:
    """Return the weights of any queries, (r, m)."""
    part, lse = part_and_lse
    with np.errstate(all="ignore"):
        columns, out = part.columns(), part.room()
        known = LogSum.of(lse, part.q.dtype)
        found = np.empty((len(part.q), len(part.K)), part.q.dtype)
        for begin, end in part.tiles():
            tile = exponentials(part, (begin, end), columns, known, out)
            tile *= known.rest
            found[:, begin - part.first : end - part.first] = tile.T
        return found
