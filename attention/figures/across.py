"""The weights of one head in several layers, as panes of one board and panels of one figure."""

from __future__ import annotations

import re

from attention.figures.panes import QUERY_KEY, Pane, Words, pane
from attention.trace import AttentionTrace
from attention.view import distinct


def layer_pane(
    heading: str,
    trace: AttentionTrace,
    words: tuple[tuple[str, ...], tuple[str, ...]],
    *,
    sentence: str = "",
    file: str = "",
) -> Pane:
    """Return the weights of one layer's head; ``words`` of its queries and keys.

    ``sentence`` is what the layer is in its model; ``file`` the stem of a picture's name.

    >>> from attention import scaled_dot_product_attention
    >>> trace = scaled_dot_product_attention([[1.0]], [[1.0], [1.0]], [[1.0], [1.0]])
    >>> made = layer_pane("Layer 3, head 5", trace, (("cat",), ("the", "cat")))
    >>> made["name"], made["symbol"], made["shape"], made["axes"]
    ('layer_3_head_5', 'Layer 3, head 5', '1 × 2', ('query', 'key'))
    """
    said: Words = {"group": "across", "symbol": heading, "formula": "", "sentence": sentence}
    name = re.sub(r"\W+", "_", heading.lower()).strip("_")
    made = pane(
        name,
        trace.weights,
        *map(distinct, words),
        limits=(0, 1),
        hidden=~trace.allowed,
        words=said,
        in_colours=True,
    )
    made |= {"filename": f"attention_{file or name}", "stage": "weights", "axes": QUERY_KEY}
    return made
