"""The weights of one head in several layers, as panes of one board and panels of one figure."""

from __future__ import annotations

import re

from attention.core.trace import AttentionTrace
from attention.explain.view import distinct
from attention.figures.panes.pane import QUERY_KEY, Pane


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
    >>> made.name, made.symbol, made.shape, made.axes
    ('layer_3_head_5', 'Layer 3, head 5', (1, 2), ('query', 'key'))
    """
    name = re.sub(r"\W+", "_", heading.lower()).strip("_")
    rows, columns = map(distinct, words)
    return Pane(
        name=name,
        values=trace.weights,
        rows=rows,
        columns=columns,
        limits=(0, 1),
        group="across",
        symbol=heading,
        sentence=sentence,
        hidden=~trace.allowed,
        in_colours=True,
        filename=f"attention_{file or name}",
        stage="weights",
        axes=QUERY_KEY,
    )
