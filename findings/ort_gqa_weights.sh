#!/bin/sh
# onnxruntime 1.32.0 (onnx 1.23.2, numpy 2.4.6), CPU, com.microsoft.GroupQueryAttention, causal=1.
# A query whose attention_bias is -inf for every key has the output 0. Asking for the weights as
# well (qk_output=2), or setting a soft cap of 1e6, which changes no score, makes its output NaN;
# a row of float32's lowest number goes from 0 to the mean of the values up to its own.
# Guess before the run: NaN and the mean, in every mode.
# Output seen:
#   plain          -inf: 0    lowest: 0
#   weights asked  -inf: NaN  lowest: mean
#   soft cap 1e6   -inf: NaN  lowest: mean
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def second_row(fill, **more):
    random = np.random.RandomState(0)
    given = {name: random.standard_normal((1, 4, 8)).astype("f4") for name in ("Q", "K", "V")}
    bias = np.zeros((1, 1, 4, 4), "f4")
    bias[..., 1, :] = fill
    given |= {"lengths": np.array([3], "i4"), "total": np.array(4, "i4"), "bias": bias}
    slots = ["Q", "K", "V", "", "", "lengths", "total", "", "", "", "bias"]
    outputs = ["Y", "keys", "values", *(["weights"] if "qk_output" in more else [])]
    node = helper.make_node(
        "GroupQueryAttention", slots, outputs, domain="com.microsoft", num_heads=1,
        kv_num_heads=1, **more,
    )
    kinds = {np.dtype("f4"): TensorProto.FLOAT, np.dtype("i4"): TensorProto.INT32}
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node], "g", [info(n, kinds[a.dtype], a.shape) for n, a in given.items()],
        [info(n, TensorProto.FLOAT, None) for n in outputs],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    row, V = session.run(["Y"], given)[0][0, 1], given["V"][0]
    if np.isnan(row).all():
        return "NaN"
    return "0" if not row.any() else "mean" if np.allclose(row, V[:2].mean(0)) else str(row)


seen = {}
for mode, more in {
    "plain": {}, "weights asked": {"qk_output": 2}, "soft cap 1e6": {"softcap": 1e6}
}.items():
    seen[mode] = second_row(-np.inf, **more), second_row(np.finfo("f4").min, **more)
    print(f"{mode:14} -inf: {seen[mode][0]:4} lowest: {seen[mode][1]}")
expected = {"plain": ("0", "0"), "weights asked": ("NaN", "mean"), "soft cap 1e6": ("NaN", "mean")}
sys.exit(seen != expected)
PYTHON
