"""The part of a trace that is shown: one item and one head, each stage with two axes."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from attention.arrays.conversion import shown
from attention.core.norms import RMSNorm
from attention.core.recorded import Recorded
from attention.core.rotary import Rotary
from attention.core.scores import SIGMOID, share_of_sink
from attention.core.trace import AttentionTrace, reading_order
from attention.explain.cancellation import zeros_of
from attention.vocabulary.characters import NO_CHARACTER
from attention.vocabulary.numbers import cell_writer, rounded
from attention.vocabulary.sentences import numbered, plural, which_of
from attention.vocabulary.stages import STAGES


@dataclass(frozen=True, eq=False)
class View:
    """One item of the batch and one head: the two-dimensional stages, with their labels.

    >>> from attention import self_attention
    >>> trace = self_attention([[1, 0], [0, 1]], np.eye(2), np.eye(2), [[5], [7]])
    >>> view = View.of(trace, tokens=("cat", "dog"))
    >>> view.rows("weights"), view.stages["output"].shape
    (('cat', 'dog'), (2, 1))
    """

    stages: dict[str, np.ndarray]  # name → (rows, columns), in reading order
    labels: dict[str, tuple[str, ...]]  # "queries", "keys", "d_k" … → one label each
    allowed: np.ndarray  # (n_q, n_k)
    scale: float
    bias: np.ndarray | None = None  # (n_q, n_k), added to the scaled scores
    softmax: bool | str = True  # as in AttentionTrace
    head: int = 0  # which one, of `heads`, counted from 0
    heads: int = 1
    softcap: float | None = None
    sink: float | None = None  # a score of no key, in the sum of each row
    norm: RMSNorm | None = None
    rotary: Rotary | None = None
    buckets: np.ndarray | None = None  # (n_q, n_k), the row of R that each score reads
    relative: np.ndarray | None = None  # (n_q, n_k), the part of the bias that is from there
    # "Q", "K" → (rows,), what the norm divides each row by
    root_mean_squares: Mapping[str, np.ndarray] = field(default_factory=dict)
    # where a stage is 0 but for what rounding left, which is printed as 0
    zeros: Mapping[str, np.ndarray] = field(default_factory=dict)
    recorded: Recorded | None = None  # as in AttentionTrace
    crossed: bool = False  # whether queries and keys are other tokens

    @classmethod
    def of(
        cls,
        trace: AttentionTrace,
        *,
        tokens: Iterable[str] | None = None,
        key_tokens: Iterable[str] | None = None,
        item: int = 0,
        head: int = 0,
        names: Mapping[str, Iterable[str]] | None = None,
        context: bool = False,
    ) -> View:
        """Return the view of one item and head of a trace.

        Parameters
        ----------
        trace : AttentionTrace
        tokens, key_tokens : iterable of str, n_q and n_k words
            Labels of the queries and of the keys; with ``key_tokens`` the keys are other tokens,
            even if the words are the same. Without them the keys of self-attention have the labels
            of the queries, if there are as many; all else is numbered from 1. Words that repeat
            are numbered: ``the (1)``, ``the (2)``. A trace of :func:`attention.trace_of` has the
            words of its model.
        item, head : int
            Indices of an item of the batch and a head, from 0. Of several leading axes the last one
            counts the heads. A single one counts the heads if the trace joined them, and the items
            of the batch otherwise; several batch axes are counted as one. A head recorded in a
            real model is named by its number there (:attr:`head_number`); ``head`` counts those
            in the trace.
        names : dict of labels
            For dimensions, such as ``{"d_v": ("yes", "no")}``. Default: numbers from 1.
        context : bool
            Also show the sum of the outputs.

        Returns
        -------
        View
            Each stage (rows, columns).

        Raises
        ------
        ValueError
            If there is no such item or head, or the words are too few or too many.
        TypeError
            If ``trace`` is not an AttentionTrace, ``item`` or ``head`` not an integer, ``context``
            not a bool, or labels are not a list of words.

        >>> from attention import self_attention
        >>> trace = self_attention([[1, 0], [0, 1]], np.eye(2), np.eye(2), [[5], [7]])
        >>> View.of(trace, tokens=("the", "the")).labels["queries"]
        ('the (1)', 'the (2)')
        """
        check_trace(trace)
        if not isinstance(context, (bool, np.bool_)):
            raise TypeError(f"context is {shown(context)}; expected True or False.")
        items, heads = axes_of(trace)
        of_model = () if trace.recorded is None else trace.recorded.heads
        item, head = place_of("item", item, items), place_of("head", head, heads, of_model)
        if tokens is None and key_tokens is None:
            tokens, key_tokens = recorded_words(trace, item)
        pick = Pick(trace, item, head, heads)
        stages = {}
        for name in reading_order(trace):
            matrix = pick.stage(name, context)
            if matrix is not None:
                stages[name] = matrix
        buckets = None
        if trace.relative is not None:
            buckets = trace.relative.rows(*stages["scores"].shape)
        shapes = {name: matrix.shape for name, matrix in stages.items()}
        labels = labels_of(trace, shapes, tokens, key_tokens, names)
        zeros = {
            name: pick.of_item(where) if name in WITHOUT_HEADS else pick(where)
            for name, where in zeros_of(trace).items()
        }
        sinks = trace.sinks
        roots = _root_mean_squares(trace)
        return cls(
            stages=stages,
            labels=labels,
            allowed=pick(trace.allowed),
            scale=trace.scale,
            bias=pick.bias,
            softmax=trace.softmax,
            head=head,
            heads=heads,
            softcap=trace.softcap,
            sink=None if sinks is None else float(pick(sinks[..., None, None])[0, 0]),
            norm=trace.norm,
            rotary=trace.rotary,
            buckets=buckets,
            relative=None if buckets is None else stages["R"][buckets, 0],
            root_mean_squares={name: pick(rms)[:, 0] for name, rms in roots.items()},
            zeros=zeros,
            recorded=trace.recorded and trace.recorded.of_item(item, items),
            crossed=_is_crossed(trace, key_tokens) or labels["queries"] != labels["keys"],
        )

    def printed(self, name: str) -> np.ndarray:
        """Return a stage as it is printed: 0 where only rounding errors are left."""
        matrix, where = self.stages[name], self.zeros.get(name)
        if where is None or where.shape != matrix.shape:
            return matrix
        return np.where(where, matrix.dtype.type(0), matrix)

    def is_share(self, name: str) -> bool:
        """Return whether the numbers of a stage are shares, from 0 to 1."""
        return name == "weights" and self.softmax in (True, SIGMOID)

    def texts(self, name: str, digits: int) -> list[list[str]]:
        """Return the texts of a stage's cells, as a table of (rows, columns)."""
        return rounded(self.printed(name), digits, self.is_share(name))

    def row_texts(self, name: str, i: int, digits: int) -> list[str]:
        """Return one row of :meth:`texts`."""
        matrix = self.printed(name)
        return cell_writer(matrix, digits, self.is_share(name))(matrix[i])

    @property
    def head_number(self) -> int:
        """Return the head's number, from 0, or its number in a real model."""
        return self.recorded.heads[self.head] if self.recorded else self.head

    @property
    def head_title(self) -> str:
        """Return ``head 1`` or ``layer 3, head 5``, for a title; "" for the only head."""
        if self.recorded:
            return self.recorded.title(self.head_number)
        return numbered("head", [self.head]) if self.heads > 1 else ""

    @property
    def which_head(self) -> str:
        """Return the head's title with the number of heads: ``head 1 of 0–2``.

        For a real model, which may have recorded only some heads, it has the module instead.
        """
        if self.recorded:
            return self.recorded.words(self.head_number)
        return which_of("head", [self.head], self.heads)

    @property
    def sunk(self) -> np.ndarray | None:
        """Return the share of each query that goes to the sink, (n_q,); None without a sink."""
        return None if self.sink is None else share_of_sink(self.stages["masked"], self.sink)

    @property
    def divides_by_root(self) -> bool:
        """Return whether the scale is 1/√d_k."""
        if "Q" not in self.stages:  # finished weights
            return False
        return math.isclose(self.scale, 1 / math.sqrt(self.stages["Q"].shape[1]), rel_tol=1e-15)

    def rows(self, name: str) -> tuple[str, ...]:
        """Return the labels of a stage's rows."""
        return self.labels[STAGES[name].rows]

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the labels of a stage's columns."""
        return self.labels[STAGES[name].columns]

    def only(self, stages: Collection[str]) -> View:
        """Return the view with only these stages."""
        return replace(self, stages={n: M for n, M in self.stages.items() if n in stages})

    def query_called(self, label: str) -> int | None:
        """Return which query has this label; None if none has."""
        labels = self.labels["queries"]
        return labels.index(label) if label in labels else None

    def source(self, name: str, before: str = "") -> str:
        """Return the stage that stands for ``name``: the last one, or the last ``before`` a stage.

        Without a second sequence the memory is X. Of Q, Q normed and Q rotated the last one is
        multiplied with the keys; of scaled, capped and modified scores the last one is masked.
        """
        if name == "memory" and "memory" not in self.stages:
            name = "X"
        here = list(self.stages)
        here = here[: here.index(before)] if before in here else here
        return next((other for other in here[::-1] if STAGES[other].stands_for == name), name)

    @property
    def before_weights(self) -> str:
        """Return the stage that the softmax is taken of: without a mask, the one before masked."""
        return "masked" if "mask" in self.stages else self.source("scaled", "masked")

    def sources(self, name: str) -> list[tuple[str, str]]:
        """Return the stages that a cell of ``name`` is computed from, and which part of each."""
        found = (
            (self.before_weights if source == "masked" else self.source(source, name), part)
            for source, part in STAGES[name].sources
        )
        return [(source, part) for source, part in found if source in self.stages]


