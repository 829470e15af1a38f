"""The guided tour: what each step says, asks for and answers, made of the user's own numbers.

A step says nothing that does not hold for these numbers: equal scores, hidden words and weights
that make no difference have sentences of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attention.explain.arithmetic import terms
from attention.explain.card import Cell
from attention.explain.strip import strongest
from attention.explain.view import View
from attention.session.edit.changes import set_heads, set_mask
from attention.session.state.run import run, view
from attention.session.state.settings import LAST_STEP, TRUE_MASK, Settings, allowed
from attention.vocabulary.numbers import MINUS, number, percent
from attention.vocabulary.parts import called as named_parts
from attention.vocabulary.sentences import called, capital, first_few, in_words
from attention.vocabulary.stages import STAGES

FEWEST, MOST = 2, 10  # words that can be looked at one by one
ALIKE = 1e-12  # of a weight: what rounding may change
GLANCE = 6  # numbers of a row that are written out
HEADS_STEP = 8
OF_WEIGHTS = (0, 4, 6)  # the steps that speak of the weights of the query
OF_MASKS = (5, 7)  # the steps that ask for hidden scores
DRAWS_MASK = 7  # the one of them that asks for a click on masked


@dataclass(frozen=True)
class Reply:
    """What is said of what the user did: that it was done, or what to look for."""

    kind: str  # "done", "missed", or "ask" where only a part of it was done
    text: str


@dataclass(frozen=True, eq=False)
class Now:
    """Settings, and what the sentences about them are made of."""

    s: Settings

    @cached_property
    def shown(self) -> View:
        """The stages on the board."""
        return view(self.s, run(self.s))

    @property
    def plain(self) -> Now:
        """The same as the tour's steps begin: one head, divided by √d_k, and nothing hidden."""
        return self._plain or self

    @cached_property
    def _plain(self) -> Now | None:
        return self._other(plain(self.s))

    @property
    def one_head(self) -> Now:
        return self._one_head or self

    @cached_property
    def _one_head(self) -> Now | None:
        return self._other(set_heads(self.s, 1))

    def _other(self, s: Settings) -> Now | None:
        """Return what other settings make; None where they are the same.

        An object that held itself would stay until Python collects garbage.
        """
        return None if s == self.s else Now(s)

    def scaled_by(self, scale: float | None) -> Now:
        return Now(replace(self.s, scale=scale))

    # ---- words

    @property
    def i(self) -> int:
        """The row of the query."""
        return self.s.query

    @property
    def q(self) -> str:
        return self.query(self.i)

    def query(self, i: int) -> str:
        return called(self.shown.labels["queries"], i)

    def key(self, j: int) -> str:
        return called(self.shown.labels["keys"], j)

    def of(self, i: int, j: int) -> str:
        """A key as the object of its query."""
        return "itself" if i == j else self.key(j)

    # ---- numbers

    def text(self, stage: str, i: int, j: int) -> str:
        return self.texts(stage, i)[j]

    def texts(self, stage: str, i: int) -> list[str]:
        """A row of a stage, as the board has it."""
        return self.shown.row_texts(stage, i, self.s.digits)

    def row(self, stage: str, i: int) -> str:
        texts = self.texts(stage, i)
        return f"[{first_few(texts, GLANCE)}]"

    @cached_property
    def weights(self) -> np.ndarray:
        """Those of the query, (n_k,)."""
        return np.nan_to_num(self.shown.stages["weights"][self.i])

    @cached_property
    def scores(self) -> np.ndarray:
        """The masked scores that the query sees."""
        return self.shown.stages["masked"][self.i][self.seen]

    @cached_property
    def seen(self) -> np.ndarray:
        return np.flatnonzero(self.shown.allowed[self.i])

    @property
    def has_mask(self) -> bool:
        return "mask" in self.shown.stages

    @property
    def largest(self) -> str:
        return self.text("weights", self.i, self.strongest)

    @property
    def strongest(self) -> int:
        """The key with the largest weight, the first of several."""
        return strongest(self.shown, self.i)

    @property
    def tied(self) -> list[int]:
        """All keys with the largest weight."""
        least = self.weights.max() * (1 - ALIKE)
        return [int(j) for j in self.seen if self.weights[j] >= least]

    @property
    def are_equal(self) -> bool:
        """Whether all scores that the query sees are equal."""
        return len(self.tied) == len(self.seen)


