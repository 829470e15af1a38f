"""What a board asks for between two answers of its page, over the routes of the server."""

import gc
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from threading import Barrier, Event
from urllib.parse import urlencode

import board_bytes
import numpy as np
import oracle
import pytest
from build import four_words, view_of
from pages.conftest import ran, settings_of
from pages.test_exercises_page import type_on
from pages.test_explore import opened
from pages.test_many_tokens import link
from pages.test_server_start import asked_for

from attention.limits import MAX_ASKED, MAX_CARDS, MAX_EDITED
from attention.pages import asked
from attention.pages.frame import internals, state
from attention.pages.panels import all_stages, cells
from attention.session.edit.board_edits import Operation
from attention.session.edit.changes import set_sentence
from attention.session.state import links
from attention.session.state.run import run
from attention.session.state.settings import Settings

MINE = ("opens", "edits", "code", "asks", "picks", "sliders")  # what the page alone tells its board


@pytest.fixture
def page(monkeypatch):
    """Give the ticket of a page that shows these settings."""

    def shows(s: Settings) -> str:
        shows.visit.settings = s
        return state.ticket()

    shows.visit = state.Visit(four_words(), [])
    monkeypatch.setattr(state, "_visit", lambda: shows.visit)
    return shows


def ask(ticket: str, what: str, **more: object):
    return asked_for(f"/asked/{ticket}/{what}?{urlencode(more)}")


def cards(ticket: str, stage: str, i: object, j: object) -> list[dict]:
    answer = ask(ticket, "cards", stage=stage, i=i, j=j, of="row")
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    return json.loads(answer.body)


def edits(*operations: tuple) -> str:
    """The message of a board that asks what these make."""
    sent = [[number, *rest, ""] for number, rest in enumerate(operations, 1)]
    return json.dumps({"client": "a", "operations": sent, "more": True})


def plain(value: object) -> object:
    return json.loads(json.dumps(value))


# ---- cards ---------------------------------------------------------------------------------------

HEADS = {"heads": 2, "head": 1}
LAYERS = replace(four_words(), query=2, digits=4, mask="causal")


@pytest.mark.parametrize(
    "s",
    [four_words(), LAYERS, replace(LAYERS, **HEADS), replace(LAYERS, fill="-1e9")],
    ids=["four words", "masked", "heads", "pushed"],
)
def test_a_ticket_gives_the_card_of_every_cell_that_the_board_shows(page, s):
    ticket, shown = page(s), view_of(s)
    for stage, matrix in shown.stages.items():
        for i, row in enumerate(matrix):
            wanted = [cells.card(s, shown, (stage, i, j)) for j in range(len(row))]
            found = cards(ticket, stage, i, len(row) - 1)
            assert found == plain(list(map(asdict, wanted)))
            assert [card["column"] for card in found] == list(range(len(row)))
            assert {(card["stage"], card["row"]) for card in found} == {(stage, i)}


def test_of_a_long_row_the_cards_of_one_part_come_also_of_the_last_and_shorter(page):
    s = set_sentence(four_words(), " ".join(f"w{k}" for k in range(MAX_CARDS + 3)))
    ticket, shown = page(s), view_of(s)
    for j, part in ((0, range(MAX_CARDS)), (MAX_CARDS + 2, range(MAX_CARDS, MAX_CARDS + 3))):
        found = cards(ticket, "weights", 5, j)
        assert [card["column"] for card in found] == list(part)
        assert found[-1] == plain(asdict(cells.card(s, shown, ("weights", 5, part[-1]))))


def test_512_tokens_give_no_more_cards_than_others(page):
    s = links.read(link())[0]
    found = cards(page(s), "weights", 511, 511)
    assert [(card["row"], card["column"]) for card in found] == [(511, j) for j in range(496, 512)]
    assert found[-1] == plain(asdict(cells.card(s, view_of(s), ("weights", 511, 511))))


