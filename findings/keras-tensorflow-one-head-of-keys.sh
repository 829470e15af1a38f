#!/bin/sh
# Keras 3.15.1 on TensorFlow 2.21.0, the CPU, float32: keras.ops.dot_product_attention with fewer
# heads of keys than of queries.
#
# Two heads of keys for four of queries are shared by neighbours, as on the other backends. One head
# for four (multi-query attention), which the torch and JAX backends take, is refused: the backend
# repeats heads only where there is more than one.
#
# Guess before the run: all four heads of queries share the one head of keys.
# Seen: 4 and 2 heads answer; 4 and 1 raise InvalidArgumentError, “Expected dimension 4 at axis 2”.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q tensorflow-cpu==2.21.0 keras==3.15.1
KERAS_BACKEND=tensorflow TF_CPP_MIN_LOG_LEVEL=3 "$room/env/bin/python" - <<'PY'
import sys

import keras
import numpy as np

draw = np.random.default_rng(0).standard_normal
found = {}
for heads in (4, 2, 1):
    q, k, v = (draw((1, 3, n, 8)).astype("float32") for n in (4, heads, heads))
    try:
        found[heads] = str(np.asarray(keras.ops.dot_product_attention(q, k, v)).shape)
    except Exception as error:
        found[heads] = type(error).__name__
    print(f"4 heads of queries, {heads} of keys: {found[heads]}")
sys.exit(found != {4: "(1, 3, 4, 8)", 2: "(1, 3, 4, 8)", 1: "InvalidArgumentError"})
PY
