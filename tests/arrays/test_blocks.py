"""The loop over blocks of whole rows: the same stages as without it, BLAS left as it was."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import contextmanager
from itertools import product

import numpy as np
import pytest
from build import draw
from hypothesis import given
from hypothesis import strategies as st
from oracle import attend

from attention import scaled_dot_product_attention, softmax_in
from attention.arrays import blocks as engine
from attention.arrays.blocks import blocks, each, one_blas_thread

inf, nan = math.inf, math.nan
STAGES = ("scores", "scaled", "masked", "weights", "output")


@pytest.fixture
def small(monkeypatch):
    """Blocks of two rows, so that small examples take many."""
    monkeypatch.setattr(engine, "CELLS", 1)
    monkeypatch.setattr(engine, "ROWS", 2)


@pytest.fixture(params=["threads", "one thread"])
def threads(request, monkeypatch):
    """Three threads whatever the machine, or none beside the caller's, as without threadpoolctl."""
    if request.param == "one thread":
        monkeypatch.setattr(engine, "_blas", lambda: None)
    else:
        monkeypatch.setattr(engine, "_blas", Libraries)


class Libraries:
    """Stands for threadpoolctl: one library with three threads, until they are limited."""

    most = 3

    def __init__(self):
        self.lib_controllers, self.num_threads = [self], self.most

    @contextmanager
    def limit(self, limits):
        self.num_threads = limits
        yield self
        self.restore_original_limits()

    def restore_original_limits(self):
        self.num_threads = self.most


def three(n_q=7, n_k=5, d_k=4, d_v=3, lead=(), dtype=float):
    shapes = (*lead, n_q, d_k), (*lead, n_k, d_k), (*lead, n_k, d_v)
    return [draw(shape, seed, dtype) for seed, shape in enumerate(shapes)]


def assert_stages(trace, Q, K, V, **options):
    """Every stage of every leading item, held against plain loops."""
    lead = trace.output.shape[:-2]
    given = {"Q": Q, "K": K, "V": V} | {k: options[k] for k in ("allowed", "bias") if k in options}
    wide = {}
    for name, M in given.items():
        M = np.asarray(M)
        rows = trace.weights.shape[-2:] if name in ("allowed", "bias") else M.shape[-2:]
        wide[name] = np.broadcast_to(M, (*lead, *rows))
    for at in np.ndindex(lead):
        here = {name: M[at] for name, M in wide.items()}
        if "bias" in here:  # a bias of −∞ hides, which the loops do not know
            here["allowed"] = here.get("allowed", True) & (here["bias"] > -inf)
        others = {k: v for k, v in options.items() if k not in wide}
        for name, expected in attend(**here, **others).items():
            stage = getattr(trace, name)
            stage = np.broadcast_to(stage, (*lead, *stage.shape[-2:]))[at]
            np.testing.assert_allclose(stage, expected, rtol=1e-12, atol=1e-13, err_msg=name)


# ---- cutting -------------------------------------------------------------------------------------

LEADS = st.lists(st.integers(0, 4), max_size=3)


@given(LEADS, st.integers(0, 40), st.integers(0, 9), st.integers(1, 200), st.integers(1, 5))
def test_blocks_hold_every_row_once_and_in_order_and_none_is_too_large(lead, n_q, n_k, cells, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "CELLS", cells)
        patch.setattr(engine, "ROWS", rows)
        found = blocks((*lead, n_q, n_k))
    numbers = np.arange(math.prod(lead) * n_q).reshape(*lead, n_q, 1)
    parts = [block.rows_of(numbers) for block in found]
    assert [row for part in parts for row in part.ravel()] == list(range(numbers.size))
    assert all(part.size <= rows or part.size * n_k <= cells for part in parts)


def test_pieces_differ_by_one_row_at_most():
    for size, most in product(range(60), range(1, 20)):
        lengths = [len(range(size)[piece]) for piece in engine.pieces(size, most)]
        assert sum(lengths) == size
        assert max(lengths) <= most
        assert max(lengths) - min(lengths) <= 1
        assert len(lengths) == max(1, math.ceil(size / most))


# ---- the stages ----------------------------------------------------------------------------------