PLACES = [
    {"stage": "nothing", "i": 0, "j": 0},
    {"stage": "weights", "i": 4, "j": 0},
    {"stage": "weights", "i": 0, "j": 4},
    {"stage": "weights", "i": -1, "j": 0},
    {"stage": "weights", "i": "True", "j": 0},
    {"stage": "weights", "i": "1.0", "j": 0},
    {"stage": "weights", "i": "٣", "j": 0},
    {"stage": "weights", "i": "9" * 5000, "j": 0},
    {"stage": "weights", "i": "1\n", "j": 0},
    {"stage": "weights", "j": 0},
    {},
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(place)[:50])
def test_there_is_no_card_of_a_cell_that_is_not_there(page, place):
    answer = ask(page(four_words()), "cards", **place)
    assert (answer.status_code, answer.body) == (204, b"")
    assert answer.headers["cache-control"] == "no-store"


# ---- tickets -------------------------------------------------------------------------------------

WHERE = {"stage": "weights", "i": 1, "j": 1}


def statuses(ticket: str) -> list[int]:
    nothing = ask(ticket, "preview", edits=edits())
    return [ask(ticket, "cards", **WHERE).status_code, nothing.status_code]


def test_a_ticket_is_of_what_the_board_shows_and_of_nothing_later(page):
    ticket = page(four_words())
    assert page(replace(four_words(), cell=("weights", 1, 1))) == ticket  # the same numbers
    page.visit.settings = replace(four_words(), digits=5)  # which no board shows yet
    assert state.named(*ticket.split("/")) == four_words()
    later = page(page.visit.settings)
    assert (
        state.named(*later.split("/")) == page.visit.settings
        and state.named(*ticket.split("/")) is None
    )
    again = page(four_words())
    assert again not in (ticket, later) and state.named(*again.split("/")) == four_words()


def test_another_revision_another_name_and_a_page_that_is_gone_give_nothing(page):
    ticket = page(four_words())
    name, _, revision = ticket.partition("/")
    assert statuses(ticket) == [200, 200]
    for other in (f"{name}/{int(revision) + 1}", f"{name}/0{revision}", f"{name}/x"):
        assert statuses(other) == [204, 200]  # a preview is of what is shown by now
    assert statuses(f"x{name}/{revision}") == [204, 204]
    del page.visit
    gc.collect()
    assert statuses(ticket) == [204, 204]


def test_a_page_that_is_no_longer_open_gives_nothing(page, monkeypatch):
    ticket = page(four_words())
    monkeypatch.setattr(internals, "is_open", lambda session: session == "its own")
    assert statuses(ticket) == [204, 204]
    page.visit.session = "its own"
    assert statuses(ticket) == [200, 200]


@pytest.fixture
def slow(monkeypatch):
    """Let answers wait: ``going`` of as many, until ``go``."""

    def runs(s):
        runs.going.wait(30)
        runs.go.wait(30)
        return run(s)

    runs.going, runs.go = Barrier(MAX_ASKED + 1), Event()
    monkeypatch.setattr(asked, "run", runs)
    return runs


def test_of_more_than_one_board_asks_at_a_time_the_rest_get_nothing(page, slow):
    ticket = page(four_words())
    with ThreadPoolExecutor() as beside:
        first = [beside.submit(status_of_card, ticket) for _ in range(MAX_ASKED)]
        slow.going.wait(30)
        assert status_of_card(ticket) == 204
        slow.go.set()
        assert [answer.result() for answer in first] == [200] * MAX_ASKED


def test_a_run_waits_for_what_was_asked_before_it_but_not_for_long(page, slow, monkeypatch):
    ticket = page(four_words())
    monkeypatch.setattr(state.st, "session_state", {"visit": page.visit})
    with monkeypatch.context() as patch:
        patch.setattr(page.visit.answered, "wait", lambda *_: pytest.fail("nothing was"))
        state.let_answer()
    with ThreadPoolExecutor() as beside:
        first = [beside.submit(status_of_card, ticket) for _ in range(MAX_ASKED)]
        slow.going.wait(30)
        state.let_answer()
        monkeypatch.setattr(state, "SHORT", 30)
        waits = beside.submit(state.let_answer)
        with pytest.raises(TimeoutError):
            waits.result(0.05)
        slow.go.set()
        waits.result(10)
        assert [answer.result() for answer in first] == [200] * MAX_ASKED


