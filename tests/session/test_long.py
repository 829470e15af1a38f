"""A long context as it is set, made, brought and worked on, against the full computation."""

import gc
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import replace

import messages
import numpy as np
import pytest

from attention import limits
from attention.models.examples import load
from attention.readers.cells.entry import ArrayEntry
from attention.session.long import job, long_inputs, long_work
from attention.session.long.job import Job
from attention.session.long.long_inputs import (
    LongInputs,
    captured_inputs,
    computed_part,
    guessed_names,
    hold,
    made_inputs,
    read_inputs,
    settled,
)
from attention.session.long.long_work import LongWork
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.long_context import ALSO, MASKS, LongContext, fitted, moved
from attention.vocabulary.numbers import megabytes

S = EXAMPLES["cat-sat"].build()


def full(inputs: LongInputs, seen: np.ndarray, head: int = 0) -> np.ndarray:
    """(n_q, n_k), softmax(Q Kᵀ · scale) of what is seen, in float64."""
    own = head * len(inputs.K) // inputs.heads
    Q, K = inputs.Q[head].astype(float), inputs.K[own].astype(float)
    scores = Q @ K.T * (inputs.scale or Q.shape[1] ** -0.5)
    scores[~seen] = -np.inf
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)


def pooled(weights: np.ndarray, rows: np.ndarray, columns: np.ndarray, of: str) -> np.ndarray:
    """Cells: summed over keys, mean of queries; or the largest."""
    part = weights[rows[0] : rows[-1], columns[0] : columns[-1]]
    sums = np.add if of == "mean" else np.maximum
    over_keys = sums.reduceat(part, columns[:-1] - columns[0], axis=1)
    found = sums.reduceat(over_keys, rows[:-1] - rows[0], axis=0)
    return found / np.diff(rows)[:, None] if of == "mean" else found


# ---- what is set ---------------------------------------------------------------------------------

SET = [
    LongContext(),
    LongContext("sink", tokens=131072, seed=7, rotary=True, mask="window", seen=9),
    LongContext("", mask="own", head=3, of="largest", also=(), logarithmic=True, query=12),
    LongContext(also=tuple(ALSO), window=(1, 2, 3, 400)),
]


@pytest.mark.parametrize("long", SET)
def test_all_that_is_set_stands_in_the_link(long):
    s = replace(S, long=long)
    link = links.write(s)
    assert links.read(link) == (s, [])
    assert ("long" in link) == (long != LongContext())


FIELDS = "pattern, tokens, seed, rotary, mask, seen, head, of, also, logarithmic, query, window"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            '{"tokens": 131073}',
            messages.RANGE_WANTED.format(name="tokens", given=131073, least=1, greatest="131,072"),
        ),
        (
            '{"tokens": true}',
            messages.RANGE_WANTED.format(name="tokens", given=True, least=1, greatest="131,072"),
        ),
        (
            '{"pattern": "x"}',
            messages.ONE_OF_WANTED.format(
                name="pattern", given="'x'", known="random, local, induction, sink"
            ),
        ),
        (
            '{"mask": ["none"]}',
            messages.ONE_OF_WANTED.format(
                name="mask", given="['none']", known="causal, window, lower_right, none, own"
            ),
        ),
        ('{"window": [5, 5, 0, 1]}', messages.WINDOW_WANTED.format(given="(5, 5, 0, 1)")),
        ('{"window": [0, 5, 0]}', messages.WINDOW_WANTED.format(given="(0, 5, 0)")),
        (
            '{"also": [["x"]]}',
            messages.SOME_OF_WANTED.format(
                name="also", given="(['x'],)", known="entropy, first, profile"
            ),
        ),
        (
            '{"also": ["first", "first"]}',
            messages.SOME_OF_WANTED.format(
                name="also", given="('first', 'first')", known="entropy, first, profile"
            ),
        ),
        ('{"window": 0}', messages.WINDOW_WANTED.format(given=0)),
        (
            '{"also": ["all"]}',
            messages.SOME_OF_WANTED.format(
                name="also", given="('all',)", known="entropy, first, profile"
            ),
        ),
        ('{"rotary": 1}', messages.SWITCH_WANTED.format(name="rotary", given=1)),
        (
            '{"query": -2}',
            messages.RANGE_WANTED.format(name="query", given=-2, least=-1, greatest="131,071"),
        ),
        ("[]", messages.FIELDS_WANTED.format(names=FIELDS)),
        ("null", messages.FIELDS_WANTED.format(names=FIELDS)),
        ("none", messages.FIELDS_WANTED.format(names=FIELDS)),
    ],
)
def test_what_cannot_be_set_is_passed_over_in_a_sentence(given, sentence):
    s, said = links.read({"example": "cat-sat", "long": given})
    assert s.long == LongContext() and len(said) == 1 and sentence in said[0]


