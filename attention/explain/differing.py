"""The stages that a diagnosis shows: the first that differs, and the given ones, next to ours."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from attention.arrays.distance import largest_finite
from attention.explain.colours import around_zero
from attention.explain.notebook import block, table
from attention.explain.view import dimension, place_of, words_of
from attention.frameworks.diagnosis.result import Diagnosis
from attention.vocabulary.stages import STAGES

EXPLAINED = ("As it should be.", "With the mistake found.", "Explained minus ours.")
PALE = 1e-3  # of the numbers: what a difference is coloured against at least; rounding stays pale
GIVEN = ("What these inputs give.", "The numbers you gave.", "Yours minus ours.")


@dataclass(frozen=True, eq=False)
class Differing:
    """A stage of one item and head: ours, theirs, and theirs less ours."""

    name: str  # of the stage, with "_given" where these are the numbers of the answer
    matrices: tuple[np.ndarray, ...]  # (rows, columns); two where even their shapes differ
    symbols: tuple[str, ...]  # what each is called
    sentences: tuple[str, ...]  # what each means
    labels: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]  # of rows and columns, for each


def differing(
    found: Diagnosis,
    *,
    item: int = 0,
    head: int = 0,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    names: Mapping[str, Iterable[str]] | None = None,
) -> list[Differing]:
    """Return the first stage that the best explanation changes, then the given numbers.

    These are the first stage of those given that differs, output and weights.

    Of several leading axes the last one counts the heads; a single one is counted by ``item`` or
    by ``head``. What has no axis of heads, such as joined outputs, serves them all. ``tokens``,
    ``key_tokens`` and ``names`` label the axes as in :meth:`attention.explain.view.View.of`.

    >>> from attention import diagnose
    >>> eye = np.eye(2)
    >>> [shown.name for shown in differing(diagnose(eye, eye, eye, output=eye))]
    ['weights', 'output_given']
    """
    *lead, n_q, n_k = found.plan.shape
    at = _place(tuple(lead), item, head)
    words = {"queries": words_of("tokens", tokens, n_q)}
    same = key_tokens is None and n_q == n_k
    words["keys"] = words["queries"] if same else words_of("key_tokens", key_tokens, n_k)
    words |= {axis: tuple(labels) for axis, labels in (names or {}).items()}
    best = found.explanations[0] if found.explanations else found.closest
    queries = None if best is None else best.queries
    rows = []
    if best is not None and best.stage and best.ours is not None and best.theirs is not None:
        called = (f"{best.stage}, ours", f"{best.stage}, explained", "difference")
        matrices = (best.ours, best.theirs, best.difference)
        rows.append((best.stage, best.stage, matrices, called, EXPLAINED))
    begins = {found.first: found.stages[found.first]} if found.first in found.stages else {}
    for stage, (theirs, ours, difference) in [*begins.items(), *found.answers.items()]:
        called = (f"{stage}, ours", f"your {stage}", "difference")
        rows.append((f"{stage}_given", stage, (ours, theirs, difference), called, GIVEN))
    shown = []
    for name, stage, matrices, called, sentences in rows:
        picked = tuple(_one(M, len(lead), at) for M in matrices if M is not None)
        labels = tuple(_axis_labels(stage, M.shape, words, queries) for M in picked)
        shown.append(Differing(name, picked, called, sentences, labels))
    return shown


def _place(lead: tuple[int, ...], item: int, head: int) -> tuple[int, ...]:
    """Return the index of an item and a head on the leading axes; raise if there is none."""
    if len(lead) == 1 and head == 0:
        return (place_of("item", item, *lead),)
    item = place_of("item", item, math.prod(lead[:-1]))
    head = place_of("head", head, lead[-1] if lead else 1)
    before = np.unravel_index(item, lead[:-1]) if len(lead) > 1 else ()
    return (*map(int, before), *([head] if lead else []))


def _one(values: np.ndarray, axes: int, at: tuple[int, ...]) -> np.ndarray:
    """Return the matrix at that index; a missing axis, or one of 1, serves all."""
    own = values.ndim - 2
    at = at[:own] if own < axes else at
    return np.asarray(
        values[tuple(min(k, size - 1) for k, size in zip(at, values.shape, strict=False))]
    )


def _axis_labels(
    stage: str,
    shape: tuple[int, ...],
    words: Mapping[str, tuple[str, ...]],
    queries: np.ndarray | None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels of rows and columns; for queries, those that were compared."""
    row, column = STAGES[stage].rows, STAGES[stage].columns
    known = words.get(row, ())
    if row == "queries" and queries is not None and len(queries) == shape[0]:
        known = tuple(known[k] for k in queries)
    return dimension(known, shape[0]), dimension(words.get(column, ()), shape[1])


def limits_of(name: str, matrices: Iterable[np.ndarray]) -> list[tuple[float, float]]:
    """Return the colour range of ours and theirs, the same for both, and of the difference."""
    ours, theirs, *difference = matrices
    most = max(largest_finite(ours), largest_finite(theirs))
    share = name.startswith("weights") and most <= 1
    both = (0.0, 1.0) if share else around_zero(most)
    return [both, both, *(around_zero(max(largest_finite(M), PALE * most)) for M in difference)]


def page(found: Diagnosis) -> str:
    """Return the sentences of a diagnosis, and tables of its first item and head: static HTML."""
    tables = []
    for shown in differing(found):
        limits = limits_of(shown.name, shown.matrices)
        for k, M in enumerate(shown.matrices):
            rows, columns = shown.labels[k]
            hidden = np.isneginf(M) if k < 2 else None
            heading = f"<b>{html.escape(shown.symbols[k])}</b>"
            tables.append(table(heading, M, rows, columns, limits=limits[k], hidden=hidden))
    first, *lines = map(html.escape, found.lines)
    more = "".join(f"<div>{html.escape(sentence)}</div>" for sentence in found.more)
    folded = [f"<details><summary>Details</summary>{more}</details>"] if more else []
    return block([f"<b>{first}</b>", *lines, *folded], tables)
