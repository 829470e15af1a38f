#!/bin/sh
# torch 2.13.0 exported by torch.onnx.export (onnxscript 0.7.2, onnx 1.23.2), run by onnxruntime
# 1.32.0 on the CPU; F.scaled_dot_product_attention with a boolean mask that hides nothing, and a
# key of NaN. Eager torch and opset 23 answer NaN; opset 18, the default opset (20) and the older
# exporter (dynamo=False) answer 0: the graph puts 0 for every weight that is NaN, so a fault
# upstream looks like a row that sees no key. Without the mask they answer NaN.
# The older exporter also makes float32 of a float16 result where there is a boolean mask.
# Guess before the run: NaN in all four, and float16.
# Output seen:
#   eager    NaN; no mask: NaN; float16
#   18       0; no mask: NaN; float16
#   default  0; no mask: NaN; float16
#   23       NaN; no mask: NaN; float16
#   older    0; no mask: NaN; float32
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q torch==2.13.0 onnxscript==0.7.2 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
"$folder/env/bin/python" - 2>"$folder/errors" <<'PYTHON'
import io
import logging
import sys

import numpy as np
import onnxruntime
import torch

logging.disable()


class Attention(torch.nn.Module):
    def forward(self, q, k, v, mask=None):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def answer(mode, *inputs):
    if mode == "eager":
        return Attention()(*inputs).numpy()
    written = io.BytesIO()
    if mode == "older":
        torch.onnx.export(Attention(), inputs, written, dynamo=False)
    else:
        opset = None if mode == "default" else int(mode)
        program = torch.onnx.export(
            Attention(), inputs, opset_version=opset, dynamo=True, verbose=False
        )
        written.write(program.model_proto.SerializeToString())
    session = onnxruntime.InferenceSession(
        written.getvalue(), providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_inputs()]
    return session.run(None, {n: t.numpy() for n, t in zip(names, inputs, strict=True)})[0]


def word(output):
    return "NaN" if np.isnan(output).all() else "0" if not output.any() else "numbers"


torch.manual_seed(0)
q, k, v = (torch.randn(1, 1, 2, 4) for _ in range(3))
mask = torch.ones(1, 1, 2, 2, dtype=torch.bool)
halves = [M.half() for M in (q, k, v)]
k[..., 1, :] = float("nan")
seen = {}
for mode in ("eager", "18", "default", "23", "older"):
    masked, plain = word(answer(mode, q, k, v, mask)), word(answer(mode, q, k, v))
    seen[mode] = masked, plain, str(answer(mode, *halves, mask).dtype)
    print(f"{mode:8} {masked}; no mask: {plain}; {seen[mode][2]}")
expected = {
    "eager": ("NaN", "NaN", "float16"),
    "18": ("0", "NaN", "float16"),
    "default": ("0", "NaN", "float16"),
    "23": ("NaN", "NaN", "float16"),
    "older": ("0", "NaN", "float32"),
}
sys.exit(seen != expected)
PYTHON
