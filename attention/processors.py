"""Threads that share work, each on processors of its own.

Linux starts a thread beside its maker, and wakes one that waited for Python's lock beside the one
that let go of it, while another processor is idle: it notices after some milliseconds, in which a
map of 2,048 tokens could be done. So for as long as it takes, each thread keeps to its share. That
is for work that calls nobody's code but ours: a process or thread begun meanwhile would inherit it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

Share = frozenset[int]  # processors by number; none: wherever the system likes
STAT = "/proc/thread-self/stat"  # "number (name) state …": the 39th field is the processor


def shares(threads: int) -> list[Share]:
    """Processors for so many threads, the first of them the caller's, which stays where it is.

    Empty shares where the system does not tell, or where there are fewer processors than threads.

    >>> len(shares(1000))
    1000
    """
    here = _here()
    if here is None or threads < 2:
        return [Share()] * threads
    others = sorted(os.sched_getaffinity(0) - {here})
    if len(others) < threads - 1:
        return [Share()] * threads
    return [Share({here}), *(Share(others[k :: threads - 1]) for k in range(threads - 1))]


def _here() -> int | None:
    """The processor that runs this thread, where Linux says so."""
    try:
        with open(STAT) as file:
            return int(file.read().rpartition(")")[2].split()[36])
    except (OSError, ValueError, IndexError):
        return None


@contextmanager
def keeping_to(share: Share) -> Iterator[None]:
    """Keep this thread to its share; then it may run again wherever it might before."""
    if not share:
        yield
        return
    before = os.sched_getaffinity(0)
    with suppress(OSError):  # a sandbox may forbid it, and a processor may be taken away
        os.sched_setaffinity(0, share & before)
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, before)
