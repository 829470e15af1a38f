"""The order of axes and the sharing of heads: the layouts that frameworks give tensors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import check_count, with_axes


def heads_first(M: ArrayLike) -> np.ndarray:
    """Swap the axes of tokens and heads, (…, n, h, d) → (…, h, n, d), or back.

    JAX (``jax.nn.dot_product_attention``), ``keras.ops`` and FlashAttention have the tokens first;
    torch, ONNX and this package have the heads first.

    Parameters
    ----------
    M : array_like, (…, n, h, d)
        Queries, keys, values or outputs.

    Raises
    ------
    ValueError
        If ``M`` has fewer than three axes.

    >>> heads_first(np.zeros((2, 5, 3, 4))).shape
    (2, 3, 5, 4)
    """
    return with_axes("M", M, 3, "(…, n, h, d)").swapaxes(-2, -3)


def repeat_heads(M: ArrayLike, heads: int) -> np.ndarray:
    """Repeat each head of keys or values for the heads of queries that share it.

    This is grouped-query attention (Ainslie et al. 2023, "GQA: Training Generalized Multi-Query
    Transformer Models from Multi-Head Checkpoints"), in the order h0, h0, h1, h1, as in Llama,
    torch's ``enable_gqa`` and ONNX ≥ 1.19.

    Parameters
    ----------
    M : array_like, (…, g, n, d)
        Keys or values of g heads.
    heads : int
        Number of heads of queries, h; a multiple of g.

    Returns
    -------
    ndarray, (…, h, n, d)

    Raises
    ------
    ValueError
        If ``M`` has fewer than three axes, or ``heads`` is not a positive multiple of g.

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
    """Append the keys or values of new tokens to those of a cache.

    The result is what transformers' ``DynamicCache.update`` returns for one layer.

    Parameters
    ----------
    past, new : array_like, (…, n, d), (…, m, d)
        Keys or values of earlier steps and of the new tokens.

    Returns
    -------
    ndarray, (…, n + m, d)

    Raises
    ------
    ValueError
        If one has fewer than two axes, or they differ in more than the number of tokens.

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
    """Split the columns into heads of equal width: head k takes columns k·d to (k + 1)·d.

    One matrix holds the projections of all heads, as in ``torch.nn.MultiheadAttention``; Vaswani et
    al. 2017, section 3.2.2, write a matrix for each head.

    Parameters
    ----------
    M : array_like, (…, n, h · d)
        Queries, keys or values of all heads, side by side.
    heads : int
        Number of heads, h.
    name : str
        What an error calls ``M``.

    Returns
    -------
    ndarray, (…, h, n, d)

    Raises
    ------
    ValueError
        If ``M`` has fewer than two axes, ``heads`` is not a whole number from 1, or the number of
        columns is not a multiple of it.

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
    """Join heads side by side: the inverse of :func:`split_heads`.

    This is the Concat of Vaswani et al. 2017, section 3.2.2.

    Parameters
    ----------
    M : array_like, (…, h, n, d)
        Outputs of h heads.

    Returns
    -------
    ndarray, (…, n, h · d)

    Raises
    ------
    ValueError
        If ``M`` has fewer than three axes.

    >>> join_heads(np.array([[[1, 2]], [[3, 4]]]))
    array([[1, 2, 3, 4]])
    """
    M = with_axes("M", M, 3, "(…, h, n, d)")
    *lead, h, n, d = M.shape
    return M.swapaxes(-2, -3).reshape(*lead, n, h * d)
