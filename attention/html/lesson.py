"""A step of the guided way as HTML."""

from __future__ import annotations

from html import escape


def step(k: int, of: int, title: str, idea: str, ask: str, is_done: bool) -> str:
    """A step, counted from 1: its idea and what it asks for, with a tick once that was done."""
    mark, state = ("✓", "Done: ") if is_done else ("→", "")
    asked = (
        f"<p class='ask{' done' * is_done}' role='status'><b aria-hidden='true'>{mark}</b>"
        f" <span class='unseen-text'>{state}</span>{escape(ask)}</p>"
    )
    return (
        f"<h2 class='step'><span>{k} of {of}</span> {escape(title)}</h2>"
        f"<p class='idea'>{escape(idea)}</p>{asked if ask else ''}"
    )


def answer(is_right: bool, sentence: str) -> str:
    """What is said once one has guessed."""
    verdict = "✓ Yes." if is_right else "Not this one."
    kind = "done" if is_right else "missed"
    return f"<p class='ask {kind}' role='status'><b>{verdict}</b> {escape(sentence)}</p>"
