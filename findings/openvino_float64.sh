#!/bin/sh
# openvino 2026.4.1 (numpy 2.4.6), CPU, opset13.scaled_dot_product_attention, default settings.
# A query whose boolean mask hides every key has NaN as its output where Q, K and V are of float32
# or float16, and the mean of the values where they are of float64: the CPU computes in float32, and
# the -inf of float64 has become float32's lowest number.
# Guess before the run: NaN at every float type.
# Output seen:
#   float16: NaN
#   float32: NaN
#   float64: mean
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q openvino==2026.4.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy as np
import openvino
from openvino import opset13

seen = {}
for dtype in ("float16", "float32", "float64"):
    random = np.random.RandomState(0)
    arrays = [random.standard_normal((1, 1, 4, 4)).astype(dtype) for _ in range(3)]
    mask = np.ones((1, 1, 4, 4), bool)
    mask[..., 1, :] = False
    inputs = [opset13.parameter(M.shape, M.dtype) for M in (*arrays, mask)]
    node = opset13.scaled_dot_product_attention(*inputs)
    compiled = openvino.compile_model(openvino.Model([node], inputs), "CPU")
    row, V = compiled([*arrays, mask])[0][0, 0, 1], arrays[2][0, 0]
    mean = np.allclose(row, V.mean(0), atol=1e-3)
    seen[dtype] = "NaN" if np.isnan(row).all() else "mean" if mean else str(row)
    print(f"{dtype}: {seen[dtype]}")
sys.exit(seen != {"float16": "NaN", "float32": "NaN", "float64": "mean"})
PYTHON
