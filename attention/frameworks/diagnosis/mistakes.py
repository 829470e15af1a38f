"""The mistakes that are made in attention: what each does, in which part, and the mend.

A mistake replaces the option of one part of the arithmetic by another, or of several parts at once;
:mod:`attention.frameworks.diagnosis.bench` computes with them. Two mistakes go together where they
have no part in common. To add one: a row here, and its line in the step of the bench that it
changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

Choices = tuple[tuple[str, str], ...]  # (part, option) …


class NoRoom(ValueError):
    """The inputs leave no room for this mistake."""


@dataclass(frozen=True, eq=False)  # each is one row of the table, and itself alone
class Mistake:
    """One thing that goes wrong in codes: the options it chooses, in which parts."""

    choices: Choices
    title: str  # a clause: what their code does
    fix: str  # a sentence: what to do about it
    common: bool = False  # one of the twelve that are also tried together with any other
    without_softmax: str = ""  # the title where there is no softmax, if it speaks of one
    number: float | None = None  # the one that was fitted, where the table has none
    spread: float | None = None  # how far from it other numbers would fit as well

    @property
    def name(self) -> str:
        """Its first choice, as ``scale: none``; of several parts, all of them."""
        parts, (option, *_) = zip(*self.choices, strict=True)
        if self.number is not None:
            option = f"{option[: option.rfind(' ') + 1]}{self.number:.4g}"
        return f"{', '.join(parts)}: {option}"

    @cached_property
    def parts(self) -> frozenset[str]:
        """The parts of the arithmetic that it changes."""
        return frozenset(part for part, _ in self.choices)

    @property
    def fitted(self) -> bool:
        """Whether a number it needs is taken from the other code's answer itself."""
        answered = self.choices in ((("residual", "row"),), (("join", "gated"),))
        return answered or self.number is not None


TRANSPOSE = (
    "Write X W for weights of shape (d_in, d_out), X Wᵀ for (d_out, d_in),"
    " as nn.Linear stores them."
)
NAMES = "Give each projection its own weights, and check the names."
BIAS = "Add each layer's bias, or give the weights of a layer that has none."
SCALE = (
    "Multiply the scores by the scale, by default 1/√d_k, before they are masked and become"
    " weights."
)
ROOT = "Divide by √d_k, the width of one head's keys."
FILL = "Hide a key with −∞: a finite number may leave it some weight."
SOFTMAX = "Take one softmax, over the last axis, the keys."
LOOK = (
    "Let query i see the keys up to i itself: tril with its diagonal, rows queries, columns keys."
)
PADDING = "Padding hides keys, as columns: shape (batch, 1, 1, n_k)."
OWN_MASK = "Give each item its own mask, (batch, 1, n_q, n_k), in the order of the items."
POSITIONS = "Add the positions to X before W_Q, W_K and W_V, or give positions=."
NORM = "Norm Q and K as the layer does, or give norm=."
GAIN = "Look up whether the layer multiplies by its gain or by 1 + gain, as Gemma does."
ROTARY = "Rotate Q and K of each head, after the split, or give rotary=."
BASE = "Take the base from the model's configuration (rope_theta)."
OFFSET = "With a cache of n keys the next query is at position n: Rotary(offset=n)."
SIGMOIDS = "Take the sigmoid of each masked score by itself."
SINKS = "Put the sink into the sum of the softmax, as one more score that no value belongs to."
SHIFTED = (
    "Subtract each row's largest score m from the sink as well: a sink s adds exp(s − m) to the"
    " sum, softmax_1 adds exp(−m)."
)
ALIBI = "Subtract slope × distance from each score: bias=alibi(n_q, n_k, heads)."
TABLE = "Add the table's number for each distance to the scaled scores, or give relative=."
CAP = "Cap the scaled scores, before the mask: softcap · tanh(scores / softcap)."
WINDOW = (
    "Count the keys a query sees: Mistral's and Gemma's sliding_window count its own,"
    " FlashAttention's window_size=(left, 0) does not."
)
SIDES = "Let query i see key j where |i − j| ≤ w: both ends are included."
NO_LOOK = "Leave out is_causal=True (Keras: use_causal_mask=True), or give this mask to both sides."
FLATTENED = (
    "Over batch · heads, repeat each item's mask for its heads: repeat_interleave(heads, 0), not"
    " repeat(heads, 1, 1)."
)
COLUMNS = "Transpose X, the weights and the output: here each row is a token, and Q = X W."
TWICE = "Rotate each key once: before it enters the cache, or after it was read, not both times."
SLOPES = "Take alibi_slopes(heads): 2^(−8i/h) with i from 1, for h a power of two."
JOINT = (
    "Look up the layout of the joint weights: GPT-NeoX and BLOOM hold q, k and v of each head in"
    " turn, nn.MultiheadAttention and GPT-2 all of q, then k, then v."
)
REPEAT = "Repeat the axis of the heads: np.repeat(K, heads // kv_heads, axis=-3)."
HEADS = "Reshape to (n, heads, d), then swap the first two axes."
JOIN = "Swap heads and tokens back, then reshape to (n, heads · d)."


