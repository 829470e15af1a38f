"""The parts of real layers on the pages: off at first, each by its own control, and every page goes
on with all of them in use.
"""

from dataclasses import replace

import messages
import pytest
from pages.conftest import opened_at, ran, settings_of, words
from pages.test_check_page import panes

from attention.pages.panels.real_layers import HEADING, ROWS
from attention.session.compare import pair
from attention.session.edit import changes
from attention.session.edit import parts as prepared
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view

EXPLORE, COMPARE = "attention/pages/explore.py", "attention/pages/compare.py"
CAT = EXAMPLES["cat-sat"].build()
TWO = replace(CAT, heads=2, mask="causal")
ALL = replace(
    changes.set_kv_heads(TWO, 1), softcap=2.0, sinks=(0.5, 1.0), alibi=True, window=3, query=3
)
ALL = prepared.set_relative(ALL, True)


def opened(page, settings, unfold=True):
    at = opened_at(page, **links.write(settings))
    if unfold:
        at.session_state["real_layers"] = True
        at = ran(at)
    return at


def moved(at, kind, name, value):
    """The page after a move of one control, with the panel open, as a browser keeps it."""
    control = getattr(at, kind)(key=f"set_{name}").set_value(value)
    at.session_state["real_layers"] = True
    return ran(control)


def test_the_panel_is_closed_and_empty_at_first():
    at = opened(EXPLORE, CAT, unfold=False)
    begin = messages.PARTS_IN_USE.partition("{parts}")[0]
    assert HEADING in [each.label for each in at.expander] and begin not in words(at)
    assert not [toggle for toggle in at.toggle if toggle.key.endswith("_on")]
    used = "Heads of keys and values, Soft cap, ALiBi, Relative bias (T5), Window, Sinks"
    assert messages.PARTS_IN_USE.format(parts=used) in words(opened(EXPLORE, ALL, unfold=False))


def test_each_control_changes_its_setting():
    at = opened(EXPLORE, TWO)
    assert len([toggle for toggle in at.toggle if toggle.key.endswith("_on")]) == len(ROWS) - 1
    at = moved(at, "toggle", "softcap_on", True)
    at = moved(at, "number_input", "softcap", 1.5)
    at = moved(at, "toggle", "alibi_on", True)
    at = moved(at, "toggle", "window_on", True)
    at = moved(at, "number_input", "window", 4)
    at = moved(at, "toggle", "sinks_on", True)
    at = moved(at, "number_input", "sink", 0.5)
    at = moved(at, "selectbox", "kv_heads", 1)
    s = settings_of(at)
    assert (s.softcap, s.alibi, s.window, s.sinks, s.kv_heads) == (1.5, True, 4, (0.5, 0.0), 1)
    assert {"capped", "mask", "masked", "weights"} <= panes(at).keys()
    at = moved(at, "toggle", "sigmoid_on", True)
    assert (settings_of(at).softmax, settings_of(at).sinks) == ("sigmoid", ())
    assert messages.SINKS_ARE_OFF in words(at)
    at = moved(at, "toggle", "sigmoid_on", False)
    assert (settings_of(at).softmax, settings_of(at).sinks) == (True, (0.5, 0.0))
    assert messages.SINKS_ARE_ON_AGAIN in words(at)
    at = moved(at, "toggle", "sigmoid_on", True)
    at = moved(at, "toggle", "sinks_on", True)
    assert messages.SIGMOID_IS_OFF in words(at)
    assert (settings_of(at).softmax, settings_of(at).sinks) == (True, (0.0,))
    at = moved(at, "toggle", "sinks_on", False)
    at = moved(at, "toggle", "sigmoid_on", True)
    for name in ("softcap", "alibi", "window", "sigmoid"):
        at = moved(at, "toggle", f"{name}_on", False)
    at = moved(at, "selectbox", "kv_heads", 2)
    assert replace(settings_of(at), matrices=TWO.matrices) == TWO


def test_fewer_heads_cannot_leave_a_number_behind():
    at = opened(EXPLORE, replace(ALL, head=1))
    assert at.number_input(key="set_sink").value == 1.0
    assert at.selectbox(key="set_heads").options == ["2", "4"]  # one head cannot share
    at = moved(at, "selectbox", "kv_heads", 2)
    at = moved(at, "selectbox", "heads", 1)
    assert (settings_of(at).heads, settings_of(at).sinks) == (1, (0.5,))


def test_a_table_by_distance_is_drawn_and_made_longer():
    at = moved(opened(EXPLORE, TWO), "toggle", "relative_on", True)
    assert settings_of(at) == prepared.set_relative(TWO, True) and "R" in panes(at)
    at = moved(at, "number_input", "relative_seed", 5)
    at = moved(at, "number_input", "relative_buckets", 12)
    at = moved(at, "number_input", "relative_distance", 20)
    at = moved(at, "selectbox", "relative_sides", False)
    s = settings_of(at)
    assert (s.shape("R"), s.max_distance, s.bidirectional) == ((12, 2), 20, False)
    assert prepared.seed_of_relative(s) == 5
    at = moved(at, "toggle", "relative_on", False)
    assert settings_of(at) == TWO


PAGES = ("explore", "compare", "exercises", "learn", "conventions", "check", "variance", "embedded")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("s", [ALL, replace(TWO, softmax="sigmoid")], ids=["all", "sigmoid"])
def test_every_page_goes_on_with_parts_in_use(page, s):
    at = opened(f"attention/pages/{page}.py", s, unfold=False)
    assert settings_of(at).parts == s.parts
    if page == "learn":
        assert messages.TOUR_NEEDS_NO_PARTS.partition("{parts}")[0] in words(at)


def test_compare_shows_what_a_part_changes():
    at = opened(COMPARE, pair.compared(pair.Pair(TWO, ALL)))
    said = words(at)
    for change in ("soft cap: none → 2", "ALiBi: off → on", "window: none → 3 keys"):
        assert f"<li>{change}</li>" in said
    b = view(ALL, run(ALL)).stages
    assert panes(at)["weights_difference"] and b["weights"].shape == (6, 6)
