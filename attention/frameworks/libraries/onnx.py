"""ONNX's operator, and what runs or writes it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from attention.frameworks.libraries.convention import (
    AXES,
    GROUPS,
    NO_ARGUMENT,
    PARTS,
    Convention,
    Handed,
    bias_or_switch,
    takes_all,
    wants_d_k,
)

_FLOAT32_MIN = float(np.finfo(np.float32).min)


def _wants_a_key(given: Handed) -> str:
    return "" if given.K.shape[-2] else "The ONNX reference raises an error where there is no key."


def _wants_a_past(given: Handed) -> str:
    """Refuse what GroupQueryAttention does where there are fewer queries than keys, or more."""
    n_q, n_k = given.shape[-2:]
    if n_q > n_k:
        return f"It wants no more queries than keys; here n_q is {n_q} and n_k is {n_k}."
    if n_q not in (1, n_k) and math.prod(given.shape[:-3]) > 1:
        return "It takes one item at a time, where there are several queries and earlier keys."
    return wants_d_k(given)


def _older_takes(given: Handed) -> str:
    """Refuse what the older exporter does."""
    if given.fewer_heads:
        return "It raises an error for fewer heads of keys and values."
    bias = given.parts.bias
    wide = bias is not None and bias.dtype == np.float64 and not given.causal
    return "It raises an error for a bias of float64." if wide else bias_or_switch(given)


_ONNX = Convention(
    title="ONNX Attention",
    version="onnx 1.23.2",
    when="opsets 23, 24 and 25, without a cache",
    source="onnx/reference/ops/op_attention.py; run by the reference evaluator",
    layout="(B, H, L, D), or (B, L, H·D)",
    hidden_row="0",
    infinite_row="0",
    groups="fewer heads in K and V, or kv_num_heads=",
    softcap="softcap=, a float32, before the mask",
    window="opset 25: left_window_size=seen − 1, right_window_size=0",
    bias="attn_mask of numbers",
    takes=frozenset({"groups", "softcap", "window", "bias", "scale"}),
    refuses=_wants_a_key,
    roots=True,
    zeroes_rows=True,
    integers="added",
    numbers="added",
    axes=AXES,
    lowest_row="uniform",
    scale="scale=",
    scale_zero="0",
    group_order="neighbours",
    half="NaN",
    returns="weights, by qk_matmul_output_mode=3",
)

_ORT = replace(
    _ONNX,
    title="ONNX Attention in ONNX Runtime",
    version="onnxruntime 1.32.0",
    when="opsets 23 and 24, without a past; its kernels are of float32 and float16, float64 is run"
    " by the operator's function body",
    source="the operator's schema; run on the CPU, with its weights and without",
    refuses=takes_all,
    hidden_row="0",
    lowest_row="0; a number like any other in float64",
    window="none: opset 25 has it",
    takes=frozenset({"groups", "softcap", "bias", "scale"}),
    scale="scale=, a float32",
    scale_zero="refused; 0 in float64",
)
_MHA = Convention(
    title="com.microsoft.MultiHeadAttention",
    version="onnxruntime 1.32.0",
    when="ONNX Runtime's own operator on the CPU, of float32 alone",
    source="the operator's schema; run on the CPU, float64 handed over as float32",
    layout="(B, L, H·D)",
    true_means="no boolean mask",
    integers="may look; int32",
    numbers="refused",
    axes="a mask over keys: (B, n_k), or (B, n_q, n_k) for each query; heads share it",
    hidden_row="as if nothing were hidden",
    infinite_row="NaN",
    lowest_row="uniform",
    causal="upper left, all for the last query",
    scale="scale=",
    scale_zero="not given",
    bias="attention_bias=",
    takes=frozenset({"bias", "scale"}),
    floats="float32",
    half="refused; there is no kernel",
    filler=-10000.0,
    switch_filler=_FLOAT32_MIN,
)
_GQA = Convention(
    title="com.microsoft.GroupQueryAttention",
    version="onnxruntime 1.32.0",
    when="ONNX Runtime's own operator on the CPU; causal=1 is its default; keys before the first"
    " query are its past",
    source="the operator's schema; run on the CPU, float64 handed over as float32",
    layout="(B, L, H·D)",
    true_means="no boolean mask",
    integers="refused",
    numbers="added",
    axes="2: refused; 3: refused; 4: (B, H, n_q, n_k)",
    hidden_row="NaN; 0 with causal=1 and no soft cap",
    infinite_row="NaN; 0 with causal=1 and no soft cap",
    lowest_row="uniform; 0 with causal=1 and no soft cap",
    causal="lower right",
    scale="scale=",
    scale_zero="not given",
    softcap="softcap=, before the bias",
    window="local_window_size=seen, with causal=1",
    sinks="head_sink",
    bias="attention_bias",
    groups="kv_num_heads=",
    group_order="neighbours",
    takes=frozenset({*PARTS, GROUPS}),
    refuses=_wants_a_past,
    floats="float32",
    half="right",
    zeroes_ahead=True,
    zeroes_with_switch=True,
)
_EXPORT = Convention(
    title="torch.onnx.export",
    mode="opset 18",
    version="torch 2.13.0",
    when="F.scaled_dot_product_attention by opset 18 or the default one, 20, run by ONNX Runtime",
    source="the exported graph; run by onnxruntime 1.32.0",
    layout="(B, H, L, D)",
    integers="refused",
    numbers="added",
    axes=AXES,
    hidden_row="uniform; as if nothing were hidden in float16",
    infinite_row="NaN",
    lowest_row="uniform",
    beside="refused",
    scale="scale=",
    scale_zero="0",
    groups="enable_gqa=True",
    group_order="neighbours",
    bias="attn_mask of numbers",
    takes=frozenset({"groups", "bias", "scale"}),
    refuses=bias_or_switch,
    half="right",
    filler=None,
    bias_is_mask=True,
    zeroes_nan=True,
    roots=True,
)

ONNX = {
    "onnx_23": _ONNX,
    "onnx_cache": replace(
        _ONNX,
        mode="with a cache",
        when="past_key of n_k − n_q keys (opsets 23 to 25), or nonpad_kv_seqlen of n_k (24 and 25)",
        causal="lower right",
    ),
    "ort_attention": replace(_ORT, mode="opset 23"),
    "ort_attention_past": replace(
        _ORT,
        mode="with a past",
        when="past_key of n_k − n_q keys (opsets 23 and 24), or nonpad_kv_seqlen of n_k (24)",
        causal="lower right",
    ),
    "ort_attention_25": replace(
        _ORT,
        mode="opset 25",
        when="there is no kernel: the operator's function body is run, at every float type",
        source="the operator's schema; run on the CPU",
        lowest_row="uniform",
        window=_ONNX.window,
        takes=_ONNX.takes,
        scale_zero="0",
        half="right",
    ),
    "ort_mha": _MHA,
    "ort_gqa": _GQA,
    "ort_gqa_weights": replace(
        _GQA,
        mode="qk_output",
        when="qk_output=2, which asks for the weights, changes rows without a key",
        returns="weights, by qk_output=2",
        hidden_row="NaN",
        infinite_row="NaN",
        lowest_row="uniform",
        zeroes_with_switch=False,
    ),
    "export_18": _EXPORT,
    "export_23": replace(
        _ORT,
        title=_EXPORT.title,
        mode="opset 23",
        version=_EXPORT.version,
        when="F.scaled_dot_product_attention as one operator Attention, run by ONNX Runtime",
        source=_EXPORT.source,
        layout=_EXPORT.layout,
        integers="refused",
        beside="refused",
        groups=_EXPORT.groups,
        softcap=NO_ARGUMENT,
        window=NO_ARGUMENT,
        takes=_EXPORT.takes,
        refuses=bias_or_switch,
        returns="none",
    ),
    "export_older": replace(
        _EXPORT,
        mode="dynamo=False",
        when="the older exporter, at its default opset, 20, run by ONNX Runtime",
        hidden_row="0",
        groups="none: it raises an error",
        group_order=NO_ARGUMENT,
        bias="attn_mask of numbers, of float32 alone",
        takes=frozenset({"bias", "scale"}),
        refuses=_older_takes,
        half="right; a boolean mask makes float32 of float16",
        filler=-math.inf,
    ),
}
