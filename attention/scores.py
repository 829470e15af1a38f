"""What may happen to scores between the scale and the weights.

A soft cap, a softmax in another precision, somebody's own softmax, or none at all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from attention.arrays import check_positive, in_type, softmax_rows
from attention.conversion import as_array, as_numbers, held, locked, shown

Softmax = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (masked, allowed) → weights


def soft_cap(scaled: ArrayLike, softcap: float) -> np.ndarray:
    """softcap · tanh(scaled / softcap): small scores as they are, large ones within ±softcap.

    Gemma 2, ONNX ≥ 23. It belongs before the mask: after it, −∞ would become −softcap, and hidden
    keys would leak.

    >>> soft_cap(np.array([0.1, 100.0]), 2.0).round(4)
    array([0.0999, 2.    ])
    """
    scaled = as_numbers("scaled", scaled)
    scaled = in_type(scaled, scaled.dtype if scaled.dtype.kind == "f" else np.dtype(np.float64))
    cap = check_positive("softcap", softcap)
    capped = np.tanh(scaled / np.float64(cap)) * cap  # a cap need not fit into float32
    return np.asarray(capped.astype(scaled.dtype))


def softmax_in(dtype: DTypeLike) -> Softmax:
    """A softmax computed in another float type, its weights in that of the stages.

    ``softmax_precision`` of ONNX.

    >>> softmax_in(np.float16)(np.array([[0.0, 1.0]]), np.array([[True, True]])).dtype.name
    'float64'
    """
    try:
        known = dtype is not None and np.issubdtype(dtype, np.floating)
    except TypeError:
        known = False
    if not known:
        raise TypeError(f"dtype is {shown(dtype)}; a float type such as np.float32 is wanted.")
    return lambda masked, allowed: softmax_rows(masked.astype(dtype), allowed).astype(masked.dtype)


def softmax_with_sinks(sinks: ArrayLike) -> Softmax:
    """A softmax in which each row's sum holds one more score, of no key: exp(sink), (h,) → each
    head's own.

    gpt-oss; sink 0 is the softmax “off by one”. The weights of a row no longer sum to 1.

    >>> softmax_with_sinks([0.0])(np.array([[0.0]]), np.array([[True]]))
    array([[0.5]])
    """
    column = as_numbers("sinks", sinks)[..., None, None]  # (h, 1, 1)

    def share(masked: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        sink = column[0] if masked.ndim == 2 else column
        highest = np.maximum(masked.max(axis=-1, keepdims=True, initial=-np.inf), sink)
        grown = np.where(allowed, np.exp(masked - highest), 0)
        shares = grown / (grown.sum(axis=-1, keepdims=True) + np.exp(sink - highest))
        return np.asarray(shares, masked.dtype)

    return share


def raw(masked: np.ndarray, allowed: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """No softmax: the masked scores themselves, and 0 for a hidden key."""
    return np.where(allowed, masked, 0)


def softmax_of(softmax: bool | Softmax) -> Callable[..., np.ndarray]:
    """What the argument ``softmax`` asks for: ours, none, or the caller's function, watched over.

    The function takes (masked, allowed, out), where ``out`` is a place for the weights, or None.

    >>> softmax_of("none")
    Traceback (most recent call last):
    TypeError: softmax is 'none'; True, False or a function (masked, allowed) → weights is wanted.
    """
    if isinstance(softmax, (bool, np.bool_)):
        return softmax_rows if softmax else raw
    if not callable(softmax):
        raise TypeError(
            f"softmax is {shown(softmax)};"
            " True, False or a function (masked, allowed) → weights is wanted."
        )
    _refuse_fewer_arguments(softmax)
    return lambda masked, allowed, out=None: _watched(softmax, masked, allowed)


def _refuse_fewer_arguments(softmax: Softmax) -> None:
    """Refuse a function that cannot be called with the masked scores and the mask."""
    try:
        taken = inspect.signature(softmax)
    except (TypeError, ValueError):  # it does not tell
        return
    try:
        taken.bind(None, None)
    except TypeError:
        raise TypeError(
            f"softmax is a function of {taken}; one of (masked, allowed) → weights is wanted."
        ) from None


def _watched(softmax: Softmax, masked: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The weights of the caller's function, which can neither change a stage nor keep one."""
    weights = as_array("what softmax returned", softmax(masked.copy(), allowed.copy()))
    if weights.dtype != masked.dtype:
        raise TypeError(
            f"what softmax returned {held(weights)}; {masked.dtype} is wanted, as the scores are."
        )
    if weights.shape != masked.shape:
        raise ValueError(
            f"what softmax returned has shape {weights.shape};"
            f" that of the scores is wanted, {masked.shape}."
        )
    return locked(weights.copy())
