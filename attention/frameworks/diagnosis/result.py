"""The result of a diagnosis: what explains the numbers, and what else there is to say."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from attention.arrays.distance import difference
from attention.frameworks.diagnosis.mistakes import Mistake
from attention.frameworks.diagnosis.search import Plan


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Some mistakes, what they leave unexplained, and where they begin to show."""

    mistakes: tuple[Mistake, ...]
    error: float  # the largest difference between their numbers and these
    digits: int  # how many digits agree
    half: str | None  # the half precision it takes to explain the rest, where nothing shows that
    stage: str | None  # the first stage that is another than ours
    ours: np.ndarray | None  # that stage, in right attention
    theirs: np.ndarray | None  # and with these mistakes
    queries: np.ndarray | None = None  # which rows these stages show; None: all
    titles: tuple[str, ...] = ()  # what each mistake is called beside the others

    @property
    def difference(self) -> np.ndarray | None:
        """Theirs less ours, at that stage; None where even the shape is another."""
        if self.ours is None or self.theirs is None or self.ours.shape != self.theirs.shape:
            return None
        return difference(self.theirs, self.ours)

    def __str__(self) -> str:
        return ", and ".join(self.titles) or "right attention"

    __repr__ = __str__


@dataclass(frozen=True)
class Cause:
    """One mistake that explains the numbers, for programs."""

    name: str  # as "scale: none"; "mask: not given"
    number: float | None = None  # that was fitted to the numbers
    spread: float | None = None  # of that number: its standard deviation
    stage: str | None = None  # the first that this mistake alone changes
    fix: str = ""  # a sentence


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """What explains the numbers: the fewest mistakes that do. ``str`` says it in three lines."""

    explanations: tuple[
        Explanation, ...
    ]  # about equally near; empty where none explains the numbers
    closest: (
        Explanation | None
    )  # the first of them, or what is near, where nearness means something
    unseen: tuple[Mistake, ...]  # would not show in these numbers, so they may be there as well
    answers: dict[str, tuple[np.ndarray, ...]]  # "output", "weights": theirs, ours, the difference
    lines: tuple[str, ...]  # at most three: what it is, where it begins, what to do
    verdict: str  # the same in one text, with all that explains the numbers equally well
    details: tuple[str, ...]  # what was tried, what cannot be told: all else, a sentence each
    correct: bool  # whether right attention explains the numbers
    tried: int  # how many sets of mistakes
    plan: Plan  # what the search was going to do, and its cost
    mask: str = ""  # a name in MASKS: with this mask, which was not given, the numbers are right
    causes: tuple[Cause, ...] = ()  # the mistakes of the first explanation, or the missing mask
    stages: dict[str, tuple[np.ndarray, ...]] = field(
        default_factory=dict
    )  # those that were given: theirs, ours, the difference
    first: str | None = None  # of them, the first that differs

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the details, under the name that they had in 0.9."""
        return self.details

    @property
    def more(self) -> tuple[str, ...]:
        """Return the details that no line says already: what is folded below the lines."""
        return tuple(sentence for sentence in self.details if sentence not in self.lines)

    def _repr_html_(self) -> str:
        from attention.explain.differing import page  # further right: tests/test_house.py, LATE

        return page(self)
