"""Scaled dot-product attention on one screen: every stage by its name, kept in a record.

Attention(Q, K, V) = softmax(Q Kᵀ / √d_k + M) V        Vaswani et al. 2017, equation 1,
                                                       with the mask of its section 3.2.3 as M
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.blocks import Stages, in_blocks
from attention.arrays.checks import (
    add_mask,
    as_floats,
    check_mask,
    check_positive,
    check_shapes,
    in_type,
    shape_of_scores,
    weighted_sum,
)
from attention.arrays.conversion import kept
from attention.arrays.hints import hinting
from attention.core.before_scores import last, prepared
from attention.core.biases import RelativeBias, check_relative
from attention.core.finite import warnings_of
from attention.core.mods import MaskMod, ScoreMod, mask_of, modify
from attention.core.norms import RMSNorm
from attention.core.recorded import Recorded
from attention.core.rotary import Rotary
from attention.core.scores import (
    FUNCTION,
    NO_SINKS,
    AnySoftmax,
    check_sinks,
    kind_of,
    share_of_sink,
    soft_cap,
    softmax_of,
)
from attention.vocabulary.stages import STAGES

ALONE = ("mask", "weights")  # the stages of finished weights


@dataclass(frozen=True, eq=False, repr=False)
class AttentionTrace:
    """Every stage of one attention, in the order of the computation.

    Leading axes (batch, then head) come before the shapes given here. Where the attention
    began with Q, K and V themselves, the stages before and after them are None. No array can be
    written to, nor is one shared with the caller: to change numbers, take a ``.copy()``.

    >>> trace = scaled_dot_product_attention([[2.0]], [[1.0], [3.0]], [[10.0], [20.0]])
    >>> trace.masked, trace.weights.shape, trace.hidden_rows
    (array([[2., 6.]]), (1, 2), array([False]))
    """

    Q: np.ndarray  # (…, n_q, d_k)  queries  X W_Q + b_Q
    K: np.ndarray  # (…, n_k, d_k)  keys     X W_K + b_K
    V: np.ndarray  # (…, n_k, d_v)  values   X W_V + b_V
    scores: np.ndarray  # (…, n_q, n_k)  Q Kᵀ, of the normed and rotated ones if there are any
    scaled: np.ndarray  # (…, n_q, n_k)  scores × scale
    masked: np.ndarray  # (…, n_q, n_k)  scaled (capped, modified) + M where allowed, −∞ elsewhere
    weights: np.ndarray  # (…, n_q, n_k)  softmax of each row
    output: np.ndarray  # (…, n_q, d_v)  weights V
    allowed: np.ndarray  # (…, n_q, n_k)  True where query i may look at key j
    scale: float  # what the scores were multiplied by
    softmax: bool | str = True  # False: the masked scores are the weights; "sigmoid", "function"
    bias: np.ndarray | None = None  # broadcasts to (…, n_q, n_k)  M, where one was given
    softcap: float | None = None
    capped: np.ndarray | None = None  # (…, n_q, n_k)  softcap · tanh(scaled / softcap)
    modified: np.ndarray | None = None  # (…, n_q, n_k)  what score_mod made of the scores
    sinks: np.ndarray | None = None  # () or (…, h)  a score of no key, in the sum of each row
    X: np.ndarray | None = None  # (…, n_q, d_model)  word embeddings the queries come from
    memory: np.ndarray | None = None  # (…, n_k, d_model)  the second sequence of cross-attention
    joined: np.ndarray | None = None  # (…, n_q, h · d_v)  the heads' outputs side by side
    projected: np.ndarray | None = None  # (…, n_q, d_out)  joined W_O + b_O
    W_Q: np.ndarray | None = None  # (d_model, h · d_k)
    W_K: np.ndarray | None = None  # (d_model, g · d_k), g heads of keys and values
    W_V: np.ndarray | None = None  # (d_model, g · d_v)
    W_O: np.ndarray | None = None  # (h · d_v, d_out)
    b_Q: np.ndarray | None = None  # (1, h · d_k)
    b_K: np.ndarray | None = None  # (1, g · d_k)
    b_V: np.ndarray | None = None  # (1, g · d_v)
    b_O: np.ndarray | None = None  # (1, d_out)
    P: np.ndarray | None = None  # (…, n_q, d_model)  positions
    X_P: np.ndarray | None = None  # (…, n_q, d_model)  X + P
    norm: RMSNorm | None = None
    Q_normed: np.ndarray | None = None  # (…, n_q, d_k)
    K_normed: np.ndarray | None = None  # (…, n_k, d_k)
    relative: RelativeBias | None = None
    R: np.ndarray | None = None  # (buckets, h)  the table of the relative bias, which is in M
    rotary: Rotary | None = None
    Q_rotated: np.ndarray | None = None  # (…, n_q, d_k)
    K_rotated: np.ndarray | None = None  # (…, n_k, d_k)
    recorded: Recorded | None = None  # in which layer of a real model, and its heads' numbers
    weights_alone: bool = False  # they were given, and no other stage is there: see of_weights

    def __post_init__(self) -> None:
        """Make every stage read-only; an array passed in stays as its owner has it."""
        for name, stage in list(vars(self).items()):
            if isinstance(stage, np.ndarray) and stage.flags.writeable:
                stage = stage.view()
                stage.flags.writeable = False
                object.__setattr__(self, name, stage)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle or a deep copy, with every stage read-only again."""
        self.__dict__.update(state)
        self.__post_init__()

    @classmethod
    def of_weights(cls, weights: ArrayLike, *, allowed: ArrayLike | None = None) -> AttentionTrace:
        """Return a trace of finished weights: these and their mask are all the stages it has.

        Q, K, V and the output have no columns, and the stages between are the weights themselves.

        Parameters
        ----------
        weights : array_like, (…, n_q, n_k)
            A single leading axis counts the heads. They are kept as they are, whatever their rows
            add up to.
        allowed : array_like of bool, broadcastable to (…, n_q, n_k)
            True where a query may look at a key. Default: where any head has another weight than 0.

        Raises
        ------
        ValueError, TypeError
            One sentence, where the weights are no numbers or have fewer than two axes, or the mask
            does not fit.

        >>> trace = AttentionTrace.of_weights([[1, 0], [0.25, 0.75]])
        >>> trace.weights_alone, trace.allowed.tolist(), trace.Q.shape
        (True, [[True, False], [True, True]], (2, 0))
        """
        (A,) = (kept(M) for M in as_floats(weights=weights))
        if allowed is None:
            allowed = A != 0 if A.ndim == 2 else (A != 0).any(axis=-3, keepdims=True)
        seen, _ = check_mask(allowed, None, A.shape, A.dtype)
        queries, keys = (np.empty((*A.shape[:-2], n, 0), A.dtype) for n in A.shape[-2:])
        return cls(
            Q=queries,
            K=keys,
            V=keys,
            scores=A,
            scaled=A,
            masked=A,
            weights=A,
            output=queries,
            allowed=seen,
            scale=1.0,
            weights_alone=True,
        )

    def __repr__(self) -> str:
        from attention.explain.notebook import summary  # further right: tests/test_house.py, LATE

        return summary(self)

    def _repr_html_(self) -> str:
        from attention.explain.notebook import page

        return page(self)

    @property
    def hidden_rows(self) -> np.ndarray:
        """Return True where every key is hidden, (…, n_q): such a row has weights and output 0."""
        return np.asarray(~self.allowed.any(axis=-1))

    @property
    def sunk(self) -> np.ndarray | None:
        """Return the share of each query that goes to the sink, (…, n_q); None without a sink.

        With it, the weights of a row sum to 1.
        """
        return None if self.sinks is None else share_of_sink(self.masked, self.sinks)

    @property
    def context(self) -> np.ndarray:
        """Return the outputs summed over the tokens, (…, d_v): one vector for the sequence."""
        with np.errstate(all="ignore"):  # as in the stages
            return np.asarray(self.output.sum(axis=-2))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Return where numbers are not finite, and why: a few sentences, none if all are finite.

        Each begins with its item, head and queries, counted from 0.
        """
        return warnings_of(vars(self))


def reading_order(trace: AttentionTrace) -> list[str]:
    """Return the names of all stages in the order in which this trace computes them.

    Of weights alone there are no others than these and their mask.
    """
    if trace.weights_alone:
        return list(ALONE)
    names = list(STAGES)
    if trace.norm is not None and trace.norm.after_rotary:
        k = names.index("Q_normed")
        names[k : k + 4] = [*names[k + 2 : k + 4], *names[k : k + 2]]
    return names


@hinting
def scaled_dot_product_attention(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    *,
    allowed: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    score_mod: ScoreMod | None = None,
    mask_mod: MaskMod | None = None,
    softmax: AnySoftmax = True,
    sinks: ArrayLike | None = None,
    norm: RMSNorm | None = None,
    rotary: Rotary | None = None,
    relative: RelativeBias | None = None,
) -> AttentionTrace:
    """Let every query look at the keys and take the weighted sum of their values.

    Vaswani et al. 2017, equation 1, with the mask of its section 3.2.3 as M:
    softmax(Q Kᵀ / √d_k + M) V, with every stage in the result.

    Parameters
    ----------
    Q, K, V : array_like, (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v)
        Leading axes broadcast. Lists, NumPy, torch, JAX and pandas; NumPy comes out. float32 stays
        float32 at every stage; float16, bfloat16 and narrower floats are computed in float32, so
        that no score overflows; integers become float64.
    allowed : array_like of bool, broadcastable to (…, n_q, n_k)
        **True where query i may look at key j.** Two axes are (n_q, n_k), whatever the batch. With
        a batch and heads, ``mask[:, None]`` is one per item and ``mask[None]`` one per head.
        Default: every key. A row without any gives weights 0 and output 0 and is True in
        ``trace.hidden_rows``; nothing at a hidden key, NaN and inf included, reaches weights or
        output.
    bias : array_like, broadcastable to (…, n_q, n_k)
        M, added to the scaled scores. −∞ hides a key; a finite number such as −1e9 does not.
    scale : float
        What the scores are multiplied by. Default: 1/√d_k.
    softcap : float
        Keeps the scaled scores within ±softcap by tanh, before the mask. Default: no cap.
    score_mod : function (score, b, h, q, k) → score
        Changes the scaled scores, after the soft cap and before the mask, as FlexAttention does:
        called once with all scores and grids of item, head, query and key. −∞ hides a key.
    mask_mod : function (b, h, q, k) → bool
        Returns for every score whether the query may look at the key, in addition to
        ``allowed``.
    softmax : bool, "sigmoid" or function
        False leaves the masked scores as the weights (hidden keys 0): raw attention; "sigmoid"
        makes 1 / (1 + exp(−score)) of each, by itself. A function ``(masked, allowed) → weights``
        of the same shape and float type replaces the softmax, such as ``softmax_in(np.float64)``.
    sinks : array_like, broadcastable to the leading axes (…): a number, or (h,)
        One more score in the softmax of each row, of no key: its share, ``trace.sunk``, goes
        nowhere, and the weights of a row add up to less than 1 (gpt-oss).
    norm : RMSNorm
        Norms each row of Q and K before the scores. Default: none.
    rotary : Rotary
        Rotates Q and K by their positions before the scores, after the norm unless that says
        otherwise. Default: none.
    relative : RelativeBias
        T5's learned number for each distance, added with the bias. Default: none.

    Raises
    ------
    ValueError, TypeError
        One sentence: the argument, what was given and what is allowed. A ValueError if shapes do
        not fit or a number is out of range; a TypeError if an argument has the wrong type, such as
        a mask of integers, or is unknown.

    >>> trace = scaled_dot_product_attention([[2.0]], [[1.0], [3.0]], [[10.0], [20.0]])
    >>> trace.scores
    array([[2., 6.]])
    >>> trace.weights.round(4)
    array([[0.018, 0.982]])
    """
    Q, K, V = (kept(M) for M in as_floats(Q=Q, K=K, V=V))
    share = softmax_of(softmax)
    check_shapes(Q, K, V)
    scale = 1 / math.sqrt(Q.shape[-1]) if scale is None else check_positive("scale", scale)
    softcap = None if softcap is None else check_positive("softcap", softcap)
    before = prepared(Q, K, norm, rotary)
    Q, K = last(before)

    def formula(
        Q: np.ndarray,
        K: np.ndarray,
        V: np.ndarray,
        allowed: np.ndarray,
        M: np.ndarray | None,
        sinks: np.ndarray | None,  # (…, n_q, 1)
        out: Stages,  # where a stage of many rows belongs, or nothing
    ) -> Stages:
        scores = np.matmul(Q, K.swapaxes(-1, -2), out=out.get("scores"))
        scaled = np.multiply(scores, scale, out=out.get("scaled"))
        capped = scaled if softcap is None else soft_cap(scaled, softcap, out.get("capped"))
        modified = capped if score_mod is None else modify(score_mod, capped)
        if score_mod is not None:
            allowed = allowed & ((modified != -np.inf) | (capped == -np.inf))
        masked = add_mask(modified, M, allowed, out.get("masked"))
        weights = share(masked, allowed, out.get("weights"), sinks)
        output = weighted_sum(weights, V, allowed, out.get("output"))
        stages = {"scores": scores, "scaled": scaled, "masked": masked}
        stages |= {"weights": weights, "output": output}
        stages |= {} if softcap is None else {"capped": capped}
        return stages | ({} if score_mod is None else {"modified": modified, "allowed": allowed})

    shape = shape_of_scores(Q, K)
    if sinks is not None:
        sinks = check_sinks(sinks, shape, Q.dtype)
        if kind_of(softmax) is not True or callable(softmax):
            raise ValueError(NO_SINKS)
    with np.errstate(all="ignore"):  # inf and NaN show up in the stages, not as warnings
        seen, M = check_mask(allowed, bias, shape, Q.dtype)
        seen = seen if mask_mod is None else seen & mask_of(mask_mod, shape)
        if relative is not None:
            by_place = check_relative(relative).of(shape, Q.dtype)
            M = kept(by_place if M is None else M + by_place)
        columns = None if sinks is None else sinks[..., None, None]
        arguments = Q, K, V, seen, M, columns
        theirs = kind_of(softmax) == FUNCTION or score_mod is not None  # sees whole stages
        stages: dict[str, Any] = {"allowed": seen}
        stages |= formula(*arguments, {}) if theirs else in_blocks(formula, *arguments)
    return AttentionTrace(
        **before,
        V=V,
        scale=scale,
        softmax=kind_of(softmax),
        bias=M,
        softcap=softcap,
        sinks=sinks,
        norm=norm,
        rotary=rotary,
        relative=relative,
        R=None if relative is None else in_type(np.asarray(relative.table), Q.dtype),
        **stages,
    )
