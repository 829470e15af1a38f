"""The state of the dashboard in one record: what the person gave, and what they look at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from attention.core.biases import RelativeBias, alibi
from attention.core.masks import MASKS, window
from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary
from attention.core.scores import SIGMOID
from attention.limits import (
    MAX_DIGITS,
    MAX_EXERCISE,
    MAX_SAMPLE_D_K,
    MAX_SAMPLES,
    MAX_TOKENS,
    ROUNDED,
    BadInput,
)
from attention.paper import Paper
from attention.session.state.long_context import LongContext
from attention.session.state.matrix import Matrix, WordRows, captured_head
from attention.session.state.origin import Origin
from attention.vocabulary.parts import PARTS as REAL_PARTS
from attention.vocabulary.sentences import in_words
from attention.vocabulary.stages import BIASES

DRAWN = "drawn"
DRAWN_MASK = "a drawn mask"  # in words
MATRICES = ("X", "memory", "W_Q", "W_K", "W_V", "W_O", "Q", "K", "V", "P", *BIASES, "R")  # of them
TRUE_MASK, PUSHED = "-inf", "-1e9"  # what hidden cells get: a true mask, or as tutorials do
FILLS = {TRUE_MASK: "−∞ (true mask)", PUSHED: "−1e9, added"}  # in words
SOFTMAX = {True: "on", False: "off", SIGMOID: "a sigmoid"}  # what it may be, and in words
PARTS = (  # of real layers; the last two of the relative bias, whose table is R
    *("norm", "rotary", "softcap", "sinks", "alibi", "window"),
    *("bidirectional", "max_distance"),
)
PRINTED = ("paper", "paper_stages", "paper_heads")  # what a figure for a paper shows, and how
COMPARED = ("pinned", "mistake")  # what the page Compare puts beside all else
LAST_STEP = 9  # of the guided tour: 0 is its introduction, the last one its end
GUIDED = ("step",)  # of the guided tour
EXERCISE = ("exercise", "exercise_seed", "asked", "answers", "tries")  # on the page Exercises
LONG = ("long",)  # what the page Long context looks at
OPENED = ("capture",)  # what is open on the page Real model
MOVE = ("move_from", "move_to")  # the two libraries on the page Conventions
UPLOADED = "own"  # a capture that was uploaded: the address holds no more of it
SAMPLING = ("sample_d_k", "samples", "distribution", "sample_seed")  # what Why √d_k draws


@dataclass(frozen=True)
class Settings:
    """Everything a link, a session or an export has to hold to show the same page again.

    ``matrices`` holds X, W_Q, W_K, W_V (with memory, W_O, the positions P, the biases and
    the table R where they are used), or Q, K, V themselves; these may have a batch axis in front.
    """

    example: str
    tokens: tuple[str, ...]
    matrices: Mapping[str, Matrix]
    memory_tokens: tuple[str, ...] = ()  # of the second sequence; () where there is none
    heads: int = 1
    scale: float | None = None  # what scores are multiplied by; None is 1/√d_k
    mask: str = "none"  # a name in MASKS, or DRAWN
    padding: tuple[int, ...] = ()  # keys hidden from every query
    # (n_q, n_k), True = may look; used where mask is DRAWN
    drawn: tuple[tuple[bool, ...], ...] = ()
    drawn_from: Origin | None = None  # where a mask came from that was brought
    fill: str = TRUE_MASK  # what hidden cells get: a name in FILLS
    softmax: bool | str = True  # or "sigmoid"
    norm: RMSNorm | None = None  # of Q and K
    rotary: Rotary | None = None
    softcap: float | None = None
    sinks: tuple[float, ...] = ()  # one for all heads, or one for each
    alibi: bool = False  # is added to the scores
    bidirectional: bool = True  # keys ahead of the query have rows of R of their own
    max_distance: int = 8  # from where on the keys of a side share the last one
    window: int = 0  # how many keys a query sees at most, its own and those before it; 0: all
    finished: bool = False  # the weights were brought, and stand in Q; see weights_alone
    context: bool = False  # also show the sum of the outputs
    # of the dimensions
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    item: int = 0
    head: int = 0
    query: int = 0
    cell: tuple[str, int, int] | None = None
    digits: int = 2
    sample_d_k: int = 64
    samples: int = 1000
    distribution: str = "normal"
    sample_seed: int = 0

    paper: Paper = Paper()  # how a figure to print is set
    paper_stages: tuple[str, ...] = ("weights",)  # on it; () for all
    paper_heads: tuple[int, ...] = ()  # on it; () for the one that is shown

    step: int = 0  # of the guided tour on the page Learn

    exercise: str = "made"  # on the page Exercises: a name in KINDS of exercise.py
    exercise_seed: int = 1  # 0: each pupil types a number
    asked: tuple[str, ...] = ()  # places that are blank; () for the output of one query
    answers: tuple[str, ...] = ()  # as typed, one for each blank, "" where nothing was
    tries: tuple[int, ...] = ()  # that were wrong

    long: LongContext = LongContext()  # on the page Long context
    capture: str = ""  # on the page Real model: a name in CAPTURES, or UPLOADED
    move_from: str = "torch_sdpa"  # on the page Conventions: names of its table
    move_to: str = "torch_mha"

    pinned: Settings | None = None  # A of the page Compare, where these settings are B
    mistake: str = ""  # what B does wrong there: a name in the table of known mistakes

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrices", MappingProxyType(dict(self.matrices)))

    def __reduce__(self) -> tuple:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return _rebuild, ({**fields, "matrices": dict(self.matrices)},)

    def shape(self, name: str) -> tuple[int, int]:
        """(rows, columns) of a matrix, without its batch axis."""
        rows, columns = self.matrices[name].shape[-2:]
        return rows, columns

    def rows_of(self, name: str) -> WordRows | None:
        """The words behind the rows of embeddings; None for other matrices."""
        tokens = {"X": self.tokens, "memory": self.memory_tokens}.get(name)
        return WordRows(tokens, self.tokens + self.memory_tokens) if tokens else None

    @property
    def origins(self) -> dict[str, Origin]:
        """Where the inputs came from that a person brought; the mask's under "mask"."""
        of_matrices = {name: m.origin for name, m in self.matrices.items() if m.origin}
        mask = {"mask": self.drawn_from} if self.drawn_from and self.mask == DRAWN else {}
        return of_matrices | mask

    @property
    def typed_qkv(self) -> bool:
        """Whether Q, K and V are given themselves, without embeddings and weights."""
        return "Q" in self.matrices

    @cached_property
    def weights_alone(self) -> bool:
        """Whether these still are the finished weights that were brought, which stand alone: Q is
        they, K and V are 1, nothing is scaled or normalised, and what is hidden is 0. Rows are
        shares that add up to 1 unless they are a captured head's.
        """
        if not self.finished or not self.typed_qkv or self.softmax or self.scale != 1:
            return False
        if self.parts:
            return False
        Q, K, V = (self.matrices[name].values for name in "QKV")
        if Q.ndim != 2 or "W_O" in self.matrices or self.fill != TRUE_MASK:
            return False
        if not K.shape == V.shape == (len(K), len(K) * self.heads):
            return False
        one = np.tile(np.eye(len(K)), self.heads)
        if not (np.array_equal(K, one) and np.array_equal(V, one)):
            return False
        A = Q.reshape(len(Q), self.heads, -1)  # (n_q, heads, n_k)
        sums = A.sum(axis=-1)
        whole = (Q >= 0).all() and (Q <= 1).all()
        whole &= ((np.abs(sums - 1) <= ROUNDED) | (sums == 0)).all()
        whole |= captured_head(self.matrices) is not None  # of a model, whose sinks take a share
        return bool(whole and (A.any(axis=1) <= allowed(self)).all())

    @property
    def batch(self) -> int:
        """How many sequences there are; 0 where there is no batch axis."""
        first = self.matrices["Q" if self.typed_qkv else "X"]
        return first.shape[0] if len(first.shape) == 3 else 0

    @property
    def key_tokens(self) -> tuple[str, ...]:
        return self.memory_tokens or self.tokens

    @property
    def d_model(self) -> int | None:
        return None if self.typed_qkv else self.shape("X")[1]

    @property
    def d_k(self) -> int:
        """Of one head."""
        return self.shape("Q" if self.typed_qkv else "W_Q")[1] // self.heads

    @property
    def kv_heads(self) -> int:
        """How many heads of keys and values there are: the columns of K say it."""
        keys = self.shape("K" if self.typed_qkv else "W_K")[1]
        shared = self.d_k and not keys % self.d_k and keys // self.d_k
        return shared if shared and not self.heads % shared else self.heads

    @property
    def d_v(self) -> int:
        """Of one head."""
        return self.shape("V" if self.typed_qkv else "W_V")[1] // self.kv_heads

    @property
    def possible_heads(self) -> list[int]:
        """The numbers of heads that all widths divide into; heads of keys and values may be fewer,
        where these have fewer columns.
        """
        names = "QKV" if self.typed_qkv else ("W_Q", "W_K", "W_V")
        q, k, v = (self.shape(name)[1] for name in names)
        if q % k:  # not of one width
            q = k
        shared = q // k  # heads of queries for each of keys and values
        common = math.gcd(k, v)
        return [shared * g for g in range(1, common + 1) if common % g == 0]

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of real layers that are in use, by their names in ``vocabulary/parts.py``."""
        using = {name for name in PARTS if getattr(self, name) != getattr(Settings, name)}
        using |= {SIGMOID} if self.softmax == SIGMOID else set()
        using |= {"kv_heads"} if self.kv_heads < self.heads else set()
        using |= {"positions"} if "P" in self.matrices else set()
        using |= {"relative"} if "R" in self.matrices else set()
        using |= {"biases"} if self.matrices.keys() & set(BIASES) else set()
        return tuple(name for name in REAL_PARTS if name in using)

    def with_matrix(self, name: str, matrix: Matrix) -> Settings:
        return replace(self, matrices={**self.matrices, name: matrix})


class TooManyTokens(BadInput):
    """There are more tokens than a board shows.

    ``settings`` are those that were refused for this alone, where Long context can take their
    attention along; None where it cannot, and ``left`` names what it has no place for.

    >>> print(TooManyTokens(600))
    600 tokens are too many for this page, which shows up to 512.
    >>> "no place for a drawn mask and W_O." in str(TooManyTokens(600, ["a drawn mask", "W_O"]))
    True
    """

    def __init__(
        self, count: int, left: Sequence[str] = (), settings: Settings | None = None
    ) -> None:
        said = f"{count:,} tokens are too many for this page, which shows up to {MAX_TOKENS:,}"
        said += f", and Long context has no place for {in_words(left)}" if left else ""
        super().__init__(f"{said}.")
        self.settings = settings


def _rebuild(fields: dict) -> Settings:
    return Settings(**fields)


def allowed(settings: Settings) -> np.ndarray:
    """(n_q, n_k), True where the query may look at the key: the mask, the window and the padding
    together.
    """
    n_q, n_k = len(settings.tokens), len(settings.key_tokens)
    base = (
        np.array(settings.drawn, bool) if settings.mask == DRAWN else MASKS[settings.mask](n_q, n_k)
    )
    if settings.window:
        base = base & window(n_q, n_k, settings.window, past(settings))
    return base.reshape(n_q, n_k) & real_keys(settings)


def past(settings: Settings) -> int:
    """How many keys stand before the first query, where the mask is aligned at the last ones."""
    from_the_end = settings.mask == "causal_lower_right"
    return len(settings.key_tokens) - len(settings.tokens) if from_the_end else 0


def by_slopes(settings: Settings) -> np.ndarray | None:
    """(h, n_q, n_k), what ALiBi adds to the scores; None where it is off."""
    n_q, n_k = len(settings.tokens), len(settings.key_tokens)
    return alibi(n_q, n_k, settings.heads, past(settings)) if settings.alibi else None


def relative(settings: Settings) -> RelativeBias | None:
    """T5's bias by distance; None where there is no table of it."""
    if "R" not in settings.matrices:
        return None
    ways = settings.bidirectional, settings.max_distance, past(settings)
    return RelativeBias(settings.matrices["R"].values, *ways)


