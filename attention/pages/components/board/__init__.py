"""The board: one component that holds every pane, draws in place, and reports what was clicked and
typed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from attention.explain.card import Card
from attention.explain.colours import PALETTES
from attention.explain.play import PlayStep
from attention.explain.strip import Strip
from attention.figures.panes.board import to_board
from attention.figures.panes.pane import Pane
from attention.limits import MAX_EDITED
from attention.pages.frame import scripts, share, state
from attention.session.edit import board_edits
from attention.session.edit.board_edits import Operation, Refusal
from attention.session.state.about import About
from attention.vocabulary.stages import LOWER, STAGES

_HERE = Path(__file__).parent
TRUE = "_inf"  # ends the name of a stage under a true mask, next to one that adds −1e9
BOARD = "board/board.js"
NUMBERED = "client", "number"  # of a click
_OF_STAGE = {  # where a stage stands, and what its rows and columns are
    name: {
        "place": {key: value for key, value in vars(of.place).items() if value not in ("", None)},
        "rowKind": of.rows,
        "columnKind": of.columns,
    }
    for name, of in STAGES.items()
}

_ENCODER = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False, check_circular=False, default=vars
)
_COMPONENT = st.components.v2.component(
    "attention_board",
    html='<div class="board"></div>\n',
    css="".join((_HERE / name).read_text() for name in ("board.css", "card.css", "strip.css")),
    js=scripts.importing(BOARD, tells=True),
    isolate_styles=False,
)


@dataclass(frozen=True)
class Contents:
    """What a board shows: panes, which it draws in place, and what it says beside them.

    Stages that are not ``spoken_of`` are dimmed, where some are; of those that share a place, the
    last one is in front. A ``steady`` board has the same places with a mask and without, and its
    inputs are open, unless it has no room for them and they are not spoken of. With ``only`` a
    stage, that and what it is made of are drawn as a product.

    A word of the ``strip`` is the query; ``play`` are its steps. Each pane carries a digest of what
    is drawn, and only those that changed are drawn anew. When all are painted, the board's
    ``data-tag`` is a digest of them all. Pictures of it say what they are by ``about``.
    """

    panes: Sequence[Pane]
    formula: Sequence[tuple[str, str | None]] | None = None
    remark: str = ""
    spoken_of: Collection[str] = ()
    about: About | None = None
    query: int | None = None
    cell: tuple[str, int, int] | None = None
    planned: bool = False
    steady: bool = False
    only: str = ""
    card: Card | None = None
    strip: Strip | None = None
    play: Sequence[PlayStep] = ()

    def written(self) -> Written:
        """Return it as the board reads it."""
        sent = [_sent(pane) for pane in self.panes]
        digests = [_digest(drawn.encode() + raw) for _, drawn, raw in sent]
        head: dict[str, object] = {
            "palettes": PALETTES,
            "formula": self.formula,
            "remark": self.remark,
            "query": self.query,
            "cell": self.cell,
            "planned": self.planned,
            "steady": self.steady,
            "only": self.only,
            "order": LOWER,
            "card": self.card,
            "strip": self.strip,
            "play": self.play,
            "spokenOf": list(self.spoken_of),
            "about": "; ".join(self.about.lines()) if self.about else "",
            "tag": _digest("".join(digests).encode()),
        }
        written = [
            f"{as_json(words | {'digest': digest})[:-1]},{drawn[1:]}"
            for (words, drawn, _), digest in zip(sent, digests, strict=True)
        ]
        return Written(head, ",".join(written), b"".join(raw for *_, raw in sent))


class Written(NamedTuple):
    """The contents of a board as texts and bytes, without the numbers that they were made of."""

    head: dict[str, object]
    panes: str
    cells: bytes

    def message(self, **more: object) -> bytes:
        """Return what the board gets, with what else it is to know."""
        data = f'{as_json(self.head | more)[:-1]},"panes":[{self.panes}]}}'.encode()
        # the bytes of the heatmaps follow, behind one that no JSON has
        return b"\0".join([data, self.cells])


def show(
    key: str,
    contents: Contents | Written,
    *,
    edited: str = "",
    asks: str = "",
    on_picked: Callable[[object], None] | None = None,
    on_asked: Callable[[object], None] | None = None,
    on_opened: Callable[[object], None] | None = None,
    on_edited: Callable[[list[Operation], bool], list[Refusal]] | None = None,
    on_lost: Callable[[object], None] | None = None,
) -> None:
    """Draw a board.

    ``on_picked`` gets what the browser sent, unchecked; so does ``on_asked``, of the word of the
    strip that is to be the query. ``on_opened`` gets the name of a stage whose heatmap is asked
    for. ``on_edited`` gets the operations that were not counted yet, and whether a stroke goes on
    that will be one step of Back; it returns what it refuses; each operation says what was
    ``edited`` when it was made. ``on_lost`` is called where the browser cannot fetch the scripts of
    the board, so that nothing is drawn. ``asks`` is the address under which it asks between two
    answers, of :mod:`attention.pages.asked`.
    """
    moves: dict[str, Any] = {}
    if on_picked:
        moves["picked"] = partial(state.heard, key, "picked", partial(_picked, key, on_picked))
    if on_asked:
        moves["asked"] = partial(state.heard, key, "asked", on_asked)
    if on_opened:
        moves["opened"] = partial(state.heard, key, "opened", on_opened)
    if on_lost:
        moves["lost"] = partial(state.heard, key, "lost", on_lost)
    if on_edited:
        moves["edited"] = partial(_edited, key, on_edited)
    written = contents.written() if isinstance(contents, Contents) else contents
    data = written.message(
        opens=bool(on_opened),
        edits=_answer(key) | {"edited": edited} if on_edited else None,
        code=share.code(),
        asks=asks,
        picks=state.page_value(f"{key}_picks", ("", 0)),
        sliders=state.slider_values() if asks else {},
    )
    _COMPONENT(key=key, data=data, **{f"on_{name}_change": move for name, move in moves.items()})
    state.catch_up(key, moves)


def _sent(pane: Pane) -> tuple[dict[str, Any], str, bytes]:
    """The words around a pane, what is drawn as JSON, and the bytes of its cells."""
    words, drawn, raw = to_board(pane)
    return words | _OF_STAGE.get(pane.name.removesuffix(TRUE), {}), as_json(drawn), raw


def as_json(value: object) -> str:
    """Return what the board reads: of a dataclass its fields."""
    return _ENCODER.encode(value)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _answer(key: str) -> dict[str, Any]:
    """What is said of the operations: nothing yet where they wait for the end of this run."""
    answer = {"most": MAX_EDITED}
    return answer if state.changes_wait() else _counted(key) | answer


def _counted(key: str) -> dict[str, Any]:
    """The last operation that was counted, of which browser, and what was refused with it."""
    empty: dict[str, Any] = {"client": "", "last": 0, "refused": []}
    return state.page_value(f"{key}_edits", empty)


def _picked(key: str, handler: Callable[[object], None], value: object) -> None:
    """Hand on a cell that was clicked; each click counts once, however often it is sent."""
    client, number = (value.get(name) if isinstance(value, dict) else 0 for name in NUMBERED)
    if isinstance(client, str) and len(client) <= board_edits.MOST_CLIENT and type(number) is int:
        before, last = state.page_value(f"{key}_picks", ("", 0))
        if client == before and number <= last:
            return
        state.set_page_value(f"{key}_picks", (client, number))
    handler(value)


def _edited(key: str, handler: Callable[[list[Operation], bool], list[Refusal]]) -> None:
    """Hand on the operations that are new: each counts once, however often it is sent."""
    message = board_edits.read(state.trigger(key, "edited"))
    if message is None:
        return
    before = _counted(key)
    last = before["last"] if before["client"] == message.client else 0
    new = [operation for operation in message.operations if operation.number > last]
    if not new:
        return
    refused = handler(new, message.more)
    counted = {"client": message.client, "last": new[-1].number, "refused": refused}
    state.set_page_value(f"{key}_edits", counted)