def as_view(shown: View | AttentionTrace) -> View:
    """Return a view unchanged; for a trace, the view of its first item and head."""
    return shown if isinstance(shown, View) else View.of(shown)


@dataclass(frozen=True, eq=False)
class Pick:
    """Takes one item and one head out of the arrays of a trace."""

    trace: AttentionTrace
    item: int
    head: int
    heads: int

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return (rows, columns) of (…, rows, columns), which may have fewer leading axes."""
        return _one(values, self.trace.output.shape[:-2], self.item * self.heads + self.head)

    def of_item(self, values: np.ndarray) -> np.ndarray:
        """Return the item's part of an array without heads: X, memory, the joined heads."""
        lead = self.trace.output.shape[:-2]
        return _one(values, lead if self.heads == 1 else lead[:-1], self.item)

    @property
    def bias(self) -> np.ndarray | None:
        """Return what is added to the scaled scores, (n_q, n_k)."""
        if self.trace.bias is None:
            return None
        return self(np.broadcast_to(self.trace.bias, self.trace.scores.shape))

    @property
    def is_masked(self) -> bool:
        """Return whether M is something other than 0 in any cell."""
        bias = self.bias
        return not self(self.trace.allowed).all() or bool(bias is not None and bias.any())

    def mask(self) -> np.ndarray:
        """Return M as it is added to the scaled scores, (n_q, n_k)."""
        number = self.trace.scores.dtype.type
        bias = self.bias
        added = number(0) if bias is None else bias
        return np.where(self(self.trace.allowed), added, number(-np.inf))

    def stage(self, name: str, context: bool = False) -> np.ndarray | None:
        """Return the stage of that name with two axes; None if there is none."""
        if name == "mask":
            return self.mask() if self.is_masked else None
        if name == "context":
            return self(self.trace.context[..., None, :]) if context else None
        if name == "joined" and self.heads == 1 and self.trace.projected is None:
            return None  # it is the output
        values = getattr(self.trace, name)
        if values is None:
            return None
        if name in ("W_O", "b_O"):
            return values
        if name in WITHOUT_HEADS:
            return self.of_item(values)
        return self._of_head(values, name) if STAGES[name].is_shared else self(values)

    def _of_head(self, weight: np.ndarray, name: str) -> np.ndarray:
        """Return the columns of a weight for this head; heads may share those of K and V."""
        width = 1 if name == "R" else getattr(self.trace, name[-1]).shape[-1]
        heads = weight.shape[-1] // width if width else 1
        start = self.head * heads // self.heads * width
        return weight[..., start : start + width]


