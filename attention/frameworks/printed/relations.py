"""Find how printed arrays belong together, and which input or stage of attention each one is.

Numbers come before names: what X W_Q gives is Q, whatever it is called. First every relation that
holds to the printed digits is found (:mod:`attention.frameworks.printed.fits`), then the reading of
all of them together that contradicts the fewest names. What is in no relation goes by its name, its
shape or the order of printing. Q, K and V that are all given as inputs keep their names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product as pairs_of

import numpy as np

from attention.frameworks.printed.fits import (
    CLOSE,
    DEVIATIONS,
    SINGLE,
    Fit,
    Hiding,
    Numbers,
    Oriented,
    Printed,
    around,
    evidence,
    factors,
    hidings,
    hidings_of_weights,
    joins,
    judged,
    look_ahead,
    multiplied,
    named_factor,
    probe,
    readings_of_mask,
    softmax_fit,
    some_rows,
    sums_of,
)
from attention.limits import (
    MAX_PRODUCTS,
    MAX_READINGS,
    MAX_RELATED,
    MAX_RELATED_NUMBERS,
    MAX_SOFTMAX_TESTS,
    MAX_WHOLE_PRODUCT,
)
from attention.vocabulary.labels import role_of
from attention.vocabulary.sentences import amount, in_words

__all__ = ["Found", "Printed", "Relation", "Use", "relations"]

ORDER = (  # in which notebooks print them
    *("X", "memory", "W_Q", "W_K", "W_V", "Q", "K", "V"),
    *("scores", "mask", "scaled", "masked", "weights", "output"),
)
SCORES = ("scores", "scaled", "masked")
SURE = 10  # bits: of a thousand sets of unrelated arrays, one passes
EXPECTED = 5  # bits, where the names say the same
PLAUSIBLE = 5  # bits, where other relations give all roles but one
MANY = 64  # rows of a large product that are computed
MOST_EXPLANATIONS = 8  # of one array
UNREAD, NAME, AGAIN, TURNED, UNUSUAL = 4.0, 1.0, 2.0, 0.2, 0.3  # what a reading loses by each


@dataclass(frozen=True)
class Relation:
    """One way in which an array is made of others, to the printed digits."""

    kind: str  # product, scaled, masked, softmax, sums, row, equal, transposed
    result: int
    operands: tuple[int, ...] = ()  # one, or the two factors of a product
    transposed: tuple[bool, ...] = ()  # which factors are transposed as they are printed
    factor: float = 1.0  # that the operand, or the product, is multiplied by
    root: int | None = None  # n where the factor is 1 / √n
    mask: str = ""  # look-ahead, printed, or other: hidden places that no rule gives
    mask_index: int | None = None  # of the printed mask
    inverted: bool = False  # True or 1 in it hides
    columns: bool = False  # softmax, or sums, of columns
    row: int | None = None  # of the operand (of the left factor) that makes the result
    bits: float = 0.0  # −log₂ of the probability that it fits by chance
    named: bool = True  # whether the factor is 1, n, 1 / n or 1 / √n for a whole n
    used: bool = False  # whether the uses follow from it; otherwise it holds as well
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Use:
    """What an array is proposed as."""

    index: int
    role: str | None = None  # an input or a stage; None: not used
    by: str = ""  # relation, name, shape or order
    row: int | None = None  # of the stage, where only this row was printed and it is known
    is_row: bool = False
    transposed: bool = False  # printed with tokens as columns, weights with inputs as columns
    remark: str = ""


@dataclass(frozen=True)
class Found:
    """The proposed use of each array, their relations, and what was not compared."""

    uses: tuple[Use, ...]
    relations: tuple[Relation, ...]
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " · ".join(map(str, self.relations))


def relations(arrays: Sequence[Printed]) -> Found:
    """Find which arrays are made of which others, and propose a use for each.

    >>> X = Printed("X", np.array([[1.0, 0, 2], [0, 1, 1], [3, 1, 0]]), 0)
    >>> W = Printed("Weights", np.array([[1.0, 2], [0, 1], [4, 5]]), 0)
    >>> found = relations([X, W, Printed("Queries", X.values @ W.values, 0)])
    >>> print(found)
    Q = X “Weights”
    >>> [use.role for use in found.uses]
    ['X', 'W_Q', 'Q']
    """
    names = [role_of(array.name) if array.named else None for array in arrays]
    sizes = [array.values.size for array in arrays]
    small = [k for k, size in enumerate(sizes) if 0 < size <= MAX_RELATED_NUMBERS]
    compared = [Numbers.of(k, arrays[k]) for k in small[:MAX_RELATED]]
    search = _Search(compared, names)
    search.run()
    reading = _Reading(search, names)
    if more := reading.plausible():
        search.found += more
        search.found = search.without_implied()
        reading = _Reading(search, names)
    uses = _uses(arrays, search, reading, names)
    said = [replace(r, sentence=_sentence(r, arrays, uses)) for r in reading.relations()]
    return Found(tuple(uses), tuple(said), tuple(_remarks(arrays, small, search)))


def _remarks(arrays: Sequence[Printed], small: list[int], search: _Search) -> Iterator[str]:
    """Yield what was not compared."""
    large = [f"“{a.name}”" for a in arrays if a.values.size > MAX_RELATED_NUMBERS]
    if large:
        yield (
            f"{in_words(large, 3)}: too large to compare; up to {MAX_RELATED_NUMBERS:,} numbers"
            " each are compared."
        )
    if len(small) > MAX_RELATED:
        yield f"Only the first {MAX_RELATED} of {amount(len(small), 'array')} were compared."
    if search.cut:
        yield "These arrays may be made of each other in so many ways that not all were tried."


# ---- search -------------------------------------------------------------------------------------


class _Search:
    """Every relation among the arrays that more than chance speaks for."""

    def __init__(self, arrays: list[Numbers], names: list[str | None]) -> None:
        self.arrays, self.names = arrays, names
        self.of = {a.index: a for a in arrays}
        self.found: list[Relation] = []
        self.weak: list[Relation] = []  # which fit, but may do so by chance
        self.enough = float(SURE)
        self.work, self.tests, self.cut = MAX_PRODUCTS, MAX_SOFTMAX_TESTS, False
        self.masks = [a for a in arrays if readings_of_mask(a)]
        masks = {a.index for a in self.masks}
        self.operands = [a for a in arrays if not a.is_bool]
        self.results = [a for a in self.operands if a.index not in masks or a.has_hidden]

    def run(self) -> None:
        """Search kind by kind, as later kinds leave out what earlier ones imply."""
        for search in (self.sums, self.same, self.products, self.scales, self.softmax, self.unseen):
            for r in search():
                if r.bits > 0:
                    (self.found if self.is_sure(r) else self.weak).append(r)
        self.found = self.without_implied()

    def tried(self, count: int) -> None:
        """Set the evidence that is enough, of so many pairs and triples that are compared."""
        self.enough = SURE + float(np.log2(max(1, count)))

    def is_sure(self, r: Relation) -> bool:
        """Return whether a relation has the evidence, less where the names say the same."""
        if r.kind in ("sums", "row", "equal", "transposed"):
            return True
        names = [self.names[k] for k in (r.result, *r.operands)]
        if not _is_expected(r, names):
            return r.named and r.bits >= self.enough
        if r.kind == "softmax" and r.mask == "other":  # the weights themselves chose the places
            return r.named and r.bits >= SURE
        return r.bits >= EXPECTED

    def made(self, result: int, *kinds: str) -> list[Relation]:
        return [r for r in self.found if r.result == result and r.kind in kinds]

    # -- one array, or two that are the same

    def sums(self) -> Iterator[Relation]:
        """Yield the arrays whose rows, or else columns, are shares of 1."""
        for a in self.results:
            for columns in (False, True):
                if a.is_vector and columns or not (a.sum_columns if columns else a.sum_rows):
                    continue
                items, rows, count = a.shape if not columns else (a.shape[0], *a.shape[:0:-1])
                # Sums of numbers between 0 and 1 spread over 1 and more.
                chance = min(1.0, 2 * count * a.most + a.grid)
                bits = -np.log2(max(chance, 1e-6)) * items * rows
                expected = self.names[a.index] == "weights"
                if bits >= (1 if expected else EXPECTED):
                    yield Relation("sums", a.index, columns=columns, bits=float(bits))
                    break

    def same(self) -> Iterator[Relation]:
        """Yield arrays that repeat an earlier one, transposed or not, or are a row of any."""
        for k, b in enumerate(self.arrays):
            for turned in (False, True):
                for a in self.arrays[:k]:
                    if a.is_bool != b.is_bool or (turned and (a.is_symmetric or a.is_vector)):
                        continue
                    M, half = (x.swapaxes(-1, -2) if turned else x for x in (a.M, a.half))
                    if M.shape != b.shape:
                        continue
                    first = self.alike(b.M[:, :1], M[:, :1], half[:, :1] + b.half[:, :1])
                    if not first or not self.alike(b.M, M, half + b.half):
                        continue
                    where = b.visible
                    bits = evidence(b, np.where(where, M, 0), half + b.half, where, False)
                    if bits >= SURE or (b.is_bool and bits > 0):
                        kind = "transposed" if turned else "equal"
                        yield Relation(kind, b.index, (a.index,), (turned,), bits=bits)
                    break  # later ones repeat that one as well
        for b in self.results:
            if b.shape[:2] != (1, 1):
                continue
            for a in self.operands:
                if a.shape[0] == 1 < a.shape[1] and a.shape[2] == b.shape[2]:
                    yield from self.row_of(b, a)

    def alike(self, one: np.ndarray, other: np.ndarray, room: np.ndarray) -> bool:
        """Return whether numbers are the same, also those hidden, to their digits."""
        with np.errstate(invalid="ignore"):
            near = np.abs(one - other) <= room + CLOSE * np.abs(one)
        same = np.where(np.isfinite(one) & np.isfinite(other), near, one == other)
        return bool((same | (np.isnan(one) & np.isnan(other))).all())

    def row_of(self, b: Numbers, a: Numbers) -> Iterator[Relation]:
        with np.errstate(invalid="ignore"):
            M, half, one = a.M[..., :4], a.half[..., :4], b.M[..., :4]  # the first columns
            off = (np.abs(M - one) > half + b.half[..., :4] + CLOSE * np.abs(M)).any(-1)[0]
        rows = (int(k) for k in np.flatnonzero(~off))
        alike = (k for k in rows if self.alike(b.M, a.M[:, [k]], a.half[:, [k]] + b.half))
        row = next(alike, None)  # tokens that are repeated have the same row
        if row is None:
            return
        bits = evidence(b, a.M[:, [row]], a.half[:, [row]] + b.half, b.visible, False)
        bits -= np.log2(a.shape[1])
        if bits >= (EXPECTED if self.names[a.index] == self.names[b.index] else SURE):
            yield Relation("row", b.index, (a.index,), (False,), row=row, bits=float(bits))

    # -- products

    def products(self) -> Iterator[Relation]:
        """Yield C = A B with each factor as it is printed or transposed, perhaps with a factor.

        The first test is C p = A (B p) in some rows, a product with one vector p.
        """
        results = [
            c for c in self.results if c.is_finite and not c.has_hidden and not c.is_constant
        ]
        groups: dict[tuple[int, ...], _Group] = {}
        for c in results:
            groups.setdefault(c.shape, _Group(c.shape)).arrays.append(c)
        factors_of = [
            side
            for a in self.operands
            if a.is_finite and not a.has_hidden and a.M.any()
            for side in a.oriented[: 1 if a.is_vector or a.is_symmetric else 2]
        ]
        passed: list[tuple[Oriented, Oriented, Numbers, int | None]] = []
        tried = 0
        for left, right in pairs_of(factors_of, factors_of):
            a, b = left.M.shape, right.M.shape
            if a[2] != b[1] or right.numbers.is_vector or {a[0], b[0]} - {1, max(a[0], b[0])}:
                continue
            whole = groups.get((max(a[0], b[0]), a[1], b[2]))
            row = groups.get((1, 1, b[2])) if a[0] == b[0] == 1 < a[1] else None
            tried += (len(whole.arrays) if whole else 0) + (a[1] * len(row.arrays) if row else 0)
            passed += [(left, right, c, None) for c in whole.first(left, right)] if whole else []
            passed += [(left, right, *pair) for pair in row.rows(left, right)] if row else []
        self.tried(tried)
        count: dict[int, int] = {}
        for left, right, c, row_index in passed:
            if count.get(c.index, 0) >= MOST_EXPLANATIONS:
                continue
            r = self.verified(left, right, c, row_index)
            if r is not None and self.is_sure(r):
                count[c.index] = count.get(c.index, 0) + 1
                yield r

    def verified(
        self, left: Oriented, right: Oriented, c: Numbers, row: int | None
    ) -> Relation | None:
        """Compute the product, of a large one many rows, and return the relation if it fits."""
        if self.work < 0:
            return None
        inner, rows = left.M.shape[2], np.arange(left.M.shape[1])
        part = c
        if row is not None:
            rows = np.array([row])
        elif c.M.size * inner > MAX_WHOLE_PRODUCT:
            rows = some_rows(len(rows), MANY)
            part = c.rows(rows)
        self.work -= c.shape[0] * len(rows) * inner * c.shape[2]
        if self.work < 0:
            self.cut = True
            return None
        one = left if len(rows) == left.M.shape[1] else left.rows(rows)
        fit = judged(part, *multiplied(one, right), part.visible, (inner,))
        a, b = left.numbers.index, right.numbers.index
        if fit is None:
            return None
        sides = (left.transposed, right.transposed)
        return _with(fit, Relation("product", c.index, (a, b), sides, row=row), (inner,))

    # -- scale and mask

    def scales(self) -> Iterator[Relation]:
        """Yield C = c A, and the same where C has −∞ at hidden places."""
        linked = {(r.result, r.operands[0]) for r in self.found if r.kind == "equal"}
        shapes = [a.shape for a in self.results]
        self.tried(sum(shapes.count(shape) - 1 for shape in shapes))
        for k, first in enumerate(self.results):
            for second in self.results[:k]:
                pair = self.directed(second, first)
                if (
                    pair
                    and first.shape == second.shape
                    and (first.index, second.index) not in linked
                ):
                    yield from self.scaled(*pair)
        for c in self.results:
            for a in self.operands:
                if c.shape == (1, 1, a.shape[2]) and a.shape[0] == 1 < a.shape[1]:
                    yield from self.scaled_row(c, a)

    def directed(self, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers] | None:
        """Return operand and result: by what is hidden, by products, by names, by order."""
        if a.has_hidden != b.has_hidden:
            return (b, a) if a.has_hidden else (a, b)
        for x, y in ((a, b), (b, a)):
            plain = [r for r in self.made(x.index, "product") if r.factor == 1]
            if plain and any(r.factor != 1 for r in self.made(y.index, "product")):
                return x, y
        roles = self.names[a.index], self.names[b.index]
        stages = [SCORES.index(role) for role in roles if role in SCORES]
        if len(stages) == 2 and stages[0] != stages[1]:
            return (a, b) if stages[0] < stages[1] else (b, a)
        return a, b

    def scaled(self, a: Numbers, c: Numbers) -> Iterator[Relation]:
        if c.has_hidden and a.has_hidden and not np.array_equal(c.hidden, a.hidden):
            return
        where = c.visible & a.visible
        if not where.any() or (not c.has_hidden and not where.all()):
            return
        rows = some_rows(c.shape[1])
        if where[:, rows].any():
            part = where[:, rows]
            shown = c.M[:, rows][part]
            room = around(shown, c.half[:, rows][part] + SINGLE * np.abs(shown))
            low, high = factors(a.M[:, rows][part], a.half[:, rows][part], *room)
            if not low <= high:
                return
        fit = judged(c, np.where(where, a.M, 0), a.half, where)
        if fit is None:
            return
        mask = c.has_hidden and not a.has_hidden
        r = _with(fit, Relation("masked" if mask else "scaled", c.index, (a.index,), (False,)))
        yield self.with_mask(r, c) if mask else r

    def with_mask(self, r: Relation, c: Numbers) -> Relation:
        """Return the relation with what hides the hidden places."""
        found = False
        for hiding in hidings(c.shape, self.masks_beside(c.index)):
            if hiding.allowed is not None and (c.hidden == ~hiding.allowed).all():
                found, r = True, _hidden(r, hiding)
                break
        return r if found else replace(r, mask="other")

    def masks_beside(self, *indices: int) -> list[Numbers]:
        return [a for a in self.masks if a.index not in indices][:4]

    def scaled_row(self, c: Numbers, a: Numbers) -> Iterator[Relation]:
        if not c.is_finite or c.has_hidden or not a.is_finite or a.has_hidden:
            return
        few = slice(0, 8)
        room = around(c.M[..., few], c.half[..., few] + SINGLE * np.abs(c.M[..., few]))
        low, high = factors(a.M[..., few], a.half[..., few], *room)
        for row in np.flatnonzero((low <= high)[0])[:MOST_EXPLANATIONS]:
            fit = judged(c, a.M[:, [row]], a.half[:, [row]], c.visible)
            if fit is not None and fit.factor != 1:
                r = Relation("scaled", c.index, (a.index,), (False,), row=int(row))
                yield replace(_with(fit, r), bits=fit.bits - np.log2(a.shape[1]))

    # -- softmax

    def weights(self) -> list[Numbers]:
        """Return what may be weights."""
        return [self.of[r.result] for r in self.found if r.kind == "sums"]

    def softmax(self) -> Iterator[Relation]:
        """Yield weights = softmax(c A), without a mask and with each."""
        weights = self.weights()
        shapes = [a.shape for a in self.operands]
        self.tried(2 * sum(shapes.count(w.shape) for w in weights))
        for w in weights:
            for a in self.operands:
                if a is w or a.sum_rows and a.shape == w.shape:
                    continue
                if a.shape == w.shape:
                    yield from self.softmax_of(w, a.M, a.half, (a.index,), (False,))
                elif w.shape[:2] == (1, 1) and a.shape[0] == 1 and a.shape[2] == w.shape[2]:
                    for row in range(min(a.shape[1], 64)):
                        M, half = a.M[:, [row]], a.half[:, [row]]
                        yield from self.softmax_of(w, M, half, (a.index,), (False,), row)

    def softmax_of(
        self,
        w: Numbers,
        M: np.ndarray,
        half: np.ndarray,
        operands: tuple[int, ...],
        sides: tuple[bool, ...],
        row: int | None = None,
        widths: tuple[int, ...] = (),
    ) -> Iterator[Relation]:
        """Yield the first mask with which these scores make the weights."""
        if np.isnan(M).any() or np.isposinf(M).any():
            return
        for columns in (False, True):
            if not (w.sum_columns if columns else w.sum_rows) or (columns and w.shape[1] == 1):
                continue
            rows = some_rows(w.shape[1])[-4:]
            for hiding in hidings_of_weights(w, self.masks_beside(w.index, *operands)):
                self.tests -= 1
                if self.tests < 0:
                    self.cut = True
                    return
                if not columns and len(rows) < w.shape[1]:
                    part = hiding.rows(rows)
                    if not softmax_fit(
                        w.rows(rows), M[:, rows], half[:, rows], part, False, widths
                    ):
                        continue
                fit = softmax_fit(w, M, half, hiding, columns, widths)
                if fit is not None:
                    r = Relation("softmax", w.index, operands, sides, columns=columns, row=row)
                    yield _hidden(_with(fit, r, widths), hiding)
                    return

    def unseen(self) -> Iterator[Relation]:
        """Yield weights, or masked scores, of a product A Bᵀ that was not printed."""
        open_ones = [w for w in self.weights() if not self.made(w.index, "softmax")]
        hidden = [c for c in self.results if c.has_hidden and not self.made(c.index, "masked")]
        sides = [
            side
            for a in self.operands
            if a.is_finite and not a.has_hidden and a.M.any()
            for side in a.oriented[: 1 if a.is_vector or a.is_symmetric else 2]
        ]
        fitting = [
            (c, left, right)
            for c in (*open_ones, *hidden)
            for left, right in pairs_of(sides, sides)
            if c.M.size * left.M.shape[2] <= MAX_WHOLE_PRODUCT
            and joins(left, right, c.shape)
            and not right.numbers.is_vector
            and c.index not in (left.numbers.index, right.numbers.index)
        ]
        self.tried(2 * len(fitting))
        # Q Kᵀ first, and where it fits nothing else: each way to make weights takes many tests.
        fitting.sort(key=lambda one: not self.is_named(*one))
        known: set[int] = set()
        for c, left, right in fitting:
            if c.index in known:
                continue
            if self.tests <= 0:
                self.cut = True
                return
            for r in self.unseen_of(c, left, right):
                if self.is_named(c, left, right) and self.is_sure(r):
                    known.add(c.index)
                yield r

    def is_named(self, c: Numbers, left: Oriented, right: Oriented) -> bool:
        """Return whether these are called Q, and K transposed, and what is made of them."""
        names = [self.names[one.index] for one in (c, left.numbers, right.numbers)]
        turned = (left.transposed, right.transposed) == (False, True)
        return turned and names[0] in ("weights", "masked") and names[1:] == ["Q", "K"]

    def unseen_of(self, c: Numbers, left: Oriented, right: Oriented) -> Iterator[Relation]:
        self.tests -= 1
        rows = some_rows(c.shape[1])[-4:]
        part = c.rows(rows)
        few = left.rows(rows)
        base, error = multiplied(few, right)
        inner = (left.M.shape[2],)
        operands = (left.numbers.index, right.numbers.index)
        sides = (left.transposed, right.transposed)
        if c.has_hidden:
            if judged(part, base, error, part.visible, inner) is None:
                return
            self.work -= c.M.size * inner[0]
            fit = judged(c, *multiplied(left, right), c.visible, inner) if self.work > 0 else None
            if fit is not None:
                r = Relation("masked", c.index, operands, sides)
                yield self.with_mask(_with(fit, r, inner), c)
            return
        for hiding in hidings_of_weights(c, self.masks_beside(c.index, *operands)):
            self.tests -= 1
            if self.tests < 0:
                self.cut = True
                return
            if softmax_fit(part, base, error, hiding.rows(rows), False, inner) is not None:
                self.work -= c.M.size * inner[0]
                if self.work < 0:
                    self.cut = True
                    return
                M, error = multiplied(left, right)
                yield from self.softmax_of(c, M, error, operands, sides, None, inner)
                return

    def without_implied(self) -> list[Relation]:
        """Return the relations without those that follow from others of the same result.

        Where scaled = scores / 2 was printed, weights = softmax(scaled) implies that they are those
        of scores / 2 as well, and scores = Q Kᵀ implies scaled = Q Kᵀ / 2.
        """
        steps = {
            (r.result, r.operands[0])
            for r in self.found
            if r.kind in ("scaled", "masked") and len(r.operands) == 1
        }
        return [r for r in self.found if not self.is_implied(r, steps)]

    def is_implied(self, r: Relation, steps: set[tuple[int, int]]) -> bool:
        """Return whether a relation follows from another and a printed step."""
        if r.kind == "product":
            return r.factor != 1 and any(result == r.result for result, _ in steps)
        if r.kind not in ("softmax", "masked", "scaled") or len(r.operands) != 1:
            return False
        others = (q.operands[0] for q in self.made(r.result, r.kind) if len(q.operands) == 1)
        return any((k, r.operands[0]) in steps for k in others if k != r.operands[0])


@dataclass
class _Group:
    """Arrays of one shape, whose products with a probe are compared together."""

    shape: tuple[int, ...]
    arrays: list[Numbers] = field(default_factory=list)
    _sums: tuple[np.ndarray, np.ndarray] | None = None

    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        if self._sums is None:
            rows = some_rows(self.shape[1])
            M = np.stack([(c.M[:, rows] @ probe(self.shape[2])).ravel() for c in self.arrays])
            size = np.stack([np.abs(c.M[:, rows]).sum(-1).ravel() for c in self.arrays])
            count = min(self.shape[2], DEVIATIONS * (self.shape[2] / 3) ** 0.5)
            half = np.array([[c.most * count] for c in self.arrays])
            self._sums = around(M, half + SINGLE * size)
        return self._sums

    def first(self, left: Oriented, right: Oriented) -> list[Numbers]:
        """Return the arrays whose probe is a multiple of that of the product, in some rows."""
        rows = some_rows(self.shape[1])
        sums, error = sums_of(left, right, rows)
        low, high = factors(sums.ravel(), error.ravel(), *self.sums())
        fits = np.flatnonzero((low <= high) & (high > 0))
        own = (left.numbers.index, right.numbers.index)
        return [c for c in (self.arrays[k] for k in fits) if c.index not in own]

    def rows(self, left: Oriented, right: Oriented) -> list[tuple[Numbers, int]]:
        """Return the vectors with the probe of a row of the product, and which row."""
        sums, error = sums_of(left, right, np.arange(left.M.shape[1]))
        inner = left.M.shape[2]
        found = []
        for c, low, high in zip(self.arrays, *(end[:, 0] for end in self.sums()), strict=True):
            if c.index in (left.numbers.index, right.numbers.index):
                continue
            near = np.zeros(sums.shape[1], bool)
            for factor in (1.0, inner**-0.5):
                near |= ((factor * (sums + error) >= low) & (factor * (sums - error) <= high))[0]
            found += [(c, int(row)) for row in np.flatnonzero(near)[:MOST_EXPLANATIONS]]
        return found


def _with(fit: Fit, r: Relation, widths: tuple[int, ...] = ()) -> Relation:
    """Return the relation with the factor and the evidence of a fit."""
    n = fit.factor**-2
    named = named_factor(fit.low, fit.high, widths) is not None
    root = round(n) if named and fit.factor < 1 and abs(n - round(n)) < 1e-6 * n else None
    return replace(r, factor=fit.factor, root=root, named=named, bits=float(fit.bits))


def _is_expected(r: Relation, names: list[str | None]) -> bool:
    """Return whether the result and its operands are called as in attention."""
    result, *operands = names
    if len(operands) == 1:
        later = SCORES[SCORES.index(operands[0]) + 1 :] if operands[0] in SCORES else ()
        return result == "weights" and bool(operands[0] in SCORES) or result in later
    stages = (result,) if r.kind == "product" else ("scores", "scaled")
    dots = ("weights", "masked")
    if r.kind != "product" and result not in dots:
        return False
    called = [(stage, *pair) for stage in stages for pair in (operands, operands[::-1])]
    return any(roles in _PRODUCTS for roles in called)


def _hidden(r: Relation, hiding: Hiding) -> Relation:
    return replace(r, mask=hiding.kind, mask_index=hiding.index, inverted=hiding.inverted)


# ---- reading ------------------------------------------------------------------------------------

_PROJECTIONS = tuple(
    (letter, x, f"W_{letter}") for letter in "QKV" for x in ("X", "memory")[: 1 + (letter != "Q")]
)
_DOTS = (("scores", "Q", "K"), ("scores", "X", "X"))
_MIXES = (("output", "weights", "V"), ("output", "weights", "X"))
_PRODUCTS = (*_PROJECTIONS, *_DOTS, *_MIXES, ("scaled", "Q", "K"), ("scaled", "X", "X"))


@dataclass(frozen=True)
class _Option:
    """A way to read a relation: which role and side each of its arrays has."""

    relation: Relation
    roles: tuple[tuple[int, str, bool], ...]  # index, role, whether it is printed transposed
    cost: float


def _options(r: Relation, of: dict[int, Numbers]) -> Iterator[_Option]:
    """Yield every way to read a relation as a step of attention."""
    c = r.result
    if r.kind == "sums":
        for turned in {False, r.columns}:
            yield _Option(r, ((c, "weights", turned),), UNUSUAL * r.columns)
    elif len(r.operands) == 2:
        yield from _product_options(r)
    elif r.kind in ("softmax", "masked", "scaled"):
        a = r.operands[0]
        mask = ((r.mask_index, "mask", False),) if r.mask_index is not None else ()
        result = "weights" if r.kind == "softmax" else r.kind
        if of[a].has_hidden:
            sources = {"masked": 0.0}
        elif r.factor != 1:
            sources = {"scores": 0.0} | ({"scaled": NAME} if r.kind != "scaled" else {})
        else:
            sources = {"scaled": 0.0, "scores": 0.05}
        if r.kind == "scaled" and of[a].has_hidden:
            return  # hidden scores that are scaled later
        for source, cost in sources.items():
            for turned in (False, True):
                wrong = r.kind == "softmax" and turned != r.columns
                more = (NAME if turned else UNUSUAL) * wrong + 2 * TURNED * turned
                yield _Option(r, ((c, result, turned), (a, source, turned), *mask), cost + more)


def _product_options(r: Relation) -> Iterator[_Option]:
    c, (left, right), (s, t) = r.result, r.operands, r.transposed
    stage = {"product": "scores" if r.factor == 1 else "scaled"}.get(r.kind, r.kind)
    stage = "weights" if stage == "softmax" else stage
    dots = [(stage, q, k) for _, q, k in _DOTS]
    plain = (*_PROJECTIONS, *_MIXES) if stage == "scores" else ()
    for role, first, second in (*dots, *plain):
        cost = UNUSUAL * (first == "memory" or second == "X")
        flip = second in ("K", "X") and first != "weights"  # Q Kᵀ takes K transposed
        same = left == right
        if same == (first == second):
            sides = ((c, role, False), (left, first, s), (right, second, t != flip))
            if len({side for k, _, side in sides[1:]} if same else {0}) == 1:
                yield _Option(r, sides, cost + TURNED * (s + (t != flip)))
            # The same of the transposed result: Cᵀ = (R)ᵀ (L)ᵀ.
            sides = ((c, role, True), (left, second, (not s) != flip), (right, first, not t))
            if len({side for k, _, side in sides[1:]} if same else {0}) == 1 and r.row is None:
                more = TURNED * (1 + ((not s) != flip) + (not t))
                yield _Option(r, sides, cost + more)


class _Reading:
    """The reading of all relations together that contradicts least."""

    def __init__(self, search: _Search, names: list[str | None]) -> None:
        self.search, self.names = search, names
        self.links = {
            frozenset((r.result, *r.operands))
            for r in search.found
            if r.kind in ("equal", "transposed", "row")
        }
        groups: dict[tuple[int, str], list[_Option]] = {}
        for r in search.found:
            if r.kind not in ("equal", "transposed", "row"):
                kind = "made" if r.kind in ("scaled", "masked") else r.kind
                groups.setdefault((r.result, kind), []).extend(_options(r, search.of))
        self.given = self.given_inputs()
        self.groups = self.ordered(groups)
        self.nodes, self.cost = MAX_READINGS, np.inf
        self.best: list[_Option] = []
        self.descend(0, {}, [], 0.0)
        self.assigned: dict[int, tuple[str, bool]] = {}
        for option in self.best:
            self.assigned |= {k: (role, side) for k, role, side in option.roles}
        self.used = {id(option.relation) for option in self.best}

    def given_inputs(self) -> set[int]:
        """Return the arrays called Q, K and V where all three are inputs: none of X W is printed.

        There Q Qᵀ in place of Q Kᵀ is a mistake to be seen, and no other meaning of Q.
        """
        called = {k: role for k, role in enumerate(self.names) if role in ("Q", "K", "V")}
        made = any(r.kind == "product" and r.result in called for r in self.search.found)
        return set(called) if len(set(called.values())) == 3 and not made else set()

    def ordered(self, groups: dict[tuple[int, str], list[_Option]]) -> list[list[_Option]]:
        """Return the groups so that each shares arrays with earlier ones, where it can."""
        rank = {"softmax": 0, "made": 1, "product": 2, "sums": 3}
        left = sorted(groups.items(), key=lambda item: (rank[item[0][1]], item[0][0]))
        known: set[int] = set()
        result = []
        while left:
            shared = [len(known & {k for o in options for k, *_ in o.roles}) for _, options in left]
            place = int(np.argmax(shared)) if max(shared) else 0
            _, options = left.pop(place)
            known |= {k for o in options for k, *_ in o.roles}
            result.append(sorted(options, key=lambda o: o.cost + self.name_cost(o)))
        return result

    def name_cost(self, option: _Option) -> float:
        return sum(self.contradicts(k, role) for k, role, _ in option.roles)

    def contradicts(self, index: int, role: str) -> float:
        """Return how much the name of an array speaks against a role."""
        named = self.names[index]
        if named is None or named == role:
            return 0.0
        if named in SCORES and role in SCORES:
            return NAME / 2
        if index in self.given:
            return np.inf
        made = role not in ("X", "memory", "W_Q", "W_K", "W_V")  # whose names are trusted less
        return NAME - 0.1 * made

    def descend(
        self,
        place: int,
        roles: dict[int, tuple[str, bool]],
        chosen: list[_Option],
        cost: float,
    ) -> None:
        """Try every option of the next group, least contradiction first, within bounds."""
        self.nodes -= 1
        if cost >= self.cost or (self.nodes < 0 and self.best):
            return
        if place == len(self.groups):
            total = cost + 0.01 * self.inversions(roles)
            if total < self.cost:
                self.best, self.cost = chosen, total
            return
        for option in self.groups[place]:
            more = self.joined(option, roles)
            if more is not None:
                new, extra = more
                self.descend(place + 1, roles | new, [*chosen, option], cost + option.cost + extra)
        self.descend(place + 1, roles, chosen, cost + UNREAD)

    def joined(
        self, option: _Option, roles: dict[int, tuple[str, bool]]
    ) -> tuple[dict[int, tuple[str, bool]], float] | None:
        """Return the new roles of an option and what they lose; None where they contradict."""
        new: dict[int, tuple[str, bool]] = {}
        cost = 0.0
        for k, role, side in option.roles:
            a = self.search.of[k]
            side = side and not a.is_vector
            known = roles.get(k) or new.get(k)
            if known is not None:
                free = a.is_symmetric or a.is_vector
                if known[0] != role or (known[1] != side and not free):
                    return None
                continue
            new[k] = (role, side)
            cost += self.contradicts(k, role)
            if a.shape[1] > 1:
                cost += AGAIN * sum(
                    other[0] == role
                    and self.search.of[j].shape[1] > 1
                    and frozenset((j, k)) not in self.links
                    for j, other in roles.items()
                )
        return new, cost

    def inversions(self, roles: dict[int, tuple[str, bool]]) -> int:
        """Return how many pairs are printed in another order than usual."""
        places = [ORDER.index(roles[k][0]) for k in sorted(roles)]
        return sum(a > b for k, a in enumerate(places) for b in places[k + 1 :])

    def plausible(self) -> list[Relation]:
        """Return the weak relations that the roles known so far ask for."""
        made = {
            r.result for r in self.search.found if r.kind not in ("sums", "equal", "transposed")
        }
        found = []
        for r in self.search.weak:
            if r.bits < PLAUSIBLE or not r.named or r.result in made:
                continue
            for option in _options(r, self.search.of):
                known = [k for k, *_ in option.roles if k in self.assigned]
                fits = all(
                    self.assigned[k] == (role, side)
                    for k, role, side in option.roles
                    if k in self.assigned
                )
                named = [k for k, role, _ in option.roles if self.names[k] == role]
                if fits and len({*known, *named}) >= len(option.roles) - 1 and known:
                    found.append(r)
                    break
        return found

    def relations(self) -> list[Relation]:
        """Return what was found, what the uses follow from first for each result."""
        found = [
            replace(r, used=id(r) in self.used or r.kind in ("row", "equal", "transposed"))
            for r in self.search.found
        ]
        made = {r.result for r in found if r.kind == "softmax"}
        found = [r for r in found if not (r.kind == "sums" and r.result in made)]
        rank = {k: ORDER.index(role) for k, (role, _) in self.assigned.items()}
        return sorted(found, key=lambda r: (rank.get(r.result, 99), r.result, not r.used, -r.bits))


# ---- uses ---------------------------------------------------------------------------------------


def _uses(
    arrays: Sequence[Printed], search: _Search, reading: _Reading, names: list[str | None]
) -> list[Use]:
    """Return the use of each array: by relations, then by name, then by shape and order."""
    uses = [Use(k, is_row=_is_row(array)) for k, array in enumerate(arrays)]
    for k, (role, turned) in reading.assigned.items():
        uses[k] = replace(uses[k], role=role, by="relation", transposed=turned)
    _spread_links(uses, search, names)
    for k, name in enumerate(names):
        if uses[k].role is None and name is not None and name in ORDER and _may_be(arrays[k], name):
            uses[k] = replace(uses[k], role=name, by="name")
    _spread_links(uses, search, names)
    _by_shape(uses, arrays, search)
    _rows(uses, search, reading)
    for k, name in enumerate(names):
        use = uses[k]
        if use.role is not None and name is not None and name != use.role:
            uses[k] = replace(
                use, remark=f"It is called “{arrays[k].name}”, but its numbers are {use.role}."
            )
    return uses


def _is_row(array: Printed) -> bool:
    return array.values.ndim == 1 or array.values.shape[-2] == 1


def _may_be(array: Printed, role: str) -> bool:
    """Return whether the numbers leave a name possible.

    True and False are a mask alone, and “A” may be any matrix: as weights it is from 0 to 1.
    """
    if array.values.dtype == bool or role != "weights" or len(array.name) > 1:
        return array.values.dtype != bool or role == "mask"
    room = np.abs(array.unit) / 2 + SINGLE
    return bool((np.isnan(array.values) | (np.abs(array.values - 0.5) <= 0.5 + room)).all())


def _spread_links(uses: list[Use], search: _Search, names: list[str | None]) -> None:
    """Give arrays that repeat another, or a row of it, the role of that other."""
    links = [r for r in search.found if r.kind in ("equal", "transposed", "row")]
    for r in (*links, *reversed(links)):
        for known, new in ((r.operands[0], r.result), (r.result, r.operands[0])):
            role = uses[known].role
            if role is None or uses[new].role is not None:
                continue
            if r.kind == "equal" and names[new] is not None and names[new] != role:
                continue  # Q and K of equal weights have the same numbers
            turned = uses[known].transposed != (r.kind == "transposed")
            turned = turned and r.kind != "row"
            uses[new] = replace(uses[new], role=role, by="relation", transposed=turned)


def _rows(uses: list[Use], search: _Search, reading: _Reading) -> None:
    """Say which row of its stage each single row is, where it is known."""
    for r in search.found:
        if r.row is not None and (r.kind == "row" or id(r) in reading.used):
            uses[r.result] = replace(uses[r.result], row=r.row)
    for _ in range(len(ORDER)):  # q = x W_Q: the row of q is that of x, and the other way round
        for r in search.found:
            if r.row is not None or id(r) not in reading.used or not r.operands:
                continue
            a, b = r.operands[0], r.result
            if not (uses[a].is_row and uses[b].is_row):
                continue
            for known, new in ((a, b), (b, a)):
                if uses[known].row is not None and uses[new].row is None:
                    uses[new] = replace(uses[new], row=uses[known].row)


def _by_shape(uses: list[Use], arrays: Sequence[Printed], search: _Search) -> None:
    """Propose masks by their two numbers, and inputs by fitting shapes in the order of printing."""
    for a in search.masks:
        square = a.shape[1] == a.shape[2] > 2
        ahead = any(
            (allowed == look_ahead(*a.shape[1:])).all() for allowed, _ in readings_of_mask(a)
        )
        if uses[a.index].role is None and square and (a.is_bool or a.has_hidden or ahead):
            uses[a.index] = replace(uses[a.index], role="mask", by="shape")
    taken = {use.role for use in uses} - {None, "mask"}
    left = [
        k
        for k, array in enumerate(arrays)
        if uses[k].role is None and array.values.ndim > 1 and array.values.dtype != bool
    ]
    if taken or len(left) not in (3, 4) or any(arrays[k].named for k in left):
        return
    shapes = [arrays[k].values.shape for k in left]
    if len(left) == 3:
        q, k, v = shapes
        if q[-1] == k[-1] and k[-2] == v[-2] and len({len(s) for s in shapes}) == 1:
            _propose(uses, left, ("Q", "K", "V"), "order")
        return
    x, *weights = shapes
    fits = all(len(w) == 2 and w[0] == x[-1] for w in weights) and weights[0] == weights[1]
    if fits:
        by = "order" if x in weights else "shape"
        _propose(uses, left, ("X", "W_Q", "W_K", "W_V"), by)


def _propose(uses: list[Use], indices: list[int], roles: Sequence[str], by: str) -> None:
    for k, role in zip(indices, roles, strict=True):
        uses[k] = replace(uses[k], role=role, by=by)


# ---- sentences ----------------------------------------------------------------------------------

_HIDES = {
    "": "",
    "look-ahead": ", look-ahead",
    "printed": ", mask",
    "other": ", hidden where it is {}",
}


def _label(index: int, arrays: Sequence[Printed], uses: Sequence[Use]) -> str:
    """Return the name of the stage where the array is called so, and its own name otherwise."""
    array, use = arrays[index], uses[index]
    called = array.named and role_of(array.name) == use.role and use.role is not None
    return str(use.role) if called and not use.is_row else f"“{array.name}”"


def _side(index: int, turned: bool, arrays: Sequence[Printed], uses: Sequence[Use]) -> str:
    label = _label(index, arrays, uses)
    own = label.startswith("“")
    return label + "ᵀ" * (turned if own else turned != uses[index].transposed)


def _times(r: Relation) -> str:
    """Return what the operand is multiplied or divided by."""
    if r.factor == 1:
        return ""
    if r.root is not None:
        whole = math.isqrt(r.root)
        return f" / {whole}" if whole**2 == r.root else f" / √{r.root}"
    if r.factor > 1 and r.factor == round(r.factor):
        return f" × {round(r.factor)}"
    return f" × {r.factor:.4g}"


def _sentence(r: Relation, arrays: Sequence[Printed], uses: Sequence[Use]) -> str:
    """Return a relation as one would write it."""
    result = _label(r.result, arrays, uses)
    sides = [_side(k, t, arrays, uses) for k, t in zip(r.operands, r.transposed, strict=True)]
    if uses[r.result].transposed and not result.startswith("“"):
        result += "ᵀ"
    of_row = "" if r.row is None else f"row {r.row + 1} of "
    source = " ".join(sides) + _times(r)
    hides = _HIDES[r.mask].format(0 if r.kind == "softmax" else "−∞")
    if r.mask_index is not None:
        hides += f" “{arrays[r.mask_index].name}”"
    if r.kind == "sums":
        return f"each {'column' if r.columns else 'row'} of {result} adds up to 1"
    if r.kind == "softmax":
        over = " of each column" if r.columns else ""
        return f"{result} = {of_row}softmax({source}){over}{hides}"
    return f"{result} = {of_row}{source}{hides}"
