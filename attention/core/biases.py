"""Numbers that are added to the scaled scores by how far a query stands from a key."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import as_floats, check_count, check_switch, in_type
from attention.arrays.conversion import kept, shown
from attention.core.masks import lead

MOST_NAMED = 2**16  # places from a query whose buckets are named


def alibi_slopes(heads: int) -> np.ndarray:
    """(h,), how much one place takes from a score in each head (Press et al. 2022; BLOOM, MPT).

    2^(−8/h), 2^(−16/h), … for 1, 2, 4, 8, … heads. For another number those of the next smaller
    power of two, then every second one of the next larger.

    >>> alibi_slopes(2), alibi_slopes(3)
    (array([0.0625    , 0.00390625]), array([0.0625    , 0.00390625, 0.25      ]))
    """
    heads = check_count("heads", heads)
    power = 2 ** math.floor(math.log2(heads))

    def of_power(count: int) -> np.ndarray:
        return np.exp2(-8 / count * np.arange(1, count + 1))

    return np.concatenate([of_power(power), of_power(2 * power)[::2][: heads - power]])


def alibi(n_q: int, n_k: int, heads: int, past: ArrayLike = 0) -> np.ndarray:
    """(h, n_q, n_k), ALiBi for ``bias=``: −slope × distance, so that far keys count for less.

    With a batch, give it as ``alibi(…)[None]``. ``past`` as in :func:`causal`; of several items it
    makes (…, h, n_q, n_k). Published code that adds slope × (k − q), or slope × k, gives
    the same weights under a look-ahead mask.

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
    """(n_q, n_k), which row of a table each place reads, as in T5: one for each near distance, and
    wider ones, in equal steps of the logarithm, up to ``max_distance``.

    ``bidirectional`` keeps half of them for keys behind the query; without it these all read row
    0, as a key at the query's own place does.

    >>> relative_buckets(3, 3, 8, max_distance=16)
    array([[0, 5, 6],
           [1, 0, 5],
           [2, 1, 0]])
    """
    buckets, bidirectional, max_distance = check_buckets(buckets, bidirectional, max_distance)
    behind = lead(n_q, n_k, past)  # how far the key stands before the query
    if behind.dtype.kind not in "iu":
        raise TypeError(f"past is {shown(past)}; expected whole numbers of cached keys.")
    return buckets_of(behind, buckets, bidirectional, max_distance)


def check_buckets(
    buckets: int, bidirectional: bool = True, max_distance: int = 128
) -> tuple[int, bool, int]:
    """The arguments of :func:`relative_buckets`, or a sentence."""
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
    """Which row of a table each distance reads: whole numbers, how far the key stands before."""
    side = buckets // 2 if bidirectional else buckets
    near = side // 2  # distances with a row of their own
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
    """(h, n_q, n_k), T5's relative bias for ``bias=``: a learned number for each distance.

    ``table``, (buckets, h), is what the model has learned; which row a place reads says
    :func:`relative_buckets`. T5 does not scale its scores: give ``scale=1``.

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

    Parameters
    ----------
    table : array_like, (buckets, h), or (buckets, 1), the same for every head
    bidirectional, max_distance, past :
        Which row each place reads, as in :func:`relative_buckets`.

    >>> RelativeBias([[0.0], [1.0], [2.0], [3.0]], max_distance=2).rows(2, 2)
    array([[0, 3],
           [1, 0]])
    """

    table: ArrayLike  # kept as an array of floats that nobody writes to
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
        """How many heads it is for; 1 is for any."""
        return int(np.shape(self.table)[1])

    def rows(self, n_q: int, n_k: int) -> np.ndarray:
        """(n_q, n_k), the row of the table that each place reads."""
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
        """What is added to scores of this shape, (…, h, n_q, n_k): (h, n_q, n_k) or (n_q, n_k)."""
        if self.columns > 1:
            self.check_heads(shape[-3] if len(shape) > 2 else 1)
        added = np.moveaxis(np.asarray(self.table)[self.rows(*shape[-2:])], -1, -3)
        return in_type(added if self.columns > 1 else added[0], dtype)

    def names(self) -> tuple[str, ...]:
        """What each row is for: how far the key stands from the query, behind it (−) or ahead (+).

        >>> RelativeBias(np.zeros((8, 1)), max_distance=8).names()
        ('0', '−1', '−2, −3', '≤ −4', '–', '+1', '+2, +3', '≥ +4')
        """
        far = np.arange(min(int(self.max_distance), MOST_NAMED) + 2)
        buckets = len(np.asarray(self.table))
        sides = {"−": relative_buckets(len(far), 1, buckets, **self._ways)[:, 0]}
        if self.bidirectional:
            sides["+"] = relative_buckets(1, len(far), buckets, **self._ways)[0]
        names = ["–"] * buckets  # one row is read by no place
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
    """The argument ``relative``, or one sentence."""
    if not isinstance(given, RelativeBias):
        raise TypeError(f"relative is {shown(given)}; expected attention.RelativeBias(table).")
    return given


def _places(sign: str, first: int, end: int | None) -> str:
    """The distances from ``first`` to below ``end``.

    >>> _places("−", 0, 1), _places("+", 2, 4), _places("+", 4, 8), _places("−", 8, None)
    ('0', '+2, +3', '+4 … +7', '≤ −8')
    """
    if end is None:
        return f"{'≤' if sign == '−' else '≥'} {sign}{first}"
    last = int(end) - 1
    if first == last:
        return f"{sign}{first}" if first else "0"
    return f"{sign}{first}{', ' if last == first + 1 else ' … '}{sign}{last}"
