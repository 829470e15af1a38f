"""Whether a capture is right: every layer and head computed again in float64, beside the model's.

What remains is compared, number by number, with what rounding in the model's float type explains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np

from attention.arrays.distance import distance
from attention.core.masks import causal, window
from attention.core.trace import AttentionTrace
from attention.frameworks.diagnosis.diagnose import diagnose
from attention.frameworks.diagnosis.result import Diagnosis
from attention.frameworks.precision import SINGLE, UNIT_ROUNDOFF
from attention.limits import MAX_MEASURED
from attention.models.taken import Call, Taken
from attention.vocabulary.sentences import amount, plural

AS_GIVEN = "weights as given: nothing to verify"
FIRST = 8  # queries of a call, where a look-ahead mask shows first
ROUNDED = 4  # times on the way to a score: its product, scale, cap and mask


@dataclass(frozen=True, eq=False)
class Verified:
    """One call of one layer: how far the model's own output lies from float64."""

    call: Call
    difference: float  # the largest, over all items, heads and numbers
    share: float  # of what the float type explains, where this is largest: beyond 1 it does not
    worst: tuple[int, int]  # item and head, as recorded, where that is
    agrees: bool  # every number within what its float type explains
    differences: np.ndarray  # (b, h), the largest of each head
    shares: np.ndarray  # (b, h), of what the float type explains
    proven: np.ndarray  # (b, h), whether it would not explain an output of 0 as well
    look_ahead_lost: bool = False  # with a look-ahead mask, which is not in the capture, it does
    diagnosis: Diagnosis | None = None  # what turns right attention into this, where it does not

    @property
    def is_given(self) -> bool:
        """Whether the call has finished weights, and nothing to compare."""
        return self.call.weights is not None

    def __str__(self) -> str:
        call = self.call
        heads = call.Q.shape[1]
        what = call.module or call.implementation or call.kind
        said = f"{call.name} ({what}): {amount(heads, 'head')},"
        notes = [f"Note: {note}." for note in call.notes]
        if self.is_given:
            return " ".join([f"{said} {AS_GIVEN}.", *notes])
        said += f" {self.difference:.1e} at most"
        if self.agrees:
            share = f"{self.share:.0%}" if self.share >= 0.01 else "under 1%"
            said = f"{said}, {share} of what {call.dtype} explains"
            return " ".join([f"{said}{self._unproven()}.", *notes])
        item, head = self.worst
        number = call.number_of(head)
        parts = [f"{said}."]
        if self.share > 1:
            parts = [
                f"{said}, {self.share:.2g} times what {call.dtype} explains; most of all item"
                f" {item}, head {number}."
            ]
        if self.look_ahead_lost:
            parts.append(
                "With a look-ahead (causal) mask it agrees: that mask was in effect, and is not in"
                " the capture."
            )
        if call.replayed is not None and call.replayed > (call.replay_allowed or 0.0):
            parts.append(
                f"Run again, the module returns an output that differs by {call.replayed:.1e}"
                f" (rounding explains {call.replay_allowed or 0.0:.1e})."
            )
        if call.dropout:
            parts.append(f"Dropout of {call.dropout:g} was on: model.eval() turns it off.")
        return " ".join(
            [*parts, *notes, *([] if self.diagnosis is None else [str(self.diagnosis)])]
        )

    __repr__ = __str__

    def _unproven(self) -> str:
        """Name where agreeing proves nothing: scores so large that rounding explains anything."""
        lacking = int((~self.proven).sum())
        if not lacking:
            return ""
        heads = "" if lacking == self.proven.size else f" for {lacking} of {self.proven.size} heads"
        return f": no proof{heads}, as rounding would explain an output of 0 as well"


@dataclass(frozen=True, eq=False)
class Verification:
    """All calls of a capture. ``str`` says each in a sentence."""

    model: str
    calls: tuple[Verified, ...]

    @property
    def agrees(self) -> bool:
        """Whether every number of every layer and head does; never of finished weights alone."""
        return not self.is_given and all(each.agrees for each in self.calls)

    @property
    def is_given(self) -> bool:
        """Whether all calls have finished weights, and nothing is compared."""
        return all(each.is_given for each in self.calls)

    @property
    def difference(self) -> float:
        """The largest of all; NaN where nothing is compared."""
        compared = [each.difference for each in self.calls if not each.is_given]
        return max(compared, default=math.nan)

    def __str__(self) -> str:
        wrong = sum(not each.agrees for each in self.calls)
        count = f"{len(self.calls)} {plural(len(self.calls), 'call')}"
        if self.is_given:
            verdict = f"{self.model or 'a model'}: {count}, {AS_GIVEN}."
            return "\n".join([verdict, *(f"  {each}" for each in self.calls)])
        verdict = (
            f"{self.model or 'a model'}: {count}, recomputed in float64; the largest difference"
            f" from the model's own output is {self.difference:.1e}."
        )
        verdict += f" {wrong} of {count} not explained by rounding." if wrong else ""
        if self.agrees and not any(each.proven.any() for each in self.calls):
            verdict += " That is no proof: rounding would explain an output of 0 as well."
        return "\n".join([verdict, *(f"  {each}" for each in self.calls)])

    __repr__ = __str__


