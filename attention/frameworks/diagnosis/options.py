"""The options of parts that are functions: splitting, joining, hiding, the softmax."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attention.arrays.checks import softmax_rows
from attention.arrays.layouts import join_heads, repeat_heads, split_heads
from attention.core.biases import alibi_slopes
from attention.core.masks import TUTORIAL_FILL, causal
from attention.core.rotary import PAIRS, Rotary
from attention.core.scores import sigmoid
from attention.frameworks.diagnosis.mistakes import FILLS, NoRoom
from attention.frameworks.given import Given

Options = dict[str, str | None]
Numbers = float | np.ndarray
Sinks = np.ndarray | None  # (…, 1, 1), one more score in each sum
UNSEEN_ALONG: dict[str | None, tuple[int, ...]] = {  # what one softmax runs over, if no row
    "queries": (-2,),
    "both axes": (-2, -1),
    "heads": (-3,),
}
APART = 0.05  # of a factor or a direction, at least, where another is told from it
TELLING = 8  # numbers, at least, that factors leave to be explained
CANCELLED = 1e3  # times, at most: a sum nearer to 0 is not told from others


def _reshaped(M: np.ndarray, heads: int) -> np.ndarray:
    *lead, n, width = M.shape
    return M.reshape(*lead, heads, n, width // heads)


def _interleaved(M: np.ndarray, heads: int) -> np.ndarray:
    *lead, n, width = M.shape
    return np.moveaxis(M.reshape(*lead, n, width // heads, heads), -1, -3)


def _of_the_first(M: np.ndarray, heads: int) -> np.ndarray:
    M = split_heads(M, heads)
    return np.broadcast_to(M[..., :1, :, :], M.shape)


def _rejoined(M: np.ndarray) -> np.ndarray:
    *lead, h, n, d = M.shape
    return M.reshape(*lead, n, h * d)


def _joined_in_turn(M: np.ndarray) -> np.ndarray:
    *lead, h, n, d = M.shape
    return np.moveaxis(M, -3, -1).reshape(*lead, n, d * h)


def _averaged(M: np.ndarray) -> np.ndarray:
    return M.mean(axis=-3)


def _mean_tiled(M: np.ndarray) -> np.ndarray:
    return np.concatenate([M.mean(axis=-3)] * M.shape[-3], axis=-1)


def _mean_repeated(M: np.ndarray) -> np.ndarray:
    return np.repeat(M.mean(axis=-3), M.shape[-3], axis=-1)


def tokens_first(g: Given) -> Given:
    """Return the inputs as they are read where the axis before the tokens counts as the tokens.

    Look-ahead is made anew for so many tokens; any other mask has to fit as it is.
    """
    before = 3 if g.heads == 1 else 4
    if len(g.shape) < before:
        raise NoRoom("no axis is before the tokens")
    items, (n_q, n_k) = g.shape[-before], g.shape[-2:]
    sources = {name: getattr(g, name) for name in ("Q", "K", "V", "X", "memory")}
    sources = {name: M for name, M in sources.items() if M is not None}
    if g.positions is not None:
        sources["X"] = sources["X"] + g.positions
    if n_q != n_k or min(items, n_q) < 2:
        raise NoRoom("there is one item, or as many keys as queries are needed")
    if any(M.ndim < 3 or M.shape[-3:-1] != (items, n_q) for M in sources.values()):
        raise NoRoom("not each of them has both axes")
    if any(M is not None and M.ndim > 2 for M in (g.W_Q, g.W_K, g.W_V, g.W_O)):
        raise NoRoom("the weights belong to items")
    if g.heads == 1 and (g.sinks is not None or g.relative is not None):
        raise NoRoom("they may belong to items")
    allowed = g.allowed
    if items != n_q:
        if g.bias is not None or (allowed is not None and not (allowed == causal(n_q, n_q)).all()):
            raise NoRoom("the mask would not fit")
        allowed = None if allowed is None else causal(items, items)
    swapped = {name: M.swapaxes(-2, -3) for name, M in sources.items()}
    shape = (*g.shape[:-before], n_q, *g.shape[-before + 1 : -2], items, items)
    return replace(g, **swapped, positions=None, allowed=allowed, shape=shape)


def recut(Q: np.ndarray, K: np.ndarray, V: np.ndarray, heads: int, option: str) -> list[np.ndarray]:
    """Return Q, K and V cut from one joint matrix of them by the layout that it does not have."""
    if not Q.shape == K.shape == V.shape:
        raise NoRoom("they do not come from one matrix")
    *lead, n, width = Q.shape
    joint = np.concatenate([Q, K, V], axis=-1)
    if option == "joint, by head":  # [q | k | v] is read as [q k v] of each head
        apart = np.moveaxis(joint.reshape(*lead, n, heads, 3, width // heads), -2, 0)
    else:
        apart = joint.reshape(*lead, n, 3, heads, width // heads).swapaxes(-3, -2)
        apart = np.moveaxis(apart.reshape(*lead, n, 3, width), -2, 0)
    return [M.reshape(Q.shape) for M in apart]


def _tiled(M: np.ndarray, heads: int) -> np.ndarray:
    return np.concatenate([M] * (heads // M.shape[-3]), axis=-3)


def _repeated_along_tokens(M: np.ndarray, heads: int) -> np.ndarray:
    *lead, g, n, d = M.shape
    return np.repeat(M, heads // g, axis=-2).reshape(*lead, heads, n, d)


def _tiled_along_tokens(M: np.ndarray, heads: int) -> np.ndarray:
    *lead, g, n, d = M.shape
    tokens = np.concatenate([M.swapaxes(-2, -3)] * (heads // g), axis=-3)
    return tokens.reshape(*lead, n, heads, d).swapaxes(-2, -3)


SHARED: dict[str | None, Callable[[np.ndarray, int], np.ndarray]] = {
    None: repeat_heads,
    "tiled": _tiled,
    "tokens": _repeated_along_tokens,
    "tokens, tiled": _tiled_along_tokens,
}


ROTATED_OTHERWISE = ("first head", "other axis", "other angles")  # options of :func:`rotated`


def rotated(rotary: Rotary, M: np.ndarray, option: str | None, first: int = 0) -> np.ndarray:
    """Rotate the rows of Q, K or V under this option; the first row is at position ``first``."""
    if option == "first head":
        M = M.copy()
        M[..., :1, :, :] = rotary.rotate(M[..., :1, :, :], first)
        return M
    if option == "other axis":
        return rotary.rotate(M.swapaxes(-2, -3), first).swapaxes(-2, -3)
    if option == "other angles":
        return _by_each_column(rotary, M, first)
    return rotary.rotate(M, first)


def _by_each_column(rotary: Rotary, M: np.ndarray, first: int) -> np.ndarray:
    """Rotate by the angles that the columns would have if the others were the pairs."""
    angles, columns = rotary.angles(M.shape, first), rotary.pairs_of(M.shape[-1])
    halves = rotary.pairs == PAIRS[0]
    each = np.repeat(angles, 2, axis=-1) if halves else np.concatenate([angles] * 2, axis=-1)
    found = M.copy()
    for (own, other), sign in zip((columns, columns[::-1]), (-1, 1), strict=True):
        cos, sin = np.cos(each[:, own]), sign * np.sin(each[:, own])
        found[..., own] = rotary.factor * (M[..., own] * cos + M[..., other] * sin)
    return found


def other_slopes(slopes: np.ndarray, heads: int, head: int | None, option: str) -> np.ndarray:
    """Return ALiBi's slopes by another formula, where these are its own, (…, h, 1, 1)."""
    at = slice(None) if head is None else slice(head, head + 1)
    steps = np.arange(1, heads + 1) - (option == "one step off")
    own, other = alibi_slopes(heads)[at], np.exp2(-8 * steps / heads)[at]
    if slopes.ndim < 3 and head is None and heads > 1:
        raise NoRoom("the heads share a slope")
    if heads == 1 or np.allclose(own, other) or not np.allclose(slopes[..., 0, 0], own):
        raise NoRoom("it is not ALiBi's, or makes no difference")
    return other[:, None, None] if slopes.ndim > 2 else other[:, None]


