"""How well-known attentions answer the same inputs, a record for each way of calling that differs.

The fields of a :class:`Convention` are both what a page shows of it and what its arithmetic runs
on; so a cause of a difference can be tried out (reasons.py): correct one field, compute again,
and see what changes. Where two modes of one function differ (weights returned or not, a path the
framework chooses), each is a record; modes that give the same answer are named in its ``when``. A
mode that differs in digits alone has no record.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import (
    as_floats,
    as_mask,
    check_count,
    check_fits,
    check_positive,
    check_shapes,
    in_type,
    weighted_sum,
)
from attention.arrays.conversion import as_numbers
from attention.arrays.layouts import repeat_heads
from attention.core.masks import TUTORIAL_FILL, causal_lower_right, window
from attention.core.masks import causal as upper_left
from attention.core.scores import check_sinks, soft_cap
from attention.frameworks.given import grouped

Hide = Callable[[np.ndarray, np.ndarray], np.ndarray]
NO_ARGUMENT = "no such argument"
PARTS = {  # of real layers, by the names of their arguments here
    "softcap": "soft cap",
    "window": "window",
    "sinks": "sinks",
    "bias": "bias of the scores",
}


@dataclass(frozen=True, eq=False)
class Parts:
    """What is handed over beside Q, K, V and the mask; where there is no argument for a part, the
    answer leaves it out.
    """

    softcap: float | None = None
    window: int | None = None  # keys that a query sees at most, its own and those before it
    sinks: np.ndarray | None = None  # () or (…), a score of no key
    bias: np.ndarray | None = None  # (…, n_q, n_k), added to the scores

    @property
    def used(self) -> tuple[str, ...]:
        return tuple(name for name in PARTS if getattr(self, name) is not None)


NO_PARTS = Parts()


@dataclass(frozen=True, eq=False)
class Answer:
    """What a framework makes of Q, K and V; both arrays are None where it cannot be handed them."""

    weights: np.ndarray | None = None  # (…, n_q, n_k)
    output: np.ndarray | None = None  # (…, n_q, d_v)
    refused: str = ""  # a sentence saying why


# ---- what happens to a hidden score: (scores, keep) → masked ------------------------------------


def _added(filler: float) -> Hide:
    """The filler is added to hidden scores: a NaN there stays NaN."""
    return lambda scores, keep: scores + np.where(keep, 0, filler).astype(scores.dtype)


def replaced(filler: float) -> Hide:
    """The filler takes the place of hidden scores."""
    return lambda scores, keep: np.where(keep, scores, filler).astype(scores.dtype)


def _lowest_added(scores: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """The lowest number of the scores' own type is added; that of float64 is −∞ in float32."""
    return scores + np.where(keep, 0, np.finfo(scores.dtype).min)


# ---- what cannot be handed over: (Q, K, V, mask, causal) → a sentence, or "" ---------------------


def _takes_all(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None, causal: bool
) -> str:
    return ""


def _wants_one_row(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None, causal: bool
) -> str:
    if mask is None or (mask == mask[..., :1, :]).all():
        return ""
    return "keras.layers.Attention documents only a mask over keys, the same for all queries."


def _wants_a_key(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None, causal: bool
) -> str:
    return "" if K.shape[-2] else "The ONNX reference raises an error where there is no key."


def _wants_d_k(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None, causal: bool
) -> str:
    d_k, d_v = K.shape[-1], V.shape[-1]
    return "" if d_k == d_v else f"It wants V as wide as K; here d_v is {d_v} and d_k is {d_k}."


def _wants_mask_or_switch(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None, causal: bool
) -> str:
    both = mask is not None and causal
    return "It raises an error for a mask and a look-ahead at once." if both else ""


def _wants_one_attn_mask(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None, causal: bool
) -> str:
    both = mask is not None and causal
    return "Its attn_mask is a mask or causal_lower_right, not both." if both else ""


def _wants_mask_or_switch_if_narrow(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None, causal: bool
) -> str:
    if K.shape[-1] == V.shape[-1]:
        return ""  # the path that needs one width takes both, though the documentation forbids it
    return _wants_mask_or_switch(Q, K, V, mask, causal)


