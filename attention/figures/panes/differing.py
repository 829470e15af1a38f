"""What a diagnosis shows as panes: ours, theirs and the difference, a row for each stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from attention.explain.differing import differing
from attention.figures.panes.comparison import Labels, compared
from attention.figures.panes.pane import Pane
from attention.frameworks.diagnosis.result import Diagnosis

Labelled = Mapping[tuple[int, ...], Labels]  # by the shape of a matrix


def panes_of(
    found: Diagnosis,
    *,
    item: int = 0,
    head: int = 0,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    names: Mapping[str, Iterable[str]] | None = None,
    digits: int = 2,
) -> list[Pane]:
    """Two or three panes for each stage of :func:`attention.explain.differing.differing`."""
    panes: list[Pane] = []
    for shown in differing(
        found, item=item, head=head, tokens=tokens, key_tokens=key_tokens, names=names
    ):
        labels = {M.shape: named for M, named in zip(shown.matrices, shown.labels, strict=True)}

        def labels_of(matrix: np.ndarray, labels: Labelled = labels) -> Labels:
            return labels[matrix.shape]

        ours, theirs, *difference = shown.matrices
        panes += compared(
            shown.name,
            ours,
            theirs,
            difference[0] if difference else None,
            labels_of,
            words=list(zip(shown.symbols, shown.sentences, strict=True)),
            digits=digits,
        )
    return panes
