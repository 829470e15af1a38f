"""Long attention: the numbers of the full computation, whatever the mask, block or executor."""

import math
import os
import re
import tracemalloc
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import messages
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attention
from attention import long_attention, scaled_dot_product_attention
from attention.arrays import blocks
from attention.long import places, tiles
from attention.long.sums import RESULTS

inf, nan = math.inf, math.nan
N_Q, N_K = 45, 61
ROWS = ("entropy", "largest", "first", "distance")


@pytest.fixture
def small(monkeypatch):
    """Tiles of seven keys, so that small examples take many."""
    monkeypatch.setattr(tiles, "KEYS", 7)


def draw(n_q=N_Q, n_k=N_K, d=8, lead=(), dtype=float, seed=0, grown=1.0):
    rng = np.random.default_rng(seed)
    shapes = (*lead, n_q, d), (*lead, n_k, d), (*lead, n_k, 5)
    Q, K, V = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    return Q * Q.dtype.type(grown), K, V


def full(Q, K, V, see=True, bias=0.0, sink=-inf, softcap=None, scale=None):
    """The whole map of one head in long double: (weights, output)."""
    Q, K, V = (M.astype(np.longdouble) for M in (Q, K, V))
    scores = Q @ K.T * (Q.shape[1] ** -0.5 if scale is None else scale)
    scores = scores if softcap is None else softcap * np.tanh(scores / softcap)
    see = np.broadcast_to(see, scores.shape)
    scores = np.where(see, scores + bias, -inf)
    highest = np.maximum(scores.max(axis=1, keepdims=True), sink)
    highest = np.where(highest == -inf, 0, highest)
    grown = np.exp(scores - highest)
    total = grown.sum(axis=1, keepdims=True) + np.exp(sink - highest)
    weights = grown / np.where(total == 0, 1, total)
    return weights, weights @ V


