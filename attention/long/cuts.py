"""Where the blocks of a long attention are cut from, and how what they found is put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attention.arrays.blocks import pieces
from attention.arrays.conversion import locked
from attention.long.sums import LARGE, Asked, Found
from attention.long.tiles import ROWS, Cut, Formula

Where = tuple[int, ...]  # a place on the leading axes


def cell_of(count: int, cells: int) -> int:
    """Return the tokens in each of at most ``cells`` cells; the last may hold fewer."""
    return max(1, -(-count // cells))


def edges_of(begin: int, end: int, cell: int) -> np.ndarray:
    return locked(np.array([*range(begin, end, cell), end]))


def blocks_of(shape: tuple[int, ...], most: int | None) -> Iterator[tuple[Where, slice]]:
    """Yield blocks of queries, with their place on the leading axes.

    A head with many queries is cut into sixteen or more, each at most as large as a tile.
    """
    n_q = shape[-2]
    most = min(ROWS, max(64, -(-n_q // 1024) * 64)) if most is None else most
    for at in np.ndindex(shape[:-2] if n_q else (0,)):
        yield from ((at, rows) for rows in pieces(n_q, most))


def named_in(shape: tuple[int, ...]) -> Callable[[Cut], str]:
    """Return a function that describes a block in error messages."""

    def named(part: Cut) -> str:
        first, final = part.queries[0], part.queries[-1]
        head = f" of head {part.h}" if len(shape) > 2 else ""
        item = f" of item {part.b}" if len(shape) > 3 else ""
        return f"the block of queries {first:,} to {final:,}{head}{item}"

    return named


@dataclass(frozen=True, eq=False)
class LongArrays:
    """The arrays that blocks are cut from."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray | None
    shape: tuple[int, ...]
    formula: Formula
    allowed: np.ndarray | None
    bias: np.ndarray | None
    sinks: np.ndarray | None
    _known: dict[Any, Any] = field(default_factory=dict)

    @property
    def dtype(self) -> np.dtype:
        return self.Q.dtype

    def part(self, at: Where, queries: np.ndarray, keys: tuple[int, int] | None = None) -> Cut:
        """Return these queries of an item and head, with the keys that some of them see."""
        *items, head = at or (0,)
        b = int(np.ravel_multi_index(items, self.shape[:-3])) if items else 0
        n_k, mask = self.shape[-1], self.formula.mask
        some = every = (0, n_k)
        if mask is not None:
            some, every = mask.spans(b, int(queries.min()), int(queries.max()), n_k)
        if keys is not None:
            some = max(some[0], keys[0]), min(some[1], keys[1])
            some = some if some[0] < some[1] else (keys[0], keys[0])
        seen = slice(*some)
        Q, K = self._of(self.Q, at), self._of(self.K, at)
        V = None if self.V is None else self._of(self.V, at)
        allowed, bias = (self._cells(M, at, queries, seen) for M in (self.allowed, self.bias))
        sink = None if self.sinks is None else float(self.sinks[self._index(self.sinks.shape, at)])
        reach, finite = self._reach(at, sink)
        return Cut(
            formula=self.formula,
            b=b,
            h=head,
            queries=queries,
            q=Q[_row_index(queries)],
            K=K[seen],
            V=None if V is None else V[seen],
            first=some[0],
            every=every,
            allowed=allowed,
            bias=bias,
            sink=sink,
            reach=reach,
            finite=finite,
        )

    def try_functions(self, parts: Iterable[Cut]) -> None:
        """Call the caller's functions once here, where an error of theirs is easily read."""
        for part in parts:
            if len(part.K):
                small = slice(0, 1)
                tried = replace(
                    part,
                    queries=part.queries[small],
                    q=part.q[small],
                    K=part.K[small],
                    allowed=None,
                    bias=None,
                )
                with np.errstate(all="ignore"):
                    tried.scores((part.first, part.first + 1), tried.columns(), tried.room())
                break

    def _index(self, own: tuple[int, ...], at: Where) -> Where:
        """Return the index ``at`` in an array with these leading axes; heads may share."""
        full = self.shape[:-2]
        lead = zip(at[len(at) - len(own) :], own, full[len(full) - len(own) :], strict=True)
        return tuple(place * size // most for place, size, most in lead)

    def _of(self, M: np.ndarray, at: Where) -> np.ndarray:
        return np.asarray(M[self._index(M.shape[:-2], at)])

    def _cells(
        self, M: np.ndarray | None, at: Where, queries: np.ndarray, keys: slice
    ) -> np.ndarray | None:
        """Cut (r or 1, m or 1) from an array that broadcasts to the scores."""
        if M is None:
            return None
        M = M.reshape((1,) * (2 - M.ndim) + M.shape)
        M = self._of(M, at)
        M = M[_row_index(queries)] if M.shape[0] > 1 else M
        return M[:, keys] if M.shape[1] > 1 else M

    def _reach(self, at: Where, sink: float | None) -> tuple[float, bool]:
        """Return a bound on the head's |scores|, and whether its values are finite."""
        if at not in self._known:
            Q, K = self._of(self.Q, at), self._of(self.K, at)
            with np.errstate(all="ignore"):
                squares = [np.einsum("nd,nd->n", M, M).max(initial=0) for M in (Q, K)]
                reach = self.formula.scale * math.sqrt(squares[0]) * math.sqrt(squares[1])
                most = 0.0
                if self.V is not None and (V := self._of(self.V, at)).size:
                    most = float(np.maximum(V.max(), -V.min()))
            if self.formula.softcap is not None:
                reach = min(reach, self.formula.softcap)
            added = self.bias, self.formula.bias, self.formula.score_mod
            if any(one is not None for one in added) or not most < LARGE:
                reach = math.inf
            self._known[at] = max(reach, abs(sink or 0.0)), math.isfinite(most)
        return self._known[at]  # type: ignore[no-any-return]


def _row_index(queries: np.ndarray) -> slice | np.ndarray:
    """Return a slice for consecutive indices, to avoid a copy."""
    first, count = int(queries[0]) if len(queries) else 0, len(queries)
    if np.array_equal(queries, np.arange(first, first + count)):
        return slice(first, first + count)
    return queries


class Gathered:
    """Room for all results, and blocks put into their places."""

    def __init__(self, asked: Asked, source: LongArrays, edges: Sequence[np.ndarray]) -> None:
        self.source, self.edges, self.next = source, edges, 0
        *lead, n_q, n_k = source.shape
        dtype = source.dtype
        wide = np.result_type(dtype, np.float64)
        self.rows = {
            "lse": np.empty((*lead, n_q), wide),
            "hidden_rows": np.empty((*lead, n_q), bool),
        }
        self.summed: Found = {}  # what several blocks add to
        self.waiting: dict[int, list[tuple[str, Where, Any, np.ndarray]]] = {}  # by block
        for name in asked.results:
            if name == "output":
                assert source.V is not None
                self.rows[name] = np.empty((*lead, n_q, source.V.shape[-1]), dtype)
            elif name == "mean_map":
                self.summed[name] = np.zeros((*lead, *(len(edge) - 1 for edge in edges)), dtype)
            elif name == "profile":
                self.summed[name] = np.zeros((*lead, max(n_q + n_k - 1, 0)))
            else:
                self.rows[name] = np.empty((*lead, n_q), dtype)

    def take(self, number: int, at: Where, part: Cut, found: Found) -> None:
        """Store results by row; add shared sums in block order, so that they are deterministic."""
        sums = self.waiting[number] = []
        for name, some in found.items():
            if name in self.rows:
                self.rows[name][at][part.queries[0] : part.queries[-1] + 1] = some
            elif name == "mean_map":
                sums.append((name, at, some[:2], some[2]))
            else:
                behind, some = some
                none = self.source.shape[-1] - 1  # the place of the distance 0
                sums.append((name, at, slice(behind.start + none, behind.stop + none), some))
        while self.next in self.waiting:
            for name, at, place, some in self.waiting.pop(self.next):
                self.summed[name][at][place] += some
            self.next += 1

    def whole(self) -> Found:
        """Return all results, by the names of the record's fields."""
        n_q = self.source.shape[-2]
        if "mean_map" in self.summed:
            self.summed["mean_map"] /= np.diff(self.edges[0])[:, None].astype(self.source.dtype)
        if "profile" in self.summed:
            self.summed["profile"] /= max(n_q, 1)
        return {name: locked(one) for name, one in (self.rows | self.summed).items()}