def plain(s: Settings) -> Settings:
    """Return the settings as each step begins."""
    one = replace(set_mask(s, "none"), scale=None, padding=(), fill=TRUE_MASK)
    return set_heads(one, 1)


def tour_problem(s: Settings) -> str:
    """Return why the tour cannot be taken with these settings, in a sentence; "" where it can."""
    needs = "The tour needs word vectors and weights"
    if s.weights_alone:
        return f"{needs}; here only the attention weights were given."
    if s.typed_qkv:
        return f"{needs}; here Q, K and V were entered directly."
    if s.memory_tokens:
        return "The tour uses one sentence; remove the second one."
    if not FEWEST <= len(s.tokens) <= MOST:
        count = len(s.tokens)
        return f"The tour needs {FEWEST} to {MOST} words; this sentence has {count}."
    if s.softmax is not True and not s.parts:
        return "The tour uses plain softmax attention; switch softmax on."
    if s.parts:
        return f"The tour uses plain softmax attention; switch off {named_parts(s.parts)}."
    if 2 not in s.possible_heads:
        return "The tour ends with two heads; an odd d_k or d_v cannot be split."
    return ""


def go(s: Settings, k: int) -> Settings:
    """Return the settings at the beginning of a step; those that a step changed are restored."""
    return replace(plain(s), step=min(max(k, 0), LAST_STEP), cell=None)


def remembered(before: Settings, now: Settings) -> Settings:
    """Return the settings to compare with: of before, while the step is about the same numbers.

    X alone may change in the step that asks for it.
    """
    asked = {"X"} if STEPS[now.step].changes_X else set()
    names = now.matrices.keys() - asked
    same = before.step == now.step and before.tokens == now.tokens
    same = same and before.matrices.keys() == now.matrices.keys() and before.item == now.item
    same = same and all(before.matrices[name] == now.matrices[name] for name in names)
    return before if same else now


@dataclass(frozen=True)
class TourStep:
    """One idea on the board, and something to do there."""

    title: str
    stages: tuple[str, ...]  # that it speaks of
    idea: Callable[[Now, Now], str]  # of what the step began with, and of what is there now
    ask: Callable[[Now], str]
    # of the same, and of the answer to its question
    reply: Callable[[Now, Now, str | None], Reply | None]
    cell: Callable[[Now, Now], Cell]  # whose card is shown until another one is clicked
    changes_X: bool = False
    asks: bool = False  # a question, whose answers are the keys
    hides: tuple[str, ...] = ()  # stages that would give the answer away


def idea(before: Now, now: Now) -> str:
    if now.s.step < HEADS_STEP:
        before, now = before.one_head, now.one_head
    return STEPS[now.s.step].idea(before, now)


def reply(before: Now, now: Now, choice: str | None = None) -> Reply:
    """Return what the step asks for, or what is said of what was done."""
    step = STEPS[now.s.step]
    if now.s.step < HEADS_STEP and now.s.heads > 1:
        return Reply("missed", "This step uses one head. Set Heads in the sidebar to 1.")
    if now.s.step in OF_WEIGHTS and not now.seen.size:
        text = f"{capital(now.q)} sees no key, so its weights are 0. Back and Next remove the mask."
        return Reply("missed", text)
    if now.s.step in OF_MASKS and now.s.padding:
        return Reply("missed", "Padding hides words here. Back and Next remove it.")
    if now.s.step in OF_MASKS and now.s.fill != TRUE_MASK:
        text = "Hidden scores get −1e9 here, not −∞. Back and Next restore −∞."
        return Reply("missed", text)
    return step.reply(before, now, choice) or Reply("ask", step.ask(now))