# ---- what parts cannot be handed over together: (mask, causal, parts) → a sentence, or "" --------


def _parts_as_they_come(mask: np.ndarray | None, causal: bool, parts: Parts) -> str:
    return ""


def _bias_or_switch(mask: np.ndarray | None, causal: bool, parts: Parts) -> str:
    both = parts.bias is not None and causal
    return "It raises an error for a bias and a look-ahead at once." if both else ""


def _bias_or_mask(mask: np.ndarray | None, causal: bool, parts: Parts) -> str:
    both = parts.bias is not None and mask is not None
    return "It raises an error for a bias and a mask at once." if both else ""


def _nothing_beside_the_corner(mask: np.ndarray | None, causal: bool, parts: Parts) -> str:
    if parts.window is not None:
        return "Its attn_mask is causal_lower_right, which takes neither a window nor another mask."
    both = parts.bias is not None and causal
    return "Its attn_mask is a bias or causal_lower_right, not both." if both else ""


def _cap_or_sinks(mask: np.ndarray | None, causal: bool, parts: Parts) -> str:
    both = {"softcap", "sinks"} <= set(parts.used)
    return "None of its functions has both a soft cap and sinks." if both else ""


def _refuses_a_cap(mask: np.ndarray | None, causal: bool, parts: Parts) -> str:
    return "It raises an error for a soft cap." if parts.softcap is not None else ""


