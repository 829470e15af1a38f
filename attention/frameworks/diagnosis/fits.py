"""Numbers that are fitted to the other code's: the scale, a sink, the base of a rotation.

A number is tried on a few queries first, at once with others of a coarse grid: where no number
between two neighbours comes much nearer, none does. From there Newton's steps on the squared
distances lead to it, and what is left of them says how far other numbers would fit as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from attention.arrays.distance import distance
from attention.frameworks.diagnosis.answers import Set, Target
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.diagnosis.mistakes import (
    ALIBI,
    BASE,
    COMMONEST,
    FILL,
    NORM,
    OFFSET,
    SCALE,
    Mistake,
    mixing,
)
from attention.vocabulary.numbers import MINUS
from attention.vocabulary.sentences import in_words

AT_ONCE = 2**13  # scores that a grid computes at once, where one query does not take more
TURNED = 2**20  # numbers of Q and K that a grid rotates or norms at once
PAIRED = 2**12  # of Q or K, up to which a rotation is fitted with another mistake as well
FEWEST, MOST = 1, 8  # queries that a grid is tried on
PROMISING = 0.7  # of the distance from the nearer of two neighbours, at most, to what is between
STEPS = 12  # of Newton's method
STEP = 1e-5  # by which a slope is measured
DEVIATIONS = 3  # of a fitted number that are its spread
NUMBERS, DISTINCT = 4, 3  # that tell, at least: independent ones, and rows that differ
EVIDENCE = 6  # digits that agree by the fit, in all numbers together, at least
NEARER = 10  # times as near as the nearest without the fit, at least
ARITHMETIC = 1e-12  # of a number, a spread that float64 leaves in any case
WIDE = 0.01  # of a number, a spread that is said
EXACT = 1e-3  # of a number, a spread up to which it is taken for a decimal within it
FEW_DIGITS = 7  # of a number that is written out
CHANCE = 0.01  # that a number is a known constant by accident, at most
WIDTHS = 4096  # up to which a scale is that of a width
TIMES = np.exp([-4, -2, -1, -0.5, -0.05, 0.05, 0.5, 1, 2, 4])  # ours, to begin with
YARN = (2, 4, 8, 10, 16, 20, 32, 40, 64, 128)  # factors by which contexts are lengthened
OFFSETS = 64  # positions, at most, by which a first query is tried to be off


@dataclass(frozen=True)
class Kind:
    """A number of one part of the arithmetic that may be another than ours."""

    part: str
    option: str  # before the number: "base ", or ""
    own: Callable[[Bench], float | None]  # right attention's; None: there is no room for another
    grid: Callable[[Bench], np.ndarray]
    mistake: Callable[[Bench, float, float, float], tuple[str, str]]  # own, number, spread
    logarithmic: bool = True
    paired: bool = True  # whether it is also tried with each of the commonest mistakes

    def trial(self, values: Iterable[float], said: tuple[str, str] = ("", "")) -> Mistake:
        """Return the mistake that puts these numbers in the place of ours, all at once."""
        option = self.option + ",".join(repr(float(value)) for value in values)
        return Mistake(((self.part, option),), *said)

    def named(self, bench: Bench, value: float, spread: float) -> Mistake:
        own = self.own(bench)
        title, fix = self.mistake(bench, math.nan if own is None else own, value, spread)
        choices = self.trial([value]).choices
        return Mistake(choices, title, fix, number=value, spread=spread)


# ---- how a number is written -------------------------------------------------------------------


def written(value: float, spread: float) -> str:
    """Return a number with as many digits as its spread allows: four, or up to seven if all are.

    >>> written(5**-0.5, 1e-12), written(0.35 + 1e-12, 1e-9), written(0.44721, 0.004)
    ('0.4472', '0.35', '0.45')
    >>> written(500000.2, 3.0), written(-3.0, 0.0), written(1.23e-6, 1e-9)
    ('500000', '−3', '1.23e−6')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:.4g}".replace("-", MINUS)
    text = f"{value:.4g}"
    for digits in range(1, FEW_DIGITS + 1):
        short = f"{value:.{digits}g}"
        if abs(float(short) - value) <= max(spread, 1e-14 * abs(value)):
            text = short
            break
    number = float(text)
    if number == int(number) and abs(number) < 1e15:
        text = str(int(number))
    elif "e" in text:
        mantissa, _, power = text.partition("e")
        text = f"{mantissa}e{int(power)}"
    return text.replace("-", MINUS)


