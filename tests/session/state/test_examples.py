"""The worked examples give the numbers they were published with, and their notices tell the truth.

Tolerances. Numbers that came out of float64 are met to the digits printed. Numbers that came out of
float32 carry its rounding, so 3e-6 is the honest tolerance there.
"""

import math
from dataclasses import replace

import messages
import numpy as np
import pytest
from oracle import attend, product

from attention.arrays.statistics import variance
from attention.explain.arithmetic import walk
from attention.session.edit.changes import set_mask
from attention.session.state.examples import EXAMPLES, FIRST, OWN
from attention.session.state.run import run, view
from attention.session.state.validate import check

FLOAT32 = 3e-6


def trace_of(name, **changes):
    return run(check(replace(EXAMPLES[name].build(), **changes)))


# ---- the menu -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_passes_its_own_check_and_runs_without_a_nan(name):
    settings = EXAMPLES[name].build()
    assert check(settings) == settings
    assert settings.example == name
    for stage in view(settings, run(settings)).stages.values():
        assert not np.isnan(stage).any()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_equals_plain_loops(name):
    s = EXAMPLES[name].build()
    for head in range(s.heads):
        now = view(replace(s, head=head), run(s))
        m = now.stages
        if "W_Q" in m:
            for one, weight in (("Q", "W_Q"), ("K", "W_K"), ("V", "W_V")):
                X = m["X"] + m.get("P", 0)
                made = np.array(product(X.tolist(), m[weight].tolist())) + m.get(f"b_{one}", 0)
                np.testing.assert_allclose(m[one], made, rtol=1e-12, atol=1e-14)
        Q, K = (turned(m[one], s.rotary.base) if s.rotary else m[one] for one in "QK")
        expected = attend(Q, K, m["V"], now.allowed, now.bias, s.scale, s.softmax)
        if s.sinks:
            for i, row in enumerate(np.exp(expected["masked"]).tolist()):
                left = sum(row) / (sum(row) + math.exp(s.sinks[0]))
                expected["weights"][i] = np.array(expected["weights"][i]) * left
                expected["output"][i] = np.array(expected["output"][i]) * left
        for stage, values in expected.items():
            np.testing.assert_allclose(m[stage], values, rtol=1e-9, atol=1e-12, err_msg=stage)


def turned(M, base):
    """Rotary positions as complex numbers: column k with column k + d / 2."""
    half = M.shape[1] // 2
    pairs = M[:, :half] + 1j * M[:, half:]
    for position, row in enumerate(pairs):
        row *= [np.exp(1j * position * base ** (-k / half)) for k in range(half)]
    return np.hstack([pairs.real, pairs.imag])


def test_the_titles_and_notices_are_sentences_of_their_own():
    assert list(EXAMPLES)[:2] == [FIRST, "four-words"] == ["cat-sat", "four-words"]
    assert list(EXAMPLES)[-1] == OWN
    assert len({e.sentence for e in EXAMPLES.values()}) == len(EXAMPLES)
    for e in EXAMPLES.values():
        assert e.sentence.endswith(".") and "\n" not in e.sentence and len(e.sentence) <= 80
    assert len({e.title for e in EXAMPLES.values()}) == len(EXAMPLES)
    for e in EXAMPLES.values():
        assert e.notice.endswith(".")
        assert "  " not in e.notice


# ---- the cat sat on the mat ---------------------------------------------------------------------

CAT_SAT = {
    "X": [[0, 0, -1, 2], [0, -2, -1, 2], [0, 0, 1, 1], [-1, 0, 0, -1], [0, 0, -1, 2], [0, 2, 1, 2]],
    "W_Q": [[0, 0, 0, -1], [0, 1, 0, -1], [-1, -1, 0, -1], [0, 0, 1, 0]],
    "W_K": [[-1, 1, -1, -1], [0, 1, -1, 0], [0, 0, 1, 1], [0, 0, 0, 1]],
    "W_V": [[-1, -1, 0, 0], [-1, 1, 1, 1], [0, 1, 0, -1], [-1, 0, -1, 1]],
}


