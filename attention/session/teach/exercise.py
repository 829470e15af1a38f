"""Exercises: cells of the board left blank, and what a person types into them, judged one by one.

What is blank, and what is made of it, is shut: :attr:`Exercise.seen` has NaN there, and whatever is
shown is made of that view, so that no number leaves before it is answered. A blank is named as in
:class:`Cell`; what is asked of an exercise is a list of places: ``output``, ``weights.2`` for the
row of a query, ``scaled.2.0`` for a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from attention.core.scores import SIGMOID
from attention.explain.arithmetic import cell as cell_arithmetic
from attention.explain.view import View
from attention.limits import MAX_BLANKS, BadInput
from attention.session.state.run import run, view
from attention.session.state.settings import COMPARED, LOOKS, Settings
from attention.session.teach.answers import (
    Number,
    as_printed,
    is_right,
    read_answer,
    unit,
)
from attention.session.teach.by_hand import made, powers
from attention.vocabulary.numbers import number
from attention.vocabulary.sentences import to_decimals
from attention.vocabulary.stages import COMPUTED, STAGES

LEVELS = (("output",), ("weights",), ("masked",), ("scaled",), ("scores",), ("Q", "K", "V"))
MOST_WORDS = 12  # of an exercise on a state
NOWHERE = ("nowhere",)  # asks for nothing
ENOUGH = 2  # wrong tries, after which the arithmetic of a cell is shown
LETTERS = 7  # of a wrong answer that a cell has room for
LARGEST_POWER = 10  # of e that is given
MOST_DECIMALS = 6  # of one
MOST_TRIES = 9  # that are counted
CLOSE = 3  # units of the last digit: nearly right
Printed = dict[str, np.ndarray]  # the stages, rounded
Shut = dict[str, np.ndarray]  # of each stage where it is not shown, (rows, columns) of bool


class Cell(NamedTuple):
    """One number of a stage, counted from 0."""

    stage: str
    row: int
    column: int


def numbers_of(s: Settings) -> Settings:
    """Whose numbers the exercise of these settings has: those of its seed, or their own."""
    return s if s.exercise == "state" else made(max(s.exercise_seed, 1))


def name_of(s: Settings) -> str:
    """What the exercise is called by those who answer it; no other is called so.

    >>> name_of(Settings("own", ("w",), {}, exercise_seed=7, asked=("output.2",)))
    'made 7 output.2'
    """
    return " ".join((s.exercise, str(s.exercise_seed), *s.asked))


def suits(s: Settings) -> str:
    """Why there is no exercise on these settings, in a sentence; "" where there is one."""
    if s.weights_alone:
        return "These are finished weights: there are no earlier stages to ask about."
    if max(len(s.tokens), len(s.key_tokens)) > MOST_WORDS:
        return f"An exercise has at most {MOST_WORDS} words."
    return ""


# ---- which cells are blank -----------------------------------------------------------------------


def levels(shown: View) -> tuple[tuple[str, ...], ...]:
    """The stages that each level of fading leaves out beside those before it, from the output
    backwards; what is given, or copied because nothing is masked, is no level.
    """
    absent = set() if "mask" in shown.stages else {"masked"}
    kept = (
        tuple(name for name in level if name not in absent and shown.sources(name))
        for level in LEVELS
    )
    return tuple(level for level in kept if level)


def faded(shown: View, level: int, row: int | None = None) -> tuple[str, ...]:
    """The places that a level asks for, from 1: the last stages; of one query where its ``row`` is
    given. All keys and values count then, as that query meets them all.

    >>> shown = view(made(1), run(made(1)))
    >>> faded(shown, 2), faded(shown, 1, row=2)
    (('weights', 'output'), ('output.2',))
    """
    wanted = {name for stages in levels(shown)[:level] for name in stages}
    ordered = [name for name in shown.stages if name in wanted]
    return tuple(
        name if row is None or STAGES[name].rows != "queries" else f"{name}.{row}"
        for name in ordered
    )


def blanks_of(shown: View, places: Iterable[str]) -> tuple[Cell, ...]:
    """The cells that these places ask for, in reading order: stage by stage, row by row.

    Places that do not exist ask for nothing, and so do inputs.
    """
    asked: set[Cell] = set()
    for place in places:
        name, *at = place.split(".")
        if name not in COMPUTED or name not in shown.stages or not shown.sources(name):
            continue
        rows, columns = shown.stages[name].shape
        i, j = ([int(k) for k in at] + [None, None])[:2] if all(map(str.isdecimal, at)) else (-1, 0)
        asked |= {
            Cell(name, row, column)
            for row, column in np.ndindex(rows, columns)
            if i in (None, row) and j in (None, column)
        }
    order = {name: k for k, name in enumerate(shown.stages)}
    finite = (cell for cell in asked if not math.isnan(shown.stages[cell.stage][cell[1:]]))
    return tuple(sorted(finite, key=lambda cell: (order[cell.stage], cell.row, cell.column)))


def shut_of(shown: View, blank: Iterable[Cell], answered: Iterable[Cell]) -> Shut:
    """Where the stages are not shown: what is blank, and what is made of that, but for answers."""
    shut = {name: np.zeros(M.shape, bool) for name, M in shown.stages.items()}
    for stage, i, j in blank:
        shut[stage][i, j] = True
    open_again = {name: np.ones_like(where) for name, where in shut.items()}
    for stage, i, j in answered:
        open_again[stage][i, j] = False
    for name in shown.stages:
        for source, part in _sources(shown, name):
            follows = _follows(shut[source], part)
            if name == "masked":  # what is hidden is −∞, whatever it was
                follows = follows & shown.allowed
            shut[name] |= follows & open_again[name]
    return shut


def _sources(shown: View, name: str) -> list[tuple[str, str]]:
    return [("output", "row i")] if name == "joined" else shown.sources(name)


def _follows(shut: np.ndarray, part: str) -> np.ndarray:
    """Where a stage is made of what is shut in a source."""
    if part == "cell":
        return shut
    if part == "column j":
        return np.atleast_2d(shut.any(axis=0))
    rows = np.atleast_2d(shut.any(axis=1))
    return rows if part == "row j" else rows.T


# ---- an exercise as it stands --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Exercise:
    """The numbers, what is asked, and how far one got."""

    settings: Settings  # whose numbers
    shown: View  # all of them
    places: tuple[str, ...]  # that are asked for
    blanks: tuple[Cell, ...]  # in reading order
    answers: tuple[str, ...]  # as typed, "" where nothing was; one for each blank
    tries: tuple[int, ...]  # that were wrong

    @classmethod
    def of(cls, s: Settings) -> Exercise:
        """The exercise that these settings hold, with cells to fill in.

        >>> Exercise.of(Settings("own", ("w",), made(1).matrices)).blanks[0]
        Cell(stage='output', row=2, column=0)
        """
        settings = numbers_of(s)
        shown = view(settings, run(settings))
        places = s.asked
        if places != NOWHERE and not blanks_of(shown, places):  # of other numbers, it may be
            places = faded(shown, 1, settings.query)
        blanks = blanks_of(shown, places)[:MAX_BLANKS]
        readable = tuple(text if _is_readable(text) else "" for text in s.answers)
        answers = (readable + ("",) * len(blanks))[: len(blanks)]
        tries = (s.tries + (0,) * len(blanks))[: len(blanks)]
        return cls(settings, shown, places, blanks, answers, tries)

    @property
    def level(self) -> int | None:
        """Which level of fading it is, of one query or of all; None where blanks were chosen."""
        query = self.settings.query
        for level in range(1, len(levels(self.shown)) + 1):
            if self.places in (faded(self.shown, level), faded(self.shown, level, query)):
                return level
        return None

    @property
    def asks_every_row(self) -> bool:
        """Whether it is no exercise on one query alone."""
        return not self.level or self.places == faded(self.shown, self.level)

    @property
    def digits(self) -> int:
        return self.settings.digits

    @property
    def precision(self) -> str:
        """Return to what answers are rounded, in words."""
        return to_decimals(self.digits)

    @cached_property
    def right(self) -> tuple[bool, ...]:
        """Of each blank whether its answer is right."""
        return tuple(
            bool(text) and self.accepts(cell, text)
            for cell, text in zip(self.blanks, self.answers, strict=True)
        )

    @cached_property
    def open(self) -> tuple[Cell, ...]:
        """The blanks that are still to be answered."""
        return tuple(
            cell for cell, is_right in zip(self.blanks, self.right, strict=True) if not is_right
        )

    @property
    def done(self) -> int:
        """How many are right."""
        return sum(self.right)

    @cached_property
    def shut(self) -> Shut:
        answered = set(self.blanks) - set(self.open)
        return shut_of(self.shown, self.open, answered)

    @cached_property
    def seen(self) -> View:
        """The numbers without those that are shut, which are NaN."""
        stages = {
            name: np.where(self.shut[name], np.nan, M) if self.shut[name].any() else M
            for name, M in self.shown.stages.items()
        }
        zeros = {name: where & ~self.shut[name] for name, where in self.shown.zeros.items()}
        return replace(self.shown, stages=stages, zeros=zeros)

    def texts(self, stage: str) -> dict[tuple[int, int], str]:
        """What stands in each cell that is shut: ``?`` in a blank, what was typed wrongly, ``…``
        where something waits for a blank.
        """
        rows, columns = np.nonzero(self.shut[stage])
        texts = {(int(i), int(j)): "…" for i, j in zip(rows, columns, strict=True)}
        for cell, text in zip(self.blanks, self.answers, strict=True):
            if cell.stage == stage and cell in self.open:
                brief = text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"
                texts[cell.row, cell.column] = f"{brief} ✗" if text else "?"
        return texts

    def accepts(self, cell: Cell, text: str) -> bool:
        """Whether an answer is right at the digits asked for.

        It is, too, where it is what the numbers give that stand on the board, which are rounded.
        """
        given = read_answer(text)
        value = float(self.shown.stages[cell.stage][cell[1:]])
        if is_right(given, value, self.digits):
            return True
        by_hand = self._by_hand(cell)
        finite = by_hand is not None and math.isfinite(by_hand) and math.isfinite(value)
        return finite and is_right(given, by_hand or 0.0, self.digits)

    def is_rounded(self, cell: Cell) -> bool:
        """Whether an answer is right by the rounded numbers of the board alone."""
        value = float(self.shown.stages[cell.stage][cell[1:]])
        return not is_right(read_answer(self.typed(cell)), value, self.digits)

    def _by_hand(self, cell: Cell) -> float | None:
        """The number that follows from its sources as they are printed; None where none does."""
        if cell.stage not in _BY_HAND:
            return None
        with np.errstate(all="ignore"):
            return _BY_HAND[cell.stage](self.shown, self._printed, cell.row, cell.column)

    @cached_property
    def _printed(self) -> Printed:
        """The stages as they are printed, rounded."""
        write = np.vectorize(lambda x: as_printed(x, self.digits), otypes=[float])
        return {name: write(self.shown.printed(name)) for name in self.shown.stages}

    # ---- what is said of a cell ------------------------------------------------------------------

    def place(self, cell: Cell) -> str:
        """Where a cell is, in words."""
        row, column = self.shown.rows(cell.stage)[cell.row], self.shown.columns(cell.stage)
        return f"{STAGES[cell.stage].heading}, row {row}, column {column[cell.column]}"

    def typed(self, cell: Cell) -> str:
        """What was typed into a blank; "" where nothing was."""
        return self.answers[self.blanks.index(cell)]

    def wrong_tries(self, cell: Cell) -> int:
        return self.tries[self.blanks.index(cell)]

    def waits_for(self, cell: Cell) -> str | None:
        """The stage that has to be filled in before this cell can be computed."""
        lone = np.zeros(self.shown.stages[cell.stage].shape, bool)
        lone[cell.row, cell.column] = True
        for source, part in _sources(self.shown, cell.stage):
            follows = np.broadcast_to(_follows(self.shut[source], part), lone.shape)
            if (follows & lone).any():
                return source
        return None

    def hint(self, cell: Cell) -> str:
        """What the slip was, or which step to look at, in a sentence, after a wrong answer."""
        if source := self.waits_for(cell):
            name = STAGES[source].heading
            return f"Fill in {name} first: this number depends on it."
        text = self.typed(cell) if cell in self.blanks else ""
        if text and (slip := self._slip(cell, read_answer(text))):
            return slip
        step = _STEPS.get(cell.stage, _no_step)(self.shown, cell.row, cell.column)
        return f"Hint: {step}."

    def _slip(self, cell: Cell, given: Number) -> str:
        """A slip that the answer gives away; "" where it does not."""
        exact = float(self.shown.stages[cell.stage][cell[1:]])
        if isinstance(given, float) or not math.isfinite(exact):
            return ""
        if exact and is_right(-given, exact, self.digits):
            return "Only the sign is wrong."
        if cell.stage == "scaled":
            score = float(self.shown.stages["scores"][cell[1:]])
            if is_right(given, score, self.digits):
                return "That is the score before scaling."
        for digits in range(self.digits):
            if is_right(given, exact, digits) and (given * 10**digits).denominator == 1:
                return f"Too few decimals: give it {self.precision}."
        if abs(given - Fraction(exact)) <= CLOSE * unit(exact, self.digits):
            return "Close. Round only at the end."
        return ""

    def how(self, cell: Cell) -> list[str]:
        """The lines that lead to a number; none before what it is made of is there.

        A weight is made of the powers of e that are given for its row, where some are.
        """
        if self.waits_for(cell):
            return []
        is_seen = cell.stage == "weights" and self.shown.allowed[cell.row, cell.column]
        if is_seen and (given := self._powers_of_row(cell.row)):
            return self._with_powers(cell, given)
        return cell_arithmetic(self.shown, *cell, self.digits)

    def _powers_of_row(self, row: int) -> dict[float, str]:
        """The powers that lead to the weights of a row: those that are given, where it is open."""
        of_row, given = self._powers([row]), self.given_powers()
        return given if of_row and of_row.keys() <= given.keys() else of_row

    def _with_powers(self, cell: Cell, given: dict[float, str]) -> list[str]:
        """The lines that lead to a weight from the powers that are given."""
        masked = self.shown.stages["masked"][cell.row].tolist()
        powers = [given[x] for x in masked if math.isfinite(x)]
        total, mine = sum(map(Fraction, powers)), given[masked[cell.column]]
        decimals = len(mine.partition(".")[2])
        weight = number(float(self.shown.stages["weights"][cell[1:]]), self.digits)
        return [
            f"e^{{{number(masked[cell.column], 1)}}} = {mine}",
            f"Σ of the row = {' + '.join(powers)} = {float(total):.{decimals}f}",
            f"{mine} ÷ {float(total):.{decimals}f}",
            f"= {weight}",
        ]

    def remark(self, cell: Cell) -> str:
        """What is to be known of these lines; "" where they are as by hand."""
        is_seen = cell.stage == "weights" and self.shown.allowed[cell.row, cell.column]
        if is_seen and self._powers_of_row(cell.row):
            return "The powers of e are rounded."
        of = (cell.stage, *(source for source, _ in _sources(self.shown, cell.stage)))
        exact = all(np.array_equal(self._printed[name], self.shown.stages[name]) for name in of)
        remarks = [] if exact else ["These lines are computed with all digits and shown rounded."]
        if cell.stage == "weights" and self.shown.softmax is True:
            remarks.append("Subtracting the largest score first does not change the weights.")
        return " ".join(remarks)

    def shows_how(self, cell: Cell) -> bool:
        """Whether the lines are shown: of a blank after enough wrong tries, or when asked."""
        return cell not in self.open or self.wrong_tries(cell) >= ENOUGH

    def given_powers(self) -> dict[float, str]:
        """The powers of e that the blank weights need, to as few decimals as lead to them, from 2;
        none where they wait, or are not of wholes and halves.
        """
        return self._powers({cell.row for cell in self.open if cell.stage == "weights"})

    def _powers(self, rows: Collection[int]) -> dict[float, str]:
        """The powers that these rows of weights need."""
        plain = self.shown.softmax is True and self.shown.sink is None
        if not plain or any(self.shut["masked"][i].any() for i in rows):
            return {}
        masked = [
            [x for x in self.shown.stages["masked"][i].tolist() if math.isfinite(x)] for i in rows
        ]
        wanted = [x for row in masked for x in row]
        if not all((2 * x).is_integer() and abs(x) <= LARGEST_POWER for x in wanted):
            return {}
        for decimals in range(2, MOST_DECIMALS + 1):
            given = powers(wanted, decimals)
            if all(self._leads_to_weights(row, given) for row in masked):
                return given
        return {}

    def _leads_to_weights(self, row: list[float], given: dict[float, str]) -> bool:
        """Whether these powers give the weights of a row of masked scores, as they are printed."""
        exact, rounded = [math.exp(x) for x in row], [Fraction(given[x]) for x in row]
        total = sum(rounded)
        return total > 0 and all(
            number(float(r / total), self.digits) == number(e / sum(exact), self.digits)
            for r, e in zip(rounded, exact, strict=True)
        )


Work = Callable[[View, int, int], str]


def _projected(source: str, weight: str) -> tuple[Work, Callable]:
    bias = weight.replace("W_", "b_")

    def step(shown: View, i: int, j: int) -> str:
        rows = shown.source(source)
        name = weight.removeprefix("W_").replace("O", "projected")
        more = f", then add the entry of {bias}" if bias in shown.stages else ""
        return (
            f"multiply the row of {shown.rows(name)[i]} in {STAGES[rows].heading} and column"
            f" {shown.columns(name)[j]} of {weight} entry by entry and add{more}"
        )

    def by_hand(shown: View, printed: Printed, i: int, j: int) -> float:
        added = printed[bias][0, j] if bias in shown.stages else 0.0
        return float(printed[shown.source(source)][i] @ printed[weight][:, j] + added)

    return step, by_hand


def _score(shown: View, i: int, j: int) -> str:
    query, key = shown.labels["queries"][i], shown.labels["keys"][j]
    Q, K = (STAGES[shown.source(name)].heading for name in "QK")
    return f"multiply the row of {query} in {Q} and the row of {key} in {K} entry by entry and add"


def _scored(shown: View, printed: Printed, i: int, j: int) -> float:
    return float(printed[shown.source("Q")][i] @ printed[shown.source("K")][j])


def _scale(shown: View, i: int, j: int) -> str:
    if shown.divides_by_root:
        return f"divide by √d_k = {number(math.sqrt(shown.stages['Q'].shape[1]))}"
    return f"multiply by {number(shown.scale, 4)}"


def _mask(shown: View, i: int, j: int) -> str:
    if shown.bias is not None:
        return "add M to the scaled score"
    return "scores of hidden keys become −∞; the others stay as they are"


def _share(shown: View, i: int, j: int) -> str:
    if not shown.softmax:
        return "without softmax the masked score is the weight"
    if shown.softmax == SIGMOID:
        return "divide 1 by the sum of 1 and e to the power of minus the masked score"
    if shown.sink is not None:
        return (
            "take e to the power of each masked score in the row and divide each by their sum"
            f" plus e to the power of the sink, {number(shown.sink, 4)}"
        )
    return "take e to the power of each masked score in the row and divide each by their sum"


def _mix(shown: View, i: int, j: int) -> str:
    return (
        f"multiply each weight in the row by its entry in column {shown.columns('V')[j]} of V and"
        " add"
    )


def _no_step(shown: View, i: int, j: int) -> str:
    return "check the arithmetic again"


def _shared(shown: View, printed: Printed, i: int, j: int) -> float:
    masked, seen = printed["masked"][i], shown.allowed[i]
    if not shown.softmax or not seen[j]:
        return float(masked[j]) if seen[j] else 0.0
    if shown.softmax == SIGMOID:
        return float(1 / (1 + np.exp(-masked[j])))
    most = masked[seen].max()
    sink = 0.0 if shown.sink is None else np.exp(shown.sink - most)
    return float(np.exp(masked[j] - most) / (np.exp(masked[seen] - most).sum() + sink))


def _mixed(shown: View, printed: Printed, i: int, j: int) -> float:
    seen = shown.allowed[i]
    return float(printed["weights"][i][seen] @ printed["V"][:, j][seen])


_TO_Q, _TO_K, _TO_V, _TO_END = (
    _projected(*both)
    for both in (("X", "W_Q"), ("memory", "W_K"), ("memory", "W_V"), ("joined", "W_O"))
)
_STEPS: dict[str, Work] = {
    "Q": _TO_Q[0],
    "K": _TO_K[0],
    "V": _TO_V[0],
    "scores": _score,
    "scaled": _scale,
    "masked": _mask,
    "weights": _share,
    "output": _mix,
    "projected": _TO_END[0],
    "context": lambda shown, i, j: "add the numbers in this column of the output",
}
_BY_HAND: dict[str, Callable[[View, Printed, int, int], float]] = {
    "Q": _TO_Q[1],
    "K": _TO_K[1],
    "V": _TO_V[1],
    "scores": _scored,
    "scaled": lambda shown, printed, i, j: float(printed["scores"][i, j] * shown.scale),
    "weights": _shared,
    "output": _mixed,
    "projected": _TO_END[1],
    "context": lambda shown, printed, i, j: float(printed["output"][:, j].sum()),
}


# ---- what one does -------------------------------------------------------------------------------


def typed(s: Settings, cell: Cell, text: str) -> Settings:
    """The settings after an answer: it is kept, and counted where it is wrong.

    What is no number, and what is not asked, is refused with a sentence.
    """
    exercise = Exercise.of(s)
    if cell not in exercise.blanks:
        raise BadInput(f"{cell.stage} has no blank there.")
    text = " ".join(text.split())
    if cell not in exercise.open or not text:
        return s
    was_right = exercise.accepts(cell, text)
    k = exercise.blanks.index(cell)
    again = text == exercise.answers[k]
    wrong = exercise.tries[k] + (not was_right and not again)
    return _with(s, exercise, k, text, wrong)


def asked_how(s: Settings, cell: Cell) -> Settings:
    """The settings after the arithmetic of a blank was asked for."""
    exercise = Exercise.of(s)
    if cell not in exercise.open:
        return s
    k = exercise.blanks.index(cell)
    return _with(s, exercise, k, exercise.answers[k], max(exercise.tries[k], ENOUGH))


def at_level(s: Settings, level: int, every_row: bool) -> Settings:
    """The settings with another level of fading, of one query or of all; nothing is answered."""
    exercise = Exercise.of(s)
    row = None if every_row else exercise.settings.query
    return begun_anew(s, asked=faded(exercise.shown, level, row))


def turned(s: Settings, cell: Cell) -> Settings:
    """The settings with one cell more that is blank, or one less; nothing is answered."""
    exercise = Exercise.of(s)
    if not blanks_of(exercise.shown, [".".join(map(str, cell))]):
        raise BadInput(f"{STAGES[cell.stage].heading} is given; there is nothing to work out.")
    blanks = set(exercise.blanks) ^ {cell}
    if len(blanks) > MAX_BLANKS:
        raise BadInput(f"an exercise has at most {MAX_BLANKS} blanks.")
    return begun_anew(s, asked=_places(exercise.shown, blanks) or NOWHERE)


def _places(shown: View, blanks: Collection[Cell]) -> tuple[str, ...]:
    """The places that ask for these cells: stages and rows where all of one is blank."""
    places: list[str] = []
    for name in shown.stages:
        rows, columns = shown.stages[name].shape
        at = {i: [j for j in range(columns) if (name, i, j) in blanks] for i in range(rows)}
        if all(len(found) == columns for found in at.values()):
            places.append(name)
            continue
        for i, found in at.items():
            whole = len(found) == columns
            places += [f"{name}.{i}"] if whole else [f"{name}.{i}.{j}" for j in found]
    return tuple(places)


def _with(s: Settings, exercise: Exercise, k: int, text: str, wrong: int) -> Settings:
    answers = [*exercise.answers[:k], text, *exercise.answers[k + 1 :]]
    tries = [*exercise.tries[:k], min(wrong, MOST_TRIES), *exercise.tries[k + 1 :]]
    return replace(s, answers=tuple(_trimmed(answers)), tries=tuple(_trimmed(tries)))


def _is_readable(text: str) -> bool:
    try:
        read_answer(text)
    except BadInput:
        return False
    return True


def _trimmed(values: Sequence) -> Sequence:
    """Without what says nothing at the end, which would make a link longer."""
    last = max((k for k, value in enumerate(values, 1) if value), default=0)
    return values[:last]


def begun_anew(s: Settings, **changes: object) -> Settings:
    """The settings with another exercise, of which nothing is answered."""
    return replace(s, **changes, answers=(), tries=())  # type: ignore[arg-type]


def answers_kept(before: Settings, now: Settings) -> Settings:
    """The settings after any change; what was answered of other numbers goes."""
    answered = now.answers, now.tries
    if now.exercise != "state" or answered != (before.answers, before.tries) or not any(answered):
        return now
    beside = {name for name in (*LOOKS, *COMPARED) if name != "query" or now.asked}
    alike = replace(now, **{name: getattr(before, name) for name in beside}) == before
    return now if alike else begun_anew(now)
