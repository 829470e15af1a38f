"""Mistakes of many random systems, each made here by plain loops, in float64 and in float32."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from amount import amount
from frameworks.diagnosis.planting import theirs

from attention import diagnose
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.diagnosis.mask_options import MASKED
from attention.frameworks.diagnosis.mistakes import COMMONEST, NoRoom
from attention.frameworks.given import Given, checked

SYSTEMS = amount(12, 200)  # of each mistake and float type


def softmax_of(scores, more=0.0):
    """Return the weights of one row, with this beside the powers of the scores."""
    highest = max(scores)
    powers = [math.exp(score - highest) if highest > -math.inf else 0.0 for score in scores]
    total = sum(powers) + more
    return [power / total if total else 0.0 for power in powers]


def scores_of(q, k):
    width = len(q[0])
    return [
        [sum(x * y for x, y in zip(row, key, strict=True)) / width**0.5 for key in k] for row in q
    ]


def output_of(weights, v):
    columns = range(len(v[0]))
    return [
        [sum(w * value[c] for w, value in zip(row, v, strict=True)) for c in columns]
        for row in weights
    ]


def attend(q, k, v, hides, fill=-math.inf):
    """Return output and weights; ``hides(i, j)`` says which scores become ``fill``."""
    weights = []
    for i, row in enumerate(scores_of(q, k)):
        weights.append(softmax_of([fill if hides(i, j) else s for j, s in enumerate(row)]))
    return np.array(output_of(weights, v)), np.array(weights)


def cut(M, heads):
    width = M.shape[1] // heads
    return [M[:, h * width : (h + 1) * width] for h in range(heads)]


def drawn(seed, kind):
    """Return Q, K and V of a random size, rounded to the float type, and a generator."""
    rng = np.random.default_rng(seed)
    n, d, d_v = rng.integers(5, 9), rng.integers(3, 9), rng.integers(3, 7)
    q, k = rng.standard_normal((2, n, d))
    v = rng.standard_normal((n, d_v))
    return (*(M.astype(kind).astype(float) for M in (q, k, v)), rng)


# ---- the mask ------------------------------------------------------------------------------------


def left_padded(seed, kind):
    q, k, v, rng = drawn(seed, kind)
    first = rng.integers(1, len(q) - 2)
    allowed = np.tril(np.ones((len(q), len(q)), bool)) & (np.arange(len(q)) >= first)
    return {"Q": q, "K": k, "V": v, "allowed": allowed, "look": True}, first


def diagonal_shown(seed, kind):
    given, first = left_padded(seed, kind)
    return given, attend(
        given["Q"], given["K"], given["V"], lambda i, j: j != i and (j > i or j < first)
    )


def padding_lost(seed, kind):
    given, _ = left_padded(seed, kind)
    return given, attend(given["Q"], given["K"], given["V"], lambda i, j: j > i)


def look_ahead_lost(seed, kind):
    given, first = left_padded(seed, kind)
    return given, attend(given["Q"], given["K"], given["V"], lambda i, j: j < first)


def lowest_twice(seed, kind):
    """Look-ahead and padding each add the lowest float32: the sum of both is −∞ in float32."""
    given, first = left_padded(seed, kind)
    lowest = np.finfo(np.float32).min
    weights = []
    for i, row in enumerate(scores_of(given["Q"], given["K"])):
        hidden = np.float32(row)
        with np.errstate(over="ignore"):
            for j in range(len(row)):
                hidden[j] += lowest if j > i else 0
                hidden[j] += lowest if j < first else 0
        weights.append(
            softmax_of(
                [
                    r if j >= first and j <= i else float(s)
                    for j, (s, r) in enumerate(zip(hidden, row, strict=True))
                ]
            )
        )
    return given, (np.array(output_of(weights, given["V"])), np.array(weights))


def infinite(seed, kind):
    """Look-ahead with +∞ in place of −∞: ∞ − ∞ is NaN, and so is the sum of the row."""
    q, k, v, _ = drawn(seed, kind)
    output, weights = attend(q, k, v, lambda i, j: False)
    output[:-1], weights[:-1] = math.nan, math.nan
    return {"Q": q, "K": k, "V": v, "allowed": np.tril(np.ones((len(q), len(q)), bool))}, (
        output,
        weights,
    )


def of_heads(by):
    """Each head has its own padding, and that of another is used."""

    def made(seed, kind):
        q, k, v, rng = drawn(seed, kind)
        q, k, v = (np.concatenate([M, 2 * M[::-1], M[:, ::-1]], axis=1) for M in (q, k, v))
        lengths = rng.permutation(len(k))[:3] + 1
        allowed = np.arange(len(k)) < lengths[:, None, None] + np.zeros((len(q), 1), int)
        each = [
            attend(*parts, lambda i, j, seen=lengths[0 if by is None else (h + by) % 3]: j >= seen)
            for h, parts in enumerate(zip(*(cut(M, 3) for M in (q, k, v)), strict=True))
        ]
        output = np.concatenate([output for output, _ in each], axis=1)
        given = {"Q": q, "K": k, "V": v, "heads": 3, "allowed": allowed}
        return given, (output, np.array([weights for _, weights in each]))

    return made


# ---- axes ----------------------------------------------------------------------------------------


def items_for_tokens(seed, kind):
    """The items at one place attend to one another, as if they were the tokens."""
    rng = np.random.default_rng(seed)
    items, n, heads, d = *rng.integers(2, 6, 2), rng.integers(1, 4), rng.integers(2, 5)
    n, look = items if seed % 3 == 0 else n, bool(seed % 2)
    X = rng.standard_normal((3, items, n, heads * d)).astype(kind).astype(float)
    output, weights = np.zeros(X.shape[1:]), np.zeros((n, heads, items, items))
    for t in range(n):
        each = zip(*(cut(M[:, t], heads) for M in X), strict=True)
        for h, parts in enumerate(each):
            made, weights[t, h] = attend(*parts, lambda i, j: look and j > i)
            output[:, t, h * d : (h + 1) * d] = made
    allowed = np.tril(np.ones((n, n), bool)) if look else None
    given = dict(zip("QKV", X, strict=True)) | {"heads": int(heads), "allowed": allowed}
    return given, (output, weights[:, 0] if heads == 1 else weights)


@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_items_read_as_tokens_are_named(kind):
    for seed in range(SYSTEMS):
        given, (output, weights) = items_for_tokens(seed, kind)
        what = {"output": output.astype(kind)}
        if seed % 4 == 0 and len(output) == output.shape[1]:
            what["weights"] = weights.astype(kind)
        found = diagnose(**given, **what)
        assert [[m.name for m in e.mistakes] for e in found.explanations] == [
            ["axes: tokens first"]
        ], (seed, str(found))


def test_a_mistake_is_named_beside_items_read_as_tokens():
    given, _ = items_for_tokens(3, "f8")
    X = np.concatenate([given["Q"], given["K"]], axis=-1)
    rng = np.random.default_rng(1)
    W = {name: rng.standard_normal((X.shape[-1], 4)) for name in ("W_Q", "W_K", "W_V")}
    output = np.zeros((*X.shape[:2], 4))
    for t in range(X.shape[1]):
        q, k, v = (X[:, t] @ M for M in W.values())
        output[:, t], _ = attend(2 * q, k, v, lambda i, j: False)
    found = diagnose(X=X, **W, output=output)
    assert [{m.name for m in e.mistakes} for e in found.explanations] == [
        {"axes: tokens first", "scale: none"}
    ]


# ---- softmax and heads ---------------------------------------------------------------------------


def softmax_1(given_sink):
    """One more term in each row's sum, exp(sink), beside powers of score − largest score."""

    def made(seed, kind):
        q, k, v, _ = drawn(seed, kind)
        sink = 0.7 if given_sink else 0.0
        weights = [softmax_of(row, more=math.exp(sink)) for row in scores_of(q, k)]
        given = {"Q": q, "K": k, "V": v} | ({"sinks": np.array([sink])} if given_sink else {})
        return given, (np.array(output_of(weights, v)), np.array(weights))

    return made


