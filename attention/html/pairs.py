"""What is said of two states beside each other, as static HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from attention.explain.beside import Change
from attention.explain.view import View
from attention.html.cell import panel
from attention.vocabulary.notation import in_html
from attention.vocabulary.numbers import numbers
from attention.vocabulary.stages import STAGES

MOST = 12  # queries that are named
ALIKE = "A and B are the same: change any control or number, or choose a comparison above."


def differing(lines: Sequence[str], look_for: str = "", shown: str = "") -> str:
    """What is ``shown``, the settings that differ, and what to ``look_for`` in the numbers."""
    of = f"<p>{in_html(shown)}</p>" if shown else ""
    if not lines:
        return f"<div class='apart'>{of}<p>{ALIKE}</p></div>"
    said = "".join(f"<li>{in_html(line)}</li>" for line in lines)
    seen = f"<p>{in_html(look_for)}</p>" if look_for else ""
    return f"<div class='apart'>{of}<b>A → B</b><ul>{said}</ul>{seen}</div>"


def changes(found: Iterable[Change], a: View, digits: int) -> str:
    """Where each stage changed most, a row each; nothing where none did."""
    rows = []
    for change in found:
        row, column = a.rows(change.stage)[change.row], a.columns(change.stage)[change.column]
        cells = (STAGES[change.stage].heading, row, column)
        apart = np.array([change.before, change.after, change.after - change.before])
        rows.append(
            "".join(f"<td>{escape(text)}</td>" for text in cells)
            + "".join(f"<td class='number'>{text}</td>" for text in numbers(apart, digits))
        )
    if not rows:
        return ""
    head = "".join(
        f"<th>{word}</th>" for word in ("largest change in", "row", "column", "A", "B", "B − A")
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table class='changes'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def winners(found: Sequence[tuple[str, str, str]]) -> str:
    """The queries whose strongest key is another in B."""
    if not found:
        return ""
    said = "; ".join(f"“{query}”: “{key}” → “{other}”" for query, key, other in found[:MOST])
    said += f"; … and {len(found) - MOST:,} more" if len(found) > MOST else ""
    return f"<p class='notice'><b>Strongest key changed:</b> {escape(said)}</p>"


def arithmetic(side: str, view: View, cell: tuple[str, int, int], lines: Sequence[str]) -> str:
    """How a cell of one side is made; without ``lines`` it has none."""
    stage, i, j = cell
    if not lines:
        return f"<p class='notice'>{side} has no such cell in {STAGES[stage].heading}.</p>"
    where = f"{side}: {STAGES[stage].heading}, row {view.rows(stage)[i]}, column "
    return panel(where + view.columns(stage)[j], lines, (side, *cell))
