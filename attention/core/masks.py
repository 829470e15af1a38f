"""Who may look at whom. True = may look: ``allowed[i, j]`` says whether query i sees key j."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import check_count, refuse_counts, with_axes
from attention.arrays.conversion import as_numbers, shown
from attention.vocabulary.choices import Choice

TUTORIAL_FILL = -1e9  # what tutorials and Keras add to a score to hide a key, or put in its place


def everything(n_q: int, n_k: int) -> np.ndarray:
    """Return a mask that hides nothing: every query may look at every key."""
    return np.ones((n_q, n_k), bool)


def causal(n_q: int, n_k: int, past: ArrayLike = 0) -> np.ndarray:
    """Return the look-ahead mask, aligned top left: query i sees keys 0 … i.

    Vaswani et al. 2017, section 3.2.3; aligned as in torch's ``scaled_dot_product_attention``, JAX
    and Keras.

    Parameters
    ----------
    n_q, n_k : int
        Numbers of queries and keys.
    past : array_like, () or (…)
        Number of keys in a cache before the first query: query i is at position past + i. It may be
        one number for each item of the batch, and negative.

    Returns
    -------
    ndarray of bool, (n_q, n_k), or (…, n_q, n_k) for several ``past``
        True where the query may look at the key. With several heads, give the second as
        ``mask[:, None]``.

    Raises
    ------
    ValueError
        If ``n_q`` or ``n_k`` is not a whole number from 0, or ``past`` is not finite.
    TypeError
        If ``past`` is not a number.

    >>> causal(2, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    return lead(n_q, n_k, past) >= 0


def causal_lower_right(n_q: int, n_k: int) -> np.ndarray:
    """Return the look-ahead mask, aligned bottom right: the last query sees every key.

    So FlashAttention ≥ 2.1 and ``torch.nn.attention.bias.causal_lower_right`` align it.

    Parameters
    ----------
    n_q, n_k : int
        Numbers of queries and keys.

    Returns
    -------
    ndarray of bool, (n_q, n_k)
        True where the query may look at the key.

    Raises
    ------
    ValueError
        If ``n_q`` or ``n_k`` is not a whole number from 0.

    >>> causal_lower_right(2, 3).astype(int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    n_q, n_k = check_count("n_q", n_q, 0), check_count("n_k", n_k, 0)
    return causal(n_q, n_k, past=n_k - n_q)


def sliding_window(
    n_q: int,
    n_k: int,
    before: int | None = None,
    after: int | None = None,
    past: ArrayLike = 0,
) -> np.ndarray:
    """Return the mask in which query i sees the keys from i − ``before`` to i + ``after``.

    The arguments count tokens, as ``window_size=(left, right)`` of FlashAttention does. A window of
    equal sides is that of Beltagy et al. 2020, "Longformer: The Long-Document Transformer", section
    3.1.

    Parameters
    ----------
    n_q, n_k : int
        Numbers of queries and keys.
    before, after : int
        How many keys before and after its own position a query sees. None: no bound on that side.
    past : array_like, () or (…)
        Keys before the first query, as in :func:`causal`: its position is past + i.

    Returns
    -------
    ndarray of bool, (n_q, n_k), or (…, n_q, n_k) for several ``past``
        True where the query may look at the key.

    Raises
    ------
    ValueError
        If ``n_q``, ``n_k``, ``before`` or ``after`` is not a whole number from 0, or ``past`` is
        not finite.
    TypeError
        If ``past`` is not a number.

    >>> sliding_window(3, 3, before=1, after=0).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    ahead = lead(n_q, n_k, past)
    for name, bound in (("before", before), ("after", after)):
        try:
            bound is None or check_count(name, bound, 0)
        except ValueError:
            raise ValueError(
                f"{name} is {shown(bound)}; expected a whole number from 0, or None for no bound."
            ) from None
    seen = np.ones(ahead.shape, bool) if before is None else ahead <= before
    return seen if after is None else seen & (-ahead <= after)


def window(n_q: int, n_k: int, seen: int, past: ArrayLike = 0) -> np.ndarray:
    """Return the look-ahead mask where a query sees at most ``seen`` keys, up to its own.

    ``sliding_window`` in the configurations of Mistral and Gemma counts like this; FlashAttention's
    ``window_size=(left, 0)`` counts only the keys before: left = seen − 1.

    Parameters
    ----------
    n_q, n_k : int
        Numbers of queries and keys.
    seen : int
        Width of the window in tokens.
    past : array_like, () or (…)
        Keys before the first query, as in :func:`causal`.

    Returns
    -------
    ndarray of bool, (n_q, n_k), or (…, n_q, n_k) for several ``past``
        True where the query may look at the key.

    Raises
    ------
    ValueError
        If ``n_q`` or ``n_k`` is not a whole number from 0, ``seen`` not one from 1, or ``past`` is
        not finite.
    TypeError
        If ``past`` is not a number.

    >>> window(3, 3, seen=2).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    return sliding_window(n_q, n_k, check_count("seen", seen) - 1, 0, past)


def padding(real: ArrayLike) -> np.ndarray:
    """Return the mask that hides padding tokens among the keys, (…, 1, n_k).

    True is a real token, as 1 is in ``attention_mask`` of transformers; in ``key_padding_mask`` of
    ``torch.nn.MultiheadAttention`` True is a padding token.

    Parameters
    ----------
    real : array_like of bool, or of 0 and 1, (…, n_k)
        True for a real token.

    Returns
    -------
    ndarray of bool, (…, 1, n_k)
        It broadcasts over the queries; join it with another mask by ``&``. With a batch and several
        heads, give it as ``padding(real)[:, None]``.

    Raises
    ------
    ValueError
        If ``real`` holds other numbers than 0 and 1, or has no axis.
    TypeError
        If ``real`` does not hold booleans or numbers.

    >>> (causal(2, 2) & padding([True, False])).astype(int)
    array([[1, 0],
           [1, 0]])
    """
    return truth_of_tokens(real)[..., None, :]


def real_tokens(lengths: ArrayLike, n_k: int) -> np.ndarray:
    """Return which keys are real tokens, for :func:`padding`, given the length of each sequence.

    The lengths are what ``key_value_seq_lengths`` of ``jax.nn.dot_product_attention`` and
    ``nonpad_kv_seqlen`` of ONNX, from opset 24, are.

    Parameters
    ----------
    lengths : array_like, (…)
        Number of real tokens of each sequence; they come first.
    n_k : int
        Number of keys.

    Returns
    -------
    ndarray of bool, (…, n_k)

    Raises
    ------
    ValueError
        If a length is negative or NaN, or ``n_k`` is not a whole number from 0.
    TypeError
        If ``lengths`` does not hold numbers.

    >>> real_tokens([1, 3], 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 1]])
    """
    known = as_numbers("lengths", lengths, "expected numbers of tokens")
    check_lengths(lengths, known)
    return np.arange(check_count("n_k", n_k, 0)) < known[..., None]


def truth_of_tokens(real: ArrayLike) -> np.ndarray:
    """Return booleans, (…, n_k), also where the argument holds 0 and 1."""
    tokens = with_axes("real", real, 1, "(…, n_k)")
    wanted = "expected booleans, True for a real token"
    numbers = as_numbers("real", tokens, wanted)
    if not ((numbers == 0) | (numbers == 1)).all():
        raise ValueError(f"real is {shown(real)}; {wanted}.")
    return numbers.astype(bool)


def check_lengths(given: ArrayLike, known: np.ndarray) -> None:
    """Raise if a length is negative."""
    if not (known >= 0).all():
        raise ValueError(f"lengths is {shown(given)}; expected numbers of tokens from 0.")


def lengthened(mask: ArrayLike, n_k: int) -> np.ndarray:
    """Extend a mask that is shorter than the keys: the keys it does not reach are hidden.

    So the Attention of ONNX, from opset 24, reads an ``attn_mask`` whose last axis is too short.

    Parameters
    ----------
    mask : array_like, (…, m)
        Booleans, or a bias of numbers to add.
    n_k : int
        Number of keys, at least m.

    Returns
    -------
    ndarray, (…, n_k)
        The new columns are False, or −∞ in a bias.

    Raises
    ------
    ValueError
        If the mask has more than ``n_k`` columns or no axis, holds only the numbers 0 and 1, or
        ``n_k`` is not a whole number from 0.
    TypeError
        If the mask does not hold booleans or numbers.

    >>> lengthened([[True]], 2)
    array([[ True, False]])
    """
    mask = as_numbers("the mask", mask, "expected booleans or numbers to add")
    mask, n_k = with_axes("the mask", mask, 1, "(…, n_k)"), check_count("n_k", n_k, 0)
    missing = n_k - mask.shape[-1]
    if missing < 0:
        raise ValueError(f"the mask has {mask.shape[-1]} columns; there are only {n_k} keys.")
    refuse_counts("the mask", mask)
    if mask.dtype.kind in "iu":
        mask = mask.astype(np.float64)
    hidden = False if mask.dtype == bool else -np.inf
    return (
        np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, missing)], constant_values=hidden)
        if missing
        else mask
    )


def lead(n_q: int, n_k: int, past: ArrayLike) -> np.ndarray:
    """Return query − key in positions for each score, (n_q, n_k) or (…, n_q, n_k)."""
    n_q, n_k = check_count("n_q", n_q, 0), check_count("n_k", n_k, 0)
    cached = as_numbers("past", past, "expected numbers of cached keys")
    if not np.isfinite(cached).all():
        raise ValueError(f"past is {shown(past)}; expected numbers of cached keys.")
    return cached[..., None, None] + np.arange(n_q)[:, None] - np.arange(n_k)


MASKS: dict[str, Choice[[int, int], np.ndarray]] = {
    "none": Choice("none", everything),
    "causal": Choice("look-ahead (causal)", causal),
    "causal_lower_right": Choice("look-ahead (last key)", causal_lower_right),
}
MASK_LABELS = {name: mask.label for name, mask in MASKS.items()}
