"""All heads of a capture at a glance: how sharp, how far, how near to the model's own output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from attention.arrays.statistics import entropy
from attention.core.trace import AttentionTrace
from attention.limits import MAX_DIAGNOSED, BadInput
from attention.models.labels import first_token, past_of
from attention.models.taken import Taken
from attention.models.verify import Verification, Verified, verified_call

DIAGNOSED = 2  # calls that do not agree and are searched for mistakes, which takes seconds
Measures = dict[str, float | None]  # by name; None where one says nothing of a head


@dataclass(frozen=True)
class Measure:
    """One number of each head, by which heads are sorted."""

    label: str
    sentence: str
    largest_first: bool
    of: Callable[[Places, AttentionTrace], float | None]


@dataclass(frozen=True)
class Places:
    """Where the queries and keys of an item stand; None where it is not known."""

    past: int | None  # of the first query among the keys
    first: int | None  # of the sequence's first token among the keys


def _entropy(places: Places, trace: AttentionTrace) -> float | None:
    seeing = trace.allowed.any(axis=-1)
    return float(entropy(trace.weights)[seeing].mean()) if seeing.any() else None


def _first(places: Places, trace: AttentionTrace) -> float | None:
    seeing = trace.allowed.any(axis=-1)
    if places.first is None or not seeing.any():
        return None
    return float(trace.weights[seeing, places.first].mean())


def _distance(places: Places, trace: AttentionTrace) -> float | None:
    past, (n_q, n_k) = places.past, trace.weights.shape
    total = trace.weights.sum()
    if past is None or not total > 0:
        return None
    apart = np.abs(np.arange(n_q)[:, None] + past - np.arange(n_k))
    return float((trace.weights * apart).sum() / total)


def _to_come(places: Places, trace: AttentionTrace) -> float | None:
    """What the verification says."""
    return None


MEASURES = {
    "entropy": Measure(
        "entropy",
        "Mean entropy of the rows in nats (natural logarithm): 0 if each query looks at one key.",
        False,
        _entropy,
    ),
    "first": Measure(
        "on first token",
        "Mean weight of the queries on the first token that is no padding; “–” if it is not among"
        " the keys. Queries that see no key are left out.",
        True,
        _first,
    ),
    "distance": Measure(
        "distance",
        "Mean |i − j| in tokens between query i and key j, weighted.",
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
        return 1 + max(head.item for head in self.heads)


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
    try:
        with np.errstate(all="ignore"):
            for place, call in enumerate(taken):
                found: dict[tuple[int, int], Measures] = {}
                wrong = sum(not each.agrees for each in verified)
                small = call.Q.shape[2] * call.K.shape[2] <= MAX_DIAGNOSED
                past = past_of(taken, call)
                places = [Places(past, first_token(taken, call, k)) for k in range(len(call.Q))]
                seen = partial(_measure, places, found)
                one = verified_call(call, small and wrong < DIAGNOSED, seen)
                verified.append(one)
                heads += [_head(place, one, at, said) for at, said in found.items()]
    except ValueError as problem:
        raise BadInput(f"attention cannot compute what this capture holds: {problem}") from None
    return Survey(taken, Verification(taken.model, tuple(verified)), tuple(heads))


def _measure(
    places: list[Places],
    found: dict[tuple[int, int], Measures],
    item: int,
    head: int,
    trace: AttentionTrace,
) -> None:
    found[item, head] = {name: each.of(places[item], trace) for name, each in MEASURES.items()}


def _head(place: int, one: Verified, at: tuple[int, int], measures: Measures) -> Head:
    call, (item, head) = one.call, at
    said = measures | {"difference": float(one.differences[at])}
    finite = {n: v if v is None or np.isfinite(v) else None for n, v in said.items()}
    number, share = call.number_of(head), float(one.shares[at])
    return Head(
        place=place,
        item=item,
        head=head,
        number=number,
        layer=call.layer,
        call=call.call,
        agrees=share <= 1,
        share=share,
        measures=finite,
    )
