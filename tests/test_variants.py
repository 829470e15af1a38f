"""Sinks, sigmoid, ALiBi, T5's bias, windows, and functions of a score: against plain loops, and
against what torch and transformers answered (`peers/record_scores.py`).
"""

import math
import re
from pathlib import Path

import messages
import numpy as np
import pytest

from attention import (
    RelativeBias,
    alibi,
    alibi_slopes,
    causal,
    multi_head_attention,
    relative_bias,
    scaled_dot_product_attention,
    self_attention,
    sliding_window,
    window,
)
from attention.arrays import blocks as engine
from attention.core.biases import relative_buckets
from attention.explain.arithmetic import cell, walk
from attention.explain.captions import describe
from attention.explain.view import View
from attention.long import places
from attention.vocabulary.numbers import number

TESTS = Path(__file__).parent
PEERS = np.load(TESTS / "peers" / "scores.npz")
DOCS = (TESTS.parent / "docs" / "variants.md").read_text(encoding="utf-8")
Q, K, V = (PEERS[name].astype(float) for name in "QKV")
N = Q.shape[2]
DOCUMENT, PREFIX, SINKS = PEERS["document"], PEERS["prefix"], PEERS["sinks"].astype(float)
SLOPES = [1 / 4, 1 / 16, 1 / 64, 1 / 256]
*EXAMPLES, STEP = re.findall(r"```python\n(.+?)```", DOCS, re.DOTALL)
DRAWN = re.compile(r"(?m)^Q, K, V = .*$")  # ours take their place
LINES = {
    name: (DRAWN.sub("", example.partition("\n# ")[0]), line)
    for example in EXAMPLES
    for name, line in re.findall(r"^# (.+)\n(attend\(.+\))$", example, re.MULTILINE)
}


def of_lines(name: str):
    """The trace of the line of the docs that is called so."""
    names = {"Q": Q, "K": K, "V": V}
    begin, line = LINES[name]
    exec(begin, names)
    return eval(line, names)


# ---- the lines of the docs, one cell at a time ---------------------------------------------------

SEES = {
    "causal": lambda b, q, k: k <= q,
    "sliding window": lambda b, q, k: q - 3 <= k <= q,
    "prefix-LM": lambda b, q, k: k <= q or k < PREFIX[b],
    "packed documents": lambda b, q, k: k <= q and DOCUMENT[q] == DOCUMENT[k],
    "chunked": lambda b, q, k: k <= q and q // 4 == k // 4,
    "strided": lambda b, q, k: k <= q and (q - k) % 3 == 0,
    "ALiBi": lambda b, q, k: k <= q,
    "soft cap": lambda b, q, k: k <= q,
}
MAKES = {
    "ALiBi": lambda score, h, q, k: score - SLOPES[h] * (q - k),
    "soft cap": lambda score, h, q, k: 2 * math.tanh(score / 2),
    "sigmoid attention": lambda score, h, q, k: score - math.log(N),
}


def share(row: list[float], name: str, h: int) -> list[float]:
    """The weights of one row, where −∞ is hidden."""
    if name == "ReLU attention":
        return [max(x, 0) / N for x in row]
    if name == "sigmoid attention":
        return [1 / (1 + math.exp(-x)) for x in row]
    if name == "top-k":
        third = sorted(row)[-3]
        row = [x if x >= third else -math.inf for x in row]
    powers = [math.exp(x) for x in row]
    sink = {"sinks": math.exp(SINKS[h]), "softmax off by one": 1.0}.get(name, 0.0)
    return [power / (math.fsum(powers) + sink) for power in powers]


