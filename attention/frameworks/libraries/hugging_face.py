"""Hugging Face's transformers."""

from __future__ import annotations

from attention.frameworks.libraries.convention import (
    AXES,
    Convention,
    Handed,
)


def _cap_or_sinks(given: Handed) -> str:
    both = {"softcap", "sinks"} <= set(given.parts.used)
    return "None of its functions has both a soft cap and sinks." if both else ""


def _refuses_a_cap(given: Handed) -> str:
    return "It raises an error for a soft cap." if given.parts.softcap is not None else ""


HUGGING_FACE = {
    "hf_eager": Convention(
        title="Hugging Face eager attention",
        version="transformers 5.24.0",
        when='attn_implementation="eager"; in float16 large scores of a hidden row show through',
        source="eager_attention_forward of modeling_llama.py, its mask made by eager_mask; run",
        layout="(B, H, L, D)",
        true_means="no boolean mask",
        causal="the caller's mask",
        hidden_row="uniform; NaN in float64",
        floats="softmax in float32",
        filler=None,
        groups="num_key_value_groups of the module",
        softcap="softcap= of Gemma 2's, before the mask",
        window="sliding_window=seen, its own counted, by its mask function",
        sinks="the sinks of gpt-oss' module; softmax in the type given",
        bias="attention_mask of numbers",
        takes=frozenset({"groups", "softcap", "window", "sinks", "bias", "scale"}),
        refuses=_cap_or_sinks,
        integers="added",
        numbers="added",
        axes=AXES,
        infinite_row="NaN",
        lowest_row="uniform",
        beside="no switch",
        scale="scaling=",
        scale_zero="0",
        group_order="neighbours",
        half="NaN",
        returns="weights of each head",
    ),
    "hf_sdpa": Convention(
        title="Hugging Face sdpa attention",
        version="transformers 5.24.0",
        when='attn_implementation="sdpa", the default. Beside a mask its switch is ignored:'
        " sdpa_mask puts the look-ahead into the mask",
        source="sdpa_attention_forward, its mask made by sdpa_mask; run with torch 2.13.0",
        layout="(B, H, L, D)",
        causal="upper left; nothing hidden from a lone query",
        hidden_row="0",
        infinite_row="0",
        groups="num_key_value_groups of the module",
        softcap="none: it raises an error",
        window="sliding_window=seen, its own counted, by its mask function",
        bias="position_bias=; then a query that sees no key: uniform",
        takes=frozenset({"groups", "window", "bias", "scale"}),
        refuses=_refuses_a_cap,
        hides_in_bias=1.0,
        lone_query_sees_all=True,
        integers="refused",
        numbers="added",
        axes=AXES,
        lowest_row="uniform",
        scale="scaling=",
        scale_zero="0",
        group_order="neighbours",
        half="right",
    ),
}
