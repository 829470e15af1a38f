"""The card of a cell: its arithmetic as texts, which the board only sets.

Every number is one of the trace, or is made of such numbers by plain loops, and is written by
:mod:`attention.vocabulary.numbers`; a number of a stage is written as its cell on the board.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from attention.core.scores import FUNCTION, SIGMOID
from attention.explain.arithmetic import (
    MOST_TERMS,
    Powers,
    added_by_distance,
    bracketed,
    norming_of,
    powers_of,
    product_of,
    rotation_of,
    turned,
    turned_columns,
)
from attention.explain.captions import pushed
from attention.explain.view import View
from attention.vocabulary.numbers import MINUS, are_whole, constant, number, numbers, percent
from attention.vocabulary.sentences import (
    LOW_DIGITS,
    NB,
    Words,
    called,
    capital,
    repeated,
    shortened,
)
from attention.vocabulary.stages import STAGES

UNSEEN = 5e-4  # a total further from a whole number is not taken for it
LARGE_POWER = 12  # of e; the largest score is subtracted first where it is not from 0 to this
Cell = tuple[str, int, int]  # stage, row, column


@dataclass(frozen=True)
class CardRow:
    """One line of a table: the same number of each term."""

    name: str
    kind: str  # "query", "key" or "plain" for a factor; "product" or "share" for what adds up
    cells: tuple[str, ...]  # one for each term that is sent
    total: str = ""
    others: tuple[str, ...] = ()  # at k, the sum of all terms but the first k of the table's order


@dataclass(frozen=True)
class Table:
    """The terms that add up to a number, a column each: at most MOST_TERMS are sent."""

    heads: tuple[str, ...]
    rows: tuple[CardRow, ...]
    count: int  # how many terms there are
    order: tuple[int, ...]  # the terms that are sent, the largest first, by their places in heads
    mark: int  # the place in heads of the chosen term; −1 for none
    hidden: tuple[bool, ...]  # which terms are those of hidden keys


@dataclass(frozen=True)
class Link:
    """One number on the way from the score of a pair to its weight."""

    stage: str
    row: int
    column: int
    name: str  # "score"
    how: str  # "4 products, added up"; a power is written e^{2}
    text: str  # "2"
    chosen: bool  # whether it is the card's own number


@dataclass(frozen=True)
class Card:
    """The card of one number: how it is computed."""

    stage: str
    row: int
    column: int
    title: tuple[Words, ...]
    value: str
    table: Table | None = None
    lines: tuple[str, ...] = ()  # of arithmetic
    note: str = ""  # one sentence
    chain: tuple[Link, ...] = ()  # the numbers of this query and key


def card_of(
    view: View, cell: Cell, digits: int = 2, *, editable: bool = False, chained: bool = True
) -> Card:
    """Return the card of a cell.

    Parameters
    ----------
    view : View
    cell : (stage, row, column)
        One of ``view.stages``; row and column count from 0.
    digits : int
        Decimals, as in :func:`attention.vocabulary.numbers.number`.
    editable : bool
        Whether the number is an input that can be typed, which the note then says.
    chained : bool
        Whether the card of a score or a weight has the numbers of its query and key.

    Raises
    ------
    KeyError, IndexError
        Where the view has no such cell.

    >>> from attention import scaled_dot_product_attention
    >>> trace = scaled_dot_product_attention([[1.0, 2.0]], [[3.0, 4.0]], [[1.0]])
    >>> card = card_of(View.of(trace, tokens=["cat"], key_tokens=["sat"]), ("scores", 0, 0))
    >>> "".join(text for text, _ in card.title), card.value
    ('Score of “cat” with “sat”', '11')
    >>> [(row.name, row.cells, row.total) for row in card.table.rows][2]
    ('product', ('3', '8'), '= 11')
    """
    stage, i, j = cell
    with np.errstate(all="ignore"):  # ∞ and NaN are what the cells show
        return _CARDS.get(stage, _input)(_CardCell(view, stage, i, j, digits, editable, chained))


# ---- words ---------------------------------------------------------------------------------------


def _head(labels: Sequence[str], k: int) -> str:
    """Return a word as the head of a column has it: cat, the₂."""
    word, which = repeated(labels, k)
    return shortened(word) + (str(which).translate(LOW_DIGITS) if which else "")


@dataclass(frozen=True, eq=False)
class _CardCell:
    """The cell whose card is made, and what the cards of several stages say of it."""

    view: View
    stage: str
    i: int
    j: int
    digits: int
    editable: bool = False
    chained: bool = True
    whole: dict[str, bool] = field(default_factory=dict)  # by stage: the decimals of its numbers

    def text(self, stage: str, i: int, j: int) -> str:
        """Return a number of a stage as its cell on the board shows it."""
        return self.texts(stage, self.view.printed(stage)[i : i + 1, j])[0]

    def texts(self, stage: str, values: np.ndarray) -> list[str]:
        if stage not in self.whole:
            self.whole[stage] = are_whole(self.view.printed(stage))
        shares = self.view.is_share(stage)
        return numbers(values, self.digits, whole=self.whole[stage], shares=shares)

    @cached_property
    def shares(self) -> _Shares:
        return _Shares.of(self)

    @property
    def eps(self) -> float:
        """Return how far rounding moves a number of this stage, of its size."""
        kind = self.view.stages[self.stage].dtype
        return float(np.finfo(kind).eps) if kind.kind == "f" else 2**-52

    def number(self, value: float) -> str:
        return number(value, self.digits)

    def constant(self, value: float) -> str:
        return constant(value, self.digits)

    def factor(self, stage: str, i: int, j: int, times: float) -> str:
        """Return a factor's text, with only its own digits if its result needs no more."""
        if abs(times) <= 1:
            return self.text(stage, i, j)
        return self.constant(self.view.printed(stage)[i, j])

    @property
    def value(self) -> str:
        return self.text(self.stage, self.i, self.j)

    @property
    def at(self) -> str:
        """Return the text of this pair in the stage that the masked scores are made of."""
        return self.text(self.view.source("scaled", "masked"), self.i, self.j)

    @property
    def query(self) -> str:
        return called(self.view.labels["queries"], self.i)

    def key(self, j: int) -> str:
        return called(self.view.labels["keys"], j)

    @property
    def own(self) -> bool:
        """Return whether query and key are the same token."""
        return not self.view.crossed and self.i == self.j

    @property
    def other(self) -> Words:
        """Return the key as a title names it."""
        return ("itself", "") if self.own else (self.key(self.j), "key")

    @property
    def place(self) -> str:
        """Return which number of its row it is, by name if the dimension has names."""
        name = self.view.columns(self.stage)[self.j]
        return f"number{NB}{self.j + 1}" if name == str(self.j + 1) else f"“{name}”"

    @property
    def hidden(self) -> bool:
        return not self.view.allowed[self.i, self.j]

    def pair(self, words: str) -> tuple[Words, ...]:
        """Return the title of a cell of a query and a key."""
        return (f"{words} of ", ""), (self.query, "query"), (" with ", ""), self.other

    def of(self, words: str, axis: str) -> tuple[Words, ...]:
        """Return the title of a number of a query or of a key."""
        kind = "query" if axis == "queries" else "key"
        who = called(self.view.labels[axis], self.i)
        return (f"{words} of ", ""), (who, kind), (f", {self.place}", "")

    def card(self, title: tuple[Words, ...], **more: object) -> Card:
        return Card(self.stage, self.i, self.j, title, self.value, **more)  # type: ignore[arg-type]


