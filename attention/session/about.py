"""What a file says of itself: program, version, date, where its numbers came from, and which item
and head it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attention import program
from attention.masks import MASKS
from attention.numbers import exact
from attention.readers.select import FINISHED, MASK
from attention.session.examples import EXAMPLES, OWN
from attention.session.matrix import Recipe
from attention.session.settings import DRAWN, Settings
from attention.weights import INITIALISERS

CHANGED = ", changed by hand since"
TYPED = "typed"


@dataclass(frozen=True)
class About:
    """The same in every format, which each writes in its own way.

    Two files of one state differ in the date alone, :func:`attention.program.today`.

    >>> import os
    >>> os.environ["SOURCE_DATE_EPOCH"] = "0"
    >>> About({"Q": "typed", "K": "typed", "V": "drawn"}, head=(2, 4)).lines()[1:]
    ['head 2 of 4', 'Q, K: typed', 'V: drawn']
    >>> About({}).lines()[0].split()[-1], os.environ.pop("SOURCE_DATE_EPOCH")
    ('1970-01-01', '0')
    """

    inputs: Mapping[str, str] = field(default_factory=dict)  # where each came from
    behind: tuple[str, ...] = ()  # what of their model the formula has not
    # the one that is held, counted from 1, and how many there are; 0: all of them
    item: tuple[int, int] = (1, 1)
    head: tuple[int, int] = (1, 1)
    chosen: str = ""  # several heads, where those are held and no other

    @property
    def made_by(self) -> str:
        return f"{program.NAME} {program.version()}, {program.today().isoformat()}"

    @property
    def part(self) -> str:
        """Which item and head: "" where there is one of each."""
        parts = [self.chosen] if self.chosen else []
        for word, (which, count) in (("item", self.item), ("head", self.head)):
            if count > 1 and not (self.chosen and word == "head"):
                one = f"{word} {which} of {count}"
                parts.append(one if which else f"all {count} {word}s")
        return ", ".join(reversed(parts) if self.chosen else parts)

    @property
    def suffix(self) -> str:
        """The same for the name of a file: ``_item1_head2``, or ""."""
        kinds = (("item", self.item), ("head", self.head))
        return "".join(f"_{word}{which}" for word, (which, n) in kinds if which and n > 1)

    def lines(self) -> list[str]:
        """Sentences of one line each; inputs from the same place share one."""
        together: dict[str, list[str]] = {}
        for name, source in self.inputs.items():
            together.setdefault(source, []).append(name)
        sources = [f"{', '.join(names)}: {source}" for source, names in together.items()]
        return [self.made_by, *([self.part] if self.part else []), *sources, *self.behind]

    def record(self) -> dict[str, Any]:
        """The same as values by name, for JSON."""
        found: dict[str, Any] = {"program": program.NAME, "version": program.version()}
        found["date"] = program.today().isoformat()
        for word, (which, count) in (("item", self.item), ("head", self.head)):
            found[word] = f"{which} of {count}" if which else f"all {count}"
        return found | {"inputs": dict(self.inputs), "stayed_behind": list(self.behind)}


def what_it_is(s: Settings, whole: bool = False) -> About:
    """Of the item and head that are looked at, or of the ``whole``."""
    inputs = {name: source_of(s, name) for name in s.matrices}
    if s.weights_alone:
        inputs = {FINISHED: inputs["Q"]}
    if s.mask != "none":
        inputs[MASK] = _mask_source(s)
    if s.padding:
        keys = f"key{'s' * (len(s.padding) > 1)} {', '.join(str(key + 1) for key in s.padding)}"
        inputs["padding"] = f"{keys} hidden"
    item = 0 if whole else s.item + 1
    head = 0 if whole else s.head + 1
    return About(inputs, behind(s), (item, max(s.batch, 1)), (head, s.heads))


def behind(s: Settings) -> tuple[str, ...]:
    """What the models have that these inputs are from, and this formula has not."""
    return tuple(dict.fromkeys(came.behind for came in s.origins.values() if came.behind))


def source_of(s: Settings, name: str) -> str:
    """Where an input came from: an example, a draw, a file, or somebody's hands.

    >>> source_of(EXAMPLES["four-words"].build(), "X")
    'example “Four words, by hand”'
    """
    example, matrix = EXAMPLES[s.example], s.matrices[name]
    made = example.build().matrices.get(name) if s.example != OWN else None
    title = f"example “{example.title}”"
    if made is not None and made == matrix:
        recipe = matrix.recipe
        return (
            f"{title}, {in_words(recipe)}" if recipe and matrix.follows(s.rows_of(name)) else title
        )
    if matrix.recipe and matrix.follows(s.rows_of(name)):
        return in_words(matrix.recipe)
    if matrix.origin:
        return matrix.origin.source + ("" if matrix.origin.holds(matrix.values) else CHANGED)
    if made is not None and made.recipe == matrix.recipe:
        return title + CHANGED
    return in_words(matrix.recipe) + CHANGED if matrix.recipe else TYPED


def _mask_source(s: Settings) -> str:
    if s.mask != DRAWN:
        return MASKS[s.mask].label
    if s.drawn_from is None:
        return "drawn by hand"
    return s.drawn_from.source + ("" if s.drawn_from.holds(np.array(s.drawn)) else CHANGED)


def in_words(recipe: Recipe) -> str:
    """Kind and seed of a draw.

    >>> in_words(Recipe("integers", 7, -1, 2, "words"))
    'random integers from -1 to below 2 for each word, seed 7'
    """
    kind = INITIALISERS[recipe.kind]
    words = kind.label
    if kind.ranged:
        words += f" from {exact(recipe.low)} to below {exact(recipe.high)}"
    words += " for each word" if recipe.by_word else ""
    return words if recipe.kind == "identity" else f"{words}, seed {recipe.seed}"