def _give_or_take(value: float, spread: float) -> str:
    """Return how far other numbers would fit as well, where that is far."""
    if spread <= WIDE * abs(value):
        return ""
    return f" (give or take {f'{spread:.1g}'.replace('-', MINUS)}, which these numbers do not tell)"


def _single(value: float, spread: float, constant: float) -> bool:
    """Whether a number is a constant as far as can be told."""
    return abs(value - constant) <= max(spread, 1e-12 * abs(value))


def _whole(value: float, spread: float, most: int = WIDTHS) -> int | None:
    """Return the whole number that a number is, where it is not so by chance: its spread is small.

    >>> _whole(5.0001, 0.001), _whole(5.4, 0.001), _whole(5.0001, 0.1)
    (5, None, None)
    """
    if not 1.5 < value < most + 0.5 or 2 * spread > CHANCE:
        return None
    near = round(value)
    return near if abs(value - near) <= max(spread, 1e-10 * value) else None


def constants(value: float, spread: float, own: float) -> list[str]:
    """Return what a scale is among known constants, where its spread singles it out.

    >>> constants(5**-0.5, 1e-9, 24**-0.5), constants(0.25, 1e-9, 0.2)
    (['1/√5'], ['1/√16', '1/4'])
    >>> constants(24**-0.5 / 3, 1e-9, 24**-0.5), constants(0.4471, 0.01, 0.2)
    (['1/√216', '0.2041 / 3'], [])
    """
    found = []
    ours, ratio = written(own, 0), value / own
    share = max(spread / value, 1e-15)
    if width := _whole(value**-2, 2 * share * value**-2):
        found.append(f"1/√{width}")
    if width := _whole(1 / value, share / value):
        found.append(f"1/{width}")
    if (width := _whole(value**2, 2 * share * value**2)) and math.isqrt(width) ** 2 != width:
        found.append(f"√{width}")
    if times := _whole(ratio, share * ratio, 256):
        found.append(f"{ours} · {times}")
    if times := _whole(1 / ratio, share / ratio, 256):
        found.append(f"{ours} / {times}")
    if share * 100 < CHANCE:
        more = {"log₂ e": math.log2(math.e), "ln 2": math.log(2)}
        more |= {f"mscale², of YaRN's {s} times": (0.1 * math.log(s) + 1) ** 2 for s in YARN}
        found += [f"{ours} · {name}" for name, by in more.items() if _single(ratio, share, by)]
    return found[:2]


# ---- what is said of each ----------------------------------------------------------------------


def _scale(bench: Bench, own: float, value: float, spread: float) -> tuple[str, str]:
    known = " = ".join([written(value, spread), *constants(value, spread, own)])
    g = bench.whole
    d_k = (g.Q if g.X is None else g.W_Q).shape[-1] // g.heads
    ours = written(own, 0)
    if math.isclose(own, d_k**-0.5) and ours != f"1/√{d_k}":
        ours = f"{ours} = 1/√{d_k}"
    said = f"the scores are multiplied by {known}, not by {ours}"
    return said + _give_or_take(value, spread), SCALE if g.scale is None else PASSED


PASSED = "Pass the scale on, and check that it is used."
COLD = "Take a temperature into the scale, or divide what enters the softmax on both sides by it."
FACTOR = "Add the bias once, as it is; look for a factor on the way to the scores."
SUNK = (
    "Hide the keys that pad, or give sinks= on both sides: n keys of zeros add n to each row's sum,"
    " as softmax_n does."
)
EVAL = "Compare without dropout: model.eval() turns it off."


def _temperature(bench: Bench, own: float, value: float, spread: float) -> tuple[str, str]:
    what = [
        name
        for name, there in (
            ("the soft cap", bench.given.softcap),
            ("the bias", bench.given.bias),
            ("the relative bias", bench.given.relative),
            ("the sinks", bench.given.sinks),
        )
        if there is not None
    ]
    said = f"the scores are multiplied by {written(value, spread)} once more, with {in_words(what)}"
    over = f": a temperature of {written(1 / value, spread / value**2)}"
    return said + over + _give_or_take(value, spread), COLD


def _bias(bench: Bench, own: float, value: float, spread: float) -> tuple[str, str]:
    said = f"the additive bias is multiplied by {written(value, spread)}"
    return said + _give_or_take(value, spread), FACTOR if value > 0 else f"{FACTOR} {ALIBI}"


