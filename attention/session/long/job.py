"""Work of seconds or minutes beside the page: how far it is, what came of it, and an end to it.

One of seconds and one of minutes run at a time in a process: so many people share its processors in
turn, and nobody waits for minutes to see seconds of work. Whoever lets go of a job ends it.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Any

TURN, QUICK = Lock(), Lock()  # of the one that runs
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
    """``work(progress=…, cancelled=…)`` in a thread of its own; a quick one has a turn of its own.

    >>> job = Job(lambda progress, cancelled: progress(1, 2) or "done")
    >>> job.wait(5), job.result, job.share
    (True, 'done', 0.5)
    """

    def __init__(self, work: Callable[..., Any], quick: bool = False) -> None:
        self._told = _Told()
        asked = work, self._told, QUICK if quick else TURN
        Thread(target=_run, args=asked, daemon=True).start()
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


def sentence_of(problem: Exception) -> str:
    """Why nothing could be computed.

    >>> sentence_of(MemoryError()), sentence_of(ValueError("Q has no tokens."))
    ('this server does not have enough memory for this many tokens.', 'Q has no tokens.')
    """
    if isinstance(problem, MemoryError):
        return "this server does not have enough memory for this many tokens."
    if isinstance(problem, (ValueError, TypeError, RuntimeError)):
        return str(problem)
    return f"it could not be computed ({type(problem).__name__})."


def _run(work: Callable[..., Any], told: _Told, turn: Lock) -> None:
    """In its turn; nothing it holds outlives it."""
    while not turn.acquire(timeout=IMPATIENT):
        if told.cancelled.is_set():
            told.over.set()
            return
    try:
        told.began = time.monotonic()
        if not told.cancelled.is_set():
            told.result = work(progress=told.heard, cancelled=told.cancelled.is_set)
    except CancelledError:
        pass
    except Exception as problem:
        told.problem = sentence_of(problem)
    finally:
        told.ended = time.monotonic()
        turn.release()
        told.over.set()
