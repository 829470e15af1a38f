"""Every deviation and every pair is planted by another hand: loops over heads and rows, as people write them."""

import re
import weakref
from itertools import combinations

import numpy as np
import pytest

from attention import causal, diagnose, multi_head_attention, scaled_dot_product_attention, self_attention
from attention.frameworks.diagnosis import checked
from attention.frameworks.mistakes import DEVIATIONS, Bench

inf, nan = np.inf, np.nan
NAMES = {f"{d.slot}: {d.option}": d for d in DEVIATIONS}


# ---- somebody's code, with somebody's mistakes --------------------------------------------------------


def theirs(given: dict, wrong: frozenset) -> tuple[np.ndarray, np.ndarray]:
    """Attention with these mistakes: its output (n, h · d_v) and its weights (h, n_q, n_k)."""
    f16 = in_half if "precision: float16" in wrong else np.asarray
    if "X" in given:
        X, turn = given["X"], "nd,kd->nk" if "weights: transposed" in wrong else "nd,dk->nk"
        other = given.get("memory", X)
        Q, K, V = (np.einsum(turn, M, given[name]) for M, name in ((X, "W_Q"), (other, "W_K"), (other, "W_V")))
    else:
        Q, K, V = given["Q"], given["K"], given["V"]
    h, g = given.get("heads", 1), given.get("kv_heads", given.get("heads", 1))
    Q, K, V = (f16(cut(M, count, "split: reshaped" in wrong)) for M, count in ((Q, h), (K, g), (V, g)))
    chosen = [k % g if "groups: tiled" in wrong else k // (h // g) for k in range(h)]
    weights, outputs = [], []
    for k in range(h):
        q, key, value = Q[k], K[chosen[k]], V[chosen[k]]
        if "order: swapped" in wrong:
            key, value = value, key
        scores = f16(np.dot(q, key) if "product: untransposed" in wrong else np.dot(q, key.T))
        shares = f16(share(f16(scores * factor(given, wrong, q.shape[1])), given, wrong, f16))
        weights.append(shares)
        outputs.append(f16(np.dot(shares, value) if wrong & LEAKING else careful(shares, value)))
    outputs = np.array(outputs)
    if "join: reshaped" in wrong:
        return outputs.reshape(outputs.shape[1], -1), np.array(weights)
    return np.concatenate(list(outputs), axis=1), np.array(weights)


def in_half(M):
    with np.errstate(over="ignore"):
        return np.asarray(M).astype("f2").astype("f8")


def cut(M, heads, reshaped):
    d = M.shape[1] // heads
    if reshaped:
        return M.reshape(heads, M.shape[0], d)
    return np.stack([M[:, k * d : (k + 1) * d] for k in range(heads)])


LEAKING = {
    "leak: NaN",
    "hiding: filled",
    "hiding: −1e9 added",
    "hiding: after softmax",
}  # hidden values meet a weight of 0


def careful(shares, value):
    """The weighted sum over the keys that have a weight."""
    keys = [np.flatnonzero(row) if np.isfinite(row).all() else np.arange(len(row)) for row in shares]
    return np.array([row[k] @ value[k] for row, k in zip(shares, keys, strict=True)])


def factor(given, wrong, d_k):
    if "scale" in given and not any(name.startswith("scale: ") for name in wrong):
        return given["scale"]
    if "scale: none" in wrong:
        return 1
    if "scale: d_k" in wrong:
        return 1 / d_k
    if "scale: all heads" in wrong:
        return 1 / np.sqrt(d_k * given["heads"])
    if "scale: d_model" in wrong:
        return 1 / np.sqrt(given["X"].shape[1])
    return 1 / np.sqrt(d_k)


def share(scaled, given, wrong, f16):
    """The softmax of one head, row by row, with the mask as these mistakes have it."""
    see = given.get("allowed")
    if see is not None and "mask: inverted" in wrong:
        see = np.logical_not(see)
    if see is None or "mask: ignored" in wrong:
        see = np.ones(scaled.shape, bool)
    if "mask: other corner" in wrong:
        see = np.triu(np.tril(np.ones(scaled.shape), scaled.shape[1] - scaled.shape[0]), -99) > 0
    cap = given.get("softcap")
    if cap and "cap: after mask" not in wrong:
        scaled = f16(cap * np.tanh(scaled / cap))
    if "hiding: 0/1 added" in wrong:
        scaled = scaled + np.where(see, 1, 0)
    elif "hiding: −1e9 added" in wrong:
        scaled = scaled - 1e9 * ~see
    elif "hiding: filled" in wrong:
        scaled = np.where(see, scaled, -1e9)
    elif "hiding: after softmax" not in wrong:
        scaled = np.where(see, scaled, -inf)
    if "cap: after mask" in wrong:
        scaled = cap * np.tanh(scaled / cap)
    scaled = f16(scaled)
    columns = "axis: queries" in wrong
    lines, seen = (scaled.T, see.T) if columns else (scaled, see)
    rows = [softmax(line, "hiding: NaN" in wrong and not s.any()) for line, s in zip(lines, seen, strict=True)]
    shares = np.array(rows).T if columns else np.array(rows)
    return np.where(see, shares, 0) if "hiding: after softmax" in wrong else shares


def softmax(line, gone):
    if gone:
        return np.full(line.shape, nan)
    if np.isneginf(line).all():
        return np.zeros(line.shape)
    grown = np.exp(line - line.max())
    return grown / grown.sum()


# ---- what is given ------------------------------------------------------------------------------------


def systems() -> dict[str, dict]:
    rng = np.random.default_rng(7)

    def normal(*shape):
        return rng.standard_normal(shape)

    hidden = rng.random((6, 6)) < 0.6
    hidden[2], hidden[:, 4] = False, False
    hidden[4, :2] = True
    return {
        "one head": {"Q": normal(6, 6), "K": normal(6, 6), "V": normal(6, 6)},
        "look-ahead, more keys": {"Q": normal(3, 5), "K": normal(5, 5), "V": normal(5, 5), "allowed": causal(3, 5)},
        "heads, mask and cap": {
            "X": normal(6, 8), "W_Q": normal(8, 8), "W_K": normal(8, 8), "W_V": normal(8, 8),
            "heads": 2, "allowed": hidden, "softcap": 3.0,
        },
        "shared heads": {
            "X": normal(6, 10), "W_Q": normal(10, 12), "W_K": normal(10, 6), "W_V": normal(10, 6),
            "heads": 4, "kv_heads": 2, "allowed": hidden,
        },
        "second sequence, own scale": {
            "X": normal(3, 4), "memory": normal(5, 4), "W_Q": normal(4, 4), "W_K": normal(4, 4), "W_V": normal(4, 4),
            "scale": 0.3, "allowed": causal(3, 5, 1),
        },
        "NaN at a hidden key": {
            "Q": normal(3, 2), "K": normal(4, 2), "V": np.where(np.arange(4)[:, None] == 3, nan, normal(4, 2)),
            "allowed": np.broadcast_to([True, True, True, False], (3, 4)),
        },
    }  # fmt: skip


SYSTEMS = systems()


def planted(count: int):
    for name, given in SYSTEMS.items():
        bench = Bench(checked(**given))
        for wrong in combinations(bench.applicable, count):
            if len({d.slot for d in wrong}) == count and bench.run(wrong) is not None:
                yield pytest.param(name, wrong, id=f"{name}: {' and '.join(d.option for d in wrong) or 'nothing'}")


def applied(given, deviations):
    return theirs(given, frozenset(name for name, d in NAMES.items() if d in deviations))


def same(one, other, rounding) -> bool:
    return all(np.allclose(a, b, rtol=rounding, atol=rounding, equal_nan=True) for a, b in zip(one, other, strict=True))


def test_every_deviation_has_room_in_one_of_the_systems():
    found = {d for given in SYSTEMS.values() for d in Bench(checked(**given)).applicable}
    assert found == set(DEVIATIONS)


@pytest.mark.parametrize("what", ["output", "both"])
@pytest.mark.parametrize(("system", "wrong"), [p for count in (0, 1, 2) for p in planted(count)])
def test_what_was_planted_is_found_or_named_among_those_that_cannot_be_told_apart(system, wrong, what):
    given = SYSTEMS[system]
    output, weights = applied(given, wrong)
    weights = weights if given.get("heads", 1) > 1 else weights[0]
    found = diagnose(**given, output=output, weights=weights if what == "both" else None)
    sets = [set(e.deviations) for e in found.explanations]
    assert sets, str(found)
    if set(wrong) in sets:
        return
    assert len(sets[0]) <= len(wrong)
    theirs_again = [applied(given, each)[0] for each in sets]
    rounding = (
        2e-3 if NAMES["precision: float16"] in wrong else 1e-6
    )  # numbers stored in half precision hide its arithmetic
    alike = [each for each, again in zip(sets, theirs_again, strict=True) if same([again], [output], rounding)]
    assert alike, str(found)  # by the other hand's arithmetic too the two are one
    if len(sets[0]) < 2 and sets[0] < set(wrong):
        assert set(wrong) - sets[0] <= set(found.unseen)


# ---- right numbers are right --------------------------------------------------------------------------


def written(how):
    return {
        "float64": lambda M: M,
        "float32": lambda M: M.astype("f4"),
        "float16": lambda M: M.astype("f2"),
        "four decimals": lambda M: M.round(4),
        "two decimals": lambda M: M.round(2),
    }[how]


@pytest.mark.parametrize(
    ("how", "digits"), [("float64", 15), ("float32", 7), ("float16", 3), ("four decimals", 4), ("two decimals", 2)]
)
@pytest.mark.parametrize("system", SYSTEMS)
def test_right_numbers_are_declared_right_however_they_were_written_down(system, how, digits):
    output, _ = applied(SYSTEMS[system], ())
    decimals = {"four decimals": 4, "two decimals": 2}.get(how) if output.size < 12 else None
    found = diagnose(**SYSTEMS[system], output=written(how)(output), decimals=decimals)
    assert found.correct, str(found)
    assert abs(found.explanations[0].digits - digits) <= 1
    assert str(found).startswith("These numbers are right, to ")


def test_attention_computed_in_float32_is_right():
    rng = np.random.default_rng(3)
    Q, K, V = rng.standard_normal((3, 2, 40, 16))
    trace = scaled_dot_product_attention(*(3 * M.astype("f4") for M in (Q, K, V)), allowed=causal(40, 40))
    found = diagnose(3 * Q, 3 * K, 3 * V, allowed=causal(40, 40), output=trace.output, weights=trace.weights)
    assert found.correct, str(found)


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
        d.option
        for d in diagnose(**given, heads=2, output=self_attention(X, *W[:3], heads=2, W_O=W[3], scale=1).projected)
        .explanations[0]
        .deviations
    ] == ["none"]