# ---- tables --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _TermLine:
    """A row of all terms, before the largest are chosen."""

    name: str
    kind: str
    texts: Sequence[str]
    total: str = ""
    values: Sequence[float] | None = None  # where the terms add up


def _terms_table(
    asked: _CardCell,
    head: Callable[[int], str],
    lines: Sequence[_TermLine],
    sizes: Sequence[float],
    first: Sequence[int] = (),
    mark: int = -1,
    hidden: Sequence[bool] = (),
) -> Table:
    """Return the table of the largest terms; those named ``first`` go before the others."""
    count = len(sizes)
    size = [math.inf if math.isnan(s) else abs(s) for s in sizes]
    order = [*first, *(k for k in np.argsort(np.negative(size), kind="stable") if k not in first)]
    order = [int(k) for k in order]
    sent = sorted(order[:MOST_TERMS])

    def others(term_line: _TermLine) -> tuple[str, ...]:
        if term_line.values is None:
            return ()
        texts = _sums(asked, term_line, order, len(sent))
        return (*texts[:-1], texts[-1] if len(sent) < count else "")

    return Table(
        tuple(head(k) for k in sent),
        tuple(
            CardRow(
                line.name,
                line.kind,
                tuple(line.texts[k] for k in sent),
                line.total,
                others(line),
            )
            for line in lines
        ),
        count,
        tuple(sent.index(k) for k in order[:MOST_TERMS]),
        sent.index(mark) if mark >= 0 else -1,
        tuple(bool(hidden[k]) if hidden else False for k in sent),
    )


