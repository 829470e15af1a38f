"""The mistakes that are made in attention: what each does, in which part, and the mend.

A mistake replaces the option of one part of the arithmetic by another, or of several parts at once;
:mod:`attention.frameworks.bench` computes with them. Two mistakes go together where they have no
part in common. To add one: a row here, and its line in the step of the bench that it changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Choices = tuple[tuple[str, str], ...]  # (part, option) …


@dataclass(frozen=True)
class Mistake:
    """One thing that goes wrong in codes: the options it chooses, in which parts."""

    choices: Choices
    title: str  # a clause: what their code does
    fix: str  # a sentence: what to do about it
    common: bool = False  # one of the twelve that are also tried together with any other

    @property
    def name(self) -> str:
        """Its first choice, as ``scale: none``; of several parts, all of them."""
        parts, options = zip(*self.choices, strict=True)
        return f"{', '.join(parts)}: {options[0]}"

    @property
    def parts(self) -> frozenset[str]:
        """The parts of the arithmetic that it changes."""
        return frozenset(part for part, _ in self.choices)

    @property
    def fitted(self) -> bool:
        """Whether a number it needs is taken from the other code's answer itself."""
        return self.choices == (("residual", "row"),)


TRANSPOSE = (
    "Write X W for weights of shape (d_in, d_out), X Wᵀ for (d_out, d_in),"
    " as nn.Linear stores them."
)
NAMES = "Give each projection its own weights, and check the names."
BIAS = "Add each layer's bias, or give the weights of a layer that has none."
SCALE = "Multiply the scores by the scale, by default 1/√d_k, before the mask and the softmax."
ROOT = "Divide by √d_k, the width of one head's keys."
FILL = "Hide a key by −∞ before the softmax: any finite number leaves it a weight."
SOFTMAX = "Take one softmax, over the last axis, the keys."
LOOK = (
    "Let query i see the keys up to i itself: tril with its diagonal, rows queries, columns keys."
)
PADDING = "Padding hides keys, as columns: shape (batch, 1, 1, n_k)."
HEADS = "Reshape to (n, heads, d), then swap the first two axes."
JOIN = "Swap heads and tokens back, then reshape to (n, heads · d)."


def _all(parts: str, option: str) -> Choices:
    return tuple((part, option) for part in parts.split())


def _used_for(wrong: str, right: str) -> tuple[Choices, str, str]:
    title = f"{wrong} is used where {right} belongs"
    return ((right, wrong),), title, NAMES


def _matrix_used_for(wrong: str, right: str) -> tuple[Choices, str, str]:
    title = f"{wrong} is used where {right} belongs, with the bias that belongs there"
    return ((right, f"only {wrong}"),), title, NAMES


def _table(*rows: tuple) -> tuple[Mistake, ...]:
    return tuple(
        Mistake((row[0],) if isinstance(row[0][0], str) else row[0], *row[1:]) for row in rows
    )