# ---- what cannot be told, and what is none of these ---------------------------------------------------


def test_a_mask_that_hides_nothing_cannot_reveal_how_it_is_applied():
    given = SYSTEMS["one head"] | {"allowed": np.ones((6, 6), bool)}
    found = diagnose(**given, output=applied(given, ())[0])
    assert found.correct
    assert {d.option for d in found.unseen} == {"ignored", "NaN", "filled", "−1e9 added", "0/1 added", "after softmax"}


def test_explanations_that_fit_equally_well_are_all_named():
    given = SYSTEMS["look-ahead, more keys"] | {"allowed": np.zeros((3, 5), bool)}  # every row is hidden
    found = diagnose(**given, output=applied(given, (NAMES["mask: ignored"],))[0])
    assert {tuple(d.option for d in e.deviations) for e in found.explanations} == {
        ("inverted",),
        ("ignored",),
        ("0/1 added",),
    }
    assert str(found).startswith(
        "These explain the numbers equally well, and the numbers cannot tell which: the mask is "
    )


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_noise_is_not_explained_away(system, dtype, size):
    rng = np.random.default_rng(11)
    output, _ = applied(SYSTEMS[system], ())
    found = diagnose(**SYSTEMS[system], output=(output + size * rng.standard_normal(output.shape)).astype(dtype))
    assert found.explanations == ()
    assert not found.correct
    assert str(found).startswith("None of the known deviations explains these numbers, nor do any two of them (")
    assert found.closest.error > size / 10


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
    assert [d.option for d in diagnose(**given, output=wrong).explanations[0].deviations] == ["none"]
    noisy = output * (1 + 0.01 * np.random.default_rng(1).standard_normal(output.shape))
    assert diagnose(**given, output=noisy).explanations == ()


