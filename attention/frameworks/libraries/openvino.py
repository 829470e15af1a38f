"""OpenVINO's operator, and what its converter makes of torch's function."""

from __future__ import annotations

from dataclasses import replace

from attention.frameworks.libraries.convention import (
    AXES,
    NO_ARGUMENT,
    Convention,
    Handed,
    refused_both,
)


def _from_torch_takes(given: Handed) -> str:
    masked = given.mask is not None or given.parts.bias is not None
    if given.fewer_heads and masked:
        return "Next to fewer heads of keys it takes no mask with an axis of heads."
    if given.K.shape[-1] == given.V.shape[-1]:
        return ""
    return refused_both("a mask", masked and given.causal)  # by torch already


_OPERATOR = Convention(
    title="OpenVINO scaled_dot_product_attention",
    version="openvino 2026.4.1",
    when="opset 13, on the CPU, where its precision is float32; elsewhere it may choose another",
    source="openvino.opset13's docstring; run on the CPU",
    layout="(B, H, L, D)",
    integers="refused",
    numbers="added",
    axes=AXES,
    hidden_row="NaN; uniform in float64",
    infinite_row="NaN; uniform in float64",
    lowest_row="uniform",
    beside="mask dropped; as documented",
    scale="scale=",
    scale_zero="0",
    sinks="none in Python; the operator has an input for it, not tried",
    bias="attention_mask of numbers",
    groups="none, but one head serves all",
    takes=frozenset({"bias", "scale"}),
    floats="float32 and back",
    half="right",
    bias_is_mask=True,
)

OPENVINO = {
    "openvino": _OPERATOR,
    "openvino_from_torch": replace(
        _OPERATOR,
        mode="from torch",
        when="F.scaled_dot_product_attention, by openvino.convert_model: it becomes that operator",
        source="run on the CPU, with torch 2.13.0",
        sinks=NO_ARGUMENT,
        bias="attn_mask of numbers",
        groups="enable_gqa=True; without a mask",
        group_order="neighbours",
        takes=frozenset({"groups", "bias", "scale"}),
        refuses=_from_torch_takes,
    ),
}