def rows_of_cat_sat(**changes):
    """Weights and output of the first example in plain loops, with one thing changed."""
    m = {name: product(CAT_SAT["X"], CAT_SAT[f"W_{name}"]) for name in "QKV"}
    see = [[j <= i or "mask" not in changes for j in range(6)] for i in range(6)]
    found = attend(m["Q"], m["K"], m["V"], see, None, changes.get("scale"), True)
    return np.array(found["weights"]), np.array(found["output"])


def test_the_first_example_has_small_whole_numbers_that_stay_as_they_are():
    s = EXAMPLES["cat-sat"].build()
    assert s.tokens == ("the", "cat", "sat", "on", "the", "mat")
    assert {name: m.values.tolist() for name, m in s.matrices.items()} == CAT_SAT
    assert s.matrices["X"].follows(s.rows_of("X"))
    trace = run(s)
    for stage in (trace.Q, trace.K, trace.V, trace.scores):
        assert np.abs(stage).max() < 10
        assert (stage == stage.round()).all()


def test_in_the_first_example_words_look_at_others_as_its_notice_says():
    weights, _ = rows_of_cat_sat()
    tokens = EXAMPLES["cat-sat"].build().tokens
    looks = {token: tokens[int(weights[i].argmax())] for i, token in enumerate(tokens)}
    assert looks == {"the": "sat", "cat": "sat", "sat": "cat", "on": "mat", "mat": "on"}


def test_in_the_first_example_no_row_is_even_or_all_on_one_key():
    weights, output = rows_of_cat_sat()
    entropies = -(weights * np.log(weights)).sum(axis=1) / math.log(6)
    assert entropies.min() > 0.6 and entropies.max() < 0.85
    assert weights.max(axis=1).min() > 0.4 and weights.max() < 0.7
    assert weights.min() > 0.005  # two digits show every one of them
    distinct = np.delete(output, 4, axis=0)
    apart = [np.abs(a - b).max() for k, a in enumerate(distinct) for b in distinct[:k]]
    assert min(apart) > 0.9


def test_in_the_first_example_the_mask_and_the_scale_matter_in_every_row():
    weights, output = rows_of_cat_sat()
    _, masked = rows_of_cat_sat(mask="causal")
    assert np.abs(masked - output)[:5].max(axis=1).min() > 0.9
    unscaled, _ = rows_of_cat_sat(scale=1.0)
    assert (unscaled.max(axis=1) - weights.max(axis=1)).min() > 0.2


def test_both_the_of_the_first_example_are_alike_until_a_mask_tells_them_apart():
    s = EXAMPLES["cat-sat"].build()
    for matrix in view(s, run(s)).stages.values():
        if len(matrix) == 6:
            assert matrix[0].tolist() == matrix[4].tolist()
    trace = run(set_mask(s, "causal"))
    assert np.abs(trace.output[0] - trace.output[4]).max() > 0.9


# ---- four words ---------------------------------------------------------------------------------

SCORES = [[55, 35, 54, 85], [29, 18, 28, 45], [41, 26, 40, 63], [53, 31, 50, 85]]
WEIGHTS = [  # printed from float32
    [3.0590218e-07, 1.3887937e-11, 1.8553907e-07, 9.9999952e-01],
    [3.3528148e-04, 1.3702189e-06, 2.0335850e-04, 9.9946004e-01],
    [1.6701253e-05, 9.2372021e-09, 1.0129822e-05, 9.9997318e-01],
    [1.1253516e-07, 1.8795284e-12, 2.5109987e-08, 9.9999988e-01],
]
OUTPUT = [  # printed from float32
    [5.0000005, 6.999999, 4.9999995, 5.0000005],
    [5.0002036, 6.998787, 4.9992557, 5.0002036],
    [5.0000105, 6.99994, 4.9999633, 5.0000105],
    [5.0, 6.9999995, 5.0, 5.0],
]