def test_a_mistake_that_hardly_shows_is_found_where_the_numbers_are_exact():
    rng = np.random.default_rng(4)
    Q, K, V = 0.02 * rng.standard_normal((3, 8, 16))
    found = diagnose(Q, K, V, output=scaled_dot_product_attention(Q, K, V, scale=1).output)
    assert [d.option for d in found.explanations[0].deviations] == ["none"]


@pytest.mark.parametrize("system", ["look-ahead, more keys", "heads, mask and cap", "second sequence, own scale"])
def test_weights_printed_with_powers_of_ten_are_right(system):
    _, weights = applied(SYSTEMS[system], ())
    weights = weights if SYSTEMS[system].get("heads") else weights[0]
    assert diagnose(**SYSTEMS[system], weights=[[[float(f"{x:.4e}") for x in row] for row in M] for M in weights] if weights.ndim == 3
                    else [[float(f"{x:.4e}") for x in row] for row in weights]).correct  # fmt: skip


def test_a_few_exact_numbers_are_not_taken_for_rounded_ones():
    found = diagnose(np.eye(2) * 0.14**0.5, np.eye(2) * 2 * 0.14**0.5, np.eye(2), weights=[[0.5, 0.5], [0.5, 0.5]])
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
    assert found.correct or [d.slot for d in found.explanations[0].deviations] == ["precision"]