def edges(n, pool):
    return [*range(0, n, max(1, -(-n // pool))), n]


def pooled(weights, rows, columns, of):
    """The weights by cells, one after the other."""
    cells = [
        [
            weights[rows[i] : rows[i + 1], columns[j] : columns[j + 1]]
            for j in range(len(columns) - 1)
        ]
        for i in range(len(rows) - 1)
    ]
    of_cell = np.max if of == "largest" else lambda cell: cell.sum() / len(cell)
    return np.array([[of_cell(cell) for cell in row] for row in cells], float)


def holds(found, weights, output, pool, rtol, at=()):
    """Every result, held against the whole map of one head."""
    n_q, n_k = weights.shape
    rows, columns = edges(n_q, pool), edges(n_k, pool)
    near = partial(np.testing.assert_allclose, rtol=rtol, atol=rtol)
    assert found.row_edges.tolist() == rows and found.key_edges.tolist() == columns
    near(found.output[at], output, err_msg="output")
    near(found.mean_map[at], pooled(weights, rows, columns, "mean"), err_msg="mean_map")
    q, k = np.arange(n_q)[:, None], np.arange(n_k)
    terms = np.where(weights > 0, weights * np.log(np.where(weights > 0, weights, 1)), 0)
    near(found.entropy[at], -terms.sum(axis=1), err_msg="entropy", atol=30 * rtol)
    near(found.largest[at], weights.max(axis=1), err_msg="largest")
    near(found.first[at], weights[:, 0], err_msg="first")
    near(found.distance[at], (weights * abs(q - k)).sum(axis=1), atol=n_k * rtol)
    profile = [weights[(q - k) == apart].sum() / n_q for apart in found.distances]
    near(found.profile[at], profile, err_msg="profile")


def everything(Q, K, V, **options):
    return long_attention(Q, K, V, results=list(RESULTS), **options)


# ---- masks ---------------------------------------------------------------------------------------

REAL = np.random.default_rng(5).random(N_K) > 0.3
IDS = np.repeat([4, 4, 2, 9, 9, 9, 2], 9)
MASKS = {  # and whether query q sees key k, one by one
    "none": (None, lambda q, k: True),
    "causal": (places.causal(), lambda q, k: k <= q),
    "causal with a past": (places.causal(past=16), lambda q, k: k <= q + 16),
    "causal before the first": (places.causal(past=-20), lambda q, k: k <= q - 20),
    "causal, lower right": (places.causal_lower_right(), lambda q, k: k <= q + N_K - N_Q),
    "window": (places.window(9), lambda q, k: q - 9 < k <= q),
    "window with a past": (places.window(9, past=30), lambda q, k: q + 21 < k <= q + 30),
    "window on both sides": (places.sliding_window(4, 6), lambda q, k: q - 4 <= k <= q + 6),
    "keys ahead": (places.sliding_window(after=3), lambda q, k: k <= q + 3),
    "keys not far behind": (places.sliding_window(before=3), lambda q, k: k >= q - 3),
    "prefix": (places.prefix(13), lambda q, k: k < 13 or k <= q),
    "padding": (places.padding(REAL), lambda q, k: REAL[k]),
    "all padding": (places.padding(np.zeros(N_K, bool)), lambda q, k: False),
    "lengths": (places.real_tokens(20), lambda q, k: k < 20),
    "documents": (places.documents(IDS[:N_Q], IDS[:N_K]), lambda q, k: IDS[q] == IDS[k]),
    "several": (
        places.causal() & places.padding(REAL) & places.documents(IDS[:N_Q], IDS[:N_K]),
        lambda q, k: k <= q and REAL[k] and IDS[q] == IDS[k],
    ),
}
SEE = {
    name: np.array([[bool(sees(q, k)) for k in range(N_K)] for q in range(N_Q)])
    for name, (_, sees) in MASKS.items()
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("block", "pool", "grown"), [(64, 512, 1), (13, 20, 40)])
def test_every_result_is_that_of_the_whole_map(name, block, pool, grown, small):
    Q, K, V = draw(grown=grown)
    found = everything(Q, K, V, allowed=MASKS[name][0], pool=pool, block=block)
    weights, output = full(Q, K, V, SEE[name])
    holds(found, weights, output, pool, 1e-12)
    np.testing.assert_array_equal(found.hidden_rows, ~SEE[name].any(axis=1))
    np.testing.assert_allclose(found.rows([40, 0, 7, 7]), weights[[40, 0, 7, 7]], atol=1e-12)


@pytest.mark.parametrize("name", ["causal", "window", "padding", "documents"])
def test_float32_is_within_what_float32_explains(name, small):
    Q, K, V = draw(dtype="f4")
    found = everything(Q, K, V, allowed=MASKS[name][0], pool=9)
    fields = (*ROWS, "output", "mean_map")
    assert {getattr(found, name).dtype.name for name in fields} == {"float32"}
    holds(found, *full(Q, K, V, SEE[name]), 9, 3e-6)


def test_float32_weights_of_large_scores_have_as_many_digits_as_of_small_ones(small):
    rng = np.random.default_rng(0)
    Q = rng.integers(280, 300, (90, 1)).astype("f4")
    K = rng.integers(16, 31, (100, 1)).astype("f4") / 16  # all scores are exact
    weights, _ = full(Q, K, K, scale=1.0)
    found = everything(Q, K, K, scale=1.0, pool=9)
    assert found.lse.min() > 500 and found.lse.max() < 600
    rows = found.rows(range(90))
    assert rows.dtype == found.first.dtype == "f4"
    near = partial(np.testing.assert_allclose, rtol=2e-6, atol=1e-30)
    for one in (rows, found.window(cells=100).values):
        near(one.sum(axis=1, dtype=float), 1, rtol=1e-6)
        near(one, weights.astype(float))
    near(found.window(cells=9).values, pooled(weights, edges(90, 9), edges(100, 9), "mean"))
    near(found.mean_map, pooled(weights, edges(90, 9), edges(100, 9), "mean"))
    near(found.first, weights[:, 0].astype(float))
    near(found.largest, weights.max(axis=1).astype(float))
    near(found.profile.sum(), 1, rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in MASKS if name != "none"])
@given(first=st.integers(0, N_Q - 1), more=st.integers(0, 12))
def test_a_mask_knows_what_a_block_sees(name, first, more):
    mask, last = MASKS[name][0].fitted((N_Q, N_K)), min(first + more, N_Q - 1)
    some, every = mask.spans(0, first, last, N_K)
    block = SEE[name][first : last + 1]
    assert not block[:, : some[0]].any() and not block[:, some[1] :].any()
    assert block[:, slice(*every)].all()
    grid = mask.seen(0, 0, np.arange(first, last + 1)[:, None], np.arange(N_K))
    np.testing.assert_array_equal(grid, block)


def test_an_array_and_a_function_hide_as_well(small):
    Q, K, V = draw()
    see = np.random.default_rng(1).random((N_Q, N_K)) > 0.5
    wanted = full(Q, K, V, see & SEE["causal"])

    def mask_mod(b, h, q, k):
        assert q.shape[1:] == (1,) and k.ndim == 1  # as scaled_dot_product_attention calls it
        return see[q, k]

    for options in (
        {"allowed": see & SEE["causal"]},
        {"allowed": places.causal(), "mask_mod": mask_mod},
        {"allowed": places.causal(), "bias": np.where(see, 0.0, -inf)},
        {"allowed": see, "mask_mod": lambda b, h, q, k: k <= q},
        {"allowed": see, "score_mod": lambda s, b, h, q, k: np.where(k <= q, s, -inf)},
    ):
        holds(everything(Q, K, V, block=10, pool=20, **options), *wanted, 20, 1e-12)


# ---- parts of real layers ------------------------------------------------------------------------


def test_parts_that_change_scores_do_so_tile_by_tile(small):
    Q, K, V = draw(grown=3)
    q, k = np.arange(N_Q)[:, None], np.arange(N_K)
    noise = np.random.default_rng(2).normal(size=(N_Q, N_K))
    table = np.random.default_rng(3).normal(size=(32, 1))
    for options, whole in (
        ({"softcap": 2.5}, {"softcap": 2.5}),
        ({"scale": 0.1}, {"scale": 0.1}),
        ({"bias": noise}, {"bias": noise}),
        ({"bias": noise[0]}, {"bias": noise[0]}),
        ({"bias": lambda b, h, q, k: noise[q, k]}, {"bias": noise}),
        ({"bias": places.alibi(1, past=16)}, {"bias": -(2.0**-8) * abs(q + 16 - k)}),
        (
            {"bias": places.relative_bias(table)},
            {"bias": attention.relative_bias(table, N_Q, N_K)[0]},
        ),
        ({"score_mod": lambda s, b, h, q, k: s - 0.1 * abs(q - k)}, {"bias": -0.1 * abs(q - k)}),
        ({"sinks": 1.5}, {"sink": 1.5}),
        ({"sinks": 80.0, "scale": 2.0}, {"sink": 80.0, "scale": 2.0}),
    ):
        found = everything(Q, K, V, allowed=places.causal(), block=10, pool=20, **options)
        weights, output = full(Q, K, V, SEE["causal"], **whole)
        holds(found, weights, output, 20, 1e-12)
        if "sink" in whole:
            np.testing.assert_allclose(found.sunk, 1 - weights.sum(axis=1), atol=1e-12)


def test_norm_and_rotation_stand_before_the_scores():
    Q, K, V = draw(lead=(2,))
    options = {"norm": attention.RMSNorm(), "rotary": attention.Rotary(offset=3)}
    trace = scaled_dot_product_attention(Q, K, V, allowed=SEE["causal"], **options)
    found = long_attention(Q, K, V, allowed=places.causal(), **options)
    np.testing.assert_allclose(found.output, trace.output, rtol=1e-12, atol=1e-14)


def test_items_and_heads_have_masks_biases_and_sinks_of_their_own(small):
    b, h, n, m = 3, 4, 20, 23
    Q, K, V = draw(n, m, lead=(b, h))
    K, V = K[:, :2], V[:, :2]  # heads 0 and 1 share one, and so do 2 and 3
    lengths, past, sinks = np.array([23, 11, 0]), np.array([3, 0, 1]), np.arange(4.0)
    mask = places.causal(past) & places.real_tokens(lengths)
    for bias in (places.alibi(4, past), attention.alibi(n, m, 4, past)):
        found = everything(Q, K, V, allowed=mask, bias=bias, sinks=sinks, block=7, pool=6)
        for at in np.ndindex(b, h):
            i, head = at
            q, k = np.arange(n)[:, None] + past[i], np.arange(m)
            slope = 2.0 ** (-8 / 4 * (head + 1))
            one = Q[at], K[i, head // 2], V[i, head // 2]
            see = (k <= q) & (k < lengths[i])
            weights, output = full(*one, see, bias=-slope * abs(q - k), sink=sinks[head])
            holds(found, weights, output, 6, 1e-12, at)
            rows = found.rows([2, 19], item=i, head=head)
            np.testing.assert_allclose(rows, weights[[2, 19]], atol=1e-12)
            seen = found.window((2, 9), (1, 4), item=i, head=head).values
            np.testing.assert_allclose(seen, weights[2:9, 1:4], atol=1e-12)
    assert found.hidden_rows[2].all() and not found.hidden_rows[0].any()


def test_a_function_is_told_item_and_head(small):
    Q, K, V = draw(9, 9, lead=(2, 3))
    see = np.random.default_rng(0).random((2, 3, 9, 9)) > 0.4
    found = long_attention(Q, K, V, mask_mod=lambda b, h, q, k: see[b, h, q, k], block=4)
    trace = scaled_dot_product_attention(Q, K, V, allowed=see)
    np.testing.assert_allclose(found.output, trace.output, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.mean_map, trace.weights, rtol=1e-12, atol=1e-14)


# ---- numbers that are hard -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("order", [1, -1])
def test_scores_of_thousands_that_grow_or_fall_neither_overflow_nor_get_lost(dtype, order, small):
    Q, K, V = draw(dtype=dtype)
    K = K[np.argsort(order * (K @ Q[0]))]
    found = everything(Q, K, V, scale=900.0, pool=20, block=10)
    assert np.isfinite(found.output).all()
    Q, K, V = (M.astype("f8") for M in (Q, K, V))
    weights, output = full(Q, K, V, scale=900.0)
    np.testing.assert_allclose(found.output, output, atol=1e-10 if dtype == "f8" else 2e-2)


def test_large_values_do_not_overflow_before_they_are_divided(small):
    Q, K, V = draw(dtype="f4", grown=6)
    found = long_attention(Q, K, V * np.float32(1e37))
    np.testing.assert_allclose(found.output / 1e37, full(Q, K, V)[1].astype("f8"), atol=1e-5)


@pytest.mark.parametrize("poison", [nan, inf, -inf])
def test_what_is_hidden_reaches_nothing_and_what_is_seen_shows(poison, small):
    Q, K, V = draw()
    mask = places.padding(REAL) & places.causal()
    K, V = np.where(REAL[:, None], K, 0), np.where(REAL[:, None], V, 0)
    clean = everything(Q, K, V, allowed=mask, block=10)
    K[~REAL], V[~REAL] = poison, poison
    found = everything(Q, K, V, allowed=mask, block=10)
    for name in (*RESULTS, "lse"):
        np.testing.assert_allclose(getattr(found, name), getattr(clean, name), atol=1e-13)
    seen = int(np.flatnonzero(REAL)[5])
    V[seen, 2] = poison
    found = long_attention(Q, K, V, allowed=mask, block=10)
    trace = scaled_dot_product_attention(Q, K, V, allowed=SEE["causal"] & REAL)
    np.testing.assert_allclose(found.output, trace.output, atol=1e-13)
    K[seen] = nan
    found = long_attention(Q, K, V, allowed=mask, block=10)
    assert np.isnan(found.lse[seen:]).all() and np.isfinite(found.lse[10:seen]).all()


@pytest.mark.parametrize(("n_q", "n_k"), [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_nothing_is_a_size_as_well(n_q, n_k):
    found = everything(*draw(n_q, n_k), allowed=places.causal())
    assert found.output.shape == (n_q, 5) and found.lse.shape == (n_q,)
    assert (found.output == 0).all() or n_k
    assert found.hidden_rows.all() == (n_k == 0 or n_q == 0)


# ---- rows and windows ----------------------------------------------------------------------------


@given(
    st.tuples(st.integers(0, N_Q - 1), st.integers(1, N_Q)),
    st.tuples(st.integers(0, N_K - 1), st.integers(1, N_K)),
    st.integers(1, 20),
    st.sampled_from(["mean", "largest"]),
    st.sampled_from(["causal", "window", "documents"]),
)
def test_a_window_is_that_part_of_the_whole_map(rows, keys, cells, of, name):
    (top, tall), (left, wide) = rows, keys
    bottom, right = min(N_Q, top + tall), min(N_K, left + wide)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "KEYS", 7)
        found = KEPT[name].window((top, bottom), slice(left, right), cells=cells, of=of)
    weights, _ = full(*draw(), SEE[name])
    down = [top + edge for edge in edges(bottom - top, cells)]
    across = [left + edge for edge in edges(right - left, cells)]
    assert found.row_edges.tolist() == down and found.key_edges.tolist() == across
    np.testing.assert_allclose(found.values, pooled(weights, down, across, of), atol=1e-13)


KEPT = {
    name: long_attention(*draw()[:2], allowed=MASKS[name][0], block=11)
    for name in ("causal", "window", "documents")
}


def test_no_rows_at_all_may_be_asked_for():
    found = KEPT["causal"].rows([])
    assert found.shape == (0, N_K) and found.dtype == float


def test_what_is_not_there_is_refused_by_a_sentence():
    found = KEPT["causal"]
    for call, message in (
        (
            lambda: found.rows([45]),
            messages.OUT_OF_RECORD.format(name="queries", given=[45], last=44),
        ),
        (lambda: found.rows([0.5]), messages.QUERIES_EXPECTED.format(queries="[0.5]")),
        (
            lambda: found.rows([1], head=1),
            messages.OUT_OF_RECORD.format(name="head", given=1, last=0),
        ),
        (
            lambda: found.rows([1], item=-1),
            messages.INTEGER_EXPECTED.format(name="item", given="-1", least=0),
        ),
        (
            lambda: found.window((3, 46)),
            messages.SLICE_EXPECTED.format(name="queries", given=(3, 46), count=45),
        ),
        (
            lambda: found.window(keys=(3, 3)),
            messages.RISING_SLICE_EXPECTED.format(name="keys", given=(3, 3), count=61),
        ),
        (lambda: found.window(of="sum"), messages.MEAN_OR_LARGEST.format(of="'sum'")),
    ):
        with pytest.raises((ValueError, TypeError)) as refused:
            call()
        assert str(refused.value) == message


def test_a_record_cannot_be_written_to_and_says_what_it_holds():
    found = everything(*draw())
    for name in (*RESULTS, "lse", "row_edges", "hidden_rows"):
        assert not getattr(found, name).flags.writeable, name
    assert repr(KEPT["causal"]) == (
        "LongAttention of 45 queries and 61 keys; scale 0.3536; map of 45 × 61 cells; mean_map"
    )


# ---- threads and executors -----------------------------------------------------------------------


class AtOnce:
    """An executor of the smallest kind: it works as it is asked, and counts."""

    def __init__(self, fails=lambda number: False):
        self.asked, self.waiting, self.most, self.fails = 0, [], 0, fails

    def submit(self, function, *arguments):
        self.asked += 1
        future = Future()
        if self.fails(self.asked):
            future.set_exception(OSError("the machine is gone."))
        else:
            future.set_result(function(*arguments))
        return future


def bits(found):
    return [getattr(found, name).tobytes() for name in (*RESULTS, "lse")]


def test_the_same_bits_come_from_any_number_of_threads_and_any_executor(monkeypatch):
    Q, K, V = draw(300, 300, dtype="f4", lead=(2,))
    run = partial(everything, Q, K, V, allowed=places.causal(), block=64, pool=40)
    wanted = bits(run())
    assert bits(run()) == wanted
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "_blas", lambda: None)
        patch.setattr(os, "cpu_count", lambda: 1)
        assert [len(one) for one in bits(run())] == [len(one) for one in wanted]
    for number in (1, 2, 5):
        with ThreadPoolExecutor(number) as executor:
            assert bits(run(executor=executor)) == wanted
    assert bits(run(executor=AtOnce(), ahead=1)) == wanted


@pytest.fixture(scope="module")
def processes():
    from multiprocessing import get_context

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


def fails_late(b, h, q, k):
    if q.max() > 40:
        raise LookupError("no such query.")
    return k <= q


def test_processes_give_the_same_bits_and_a_failed_block_is_named(processes):
    Q, K, V = draw(99, 99, dtype="f4", lead=(2,))
    run = partial(everything, Q, K, V, allowed=places.window(30), block=40)
    assert bits(run(executor=processes)) == bits(run())
    with pytest.raises(RuntimeError) as failed:
        long_attention(Q, K, V, mask_mod=fails_late, block=40, executor=processes, ahead=1)
    assert str(failed.value) == (
        messages.BLOCK_FAILED.format(
            place="queries 33 to 65 of head 0", error="LookupError, no such query"
        )
    )


def test_a_failed_block_ends_the_run_on_threads_too():
    Q, K, V = draw(99, 99, lead=(2, 1))
    with pytest.raises(RuntimeError) as failed:
        long_attention(Q, K, V, mask_mod=fails_late, block=40)
    assert str(failed.value) in {  # whichever block was the first to end
        messages.BLOCK_FAILED.format(
            place=f"queries {queries} of head 0 of item {item}", error="LookupError, no such query"
        )
        for queries in ("33 to 65", "66 to 98")
        for item in (0, 1)
    }
    gone = AtOnce(fails=lambda number: number == 3)
    with pytest.raises(RuntimeError) as failed:
        long_attention(Q, K, V, block=40, executor=gone, ahead=1)
    assert str(failed.value) == (
        messages.BLOCK_FAILED.format(
            place="queries 66 to 98 of head 0 of item 0", error="OSError, the machine is gone"
        )
    )
    assert gone.asked == 3


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)])
@pytest.mark.parametrize(
    ("error", "raised", "message"),
    [
        (MemoryError("Unable to allocate it."), MemoryError, "Unable to allocate it."),
        (MemoryError(), MemoryError, ""),
        (
            KeyError(),
            RuntimeError,
            messages.BLOCK_FAILED.format(place="queries 22 to 44", error="KeyError"),
        ),
        (
            OSError("no\nmore"),
            RuntimeError,
            messages.BLOCK_FAILED.format(place="queries 22 to 44", error="OSError, no"),
        ),
    ],
)
def test_memory_that_is_not_there_is_told_as_such_and_no_comma_before_nothing(
    error, raised, message, executor
):
    def mask(b, h, q, k):
        if q.max() > 25:
            raise error
        return q >= k

    with pytest.raises(raised) as failed:
        long_attention(*draw()[:2], mask_mod=mask, block=26, executor=executor)
    assert type(failed.value) is raised and str(failed.value) == message


def test_a_function_that_fails_at_once_says_so_itself():
    with pytest.raises(ValueError) as refused:
        long_attention(*draw(), mask_mod=lambda b, h, q, k: bool((k <= q) and np.ones((2, 2))))
    assert str(refused.value) == messages.ASKS_WHETHER_TRUE.format(
        name="mask_mod", at_once=messages.CALLED_AT_ONCE
    )


@pytest.mark.parametrize("executor", [None, AtOnce()])
def test_progress_counts_the_blocks_and_cancelled_ends_them(executor):
    told = []
    run = partial(long_attention, *draw(), block=5, executor=executor)
    run(progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 9) and told[-1] == (9, 9)
    assert told == sorted(set(told))

    with pytest.raises(
        CancelledError, match=f"^{re.escape(messages.CANCELLED.format(done=0, total=9))}$"
    ):
        run(cancelled=lambda: True)
    if executor:
        answers = iter([False, False, False, True])
        with pytest.raises(
            CancelledError, match=f"^{re.escape(messages.CANCELLED.format(done=3, total=9))}$"
        ):
            run(cancelled=lambda: next(answers))
    with pytest.raises(KeyError):  # what progress raises, it means
        run(progress=lambda done, total: {}[done])


def test_an_executor_holds_no_more_blocks_than_it_may():
    class Lazy(AtOnce):
        """Works only when the next is due."""

        def submit(self, function, *arguments):
            held.append(super().submit(lambda: None))
            return super().submit(function, *arguments)

    held = []
    found = long_attention(*draw(), block=5, executor=Lazy(), ahead=2)
    assert found.output.shape == (N_Q, 5) and len(held) == 9


def test_dask_gives_the_same_bits():
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    Q, K, V = draw(600, 600, dtype="f4")
    run = partial(everything, Q, K, V, allowed=places.causal(), block=128)
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert bits(run(executor=client.get_executor())) == bits(run())


# ---- memory, types -------------------------------------------------------------------------------


def test_memory_does_not_grow_with_the_map():
    Q, K = np.random.default_rng(0).standard_normal((2, 6000, 4)).astype("f4")
    tracemalloc.start()
    try:
        long_attention(Q, K, K, allowed=places.causal(), results=list(RESULTS))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20  # a map of 6,000 tokens has 144 MB


@pytest.mark.parametrize("name", ["profile", "mean_map"])
def test_what_blocks_add_to_waits_for_the_ones_before_alone(name):
    peaks = []
    for n_q in (64, 16 * 64):
        Q, K = draw(n_q, 20_000, 2, dtype="f4")[:2]
        tracemalloc.start()
        try:
            long_attention(Q, K, results=[name], block=32)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2 * 2**20  # 30 blocks more, of 160 kB each


def test_lists_and_half_precision_come_as_elsewhere():
    assert long_attention([[1]], [[2]], [[3]]).output.tolist() == [[3.0]]
    Q, K, V = (M.astype("f2") for M in draw())
    assert long_attention(Q, K, V).output.dtype == np.float32
    Q, K, V = (M.astype(np.longdouble) for M in draw())
    found = long_attention(Q, K, V)
    assert found.output.dtype == np.longdouble == found.lse.dtype


REFUSED = [
    (
        {"results": ["outputs"]},
        messages.UNKNOWN_RESULT.format(
            name="'outputs'",
            known="output, mean_map, entropy, largest, first, distance, profile",
        ),
    ),
    (
        {"V": None, "results": "output"},
        messages.OUTPUT_WITHOUT_V,
    ),
    (
        {"allowed": "causal"},
        messages.LONG_MASK_EXPECTED.format(seen="holds text"),
    ),
    (
        {"allowed": places.padding([True])},
        messages.TOKENS_DO_NOT_FIT.format(name="real", tokens=1, count=61, what="keys"),
    ),
    (
        {"allowed": places.causal([0, 1])},
        messages.ITEMS_DO_NOT_FIT.format(name="past", given=2, items=1),
    ),
    (
        {"allowed": places.documents([1] * 5)},
        messages.TOKENS_DO_NOT_FIT.format(name="ids", tokens=5, count=45, what="queries"),
    ),
    (
        {"bias": np.ones(N_K)},
        messages.BIAS_LIKE_A_MASK.format(name="bias"),
    ),
    (
        {"executor": 3},
        messages.EXECUTOR_EXPECTED.format(executor=3),
    ),
    (
        {"progress": 3},
        messages.FUNCTION_EXPECTED.format(name="progress", given=3, arguments="(done, total)"),
    ),
    ({"pool": 0}, messages.INTEGER_EXPECTED.format(name="pool", given=0, least=1)),
    (
        {"is_causal": True},
        messages.NO_ARGUMENT.format(name="is_causal", name_2=messages.GIVE_PLACES_CAUSAL),
    ),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_it_cannot_use_it_refuses_by_a_sentence(options, message):
    Q, K, V = draw()
    with pytest.raises((ValueError, TypeError)) as refused:
        long_attention(**{"Q": Q, "K": K, "V": V} | options)
    assert str(refused.value) == message


# ---- in the softmax's place ----------------------------------------------------------------------


@pytest.mark.parametrize("grown", [1.0, 300.0])
def test_a_sigmoid_divides_by_no_sum(small, grown):
    Q, K, V = draw(grown=grown)
    scores = (Q @ K.T / math.sqrt(8)).astype(np.longdouble)
    see = np.tri(N_Q, N_K, dtype=bool)
    see[7] = False
    with np.errstate(over="ignore"):
        weights = np.where(see, 1 / (1 + np.exp(-scores)), 0)
    found = everything(Q, K, V, allowed=see, softmax="sigmoid", pool=9)
    holds(found, weights, weights @ V, 9, 1e-12)
    assert found.hidden_rows.nonzero()[0].tolist() == [7]
    np.testing.assert_allclose(
        found.rows([3, 7, 44]), weights[[3, 7, 44]].astype(float), rtol=1e-12
    )
    np.testing.assert_allclose(
        found.window((2, 9), (1, 50)).values, weights[2:9, 1:50].astype(float), rtol=1e-12
    )


@pytest.mark.parametrize("softmax", [False, "none", 1, None, np.exp])
def test_no_other_softmax_is_taken(softmax):
    with pytest.raises(ValueError) as refused:
        long_attention(*draw(), softmax=softmax)
    wanted = messages.LONG_SOFTMAX_EXPECTED.format(softmax=repr(softmax), sigmoid="sigmoid")
    assert str(refused.value) == wanted


def test_a_sigmoid_has_no_sinks():
    with pytest.raises(ValueError) as refused:
        long_attention(*draw(), softmax="sigmoid", sinks=0.0)
    assert str(refused.value) == messages.SIGMOID_WITHOUT_SINKS


def test_a_row_whose_keys_vanish_beside_its_sink_sees_them_all_the_same(small):
    Q, K, V = draw()
    found = long_attention(Q, K, V, sinks=1e5)
    assert not found.hidden_rows.any() and not found.output.any()
