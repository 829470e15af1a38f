"""The search for the mistakes that explain another code's numbers, within a bounded amount of work.

1. Right attention is computed once, in blocks of queries, and compared with the numbers.
2. Few inputs are searched as they are; of many, some queries are: those where right attention is
   furthest off, and some between. A set that does not explain these explains nothing.
3. Each mistake is tried alone (where it leaves a row without keys, with each thing that becomes of
   such a row), then each of the twelve commonest with any other, on these queries.
4. What explains them is compared with all queries, the nearest first.
5. Of the sets that explain the numbers the smallest and nearest are kept.
6. Where none does, a number is fitted to them, alone and with each of the twelve commonest; then
   factors for each query and head.
7. Where inputs are rounded, right attention, and if nothing else explains the numbers the sets that
   come nearest, are tried with as much as rounding these inputs moves their answer.

What would be too much work is left out, and :attr:`Found.left_out` says what.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from attention.arrays.distance import blocks, difference, distance, largest_finite
from attention.arrays.layouts import join_heads
from attention.frameworks.diagnosis.answers import (
    Set,
    Target,
    Verdict,
    compare,
    floored,
    judge,
    judge_stages,
    numbers_of,
    worst,
)
from attention.frameworks.diagnosis.bench import Bench, Stages
from attention.frameworks.diagnosis.fits import Fits
from attention.frameworks.diagnosis.mistakes import (
    BY_NAME,
    COMMONEST,
    FILLS,
    MISTAKES,
    OUTCOMES,
    STRANDING,
    Mistake,
    fill,
    mixing,
)
from attention.frameworks.diagnosis.rounding import DRAWS, Draws
from attention.frameworks.given import Given
from attention.frameworks.precision import Places, Written, alike, seems_rounded, written
from attention.vocabulary.sentences import plural

SAMPLED = 2**14  # scores of the queries that are searched, where there are more
FEWEST = 4  # queries, however many scores each has; and of a first look
FEW_OF = 2**11  # scores, beyond which a set is looked at on a few queries first
COLUMNS = 16  # of W_O, in a first look
BLOCK = 2**21  # scores computed at a time
WHOLE = 2**24  # scores, up to which what mixes queries is tried, head by head
HEAD = 2**22  # scores of one head, up to which that is done: each takes some 100 bytes
PAIRS = 2**25  # scores computed for pairs
WORK = 2**26  # scores computed beyond them: some seconds
SECONDS = 6e-8  # for a score
OVERHEAD = 3e-4  # seconds for a set, however small
NEAREST = 24  # sets that are tried with rounded inputs
AMPLIFIED = 30  # times, at most: how much further than right attention rounding moves a mistake
BEYOND_CHANCE = 100  # times as near as right attention: then no rounding of the inputs is needed
NEARER = 0.8  # at most, of what right attention leaves: what leaves more is no explanation
LEAST_TELLING = 1e-3  # of a weight, and of what it leaves, where its rounding is looked at


@dataclass(frozen=True)
class Plan:
    """What a search is going to do, and what it would cost."""

    shape: tuple[int, ...]  # of the scores
    compared: int  # queries
    searched: int  # queries
    sets: int  # of mistakes, at most
    seconds: float  # about

    def __str__(self) -> str:
        sizes = " × ".join(f"{size:,}" for size in self.shape)
        of = self.shape[-2]
        text = f"{sizes} scores: up to {self.sets:,} sets of mistakes are tried"
        if self.searched < of:
            text += f" on {self.searched:,} of {of:,} queries, and what fits there on"
            text += " all" if self.compared == of else f" {self.compared:,}"
        return f"{text}, in about {self.seconds:.1g} s at most."


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found."""

    bench: Bench  # the queries that are shown
    targets: list[Target]
    compared: list[Target]  # the same, of the queries that are compared
    explaining: list[Set]  # the smallest and nearest sets; empty where none explains the numbers
    possible: list[Set]  # explains them if half precision is assumed, which nothing shows
    unseen: list[Mistake]  # beside the first set they would not show
    verdicts: dict[Set, Verdict]  # of all sets that were tried
    varied: float  # how far the output's rows are from one another
    right: dict[str, np.ndarray]  # "output", "weights": right attention's, in the targets' shapes
    left_out: list[str]  # what was not searched, one sentence each
    plan: Plan
    vague: frozenset[Set]  # explain the numbers by a fill that other numbers would be as well
    # those compared, with what rounding the inputs may change in right ones; empty: not known
    roomy: list[Target]
    rounded: Mapping[str, Written]  # the inputs that count as rounded, and how