@pytest.mark.parametrize(("heads", "lead"), [(4, ()), (2, (3,)), (3, (3,))])
def test_a_mask_serves_every_head_as_it_does_in_our_own_attention(heads, lead):
    rng = np.random.default_rng(9)
    Q, K, V = rng.standard_normal((3, *lead, 4, 12))
    allowed = causal(4, 4) if not lead else np.broadcast_to(causal(4, 4), (3, 4, 4))
    output = multi_head_attention(Q, K, V, heads=heads, allowed=allowed).joined
    assert diagnose(Q, K, V, heads=heads, allowed=allowed, output=output).correct


def test_a_bench_is_freed_when_it_is_let_go():
    bench = Bench(checked(**SYSTEMS["one head"]))
    assert bench.applicable
    gone = weakref.ref(bench)
    del bench
    assert gone() is None  # by its last reference, without the garbage collector


@pytest.mark.parametrize("more", ["scale: none", "scale: d_k", "axis: queries", "order: swapped"])
@pytest.mark.parametrize("row", ["hiding: NaN", "hiding: filled"])
def test_an_inverted_look_ahead_mask_and_another_mistake_are_found_whatever_becomes_of_the_empty_row(more, row):
    given = {name: M[:5] for name, M in SYSTEMS["one head"].items()} | {"allowed": causal(5, 5)}
    given |= {"K": SYSTEMS["one head"]["K"][:5], "V": SYSTEMS["one head"]["V"][:5]}
    wrong = {NAMES["mask: inverted"], NAMES[row], NAMES[more]}
    found = diagnose(**given, output=applied(given, wrong)[0])
    assert any(set(e.deviations) <= wrong for e in found.explanations), str(found)
    assert (
        any({NAMES["mask: inverted"], NAMES[more]} <= set(e.deviations) for e in found.explanations)
        or more == "axis: queries"
    )


def test_float16_printed_with_four_decimals_is_called_half_precision():
    rng = np.random.default_rng(5)
    Q, K, V = (M.astype("f2") for M in rng.standard_normal((3, 12, 16)))
    scaled = (2 * Q @ K.T) * np.float16(0.25)
    grown = np.exp(scaled - scaled.max(-1, keepdims=True))
    output = ((grown / grown.sum(-1, keepdims=True)) @ V).astype("f8").round(4)
    assert [d.option for d in diagnose(2 * Q, K, V, output=output).explanations[0].deviations] == ["float16"]


def test_of_two_answers_each_is_said_how_far_it_is_off():
    given = SYSTEMS["one head"]
    output, weights = applied(given, ())
    found = diagnose(**given, output=output, weights=weights[0][::-1])
    apart = np.abs(weights[0][::-1] - weights[0]).max()
    said = str(found).split(" Next to right attention, ")[1]
    assert re.fullmatch(rf"the output by up to (0|\d\S*e-1\d) and the weights by up to {apart:.3g}\.", said)


def test_one_wrong_number_among_right_ones_is_not_explained_away():
    output, _ = applied(SYSTEMS["one head"], ())
    output[3, 2] += 0.01
    found = diagnose(**SYSTEMS["one head"], output=output)
    assert found.explanations == ()
    assert found.closest.deviations == ()
    assert found.closest.error == pytest.approx(0.01)


def test_float16_all_the_way_is_called_float16():
    rng = np.random.default_rng(5)
    Q, K, V = (M.astype("f2") for M in rng.standard_normal((3, 12, 16)))
    scaled = (Q @ K.T) * np.float16(0.25)
    grown = np.exp(scaled - scaled.max(-1, keepdims=True))
    found = diagnose(Q, K, V, output=(grown / grown.sum(-1, keepdims=True)) @ V)
    assert [d.option for d in found.explanations[0].deviations] == ["float16"]


