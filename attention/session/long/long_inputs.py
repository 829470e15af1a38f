"""Queries and keys of a long context: made by a rule, out of a file, or captured from a model."""

from __future__ import annotations

import math
import weakref
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np

from attention.arrays.layouts import split_heads
from attention.core.before_scores import last, prepared
from attention.core.heads import added_positions, as_bias, project
from attention.core.recorded import Patches
from attention.core.rotary import Rotary
from attention.explain.view import distinct
from attention.limits import (
    LIMIT,
    MAX_LONG_HEADS,
    MAX_LONG_HELD,
    MAX_LONG_SIZE,
    MAX_LONG_TOKENS,
    MAX_LONG_WIDTH,
    MAX_TOKENS,
    BadInput,
)
from attention.long import places
from attention.long.attention import LongAttention, long_attention
from attention.models.labels import label_note, positions_of, words_of
from attention.models.taken import Call, Taken
from attention.readers.cells.entry import ArrayEntry
from attention.readers.cells.printouts import sides
from attention.samples.patterns import PATTERNS, made
from attention.session.edit.changes import name_of
from attention.session.state.long_context import LongContext
from attention.session.state.matrix import captured_head
from attention.session.state.settings import Settings, past, projected_size, real_keys
from attention.vocabulary.notation import in_filename
from attention.vocabulary.numbers import megabytes
from attention.vocabulary.sentences import in_words, numbered, which_of

NAMES = {  # of tensors, as models and people call them
    "Q": ("q", "query", "queries", "query_states"),
    "K": ("k", "key", "keys", "key_states"),
    "V": ("v", "value", "values", "value_states"),
}
GIVEN = "Finished weights, with each row divided by its sum; what is 0, negative or NaN is hidden."
AXES = "heads", "tokens", "columns"
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
    # that came along: of places, or broadcasts to (h, n_q, n_k)
    allowed: places.Allowed | np.ndarray | None = None
    bias: places.Bias | np.ndarray | None = None
    query_words: tuple[str, ...] = ()
    key_words: tuple[str, ...] = ()
    remark: str = ""  # how it was understood
    numbers: tuple[int, ...] = ()  # of its heads, as their model counts them; (): from 0 on
    flag: str = ""  # what is to be known of its words
    file: str = "long_attention"  # the stem of the names of its files
    patches: Patches | None = None  # of a picture, where the keys are these
    weights_alone: bool = False  # finished ones: the bias holds them, whatever the mask

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
        arrays = (self.Q, self.K, self.V, self.allowed, self.bias)
        return sum(M.nbytes for M in arrays if isinstance(M, np.ndarray | Logarithms))

    def number(self, head: int) -> int:
        """Return how a head is counted: from 0, or as its model does."""
        return self.numbers[head] if self.numbers else head

    @property
    def said_of_heads(self) -> str:
        """Return which heads there are, as ``", heads 1, 8"`` or ``", 3 heads"``; "" for one."""
        if self.heads == 1:
            return ""
        return f", {numbered('head', self.numbers) if self.numbers else f'{self.heads} heads'}"

    def of_head(self, head: int) -> LongInputs:
        """One head alone."""
        own = head * self.K.shape[0] // self.heads  # its keys, which others may share
        one, shared = slice(head, head + 1), slice(own, own + 1)
        of = "" if self.numbers else f" of 0–{self.heads - 1}"

        def part(M: Any, place: slice) -> Any:
            is_shared = not isinstance(M, np.ndarray) or M.ndim < 3 or M.shape[0] == 1
            return M if is_shared else M[place]

        return replace(
            self,
            Q=self.Q[one],
            K=self.K[shared],
            V=part(self.V, shared),
            sinks=None if self.sinks is None else self.sinks[one],
            allowed=part(self.allowed, one),
            bias=Added(self.bias, head=head) if callable(self.bias) else part(self.bias, one),
            source=f"{self.source}, head {self.number(head)}{of}",
            numbers=(self.number(head),),
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
        self, s: LongContext, queries: np.ndarray, results: Collection[str] = ()
    ) -> LongAttention:
        """Some queries, exact: their rows, and windows of them."""
        allowed = self._mask(s)
        if isinstance(allowed, places.Allowed):
            allowed = places.of_queries(allowed, queries, self.n_q)
        else:
            allowed = _rows_of_queries(allowed, queries)
        return long_attention(
            np.ascontiguousarray(self.Q[:, queries]),
            self.K,
            allowed=allowed,
            bias=self._bias(s, queries),
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

    def _bias(self, s: LongContext, queries: np.ndarray | None = None) -> Added | None:
        """Belongs to the mask that was captured with it."""
        if self.bias is None or (s.mask != "own" and not self.weights_alone):
            return None
        if callable(self.bias):
            return Added(self.bias, queries)
        return Added(np.broadcast_to(self.bias, (self.heads, self.n_q, self.n_k)), queries)


@dataclass(frozen=True, eq=False)
class Added:
    """A bias as a function of the place, of some queries: an array of 0 and 1 is no mask here."""

    numbers: places.Bias | np.ndarray  # (h, n_q, n_k)
    queries: np.ndarray | None = None
    head: int = 0  # which of its heads is the first here

    def __call__(self, b: Any, h: Any, q: Any, k: Any) -> np.ndarray:
        head, place = self.head + h, q if self.queries is None else self.queries[q]
        if callable(self.numbers):
            return self.numbers(b, head, place, k)
        return np.asarray(self.numbers[head, place, k])


@dataclass(frozen=True, eq=False)
class Logarithms:
    """Finished weights as a bias of scores of 0: the softmax of their logarithms is they again.

    >>> rows = Logarithms(np.array([[[0.25, 0.75], [1.0, 0.0]]]))(0, 0, np.array([1]), np.arange(2))
    >>> rows.tolist()
    [0.0, -inf]
    """

    weights: np.ndarray  # (h, n_q, n_k)

    @property
    def nbytes(self) -> int:
        return self.weights.nbytes

    def __call__(self, b: Any, h: Any, q: Any, k: Any) -> np.ndarray:
        A = self.weights[h, q, k]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.where(A > 0, A, 0)))