def divided(seed, kind):
    """Scores over their sum; positive inputs, as negative scores may sum to about 0."""
    q, k, v, _ = drawn(seed, kind)
    q, k = np.abs(q), np.abs(k)
    weights = [[score / sum(row) for score in row] for row in scores_of(q, k)]
    return {"Q": q, "K": k, "V": v}, (np.array(output_of(weights, v)), np.array(weights))


def wide(seed, kind):
    """Return Q, K and V of three heads, side by side."""
    q, k, v, _ = drawn(seed, kind)
    q, k, v = (np.concatenate([M, 2 * M[::-1], M[:, ::-1]], axis=1) for M in (q, k, v))
    return {"Q": q, "K": k, "V": v, "heads": 3}


def softmax_over_heads(seed, kind):
    given = wide(seed, kind)
    scores = [scores_of(*parts) for parts in zip(*(cut(given[x], 3) for x in "QK"), strict=True)]
    weights = np.array(scores)
    for i in range(weights.shape[1]):
        for j in range(weights.shape[2]):
            weights[:, i, j] = softmax_of([score[i][j] for score in scores])
    outputs = [output_of(w, v) for w, v in zip(weights, cut(given["V"], 3), strict=True)]
    return given, (np.concatenate(outputs, axis=1), weights)


def not_split(by_all):
    """All columns are one head; the scores are divided by √ of all columns, or of one head's."""

    def made(seed, kind):
        given = wide(seed, kind)
        q = given["Q"] if by_all else given["Q"] * 3**0.5
        output, weights = attend(q, given["K"], given["V"], lambda i, j: False)
        return given, (output, weights[None])

    return made


