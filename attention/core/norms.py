"""The RMS norm of queries and keys: each row divided by the root of its mean square.

Zhang and Sennrich 2019, "Root Mean Square Layer Normalization"; on Q and K as in Qwen3 (each head),
OLMo 2 (all heads of a token together) or Hunyuan (after the rotation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import check_positive, check_switch, check_vector
from attention.arrays.conversion import locked


@dataclass(frozen=True)
class RMSNorm:
    """The norm of the rows of Q and K: row / √(mean of row² + eps) · gain.

    Zhang and Sennrich 2019, "Root Mean Square Layer Normalization"; on Q and K as in Qwen3.

    Parameters
    ----------
    gain_Q, gain_K : array_like, (d_k,), the same for every head, or (h · d_k,)
        Where a model multiplies by 1 + weight, as Gemma does, give 1 + weight. Default: 1.
    eps : float
        Added to the mean of the squares, in their unit.
    whole : bool
        Take the mean over all heads of a token, not over each head, as OLMo 2 does.
    after_rotary : bool
        Norm Q and K after their rotation, as Hunyuan does. With a gain the order matters.

    Raises
    ------
    ValueError
        If a gain is not one row of finite numbers, or ``eps`` is not positive; when it is used, if
        a gain does not have d_k or h · d_k numbers.
    TypeError
        If a gain does not hold numbers, or ``whole`` or ``after_rotary`` is not a bool.

    >>> norm = RMSNorm(gain_Q=[1, 2])
    >>> norm.of("Q", np.array([[3.0, 4.0]])).round(4)
    array([[0.8485, 2.2627]])
    """

    gain_Q: ArrayLike | None = None  # kept as a tuple of floats
    gain_K: ArrayLike | None = None
    eps: float = 1e-6
    whole: bool = False
    after_rotary: bool = False

    def __post_init__(self) -> None:
        for name in ("gain_Q", "gain_K"):
            check_vector(self, name)
        object.__setattr__(self, "eps", check_positive("eps", self.eps))
        for name in ("whole", "after_rotary"):
            object.__setattr__(self, name, check_switch(name, getattr(self, name)))

    def of(self, name: str, M: np.ndarray, of_heads: bool = False) -> np.ndarray:
        """Norm every row of Q or K, (…, n, d_k); with ``of_heads``, M is (…, h, n, d_k)."""
        gain = self.gains(name, M.shape[-1], M.shape[-3] if of_heads else 1)
        with np.errstate(all="ignore"):
            normed = M / self.root_mean_square(M, of_heads) * gain
        return locked(normed.astype(M.dtype))

    def root_mean_square(self, M: np.ndarray, of_heads: bool = False) -> np.ndarray:
        """Return √(mean of row² + eps), (…, n, 1), in at least float64.

        Rows whose squares go beyond that type are taken in units of a power of 2.
        """
        axes = (-3, -1) if self.whole and of_heads else (-1,)
        with np.errstate(all="ignore"):
            root = _root_mean(M, axes, self.eps)
            beyond = np.isinf(root)
            if not beyond.any():
                return root
            largest = np.abs(M).max(axis=axes, keepdims=True).astype(root.dtype)
            power = np.where(beyond & np.isfinite(largest), np.frexp(largest)[1], 0)
            unit = np.ldexp(root.dtype.type(1), -power)
            return np.asarray(np.ldexp(_root_mean(M * unit, axes, self.eps * unit**2), power))

    def gains(self, name: str, d_k: int, heads: int = 1) -> np.ndarray:
        """Return the gain of each head, (heads, 1, d_k), or (1, d_k) if they share it."""
        given: Any = getattr(self, f"gain_{name}")
        gain = np.ones(d_k) if given is None else np.array(given)
        if gain.size == d_k:
            return gain.reshape(1, d_k)
        if gain.size != heads * d_k:
            each = f"expected {d_k}, one for each column of a head of {name}"
            more = f", or {heads * d_k}, one for each of all" if heads > 1 else ""
            raise ValueError(f"gain_{name} holds {gain.size} numbers; {each}{more}.")
        return gain.reshape(heads, 1, d_k)

    def gain_of_head(self, name: str, d_k: int, head: int, heads: int) -> np.ndarray:
        """Return the gain of the columns of one head, (d_k,); heads may share that of K."""
        given: Any = getattr(self, f"gain_{name}")
        gains = np.ones((1, d_k)) if given is None else np.reshape(given, (-1, d_k))
        return np.asarray(gains[head * len(gains) // heads])


def _root_mean(M: np.ndarray, axes: tuple[int, ...], eps: ArrayLike) -> np.ndarray:
    """Return √(mean of M² over the axes + eps), in at least float64."""
    wide = np.result_type(M.dtype, np.float64)
    squares = np.square(M, dtype=wide).sum(axis=axes, keepdims=True)
    count = max(int(np.prod([M.shape[axis] for axis in axes])), 1)
    return np.asarray(np.sqrt(squares / count + eps))
