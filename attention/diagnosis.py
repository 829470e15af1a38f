"""Why does mine differ? The known deviations, alone and in pairs, tried on the same inputs until they give the same numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np

from attention.arrays import as_floats, check_mask, check_positive, check_shapes
from attention.deviations import Bench, Deviation, Given, gap, grouped, less, reach
from attention.heads import project, split_heads
from attention.layouts import repeat_heads

HALF = 2.0**-11  # half of float16's last place, relatively
SINGLE = 2.0**-24


@dataclass(frozen=True, eq=False)
class Explanation:
    """Some deviations, what they leave unexplained, and where they begin to show."""

    deviations: tuple[Deviation, ...]
    error: float  # the largest difference between their numbers and these
    digits: int  # how many digits agree
    stage: str | None  # the first stage that is another than ours
    ours: np.ndarray | None  # that stage, in right attention
    theirs: np.ndarray | None  # and with these deviations

    @property
    def difference(self) -> np.ndarray | None:
        """Theirs less ours, at the first stage that differs; None where even the shape is another."""
        if self.stage is None or self.ours.shape != self.theirs.shape:
            return None
        return less(self.theirs, self.ours)

    def __str__(self) -> str:
        return ", and ".join(d.title for d in self.deviations) or "no deviation at all"


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What explains the numbers: every set of the fewest deviations that does, the nearest first; empty where none does."""

    explanations: tuple[Explanation, ...]
    closest: Explanation
    unseen: tuple[Deviation, ...]  # would change nothing in these numbers, so they may be there as well
    tried: int  # how many sets
    answers: dict[str, tuple[np.ndarray, np.ndarray]]  # "output", "weights": the numbers given, and ours in their shape

    @property
    def correct(self) -> bool:
        return bool(self.explanations) and not self.explanations[0].deviations

    def __str__(self) -> str:
        """The answer in a few sentences."""
        if not self.explanations:
            return (
                f"None of the known deviations explains these numbers, nor do any two of them ({self.tried} combinations"
                f" tried). The closest is {self.closest}; it is off by up to {self.closest.error:.3g}."
            )
        first, *others = self.explanations
        if self.correct:
            return f"These numbers are right, to {_digits(first.digits)}."
        if others:
            found = "; or ".join(map(str, self.explanations))
            text = f"These explain the numbers equally well, and the numbers cannot tell which: {found}."
        else:
            text = f"{str(first)[:1].upper()}{str(first)[1:]}. With that, all numbers agree to {_digits(first.digits)}"
            text += f"; the first difference is in {first.stage}." if first.stage else "."
        return " ".join([text, *(d.fix for d in first.deviations)])


def diagnose(Q=None, K=None, V=None, *, output=None, weights=None, **more) -> Diagnosis:
    """Say which known deviation, or which two, turn right attention into these numbers.

    Parameters
    ----------
    Q, K, V : array_like, (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v)
        Or ``X``, ``W_Q``, ``W_K``, ``W_V`` (and ``memory``, ``W_O``) as in :func:`attention.self_attention`.
    output : array_like, (…, n_q, d_v), with heads also (…, n_q, h · d_v)
    weights : array_like, (…, n_q, n_k), for several heads also their mean
        What the other code answers: one of the two, or both.
    heads, kv_heads : int
        Q, K and V hold that many heads side by side: (…, n, h · d). Default: 1. Fewer ``kv_heads`` serve several each.
    allowed, scale, softcap :
        As the other code means them: see :func:`attention.scaled_dot_product_attention`.

    Raises
    ------
    ValueError, TypeError
        One sentence that names the argument, what came and what is allowed.

    >>> Q = K = V = np.eye(2)
    >>> print(diagnose(Q, K, V, weights=[[0.7311, 0.2689], [0.2689, 0.7311]]))
    The scores are not scaled. With that, all numbers agree to 4 digits; the first difference is in scaled. Multiply \
the scores by 1/√d_k before the mask and the softmax.
    """
    return search(Bench(checked(Q=Q, K=K, V=V, **more)), output=output, weights=weights)


