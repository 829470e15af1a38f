"""What a board asks for between two answers of its page: cards of cells, and what a number that is
dragged, or a slider, makes of the stages. No setting is changed by it; the last preview is kept
until the next run has ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response

from attention.limits import MAX_ANSWERED, MAX_CARDS, BadInput
from attention.pages.components.board import as_json
from attention.pages.frame import state
from attention.pages.frame.turns import turn
from attention.pages.panels import all_stages, cells
from attention.session.edit import board_edits
from attention.session.state.run import run, sizes, view
from attention.session.state.settings import Settings

_WHOLE = re.compile(r"[0-9]{1,6}")
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def address(ticket: str) -> str:
    """Return where a board asks about the settings of a ticket, relative to the page."""
    return f"asked/{ticket}"


async def cards(request: Request) -> Response:
    """Answer with the card of a cell, or with others ``of`` its row, as JSON; with nothing where
    there is no such cell, or the page shows other settings by now.
    """
    return await _answered(request, _cards)


async def preview(request: Request) -> Response:
    """Answer with the board as it would be after edits, or moves of sliders, as the component reads
    it, with the cell that was ``picked``; with nothing where these are refused. They apply to what
    the page shows by now.
    """
    return await _answered(request, _preview)


async def _answered(request: Request, answer: Callable[[Request], Response]) -> Response:
    """Answer in a thread of its own, as soon as there is one and the page has its turn."""
    with state.asking(request.path_params["name"]) as may_ask:
        if not may_ask:
            return _nothing()
        return await to_thread.run_sync(partial(_in_turn, request, answer), limiter=_limiter())


@cache
def _limiter() -> CapacityLimiter:
    return CapacityLimiter(MAX_ANSWERED)  # an older anyio makes one in a running loop alone


def _in_turn(request: Request, answer: Callable[[Request], Response]) -> Response:
    with turn():
        return answer(request)


def _cards(request: Request) -> Response:
    if (s := state.named(**request.path_params)) is None:
        return _nothing()
    shown, asked = view(s, run(s)), request.query_params
    i, j = (_whole(asked.get(name, "")) for name in ("i", "j"))
    cell = cells.existing({"stage": asked.get("stage"), "i": i, "j": j}, cells.shapes(shown))
    if cell is None:
        return _nothing()
    stage, i, j = cell
    columns = range(j, j + 1)
    if asked.get("of") == "row":
        first = j - j % MAX_CARDS
        columns = range(first, min(first + MAX_CARDS, shown.stages[stage].shape[1]))
    written = as_json([cells.card(s, shown, (stage, i, k)) for k in columns])
    return Response(written, media_type="application/json", headers=_HEADERS)


def _preview(request: Request) -> Response:
    name = request.path_params["name"]
    if (s := state.named(name)) is None:
        return _nothing()
    try:
        for act in _acts(name, request.query_params):
            s, _ = state.changed(s, act)
    except BadInput:
        return _nothing()
    shown = view(s, run(s))
    written = all_stages.contents(s, shown, cells.chosen(s, shown)).written()
    state.foresee(name, s, written)
    return Response(written.message(), media_type="application/octet-stream", headers=_HEADERS)


def _nothing() -> Response:
    return Response(status_code=204, headers=_HEADERS)


def _acts(name: str, asked: Mapping[str, str]) -> Iterator[state.Change]:
    """Yield the changes that a request names, the cell that was picked first."""
    if "picked" in asked:
        yield partial(_picked, place=_read(asked["picked"]))
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


def _whole(text: str) -> int | None:
    return int(text) if _WHOLE.fullmatch(text) else None


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _picked(s: Settings, place: object) -> Settings:
    """Choose a cell, where there is one."""
    parts = zip(("stage", "i", "j"), place if isinstance(place, list) else (), strict=False)
    cell = cells.existing(dict(parts), dict(sizes(s)))
    return all_stages.with_cell(s, cell) if cell is not None else s


def _edited(s: Settings, operations: tuple[board_edits.Operation, ...]) -> Settings:
    return board_edits.apply(s, operations)[0]
