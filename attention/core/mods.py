"""Functions of a score and its position, as FlexAttention takes them.

``score_mod(score, b, h, q, k)`` and ``mask_mod(b, h, q, k)`` are called once, with all scores and
with grids of indices that broadcast to them, so that a line written for one score serves all. Here
a line may also look along whole rows: ``score.max(axis=-1, keepdims=True)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from attention.arrays.conversion import as_array, as_numbers, held, shown

ScoreMod = Callable[..., Any]  # (score, b, h, q, k) → scores
MaskMod = Callable[..., Any]  # (b, h, q, k) → True where a query may look at a key
Grids = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
AT_ONCE = "it is called once for all scores, so write &, | and np.where for and, or and if"


def grids(shape: tuple[int, ...]) -> Grids:
    """Return the item, head, query and key of every score.

    They are integers that broadcast to (…, n_q, n_k). Of several leading axes the last one counts
    the heads; a single one counts the items.

    >>> b, h, q, k = grids((2, 3))
    >>> (q - k).tolist(), int(b), int(h)
    ([[0, -1, -2], [1, 0, -1]], 0, 0)
    >>> [grid.shape for grid in grids((2, 4, 3, 3))]
    [(2, 1, 1, 1), (4, 1, 1), (3, 1), (3,)]
    """
    *lead, n_q, n_k = shape
    items, heads = (lead[:-1], lead[-1:]) if len(lead) > 1 else (lead, [])
    b = np.arange(math.prod(items)).reshape(items + [1] * (len(heads) + 2) if items else [])
    h = np.arange(math.prod(heads)).reshape(heads + [1, 1] if heads else [])
    return b, h, np.arange(n_q)[:, None], np.arange(n_k)


def of_heads(mod: Any) -> Any:
    """Adapt a function to a single leading axis that counts heads; return others unchanged."""
    if not callable(mod):
        return mod
    return lambda *cells: mod(*cells[:-4], cells[-3], cells[-4], *cells[-2:])


def of_items(mod: Any, inner: int) -> Any:
    """Adapt a function to leading axes that all count items, ``inner`` in the last of them."""
    if not callable(mod):
        return mod
    return lambda *cells: mod(*cells[:-4], cells[-4] * inner + cells[-3], np.array(0), *cells[-2:])


def modify(score_mod: ScoreMod, scores: np.ndarray, places: Grids | None = None) -> np.ndarray:
    """Apply ``score_mod`` to the scores; the result has their shape and float type.

    ``places``: the grids of indices, where these are not all scores.

    >>> modify(lambda score, b, h, q, k: np.where(q >= k, score, -np.inf), np.ones((2, 2)))
    array([[  1., -inf],
           [  1.,   1.]])
    """
    places = grids(scores.shape) if places is None else places
    found = _called("score_mod", score_mod, scores.copy(), *places)
    made = as_numbers("what score_mod returned", found)
    return _spread("score_mod", made, scores.shape).astype(scores.dtype)


def mask_of(mask_mod: MaskMod, shape: tuple[int, ...], places: Grids | None = None) -> np.ndarray:
    """Return the mask that ``mask_mod`` gives, in the shape of the scores.

    ``places`` as in :func:`modify`.

    >>> mask_of(lambda b, h, q, k: q >= k, (2, 2)).astype(int)
    array([[1, 0],
           [1, 1]])
    """
    places = grids(shape) if places is None else places
    made = as_array("what mask_mod returned", _called("mask_mod", mask_mod, *places))
    if made.dtype != bool:
        raise TypeError(
            f"what mask_mod returned {held(made)}; expected booleans, True where a query may"
            " look at a key."
        )
    return _spread("mask_mod", made, shape)


def bias_of(bias: Callable[..., Any], shape: tuple[int, ...], places: Grids) -> np.ndarray:
    """Return what a function (b, h, q, k) adds to the scores at these places."""
    made = as_numbers("what bias returned", _called("bias", bias, *places))
    return _spread("bias", made, shape)


def _called(name: str, mod: Callable[..., Any], *cells: np.ndarray) -> Any:
    """Call the caller's function for all scores; raise one sentence if it is not made for that."""
    wanted = "(b, h, q, k)" if len(cells) == 4 else "(score, b, h, q, k)"
    if not callable(mod):
        raise TypeError(f"{name} is {shown(mod)}; expected a function of {wanted}.")
    try:
        return mod(*cells)
    except ValueError as error:
        if "ambiguous" in str(error):
            raise ValueError(f"{name} asks whether an array is true; {AT_ONCE}.") from error
        raise
    except TypeError as error:
        said = str(error)
        if "only integer scalar arrays" in said or "list indices must be" in said:
            raise TypeError(f"{name} takes an index of a list; write np.array(…)[q].") from error
        if "positional argument" in said:
            raise TypeError(f"{name} cannot be called with {wanted}: {said}.") from error
        raise


def _spread(name: str, made: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    try:
        return np.broadcast_to(made, shape)
    except ValueError:
        raise ValueError(
            f"what {name} returned has shape {made.shape}, which does not fit the scores {shape}."
        ) from None