@pytest.mark.parametrize("name", LINES)
def test_each_line_of_the_docs_equals_plain_loops(name):
    trace = of_lines(name)
    weights = np.empty(trace.weights.shape)
    for b, h, q in np.ndindex(Q.shape[:3]):
        scores = [math.fsum(Q[b, h, q] * key) / math.sqrt(8) for key in K[b, h]]
        made = MAKES.get(name, lambda score, h, q, k: score)
        sees = SEES.get(name, lambda b, q, k: True)
        row = [made(x, h, q, k) if sees(b, q, k) else -math.inf for k, x in enumerate(scores)]
        weights[b, h, q] = share(row, name, h)
    np.testing.assert_allclose(trace.weights, weights, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(trace.output, weights @ V, rtol=1e-10, atol=1e-13)
    assert (trace.weights[~trace.allowed] == 0).all()


@pytest.mark.parametrize("name", [n[5:] for n in PEERS if n.startswith("flex/")])
def test_each_line_of_the_docs_answers_as_flex_attention_did(name):
    np.testing.assert_allclose(of_lines(name).output, PEERS[f"flex/{name}"], rtol=0, atol=5e-6)


def test_the_docs_say_by_a_second_name_what_is_the_same():
    def same(name, **given):
        trace = scaled_dot_product_attention(Q, K, V, **given)
        np.testing.assert_allclose(trace.weights, of_lines(name).weights, rtol=1e-12, atol=1e-15)

    same("sliding window", allowed=window(N, N, seen=4))
    same("ALiBi", allowed=causal(N, N), bias=alibi(N, N, heads=4))
    same("soft cap", allowed=causal(N, N), softcap=2)


def test_a_step_of_decoding_is_the_last_row_of_the_whole():
    names = {"Q": Q, "K": K, "V": V}
    exec(DRAWN.sub("", STEP), names)
    step, whole = names["step"], names["whole"]
    for name in ("Q_rotated", "scores", "scaled", "masked", "weights", "output"):
        of_whole = getattr(whole, name)[..., -1:, :]
        np.testing.assert_allclose(getattr(step, name), of_whole, rtol=1e-12, atol=1e-14)
    for slip in ("past=n - 1", "offset=n - 1"):
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            exec(DRAWN.sub("", STEP).replace(slip, ""), names)


# ---- what others answered ------------------------------------------------------------------------


def test_sinks_answer_as_gpt_oss_does():
    trace = scaled_dot_product_attention(Q, K, V, sinks=SINKS)
    for name in ("weights", "output"):
        of_theirs = PEERS[f"gpt-oss/{name}"]
        np.testing.assert_allclose(getattr(trace, name), of_theirs, rtol=0, atol=5e-6)


@pytest.mark.parametrize("heads", [int(n[6:]) for n in PEERS if n.startswith("bloom/")])
def test_the_slopes_are_those_of_bloom_for_any_number_of_heads(heads):
    np.testing.assert_allclose(alibi_slopes(heads), PEERS[f"bloom/{heads}"], rtol=1e-6)


@pytest.mark.parametrize("case", [n for n in PEERS if n.startswith("t5/")])
def test_the_buckets_are_those_of_t5(case):
    _, both, buckets, most = case.split("/")
    more = {"bidirectional": both == "1", "max_distance": int(most)}
    ours = relative_buckets(40, 160, int(buckets), past=60 * int(both), **more)
    np.testing.assert_array_equal(ours, PEERS[case])


def test_a_relative_bias_reads_its_table_by_bucket_and_head():
    table = np.random.default_rng(1).normal(size=(8, 3))
    bias = relative_bias(table, 5, 6, max_distance=20)
    rows = relative_buckets(5, 6, 8, max_distance=20)
    for h, q, k in np.ndindex(3, 5, 6):
        assert bias[h, q, k] == table[rows[q, k], h]
    trace = multi_head_attention(Q[0, 0], K[0, 0], V[0, 0], heads=4, bias=alibi(N, N, 4), scale=1)
    assert trace.weights.shape == (4, N, N)


def bucket(behind, buckets, both, furthest):
    """T5's row of a table for a key so many places behind the query, as its paper's code has it."""
    side = buckets // 2 if both else buckets
    first = side if both and behind < 0 else 0
    distance = abs(behind) if both else max(behind, 0)
    near = side // 2
    if distance < near:
        return first + distance
    share = math.log(distance / near) / math.log(furthest / near)
    return first + min(near + int(share * (side - near)), side - 1)


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("columns", [1, 4])
def test_a_table_is_read_as_by_hand_and_said_by_its_rows(both, columns):
    table = np.random.default_rng(2).normal(size=(8, columns))
    part = RelativeBias(table, both, max_distance=11, past=2)
    trace = multi_head_attention(
        *np.random.default_rng(3).normal(size=(3, 6, 8)), heads=4, relative=part, scale=1
    )
    assert trace.relative is part and trace.R.tolist() == table.tolist()
    shown = View.of(trace, head=3)
    places = shown.rows("R")
    for q, k in np.ndindex(6, 6):
        row = bucket(2 + q - k, 8, both, 11)
        for h in range(4):
            added = trace.masked[h, q, k] - trace.scaled[h, q, k]
            assert added == pytest.approx(table[row, h % columns], abs=1e-12)
        said = cell(shown, "mask", q, k, 4)[0]
        number_of = number(table[row, 3 % columns], 4)
        assert said == f"bucket {row} of R (key − query: {places[row]}): {number_of}"
    whole = RelativeBias(np.zeros((8, 1)), both, max_distance=11)
    for row, name in enumerate(whole.names()):
        of_row = [d for d in range(-30, 31) if bucket(d, 8, both, 11) == row]
        said = sorted(int(part.replace("−", "-")) for part in re.findall(r"[−+]?\d+", name))
        ends = [-max(of_row), -min(of_row)] if of_row else []
        if "≤" in name or "≥" in name:
            assert said[0] in ends
        else:
            assert [said[0], said[-1]] == ends if of_row else name == "–"


def test_a_table_of_0_and_1_is_added_as_it_is():
    x = np.eye(3)
    trace = scaled_dot_product_attention(x, x, x, relative=RelativeBias([[0], [1], [1], [0]]))
    assert set(trace.bias.ravel()) == {0, 1}


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("both", [True, False])
def test_a_table_with_too_few_rows_is_refused_by_its_own_name(rows, both):
    """It has an argument ``table``, and none that is called ``buckets``."""
    table = np.zeros((rows, 1))
    ways = (
        lambda: RelativeBias(table, both, max_distance=9),
        lambda: relative_bias(table, 3, 3, bidirectional=both, max_distance=9),
        lambda: places.relative_bias(table, bidirectional=both, max_distance=9),
    )
    for way in ways:
        if not both and rows > 1:
            assert way() is not None
            continue
        with pytest.raises(ValueError) as refused:
            way()
        rule = messages.FOUR_BUCKETS if both else messages.TWO_BUCKETS
        assert str(refused.value) == (messages.TABLE_SHAPE.format(rule=rule, shape=f"({rows}, 1)"))


def test_a_table_in_float32_widens_nothing_and_one_for_other_heads_is_refused():
    x = np.eye(4, dtype=np.float32)
    trace = scaled_dot_product_attention(x, x, x, relative=RelativeBias(np.ones((4, 1))))
    assert trace.masked.dtype == trace.R.dtype == np.float32
    alone = messages.TABLE_FOR_ONE_HEAD.format(columns=3)
    for heads in (1, 2):
        with pytest.raises(ValueError) as refused:
            multi_head_attention(x, x, x, heads=heads, relative=RelativeBias(np.ones((4, 3))))
        wanted = messages.TABLE_FOR_OTHER_HEADS.format(columns=3, heads=2) if heads > 1 else alone
        assert str(refused.value) == wanted
    batch = np.ones((3, 4, 4))  # three items are no three heads
    with pytest.raises(ValueError) as refused:
        multi_head_attention(batch, batch, batch, relative=RelativeBias(np.ones((4, 3))))
    assert str(refused.value) == alone
    with pytest.raises(TypeError) as refused:
        scaled_dot_product_attention(x, x, x, relative=3)
    assert str(refused.value) == messages.RELATIVE_EXPECTED.format(given=3)


@pytest.mark.parametrize("heads", [1, 3, 4])
def test_alibi_takes_the_slope_for_each_place_between(heads):
    bias = alibi(3, 5, heads, past=2)
    for h, q, k in np.ndindex(bias.shape):
        assert bias[h, q, k] == -alibi_slopes(heads)[h] * abs(2 + q - k)


@pytest.mark.parametrize(("n_q", "n_k", "seen", "past"), [(5, 5, 2, 0), (2, 6, 3, 4), (3, 3, 9, 0)])
def test_a_window_says_how_many_keys_are_seen(n_q, n_k, seen, past):
    mask = window(n_q, n_k, seen, past)
    assert mask.tolist() == sliding_window(n_q, n_k, seen - 1, 0, past).tolist()
    assert mask.sum(axis=1).tolist() == [min(seen, past + q + 1) for q in range(n_q)]


# ---- stages, shares, sentences -------------------------------------------------------------------

ONE = (np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[2.0, 0.0], [1.0, 1.0]]), np.eye(2))


