"""Threads that share work, each on its own processors.

Linux starts a thread next to its maker, and wakes one that waited for Python's lock next to the one
that released it, while another processor is idle: it notices after some milliseconds, in which a
map of 2,048 tokens could be done. So each thread keeps to its share: on two idle processors one
head of 2,048 tokens then took 10 ms in place of 14 (benchmarks/README.md). They are threads of our
own, which end with the work and call nobody's code, or the caller's, which gets all of its
processors back: a process or thread that they begin would inherit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache

Share = frozenset[int]  # processors by number; none: wherever the system likes


def shares(threads: int) -> list[Share]:
    """Return the processors for each of ``threads`` threads.

    The first share is the processor that the caller's thread runs on. All are empty where the
    system does not tell, or has fewer processors than threads.

    >>> len(shares(1000))
    1000
    """
    here = _here()
    if here is None or threads < 2:
        return [Share()] * threads
    others = sorted(processors_of(0) - {here})
    if len(others) < threads - 1:
        return [Share()] * threads
    return [Share({here}), *(Share(others[k :: threads - 1]) for k in range(threads - 1))]


def _here() -> int | None:
    """Return the processor that runs this thread, or None where the system does not tell."""
    ask = _getcpu()
    return None if ask is None or (number := ask()) < 0 else int(number)


@cache
def _getcpu() -> Callable[[], int] | None:
    """Return the C library's function: to read a file of /proc takes a tenth of a millisecond."""
    try:
        from ctypes import PyDLL

        return PyDLL(None).sched_getcpu
    except (ImportError, OSError, TypeError, AttributeError):
        return None


def processors_of(thread: int) -> Share:
    """Return the processors that a thread of this number may run on; none: not known."""
    try:
        return Share(os.sched_getaffinity(thread))
    except (OSError, AttributeError):
        return Share()


def keep_to(share: Share, thread: int = 0) -> None:
    """Keep a thread of this number, or the one that calls, to its share."""
    if share:
        with suppress(OSError):  # a sandbox may forbid it, and a processor may be taken away
            os.sched_setaffinity(thread, share)
