"""Masks and biases as functions of query and key, for maps too large for memory.

They have the names and the conventions of ``masks.py`` and ``biases.py``, without n_q and n_k:
``causal(past=4)``, joined by ``&``. Each returns whether query q sees key k, and also which keys
some query of a block sees and which all of them see, so that what is hidden is never computed and
what is visible to all is not checked.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import check_count
from attention.arrays.conversion import as_numbers, kept, shown
from attention.core.biases import alibi_slopes, buckets_of, check_buckets, check_table
from attention.core.masks import check_lengths, truth_of_tokens

Span = tuple[int, int]  # keys from the first to before the second
Bias = Callable[[Any, Any, Any, Any], np.ndarray]  # (b, h, q, k) → what is added to the scores


class Allowed(ABC):
    """A mask as a function of the indices of query and key. Join two of them by ``&``.

    >>> (causal() & padding([True, False])).seen(0, 0, np.arange(2)[:, None], np.arange(2))
    array([[ True, False],
           [ True, False]])
    """

    @abstractmethod
    def seen(self, b: Any, h: Any, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Return True where the query may look at the key, for grids of indices of one shape."""

    @abstractmethod
    def spans(self, b: int, first: int, last: int, n_k: int) -> tuple[Span, Span]:
        """Return two spans of keys for the queries ``first`` … ``last``.

        Every key that some of the queries see is in the first span; all of the queries see every
        key of the second.
        """

    def fitted(self, shape: tuple[int, ...]) -> Allowed:
        """Return the mask for scores (…, n_q, n_k); raise one sentence if it does not fit them."""
        return self

    def __and__(self, other: Allowed) -> Allowed:
        if not isinstance(other, Allowed):
            raise TypeError(f"& joins two masks of attention.places; here is {shown(other)}.")
        return _AllowedByTwo(self, other)


