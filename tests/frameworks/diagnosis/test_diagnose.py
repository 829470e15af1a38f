"""Every mistake, and pairs of them, are planted by another hand: see planting.py.

Of the pairs, and of what is planted from output alone or beside the weights, a share by seed; all
of them with THOROUGH=1.
"""

import random
import re
import tracemalloc
import weakref
from dataclasses import replace
from itertools import chain, combinations, product

import messages
import numpy as np
import pytest
from amount import amount, some
from frameworks.diagnosis import right_answers
from frameworks.diagnosis.planting import all_said, theirs

import attention
from attention import (
    RelativeBias,
    RMSNorm,
    Rotary,
    alibi,
    causal,
    causal_lower_right,
    diagnose,
    multi_head_attention,
    scaled_dot_product_attention,
    self_attention,
    sinusoidal,
    sliding_window,
    window,
)
from attention.frameworks.diagnosis.answers import Target, compare
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.diagnosis.mistakes import BY_NAME as NAMES
from attention.frameworks.diagnosis.mistakes import COMMONEST, MISTAKES
from attention.frameworks.diagnosis.search import Search
from attention.frameworks.given import Given, checked
from attention.frameworks.precision import written as how_written

inf, nan = np.inf, np.nan
PAIRS = amount(8, 1000)  # planted in each system
NOTHING_FINITE = messages.NOTHING_TO_COMPARE.partition("{")[0]
NOTHING_FINITE += messages.EVERY_NUMBER_LOST.partition("{")[0]


# ---- what is given -------------------------------------------------------------------------------


def systems() -> dict[str, dict]:
    rng = np.random.default_rng(7)

    def normal(*shape):
        return rng.standard_normal(shape)

    mask = rng.random((6, 6)) < 0.6
    mask[2], mask[:, 4] = False, False
    mask[4, :2] = True
    padding = np.arange(6) < 4
    return {
        "one head": {"Q": normal(6, 6), "K": normal(6, 6), "V": normal(6, 6)},
        "look-ahead, more keys": {
            "Q": normal(3, 5),
            "K": normal(5, 5),
            "V": normal(5, 5),
            "allowed": causal(3, 5),
        },
        "look-ahead, lower right": {
            "Q": normal(3, 5),
            "K": normal(5, 5),
            "V": normal(5, 5),
            "allowed": causal_lower_right(3, 5),
            "corner": "lower right",
        },
        "heads, mask and cap": {
            "X": normal(6, 8),
            "W_Q": normal(8, 8),
            "W_K": normal(8, 8),
            "W_V": normal(8, 8),
            "heads": 2,
            "allowed": mask,
            "softcap": 3.0,
        },
        "shared heads": {
            "X": normal(6, 10),
            "W_Q": normal(10, 12),
            "W_K": normal(10, 6),
            "W_V": normal(10, 6),
            "heads": 4,
            "kv_heads": 2,
            "allowed": mask,
        },
        "second sequence, own scale": {
            "X": normal(3, 4),
            "memory": normal(5, 4),
            "W_Q": normal(4, 4),
            "W_K": normal(4, 4),
            "W_V": normal(4, 4),
            "scale": 0.3,
            "allowed": causal(3, 5, 1),
        },
        "NaN at a hidden key": {
            "Q": normal(3, 2),
            "K": normal(4, 2),
            "V": np.where(np.arange(4)[:, None] == 3, nan, normal(4, 2)),
            "allowed": np.broadcast_to([True, True, True, False], (3, 4)),
        },
        "a whole layer, look-ahead and padding": {
            "X": normal(6, 8),
            "W_Q": normal(8, 8),
            "W_K": normal(8, 8),
            "W_V": normal(8, 8),
            "W_O": normal(8, 8),
            "b_Q": normal(8),
            "b_K": normal(8),
            "b_V": normal(8),
            "b_O": normal(8),
            "heads": 2,
            "allowed": causal(6, 6) & padding,
            "look": True,
        },
        "a layer with a bias on the scores, padding": {
            "X": normal(6, 6),
            "W_Q": normal(6, 6),
            "W_K": normal(6, 6),
            "W_V": normal(6, 6),
            "heads": 2,
            "bias": normal(6, 6),
            "allowed": np.broadcast_to(padding, (6, 6)),
            "scale": 0.5,
        },
        "a sigmoid, look-ahead": {
            "Q": normal(6, 3),
            "K": normal(6, 3),
            "V": normal(6, 4),
            "allowed": causal(6, 6),
            "softmax": "sigmoid",
        },
        "look-ahead": {
            "Q": normal(7, 3),
            "K": normal(7, 3),
            "V": normal(7, 5),
            "allowed": causal(7, 7),
        },
        "norms, rotation and a window": {
            "X": normal(6, 8),
            "W_Q": normal(8, 8),
            "W_K": normal(8, 4),
            "W_V": normal(8, 4),
            "heads": 2,
            "kv_heads": 1,
            "norm": RMSNorm(1.5 + 0.5 * normal(4), 1.5 + 0.5 * normal(4)),
            "rotary": Rotary(base=50.0),
            "allowed": window(6, 6, 3),
            "window": 3,
        },
        "a cache, a part of the width": {
            "Q": normal(3, 6),
            "K": normal(7, 6),
            "V": normal(7, 6),
            "rotary": Rotary(base=100.0, pairs="interleaved", width=4, offset=4),
            "allowed": causal_lower_right(3, 7),
            "corner": "lower right",
        },
        "sinks, a cap and ALiBi": {
            "Q": normal(6, 8),
            "K": normal(6, 8),
            "V": normal(6, 8),
            "heads": 2,
            "sinks": np.array([0.4, 1.3]),
            "softcap": 1.5,
            "bias": alibi(6, 6, 2),
        },
        "positions, own angles, a norm after them": {
            "X": normal(4, 8),
            "memory": normal(6, 8),
            "W_Q": normal(8, 8),
            "W_K": normal(8, 8),
            "W_V": normal(8, 6),
            "heads": 2,
            "positions": sinusoidal(4, 8),
            "norm": RMSNorm(1.5 + 0.5 * normal(8), None, whole=True, after_rotary=True),
            "rotary": Rotary(frequencies=[0.7, 0.2], factor=1.2),
        },
        "ALiBi of three heads, look-ahead": {
            "Q": normal(6, 9),
            "K": normal(6, 9),
            "V": normal(6, 6),
            "heads": 3,
            "bias": alibi(6, 6, 3),
            "allowed": causal(6, 6),
        },
        "shared heads, a cache of rotated keys": {
            "Q": normal(3, 16),
            "K": normal(5, 8),
            "V": normal(5, 6),
            "heads": 4,
            "kv_heads": 2,
            "rotary": Rotary(base=20.0, offset=2),
        },
        "a relative bias": {
            "Q": normal(6, 8),
            "K": normal(6, 8),
            "V": normal(6, 8),
            "heads": 2,
            "relative": RelativeBias(normal(8, 2), max_distance=5),
        },
        "a relative bias of a decoder": {
            "Q": normal(7, 3),
            "K": normal(7, 3),
            "V": normal(7, 3),
            "relative": RelativeBias(normal(4, 1), False, max_distance=4),
            "allowed": causal(7, 7),
            "scale": 1.0,
        },
        "look-ahead, padding on the left": {
            "Q": normal(6, 3),
            "K": normal(6, 3),
            "V": normal(6, 4),
            "allowed": causal(6, 6) & (np.arange(6) > 1),
            "look": True,
        },
        "a mask for each head": {
            "Q": normal(4, 9),
            "K": normal(5, 9),
            "V": normal(5, 6),
            "heads": 3,
            "allowed": np.arange(5) < np.array([2, 5, 4])[:, None, None] + np.zeros((4, 1), int),
        },
        "packed documents, look-ahead": {
            "Q": normal(7, 3),
            "K": normal(7, 3),
            "V": normal(7, 4),
            "allowed": causal(7, 7) & np.kron(np.eye(2, dtype=bool), np.ones((4, 4), bool))[:7, :7],
            "document": [0, 0, 0, 0, 1, 1, 1],
        },
        "a window of both sides, padding": {
            "Q": normal(7, 3),
            "K": normal(7, 3),
            "V": normal(7, 4),
            "allowed": sliding_window(7, 7, 2, 2) & (np.arange(7) < 6),
            "sides": 2,
        },
        "as many tokens as columns": {
            "X": normal(5, 5),
            "W_Q": normal(5, 5),
            "W_K": normal(5, 5),
            "W_V": normal(5, 5),
        },
        "padding, more keys": {
            "Q": normal(4, 3),
            "K": normal(6, 3),
            "V": normal(6, 4),
            "allowed": np.broadcast_to(np.arange(6) % 3 < 2, (4, 6)),
        },
    }


SYSTEMS = systems()
NOTES = {
    "corner",
    "look",
    "window",
    "sides",
    "document",
}  # what the other hand has to be told, and ours finds out


def inputs(system: str) -> dict:
    return {name: value for name, value in SYSTEMS[system].items() if name not in NOTES}


def bench_of(given: dict) -> Bench:
    return Bench(checked(Given(**{k: v for k, v in given.items() if k not in NOTES})))


def room(system: str) -> list:
    """The mistakes there is room for; a row that is added needs an answer to be fitted to."""
    bench = bench_of(SYSTEMS[system])
    fits = SYSTEMS[system].get("allowed") is None or bench.right["allowed"].any(axis=-1).all()
    return [*bench.applicable, *([NAMES["residual: row"]] if fits and "NaN" not in system else [])]


TOO_NARROW = (NAMES["join: averaged"], NAMES["residual: X"])  # for X, where no W_O follows


