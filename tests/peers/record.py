"""Ask torch, Keras, JAX, ONNX and Hugging Face what is kept in ``recorded/libraries.json``.

In an environment that has torch, keras, jax, transformers and onnx, from the top of the
repository::

    PYTHONPATH=tests python tests/peers/record.py
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np
from peers.questions import NotAsked, Way, answers, joined, numbers, save, split

# ---- Q, K, V (B, H, L, D), mask (B, H, n_q, n_k) or None, causal → output, weights or None -------


def torch_sdpa(Q, K, V, mask, causal, backend=None, groups=1, bias=None, scale=None, given=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    if backend == "FLASH_ATTENTION" and V.shape[-1] != K.shape[-1]:
        raise NotAsked("the flash path wants V as wide as K")
    q, k, v = map(torch.tensor, (Q, K, V))
    mask = numbers(mask, bias) if given is None else given
    mask = None if mask is None else torch.tensor(mask)
    attend = partial(torch.nn.functional.scaled_dot_product_attention, q, k, v, scale=scale)
    attend = partial(attend, enable_gqa=True) if groups > 1 else attend
    if backend is None:
        return attend(attn_mask=mask, is_causal=causal), None
    with sdpa_kernel(getattr(SDPBackend, backend)):
        return attend(attn_mask=mask, is_causal=causal), None


def torch_sdpa_lower_right(Q, K, V, mask, causal, groups=1, bias=None, scale=None, given=None):
    import torch
    from torch.nn.attention.bias import causal_lower_right

    if not causal:
        rest = {"groups": groups, "bias": bias, "scale": scale, "given": given}
        return torch_sdpa(Q, K, V, mask, causal, **rest)
    if mask is not None or bias is not None:
        raise ValueError("not asked: attn_mask holds one of the two")
    mask = causal_lower_right(Q.shape[2], K.shape[2])
    attend = torch.nn.functional.scaled_dot_product_attention
    attend = partial(attend, enable_gqa=True) if groups > 1 else attend
    return attend(*map(torch.tensor, (Q, K, V)), attn_mask=mask), None


def torch_mha(Q, K, V, mask, causal, need_weights=True, bias=None, given=None):
    import torch

    heads, d = Q.shape[1], Q.shape[1] * Q.shape[3]
    layer = torch.nn.MultiheadAttention(
        d, heads, bias=False, batch_first=True, dtype=torch.tensor(Q).dtype
    )
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(d).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(d))
    flat = [torch.tensor(joined(M)) for M in (Q, K, V)]
    hide = _hiding(mask, causal, Q, K) if given is None else torch.tensor(_two_axes(given))
    if bias is not None:
        seen = None if hide is None else ~hide.numpy().reshape(bias.shape)
        hide = torch.tensor(numbers(seen, bias)).flatten(0, 1)
    options = {"need_weights": need_weights, "average_attn_weights": False}
    output, weights = layer(*flat, attn_mask=hide, **options)
    return split(output.detach(), heads), weights.detach() if need_weights else None


def torch_mha_fast(Q, K, V, mask, causal):
    """The fast path, which wants one tensor for all three, biases and an even number of heads.

    So the tokens are one-hot and the weights of the projections hold Q, K and V; a head of zeros
    makes the number even.
    """
    import torch

    (items, heads, n, d), even = Q.shape, Q.shape[1] + Q.shape[1] % 2
    if not Q.shape == K.shape == V.shape or items * n > even * d:
        raise NotAsked("self-attention alone has a fast path")
    wide = [np.pad(M, ((0, 0), (0, even - heads), (0, 0), (0, 0))) for M in (Q, K, V)]
    width, kind = even * d, torch.tensor(Q).dtype
    layer = torch.nn.MultiheadAttention(width, even, batch_first=True, dtype=kind).eval()
    hidden = _hiding(mask, causal, wide[0], wide[1])
    tokens = torch.eye(width, dtype=kind)[: items * n].reshape(items, n, width)
    native = torch._native_multi_head_attention
    with torch.no_grad(), patch.object(torch, native.__name__, wraps=native) as fast:
        layer.in_proj_bias.zero_()
        layer.in_proj_weight.zero_().reshape(3, width, width)[:, :, : items * n].copy_(
            torch.tensor(np.stack([joined(M).reshape(-1, width).T for M in wide]))
        )
        layer.out_proj.weight.copy_(torch.eye(width))
        layer.out_proj.bias.zero_()
        output, _ = layer(tokens, tokens, tokens, attn_mask=hidden, need_weights=False)
    if not fast.called:
        raise NotAsked("the fast path was not taken")
    return split(output, even)[:, :heads], None


def _hiding(mask, causal, Q, K):
    """The caller's mask, True where it hides, (B·H, n_q, n_k); None where it would hide nothing."""
    import torch

    if mask is None and not causal:
        return None
    hide = np.zeros((*Q.shape[:3], K.shape[2]), bool)
    hide = hide if mask is None else hide | mask
    hide = hide | ~np.tri(*hide.shape[2:], dtype=bool) if causal else hide
    return torch.tensor(hide.reshape(-1, *hide.shape[2:]))