def verify(taken: Taken | str | PathLike[str], *, diagnoses: int | None = None) -> Verification:
    """Compute every layer and head again in float64 and compare it with the model's own output.

    Parameters
    ----------
    taken : Taken, or the file that it was saved to
    diagnoses : how many calls at most are handed to ``diagnose``. Default: all that do not agree.

    Finished weights (:meth:`attention.Taken.of_weights`) leave nothing to compare, and the result
    says so. A layer that does not agree is handed to :func:`attention.diagnose`, with the item and
    the head where it agrees least.

    >>> print(verify(recorded))  # doctest: +SKIP
    gpt2: 1 call, recomputed in float64; the largest difference from the model's own output is \
3.1e-08.
      layers.0 (h.0.attn): 4 heads, 3.1e-08 at most, 2% of what float32 explains.
    """
    taken = taken if isinstance(taken, Taken) else Taken.load(taken)
    if not taken.calls:
        raise ValueError("Nothing was captured: there is nothing to verify.")
    verified: list[Verified] = []
    for call in taken.calls:
        wrong = sum(not each.agrees for each in verified)
        verified.append(verified_call(call, diagnoses is None or wrong < diagnoses))
    return Verification(taken.model, tuple(verified))


Part = tuple[slice, slice, slice]  # of the items, heads and queries of a call