def of_the_first(after):
    """Each head is the first; or only its output is, and the weights are right."""

    def made(seed, kind):
        given = wide(seed, kind)
        heads = [*zip(*(cut(given[x], 3) for x in "QKV"), strict=True)]
        each = [attend(*parts, lambda i, j: False) for parts in heads]
        weights = [weights if after else each[0][1] for _, weights in each]
        return given, (np.concatenate([each[0][0]] * 3, axis=1), np.array(weights))

    return made


# ---- a factor of each query and head -------------------------------------------------------------


def gated(seed, kind):
    """A sigmoid of random numbers multiplies what each head gives each query."""
    given = wide(seed, kind)
    rng, heads = np.random.default_rng([seed, 1]), []
    for parts in zip(*(cut(given[x], 3) for x in "QKV"), strict=True):
        output, weights = attend(*parts, lambda i, j: False)
        gates = [1 / (1 + math.exp(-x)) for x in rng.standard_normal(len(output))]
        heads.append((np.array([g * row for g, row in zip(gates, output, strict=True)]), weights))
    return given, (np.concatenate([o for o, _ in heads], axis=1), np.array([w for _, w in heads]))


PLANTED = {
    "join: gated": gated,
    "sinks: added, shifted": softmax_1(False),
    "sinks: shifted": softmax_1(True),
    "softmax: divided": divided,
    "softmax: heads": softmax_over_heads,
    "split: none": not_split(False),
    "split, scale: none": not_split(True),
    "split: first": of_the_first(False),
    "join: first": of_the_first(True),
    "mask: diagonal shown": diagonal_shown,
    "mask: padding lost": padding_lost,
    "mask: look-ahead lost": look_ahead_lost,
    "mask: of the first": of_heads(None),
    "mask: of the next": of_heads(1),
    "mask: of the one before": of_heads(-1),
    "hiding, mask: lowest twice": lowest_twice,
    "hiding: +∞": infinite,
}


@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_is_named_in_random_systems_and_no_other_that_gives_other_numbers(name, kind):
    for seed in range(SYSTEMS):
        given, (output, weights) = PLANTED[name](seed, kind)
        inputs = {key: value for key, value in given.items() if key != "look"}
        what = {"output": output.astype(kind)}
        if seed % 2:
            what["weights"] = (weights[0] if len(weights) == 1 else weights).astype(kind)
        found = diagnose(**inputs, **what)
        sets = [{mistake.name for mistake in e.mistakes} for e in found.explanations]
        assert {name} in sets, (seed, str(found))
        for other in sets if name != "join: gated" else ():  # its numbers are fitted
            with np.errstate(all="ignore"):
                again, _ = theirs(given, frozenset(other))
            assert np.allclose(again, output, rtol=1e-4, atol=1e-5, equal_nan=True), (seed, other)


