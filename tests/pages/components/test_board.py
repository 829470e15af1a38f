"""What the board hands on of what the browser sends."""

import pytest

from attention.pages.components import board


@pytest.fixture
def page_values(monkeypatch):
    kept = {}
    monkeypatch.setattr(board.state, "page_value", lambda name, default: kept.get(name, default))
    monkeypatch.setattr(board.state, "set_page_value", kept.__setitem__)


def handed_on(*sent: object) -> list[object]:
    got: list[object] = []
    for value in sent:
        board._picked("a_board", got.append, value)
    return got


def click(client: object, number: object) -> dict:
    return {"stage": "scores", "i": 0, "j": 0, "client": client, "number": number}


def test_a_click_counts_once_however_often_it_is_sent(page_values):
    first, second, others = click("a", 1), click("a", 2), click("b", 1)
    assert handed_on(first, first, second, first, second) == [first, second]
    assert handed_on(others, others) == [others]  # of a second tab, or after a reload
    assert board.state.page_value("a_board_picks", None) == ("b", 1)


UNNUMBERED = [None, 3, {}, click("a", True), click("a", "1"), click("a" * 1000, 1), click(None, 1)]


@pytest.mark.parametrize("sent", UNNUMBERED, ids=lambda sent: str(sent)[:60])
def test_what_has_no_number_is_handed_on_and_not_counted(page_values, sent):
    assert handed_on(sent, sent) == [sent, sent]
    assert board.state.page_value("a_board_picks", None) is None