SPLIT: dict[str | None, Callable[[np.ndarray, int], np.ndarray]] = {
    None: split_heads,
    "reshaped": _reshaped,
    "interleaved": _interleaved,
    "none": lambda M, heads: M[..., None, :, :],
    "first": _of_the_first,
}
JOIN: dict[str | None, Callable[[np.ndarray], np.ndarray]] = {
    None: join_heads,
    "reshaped": _rejoined,
    "interleaved": _joined_in_turn,
    "first": lambda M: join_heads(np.broadcast_to(M[..., :1, :, :], M.shape)),
    "averaged": _averaged,
    "averaged, tiled": _mean_tiled,
    "averaged, repeated": _mean_repeated,
}


def _filled(filler: Numbers) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return lambda scores, allowed: np.where(allowed, scores, filler)


HIDING: dict[str | None, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    None: _filled(-np.inf),
    "NaN": _filled(-np.inf),
    "filled": _filled(TUTORIAL_FILL),
    "−1e9 added": lambda scores, allowed: np.where(allowed, scores, scores + TUTORIAL_FILL),
    "lowest twice": _filled(TUTORIAL_FILL),
    "+∞": _filled(np.inf),
    "0/1 added": lambda scores, allowed: scores + allowed,
    **{option: _filled(number) for option, number in FILLS.items()},
    "after softmax": lambda scores, allowed: scores,
}


