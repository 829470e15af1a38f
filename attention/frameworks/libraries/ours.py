"""This package's own attention, as a record beside those of the libraries."""

from __future__ import annotations

from attention import program
from attention.frameworks.libraries.convention import AXES, GROUPS, PARTS, Convention

OURS = {
    "ours": Convention(
        title="this package",
        version=f"attention {program.VERSION}",
        when="scaled_dot_product_attention, multi_head_attention, self_attention",
        source="this package",
        layout="(…, L, D)",
        returns="every stage",
        integers="refused",
        numbers="refused",
        axes=AXES,
        hidden_row="0; flagged",
        infinite_row="0; flagged",
        lowest_row="uniform",
        beside="no switch",
        causal="the caller's mask; causal() and causal_lower_right()",
        scale="scale=",
        scale_zero="refused",
        softcap="softcap=, before the mask",
        window="allowed=window(n_q, n_k, seen), its own counted",
        sinks="sinks=",
        bias="bias=, relative=",
        groups="kv_heads=",
        group_order="neighbours",
        takes=frozenset({*PARTS, GROUPS}),
        half="right; float16 becomes float32",
        in_place=True,
        leaks=False,
    )
}
