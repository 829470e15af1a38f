"""How long the search for a deviation takes: ``python benchmarks/diagnosis.py``.

8 heads, 128 tokens, 64 dimensions for each head, a look-ahead mask and a soft cap; noise on the output, so that nothing
explains it and every deviation and every pair is tried. Prints the median and the slowest of some runs.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from attention import causal, diagnose, self_attention


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--runs", type=int, default=10)
    rng, taken = np.random.default_rng(0), []
    X, *W = rng.standard_normal((4, 512, 512)) / 512**0.25
    given = {"heads": 8, "allowed": causal(128, 128), "softcap": 30.0}
    output = self_attention(X[:128], *W, **given).joined + rng.normal(0, 1e-3, (128, 512))
    for _ in range(options.parse_args().runs):
        began = time.perf_counter()
        found = diagnose(X=X[:128], W_Q=W[0], W_K=W[1], W_V=W[2], output=output, **given)
        taken.append(time.perf_counter() - began)
    print(
        f"{found.tried} combinations tried: {median(taken):.2f} s in the middle, {max(taken):.2f} s at most"
    )


if __name__ == "__main__":
    main()
