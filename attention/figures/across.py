"""The weights of one head in several layers, as panes of one board and panels of one figure."""

from __future__ import annotations

from attention.figures.panes import Pane, Words, pane
from attention.trace import AttentionTrace
from attention.view import distinct


def layer_pane(
    name: str, trace: AttentionTrace, words: tuple[tuple[str, ...], tuple[str, ...]]
) -> Pane:
    """The weights of one layer's head; ``words`` of its queries and keys.

    >>> from attention import scaled_dot_product_attention
    >>> trace = scaled_dot_product_attention([[1.0]], [[1.0], [1.0]], [[1.0], [1.0]])
    >>> made = layer_pane("Layer 3, head 5", trace, (("cat",), ("the", "cat")))
    >>> made["name"], made["symbol"], made["shape"]
    ('layer_3_head_5', 'Layer 3, head 5', '1 × 2')
    """
    said: Words = {"group": "across", "symbol": name, "formula": "", "sentence": ""}
    file = name.lower().replace(",", "").replace(" ", "_")
    made = pane(
        file,
        trace.weights,
        *map(distinct, words),
        limits=(0, 1),
        hidden=~trace.allowed,
        words=said,
        in_colours=True,
    )
    made |= {"filename": f"attention_{file}", "stage": "weights"}
    return made
