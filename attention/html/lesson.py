"""What the pages of Learn say above and below their board, as static HTML."""

from __future__ import annotations

from collections.abc import Mapping

from attention.vocabulary.notation import in_html
from attention.vocabulary.numbers import number

YES_OR_NO = ("✓ Yes.", "Not this one.")
MARKS = {"ask": ("→", ""), "done": ("✓", "Done: "), "missed": ("✗", "Not yet: ")}


def head(count: str, title: str, idea: str) -> str:
    """The heading, with how far one got, and the idea or what is to be done."""
    counted = f"<span>{in_html(count)}</span> " if count else ""
    return f"<h2 class='step'>{counted}{in_html(title)}</h2><p class='idea'>{in_html(idea)}</p>"


def tour_step(idea: str, kind: str, text: str) -> str:
    """Return the idea of a step, and what it asks for ("ask") or says of what was tried."""
    mark, state = MARKS[kind]
    asked = (
        f"<p class='ask {kind}' role='status'><b aria-hidden='true'>{mark}</b>"
        f" <span class='unseen-text'>{state}</span>{in_html(text)}"
    )
    if "in the sidebar" in text:  # closed on a phone
        asked += " <span class='on-phone'>(To open the sidebar: » at the top left.)</span>"
    return f"<p class='idea'>{in_html(idea)}</p>" + (f"{asked}</p>" if text else "")


def answer(
    is_right: bool, sentence: str, where: str = "", verdicts: tuple[str, str] = YES_OR_NO
) -> str:
    """What is said of a guess or a number: by a mark and a word, not by a colour alone."""
    kind, said = ("done", verdicts[0]) if is_right else ("missed", verdicts[1])
    place = f"<b>{in_html(where)}</b> · " if where else ""
    return f"<p class='ask {kind}' role='status'><b>{said}</b> {place}{in_html(sentence)}</p>"


def quiet(sentence: str) -> str:
    """The same line where nothing was answered yet: so nothing moves when it is."""
    return f"<p class='ask'>{in_html(sentence)}</p>"


def powers(given: Mapping[float, str]) -> str:
    """The powers of e that are given; nothing where none are."""
    if not given:
        return ""
    said = " ".join(
        f"<span>e<sup>{number(power, 1)}</sup> = {in_html(text)}</span>"
        for power, text in given.items()
    )
    return f"<p class='given'>Given: {said}</p>"
