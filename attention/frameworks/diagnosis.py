"""Why does mine differ? The known mistakes, alone and in pairs, tried on the same inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attention.arrays.blocks import one_blas_thread
from attention.arrays.checks import check_count
from attention.arrays.conversion import shown
from attention.arrays.distance import difference, furthest
from attention.arrays.hints import hinting
from attention.core.biases import RelativeBias
from attention.core.masks import MASKS
from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary
from attention.frameworks.answers import Set, Target, Verdict
from attention.frameworks.causes import (
    damaged,
    likely_cause,
    nothing_to_compare,
    overflow,
    trouble,
    where,
)
from attention.frameworks.given import Given, checked
from attention.frameworks.mistakes import FILLED, NO_SOFTMAX, fill, titles
from attention.frameworks.precision import FEWEST, Written, shows
from attention.frameworks.result import Diagnosis, Explanation
from attention.frameworks.search import Found, Search
from attention.vocabulary.sentences import amount, capital, in_words

LISTED = 6  # titles in one sentence
LOOK_AHEAD = {  # names in MASKS
    "causal": "a look-ahead mask",
    "causal_lower_right": "a look-ahead mask aligned to the last key",
}
IN_FULL = (
    "M.tolist(), np.set_printoptions(floatmode='unique') or"
    " torch.set_printoptions(precision=16, sci_mode=True)"
)


@hinting
def diagnose(
    Q: Any = None,
    K: Any = None,
    V: Any = None,
    *,
    output: Any = None,
    weights: Any = None,
    X: Any = None,
    memory: Any = None,
    W_Q: Any = None,
    W_K: Any = None,
    W_V: Any = None,
    W_O: Any = None,
    b_Q: Any = None,
    b_K: Any = None,
    b_V: Any = None,
    b_O: Any = None,
    heads: int = 1,
    kv_heads: int | None = None,
    allowed: Any = None,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    positions: Any = None,
    norm: RMSNorm | None = None,
    rotary: Rotary | None = None,
    sinks: Any = None,
    softmax: bool | str = True,
    relative: RelativeBias | None = None,
    decimals: int | Mapping[str, int] | None = None,
    announce: Callable[[str], object] | None = None,
) -> Diagnosis:
    """Say which known mistake, or which two, turn right attention into these numbers.

    Parameters
    ----------
    Q, K, V : array_like, (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v)
        What both sides start from, where it was not projected.
    output : array_like, (…, n_q, d_v), with heads also (…, n_q, h · d_v)
    weights : array_like, (…, n_q, n_k), for several heads also their mean
        What the other code answers: one of the two, or both.
    X, W_Q, W_K, W_V : array_like, (…, n_q, d_model), (d_model, h · d)
        Instead of Q, K and V: mistakes in the projections are looked for as well.
    memory : array_like, (…, n_k, d_model)
        A second sequence that keys and values come from.
    W_O : array_like, (h · d_v, d_out)
        Mixes the joined heads: mistakes after them are looked for as well.
    b_Q, b_K, b_V, b_O : array_like, (columns,)
        Added to what W_Q, W_K, W_V and W_O give.
    heads, kv_heads : int
        Q, K and V hold that many heads side by side: (…, n, h · d). Default: 1. Fewer ``kv_heads``
        serve several each.
    allowed, bias, scale, softcap :
        As the other code means them: see :func:`attention.multi_head_attention`.
    positions : array_like, (…, n_q, d_model)
        Added to X, as in :func:`attention.self_attention`.
    norm, rotary, sinks, relative :
        What is done to Q and K of each head, to the softmax and to the scores, as in
        :func:`attention.multi_head_attention`.
    softmax : True or "sigmoid"
        What makes weights of the scores, as the other code means it.
    decimals : int, or a dict of int by the name of an argument: ``{"X": 4, "output": 3}``
        How many decimals the numbers were rounded to. One int is for the answer, and for those
        inputs whose numbers have that many decimals. Default: of the answer seen from the numbers,
        where there are enough of them; inputs are exact, but for those of type float16 or bfloat16
        that are not whole numbers.
    announce : function of a sentence
        Is told, before the work begins, what is going to be tried and about how long that takes;
        ``print`` for example.

    The work is bounded, to some seconds; what was left out for that, the answer says.

    Raises
    ------
    ValueError, TypeError
        One sentence that names the argument, what came and what is allowed.

    >>> Q = K = V = np.eye(2)
    >>> found = diagnose(Q, K, V, weights=[[0.7311, 0.2689], [0.2689, 0.7311]])
    >>> found.correct
    False
    >>> print(found.verdict)
    The scores are not scaled. With that, all numbers agree to 4 digits; the first difference is \
