"""What real layers add before the scores, each beside plain loops that share nothing with it."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import messages
import numpy as np
import pytest
from oracle import product

import attention
from attention import (
    RMSNorm,
    Rotary,
    View,
    linear_frequencies,
    multi_head_attention,
    ntk_frequencies,
    scaled_dot_product_attention,
    self_attention,
    sinusoidal,
    yarn_factor,
    yarn_frequencies,
)
from attention.explain.arithmetic import cell, walk
from attention.explain.captions import describe, formula
from attention.explain.colours import colour_limits
from attention.vocabulary.numbers import number
from attention.vocabulary.parts import PARTS
from attention.vocabulary.stages import COMPUTED

RNG = np.random.default_rng(0)
X, LONG = RNG.normal(size=(3, 4)), RNG.normal(size=(5, 6))
W = {name: RNG.normal(size=(4, 8)) for name in ("W_Q", "W_K", "W_V")}
W |= {"W_O": RNG.normal(size=(8, 3))}
BIASES = {"b_Q": RNG.normal(size=8), "b_K": RNG.normal(size=8), "b_V": RNG.normal(size=8)}
BIASES |= {"b_O": RNG.normal(size=3)}
GAINS = {"gain_Q": [1, -2, 0.5, 3], "gain_K": RNG.normal(size=8)}
NORMS = [
    RMSNorm(),
    RMSNorm(**GAINS, eps=0.1),
    RMSNorm(**GAINS, whole=True),
    RMSNorm(**GAINS, after_rotary=True),
    RMSNorm(**GAINS, whole=True, after_rotary=True),
]
ROTARIES = [
    Rotary(base=100.0),
    Rotary(pairs="interleaved", offset=3, factor=1.5),
    Rotary(width=2, offset=1),
    Rotary(frequencies=[0.7], pairs="interleaved"),
]


def complete(norm=NORMS[2], rotary=ROTARIES[1], heads=2, dtype=float, **more):
    """Every part at once."""
    given = {name: np.asarray(values, dtype) for name, values in (W | BIASES).items()}
    given |= {"positions": sinusoidal(3, 4).astype(dtype), "heads": heads}
    return self_attention(X.astype(dtype), norm=norm, rotary=rotary, **given | more)


# ---- beside plain loops --------------------------------------------------------------------------


def turned(row, position, how):
    """One query or key, pair by pair."""
    width = 2 * len(how.frequencies) if how.frequencies else how.width or len(row)
    result = list(row)
    for k in range(width // 2):
        turn = how.frequencies[k] if how.frequencies else how.base ** (-2 * k / width)
        a, b = (2 * k, 2 * k + 1) if how.pairs == "interleaved" else (k, k + width // 2)
        cos, sin = (how.factor * wave(position * turn) for wave in (math.cos, math.sin))
        result[a] = row[a] * cos - row[b] * sin
        result[b] = row[a] * sin + row[b] * cos
    return result


def normed(rows, gain, how):
    """The rows of one token in all heads."""
    means = [math.fsum(x * x for x in row) / len(row) for row in rows]
    if how.whole:
        means = [math.fsum(means) / len(means)] * len(rows)
    gain = [1.0] * len(rows[0]) if gain is None else gain
    gains = [gain[k * len(row) : (k + 1) * len(row)] or gain for k, row in enumerate(rows)]
    return [
        [x / math.sqrt(mean + how.eps) * g for x, g in zip(row, its, strict=True)]
        for row, mean, its in zip(rows, means, gains, strict=True)
    ]


def by_loops(M, letter, norm, rotary):
    """(h, n, d): each token's rows, normed and turned in the order asked."""
    M = np.array(M, float)
    for token in range(M.shape[1]):
        rows = M[:, token].tolist()

        def turn(rows, position=token + (rotary.offset if rotary and letter == "Q" else 0)):
            return [turned(row, position, rotary) for row in rows] if rotary else rows

        if norm is None:
            M[:, token] = turn(rows)
            continue
        gain = getattr(norm, f"gain_{letter}")
        if norm.after_rotary:
            M[:, token] = normed(turn(rows), gain, norm)
        else:
            M[:, token] = turn(normed(rows, gain, norm))
    return M


