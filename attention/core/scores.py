"""The steps that scores may take between the scale and the weights.

A soft cap, sinks, a softmax in another precision, a sigmoid, somebody's own softmax, or none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from attention.arrays.blocks import blocks
from attention.arrays.checks import check_positive, in_type, softmax_rows
from attention.arrays.conversion import as_array, as_numbers, held, kept, locked, shown

CELLS = 2**14  # computed in one go where a step needs more memory than its result
SIGMOID, FUNCTION = "sigmoid", "function"  # instead of the softmax
NO_SINKS = "sinks are scores in a softmax's sum; give them with softmax=True."
Softmax = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (masked, allowed) → weights
AnySoftmax = bool | Literal["sigmoid"] | Softmax


def soft_cap(scaled: ArrayLike, softcap: float, out: np.ndarray | None = None) -> np.ndarray:
    """Return softcap · tanh(scaled / softcap): small scores unchanged, large ones within ±softcap.

    Gemma Team 2024, "Gemma 2: Improving Open Language Models at a Practical Size", section 2;
    ``softcap`` of ONNX, from opset 23. It belongs before the mask: after it, −∞ would become
    −softcap, and hidden keys would leak.

    Parameters
    ----------
    scaled : array_like, any shape
        The scaled scores.
    softcap : float
        The bound, in the unit of the scores.
    out : ndarray
        Where the result is written. Default: a new array.

    Raises
    ------
    ValueError
        If ``softcap`` is not a positive, finite number.
    TypeError
        If ``scaled`` does not hold numbers.

    >>> soft_cap(np.array([0.1, 100.0]), 2.0).round(4)
    array([0.0999, 2.    ])
    """
    scaled = as_numbers("scaled", scaled)
    scaled = in_type(scaled, scaled.dtype if scaled.dtype.kind == "f" else np.dtype(np.float64))
    cap = check_positive("softcap", softcap)
    capped = np.empty_like(scaled) if out is None else out
    wide = np.result_type(scaled.dtype, np.float64)  # a cap need not fit into float32
    for part, result in _parts(scaled, capped, dtype=wide):
        np.divide(part, cap, out=result)
        np.tanh(result, out=result)
        np.multiply(result, cap, out=result)
    return capped


def softmax_in(dtype: DTypeLike) -> Softmax:
    """Return a softmax computed in another float type, for ``softmax=``.

    Its weights have the type of the stages: ``softmax_precision`` of ONNX, from opset 23.

    Parameters
    ----------
    dtype : dtype_like
        A float type such as np.float32.

    Returns
    -------
    function (masked, allowed) → weights, all (…, n_q, n_k)

    Raises
    ------
    TypeError
        If ``dtype`` is not a float type.

    >>> softmax_in(np.float16)(np.array([[0.0, 1.0]]), np.array([[True, True]])).dtype.name
    'float64'
    """
    try:
        known = dtype is not None and np.issubdtype(dtype, np.floating)
    except TypeError:
        known = False
    if not known:
        raise TypeError(f"dtype is {shown(dtype)}; expected a float type such as np.float32.")
    return _SoftmaxIn(np.dtype(dtype))


@dataclass(frozen=True)
class _SoftmaxIn:
    """The softmax in that float type."""

    dtype: np.dtype

    def __call__(
        self,
        masked: np.ndarray,
        allowed: np.ndarray,
        out: np.ndarray | None = None,
        sinks: np.ndarray | None = None,
    ) -> np.ndarray:
        weights = np.empty_like(masked) if out is None else out
        for block in blocks(masked.shape, room=max(1, CELLS // max(1, masked.shape[-1]))):
            wide = block.rows_of(masked).astype(self.dtype)
            softmax_rows(wide, block.rows_of(allowed), out=wide)
            block.rows_of(weights)[...] = wide
        return weights


def check_sinks(sinks: ArrayLike | None, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return finite sinks that broadcast to the scores' leading axes, in their float type."""
    found = as_numbers("sinks", sinks, "expected a number, or one for each head")
    if found.dtype == bool or not np.isfinite(found).all():
        raise ValueError(f"sinks is {shown(sinks)}; expected finite numbers.")
    with np.errstate(over="ignore"):
        numbers = kept(in_type(found.reshape(()) if found.size == 1 else found, dtype))
    if not np.isfinite(numbers).all():
        raise ValueError(f"sinks is {shown(sinks)}; expected numbers that fit into {dtype}.")
    try:
        fits = np.broadcast_shapes(numbers.shape, shape[:-2]) == shape[:-2]
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"sinks has shape {numbers.shape}, which does not fit the leading axes {shape[:-2]} of"
            " the scores; expected a number, or one for each head."
        )
    return numbers


