"""One library's attention in one way of calling it: what it does, as fields, and its arithmetic.

The fields of a :class:`Convention` are both what a page shows of it and what its arithmetic runs
on. So a difference between two of them can be tried out (moves.py): take one field of the other,
compute again, and see what changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from attention.arrays.checks import weighted_sum
from attention.arrays.layouts import repeat_heads
from attention.core.masks import causal, causal_lower_right, window
from attention.core.scores import soft_cap

NO_ARGUMENT = "no such argument"
NOT_KNOWN = "not tried"
PARTS = {  # what may be handed over beside Q, K, V and a mask, by the names of our arguments
    "scale": "scale",
    "softcap": "soft cap",
    "window": "window",
    "sinks": "sinks",
    "bias": "bias of the scores",
}
GROUPS = "groups"  # in `takes`: fewer heads of keys and values
AXES = "2: (n_q, n_k); 3: (H, n_q, n_k); 4: (B, H, n_q, n_k)"  # as masks of most are read
BY_DISTANCE = "lower right by |n_k − n_q|"  # past the end where n_q > n_k


def _lower_right_if_longer(n_q: int, n_k: int) -> np.ndarray:
    return causal(n_q, n_k) if n_q > n_k else causal_lower_right(n_q, n_k)


CORNERS: Mapping[str, Callable[[int, int], np.ndarray]] = {  # what the look-ahead switch lets see
    "upper left": causal,
    "lower right": causal_lower_right,
    "the caller's mask": causal,  # no switch: made as the documentation makes it
    BY_DISTANCE: lambda n_q, n_k: np.tri(n_q, n_k, abs(n_k - n_q), dtype=bool),
    "upper left, all for the last query": lambda n_q, n_k: (
        causal(n_q, n_k) | (np.arange(n_q) == n_q - 1)[:, None]
    ),
    "lower right, upper left where n_q > n_k": _lower_right_if_longer,
}
FACETS = {  # fields and properties of a Convention that a reader compares, with their headings
    "true_means": "True in a mask means",
    "hidden_row": "a query that sees no key, by a boolean mask",
    "infinite_row": "a query that sees no key, by −∞",
    "lowest_row": "a row filled with the lowest float32",
    "beside": "a mask beside the look-ahead switch",
    "causal": "look-ahead, where n_q ≠ n_k",
    "default_scale": "default scale",
    "scale": "scale",
    "scale_zero": "scale 0",
    "integers": "a mask of whole numbers: 1 means",
    "numbers": "a mask of floats: 1.0 means",
    "axes": "axes of a mask",
    "nan_key": "NaN in K at a hidden key",
    "groups": "fewer heads of keys and values",
    "group_order": "order of grouped heads",
    "softcap": "soft cap",
    "window": "window",
    "sinks": "sinks",
    "bias": "bias of the scores",
    "floats": "computes in",
    "half": "float16 scores beyond 65504",
    "returns": "weights that come back",
    "layout": "layout of Q, K and V",
    "when": "how it is called",
    "source": "known from",
}


@dataclass(frozen=True, eq=False)
class Parts:
    """What is handed over beside Q, K, V and the mask; where there is no argument for a part, the
    answer leaves it out.
    """

    scale: float | None = None  # None: the library's default
    softcap: float | None = None
    window: int | None = None  # keys that a query sees at most, its own and those before it
    sinks: np.ndarray | None = None  # () or (…), a score of no key
    bias: np.ndarray | None = None  # (…, n_q, n_k), added to the scores

    @property
    def used(self) -> tuple[str, ...]:
        """Return the names of the parts that are handed over."""
        return tuple(name for name in PARTS if getattr(self, name) is not None)


NO_PARTS = Parts()


@dataclass(frozen=True, eq=False)
class Handed:
    """Checked arrays of as many heads of keys as of queries, and what is handed over with them."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    mask: np.ndarray | None = None  # (…, n_q, n_k) of bool, in the meaning of the one who hands it
    causal: bool = False
    parts: Parts = NO_PARTS
    fewer_heads: bool = False  # of K and V were handed over than of Q

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the scores."""
        lead = np.broadcast_shapes(self.Q.shape[:-2], self.K.shape[:-2])
        return (*lead, self.Q.shape[-2], self.K.shape[-2])


@dataclass(frozen=True, eq=False)
class Answer:
    """What a library makes of Q, K and V; both arrays are None where it cannot be handed them."""

    weights: np.ndarray | None = None  # (…, n_q, n_k)
    output: np.ndarray | None = None  # (…, n_q, d_v)
    refused: str = ""  # a sentence saying why


def takes_all(given: Handed) -> str:
    """Refuse nothing."""
    return ""


def wants_d_k(given: Handed) -> str:
    """Refuse values that are wider or narrower than keys."""
    d_k, d_v = given.K.shape[-1], given.V.shape[-1]
    return "" if d_k == d_v else f"It wants V as wide as K; here d_v is {d_v} and d_k is {d_k}."


def bias_or_switch(given: Handed) -> str:
    """Refuse a bias beside the look-ahead."""
    return refused_both("a bias", given.parts.bias is not None and given.causal)


def refused_both(what: str, both: bool) -> str:
    """Say that it refuses a mask or a bias beside its look-ahead, where there are both."""
    return f"It raises an error for {what} and a look-ahead at once." if both else ""


@dataclass(frozen=True)
class Convention:
    """One library's choices in one mode. Its defaults are meant wherever it offers more.

    A field whose comment lists words in quotes begins with one of them, and may go on after a
    semicolon with a note. The first words are held to the recorded answers by a test.
    """

    title: str
    version: str
    when: str  # the calls that give this answer
    source: str  # what was looked at and run; the answers are kept in tests/peers/recorded/
    layout: str  # of Q, K and V
    mode: str = ""  # what tells it from the other records of the same title
    returns: str = "none"  # the weights that come back

    # ---- a mask ----
    true_means: str = "may look"  # "may look", "hide" or "no boolean mask": then its helper's
    integers: str = NOT_KNOWN  # 1 in a mask of integers: "may look", "hide", "added", "refused"
    numbers: str = NOT_KNOWN  # 1.0 in a mask of floats: the same words
    axes: str = NOT_KNOWN  # "2: (n_q, n_k); 3: (H, n_q, n_k); 4: (B, H, n_q, n_k)"
    # weights where a boolean mask hides all: "0", "NaN", "uniform" or "as if nothing were hidden"
    hidden_row: str = "0"
    infinite_row: str = NO_ARGUMENT  # the same words: where a bias of −∞ does
    lowest_row: str = NO_ARGUMENT  # the same words: where a bias of float32's lowest number does
    # "both", "refused", "mask dropped", "switch dropped" or "no switch": a bias that is handed over
    # as a mask is refused, or dropped, as one
    beside: str = "both"
    causal: str = "upper left"  # a key of CORNERS

    # ---- the scores ----
    default_scale: str = "1/√d_k"  # or "1"
    scale: str = NO_ARGUMENT  # how each of PARTS is handed over
    scale_zero: str = NO_ARGUMENT  # "0", "not given" or "refused": what scale=0 is
    softcap: str = NO_ARGUMENT
    window: str = NO_ARGUMENT
    sinks: str = NO_ARGUMENT
    bias: str = NO_ARGUMENT
    groups: str = NO_ARGUMENT  # how fewer heads of keys and values are handed over
    group_order: str = NO_ARGUMENT  # "neighbours": heads 0, 0, 1, 1; "tiled": heads 0, 1, 0, 1
    shares_one: bool = True  # one head of keys for several heads of queries is taken
    takes: frozenset[str] = frozenset()  # those of PARTS, and GROUPS, that it was handed
    refuses: Callable[[Handed], str] = takes_all  # → a sentence, or ""
    # "as given", "float32", "softmax in float32" or "float32 and back": the answer is as given, and
    # a −∞ of float64 is float32's lowest number
    floats: str = "as given"
    half: str = NOT_KNOWN  # "right", "NaN" or "refused": what float16 scores beyond 65504 give

    # ---- how a score is hidden ----
    filler: float | None = -math.inf  # None: the lowest number of the scores' type
    in_place: bool = False  # of the score; else added to it, and NaN stays NaN
    bias_is_mask: bool = False  # one argument holds both: a bias, −∞ where the caller's mask hides
    hides_in_bias: float = 0.0  # so much of the lowest number in the place of the bias hides
    switch_filler: float | None = None  # what the look-ahead adds, where it is another than filler
    zeroes: bool = False  # after the softmax, hidden weights are set to 0
    zeroes_rows: bool = False  # the same of queries that see no key, whose scores may be NaN
    zeroes_ahead: bool = False  # the same of what the switch or the window hides, NaN as well
    least_is_zero: bool = False  # the largest score is looked for with 0 for each score ahead
    zeroes_with_switch: bool = False  # with either, without a soft cap: rows of −∞ or the lowest
    zeroes_nan: bool = False  # with a mask, and without a bias, weights of NaN become 0
    # "none", or "masked": the same of queries whose mask, without the look-ahead, hides all keys;
    # or "padded": of those whose own key it hides
    zeroes_queries: str = "none"
    nan_note: str = ""  # in the place of what follows for a NaN in K at a hidden key
    leaks: bool = True  # a NaN in V at a hidden key reaches the output, as 0 × NaN
    bias_first: bool = False  # the soft cap is of scores and bias
    roots: bool = False  # √scale on Q and on K, where the others multiply once
    lone_query_sees_all: bool = False  # without a mask, the switch hides nothing from one query

    @property
    def name(self) -> str:
        """Title and mode: no two records have the same."""
        return f"{self.title}, {self.mode}" if self.mode else self.title

    @property
    def nan_key(self) -> str:
        """Return what a NaN in K at a hidden key does: it is hidden, or reaches the whole row."""
        if self.nan_note:
            return self.nan_note
        if self.zeroes_ahead:
            return "NaN; hidden where it is ahead"
        return "0; all of the row" if self.zeroes_nan else "hidden" if self.in_place else "NaN"

    @property
    def caps_in_float32(self) -> bool:
        """Return whether the soft cap itself is rounded to a float32."""
        return "float32" in self.softcap

    @property
    def scales_in_float32(self) -> bool:
        """Return whether the scale itself, and its root, is rounded to a float32."""
        return "float32" in self.scale

    @property
    def corner(self) -> str:
        """Return where its look-ahead is aligned, by its switch or as its documentation does."""
        return word(self.causal)

    @property
    def from_the_end(self) -> bool:
        """Return whether its look-ahead is aligned at the last query and key."""
        return self.corner.startswith("lower right")

    def heads_of(self, M: np.ndarray, heads: int) -> np.ndarray:
        """Return keys or values, (…, g, n, d), for so many heads of queries: (…, h, n, d)."""
        if word(self.group_order) == "tiled":
            return np.concatenate([M] * (heads // M.shape[-3]), axis=-3)
        return repeat_heads(M, heads)

    def as_called(self, given: Handed) -> Handed:
        """Return what a caller hands over who makes a window part of the mask, where there is no
        argument for it: then the look-ahead is part of the mask as well, and the array is handed
        over as it is, True for what may be seen.
        """
        if given.parts.window is None or "window" in self.takes:
            return given
        n_q, n_k = given.shape[-2:]
        past = n_k - n_q if self.from_the_end else 0
        looks = window(n_q, n_k, given.parts.window, past)
        looks = np.broadcast_to(looks if given.mask is None else given.mask & looks, given.shape)
        parts = replace(given.parts, window=None)
        return replace(given, mask=looks, causal=False, parts=parts)

    def keep(self, given: Handed) -> np.ndarray:
        """Return which scores count, the mask read as this library reads it: (…, n_q, n_k)."""
        given = self.as_called(given)
        n_q, n_k = given.shape[-2:]
        mask, causal = given.mask, given.causal
        if mask is not None and causal:
            mask = None if word(self.beside) == "mask dropped" else mask
            causal = word(self.beside) != "switch dropped"
        keep = np.True_ if mask is None else ~mask if self.true_means == "hide" else mask
        if self.lone_query_sees_all and mask is None and n_q == 1:
            causal = False
        if causal:
            keep = keep & CORNERS[self.corner](n_q, n_k)
        if given.parts.window is not None:
            past = n_k - n_q if self.from_the_end else 0
            keep = keep & window(n_q, n_k, given.parts.window, past)
        return np.broadcast_to(keep, given.shape)

    def answer(self, given: Handed) -> Answer:
        """Compute the answer, or say why it is refused."""
        given = self.as_called(given)
        if refused := self._refused(given):
            return Answer(refused=refused)
        if given.causal and word(self.beside) == "mask dropped":
            given = replace(given, parts=replace(given.parts, bias=None))
        Q, K, V, parts = given.Q, given.K, given.V, given.parts
        before, after = self._factors(parts.scale, Q.shape[-1])
        with np.errstate(all="ignore"):
            if word(self.floats).startswith("float32"):
                Q, K, V = (M.astype(np.float32) for M in (Q, K, V))
            scores = (Q * before) @ (K * before).swapaxes(-1, -2) * after
            taken = {name: getattr(parts, name) for name in parts.used if name in self.takes}
            if self.bias_first and "bias" in taken:
                scores = scores + taken.pop("bias").astype(scores.dtype)
            if "softcap" in taken:
                cap = taken["softcap"]
                scores = soft_cap(scores, float(np.float32(cap) if self.caps_in_float32 else cap))
            keep, sinks = self.keep(given), taken.get("sinks")
            masked = self._masked(scores, given, taken.get("bias"))
            if self.floats == "softmax in float32" and sinks is None:
                masked = masked.astype(np.float32)
            least = self._least(given)
            weights = self._zeroed(_softmax(masked, sinks, least).astype(Q.dtype), masked, given)
            output = weights @ V if self.leaks else weighted_sum(weights, V, keep)
            if word(self.floats) == "float32 and back":
                weights, output = (M.astype(given.Q.dtype) for M in (weights, output))
            return Answer(weights, output)

    def _refused(self, given: Handed) -> str:
        """Return why the inputs are refused, in a sentence, or ""."""
        if refused := self.refuses(given):
            return refused
        if given.parts.scale == 0 and word(self.scale_zero) == "refused" and "scale" in self.takes:
            return "It raises an error for a scale of 0."
        if not given.causal or word(self.beside) != "refused":
            return ""
        bias = self.bias_is_mask and given.parts.bias is not None
        return refused_both("a mask", given.mask is not None) or refused_both("a bias", bias)

    def _factors(self, scale: float | None, d_k: int) -> tuple[float, float]:
        """Return what multiplies Q and K each, and what multiplies their product."""
        number = np.float32 if self.scales_in_float32 else np.float64
        factor = number(1) if self.default_scale == "1" else number(1) / np.sqrt(number(d_k))
        given = scale is not None and "scale" in self.takes
        if given and not (scale == 0 and word(self.scale_zero) == "not given"):
            factor = number(scale)
        return (float(np.sqrt(factor)), 1.0) if self.roots else (1.0, float(factor))

    def _masked(self, scores: np.ndarray, given: Handed, bias: np.ndarray | None) -> np.ndarray:
        """Return the scores with the bias added and what is not kept hidden, in either of them."""
        keep, kind = self.keep(given), scores.dtype
        lowest = np.finfo(kind).min
        filler = lowest if self.filler is None else self.filler
        if bias is not None and self.hides_in_bias:
            return scores + np.where(keep, bias, lowest * self.hides_in_bias).astype(kind)
        if bias is not None and self.bias_is_mask:
            bias, keep = np.where(keep, bias, -np.inf), np.ones_like(keep)
        if given.Q.dtype == np.float64 and word(self.floats) == "float32 and back":
            bias, filler = None if bias is None else np.maximum(bias, lowest), max(filler, lowest)
        scores = scores if bias is None else scores + bias.astype(kind)
        if self.switch_filler is not None:
            scores = scores + np.where(self._ahead(given), self.switch_filler, 0).astype(kind)
            keep = self.keep(replace(given, causal=False))
        if self.in_place:
            return np.where(keep, scores, filler).astype(kind)
        masked = scores + np.where(keep, 0, filler).astype(kind)
        return np.where(self._ahead(given), -np.inf, masked) if self.zeroes_ahead else masked

    def _least(self, given: Handed) -> np.ndarray | float:
        """Return what the largest score of each row is taken for at the least."""
        if not self.least_is_zero:
            return -np.inf
        return np.where(self._ahead(given).any(axis=-1, keepdims=True), 0, -np.inf)

    def _ahead(self, given: Handed) -> np.ndarray:
        """Return what the switch or the window hides, whatever the mask does."""
        return ~self.keep(replace(given, mask=None))

    def _zeroed(self, weights: np.ndarray, masked: np.ndarray, given: Handed) -> np.ndarray:
        """Return the weights with 0 where this library sets them to 0 after its softmax."""
        keep = self.keep(given)
        if self.zeroes_ahead:
            weights = np.where(self._ahead(given), 0, weights)
        if self.zeroes_nan and given.mask is not None and given.parts.bias is None:
            weights = np.where(np.isnan(weights), 0, weights)
        if self.zeroes:
            weights = np.where(keep, weights, 0)
        elif self.zeroes_rows:
            weights = np.where(keep.any(axis=-1, keepdims=True), weights, 0)
        if word(self.infinite_row) == "0":
            weights = np.where(np.isneginf(masked).all(axis=-1, keepdims=True), 0, weights)
        looks = given.causal or given.parts.window is not None
        switched = self.zeroes_with_switch and looks and given.parts.softcap is None
        if word(self.lowest_row) in ("0", "NaN") or switched:
            lowest = (masked <= np.finfo(masked.dtype).min).all(axis=-1, keepdims=True)
            weights = np.where(lowest, np.nan if word(self.lowest_row) == "NaN" else 0, weights)
        return np.where(self._unused(given), 0, weights).astype(weights.dtype)

    def _unused(self, given: Handed) -> np.ndarray:
        """Return the queries that get weights of 0, whatever their scores: (…, n_q, 1)."""
        kind = word(self.zeroes_queries)
        if given.mask is None or kind == "none":
            return np.array(False)
        looks = ~given.mask if self.true_means == "hide" else given.mask
        if kind == "padded":  # a mask over keys, which are as many as queries
            return np.asarray(~looks[..., 0, :, None])
        return np.asarray(~looks.any(axis=-1, keepdims=True))


def word(text: str) -> str:
    """Return what a field begins with, which the arithmetic runs on.

    >>> word("uniform; NaN in float16")
    'uniform'
    """
    return text.split(";")[0]


def _softmax(
    masked: np.ndarray, sinks: np.ndarray | None = None, least: np.ndarray | float = -np.inf
) -> np.ndarray:
    """Return a softmax as it is in a book: a row of −∞ alone becomes NaN. The largest score of a
    row is taken for ``least`` if it is lower.
    """
    highest = np.maximum(masked.max(axis=-1, keepdims=True, initial=-np.inf), least)
    highest = highest.astype(masked.dtype)
    if sinks is None:
        exponentials = np.exp(masked - highest)
        return exponentials / exponentials.sum(axis=-1, keepdims=True)
    column = sinks[..., None, None].astype(masked.dtype)
    highest = np.maximum(highest, column)
    exponentials = np.exp(masked - highest)
    return exponentials / (exponentials.sum(axis=-1, keepdims=True) + np.exp(column - highest))
