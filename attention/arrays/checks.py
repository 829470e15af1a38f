"""The helpers of the one-screen formula: floats, checked shapes, a softmax that never leaks."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.conversion import as_array, as_numbers, held, kept, locked, shown

MOST = 2**31 - 1  # of anything counted: more fits into no memory


def as_floats(**arguments: ArrayLike) -> list[np.ndarray]:
    """Convert the arguments to arrays of one float type, at least float32; integers to float64.

    >>> [a.dtype.name for a in as_floats(Q=[[1]], K=np.ones((1, 1), "f4"))]
    ['float64', 'float64']
    """
    arrays = []
    for name, value in arguments.items():
        array = as_numbers(name, value)
        if array.ndim < 2:
            raise ValueError(f"{name} has shape {array.shape}; expected (tokens, features).")
        arrays.append(array)
    types = {a.dtype if a.dtype.kind == "f" else np.dtype(np.float64) for a in arrays}
    return [in_type(a, np.result_type(*types)) for a in arrays]


def in_type(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the array itself if it has this type, else a read-only copy."""
    return array if array.dtype == dtype else locked(array.astype(dtype))


def with_axes(name: str, value: ArrayLike, least: int, wanted: str) -> np.ndarray:
    """Convert an argument to an array, of any type, with at least ``least`` axes."""
    array = as_array(name, value)
    if array.ndim < least:
        raise ValueError(f"{name} has shape {array.shape}; expected {wanted}.")
    return array


def check_shapes(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> None:
    """Refuse Q, K and V that do not fit together, with the two numbers that disagree."""
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"Q has {Q.shape[-1]} columns and K has {K.shape[-1]}; both need the same d_k."
        )
    if Q.shape[-1] == 0:
        raise ValueError("Q and K have no columns; d_k needs to be at least 1.")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"K has {K.shape[-2]} rows and V has {V.shape[-2]}; there is one value for each key."
        )
    check_lead(Q, K, V)