in scaled. Multiply the scores by the scale, by default 1/√d_k, before they are masked and become \
weights.
    """
    given = Given(
        Q=Q,
        K=K,
        V=V,
        X=X,
        memory=memory,
        W_Q=W_Q,
        W_K=W_K,
        W_V=W_V,
        W_O=W_O,
        b_Q=b_Q,
        b_K=b_K,
        b_V=b_V,
        b_O=b_O,
        heads=heads,
        kv_heads=kv_heads,
        allowed=allowed,
        bias=bias,
        scale=scale,
        softcap=softcap,
        positions=positions,
        norm=norm,
        rotary=rotary,
        sinks=sinks,
        softmax=softmax,
        relative=relative,
    )
    return diagnose_given(
        checked(given), output=output, weights=weights, decimals=decimals, announce=announce
    )


def diagnose_given(
    given: Given,
    *,
    output: Any = None,
    weights: Any = None,
    decimals: int | Mapping[str, int] | None = None,
    announce: Callable[[str], object] | None = None,
) -> Diagnosis:
    """:func:`diagnose` for inputs that were checked already."""
    # its matrices are small: more threads would wait; what overflows is infinitely far off
    theirs = {"output": output, "weights": weights}
    given, of_answers = _rounded(given, theirs, decimals)
    with one_blas_thread(), np.errstate(all="ignore"):
        return _explained(given, theirs, of_answers, announce)


def _rounded(
    given: Given, theirs: dict[str, Any], decimals: int | Mapping[str, int] | None
) -> tuple[Given, Mapping[str, int]]:
    """Return the inputs with their rounding, and to how many decimals the answers are rounded."""
    if decimals is None:
        return given, {}
    if isinstance(decimals, Mapping):
        there = [*given.arrays, *(name for name, M in theirs.items() if M is not None)]
        for name in decimals:
            if name not in there:
                raise ValueError(
                    f"decimals names {shown(name)}; it may name {in_words(there)}, which are given."
                )
        each = {name: check_count(f"decimals[{name!r}]", n, 0) for name, n in decimals.items()}
    else:
        count = check_count("decimals", decimals, 0)
        each = dict.fromkeys(theirs, count)
        each |= {name: count for name, M in given.arrays.items() if shows(M, count)}
    rounded = {name: Written(each[name]) for name in given.arrays if name in each}
    return replace(given, rounded={**given.rounded, **rounded}), each


def _explained(
    given: Given,
    theirs: dict[str, Any],
    decimals: Mapping[str, int],
    announce: Callable[[str], object] | None,
) -> Diagnosis:
    if announce is not None and not callable(announce):
        raise TypeError(f"announce is {shown(announce)}; expected a function of a sentence.")
    search = Search(given, theirs, decimals)
    lost = {t.name: nothing for t in search.targets if (nothing := nothing_to_compare(t))}
    if 0 < len(lost) < len(search.targets):
        return _without(search, lost, theirs, decimals, announce)
    if announce is not None:
        announce(str(search.plan))
    if lost:
        nothing, *_ = lost.values()
        cause = likely_cause(search.sample)
        verdict = f"There is no finite number to compare: {nothing}. Likely cause: {cause}."
        answers = _answers(search)
        return Diagnosis(
            explanations=(),
            closest=None,
            unseen=(),
            answers=answers,
            verdict=verdict,
            notes=(),
            correct=False,
            tried=0,
            plan=search.plan,
        )
    found = search.run()
    explanations = tuple(_explanation(found, each) for each in found.explaining)
    near = None if explanations else _closest(found)
    closest = (
        explanations[0] if explanations else None if near is None else _explanation(found, near)
    )
    correct = bool(explanations) and not explanations[0].mistakes
    answers = _answers(search)
    words = _Words(found, explanations, closest, correct, answers)
    if not explanations and (mask := _look_ahead(search.given, theirs, decimals)):
        return _right_with(mask, search, len(found.verdicts))
    return Diagnosis(
        explanations=explanations,
        closest=closest,
        unseen=tuple(found.unseen),
        answers=answers,
        verdict=words.verdict(),
        notes=tuple(words.notes()),
        correct=correct,
        tried=len(found.verdicts),
        plan=found.plan,
    )


def _look_ahead(given: Given, theirs: dict[str, Any], decimals: Mapping[str, int]) -> str:
    """Return the look-ahead mask with which the numbers are right, where no mask was given, or one
    that hides nothing; "" for none.
    """
    n_q, n_k = given.shape[-2:]
    hides = given.allowed is not None and not np.all(given.allowed)
    names = list(LOOK_AHEAD)[: 1 if n_q == n_k else None]  # both are the same there
    for name in () if hides else names:
        masked = replace(given, allowed=MASKS[name](n_q, n_k))
        if Search(masked, theirs, decimals).is_right():
            return name
    return ""


def _right_with(mask: str, search: Search, tried: int) -> Diagnosis:
    """Say with which mask, which was not given, the numbers are right."""
    n_q, n_k = search.given.shape[-2:]
    return Diagnosis(
        explanations=(),
        closest=None,
        unseen=(),
        answers=_answers(search),
        verdict=(
            f"These numbers are right with {LOOK_AHEAD[mask]}, and none was given; pass"
            f" allowed=attention.{mask}({n_q}, {n_k})."
        ),
        notes=(),
        correct=False,
        tried=tried,
        plan=search.plan,
        mask=mask,
    )


def _without(
    search: Search,
    lost: dict[str, str],
    theirs: dict[str, Any],
    decimals: Mapping[str, int],
    announce: Callable[[str], object] | None,
) -> Diagnosis:
    """Of two answers the one that has finite numbers, and what there is instead of the other."""
    rest = {name: None if name in lost else answer for name, answer in theirs.items()}
    found = _explained(search.given, rest, decimals, announce)
    (nothing,), (other,) = lost.values(), (name for name, M in rest.items() if M is not None)
    inputs = damaged(search.given)
    verdict = (
        f"{capital(nothing)}.{f' {inputs}.' if inputs else ''}"
        f" What follows is about the {other} alone. {found.verdict}"
    )
    return replace(found, verdict=verdict, answers=_answers(search), correct=False)


def _answers(search: Search) -> dict[str, tuple[np.ndarray, ...]]:
    """Theirs, ours and the difference, of what has the shape of right attention's."""
    found: dict[str, tuple[np.ndarray, ...]] = {}
    for target in search.targets:
        ours = search.right.get(target.name)
        if ours is not None:
            theirs = search.compared_of(target).values
            found[target.name] = (theirs, ours, difference(theirs, ours))
    return found