class Search:
    """One search: the benches it works on, what it has tried, and the work that is left."""

    def __init__(
        self, given: Given, answers: dict[str, Any], decimals: Mapping[str, Places] | None = None
    ) -> None:
        self.given, self.theirs, self.decimals = given, answers, decimals
        *_, n_q, n_k = given.shape
        self.n_q, self.scores_per_query = (
            n_q,
            math.prod(given.shape[:-2]) * n_k,
        )  # scores of one query
        self.compared = self._spread(max(1, WORK // 4 // max(self.scores_per_query, 1)))
        self.small = self.scores_per_query * n_q <= SAMPLED
        self.sample = Bench(given, None if self.small else self._first_sample())
        self.draws = Draws(given, self.sample.scores) if given.rounded else None
        self.work_left = WORK
        self.whole: Bench | None = None
        # a first look: some of the queries that are searched, and what sets that are no use leave
        self.few: Bench | None = None
        self.few_rows: list[Target] = []
        self.far_off = math.inf
        self.largest_score = 0.0  # the largest of right attention's scaled scores
        self.verdicts: dict[Set, Verdict] = {}
        self.everywhere: set[Set] = {()}  # what was compared with all queries
        self.possible: list[
            Set
        ] = []  # what half precision would explain, although nothing shows it
        self.left_out: list[str] = []
        self.plan = self._plan()
        numbers = numbers_of(answers, *self._shapes(answers["output"] is not None))
        self.right, sizes = self._right(numbers)
        turn = self._turn()
        how = alike(
            [
                written(values, answers[name], (decimals or {}).get(name))
                for name, values in numbers.items()
            ]
        )
        self.targets = [
            Target(name, values, as_written, sizes[name], turn)
            for (name, values), as_written in zip(numbers.items(), how, strict=True)
        ]

    def _turn(self) -> float:
        """Return the largest angle that a query or a key is rotated by: it is rounded as well."""
        g, (n_q, n_k) = self.given, self.given.shape[-2:]
        if g.rotary is None:
            return 0.0
        width = (g.Q if g.X is None else g.W_Q).shape[-1] // g.heads
        return largest_finite(g.rotary.turns(width)) * max(g.rotary.offset + n_q, n_k)

    # ---- which queries ---------------------------------------------------------------------------

    def _spread(self, most: int) -> np.ndarray:
        """So many queries, evenly spread."""
        if most >= self.n_q:
            return np.arange(self.n_q)
        return np.unique(np.linspace(0, self.n_q - 1, most).astype(int))

    def _sample_size(self) -> int:
        return min(self.n_q, max(FEWEST, SAMPLED // max(self.scores_per_query, 1)))

    def _first_sample(self) -> np.ndarray:
        return self._spread(self._sample_size())

    def _worst_sample(self) -> np.ndarray:
        """Half of the queries where right attention is furthest off, half evenly spread."""
        far = np.zeros(len(self.compared))
        for target in self.targets:
            if target.name in self.right:
                ours, theirs = self.right[target.name], self.compared_of(target).values
                for rows in blocks(ours.shape):
                    apart = distance(ours[..., rows, :], theirs[..., rows, :]).max(axis=-1)
                    apart = apart.reshape(-1, apart.shape[-1]).max(axis=0)
                    far[rows] = np.maximum(far[rows], apart)
        count = self._sample_size()
        worst_ones = self.compared[np.argsort(-far, kind="stable")[: count // 2]]
        return np.union1d(worst_ones, self._spread(count - count // 2))

    def _plan(self) -> Plan:
        room = len(self.sample.applicable)
        common = sum(mistake.common for mistake in self.sample.applicable)
        sets = 1 + 3 * room + common * room
        seconds = sets * (OVERHEAD + self.sample.scores * SECONDS)
        if not self.small:
            whole = self.scores_per_query * len(self.compared)
            seconds += SECONDS * (min(WORK, 6 * whole) + whole)
        if self.draws:
            seconds += 3 * NEAREST * (OVERHEAD + DRAWS * self.sample.scores * SECONDS)
        return Plan(self.given.shape, len(self.compared), self._sample_size(), sets, seconds)

    # ---- right attention -------------------------------------------------------------------------

    def _blocks(self) -> Iterable[np.ndarray | None]:
        if len(self.compared) == self.n_q and self.scores_per_query * self.n_q <= BLOCK:
            return [None]
        step = max(1, BLOCK // max(self.scores_per_query, 1))
        return [self.compared[k : k + step] for k in range(0, len(self.compared), step)]

    def _bench(self, queries: np.ndarray | None) -> Bench:
        """Return a bench for these queries; the one for all of them is kept."""
        if queries is not None:
            return Bench(self.given, queries, like=self.sample)
        if self.sample.queries is None:
            return self.sample
        if self.whole is None:
            self.whole = Bench(self.given, None, like=self.sample)
        return self.whole

    def _shapes(
        self, output: bool
    ) -> tuple[dict[str, list[tuple[int, ...]]], list[tuple[int, ...]]]:
        """Return the shapes of right attention's answers, and those of outputs with a mistake."""

        def shapes(name: str, stages: Stages | None) -> list[tuple[int, ...]]:
            views = self.sample.views(name, stages[name]) if stages else ()
            return [(*view.shape[:-2], self.n_q, view.shape[-1]) for view in views]

        right = {name: shapes(name, self.sample.right) for name in ("output", "weights")}
        changing = {"W_V", "join", "W_O"}
        wrong = [(m,) for m in self.sample.applicable if output and m.parts & changing]
        return right, [each for w in wrong for each in shapes("output", self.sample.run(w))]

    def _right(self, numbers: dict[str, np.ndarray]) -> tuple[dict, dict]:
        """Right attention's answers of the numbers' shapes, and what errors are measured by.

        The answers are those of the queries that are compared, block after block; the sizes are
        those of all queries.
        """
        right: dict[str, np.ndarray] = {}
        sizes: dict[str, np.ndarray] = {}
        done = 0
        for queries in self._blocks():
            bench = self._bench(queries)
            self.largest_score = max(self.largest_score, largest_finite(bench.right["scaled"]))
            rows = slice(done, done + (self.n_q if queries is None else len(queries)))
            done = rows.stop
            for name, values in numbers.items():
                self._take(right, rows, name, values, bench.views(name, bench.right[name]))
                if name == "output":
                    size = bench.right["output size"]
                    self._take(sizes, rows, name, values, bench.views(name, size))
        self.work_left -= self.scores_per_query * len(self.compared)
        for name, values in numbers.items():
            if name == "weights":
                sizes[name] = np.broadcast_to(1.0, values.shape)
            elif name in sizes:
                sizes[name] = floored(self._all_rows(sizes[name]))
            else:
                sizes[name] = np.broadcast_to(largest_finite(values) or 1.0, values.shape)
        return right, sizes

    def _take(
        self,
        found: dict[str, np.ndarray],
        rows: slice,
        name: str,
        values: np.ndarray,
        views: Iterable[np.ndarray],
    ) -> None:
        """Put a block of rows in its place, from the view that has the shape of these numbers."""
        *lead, _, columns = values.shape
        for view in views:
            if (*view.shape[:-2], view.shape[-1]) == (*lead, columns):
                if name not in found:
                    found[name] = np.empty((*lead, len(self.compared), columns))
                found[name][..., rows, :] = view
                return

    def _all_rows(self, size: np.ndarray) -> np.ndarray:
        """Return a size for every query: of those that are not compared, that of the one before."""
        if len(self.compared) == self.n_q:
            return size
        nearest = np.searchsorted(self.compared, np.arange(self.n_q), side="right") - 1
        return size[..., nearest, :]

    def compared_of(self, target: Target) -> Target:
        """Return the numbers of the queries that are compared."""
        return target.rows(None if len(self.compared) == self.n_q else self.compared)

    # ---- trying ----------------------------------------------------------------------------------

    def prepare(self) -> Verdict | None:
        """Compare right attention with the numbers, and choose the queries that are searched."""
        verdict = self._judge_right()
        if not self.small:
            self.sample = Bench(self.given, self._worst_sample(), like=self.sample)
        self._give_answer(self.sample)
        self.rows = [t.rows(self.sample.queries) for t in self.targets]
        queries = np.arange(self.n_q) if self.sample.queries is None else self.sample.queries
        if self.sample.scores > FEW_OF and len(queries) > 2 * FEWEST:
            some = queries[np.linspace(0, len(queries) - 1, FEWEST).astype(int)]
            self.few = Bench(self.given, some, like=self.sample)
            self.few_rows = [t.rows(some) for t in self.targets]
            if self.given.W_O is not None:  # which costs most: a few of its columns tell as well
                step = max(1, self.given.W_O.shape[-1] // COLUMNS)
                self.few.columns = slice(None, None, step)
                self.few_rows = [
                    t.columns(self.few.columns) if t.name == "output" else t for t in self.few_rows
                ]
            self._give_answer(self.few)
            limits = [target.spread for target in self.targets]
            limits += [] if verdict is None else [verdict.spread]
            self.far_off = 1.5 * min([0.1, *(limit / 4 for limit in limits)])
        if verdict is not None:
            self.verdicts[()] = verdict
        return verdict

    def is_right(self) -> bool:
        """Check whether right attention gives the numbers, or does within the inputs' rounding."""
        verdict = self.prepare()
        return verdict is not None and (verdict.as_written or bool(self.try_rounded([()])))

    def _judge_right(self) -> Verdict | None:
        """Return the verdict on right attention, out of what was computed for all queries."""
        if len(self.right) < len(self.targets):
            return None
        return worst([self._judge_answer(self.compared_of(target)) for target in self.targets])

    def _judge_answer(self, target: Target) -> Verdict:
        ours, size = self.right[target.name], target.size

        def telling(ours: np.ndarray, size: np.ndarray) -> np.ndarray:
            if target.name == "weights":  # rounded scores hardly move one that is nearly 0 or 1
                return np.where(np.abs(ours * (1 - ours)) < LEAST_TELLING, 0, np.abs(ours))
            return np.where(ours == 0, 0, size)

        return compare(target, ours, size, self.largest_score, telling)

    def _give_answer(self, bench: Bench) -> None:
        """Tell a bench the other code's output of its queries, its heads side by side."""
        for target in self.targets:
            rows = target.rows(bench.queries)
            if target.name == "output":
                bench.answer = self._joined(rows.values)[..., bench.columns]
                bench.answer_unit = self._joined(rows.half_unit)[..., bench.columns]
            else:
                bench.dropped = np.where(rows.values == 0, rows.half_unit, np.inf)

    def _joined(self, output: np.ndarray) -> np.ndarray:
        """Return the heads of an output side by side, where they came apart."""
        apart = self.given.heads > 1 and output.ndim == len(self.given.shape)
        return join_heads(output) if apart else output

    @property
    def applicable(self) -> tuple[Mistake, ...]:
        """The mistakes there is room for on the queries that are searched."""
        row, mean = BY_NAME["residual: row"], BY_NAME["shares: handed over"]
        fitted = () if self.sample.answer is None else (row,)
        of_heads = any(
            t.name == "weights" and t.values.shape == self.given.shape for t in self.targets
        )
        room = (
            self.sample.applicable
            if of_heads
            else (m for m in self.sample.applicable if m is not mean)
        )
        return (*room, *fitted)

    def mixed(self) -> list[Set]:
        """Try what mixes queries on all of them, and only alone, where only some are searched."""
        if self.small:
            return []
        axes = () if Bench(self.given).otherwise else (BY_NAME["axes: tokens first"],)
        return [(m,) for m in MISTAKES if mixing((m,)) and m not in axes]

    def try_all(self, sets: Iterable[Set], *, half: bool = False) -> list[Set]:
        """Judge these sets; return those that differ by what writing explains, the nearest first.

        With ``half`` also those that half precision explains, although nothing shows it.
        """
        fitting = []
        for each in sorted(sets, key=Bench.order):
            if each in self.verdicts:
                verdict: Verdict | None = self.verdicts[each]
            elif not self.small and mixing(each):
                verdict = self._judge_mixing(each)
            else:
                verdict = self._judged(each)
            if verdict is None:
                continue
            self.verdicts[each] = verdict
            if (verdict.as_written or (half and verdict.fits)) and self._worth_a_fit(each):
                fitting.append(each)
        fitting.sort(key=lambda each: self.verdicts[each].far)
        return fitting if self.small else self._confirmed(fitting, half)

    def _judged(self, each: Set) -> Verdict | None:
        """Judge a set on the queries that are searched, or on a few of them where that is enough.

        It is where they are far off: such a set explains nothing, nor is it the closest. Factors
        of a gate need all columns, and more rows, to be told.
        """
        if self.few is not None and not mixing(each) and BY_NAME["join: gated"] not in each:
            verdict = judge(self.few, each, self.few_rows)
            if verdict is None or (not verdict.fits and verdict.spread > self.far_off):
                return verdict
        return judge(self.sample, each, self.rows)

    def _worth_a_fit(self, each: Set) -> bool:
        """Whether a fitted row brings the numbers far nearer: a little is what any fit does.

        And far nearer than their rows are to one another: it turns any constant into any other.
        """
        without = self.verdicts.get(tuple(mistake for mistake in each if not mistake.fitted))
        by_row = any(mistake.fitted and mistake.number is None for mistake in each)
        if without is None or not by_row:  # of a number :meth:`Fits.tells` decides
            return True
        least = min(without.spread, self.varied)
        return without.half is None and self.verdicts[each].spread < least / 10

    @cached_property
    def varied(self) -> float:
        """How far the output's rows are from the first, as :attr:`Target.spread` measures it."""
        target = next((target for target in self.targets if target.name == "output"), None)
        if target is None:
            return math.inf
        values, size = (
            M.reshape(-1, M.shape[-1]) for M in map(self._joined, (target.values, target.size))
        )
        apart = difference(values, np.broadcast_to(values[:1], values.shape))
        return replace(target, values=apart, size=size).spread

    def try_rounded(self, sets: Iterable[Set]) -> list[Set]:
        """Judge the nearest of these sets again, by what rounding the inputs changes in them.

        Return those that it explains; where only some queries are searched, it does on these.
        """
        tried = [
            each for each in sets if each in self.verdicts and (self.small or not mixing(each))
        ]
        tried.sort(key=lambda each: self.verdicts[each].spread)
        if self.draws and self.sample.queries is not None:
            sentence = (
                f"What rounding the inputs changes was tried on {len(self.sample.queries):,} of the"
                f" {self.n_q:,} queries."
            )
            if sentence not in self.left_out:
                self.left_out.append(sentence)
        fitting = []
        for each in tried[:NEAREST] if self.draws else []:
            if each and self.verdicts[each].spread > self._far_beyond_rounding:
                break  # as are all that follow
            verdict = judge(self.sample, each, self._roomy(each))
            if verdict is not None and verdict.as_written:
                self.verdicts[each] = replace(verdict, by_inputs=True)
                if self._worth_a_fit(each):
                    fitting.append(each)
        return self._nearest(fitting)

    @cached_property
    def _far_beyond_rounding(self) -> float:
        """The spread beyond which no set is tried: rounding moves right attention far less."""
        spreads = [
            replace(rows, values=rows.room).spread
            for rows in self._roomy(())
            if rows.room is not None
        ]
        return AMPLIFIED * max(spreads, default=math.inf)

    def _roomy(self, each: Set) -> list[Target]:
        """Return the numbers searched, with how far rounding the inputs moves those of this set."""
        room = self.draws.room(self.sample, each, self.rows) if self.draws else []
        if not room:
            return self.rows
        return [replace(rows, room=part) for rows, part in zip(self.rows, room, strict=True)]

    def _judge_mixing(self, each: Set) -> Verdict | None:
        """Compute what mixes queries for all of them, where that is not too much."""
        n_q, n_k = self.given.shape[-2:]
        if self.scores_per_query * n_q > min(WHOLE, self.work_left) or n_q * n_k > HEAD:
            sentence = "Mistakes that mix queries were not tried: there are too many scores."
            if sentence not in self.left_out:
                self.left_out.append(sentence)
            return None
        self.work_left -= self.scores_per_query * n_q
        return self._judge_by_head(each)

    def _judge_by_head(self, each: Set) -> Verdict | None:
        """Judge what changes no scaled score on all queries, in the memory of one head."""
        bench, verdicts = Bench(self.given, None, like=self.sample), []
        weights = [target for target in self.targets if target.name == "weights"]
        sums = {
            name: np.zeros(target.values.shape)
            for target in weights
            if target.values.shape != self.given.shape  # the heads' mean
            for name in ("weights", "weights size")
        }

        def look(index: tuple[int, ...], stages: Stages) -> None:
            for name, total in sums.items():
                total[index[:-1]] += stages[name]
            for target in () if sums else weights:
                part = stages["weights"], stages["weights size"]
                verdicts.append(compare(target.of_head(index), *part, self.largest_score))

        stages = bench.run_by_head(each, look)
        if stages is None:
            return None
        for target in weights if sums else ():
            mean, size = (total / self.given.shape[-3] for total in sums.values())
            verdicts.append(compare(target, mean, size, self.largest_score))
        for target in self.targets:
            if target.name == "output":
                verdict = judge_stages(bench, stages, target, self.largest_score)
                if verdict is None:
                    return None
                verdicts.append(verdict)
        return worst(verdicts)

    def _confirmed(self, fitting: list[Set], half: bool) -> list[Set]:
        """Those that explain all queries: the nearest in any case, others while work is left."""
        confirmed = []
        for k, each in enumerate(fitting):
            if mixing(each) or each in self.everywhere:
                confirmed.append(each)
            elif k and self.scores_per_query * len(self.compared) > self.work_left:
                self._leave_out(len(fitting) - k)
                break
            else:
                self.work_left -= self.scores_per_query * len(self.compared)
                self.everywhere.add(each)
                verdict = self._judge_all(each)
                if verdict is not None:
                    self.verdicts[each] = verdict
                    if verdict.as_written or (half and verdict.fits):
                        confirmed.append(each)
        return confirmed

    def _leave_out(self, count: int) -> None:
        self.left_out.append(
            f"{count} {plural(count, 'set')} of mistakes more would explain the queries that were"
            " searched; what they say about the others was not computed."
        )

    def _judge_all(self, each: Set) -> Verdict | None:
        """Judge a set on every query, in blocks."""
        verdicts = []
        for queries in self._blocks():
            bench = self._bench(queries)
            self._give_answer(bench)
            verdict = judge(bench, each, [t.rows(queries) for t in self.targets])
            if verdict is None:
                return None
            verdicts.append(verdict)
        return worst(verdicts)

    # ---- the sets --------------------------------------------------------------------------------

    def alone(self) -> list[Set]:
        """Every mistake alone, and what may become of a row that it leaves without keys."""
        return [each for mistake in self.applicable for each in self._outcomes((mistake,))]

    def pairs(self) -> list[Set]:
        """Each of the twelve commonest with any other mistake, the commonest of both first."""
        room = self.applicable
        found: dict[Set, None] = {}
        for most in (True, False):
            for first in (m for m in COMMONEST if m in room):
                for other in (m for m in room if m is not first and m.common is most):
                    if not first.parts & other.parts:
                        for each in self._outcomes(_sorted((first, other))):
                            found[each] = None
        if not self.small:
            self.left_out.append("Mistakes that mix queries were tried alone, not with others.")
        afford = max(64, PAIRS // max(self.sample.scores, 1))
        if len(found) > afford:
            self.left_out.append(f"Of {len(found):,} pairs the {afford:,} commonest were tried.")
        return list(islice(found, afford))

    def _outcomes(self, each: Set) -> list[Set]:
        """Return the set, and with it what becomes of the rows that it leaves without keys."""
        options = {option for mistake in each for part, option in mistake.choices if part == "mask"}
        more: tuple[Mistake, ...] = ()
        if options:
            (option,) = options
            allowed, right = self.sample._allowed(option), self.sample._allowed(None)
            emptied = ~allowed.any(axis=-1) & right.any(axis=-1)
            over_queries = any(mistake.name == "softmax: queries" for mistake in each)
            if emptied.any() or (over_queries and not allowed.any(axis=-2).all()):
                more = OUTCOMES
        if (
            any(mistake.name == "softmax: none" for mistake in each)
            and self.given.allowed is not None
        ):
            more = (BY_NAME["hiding: filled"], BY_NAME["hiding: after softmax"])
        if self.given.allowed is not None and any(m.name in STRANDING for m in each):
            more = OUTCOMES  # a hidden score has no sum of its own there
        taken = {part for mistake in each for part in mistake.parts}
        return [each, *(_sorted((*each, m)) for m in more if not m.parts & taken)]

    def run(self) -> Found:
        """Run the whole search."""
        right = self.prepare()
        return self._found(self._explaining(right))

    def run_as_rounded(self) -> Found | None:
        """Search again with inputs that seem to be rounded, after :meth:`run` found nothing.

        Return None where none seems to be, or rounding them explains the numbers neither.
        """
        seem = seeming_rounded(self.given)
        if not seem:
            return None
        self.given = replace(self.given, rounded={**self.given.rounded, **seem})
        self.draws = Draws(self.given, self.sample.scores)
        vars(self).pop("_far_beyond_rounding", None)  # of the rounding so far
        explaining = (
            self.try_rounded([()])
            or self.try_rounded(each for each in self.verdicts if len(each) == 1)
            or self.try_rounded(each for each in self.verdicts if len(each) > 1)
        )
        if not explaining:
            return None
        self.possible = []  # rounding says why, and not half precision
        return self._found(explaining)

    def _found(self, explaining: list[Set]) -> Found:
        """Return these sets, with what is said beside them."""
        vague = frozenset(each for each in explaining if not self._singled_out(each))
        explaining = self._once(explaining, vague)
        unseen = self._unseen(explaining[0]) if explaining and len(explaining[0]) < 2 else []
        unseen = [mistake for mistake in unseen if (mistake,) not in explaining]
        compared = [self.compared_of(target) for target in self.targets]
        roomy = compared if not self.draws else self._roomy(()) if self.small else []
        shown = self.sample
        if self.scores_per_query * self.n_q <= BLOCK:
            shown = self._bench(None)
            self._give_answer(shown)
        return Found(
            bench=shown,
            targets=self.targets,
            compared=compared,
            explaining=explaining,
            possible=self.possible,
            unseen=unseen,
            verdicts=self.verdicts,
            varied=self.varied,
            right=self.right,
            left_out=self.left_out,
            plan=self.plan,
            vague=vague,
            roomy=roomy,
            rounded=self.given.rounded,
        )

    def _explaining(self, right: Verdict | None) -> list[Set]:
        """Return the fewest mistakes that explain the numbers, then unseen half precision.

        Right attention, also where a mistake comes nearer: a saturated softmax gives exactly what
        right attention gives but for rounding. One mistake, beside right attention where these may
        be its numbers in half precision; two. By the rounding of the inputs, right attention before
        all but what comes far nearer, and mistakes last.
        """
        alone = self.alone()
        seen = self._nearest(self.try_all(alone))
        if right is not None and right.as_written:
            return [()]
        if right is not None and self.try_rounded([()]):
            if seen and BEYOND_CHANCE * self.verdicts[seen[0]].far < self.verdicts[()].far:
                return seen
            return [()]
        half = right.half if right is not None and right.fits else None
        if half and self._may_be(half):
            return [(), *seen]
        if not seen:
            seen = self._nearest(self.try_all(self.mixed()))
        if seen:
            return seen
        pairs = self.pairs()
        explaining = (
            self._nearest(self.try_all(pairs))
            or self._fitted()
            or self._gated()
            or self.try_rounded([*alone, *self.mixed()])
            or self.try_rounded(pairs)
        )
        if not explaining:
            self.possible = [()] if half else self._nearest(self.try_all(alone, half=True))[:1]
        return explaining

    def _fitted(self) -> list[Set]:
        """Try numbers that are fitted, alone and with one of the commonest mistakes.

        Only such a number counts that comes far nearer than all that is not fitted.
        """
        fits = Fits(self.sample, self.rows)
        least = min((verdict.spread for verdict in self.verdicts.values()), default=math.inf)
        for sets in (fits.alone, fits.pairs):
            tried = list(sets())
            fitting = self._nearest(self.try_all(tried))
            found = [
                each for each in fitting if fits.tells(each, least, self.verdicts[each].spread)
            ]
            for each in tried:
                if each not in found:
                    self.verdicts.pop(each, None)
            if found:
                return found
        return []

    def _gated(self) -> list[Set]:
        """Try factors for each query and head, alone and beside each of the commonest mistakes.

        What comes near by such a fit alone is not near.
        """
        gated, factors = BY_NAME["join: gated"], BY_NAME["hiding: after softmax"]  # itself a gate
        common = [m for m in COMMONEST if m in self.applicable and not m.parts & gated.parts]
        common = [m for m in common if m is not factors]
        beside = [each for m in common for each in self._outcomes(_sorted((m, gated)))]
        fitting: list[Set] = []
        for sets in ([(gated,)], beside):
            fitting = fitting or self._nearest(self.try_all(sets))
            for each in set(sets) - set(fitting):
                self.verdicts.pop(each, None)
        return fitting

    def _may_be(self, half: str) -> bool:
        """Check whether all numbers, those of rounded inputs too, may be of that half precision."""
        ways = [target.written for target in self.targets]
        for name, how in self.given.rounded.items():
            ways.append(written(self.given.arrays[name], None, how.decimals))
        return all(half in way.may_be for way in ways)

    def _nearest(self, fitting: list[Set]) -> list[Set]:
        """Return the nearest first, and those about as near: others fit by the tolerance alone."""
        fitting = sorted(filter(self._comes_nearer, fitting), key=lambda s: self.verdicts[s].far)
        if not fitting:
            return []
        limit = max(10 * self.verdicts[fitting[0]].far, 1e-9)
        fitting = [each for each in fitting if self.verdicts[each].far <= limit]
        exact = [each for each in fitting if not any(mistake.fitted for mistake in each)]
        return exact or fitting

    def _comes_nearer(self, each: Set) -> bool:
        """Check whether a set comes nearer than right attention, where that is no explanation.

        Larger scores grant more rounding: what leaves as much may fit by that alone.
        """
        right, verdict = self.verdicts.get(()), self.verdicts[each]
        if not each or right is None:
            return True
        if right.fits and (right.half is None or self._may_be(right.half)):
            return True
        return verdict.far < NEARER * right.far or verdict.spread < NEARER * right.spread

    def _singled_out(self, each: Set) -> bool:
        """Check whether another number than the one that fills hidden scores would be seen."""
        filled = fill(each)
        if filled is None:
            return True
        ((_, option),) = filled.choices
        step = max(0.1, 0.1 * abs(FILLS[option]))
        rows = self._roomy(each) if self.verdicts[each].by_inputs else self.rows
        for number in (FILLS[option] - step, FILLS[option] + step):
            other = Mistake((("hiding", str(number)),), filled.title, filled.fix)
            verdict = judge(self.sample, tuple(other if m is filled else m for m in each), rows)
            if verdict is not None and verdict.as_written:
                return False
        return True

    def _once(self, explaining: list[Set], vague: frozenset[Set]) -> list[Set]:
        """Return the sets; of those that differ only in a fill that cannot be told, the first."""
        found: dict[frozenset[Mistake | None], Set] = {}
        whatever = BY_NAME["hiding: filled"]
        for each in explaining:
            filled = fill(each) if each in vague else None
            found.setdefault(frozenset(whatever if m is filled else m for m in each), each)
        return list(found.values())

    def _unseen(self, found: Set) -> list[Mistake]:
        """Return what could be there beside ``found`` without showing."""
        taken = {part for mistake in found for part in mistake.parts}
        also = {
            _sorted((*found, m)): m for m in self.applicable if not m.parts & taken and not m.fitted
        }
        if self.verdicts[found].by_inputs:
            rows = self._roomy(found)
            judged = {each: judge(self.sample, each, rows) for each in also}
            fitting = [each for each, verdict in judged.items() if verdict and verdict.as_written]
        else:
            fitting = self.try_all(also, half=self.verdicts[found].half is not None)
        return sorted((also[each] for each in fitting), key=MISTAKES.index)


def seeming_rounded(given: Given) -> dict[str, Written]:
    """Return which inputs seem to be rounded, of those that count as exact, and how."""
    return {
        name: how
        for name, M in given.arrays.items()
        if name not in given.rounded and (how := seems_rounded(M))
    }


def _sorted(mistakes: Iterable[Mistake]) -> Set:
    """Return them in the order of the table; a fitted number is not in it, and comes last."""
    return tuple(
        sorted(mistakes, key=lambda m: MISTAKES.index(m) if m.number is None else math.inf)
    )