def _sums(asked: _CardCell, term_line: _TermLine, order: Sequence[int], most: int) -> list[str]:
    """Return the sums of a row without its first 0, 1, … ``most`` terms in this order, written as
    its terms are.
    """
    terms = np.array(term_line.values)[order]
    sizes, eps = np.abs(terms), asked.eps
    sums = [_added(terms[k:], sizes[k:], eps) for k in range(most + 1)]
    is_share = term_line.kind == "share"
    return numbers(np.array(sums), asked.digits, whole=are_whole(terms), shares=is_share)


def _makes(texts: Sequence[str], total: str) -> str:
    """Return the total after its sign: = if the terms, as they are written, add up to it.

    >>> _makes(["0.06", "0.12"], "0.18"), _makes(["0.06", "0.11"], "0.18")
    ('= 0.18', '≈ 0.18')
    """
    written = (text.replace(MINUS, "-").replace("∞", "inf") for text in (*texts, total))
    *terms, result = map(Decimal, written)
    is_number = all(term.is_finite() for term in (*terms, result))
    return f"{'=' if not is_number or sum(terms) == result else '≈'} {total}"


def _added(terms: np.ndarray, sizes: np.ndarray, eps: float) -> float:
    """Return the sum; a whole number where rounding alone keeps it from that."""
    total, reach = float(terms.sum()), float(sizes.sum())
    far = min(len(terms) * eps * reach, UNSEEN)
    is_whole = math.isfinite(reach) and abs(total - round(total)) <= far
    return float(round(total)) if is_whole else total


def _products(asked: _CardCell, names: tuple[str, str], kinds: tuple[str, str]) -> Table | None:
    """Return the products that add up to the cell, its bias among them."""
    view = asked.view
    found = product_of(view, asked.stage, asked.i, asked.j)
    if found is None:
        return None
    products = [float(x) * float(y) for x, y in zip(found.a, found.b, strict=True)]
    labels = view.columns(found.left)
    factors = [asked.texts(found.left, found.a), asked.texts(found.right, found.b)]
    first: list[int] = []
    if found.added is not None:
        first = [len(products)]
        products = [*products, found.added]
        factors = [[*texts, ""] for texts in factors]
    texts = numbers(np.array(products), asked.digits)
    lines = [
        *(_TermLine(*line) for line in zip(names, kinds, factors, strict=True)),
        _TermLine("product", "product", texts, _makes(texts, asked.value), products),
    ]

    def head(k: int) -> str:
        return found.bias if k in first else _head(labels, found.at[k])

    return _terms_table(asked, head, lines, products, first)


# ---- the way from the score to the weight --------------------------------------------------------

_LINKS = ("scores", "scaled", "capped", "modified", "masked", "weights")
_NAMES = {"scores": "score", "weights": "weight"}


def _chain(asked: _CardCell) -> tuple[Link, ...]:
    """Return the numbers of a query and a key, each with how it is made of the one before."""
    if not asked.chained:
        return ()
    view, i, j = asked.view, asked.i, asked.j
    names = [name for name in _LINKS if name in view.stages]
    if "mask" not in view.stages and asked.stage != "masked" and "masked" in names:
        names.remove("masked")  # it is the stage before it, number by number
    if len(names) < 2:
        return ()
    return tuple(
        Link(
            name,
            i,
            j,
            _NAMES.get(name, name),
            _how(asked, name),
            asked.text(name, i, j),
            name == asked.stage,
        )
        for name in names
    )


