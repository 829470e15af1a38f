"""Where the axes stand, and which head reads which: the ways tensors come from frameworks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import check_count, with_axes


def heads_first(M: ArrayLike) -> np.ndarray:
    """(…, n, h, d) → (…, h, n, d) and back: from JAX, keras.ops and FlashAttention to ours.

    >>> heads_first(np.zeros((2, 5, 3, 4))).shape
    (2, 3, 5, 4)
    """
    return with_axes("M", M, 3, "(…, n, h, d)").swapaxes(-2, -3)


def repeat_heads(M: ArrayLike, heads: int) -> np.ndarray:
    """(…, g, n, d) → (…, heads, n, d): each head of keys or values for heads / g of queries.

    Grouped-query attention, in the order h0, h0, h1, h1, as in Llama, torch's ``enable_gqa`` and
    ONNX ≥ 1.19.

    >>> repeat_heads(np.array([[[1]], [[2]]]), 4).ravel()
    array([1, 1, 2, 2])
    """
    M = with_axes("M", M, 3, "(…, g, n, d)")
    heads = check_count("heads", heads)
    given = M.shape[-3]
    if given < 1 or heads % given:
        raise ValueError(
            f"{heads} heads of queries cannot share {given} heads of keys and values evenly."
        )
    return np.repeat(M, heads // given, axis=-3)


def extend(past: ArrayLike, new: ArrayLike) -> np.ndarray:
    """(…, n, d) and (…, m, d) → (…, n + m, d): keys or values of earlier steps, then the new ones.

    >>> extend(np.zeros((2, 4)), np.ones((1, 4))).shape
    (3, 4)
    """
    past = with_axes("past", past, 2, "(…, n, d)")
    new = with_axes("new", new, 2, "(…, n, d)")
    if past.shape[:-2] != new.shape[:-2] or past.shape[-1] != new.shape[-1]:
        raise ValueError(
            f"the cached {past.shape} and the new {new.shape} differ in more than their tokens."
        )
    return np.concatenate((past, new), axis=-2)


def split_heads(M: ArrayLike, heads: int, name: str = "") -> np.ndarray:
    """(…, n, h · d) → (…, h, n, d): head k takes columns k·d to (k+1)·d.

    An error calls M by its ``name``, if given.

    >>> split_heads(np.array([[1, 2, 3, 4]]), 2)
    array([[[1, 2]],
    <BLANKLINE>
           [[3, 4]]])
    """
    M = with_axes(name or "M", M, 2, "(…, n, h · d)")
    heads = check_count("heads", heads)
    *lead, n, width = M.shape
    if width % heads:
        what = f"{name} has {width} columns; they" if name else f"{width} columns"
        raise ValueError(f"{what} cannot be split into {heads} heads of equal width.")
    return M.reshape(*lead, n, heads, width // heads).swapaxes(-2, -3)


def join_heads(M: ArrayLike) -> np.ndarray:
    """(…, h, n, d) → (…, n, h · d): heads side by side, the inverse of :func:`split_heads`."""
    M = with_axes("M", M, 3, "(…, h, n, d)")
    *lead, h, n, d = M.shape
    return M.swapaxes(-2, -3).reshape(*lead, n, h * d)
