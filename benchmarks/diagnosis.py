"""How long the search for a mistake takes: ``python benchmarks/diagnosis.py``.

For each size: the heads side by side, a look-ahead mask and W_O, and three answers: a right one,
one without the scale, and noise on the right one, so that nothing explains it and all that may be
tried is. Prints the median and the slowest of some runs.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from attention import causal, diagnose, self_attention

SIZES = ((8, 128, 512), (12, 1024, 768))  # heads, tokens, d_model


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--runs", type=int, default=5)
    runs = options.parse_args().runs
    for heads, tokens, width in SIZES:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((tokens, width))
        W = dict(
            zip(("W_Q", "W_K", "W_V", "W_O"), rng.standard_normal((4, width, width)), strict=True)
        )
        given = {name: M / width**0.5 for name, M in W.items()}
        given |= {"heads": heads, "allowed": causal(tokens, tokens)}
        right = self_attention(X, **given).projected
        answers = {
            "right": right.astype(np.float32),
            "no scale": self_attention(X, **given, scale=1).projected,
            "noise": right + rng.standard_normal(right.shape),
        }
        for name, output in answers.items():
            taken, told = [], []
            for _ in range(runs):
                began = time.perf_counter()
                found = diagnose(X=X, **given, output=output, announce=told.append)
                taken.append(time.perf_counter() - began)
            print(
                f"{heads} × {tokens:,}, {name}: {found.tried} sets tried,"
                f" {median(taken):.2f} s in the middle, {max(taken):.2f} s at most"
            )
        print(told[0])


if __name__ == "__main__":
    main()