def _one(values: np.ndarray, lead: tuple[int, ...], place: int) -> np.ndarray:
    """Return the matrix at that index of the leading axes, counted as one axis."""
    sides = values.shape[-2:]
    if values.ndim - 2 > len(lead):  # an axis of 1 for a single head
        values = values.reshape(*values.shape[: len(lead)], *sides)
    whole = np.broadcast_to(values, (*lead, *sides))
    return whole[np.unravel_index(place, lead)] if lead else whole


WITHOUT_HEADS = ("X", "memory", "P", "X_P", "joined", "projected")
OF_ALL_HEADS = (*WITHOUT_HEADS, "W_O", "b_O")


def _root_mean_squares(trace: AttentionTrace) -> dict[str, np.ndarray]:
    """Return what the norm divides each row of Q and K by, (…, n, 1)."""
    if trace.norm is None:
        return {}
    Q, K = trace.Q, trace.K
    if trace.norm.after_rotary and trace.Q_rotated is not None and trace.K_rotated is not None:
        Q, K = trace.Q_rotated, trace.K_rotated
    of_heads = axes_of(trace)[1] > 1 and trace.joined is not None
    roots = {name: trace.norm.root_mean_square(M, of_heads) for name, M in (("Q", Q), ("K", K))}
    return {
        name: np.broadcast_to(rms, (*M.shape[:-1], 1))
        for (name, rms), M in zip(roots.items(), (Q, K), strict=True)
    }