def planted(count: int):
    """Sets of so many mistakes: of pairs a share by seed, or all of them; seen with and without
    the weights.
    """
    for system in SYSTEMS:
        found = []
        for wrong in combinations(room(system), count):
            parts = [part for mistake in wrong for part in mistake.parts]
            if wrong == TOO_NARROW and "W_O" not in SYSTEMS[system]:
                continue
            if len(parts) == len(set(parts)) and (count < 2 or set(wrong) & set(COMMONEST)):
                found.append(wrong)
        if count > 1:
            found = random.Random(system).sample(found, min(PAIRS, len(found)))
        for wrong in found:
            name = " and ".join(mistake.name for mistake in wrong) or "nothing"
            alone = {m.name for m in wrong} & {"shares: handed over"}  # does not show in the output
            for what in ("both",) if alone else ("output", "both"):
                yield pytest.param(system, wrong, what, id=f"{system}: {name}: {what}")


def alone():
    """Each mistake in the first system that has room for it."""
    first = {case.values[1]: case for case in reversed([*planted(1)])}
    return [pytest.param(*case.values, id=f"alone: {case.id}") for case in first.values()]


def applied(given, mistakes):
    with np.errstate(all="ignore"):
        return theirs(given, frozenset(mistake.name for mistake in mistakes))


def same(one, other, rounding=1e-6) -> bool:
    return one.shape == other.shape and np.allclose(
        one, other, rtol=rounding, atol=rounding, equal_nan=True
    )


def test_every_mistake_has_room_in_one_of_the_systems():
    """A gate is tried last, and with no other; what takes several items: see test_mistakes.py."""
    found = {mistake for system in SYSTEMS for mistake in room(system)}
    of_items = ("mask: heads first", "mask: items first", "axes: tokens first", "join: gated")
    assert found == set(MISTAKES) - {NAMES[name] for name in of_items}


def test_averaged_heads_are_too_narrow_for_x_by_either_hand_so_this_pair_is_not_planted():
    systems = [s for s in SYSTEMS if set(TOO_NARROW) <= set(room(s)) and "W_O" not in SYSTEMS[s]]
    assert len(systems) == 3
    for system in systems:
        with pytest.raises(ValueError, match="^operands could not be broadcast together"):
            applied(SYSTEMS[system], TOO_NARROW)
        assert bench_of(SYSTEMS[system]).run(TOO_NARROW) is None


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("a whole layer, look-ahead and padding", "join: averaged, tiled"),
        ("heads, mask and cap", "join: averaged, repeated"),
        ("look-ahead", "softmax: twice, masked"),
        ("a whole layer, look-ahead and padding", "softmax: twice, masked"),
    ],
)
def test_heads_averaged_to_the_full_width_and_masked_softmaxes_in_a_row_are_named(system, name):
    output, _ = theirs(SYSTEMS[system], {name})
    found = diagnose(**inputs(system), output=output)
    assert [[m.name for m in e.mistakes] for e in found.explanations] == [[name]], str(found)


def test_the_commonest_are_twelve():
    assert len(COMMONEST) == 12


@pytest.mark.parametrize(
    ("system", "wrong", "what"),
    [*planted(0), *alone(), *some(chain(planted(1), planted(2)), of=32)],
)
def test_what_was_planted_is_found_or_named_among_those_that_cannot_be_told_apart(
    system, wrong, what
):
    output, weights = applied(SYSTEMS[system], wrong)
    weights = weights if len(weights) > 1 else weights[0]
    found = diagnose(**inputs(system), output=output, weights=weights if what == "both" else None)
    given = [output, *([weights] if what == "both" else [])]
    finite = [bool(np.isfinite(numbers).any()) for numbers in given]
    if not any(finite):
        assert str(found).startswith(NOTHING_FINITE)
        return
    if not all(finite):
        lost = ("output", "weights")[finite[0]]
        every = messages.EVERY_NUMBER_LOST.format(name=lost, what="")
        assert str(found).startswith(every.capitalize())
    sets = [set(e.mistakes) for e in found.explanations]
    assert sets, str(found)
    assert found.explanations[0].half is None
    if set(wrong) in sets:
        return
    first = sets[0] - {
        NAMES["hiding: NaN"],
        NAMES["hiding: filled"],
        NAMES["hiding: after softmax"],
    }
    assert len(first) <= len(wrong)
    again = [applied(SYSTEMS[system], each) for each in sets]
    fitted = any(mistake.fitted for mistake in set().union(*sets))
    judged = 0 if finite[0] else 1
    answer = applied(SYSTEMS[system], wrong)[judged]  # by the other hand too
    assert fitted or any(same(one[judged], answer) for one in again), str(found)
    if len(sets[0]) < 2 and sets[0] < set(wrong):
        assert set(wrong) - sets[0] <= set(found.unseen) | {NAMES["residual: row"]}


# ---- right numbers are right ---------------------------------------------------------------------


def written(how):
    return {
        "float64": lambda M: M,
        "float32": lambda M: M.astype("f4"),
        "float16": lambda M: M.astype("f2"),
        "four decimals": lambda M: M.round(4),
        "two decimals": lambda M: M.round(2),
    }[how]


@pytest.mark.parametrize(
    ("how", "digits"),
    [("float64", 15), ("float32", 7), ("float16", 3), ("four decimals", 4), ("two decimals", 2)],
)
@pytest.mark.parametrize("system", SYSTEMS)
def test_right_numbers_are_declared_right_however_they_were_written_down(system, how, digits):
    output, _ = applied(SYSTEMS[system], ())
    decimals = {"four decimals": 4, "two decimals": 2}.get(how) if output.size < 12 else None
    found = diagnose(**inputs(system), output=written(how)(output), decimals=decimals)
    assert found.correct, str(found)
    assert abs(found.explanations[0].digits - digits) <= 1
    assert str(found).startswith(messages.NUMBERS_ARE_RIGHT.partition("{")[0])


def test_attention_computed_in_float32_is_right():
    rng = np.random.default_rng(3)
    Q, K, V = rng.standard_normal((3, 2, 40, 16))
    trace = scaled_dot_product_attention(
        *(3 * M.astype("f4") for M in (Q, K, V)), allowed=causal(40, 40)
    )
    found = diagnose(
        3 * Q, 3 * K, 3 * V, allowed=causal(40, 40), output=trace.output, weights=trace.weights
    )
    assert found.correct, str(found)


def in_bfloat16(M):
    """Rounded to 8 bits, the nearest even."""
    bits = M.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("offset", [0, 1000, 30_000])
def test_a_rotation_computed_in_float32_far_from_the_beginning_is_right(offset, half):
    """Its angles are rounded too: the larger they are, the more that moves."""
    rng = np.random.default_rng(offset)
    q, k, v = rng.standard_normal((3, 2, 12, 32)).astype("f4")
    if half:
        q, k, v = (in_bfloat16(M) for M in (q, k, v))

    def turned(M, first):
        speed = np.float32(10000) ** (-np.arange(0, 32, 2, dtype="f4") / np.float32(32))
        angles = np.outer(np.arange(first, first + 12, dtype="f4"), speed).astype("f4")
        a, b, (cos, sin) = M[..., :16], M[..., 16:], (np.cos(angles), np.sin(angles))
        found = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
        return in_bfloat16(found) if half else found

    scores = np.matmul(turned(q, offset), turned(k, 0).swapaxes(-1, -2)) / np.float32(32**0.5)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    output = np.matmul(shares / shares.sum(axis=-1, keepdims=True), v)
    output = in_bfloat16(output) if half else output
    given = {"rotary": Rotary(offset=offset)}
    found = diagnose(q, k, v, output=output.astype(np.float64), **given)
    assert found.correct, str(found)
    other = diagnose(q, k, v, output=output.astype(np.float64), rotary=Rotary(offset=offset + 3))
    assert not other.correct, str(other)


@pytest.mark.parametrize("system", [name for name in SYSTEMS if "rotary" in SYSTEMS[name]])
def test_layers_with_their_parts_are_right_in_float32_and_bfloat16(system):
    """Every input rounded, and what comes of it computed in float32 by our own layers."""
    given = inputs(system)
    for rounded in (lambda M: M.astype("f4"), in_bfloat16):
        small = {
            name: rounded(M) if isinstance(M, np.ndarray) and M.dtype == float else M
            for name, M in given.items()
        }
        whole = small | {"heads": small.get("heads", 1)}
        run = self_attention if "X" in small else multi_head_attention
        answer = run(**whole).joined
        exact = {
            name: M.astype(float) if isinstance(M, np.ndarray) and M.dtype == "f4" else M
            for name, M in small.items()
        }
        found = diagnose(**exact, output=rounded(answer))
        assert found.correct, str(found)


def plainly(Q, K, V):
    """Output and weights, as whoever writes them in a line of NumPy."""
    scores = Q @ K.T / np.sqrt(Q.shape[1], dtype=Q.dtype)
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = grown / grown.sum(axis=1, keepdims=True)
    return weights @ V, weights


@pytest.mark.parametrize("seed", range(3))
def test_a_mistake_that_comes_nearer_where_the_softmax_is_saturated_does_not_make_float32_wrong(
    seed,
):
    """There any larger scale gives 1 and 0 exactly, and right attention does but for rounding."""
    rng = np.random.default_rng(seed)
    Q, V = rng.normal(0, 2, (8, 64)).astype("f4"), rng.normal(size=(8, 64)).astype("f4")
    found = diagnose(Q, Q, V, output=plainly(Q, Q, V)[0])
    assert found.correct, str(found)
    assert NAMES["scale: inverse"] in found.unseen


def test_a_mistake_that_comes_nearer_does_not_make_numbers_wrong_that_round_to_those_printed():
    """1 / (1 + 2 e^(−16/√3)) is 0.9998, and 1 with three decimals."""
    one = np.eye(3)
    found = diagnose(4 * one, 4 * one, one, weights=one, decimals=3)
    assert found.correct, str(found)
    assert NAMES["scale: inverse"] in found.unseen