def keras_attention(Q, K, V, mask, causal):
    import keras

    q, k, v = (M.reshape(-1, *M.shape[2:]) for M in (Q, K, V))
    options = {"use_causal_mask": causal, "return_attention_scores": True}
    if mask is not None:
        if (mask != mask[:, :, :1]).any():
            raise ValueError("not asked: its documented mask is over keys, (B, Tv)")
        options["mask"] = [None, np.ascontiguousarray(mask[:, :, 0].reshape(-1, mask.shape[3]))]
    layer = keras.layers.Attention(dtype=_half(Q))
    output, weights = layer([q, v, k], **options)
    return tuple(np.asarray(M).reshape(*Q.shape[:3], -1) for M in (output, weights))


def keras_mha(Q, K, V, mask, causal, scores=False, dropout=0.0, groups=1, window=None, given=None):
    import keras

    heads, d, d_v = Q.shape[1], Q.shape[3], V.shape[3]
    options = {"use_bias": False, "dropout": dropout, "dtype": _half(Q), "sliding_window": window}
    if groups > 1:
        layer = keras.layers.GroupQueryAttention(d, heads, K.shape[1], **options)
    else:
        options["output_shape"] = heads * d_v
        layer = keras.layers.MultiHeadAttention(heads, d, d_v, **options)
    causal = causal or bool(window)  # its window reaches ahead as far as behind
    flat = {"query": joined(Q), "value": joined(V), "key": joined(K)}
    layer.build(*(flat[name].shape for name in ("query", "value", "key")))
    for weight in layer.trainable_weights:  # Q, K, V and output as they are
        weight.assign(np.eye(max(weight.shape)).reshape(weight.shape))
    same = mask is None or (mask == mask[:, :1]).all()
    handed = None if mask is None else mask[:, 0] if same else mask
    handed = handed if given is None else _two_axes(given)
    found = layer(
        **flat, attention_mask=handed, use_causal_mask=causal, return_attention_scores=scores
    )
    output, weights = found if scores else (found, None)
    return split(_array(output), heads), None if weights is None else _array(weights)


def _two_axes(given):
    """A mask without leading axes of 1, for a layer that takes no four axes."""
    return given[0, 0] if given.shape[:-2] == (1, 1) else given


def _half(Q):
    """The float type a layer is told to compute in; without one it takes everything to float32."""
    return "float16" if Q.dtype == np.float16 else None


def _array(tensor) -> np.ndarray:
    return np.asarray(tensor.detach() if hasattr(tensor, "detach") else tensor)


def keras_ops(Q, K, V, mask, causal, groups=1, bias=None, scale=None, given=None):
    import keras

    q, k, v = (M.swapaxes(1, 2) for M in (Q, K, V))
    mask = mask if given is None else given
    output = keras.ops.dot_product_attention(q, k, v, bias, mask, scale, is_causal=causal)
    return np.asarray(output).swapaxes(1, 2), None


def jax(
    Q,
    K,
    V,
    mask,
    causal,
    implementation=None,
    groups=1,
    window=None,
    bias=None,
    scale=None,
    given=None,
):
    import jax

    q, k, v = (jax.numpy.asarray(M.swapaxes(1, 2)) for M in (Q, K, V))
    attend = partial(jax.nn.dot_product_attention, implementation=implementation, bias=bias)
    attend = partial(attend, scale=scale)
    mask = mask if given is None else given
    attend = partial(attend, local_window_size=(window - 1, 0)) if window else attend
    return np.asarray(attend(q, k, v, mask=mask, is_causal=causal)).swapaxes(1, 2), None


