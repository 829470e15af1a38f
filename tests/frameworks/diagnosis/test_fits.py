"""Numbers that are fitted, each planted here by plain loops, in float64 and in float32."""

import cmath
import math

import messages
import numpy as np
import pytest
from amount import amount
from frameworks.diagnosis.planting import theirs

from attention import RMSNorm, Rotary, causal, diagnose
from attention.frameworks.diagnosis.fits import constants

SYSTEMS = amount(10, 200)  # of each number and float type
RIGHT = amount(60, 1000)
UNKNOWN = amount(12, 200)


def attend(q, k, v, by=None, bias=None, hides=None, sink=None, fill=-math.inf, cap=None, cold=1.0):
    """Return the output and the weights of one head, number by number."""
    by = len(q[0]) ** -0.5 if by is None else by
    outputs, weights = [], []
    for i, row in enumerate(q):
        scores = []
        for j, key in enumerate(k):
            score = by * sum(x * y for x, y in zip(row, key, strict=True))
            score = cap * math.tanh(score / cap) if cap else score
            score += bias[i][j] if bias is not None else 0.0
            hidden = hides is not None and hides(i, j)
            scores.append(cold * (fill if hidden else score))
        highest = max(scores)
        powers = [math.exp(score - highest) for score in scores]
        total = sum(powers) + (0 if sink is None else math.exp(cold * sink - highest))
        weights.append([power / total for power in powers])
        columns = range(len(v[0]))
        outputs.append(
            [sum(w * x[c] for w, x in zip(weights[-1], v, strict=True)) for c in columns]
        )
    return np.array(outputs), np.array(weights)


def drawn(seed, kind):
    """Return Q, K and V of a random size, as this float type holds them, and a generator."""
    rng = np.random.default_rng(seed)
    n, d, d_v = rng.integers(5, 10), 2 * rng.integers(2, 6), rng.integers(3, 7)
    q, k = rng.standard_normal((2, n, d))
    v = rng.standard_normal((n, d_v))
    return (*(M.astype(kind).astype(float) for M in (q, k, v)), rng)


def away(rng, own=1.0):
    """Return a number that is neither ours nor near it."""
    return own * math.exp(rng.choice([-1, 1]) * rng.uniform(0.05, 1.2))


def turned(M, base, first=0):
    """Return the rows with columns k and k + width / 2 as complex numbers, turned."""
    half = M.shape[1] // 2
    found = M.copy()
    for p, row in enumerate(M):
        for c in range(half):
            z = complex(row[c], row[c + half]) * cmath.exp(1j * (first + p) * base ** (-c / half))
            found[p, c], found[p, c + half] = z.real, z.imag
    return found


# ---- each number: what is given, what is answered, and what it is --------------------------------


def scale(seed, kind):
    q, k, v, rng = drawn(seed, kind)
    number = away(rng, q.shape[1] ** -0.5)
    return {"Q": q, "K": k, "V": v}, attend(q, k, v, by=number), number


def another_width(seed, kind):
    q, k, v, rng = drawn(seed, kind)
    width = rng.choice([w for w in range(11, 60) if w not in (16, 36)])  # those are 1/d_k as well
    number = float(width) ** -0.5
    return {"Q": q, "K": k, "V": v}, attend(q, k, v, by=number), number


def temperature(what):
    def made(seed, kind):
        q, k, v, rng = drawn(seed, kind)
        number = away(rng)
        given = {"Q": q, "K": k, "V": v}
        if what == "softcap":
            return given | {"softcap": 1.5}, attend(q, k, v, cap=1.5, cold=number), number
        if what == "sinks":
            return given | {"sinks": [0.8]}, attend(q, k, v, sink=0.8, cold=number), number
        bias = rng.standard_normal((len(q), len(k)))
        return given | {"bias": bias}, attend(q, k, v, bias=bias, cold=number), number

    return made


def bias_factor(seed, kind):
    q, k, v, rng = drawn(seed, kind)
    bias, number = rng.standard_normal((len(q), len(k))), away(rng)
    return {"Q": q, "K": k, "V": v, "bias": bias}, attend(q, k, v, bias=number * bias), number


def slopes(seed, kind):
    """ALiBi with other slopes, on look-ahead."""
    q, k, v, rng = drawn(seed, kind)
    far = np.array([[abs(i - j) for j in range(len(k))] for i in range(len(q))])
    number = away(rng)
    given = {"Q": q, "K": k, "V": v, "bias": -0.25 * far, "allowed": causal(len(q), len(k))}
    answer = attend(q, k, v, bias=-0.25 * number * far, hides=lambda i, j: j > i)
    return given, answer, number


def base(seed, kind):
    q, k, v, rng = drawn(seed, kind)
    number = float(rng.integers(20, 3000))
    given = {"Q": q, "K": k, "V": v, "rotary": Rotary()}
    return given, attend(turned(q, number), turned(k, number), v), number


