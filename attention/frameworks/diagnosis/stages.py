"""Stages of the other code next to right attention's: up to which one all agrees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from attention.arrays.checks import as_floats
from attention.arrays.conversion import shown
from attention.arrays.distance import difference, largest_finite
from attention.arrays.layouts import join_heads, repeat_heads, split_heads
from attention.frameworks.diagnosis.answers import Set, Target, Verdict, compare, floored, worst
from attention.frameworks.diagnosis.bench import Bench, Stages
from attention.frameworks.diagnosis.rounding import Draws
from attention.frameworks.given import Given, grouped
from attention.frameworks.precision import Places, alike, written
from attention.vocabulary.sentences import in_words
from attention.vocabulary.stages import PREPARED, STAGES

PLURAL = ("scores", "weights")
UNSEEN = 746.0  # less than the largest score of a row: exp of it is 0, as if the key were hidden


def names_of(bench: Bench) -> list[str]:
    """Return the stages that attention has with these inputs, in the order of the arithmetic."""
    given, names = bench.given, []
    for name in bench.ordered:
        if name in bench.right and (name != "capped" or given.softcap is not None):
            names.append(name)
    if given.W_O is not None or given.heads > 1:
        names.append("joined")
    return names if given.W_O is None else [*names, "projected"]


def answer_of(given: Given) -> str:
    """Return the stage that is the output of the whole layer."""
    if given.W_O is not None:
        return "projected"
    return "output" if given.heads == 1 else "joined"


def _key(name: str, given: Given) -> str:
    """Return the name that a stage has among those of the bench."""
    if name == "output":
        return "summed"
    return "output" if name == "projected" else name


class _OfStage(Target):
    """A stage of the other code, in each shape that codes have for it."""

    def view(self, bench: Bench, stages: Stages, what: str = "") -> np.ndarray | None:
        views = self._views(bench, stages)
        return next((view for view in views if view.shape == self.values.shape), None)

    def drawn_view(self, bench: Bench, stages: Stages) -> np.ndarray | None:
        views = self._views(bench, stages)
        return next((view for view in views if view.shape[1:] == self.values.shape), None)

    def _views(self, bench: Bench, stages: Stages) -> Iterator[np.ndarray]:
        yield from views_of(self.name, bench.given, stages[_key(self.name, bench.given)])


def views_of(name: str, given: Given, M: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the shapes in which a code may hand over a stage: with heads apart, or joined."""
    yield M
    of_heads = given.heads > 1 and M.ndim > 2 and STAGES[name].columns != "keys"
    if of_heads and name not in ("joined", "projected"):
        yield join_heads(M)
    shared = given.heads // given.kv_heads if given.kv_heads else 1
    if shared > 1 and name[0] in "KV" and M.shape[-3] == given.heads:
        yield M[..., ::shared, :, :]
        yield join_heads(M[..., ::shared, :, :])
    lead = given.shape[:-2]
    if M.ndim < len(lead) + 2 or M.shape[:-2] != lead:
        try:
            yield np.broadcast_to(M, (*lead, *M.shape[-2:]))
        except ValueError:  # joined heads have no axis of theirs
            return


