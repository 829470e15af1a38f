#!/bin/sh
# Paddle 3.3.1, the CPU, float32 and float64: paddle.nn.functional.softmax and
# scaled_dot_product_attention.
#
# softmax lifts everything that is more than 64 below the largest entry of its row to 64 below it: a
# key hidden by False, that is by −∞, keeps exp(−64) = 1.6e-28 of the largest weight and not 0. So
# what stands in V at a padded key reaches the output: 1e30 there becomes 160.4 in place of 0.
#
# Guess before the run: exactly 0, as −∞ gives it everywhere else.
# Seen: softmax([0, −∞]) = [1, 1.6038109e-28] in both types; output 160.38.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q paddlepaddle==3.3.1 setuptools
"$room/env/bin/python" - <<'PY'

import sys

import numpy as np
import paddle

same = True
for kind in ("float32", "float64"):
    weights = paddle.nn.functional.softmax(paddle.to_tensor(np.array([0, -np.inf], kind))).numpy()
    q, k, v = (np.zeros((1, n, 1, 4), kind) for n in (1, 2, 2))
    v[0, 1] = 1e30  # what is left in a padded place
    output = paddle.nn.functional.scaled_dot_product_attention(
        *map(paddle.to_tensor, (q, k, v)), attn_mask=paddle.to_tensor([[[[True, False]]]])
    ).numpy()
    print(f"{kind}: softmax([0, -inf]) = {weights}, output {output.ravel()} for a visible V of 0")
    same &= np.isclose(weights[1], np.exp(-64.0), rtol=1e-4) and (abs(output - 160.38) < 0.1).all()
sys.exit(not same)
PY
