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


TABS = "Spread", "Initialise", "Your data", "Export", "Code"
LINKS = [{"example": "cat-sat"}, {"example": "sentence"}, {"example": "batch", "mask": "causal"}]


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link["example"])
def test_every_help_of_explore_is_a_sentence(link):
    at = opened(**link)
    ran(at.selectbox(key="set_scale_kind").set_value("number"))
    assert all(check(below(at, tab)) > 15 for tab in TABS)


def test_at_most_six_helps_are_in_sight_when_a_page_is_opened():
    """Each is a stop of the Tab key; those of buttons are none."""
    at = opened(example="cat-sat")
    found = [c for c in controls(at._tree) if c.proto.help]
    helped = [c.key for c in found if "button" not in getattr(c, "type", "popover")]
    assert len(helped) <= 6, helped


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
