"""How long a paper figure takes, from the trace to its file: ``python benchmarks/paper.py``.

Matplotlib is imported and its fonts are listed before; each figure is drawn and saved several
times, and the medians are printed as a Markdown table.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from attention import AttentionTrace, Paper, paper_figure, self_attention
from attention.exports.paper import FORMS, to_bytes

TIMES = 7
PAGE = Paper(width="text")
CASES = {  # tokens, heads, and what is asked for
    "weights, 8 tokens": (8, 1, {}),
    "weights, 64 tokens": (64, 1, {}),
    "all stages, 4 tokens": (4, 1, {"stages": None, "paper": PAGE}),
    "all stages, 8 tokens": (8, 1, {"stages": None, "paper": PAGE}),
    "weights of 12 heads, 16 tokens": (16, 12, {"heads": None, "paper": PAGE}),
    "all stages, 64 tokens": (64, 1, {"stages": None, "paper": PAGE}),
}


def trace(tokens: int, heads: int) -> AttentionTrace:
    """Random words, of 4 numbers for each head."""
    rng = np.random.default_rng(0)
    width = 4 * heads
    X, *W = (rng.normal(size=(rows, width)) for rows in (tokens, width, width, width))
    return self_attention(X, *W, heads=heads)


def seconds(tokens: int, heads: int, asked: dict) -> list[float]:
    """Medians: the figure, then each file of it."""
    given, found = trace(tokens, heads), []
    for _ in range(TIMES):
        marks = [time.perf_counter()]
        figure = paper_figure(given, **asked)
        marks.append(time.perf_counter())
        for form in FORMS:
            to_bytes(figure, form)
            marks.append(time.perf_counter())
        found.append(np.diff(marks))
    return [median(column) for column in zip(*found, strict=True)]


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)  # of numbers too small to print
    begun = time.perf_counter()
    seconds(2, 1, {})
    print(f"First import and {TIMES} small figures: {time.perf_counter() - begun:.1f} s\n")
    print(f"|  | figure | {' | '.join(FORMS)} |\n|---|{'---:|' * (1 + len(FORMS))}")
    for name, case in CASES.items():
        print(f"| {name} | {' | '.join(f'{took:.2f}' for took in seconds(*case))} |", flush=True)


if __name__ == "__main__":
    main()
