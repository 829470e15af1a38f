"""Why does mine differ? The known deviations, alone and in pairs, tried on the same inputs until they give the same numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from itertools import combinations

import numpy as np

from attention.arrays import as_floats, as_mask, check_lead, check_mask, check_positive, check_shapes
from attention.frameworks.mistakes import DEVIATIONS, Bench, Deviation, Given, gap, grouped, less, reach
from attention.heads import before_heads, project, split_heads
from attention.layouts import repeat_heads

BFLOAT = 2.0**-8  # bfloat16's last place, relatively; half of it for the other two
HALF = 2.0**-11
SHORT = 2e-5  # numbers printed as short as that do not show in which type they were computed
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
    """What explains the numbers: the sets of the fewest deviations that do, about equally near; empty where none does."""

    explanations: tuple[Explanation, ...]
    closest: Explanation
    unseen: tuple[Deviation, ...]  # would change nothing in these numbers, so they may be there as well
    tried: int  # how many sets
    answers: dict[
        str, tuple[np.ndarray, ...]
    ]  # "output", "weights": the numbers given, ours in their shape, the difference

    @property
    def correct(self) -> bool:
        return bool(self.explanations) and not self.explanations[0].deviations

    def _each(self) -> str:
        """Where both were given: how far each is from right attention."""
        off = [f"the {name} by up to {reach(difference):.3g}" for name, (*_, difference) in self.answers.items()]
        return f" Next to right attention, {' and '.join(off)}." if len(off) > 1 else ""

    def __str__(self) -> str:
        """The answer in a few sentences."""
        if not self.explanations:
            return (
                f"None of the known deviations explains these numbers, nor do any two of them ({self.tried} combinations"
                f" tried). The closest is {self.closest}; it is off by up to {self.closest.error:.3g}.{self._each()}"
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


def diagnose(Q=None, K=None, V=None, *, output=None, weights=None, decimals=None, **more) -> Diagnosis:
    """Say which known deviation, or which two, turn right attention into these numbers.

    Parameters
    ----------
    Q, K, V : array_like, (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v)
        Or ``X``, ``W_Q``, ``W_K``, ``W_V`` (and ``memory``, ``W_O``) as in :func:`attention.self_attention`.
    output : array_like, (…, n_q, d_v), with heads also (…, n_q, h · d_v)
    weights : array_like, (…, n_q, n_k), for several heads also their mean
        What the other code answers: one of the two, or both.
    decimals : int
        How many decimals these were rounded to. Default: seen from the numbers, where there are enough of them.
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
the scores by the scale, by default 1/√d_k, before the mask and the softmax.
    """
    return search(Bench(checked(Q=Q, K=K, V=V, **more)), output=output, weights=weights, decimals=decimals)


def search(bench: Bench, *, output=None, weights=None, decimals=None) -> Diagnosis:
    """:func:`diagnose` for inputs that already stand on the bench."""
    targets = _targets(bench, decimals, output=output, weights=weights)
    stored = all(_is_half(t.values) or t.half_unit.max() > SHORT * reach(t.values) for t in targets)
    tried: dict[tuple[Deviation, ...], float] = {}  # how far off, relatively

    def explaining(sets) -> list[tuple[Deviation, ...]]:
        judged = {each: verdict for each in sets if (verdict := _judge(bench, each, targets))}
        tried.update((each, far) for each, (far, _) in judged.items())
        # half precision excuses much, so it has to show: in the numbers' type, or by bringing them nearer
        limit = math.inf if stored else min(far for each, far in tried.items() if not _in_half(each)) / 4
        return [each for each, (far, fits) in judged.items() if fits and (not _in_half(each) or far <= limit)]

    found = _fewest(bench, explaining, tried)
    count = len(tried)
    unseen = _unseen(found[0], bench, explaining) if found and len(found[0]) < 2 else ()
    closest = found[0] if found else _closest(tried)
    about = {each: _explanation(bench, each, tried[each], targets) for each in {*found, closest}}
    answers = {t.name: _beside(t.values, _view(bench, t, bench.right)) for t in targets}
    return Diagnosis(tuple(about[each] for each in found), about[closest], unseen, count, answers)


def _fewest(bench: Bench, explaining, tried) -> list[tuple[Deviation, ...]]:
    """No deviation, one, or two: the first that explains, unless more of them are far nearer."""
    right, alone = explaining([()]), _nearest(explaining([(d,) for d in bench.applicable]), tried)
    if right and not (alone and 1e-12 < tried[()] > 1000 * tried[alone[0]]):
        return right
    if alone and not _in_half(alone[0]):
        return alone
    pairs = [pair for pair in combinations(bench.applicable, 2) if pair[0].slot != pair[1].slot]
    two = _nearest(explaining(pairs) or explaining(_emptied(pairs)), tried)
    return two if two and (not alone or tried[two[0]] < tried[alone[0]] / 4) else alone


def _emptied(pairs) -> list[tuple[Deviation, ...]]:
    """An inverted look-ahead mask leaves a row without keys: what becomes of it is a consequence, no third mistake."""
    outcomes = {a for pair in pairs for a in pair if a.option in ("NaN", "filled") and a.slot == "hiding"}
    inverted = [pair for pair in pairs if any(d.option == "inverted" for d in pair)]
    return [
        (*pair, more)
        for pair in inverted
        for more in sorted(outcomes, key=DEVIATIONS.index)
        if more.slot not in {d.slot for d in pair}
    ]


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


def _explanation(bench: Bench, deviations, far: float, targets) -> Explanation:
    stages, stage = bench.run(deviations), bench.first_difference(deviations)
    error = max(float(gap(_view(bench, t, stages), t.values).max()) for t in targets)
    written = max(float((2 * t.half_unit).max() / (reach(t.values) or 1.0)) for t in targets)
    uncertain = max(far, written if written > 1e-12 else 0.0, 1e-16)
    digits = max(0, round(-math.log10(uncertain))) if uncertain < math.inf else 0
    return Explanation(deviations, error, digits, stage, bench.right.get(stage), stages.get(stage))


def _beside(theirs: np.ndarray, ours: np.ndarray) -> tuple[np.ndarray, ...]:
    return theirs, ours, less(theirs, ours)


def _digits(count: int) -> str:
    return f"{count} digit{'s' * (count != 1)}"


# ---- the other code's numbers, and how near is near enough -------------------------------------------


@dataclass(frozen=True, eq=False)
class _Target:
    name: str  # "output" or "weights"
    values: np.ndarray
    half_unit: np.ndarray  # what rounding them to be written down may have changed
    size: np.ndarray  # what errors are measured by: Σ weight · |value|, which cancels nothing


def _targets(bench: Bench, decimals: int | None, **given) -> list[_Target]:
    targets = []
    for name, value in given.items():
        if value is None:
            continue
        values = as_floats(**{name: value})[0].astype(np.float64)
        shapes = {view.shape for view in bench.views(name, bench.right[name])}
        if values.shape not in shapes:
            wanted = " or ".join(map(str, sorted(shapes, key=len)))
            raise ValueError(f"{name}: the shape is {values.shape}; {wanted} is wanted for these inputs.")
        if not values.size:
            raise ValueError(f"{name}: the shape is {values.shape}; there is no number in it to compare.")
        size = next(v for v in bench.views(name, bench.right[f"{name} size"]) if v.shape == values.shape)
        targets.append(
            _Target(
                name,
                values,
                _half_unit(values, decimals),
                _floored(size) if name == "output" else np.ones(values.shape),
            )
        )
    if not targets:
        raise ValueError("neither output nor weights is given; give the numbers of the other code.")
    return targets


def _floored(size: np.ndarray) -> np.ndarray:
    """A row that sees no key has size 0; it is measured by the others of its column."""
    size = np.where(np.isfinite(size), size, 0)
    return np.maximum(np.maximum(size, size.mean(axis=-2, keepdims=True)), np.finfo(np.float64).tiny)


def _half_unit(values: np.ndarray, decimals: int | None) -> np.ndarray:
    """Half of the last place: of few decimals or digits, of half precision, of float32, or else of float64."""
    values = np.where(np.isfinite(values), values, 0)
    size = np.abs(values)
    if decimals is not None:
        return np.full(values.shape, 0.5000001 * 10.0**-decimals)
    if (values % 1).any():
        fewest = 1 if values.size >= 12 else 3  # a few numbers such as 0.5 are rather exact than rounded
        units = [np.full(values.shape, 10.0**-k) for k in range(fewest, 7)]  # as 0.0012
        places = np.floor(np.log10(np.where(size == 0, 1, size)))
        powers = [np.where(size == 0, 0, 10.0 ** (places - k + 1)) for k in range(3, 8)]  # as 1.2e-03
        coarsest = [next((u for u in kind if _multiples(values, u)), None) for kind in (units, powers)]
        if any(unit is not None for unit in coarsest):
            return 0.5000001 * np.maximum(*(0 if unit is None else unit for unit in coarsest))
    if _is_half(values):
        return size * (BFLOAT if values.size >= 12 and _is_bfloat(values) else HALF) + 2.0**-25
    with np.errstate(over="ignore"):
        return size * (SINGLE if (values.astype(np.float32) == values).all() else SINGLE**2)


def _multiples(values: np.ndarray, unit: np.ndarray) -> bool:
    step = np.where(unit == 0, 1, unit)
    return bool((np.abs(np.round(values / step) * step - values) <= 1e-12 * np.maximum(np.abs(values), step)).all())


def _is_half(values: np.ndarray) -> bool:
    """Whether float16 or bfloat16 holds every number."""
    with np.errstate(over="ignore"):
        return bool(((values.astype(np.float16) == values) | np.isnan(values)).all()) or _is_bfloat(values)


def _is_bfloat(values: np.ndarray) -> bool:
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return bool((((single == values) & (single.view(np.uint32) % 2**16 == 0)) | np.isnan(values)).all())


def _view(bench: Bench, target: _Target, stages, what: str = "") -> np.ndarray | None:
    """The stage in the shape of the target; None where it has none."""
    views = bench.views(target.name, stages[target.name + what])
    return next((view for view in views if view.shape == target.values.shape), None)


def _in_half(deviations) -> bool:
    return any(d.slot == "precision" for d in deviations)


def _judge(bench: Bench, deviations, targets) -> tuple[float, bool] | None:
    """The largest difference from the numbers, and whether rounding alone explains it; None where shapes do not fit."""
    stages = bench.run(deviations)
    if stages is None:
        return None
    far, fits = 0.0, True
    for target in targets:
        view = _view(bench, target, stages)
        if view is None:
            return None
        gaps = gap(view, target.values)
        size = np.nan_to_num(_view(bench, target, stages, " size"), posinf=0)
        far = max(far, float((gaps / target.size).max()))
        fits = fits and bool((gaps <= target.half_unit + _rounding(stages, target, deviations) * size).all())
    return far, fits


def _rounding(stages, target: _Target, deviations) -> float:
    """What arithmetic may lose, relatively: an error of the scores moves a weight by as much. Never so much as to excuse noise."""
    grown = 4 * (1 + reach(stages["scaled"]))
    if _in_half(deviations):
        return min(grown * (BFLOAT if _is_bfloat(target.values) else HALF), 0.02)
    return min(grown * SINGLE, 0.01)


# ---- what came in ------------------------------------------------------------------------------------


def checked(*, most_scores: int | None = None, **inputs) -> Given:
    """The inputs in float64, or one sentence about what is missing, does not fit or is more than ``most_scores``."""
    unknown = [name for name in inputs if name not in {f.name for f in fields(Given)}]
    if unknown:
        raise TypeError(f"there is no argument {unknown[0]}; {', '.join(f.name for f in fields(Given))} are known.")
    g = Given(**inputs)
    wanted = ("X", "W_Q", "W_K", "W_V") if g.X is not None else ("Q", "K", "V")
    missing = [name for name in wanted if getattr(g, name) is None]
    if missing:
        raise ValueError(f"{' and '.join(missing)} is missing; give Q, K and V, or X, W_Q, W_K and W_V.")
    if g.X is not None and any(M is not None for M in (g.Q, g.K, g.V)):
        raise ValueError("both X and Q, K or V are given; give one of the two.")
    arrays = {
        name: check_positive(name, getattr(g, name)) for name in ("scale", "softcap") if getattr(g, name) is not None
    }
    arrays |= {"heads": _count("heads", g.heads)} | (
        {} if g.kv_heads is None else {"kv_heads": _count("kv_heads", g.kv_heads)}
    )
    for name in (*wanted, "memory", "W_O"):
        if getattr(g, name) is not None:
            arrays[name] = as_floats(**{name: getattr(g, name)})[0].astype(np.float64)
    g = replace(g, **arrays)
    return replace(g, allowed=_check_fit(g, most_scores))


def _count(name: str, given) -> int:
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
        raise ValueError(f"{name} is {given!r}; a whole number from 1 is wanted.")
    return int(given)


def _check_fit(g: Given, most_scores: int | None) -> np.ndarray | None:
    """Check that all belongs together, before anything large is made; the mask with an axis for the heads."""
    Q, K, V = g.Q, g.K, g.V
    if g.X is not None:
        source = g.X if g.memory is None else g.memory
        Q, K, V = project(g.X, g.W_Q, "W_Q"), project(source, g.W_K, "W_K"), project(source, g.W_V, "W_V")
    if g.heads == 1 and g.kv_heads not in (None, 1):
        raise ValueError(
            f"kv_heads is {g.kv_heads} and heads is 1; several heads of queries share one of keys and values."
        )
    if g.heads != 1:
        kv_heads = g.kv_heads or g.heads
        Q, K, V = split_heads(Q, g.heads, "Q"), split_heads(K, kv_heads, "K"), split_heads(V, kv_heads, "V")
    if grouped(Q, K):
        if V.ndim < 3 or V.shape[-3] != K.shape[-3]:
            raise ValueError(f"K has shape {K.shape} and V {V.shape}; both need the same heads.")
        repeat_heads(K[..., :0, :], Q.shape[-3])  # refuses what cannot be shared
        K, V = (np.broadcast_to(M[..., :1, :, :], (*M.shape[:-3], Q.shape[-3], *M.shape[-2:])) for M in (K, V))
    check_shapes(Q, K, V)
    scores = (*check_lead(Q, K, V), Q.shape[-2], K.shape[-2])
    if most_scores is not None and math.prod(scores) > most_scores:
        raise ValueError(
            f"{' × '.join(map(str, scores))} scores are {math.prod(scores):,}; at most {most_scores:,} are searched."
        )
    if g.W_O is not None:
        project(np.empty((1, V.shape[-1] * g.heads)), g.W_O, "W_O")
    allowed = as_mask("allowed", True if g.allowed is None else g.allowed)
    if g.heads != 1 and g.allowed is not None:
        allowed = before_heads("allowed", allowed, (*scores[:-3], *scores[-2:]))
    check_mask(allowed, None, np.empty(scores))
    return None if g.allowed is None else allowed
