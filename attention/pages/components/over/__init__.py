"""A query's weights over an image, which the browser alone opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from attention.core.recorded import Patches
from attention.figures.panes.shades import shades
from attention.limits import MAX_IMAGE, MAX_PIXELS
from attention.pages.components import shaded
from attention.vocabulary.numbers import number

MOST_NAMED = 8  # keys that are no patches; the others are added up
_COMPONENT = shaded.component("over")


class Over(NamedTuple):
    """The map of one query and its words."""

    weights: np.ndarray  # (rows, columns)
    hidden: np.ndarray  # the same: behind a mask, or not finite
    labels: Sequence[str]  # of each patch, row by row
    queries: Sequence[int]  # which query each patch is; −1 for none
    query: str
    own: int  # which patch it is, row by row; −1 for none
    apart: str  # what keys that are no patches get
    title: str
    file: str  # the name of a file of it, without the ending
    about: str  # what the file says of itself
    digits: int


def of_row(
    weights: np.ndarray,
    hidden: np.ndarray,
    patches: Patches,
    labels: tuple[Sequence[str], Sequence[str]],
    row: int,
    **words: Any,
) -> Over:
    """Return the map of one row of weights, (n_k,); ``labels`` are those of queries and keys.

    ``words`` are title, file, about and digits.
    """
    queries, keys = labels
    places, mine = patches.places(len(keys)), queries[row]
    words_apart = apart(weights, ~hidden, keys, places, words["digits"])
    hidden = hidden | ~np.isfinite(weights)
    there = [keys[key] for key in places.ravel()]
    number_of = {label: k for k, label in enumerate(queries)}
    return Over(
        weights[places],
        hidden[places],
        there,
        [number_of.get(label, -1) for label in there],
        mine,
        there.index(mine) if mine in there else -1,
        words_apart,
        **words,
    )


def apart(
    weights: np.ndarray, seen: np.ndarray, keys: Sequence[str], places: np.ndarray, digits: int
) -> str:
    """Return the weights of keys that are no patches, and of all patches; "" if there are none.

    >>> weights, keys = np.array([0.25, 0.5, 0.25]), ("[CLS]", "patch 0", "patch 1")
    >>> apart(weights, weights > 0, keys, np.array([[1, 2]]), 2)
    '[CLS]: 0.25; all patches: 0.75'
    """
    others = np.setdiff1d(np.arange(len(keys)), places).tolist()
    named = [
        f"{keys[key]}: {number(float(weights[key]), digits) if seen[key] else 'hidden'}"
        for key in others[:MOST_NAMED]
    ]
    weights = np.where(seen, weights, 0)
    if rest := others[MOST_NAMED:]:
        named.append(f"{len(rest)} others: {number(float(weights[rest].sum()), digits)}")
    if not named:
        return ""
    return f"{', '.join(named)}; all patches: {number(float(weights[places].sum()), digits)}"


def show(key: str, over: Over, on_asked: Callable[[object], None]) -> None:
    """Draw the map; ``on_asked`` gets the number of the query that was clicked, unchecked."""
    rows, columns = over.weights.shape
    largest = float(np.where(over.hidden, 0, over.weights).max(initial=0))
    head = {
        "rows": rows,
        "columns": columns,
        "largest": largest,
        "most": {"bytes": MAX_IMAGE, "pixels": MAX_PIXELS},
    }
    head |= {name: value for name, value in over._asdict().items() if name not in _SENT_AS_BYTES}
    codes = shades(over.weights, (0, largest or 1), over.hidden, by_root=False)
    content = codes + np.ascontiguousarray(over.weights, "<f4").tobytes()
    shaded.show(_COMPONENT, key, head, content, "asked", on_asked)


_SENT_AS_BYTES = ("weights", "hidden")
