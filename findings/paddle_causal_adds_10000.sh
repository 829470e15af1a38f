#!/bin/sh
# Paddle 3.3.1, the CPU, float32: scaled_dot_product_attention(is_causal=True), and its twin in
# paddle.compat.
#
# The switch hides nothing: it adds −10000 to the scores of later keys. A score that is higher by
# more than that looks ahead, with its whole weight; a mask of booleans, which adds −∞, does not.
# (And a NaN in a later key makes NaN of every earlier query.)
#
# Guess before the run: −∞ is added, as for its masks of booleans.
# Seen: scores of 20000 for the last key: with the switch all four queries take the last value
# alone; with a triangle of booleans the first three do not.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q paddlepaddle==3.3.1 setuptools
"$room/env/bin/python" - <<'PY'

import sys

import numpy as np
import paddle

q, k = np.zeros((2, 1, 4, 1, 4), "float32")
q[..., 0], k[0, 3, 0, 0] = 200, 200  # a score of 200 · 200 / √4 = 20000 for the last key
v = np.eye(4, dtype="float32").reshape(1, 4, 1, 4)  # so that the output is the weights
given = [paddle.to_tensor(M) for M in (q, k, v)]
attend = paddle.nn.functional.scaled_dot_product_attention
switch = attend(*given, is_causal=True).numpy()[0, :, 0]
triangle = attend(*given, attn_mask=paddle.to_tensor(np.tri(4, dtype=bool))).numpy()[0, :, 0]
print("weights with is_causal=True:", switch.round(3), sep="\n")
print("weights with a triangle of booleans:", triangle.round(3), sep="\n")
ahead = np.triu(np.ones((4, 4)), 1) > 0
sys.exit(not ((switch[:3, 3] > 0.99).all() and (triangle[ahead] < 1e-6).all()))
PY
