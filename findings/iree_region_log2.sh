#!/bin/sh
# IREE 3.13.0, llvm-cpu, iree_linalg_ext.attention, float32: the region of the operation, which is
# handed each score and yields what takes its place (for a soft cap, say).
#
# The score that it is handed is not Q·K times the scale: it is multiplied by log2(e) as well, since
# the weights are powers of 2. A soft cap of c written there, c · tanh(score / c), caps at
# c · ln 2 = 0.69 c; a bias added there counts 0.69 of itself.
#
# Guess before the run: the region is handed scale · Q·K.
# Seen, soft cap 0.8: 0.11 off a cap of 0.8, 2e-7 off a cap of 0.8 · ln 2.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q iree-base-compiler==3.13.0 iree-base-runtime==3.13.0 numpy==2.4.6
"$room/env/bin/python" - <<'PY'
import sys

import iree.compiler
import iree.runtime
import numpy as np


def attention(kinds, arrays, body, given):
    """Compile the operation for (n, 4) arrays and run it."""
    names = ["%q", "%k", "%v", "%mask"][: len(kinds)]
    maps = ["m, d", "s, d", "s, n", "", "m, s", "m, n"]
    maps = maps if len(kinds) == 4 else maps[:4] + maps[5:]
    maps = ", ".join(f"affine_map<(m, n, d, s) -> ({axes})>" for axes in maps)
    program = f"""
    func.func @main({", ".join(map("{}: {}".format, names, kinds))}) -> {kinds[0]} {{
      %scale = arith.constant 0.5 : f32
      %empty = tensor.empty() : {kinds[0]}
      %found = iree_linalg_ext.attention <{{indexing_maps = [{maps}]}}>
        ins({", ".join([*names[:3], "%scale", *names[3:]])} :
            {", ".join([*kinds[:3], "f32", *kinds[3:]])}) outs(%empty : {kinds[0]}) {{
        ^bb0(%score: f32):
          {body}
          iree_linalg_ext.yield {given} : f32
        }} -> {kinds[0]}
      return %found : {kinds[0]}
    }}"""
    options = {"target_backends": ["llvm-cpu"], "extra_args": ["--iree-llvmcpu-target-cpu=host"]}
    made = iree.compiler.compile_str(program, **options)
    return iree.runtime.load_vm_flatbuffer(made, driver="local-task").main(*arrays).to_host()


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


random = np.random.RandomState(0)
Q, K, V = (random.standard_normal((4, 4)).astype("float32") for _ in range(3))
cap = """%cap = arith.constant 0.8 : f32
          %part = arith.divf %score, %cap : f32
          %flat = math.tanh %part : f32
          %capped = arith.mulf %flat, %cap : f32"""
found = attention(["tensor<4x4xf32>"] * 3, (Q, K, V), cap, "%capped")
scores = Q @ K.T / 2
caps = (0.8, 0.8 * np.log(2))
off = {c: np.abs(softmax(c * np.tanh(scores / c)) @ V - found).max() for c in caps}
for c, found in off.items():
    print(f"off a soft cap of {c:.4f}: {found:.2g}")
sys.exit(not (off[0.8] > 0.01 and off[0.8 * np.log(2)] < 1e-5))
PY