def check_lead(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[int, ...]:
    """Return the leading axes of Q, K and V, broadcast."""
    if Q.ndim == K.ndim == V.ndim == 2:
        return ()
    try:
        return np.broadcast_shapes(Q.shape[:-2], K.shape[:-2], V.shape[:-2])
    except ValueError:
        raise ValueError(
            f"the leading axes {Q.shape[:-2]} of Q, {K.shape[:-2]} of K and {V.shape[:-2]} of V do"
            " not broadcast."
        ) from None


def shape_of_scores(Q: np.ndarray, K: np.ndarray) -> tuple[int, ...]:
    """Return the shape of Q Kᵀ, (…, n_q, n_k)."""
    lead = Q.shape[:-2]
    if K.shape[:-2] != lead:
        lead = np.broadcast_shapes(lead, K.shape[:-2])
    return (*lead, Q.shape[-2], K.shape[-2])


def check_mask(
    allowed: ArrayLike | None, bias: ArrayLike | None, shape: tuple[int, ...], dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return ``allowed`` in the shape of the scores and ``bias``, if given, in their float type.

    A key under a bias of −∞ is not allowed; so is one where the scores' type cannot hold the bias,
    as −1e300 in float32. Without a bias no cell is looked at.
    """
    seen = np.ones((), bool) if allowed is None else as_array("allowed", allowed)
    if seen.dtype != bool:
        raise TypeError(
            f"allowed {held(seen)}; expected booleans, True where a query may look at a key"
            " (write `mask == 1` or `mask == 0`)."
        )
    added = None if bias is None else _check_bias(bias, dtype)
    check_fits("allowed", seen, shape)
    if added is not None:
        check_fits("bias", added, shape)
        hides = added == -np.inf
        seen = locked(seen & ~hides) if hides.any() else seen
    return np.broadcast_to(kept(seen), shape), added


def _check_bias(bias: ArrayLike, dtype: np.dtype) -> np.ndarray:
    """Return the bias in the scores' float type."""
    wanted = "expected numbers to add to the scores"
    added = as_numbers("bias", bias, wanted)
    if added.dtype == bool:
        raise TypeError(f"bias holds bool; {wanted}.")
    refuse_counts("bias", added)
    return kept(in_type(added, dtype))


def refuse_counts(name: str, bias: np.ndarray) -> None:
    """Reject a bias of only 0 and 1: it is most likely a boolean mask and would hide nothing."""

    def only_counts(cells: np.ndarray) -> bool:
        return bool(((cells == 0) | (cells == 1)).all())

    first = bias[(0,) * (bias.ndim - 1)] if bias.size else bias  # row, which mostly settles it
    if bias.dtype != bool and only_counts(first) and bias.any() and only_counts(bias):
        raise ValueError(
            f"{name} holds only 0 and 1, like a mask; give allowed=(mask == 1) or (mask == 0)."
            " Where they are to be added, bias - 1 gives the same weights."
        )


def check_fits(name: str, mask: np.ndarray, shape: tuple[int, ...]) -> None:
    """Check ``allowed`` or ``bias`` against the shape of the scores: one rule for every function.

    They broadcast, as in NumPy, against the scores as the function returns them: (…, n_q, n_k), or
    (…, heads, n_q, n_k) with several heads. Two axes are queries and keys, whatever the batch; an
    axis of length 1 applies to every item or head. With three or more axes, but fewer than the
    scores have, the last one before the queries is for the heads. Such a mask is refused if its
    axes also fit the items of the batch, or only these.

    >>> check_fits("bias", np.ones((2, 3, 4)), (5, 2, 3, 4))
    >>> check_fits("bias", np.ones((2, 3, 4)), (2, 2, 3, 4))
    Traceback (most recent call last):
    ValueError: bias has shape (2, 3, 4) and the scores (2, 2, 3, 4); write bias[:, None] \
(one per item) or bias[None] (one per head).
    """
    sides = (1,) * (2 - mask.ndim) + mask.shape
    lead, missing = sides[:-2], len(shape) - len(sides)
    places = [  # where its leading axes would fit among those of the scores; the last is NumPy's
        at
        for at in range(missing + 1)
        if _broadcasts(sides, (*shape[at : at + len(lead)], *shape[-2:]))
    ]
    if not places:
        raise ValueError(f"{name} has shape {mask.shape}, which does not fit the scores {shape}.")
    if places != [missing] and set(lead) - {1}:
        kept = [":"] * len(lead)
        item = ["None"] * places[0] + kept + ["None"] * (missing - places[0])
        raise ValueError(
            f"{name} has shape {mask.shape} and the scores {shape}; write"
            f" {name}[{', '.join(item)}] (one per item) or"
            f" {name}[{', '.join(['None'] * missing)}] (one per head)."
        )


def _broadcasts(sides: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Check whether an array of these sides broadcasts to the shape, of as many axes."""
    return all(side in (1, most) for side, most in zip(sides, shape, strict=True))


def as_mask(name: str, value: ArrayLike) -> np.ndarray:
    """Convert an argument that is either a mask or a bias to an array."""
    return as_array(name, value)


def check_positive(name: str, given: Any) -> float:
    """Return an argument such as the scale as a float; raise unless positive and finite."""
    plain = given.detach() if hasattr(given, "detach") else given
    try:
        is_number = not isinstance(given, (bool, np.bool_, str, bytes)) and np.ndim(plain) == 0
        value = float(plain) if is_number else math.nan
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {shown(given)}; expected a positive number.")
    return value


def check_count(name: str, given: Any, least: int = 1) -> int:
    """Return an argument such as the number of heads as an int; raise if it is below ``least``.

    >>> check_count("heads", 2.0)
    Traceback (most recent call last):
    ValueError: heads is 2.0; expected a whole number from 1.
    """
    try:
        count = -1 if isinstance(given, (bool, np.bool_)) else operator.index(given)
    except TypeError:
        count = -1
    if count < least:
        raise ValueError(f"{name} is {shown(given)}; expected a whole number from {least}.")
    if count > MOST:
        raise ValueError(f"{name} is {shown(given)}; at most {MOST:,} is allowed.")
    return count


def check_switch(name: str, given: Any) -> bool:
    """Return an argument as a bool; raise unless it is True or False."""
    if not isinstance(given, (bool, np.bool_)):
        raise TypeError(f"{name} is {shown(given)}; expected True or False.")
    return bool(given)


def check_vector(record: object, name: str) -> None:
    """Keep a field of a frozen record, numbers in one row, as a tuple of floats, or as None."""
    given = getattr(record, name)
    if given is None:
        return
    numbers = as_numbers(name, given)
    if numbers.ndim != 1:
        raise ValueError(f"{name} has shape {numbers.shape}; expected numbers in one row.")
    if not numbers.size or not np.isfinite(numbers).all():
        what = "holds NaN or ∞" if numbers.size else "holds no number"
        raise ValueError(f"{name} {what}; expected finite numbers in one row.")
    object.__setattr__(record, name, tuple(numbers.astype(np.float64).tolist()))


def add_mask(
    scores: np.ndarray, bias: np.ndarray | None, allowed: np.ndarray, out: np.ndarray | None = None
) -> np.ndarray:
    """Return scores + bias where allowed and −∞ elsewhere, in ``out`` or a new array.

    >>> add_mask(np.array([[2.0, 3.0]]), np.array([0.5, 0.5]), np.array([[True, False]]))
    array([[ 2.5, -inf]])
    """
    masked = np.empty_like(scores) if out is None else out
    masked.fill(-np.inf)
    if bias is None:
        np.copyto(masked, scores, where=allowed)
    else:
        np.add(scores, bias, out=masked, where=allowed)
    return masked


def softmax_rows(
    masked: np.ndarray,
    allowed: np.ndarray,
    out: np.ndarray | None = None,
    sinks: np.ndarray | None = None,
) -> np.ndarray:
    """Return the softmax of the allowed cells of each row; all other cells are exactly 0.

    A row with no allowed cell is all 0. Hidden cells hold −∞ already. The row's maximum is
    subtracted first, so that exp never overflows. The weights are written to ``out``; default: a
    new array. ``sinks``, (…, n_q, 1), are one more score in each row's sum, of no key.

    >>> softmax_rows(np.array([[-800.0, -801.0, -802.0]]), np.ones((1, 3), bool)).round(3)
    array([[0.665, 0.245, 0.09 ]])
    >>> softmax_rows(np.zeros((1, 3)), np.ones((1, 3), bool), sinks=np.zeros((1, 1)))
    array([[0.25, 0.25, 0.25]])
    """
    anything = allowed.any(axis=-1, keepdims=True)
    highest = np.where(anything, masked.max(axis=-1, keepdims=True, initial=-np.inf), 0)
    if sinks is not None:
        highest = np.where(anything, np.maximum(highest, sinks), 0)
    weights = np.subtract(masked, highest, out=out)
    np.exp(weights, out=weights)
    total = np.where(anything, weights.sum(axis=-1, keepdims=True), 1)
    if sinks is not None:
        total += np.exp(sinks - highest)
    weights /= total
    if np.isnan(total).any():  # of such a row the hidden cells are NaN too
        np.copyto(weights, 0, where=~allowed)
    return weights


def weighted_sum(
    weights: np.ndarray, V: np.ndarray, allowed: np.ndarray, out: np.ndarray | None = None
) -> np.ndarray:
    """Return weights V, without hidden values that are NaN or inf (0 × NaN would be NaN)."""
    finite = np.isfinite(V)
    if finite.all():
        return np.matmul(weights, V, out=out)
    output = np.matmul(weights, np.where(finite, V, 0), out=out)
    bad = ~finite.all(axis=(*range(V.ndim - 2), -1))  # keys with NaN or inf
    _add_infinities(output, weights[..., bad], V[..., bad, :], allowed[..., bad])
    return output


def _add_infinities(
    output: np.ndarray, weights: np.ndarray, V: np.ndarray, allowed: np.ndarray
) -> None:
    """Add weight × value wherever a query looks at a value of NaN or ±inf, by the rules of IEEE.

    Each rule is a product of two matrices of 0 and 1, which counts the keys that it holds for.
    """

    def meet(query_key: np.ndarray, key_column: np.ndarray) -> np.ndarray:
        return query_key.astype(np.float32) @ key_column.astype(np.float32) > 0

    above, below = allowed & (weights > 0), allowed & (weights < 0)
    up, down = np.isposinf(V), np.isneginf(V)
    output[meet(above, up) | meet(below, down)] += np.inf
    output[meet(above, down) | meet(below, up)] -= np.inf
    no_number = meet(allowed & ~above & ~below, up | down)  # 0 · inf is NaN
    output[no_number | meet(allowed, np.isnan(V))] = np.nan
