"""Find the mistake: an attention with one of the known mistakes in it, made by a seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from attention.explain.arithmetic import cell as cell_arithmetic
from attention.explain.view import View
from attention.frameworks.diagnosis.mistakes import BY_NAME, Mistake
from attention.limits import BadInput
from attention.session.compare.pair import Pair, compared, views
from attention.session.state.settings import Settings
from attention.session.teach.by_hand import made
from attention.session.teach.exercise import ENOUGH, MOST_TRIES, Cell
from attention.vocabulary.numbers import number
from attention.vocabulary.sentences import capital
from attention.vocabulary.stages import ALWAYS, STAGES

KNOWN = (  # that are seen in numbers done by hand
    "order: Q and K",
    "scale: none",
    "scale: d_k",
    "scale: inverse",
    "scale: tokens",
    "mask: ignored",
    "mask: inverted",
    "mask: other triangle",
    "mask: diagonal hidden",
    "mask: one ahead",
    "hiding: 0",
    "hiding: after softmax",
    "softmax: queries",
    "softmax: both axes",
    "softmax: twice",
    "softmax: sigmoid",
    "sum: transposed",
)
OPTIONS = 4  # to choose from, at most


@dataclass(frozen=True, eq=False)
class Planted:
    """What is shown, ``wrong``, beside what is ``right``."""

    settings: Settings
    right: View
    wrong: View
    mistake: Mistake
    cell: Cell  # the first that is printed differently
    # names of mistakes that are first seen in the same stage, in the order of KNOWN; where there
    # is one alone, the stage names it
    options: tuple[str, ...]

    @property
    def first(self) -> str:
        """The stage in which the numbers first differ."""
        return self.cell.stage


@lru_cache(128)
def planted(seed: int) -> Planted:
    """The attention of this seed with one mistake.

    >>> found = planted(1)
    >>> found.mistake.name in found.options, len(found.options) <= OPTIONS, found.first in ALWAYS
    (True, True, True)
    """
    settings, random = made(seed), Random(f"mistake {seed}")
    right, _ = views(Pair(settings, settings))
    wrong: dict[str, View] = {}
    first: dict[str, Cell] = {}
    for name in (KNOWN[k] for k in _order(random, len(KNOWN))):
        try:
            _, made_wrong = views(Pair(settings, settings, name))
        except BadInput:  # these numbers leave no room for it
            continue
        if cell := first_difference(right, made_wrong):
            wrong[name], first[name] = made_wrong, cell
    name = next(iter(wrong))
    chosen = [name]
    # the others begin in the same stage, and differ from it and from each other
    for other in wrong:
        begins = first[other].stage == first[name].stage
        apart = all(first_difference(wrong[one], wrong[other]) for one in chosen)
        if begins and apart and len(chosen) < OPTIONS:
            chosen.append(other)
    options = tuple(option for option in KNOWN if option in chosen)
    return Planted(settings, right, wrong[name], BY_NAME[name], first[name], options)


def _order(random: Random, count: int) -> list[int]:
    """The numbers below ``count``, shuffled by random() alone, the same in every Python."""
    return [k for _, k in sorted((random.random(), k) for k in range(count))]


def first_difference(a: View, b: View) -> Cell | None:
    """The first cell that is printed differently; None where all is printed alike."""
    for name in ALWAYS:
        both = a.stages[name].tolist(), b.stages[name].tolist()
        for i, rows in enumerate(zip(*both, strict=True)):
            for j, (mine, other) in enumerate(zip(*rows, strict=True)):
                if number(mine) != number(other):
                    return Cell(name, i, j)
    return None


# ---- what one says -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """What a person has said of it, so far."""

    stage: str = ""
    mistake: str = ""
    stage_tries: int = 0  # that were wrong
    mistake_tries: int = 0

    @classmethod
    def of(cls, s: Settings) -> Said:
        """As the settings hold it; what no choice offers counts as nothing. Where the stage leaves
        one mistake alone, that is found with it.

        >>> from attention.session.state.examples import EXAMPLES
        >>> Said.of(replace(EXAMPLES["cat-sat"].build(), answers=("nothing", "scale: none")))
        Said(stage='', mistake='', stage_tries=0, mistake_tries=0)
        """
        stage, mistake = (*s.answers, "", "")[:2]
        before, after = (*s.tries, 0, 0)[:2]
        found = planted(max(s.exercise_seed, 1))
        stage = stage if stage in ALWAYS else ""
        if stage != found.first:
            mistake = ""
        elif mistake not in found.options:
            mistake = found.mistake.name if len(found.options) == 1 else ""
        return cls(stage, mistake, before, after)


def said(s: Settings, stage: str | None = None, mistake: str | None = None) -> Settings:
    """The settings after the stage was said in which the numbers first differ, or the mistake.

    What was said rightly stays.
    """
    found, so_far = planted(max(s.exercise_seed, 1)), Said.of(s)
    if stage in ALWAYS and so_far.stage != found.first:
        wrong = stage not in (found.first, so_far.stage)
        tries = so_far.stage_tries + wrong
        return _kept(s, replace(so_far, stage=stage or "", stage_tries=tries))
    is_open = so_far.stage == found.first and so_far.mistake != found.mistake.name
    if mistake in found.options and is_open:
        wrong = mistake not in (found.mistake.name, so_far.mistake)
        tries = so_far.mistake_tries + wrong
        return _kept(s, replace(so_far, mistake=mistake or "", mistake_tries=tries))
    return s


def shown_how(s: Settings) -> Settings:
    """The settings after help was asked for: the place where it is seen."""
    so_far = Said.of(s)
    return _kept(s, replace(so_far, stage_tries=max(so_far.stage_tries, ENOUGH)))


def _kept(s: Settings, now: Said) -> Settings:
    tries = tuple(min(count, MOST_TRIES) for count in (now.stage_tries, now.mistake_tries))
    return replace(s, answers=(now.stage, now.mistake), tries=tries)


# ---- what is answered ----------------------------------------------------------------------------


def of_stage(found: Planted, stage: str) -> str:
    """What is answered to a stage."""
    heading = STAGES[stage].heading
    if stage == found.first:
        return f"The numbers first differ in {heading}. {seen_at(found)}"
    if ALWAYS.index(stage) < ALWAYS.index(found.first):
        return f"All of {heading} is computed correctly from the stages before it."
    return f"Numbers before {heading} are already wrong."


def seen_at(found: Planted) -> str:
    """The first number of that stage that is another, in a sentence."""
    here, there = (_number(view, found.cell) for view in (found.wrong, found.right))
    return f"In {_place(found.right, found.cell)}, the number is {here} and should be {there}."


def should_be(found: Planted) -> str:
    """Where that number is, and what it should be."""
    heading, value = STAGES[found.first].heading, _number(found.right, found.cell)
    return f"{heading}, {_place(found.right, found.cell)}: should be {value}"


def how(found: Planted) -> list[str]:
    """The lines that lead to that number, if nothing is done wrong."""
    return cell_arithmetic(found.right, *found.cell, found.settings.digits)


def of_mistake(found: Planted, name: str) -> str:
    """What is answered to a mistake, one of the options."""
    if name == found.mistake.name:
        title = found.mistake.title
        return f"{capital(title)}. {found.mistake.fix}"
    _, other = views(Pair(found.settings, found.settings, name))
    cell = first_difference(other, found.wrong)
    assert cell is not None
    would, here = (_number(view, cell) for view in (other, found.wrong))
    stage = STAGES[cell.stage].heading
    return (
        f"With that mistake, {stage} would be {would} in {_place(found.right, cell)}; here it is"
        f" {here}."
    )


def _number(shown: View, cell: Cell) -> str:
    return number(shown.stages[cell.stage][cell[1:]])


def _place(shown: View, cell: Cell) -> str:
    row, column = shown.rows(cell.stage)[cell.row], shown.columns(cell.stage)[cell.column]
    return f"row {row}, column {column}"


def beside(found: Planted) -> Settings:
    """What Compare shows: the right numbers as A, the wrong ones as B."""
    return compared(Pair(found.settings, found.settings, found.mistake.name))
