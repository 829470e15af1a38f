#!/bin/sh
# mlx-lm 0.32.2 on mlx 0.32.4, the CPU: RotatingKVCache(max_size, keep), the cache of a window whose
# first tokens stay, with the mask that it makes itself.
#
# What a token sees depends on how the prompt was cut. Token by token, each sees the kept tokens and
# the last of the others, as keep says. In a prompt of many tokens at once each sees the last
# max_size alone: the kept ones are hidden as soon as they are outside of the window.
#
# Guess before the run: kept tokens stay visible however the prompt is cut.
# Seen, window 8, 2 kept: token 11 sees 0, 1 and 6 to 11 in steps, 4 to 11 in one run of 24.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q 'mlx[cpu]==0.32.4' mlx-lm==0.32.2
"$room/env/bin/python" - <<'PY'

import sys

import mlx.core as mx
import numpy as np
from mlx_lm.models.base import create_attention_mask, scaled_dot_product_attention
from mlx_lm.models.cache import RotatingKVCache

n, d = 24, 16
Q, V = mx.zeros((1, 1, n, d)), mx.array(np.eye(n, dtype="float32")[None, None])


def seen(chunk, keep):
    """The tokens that each token sees: all scores are 0, and the output is the weights."""
    cache, found = RotatingKVCache(8, keep=keep), []
    for t in range(0, n, chunk):
        mask = create_attention_mask(mx.zeros((1, chunk, 1)), cache)
        k, v = cache.update_and_fetch(Q[:, :, t : t + chunk], V[:, :, t : t + chunk])
        q = Q[:, :, t : t + chunk]
        output = scaled_dot_product_attention(q, k, v, cache, scale=1.0, mask=mask)
        found.append(np.array(output)[0, 0] > 1e-6)
    return np.concatenate(found)


for keep in (0, 2):
    for chunk in (1, 12, 24):
        row = seen(chunk, keep)[11].nonzero()[0].tolist()
        print(f"keep={keep}, {chunk} at a time: token 11 sees {row}")
steps, whole = seen(1, 2), seen(24, 2)
alike = (seen(1, 0) == seen(24, 0)).all()
sys.exit(not (alike and steps[11, :2].all() and not whole[11, :2].any()))
PY