def _how(asked: _CardCell, name: str) -> str:
    view, i, j = asked.view, asked.i, asked.j
    if name == "scores":
        count = view.stages[view.source("Q")].shape[1]
        return "1 product" if count == 1 else f"{count} products, added up"
    if name == "scaled":
        return _scaling(asked)
    if name == "capped":
        return _capping(asked)
    if name == "modified":
        return f"score_mod({asked.text(view.source('scaled', 'modified'), i, j)})"
    if name == "masked":
        return _masking(asked)
    if asked.hidden:
        return "hidden"
    if view.softmax == FUNCTION:
        return "a function of the row"
    score = asked.text("masked", i, j)
    if view.softmax == SIGMOID:
        return f"1 ÷ (1 + {_power(asked.number(-view.printed('masked')[i, j]))})"
    if not view.softmax:
        return "the score itself"
    shares = asked.shares
    if shares.shift:
        score += f" {_plus(asked.number(-shares.shift))}"
    if "e" in score:  # their texts do not show the difference of two such numbers
        score = asked.number(view.printed("masked")[i, j] - shares.shift)
    return f"{_power(score)} ÷ {shares.total_text(asked.digits)}"


def _power(text: str) -> str:
    return f"e^{{{text}}}"


def _plus(text: str) -> str:
    """Return ``+ 2`` or ``− 2``."""
    return f"{MINUS} {text[1:]}" if text.startswith(MINUS) else f"+ {text}"


def _scaling(asked: _CardCell) -> str:
    view = asked.view
    score = asked.factor("scores", asked.i, asked.j, view.scale)
    if view.divides_by_root:
        return f"{score} ÷ √{view.stages['Q'].shape[1]}"
    return f"{score} × {asked.constant(view.scale)}"


def _capping(asked: _CardCell) -> str:
    if asked.view.softcap is None:
        return ""
    cap = asked.constant(asked.view.softcap)
    return f"{cap} · tanh({asked.text('scaled', asked.i, asked.j)} ÷ {cap})"


def _masking(asked: _CardCell) -> str:
    view, at = asked.view, (asked.i, asked.j)
    if asked.hidden and not np.isfinite(view.printed(view.source("scaled", "masked"))[at]):
        return "hidden"  # ∞ − ∞ would be no number
    M = float(view.printed("mask")[at]) if "mask" in view.stages else 0.0
    return f"{asked.at} {_plus(asked.number(M))}"


@dataclass(frozen=True, eq=False)
class _Shares:
    """The powers of e of a row, and what was subtracted from its scores before."""

    shift: float
    powers: np.ndarray  # (n_k,), 0 where hidden
    sink: float
    total: float

    def total_text(self, digits: int) -> str:
        """Return the sum of the powers, written as they are."""
        whole = are_whole(np.append(self.powers, self.sink))
        return numbers(np.array([self.total]), digits, whole=whole)[0]

    @classmethod
    def of(cls, asked: _CardCell) -> _Shares:
        view, i = asked.view, asked.i
        masked, seen = view.printed("masked")[i], view.allowed[i]
        taken: Powers = powers_of(masked, seen, view.sink)
        if not 0 <= taken.highest <= LARGE_POWER:  # below 0 few digits of the powers would be left
            return cls(taken.highest, taken.exponentials, taken.sink, taken.total)
        powers = np.array([np.exp(s) if see else 0.0 for s, see in zip(masked, seen, strict=True)])
        sink = 0.0 if view.sink is None else math.exp(view.sink)
        return cls(0.0, powers, sink, float(sum(powers)) + sink)


# ---- the card of each stage ----------------------------------------------------------------------


def _input(asked: _CardCell, more: str = "") -> Card:
    """Return the card of a number that was given."""
    view, stage, axis = asked.view, asked.stage, STAGES[asked.stage].rows
    words = {"X": "Embedding", "memory": "Embedding", "P": "Position", **_VECTORS}.get(stage)
    if words and axis in ("queries", "keys"):
        title = asked.of(words, axis)
    elif stage == "R":
        row = view.labels["buckets"][asked.i]
        title = ((f"R, bucket {asked.i} (key − query: {row})", ""),)
    elif axis == "bias":
        title = ((f"{STAGES[stage].heading}, {asked.place}", ""),)
    else:
        name = STAGES[stage].heading
        title = ((f"{name}, row {asked.i + 1}, column {asked.j + 1}", ""),)
    note = "An input."
    if asked.editable:
        note = "An input. To change it, type, drag it left or right, or tap it again."
    return asked.card(title, note=f"{note} {more}".strip())


_VECTORS = {
    **{"Q": "Query", "K": "Key", "V": "Value"},
    **{"Q_normed": "Normed query", "K_normed": "Normed key"},
    **{"Q_rotated": "Rotated query", "K_rotated": "Rotated key"},
    "projected": "Answer",
}


