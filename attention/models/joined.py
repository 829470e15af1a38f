"""The calls of one layer in a generation, joined by their positions as if it had run once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attention.limits import BadInput
from attention.models.weights import odd_rows

ROUNDINGS = {"float16": 2**-8, "bfloat16": 2**-5}  # of the largest key; float32 and wider: FINE
FINE = 2**-16
ALIKE = ("scale", "softcap", "window", "heads", "kind", "names")  # in all calls that are joined
REREAD = (
    "speculative decoding reads candidates again, and without a cache each step reads all; join"
    " what begins where the one before ended"
)


def joined(calls: Sequence[Any]) -> Any:
    """Return one call of all queries of these, which are of one layer and run, in their order.

    1. Queries have to follow each other without a gap, and calls to agree in all but what they
       read.
    2. Each key is taken from the last call that has it, and has to be the same in every call in
       which a query sees it, but for rounding.
    3. What a call has no key for is hidden: keys that came later, or that a window left behind.

    Raises
    ------
    BadInput
        One sentence: why they cannot be joined.
    """
    first, last = calls[0], calls[-1]
    _check(calls)
    begin = min(call.key_position for call in calls)
    end = max(call.key_position + call.K.shape[2] for call in calls)
    start, stop = first.query_position, last.query_position + last.Q.shape[2]
    allowed = _spread(calls, "allowed", (begin, end))
    if first.kind != "cross" and end > stop:  # places of a cache that were not filled
        unseen = ~allowed[..., stop - begin :].any()
        end = stop if unseen and stop > begin else end
        allowed = allowed[..., : end - begin]
    keys = {name: _keys(calls, name, (begin, end)) for name in "KV"}
    bias = None
    if any(call.bias is not None for call in calls):
        bias = _spread(calls, "bias", (begin, end))
    weights = None
    if first.weights is not None:
        weights = _spread(calls, "weights", (begin, end))
    rows = {name: np.concatenate([getattr(call, name) for call in calls], 2) for name in OF_ROWS}
    assert rows["Q"].shape[2] == stop - start
    recorded = last.first_query + last.Q.shape[2]
    return replace(
        first,
        **rows,
        **keys,
        allowed=None if allowed.all() else allowed,
        bias=bias,
        weights=weights,
        first_query=0,
        first_key=0,
        all_queries=0,
        all_keys=0,
        key_position=begin,
        replayed=None,
        replay_allowed=None,
        # those of a call before were read again, and such calls are refused
        rejected=max(last.rejected - max(last.all_queries - recorded, 0), 0),
        notes=_notes(calls, weights),
    )


OF_ROWS = ("Q", "output")


def _notes(calls: Sequence[Any], weights: np.ndarray | None) -> tuple[str, ...]:
    """Return what is said of the calls; rows that are no weights are named by their places here."""
    of_rows: set[str] = set()
    for call in calls:
        if call.weights is not None and call.notes:
            of_rows |= {*odd_rows(call.weights, call.layer, call.when, call.heads)}
    notes = dict.fromkeys(note for call in calls for note in call.notes if note not in of_rows)
    if of_rows and weights is not None:
        notes |= dict.fromkeys(odd_rows(weights, calls[0].layer, "", calls[0].heads))
    return tuple(notes)


def _check(calls: Sequence[Any]) -> None:
    """Raise one sentence where calls do not follow each other, or are not of one kind."""
    first = calls[0]
    expected: int | None = None
    for call in calls:
        name = f"layer {call.layer}{f', {call.when}' if call.when else ''}"
        if call.query_position is None or call.key_position is None:
            raise BadInput(f"{name}: the positions of its queries and keys are not known.")
        if call.repeat not in ("call", "step") and (call.repeat != "run" or call is not first):
            raise BadInput(f"{name} is no step of a generation; only these are joined.")
        at = call.query_position
        if expected is not None and at < expected:
            raise BadInput(
                f"{name} begins at position {at}, before the end of the call before it"
                f" ({expected}): {REREAD}."
            )
        if expected is not None and at > expected:
            raise BadInput(
                f"{name} begins at position {at}, and the call before it ended at {expected}; what"
                " is between was not recorded."
            )
        expected = at + call.Q.shape[2]
        odd = [each for each in ALIKE if getattr(call, each) != getattr(first, each)]
        if odd or call.Q.shape[:2] != first.Q.shape[:2] or call.K.shape[:2] != first.K.shape[:2]:
            what = odd[0] if odd else "number of items or heads"
            raise BadInput(f"{name} has another {what} than the first call, so they do not join.")
        if (call.weights is None) != (first.weights is None) or not _same_sinks(call, first):
            raise BadInput(f"{name} has other parts than the first call, so they do not join.")


def _same_sinks(call: Any, other: Any) -> bool:
    if call.sinks is None or other.sinks is None:
        return call.sinks is other.sinks
    return bool(np.array_equal(call.sinks, other.sinks))


def _spread(calls: Sequence[Any], name: str, keys: tuple[int, int]) -> np.ndarray:
    """(b or 1, h or 1, all queries, all keys): what calls have at their keys, and 0 elsewhere.

    Without a mask a call sees all of its keys.
    """
    begin, end = keys
    there = [getattr(call, name) for call in calls]
    shapes = [M.shape[:2] for M in there if M is not None]
    lead = np.broadcast_shapes(*shapes) if shapes else (1, 1)
    count = sum(call.Q.shape[2] for call in calls)
    dtype = bool if name == "allowed" else np.result_type(*(M for M in there if M is not None))
    whole = np.zeros((*lead, count, end - begin), dtype)
    row = 0
    for call, M in zip(calls, there, strict=True):
        n_q, n_k = call.Q.shape[2], call.K.shape[2]
        at = call.key_position - begin
        if M is None:
            M = np.full((1, 1, 1, 1), name == "allowed")
        M = np.broadcast_to(M, (*M.shape[:2], n_q, n_k))[..., : end - begin - at]
        whole[:, :, row : row + n_q, at : at + M.shape[3]] = M
        row += n_q
    return whole


def _keys(calls: Sequence[Any], name: str, keys: tuple[int, int]) -> np.ndarray:
    """(b, g, all keys, d): each from the last call that has it."""
    begin, end = keys
    shape = calls[0].K.shape[:2]
    sides = [getattr(call, name) for call in calls]
    whole = np.zeros((*shape, end - begin, sides[0].shape[3]), np.result_type(*sides))
    found = np.zeros(end - begin, bool)
    for call, M in zip(reversed(calls), reversed(sides), strict=True):
        at = call.key_position - begin
        kept = slice(at, min(at + M.shape[2], end - begin))
        M = M[:, :, : kept.stop - at]
        new = ~found[kept]
        _check_same(call, name, whole[:, :, kept], M, new)
        whole[:, :, kept][:, :, new] = M[:, :, new]
        found[kept] = True
    if not found.all():
        missing = begin + int(found.argmin())
        raise BadInput(f"layer {calls[0].layer}: the key at position {missing} was not recorded.")
    return whole


def _check_same(call: Any, name: str, ours: np.ndarray, M: np.ndarray, new: np.ndarray) -> None:
    """Raise one sentence where keys that a query sees are others than in a later call."""
    seen = ~new
    if call.allowed is not None:
        visible = np.broadcast_to(call.allowed.any(axis=(0, 1, 2)), call.K.shape[2:3])
        seen = seen & visible[: len(new)]
    if not seen.any() or not M.size:
        return
    rounding = ROUNDINGS.get(call.dtype, FINE) * float(np.abs(M).max())
    for item in range(len(M)):
        apart = np.abs(ours[item][:, seen].astype(float) - M[item][:, seen])
        if (apart > rounding).any():
            when = call.when or "the first call"
            raise BadInput(
                f"layer {call.layer}: {name} of {when} changed in a later step (beams that change"
                " places, or a cache that is rounded), so they do not join."
            )
