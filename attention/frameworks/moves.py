"""What changes for given inputs from one library to another, each cause tried, and what undoes it.

The record of the first library takes the fields of the second, a group at a time, and computes
again. A group that changes the numbers is a cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import as_floats
from attention.arrays.distance import furthest, largest_finite
from attention.frameworks.given import grouped
from attention.frameworks.libraries.convention import (
    FACETS,
    PARTS,
    Answer,
    Convention,
    Handed,
    takes_all,
    word,
)
from attention.frameworks.records import answered, handed, named
from attention.vocabulary.numbers import number
from attention.vocabulary.sentences import capital, in_words

FLOAT32, FLOAT64 = 1e-5, 1e-10  # what rounding may change in each
NONE = "no boolean mask"
HIDES_BY = -1e30  # a bias below it leaves nothing of a score
ROW = "hidden_row"
WITHOUT_KEY = ("hidden_row", "infinite_row", "lowest_row")
HIDING = (
    "infinite_row",
    "lowest_row",
    "filler",
    "switch_filler",
    "in_place",
    "bias_is_mask",
    "hides_in_bias",
    "zeroes",
    "zeroes_rows",
    "zeroes_ahead",
    "zeroes_with_switch",
    "zeroes_nan",
    "zeroes_queries",
    "leaks",
    "floats",  # a filler that is finite in one type may be −∞ in another
)
CHECK = {  # what to look at in one's own numbers, by the facet that changes
    "true_means": "a query that may see one key: its weight there is 1.",
    "beside": "the weights above the diagonal, and those of padded keys: all are 0.",
    "causal": "the weights of the first query: how many are not 0.",
    "default_scale": "the scores before the softmax: they differ by a factor.",
    "hidden_row": "the rows of padded queries, and their gradients.",
    "infinite_row": "the rows that the bias hides, such as padding as −∞.",
    "lowest_row": "the rows that the bias fills with one large negative number.",
    "group_order": "two heads of queries that share keys.",
    "softcap": "the largest scores.",
    "sinks": "the sums of the rows of weights: below 1 with sinks.",
}
APART = ("when", "source")  # facets that differ between any two


@dataclass(frozen=True)
class Change:
    """One cause of a difference between two libraries, which these inputs show."""

    facet: str  # a key of FACETS
    sentence: str
    fine: bool = False  # it changes digits, not what is seen


@dataclass(frozen=True, eq=False)
class Move:
    """What two libraries make of the same inputs, and what is behind the difference."""

    a: Answer
    b: Answer
    changes: tuple[Change, ...]
    before: tuple[str, ...]  # lines of NumPy before the call of B that make it answer as A does
    after: tuple[str, ...]  # and after it
    undone: bool  # whether these lines undo all that is seen
    unseen: tuple[str, ...]  # other facets that differ: these inputs do not show them

    @property
    def checks(self) -> tuple[str, ...]:
        """Return what to look at in one's own numbers."""
        seen = (change.facet for change in self.changes if change.facet in CHECK)
        return tuple(dict.fromkeys(CHECK[facet] for facet in seen))


def moved(
    a: str,
    b: str,
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    *,
    rows: Sequence[str] | None = None,
    **rest: Any,
) -> Move:
    """Return what changes for these inputs from library ``a`` to library ``b``.

    Parameters
    ----------
    a, b : str
        Keys of :data:`attention.frameworks.records.CONVENTIONS`.
    Q, K, V : array_like, (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v)
    rows : sequence of str
        Labels of the queries. Default: 1, 2, ….
    **rest
        ``mask``, ``causal``, ``scale``, ``softcap``, ``window``, ``sinks`` and ``bias``, as in
        :func:`attention.frameworks.records.answer`.

    Returns
    -------
    Move
        Without causes where one of the two refuses these inputs: its answer says why.

    Raises
    ------
    ValueError, TypeError
        One sentence, where a name is not in the table or the arrays fit no attention at all.

    >>> move = moved("torch_sdpa", "torch_mha", [[1.0]], [[1.0], [1.0]], [[10.0], [20.0]],
    ...     mask=[[True, False]])
    >>> move.changes[0].sentence
    'True means hide in nn.MultiheadAttention, may look in F.scaled_dot_product_attention.'
    >>> move.before
    ('mask = ~mask',)
    """
    return between(named(a), named(b), Q, K, V, rows=rows, **rest)


