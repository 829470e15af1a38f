"""Matrices side by side: ours, another's, and the difference, in colours that can be compared."""

from __future__ import annotations

import numpy as np

from attention.colours import around_zero
from attention.figures.panes import pane
from attention.frameworks.distance import largest_finite

PALE = 1e-3  # differences are coloured against this share of the numbers at least, so that rounding stays pale


def compared(
    name: str,
    ours: np.ndarray,
    theirs: np.ndarray,
    difference: np.ndarray | None,
    labels,
    *,
    words,
    digits: int = 2,
) -> list[dict]:
    """Panes of two matrices, and of theirs less ours where they have one shape.

    ``labels``: for each matrix the labels of its rows and columns. ``words``: the three symbols, and the sentence
    of each.
    """
    shown = [ours, theirs] if difference is None else [ours, theirs, difference]
    share = name.startswith("weights")
    most = max(largest_finite(ours), largest_finite(theirs))
    limits = (0, 1) if share and most <= 1 else around_zero(most)
    apart = (
        None if difference is None else around_zero(max(largest_finite(difference), PALE * most))
    )
    ranges = [limits, limits, apart]
    keys = ("ours", "theirs", "difference")
    return [
        pane(
            f"{name}_{key}",
            matrix,
            *labels(matrix),
            limits=limit,
            digits=digits,
            hidden=np.isneginf(matrix) if key != "difference" else None,
            words={"group": name, "symbol": symbol, "formula": "", "sentence": sentence},
        )
        for key, matrix, limit, (symbol, sentence) in zip(keys, shown, ranges, words, strict=False)
    ]


def beside(ours, answers, labels: dict, digits: int = 2) -> list[dict]:
    """Weights and output of ours, then of each (name, title, answer): one group of two panes for each."""
    all_of = [("ours", "ours", ours), *answers]
    limits = {
        "weights": (0, 1)
        if max(largest_finite(a.weights) for *_, a in all_of) <= 1
        else around_zero(max(largest_finite(a.weights) for *_, a in all_of)),
        "output": around_zero(max(largest_finite(a.output) for *_, a in all_of)),
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
            words={
                "group": name,
                "symbol": title if stage == "weights" else "",
                "formula": "",
                "sentence": stage,
            },
        )
        for name, title, answer in all_of
        for stage, columns in (("weights", "keys"), ("output", "d_v"))
    ]
