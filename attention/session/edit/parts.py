"""Biases, positions, the norm and rotation of Q and K, a bias by distance: put there, taken away,
made to fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attention.core.norms import RMSNorm
from attention.core.positions import sinusoidal
from attention.core.rotary import Rotary
from attention.limits import BadInput
from attention.session.state.matrix import Matrix, Recipe, are_waves
from attention.session.state.settings import Settings
from attention.vocabulary.sentences import in_words
from attention.vocabulary.stages import BIASES

DRAWN_BIAS = Recipe("integers", 1, -2, 3)
FIRST_BUCKETS, FIRST_TABLE, FURTHEST = 8, 5, Settings.max_distance  # rows, seed, places
GIVEN = "Q, K and V are entered directly here, so there is nothing to add {} to."


def widths(s: Settings) -> dict[str, int]:
    """How many numbers each bias has that there is room for.

    >>> from attention.session.state.examples import EXAMPLES
    >>> widths(EXAMPLES["four-words"].build())
    {'b_Q': 4, 'b_K': 4, 'b_V': 4}
    """
    weights = {name: f"W_{name[-1]}" for name in BIASES}
    return {name: s.shape(W)[1] for name, W in weights.items() if W in s.matrices}


def set_biases(s: Settings, on: bool) -> Settings:
    """Add random biases to Q, K, V, and to the output where there is W_O; or take all away."""
    matrices = {name: M for name, M in s.matrices.items() if name not in BIASES}
    if on and not widths(s):
        raise BadInput(GIVEN.format("biases"))
    s = replace(s, matrices=matrices)
    added = {name: Matrix(np.zeros((1, width))) for name, width in widths(s).items() if on}
    s = replace(s, matrices={**s.matrices, **added})
    return draw_biases(s, DRAWN_BIAS.seed)


def draw_biases(s: Settings, seed: int | None) -> Settings:
    """With the biases drawn by a seed, each a stream of its own; without a seed they are 0."""
    for name in s.matrices.keys() & set(BIASES):
        width = s.shape(name)[1]
        recipe = replace(DRAWN_BIAS, seed=seed or 0).of(name)
        rolled = Matrix.rolled((1, width), recipe)
        s = s.with_matrix(name, Matrix(np.zeros((1, width))) if seed is None else rolled)
    return s


def seed_of_biases(s: Settings) -> int | None:
    """The seed that drew them; None where they are 0, or were typed."""
    there = [s.matrices[name] for name in BIASES if name in s.matrices]
    seeds = {M.recipe.seed if M.recipe and M.is_rolled else None for M in there}
    return seeds.pop() if len(seeds) == 1 else None


def biases_are_zero(s: Settings) -> bool:
    return not any(s.matrices[name].values.any() for name in BIASES if name in s.matrices)


def filled_biases(s: Settings, kind: str) -> Settings:
    """Random biases, or such that are 0; any other kind leaves them as they are."""
    if kind not in ("random", "zero"):
        return s
    return draw_biases(s, DRAWN_BIAS.seed if kind == "random" else None)


def set_positions(s: Settings, on: bool) -> Settings:
    """Add sinusoidal positions to X, or none."""
    if not on:
        matrices = {name: M for name, M in s.matrices.items() if name != "P"}
        return replace(s, matrices=matrices)
    if s.typed_qkv:
        raise BadInput(GIVEN.format("positions"))
    return s.with_matrix("P", Matrix(sinusoidal(*s.shape("X"))))


def set_relative(s: Settings, on: bool) -> Settings:
    """Add a random number for each distance to the scores, or none."""
    matrices = {name: M for name, M in s.matrices.items() if name != "R"}
    s = replace(s, matrices=matrices, bidirectional=True, max_distance=FURTHEST)
    table = Matrix(np.zeros((FIRST_BUCKETS, s.heads)))
    return draw_relative(s.with_matrix("R", table), FIRST_TABLE) if on else s


def draw_relative(s: Settings, seed: int) -> Settings:
    """With the table drawn by a seed."""
    recipe = replace(DRAWN_BIAS, seed=seed).of("R")
    return s.with_matrix("R", Matrix.rolled(s.shape("R"), recipe))


def seed_of_relative(s: Settings) -> int | None:
    """The seed that drew the table; None where it was typed or brought."""
    R = s.matrices["R"]
    return R.recipe.seed if R.recipe and R.is_rolled else None


def set_buckets(s: Settings, buckets: int) -> Settings:
    """So many rows of the table; numbers that have room stay, and near keys have one each."""
    least = 4 if s.bidirectional else 2
    buckets = max(buckets - buckets % 2, least)
    R = s.matrices["R"].resized(buckets, s.shape("R")[1], "R")
    return set_furthest(s.with_matrix("R", R), s.max_distance)


def set_sides(s: Settings, both: bool) -> Settings:
    """Whether keys ahead of the query have rows of their own."""
    return set_buckets(replace(s, bidirectional=both), s.shape("R")[0])


def set_furthest(s: Settings, distance: int) -> Settings:
    """From where on all keys of a side share a row."""
    return replace(s, max_distance=max(distance, nearest_end(s)))


def nearest_end(s: Settings) -> int:
    """The least furthest distance: each near key has a row of its own."""
    rows = s.shape("R")[0]
    return (rows // 2 if s.bidirectional else rows) // 2 + 1


def set_norm(s: Settings, on: bool) -> Settings:
    return replace(s, norm=RMSNorm() if on else None)


def set_gains(s: Settings, on: bool) -> Settings:
    """Gains of 1 for each column of a head, or none."""
    gain = (1.0,) * s.d_k if on else None
    return _normed(s, gain_Q=gain, gain_K=gain)


def set_gain(s: Settings, name: str, gain: tuple[float, ...]) -> Settings:
    """The gain of Q or of K, one number for each column of a head, or of all heads."""
    try:
        s = _normed(s, **{f"gain_{name}": gain})
        if s.norm:
            s.norm.gains(name, s.d_k, s.heads if name == "Q" else s.kv_heads)
    except ValueError as problem:
        raise BadInput(str(problem)) from None
    return s


def set_rotary(s: Settings, on: bool) -> Settings:
    """Turn as many columns as there are pairs, or none."""
    if on and s.d_k == 1:
        raise BadInput(
            "a head of Q and K has one column; rotary positions rotate pairs of columns."
        )
    width = None if s.d_k % 2 == 0 else s.d_k - 1
    return replace(s, rotary=Rotary(width=width) if on else None)


def turned(s: Settings, **more: Any) -> Settings:
    """With the rotation made otherwise; angles that were given go with another width or base."""
    if s.rotary is None:
        return s
    if more.keys() & {"width", "base"}:
        more["frequencies"] = None
    if more.get("width") == s.d_k:
        more["width"] = None
    return replace(s, rotary=replace(s.rotary, **more))


def normed(s: Settings, **more: Any) -> Settings:
    """With the norm made otherwise."""
    return _normed(s, **more)


def _normed(s: Settings, **more: Any) -> Settings:
    return s if s.norm is None else replace(s, norm=replace(s.norm, **more))


def positions_for(P: Matrix, n: int, d_model: int) -> Matrix:
    """P for as many positions and columns: the waves stay waves, other numbers stay where they are,
    and new ones are those of the waves.
    """
    new = sinusoidal(n, d_model)
    if not are_waves(P):
        rows, columns = min(n, P.shape[0]), min(d_model, P.shape[1])
        new[:rows, :columns] = P.values[:rows, :columns]
    return P.with_values(new)


# ---- made to fit ---------------------------------------------------------------------------------


def fitted(before: Settings, s: Settings) -> tuple[Settings, list[str]]:
    """The settings after a change, with biases, positions, norm and rotation that fit the sizes of
    now; and what had to change, in sentences.
    """
    if not (s.norm or s.rotary or s.matrices.keys() & {"P", "R", *BIASES}):
        return s, []
    if s.heads < 1 or s.heads not in s.possible_heads:
        return s, []  # which is refused
    said: list[str] = []
    for step in (_fit_matrices, _fit_gains, _fit_rotation):
        s, more = step(before, s)
        said += more
    return s, said


def _fit_matrices(before: Settings, s: Settings) -> tuple[Settings, list[str]]:
    """Biases, positions, and the table of distances; what has nothing to be added to is gone."""
    there, said, gone = widths(s), [], []
    for name in (name for name in ("P", "R", *BIASES) if name in s.matrices):
        wanted = (1, there.get(name, 0))
        if name == "R":
            wanted = s.shape(name)[0], s.heads
        if name == "P":
            wanted = (0, 0) if s.typed_qkv else s.shape("X")
        rows, columns = wanted
        if not columns:
            gone.append(name)
        elif s.shape(name) != wanted:
            M = s.matrices[name]
            fits = positions_for(M, *wanted) if name == "P" else M.resized(*wanted, name)
            s = s.with_matrix(name, fits)
            why = "with a column for each head" if name == "R" else "like the matrix it is added to"
            said.append(f"{name} is now {rows} × {columns}, {why}.")
    if gone:
        s = replace(s, matrices={name: M for name, M in s.matrices.items() if name not in gone})
        has, is_ = ("has", "is") if len(gone) == 1 else ("have", "are")
        said.append(f"{in_words(gone)} {has} nothing to be added to, and {is_} removed.")
    return s, said


def _fit_gains(before: Settings, s: Settings) -> tuple[Settings, list[str]]:
    said = []
    for name, heads in (("Q", s.heads), ("K", s.kv_heads)):
        given: Any = getattr(s.norm, f"gain_{name}", None)
        if given is None or len(given) in (s.d_k, heads * s.d_k):
            continue
        gain = (given * s.d_k)[: s.d_k] if not s.d_k % len(given) else given[: s.d_k]
        gain += (1.0,) * (s.d_k - len(gain))
        s = set_gain(s, name, gain)
        said.append(f"The gain of {name} now has {s.d_k} numbers, one for each column of a head.")
    return s, said


def _fit_rotation(before: Settings, s: Settings) -> tuple[Settings, list[str]]:
    rotary, d_k = s.rotary, s.d_k
    if rotary is None:
        return s, []
    if d_k == 1:
        s = replace(s, rotary=None)
        return s, ["A head of one column has no pair to rotate: rotary positions are off."]
    given: Any = rotary.frequencies
    width = d_k if rotary.width is None else rotary.width
    width = 2 * len(given) if given is not None else width
    if width <= d_k and width % 2 == 0:
        widens = before.rotary == rotary and given is None and width == before.d_k - 1
        return (turned(s, width=d_k // 2 * 2) if widens else s), []
    width = min(width, d_k) // 2 * 2
    cut = None if given is None else given[: width // 2]
    rotary = replace(rotary, width=None if width == d_k else width, frequencies=cut)
    columns = f"the first {width} of {d_k}" if width < d_k else f"all {d_k}"
    return replace(s, rotary=rotary), [
        f"Rotary positions now rotate {columns} columns of a head, as they rotate pairs."
    ]
