#!/bin/sh
# Flax 0.12.8 on JAX 0.10.2, the CPU, float32: nnx.MultiHeadAttention with decode=True.
#
# With is_causal=True and decode=True every step sees the first key alone: the switch is aligned
# at the upper left, for one query against the whole cache. The layer itself hides what is not in
# the cache yet, so that without the switch the steps equal the whole sequence; with it they are
# wrong from the second step on, without a warning.
#
# Guess before the run: the switch changes nothing for a cached step (as a lower-right one would).
# Seen: without the switch at most 2e-07 off; with it 0, 0.90, 1.02 and 1.12 off in steps 1 to 4,
# whose outputs are all that of the first.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q flax==0.12.8 jax==0.10.2
"$room/env/bin/python" - <<'PY'

import sys

import jax.numpy as jnp
import numpy as np
from flax import nnx

X = jnp.asarray(np.random.default_rng(0).standard_normal((1, 4, 8)), jnp.float32)
layer = nnx.MultiHeadAttention(num_heads=2, in_features=8, decode=False, rngs=nnx.Rngs(0))
whole = np.asarray(layer(X, is_causal=True))


def steps(**switch):
    layer.init_cache(X.shape)
    found = [layer(X[:, t : t + 1], decode=True, **switch) for t in range(4)]
    return np.concatenate(found, axis=1)


without, switched = steps(), steps(is_causal=True)
print("without the switch, off by step:", np.abs(without - whole).max((0, 2)))
print("with is_causal=True, off by step:", np.abs(switched - whole).max((0, 2)))
print("its steps differ from its first by", np.abs(switched - switched[:, :1]).max())
kept = np.allclose(without, whole, atol=1e-5)
first = np.allclose(switched, switched[:, :1], atol=1e-6)
apart = not np.allclose(switched, whole, atol=0.1)
sys.exit(not (kept and first and apart))
PY
