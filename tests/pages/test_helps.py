"""Helps are sentences; few are in sight at once, and the name of a control is read out as it is."""

import re
from dataclasses import dataclass

import pytest
from pages.conftest import ran
from pages.test_explore import below, opened, pasted
from pages.test_real_layers_page import ALL, EXPLORE
from pages.test_real_layers_page import opened as with_features

from attention.pages.frame import state
from attention.session.state.examples import EXAMPLES

SENTENCES = re.compile(r"[^a-z].*[.)]", re.DOTALL)
SENTENCE_ENDS = re.compile(r"[.)](?= [^a-z]|$)")
# examples have their sentences; the last nobody sees
BY_ITSELF = re.compile(f"example_|{state.HEARD}$")


BUTTONS = {"button", "download_button", "link_button", "popover"}


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


def question_marks(at):
    """The keys of what has a help in sight: each is a stop of the Tab key; those of buttons are
    none.
    """
    found = [c for c in controls(at._tree) if c.proto.help]
    return [c.key for c in found if getattr(c, "type", "popover") not in BUTTONS]


def other_page(name):
    return ran(opened(example="sentence").switch_page(f"attention/pages/{name}.py"))


def class_set():
    at = below(opened(), "Export")
    return ran(at.button_group(key="set_worksheet_numbers").set_value("a class set"))


OPENED = {
    "Explore": opened,
    **{tab: lambda tab=tab: below(opened(), tab) for tab in TABS},
    **{page: lambda page=page: other_page(page) for page in PAGES},
    "class set": class_set,
    "several arrays": lambda: pasted(opened(), "Q = [[1, 2]]\nK = [[3, 4]]\nV = [[5, 6, 7]]"),
    "commas": lambda: pasted(opened(), "cat;1,500;2,500\ndog;3,500;1,125"),
    "words and numbers": lambda: pasted(opened(), "I have 2 cats"),
    "features": lambda: with_features(EXPLORE, ALL),
    "rotary": lambda: with_features(EXPLORE, EXAMPLES["rotary"].build()),
}


@pytest.mark.parametrize("opening", OPENED.values(), ids=OPENED)
def test_a_page_has_at_most_six_question_marks(opening):
    assert len(question_marks(opening())) <= 6


def test_a_question_mark_is_counted_where_it_is_seen():
    """Those of the sidebar of Explore, as a browser shows them from top to bottom."""
    marks = [f"set_{name}" for name in ("scale_kind", "mask", "padding", "heads", "parts")]
    assert question_marks(opened()) == marks


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
