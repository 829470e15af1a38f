"""The board of all stages, as Explore and a frame in another page show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from attention.core.finite import listed, troubles
from attention.core.trace import AttentionTrace
from attention.explain.captions import formula
from attention.explain.view import View
from attention.figures.panes import panes as figures
from attention.figures.panes.pane import Pane
from attention.figures.panes.panes import Cell
from attention.pages.components import board
from attention.pages.frame import state
from attention.pages.panels import cells
from attention.session.edit.changes import name_of
from attention.session.state.about import what_it_is
from attention.session.state.run import no_key_sentences, one, run, view
from attention.session.state.settings import PUSHED, TRUE_MASK, Settings
from attention.vocabulary.sentences import amount, capital, which_of
from attention.vocabulary.stages import STAGES


def title(s: Settings) -> str:
    """Return what the numbers are of, with the head that is shown."""
    return name_of(s)[0] + (f" · head {s.head}" if s.heads > 1 else "")


def drawn(s: Settings, shown: View, cell: Cell, in_colours: bool) -> list[Pane]:
    """Return the figures of all stages; large ones may be ``in_colours``, without numbers."""
    look: dict[str, Any] = {"digits": s.digits, "query": s.query}
    look |= {"title": title(s), "in_colours": in_colours}
    found = figures.panes(shown, cell=cell, **look)
    if s.fill == PUSHED:
        exact = replace(s, fill=TRUE_MASK)
        found += figures.side_by_side(view(exact, run(exact)), **look)
    return found


def panes(s: Settings, shown: View, cell: Cell) -> list[Pane]:
    """Return the figures of the board; their cells can be clicked, and each names its file."""
    begins, ends = f"attention_{name_of(s)[1]}", f"_head{s.head}" if s.heads > 1 else ""
    return [
        replace(pane, picks=pane.name in shown.stages, filename=f"{begins}_{pane.name}{ends}")
        for pane in drawn(s, shown, cell, in_colours=True)
    ]


def contents(s: Settings, shown: View, cell: Cell) -> board.Contents:
    """Return what the board of all stages shows, on which inputs can be typed."""
    return board.Contents(
        [cells.let_edit(pane, s) for pane in panes(s, shown, cell)],
        formula=formula(shown),
        remark=sizes(s),
        about=what_it_is(s),
        query=s.query,
        cell=cell,
        planned=True,
        card=cells.card(s, shown, cell),
        strip=cells.strip(s, shown),
        play=cells.play(s, shown),
    )


def sizes(s: Settings) -> str:
    """Return the numbers of tokens, dimensions and heads, and which item is shown."""
    counts = [amount(len(s.tokens), "token")]
    counts += [] if s.d_model is None else [f"d_model {s.d_model}"]
    counts += [] if s.weights_alone else [f"d_k {s.d_k}", f"d_v {s.d_v}"]
    counts += [amount(s.heads, "head")]
    counts += [f"{s.kv_heads} of keys and values"] if s.kv_heads < s.heads else []
    counts += [which_of("item", [s.item], s.batch)]
    return " · ".join(filter(None, counts))


def chooses(there: cells.Shapes) -> Callable[[object], None]:
    """Return what a click on the board does: it chooses one of the cells that are there."""

    def choose(clicked: object) -> None:
        cell = cells.existing(clicked, there)
        if cell is not None:
            state.change(partial(with_cell, cell=cell))

    return choose


def with_cell(s: Settings, cell: Cell) -> Settings:
    """Choose a cell; where its row is that of a query, also the query."""
    stage, i, _ = cell
    return replace(s, cell=cell, query=i if STAGES[stage].rows == "queries" else s.query)


def flags(s: Settings, trace: AttentionTrace, shown: View) -> list[str]:
    """Return what a person should know about these numbers, in sentences."""
    queries = shown.labels["queries"]
    sentences = no_key_sentences(shown)
    troubled = any(True for _ in troubles(vars(trace)))  # somewhere; this head is cut out only then
    for trouble in troubles(vars(one(s, trace))) if troubled else ():
        who = listed([f"“{queries[i]}”" for i in trouble.queries])
        sentences.append(f"{capital(who)}: {trouble.reason}.")
    if len(s.key_tokens) == 1 and s.softmax is True and not s.sinks:
        sentences.append(
            "There is one key, so every weight is 1; add a token to see attention choose."
        )
    return sentences