def search(bench: Bench, *, output=None, weights=None) -> Diagnosis:
    """:func:`diagnose` for inputs that already stand on the bench."""
    targets = _targets(bench, output=output, weights=weights)
    stored = all(_is_half(target.values) for target in targets)
    tried: dict[tuple[Deviation, ...], float] = {}

    def explaining(sets) -> list[tuple[Deviation, ...]]:
        judged = {each: verdict for each in sets if (verdict := _judge(bench, each, targets))}
        tried.update((each, error) for each, (error, _) in judged.items())
        # half precision excuses much, so it has to show: in the numbers' type, or by bringing them nearer
        limit = math.inf if stored else min(error for each, error in tried.items() if not _in_half(each)) / 4
        return [each for each, (error, fits) in judged.items() if fits and (not _in_half(each) or error <= limit)]

    alone = [(d,) for d in bench.applicable]
    pairs = [pair for pair in combinations(bench.applicable, 2) if pair[0].slot != pair[1].slot]
    found = _nearest(explaining([()]) or explaining(alone), tried)
    if not found or _in_half(found[0]):  # is there a nearer pair?
        two = _nearest(explaining(pairs), tried)
        found = two if two and (not found or tried[two[0]] < tried[found[0]] / 4) else found
    count = len(tried)
    unseen = _unseen(found[0], bench, explaining) if found and len(found[0]) < 2 else ()
    closest = found[0] if found else _closest(tried)
    about = {each: _explanation(bench, each, tried[each], targets) for each in {*found, closest}}
    answers = {t.name: (t.values, _nearest_view(bench, t, bench.right)) for t in targets}
    return Diagnosis(tuple(about[each] for each in found), about[closest], unseen, count, answers)


def _nearest(found, tried) -> list[tuple[Deviation, ...]]:
    """The nearest first, and only those about as near: the others fit by the tolerance alone."""
    found = sorted(found, key=tried.__getitem__)
    return [each for each in found if tried[each] <= max(10 * tried[found[0]], 1e-9)]


def _closest(tried) -> tuple[Deviation, ...]:
    """The fewest deviations among those about as near as the nearest."""
    least = min(tried.values())
    return min(tried, key=lambda each: (tried[each] > 1.5 * least, len(each), tried[each]))


def _unseen(found, bench: Bench, explaining) -> tuple[Deviation, ...]:
    """What could be there beside ``found`` without showing: an all-True mask does not reveal how it is applied."""
    taken = {d.slot for d in found}
    also = explaining([(*found, d) for d in bench.applicable if d.slot not in taken])
    return tuple(each[-1] for each in also)


def _explanation(bench: Bench, deviations, error: float, targets) -> Explanation:
    largest = max(reach(t.values) for t in targets) or 1.0
    written = max(float(t.half_unit.max(initial=0)) for t in targets)
    uncertain = max(error, 2 * written if written > 1e-12 else 0.0, largest * 1e-16)
    digits = max(0, round(-math.log10(uncertain / largest))) if uncertain < math.inf else 0
    stage, theirs = bench.first_difference(deviations), bench.run(deviations)
    ours = bench.right.get(stage)
    return Explanation(deviations, error, digits, stage, ours, None if stage is None else theirs[stage])


def _digits(count: int) -> str:
    return f"{count} digit{'s' * (count != 1)}"


# ---- the other code's numbers, and how near is near enough -------------------------------------------


@dataclass(frozen=True, eq=False)
class _Target:
    name: str  # "output" or "weights"
    values: np.ndarray
    half_unit: np.ndarray  # what rounding them to be written down may have changed


def _targets(bench: Bench, **given) -> list[_Target]:
    targets = []
    for name, value in given.items():
        if value is None:
            continue
        values = as_floats(**{name: value})[0].astype(np.float64)
        shapes = {view.shape for view in bench.views(name, bench.right[name])}
        if values.shape not in shapes:
            wanted = " or ".join(map(str, sorted(shapes, key=len)))
            raise ValueError(f"{name} has shape {values.shape}; {wanted} is wanted for these inputs.")
        if not values.size:
            raise ValueError(f"{name} has shape {values.shape}; there is no number in it to compare.")
        targets.append(_Target(name, values, _half_unit(values)))
    if not targets:
        raise ValueError("neither output nor weights is given; give the numbers of the other code.")
    return targets


