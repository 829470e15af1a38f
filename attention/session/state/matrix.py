"""A matrix of the settings: its values, read-only, and how they came about."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from attention.arrays.conversion import locked
from attention.core.positions import sinusoidal
from attention.core.recorded import Recorded
from attention.limits import LIMIT, MAX_JOINED, MAX_NUMBERS, MAX_SEED, BadInput
from attention.readers.cells.printouts import brief, sides
from attention.samples import words
from attention.samples.weights import INITIALISERS, drawn, initialise
from attention.session.state.origin import Origin
from attention.vocabulary.stages import STAGES

WORDS = "words"  # the stream of embeddings whose rows are vectors of words


def check_size(name: str, shape: tuple[int, ...]) -> None:
    """Refuse a matrix that is larger than any that fits, before its numbers are made."""
    if max(shape) > MAX_JOINED:
        raise BadInput(f"{name} is {sides(shape)}; at most {MAX_JOINED:,} rows and columns fit.")
    check_numbers(math.prod(shape))


def check_numbers(numbers: int) -> None:
    """Refuse more numbers than all matrices together may hold."""
    if numbers > MAX_NUMBERS:
        raise BadInput(f"these matrices hold {numbers:,} numbers; at most {MAX_NUMBERS:,} fit.")


def packed_text(values: np.ndarray) -> str:
    """Write float64 numbers compressed, in the digits of base64."""
    packed = zlib.compress(values.astype("<f8").tobytes(), 6)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


class WordRows(NamedTuple):
    """The words behind the rows of embeddings."""

    tokens: tuple[str, ...]
    known: tuple[str, ...]  # all words there are, in the order of their one-hot columns


@dataclass(frozen=True)
class Recipe:
    """How a matrix was chosen or rolled: the same recipe and shape always give the same values.

    ``stream`` says which way of drawing is meant. With the name of a matrix, that matrix has random
    numbers of its own, whatever the seed of the others; with WORDS, each word has. Without one, as
    in the examples whose matrices have seeds of their own, the seed alone decides.
    """

    kind: str
    seed: int = 0
    low: float = 0
    high: float = 3
    stream: str = ""

    def __post_init__(self) -> None:
        if self.kind not in INITIALISERS:
            raise BadInput(
                f"there is no initialiser {self.kind!r}; choose one of {', '.join(INITIALISERS)}."
            )
        if self.stream not in ("", WORDS, *STAGES):
            raise BadInput(f"there is no matrix {self.stream!r} to draw numbers for.")
        if self.by_word and self.kind not in words.KINDS:
            known = ", ".join(words.KINDS)
            raise BadInput(f"words have no vectors of kind {self.kind!r}; choose one of {known}.")
        if not 0 <= self.seed <= MAX_SEED:
            raise BadInput(
                f"the seed is {self.seed}; whole numbers from 0 to 4294967295 are allowed."
            )
        if self.kind == "identity" and not self.by_word:  # draws nothing
            object.__setattr__(self, "stream", "")
        if INITIALISERS[self.kind].ranged:
            self._check_range()
        else:  # these kinds have no range; equal recipes are to compare equal
            object.__setattr__(self, "low", 0)
            object.__setattr__(self, "high", 3)

    def _check_range(self) -> None:
        span = f"{brief(self.low)} … {brief(self.high)}"
        if not (abs(self.low) <= LIMIT and abs(self.high) <= LIMIT):
            raise BadInput(f"the range {span} is out of bounds; ±{LIMIT:g} is allowed.")
        ends = (self.low, self.high)
        if self.kind == "integers":
            ends = (math.ceil(self.low), math.ceil(self.high))
        if not ends[0] < ends[1]:
            raise BadInput(f"the range {span} is empty; the first number must be smaller.")

    @property
    def by_word(self) -> bool:
        """Whether each row is the vector of its token's word."""
        return self.stream == WORDS

    def fill(self, shape: tuple[int, int], rows: WordRows | None = None) -> np.ndarray:
        """Return the values for a shape; where they go by word, for the tokens of the rows."""
        check_size("the matrix", shape)
        if self.by_word:
            return self._vectors(shape, rows)
        if not self.stream:
            return initialise(self.kind, shape, self.seed, self.low, self.high)
        return drawn(self.kind, shape, self.seed, self.stream, self.low, self.high)

    def _vectors(self, shape: tuple[int, int], rows: WordRows | None) -> np.ndarray:
        if rows is None:
            raise BadInput("only embeddings have vectors by word.")
        if len(rows.tokens) != shape[0]:
            raise BadInput(f"{len(rows.tokens)} words have no {shape[0]} rows.")
        return words.word_vectors(
            rows.tokens, shape[1], self.seed, self.kind, self.low, self.high, rows.known
        )

    def of(self, name: str) -> Recipe:
        """The same for the matrix of this name: with a stream of its own."""
        return replace(self, stream=name)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Values, read-only float64, with the recipe that made them, a remark on how they were read,
    and where they came from if a person brought them.
    """

    values: np.ndarray
    recipe: Recipe | None = None
    remark: str = ""
    origin: Origin | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", locked(np.array(self.values, dtype=np.float64)))

    def __eq__(self, other: object) -> bool:
        return (
            self is other
            or isinstance(other, Matrix)
            and (
                self.values.shape == other.values.shape
                and self.values.tobytes() == other.values.tobytes()
                and self.recipe == other.recipe
                and self.origin == other.origin
            )
        )

    @cached_property
    def is_as_it_came(self) -> bool:
        """Whether a person brought these numbers and none was changed since."""
        return self.origin is not None and self.origin.holds(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @cached_property
    def packed_size(self) -> int:
        """Return how many characters :func:`packed_text` has for these numbers."""
        return len(packed_text(self.values))

    @classmethod
    def rolled(cls, shape: tuple[int, int], recipe: Recipe, rows: WordRows | None = None) -> Matrix:
        return cls(recipe.fill(shape, rows), recipe)

    def resized(self, rows: int, columns: int, name: str, of: WordRows | None = None) -> Matrix:
        """Keep what fits; new cells are drawn the way the others were, from the stream of the
        matrix of this name or of the words ``of`` its rows, or are 0.
        """
        *lead, n, m = self.shape
        check_size(name, (*lead, rows, columns))
        values = np.zeros((*lead, rows, columns))
        if self.recipe is not None:
            values[...] = self.recipe.of(self.recipe.stream or name).fill((rows, columns), of)
        values[..., :n, :m] = self.values[..., :rows, :columns]
        return self.with_values(values)

    def edited(self, index: tuple[int, ...], value: float) -> Matrix:
        values = self.values.copy()
        values[index] = value
        return self.with_values(values)

    def with_values(self, values: np.ndarray) -> Matrix:
        """Other numbers made of these: what is known of their making stays."""
        return replace(self, values=values)

    @cached_property
    def is_rolled(self) -> bool:
        """Whether the recipe alone still gives these values, cell for cell."""
        return self.recipe is not None and not self.recipe.by_word and self._is_given(None)

    def follows(self, rows: WordRows | None) -> bool:
        """Whether the recipe still gives these values, for embeddings from the words alone."""
        if self.recipe is None or not self.recipe.by_word:
            return self.is_rolled
        return rows is not None and len(rows.tokens) == self.shape[-2] and self._is_given(rows)

    def _is_given(self, rows: WordRows | None) -> bool:
        return (
            self.recipe is not None
            and len(self.shape) == 2
            and self.recipe.fill(self.shape[-2:], rows).tobytes() == self.values.tobytes()
        )


def captured_head(inputs: Mapping[str, Matrix]) -> Recorded | None:
    """Return the head that Q, K and V are, as they came; None for those of several, or changed."""
    heads = {
        matrix.origin.recorded if matrix.origin and matrix.is_as_it_came else None
        for name, matrix in inputs.items()
        if name in ("Q", "K", "V")
    }
    return heads.pop() if len(heads) == 1 else None


def are_waves(P: Matrix) -> bool:
    """Whether these are the sinusoidal positions of their shape."""
    return len(P.shape) == 2 and np.array_equal(P.values, sinusoidal(*P.shape))


def orient(values: np.ndarray, d_in: int, name: str) -> tuple[np.ndarray, str]:
    """A weight matrix as (d_in, d_out), and a sentence on which way round it was read.

    A matrix may be stored (d_in, d_out), as in X W, or (d_out, d_in), as in W Xᵀ. Where only one of
    the two fits, that one is taken; where both fit, it is (d_in, d_out).

    >>> orient(np.ones((20, 10)), 10, "W_Q")[1]
    'W_Q was read as (d_out, d_in) = (20, 10), as in W Xᵀ, and transposed.'
    """
    rows, columns = values.shape
    if d_in not in (rows, columns):
        raise BadInput(
            f"{name} is {rows} × {columns}; one of its sides must be {d_in}, the width of its"
            " input."
        )
    if rows != d_in:
        return (
            values.T,
            f"{name} was read as (d_out, d_in) = ({rows}, {columns}), as in W Xᵀ, and transposed.",
        )
    note = " Both ways fit; tick transposed for the other." if rows == columns else ""
    return values, f"{name} was read as (d_in, d_out) = ({rows}, {columns}), as in X W.{note}"