def test_what_a_sink_takes_and_the_weights_of_a_row_add_up_to_one():
    trace = scaled_dot_product_attention(Q, K, V, sinks=SINKS, allowed=np.tri(N, k=-1) > 0)
    np.testing.assert_allclose(trace.weights.sum(axis=-1) + trace.sunk, 1, rtol=1e-14)
    assert (trace.sunk[..., 0] == 1).all() and not trace.weights[..., 0, :].any()
    assert scaled_dot_product_attention(*ONE).sunk is None


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("sink", [-1000.0, 0.0, 1000.0])
def test_a_sink_far_away_overflows_nothing(sink, dtype):
    trace = scaled_dot_product_attention(*(M.astype(dtype) for M in ONE), sinks=sink)
    assert trace.weights.dtype == trace.sunk.dtype == np.dtype(dtype)
    plain = scaled_dot_product_attention(*(M.astype(dtype) for M in ONE))
    if sink <= 0:
        least = {-1000.0: 1.0, 0.0: 0.0}[sink]
        assert (trace.weights.sum(axis=-1) >= least - 1e-6).all()
        assert sink or (trace.weights < plain.weights).all()
    else:
        assert not trace.weights.any() and (trace.sunk == 1).all()


def test_sinks_are_one_for_all_or_one_for_each_head():
    X = np.random.default_rng(2).normal(size=(5, 8))
    W = np.random.default_rng(3).normal(size=(3, 8, 8))
    both = self_attention(X, *W, heads=2, sinks=[0.5, -1])
    for head, sink in enumerate([0.5, -1]):
        alone = self_attention(X, *W, heads=2, sinks=sink)
        assert alone.weights[head].tolist() == both.weights[head].tolist()
        assert View.of(both, head=head).sink == sink
    batch = self_attention(np.stack([X, X]), *W, heads=2, sinks=[0.5, -1])
    np.testing.assert_allclose(batch.weights[1], both.weights, rtol=1e-12)


