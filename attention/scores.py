"""What may happen to scores between the scale and the weights: a soft cap, another precision, no softmax at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attention.arrays import check_positive, softmax_rows


def soft_cap(scaled: np.ndarray, softcap: float) -> np.ndarray:
    """softcap · tanh(scaled / softcap): small scores as they are, large ones within ±softcap (Gemma 2, ONNX ≥ 23).

    It belongs before the mask: after it, −∞ would become −softcap, and hidden keys would leak.

    >>> soft_cap(np.array([0.1, 100.0]), 2.0).round(4)
    array([0.0999, 2.    ])
    """
    cap = check_positive("softcap", softcap)
    return (np.tanh(scaled / np.float64(cap)) * cap).astype(scaled.dtype)  # a cap need not fit into float32


def softmax_in(dtype) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A softmax computed in another float type, its weights in that of the stages (``softmax_precision`` of ONNX).

    >>> softmax_in(np.float16)(np.array([[0.0, 1.0]]), np.array([[True, True]])).dtype.name
    'float64'
    """
    return lambda masked, allowed: softmax_rows(masked.astype(dtype), allowed).astype(masked.dtype)


def raw(masked: np.ndarray, allowed: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """No softmax: the masked scores themselves, and 0 for a hidden key."""
    return np.where(allowed, masked, 0)


def anew(softmax: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    """Another softmax, which makes an array of its own wherever the weights belong."""
    return lambda masked, allowed, out=None: softmax(masked, allowed)
