#!/bin/sh
# Keras 3.15.1 on JAX 0.10.2, the CPU, float32: return_attention_scores=True with training=True and
# a dropout of 0.5, in two layers of the same library.
#
# keras.layers.MultiHeadAttention returns the weights before the dropout, which are not those that
# made the output; keras.layers.Attention returns them after it (as torch's nn.MultiheadAttention
# and Hugging Face's eager attention do).
#
# Guess before the run: before the dropout in both.
# Seen: all rows of MultiHeadAttention sum to 1; those of Attention do not, half of their weights
# are 0, and the output is their product with the values.
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
X = np.random.RandomState(0).standard_normal((1, 8, 4)).astype("float32")
options = {"training": True, "return_attention_scores": True}
heads = keras.layers.MultiHeadAttention(1, 4, dropout=0.5)
plain = keras.layers.Attention(dropout=0.5)
before = np.asarray(heads(X, X, **options)[1])[0, 0]
output, after = (np.asarray(found)[0] for found in plain([X, X], **options))
print("MultiHeadAttention: sums of rows", before.sum(-1).round(3), "zeros", (before == 0).sum())
print("Attention:          sums of rows", after.sum(-1).round(3), "zeros", (after == 0).sum())
print("Attention: output off weights @ V", np.abs(output - after @ X[0]).max())
sys.exit(
    not (
        np.allclose(before.sum(-1), 1, atol=1e-5)
        and (before > 0).all()
        and (after == 0).sum() > 8
        and np.allclose(output, after @ X[0], atol=1e-5)
    )
)
PY