@dataclass(frozen=True, eq=False)
class Sum:
    """Several biases, added up."""

    biases: tuple[places.Bias, ...]

    def __call__(self, b: Any, h: Any, q: Any, k: Any) -> np.ndarray:
        return np.asarray(sum(bias(b, h, q, k) for bias in self.biases))


def _rows_of_queries(M: np.ndarray | None, queries: np.ndarray) -> np.ndarray | None:
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
    return checked(
        LongInputs(
            Q=Q[None],
            K=K[None],
            V=None,
            source=source,
            query_words=words,
            key_words=words,
            file=f"long_attention_{s.pattern}_{s.tokens}",
        )
    )


def guessed_names(arrays: Mapping[str, ArrayEntry]) -> dict[str, str]:
    """Which array of a file is Q, K and V, where the names of one layer alone tell.

    >>> empty = ArrayEntry.of("", np.zeros((2, 2)))
    >>> guessed_names({"layer.0.k": empty, "layer.0.q": empty, "x": empty})
    {'Q': 'layer.0.q', 'K': 'layer.0.k'}
    >>> guessed_names({"0.k": empty, "0.q": empty, "1.k": empty, "1.q": empty})
    {}
    """
    layers: dict[str, dict[str, str]] = {}
    for name in arrays:
        layer, _, last = name.rpartition(".")
        for letter, names in NAMES.items():
            if last.lower() in names:
                layers.setdefault(layer, {}).setdefault(letter, name)
    whole = [found for found in layers.values() if found.keys() >= {"Q", "K"}]
    if len(whole) != 1:
        return {}
    return {letter: whole[0][letter] for letter in NAMES if letter in whole[0]}


def items_of(arrays: Iterable[ArrayEntry]) -> int:
    """How many items the arrays of a file have at most; 1 without such an axis."""
    return max((entry.shape[0] for entry in arrays if len(entry.shape) == 4), default=1)