def stages(now: Now) -> list[str]:
    """Return the stages on the board: masked only where a mask is, or is asked for.

    The mask itself has its effect in masked; a stage of its own would move the others.
    """
    there = now.has_mask or now.s.step == DRAWS_MASK
    left_out = {"mask"} if there else {"mask", "masked"}
    return [name for name in now.shown.stages if name not in left_out]


def spoken_of(now: Now) -> tuple[str, ...]:
    """Return the stages that the step speaks of, of those on the board."""
    there = stages(now)
    names = STEPS[now.s.step].stages
    return tuple(name if name in there else now.shown.before_weights for name in names)


def cell(before: Now, now: Now) -> Cell:
    """Return the cell of the step's card, of a stage on the board."""
    stage, i, j = STEPS[now.s.step].cell(before, now)
    return stage if stage in stages(now) else now.shown.before_weights, i, j


def options(now: Now) -> tuple[str, ...]:
    return tuple(now.shown.labels["keys"]) if STEPS[now.s.step].asks else ()


# ---- 0: why attention ----------------------------------------------------------------------------


def _why(before: Now, now: Now) -> str:
    return (
        "A word means little without its neighbours. Attention lets each word look at every word of"
        " the sentence and take what it needs: its new vector is a weighted mix of all of them."
        " Each word starts as a row of numbers in X. In a trained model these are learned; here you"
        " can change any of them."
    )


def _looked(before: Now, now: Now, choice: str | None) -> Reply | None:
    if now.i == before.i:
        return None
    share = percent(float(now.weights[now.strongest]))
    text = f"{capital(now.q)} takes {share} from {now.of(now.i, now.strongest)}."
    return Reply("done", f"{text} The next steps show where that number comes from.")


# ---- 1: queries ----------------------------------------------------------------------------------


def _query(before: Now, now: Now) -> str:
    return (
        f"The query of {now.q} is its row of X times W_Q: {now.row('Q', now.i)}. It describes what"
        f" {now.q} is looking for."
    )


def _ask_query(now: Now) -> str:
    return f"Change a number in the row of {now.q} in X: click it, type, press Enter."


def _changed_rows(before: Now, now: Now, stage: str) -> list[int]:
    was, is_now = (at.shown.stages[stage] for at in (before, now))
    return np.flatnonzero((was != is_now).any(axis=1)).tolist()


def _changed_X(before: Now, now: Now, choice: str | None) -> Reply | None:
    before, now = before.plain, now.plain
    if before.shown.stages["X"].shape != now.shown.stages["X"].shape:
        return None
    typed, queries = (_changed_rows(before, now, name) for name in ("X", "Q"))
    if not typed:
        return None
    if typed == [now.i]:
        return Reply("done", _changed_query(before, now, bool(queries)))
    again = f"Try the row of {now.q}."
    if len(typed) > 1:
        text = f"You changed {len(typed)} rows of X, and {len(queries)} queries changed."
        if len(queries) == 1:
            text = f"You changed {len(typed)} rows of X, and only one query changed."
        return Reply("done", f"{text} Now change a single number of {now.q}.")
    other = now.query(typed[0])
    if queries:
        return Reply("done", f"You changed {other}, so its query changed. {again}")
    text = f"You changed {other}, but W_Q makes the same query of it."
    return Reply("done", f"{text} {again}")


def _changed_query(before: Now, now: Now, is_other: bool) -> str:
    was, is_now = (at.row("Q", now.i) for at in (before, now))
    if not is_other:
        return (
            f"The query of {now.q} is still {is_now}: W_Q makes the same query of the new numbers."
            " Try another number in the row."
        )
    if was == is_now:
        return f"The query of {now.q} changed, but by less than {is_now} shows. No other changed."
    return f"The query of {now.q} changed from {was} to {is_now}. No other query changed."


# ---- 2: keys -------------------------------------------------------------------------------------


