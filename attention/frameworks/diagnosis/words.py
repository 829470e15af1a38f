"""The sentences of a diagnosis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

from attention.arrays.distance import furthest
from attention.frameworks.diagnosis.answers import Set, Target, Verdict
from attention.frameworks.diagnosis.causes import overflow, trouble, where
from attention.frameworks.diagnosis.mistakes import FILLED, NO_SOFTMAX, fill, titles
from attention.frameworks.diagnosis.result import Explanation
from attention.frameworks.diagnosis.search import Found
from attention.frameworks.diagnosis.stages import GivenStages
from attention.frameworks.precision import FEWEST, Written, shows
from attention.vocabulary.sentences import amount, capital, in_words

UNKNOWN = "None of the known mistakes explains these numbers, nor do two of them together"
UNKNOWN_ALONE = "None of the known mistakes alone explains these stages"
OTHER_SHAPE = "Their shape is not that of right attention."
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


def rounding_of(rounded: Mapping[str, Written]) -> str:
    """Name the inputs that count as rounded, with what they were rounded to."""
    ways: dict[str, list[str]] = {}
    for name, written in rounded.items():
        what = f"{written} numbers" if written.half else str(written)
        ways.setdefault(what, []).append(name)
    return in_words([f"the {what} of {in_words(names)}" for what, names in ways.items()])


class Words:
    """The sentences of a diagnosis."""

    def __init__(
        self,
        found: Found,
        explanations: tuple[Explanation, ...],
        closest: Explanation | None,
        correct: bool,
        answers: dict,
        stages: GivenStages | None = None,
    ) -> None:
        self.found, self.explanations, self.closest = found, explanations, closest
        self.correct, self.answers, self.stages = correct, answers, stages

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Return at most three short lines: what it is, where it begins, what to do."""
        if not self.explanations:
            place, lost = self._place, self._lost
            if self.stages and self.stages.first:
                step = f"Look at the step that makes {self.stages.first}."
                unknown = UNKNOWN if self.answers else UNKNOWN_ALONE
                return f"{unknown}.", f"{capital(str(self.stages))}.", lost or step
            return f"{UNKNOWN}.", place or self._off(), lost or self._wanted()
        first = self.explanations[0]
        if not first.mistakes and self.stages and self.stages.first:
            what, hold = in_words([*self.answers]), "is" if len(self.answers) == 1 else "are"
            return (
                f"The {what} {hold} right, but a stage is not.",
                f"{capital(str(self.stages))}.",
                f"Look at the step that makes {self.stages.first}.",
            )
        if not first.mistakes:
            right = self._right(first)
            return (right, f"{capital(str(self.stages))}.") if self.stages else (right,)
        return self._called(first), self._begins(first), " ".join(self._fixes(first))

    def verdict(self) -> str:
        """Return the lines as one text, with all that explains the numbers equally well."""
        if len(self.explanations) < 2 or not self.explanations[0].mistakes:
            return " ".join(self.lines)
        return " ".join([self._equally_well(), *self._fixes(self.explanations[0])])

    def _called(self, first: Explanation) -> str:
        """Name the mistakes; of several sets that explain the numbers, two."""
        if len(self.explanations) == 1:
            return f"{capital(str(first))}."
        second, more = self.explanations[1], len(self.explanations) - 2
        others = f"; or {amount(more, 'other')}" if more else ""
        shared = [title for title in first.titles if title in second.titles]
        if shared and not more:  # said once
            own = [", and ".join(t for t in e.titles if t not in shared) for e in (first, second)]
            return f"{capital(', or '.join(own))}; and {', and '.join(shared)}."
        return f"{capital(str(first))}; or {second}{others}."

    def _begins(self, first: Explanation) -> str:
        agree = f"all numbers agree to {amount(first.digits, 'digit')}"
        if self.stages:
            explained = self.stages.explained(first.mistakes)
            agree = agree if explained else agree.replace("numbers", "numbers of the answer")
            them = "With one of them" if len(self.explanations) > 1 else "With that"
            return f"{capital(str(self.stages))}. {them}, {agree}."
        if len(self.explanations) > 1:
            stages = [*dict.fromkeys(each.stage for each in self.explanations if each.stage)]
            where = f"; the first difference is in {' or '.join(stages)}" if stages else ""
            either = "either" if len(self.explanations) == 2 else "any of them"
            return f"With {either}, {agree}, so they cannot tell which it is{where}."
        where = f"; the first difference is in {first.stage}" if first.stage else ""
        return f"With that, {agree}{where}."

    def _fixes(self, first: Explanation) -> list[str]:
        return [*dict.fromkeys(mistake.fix for mistake in first.mistakes)]

    def _equally_well(self) -> str:
        each = [str(explanation) for explanation in self.explanations]
        return (
            "These explain the numbers equally well, and the numbers cannot tell which:"
            f" {_listed(each)}."
        )

    def _right(self, first: Explanation) -> str:
        agree = f"all numbers agree to {amount(first.digits, 'digit')}"
        if first.half is None:
            if self.found.verdicts[()].by_inputs:
                return f"Right, as far as {rounding_of(self.found.rounded)} can tell: {agree}."
            shown = next((t.written.half for t in self.found.targets if t.written.half), None)
            near = f", as near as {shown} comes" if shown else ""
            return f"Right: {agree}{near}."
        text = (
            f"Right if they were computed in half precision ({first.half}), which numbers as short"
            f" as these do not show: they are off by up to {first.error:.3g}."
        )
        if len(self.explanations) == 1:
            return text
        others = _listed([str(explanation) for explanation in self.explanations[1:]])
        return f"{text} Or there is a mistake, and the numbers cannot tell: {others}."

    @cached_property
    def _place(self) -> str | None:
        """Say on which side of the weights the trouble lies, or where the few differences are."""
        found = self.found
        if not found.roomy:
            return None
        targets = found.roomy if found.rounded else found.targets
        side = None
        if () not in found.possible:
            side = trouble(found.bench, targets, found.roomy, found.right)
        return side or self._where

    def _of_stages(self) -> str | None:
        """Say that the mistakes that explain the answer do not explain the stages."""
        if not self.stages or not self.explanations or not self.explanations[0].mistakes:
            return None
        if self.stages.explained(self.explanations[0].mistakes):
            return None
        if self.stages.first is None:
            return "All stages given are right, so these mistakes would come after them."
        return "The stages given are not what these mistakes make of them: there is more to find."

    @cached_property
    def _where(self) -> str | None:
        """Say which numbers differ, where few do."""
        return where(self.found.roomy, self.found.right) if self.found.roomy else None

    @cached_property
    def _lost(self) -> str | None:
        """Say in which type numbers overflowed, where just the lost ones would have."""
        return overflow(self.found.bench, self.found.targets) if self.found.roomy else None

    def _off(self) -> str:
        """Say how far right attention is off, of all that has its shape."""
        off = [f"by up to {error:.3g} in the {name}" for name, error in self._errors().items()]
        return f"They differ from right attention {in_words(off)}." if off else OTHER_SHAPE

    def _errors(self) -> dict[str, float]:
        return {name: furthest(theirs, ours) for name, (theirs, ours, _) in self.answers.items()}

    def _wanted(self) -> str:
        """Say what to give so that more can be told."""
        there = {target.name for target in self.found.targets}
        wanted = [f"your {name}" for name in ("weights", "output") if name not in there]
        if self.found.bench.given.X is None:
            wanted.insert(0, "X with W_Q, W_K and W_V")
        if self.stages is None:
            wanted.append("a stage such as the scores")
        elif not wanted:
            wanted.append("more of the stages")
        *rest, last = wanted
        return f"To learn more, give {', '.join(rest)}{', or ' if rest else ''}{last}."

    def details(self) -> list[str]:
        """Return what else there is to say."""
        found = self.found
        said = [self._half(), self._unseen(), self._apart(), *self._rounded()]
        if len(self.explanations) > 2 and self.explanations[0].mistakes:
            said.insert(0, self._equally_well())
        said.append(self._of_stages())
        if not self.explanations:
            said.append(self._place)  # in full here too: programs read these sentences alone
            said.append(self._where)
            said.append(self._lost)
            said.append(self._nearest())
            said.append(f"{amount(len(found.verdicts), 'set')} of mistakes were tried.")
            said.append(self._not_tried())
        plan = found.plan
        if plan.compared < plan.shape[-2]:
            said.append(f"Only {plan.compared:,} of the {plan.shape[-2]:,} queries were compared.")
        return [*dict.fromkeys(sentence for sentence in [*said, *found.left_out] if sentence)]

    def _nearest(self) -> str | None:
        """Name what is near, where nearness means something, and how much it leaves."""
        if self.closest is None:
            return None
        if not self.closest.mistakes:
            return f"Right attention is the closest; it is off by up to {self.closest.error:.3g}."
        return f"The closest would explain them to within {self.closest.error:.3g}: {self.closest}."

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
        return f"Each of these mistakes would give the same numbers here: {unseen}."

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
        off = [f"the {name} by up to {error:.3g}" for name, error in self._errors().items()]
        return f"Next to right attention, {in_words(off)}."

    def _not_tried(self) -> str:
        if not self.answers and self.stages:
            return "Not tried: two mistakes together; give an output or weights for that."
        return "Not tried: pairs without one of the twelve commonest mistakes, and three at once."


def _read_as(names: Sequence[str], what: str) -> str:
    return f"{in_words(names)} {'was' if len(names) == 1 else 'were'} read as rounded to {what}"


def _listed(texts: list[str]) -> str:
    """So many of them that they can be read, and how many more there are."""
    more = len(texts) - LISTED
    return "; ".join(texts if more < 2 else [*texts[:LISTED], f"and {more} more"])
