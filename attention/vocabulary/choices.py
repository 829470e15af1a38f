"""An entry of a table to choose from: its label and its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Choice(Generic[P, R]):
    """Call it like its function.

    ``label`` is what menus show; ``ranged`` says that it takes low and high.

    >>> Choice("twice", lambda x: 2 * x)(3)
    6
    """

    label: str
    function: Callable[P, R]
    ranged: bool = False

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        return self.function(*arguments, **named)
