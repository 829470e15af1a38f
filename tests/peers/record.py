"""Ask the real libraries a few small questions and keep their answers in ``recorded.json``.

The tests compare the package with those answers, so that they need none of the libraries. To record again, in an
environment that has torch, keras, jax, transformers and onnx, from the top of the repository::

    python tests/peers/record.py

Every question is one of CASES, its numbers drawn from a seed; every library is one function of LIBRARIES, from
(B, H, L, D) arrays to its output and, where it returns them, its weights, in that layout.
"""

import json
import os
from importlib.metadata import version
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("recorded.json")
KEYS = [[True, False, True, True]]
SOME = [
    [True, False, False, True],
    [True, True, False, False],
    [False, True, True, True],
    [True, True, True, True],
]
BLIND = [SOME[0], [False] * 4, SOME[2], SOME[3]]
PADDED_OUT = [[False] * 4]


def _case(
    seed, n_q=4, n_k=4, d_v=4, lead=(1, 1), dtype="float64", factor=1.0, mask=None, causal=False
) -> dict:
    return locals()


CASES = {
    "float64": _case(1),
    "float32": _case(2, dtype="float32"),
    "a mask over keys": _case(3, mask=KEYS),
    "a mask": _case(4, mask=SOME),
    "a mask, float32": _case(5, dtype="float32", mask=SOME),
    "a hidden row": _case(6, mask=BLIND),
    "a hidden row, float32": _case(7, dtype="float32", mask=BLIND),
    "no key at all, float32": _case(8, n_q=2, dtype="float32", mask=PADDED_OUT),
    "causal": _case(9, causal=True),
    "causal, 2 queries and 4 keys": _case(10, n_q=2, causal=True),
    "causal, 4 queries and 2 keys": _case(11, n_k=2, causal=True, dtype="float32"),
    "causal and a mask": _case(12, mask=SOME, causal=True),
    "causal and a mask over keys that leaves row 1 none": _case(
        13, mask=[[False, True, True, True]], causal=True
    ),
    "large scores": _case(14, factor=60.0, dtype="float32"),
    "large scores and a mask": _case(15, factor=60.0, mask=SOME),
    "two items of two heads": _case(16, lead=(2, 2), n_q=2, n_k=3),
    "two items of two heads and a mask": _case(
        17, lead=(2, 2), n_q=2, dtype="float32", mask=[[SOME[:2]]]
    ),
    "narrow values": _case(18, n_q=2, d_v=2),
}


def drawn(case: dict) -> tuple[np.ndarray, ...]:
    """Q, K, V and the mask of a case; RandomState, because NumPy promises that its stream never changes."""
    stream = np.random.RandomState(case["seed"])
    shapes = ((case["n_q"], 4), (case["n_k"], 4), (case["n_k"], case["d_v"]))
    Q, K, V = (
        stream.standard_normal((*case["lead"], *shape)).astype(case["dtype"]) for shape in shapes
    )
    mask = None if case["mask"] is None else np.array(case["mask"])
    return (Q * case["factor"]).astype(Q.dtype), K, V, mask


# ---- the libraries: Q, K, V (B, H, L, D), mask (B, H, n_q, n_k) or None, causal → output, weights or None -----------


def torch_sdpa(Q, K, V, mask, causal):
    import torch

    mask = None if mask is None else torch.tensor(mask)
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(*map(torch.tensor, (Q, K, V)), attn_mask=mask, is_causal=causal), None


def torch_mha(Q, K, V, mask, causal):
    import torch

    heads, d = Q.shape[1], Q.shape[1] * Q.shape[3]
    layer = torch.nn.MultiheadAttention(
        d, heads, bias=False, batch_first=True, dtype=torch.tensor(Q).dtype
    )
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(d).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(d))
    flat = [torch.tensor(_joined(M)) for M in (Q, K, V)]
    hide = np.zeros((*Q.shape[:3], K.shape[2]), bool) if mask is None else mask
    hide = hide | ~np.tri(*hide.shape[2:], dtype=bool) if causal else hide
    given = None if mask is None and not causal else torch.tensor(hide.reshape(-1, *hide.shape[2:]))
    output, weights = layer(*flat, attn_mask=given, need_weights=True, average_attn_weights=False)
    return _split(output.detach(), heads), weights.detach()


def keras_attention(Q, K, V, mask, causal):
    import keras

    q, k, v = (M.reshape(-1, *M.shape[2:]) for M in (Q, K, V))
    options = {"use_causal_mask": causal, "return_attention_scores": True}
    if mask is not None:
        if (mask != mask[:, :, :1]).any():
            raise ValueError("not asked: its documented mask is over keys, (B, Tv)")
        options["mask"] = [None, np.ascontiguousarray(mask[:, :, 0].reshape(-1, mask.shape[3]))]
    output, weights = keras.layers.Attention()([q, v, k], **options)
    return tuple(np.asarray(M).reshape(*Q.shape[:3], -1) for M in (output, weights))


