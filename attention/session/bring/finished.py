"""Finished attention weights, brought alone: a board that shows these, their mask, and no more.

They stand in Q; K and V are 1, the scale is 1 and softmax is off, so that Q Kᵀ, and what stands for
the weights, is they to the last bit. ``Settings.finished`` says that they were brought as such; as
long as nothing else was set since (``Settings.weights_alone``), the view keeps all other stages
back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from attention.arrays.layouts import join_heads
from attention.core.recorded import Recorded
from attention.limits import MAX_JOINED, ROUNDED, BadInput
from attention.readers.cells.entry import ArrayEntry
from attention.readers.select import SelectedArray
from attention.session.state.examples import EXAMPLES, FIRST, OWN
from attention.session.state.matrix import Matrix, check_numbers
from attention.session.state.origin import Origin
from attention.session.state.settings import (
    DRAWN,
    PARTS,
    PRINTED,
    SAMPLING,
    TRUE_MASK,
    Settings,
    as_drawn,
)
from attention.vocabulary.numbers import number


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


def without_weights(s: Settings) -> Settings:
    """What other inputs are built on: finished weights hold nothing of the kind, the first example
    does. What is looked at and sampled stays.
    """
    if not s.weights_alone:
        return s
    kept = {name: getattr(s, name) for name in ("digits", *SAMPLING, *PRINTED)}
    return replace(EXAMPLES[FIRST].build(), **(kept | {"paper_heads": ()}))


def with_weights(
    s: Settings, brought: SelectedArray, tokens: tuple[str, ...], keys: tuple[str, ...]
) -> tuple[Settings, list[str]]:
    """The settings whose weights are these, of one head or of several; and what is to be said."""
    A = brought.values if brought.values.ndim == 3 else brought.values[None]  # (heads, n_q, n_k)
    _check(A)
    sums = A.sum(axis=-1)
    _check_sums(sums)
    came = Origin.of(brought.source, join_heads(A)) if brought.source else None
    s = alone(s, A, tokens, keys, {"Q": came} if came else {})
    if s.drawn and came:
        seen = np.array(s.drawn)
        s = replace(s, drawn_from=Origin.of(f"0 in every head of {came.source}", seen))
    said = [
        "These are finished weights, shown alone: there are no embeddings, queries, keys, scores"
        " or output."
    ]
    if s.drawn:
        said.append("What is 0 in every head counts as masked.")
    worst = float(np.abs(sums[sums > 0] - 1).max(initial=0))
    if worst > 1e-6:
        said.append(f"Row sums differ from 1 by up to {number(worst, 4)}; the rows are kept.")
    return s, said


def of_head(
    s: Settings,
    A: np.ndarray,
    seen: np.ndarray,
    place: Recorded,
    tokens: tuple[str, ...],
    keys: tuple[str, ...],
) -> Settings:
    """Return the settings whose weights are these of one head of a model, (n_q, n_k), with the mask
    of its layer, whatever their rows add up to: where a sink takes a share, that is less than 1.
    """
    _check_room(A[None])
    if not np.isfinite(A).all():
        raise BadInput("this head has weights that are NaN or infinite, which Explore cannot show.")
    ones = np.eye(A.shape[1])
    origins = {name: Origin.of_head(place, A if name == "Q" else ones) for name in "QKV"}
    s = alone(s, A[None], tokens, keys, origins, seen)
    return replace(s, drawn_from=Origin.of_head(place, np.array(s.drawn)) if s.drawn else None)


def alone(
    s: Settings,
    A: np.ndarray,
    tokens: tuple[str, ...],
    keys: tuple[str, ...],
    origins: Mapping[str, Origin],
    seen: np.ndarray | None = None,
) -> Settings:
    """Return the settings that show these weights, (heads, n_q, n_k), and their mask alone: what
    may be ``seen``, (n_q, n_k); without it what is not 0 in every head.
    """
    seen = np.asarray((A > 0).any(axis=0)) if seen is None else seen
    one = join_heads(np.broadcast_to(np.eye(A.shape[2]), (len(A), A.shape[2], A.shape[2])))
    matrices = {"Q": join_heads(A), "K": one, "V": one}
    hidden = not seen.all()
    return replace(
        s,
        tokens=tokens,
        memory_tokens=keys,
        matrices={name: Matrix(M, origin=origins.get(name)) for name, M in matrices.items()},
        example=OWN,
        names={},
        heads=len(A),
        head=0,
        item=0,
        query=min(s.query, len(tokens) - 1),
        scale=1.0,
        softmax=False,
        finished=True,
        context=False,
        fill=TRUE_MASK,
        padding=(),
        cell=None,
        paper_heads=(),
        mask=DRAWN if hidden else "none",
        drawn=as_drawn(seen) if hidden else (),
        drawn_from=None,
        **{part: getattr(Settings, part) for part in PARTS},
    )


def _check(A: np.ndarray) -> None:
    """Refuse what is no matrix of weights, by its place."""
    _check_room(A)
    for h, i, j in np.argwhere(~((A >= 0) & (A <= 1)))[:1]:
        head = f"head {h}, " if len(A) > 1 else ""
        raise BadInput(
            f"the weights, {head}row {i + 1}, column {j + 1} hold {number(A[h, i, j])}; expected"
            " weights from 0 to 1."
        )


def _check_room(A: np.ndarray) -> None:
    """Refuse more weights than there is room for."""
    heads, n_q, n_k = A.shape
    if heads * n_k > MAX_JOINED:
        raise BadInput(
            f"{heads:,} heads of {n_k:,} keys are {heads * n_k:,} columns; at most {MAX_JOINED:,}"
            f" fit. Cut heads out, such as 0:{max(MAX_JOINED // n_k, 1)}."
        )
    check_numbers(heads * n_k * (n_q + 2 * n_k))  # with K and V, which are 1


def _check_sums(sums: np.ndarray) -> None:
    """Refuse rows of another sum than 1, (heads, n_q); a row of zeros sees no key."""
    for h, i in np.argwhere((np.abs(sums - 1) > ROUNDED) & (sums > 0))[:1]:
        head = f"head {h}, " if len(sums) > 1 else ""
        raise BadInput(
            f"the weights, {head}row {i + 1} sum to {number(sums[h, i])}; each row of attention"
            " weights sums to 1."
        )
