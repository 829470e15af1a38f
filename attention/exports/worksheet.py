"""Worksheets of a state, or of a class: sheets with numbers of their own, made by seed."""

from __future__ import annotations

from dataclasses import dataclass

from attention import program
from attention.explain.worksheet import Worksheet, worksheet
from attention.html.worksheet import to_html
from attention.limits import MAX_EXERCISE, MAX_SHEETS, BadInput
from attention.session.edit.changes import sentence_of
from attention.session.state.about import what_it_is
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.session.teach.by_hand import made, next_seed

MIME = "text/html"
TITLE = "Attention by hand"


@dataclass(frozen=True)
class Wanted:
    """What is asked for: the sheet of a state, or a set for a class."""

    first: str = "Q"  # the stage from which on all is left empty
    with_key: bool = True
    sheets: int = 0  # of a class; 0 for that of the state
    seed: int = 1  # of its first sheet; each of the others has the next one

    def __post_init__(self) -> None:
        if not 0 <= self.sheets <= MAX_SHEETS:
            raise BadInput(f"got {self.sheets} sheets; expected 1 to {MAX_SHEETS}.")
        if not 1 <= self.seed <= MAX_EXERCISE:
            raise BadInput(f"the first seed is {self.seed}; expected 1 to {MAX_EXERCISE}.")


def sheets_of(wanted: Wanted, settings: Settings) -> list[Worksheet]:
    """The sheet of the settings, or those of a class.

    >>> [sheet.name for sheet in sheets_of(Wanted(sheets=3, seed=9999), made(1))]
    ['Sheet 1', 'Sheet 2', 'Sheet 3']
    """
    if not wanted.sheets:
        about = tuple(what_it_is(settings).lines())
        return [_sheet(wanted, settings, about)]
    seed, of_class = wanted.seed, []
    for number in range(1, wanted.sheets + 1):
        about = (
            program.made_by(),
            f"numbers made by seed {seed}, as exercise {seed} of the page Exercises",
        )
        of_class.append(_sheet(wanted, made(seed), about, number))
        seed = next_seed(seed)
    return of_class


def _sheet(wanted: Wanted, s: Settings, about: tuple[str, ...], number: int = 0) -> Worksheet:
    sentences = [sentence_of(s)]
    if s.memory_tokens:
        sentences.append(sentence_of(s, memory=True))
    return worksheet(
        view(s, run(s)),
        wanted.first,
        title=TITLE,
        sentence=" / ".join(sentences),
        digits=s.digits,
        about=about,
        number=number,
    )


def to_bytes(wanted: Wanted, settings: Settings) -> bytes:
    """Return the sheets, and their keys after them, as one HTML file to print; always the same.

    >>> to_bytes(Wanted("output", sheets=2), made(1))[:15]
    b'<!doctype html>'
    """
    return to_html(sheets_of(wanted, settings), wanted.with_key)
