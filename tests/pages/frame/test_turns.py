"""Short runs wait for one another, and no run for a long one."""

from threading import Event, Thread

import pytest

from attention.pages.frame import turns
from attention.pages.frame.turns import turn


class Run(Thread):
    """A run that takes its turn and goes on until it is let."""

    def __init__(self, said: list[str], name: str) -> None:
        super().__init__(daemon=True)
        self.said, self.called = said, name
        self.began, self.let = Event(), Event()
        self.start()

    def run(self) -> None:
        with turn():
            self.said.append(f"{self.called} begins")
            self.began.set()
            self.let.wait(30)
            self.said.append(f"{self.called} ends")


def test_a_run_waits_for_a_short_one(monkeypatch):
    monkeypatch.setattr(turns, "SHORT", 30)
    said: list[str] = []
    first = Run(said, "first")
    assert first.began.wait(30)
    second = Run(said, "second")
    second.let.set()
    assert not second.began.wait(0.05)
    first.let.set()
    second.join(30)
    assert said == ["first begins", "first ends", "second begins", "second ends"]


def test_nobody_waits_for_a_long_run(monkeypatch):
    monkeypatch.setattr(turns, "SHORT", 0.01)
    said: list[str] = []
    long = Run(said, "long")
    assert long.began.wait(30)
    for name in ("one", "other"):
        beside = Run(said, name)
        beside.let.set()
        beside.join(30)
    assert said == ["long begins", "one begins", "one ends", "other begins", "other ends"]
    long.let.set()
    long.join(30)


def test_a_run_that_fails_gives_its_turn_back(monkeypatch):
    monkeypatch.setattr(turns, "SHORT", 30)
    with pytest.raises(ZeroDivisionError), turn():
        1 / 0  # noqa: B018
    last = Run([], "last")
    last.let.set()
    last.join(30)
    assert not last.is_alive()
