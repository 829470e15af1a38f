#!/bin/sh
# IREE 3.13.0, llvm-cpu, iree_linalg_ext.attention, float32: a mask of integers (i32), such as the
# numbers of segments or a count.
#
# It is taken with no word, and its lowest bit is read: odd numbers may look, even ones are hidden,
# 2 as much as 0.
#
# Guess before the run: refused by the compiler (its masks are i1 or of floats), or anything but 0
# may look.
# Seen, mask 0, 1, 2, 3, all scores 0: weights 0, 0.5, 0, 0.5.
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


Q, K, V = np.zeros((4, 4), "float32"), np.zeros((4, 4), "float32"), np.eye(4, dtype="float32")
mask = np.tile(np.arange(4, dtype="int32"), (4, 1))
found = attention(["tensor<4x4xf32>"] * 3 + ["tensor<4x4xi32>"], (Q, K, V, mask), "", "%score")
print("mask", mask[0], "weights", found[0])
sys.exit(not np.allclose(found, [0, 0.5, 0, 0.5]))
PY
