"""Inputs that were rounded: right answers are accepted, and wrong ones are not.

The answers are those of the numbers before they were rounded, by a plain formula. Of the 2,000
draws of each size a share by seed; all of them with THOROUGH=1.
"""

from itertools import product

import messages
import numpy as np
import pytest
from amount import amount
from frameworks.diagnosis.planting import all_said

from attention import diagnose
from attention.frameworks.diagnosis.mistakes import BY_NAME

EACH = amount(6, 2000)
WRONG = 200  # of them, at most, that are tried wrong by 1 % as well
RIGHT_AS_FAR = messages.RIGHT_WHEN_ROUNDED.format(
    rounding="the 4 decimals of Q, K and V", digits="4 digits"
)
SIZES = ((1, 6, 4), (2, 6, 8), (4, 12, 16))  # heads, tokens, columns of all heads


def attended(Q, K, V, heads=1, scaled_by=1.0):
    """The heads' outputs side by side."""
    outputs = []
    for q, k, v in zip(*(np.split(M, heads, axis=1) for M in (Q, K, V)), strict=True):
        scores = q @ k.T / np.sqrt(q.shape[1]) * scaled_by
        grown = np.exp(scores - scores.max(axis=1, keepdims=True))
        outputs.append(grown / grown.sum(axis=1, keepdims=True) @ v)
    return np.concatenate(outputs, axis=1)


def drawn(seed, tokens, columns):
    return np.random.default_rng(seed).normal(size=(3, tokens, columns))


def counted_as_rounded(each: str) -> str:
    in_full = messages.PRINT_IN_FULL.format(numbers=messages.NUMBERS_IN_FULL)
    names, what = each.split(" to ")
    said = messages.READ_AS_ROUNDED if " and " in names else messages.ONE_READ_AS_ROUNDED
    each = said.format(names=names, name=names, what=what)
    return messages.COUNTED_AS_ROUNDED.format(each=each, how=in_full)


def all_to(decimals):
    return dict.fromkeys(("Q", "K", "V", "output"), decimals)


def _scaled(explanation, by):
    """Check whether this is the scale alone, fitted to this number."""
    (mistake, *more) = explanation.mistakes or (None,)
    named = mistake is not None and mistake.name.startswith("scale: ") and not more
    return named and mistake.number == pytest.approx(by, rel=1e-3)


@pytest.fixture
def few_pairs(monkeypatch):
    """As few as the search allows: what is right or off by 1 % is no pair of mistakes."""
    monkeypatch.setattr("attention.frameworks.diagnosis.search.PAIRS", 0)


@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize(("size", "decimals"), [*product(SIZES, (3, 4, 6))])
def test_right_answers_to_rounded_inputs_are_right_and_others_not(size, decimals):
    heads, *shape = size
    columns_of_a_head = shape[1] // heads
    refused, accepted = [], []
    for seed in range(EACH):
        exact = drawn(seed, *shape)
        given = {"heads": heads} | dict(zip("QKV", exact.round(decimals), strict=True))
        if seed % 2:
            given["decimals"] = all_to(decimals)  # else their numbers tell
        right = attended(*exact, heads).round(decimals)
        wrong = attended(*exact, heads, scaled_by=1.01).round(decimals)
        if not diagnose(**given, output=right).correct:
            refused.append(seed)
        found = diagnose(**given, output=wrong)
        by = 1.01 / columns_of_a_head**0.5
        if any(not _scaled(each, by) for each in found.explanations):
            accepted.append(seed)
    print(f"{size}, {decimals} decimals: {len(refused)} refused, {len(accepted)} accepted")
    assert not refused and not accepted


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("decimals", [3, 4])
def test_mistakes_are_found_with_rounded_inputs(heads, decimals):
    exact = drawn(0, 6, 8)
    for by, name in ((np.sqrt(8 / heads), "scale: none"), (np.sqrt(heads / 8), "scale: d_k")):
        found = diagnose(
            *exact.round(decimals),
            heads=heads,
            output=attended(*exact, heads, scaled_by=by).round(decimals),
            decimals=decimals,
        )
        assert [BY_NAME[name]] in [[*e.mistakes] for e in found.explanations], str(found)
        assert counted_as_rounded(f"Q, K and V to {decimals} decimals") in all_said(found)


