"""Two states beside each other, A and B: what differs, in words, and every stage with B − A."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from attention.core.masks import MASK_LABELS
from attention.explain.view import View
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.diagnosis.mistakes import BY_NAME, Mistake
from attention.frameworks.given import Given, checked
from attention.limits import BadInput
from attention.readers.select import FINISHED
from attention.session.edit.changes import set_heads, set_mask, set_tokens
from attention.session.edit.decoding import is_step, last_rows, last_step, whole
from attention.session.edit.editing import token_sequence
from attention.session.state.about import prepared_by
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.settings import (
    DRAWN,
    FILLS,
    LOOKS,
    MATRICES,
    PUSHED,
    SOFTMAX,
    TRUE_MASK,
    Settings,
    allowed,
    alone,
    by_slopes,
    relative,
    seen_alike,
)
from attention.vocabulary.numbers import exact, number
from attention.vocabulary.parts import called
from attention.vocabulary.sentences import in_words
from attention.vocabulary.stages import STAGES

TO_OUTPUT = tuple(STAGES)[: list(STAGES).index("output") + 1]
AFTER_SOFTMAX = "hiding: after softmax"
# parts that see where a token stands
BY_PLACE = ("positions", "rotary", "alibi", "relative", "window")
# parts by which a weight does not follow from the scaled scores of its row alone
NOT_OF_SCORES = ("softcap", "sinks", "alibi", "relative")
LONGEST = 12  # words of a sentence that are listed


@dataclass(frozen=True)
class Pair:
    """What is compared: A, and B, which may also do one thing wrong."""

    a: Settings
    b: Settings
    mistake: str = ""  # of B: a name in BY_NAME


def pair_of(s: Settings) -> Pair:
    """What these settings compare: what is pinned with themselves; nothing pinned, both alike."""
    return Pair(s.pinned or alone(s), alone(s), s.mistake)


def compared(pair: Pair) -> Settings:
    """The settings that compare this pair: B, with A pinned beside it."""
    a = replace(pair.a, pinned=None, mistake="")
    return replace(pair.b, pinned=a, mistake=pair.mistake)


def pin_first(before: Settings, after: Settings) -> Settings:
    """The settings after a change, with those before it as A where nothing is pinned.

    A change of what is looked at alone, such as the chosen cell, begins no comparison.
    """
    if before.pinned or after.pinned or seen_alike(before, after):
        return after
    return compared(Pair(before, after, after.mistake))


def are_seen_alike(one: Pair, other: Pair) -> bool:
    """Whether two comparisons differ at most in what is looked at."""
    both = seen_alike(one.a, other.a) and seen_alike(one.b, other.b)
    return both and one.mistake == other.mistake


def looking_as(other: Settings, s: Settings) -> Settings:
    """The settings with the looks of others; word and cell only where the words are the same."""
    of_words = () if s.tokens == other.tokens else ("query", "cell")
    return replace(s, **{name: getattr(other, name) for name in LOOKS if name not in of_words})


def swapped(s: Settings) -> Settings:
    """A as B and B as A."""
    pair = pair_of(s)
    if pair.mistake:
        raise BadInput(f"B has a mistake ({_known(pair.mistake).title}), and A cannot have one.")
    return compared(Pair(pair.b, pair.a))


def views(pair: Pair) -> tuple[View, View]:
    """The numbers of A and of B, of the item and head that each looks at; of A its last rows, where
    B is one step of decoding.

    Where B does something wrong, both end with the output of that head; one sentence where B
    leaves no room for that.
    """
    a, b = view(pair.a, run(pair.a)), view(pair.b, run(pair.b))
    if is_step(pair.a, pair.b):
        a = last_rows(a, len(pair.b.tokens))
    if not pair.mistake:
        return a, b
    wrong = _with_mistake(pair.b, _known(pair.mistake))
    stages = b.stages | {name: M for name, M in wrong.items() if name in b.stages}
    visible = ~np.isneginf(stages["masked"])
    zeros = {name: M for name, M in b.zeros.items() if stages[name] is b.stages[name]}
    b = replace(b, stages=stages, allowed=visible, zeros=zeros)
    return _to_output(a), _to_output(b)


def is_wrong(pair: Pair, b: View, stage: str) -> bool:
    """Whether what B does wrong changes this stage of it."""
    if not pair.mistake:
        return False
    right = view(pair.b, run(pair.b)).stages[stage]
    return not np.array_equal(right, b.stages[stage])


def _to_output(shown: View) -> View:
    return shown.only(TO_OUTPUT)


def _with_mistake(s: Settings, mistake: Mistake) -> dict[str, np.ndarray]:
    """The stages of the item and head that is looked at, with this done wrong."""
    if s.softmax is not True or s.fill != TRUE_MASK:
        raise BadInput(f"without softmax and −∞ this is not possible: {mistake.title}.")
    if s.norm and s.norm.whole and s.heads > 1:
        raise BadInput(f"with {called(['norm'])} this is not possible: {mistake.title}.")
    stages = Bench(checked(_of_head(s))).run((mistake,))
    if stages is None:
        raise BadInput(f"with these settings this is not possible: {mistake.title}.")
    return stages


def _of_head(s: Settings) -> Given:
    """What the chosen head starts from: Q, K and V before norm and rotation, and its parts."""
    trace = run(s)
    shown, bias, norm, sinks = view(s, trace), by_slopes(s), s.norm, None
    if norm:
        gain_Q, gain_K = (norm.gain_of_head(name, s.d_k, s.head, s.heads) for name in "QK")
        norm = replace(norm, gain_Q=gain_Q, gain_K=gain_K)
    table = relative(s)
    if s.sinks:
        sinks = s.sinks[s.head] if len(s.sinks) > 1 else s.sinks[0]
    return Given(
        Q=shown.stages["Q"],
        K=shown.stages["K"],
        V=shown.stages["V"],
        allowed=None if shown.allowed.all() else shown.allowed,
        bias=None if bias is None else bias[s.head],
        scale=trace.scale,
        softcap=s.softcap,
        norm=norm,
        rotary=s.rotary,
        sinks=sinks,
        relative=table and replace(table, table=shown.stages["R"]),
    )


def _known(name: str) -> Mistake:
    if name not in BY_NAME:
        raise BadInput(f"there is no mistake called “{name}”.")
    return BY_NAME[name]


# ---- what differs, in words ----------------------------------------------------------------------


def differing(pair: Pair) -> list[str]:
    """The settings that differ, a line each: what, in A, in B; empty where none does."""
    a, b = pair.a, pair.b
    if is_step(a, b):
        lines = [f"A: the last row of {_sentence(a.tokens)}", _alone(b), *_choices(a, b)]
    else:
        lines = [*_changed_words(a, b), *_matrices(a, b), *_choices(a, b)]
    if pair.mistake:
        lines.append(f"in B {_known(pair.mistake).title}")
    return lines


def _alone(step: Settings) -> str:
    return f"B: {_sentence(step.tokens)} alone, with the cached keys and values of all words"


def _changed_words(a: Settings, b: Settings) -> Iterator[str]:
    for what, mine, other in (
        ("words", a.tokens, b.tokens),
        ("second sentence", a.memory_tokens, b.memory_tokens),
    ):
        if mine != other:
            yield f"{what}: {_sentence(mine)} → {_sentence(other)}"


def _sentence(tokens: tuple[str, ...]) -> str:
    more = f" … ({len(tokens)} words)" if len(tokens) > LONGEST else ""
    return f"“{' '.join(tokens[:LONGEST])}{more}”" if tokens else "none"


def _matrices(a: Settings, b: Settings) -> Iterator[str]:
    if a.weights_alone != b.weights_alone:
        kinds = ("finished weights" if side.weights_alone else "Q, K, V" for side in (a, b))
        yield " → ".join(kinds)
        return
    words_differ = (a.tokens, a.memory_tokens) != (b.tokens, b.memory_tokens)
    for stored in ("Q",) if a.weights_alone else MATRICES:
        name = FINISHED if a.weights_alone else stored
        mine, other = a.matrices.get(stored), b.matrices.get(stored)
        if mine is not None and other is not None and mine.shape == other.shape:
            changed = np.argwhere(mine.values != other.values)
            if words_differ and len(changed) and _goes_with_words(a, b, stored):
                yield f"{name}: the same rows, in the order of the words"
            elif len(changed) == 1:
                at = tuple(changed[0])
                i, j = (int(k) + 1 for k in at[-2:])
                before, after = (exact(M.values[at]).replace("-", "−") for M in (mine, other))
                yield f"{name}, row {i}, column {j}: {before} → {after}"
            elif len(changed):
                yield f"{name}: {len(changed):,} of {mine.values.size:,} numbers differ"
        elif mine is not None or other is not None:
            yield f"{name}: {_size(mine)} → {_size(other)}"


def _goes_with_words(a: Settings, b: Settings, name: str) -> bool:
    """Whether each word has the same row in both, wherever it stands."""

    def by_word(s: Settings) -> list[tuple[str, list]]:
        words = s.memory_tokens if token_sequence(s, name) == "memory_tokens" else s.tokens
        values = s.matrices[name].values
        return sorted((word, values[..., row, :].tolist()) for row, word in enumerate(words))

    return token_sequence(a, name) is not None and by_word(a) == by_word(b)


def _size(matrix: Matrix | None) -> str:
    return " × ".join(map(str, matrix.shape)) if matrix else "none"


def _choices(a: Settings, b: Settings) -> Iterator[str]:
    """What is chosen beside the numbers."""
    finished = a.weights_alone or b.weights_alone
    for what, said in CHOICES.items():
        if finished and what not in OF_FINISHED:
            continue
        mine, other = said(a), said(b)
        if mine != other:
            yield f"{what}: {mine} → {other}"
    if a.mask == b.mask == DRAWN and a.drawn != b.drawn:
        seen = np.array(a.drawn), np.array(b.drawn)
        if seen[0].shape == seen[1].shape:
            yield f"drawn mask: {int((seen[0] != seen[1]).sum())} cells"


def _scale(s: Settings) -> str:
    if s.d_model and s.scale == s.d_model**-0.5:
        return "1/√d_model"
    return "1/√d_k" if s.scale is None else number(s.scale)


def _padding(s: Settings) -> str:
    return " ".join(f"“{s.key_tokens[k]}”" for k in s.padding) or "none"


def _without(said: str) -> str:
    """What is said of a part, without what it is."""
    return re.sub(r"^(.* of Q and K|relative bias), ", "", said)


CHOICES: dict[str, Callable[[Settings], str]] = {
    "heads": lambda s: str(s.heads),
    "scale": _scale,
    "mask": lambda s: MASK_LABELS.get(s.mask, s.mask),
    "padding tokens": _padding,
    "masked scores become": lambda s: FILLS[s.fill],
    "softmax": lambda s: SOFTMAX[s.softmax],
    "heads of keys and values": lambda s: str(s.kv_heads),
    "soft cap": lambda s: "none" if s.softcap is None else number(s.softcap),
    "sinks": lambda s: " ".join(map(number, s.sinks)) or "none",
    "ALiBi": lambda s: "on" if s.alibi else "off",
    "relative bias": lambda s: _without(prepared_by(s).get("relative", "none")),
    "window": lambda s: f"{s.window} keys" if s.window else "none",
    "norm of Q and K": lambda s: _without(prepared_by(s).get("norm", "none")),
    "rotary positions": lambda s: _without(prepared_by(s).get("rotary", "none")),
    "item": lambda s: str(s.item),
    "head": lambda s: str(s.head),
}

OF_FINISHED = ("heads", "mask", "item", "head")  # what finished weights have of these


# ---- the comparisons that everyone wants ---------------------------------------------------------


@dataclass(frozen=True)
class Preset:
    """A comparison made by one click."""

    title: str
    sentence: str  # what to look for
    make: Callable[[Settings], Pair]
    is_so: Callable[[Settings], bool] = lambda s: True  # whether the sentence is true of these


def _scaled(s: Settings) -> Pair:
    return Pair(replace(s, scale=None), replace(s, scale=1.0))


def _masked(s: Settings) -> Pair:
    return Pair(set_mask(s, "none"), set_mask(s, "causal"))


def _hiding(s: Settings) -> Settings:
    """With a mask that hides something."""
    s = replace(s, fill=TRUE_MASK, softmax=True)
    return s if not allowed(s).all() else set_mask(s, "causal")


def _mask_after(s: Settings) -> Pair:
    s = _hiding(s)
    return Pair(s, s, AFTER_SOFTMAX)


def _by_d_model(s: Settings) -> Pair:
    d_model = s.d_model
    if d_model is None:
        raise BadInput("Q, K and V are entered directly here, so there is no d_model.")
    if d_model == s.d_k and 2 in s.possible_heads:
        s = set_heads(s, 2)  # whose keys are half as wide
    if d_model == s.d_k:
        raise BadInput(f"d_model and d_k are both {s.d_k} here, so nothing would differ.")
    return Pair(replace(s, scale=None), replace(s, scale=d_model**-0.5))


def _filled(s: Settings) -> Pair:
    s = _hiding(s)
    return Pair(s, replace(s, fill=PUSHED))


def _halved(s: Settings) -> Pair:
    if s.heads > 1:
        if 1 not in s.possible_heads:
            raise BadInput("heads share keys and values here, so one head cannot have them all.")
        return Pair(set_heads(s, 1), s)
    if 2 not in s.possible_heads:
        raise BadInput("d_k or d_v is odd here, so it cannot be split between two heads.")
    return Pair(s, set_heads(s, 2))


def _reordered(s: Settings) -> Pair:
    """Back to front; words that repeat stay in their order, so that each is called as before."""
    if s.mask not in ("none", DRAWN):  # it hides by place, and does not follow the words
        s = set_mask(s, "none")
    tokens = tuple(reversed(s.tokens))
    copies = {word: [k for k, other in enumerate(s.tokens) if other == word] for word in tokens}
    order: list[int | None] = [copies[word].pop(0) for word in tokens]
    if tokens == s.tokens:
        raise BadInput("these words read the same backwards, so nothing would differ.")
    return Pair(s, replace(set_tokens(s, tokens, order), query=order.index(s.query)))


def _one_step(s: Settings) -> Pair:
    s = whole(s)
    return Pair(s, last_step(s))


def _is_softmax_alone(s: Settings) -> bool:
    return s.softmax is True and not set(NOT_OF_SCORES) & set(s.parts)


def _is_shared_among_keys(s: Settings) -> bool:
    return s.softmax is True and not s.sinks and s.fill == TRUE_MASK


PRESETS: dict[str, Preset] = {
    "scale": Preset(
        "with / without √d_k",
        "Without scaling, scores are √d_k times as large; larger differences make the weights less"
        " even.",
        _scaled,
        _is_softmax_alone,
    ),
    "mask": Preset(
        "look-ahead mask",
        "Hidden keys get weight 0; the visible keys share that weight in proportion.",
        _masked,
        _is_shared_among_keys,
    ),
    "after": Preset(
        "mask after softmax",
        "Hidden weights become 0 after the softmax, so their rows sum to less.",
        _mask_after,
    ),
    "d_model": Preset(
        "√d_model, not √d_k",
        "d_k is the width of one head’s keys. A larger divisor makes the weights more even.",
        _by_d_model,
        _is_softmax_alone,
    ),
    "fill": Preset(
        "−1e9, not −∞",
        "The same, unless a query sees no key or scores are that large.",
        _filled,
    ),
    "heads": Preset(
        "several heads",
        "Each head sees its own part of the columns and has its own weights.",
        _halved,
    ),
    "order": Preset(
        "words reordered",
        "The same numbers, rearranged: without positions, attention ignores word order.",
        _reordered,
    ),
    "step": Preset(
        "step with a cache",
        "With cached keys and values, and its position kept, the last word alone gives the same"
        " result.",
        _one_step,
    ),
}


def look_for(name: str | None, pair: Pair) -> str:
    """What to look for in one of these comparisons; "" in another, and where it is not so."""
    if name == "scale" and pair.b.d_k == 1:
        return "With d_k = 1 nothing changes: √1 is 1."
    if name is None or not PRESETS[name].is_so(pair.b):
        return ""
    if name == "order" and (told := [part for part in BY_PLACE if part in pair.b.parts]):
        return f"With {called(told)}, attention depends on where the words stand."
    return PRESETS[name].sentence


BOTH_HAVE = {"none": "no mask", "causal": "a look-ahead mask"}


def also_changed(begun: Settings, pair: Pair) -> str:
    """What a comparison changed in both of its sides, in a sentence; "" where it is nothing.

    >>> from attention.session.state.examples import EXAMPLES
    >>> begun = EXAMPLES["cat-sat"].build()
    >>> also_changed(begun, PRESETS["d_model"].make(begun))
    'Both have 2 heads.'
    """
    said = []
    if pair.a.heads == pair.b.heads != begun.heads:
        said.append(f"{pair.a.heads} heads")
    if pair.a.mask == pair.b.mask != begun.mask:
        said.append(BOTH_HAVE.get(pair.a.mask, "another mask than before"))
    return f"Both have {in_words(said)}." if said else ""


def preset_of(pair: Pair) -> str | None:
    """Which of these comparisons it is; None where it is another."""
    return _preset(pair)[0]


def begun_with(pair: Pair) -> Settings:
    """What one of these comparisons may have been made of; B where it is another."""
    return _preset(pair)[1]


def _preset(pair: Pair) -> tuple[str | None, Settings]:
    if seen_alike(pair.a, pair.b) and not pair.mistake:
        return None, pair.b
    for name, preset in PRESETS.items():
        for begin in (pair.a, pair.b):
            try:
                made = preset.make(begin)
            except BadInput:
                continue
            if are_seen_alike(made, pair):
                return name, begin
    return None, pair.b
