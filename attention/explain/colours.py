"""Colours by what they mean: sign, share, hidden, chosen; and the range of each stage.

Safe for the colour-blind, for light and dark pages.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attention.core.scores import SIGMOID
from attention.explain.view import View
from attention.vocabulary.stages import STAGES

ROTATED = ("Q_rotated", "K_rotated")  # compared with what was rotated
HIDING = -1e8  # a bias that low hides a key for all that can be seen

# A role names what a colour says; each palette gives it a scale or a colour. The scales end where
# the ink of the numbers can still be read on them (contrast 4.5 and more).
LIGHT: dict[str, Any] = {
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
    "blank": [[0, "#ffe58f"], [1, "#ffe58f"]],  # to be filled in
    "waits": [[0, "#f1f2f4"], [1, "#f1f2f4"]],  # for what is to be filled in
    "query": "#d4006a",
    "cell": "#111827",
    "ink": "#1f2430",
    "stroke": "#1f243048",  # the ink, faint: through hidden cells
    "onHidden": "#4a5160",
    "soft": "#5c6472",
    "source": "#0a7d5c",
    "paper": "#ffffff",
    "grid": "#e3e5ea",
}
DARK: dict[str, Any] = {
    "diverging": [
        [0, "#9f550d"],
        [0.25, "#6b4318"],
        [0.5, "#1b1f29"],
        [0.75, "#234c73"],
        [1, "#276ba9"],
    ],
    "share": [[0, "#1b1f29"], [0.5, "#234c73"], [1, "#276ba9"]],
    "hidden": [[0, "#4a4f5a"], [1, "#4a4f5a"]],
    "broken": [[0, "#7c4d80"], [1, "#7c4d80"]],
    "blank": [[0, "#665200"], [1, "#665200"]],
    "waits": [[0, "#262b36"], [1, "#262b36"]],
    "query": "#ff6fb5",
    "cell": "#ffffff",
    "ink": "#e8eaf0",
    "stroke": "#e8eaf048",
    "onHidden": "#c3c9d4",
    "soft": "#a3abba",
    "source": "#3ecf9f",
    "paper": "#0f1218",
    "grid": "#343945",
}
FAINTEST = 1e-6  # of the highest: what logarithmic colours reach down to
PALETTES = {"light": LIGHT, "dark": DARK}


def hidden_cells(view: View, name: str) -> np.ndarray | None:
    """Return where the mask hides cells of a stage; None for stages before the mask."""
    if name not in ("mask", "masked", "weights"):
        return None
    hidden = ~view.allowed
    return hidden if view.bias is None else hidden | (view.bias <= HIDING)


def colour_limits(view: View) -> dict[str, tuple[float, float]]:
    """Return the colour range of each stage: 0…1 for weights, one for stages that are compared.

    V and the output are compared while the weights of a row sum to 1. Without softmax the output
    may be many times as large, and V has its own range. A sigmoid's weights are 0…1 too.
    """
    most: dict[str, float] = {}
    words = {name: STAGES[name].limits for name in view.stages}
    words |= {n: STAGES[view.source(n[0], n)].limits for n in ROTATED if n in words}
    if view.softmax is not True:
        words["V"] = "V alone"
    for name, matrix in view.stages.items():
        hidden = hidden_cells(view, name)
        shown = np.isfinite(matrix) if hidden is None else np.isfinite(matrix) & ~hidden
        word = words[name]
        most[word] = max(most.get(word, 0.0), float(np.abs(matrix[shown]).max(initial=0)))
    found = {name: around_zero(most[words[name]]) for name in view.stages}
    if view.softmax in (True, SIGMOID):
        found["weights"] = (0, 1)
    return found


def around_zero(most: float) -> tuple[float, float]:
    """Return a diverging range that extends by ``most`` on both sides."""
    return -(most or 1.0), most or 1.0


def shade(
    value: float,
    limits: tuple[float, float],
    role: str,
    palette: dict[str, Any] = LIGHT,
) -> str:
    """Return the colour of a number, by default on a light page; NaN and ∞ have their own.

    >>> shade(0.0, (-1, 1), "diverging"), shade(1.0, (0, 1), "share")
    ('#fcfbf8', '#4a9be0')
    """
    stops: list[tuple[float, str]] = palette[role]
    if not math.isfinite(value):
        return str(palette["broken"][0][1])
    place = float(between(np.array(value), *limits))
    after = max(1, next(k for k, (at, _) in enumerate(stops) if at >= place))
    (start, first), (end, second) = stops[after - 1], stops[after]
    return _between(first, second, (place - start) / (end - start))


def between(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the position of each value from low to high, 0 … 1; NaN for NaN.

    >>> between(np.array([0.0, 5e-324]), -5e-324, 5e-324)
    array([0.5, 1. ])
    """
    # By a power of 2, which rounds nothing, the range is about 1: nothing overflows or vanishes.
    power = 1 - math.frexp(max(abs(low), abs(high)))[1]
    near, first, last = (np.ldexp(end, power) for end in (np.clip(values, low, high), low, high))
    return np.asarray((near - first) / (last - first))


def _between(first: str, second: str, share: float) -> str:
    """Mix two colours, ``#rrggbb`` each, by the ``share`` of the second."""
    parts = [[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in (first, second)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*parts, strict=True))
