"""Self-attention, cross-attention and heads: from word embeddings to Q, K, V, and back together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import (
    as_floats,
    check_count,
    check_lead,
    in_type,
    shape_of_scores,
)
from attention.arrays.conversion import as_array, as_numbers, kept, locked
from attention.arrays.hints import hinting
from attention.arrays.layouts import join_heads, repeat_heads, split_heads
from attention.core.before_scores import last, prepared
from attention.core.biases import RelativeBias, check_relative
from attention.core.mods import MaskMod, ScoreMod, of_heads, of_items
from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary
from attention.core.scores import AnySoftmax
from attention.core.trace import AttentionTrace, scaled_dot_product_attention


@hinting
def multi_head_attention(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    *,
    heads: int = 1,
    kv_heads: int | None = None,
    W_O: ArrayLike | None = None,
    b_O: ArrayLike | None = None,
    allowed: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    score_mod: ScoreMod | None = None,
    mask_mod: MaskMod | None = None,
    softmax: AnySoftmax = True,
    sinks: ArrayLike | None = None,
    norm: RMSNorm | None = None,
    rotary: Rotary | None = None,
    relative: RelativeBias | None = None,
) -> AttentionTrace:
    """Split Q, K and V into heads, let each attend separately, and join them again.

    Vaswani et al. 2017, section 3.2.2; with ``kv_heads``, grouped-query attention (Ainslie et al.
    2023, "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints").

    Parameters
    ----------
    Q, K, V : array_like, (…, n_q, h · d_k), (…, n_k, g · d_k), (…, n_k, g · d_v)
    heads : int
        h. With 1 head the stages have no head axis; with more it is before the tokens:
        (…, h, n, d).
    kv_heads : int
        g, where fewer heads of keys and values serve h / g heads of queries each, in the order
        h0, h0, h1, h1 (grouped-query attention). The trace shows K and V as each head of queries
        meets them: (…, h, n_k, d). Default: h.
    W_O : array_like, (h · d_v, d_out)
        Mixes the joined heads: ``projected = joined W_O + b_O``. Default: none.
    b_O : array_like, (d_out,)
        Default: none.
    allowed, bias : array_like, broadcastable to (…, n_q, n_k), with heads to (…, h, n_q, n_k)
        As in :func:`scaled_dot_product_attention`: with a batch and several heads,
        ``mask[:, None]`` is one per item, such as ``padding(real)[:, None]``, and ``mask[None]`` is
        one per head. Three axes are (h, n_q, n_k); they are refused where they also fit the batch.
        With 1 head, a mask may have the axis for the heads, of length 1, or not.
    scale, softcap, score_mod, mask_mod, softmax, sinks :
        As in :func:`scaled_dot_product_attention`; d_k is that of one head. One sink, or (h,).
    norm, rotary : RMSNorm, Rotary
        What is done to Q and K of each head before the scores. Default: nothing.
    relative : RelativeBias
        T5's bias by distance, a column of its table for each head, or one for all. Default: none.

    Raises
    ------
    ValueError, TypeError
        One sentence: the argument, what was given and what is allowed. A ValueError if shapes do
        not fit or a number is out of range; a TypeError if an argument has the wrong type, such as
        a mask of integers, or is unknown.

    >>> rng = np.random.default_rng(0)
    >>> trace = multi_head_attention(*rng.standard_normal((3, 5, 8)), heads=2)
    >>> trace.weights.shape, trace.joined.shape
    ((2, 5, 5), (5, 8))
    """
    Q, K, V = (kept(M) for M in as_floats(Q=Q, K=K, V=V))
    heads, kv_heads = check_heads(heads, kv_heads)
    axes = len(check_lead(Q, K, V)) + 2  # of the scores, without heads
    if heads == 1:
        allowed, bias = for_one_head("allowed", allowed, axes), for_one_head("bias", bias, axes)
    if relative is not None:
        check_relative(relative).check_heads(heads)
    if heads > 1:
        Q = split_heads(Q, heads, "Q")
        K, V = split_heads(K, kv_heads, "K"), split_heads(V, kv_heads, "V")
        check_columns(Q, K)
    before = prepared(Q, K, norm, rotary, heads > 1)
    if kv_heads < heads:
        V = locked(repeat_heads(V, heads))
        before |= {
            name: locked(repeat_heads(M, heads)) for name, M in before.items() if name[0] == "K"
        }
    Q, K = last(before)
    if heads > 1 and axes == 2:  # the one leading axis is that of the heads
        score_mod, mask_mod = of_heads(score_mod), of_heads(mask_mod)
    elif heads == 1 and len(lead := shape_of_scores(Q, K)[:-2]) > 1:  # all of them count items
        score_mod, mask_mod = of_items(score_mod, lead[-1]), of_items(mask_mod, lead[-1])
    trace = scaled_dot_product_attention(
        Q,
        K,
        V,
        allowed=allowed,
        bias=bias,
        scale=scale,
        softcap=softcap,
        score_mod=score_mod,
        mask_mod=mask_mod,
        softmax=softmax,
        sinks=sinks,
        relative=relative,
    )
    joined = join_heads(trace.output) if heads > 1 else trace.output
    trace = replace(trace, **before, norm=norm, rotary=rotary, joined=joined)
    if W_O is None:
        if b_O is not None:
            raise ValueError("b_O is given without W_O; it is added to joined W_O.")
        return trace
    W_O, b_O = kept(as_numbers("W_O", W_O)), as_bias("b_O", b_O)
    projected = project(joined, W_O, "W_O", "of joined", b_O)
    return replace(trace, projected=projected, W_O=W_O, b_O=b_O)


@hinting
def self_attention(
    X: ArrayLike,
    W_Q: ArrayLike,
    W_K: ArrayLike,
    W_V: ArrayLike,
    *,
    b_Q: ArrayLike | None = None,
    b_K: ArrayLike | None = None,
    b_V: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    memory: ArrayLike | None = None,
    heads: int = 1,
    kv_heads: int | None = None,
    W_O: ArrayLike | None = None,
    b_O: ArrayLike | None = None,
    allowed: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    score_mod: ScoreMod | None = None,
    mask_mod: MaskMod | None = None,
    softmax: AnySoftmax = True,
    sinks: ArrayLike | None = None,
    norm: RMSNorm | None = None,
    rotary: Rotary | None = None,
    relative: RelativeBias | None = None,
) -> AttentionTrace:
    """Turn word embeddings into queries, keys and values, and let them attend.

    Vaswani et al. 2017, sections 3.2.2 and 3.2.3; with ``memory``, cross-attention.

    Parameters
    ----------
    X : array_like, (…, n, d_model)
        Word embeddings, one row for each token.
    W_Q, W_K, W_V : array_like, (d_model, h · d_k), (d_model, g · d_k), (d_model, g · d_v)
    b_Q, b_K, b_V : array_like, (h · d_k,), (g · d_k,), (g · d_v,)
        Added to every query, key and value. Default: none.
    positions : array_like, (…, n, d_model)
        P, added to X before all else, such as :func:`sinusoidal` gives. Default: none.
    memory : array_like, (…, n_k, d_memory)
        A second sequence that keys and values are computed from. W_K and W_V then have d_memory
        rows. Nothing is added to it. Default: X itself, with its positions.
    heads, kv_heads, W_O, b_O :
        h, g, the weights and the bias after the heads, as in :func:`multi_head_attention`.
    allowed, bias, scale, softcap, score_mod, mask_mod, softmax, sinks, norm, rotary, relative :
        As in :func:`multi_head_attention`.

    Raises
    ------
    ValueError, TypeError
        One sentence: the argument, what was given and what is allowed. A ValueError if shapes do
        not fit or a number is out of range; a TypeError if an argument has the wrong type, such as
        a mask of integers, or is unknown.

    >>> trace = self_attention([[1, 0], [0, 1]], np.eye(2), np.eye(2), [[5], [7]])
    >>> trace.output.round(2)
    array([[5.66],
           [6.34]])
    """
    X = kept(*as_floats(X=X))
    P, X_P = added_positions(X, positions)
    queries = X if X_P is None else X_P
    source, whose = queries, "of X"
    if memory is not None:
        source, whose = kept(*as_floats(memory=memory)), "of memory"
        check_sequences(X, source)
    W_Q, W_K, W_V = (
        kept(as_numbers(name, W)) for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V))
    )
    b_Q, b_K, b_V = as_bias("b_Q", b_Q), as_bias("b_K", b_K), as_bias("b_V", b_V)
    trace = multi_head_attention(
        locked(project(queries, W_Q, "W_Q", "of X", b_Q)),
        locked(project(source, W_K, "W_K", whose, b_K)),
        locked(project(source, W_V, "W_V", whose, b_V)),
        heads=heads,
        kv_heads=kv_heads,
        W_O=W_O,
        b_O=b_O,
        allowed=allowed,
        bias=bias,
        scale=scale,
        softcap=softcap,
        score_mod=score_mod,
        mask_mod=mask_mod,
        softmax=softmax,
        sinks=sinks,
        norm=norm,
        rotary=rotary,
        relative=relative,
    )
    memory = None if memory is None else source
    trace = replace(trace, X=X, memory=memory, P=P, X_P=X_P, b_Q=b_Q, b_K=b_K, b_V=b_V)
    return replace(trace, W_Q=W_Q, W_K=W_K, W_V=W_V)


def check_heads(heads: int, kv_heads: int | None) -> tuple[int, int]:
    """Return the number of heads of queries, and that of keys and values."""
    heads = check_count("heads", heads)
    kv_heads = heads if kv_heads is None else check_count("kv_heads", kv_heads)
    if heads % kv_heads:
        raise ValueError(
            f"heads is {heads} and kv_heads is {kv_heads}; heads needs to be a multiple of"
            " kv_heads, so that each head of keys and values serves equally many of queries."
        )
    return heads, kv_heads


def check_columns(Q: np.ndarray, K: np.ndarray) -> None:
    """Refuse heads, (…, h, n, d), of unequal width."""
    (h, _, q), (g, _, k) = Q.shape[-3:], K.shape[-3:]
    if q != k:
        raise ValueError(
            f"Q has {h * q} columns in {h} heads, {q} in each, and K has {g * k} in {g}, {k} in"
            " each; both need the same d_k."
        )


def check_sequences(X: np.ndarray, memory: np.ndarray) -> None:
    """Refuse a batch of other sequences than that of X."""
    try:
        np.broadcast_shapes(X.shape[:-2], memory.shape[:-2])
    except ValueError:
        raise ValueError(
            f"the leading axes {X.shape[:-2]} of X and {memory.shape[:-2]} of memory"
            " do not broadcast."
        ) from None


def added_positions(
    X: np.ndarray, positions: ArrayLike | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return P and X + P if positions are given, else two None."""
    if positions is None:
        return None, None
    P = as_numbers("positions", positions)
    wanted = X.shape[-2:]
    if P.shape[-2:] != wanted or P.ndim > X.ndim:
        raise ValueError(f"positions has shape {P.shape}; expected {wanted}, as X has it.")
    try:
        with np.errstate(all="ignore"):
            P = kept(in_type(P, X.dtype))  # a table of waves widens no float32
            return P, locked(X + P)
    except ValueError:
        raise ValueError(
            f"positions has shape {P.shape}, which does not fit X of shape {X.shape}."
        ) from None


