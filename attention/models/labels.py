"""The words at a call's queries and keys, and the places of both in their sequences.

A sequence is what one stack of layers works on: the words of an encoder, those of a decoder, the
patches of a vision tower. Words are placed in the sequence they are of, and nowhere else.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from attention.arrays.checks import check_count
from attention.arrays.conversion import shown
from attention.arrays.distance import blocks
from attention.core.trace import AttentionTrace
from attention.limits import MAX_TOKEN_LENGTH
from attention.models.kinds import CROSS, around, stack_of
from attention.models.taken import Call, Taken
from attention.models.weights import BEAMS as BEAMS
from attention.models.weights import OF_BEAMS
from attention.vocabulary.characters import unshown
from attention.vocabulary.sentences import first_few, plural

# What a later call is: of a generation; of a model that ran again; of a module used again in one
# run; of the second pass that gradient checkpointing makes; and where it was not recorded.
STEP, RUN, USE, RECOMPUTE, UNKNOWN = "step", "run", "use", "recompute", "call"
MOST_NAMED = 4
ROUGHLY = 0.02  # of what differs from key to key: less than another word makes
ROUNDINGS = {"float32": 2**-18, "float16": 2**-8, "bfloat16": 2**-5}  # of the largest number


@dataclass(frozen=True)
class Side:
    """The queries or the keys of a call."""

    call: Call
    of: str  # "query" or "key"
    position: int | None  # in its sequence, of the first that was recorded
    first: int  # the place of that one in the call
    count: int  # of those that were recorded
    whole: int  # of the call

    @property
    def names(self) -> tuple[str, ...]:
        """What its tokens are called that are no words; () for words."""
        return self.call.names if self.of == "query" else self.call.key_names

    @property
    def sequence(self) -> str:
        """A module on whose sequence it is: of cross-attention's keys, where this is not known,
        what the module is called in its layer.
        """
        module, layer = self.call.module, around(self.call.module)
        if self.call.kind != CROSS:
            return module
        if self.of == "query":
            return self.call.queries_of or layer or "queries"
        return self.call.keys_of or module[len(layer) :].strip(".") or "keys"

    @property
    def stack(self) -> str:
        """The layers that work on its sequence."""
        known = self.call.queries_of if self.of == "query" else self.call.keys_of
        if self.call.kind == CROSS and not known:
            return stack_of(f"{self.sequence}.") or self.sequence
        return stack_of(self.sequence)

    @property
    def start(self) -> int | None:
        """The position of the call's first."""
        return None if self.position is None else self.position - self.first

    @property
    def end(self) -> int:
        """One beyond the position of the call's last; without positions its count."""
        return (self.start or 0) + self.whole

    @property
    def kept(self) -> int:
        """One beyond the position of the last that was not cropped from the cache behind it."""
        return self.end - self.rejected

    @property
    def rejected(self) -> int:
        """How many of the call's last are tokens of speculative decoding that were rejected."""
        is_own = self.of == "query" or self.call.kind != CROSS
        return self.call.rejected if is_own else 0

    def part(self, parts: Iterable[str]) -> str | None:
        """Return the longest of these parts of names that its sequence has, the outermost of two
        as long.
        """
        module = f"{self.sequence}."
        there = [part for part in parts if part in module]
        return min(there, key=lambda part: (-len(part), module.find(part)), default=None)


@dataclass
class Before:
    """What the calls of a layer before one say of its positions."""

    calls: int = 0
    is_causal: bool = False  # the mask of one of them lets no query look ahead
    least: float = math.inf  # the fewest keys

    def add(self, call: Call) -> None:
        """Take one more call."""
        self.calls += 1
        self.is_causal |= _is_causal(call)
        self.least = min(self.least, call.all_keys or call.K.shape[2])


def sides_of(taken: Taken, call: Call) -> tuple[Side, Side]:
    """Return the queries and the keys of a call."""
    if (known := _call_table(taken).sides.get(id(call))) is not None:
        return known
    before = Before()  # a call that was changed
    for each in taken:
        if each.layer == call.layer and each.call < call.call:
            before.add(each)
    return _sides_at(call, *_positions(call, before))


@dataclass(frozen=True, eq=False)
class CallTable:
    """What is asked of a capture again and again, which is found once."""

    calls: tuple[Call, ...]
    sides: dict[int, tuple[Side, Side]]  # by the call's id
    masked: dict[
        tuple[int, int], list[tuple[Call, np.ndarray]]
    ]  # those with a mask, by layer and run