def read_inputs(
    arrays: Mapping[str, ArrayEntry], names: Mapping[str, str], where: str, item: int = 0
) -> LongInputs:
    """The arrays of these names, all (n, d), (h, n, d) or (b, h, n, d); heads may follow tokens.

    Their sizes are compared with what is held before any is read.
    """
    entries = {letter: arrays[name] for letter, name in names.items()}
    for letter, entry in entries.items():
        axes = len(entry.shape)
        if axes not in (2, 3, 4) or axes != len(entries["Q"].shape):
            raise BadInput(
                f"{where}, {names[letter]} is {sides(entry.shape)}; expected tokens × columns, or"
                " heads (and items) before them, with as many axes in each array."
            )
        if axes == 4 and entry.shape[0] != entries["Q"].shape[0]:
            raise BadInput(
                f"{where} has {entries['Q'].shape[0]} items of queries and {entry.shape[0]} of"
                f" {names[letter]}; both must be equal."
            )
    size = sum(math.prod(entry.shape) * _width(entry.dtype) for entry in entries.values())
    if size > MAX_LONG_SIZE:
        raise BadInput(
            f"the arrays of {where} take {megabytes(size)}; at most {megabytes(MAX_LONG_SIZE)} fit."
        )
    room(size)
    found: dict[str, np.ndarray] = {}
    for letter, name in names.items():
        M = np.asarray(arrays[name].read())
        if M.dtype.kind not in "fiu":
            raise BadInput(f"{where}, {name} holds {M.dtype}; expected numbers.")
        if M.ndim == 4:
            M = M[min(item, len(M) - 1)]
        found[letter] = M[None] if M.ndim == 2 else M
    dtype = np.float64 if any(_width(M.dtype) == 8 for M in found.values()) else np.float32
    remark = ""
    if _tokens_first(found["Q"], found["K"]):
        found = {letter: np.swapaxes(M, 0, 1) for letter, M in found.items()}
        remark = (
            f"Read as tokens × heads × columns: {found['Q'].shape[0]} heads of"
            f" {found['Q'].shape[1]:,} tokens."
        )
    found = {letter: np.ascontiguousarray(M, dtype) for letter, M in found.items()}
    said = f"{where}: {', '.join(names.values())}"
    many = items_of(entries.values())
    said += f", {which_of('item', [item], many)}" if many > 1 else ""
    stem = in_filename(where.rpartition(".")[0])
    file = f"long_attention_{stem}" if stem else LongInputs.file
    return checked(
        LongInputs(found["Q"], found["K"], found.get("V"), said, remark=remark, file=file)
    )


def _width(dtype: Any) -> int:
    """Bytes of a number as it is kept: float32, or float64 where it was given so."""
    return 8 if str(dtype) in ("float64", "int64", "uint64", "int32", "uint32") else 4


def _tokens_first(Q: np.ndarray, K: np.ndarray) -> bool:
    """Whether three axes are tokens × heads × columns: where only so the heads share evenly, or
    where both would do and there are more keys than heads so.

    >>> _tokens_first(np.zeros((50, 4, 8)), np.zeros((50, 2, 8)))
    True
    >>> _tokens_first(np.zeros((32, 1, 8)), np.zeros((8, 64, 8)))  # a step of decoding
    False
    """
    heads_first, tokens_first = (
        K.shape[axis] > 0 and Q.shape[axis] % K.shape[axis] == 0 for axis in (0, 1)
    )
    return tokens_first and (not heads_first or K.shape[0] > K.shape[1])