def _projection(asked: _CardCell) -> Card:
    turned_over = "This row of K is a column of Kᵀ." if asked.stage == "K" else ""
    found = product_of(asked.view, asked.stage, asked.i, asked.j)
    if found is None:
        return _input(asked, turned_over)
    names = f"{STAGES[found.left].heading}, row", f"{STAGES[found.right].heading}, col."
    table = _products(asked, names, ("query", "key"))
    title = asked.of(_VECTORS[asked.stage], STAGES[asked.stage].rows)
    return asked.card(title, table=table, note=turned_over)


def _with_position(asked: _CardCell) -> Card:
    title = asked.of("Embedding", "queries")
    title = *title[:2], (f" with its position{title[2][0]}", "")
    x, position = (asked.text(name, asked.i, asked.j) for name in ("X", "P"))
    return asked.card(title, lines=(f"{x} {_plus(position)} = {asked.value}",))


def _normed(asked: _CardCell) -> Card:
    found = norming_of(asked.view, asked.stage, asked.i, asked.j)
    if found is None:
        return _input(asked)
    kind = "query" if asked.stage[0] == "Q" else "key"
    root, eps = asked.constant(found.root), asked.constant(found.eps)
    gain = 1.0 if found.gain is None else found.gain
    x = asked.factor(found.source, asked.i, asked.j, gain / found.root if found.root else gain)
    times = "" if found.gain is None else f" × {bracketed(asked.constant(gain))}"
    last = f"{x} ÷ {root}{times} = {asked.value}"
    title = asked.of(_VECTORS[asked.stage], STAGES[asked.stage].rows)
    note = "Divided by the root of the mean square of the row."
    if found.whole:
        mean = f"mean of the squares in all {asked.view.heads} heads"
        note = "Divided by the root of the mean square of all heads."
        return asked.card(title, lines=(f"√({mean} + {eps}) = {root}", last), note=note)
    squares = [float(x) * float(x) for x in found.row]
    square_texts = numbers(np.array(squares), asked.digits)
    total = asked.constant(sum(squares))
    labels = asked.view.columns(found.source)
    heading = STAGES[found.source].heading
    lines = [
        _TermLine(heading, kind, asked.texts(found.source, found.row)),
        _TermLine("square", "product", square_texts, _makes(square_texts, total), squares),
    ]
    table = _terms_table(asked, lambda k: _head(labels, k), lines, squares, [asked.j])
    work = f"√({total} ÷ {len(squares)} + {eps}) = {root}"
    return asked.card(title, table=table, lines=(work, last), note=note)


def _rotated(asked: _CardCell) -> Card:
    title = asked.of(_VECTORS[asked.stage], STAGES[asked.stage].rows)
    if asked.view.rotary is None:
        return _input(asked)
    found = rotation_of(asked.view, asked.stage, asked.i, asked.j)
    if found is None:
        many = turned_columns(asked.view)
        return asked.card(title, note=f"Only the first {many} numbers are turned; this one stays.")
    angle = f"{found.position} × {number(found.frequency, 6)} = {number(found.angle, 6)}"
    work = turned(found, asked.digits)
    work = work if found.factor == 1 else f"({work}) × {bracketed(asked.constant(found.factor))}"
    lines = (
        f"θ = position × frequency = {angle}",
        f"{'a cos θ − b sin θ' if found.is_first else 'b cos θ + a sin θ'} = {work}"
        f" = {asked.value}",
    )
    note = f"Numbers {found.first + 1} and {found.second + 1}, a and b, are turned by θ."
    return asked.card(title, lines=lines, note=note)


def _scores(asked: _CardCell) -> Card:
    table = _products(asked, ("query", "key"), ("query", "key"))
    return asked.card(asked.pair("Score"), table=table, chain=_chain(asked))


def _scaled(asked: _CardCell) -> Card:
    view = asked.view
    work, note = _scaling(asked), "The scores, times the scale you chose."
    if view.divides_by_root:
        d_k = view.stages["Q"].shape[1]
        if (root := math.isqrt(d_k)) ** 2 == d_k:
            work += f" = {asked.text('scores', asked.i, asked.j)} ÷ {root}"
        note = "Longer vectors give larger scores; dividing by √d_k"
        note += f" (d_k = {d_k}) makes up for it."
    lines = (f"{work} = {asked.value}",)
    return asked.card(asked.pair("Scaled score"), lines=lines, note=note, chain=_chain(asked))