def test_four_words_has_the_printed_queries_keys_values_and_scores():
    trace = trace_of("four-words")
    assert trace.Q.tolist() == [[1, 2, 8, 8], [1, 1, 4, 4], [1, 1, 6, 6], [3, 4, 6, 6]]
    assert trace.K.tolist() == [[3, 2, 2, 4], [1, 1, 0, 4], [2, 2, 2, 4], [5, 4, 2, 7]]
    assert trace.V.tolist() == [[5, 4, 4, 5], [5, 4, 3, 5], [6, 6, 3, 6], [5, 7, 5, 5]]
    assert trace.scores.tolist() == SCORES


def test_four_words_has_the_printed_weights_and_output():
    trace = trace_of("four-words")
    np.testing.assert_allclose(trace.weights, WEIGHTS, rtol=FLOAT32)
    np.testing.assert_allclose(trace.output, OUTPUT, rtol=FLOAT32)


@pytest.mark.parametrize("i", range(4))
def test_one_word_at_a_time_ends_in_the_same_row_as_the_matrix_form(i):
    s = EXAMPLES["four-words"].build()
    now = view(s, run(s))
    w = walk(now, i)
    assert w.scores.tolist() == SCORES[i]
    assert w.scaled.tolist() == [score / 2 for score in SCORES[i]]
    np.testing.assert_allclose(w.weights, WEIGHTS[i], rtol=FLOAT32)
    np.testing.assert_allclose(w.output, OUTPUT[i], rtol=FLOAT32)
    assert w.difference < 1e-14


def test_word_4_takes_almost_all_the_weight_of_every_row_because_its_key_is_the_longest():
    trace = trace_of("four-words")
    lengths = [math.hypot(*key) for key in trace.K]
    assert max(range(4), key=lengths.__getitem__) == 3
    for i in range(4):
        assert max(range(4), key=trace.scores[i].__getitem__) == 3
        assert trace.weights[i, 3] > 0.999


# ---- look-up ------------------------------------------------------------------------------------


def test_the_entry_that_matches_twice_gets_the_largest_share():
    s = EXAMPLES["lookup"].build()
    trace = run(s)
    wanted = set(s.tokens[0].split()) - {"?"}
    assert trace.scores[0].tolist() == [
        len(wanted & set(entry.split())) for entry in s.memory_tokens
    ]
    assert s.memory_tokens[int(trace.weights[0].argmax())] == "a c"
    assert (trace.weights > 0).all()  # attention answers with all of them


def test_the_look_up_table_hands_over_the_documents_of_its_entries():
    s = EXAMPLES["lookup"].build()
    documents = {
        "a b": ["d1", "d2"],
        "a c": ["d1", "d2", "d3"],
        "b": ["d1", "d2"],
        "c d": ["d4", "d5"],
    }
    for row, entry in zip(s.matrices["V"].values, s.memory_tokens, strict=True):
        assert [d for d, on in zip(s.names["d_v"], row, strict=True) if on] == documents[entry]


# ---- softmax on its own, customers, −1e9 --------------------------------------------------------


def test_softmax_of_1_2_1_is_as_printed_with_and_without_the_mask():
    trace = trace_of("softmax")
    assert trace.scaled.tolist() == [[1, 2, 1], [1, 2, 1]]
    np.testing.assert_allclose(
        trace.weights[0], [0.21194157, 0.57611686, 0.21194157], rtol=FLOAT32
    )  # from float32
    assert trace.weights[1].tolist() == [0.5, 0, 0.5]


def test_three_customers_have_the_printed_output():
    trace = trace_of("customers")
    assert trace.output.shape == (1, 3, 1)
    np.testing.assert_allclose(
        trace.output, [[[0.3862987], [0.3944249], [0.39490905]]], atol=FLOAT32
    )  # from float32


