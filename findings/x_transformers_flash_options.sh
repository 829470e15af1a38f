#!/bin/sh
# x-transformers 2.31.10 on torch 2.13.0, the CPU, float32: Attend with flash=True, which refuses
# most options that it cannot do, and takes these two.
#
# l2_distance: two coordinates are put beside Q and K, and torch's default scale counts them: the
# scale is 1/√(d + 2), not 1/√d as without flash. gumbel_softmax: left out, a plain softmax; without
# flash its noise is drawn in eval() too, so that two calls differ.
#
# Guess before the run: what flash takes, it computes as the plain way does; no noise in eval().
# Seen, d = 4: plain l2 equals softmax(−‖q − k‖² / √4), flash with √6 in its place (2e-7), the two
# are 0.2 apart; flash with gumbel_softmax equals softmax(q·k / √4); two plain calls are 3.6 apart.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 x-transformers==2.31.10
"$room/env/bin/python" - <<'PY'
import sys

import torch
from x_transformers.attend import Attend

torch.manual_seed(0)
Q, K, V = (torch.randn(1, 2, 5, 4) for _ in range(3))
squares = torch.cdist(Q, K) ** 2


def run(**options):
    with torch.no_grad():
        return Attend(**options).eval()(Q, K, V)[0]


def off(found, scores):
    return (scores.softmax(-1) @ V - found).abs().max().item()


plain, flash = run(l2_distance=True), run(l2_distance=True, flash=True)
print("l2_distance, plain: off −‖q − k‖² / √4:", off(plain, -squares / 4**0.5))
print("l2_distance, flash: off the same:", off(flash, -squares / 4**0.5))
print("l2_distance, flash: off −‖q − k‖² / √6:", off(flash, -squares / 6**0.5))
gumbel = run(gumbel_softmax=True, flash=True)
first, second = run(gumbel_softmax=True), run(gumbel_softmax=True)
print("gumbel_softmax, flash: off a plain softmax:", off(gumbel, Q @ K.mT / 2))
print("gumbel_softmax, plain, eval(): two calls apart:", (first - second).abs().max().item())
sys.exit(
    not (
        off(plain, -squares / 2) < 1e-5
        and off(flash, -squares / 6**0.5) < 1e-5 < 0.01 < off(flash, -squares / 2)
        and off(gumbel, Q @ K.mT / 2) < 1e-5
        and (first - second).abs().max() > 0.01
    )
)
PY