def leading_axes(trace: AttentionTrace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the lengths of the batch axes of a trace, and that of its axis of heads, or ().

    >>> from attention import scaled_dot_product_attention
    >>> leading_axes(scaled_dot_product_attention(*np.ones((3, 2, 4, 5, 6))))
    ((2,), (4,))
    """
    lead, joined = trace.output.shape[:-2], trace.joined
    has_heads = len(lead) > 1 if joined is None else trace.output.ndim > joined.ndim
    has_heads |= trace.weights_alone and len(lead) > 0
    return (lead[:-1], lead[-1:]) if has_heads else (lead, ())


def axes_of(trace: AttentionTrace) -> tuple[int, int]:
    """Return the number of items and the number of heads of a trace."""
    items, heads = leading_axes(trace)
    return math.prod(items), math.prod(heads)


def place_of(word: str, given: Any, count: int, of_model: Sequence[int] = ()) -> int:
    """Return the index of an item or head; raise one sentence if there is none.

    ``of_model``: the numbers in the model of the heads of a trace.
    """
    place = whole_number(word, given)
    if not 0 <= place < count:
        are = f"is 1 {word}, number 0" if count == 1 else f"are {count} {word}s, counted from 0"
        called = f" ({numbered(word, of_model)} of the model)" if of_model else ""
        raise ValueError(f"{word} is {place}; there {are if count else f'are no {word}s'}{called}.")
    return place


def whole_number(argument: str, given: Any) -> int:
    """Return an argument as an int; raise one sentence if it is no whole number.

    >>> whole_number("head", np.int64(2))
    2
    """
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"{argument} is {shown(given)}; expected a whole number.") from None


def check_trace(given: Any) -> None:
    """Raise one sentence if something else was given than a trace."""
    if not isinstance(given, AttentionTrace):
        raise TypeError(
            "expected a trace, such as attention.scaled_dot_product_attention gives;"
            f" got {type(given).__name__}."
        )


def _is_crossed(trace: AttentionTrace, key_tokens: Iterable[str] | None) -> bool:
    """Return whether it is said that the keys are other tokens than the queries."""
    return trace.memory is not None or key_tokens is not None


def recorded_words(
    trace: AttentionTrace, item: int
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the words that a model read at the queries of an item, and at the keys where these are
    others; None where the trace has none.
    """
    if trace.recorded is None or item >= len(trace.recorded.labels):
        return None, None
    queries, keys = trace.recorded.labels[item]
    return queries, None if keys == queries else keys


def labels_of(
    trace: AttentionTrace,
    shapes: Mapping[str, tuple[int, ...]],
    tokens: Iterable[str] | None,
    key_tokens: Iterable[str] | None,
    names: Mapping[str, Iterable[str]] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Return the labels of each axis: words for queries and keys, names or numbers for others.

    ``shapes``: (rows, columns) of one item and head, by stage, the weights among them.
    """
    named = _named(names)
    if trace.relative is not None:
        named = {"buckets": trace.relative.names()} | named
    n_q, n_k = shapes["weights"]
    labels = {"queries": words_of("tokens", tokens, n_q)}
    if n_q == n_k and not _is_crossed(trace, key_tokens):
        labels["keys"] = labels["queries"]
    else:
        labels["keys"] = words_of("key_tokens", key_tokens, n_k)
    for name, shape in shapes.items():
        for axis, size in zip((STAGES[name].rows, STAGES[name].columns), shape, strict=True):
            labels.setdefault(axis, dimension(named.get(axis, ()), size))
    return labels | {"sum": ("Σ",), "bias": ("b",)}


def words_of(argument: str, words: Iterable[str] | None, count: int) -> tuple[str, ...]:
    """Return distinct labels of queries or keys, or numbers from 1; raise if too many or few."""
    if words is None:
        return dimension((), count)
    found = _given_labels(argument, words)
    if len(found) != count:
        have = f"{len(found)} {plural(len(found), 'word')}"
        raise ValueError(f"{argument} has {have}; expected {count}, one for each.")
    return distinct(found)


def _named(names: Mapping[str, Iterable[str]] | None) -> dict[str, tuple[str, ...]]:
    """Return the labels of dimensions; raise one sentence if they are none."""
    if not isinstance(names, Mapping | None):
        raise TypeError(
            f"names is {shown(names)}; expected labels of dimensions, such as"
            " {'d_v': ['yes', 'no']}."
        )
    return {axis: _given_labels(f"names[{axis!r}]", words) for axis, words in (names or {}).items()}


def _given_labels(argument: str, words: Iterable[str]) -> tuple[str, ...]:
    try:
        found = None if isinstance(words, (str, bytes)) else tuple(map(str, words))
    except TypeError:  # it cannot be gone through
        found = None
    if found is None:
        raise TypeError(f"{argument} is {shown(words)}; expected a list of words.")
    for k, word in enumerate(found):
        whole_text(f"{argument}[{k}]", word)
    return found


def whole_text(name: str, text: str) -> str:
    """Return the text; raise if it holds half of a surrogate pair, which no file can hold, or
    U+FFFE or U+FFFF, which no SVG can.

    >>> whole_text("title", "\\ud83d")
    Traceback (most recent call last):
    ValueError: title holds '\\ud83d', half of a character; the other half is missing.
    """
    if odd := NO_CHARACTER.search(text):
        if odd[0] > "\udfff":
            raise ValueError(f"{name} holds {odd[0]!r}, which is no character; remove it.")
        raise ValueError(
            f"{name} holds {odd[0]!r}, half of a character; the other half is missing."
        )
    return text


def dimension(names: Iterable[str], size: int) -> tuple[str, ...]:
    """Return the labels of a dimension: its names if they are as many, else 1, 2, …

    >>> dimension((), 2), dimension(("yes", "no"), 2)
    (('1', '2'), ('yes', 'no'))
    """
    names = tuple(names)
    return names if len(names) == size else tuple(map(str, range(1, size + 1)))


@lru_cache(32)  # each run of a page asks several times
def distinct(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return labels of tokens, with a number after each token that repeats.

    >>> distinct(("the", "cat", "the"))
    ('the (1)', 'cat', 'the (2)')
    >>> distinct(("the", "the", "the (1)"))
    ('the (2)', 'the (3)', 'the (1)')
    """
    counts, seen = Counter(tokens), Counter[str]()
    labels = []
    for token in tokens:
        seen[token] += 1
        while f"{token} ({seen[token]})" in counts:  # somebody's own name
            seen[token] += 1
        labels.append(f"{token} ({seen[token]})" if counts[token] > 1 else token)
    return tuple(labels)