def _half_unit(values: np.ndarray) -> np.ndarray:
    """Half of the last place: of a few printed decimals, of float16, of float32, or else of float64."""
    values = np.where(np.isfinite(values), values, 0)
    size = np.abs(values)
    for decimals in range(1, 7) if (values % 1).any() else ():
        if gap(values.round(decimals), values).max() < 1e-12 * max(1, size.max()):
            return np.full(values.shape, 0.5000001 * 10.0**-decimals)
    if _is_half(values):
        return size * HALF + 2.0**-25
    with np.errstate(over="ignore"):
        return size * (SINGLE if (values.astype(np.float32) == values).all() else SINGLE**2)


def _is_half(values: np.ndarray) -> bool:
    with np.errstate(over="ignore"):
        return bool(((values.astype(np.float16) == values) | np.isnan(values)).all())


def _nearest_view(bench: Bench, target: _Target, stages) -> np.ndarray | None:
    """The stage in the shape of the target; None where it has none."""
    views = [view for view in bench.views(target.name, stages[target.name]) if view.shape == target.values.shape]
    return min(views, key=lambda view: gap(view, target.values).max(), default=None)


def _in_half(deviations) -> bool:
    return any(d.slot == "precision" for d in deviations)


def _judge(bench: Bench, deviations, targets) -> tuple[float, bool] | None:
    """The largest difference from the numbers, and whether rounding alone explains it; None where shapes do not fit."""
    stages = bench.run(deviations)
    if stages is None:
        return None
    unit = HALF if _in_half(deviations) else SINGLE
    error, fits = 0.0, True
    for target in targets:
        view = _nearest_view(bench, target, stages)
        if view is None:
            return None
        gaps = gap(view, target.values)
        error = max(error, float(gaps.max()))
        fits = fits and bool((gaps <= target.half_unit + _rounding(stages, target.name, unit)).all())
    return error, fits


def _rounding(stages, name: str, unit: float) -> float:
    """What arithmetic of that precision may lose: an error of the scores moves a weight by as much, relatively."""
    V = reach(stages["V"]) if name == "output" else 1.0
    return 4 * unit * (1 + reach(stages["scaled"])) * max(1.0, V, reach(stages[name]))


# ---- what came in ------------------------------------------------------------------------------------


def checked(**inputs) -> Given:
    """The inputs in float64, or one sentence about what is missing or does not fit."""
    g = Given(**inputs)
    wanted = ("X", "W_Q", "W_K", "W_V") if g.X is not None else ("Q", "K", "V")
    missing = [name for name in wanted if getattr(g, name) is None]
    if missing:
        raise ValueError(f"{' and '.join(missing)} is missing; give Q, K and V, or X, W_Q, W_K and W_V.")
    names = [*wanted, *(name for name in ("memory", "W_O") if getattr(g, name) is not None)]
    arrays = {name: as_floats(**{name: getattr(g, name)})[0].astype(np.float64) for name in names}
    for name in ("scale", "softcap"):
        if getattr(g, name) is not None:
            arrays[name] = check_positive(name, getattr(g, name))
    if g.allowed is not None:
        arrays["allowed"] = np.asarray(g.allowed)
    g = Given(**{f.name: arrays.get(f.name, getattr(g, f.name)) for f in fields(g)})
    _check_fit(g)
    return g


def _check_fit(g: Given) -> None:
    Q, K, V = g.Q, g.K, g.V
    if g.X is not None:
        source = g.X if g.memory is None else g.memory
        Q, K, V = project(g.X, g.W_Q, "W_Q"), project(source, g.W_K, "W_K"), project(source, g.W_V, "W_V")
    if g.heads != 1:
        kv_heads = g.kv_heads or g.heads
        Q, K, V = split_heads(Q, g.heads), split_heads(K, kv_heads), split_heads(V, kv_heads)
    if grouped(Q, K):
        K, V = repeat_heads(K, Q.shape[-3]), repeat_heads(V, Q.shape[-3])
    check_shapes(Q, K, V)
    if g.allowed is not None:
        lead = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
        check_mask(g.allowed, None, np.empty((*lead, Q.shape[-2], K.shape[-2])))
    if g.W_O is not None:
        project(np.empty((1, V.shape[-1] * g.heads)), g.W_O, "W_O")
