"""Whether numbers are those of a library, by its record, in the place of right attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attention.arrays.blocks import one_blas_thread
from attention.arrays.distance import difference, largest_finite
from attention.frameworks.diagnosis.answers import judge_stages, worst
from attention.frameworks.diagnosis.bench import Stages
from attention.frameworks.diagnosis.diagnose import diagnose_given
from attention.frameworks.diagnosis.result import Diagnosis
from attention.frameworks.diagnosis.search import Search
from attention.frameworks.diagnosis.words import digits_of
from attention.frameworks.given import Given
from attention.frameworks.moves import between
from attention.frameworks.records import answered, named
from attention.limits import BadInput
from attention.vocabulary.sentences import amount


def diagnose_library(
    given: Given,
    library: str,
    *,
    output: Any = None,
    weights: Any = None,
    decimals: Mapping[str, int] | None = None,
) -> Diagnosis:
    """Say whether these numbers are what a library answers, and how that differs from ours.

    Parameters
    ----------
    given : Given
        The inputs of both sides, checked.
    library : str
        A key of :data:`attention.frameworks.records.CONVENTIONS`. It is handed the mask in its own
        polarity, and all parts that it takes.
    output, weights, decimals :
        As in :func:`attention.diagnose`.

    Returns
    -------
    Diagnosis
        ``answers`` compare with the library. Where its arithmetic does not explain the numbers, the
        known mistakes are looked for, next to our attention.

    Raises
    ------
    BadInput
        Where the library cannot be handed these inputs.
    """
    record, theirs = named(library), {"output": output, "weights": weights}
    with one_blas_thread(), np.errstate(all="ignore"):
        search = Search(given, theirs, decimals)
        handed, stages = _handed(search, library)
        largest = largest_finite(stages["scaled"])
        verdicts = [judge_stages(search.sample, stages, t, largest) for t in search.targets]
        told = [verdict for verdict in verdicts if verdict is not None]
        answers: dict[str, tuple[np.ndarray, ...]] = {}
        for target in search.targets:
            view = target.view(search.sample, stages)
            if view is not None:
                answers[target.name] = (target.values, view, difference(target.values, view))
    fits = len(told) == len(verdicts) and worst(told).fits
    if not fits:
        found = diagnose_given(given, output=output, weights=weights, decimals=decimals)
        off = max((verdict.error for verdict in told), default=np.inf)
        by = f", off by up to {off:.3g}" if np.isfinite(off) else ""
        before = f"These are not the numbers of {record.name}{by}. Next to this package's own:"
        return replace(
            found,
            answers=answers or found.answers,
            lines=(f"{before} {found.lines[0]}", *found.lines[1:]),
            verdict=f"{before} {found.verdict}",
        )
    ours = replace(named("ours"), true_means=record.true_means)  # the mask is in its polarity
    turned = ["It is handed the mask as it reads it: True means hide."] * (
        handed["mask"] is not None and record.true_means == "hide"
    )
    verdict = (
        f"These are the numbers of {record.name} ({record.version}), to"
        f" {amount(digits_of(search.targets, worst(told)), 'digit')}."
    )
    changes = [change.sentence for change in between(ours, record, **handed).changes]
    return Diagnosis(
        explanations=(),
        closest=None,
        unseen=(),
        answers=answers,
        lines=(verdict,),
        verdict=verdict,
        details=(*turned, *(changes or ["With these inputs it answers as this package does."])),
        correct=True,
        tried=1,
        plan=search.plan,
    )


def _handed(search: Search, library: str) -> tuple[dict[str, Any], Stages]:
    """Return what the library is handed, and our stages with its weights and output."""
    given, bench, record = search.given, search.sample, named(library)
    right = bench.right
    if bench.queries is not None:
        raise BadInput(
            f"these inputs have {given.shape[-2]:,} queries; a library's arithmetic is compared"
            " where all are searched. Use fewer."
        )
    bias = given.bias
    if given.relative is not None:
        by_distance = given.relative.of(given.shape, np.dtype(np.float64))
        bias = by_distance if bias is None else bias + by_distance
    allowed = None if given.allowed is None else np.broadcast_to(given.allowed, given.shape)
    shared = (given.heads // given.kv_heads) if given.kv_heads else 1  # as repeat_heads has them
    handed: dict[str, Any] = {
        "Q": right["queries"],
        "K": right["keys"][..., ::shared, :, :] if shared > 1 else right["keys"],
        "V": right["V"][..., ::shared, :, :] if shared > 1 else right["V"],
        "mask": allowed,
        "scale": given.scale,
        "softcap": given.softcap,
        "sinks": given.sinks,
        "bias": bias,
    }
    if allowed is not None and record.true_means == "hide":
        handed["mask"] = ~allowed
    answer = answered(record, **handed)
    if answer.weights is None:
        raise BadInput(f"{record.name} cannot be handed these inputs: {answer.refused}")
    weights = answer.weights.astype(np.float64)
    added: np.ndarray | float = 0.0
    if shared > 1 and answer.output is not None:  # its heads may share other values than ours
        added = answer.output - weights @ right["V"]
    return handed, bench.output_of(weights, added)
