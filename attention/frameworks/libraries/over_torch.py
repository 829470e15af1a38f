"""Other ways to attention of PyTorch, and libraries over it."""

from __future__ import annotations

from dataclasses import replace

from attention.frameworks.libraries.convention import (
    AXES,
    Convention,
    Handed,
)


def _no_mask(given: Handed) -> str:
    """Refuse what jagged tensors do not take on the CPU."""
    if given.mask is not None or given.parts.bias is not None:
        return "It takes no mask."
    return "It raises an error for a look-ahead on the CPU." if given.causal else ""


def _no_cap_no_sinks(given: Handed) -> str:
    if given.parts.sinks is not None:
        return "It raises an error for sinks."
    return "It raises an error for a soft cap." if given.parts.softcap is not None else ""


def _no_look_ahead_of_more_queries(given: Handed) -> str:
    more = given.causal and given.shape[-2] > given.shape[-1]
    return "It raises an error for a look-ahead of more queries than keys." if more else ""


def _as_many_queries_as_keys(given: Handed) -> str:
    n_q, n_k = given.shape[-2:]
    if n_q == 1 != n_k:
        return "Its output has a row for each key, not for each query."
    if n_q != n_k:
        return "It raises an error where there are not as many queries as keys."
    mask = given.mask
    if mask is None or (mask == mask[..., :1, :]).all():
        return ""
    return "It raises an error for a mask that is not the same for all queries."


_ATTEND = Convention(
    title="x-transformers Attend",
    mode="flash=False",
    version="x-transformers 2.31.10",
    when="Attention and the layers made of it, by default",
    source="x_transformers/attend.py; run with torch 2.13.0",
    layout="(B, H, L, D)",
    hidden_row="0; NaN in float64 where mask and look-ahead hide all keys, uniform in float32",
    integers="refused",
    numbers="refused",
    axes=f"2: (B, n_k); {AXES.partition('; ')[2]}",
    infinite_row="NaN",
    lowest_row="uniform",
    causal="lower right",
    scale="scale=",
    scale_zero="0",
    softcap="softclamp_logits=True, logit_softclamp_value=, after the bias, before the mask",
    sinks="head_learned_sink=True",
    bias="attn_bias=",
    groups="fewer heads in k and v",
    group_order="tiled",
    takes=frozenset({"groups", "scale", "softcap", "sinks", "bias"}),
    floats="softmax in float32",
    half="NaN",
    returns="weights of each head, with sinks a column more; equal where its output is set to 0",
    filler=None,
    in_place=True,
    zeroes_queries="masked",
    bias_first=True,
)
_CURATED = Convention(
    title="curated-transformers attention",
    mode="default",
    version="curated-transformers 2.0.1",
    when="ScaledDotProductAttention, and the layers and models made of it",
    source="curated_transformers/layers/attention.py; run with torch 2.13.0",
    layout="(B, H, L, D)",
    hidden_row="uniform",
    integers="refused",
    numbers="refused",
    axes="2: (B, n_k); 3: refused; 4: (B, H, n_q, n_k)",
    causal="lower right; refused where n_q > n_k",
    half="NaN",
    refuses=_no_look_ahead_of_more_queries,
    filler=None,
    in_place=True,
)

OVER_TORCH = {
    "flex_attention": Convention(
        title="flex_attention",
        version="torch 2.13.0",
        when="without torch.compile; mask, look-ahead and window in one mask_mod, cap and bias in"
        " one score_mod",
        source="torch/nn/attention/flex_attention.py; run on the CPU, 2.14.1 and 2.15.0 the same",
        layout="(B, H, L, D)",
        axes="mask_mod(b, h, q, k), a function that returns True or False",
        infinite_row="0",
        lowest_row="uniform",
        beside="no switch",
        causal="the caller's mask",
        scale="scale=",
        scale_zero="0",
        softcap="score_mod of the caller's, before the mask",
        window="mask_mod of the caller's",
        bias="score_mod of the caller's",
        groups="enable_gqa=True",
        group_order="neighbours",
        takes=frozenset({"groups", "scale", "softcap", "window", "bias"}),
        half="right",
        in_place=True,
    ),
    "torch_nested": Convention(
        title="F.scaled_dot_product_attention",
        mode="nested tensors",
        version="torch 2.13.0",
        when="jagged nested tensors, in the place of padding; on the CPU",
        source="torch/nested/_internal/sdpa.py; run on the CPU",
        layout="(B, H, L, D), transposed from (B, L, H, D)",
        true_means="no boolean mask",
        nan_note="refused; it takes no mask",
        integers="refused",
        numbers="refused",
        axes="none: it takes no mask",
        hidden_row="refused",
        beside="refused",
        causal="upper left; refused on the CPU",
        bias="none: it takes no mask",
        scale="scale=",
        scale_zero="0",
        groups="none: it raises an error",
        shares_one=False,
        takes=frozenset({"scale"}),
        refuses=_no_mask,
        half="NaN",
    ),
    "x_transformers": _ATTEND,
    "x_transformers_flash": replace(
        _ATTEND,
        mode="flash=True",
        when="attn_flash=True; it calls F.scaled_dot_product_attention",
        hidden_row="0",
        numbers="added",
        axes="2: (B, n_k); 3: refused; 4: (B, H, n_q, n_k)",
        infinite_row="0",
        causal="lower right, upper left where n_q > n_k",
        softcap="none: it raises an error",
        sinks="none: it raises an error",
        takes=frozenset({"groups", "scale", "bias"}),
        refuses=_no_cap_no_sinks,
        floats="as given",
        half="right",
        returns="none",
        filler=-float("inf"),
        in_place=False,
        hides_in_bias=0.5,
        zeroes_rows=True,
        zeroes_queries="none",
        bias_first=False,
    ),
    "curated_transformers": _CURATED,
    "curated_transformers_sdp": replace(
        _CURATED,
        mode="enable_torch_sdp",
        when="inside enable_torch_sdp(); the output of padded queries is 0",
        hidden_row="0; so is the output of every padded query",
        half="right",
        refuses=_as_many_queries_as_keys,
        in_place=False,
        zeroes_queries="padded",
    ),
}
