"""The result of a diagnosis: what explains the numbers, and what else there is to say."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """What explains the numbers: the fewest mistakes that do. ``str`` says it in sentences."""

    explanations: tuple[
        Explanation, ...
    ]  # about equally near; empty where none explains the numbers
    closest: (
        Explanation | None
    )  # the first of them, or what is near, where nearness means something
    unseen: tuple[Mistake, ...]  # would not show in these numbers, so they may be there as well
    answers: dict[str, tuple[np.ndarray, ...]]  # "output", "weights": theirs, ours, the difference
    verdict: str  # the answer in a sentence or two
    notes: tuple[str, ...]  # what else there is to say, a sentence each
    correct: bool  # whether right attention explains the numbers
    tried: int  # how many sets of mistakes
    plan: Plan  # what the search was going to do, and its cost
    mask: str = ""  # a name in MASKS: with this mask, which was not given, the numbers are right

    def __str__(self) -> str:
        return " ".join([self.verdict, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from attention.explain.differing import page  # further right: tests/test_house.py, LATE

        return page(self)