def captured_inputs(taken: Taken, call: Call, item: int) -> LongInputs:
    """All recorded heads of a layer, with the mask and what else the model used."""
    are_named = taken.tokens or call.names or call.key_names
    words = words_of(taken, call, item) if are_named else ((), ())
    layer = taken.place(call, item)
    only = layer.heads if len(layer.heads) == 1 else ()

    if call.weights is not None:
        (h, n_q, n_k), one = call.weights.shape[1:], call.weights.dtype
        return checked(
            LongInputs(
                Q=np.zeros((h, n_q, 1), one),
                K=np.zeros((1, n_k, 1), one),
                V=None,
                source=layer.source(*only),
                scale=1.0,
                bias=Logarithms(call.weights[item]),
                query_words=words[0],
                key_words=words[1],
                remark=GIVEN,
                patches=layer.patches,
                numbers=call.heads,
                flag=label_note(taken),
                file=f"long_attention_{layer.stem()}",
                weights_alone=True,
            )
        )

    def of_item(M: np.ndarray | None) -> np.ndarray | None:
        return M if M is None else M[min(item, len(M) - 1)]

    return checked(
        LongInputs(
            Q=call.Q[item],
            K=call.K[item],
            V=call.V[item],
            source=layer.source(*only),
            scale=call.scale,
            softcap=call.softcap,
            sinks=call.sinks,
            allowed=of_item(call.allowed),
            bias=of_item(call.bias),
            query_words=words[0],
            key_words=words[1],
            remark=_of_sequence(taken, call),
            patches=layer.patches,
            numbers=call.heads,
            flag=label_note(taken),
            file=f"long_attention_{layer.stem()}",
        )
    )


def _of_sequence(taken: Taken, call: Call) -> str:
    """What is said of queries, or keys, that are not the first of their sequence; else ""."""
    said = [
        f"{word} 1 is {word} {place + 1:,} of the sequence"
        for word, place in zip(("query", "key"), positions_of(taken, call), strict=True)
        if place is not None and place > 0
    ]
    return f"Here {in_words(said)}." if said else ""


def explored_inputs(s: Settings) -> LongInputs:
    """The attention of settings with more tokens than Explore shows: the item shown, all its heads.

    Queries and keys are those that meet, normed and rotated. ``check`` of validate.py says what
    settings have that there is no place for here.

    >>> from attention.session.state.examples import EXAMPLES
    >>> explored_inputs(EXAMPLES["cat-sat"].build()).source
    '“The cat sat on the mat” of Explore'
    """
    room(projected_size(s))
    Q, K, V = _projected({name: matrix.values for name, matrix in s.matrices.items()}, s.item)
    if s.heads > 1:
        Q, K, V = split_heads(Q, s.heads), split_heads(K, s.kv_heads), split_heads(V, s.kv_heads)
    Q, K = last(prepared(Q, K, s.norm, s.rotary, s.heads > 1))
    of_model = captured_head(s.matrices) if s.heads == 1 else None
    heads = of_model.heads if of_model else ()
    item = f", {which_of('item', [s.item], s.batch)}" if s.batch > 1 else ""
    Q, K, V = (M if s.heads > 1 else M[None] for M in (Q, K, V))
    return checked(
        LongInputs(
            Q=Q,
            K=K,
            V=V,
            source=of_model.heading if of_model else f"“{name_of(s)[0]}” of Explore{item}",
            scale=1 / math.sqrt(s.d_k) if s.scale is None else s.scale,
            softcap=s.softcap,
            sinks=np.broadcast_to(s.sinks, (s.heads,)) if s.sinks else None,
            allowed=_allowed(s),
            bias=_bias(s),
            query_words=distinct(s.tokens),
            key_words=distinct(s.key_tokens),
            remark=f"Explore shows up to {MAX_TOKENS:,} tokens, so these are shown here, with mask,"
            " scale, heads and features of real models as set there.",
            numbers=heads,
            file=f"long_attention_{name_of(s)[1]}",
        )
    )


def _projected(matrices: Mapping[str, np.ndarray], item: int) -> tuple[np.ndarray, ...]:
    """Q, K and V of one item, (n, h · d): given themselves, or made of its embeddings."""
    of_item = {name: M[item] if M.ndim > 2 else M for name, M in matrices.items()}
    if "Q" in of_item:
        return tuple(of_item[name] for name in "QKV")
    P, with_positions = added_positions(of_item["X"], of_item.get("P"))
    X = of_item["X"] if with_positions is None else with_positions
    sources = {"Q": X} | dict.fromkeys("KV", of_item.get("memory", X))
    return tuple(
        project(M, of_item[f"W_{name}"], f"W_{name}", bias=as_bias(name, of_item.get(f"b_{name}")))
        for name, M in sources.items()
    )


