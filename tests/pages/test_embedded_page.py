"""The board alone for a frame in another page, through Streamlit's AppTest."""

import gc
import json
from dataclasses import replace
from html import escape
from urllib.parse import parse_qsl, urlsplit

import messages
import numpy as np
import pytest
from pages.conftest import opened_at, ran, sent, settings_of
from pages.test_check_page import head, numbers, panes
from pages.test_explore import views
from pages.test_many_tokens import is_long
from pages.test_many_tokens import link as many_tokens
from streamlit.testing.v1 import AppTest

from attention.pages.frame import share
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.vocabulary.sentences import which_of

CAT = EXAMPLES["cat-sat"].build()
PAGE = "attention/pages/embedded.py"
HEADS = replace(EXAMPLES["alibi"].build(), head=2)


def arrived(parameters: dict[str, str]) -> AppTest:
    """A new visitor comes to the board by a link; AppTest knows its page from a visit before."""
    at = opened_at(PAGE)
    del at.session_state["visit"]
    at.query_params.clear()
    for name, value in parameters.items():
        at.query_params[name] = value
    return ran(at)


def opened(settings, stage: str = "") -> AppTest:
    """The board, or a stage of it, by its link."""
    return arrived(links.write(settings) | ({share.STAGE: stage} if stage else {}))


def said_of(at: AppTest) -> str:
    """What the board says of its numbers."""
    (board,) = (e.proto.bytes for e in at.get("bidi_component") if b'"panes"' in e.proto.bytes)
    return json.loads(board.partition(b"\0")[0])["remark"]


@pytest.mark.parametrize("s", [CAT, HEADS], ids=["plain", "heads"])
def test_the_board_has_the_stages_of_its_link_and_no_controls(s):
    at, shown = opened(s), view(s, run(s))
    found = panes(at)
    assert set(found) >= set(shown.stages)
    for name in ("scores", "weights", "output"):
        drawn = numbers(found[name])
        seen = ~np.isnan(drawn)  # all but hidden cells
        assert seen.any()
        np.testing.assert_array_equal(drawn[seen], shown.stages[name][seen])
    assert settings_of(at) == s
    assert not at.sidebar.children and not at.selectbox and not at.button
    assert not any(pane["edit"] for pane in found.values())
    head = "_head2" if s is HEADS else ""
    assert found["weights"]["filename"] == f"attention_{s.example}_weights{head}"


@pytest.mark.parametrize(
    ("example", "stage", "made_of"),
    [
        ("cat-sat", "Q", {"X", "W_Q"}),
        ("cat-sat", "X", set()),
        ("cat-sat", "scores", {"Q", "K"}),
        ("cat-sat", "weights", {"scaled"}),
        ("four-words", "output", {"weights", "V"}),
        ("window", "weights", {"masked"}),
        ("biases", "Q", {"X", "W_Q", "b_Q"}),
    ],
)
def test_one_stage_stands_with_what_it_is_made_of_and_the_card_of_a_cell(example, stage, made_of):
    s = EXAMPLES[example].build()
    at = opened(s, stage)
    found = panes(at)
    assert set(found) == made_of | {stage}
    assert [name for name in found if found[name]["picks"]] == [stage]
    assert head(at)["card"]["stage"] == stage and not head(at)["card"]["chain"]
    assert messages.TAP_TO_CHANGE not in head(at)["card"]["note"]
    shown = head(opened(replace(s, cell=(stage, 1, 0)), stage))["card"]
    assert (shown["stage"], shown["row"], shown["column"]) == (stage, 1, 0)


def test_an_unknown_stage_is_refused_and_the_whole_board_shown():
    at = opened(CAT, "<b>")
    assert escape(messages.NO_STAGE_ALONE.format(stage="<b>")) in sent(at)
    assert set(panes(at)) == set(panes(opened(CAT)))


def test_a_head_and_an_item_are_named():
    assert "head 2" in said_of(opened(HEADS))
    s = EXAMPLES["batch"].build()
    assert which_of("item", [s.item], s.batch) in said_of(opened(s, "weights"))


def test_minus_a_billion_stands_beside_infinity():
    assert {"weights_inf", "output_inf"} <= set(panes(opened(EXAMPLES["minus-1e9"].build())))


def test_what_is_odd_about_the_numbers_is_said():
    s = replace(CAT, padding=tuple(range(len(CAT.tokens))))
    assert "see no key" in sent(opened(s))


def test_more_tokens_than_a_board_shows_open_on_long_context():
    at = arrived(many_tokens(600))
    assert is_long(at)


def test_it_leads_to_explore_with_the_same_numbers():
    s = replace(CAT, mask="causal", cell=("scores", 1, 0), query=1)
    (link,) = (each.proto.url for each in opened(s, "scores").get("link_button"))
    found, refused = links.read(dict(parse_qsl(urlsplit(link).query)))
    assert found == s and not refused and urlsplit(link).path in ("", "/")


def test_a_run_lets_go_of_its_stages_at_its_end():
    at = opened(CAT)
    gc.collect()
    before = views()
    gc.disable()
    try:
        for _ in range(3):
            ran(at)
        assert views() <= before
    finally:
        gc.enable()
