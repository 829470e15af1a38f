"""The state of the dashboard in one record: what the person gave, and what they look at."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from attention.heads import join_heads
from attention.inputs.matrices import LIMIT, MAX_SIDE, BadInput, Matrix, Recipe, brief
from attention.masks import MASKS
from attention.variance import DISTRIBUTIONS

MAX_TOKENS = 64
MAX_DIMENSION = 512
MAX_TOKEN_LENGTH = 40
MAX_CELLS = 2**21  # scores of all items and heads together
MAX_BATCH = 64
MAX_NUMBERS = 700_000  # of all matrices together, so that a saved state stays below 8 MB
DRAWN = "drawn"
SAMPLING = ("sample_d_k", "samples", "distribution", "sample_seed")  # what Why √d_k draws


@dataclass(frozen=True)
class Settings:
    """Everything a link, a session or an export has to hold to show the same page again.

    ``matrices`` holds X, W_Q, W_K, W_V (with memory and W_O where they are used), or Q, K, V themselves;
    these may have a batch axis in front.
    """

    example: str
    tokens: tuple[str, ...]
    matrices: Mapping[str, Matrix]
    memory_tokens: tuple[str, ...] = ()  # of the second sequence; () where there is none
    heads: int = 1
    scale: float | None = None  # what scores are multiplied by; None is 1/√d_k
    mask: str = "none"  # a name in MASKS, or DRAWN
    padding: tuple[int, ...] = ()  # keys hidden from every query
    drawn: tuple[tuple[bool, ...], ...] = ()  # (n_q, n_k), True = may look; used where mask is DRAWN
    fill: str = "-inf"  # what hidden cells get: "-inf", or "-1e9" added as the tutorials do
    softmax: bool = True
    context: bool = False  # also show the sum of the outputs
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)  # of the dimensions

    item: int = 0
    head: int = 0
    query: int = 0
    cell: tuple[str, int, int] | None = None
    digits: int = 2
    sample_d_k: int = 64
    samples: int = 1000
    distribution: str = "normal"
    sample_seed: int = 0

    def __post_init__(self):
        object.__setattr__(self, "matrices", MappingProxyType(dict(self.matrices)))

    def __reduce__(self):
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return _rebuild, ({**fields, "matrices": dict(self.matrices)},)

    def shape(self, name: str) -> tuple[int, int]:
        """(rows, columns) of a matrix, without its batch axis."""
        return self.matrices[name].shape[-2:]

    @property
    def typed_qkv(self) -> bool:
        """Whether Q, K and V are given themselves, without embeddings and weights."""
        return "Q" in self.matrices

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


def _rebuild(fields):
    return Settings(**fields)


def allowed(settings: Settings) -> np.ndarray:
    """(n_q, n_k), True where the query may look at the key: the mask and the padding together."""
    n_q, n_k = len(settings.tokens), len(settings.key_tokens)
    base = np.array(settings.drawn, bool) if settings.mask == DRAWN else MASKS[settings.mask](n_q, n_k)
    return base.reshape(n_q, n_k) & real_keys(settings)


def real_keys(settings: Settings) -> np.ndarray:
    """(n_k,), False where the key is padding."""
    real = np.ones(len(settings.key_tokens), bool)
    real[list(settings.padding)] = False
    return real


def check(settings: Settings) -> Settings:
    """The settings, with views pulled back inside what is there; or a sentence on what does not fit."""
    n_q, n_k = len(settings.tokens), len(settings.key_tokens)
    for word, tokens in (("token", settings.tokens), ("token of the second sequence", settings.memory_tokens)):
        if len(tokens) > MAX_TOKENS:
            raise BadInput(f"{len(tokens)} tokens are too many for this page; at most {MAX_TOKENS} fit.")
        for i, token in enumerate(tokens, 1):
            if not token.strip():
                raise BadInput(f"{word} {i} has no name; type a word.")
            if any(unicodedata.category(c) in ("Cc", "Cs") for c in token):
                raise BadInput(f"{word} {i} holds a line break or another character that cannot be shown.")
            if len(token) > MAX_TOKEN_LENGTH:
                raise BadInput(f"{word} {i} has {len(token)} characters; at most {MAX_TOKEN_LENGTH} fit.")
    if not n_q:
        raise BadInput("the table is empty; at least one token is needed.")
    if settings.mask != DRAWN and settings.mask not in MASKS:
        raise BadInput(f"there is no mask “{settings.mask}”; choose one of {', '.join([*MASKS, DRAWN])}.")
    if settings.scale is not None and not (0 < settings.scale <= 1e6):
        scale = brief(settings.scale)
        raise BadInput(f"the scale is {scale}; a positive number up to 1e6 is wanted.")
    if settings.fill not in ("-inf", "-1e9"):
        raise BadInput(f"hidden cells cannot get “{settings.fill}”; choose -inf or -1e9.")
    if settings.distribution not in DISTRIBUTIONS:
        known = ", ".join(DISTRIBUTIONS)
        raise BadInput(f"there is no distribution “{settings.distribution}” to sample from; choose one of {known}.")
    if not 0 <= settings.sample_seed < 2**32:
        raise BadInput(f"the sample seed is {settings.sample_seed}; whole numbers from 0 to 4294967295 are allowed.")
    _check_shapes(settings, n_q, n_k)
    if settings.mask == DRAWN and np.shape(settings.drawn) != (n_q, n_k):
        rows, columns = (np.shape(settings.drawn) + (0, 0))[:2]
        raise BadInput(f"the drawn mask is {rows} × {columns}; {n_q} queries × {n_k} keys are wanted.")
    if any(not 0 <= k < n_k for k in settings.padding):
        raise BadInput(f"padding names key {max(settings.padding) + 1}; there are {n_k} keys.")
    inside = {
        name: min(max(getattr(settings, name), least), most)
        for name, (least, most) in bounds(settings).items()
    }
    return replace(settings, **inside)


def bounds(s: Settings) -> dict[str, tuple[int, int]]:
    """The least and the most of each whole number that only says what is looked at or sampled."""
    return {
        "item": (0, max(s.batch - 1, 0)),
        "head": (0, s.heads - 1),
        "query": (0, len(s.tokens) - 1),
        "digits": (0, 10),
        "sample_d_k": (1, 1024),
        "samples": (10, 10_000),
    }


def _check_matrices(s: Settings) -> None:
    """Refuse matrices that do not belong together: one too many or too few, other batches, numbers out of bounds."""
    wanted = {"Q", "K", "V"} if s.typed_qkv else {"X", "W_Q", "W_K", "W_V"} | ({"memory"} if s.memory_tokens else set())
    given = set(s.matrices) - {"W_O"}
    if given != wanted:
        raise BadInput(f"the matrices {', '.join(sorted(wanted))} are wanted; {', '.join(sorted(given))} came.")
    numbers = sum(matrix.values.size for matrix in s.matrices.values())
    if numbers > MAX_NUMBERS:
        raise BadInput(f"these matrices hold {numbers:,} numbers; at most {MAX_NUMBERS:,} fit.")
    if s.batch > MAX_BATCH:
        raise BadInput(f"{s.batch} sequences are too many; at most {MAX_BATCH} fit.")
    for name, matrix in s.matrices.items():
        *lead, rows, columns = matrix.shape
        batch = (s.batch,) if s.batch and not name.startswith("W_") else ()
        if tuple(lead) != batch:
            raise BadInput(f"{name} has shape {matrix.shape}; {(*batch, rows, columns)} is wanted.")
        if not np.abs(matrix.values).max(initial=0) <= LIMIT:
            raise BadInput(f"{name} holds numbers beyond ±{LIMIT:g}, which this page does not take.")


def _check_shapes(s: Settings, n_q: int, n_k: int) -> None:
    _check_matrices(s)
    if s.typed_qkv:
        wanted = {"Q": (n_q, s.shape("K")[1]), "K": (n_k, s.shape("K")[1]), "V": (n_k, s.shape("V")[1])}
    else:
        d = s.shape("X")[1]
        wanted = {"X": (n_q, d), "memory": (n_k, d), "W_Q": (d, s.shape("W_K")[1]), "W_K": (d, s.shape("W_K")[1])}
        wanted["W_V"] = (d, s.shape("W_V")[1])
    width = wanted["V" if s.typed_qkv else "W_V"][1]
    for name, matrix in s.matrices.items():
        shape = wanted.get(name, (width, matrix.shape[-1]))
        if matrix.shape[-2:] != shape:
            (r, c), (a, b) = matrix.shape[-2:], shape
            raise BadInput(f"{name} is {r} × {c}; {a} × {b} is wanted.")
        if not 1 <= matrix.shape[-1] <= MAX_SIDE:
            raise BadInput(f"{name} has {matrix.shape[-1]} columns; 1 to {MAX_SIDE} are allowed.")
    widths = [s.shape(name)[1] for name in ("KV" if s.typed_qkv else ("W_K", "W_V"))]
    if s.heads < 1 or any(each % s.heads for each in widths):
        raise BadInput(
            f"{s.heads} heads do not divide the columns of the weights; choose {', '.join(map(str, s.possible_heads))}."
        )
    for name, size in (("d_model", s.d_model), ("d_k", s.d_k), ("d_v", s.d_v)):
        if size is not None and not 1 <= size <= MAX_DIMENSION:
            raise BadInput(f"{name} is {size}; 1 to {MAX_DIMENSION} are allowed.")
    cells = max(s.batch, 1) * s.heads * n_q * n_k
    if cells > MAX_CELLS:
        raise BadInput(f"{cells:,} scores are too many for this page; at most {MAX_CELLS:,} fit.")


# ---- changes a person makes; each returns new settings and touches nothing else -------------------


def set_dimension(s: Settings, name: str, size: int) -> Settings:
    """Change d_model, d_k or d_v; numbers that still fit stay where they are."""
    if not 1 <= size <= MAX_DIMENSION:
        raise BadInput(f"{name} is {size}; 1 to {MAX_DIMENSION} are allowed.")
    m, width = dict(s.matrices), size * s.heads

    def resize(key, rows=None, columns=None):
        if key in m:
            m[key] = m[key].resized(rows or m[key].shape[-2], columns or m[key].shape[-1])

    if name == "d_model":
        for key in ("X", "memory"):
            resize(key, columns=size)
        for key in ("W_Q", "W_K", "W_V"):
            resize(key, rows=size)
    elif name == "d_k":
        for key in ("W_Q", "W_K", "Q", "K"):
            resize(key, columns=width)
    else:
        for key in ("W_V", "V"):
            resize(key, columns=width)
        resize("W_O", rows=width)
    return replace(s, matrices=m)


def set_tokens(s: Settings, tokens: tuple[str, ...], keep: list[int | None], memory: bool = False) -> Settings:
    """Give the sequence new tokens; ``keep[i]`` is the old row that row i goes on with, None for a new one.

    Rows of X (or Q, K, V), the padding and a drawn mask follow their tokens. A new row is 0 and may look at all.
    """
    crossed = bool(s.memory_tokens)
    if not tokens:
        raise BadInput("the table is empty; at least one token is needed.")
    if len(tokens) > MAX_TOKENS:
        raise BadInput(f"{len(tokens)} tokens are too many for this page; at most {MAX_TOKENS} fit.")
    queries, keys = not memory, memory or not crossed
    names = ("memory", "K", "V") if memory else ("X", "Q") if crossed else ("X", "Q", "K", "V")
    matrices = {n: _rows(m, keep) if n in names else m for n, m in s.matrices.items()}
    changes = {"memory_tokens" if memory else "tokens": tokens, "matrices": matrices}
    if keys:
        changes["padding"] = tuple(i for i, old in enumerate(keep) if old in s.padding and old is not None)
    if s.mask == DRAWN:
        drawn = np.array(s.drawn, bool)
        for axis, follows in enumerate((queries, keys)):
            if follows:
                parts = [np.take(drawn, [o], axis) if o is not None else np.ones_like(np.take(drawn, [0], axis))
                         for o in keep]  # fmt: skip
                drawn = np.concatenate(parts, axis)
        changes["drawn"] = as_drawn(drawn)
    return replace(s, cell=None, **changes)


def _rows(matrix: Matrix, keep: list[int | None]) -> Matrix:
    *lead, _, d = matrix.shape
    values = np.zeros((*lead, len(keep), d))
    for i, old in enumerate(keep):
        if old is not None:
            values[..., i, :] = matrix.values[..., old, :]
    return Matrix(values, matrix.recipe, matrix.remark)


def as_drawn(mask: np.ndarray) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(bool(c) for c in row) for row in mask)


def set_mask(s: Settings, mask: str) -> Settings:
    """Choose a mask; a drawn one begins with what is allowed now."""
    return replace(s, mask=mask, drawn=as_drawn(allowed(replace(s, padding=()))) if mask == DRAWN else ())


def set_memory(s: Settings, on: bool) -> Settings:
    """Begin cross-attention with a copy of the sequence as its second one, or end it."""
    m = dict(s.matrices)
    if on:
        return replace(s, memory_tokens=s.tokens, matrices=m if s.typed_qkv else m | {"memory": m["X"]}, cell=None)
    m.pop("memory", None)
    n = len(s.tokens)
    if s.typed_qkv:
        m["K"], m["V"] = m["K"].resized(n, m["K"].shape[-1]), m["V"].resized(n, m["V"].shape[-1])
    s = replace(s, memory_tokens=(), matrices=m, padding=tuple(k for k in s.padding if k < n), cell=None)
    return set_mask(s, "none") if s.mask == DRAWN else s


def set_output_weights(s: Settings, on: bool) -> Settings:
    """Put W_O behind the joined heads, or take it away. It begins as the identity."""
    m = {name: matrix for name, matrix in s.matrices.items() if name != "W_O"}
    if on:
        width = s.d_v * s.heads
        m["W_O"] = Matrix.rolled((width, width), Recipe("identity"))
    return replace(s, matrices=m, cell=None)


def one_hot(s: Settings) -> Settings:
    """Embeddings that are all 0 but for a 1 at the token's own place; d_model becomes the number of tokens."""
    n = max(len(s.tokens), len(s.key_tokens))
    s = set_dimension(s, "d_model", n)
    m = {**s.matrices, "X": Matrix(np.eye(len(s.tokens), n))}
    if "memory" in m:
        m["memory"] = Matrix(np.eye(len(s.memory_tokens), n))
    return replace(s, matrices=m)