def test_the_weights_say_that_a_sink_takes_the_rest():
    view = View.of(scaled_dot_product_attention(*ONE, scale=1, sinks=math.log(2)))
    said = describe(view, "weights")
    assert said["formula"] == "exp(scaled) / (Σ exp(scaled) + exp(sink))"
    assert said["sentence"] == messages.SINK_TAKES.format(shares="17 to 19 %")
    lines = cell(view, "weights", 0, 1)
    assert lines == [
        "max of the row = 2 (with the sink)",
        "exp(1 − 2) = exp(−1) = 0.37",
        "the sink, a score of no key = 0.69: exp(−1.31) = 0.27",
        "Σ of the row = 1 + 0.37 + 0.27 (the sink) = 1.64",
        "0.37 ÷ 1.64",
        "= 0.22",
    ]
    assert walk(view, 0).difference < 1e-15


@pytest.mark.parametrize("sink", [-5.0, -1000.0])
def test_a_sink_that_takes_next_to_nothing_is_not_said_to_take_0_percent(sink):
    view = View.of(scaled_dot_product_attention(*ONE, scale=1, sinks=sink))
    assert describe(view, "weights")["sentence"] == messages.SINK_TAKES_LITTLE


def test_a_sigmoid_makes_each_weight_by_itself():
    trace = scaled_dot_product_attention(*ONE, scale=1, softmax="sigmoid", allowed=causal(2, 2))
    expected = [[1 / (1 + math.exp(-2)), 0], [1 / 2, 1 / (1 + math.exp(-2))]]
    np.testing.assert_allclose(trace.weights, expected, rtol=1e-15)
    view = View.of(trace)
    assert cell(view, "weights", 1, 1) == [
        messages.EACH_BY_ITSELF,
        "1 / (1 + exp(−2)) = 1 / (1 + 0.14)",
        "= 0.88",
    ]
    assert describe(view, "weights")["formula"] == "1 / (1 + exp(−masked))"
    assert walk(view, 1).difference < 1e-15
    assert trace.softmax == "sigmoid" and "sigmoid of each score" in repr(trace)


def test_a_function_of_the_score_is_a_stage_between_scaled_and_masked():
    trace = scaled_dot_product_attention(
        *ONE, scale=1, softcap=5, bias=[[0.5, 0.5]], score_mod=lambda score, b, h, q, k: score + k
    )
    np.testing.assert_allclose(trace.modified, trace.capped + [[0, 1], [0, 1]], rtol=0)
    np.testing.assert_allclose(trace.masked, trace.modified + 0.5, rtol=0)
    view = View.of(trace)
    assert view.sources("modified") == [("capped", "cell")]
    assert view.sources("masked")[0] == ("modified", "cell")
    assert describe(view, "modified")["formula"] == "score_mod(capped)"
    assert describe(view, "masked")["formula"] == "modified + M"
    assert walk(view, 1).difference < 1e-15


def test_the_sigmoid_of_a_far_score_warns_of_nothing(recwarn):
    view = View.of(scaled_dot_product_attention([[-800.0]], [[1.0]], [[1.0]], softmax="sigmoid"))
    assert cell(view, "weights", 0, 0)[1] == "1 / (1 + exp(800)) = 1 / (1 + ∞)"
    assert not recwarn.list


def test_minus_infinity_from_a_function_hides_a_key_and_its_value():
    poison = np.array([[1.0, 0.0], [np.nan, np.inf]])
    trace = scaled_dot_product_attention(
        *ONE[:2], poison, score_mod=lambda score, b, h, q, k: np.where(k == 0, score, -np.inf)
    )
    assert trace.allowed.tolist() == [[True, False]] * 2
    assert trace.output.tolist() == [[1, 0]] * 2