def test_a_right_answer_names_the_rounding_and_how_to_print_in_full():
    exact = drawn(0, 6, 4)
    found = diagnose(*exact.round(4), output=attended(*exact).round(4), decimals=4)
    rounding = "the 4 decimals of Q, K and V"
    assert str(found) == messages.RIGHT_WHEN_ROUNDED.format(digits="4 digits", rounding=rounding)
    assert found.details == (counted_as_rounded("Q, K and V to 4 decimals"),)


def test_an_answer_that_rounding_does_not_explain_still_names_it():
    exact = drawn(0, 6, 4)
    wrong = attended(*exact, scaled_by=1.05).round(4)
    found = diagnose(*exact.round(4), output=wrong, decimals=4)
    assert not found.explanations
    assert counted_as_rounded("Q, K and V to 4 decimals") in all_said(found)
    assert "24 of the 24" not in all_said(found)


def test_short_arrays_are_exact_where_that_explains_the_numbers_or_decimals_say_so():
    exact = drawn(0, 6, 4)
    output = attended(*exact).round(4)
    as_given = attended(*exact.round(4))
    assert "rounded" not in str(diagnose(*exact.round(4), output=as_given))
    found = diagnose(*exact.round(4), output=output, decimals={})
    assert not found.correct
    assert (
        messages.COUNT_AS_EXACT.format(
            names="Q, K and V",
            count=4,
            in_full=messages.NUMBERS_IN_FULL,
            count_2=4,
        )
    ) in found.notes
    assert diagnose(*exact.round(4), output=output, decimals=4).correct
    assert diagnose(*exact.round(4), output=output).verdict == RIGHT_AS_FAR
    alone = {"decimals": {"output": 4}}  # says nothing of the inputs
    assert not diagnose(*exact.round(4), output=output, **alone).correct


def test_one_number_of_decimals_leaves_whole_and_longer_inputs_exact():
    exact = drawn(0, 6, 4)
    given = (exact[0].round(4), np.rint(exact[1] * 3), exact[2])
    output = attended(*given).round(4)
    said = all_said(diagnose(*given, output=output, decimals=4))
    assert counted_as_rounded("Q to 4 decimals") in said


def test_what_explains_the_inputs_as_they_are_to_the_last_digit_is_not_laid_to_rounding():
    """A scale left out that hardly shows: rounding the inputs would explain it too."""
    Q, K, V = drawn(0, 6, 4).round(4)
    Q, K = (0.01 * Q).round(4), (0.01 * K).round(4)
    output = attended(Q, K, V, scaled_by=2.0)
    found = diagnose(Q, K, V, output=output, decimals=all_to(4) | {"output": 15})
    assert [[m.name for m in e.mistakes] for e in found.explanations] == [["scale: none"]]


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_inputs_of_half_precision_count_as_rounded(kind):
    exact = drawn(0, 6, 4)
    if kind == "float16":
        inputs = exact.astype("f2")
    else:
        inputs = exact.astype(pytest.importorskip("ml_dtypes").bfloat16)
    output = attended(*exact)
    found = diagnose(*inputs, output=output)
    rounding = f"the {kind} numbers of Q, K and V"
    right = messages.RIGHT_WHEN_ROUNDED.format(rounding=rounding, digits="{").partition("{")[0]
    assert found.correct and str(found).startswith(right)
    assert (
        messages.COUNTED_AS_ROUNDED.format(
            each=messages.READ_AS_ROUNDED.format(names="Q, K and V", what=kind),
            how=messages.BEFORE_CONVERSION.format(kind=kind),
        )
    ) in all_said(found)
    as_they_are = attended(*(M.astype(np.float64) for M in inputs))
    assert "rounded" not in all_said(diagnose(*inputs, output=as_they_are))
    whole = np.rint(exact * 3).astype(inputs.dtype)
    unlike = attended(*(whole.astype(float) + 1e-3 * exact))
    assert not diagnose(*whole, output=unlike).correct