def onnx_attention(
    Q,
    K,
    V,
    mask,
    causal,
    opset=23,
    cache="",
    groups=1,
    softcap=None,
    window=None,
    bias=None,
    scale=None,
    given=None,
):
    """``cache``: "past" hands over all keys but the last n_q as past, "lengths" says how many."""
    import onnx
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    options = {"softcap": softcap} if softcap else {}
    options |= {} if scale is None else {"scale": scale}
    if window:  # which opset 25 has brought
        if opset == 24 and not cache:
            raise NotAsked("a window is of opset 25")
        opset = 25
        options |= {"left_window_size": window - 1, "right_window_size": 0}
    mask = numbers(mask, bias) if given is None else given
    past = K.shape[2] - Q.shape[2] if cache == "past" else 0
    if past < 0:
        raise NotAsked("a past has no negative length")
    fed = {"Q": Q, "K": K[:, :, past:], "V": V[:, :, past:]}
    fed |= {} if mask is None else {"mask": mask}
    if cache == "past":
        fed |= {"past_key": K[:, :, :past], "past_value": V[:, :, :past]}
    if cache == "lengths":
        fed["lengths"] = np.full(len(Q), K.shape[2], np.int64)
    slots = ("Q", "K", "V", "mask", "past_key", "past_value", "lengths")
    sizes = {"Y": (*Q.shape[:3], V.shape[3]), "weights": (*Q.shape[:3], K.shape[2])}
    sizes |= {"keys": K.shape, "values": V.shape} if cache == "past" else {}
    filled = [name if name in sizes else "" for name in ("Y", "keys", "values", "weights")]
    node = helper.make_node(
        "Attention",
        [name if name in fed else "" for name in slots[: 6 + (opset > 23)]],
        filled,
        is_causal=int(causal),
        qk_matmul_output_mode=3,
        **options,
    )
    types = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in fed.items()}
    described = helper.make_tensor_value_info
    inputs = [described(name, types[name], array.shape) for name, array in fed.items()]
    outputs = [described(name, types["Q"], size) for name, size in sizes.items()]
    graph = helper.make_graph([node], "attention", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    onnx.checker.check_model(model)
    found = ReferenceEvaluator(model).run(["Y", "weights"], fed)
    return tuple(found)


def hf_eager(
    Q,
    K,
    V,
    mask,
    causal,
    groups=1,
    softcap=None,
    window=None,
    sinks=None,
    bias=None,
    scale=None,
    given=None,
):
    """Llama's own function; with a soft cap Gemma 2's, with sinks gpt-oss'."""
    import torch
    from transformers.masking_utils import eager_mask
    from transformers.models.gemma2 import modeling_gemma2
    from transformers.models.gpt_oss import modeling_gpt_oss
    from transformers.models.llama import modeling_llama

    if softcap and sinks is not None:
        raise ValueError("not asked: no function has both")
    of = modeling_gemma2 if softcap else modeling_llama if sinks is None else modeling_gpt_oss
    q, k, v = map(torch.tensor, (Q, K, V))
    made, module = None, _hf_module(groups)
    if sinks is not None:
        module.sinks = torch.nn.Parameter(torch.tensor(sinks), requires_grad=False)
    if mask is not None or causal or window:
        look = _may_look(mask, causal, Q, K, window)
        made = eager_mask(len(Q), Q.shape[2], K.shape[2], mask_function=look, dtype=q.dtype)
    if bias is not None:
        made = torch.tensor(bias) + (0 if made is None else made)
    made = made if given is None else torch.tensor(given)
    options = {"softcap": softcap} if softcap else {}
    scale = Q.shape[3] ** -0.5 if scale is None else scale
    output, weights = of.eager_attention_forward(module, q, k, v, made, scaling=scale, **options)
    return output.transpose(1, 2), weights


def hf_sdpa(
    Q, K, V, mask, causal, groups=1, softcap=None, window=None, bias=None, scale=None, given=None
):
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    made, options = None, {"softcap": softcap} if softcap else {}
    if mask is not None or window:
        look = _may_look(mask, causal, Q, K, window)
        sizes = (len(Q), Q.shape[2], K.shape[2])
        made = sdpa_mask(*sizes, mask_function=look, allow_is_causal_skip=False)
    made = made if given is None else torch.tensor(given)
    options |= {} if bias is None else {"position_bias": torch.tensor(bias)}
    options |= {} if scale is None else {"scaling": scale}
    q, k, v = map(torch.tensor, (Q, K, V))
    module = _hf_module(groups)
    output, _ = sdpa_attention_forward(module, q, k, v, made, is_causal=causal, **options)
    return output.transpose(1, 2), None


def _may_look(mask, causal, Q, K, window=None):
    """What the helpers of masking_utils ask of every cell; one mask for all heads."""
    import torch
    from transformers.masking_utils import and_masks, sliding_window_causal_mask_function

    shape = (*Q.shape[:3], K.shape[2])
    allowed = torch.tensor(np.ones(shape, bool) if mask is None else mask)

    def look(item, head, query, key):
        return allowed[item, 0, query, key] & ((key <= query) | (not causal))

    return and_masks(look, sliding_window_causal_mask_function(window)) if window else look


def _hf_module(groups=1):
    import torch

    module = torch.nn.Module().eval()
    module.num_key_value_groups = groups
    return module


def _torch(convention: str, ask: Callable, **options) -> Way:
    return Way(partial(ask, **options), "torch", convention)


def _keras(convention: str, ask: Callable, backend: str = "torch", **options) -> Way:
    return Way(partial(ask, **options), "keras", convention, backend)


def _onnx(convention: str, **options) -> Way:
    return Way(partial(onnx_attention, **options), "onnx", convention)


LIBRARIES = {
    "torch_sdpa": _torch("torch_sdpa", torch_sdpa),
    "torch_sdpa, flash": _torch("torch_sdpa", torch_sdpa, backend="FLASH_ATTENTION"),
    "torch_sdpa_math": _torch("torch_sdpa_math", torch_sdpa, backend="MATH"),
    "torch_sdpa_lower_right": _torch("torch_sdpa_lower_right", torch_sdpa_lower_right),
    "torch_mha": _torch("torch_mha", torch_mha),
    "torch_mha, fast path, need_weights=False": _torch("torch_mha", torch_mha_fast),
    "torch_mha_no_weights": _torch("torch_mha_no_weights", torch_mha, need_weights=False),
    "keras_attention": _keras("keras_attention", keras_attention),
    "keras_mha": _keras("keras_mha", keras_mha),
    "keras_mha_scores": _keras("keras_mha_scores", keras_mha, scores=True),
    "keras_mha_scores, dropout": _keras("keras_mha_scores", keras_mha, dropout=0.5),
    "keras_mha_scores, JAX": _keras("keras_mha_scores", keras_mha, "jax", scores=True),
    "keras_ops": _keras("keras_ops", keras_ops),
    "keras_ops, JAX": _keras("jax", keras_ops, "jax"),
    "jax": Way(jax, "jax", "jax"),
    "jax, implementation xla": Way(partial(jax, implementation="xla"), "jax", "jax"),
    "onnx_23": _onnx("onnx_23"),
    "onnx_23, opset 24": _onnx("onnx_23", opset=24),
    "onnx_23, opset 25": _onnx("onnx_23", opset=25),
    "onnx_cache": _onnx("onnx_cache", opset=24, cache="lengths"),
    "onnx_cache, past": _onnx("onnx_cache", cache="past"),
    "hf_eager": Way(hf_eager, "transformers", "hf_eager"),
    "hf_sdpa": Way(hf_sdpa, "transformers", "hf_sdpa"),
}


def elsewhere(backend: str) -> dict:
    """The answers of Keras on another backend: it takes one for the life of a process."""
    command = [sys.executable, __file__, backend]
    done = subprocess.run(
        command, env=os.environ | {"KERAS_BACKEND": backend}, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def main(backend: str = "torch") -> None:
    os.environ["KERAS_BACKEND"] = backend
    found = answers({name: way for name, way in LIBRARIES.items() if way.backend == backend})
    if backend != "torch":
        json.dump(found, sys.stdout)
        return
    for other in {way.backend for way in LIBRARIES.values()} - {backend}:
        found |= elsewhere(other)
    save("libraries", LIBRARIES, ("torch", "keras", "jax", "onnx", "transformers"), found)


if __name__ == "__main__":
    main(*sys.argv[1:])