def hiding(option: str | None, axes: int = 0) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return the function that hides scores; an option that is a number fills them with it."""
    return HIDING[option] if option in HIDING else _filled(numbers(option, axes))


def singly(option: str | None) -> list[str | None]:
    """Return an option of several numbers, ``base 2,3``, as options of one: base 2, base 3."""
    if option is None or not option[-1:].isdigit():
        return [option]
    *kind, listed = option.rpartition(" ")
    return ["".join(kind) + each for each in listed.split(",")]


def numbers(option: str | None, axes: int) -> Numbers:
    """Return the number that ends an option; several are tried at once, along a new first axis.

    >>> numbers("0.5", 2), numbers("factor 0.5,2", 2).shape
    (0.5, (2, 1, 1))
    """
    found = [float(str(each).rpartition(" ")[-1]) for each in singly(option)]
    return found[0] if len(found) == 1 else np.reshape(found, (-1, *(1,) * axes))


def _softmax_of_columns(masked: np.ndarray, visible: np.ndarray, sinks: Sinks = None) -> np.ndarray:
    columns = np.swapaxes(masked, -1, -2), np.swapaxes(visible, -1, -2)
    return np.swapaxes(softmax_rows(*columns, sinks=sinks), -1, -2)


def _softmax_of_all(masked: np.ndarray, visible: np.ndarray, sinks: Sinks = None) -> np.ndarray:
    flat = (*masked.shape[:-2], 1, masked.shape[-2] * masked.shape[-1])
    weights = softmax_rows(masked.reshape(flat), visible.reshape(flat), sinks=sinks)
    return weights.reshape(masked.shape)


def lost_to_cancelling(masked: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """Return by how much a sum of scores is known less well than its terms, within reason."""
    scores = np.where(visible, masked, 0)
    total = np.abs(scores.sum(axis=-1, keepdims=True))
    apart = np.abs(scores).sum(axis=-1, keepdims=True)
    return np.minimum(apart / np.where(total > 0, total, 1), CANCELLED)


def not_shifted(sinks: Sinks, masked: np.ndarray, option: str | None) -> np.ndarray:
    """Return sinks as large as if each row's largest score was subtracted from the scores alone."""
    if option not in (None, "queries") or sinks is None:
        raise NoRoom("a row is no plain softmax")
    rows = np.swapaxes(masked, -1, -2) if option else masked
    highest = rows.max(axis=-1, keepdims=True, initial=-np.inf)
    return sinks + np.where(np.isfinite(highest), highest, 0)


