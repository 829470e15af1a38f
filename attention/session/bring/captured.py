"""One head of a real model's capture as settings: typed Q, K and V, with its mask and scale."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from attention.core.biases import relative_buckets
from attention.core.masks import MASKS
from attention.explain.view import distinct
from attention.limits import MAX_SIDE, MAX_TOKENS, BadInput
from attention.models.kinds import stack_of
from attention.models.labels import past_of, sides_of, words_of
from attention.models.survey import Survey, survey
from attention.models.taken import Call, Taken, one
from attention.session.bring.finished import of_head
from attention.session.state.examples import OWN
from attention.session.state.matrix import Matrix
from attention.session.state.origin import Origin
from attention.session.state.run import run
from attention.session.state.settings import (
    COMPARED,
    DRAWN,
    EXERCISE,
    GUIDED,
    LONG,
    MOVE,
    OPENED,
    PRINTED,
    SAMPLING,
    Settings,
    alone,
    as_drawn,
    seen_alike,
)
from attention.session.state.validate import check
from attention.vocabulary.numbers import number

# of the settings, beside the numbers that come
T = TypeVar("T")
ARRIVED = "captured"  # a value of the page: the head that came last, and what is said of it
MOST_WORDS = 60  # of a sequence that are said
MOST_SEQUENCES = 8  # of stacks, kinds and runs, whose words are said
BIAS = "bias that is set for each score"
KEPT = ("digits", *SAMPLING, *PRINTED, *COMPARED, *GUIDED, *EXERCISE, *LONG, *OPENED, *MOVE)


# tokens that are no words, as tokenizers write them: [CLS], <s>, <|endoftext|>
SPECIAL = re.compile(r"\[[A-Z]+\d*\]|<[^<>]*>")


def with_head(s: Settings, taken: Taken, call: Call, item: int, head: int) -> Settings:
    """The settings with this head on the board; ``head`` counts those that were recorded.

    Nothing of the attention before is left.
    What is left of the model that settings cannot hold stands first on Explore, with what it does.

    >>> from attention.models.examples import load
    >>> from attention.session.state.examples import EXAMPLES
    >>> taken = load("pronoun")
    >>> s = with_head(EXAMPLES["cat-sat"].build(), taken, taken[3], 0, 0)
    >>> s.tokens[9], s.matrices["Q"].origin.source.partition(", ")[2]
    ('it', 'layer 3 (encoder, encoder.layer.3.attention.self), head 1')
    """
    trace = call.trace(item, head)
    place = taken.place(call, item, head)
    tokens, keys = words_of(taken, call, item)
    past = past_of(taken, call)
    if past is not None and len(tokens) < len(keys):  # a repeated word is called as its key is
        here = slice(past, past + len(tokens))
        tokens = distinct(keys)[here] if keys[here] == tokens else tokens
    kept = {name: getattr(s, name) for name in KEPT}
    own = () if keys == tokens else keys
    if call.weights is not None:
        query = sharpest(trace.weights, trace.allowed, tokens, keys)
        s = Settings(OWN, tokens, {}, query=query, **kept)
        return check(of_head(s, np.asarray(trace.weights), trace.allowed, place, tokens, own))
    brought = {"Q": trace.Q, "K": trace.K, "V": trace.V}
    root = 1 / math.sqrt(trace.Q.shape[1])
    mask, drawn = _named_mask(trace.allowed)
    table, bidirectional, max_distance = by_distance(one(call.bias, item, head), trace.allowed)
    if table is not None:
        brought["R"] = table
    s = Settings(
        OWN,
        tokens,
        {name: Matrix(M, origin=Origin.of_head(place, M)) for name, M in brought.items()},
        memory_tokens=own,
        scale=None if math.isclose(call.scale, root, rel_tol=1e-12) else call.scale,
        mask=mask,
        drawn=drawn,
        drawn_from=Origin.of_head(place, np.array(drawn)) if drawn else None,
        query=sharpest(trace.weights, trace.allowed, tokens, keys),
        softcap=call.softcap,
        bidirectional=bidirectional,
        max_distance=max_distance,
        sinks=() if call.sinks is None else (float(call.sinks[head]),),
        **kept,
    )
    s = check(s)
    if call.bias is None or table is not None:
        return s
    apart = float(np.abs(run(s).weights - trace.weights).max(initial=0))
    behind = (
        f"Explore has no {BIAS}, which this layer of the model has: without it, the weights"
        f" here differ from the model’s by up to {number(apart, 2)}."
    )
    said = {
        name: replace(matrix, origin=Origin.of_head(place, matrix.values, behind))
        for name, matrix in s.matrices.items()
    }
    return replace(s, matrices=said)


def sharpest(
    weights: np.ndarray, allowed: np.ndarray, tokens: Sequence[str], keys: Sequence[str]
) -> int:
    """Return the query with the largest weight on a word, of words that see several keys.

    A row that puts its weight on [CLS] says little of the sentence.

    Parameters
    ----------
    weights, allowed : (n_q, n_k)
    tokens, keys : n_q and n_k labels; [CLS], <s> and the like are no words

    >>> weights = np.array([[1.0, 0.0, 0.0], [0.3, 0.1, 0.6], [0.9, 0.1, 0.0]])
    >>> sharpest(weights, weights >= 0, *2 * [["[CLS]", "cat", "sat"]])
    1
    """
    special, of_key = (
        np.array([bool(SPECIAL.fullmatch(token)) for token in labels], bool)
        for labels in (tokens, keys)
    )
    largest = np.nan_to_num(np.where(of_key, 0, weights).max(axis=1, initial=0))
    sees_one = allowed.sum(axis=1) < 2
    return int(np.lexsort((-largest, sees_one, special))[0])  # by the last key first


def arrival(s: Settings, arrived: tuple[Settings, T] | None) -> T | None:
    """Return what was said of the head that came last, while it is still shown; else None.

    What is looked at may be another, and another state beside it.
    """
    if arrived is None:
        return None
    then, said = arrived
    return said if seen_alike(alone(s), alone(then)) else None


def by_distance(
    bias: np.ndarray | None, allowed: np.ndarray
) -> tuple[np.ndarray | None, bool, int]:
    """The bias of one head as a table, (buckets, 1), where it goes by distance alone, as T5's does;
    whether keys ahead have rows of their own, and the furthest distance.

    Where T5's usual buckets do not give it, each distance has one. Hidden places say nothing; a
    bucket that nobody reads is 0.
    """
    seen = None if bias is None else np.broadcast_to(bias, allowed.shape)[allowed]
    each = 4 * max(allowed.shape)  # so many that all distances are near
    for buckets, furthest in ((32, 128), (each, each)):
        for both in (False, True):
            if seen is None or buckets > MAX_SIDE:
                continue
            rows = _bucket_rows(*allowed.shape, buckets, both, furthest)[allowed]
            table = np.zeros(buckets)
            table[rows] = seen
            if np.array_equal(table[rows], seen):
                return table[:, None], both, furthest
    return None, True, Settings.max_distance


@lru_cache(16)  # a capture's layers are alike
def _bucket_rows(n_q: int, n_k: int, buckets: int, both: bool, furthest: int) -> np.ndarray:
    return relative_buckets(n_q, n_k, buckets, bidirectional=both, max_distance=furthest)


def is_long(call: Call) -> bool:
    """Check whether its heads have more tokens than Explore shows, and so open on Long context."""
    return max(call.Q.shape[2], call.K.shape[2]) > MAX_TOKENS


def left_behind(call: Call) -> list[str]:
    """What of a call that opens on Explore the settings cannot hold, in words."""
    if call.bias is None or is_long(call):
        return []
    heads = range(call.Q.shape[1]) if call.bias.shape[1] > 1 else [0]
    allowed = np.ones((call.Q.shape[2], call.K.shape[2]), bool)
    for head in heads:
        seen = allowed if call.allowed is None else allowed & one(call.allowed, 0, head)
        if by_distance(one(call.bias, 0, head), seen)[0] is None:
            return [BIAS]
    return []


def has_steps(taken: Taken) -> bool:
    """Check whether a generation is there, with a call for each of its steps."""
    return any(call.repeat == "step" for call in taken)


def with_whole_answers(taken: Taken) -> Taken:
    """Return a capture in which each generation of a layer is one call, as ``Taken.joined`` has it.

    Words lose the last one of an answer, which was never fed.
    """
    calls, ends = list[Call](), set[int]()
    for (layer, of_run), own in _by_run(taken).items():
        if any(call.repeat == "step" for call in own):
            own = [taken.joined(layer, run=of_run)]
            ends.add((own[0].query_position or 0) + own[0].Q.shape[2])
        calls += own

    def cut(words: list) -> list:
        if words and isinstance(words[0], list):
            return [cut(each) for each in words]
        return words[:-1] if len(words) - 1 in ends and len(words) not in ends else words

    tokens = taken.tokens
    if isinstance(tokens, dict):
        return replace(taken, calls=calls, tokens={part: cut(tokens[part]) for part in tokens})
    return replace(taken, calls=calls, tokens=cut(tokens))


def joined_survey(found: Survey) -> Survey | str:
    """Return the survey of generations as one map each, made once; or why they cannot be joined."""
    if found not in _JOINED:
        try:
            _JOINED[found] = survey(with_whole_answers(found.taken))
        except BadInput as problem:
            _JOINED[found] = str(problem)
    return _JOINED[found]


_JOINED: WeakKeyDictionary[Survey, Survey | str] = WeakKeyDictionary()


def item_name(found: Survey, item: int) -> str:
    """Return the number of an item, and the words of its first sequence where they are known.

    Each is found once: of 4,096 items that takes a second, and the menu asks for all at each run.
    """
    names = _ITEM_NAMES.setdefault(found, {})
    if item not in names:
        words = next(iter(sequences(found.taken, item).values()), None)
        names[item] = f"{item}: {' '.join(words[:MOST_WORDS])}" if words else f"{item}"
    return names[item]


_ITEM_NAMES: WeakKeyDictionary[Survey, dict[int, str]] = WeakKeyDictionary()


def _by_run(taken: Taken) -> dict[tuple[int, int], list[Call]]:
    """The calls of each layer and run, in their order."""
    found: dict[tuple[int, int], list[Call]] = {}
    for call in taken:
        found.setdefault((call.layer, call.run), []).append(call)
    return found


def called(call: Call, item: int | None = None, head: int | None = None) -> str:
    """Return the name of a call, of an item of it, or of one of its recorded heads.

    Layers, heads and items are counted from 0, heads as the model does.

    >>> from attention.models.examples import load
    >>> called(load("verbs")[3], 1, 0)
    'layer 3 (encoder, encoder.layer.3.attention.self), head 1, item 1 of 0–1'
    """
    heads = [] if head is None else [call.number_of(head)]
    return call.place(item).words(*heads)


def sequences(taken: Taken, item: int) -> dict[str, list[str]]:
    """Return the words of each sequence of an item that tokens were given for.

    They are by the part of the modules' names that tokens have, "" for a plain list; of each
    sequence one module's calls are read. Where words in between were not captured there is a "…".
    Patches, and words of which it is not known whose they are, are left out.

    >>> from attention.models.examples import load
    >>> sequences(load("verbs"), 1)[""][:4]
    ['[CLS]', 'the', 'cats', 'on']
    """
    tokens = taken.tokens
    of_one_module: dict[tuple[str, str, int], list[Call]] = {}
    for call in taken if tokens else ():
        if item < len(call.Q):
            calls = of_one_module.setdefault((call.kind, stack_of(call.module), call.run), [])
            if not calls or call.module == calls[0].module:
                calls.append(call)
    # with a cache the last call has all keys, so that no other one is read
    ordered = [
        call
        for calls in islice(of_one_module.values(), MOST_SEQUENCES)
        for call in (calls[0], *reversed(calls[1:]))
    ]
    sides = [(side, call, k) for call in ordered for k, side in enumerate(sides_of(taken, call))]
    sides = [each for each in sides if not each[0].names]
    stacks = {side.stack for side, _, _ in sides} | set(taken.stacks)
    if isinstance(tokens, list) and len(stacks) > 1:
        return {}
    placed: dict[str, dict[int, str]] = {}
    for side, call, k in sorted(sides, key=lambda each: each[0].position is None):
        part = side.part(tokens) if isinstance(tokens, dict) else ""
        if part is None or (side.position is None and part in placed):
            continue
        words, start = placed.setdefault(part, {}), side.position or 0
        if any(place not in words for place in range(start, start + side.count)):
            words.update(enumerate(words_of(taken, call, item)[k], start))
    return {part: _in_order(words) for part, words in placed.items()}


def _in_order(words: dict[int, str]) -> list[str]:
    """Words by their places, with a "…" where some are missing."""
    found, expected = list[str](), min(0, *words)
    for place in sorted(words):
        if place != expected:
            found.append("…")
        found.append(words[place])
        expected = place + 1
    return found


def times(share: float) -> str:
    """Return how many times as much there could be, in words, by the share of it that there is.

    >>> times(0.001), times(0.048), times(0.4), times(1.0)
    ('over 100 times', '20 times', '2.5 times', 'just')
    """
    if share < 0.01:
        return "over 100 times"
    least = math.floor(10 / share) / 10  # no more than is true
    if least >= 10:
        return f"{math.floor(least)} times"
    return f"{least:g} times" if least > 1 else "just"


def _named_mask(allowed: np.ndarray) -> tuple[str, tuple[tuple[bool, ...], ...]]:
    """Its name where it has one, else its cells."""
    for name, choice in MASKS.items():
        if np.array_equal(choice(*allowed.shape), allowed):
            return name, ()
    return DRAWN, as_drawn(allowed)
