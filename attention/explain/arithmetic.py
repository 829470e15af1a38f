"""The arithmetic of one cell and of one query, in real numbers and plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from attention.core.scores import FUNCTION, SIGMOID
from attention.explain.captions import by_distance, pushed
from attention.explain.view import View
from attention.vocabulary.numbers import constant, number
from attention.vocabulary.stages import STAGES

MOST_TERMS = 16  # of a sum or vector that is written whole
FIRST, LAST = 4, 2  # of a longer one

Numbers = Iterable[float]
Lines = Callable[[View, str, int, int, int], list[str]]


def cell(view: View, stage: str, i: int, j: int, digits: int = 2) -> list[str]:
    """Return the lines that lead to ``view.stages[stage][i, j]``; the last one ends in its number.

    >>> one = np.array([[1.0, 2.0]])
    >>> stages = {"Q": one, "K": 2 * one, "scores": one @ one.T * 2}
    >>> view = View(stages, {}, np.ones((1, 1), bool), 0.5)
    >>> cell(view, "scores", 0, 0)
    ['query = [1, 2]', 'key = [2, 4]', '1·2 + 2·4', '= 2 + 8', '= 10']
    """
    with np.errstate(all="ignore"):  # ∞ and NaN are shown as they are
        return _CELLS.get(stage, _given)(view, stage, i, j, digits)


@dataclass(frozen=True, eq=False)
class Walk:
    """One query's way through the stages, computed key by key without a matrix product."""

    row: int  # which query
    query: np.ndarray  # (d_k,)
    products: np.ndarray  # (n_k, d_k)  query × key, number by number
    scores: np.ndarray  # (n_k,)  their sums
    scaled: np.ndarray  # (n_k,)
    capped: np.ndarray  # (n_k,)  after the soft cap and score_mod, where there are any
    masked: np.ndarray  # (n_k,)
    highest: float  # the largest visible masked score; NaN where none is visible
    exponentials: np.ndarray  # (n_k,)  exp(masked − highest), 0 where hidden
    sink: float  # exp(sink − highest), 0 where there is no sink
    total: float  # their sum, with the sink
    weights: np.ndarray  # (n_k,)
    shares: np.ndarray  # (n_k, d_v)  weight × value
    output: np.ndarray  # (d_v,)  their sum
    difference: float  # the largest distance from the same row of the matrix form


@dataclass(frozen=True, eq=False)
class Powers:
    """The exponentials of a row of masked scores, as the softmax takes them."""

    highest: float  # the largest visible score, or the sink; NaN where none is visible
    exponentials: np.ndarray  # (n_k,)  exp(masked − highest), 0 where hidden
    sink: float  # exp(sink − highest), 0 where there is no sink
    total: float  # their sum, with the sink


def powers_of(masked: np.ndarray, seen: np.ndarray, sink: float | None) -> Powers:
    """Return the exponentials of a row, (n_k,), one at a time; ``sink`` is a score of no key.

    >>> found = powers_of(np.array([2.0, 2.0]), np.array([True, False]), 2.0)
    >>> found.exponentials.tolist(), found.sink, found.total
    ([1.0, 0.0], 1.0, 2.0)
    """
    keys = range(len(masked))
    with np.errstate(all="ignore"):
        highest = max((masked[j] for j in keys if seen[j]), default=math.nan)
        also = sink if seen.any() else None
        highest = highest if also is None else max(highest, also)
        exponentials = np.array([np.exp(masked[j] - highest) if seen[j] else 0.0 for j in keys])
        its = 0.0 if also is None else float(np.exp(also - highest))
    return Powers(highest, exponentials, its, float(sum(exponentials)) + its)


