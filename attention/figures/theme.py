"""Colours by what they mean: sign, share, hidden, chosen. Safe for the colour-blind, for light and dark pages."""

from __future__ import annotations

FONT = '"Source Sans", "Source Sans Pro", sans-serif'

# A role names what a colour says; each palette gives it a scale or a colour. The scales end where the
# ink of the numbers can still be read on them (contrast 4.5 and more).
LIGHT = {
    "diverging": [
        [0, "#e8833a"],
        [0.25, "#f5c199"],
        [0.5, "#fcfbf8"],
        [0.75, "#a9d0f0"],
        [1, "#4a9be0"],
    ],
    "share": [[0, "#fcfbf8"], [0.5, "#a9d0f0"], [1, "#4a9be0"]],
    "hidden": [[0, "#c9cbd1"], [1, "#c9cbd1"]],
    "broken": [[0, "#e7c6e8"], [1, "#e7c6e8"]],
    "query": "#d4006a",
    "cell": "#111827",
    "ink": "#1f2430",
    "paper": "#ffffff",
    "grid": "#e3e5ea",
}
DARK = {
    "diverging": [
        [0, "#9f550d"],
        [0.25, "#6b4318"],
        [0.5, "#1b1f29"],
        [0.75, "#234c73"],
        [1, "#276ba9"],
    ],
    "share": [[0, "#1b1f29"], [0.5, "#234c73"], [1, "#276ba9"]],
    "hidden": [[0, "#565b66"], [1, "#565b66"]],
    "broken": [[0, "#7c4d80"], [1, "#7c4d80"]],
    "query": "#ff5fae",
    "cell": "#ffffff",
    "ink": "#e8eaf0",
    "paper": "#0f1218",
    "grid": "#343945",
}
PALETTES = {"light": LIGHT, "dark": DARK}

LINES = ("#2b7bba", "#d9730d", "#2e9e6b", "#a15cc4")  # line charts; readable on both papers


def layout(**more) -> dict:
    """A quiet frame: no grid, no background of its own, room only for what is there."""
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": LIGHT["ink"]},
        "margin": {"l": 48, "r": 12, "t": 28, "b": 8},
        **more,
    }
