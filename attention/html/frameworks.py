"""The conventions as HTML tables: what each says of these numbers, and what it does in general."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Protocol

from attention.frameworks.records import CONVENTIONS, Convention
from attention.html.tables import line, table
from attention.vocabulary.notation import in_html


class ShownAnswer(Protocol):
    """What a framework does with these numbers, in a sentence."""

    @property
    def name(self) -> str: ...

    @property
    def sentence(self) -> str: ...


Columns = tuple[tuple[str, str, Callable[[Convention], str]], ...]
FACTS: Columns = (  # heading, ours, what a convention says
    ("how it is called", "any way", lambda c: c.when),
    ("True in a mask means", "may look", lambda c: c.true_means),
    ("a query that sees no key", "0, flagged", lambda c: c.hidden_row),
    ("look-ahead, if n_q ≠ n_k", "both, by name", lambda c: c.causal),
    ("default scale", "1/√d_k", lambda c: c.scale),
    ("layout of Q, K, V", "(…, L, D)", lambda c: c.layout),
    ("known from", "this package", lambda c: c.source),
)

PARTS: Columns = (  # of real layers: the argument that each is handed over by
    ("fewer heads of keys", "kv_heads=", lambda c: c.groups),
    ("soft cap", "softcap=, before the mask", lambda c: c.softcap),
    ("window", "window(…, seen): its own counted", lambda c: c.window),
    ("sinks", "sinks=", lambda c: c.sinks),
    ("bias of the scores", "bias=, relative=", lambda c: c.bias),
)


def sentences(compared: Iterable[ShownAnswer]) -> str:
    """One line for each framework and mode: what it does with these numbers."""
    lines = [line([_name(CONVENTIONS[answer.name]), answer.sentence]) for answer in compared]
    return table("words pairs", ["", "with these numbers"], lines)


def facts() -> str:
    """One line for each framework and mode: what it does in general, and how that is known."""
    return _columns(FACTS)


def arguments() -> str:
    """One line for each framework and mode: by which arguments it takes parts of real layers."""
    return _columns(PARTS)


def _columns(columns: Columns) -> str:
    headings = [heading for heading, *_ in columns]
    lines = [_line("ours", headings, [ours for _, ours, _ in columns], "own")]
    for c in CONVENTIONS.values():
        lines.append(_line(_name(c), headings, [says(c) for *_, says in columns]))
    return table("words facts", ["", *headings], lines)


def _line(name: str, headings: list[str], said: list[str], kind: str = "") -> str:
    """A line whose cells know their headings, for narrow pages that show them one below another."""
    cells = "".join(
        f'<td data-of="{escape(heading)}">{in_html(text)}</td>'
        for heading, text in zip(headings, said, strict=True)
    )
    return f'<tr class="{kind}"><th scope="row">{escape(name)}</th>{cells}</tr>'


def _name(convention: Convention) -> str:
    return f"{convention.name} ({convention.version})"
