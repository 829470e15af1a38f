"""What libraries answer, by their records, in the place of right attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention.frameworks.diagnosis.answers import judge_answers
from attention.frameworks.diagnosis.bench import Stages
from attention.frameworks.diagnosis.mask_options import halves
from attention.frameworks.diagnosis.mistakes import NoRoom
from attention.frameworks.diagnosis.search import Search
from attention.frameworks.moves import between
from attention.frameworks.records import CONVENTIONS, answered, named
from attention.limits import BadInput


@dataclass(frozen=True)
class OwnWay:
    """A library that answers these inputs with the numbers, and what it does with them."""

    library: str  # its name and version
    changes: tuple[str, ...]  # next to right attention, a sentence each


def own_ways(search: Search) -> list[OwnWay]:
    """Return the libraries whose answers are the numbers, where right attention's are not.

    Each is handed the mask, and where that is look-ahead and padding also its own switch with the
    padding. None is where only some queries are searched.
    """
    if search.sample.queries is not None:
        return []
    ours, switches = named("ours"), [False, True]
    try:
        halves(search.sample.right["allowed"])
    except NoRoom:  # there is no look-ahead beside padding, for which a switch would stand
        switches.pop()
    found: list[OwnWay] = []
    for name, record in CONVENTIONS.items():
        if name == "ours":
            continue
        for switch in switches:
            try:
                handed, stages = by_library(search, name, switch)
            except ValueError:  # it cannot be handed these inputs
                continue
            verdict = judge_answers(search.sample, stages, search.targets)
            if verdict is None or not verdict.as_written:
                continue
            like = replace(ours, true_means=record.true_means)  # the mask is in its polarity
            changes = between(like, record, **handed).changes
            said = tuple(change.sentence for change in changes if not change.fine)
            if said:
                found.append(OwnWay(f"{record.name} ({record.version})", said))
                break
    return found


def by_library(search: Search, library: str, switch: bool = False) -> tuple[dict[str, Any], Stages]:
    """Return what the library is handed, and our stages with its weights and output.

    With ``switch`` its own look-ahead is turned on, beside the padding of a mask that is both.

    Raises
    ------
    BadInput
        Where it cannot be handed these inputs.
    """
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
    if switch:
        _, keys = halves(right["allowed"])
        handed |= {"mask": np.broadcast_to(keys, given.shape), "causal": True}
    if allowed is not None and record.true_means == "hide":
        handed["mask"] = ~handed["mask"]
    answer = answered(record, **handed)
    if answer.weights is None:
        raise BadInput(f"{record.name} cannot be handed these inputs: {answer.refused}")
    weights = answer.weights.astype(np.float64)
    added: np.ndarray | float = 0.0
    if shared > 1 and answer.output is not None:  # its heads may share other values than ours
        added = answer.output - weights @ right["V"]
    return handed, bench.output_of(weights, added)
