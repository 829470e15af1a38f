"""Queries and keys of a long context: made by a rule, out of a file, or captured from a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention import places
from attention.limits import MAX_LONG_CELLS, MAX_LONG_HEADS, MAX_LONG_TOKENS, BadInput
from attention.long import LongAttention, long_attention
from attention.models.survey import words_of
from attention.models.taken import Call, Taken
from attention.patterns import PATTERNS, made
from attention.readers.entry import ArrayEntry
from attention.readers.printouts import sides
from attention.rotary import Rotary
from attention.session.captured import source_of
from attention.session.long_context import LongContext

NAMES = {  # of tensors, as models and people call them
    "Q": ("q", "query", "queries", "query_states"),
    "K": ("k", "key", "keys", "key_states"),
    "V": ("v", "value", "values", "value_states"),
}
MAX_WIDTH = 1024  # d_k and d_v
TOGETHER = 2**31  # scores up to which all heads are computed in one run


@dataclass(frozen=True, eq=False)
class LongInputs:
    """What a long context is computed from, with heads as the first axis."""

    Q: np.ndarray  # (h, n_q, d_k)
    K: np.ndarray  # (g, n_k, d_k)
    V: np.ndarray | None  # (g, n_k, d_v)
    source: str  # where it came from, in words
    scale: float | None = None
    softcap: float | None = None
    sinks: np.ndarray | None = None  # (h,)
    allowed: np.ndarray | None = None  # that came along; broadcasts to (h, n_q, n_k)
    bias: np.ndarray | None = None
    query_words: tuple[str, ...] = ()
    key_words: tuple[str, ...] = ()
    remark: str = ""  # how it was understood

    @property
    def heads(self) -> int:
        return self.Q.shape[0]

    @property
    def n_q(self) -> int:
        return self.Q.shape[1]

    @property
    def n_k(self) -> int:
        return self.K.shape[1]

    @property
    def cells(self) -> int:
        return self.heads * self.n_q * self.n_k

    @property
    def size(self) -> int:
        """Bytes that are held while it is looked at."""
        return sum(M.nbytes for M in (self.Q, self.K, self.V) if M is not None)

    def of_head(self, head: int) -> LongInputs:
        """One head alone."""
        own = head * self.K.shape[0] // self.heads  # its keys, which others may share
        one, shared = slice(head, head + 1), slice(own, own + 1)

        def part(M: np.ndarray | None, place: slice) -> np.ndarray | None:
            return M if M is None or M.ndim < 3 or M.shape[0] == 1 else M[place]

        return replace(
            self,
            Q=self.Q[one],
            K=self.K[shared],
            V=part(self.V, shared),
            sinks=None if self.sinks is None else self.sinks[one],
            allowed=part(self.allowed, one),
            bias=part(self.bias, one),
        )

    def run(self, s: LongContext, results: Collection[str], **watch: Any) -> LongAttention:
        """All queries; ``watch``: progress and cancelled."""
        return long_attention(
            self.Q,
            self.K,
            self.V if "output" in results else None,
            allowed=self._mask(s),
            bias=self._bias(s),
            scale=self.scale,
            softcap=self.softcap,
            sinks=self.sinks,
            results=results,
            **watch,
        )

    def of_queries(
        self, s: LongContext, queries: np.ndarray, results: Collection[str] = ("first",)
    ) -> LongAttention:
        """Some queries, exact: their rows, and windows of them."""
        allowed = self._mask(s)
        if isinstance(allowed, places.Allowed):
            allowed = places.of_queries(allowed, queries, self.n_q)
        else:
            allowed = _rows(allowed, queries)
        return long_attention(
            np.ascontiguousarray(self.Q[:, queries]),
            self.K,
            allowed=allowed,
            bias=_rows(self._bias(s), queries),
            scale=self.scale,
            softcap=self.softcap,
            sinks=self.sinks,
            results=results,
        )

    @property
    def is_captured(self) -> bool:
        """Whether it came with a mask of its own, if only one that hides nothing."""
        return self.scale is not None

    def mask(self, s: LongContext, head: int) -> places.Allowed | np.ndarray | None:
        """What one head may look at: as a function of the place, or (n_q or 1, n_k or 1)."""
        found = self._mask(s)
        if isinstance(found, places.Allowed):
            return found.fitted((1, self.n_q, self.n_k))
        if found is None or found.ndim < 3:
            return found
        return np.asarray(found[min(head, len(found) - 1)])

    def _mask(self, s: LongContext) -> Any:
        if s.mask == "own":
            return self.allowed
        if s.mask == "window":
            return places.window(s.seen)
        return {"causal": places.causal, "lower_right": places.causal_lower_right}.get(
            s.mask, lambda: None
        )()

    def _bias(self, s: LongContext) -> np.ndarray | None:
        """Belongs to the mask that was captured with it."""
        return self.bias if s.mask == "own" else None


def _rows(M: np.ndarray | None, queries: np.ndarray) -> np.ndarray | None:
    """Those of some queries, of what broadcasts to (h, n_q, n_k)."""
    return M if M is None or M.shape[-2] == 1 else M[..., queries, :]


# ---- where they come from ------------------------------------------------------------------------


def made_inputs(s: LongContext) -> LongInputs:
    """A pattern, by what is set.

    >>> made_inputs(LongContext("sink", tokens=300)).Q.shape
    (1, 300, 64)
    """
    Q, K, ids = made(s.pattern, s.tokens, seed=s.seed)
    if s.rotary:
        Q, K = Rotary().rotate(Q), Rotary().rotate(K)
    words = () if ids is None else tuple(f"w{number}" for number in ids.tolist())
    turned = ", rotated by their positions" if s.rotary else ""
    label = PATTERNS[s.pattern].label.lower()
    source = f"the pattern “{label}”, {s.tokens:,} tokens, seed {s.seed}{turned}"
    return checked(LongInputs(Q[None], K[None], None, source, query_words=words, key_words=words))


def guessed_names(arrays: Mapping[str, ArrayEntry]) -> dict[str, str]:
    """Which array of a file is Q, K and V, as far as their names tell.

    >>> empty = ArrayEntry.of("", np.zeros((2, 2)))
    >>> guessed_names({"layer.0.k": empty, "layer.0.q": empty, "x": empty})
    {'Q': 'layer.0.q', 'K': 'layer.0.k'}
    """
    found = {}
    for letter, names in NAMES.items():
        fits = [name for name in arrays if name.lower().rpartition(".")[2] in names]
        if fits:
            found[letter] = fits[0]
    return found


def read_inputs(
    arrays: Mapping[str, ArrayEntry], names: Mapping[str, str], where: str, item: int = 0
) -> LongInputs:
    """The arrays of these names, each (n, d), (h, n, d) or (b, h, n, d)."""
    found: dict[str, np.ndarray] = {}
    remark = ""
    for letter, name in names.items():
        M = np.asarray(arrays[name].read())
        place = f"{where}, {name}"
        if M.dtype.kind not in "fiu" or M.ndim not in (2, 3, 4):
            raise BadInput(
                f"{place} is {sides(M.shape)} of {M.dtype}; numbers of tokens ×"
                " columns are wanted, with heads and items before them."
            )
        if M.ndim == 4:
            if not 0 <= item < len(M):
                raise BadInput(f"{place} has {len(M)} items; item {item + 1} is asked for.")
            M = M[item]
        M = M.astype(np.float32 if M.dtype.itemsize < 8 else np.float64, copy=False)
        if M.ndim == 3 and M.shape[0] > M.shape[1]:  # (tokens, heads, columns)
            M = np.ascontiguousarray(np.swapaxes(M, 0, 1))
            remark = f"Read as tokens × heads × columns: {len(M)} heads of {M.shape[1]:,} tokens."
        found[letter] = M if M.ndim == 3 else M[None]
    dtype = np.result_type(*found.values())
    found = {letter: M.astype(dtype, copy=False) for letter, M in found.items()}
    said = f"{where}: {', '.join(names.values())}"
    return checked(LongInputs(found["Q"], found["K"], found.get("V"), said, remark=remark))


def captured_inputs(taken: Taken, call: Call, item: int) -> LongInputs:
    """All recorded heads of a layer, with the mask and what else the model used."""
    words = words_of(taken, call, item)

    def of_item(M: np.ndarray | None) -> np.ndarray | None:
        return M if M is None else M[min(item, len(M) - 1)]

    source = source_of(taken, call, item, 0).rpartition(", head")[0]
    return checked(
        LongInputs(
            call.Q[item],
            call.K[item],
            call.V[item],
            source,
            call.scale,
            call.softcap,
            call.sinks,
            of_item(call.allowed),
            of_item(call.bias),
            *words,
        )
    )


def checked(inputs: LongInputs) -> LongInputs:
    """The inputs, or a sentence where they do not fit each other or are more than are computed."""
    Q, K, V = inputs.Q, inputs.K, inputs.V
    if Q.shape[2] != K.shape[2]:
        columns = f"queries have {Q.shape[2]} columns and keys {K.shape[2]}"
        raise BadInput(f"{columns}; as many are wanted.")
    if V is not None and (V.shape[:2] != K.shape[:2]):
        raise BadInput(
            f"K is {sides(K.shape)} and V is {sides(V.shape)}, heads × tokens × columns; as many"
            " heads and tokens are wanted."
        )
    if Q.shape[0] % K.shape[0]:
        raise BadInput(f"{Q.shape[0]} heads of queries cannot share {K.shape[0]} of keys evenly.")
    for count, most, what in (
        (inputs.heads, MAX_LONG_HEADS, "heads"),
        (inputs.n_q, MAX_LONG_TOKENS, "queries"),
        (inputs.n_k, MAX_LONG_TOKENS, "keys"),
        (max(M.shape[2] for M in (Q, K, V) if M is not None), MAX_WIDTH, "columns"),
    ):
        if not 0 < count <= most:
            raise BadInput(f"there are {count:,} {what}; 1 to {most:,} are wanted.")
    for name, M in (("Q", Q), ("K", K), ("V", V)):
        if M is not None and not np.isfinite(M).all():
            raise BadInput(f"{name} holds numbers that are not finite; finite ones are wanted.")
    return inputs


def computed_part(inputs: LongInputs, head: int) -> LongInputs:
    """All heads where they are few enough for one run, else the one that is shown."""
    return inputs if inputs.cells <= min(TOGETHER, MAX_LONG_CELLS) else inputs.of_head(head)
