"""Where a stage is 0 but for what rounding left of terms that cancel: 0.3 − 0.1 − 0.1 − 0.1.

A number is such a 0 where it is no larger than its rounding error may be. The error of a sum of n
products is at most n ε Σ|a b| (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3),
and what its factors inherited comes on top. Products of whole numbers are exact, and a whole number
is never taken for a 0. The trace keeps every bit; only what is printed asks here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attention.arrays.layouts import join_heads, split_heads
from attention.core.trace import AttentionTrace, reading_order
from attention.vocabulary.stages import COMPUTED

MOST = 2**20  # scores; of more it would take longer than they do
SMALL = 0.01  # what is larger is printed as it is, whatever its error
Error = np.ndarray | float  # at most; 0: exact


def zeros_of(trace: AttentionTrace) -> dict[str, np.ndarray]:
    """Return where the stages of a trace are 0 by cancellation: bool arrays, by name.

    >>> from attention import scaled_dot_product_attention
    >>> trace = scaled_dot_product_attention([[0.1, 0.3]], [[3.0, -1.0]], [[1.0]])
    >>> trace.scores.tolist(), zeros_of(trace)["scores"].tolist()
    ([[5.551115123125783e-17]], [[True]])
    """
    if trace.weights_alone or trace.scores.size > MOST or not _may_be_zero(trace):
        return {}
    with np.errstate(all="ignore"):
        errors = _errors(trace)
        zeros = {
            name: _is_small(values) & (np.abs(values) <= errors[name])
            for name, values in _printed(trace).items()
            if name in errors
        }
    return {name: where for name, where in zeros.items() if where.any()}


def _printed(trace: AttentionTrace) -> dict[str, np.ndarray]:
    without = ("context",) if trace.softmax is False else ("weights", "context")
    names = (name for name in COMPUTED if name not in without)
    stages = {name: getattr(trace, name) for name in names}
    return {name: values for name, values in stages.items() if values is not None}


def _is_small(values: np.ndarray) -> np.ndarray:
    return (np.abs(values) < SMALL) & (values != 0)  # no whole number


def _may_be_zero(trace: AttentionTrace) -> bool:
    """Return whether some number is as small as the largest error of its stage may be.

    That bound takes no array as large as the scores, and for many numbers it is almost always
    False.
    """
    bounds = {} if trace.norm or trace.rotary else _largest_errors(trace)
    for name, values in _printed(trace).items():
        bound = np.fmin(bounds.get(name, SMALL), SMALL)  # NaN bounds nothing
        sizes = np.abs(values)
        if ((sizes <= bound) & (values != 0)).any():
            return True
    return False


def _largest_errors(trace: AttentionTrace) -> dict[str, float]:
    """Return an upper bound on the numbers of :func:`_errors`, by stage."""
    e: dict[str, float] = dict.fromkeys(("Q", "K", "V"), 0.0)
    eps = float(np.finfo(trace.scores.dtype).eps)

    def product(A: np.ndarray, B: np.ndarray, e_A: float, e_B: float, bias: Any = None) -> float:
        n, added = A.shape[-1], 0.0 if bias is None else _largest(bias)
        inherited = n * (e_A * _largest(B) + _largest(A) * e_B)
        return inherited + (n + 1) * eps * (n * _largest(A) * _largest(B) + added)

    with np.errstate(all="ignore"):
        if trace.X is not None:
            e["X_P"] = 0.0 if trace.P is None else eps * (_largest(trace.X) + _largest(trace.P))
            own = trace.X if trace.X_P is None else trace.X_P, e["X_P"]
            other = own if trace.memory is None else (trace.memory, 0.0)
            for name, (source, e_source) in zip("QKV", (own, other, other), strict=True):
                bias = getattr(trace, f"b_{name}")
                e[name] = product(source, getattr(trace, f"W_{name}"), e_source, 0.0, bias)
        K = np.swapaxes(trace.K, -1, -2)
        e["scores"] = product(trace.Q, K, e["Q"], e["K"])
        e["scaled"] = e["capped"] = e["scores"] * abs(trace.scale)
        added = 0.0 if trace.bias is None else eps * (_largest(trace.scaled) + _largest(trace.bias))
        e["masked"] = added + (e["scaled"] if trace.modified is None else 0.0)
        e["weights"] = e_weights = e["masked"]
        if trace.softmax is True:
            e_weights = _largest(trace.weights) * (
                2 * e_weights + (trace.weights.shape[-1] + 4) * eps
            )
        e["output"] = e["joined"] = product(trace.weights, trace.V, e_weights, e["V"])
        if trace.joined is not None and trace.W_O is not None:
            e["projected"] = product(trace.joined, trace.W_O, e["joined"], 0.0, trace.b_O)
    return e


def _largest(values: np.ndarray) -> float:
    most = float(np.abs(values).max(initial=0))
    return most if np.isfinite(most) else np.inf


def _errors(trace: AttentionTrace) -> dict[str, Error]:
    """Return how far each stage may be from exact arithmetic, by name."""
    e: dict[str, Error] = dict.fromkeys(("Q", "K", "V"), 0.0)
    eps = float(np.finfo(trace.scores.dtype).eps)
    if trace.X is not None:
        e["X_P"] = 0.0 if trace.P is None else _of_sum(trace.X, trace.P, eps)
        queries = trace.X if trace.X_P is None else trace.X_P, e["X_P"]
        sources = queries, *[queries if trace.memory is None else (trace.memory, 0.0)] * 2
        for name, (source, e_source) in zip("QKV", sources, strict=True):
            weight, made = getattr(trace, f"W_{name}"), getattr(trace, name)
            error = _of_product(source, weight, eps, e_source, bias=getattr(trace, f"b_{name}"))
            if made.ndim > source.ndim and not isinstance(error, float):
                error = split_heads(error, weight.shape[-1] // max(made.shape[-1], 1))
            e[name] = error if np.shape(error) == made.shape else 0.0
    last_Q, last_K = _errors_before_scores(trace, eps, e)
    K = np.swapaxes(getattr(trace, last_K), -1, -2)
    e_K = e[last_K] if isinstance(e[last_K], float) else np.swapaxes(e[last_K], -1, -2)
    e["scores"] = _of_product(getattr(trace, last_Q), K, eps, e[last_Q], e_K)
    e["scaled"] = e["capped"] = e["scores"] * abs(trace.scale) + 0 * trace.scaled
    added = 0.0 if trace.bias is None else eps * (np.abs(trace.scaled) + np.abs(trace.bias))
    before = e["scaled"] if trace.modified is None else 0.0  # what a function does is not known
    e["masked"] = np.where(trace.allowed, before + added, 0)
    e["weights"] = e_weights = e["masked"]
    if trace.softmax is True:
        worst = np.max(e["masked"], axis=-1, keepdims=True, initial=0)
        e_weights = trace.weights * (2 * worst + (trace.weights.shape[-1] + 4) * eps)
    V = np.where(np.isfinite(trace.V), trace.V, 0)
    e["output"] = _of_product(trace.weights, V, eps, e_weights, e["V"])
    if trace.joined is not None:
        has_heads = trace.output.ndim > trace.joined.ndim
        e["joined"] = join_heads(np.asarray(e["output"])) if has_heads else e["output"]
        if trace.W_O is not None:
            e["projected"] = _of_product(trace.joined, trace.W_O, eps, e["joined"], bias=trace.b_O)
    return e


def _errors_before_scores(
    trace: AttentionTrace, eps: float, e: dict[str, Error]
) -> tuple[str, str]:
    """Add the errors of normed and rotated Q and K; return the names of the last ones."""
    last = {"Q": "Q", "K": "K"}
    for name in reading_order(trace):
        letter, _, step = name.partition("_")
        if step not in ("normed", "rotated") or getattr(trace, name) is None:
            continue
        before, error = getattr(trace, last[letter]), e[last[letter]]
        if step == "rotated" and trace.rotary is not None:
            first = trace.rotary.offset if letter == "Q" else 0
            e[name] = trace.rotary.error(before, error, first)
        else:  # a number times another is 0 only where it was 0 before
            e[name] = np.where(np.abs(before) <= error, np.abs(getattr(trace, name)), 0)
        last[letter] = name
    return last["Q"], last["K"]


def _of_sum(A: np.ndarray, B: np.ndarray, eps: float) -> Error:
    """Return the error of A + B, cell by cell."""
    return 0.0 if _whole(A) and _whole(B) else eps * (np.abs(A) + np.abs(B))


def _of_product(
    A: np.ndarray,
    B: np.ndarray,
    eps: float,
    e_A: Error = 0.0,
    e_B: Error = 0.0,
    bias: np.ndarray | None = None,
) -> Error:
    """Return the error of A @ B + bias: of its sums, and inherited from A and B."""
    inherited: Error = 0.0
    if not isinstance(e_A, float):
        inherited = inherited + e_A @ np.abs(B)
    if not isinstance(e_B, float):
        inherited = inherited + np.abs(A) @ e_B
    if _whole(A) and _whole(B) and (bias is None or _whole(bias)):
        return inherited
    terms = np.abs(A) @ np.abs(B)
    if bias is None:
        return A.shape[-1] * eps * terms + inherited
    return (A.shape[-1] + 1) * eps * (terms + np.abs(bias)) + inherited


def _whole(values: np.ndarray) -> bool:
    return bool((values == np.rint(values)).all())
