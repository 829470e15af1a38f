"""The strip above the board: where the chosen word looks, in one sentence and word by word.

Every claim of the sentence is one of the numbers: "mostly" is more than half of the weight, and
clearly more than equal shares; "about equally" is a difference of at most a tenth; words that get
the same are named together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attention.core.scores import share_of_sink
from attention.explain.view import View
from attention.vocabulary.numbers import number, percent
from attention.vocabulary.sentences import Words, called, capital, joints, plural, repeated

HALF = 0.5  # of the weight: more is "mostly"
MORE = 1.2  # and more than so many times what equal shares would give
NEARLY_ALL = 0.9  # "almost only"
ABOUT = 1.1  # the largest weight over the smallest, up to which they are about equal
NAMED = 3  # words of one weight that are named; more are counted
SECOND = 0.08  # a second word with less is not named
APART = 0.01  # nor one with so little more than the third
ALSO = 0.1  # a share of the sink that is named
HIDDEN = "–"
COUNTS = dict(enumerate(("two", "three", "four", "five", "six", "seven", "eight", "nine"), 2))


@dataclass(frozen=True)
class Strip:
    """The keys that the chosen query looks at.

    ``shares`` and ``shades`` have one entry for each key: the weight as text, "–" where the key is
    hidden, and how strongly the word is shaded, from −1 to 1.
    """

    sentence: tuple[Words, ...]
    query: int
    queries: tuple[str, ...]  # labels, words that repeat numbered
    keys: tuple[str, ...]  # empty where they are the queries
    shares: tuple[str, ...]
    shades: tuple[float, ...]
    compares: bool = False  # whether the shares are those of A and of B


def strip_of(view: View, query: int, digits: int = 2) -> Strip:
    """Return the strip of a query; its weights must be among the stages of ``view``.

    Parameters
    ----------
    view : View
    query : the row of the weights, counted from 0
    digits : decimals of weights that are not shares of 1

    >>> from attention import self_attention
    >>> trace = self_attention([[2, 0], [0, 1]], np.eye(2), np.eye(2), np.eye(2), scale=1)
    >>> strip = strip_of(View.of(trace, tokens=("cat", "sat")), 0)
    >>> "".join(text for text, _ in strip.sentence), strip.shares
    ('“cat” looks almost only at itself (98%).', ('98%', '2%'))
    """
    row = _WeightRow(view, query, digits)
    labels = view.labels
    return Strip(
        tuple(_joined(_said(row))),
        query,
        tuple(labels["queries"]),
        tuple(labels["keys"]) if view.crossed else (),
        row.shares,
        tuple(np.round(row.shades, 4).tolist()),
    )


def asking(found: Strip, is_unknown: Sequence[bool]) -> Strip:
    """Return the strip as a question, where some of its weights are not to be seen yet.

    >>> said = (("“cat” looks only at itself (100%).", ""),)
    >>> asked = asking(Strip(said, 0, ("cat",), (), ("100%",), (1.0,)), [True])
    >>> "".join(text for text, _ in asked.sentence), asked.shares
    ('Where does “cat” look most?', ('?',))
    """
    if not any(is_unknown):
        return found
    who = called(found.queries, found.query)
    return replace(
        found,
        sentence=(("Where does ", ""), (who, "query"), (" look most?", "")),
        shares=tuple(
            "?" if u else share for share, u in zip(found.shares, is_unknown, strict=True)
        ),
        # of all: they may be relative to a weight that is unknown
        shades=(0.0,) * len(found.shades),
    )


def strip_of_pair(a: View, b: View, query: int, digits: int = 2) -> Strip:
    """Return the strip of a query of ``b``, with what the same word looks at in ``a``.

    Shares are “47→69%” in A and in B, “69%” if both are written the same, and “→69%” in B alone.

    >>> from attention import self_attention
    >>> X, I = [[2, 0], [0, 1]], np.eye(2)
    >>> traces = [self_attention(X, I, I, I, scale=scale) for scale in (0.5, 1)]
    >>> strip = strip_of_pair(*[View.of(trace, tokens=("cat", "sat")) for trace in traces], 0)
    >>> "".join(text for text, _ in strip.sentence)
    'In B, “cat” looks almost only at itself (98%). In A, it gives itself 88%.'
    >>> strip.shares
    ('88→98%', '12→2%')
    """
    found, row = strip_of(b, query, digits), _WeightRow(b, query, digits)
    same = a.query_called(b.labels["queries"][query])
    other = None if same is None else _WeightRow(a, same, digits)
    is_alike = other is not None and other.is_shares == row.is_shares
    at = {label: j for j, label in enumerate(a.labels["keys"])} if is_alike else {}
    places = [at.get(label) for label in b.labels["keys"]]
    known = other.shares if other is not None else ()
    shares = tuple(
        _from_to("" if j is None else known[j], share)
        for share, j in zip(found.shares, places, strict=True)
    )
    said = _of(row)
    if other is None:
        said = [(_where(row, "B"), ""), *said, (" A does not have ", ""), row.who, (".", "")]
    elif _of(other) == said and _where(other) == _where(row):
        said = [(_where(row, "A and B"), ""), *said]
    else:
        top = _ties(row) if row.seen else []
        leads = places[top[0]] if len(top) == 1 and row.key(top[0]) in said else None
        said = [(_where(row, "B"), ""), *said, (f" {_where(other, 'A')}", "")]
        said += _again(other, leads)
    return replace(found, sentence=tuple(_joined(said)), shares=shares, compares=True)


def _from_to(before: str, after: str) -> str:
    if before == after:
        return after
    both_percent = before.endswith("%") and after.endswith("%")
    return f"{before.removesuffix('%') if both_percent else before}→{after}"


def strongest(view: View, query: int) -> int:
    """Return the key that weighs most for a query, of those that are not hidden."""
    weights = np.nan_to_num(view.stages["weights"][query])
    return int(np.where(view.allowed[query], weights, -np.inf).argmax())


@dataclass(frozen=True, eq=False)
class _WeightRow:
    """The weights of one query."""

    view: View
    i: int
    digits: int

    @cached_property
    def weights(self) -> np.ndarray:
        return self.view.printed("weights")[self.i].astype(np.float64, copy=False)

    @property
    def is_shares(self) -> bool:
        return self.view.softmax is True

    @cached_property
    def shades(self) -> np.ndarray:
        found = np.nan_to_num(self.weights, nan=0.0, posinf=1.0, neginf=-1.0)
        most = np.abs(found).max(initial=0)
        return found if most <= 1 else found / most

    @cached_property
    def seen(self) -> list[int]:
        """Return the keys that are not hidden, the largest weight first."""
        there = np.flatnonzero(self.view.allowed[self.i])
        return there[np.argsort(-self.weights[there], kind="stable")].tolist()

    @property
    def shares(self) -> tuple[str, ...]:
        there = self.view.allowed[self.i]
        return tuple(self.text(j) if there[j] else HIDDEN for j in range(len(self.weights)))

    def text(self, j: int) -> str:
        weight = float(self.weights[j])
        return percent(weight) if self.is_shares else number(weight, self.digits)

    @cached_property
    def to_sink(self) -> float:
        """Return the share of the sink; 0 without one."""
        if self.view.sink is None:
            return 0.0
        masked = self.view.stages["masked"][self.i]
        return float(share_of_sink(masked[None], np.array(self.view.sink))[0])

    @cached_property
    def own(self) -> int | None:
        """Return the index of the query among the keys, also if only the last queries are here."""
        who, keys = self.view.labels["queries"][self.i], self.view.labels["keys"]
        return None if self.view.crossed or who not in keys else keys.index(who)

    @property
    def who(self) -> Words:
        return called(self.view.labels["queries"], self.i), "query"

    def key(self, j: int) -> Words:
        if j == self.own:
            return "itself", "key"
        return called(self.view.labels["keys"], j), "key"

    def listed(self, keys: Sequence[int]) -> list[Words]:
        """List the keys; if they are all occurrences of one word, name it once."""
        names = [repeated(self.view.labels["keys"], j)[0] for j in keys]  # at most NAMED
        is_one = len(keys) > 1 and len(set(names)) == 1 and self.own not in keys
        if is_one and self._occurrences(names[0]) == len(keys):
            both = "both" if len(keys) == 2 else f"all {self.counted(len(keys))}"
            return [(f"{both} “{names[0]}”", "key")]
        listed: list[Words] = []
        for between, j in zip(joints(len(keys)), keys, strict=True):
            listed += [(between, ""), self.key(j)]
        return listed

    def _occurrences(self, word: str) -> int:
        labels = self.view.labels["keys"]
        return sum(label == word or label.startswith(f"{word} (") for label in labels)

    @staticmethod
    def counted(count: int) -> str:
        return COUNTS.get(count, f"{count:,}")

    @property
    def words(self) -> str:
        return "keys" if self.view.crossed else "words"

    @property
    def end(self) -> list[Words]:
        """Return the end of the sentence, with the share that goes to the sink."""
        if self.to_sink < ALSO:
            return [(".", "")]
        return [(f"; {percent(self.to_sink)} goes to the sink.", "")]


def _said(row: _WeightRow) -> list[Words]:
    """Return the sentence in parts, with the head first if there are several."""
    said = _of(row)
    if row.view.heads == 1:
        (first, kind), *others = said
        return [(capital(first), kind), *others]
    return [(_where(row), ""), *said]


def _where(row: _WeightRow, side: str = "") -> str:
    """Name the head, if there are several, and the ``side`` of a comparison."""
    head = f"head {row.view.head_number}" if row.view.heads > 1 else ""
    return f"In {' of '.join(filter(None, (head, side)))}, "


def _again(row: _WeightRow, leads: int | None) -> list[Words]:
    """Say what the same word looks at in A; only the weight if ``leads`` is first in both."""
    is_brief = leads is not None and leads in row.seen and np.isfinite(row.weights[row.seen]).all()
    if is_brief and leads in _ties(row) and row.to_sink <= row.weights[leads]:
        return [("it gives ", ""), row.key(leads), (f" {row.text(leads)}.", "")]
    return [("it", ""), *_of(row)[1:]]


def _of(row: _WeightRow) -> list[Words]:
    """Return the first sentence that is true."""
    is_blind = row.is_shares and row.view.sink is None and not row.weights[row.seen].any()
    if not row.seen or is_blind:
        rest = "weights are" if "output" not in row.view.stages else "weights and output are"
        return [row.who, (f" sees no key, so its {rest} 0.", "")]
    if not np.isfinite(row.weights[row.seen]).all():
        return [row.who, (" has weights that are not numbers.", "")]
    if len(row.seen) == 1:
        return _one_key(row)
    if not row.is_shares:
        return _largest(row)
    return _shares(row)


def _one_key(row: _WeightRow) -> list[Words]:
    [j] = row.seen
    said: list[Words] = [row.who, (" can see only ", ""), row.key(j)]
    if not row.is_shares:
        return [*said, (f", which gets the weight {row.text(j)}.", "")]
    if row.to_sink:
        return [*said, (f" ({row.text(j)}); the sink gets {percent(row.to_sink)}.", "")]
    return [*said, (", so all the weight goes there.", "")]


def _largest(row: _WeightRow) -> list[Words]:
    """Say which weight is largest, where weights do not sum to 1."""
    first = row.text(row.seen[0])
    top = _ties(row)
    if len(top) == len(row.seen):
        return [row.who, (" gives ", ""), *_all(row), (f" the same weight, {first}.", "")]
    weight = plural(len(top), "weight")
    return [row.who, (" gives ", ""), *_names(row, top), (f" its largest {weight}, {first}.", "")]


def _shares(row: _WeightRow) -> list[Words]:
    weights = row.weights
    first, *others = row.seen
    share = float(weights[first])
    if share <= ABOUT * weights[row.seen[-1]]:
        equally = f" about equally ({_each(row)})"
        return [row.who, (" looks at ", ""), *_all(row), (equally, ""), *row.end]
    if row.to_sink > share:
        said = f" gives most to the sink ({percent(row.to_sink)}), then to "
        top = _ties(row)
        return [row.who, (said, ""), *_names(row, top), (f" ({_of_each(row, top)}).", "")]
    if not weights[others].any() and not row.to_sink:
        return [row.who, (" looks only at ", ""), row.key(first), (f" ({row.text(first)}).", "")]
    top = _ties(row)
    if len(top) > 1:
        return [row.who, *_most(row, top)]
    if share >= NEARLY_ALL:
        said = " looks almost only at "
        return [row.who, (said, ""), row.key(first), (f" ({row.text(first)})", ""), *row.end]
    second = others[0]
    third = float(weights[others[1]]) if len(others) > 1 else 0.0
    if weights[second] < SECOND or weights[second] - third < APART:
        return [row.who, *_most(row, [first])]
    return [row.who, *_most(row, [first], [second])]


def _most(row: _WeightRow, *groups: list[int]) -> list[Words]:
    """Say how much of the weight groups of words get, each of one weight."""
    named = [j for group in groups for j in group]
    share = float(row.weights[named].sum())
    verb = f" gives its largest {plural(len(named), 'weight')} to "
    if share > max(HALF, MORE * len(named) / len(row.seen)):
        verb = " looks mostly at "
    rest = [j for j in row.seen if j not in named]
    if not row.to_sink and not row.weights[rest].any():
        verb = " looks at "
    said: list[Words] = [(verb, "")]
    for between, group in zip(joints(len(groups)), groups, strict=True):
        said += [(between, ""), *_names(row, group), (f" ({_of_each(row, group)})", "")]
    return [*said, *row.end]


def _ties(row: _WeightRow) -> list[int]:
    """Return the keys with the largest weight: the same in print, and at most 1 % less."""
    first = row.seen[0]
    text, weight = row.text(first), row.weights[first]
    near = abs(weight) / 100
    tied = [j for j in row.seen if row.text(j) == text and weight - row.weights[j] <= near]
    return sorted(tied)


def _names(row: _WeightRow, keys: Sequence[int]) -> list[Words]:
    if len(keys) <= NAMED:
        return row.listed(keys)
    return [(f"{row.counted(len(keys))} {row.words}", "")]


def _of_each(row: _WeightRow, keys: Sequence[int]) -> str:
    return row.text(keys[0]) + (" each" if len(keys) > 1 else "")


def _each(row: _WeightRow) -> str:
    """Return the share of each key, if they are about equal."""
    most, least = row.text(row.seen[0]), row.text(row.seen[-1])
    return f"{most} each" if most == least else f"{least} to {most}"


def _all(row: _WeightRow) -> list[Words]:
    """Return all the words that the query can see."""
    count = len(row.seen)
    if count == 2:
        return row.listed(sorted(row.seen))
    seen = "" if count == len(row.weights) else " it can see"
    return [(f"all {row.counted(count)} {row.words}{seen}", "")]


def _joined(said: Sequence[Words]) -> list[Words]:
    """Join neighbouring parts that have no kind, and drop empty ones."""
    joined: list[Words] = []
    for text, kind in said:
        if joined and not kind and not joined[-1][1]:
            joined[-1] = joined[-1][0] + text, ""
        elif text:
            joined.append((text, kind))
    return joined