def test_weights_and_biases_of_a_layer_may_be_rounded():
    rng = np.random.default_rng(1)
    X, *W = rng.normal(size=(4, 8, 8))
    b = rng.normal(size=(3, 8))
    names = ("X", "W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")
    exact = dict(zip(names, (X[:6], *(M / 3 for M in W), *b), strict=True))
    QKV = (exact["X"] @ exact[f"W_{c}"] + exact[f"b_{c}"] for c in "QKV")
    output = attended(*QKV, heads=2).round(4)
    given = {name: M.round(4) for name, M in exact.items()}
    assert diagnose(**given, heads=2, output=output).correct
    assert not diagnose(**given, heads=2, output=output, decimals={}).correct
    found = diagnose(**given, heads=2, output=output, decimals=4)
    assert found.correct and counted_as_rounded(
        "X, W_Q, W_K, W_V, b_Q, b_K and b_V to 4 decimals"
    ) in all_said(found)


def test_of_many_queries_rounding_is_tried_on_those_that_are_searched():
    exact = drawn(0, 300, 8)
    output = attended(*exact).round(4)
    found = diagnose(*exact.round(4), output=output, decimals=4)
    assert found.correct
    assert messages.ROUNDING_TRIED_ON.format(queries=50, n_q=300) in found.notes


def test_right_weights_of_rounded_inputs_place_the_trouble_after_them():
    exact = drawn(0, 6, 4)
    scores = exact[0] @ exact[1].T / 2
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    other = np.random.default_rng(1).normal(size=(6, 4))
    found = diagnose(
        *exact.round(3), output=weights @ other, weights=weights.round(3), decimals=all_to(3)
    )
    assert messages.TROUBLE_IN_V in found.notes, str(found)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lost", [np.nan, np.inf])
@pytest.mark.parametrize("decimals", [None, 4])
@pytest.mark.parametrize("dtype", ["f2", "f8"])
def test_rounded_inputs_with_lost_numbers_warn_of_nothing(dtype, decimals, lost):
    X, *W = np.random.default_rng(0).normal(size=(4, 4, 4)).round(4).astype(dtype)
    X[1, 2] = lost
    names = ("W_Q", "W_K", "W_V")
    given = dict(zip(names, W, strict=True))
    assert diagnose(X=X, **given, output=np.ones((4, 4)), decimals=decimals).verdict


@pytest.mark.parametrize(
    ("decimals", "kind", "message"),
    [
        (
            {"X": 4},
            ValueError,
            messages.DECIMALS_OF_WHAT_IS_NOT_GIVEN.format(name="'X'", there="Q, K, V and output"),
        ),
        (
            {"Q": -1},
            ValueError,
            messages.INTEGER_EXPECTED.format(name="decimals['Q']", given="-1", least=0),
        ),
        (
            "half",
            ValueError,
            messages.DECIMALS_OR_TYPE.format(name="decimals", given="'half'"),
        ),
        (
            {"output": "fp16"},
            ValueError,
            messages.DECIMALS_OR_TYPE.format(name="decimals['output']", given="'fp16'"),
        ),
        (2.5, ValueError, messages.INTEGER_EXPECTED.format(name="decimals", given="2.5", least=0)),
    ],
)
def test_decimals_of_what_is_not_given_are_refused(decimals, kind, message):
    with pytest.raises(kind) as refused:
        diagnose(*drawn(0, 6, 4), output=np.ones((6, 4)), decimals=decimals)
    assert str(refused.value) == message


