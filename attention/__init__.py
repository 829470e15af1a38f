"""Scaled dot-product attention, stage by stage."""

from attention.heads import join_heads, multi_head_attention, self_attention, split_heads
from attention.masks import causal, causal_lower_right, padding
from attention.trace import AttentionTrace, scaled_dot_product_attention
from attention.weights import initialise

__all__ = [
    "AttentionTrace",
    "causal",
    "causal_lower_right",
    "initialise",
    "join_heads",
    "multi_head_attention",
    "padding",
    "scaled_dot_product_attention",
    "self_attention",
    "split_heads",
]