def _call_table(taken: Taken) -> CallTable:
    known = _TABLES.get(taken)
    if known is None or known.calls != tuple(taken.calls):  # calls are compared by what they are
        sides: dict[int, tuple[Side, Side]] = {}
        layers: dict[int, Before] = {}
        masked: dict[tuple[int, int], list[tuple[Call, np.ndarray]]] = {}
        for call in sorted(taken, key=lambda call: call.call):
            before = layers.setdefault(call.layer, Before())
            sides[id(call)] = _sides_at(call, *_positions(call, before))
            before.add(call)
        for call in taken:
            if call.allowed is not None:
                masked.setdefault((call.layer, call.run), []).append((call, call.allowed))
        known = _TABLES[taken] = CallTable(tuple(taken.calls), sides, masked)
    return known


_TABLES: WeakKeyDictionary[Taken, CallTable]
_TABLES = WeakKeyDictionary()


def _sides_at(call: Call, at_query: int | None, at_key: int | None) -> tuple[Side, Side]:
    n_q, n_k = call.Q.shape[2], call.K.shape[2]
    return (
        Side(call, "query", at_query, call.first_query, n_q, call.all_queries or n_q),
        Side(call, "key", at_key, call.first_key, n_k, call.all_keys or n_k),
    )


# ---- positions -----------------------------------------------------------------------------------


def positions_of(taken: Taken, call: Call) -> tuple[int | None, int | None]:
    """Return where the first recorded query and key stand in their sequences, counted from 0.

    Virtual tokens in front stand below 0. As capture recorded it. Of a file without, a mask that
    lets each query see one key more than the one before says it; so do as many keys as queries, and
    keys that grow in number from call to call, as with a cache. A cache that keeps a window of keys
    says nothing. None where neither is known.
    """
    query, key = sides_of(taken, call)
    return query.position, key.position


def past_of(taken: Taken, call: Call) -> int | None:
    """Return where the first query is among the keys, if both are of one sequence; else None."""
    query, key = positions_of(taken, call)
    return None if call.kind == CROSS or query is None or key is None else query - key


def _positions(call: Call, before: Before) -> tuple[int | None, int | None]:
    recorded = call.query_position, call.key_position
    if call.kind == CROSS or None not in recorded or call.virtual:
        return recorded
    past = _past(call, before)
    if past is None:
        return None, None
    first = call.first_key - call.memory
    return first + past, first


def _past(call: Call, before: Before) -> int | None:
    """Where the first query stands among the keys, by masks and numbers alone."""
    n_q, n_k = call.Q.shape[2], call.K.shape[2]
    last = _last_seen(call)
    if last is not None and (_rises(last) if n_q > 1 else before.is_causal):
        return int(last[0])
    whole_q, whole_k = call.all_queries or n_q, call.all_keys or n_k
    if call.window and before.calls and whole_k <= call.window:
        return None
    if whole_q == whole_k or before.least < whole_k:
        return whole_k - whole_q + call.first_query - call.first_key
    return None


def first_token(taken: Taken, call: Call, item: int) -> int | None:
    """Return the place of the sequence's first token among the recorded keys of an item.

    Behind padding on the left it is the first that any query sees. None where it is not among
    the keys, or not known.
    """
    at = positions_of(taken, call)[1]
    if at is None or not 0 <= -at < call.K.shape[2]:
        return None
    return min(-at + _padding(taken, call, item), call.K.shape[2] - 1)


def real_queries(taken: Taken, call: Call) -> np.ndarray:
    """Return which queries are no padding, (b or 1, n_q): those whose own token some query sees.

    All are where queries and keys are not of one sequence, or it is not known where they stand.
    """
    n_q, past = call.Q.shape[2], past_of(taken, call)
    if past is None or call.allowed is None or call.allowed.shape[3] == 1:
        return np.ones((1, n_q), bool)
    seen: np.ndarray = np.asarray(call.allowed.any(axis=(1, 2)))
    own = np.arange(n_q) + past
    is_there = (own >= 0) & (own < seen.shape[1])
    return np.asarray(seen[:, np.clip(own, 0, seen.shape[1] - 1)] | ~is_there)


