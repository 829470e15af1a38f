"""Why does mine differ? The known mistakes, alone and in pairs, tried on the same inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention.arrays.blocks import one_blas_thread
from attention.arrays.checks import check_count
from attention.arrays.conversion import shown
from attention.arrays.distance import difference, distance, largest_finite
from attention.arrays.hints import hinting
from attention.core.biases import RelativeBias
from attention.core.masks import MASKS, padding, real_tokens
from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary
from attention.frameworks.diagnosis.answers import Set, judge_stages, worst
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.diagnosis.causes import (
    damaged,
    likely_cause,
    nothing_to_compare,
)
from attention.frameworks.diagnosis.result import Cause, Diagnosis, Explanation
from attention.frameworks.diagnosis.search import BLOCK, Found, Plan, Search, seeming_rounded
from attention.frameworks.diagnosis.stages import GivenStages, answer_of
from attention.frameworks.diagnosis.theirs import OwnWay, by_library, own_ways
from attention.frameworks.diagnosis.words import Words, digits_of, rounding_of, titles_of
from attention.frameworks.given import Given, checked, has_axis_of_heads
from attention.frameworks.moves import between
from attention.frameworks.precision import KERNELS, Places, Written, named_half, shows
from attention.frameworks.records import named
from attention.vocabulary.sentences import amount, capital, in_words, plural

PADDED, PADDED_SCORES = 64, 2**14  # keys and scores, up to which padding is looked for
MOST_LIBRARIES = 3  # named in a sentence
NEAR = 0.05  # of the size of the answer: a mask that leaves more in a few queries is none
CORNERS = {  # names in MASKS
    "": "",
    "causal": "a look-ahead mask",
    "causal_lower_right": "a look-ahead mask aligned to the last key",
}


@hinting
def diagnose(
    Q: Any = None,
    K: Any = None,
    V: Any = None,
    *,
    output: Any = None,
    weights: Any = None,
    X: Any = None,
    memory: Any = None,
    W_Q: Any = None,
    W_K: Any = None,
    W_V: Any = None,
    W_O: Any = None,
    b_Q: Any = None,
    b_K: Any = None,
    b_V: Any = None,
    b_O: Any = None,
    heads: int = 1,
    kv_heads: int | None = None,
    allowed: Any = None,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    positions: Any = None,
    norm: RMSNorm | None = None,
    rotary: Rotary | None = None,
    sinks: Any = None,
    softmax: bool | str = True,
    relative: RelativeBias | None = None,
    stages: Mapping[str, Any] | None = None,
    decimals: Places | Mapping[str, Places] | None = None,
    announce: Callable[[str], object] | None = None,
) -> Diagnosis:
    """Say which known mistake, or which two, turn right attention into these numbers.

    Parameters
    ----------
    Q, K, V : array_like, (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v)
        What both sides start from, where it was not projected.
    output : array_like, (…, n_q, d_v), with heads also (…, n_q, h · d_v)
    weights : array_like, (…, n_q, n_k), for several heads also their mean
        What the other code answers: one of the two, or both.
    X, W_Q, W_K, W_V : array_like, (…, n_q, d_model), (d_model, h · d)
        Instead of Q, K and V: mistakes in the projections are looked for as well.
    memory : array_like, (…, n_k, d_model)
        A second sequence that keys and values come from.
    W_O : array_like, (h · d_v, d_out)
        Mixes the joined heads: mistakes after them are looked for as well.
    b_Q, b_K, b_V, b_O : array_like, (columns,)
        Added to what W_Q, W_K, W_V and W_O give.
    heads, kv_heads : int
        Q, K and V hold that many heads side by side: (…, n, h · d). Default: 1. Fewer ``kv_heads``
        serve several each.
    allowed, bias, scale, softcap :
        As the other code means them: see :func:`attention.multi_head_attention`.
    positions : array_like, (…, n_q, d_model)
        Added to X, as in :func:`attention.self_attention`.
    norm, rotary, sinks, relative :
        What is done to Q and K of each head, to the softmax and to the scores, as in
        :func:`attention.multi_head_attention`.
    softmax : True or "sigmoid"
        What makes weights of the scores, as the other code means it.
    stages : dict of array_like by stage, such as ``{"scores": S, "masked": M}``
        What the other code has on the way, under the names of a trace; with or without an answer.
        The answer says up to which stage all agrees.
    decimals : int or str, or a dict of them by the name of an argument: ``{"X": 4, "output": 3}``
        How many decimals the numbers were rounded to, or the type that a kernel computed in:
        "float16", "bfloat16" or "TF32". One for all is for the answer, and for those inputs whose
        numbers have that many decimals, or are of that type; {} is for none. Default: of the
        answer seen from the numbers, where there are enough of them. Inputs of type float16 or
        bfloat16 count as rounded; of others those that seem to be, and only where nothing explains
        the answer to the inputs as they are.
    announce : function of a sentence
        Is told, before the work begins, what is going to be tried and about how long that takes;
        ``print`` for example.

    The work is bounded, to some seconds; what was left out for that, the answer says.

    Raises
    ------
    ValueError, TypeError
        One sentence that names the argument, what came and what is allowed.

    >>> Q = K = V = np.eye(2)
    >>> found = diagnose(Q, K, V, weights=[[0.7311, 0.2689], [0.2689, 0.7311]])
    >>> found.correct
    False
    >>> print(found)
    The scores are not scaled.
    With that, all numbers agree to 4 digits; the first difference is in scaled.
    Multiply the scores by the scale, by default 1/√d_k, before they are masked and become weights.
    >>> found.causes[0].name, found.causes[0].stage
    ('scale: none', 'scaled')
    """
    given = Given(
        Q=Q,
        K=K,
        V=V,
        X=X,
        memory=memory,
        W_Q=W_Q,
        W_K=W_K,
        W_V=W_V,
        W_O=W_O,
        b_Q=b_Q,
        b_K=b_K,
        b_V=b_V,
        b_O=b_O,
        heads=heads,
        kv_heads=kv_heads,
        allowed=allowed,
        bias=bias,
        scale=scale,
        softcap=softcap,
        positions=positions,
        norm=norm,
        rotary=rotary,
        sinks=sinks,
        softmax=softmax,
        relative=relative,
    )
    return diagnose_given(
        checked(given),
        output=output,
        weights=weights,
        stages=stages,
        decimals=decimals,
        announce=announce,
    )


def diagnose_given(
    given: Given,
    *,
    output: Any = None,
    weights: Any = None,
    stages: Mapping[str, Any] | None = None,
    decimals: Places | Mapping[str, Places] | None = None,
    announce: Callable[[str], object] | None = None,
) -> Diagnosis:
    """:func:`diagnose` for inputs that were checked already."""
    # its matrices are small: more threads would wait; what overflows is infinitely far off
    theirs = {"output": output, "weights": weights}
    if stages is not None and not isinstance(stages, Mapping):
        raise TypeError(f"stages is {shown(stages)}; expected a dict of arrays by stage.")
    rest = _answers_among(given, theirs, {**(stages or {})})
    given, of_answers = _rounded(given, theirs | rest, decimals)
    with one_blas_thread(), np.errstate(all="ignore"):
        if not rest:
            return _explained(given, theirs, of_answers, announce)
        bench = Bench(given, _compared(given))
        compared = GivenStages(bench, rest, of_answers)
        if all(answer is None for answer in theirs.values()):
            found = _by_stages(compared)
            seem = seeming_rounded(given) if decimals is None and compared.first else {}
            if found.explanations or not seem:
                return found
            again = compared.with_inputs(replace(given, rounded={**given.rounded, **seem}))
            return found if again.first == compared.first else _by_stages(again)
        return _explained(given, theirs, of_answers, announce, compared)


def _answers_among(given: Given, theirs: dict[str, Any], stages: dict[str, Any]) -> dict[str, Any]:
    """Take the answers that are among the stages as such; return the other stages."""
    if theirs["weights"] is None:
        theirs["weights"] = stages.pop("weights", None)
    if theirs["output"] is None:
        apart = "output" if given.W_O is None else ""  # its heads are not joined
        last = next((name for name in (answer_of(given), apart) if name in stages), "")
        theirs["output"] = stages.pop(last, None)
    return stages


def _compared(given: Given) -> np.ndarray | None:
    """Return the queries whose stages are compared, evenly spread; None: all."""
    n_q = given.shape[-2]
    scores = math.prod(given.shape)
    if scores <= BLOCK:
        return None
    return np.unique(np.linspace(0, n_q - 1, max(1, BLOCK * n_q // scores)).astype(int))


def diagnose_library(
    given: Given,
    library: str,
    *,
    output: Any = None,
    weights: Any = None,
    decimals: Mapping[str, Places] | None = None,
) -> Diagnosis:
    """Say whether these numbers are what a library answers, and how that differs from ours.

    Parameters
    ----------
    given : Given
        The inputs of both sides, checked.
    library : str
        A key of :data:`attention.frameworks.records.CONVENTIONS`. It is handed the mask in its own
        polarity, and all parts that it takes.
    output, weights, decimals :
        As in :func:`attention.diagnose`.

    Returns
    -------
    Diagnosis
        ``answers`` compare with the library. Where its arithmetic does not explain the numbers, the
        known mistakes are looked for, next to our attention.

    Raises
    ------
    BadInput
        Where the library cannot be handed these inputs.
    """
    record, theirs = named(library), {"output": output, "weights": weights}
    with one_blas_thread(), np.errstate(all="ignore"):
        search = Search(given, theirs, decimals)
        handed, stages = by_library(search, library)
        largest = largest_finite(stages["scaled"])
        verdicts = [judge_stages(search.sample, stages, t, largest) for t in search.targets]
        told = [verdict for verdict in verdicts if verdict is not None]
        answers: dict[str, tuple[np.ndarray, ...]] = {}
        for target in search.targets:
            view = target.view(search.sample, stages)
            if view is not None:
                answers[target.name] = (target.values, view, difference(target.values, view))
    fits = len(told) == len(verdicts) and worst(told).fits
    if not fits:
        found = diagnose_given(given, output=output, weights=weights, decimals=decimals)
        off = max((verdict.error for verdict in told), default=np.inf)
        by = f", off by up to {off:.3g}" if np.isfinite(off) else ""
        before = f"These are not the numbers of {record.name}{by}. Next to this package's own:"
        return replace(
            found,
            answers=answers or found.answers,
            lines=(f"{before} {found.lines[0]}", *found.lines[1:]),
            verdict=f"{before} {found.verdict}",
        )
    ours = replace(named("ours"), true_means=record.true_means)  # the mask is in its polarity
    turned = ["It is handed the mask as it reads it: True means hide."] * (
        handed["mask"] is not None and record.true_means == "hide"
    )
    verdict = (
        f"These are the numbers of {record.name} ({record.version}), to"
        f" {amount(digits_of(search.targets, worst(told)), 'digit')}."
    )
    changes = [change.sentence for change in between(ours, record, **handed).changes]
    return Diagnosis(
        explanations=(),
        closest=None,
        unseen=(),
        answers=answers,
        lines=(verdict,),
        verdict=verdict,
        details=(*turned, *(changes or ["With these inputs it answers as this package does."])),
        correct=True,
        tried=1,
        plan=search.plan,
    )


def _rounded(
    given: Given, theirs: dict[str, Any], decimals: Places | Mapping[str, Places] | None
) -> tuple[Given, Mapping[str, Places] | None]:
    """Return the inputs with their rounding, and to how many decimals the answers are rounded.

    None: nothing was said of either, so both are seen from the numbers.
    """
    if decimals is None:
        return given, None
    if isinstance(decimals, Mapping):
        there = [*given.arrays, *(name for name, M in theirs.items() if M is not None)]
        for name in decimals:
            if name not in there:
                raise ValueError(
                    f"decimals names {shown(name)}; it may name {in_words(there)}, which are given."
                )
        each = {name: _places(f"decimals[{name!r}]", n) for name, n in decimals.items()}
        rounded = {
            name: Written(half=how) if isinstance(how, str) else Written(how)
            for name, how in each.items()
            if name in given.arrays and how != "TF32"  # no input is rounded to it
        }
    else:
        count = _places("decimals", decimals)
        each = dict.fromkeys(theirs, count)
        rounded = {}
        for name, M in given.arrays.items():
            if isinstance(count, str):
                how = named_half(M, count)
            else:
                how = Written(count) if shows(M, count) else None
            if how is not None:
                rounded[name] = how
    return replace(given, rounded={**given.rounded, **rounded}), each


def _places(name: str, given: object) -> Places:
    """Check a number of decimals, or the name of a type."""
    if not isinstance(given, str):
        return check_count(name, given, 0)
    if given not in KERNELS:
        raise ValueError(
            f"{name} is {shown(given)}; expected a number of decimals, or one of"
            f" {in_words([*KERNELS])}."
        )
    return given


def _explained(
    given: Given,
    theirs: dict[str, Any],
    decimals: Mapping[str, Places] | None,
    announce: Callable[[str], object] | None,
    stages: GivenStages | None = None,
) -> Diagnosis:
    if announce is not None and not callable(announce):
        raise TypeError(f"announce is {shown(announce)}; expected a function of a sentence.")
    search = Search(given, theirs, decimals)
    lost = {t.name: nothing for t in search.targets if (nothing := nothing_to_compare(t))}
    if 0 < len(lost) < len(search.targets):
        return _without(search, lost, theirs, decimals, announce, stages)
    if announce is not None:
        announce(str(search.plan))
    if lost:
        nothing, *_ = lost.values()
        cause = likely_cause(search.sample)
        lines = (f"There is no finite number to compare: {nothing}.", f"Likely cause: {cause}.")
        answers = _answers(search)
        return Diagnosis(
            explanations=(),
            closest=None,
            unseen=(),
            answers=answers,
            lines=lines,
            verdict=" ".join(lines),
            details=(),
            correct=False,
            tried=0,
            plan=search.plan,
        )
    found = search.run()
    if otherwise := _right_for_others(search, found, stages):
        return otherwise
    if not found.explaining and decimals is None:
        exact = search.given
        found = search.run_as_rounded() or found
        if search.given is not exact:
            stages = stages and stages.with_inputs(search.given)
            far = f", as far as {rounding_of(search.given.rounded)} can tell"
            if otherwise := _right_for_others(search, found, stages, far):
                return otherwise
    if stages is not None:
        also = [each for each in found.explaining if stages.explained(each)]
        found = replace(found, explaining=also or found.explaining)
    ways = [] if () in found.explaining else own_ways(search)
    if ways and not found.explaining:
        return _right_in(ways, search, len(found.verdicts), stages)
    said = _said(found, _answers(search), stages)
    return replace(said, details=(*said.details, *_ways_said(ways)))


def _right_for_others(
    search: Search, found: Found, stages: GivenStages | None, far: str = ""
) -> Diagnosis | None:
    """Say that the numbers are right without ``heads``, or with a mask; None: they are not."""
    tried = len(found.verdicts)
    # true where nothing explains them, too
    of_heads = all(m.parts <= {"split", "scale"} for each in found.explaining for m in each)
    if () not in found.explaining and of_heads and _split_already(search):
        return _right_without_heads(search, tried, stages, far)
    if not found.explaining and (masks := _forgotten(search)):
        return _right_with(masks, search, tried, stages, far)
    return None


def _right_in(
    ways: list[OwnWay], search: Search, tried: int, stages: GivenStages | None
) -> Diagnosis:
    """Say which library answers these inputs so."""
    first, *others = ways
    lines = (
        f"This is what {first.library} returns here, and no known mistake explains it.",
        " ".join(first.changes),
        "Nothing is wrong in your code if this call is meant.",
    )
    found = _right_otherwise(lines, f"library: {first.library}", None, search, tried, stages)
    return replace(found, details=(*lines[:2], *_ways_said(others)))


def _ways_said(ways: list[OwnWay]) -> list[str]:
    """Say which libraries return the same, in a sentence; none of none."""
    if not ways:
        return []
    libraries = [*dict.fromkeys(way.library for way in ways)]
    more = len(libraries) - MOST_LIBRARIES
    if more > 1:
        libraries = [*libraries[:MOST_LIBRARIES], f"{more} other libraries"]
    returns = plural(len(libraries), "returns", "return")
    return [f"This is also what {in_words(libraries)} {returns} here."]


def _said(
    found: Found, answers: dict[str, tuple[np.ndarray, ...]], stages: GivenStages | None
) -> Diagnosis:
    """Say what a search found, and what that means for the stages that were given."""
    explanations = tuple(_explanation(found, each) for each in found.explaining)
    near = None if explanations else _closest(found)
    closest = (
        explanations[0] if explanations else None if near is None else _explanation(found, near)
    )
    correct = bool(explanations) and not explanations[0].mistakes
    correct = correct and (stages is None or stages.first is None)
    words = Words(found, explanations, closest, correct, answers, stages)
    return Diagnosis(
        explanations=explanations,
        closest=closest,
        unseen=tuple(found.unseen),
        answers=answers,
        lines=words.lines,
        verdict=words.verdict(),
        details=tuple(words.details()),
        correct=correct,
        tried=len(found.verdicts),
        plan=found.plan,
        causes=_causes(found, explanations[0]) if explanations else (),
        stages=stages.compared if stages else {},
        first=stages.first if stages else None,
    )


def _by_stages(stages: GivenStages) -> Diagnosis:
    """Say where it begins by stages alone, and which mistakes explain them all."""
    bench, targets = stages.bench, [*stages.targets.values()]
    sets: list[Set] = [()]
    if stages.first is not None:
        sets += [(mistake,) for mistake in bench.applicable]
    verdicts = {each: v for each in sets if (v := stages.judge(each)) is not None}
    explaining = [each for each in verdicts if stages.explained(each)]
    if explaining:
        nearest = min(verdicts[each].far for each in explaining)
        limit = max(10 * nearest, 1e-9)
        explaining = [each for each in explaining if verdicts[each].far <= limit]
        explaining.sort(key=lambda each: verdicts[each].far)
    n_q = bench.given.shape[-2]
    count = n_q if bench.queries is None else len(bench.queries)
    found = Found(
        bench=bench,
        targets=targets,
        compared=targets,
        explaining=explaining,
        possible=[],
        unseen=[],
        verdicts=verdicts,
        varied=math.inf,
        right={},
        left_out=[],
        plan=Plan(bench.given.shape, count, count, len(sets), 0.0),
        vague=frozenset(),
        roomy=[],
        rounded=bench.given.rounded,
    )
    return _said(found, {}, stages)


def _causes(found: Found, explanation: Explanation) -> tuple[Cause, ...]:
    """Return the mistakes of an explanation for programs, each with the stage that it changes."""
    causes = []
    for mistake in explanation.mistakes:
        stage = explanation.stage
        if len(explanation.mistakes) > 1:
            stages = found.bench.run((mistake,))
            stage = (stages and found.bench.first_difference(stages)) or stage
        causes.append(
            Cause(
                name=mistake.name,
                number=mistake.number,
                spread=mistake.spread,
                stage=stage,
                fix=mistake.fix,
            )
        )
    return tuple(causes)


@dataclass(frozen=True)
class Forgotten:
    """A mask that was not given, with which the numbers are right."""

    title: str
    call: str  # what to pass as allowed=
    name: str = "padding"  # of the look-ahead mask in MASKS, where there is no padding


def _forgotten(search: Search) -> list[Forgotten]:
    """Return the masks with which the numbers are right, where none was given that hides a key.

    They are look-ahead, padding at the end, of a length for each item, and both. A few queries
    choose the lengths, and only masks that come near there are computed for all.
    """
    given = search.given
    *lead, n_q, n_k = given.shape
    if n_q < 2 or (given.allowed is not None and not np.all(given.allowed)):
        return []
    padded = n_k <= PADDED and math.prod(given.shape) <= PADDED_SCORES
    lengths = np.arange(1 if padded else n_k, n_k + 1)
    queries = np.unique([n_q // 2, n_q - 1])
    bench = Bench(given, queries, like=search.sample)
    targets = [target.rows(queries) for target in search.targets]
    heads = 1 if given.heads > 1 else 0  # an axis of the scores that no length belongs to
    items = tuple(lead[: len(lead) - heads])
    found = []
    for name, words in CORNERS.items():
        if name == "causal_lower_right" and n_q == n_k:
            continue  # both corners are one
        look = MASKS[name](n_q, n_k) if name else np.ones((n_q, n_k), bool)
        keys = np.arange(n_k) < lengths.reshape(-1, *(1,) * (len(lead) + 2))
        stages = bench.hiding_all_but(look[queries] & keys)
        far: np.ndarray | float = 0.0
        for target in targets:
            view = target.drawn_view(bench, stages)
            if view is None:
                return []
            off = distance(view, target.values) / target.size
            far = far + off.reshape(len(lengths), *items, -1).max(axis=-1)
        nearest = np.argmin(np.asarray(far)[::-1], axis=0)  # the longest of equals
        if np.take_along_axis(np.asarray(far)[::-1], nearest[None], axis=0).max() > NEAR:
            continue
        real = lengths[::-1][nearest]
        full = bool((real == n_k).all())
        if full and not name:
            continue  # nothing is hidden
        each = int(real.flat[0]) if np.ptp(real) == 0 else real
        short = real_tokens(each, n_k)
        hides = padding(short[..., None, :] if heads and short.ndim > 1 else short)
        allowed = look if full else look & hides
        masked = replace(given, allowed=allowed)
        if Search(masked, search.theirs, search.decimals).is_right():
            lengths_said = each if isinstance(each, int) else each.tolist()
            axis = "[..., None, :]" if hides.ndim > 3 else ""
            parts = [f"attention.{name}({n_q}, {n_k})"] * bool(name)
            if not full:
                real_said = f"attention.real_tokens({lengths_said}, {n_k}){axis}"
                parts.append(f"attention.padding({real_said})")
            pad = [] if full else ["padding at the end"]
            title = " and ".join([words] * bool(name) + pad)
            found.append(Forgotten(title, " & ".join(parts), name if full else "padding"))
    return found


def _split_already(search: Search) -> bool:
    """Check whether the numbers are right where the axis of Q, K and V before the tokens is heads.

    Inputs of that shape may as well be items each of which has heads to split.
    """
    if not has_axis_of_heads(search.given):
        return False
    try:
        given = checked(replace(search.given, heads=1, kv_heads=None, shape=()))
        return Search(given, search.theirs, search.decimals).is_right()
    except ValueError:  # another part is made for the heads, or an answer has their shape
        return False


def _right_without_heads(
    search: Search, tried: int, stages: GivenStages | None, far: str
) -> Diagnosis:
    """Say that the numbers are right without ``heads``."""
    given = search.given
    lines = (
        f"Right where the heads are split already{far}: Q has shape {given.Q.shape}.",
        *([f"Split again, {stages}."] if stages else []),
        f"Leave out heads={given.heads}.",
    )
    return _right_otherwise(lines, "heads: split already", "queries", search, tried, stages)


def _right_with(
    masks: list[Forgotten], search: Search, tried: int, stages: GivenStages | None, far: str
) -> Diagnosis:
    """Say with which mask, which was not given, the numbers are right."""
    titles = " or with ".join(mask.title for mask in masks)
    calls = " or ".join(f"allowed={mask.call}" for mask in masks)
    lines = (
        f"Right with {titles}, which was not given{far}.",
        *([f"Without it, {stages}."] if stages else []),
        f"Pass {calls}.",
    )
    said = f"No mask was given; right attention with {titles} explains these."
    found = _right_otherwise(lines, "mask: not given", "masked", search, tried, stages)
    return replace(found, details=(said,), mask=masks[0].name)


def _right_otherwise(
    lines: tuple[str, ...],
    cause: str,
    stage: str | None,
    search: Search,
    tried: int,
    stages: GivenStages | None,
) -> Diagnosis:
    """Return what to say where the numbers are right otherwise than as they were given."""
    return Diagnosis(
        explanations=(),
        closest=None,
        unseen=(),
        answers=_answers(search),
        lines=lines,
        verdict=" ".join(lines),
        details=lines[:1],
        correct=False,
        tried=tried,
        plan=search.plan,
        causes=(Cause(cause, stage=stage, fix=lines[-1]),),
        stages=stages.compared if stages else {},
        first=stages.first if stages else None,
    )


def _without(
    search: Search,
    lost: dict[str, str],
    theirs: dict[str, Any],
    decimals: Mapping[str, Places] | None,
    announce: Callable[[str], object] | None,
    stages: GivenStages | None,
) -> Diagnosis:
    """Of two answers the one that has finite numbers, and what there is instead of the other."""
    rest = {name: None if name in lost else answer for name, answer in theirs.items()}
    found = _explained(search.given, rest, decimals, announce, stages)
    (nothing,), (other,) = lost.values(), (name for name, M in rest.items() if M is not None)
    inputs = damaged(search.given)
    before = (
        f"{capital(nothing)}.{f' {inputs}.' if inputs else ''}"
        f" What follows is about the {other} alone."
    )
    return replace(
        found,
        lines=(f"{before} {found.lines[0]}", *found.lines[1:]),
        verdict=f"{before} {found.verdict}",
        answers=_answers(search),
        correct=False,
    )


def _answers(search: Search) -> dict[str, tuple[np.ndarray, ...]]:
    """Theirs, ours and the difference, of what has the shape of right attention's."""
    found: dict[str, tuple[np.ndarray, ...]] = {}
    for target in search.targets:
        ours = search.right.get(target.name)
        if ours is not None:
            theirs = search.compared_of(target).values
            found[target.name] = (theirs, ours, difference(theirs, ours))
    return found


