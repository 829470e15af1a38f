"""The parts that real layers add to the formula, each a row: page, docs and exports read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attention.vocabulary.sentences import in_words


@dataclass(frozen=True)
class Part:
    """One addition to softmax(Q Kᵀ / √d_k + M) V, off unless it is asked for."""

    name: str  # of the argument, and of its setting
    label: str  # on the page
    formula: str
    sentence: str  # what it does
    where: str  # in the computation it sits
    function: str  # of the package that makes or does it


_ROWS = (
    Part(
        "biases",
        label="Biases",
        formula="Q = X W_Q + b_Q",
        sentence="One number for each column is added to every query, key, value and output.",
        where="after the products with W_Q, W_K, W_V and W_O",
        function="self_attention",
    ),
    Part(
        "positions",
        label="Added positions",
        formula="X + P",
        sentence="Tells each token where it stands, before anything else is done.",
        where="before Q, K and V",
        function="sinusoidal",
    ),
    Part(
        "norm",
        label="Norm of Q and K",
        formula="q / √(mean of q² + ε) · gain",
        sentence="Divides each query and key by the root of its mean square, so that scores cannot"
        " grow with its length.",
        where="between Q, K and the scores",
        function="RMSNorm",
    ),
    Part(
        "rotary",
        label="Rotary positions",
        formula="q₁ cos θ − q₂ sin θ, q₂ cos θ + q₁ sin θ",
        sentence="Pairs of numbers turn by an angle that grows with the position.",
        where="between Q, K and the scores",
        function="Rotary",
    ),
    Part(
        "kv_heads",
        label="Heads of keys and values",
        formula="heads of queries share K and V",
        sentence="Several heads of queries look at the same keys and values.",
        where="after the split into heads",
        function="multi_head_attention",
    ),
    Part(
        "softcap",
        label="Soft cap",
        formula="softcap · tanh(scaled / softcap)",
        sentence="The soft cap keeps every score within ±softcap.",
        where="after the scale, before the mask",
        function="soft_cap",
    ),
    Part(
        "alibi",
        label="ALiBi",
        formula="− slope × distance",
        sentence="The further a key stands from the query, the more is taken from its score.",
        where="added with the mask",
        function="alibi",
    ),
    Part(
        "relative",
        label="Relative bias (T5)",
        formula="+ R[bucket of the distance]",
        sentence="A learned number for each distance is added to the score; far ones share one.",
        where="added with the mask",
        function="RelativeBias",
    ),
    Part(
        "window",
        label="Window",
        formula="−∞ for keys further back",
        sentence="A query sees so many keys at most: its own and those before it.",
        where="in the mask",
        function="window",
    ),
    Part(
        "sinks",
        label="Sinks",
        formula="exp(masked) / (Σ exp(masked) + exp(sink))",
        sentence="A score of no key takes a share that goes nowhere.",
        where="in the sum of the softmax",
        function="scaled_dot_product_attention",
    ),
    Part(
        "sigmoid",
        label="Sigmoid",
        formula="1 / (1 + exp(−masked))",
        sentence="Each weight is made by itself, so a row need not add up to 1.",
        where="in the place of the softmax",
        function="scaled_dot_product_attention",
    ),
)


def called(names: Iterable[str]) -> str:
    """Return the labels of parts as they are on the page, for a sentence.

    >>> called(["softcap", "alibi"])
    '“Soft cap” and “ALiBi”'
    """
    return in_words([f"“{PARTS[name].label}”" for name in names])


PARTS: dict[str, Part] = {part.name: part for part in _ROWS}
