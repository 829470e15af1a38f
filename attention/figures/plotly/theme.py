"""The typeface, the lines and the frame of every figure."""

from __future__ import annotations

from typing import Any

from attention.explain.colours import LIGHT

FONT = '"Source Sans", "Source Sans Pro", sans-serif'
LINES = ("#2b7bba", "#d9730d", "#2e9e6b", "#a15cc4")  # line charts; readable on both papers
# The ink and the paper of a figure that names neither: a page puts those of its theme in their
# place, and other templates of Plotly do too.
TEMPLATE: dict[str, Any] = {
    "layout": {"font": {"color": LIGHT["ink"]}, "paper_bgcolor": LIGHT["paper"]}
}


def layout(**options: Any) -> dict[str, Any]:
    """A quiet frame: no grid, no background of its own, room only for what is there."""
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": LIGHT["ink"]},
        "margin": {"l": 48, "r": 12, "t": 28, "b": 8},
        **options,
    }