# ---- where it begins, and what to do ------------------------------------------------------------------


def test_the_first_stage_that_differs_and_its_differences_are_shown():
    given = SYSTEMS["one head"]
    found = diagnose(**given, output=applied(given, (NAMES["scale: none"],))[0]).explanations[0]
    scores = given["Q"] @ given["K"].T
    assert found.stage == "scaled"
    np.testing.assert_allclose(found.difference, scores - scores / np.sqrt(6), rtol=1e-12)


@pytest.mark.parametrize(("wrong", "stage"), [("order: swapped", "K"), ("product: untransposed", "scores"), ("axis: queries", "weights")])  # fmt: skip
def test_each_deviation_shows_first_where_it_acts(wrong, stage):
    given = SYSTEMS["one head"]
    assert diagnose(**given, output=applied(given, (NAMES[wrong],))[0]).explanations[0].stage == stage


def test_the_answer_is_a_sentence_with_the_fix():
    given = SYSTEMS["heads, mask and cap"]
    output, _ = applied(given, (NAMES["mask: inverted"], NAMES["scale: none"]))
    assert str(diagnose(**given, output=output)) == (
        "The scores are not scaled, and the mask is inverted. With that, all numbers agree to 15 digits; the first"
        " difference is in scaled. Multiply the scores by the scale, by default 1/√d_k, before the mask and the softmax. Find out what True"
        " means: may look in torch's SDPA, hide in nn.MultiheadAttention; negate the mask."
    )


# ---- refusals -----------------------------------------------------------------------------------------

ONE = {"Q": np.ones((2, 3)), "K": np.ones((4, 3)), "V": np.ones((4, 5))}


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (ONE, ValueError, "neither output nor weights is given; give the numbers of the other code."),
        ({"Q": ONE["Q"], "output": [[1.0]]}, ValueError, "K and V is missing; give Q, K and V, or X, W_Q, W_K and W_V."),
        (ONE | {"output": np.ones((2, 4))}, ValueError, "output: the shape is (2, 4); (2, 5) is wanted for these inputs."),
        (ONE | {"weights": np.ones((4, 2))}, ValueError, "weights: the shape is (4, 2); (2, 4) is wanted for these inputs."),
        (ONE | {"output": [[1.0], [2.0, 3.0]]}, ValueError, "output has rows of different lengths; every row needs the same."),
        (ONE | {"K": np.ones((4, 2)), "output": np.ones((2, 5))}, ValueError, "Q has 3 columns and K has 2; both need the same d_k."),
        (ONE | {"heads": 2, "output": np.ones((2, 5))}, ValueError, "Q has 3 columns; they cannot be split into 2 heads of equal width."),
        (ONE | {"heads": 2.0, "output": [[1.0]]}, ValueError, "heads is 2.0; a whole number from 1 is wanted."),
        (ONE | {"kv_heads": 0, "output": [[1.0]]}, ValueError, "kv_heads is 0; a whole number from 1 is wanted."),
        (ONE | {"kv_heads": 2, "output": [[1.0]]}, ValueError, "kv_heads is 2 and heads is 1; several heads of queries share one of keys and values."),
        (ONE | {"X": [[1.0]], "W_Q": [[1.0]], "W_K": [[1.0]], "W_V": [[1.0]]}, ValueError, "both X and Q, K or V are given; give one of the two."),
        (ONE | {"bias": 1}, TypeError, "there is no argument bias; Q, K, V, X, W_Q, W_K, W_V, W_O, memory, heads, kv_heads, allowed, scale, softcap are known."),
        (ONE | {"allowed": [[True], [True, False]]}, ValueError, "allowed has rows of different lengths; every row needs the same."),
        ({"Q": np.ones((4, 3, 2)), "K": np.ones((2, 3, 2)), "V": np.ones((3, 2))}, ValueError, "K has shape (2, 3, 2) and V (3, 2); both need the same heads."),
        (ONE | {"scale": -1, "output": np.ones((2, 5))}, ValueError, "scale is -1; a positive number is wanted."),
        (ONE | {"allowed": np.ones((3, 3), bool), "output": np.ones((2, 5))}, ValueError, "allowed has shape (3, 3), which does not fit the scores (2, 4)."),
    ],
)  # fmt: skip
def test_a_refusal_names_the_argument_what_came_and_what_is_wanted(given, kind, message):
    with pytest.raises(kind) as caught:
        diagnose(**given)
    assert str(caught.value) == message