def test_with_one_feature_scores_and_scaled_are_equal_and_the_weights_near_a_third():
    trace = trace_of("customers")
    assert trace.scaled.tolist() == trace.scores.tolist()
    assert np.abs(trace.weights - 1 / 3).max() < 0.06


def test_minus_1e9_hides_a_key_only_beside_a_visible_one_and_minus_infinity_always():
    added, hidden, bare = (
        trace_of("minus-1e9"),
        trace_of("minus-1e9", fill="-inf"),
        trace_of("customers"),
    )
    np.testing.assert_allclose(
        added.weights[0, 2], bare.weights[0, 2], atol=1e-6
    )  # as if there were no mask
    assert added.weights[0, 0].tolist() == [1, 0, 0]
    assert hidden.weights[0, 2].tolist() == [0, 0, 0]
    assert hidden.output[0, 2].tolist() == [0]
    assert hidden.hidden_rows.tolist() == [[False, False, True]]
    np.testing.assert_allclose(added.weights[0, :2], hidden.weights[0, :2], rtol=1e-12)


# ---- random Q, K, V -----------------------------------------------------------------------------

# Q, K and V are known to the 8 digits they were printed with. Each is off by up to 5e-9, so that
# a sum of eight products is off by a few 1e-8: that, and not the printing, bounds what follows.
KNOWN = 3e-8
PRINTED_SCORES = [
    [-1.34961473, 3.1780436, -4.70349122, -2.48253399],
    [-5.27817589, 4.94819001, -4.42067971, -0.61657652],
    [0.58067407, -1.72614953, 1.06760165, 0.67417618],
    [-1.41065307, -2.92951897, 2.88078195, -0.32619056],
]
PRINTED_SCALED = [
    [-0.47716086, 1.12360809, -1.66293527, -0.87770831],
    [-1.86611698, 1.74944936, -1.5629463, -0.21799272],
    [0.20529928, -0.61028602, 0.37745418, 0.23835727],
    [-0.49874117, -1.03574136, 1.01851023, -0.11532578],
]
PRINTED_WEIGHTS = [
    [1.0, 0.0, 0.0, 0.0],
    [0.02619694, 0.97380306, 0.0, 0.0],
    [0.38019313, 0.16818996, 0.45161691, 0.0],
    [0.13138081, 0.07679195, 0.59905383, 0.19277341],
]
PRINTED_OUTPUT = [
    [
        -0.83391383,
        -1.53728569,
        -0.62599555,
        -0.87081994,
        -0.6608632,
        -1.30376564,
        0.25958102,
        1.95478765,
    ],
    [
        -1.66989946,
        -0.34683165,
        1.35599862,
        0.9259133,
        0.95537523,
        -0.57132305,
        -0.85637759,
        1.00157908,
    ],
    [
        -0.33730312,
        -1.04784459,
        -0.40208889,
        -0.69032539,
        -0.145283,
        -0.63105062,
        0.74843997,
        0.43906264,
    ],
    [
        0.44333257,
        -0.80717343,
        -0.53008375,
        -0.93255716,
        0.18765275,
        -0.32795291,
        0.88914442,
        -0.25451399,
    ],
]


def test_random_q_k_v_has_the_printed_stages():
    trace = trace_of("random-qkv")
    np.testing.assert_allclose(trace.scores, PRINTED_SCORES, rtol=0, atol=KNOWN)
    np.testing.assert_allclose(trace.scaled, PRINTED_SCALED, rtol=0, atol=KNOWN)
    masked = [
        [v if j <= i else -math.inf for j, v in enumerate(row)]
        for i, row in enumerate(PRINTED_SCALED)
    ]
    np.testing.assert_allclose(trace.masked, masked, rtol=0, atol=KNOWN)
    np.testing.assert_allclose(trace.weights, PRINTED_WEIGHTS, rtol=0, atol=KNOWN)
    np.testing.assert_allclose(trace.output, PRINTED_OUTPUT, rtol=0, atol=KNOWN)