@pytest.mark.parametrize("digits", [2, 3, 4, 6])
@pytest.mark.parametrize("grown", [1, 3, 8])
def test_few_right_numbers_are_right_however_they_are_printed(digits, grown):
    """Among them those that print as 0, 1 or 0.5, of which nobody can see the decimals."""
    for seed in range(25):
        Q, V = np.random.default_rng(seed).normal(size=(2, 2 + seed % 3, 2))
        output, weights = plainly(grown * Q, Q, V)
        for answer in ({"output": output}, {"weights": weights}):
            printed = {name: M.round(digits) for name, M in answer.items()}
            found = diagnose(grown * Q, Q, V, **printed)
            assert found.correct and found.explanations[0].half is None, f"{printed}: {found}"


def test_two_numbers_of_one_decimal_are_taken_for_rounded_ones():
    turn = 0.5 * np.log(0.74 / 0.26) * np.sqrt(2)
    Q, K, V = np.array([[turn, 0], [-turn, 0]]), np.array([[1.0, 0], [-1, 0]]), np.eye(2)
    assert diagnose(Q, K, V, weights=[[0.7, 0.3], [0.3, 0.7]]).correct
    assert not diagnose(Q, K, V, weights=[[0.8, 0.2], [0.2, 0.8]]).correct


@pytest.mark.parametrize("shape", ["joined", "by head", "mean of the weights"])
def test_heads_may_come_joined_apart_or_averaged(shape):
    given = SYSTEMS["heads, mask and cap"]
    output, weights = applied(given, ())
    apart = np.stack([output[:, :4], output[:, 4:]])
    answer = {
        "joined": {"output": output},
        "by head": {"output": apart},
        "mean of the weights": {"weights": weights.mean(0)},
    }
    assert diagnose(**given, **answer[shape]).correct


def test_w_o_is_applied_before_the_outputs_are_compared():
    rng = np.random.default_rng(1)
    X, *W = rng.standard_normal((5, 6, 6))
    trace = self_attention(X, *W[:3], heads=2, W_O=W[3])
    given = dict(zip(("X", "W_Q", "W_K", "W_V", "W_O"), (X, *W), strict=True))
    assert diagnose(**given, heads=2, output=trace.projected).correct
    assert [
        d.choices[0][1]
        for d in diagnose(
            **given, heads=2, output=self_attention(X, *W[:3], heads=2, W_O=W[3], scale=1).projected
        )
        .explanations[0]
        .mistakes
    ] == ["none"]


# ---- what cannot be told, and what is none of these ----------------------------------------------


def test_a_mask_that_hides_nothing_cannot_reveal_how_it_is_applied():
    given = SYSTEMS["one head"] | {"allowed": np.ones((6, 6), bool)}
    found = diagnose(**given, output=applied(given, ())[0])
    assert found.correct
    assert {d.choices[0][1] for d in found.unseen} == {
        "ignored",
        "NaN",
        "filled",
        "−1e9 added",
        "0/1 added",
        "0",
        "−1",
        "−10",
        "after softmax",
        "transposed",
        "+∞",
    }


def test_explanations_that_fit_equally_well_are_all_named():
    given = SYSTEMS["look-ahead, more keys"] | {
        "allowed": np.zeros((3, 5), bool)
    }  # every row is hidden
    found = diagnose(**given, output=applied(given, (NAMES["mask: ignored"],))[0])
    assert {tuple(d.choices[0][1] for d in e.mistakes) for e in found.explanations} == {
        ("inverted",),
        ("ignored",),
        ("0/1 added",),
    }
    assert found.verdict.startswith(messages.EQUALLY_WELL.partition("{")[0] + messages.MASK_ADDED)
    first, second, third = str(found).split("\n")
    assert first.lower().startswith(f"{messages.MASK_ADDED}; or ".lower())
    assert first.endswith("; or 1 other.") and "With any of them, all numbers agree" in second
    assert found.details[0].startswith(messages.EQUALLY_WELL.partition("{")[0])
    assert third == found.causes[0].fix


def narrow_heads():
    """As many heads as each has columns, so that d_k is √d_model."""
    X, *W = np.random.default_rng(5).standard_normal((4, 16, 16))
    return {"X": X[:6], "W_Q": W[0] / 4, "W_K": W[1] / 4, "W_V": W[2] / 4, "heads": 4}


def one_key_more():
    Q, K, V = np.random.default_rng(5).standard_normal((3, 5, 8))
    return {"Q": Q[:4], "K": K, "V": V, "allowed": causal(4, 5)}


def padded(look_ahead):
    rng = np.random.default_rng(5)
    keys = np.broadcast_to(np.arange(6) < 4, (6, 6))
    allowed = keys & causal(6, 6) if look_ahead else keys
    return {"look": look_ahead, "allowed": allowed} | dict(
        zip("QKV", rng.standard_normal((3, 6, 6)), strict=True)
    )


@pytest.mark.parametrize(
    ("given", "wrong", "named"),
    [
        (narrow_heads(), "scale: twice", ["scale: d_k", "scale: d_model"]),
        (narrow_heads(), "scale: d_model", ["scale: d_k", "scale: d_model"]),
        (one_key_more(), "mask: other corner", ["mask: one ahead", "mask: other corner"]),
        (padded(False), "mask: padding as rows", ["mask: padding as rows"]),
        (
            padded(True),
            "mask: padding both ways",
            ["mask: padding as rows", "mask: padding both ways"],
        ),
    ],
)
def test_different_mistakes_that_are_the_same_number_or_mask_here_are_all_named(
    given, wrong, named
):
    output, _ = theirs(given, {wrong})
    given = {name: value for name, value in given.items() if name != "look"}
    found = diagnose(**given, output=output)
    assert sorted(m.name for e in found.explanations for m in e.mistakes) == named, str(found)


@pytest.mark.parametrize(
    ("system", "dtype", "size"), some(product(SYSTEMS, ["f8", "f4"], [1e-4, 1e-2, 1.0]), of=3)
)
def test_noise_is_not_explained_away(system, dtype, size):
    rng = np.random.default_rng(11)
    output, _ = applied(SYSTEMS[system], ())
    found = diagnose(
        **inputs(system), output=(output + size * rng.standard_normal(output.shape)).astype(dtype)
    )
    assert found.explanations == ()
    assert not found.correct
    assert str(found).startswith(messages.NO_KNOWN_MISTAKE.partition("{")[0])
    assert found.closest is None or found.closest.error > size / 10


@pytest.mark.parametrize("grown", [1, 3, 10])
def test_noise_is_not_called_half_precision(grown):
    rng = np.random.default_rng(2)
    Q, K, V = (M.astype("f2").astype("f8") for M in rng.standard_normal((3, 12, 16)))
    output = scaled_dot_product_attention(grown * Q, K, V).output
    noisy = (output + 0.05 * np.abs(V).max() * rng.standard_normal(output.shape)).astype("f2")
    assert diagnose(grown * Q, K, V, output=noisy).explanations == ()


@pytest.mark.parametrize("scales", [[1e-9] * 6, [1e-6] * 6, [1e5, 1, 1, 1, 1, 1e-5], [1e6] * 6])
def test_how_large_the_values_are_excuses_nothing(scales):
    given = SYSTEMS["one head"] | {"V": SYSTEMS["one head"]["V"] * np.array(scales)}
    output, _ = applied(given, ())
    assert diagnose(**given, output=output).correct
    wrong = applied(given, (NAMES["scale: none"],))[0]
    assert [d.choices[0][1] for d in diagnose(**given, output=wrong).explanations[0].mistakes] == [
        "none"
    ]
    noisy = output * (1 + 0.01 * np.random.default_rng(1).standard_normal(output.shape))
    assert diagnose(**given, output=noisy).explanations == ()


def test_a_mistake_that_hardly_shows_is_found_where_the_numbers_are_exact():
    rng = np.random.default_rng(4)
    Q, K, V = 0.02 * rng.standard_normal((3, 8, 16))
    found = diagnose(Q, K, V, output=scaled_dot_product_attention(Q, K, V, scale=1).output)
    assert [d.choices[0][1] for d in found.explanations[0].mistakes] == ["none"]


@pytest.mark.parametrize(
    "system", ["look-ahead, more keys", "heads, mask and cap", "second sequence, own scale"]
)
def test_weights_printed_with_powers_of_ten_are_right(system):
    _, weights = applied(SYSTEMS[system], ())
    weights = weights if SYSTEMS[system].get("heads") else weights[0]
    assert diagnose(
        **inputs(system),
        weights=[[[float(f"{x:.4e}") for x in row] for row in M] for M in weights]
        if weights.ndim == 3
        else [[float(f"{x:.4e}") for x in row] for row in weights],
    ).correct


def test_a_few_exact_numbers_are_not_taken_for_rounded_ones():
    found = diagnose(
        np.eye(2) * 0.14**0.5,
        np.eye(2) * 2 * 0.14**0.5,
        np.eye(2),
        weights=[[0.5, 0.5], [0.5, 0.5]],
    )
    assert not found.correct


def test_bfloat16_is_half_precision():
    ml_dtypes = pytest.importorskip(
        "ml_dtypes", reason="the package ml_dtypes is not installed (tests/requirements.txt)"
    )
    rng = np.random.default_rng(6)
    Q, K, V = rng.standard_normal((3, 12, 16)).astype(ml_dtypes.bfloat16)
    weights = scaled_dot_product_attention(Q, K, V).weights.astype(ml_dtypes.bfloat16)
    output = (weights.astype("f4") @ V.astype("f4")).astype(ml_dtypes.bfloat16)
    found = diagnose(Q, K, V, output=output)
    assert found.correct
    assert str(found).startswith(messages.RIGHT_IN_TYPE.format(digits="2 digits", kind="bfloat16"))