def start_from(s: Settings, qkv: bool, trace) -> Settings:
    """Begin with Q, K and V themselves, or with embeddings and weights; the numbers of every stage stay.

    From Q, K and V, one-hot embeddings make the weights equal to them: X W_Q = I Q = Q.
    """
    item = (lambda M: M[s.item]) if s.batch else (lambda M: M)
    if qkv:
        joined = join_heads if s.heads > 1 else (lambda M: M)
        m = {name: Matrix(joined(getattr(trace, name))) for name in "QKV"}
    elif s.memory_tokens:
        n_q, n_k = len(s.tokens), len(s.memory_tokens)
        Q, K, V = (item(s.matrices[name].values) for name in "QKV")
        m = {"X": Matrix(np.eye(n_q, n_q + n_k)), "memory": Matrix(np.eye(n_k, n_q + n_k, n_q))}
        m["W_Q"] = Matrix(np.vstack([Q, np.zeros((n_k, Q.shape[1]))]))
        m |= {f"W_{name}": Matrix(np.vstack([np.zeros((n_q, M.shape[1])), M])) for name, M in (("K", K), ("V", V))}
    else:
        m = {"X": Matrix(np.eye(len(s.tokens)))}
        m |= {f"W_{name}": Matrix(item(s.matrices[name].values)) for name in "QKV"}
    if "W_O" in s.matrices:
        m["W_O"] = s.matrices["W_O"]
    return replace(s, matrices=m, item=s.item if qkv else 0, cell=None)
