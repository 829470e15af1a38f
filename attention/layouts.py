"""Where the axes stand, and which head reads which: the ways tensors come from frameworks."""

from __future__ import annotations

import numpy as np


def heads_first(M: np.ndarray) -> np.ndarray:
    """(…, n, h, d) → (…, h, n, d) and back: the layout of JAX, keras.ops and FlashAttention to ours.

    >>> heads_first(np.zeros((2, 5, 3, 4))).shape
    (2, 3, 5, 4)
    """
    return np.swapaxes(M, -2, -3)


def repeat_heads(M: np.ndarray, heads: int) -> np.ndarray:
    """Grouped-query attention: (…, g, n, d) → (…, heads, n, d), each head of keys or values for heads/g queries in a row.

    Head order h0, h0, h1, h1, as in Llama, torch's ``enable_gqa`` and ONNX ≥ 1.19.

    >>> repeat_heads(np.array([[[1]], [[2]]]), 4).ravel()
    array([1, 1, 2, 2])
    """
    given = M.shape[-3]
    if given < 1 or heads < 1 or heads % given:
        raise ValueError(
            f"{heads} heads of queries cannot share {given} heads of keys and values evenly."
        )
    return np.repeat(M, heads // given, axis=-3)


def extend(past: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Keys or values cached from earlier steps, then the new ones: (…, n, d) and (…, m, d) → (…, n + m, d).

    >>> extend(np.zeros((2, 4)), np.ones((1, 4))).shape
    (3, 4)
    """
    if past.shape[:-2] != new.shape[:-2] or past.shape[-1] != new.shape[-1]:
        raise ValueError(
            f"the cached {past.shape} and the new {new.shape} differ in more than their tokens."
        )
    return np.concatenate((past, new), axis=-2)
