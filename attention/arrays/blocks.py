"""A loop over blocks of whole rows, on as many threads as BLAS has.

A row of scores needs every key but no other row. So a map of (…, n_q, n_k) cells is cut into
blocks of rows that fit into a core's cache; each goes through all stages in turn, and several
are worked on at a time:

1. :func:`blocks` cuts the shape; a small one stays whole.
2. :func:`share_out` calls a function for every block, while BLAS is held to one thread;
   :func:`each` gives what it returned.
3. :func:`in_blocks` does so with a formula of attention and gives its stages whole.

Holding BLAS needs the package threadpoolctl. Without it, or where it does not know the BLAS at
hand, the blocks are worked on one after the other, and BLAS keeps its threads.

A product of matrices may round otherwise for a block than for the whole, as BLAS chooses its order
of adding by the shape: the stages agree to the bound of a floating sum, not to the bit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from itertools import islice, pairwise, product
from queue import Empty, SimpleQueue
from threading import Lock, Thread, get_native_id
from typing import Any, NamedTuple, TypeVar

import numpy as np

from attention.arrays.processors import Share, keep_to, processors_of, shares

CELLS = 2**18  # in a block: a megabyte for each of its stages in float32
ROWS = 128  # in a block where there are as many, however many keys: fewer make products slow
SHARED = 2**23  # bytes of a stage up to which it shares its memory with the others

_HOLD = Lock()  # of the caller who holds BLAS
_LIMITS: list[Any] = []  # of the caller who holds BLAS, by threadpoolctl
S = TypeVar("S")
T = TypeVar("T")
Stages = dict[str, np.ndarray]


class Block(NamedTuple):
    """Whole rows of a map (…, n_q, n_k): a slice for each leading axis, one for the queries."""

    lead: tuple[slice, ...]
    rows: slice

    def rows_of(self, M: np.ndarray) -> np.ndarray:
        """Return the block's rows of a matrix with one row per query, (…, n_q, columns): a view."""
        place: tuple[Any, ...] = (..., *self.lead, self.rows, slice(None))
        return np.asarray(M[place])

    def all_of(self, M: np.ndarray) -> np.ndarray:
        """Return all rows of a matrix such as K, (…, n_k, columns), for these items: a view."""
        place: tuple[Any, ...] = (..., *self.lead, slice(None), slice(None))
        return np.asarray(M[place])