def between(
    a: Convention,
    b: Convention,
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    *,
    rows: Sequence[str] | None = None,
    **rest: Any,
) -> Move:
    """Return what changes between two records; the arguments are those of :func:`moved`."""
    both = a, b
    given = [handed(side, Q, K, V, **rest) for side in both]
    of_a, of_b = (
        side if isinstance(side, Answer) else convention.answer(side)
        for convention, side in zip(both, given, strict=True)
    )
    if of_a.refused or of_b.refused:
        return Move(of_a, of_b, (), (), (), False, _apart(both, ()))
    first, second = given
    assert isinstance(first, Handed) and isinstance(second, Handed)
    trial = _Trial(both[0], both[1], first, second, of_a, rows)
    trial.shares = grouped(*as_floats(Q=Q, K=K))
    trial.run()
    if not _rows_apart(of_a, of_b, FLOAT32).any():  # causes that undo each other are none
        trial.changes = [change for change in trial.changes if change.fine]
    before, after = _lines(trial)
    arguments = dict(zip("QKV", as_floats(Q=Q, K=K, V=V), strict=True)) | rest
    run = _run(trial, before, after, arguments)
    undone = run is not None and bool(_close(_output(of_a), run, FLOAT32).all())
    if run is None or not (undone or _nearer(run, of_a, of_b)):
        before, after = (), ()
    unseen = _apart(both, trial.changes)
    return Move(of_a, of_b, tuple(trial.changes), before, after, undone, unseen)


def _nearer(run: np.ndarray, of_a: Answer, of_b: Answer) -> bool:
    """Return whether fewer rows differ from A's after the lines than before."""
    left, there = (
        (~_close(_output(of_a), output, FLOAT32).all(axis=-1)).sum()
        for output in (run, _output(of_b))
    )
    return bool(left < there)


def _apart(both: tuple[Convention, Convention], changes: Iterable[Change]) -> tuple[str, ...]:
    """Return the facets in which two records differ, but for these changes."""
    seen = {change.facet for change in changes}
    differ = (name for name in FACETS if getattr(both[0], name) != getattr(both[1], name))
    return tuple(name for name in differ if name not in seen and name not in APART)


