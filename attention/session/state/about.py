"""What a file says of itself: program, version, date, where its numbers came from, and which item
and head it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attention import program
from attention.core.masks import MASKS
from attention.core.recorded import Recorded
from attention.readers.select import FINISHED, MASK
from attention.samples.weights import INITIALISERS
from attention.session.state.examples import EXAMPLES, OWN
from attention.session.state.matrix import Recipe, are_waves
from attention.session.state.origin import Origin
from attention.session.state.run import recorded
from attention.session.state.settings import DRAWN, SOFTMAX, Settings
from attention.vocabulary.markdown import plain
from attention.vocabulary.numbers import exact
from attention.vocabulary.sentences import numbered, plural, which_of

CHANGED = ", changed by hand since"
UNSAID = "given; source not recorded"  # as by a link that somebody wrote


@dataclass(frozen=True)
class Selection:
    """Which items or heads a file holds, counted from 0, and how many there are.

    >>> [Selection("head", which, 3).words for which in ((1,), (0, 2), (0, 1, 2))]
    ['head 1 of 0–2', 'heads 0, 2 of 0–2', 'all 3 heads']
    >>> [Selection("head", which, 3).suffix for which in ((1,), (0, 2), (0, 1, 2))]
    ['_head1', '_heads0-2', '_all_heads']
    """

    word: str
    which: tuple[int, ...]
    count: int
    recorded: Recorded | None = None  # whose heads these are, by their numbers in a model

    @classmethod
    def all(cls, word: str, count: int) -> Selection:
        return cls(word, tuple(range(count)), count)

    @property
    def words(self) -> str:
        """Nothing where there is one, unless it is one of a model's."""
        if self.recorded:
            return self.recorded.words(*self.which)
        return which_of(self.word, self.which, self.count)

    @property
    def suffix(self) -> str:
        """The same for the name of a file."""
        if self.count == 1:
            return ""
        if len(self.which) == self.count:
            return f"_all_{self.word}s"
        return f"_{plural(len(self.which), self.word)}{'-'.join(map(str, self.which))}"


@dataclass(frozen=True)
class About:
    """The same in every format, which each writes in its own way.

    Two files of one state differ in the date alone, :func:`attention.program.today`.

    >>> about = About({"Q": "typed", "K": "typed", "V": "drawn"}, head=Selection("head", (1,), 4))
    >>> about.lines()[1:]
    ['head 1 of 0–3', 'Q, K: typed', 'V: drawn']
    """

    inputs: Mapping[str, str] = field(default_factory=dict)  # where each came from
    behind: tuple[str, ...] = ()  # what of their model the formula has not
    item: Selection = Selection("item", (0,), 1)
    head: Selection = Selection("head", (0,), 1)

    @property
    def part(self) -> str:
        """Which item and head: "" where there is one of each."""
        return ", ".join(filter(None, (self._item.words, self.head.words)))

    @property
    def suffix(self) -> str:
        """The same for the name of a file: ``_item0_head1``, or ""."""
        return self._item.suffix + self.head.suffix

    @property
    def _item(self) -> Selection:
        """The item, where the words of the head do not say it, as those of a captured one do."""
        said = self.item.words and self.item.words in self.head.words
        return Selection("item", (0,), 1) if said else self.item

    def sources(self) -> dict[str, str]:
        """Where the inputs came from, by their names; those from the same place together."""
        together: dict[str, list[str]] = {}
        for name, source in self.inputs.items():
            together.setdefault(source, []).append(name)
        return {", ".join(names): source for source, names in together.items()}

    def lines(self) -> list[str]:
        """Sentences of one line each; inputs from the same place share one."""
        sources = [f"{names}: {source}" for names, source in self.sources().items()]
        parts = [self.part] if self.part else []
        return [program.made_by(), *parts, *sources, *self.behind]

    def markdown(self) -> str:
        """The same as a list."""
        made_by, *others = self.lines()
        return "\n".join(f"- {line}" for line in [made_by, *map(plain, others)])

    def record(self) -> dict[str, Any]:
        """The same as values by name, for JSON."""
        found: dict[str, Any] = {"program": program.NAME, "version": program.VERSION}
        found["date"] = program.today().isoformat()
        for part in (self.item, self.head):
            found[part.word] = part.words or "the only one"
        return found | {"inputs": dict(self.inputs), "stayed_behind": list(self.behind)}


UNKNOWN = About()


def what_it_is(s: Settings, whole: bool = False) -> About:
    """Of the item and head that are looked at, or of the ``whole``."""
    inputs = {name: source_of(s, name) for name in s.matrices}
    if s.weights_alone:
        inputs = {FINISHED: inputs["Q"]}
    if s.mask != "none":
        inputs[MASK] = _mask_source(s)
    if s.padding:
        inputs["padding"] = f"{numbered('key', [key + 1 for key in s.padding])} hidden"
    inputs |= prepared_by(s)
    inputs |= {} if s.weights_alone else weighted_by(s.softcap, s.sinks, s.softmax)
    if of := recorded(s):
        item, head = Selection("item", of.items, of.batch), Selection("head", of.heads, 1, of)
        return About(inputs, behind(s), item, head)
    if whole:
        parts = Selection.all("item", max(s.batch, 1)), Selection.all("head", s.heads)
    else:
        parts = Selection("item", (s.item,), max(s.batch, 1)), Selection("head", (s.head,), s.heads)
    return About(inputs, behind(s), *parts)


