"""The board alone for a frame in another page, through Streamlit's AppTest."""

from dataclasses import replace

import numpy as np
import pytest
from pages.conftest import opened_at, ran, settings_of
from pages.test_check_page import card, numbers, panes
from streamlit.testing.v1 import AppTest

from attention.pages import share
from attention.session import links
from attention.session.examples import EXAMPLES
from attention.session.run import run, view

CAT = EXAMPLES["cat-sat"].build()
PAGE = "attention/pages/embedded.py"
HEADS = EXAMPLES["alibi"].build()


def opened(settings, stage: str = "") -> AppTest:
    """Explore, which writes its own address, and then the board or a stage of it by its link."""
    at = opened_at(PAGE, **links.write(settings))
    if stage:
        at.query_params[share.STAGE] = stage
        ran(at)
    return at


@pytest.mark.parametrize("s", [CAT, HEADS], ids=["plain", "heads"])
def test_the_board_has_the_stages_of_its_link_and_no_controls(s):
    at, shown = opened(s), view(s, run(s))
    found = panes(at)
    assert set(found) >= set(shown.stages)
    for name in ("scores", "weights", "output"):
        sent = numbers(found[name])
        seen = ~np.isnan(sent)  # all but hidden cells
        assert seen.any()
        np.testing.assert_array_equal(sent[seen], shown.stages[name][seen])
    assert settings_of(at) == s
    assert not at.sidebar.children and not at.selectbox and not at.button


@pytest.mark.parametrize(
    ("stage", "made_of"),
    [
        ("Q", {"X", "W_Q"}),
        ("scores", {"Q", "K"}),
        ("weights", {"masked"}),
        ("output", {"weights", "V"}),
    ],
)
def test_one_stage_stands_with_what_it_is_made_of_and_the_card_of_a_cell_of_it(stage, made_of):
    at = opened(CAT, stage)
    assert set(panes(at)) == made_of | {stage}
    assert card(at)["stage"] == stage
    other = replace(CAT, cell=(stage, 1, 2), query=1)
    shown = card(opened(other, stage))
    assert (shown["stage"], shown["row"], shown["column"]) == (stage, 1, 2)


def test_an_unknown_stage_shows_the_whole_board():
    assert set(panes(opened(CAT, "<b>"))) == set(panes(opened(CAT)))


def test_it_leads_to_explore_with_the_same_numbers():
    s = replace(CAT, mask="causal")
    (line,) = [m.value for m in opened(s).markdown if "Open with all controls" in m.value]
    assert "mask=causal" in line and "example=cat-sat" in line
