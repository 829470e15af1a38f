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
    """The bell curve with mean 0 and variance 1."""
    return rng.standard_normal(shape)


def uniform(shape: Shape, rng: Generator) -> np.ndarray:
    """Evenly between −√3 and √3: the width at which the variance, width² / 12, is 1."""
    return rng.uniform(-math.sqrt(3), math.sqrt(3), shape)


def signs(shape: Shape, rng: Generator) -> np.ndarray:
    """−1 or 1, equally likely.

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
    """What the samples of one kind of scores, raw or scaled, came to."""

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
    """1, 2, 4 … up to ``d_k``, which is the last one whether or not it is a power of two.

    >>> ladder(10)
    (1, 2, 4, 8, 10)
    """
    if d_k < 1:
        raise ValueError(f"d_k is {d_k}; expected a whole number from 1 on.")
    return (*(2**p for p in range(d_k.bit_length()) if 2**p < d_k), d_k)


def draw_scores(distribution: str, d_k: int, seed: int, queries: int, keys: int = 1) -> np.ndarray:
    """(queries, keys), the scores q · k of sampled queries, each with keys of its own.

    The numbers depend on the arguments alone, not on what was drawn before; more queries leave
    the first ones as they are. At most about CHUNK sampled numbers are held at a time, however many
    are drawn.

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
    """Two (rows, N_KEYS), the weights of some queries without the scale and with it.

    ``samples`` queries, but at most MOST_ROWS.
    """
    scores = draw_scores(distribution, d_k, seed, min(samples, MOST_ROWS), N_KEYS)
    every = np.ones(scores.shape, bool)
    return softmax_rows(scores, every), softmax_rows(scores / math.sqrt(d_k), every)


@lru_cache(maxsize=1024)
def measure(distribution: str, d_k: int, seed: int, samples: int) -> Point:
    """Variance of ``samples`` scores, and sharpness of weights in rows of their own, at one d_k.

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
    """One point for each d_k of the ladder; a higher ladder leaves the points there as they are."""
    return tuple(measure(distribution, step, seed, samples) for step in ladder(d_k))


@lru_cache(maxsize=64)
def middle_row(distribution: str, d_k: int, seed: int, samples: int) -> np.ndarray:
    """(2, N_KEYS), one row's weights without the scale and with it.

    About half of the sampled rows are sharper.
    As :func:`measure`, it is computed once; nobody may write into it.
    """
    raw, scaled = draw_rows(distribution, d_k, seed, samples)
    middle = largest(raw).argsort()[len(raw) // 2]
    return locked(np.stack([raw[middle], scaled[middle]]))


def histogram(scores: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(b,) counts and (b + 1,) edges, a quarter of a standard deviation each.

    Whole scores lie two apart (a changed sign moves the sum by 2), so their bins are an even number
    wide; else some bins would hold one value more than their neighbours, and the histogram be a
    comb that is not in the numbers.

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
    """:func:`histogram` of the scores :func:`measure` samples, computed once and read-only."""
    counts, edges = histogram(draw_scores(distribution, d_k, seed, samples))
    return locked(counts), locked(edges)


@dataclass(frozen=True)
class Prediction:
    """What independent entries of Q and K would make of the scores' variance.

    From their means and variances.
    """

    centred: float  # d_k · var(Q) · var(K): all there is where the means are 0
    full: float  # … + d_k · (mean(Q)² · var(K) + mean(K)² · var(Q))

    @property
    def applies(self) -> bool:
        """Whether the means are so near to 0 that they add at most a tenth to the short formula."""
        return self.full <= 1.1 * self.centred


def predict(Q: ArrayLike, K: ArrayLike) -> Prediction:
    """The variance of q · k for independent entries spread like those of Q and K.

    Q is (n_q, d_k), K is (n_k, d_k).

    Var(q k) = E[q²] E[k²] − E[q]² E[k]² = σ_q² σ_k² + μ_q² σ_k² + μ_k² σ_q²

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