@pytest.mark.parametrize("rotary", [None, *ROTARIES])
@pytest.mark.parametrize("norm", [None, *NORMS])
def test_queries_and_keys_are_those_of_the_loops(norm, rotary):
    trace = complete(norm, rotary)
    for letter in "QK":
        names = [f"{letter}_{step}" for step in ("normed", "rotated")]
        made = [getattr(trace, name) for name in names if getattr(trace, name) is not None]
        if norm and norm.after_rotary:
            made = made[::-1]
        last = made[-1] if made else getattr(trace, letter)
        wanted = by_loops(getattr(trace, letter), letter, norm, rotary)
        np.testing.assert_allclose(last, wanted, rtol=1e-12, atol=1e-14)
    Q, K = (by_loops(M, name, norm, rotary) for name, M in (("Q", trace.Q), ("K", trace.K)))
    scores = [product(q, k.T) for q, k in zip(Q, K, strict=True)]
    np.testing.assert_allclose(trace.scores, scores, rtol=1e-11, atol=1e-12)


def test_biases_and_positions_are_added_cell_by_cell():
    trace = complete(None, None, heads=1)
    added = [[x + p for x, p in zip(*rows, strict=True)] for rows in zip(X, trace.P, strict=True)]
    np.testing.assert_array_equal(trace.X_P, added)
    for name in "QKV":
        wanted = np.array(product(added, W[f"W_{name}"])) + [list(BIASES[f"b_{name}"])] * 3
        np.testing.assert_allclose(getattr(trace, name), wanted, rtol=1e-13, atol=1e-14)
    wanted = np.array(product(trace.joined, W["W_O"])) + [list(BIASES["b_O"])] * 3
    np.testing.assert_allclose(trace.projected, wanted, rtol=1e-13, atol=1e-14)


def test_to_a_second_sequence_nothing_is_added():
    plain = self_attention(X, **W, memory=LONG[:, :4])
    trace = self_attention(X, **W, memory=LONG[:, :4], positions=sinusoidal(3, 4))
    np.testing.assert_array_equal(trace.K, plain.K)
    assert View.of(trace).sources("K") == [("memory", "row i"), ("W_K", "column j")]
    assert View.of(trace).sources("Q") == [("X_P", "row i"), ("W_Q", "column j")]


def test_sinusoidal_positions_are_waves():
    wanted = [
        [(math.sin if j % 2 == 0 else math.cos)(p / 10000 ** ((j - j % 2) / 5)) for j in range(5)]
        for p in range(2, 9)
    ]
    np.testing.assert_allclose(sinusoidal(7, 5, offset=2), wanted, rtol=1e-14, atol=1e-15)


def test_the_angles_of_far_positions_are_exact_to_float64():
    far = Rotary(base=10.0, offset=100_000)
    cos, sin = far.cos_sin((1, 4), far.offset)
    angles = np.longdouble(100_000) * np.longdouble(10) ** (-np.arange(0, 4, 2) / np.longdouble(4))
    np.testing.assert_allclose(cos[0], np.cos(angles).astype(float), atol=2e-11)
    np.testing.assert_allclose(sin[0], np.sin(angles).astype(float), atol=2e-11)


# ---- what they are for ---------------------------------------------------------------------------


def test_rotated_scores_depend_on_how_far_a_query_and_a_key_are_apart():
    same = np.ones((6, 4))
    scores = scaled_dot_product_attention(same, same, same, rotary=Rotary(base=50.0)).scores
    for apart in range(-5, 6):
        diagonal = np.diagonal(scores, apart)
        np.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-13)


def test_with_an_offset_the_last_queries_are_those_of_the_whole():
    whole = scaled_dot_product_attention(LONG, LONG, LONG, rotary=Rotary())
    last = scaled_dot_product_attention(LONG[3:], LONG, LONG, rotary=Rotary(offset=3))
    np.testing.assert_allclose(last.output, whole.output[3:], rtol=1e-13)
    slip = scaled_dot_product_attention(LONG[3:], LONG, LONG, rotary=Rotary())
    assert np.abs(slip.weights - whole.weights[3:]).max() > 0.01


def test_a_norm_without_gain_does_not_care_for_the_order_and_one_with_gain_does():
    def scores(late, **gains):
        return complete(RMSNorm(**gains, after_rotary=late), ROTARIES[0]).scores

    np.testing.assert_allclose(scores(False), scores(True), rtol=1e-12)
    assert np.abs(scores(False, **GAINS) - scores(True, **GAINS)).max() > 0.1


