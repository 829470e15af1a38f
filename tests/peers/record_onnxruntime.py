"""Ask ONNX Runtime's operators what is kept in ``recorded/onnxruntime.json``.

In an environment that has onnxruntime and onnx, from the top of the repository::

    PYTHONPATH=tests python tests/peers/record_onnxruntime.py

Microsoft's own operators have kernels of float32 (GroupQueryAttention of float16 too), so float64
is handed over as float32, as a caller must.
"""

from functools import partial

import numpy as np
from peers.questions import NotAsked, Way, joined, numbers, save, split


def run(operator: str, domain: str, opset: int, inputs: dict, outputs: tuple, **attributes):
    """Run one node; an input that is None, and an output of no name, is left out."""
    import onnxruntime
    from onnx import helper

    given = {name: array for name, array in inputs.items() if array is not None}
    names = [name if name in given else "" for name in inputs]
    node = helper.make_node(operator, names, outputs, domain=domain, **attributes)
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in given.items()}
    described = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node],
        operator,
        [described(name, kinds[name], array.shape) for name, array in given.items()],
        [described(name, kinds["Q"], None) for name in outputs if name],
    )
    opsets = [helper.make_opsetid("", opset)]
    opsets += [helper.make_opsetid(domain, 1)] if domain else []
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # an error is raised as well
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run([name for name in outputs if name], given)


def attention(
    Q,
    K,
    V,
    mask,
    causal,
    opset=23,
    cache="",
    alone=False,
    groups=1,
    softcap=None,
    window=None,
    bias=None,
    scale=None,
    given=None,
):
    """ONNX' own operator. ``cache``: "past" hands over all keys but the last n_q as past, "lengths"
    says how many there are; ``alone`` asks for no weights.
    """
    if window and opset < 25:
        raise NotAsked("a window is of opset 25")
    attributes = {"is_causal": int(causal), "softcap": softcap, "scale": scale}
    attributes |= {"left_window_size": window - 1, "right_window_size": 0} if window else {}
    past = K.shape[2] - Q.shape[2] if cache == "past" else 0
    if past < 0:
        raise NotAsked("a past has no negative length")
    inputs = {"Q": Q, "K": K[:, :, past:], "V": V[:, :, past:]}
    inputs["mask"] = numbers(mask, bias) if given is None else given
    before = (K[:, :, :past], V[:, :, :past]) if cache == "past" else (None, None)
    inputs |= dict(zip(("past_key", "past_value"), before, strict=True))
    inputs |= {"lengths": np.full(len(Q), K.shape[2], np.int64)} if cache == "lengths" else {}
    outputs = ["Y", *(("keys", "values") if cache == "past" else ("", ""))]
    outputs += [] if alone else ["weights"]
    attributes |= {} if alone else {"qk_matmul_output_mode": 3}
    attributes = {name: value for name, value in attributes.items() if value is not None}
    output, *others = run("Attention", "", opset, inputs, tuple(outputs), **attributes)
    return output, None if alone else others[-1]


def multi_head(Q, K, V, mask, causal, bias=None, scale=None, given=None):
    """Microsoft's MultiHeadAttention; its key_padding_mask of int32, 1 for what may be seen, has no
    axis of heads.
    """
    Q, K, V, bias = _float32(Q, K, V, bias)
    if Q.dtype != np.float32:
        raise NotAsked(f"there is no kernel of {Q.dtype}")
    if mask is not None:
        given = mask[:, 0].astype(np.int32)
    elif given is not None and given.ndim == 4:  # of one head
        given = given[:, 0]
    inputs = {"Q": joined(Q), "K": joined(K), "V": joined(V), "biases": None}
    inputs |= {"key_padding_mask": given, "attention_bias": bias}
    attributes = {"num_heads": Q.shape[1], "unidirectional": int(causal)}
    attributes |= {} if scale is None else {"scale": scale}
    (output,) = run("MultiHeadAttention", "com.microsoft", 21, inputs, ("Y",), **attributes)
    return split(output, Q.shape[1]), None


def grouped(
    Q,
    K,
    V,
    mask,
    causal,
    weights=False,
    groups=1,
    softcap=None,
    window=None,
    sinks=None,
    bias=None,
    scale=None,
    given=None,
):
    """Microsoft's GroupQueryAttention; keys before the first query are handed over as past. Its
    mask is a bias of 0 and −∞. A window wants causal=1, which is the default.

    A head is of 8 numbers or a multiple: so zeros make 4 numbers 16, and Q is twice as large, for
    which the default scale of 1/√16 is 1/√4, to the bit; a scale given is halved.
    """
    Q, K, V, bias, sinks = _float32(Q, K, V, bias, sinks)
    if V.shape[3] != K.shape[3]:
        raise NotAsked("V is as wide as K")
    Q, K, V = (np.pad(M, ((0, 0), (0, 0), (0, 0), (0, 12))) for M in (Q, K, V))
    Q, scale = Q * Q.dtype.type(2), None if scale is None else scale / 2
    if mask is not None:
        bias = np.zeros(mask.shape, Q.dtype) if bias is None else bias
        bias = numbers(mask, bias)
    past = max(0, K.shape[2] - Q.shape[2])
    inputs = {"Q": joined(Q), "K": joined(K[:, :, past:]), "V": joined(V[:, :, past:])}
    before = (K[:, :, :past], V[:, :, :past]) if past else (None, None)
    inputs |= dict(zip(("past_key", "past_value"), before, strict=True))
    inputs["seqlens"] = np.full(len(Q), K.shape[2] - 1, np.int32)
    inputs["total"] = np.array(K.shape[2], np.int32)
    inputs |= dict.fromkeys(("cos_cache", "sin_cache", "position_ids"))
    inputs |= {"attention_bias": bias if given is None else given, "head_sink": sinks}
    attributes = {"num_heads": Q.shape[1], "kv_num_heads": K.shape[1], "softcap": softcap}
    attributes |= {"scale": scale, "local_window_size": window, "qk_output": 2 if weights else None}
    attributes |= {"causal": int(causal or bool(window))}
    attributes = {name: value for name, value in attributes.items() if value is not None}
    outputs = ("Y", "keys", "values", *(["weights"] if weights else []))
    found = run("GroupQueryAttention", "com.microsoft", 21, inputs, outputs, **attributes)
    return split(found[0], Q.shape[1])[..., :4], found[3] if weights else None


def _float32(*arrays):
    """The arrays, those of float64 as float32."""
    return [
        array.astype(np.float32) if array is not None and array.dtype == np.float64 else array
        for array in arrays
    ]


def _way(convention: str, ask, **options) -> Way:
    return Way(partial(ask, **options), "onnxruntime", convention)


LIBRARIES = {
    "ort_attention": _way("ort_attention", attention),
    "ort_attention, no weights": _way("ort_attention", attention, alone=True),
    "ort_attention, opset 24": _way("ort_attention", attention, opset=24),
    "ort_attention_25": _way("ort_attention_25", attention, opset=25),
    "ort_attention_past": _way("ort_attention_past", attention, cache="past"),
    "ort_attention_past, opset 24": _way("ort_attention_past", attention, opset=24, cache="past"),
    "ort_attention_past, lengths": _way("ort_attention_past", attention, opset=24, cache="lengths"),
    "ort_mha": _way("ort_mha", multi_head),
    "ort_gqa": _way("ort_gqa", grouped),
    "ort_gqa_weights": _way("ort_gqa_weights", grouped, weights=True),
}

if __name__ == "__main__":
    save("onnxruntime", LIBRARIES, ("onnxruntime", "onnx"))
