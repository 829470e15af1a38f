"""Why the scores are divided by √d_k: how far products of sampled queries and keys spread.

And what softmax makes of them. E[q_i k_i] = 0 and Var(q_i k_i) = 1, so

Var(q · k) = Σ Var(q_i k_i) = d_k        Vaswani et al. 2017, footnote 4
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from attention.arrays.checks import softmax_rows
from attention.arrays.conversion import as_array, locked
from attention.arrays.statistics import entropy, largest, variance
from attention.vocabulary.choices import Choice

Shape = tuple[int, ...]

N_KEYS = 16  # keys in each row that goes through the softmax
MOST_ROWS = 300  # of them at one d_k; more would cost more than they show
CHUNK = 2**18  # sampled numbers held at a time


def normal(shape: Shape, rng: Generator) -> np.ndarray:
    """Draw from the standard normal distribution: mean 0, variance 1.

    >>> normal((2, 3), np.random.default_rng(0)).shape
    (2, 3)
    """
    return rng.standard_normal(shape)


def uniform(shape: Shape, rng: Generator) -> np.ndarray:
    """Draw evenly between −√3 and √3: the width at which the variance, width² / 12, is 1.

    >>> drawn = uniform((1000,), np.random.default_rng(0))
    >>> bool(np.abs(drawn).max() < math.sqrt(3))
    True
    """
    return rng.uniform(-math.sqrt(3), math.sqrt(3), shape)


def signs(shape: Shape, rng: Generator) -> np.ndarray:
    """Draw −1 or 1, equally likely.

    >>> signs((2, 4), np.random.default_rng(0))
    array([[ 1.,  1.,  1., -1.],
           [-1., -1., -1., -1.]])
    """
    return 2.0 * rng.integers(0, 2, shape) - 1


DISTRIBUTIONS: dict[str, Choice[[Shape, Generator], np.ndarray]] = {  # each: mean 0, variance 1
    "normal": Choice("normal", normal),
    "uniform": Choice("uniform", uniform),
    "signs": Choice("±1", signs),
}


@dataclass(frozen=True)
class Measured:
    """Measurements of one kind of scores, raw or scaled."""

    variance: float  # of all samples, ddof 0
    margin: float  # two standard errors of that variance: how far chance alone takes it
    largest: float  # the largest of N_KEYS weights, mean of the rows
    entropy: float  # −Σ w ln w of N_KEYS weights, mean of the rows
    slope: float  # Σ w (1 − w), mean of the rows: how much weights still answer to their scores


@dataclass(frozen=True)
class Point:
    """The samples at one d_k, without the scale and with it."""

    d_k: int
    raw: Measured
    scaled: Measured


def ladder(d_k: int) -> tuple[int, ...]:
    """Return 1, 2, 4, … and ``d_k``, which is the last one whether or not it is a power of two.

    Raises
    ------
    ValueError
        If ``d_k`` is below 1.

    >>> ladder(10)
    (1, 2, 4, 8, 10)
    """
    if d_k < 1:
        raise ValueError(f"d_k is {d_k}; expected a whole number from 1 on.")
    return (*(2**p for p in range(d_k.bit_length()) if 2**p < d_k), d_k)


def draw_scores(distribution: str, d_k: int, seed: int, queries: int, keys: int = 1) -> np.ndarray:
    """Draw queries, each with its own keys, and return their scores q · k, unscaled.

    The numbers depend on the arguments only, not on what was drawn before; more queries leave the
    first ones as they are. At most about CHUNK sampled numbers are in memory at a time.

    Parameters
    ----------
    distribution : "normal", "uniform" or "signs"
        Of the entries of queries and keys, with mean 0 and variance 1.
    d_k : int
        Numbers in each query and key.
    seed : int
    queries, keys : int
        Number of queries, and of keys for each of them.

    Returns
    -------
    ndarray, (queries, keys)

    Raises
    ------
    ValueError
        If there is no such distribution, ``d_k``, ``queries`` or ``keys`` is below 1, or ``seed``
        is negative.

    >>> draw_scores("signs", d_k=4, seed=0, queries=5)[:, 0]
    array([ 0.,  0.,  0., -2.,  2.])
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(
            f"there is no distribution {distribution!r}; choose one of {', '.join(DISTRIBUTIONS)}."
        )
    for name, count in (("d_k", d_k), ("queries", queries), ("keys", keys)):
        if count < 1:
            raise ValueError(f"{name} is {count}; expected a whole number from 1 on.")
    draw = DISTRIBUTIONS[distribution]
    q_rng, k_rng = (np.random.default_rng([seed, d_k, keys, which]) for which in (0, 1))
    scores = np.empty((queries, keys))
    step = max(1, CHUNK // (keys * d_k))
    for start in range(0, queries, step):
        rows = min(step, queries - start)
        q, k = draw((rows, 1, d_k), q_rng), draw((rows, keys, d_k), k_rng)
        scores[start : start + rows] = (q * k).sum(axis=-1)
    return scores


def draw_rows(
    distribution: str, d_k: int, seed: int, samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of N_KEYS scores and return their weights, without the scale and with it.

    Parameters
    ----------
    distribution, d_k, seed : as in :func:`draw_scores`
    samples : int
        Number of rows, of which at most MOST_ROWS are drawn.

    Returns
    -------
    tuple of two ndarray, (rows, N_KEYS)
        softmax(q · k) and softmax(q · k / √d_k).

    Raises
    ------
    ValueError
        As :func:`draw_scores`.

    >>> raw, scaled = draw_rows("normal", d_k=64, seed=0, samples=5)
    >>> scaled.shape, bool(raw.max() > scaled.max())
    ((5, 16), True)
    """
    scores = draw_scores(distribution, d_k, seed, min(samples, MOST_ROWS), N_KEYS)
    every = np.ones(scores.shape, bool)
    return softmax_rows(scores, every), softmax_rows(scores / math.sqrt(d_k), every)


@lru_cache(maxsize=1024)
def measure(distribution: str, d_k: int, seed: int, samples: int) -> Point:
    """Measure the variance of sampled scores, and how sharp their weights are, at one d_k.

    Vaswani et al. 2017, footnote 4: the variance of q · k is d_k, and that of q · k / √d_k is 1.
    The same arguments are computed once.

    Parameters
    ----------
    distribution, d_k, seed : as in :func:`draw_scores`
    samples : int
        Number of scores; the weights are those of separate rows, see :func:`draw_rows`.

    Raises
    ------
    ValueError
        As :func:`draw_scores`.

    >>> point = measure("normal", d_k=64, seed=0, samples=1000)
    >>> round(point.raw.variance, 1), round(point.scaled.variance, 2)
    (68.2, 1.07)
    """
    scores = draw_scores(distribution, d_k, seed, samples)
    found = [
        Measured(
            variance(spread),
            _margin(spread),
            float(largest(weights).mean()),
            float(entropy(weights).mean()),
            float((weights * (1 - weights)).sum(axis=-1).mean()),
        )
        for spread, weights in zip(
            (scores, scores / math.sqrt(d_k)),
            draw_rows(distribution, d_k, seed, samples),
            strict=True,
        )
    ]
    return Point(d_k, *found)


def measure_all(distribution: str, d_k: int, seed: int, samples: int) -> tuple[Point, ...]:
    """Measure at each d_k of the ladder; a higher ladder leaves lower points unchanged.

    The arguments and errors are those of :func:`measure`.

    >>> [point.d_k for point in measure_all("signs", d_k=4, seed=0, samples=10)]
    [1, 2, 4]
    """
    return tuple(measure(distribution, step, seed, samples) for step in ladder(d_k))


@lru_cache(maxsize=64)
def middle_row(distribution: str, d_k: int, seed: int, samples: int) -> np.ndarray:
    """Return a typical row of weights, without the scale and with it, (2, N_KEYS).

    About half of the sampled rows are sharper. The same arguments are computed once; the result is
    read-only. The arguments and errors are those of :func:`draw_rows`.

    >>> middle_row("normal", d_k=64, seed=0, samples=100).shape
    (2, 16)
    """
    raw, scaled = draw_rows(distribution, d_k, seed, samples)
    middle = largest(raw).argsort()[len(raw) // 2]
    return locked(np.stack([raw[middle], scaled[middle]]))


def histogram(scores: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Count scores in bins that are a quarter of a standard deviation wide.

    Whole scores are two apart (a changed sign moves the sum by 2), so their bins are an even number
    wide; otherwise some bins would hold one value more than their neighbours and the histogram
    would look like a comb, which the numbers are not.

    Parameters
    ----------
    scores : array_like, any shape, not empty

    Returns
    -------
    counts, edges : ndarray, (b,), (b + 1,)
        Edges are in the unit of the scores.

    Raises
    ------
    ValueError
        If ``scores`` is empty, or holds NaN, infinity or text.

    >>> histogram([-2.0, 0.0, 0.0, 2.0])
    (array([1, 2, 1]), array([-3., -1.,  1.,  3.]))
    """
    scores = np.asarray(as_array("scores", scores), float).ravel()
    width, start = scores.std() / 4 if np.ptp(scores) else 1.0, 0.0
    if (scores == np.rint(scores)).all():
        width, start = 2.0 * max(1, round(width / 2)), scores[0] - 1
    first, last = (
        math.floor((scores.min() - start) / width),
        math.floor((scores.max() - start) / width),
    )
    counts, edges = np.histogram(scores, start + width * np.arange(first, last + 2))
    return counts, edges


@lru_cache(maxsize=64)
def sampled_histogram(
    distribution: str, d_k: int, seed: int, samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Count the scores that :func:`measure` samples as :func:`histogram` does.

    The same arguments are computed once; the result is read-only. The arguments and errors are
    those of :func:`measure`.

    >>> counts, edges = sampled_histogram("normal", d_k=4, seed=0, samples=100)
    >>> int(counts.sum()), len(edges) - len(counts)
    (100, 1)
    """
    counts, edges = histogram(draw_scores(distribution, d_k, seed, samples))
    return locked(counts), locked(edges)


@dataclass(frozen=True)
class Prediction:
    """The variance of the scores if the entries of Q and K were independent.

    From their means and variances.
    """

    centred: float  # d_k · var(Q) · var(K): all there is where the means are 0
    full: float  # … + d_k · (mean(Q)² · var(K) + mean(K)² · var(Q))

    @property
    def applies(self) -> bool:
        """Return whether the means are near 0: they add at most a tenth to ``centred``."""
        return self.full <= 1.1 * self.centred


def predict(Q: ArrayLike, K: ArrayLike) -> Prediction:
    """Return the variance of q · k for independent entries distributed like those of Q and K.

    Var(q k) = E[q²] E[k²] − E[q]² E[k]² = σ_q² σ_k² + μ_q² σ_k² + μ_k² σ_q²

    Parameters
    ----------
    Q, K : array_like, (n_q, d_k), (n_k, d_k)

    Raises
    ------
    ValueError
        If Q or K does not hold numbers.

    >>> predict([[1.0, -1.0]], [[3.0, 5.0]])
    Prediction(centred=2.0, full=34.0)
    """
    Q, K = (np.asarray(as_array(*given), float) for given in (("Q", Q), ("K", K)))
    d_k, q, k = Q.shape[-1], variance(Q), variance(K)
    return Prediction(
        d_k * q * k, d_k * (q * k + float(Q.mean()) ** 2 * k + float(K.mean()) ** 2 * q)
    )


def _margin(samples: np.ndarray) -> float:
    squares = (samples - samples.mean()) ** 2
    return float(2 * squares.std() / math.sqrt(samples.size))