def _key(before: Now, now: Now) -> str:
    j = before.plain.strongest  # it stays, as another query is chosen
    key = now.key(j)
    first = f"The key of {key} is its row of X times W_K: {now.row('K', j)}. It describes what"
    W_Q, W_K = (now.s.matrices[name].values for name in ("W_Q", "W_K"))
    if np.array_equal(W_Q, W_K):
        return (
            f"{first} {key} offers. Here W_Q and W_K are equal, so each word offers what it looks"
            " for; with other weights the two can differ."
        )
    return (
        f"{first} {key} offers. Queries and keys use different weights, so what a word looks for"
        " and what it offers can differ."
    )


def _chose(before: Now, now: Now, choice: str | None) -> Reply | None:
    if now.i == before.i:
        return None
    was = before.query(before.i)
    return Reply("done", f"The query changed from {was} to {now.q}. All keys stayed the same.")


# ---- 3: scores -----------------------------------------------------------------------------------


def _is_exact(value: float, digits: int) -> bool:
    """Whether a number is written without rounding."""
    return float(number(value, digits).replace(MINUS, "-")) == value


def _score(before: Now, now: Now) -> str:
    i, j = now.i, now.plain.strongest
    a, b = (now.shown.printed(name)[k] for name, k in (("Q", i), ("K", j)))
    total = now.text("scores", i, j)
    if len(a) > GLANCE:
        work = f"the {len(a)} products add up to {total}"
    else:
        values = [*a, *b, now.shown.printed("scores")[i, j]]
        is_exact = all(_is_exact(float(value), now.s.digits) for value in values)
        work = f"{terms(a, b, now.s.digits)} {'=' if is_exact else '≈'} {total}"
    return (
        f"How well does the query of {now.q} match the key of {now.key(j)}? Multiply them entry by"
        f" entry and add: {work}. The score is large when both point the same way."
    )


def _where(now: Now) -> str:
    return f"the row of {now.q}, the column of {now.key(now.plain.strongest)}"


def _clicked(before: Now, now: Now, choice: str | None) -> Reply | None:
    if now.s.cell is None:
        return None
    stage, i, j = now.s.cell
    if stage != "scores":
        heading = STAGES[stage].heading
        return Reply("missed", f"That number is in {heading}. Find, in scores, {_where(now)}.")
    if (i, j) != (now.i, now.plain.strongest):
        pair = f"{now.query(i)} with {now.of(i, j)}"
        return Reply("missed", f"That is the score of {pair}. Find {_where(now)}.")
    text = "The card shows how it is computed: row of Q times column of Kᵀ."
    return Reply("done", text)


# ---- 4: scale ------------------------------------------------------------------------------------


def _scaling(now: Now) -> tuple[str, str, str]:
    """The largest weight with and without the scale, and why it does not change; "" if it does."""
    with_it, without = now.scaled_by(None), now.scaled_by(1.0)
    sizes = with_it.largest, without.largest
    if now.s.d_k == 1:
        return *sizes, "√1 = 1"
    if without.are_equal:
        only_one = len(now.seen) == 1
        return *sizes, "it sees only one key" if only_one else "all its scores are equal"
    is_shown = float(sizes[0]) != float(sizes[1])  # 1.00 is no change from an exact 1
    return *sizes, "" if is_shown else "the change is too small to show"


def _scale(before: Now, now: Now) -> str:
    root = math.isqrt(now.s.d_k)
    divisor = f"√d_k = {root}"
    if root**2 != now.s.d_k:
        divisor = f"√d_k ≈ {number(now.s.d_k**0.5, max(now.s.digits, 2))}"
    idea = (
        "Longer vectors add up more products, so their scores spread further apart. Dividing by"
        f" {divisor} keeps them in check."
    )
    if not now.seen.size:
        return idea
    a, b, why = _scaling(now)
    if why:
        return f"{idea} The largest weight of {now.q} is {a} with it and without it: {why}."
    return f"{idea} With it, the largest weight of {now.q} is {a}; without it, {b}."


