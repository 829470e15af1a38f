#!/bin/sh
# Keras 3.15.1 on JAX 0.10.2, the CPU, float32 (the same on torch): MultiHeadAttention and the
# padding mask that Embedding(mask_zero=True) attaches to its output.
#
# The layer takes the mask off its own input. Whatever uses that tensor afterwards has no mask: a
# second attention, and the residual x + attention(x), so that in a transformer all blocks but the
# first look at the padding. keras.layers.Attention and Dense leave the mask where it is.
#
# Guess before the run: the mask stays; two calls on the same tensor give the same.
# Seen, 3 tokens and 3 of padding, a query's weights: first call ⅓, ⅓, ⅓, 0, 0, 0; second call ⅙
# each; the second block of a model, 0.17 or so each.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q keras==3.15.1 jax==0.10.2
"$room/env/bin/python" - <<'PY'
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np

keras.utils.set_random_seed(0)
ids = np.array([[1, 2, 3, 0, 0, 0]])
embed = keras.layers.Embedding(10, 4, mask_zero=True)
first, second = (keras.layers.MultiHeadAttention(1, 4) for _ in range(2))
X = embed(ids)


def weights(layer, X):
    return np.asarray(layer(X, X, return_attention_scores=True)[1])[0, 0, 0]


seen = [weights(first, X), weights(first, X)]
print("first call ", seen[0].round(2))
print("second call", seen[1].round(2))
given = keras.Input((6,), dtype="int32")
X = embed(given)
X = keras.layers.LayerNormalization()(keras.layers.Add()([X, first(X, X)]))
model = keras.Model(given, second(X, X, return_attention_scores=True)[1])
block = np.asarray(model(ids))[0, 0, 0]
print("second block of a functional model", block.round(2))
sys.exit(not (seen[0][3:].sum() == 0 and seen[1][3:].sum() > 0.4 and block[3:].sum() > 0.3))
PY
