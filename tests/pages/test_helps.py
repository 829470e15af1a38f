"""Helps are sentences; few are in sight at once, and the name of a control is read out as it is."""

import re
from dataclasses import dataclass

import pytest
from pages.conftest import ran
from pages.test_explore import below, opened, pasted

from attention.pages import state

SENTENCES = re.compile(r"[^a-z].*[.)]", re.DOTALL)
SENTENCE_ENDS = re.compile(r"[.)](?= [^a-z]|$)")
# examples have their sentences; the last nobody sees
BY_ITSELF = re.compile(f"example_|{state.HEARD}$")


@dataclass
class Popover:
    """What opens a list of its own."""

    proto: object
    key: str = ""


def controls(block):
    """Everything below a block of the page that can be moved or pressed."""
    for child in block.children.values():
        if hasattr(child, "children"):
            if child.type == "popover":
                yield Popover(child.proto.popover)
            yield from controls(child)
        elif hasattr(child.proto, "id") and hasattr(child.proto, "help"):
            yield child


def check(at) -> int:
    """How many controls the page has; a help is one or two sentences, no name has a backslash."""
    found = [c for c in controls(at._tree) if not BY_ITSELF.match(c.key or "")]
    for control in found:
        assert "\\" not in control.proto.label, control.proto.label
        if not control.proto.help:
            continue
        assert SENTENCES.fullmatch(control.proto.help), (control.key, control.proto.help)
        count = len(SENTENCE_ENDS.findall(control.proto.help))
        assert count in (1, 2), (control.key, control.proto.help)
    return len(found)


PAGES = (
    *("check", "compare", "conventions", "exercises", "learn"),
    *("long_context", "real_model", "variance"),
)
TABS = "Spread", "Initialise", "Your data", "Export", "Code"
LINKS = [{"example": "cat-sat"}, {"example": "sentence"}, {"example": "batch", "mask": "causal"}]


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link["example"])
def test_every_help_of_explore_is_a_sentence(link):
    at = opened(**link)
    ran(at.selectbox(key="set_scale_kind").set_value("number"))
    assert all(check(below(at, tab)) > 15 for tab in TABS)


def question_marks(block):
    """The keys of what has a help in sight: each is a stop of the Tab key; buttons have none."""
    found = [c for c in controls(block) if c.proto.help]
    return [c.key for c in found if "button" not in getattr(c, "type", "popover")]


@pytest.mark.parametrize("tab", ["", *TABS])
def test_at_most_six_helps_are_in_sight_on_explore(tab):
    """A window of 1440 × 900 shows four of the sidebar and two of those in a panel."""
    at = below(opened(example="cat-sat"), tab) if tab else opened(example="cat-sat")
    rail = question_marks(at.sidebar)
    assert len(rail) <= 5, rail
    assert len(question_marks(at._tree)) - len(rail) <= 3, question_marks(at._tree)


@pytest.mark.parametrize("page", PAGES)
def test_at_most_six_helps_are_on_another_page(page):
    at = opened(example="sentence")
    ran(at.switch_page(f"attention/pages/{page}.py"))
    assert len(question_marks(at._tree)) <= 6, question_marks(at._tree)


@pytest.mark.parametrize("page", ["variance", "conventions", "check"])
def test_every_help_of_the_other_pages_is_a_sentence(page):
    at = opened(example="sentence")
    ran(at.switch_page(f"attention/pages/{page}.py"))
    assert check(at) >= 1
    if page == "check":
        ran(at.button_group(key="set_check_source").set_value("weights"))
        ran(at.selectbox(key="set_check_mask_kind").set_value("pasted"))
        assert check(at) > 10


@pytest.mark.parametrize(
    "text",
    [
        "Q = [[1, 2]]\nK = [[3, 4]]\nV = [[5, 6, 7]]",
        "Q = [[[1, 2]]]\nK = [[[3, 4]]]\nV = [[[5, 6]]]",
        "1 0 1 0\n0 1 1 0\n1 1 0 0\n0 0 1 1",
        "cat 1 2 3 4\ndog 5 6 7 8",
        "I have 2 cats",
        "1,2 3,4 5,6 7,8",
        "mask = [[1, 0, 1, 0]]",
    ],
)
def test_every_help_of_what_was_brought_is_a_sentence(text):
    assert check(pasted(opened(), text)) > 15