def _unscaled(before: Now, now: Now, choice: str | None) -> Reply | None:
    scale = now.s.scale
    if scale is None:
        return None
    if scale != 1:
        by = number(scale, max(now.s.digits, 2))
        text = f"Now the scores are multiplied by {by}. Choose “none (× 1)”."
        return Reply("missed", text)
    a, b, why = _scaling(now)
    said = f"Largest weight of {now.q}: {a} → {b}."
    if why:
        said = f"The largest weight of {now.q} is still {b}: {why}."
    if not why or why.startswith("the change"):
        said = f"{said} Without scaling, weights get more extreme."
    return Reply("done", f"{said} The next step restores it.")


# ---- 5: mask -------------------------------------------------------------------------------------


def _future(before: Now, now: Now) -> str:
    n = len(now.s.tokens)
    hidden = n * (n - 1) // 2
    return (
        "A model that predicts the next word must not look ahead. A look-ahead mask replaces the"
        " scores of later words with −∞, so their weights are exactly 0:"
        f" {hidden} of these {n * n} scores."
    )


def _masked(before: Now, now: Now, choice: str | None) -> Reply | None:
    n, seen = len(now.s.tokens), allowed(now.s)
    if np.array_equal(seen, np.tri(n, dtype=bool)):
        sees = f"{now.q} saw {n} words and now sees {now.i + 1}"
        if now.i == 0:
            sees = f"{now.q} saw {n} words and now sees only itself"
        if now.i == n - 1:
            sees = f"{now.q} is the last word and still sees all {n}"
        return Reply(
            "done",
            f"Each word now sees only itself and earlier words: {sees}. The next step removes the"
            " mask.",
        )
    if now.s.mask == "none":
        return None
    text = f"This mask hides {int((~seen).sum())} of {n * n} scores, but not exactly the later"
    return Reply("missed", f"{text} words. Choose “look-ahead (causal)”.")


# ---- 6: softmax ----------------------------------------------------------------------------------


def _softmax(before: Now, now: Now) -> str:
    sees = now.shown.allowed
    weights = now.shown.stages["weights"]
    size = "Here every weight is positive" if (weights > 0).all() else "No weight is negative"
    rows = "each row" if sees.any(axis=1).all() else "each row that sees a key"
    return (
        "Softmax raises e to each score and divides by the sum of the row."
        f" {size} and {rows} sums to 1."
    )


def _ends(now: Now) -> tuple[str, str]:
    """The smallest and the largest score that the query sees."""
    texts, scores = now.texts("masked", now.i), now.scores
    return texts[now.seen[scores.argmin()]], texts[now.seen[scores.argmax()]]


def _ask_softmax(now: Now) -> str:
    low, high = _ends(now)
    question = "Which key gets the largest weight?"
    where = f"In {now.shown.before_weights}, the scores of {now.q}"
    if low == high:
        return f"{where} are all {high}. {question}"
    return f"{where} range from {low} to {high}. {question}"


def _guessed(before: Now, now: Now, choice: str | None) -> Reply | None:
    labels = now.shown.labels["keys"]
    if choice not in labels:
        return None
    j, texts = labels.index(choice), now.texts("masked", now.i)
    _, high = _ends(now)
    best = [int(k) for k in now.seen if texts[k] == high]  # what shows the same is no mistake
    if j not in best:
        look = f"Look for the largest score in the row of {now.q}."
        return Reply("missed", f"No. The score of {now.key(j)} is {texts[j]}. {look}")
    if now.are_equal and len(now.seen) == len(labels):
        text = f"Right. All scores are equal, so every key gets the same weight, {now.largest}."
        return Reply("done", text)
    weights = list(dict.fromkeys(now.text("weights", now.i, k) for k in best))
    keys = in_words([now.key(k) for k in best])
    if len(best) == 1:
        said = f"{keys} has the largest score, {high}, and gets the weight {weights[0]}"
    elif len(weights) == 1:
        said = f"{keys} have the largest score, {high}, and get the weight {weights[0]} each"
    else:
        said = f"{keys} show the largest score, {high}, and get the weights {in_words(weights)}"
    return Reply("done", f"Right. {capital(said)}. Softmax keeps the order.")


