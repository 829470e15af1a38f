"""Work of seconds or minutes beside the page: how far it is, what came of it, and an end to it.

One runs at a time in a process, so that many people share its processors in turn. Whoever lets go
of a job ends it.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Any

from attention.limits import BadInput

TURN = Lock()  # of the one that runs
IMPATIENT = 0.2  # seconds after which one that waits looks whether it was cancelled


@dataclass
class _Told:
    """What the thread knows; the job itself may be gone meanwhile."""

    cancelled: Event = field(default_factory=Event)
    over: Event = field(default_factory=Event)
    began: float = 0.0  # 0: it waits for its turn
    ended: float = 0.0
    done: int = 0
    total: int = 0
    result: Any = None
    problem: str = ""

    def heard(self, done: int, total: int) -> None:
        self.done, self.total = done, total


class Job:
    """``work(progress=…, cancelled=…)`` in a thread of its own.

    >>> job = Job(lambda progress, cancelled: progress(1, 2) or "done")
    >>> job.wait(5), job.result, job.share
    (True, 'done', 0.5)
    """

    def __init__(self, work: Callable[..., Any]) -> None:
        self._told = _Told()
        Thread(target=_run, args=(work, self._told), daemon=True).start()
        weakref.finalize(self, self._told.cancelled.set)

    def cancel(self) -> None:
        self._told.cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it is over within that time."""
        return self._told.over.wait(seconds)

    @property
    def is_over(self) -> bool:
        return self._told.over.is_set()

    @property
    def is_waiting(self) -> bool:
        """Whether another job has its turn."""
        return not self._told.began and not self.is_over

    @property
    def was_cancelled(self) -> bool:
        return self.is_over and self.result is None and not self.problem

    @property
    def result(self) -> Any:
        return self._told.result

    @property
    def problem(self) -> str:
        """A sentence, where it failed."""
        return self._told.problem

    @property
    def share(self) -> float:
        return self._told.done / self._told.total if self._told.total else 0.0

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        told = self._told
        return (told.ended or time.monotonic()) - told.began if told.began else 0.0

    @property
    def left(self) -> float | None:
        """Seconds that are left, by what is done; None until that can be said."""
        share = self.share
        return self.seconds * (1 - share) / share if share >= 0.02 else None


def _run(work: Callable[..., Any], told: _Told) -> None:
    """In its turn; nothing it holds outlives it."""
    while not TURN.acquire(timeout=IMPATIENT):
        if told.cancelled.is_set():
            told.over.set()
            return
    try:
        told.began = time.monotonic()
        if not told.cancelled.is_set():
            told.result = work(progress=told.heard, cancelled=told.cancelled.is_set)
    except CancelledError:
        pass
    except (BadInput, ValueError, TypeError, RuntimeError) as problem:
        told.problem = str(problem)
    except MemoryError:
        told.problem = "there is not memory enough on this server for this many tokens."
    finally:
        told.ended = time.monotonic()
        TURN.release()
        told.over.set()
