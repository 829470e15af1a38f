"""What attention received and returned in a model's run, as arrays; its file, .safetensors.

Needs NumPy alone: what was recorded elsewhere is read, recomputed and shown without torch.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attention.arrays.checks import check_count
from attention.arrays.conversion import shown
from attention.arrays.distance import blocks
from attention.core.recorded import Patches, Recorded
from attention.core.trace import AttentionTrace, scaled_dot_product_attention
from attention.limits import (
    MAX_ARRAYS,
    MAX_CAPTURE,
    MAX_CAPTURED_CELLS,
    MAX_CAPTURED_HEADS,
    MAX_CAPTURED_NUMBERS,
    MAX_HEADER,
    MAX_HEADER_IN_PYTHON,
    MAX_LONG_FILE,
    MAX_LONG_HEADS,
    MAX_LONG_TOKENS,
    MAX_LONG_WIDTH,
    BadInput,
)
from attention.models.joined import joined as joined_calls
from attention.models.kinds import CROSS, PATCH, kind_by_name, stack_of
from attention.models.weights import OF_BEAMS, note_of_beams, odd_rows, placed, seen_by
from attention.models.weights import found as found_weights
from attention.vocabulary.numbers import megabytes
from attention.vocabulary.sentences import numbered

FORMAT = "attention_capture"  # the name of our JSON among the metadata of the file
ARRAYS = ("Q", "K", "V", "output", "weights", "allowed", "bias", "sinks")
OF_NUMBERS = ARRAYS[:4]  # what a call of finished weights has no columns of
TUPLES = ("heads", "notes", "names", "key_names", "grid")
TOLD = ("model", "tokens", "versions", "missed", "not_run", "stacks")  # of all calls together
NO_NAME = "a model"  # of which a capture does not say what it is called
KINDS = ("encoder", "decoder", "cross", "vision", "audio", "")
REPEATS = ("call", "step", "run", "use", "recompute")  # what a later call is: see labels.py
ALL = slice(None)
MOST_SIDES = 4  # that a sentence names
Shape = tuple[int, ...]
TYPES = {"<f8": "F64", "<f4": "F32", "<f2": "F16", "|b1": "BOOL"}


@dataclass(frozen=True, eq=False, repr=False)
class Call:
    """One call of one layer's attention: what went in, what came out, and how it was meant."""

    layer: int  # counted from 0 in the order of the first calls
    call: int  # how often this layer was called before: the step of a generation
    module: str  # its name in the model, as in named_modules()
    Q: np.ndarray  # (b, h, n_q, d_k), after projection, rotation and norm, as K and V
    K: np.ndarray  # (b, g, n_k, d_k), g heads of keys and values for h of queries
    V: np.ndarray  # (b, g, n_k, d_v)
    output: np.ndarray  # (b, h, n_q, d_v), the model's own, before the last projection
    scale: float
    allowed: np.ndarray | None = None  # broadcasts to (b, h, n_q, n_k): may look
    bias: np.ndarray | None = None  # the same: what is added to the scaled scores
    sinks: np.ndarray | None = None  # (h,): a score of no key, in every row's sum
    softcap: float | None = None
    window: int | None = None  # said by the model; it stands in ``allowed`` already
    dropout: float = 0.0  # of the weights, where the model was in training
    dtype: str = "float32"  # in which the model computed
    implementation: str = ""  # "sdpa", "eager", …
    heads: tuple[int, ...] = ()  # which of the model's heads of queries these are; (): all
    first_query: int = 0  # the place of the first row among all queries of the call
    first_key: int = 0  # and of the first key among all keys
    all_queries: int = 0  # how many the call had, where not all were recorded
    all_keys: int = 0  # and of these
    replayed: float | None = None  # where the inside was hidden: how far asking again lies apart
    replay_allowed: float | None = None  # and what rounding explains of that
    notes: tuple[str, ...] = ()
    kind: str = ""  # "encoder", "decoder", "cross", "vision", "audio"; "" where it is not known
    keys_of: str = ""  # of cross-attention: a module whose sequence the keys are, where it is known
    queries_of: str = ""  # the same of queries that are not of the module's own stack
    # of queries that are no words: special ones, then what is counted; "text:5" are five of them
    names: tuple[str, ...] = ()
    key_names: tuple[str, ...] = ()  # the same of the keys
    query_position: int | None = None  # in its sequence, of the first row that was recorded
    key_position: int | None = None  # the same of the first key; both below 0 for virtual tokens
    virtual: int = 0  # how many virtual tokens stand before the sequence
    memory: int = 0  # how many learned keys, of no token, stand before those of the sequence
    rejected: int = 0  # how many of its last tokens were cropped from the cache behind it
    repeat: str = "call"  # what a later one is: a "step" of generate, a "run": see labels.py
    run: int = 0  # how often the model ran before, not counting the steps of one generation
    # rows and columns of the picture whose patches the keys are
    grid: tuple[int, int] | tuple[()] = ()
    grid_block: int = 1  # its patches follow each other in squares of so many a side
    # (b, h, n_q, n_k), finished ones that were given: Q, K, V and output have no columns then
    weights: np.ndarray | None = None

    @classmethod
    def of_weights(cls, weights: np.ndarray, layer: int, call: int = 0, **facts: Any) -> Call:
        """Return a call of finished weights, (b, h, n_q, n_k); ``facts`` as the fields here."""
        return cls(layer=layer, call=call, **no_numbers(weights), weights=weights, **facts)

    def __repr__(self) -> str:
        from attention.models.summary import line

        return line(self)

    @property
    def when(self) -> str:
        """Return which call of its layer it is, such as ``"step 4"``; "" for the first."""
        return f"{self.repeat} {self.call}" if self.call else ""

    @property
    def patches(self) -> Patches | None:
        """Return where the patches of the picture are among the keys.

        None where no grid is known, or not all keys were recorded.

        Raises
        ------
        BadInput
            One sentence, where the grid does not multiply to the number of patches.

        >>> from attention.models.examples import load
        >>> load("verbs")[3].patches is None
        True
        """
        n_q, n_k = self.Q.shape[2], self.K.shape[2]
        if not self.grid or self.all_keys not in (0, n_k):
            return None
        names, whole = self.key_names or (PATCH,), self.all_queries or n_q
        # in class attention the special tokens alone are queries
        are_first = whole == n_k or whole < len(names) and self.names == names
        first = self.first_query if are_first and self.kind != CROSS else None
        found = Patches(*self.grid, self.grid_block, len(names) - 1, names, first)
        found.places(n_k)
        return found

    def number_of(self, head: int) -> int:
        """Return the model's number of a recorded head."""
        return self.heads[head] if self.heads else head

    @property
    def name(self) -> str:
        """As the arrays are called in the file: layers.3, or layers.3.call.2 later on."""
        return f"layers.{self.layer}" + (f".call.{self.call}" if self.call else "")

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All that is there, by name."""
        names = ARRAYS if self.weights is None else set(ARRAYS) - set(OF_NUMBERS)
        there = {name: getattr(self, name) for name in ARRAYS if name in names}
        return {name: array for name, array in there.items() if array is not None}

    def trace(self, item: int | None = None, head: int | None = None) -> AttentionTrace:
        """Every stage in float64, (b, h, n_q, n_k): of all items and heads, or of some.

        Of one item the items are an axis of 1, as are the heads of one head: (1, h, n_q, n_k) and
        (b, 1, n_q, n_k). One head of one item has no such axes: (n_q, n_k). ``item`` and ``head``
        count what was recorded; ``heads`` has the model's own numbers.

        Raises
        ------
        BadInput
            Where that item or head was not recorded.

        Examples
        --------
        >>> from pathlib import Path
        >>> taken = Taken.load(Path(__file__).parent / "captures" / "pronoun.safetensors")
        >>> taken[3].heads
        (1, 2, 5, 8, 11)
        >>> taken[3].trace(item=0, head=2).weights.shape
        (15, 15)
        >>> taken[3].trace(item=0).weights.shape
        (1, 5, 15, 15)
        """
        item = self._checked("item", item, self.Q.shape[0])
        head = self._checked("head", head, self.Q.shape[1])
        if item is None or head is None:
            items, heads = (ALL if k is None else slice(k, k + 1) for k in (item, head))
            trace = self.part(items, heads, ALL)
        elif self.weights is not None:
            A = self.weights[item, head].astype(np.float64)
            seen = one(self.allowed, item, head)
            trace = AttentionTrace.of_weights(A, allowed=True if seen is None else seen)
        else:
            shared = self.Q.shape[1] // self.K.shape[1]
            Q, K, V = self.Q[item, head], self.K[item, head // shared], self.V[item, head // shared]
            masks = one(self.allowed, item, head), one(self.bias, item, head)
            sinks = None if self.sinks is None else self.sinks[head : head + 1]
            trace = self._traced(Q, K, V, *masks, sinks)
        return replace(trace, recorded=self.place(item, head))

    def part(self, items: slice, heads: slice, rows: slice) -> AttentionTrace:
        """Return the stages of some items, recorded heads and queries, (b, h, n_q, n_k)."""
        h, g = self.Q.shape[1], self.K.shape[1]
        of_keys = np.arange(h)[heads] * g // h
        places = items, heads, rows, slice(None)

        def cut(M: np.ndarray | None) -> np.ndarray | None:
            if M is None:
                return None
            sides = zip(places, M.shape, strict=True)
            return M[tuple(at if side > 1 else slice(None) for at, side in sides)]

        if self.weights is not None:
            A = self.weights[items, heads, rows].astype(np.float64)
            seen = cut(self.allowed)
            return AttentionTrace.of_weights(A, allowed=True if seen is None else seen)
        return self._traced(
            self.Q[items, heads, rows],
            self.K[items][:, of_keys],
            self.V[items][:, of_keys],
            cut(self.allowed),
            cut(self.bias),
            None if self.sinks is None else self.sinks[heads],
        )

    def _traced(
        self,
        Q: np.ndarray,
        K: np.ndarray,
        V: np.ndarray,
        allowed: np.ndarray | None,
        bias: np.ndarray | None,
        sinks: np.ndarray | None,
    ) -> AttentionTrace:
        sinks = None if sinks is None else sinks.astype(np.float64)
        bias = None if bias is None else bias.astype(np.float64)
        if bias is not None and ((bias == 0) | (bias == 1)).all():
            # added by the model like any other; here it would be taken for a mask of 0 and 1, so
            # all is moved by 1, which changes no weight
            bias = bias - 1
            sinks = None if sinks is None else sinks - 1
        return scaled_dot_product_attention(
            *(M.astype(np.float64) for M in (Q, K, V)),
            allowed=allowed,
            bias=bias,
            scale=self.scale,
            softcap=self.softcap,
            sinks=sinks,
        )

    def place(self, item: int | None = None, head: int | None = None) -> Recorded:
        """Where it was recorded: all items and recorded heads of it, or one of either."""
        b, h = self.Q.shape[:2]
        heads = range(h) if head is None else [head]
        return Recorded(
            self.layer,
            tuple(map(self.number_of, heads)),
            self.module,
            self.kind,
            self.when,
            tuple(range(b)) if item is None else (item,),
            b,
            patches=self.patches,
            given=self.weights is not None,
        )

    def _checked(self, name: str, given: int | None, count: int) -> int | None:
        if given is None or check_count(name, given, 0) < count:
            return given
        there = f"{name}s 0 to {count - 1}" if count > 1 else f"only {name} 0"
        if name == "head" and self.heads:
            there += f" ({', '.join(map(str, self.heads))} of the model)"
        raise BadInput(f"{self.name} has no {name} {given}; it has {there}.")


def no_numbers(weights: np.ndarray) -> dict[str, Any]:
    """Return Q, K, V and output without a column, (b, h, n, 0), and a scale that changes nothing:
    what a call of finished weights has of them.
    """
    b, h, n_q, n_k = weights.shape
    queries, keys = (np.empty((b, h, n, 0), weights.dtype) for n in (n_q, n_k))
    return {"Q": queries, "K": keys, "V": keys, "output": queries, "scale": 1.0}


def one(mask: np.ndarray | None, item: int, head: int) -> np.ndarray | None:
    """(b or 1, h or 1, n_q or 1, n_k) → that of one item and one head."""
    if mask is None:
        return None
    return mask[item if mask.shape[0] > 1 else 0, head if mask.shape[1] > 1 else 0]


@dataclass(eq=False, repr=False)
class Taken:
    """A model's run: the calls of its attention layers, in their order.

    ``print`` says what was recorded, how large it is, and what was not, a look-ahead mask among it.
    """

    model: str = ""
    # words of the sequence, or a list an item; or either by a part of the modules' names
    tokens: list[Any] | dict[str, Any] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)  # of torch and transformers
    calls: list[Call] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)  # modules that passed through no known door
    not_run: list[str] = field(default_factory=list)  # modules of attention that were never called
    # the layers that worked on words of their own, by their common name: how many in each run
    stacks: dict[str, list[int]] = field(default_factory=dict)

    def __repr__(self) -> str:
        from attention.models.summary import summary  # which takes captures: LATE of test_house.py

        return summary(self)

    def _repr_html_(self) -> str:
        from attention.figures.panes.captures import page

        return page(self)

    def __iter__(self) -> Iterator[Call]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    def __getitem__(self, layer: int) -> Call:
        """Return the first recorded call of a layer."""
        return self.at(layer)

    def at(self, layer: int, call: int | None = None) -> Call:
        """Return a call of a layer; by default the first that was recorded."""
        for each in self.calls:
            if each.layer == layer and call in (None, each.call):
                return each
        there = list(dict.fromkeys(each.layer for each in self.calls))
        step = "" if call is None else f", call {call}"
        raise ValueError(
            f"layer {layer}{step} was not captured; captured: {numbered('layer', there)}."
        )

    def joined(self, layer: int = 0, *, run: int = 0) -> Call:
        """Return the prompt and the steps of a generation in one layer as one call.

        Its queries stand below each other by their positions, as in one run over the whole answer:
        the weights are those, but for rounding. Keys that a step did not have, since they came
        later or a window had left them behind, are hidden. Cross-attention is joined as well.

        Parameters
        ----------
        layer : which one, counted from 0
        run : which of several generations, counted from 0

        Raises
        ------
        BadInput
            One sentence, where positions are not known, a call begins before the end of the one
            before it (as in speculative decoding), queries are missing, or keys changed.
        ValueError
            If the layer was not captured, or not in this run.

        Examples
        --------
        >>> whole = np.tril(np.full((1, 1, 3, 3), 0.5)) + np.diag([0.5, 0, -0.5])
        >>> steps = [(whole[:, :, :2, :2],), (whole[:, :, 2:],)]
        >>> taken = Taken.of_weights({"attentions": steps})
        >>> len(taken), taken.joined(layer=0).trace(0, 0).weights.tolist()
        (2, [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
        """
        layer, run = check_count("layer", layer, 0), check_count("run", run, 0)
        self.at(layer)
        calls = [call for call in self.calls if call.layer == layer and call.run == run]
        if not calls:
            raise ValueError(f"layer {layer} was not captured in run {run}.")
        said = [note for call in calls for note in call.notes if note in OF_BEAMS]
        if said and calls[0].weights is not None:  # without keys that would tell
            raise BadInput(f"layer {layer} does not join: {said[0]}.")
        return _checked(joined_calls(calls))

    def place(self, call: Call, item: int | None = None, head: int | None = None) -> Recorded:
        """Return where a call was recorded, as :meth:`Call.place` does, with the model's name."""
        return replace(call.place(item, head), model=self.model or NO_NAME)

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return len(self._header()) + sum(
            array.nbytes for each in self.calls for array in each.arrays.values()
        )

    @property
    def counts(self) -> Counts:
        """How many heads and weights all calls have together."""
        return Counts.of((each.Q.shape, each.V.shape) for each in self.calls)

    def save(self, path: str | PathLike[str], *, large: bool = False) -> None:
        """Write one .safetensors: layers.3.Q and so on, and what they mean as JSON beside them.

        What the page would not read is refused with its size, before anything is written;
        ``large`` writes it all the same, for Python; the sentence says where Long context opens it.

        Raises
        ------
        ValueError
            One sentence: the ending is another, nothing was captured, or the file is too large.
        """
        where = Path(path)
        if where.suffix.lower() != ".safetensors":
            raise ValueError(f"{where.name!r} does not end in '.safetensors'.")
        if not self.calls:
            raise ValueError("Nothing was captured yet: save after the with block.")
        name, count = Counter(each.name for each in self.calls).most_common(1)[0]
        if count > 1:
            raise ValueError(f"{count} calls are named {name}; in a file each needs its own name.")
        header = self._header()
        said = self._refused(header, MAX_CAPTURE, is_drawn=True)
        if said and not large:
            pages = " and the page Long context" if self._opens_as_long(header) else ""
            raise ValueError(
                f"{where.name} {said}; choose layers=, heads= or queries= of capture, or"
                f" save(…, large=True) for Python{pages}."
            )
        if len(header) - 8 > MAX_HEADER_IN_PYTHON:
            raise ValueError(f"{where.name} {_of_header(header, MAX_HEADER_IN_PYTHON)}.")
        with where.open("wb") as file:
            file.write(header)
            for each in self.calls:
                for array in each.arrays.values():
                    file.write(np.ascontiguousarray(array).tobytes())

    def _opens_as_long(self, header: bytes) -> bool:
        """Check whether the page Long context opens the file, and its first call."""
        first = self.calls[0]
        fits = is_for_long(first.Q.shape, first.K.shape, first.V.shape)
        return fits and not self._refused(header, MAX_LONG_FILE, is_drawn=False)

    def _refused(self, header: bytes, size: int, is_drawn: bool) -> str:
        """Return why a page that reads so many bytes, and may draw all, would refuse it; or ""."""
        if len(header) - 8 > MAX_HEADER:
            return _of_header(header, MAX_HEADER)
        if self.size > size:
            return f"would have {megabytes(self.size)}, and the page reads {megabytes(size)}"
        return beyond(sum(len(each.arrays) for each in self.calls), self.counts, is_drawn)

    def _header(self) -> bytes:
        """Eight bytes of length, then the JSON of names, types, shapes, places and metadata."""
        about: dict[str, Any] = {"model": self.model, "tokens": self.tokens}
        about |= {"versions": self.versions, "missed": self.missed, "layers": {}}
        about |= {"not_run": self.not_run} if self.not_run else {}
        about |= {"stacks": self.stacks} if self.stacks else {}
        header: dict[str, Any] = {}
        place = 0
        for each in self.calls:
            about["layers"][each.name] = _facts(each)
            for name, array in each.arrays.items():
                end = place + array.nbytes
                header[f"{each.name}.{name}"] = {
                    "dtype": TYPES[array.dtype.str],
                    "shape": list(array.shape),
                    "data_offsets": [place, end],
                }
                place = end
        header["__metadata__"] = {FORMAT: json.dumps(about, ensure_ascii=False)}
        text = json.dumps(header, ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)
        return len(text).to_bytes(8, "little") + text

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Taken:
        """Read what :meth:`save`, or the snippet, has written.

        Raises
        ------
        BadInput
            One sentence, where there is no such file, or it is another or damaged.
        """
        if not isinstance(path, str | PathLike):
            wanted = "expected what was captured, or the path of its file."
            raise TypeError(f"{shown(path)} is not a capture; {wanted}")
        if not Path(path).is_file():
            raise BadInput(f"there is no file {path}.")
        return cls.of_bytes(Path(path).read_bytes(), Path(path).name)

    @classmethod
    def of_weights(
        cls, weights: Any, *, tokens: Any = None, kind: str = "", model: str = ""
    ) -> Taken:
        """Return finished attention weights as a capture, for maps, measures, figures and files.

        There is nothing to verify of them: no queries, keys or output are there. Every call holds
        ``weights``; what is 0 in every head is hidden.

        Parameters
        ----------
        weights :
            What a library returned, of NumPy, torch and others: ``outputs.attentions`` of
            transformers, a tuple with (b, h, n_q, n_k) of each layer, which may differ in shape;
            of ``generate`` such a tuple for each step; ``outputs`` itself, with its encoder,
            decoder and cross-attention, which tells whether items are beams; a dict of names and
            layers, such as TransformerLens' ``cache``, of which the patterns are taken. An array
            (layers, b, h, n_q, n_k), or (layers, h, n_q, n_k); one layer (h, n_q, n_k), and one
            head (n_q, n_k).
        tokens :
            As for :func:`attention.capture`: a list of words for one sequence, a list for each
            item, or a dict by parts of the modules' names. These are "encoder" and "decoder" where
            outputs have cross-attention too, TransformerLens' names, and of cross-attention alone
            "queries" and "keys".
        kind : "encoder", "decoder", "cross", "vision" or "audio"
            Default: as their name says, else by whether a query looks at a later key.
        model : its name, for titles and files

        Raises
        ------
        BadInput, TypeError
            One sentence, where there are no weights, they have other axes, or the words are more
            or fewer than the tokens.

        Examples
        --------
        >>> layers = np.full((2, 1, 3, 2, 2), 0.5)
        >>> taken = Taken.of_weights(layers, tokens=["the", "cat"], kind="encoder")
        >>> taken[1].trace(item=0, head=2).weights
        array([[0.5, 0.5],
               [0.5, 0.5]])
        """
        if not isinstance(kind, str) or kind not in KINDS:
            raise BadInput(f"kind is {shown(kind)}; expected {', '.join(filter(None, KINDS))}.")
        if not isinstance(model, str):
            raise TypeError(f"model is {shown(model)}; expected its name.")
        calls: list[Call] = []
        layers, words = found_weights(weights, kind), checked_tokens(tokens)
        of_beams = note_of_beams(weights, layers, words)
        for each, at_query, at_key in placed(layers, any(one.call for one in layers)):
            repeat = "step" if each.call else "call"
            notes = odd_rows(each.weights, each.layer, f"step {each.call}" if each.call else "")
            call = Call.of_weights(
                each.weights,
                each.layer,
                each.call,
                module=each.module,
                allowed=seen_by(each.weights),
                kind=each.kind,
                keys_of=each.keys_of,
                query_position=at_query,
                key_position=at_key,
                repeat=repeat,
                dtype=each.weights.dtype.name,
                notes=(of_beams, *notes) if of_beams and each.call else notes,
            )
            calls.append(call)
        taken = cls(model=model, tokens=words, calls=calls)
        _check_counts(taken)
        return taken

    @classmethod
    def of_bytes(cls, content: bytes, where: str = "the file") -> Taken:
        """Return the same, of the bytes of the file."""
        header, about, start = header_of(content, where, MAX_HEADER_IN_PYTHON)
        types = {name: kind for kind, name in TYPES.items()}
        try:
            arrays = {
                name: _array(content, start, types[entry["dtype"]], entry)
                for name, entry in header.items()
            }
            return cls.of_arrays(arrays, about)
        except BadInput as refused:
            raise BadInput(f"{where}: {refused}") from None
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            raise BadInput(f"{where} is a damaged capture.") from None

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> Taken:
        """Arrays by name, as layers.3.Q, and the JSON that stands beside them."""
        known = {each.name for each in fields(Call)}
        calls: list[Call] = []
        for name, facts in about["layers"].items():
            said = {"module": ""} | {key: facts[key] for key in facts.keys() & known}
            if any(isinstance(said.get(key), str) for key in TUPLES):
                raise ValueError("expected a list")
            said |= {key: tuple(said[key]) for key in TUPLES if key in said}
            _, number, *later = name.split(".")
            layer, number_of_call = int(number), int(later[1]) if later else 0
            found: dict[str, Any]
            found = {key: arrays[f"{name}.{key}"] for key in ARRAYS if f"{name}.{key}" in arrays}
            if "weights" in found:
                found = no_numbers(found["weights"]) | found
                said.pop("scale", None)
                when = f"{said.get('repeat', 'call')} {number_of_call}" if later else ""
                heads = said.get("heads", ())
                if len(heads) in (0, found["weights"].shape[1]):
                    said.setdefault("notes", odd_rows(found["weights"], layer, when, heads))
            if "kind" not in said:  # where it was not known, or by the snippet
                said |= _guessed(said["module"], found["K"], calls)
            mask, kind = arrays.get(f"{name}.mask"), str(said.get("dtype"))  # of the snippet
            if mask is not None and mask.dtype == bool:
                found["allowed"] = mask
            elif mask is not None and "bias" in found:
                found["bias"] = np.add(found["bias"], mask, dtype=np.float64)
            elif mask is not None:
                found["bias"] = mask
            found |= visible_and_added(found.get("allowed"), found.get("bias"), kind)
            call = _checked(Call(layer, number_of_call, **found, **said))
            if call.name != name or min(call.layer, call.call) < 0:
                raise ValueError(f"{name} is no layer")
            calls.append(call)
        told = {key: about.get(key) for key in TOLD}
        taken = cls(calls=calls, **{key: each for key, each in told.items() if each is not None})
        if not isinstance(taken.model, str) or not isinstance(taken.versions, dict):
            raise ValueError("the model or the versions are missing")
        taken.tokens = checked_tokens(taken.tokens)
        for names in (taken.missed, taken.not_run):
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise ValueError("the names of modules are missing")
        for counts in taken.stacks.values():
            if not isinstance(counts, list) or not all(type(each) is int for each in counts):
                raise ValueError("the number of words is missing")
        return taken


def _of_header(header: bytes, most: int) -> str:
    return (
        f"would hold {len(header) - 8:,} bytes of names and words, its tokens among them, and"
        f" {most:,} are read"
    )


def header_of(content: bytes, where: str, most: int) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Return types, shapes and places of arrays by name, what is said of them, where they start.

    At most so many bytes of JSON are read.
    """
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        raise BadInput(f"{where} is not a complete .safetensors file.")
    if length > most:
        raise BadInput(
            f"{where} holds {length:,} bytes of names and words; at most {most:,} are read."
        )
    try:
        header = json.loads(content[8 : 8 + length])
        about = json.loads(header.pop("__metadata__")[FORMAT])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(f"{where} holds no capture: attention.capture writes one.") from None
    return header, about, 8 + length


def _facts(call: Call) -> dict[str, Any]:
    """Return what the file says of a call beside its arrays: what is not as it mostly is."""
    skipped = {*ARRAYS, "layer", "call"}
    told = {each: getattr(call, each.name) for each in fields(Call) if each.name not in skipped}
    return {each.name: value for each, value in told.items() if value != each.default}


def _array(content: bytes, start: int, kind: str, entry: dict[str, Any]) -> np.ndarray:
    begin, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    count = math.prod(shape)
    if min(begin, *shape, 0) < 0 or end - begin != count * np.dtype(kind).itemsize:
        raise ValueError(f"{entry} is damaged")
    return np.frombuffer(content, kind, count, start + begin).reshape(shape)


def _checked(call: Call) -> Call:
    """Facts of their kinds and shapes that fit to each other, before anything is computed."""
    numbers = [call.scale, call.softcap, call.window, call.dropout]
    numbers += [call.replayed, call.replay_allowed]
    counts = [call.first_query, call.first_key, call.all_queries, call.all_keys, *call.heads]
    counts += [call.virtual, call.memory, call.rejected, call.run, call.window or 0]
    counts += [*call.grid, call.grid_block]
    places = [place for place in (call.query_position, call.key_position) if place is not None]
    texts = [call.module, call.dtype, call.implementation, *call.notes]
    texts += [call.kind, call.keys_of, call.queries_of, call.repeat, *call.names, *call.key_names]
    right = all(each is None or _is_number(each) for each in numbers) and call.scale is not None
    right &= all(type(each) is int and 0 <= each < 2**31 for each in counts)
    before = call.virtual + call.memory
    right &= all(type(each) is int and -before <= each < 2**31 for each in places)
    right &= call.kind in KINDS and call.repeat in REPEATS
    right &= all(isinstance(each, str) for each in texts) and call.dropout is not None
    right &= call.softcap is None or call.softcap > 0
    right &= call.allowed is None or call.allowed.dtype == bool
    floats = call.Q, call.K, call.V, call.output, call.weights, call.bias, call.sinks
    right &= all(M is None or M.dtype.kind == "f" for M in floats)
    right &= not call.heads or len(call.heads) == call.Q.shape[1]
    right &= len(call.grid) in (0, 2)
    if not right:
        raise ValueError(f"{call.name} says what it cannot")
    (b, h, n_q, d_k), (*_, g, n_k, d) = call.Q.shape, call.K.shape
    fits = d == d_k and not h % g and call.V.shape[:3] == call.K.shape[:3] == (b, g, n_k)
    fits &= call.output.shape == (b, h, n_q, call.V.shape[3])
    for mask in (call.allowed, call.bias):
        fits &= mask is None or (
            mask.ndim == 4 and np.broadcast_shapes(mask.shape, (b, h, n_q, n_k)) == (b, h, n_q, n_k)
        )
    fits &= call.sinks is None or call.sinks.shape == (h,)
    if call.weights is not None:
        fits &= call.weights.shape == (b, h, n_q, n_k) and d_k == call.V.shape[3] == 0
        fits &= call.bias is None and call.sinks is None
    if not fits:
        raise ValueError(f"{call.name} has shapes that do not fit")
    try:
        call.patches  # noqa: B018 - its grid is compared with the keys
    except BadInput as refused:
        raise BadInput(f"{call.name}: {refused}") from None
    return call


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _guessed(module: str, K: np.ndarray, before: list[Call]) -> dict[str, str]:
    """Return the kind that a module's name says, and of cross-attention whose keys these may be:
    of the last other layers that had as many tokens.
    """
    kind, own = kind_by_name(module), stack_of(module)
    if kind != CROSS:
        return {"kind": kind, "keys_of": ""}
    theirs = (
        each.module
        for each in reversed(before)
        if each.kind != CROSS and stack_of(each.module) != own and each.Q.shape[2] == K.shape[2]
    )
    return {"kind": kind, "keys_of": next(theirs, "")}


def visible_and_added(
    allowed: np.ndarray | None, added: np.ndarray | None, dtype: str = "float32"
) -> dict[str, np.ndarray | None]:
    """Who may look at whom, and what is added, where numbers such as −3.4e38 hide keys.

    Such a number is taken for what it means. Only where it stands at every key of a query it is
    left as it is: the weights of such a row are equal, and not 0.

    >>> kept = visible_and_added(None, np.array([[0.5, -3e38], [-3e38, -3e38]]))
    >>> kept["allowed"].tolist(), kept["bias"].tolist()
    ([[True, False], [True, True]], [[0.5, 0.0], [-3e+38, -3e+38]])
    """
    if added is not None:
        seen = np.empty(added.shape, bool)
        for rows in blocks(added.shape):
            block = added[..., rows, :]
            known = block > np.float64(-3e4 if dtype == "float16" else -1e37)
            whole = ~known.any(axis=-1, keepdims=True)
            whole &= np.isfinite(block).all(axis=-1, keepdims=True)
            seen[..., rows, :] = known | whole
        if not seen.all():
            allowed = seen if allowed is None else allowed & seen
            added = np.where(seen, added, 0) if added.any(where=seen) else None
        elif not added.any():
            added = None
    if allowed is not None and allowed.all():
        allowed = None
    return {"allowed": allowed, "bias": added}


class Counts(NamedTuple):
    """What a capture holds, by its shapes alone."""

    heads: int  # of all calls and items
    weights: int  # of all heads
    numbers: int  # of the head with the most: its queries, keys, values and output

    @classmethod
    def of(cls, calls: Iterable[tuple[Shape, Shape]]) -> Counts:
        """Count those of calls by the shapes of Q, (b, h, n_q, d_k), and V, (b, g, n_k, d_v).

        >>> Counts.of([((1, 12, 5, 64), (1, 12, 7, 64))])
        Counts(heads=12, weights=420, numbers=1536)
        """
        heads = weights = numbers = 0
        for (b, h, n_q, d_k), (_, _, n_k, d_v) in calls:
            heads += b * h
            weights += b * h * n_q * n_k
            numbers = max(numbers, (n_q + n_k) * (d_k + d_v))
        return cls(heads, weights, numbers)


def beyond(arrays: int, counts: Counts, is_drawn: bool) -> str:
    """Return what a capture holds more of than a page reads, or draws at once; "" where it fits.

    >>> beyond(3, Counts(1, 2048**2, 0), True), beyond(3, Counts(12, 12 * 2048**2, 0), True)
    ('', 'holds 50,331,648 weights of all heads; at most 8,388,608 are shown')
    """
    bounds = [
        (arrays, MAX_ARRAYS, "arrays"),
        (counts.heads, MAX_CAPTURED_HEADS, "heads of all layers, calls and items"),
    ]
    if is_drawn:
        bounds += [
            (counts.weights, MAX_CAPTURED_CELLS, "weights of all heads"),
            (counts.numbers, MAX_CAPTURED_NUMBERS, "numbers in one head"),
        ]
    for count, most, word in bounds:
        if count > most:
            return f"holds {count:,} {word}; at most {most:,} are shown"
    return ""


def is_for_long(*shapes: Shape) -> bool:
    """Check whether Long context opens a call whose Q, K and V have these shapes: (b, h, n, d)."""
    most = MAX_LONG_HEADS, MAX_LONG_TOKENS, MAX_LONG_WIDTH
    return all(
        side <= limit for shape in shapes for side, limit in zip(shape[1:], most, strict=True)
    )


def checked_tokens(tokens: Any) -> list[Any] | dict[str, Any]:
    """Words of the sequence, or of each item of the batch, or either by a part of modules' names;
    [] where none were given.
    """
    if tokens is None:
        return []
    if isinstance(tokens, Mapping):
        if not all(isinstance(part, str) for part in tokens):
            odd = next(part for part in tokens if not isinstance(part, str))
            raise TypeError(f"tokens names {shown(odd)}; expected a part of a module's name.")
        return {part: _checked_words(words) for part, words in tokens.items()}
    return _checked_words(tokens)


def _checked_words(tokens: Any) -> list[Any]:
    if not _is_list(tokens):
        raise TypeError(f"tokens is {shown(tokens)}; expected a list of words, one for each.")
    words = [list(each) if _is_list(each) else each for each in tokens]
    flat = [word for each in words for word in (each if isinstance(each, list) else [each])]
    if not all(isinstance(word, str) for word in flat):
        odd = next(word for word in flat if not isinstance(word, str))
        raise TypeError(
            f"tokens holds {shown(odd)}; expected words, as"
            " tokenizer.convert_ids_to_tokens(…) gives them."
        )
    if len({isinstance(each, str) for each in words}) > 1:
        raise TypeError("tokens holds words and lists of words; expected one or the other.")
    return words


def _check_counts(taken: Taken) -> None:
    """Refuse words of finished weights that are more or fewer than the tokens of a sequence.

    Which sequence they are of, and what a dict names, ``models/labels.py`` says.
    """
    tokens = taken.tokens
    crossed = {call.kind == CROSS for call in taken}
    if isinstance(tokens, list) and tokens and crossed != {False}:
        parts = '"queries": …, "keys": …' if crossed == {True} else '"encoder": …, "decoder": …'
        raise BadInput(f"tokens is one list, and there are two sequences; give {{{parts}}}.")
    generated = any(call.call for call in taken)  # whose last word was never fed
    sides = [
        {side for call in taken for side in (call.Q.shape[2], call.K.shape[2])},
        {(call.query_position or 0) + call.Q.shape[2] + generated for call in taken},
    ]
    given = tokens if isinstance(tokens, dict) else {"": tokens}
    for part, words in given.items():
        name = f"tokens[{part!r}]" if part else "tokens"
        lists = words if words and isinstance(words[0], list) else [words] if words else []
        for k, each in enumerate(lists):
            if len(each) not in sides[0] | sides[1]:
                which = f"{name}[{k}]" if len(lists) > 1 else name
                there = " or ".join(f"{side:,}" for side in sorted(sides[0])[:MOST_SIDES])
                read = f"the weights are of {there} tokens"
                raise BadInput(
                    f"{which} has {len(each):,} words, and {read}; expected one for each."
                )


def _is_list(value: Any) -> bool:
    many = hasattr(value, "__iter__") and getattr(value, "ndim", 1) != 0
    return many and not isinstance(value, str | Mapping)