def status_of_card(ticket: str) -> int:
    return ask(ticket, "cards", **WHERE).status_code


# ---- previews ------------------------------------------------------------------------------------


def preview(ticket: str, *operations: tuple) -> bytes:
    answer = ask(ticket, "preview", edits=edits(*operations))
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    return answer.body


def test_a_preview_has_the_numbers_of_plain_loops_and_changes_nothing(page):
    s = four_words()
    ticket = page(s)
    found = board_bytes.panes_of(preview(ticket, ("cell", "X", 0, 1, "0.75")))
    X = s.matrices["X"].values.tolist()
    X[0][1] = 0.75
    made = [oracle.product(X, s.matrices[name].values.tolist()) for name in ("W_Q", "W_K", "W_V")]
    expected = {"X": X, **dict(zip("QKV", made, strict=True)), **oracle.attend(*made)}
    for stage, numbers in expected.items():
        if stage in found:
            np.testing.assert_allclose(found[stage]["values"], numbers, rtol=1e-12, err_msg=stage)
    assert {"X", "scores", "weights", "output"} <= set(found)
    assert state.named(*ticket.split("/")) == page.visit.settings == four_words()


EDITS = {
    "a number": (Operation(1, "cell", "X", 0, 1, "0.75"),),
    "several": (Operation(1, "cell", "W_K", 1, 1, "-3"), Operation(2, "cell", "X", 3, 0, "2")),
    "a mask": (Operation(1, "mask", "masked", 0, 3, "0"),),
    "one that is refused": (Operation(1, "cell", "X", 9, 9, "1"),),
}


@pytest.mark.parametrize("operations", EDITS.values(), ids=EDITS)
def test_a_preview_is_the_board_that_the_page_draws_once_they_are_made(operations, monkeypatch):
    at = opened(mask="causal", fill="-1e9", cell="weights,3,1", query="3")
    before, head = settings_of(at), board_bytes.head_of(shown(at))
    sent = [tuple(operation[1:6]) for operation in operations]
    found = preview(head["asks"].removeprefix("asked/"), *sent)
    ran(at)
    assert settings_of(at) == before
    type_on(at, monkeypatch, list(operations))
    wanted = own(shown(at))
    assert own(found).keys() == wanted.keys()
    for name, value in own(found).items():
        assert value == wanted[name], name


MOVES = ({"digits": 5}, {"d_k": 6}, {"d_model": 5}, {"d_v": 2, "digits": 2}, {"d_k": 3})


@pytest.mark.parametrize("moves", MOVES, ids=str)
def test_a_preview_is_the_board_that_the_page_draws_once_sliders_are_moved(moves, monkeypatch):
    at = opened(mask="causal", cell="weights,3,1", query="3")
    before, head = settings_of(at), board_bytes.head_of(shown(at))
    assert head["sliders"].keys() == {"digits", "d_k", "d_v", "d_model"}
    ticket = head["asks"].removeprefix("asked/")
    answer = ask(ticket, "preview", moves=json.dumps(moves))
    assert answer.status_code == 200 and settings_of(at) == before
    monkeypatch.setattr(all_stages, "contents", None)  # what was seen is not made again
    for name, value in moves.items():
        at.slider(key=f"set_{name}").set_value(value)
    ran(at)
    assert {name: getattr(settings_of(at), name) for name in moves}
    wanted = own(shown(at))
    assert own(answer.body) == wanted
    assert board_bytes.head_of(shown(at))["sliders"] == head["sliders"] | moves


def test_a_preview_has_the_cell_that_was_picked_since():
    at = opened(mask="causal", cell="weights,3,1", query="3")
    ticket = board_bytes.head_of(shown(at))["asks"].removeprefix("asked/")
    picked = json.dumps(["scores", 2, 1])
    answer = ask(ticket, "preview", moves=json.dumps({"d_k": 6}), picked=picked)
    at.slider(key="set_d_k").set_value(6)
    ran(at)
    at.query_params["cell"], at.query_params["query"] = "scores,2,1", "2"
    ran(at)
    assert own(answer.body) == own(shown(at))
    head = board_bytes.head_of(answer.body)
    assert head["cell"] == ["scores", 2, 1] and head["card"]["stage"] == "scores"


