#!/bin/sh
# Paddle 3.3.1, the CPU, float32: scaled_dot_product_attention(scale=0.0).
#
# A scale of 0 is taken for “not given” (`scale or …`): the scores are divided by √d. A scale of
# 1e-30 gives what 0 should, the mean of V.
#
# Guess before the run: all weights equal, the mean of V.
# Seen: scale=0.0 equals no scale to the bit, and is 0.35 off the mean of V; 1e-30 is the mean.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q paddlepaddle==3.3.1 setuptools
"$room/env/bin/python" - <<'PY'

import sys

import numpy as np
import paddle

draw = np.random.default_rng(0).standard_normal
q, k, v = (paddle.to_tensor(draw((1, 4, 1, 4)).astype("float32")) for _ in range(3))
attend = paddle.nn.functional.scaled_dot_product_attention
zero, none, tiny = (attend(q, k, v, scale=scale).numpy() for scale in (0.0, None, 1e-30))
mean = v.numpy().mean(1, keepdims=True)
print("scale 0 and no scale differ by", abs(zero - none).max())
print("scale 0 is off the mean of V by", abs(zero - mean).max())
print("scale 1e-30 is off the mean of V by", abs(tiny - mean).max())
sys.exit(not ((zero == none).all() and abs(tiny - mean).max() < 1e-6))
PY
