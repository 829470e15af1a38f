"""What can be said without a search: why nothing can be compared, and where the trouble lies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attention.frameworks.answers import Target
from attention.frameworks.bench import Bench
from attention.frameworks.distance import distance, largest_finite
from attention.frameworks.given import Given
from attention.frameworks.precision import SINGLE, UNIT_ROUNDOFF

LARGEST_FLOAT16 = 65504.0
LARGEST_EXP = 88.7  # exp of more is infinite in float32
QUERIES = "the softmax runs over the queries (0/0 for a key that no query sees), "


def nothing_to_compare(target: Target) -> str | None:
    """What stands there instead of numbers; None where at least one is finite."""
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
    return f"{' and '.join(found)} hold{'s' * (len(found) == 1)} NaN or infinite numbers"


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
            f"the mask is wrong on their side (inverted, or 0 · −∞ = NaN where a mask is multiplied"
            f" by −∞), no softmax follows it, {queries}or an input there is NaN or infinite already"
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
    near = {target.name: _near(target, right[target.name]) for target in compared}
    weights_right = near["weights"]
    made = bench.output_of(weights.values)
    view, size = output.view(bench, made), output.view(bench, made, " size")
    rounded = output.view(bench, bench.output_of(weights.half_unit), " size")
    if view is None or size is None or rounded is None:
        return None
    follows = bool((distance(view, output.values) <= _allowed(output, size) + rounded).all())
    if follows and not weights_right:
        return (
            "The output follows from the weights given with it: the trouble lies before the"
            " weights, in Q, K, the scores, the mask or the softmax."
        )
    if weights_right and not follows:
        return (
            "The weights are right: the trouble lies after them, in V, the heads' joining or what"
            " follows."
        )
    if not weights_right and near["output"]:
        return "The output is right, and was not made with the weights given beside it."
    if not weights_right and not follows:
        return (
            "The weights are not right, and the output does not follow from them either: there is"
            " trouble on both sides."
        )
    return None


def _near(target: Target, right: np.ndarray) -> bool:
    return not any(wrong.any() for wrong in _wrong(target, right))


def _wrong(target: Target, right: np.ndarray) -> Iterator[np.ndarray]:
    """By blocks of rows: which numbers are further off than rounding explains."""
    for rows, part in target.parts():
        yield distance(right[..., rows, :], part.values) > _allowed(part, part.size)


def _allowed(target: Target, size: np.ndarray) -> np.ndarray:
    """What rounding may do to these numbers; of a float type, a few of its last places."""
    roundoff = UNIT_ROUNDOFF[target.written.half] if target.written.half else 8 * SINGLE
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
