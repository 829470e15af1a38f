"""How much of what is repeated by seed a run repeats: a share of it, or with THOROUGH=1 all."""

import os
import random
from collections.abc import Iterable, Sequence

from attention.session.state.examples import EXAMPLES

THREE = ("four-words", "alibi", "batch")  # plain numbers; heads under a mask; a batch
THOROUGH = os.environ.get("THOROUGH", "") not in ("", "0")


def amount(share: int, every: int) -> int:
    """The share of a usual run, or every one of them on demand."""
    return every if THOROUGH else share


def few(cases: Iterable[str]) -> list[str]:
    """Those cases that are no example, and three that are; every one of them on demand."""
    return [name for name in cases if THOROUGH or name in THREE or name not in EXAMPLES]


def some(cases: Iterable, of: int) -> Sequence:
    """One in so many of the cases, drawn by seed, in their order; every one of them on demand."""
    cases = list(cases)
    if THOROUGH:
        return cases
    return [cases[k] for k in sorted(random.Random(0).sample(range(len(cases)), len(cases) // of))]