# ---- 7: output -----------------------------------------------------------------------------------


def _output(before: Now, now: Now) -> str:
    i, j = now.i, now.strongest
    if not now.seen.size:
        return f"The output of {now.q} adds up all values, each times its weight: here all are 0."
    product = f"{now.largest} × {now.row('V', j)} of {now.key(j)}"
    return (
        f"The output of {now.q} adds up all values, each times its weight: {product} + … ="
        f" {now.row('output', i)}."
    )


def _ask_hide(now: Now) -> str:
    j = now.plain.strongest
    return (
        f"Hide {now.key(j)} from {now.q if j != now.i else 'itself'}: click that cell of masked"
        " and press Space (on a touch screen: tap it, then Draw mask, then the cell again)."
    )


def _hidden(before: Now, now: Now, choice: str | None) -> Reply | None:
    i, was = now.i, now.plain
    rows, columns = np.nonzero(~allowed(now.s))
    hidden = [int(j) for row, j in zip(rows, columns, strict=True) if row == i]
    first = [j for j in hidden if j in was.tied]
    key = now.key(was.strongest)
    if first:
        return Reply("done", _hid(was, now, first[0], len(hidden)))
    if hidden:
        names, weights = [now.key(j) for j in hidden], [was.text("weights", i, j) for j in hidden]
        weight = "Its weight was" if len(hidden) == 1 else "Their weights were"
        text = f"You hid {in_words(names)} from {now.q}. {weight} {in_words(weights)}."
        return Reply("missed", f"{text} Try {key}, which has the largest, {was.largest}.")
    if rows.size:
        row, j = int(rows[0]), int(columns[0])
        text = f"You hid {now.key(j)} from {now.query(row) if row != j else 'itself'}."
        return Reply("missed", f"{text} Find the row of {now.q} and hide {key} there.")
    return None


def _hid(was: Now, now: Now, j: int, count: int) -> str:
    i = now.i
    before = was.text("weights", i, j)
    if not now.seen.size:
        return f"Weight of {now.key(j)}: {before} → 0. Now {now.q} sees no key: its output is 0."
    others = "The other weights" if count == 1 else "The weights that are not hidden"
    out, new = was.row("output", i), now.row("output", i)
    change = f"the output changed from {out} to {new}"
    if out == new:
        change = f"the output is still {new}"
    return (
        f"Weight of {now.key(j)}: {before} → 0. {others} grew so that the row sums to 1 again;"
        f" {change}."
    )


# ---- 8: heads ------------------------------------------------------------------------------------


def _heads(before: Now, now: Now) -> str:
    d_k, d_v = now.s.d_k * now.s.heads, now.s.d_v * now.s.heads
    parts = "Two heads split the columns of Q, K and V: each gets"
    of = f"{d_k // 2} of {d_k}"
    if d_k != d_v:
        of = f"{of} columns of Q and K, {d_v // 2} of {d_v} of V,"
    return (
        f"One head gives each word a single row of weights. {parts} {of} and computes its own"
        " scores and weights. Their outputs are joined side by side."
    )


def _looks(now: Now) -> str:
    """Where a head looks: "equally at all 6 words", "most at “cat” and “mat”"."""
    count = len(now.seen)
    if count > 1 and now.are_equal:
        return f"equally at {'both' if count == 2 else f'all {count}'} words"
    return f"most at {in_words([now.of(now.i, j) for j in now.tied])}"


def _two_heads(before: Now, now: Now, choice: str | None) -> Reply | None:
    heads = now.s.heads
    if heads == 1:
        return None
    if heads != 2:
        return Reply("missed", f"Now there are {heads} heads. Set Heads in the sidebar to 2.")
    if now.s.head != 1:
        return Reply("ask", "There are two heads now. Choose 1 under Head in the sidebar.")
    of_heads = [Now(replace(now.s, head=head)) for head in (0, 1)]
    if not now.seen.size:
        text = f"{capital(now.q)} sees no key in either head. Back and Next remove the mask."
        return Reply("missed", text)
    first, second = (_looks(at) for at in of_heads)
    where = f"{first} in head 0 and {second} in head 1"
    if first == second:
        where = f"{first} in both heads"
    elif first.startswith("most"):
        where = f"{first} in head 0 and {second.removeprefix('most ')} in head 1"
    return Reply("done", f"{capital(now.q)} looks {where}. The next step returns to one head.")