@pytest.mark.parametrize(("heads", "lead"), [(4, ()), (2, (3,)), (3, (3,))])
def test_a_mask_serves_every_head_as_it_does_in_our_own_attention(heads, lead):
    rng = np.random.default_rng(9)
    Q, K, V = rng.standard_normal((3, *lead, 4, 12))
    allowed = causal(4, 4) if not lead else np.broadcast_to(causal(4, 4), (3, 1, 4, 4))
    output = multi_head_attention(Q, K, V, heads=heads, allowed=allowed).joined
    assert diagnose(Q, K, V, heads=heads, allowed=allowed, output=output).correct


def test_a_table_of_as_many_columns_as_items_is_refused_for_one_head():
    rng = np.random.default_rng(9)
    X, *W = rng.standard_normal((2, 4, 4)), *rng.standard_normal((3, 4, 4))
    given = dict(zip(("W_Q", "W_K", "W_V"), W, strict=True)) | {"X": X, "output": X}
    with pytest.raises(ValueError) as refused:
        diagnose(**given, relative=RelativeBias(rng.standard_normal((4, 2))))
    assert str(refused.value) == messages.TABLE_FOR_ONE_HEAD.format(columns=2)
    right = self_attention(X, *W, relative=RelativeBias(np.ones((4, 1))))
    given["output"] = right.output
    assert diagnose(**given, relative=RelativeBias(np.ones((4, 1)))).correct


def test_a_bench_is_freed_when_it_is_let_go():
    bench = Bench(checked(Given(**SYSTEMS["one head"])))
    assert bench.applicable
    gone = weakref.ref(bench)
    del bench
    assert gone() is None  # by its last reference, without the garbage collector


@pytest.mark.parametrize(
    "more", ["scale: none", "scale: d_k", "softmax: queries", "order: K and V"]
)
@pytest.mark.parametrize("row", ["hiding: NaN", "hiding: filled"])
def test_an_inverted_look_ahead_mask_and_another_are_found_whatever_becomes_of_the_empty_row(
    more, row
):
    given = {name: M[:5] for name, M in SYSTEMS["one head"].items()} | {"allowed": causal(5, 5)}
    given |= {"K": SYSTEMS["one head"]["K"][:5], "V": SYSTEMS["one head"]["V"][:5]}
    wrong = {NAMES["mask: inverted"], NAMES[row], NAMES[more]}
    output = applied(given, wrong)[0]
    found = diagnose(**given, output=output)
    if np.isnan(output).all():
        assert str(found).startswith(NOTHING_FINITE)
        return
    assert any(set(e.mistakes) <= wrong for e in found.explanations), str(found)
    assert (
        any({NAMES["mask: inverted"], NAMES[more]} <= set(e.mistakes) for e in found.explanations)
        or more == "softmax: queries"
    )


def test_float16_printed_with_four_decimals_is_seen_in_the_numbers():
    rng = np.random.default_rng(5)
    Q, K, V = (M.astype("f2") for M in rng.standard_normal((3, 12, 16)))
    scaled = (2 * Q @ K.T) * np.float16(0.25)
    grown = np.exp(scaled - scaled.max(-1, keepdims=True))
    output = ((grown / grown.sum(-1, keepdims=True)) @ V).astype("f8").round(4)
    said = str(diagnose(2 * Q, K, V, output=output))
    assert said.startswith(messages.RIGHT_IN_TYPE.format(digits="3 digits", kind="float16"))


@pytest.mark.parametrize("seed", range(5, 9))
def test_float16_rounded_to_decimals_in_float32_is_seen_in_the_numbers(seed):
    Q, K, V = (M.astype("f2") for M in np.random.default_rng(seed).standard_normal((3, 12, 16)))
    scaled = (2 * Q @ K.T) * np.float16(0.25)
    grown = np.exp(scaled - scaled.max(-1, keepdims=True))
    output = ((grown / grown.sum(-1, keepdims=True)) @ V).astype("f4").round(6)
    said = str(diagnose(2 * Q, K, V, output=output))
    assert said.startswith(messages.RIGHT_IN_TYPE.format(digits="3 digits", kind="float16"))


def in_float16(M):
    return M.astype("f2").astype("f8")


@pytest.mark.parametrize(
    ("what", "larger"), [("output", 2), ("weights", 2), ("weights", 3), ("weights", 6)]
)
@pytest.mark.parametrize("seed", range(4))
def test_float16_of_three_digits_is_right_beside_as_many_hidden_numbers(seed, what, larger):
    Q, K, V = in_float16(np.random.default_rng(seed).standard_normal((3, 20, 16)))
    allowed = np.arange(20) < 6 + 0 * np.arange(20)[:, None]
    if what == "output":
        allowed = allowed & (np.arange(20) < 9)[:, None]  # the other queries see nothing: 0
    scaled = in_float16(in_float16(larger * Q @ K.T) / 4)
    grown = np.where(allowed, np.exp(scaled - scaled.max(axis=1, keepdims=True)), 0)
    weights = in_float16(grown / np.maximum(grown.sum(axis=1, keepdims=True), 1e-9))
    numbers = in_float16(weights @ V) if what == "output" else weights
    printed = [[float(f"{number:.3g}") for number in row] for row in numbers]
    found = diagnose(larger * Q, K, V, allowed=allowed, **{what: printed})
    assert found.correct, str(found)


def test_a_large_number_of_three_digits_is_further_off_than_small_ones_by_writing_alone():
    right = np.append(np.linspace(0.0201, 0.0899, 95), 5.0151)[:, None]
    theirs = right + 1e-4 * np.tile([1, -1], 48)[:, None]
    short = np.array([[float(f"{x:.2e}") for x in row] for row in theirs])
    size = np.ones(short.shape)
    target = Target("output", short, how_written(short, short), size)
    verdict = compare(target, right, size, 1.0)
    assert verdict.half == "float16"
    one_wrong = replace(target, values=short + 0.02 * (np.arange(96) == 7)[:, None])
    assert not compare(one_wrong, right, size, 1.0).fits


def by_hand_in(rounded, grown, seed, alike=False):
    """Q, K, V and attention of which each step is rounded to half precision."""
    Q, K, V = (rounded(M).astype("f8") for M in np.random.default_rng(seed).normal(size=(3, 5, 8)))
    Q, K = grown * Q, grown * Q if alike else K
    scores = rounded(rounded(Q @ K.T).astype("f8") / np.sqrt(8)).astype("f8")
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = rounded(shares / shares.sum(axis=1, keepdims=True)).astype("f8")
    return (Q, K, V), {"output": rounded(weights @ V).astype("f8"), "weights": weights}


@pytest.mark.parametrize(("kind", "digits"), [("bfloat16", 3), ("float16", 4), ("float16", 3)])
@pytest.mark.parametrize("grown", [1, 2])
def test_output_and_weights_of_half_precision_are_right_where_only_one_shows_it(
    kind, digits, grown
):
    rounded = in_bfloat16 if kind == "bfloat16" else in_float16
    for seed in range(12):
        QKV, answers = by_hand_in(rounded, grown, seed)
        found = diagnose(*QKV, **{name: M.round(digits) for name, M in answers.items()})
        assert found.correct, f"{seed}: {found}"
        assert "float16" not in all_said(found).replace("bfloat16", "") or kind == "float16"


@pytest.mark.parametrize("digits", [3, 4, 6])
@pytest.mark.parametrize("rounded", [in_bfloat16, in_float16])
def test_saturated_weights_of_half_precision_are_right_though_few_of_them_are_rounded(
    rounded, digits
):
    """Most are 0 and 1 exactly; that the others are off is no sign of a wrong number."""
    for seed in range(25):
        QKV, answers = by_hand_in(rounded, 2, seed, alike=True)
        found = diagnose(*QKV, weights=answers["weights"].round(digits))
        assert found.correct, f"{seed}: {found}"


def test_a_mistake_beside_right_half_precision_is_named_as_the_other_possibility():
    QKV, answers = by_hand_in(in_float16, 2, 15, alike=True)
    biased = theirs(dict(zip("QKV", QKV, strict=True)), {"bias: added"})[1][0]
    printed = answers["weights"].round(3)
    assert np.abs(biased - printed).max() < 5.01e-4  # so either may have been computed
    found = diagnose(*QKV, weights=printed)
    assert found.correct
    assert [[m.name for m in e.mistakes] for e in found.explanations] == [[], ["bias: added"]]
    assert found.verdict == messages.OR_A_MISTAKE.format(
        said=messages.RIGHT_IN_HALF.format(kind="float16", error="0.000526"),
        titles=messages.ALIBI_ADDED,
    )


def test_three_decimals_off_by_many_units_are_not_right_by_half_precision():
    """They would have to be numbers of bfloat16, printed; these lie between them."""
    for seed in range(20):
        Q, K, V = np.random.default_rng(seed).normal(size=(3, 4 + seed % 3, 4))
        output = plainly(Q, K, V)[0]
        assert not diagnose(Q, K, V, output=(1.01 * output).round(3)).correct


def test_of_two_answers_each_is_said_how_far_it_is_off():
    given = SYSTEMS["one head"]
    output, weights = applied(given, ())
    found = diagnose(**given, output=output, weights=weights[0][::-1])
    apart = np.abs(weights[0][::-1] - weights[0]).max()
    apart = messages.NEXT_TO_RIGHT.format(output="OUTPUT", weights=f"{apart:.3g}")
    before, after = map(re.escape, apart.split("OUTPUT"))
    said = re.search(rf" {before}(0|\d\S*e-1\d){after} (.*)", all_said(found))[2]
    assert messages.OUTPUT_RIGHT_WEIGHTS_NOT in said