def walk(view: View, i: int) -> Walk:
    """Take query ``i`` against every key, one at a time: from dot products to the weighted sum."""
    Q, K, V = (view.stages[view.source(name)] for name in "QKV")
    keys, seen = range(len(K)), view.allowed[i]
    with np.errstate(all="ignore"):
        products = np.array([[q * k for q, k in zip(Q[i], key, strict=True)] for key in K])
        products = products.reshape(len(K), -1)
        scores = np.array([sum(row) for row in products])
        scaled = scores * view.scale
        cap = view.softcap
        capped = scaled if cap is None else np.array([cap * math.tanh(s / cap) for s in scaled])
        capped = view.stages["modified"][i] if "modified" in view.stages else capped
        bias = np.zeros(len(K)) if view.bias is None else view.bias[i]
        masked = np.array([capped[j] + bias[j] if seen[j] else -math.inf for j in keys])
        powers = powers_of(masked, seen, view.sink)
        total = powers.total
        weights = np.array([e / total if total else 0.0 for e in powers.exponentials])
        if view.softmax is not True:
            alone = _BY_ITSELF.get(view.softmax)
            weights = (
                view.stages["weights"][i]
                if alone is None
                else np.array([alone(masked[j]) if seen[j] else 0.0 for j in keys])
            )
        nothing = np.zeros(V.shape[1])
        shares = np.array([weights[j] * V[j] if seen[j] else nothing for j in keys])
        output = sum(shares, nothing)
        gaps = [
            np.abs(weights - view.stages["weights"][i]),
            np.abs(output - view.stages["output"][i]),
        ]
    difference = max((float(gap.max()) for gap in gaps if gap.size), default=0.0)
    return Walk(
        row=i,
        query=Q[i],
        products=products,
        scores=_printed(view, "scores", i, scores),
        scaled=_printed(view, "scaled", i, scaled),
        capped=capped,
        masked=_printed(view, "masked", i, masked),
        highest=powers.highest,
        exponentials=powers.exponentials,
        sink=powers.sink,
        total=total,
        weights=_printed(view, "weights", i, weights),
        shares=shares,
        output=_printed(view, "output", i, output),
        difference=difference,
    )


def _sigmoid(score: float) -> float:
    return float(1 / (1 + np.exp(-score)))


_BY_ITSELF: dict[bool | str, Callable[[float], float]] = {False: float, SIGMOID: _sigmoid}


def _printed(view: View, stage: str, i: int, row: np.ndarray) -> np.ndarray:
    """Return a row of a stage, with 0 where the stage is printed as 0."""
    where = view.zeros.get(stage)
    return row if where is None or where[i].shape != row.shape else np.where(where[i], 0, row)


def abridged(texts: Sequence[str], between: str) -> str:
    """Join texts in a line; of many only the first and last, and how many are left out.

    >>> abridged(["1", "2"], " + "), abridged([str(k) for k in range(300)], " + ")
    ('1 + 2', '0 + 1 + 2 + 3 + … 294 more … + 298 + 299')
    """
    if len(texts) <= MOST_TERMS:
        return between.join(texts)
    more = f"… {len(texts) - FIRST - LAST} more …"
    return between.join([*texts[:FIRST], more, *texts[-LAST:]])


def vector(values: Numbers, digits: int = 2) -> str:
    """Write a vector: ``[1, 2.50, −3]``; a long one is abridged."""
    return f"[{abridged([number(v, digits) for v in values], ', ')}]"


def dot(
    a: Numbers, b: Numbers, total: float, digits: int = 2, added: float | None = None
) -> list[str]:
    """Write three lines: the products to compute, the products, and their sum as the stage has it.

    The sum is an argument: added again in another order, it could differ in its last bit. A bias
    ``added`` comes last.
    """
    with np.errstate(all="ignore"):
        products = [_factor(x * y, digits) for x, y in zip(a, b, strict=True)]
    more = "" if added is None else f" + {_factor(added, digits)}"
    work = [f"{terms(a, b, digits)}{more}", f"= {abridged(products, ' + ')}{more}"]
    return [*work, "= " + number(total, digits)]


def terms(a: Numbers, b: Numbers, digits: int = 2) -> str:
    """Write a sum of products: ``1·2 + 2·(−4)``; a long one is abridged."""
    pairs = zip(a, b, strict=True)
    return abridged([f"{_factor(x, digits)}·{_factor(y, digits)}" for x, y in pairs], " + ")


def _factor(value: float, digits: int) -> str:
    return bracketed(number(value, digits))


def bracketed(text: str) -> str:
    """Return a number as it is written after a sign: ``2``, ``(−2)``."""
    return f"({text})" if text.startswith("−") else text


