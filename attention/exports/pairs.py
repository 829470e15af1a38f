"""A comparison as files: every stage of A, of B, and B − A, exact to the bit."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from attention import program
from attention.explain.beside import StagePair
from attention.explain.view import View
from attention.readers.texts.tables import disarmed
from attention.session.compare.pair import Pair, differing
from attention.session.state.about import what_it_is
from attention.vocabulary.numbers import exact

LABELS = ("a_row_label", "a_column_label", "b_row_label", "b_column_label")
COLUMNS = ("stage", "row", "column", *LABELS, "a", "b", "b_minus_a", "origin")


def lines(pair: Pair) -> tuple[str, ...]:
    """What a file of this comparison says of itself: what differs, and where both are from."""
    sides = (
        f"{name}: {line}"
        for name, settings in (("A", pair.a), ("B", pair.b))
        for line in what_it_is(settings).lines()[1:]
    )
    return program.made_by(), *(f"A → B: {line}" for line in differing(pair)), *sides


def to_csv(pair: Pair, a: View, b: View, stages: Sequence[StagePair]) -> bytes:
    """One line for each cell that A or B has; rows and columns count from 1.

    What a side has not stands empty; where B has the words of A in another order, they stand in
    that of A. The first line's ``origin`` says what is compared.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    origin = disarmed("; ".join(lines(pair)))
    for both in stages:
        other, words = (both.b, b) if both.in_order is None else (both.in_order, a)
        shapes = [M.shape for M in (both.a, other) if M is not None]
        for i, j in np.ndindex(*map(max, zip(*shapes, strict=True))):
            numbers = [_exact(M, i, j) for M in (both.a, other, both.less)]
            if any(numbers):
                labels = [*_cell_labels(a, both.name, i, j), *_cell_labels(words, both.name, i, j)]
                writer.writerow((both.name, i + 1, j + 1, *labels, *numbers, origin))
                origin = ""
    return text.getvalue().encode()


def _exact(matrix: np.ndarray | None, i: int, j: int) -> str:
    if matrix is None or i >= matrix.shape[0] or j >= matrix.shape[1]:
        return ""
    return exact(matrix[i, j])


def _cell_labels(view: View, stage: str, i: int, j: int) -> tuple[str, str]:
    if stage not in view.stages:
        return "", ""
    rows, columns = view.rows(stage), view.columns(stage)
    there = i < len(rows) and j < len(columns)
    return (disarmed(rows[i]), disarmed(columns[j])) if there else ("", "")


def to_npz(pair: Pair, a: View, b: View, stages: Sequence[StagePair]) -> bytes:
    """The arrays ``weights_a``, ``weights_b``, ``weights_difference`` of each stage, and the words.

    Where B has the words of A in another order, the difference is in that of A.
    """
    arrays: dict[str, Any] = {
        f"{both.name}_{side}": M
        for both in stages
        for side, M in (("a", both.a), ("b", both.b), ("difference", both.less))
        if M is not None
    }
    for side, shown in (("a", a), ("b", b)):
        arrays |= {f"{of}_{side}": np.array(shown.labels[of]) for of in ("queries", "keys")}
    arrays["about"] = np.array(lines(pair))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()
