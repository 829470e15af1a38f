"""Where a framework's answer parts from ours, in a sentence whose every cause was tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.core.trace import AttentionTrace
from attention.frameworks.records import (
    NO_PARTS,
    PARTS,
    Answer,
    Convention,
    Parts,
    checked_mask,
    named,
    replaced,
)
from attention.vocabulary.numbers import number
from attention.vocabulary.sentences import amount, capital, in_words


def differs(
    name: str,
    ours: AttentionTrace,
    theirs: Answer,
    *,
    mask: ArrayLike | None = None,
    causal: bool = False,
    parts: Parts = NO_PARTS,
    rows: Sequence[str] | None = None,
) -> str:
    """One sentence: where ``theirs``, the answer of ``name``, differs from ours, and why.

    Every cause it names was tried: put right in that framework's arithmetic, one after the other,
    it changed the numbers. ``mask``, ``causal`` and ``parts`` are what :func:`answer` was given;
    ``rows`` are labels for the queries, by default 1, 2, ….

    Raises
    ------
    ValueError, TypeError
        One sentence, where the name is not in the table or the mask does not fit.

    >>> from attention.frameworks.records import answer
    >>> from attention.core.trace import scaled_dot_product_attention
    >>> Q, K, V, mask = [[1.0]], [[1.0], [1.0]], [[10.0], [20.0]], [[True, False]]
    >>> ours = scaled_dot_product_attention(Q, K, V, allowed=mask)
    >>> differs("torch_mha", ours, answer("torch_mha", Q, K, V, mask=mask), mask=mask)
    'Hides what you meant to show: True means hide in nn.MultiheadAttention.'
    """
    convention = named(name)
    if theirs.refused:
        return theirs.refused
    case = Case(convention, ours, checked_mask(mask, ours.scores.shape), causal, parts)
    found, fine = _causes(case)
    blind = _say_blind(case, theirs, rows)
    double, error = ours.weights.dtype == np.float64, _error(theirs, ours)
    if error <= (1e-10 if double and convention.floats == "as given" else 1e-5):
        found = blind = []  # nothing to be seen, or causes that undo each other
    return _sentence([*dict.fromkeys(found), *blind], fine, error, 16 if double else 7)


@dataclass(frozen=True)
class Case:
    """A convention beside ours, given the same inputs."""

    convention: Convention
    ours: AttentionTrace
    mask: np.ndarray | None
    causal: bool
    parts: Parts

    def answer(self, **options: Any) -> Answer:
        """Return what the convention answers to the inputs of ours."""
        ours = self.ours
        return self.convention.answer(
            ours.Q, ours.K, ours.V, self.mask, self.causal, self.parts, **options
        )

    @property
    def keep(self) -> np.ndarray:
        """Return where the convention lets a query look, (…, n_q, n_k)."""
        return self.convention.keep(self.mask, self.causal, self.ours.scores.shape, self.parts)

    def changed(self, **fields: Any) -> Case:
        """Return the same with some fields of the convention changed."""
        return replace(self, convention=replace(self.convention, **fields))


def _causes(case: Case) -> tuple[list[str], list[str]]:
    """Return what changed the numbers when it was put right, and what changed no more than digits.

    Each cause is put right on top of those before it; what is left then is said as well.
    """
    found: list[str] = []
    fine: list[str] = []
    options: dict[str, Any] = {}
    convention = case.convention
    right = case.changed(zeroes_rows=True, infinite_row="0", hides_in_bias=False)
    after = right.answer()
    missing: dict[str, list[str]] = {}
    for name in (name for name in case.parts.used if name not in convention.takes):
        before, right = after, right.changed(takes=right.convention.takes | {name})
        after = right.answer()
        if not _same(before, after):
            missing.setdefault(getattr(convention, name), []).append(f"the {PARTS[name]}")
    found += [f"leaves {in_words(names)} out: {why}" for why, names in missing.items()]
    for cause in CAUSES:
        wrong, before = right, after
        changes = cause.put_right(wrong)
        options |= {key: changes.pop(key) for key in ("factor", "leaks") if key in changes}
        right = wrong.changed(**changes)
        after = right.answer(**options)
        if not _same(before, after):
            (fine if cause.fine else found).append(cause.say(wrong, before))
    if not _same(after, case.ours):
        found.append(_say_rest(right))
    return found, fine


@dataclass(frozen=True)
class _Cause:
    """One way to differ: how to put it right, and how to say so where that changed the numbers."""

    put_right: Callable[[Case], dict[str, Any]]  # → fields or options to change
    say: Callable[[Case, Answer], str]  # with the answer before it was put right
    fine: bool = False  # changes digits, not what is seen


def _say_polarity(case: Case, before: Answer) -> str:
    hides = (case.ours.allowed & ~case.keep).any()
    what = "hides what you meant to show" if hides else "shows what you meant to hide"
    return f"{what}: True means hide in {case.convention.title}"


_OTHER = {"upper left": "lower right", "lower right": "upper left"}


def _other_corner(case: Case) -> dict[str, Any]:
    """Return the other corner, where that makes their mask ours."""
    other = {"causal": _OTHER[case.convention.corner]}
    return other if (case.changed(**other).keep == case.ours.allowed).all() else {}


def _say_corner(case: Case, before: Answer) -> str:
    corner = case.convention.corner
    return f"its causal mask is aligned {corner}, ours {_OTHER[corner]}"


def _say_scale(case: Case, before: Answer) -> str:
    convention, ours = case.convention, case.ours
    root = 1 / math.sqrt(ours.Q.shape[-1])
    what = "does not divide by √d_k" if convention.scale == "1" else "divides by √d_k"
    usual = math.isclose(ours.scale, root)
    where = "" if usual else f", where ours multiplies by {number(ours.scale, 4)}"
    sharper = (1 if convention.scale == "1" else root) > ours.scale
    return f"{what}{where}: its weights are {'sharper' if sharper else 'flatter'}"


def _say_hidden(case: Case, before: Answer) -> str:
    (weights, _), keep = _weights_and_output(before), case.keep
    kept = weights[~keep]
    lost = 1 - weights.sum(axis=-1)[keep.any(axis=-1)]
    if case.convention.zeroes and (lost > 1e-5).any():
        gone = number(np.nanmax(lost))
        return f"its filler is finite: up to {gone} of a row's weight is lost to hidden keys"
    if np.isnan(kept).any() or not kept.any():
        return "lets NaN or ∞ at a hidden key reach its answer"
    return f"its filler is finite: a hidden key keeps up to {number(kept.max())} of a row's weight"


def _say_floats(case: Case, before: Answer) -> str:
    what = "its softmax" if "softmax" in case.convention.floats else "it"
    return f"{what} computes in float32"


def _change(**fields: Any) -> Callable[[Case], dict[str, Any]]:
    """Return a function that puts these fields right, whatever the case."""
    return lambda case: dict(fields)


def _say(words: str) -> Callable[[Case, Answer], str]:
    """Return a function that says the same of every case."""
    return lambda case, before: words


CAUSES = (  # in the order in which they are put right; a hidden row comes before them all
    _Cause(_change(true_means="may look"), _say_polarity),
    _Cause(_other_corner, _say_corner),
    _Cause(
        _change(lone_query_sees_all=False),
        _say("its look-ahead switch hides nothing from a single query"),
    ),
    _Cause(lambda case: {"factor": case.ours.scale}, _say_scale),
    _Cause(_change(hide=replaced(-np.inf), zeroes=False), _say_hidden),
    _Cause(_change(leaks=False), _say_hidden),
    _Cause(_change(roots=False), _say("it multiplies Q and K by √scale each"), fine=True),
    _Cause(_change(softcap="softcap="), _say("its soft cap is a float32"), fine=True),
    _Cause(_change(floats="as given"), _say_floats, fine=True),
)


def _say_blind(case: Case, theirs: Answer, rows: Sequence[str] | None) -> list[str]:
    """Say what is in the rows that see no key, as the convention reads its mask, if not 0."""
    ours, right = case.ours, case.changed(zeroes_rows=True, infinite_row="0", hides_in_bias=False)
    righted, _ = _weights_and_output(right.answer())
    weights, _ = _weights_and_output(theirs)
    same = np.isclose(weights, righted, atol=1e-5).all(axis=-1)
    wrong = (~right.keep.any(axis=-1) | ours.hidden_rows) & ~same  # by the mask, or by a bias
    if not wrong.any():
        return []
    unmasked, _ = _weights_and_output(case.convention.answer(ours.Q, ours.K, ours.V))
    there = _say_kept(weights[wrong], unmasked[wrong])
    items = wrong.any(axis=-1)
    some = "" if items.all() else f" in {items.sum()} of {items.size} items"
    zero = ", where ours is 0" if ours.hidden_rows[wrong].all() else ""
    which = np.flatnonzero(wrong.reshape(-1, wrong.shape[-1]).any(axis=0))
    return [f"{_listed(which, rows)} no key{some}: {there}{zero}"]


def _say_kept(kept: np.ndarray, unmasked: np.ndarray) -> str:
    """The weights kept in rows that see no key, (rows, n_k), beside those without a mask."""
    if np.isnan(kept).all():
        return "NaN there"
    if np.allclose(kept, 1 / kept.shape[-1], atol=1e-3):
        return "it spreads its weight evenly"
    if np.allclose(kept, unmasked, atol=1e-3):
        return "it shares its weight as if nothing were hidden"
    return "its weights there are not all 0"


def _listed(indices: np.ndarray, rows: Sequence[str] | None) -> str:
    labels = [str(i + 1) if rows is None else rows[i] for i in indices]
    named = in_words(labels, 4 if len(labels) == 4 else 3)  # no "and 1 more"
    return f"row {named} sees" if len(labels) == 1 else f"rows {named} see"


def _say_rest(case: Case) -> str:
    if (case.keep == case.ours.allowed).all():
        return "ours has no softmax, or has a bias or a soft cap that was not passed to it"
    return "it hides with the mask, and ours in another way, such as adding −1e9"


def _same(before: Answer, after: Answer | AttentionTrace) -> bool:
    """Whether they differ by no more than rounding in the float type of the second."""
    double = np.asarray(after.weights).dtype == np.float64
    return _error(before, after) <= (1e-10 if double else 1e-5)


def _weights_and_output(answer: Answer | AttentionTrace) -> tuple[np.ndarray, np.ndarray]:
    """The weights and the output, which a refused answer does not have."""
    if answer.weights is None or answer.output is None:
        raise ValueError("an answer that was refused has no numbers to compare.")
    return answer.weights, answer.output


def _error(a: Answer, b: Answer | AttentionTrace) -> float:
    """The largest difference: of weights as it is, of outputs beside the largest of ``b``'s."""
    worst = 0.0
    for is_output, (one, other) in enumerate(
        zip(_weights_and_output(a), _weights_and_output(b), strict=True)
    ):
        size = np.abs(other[np.isfinite(other)]).max(initial=0) if is_output else 1
        with np.errstate(all="ignore"):
            apart = np.abs(one.astype(np.float64) - other) / (size or 1)
        alike = (one == other) | (np.isnan(one) & np.isnan(other))
        worst = max(
            worst, np.where(alike, 0, np.where(np.isnan(apart), np.inf, apart)).max(initial=0)
        )
    return float(worst)


def _sentence(found: list[str], fine: list[str], error: float, most: int) -> str:
    """The causes in one sentence; where they cost no more than digits, how many are left."""
    if found:
        text = "; ".join(found + fine)
    else:
        digits = most if error == 0 else max(0, min(most, math.floor(-math.log10(min(error, 1)))))
        alike = f"agrees to {amount(digits, 'digit')}"
        agrees = alike if digits else "differs from the first digit"
        text = ": ".join(filter(None, (agrees, " and ".join(fine))))
    return f"{capital(text)}."