def share_of_sink(masked: np.ndarray, sinks: ArrayLike) -> np.ndarray:
    """Return the share of each row that its sink takes, (…, n_q): 1 − Σ of the row's weights.

    >>> share_of_sink(np.zeros((1, 3)), 0.0)
    array([0.25])
    """
    sink = np.asarray(sinks)[..., None]
    highest = np.maximum(masked.max(axis=-1, initial=-np.inf), sink)
    with np.errstate(all="ignore"):
        taken = np.exp(sink - highest)
        return np.asarray(taken / (taken + np.exp(masked - highest[..., None]).sum(axis=-1)))


def sigmoid(
    masked: np.ndarray,
    allowed: np.ndarray,
    out: np.ndarray | None = None,
    sinks: np.ndarray | None = None,
) -> np.ndarray:
    """Return 1 / (1 + exp(−masked)), each weight by itself; 0 for a hidden key.

    >>> sigmoid(np.array([[0.0, -800.0]]), np.array([[True, True]]))
    array([[0.5, 0. ]])
    """
    weights = np.empty_like(masked) if out is None else out
    with np.errstate(all="ignore"):
        for score, seen, weight in _parts(masked, allowed, weights, dtype=masked.dtype):
            small = np.exp(-np.abs(score))  # never overflows
            weight[...] = np.where(seen, np.where(score < 0, small, 1) / (1 + small), 0)
    return weights


def raw(
    masked: np.ndarray,
    allowed: np.ndarray,
    out: np.ndarray | None = None,
    sinks: np.ndarray | None = None,
) -> np.ndarray:
    """Return the masked scores themselves, without a softmax; 0 for a hidden key."""
    weights = np.empty_like(masked) if out is None else out
    weights.fill(0)
    np.copyto(weights, masked, where=allowed)
    return weights


def _parts(*arrays: np.ndarray, dtype: np.dtype) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield arrays of one shape in parts that fit into a core's cache, to avoid whole copies.

    Floats have the type ``dtype``; what is written to the last array is rounded to its own.
    """
    flags: list[Any] = ["external_loop", "buffered", "zerosize_ok"]
    ways: list[Any] = [["readonly"]] * (len(arrays) - 1) + [["writeonly"]]
    types = [M.dtype if M.dtype == bool else dtype for M in arrays]
    with np.nditer(arrays, flags, ways, types, casting="same_kind", buffersize=CELLS) as parts:
        yield from parts


def softmax_of(softmax: AnySoftmax) -> Callable[..., np.ndarray]:
    """Return the function that the argument ``softmax`` asks for; the caller's own is checked.

    The function takes (masked, allowed, out, sinks), where ``out`` is an array for the weights, or
    None. Only our softmax takes sinks.

    >>> softmax_of("none")
    Traceback (most recent call last):
    TypeError: softmax is 'none'; expected True, False, "sigmoid" or a function of (masked, \
allowed) → weights.
    """
    if isinstance(softmax, (bool, np.bool_)):
        return softmax_rows if softmax else raw
    if isinstance(softmax, str) and softmax == SIGMOID:
        return sigmoid
    if isinstance(softmax, _SoftmaxIn):
        return softmax
    if not callable(softmax):
        raise TypeError(
            f"softmax is {shown(softmax)}; expected True, False,"
            f' "{SIGMOID}" or a function of (masked, allowed) → weights.'
        )
    _refuse_fewer_arguments(softmax)
    return lambda masked, allowed, out=None, sinks=None: _watched(softmax, masked, allowed)


def kind_of(softmax: AnySoftmax) -> bool | str:
    """Return what a trace records: True, False, "sigmoid", or "function" for the caller's own."""
    if isinstance(softmax, str):
        return softmax
    return FUNCTION if callable(softmax) and not isinstance(softmax, _SoftmaxIn) else bool(softmax)


def _refuse_fewer_arguments(softmax: Softmax) -> None:
    """Raise if a function cannot be called with the masked scores and the mask."""
    try:
        taken = inspect.signature(softmax)
    except (TypeError, ValueError):  # it has no signature
        return
    try:
        taken.bind(None, None)
    except TypeError:
        raise TypeError(
            f"softmax is a function of {taken}; expected one of (masked, allowed) → weights."
        ) from None


def _watched(softmax: Softmax, masked: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the weights of the caller's function, which can neither change nor keep a stage."""
    weights = as_array("what softmax returned", softmax(masked.copy(), allowed.copy()))
    if weights.dtype != masked.dtype:
        raise TypeError(
            f"what softmax returned {held(weights)}; expected {masked.dtype}, as the scores are."
        )
    if weights.shape != masked.shape:
        raise ValueError(
            f"what softmax returned has shape {weights.shape};"
            f" expected that of the scores, {masked.shape}."
        )
    return locked(weights.copy())