def _allowed(s: Settings) -> places.Allowed | None:
    """The mask, the window and the padding together, as ``allowed`` of settings.py."""
    masks = {"causal": places.causal, "causal_lower_right": places.causal_lower_right}
    found = [masks[s.mask]()] if s.mask in masks else []
    found += [places.window(s.window, past(s))] if s.window else []
    found += [places.padding(real_keys(s))] if s.padding else []
    return reduce(and_, found) if found else None


def _bias(s: Settings) -> places.Bias | None:
    """What ALiBi and the relative bias add to the scores, as ``added`` of settings.py."""
    found = [places.alibi(s.heads, past(s))] if s.alibi else []
    if "R" in s.matrices:
        by_distance = places.relative_bias(
            s.matrices["R"].values,
            bidirectional=s.bidirectional,
            max_distance=s.max_distance,
            past=past(s),
        )
        found.append(by_distance)
    return Sum(tuple(found)) if found else None


def checked(inputs: LongInputs) -> LongInputs:
    """The inputs, or a sentence where they do not fit each other or are more than are computed."""
    Q, K, V = inputs.Q, inputs.K, inputs.V
    given = [("queries", Q), ("keys", K)] + ([("values", V)] if V is not None else [])
    for word, M in given:
        for count, most, what in zip(
            M.shape, (MAX_LONG_HEADS, MAX_LONG_TOKENS, MAX_LONG_WIDTH), AXES, strict=True
        ):
            if not 0 < count <= most:
                raise BadInput(f"there are {count:,} {what} of {word}; 1 to {most:,} are allowed.")
    if Q.shape[2] != K.shape[2]:
        columns = f"queries have {Q.shape[2]} columns and keys {K.shape[2]}"
        raise BadInput(f"{columns}; both must be equal.")
    if V is not None and (V.shape[:2] != K.shape[:2]):
        raise BadInput(
            f"K is {sides(K.shape)} and V is {sides(V.shape)}, heads × tokens × columns; heads"
            " and tokens must be equal."
        )
    if Q.shape[0] % K.shape[0]:
        raise BadInput(f"{Q.shape[0]} heads of queries cannot share {K.shape[0]} of keys evenly.")
    for word, M in given:
        with np.errstate(over="ignore"):  # in float16 the limit is infinite
            within = (np.abs(M) <= LIMIT).all()
        if not within:
            raise BadInput(
                f"the {word} hold numbers beyond ±{LIMIT:g}; expected finite numbers up to it."
            )
    return inputs


def settled(s: LongContext, inputs: LongInputs) -> LongContext:
    """What is set, as far as these inputs have it."""
    mask = "causal" if s.mask == "own" and not inputs.is_captured else s.mask
    query = s.query if 0 <= s.query < inputs.n_q else inputs.n_q - 1
    head = min(s.head, inputs.heads - 1)
    return replace(s, mask=mask, head=head, query=query)


# ---- what all people hold ------------------------------------------------------------------------


class Held(Protocol):
    """Something large that is kept for a person."""

    @property
    def size(self) -> int: ...


H = TypeVar("H", bound=Held)
_HELD: weakref.WeakSet[Any] = weakref.WeakSet()
_COUNTING = Lock()


def room(size: int) -> None:
    """A sentence where so many bytes more are too many for this process."""
    with _COUNTING:
        _check(size)


def hold(one: H) -> H:
    """Count it among what this process holds for all people, for as long as it is used."""
    with _COUNTING:
        _check(one.size)
        _HELD.add(one)
    return one


def _check(size: int) -> None:
    held = sum(each.size for each in _HELD)
    if held + size > MAX_LONG_HELD:
        raise BadInput(
            f"these tokens take {megabytes(size)}, and this server already holds"
            f" {megabytes(held)} of at most {megabytes(MAX_LONG_HELD)}: choose fewer"
            " tokens, or try again later."
        )


def computed_part(inputs: LongInputs, head: int) -> LongInputs:
    """All heads where they are few enough for one run, else the one that is shown."""
    return inputs if inputs.cells <= TOGETHER else inputs.of_head(head)
