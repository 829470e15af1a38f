"""Shares of processors for threads that keep apart."""

import os

import pytest

from attention.arrays import processors
from attention.arrays.processors import shares


@pytest.fixture
def eight(monkeypatch):
    """A system with processors 3 to 10, of which the caller runs on number 4."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(3, 11)), raising=False)
    monkeypatch.setattr(processors, "_here", lambda: 4)


@pytest.mark.parametrize("threads", [2, 3, 5, 8])
def test_the_shares_are_all_processors_each_in_one_and_the_first_where_the_caller_is(
    eight, threads
):
    found = shares(threads)
    assert found[0] == {4} and len(found) == threads and all(found)
    assert sorted(number for share in found for number in share) == list(range(3, 11))


@pytest.mark.parametrize("threads", [1, 9])
def test_one_thread_and_more_than_there_are_processors_run_wherever_the_system_likes(
    eight, threads
):
    assert shares(threads) == [frozenset()] * threads


@pytest.mark.parametrize("told", [None, lambda: -1])
def test_where_the_system_does_not_tell_threads_run_wherever_it_likes(monkeypatch, told):
    monkeypatch.setattr(processors, "_getcpu", lambda: told)
    assert shares(2) == [frozenset()] * 2


def test_the_processor_of_a_thread_is_the_one_it_keeps_to():
    before = processors.processors_of(0)
    if not before or processors._getcpu() is None:
        pytest.skip("the system does not tell the processors of a thread")
    try:
        for number in before:
            processors.keep_to(frozenset({number}))
            assert processors._here() == number
    finally:
        processors.keep_to(before)
    assert processors.processors_of(0) == before


def test_the_processors_of_a_thread_that_has_ended_are_not_known():
    assert processors.processors_of(2**22 + 1) == frozenset()  # above the largest number of Linux
