"""What a board asks for between two answers of its page: cards of cells, and what a number that is
dragged, or a slider, makes of the stages. Nothing is changed by it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from attention.figures.panes.panes import Cell
from attention.limits import MAX_CARDS, BadInput
from attention.pages.components.board import as_json
from attention.pages.frame import state
from attention.pages.frame.turns import turn
from attention.pages.panels import all_stages, cells
from attention.session.edit import board_edits
from attention.session.state.run import run, view
from attention.session.state.settings import Settings

_WHOLE = re.compile(r"[0-9]{1,6}")
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def address(ticket: str) -> str:
    """Return where a board asks about the settings of a ticket, relative to the page."""
    return f"asked/{ticket}"


def cards(request: Request) -> Response:
    """Answer with the card of a cell, or with others ``of`` its row, as JSON; with nothing for no
    cell, and where the page shows other settings by now.
    """
    with turn():
        if (s := state.named(**request.path_params)) is None:
            return _nothing()
        shown = view(s, run(s))
        cell = _cell(request.query_params, cells.shapes(shown))
        if cell is None:
            return _nothing()
        stage, i, j = cell
        columns = range(j, j + 1)
        if request.query_params.get("of") == "row":
            first = j - j % MAX_CARDS
            columns = range(first, min(first + MAX_CARDS, shown.stages[stage].shape[1]))
        written = as_json([cells.card(s, shown, (stage, i, k)) for k in columns])
    return Response(written, media_type="application/json", headers=_HEADERS)


def preview(request: Request) -> Response:
    """Answer with the board as it would be after edits, or moves of sliders, as the component reads
    it; with nothing where these are none, or are refused. They apply to what the page shows by now.
    """
    name, asked = request.path_params["name"], request.query_params
    with turn():
        if (s := state.named(name)) is None:
            return _nothing()
        try:
            for act in _acts(name, asked):
                s, _ = state.changed(s, act)
        except BadInput:
            return _nothing()
        shown = view(s, run(s))
        written = all_stages.contents(s, shown, cells.chosen(s, shown)).written()
        state.foresee(name, s, written)
    return Response(written.message(), media_type="application/octet-stream", headers=_HEADERS)


def _nothing() -> Response:
    return Response(status_code=204)


def _acts(name: str, asked: Mapping[str, str]) -> Iterator[state.Change]:
    """Yield the changes that a request names."""
    if "moves" in asked:
        moves = _read(asked["moves"])
        if not isinstance(moves, dict):
            raise BadInput("expected the values of sliders by their names")
        yield state.slid(name, moves)
    if "edits" in asked:
        message = board_edits.read(_read(asked["edits"]))
        if message is None:
            raise BadInput("expected edits of the board")
        yield partial(_edited, operations=message.operations)


def _cell(asked: Mapping[str, str], there: cells.Shapes) -> Cell | None:
    """Return the cell that a request names, where there is such a one."""
    place: dict[str, object] = {"stage": asked.get("stage")}
    for name in ("i", "j"):
        text = asked.get(name, "")
        place[name] = int(text) if _WHOLE.fullmatch(text) else None
    return cells.existing(place, there)


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _edited(s: Settings, operations: tuple[board_edits.Operation, ...]) -> Settings:
    return board_edits.apply(s, operations)[0]
