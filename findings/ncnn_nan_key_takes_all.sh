#!/bin/sh
# ncnn 1.0.20261020, the CPU (x86), float32: the layer MultiHeadAttention, identity projections,
# a mask of −∞ over one key that is NaN.
#
# A NaN anywhere in the scores is read as a very large number: every query gives its whole weight to
# that key, though the mask hides it. The output is the key's value, finite, with nothing to notice.
#
# Guess before the run: NaN in every row, since the mask is added.
# Seen: all four outputs equal V[1] (1e-6); without the NaN the mask hides key 1 rightly.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q ncnn==1.0.20261020 numpy==2.4.6
"$room/env/bin/python" - <<'PY'
import os
import sys
import tempfile

import ncnn
import numpy as np

random = np.random.RandomState(0)
Q, K, V = (random.standard_normal((4, 4)).astype("float32") for _ in range(3))
mask = np.zeros((4, 4), "float32")
mask[:, 1] = -np.inf
graph = """7767517
5 5
Input q 0 1 q
Input k 0 1 k
Input v 0 1 v
Input mask 0 1 mask
MultiHeadAttention attend 4 1 q k v mask y 0=4 1=1 2=16 5=1
"""
part = np.concatenate([np.zeros(1, "<f4"), np.eye(4, dtype="<f4").ravel(), np.zeros(4, "<f4")])


def run(K):
    net = ncnn.Net()
    net.load_param_mem(graph)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.bin")
        np.concatenate([part] * 4).tofile(path)
        net.load_model(path)
    extractor = net.create_extractor()
    for name, array in {"q": Q, "k": K, "v": V, "mask": mask}.items():
        extractor.input(name, ncnn.Mat(array).clone())
    return np.array(extractor.extract("y")[1])


weights = np.exp(Q @ K.T / 2 + mask)
right = weights / weights.sum(-1, keepdims=True) @ V
plain = run(K)
K[1] = np.nan
found = run(K)
print("no NaN: off", np.abs(plain - right).max())
print("key 1 NaN:", found.round(4).tolist(), "V[1]:", V[1].round(4).tolist())
sys.exit(not (np.allclose(plain, right, atol=1e-5) and np.allclose(found, V[1], atol=1e-5)))
PY