def _all(parts: str, option: str) -> Choices:
    return tuple((part, option) for part in parts.split())


def _used_for(wrong: str, right: str) -> tuple[Choices, str, str]:
    title = f"{wrong} is used instead of {right}"
    return ((right, wrong),), title, NAMES


def _matrix_used_for(wrong: str, right: str) -> tuple[Choices, str, str]:
    title = f"{wrong} is used instead of {right}, with the bias that belongs there"
    return ((right, f"only {wrong}"),), title, NAMES


def _mistakes(*rows: tuple) -> tuple[Mistake, ...]:
    return tuple(
        Mistake((row[0],) if isinstance(row[0][0], str) else row[0], *row[1:]) for row in rows
    )


COMMON = True
MISTAKES: tuple[Mistake, ...] = _mistakes(
    (
        ("axes", "tokens first"),
        "the items, or heads, are read as the tokens and the tokens as the items, as by"
        " nn.MultiheadAttention with batch_first=False",
        "Pass batch_first=True, or give the axes in the order that the function expects.",
    ),
    # positions added to X
    (("positions", "left out"), "no positions are added to X", POSITIONS),
    (
        ("positions", "halves"),
        "the sines of the positions are in the first half, the cosines in the second",
        "Alternate sine and cosine, column by column.",
    ),
    (("positions", "from 1"), "the positions are counted from 1", "Count positions from 0."),
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
        ("split", "none"),
        "the heads are not split: all columns are one head",
        HEADS,
    ),
    (
        (("split", "none"), ("scale", "all heads")),
        "the heads are not split: all columns are one head, of width d_k · heads",
        HEADS,
    ),
    (
        ("split", "first"),
        "every head takes the columns of the first",
        "Let head h take the columns h · d to (h + 1) · d.",
    ),
    (
        ("split", "interleaved"),
        "the heads are split interleaved: head h takes columns h, h + heads, h + 2·heads",
        "Let head h take the columns h · d to (h + 1) · d.",
    ),
    (
        (("split", "interleaved"), ("join", "interleaved")),
        "the heads are split and joined interleaved: head h has columns h, h + heads, h + 2·heads",
        "Let head h take the columns h · d to (h + 1) · d, and join the heads side by side.",
    ),
    (
        ("split", "joint, by head"),
        "q, k and v are cut from the joint matrix head by head, and it holds all of q, then k, then"
        " v",
        JOINT,
    ),
    (
        ("split", "joint, by kind"),
        "q, k and v are cut from the joint matrix in three parts, and it holds q, k and v of each"
        " head in turn",
        JOINT,
    ),
    (
        ("groups", "tiled"),
        "shared heads of keys and values are tiled (h0, h1, h0, h1)",
        "Repeat each head in a row instead: h0, h0, h1, h1 (repeat_interleave, np.repeat).",
    ),
    (
        ("groups", "tokens"),
        "shared heads of keys and values are repeated along the tokens, then reshaped to the heads",
        REPEAT,
    ),
    (
        ("groups", "tokens, tiled"),
        "shared heads of keys and values are tiled along the tokens, then reshaped to the heads",
        REPEAT,
    ),
    # norm and rotation of Q and K
    (("norm", "left out"), "Q and K are not normed", NORM),
    (
        ("norm", "other span"),
        "the norm takes each head by itself, not all heads together, or the other way round",
        "Qwen3 and Gemma 3 norm each head, OLMo 2 all heads of a token together.",
    ),
    (("norm", "gain left out"), "the norm's gain is left out", GAIN),
    (("norm", "1 + gain"), "the norm multiplies by 1 + gain", GAIN),
    (("norm", "gain less 1"), "the norm multiplies by the gain minus 1", GAIN),
    (
        ("norm", "other order"),
        "norm and rotation are in the other order",
        "With a gain their order matters: most layers norm first and then rotate.",
    ),
    (
        ("norm", "mean taken away"),
        "the norm subtracts the mean: a layer norm is used instead of the RMS norm",
        "Divide by √(mean of squares) alone.",
    ),
    (("rotary", "left out"), "Q and K are not rotated", ROTARY),
    (
        ("rotary", "other pairs"),
        "the rotation pairs other columns: halves and interleaved are mixed up",
        "LLaMA of transformers and NeoX pair column k with k + width / 2; GPT-J and Meta's LLaMA"
        " 2k with 2k + 1.",
    ),
    (("rotary", "Q alone"), "Q is rotated, and K is not", ROTARY),
    (("rotary", "K alone"), "K is rotated, and Q is not", ROTARY),
    (("rotary", "V too"), "V is rotated as well", "Rotate Q and K alone."),
    (
        ("rotary", "backwards"),
        "the rotation turns the other way: its sines have the other sign",
        "(a, b) becomes (a cos θ − b sin θ, b cos θ + a sin θ).",
    ),
    (
        ("rotary", "first head"),
        "the first head alone is rotated, or the first item of a batch",
        "Let cos and sin broadcast over the heads: (1, n, width) beside (h, n, width).",
    ),
    (
        ("rotary", "other axis"),
        "the rotation's positions count the heads or the items, not the tokens",
        "Rotate along the axis of the tokens: Q and K are (h, n, d) there, not (n, h, d).",
    ),
    (
        ("rotary", "other angles"),
        "the rotation's angles are in the order of the other pairs: repeated column by column, not"
        " half by half, or the other way round",
        "With pairs of halves join the angles, cat(θ, θ); with interleaved pairs repeat each.",
    ),
    (("rotary", "K twice"), "K is rotated twice", TWICE),
    (("rotary", "both twice"), "Q and K are rotated twice", TWICE),
    (("rotary", "cache twice"), "the keys of the cache are rotated twice", TWICE),
    (("rotary", "base 10000"), "the rotation's base is 10000", BASE),
    (("rotary", "base 500000"), "the rotation's base is 500000", BASE),
    (("rotary", "base 1000000"), "the rotation's base is 1000000", BASE),
    (
        ("rotary", "whole width"),
        "all columns are rotated, not a part of them",
        "Rotate the first columns alone: rotary_pct or partial_rotary_factor says how many.",
    ),
    (
        ("rotary", "scaling left out"),
        "the rotation's angles are those of the base, without their scaling",
        "Take rope_scaling into account: linear, NTK, YaRN or Llama 3's.",
    ),
    (
        ("rotary", "offset 0"),
        "the first query is rotated as position 0: the keys of the cache are not counted",
        OFFSET,
    ),
    (("rotary", "one too far"), "queries are rotated one position too far", OFFSET),
    (("rotary", "one too short"), "queries are rotated one position too short", OFFSET),
    (
        ("rotary", "from the end"),
        "the last query is rotated as the last key, and not the first as the first",
        OFFSET,
    ),
    (
        ("order", "K and V"),
        "keys and values are swapped",
        "Check the order of the arguments: Keras layers take query, value, key.",
    ),
    (
        ("order", "Q and K"),
        "Q and K are swapped",
        "Q is made with W_Q and K with W_K; a row of the scores is a query: write Q Kᵀ, not K Qᵀ.",
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
        "the scores are divided by d_k, not √d_k",
        "Divide by the square root of d_k, once.",
    ),
    (
        ("scale", "twice"),
        "the scale is applied twice",
        "Scale once; many kernels scale by themselves.",
    ),
    (("scale", "inverse"), "the scores are multiplied by √d_k", "Divide by √d_k."),
    (("scale", "tokens"), "the scores are divided by √n, the number of keys", ROOT),
    (
        ("scale", "after softmax"),
        "the scale is applied after the softmax",
        SCALE,
        False,
        "the scale is applied to the weights, not to the scores",
    ),
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
    (
        ("bias", "negated"),
        "the additive bias is subtracted",
        "Add it: where nearer keys are to count for more, its numbers are negative.",
    ),
    (
        ("bias", "signed"),
        "ALiBi takes the distance with its sign: keys after the query count for more",
        "Take |i − j|, or hide the keys after the query.",
    ),
    (("bias", "without slopes"), "ALiBi takes the distance itself, without slopes", ALIBI),
    (
        ("bias", "one sequence"),
        "ALiBi's slopes are one sequence, 2^(−8i/h), though h, the number of heads, is no power of"
        " two",
        SLOPES,
    ),
    (
        ("bias", "one step off"),
        "ALiBi's slopes are one step off: 2^(−8i/h) with i from 0",
        SLOPES,
    ),
    (("relative", "left out"), "the relative bias is left out", TABLE),
    (("relative", "scaled"), "the relative bias is added before the scale", TABLE),
    (
        ("relative", "turned"),
        "the relative bias takes keys before the query for keys after it",
        "Look up the bucket of query − key for keys before the query; T5's relative_position is"
        " key − query.",
    ),
    (
        ("relative", "other side"),
        "bidirectional of the relative bias is set the other way round",
        "An encoder has buckets for both sides, a decoder only for keys before the query.",
    ),
    (
        ("relative", "128"),
        "the furthest distance of the relative bias is 128",
        "Take max_distance from the model's configuration.",
    ),
    (
        ("relative", "reshaped"),
        "the table of the relative bias is reshaped to (heads, buckets), not transposed",
        "Look its rows up first, then move the heads to the front.",
    ),
    # the mask
    (("cap", "left out"), "the scores are not capped", CAP),
    (("cap", "before scale"), "the scores are capped before they are scaled", CAP),
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
        "the mask is transposed: queries and keys are mixed up, so that a look-ahead mask would"
        " hide the other triangle",
        "Give the mask a row for each query and a column for each key: look-ahead is tril, with its"
        " diagonal.",
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
    (("mask", "no window"), "there is no window: all keys before a query are seen", WINDOW),
    (("mask", "wider"), "the window is off by one: a query sees one key more", WINDOW),
    (("mask", "narrower"), "the window is off by one: a query sees one key fewer", WINDOW),
    (("mask", "padding as rows"), "padding hides queries instead of keys", PADDING),
    (("mask", "padding both ways"), "padding hides queries as well as keys", PADDING),
    (
        ("mask", "diagonal shown"),
        "each query also sees its own key, though the mask hides it",
        "Where this keeps a row from being empty: no mask has to, a row without keys gets"
        " weights 0.",
    ),
    (
        ("mask", "padding lost"),
        "look-ahead hides keys, padding does not",
        "Combine the masks: allowed = look_ahead & padding; is_causal=True may replace the other.",
    ),
    (
        ("mask", "look-ahead lost"),
        "padding hides keys, look-ahead does not",
        "Combine the masks: allowed = look_ahead & padding.",
    ),
    (("mask", "sides wider"), "the window is off by one: one key more on each side", SIDES),
    (("mask", "sides narrower"), "the window is off by one: one key fewer on each side", SIDES),
    (
        ("mask", "last key short"),
        "the window is off by one: its last key is missing, as range(i − w, i + w) leaves it out",
        SIDES,
    ),
    (("mask", "nothing after"), "the window loses its keys after the query", SIDES),
    (("mask", "nothing before"), "the window loses its keys before the query", SIDES),
    (
        ("mask", "window alone"),
        "the window hides keys, padding does not",
        "Combine the masks: allowed = window & padding.",
    ),
    (
        ("mask", "padding alone"),
        "padding hides keys, the window does not",
        "Combine the masks: allowed = window & padding.",
    ),
    (
        ("mask", "documents lost"),
        "look-ahead hides keys, but packed documents see one another",
        "Combine the masks: allowed = look_ahead & same_document.",
    ),
    (
        ("mask", "documents alone"),
        "packed documents are kept apart, but look-ahead is missing",
        "Combine the masks: allowed = look_ahead & same_document.",
    ),
    (("mask", "look-ahead added"), "a look-ahead mask is added to the mask given", NO_LOOK),
    (
        ("mask", "look-ahead added, lower right"),
        "a look-ahead mask, aligned to the last key, is added to the mask given",
        NO_LOOK,
    ),
    (
        ("mask", "look-ahead instead"),
        "a look-ahead mask is used instead of the mask given",
        NO_LOOK,
    ),
    (
        ("mask", "look-ahead instead, lower right"),
        "a look-ahead mask, aligned to the last key, is used instead of the mask given",
        NO_LOOK,
    ),
    (
        ("mask", "heads first"),
        "the masks are flattened head by head, the scores item by item",
        FLATTENED,
    ),
    (
        ("mask", "items first"),
        "the masks are flattened item by item, the scores head by head",
        FLATTENED,
    ),
    (("mask", "of the first"), "the mask of the first item or head is used for all", OWN_MASK),
    (
        ("mask", "of the next"),
        "each item or head has the mask of the next one, the last that of the first",
        OWN_MASK,
    ),
    (
        ("mask", "of the one before"),
        "each item or head has the mask of the one before, the first that of the last",
        OWN_MASK,
    ),
    (
        ("hiding", "NaN"),
        "a row that sees no key becomes NaN",
        "Give such a row weights 0, as torch's SDPA and ONNX do, not 0/0.",
    ),
    (
        ("hiding", "filled"),
        "hidden scores are overwritten by a finite number such as −1e9 or finfo.min,"
        " or that is added in float32",
        "Use −∞, and give a row that sees no key weights 0.",
    ),
    (
        ("hiding", "−1e9 added"),
        "a large negative number such as −1e9 is added to hidden scores in float64",
        "Use −∞: a finite number is a bias, and a row with nothing else keeps its weights.",
    ),
    (
        (("hiding", "lowest twice"), ("mask", "both")),
        "look-ahead and padding each add the lowest number of the dtype: what both hide becomes −∞,"
        " and a row without keys shares its weight among the keys that one of them hides",
        "Combine the masks first: allowed = look_ahead & padding.",
    ),
    (
        ("hiding", "+∞"),
        "hidden scores become +∞ or NaN: each row that hides a key is NaN",
        "Use −∞. 0 · −∞ is NaN: choose with np.where or masked_fill, do not multiply by ∞.",
    ),
    (
        ("hiding", "0/1 added"),
        "the mask is added to the scores as 0 and 1",
        "Turn it into a boolean mask, or into 0 and −∞, before adding it.",
    ),
    (
        ("hiding", "0"),
        "hidden scores become 0 (set to 0 or 1e-9, or multiplied by the mask)",
        FILL,
    ),
    (("hiding", "−1"), "hidden scores are filled with −1", FILL),
    (("hiding", "−10"), "hidden scores are filled with −10", FILL),
    (
        ("hiding", "after softmax"),
        "the mask is applied after the softmax",
        "Mask the scores before they become weights.",
        COMMON,
        "the mask is applied to the weights, not to the scores",
    ),
    # the softmax
    (
        ("softmax", "queries"),
        "the softmax runs over the queries",
        "Take the softmax over the last axis, the keys.",
        COMMON,
    ),
    (("softmax", "both axes"), "the softmax runs over queries and keys together", SOFTMAX),
    (
        ("softmax", "none"),
        "there is no softmax",
        "Apply the softmax over the last axis, the keys, or the sigmoid where the layer has one.",
    ),
    (("softmax", "twice"), "the softmax is taken twice", SOFTMAX),
    (("softmax", "twice, masked"), "the softmax is taken twice, masked both times", SOFTMAX),
    (("softmax", "sigmoid"), "a sigmoid is used instead of the softmax", SOFTMAX),
    (("softmax", "taken"), "a softmax is used instead of the sigmoid", SIGMOIDS),
    (
        ("softmax", "divided"),
        "each row of scores is divided by its sum, in place of a softmax",
        SOFTMAX,
    ),
    (
        ("softmax", "heads"),
        "the softmax runs over the axis before the queries: the heads, or the items",
        "Take one softmax, over the last axis, the keys: dim=-1. Without dim, torch takes the first"
        " axis of three, and the second of four.",
    ),
    (("sinks", "left out"), "the sinks are left out", SINKS),
    (
        ("sinks", "not exponentiated"),
        "the sinks themselves are added to the softmax's sum, not their exp",
        SINKS,
    ),
    (("sinks", "scaled"), "the sinks are scaled as the scores are", SINKS),
    (("sinks", "in output"), "the sinks are added to the output", SINKS),
    (
        ("sinks", "shifted"),
        "the sinks are not shifted: each row's largest score is subtracted from the scores alone",
        SHIFTED,
    ),
    (
        ("shares", "averaged"),
        "the values of each head are multiplied by the mean of all heads' weights",
        "Multiply each head's values by its own weights; average a copy to look at.",
    ),
    (
        ("shares", "handed over"),
        "the weights given are the mean of all heads' weights, and the output is made with each"
        " head's own",
        "Hand over each head's weights: average_attn_weights=False in nn.MultiheadAttention.",
    ),
    # after the weights
    (
        ("sum", "transposed"),
        "the transposed weights multiply the values: weightsᵀ V",
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
        "the heads are averaged, and their mean takes every head's place",
        JOIN,
    ),
    (
        ("join", "averaged, repeated"),
        "the heads are averaged, and each number of their mean is repeated for every head",
        JOIN,
    ),
    (
        ("join", "first"),
        "the output of the first head takes every head's place",
        "Join the outputs of all heads, side by side.",
    ),
    (
        ("join", "gated"),
        "the output is ours times a factor of its own for each query and head: a gate, a norm of"
        " each head, or a sum that others than these keys share",
        "Compare before the gate or the norm, or apply it on both sides; of a sink give sinks=.",
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
    (("layout", "columns"), "the output has its tokens as columns", COLUMNS),
    (
        (("layout", "columns"), ("positions", "columns"), *_all("W_Q W_K W_V", "transposed")),
        "X and the output have their tokens as columns, and the weights are transposed: Q = W X",
        COLUMNS,
    ),
    # parts that were not given
    (("positions", "added"), "sinusoidal positions are added to X", POSITIONS),
    (("norm", "added"), "Q and K are normed (RMS, without a gain)", NORM),
    (("rotary", "added"), "rotary positions rotate Q and K (pairs as halves, base 10000)", ROTARY),
    (
        ("rotary", "added, interleaved"),
        "rotary positions rotate Q and K (pairs interleaved, base 10000)",
        ROTARY,
    ),
    (("bias", "added"), "ALiBi is added to the scores", ALIBI),
    (
        ("sinks", "added"),
        "a sink of 0 takes a share: 1 is added to the softmax's sum, as by add_zero_attn",
        SINKS,
    ),
    (
        ("sinks", "added, shifted"),
        "1 is added to the softmax's sum after each row's largest score is subtracted: softmax_1"
        " without its shift",
        SHIFTED,
    ),
)