class GivenStages:
    """The stages of another code, compared with right attention as its answers are."""

    def __init__(
        self, bench: Bench, stages: Mapping[str, Any], decimals: Mapping[str, Places] | None = None
    ) -> None:
        self.bench, self.names = bench, names_of(bench)
        self.given, self.decimals = stages, decimals  # as they came
        self.largest_score = largest_finite(bench.right["scaled"])
        check_names(stages, self.names)
        arrays = {name: self._checked(name, stages[name]) for name in self.names if name in stages}
        ways = [written(M, stages[name], (decimals or {}).get(name)) for name, M in arrays.items()]
        self.targets: dict[str, Target] = {}
        for (name, values), how in zip(arrays.items(), alike(ways), strict=True):
            size = self._sized(name, values.shape)
            self.targets[name] = _OfStage(name, values, how, size, self._turn)
        self._grant_rounding()

    def with_inputs(self, given: Given) -> GivenStages:
        """Compare the same stages with what these inputs give, where they count as rounded."""
        return GivenStages(Bench(given, self.bench.queries), self.given, self.decimals)

    @property
    def _turn(self) -> float:
        given = self.bench.given
        if given.rotary is None:
            return 0.0
        width = (given.Q if given.X is None else given.W_Q).shape[-1] // given.heads
        most = max(given.rotary.offset + given.shape[-2], given.shape[-1])
        return largest_finite(given.rotary.turns(width)) * most

    def _checked(self, name: str, value: Any) -> np.ndarray:
        """Return a stage as floats, of the queries that are compared; refuse another shape."""
        label, given, queries = f"stages[{name!r}]", self.bench.given, self.bench.queries
        ours = self.bench.right[_key(name, given)]
        n_q, by_query = given.shape[-2], STAGES[name].group in ("attention", "after")
        shapes = []
        for view in views_of(name, given, ours):
            rows = n_q if by_query else view.shape[-2]
            shapes.append((*view.shape[:-2], rows, view.shape[-1]))
        (values,) = as_floats(**{name: value})
        if values.shape not in shapes:
            wanted = " or ".join(map(str, sorted(set(shapes), key=len)))
            raise ValueError(
                f"{label}: the shape is {values.shape}; expected {wanted} for these inputs."
            )
        if not values.size:
            raise ValueError(f"{label}: the shape is {values.shape}; there is no number in it.")
        values = values.astype(np.float64)
        if queries is not None and by_query:
            values = values[..., queries, :]
        return self._hidden(values) if name == "masked" else values

    def _hidden(self, values: np.ndarray) -> np.ndarray:
        """Return masked scores with −∞ for what is hidden as well by a number far below."""
        ours = np.broadcast_to(self.bench.right["masked"], values.shape)
        most = np.where(np.isfinite(ours), ours, -np.inf).max(axis=-1, keepdims=True)
        with np.errstate(all="ignore"):
            return np.where(np.isneginf(ours) & (values < most - UNSEEN), -np.inf, values)

    # ---- what errors are measured by -------------------------------------------------------------

    @cached_property
    def _sizes(self) -> dict[str, np.ndarray]:
        """Return, for each stage, the sizes of the sums that its numbers are."""
        right, given = self.bench.right, self.bench.given
        sizes, grown = {}, {}
        for letter in "QKV":
            M = right[letter]
            size = self._projected(letter) if given.X is not None else None
            length = _length(M)
            share = 1.0 if size is None else np.linalg.norm(size) / (np.linalg.norm(M) or 1.0)
            grown[letter] = max(float(share), 1.0)
            sizes[letter] = length * grown[letter] if size is None else size
        for name in PREPARED:
            if name in right:
                sizes[name] = _length(right[name]) * grown[name[0]]
        queries = right["queries"]
        if self.bench.queries is not None:
            queries = queries[..., self.bench.queries, :]
        far = np.swapaxes(_length(right["keys"]), -1, -2) * grown["K"]
        sizes["scores"] = _length(queries) * grown["Q"] * far
        factor: np.ndarray | float = np.abs(self.bench._factor(None))
        sizes["scaled"] = sizes["capped"] = sizes["scores"] * factor
        added = np.where(np.isfinite(right["masked"]), np.abs(right["masked"]), 0)
        sizes["masked"] = sizes["scaled"] + added
        sizes["weights"] = np.ones((1, 1))
        for name in ("output", "joined", "projected"):
            sizes[name] = right[f"{_key(name, given)} size"]
        return sizes

    def _projected(self, letter: str) -> np.ndarray:
        """Return Σ |x| |w| + |b|, which cancels nothing."""
        given = self.bench.given
        X = given.X if letter == "Q" or given.memory is None else given.memory
        if X is given.X and given.positions is not None:
            X = X + given.positions
        size, b = np.abs(X) @ np.abs(getattr(given, f"W_{letter}")), getattr(given, f"b_{letter}")
        size = size if b is None else size + np.abs(b)
        if given.heads == 1:
            return size
        return split_heads(size, given.heads if letter == "Q" else given.kv_heads or given.heads)

    def _sized(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return the sizes in the shape of the other code's stage."""
        ours, given = self.bench.right[_key(name, self.bench.given)], self.bench.given
        size = np.nan_to_num(self._sizes[name], posinf=0)
        if grouped(ours, size):
            size = repeat_heads(size, ours.shape[-3])
        size = np.broadcast_to(size, ours.shape)
        return floored(next(v for v in views_of(name, given, size) if v.shape == shape))

    def _grant_rounding(self) -> None:
        """Grant each number what rounding the inputs may have changed in it."""
        if not self.bench.given.rounded:
            return
        targets = [*self.targets.values()]
        draws = Draws(self.bench.given, self.bench.scores)
        room = draws.room(self.bench, (), targets)
        for target, part in zip(targets, room, strict=False):
            of = _OfStage(
                target.name, target.values, target.written, target.size, target.turn, part
            )
            self.targets[target.name] = of

    # ---- the comparison --------------------------------------------------------------------------

    def judge(self, mistakes: Set) -> Verdict | None:
        """Whether rounding alone parts these mistakes from all stages; None: there is no room."""
        stages = self.bench.run(mistakes)
        if stages is None:
            return None
        verdicts = [self._one(target, stages, bool(mistakes)) for target in self.targets.values()]
        told = [verdict for verdict in verdicts if verdict is not None]
        return worst(told) if len(told) == len(verdicts) else None

    def _one(self, target: Target, stages: Stages, wrong: bool) -> Verdict | None:
        view = target.view(self.bench, stages)
        if view is None:
            return None
        if target.name == "masked" and wrong:
            view = self._hidden(view)
        size = np.maximum(target.size, largest_finite(view)) if wrong else target.size
        late = target.name in ("weights", "output", "joined", "projected")
        return compare(target, view, size, self.largest_score if late else 1.0)

    @cached_property
    def agree(self) -> dict[str, bool]:
        """Return whether each stage that was given agrees with right attention's."""
        found = {}
        for name, target in self.targets.items():
            verdict = self._one(target, self.bench.right, False)
            found[name] = verdict is not None and fits(verdict, target)
        return found

    def explained(self, mistakes: Set) -> bool:
        """Check whether these mistakes explain all stages that were given."""
        verdict = self.judge(mistakes)
        return verdict is not None and all(fits(verdict, t) for t in self.targets.values())

    @property
    def first(self) -> str | None:
        """Return the first stage that differs from right attention's; None: all agree."""
        return next((name for name, agrees in self.agree.items() if not agrees), None)

    @property
    def compared(self) -> dict[str, tuple[np.ndarray, ...]]:
        """Return, of each stage, theirs, ours and the difference."""
        found: dict[str, tuple[np.ndarray, ...]] = {}
        for name, target in self.targets.items():
            ours = target.view(self.bench, self.bench.right)
            if ours is not None:
                found[name] = target.values, ours, difference(target.values, ours)
        return found

    def __str__(self) -> str:
        """Return up to which stage all agrees, in a sentence without its point."""
        names = [*self.agree]
        before = names if self.first is None else names[: names.index(self.first)]
        differs = f"{self.first} {_verb([self.first], 'differ')}" if self.first else ""
        if not before:
            return f"{differs}, the first of the stages given"
        agree = f"{in_words(before)} {_verb(before, 'agree')}"
        if self.first is None:
            return agree
        is_first = "are" if self.first in PLURAL else "is"
        return f"{agree}; {self.first} {is_first} the first that {_verb([self.first], 'differ')}"


def _verb(names: list[str], verb: str) -> str:
    return verb if len(names) > 1 or names[0] in PLURAL else f"{verb}s"


def check_names(stages: Mapping[str, Any], known: list[str]) -> None:
    """Refuse what is no dict of stages, or none that attention has with these inputs."""
    if not isinstance(stages, Mapping):
        raise TypeError(f"stages is {shown(stages)}; expected a dict of arrays by stage.")
    for name in stages:
        if name not in known:
            raise ValueError(
                f"stages names {shown(name)}; with these inputs it may name {in_words(known)}."
            )


def fits(verdict: Verdict, target: Target) -> bool:
    """Check whether rounding that shows, or may be there, explains the distance."""
    return verdict.as_written or (verdict.fits and verdict.half in target.written.may_be)


def _length(M: np.ndarray) -> np.ndarray:
    """Return the length of each row."""
    return np.nan_to_num(np.sqrt(np.square(M).sum(axis=-1, keepdims=True)), posinf=0)