BIAS = draw((7, 5), 8)
SEE = draw((7, 5), 9) > 0
OPTIONS = {
    "plain": {},
    "allowed": {"allowed": SEE},
    "one row": {"allowed": SEE[1]},
    "one column": {"allowed": SEE[:, :1]},
    "none at all": {"allowed": np.zeros((7, 5), bool)},
    "bias": {"bias": BIAS},
    "bias of keys": {"bias": BIAS[0]},
    "hiding bias": {"bias": np.where(SEE, BIAS, -inf), "allowed": SEE[0]},
    "scale": {"scale": 0.3},
    "raw": {"softmax": False, "allowed": SEE},
}


@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
@pytest.mark.parametrize("option", OPTIONS)
def test_blocks_give_the_stages_of_plain_loops(option, lead, small, threads):
    Q, K, V = three(lead=lead)
    trace = scaled_dot_product_attention(Q, K, V, **OPTIONS[option])
    assert_stages(trace, Q, K, V, **OPTIONS[option])


@pytest.mark.parametrize(
    "leads",
    [
        ((2,), (), ()),
        ((), (2,), ()),
        ((), (), (2,)),
        ((2, 1), (3,), (2, 3)),
        ((2, 3, 1), (1, 3, 2), (2,)),
    ],
)
def test_blocks_broadcast_leading_axes(leads, small, threads):
    Q, K, V = (
        draw((*lead, *shape), seed)
        for seed, (lead, shape) in enumerate(zip(leads, [(7, 4), (5, 4), (5, 3)], strict=True))
    )
    trace = scaled_dot_product_attention(Q, K, V, allowed=SEE)
    assert trace.scores.shape == (*np.broadcast_shapes(*leads[:2]), 7, 5)
    assert trace.output.shape == (*np.broadcast_shapes(*leads), 7, 3)
    assert_stages(trace, Q, K, V, allowed=SEE)


@pytest.mark.parametrize(
    "shape", [(2, 3, 7, 5), (3, 7, 5), (2, 1, 7, 5), (2, 1, 1, 5), (1, 3, 7, 1)]
)
def test_blocks_take_a_mask_of_every_rank(shape, small, threads):
    Q, K, V = three(lead=(2, 3))
    see, bias = draw(shape, 5) > -0.5, draw(shape, 6)
    trace = scaled_dot_product_attention(Q, K, V, allowed=see, bias=bias)
    assert_stages(trace, Q, K, V, allowed=see, bias=bias)


def test_blocks_make_sigmoids_and_softmaxes_in_another_type_of_each_row(small, threads):
    Q, K, V = three(lead=(2,))
    for softmax in ("sigmoid", softmax_in("longdouble")):
        trace = scaled_dot_product_attention(Q, K, V, allowed=SEE, softmax=softmax)
        for at in np.ndindex(2, 7):
            grown = [
                math.exp(s) if see else 0
                for s, see in zip(trace.scaled[at], SEE[at[1]], strict=True)
            ]
            total = sum(grown)
            own = [g / (1 + g) if softmax == "sigmoid" else g / total for g in grown]
            np.testing.assert_allclose(trace.weights[at], own, rtol=1e-13)


def test_blocks_cap_the_scores_before_the_mask(small, threads):
    Q, K, V = three(lead=(2,))
    trace = scaled_dot_product_attention(5 * Q, K, V, allowed=SEE, softcap=0.7)
    for at in np.ndindex(trace.scores.shape):
        capped = 0.7 * math.tanh(trace.scaled[at] / 0.7)
        assert trace.capped[at] == pytest.approx(capped, rel=1e-13)
        assert trace.masked[at] == (trace.capped[at] if SEE[at[1:]] else -inf)


@pytest.mark.parametrize("dtype", ["f4", "f8", "longdouble"])
@pytest.mark.parametrize("option", OPTIONS)
def test_blocks_keep_the_type_and_lie_in_rows(dtype, option, small, threads):
    trace = scaled_dot_product_attention(
        *three(lead=(2,), dtype=dtype), **OPTIONS[option], softcap=3
    )
    for name in (*STAGES, "capped"):
        stage = getattr(trace, name)
        assert stage.dtype == dtype, name
        assert stage.flags.c_contiguous, name


@pytest.mark.parametrize("n", [1, 63, 64, 127, 128, 129, 511, 513, 700])
def test_float32_weights_and_outputs_of_real_blocks_are_near_those_of_long_double(n):
    Q, K, V = three(n, 520, 16, 4, dtype="f4")
    see = np.tri(n, 520, 3, dtype=bool)
    trace = scaled_dot_product_attention(Q, K, V, allowed=see)
    q, k, v = (M.astype(np.longdouble) for M in (Q, K, V))
    grown = np.where(see, np.exp(q @ k.T / 4), 0)
    weights = grown / grown.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(trace.weights, weights.astype("f8"), rtol=1e-5)
    np.testing.assert_allclose(trace.output, (weights @ v).astype("f8"), atol=1e-5)


