"""The state of the dashboard in one record: what the person gave, and what they look at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from attention.limits import MAX_DIGITS, MAX_SAMPLE_D_K, MAX_SAMPLES
from attention.masks import MASKS
from attention.norms import RMSNorm
from attention.paper import Paper
from attention.rotary import Rotary
from attention.session.matrix import Matrix, Rows
from attention.session.origin import Origin
from attention.stages import BIASES

DRAWN = "drawn"
ROUNDED = 0.02  # how far a row of printed weights may be from 1
MATRICES = ("X", "memory", "W_Q", "W_K", "W_V", "W_O", "Q", "K", "V", "P", *BIASES)  # of them
PARTS = ("norm", "rotary")  # of real layers, which have records of their own
PRINTED = ("paper", "paper_stages", "paper_heads")  # what a figure for a paper shows, and how
COMPARED = ("pinned", "mistake")  # what the page Compare puts beside all else
LAST_STEP = 8  # of the guided way, counted from 1
GUIDED = ("step",)  # where one is on the guided way
EXERCISE = ("exercise", "exercise_seed", "asked", "answers", "tries")  # on the page Exercises
MAX_NUMBER = 9999  # of an exercise that is made by its number
SAMPLING = ("sample_d_k", "samples", "distribution", "sample_seed")  # what Why √d_k draws


@dataclass(frozen=True)
class Settings:
    """Everything a link, a session or an export has to hold to show the same page again.

    ``matrices`` holds X, W_Q, W_K, W_V (with memory, W_O, the positions P and the biases where
    they are used), or Q, K, V themselves; these may have a batch axis in front.
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
    fill: str = "-inf"  # what hidden cells get: "-inf", or "-1e9" added as the tutorials do
    softmax: bool = True
    norm: RMSNorm | None = None  # of Q and K
    rotary: Rotary | None = None
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

    step: int = 1  # of the guided way on the page Learn

    exercise: str = "made"  # on the page Exercises: a name in KINDS of exercise.py
    exercise_seed: int = 1  # 0: each pupil types a number
    asked: tuple[str, ...] = ()  # places that are blank; () for the output of one query
    answers: tuple[str, ...] = ()  # as typed, one for each blank, "" where nothing was
    tries: tuple[int, ...] = ()  # that were wrong

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

    def rows_of(self, name: str) -> Rows | None:
        """The words behind the rows of embeddings; None for other matrices."""
        tokens = {"X": self.tokens, "memory": self.memory_tokens}.get(name)
        return Rows(tokens, self.tokens + self.memory_tokens) if tokens else None

    @property
    def origins(self) -> dict[str, Origin]:
        """Where the inputs came from that a person brought; the mask's under "mask"."""
        found = {name: m.origin for name, m in self.matrices.items() if m.origin}
        mask = {"mask": self.drawn_from} if self.drawn_from and self.mask == DRAWN else {}
        return found | mask

    @property
    def typed_qkv(self) -> bool:
        """Whether Q, K and V are given themselves, without embeddings and weights."""
        return "Q" in self.matrices

    @cached_property
    def weights_alone(self) -> bool:
        """Whether these still are the finished weights that were brought, which stand alone: Q is
        they, K and V are 1, nothing is scaled or normalised, and what is hidden is 0.
        """
        if not self.finished or not self.typed_qkv or self.softmax or self.scale != 1:
            return False
        if self.norm or self.rotary:
            return False
        Q, K, V = (self.matrices[name].values for name in "QKV")
        if Q.ndim != 2 or "W_O" in self.matrices or self.fill != "-inf":
            return False
        one = np.tile(np.eye(len(K)), self.heads)
        if not (np.array_equal(K, one) and np.array_equal(V, one)):
            return False
        A = Q.reshape(len(Q), self.heads, -1)  # (n_q, heads, n_k)
        sums = A.sum(axis=-1)
        shares = (Q >= 0).all() and (Q <= 1).all()
        whole = ((np.abs(sums - 1) <= ROUNDED) | (sums == 0)).all()
        return bool(shares and whole and (A.any(axis=1) <= allowed(self)).all())

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
        return self.shape("K" if self.typed_qkv else "W_K")[1] // self.heads

    @property
    def d_v(self) -> int:
        """Of one head."""
        return self.shape("V" if self.typed_qkv else "W_V")[1] // self.heads

    @property
    def possible_heads(self) -> list[int]:
        """The numbers of heads that both widths divide into."""
        widths = [self.shape(name)[1] for name in ("KV" if self.typed_qkv else ("W_K", "W_V"))]
        common = math.gcd(*widths)
        return [h for h in range(1, common + 1) if common % h == 0]

    def with_matrix(self, name: str, matrix: Matrix) -> Settings:
        return replace(self, matrices={**self.matrices, name: matrix})


def _rebuild(fields: dict) -> Settings:
    return Settings(**fields)


def allowed(settings: Settings) -> np.ndarray:
    """(n_q, n_k), True where the query may look at the key: the mask and the padding together."""
    n_q, n_k = len(settings.tokens), len(settings.key_tokens)
    base = (
        np.array(settings.drawn, bool) if settings.mask == DRAWN else MASKS[settings.mask](n_q, n_k)
    )
    return base.reshape(n_q, n_k) & real_keys(settings)


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
        "step": (1, LAST_STEP),
        "exercise_seed": (0, MAX_NUMBER),
        "sample_d_k": (1, MAX_SAMPLE_D_K),
        "samples": (10, MAX_SAMPLES),
    }


def as_drawn(mask: np.ndarray) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(bool(c) for c in row) for row in mask)
