"""ONNX's operator, and what runs or writes it."""

from __future__ import annotations

from dataclasses import replace

from attention.frameworks.libraries.convention import (
    AXES,
    Convention,
    Handed,
)


def _wants_a_key(given: Handed) -> str:
    return "" if given.K.shape[-2] else "The ONNX reference raises an error where there is no key."


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

ONNX = {
    "onnx_23": _ONNX,
    "onnx_cache": replace(
        _ONNX,
        mode="with a cache",
        when="past_key of n_k − n_q keys (opsets 23 to 25), or nonpad_kv_seqlen of n_k (24 and 25)",
        causal="lower right",
    ),
}
