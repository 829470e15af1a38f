"""The changes a person makes: each takes settings and gives new ones, and touches nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.heads import join_heads
from attention.limits import (
    MAX_DIMENSION,
    MAX_TOKENS,
    BadInput,
)
from attention.session.matrix import Matrix, Recipe
from attention.session.settings import DRAWN, Settings, allowed, as_drawn
from attention.trace import AttentionTrace


def set_dimension(s: Settings, name: str, size: int) -> Settings:
    """Change d_model, d_k or d_v; numbers that still fit stay where they are."""
    if not 1 <= size <= MAX_DIMENSION:
        raise BadInput(f"{name} is {size}; 1 to {MAX_DIMENSION} are allowed.")
    m, width = dict(s.matrices), size * s.heads

    def resize(key: str, rows: int | None = None, columns: int | None = None) -> None:
        if key in m:
            shape = rows or m[key].shape[-2], columns or m[key].shape[-1]
            m[key] = m[key].resized(*shape, key)

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


def set_tokens(
    s: Settings, tokens: tuple[str, ...], keep: list[int | None], memory: bool = False
) -> Settings:
    """Give the sequence new tokens; ``keep[i]`` is the old row that row i goes on with, None for a
    new one.

    Rows of X (or Q, K, V), the padding and a drawn mask follow their tokens. A new row is 0 and may
    look at all.
    """
    crossed = bool(s.memory_tokens)
    if not tokens:
        raise BadInput("the table is empty; at least one token is needed.")
    if len(tokens) > MAX_TOKENS:
        raise BadInput(
            f"{len(tokens)} tokens are too many for this page; at most {MAX_TOKENS} fit."
        )
    queries, keys = not memory, memory or not crossed
    names = ("memory", "K", "V") if memory else ("X", "Q") if crossed else ("X", "Q", "K", "V")
    matrices = {n: _rows(m, keep) if n in names else m for n, m in s.matrices.items()}
    padding, drawn = s.padding, s.drawn
    if keys:
        padding = tuple(i for i, old in enumerate(keep) if old in s.padding and old is not None)
    if s.mask == DRAWN:
        cells = np.array(s.drawn, bool)
        for axis, follows in enumerate((queries, keys)):
            if follows:
                parts = [
                    (
                        np.take(cells, [old], axis)
                        if old is not None
                        else np.ones_like(np.take(cells, [0], axis))
                    )
                    for old in keep
                ]
                cells = np.concatenate(parts, axis)
        drawn = as_drawn(cells)
    return replace(
        s,
        tokens=s.tokens if memory else tokens,
        memory_tokens=tokens if memory else s.memory_tokens,
        matrices=matrices,
        padding=padding,
        drawn=drawn,
        cell=None,
    )


def _rows(matrix: Matrix, keep: list[int | None]) -> Matrix:
    *lead, _, d = matrix.shape
    values = np.zeros((*lead, len(keep), d))
    for i, old in enumerate(keep):
        if old is not None:
            values[..., i, :] = matrix.values[..., old, :]
    return Matrix(values, matrix.recipe, matrix.remark)


def set_mask(s: Settings, mask: str) -> Settings:
    """Choose a mask; a drawn one begins with what is allowed now."""
    return replace(
        s, mask=mask, drawn=as_drawn(allowed(replace(s, padding=()))) if mask == DRAWN else ()
    )


def set_memory(s: Settings, on: bool) -> Settings:
    """Begin cross-attention with a copy of the sequence as its second one, or end it."""
    m = dict(s.matrices)
    if on:
        return replace(
            s,
            memory_tokens=s.tokens,
            matrices=m if s.typed_qkv else m | {"memory": m["X"]},
            cell=None,
        )
    m.pop("memory", None)
    n = len(s.tokens)
    if s.typed_qkv:
        m |= {name: m[name].resized(n, m[name].shape[-1], name) for name in "KV"}
    s = replace(
        s, memory_tokens=(), matrices=m, padding=tuple(k for k in s.padding if k < n), cell=None
    )
    return set_mask(s, "none") if s.mask == DRAWN else s


def set_output_weights(s: Settings, on: bool) -> Settings:
    """Put W_O behind the joined heads, or take it away. It begins as the identity."""
    m = {name: matrix for name, matrix in s.matrices.items() if name != "W_O"}
    if on:
        width = s.d_v * s.heads
        m["W_O"] = Matrix.rolled((width, width), Recipe("identity"))
    return replace(s, matrices=m, cell=None)


def one_hot(s: Settings) -> Settings:
    """Embeddings that are all 0 but for a 1 at the token's own place; d_model becomes the number of
    tokens.
    """
    n = max(len(s.tokens), len(s.key_tokens))
    s = set_dimension(s, "d_model", n)
    m = {**s.matrices, "X": Matrix(np.eye(len(s.tokens), n))}
    if "memory" in m:
        m["memory"] = Matrix(np.eye(len(s.memory_tokens), n))
    return replace(s, matrices=m)


def start_from(s: Settings, qkv: bool, trace: AttentionTrace) -> Settings:
    """Begin with Q, K and V themselves, or with embeddings and weights; the numbers of every stage
    stay.

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
        m |= {
            f"W_{name}": Matrix(np.vstack([np.zeros((n_q, M.shape[1])), M]))
            for name, M in (("K", K), ("V", V))
        }
    else:
        m = {"X": Matrix(np.eye(len(s.tokens)))}
        m |= {f"W_{name}": Matrix(item(s.matrices[name].values)) for name in "QKV"}
    if "W_O" in s.matrices:
        m["W_O"] = s.matrices["W_O"]
    return replace(s, matrices=m, item=s.item if qkv else 0, cell=None)