@dataclass(frozen=True, eq=False)
class _AllowedByTwo(Allowed):
    one: Allowed
    other: Allowed

    def seen(self, b: Any, h: Any, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return self.one.seen(b, h, q, k) & self.other.seen(b, h, q, k)

    def spans(self, b: int, first: int, last: int, n_k: int) -> tuple[Span, Span]:
        both = self.one.spans(b, first, last, n_k), self.other.spans(b, first, last, n_k)
        some, every = zip(*both, strict=True)
        return _overlap(*some), _overlap(*every)

    def fitted(self, shape: tuple[int, ...]) -> Allowed:
        return _AllowedByTwo(self.one.fitted(shape), self.other.fitted(shape))


@dataclass(frozen=True, eq=False)
class _Band(Allowed):
    """−after ≤ q + past − k ≤ before, and the keys before ``prefix`` in any case."""

    before: int | None
    after: int | None
    past: np.ndarray | None  # () or (items,); None: so that the last query is at the last key
    prefix: int = 0

    def seen(self, b: Any, h: Any, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        place = q + _of_item(self.past, b)
        seen = np.ones(np.broadcast_shapes(np.shape(place), np.shape(k)), bool)
        if self.after is not None:
            seen = k <= place + self.after
        if self.before is not None:
            seen = seen & (k >= place - self.before)
        return seen | (k < self.prefix) if self.prefix else seen

    def spans(self, b: int, first: int, last: int, n_k: int) -> tuple[Span, Span]:
        past = int(_of_item(self.past, b))
        first, last = first + past, last + past
        some = every = (0, n_k)
        if self.before is not None:
            some, every = (first - self.before, some[1]), (last - self.before, every[1])
        if self.after is not None:
            some, every = (some[0], last + self.after + 1), (every[0], first + self.after + 1)
        if self.prefix:  # without a bound before: the keys before it are seen by all
            some, every = (0, max(some[1], self.prefix)), (0, max(every[1], self.prefix))
        return _overlap(some, (0, n_k)), _overlap(every, (0, n_k))

    def fitted(self, shape: tuple[int, ...]) -> Allowed:
        if self.past is None:
            return replace(self, past=np.array(shape[-1] - shape[-2]))
        _check_items("past", self.past.shape, shape)
        return self


@dataclass(frozen=True, eq=False)
class _Keys(Allowed):
    """Keys by a boolean of each."""

    real: np.ndarray  # (items or 1, n_k)

    def seen(self, b: Any, h: Any, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return np.asarray(_of_item(self.real, b)[k]) & np.ones(np.shape(q), bool)

    def spans(self, b: int, first: int, last: int, n_k: int) -> tuple[Span, Span]:
        real = _of_item(self.real, b)
        if not real.any():
            return (0, 0), (0, 0)
        begin, end = int(real.argmax()), n_k - int(real[::-1].argmax())
        gap = int((~real[begin:end]).argmax())
        return (begin, end), (begin, begin + gap if gap else end)

    def fitted(self, shape: tuple[int, ...]) -> Allowed:
        _check_tokens("real", self.real, shape[-1], "keys")
        _check_items("real", self.real.shape[:1], shape)
        return self


@dataclass(frozen=True, eq=False)
class _Lengths(Allowed):
    """The first keys, as many as each item has."""

    lengths: np.ndarray  # () or (items,)

    def seen(self, b: Any, h: Any, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return (k < _of_item(self.lengths, b)) & np.ones(np.shape(q), bool)

    def spans(self, b: int, first: int, last: int, n_k: int) -> tuple[Span, Span]:
        span = _overlap((0, int(_of_item(self.lengths, b))), (0, n_k))
        return span, span

    def fitted(self, shape: tuple[int, ...]) -> Allowed:
        _check_items("lengths", self.lengths.shape, shape)
        return self


@dataclass(frozen=True, eq=False)
class _Documents(Allowed):
    """Queries and keys of the same document."""

    ids: np.ndarray  # (items or 1, n_q)
    key_ids: np.ndarray  # (items or 1, n_k)

    def seen(self, b: Any, h: Any, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return np.asarray(_of_item(self.ids, b)[q] == _of_item(self.key_ids, b)[k])

    def spans(self, b: int, first: int, last: int, n_k: int) -> tuple[Span, Span]:
        asked = np.unique(_of_item(self.ids, b)[first : last + 1])
        same = np.isin(_of_item(self.key_ids, b), asked)
        some, every = _Keys(same[None]).spans(0, first, last, n_k)
        return some, every if len(asked) == 1 else (0, 0)

    def fitted(self, shape: tuple[int, ...]) -> Allowed:
        for name, ids, count in (("ids", self.ids, -2), ("key_ids", self.key_ids, -1)):
            _check_tokens(name, ids, shape[count], "queries" if count == -2 else "keys")
            _check_items(name, ids.shape[:1], shape)
        return self


# ---- masks ---------------------------------------------------------------------------------------


def causal(past: ArrayLike = 0) -> Allowed:
    """Return the look-ahead mask, aligned top left: :func:`attention.causal` for long attention.

    Parameters
    ----------
    past : int, or array_like of int, (items,)
        Number of keys in a cache before the first query: query i is at position past + i.

    Raises
    ------
    ValueError
        If ``past`` is 2⁵³ or larger in size.
    TypeError
        If ``past`` does not hold integers.

    >>> causal().seen(0, 0, np.arange(2)[:, None], np.arange(3)).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    return sliding_window(None, 0, past)


def causal_lower_right() -> Allowed:
    """Return the look-ahead mask, aligned bottom right: the last query sees every key.

    :func:`attention.causal_lower_right` for long attention.

    >>> mask = causal_lower_right().fitted((2, 3))
    >>> mask.seen(0, 0, np.arange(2)[:, None], np.arange(3)).astype(int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    return _Band(None, 0, None)


def sliding_window(
    before: int | None = None, after: int | None = None, past: ArrayLike = 0
) -> Allowed:
    """Return the mask in which query i sees the keys from i − ``before`` to i + ``after``.

    :func:`attention.sliding_window` for long attention.

    Parameters
    ----------
    before, after : int
        How many keys before and after its own position a query sees, in tokens. None: no bound on
        that side.
    past : int, or array_like of int, (items,)
        Number of keys in a cache before the first query: query i is at position past + i.

    Raises
    ------
    ValueError
        If ``before`` or ``after`` is not a whole number from 0, or ``past`` is 2⁵³ or larger in
        size.
    TypeError
        If ``past`` does not hold integers.

    >>> mask = sliding_window(before=1, after=0)
    >>> mask.seen(0, 0, np.arange(3)[:, None], np.arange(3)).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    for name, bound in (("before", before), ("after", after)):
        try:
            bound is None or check_count(name, bound, 0)
        except ValueError:
            raise ValueError(
                f"{name} is {shown(bound)}; expected a whole number from 0, or None for no bound."
            ) from None
    past = _whole_numbers("past", past, "expected whole numbers of cached keys")
    return _Band(before, after, past)


def window(seen: int, past: ArrayLike = 0) -> Allowed:
    """Return the look-ahead mask where a query sees at most ``seen`` keys, up to its own.

    :func:`attention.window` for long attention: ``sliding_window`` of Mistral's configuration.

    Parameters
    ----------
    seen : int
        Width of the window in tokens.
    past : int, or array_like of int, (items,)
        Number of keys in a cache before the first query: query i is at position past + i.

    Raises
    ------
    ValueError
        If ``seen`` is not a whole number from 1, or ``past`` is 2⁵³ or larger in size.
    TypeError
        If ``past`` does not hold integers.

    >>> window(2).seen(0, 0, np.arange(3)[:, None], np.arange(3)).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    return sliding_window(check_count("seen", seen) - 1, 0, past)


def prefix(length: int, past: ArrayLike = 0) -> Allowed:
    """Return the look-ahead mask, except for the first ``length`` keys, which every query sees.

    It is the mask of a prefix language model: Raffel et al. 2020, "Exploring the Limits of Transfer
    Learning with a Unified Text-to-Text Transformer", section 3.2.1.

    Parameters
    ----------
    length : int
        Length of the prefix in tokens.
    past : int, or array_like of int, (items,)
        Number of keys in a cache before the first query: query i is at position past + i.

    Raises
    ------
    ValueError
        If ``length`` is not a whole number from 0, or ``past`` is 2⁵³ or larger in size.
    TypeError
        If ``past`` does not hold integers.

    >>> prefix(2).seen(0, 0, np.arange(3)[:, None], np.arange(3)).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    wanted = _whole_numbers("past", past, "expected whole numbers of cached keys")
    return _Band(None, 0, wanted, check_count("length", length, 0))


def padding(real: ArrayLike) -> Allowed:
    """Return the mask that hides padding tokens among the keys: :func:`attention.padding`.

    Parameters
    ----------
    real : array_like of bool, or of 0 and 1, (n_k,) or (items, n_k)
        True for a real token.

    Raises
    ------
    ValueError
        If ``real`` holds other numbers than 0 and 1, or has no axis.
    TypeError
        If ``real`` does not hold booleans or numbers.

    >>> padding([True, False]).seen(0, 0, np.arange(2)[:, None], np.arange(2)).astype(int)
    array([[1, 0],
           [1, 0]])
    """
    truth = truth_of_tokens(real)
    return _Keys(kept(truth.reshape(math.prod(truth.shape[:-1]), truth.shape[-1])))


def real_tokens(lengths: ArrayLike) -> Allowed:
    """Return the mask that shows only the first keys of each item, as many as its length.

    :func:`attention.real_tokens` and :func:`attention.padding` in one.

    Parameters
    ----------
    lengths : int, or array_like of int, (items,)
        Number of real tokens.

    Raises
    ------
    ValueError
        If a length is negative, or 2⁵³ or larger.
    TypeError
        If ``lengths`` does not hold integers.

    >>> real_tokens(1).seen(0, 0, np.arange(2)[:, None], np.arange(2)).astype(int)
    array([[1, 0],
           [1, 0]])
    """
    known = _whole_numbers("lengths", lengths, "expected numbers of tokens")
    check_lengths(lengths, known)
    return _Lengths(known)


def documents(ids: ArrayLike, key_ids: ArrayLike | None = None) -> Allowed:
    """Return the mask of several documents in one sequence: a query sees only the keys of its own.

    Llama 3 was trained with such a mask: Dubey et al. 2024, "The Llama 3 Herd of Models", section
    3.2.

    Parameters
    ----------
    ids : array_like of int, (n,) or (items, n)
        The number of each token's document.
    key_ids : array_like of int, (n_k,) or (items, n_k)
        The same of the keys, if they are other tokens than the queries.

    Raises
    ------
    ValueError
        If a number is 2⁵³ or larger in size.
    TypeError
        If ``ids`` or ``key_ids`` does not hold integers, or has no axis.

    >>> documents([7, 7, 8]).seen(0, 0, np.arange(3)[:, None], np.arange(3)).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    found = _whole_numbers("ids", ids, wanted := "expected a whole number for each token", least=1)
    keys = found if key_ids is None else _whole_numbers("key_ids", key_ids, wanted, least=1)
    return _Documents(*(each.reshape(-1, each.shape[-1]) for each in (found, keys)))


@dataclass(frozen=True, eq=False)
class _Chosen(Allowed):
    """Some of the queries of another mask."""

    one: Allowed
    queries: np.ndarray  # (chosen,), increasing
    n_q: int

    def seen(self, b: Any, h: Any, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return self.one.seen(b, h, self.queries[q], k)

    def spans(self, b: int, first: int, last: int, n_k: int) -> tuple[Span, Span]:
        return self.one.spans(b, int(self.queries[first]), int(self.queries[last]), n_k)

    def fitted(self, shape: tuple[int, ...]) -> Allowed:
        whole = (*shape[:-2], self.n_q, shape[-1])
        return replace(self, one=self.one.fitted(whole))


def of_queries(allowed: Allowed, queries: ArrayLike, n_q: int) -> Allowed:
    """Return a mask for some of n_q queries, where ``Q[queries]`` is given instead of Q.

    Parameters
    ----------
    allowed : Allowed
        The mask of all queries.
    queries : array_like of int, (chosen,)
        Indices of queries, from 0, rising.
    n_q : int
        Number of all queries.

    Raises
    ------
    ValueError
        If ``queries`` is not one row of rising indices below n_q.
    TypeError
        If ``queries`` does not hold integers.

    >>> of_queries(causal(), [0, 2], 3).seen(0, 0, np.arange(2)[:, None], np.arange(3)).astype(int)
    array([[1, 0, 0],
           [1, 1, 1]])
    """
    chosen = _whole_numbers("queries", queries, "expected numbers of queries", least=1)
    rising = chosen.ndim == 1 and (np.diff(chosen) > 0).all()
    if not rising or chosen[0] < 0 or chosen[-1] >= n_q:
        raise ValueError(f"queries is {shown(queries)}; expected rising numbers below {n_q}.")
    return _Chosen(allowed, chosen, check_count("n_q", n_q))


# ---- biases --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Alibi:
    slopes: np.ndarray  # (h,)
    past: np.ndarray

    def __call__(self, b: Any, h: Any, q: Any, k: Any) -> np.ndarray:
        return np.asarray(-self.slopes[h] * np.abs(q + _of_item(self.past, b) - k))


@dataclass(frozen=True, eq=False)
class _Relative:
    table: np.ndarray  # (buckets, h)
    bidirectional: bool
    max_distance: int
    past: np.ndarray

    def __call__(self, b: Any, h: Any, q: Any, k: Any) -> np.ndarray:
        behind = np.asarray(q + _of_item(self.past, b) - k)
        rows = buckets_of(behind, len(self.table), self.bidirectional, self.max_distance)
        return np.asarray(self.table[rows, h])


def alibi(heads: int, past: ArrayLike = 0) -> Bias:
    """Return ALiBi for ``bias=``: −slope × distance in tokens, as :func:`attention.alibi`.

    Parameters
    ----------
    heads : int
        Number of heads.
    past : int, or array_like of int, (items,)
        Number of keys in a cache before the first query: query i is at position past + i.

    Returns
    -------
    function (b, h, q, k) → numbers

    Raises
    ------
    ValueError
        If ``heads`` is not a whole number from 1, or ``past`` is 2⁵³ or larger in size.
    TypeError
        If ``past`` does not hold integers.

    >>> alibi(1)(0, 0, np.arange(2)[:, None], np.arange(2))
    array([[-0.        , -0.00390625],
           [-0.00390625, -0.        ]])
    """
    return _Alibi(
        alibi_slopes(heads), _whole_numbers("past", past, "expected whole numbers of cached keys")
    )


def relative_bias(
    table: ArrayLike,
    *,
    bidirectional: bool = True,
    max_distance: int = 128,
    past: ArrayLike = 0,
) -> Bias:
    """Return T5's relative bias for ``bias=``, as :func:`attention.relative_bias`.

    Parameters
    ----------
    table : array_like, (buckets, h)
        The numbers that the model has learned.
    bidirectional, max_distance : as in :func:`attention.relative_bias`
    past : int, or array_like of int, (items,)
        Number of keys in a cache before the first query: query i is at position past + i.

    Returns
    -------
    function (b, h, q, k) → numbers

    Raises
    ------
    ValueError, TypeError
        As :func:`attention.relative_bias`.

    >>> table = [[0.0], [1.0], [2.0], [3.0]]
    >>> relative_bias(table, max_distance=2)(0, 0, np.arange(2)[:, None], np.arange(2))
    array([[0., 3.],
           [1., 0.]])
    """
    table = kept(check_table(table, bidirectional))
    _, both, most = check_buckets(len(table), bidirectional, max_distance)
    past = _whole_numbers("past", past, "expected whole numbers of cached keys")
    return _Relative(table, both, most, past)


# ---- what they lean on ---------------------------------------------------------------------------


def _overlap(one: Span, other: Span) -> Span:
    begin, end = max(one[0], other[0]), min(one[1], other[1])
    return (begin, end) if begin < end else (0, 0)


def _of_item(given: Any, b: Any) -> Any:
    """Return an item's entry of an array with one for each or for all; b may be a grid."""
    if np.ndim(given) == 0:
        return given
    return given[b if len(given) > 1 else 0]


def _whole_numbers(name: str, given: ArrayLike, wanted: str, least: int = 0) -> np.ndarray:
    """Return integers: one, or one for each item, or for each token of each item."""
    found = as_numbers(name, given, wanted)
    if found.dtype.kind not in "iu" or found.ndim < least or not found.size:
        raise TypeError(f"{name} is {shown(given)}; {wanted}.")
    if np.abs(found.astype(np.float64)).max() >= 2**53:
        raise ValueError(f"{name} is {shown(given)}; {wanted}, below 2⁵³.")
    found = kept(found.astype(np.int64))
    return found.reshape(-1) if found.ndim and not least else found


def _check_tokens(name: str, given: np.ndarray, count: int, what: str) -> None:
    if given.shape[-1] != count:
        raise ValueError(f"{name} has {given.shape[-1]} tokens; there are {count} {what}.")


def _check_items(name: str, lead: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Refuse what has entries for another number of items than there are."""
    items = int(np.prod(shape[:-3], dtype=int))
    if lead and lead[0] not in (1, items):
        raise ValueError(f"{name} is given for {lead[0]} items; there are {items}.")
