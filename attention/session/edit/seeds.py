"""The seed that Randomize goes on to: one whose numbers are not degenerate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attention.limits import MAX_SEED
from attention.session.state.run import run
from attention.session.state.settings import Settings, allowed
from attention.vocabulary.sentences import in_words

TRIED = 50  # seeds at most
ROUNDING = 1e-12  # of the largest product: what is smaller is a 0 but for rounding
FEW, MANY = 8, 128  # rows, which almost always settle what is asked of all
UNSEEN = 0.005  # a weight below it is 0.00 with two decimals
WEIGHTS = ("W_Q", "W_K", "W_V")


def following(seed: int) -> int:
    """Return the next seed; 0 after the largest."""
    return (seed + 1) % (MAX_SEED + 1)


def regular(draw: Callable[[int], Settings], seed: int) -> int:
    """Return the first seed from this one on whose numbers are worth a look; ``seed`` itself where
    none of 50 is.

    The settings that ``draw`` gives for it have no two equal or opposite columns of a weight and no
    query or key of 0 (that of a token whose vector is 0 does not count: it is 0 with any weights),
    and at least half of the weights of visible keys can be seen. Where none of 50 has such weights,
    as among hundreds of keys, the first without those columns, queries and keys is taken.
    """
    tried, first = seed, None
    for _ in range(TRIED):
        s = draw(tried)
        if not repetition(s) and not _has_zero(s):
            if not _is_peaked(s):
                return tried
            first = tried if first is None else first
        tried = following(tried)
    return seed if first is None else first


def repetition(s: Settings) -> str:
    """Return words that name two equal or opposite columns of each weight that has them, or ""."""
    found = {name: repeated_columns(s.matrices[name].values) for name in WEIGHTS if not s.typed_qkv}
    said = [_named(name, *columns) for name, columns in found.items() if columns]
    return in_words(said)


def _named(name: str, first: int, second: int, sign: int) -> str:
    if sign > 0:
        return f"columns {first + 1} and {second + 1} of {name} are equal"
    return f"column {second + 1} of {name} is minus column {first + 1}"


def repeated_columns(W: np.ndarray) -> tuple[int, int, int] | None:
    """Return (j, k, sign) with j < k and column k = sign · column j; None where there are none.

    Columns are looked up by their bytes, as comparing each pair would take too long.

    >>> repeated_columns(np.array([[1.0, 2.0, -1.0], [0.0, 1.0, 0.0]]))
    (0, 2, -1)
    """
    if len(W) > MANY and repeated_columns(W[:MANY]) is None:
        return None
    columns = W.T
    leading = columns[np.arange(len(columns)), (columns != 0).argmax(axis=1)]
    signs = np.where(leading < 0, -1, 1)
    seen: dict[bytes, int] = {}
    for k, column in enumerate(columns * signs[:, None] + 0.0):  # + 0.0: no −0
        j = seen.setdefault(column.tobytes(), k)
        if j != k:
            return j, k, int(signs[j] * signs[k])
    return None


def _has_zero(s: Settings) -> bool:
    """Check whether a head's query or key is 0."""
    if s.typed_qkv:
        item = s.item if s.batch else ...
        Q, K = (s.matrices[name].values[item] for name in "QK")
        return _is_zero(Q, s.heads) or _is_zero(K, s.kv_heads)
    values = {name: matrix.values for name, matrix in s.matrices.items()}
    X = values["X"] + values.get("P", 0.0)
    made = ("W_Q", X, s.heads, "b_Q"), ("W_K", values.get("memory", X), s.kv_heads, "b_K")
    return any(
        _gives_zero(source.reshape(-1, source.shape[-1]), values[W], values.get(b, 0.0), heads)
        for W, source, heads, b in made
    )


def _gives_zero(X: np.ndarray, W: np.ndarray, bias: np.ndarray | float, heads: int) -> bool:
    """Check whether a row of X W + bias is 0 in a head where the row of X is not."""
    X, largest = X[X.any(axis=1)], np.abs(W).max()
    for rows in np.split(X, (FEW, MANY)):
        least = ROUNDING * largest * np.abs(rows).max(axis=1, initial=0)
        # for a few rows, waking the threads of BLAS would take longer than the product
        product = np.einsum("ij,jk", rows, W) if len(rows) <= FEW else rows @ W
        if _is_zero(product + bias, heads, least):
            return True
    return False


def _is_zero(M: np.ndarray, heads: int, least: np.ndarray | float = 0.0) -> bool:
    """Check whether a row of M, of one head, has no number larger than ``least``."""
    largest = np.abs(M.reshape(len(M), heads, M.shape[1] // heads)).max(axis=2)
    return bool((largest <= np.reshape(least, (-1, 1))).any())


def _is_peaked(s: Settings) -> bool:
    """Check whether more than half of the weights of visible keys are too small to be seen, with
    the scores divided by √d_k and without a soft cap: switching these off is for the user to try.
    """
    if allowed(s).sum(axis=-1).min() * UNSEEN > 1:
        return True  # so small even if all keys get the same
    trace = run(replace(s, scale=None, softcap=None, softmax=s.softmax or True))
    picked = s.item if s.batch and s.typed_qkv else ...  # the others stay whatever the seed
    weights, seen = trace.weights[picked], trace.allowed[picked]
    return bool(2 * (weights[seen] < UNSEEN).sum() > seen.sum())
