"""Who may look at whom. True = may look: ``allowed[i, j]`` says whether query i sees key j."""

from __future__ import annotations

import numpy as np

from attention.choices import Choice


def everything(n_q: int, n_k: int) -> np.ndarray:
    """No mask: every query sees every key."""
    return np.ones((n_q, n_k), bool)


def causal(n_q: int, n_k: int) -> np.ndarray:
    """The look-ahead mask, aligned top left: query i sees keys 0 … i (torch SDPA, JAX, Keras).

    >>> causal(2, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    return np.tri(n_q, n_k, dtype=bool)


def causal_lower_right(n_q: int, n_k: int) -> np.ndarray:
    """The look-ahead mask, aligned bottom right: the last query sees every key (FlashAttention ≥ 2.1).

    >>> causal_lower_right(2, 3).astype(int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


def padding(real) -> np.ndarray:
    """The padding mask of keys: (…, n_k) booleans, True for a real token → (…, 1, n_k).

    It broadcasts over the queries; join it with another mask by ``&``.

    >>> (causal(2, 2) & padding([True, False])).astype(int)
    array([[1, 0],
           [1, 0]])
    """
    return np.asarray(real, bool)[..., None, :]


MASKS = {
    "none": Choice("none", everything),
    "causal": Choice("look-ahead (causal)", causal),
    "causal_lower_right": Choice("look-ahead, from the lower right", causal_lower_right),
}