def position(seed, kind):
    q, k, v, rng = drawn(seed, kind)
    number = int(rng.choice([-9, -3, -2, 2, 5, 11]))
    given = {"Q": q, "K": k, "V": v, "rotary": Rotary(base=100.0)}
    return given, attend(turned(q, 100.0, number), turned(k, 100.0), v), number


def sink(seed, kind):
    q, k, v, rng = drawn(seed, kind)
    number = rng.uniform(0.3, 3) * rng.choice([-1, 1])
    return {"Q": q, "K": k, "V": v}, attend(q, k, v, sink=number), number


def empty_keys(seed, kind):
    """Some keys of zeros, with values of zeros."""
    q, k, v, rng = drawn(seed, kind)
    count = int(rng.integers(2, 7))
    more = [np.concatenate([M, np.zeros((count, M.shape[1]))]) for M in (k, v)]
    output, weights = attend(q, *more)
    return {"Q": q, "K": k, "V": v}, (output, weights[:, : len(k)]), math.log(count)


def fill(seed, kind):
    q, k, v, rng = drawn(seed, kind)
    number = float(rng.choice([-2.5, -4.0, -6.25, 2.0]))
    given = {"Q": q, "K": k, "V": v, "allowed": causal(len(q), len(k))}
    return given, attend(q, k, v, hides=lambda i, j: j > i, fill=number), number


def eps(seed, kind):
    q, k, v, rng = drawn(seed, kind)
    number = float(rng.choice([0.01, 0.05, 0.5]))
    normed = [
        np.array([row / math.sqrt(sum(x * x for x in row) / len(row) + number) for row in M])
        for M in (q, k)
    ]
    return {"Q": q, "K": k, "V": v, "norm": RMSNorm()}, attend(*normed, v), number


def dropout(seed, kind):
    """Return no output: in some systems it is told from weights alone."""
    q, k, v, rng = drawn(seed, kind)
    rate = float(rng.choice([0.1, 0.25, 0.5]))
    _, weights = attend(q, k, v)
    gone = rng.random(weights.shape) < rate
    gone[0, 0] = True
    weights = np.array(
        [
            [0.0 if g else w / (1 - rate) for g, w in zip(*rows, strict=True)]
            for rows in zip(gone, weights, strict=True)
        ]
    )
    return {"Q": q, "K": k, "V": v}, weights, rate


@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_the_rate_of_dropout_is_named_where_weights_are_given(kind):
    for seed in range(SYSTEMS):
        given, weights, rate = dropout(seed, kind)
        what = {"weights": weights.astype(kind)}
        if seed % 2:
            what["output"] = (weights @ given["V"]).astype(kind)
        (mistake,) = numbers_of(found := diagnose(**given, **what))
        assert mistake.name == f"dropout: {rate:.4g}", (seed, str(found))


PLANTED = {
    "scale": scale,
    "scale of another width": another_width,
    "temperature": temperature("bias"),
    "temperature with a cap": temperature("softcap"),
    "temperature with a sink": temperature("sinks"),
    "bias": bias_factor,
    "bias of ALiBi": slopes,
    "rotary: base": base,
    "rotary: position": position,
    "sinks": sink,
    "sinks of empty keys": empty_keys,
    "hiding": fill,
    "norm: eps": eps,
}


def numbers_of(found):
    """Return the fitted mistakes of what explains the numbers."""
    return [m for e in found.explanations for m in e.mistakes if m.number is not None]


def _named(mistake, name):
    part, _, option = name.split(" of ")[0].split(" with ")[0].partition(": ")
    return mistake.name.startswith(f"{part}: {option}")


@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_number_is_named_with_its_spread_in_random_systems(name, kind):
    for seed in range(SYSTEMS):
        given, (output, weights), number = PLANTED[name](seed, kind)
        what = {"output": output.astype(kind)}
        if seed % 2:
            what["weights"] = weights.astype(kind)
        found = diagnose(**given, **what)
        fitted = [m for m in numbers_of(found) if _named(m, name)]
        assert not found.correct and len(fitted) == 1, (seed, number, str(found))
        (mistake,) = fitted
        assert abs(mistake.number - number) <= 2 * mistake.spread + 1e-12, (seed, str(found))
        assert mistake.spread <= 0.01 * abs(number), (seed, str(found))