def _capped(asked: _CardCell) -> Card:
    cap = asked.view.softcap
    if cap is None:
        return _input(asked)
    lines = (f"{_capping(asked)} = {asked.value}",)
    note = f"The soft cap keeps every score within ±{asked.constant(cap)}."
    return asked.card(asked.pair("Capped score"), lines=lines, note=note, chain=_chain(asked))


def _modified(asked: _CardCell) -> Card:
    lines = (f"{_how(asked, 'modified')} = {asked.value}",)
    note = "The given function is applied to each score."
    return asked.card(asked.pair("Modified score"), lines=lines, note=note, chain=_chain(asked))


def _why_hidden(asked: _CardCell) -> str:
    """Return “on” comes after “sat”, or that it is hidden, as far as the mask shows."""
    allowed = asked.view.allowed
    i, j = asked.i, asked.j
    causal = not asked.view.crossed and not np.triu(allowed, 1).any()
    if causal and j > i and allowed[j, j]:  # padding is hidden from itself too
        return f"{capital(asked.key(j))} comes after {asked.query}: hidden"
    whom = "itself" if asked.own else asked.query
    return f"{capital(asked.key(j))} is hidden from {whom}"


def _after_fill(asked: _CardCell) -> str:
    """Return what becomes of a weight whose score has −1e9 added."""
    if not asked.view.softmax:
        return "−1e9 is added. Softmax is off, so this sum is the weight."
    if not asked.view.printed("weights")[asked.i, asked.j]:
        return "−1e9 is added, so the weight is 0."
    weight = asked.text("weights", asked.i, asked.j)
    if asked.view.softmax is True:
        return f"−1e9 is added, but no other score is much larger: the weight is {weight}."
    return f"−1e9 is added; the weight is {weight}."


def _masked(asked: _CardCell) -> Card:
    view, i, j = asked.view, asked.i, asked.j
    title = asked.pair("Masked score")
    if asked.stage == "mask":
        other = (asked.key(j), "key")
        title = (("Mask of ", ""), (asked.query, "query"), (" and ", ""), other)
    lines: list[str] = []
    M = float(view.printed("mask")[i, j]) if "mask" in view.stages else 0.0
    if asked.hidden:
        note = f"{_why_hidden(asked)}, so its weight will be 0."
        if "masked" not in view.stages:
            note = "Hidden, as far as the weights tell: every head gives this key 0."
    elif pushed(view)[i, j]:
        note = _after_fill(asked)
    elif M:
        before = view.source("scaled", "masked")
        note = f"The bias is added to the {before} score."
        lines = added_by_distance(view, i, j, asked.digits)
    else:
        note = "Not hidden: the score stays as it is." if "masked" in view.stages else "Not hidden."
    if "masked" in view.stages:
        equals = ": " if _masking(asked) == "hidden" else " = "
        lines = [*lines, f"{_masking(asked)}{equals}{asked.text('masked', i, j)}"]
    return asked.card(title, lines=tuple(lines), note=note, chain=_chain(asked))


def _weights(asked: _CardCell) -> Card:
    view, i, j = asked.view, asked.i, asked.j
    of, whom = (asked.query, asked.other) if asked.own else (asked.key(j), (asked.query, "query"))
    title = (("Weight of ", ""), (of, "query" if asked.own else "key"), (" for ", ""), whom)
    if "masked" not in view.stages:
        return asked.card(title, note="A weight given directly, not computed here.")
    chain = _chain(asked)
    if not view.allowed[i].any():
        note = f"{capital(asked.query)} sees no key, so all its weights are 0."
        return asked.card(title, note=note, chain=chain)
    hidden = f"{_why_hidden(asked)}, so its weight is 0." if asked.hidden else ""
    if view.softmax is True:
        table, lines, note = _softmax(asked)
        return asked.card(title, table=table, lines=lines, note=hidden or note, chain=chain)
    note = {
        False: "Softmax is off: the score itself is the weight, and rows need not add up to 1.",
        SIGMOID: "Each weight by itself: rows need not add up to 1.",
        FUNCTION: "The given function turns the row of scores into weights.",
    }[view.softmax]
    lines = ()
    if view.softmax == SIGMOID and not asked.hidden:
        power = asked.number(float(np.exp(-view.printed("masked")[i, j])))
        lines = (f"{_how(asked, 'weights')} = 1 ÷ (1 + {power}) = {asked.value}",)
    return asked.card(title, lines=lines, note=hidden or note, chain=chain)