class _Trial:
    """The record of A on its way to that of B."""

    def __init__(
        self,
        a: Convention,
        b: Convention,
        given: Handed,
        last: Handed,
        answer: Answer,
        rows: Sequence[str] | None,
    ) -> None:
        self.a, self.b, self.given, self.last, self.rows = a, b, given, last, rows
        self.now = replace(a, refuses=takes_all, beside=_not_refused(a.beside))
        self.answer = answer
        self.changes: list[Change] = []
        self.shares = False  # heads of queries share keys
        self.kept = ""  # what A has in rows that see no key
        self.wrong = np.array(False)  # those rows

    def of(self, side: Convention) -> str:
        """Return its title, with its mode where both have the same title."""
        return side.title if self.a.title != self.b.title else side.name

    def run(self) -> None:
        """Take over the fields of B, a group at a time.

        What B does with the scores comes while the mask is read as A reads it and the parts are
        those that both take: so a line that undoes one cause does not uncover another.
        """
        for name in PARTS:
            if name not in self.b.takes:
                self._part(name)
        self._hiding()
        self._take(("default_scale",), "default_scale", self._scale)
        self._take(("scale_zero",), "scale_zero", self._zero)
        self._groups()
        self._take(("beside",), "beside", self._beside)
        self._take(("causal", "lone_query_sees_all"), "causal", self._corner)
        self._take(("least_is_zero",), "causal", self._least)
        self._take(("true_means",), "true_means", self._polarity)
        if self.given.mask is not None and self.b.true_means == NONE != self.a.true_means:
            text = f"{self.of(self.b)} takes no boolean mask: its helper makes numbers of it."
            self.changes.append(Change("true_means", text, fine=True))
        for name in PARTS:
            self._part(name)
        self._take(("bias_first",), "softcap", self._capped_bias)
        self._take(("takes",), "window", self._window)
        self._take(("roots", "scale"), "default_scale", self._roots, fine=True)
        self._take(("softcap",), "softcap", self._rounded_cap, fine=True)
        self._once_it_reads_the_mask()

    def _take(
        self,
        names: tuple[str, ...],
        facet: str,
        say: Callable[[Answer, Answer], str],
        fine: bool = False,
    ) -> None:
        fields = {name: getattr(self.b, name) for name in names}
        fields |= {"beside": _not_refused(self.b.beside)} if "beside" in names else {}
        before, after = self._changed(**fields)
        if not _same(before, after):
            self.changes.append(Change(facet, say(before, after), fine))

    def _changed(self, **fields: Any) -> tuple[Answer, Answer]:
        """Return the answers before and after the record takes these fields."""
        before = self.answer
        if all(getattr(self.now, name) == value for name, value in fields.items()):
            return before, before
        self.now = replace(self.now, **fields)
        self.answer = self.now.answer(self.given)
        return before, self.answer

    def _part(self, name: str) -> None:
        """Let a part go, or take it, as B does."""
        there = name in self.b.takes
        if there == (name in self.now.takes) or name == "window":  # which is else in the mask
            return
        takes = self.now.takes | {name} if there else self.now.takes - {name}
        before, after = self._changed(takes=takes)
        if not _same(before, after):
            lacks = self.a if there else self.b
            how = getattr(lacks, name)
            why = how if how.startswith("none") else "it has no argument for it"
            self.changes.append(
                Change(name, f"{self.of(lacks)} leaves the {PARTS[name]} out: {why}.")
            )

    def _polarity(self, before: Answer, after: Answer) -> str:
        hides = self.b if self.b.true_means == "hide" else self.a
        looks = self.a if hides is self.b else self.b
        return f"True means hide in {self.of(hides)}, may look in {self.of(looks)}."

    def _beside(self, before: Answer, after: Answer) -> str:
        said = []
        for side in (self.b, self.a):
            kind = word(side.beside)
            if kind.endswith("dropped"):
                held = "mask" if self.given.mask is not None else "bias"
                what = f"{held} next to its look-ahead" if "mask" in kind else "look-ahead"
                said.append(f"{self.of(side)} ignores the {what}")
        return f"{capital('; '.join(said))}."

    def _corner(self, before: Answer, after: Answer) -> str:
        if self.a.corner == self.b.corner or {self.a.corner, self.b.corner} == {
            "upper left",
            "the caller's mask",
        }:
            who = self.b if self.b.lone_query_sees_all else self.a
            return f"The look-ahead switch of {self.of(who)} hides nothing from a single query."
        a, b = (_aligned(side.corner) for side in (self.a, self.b))
        return f"The look-ahead of {self.of(self.b)} is aligned {b}, that of {self.of(self.a)} {a}."

    def _least(self, before: Answer, after: Answer) -> str:
        side = self.b if self.b.least_is_zero else self.a
        return (
            f"The look-ahead of {side.name} has a 0 for each score ahead when it looks for the"
            " largest: a row whose own scores are far below 0 becomes NaN."
        )

    def _scale(self, before: Answer, after: Answer) -> str:
        plain = self.b if self.b.default_scale == "1" else self.a
        other = self.a if plain is self.b else self.b
        sharper = "sharper" if plain is self.b else "flatter"
        return (
            f"{self.of(plain)} does not divide by √d_k, {self.of(other)} does: the weights"
            f" of {self.of(self.b)} are {sharper}."
        )

    def _zero(self, before: Answer, after: Answer) -> str:
        reads = self.b if word(self.b.scale_zero) == "not given" else self.a
        return f"{self.of(reads)} reads a scale of 0 as none given."

    def _groups(self) -> None:
        """Take keys and values for each head in the order of B."""
        before, self.given = self.answer, self.last
        self.now = replace(self.now, group_order=self.b.group_order)
        self.answer = self.now.answer(self.given)
        if not _same(before, self.answer):
            a, b = (_order(side.group_order) for side in (self.a, self.b))
            text = (
                f"Heads of queries share keys {b} in {self.of(self.b)}, {a} in {self.of(self.a)}."
            )
            self.changes.append(Change("group_order", text))

    def _hiding(self) -> None:
        """Hide as B does: the rows without a key, and what is left of hidden keys in the others."""
        keep = self.now.keep(self.given)
        before, after = self._changed(**{name: getattr(self.b, name) for name in HIDING})
        if _same(before, after):
            return
        blind, facet = self._blind(keep)
        apart = _rows_apart(before, after)
        if (wrong := blind & apart).any():
            self.wrong = wrong
            self.kept = self._kept(blind, before)
            self.changes.append(Change(facet, self._say_blind(wrong, before, after)))
        if not (others := ~blind & apart).any():
            return
        if not (others & _rows_apart(before, after, FLOAT32)).any():
            self.changes.append(Change("floats", self._say_floats(), fine=True))
        elif padded := self._say_padded(others, before, after):
            self.changes.append(Change(ROW, padded))
        else:
            self.changes.append(Change("nan_key", self._say_hidden(others, keep, before, after)))

    def _once_it_reads_the_mask(self) -> None:
        """Say of rows that see a key in B alone that they need the same mask first, and say it
        last.
        """
        for change in self.changes:
            apart = self.b.keep(self.last) != self.a.keep(self.given)
            if change.facet in WITHOUT_KEY and apart[self.wrong].any():
                row, rest = change.sentence[0], change.sentence[1:]
                text = f"Once it reads the same mask: {row.lower()}{rest}"
                self.changes.remove(change)
                self.changes.append(replace(change, sentence=text))
                return

    def _window(self, before: Answer, after: Answer) -> str:
        takes = self.b if "window" in self.b.takes else self.a
        return f"{self.of(takes)} takes the window by an argument, and reads it as a look-ahead."

    def _blind(self, keep: np.ndarray) -> tuple[np.ndarray, str]:
        """Return the rows that see no key, by the mask or by the bias, and the facet of it."""
        by_mask = np.asarray(~keep.any(axis=-1))
        bias = self.given.parts.bias
        if bias is None or "bias" not in self.now.takes:
            return by_mask, ROW
        kept = np.where(keep, np.broadcast_to(bias, keep.shape), -np.inf)
        by_bias = (kept <= HIDES_BY).all(axis=-1) & ~by_mask
        if not by_bias.any():
            return by_mask, ROW
        infinite = np.isneginf(kept[by_bias]).all()
        return by_mask | by_bias, "infinite_row" if infinite else "lowest_row"

    def _say_blind(self, wrong: np.ndarray, before: Answer, after: Answer) -> str:
        there, here = self._kept(wrong, after), self._kept(wrong, before)
        items = wrong.any(axis=-1)
        some = "" if items.all() else f" in {items.sum()} of {items.size} items"
        which = np.flatnonzero(wrong.reshape(-1, wrong.shape[-1]).any(axis=0))
        return (
            f"{_listed(which, self.rows)} no key{some}: {there} in {self.of(self.b)},"
            f" {here} in {self.of(self.a)}."
        )

    def _kept(self, rows: np.ndarray, answer: Answer) -> str:
        """Return in words what is in these rows, which see no key."""
        unmasked = self.now.answer(replace(self.given, mask=None, causal=False))
        return _kept(_weights(answer)[rows], _weights(unmasked)[rows])

    def _say_padded(self, others: np.ndarray, before: Answer, after: Answer) -> str:
        for side, answer in ((self.b, after), (self.a, before)):
            if word(side.zeroes_queries) == "padded" and not _weights(answer)[others].any():
                return f"{self.of(side)} sets the output of padded queries to 0."
        return ""

    def _say_hidden(
        self, others: np.ndarray, keep: np.ndarray, before: Answer, after: Answer
    ) -> str:
        for side, answer in ((self.b, after), (self.a, before)):
            weights = _weights(answer)
            hidden = weights[others][~keep[others]]
            lost = 1 - weights.sum(axis=-1)[others]
            if (hidden > 1e-5).any():
                most = number(float(np.nanmax(hidden)))
                return (
                    f"The filler of {self.of(side)} is finite: a hidden key keeps up to {most}"
                    " of a row's weight."
                )
            if side.zeroes and (lost > 1e-5).any():
                most = number(float(np.nanmax(lost)))
                return (
                    f"The filler of {self.of(side)} is finite: up to {most} of a row's weight"
                    " is lost to hidden keys."
                )
        for side, answer in ((self.b, after), (self.a, before)):
            if not (
                np.isfinite(_output(answer)[others]).all()
                and np.isfinite(_weights(answer)[others]).all()
            ):
                return f"NaN or ∞ at a hidden key reaches the answer of {self.of(side)}."
        return (
            f"{self.of(self.b)} and {self.of(self.a)} hide scores with other numbers, or in other"
            " float types: rows that large numbers fill differ."
        )

    def _roots(self, before: Answer, after: Answer) -> str:
        if self.a.roots == self.b.roots:
            side = self.b if self.b.scales_in_float32 else self.a
            return f"The scale of {side.name} is a float32."
        side = self.b if self.b.roots else self.a
        return f"{self.of(side)} multiplies Q and K by √scale each: large scores round differently."

    def _rounded_cap(self, before: Answer, after: Answer) -> str:
        side = self.b if self.b.caps_in_float32 else self.a
        return f"The soft cap of {self.of(side)} is a float32."

    def _capped_bias(self, before: Answer, after: Answer) -> str:
        side = self.b if self.b.bias_first else self.a
        return f"The soft cap of {self.of(side)} is of scores and bias."

    def _say_floats(self) -> str:
        side = self.b if self.b.floats != "as given" else self.a
        what = "the softmax" if "softmax" in side.floats else "all"
        return f"{self.of(side)} computes {what} in float32."