COMMONEST = tuple(mistake for mistake in MISTAKES if mistake.common)
FILLS = {"0": 0.0, "−1": -1.0, "−10": -10.0}  # options of hiding, and the number of each
FILLED = "hidden scores are filled with a finite number"
NO_SOFTMAX = frozenset({"softmax: none", "softmax: sigmoid", "softmax: divided"})
OUTCOMES = tuple(m for m in MISTAKES if m.name in ("hiding: NaN", "hiding: filled"))
STRANDING = frozenset({"softmax: heads", "softmax: divided"})  # their hidden scores meet others
BY_NAME = {mistake.name: mistake for mistake in MISTAKES}
MIXING = frozenset(  # where a row of the answer takes numbers of other queries' rows
    {
        ("axes", "tokens first"),
        ("softmax", "queries"),
        ("softmax", "both axes"),
        ("sum", "transposed"),
        ("join", "reshaped"),
        ("layout", "columns"),
    }
)


def titles(mistakes: Iterable[Mistake], softmax: bool = True) -> list[str]:
    """Return the title of each mistake beside the others; ``softmax``: whether one is expected.

    >>> titles([BY_NAME["hiding: after softmax"], BY_NAME["softmax: none"]])
    ['the mask is applied to the weights, not to the scores', 'there is no softmax']
    """
    mistakes = list(mistakes)
    softmax = softmax and not any(mistake.name in NO_SOFTMAX for mistake in mistakes)
    return [m.title if softmax else m.without_softmax or m.title for m in mistakes]


def fill(mistakes: Iterable[Mistake]) -> Mistake | None:
    """Return the mistake that fills hidden scores with a number of its own; None: there is none."""
    return next(
        (m for m in mistakes for part, option in m.choices if part == "hiding" and option in FILLS),
        None,
    )


def mixing(mistakes: Iterable[Mistake]) -> bool:
    """Whether the answer to one query depends on the others' rows, so that all are needed."""
    return any(choice in MIXING for mistake in mistakes for choice in mistake.choices)
