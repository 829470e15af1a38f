"""Threads that share work, each on its own processors.

Linux starts a thread next to its maker, and wakes one that waited for Python's lock next to the one
that released it, while another processor is idle: it notices after some milliseconds, in which a
map of 2,048 tokens could be done. So each thread keeps to its share: on two idle processors one
head of 2,048 tokens then took 10 ms in place of 14 (benchmarks/README.md). They are threads of our
own, which end with the work and call nobody's code: a process or thread that they begin would
inherit it.
"""

from __future__ import annotations

import os
from contextlib import suppress

Share = frozenset[int]  # processors by number; none: wherever the system likes
STAT = "/proc/thread-self/stat"  # "number (name) state …": the 39th field is the processor


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
    try:
        others = sorted(os.sched_getaffinity(0) - {here})
    except OSError:
        return [Share()] * threads
    if len(others) < threads - 1:
        return [Share()] * threads
    return [Share({here}), *(Share(others[k :: threads - 1]) for k in range(threads - 1))]


def _here() -> int | None:
    """Return the processor that runs this thread, or None where the system does not tell."""
    try:
        with open(STAT) as file:
            return int(file.read().rpartition(")")[2].split()[36])
    except (OSError, ValueError, IndexError):
        return None


def keep_to(share: Share) -> None:
    """Keep this thread, which is ours and ends with the work, to its share."""
    if share:
        with suppress(OSError):  # a sandbox may forbid it, and a processor may be taken away
            os.sched_setaffinity(0, share)
