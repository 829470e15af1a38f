"""All heads of a capture at a glance: how sharp, how far, and how near to the model's own output.

And the words that stand at a call's queries and keys, where these are known.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from attention.limits import MAX_DIAGNOSED, MAX_TOKEN_LENGTH, BadInput
from attention.models.taken import Call, Taken
from attention.models.verify import Verification, Verified, verified_call
from attention.statistics import entropy
from attention.trace import AttentionTrace

DIAGNOSED = 2  # calls that do not agree and are searched for mistakes, which takes seconds
Measures = dict[str, float | None]  # by name; None where one says nothing of a head


@dataclass(frozen=True)
class Measure:
    """One number of each head, by which heads are sorted."""

    label: str
    sentence: str
    largest_first: bool
    of: Callable[[Taken, Call, AttentionTrace], float | None]


def _entropy(taken: Taken, call: Call, trace: AttentionTrace) -> float | None:
    seeing = trace.allowed.any(axis=-1)
    return float(entropy(trace.weights)[seeing].mean()) if seeing.any() else None


def _first(taken: Taken, call: Call, trace: AttentionTrace) -> float | None:
    return float(trace.weights[:, 0].mean()) if call.first_key == 0 else None


def _distance(taken: Taken, call: Call, trace: AttentionTrace) -> float | None:
    past, (n_q, n_k) = past_of(taken, call), trace.weights.shape
    total = trace.weights.sum()
    if past is None or not total > 0:
        return None
    apart = np.abs(np.arange(n_q)[:, None] + past - np.arange(n_k))
    return float((trace.weights * apart).sum() / total)


def _to_come(taken: Taken, call: Call, trace: AttentionTrace) -> float | None:
    """What the verification says."""
    return None


MEASURES = {
    "entropy": Measure(
        "entropy",
        "Mean entropy of the rows in nats: 0 where each query looks at one key.",
        False,
        _entropy,
    ),
    "first": Measure(
        "on the first",
        "Mean share that the queries give to the first token.",
        True,
        _first,
    ),
    "distance": Measure(
        "distance",
        "Mean |i − j| in tokens between query i and key j, weighted.",
        False,
        _distance,
    ),
    "difference": Measure(
        "difference",
        "Largest difference between the output here and the model’s own.",
        True,
        _to_come,
    ),
}


@dataclass(frozen=True)
class Head:
    """One head of one call and item, with its measures; None where one says nothing of it."""

    place: int  # of its call in the capture
    item: int
    head: int  # as recorded
    number: int  # as the model counts
    layer: int
    call: int
    agrees: bool
    share: float  # of what rounding explains
    measures: Measures


@dataclass(frozen=True, eq=False)
class Survey:
    """A capture with its proof, and all its heads in the order of the calls."""

    taken: Taken
    verification: Verification
    heads: tuple[Head, ...]

    @property
    def items(self) -> int:
        """How many sequences the largest call has."""
        return 1 + max(head.item for head in self.heads)


def survey(taken: Taken) -> Survey:
    """Verify and measure every head; one sentence where numbers are no attention's.

    >>> from attention.models.examples import load
    >>> found = survey(load("pronoun"))
    >>> len(found.heads), found.verification.agrees
    (30, True)
    >>> sharpest = min(found.heads, key=lambda head: head.measures["entropy"])
    >>> sharpest.layer, sharpest.number, round(sharpest.measures["distance"], 3)
    (0, 2, 0.933)
    """
    verified: list[Verified] = []
    heads: list[Head] = []
    try:
        with np.errstate(all="ignore"):
            for place, call in enumerate(taken):
                found: dict[tuple[int, int], Measures] = {}
                wrong = sum(not each.agrees for each in verified)
                small = call.Q.shape[2] * call.K.shape[2] <= MAX_DIAGNOSED
                seen = partial(_measure, taken, call, found)
                one = verified_call(call, small and wrong < DIAGNOSED, seen)
                verified.append(one)
                heads += [_head(place, one, at, said) for at, said in found.items()]
    except ValueError as problem:
        raise BadInput(f"this capture holds what no attention computes: {problem}") from None
    return Survey(taken, Verification(taken.model, tuple(verified)), tuple(heads))


def _measure(
    taken: Taken,
    call: Call,
    found: dict[tuple[int, int], Measures],
    item: int,
    head: int,
    trace: AttentionTrace,
) -> None:
    found[item, head] = {name: each.of(taken, call, trace) for name, each in MEASURES.items()}


def _head(place: int, one: Verified, at: tuple[int, int], measures: Measures) -> Head:
    call, (item, head) = one.call, at
    said = measures | {"difference": float(one.differences[at])}
    finite = {n: v if v is None or np.isfinite(v) else None for n, v in said.items()}
    number, share = call.heads[head] if call.heads else head, float(one.shares[at])
    return Head(place, item, head, number, call.layer, call.call, share <= 1, share, finite)


# ---- places and words ---------------------------------------------------------------------------


def past_of(taken: Taken, call: Call) -> int | None:
    """Where the first query stands among the keys, if both are of one sequence; else None.

    A mask that lets each query see one key more than the one before says it; so do as many keys as
    queries, and keys that grow in number from call to call, as with a cache.
    """
    n_q, n_k = call.Q.shape[2], call.K.shape[2]
    earlier = [each for each in taken if each.layer == call.layer and each.call < call.call]
    last = _last_seen(call)
    if last is not None and n_q > 1 and _rises(last):
        return int(last[0])
    if last is not None and n_q == 1 and any(_is_causal(each) for each in earlier):
        return int(last[0])
    whole_q, whole_k = call.all_queries or n_q, call.all_keys or n_k
    grows = any((each.all_keys or each.K.shape[2]) < whole_k for each in earlier)
    if whole_q == whole_k or grows:
        return whole_k - whole_q + call.first_query - call.first_key
    return None


def _is_causal(call: Call) -> bool:
    last = _last_seen(call)
    return last is not None and len(last) > 1 and _rises(last)


def _last_seen(call: Call) -> np.ndarray | None:
    """(n_q,), the last key that each query may see in any item and head; None without a mask."""
    if call.allowed is None or call.allowed.shape[3] == 1:
        return None
    n_q, n_k = call.Q.shape[2], call.K.shape[2]
    seen = np.broadcast_to(call.allowed.any(axis=(0, 1)), (n_q, n_k))
    return np.where(seen.any(axis=1), n_k - 1 - seen[:, ::-1].argmax(axis=1), -1)


def _rises(last: np.ndarray) -> bool:
    steps = last - np.arange(len(last))
    return bool((steps == steps[0]).all() and steps[0] >= 0)


def words_of(taken: Taken, call: Call, item: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words at the recorded queries and keys of an item; where unknown, names that count.

    >>> from attention.models.examples import load
    >>> words_of(load("verbs"), load("verbs")[0], 1)[0][:4]
    ('[CLS]', 'the', 'cats', 'on')
    """
    tokens = taken.tokens
    if tokens and not isinstance(tokens[0], str):
        tokens = tokens[item] if item < len(tokens) else []
    words = tuple(map(plain_word, tokens))
    n_q, n_k = call.Q.shape[2], call.K.shape[2]
    past = past_of(taken, call)
    if past is not None:
        places = (call.first_key + past, n_q), (call.first_key, n_k)
        queries, keys = (
            tuple(
                words[k] if 0 <= k < len(words) else f"w{k + 1}"
                for k in range(first, first + count)
            )
            for first, count in places
        )
        return queries, keys
    whole = (call.all_queries or n_q, call.all_keys or n_k)
    queries, keys = (
        words[start : start + count] if len(words) == of else ()
        for start, count, of in zip(
            (call.first_query, call.first_key), (n_q, n_k), whole, strict=True
        )
    )
    return (
        queries or tuple(f"q{call.first_query + k}" for k in range(1, n_q + 1)),
        keys or tuple(f"k{call.first_key + k}" for k in range(1, n_k + 1)),
    )


def plain_word(token: str) -> str:
    r"""A token as a page can show it: no line break, not empty, not too long.

    >>> plain_word("\n"), plain_word("  "), plain_word("Ġthe")
    ('\\n', '␣␣', 'Ġthe')
    """
    odd = any(unicodedata.category(c) in ("Cc", "Cs") for c in token)
    word = repr(token)[1:-1] if odd else token
    word = word if word.strip() else "␣" * max(len(word), 1)
    return word if len(word) <= MAX_TOKEN_LENGTH else f"{word[: MAX_TOKEN_LENGTH - 1]}…"
