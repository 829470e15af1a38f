"""Who may look at whom. True = may look: ``allowed[i, j]`` says whether query i sees key j."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import check_count, refuse_counts, with_axes
from attention.arrays.conversion import as_numbers, shown
from attention.vocabulary.choices import Choice

TUTORIAL_FILL = -1e9  # what tutorials and Keras add to a score to hide a key, or put in its place


def everything(n_q: int, n_k: int) -> np.ndarray:
    """No mask: every query sees every key."""
    return np.ones((n_q, n_k), bool)


def causal(n_q: int, n_k: int, past: ArrayLike = 0) -> np.ndarray:
    """The look-ahead mask, aligned top left: query i sees keys 0 … i (torch SDPA, JAX, Keras).

    With ``past`` keys cached before the first query, query i stands at place past + i. ``past``
    may hold one number for each item of the batch, also a negative one: (…,) → (…, n_q, n_k). With
    several heads, give such a mask as ``mask[:, None]``.

    >>> causal(2, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    return lead(n_q, n_k, past) >= 0


def causal_lower_right(n_q: int, n_k: int) -> np.ndarray:
    """The look-ahead mask, aligned bottom right: the last query sees every key.

    FlashAttention ≥ 2.1.

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
    """Query i sees the keys from ``before`` places before its own to ``after`` behind it.

    None: no bound on that side. ``past`` as in :func:`causal`.

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
    """The look-ahead mask in which a query sees ``seen`` keys at most, its own and those before.

    So Mistral's and Gemma's configurations count (``sliding_window``); FlashAttention's
    ``window_size=(left, 0)`` counts the keys before alone: left = seen − 1. ``past`` as in
    :func:`causal`.

    >>> window(3, 3, seen=2).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    return sliding_window(n_q, n_k, check_count("seen", seen) - 1, 0, past)


def padding(real: ArrayLike) -> np.ndarray:
    """The padding mask of keys: (…, n_k) booleans, True for a real token → (…, 1, n_k).

    It broadcasts over the queries; join it with another mask by ``&``. With a batch and several
    heads, give it as ``padding(real)[:, None]``.

    >>> (causal(2, 2) & padding([True, False])).astype(int)
    array([[1, 0],
           [1, 0]])
    """
    return truth_of_tokens(real)[..., None, :]


def real_tokens(lengths: ArrayLike, n_k: int) -> np.ndarray:
    """(…,) → (…, n_k): which keys are real where each sequence has its own length.

    For :func:`padding`.

    >>> real_tokens([1, 3], 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 1]])
    """
    known = as_numbers("lengths", lengths, "expected numbers of tokens")
    check_lengths(lengths, known)
    return np.arange(check_count("n_k", n_k, 0)) < known[..., None]


def truth_of_tokens(real: ArrayLike) -> np.ndarray:
    """(…, n_k) booleans, also where they came as 0 and 1."""
    tokens = with_axes("real", real, 1, "(…, n_k)")
    wanted = "expected booleans, True for a real token"
    numbers = as_numbers("real", tokens, wanted)
    if not ((numbers == 0) | (numbers == 1)).all():
        raise ValueError(f"real is {shown(real)}; {wanted}.")
    return numbers.astype(bool)


def check_lengths(given: ArrayLike, known: np.ndarray) -> None:
    """Refuse a sequence of fewer than no tokens."""
    if not (known >= 0).all():
        raise ValueError(f"lengths is {shown(given)}; expected numbers of tokens from 0.")


def lengthened(mask: ArrayLike, n_k: int) -> np.ndarray:
    """A mask that stops short of the last keys: those it does not mention are hidden.

    By False, or by −∞ in a bias.

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
    """How far each query stands behind each key: (…,) → (…, n_q, n_k)."""
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