def blocks(shape: tuple[int, ...], room: int | None = None) -> list[Block]:
    """Return the blocks of a map (…, n_q, n_k), in row order; small leading items share one.

    ``room`` is how many rows one may hold. Default: as many as a thread computes in one go.

    >>> [block.rows for block in blocks((4096, 2**17))][:2]
    [slice(0, 128, None), slice(128, 256, None)]
    >>> blocks((8, 4, 4))
    [Block(lead=(slice(None, None, None),), rows=slice(None, None, None))]
    """
    axes, room = [], rows_at_once(shape[-1]) if room is None else room
    for size in reversed(shape[:-1]):
        axes.append(pieces(size, room))
        room = max(1, room // max(1, size))
    return [Block(tuple(lead), rows) for *lead, rows in product(*reversed(axes))]


def rows_at_once(n_k: int) -> int:
    """Return how many rows of n_k cells one block holds at most."""
    return max(ROWS, CELLS // max(1, n_k))


def pieces(size: int, most: int) -> list[slice]:
    """Split an axis into the fewest slices of at most ``most``, of about equal size.

    An axis that fits into one is ``:``.

    >>> pieces(5, 2)
    [slice(0, 1, None), slice(1, 3, None), slice(3, 5, None)]
    """
    number = -(-size // most)
    if number <= 1:
        return [slice(None)]
    return [slice(*ends) for ends in pairwise(size * k // number for k in range(number + 1))]


def each(work: Callable[[Block], T], shape: tuple[int, ...]) -> list[T]:
    """Call ``work(block)`` for every block of a map (…, n_q, n_k); return the results in order.

    ``work`` must call no code but this package's own.

    >>> each(lambda block: block.rows.stop, (384, 2**17))
    [128, 256, 384]
    """
    places = blocks(shape)
    if len(places) == 1:
        return [work(places[0])]
    results: dict[int, T] = {}
    _uninterrupted(
        lambda end, idle: share_out(work, places, results.__setitem__, cancelled=end, idle=idle)
    )
    return [results[number] for number in range(len(places))]


class Idle:
    """A thread that waits for a loop in a separate thread, and helps when it is asked.

    Ctrl-C may end its work at any point, so the loop's thread chooses its processors and restores
    them: :meth:`start` and :meth:`join` are called there, as those of a Thread.
    """

    def __init__(self) -> None:
        self._number, self._before = get_native_id(), Share()
        self._orders: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._here = Lock()  # held by the waiting thread until it can take no more orders

    def help(self, loop: Thread) -> bool:
        """Start the thread of the loop, and do what it asks for, at most once.

        Return False if no thread can be started.
        """
        with self._here:
            if not _starts(loop):  # may be interrupted while the loop is at work
                return False
            if (order := self._orders.get()) is not None:
                order()
        return True

    def start(self, work: Callable[[], object], share: Share) -> None:
        self._before = processors_of(self._number)
        keep_to(share, self._number)
        self._orders.put(work)

    def join(self) -> None:
        with self._here:
            keep_to(self._before, self._number)

    def leave(self) -> None:
        """Ask for nothing more."""
        self._orders.put(None)


def _uninterrupted(loop: Callable[[Callable[[], bool], Idle | None], None]) -> None:
    """Run ``loop(end, idle)`` in a separate thread; it calls end() to learn whether it should stop.

    Ctrl-C and other signals reach only the caller's thread, which waits and may help: so BLAS and
    the processors are always restored. If no thread can be started, the caller runs the loop
    itself.

    A plain ``ThreadPoolExecutor`` in the place of all this took 1.20 times as long at one head of
    1,024 tokens, 1.06 at 2,048 and 1.01 at eight heads of 1,024: medians of 36 or more turns on two
    processors, both warm.
    """
    ends, errors = list[bool](), list[BaseException]()
    begins = Lock()  # taken by the loop, or by a caller interrupted before the loop began
    works = Lock()  # until the loop has ended: an Event whose wait() is interrupted may stay locked
    works.acquire()

    def run(idle: Idle | None) -> None:
        if not begins.acquire(blocking=False):
            return
        try:
            loop(lambda: bool(ends), idle)
        except BaseException as error:
            errors.append(error)
        finally:
            works.release()
            if idle is not None:
                idle.leave()

    idle = Idle()
    try:
        if not idle.help(_thread(run, idle)):
            run(None)
        with works:  # join() of an interrupted caller takes a thread that goes on for ended
            pass
    finally:
        ends.append(True)
        if not begins.acquire(blocking=False):
            with works:
                pass
    if errors:
        raise errors[0]


def _thread(work: Callable[..., object], *arguments: object) -> Thread:
    """Return a thread, not yet started, that calls ``work`` in a copy of the caller's context."""
    context, errors = copy_context(), np.geterr()

    def run() -> None:
        with np.errstate(**errors):  # NumPy 1 keeps it by thread, not in the context
            context.run(work, *arguments)

    return Thread(target=run)


def _starts(thread: Thread) -> bool:
    """Start a thread; return False if the system refuses it."""
    try:
        thread.start()
    except RuntimeError as error:
        if "new thread" not in str(error):  # Python's words; a signal handler has others
            raise
        return False
    return True


def share_out(
    work: Callable[[S], T],
    items: Sequence[S],
    take: Callable[[int, T], None],
    *,
    executor: Any = None,
    ahead: int | None = None,
    named: Callable[[S], str] | None = None,
    progress: Callable[[int, int], object] | None = None,
    cancelled: Callable[[], object] | None = None,
    idle: Idle | None = None,
) -> None:
    """Call ``take(number, work(item))`` for every item, one at a time, as the items end.

    Several calls of ``work`` run at the same time, with BLAS on one thread: in threads, each in a
    copy of the caller's context (``np.errstate``), or in an ``executor``, which holds at most
    ``ahead`` items at a time. The first error ends the loop and is raised here; items that have not
    begun are left out. With ``named``, it becomes a sentence that names the item, except for a
    MemoryError, which is no single item's fault.

    ``progress(done, total)`` and ``cancelled()`` are called in the thread that calls this function,
    between items. With ``idle``, all code called is this package's own, and the thread that waits
    works too: each thread then has its own processors.

    Raises
    ------
    concurrent.futures.CancelledError
        If ``cancelled()`` returns true.
    """
    watch = _Watch(len(items), progress, cancelled)

    def failed(item: S, error: BaseException) -> BaseException:
        if named is None or not isinstance(error, Exception) or isinstance(error, MemoryError):
            return error
        said = ", ".join(filter(None, [type(error).__name__, _first_line(error)]))
        told = RuntimeError(f"{named(item)} failed: {said}.")
        told.__cause__ = error
        return told

    watch.look()
    with one_blas_thread() as threads:
        if executor is None:
            _by_threads(work, items, take, watch, failed, threads, idle)
        else:
            _by_executor(work, items, take, watch, failed, executor, ahead or _ahead(executor))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


class _Watch:
    """The progress of a loop, reported to its caller, who may end it."""

    def __init__(
        self,
        total: int,
        progress: Callable[[int, int], object] | None,
        cancelled: Callable[[], object] | None,
    ) -> None:
        self.done, self.told, self.total = 0, -1, total
        self.progress, self.cancelled = progress, cancelled

    def look(self) -> None:
        if self.cancelled is not None and self.done < self.total and self.cancelled():
            raise CancelledError(f"cancelled after {self.done:,} of {self.total:,} blocks.")
        if self.progress is not None and self.done != self.told:
            self.told = self.done
            self.progress(self.told, self.total)


Failed = Callable[[Any, BaseException], BaseException]


def _by_threads(
    work: Callable[[S], T],
    items: Sequence[S],
    take: Callable[[int, T], None],
    watch: _Watch,
    failed: Failed,
    threads: int,
    idle: Idle | None,
) -> None:
    """Let this thread and its helpers take one item after the other, until none is left.

    It works too, so that nothing waits for a thread that a busy machine has yet to start.
    """
    turns, lock = iter(enumerate(items)), Lock()
    errors: list[BaseException] = []

    def take_turns(look: Callable[[], None] = lambda: None) -> None:
        try:
            while not errors:
                look()
                with lock:
                    turn = next(turns, None)
                if turn is None:
                    break
                number, item = turn
                try:
                    result = work(item)
                except BaseException as error:
                    errors.append(failed(item, error))
                    break
                with lock:
                    take(number, result)
                    watch.done += 1
        except BaseException as error:  # of a helper too: raised below
            errors.append(error)

    def help_on(share: Share) -> None:
        keep_to(share)
        take_turns()

    number = max(1, min(threads, len(items)))
    mine, *others = [Share()] * number if idle is None else shares(number)
    helpers: list[Idle | Thread] = []
    if idle is not None and others:
        idle.start(take_turns, others.pop())
        helpers.append(idle)
    try:
        for share in others:
            thread = _thread(help_on, share)
            if _starts(thread):  # else those that there are do more
                helpers.append(thread)
    except BaseException as error:  # no helper goes on once it is raised
        errors.append(error)
    keep_to(mine)
    take_turns(watch.look)
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]
    watch.look()


def _by_executor(
    work: Callable[[S], T],
    items: Sequence[S],
    take: Callable[[int, T], None],
    watch: _Watch,
    failed: Failed,
    executor: Any,
    ahead: int,
) -> None:
    """Keep so many items in the executor's hands, until all have come back."""
    turns = iter(enumerate(items))
    ended: SimpleQueue[Any] = SimpleQueue()
    waiting: dict[Any, tuple[int, S]] = {}

    def hand_over(most: int) -> None:
        for number, item in islice(turns, most):
            future = executor.submit(_with_one_thread, work, item)
            waiting[future] = number, item
            future.add_done_callback(ended.put)

    try:
        hand_over(ahead)
        while waiting:
            try:
                future = ended.get(timeout=0.1)
            except Empty:
                watch.look()
                continue
            number, item = waiting.pop(future)
            if (error := future.exception()) is not None:
                raise failed(item, error)
            take(number, future.result())
            watch.done += 1
            watch.look()
            hand_over(1)
    finally:
        for future in waiting:
            future.cancel()


def _with_one_thread(work: Callable[[S], T], item: S) -> T:
    """Call ``work(item)`` with BLAS on one thread: a worker process has its own BLAS."""
    with one_blas_thread():
        return work(item)


def _ahead(executor: Any) -> int:
    """Return twice the executor's number of workers, or twice the cores where it is unknown."""
    workers = getattr(executor, "_max_workers", None)
    return 2 * (workers if isinstance(workers, int) else max(2, os.cpu_count() or 1))


def in_blocks(
    formula: Callable[..., Stages],
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    allowed: np.ndarray,
    bias: np.ndarray | None,
    sinks: np.ndarray | None = None,
) -> Stages:
    """Compute the stages of ``formula``, a block of rows at a time for a large map.

    It is called as ``formula(Q, K, V, allowed, bias, sinks, out)``.

    1. A map of one block is computed in one call.
    2. For a larger one, a call with no rows at all shows which stages there are, and memory is
       allocated for all their rows.
    3. Each block's rows are then computed, into their place.

    ``allowed`` has the shape of the scores, (…, n_q, n_k); the others broadcast to it, and
    ``sinks`` to (…, n_q, 1). The formula returns arrays with a row for each query,
    (…, n_q, columns), by name; each row may depend on its own query only. ``out`` holds the arrays
    that it writes them to, by the same names. For a small map it is empty.
    """
    shape = allowed.shape
    if math.prod(shape[:-1]) <= rows_at_once(shape[-1]):
        return formula(Q, K, V, allowed, bias, sinks, {})
    lead = (*shape[:-2], 1, 1)
    Q, K, V = (np.broadcast_to(M, np.broadcast_shapes(M.shape, lead)) for M in (Q, K, V))
    bias = None if bias is None else np.broadcast_to(bias, shape)
    sinks = None if sinks is None else np.broadcast_to(sinks, (*shape[:-1], 1))

    def of_queries(rows: Callable[[np.ndarray], np.ndarray]) -> tuple:
        return rows(Q), *(None if M is None else rows(M) for M in (allowed, bias, sinks))

    no_q, *no_rows = of_queries(lambda M: M[..., :0, :])
    stages = _room(formula(no_q, K, V, *no_rows, {}), shape[-2])

    def fill(block: Block) -> None:
        out = {name: block.rows_of(stage) for name, stage in stages.items()}
        q, *rows = of_queries(block.rows_of)
        formula(q, block.all_of(K), block.all_of(V), *rows, out)

    each(fill, shape)
    return stages


def _room(no_row: Stages, n_q: int) -> Stages:
    """Return empty arrays of n_q rows for stages whose arrays of no row are given.

    Stages of one shape share one piece of memory while they are small: the system allocates memory
    in large pages, and the odd ends of four pieces cost more than the computation at 1,024 tokens.
    """
    alike: dict[tuple[tuple[int, ...], np.dtype], list[str]] = {}
    for name, M in no_row.items():
        alike.setdefault(((*M.shape[:-2], n_q, M.shape[-1]), M.dtype), []).append(name)
    stages: Stages = {}
    for (shape, dtype), names in alike.items():
        together = math.prod(shape) * dtype.itemsize <= SHARED
        pieces = (
            np.empty((len(names), *shape), dtype)
            if together
            else (np.empty(shape, dtype) for _ in names)
        )
        stages |= zip(names, pieces, strict=True)
    return stages


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Hold BLAS to one thread; gives how many it had, for as many threads of Python.

    The number belongs to the whole process, so one caller at a time holds it, and puts it back in
    the end, also after an error. 1 comes where it cannot be held: without threadpoolctl, while
    another caller holds it, or where a limit of the caller's own program is in force.
    """
    libraries = _blas()
    if libraries is None or not _HOLD.acquire(blocking=False):
        yield 1
        return
    try:
        held = libraries.lib_controllers
        before = max((library.num_threads for library in held), default=1)
        with libraries.limit(limits=1) as limit:
            _LIMITS.append(limit)
            yield before if all(library.num_threads == 1 for library in held) else 1
    finally:
        _LIMITS.clear()
        _HOLD.release()


def _let_go() -> None:
    """Restore BLAS after a fork: the thread that limited it does not exist in the child."""
    global _HOLD
    _HOLD = Lock()
    for limit in _LIMITS:
        limit.restore_original_limits()
    _LIMITS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@cache
def _blas() -> Any:
    """Return threadpoolctl's controller of the BLAS libraries, or None if it is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")