def _explanation(found: Found, mistakes: Set) -> Explanation:
    bench, verdict = found.bench, found.verdicts[mistakes]
    stages = bench.run(mistakes)
    # what mixes queries has no room where only some are shown
    stage = bench.first_difference(stages) if stages else None
    ours, theirs = (bench.right[stage], stages[stage]) if stages and stage else (None, None)
    return Explanation(
        mistakes=mistakes,
        error=verdict.error,
        digits=digits_of(found.targets, verdict),
        half=verdict.half,
        stage=stage,
        ours=ours,
        theirs=theirs,
        queries=bench.queries,
        titles=tuple(titles_of(found, mistakes)),
    )


def _closest(found: Found) -> Set | None:
    """Return the fewest mistakes among those about as near as the nearest, where that is near.

    Near is what leaves less than a quarter of what right attention leaves, or of right attention
    itself, less than a tenth of the numbers; and less than a quarter of what 0 would leave, or,
    where a row is fitted, one row for all.
    """
    verdicts = {
        each: verdict
        for each, verdict in found.verdicts.items()
        if verdict.spread < found.varied / 4 or not any(mistake.fitted for mistake in each)
    }
    if not verdicts:
        return None
    least = min(verdict.spread for verdict in verdicts.values())
    near = [each for each, verdict in verdicts.items() if verdict.spread <= 1.5 * least]
    best = min(near, key=lambda each: (len(each), verdicts[each].spread))
    right = verdicts.get(())
    limit = 0.1 if not best or right is None else min(0.1, right.spread / 4)
    limit = min([limit, *(target.spread / 4 for target in found.targets)])
    return best if verdicts[best].spread <= limit else None
