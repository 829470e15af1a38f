"""Ask IREE's operation iree_linalg_ext.attention what is kept in ``recorded/iree.json``.

In an environment that has iree-base-compiler, iree-base-runtime and NumPy, from the top of the
repository::

    PYTHONPATH=tests python tests/peers/record_iree.py

It is compiled for the CPU (llvm-cpu). A mask of booleans is handed over as i1; a bias takes the
mask's place, as one of numbers. There is no switch for a look-ahead, and none for a soft cap: the
operation's region holds whatever the caller does to a score. The compiler makes a program of
float64 one of float32 by default and says in a warning that callers must hand over float32; so
they do here.
"""

from functools import cache

import numpy as np
from peers.questions import NotAsked, Way, numbers, save

TYPES = {"float16": "f16", "float32": "f32", "float64": "f64", "int32": "i32", "bool": "i1"}


def iree_attention(Q, K, V, mask, causal, bias=None, scale=None, given=None):
    shape = (*Q.shape[:3], K.shape[2])
    if causal:
        triangle = np.tri(*shape[2:], dtype=bool)
        mask = np.broadcast_to(triangle if mask is None else mask & triangle, shape)
    if given is not None and given.ndim != 4:
        raise NotAsked("a map that the caller writes names the axes of a mask")
    mask = numbers(mask, bias) if given is None else given
    scale = Q.shape[3] ** -0.5 if scale is None else scale
    arrays = [Q, K, V] if mask is None else [Q, K, V, mask]
    main = _compiled(tuple((M.shape, str(M.dtype)) for M in arrays), scale)
    arrays = [M.astype("float32") if M.dtype == np.float64 else M for M in arrays]
    return main(*map(np.ascontiguousarray, arrays)).to_host(), None


@cache
def _compiled(of: tuple, scale: float):
    import iree.compiler
    import iree.runtime

    scores, kind = of[0][0][:3], TYPES[of[0][1]]
    types = [f"tensor<{'x'.join(map(str, shape))}x{TYPES[dtype]}>" for shape, dtype in of]
    output = f"tensor<{'x'.join(map(str, (*scores, of[2][0][3])))}x{kind}>"
    names = ["%q", "%k", "%v", "%mask"][: len(of)]
    axes = ["b, h, m, d", "b, h, s, d", "b, h, s, n", "", "b, h, m, s", "b, h, m, n"]
    axes = axes if len(of) == 4 else axes[:4] + axes[5:]
    maps = ", ".join(f"affine_map<(b, h, m, n, d, s) -> ({found})>" for found in axes)
    program = f"""
    func.func @main({", ".join(map("{}: {}".format, names, types))}) -> {output} {{
      %scale = arith.constant {scale:e} : {kind}
      %empty = tensor.empty() : {output}
      %found = iree_linalg_ext.attention <{{indexing_maps = [{maps}]}}>
        ins({", ".join([*names[:3], "%scale", *names[3:]])} :
            {", ".join([*types[:3], kind, *types[3:]])}) outs(%empty : {output}) {{
        ^bb0(%score: f32):
          iree_linalg_ext.yield %score : f32
        }} -> {output}
      return %found : {output}
    }}"""
    options = {"target_backends": ["llvm-cpu"], "extra_args": ["--iree-llvmcpu-target-cpu=host"]}
    try:
        made = iree.compiler.compile_str(program, **options)
    except iree.compiler.CompilerToolError as error:
        said = [line for line in str(error).splitlines() if "error:" in line]
        raise RuntimeError(said[0] if said else "the compiler fails") from error
    return iree.runtime.load_vm_flatbuffer(made, driver="local-task").main


LIBRARIES = {"iree": Way(iree_attention, "iree-base-compiler", "iree")}

if __name__ == "__main__":
    save("iree", LIBRARIES, ("iree-base-compiler", "iree-base-runtime"))
