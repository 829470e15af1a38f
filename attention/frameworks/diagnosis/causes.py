"""What can be said without a search: why nothing can be compared, and where the trouble lies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attention.arrays.distance import distance, largest_finite
from attention.frameworks.diagnosis.answers import Target
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.given import Given
from attention.frameworks.precision import KERNELS, SINGLE
from attention.vocabulary.sentences import plural

LARGEST = {"float16": 65504.0, "float32": float(np.finfo(np.float32).max)}
# exp of more is infinite
LARGEST_EXPS = {"float16": 11.09, "float32": 88.7}
LARGEST_FLOAT16, LARGEST_EXP = LARGEST["float16"], LARGEST_EXPS["float32"]
QUERIES = "the softmax runs over the queries (0/0 for a key that no query sees), "


def nothing_to_compare(target: Target) -> str | None:
    """Return what stands there instead of numbers; None where at least one is finite."""
    values = target.values
    if np.isfinite(values).any():
        return None
    kinds = {(True, False): "NaN", (False, True): "infinite", (True, True): "NaN or infinite"}
    kind = kinds[bool(np.isnan(values).any()), bool(np.isinf(values).any())]
    return f"every number of the {target.name} is {kind}"


def damaged(given: Given) -> str | None:
    """Which of the inputs are not finite."""
    found = [name for name, M in given.arrays.items() if not np.isfinite(M).all()]
    if not found:
        return None
    return f"{' and '.join(found)} {plural(len(found), 'holds', 'hold')} NaN or infinite numbers"


def likely_cause(bench: Bench) -> str:
    """Why numbers may all be NaN or infinite, from what these inputs give in right attention."""
    inputs, right = damaged(bench.given), bench.right
    if inputs is not None:
        return inputs
    if not np.isfinite(right["scores"]).all():
        return "the scores overflow even in float64"
    seen = np.broadcast_to(right["allowed"], right["masked"].shape)
    if not seen.any(axis=-1).any():
        return (
            "no query sees a key, and softmax of nothing but −∞ is 0/0, NaN;"
            " give such rows weights 0"
        )
    most = max(largest_finite(right["scores"]), largest_finite(right["scaled"]))
    if most > LARGEST_FLOAT16:
        return f"scores reach {most:.3g}, more than float16 holds ({LARGEST_FLOAT16:,.0f})"
    if most > LARGEST_EXP:
        return (
            f"scores reach {most:.3g}, and exp of more than {LARGEST_EXP} is infinite in float32;"
            " subtract each row's maximum before exp"
        )
    if not seen.any(axis=-1).all():
        return (
            "some queries see no key, and softmax of nothing but −∞ is NaN, which spreads"
            " where a later layer mixes tokens"
        )
    if not seen.all():
        queries = "" if seen.any(axis=-2).all() else QUERIES
        return (
            f"the mask is wrong on their side (inverted, +∞ for −∞, or 0 · −∞ = NaN where a mask is"
            f" multiplied by −∞), no softmax follows it, {queries}or an input there is NaN or"
            " infinite already"
        )
    return (
        "a number is NaN or infinite already before the attention, or the softmax divides 0 by 0"
        " or overflows"
    )


def trouble(
    bench: Bench, targets: list[Target], compared: list[Target], right: dict[str, np.ndarray]
) -> str | None:
    """On which side of the weights the trouble lies, where weights and output were given.

    ``right`` answers the queries of ``compared``; whether the output follows from the weights is
    seen on those of the bench.
    """
    by_name = {target.name: target for target in targets}
    if set(by_name) != {"output", "weights"} or len(right) < 2:
        return None
    weights, output = (by_name[name].rows(bench.queries) for name in ("weights", "output"))
    if weights.values.shape != bench.right["weights"].shape:
        return None  # their mean over the heads
    if not np.isfinite(weights.values).all():
        return None  # nothing follows from what is lost
    near = {target.name: _near(target, right[target.name]) for target in compared}
    weights_right = near["weights"]
    made = bench.output_of(weights.values)
    view, size = output.view(bench, made), output.view(bench, made, " size")
    rounded = output.view(bench, bench.output_of(weights.half_unit), " size")
    if view is None or size is None or rounded is None:
        return None
    follows = bool((distance(view, output.values) <= _allowed(output, size) + rounded).all())
    if not weights_right and (done := _dropped(bench, weights) or _averaged(bench, weights)):
        if follows:
            return f"{done} The output follows from them."
        if near["output"]:
            return f"{done} The output is right, and was not made with them."
        return f"{done} The output does not follow from them."
    if follows and not weights_right:
        where = "before the weights, in Q, K, the scores, the mask or the softmax"
        if not _sum_to_one(weights):
            where = f"in these weights, whose rows do not sum to 1, or {where}"
        return f"The output follows from the weights given with it: the trouble lies {where}."
    if weights_right and not follows:
        return (
            "The weights are right: the trouble lies after them, in V, the heads' joining or what"
            " follows."
        )
    if not weights_right and near["output"]:
        return "The output is right, but it was not made with the weights given."
    if not weights_right and not follows:
        return (
            "The weights are not right, and the output does not follow from them either: there is"
            " trouble on both sides."
        )
    return None


def _dropped(bench: Bench, weights: Target) -> str | None:
    """Say that some of the right weights were set to 0, as by dropout, the others multiplied."""
    theirs, ours = weights.values, np.broadcast_to(bench.right["weights"], weights.values.shape)
    allowed = _allowed(weights, weights.size)
    gone, kept = (theirs == 0) & (ours > allowed), (theirs != 0) & (ours > allowed)
    if not gone.any() or kept.sum() < 3:
        return None
    heavy = kept & (ours >= np.median(ours[kept]))
    factor = float(np.median(theirs[heavy] / ours[heavy]))
    grown = factor * ours
    if (
        not 0.999 < factor < 100
        or not (distance(grown, theirs) <= (1 + factor) * allowed)[kept].all()
    ):
        return None
    if (np.abs(theirs) > allowed)[~kept & ~gone].any():
        return None
    by = "as they were" if abs(factor - 1) < 0.001 else f"{factor:.4g} times what they were"
    return (
        f"The weights given are right ones with dropout: {gone.sum():,} of"
        f" {(gone | kept).sum():,} are 0, and the others {by}; model.eval() turns it off."
    )


def _averaged(bench: Bench, weights: Target) -> str | None:
    """Say that the weights are the mean of right ones over the heads, or over the items."""
    ours, allowed = bench.right["weights"], _allowed(weights, weights.size)
    axes = {-3: "heads" if bench.given.heads > 1 else "items or heads", -4: "items"}
    for axis, name in axes.items():
        if ours.ndim < -axis or ours.shape[axis] == 1:
            continue
        mean = np.broadcast_to(ours.mean(axis=axis, keepdims=True), ours.shape)
        if (distance(mean, weights.values) <= allowed).all():
            return f"The weights given are the mean of the right ones over the {name}."
    return None


def _sum_to_one(weights: Target) -> bool:
    """Check whether each row sums to 1, as a softmax makes it, or is 0."""
    sums = weights.values.sum(axis=-1)
    allowed = _allowed(weights, weights.size).sum(axis=-1)
    return bool(((np.abs(sums - 1) <= allowed) | (sums == 0)).all() and (weights.values >= 0).all())


def overflow(bench: Bench, targets: list[Target]) -> str | None:
    """Say in which type and where numbers overflowed, if that gives just the lost ones.

    Each possibility is tried: the numbers that it would lose have to be those that are lost.
    """
    kinds = (
        ("a score Q Kᵀ", "scores", LARGEST),
        ("a scaled score", "scaled", LARGEST),
        ("a score", "masked", LARGEST_EXPS),
    )
    for target in targets:
        part = target.rows(bench.queries)
        ours = part.view(bench, bench.right)
        if ours is None or not (lost := np.isfinite(ours) & ~np.isfinite(part.values)).any():
            continue
        for what, stage, limits in kinds:
            for kind, limit in limits.items():
                if (_lost(bench, part, stage, limit) == lost).all():
                    if stage == "masked":
                        return (
                            f"They are exactly those of queries with {what} beyond {limit:.3g},"
                            f" whose exp is infinite in {kind}: subtract each row's maximum before"
                            " exp."
                        )
                    return (
                        f"They are exactly those of queries with {what} beyond {limit:,.6g},"
                        f" the most that {kind} holds."
                    )
        for kind, limit in LARGEST.items():
            if ((np.abs(ours) > limit) == lost).all():
                return f"They are exactly those beyond {limit:,.6g}, the most that {kind} holds."
    return None


def _lost(bench: Bench, target: Target, stage: str, limit: float) -> np.ndarray:
    """Mark the numbers that are lost where a row of this stage exceeds the limit."""
    right = bench.right
    shape = right["masked"].shape
    seen = np.broadcast_to(right["allowed"], shape)
    beyond = (np.broadcast_to(right[stage], shape) > limit) & seen
    rows = np.where(beyond.any(axis=-1, keepdims=True), np.nan, 0.0)
    if target.name == "weights":
        lost: dict[str, np.ndarray] = {"weights": right["weights"] + rows}
    else:
        lost = bench.output_of(right["weights"], rows)
    view = target.view(bench, lost)
    return np.zeros(target.values.shape, bool) if view is None else ~np.isfinite(view)


def _near(target: Target, right: np.ndarray) -> bool:
    return not any(wrong.any() for wrong in _wrong(target, right))


def _wrong(target: Target, right: np.ndarray) -> Iterator[np.ndarray]:
    """By blocks of rows: which numbers are further off than rounding explains."""
    for rows, part in target.parts():
        yield distance(right[..., rows, :], part.values) > _allowed(part, part.size)


def _allowed(target: Target, size: np.ndarray) -> np.ndarray:
    """Return what rounding may do to these numbers; of a float type, a few of its last places."""
    roundoff = KERNELS[target.written.half] if target.written.half else 8 * SINGLE
    return target.half_unit + 2 * roundoff * np.nan_to_num(size, posinf=0)


def where(targets: list[Target], right: dict[str, np.ndarray]) -> str | None:
    """Which numbers differ from right attention: those that are not finite, or where few do."""
    for target in targets:
        ours = right.get(target.name)
        if ours is None or ours.shape != target.values.shape:
            continue
        lost = np.isfinite(ours) & ~np.isfinite(target.values)
        if lost.any():
            first = ", ".join(map(str, np.argwhere(lost)[0]))
            hold = "is" if lost.sum() == 1 else "are"
            return (
                f"{lost.sum():,} of the {lost.size:,} numbers of the {target.name} {hold} NaN or"
                f" infinite where right attention is finite, the first at [{first}]."
            )
        wrong = np.concatenate(list(_wrong(target, ours)), axis=-2)
        count, size = int(wrong.sum()), wrong.size
        if not 0 < count <= size // 5:
            continue
        first = ", ".join(map(str, np.argwhere(wrong)[0]))
        is_one = "differs" if count == 1 else "differ"
        at = "at" if count == 1 else "the first at"
        return (
            f"{count:,} of the {size:,} numbers of the {target.name} {is_one} from right attention,"
            f" {at} [{first}]."
        )
    return None