@pytest.mark.parametrize("seed", range(amount(1, 20)))
@pytest.mark.parametrize("common", ["mask: ignored", "order: Q and K", "mask: inverted"])
def test_a_number_is_named_beside_one_of_the_commonest_mistakes(common, seed):
    q, k, v, rng = drawn(seed, "f4")
    n, by = len(q), away(rng, q.shape[1] ** -0.5)
    allowed = causal(n, n) | (rng.random((n, n)) < 0.3)
    given = {"Q": q, "K": k, "V": v, "allowed": allowed}
    swapped = (k, q) if common == "order: Q and K" else (q, k)
    hides = {"mask: ignored": lambda i, j: False, "mask: inverted": lambda i, j: allowed[i, j]}
    if common == "mask: inverted":
        allowed[:, 0] = False
        allowed[0] = [False] * (n // 2) + [True] * (n - n // 2)
    output, _ = attend(*swapped, v, by=by, hides=hides.get(common, lambda i, j: not allowed[i, j]))
    found = diagnose(**given, output=output.astype("f4"))
    sets = [{m.name for m in e.mistakes if m.number is None} for e in found.explanations]
    assert {common} in sets, str(found)
    (mistake, *_) = numbers_of(found)
    assert mistake.name.startswith("scale: ") and mistake.number == pytest.approx(by, rel=1e-5)


GIVEN = {  # right attention with the number that was fitted
    "scale": lambda given, number: given | {"scale": number},
    "bias": lambda given, number: given | {"bias": number * given["bias"]},
    "rotary: base": lambda given, number: given | {"rotary": Rotary(base=number)},
    "sinks": lambda given, number: given | {"sinks": [number]},
}


@pytest.mark.parametrize("name", [*GIVEN, "temperature"])
def test_the_number_makes_the_answer_right_and_one_per_cent_away_does_not(name):
    for seed in range(SYSTEMS):
        given, (output, _), number = PLANTED[name](seed, "f4")
        (mistake,) = [m for m in numbers_of(diagnose(**given, output=output)) if _named(m, name)]
        assert mistake.spread < 0.001 * abs(number)
        for by in (0.99, 1.01) if name in GIVEN else ():
            right, off = (GIVEN[name](given, x * mistake.number) for x in (1, by))
            assert diagnose(**right, output=output).correct, (seed, number)
            assert not diagnose(**off, output=output).correct, (seed, number)


@pytest.mark.parametrize("seed", range(amount(5, 50)))
def test_right_attention_one_per_cent_off_is_not_right(seed):
    q, k, v, _ = drawn(seed, "f4")
    by = q.shape[1] ** -0.5
    output, _ = attend(q, k, v, by=1.01 * by)
    (mistake,) = numbers_of(diagnose(q, k, v, output=output.astype("f4")))
    assert mistake.number == pytest.approx(1.01 * by, rel=1e-5)


@pytest.mark.parametrize(
    ("value", "own", "said"),
    [
        (5**-0.5, 24**-0.5, ["1/√5"]),
        (1 / 24, 0.5, ["1/√576", "1/24"]),
        (24**0.5, 1.5, ["√24"]),
        (0.3 * math.log2(math.e), 0.3, ["0.3 · log₂ e"]),
        (0.31 * math.log(2), 0.31, ["0.31 · ln 2"]),
        (0.31 * (0.1 * math.log(40) + 1) ** 2, 0.31, ["0.31 · mscale², of YaRN's 40 times"]),
        (0.31 / 7, 0.31, ["0.31 / 7"]),
        (0.3173, 0.2041, []),
    ],
)
def test_a_scale_is_called_by_a_constant_that_its_spread_singles_out(value, own, said):
    assert constants(value, 1e-9 * value, own) == said
    assert constants(value, 0.02 * value, own) == []


def test_a_scale_of_another_width_says_both_widths():
    q, k, v = np.random.default_rng(1).standard_normal((3, 6, 24))
    output, weights = attend(q, k, v, by=5**-0.5)
    said = messages.SCALE_FITTED.format(value="0.4472 = 1/√5", own="0.2041 = 1/√24")
    for answer in ({"output": output}, {"weights": weights}):
        (mistake,) = numbers_of(diagnose(q, k, v, **answer))
        assert mistake.title == said and mistake.name == "scale: 0.4472"


def test_digits_are_no_more_than_the_numbers_tell():
    q, k, v = np.random.default_rng(5).standard_normal((3, 6, 8))
    output, _ = attend(q, k, v, by=0.2345)
    (mistake,) = numbers_of(diagnose(q, k, v, output=output.round(3)))
    assert abs(mistake.number - 0.2345) <= mistake.spread < 0.01
    assert "=" not in mistake.title.partition(", not by")[0]


# ---- nothing is accused, nothing renamed ---------------------------------------------------------


def rounded(kind):
    return {
        "f4": lambda M: M.astype("f4"),
        "f2": lambda M: M.astype("f2"),
        "4": lambda M: M.round(4),
    }[kind]


@pytest.mark.parametrize("kind", ["f4", "f2", "4"])
def test_right_answers_are_not_said_to_have_another_number(kind):
    for seed in range(RIGHT):
        q, k, v, rng = drawn(seed, "f8")
        given, more = {"Q": q, "K": k, "V": v}, {}
        if seed % 2:
            bias = rng.standard_normal((len(q), len(k)))
            given["bias"], more["bias"] = bias, bias
        if seed % 3 == 0:
            given["allowed"], more["hides"] = causal(len(q), len(k)), lambda i, j: j > i
        if seed % 5 == 0:
            given["sinks"], more["sink"] = [0.5], 0.5
        if seed % 7 == 0:
            given["softcap"] = more["cap"] = 2.0
        Q, K = q, k
        if seed % 11 == 0:
            given["rotary"] = Rotary(base=500.0)
            Q, K = turned(q, 500.0), turned(k, 500.0)
        output, weights = attend(Q, K, v, **more)
        answer = {"output": rounded(kind)(output)}
        if seed % 4 == 0:
            answer["weights"] = rounded(kind)(weights)
        found = diagnose(**given, **answer)
        assert found.correct, (seed, str(found))


def sparsemax(row):
    high = sorted(row, reverse=True)
    for count in range(len(row), 0, -1):
        level = (sum(high[:count]) - 1) / count
        if high[count - 1] > level:
            break
    return [max(x - level, 0.0) for x in row]


def relu(row):
    total = sum(max(x, 0.0) for x in row)
    return [max(x, 0.0) / total if total else 0.0 for x in row]


def softplus(row):
    total = sum(math.log1p(math.exp(x)) for x in row)
    return [math.log1p(math.exp(x)) / total for x in row]


def squared(row):
    total = sum(x * x for x in row)
    return [x * x / total for x in row]


OTHERS = {"sparsemax": sparsemax, "relu": relu, "softplus": softplus, "squared": squared}


@pytest.mark.parametrize("kind", ["f4", "4", "eye"])
@pytest.mark.parametrize("name", OTHERS)
def test_no_number_is_named_for_another_softmax(name, kind):
    for seed in range(UNKNOWN):
        q, k, v, _ = drawn(seed, "f8")
        if kind == "eye":
            q = k = np.eye(len(v))
        scores = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in k] for x in q]
        weights = np.array([OTHERS[name]([s / q.shape[1] ** 0.5 for s in row]) for row in scores])
        answer = {"output": rounded("f4" if kind == "eye" else kind)(weights @ v)}
        if seed % 2:
            answer["weights"] = rounded("f4" if kind == "eye" else kind)(weights)
        assert not numbers_of(found := diagnose(q, k, v, **answer)), (seed, str(found))


