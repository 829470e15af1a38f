"""Matrices side by side: ours, another's, and the difference, in colours that can be compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from attention.explain.beside import StagePair
from attention.explain.captions import describe
from attention.explain.colours import hidden_cells
from attention.explain.differing import limits_of
from attention.explain.view import View
from attention.figures.panes.pane import Pane
from attention.figures.panes.panes import Cell, marks_of, named_axes
from attention.vocabulary.stages import STAGES

Labels = tuple[Sequence[str], ...]  # of rows and of columns


ALIKE = "alike"  # the group of stages that are the same in A and B


class ComparedMatrix(NamedTuple):
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
    """Panes of two matrices, and of the second minus the first where they have one shape.

    ``labels``: for each matrix the labels of its rows and columns. ``words``: the three symbols,
    and the sentence of each.
    """
    both, _, *apart = limits_of(name, [M for M in (ours, theirs, difference) if M is not None])
    matrices = [
        ComparedMatrix("ours", ours, both, np.isneginf(ours)),
        ComparedMatrix("theirs", theirs, both, np.isneginf(theirs)),
    ]
    if difference is not None:
        matrices.append(ComparedMatrix("difference", difference, apart[0], None))
    panes = []
    for (key, matrix, limits, hidden), (symbol, sentence) in zip(matrices, words, strict=False):
        rows, columns = labels(matrix)
        pane = Pane(
            name=f"{name}_{key}",
            values=matrix,
            rows=tuple(rows),
            columns=tuple(columns),
            limits=limits,
            group=name,
            symbol=symbol,
            sentence=sentence,
            digits=digits,
            hidden=hidden,
            stage=name,
            **named_axes(name),
        )
        panes.append(pane)
    return panes


def apart(
    both: StagePair,
    a: View,
    b: View,
    *,
    digits: int = 2,
    query: int | None = None,
    cell: Cell | None = None,
) -> list[Pane]:
    """A stage of A, of B, and B − A where that can be said; one pane where A and B are alike.

    That of B, where one can change its numbers, is called as its stage.
    A and B share the range of their colours, the difference has its own; what is pointed at in one
    is marked in all three; so are the chosen ``cell`` and the row of the ``query``, a word of B.
    """
    who = None if query is None else b.labels["queries"][query]
    there = [M for M in (both.a, both.b) if M is not None]
    less = both.drawn
    mine, *_, own = limits_of(both.name, [*(2 * there)[:2], *([] if less is None else [less])])
    heading = STAGES[both.name].heading
    formulas = [
        "" if M is None else describe(side, both.name)["formula"]
        for M, side in ((both.a, a), (both.b, b))
    ]
    of_a, of_b = hidden_cells(a, both.name), hidden_cells(b, both.name)
    of_less = None if of_a is None or of_b is None or less is None else of_a & of_b
    is_in_order = both.in_order is None
    of_both, least = (b, "B minus A.") if is_in_order else (a, "B minus A, word by word.")
    sides = [
        (f"{both.name}_a", both.a, a, mine, of_a, f"{heading}, A", formulas[0]),
        (both.name, both.b, b, mine, of_b, f"{heading}, B", formulas[1]),
        (
            f"{both.name}_difference",
            less,
            b if is_in_order else a,
            own,
            of_less,
            f"{heading}, B − A",
            least,
        ),
    ]
    if both.is_alike:
        sides = [(both.name, both.b, b, mine, of_b, heading, "The same in A and B.")]
    names = [name for name, M, *_ in sides if M is not None and is_in_order]
    panes = []
    for name, M, side, limits, hidden, symbol, sentence in sides:
        if M is None:
            continue
        pane = Pane(
            name=name,
            values=M,
            rows=tuple(side.rows(both.name)),
            columns=tuple(side.columns(both.name)),
            limits=limits,
            group=ALIKE if both.is_alike else heading,
            symbol=symbol,
            sentence=sentence,
            digits=digits,
            hidden=hidden,
            printed=None if M is less else side.printed(both.name),
            stage=both.name,
            marks=marks_of(both.name, None if who is None else side.query_called(who), cell),
            in_colours=True,
            sources=[(other, "same") for other in names if other != name],
            **named_axes(both.name),
        )
        panes.append(pane)
    return panes