def parts(call: Call, item: int | None = None, head: int = 0) -> Iterator[Part]:
    """Yield the parts of a call, or of one head, that are computed at a time: whole heads of
    :data:`MAX_MEASURED` numbers together, or the queries of a larger head.
    """
    (b, h, n_q, d_k), (n_k, d_v) = call.Q.shape, call.V.shape[2:]
    row = n_k + d_k + d_v
    heads = max(1, MAX_MEASURED // max(n_q * row + n_k * (d_k + d_v), 1))
    step = n_q if heads > 1 else max(1, MAX_MEASURED // row)
    items = max(1, heads // h)
    every = [(k, i) for k in range(0, b, items) for i in range(0, h, heads)]
    if item is not None:
        every, items, heads = [(item, head)], 1, 1
    for k, i in every:
        for first in range(0, max(n_q, 1), step or 1):
            yield slice(k, k + items), slice(i, i + heads), slice(first, first + step)


def verified_call(
    call: Call, diagnosed: bool, seen: Callable[[Part, AttentionTrace], object] | None = None
) -> Verified:
    """One call; where it does not agree, ``diagnosed``. The trace of each part is also handed to
    ``seen``.
    """
    if call.weights is not None:
        return _as_given(call, seen)
    differences, shares = np.zeros((2, *call.Q.shape[:2]))
    answers, proves = np.zeros((2, *shares.shape), bool)

    def compare(part: Part) -> None:  # its trace is gone before that of the next part is made
        trace = call.part(*part)
        explained = rounding(trace, call.dtype)
        differing, sharing = _apart(call, part, trace, explained)
        at = part[:2]
        differences[at] = np.maximum(differences[at], differing)
        shares[at] = np.maximum(shares[at], sharing)
        answers[at] |= trace.output.any(axis=(-1, -2))
        with np.errstate(all="ignore"):
            proves[at] |= ~(explained >= np.abs(trace.output)).all(axis=(-1, -2))
        if seen:
            seen(part, trace)

    for part in parts(call):
        compare(part)
    proven = ~answers | proves
    item, head = np.unravel_index(int(shares.argmax()), shares.shape)
    share, worst = float(shares.max()), (int(item), int(head))
    replayed = (call.replayed or 0.0) <= (call.replay_allowed or 0.0)
    difference = max(float(differences.max()), call.replayed or 0.0)
    if share <= 1:
        return Verified(
            call=call,
            difference=difference,
            share=share,
            worst=worst,
            agrees=replayed,
            differences=differences,
            shares=shares,
            proven=proven,
        )
    lost = _explained_by_look_ahead(call, *worst)
    found = _diagnosed(call, *worst) if diagnosed and not lost else None
    return Verified(
        call=call,
        difference=difference,
        share=share,
        worst=worst,
        agrees=False,
        differences=differences,
        shares=shares,
        proven=proven,
        look_ahead_lost=lost,
        diagnosis=found,
    )


def _as_given(call: Call, seen: Callable[[Part, AttentionTrace], object] | None) -> Verified:
    """Return what is said of finished weights, after ``seen`` has got the trace of each part."""
    if seen:
        for part in parts(call):
            seen(part, call.part(*part))
    shape = call.Q.shape[:2]
    return Verified(
        call=call,
        difference=math.nan,
        share=0.0,
        worst=(0, 0),
        agrees=True,
        differences=np.full(shape, np.nan),
        shares=np.zeros(shape),
        proven=np.zeros(shape, bool),
    )


def look_ahead_lost(call: Call) -> bool:
    """Check whether the first queries of the first head agree with a look-ahead mask alone.

    It was in effect then, and is not in the capture.
    """
    if call.weights is not None or call.allowed is not None or not call.Q.shape[2]:
        return False
    n_q = call.Q.shape[2]
    first = replace(call, Q=call.Q[:, :, :FIRST], output=call.output[:, :, :FIRST])
    if call.bias is not None and call.bias.shape[2] > 1:
        first = replace(first, bias=call.bias[:, :, :FIRST])
    try:
        with np.errstate(all="ignore"):
            return _share(first, 0, 0) > 1 and _explained_by_look_ahead(first, 0, 0, n_q)
    except ValueError:  # numbers that no attention computes
        return False


def _explained_by_look_ahead(call: Call, item: int, head: int, queries: int | None = None) -> bool:
    """Check whether one head agrees with a look-ahead mask, where no mask was captured.

    ``queries``: how many the call had, where these are the first of them.
    """
    if call.allowed is not None:
        return False
    n_q, n_k = call.Q.shape[2], call.K.shape[2]
    past = n_k - (n_q if queries is None else queries)
    ahead = window(n_q, n_k, call.window, past) if call.window else causal(n_q, n_k, past)
    masked = replace(call, allowed=ahead[None, None])
    return _share(masked, item, head) <= 1


def _share(call: Call, item: int, head: int) -> float:
    """Return the largest share of what rounding explains, of one head."""

    def of(part: Part) -> float:
        trace = call.part(*part)
        return float(_apart(call, part, trace, rounding(trace, call.dtype))[1].max())

    return max(map(of, parts(call, item, head)))


def _apart(
    call: Call, part: Part, trace: AttentionTrace, explained: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(b, h) twice: each head's largest difference, and largest share of what is explained."""
    apart = distance(call.output[part].astype(np.float64), trace.output)
    with np.errstate(all="ignore"):
        shares = np.where(apart == 0, 0, apart / explained)
    shares = np.where(np.isnan(shares), np.inf, shares)
    return apart.max(axis=(-1, -2), initial=0), shares.max(axis=(-1, -2), initial=0)


def rounding(trace: AttentionTrace, dtype: str) -> np.ndarray:
    """(…, n_q, d_v): what rounding in ``dtype`` may change in each number of the output.

    Each of the few roundings on the way to a score moves it by a share of its size, a sum of
    products in float32 by a share of its summands; a score that is moved by ε moves weights by ε;
    and weights, their sum and the output are rounded themselves. Half precision is summed in
    float32, and float64 too has its softmax in float32 in many models.
    """
    unit, sums = UNIT_ROUNDOFF.get(dtype, SINGLE), SINGLE
    n_k, d_k = trace.K.shape[-2:]
    products = np.abs(trace.Q) @ np.abs(trace.K).swapaxes(-1, -2) * trace.scale
    sizes = np.abs(trace.scaled)
    if trace.bias is not None:
        sizes = sizes + np.abs(np.broadcast_to(trace.bias, sizes.shape))
    moved = ROUNDED * unit * (1 + sizes) + (d_k + ROUNDED) * sums * products
    most = np.where(trace.allowed, moved, 0).max(axis=-1, keepdims=True, initial=0)
    share = np.minimum(2 * most, 2.0) + ROUNDED * unit + (n_k + ROUNDED) * sums
    return np.asarray(share * (trace.weights @ np.abs(trace.V)) + unit * np.abs(trace.output))


def _diagnosed(call: Call, item: int, head: int) -> Diagnosis | None:
    """Return what the known mistakes say of one head."""
    trace = call.trace(item, head)
    sinks = None if call.sinks is None else float(call.sinks[head])
    try:
        return diagnose(
            trace.Q,
            trace.K,
            trace.V,
            output=call.output[item, head],
            allowed=trace.allowed,
            bias=trace.bias,
            scale=trace.scale,
            softcap=trace.softcap,
            sinks=sinks,
        )
    except ValueError:  # numbers that no search can compare
        return None