# ---- the lines that make B answer as A does ------------------------------------------------------


def _lines(trial: _Trial) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return lines of NumPy, before and after the call of B, that make it answer as A does."""
    seen = {change.facet for change in trial.changes if not change.fine}
    if not seen:
        return (), ()
    shares = trial.shares and bool(seen & {"group_order", *WITHOUT_KEY})
    before = [*_mask(trial, seen), *_inputs(trial, seen)]
    before += [_for_each_head(trial)] if shares else []
    fill, looks = _fill(trial), _looks(trial)
    if not seen & {*WITHOUT_KEY} or not fill or looks is None:
        return tuple(before), ()
    return (
        (_seeing(trial, looks), *before),
        (f"output = np.where(seen, output, {fill})",),
    )


def _run(
    trial: _Trial, before: Iterable[str], after: Iterable[str], arguments: dict[str, Any]
) -> np.ndarray | None:
    """Return B's output with these lines around its call; None where it refuses the inputs.

    The lines are this module's own, and nothing that a person typed is in them: arrays are bound to
    names, and :func:`handed` has refused any other argument.
    """
    names: dict[str, Any] = dict.fromkeys(("mask", *PARTS))
    names |= {"np": np, "causal": False} | arguments
    for name in ("mask", "bias", "sinks"):
        names[name] = None if names[name] is None else np.asarray(names[name])
    for line in before:
        exec(line, names)
    handed_over: dict[str, Any] = {
        name: names[name] for name in ("Q", "K", "V", "mask", "causal", *PARTS)
    }
    names["output"] = answered(trial.b, **handed_over).output
    if names["output"] is None:
        return None
    for line in after:
        exec(line, names)
    return np.asarray(names["output"])


def _inputs(trial: _Trial, seen: set[str]) -> Iterator[str]:
    """Yield what is done to Q, K, V and the parts."""
    root = "Q.shape[-1] ** 0.5"  # a plain float keeps the float type of Q
    left_out = trial.b.takes - trial.a.takes - {"window"}
    if trial.given.causal and word(trial.a.beside) == "mask dropped":
        left_out |= {"bias"} & trial.b.takes
    for name in trial.given.parts.used:  # one may hide what another changes
        if name in left_out:
            yield f"{name} = None"
    if "scale" in seen and "scale" not in trial.b.takes:
        yield f"Q = Q * scale{'' if trial.b.default_scale == '1' else f' * {root}'}"
    elif "scale_zero" in seen:
        yield "Q = 0 * Q" if word(trial.b.scale_zero) == "not given" else "scale = None"
    elif "default_scale" in seen:
        if "scale" in trial.b.takes:
            yield f"scale = {'1.0' if trial.a.default_scale == '1' else f'1 / {root}'}"
        else:
            yield f"Q = Q {'*' if trial.a.default_scale == '1' else '/'} {root}"


def _for_each_head(trial: _Trial) -> str:
    """Return the line that gives each head of queries its keys and values, in the order of A."""
    times = "(Q.shape[-3] // M.shape[-3])"
    if word(trial.a.group_order) == "tiled":
        return f"K, V = (np.concatenate([M] * {times}, axis=-3) for M in (K, V))"
    return f"K, V = (np.repeat(M, {times}, axis=-3) for M in (K, V))"


def _mask(trial: _Trial, seen: set[str]) -> list[str]:
    """Return what is done to the mask."""
    a_hides, b_hides = (side.true_means == "hide" for side in (trial.a, trial.b))
    parts = _looks(trial)
    by_hand = trial.given.parts.window is not None and "window" not in trial.b.takes
    if parts is not None and (by_hand or {"causal", "beside"} & seen):
        joined = " & ".join(parts)
        lines = [f"mask = {f'~({joined})' if b_hides and joined else joined or 'None'}"]
        lines += ["causal = False"] if trial.given.causal else []
        return lines + (["window = None"] if trial.given.parts.window is not None else [])
    turned = trial.given.mask is not None and a_hides != b_hides
    return ["mask = ~mask"] if turned else []


def _looks(trial: _Trial) -> list[str] | None:
    """Return what a key that is seen in A passes, as arrays; None where its corner is no triangle.

    True is "may look".
    """
    a, given = trial.a, trial.given
    mask, causal = given.mask is not None, given.causal
    by_hand = given.parts.window is not None and "window" not in a.takes
    if mask and causal and not by_hand:
        mask, causal = word(a.beside) != "mask dropped", word(a.beside) != "switch dropped"
    if a.lone_query_sees_all and given.mask is None and given.shape[-2] == 1:
        causal = False
    past = ", K.shape[-2] - Q.shape[-2]" if a.from_the_end else ""
    sizes = f"Q.shape[-2], K.shape[-2]{past}"
    if causal and a.corner not in ("upper left", "the caller's mask", "lower right"):
        return None
    band = f"~np.tri(Q.shape[-2], K.shape[-2], -window{past and ' + K.shape[-2] - Q.shape[-2]'}"
    looks = [f"np.tri({sizes}, dtype=bool)"] if causal or given.parts.window is not None else []
    looks += [f"{band}, dtype=bool)"] if given.parts.window is not None else []
    if by_hand and a.true_means == "hide":  # the array holds all of it, and is read as hidden
        return [f"~({' & '.join((['mask'] if mask else []) + looks)})"]
    return [*(["~mask" if a.true_means == "hide" else "mask"] if mask else []), *looks]


def _fill(trial: _Trial) -> str:
    """Return what A gives a row that sees no key; "" where no word says it."""
    fills = {ZERO: "0", NAN: "np.nan", EVEN: "V.mean(axis=-2, keepdims=True)"}
    return fills.get(trial.kept, "")


def _seeing(trial: _Trial, looks: list[str]) -> str:
    """Return the line that says which queries see a key, by the mask and the bias as A has them."""
    added = trial.given.parts.bias is not None and "bias" in trial.a.takes & trial.b.takes
    bias = [f"(bias > {HIDES_BY:g})"] if added else []
    joined = " & ".join(looks + bias)
    return f"seen = {joined if joined == 'mask' else f'({joined})'}.any(axis=-1, keepdims=True)"


# ---- words ---------------------------------------------------------------------------------------

ZERO, NAN, EVEN, AS_IF, OTHER = (
    "weights of 0",
    "NaN",
    "equal weights",
    "weights as if nothing were hidden",
    "other weights",
)


def _kept(kept: np.ndarray, unmasked: np.ndarray) -> str:
    """Return what is in rows that see no key, (rows, n_k), beside those without a mask."""
    if np.isnan(kept).any(axis=-1).all():
        return NAN
    if not kept.any():
        return ZERO
    if np.allclose(kept, 1 / kept.shape[-1], atol=1e-3):
        return EVEN
    return AS_IF if np.allclose(kept, unmasked, atol=1e-3) else OTHER


def _not_refused(beside: str) -> str:
    """Return how a mask is read beside the look-ahead by a library that was not asked for both."""
    return beside if word(beside).endswith("dropped") else "both"


def _aligned(corner: str) -> str:
    return "upper left" if corner == "the caller's mask" else corner


def _order(order: str) -> str:
    return "in turn (0, 1, 0, 1)" if word(order) == "tiled" else "as neighbours (0, 0, 1, 1)"


def _listed(indices: np.ndarray, rows: Sequence[str] | None) -> str:
    labels = [str(i + 1) if rows is None else rows[i] for i in indices]
    those = in_words(labels, 4 if len(labels) == 4 else 3)  # no "and 1 more"
    return f"Row {those} sees" if len(labels) == 1 else f"Rows {those} see"


# ---- numbers -------------------------------------------------------------------------------------


def _weights(answer: Answer) -> np.ndarray:
    if answer.weights is None:
        raise ValueError("an answer that was refused has no weights.")
    return answer.weights


def _output(answer: Answer) -> np.ndarray:
    if answer.output is None:
        raise ValueError("an answer that was refused has no output.")
    return answer.output


def _rows_apart(one: Answer, other: Answer, near: float = 0.0) -> np.ndarray:
    """Return the rows whose weights or outputs differ by more than rounding, (…, n_q)."""
    pairs = ((_weights(one), _weights(other)), (_output(one), _output(other)))
    apart = [np.asarray(~_close(x, y, near).all(axis=-1)) for x, y in pairs]
    return apart[0] | apart[1]


def _close(one: np.ndarray, other: np.ndarray, near: float = 0.0) -> np.ndarray:
    """Return where two arrays are equal but for rounding: of their narrower float type, or
    ``near`` of the largest.
    """
    double = one.dtype == other.dtype == np.float64
    size = max(np.abs(M[np.isfinite(M)]).max(initial=1) for M in (one, other))
    near = (near or (FLOAT64 if double else FLOAT32)) * float(size)
    return np.isclose(one.astype(float), other.astype(float), rtol=0, atol=near, equal_nan=True)


def _same(one: Answer, other: Answer) -> bool:
    return not _rows_apart(one, other).any()


def digits_alike(move: Move) -> int:
    """Return to how many decimal digits the weights and outputs of both agree, at most 16.

    >>> digits_alike(moved("ours", "torch_sdpa", [[1.0]], [[1.0]], [[1.0]]))
    16
    """
    pairs = ((_weights(move.a), _weights(move.b)), (_output(move.a), _output(move.b)))
    error = max(furthest(one, other) / max(largest_finite(one), 1) for one, other in pairs)
    most = 16 if _output(move.a).dtype == _output(move.b).dtype == np.float64 else 7
    return most if error == 0 else max(0, min(most, math.floor(-math.log10(min(error, 1)))))
