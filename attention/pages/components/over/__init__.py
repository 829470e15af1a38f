"""A query's weights over an image, which the browser alone opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from attention.figures.panes.shades import shades
from attention.limits import MAX_IMAGE, MAX_PIXELS
from attention.pages.components import shaded

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
