#!/bin/sh
# Flax 0.12.8 on JAX 0.10.2, the CPU, float16: nnx.MultiHeadAttention, scores beyond 65504.
#
# The same layer has another arithmetic as soon as it keeps its weights (sow_weights=True) or has a
# dropout rate, even with deterministic=True: by default it calls jax.nn.dot_product_attention,
# whose scores are float32; otherwise its own code, whose scores are float16, overflow and make NaN.
# So looking at the weights, or a dropout that is off, changes the output of the model.
#
# Guess before the run: keeping weights or a dropout that is off changes no output.
# Seen: the default has no NaN; sow_weights=True and dropout_rate=0.5 with deterministic=True have
# NaN in the same rows.
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

X = jnp.asarray(np.random.default_rng(0).standard_normal((1, 4, 4)) * 400, jnp.float16)


def layer(**options):
    made = nnx.MultiHeadAttention(
        num_heads=1,
        in_features=4,
        decode=False,
        use_bias=False,
        dtype=jnp.float16,
        param_dtype=jnp.float16,
        rngs=nnx.Rngs(0),
        **options,
    )
    for name in ("query", "key", "value"):
        getattr(made, name).kernel[...] = jnp.eye(4, dtype=jnp.float16).reshape(4, 1, 4)
    made.out.kernel[...] = jnp.eye(4, dtype=jnp.float16).reshape(1, 4, 4)
    return made


rows = {
    "default": layer()(X),
    "sow_weights=True": layer()(X, sow_weights=True),
    "dropout_rate=0.5, deterministic=True": layer(dropout_rate=0.5)(X, deterministic=True),
}
rows = {name: np.isnan(np.asarray(output)).any(-1)[0] for name, output in rows.items()}
for name, nan in rows.items():
    print(f"{name}: rows of NaN {nan.nonzero()[0].tolist()}")
plain, sown, dropped = rows.values()
sys.exit(not (not plain.any() and sown.any() and (sown == dropped).all()))
PY
