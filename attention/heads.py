"""Self-attention, cross-attention and heads: from word embeddings to Q, K, V, and back together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.arrays import as_floats, as_mask, check_axes, check_lead
from attention.trace import AttentionTrace, scaled_dot_product_attention


def split_heads(M: np.ndarray, heads: int, name: str = "") -> np.ndarray:
    """(…, n, h · d) → (…, h, n, d): head k takes columns k·d to (k+1)·d. An error calls M by its ``name``, if given.

    >>> split_heads(np.array([[1, 2, 3, 4]]), 2)
    array([[[1, 2]],
    <BLANKLINE>
           [[3, 4]]])
    """
    *lead, n, width = M.shape
    if heads < 1 or width % heads:
        what = f"{name} has {width} columns; they" if name else f"{width} columns"
        raise ValueError(f"{what} cannot be split into {heads} heads of equal width.")
    return M.reshape(*lead, n, heads, width // heads).swapaxes(-2, -3)


def join_heads(M: np.ndarray) -> np.ndarray:
    """(…, h, n, d) → (…, n, h · d): the heads side by side, the inverse of :func:`split_heads`."""
    *lead, h, n, d = M.shape
    return M.swapaxes(-2, -3).reshape(*lead, n, h * d)


def multi_head_attention(
    Q, K, V, *, heads=1, W_O=None, allowed=None, bias=None, **options
) -> AttentionTrace:
    """Split Q, K and V into heads, let each attend on its own, and join them again.

    Parameters
    ----------
    Q, K, V : array_like, (…, n_q, h · d_k), (…, n_k, h · d_k), (…, n_k, h · d_v)
    heads : int
        h. With 1 head the stages have no head axis; with more it stands before the tokens: (…, h, n, d).
    W_O : array_like, (h · d_v, d_out)
        Mixes the joined heads: ``projected = joined W_O``. Default: none.
    allowed, bias :
        As in :func:`scaled_dot_product_attention`, the same for every head: (…, n_q, n_k).

    >>> rng = np.random.default_rng(0)
    >>> trace = multi_head_attention(*rng.standard_normal((3, 5, 8)), heads=2)
    >>> trace.weights.shape, trace.joined.shape
    ((2, 5, 5), (5, 8))
    """
    Q, K, V = as_floats(Q=Q, K=K, V=V)
    if heads != 1:
        Q, K, V = (split_heads(M, heads) for M in (Q, K, V))
        scores = (*check_lead(Q, K, V)[:-1], Q.shape[-2], K.shape[-2])
        allowed, bias = (
            before_heads(*given, scores) for given in (("allowed", allowed), ("bias", bias))
        )
    trace = scaled_dot_product_attention(Q, K, V, allowed=allowed, bias=bias, **options)
    joined = join_heads(trace.output) if heads != 1 else trace.output
    projected = None if W_O is None else project(joined, W_O, "W_O")
    return replace(trace, joined=joined, projected=projected)


def self_attention(X, W_Q, W_K, W_V, *, memory=None, **options) -> AttentionTrace:
    """Turn word embeddings into queries, keys and values, and let them attend.

    Parameters
    ----------
    X : array_like, (…, n, d_model)
        Word embeddings, one row for each token.
    W_Q, W_K, W_V : array_like, (d_model, h · d_k), (d_model, h · d_k), (d_model, h · d_v)
    memory : array_like, (…, n_k, d_model)
        A second sequence that keys and values come from: cross-attention. Default: X itself.
    **options :
        ``heads`` and ``W_O`` as in :func:`multi_head_attention`; ``allowed``, ``bias``, ``scale`` and
        ``softmax`` as in :func:`scaled_dot_product_attention`.

    >>> trace = self_attention([[1, 0], [0, 1]], np.eye(2), np.eye(2), [[5], [7]])
    >>> trace.output.round(2)
    array([[5.66],
           [6.34]])
    """
    (X,) = as_floats(X=X)
    source = X if memory is None else as_floats(memory=memory)[0]
    Q, K, V = project(X, W_Q, "W_Q"), project(source, W_K, "W_K"), project(source, W_V, "W_V")
    trace = multi_head_attention(Q, K, V, **options)
    return replace(trace, X=X, memory=None if memory is None else source)


def project(X: np.ndarray, W, name: str) -> np.ndarray:
    """X W, or one sentence that says which shape did not fit."""
    X, W = as_floats(X=X, **{name: W})
    if W.shape[-2] != X.shape[-1]:
        raise ValueError(
            f"{name} has {W.shape[-2]} rows; {X.shape[-1]} are wanted, one for each column it meets."
        )
    with np.errstate(all="ignore"):
        return X @ W


def before_heads(name: str, M, scores: tuple[int, ...]):
    """Give a mask a head axis of length 1, so that it serves every head; ``scores`` is their shape without heads."""
    if M is None or as_mask(name, M).ndim < 2:
        return M
    M = np.asarray(M)
    check_axes(name, M, scores)
    return M[..., None, :, :]
