"""Scaled dot-product attention, stage by stage."""

from attention.diagnosis import diagnose
from attention.heads import join_heads, multi_head_attention, self_attention, split_heads
from attention.layouts import extend, heads_first, repeat_heads
from attention.masks import causal, causal_lower_right, lengthened, padding, real_tokens, sliding_window
from attention.scores import soft_cap, softmax_in
from attention.trace import AttentionTrace, scaled_dot_product_attention
from attention.weights import initialise

__version__ = "0.2.0"

__all__ = [
    "AttentionTrace",
    "causal",
    "causal_lower_right",
    "diagnose",
    "extend",
    "heads_first",
    "initialise",
    "join_heads",
    "lengthened",
    "multi_head_attention",
    "padding",
    "real_tokens",
    "repeat_heads",
    "scaled_dot_product_attention",
    "self_attention",
    "sliding_window",
    "soft_cap",
    "softmax_in",
    "split_heads",
]