@pytest.mark.parametrize("sent", [{}, [], "x", {"query": "1"}, {"window": 5}, {"query": True}])
def test_what_is_no_move_of_the_map_changes_nothing(sent):
    assert moved(LongContext(), sent) == LongContext()


@pytest.mark.parametrize("window", [[3, 2, 0, 1], [0, 1], [0.5, 1, 0, 1], [0, 1, 0, 10**9]])
def test_a_window_that_cannot_be_is_refused(window):
    with pytest.raises(limits.BadInput) as refused:
        moved(LongContext(), {"window": window})
    assert str(refused.value) == messages.WINDOW_WANTED.format(given=tuple(window))


def test_a_window_is_pulled_back_inside():
    assert fitted((0, 9, 3, 99), 9, 50) == (0, 9, 3, 50)
    assert fitted((9, 12, 0, 5), 9, 50) == (0, 9, 0, 50)


# ---- what is brought -----------------------------------------------------------------------------


def arrays(**given) -> dict[str, ArrayEntry]:
    return {name: ArrayEntry.of(name, np.asarray(M)) for name, M in given.items()}


def test_names_tell_which_array_is_which():
    one = [[1.0]]
    names = {"h.0.query": one, "h.0.VALUES": one, "h.0.k": one, "x": one, "k": one}
    assert guessed_names(arrays(**names)) == {"Q": "h.0.query", "K": "h.0.k", "V": "h.0.VALUES"}