def test_another_softmax_sees_the_whole_map_once(small, threads):
    seen = []

    def softmax(masked, allowed):
        seen.append((masked.shape, allowed.shape))
        return softmax_in("f8")(masked, allowed)

    Q, K, V = three(lead=(2,))
    trace = scaled_dot_product_attention(Q, K, V, allowed=SEE, softmax=softmax)
    assert seen == [((2, 7, 5), (2, 7, 5))]
    assert_stages(trace, Q, K, V, allowed=SEE)


# ---- NaN and infinity ----------------------------------------------------------------------------


def plainly(weights, V, see):
    """The sum over the visible keys, one product after the other, in IEEE's arithmetic."""
    output = np.zeros((len(weights), V.shape[1]))
    with np.errstate(invalid="ignore"):
        for i, c in np.ndindex(output.shape):
            for j in np.flatnonzero(see[i]):
                output[i, c] += weights[i, j] * V[j, c]
    return output


@given(st.integers(0, 10**6), st.sampled_from([True, False]))
def test_nan_and_inf_in_values_show_where_they_are_seen_as_in_plain_loops(seed, softmax):
    rng = np.random.default_rng(seed)
    Q, K, V = (rng.normal(size=shape) for shape in ((6, 3), (8, 3), (8, 4)))
    K[rng.random(8) < 0.3] *= 1e4  # weights of exactly 0 and 1
    V[rng.random(V.shape) < 0.15] = rng.choice([nan, inf, -inf])
    V[rng.random(V.shape) < 0.1] = inf
    see = rng.random((6, 8)) < 0.6
    trace = scaled_dot_product_attention(Q, K, V, allowed=see, softmax=softmax)
    expected = plainly(trace.weights, V, see)
    np.testing.assert_allclose(trace.output, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("poison", [nan, inf, -inf])
def test_blocks_keep_hidden_keys_and_values_out(poison, small, threads):
    Q, K, V = three(lead=(2,))
    see = SEE.copy()
    see[:, 3] = False
    clean = scaled_dot_product_attention(Q, K, V, allowed=see)
    K[0, 3], V[:, 3] = poison, poison
    trace = scaled_dot_product_attention(Q, K, V, allowed=see)
    assert trace.weights.tobytes() == clean.weights.tobytes()
    assert trace.output.tobytes() == clean.output.tobytes()


def test_poison_in_blocks_raises_no_warning(small, threads):
    Q, K, V = three()
    Q[4], K[2] = inf, nan
    trace = scaled_dot_product_attention(Q, K, V)  # warnings are errors here
    assert np.isnan(trace.weights).all()


# ---- threads, errors, BLAS -----------------------------------------------------------------------


def test_results_come_in_the_order_of_the_rows(small, threads):
    assert each(lambda block: block.rows.start, (9, 1)) == [0, 1, 3, 5, 7]


def test_an_error_in_a_block_is_raised_and_ends_the_loop(small, threads):
    begun = []

    def work(block):
        begun.append(block)
        raise LookupError(block.rows.start)

    with pytest.raises(LookupError):
        each(work, (1000, 1))
    assert len(begun) <= 3  # one for each thread


def test_an_error_in_a_helper_is_raised_by_the_caller(small, monkeypatch):
    monkeypatch.setattr(engine, "_blas", Libraries)
    caller, both = threading.current_thread(), threading.Barrier(3)

    def work(block):
        both.wait(30)  # all three have a block
        if threading.current_thread() is not caller:
            raise LookupError("a helper's")

    with pytest.raises(LookupError, match="^a helper's$"):
        each(work, (6, 1))


def test_the_blocks_of_several_threads_run_in_the_context_of_the_caller(small, threads):
    with np.errstate(divide="raise"):
        assert {found["divide"] for found in each(lambda _: np.geterr(), (20, 1))} == {"raise"}


def test_without_threadpoolctl_one_thread_does_it_all(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    engine._blas.cache_clear()
    try:
        with one_blas_thread() as number:
            assert number == 1
        assert len(set(each(lambda _: threading.current_thread(), (20, 1)))) == 1
    finally:
        engine._blas.cache_clear()


@pytest.mark.parametrize("started", [0, 1, 2])
def test_where_no_more_threads_are_to_be_had_those_there_are_do_it_all(small, monkeypatch, started):
    class Few(threading.Thread):
        left = started

        def start(self):
            if not Few.left:
                raise RuntimeError("can't start new thread")
            Few.left -= 1
            super().start()

    monkeypatch.setattr(engine, "_blas", Libraries)
    monkeypatch.setattr(engine, "Thread", Few)
    assert each(lambda block: block.rows.start, (9, 1)) == [0, 1, 3, 5, 7]
    assert not Few.left


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="the system has no such signals")
def test_ctrl_c_ends_the_loop_and_gives_back_blas_and_processors(small, interruptible):
    before, begun, ended = blas_threads(), [], []

    def work(block):
        begun.append(block)
        if len(begun) == 3:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.01)
        ended.append(block)

    with pytest.raises(KeyboardInterrupt):
        each(work, (10_000, 1))
    assert 3 <= len(begun) < 5000
    assert 0 <= len(begun) - len(ended) <= 1  # the block of the caller, which helps, is left
    assert (blas_threads(), processors()) == (before, AT_FIRST)