def test_random_q_k_v_has_the_printed_variances():
    trace = trace_of("random-qkv")
    found = [variance(stage) for stage in (trace.Q, trace.K, trace.scores, trace.scaled)]
    printed = [0.9439222438403891, 0.8518506475999309, 7.96814250921233, 0.9960178136515412]
    np.testing.assert_allclose(found, printed, rtol=2e-8)
    assert [f"{v:.4g}" for v in found] == ["0.9439", "0.8519", "7.968", "0.996"]


def test_dividing_by_root_8_brings_the_variance_back_and_row_1_of_the_output_is_row_1_of_v():
    trace = trace_of("random-qkv")
    assert 7.9 < variance(trace.scores) < 8
    assert variance(trace.scores) / variance(trace.scaled) == pytest.approx(8, rel=1e-12)
    assert all(abs(variance(stage) - 1) < 0.15 for stage in (trace.Q, trace.K, trace.scaled))
    assert trace.output[0].tolist() == trace.V[0].tolist()


# ---- bare bones and three widths ----------------------------------------------------------------


def test_bare_bones_is_x_x_transposed_x_as_loop_and_as_matrix_form():
    s = EXAMPLES["bare-bones"].build()
    trace = run(s)
    X = s.matrices["X"].values
    assert X.shape == (5, 10)
    assert trace.weights.tolist() == trace.scores.tolist()
    for i in range(5):
        enriched = [0.0] * 10
        for j in range(5):
            score = math.fsum(a * b for a, b in zip(X[i], X[j], strict=True))
            enriched = [e + score * x for e, x in zip(enriched, X[j], strict=True)]
        np.testing.assert_allclose(trace.output[i], enriched, rtol=1e-12, atol=1e-12)
        assert walk(view(s, trace), i).difference < 1e-12


def test_three_widths_have_their_shapes_and_the_context_adds_up_the_outputs():
    s = EXAMPLES["three-widths"].build()
    trace = run(s)
    shapes = {name: s.shape(name) for name in ("X", "W_Q", "W_K", "W_V")}
    assert shapes == {"X": (5, 10), "W_Q": (10, 20), "W_K": (10, 20), "W_V": (10, 25)}
    assert (trace.Q.shape, trace.K.shape, trace.V.shape) == ((5, 20), (5, 20), (5, 25))
    assert trace.scale == 1 / math.sqrt(20)
    assert trace.context.shape == (25,)
    np.testing.assert_allclose(
        trace.context, [math.fsum(column) for column in trace.output.T], rtol=1e-12, atol=1e-14
    )
    assert s.matrices["W_V"].remark == messages.STORED_TURNED.format(d_out=25, d_in=10)
    stored = np.random.default_rng(3).standard_normal((25, 10))
    assert all(s.matrices["W_V"].values[i, j] == stored[j, i] for i in range(10) for j in range(25))


# ---- the batch ----------------------------------------------------------------------------------

# (item, row): the first three and the last three of 64 columns, printed from float32
PRINTED_BATCH = {
    (0, 0): [0.42829984, 0.5291363, 0.48467714, 0.60236514, 0.6314437, 0.3679649],
    (0, 1): [0.42059594, 0.51898783, 0.46809807, 0.5975176, 0.63140476, 0.3960448],
    (0, 2): [0.4529176, 0.53372943, 0.482216, 0.5861657, 0.6170542, 0.35611773],
    (0, 3): [0.4353886, 0.52972203, 0.4782614, 0.5917442, 0.62593013, 0.3666562],
    (0, 4): [0.42998835, 0.51891106, 0.481131, 0.610327, 0.63044834, 0.39192218],
    (1, 0): [0.61051536, 0.5024951, 0.401304, 0.7148773, 0.36341453, 0.5512419],
    (1, 1): [0.5842008, 0.5239525, 0.4311911, 0.72335523, 0.36001056, 0.5697574],
    (1, 2): [0.56449413, 0.559814, 0.4412013, 0.6975891, 0.34060013, 0.57147545],
    (1, 3): [0.5878388, 0.52120656, 0.42275843, 0.7043989, 0.34812245, 0.556117],
    (1, 4): [0.5880349, 0.52016133, 0.43390357, 0.7050327, 0.35547623, 0.5617097],
    (2, 0): [0.42078587, 0.49814874, 0.49267095, 0.49847665, 0.4983842, 0.2441965],
    (2, 1): [0.4155558, 0.4971297, 0.49442884, 0.5093836, 0.5085627, 0.24680805],
    (2, 2): [0.42648807, 0.4867728, 0.47802505, 0.49915406, 0.4939838, 0.24511527],
}


