"""Matrices side by side: ours, another's, and the difference, in colours that can be compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from attention.colours import around_zero
from attention.figures.panes import Pane, Words, pane
from attention.frameworks.differing import limits_of
from attention.frameworks.distance import largest_finite
from attention.frameworks.records import Answer
from attention.trace import AttentionTrace

Labels = tuple[Sequence[str], ...]  # of rows and of columns


class Compared(NamedTuple):
    """One matrix of a comparison."""

    key: str
    matrix: np.ndarray
    limits: tuple[float, float]  # of its colours
    hidden: np.ndarray | None


def compared(
    name: str,
    ours: np.ndarray,
    theirs: np.ndarray,
    difference: np.ndarray | None,
    labels: Callable[[np.ndarray], Labels],
    *,
    words: Sequence[tuple[str, str]],
    digits: int = 2,
) -> list[Pane]:
    """Panes of two matrices, and of theirs less ours where they have one shape.

    ``labels``: for each matrix the labels of its rows and columns. ``words``: the three symbols,
    and the sentence of each.
    """
    both, _, *apart = limits_of(name, [M for M in (ours, theirs, difference) if M is not None])
    matrices = [
        Compared("ours", ours, both, np.isneginf(ours)),
        Compared("theirs", theirs, both, np.isneginf(theirs)),
    ]
    if difference is not None:
        matrices.append(Compared("difference", difference, apart[0], None))
    panes = []
    for (key, matrix, limits, hidden), (symbol, sentence) in zip(matrices, words, strict=False):
        rows, columns = labels(matrix)
        panes.append(
            pane(
                f"{name}_{key}",
                matrix,
                rows,
                columns,
                limits=limits,
                digits=digits,
                hidden=hidden,
                words=_words(name, symbol, sentence),
            )
        )
    return panes


def beside_ours(
    ours: AttentionTrace,
    answers: Sequence[tuple[str, str, Answer]],
    labels: dict[str, tuple[str, ...]],
    digits: int = 2,
) -> list[Pane]:
    """Weights and output of ours, then of each (name, title, answer): a group of two panes each.

    Each answer has both arrays.
    """
    everyone: list[tuple[str, str, AttentionTrace | Answer]] = [("ours", "ours", ours), *answers]

    def most(stage: str) -> float:
        return max(largest_finite(getattr(answer, stage)) for *_, answer in everyone)

    limits = {
        "weights": _limits(most("weights"), share=True),
        "output": _limits(most("output"), share=False),
    }
    return [
        pane(
            f"{stage}_{name}",
            getattr(answer, stage),
            labels["queries"],
            labels[columns],
            limits=limits[stage],
            digits=digits,
            hidden=~ours.allowed if answer is ours and stage == "weights" else None,
            words=_words(name, title if stage == "weights" else "", stage),
        )
        for name, title, answer in everyone
        for stage, columns in (("weights", "keys"), ("output", "d_v"))
    ]


def _limits(most: float, share: bool) -> tuple[float, float]:
    """The colours' range: of shares, unless one is above 1; else as far on both sides of 0."""
    return (0, 1) if share and most <= 1 else around_zero(most)


def _words(group: str, symbol: str, sentence: str) -> Words:
    return {"group": group, "symbol": symbol, "formula": "", "sentence": sentence}
