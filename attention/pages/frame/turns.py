"""Short runs of the pages one after another.

Python computes in one thread at a time. Runs that share it all end late: of five of 30 ms that came
together each would take 150 ms. In turns the first takes 30 ms, and only the last 150.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

SHORT = 0.1  # seconds; beside a run that takes longer others begin
_TURN = Lock()
_began = 0.0  # when the run that has the turn did


@contextmanager
def turn() -> Iterator[None]:
    """Wait for the runs of other visitors, but for no long one."""
    global _began
    while not (held := _TURN.acquire(timeout=max(_left(), 0))) and _left() > 0:
        pass  # another run has the turn by now
    if held:
        _began = time.monotonic()
    try:
        yield
    finally:
        if held:
            _TURN.release()


def _left() -> float:
    """Seconds until the run that has the turn is a long one."""
    return _began + SHORT - time.monotonic()
