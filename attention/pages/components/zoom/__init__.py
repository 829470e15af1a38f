"""A map of many thousand tokens, in cells: a box, a key or a button looks closer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attention.figures.plotly.long_cells import LongMap
from attention.pages.components import shaded

_COMPONENT = shaded.component("zoom")


def show(
    key: str, shown: LongMap, query: int, on_moved: Callable[[object], None], about: str = ""
) -> None:
    """Draw the map; ``on_moved`` gets what the browser sent, unchecked: a window or a query.

    ``about`` follows each number that is read, such as that it is not exact yet.
    """
    cells = shown.cells
    head = {
        "rowEdges": cells.row_edges.tolist(),
        "keyEdges": cells.key_edges.tolist(),
        "whole": shown.whole,
        "queryTicks": shown.query_ticks,
        "keyTicks": shown.key_ticks,
        "scale": shown.scale,
        "measure": shown.measure,
        "queryWords": shown.query_words,
        "keyWords": shown.key_words,
        "says": shown.says,
        "about": about,
        "exact": not about,
        "query": query,
    }
    content = shown.shades + np.ascontiguousarray(cells.values, "<f4").tobytes()
    shaded.show(_COMPONENT, key, head, content, "moved", on_moved)
