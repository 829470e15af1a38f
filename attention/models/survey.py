"""All heads of a capture at a glance: how sharp, how far, and how near to the model's own output.

And the words that stand at a call's queries and keys, where these are known.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attention.limits import MAX_TOKEN_LENGTH, BadInput
from attention.models.taken import Call, Taken
from attention.models.verify import Verification, Verified, verify
from attention.statistics import entropy
from attention.trace import AttentionTrace

DIAGNOSED = 2  # calls that do not agree and are searched for mistakes, which takes seconds
MAX_DIAGNOSED = 2**16  # scores of a head that is


@dataclass(frozen=True)
class Measure:
    """One number of each head, by which heads are sorted."""

    label: str
    sentence: str
    largest_first: bool
    of: Callable[[Taken, Call, AttentionTrace, float], float | None]


def _entropy(taken: Taken, call: Call, trace: AttentionTrace, difference: float) -> float | None:
    seeing = trace.allowed.any(axis=-1)
    return float(entropy(trace.weights)[seeing].mean()) if seeing.any() else None


def _first(taken: Taken, call: Call, trace: AttentionTrace, difference: float) -> float | None:
    return float(trace.weights[:, 0].mean()) if call.first_key == 0 else None


def _distance(taken: Taken, call: Call, trace: AttentionTrace, difference: float) -> float | None:
    past, (n_q, n_k) = past_of(taken, call), trace.weights.shape
    total = trace.weights.sum()
    if past is None or not total > 0:
        return None
    apart = np.abs(np.arange(n_q)[:, None] + past - np.arange(n_k))
    return float((trace.weights * apart).sum() / total)


def _difference(taken: Taken, call: Call, trace: AttentionTrace, difference: float) -> float | None:
    return difference


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
        _difference,
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
    measures: dict[str, float | None]


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
    small = [call.Q.shape[2] * call.K.shape[2] <= MAX_DIAGNOSED for call in taken]
    try:
        with np.errstate(all="ignore"):
            verification = verify(taken, diagnoses=DIAGNOSED if all(small) else 0)
            heads = [
                _head(taken, place, one, *at)
                for place, one in enumerate(verification.calls)
                for at in np.ndindex(one.shares.shape)
            ]
    except ValueError as problem:
        raise BadInput(f"this capture holds what no attention computes: {problem}") from None
    return Survey(taken, verification, tuple(heads))


def _head(taken: Taken, place: int, one: Verified, item: int, head: int) -> Head:
    call = one.call
    difference, share = float(one.differences[item, head]), float(one.shares[item, head])
    trace = call.trace(item, head)
    found = {name: each.of(taken, call, trace, difference) for name, each in MEASURES.items()}
    finite = {
        name: value if value is None or np.isfinite(value) else None
        for name, value in found.items()
    }
    number = call.heads[head] if call.heads else head
    agrees = share <= 1
    return Head(place, item, head, number, call.layer, call.call, agrees, share, finite)


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
        first = call.first_key + past
        count = max(call.first_key + n_k, first + n_q)
        known = words + tuple(f"w{k}" for k in range(len(words) + 1, count + 1))
        return known[first : first + n_q], known[call.first_key : call.first_key + n_k]
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