def test_item_and_head_are_counted_wherever_they_stand():
    X = np.random.default_rng(4).normal(size=(2, 3, 4))
    eye = np.eye(4)
    added = lambda score, b, h, q, k: 0 * score + 100 * b + 10 * h + q - k  # noqa: E731
    for heads in (1, 2):
        for given in (X, X[0]):
            trace = self_attention(given, eye, eye, eye, heads=heads, score_mod=added)
            shape = (*given.shape[:-2], *[heads] * (heads > 1), 3, 3)
            for at in np.ndindex(shape):
                *lead, q, k = at
                b = lead[0] if given.ndim == 3 else 0
                h = lead[-1] if heads > 1 else 0
                assert trace.modified[at] == 100 * b + 10 * h + q - k


def test_all_leading_axes_count_items_where_there_is_one_head():
    Y, found = np.ones((2, 3, 5, 4)), []

    def mask_mod(b, h, q, k):
        found.append((b.tolist(), h.tolist()))
        return q >= k

    added = lambda score, b, h, q, k: 0 * score + 10 * b + h  # noqa: E731
    trace = multi_head_attention(Y, Y, Y, heads=1, score_mod=added, mask_mod=mask_mod)
    assert trace.modified[:, :, 4, 0].tolist() == [[0, 10, 20], [30, 40, 50]]
    assert found == [([[[[0]], [[1]], [[2]]], [[[3]], [[4]], [[5]]]], 0)]


@pytest.mark.parametrize("part", [{"sinks": SINKS}, {"softmax": "sigmoid"}, {"softcap": 2.0}])
def test_parts_give_the_same_in_blocks(part, monkeypatch):
    more = {"allowed": causal(N, N), "bias": alibi(N, N, 4), **part}
    whole = scaled_dot_product_attention(Q, K, V, **more)
    monkeypatch.setattr(engine, "CELLS", 1)
    monkeypatch.setattr(engine, "ROWS", 2)
    cut = scaled_dot_product_attention(Q, K, V, **more)
    for name in ("masked", "weights", "output"):
        np.testing.assert_allclose(getattr(cut, name), getattr(whole, name), rtol=1e-12, atol=1e-14)


# ---- refusals ------------------------------------------------------------------------------------


def test_a_sink_too_large_for_the_stages_is_refused_without_a_warning(recwarn):
    one = np.ones((1, 1), np.float32)
    with pytest.raises(ValueError) as refused:
        scaled_dot_product_attention(one, one, one, sinks=1e39)
    wanted = messages.SINKS_TOO_LARGE.format(sinks="1e+39", dtype="float32")
    assert str(refused.value) == wanted
    assert not recwarn.list


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (
            {"sinks": [1, 2, 3]},
            ValueError,
            messages.SINKS_SHAPE.format(numbers="(3,)", shape="()"),
        ),
        ({"sinks": np.nan}, ValueError, messages.FINITE_SINKS.format(sinks="nan")),
        (
            {"sinks": 1, "softmax": False},
            ValueError,
            messages.SINKS_NEED_SOFTMAX,
        ),
        (
            {"mask_mod": lambda b, h, q, k: q},
            TypeError,
            messages.MASK_MOD_BOOLEANS.format(made="holds int64"),
        ),
        (
            {"mask_mod": lambda b, h, q, k: q >= k and k < 3},
            ValueError,
            messages.ASKS_WHETHER_TRUE.format(
                name="mask_mod",
                at_once=messages.CALLED_AT_ONCE,
            ),
        ),
        (
            {"score_mod": lambda score, b, h, q, k: np.ones(3)},
            ValueError,
            messages.SHAPE_DOES_NOT_FIT.format(
                name="what score_mod returned", shape="(3,)", scores="(2, 2)"
            ),
        ),
        (
            {"score_mod": lambda score, b, h, q, k: score + [0, 1][q]},
            TypeError,
            messages.INDEX_OF_A_LIST.format(name="score_mod"),
        ),
        (
            {"score_mod": "alibi"},
            TypeError,
            messages.FUNCTION_EXPECTED.format(
                name="score_mod", given="'alibi'", arguments="(score, b, h, q, k)"
            ),
        ),
        (
            {"block_mask": None},
            TypeError,
            messages.NO_ARGUMENT.format(name="block_mask", name_2=messages.GIVE_MASK_MOD),
        ),
    ],
)
def test_a_refusal_says_what_is_wanted(given, kind, message):
    with pytest.raises(kind) as refused:
        scaled_dot_product_attention(*ONE, **given)
    assert str(refused.value) == message