def _padding(taken: Taken, call: Call, item: int) -> int:
    """How many keys from the start of the sequence no query of the layer's first call sees.

    A query that sees nothing but padding is shown as seeing every key, so such are left out.
    """
    for each, mask in _call_table(taken).masked.get((call.layer, call.run), ()):
        if positions_of(taken, each) != (0, 0):
            continue
        allowed = mask[item if mask.shape[0] > 1 else 0]
        hiding = ~allowed.all(axis=-1, keepdims=True)
        seen = np.logical_or.reduce(allowed, axis=(0, 1), where=hiding)
        if seen.any():
            return int(seen.argmax())
    return 0


def _is_causal(call: Call) -> bool:
    last = _last_seen(call)
    return last is not None and len(last) > 1 and _rises(last)


def _last_seen(call: Call) -> np.ndarray | None:
    """(n_q,), the last key that each query may see in any item and head; None without a mask."""
    mask = call.allowed
    if mask is None or mask.shape[3] == 1:
        return None
    rows, n_k = mask.shape[2:]
    last = np.empty(rows, int)
    for block in blocks(mask.shape):
        seen = np.asarray(mask[:, :, block].any(axis=(0, 1)))
        last[block] = np.where(seen.any(axis=1), n_k - 1 - seen[:, ::-1].argmax(axis=1), -1)
    return np.broadcast_to(last, call.Q.shape[2:3])


def _rises(last: np.ndarray) -> bool:
    steps = last - np.arange(len(last))
    return bool((steps == steps[0]).all() and steps[0] >= 0)


# ---- words ---------------------------------------------------------------------------------------


