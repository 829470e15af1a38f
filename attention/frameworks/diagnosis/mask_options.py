"""The options of the mask: what other code makes of the mask that both were given."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from attention.core.masks import causal, causal_lower_right, lead, sliding_window, window
from attention.frameworks.diagnosis.mistakes import NoRoom
from attention.limits import MAX_REORDERED


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


def _sides(allowed: np.ndarray) -> tuple[int, int, int, np.ndarray]:
    """Return how many keys before and after its own a query sees, the first query's place, and the
    keys that padding leaves.
    """
    try:
        _look_ahead(allowed)
    except NoRoom:
        pass
    else:
        raise NoRoom("look-ahead alone bounds it")
    n_q, n_k = allowed.shape[-2:]
    keys = np.asarray(allowed.any(axis=-2, keepdims=True))
    for past in dict.fromkeys((0, n_k - n_q)):
        ahead = lead(n_q, n_k, past)
        before = int(np.where(allowed, ahead, -1).max(initial=-1))
        after = int(np.where(allowed, -ahead, -1).max(initial=-1))
        most = max(before, after)
        for sides in ((most, most), (before, after)):  # padding may have cut one of equal sides
            if min(sides) < 0 or (ahead <= sides[0]).all() or (-ahead <= sides[1]).all():
                continue  # each side has to hide something: else it is no window
            inside = sliding_window(n_q, n_k, *sides, past)
            if (allowed == inside & keys).all():
                return *sides, past, keys
    raise NoRoom("the mask is no window")


def _sided(change: Callable[[int, int], tuple[int, int]]) -> Callable[[np.ndarray], np.ndarray]:
    """Return a window of both sides with other sides."""

    def sided(allowed: np.ndarray) -> np.ndarray:
        before, after, past, keys = _sides(allowed)
        if min(before, after) < 1:
            raise NoRoom("the window has one side")
        n_q, n_k = allowed.shape[-2:]
        before, after = change(before, after)
        return sliding_window(n_q, n_k, before, after, past) & keys

    return sided


def _window_alone(allowed: np.ndarray) -> np.ndarray:
    before, after, past, keys = _sides(allowed)
    if keys.all():
        raise NoRoom("there is no padding")
    n_q, n_k = allowed.shape[-2:]
    inside = sliding_window(n_q, n_k, before, after, past)
    return np.broadcast_to(inside, allowed.shape)


def _padding_alone(allowed: np.ndarray) -> np.ndarray:
    *_, keys = _sides(allowed)
    if keys.all():
        raise NoRoom("there is no padding")
    return np.broadcast_to(keys, allowed.shape)


def _documents(allowed: np.ndarray) -> np.ndarray:
    """Return which tokens share a document, where look-ahead and packed documents are the mask."""
    n_q, n_k = allowed.shape[-2:]
    if n_q != n_k or n_q < 2:
        raise NoRoom("there are no documents")
    follows = np.diagonal(allowed, -1, -2, -1)  # whether a token sees the one before
    starts = np.concatenate([np.zeros((*allowed.shape[:-2], 1), bool), ~follows], axis=-1)
    number = starts.cumsum(axis=-1)
    together: np.ndarray = number[..., :, None] == number[..., None, :]
    if together.all() or not (allowed == together & causal(n_q, n_k)).all():
        raise NoRoom("the mask is not of documents and look-ahead")
    return together


def _documents_lost(allowed: np.ndarray) -> np.ndarray:
    _documents(allowed)
    return np.broadcast_to(causal(*allowed.shape[-2:]), allowed.shape)


def _triangle(corner: Callable, *, beside: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Put a look-ahead mask beside the one given, or in its place."""

    def triangle(allowed: np.ndarray) -> np.ndarray:
        if allowed.all():
            raise NoRoom("no mask hides anything: the look-ahead mask was not given")
        mask = corner(*allowed.shape[-2:])
        return allowed & mask if beside else np.broadcast_to(mask, allowed.shape)

    return triangle


def _in_order(heads_first: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Give the masks, flattened head by head or item by item, to scores of the other order."""

    def ordered(allowed: np.ndarray) -> np.ndarray:
        if allowed.ndim != 4 or 1 in allowed.shape[:2]:
            raise NoRoom("there are no items of several heads")
        if allowed.size > MAX_REORDERED:
            raise NoRoom("there are too many cells")
        items, heads, n_q, n_k = allowed.shape
        if heads_first:
            found = allowed.swapaxes(0, 1).reshape(items, heads, n_q, n_k)
        else:
            found = allowed.reshape(heads, items, n_q, n_k).swapaxes(0, 1)
        if (found == allowed).all():
            raise NoRoom("the order makes no difference")
        return found

    return ordered


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
    "sides wider": _sided(lambda before, after: (before + 1, after + 1)),
    "sides narrower": _sided(lambda before, after: (before - 1, after - 1)),
    "last key short": _sided(lambda before, after: (before, after - 1)),
    "nothing after": _sided(lambda before, after: (before, 0)),
    "nothing before": _sided(lambda before, after: (0, after)),
    "window alone": _window_alone,
    "padding alone": _padding_alone,
    "documents lost": _documents_lost,
    "documents alone": _documents,
    "look-ahead added": _triangle(causal, beside=True),
    "look-ahead added, lower right": _triangle(causal_lower_right, beside=True),
    "look-ahead instead": _triangle(causal, beside=False),
    "look-ahead instead, lower right": _triangle(causal_lower_right, beside=False),
    "heads first": _in_order(True),
    "items first": _in_order(False),
    "of the first": _another(None),
    "of the next": _another(-1),
    "of the one before": _another(1),
}
