"""Attention that a person can do by hand: three words and small whole numbers, made by a seed.

The keys have four numbers, so √d_k is 2. The powers of e that a softmax needs are given to two
decimals, and numbers are drawn until these, and the weights as they are printed, lead to the
weights and the output as they are printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from random import Random

import numpy as np

from attention.limits import MAX_EXERCISE
from attention.session.state.examples import OWN
from attention.session.state.matrix import Matrix
from attention.session.state.settings import Settings

Rows = list[list[int]]
Floats = list[list[float]]

DIGITS = 2  # behind the point, in what is asked and given
ROOT = 2  # √d_k
LARGEST = {"Q": 3, "K": 3, "V": 4, "scores": 8}  # whatever their sign
WIDEST = 4  # between two scaled scores of a row
SENTENCES = (
    "cats chase mice",
    "birds eat seeds",
    "dogs like bones",
    "bees make honey",
    "she reads books",
    "he bakes bread",
    "children play chess",
    "rain feeds rivers",
    "we plant trees",
    "fish need water",
    "they sing songs",
    "goats climb rocks",
)


@lru_cache(256)
def made(seed: int) -> Settings:
    """The attention of this seed, from 1: always the same numbers.

    >>> made(1).tokens, made(1).matrices["W_Q"].shape, made(1).mask
    (('birds', 'eat', 'seeds'), (2, 4), 'causal')
    """
    random = Random(seed)  # of which random() alone, which is the same in every Python
    words = tuple(SENTENCES[int(random.random() * len(SENTENCES))].split())
    while True:
        X = _drawn(random, 3, 2, 0, 2)
        W_Q, W_K = (_drawn(random, 2, ROOT**2, -1, 1) for _ in "QK")
        Q, K = _product(X, W_Q), _product(X, W_K)
        scores = _product(Q, _turned(K))
        if not _is_small(X, Q, K, scores):
            continue
        weights = _exact_weights(scores)
        if weights is None:
            continue
        for _ in range(20):
            W_V = _drawn(random, 2, 2, -1, 2)
            V = _product(X, W_V)
            if _gives_what_is_printed(weights, V):
                matrices = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}
                return Settings(
                    example=OWN,
                    tokens=words,
                    matrices={name: Matrix(np.array(rows)) for name, rows in matrices.items()},
                    mask="causal",
                    query=2,
                    digits=DIGITS,
                )


def next_seed(seed: int) -> int:
    """Of another one like it."""
    return seed % MAX_EXERCISE + 1


def powers(scores: Sequence[float], decimals: int = DIGITS) -> dict[float, str]:
    """e to the power of each of these, rounded, from the smallest.

    >>> powers([1.0, 0.5, -math.inf, 1.0])
    {0.5: '1.65', 1.0: '2.72'}
    """
    wanted = sorted({score for score in scores if math.isfinite(score)})
    return {score: f"{math.exp(score):.{decimals}f}" for score in wanted}


def _drawn(random: Random, rows: int, columns: int, least: int, most: int) -> Rows:
    return [
        [least + int(random.random() * (most + 1 - least)) for _ in range(columns)]
        for _ in range(rows)
    ]


def _product(A: Rows, B: Rows) -> Rows:
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in _turned(B)] for row in A
    ]


def _turned(A: Rows) -> Rows:
    return [list(column) for column in zip(*A, strict=True)]


def _is_small(X: Rows, Q: Rows, K: Rows, scores: Rows) -> bool:
    """Whether all is small enough, no word is nothing or as another, and the last row has three
    scores that differ.
    """
    for name, matrix in (("Q", Q), ("K", K), ("scores", scores)):
        if any(abs(value) > LARGEST[name] for row in matrix for value in row):
            return False
    differs = all(len(set(map(tuple, M))) == 3 and all(map(any, M)) for M in (X, Q, K))
    return differs and len(set(scores[2])) == 3 and len(set(scores[1][:2])) == 2


def _exact_weights(scores: Rows) -> Floats | None:
    """The weights behind a look-ahead mask; None where the powers as given lead to others, or they
    do not add up to 1 as they are printed.
    """
    weights = []
    for i, row in enumerate(scores):
        scaled = [score / ROOT for score in row[: i + 1]]
        if max(scaled) - min(scaled) > WIDEST:
            return None
        exact = [math.exp(x) for x in scaled]
        shares = [e / sum(exact) for e in exact]
        for less in (0.0, max(scaled)):  # taken from all of them, as the arithmetic does
            given = [float(text) for x in scaled for text in powers([x - less]).values()]
            if not all(map(_near, shares, [g / sum(given) for g in given])):
                return None
        if sum(round(10**DIGITS * share) for share in shares) != 10**DIGITS:
            return None
        weights.append(shares)
    return weights


def _gives_what_is_printed(weights: Floats, V: Rows) -> bool:
    """Whether the weights as they are printed give the output as it is printed."""
    columns = _turned(V)
    if any(abs(value) > LARGEST["V"] for row in V for value in row) or not all(map(any, V)):
        return False
    if columns[0] == columns[1] or not all(len(set(column)) > 1 for column in columns):
        return False
    for row in weights:
        printed = [float(f"{weight:.{DIGITS}f}") for weight in row]
        for column in zip(*V[: len(row)], strict=True):
            exact, by_hand = (
                sum(w * v for w, v in zip(each, column, strict=True)) for each in (row, printed)
            )
            if not _near(exact, by_hand):
                return False
    return True


def _near(exact: float, by_hand: float) -> bool:
    """Whether both are printed alike, and no rounding within it could change that."""
    least = 0.4 * 10.0**-DIGITS
    alike = f"{exact:.{DIGITS}f}" == f"{by_hand:.{DIGITS}f}"
    return alike and abs(exact - by_hand) < least