@pytest.mark.parametrize("at", PRINTED_BATCH)
def test_the_batch_has_the_printed_output(at):
    output = trace_of("batch").output
    assert output.shape == (64, 5, 64)
    np.testing.assert_allclose(output[at][[0, 1, 2, -3, -2, -1]], PRINTED_BATCH[at], rtol=FLOAT32)


def test_picking_an_item_of_the_batch_shows_that_item():
    s = replace(EXAMPLES["batch"].build(), item=2)
    shown = view(s, run(s)).stages["output"][2]
    np.testing.assert_allclose(shown[[0, 1, 2, -3, -2, -1]], PRINTED_BATCH[2, 2], rtol=FLOAT32)


def test_the_batch_was_drawn_by_the_legacy_generator_with_seed_42():
    assert EXAMPLES["batch"].build().matrices["Q"].values[0, 0, :3].round(8).tolist() == [
        0.37454012,
        0.95071431,
        0.73199394,
    ]


def test_in_the_batch_scaled_scores_of_a_row_lie_within_08_and_weights_between_012_and_031():
    trace = trace_of("batch")
    assert (trace.scaled.max(axis=-1) - trace.scaled.min(axis=-1)).max() < 0.8
    assert 0.12 < trace.weights.min() < trace.weights.max() < 0.31
    assert (
        0
        <= min(M.min() for M in (trace.Q, trace.K, trace.V))
        < max(M.max() for M in (trace.Q, trace.K, trace.V))
        < 1
    )


def test_look_ahead_and_padding_masks_work_on_every_item_of_the_batch():
    s = check(replace(set_mask(EXAMPLES["batch"].build(), "causal"), padding=(0, 4)))
    trace = run(s)
    see = [[j <= i and j not in (0, 4) for j in range(5)] for i in range(5)]
    assert trace.allowed.tolist() == [see] * 64
    assert trace.hidden_rows.tolist() == [[True, False, False, False, False]] * 64
    for item in (0, 63):
        alone = attend(trace.Q[item], trace.K[item], trace.V[item], see)
        np.testing.assert_allclose(trace.output[item], alone["output"], rtol=1e-12, atol=1e-14)


# ---- the sentence -------------------------------------------------------------------------------


def test_head_1_of_the_sentence_leads_it_to_the_cat():
    s = EXAMPLES["sentence"].build()
    weights = run(s).weights[0]
    assert weights[s.tokens.index("it"), s.tokens.index("cat")] > 0.97


def test_head_2_of_the_sentence_looks_one_word_back_and_the_first_word_at_itself():
    weights = run(EXAMPLES["sentence"].build()).weights[1]
    for i, row in enumerate(weights):
        assert row[max(i - 1, 0)] > 0.9


# ---- parts of real layers -----------------------------------------------------------------------