@pytest.mark.parametrize("seed", [339, 1663])
def test_half_precision_excuses_nothing_where_the_inputs_are_no_half_precision(seed):
    """Three decimals of 24 numbers may be those of half precision by chance; 72 more are not."""
    exact = drawn(seed, 6, 4)
    wrong = attended(*exact, scaled_by=1.01).round(3)
    assert not diagnose(*exact.round(3), output=wrong, decimals=all_to(3)).explanations


def test_half_precision_is_possible_where_inputs_and_answer_may_be_printed_numbers_of_it():
    exact = drawn(3, 6, 4).astype("f2").astype(float)
    scores = (exact[0] @ exact[1].T / 2).astype("f2").astype(float)
    weights = (np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)).astype("f2")
    output = (weights.astype(float) @ exact[2]).astype("f2").astype(float).round(4)
    assert diagnose(*exact.round(4), output=output, decimals=all_to(4)).correct


def in_tf32(M):
    """The nearest numbers with ten bits after the first, as tensor cores take them."""
    bits = M.astype(np.float32).view(np.uint32).astype(np.uint64) + (1 << 12)
    return (bits & 0xFFFFE000).astype(np.uint32).view(np.float32)


def by_kernel(Q, K, V, kind):
    """Attention whose products take rounded numbers and are summed in float32."""
    rounded = in_tf32 if kind == "TF32" else lambda M: M.astype("f2").astype("f4")
    scores = rounded(Q) @ rounded(K).T / np.float32(np.sqrt(Q.shape[1]))
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    output = rounded(grown / grown.sum(axis=1, keepdims=True)) @ rounded(V)
    return output if kind == "TF32" else rounded(output)


@pytest.mark.parametrize("kind", ["TF32", "float16"])
def test_a_kernel_that_is_named_rounds_as_it_does(kind):
    refused = []
    for seed in range(amount(40, 400)):
        Q, K, V = drawn(seed, 12, 16).astype("f4")
        found = diagnose(Q, K, V, output=by_kernel(Q, K, V, kind), decimals={"output": kind})
        if not found.correct:
            refused.append(seed)
        unscaled = by_kernel(4 * Q, K, V, kind)
        named = diagnose(Q, K, V, output=unscaled, decimals={"output": kind})
        assert [c.name for c in named.causes] == ["scale: none"], str(named)
    assert not refused
    assert not diagnose(Q, K, V, output=by_kernel(Q, K, V, "TF32"), decimals={}).correct


@pytest.mark.parametrize("decimals", [3, 4])
@pytest.mark.parametrize("hides", ["look-ahead", "padding"])
def test_a_forgotten_mask_is_found_where_inputs_seem_to_be_rounded(hides, decimals):
    for seed in range(EACH):
        Q, K, V = drawn(seed, 6, 8)
        allowed = np.tril(np.ones((6, 6), bool)) if hides == "look-ahead" else np.arange(6) < 4
        powers = np.exp(Q @ K.T / 8**0.5) * allowed
        output = powers / powers.sum(axis=1, keepdims=True) @ V
        found = diagnose(*(M.round(decimals) for M in (Q, K, V)), output=output)
        assert [cause.name for cause in found.causes] == ["mask: not given"], (seed, str(found))
        assert f"as far as the {decimals} decimals of Q, K and V can tell" in found.lines[0]


def test_heads_that_are_split_already_are_found_where_inputs_seem_to_be_rounded():
    Q, K, V = np.random.default_rng(0).normal(size=(3, 2, 4, 6, 8))
    powers = np.exp(Q @ K.swapaxes(-1, -2) / 8**0.5)
    output = powers / powers.sum(axis=-1, keepdims=True) @ V
    found = diagnose(*(M.round(4) for M in (Q, K, V)), heads=4, output=output)
    assert [cause.name for cause in found.causes] == ["heads: split already"], str(found)