def test_ctrl_c_in_the_thread_that_helps_ends_the_loop(small, two):
    before, begun = blas_threads(), []

    def work(block):
        begun.append(block)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        each(work, (10_000, 1))
    assert 1 <= len(begun) < 5000
    assert (blas_threads(), processors()) == (before, AT_FIRST)


def test_where_no_thread_starts_the_caller_keeps_its_processors(small, two, monkeypatch):
    class Refused(threading.Thread):
        def start(self):
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(engine, "Thread", Refused)
    inside = each(lambda block: processors(), (9, 1))
    assert set(inside) == {AT_FIRST} == {processors()}


def test_ctrl_c_while_the_loop_starts_ends_it(small, monkeypatch):
    """A busy machine may run blocks before it goes on with the thread that started the loop."""
    before, begun, ended = blas_threads(), [], []
    working = threading.Event()

    class Interrupted(threading.Thread):
        def start(self):
            super().start()
            if threading.current_thread() is threading.main_thread():
                assert working.wait(60)
                raise KeyboardInterrupt

    def work(block):
        begun.append(block)
        working.set()
        time.sleep(0.01)
        ended.append(block)

    monkeypatch.setattr(engine, "Thread", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        each(work, (10_000, 1))
    assert 1 <= len(begun) == len(ended) < 5000
    assert (blas_threads(), processors()) == (before, AT_FIRST)


def test_ctrl_c_before_the_loop_starts_leaves_nothing_to_wait_for(small, monkeypatch):
    class Interrupted(threading.Thread):
        def start(self):
            threads.append(self)
            raise KeyboardInterrupt

    threads, begun = [], []
    monkeypatch.setattr(engine, "Thread", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        each(begun.append, (9, 1))
    threading.Thread.start(threads[0])  # the system may run it later
    threads[0].join(60)
    assert len(threads) == 1 and not threads[0].is_alive() and not begun


@pytest.fixture
def alarm():
    """A signal whose handler raises a RuntimeError, as timeouts do."""

    def handler(*_):
        raise RuntimeError("time is up")

    before = signal.signal(signal.SIGUSR1, handler)
    yield signal.SIGUSR1
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="the system has no such signals")
def test_the_error_of_a_signal_handler_ends_the_loop_and_is_raised(small, threads, alarm):
    begun = []

    def work(block):
        begun.append(block)
        if len(begun) == 3:
            signal.pthread_kill(threading.main_thread().ident, alarm)
        time.sleep(0.01)

    with pytest.raises(RuntimeError, match="^time is up$"):
        each(work, (1000, 1))
    assert 3 <= len(begun) < 250


def test_after_an_error_while_threads_start_no_helper_goes_on(monkeypatch):
    class Interrupted(threading.Thread):
        def start(self):
            super().start()
            started.append(self)
            if len(started) == 2:
                raise RuntimeError("time is up")  # by the handler of a signal

    started, taken = [], []
    monkeypatch.setattr(engine, "_blas", Libraries)
    monkeypatch.setattr(engine, "Thread", Interrupted)
    with pytest.raises(RuntimeError, match="^time is up$"):
        engine.share_out(lambda _: time.sleep(0.01), range(200), lambda *one: taken.append(one))
    assert not started[0].is_alive()
    count = len(taken)
    started[1].join(60)  # which was starting
    assert len(taken) <= count + 1 < 20


LOOPS = {
    "each": lambda: each(lambda block: time.sleep(0.01), (40, 1)),
    "share_out": lambda: engine.share_out(lambda _: time.sleep(0.01), range(20), lambda *_: None),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_an_error_that_comes_while_a_thread_starts_is_raised(loop, small, monkeypatch):
    class Interrupted(threading.Thread):
        def start(self):
            super().start()
            started.append(self)
            if threading.current_thread() is threading.main_thread():
                raise RuntimeError("time is up")  # by the handler of a signal

    started = []
    monkeypatch.setattr(engine, "_blas", Libraries)
    monkeypatch.setattr(engine, "Thread", Interrupted)
    with pytest.raises(RuntimeError, match="^time is up$"):
        LOOPS[loop]()
    for thread in started:
        thread.join(60)


@pytest.mark.skipif(sys.platform != "linux", reason="others may refuse the size itself")
@pytest.mark.parametrize("loop", LOOPS)
def test_where_the_system_refuses_threads_the_caller_works_alone(loop, small, monkeypatch):
    monkeypatch.setattr(engine, "_blas", Libraries)
    before = threading.stack_size(2**62)  # more than there is, so that Python itself raises
    try:
        with pytest.raises(RuntimeError):
            threading.Thread(target=print).start()
        LOOPS[loop]()
    finally:
        threading.stack_size(before)


FORKED = """
import os, sys, threadpoolctl
from attention.arrays.blocks import each, one_blas_thread

def threads():
    found = threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers
    return [library.num_threads for library in found]

before = threads()
with one_blas_thread():
    child = os.fork()
    if not child:
        with one_blas_thread() as number:
            inside = threads()
        as_before = threads() == before and set(inside) <= {1} and number == max(before, default=1)
        os._exit(0 if as_before else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_process_forked_while_blas_is_held_has_it_as_it_was_before():
    pytest.importorskip("threadpoolctl", reason="it tells how many threads BLAS has")
    assert subprocess.run([sys.executable, "-c", FORKED], timeout=60).returncode == 0


def blas_threads():
    threadpoolctl = pytest.importorskip(
        "threadpoolctl", reason="it tells how many threads BLAS has"
    )
    found = [entry for entry in threadpoolctl.threadpool_info() if entry["user_api"] == "blas"]
    return [entry["num_threads"] for entry in found] or pytest.skip("a BLAS that it does not know")


@pytest.mark.parametrize("fails", [False, True])
def test_blas_has_one_thread_in_a_block_and_as_many_as_before_afterwards(small, fails):
    before, inside = blas_threads(), []

    def work(block):
        inside.append(blas_threads())
        if fails:
            raise LookupError

    if fails:
        with pytest.raises(LookupError):
            each(work, (4, 1))
    else:
        each(work, (4, 1))
    assert all(set(numbers) == {1} for numbers in inside)
    assert blas_threads() == before


def test_one_caller_at_a_time_holds_blas_and_puts_it_back_while_others_are_at_work():
    before = blas_threads()
    entered, leave, numbers = threading.Event(), threading.Event(), []

    def other():
        with one_blas_thread() as number:
            numbers.append(number)
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=other)
    with one_blas_thread() as first:
        thread.start()
        assert entered.wait(30)
        assert set(blas_threads()) == {1}
    assert blas_threads() == before  # though the other is still inside
    with one_blas_thread() as third:
        assert third == first == max(before)
    leave.set()
    thread.join(30)
    assert numbers == [1]  # it works alone
    assert blas_threads() == before


def test_where_another_limit_is_in_force_the_caller_works_alone(monkeypatch):
    class Deaf(Libraries):
        @contextmanager
        def limit(self, limits):
            yield

    monkeypatch.setattr(engine, "_blas", Deaf)
    with one_blas_thread() as number:
        assert number == 1


# ---- processors ----------------------------------------------------------------------------------


def processors():
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


AT_FIRST = processors()


@pytest.fixture
def two(monkeypatch):
    """Two threads, where there are processors for them."""
    if len(AT_FIRST) < 2:
        pytest.skip("threads keep apart where Linux says which of several processors run them")
    monkeypatch.setattr(Libraries, "most", 2)
    monkeypatch.setattr(engine, "_blas", Libraries)


@pytest.mark.parametrize("fails", [False, True])
def test_each_thread_has_processors_of_its_own_and_the_caller_all_afterwards(small, two, fails):
    assert processors() == AT_FIRST  # after all tests before
    both, inside = threading.Barrier(2), {}

    def work(block):
        both.wait(30)  # each thread has a block
        inside[threading.current_thread()] = processors()
        if fails:
            raise LookupError

    if fails:
        with pytest.raises(LookupError):
            each(work, (4, 1))
    else:
        each(work, (4, 1))
    one, other = inside.values()
    assert one and other and not one & other and one | other <= AT_FIRST
    assert threading.main_thread() in inside
    assert processors() == AT_FIRST


def test_where_others_code_is_called_threads_run_wherever_they_might_before(two):
    inside = []
    engine.share_out(lambda _: processors(), range(9), lambda _, found: inside.append(found))
    assert set(inside) == {AT_FIRST}


def test_a_system_that_forbids_to_keep_apart_changes_nothing(small, two, monkeypatch):
    asked = []

    def refuse(*processors):
        asked.append(processors)
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    assert each(lambda block: block.rows.start, (9, 1)) == [0, 1, 3, 5, 7]
    assert asked


# ---- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [(), (4,)])
def test_the_peak_is_below_one_score_matrix_beyond_the_stages_kept(lead):
    Q, K, V = three(1024, 1024, 8, 8, lead, "f4")
    see = np.tri(1024, dtype=bool)
    tracemalloc.start()
    try:
        trace = scaled_dot_product_attention(Q, K, V, allowed=see)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 5 * trace.scores.nbytes


BETWEEN = {
    "softcap": {"softcap": 3.0},
    "softcap beyond float32": {"softcap": 1e300},
    "sigmoid": {"softmax": "sigmoid"},
    "softcap and sigmoid": {"softcap": 3.0, "softmax": "sigmoid"},
    "none": {"softmax": False},
    "in float64": {"softmax": softmax_in("f8")},
    "in float16": {"softmax": softmax_in("f2")},
}


@pytest.mark.parametrize("n", [512, 1024])
@pytest.mark.parametrize("option", BETWEEN)
def test_no_step_between_scores_and_weights_takes_a_score_matrix_beyond_the_stages(option, n):
    Q, K, V = three(n, n, 8, 8, (), "f4")
    tracemalloc.start()
    try:
        trace = scaled_dot_product_attention(Q, K, V, **BETWEEN[option])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    stages = [getattr(trace, name) for name in ("scores", "scaled", "capped", "masked", "weights")]
    assert peak - sum(M.nbytes for M in stages if M is not None) <= trace.scores.nbytes


@pytest.mark.parametrize("dtype", ["f4", "f8", "longdouble"])
@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_a_soft_cap_is_that_of_each_score_in_at_least_float64_to_the_bit(dtype, lead):
    Q, K, V = three(300, 70, 4, 2, lead, dtype)
    for cap in (0.7, 1e300):
        trace = scaled_dot_product_attention(Q, K, V, softcap=cap)
        wide = trace.scaled.astype(np.result_type(dtype, "f8"))
        expected = (np.tanh(wide / cap) * cap).astype(dtype)
        assert np.array_equal(trace.capped, expected)
        assert trace.capped.flags.c_contiguous


@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_a_softmax_in_another_type_is_that_of_each_row_by_itself_to_the_bit(lead):
    Q, K, V = three(300, 70, 4, 2, lead, "f4")
    see = draw((300, 70), 9) > 0
    trace = scaled_dot_product_attention(Q, K, V, allowed=see, softmax=softmax_in("f8"))
    for at in np.ndindex(*lead, 300):
        row = trace.masked[at].astype("f8")
        grown = np.exp(row - row.max())
        assert np.array_equal(trace.weights[at], (grown / grown.sum()).astype("f4"))


@pytest.mark.parametrize("lead", [(), (2,)])
def test_one_nan_in_a_value_takes_no_more_memory_than_the_scores(lead):
    Q, K, V = three(300, 300, 8, 64, lead)
    V[..., 7, 3] = nan
    tracemalloc.start()
    try:
        trace = scaled_dot_product_attention(Q, K, V, allowed=np.tri(300, dtype=bool))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * trace.scores.nbytes


def test_stages_in_pieces_of_memory_of_their_own_are_the_same_to_the_bit(monkeypatch):
    Q, K, V = np.random.default_rng(3).standard_normal((3, 2, 1500, 4))
    usual = scaled_dot_product_attention(Q, K, V)
    monkeypatch.setattr(engine, "SHARED", 0)
    apart = scaled_dot_product_attention(Q, K, V)
    for name in ("scores", "scaled", "masked", "weights", "output"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(usual, name))
        assert not getattr(apart, name).flags.writeable
