#!/bin/sh
# mlx-lm 0.32.2 on mlx 0.32.4, the CPU: scaled_dot_product_attention of mlx_lm.models.base with a
# QuantizedKVCache of 8 bits.
#
# With a quantized cache the queries of the caller are multiplied by the scale in their place
# (`queries *= scale`): called again with the same array, it answers otherwise. With a plain cache
# the queries stay as they are.
#
# Guess before the run: the arguments stay as they are, as with a plain cache.
# Seen: after two calls q is 0.125² = 0.0156 of what it was; the second differs by 0.70.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q 'mlx[cpu]==0.32.4' mlx-lm==0.32.2
"$room/env/bin/python" - <<'PY'

import sys

import mlx.core as mx
import numpy as np
from mlx_lm.models.base import scaled_dot_product_attention
from mlx_lm.models.cache import KVCache, QuantizedKVCache

draw = np.random.default_rng(0).standard_normal
numbers = [draw((1, 1, 4, 64)).astype("float32") for _ in range(3)]
kept = {}
for name, cache in {"plain": KVCache(), "quantized": QuantizedKVCache(64, 8)}.items():
    q, k, v = map(mx.array, numbers)
    k, v = cache.update_and_fetch(k, v)
    first, second = (
        np.array(scaled_dot_product_attention(q, k, v, cache, scale=0.125, mask="causal"))
        for _ in range(2)
    )
    factor = (np.array(q) / numbers[0]).mean()
    print(f"{name}: q is {factor:.4g} of what it was; twice differs by {abs(first - second).max()}")
    kept[name] = abs(first - second).max()
sys.exit(not (kept["plain"] == 0 and kept["quantized"] > 0.1))
PY