def layer(seed, kind):
    """Return a layer whose W_O has four to six columns for each head, with look-ahead at times."""
    rng = np.random.default_rng(seed)
    n, heads, d = rng.integers(5, 9), rng.integers(1, 4), rng.integers(4, 7)
    width = int(heads * d)

    def normal(*shape):
        return rng.standard_normal(shape).astype(kind).astype(float)

    given = {name: normal(width, width) / width**0.5 for name in ("W_Q", "W_K", "W_V", "W_O")}
    given |= {name: normal(width) for name in ("b_Q", "b_K", "b_V", "b_O")}
    look = {"allowed": np.tril(np.ones((n, n), bool))} if seed % 2 else {}
    return {"X": normal(n, width), "heads": int(heads), **given, **look}


BESIDE_A_GATE = [m.name for m in COMMONEST if "join" not in m.parts]


@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("name", ["", *BESIDE_A_GATE])
def test_a_gate_before_w_o_is_named_alone_and_beside_each_of_the_commonest(name, kind):
    """Or it stays unknown, where the numbers are too few; nothing else is named."""
    wrong, named, tried = frozenset({"join: gated", name} - {""}), 0, 0
    for seed in range(SYSTEMS):
        given = layer(seed, kind)
        if (name.startswith(("mask", "hiding")) and "allowed" not in given) or (
            name == "split: reshaped" and given["heads"] == 1
        ):
            continue
        with np.errstate(all="ignore"):
            output, _ = theirs(given, wrong)
        found = diagnose(**given, output=output.astype(kind))
        sets = [{mistake.name for mistake in e.mistakes} for e in found.explanations]
        # weights that are set to 0 after the softmax are right ones times a factor of each query
        plain = name == "hiding: after softmax" and sets == [{"join: gated"}]
        named, tried = named + (wrong in sets or plain), tried + 1
        assert wrong in sets or plain or not sets, (seed, str(found))
    assert named > tried / 2, (named, tried)


@pytest.mark.parametrize("n, width", [(40, 16), (40, 32), (48, 64)])
def test_a_gate_before_w_o_is_named_where_a_few_queries_and_columns_are_looked_at_first(n, width):
    rng = np.random.default_rng(n + width)
    given = {x: rng.standard_normal((width, width)) / 4 for x in ("W_Q", "W_K", "W_V", "W_O")}
    given |= {"X": rng.standard_normal((n, width)), "heads": 2, "b_O": rng.standard_normal(width)}
    given |= {"allowed": np.tril(np.ones((n, n), bool))}
    output, _ = theirs(given, frozenset({"join: gated"}))
    found = diagnose(**given, output=output)
    assert [cause.name for cause in found.causes] == ["join: gated"], str(found)


@pytest.mark.parametrize("kind", ["f8", "f4", "f2"])
def test_no_gate_is_named_where_the_weights_are_others(kind):
    """Random weights, or saturated ones with noise on them; values of one direction fit any."""
    for seed in range(SYSTEMS):
        q, k, v, rng = drawn(seed, kind)
        q = q * rng.choice([1, 6])
        v = np.outer(v[:, 0], v[0]) if seed % 3 == 0 else v
        _, weights = attend(q, k, v, lambda i, j: False)
        noisy = weights * rng.uniform(0.5, 1.5, weights.shape)
        found = diagnose(q, k, v, output=np.array(output_of(noisy, v)).astype(kind))
        assert "join: gated" not in {m.name for e in found.explanations for m in e.mistakes}, seed


@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("heads_first", [True, False])
def test_masks_of_items_flattened_in_the_other_order_than_the_scores_are_named(heads_first, kind):
    """Two items of three heads: the masks of (batch · heads) go to the scores one after another."""
    name = "mask: heads first" if heads_first else "mask: items first"
    for seed in range(SYSTEMS):
        rng, outputs = np.random.default_rng(seed), []
        q, k, v = (M.astype(kind).astype(float) for M in rng.standard_normal((3, 2, 6, 9)))
        lengths = [int(rng.integers(1, 4)), int(rng.integers(4, 7))]
        by_head = [(b, h) for h in range(3) for b in range(2)]
        by_item = [(b, h) for b in range(2) for h in range(3)]
        masks, scores = (by_head, by_item) if heads_first else (by_item, by_head)
        given_to = dict(zip(scores, masks, strict=True))
        for b in range(2):
            parts = zip(*(cut(M[b], 3) for M in (q, k, v)), strict=True)
            each = [
                attend(*part, lambda i, j, most=lengths[given_to[b, h][0]]: j >= most)[0]
                for h, part in enumerate(parts)
            ]
            outputs.append(np.concatenate(each, axis=1))
        allowed = (np.arange(6) < np.array(lengths)[:, None])[:, None, None]
        found = diagnose(q, k, v, heads=3, allowed=allowed, output=np.array(outputs).astype(kind))
        assert {name} in [{m.name for m in e.mistakes} for e in found.explanations], str(found)