def _explanation(found: Found, mistakes: Set) -> Explanation:
    bench, verdict = found.bench, found.verdicts[mistakes]
    stages = bench.run(mistakes)
    # what mixes queries has no room where only some are shown
    stage = bench.first_difference(stages) if stages else None
    ours, theirs = (bench.right[stage], stages[stage]) if stages and stage else (None, None)
    return Explanation(
        mistakes=mistakes,
        error=verdict.error,
        digits=digits_of(found.targets, verdict),
        half=verdict.half,
        stage=stage,
        ours=ours,
        theirs=theirs,
        queries=bench.queries,
        titles=tuple(_titles(found, mistakes)),
    )


def _titles(found: Found, mistakes: Set) -> list[str]:
    """Return their titles; a fill has its number only where another number would be seen."""
    named = titles(mistakes, found.bench.given.softmax is True)
    if mistakes in found.vague:
        filled = fill(mistakes)
        which = f"{FILLED}, and these numbers do not tell which"
        return [which if m is filled else title for m, title in zip(mistakes, named, strict=True)]
    return named


def digits_of(targets: Sequence[Target], verdict: Verdict) -> int:
    """Return how many digits agree: as many as differ by nothing, and as were written."""
    units = [target.unit for target in targets if target.unit > 1e-12]
    uncertain = max(verdict.far, *units, 1e-16)
    return max(0, round(-math.log10(uncertain))) if uncertain < math.inf else 0