def words_of(taken: Taken, call: Call, item: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words at the recorded queries and keys of an item; where unknown, counted names.

    >>> from attention.models.examples import load
    >>> words_of(load("verbs"), load("verbs")[0], 1)[0][:4]
    ('[CLS]', 'the', 'cats', 'on')
    """
    queries, keys = (_labels_at(taken, side, item) for side in sides_of(taken, call))
    return queries, keys


def trace_of(
    taken: Taken, layer: int | Call, *, item: int | None = None, head: int | None = None
) -> AttentionTrace:
    """Return the stages of a call with the model's words, which figures and tables of it then take.

    Parameters
    ----------
    taken : Taken
    layer : int or Call
        The number of a layer, of which the first recorded call is taken; or a call, such as one of
        :meth:`Taken.at` or :meth:`Taken.joined`.
    item, head : int
        As for :meth:`Call.trace`.

    Raises
    ------
    BadInput, ValueError
        One sentence, where that layer, item or head was not recorded.
    TypeError
        If ``taken`` is no capture, or the others are no whole numbers.

    >>> from attention import View
    >>> from attention.models.examples import load
    >>> View.of(trace_of(load("pronoun"), 3, item=0, head=2)).labels["queries"][:3]
    ('[CLS]', 'the (1)', 'animal')
    """
    if not isinstance(taken, Taken):
        raise TypeError(f"taken is {shown(taken)}; expected a capture, an attention.Taken.")
    call = layer if isinstance(layer, Call) else taken.at(check_count("layer", layer, 0))
    item = None if item is None else check_count("item", item, 0)
    head = None if head is None else check_count("head", head, 0)
    trace = call.trace(item, head)
    items = range(len(call.Q)) if item is None else [item]
    labels = tuple(words_of(taken, call, k) for k in items)
    of = replace(taken.place(call, item, head), labels=labels)
    return replace(trace, recorded=of)


def _labels_at(taken: Taken, side: Side, item: int) -> tuple[str, ...]:
    words, rivals = _given(taken, side)
    mine = tuple(map(plain_word, _of_item(words, item, len(side.call.Q))))
    read = _same_text(taken, side, item, words, rivals) if mine else Same(side.call.run)
    offset, known = _offset(taken, len(mine), rivals, read.run), read.until
    if not OF_BEAMS.isdisjoint(side.call.notes):
        known = min(known, _prompt(rivals, side.call.run))
    start = (offset or 0) + read.moved
    if known < start + len(mine):
        mine = mine[: max(int(known) - start, 0)]
    places = range(side.first, side.first + side.count)
    # where the sequence's positions are known, what has none of it is something else: pooled keys
    is_apart = side.position is None and side.call.kind == CROSS
    if mine and len(mine) == side.whole and (offset is None or is_apart):
        return mine[places.start : places.stop]
    if side.names and side.position is None:
        return tuple(_counted(side.names, place) for place in places)
    if side.position is None:
        return tuple(f"{side.of[0]}{place + 1}" for place in places)
    mine = () if offset is None else mine
    letter = side.of[0] if side.call.kind == CROSS and not mine else "w"  # of two sequences
    found: list[str] = []
    for place in places:
        position = side.position + place - side.first
        behind = place - (side.whole - side.rejected)
        if behind >= 0:
            found.append(f"candidate {behind + 1}" if side.rejected > 1 else "candidate")
        elif read.padding <= position and 0 <= position - start < len(mine):
            found.append(mine[position - start])
        elif position < 0:
            found.append(_before(side.call, position))
        elif side.names:
            found.append(_counted(side.names, position))
        else:
            found.append(f"{letter}{position + 1}")
    return tuple(found)


def _before(call: Call, position: int) -> str:
    """Return the name of what stands at a position below 0, before the words."""
    place = position + call.virtual
    return f"memory {place + call.memory}" if place < 0 else f"virtual {place + 1}"


def _counted(names: tuple[str, ...], place: int) -> str:
    """Name a place by special tokens and nouns, of which all but the last say how many they are.

    >>> [_counted(("[CLS]", "text:2", "place"), place) for place in range(4)]
    ['[CLS]', 'text 0', 'text 1', 'place 0']
    """
    *others, last = names
    for name in others:
        noun, _, count = name.rpartition(":")
        is_counted = bool(noun) and count.isdecimal() and len(count) < 10
        many = int(count) if is_counted else 1
        if place < many:
            return plain_word(f"{noun} {place}" if is_counted else name)
        place -= many
    return plain_word(f"{last} {place}")


def _given(taken: Taken, side: Side) -> tuple[list[Any], list[Side]]:
    """Return the words that are meant for a side, and all sides they are meant for; [] for none."""
    tokens = taken.tokens
    if isinstance(tokens, dict):
        part = side.part(tokens)
        if part is None:
            return [], []
        return tokens[part], [each for each in _sides(taken) if each.part(tokens) == part]
    if not tokens or side.names or len(_text_stacks(taken)) > 1:
        return [], []
    return tokens, [each for each in _sides(taken) if not each.names]


def _sides(taken: Taken) -> list[Side]:
    """Return the queries and keys of all calls."""
    return [side for both in _call_table(taken).sides.values() for side in both]


def _text_stacks(taken: Taken) -> list[str]:
    """Return the stacks that ran on words of their own."""
    there = {side.stack: None for side in _sides(taken) if not side.names}
    return list(dict.fromkeys([*taken.stacks, *there]))


def _of_item(words: list[Any], item: int, items: int) -> list[str]:
    """Return the list of an item: of one for all, of one each, or of each item's beams."""
    if not words or isinstance(words[0], str):
        return words
    if len(words) > 1 and items % len(words):
        return []
    return words[item // max(items // len(words), 1) % len(words)]


@dataclass(frozen=True)
class Same:
    """How far an item of a run read the text that the words are of."""

    run: int  # whose words they are
    until: float = math.inf  # the position from which it read another
    moved: int = 0  # how many places later it read it, behind padding
    padding: int = 0  # in front of it


def _same_text(taken: Taken, side: Side, item: int, words: list[Any], rivals: list[Side]) -> Same:
    """Return which run's words these are, and how far an item of a side's run read the same.

    They are of the first run that they fit, and of the first of the items that share a list. Keys
    tell how far another read the same: those of the same words at the same places differ by
    rounding at most, where no dropout was on.
    """
    lists = 1 if isinstance(words[0], str) else len(words)
    share, behind = divmod(item, max(len(side.call.Q) // lists, 1))
    count, run = len(_of_item(words, item, len(side.call.Q))), side.call.run
    runs = sorted({each.call.run for each in rivals})
    first = next((each for each in runs if _offset(taken, count, rivals, each) is not None), run)
    if first == run and not behind:
        return Same(run)
    if side.call.weights is not None:  # without keys: of a generation the prompt's weights tell
        is_prompt = first == run and _has_same_prompt(side, item, item - behind, rivals)
        return Same(first, _prompt(rivals, run) if is_prompt else 0)
    of_stack = (each.call for each in rivals if each.stack == side.stack)
    # the first layer of its sequence, whose keys are of words alone, or of what is nearest to them
    alone = next((each.module for each in of_stack if each.kind != CROSS), side.call.module)
    modules = [alone]
    if side.call.kind == CROSS and side.of == "key":
        modules = [side.call.module, alone]  # the same, but for beams
    longest = Same(first, 0)
    for module in dict.fromkeys(modules):
        one, other = (_last_keys(taken, module, each) for each in (first, run))
        if one is None or other is None or one.position != other.position:
            continue
        leader = share * max(len(one.call.K) // lists, 1)
        if leader >= len(one.call.K) or len(other.call.K) != len(side.call.K):
            continue
        pads = _padding(taken, one.call, leader), _padding(taken, other.call, item)
        pads = pads if pads[0] != pads[1] else (0, 0)  # which is words as any other
        begin, begins = (max(pad, one.position or 0) for pad in pads)
        places = begin - (one.position or 0), begins - (one.position or 0)
        alike = _alike(one.call.K[leader], other.call.K[item], one.call.dtype, places)
        if alike and begins + alike > longest.until:
            longest = Same(first, begins + alike, pads[1] - pads[0], pads[1])
    return longest


def _has_same_prompt(side: Side, item: int, other: int, rivals: list[Side]) -> bool:
    """Check whether two items of a generation have the same weights before its first step."""
    calls = [each.call for each in rivals if each.call.run == side.call.run]
    if all(call.repeat != STEP for call in calls):
        return False
    near = ROUNDINGS["float32"]
    prompts = [call.weights for call in calls if call.repeat != STEP and call.weights is not None]
    return all(
        np.allclose(A[item], A[other], 0, near) for A in prompts if len(A) == len(side.call.Q)
    )


def _last_keys(taken: Taken, module: str, run: int) -> Side | None:
    """Return the keys of a module's last call in a run; None where there is none."""
    calls = [call for call in taken if call.module == module and call.run == run]
    return sides_of(taken, calls[-1])[1] if calls else None


def _alike(K: np.ndarray, other: np.ndarray, dtype: str, places: tuple[int, int]) -> int:
    """Count the keys (g, n, d) of two items that are the same from a place in each, but for
    rounding.
    """
    one, two = (M[:, place:].astype(float) for M, place in zip((K, other), places, strict=True))
    if one.shape[::2] != two.shape[::2] or not one.size or not two.size:
        return 0
    n = min(one.shape[1], two.shape[1])
    spread = np.ptp(one, axis=1).max()  # from key to key, without what is added to each
    rounding = ROUNDINGS.get(dtype, ROUNDINGS["float32"]) * np.abs(one).max()
    with np.errstate(invalid="ignore"):
        near = np.abs(one[:, :n] - two[:, :n]) <= max(ROUGHLY * spread, rounding)
    same = (near | (one[:, :n] == two[:, :n]) | np.isnan(one[:, :n] * two[:, :n])).all(axis=(0, 2))
    return n if same.all() else int(same.argmin())


def _prompt(sides: list[Side], run: int) -> int:
    """Where the sequence of a run ended before its first step."""
    own = [each for each in sides if each.call.run == run and OF_BEAMS.isdisjoint(each.call.notes)]
    ends = [each.end for each in own if each.call.repeat != STEP]
    return max(ends, default=0)


def _offset(taken: Taken, count: int, sides: list[Side], run: int) -> int | None:
    """Where so many words begin in the sequence of these sides in a run; None where they fit
    nowhere.

    They are all of it, or the queries or the keys of a call; in a generation the last word may be
    one that was never fed.
    """
    known = [side for side in sides if side.call.run == run and side.start is not None]
    if not count or not known:
        return None
    # keys beyond the last query are places of a cache that are not filled yet
    ends = [side.kept for side in [s for s in known if s.of == "query"] or known]
    for stack in {side.stack for side in known}:  # also of what ran and was not chosen
        ends += taken.stacks.get(stack, [])[run : run + 1]
    generated = any(side.call.call and side.call.repeat in (STEP, UNKNOWN) for side in known)
    if count in {max(ends), max(ends) + generated}:
        return 0
    return next((max(s.start or 0, 0) for s in known if s.whole == count), None)


# ---- whether they fit ----------------------------------------------------------------------------


def label_note(taken: Taken) -> str:
    """Return a sentence about words that stand nowhere, or do not fit; "" where all do.

    >>> from attention.models.examples import load
    >>> label_note(load("verbs"))
    ''
    """
    tokens = taken.tokens
    if not tokens:
        return ""
    if isinstance(tokens, dict):
        return _note_of_parts(taken, tokens)
    stacks = _text_stacks(taken)
    if len(stacks) > 1:
        return (
            f"Got one list of tokens, but {len(stacks)} sequences went through the model; pass one"
            f" list for each: tokens={_dict_to_write(stacks)}."
        )
    if not stacks:
        others = list(dict.fromkeys(side.stack for side in _sides(taken)))
        return (
            "Got a list of words, but no words went through these layers; to name what did, pass"
            f" tokens={_dict_to_write(others)}."
        )
    return _misfit(taken, tokens, [side for side in _sides(taken) if not side.names], "tokens")


def check_labels(taken: Taken) -> None:
    """Raise ValueError where tokens fit no call, or a part that they name is in no module's name.

    A list for a model with two sequences of words raises nothing: it is not used.
    """
    tokens = taken.tokens
    said = label_note(taken)
    if said and (isinstance(tokens, dict) or len(_text_stacks(taken)) == 1):
        raise ValueError(said)


def _note_of_parts(taken: Taken, tokens: dict[str, Any]) -> str:
    sides = _sides(taken)
    for part, words in tokens.items():
        mine = [side for side in sides if side.part(tokens) == part]
        if not mine:
            there = [each.module for each in taken] if any(each.module for each in taken) else []
            there = list(dict.fromkeys(filter(None, there or [each.sequence for each in sides])))
            if not there:
                return (
                    f"tokens has the key {shown(part)}, and the layers have no names; expected one"
                    " list of words."
                )
            return (
                f"tokens has the key {shown(part)}; expected a part of the name of one of these"
                f" modules: {first_few(there, MOST_NAMED)}."
            )
        if said := _misfit(taken, words, mine, f"tokens[{part!r}]"):
            return said
    return ""


def _misfit(taken: Taken, words: list[Any], sides: list[Side], name: str) -> str:
    """Return why words fit none of these sides; "" where they fit one of each run."""
    items = max(len(side.call.Q) for side in sides)
    lists = [words] if not words or isinstance(words[0], str) else words
    if items % max(len(lists), 1):
        return f"{name} holds {len(lists)} lists of words, and the batch {items} items."
    counts = sorted({side.whole for side in sides})
    for k, each in enumerate(lists):
        runs = {side.call.run: None for side in sides}
        fits = any(_offset(taken, len(each), sides, run) is not None for run in runs)
        if not fits and len(each) not in counts:
            which = f"{name}[{k}]" if len(lists) > 1 else name
            longest = max(side.end for side in sides)
            return (
                f"{which} has {len(each)} words, and the model read {_of_counts(counts)}"
                f"{'' if longest in counts else f', {longest} in all'}; expected one word for"
                " each, special and padding tokens among them."
            )
    return ""


def _of_counts(counts: list[int]) -> str:
    if len(counts) > MOST_NAMED:
        return f"{counts[0]} to {counts[-1]} tokens"
    return f"{' or '.join(map(str, counts))} {plural(counts[-1], 'token')}"


def _dict_to_write(stacks: list[str]) -> str:
    """Return the dict that names these stacks by the part that the others have not."""
    among = Counter(part for stack in stacks for part in set(stack.split(".")))
    names = []
    for stack in stacks:
        own = [part for part in stack.split(".") if among[part] == 1]
        name = own[0] if own and own[0] else stack or "…"
        names.append(f'"{plain_word(name)}": …')
    return f"{{{first_few(names, MOST_NAMED)}}}"


def plain_word(token: str) -> str:
    r"""Return a token as a page can show it: no line break, not empty, not too long.

    >>> plain_word("\n"), plain_word("  "), plain_word("Ġthe")
    ('\\n', '␣␣', 'Ġthe')
    """
    word = repr(token)[1:-1] if unshown(token) else token
    word = word if word.strip() else "␣" * max(len(word), 1)
    return word if len(word) <= MAX_TOKEN_LENGTH else f"{word[: MAX_TOKEN_LENGTH - 1]}…"