COMMON = True
MISTAKES: tuple[Mistake, ...] = _table(
    # the projections
    (_all("W_Q W_K W_V", "transposed"), "W_Q, W_K and W_V are transposed", TRANSPOSE, COMMON),
    (_all("W_Q W_K W_V W_O", "transposed"), "all four weights are transposed", TRANSPOSE),
    (("W_Q", "transposed"), "W_Q is transposed", TRANSPOSE),
    (("W_K", "transposed"), "W_K is transposed", TRANSPOSE),
    (("W_V", "transposed"), "W_V is transposed", TRANSPOSE),
    _used_for("W_K", "W_Q"),
    _used_for("W_V", "W_Q"),
    _used_for("W_Q", "W_K"),
    _used_for("W_V", "W_K"),
    _used_for("W_Q", "W_V"),
    _used_for("W_K", "W_V"),
    _matrix_used_for("W_K", "W_Q"),  # with the bias of K it is the same: no softmax sees that one
    _matrix_used_for("W_V", "W_Q"),
    _matrix_used_for("W_Q", "W_V"),
    _matrix_used_for("W_K", "W_V"),
    (_all("b_Q b_K b_V b_O", "left out"), "all biases are left out", BIAS, COMMON),
    (_all("b_Q b_K b_V", "left out"), "the biases of Q, K and V are left out", BIAS),
    (("b_Q", "left out"), "b_Q is left out", BIAS),
    (("b_K", "left out"), "b_K is left out", BIAS),
    (("b_V", "left out"), "b_V is left out", BIAS),
    # heads
    (("split", "reshaped"), "the heads are split by a reshape without a transpose", HEADS, COMMON),
    (
        ("split", "interleaved"),
        "the heads are split interleaved: head h takes columns h, h + heads, …",
        "Let head h take the columns h · d to (h + 1) · d.",
    ),
    (
        (("split", "interleaved"), ("join", "interleaved")),
        "the heads are split interleaved, and joined so: head h holds columns h, h + heads, …",
        "Let head h take the columns h · d to (h + 1) · d, and join the heads side by side.",
    ),
    (
        ("groups", "tiled"),
        "shared heads of keys and values are tiled (h0, h1, h0, h1)",
        "Repeat each head in a row instead: h0, h0, h1, h1 (repeat_interleave, np.repeat).",
    ),
    (
        ("order", "K and V"),
        "keys and values are swapped",
        "Check the order of the arguments: Keras layers take query, value, key.",
    ),
    (
        ("order", "Q and K"),
        "Q and K are swapped",
        "A row of the scores is a query: write Q Kᵀ, not K Qᵀ.",
        COMMON,
    ),
    # scores and scale
    (
        ("product", "untransposed"),
        "K is not transposed: the scores are Q K",
        "Write Q Kᵀ, swapping the last two axes of K.",
    ),
    (("scale", "none"), "the scores are not scaled", SCALE, COMMON),
    (
        ("scale", "default"),
        "the scores are multiplied by 1/√d_k, not by the scale given",
        "Pass the scale on, and check that it is used.",
    ),
    (("scale", "d_model"), "the scores are divided by √d_model", ROOT),
    (
        ("scale", "all heads"),
        "the scores are divided by √(d_k · heads)",
        "Divide by √d_k, the width of one head, not of all heads together.",
    ),
    (
        ("scale", "d_k"),
        "the scores are divided by d_k, as where 1/√d_k is applied twice",
        "Divide by the square root of d_k, once.",
    ),
    (
        ("scale", "twice"),
        "the scale is applied twice",
        "Scale once; many kernels scale by themselves.",
    ),
    (("scale", "inverse"), "the scores are multiplied by √d_k", "Divide by √d_k."),
    (("scale", "tokens"), "the scores are divided by √n, the number of keys", ROOT),
    (("scale", "after softmax"), "the scale is applied after the softmax", SCALE),
    (
        ("bias", "ignored"),
        "the additive bias is not used",
        "Pass the bias on, and check that it reaches the scores.",
    ),
    (
        ("bias", "scaled"),
        "the additive bias is added before the scale",
        "Scale the scores first, then add the bias.",
    ),
    # the mask
    (
        ("cap", "after mask"),
        "the soft cap comes after the mask",
        "Cap the scores first, then mask: tanh turns −∞ into −softcap, and hidden keys leak.",
    ),
    (
        ("mask", "inverted"),
        "the mask is inverted",
        "Find out what True means: may look in torch's SDPA, hide in nn.MultiheadAttention;"
        " negate the mask.",
        COMMON,
    ),
    (
        ("mask", "ignored"),
        "the mask is not used",
        "Pass the mask on, and check that it reaches the scores.",
        COMMON,
    ),
    (
        ("mask", "transposed"),
        "the mask is transposed: queries and keys are mixed up, and look-ahead hides the"
        " other triangle",
        LOOK,
    ),
    (("mask", "other triangle"), "look-ahead hides the other triangle", LOOK),
    (
        ("mask", "diagonal hidden"),
        "look-ahead is off by one: the diagonal is hidden too",
        LOOK,
        COMMON,
    ),
    (("mask", "one ahead"), "look-ahead is off by one: each query sees the next key too", LOOK),
    (
        ("mask", "other corner"),
        "the look-ahead mask is aligned to the other corner",
        "With n_q ≠ n_k, choose: upper left (torch SDPA) or lower right (FlashAttention, caches).",
    ),
    (("mask", "padding as rows"), "padding hides queries instead of keys", PADDING),
    (("mask", "padding both ways"), "padding hides queries as well as keys", PADDING),
    (
        ("hiding", "NaN"),
        "a row that sees no key becomes NaN",
        "Give such a row weights 0, as torch's SDPA and ONNX do: softmax of nothing but −∞ is 0/0.",
    ),
    (
        ("hiding", "filled"),
        "hidden scores are overwritten by a finite number such as −1e9 or finfo.min,"
        " or that is added in float32",
        "Use −∞, and give a row that sees no key weights 0.",
    ),
    (
        ("hiding", "−1e9 added"),
        "−1e9 is added to hidden scores in float64",
        "Use −∞: a finite number is a bias, and a row with nothing else keeps its softmax.",
    ),
    (
        ("hiding", "0/1 added"),
        "the mask is added to the scores as 0 and 1",
        "Turn it into a boolean mask, or into 0 and −∞, before adding it.",
    ),
    (
        ("hiding", "0"),
        "hidden scores become 0 before the softmax: filled with it or with 1e-9,"
        " or multiplied by the mask",
        FILL,
    ),
    (("hiding", "−1"), "hidden scores are filled with −1", FILL),
    (("hiding", "−10"), "hidden scores are filled with −10", FILL),
    (
        ("hiding", "after softmax"),
        "the mask is applied after the softmax",
        "Mask the scores before the softmax, so that each row sums to 1 again.",
        COMMON,
    ),
    # the softmax
    (
        ("softmax", "queries"),
        "the softmax runs over the queries",
        "Take the softmax over the last axis, the keys.",
        COMMON,
    ),
    (("softmax", "both axes"), "the softmax runs over queries and keys together", SOFTMAX),
    (("softmax", "none"), "there is no softmax", SOFTMAX),
    (("softmax", "twice"), "the softmax is taken twice", SOFTMAX),
    (("softmax", "twice, masked"), "the softmax is taken twice, masked both times", SOFTMAX),
    (("softmax", "sigmoid"), "a sigmoid stands in for the softmax", SOFTMAX),
    # after the weights
    (
        ("sum", "transposed"),
        "the transposed weights meet the values: weightsᵀ V",
        "Write weights V.",
    ),
    (
        ("leak", "NaN"),
        "NaN or inf at a hidden key reaches the output",
        "Set hidden values to 0 before the weighted sum: 0 · NaN is NaN.",
    ),
    (("join", "reshaped"), "the heads are joined by a reshape without a transpose", JOIN, COMMON),
    (
        ("join", "interleaved"),
        "the heads are joined interleaved: one number of each head in turn",
        JOIN,
    ),
    (("join", "averaged"), "the heads are averaged instead of joined", JOIN),
    (
        ("join", "averaged, tiled"),
        "the heads are averaged, and their mean stands in every head's place",
        JOIN,
    ),
    (
        ("join", "averaged, repeated"),
        "the heads are averaged, and each number of their mean is repeated for every head",
        JOIN,
    ),
    (("W_O", "transposed"), "W_O is transposed", TRANSPOSE),
    (("W_O", "missing"), "the projection by W_O is missing", "Multiply the joined heads by W_O."),
    (("b_O", "left out"), "b_O is left out", BIAS),
    (
        ("residual", "X"),
        "X is added to the output: a residual connection",
        "Compare before X is added, or add it on both sides.",
        COMMON,
    ),
    (
        ("residual", "row"),
        "the same row is added to every token's output, as a bias that was not given",
        "Give the biases (b_V, b_O) to both sides.",
    ),
)

COMMONEST = tuple(mistake for mistake in MISTAKES if mistake.common)
OUTCOMES = tuple(m for m in MISTAKES if m.name in ("hiding: NaN", "hiding: filled"))
BY_NAME = {mistake.name: mistake for mistake in MISTAKES}
MIXING = frozenset(  # where a row of the answer takes numbers of other queries' rows
    {("softmax", "queries"), ("softmax", "both axes"), ("sum", "transposed"), ("join", "reshaped")}
)


def mixing(mistakes: Iterable[Mistake]) -> bool:
    """Whether the answer to one query depends on the others' rows, so that all are needed."""
    return any(choice in MIXING for mistake in mistakes for choice in mistake.choices)