def _given(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    return [f"an input: {number(view.printed(stage)[i, j], digits)}"]


@dataclass(frozen=True, eq=False)
class Product:
    """The row and the column whose products add up to a cell."""

    left: str  # the stage of the row
    right: str  # and of the column: a row of K is a column of Kᵀ
    at: list[int]  # which terms of them: of an output those of the visible keys
    a: np.ndarray  # (terms,)
    b: np.ndarray  # (terms,)
    bias: str  # the stage of the bias that is added, "" where there is none
    added: float | None  # its number


_PRODUCTS = {
    "Q": ("X", "W_Q"),
    "K": ("memory", "W_K"),
    "V": ("memory", "W_V"),
    "scores": ("Q", "K"),
    "output": ("weights", "V"),
    "projected": ("joined", "W_O"),
}


def product_of(view: View, stage: str, i: int, j: int) -> Product | None:
    """Return the row and the column that cell (i, j) is made of; None where it is no product."""
    left, right = (view.source(name) for name in _PRODUCTS.get(stage, ("", "")))
    if left not in view.stages or right not in view.stages:
        return None
    a = view.printed(left)[i]
    b = view.printed(right)[j] if stage == "scores" else view.printed(right)[:, j]
    at = np.flatnonzero(view.allowed[i]) if stage == "output" else np.arange(len(a))
    bias = right.replace("W_", "b_") if right.startswith("W_") else ""
    bias = bias if bias in view.stages else ""
    added = float(view.stages[bias][0, j]) if bias else None
    return Product(left, right, at.tolist(), a[at], b[at], bias, added)


def _product(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    found = product_of(view, stage, i, j)
    if found is None:
        return _given(view, stage, i, j, digits)
    left, right = _FACTORS.get(
        stage,
        (
            f"row of {STAGES[found.left].heading} (the token)",
            f"column of {STAGES[found.right].heading} (the dimension)",
        ),
    )
    head = [f"{left} = {vector(found.a, digits)}", f"{right} = {vector(found.b, digits)}"]
    total = view.printed(stage)[i, j]
    return head + dot(found.a, found.b, total, digits, found.added)


_FACTORS = {"scores": ("query", "key"), "output": ("weights", "values")}


def _sum(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    parts = [_factor(view.printed(source)[i, j], digits) for source, _ in view.sources(stage)]
    return [" + ".join(parts), f"= {number(view.printed(stage)[i, j], digits)}"]


@dataclass(frozen=True, eq=False)
class Norming:
    """The parts of a normed cell: its row, the root that divides it, and the gain."""

    source: str  # the stage of the row
    row: np.ndarray  # (d_k,)
    root: float  # √(mean of the squares + eps)
    eps: float
    whole: bool  # whether the mean is that of all heads
    gain: float | None  # None where there is none


def norming_of(view: View, stage: str, i: int, j: int) -> Norming | None:
    """Return how cell (i, j) of Q normed or K normed is made; None where the view does not say."""
    letter = stage[0]
    if view.norm is None or letter not in view.root_mean_squares:
        return None
    source = view.source(letter, stage)
    row, root = view.printed(source)[i], float(view.root_mean_squares[letter][i])
    gain = None
    if getattr(view.norm, f"gain_{letter}") is not None:
        gain = float(view.norm.gain_of_head(letter, len(row), view.head, view.heads)[j])
    whole = view.norm.whole and view.heads > 1
    return Norming(source, row, root, view.norm.eps, whole, gain)


def _normed(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    found = norming_of(view, stage, i, j)
    if found is None:
        return _given(view, stage, i, j, digits)
    row, root = found.row, constant(found.root, digits)
    mean = f"({abridged([f'{_factor(x, digits)}²' for x in row], ' + ')}) / {len(row)}"
    if found.whole:
        mean = f"mean of its squares in all {view.heads} heads"
    times = "" if found.gain is None else f" · {bracketed(constant(found.gain, digits))}"
    return [
        f"row of {STAGES[found.source].heading} = {vector(row, digits)}",
        f"√({mean} + {constant(found.eps, digits)}) = {root}",
        f"{_factor(row[j], digits)} / {root}{times}",
        f"= {number(view.printed(stage)[i, j], digits)}",
    ]


@dataclass(frozen=True, eq=False)
class Rotation:
    """The pair of numbers that a cell is turned in, and the angle."""

    source: str  # the stage of the pair
    pair: int  # which one, from 0
    first: int  # the column of a
    second: int  # the column of b
    is_first: bool  # whether the cell is that of a
    position: int
    frequency: float
    angle: float
    a: float
    b: float
    cos: float
    sin: float
    factor: float  # of the result


def rotation_of(view: View, stage: str, i: int, j: int) -> Rotation | None:
    """Return how cell (i, j) of Q rotated or K rotated is turned; None where it is not."""
    if view.rotary is None:
        return None
    source = view.source(stage[0], stage)
    row = view.printed(source)[i]
    d_k, position = len(row), i + (view.rotary.offset if stage[0] == "Q" else 0)
    first, second = (list(range(d_k)[part]) for part in view.rotary.pairs_of(d_k))
    if j not in first + second:
        return None
    pair = first.index(j) if j in first else second.index(j)
    frequency = float(view.rotary.turns(d_k)[pair])
    angle = position * frequency
    return Rotation(
        source=source,
        pair=pair,
        first=first[pair],
        second=second[pair],
        is_first=j in first,
        position=position,
        frequency=frequency,
        angle=angle,
        a=float(row[first[pair]]),
        b=float(row[second[pair]]),
        cos=math.cos(angle),
        sin=math.sin(angle),
        factor=view.rotary.factor,
    )


def _rotated(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    if view.rotary is None:
        return _given(view, stage, i, j, digits)
    found, result = rotation_of(view, stage, i, j), number(view.printed(stage)[i, j], digits)
    if found is None:
        many = turned_columns(view)
        return [f"only the first {many} columns are rotated; this one stays", f"= {result}"]
    work = turned(found, digits)
    return [
        f"pair {found.pair + 1}: columns {found.first + 1} and {found.second + 1}",
        f"θ = position × frequency = {found.position} × {number(found.frequency, 6)}"
        f" = {number(found.angle, 6)}",
        "a cos θ − b sin θ" if found.is_first else "b cos θ + a sin θ",
        work if found.factor == 1 else f"({work}) · {constant(found.factor, digits)}",
        f"= {result}",
    ]


def turned_columns(view: View) -> int:
    """Return how many of the first columns of Q and K are rotated."""
    return 0 if view.rotary is None else 2 * len(view.rotary.turns(view.stages["Q"].shape[1]))


def turned(found: Rotation, digits: int) -> str:
    """Return ``a·cos θ − b·sin θ`` in numbers, or ``b·cos θ + a·sin θ``."""
    a, b = (bracketed(number(x, digits)) for x in (found.a, found.b))
    cos, sin = (bracketed(constant(x, digits)) for x in (found.cos, found.sin))
    return f"{a}·{cos} − {b}·{sin}" if found.is_first else f"{b}·{cos} + {a}·{sin}"


def _scaled(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    score, scaled = view.printed("scores")[i, j], view.printed("scaled")[i, j]
    d_k = view.stages["Q"].shape[1]
    if view.divides_by_root:
        root = constant(math.sqrt(d_k), digits)
        work = f"{number(score, digits)} / √{d_k} = {number(score, digits)} / {root}"
    else:
        work = f"{number(score, digits)} × {constant(view.scale, digits)}"
    return [work, f"= {number(scaled, digits)}"]


def added_by_distance(view: View, i: int, j: int, digits: int = 2) -> list[str]:
    """Return a line for what T5's relative bias adds to a score, and one for ALiBi."""
    lines = []
    if view.buckets is not None and view.relative is not None:
        row, added = int(view.buckets[i, j]), number(view.relative[i, j], digits)
        places = view.labels["buckets"][row]
        lines.append(f"bucket {row} of R (key − query: {places}): {added}")
    if alibi := by_distance(view):
        slope, distance = alibi[0], int(alibi[1][i, j])
        added = number(-slope * distance, digits)
        lines.append(f"−slope × distance = −{constant(slope, digits)} × {distance} = {added}")
    return lines


def _mask(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    result = f"M = {number(view.printed('mask')[i, j], digits)}"
    if not view.allowed[i, j] or pushed(view)[i, j]:
        return ["this query may not look at this key", result]
    if lines := added_by_distance(view, i, j, digits):
        return [*lines, result]
    if view.bias is not None and view.bias[i, j] != 0:
        return ["a bias is added to this score", result]
    return ["this query may look at this key", result]


def _capped(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    if view.softcap is None:
        return _given(view, stage, i, j, digits)
    scaled, cap = number(view.printed("scaled")[i, j], digits), constant(view.softcap, digits)
    return [f"{cap} · tanh({scaled} / {cap})", f"= {number(view.printed(stage)[i, j], digits)}"]


def _modified(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    before = view.source("scaled", stage)
    made = number(view.printed(stage)[i, j], digits)
    return [f"score_mod makes of {number(view.printed(before)[i, j], digits)}", f"= {made}"]


def _masked(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    scaled = number(view.printed(view.source("scaled"))[i, j], digits)
    if not view.allowed[i, j]:
        return ["this query may not look at this key", f"{scaled} becomes −∞"]
    if view.bias is not None and view.bias[i, j] != 0:
        return [
            f"{scaled} + ({number(view.bias[i, j], digits)})",
            f"= {number(view.printed('masked')[i, j], digits)}",
        ]
    return [
        "this query may look at this key",
        f"{scaled} stays {number(view.printed('masked')[i, j], digits)}",
    ]


def _weights(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    if not view.allowed[i, j]:
        why = (
            "every key of this query is hidden"
            if not view.allowed[i].any()
            else "this key is hidden"
        )
        return [why, "the weight is 0"]
    if "masked" not in view.stages:
        return [
            "a finished weight, as it was brought",
            f"= {number(view.printed(stage)[i, j], digits)}",
        ]
    w = walk(view, i)
    if not view.softmax:
        return [
            "softmax is off: the score itself is the weight",
            f"= {number(view.printed(stage)[i, j], digits)}",
        ]
    result = f"= {number(view.printed(stage)[i, j], digits)}"
    if view.softmax == FUNCTION:
        return ["what the given function makes of the row", result]
    if view.softmax == SIGMOID:
        score = number(-w.masked[j], digits)
        exponential = number(float(np.exp(-w.masked[j])), digits)
        return [
            "each weight by itself",
            f"1 / (1 + exp({score})) = 1 / (1 + {exponential})",
            result,
        ]
    highest, masked = number(w.highest, digits), _factor(w.masked[j], digits)
    difference = number(w.masked[j] - w.highest, digits)
    exponential, total = number(w.exponentials[j], digits), number(w.total, digits)
    row = abridged([number(e, digits) for e in w.exponentials], " + ")
    sink = []
    if view.sink is not None:
        value, its = number(view.sink, digits), number(w.sink, digits)
        difference_of_sink = number(view.sink - w.highest, digits)
        sink = [f"the sink, a score of no key = {value}: exp({difference_of_sink}) = {its}"]
        highest += " (with the sink)"
        row += f" + {its} (the sink)"
    return [
        f"max of the row = {highest}",
        f"exp({masked} − {_factor(w.highest, digits)}) = exp({difference}) = {exponential}",
        *sink,
        f"Σ of the row = {row} = {total}",
        f"{exponential} ÷ {total}",
        result,
    ]


def _output(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    if not view.allowed[i].any():
        return ["every key of this query is hidden", "the output is 0"]
    return _product(view, stage, i, j, digits)


def _joined(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    width = view.stages["V"].shape[1]
    return [
        f"column {j % width + 1} of head {j // width}, copied",
        f"= {number(view.printed('joined')[i, j], digits)}",
    ]


def _context(view: View, stage: str, i: int, j: int, digits: int) -> list[str]:
    column = view.printed("output")[:, j]
    return [
        abridged([_factor(v, digits) for v in column], " + "),
        f"= {number(view.printed('context')[i, j], digits)}",
    ]


_CELLS: dict[str, Lines] = {
    "X_P": _sum,
    **dict.fromkeys(("Q_normed", "K_normed"), _normed),
    **dict.fromkeys(("Q_rotated", "K_rotated"), _rotated),
    **dict.fromkeys(("Q", "K", "V", "scores", "projected"), _product),
    "scaled": _scaled,
    "capped": _capped,
    "modified": _modified,
    "mask": _mask,
    "masked": _masked,
    "weights": _weights,
    "output": _output,
    "joined": _joined,
    "context": _context,
}
