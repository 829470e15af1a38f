"""Scaled dot-product attention, stage by stage."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attention import program
from attention.arrays.layouts import extend, heads_first, join_heads, repeat_heads, split_heads
from attention.core.biases import RelativeBias, alibi, alibi_slopes, relative_bias
from attention.core.heads import multi_head_attention, self_attention
from attention.core.masks import (
    causal,
    causal_lower_right,
    lengthened,
    padding,
    real_tokens,
    sliding_window,
    window,
)
from attention.core.norms import RMSNorm
from attention.core.positions import sinusoidal
from attention.core.rotary import (
    Rotary,
    linear_frequencies,
    llama3_frequencies,
    ntk_frequencies,
    yarn_factor,
    yarn_frequencies,
)
from attention.core.scores import soft_cap, softmax_in
from attention.core.trace import AttentionTrace, scaled_dot_product_attention
from attention.explain.view import View
from attention.long import places
from attention.long.attention import LongAttention, long_attention
from attention.paper import Paper
from attention.samples.weights import initialise

if TYPE_CHECKING:
    from attention.explain.frame import frame
    from attention.exports.across import across_layers, overview
    from attention.exports.save import report, save
    from attention.figures.paper.figure import paper_figure
    from attention.figures.paper.picture import over_picture
    from attention.figures.plotly.whole import figure
    from attention.frameworks.diagnosis.diagnose import diagnose
    from attention.frameworks.printed.reading import read_printed
    from attention.models.frame import survey
    from attention.models.labels import trace_of
    from attention.models.recording.capture import capture
    from attention.models.rollout import mean_of_heads, received, rollout
    from attention.models.taken import Taken
    from attention.models.verify import verify

__version__ = program.VERSION

__all__ = [
    "AttentionTrace",
    "LongAttention",
    "Paper",
    "RMSNorm",
    "RelativeBias",
    "Rotary",
    "Taken",
    "View",
    "across_layers",
    "alibi",
    "alibi_slopes",
    "capture",
    "causal",
    "causal_lower_right",
    "diagnose",
    "extend",
    "figure",
    "frame",
    "heads_first",
    "initialise",
    "join_heads",
    "lengthened",
    "linear_frequencies",
    "llama3_frequencies",
    "long_attention",
    "mean_of_heads",
    "multi_head_attention",
    "ntk_frequencies",
    "over_picture",
    "overview",
    "padding",
    "paper_figure",
    "places",
    "read_printed",
    "real_tokens",
    "received",
    "relative_bias",
    "repeat_heads",
    "report",
    "rollout",
    "save",
    "scaled_dot_product_attention",
    "self_attention",
    "sinusoidal",
    "sliding_window",
    "soft_cap",
    "softmax_in",
    "split_heads",
    "survey",
    "trace_of",
    "verify",
    "window",
    "yarn_factor",
    "yarn_frequencies",
]

UPPER = {  # names of upper rooms, loaded when they are first used
    "Taken": "attention.models.taken",
    "across_layers": "attention.exports.across",
    "capture": "attention.models.recording.capture",
    "diagnose": "attention.frameworks.diagnosis.diagnose",
    "figure": "attention.figures.plotly.whole",
    "frame": "attention.explain.frame",
    "mean_of_heads": "attention.models.rollout",
    "over_picture": "attention.figures.paper.picture",
    "overview": "attention.exports.across",
    "paper_figure": "attention.figures.paper.figure",
    "read_printed": "attention.frameworks.printed.reading",
    "received": "attention.models.rollout",
    "report": "attention.exports.save",
    "rollout": "attention.models.rollout",
    "save": "attention.exports.save",
    "survey": "attention.models.frame",
    "trace_of": "attention.models.labels",
    "verify": "attention.models.verify",
}


if not TYPE_CHECKING:  # a checker sees the imports above, and refuses any other name

    def __getattr__(name: str) -> Any:
        """Import the names of :data:`UPPER` on first access."""
        if name not in UPPER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            return getattr(import_module(UPPER[name]), name)
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(
                f"attention.{name} needs the package {missing.name}, which is not installed;"
                " the extra brings it: pip install 'attention-stage-by-stage[app]'."
            ) from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