def test_masks_in_another_order_take_no_more_room_than_one_row_for_all_queries_needs():
    q = np.ones((2, 500, 6))
    real = np.ones((2, 1, 1, 500), bool)
    real[0, ..., -3:] = False
    bench = Bench(checked(Given(Q=q, K=q, V=q, heads=3, allowed=real)))
    assert bench._allowed("heads first").shape == (2, 3, 1, 500)
    with pytest.raises(NoRoom):  # before a byte of so many is made
        MASKED["heads first"](np.broadcast_to(True, (2**9, 2**9, 2**12, 2**12)))


@dataclass
class Masked:
    """What a mask of random size is made of."""

    length: int  # of the tokens that are no padding
    reach: int  # of a window of both sides
    document: list[int]

    def look(self, i, j):
        return j <= i

    def near(self, i, j):
        return abs(i - j) <= self.reach

    def real(self, i, j):
        return j < self.length

    def own(self, i, j):
        return self.document[i] == self.document[j]


MASKED_BOTH = {  # the mask that is given, and what the other code makes of it
    "mask: sides wider": (Masked.near, lambda m, i, j: abs(i - j) <= m.reach + 1),
    "mask: sides narrower": (Masked.near, lambda m, i, j: abs(i - j) < m.reach),
    "mask: last key short": (Masked.near, lambda m, i, j: -m.reach <= j - i < m.reach),
    "mask: nothing after": (Masked.near, lambda m, i, j: 0 <= i - j <= m.reach),
    "mask: nothing before": (Masked.near, lambda m, i, j: 0 <= j - i <= m.reach),
    "mask: window alone": (lambda m, i, j: m.near(i, j) and m.real(i, j), Masked.near),
    "mask: padding alone": (lambda m, i, j: m.near(i, j) and m.real(i, j), Masked.real),
    "mask: padding lost": (lambda m, i, j: m.look(i, j) and m.real(i, j), Masked.look),
    "mask: look-ahead lost": (lambda m, i, j: m.look(i, j) and m.real(i, j), Masked.real),
    "mask: documents lost": (lambda m, i, j: m.look(i, j) and m.own(i, j), Masked.look),
    "mask: documents alone": (lambda m, i, j: m.look(i, j) and m.own(i, j), Masked.own),
    "mask: look-ahead added": (Masked.real, lambda m, i, j: m.look(i, j) and m.real(i, j)),
    "mask: look-ahead instead": (Masked.real, Masked.look),
}


@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("name", MASKED_BOTH)
def test_what_becomes_of_a_mask_of_two_parts_is_named_in_many_systems(name, kind):
    """With what it is the same as there: a mask lost and another in its place may be one."""
    given, made = MASKED_BOTH[name]
    for seed in range(SYSTEMS):
        q, k, v, rng = drawn(seed, kind)
        n = len(q)
        parts = Masked(int(rng.integers(2, n - 1)), int(rng.integers(1, 3)), [])
        cuts = sorted(rng.choice(np.arange(1, n), 2, replace=False))
        parts.document = [int(i >= cuts[0]) + int(i >= cuts[1]) for i in range(n)]
        allowed = np.array([[given(parts, i, j) for j in range(n)] for i in range(n)])
        theirs_sees = np.array([[made(parts, i, j) for j in range(n)] for i in range(n)])
        if (allowed == theirs_sees).all():
            continue
        output, _ = attend(q, k, v, lambda i, j, seen=theirs_sees: not seen[i, j])
        found = diagnose(q, k, v, allowed=allowed, output=output.astype(kind))
        assert found.explanations and not found.correct, (seed, str(found))
        bench = Bench(checked(Given(Q=q, K=k, V=v, allowed=allowed)))
        for each in found.explanations:  # each is that mask, by whatever name
            (mistake,) = each.mistakes
            seen = bench.run((mistake,))["weights"] > 0
            where = theirs_sees.any(axis=1)
            assert (seen == theirs_sees)[where].all(), (seed, mistake.name)