def prepared_by(s: Settings) -> dict[str, str]:
    """How Q and K are normed and rotated, and scores changed by distance, in words.

    >>> from attention import Rotary
    >>> four = EXAMPLES["four-words"].build()
    >>> prepared_by(replace(four, rotary=Rotary(base=100)))["rotary"]
    'rotary positions of Q and K, halves, base 100, all 4 columns'
    """
    said = {}
    if norm := s.norm:
        words = ["RMS norm of Q and K", "all heads together" if norm.whole else "each head"]
        words += [f"ε {exact(norm.eps)}"]
        if norm.gain_Q is not None or norm.gain_K is not None:
            words.append("with a gain")
        if norm.after_rotary and s.rotary is not None:
            words.append("after the rotation")
        said["norm"] = ", ".join(words)
    if rotary := s.rotary:
        turned = 2 * len(rotary.turns(s.d_k))
        words = ["rotary positions of Q and K", rotary.pairs]
        given = rotary.frequencies is not None
        words += ["own frequencies" if given else f"base {exact(rotary.base)}"]
        words += [f"all {turned} columns" if turned == s.d_k else f"{turned} of {s.d_k} columns"]
        if rotary.factor != 1:
            words.append(f"times {exact(rotary.factor)}")
        if rotary.offset > 0:
            words.append(f"queries from position {rotary.offset} on")
        said["rotary"] = ", ".join(words)
    if "R" in s.matrices:
        sides = "keys behind and ahead" if s.bidirectional else "keys behind"
        words = ["relative bias", f"{s.shape('R')[0]} buckets for {sides}"]
        said["relative"] = ", ".join([*words, f"one for all from {s.max_distance} places on"])
    return said


def weighted_by(
    softcap: float | None, sinks: Sequence[float], softmax: bool | str = True
) -> dict[str, str]:
    """What else made weights of the scaled scores, in words: why a row may not add up to 1.

    >>> weighted_by(0.5, (1.0, -2.0), True)
    {'softcap': 'scores kept within ±0.5 by tanh', 'sinks': '1, -2 for each head, in the sum of \
each row and of no key'}
    """
    said = {} if softcap is None else {"softcap": f"scores kept within ±{exact(softcap)} by tanh"}
    if len(sinks):
        each = " for each head" if len(sinks) > 1 else ""
        numbers = ", ".join(map(exact, sinks))
        said["sinks"] = f"{numbers}{each}, in the sum of each row and of no key"
    if softmax is not True:
        said["softmax"] = SOFTMAX.get(softmax, "a function")
    return said


def behind(s: Settings) -> tuple[str, ...]:
    """What the models have that these inputs are from, and this formula has not."""
    left = dict.fromkeys(came.behind for came in s.origins.values())
    return tuple(filter(None, left))


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
        follows = recipe and matrix.follows(s.rows_of(name))
        return f"{title}, {recipe_words(recipe)}" if recipe and follows else title
    if name == "P" and are_waves(matrix):
        return "sinusoidal positions"
    if matrix.recipe and matrix.follows(s.rows_of(name)):
        return recipe_words(matrix.recipe)
    if matrix.origin:
        return matrix.origin.source + ("" if matrix.is_as_it_came else CHANGED)
    if made is not None and made.recipe == matrix.recipe:
        return title + CHANGED
    return recipe_words(matrix.recipe) + CHANGED if matrix.recipe else UNSAID


def on_its_own(s: Settings) -> Settings:
    """Settings of no example any more; typed numbers that were the example's go on saying so."""
    title, made = f"example “{EXAMPLES[s.example].title}”", EXAMPLES[s.example].build().matrices
    matrices = {
        name: replace(matrix, origin=Origin.of(title, made[name].values))
        if name in made and not matrix.recipe and not matrix.origin and s.example != OWN
        else matrix
        for name, matrix in s.matrices.items()
    }
    return replace(s, example=OWN, names={}, matrices=matrices)


def _mask_source(s: Settings) -> str:
    if s.mask != DRAWN:
        return MASKS[s.mask].label
    if s.drawn_from is None:
        return "drawn by hand"
    return s.drawn_from.source + ("" if s.drawn_from.holds(np.array(s.drawn)) else CHANGED)


def recipe_words(recipe: Recipe) -> str:
    """Return the kind and the seed of a draw.

    >>> recipe_words(Recipe("integers", 7, -1, 2, "words"))
    'random integers from -1 to below 2 for each word, seed 7'
    """
    kind = INITIALISERS[recipe.kind]
    words = kind.label
    if kind.ranged:
        words += f" from {exact(recipe.low)} to below {exact(recipe.high)}"
    words += " for each word" if recipe.by_word else ""
    return words if recipe.kind == "identity" else f"{words}, seed {recipe.seed}"
