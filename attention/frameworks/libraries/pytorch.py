"""PyTorch's own functions and layers."""

from __future__ import annotations

from dataclasses import replace

from attention.frameworks.libraries.convention import (
    AXES,
    Convention,
    Handed,
    refused_both,
    takes_all,
    wants_d_k,
)


def _wants_mask_or_switch_if_narrow(given: Handed) -> str:
    if given.K.shape[-1] == given.V.shape[-1]:
        return ""  # the path that needs one width takes both, though the documentation forbids it
    return refused_both("a mask", given.mask is not None and given.causal)


def _one_attn_mask(given: Handed) -> str:
    if given.causal and given.mask is not None:
        return "Its attn_mask is a mask or causal_lower_right, not both."
    both = given.parts.bias is not None and given.causal
    return "Its attn_mask is a bias or causal_lower_right, not both." if both else ""


_SDPA = Convention(
    title="F.scaled_dot_product_attention",
    version="torch 2.13.0",
    when="by default, and with SDPBackend.FLASH_ATTENTION; a mask of 0 and −∞ gives the same",
    source="docstring; run on the CPU, where a query of NaN gets 0 as long as keys are few (below"
    " 16 in float32, 8 in float64; not imitated)",
    layout="(B, H, L, D)",
    hidden_row="0",
    infinite_row="0",
    groups="enable_gqa=True",
    bias="attn_mask of numbers",
    bias_is_mask=True,
    takes=frozenset({"groups", "bias", "scale"}),
    refuses=_wants_mask_or_switch_if_narrow,
    integers="refused",
    numbers="added",
    axes=AXES,
    lowest_row="uniform",
    beside="both; refused where d_v ≠ d_k, and from torch 2.14 on",
    scale="scale=",
    scale_zero="0",
    group_order="neighbours",
    half="right",
)
_TORCH_MHA = Convention(
    title="nn.MultiheadAttention",
    mode="need_weights=True",
    version="torch 2.13.0",
    when="the default; with need_weights=False too on the fast path: eval, no gradient, one tensor"
    " for all three, batch_first, bias (its default), an even number of heads, boolean masks",
    source="docstring and multi_head_attention_forward; run with identity projections",
    layout="(L, B, H·D), or (B, L, H·D) with batch_first",
    true_means="hide",
    causal="the caller's mask",
    hidden_row="NaN",
    bias="attn_mask of numbers",
    takes=frozenset({"bias"}),
    refuses=wants_d_k,
    integers="refused",
    numbers="added",
    axes="2: (n_q, n_k); 3: (B·H, n_q, n_k); 4: refused",
    infinite_row="NaN",
    lowest_row="uniform",
    beside="no switch",
    half="NaN",
    returns="weights, by default their mean over the heads",
)

PYTORCH = {
    "torch_sdpa": _SDPA,
    "torch_sdpa_math": replace(
        _SDPA,
        mode="math",
        when="SDPBackend.MATH; torch chooses it for dropout_p > 0, d_v ≠ d_k, other than four axes",
        source="docstring; run on the CPU",
        refuses=takes_all,
        roots=True,
        beside="refused",
    ),
    "torch_sdpa_lower_right": replace(
        _SDPA,
        mode="causal_lower_right",
        when="attn_mask=causal_lower_right(n_q, n_k) in the place of is_causal=True",
        source="torch/nn/attention/bias.py; run on the CPU",
        causal="lower right",
        refuses=_one_attn_mask,
        beside="refused",
    ),
    "torch_mha": _TORCH_MHA,
    "torch_mha_no_weights": replace(
        _TORCH_MHA,
        mode="need_weights=False",
        when="off the fast path: training, gradients, bias=False, a mask of numbers; so"
        " nn.TransformerEncoderLayer and nn.TransformerDecoderLayer call it",
        hidden_row="0",
        infinite_row="0",
        half="right",
        returns="none",
    ),
}
