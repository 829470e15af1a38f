"""Queries and keys made by a rule, whose weights show a pattern that real heads have.

Each is drawn from a seed, in float32, for any number of tokens. How strong a score is grows with
the logarithm of their number: among twice as many keys the same share needs ln 2 more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attention.arrays.checks import check_count
from attention.arrays.conversion import shown

WIDTH = 64  # d_k, where none is asked for
NEAR = 32.0  # tokens: how far a local head looks
ABOVE = 3.0  # how far the score that a pattern is made of is above ln n
REPEATS = 4  # of the sequence that an induction head reads


class Made(NamedTuple):
    """Queries and keys of a pattern."""

    Q: np.ndarray  # (n, d_k)
    K: np.ndarray  # (n, d_k)
    ids: np.ndarray | None = None  # (n,), which word each token is, where words repeat


class Pattern(NamedTuple):
    """A kind of head."""

    label: str
    sentence: str
    make: Callable[[np.random.Generator, int, int], Made]


def made(name: str, tokens: int, d_k: int = WIDTH, *, seed: int = 0) -> Made:
    """Make Q and K of n tokens for a pattern of :data:`PATTERNS`.

    The scores are meant for the usual scale 1/√d_k, with a look-ahead mask or without one. The
    induction head is that of Olsson et al. 2022, "In-context Learning and Induction Heads", the
    sink that of Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks".

    Parameters
    ----------
    name : "random", "local", "induction" or "sink"
    tokens : int
        Number of tokens, n.
    d_k : int
        Numbers in each query and key, at least 2.
    seed : int
        The same seed always gives the same numbers.

    Returns
    -------
    Made
        Q and K, (n, d_k) in float32, and ids, (n,), or None if no word repeats.

    Raises
    ------
    ValueError
        If there is no such pattern, or ``tokens`` is not a whole number from 1, ``d_k`` not one
        from 2 or ``seed`` not one from 0.

    >>> Q, K, ids = made("induction", 8, seed=1)
    >>> Q.shape, K.dtype, ids.tolist()
    ((8, 64), dtype('float32'), [0, 1, 0, 1, 0, 1, 0, 1])
    """
    if name not in PATTERNS:
        raise ValueError(f"there is no pattern {shown(name)}; choose one of {', '.join(PATTERNS)}.")
    tokens, d_k = check_count("tokens", tokens), check_count("d_k", d_k, 2)
    rng = np.random.default_rng(check_count("seed", seed, 0))
    return PATTERNS[name].make(rng, tokens, d_k)


def _random(rng: np.random.Generator, n: int, d_k: int) -> Made:
    Q, K = rng.standard_normal((2, n, d_k), np.float32)
    return Made(Q, K)


def _local(rng: np.random.Generator, n: int, d_k: int) -> Made:
    """Make waves of many lengths, which agree at near positions.

    cos a cos b + sin a sin b = cos(a − b)

    With normal frequencies their mean is exp(−(distance / NEAR)² / 2): the random Fourier features
    of Rahimi and Recht 2007, "Random Features for Large-Scale Kernel Machines".
    """
    waves = rng.standard_normal(d_k // 2) / NEAR
    angles = np.arange(n)[:, None] * waves
    turned = np.concatenate([np.cos(angles), np.sin(angles)], axis=-1)
    strength = math.sqrt(_reach(n) * math.sqrt(d_k) / max(d_k // 2, 1))
    M = (strength * turned).astype(np.float32)
    if M.shape[1] < d_k:  # an odd column stays 0
        M = np.pad(M, ((0, 0), (0, 1)))
    return Made(M, M.copy())


def _induction(rng: np.random.Generator, n: int, d_k: int) -> Made:
    """Make a sequence of words that repeats, where the key of a token is the word before it.

    So a query finds what followed its own word before.
    """
    period = max(-(-n // REPEATS), 1)
    ids = np.arange(n) % period
    words = rng.standard_normal((period, d_k)).astype(np.float32)
    words /= np.linalg.norm(words, axis=-1, keepdims=True)
    strength = np.float32(math.sqrt(_reach(n) * math.sqrt(d_k)))
    Q = strength * words[ids]
    K = np.zeros_like(Q)
    K[1:] = Q[:-1]
    return Made(Q, K, ids)


def _sink(rng: np.random.Generator, n: int, d_k: int) -> Made:
    """Make queries that share a direction, and a first key in that direction."""
    Q, K = rng.standard_normal((2, n, d_k), np.float32)
    direction = rng.standard_normal(d_k).astype(np.float32)
    direction /= np.linalg.norm(direction)
    strength = np.float32(math.sqrt((_reach(n) - 2) * math.sqrt(d_k)))
    for M in (Q, K):  # the rest has nothing in that direction
        M -= (M @ direction)[:, None] * direction
    Q += strength * direction
    K[0] = strength * direction
    return Made(Q, K)


def _reach(n: int) -> float:
    """Return a score by which one of n keys gets most of the weight."""
    return math.log(max(n, 2)) + ABOVE


PATTERNS: dict[str, Pattern] = {
    "random": Pattern(
        "Random",
        "Queries and keys are unrelated: every key gets about the same weight.",
        _random,
    ),
    "local": Pattern(
        "Local",
        f"Queries agree with keys near them, within about {NEAR:g} tokens: a diagonal.",
        _local,
    ),
    "induction": Pattern(
        "Induction",
        "The words are repeated four times. A query looks for what followed its own word before:"
        " lines parallel to the diagonal.",
        _induction,
    ),
    "sink": Pattern(
        "Attention sink",
        "Every query gives most of its weight to the first token, which carries no meaning.",
        _sink,
    ),
}