def _relative(bench: Bench, own: float, value: float, spread: float) -> tuple[str, str]:
    said = f"the relative bias is multiplied by {written(value, spread)}"
    return said + _give_or_take(value, spread), FACTOR


def _sink(bench: Bench, own: float, value: float, spread: float) -> tuple[str, str]:
    text, power = written(value, spread), math.exp(value)
    if keys := _whole(power, power * spread):
        text += f" = ln {keys}"
    said = f"a score of {text} is in each row's sum"
    if keys:
        said += f": {keys} keys of zeros that are not hidden, or softmax_n"
    return said + _give_or_take(max(1, abs(value)), spread), SUNK


def _fill(bench: Bench, own: float, value: float, spread: float) -> tuple[str, str]:
    said = f"hidden scores are filled with {written(value, spread)}"
    return said + _give_or_take(value, spread), FILL


def _base(bench: Bench, own: float, value: float, spread: float) -> tuple[str, str]:
    said = f"the rotation's base is {written(value, spread)}, not {written(own, 0)}"
    return said + _give_or_take(value, spread), BASE


def _position(bench: Bench, own: float, value: float, spread: float) -> tuple[str, str]:
    first = written(value, 0)
    return f"the first query is rotated as position {first}, not {written(own, 0)}", OFFSET


def _eps(bench: Bench, own: float, value: float, spread: float) -> tuple[str, str]:
    said = f"the norm's eps is {written(value, spread)}, not {written(own, 0)}"
    return said + _give_or_take(value, spread), NORM


# ---- ours, and those that are tried ------------------------------------------------------------


def _own_scale(bench: Bench) -> float:
    return float(bench._factor(None))


def _own_temperature(bench: Bench) -> float | None:
    g = bench.given
    parts = (g.softcap, g.bias, g.relative, g.sinks)
    return None if all(part is None for part in parts) else 1.0


def _own_bias(bench: Bench) -> float | None:
    bias = bench.given.bias
    return None if bias is None or not (np.isfinite(bias) & (bias != 0)).any() else 1.0


def _own_relative(bench: Bench) -> float | None:
    return None if bench.given.relative is None else 1.0


def _own_sink(bench: Bench) -> float | None:
    plain = bench.given.sinks is None and bench.given.softmax is True
    return -math.inf if plain else None


def _own_fill(bench: Bench) -> float | None:
    allowed = bench.given.allowed
    return None if allowed is None or np.all(allowed) else -math.inf


def _own_base(bench: Bench) -> float | None:
    rotary = bench.given.rotary
    if rotary is None or rotary.frequencies is not None:
        return None
    return None if len(rotary.turns(bench.right["Q"].shape[-1])) < 2 else rotary.base


def _own_position(bench: Bench) -> float | None:
    return None if bench.given.rotary is None else float(bench.given.rotary.offset)


def _own_eps(bench: Bench) -> float | None:
    return None if bench.given.norm is None else bench.given.norm.eps


def _logsum(bench: Bench) -> float:
    """Return the logarithm of a row's sum: the median."""
    masked = bench.right["masked"]
    masked = masked[np.isfinite(masked).any(axis=-1)]
    masked = masked[~np.isnan(masked).any(axis=-1)]
    if not masked.size:
        return 0.0
    highest = masked.max(axis=-1, keepdims=True)
    sums = np.exp(masked - highest).sum(axis=-1)
    return float(np.median(highest[..., 0] + np.log(sums)))


def _sinks(bench: Bench) -> np.ndarray:
    return _logsum(bench) + np.arange(-10.0, 7.0, 2.0)


def _fills(bench: Bench) -> np.ndarray:
    return _logsum(bench) - math.log(bench.given.shape[-1]) + np.arange(-14.0, 11.0, 3.0)


def _turned(bench: Bench) -> int:
    """Return how many numbers are normed and rotated for each number that is tried."""
    return max(bench.right["Q"].size, bench.right["K"].size, 1)