@dataclass(frozen=True)
class Convention:
    """One framework's choices in one mode. Its defaults are meant wherever it offers more."""

    title: str
    version: str
    when: str  # the calls that give this answer
    source: str  # what was looked at and run; the answers are kept in tests/peers/recorded.json
    layout: str  # of Q, K and V
    true_means: str  # "may look", "hide" or "no boolean mask": it gets what its own helper makes
    causal: str  # begins with "upper left", "lower right" or "the caller's mask": made upper left
    hidden_row: str  # begins with "0", "NaN" or "uniform": the weights of a query that sees no key
    scale: str  # "1/√d_k" or "1"
    floats: str  # "as given", "float32" or "softmax in float32"
    hide: Hide  # (scores, keep) → masked
    groups: str = NO_ARGUMENT  # how fewer heads of keys and values are handed over
    softcap: str = NO_ARGUMENT  # how each of PARTS is
    window: str = NO_ARGUMENT
    sinks: str = NO_ARGUMENT
    bias: str = NO_ARGUMENT
    takes: frozenset[str] = frozenset()  # those of PARTS, and "groups", that it was handed
    mode: str = ""  # what tells it from the other records of the same title
    refuses: Callable[..., str] = _takes_all  # (Q, K, V, mask, causal) → a sentence, or ""
    refuses_parts: Callable[[np.ndarray | None, bool, Parts], str] = _parts_as_they_come
    infinite_row: str = "NaN"  # or "0": the weights of a query whose scores are all −∞
    hides_in_bias: bool = False  # hidden places get the lowest number in the place of the bias
    roots: bool = False  # √scale on Q and on K, where the others multiply once
    zeroes: bool = False  # after the softmax, hidden weights are set to 0
    zeroes_rows: bool = False  # the same of queries that see no key, whose scores may be NaN
    lone_query_sees_all: bool = False  # without a mask, the switch hides nothing from one query

    @property
    def name(self) -> str:
        """Title and mode: no two records have the same."""
        return f"{self.title}, {self.mode}" if self.mode else self.title

    @property
    def caps_in_float32(self) -> bool:
        return "float32" in self.softcap

    @property
    def corner(self) -> str:
        """Where its look-ahead mask is aligned, by its switch or as its documentation makes it."""
        return "lower right" if self.causal.startswith("lower right") else "upper left"

    def keep(
        self,
        mask: np.ndarray | None,
        causal: bool,
        shape: tuple[int, ...],
        parts: Parts = NO_PARTS,
    ) -> np.ndarray:
        """Which scores count once ``mask`` is read as this framework reads it: (…, n_q, n_k)."""
        keep = np.True_ if mask is None else ~mask if self.true_means == "hide" else mask
        if self.lone_query_sees_all and mask is None and shape[-2] == 1:
            causal = False
        if causal:
            look_ahead = causal_lower_right if self.corner == "lower right" else upper_left
            keep = keep & look_ahead(*shape[-2:])
        if parts.window is not None and "window" in self.takes:
            n_q, n_k = shape[-2:]
            past = n_k - n_q if self.corner == "lower right" else 0
            keep = keep & window(n_q, n_k, parts.window, past)
        return np.broadcast_to(keep, shape)

    def answer(
        self,
        Q: np.ndarray,
        K: np.ndarray,
        V: np.ndarray,
        mask: np.ndarray | None = None,
        causal: bool = False,
        parts: Parts = NO_PARTS,
        *,
        factor: float | None = None,
        leaks: bool = True,
    ) -> Answer:
        """The arithmetic, for checked arrays; ``factor`` takes the place of the default scale.

        ``leaks``: a hidden NaN in V reaches the output, as 0 × NaN does in every framework here.
        """
        factor = factor or (1 if self.scale == "1" else 1 / math.sqrt(Q.shape[-1]))
        before, after = (math.sqrt(factor), 1) if self.roots else (1, factor)
        with np.errstate(all="ignore"):
            if self.floats == "float32":
                Q, K, V = (M.astype(np.float32) for M in (Q, K, V))
            scores = (Q * before) @ (K * before).swapaxes(-1, -2) * after
            given = {name: getattr(parts, name) for name in parts.used if name in self.takes}
            if "softcap" in given:
                cap = given["softcap"]
                scores = soft_cap(scores, float(np.float32(cap) if self.caps_in_float32 else cap))
            keep, sinks = self.keep(mask, causal, scores.shape, parts), given.get("sinks")
            masked = self._masked(scores, keep, given.get("bias"))
            if self.floats == "softmax in float32" and sinks is None:
                masked = masked.astype(np.float32)
            weights = _softmax(masked, sinks).astype(Q.dtype)
            if self.zeroes:
                weights = np.where(keep, weights, 0)
            elif self.zeroes_rows:
                weights = np.where(keep.any(axis=-1, keepdims=True), weights, 0)
            if self.infinite_row == "0":
                weights = np.where(np.isneginf(masked).all(-1, keepdims=True), 0, weights)
            return Answer(weights, weights @ V if leaks else weighted_sum(weights, V, keep))

    def _masked(self, scores: np.ndarray, keep: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
        """Return the scores with the bias added and what is not kept hidden, in either of them."""
        if bias is None:
            return self.hide(scores, keep)
        bias = bias.astype(scores.dtype)
        if self.hides_in_bias:
            return scores + np.where(keep, bias, np.finfo(scores.dtype).min)
        return self.hide(scores + bias, keep)


def _softmax(masked: np.ndarray, sinks: np.ndarray | None = None) -> np.ndarray:
    """As it stands in a book: a row of −∞ alone becomes NaN."""
    highest = masked.max(axis=-1, keepdims=True, initial=-np.inf)
    if sinks is None:
        exponentials = np.exp(masked - highest)
        return exponentials / exponentials.sum(axis=-1, keepdims=True)
    column = sinks[..., None, None].astype(masked.dtype)
    highest = np.maximum(highest, column)
    exponentials = np.exp(masked - highest)
    return exponentials / (exponentials.sum(axis=-1, keepdims=True) + np.exp(column - highest))


_FLOAT32_MAX = float(np.finfo(np.float32).max)

_SDPA = Convention(
    title="F.scaled_dot_product_attention",
    version="torch 2.13.0",
    when="by default, and with SDPBackend.FLASH_ATTENTION; a mask of 0 and −∞ gives the same",
    source="docstring; run on the CPU, where a query of NaN gets 0 as long as keys are few (below"
    " 16 in float32, 8 in float64; not imitated)",
    layout="(B, H, L, D)",
    true_means="may look",
    causal="upper left",
    hidden_row="0",
    scale="1/√d_k",
    floats="as given",
    hide=_added(-np.inf),
    infinite_row="0",
    groups="enable_gqa=True",
    bias="attn_mask of numbers",
    takes=frozenset({"groups", "bias"}),
    refuses=_wants_mask_or_switch_if_narrow,
)
_TORCH_MHA = Convention(
    title="nn.MultiheadAttention",
    mode="need_weights=True",
    version="torch 2.13.0",
    when="the default; with need_weights=False too on the fast path: eval, no gradient, one tensor"
    " for all three, batch_first, bias (its default), an even number of heads, boolean masks",
    source="docstring and multi_head_attention_forward; run with identity projections",
    layout="(L, B, H·D), or (B, L, H·D) with batch_first",
    true_means="hide",
    causal="the caller's mask",
    hidden_row="NaN",
    scale="1/√d_k",
    floats="as given",
    hide=_added(-np.inf),
    bias="attn_mask of numbers",
    takes=frozenset({"bias"}),
    refuses=_wants_d_k,
)
_KERAS_MHA = Convention(
    title="keras.layers.MultiHeadAttention",
    mode="default",
    version="keras 3.15.1",
    when="neither scores nor dropout, on the torch backend; JAX and NumPy: uniform in float16 too",
    source="keras/src/layers/attention/multi_head_attention.py; run with identity projections",
    layout="(B, L, H·D), called with (Q, V, K)",
    true_means="may look",
    causal="upper left",
    hidden_row="uniform; as if nothing were hidden in float16",
    scale="1/√d_k",
    floats="float32",
    hide=_added(-0.7 * 3.38953e38),
    groups="keras.layers.GroupQueryAttention",
    window="sliding_window=seen, its own counted, as many ahead: with use_causal_mask=True",
    takes=frozenset({"groups", "window"}),
)
_ONNX = Convention(
    title="ONNX Attention",
    version="onnx 1.23.2",
    when="opsets 23, 24 and 25, without a cache",
    source="onnx/reference/ops/op_attention.py; run by the reference evaluator",
    layout="(B, H, L, D), or (B, L, H·D)",
    true_means="may look",
    causal="upper left",
    hidden_row="0",
    scale="1/√d_k",
    floats="as given",
    hide=_added(-np.inf),
    infinite_row="0",
    groups="fewer heads in K and V, or kv_num_heads=",
    softcap="softcap=, a float32, before the mask",
    window="opset 25: left_window_size=seen − 1, right_window_size=0",
    bias="attn_mask of numbers",
    takes=frozenset({"groups", "softcap", "window", "bias"}),
    refuses=_wants_a_key,
    roots=True,
    zeroes_rows=True,
)

CONVENTIONS = {
    "torch_sdpa": _SDPA,
    "torch_sdpa_math": replace(
        _SDPA,
        mode="math",
        when="SDPBackend.MATH; torch chooses it for dropout_p > 0, d_v ≠ d_k, other than four axes",
        source="docstring; run on the CPU",
        refuses=_wants_mask_or_switch,
        refuses_parts=_bias_or_switch,
        roots=True,
    ),
    "torch_sdpa_lower_right": replace(
        _SDPA,
        mode="causal_lower_right",
        when="attn_mask=causal_lower_right(n_q, n_k) in the place of is_causal=True",
        source="torch/nn/attention/bias.py; run on the CPU",
        causal="lower right",
        window="none: causal_lower_right takes no other mask",
        refuses=_wants_one_attn_mask,
        refuses_parts=_nothing_beside_the_corner,
    ),
    "torch_mha": _TORCH_MHA,
    "torch_mha_no_weights": replace(
        _TORCH_MHA,
        mode="need_weights=False",
        when="off the fast path: training, gradients, bias=False, a mask of numbers; so"
        " nn.TransformerEncoderLayer and nn.TransformerDecoderLayer call it",
        hidden_row="0",
        infinite_row="0",
    ),
    "keras_attention": Convention(
        title="keras.layers.Attention",
        version="keras 3.15.1",
        when="scores returned or not, on the torch backend; JAX and NumPy: uniform in float16 too",
        source="keras/src/layers/attention/attention.py; run",
        layout="(B, L, D), called with [Q, V, K]",
        true_means="may look",
        causal="upper left",
        hidden_row="uniform; NaN in float16",
        scale="1",
        floats="float32",
        hide=_added(TUTORIAL_FILL),
        refuses=_wants_one_row,
    ),
    "keras_mha": _KERAS_MHA,
    "keras_mha_scores": replace(
        _KERAS_MHA,
        mode="scores or dropout",
        when="return_attention_scores=True or dropout > 0, also at inference; on every backend run",
        hidden_row="0",
        hide=replaced(TUTORIAL_FILL),
        zeroes=True,
    ),
    "keras_ops": replace(
        _KERAS_MHA,
        title="keras.ops.dot_product_attention",
        mode="",
        when="the torch backend; on the JAX backend it is jax.nn.dot_product_attention",
        source="keras/src/ops/nn.py and backend/torch/nn.py; run",
        layout="(B, L, H, D)",
        groups="fewer heads in key and value",
        softcap="attn_logits_soft_cap=, for JAX on a TPU alone; not tried",
        window=NO_ARGUMENT,
        infinite_row="0",
        bias="bias=, without a mask",
        takes=frozenset({"groups", "bias"}),
        refuses_parts=_bias_or_mask,
    ),
    "jax": Convention(
        title="jax.nn.dot_product_attention",
        version="jax 0.10.2",
        when='implementation None and "xla", x64 off; with jax_enable_x64 float64 stays, but not in'
        " the softmax. Queries past query_seq_lengths get output 0",
        source="jax/_src/nn/functions.py; run on the CPU",
        layout="(B, L, H, D)",
        true_means="may look",
        causal="upper left",
        hidden_row="uniform",
        scale="1/√d_k",
        floats="float32",
        hide=replaced(-0.7 * _FLOAT32_MAX),
        groups="fewer heads in key and value",
        window="local_window_size=(seen − 1, 0): keys before its own",
        bias="bias=",
        takes=frozenset({"groups", "window", "bias"}),
        refuses=_wants_d_k,
    ),
    "onnx_23": _ONNX,
    "onnx_cache": replace(
        _ONNX,
        mode="with a cache",
        when="past_key of n_k − n_q keys (opsets 23 to 25), or nonpad_kv_seqlen of n_k (24 and 25)",
        causal="lower right",
    ),
    "hf_eager": Convention(
        title="Hugging Face eager attention",
        version="transformers 5.24.0",
        when='attn_implementation="eager"; in float16 large scores of a hidden row show through',
        source="eager_attention_forward of modeling_llama.py, its mask made by eager_mask; run",
        layout="(B, H, L, D)",
        true_means="no boolean mask",
        causal="the caller's mask",
        hidden_row="uniform; NaN in float64",
        scale="1/√d_k",
        floats="softmax in float32",
        hide=_lowest_added,
        groups="num_key_value_groups of the module",
        softcap="softcap= of Gemma 2's, before the mask",
        window="sliding_window=seen, its own counted, by its mask function",
        sinks="the sinks of gpt-oss' module; softmax in the type given",
        bias="attention_mask of numbers",
        takes=frozenset({"groups", "softcap", "window", "sinks", "bias"}),
        refuses_parts=_cap_or_sinks,
    ),
    "hf_sdpa": Convention(
        title="Hugging Face sdpa attention",
        version="transformers 5.24.0",
        when='attn_implementation="sdpa", the default. Beside a mask its switch is ignored:'
        " sdpa_mask puts the look-ahead into the mask",
        source="sdpa_attention_forward, its mask made by sdpa_mask; run with torch 2.13.0",
        layout="(B, H, L, D)",
        true_means="may look",
        causal="upper left; nothing hidden from a lone query",
        hidden_row="0",
        scale="1/√d_k",
        floats="as given",
        hide=_added(-np.inf),
        infinite_row="0",
        groups="num_key_value_groups of the module",
        softcap="none: it raises an error",
        window="sliding_window=seen, its own counted, by its mask function",
        bias="position_bias=; then a query that sees no key: uniform",
        takes=frozenset({"groups", "window", "bias"}),
        refuses_parts=_refuses_a_cap,
        hides_in_bias=True,
        lone_query_sees_all=True,
    ),
}


def answer(
    name: str,
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    causal: bool = False,
    softcap: float | None = None,
    window: int | None = None,
    sinks: ArrayLike | None = None,
    bias: ArrayLike | None = None,
) -> Answer:
    """Return what the framework ``name`` of :data:`CONVENTIONS` answers.

    Parameters
    ----------
    Q, K, V : array_like, (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v)
        In our layout. As in our own attention, integers become float64 and half precision float32.
        K and V may have fewer heads, where the framework takes them so.
    mask : array_like of bool, broadcastable to (…, n_q, n_k)
        Its axes are read as those of ``allowed`` in our own attention. Handed over as it is: where
        True means hide, it hides. Where there is no boolean mask, the framework's own helper turns
        it into numbers to add.
    causal : bool
        The framework's own switch, or the mask its documentation tells the caller to make, in its
        own polarity. With a mask as well, a key hidden by either is hidden (torch documents an
        error for that, but its default path on the CPU does the same).
    softcap, window, sinks, bias :
        As in :func:`attention.scaled_dot_product_attention`; the window as in
        :func:`attention.window`. Where there is no argument for one, the answer leaves it out.

    Raises
    ------
    ValueError, TypeError
        One sentence, where the name is not in the table or the arrays fit no attention at all.

    >>> answer("torch_mha", [[1.0]], [[1.0], [1.0]], [[10.0], [20.0]], mask=[[True, False]]).output
    array([[20.]])
    """
    convention = named(name)
    Q, K, V = as_floats(Q=Q, K=K, V=V)
    if grouped(Q, K):
        if "groups" not in convention.takes:
            return Answer(refused="It has no argument for fewer heads of keys and values.")
        K, V = (repeat_heads(M, Q.shape[-3]) for M in (K, V))
    check_shapes(Q, K, V)
    shape = (*np.broadcast_shapes(Q.shape[:-2], K.shape[:-2]), Q.shape[-2], K.shape[-2])
    mask = checked_mask(mask, shape)
    parts = checked_parts(shape, Q.dtype, softcap, window, sinks, bias)
    refused = convention.refuses(Q, K, V, mask, causal)
    refused = refused or convention.refuses_parts(mask, causal, parts)
    return Answer(refused=refused) if refused else convention.answer(Q, K, V, mask, causal, parts)


def named(name: str) -> Convention:
    if name not in CONVENTIONS:
        raise ValueError(f"{name!r} is not in the table; the names are {', '.join(CONVENTIONS)}.")
    return CONVENTIONS[name]


def checked_mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> np.ndarray | None:
    """The mask as booleans of the scores' shape."""
    if mask is None:
        return None
    mask = as_mask("mask", mask)
    if mask.dtype != bool:
        raise TypeError(
            f"mask holds {mask.dtype}; expected booleans (write `mask == 1` or `mask == 0`)."
        )
    check_fits("mask", mask, shape)
    return np.broadcast_to(mask, shape)


def checked_parts(
    shape: tuple[int, ...],
    dtype: np.dtype,
    softcap: float | None = None,
    window: int | None = None,
    sinks: ArrayLike | None = None,
    bias: ArrayLike | None = None,
) -> Parts:
    """The parts for scores of this shape, or one sentence."""
    added = None
    if bias is not None:
        added = in_type(as_numbers("bias", bias), dtype)
        check_fits("bias", added, shape)
    return Parts(
        None if softcap is None else check_positive("softcap", softcap),
        None if window is None else check_count("window", window),
        None if sinks is None else check_sinks(sinks, shape, dtype),
        added,
    )
