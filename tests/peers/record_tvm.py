"""Ask TVM's relax.op.nn.attention what is kept in ``recorded/tvm.json``.

In an environment that has apache-tvm and NumPy, from the top of the repository::

    PYTHONPATH=tests python tests/peers/record_tvm.py

It is legalized and compiled for the CPU (llvm). Its mask is a bias of numbers: a boolean one is
written as 0 and −∞. Its window_size is refused by this path; fewer heads of keys its documentation
does not have.
"""

from functools import partial

import numpy as np
from peers.questions import Way, numbers, save


def tvm_attention(Q, K, V, mask, causal, corner="TopLeft", bias=None, scale=None, given=None):
    if mask is not None and bias is None:
        bias = np.zeros((*Q.shape[:3], K.shape[2]), Q.dtype)
    given = numbers(mask, bias) if given is None else given
    options = {"scale": scale, "causal_mask": corner if causal else None}
    arrays = [M.swapaxes(1, 2) for M in (Q, K, V)] + ([] if given is None else [given])
    return _run(arrays, options).swapaxes(1, 2), None


def _run(arrays: list, options: dict) -> np.ndarray:
    import tvm
    from tvm import relax

    names = ("q", "k", "v", "bias")
    variables = [
        relax.Var(name, relax.TensorType(array.shape, str(array.dtype)))
        for name, array in zip(names, arrays, strict=False)
    ]
    builder = relax.BlockBuilder()
    with builder.function("main", variables):
        with builder.dataflow():
            found = builder.emit_output(builder.emit(relax.op.nn.attention(*variables, **options)))
        builder.emit_func_output(found)
    machine = relax.VirtualMachine(tvm.compile(builder.get(), "llvm"), tvm.cpu())
    tensors = (tvm.runtime.tensor(np.ascontiguousarray(array)) for array in arrays)
    return machine["main"](*tensors).numpy()


LIBRARIES = {
    "tvm": Way(tvm_attention, "apache-tvm", "tvm"),
    "tvm_lower_right": Way(
        partial(tvm_attention, corner="BottomRight"), "apache-tvm", "tvm_lower_right"
    ),
}

if __name__ == "__main__":
    save("tvm", LIBRARIES, ("apache-tvm",))