def _positions(bench: Bench) -> np.ndarray:
    """Return offsets of each sign, the nearest first."""
    n_q, n_k = bench.given.shape[-2:]
    most = min(2 * max(n_q, n_k, 8), OFFSETS, max(OFFSETS // 8, TURNED // _turned(bench)))
    return np.arange(-most, most + 1.0) + (_own_position(bench) or 0)


def _factors(bench: Bench) -> np.ndarray:
    return np.array([-4.0, -2.0, -1.0, 0.0, 0.5, 0.95, 1.05, 2.0, 4.0, 16.0])


def _scales(bench: Bench) -> np.ndarray:
    return _own_scale(bench) * TIMES


def _temperatures(bench: Bench) -> np.ndarray:
    return TIMES


def _bases(bench: Bench) -> np.ndarray:
    step = 0.5 if _turned(bench) <= TURNED // 4 else 1.0
    return 1.001 * 10.0 ** np.arange(1.0, 8.1, step)  # beside the bases that models have


def _epses(bench: Bench) -> np.ndarray:
    return 10.0 ** np.arange(-13.0, 1.0)


KINDS = (
    Kind("norm", "eps ", _own_eps, _epses, _eps, paired=False),
    Kind("rotary", "base ", _own_base, _bases, _base),
    Kind("rotary", "position ", _own_position, _positions, _position, logarithmic=False),
    Kind("scale", "", _own_scale, _scales, _scale),
    Kind("bias", "factor ", _own_bias, _factors, _bias, logarithmic=False),
    Kind("relative", "factor ", _own_relative, _factors, _relative, logarithmic=False),
    Kind("hiding", "", _own_fill, _fills, _fill, logarithmic=False),
    Kind("sinks", "", _own_sink, _sinks, _sink, logarithmic=False),
    Kind("temperature", "", _own_temperature, _temperatures, _temperature),
)


# ---- the fit -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """A number on the way to fitting: itself or its logarithm, what it leaves, and the slope."""

    at: float
    left: np.ndarray
    slope: np.ndarray

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.left))


def _estimate(fit: Fit, unit: np.ndarray, what: Callable[[float], float]) -> tuple[float, float]:
    """Return the number and its spread, by what is left and by how the answer is written.

    Where some numbers give all that was written, it is one of these: the mean of the squares alone
    may be just beside them. ``what`` makes the number of what was fitted.
    """
    left, slope = fit.left, fit.slope
    squared = float(slope @ slope)
    noise = np.maximum(unit / 3**0.5, fit.norm / left.size**0.5)
    spread = DEVIATIONS * float(np.linalg.norm(slope * noise)) / squared
    moves = np.abs(slope) > 1e-9 * np.abs(slope).max()
    ends = (np.array([[-1.0], [1.0]]) * unit - left)[:, moves] / slope[moves]
    low, high = float(ends.min(axis=0).max()), float(ends.max(axis=0).min())
    at = fit.at + (min(max(0.0, low), high) if low <= high else 0.0)
    if spread > 1:
        return what(at), math.inf
    value = what(at)
    spread = max(abs(what(at + spread) - value), ARITHMETIC * abs(value))
    least, most = value - spread, value + spread
    if low <= high:
        ends = np.array([what(fit.at + low), what(fit.at + high)])
        least, most = max(least, float(ends.min())), min(most, float(ends.max()))
    if value and spread < EXACT * abs(value):
        for digits in range(1, FEW_DIGITS):
            short = float(f"{value:.{digits}g}")
            if least <= short <= most:
                return short, spread
    return value, spread


