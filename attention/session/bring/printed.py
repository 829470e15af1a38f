"""What a text of several arrays becomes: inputs on the board, and the rest compared with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from attention.core.trace import AttentionTrace
from attention.frameworks.precision import Written
from attention.frameworks.printed.reading import rounded, unit_of
from attention.frameworks.printed.relations import Found, Relation, Use
from attention.limits import MAX_DRAWN_AGAIN, MAX_TOGETHER
from attention.readers.cells.entry import REFUSED, ArrayEntry
from attention.readers.cells.mask_polarity import HIDDEN_FROM
from attention.readers.select import FINISHED, MASK
from attention.session.bring.adopt import FAMILIES
from attention.session.edit.changes import set_mask
from attention.session.state.matrix import Matrix
from attention.session.state.run import run
from attention.session.state.settings import DRAWN, Settings, as_drawn
from attention.vocabulary.numbers import number
from attention.vocabulary.sentences import amount
from attention.vocabulary.stages import STAGES, WEIGHTS

FLOAT32 = 1e-5  # of the largest number: what float32 may change, on devices with quick exponentials
DRAWS = 12  # of inputs that would have been printed alike
SPREADS = 7  # standard deviations, as in attention.diagnose
NOT_USED = "not used"
SEARCHED = ("weights", "output")  # for mistakes that explain them


@dataclass(frozen=True)
class Compared:
    """What became of one array of a text."""

    name: str
    role: str | None  # the input or stage it is, None: it is not used
    said: str  # one sentence
    agrees: bool | None = None  # with the board; None: it was not compared


def can_be_related(arrays: Mapping[str, ArrayEntry]) -> bool:
    """Check for several arrays of a text, no more than are compared."""
    of_text = all(entry.dtype in ("text", "bool", REFUSED) for entry in arrays.values())
    return of_text and 1 < len(arrays) <= MAX_TOGETHER and not any(e.pick for e in arrays.values())


def family_of(found: Found) -> str | None:
    """Return which inputs are given: X and weights, Q, K and V, or weights alone; else None."""
    roles = {use.role for use in found.uses if not use.is_row}
    if _without_weights(found) is not None:
        return "qkv"
    if {"X", "W_Q", "W_K"} <= roles or ({"X"} <= roles and not set("QKV") <= roles):
        return "weights"
    if set("QKV") <= roles:
        return "qkv"
    return "finished" if FINISHED in roles and not roles & {"Q", "K", "X"} else None


def _without_weights(found: Found) -> int | None:
    """Return the array that is Q, K and V at once, as in scores = X Xᵀ; None where none is."""
    roles = {use.role for use in found.uses if not use.is_row}
    if roles & {"W_Q", "W_K", "W_V", "Q", "K", "V"}:
        return None
    own = (r for r in found.relations if r.used and len(r.operands) == 2)
    alone = (r.operands[0] for r in own if r.operands[0] == r.operands[1])
    return next((k for k in alone if found.uses[k].role == "X"), None)


def picks_of(arrays: Mapping[str, ArrayEntry], found: Found, family: str) -> dict[str, str | None]:
    """Return the array that is proposed as each input of the family, by its name.

    Those that numbers prove come first; a mask is one for these queries and keys.
    """
    names = list(arrays)
    order = {"relation": 0, "name": 1, "shape": 2, "order": 3}
    picks: dict[str, str | None] = {}
    alone = _without_weights(found) if family == "qkv" else None
    for role in FAMILIES[family]:
        uses = [use for use in found.uses if use.role == role and not use.is_row]
        if alone is not None and role in ("Q", "K", "V"):
            uses = [found.uses[alone]]
        uses = [use for use in uses if use.by in order and arrays[names[use.index]].shape]
        if role == MASK:
            sides = _queries_and_keys(arrays, found, picks)
            rows = [use for use in found.uses if use.role == MASK and use.by == "relation"]
            uses = [use for use in uses if arrays[names[use.index]].shape[-2:] == sides]
            uses += [use for use in rows if arrays[names[use.index]].shape == (1, *sides[1:])]
        best = min(uses, key=lambda use: (order[use.by], use.index), default=None)
        picks[role] = names[best.index] if best else None
    return picks


def _queries_and_keys(
    arrays: Mapping[str, ArrayEntry], found: Found, picks: Mapping[str, str | None]
) -> tuple[int, ...]:
    """Return how many queries and keys the picked inputs have; () where they are not picked."""
    columns = turned(found, arrays, picks)
    counts = {
        role: arrays[name].shape[-1 if role in columns else -2]
        for role, name in picks.items()
        if name
    }
    queries = counts.get("Q", counts.get("X"))
    keys = counts.get("K", counts.get("memory", queries))
    return () if queries is None or keys is None else (queries, keys)


def turned(
    found: Found, arrays: Mapping[str, ArrayEntry], picks: Mapping[str, str | None]
) -> set[str]:
    """Return the inputs that were printed the other way round: tokens, or inputs, as columns."""
    names = list(arrays)
    return {
        role
        for role, name in picks.items()
        if name and found.uses[names.index(name)].transposed and role in ("X", *WEIGHTS)
    }


def hides(found: Found) -> bool:
    """Check whether True, or 1, hides in a printed mask, as the numbers it was used with show."""
    return any(relation.used and relation.inverted for relation in found.relations)


def settings_with(
    s: Settings, arrays: Mapping[str, ArrayEntry], found: Found, picked: set[str]
) -> Settings:
    """The settings with the scale and the mask that the arrays show."""
    used = [relation for relation in found.relations if relation.used]
    scale = _scale(found, used)
    if scale is not None:
        s = replace(s, scale=None if math.isclose(scale, s.d_k**-0.5, rel_tol=1e-6) else scale)
    if MASK in picked or s.memory_tokens:
        return s
    if any(relation.mask == "look-ahead" for relation in used):
        return set_mask(s, "causal")
    seen = (_seen(list(arrays.values())[r.result]) for r in used if r.mask == "other")
    fits = (one for one in seen if one.shape == (len(s.tokens), len(s.key_tokens)))
    if (mask := next(fits, None)) is not None:
        s = replace(s, mask=DRAWN, drawn=as_drawn(mask), drawn_from=None, window=0)
    return s


def _seen(entry: ArrayEntry) -> np.ndarray:
    """Return where weights are not 0, or masked scores are not −∞."""
    values = entry.read()
    return values > HIDDEN_FROM if (values <= HIDDEN_FROM).any() else values != 0


def _scale(found: Found, used: list[Relation]) -> float | None:
    """Return what Q Kᵀ is multiplied by up to the softmax; None where that is not shown."""
    made = {r.result: r for r in used if r.kind in ("product", "scaled", "masked")}
    last = (r for kind in ("softmax", "masked", "scaled") for r in used if r.kind == kind)
    step = next(last, None)
    if step is None:  # scaled = Q Kᵀ / 2, and no more
        step = next((r for r in used if r.kind == "product" and r.factor != 1), None)
    scale = 1.0
    while step is not None:
        scale *= step.factor
        if len(step.operands) == 2:
            return scale
        source, step = step.operands[0], made.get(step.operands[0])
        if step is None and found.uses[source].role == "scores":  # of Q and K that are not printed
            return scale
    return scale if scale != 1 else None


def compared(
    s: Settings, arrays: Mapping[str, ArrayEntry], found: Found, picks: Mapping[str, str]
) -> list[Compared]:
    """Compare what is no input with the board of these settings, to the printed digits."""
    trace, inputs = run(s), {name: role for role, name in picks.items()}
    absent = _absent(s, set(picks))
    units = {
        role: unit_of(arrays[name].read(), arrays[name].in_powers) for role, name in picks.items()
    }
    drawn = _drawn(s, {role: unit for role, unit in units.items() if role in s.matrices})
    return [
        Compared(name, inputs[name], "on the board")
        if name in inputs
        else Compared(name, None, f"not compared: {absent[use.role]} is not in the text")
        if use.role in absent
        else _compared(trace, drawn, name, entry, use)
        for (name, entry), use in zip(arrays.items(), found.uses, strict=True)
    ]


def _absent(s: Settings, picked: set[str]) -> dict[str, str]:
    """Return the stages that are computed of something that the text does not hold, and of what."""
    if s.weights_alone:
        return {}
    of: dict[str, tuple[str, ...]] = {name: (name,) for name in "QKV"}
    if not s.typed_qkv:
        keys = "memory" if s.memory_tokens else "X"
        of = {"Q": ("X", "W_Q"), "K": (keys, "W_K"), "V": (keys, "W_V")}
    for name in ("scores", "scaled", "masked", "weights"):
        of[name] = of["Q"] + of["K"]
    of["output"] = of["weights"] + of["V"]
    lacking = {stage: [name for name in names if name not in picked] for stage, names in of.items()}
    return {stage: names[0] for stage, names in lacking.items() if names}


def _drawn(s: Settings, units: Mapping[str, np.ndarray | float]) -> list[AttentionTrace]:
    """Traces of inputs that would have been printed alike; none of exact inputs."""
    n_q, n_k = s.matrices["Q" if s.typed_qkv else "X"].shape[-2], len(s.key_tokens)
    if not any(map(np.any, units.values())) or n_q * n_k * s.heads > MAX_DRAWN_AGAIN:
        return []
    rng, traces = np.random.default_rng(0), []
    for _ in range(DRAWS):
        others = s
        for role, unit in units.items():
            values = s.matrices[role].values
            if np.ndim(unit) and np.shape(unit) != values.shape:
                unit = float(np.max(unit))
            other = values + unit * rng.uniform(-0.5, 0.5, values.shape)
            others = others.with_matrix(role, Matrix(other))
        traces.append(run(others))
    return traces


def _compared(
    trace: AttentionTrace, drawn: list[AttentionTrace], name: str, entry: ArrayEntry, use: Use
) -> Compared:
    if entry.dtype == REFUSED:
        return Compared(name, None, entry.remark)
    if use.role is None or use.role not in STAGES or getattr(trace, use.role, None) is None:
        return Compared(name, None, NOT_USED)
    ours = np.asarray(getattr(trace, use.role))
    spread = np.zeros(ours.shape)
    if drawn:
        with np.errstate(invalid="ignore"):
            spread = np.std([np.asarray(getattr(other, use.role)) for other in drawn], axis=0)
        spread = SPREADS * np.nan_to_num(spread)
    theirs = entry.read().astype(np.float64)
    if use.transposed:
        theirs = np.swapaxes(theirs, -1, -2)
    row = ""
    if use.is_row and theirs.size == ours.shape[-1]:
        at = use.row if use.row is not None else _nearest(ours, theirs)
        ours, spread, row = ours[..., at, :], spread[..., at, :], f" with row {at + 1}"
    if theirs.size != ours.size or theirs.shape[-1] != ours.shape[-1]:
        return Compared(name, None, NOT_USED)
    told = _to_the_digits(name, use.role, row, theirs.reshape(ours.shape), ours, spread, entry)
    by_chance = told.agrees is False and use.is_row and use.row is None
    return Compared(name, None, NOT_USED) if by_chance else told


def _nearest(ours: np.ndarray, theirs: np.ndarray) -> int:
    rows = np.nan_to_num(
        ours.reshape(-1, ours.shape[-1]) - theirs.ravel(), posinf=1e30, neginf=-1e30
    )
    return int(np.abs(rows).sum(axis=-1).argmin()) % ours.shape[-2]


def _to_the_digits(
    name: str,
    role: str,
    row: str,
    theirs: np.ndarray,
    ours: np.ndarray,
    spread: np.ndarray,
    entry: ArrayEntry,
) -> Compared:
    """Say whether all numbers agree to the printed digits, or which one differs first."""
    unit = unit_of(theirs, entry.in_powers)
    finite = np.isfinite(ours) & np.isfinite(theirs)
    both_hide = ~finite & ((ours == theirs) | (np.isneginf(ours) & (theirs <= HIDDEN_FROM)))
    apart = np.where(both_hide, 0.0, np.inf)
    np.abs(np.subtract(ours, theirs, out=apart, where=finite), out=apart)
    largest = float(np.abs(ours[np.isfinite(ours)]).max(initial=0))
    near = 0.5000001 * np.broadcast_to(unit, ours.shape) + 1e-12 * largest
    agree = f"all {ours.size:,} agree{row}" if ours.size > 1 else f"agrees{row}"
    if (apart <= near).all():
        told = f"to {_decimals(unit)}" if np.any(unit) else "exactly"
        return Compared(name, role, f"{agree}, {told}", True)
    if (apart <= near + spread).all():
        return Compared(name, role, f"{agree}, as far as the printed inputs can tell", True)
    if (apart <= near + spread + FLOAT32 * largest).all():
        digits = int(-np.log10(apart.max() / largest))
        return Compared(name, role, f"{agree}, to {amount(digits, 'digit')}, as in float32", True)
    place = tuple(int(k) for k in np.argwhere(apart > near + spread + FLOAT32 * largest)[0])
    at = (
        f"row {place[-2] + 1}, column {place[-1] + 1}"
        if len(place) > 1
        else f"column {place[-1] + 1}"
    )
    said = (
        f"differs{row} at {at}: {number(theirs[place], 6)}, on the board {number(ours[place], 6)}"
    )
    return Compared(name, role, said, False)


def _decimals(unit: np.ndarray | float) -> str:
    if isinstance(unit, np.ndarray):
        return "the printed digits"
    return amount(round(-math.log10(unit)), "decimal")


def answers(
    arrays: Mapping[str, ArrayEntry], found: Found, all_compared: list[Compared]
) -> tuple[dict[str, np.ndarray], dict[str, Written | None]]:
    """Return the whole stages that were compared, and how each array was rounded, by role."""
    stages: dict[str, np.ndarray] = {}
    ways: dict[str, Written | None] = {}
    for entry, use, one in zip(arrays.values(), found.uses, all_compared, strict=True):
        if one.role is None or use.is_row or one.role in ways:
            continue
        values = entry.read()
        ways[one.role] = rounded(values, entry.in_powers)
        if one.agrees is not None:
            stages[one.role] = np.swapaxes(values, -1, -2) if use.transposed else values
    return stages, ways


def summary(all_compared: list[Compared]) -> str:
    """Say in one sentence whether what a text shows agrees with the board."""
    told = [one.agrees for one in all_compared if one.agrees is not None]
    if not told:
        return ""
    if all(told):
        agree = "The other array of a stage agrees"
        if len(told) > 1:
            agree = f"All {amount(len(told), 'other array')} of a stage agree"
        return f"{agree} with the board."
    first = next(one.name for one in all_compared if one.agrees is False)
    differ = "differs" if told.count(False) == 1 else "differ"
    said = (
        f"{told.count(False)} of {amount(len(told), 'array')} of a stage {differ} from the board,"
        f" {first} first."
        if len(told) > 1
        else f"“{first}” differs from the board."
    )
    if not any(one.agrees is not None and one.role in SEARCHED for one in all_compared):
        said += " Print the weights or the output as well to see why."
    return said


def explained(found: Found) -> list[Relation]:
    """Return the relations by which the uses are known, each once, in order; none of rows."""
    said: dict[str, Relation] = {}
    for relation in found.relations:
        if relation.used and relation.kind != "row" and relation.row is None:
            said.setdefault(str(relation), relation)
    return list(said.values())
