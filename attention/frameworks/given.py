"""What both sides started from, checked: Q, K and V, or X and the weights, and the mask."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attention.arrays.checks import (
    as_floats,
    check_count,
    check_lead,
    check_mask,
    check_positive,
    check_shapes,
)
from attention.arrays.conversion import as_array, as_numbers, shown
from attention.arrays.layouts import repeat_heads, split_heads
from attention.core.before_scores import check_parts
from attention.core.biases import RelativeBias, check_relative
from attention.core.heads import added_positions, for_one_head, project
from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary
from attention.core.scores import NO_SINKS, SIGMOID, check_sinks
from attention.frameworks.precision import Written, in_half
from attention.vocabulary.sentences import they_are

BIASES = ("b_Q", "b_K", "b_V", "b_O")
MATRICES = ("Q", "K", "V", "X", "memory", "W_Q", "W_K", "W_V", "W_O", "positions")


@dataclass(frozen=True, eq=False)
class Given:
    """The inputs of both sides: Q, K, V, or X and the weights.

    (…, n, h · d) with ``heads``, or (…, h, n, d) without. What the fields mean stands in
    :func:`attention.diagnose`; :func:`checked` makes arrays of them.
    """

    Q: Any = None
    K: Any = None
    V: Any = None
    X: Any = None
    memory: Any = None
    W_Q: Any = None
    W_K: Any = None
    W_V: Any = None
    W_O: Any = None
    b_Q: Any = None
    b_K: Any = None
    b_V: Any = None
    b_O: Any = None
    heads: Any = 1
    kv_heads: Any = None  # of keys and values, where fewer
    allowed: Any = None
    bias: Any = None
    scale: Any = None
    softcap: Any = None
    positions: Any = None  # added to X
    norm: RMSNorm | None = None  # of Q and K
    rotary: Rotary | None = None
    sinks: Any = None
    softmax: Any = True  # or "sigmoid"
    relative: RelativeBias | None = None  # added with the bias
    # how those matrices and biases were written down that were rounded; others are exact
    rounded: Mapping[str, Written] = field(default_factory=dict)
    shape: tuple[
        int, ...
    ] = ()  # of the scores: leading axes, heads, n_q, n_k; :func:`checked` tells

    @property
    def arrays(self) -> dict[str, Any]:
        """Return the matrices and biases that are given, by name."""
        named = {name: getattr(self, name) for name in (*MATRICES, *BIASES)}
        return {name: M for name, M in named.items() if M is not None}


def checked(given: Given, most_scores: int | None = None) -> Given:
    """Return the inputs as float64, or refuse what is missing, does not fit or is too much."""
    g = given
    wanted = ("X", "W_Q", "W_K", "W_V") if g.X is not None else ("Q", "K", "V")
    missing = [name for name in wanted if getattr(g, name) is None]
    if missing:
        raise ValueError(f"{they_are(missing)} missing; give Q, K and V, or X, W_Q, W_K and W_V.")
    if g.X is not None and any(M is not None for M in (g.Q, g.K, g.V)):
        raise ValueError("both X and Q, K or V are given; give one of the two.")
    _refuse_stray(g)
    values: dict[str, Any] = {"heads": check_count("heads", g.heads)}
    if g.kv_heads is not None:
        values["kv_heads"] = check_count("kv_heads", g.kv_heads)
    for name in ("scale", "softcap"):
        if getattr(g, name) is not None:
            values[name] = check_positive(name, getattr(g, name))
    check_parts(g.norm, g.rotary)
    if not (g.softmax is True or isinstance(g.softmax, str) and g.softmax == SIGMOID):
        raise ValueError(f'softmax is {shown(g.softmax)}; expected True or "{SIGMOID}".')
    if g.sinks is not None and g.softmax is not True:
        raise ValueError(NO_SINKS)
    for name in (*wanted, "memory", "W_O", "positions"):
        if getattr(g, name) is not None:
            values[name] = as_floats(**{name: getattr(g, name)})[0].astype(np.float64)
    for name in BIASES:
        if getattr(g, name) is not None:
            values[name] = _vector(name, getattr(g, name))
    halves = {name: in_half(values[name], M) for name, M in g.arrays.items() if name in values}
    values["rounded"] = {name: half for name, half in halves.items() if half} | dict(g.rounded)
    return _check_fit(replace(g, **values), most_scores)


def _refuse_stray(g: Given) -> None:
    """Refuse what belongs to a matrix that is not given."""
    of_X = [(name, "X") for name in ("memory", "positions", "b_Q", "b_K", "b_V")]
    for name, matrix in (*of_X, ("b_O", "W_O")):
        if getattr(g, name) is not None and getattr(g, matrix) is None:
            raise ValueError(f"{name} is given without {matrix}; it belongs to it.")


def _vector(name: str, given: Any) -> np.ndarray:
    """Return a bias as a row of numbers."""
    row = as_numbers(name, given)
    if row.ndim != 1:
        raise ValueError(f"{name} has shape {row.shape}; expected one number for each column.")
    return row.astype(np.float64)


def _check_fit(g: Given, most_scores: int | None) -> Given:
    """Check that all belongs together before anything large is made; masks get a head axis."""
    Q, K, V = g.Q, g.K, g.V
    if g.X is not None:
        added_positions(g.X, g.positions)
        source = g.X if g.memory is None else g.memory
        Q = _projected(g.X, g.W_Q, g.b_Q, "Q")
        K, V = _projected(source, g.W_K, g.b_K, "K"), _projected(source, g.W_V, g.b_V, "V")
    if g.heads == 1 and g.kv_heads not in (None, 1):
        raise ValueError(
            f"kv_heads is {g.kv_heads} and heads is 1;"
            " several heads of queries share one of keys and values."
        )
    if g.heads != 1:
        kv_heads = g.kv_heads or g.heads
        _refuse_split(g, Q, K, V, kv_heads)
        Q = split_heads(Q, g.heads, "Q")
        K, V = split_heads(K, kv_heads, "K"), split_heads(V, kv_heads, "V")
    _check_before(g, Q, K)
    if grouped(Q, K):
        if V.ndim < 3 or V.shape[-3] != K.shape[-3]:
            raise ValueError(f"K has shape {K.shape} and V {V.shape}; both need the same heads.")
        repeat_heads(K[..., :0, :], Q.shape[-3])  # refuses what cannot be shared
        K, V = (
            np.broadcast_to(M[..., :1, :, :], (*M.shape[:-3], Q.shape[-3], *M.shape[-2:]))
            for M in (K, V)
        )
    check_shapes(Q, K, V)
    scores = (*check_lead(Q, K, V), Q.shape[-2], K.shape[-2])
    if most_scores is not None and math.prod(scores) > most_scores:
        raise ValueError(
            f"{' × '.join(map(str, scores))} scores are {math.prod(scores):,};"
            f" at most {most_scores:,} are searched."
        )
    if g.W_O is not None:
        mixed = project(np.empty((1, V.shape[-1] * g.heads)), g.W_O, "W_O")
        _check_bias("b_O", g.b_O, mixed.shape[-1])
    return _masks(g, scores)


def has_axis_of_heads(g: Given) -> bool:
    """Check whether Q, K and V look like (batch, heads, n, d) beside several ``heads``."""
    if g.X is not None or g.heads == 1 or any(M.ndim < 4 for M in (g.Q, g.K, g.V)):
        return False
    kv_heads = g.kv_heads or g.heads
    return bool(g.Q.shape[-3] == g.heads and g.K.shape[-3] == g.V.shape[-3] == kv_heads)


def _refuse_split(g: Given, Q: np.ndarray, K: np.ndarray, V: np.ndarray, kv_heads: int) -> None:
    """Refuse Q, K and V whose heads are an axis already, where no more heads can be split off."""
    if Q.shape[-1] % g.heads and K.shape[-1] % kv_heads and has_axis_of_heads(g):
        raise ValueError(
            f"Q has shape {Q.shape} and heads is {g.heads}; expected (…, n, heads · d). The heads"
            " seem to be split already: leave out heads=."
        )


def _check_before(g: Given, Q: np.ndarray, K: np.ndarray) -> None:
    """Refuse a norm or a rotation that does not fit the heads."""
    for name, M in (("Q", Q), ("K", K)):
        if g.norm is not None:
            g.norm.gains(name, M.shape[-1], M.shape[-3] if g.heads > 1 else 1)
        if g.rotary is not None:
            g.rotary.pairs_of(M.shape[-1])


def _projected(X: np.ndarray, W: np.ndarray, b: np.ndarray | None, name: str) -> np.ndarray:
    """Return the shape of X W + b alone: zeros that take no room."""
    try:
        project(X[..., :1, :], W, f"W_{name}")
    except ValueError as problem:
        raise ValueError(f"{problem}{_turned(X, W)}") from None
    _check_bias(f"b_{name}", b, W.shape[-1])
    lead = np.broadcast_shapes(X.shape[:-2], W.shape[:-2])
    return np.broadcast_to(np.zeros(()), (*lead, X.shape[-2], W.shape[-1]))


def _turned(X: np.ndarray, W: np.ndarray) -> str:
    """Return a hint where the shapes fit only if tokens are columns; "" where they do not."""
    if W.ndim < 2 or X.shape[-1] == W.shape[-2]:
        return ""
    if X.shape[-2] == W.shape[-1]:
        return (
            " Are the tokens the columns of X? Then transpose X, the weights and the output: a row"
            " for each token."
        )
    if X.shape[-2] == W.shape[-2]:
        return " Are the tokens the columns of X? Then transpose X: a row for each token."
    return ""


def _check_bias(name: str, b: np.ndarray | None, columns: int) -> None:
    if b is not None and len(b) != columns:
        raise ValueError(f"{name} has {len(b)} numbers; expected {columns}, one for each column.")


def _masks(g: Given, scores: tuple[int, ...]) -> Given:
    """Return them with ``allowed`` and ``bias`` as arrays that broadcast to the scores, or None."""
    masks = {"allowed": g.allowed, "bias": g.bias}
    if g.heads == 1:
        masks = {name: for_one_head(name, M, len(scores)) for name, M in masks.items()}
    _, masks["bias"] = check_mask(masks["allowed"], masks["bias"], scores, np.dtype(np.float64))
    if masks["allowed"] is not None:
        masks["allowed"] = as_array("allowed", masks["allowed"])
    if g.relative is not None:
        of_items = g.heads == 1 and (g.X is not None or len(scores) == 2)
        check_relative(g.relative).check_heads(1 if of_items else scores[-3])
    if g.sinks is not None:
        masks["sinks"] = check_sinks(g.sinks, scores, np.dtype(np.float64))
    return replace(g, **masks, shape=scores)


def grouped(Q: np.ndarray, K: np.ndarray) -> bool:
    """Whether several heads of queries share one of keys and values."""
    return Q.ndim > 2 and K.ndim > 2 and K.shape[-3] not in (1, Q.shape[-3])
