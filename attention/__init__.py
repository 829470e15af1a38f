"""Scaled dot-product attention, stage by stage."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attention.heads import join_heads, multi_head_attention, self_attention, split_heads
from attention.layouts import extend, heads_first, repeat_heads
from attention.masks import causal, causal_lower_right, lengthened, padding, real_tokens, sliding_window
from attention.scores import soft_cap, softmax_in
from attention.trace import AttentionTrace, scaled_dot_product_attention
from attention.weights import initialise

if TYPE_CHECKING:
    from attention.frameworks.diagnosis import diagnose

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

UPSTAIRS = {"diagnose": "attention.frameworks.diagnosis"}  # names that live in upper rooms: module


def __getattr__(name: str) -> Any:
    """Fetch a name from an upper room when it is first asked for, so that the import stays light."""
    if name not in UPSTAIRS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(UPSTAIRS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *UPSTAIRS})
