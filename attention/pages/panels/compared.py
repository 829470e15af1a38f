"""What Compare shows: two settings, and every stage of both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from attention.explain import beside
from attention.explain.beside import StagePair
from attention.explain.view import View
from attention.session.compare.pair import Pair, views
from attention.session.state.settings import Settings


@dataclass(frozen=True)
class Comparison:
    """The settings of the page, with what they compare."""

    s: Settings
    pair: Pair
    a: View
    b: View
    stages: list[StagePair]

    @classmethod
    def of(cls, s: Settings, pair: Pair) -> Comparison:
        """Compute the stages of a pair, which is without a mistake that its B cannot make."""
        a, b = views(pair)
        return cls(s, pair, a, b, list(beside.stages(a, b)))

    @cached_property
    def identical(self) -> list[StagePair]:
        """Return the stages that are the same in A and B, to the bit."""
        return [both for both in self.stages if both.is_alike]
