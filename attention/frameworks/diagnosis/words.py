"""The sentences of a diagnosis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attention.arrays.distance import furthest
from attention.frameworks.diagnosis.answers import Set, Target, Verdict
from attention.frameworks.diagnosis.causes import overflow, trouble, where
from attention.frameworks.diagnosis.mistakes import FILLED, NO_SOFTMAX, fill, titles
from attention.frameworks.diagnosis.result import Explanation
from attention.frameworks.diagnosis.search import Found
from attention.frameworks.precision import FEWEST, Written, shows
from attention.vocabulary.sentences import amount, capital, in_words

LISTED = 6  # titles in one sentence
IN_FULL = (
    "M.tolist(), np.set_printoptions(floatmode='unique') or"
    " torch.set_printoptions(precision=16, sci_mode=True)"
)


def titles_of(found: Found, mistakes: Set) -> list[str]:
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


class Words:
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
                return f"Right, as far as {_roundings(self.found.rounded)} can tell."
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
                targets = found.roomy if found.rounded else found.targets
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
        found, rounded = self.found, self.found.rounded
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
            what = ", and ".join(titles_of(self.found, first))
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


def _roundings(rounded: Mapping[str, Written]) -> str:
    """Say which inputs count as rounded to what, such as "the 4 decimals of Q, K and V"."""
    ways: dict[Written, list[str]] = {}
    for name, how in rounded.items():
        ways.setdefault(how, []).append(name)
    return in_words(
        [
            f"{in_words(names)} in {how}" if how.half else f"the {how} of {in_words(names)}"
            for how, names in ways.items()
        ]
    )


def _read_as(names: Sequence[str], what: str) -> str:
    return f"{in_words(names)} {'was' if len(names) == 1 else 'were'} read as rounded to {what}"


def _listed(texts: list[str]) -> str:
    """So many of them that they can be read, and how many more there are."""
    more = len(texts) - LISTED
    return "; ".join(texts if more < 2 else [*texts[:LISTED], f"and {more} more"])