class Fits:
    """Fits one number, alone or with one other mistake, to the queries that are searched."""

    def __init__(self, bench: Bench, rows: list[Target]) -> None:
        self.bench, self.rows = bench, rows
        self.kinds = [kind for kind in KINDS if kind.own(bench) is not None]
        chosen = self._telling()
        self.few = [target.rows(chosen) for target in rows]
        queries = chosen if bench.queries is None else bench.queries[chosen]
        self.small = Bench(bench.given, queries, like=bench)
        self.moved: dict[Set, int] = {}  # independent numbers that tell of each fit
        self.small.right  # noqa: B018 - made once, for all mistakes to share

    def alone(self) -> Iterator[Set]:
        """Yield each fitted number."""
        for kind in self.kinds:
            yield from self._fitted((), kind)
        yield from self._dropout()

    def pairs(self) -> Iterator[Set]:
        """Yield each fitted number with one of the commonest mistakes."""
        turned = _turned(self.bench) <= PAIRED
        kinds = [k for k in self.kinds if k.paired and (turned or k.part != "rotary")]
        for other in (m for m in COMMONEST if m in self.bench.applicable):
            for kind in kinds:
                if kind.part not in other.parts:
                    yield from self._fitted((other,), kind)

    def _telling(self) -> np.ndarray:
        """Return some of the queries searched: those where right attention is furthest off."""
        count = self.rows[0].values.shape[-2]
        far = np.zeros(count)
        for target in self.rows:
            ours = target.view(self.bench, self.bench.right)
            if ours is not None:
                apart = distance(ours, target.values).max(axis=-1)
                far += apart.reshape(-1, count).max(axis=0)
        far = np.where(np.isfinite(far), far, -1)
        scores = self.bench.scores // max(count, 1)
        most = min(MOST, max(FEWEST, AT_ONCE // max(10 * scores, 1)))
        return np.sort(np.argsort(-far, kind="stable")[:most])

    def _fitted(self, others: Set, kind: Kind) -> Iterator[Set]:
        bench, rows = self.small, self.few
        if mixing(others):
            if self.bench.queries is not None:
                return
            bench, rows = self.bench, self.rows
        start = self._start(bench, rows, others, kind)
        if start is None:
            return
        if kind.option == "position ":
            value, spread = start, 0.0
            values = np.array([value, value + 1])
            left = self._left(self.bench, self.rows, others, kind, values)
            moved = 0 if left is None else self._moved(kind, left[1] - left[0])
        else:
            first = self._newton(bench, rows, others, kind, start)
            fit = first and self._newton(self.bench, self.rows, others, kind, first.at)
            if fit is None:
                return
            moved = self._moved(kind, fit.slope)
            unit = np.concatenate(
                [(target.half_unit / target.size).ravel() for target in self.rows]
            )
            value, spread = _estimate(fit, unit, math.exp if kind.logarithmic else float)
        own = kind.own(self.bench)
        if own is None or abs(value - own) <= spread or value == own:
            return
        if moved >= NUMBERS:
            fitted = (*others, kind.named(self.bench, value, spread))
            self.moved[fitted] = moved
            yield fitted

    def _left(
        self, bench: Bench, rows: list[Target], others: Set, kind: Kind, values: np.ndarray
    ) -> np.ndarray | None:
        """Return what each number leaves of the other code's, (numbers tried, numbers)."""
        stages = bench.run((*others, kind.trial(values)))
        if stages is None:
            return None
        left = []
        for target in rows:
            view = stages[target.name] if len(values) == 1 else None
            if view is not None:
                view = target.view(bench, stages)
                view = None if view is None else view[None]
            else:
                view = target.drawn_view(bench, stages)
            if view is None or len(view) != len(values):
                return None
            told = np.isfinite(target.values)
            apart = (view - np.where(told, target.values, 0)) / target.size
            left.append(np.where(told, apart, 0).reshape(len(values), -1))
        all_left = np.concatenate(left, axis=1)
        return all_left if np.isfinite(all_left).all() else None

    def _start(self, bench: Bench, rows: list[Target], others: Set, kind: Kind) -> float | None:
        """Return where to begin, near a number of a coarse grid; None where none comes nearer."""
        values = kind.grid(self.bench)
        at_once = len(values)
        if kind.part in ("norm", "rotary"):
            at_once = min(at_once, max(2, TURNED // _turned(bench)))
        found = []
        for first in range(0, len(values), at_once):
            left = self._left(bench, rows, others, kind, values[first : first + at_once])
            if left is None:
                return None
            found.append(left)
        left = np.concatenate(found)
        far = np.linalg.norm(left, axis=1)
        if kind.option == "position ":
            best, second = np.argsort(far)[:2]
            return float(values[best]) if far[best] < far[second] / NEARER else None
        between = np.diff(left, axis=0)
        lengths = (between * between).sum(axis=1)
        share = -(left[:-1] * between).sum(axis=1) / np.where(lengths > 0, lengths, 1)
        share = np.clip(share, 0, 1)
        nearest = np.linalg.norm(left[:-1] + share[:, None] * between, axis=1)
        best = int(nearest.argmin())
        if not lengths[best]:
            return None
        if nearest[best] > PROMISING * min(far[best], far[best + 1]):  # unless one end is near
            return self._at(kind, values[far.argmin()]) if far.min() < np.median(far) / 10 else None
        low, high = (self._at(kind, values[k]) for k in (best, best + 1))
        return low + float(share[best]) * (high - low)

    @staticmethod
    def _at(kind: Kind, value: float) -> float:
        return math.log(value) if kind.logarithmic else float(value)

    def _newton(
        self, bench: Bench, rows: list[Target], others: Set, kind: Kind, at: float
    ) -> Fit | None:
        """Return where the squared distances are smallest; None where they stay large."""
        best: Fit | None = None
        first = math.inf
        for _ in range(STEPS):
            values = np.array([at, at + STEP])
            values = np.exp(values) if kind.logarithmic else values
            left = self._left(bench, rows, others, kind, values)
            if left is None:
                return None
            fit = Fit(at, left[0], (left[1] - left[0]) / STEP)
            squared = float(fit.slope @ fit.slope)
            if not squared or not math.isfinite(squared):
                return None
            if best is not None and fit.norm > 0.7 * best.norm:
                best = fit if fit.norm < best.norm else best
                break
            best = fit
            first = min(first, fit.norm)
            step = -float(fit.slope @ fit.left) / squared
            if abs(step) < 1e-14 * max(1, abs(at)):
                break
            at += max(-1.0, min(1.0, step))
        return best

    def tells(self, fitted: Set, without: float, by: float) -> bool:
        """Whether a fit says more than chance: by how much nearer it comes, in how many numbers."""
        digits = math.log10(without / max(by, 1e-16)) if without > 0 else 0
        return digits >= math.log10(NEARER) and (self.moved[fitted] - 1) * digits >= EVIDENCE

    def _moved(self, kind: Kind, slope: np.ndarray) -> int:
        """Return how many independent numbers it moves; 0 where it could turn any into theirs."""
        count, moved, norms = 0, 0, []
        n_k, seen = self.bench.given.shape[-1], self.bench.right["visible"]
        keys = np.broadcast_to(seen, (*seen.shape[:-1], n_k)).sum(axis=-1)
        keys = keys.reshape(-1, keys.shape[-1]).max(axis=0)
        keys = np.full(keys.shape, n_k) if kind.part == "hiding" else keys
        keys = keys - (kind.part != "sinks")
        for target in self.rows:
            shape = target.values.shape
            moves = slope[count : count + target.values.size].reshape(shape)
            count += target.values.size
            length = np.linalg.norm(moves, axis=-1)
            telling = length > 1e-3 * length.max(initial=0)
            heads = self.bench.given.heads if target.name == "output" else 1
            independent = np.minimum(shape[-1], heads * np.broadcast_to(keys, shape[-2:-1]))
            moved = max(moved, int((telling * independent).sum()))
            norms.append(length[telling])
        if kind.part in ("scale", "temperature"):
            return moved if self._gaps() >= NUMBERS else 0
        return moved if _distinct(np.concatenate(norms)) >= DISTINCT else 0

    def _gaps(self) -> int:
        """Return how many different distances from a row's largest score there are."""
        scores = self.bench.right["scaled"]
        seen = np.broadcast_to(self.bench.right["visible"], scores.shape)
        highest = np.where(seen, scores, -np.inf).max(axis=-1, keepdims=True)
        gaps = (highest - scores)[seen & np.isfinite(highest)]
        return _distinct(gaps[gaps > 0])

    def _dropout(self) -> Iterator[Set]:
        """Yield dropout of the weights: some are 0, the others what they were times 1/(1 − p)."""
        weights = next((target for target in self.rows if target.name == "weights"), None)
        if weights is None or weights.values.shape != self.bench.right["weights"].shape:
            return
        theirs, ours = weights.values, self.bench.right["weights"]
        unit = weights.half_unit + 1e-6 * ours
        gone = theirs == 0
        kept = ~gone & (ours > unit)
        if not (gone & (ours > 10 * unit)).any() or kept.sum() < NUMBERS:
            return
        if _distinct(ours[kept]) < NUMBERS or not np.isfinite(theirs).all():
            return
        factor = float((theirs * ours)[kept].sum() / (ours * ours)[kept].sum())
        if not factor > 1:
            return
        fit = Fit(factor, (factor * ours - theirs)[kept], ours[kept])
        p, spread = _estimate(fit, weights.half_unit[kept], lambda factor: 1 - 1 / factor)
        if not p > spread:
            return
        title = (
            f"dropout of {written(p, spread)}: {int((gone & (ours > unit)).sum()):,} of the"
            f" {int((ours > unit).sum()):,} weights are 0, and the others"
            f" {1 / (1 - p):.4g} times what they were"
        )
        choices = (("dropout", repr(p)),)
        said = title + _give_or_take(p, spread)
        fitted = (Mistake(choices, said, EVAL, number=p, spread=spread),)
        self.moved[fitted] = int(kept.sum())
        yield fitted


def _distinct(values: np.ndarray) -> int:
    """Return how many numbers differ by more than a thousandth of the largest."""
    values = np.sort(values[np.isfinite(values)].ravel())
    if not values.size:
        return 0
    return 1 + int((np.diff(values) > 1e-3 * values[-1]).sum())
