"""Attention once more in plain Python loops. Nothing here is shared with the package it judges."""

import math

import numpy as np

COMPUTED = ("Q", "K", "V", "scores", "scaled", "masked", "weights", "output")  # in this order


def dot(a, b) -> float:
    """The exactly rounded sum of the products."""
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def product(A, B) -> list[list[float]]:
    """A B, cell by cell."""
    columns = range(len(B[0]) if len(B) else 0)
    return [[dot(row, [b[j] for b in B]) for j in columns] for row in A]


def attend(Q, K, V, allowed=None, bias=None, scale=None, softmax=True) -> dict[str, list]:
    """Every stage of one sequence and one head, as nested lists."""
    n_q, n_k = len(Q), len(K)
    scale = 1 / math.sqrt(len(Q[0])) if scale is None else scale
    see = [
        [True if allowed is None else bool(allowed[i][j]) for j in range(n_k)] for i in range(n_q)
    ]
    scores = [[dot(q, k) for k in K] for q in Q]
    scaled = [[score * scale for score in row] for row in scores]
    masked = [
        [
            scaled[i][j] + (0 if bias is None else float(bias[i][j])) if see[i][j] else -math.inf
            for j in range(n_k)
        ]
        for i in range(n_q)
    ]
    weights = [
        share(row, seen) if softmax else raw(row, seen)
        for row, seen in zip(masked, see, strict=True)
    ]
    output = [
        [
            math.fsum(w * float(V[j][c]) for j, w in enumerate(row) if see[i][j])
            for c in range(len(V[0]))
        ]
        for i, row in enumerate(weights)
    ]
    return {
        "scores": scores,
        "scaled": scaled,
        "masked": masked,
        "weights": weights,
        "output": output,
    }


def share(row, seen) -> list[float]:
    """softmax over the cells that are seen; 0 elsewhere, and everywhere if none is."""
    highest = max((x for x, s in zip(row, seen, strict=True) if s), default=0.0)
    grown = [math.exp(x - highest) if s else 0.0 for x, s in zip(row, seen, strict=True)]
    total = math.fsum(grown) or 1.0
    return [g / total for g in grown]


def raw(row, seen) -> list[float]:
    return [x if s else 0.0 for x, s in zip(row, seen, strict=True)]


def agree(trace, oracle, tolerance=1e-12) -> None:
    """Every stage of the trace equals the oracle's; infinities stand at the same places."""
    for name, expected in oracle.items():
        np.testing.assert_allclose(
            getattr(trace, name), expected, rtol=tolerance, atol=tolerance, err_msg=name
        )