# ---- the end -------------------------------------------------------------------------------------


def _end(before: Now, now: Now) -> str:
    added = " + M" if now.has_mask else ""
    return (
        f"Attention is softmax(QKᵀ / √d_k{added}) V, and every number of it is on the board. Change"
        " any input, and all that follows is computed again."
    )


def _nothing(before: Now, now: Now, choice: str | None) -> Reply | None:
    return None


# ---- the steps -----------------------------------------------------------------------------------


def _says(text: str) -> Callable[[Now], str]:
    return lambda now: text


def _cell_of_query(stage: str, rows: str, columns: str) -> Callable[[Now, Now], Cell]:
    """The cell of the query, of its strongest key, or the first."""

    def cell(before: Now, now: Now) -> Cell:
        at = {"query": now.i, "key": now.plain.strongest, "first": 0}
        return stage, at[rows], at[columns]

    return cell


def _another_score(before: Now, now: Now) -> Cell:
    """A score of the query, but not the one that is asked for."""
    return "scores", now.i, (now.plain.strongest + 1) % len(now.s.tokens)


def _later(before: Now, now: Now) -> Cell:
    """The score of the last word, of the query where that comes before it."""
    last = len(now.s.tokens) - 1
    return "masked", min(now.i, last - 1), last


STEPS = (
    TourStep(
        "Why attention?",
        ("X", "weights", "output"),
        _why,
        _says("Click another word above the board to see where it looks."),
        _looked,
        _cell_of_query("weights", "query", "key"),
    ),
    TourStep(
        "Queries: what a word looks for",
        ("X", "W_Q", "Q"),
        _query,
        _ask_query,
        _changed_X,
        _cell_of_query("Q", "query", "first"),
        changes_X=True,
    ),
    TourStep(
        "Keys: what a word offers",
        ("X", "W_K", "Q", "K"),
        _key,
        _says("Choose another query: click a word above the board."),
        _chose,
        lambda before, now: ("K", before.plain.strongest, 0),
    ),
    TourStep(
        "A score is a dot product",
        ("Q", "K", "scores"),
        _score,
        lambda now: f"Click a number in scores: {_where(now)}.",
        _clicked,
        _another_score,
    ),
    TourStep(
        "Divide by √d_k",
        ("scores", "scaled", "weights"),
        _scale,
        _says("Set Scale in the sidebar to “none (× 1)” and watch the weights."),
        _unscaled,
        _cell_of_query("scaled", "query", "key"),
    ),
    TourStep(
        "Hide the future",
        ("masked", "weights"),
        _future,
        _says("Set Mask in the sidebar to “look-ahead (causal)”."),
        _masked,
        _later,
    ),
    TourStep(
        "Softmax turns scores into weights",
        ("masked", "weights"),
        _softmax,
        _ask_softmax,
        _guessed,
        _cell_of_query("weights", "query", "key"),
        asks=True,
        hides=("weights", "output", "joined", "projected", "context"),
    ),
    TourStep(
        "The output is a weighted mix",
        ("masked", "weights", "V", "output"),
        _output,
        _ask_hide,
        _hidden,
        _cell_of_query("output", "query", "first"),
    ),
    TourStep(
        "Two heads look in two ways",
        ("Q", "K", "V", "weights"),
        _heads,
        _says("Set Heads in the sidebar to 2, then choose 1 under Head there."),
        _two_heads,
        _cell_of_query("weights", "query", "key"),
    ),
    TourStep(
        "That is the whole formula",
        (),
        _end,
        _says(""),
        _nothing,
        _cell_of_query("weights", "query", "key"),
    ),
)