def test_one_wrong_number_among_right_ones_is_not_explained_away():
    output, _ = applied(SYSTEMS["one head"], ())
    output[3, 2] += 0.01
    found = diagnose(**SYSTEMS["one head"], output=output)
    assert found.explanations == ()
    assert found.closest.mistakes == ()
    assert found.closest.error == pytest.approx(0.01)


def test_float16_all_the_way_is_called_float16():
    rng = np.random.default_rng(5)
    Q, K, V = (M.astype("f2") for M in rng.standard_normal((3, 12, 16)))
    scaled = (Q @ K.T) * np.float16(0.25)
    grown = np.exp(scaled - scaled.max(-1, keepdims=True))
    found = diagnose(Q, K, V, output=(grown / grown.sum(-1, keepdims=True)) @ V)
    assert str(found).startswith(messages.RIGHT_IN_TYPE.format(digits="3 digits", kind="float16"))


# ---- where it begins, and what to do -------------------------------------------------------------


def test_the_first_stage_that_differs_and_its_differences_are_shown():
    given = SYSTEMS["one head"]
    found = diagnose(**given, output=applied(given, (NAMES["scale: none"],))[0]).explanations[0]
    scores = given["Q"] @ given["K"].T
    assert found.stage == "scaled"
    np.testing.assert_allclose(found.difference, scores - scores / np.sqrt(6), rtol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "stage"),
    [("order: K and V", "K"), ("product: untransposed", "scores"), ("softmax: queries", "weights")],
)
def test_each_mistake_shows_first_where_it_acts(wrong, stage):
    given = SYSTEMS["one head"]
    assert (
        diagnose(**given, output=applied(given, (NAMES[wrong],))[0]).explanations[0].stage == stage
    )


def test_the_answer_is_a_sentence_with_the_fix():
    given = SYSTEMS["heads, mask and cap"]
    output, _ = applied(given, (NAMES["mask: inverted"], NAMES["scale: none"]))
    found = diagnose(**given, output=output)
    assert re.sub(
        "1[56] digits", "15 digits", found.verdict
    ) == (  # 16 where the processor rounds as the other hand does
        messages.WITH_THAT.format(
            titles=f"{messages.NOT_SCALED.capitalize()}, and {messages.MASK_INVERTED}",
            digits="15 digits",
            stage="scaled",
        )
        + f" {messages.MULTIPLY_BY_SCALE} {messages.MASK_MAY_MEAN_THE_OTHER}"
    )
    lines = str(found).split("\n")
    assert " ".join(lines) == found.verdict and len(lines) == 3
    fixes = messages.MULTIPLY_BY_SCALE, messages.MASK_MAY_MEAN_THE_OTHER
    assert lines[2] == " ".join(fixes)
    assert [(cause.name, cause.stage, cause.fix) for cause in found.causes] == [
        ("scale: none", "scaled", fixes[0]),
        ("mask: inverted", "masked", fixes[1]),
    ]


# ---- what cannot be compared ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "output", "cause"),
    [
        ({}, nan, messages.LOST_BEFORE),
        ({}, inf, messages.LOST_BEFORE),
        ({"allowed": causal(6, 6)}, nan, messages.MASK_IS_WRONG.format(queries="")),
        (
            {"allowed": np.arange(6) < 4 + 0 * np.arange(6)[:, None]},
            nan,
            messages.MASK_IS_WRONG.format(queries=messages.SOFTMAX_OVER_QUERIES),
        ),
        (
            {"allowed": np.zeros((6, 6), bool)},
            nan,
            messages.NO_QUERY_SEES_A_KEY,
        ),
        (
            {"scale": 30.0},
            nan,
            messages.EXP_OVERFLOWS.format(most=139, limit=88.7),
        ),
        ({"scale": 1e5}, inf, messages.SCORES_OVERFLOW.format(most="4.62e+05", limit="65,504")),
        ({"V": np.full((6, 6), nan)}, nan, messages.INPUT_NOT_FINITE.format(name="V")),
    ],
)
def test_numbers_that_are_not_finite_are_not_explained_but_traced_to_a_likely_cause(
    given, output, cause
):
    found = diagnose(**SYSTEMS["one head"] | given, output=np.full((6, 6), output))
    what = "NaN" if np.isnan(output) else "infinite"
    assert found.verdict == (
        messages.NOTHING_TO_COMPARE.format(
            nothing=messages.EVERY_NUMBER_LOST.format(name="output", what=what), cause=cause
        )
    )
    assert not found.correct and found.explanations == () and found.closest is None