def _softmax(asked: _CardCell) -> tuple[Table, tuple[str, ...], str]:
    """Return the scores of a row, their powers of e, and the shares these have of their sum."""
    view, i, j = asked.view, asked.i, asked.j
    shares, scores, row = asked.shares, view.printed("masked")[i], view.printed("weights")[i]
    before = view.before_weights
    name, power = f"{before} s", _power("s")
    texts = asked.texts("masked", scores)
    if shares.shift:
        name = f"s {_plus(asked.number(-shares.shift))}"
        power = _power(name)
        texts = numbers(scores - shares.shift, asked.digits)
    powers, weights = shares.powers.tolist(), row.tolist()
    share_texts = asked.texts("weights", row)
    labels = view.labels["keys"]
    hidden, first = (~view.allowed[i]).tolist(), [j]
    note = ""
    if view.sink is not None and view.sunk is not None:
        first, hidden = [j, len(hidden)], [*hidden, False]
        powers, weights = [*powers, shares.sink], [*weights, float(view.sunk[i])]
        texts = [*texts, asked.number(view.sink - shares.shift)]
        share_texts = [*share_texts, *asked.texts("weights", np.array(weights[-1:]))]
        note = f"The sink takes the rest, {percent(weights[-1])}."
    if shares.shift:
        note = "The largest score is subtracted first; no power is above 1, and no share changes."
    power_texts, total = numbers(np.array(powers), asked.digits), shares.total_text(asked.digits)
    share_line = _TermLine("share", "share", share_texts, values=weights)
    (whole,) = _sums(asked, share_line, range(len(weights)), 0)
    lines = [
        _TermLine(name, "plain", texts),
        _TermLine(power, "plain", power_texts, f"Σ {total}", powers),
        replace(share_line, total=f"Σ {whole}"),
    ]

    def head(k: int) -> str:
        return _head(labels, k) if k < len(labels) else "sink"

    table = _terms_table(asked, head, lines, powers, first, j, hidden)
    if asked.hidden:
        return table, (), note
    return table, (f"{power_texts[j]} ÷ {total} = {asked.value}",), note


def _output(asked: _CardCell) -> Card:
    title = asked.of("Output", "queries")
    if not asked.view.allowed[asked.i].any():
        note = f"{capital(asked.query)} sees no key, so its output is 0."
        return asked.card(title, note=note)
    names = "weight", f"V, col. {shortened(asked.view.columns('V')[asked.j])}"
    table = _products(asked, names, ("query", "key"))
    return asked.card(title, table=table, note="Weights × values, added up.")


def _joined(asked: _CardCell) -> Card:
    head, column = divmod(asked.j, asked.view.stages["V"].shape[1])
    note = f"Number {column + 1} of head {head}. The heads are side by side."
    if asked.view.heads == 1:
        note = "Copied from the output: there is one head."
    return asked.card(asked.of("Outputs of all heads", "queries"), note=note)


def _context(asked: _CardCell) -> Card:
    labels, column = asked.view.labels["queries"], asked.view.printed("output")[:, asked.j]
    texts, values = asked.texts("output", column), column.tolist()
    line = _TermLine("output", "product", texts, _makes(texts, asked.value), values)
    table = _terms_table(asked, lambda k: _head(labels, k), [line], values)
    title = ((f"Sum of all outputs, {asked.place}", ""),)
    return asked.card(title, table=table, note="This column of the output, added up.")


_CARDS: dict[str, Callable[[_CardCell], Card]] = {
    "X_P": _with_position,
    **dict.fromkeys(("Q", "K", "V", "projected"), _projection),
    **dict.fromkeys(("Q_normed", "K_normed"), _normed),
    **dict.fromkeys(("Q_rotated", "K_rotated"), _rotated),
    "scores": _scores,
    "scaled": _scaled,
    "capped": _capped,
    "modified": _modified,
    **dict.fromkeys(("mask", "masked"), _masked),
    "weights": _weights,
    "output": _output,
    "joined": _joined,
    "context": _context,
}