def added(settings: Settings) -> np.ndarray | None:
    """(h, n_q, n_k), what ALiBi and the relative bias add to the scores; None without them."""
    slopes, table = by_slopes(settings), relative(settings)
    if table is None:
        return slopes
    shape = settings.heads, len(settings.tokens), len(settings.key_tokens)
    by_distance = np.broadcast_to(table.of(shape, np.dtype(np.float64)), shape)
    return by_distance if slopes is None else slopes + by_distance


def real_keys(settings: Settings) -> np.ndarray:
    """(n_k,), False where the key is padding."""
    real = np.ones(len(settings.key_tokens), bool)
    real[list(settings.padding)] = False
    return real


def bounds(s: Settings) -> dict[str, tuple[int, int]]:
    """The least and the most of each whole number that only says what is looked at or sampled."""
    return {
        "item": (0, max(s.batch - 1, 0)),
        "head": (0, s.heads - 1),
        "query": (0, len(s.tokens) - 1),
        "digits": (0, MAX_DIGITS),
        "step": (0, LAST_STEP),
        "exercise_seed": (0, MAX_EXERCISE),
        "sample_d_k": (1, MAX_SAMPLE_D_K),
        "samples": (10, MAX_SAMPLES),
    }


def projected_size(s: Settings) -> int:
    """Bytes of Q, K and V of one item, of all heads."""
    rows, keys = len(s.tokens) * s.heads, len(s.key_tokens) * s.kv_heads
    return 8 * (rows * s.d_k + keys * (s.d_k + s.d_v))


def as_drawn(mask: np.ndarray) -> tuple[tuple[bool, ...], ...]:
    """Return a mask, (n_q, n_k), as the settings hold it; refuse one that is too large for that."""
    check_drawn(*mask.shape)
    return tuple(tuple(bool(c) for c in row) for row in mask)


def check_drawn(n_q: int, n_k: int) -> None:
    """Refuse a mask of more tokens than can be drawn cell by cell."""
    if max(n_q, n_k) > MAX_TOKENS:
        raise TooManyTokens(max(n_q, n_k), [DRAWN_MASK])


LOOKS = (
    "query",
    "cell",
    "digits",
    *PRINTED,
    *SAMPLING,
    *GUIDED,
    *EXERCISE,
)  # of settings, no number


def alone(s: Settings) -> Settings:
    """The settings with nothing beside them."""
    return replace(s, pinned=None, mistake="")


def seen_alike(one: Settings, other: Settings) -> bool:
    """Whether the two differ at most in what is looked at."""
    looks = {name: getattr(one, name) for name in LOOKS}
    return replace(other, **looks) == one


KINDS = {"made": "By hand", "state": "Your numbers", "mistake": "Find the mistake"}