E = np.eye(2)
TINY_WEIGHT = {
    "Q": [[0.04, -0.1], [-8, -48], [36, 22], [-6, 16]],
    "K": [[1.5, -3], [5, -1.5], [-1.5, -4], [2.5, -0.5]],
    "V": np.eye(4),
    "weights": [[0.27, 0.266, 0.263, 0.201], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "given",
    [
        TINY_WEIGHT,
        {"Q": E, "K": E, "V": np.full((2, 2), 1e308), "output": E},
        {"Q": E, "K": E, "V": E, "output": E, "scale": 1e200},
        {"Q": E, "K": E, "V": 1e-320 * E, "output": np.array([[1.0, 0.3], [0.7, 1e300]])},
        {"Q": 30 * E, "K": 25 * E, "V": E, "weights": [[1, 1e-323], [0.001, 0.999]]},
    ],
)
def test_numbers_at_the_ends_of_the_range_are_judged_without_a_warning(given):
    assert str(diagnose(**given))


def test_numbers_as_large_as_there_are_excuse_no_wrong_ones():
    V = 1e308 * np.array([[1.6, 1.2], [1.4, 1.7]])
    output, _ = plainly(E, E, V)
    assert diagnose(E, E, V, output=output).correct
    assert not diagnose(E, E, V, output=output * [1, 0.9]).correct


@pytest.mark.parametrize("lost", ["output", "weights"])
@pytest.mark.parametrize("wrong", [(), ("scale: none",)])
def test_of_an_answer_without_finite_numbers_that_is_said_and_the_other_one_is_judged(lost, wrong):
    output, (weights,) = theirs(SYSTEMS["one head"], set(wrong))
    answers = {"output": output, "weights": weights} | {lost: np.full((6, 6), nan)}
    found = diagnose(**SYSTEMS["one head"], **answers)
    other = "output" if lost == "weights" else "weights"
    every = messages.EVERY_NUMBER_LOST.format(name=lost, what="NaN")
    not_scaled = f"{messages.NOT_SCALED.capitalize()}."
    assert found.verdict.startswith(
        messages.WHAT_FOLLOWS.format(
            nothing=every[0].upper() + every[1:],
            other=other,
            verdict=not_scaled if wrong else messages.NUMBERS_ARE_RIGHT.partition("{")[0],
        )
    )
    assert [[m.name for m in e.mistakes] for e in found.explanations] == [[*wrong]]
    assert not found.correct and set(found.answers) == {"output", "weights"}


# ---- what can be said besides --------------------------------------------------------------------


def test_one_digit_names_the_mistakes_it_cannot_tell_apart():
    rng = np.random.default_rng(8)
    Q, K = 0.1 * rng.standard_normal((2, 4, 6))
    V = np.round(rng.standard_normal((4, 6)), 1)
    found = diagnose(Q, K, V, output=scaled_dot_product_attention(Q, K, V).output, decimals=1)
    assert found.correct and NAMES["scale: none"] in found.unseen
    assert all_said(found).startswith(
        messages.NUMBERS_ARE_RIGHT.format(digits="1 digit")
        + " "
        + messages.DIGITS_CANNOT_TELL.removesuffix(".").format(
            digits="1 digit", titles=f"{messages.Q_AND_K_SWAPPED}; {messages.NOT_SCALED};"
        )
    )


@pytest.mark.parametrize("digits", [3, 4])
@pytest.mark.parametrize("system", ["one head", "a whole layer, look-ahead and padding"])
def test_a_bias_that_was_not_given_is_found_in_numbers_printed_short(system, digits):
    output, _ = theirs(SYSTEMS[system], {"residual: row"})
    for shift in np.linspace(0, 0.01, 7):  # rounds each time otherwise
        found = diagnose(**inputs(system), output=(output + shift).round(digits))
        assert [[m.name for m in e.mistakes] for e in found.explanations] == [["residual: row"]]


@pytest.mark.parametrize("kind", ["nothing", "one number", "a row", "a row for each head"])
@pytest.mark.parametrize("system", ["padding but for a key", "a layer, padding but for a key"])
def test_the_same_row_for_every_token_is_not_explained_by_adding_a_row(system, kind):
    """An inverted mask leaves one key: its value, and a row added to it, is any row."""
    rng = np.random.default_rng(0)
    Q, K, V, *W = rng.normal(size=(7, 6, 4))
    given = {"Q": Q, "K": K, "V": V, "allowed": np.broadcast_to(np.arange(6) < 5, (6, 6))}
    if system == "a layer, padding but for a key":
        names = ("W_Q", "W_K", "W_V", "W_O")
        given |= {"X": Q, "Q": None, "K": None, "V": None, "heads": 2}
        given |= dict(zip(names, (M[:4] for M in W), strict=True))
    row = {"nothing": 0, "one number": 1 / 3}.get(kind, rng.normal(size=4))
    output = np.zeros((6, 4)) + row
    if kind == "a row for each head":
        given |= {"heads": 2, "W_O": None}
        output = output.reshape(6, 2, 2).swapaxes(0, 1)
    found = diagnose(**given, output=output)
    assert found.explanations == (), str(found)
    assert found.closest is None or not any(m.fitted for m in found.closest.mistakes), str(found)


def test_nothing_is_called_the_closest_where_one_row_for_all_would_be_as_close():
    """A row fitted to a constant leaves no more than by how much the attention varies."""
    for output in (np.full((300, 16), 0.3) + np.arange(16), np.ones((300, 16))):
        found = diagnose(**large(), output=output)
        assert found.closest is None, str(found)


@pytest.mark.parametrize("wrong", ["softmax: sigmoid", "scale: none"])
def test_mistakes_printed_short_as_float32_are_found(wrong):
    given = SYSTEMS["one head"]
    output = applied(given, (NAMES[wrong],))[0].astype("f4").round(4)
    assert [e.mistakes for e in diagnose(**given, output=output).explanations] == [(NAMES[wrong],)]


def test_half_precision_that_nothing_shows_is_a_possibility_and_no_explanation():
    given = SYSTEMS["one head"]
    output = applied(given, ())[0]
    output *= 1 + 4e-4 * np.random.default_rng(3).standard_normal(output.shape)
    found = diagnose(**given, output=output)
    assert found.explanations == ()
    assert messages.HALF_WOULD_EXPLAIN.format(kind="float16") in found.notes


def test_a_mistake_is_said_to_lie_before_or_after_the_weights():
    given = SYSTEMS["one head"]
    output, (weights,) = applied(given, ())
    rng = np.random.default_rng(5)
    other = rng.dirichlet(np.ones(6), 6)
    before = diagnose(**given, output=other @ given["V"], weights=other)
    assert (
        messages.OUTPUT_FOLLOWS_FROM_WEIGHTS.format(place=messages.BEFORE_WEIGHTS) in before.notes
    )
    after = diagnose(**given, output=weights @ rng.standard_normal((6, 6)), weights=weights)
    assert messages.TROUBLE_IN_V in after.notes
    both = diagnose(**given, output=rng.standard_normal((6, 6)), weights=other)
    assert messages.TROUBLE_ON_BOTH_SIDES in both.notes


def test_no_trouble_is_placed_where_half_precision_may_be_all_there_is():
    given = SYSTEMS["one head"]
    output, (weights,) = applied(given, ())
    rng = np.random.default_rng(3)
    off = {
        name: M * (1 + 4e-4 * rng.standard_normal(M.shape))
        for name, M in (("output", output), ("weights", weights))
    }
    said = all_said(diagnose(**given, **off))
    assert messages.HALF_WOULD_EXPLAIN.format(kind="float16") in said
    assert "trouble" not in said


def test_nothing_is_called_the_closest_where_nothing_is_close():
    output = np.random.default_rng(1).standard_normal((6, 6))
    found = diagnose(**SYSTEMS["one head"], output=output)
    assert found.closest is None and "closest" not in all_said(found)


def test_nothing_is_called_the_closest_where_zeros_would_be_as_close():
    rng = np.random.default_rng(5)
    Q, K, V = rng.standard_normal((3, 40, 8))
    shares = rng.dirichlet(np.full(40, 0.1), 40)  # other weights, 0.025 on average as well
    for answer in ({"output": np.zeros((40, 8))}, {"weights": shares}):
        found = diagnose(Q, K, V, **answer)
        assert found.closest is None and "closest" not in all_said(found)


def test_an_empty_column_and_two_mistakes_are_found_where_the_softmax_runs_over_queries():
    Q, K, V = np.random.default_rng(1).standard_normal((3, 8, 4))
    given = {"Q": Q[:5], "K": K, "V": V, "allowed": causal_lower_right(5, 8)}
    scores = np.where(np.arange(8) < 3 + np.arange(5)[:, None], Q[:5] @ K.T / 2, -inf)
    with np.errstate(invalid="ignore"):  # the last key is seen by nobody: 0/0
        grown = np.exp(scores - scores.max(axis=0))
        weights = grown / grown.sum(axis=0)
    found = diagnose(**given, weights=weights)
    names = {"mask: diagonal hidden", "hiding: NaN", "softmax: queries"}
    assert [{m.name for m in e.mistakes} for e in found.explanations] == [names], str(found)


def test_few_wrong_numbers_are_counted_and_the_first_is_named():
    output, _ = applied(SYSTEMS["one head"], ())
    output[3, 2] += 0.01
    output[4, 0] += 0.01
    assert (
        messages.FEW_DIFFER.format(count=2, size=36, name="output", first="3, 2")
        in diagnose(**SYSTEMS["one head"], output=output).notes
    )


def test_numbers_lost_to_nan_or_infinity_are_counted_and_the_first_is_named():
    given = inputs("one head")
    output = scaled_dot_product_attention(**given).output.copy()
    output[1, :2], output[4] = nan, inf
    found = diagnose(**given, output=output)
    assert (
        messages.NAN_OR_INFINITE.format(sum=8, lost=36, name="output", hold="are", first="1, 0")
    ) in found.notes


def test_the_name_of_a_bias_keeps_its_small_letter_at_the_head_of_a_sentence():
    given = inputs("a whole layer, look-ahead and padding")
    output, _ = theirs(SYSTEMS["a whole layer, look-ahead and padding"], {"b_O: left out"})
    titles = messages.LEFT_OUT.format(name="b_O")
    left_out = messages.WITH_THAT.partition("{digits}")[0].format(titles=titles)
    assert diagnose(**given, output=output).verdict.startswith(left_out)


class HalfWithGradient:
    """What a parameter of torch in bfloat16 is to NumPy: it is read as float32, and detached."""

    def __init__(self, values, dtype="bfloat16"):
        self.values, self.dtype, self.shape = values, dtype, values.shape

    def detach(self):
        return self

    def is_floating_point(self):
        return True

    def float(self):
        return HalfWithGradient(self.values, "float32")

    def numpy(self, *, force=False):
        if self.dtype == "bfloat16" or not force:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values.astype(np.float32)

    def __array__(self, *_, **__):
        raise TypeError("Got unsupported ScalarType BFloat16")


def test_the_biases_of_a_layer_may_be_tensors_of_half_precision_with_gradients():
    given = inputs("a whole layer, look-ahead and padding")
    biases = {name: np.round(given[name] * 8) / 8 for name in ("b_Q", "b_K", "b_V", "b_O")}
    output, _ = theirs(SYSTEMS["a whole layer, look-ahead and padding"] | biases, frozenset())
    tensors = {name: HalfWithGradient(b) for name, b in biases.items()}
    assert diagnose(**(given | tensors), output=output).correct


def test_what_was_not_searched_is_said():
    found = diagnose(**SYSTEMS["one head"], output=np.ones((6, 6)) / 3)
    assert messages.NOT_TRIED in found.notes


def test_a_diagnosis_prints_as_its_sentences_and_stays_short_whatever_the_size():
    rng = np.random.default_rng(2)
    Q, K, V = rng.standard_normal((3, 50, 8))
    found = diagnose(Q, K, V, output=rng.standard_normal((50, 8)), allowed=causal(50, 50))
    assert repr(found) == str(found)
    assert len(str(found)) < 1500
    assert all(len(repr(e)) < 300 for e in (*found.explanations, *filter(None, [found.closest])))


# ---- much is searched in part --------------------------------------------------------------------


def large(**more):
    """Two heads of 300 tokens: 180,000 scores, of which a part is searched."""
    rng = np.random.default_rng(12)
    X, *W = (rng.standard_normal((300, 16)), *(rng.standard_normal((4, 16, 16)) / 4))
    given = dict(zip(("X", "W_Q", "W_K", "W_V", "W_O"), (X, *W), strict=True))
    return given | {"heads": 2, "allowed": causal(300, 300)} | more


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ("scale: none",),
        ("softmax: queries",),
        ("sum: transposed",),
        ("residual: row",),
        ("mask: inverted", "scale: none"),
        ("W_O: missing", "order: Q and K"),
    ],
)
def test_of_many_queries_a_part_is_searched_and_what_was_planted_is_found(wrong):
    given, told = large(), []
    mistakes = tuple(NAMES[name] for name in wrong)
    found = diagnose(**given, output=applied(given, mistakes)[0], announce=told.append)
    assert set(mistakes) in [set(e.mistakes) for e in found.explanations], str(found)
    plan = messages.SEARCHED_IN_PART.format(
        shape="2 × 300 × 300", sets="SETS", searched=27, queries=300, seconds="SECONDS"
    )
    plan = re.escape(plan).replace("SETS", r"\d+").replace("SECONDS", r"\S+")
    assert re.fullmatch(plan, told[0])


@pytest.mark.parametrize("what", ["output", "weights", "both"])
@pytest.mark.parametrize("name", ["softmax: queries", "softmax: both axes"])
def test_what_mixes_queries_is_found_head_by_head_from_output_or_weights(name, what):
    output, weights = applied(large(), (NAMES[name],))
    theirs = {"output": output, "weights": weights}
    found = diagnose(**large(), **(theirs if what == "both" else {what: theirs[what]}))
    assert [e.mistakes for e in found.explanations] == [(NAMES[name],)], str(found)


def test_large_weights_are_compared_in_the_memory_of_a_few_copies_of_them(monkeypatch):
    monkeypatch.setattr("attention.frameworks.diagnosis.search.BLOCK", 2**16)
    monkeypatch.setattr("attention.arrays.distance.CELLS", 2**14, raising=False)
    given = large(heads=8)
    output, weights = applied(given, ())
    noisy = weights + np.random.default_rng(1).normal(0, 1e-3, weights.shape)
    for answer in ({"weights": weights}, {"output": output, "weights": noisy}):
        tracemalloc.start()
        try:
            found = diagnose(**given, **answer)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert found.correct == ("output" not in answer)
        assert peak < 5 * weights.nbytes


@pytest.mark.parametrize("what", ["output", "mean"])
def test_a_scale_of_all_heads_shows_beside_what_mixes_queries(what):
    given = large()
    output, weights = applied(given, (NAMES["softmax: queries"],))
    answer = {"output": output} if what == "output" else {"weights": weights.mean(axis=0)}
    found = diagnose(**given, **answer)
    assert [e.mistakes for e in found.explanations] == [(NAMES["softmax: queries"],)]
    assert NAMES["scale: d_model"] not in found.unseen
    assert NAMES["hiding: NaN"] in found.unseen


