"""Numbers added to the scaled scores by the distance between query and key."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import as_floats, check_count, check_switch, in_type
from attention.arrays.conversion import kept, shown
from attention.core.masks import lead

MOST_NAMED = 2**16  # tokens from a query, up to which buckets are named


def alibi_slopes(heads: int) -> np.ndarray:
    """Return ALiBi's slope of each head, (h,): how much a score falls for each token of distance.

    For a power of two, h heads have 2^(−8/h), 2^(−16/h), …; another number of heads has the slopes
    of the next smaller power of two, then every second one of the next larger. Press et al. 2022,
    "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
    section 3, and the authors' code; also in BLOOM and MPT.

    Parameters
    ----------
    heads : int
        Number of heads, h.

    Raises
    ------
    ValueError
        If ``heads`` is not a whole number from 1.

    >>> alibi_slopes(2), alibi_slopes(3)
    (array([0.0625    , 0.00390625]), array([0.0625    , 0.00390625, 0.25      ]))
    """
    heads = check_count("heads", heads)
    power = 2 ** math.floor(math.log2(heads))

    def of_power(count: int) -> np.ndarray:
        return np.exp2(-8 / count * np.arange(1, count + 1))

    return np.concatenate([of_power(power), of_power(2 * power)[::2][: heads - power]])


def alibi(n_q: int, n_k: int, heads: int, past: ArrayLike = 0) -> np.ndarray:
    """Return ALiBi for ``bias=``: −slope × distance in tokens, so that far keys count for less.

    Press et al. 2022, section 3, with the slopes of :func:`alibi_slopes`. Published code that adds
    slope × (k − q), or slope × k, gives the same weights under a look-ahead mask.

    Parameters
    ----------
    n_q, n_k, heads : int
        Numbers of queries, keys and heads.
    past : array_like, () or (…)
        Keys before the first query, as in :func:`causal`.

    Returns
    -------
    ndarray, (h, n_q, n_k), or (…, h, n_q, n_k) for several ``past``
        With a batch, give the first as ``alibi(…)[None]``.

    Raises
    ------
    ValueError
        If ``n_q`` or ``n_k`` is not a whole number from 0, ``heads`` not one from 1, or ``past`` is
        not finite.
    TypeError
        If ``past`` is not a number.

    >>> alibi(2, 2, heads=1)
    array([[[-0.        , -0.00390625],
            [-0.00390625, -0.        ]]])
    """
    slopes = alibi_slopes(heads)
    return np.asarray(-slopes[:, None, None] * np.abs(lead(n_q, n_k, past))[..., None, :, :])


def relative_buckets(
    n_q: int,
    n_k: int,
    buckets: int = 32,
    *,
    bidirectional: bool = True,
    max_distance: int = 128,
    past: ArrayLike = 0,
) -> np.ndarray:
    """Return which row of a table each score reads, (n_q, n_k), as in T5.

    Each near distance has its own row; further ones share rows, whose widths grow in equal steps of
    the logarithm up to ``max_distance``. With ``bidirectional``, half of the rows are for keys
    after the query (key − query > 0); without it, all such keys read row 0, as a key at the query's
    own position does.

    >>> relative_buckets(3, 3, 8, max_distance=16)
    array([[0, 5, 6],
           [1, 0, 5],
           [2, 1, 0]])
    """
    buckets, bidirectional, max_distance = check_buckets(buckets, bidirectional, max_distance)
    behind = lead(n_q, n_k, past)  # query − key
    if behind.dtype.kind not in "iu":
        raise TypeError(f"past is {shown(past)}; expected whole numbers of cached keys.")
    return buckets_of(behind, buckets, bidirectional, max_distance)


def check_buckets(
    buckets: int, bidirectional: bool = True, max_distance: int = 128
) -> tuple[int, bool, int]:
    """Return the arguments of :func:`relative_buckets`; raise if one is out of range."""
    if not isinstance(bidirectional, (bool, np.bool_)):
        raise TypeError(f"bidirectional is {shown(bidirectional)}; expected True or False.")
    buckets = check_count("buckets", buckets, 4 if bidirectional else 2)
    if bidirectional and buckets % 2:
        raise ValueError(f"buckets is {buckets}; expected an even number, half for each side.")
    near = buckets // 4 if bidirectional else buckets // 2
    return buckets, bool(bidirectional), check_count("max_distance", max_distance, near + 1)


def buckets_of(
    behind: np.ndarray, buckets: int, bidirectional: bool, max_distance: int
) -> np.ndarray:
    """Return which row of a table each distance reads; distances are query − key, integers."""
    side = buckets // 2 if bidirectional else buckets
    near = side // 2  # distances with their own row
    distance = np.abs(behind) if bidirectional else np.maximum(behind, 0)
    with np.errstate(divide="ignore"):  # in float32, as T5: it decides at the edges of a bucket
        grown = np.log(distance.astype(np.float32) / near) / np.float32(
            math.log(max_distance / near)
        )
    far = near + np.maximum(grown * (side - near), 0).astype(np.int64)
    row = np.where(distance < near, distance, np.minimum(far, side - 1))
    return row + np.where((behind < 0) & bidirectional, side, 0)


def relative_bias(
    table: ArrayLike,
    n_q: int,
    n_k: int,
    *,
    bidirectional: bool = True,
    max_distance: int = 128,
    past: ArrayLike = 0,
) -> np.ndarray:
    """Return T5's relative bias for ``bias=``: a learned number for each bucket of distances.

    Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
    Transformer", section 2.1; the buckets are those of T5's code. T5 does not scale its scores:
    give ``scale=1``.

    Parameters
    ----------
    table : array_like, (buckets, h)
        The numbers that the model has learned.
    n_q, n_k : int
        Numbers of queries and keys.
    bidirectional : bool
        Half of the rows are for keys after the query, as in T5's encoder. False: keys after the
        query read row 0, as in its decoder.
    max_distance : int
        All keys at least this far away, in tokens, share one row (one on each side).
    past : array_like of int, () or (…)
        Keys before the first query, as in :func:`causal`.

    Returns
    -------
    ndarray, (h, n_q, n_k), or (…, h, n_q, n_k) for several ``past``

    Raises
    ------
    ValueError
        If the table does not have two axes and an even number of rows, at least 4 (any number from
        2 if not ``bidirectional``), ``max_distance`` is not larger than the distances with their
        own row, ``n_q`` or ``n_k`` is not a whole number from 0, or ``past`` is not finite.
    TypeError
        If the table does not hold numbers, ``past`` does not hold integers, or ``bidirectional`` is
        not a bool.

    >>> relative_bias([[0.0], [1.0], [2.0], [3.0]], 2, 2, max_distance=2)
    array([[[0., 3.],
            [1., 0.]]])
    """
    table = check_table(table, bidirectional)
    rows = relative_buckets(
        n_q,
        n_k,
        len(table),
        bidirectional=bidirectional,
        max_distance=max_distance,
        past=past,
    )
    return np.moveaxis(table[rows], -1, -3)


def check_table(table: ArrayLike, bidirectional: bool) -> np.ndarray:
    """Return the table as floats, (buckets, heads); refuse a number of rows that is not allowed."""
    (table,) = as_floats(table=table)
    check_switch("bidirectional", bidirectional)
    rows = len(table) if table.ndim == 2 else 0
    if not table.size or rows < (4 if bidirectional else 2) or (bidirectional and rows % 2):
        rule = "an even number of buckets, at least 4" if bidirectional else "at least 2 buckets"
        raise ValueError(
            f"table must have shape (buckets, heads) with {rule}, got shape {table.shape}."
        )
    return table


@dataclass(frozen=True, eq=False)
class RelativeBias:
    """T5's relative bias as a part of an attention, for ``relative=``; its table is the stage R.

    Source as in :func:`relative_bias`.

    Parameters
    ----------
    table : array_like, (buckets, h), or (buckets, 1), the same for every head
    bidirectional, max_distance, past :
        Which row each score reads, as in :func:`relative_bias`; ``past`` is one number.

    Raises
    ------
    ValueError, TypeError
        As :func:`relative_bias`; also if the table holds NaN or ∞, or ``past`` is not one number.

    >>> RelativeBias([[0.0], [1.0], [2.0], [3.0]], max_distance=2).rows(2, 2)
    array([[0, 3],
           [1, 0]])
    """

    table: ArrayLike  # stored as a read-only array of floats
    bidirectional: bool = True
    max_distance: int = 128
    past: int = 0

    def __post_init__(self) -> None:
        table = check_table(self.table, self.bidirectional)
        if not np.isfinite(table).all():
            raise ValueError("table holds NaN or ∞; expected finite numbers.")
        object.__setattr__(self, "table", kept(table))
        if np.ndim(self.past):
            raise ValueError(f"past is {shown(self.past)}; expected one number for all items.")
        self.rows(1, 1)  # refuses what is no such number
        _, both, far = check_buckets(len(table), self.bidirectional, self.max_distance)
        plain = {"bidirectional": both, "max_distance": far, "past": int(self.past)}
        for name, value in plain.items():  # an array of one number could still be changed
            object.__setattr__(self, name, value)

    @property
    def columns(self) -> int:
        """Return the number of heads that the table is for; 1 is for any number."""
        return int(np.shape(self.table)[1])

    def rows(self, n_q: int, n_k: int) -> np.ndarray:
        """Return the row of the table that each score reads, (n_q, n_k)."""
        return relative_buckets(
            n_q,
            n_k,
            len(np.asarray(self.table)),
            bidirectional=self.bidirectional,
            max_distance=self.max_distance,
            past=self.past,
        )

    def check_heads(self, heads: int) -> None:
        """Refuse a table for another number of heads."""
        if self.columns not in (1, heads):
            raise ValueError(
                f"the table of relative has {self.columns} columns and there"
                f" {'is 1 head' if heads == 1 else f'are {heads} heads'}; expected one column for"
                " each head, or one for all."
            )

    def of(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return what is added to scores of shape (…, h, n_q, n_k).

        It has shape (h, n_q, n_k), or (n_q, n_k) for a table of one column.
        """
        if self.columns > 1:
            self.check_heads(shape[-3] if len(shape) > 2 else 1)
        added = np.moveaxis(np.asarray(self.table)[self.rows(*shape[-2:])], -1, -3)
        return in_type(added if self.columns > 1 else added[0], dtype)

    def names(self) -> tuple[str, ...]:
        """Return the distances, key − query, that each row is for: − before the query, + after it.

        >>> RelativeBias(np.zeros((8, 1)), max_distance=8).names()
        ('0', '−1', '−2, −3', '≤ −4', '–', '+1', '+2, +3', '≥ +4')
        """
        far = np.arange(min(int(self.max_distance), MOST_NAMED) + 2)
        buckets = len(np.asarray(self.table))
        sides = {"−": relative_buckets(len(far), 1, buckets, **self._ways)[:, 0]}
        if self.bidirectional:
            sides["+"] = relative_buckets(1, len(far), buckets, **self._ways)[0]
        names = ["–"] * buckets  # one row is never read
        for sign, rows in sides.items():
            starts = np.flatnonzero(np.diff(rows, prepend=-1))
            for first, end in zip(starts, [*starts[1:], None], strict=True):
                names[rows[first]] = _places(sign, int(first), end)
        names[0] = "0" if self.bidirectional else "≥ 0"  # keys ahead read it too
        return tuple(names)

    @property
    def _ways(self) -> dict[str, Any]:
        return {"bidirectional": self.bidirectional, "max_distance": self.max_distance}


def check_relative(given: RelativeBias) -> RelativeBias:
    """Return the argument ``relative``; raise unless it is a RelativeBias."""
    if not isinstance(given, RelativeBias):
        raise TypeError(f"relative is {shown(given)}; expected attention.RelativeBias(table).")
    return given


def _places(sign: str, first: int, end: int | None) -> str:
    """Name the distances from ``first`` to below ``end``.

    >>> _places("−", 0, 1), _places("+", 2, 4), _places("+", 4, 8), _places("−", 8, None)
    ('0', '+2, +3', '+4 … +7', '≤ −8')
    """
    if end is None:
        return f"{'≤' if sign == '−' else '≥'} {sign}{first}"
    last = int(end) - 1
    if first == last:
        return f"{sign}{first}" if first else "0"
    return f"{sign}{first}{', ' if last == first + 1 else ' … '}{sign}{last}"
