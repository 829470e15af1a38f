"""All heads of a capture at a glance: how sharp, how far, how near to the model's own output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from attention.arrays.statistics import entropy
from attention.core.trace import AttentionTrace
from attention.limits import MAX_DIAGNOSED, ROUNDED, BadInput
from attention.models.labels import first_token, past_of, real_queries
from attention.models.taken import Taken
from attention.models.verify import Part, Verification, Verified, verified_call

DIAGNOSED = 2  # calls that do not agree and are searched for mistakes, which takes seconds
Measures = dict[str, float | None]  # by name; None where one says nothing of a head


@dataclass(frozen=True)
class Measure:
    """One number of each head, by which heads are sorted: a mean.

    ``of`` returns of some queries of some heads, (b, h) both, a sum and how much it is divided by.
    A head whose parts are divided by 0 has no such number.
    """

    label: str
    sentence: str
    largest_first: bool
    of: Callable[[Places, AttentionTrace], tuple[Any, Any]]


@dataclass(frozen=True)
class Places:
    """Where the queries and keys of a part of a call stand; None where it is not known."""

    past: int | None  # of the first query among the keys
    first: Sequence[int | None]  # of each item's first token among the keys
    real: np.ndarray  # (b or 1, n_q): no padding


NOTHING = 0.0, 0.0


def _entropy(places: Places, trace: AttentionTrace) -> tuple[Any, Any]:
    seeing = trace.allowed.any(axis=-1) & places.real[:, None]
    shares = np.where(trace.weights > 1 + ROUNDED, np.nan, trace.weights)
    return np.where(seeing, entropy(shares), 0).sum(axis=-1), seeing.sum(axis=-1)


def _first(places: Places, trace: AttentionTrace) -> tuple[Any, Any]:
    known = np.array([place is not None for place in places.first])
    column = np.array([place or 0 for place in places.first]).reshape(-1, 1, 1, 1)
    seeing = trace.allowed.any(axis=-1) & known[:, None, None] & places.real[:, None]
    weights = np.take_along_axis(trace.weights, column, axis=-1)[..., 0]
    return np.where(seeing, weights, 0).sum(axis=-1), seeing.sum(axis=-1)


def _distance(places: Places, trace: AttentionTrace) -> tuple[Any, Any]:
    past, (n_q, n_k) = places.past, trace.weights.shape[-2:]
    if past is None:
        return NOTHING
    apart = np.abs(np.arange(n_q)[:, None] + past - np.arange(n_k))
    weights = np.where(places.real[:, None, :, None], trace.weights, 0)
    return (weights * apart).sum(axis=(-1, -2)), weights.sum(axis=(-1, -2))


def _to_come(places: Places, trace: AttentionTrace) -> tuple[Any, Any]:
    """Return what the verification says."""
    return NOTHING


MEASURES = {
    "entropy": Measure(
        "entropy",
        "Mean entropy of the rows in nats (natural logarithm): 0 if each query looks at one key."
        " Rows of padding are left out.",
        False,
        _entropy,
    ),
    "first": Measure(
        "on first token",
        "Mean weight of the queries on the first token that is no padding; “–” if it is not among"
        " the keys. Queries that see no key, and padding, are left out.",
        True,
        _first,
    ),
    "distance": Measure(
        "distance",
        "Mean |i − j| in tokens between query i and key j, weighted, without rows of padding.",
        False,
        _distance,
    ),
    "difference": Measure(
        "difference",
        "Largest difference between the output here and the model’s own.",
        True,
        _to_come,
    ),
}


@dataclass(frozen=True)
class Head:
    """One head of one call and item, with its measures; None where one says nothing of it."""

    place: int  # of its call in the capture
    item: int
    head: int  # as recorded
    number: int  # as the model counts
    layer: int
    call: int
    agrees: bool
    share: float  # of what rounding explains
    measures: Measures


@dataclass(frozen=True, eq=False)
class Survey:
    """A capture with its proof, and all its heads in the order of the calls."""

    taken: Taken
    verification: Verification
    heads: tuple[Head, ...]

    @property
    def items(self) -> int:
        """How many sequences the largest call has."""
        return 1 + max((head.item for head in self.heads), default=-1)


def survey(taken: Taken) -> Survey:
    """Verify and measure every head; one sentence where numbers are no attention's.

    >>> from attention.models.examples import load
    >>> found = survey(load("pronoun"))
    >>> len(found.heads), found.verification.agrees
    (30, True)
    >>> sharpest = min(found.heads, key=lambda head: head.measures["entropy"])
    >>> sharpest.layer, sharpest.number, round(sharpest.measures["distance"], 3)
    (0, 2, 0.933)
    """
    verified: list[Verified] = []
    heads: list[Head] = []
    wrong = 0
    try:
        with np.errstate(all="ignore"):
            for place, call in enumerate(taken):
                (n_q, d_k), (n_k, d_v) = call.Q.shape[2:], call.V.shape[2:]
                small = max(n_q * n_k, (n_q + n_k) * (d_k + d_v) // 4) <= MAX_DIAGNOSED
                sums = {name: np.zeros((2, *call.Q.shape[:2])) for name in MEASURES}
                first = tuple(first_token(taken, call, k) for k in range(len(call.Q)))
                places = Places(past_of(taken, call), first, real_queries(taken, call))
                seen = partial(_measure, places, sums)
                one = verified_call(call, small and wrong < DIAGNOSED, seen)
                wrong += not one.agrees
                verified.append(one)
                heads += _heads(place, one, sums)
    except ValueError as problem:
        raise BadInput(f"attention cannot compute what this capture holds: {problem}") from None
    return Survey(taken, Verification(taken.model, tuple(verified)), tuple(heads))


def _measure(
    places: Places, sums: dict[str, np.ndarray], part: Part, trace: AttentionTrace
) -> None:
    """Add what the measures say of a part."""
    items, heads, rows = part
    past = None if places.past is None else places.past + rows.start
    real = places.real[items] if len(places.real) > 1 else places.real
    here = Places(past, places.first[items], real[:, rows])
    for name, each in MEASURES.items():
        for total, more in zip(sums[name], each.of(here, trace), strict=True):
            total[items, heads] += more


def _heads(place: int, one: Verified, sums: dict[str, np.ndarray]) -> list[Head]:
    """All heads of a call, with their measures."""
    means = {
        name: np.where(count > 0, total / count, np.nan) for name, (total, count) in sums.items()
    }
    means |= {"difference": one.differences}
    listed = {name: mean.tolist() for name, mean in means.items()}
    call, shares = one.call, one.shares.tolist()
    return [
        Head(
            place=place,
            item=item,
            head=head,
            number=call.number_of(head),
            layer=call.layer,
            call=call.call,
            agrees=shares[item][head] <= 1,
            share=shares[item][head],
            measures={name: _finite(mean[item][head]) for name, mean in listed.items()},
        )
        for item, head in np.ndindex(one.shares.shape)
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
