"""What the tab is asked to keep of what was typed, and what is put back of what it answers."""

import json

import messages
import pytest
from pages.conftest import ran
from pages.test_check_page import opened, said
from pages.test_explore import below
from pages.test_explore import opened as explore

from attention.limits import MAX_FILE
from attention.pages.components import typed
from attention.pages.frame.state import Visit
from attention.session.state.examples import EXAMPLES, FIRST
from attention.vocabulary.stages import COMPUTED

FIELDS = {f"check_{name}": typed.text() for name in ("Q", "K", "output")}
FIELDS |= {"check_heads": typed.count(1, 64, 1), "check_kv_heads": typed.count(1, 64, None)}
FIELDS |= {"check_softcap": typed.count(1e-6, 1e6, None)}


NAMES = ["check_source", *(f"check_{name}" for name in ("Q", "K", "V", "X", "W_Q", "W_K", "W_V"))]
NAMES += ["check_mask", "check_output", "check_weights", "check_stages"]
NAMES += [f"check_stage_{name}" for name in COMPUTED]  # a box for each stage
NAMES += ["check_library", "check_mask_kind", "check_true"]
NAMES += ["check_heads", "check_kv_heads", "check_scale", "check_softcap"]


def told(at, key: str) -> dict:
    [found] = [
        json.loads(node.proto.bytes)
        for node in at.get("bidi_component")
        if node.proto.component_name == "attention_typed" and key in node.proto.id
    ]
    return found


def test_what_is_not_its_default_is_kept_and_asked_for_a_few_times():
    at = opened()
    assert told(at, "check_typed") == {
        "names": NAMES,
        "values": {},
        "session": at.session_state["visit"].name,
        "ask": 1,
    }
    ran(at.text_area(key="set_check_output").set_value("1 2"))
    assert told(at, "check_typed")["values"] == {"check_output": "1 2"}
    assert [told(ran(at), "check_typed")["ask"] for _ in range(6)] == [3, 4, 5, 0, 0, 0]


def test_the_text_under_your_data_is_kept():
    at = below(explore(), "Your data")
    ran(at.text_area(key="set_load_text").set_value("1 2 3 4"))
    assert told(at, "load_typed")["values"] == {"load_text": "1 2 3 4"}


def sends(monkeypatch, values: dict, **sent: object) -> Visit:
    """A visit with these values of the page, after the browser sent something."""
    visit = Visit(EXAMPLES[FIRST].build(), ["Said before."])
    visit.page_values |= values
    monkeypatch.setattr(typed.st, "session_state", {"visit": visit, "check_typed": sent})
    typed._found("check_typed", FIELDS)
    typed._failed("check_typed")
    return visit


def test_what_the_tab_kept_is_put_back_beside_what_was_typed_since(monkeypatch):
    kept = {"check_Q": "1 0", "check_K": "old", "check_heads": 2, "check_softcap": 30}
    visit = sends(monkeypatch, {"check_K": "new", "check_softcap": None}, found=kept)
    found = {name: visit.page_values[name] for name in kept}
    assert found == kept | {"check_K": "new"} and type(found["check_softcap"]) is float
    assert visit.notices == ["Said before."]  # it is no move
    typed._found("check_typed", FIELDS)
    visit.page_values["check_Q"] = ""  # cleared, which a second answer does not undo
    typed._found("check_typed", FIELDS)
    assert visit.page_values["check_Q"] == ""


@pytest.mark.parametrize(
    "sent",
    [
        None,
        "text",
        ["check_Q"],
        {"check_Q": 3, "check_output": None},
        {"check_Q": "x" * (MAX_FILE + 1)},
        {"check_heads": 65, "check_kv_heads": 1.5, "check_softcap": "2"},
        {"check_heads": True, "check_softcap": 1e9},
        {"set_digits": 3, "visit": "x", "go_to": "long"},
    ],
)
def test_what_the_page_could_not_have_had_is_not_put_back(sent, monkeypatch):
    values = sends(monkeypatch, {}, found=sent).page_values
    assert all(values.get(name, field.default) == field.default for name, field in FIELDS.items())
    assert "set_digits" not in values and values.get("go_to") is None


def test_a_browser_that_keeps_nothing_is_said_to_until_it_does(monkeypatch):
    at = opened()
    assert messages.TYPED_IS_LOST.partition("{why}")[0] not in said(at)
    for why, count in (("it is too long", 1), ("", 0)):
        visit = sends(monkeypatch, {}, failed=why)
        monkeypatch.undo()
        at.session_state["visit"].page_values |= visit.page_values
        lost = messages.TYPED_IS_LOST.format(why="it is too long")
        assert said(ran(at)).count(lost) == count
