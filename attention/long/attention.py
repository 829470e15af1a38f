"""Attention over many thousand tokens: exact, in the memory of a few megabytes.

No stage is kept. The results that are asked for are summed block by block while the scores exist:
the output, the weights pooled into cells, figures of each row. The log of each row's sum is kept,
so that any row or window of the weights is computed later from its own queries and keys alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.blocks import pieces, share_out
from attention.arrays.checks import (
    as_floats,
    check_count,
    check_fits,
    check_positive,
    check_shapes,
    refuse_counts,
)
from attention.arrays.conversion import as_array, as_numbers, held, locked, shown
from attention.arrays.hints import hinting
from attention.core.before_scores import last, prepared
from attention.core.mods import MaskMod, ScoreMod
from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary
from attention.core.scores import SIGMOID, check_sinks
from attention.long.cuts import Gathered, LongArrays, Where, blocks_of, cell_of, edges_of, named_in
from attention.long.places import Allowed
from attention.long.sums import RESULTS, Asked, computed
from attention.long.tiles import ROWS, Formula, Window, chosen_weights, pooled_weights

USUAL = ("output", "mean_map")
Progress = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class Cells:
    """A map of weights by cells.

    Row i is of the queries from ``row_edges[i]`` to before the next edge, column j of the keys from
    ``key_edges[j]``.
    """

    values: np.ndarray  # (rows, columns)
    row_edges: np.ndarray  # (rows + 1,)
    key_edges: np.ndarray  # (columns + 1,)


@dataclass(frozen=True, eq=False, repr=False)
class LongAttention:
    """The results asked of a long attention; the others are None. No array can be written to.

    Leading axes come before the shapes given here. Q and K are the caller's own arrays if they
    needed no conversion: :meth:`rows` and :meth:`window` read them again, so they must not be
    changed.

    >>> found = long_attention([[2.0], [0.0]], [[1.0], [3.0]])
    >>> found
    LongAttention of 2 queries and 2 keys; scale 1; map of 2 × 2 cells; mean_map
    >>> found.mean_map.round(4)
    array([[0.018, 0.982],
           [0.5  , 0.5  ]])
    """

    shape: tuple[int, ...]  # (…, n_q, n_k), of the scores, which never exist as a whole
    scale: float
    row_edges: np.ndarray  # (rows + 1,)  of the map: row i is of the queries between two edges
    key_edges: np.ndarray  # (columns + 1,)
    lse: np.ndarray  # (…, n_q)  ln Σ exp(masked score) of each row, in float64; −∞ without a key
    hidden_rows: np.ndarray  # (…, n_q)  True where every key is hidden
    output: np.ndarray | None = None  # (…, n_q, d_v)
    mean_map: np.ndarray | None = None  # (…, rows, columns)  summed over keys, mean of queries
    entropy: np.ndarray | None = None  # (…, n_q)  −Σ w ln w, in nats
    largest: np.ndarray | None = None  # (…, n_q)  the largest weight
    first: np.ndarray | None = None  # (…, n_q)  the weight of key 0
    distance: np.ndarray | None = None  # (…, n_q)  Σ w · |query − key|
    profile: np.ndarray | None = None  # (…, n_q + n_k − 1)  the mean weight at each of distances
    sinks: np.ndarray | None = None
    _source: Any = None  # the arrays that rows and windows are cut from

    def __repr__(self) -> str:
        *lead, n_q, n_k = self.shape
        axes = f", leading axes {tuple(lead)}" if lead else ""
        there = [name for name in RESULTS if getattr(self, name) is not None]
        rows, columns = len(self.row_edges) - 1, len(self.key_edges) - 1
        return (
            f"LongAttention of {n_q:,} queries and {n_k:,} keys{axes}; scale {self.scale:.4g}; map"
            f" of {rows:,} × {columns:,} cells; {', '.join(there)}"
        )

    @property
    def distances(self) -> np.ndarray:
        """Return query − key in tokens for each entry of ``profile``, (n_q + n_k − 1,), rising."""
        return np.arange(1 - self.shape[-1], self.shape[-2])

    @property
    def sunk(self) -> np.ndarray | None:
        """Return the share of each query that goes to the sink, (…, n_q); None without a sink."""
        if self.sinks is None:
            return None
        with np.errstate(all="ignore"):
            return np.asarray(np.exp(self.sinks[..., None] - self.lse))

    def rows(self, queries: ArrayLike, *, item: int = 0, head: int = 0) -> np.ndarray:
        """Return the exact weights of some queries, (chosen, n_k).

        Parameters
        ----------
        queries : int or array_like of int, (chosen,)
            Indices of queries, from 0.
        item, head : int
            Indices of an item and a head, from 0.

        Raises
        ------
        ValueError
            If there is no such query, item or head.
        TypeError
            If ``queries`` does not hold integers in at most one axis.

        >>> long_attention([[2.0]], [[1.0], [3.0]]).rows([0]).round(4)
        array([[0.018, 0.982]])
        """
        chosen = as_numbers("queries", queries, "expected numbers of queries")
        n_q = self.shape[-2]
        if not chosen.size:
            chosen = chosen.astype(int)  # an empty list is one of floats
        if chosen.dtype.kind not in "iu" or chosen.ndim > 1:
            raise TypeError(f"queries is {shown(queries)}; expected numbers of queries.")
        chosen = np.atleast_1d(chosen)
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < n_q):
            raise ValueError(f"queries is {shown(queries)}; 0 to {n_q - 1} are there.")
        at = self.place(item, head)
        found = np.zeros((len(chosen), self.shape[-1]), self._source.dtype)
        cut = [chosen[each] for each in pieces(len(chosen), ROWS) if len(chosen)]
        parts = [self._source.part(at, some) for some in cut]
        starts = np.cumsum([0, *map(len, cut)])

        def take(number: int, weights: np.ndarray) -> None:
            part = parts[number]
            place = found[starts[number] : starts[number + 1]]
            place[:, part.first : part.first + len(part.K)] = weights

        share_out(chosen_weights, [(p, self.lse[at][p.queries]) for p in parts], take)
        return locked(found)

    def window(
        self,
        queries: slice | tuple[int, int] | None = None,
        keys: slice | tuple[int, int] | None = None,
        *,
        cells: int = 512,
        of: str = "mean",
        item: int = 0,
        head: int = 0,
        progress: Progress | None = None,
        cancelled: Callable[[], object] | None = None,
    ) -> Cells:
        """Return the weights of some queries and keys, in at most ``cells`` × ``cells`` cells.

        If there are no more weights than that, each cell is one exact weight; otherwise the weights
        are summed over the keys of a cell, and the cell is the mean over its queries, or the
        largest weight with ``of="largest"``.

        Parameters
        ----------
        queries, keys : slice or two int
            Indices from the first to before the last. Default: all.
        cells : int
            Cells along a side, at most.
        of : "mean" or "largest"
        item, head : int
            Indices of an item and a head, from 0.
        progress, cancelled : as in :func:`long_attention`

        Returns
        -------
        Cells
            Values, (rows, columns), and the edges of rows and columns as indices of queries and
            keys.

        Raises
        ------
        ValueError
            If a range is empty, has a step or goes beyond what there is (a negative index counts
            from the end), there is no such item or head, ``cells`` is not a whole number from 1, or
            ``of`` not one of the two words.
        TypeError
            If ``progress`` or ``cancelled`` is not a function.
        concurrent.futures.CancelledError
            If ``cancelled()`` returned true.

        >>> found = long_attention([[2.0]], [[1.0], [3.0]]).window(keys=(1, 2))
        >>> found.values.round(4), found.key_edges
        (array([[0.982]]), array([1, 2]))
        """
        if not isinstance(of, str) or of not in ("mean", "largest"):
            raise ValueError(f'of is {shown(of)}; expected "mean" or "largest".')
        _check_calls(progress, cancelled)
        cells, at = check_count("cells", cells), self.place(item, head)
        (top, bottom), (left, right) = (
            _range(name, given, count)
            for name, given, count in (
                ("queries", queries, self.shape[-2]),
                ("keys", keys, self.shape[-1]),
            )
        )
        tall, wide = cell_of(bottom - top, cells), cell_of(right - left, cells)
        rows, columns = edges_of(top, bottom, tall), edges_of(left, right, wide)
        sums = np.add if of == "mean" else np.maximum
        values = np.zeros((len(rows) - 1, len(columns) - 1), self._source.dtype)
        parts = [
            self._source.part(at, top + np.arange(*some.indices(bottom - top)), (left, right))
            for some in pieces(bottom - top, ROWS)
        ]
        found: dict[int, tuple[slice, np.ndarray]] = {}
        share_out(
            partial(pooled_weights, Window(top, left, tall, wide, sums.__name__)),
            [(part, self.lse[at][part.queries]) for part in parts],
            found.__setitem__,
            progress=progress,
            cancelled=cancelled,
        )
        for number in range(len(parts)):  # in one order, so that the sums are the same each time
            place, pooled = found[number]
            place_of = values[place, : pooled.shape[1]]
            sums(place_of, pooled, out=place_of)
        if of == "mean":
            values /= np.diff(rows)[:, None].astype(values.dtype)
        return Cells(locked(values), rows, columns)

    def place(self, item: int, head: int) -> Where:
        """Return the index of an item and a head, counted from 0, on the leading axes."""
        *items, heads = self.shape[:-2] or (1,)
        for name, given, most in (("item", item, math.prod(items)), ("head", head, heads)):
            if check_count(name, given, 0) >= most:
                raise ValueError(f"{name} is {given}; 0 to {most - 1} are there.")
        where = *map(int, np.unravel_index(item, tuple(items))), head
        return where if len(self.shape) > 2 else ()


@hinting
def long_attention(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike | None = None,
    *,
    allowed: Allowed | ArrayLike | None = None,
    bias: Callable[..., Any] | ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    score_mod: ScoreMod | None = None,
    mask_mod: MaskMod | None = None,
    softmax: bool | str = True,
    sinks: ArrayLike | None = None,
    norm: RMSNorm | None = None,
    rotary: Rotary | None = None,
    results: Collection[str] | None = None,
    pool: int = 512,
    block: int | None = None,
    executor: Any = None,
    ahead: int | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], object] | None = None,
) -> LongAttention:
    """Let many thousand queries look at as many keys, and return the results asked for by name.

    It is exact, in the memory of some tiles of scores: the softmax is summed tile by tile with a
    running maximum, as in Milakov and Gimelshein 2018, "Online normalizer calculation for softmax",
    Rabe and Staats 2021, "Self-attention Does Not Need O(n²) Memory", and FlashAttention.

    Parameters
    ----------
    Q, K, V : array_like, (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v)
        The last leading axis counts the heads, those before it the items; K and V may have fewer
        heads, g, each for h / g of Q. float32 stays float32. They are not copied. V may be left
        out if ``results`` do not include the output.
    allowed : of ``attention.places``, or array_like of bool
        **Who may look at whom**: ``places.causal()``, ``places.window(512) & places.padding(real)``
        and the like, which take no memory and leave out what is hidden; or an array that
        broadcasts to (…, n_q, n_k) as in :func:`scaled_dot_product_attention`. Default: every key.
    bias : function (b, h, q, k) → numbers, or array_like
        What is added to the scores, such as ``places.alibi(heads)``. The function is called for a
        tile at a time, with grids of its indices.
    scale, softcap, sinks, norm, rotary :
        As in :func:`scaled_dot_product_attention`.
    softmax : True, or ``"sigmoid"``
        A sigmoid divides by no sum: ``lse`` is 0 then.
    score_mod, mask_mod : function (score, b, h, q, k) → score, (b, h, q, k) → bool
        As in :func:`scaled_dot_product_attention`, but called for a tile at a time: they see no
        whole row.
    results : names among ``output``, ``mean_map``, ``entropy``, ``largest``, ``first``,
        ``distance``, ``profile``
        Each is a field of the record and costs its own time. Default: output and mean_map.
    pool : int
        Cells of the map along a side, at most.
    block : int
        How many queries are worked on at a time. Default: depends on their number.
    executor : anything with the interface of ``concurrent.futures``
        Where the blocks are worked on: ``client.get_executor()`` of Dask, or a pool of processes.
        Each takes its queries along and the keys and values that they see. Default: threads.
    ahead : int
        How many blocks the executor holds at a time. Default: twice its workers.
    progress : function (done, total)
        Called in the caller's thread as blocks are done.
    cancelled : function () → bool
        Called there as often; True ends the run.

    Raises
    ------
    ValueError, TypeError
        One sentence: the argument, what was given and what is allowed. A ValueError if shapes do
        not fit, a number is out of range or there is no such result; a TypeError if an argument has
        the wrong type, such as a mask of integers, or is unknown.
    RuntimeError
        One sentence, if a block failed: which one, and why.
    concurrent.futures.CancelledError
        If ``cancelled()`` returned true.

    >>> Q, K, V = np.random.default_rng(0).standard_normal((3, 1000, 8))
    >>> from attention.long import places
    >>> found = long_attention(Q, K, V, allowed=places.causal(), pool=100)
    >>> found.output.shape, found.mean_map.shape, found.mean_map.sum(axis=-1).round(6)[:2]
    ((1000, 8), (100, 100), array([1., 1.]))
    """
    given = {"Q": Q, "K": K} if V is None else {"Q": Q, "K": K, "V": V}
    Q, K, *values = as_floats(**given)
    wanted = _results(results, bool(values))
    shape = _shape(Q, K, values[0] if values else K)
    Q, K = last(prepared(Q, K, norm, rotary, Q.ndim > 2))
    source = LongArrays(
        Q=Q,
        K=K,
        V=values[0] if "output" in wanted else None,
        shape=shape,
        formula=Formula(
            1 / math.sqrt(Q.shape[-1]) if scale is None else check_positive("scale", scale),
            None if softcap is None else check_positive("softcap", softcap),
            allowed.fitted(shape) if isinstance(allowed, Allowed) else None,
            _function("mask_mod", mask_mod, "(b, h, q, k)"),
            _function("score_mod", score_mod, "(score, b, h, q, k)"),
            bias if callable(bias) else None,
            _is_sigmoid(softmax, sinks),
        ),
        allowed=None if isinstance(allowed, Allowed) else _allowed(allowed, shape),
        bias=None if callable(bias) else _bias(bias, shape),
        sinks=None if sinks is None else check_sinks(sinks, shape, Q.dtype),
    )
    pool = check_count("pool", pool)
    n_q, n_k = shape[-2:]
    sides = cell_of(n_q, pool), cell_of(n_k, pool)
    asked = Asked(wanted, *sides)
    _check_executor(executor)
    _check_calls(progress, cancelled)
    edges = edges_of(0, n_q, sides[0]), edges_of(0, n_k, sides[1])
    found = Gathered(asked, source, edges)
    places = blocks_of(shape, None if block is None else check_count("block", block))
    todo = [(at, source.part(at, np.arange(*rows.indices(n_q)))) for at, rows in places]
    source.try_functions(part for _, part in todo)
    todo.sort(key=lambda one: -len(one[1].q) * len(one[1].K))  # so that no long one comes last
    share_out(
        partial(computed, asked),
        [part for _, part in todo],
        lambda number, one: found.take(number, *todo[number], one),
        executor=executor,
        ahead=None if ahead is None else check_count("ahead", ahead),
        named=named_in(shape),
        progress=progress,
        cancelled=cancelled,
    )
    return LongAttention(
        shape,
        source.formula.scale,
        *edges,
        **found.whole(),
        sinks=source.sinks,
        _source=replace(source, V=None),
    )


# ---- what is given -------------------------------------------------------------------------------


def _results(results: Collection[str] | None, has_values: bool) -> tuple[str, ...]:
    if results is None:
        return USUAL if has_values else USUAL[1:]
    asked: list[Any]
    try:
        asked = [results] if isinstance(results, str) else list(results)
        odd = [name for name in asked if not isinstance(name, str) or name not in RESULTS]
    except TypeError:
        asked, odd = [], [results]
    if odd:
        raise ValueError(f"there is no result {shown(odd[0])}; choose among {', '.join(RESULTS)}.")
    if "output" in asked and not has_values:
        raise ValueError("the output is asked for without V; give V, or leave it out of results.")
    return tuple(name for name in RESULTS if name in asked)


def _shape(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[int, ...]:
    """Return the shape of the scores, (…, n_q, n_k), where K and V may have fewer heads."""
    h, few = Q.shape[-3] if Q.ndim > 2 else 1, {M.shape[-3] for M in (K, V) if M.ndim > 2} - {1}
    if all(h % g == 0 for g in few if g) and few != {h}:  # as if all had their own
        wide = [
            np.broadcast_to(M[..., :1, :, :], (*M.shape[:-3], h, *M.shape[-2:]))
            if M.ndim > 2 and M.shape[-3]
            else M
            for M in (K, V)
        ]
        K, V = wide
    check_shapes(Q, K, V)
    lead = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2], V.shape[:-2])
    return (*lead, Q.shape[-2], K.shape[-2])


def _allowed(allowed: ArrayLike | None, shape: tuple[int, ...]) -> np.ndarray | None:
    if allowed is None:
        return None
    seen = as_array("allowed", allowed)
    if seen.dtype != bool:
        raise TypeError(
            f"allowed {held(seen)}; expected booleans or a mask of attention.places, such as"
            " places.causal()."
        )
    check_fits("allowed", seen, shape)
    return seen


def _bias(bias: ArrayLike | None, shape: tuple[int, ...]) -> np.ndarray | None:
    if bias is None:
        return None
    wanted = "expected numbers to add to the scores, or a function (b, h, q, k)"
    added = as_numbers("bias", bias, wanted)
    if added.dtype == bool:
        raise TypeError(f"bias holds bool; {wanted}.")
    refuse_counts("bias", added)
    check_fits("bias", added, shape)
    return added


def _is_sigmoid(softmax: Any, sinks: ArrayLike | None) -> bool:
    if isinstance(softmax, (bool, np.bool_)) and softmax:
        return False
    if not isinstance(softmax, str) or softmax != SIGMOID:
        raise ValueError(
            f'softmax is {shown(softmax)}; expected True or "{SIGMOID}": any other is what'
            " scaled_dot_product_attention takes."
        )
    if sinks is not None:
        raise ValueError("sinks are part of the sum of a softmax; a sigmoid has none.")
    return True


def _function(name: str, given: Any, of: str) -> Any:
    if given is not None and not callable(given):
        raise TypeError(f"{name} is {shown(given)}; expected a function of {of}.")
    return given


def _check_calls(progress: Any, cancelled: Any) -> None:
    _function("progress", progress, "(done, total)")
    _function("cancelled", cancelled, "()")


def _check_executor(executor: Any) -> None:
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor is {shown(executor)}; expected one with submit(function, argument), such as"
            " concurrent.futures.ThreadPoolExecutor()."
        )


def _range(name: str, given: Any, count: int) -> tuple[int, int]:
    """Return the first index and that after the last, out of ``count``."""
    wanted = f"{name} is {shown(given)}; expected a slice or two numbers from 0 to {count}"
    try:
        if given is None or isinstance(given, slice):
            begin, end, step = (given or slice(None)).indices(count)
        else:
            (begin, end), step = map(index, given), 1
    except (TypeError, ValueError):
        raise ValueError(f"{wanted}.") from None
    if begin < 0 or end > count:
        raise ValueError(f"{wanted}.")
    if step != 1 or begin >= end:
        raise ValueError(f"{wanted}, the first below the second.")
    return begin, end
