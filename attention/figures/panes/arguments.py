"""Check the arguments that several figures and reports take."""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec

from attention.arrays.conversion import shown
from attention.explain.view import whole_number, whole_text
from attention.limits import MAX_DRAWN, MAX_FIGURE_DIGITS, BadInput
from attention.vocabulary.stages import STAGES


def need(package: str, name: str) -> None:
    """One sentence where a package that draws is not installed."""
    if find_spec(package) is None:
        raise ModuleNotFoundError(
            f"attention.{name} needs the package {package}, which is not installed;"
            " the extra brings it: pip install 'attention-stage-by-stage[app]'."
        )


def checked_digits(digits: int) -> int:
    """How many digits to print, or one sentence."""
    digits = whole_number("digits", digits)
    if not 0 <= digits <= MAX_FIGURE_DIGITS:
        raise ValueError(f"digits is {digits}; expected 0 to {MAX_FIGURE_DIGITS}.")
    return digits


def checked_title(title: str) -> str:
    """The words over a figure or a page, or one sentence."""
    if not isinstance(title, str):
        raise TypeError(f"title is {shown(title)}; expected text.")
    return whole_text("title", title)


def named_stages(stages: Collection[str] | None, there: Collection[str], what: str) -> set[str]:
    """Which of the stages that are there, by default all, or one sentence."""
    listed = ", ".join(there) or "none"
    try:
        names = {stages} if isinstance(stages, str) else set(there if stages is None else stages)
    except TypeError:
        raise TypeError(
            f"stages is {shown(stages)}; expected a list of names, such as ['weights']."
        ) from None
    for name in sorted(names - set(there), key=str):
        why = f"this {what} does not have it" if name in STAGES else "there is no such stage"
        raise ValueError(f"stages names {name!r}; {why}: {listed} are there.")
    return names


def chosen_stages(stages: Collection[str] | None, there: dict[str, int], what: str) -> set[str]:
    """Which of the stages that are there, each with its number of cells, or one sentence."""
    names, listed = named_stages(stages, there, what), ", ".join(there) or "none"
    drawn = {name for name in names if there[name]}
    if not drawn:
        raise ValueError(f"nothing to draw: no stage that was asked for has a cell ({listed}).")
    cells = sum(there[name] for name in drawn)
    if cells > MAX_DRAWN:
        raise BadInput(
            f"these stages hold {cells:,} cells; at most {MAX_DRAWN:,} can be drawn."
            " Choose fewer stages, or trace fewer tokens."
        )
    return drawn