NO_CELLS = ("[]", "3", '["weights", 9, 9]', '["nothing", 0, 0]', '[["weights"], 0, 0]', "{", "")


@pytest.mark.parametrize("picked", NO_CELLS)
def test_where_no_cell_was_picked_a_preview_has_the_one_that_is_chosen(page, picked):
    ticket = page(replace(four_words(), cell=("weights", 1, 1)))
    answer = ask(ticket, "preview", edits=edits(("cell", "X", 0, 1, "0.75")), picked=picked)
    assert answer.body == preview(ticket, ("cell", "X", 0, 1, "0.75"))
    assert board_bytes.head_of(answer.body)["cell"] == ["weights", 1, 1]


NO_MOVES = {
    "no list of sliders": [],
    "beyond the last": {"digits": 99},
    "below the first": {"digits": -1},
    "a truth": {"digits": True},
    "half a step": {"digits": 2.5},
    "words": {"digits": "3"},
    "none of the sliders": {"temperature": 3},
    "no slider": {"settings": 3},
}


@pytest.mark.parametrize("moves", [*NO_MOVES.values(), None], ids=[*NO_MOVES, "nothing"])
def test_where_no_slider_moves_so_there_is_no_preview(moves):
    at = opened()
    before, head = settings_of(at), board_bytes.head_of(shown(at))
    answer = ask(head["asks"].removeprefix("asked/"), "preview", moves=json.dumps(moves))
    assert (answer.status_code, answer.body) == (204, b"") and settings_of(at) == before


def test_a_run_of_other_settings_forgets_what_was_seen_and_which_sliders_are_gone():
    at = opened()
    ticket = board_bytes.head_of(shown(at))["asks"].removeprefix("asked/")
    assert ask(ticket, "preview", moves='{"d_model": 5}').status_code == 200
    assert at.session_state["visit"].foreseen is not None
    ran(at.button_group(key="set_parts").set_value(["softmax", "typed_qkv"]))
    assert at.session_state["visit"].foreseen is None
    ran(at)
    head = board_bytes.head_of(shown(at))
    assert head["sliders"].keys() == {"digits", "d_k", "d_v"}
    ticket = head["asks"].removeprefix("asked/")
    assert ask(ticket, "preview", moves='{"d_model": 5}').status_code == 204


def shown(at) -> bytes:
    """What the board of a page is sent."""
    (data,) = (e.proto.bytes for e in at.get("bidi_component") if b'"panes"' in e.proto.bytes)
    return data


def own(data: bytes) -> dict:
    head = board_bytes.head_of(data)
    _, _, raw = data.partition(b"\0")
    return {name: head[name] for name in head if name not in MINE} | {"raw": raw}


DEEP = "[" * 100_000
MESSAGES = {
    "nothing": "",
    "no JSON": "edits",
    "no message": "[]",
    "deep": DEEP,
    "a number too many": json.dumps({"client": "a", "operations": [[1]], "more": True}),
    "too many": edits(*[("end", "", 0, 0, "")] * (MAX_EDITED + 1)),
    "a long whole number": "9" * 5000,
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_what_is_no_message_gives_no_preview(page, message):
    answer = ask(page(four_words()), "preview", edits=message)
    assert (answer.status_code, answer.body) == (204, b"")


HOSTILE = {
    "one below 0": ("cell", "X", -1, -1, "1"),
    "half a character": ("token", "X", 0, 0, "\ud800"),
    "a name of no stage": ("cell", "\ud800", 0, 0, "1"),
    "not finite": ("cell", "X", 0, 0, "1e999"),
    "as large as numbers are": ("cell", "X", 0, 0, "1.7e308"),
    "no such row": ("delete", "X", 9, 4, ""),
}


@pytest.mark.parametrize("operation", HOSTILE.values(), ids=HOSTILE)
def test_whatever_an_edit_says_there_is_an_answer(page, operation):
    answer = ask(page(four_words()), "preview", edits=edits(operation))
    assert answer.status_code in (200, 204)