@pytest.mark.parametrize("norm", NORMS)
def test_shared_key_heads_are_normed_and_rotated_once_and_then_repeated(norm):
    Q, K = RNG.normal(size=(3, 16)), RNG.normal(size=(3, 8))
    rule = {"norm": replace(norm, gain_Q=None), "rotary": ROTARIES[0]}
    shared = multi_head_attention(Q, K, K, heads=4, kv_heads=2, **rule)
    twice = np.repeat(K.reshape(3, 2, 4), 2, axis=1).reshape(3, 16)
    gain = norm.gain_K and np.repeat(np.reshape(norm.gain_K, (2, 4)), 2, axis=0).ravel()
    rule["norm"] = replace(rule["norm"], gain_K=gain)
    for_each = multi_head_attention(Q, twice, twice, heads=4, **rule)
    for name in ("K_normed", "K_rotated", "scores", "output"):
        ours, theirs = getattr(shared, name), getattr(for_each, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_float32_stays_float32_at_every_stage(norm):
    trace = complete(norm, dtype=np.float32)
    for name, values in vars(trace).items():
        if isinstance(values, np.ndarray) and name != "allowed":
            assert values.dtype == np.float32, name
            assert not values.flags.writeable, name


def test_positions_take_the_float_type_of_x():
    X, eye = np.ones((3, 4), np.float32), np.eye(4, dtype=np.float32)
    trace = self_attention(X, eye, eye, eye, positions=sinusoidal(3, 4))
    assert trace.P.dtype == trace.X_P.dtype == trace.Q.dtype == trace.output.dtype == np.float32


def test_a_norm_of_float32_does_not_overflow_in_its_squares():
    huge = np.full((1, 2), 1e30, np.float32)
    trace = scaled_dot_product_attention(huge, huge, huge, norm=RMSNorm())
    np.testing.assert_allclose(trace.Q_normed, [[1, 1]], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["f8", "longdouble"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_norm_of_the_largest_numbers_is_that_of_exact_fractions(whole, dtype):
    """Rows beyond the root of the type's largest number, beside ordinary ones, which stay as they
    are to the bit."""
    rows = np.random.default_rng(8).normal(size=(2, 4, 6)).astype(dtype)  # (heads, tokens, d_k)
    plain = RMSNorm(whole=whole).of("Q", rows, of_heads=True)
    huge = rows.copy()
    huge[:, 1] *= np.ldexp(np.dtype(dtype).type(1), np.finfo(dtype).maxexp - 3)
    huge[0, 3, 2] = np.finfo(dtype).max
    normed = RMSNorm(whole=whole).of("Q", huge, of_heads=True)
    for h, i in np.ndindex(2, 4):
        row = huge[:, i].ravel() if whole else huge[h, i]
        squares = [Fraction(*x.as_integer_ratio()) ** 2 for x in row]
        mean = sum(squares) / len(squares) + Fraction(1e-6)
        for x, found in zip(huge[h, i], normed[h, i], strict=True):
            exact = Fraction(*x.as_integer_ratio()) ** 2 / mean
            assert float(found) == pytest.approx(math.copysign(math.sqrt(exact), x), rel=1e-14)
    assert np.array_equal(normed[:, ::2], plain[:, ::2])


def test_frequencies_for_longer_contexts():
    plain = [10000 ** (-2 * k / 8) for k in range(4)]
    np.testing.assert_allclose(linear_frequencies(8, 4.0), np.divide(plain, 4), rtol=1e-15)
    grown = 10000 * 4 ** (8 / 6)
    wanted = [grown ** (-2 * k / 8) for k in range(4)]
    np.testing.assert_allclose(ntk_frequencies(8, 4.0), wanted, rtol=1e-14)
    slow = [2 * math.pi / f > 1024 for f in plain]  # does not turn once within what was trained
    fast = [1024 / (2 * math.pi / f) > 32 for f in plain]
    yarn = yarn_frequencies(8, 4.0, 1024)
    for ours, theirs, is_slow, is_fast in zip(yarn, plain, slow, fast, strict=True):
        low, high = theirs / 4, theirs
        assert low * (1 - 1e-12) <= ours <= high
        assert not is_slow or ours == pytest.approx(low)
        assert not is_fast or ours > low
    assert yarn[0] == 1 and yarn_factor(4.0) == 1 + math.log(4) / 10 and yarn_factor(0.5) == 1


# ---- how they are shown --------------------------------------------------------------------------


@pytest.mark.parametrize("rotary", ROTARIES)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("head", [0, 1])
def test_the_lines_behind_every_cell_lead_to_its_number(norm, rotary, head):
    view = View.of(complete(norm, rotary), head=head, context=True)
    for name in filter(view.stages.__contains__, COMPUTED):
        for i, j in np.ndindex(view.stages[name].shape):
            *work, last = cell(view, name, i, j, 12)
            value = view.printed(name)[i, j]
            assert last.endswith(f" {number(value, 12)}"), (name, i, j)
            if name in ("Q", "K", "V", "projected", "scores", "X_P") or "_" in name:
                _follow(work, value, name)


def _follow(work, value, name):
    """The last line before the number, worked out, gives the number."""
    text = work[-1].removeprefix("= ").replace("·", "*").replace("−", "-").replace("²", "**2")
    if "stays" in text:
        return
    assert re.fullmatch(r"[\d.e+*/() -]+", text), (name, text)
    assert eval(text) == pytest.approx(value, rel=1e-9, abs=1e-9), (name, work)


def test_the_angle_and_the_root_stand_in_the_lines():
    Q = [[1.0, 0.0, 5.0], [3.0, 4.0, 5.0]]
    rule = {"norm": RMSNorm(eps=1e-9), "rotary": Rotary(width=2, base=100.0, offset=2)}
    view = View.of(scaled_dot_product_attention(Q, Q, Q, **rule))
    assert cell(view, "Q_normed", 1, 0) == [
        "row of Q = [3, 4, 5]",
        "√((3² + 4² + 5²) / 3 + 1e−9) = 4.0825",
        "3 / 4.0825",
        "= 0.73",
    ]
    assert cell(view, "Q_rotated", 1, 1) == [
        "pair 1: columns 1 and 2",
        "θ = position × frequency = 3 × 1 = 3",
        "b cos θ + a sin θ",
        "0.98·(−0.9900) + 0.73·0.1411",
        "= −0.87",
    ]
    assert cell(view, "K_rotated", 1, 2) == [
        messages.COLUMN_NOT_ROTATED.format(columns=2),
        "= 1.22",
    ]


def test_captions_say_what_was_done():
    view = View.of(complete(NORMS[0], ROTARIES[0]))
    said = {name: describe(view, name)["formula"] for name in view.stages}
    assert said["Q"] == "(X + P) W_Q + b_Q" and said["projected"] == "joined W_O + b_O"
    assert said["K_normed"] == "RMSNorm(K)" and said["K_rotated"] == "RoPE(RMSNorm(K))"
    assert said["scores"] == "RoPE(RMSNorm(Q)) RoPE(RMSNorm(K))ᵀ"
    late = View.of(complete(NORMS[3], ROTARIES[0]))
    assert describe(late, "scores")["formula"] == "RMSNorm(RoPE(Q)) RMSNorm(RoPE(K))ᵀ"
    assert "RMSNorm(RoPE(Q)) RMSNorm(RoPE(K))ᵀ" in "".join(part for part, _ in formula(late))
    assert describe(View.of(complete(None, None)), "scores")["formula"] == "Q Kᵀ"


def test_the_stages_stand_in_the_order_of_the_computation():
    steps = ["Q_normed", "K_normed", "Q_rotated", "K_rotated"]
    early, late = (list(View.of(complete(norm)).stages) for norm in (NORMS[0], NORMS[3]))
    assert [name for name in early if name in steps] == steps
    assert [name for name in late if name in steps] == steps[2:] + steps[:2]
    view = View.of(complete(NORMS[3]))
    assert view.sources("Q_rotated") == [("Q", "row i")]
    assert view.sources("Q_normed") == [("Q_rotated", "row i")]
    assert view.sources("scores") == [("Q_normed", "row i"), ("K_normed", "row j")]


def test_a_walk_takes_the_queries_and_keys_that_meet():
    view = View.of(complete(), head=1)
    assert walk(view, 2).difference < 1e-14


def test_what_is_rotated_shares_the_colours_of_what_it_was():
    limits = colour_limits(View.of(complete(None, ROTARIES[0])))
    assert limits["Q"] == limits["Q_rotated"] == limits["K_rotated"]
    limits = colour_limits(View.of(complete(NORMS[0], ROTARIES[0])))
    assert limits["Q_normed"] == limits["Q_rotated"] != limits["Q"]


def test_a_bias_is_that_of_the_head():
    view = View.of(complete(), head=1)
    np.testing.assert_array_equal(view.stages["b_K"], BIASES["b_K"][None, 4:])
    assert view.rows("b_K") == ("b",) and view.stages["b_O"].shape == (1, 3)


def test_a_repr_says_which_parts_there_are():
    text = repr(complete())
    for words in ("positions added to X", "biases", "Q and K normed", "Q and K rotated"):
        assert words in text
    assert "b_Q b_K b_V (1, 8)" in text
    assert "RoPE(RMSNorm(Q))" in complete()._repr_html_()


def test_what_rounding_leaves_is_printed_as_0_behind_a_rotation_too():
    quarter = Rotary(frequencies=[math.pi / 2])
    trace = scaled_dot_product_attention(
        *([[0.1, 0.0], [0.1, 0.0]],) * 2, [[1], [1]], rotary=quarter
    )
    assert 0 < abs(trace.Q_rotated[1, 0]) < 1e-16
    view = View.of(trace)
    assert view.printed("Q_rotated")[1, 0] == 0 == view.printed("scores")[0, 1]
    assert view.printed("Q_rotated")[1, 1] == 0.1


def test_every_part_has_a_function_of_the_package():
    for part in PARTS.values():
        assert part.function in attention.__all__
        assert part.sentence.endswith(".") and part.formula and part.where


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"b_Q": [1.0]}, messages.BIAS_LENGTH.format(bias="b_Q", length=1, columns=8, name="W_Q")),
        ({"b_V": X}, messages.ONE_FOR_EACH_COLUMN.format(name="b_V", row="(3, 4)")),
        ({"b_O": [1.0]}, messages.BIAS_LENGTH.format(bias="b_O", length=1, columns=3, name="W_O")),
        ({"W_O": None}, messages.B_O_WITHOUT_W_O),
        ({"positions": X[:2]}, messages.POSITIONS_SHAPE.format(p="(2, 4)", wanted="(3, 4)")),
        (
            {"norm": RMSNorm(gain_K=[1, 2, 3])},
            messages.GAIN_LENGTH.format(name="K", length=3, d_k=4, columns=8),
        ),
        ({"rotary": Rotary(width=6)}, messages.ROTARY_TOO_WIDE.format(columns=6, d_k=4)),
        (
            {"rotary": Rotary(frequencies=[1, 2, 3])},
            messages.ROTARY_TOO_WIDE.format(columns=6, d_k=4),
        ),
        (
            {"norm": True},
            messages.RECORD_EXPECTED.format(name="norm", given=True, record="RMSNorm"),
        ),
        (
            {"rotary": 10000},
            messages.RECORD_EXPECTED.format(name="rotary", given=10000, record="Rotary"),
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_a_sentence(more, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        complete(**more)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rotary(pairs="both"), messages.ROTARY_PAIRS.format(pairs="'both'")),
        (lambda: Rotary(width=3), messages.EVEN_WIDTH_EXPECTED.format(name="width", width=3)),
        (
            lambda: Rotary(width=2, frequencies=[1, 2]),
            messages.FREQUENCIES_LENGTH.format(length=2, pairs=1, columns=2),
        ),
        (lambda: Rotary(base=0), messages.POSITIVE_EXPECTED.format(name="base", given=0)),
        (
            lambda: RMSNorm(gain_Q=3.0),
            messages.ONE_ROW_EXPECTED.format(name="gain_Q", numbers="()"),
        ),
        (
            lambda: Rotary(frequencies=[]),
            messages.FINITE_ROW_EXPECTED.format(name="frequencies", seen="holds no number"),
        ),
        (
            lambda: Rotary(frequencies=[np.nan]),
            messages.FINITE_ROW_EXPECTED.format(name="frequencies", seen="holds NaN or ∞"),
        ),
        (
            lambda: RMSNorm(gain_K=[1, np.inf]),
            messages.FINITE_ROW_EXPECTED.format(name="gain_K", seen="holds NaN or ∞"),
        ),
        (lambda: RMSNorm(whole=1), messages.TRUE_OR_FALSE_EXPECTED.format(name="whole", given=1)),
        (
            lambda: scaled_dot_product_attention(*[np.ones((2, 3))] * 3, rotary=Rotary()),
            messages.ODD_WIDTH.format(d_k=3),
        ),
    ],
)
def test_a_record_that_makes_no_sense_is_refused_by_a_sentence(make, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        make()


def test_records_of_the_same_numbers_are_equal():
    assert RMSNorm(gain_Q=np.array([1, 2])) == RMSNorm(gain_Q=[1.0, 2.0])
    assert hash(Rotary(frequencies=np.ones(2))) == hash(Rotary(frequencies=(1, 1)))
