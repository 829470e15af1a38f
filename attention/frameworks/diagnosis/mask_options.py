"""The options of the mask: what other code makes of the mask that both were given."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from attention.core.masks import causal, causal_lower_right, lead, window
from attention.frameworks.diagnosis.mistakes import NoRoom


def _look_ahead(allowed: np.ndarray) -> tuple[Callable, np.ndarray]:
    """Return the corner of the look-ahead mask in this one, and the keys that padding leaves."""
    n_q, n_k = allowed.shape[-2:]
    for corner in (causal, causal_lower_right):
        if (allowed == corner(n_q, n_k)).all():
            return corner, np.ones((1, n_k), bool)
    keys = np.asarray(allowed.any(axis=-2, keepdims=True))
    for corner in (causal, causal_lower_right):
        if (allowed == corner(n_q, n_k) & keys).all():
            return corner, keys
    raise NoRoom("the mask is not a look-ahead mask")


def _shifted(by: int) -> Callable[[np.ndarray], np.ndarray]:
    """Look-ahead off by some keys: more may be seen, or fewer."""

    def shifted(allowed: np.ndarray) -> np.ndarray:
        corner, keys = _look_ahead(allowed)
        n_q, n_k = allowed.shape[-2:]
        past = by + (n_k - n_q if corner is causal_lower_right else 0)
        return np.tril(np.ones((n_q, n_k), bool), past) & keys

    return shifted


def _other_triangle(allowed: np.ndarray) -> np.ndarray:
    corner, keys = _look_ahead(allowed)
    n_q, n_k = allowed.shape[-2:]
    return (
        np.triu(np.ones((n_q, n_k), bool), n_k - n_q if corner is causal_lower_right else 0) & keys
    )


def _other_corner(allowed: np.ndarray) -> np.ndarray:
    corner, keys = _look_ahead(allowed)
    if allowed.shape[-1] == allowed.shape[-2]:
        raise NoRoom("both corners are one")
    other = causal if corner is causal_lower_right else causal_lower_right
    return other(*allowed.shape[-2:]) & keys


def _windowed(more: int | None) -> Callable[[np.ndarray], np.ndarray]:
    """Return a window that holds so many keys more; None: no window, all keys before the query."""

    def windowed(allowed: np.ndarray) -> np.ndarray:
        n_q, n_k = allowed.shape[-2:]
        keys = np.asarray(allowed.any(axis=-2, keepdims=True))
        for past in (0, n_k - n_q):
            behind = np.where(allowed, lead(n_q, n_k, past), -1)
            seen = int(behind.max(initial=-1)) + 1
            if not 0 < seen < n_q + past:
                continue
            if (allowed == window(n_q, n_k, seen, past) & keys).all():
                if more is not None and seen + more > 0:
                    return window(n_q, n_k, seen + more, past) & keys
                if more is None:
                    return causal(n_q, n_k, past) & keys
        raise NoRoom("the mask is no window")

    return windowed


def _padding(*, both: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Hide the queries of the tokens whose keys are hidden, instead or as well."""

    def padded(allowed: np.ndarray) -> np.ndarray:
        n_q, n_k = allowed.shape[-2:]
        keys = allowed.any(axis=-2, keepdims=True)
        if n_q != n_k or keys.all():
            raise NoRoom("there is no padding")
        queries = np.swapaxes(keys, -1, -2)
        if both:
            return allowed & queries
        if (allowed == keys).all():
            return np.broadcast_to(queries, allowed.shape)
        return _look_ahead(allowed)[0](n_q, n_k) & queries

    return padded


def _diagonal_shown(allowed: np.ndarray) -> np.ndarray:
    if allowed.shape[-1] != allowed.shape[-2]:
        raise NoRoom("which key is a query's own is not clear")
    return allowed | np.eye(allowed.shape[-1], dtype=bool)


def halves(allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the look-ahead mask and the padding whose product this mask is."""
    corner, keys = _look_ahead(allowed)
    if keys.all():
        raise NoRoom("there is no padding")
    return corner(*allowed.shape[-2:]), keys


def _padding_lost(allowed: np.ndarray) -> np.ndarray:
    return np.broadcast_to(halves(allowed)[0], allowed.shape)


def _look_ahead_lost(allowed: np.ndarray) -> np.ndarray:
    return np.broadcast_to(halves(allowed)[1], allowed.shape)


def _another(by: int | None) -> Callable[[np.ndarray], np.ndarray]:
    """Return the masks so many items or heads further on; None: the first for all."""

    def another(allowed: np.ndarray) -> np.ndarray:
        *lead, n_q, n_k = allowed.shape
        masks = allowed.reshape(math.prod(lead), n_q, n_k)
        if by is None:
            return np.broadcast_to(masks[0], allowed.shape)
        return np.roll(masks, by, axis=0).reshape(allowed.shape)

    return another


def _transposed(allowed: np.ndarray) -> np.ndarray:
    if allowed.shape[-1] != allowed.shape[-2]:
        raise NoRoom("a mask that is not square cannot be transposed unseen")
    if (allowed == allowed[..., :1, :]).all() and not allowed.all():
        raise NoRoom("padding as rows is said of it")
    return np.swapaxes(allowed, -1, -2)


MASKED: dict[str | None, Callable[[np.ndarray], np.ndarray]] = {
    None: lambda allowed: allowed,
    "inverted": np.logical_not,
    "ignored": np.ones_like,
    "transposed": _transposed,
    "other triangle": _other_triangle,
    "diagonal hidden": _shifted(-1),
    "one ahead": _shifted(1),
    "other corner": _other_corner,
    "no window": _windowed(None),
    "wider": _windowed(1),
    "narrower": _windowed(-1),
    "padding as rows": _padding(both=False),
    "padding both ways": _padding(both=True),
    "diagonal shown": _diagonal_shown,
    "both": lambda allowed: halves(allowed)[0] & allowed,
    "padding lost": _padding_lost,
    "look-ahead lost": _look_ahead_lost,
    "of the first": _another(None),
    "of the next": _another(-1),
    "of the one before": _another(1),
}