def keras_mha(Q, K, V, mask, causal):
    import keras

    heads, d, d_v = Q.shape[1], Q.shape[3], V.shape[3]
    layer = keras.layers.MultiHeadAttention(heads, d, d_v, use_bias=False, output_shape=heads * d_v)
    flat = {"query": _joined(Q), "value": _joined(V), "key": _joined(K)}
    layer.build(*(flat[name].shape for name in ("query", "value", "key")))
    layer.set_weights(
        [np.eye(max(w.shape)).reshape(w.shape) for w in layer.weights]
    )  # Q, K, V and output as they are
    same = mask is None or (mask == mask[:, :1]).all()
    given = None if mask is None else mask[:, 0] if same else mask
    output = layer(**flat, attention_mask=given, use_causal_mask=causal)
    return _split(np.asarray(output.detach()), heads), None


def keras_ops(Q, K, V, mask, causal):
    import keras

    q, k, v = (M.swapaxes(1, 2) for M in (Q, K, V))
    output = keras.ops.dot_product_attention(q, k, v, mask=mask, is_causal=causal)
    return np.asarray(output).swapaxes(1, 2), None


def jax(Q, K, V, mask, causal):
    import jax

    q, k, v = (jax.numpy.asarray(M.swapaxes(1, 2)) for M in (Q, K, V))
    return np.asarray(jax.nn.dot_product_attention(q, k, v, mask=mask, is_causal=causal)).swapaxes(
        1, 2
    ), None


def onnx_23(Q, K, V, mask, causal):
    import onnx
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    given = {"Q": Q, "K": K, "V": V} | ({} if mask is None else {"mask": mask})
    node = helper.make_node(
        "Attention",
        list(given),
        ["Y", "", "", "weights"],
        is_causal=int(causal),
        qk_matmul_output_mode=3,
    )
    types = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in given.items()}
    inputs = [
        helper.make_tensor_value_info(name, types[name], array.shape)
        for name, array in given.items()
    ]
    sizes = {"Y": (*Q.shape[:3], V.shape[3]), "weights": (*Q.shape[:3], K.shape[2])}
    outputs = [
        helper.make_tensor_value_info(name, types["Q"], size) for name, size in sizes.items()
    ]
    graph = helper.make_graph([node], "attention", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    onnx.checker.check_model(model)
    return ReferenceEvaluator(model).run(None, given)


def hf_eager(Q, K, V, mask, causal):
    import torch
    from transformers.masking_utils import eager_mask
    from transformers.models.llama.modeling_llama import eager_attention_forward

    q, k, v = map(torch.tensor, (Q, K, V))
    allowed = (
        torch.ones(*Q.shape[:3], K.shape[2], dtype=torch.bool)
        if mask is None
        else torch.tensor(mask)
    )

    def may_look(item, head, query, key):
        return allowed[item, 0, query, key] & ((key <= query) | (not causal))

    made = None
    if mask is not None or causal:  # one mask for all heads, as the helper makes it
        made = eager_mask(len(Q), Q.shape[2], K.shape[2], mask_function=may_look, dtype=q.dtype)
    module = torch.nn.Module().eval()
    module.num_key_value_groups = 1
    output, weights = eager_attention_forward(module, q, k, v, made, scaling=Q.shape[3] ** -0.5)
    return output.transpose(1, 2), weights


def _joined(M: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(M.swapaxes(1, 2).reshape(M.shape[0], M.shape[2], -1))


def _split(M, heads: int) -> np.ndarray:
    M = np.asarray(M)
    return M.reshape(*M.shape[:2], heads, -1).swapaxes(1, 2)


LIBRARIES = {
    "torch_sdpa": (torch_sdpa, "torch"),
    "torch_mha": (torch_mha, "torch"),
    "keras_attention": (keras_attention, "keras"),
    "keras_mha": (keras_mha, "keras"),
    "keras_ops": (keras_ops, "keras"),
    "jax": (jax, "jax"),
    "onnx_23": (onnx_23, "onnx"),
    "hf_eager": (hf_eager, "transformers"),
}


def asked(library, case: dict) -> dict:
    """One answer as lists (NaN as null), or the kind of error that came instead."""
    Q, K, V, mask = drawn(case)
    mask = (
        None
        if mask is None
        else np.ascontiguousarray(np.broadcast_to(mask, (*Q.shape[:3], K.shape[2])))
    )
    try:
        output, weights = library(Q, K, V, mask, case["causal"])
    except Exception as error:  # whatever a library raises is its answer
        return {"refused": f"{type(error).__name__}: {error}".splitlines()[0][:120]}
    answer = {"dtype": str(np.asarray(output).dtype), "output": _listed(output)}
    return answer if weights is None else answer | {"weights": _listed(weights)}


def _listed(array) -> list:
    array = np.asarray(array)
    flat = [
        None if np.isnan(x) else float(x if array.dtype == np.float64 else str(x))
        for x in array.ravel()
    ]
    return np.array(flat, object).reshape(array.shape).tolist()


def main() -> None:
    os.environ.setdefault("KERAS_BACKEND", "torch")
    answers = {
        name: {case: asked(library, CASES[case]) for case in CASES}
        for name, (library, _) in LIBRARIES.items()
    }
    versions = {
        package: version(package)
        for package in ("torch", "keras", "jax", "onnx", "transformers", "numpy")
    }
    lines = [f'"cases": {json.dumps(CASES)}', f'"versions": {json.dumps(versions)}']
    lines += [f'"{name}": {json.dumps(given)}' for name, given in answers.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