def as_bias(name: str, given: ArrayLike | None) -> np.ndarray | None:
    """Return a bias as one row, (1, columns), or None."""
    if given is None:
        return None
    bias = as_numbers(name, given)
    if bias.ndim != 1 and (bias.ndim != 2 or len(bias) != 1):
        raise ValueError(f"{name} has shape {bias.shape}; expected one number for each column.")
    return kept(bias).reshape(1, -1)


def project(
    X: np.ndarray,
    W: ArrayLike,
    name: str,
    meets: str = "it meets",
    bias: np.ndarray | None = None,
) -> np.ndarray:
    """Return X W, plus a bias of one row if given; raise if the shapes do not fit."""
    weights = as_numbers(name, W)
    if weights.ndim != 2:
        raise ValueError(f"{name} has shape {weights.shape}; expected two axes, (rows, columns).")
    if weights.shape[0] != X.shape[-1]:
        raise ValueError(
            f"{name} has {weights.shape[0]} rows; expected {X.shape[-1]},"
            f" one for each column {meets}."
        )
    if bias is None:
        X, weights = as_floats(**{"X": X, name: weights})
        with np.errstate(all="ignore"):
            return np.asarray(X @ weights)
    added = name.replace("W_", "b_")
    if bias.shape[-1] != weights.shape[-1]:
        raise ValueError(
            f"{added} holds {bias.shape[-1]} numbers; expected {weights.shape[-1]}, one for each"
            f" column of {name}."
        )
    X, weights, bias = as_floats(**{"X": X, name: weights, added: bias})
    with np.errstate(all="ignore"):
        return np.asarray(X @ weights + bias)


def for_one_head(name: str, M: ArrayLike | None, axes: int) -> np.ndarray | None:
    """Return a mask for scores of so many axes, none of them for a single head.

    It may have that axis all the same, with length 1, as where it is made for any number of heads.

    >>> for_one_head("allowed", np.ones((2, 1, 3, 3), bool), axes=3).shape
    (2, 3, 3)
    """
    if M is None:
        return None
    mask = as_array(name, M)
    return mask[..., 0, :, :] if mask.ndim == axes + 1 and mask.shape[-3] == 1 else mask