def test_the_bias_of_q_decides_for_every_word_and_that_of_k_for_none():
    s = EXAMPLES["biases"].build()
    weights = run(s).weights
    assert (weights.argmax(axis=1) == s.tokens.index("mat")).all()
    without = {name: M for name, M in s.matrices.items() if name != "b_Q"}
    plain = run(replace(s, matrices=without)).weights
    most = [s.tokens[j] for j in plain.argmax(axis=1)]
    assert [word for word, key in zip(s.tokens, most, strict=True) if key == "mat"] == ["on"]
    without = {name: M for name, M in s.matrices.items() if name != "b_K"}
    np.testing.assert_allclose(run(replace(s, matrices=without)).weights, weights, rtol=1e-12)


def test_positions_tell_two_dogs_apart():
    s = EXAMPLES["positions"].build()
    X, weights = s.matrices["X"].values, run(s).weights
    assert (X[0] == X[4]).all() and s.tokens[0] == s.tokens[4] == "dog"
    assert (weights[0].argmax(), weights[4].argmax()) == (4, 0)
    plain = run(replace(s, matrices={n: M for n, M in s.matrices.items() if n != "P"})).weights
    assert (plain[0] == plain[4]).all() and s.tokens[plain[0].argmax()] == "man"


def test_rotated_scores_of_one_word_depend_on_the_distance_alone():
    trace = trace_of("rotary")
    assert (trace.Q[0] == trace.Q).all() and len(np.unique(trace.Q_rotated.round(9), axis=0)) == 5
    for k in range(-4, 5):
        np.testing.assert_allclose(np.diag(trace.scores, k), trace.scores[max(-k, 0), max(k, 0)])


def test_of_equal_keys_the_nearest_gets_most_and_less_so_in_later_heads():
    s = EXAMPLES["alibi"].build()
    assert s.tokens[s.query] == "tick" and s.parts == ("alibi",)
    ticks, weights = [0, 2, 4, 6], run(s).weights[:, 6]
    plain = run(replace(s, alibi=False)).weights[:, 6, ticks]
    np.testing.assert_allclose(plain, plain[:, :1].repeat(4, axis=1), rtol=1e-12)
    for head, slope in enumerate((1 / 4, 1 / 16, 1 / 64, 1 / 256)):
        same = [math.exp(4 / math.sqrt(2) - slope * (6 - k)) for k in ticks]
        others = [math.exp(-slope * (6 - k)) for k in (1, 3, 5)]
        by_hand = [each / (sum(same) + sum(others)) for each in same]
        np.testing.assert_allclose(weights[head, ticks], by_hand, rtol=1e-12)
    assert [f"{weights[0, k]:.2f}" for k in (6, 0)] == ["0.44", "0.10"]
    assert np.ptp(weights[3, ticks]) < 0.01


def test_heads_in_pairs_share_keys_and_values():
    s = EXAMPLES["grouped"].build()
    shown = [view(replace(s, head=head), run(s)).stages for head in range(4)]
    for name in "KV":
        assert (shown[0][name] == shown[1][name]).all() and (shown[2][name] == shown[3][name]).all()
        assert (shown[1][name] != shown[2][name]).any()
    assert all((shown[k]["Q"] != shown[k + 1]["Q"]).any() for k in range(3))
    widths = [s.shape(name)[1] for name in ("W_Q", "W_K", "W_V")]
    assert widths == [8, 4, 4]


def test_in_a_window_a_word_sees_itself_and_two_before_it():
    s = EXAMPLES["window"].build()
    weights = run(s).weights
    for i, j in np.ndindex(weights.shape):
        assert (weights[i, j] > 0) == (0 <= i - j <= 2)
    assert s.tokens[7] == "slept" and weights[7, s.tokens.index("cat")] == 0


def test_the_sink_takes_least_of_cat_and_most_of_mat():
    s = EXAMPLES["sinks"].build()
    left = run(s).weights.sum(axis=1)
    assert (left < 1).all()
    shares = {word: round(100 * (1 - left[i])) for i, word in enumerate(s.tokens)}
    assert (shares["cat"], shares["mat"]) == (2, 64)
    assert (left.argmax(), left.argmin()) == (s.tokens.index("cat"), s.tokens.index("mat"))
