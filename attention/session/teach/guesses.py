"""The questions that Why √d_k asks before it shows its figures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from attention.samples.variance import N_KEYS, Point
from attention.vocabulary.numbers import number, numbers

GUESSED_D_K = 64


@dataclass(frozen=True)
class Guess:
    """A question, and its answer for whoever has guessed."""

    question: str
    options: Sequence[str]
    right: Collection[str]
    answer: str


def guesses(point: Point) -> tuple[Guess, Guess]:
    """What one is asked of queries and keys of 64 numbers: their spread, and what softmax makes
    of it. ``point`` holds what was measured of as many samples as the page draws.
    """
    raw, scaled = point.raw, point.scaled
    shares = [1 / N_KEYS, scaled.largest, (scaled.largest + raw.largest) / 2, raw.largest]
    options = numbers(np.array(shares), 2)
    return (
        Guess(
            f"A query and a key have {point.d_k} numbers each, drawn with variance 1. How large is"
            " the variance of q · k?",
            ("1", "8", "64", "4,096"),
            (f"{point.d_k}",),
            f"It adds up {point.d_k} products, each with variance 1, and variances of independent"
            f" terms add up: {point.d_k}. The samples below have {number(raw.variance, 1)}.",
        ),
        Guess(
            f"Softmax makes shares of {N_KEYS} such scores, undivided. How large is the largest of"
            " them, on average?",
            options,
            (options[-1],),
            f"It is {options[-1]} of the samples, so one key takes nearly all; divided by √d_k the"
            f" largest share is {options[1]}, and even shares would be {options[0]}.",
        ),
    )
