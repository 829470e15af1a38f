"""Finished attention weights, brought alone: a board that computes them again.

With Q = log A, K = V = 1 and the scale 1, softmax(Q Kᵀ) is A again, as far as float64 goes; what is
0 in every head is hidden by the mask. So all that the board does with weights can be done with
those.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.heads import join_heads
from attention.limits import BadInput
from attention.numbers import number
from attention.readers.entry import ArrayEntry
from attention.readers.select import SelectedArray
from attention.session.examples import OWN
from attention.session.matrix import Matrix
from attention.session.origin import Origin
from attention.session.settings import DRAWN, Settings, as_drawn

ROUNDED = 0.02  # how far a row of printed weights may be from 1
NEVER = -1000.0  # the score of a weight that is 0 in this head and not in all: exp(-1000) is 0


def looks_finished(entry: ArrayEntry) -> bool:
    """Whether these are weights: shares in rows that sum to 1, and not all of them 0 or 1."""
    if entry.pick or entry.dtype == "bool" or not 2 <= len(entry.shape) <= 4 or 0 in entry.shape:
        return False
    if min(entry.shape[-2:]) < 2:
        return False
    try:
        values = np.asarray(entry.read(), np.float64)
    except BadInput:
        return False
    sums = values.sum(axis=-1)
    shares = ((values >= 0) & (values <= 1)).all() and (np.abs(sums - 1) <= ROUNDED).all()
    return bool(shares and ((values > 0) & (values < 1)).any())


def with_weights(
    s: Settings, brought: SelectedArray, tokens: tuple[str, ...], keys: tuple[str, ...]
) -> tuple[Settings, list[str]]:
    """The settings whose weights are these, of one head or of several; and what is to be said."""
    A = brought.values if brought.values.ndim == 3 else brought.values[None]  # (heads, n_q, n_k)
    _check(A)
    sums = A.sum(axis=-1, keepdims=True)
    seen = np.asarray((A > 0).any(axis=0))  # (n_q, n_k)
    with np.errstate(divide="ignore"):
        logs = np.where(A > 0, np.log(A), np.where(seen, NEVER, 0.0))
    one = np.broadcast_to(np.eye(A.shape[2]), (len(A), A.shape[2], A.shape[2]))
    matrices = {"Q": join_heads(logs), "K": join_heads(one), "V": join_heads(one)}
    from_where = {"Q": f"the logarithm of {brought.source}"} if brought.source else {}
    from_where |= dict.fromkeys("KV", "ones, as the weights came finished")
    hidden = not seen.all()
    s = replace(
        s,
        tokens=tokens,
        memory_tokens=keys,
        matrices={
            name: Matrix(M, origin=Origin.of(from_where[name], M) if name in from_where else None)
            for name, M in matrices.items()
        },
        example=OWN,
        names={},
        heads=len(A),
        head=0,
        scale=1.0,
        softmax=True,
        fill="-inf",
        padding=(),
        cell=None,
        mask=DRAWN if hidden else "none",
        drawn=as_drawn(seen) if hidden else (),
        drawn_from=None,
    )
    said = [
        "These are finished weights: Q is their logarithm, K and V are 1, and the scale is 1, so"
        " that softmax gives them again; Q, K, V, scores and output are none of a model."
    ]
    worst = float(np.abs(sums[sums > 0] - 1).max(initial=0))
    if worst > 1e-6:
        said.append(f"Rows were {number(worst, 4)} off 1 at most, and sum to 1 now.")
    return s, said


def _check(A: np.ndarray) -> None:
    """Refuse what is no matrix of weights, by its place; a row of zeros sees no key."""
    for h, i, j in np.argwhere((A < 0) | (A > 1))[:1]:
        head = f"head {h + 1}, " * (len(A) > 1)
        raise BadInput(
            f"the weights, {head}row {i + 1}, column {j + 1} hold {number(A[h, i, j])}; shares"
            " from 0 to 1 are wanted."
        )
    sums = A.sum(axis=-1)
    for h, i in np.argwhere((np.abs(sums - 1) > ROUNDED) & (sums > 0))[:1]:
        head = f"head {h + 1}, " * (len(A) > 1)
        raise BadInput(
            f"the weights, {head}row {i + 1} sum to {number(sums[h, i])}; each row of attention"
            " weights sums to 1."
        )