def _closest(found: Found) -> Set | None:
    """Return the fewest mistakes among those about as near as the nearest, where that is near.

    Near is what leaves less than a quarter of what right attention leaves, or of right attention
    itself, less than a tenth of the numbers; and less than a quarter of what 0 would leave, or,
    where a row is fitted, one row for all.
    """
    verdicts = {
        each: verdict
        for each, verdict in found.verdicts.items()
        if verdict.spread < found.varied / 4 or not any(mistake.fitted for mistake in each)
    }
    if not verdicts:
        return None
    least = min(verdict.spread for verdict in verdicts.values())
    near = [each for each, verdict in verdicts.items() if verdict.spread <= 1.5 * least]
    best = min(near, key=lambda each: (len(each), verdicts[each].spread))
    right = verdicts.get(())
    limit = 0.1 if not best or right is None else min(0.1, right.spread / 4)
    limit = min([limit, *(target.spread / 4 for target in found.targets)])
    return best if verdicts[best].spread <= limit else None


# ---- in words ------------------------------------------------------------------------------------


class _Words:
    """The sentences of a diagnosis."""

    def __init__(
        self,
        found: Found,
        explanations: tuple[Explanation, ...],
        closest: Explanation | None,
        correct: bool,
        answers: dict,
    ) -> None:
        self.found, self.explanations, self.closest = found, explanations, closest
        self.correct, self.answers = correct, answers

    def verdict(self) -> str:
        """Return the answer."""
        if not self.explanations:
            return self._unexplained()
        first = self.explanations[0]
        if not first.mistakes:
            return self._right(first)
        return self._mistaken(first)

    def _unexplained(self) -> str:
        tried = f"{len(self.found.verdicts):,} sets tried"
        text = (
            "None of the known mistakes explains these numbers, nor do two of them together"
            f" ({tried})."
        )
        if self.closest is None:
            return text
        if not self.closest.mistakes:
            error = self.closest.error
            return f"{text} Right attention is the closest; it is off by up to {error:.3g}."
        return f"{text} The closest: {self.closest}; off by up to {self.closest.error:.3g}."

    def _right(self, first: Explanation) -> str:
        if first.half is None:
            shown = next((t.written.half for t in self.found.targets if t.written.half), None)
            near = f", as near as {shown} comes" if shown else ""
            if self.found.verdicts[()].by_inputs:
                to = in_words([*dict.fromkeys(map(str, self.found.bench.given.rounded.values()))])
                near = f", as near as inputs rounded to {to} allow"
            return f"These numbers are right, to {amount(first.digits, 'digit')}{near}."
        text = (
            f"These numbers are right if they were computed in half precision ({first.half}), which"
            f" numbers as short as these do not show: they are off by up to {first.error:.3g}."
        )
        if len(self.explanations) == 1:
            return text
        others = _listed([str(explanation) for explanation in self.explanations[1:]])
        return f"{text} Or there is a mistake, and the numbers cannot tell: {others}."

    def _mistaken(self, first: Explanation) -> str:
        if len(self.explanations) > 1:
            each = [str(explanation) for explanation in self.explanations]
            text = (
                "These explain the numbers equally well, and the numbers cannot tell which:"
                f" {_listed(each)}."
            )
        else:
            text = (
                f"{capital(str(first))}. With that, all numbers agree to"
                f" {amount(first.digits, 'digit')}"
            )
            text += f"; the first difference is in {first.stage}." if first.stage else "."
        return " ".join([text, *dict.fromkeys(mistake.fix for mistake in first.mistakes)])

    def notes(self) -> list[str]:
        """Return what else there is to say."""
        found = self.found
        said = [self._half(), self._unseen(), self._apart(), *self._rounded()]
        if not self.explanations:
            if found.roomy and () not in found.possible:
                targets = found.roomy if found.bench.given.rounded else found.targets
                said.append(trouble(found.bench, targets, found.roomy, found.right))
            if found.roomy:
                said.append(where(found.roomy, found.right))
                said.append(overflow(found.bench, found.targets))
            said.append(self._not_tried())
        plan = found.plan
        if plan.compared < plan.shape[-2]:
            said.append(f"Only {plan.compared:,} of the {plan.shape[-2]:,} queries were compared.")
        return [sentence for sentence in [*said, *found.left_out] if sentence]

    def _rounded(self) -> list[str]:
        """Name the inputs that count as rounded, where that may matter, and how to give more."""
        found, rounded = self.found, self.found.bench.given.rounded
        if not rounded and not self.explanations:
            return self._short()
        printed = any(t.written.decimals or t.written.digits for t in found.targets)
        if self.explanations and not printed:
            (first, *_) = self.explanations
            if not found.verdicts[first.mistakes].by_inputs:
                return []  # explained to more digits than rounded inputs would leave
        said = []
        for half in (False, True):
            ways: dict[str, list[str]] = {}
            for name, written in rounded.items():
                if bool(written.half) == half:
                    ways.setdefault(str(written), []).append(name)
            if ways:
                each = "; ".join(_read_as(names, what) for what, names in ways.items())
                before = f"give the numbers as they were before conversion to {in_words([*ways])}"
                how = before if half else f"print them with {IN_FULL}"
                said.append(f"{each}. To compare more digits, {how}.")
        return said

    def _short(self) -> list[str]:
        """Name the inputs that may be rounded although nothing says so: their numbers are short."""
        short: dict[int, list[str]] = {}
        for name, M in self.found.bench.given.arrays.items():
            count = next((n for n in range(FEWEST, 7) if shows(M, n)), None)
            if count is not None:
                short.setdefault(count, []).append(name)
        return [
            f"No number of {in_words(names)} has more than {count} decimals, and they count as"
            f" exact; if they were rounded, give them in full, by {IN_FULL}, or in Python"
            f" decimals={count}."
            for count, names in short.items()
        ]

    def _half(self) -> str | None:
        """Half precision that nothing shows, said as a possibility."""
        verdicts, right = self.found.verdicts, self.found.verdicts.get(())
        if self.found.possible:
            (first,) = self.found.possible
            what = ", and ".join(_titles(self.found, first))
            return (
                f"Half precision ({verdicts[first].half}) would explain them"
                f"{f' together with this: {what}' if what else ''}; the numbers do not show it."
            )
        if (
            self.explanations
            and self.explanations[0].mistakes
            and right
            and right.fits
            and right.half
        ):
            return (
                f"Or nothing is wrong but half precision ({right.half}), which would explain"
                f" {right.error:.3g}; the numbers do not show it."
            )
        return None

    def _unseen(self) -> str | None:
        if not (named := self._titles_of_unseen() if self.found.unseen else []):
            return None
        unseen = _listed(named)
        digits = self.explanations[0].digits
        if self.correct and digits <= 2:
            return (
                f"{amount(digits, 'digit')} cannot tell them from numbers with one of these"
                f" mistakes: {unseen}."
            )
        return (
            f"These numbers cannot show whether one of these mistakes was made as well: {unseen}."
        )

    def _titles_of_unseen(self) -> list[str]:
        """Return their titles beside the mistakes found; all that fill hidden scores share one."""
        beside, said = self.explanations[0].mistakes, []
        alone = self.found.bench.given.softmax is True
        without = any(mistake.name in NO_SOFTMAX for mistake in beside)
        for mistake in self.found.unseen:
            if without and mistake.parts == {"sinks"}:
                continue  # there is no sum that they could be in
            is_fill = fill([mistake]) is not None or mistake.name == "hiding: filled"
            (title,) = titles([mistake], alone and not without)
            said.append(FILLED if is_fill else title)
        return [*dict.fromkeys(said)]

    def _apart(self) -> str | None:
        """Where both were given and nothing explains them: how far each is off."""
        if self.explanations or len(self.answers) < 2:
            return None
        off = [
            f"the {name} by up to {furthest(theirs, ours):.3g}"
            for name, (theirs, ours, _) in self.answers.items()
        ]
        return f"Next to right attention, {in_words(off)}."

    def _not_tried(self) -> str:
        return "Not tried: pairs without one of the twelve commonest mistakes, and three at once."


def _read_as(names: Sequence[str], what: str) -> str:
    return f"{in_words(names)} {'was' if len(names) == 1 else 'were'} read as rounded to {what}"


def _listed(texts: list[str]) -> str:
    """So many of them that they can be read, and how many more there are."""
    more = len(texts) - LISTED
    return "; ".join(texts if more < 2 else [*texts[:LISTED], f"and {more} more"])