def hidden_after(
    weights: np.ndarray, allowed: np.ndarray, visible: np.ndarray, chosen: Options
) -> np.ndarray:
    """Return the weights with what becomes of hidden ones once they are made."""
    if chosen["hiding"] == "NaN":
        option = chosen["softmax"]
        axis = UNSEEN_ALONG.get(option, (-1,))
        seen = np.broadcast_to(allowed, weights.shape).any(axis=axis, keepdims=True)
        weights = np.where(seen, weights, np.nan)
        return SOFTMAX[None](weights, np.ones((), bool)) if option == "twice" else weights
    if chosen["hiding"] == "lowest twice":
        return np.where(visible.any(axis=-1, keepdims=True), weights, np.nan)
    return np.where(allowed, weights, 0) if chosen["hiding"] == "after softmax" else weights


def _softmax_of_heads(masked: np.ndarray, visible: np.ndarray, sinks: Sinks = None) -> np.ndarray:
    over = (np.moveaxis(M, -3, -1) for M in (masked, visible))
    return np.moveaxis(softmax_rows(*over), -1, -3)


def _divided(masked: np.ndarray, visible: np.ndarray, sinks: Sinks = None) -> np.ndarray:
    """Divide each row by its sum; a row that sees no key stays 0."""
    scores = np.where(visible, masked, 0)
    total = scores.sum(axis=-1, keepdims=True)
    return scores / np.where(visible.any(axis=-1, keepdims=True), total, 1)


def _softmax_twice(masked: np.ndarray, visible: np.ndarray, sinks: Sinks = None) -> np.ndarray:
    """Take a second softmax, which sees the hidden keys' weights of 0 as scores."""
    return softmax_rows(softmax_rows(masked, visible, sinks=sinks), np.ones((), bool))


SOFTMAX: dict[str | None, Callable[..., np.ndarray]] = {
    None: softmax_rows,
    "queries": _softmax_of_columns,
    "both axes": _softmax_of_all,
    "twice": _softmax_twice,
    "heads": _softmax_of_heads,
    "divided": _divided,
    "sigmoid": lambda masked, visible, sinks=None: sigmoid(masked, visible),
    "none": lambda masked, visible, sinks=None: masked,
}


def gate(parts: np.ndarray, others: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return the factors of these parts, (…, n, parts, columns), whose sum is nearest to theirs.

    Refuse where the factors would explain any numbers, or other parts as well, and where they are
    the same for all queries.
    """
    count, columns = parts.shape[-2:]
    if theirs.shape != (*parts.shape[:-2], columns) or not np.isfinite(theirs).all():
        raise NoRoom("there is no answer to fit to")
    if columns < 2 * count or not (np.isfinite(parts).all() and np.isfinite(others).all()):
        raise NoRoom("too few columns to tell, or some are not finite")
    inverse = np.linalg.pinv(parts, rcond=1e-10)  # (…, n, columns, parts)
    factor = (theirs[..., None, :] @ inverse)[..., 0, :]
    across = others - others @ inverse @ parts
    tells = (across**2).sum(axis=-1) > APART**2 * (others**2).sum(axis=-1)
    if tells.any(axis=-1).sum() * (columns - count) < TELLING or tells.sum() < 3:
        raise NoRoom("too few rows to tell")
    least = np.where(tells, factor, np.inf).min(axis=-2)
    most = np.where(tells, factor, -np.inf).max(axis=-2)
    if not (most - least > APART * np.abs(most)).any():
        raise NoRoom("the factor is one for all queries")
    return factor