def test_where_only_some_queries_are_shown_both_answers_are_still_told_apart(monkeypatch):
    monkeypatch.setattr("attention.frameworks.diagnosis.search.BLOCK", 2**16)
    given = large()
    output, weights = applied(given, ())
    found = diagnose(**given, output=output, weights=np.square(weights))
    assert messages.OUTPUT_RIGHT_WEIGHTS_NOT in found.notes


def test_what_mixes_queries_takes_the_memory_of_one_head():
    given = large(heads=8)
    output = applied(given, ())[0] + np.linspace(0, 1, 300)[:, None]
    search = Search(checked(Given(**given)), {"output": output}, None)
    search.prepare()
    tracemalloc.start()
    verdict = search._judge_mixing((NAMES["softmax: queries"],))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not verdict.fits
    assert peak < 2 * 8 * 300 * 300 * 8  # twice the scores of all eight heads in float64


def test_blas_is_held_to_one_thread_while_it_is_searched_and_freed_after():
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def threads():
        infos = threadpoolctl.threadpool_info()
        return [info["num_threads"] for info in infos if info["user_api"] == "blas"]

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before, during = threads(), []
        given = SYSTEMS["one head"]
        diagnose(**given, output=np.ones((6, 6)), announce=lambda _: during.extend(threads()))
        assert set(during) == {1}
        assert threads() == before


def test_a_wrong_number_outside_the_queries_that_are_searched_is_seen():
    given = large()
    output, _ = applied(given, ())
    output[123, 3] += 1e-3
    found = diagnose(**given, output=output)
    assert found.explanations == ()
    assert messages.MIXED_QUERIES_ALONE in found.notes


def test_what_would_be_too_much_work_is_left_out_and_said(monkeypatch):
    monkeypatch.setattr("attention.frameworks.diagnosis.search.WORK", 2**17)
    monkeypatch.setattr("attention.frameworks.diagnosis.search.WHOLE", 2**15)
    monkeypatch.setattr("attention.frameworks.diagnosis.search.PAIRS", 2**10)
    given = large()
    noisy = applied(given, ())[0] + np.random.default_rng(1).standard_normal((300, 16))
    found = diagnose(**given, output=noisy)
    assert found.explanations == ()
    assert messages.QUERIES_COMPARED.format(compared=54, queries=300) in found.notes
    assert messages.MIXED_QUERIES_NOT_TRIED in found.notes
    pairs = re.escape(messages.PAIRS_TRIED.format(pairs="PAIRS", tried=64))
    pairs = pairs.replace("PAIRS", r"\d+")
    assert any(re.fullmatch(pairs, note) for note in found.notes)


# ---- refusals ------------------------------------------------------------------------------------

ONE = {"Q": np.ones((2, 3)), "K": np.ones((4, 3)), "V": np.ones((4, 5))}


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (
            ONE,
            ValueError,
            messages.NO_ANSWER_GIVEN,
        ),
        (
            {"Q": ONE["Q"], "output": [[1.0]]},
            ValueError,
            messages.INPUTS_MISSING.format(missing="K and V are"),
        ),
        (
            ONE | {"output": np.ones((2, 5)), "decimals": -1},
            ValueError,
            messages.INTEGER_EXPECTED.format(name="decimals", given="-1", least=0),
        ),
        (
            ONE | {"output": np.ones((2, 5)), "announce": 3},
            TypeError,
            messages.FUNCTION_OF_A_SENTENCE.format(announce=3),
        ),
        (
            {"X": ONE["Q"], "output": [[1.0]]},
            ValueError,
            messages.INPUTS_MISSING.format(missing="W_Q, W_K and W_V are"),
        ),
        (
            ONE | {"output": np.ones((2, 4))},
            ValueError,
            messages.ANSWER_SHAPE.format(name="output", shape="(2, 4)", wanted="(2, 5)"),
        ),
        (
            ONE | {"weights": np.ones((4, 2))},
            ValueError,
            messages.ANSWER_SHAPE.format(name="weights", shape="(4, 2)", wanted="(2, 4)"),
        ),
        (
            ONE | {"output": [[1.0], [2.0, 3.0]]},
            ValueError,
            messages.ROWS_OF_DIFFERENT_LENGTHS.format(name="output"),
        ),
        (
            ONE | {"K": np.ones((4, 2)), "output": np.ones((2, 5))},
            ValueError,
            messages.D_K_DIFFERS.format(q=3, k=2),
        ),
        (
            ONE | {"heads": 2, "output": np.ones((2, 5))},
            ValueError,
            messages.NOT_EQUAL_HEADS.format(what="Q has 3 columns; they", heads=2),
        ),
        (
            ONE | {"heads": 2.0, "output": [[1.0]]},
            ValueError,
            messages.INTEGER_EXPECTED.format(name="heads", given="2.0", least=1),
        ),
        (
            ONE | {"kv_heads": 0, "output": [[1.0]]},
            ValueError,
            messages.INTEGER_EXPECTED.format(name="kv_heads", given=0, least=1),
        ),
        (
            ONE | {"kv_heads": 2, "output": [[1.0]]},
            ValueError,
            messages.KV_HEADS_WITHOUT_HEADS.format(kv_heads=2),
        ),
        (
            ONE | {"X": [[1.0]], "W_Q": [[1.0]], "W_K": [[1.0]], "W_V": [[1.0]]},
            ValueError,
            messages.BOTH_GIVEN,
        ),
        (
            ONE | {"b_Q": [1.0], "output": [[1.0]]},
            ValueError,
            messages.BIAS_WITHOUT_MATRIX.format(name="b_Q", matrix="X"),
        ),
        (
            ONE | {"b_O": [1.0], "output": [[1.0]]},
            ValueError,
            messages.BIAS_WITHOUT_MATRIX.format(name="b_O", matrix="W_O"),
        ),
        (
            ONE | {"bias": np.full((3, 3), 0.5), "output": [[1.0]]},
            ValueError,
            messages.SHAPE_DOES_NOT_FIT.format(name="bias", shape="(3, 3)", scores="(2, 4)"),
        ),
        (
            ONE | {"allowed": [[True], [True, False]]},
            ValueError,
            messages.ROWS_OF_DIFFERENT_LENGTHS.format(name="allowed"),
        ),
        (
            {"Q": np.ones((4, 3, 2)), "K": np.ones((2, 3, 2)), "V": np.ones((3, 2))},
            ValueError,
            messages.HEADS_OF_K_AND_V_DIFFER.format(k="(2, 3, 2)", v="(3, 2)"),
        ),
        (
            ONE | {"scale": -1, "output": np.ones((2, 5))},
            ValueError,
            messages.POSITIVE_EXPECTED.format(name="scale", given="-1"),
        ),
        (
            ONE | {"allowed": np.ones((3, 3), bool), "output": np.ones((2, 5))},
            ValueError,
            messages.SHAPE_DOES_NOT_FIT.format(name="allowed", shape="(3, 3)", scores="(2, 4)"),
        ),
    ],
)
def test_a_refusal_names_the_argument_what_came_and_what_is_wanted(given, kind, message):
    with pytest.raises(kind) as caught:
        diagnose(**given)
    assert str(caught.value) == message


def test_how_numbers_were_written_is_seen_in_the_memory_of_a_few_copies():
    values = np.random.default_rng(0).random((64, 512))
    tracemalloc.start()
    try:
        how_written(values, values)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 * values.nbytes


def sigmoids():
    """Inputs, and the weights and output of a sigmoid over them, by another hand."""
    rng = np.random.default_rng(3)
    Q, K, V = (rng.normal(size=(5, 4)) for _ in "QKV")
    seen = np.tri(5, dtype=bool)
    weights = np.where(seen, 1 / (1 + np.exp(-Q @ K.T / 2)), 0)
    return {"Q": Q, "K": K, "V": V, "allowed": seen}, weights, weights @ V


def test_a_sigmoid_may_be_right_and_a_softmax_in_its_place_is_found():
    given, weights, output = sigmoids()
    found = diagnose(**given, softmax="sigmoid", weights=weights, output=output)
    assert found.correct, found
    found = diagnose(**given, output=output)
    assert [m.name for m in found.explanations[0].mistakes] == ["softmax: sigmoid"]
    shares = scaled_dot_product_attention(**given).weights
    found = diagnose(**given, softmax="sigmoid", weights=shares)
    assert str(found.explanations[0]) == messages.SOFTMAX_FOR_SIGMOID
    unscaled = np.where(given["allowed"], 1 / (1 + np.exp(-given["Q"] @ given["K"].T)), 0)
    found = diagnose(**given, softmax="sigmoid", weights=unscaled)
    assert [m.name for m in found.explanations[0].mistakes] == ["scale: none"]


def test_what_stands_in_the_place_of_the_softmax_is_known_and_has_no_sinks():
    given, weights, _ = sigmoids()
    with pytest.raises(ValueError) as refused:
        diagnose(**given, softmax="relu", weights=weights)
    wanted = messages.SIGMOID_EXPECTED.format(softmax="'relu'", sigmoid="sigmoid")
    assert str(refused.value) == wanted
    with pytest.raises(ValueError) as refused:
        diagnose(**given, softmax="sigmoid", sinks=0.0, weights=weights)
    assert str(refused.value) == messages.SINKS_NEED_SOFTMAX


def test_advice_names_the_softmax_only_where_the_softmax_is_wrong():
    for mistake in MISTAKES:
        if not mistake.parts & {"softmax", "sinks"}:
            assert "softmax" not in mistake.fix and "sums to 1" not in mistake.fix, mistake.name


