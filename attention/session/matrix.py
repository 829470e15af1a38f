"""A matrix of the settings: its values, read-only, and how they came about."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from attention.limits import LIMIT, MAX_SEED, BadInput
from attention.readers.printouts import brief
from attention.weights import INITIALISERS, initialise


@dataclass(frozen=True)
class Recipe:
    """How a matrix was chosen or rolled: the same recipe and shape always give the same values."""

    kind: str
    seed: int = 0
    low: float = 0
    high: float = 3

    def __post_init__(self) -> None:
        if self.kind not in INITIALISERS:
            raise BadInput(
                f"there is no initialiser {self.kind!r}; choose one of {', '.join(INITIALISERS)}."
            )
        if not 0 <= self.seed <= MAX_SEED:
            raise BadInput(
                f"the seed is {self.seed}; whole numbers from 0 to 4294967295 are allowed."
            )
        if INITIALISERS[self.kind].ranged:
            span = f"{brief(self.low)} … {brief(self.high)}"
            if not (abs(self.low) <= LIMIT and abs(self.high) <= LIMIT):
                raise BadInput(f"the range {span} is out of bounds; ±{LIMIT:g} is allowed.")
            ends = (
                (math.ceil(self.low), math.ceil(self.high))
                if self.kind == "integers"
                else (self.low, self.high)
            )
            if not ends[0] < ends[1]:
                raise BadInput(f"the range {span} is empty; the first number must be smaller.")
        else:  # these kinds have no range; equal recipes are to compare equal
            object.__setattr__(self, "low", 0)
            object.__setattr__(self, "high", 3)

    def fill(self, shape: tuple[int, ...], fresh: bool = False) -> np.ndarray:
        """The values for a shape; ``fresh`` draws others, which share none with those of another
        shape.
        """
        return initialise(
            self.kind, shape, [self.seed, *shape] if fresh else self.seed, self.low, self.high
        )


@dataclass(frozen=True, eq=False)
class Matrix:
    """Values, read-only float64, with the recipe that made them and a remark on how they were
    read.
    """

    values: np.ndarray
    recipe: Recipe | None = None
    remark: str = ""

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    def __eq__(self, other: object) -> bool:
        return (
            self is other
            or isinstance(other, Matrix)
            and (
                self.values.shape == other.values.shape
                and self.values.tobytes() == other.values.tobytes()
                and self.recipe == other.recipe
            )
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @classmethod
    def rolled(cls, shape: tuple[int, ...], recipe: Recipe) -> Matrix:
        return cls(recipe.fill(shape), recipe)

    def resized(self, rows: int, columns: int) -> Matrix:
        """Keep what fits; new cells are drawn the way the others were, from a stream of their own,
        or are 0.
        """
        *lead, n, m = self.shape
        values = np.zeros((*lead, rows, columns))
        if self.recipe is not None:
            values[...] = self.recipe.fill((rows, columns), fresh=True)
        values[..., :n, :m] = self.values[..., :rows, :columns]
        return Matrix(values, self.recipe, self.remark)

    def edited(self, index: tuple[int, ...], value: float) -> Matrix:
        values = self.values.copy()
        values[index] = value
        return Matrix(values, self.recipe, self.remark)

    @property
    def is_rolled(self) -> bool:
        """Whether the recipe alone still gives these values, cell for cell."""
        return (
            self.recipe is not None
            and len(self.shape) == 2
            and self.recipe.fill(self.shape).tobytes() == self.values.tobytes()
        )


def orient(
    values: np.ndarray, d_in: int, name: str, stored: str = "in_out"
) -> tuple[np.ndarray, str]:
    """A typed weight matrix as (d_in, d_out), and a sentence on which way round it was read.

    A matrix may be typed (d_in, d_out), as in X W, or (d_out, d_in), as in W Xᵀ. Where only one of
    the two fits, that one is taken; where both fit, ``stored`` decides: "in_out" or "out_in".

    >>> orient(np.ones((20, 10)), 10, "W_Q")[1]
    'W_Q was typed as (d_out, d_in) = (20, 10), as in W Xᵀ, and transposed.'
    """
    rows, columns = values.shape
    if d_in not in (rows, columns):
        raise BadInput(
            f"{name} is {rows} × {columns}; one of its sides has to be {d_in}, the width of what it"
            " meets."
        )
    if rows == columns == d_in:
        transpose, note = stored == "out_in", " Both ways fit; you chose this one."
    else:
        transpose, note = rows != d_in, ""
    if transpose:
        return (
            values.T,
            (
                f"{name} was typed as (d_out, d_in) = ({rows}, {columns}), as in W Xᵀ, and"
                f" transposed.{note}"
            ),
        )
    return values, f"{name} was typed as (d_in, d_out) = ({rows}, {columns}), as in X W.{note}"