@pytest.mark.parametrize("kind", ["f4", "f2", "4"])
def test_no_number_is_named_for_random_answers(kind):
    for seed in range(UNKNOWN):
        q, k, v, rng = drawn(seed, "f8")
        given = {"Q": q, "K": k, "V": v}
        if seed % 2:
            given |= {"allowed": causal(len(q), len(k)), "bias": rng.standard_normal((1, len(k)))}
        if seed % 3 == 0:
            given |= {"rotary": Rotary(), "norm": RMSNorm()}
        weights = rng.dirichlet(np.ones(len(k)), len(q))
        noise = rng.standard_normal((len(q), v.shape[1]))
        right, _ = attend(q, k, v)
        for output in (noise, weights @ v, right + 0.05 * noise):
            found = diagnose(**given, output=rounded(kind)(output))
            assert not numbers_of(found), (seed, str(found))
        found = diagnose(**given, weights=rounded(kind)(weights))
        assert not numbers_of(found), (seed, str(found))


TWO = [
    {"hiding: 0", "softmax: sigmoid"},
    {"mask: one ahead", "softmax: divided"},
    {"softmax: divided", "hiding: 0"},
    {"scale: d_k", "mask: diagonal shown"},
    {"scale: inverse", "mask: one ahead"},
    {"softmax: twice", "scale: d_k"},
]


@pytest.mark.parametrize("wrong", TWO, ids=lambda wrong: ", ".join(sorted(wrong)))
def test_a_number_is_named_for_two_unlisted_mistakes_only_where_it_gives_their_numbers(wrong):
    for seed in range(amount(8, 100)):
        q, k, v, _ = drawn(seed, "f8")
        given = {"Q": q, "K": k, "V": v, "allowed": causal(len(q), len(k))}
        output, weights = theirs(given, frozenset(wrong))
        found = diagnose(**given, output=output.astype("f4"), weights=weights[0].astype("f4"))
        for mistake in numbers_of(found):
            assert mistake.name.startswith("scale: ") and wrong & {"scale: d_k", "scale: inverse"}
            value = {"scale: d_k": 1 / q.shape[1], "scale: inverse": q.shape[1] ** 0.5}
            (option,) = wrong & set(value)
            assert mistake.number == pytest.approx(value[option], rel=1e-4), (seed, str(found))