def test_advice_is_true_where_there_is_no_softmax():
    given, weights, _ = sigmoids()
    scores = given["Q"] @ given["K"].T
    scaled_after = np.where(given["allowed"], 1 / (1 + np.exp(-scores)) / 2, 0)
    found = diagnose(**given, softmax="sigmoid", weights=scaled_after)
    assert found.verdict.endswith(messages.MULTIPLY_BY_SCALE), found
    found = diagnose(**given, weights=np.where(given["allowed"], scores / 2, 0))
    assert [m.name for m in found.explanations[0].mistakes] == [
        "hiding: after softmax",
        "softmax: none",
    ]
    assert messages.MASK_BEFORE_WEIGHTS in found.verdict
    assert messages.TAKE_ONE_SOFTMAX in {mistake.fix for mistake in MISTAKES}
    found = diagnose(**given, softmax="sigmoid", weights=scores / 2)
    assert (
        found.explanations and messages.TAKE_ONE_SOFTMAX.partition(",")[0] not in found.verdict
    ), found


# ---- a mask that was not given -------------------------------------------------------------------


def masked_by_loop(Q, K, V, past):
    """Query i sees the keys up to i + past."""
    rows = []
    for i, q in enumerate(Q):
        powers = [np.exp(q @ k / np.sqrt(len(q))) for k in K[: i + past + 1]]
        rows.append(sum(p * v for p, v in zip(powers, V, strict=False)) / sum(powers))
    return np.array(rows)


@pytest.mark.parametrize("decimals", [4, 16])
@pytest.mark.parametrize(
    ("n_k", "past", "mask", "said"),
    [
        (4, 0, "causal", messages.LOOK_AHEAD),
        (6, 0, "causal", messages.LOOK_AHEAD),
        (6, 2, "causal_lower_right", messages.LOOK_AHEAD_LAST),
    ],
)
def test_numbers_right_with_a_mask_that_was_not_given_are_called_so(
    n_k, past, mask, said, decimals
):
    rng = np.random.default_rng(n_k + past)
    Q, K, V = (rng.standard_normal((n, 5)) for n in (4, n_k, n_k))
    output = masked_by_loop(Q, K, V, past).round(decimals)
    found = diagnose(Q, K, V, output=output)
    call = f"{mask}(4, {n_k})"
    assert str(found) == messages.RIGHT_WITH_A_MASK.format(mask=said, call=call)
    (cause,) = found.causes
    assert (cause.name, cause.stage, cause.number) == ("mask: not given", "masked", None)
    assert found.mask == mask and not found.correct and not found.explanations
    assert diagnose(Q, K, V, output=output, allowed=getattr(attention, mask)(4, n_k)).correct
    assert diagnose(Q, K, V, output=output, allowed=np.ones((4, n_k), bool)).mask == mask
    meant = diagnose(Q, K, V, output=output, allowed=np.arange(n_k) < n_k - 1)
    assert meant.mask == "" and not meant.correct  # who gave a mask that hides meant it
    other = diagnose(Q, K, V, output=output + 0.3 * rng.standard_normal(output.shape))
    assert other.mask == "" and not other.correct


# ---- tokens as columns, heads that are split -----------------------------------------------------


def test_shapes_that_fit_only_where_tokens_are_columns_are_refused_with_that_hint():
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((5, 3)), rng.standard_normal((3, 3, 3))
    output = self_attention(X, *W).output
    turned = {name: M.T for name, M in zip(("W_Q", "W_K", "W_V"), W, strict=True)}
    with pytest.raises(ValueError, match=r"^W_Q has 3 rows; .* Are the tokens the columns of X\?"):
        diagnose(X=X.T, **turned, output=output.T)
    with pytest.raises(ValueError, match=r"^output: the shape is \(3, 5\); .* the columns\?"):
        diagnose(X, X, X, output=output.T)


def test_numbers_right_without_heads_that_are_split_already_are_called_so():
    Q, K, V = np.random.default_rng(0).standard_normal((3, 2, 3, 5, 6))
    found = diagnose(Q, K, V, heads=3, output=scaled_dot_product_attention(Q, K, V).output)
    assert [cause.name for cause in found.causes] == ["heads: split already"]
    assert "Leave out heads=3." in str(found) and not found.correct
    split = multi_head_attention(Q, K, V, heads=3).output
    assert diagnose(Q, K, V, heads=3, output=split).correct


def test_heads_that_cannot_be_split_again_are_said_to_be_split_already():
    Q = np.random.default_rng(0).standard_normal((2, 3, 5, 4))
    with pytest.raises(ValueError, match="split already: leave out heads=.$"):
        diagnose(Q, Q, Q, heads=3, output=Q)


@pytest.mark.parametrize("look", [False, True])
@pytest.mark.parametrize("length", [2, 4])
def test_numbers_right_with_padding_that_was_not_given_are_called_so(length, look):
    rng = np.random.default_rng(length)
    Q, K, V = (rng.standard_normal((6, 5)) for _ in "QKV")
    rows = [
        masked_by_loop(Q[i : i + 1], K, V, min(i if look else 5, length - 1))[0] for i in range(6)
    ]
    found = diagnose(Q, K, V, output=np.array(rows))
    call = f"attention.padding(attention.real_tokens({length}, 6))"
    assert found.mask == "padding" and not found.correct and not found.explanations
    assert call in found.verdict and ("attention.causal(6, 6) &" in found.verdict) == look
    allowed = np.broadcast_to(np.arange(6) < length, (6, 6)) & (causal(6, 6) | (not look))
    assert diagnose(Q, K, V, output=np.array(rows), allowed=allowed).correct


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("look", [False, True])
def test_each_item_may_have_a_length_of_its_own_that_was_not_given(look, heads):
    rng, lengths = np.random.default_rng(3), (5, 2, 3)
    Q, K, V = rng.standard_normal((3, 3, 5, 4))
    output, width = np.empty((3, 5, 4)), 4 // heads
    for b, i, h in product(range(3), range(5), range(heads)):
        cols = slice(h * width, (h + 1) * width)
        past = min(i if look else 4, lengths[b] - 1)
        q, k, v = (M[b][:, cols] for M in (Q, K, V))
        output[b, i, cols] = masked_by_loop(q[i : i + 1], k, v, past)[0]
    found = diagnose(Q, K, V, output=output, heads=heads)
    assert found.mask == "padding", str(found)
    (call,) = re.findall(r"allowed=(.*)\.$", found.verdict)
    allowed = eval(call, {"attention": attention})
    assert diagnose(Q, K, V, output=output, heads=heads, allowed=allowed).correct


@pytest.mark.parametrize("heads, kv_heads", [(1, 1), (4, 2)])
def test_float32_values_that_cancel_are_rounded_as_their_terms_are(heads, kv_heads):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6, 8)).astype(np.float32)
    W_Q = rng.standard_normal((8, 4 * heads)).astype(np.float32)
    W_K, W_V = rng.standard_normal((2, 8, 4 * kv_heads)).astype(np.float32)
    W_V[7] -= (X[0] @ W_V) / X[0, 7]  # the one value that is seen is about 1e-7
    allowed = np.zeros((1, 6), bool)
    allowed[0, 0] = True
    V = X @ W_V  # in float32, as the other code has it
    head = np.repeat(V[0].reshape(kv_heads, 4), heads // kv_heads, axis=0).reshape(-1)
    output = np.repeat(head[None], 6, axis=0)
    d = diagnose(
        X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, heads=heads, kv_heads=kv_heads, allowed=allowed,
        output=output,
    )  # fmt: skip
    assert d.correct, d


@pytest.mark.parametrize("seed", range(6))
def test_no_mistake_is_named_that_larger_scores_alone_excuse(seed):
    rng = np.random.default_rng(seed)
    X, W_Q, W_K, W_V = rng.standard_normal((4, 12, 12))
    allowed = np.arange(12) == 11  # one key is seen: no mistake before the values matters
    output = np.repeat((X @ W_V)[11:], 12, axis=0)
    X, W_Q, W_K, W_V = (M.round(4) for M in (X, W_Q, W_K, W_V))
    d = diagnose(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, heads=3, allowed=allowed[None], output=output)
    assert d.correct, d


def test_inputs_that_seem_rounded_may_be_right_without_heads_or_with_a_mask():
    rng = np.random.default_rng(5)
    Q, K, V = rng.standard_normal((3, 2, 3, 6, 6))
    printed = [M.round(4) for M in (Q, K, V)]
    scores = np.einsum("bhid,bhjd->bhij", Q, K) / np.sqrt(6)
    for heads, hidden, said in (
        (3, np.zeros((6, 6), bool), "Leave out heads=3."),
        (1, ~np.tri(6, dtype=bool), "Pass allowed=attention.causal(6, 6)."),
        (1, np.arange(6) > 3, "Pass allowed=attention.padding(attention.real_tokens(4, 6))."),
    ):
        weights = np.exp(np.where(hidden, -inf, scores))
        output = weights / weights.sum(axis=-1, keepdims=True) @ V
        d = diagnose(*printed, heads=heads, output=output)
        assert not d.correct and d.lines[-1] == said, d


@pytest.mark.parametrize("factor", [-1, 2])
def test_one_factor_for_all_is_no_gate_beside_a_mask_after_the_softmax(factor):
    rng = np.random.default_rng(8)
    Q, K, V = rng.standard_normal((3, 6, 8))
    weights = np.exp(Q @ K.T / np.sqrt(8)) * np.tri(6)
    output = factor * weights / weights.sum(axis=1, keepdims=True) @ V
    d = diagnose(Q, K, V, allowed=causal(6, 6), output=output)
    assert not d.explanations, d


def test_no_right_answer_of_any_feature_is_accused():
    accused = []
    for seed in range(amount(300, 10_000)):
        given, how = right_answers.drawn(seed)
        with np.errstate(all="ignore"):
            found = diagnose(**given)
        if not found.correct:
            accused.append((seed, how, str(found)))
    assert not accused