def test_tokens_may_stand_before_heads_and_half_floats_become_floats():
    Q = np.random.default_rng(0).standard_normal((50, 4, 8)).astype("f2")  # tokens, heads, columns
    inputs = read_inputs(arrays(q=Q, k=Q[:, :2]), {"Q": "q", "K": "k"}, "a.npz")
    assert inputs.Q.shape == (4, 50, 8) and inputs.K.shape == (2, 50, 8)
    assert inputs.Q.dtype == np.float32 and inputs.source == "a.npz: q, k"
    np.testing.assert_array_equal(inputs.Q[1], Q[:, 1].astype("f4"))
    assert inputs.remark == messages.READ_AS_TOKENS_HEADS.format(heads=4, tokens=50)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"Q": np.zeros((3, 2)), "K": np.zeros((3, 4))},
            messages.LONG_COLUMNS_DIFFER.format(queries=2, keys=4),
        ),
        (
            {"Q": np.zeros((3, 9, 2)), "K": np.zeros((2, 8, 2))},
            messages.LONG_HEADS_DO_NOT_SHARE.format(heads=3, given=2, of="keys"),
        ),
        (
            {"Q": np.zeros(3), "K": np.zeros((2, 2))},
            messages.LONG_AXES.format(place="a.npz, Q", size=3),
        ),
        (
            {"Q": np.zeros((0, 2)), "K": np.zeros((2, 2))},
            messages.LONG_COUNT.format(count=0, what="tokens", word="queries", most="131,072"),
        ),
        (
            {"Q": [[np.nan]], "K": [[1.0]]},
            messages.LONG_BEYOND_LIMIT.format(word="queries", limit="1e+12"),
        ),
        (
            {"Q": [[1.0]], "K": [[1.0]], "V": [[1.0], [2.0]]},
            messages.LONG_VALUES_DIFFER.format(k="1 × 1 × 1", v="1 × 2 × 1"),
        ),
        (
            {"Q": np.zeros((2, 2), bool), "K": np.zeros((2, 2))},
            messages.NUMBERS_WANTED.format(place="a.npz, Q", dtype="bool"),
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(given, sentence):
    with pytest.raises(limits.BadInput) as refused:
        read_inputs(arrays(**given), {name: name for name in given}, "a.npz")
    assert sentence in str(refused.value) and str(refused.value).count(".") <= 2


ODD = [  # shapes of Q and K as people have them, and as they are meant: (heads, tokens)
    ((32, 1, 8), (8, 64, 8), (32, 1), (8, 64)),  # a step of decoding, heads shared
    ((32, 1, 8), (1, 64, 8), (32, 1), (1, 64)),
    ((64, 4, 8), (64, 2, 8), (4, 64), (2, 64)),  # tokens before heads
    ((4, 64, 8), (2, 64, 8), (4, 64), (2, 64)),
    ((1, 5, 8), (1, 9, 8), (1, 5), (1, 9)),
    ((5, 8), (9, 8), (1, 5), (1, 9)),
    ((3, 4, 64, 8), (3, 2, 64, 8), (4, 64), (2, 64)),  # items
]


@pytest.mark.parametrize(("q", "k", "queries", "keys"), ODD)
def test_heads_and_tokens_are_told_apart_for_both_together(q, k, queries, keys):
    inputs = read_inputs(arrays(q=np.ones(q), k=np.ones(k)), {"Q": "q", "K": "k"}, "a.npz")
    assert (inputs.Q.shape[:2], inputs.K.shape[:2]) == (queries, keys)


def test_an_item_is_chosen_and_said_and_items_must_be_as_many():
    Q = np.arange(3.0)[:, None, None, None] + np.zeros((3, 2, 9, 4))
    inputs = read_inputs(arrays(q=Q, k=Q), {"Q": "q", "K": "k"}, "a.npz", 2)
    assert (inputs.Q == 2).all() and inputs.source == "a.npz: q, k, item 2 of 0–2"
    with pytest.raises(limits.BadInput) as refused:
        read_inputs(arrays(q=Q, k=Q[:2]), {"Q": "q", "K": "k"}, "a.npz")
    assert str(refused.value) == messages.LONG_ITEMS_DIFFER.format(
        place="a.npz", queries=3, keys=2, name="k"
    )


def test_arrays_are_bounded_before_they_are_read():
    def read():
        raise AssertionError("it was read")

    large = ArrayEntry("q", (2**17, 512), "float64", read)
    with pytest.raises(limits.BadInput) as refused:
        read_inputs({"q": large, "k": large}, {"Q": "q", "K": "k"}, "a.npz")
    assert str(refused.value) == messages.LONG_ARRAYS_TOO_LARGE.format(
        place="a.npz", size="1,024 MB", limit="256 MB"
    )


@pytest.mark.parametrize("kind", [0, 1])
def test_a_captured_bias_of_zeros_and_ones_is_a_bias(kind):
    Q, K = np.random.default_rng(2).standard_normal((2, 2, 30, 8))
    bias = (np.arange(30) % 2 == kind) * np.ones((1, 30, 1))
    c = LongContext("", mask="own")
    work = LongWork(LongInputs(Q, K, None, "test", scale=0.5, bias=bias), c)
    scores = Q[1] @ K[1].T * 0.5 + bias[0]
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(work.look(work.all, 1).cells.values, weights, rtol=1e-6)
    np.testing.assert_allclose(work.weights(7, 1), weights[7], rtol=1e-6)


def test_what_is_set_gives_way_to_what_the_inputs_have():
    inputs = made_inputs(LongContext(tokens=100))
    found = settled(LongContext(mask="own", head=5, query=2000), inputs)
    assert (found.mask, found.head, found.query) == ("causal", 0, 99)


def test_a_captured_layer_gives_the_weights_of_its_trace():
    taken = load("pronoun")
    call = taken.calls[-1]
    inputs = captured_inputs(taken, call, 0)
    work = LongWork(inputs, LongContext("", mask="own"))
    work.begin()
    assert work.whole.wait(20)
    for head in range(inputs.heads):
        trace = call.trace(0, head)
        seen = work.look(work.all, head)
        np.testing.assert_allclose(seen.cells.values, trace.weights, atol=2e-6)
    assert inputs.query_words[0] == "[CLS]" and "layer" in inputs.source


# ---- how it is worked on -------------------------------------------------------------------------

SEEN = {
    "causal": lambda q, k: k <= q,
    "lower_right": lambda q, k: k <= q,
    "window": lambda q, k: (k <= q) & (k > q - 300),
    "none": lambda q, k: k >= 0 * q,
}


@pytest.mark.parametrize("mask", [name for name in MASKS if name != "own"])
@pytest.mark.parametrize("of", ["mean", "largest"])
def test_every_look_is_the_full_computation(mask, of):
    c = LongContext("random", tokens=1300, mask=mask, seen=300)
    inputs = made_inputs(c)
    grid = np.arange(1300)[:, None], np.arange(1300)
    weights = full(inputs, SEEN[mask](*grid) & np.ones((1300, 1300), bool))
    work = LongWork(inputs, c)
    coarse = work.look(work.all, 0, of)  # every third query, by the middle one
    assert coarse.sampled == 3 and coarse.job is None
    rows, columns = coarse.cells.row_edges, coarse.cells.key_edges
    middle = weights[(rows[:-1] + rows[1:]) // 2]
    ones = np.arange(len(middle) + 1)
    np.testing.assert_allclose(coarse.cells.values, pooled(middle, ones, columns, of), rtol=1e-4)
    np.testing.assert_allclose(work.weights(700, 0), weights[700], rtol=1e-4, atol=1e-9)
    near = work.look((100, 400, 0, 1300), 0, of)  # exact before all is computed
    assert near.sampled == 0
    np.testing.assert_allclose(
        near.cells.values,
        pooled(weights, near.cells.row_edges, near.cells.key_edges, of),
        rtol=1e-4,
        atol=1e-9,
    )
    work.begin()
    assert work.whole.wait(30)
    for window in (work.all, (0, 1200, 10, 1250), (7, 8, 0, 1300), (640, 700, 640, 700)):
        look = work.look(window, 0, of)
        if look.job:
            assert look.job.wait(30)
            look = work.look(window, 0, of)
        assert look.sampled == 0
        edges = look.cells.row_edges, look.cells.key_edges
        assert (edges[0][0], edges[0][-1], edges[1][0], edges[1][-1]) == window
        np.testing.assert_allclose(
            look.cells.values, pooled(weights, *edges, of), rtol=1e-4, atol=1e-9
        )
    np.testing.assert_allclose(work.weights(700, 0), weights[700], rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("less", [0, 1])
def test_the_output_is_kept_where_it_has_room(monkeypatch, less):
    Q, V = np.zeros((4, 30, 8)), np.zeros((2, 50, 3))
    monkeypatch.setattr(long_work, "MOST_OUTPUT", 4 * 30 * 3 * 8 - less)
    c = LongContext("", mask="none")
    work = LongWork(LongInputs(Q, np.zeros((2, 50, 8)), V, "test"), c)
    work.begin()
    assert work.whole.wait(30) and (work.record.output is None) == bool(less)


def test_a_window_that_was_given_up_stays_a_first_look_until_it_is_asked_for_again():
    c = LongContext("random", tokens=1300)
    work = LongWork(made_inputs(c), c)
    work.begin()
    assert work.whole.wait(30)
    window = 0, 1200, 0, 1300
    with job.QUICK:  # somebody else's
        waits = work.look(window, 0)
        assert waits.sampled == 3 and waits.job.is_waiting
        waits.job.cancel()
        assert waits.job.wait(10) and waits.job.was_cancelled
    assert work.look(window, 0).job is waits.job
    whole = work.whole
    work.begin()
    again = work.look(window, 0)
    assert work.whole is whole and again.job is not waits.job
    assert again.job is None or again.job.wait(30)
    assert work.look(window, 0).sampled == 0


def test_many_heads_of_many_tokens_are_computed_one_by_one(monkeypatch):
    rng = np.random.default_rng(1)
    Q, K = rng.standard_normal((4, 40, 8)), rng.standard_normal((2, 40, 8))
    sinks = np.arange(4.0)
    inputs = LongInputs(Q, K, K, "test", sinks=sinks)
    assert computed_part(inputs, 3) is inputs
    monkeypatch.setattr("attention.session.long.long_inputs.TOGETHER", 1600)
    part = computed_part(inputs, 3)
    assert part.heads == 1 and part.sinks.tolist() == [3.0]
    np.testing.assert_array_equal(part.Q, Q[3:])
    np.testing.assert_array_equal(part.K, K[1:])


def test_one_job_runs_at_a_time_is_cancelled_and_ends_with_what_holds_it():
    go, ran = threading.Event(), []

    def slow(progress, cancelled):
        ran.append("slow")
        while not go.wait(0.01):
            progress(1, 4)
            if cancelled():
                raise CancelledError
        return "slow"

    first = Job(slow)
    quick = Job(lambda progress, cancelled: "quick", quick=True)
    assert quick.wait(5) and quick.result == "quick"
    second = Job(lambda progress, cancelled: ran.append("second") or "second")
    while not first.share:
        time.sleep(0.01)
    assert second.is_waiting and not second.is_over and first.left is not None
    go.set()
    assert first.wait(5) and second.wait(5)
    assert (first.result, second.result, ran) == ("slow", "second", ["slow", "second"])
    go.clear()
    third, fourth = Job(slow), Job(slow)
    fourth.cancel()
    assert fourth.wait(5) and fourth.was_cancelled and not third.is_over
    told = third._told
    del third
    gc.collect()
    assert told.over.wait(5) and told.result is None and not told.problem


def test_a_job_that_fails_says_why_in_a_sentence():
    def fails(progress, cancelled):
        raise ValueError("it cannot be.")

    job = Job(fails)
    assert job.wait(5) and job.problem == "it cannot be." and not job.was_cancelled


def test_any_error_of_a_job_is_said():
    def fails(progress, cancelled):
        raise KeyError("x")

    job = Job(fails)
    assert job.wait(5) and job.problem == messages.NOT_COMPUTED.format(error="KeyError")


def test_what_all_people_hold_is_bounded_and_let_go_of(monkeypatch):
    gc.collect()
    before = sum(each.size for each in long_inputs._HELD)
    inputs = made_inputs(LongContext(tokens=2000))
    monkeypatch.setattr(long_inputs, "MAX_LONG_HELD", before + inputs.size + 10)
    held = hold(inputs)
    with pytest.raises(limits.BadInput) as refused:
        hold(made_inputs(LongContext(tokens=2000)))
    assert str(refused.value) == messages.SERVER_IS_FULL.format(
        size=megabytes(inputs.size),
        held=megabytes(before + inputs.size),
        limit=megabytes(before + inputs.size + 10),
    )
    del held, inputs
    gc.collect()
    hold(made_inputs(LongContext(tokens=2000)))
