"""The way in, as someone new goes it: a sentence, random weights, one cell, the link."""

from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from attention.session import links
from attention.session.run import run, view

LABELS = """labels => JSON.stringify(document.querySelector(
  '.board-pane[data-stage=weights] .board-canvas')?.painted?.rows) === JSON.stringify(labels)"""


def settings(dashboard):
    """What the address says."""
    found, notices = links.read(dict(parse_qsl(urlsplit(dashboard.page.url).query)))
    assert notices == []
    return found


def sentence(dashboard):
    return dashboard.page.locator(".st-key-set_sentence input")


def test_a_sentence_is_typed_and_its_attention_seen_in_two_actions(visit):
    dashboard = visit().open(bare=True)
    sentence(dashboard).fill("A small dog barks.")
    dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
    dashboard.wait_for(LABELS, ["A", "small", "dog", "barks", "."])
    s = settings(dashboard)
    assert s.tokens == ("A", "small", "dog", "barks", ".")
    np.testing.assert_array_equal(dashboard.numbers("weights"), view(s, run(s)).stages["weights"])


def test_randomize_is_one_press_and_draws_all_three_weights(visit):
    dashboard = visit().open(bare=True)
    before = {name: dashboard.numbers(name) for name in ("W_Q", "W_K", "W_V")}
    dashboard.after(
        lambda: dashboard.page.locator(".st-key-randomize button").first.evaluate("b => b.click()")
    )
    for name, old in before.items():
        assert not np.array_equal(dashboard.numbers(name), old)
    s = settings(dashboard)
    np.testing.assert_array_equal(dashboard.numbers("W_K"), s.matrices["W_K"].values)


def test_the_copied_link_opens_the_same_board_elsewhere(visit):
    dashboard = visit(permissions=("clipboard-read", "clipboard-write")).open(bare=True)
    sentence(dashboard).fill("the dog and the cat")
    dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
    dashboard.page.get_by_role("button", name="Copy link", exact=True).click()
    panel = dashboard.page.locator(".share-panel")
    panel.get_by_text("The link was copied.").wait_for()
    assert panel.get_by_text("This link holds everything").is_visible()
    link = dashboard.page.evaluate("navigator.clipboard.readText()")
    other = visit()
    other.page.goto(link)
    other.page.wait_for_selector(".board[data-tag]")
    np.testing.assert_array_equal(other.numbers("output"), dashboard.numbers("output"))
    line = panel.locator("input").nth(1).input_value()
    assert line.startswith('<iframe src="http') and "embed=true" in line


def test_without_a_clipboard_the_link_is_selected_to_be_copied_by_hand(visit):
    dashboard = visit()
    dashboard.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
        "document.execCommand = () => false"
    )
    dashboard.open(bare=True)
    dashboard.page.get_by_role("button", name="Copy link", exact=True).click()
    dashboard.page.locator(".share-panel").get_by_text("The link is selected").wait_for()
    assert dashboard.page.evaluate(
        "() => { const f = document.activeElement; return f.value.slice("
        "f.selectionStart, f.selectionEnd) === f.value && f.value.includes('?example=') }"
    )


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080)])
def test_inputs_all_stages_and_the_arithmetic_are_seen_without_scrolling(visit, width, height):
    dashboard = visit(width, height).open(bare=True)
    dashboard.wait_for(
        """() => {
        const dock = document.querySelector('[data-testid=stBottomBlockContainer]')
        const seen = pane => pane.getBoundingClientRect().bottom
        const lowest = Math.max(...[...document.querySelectorAll('.board-canvas')].map(seen))
        const sum = document.querySelector('pre.cell')?.getBoundingClientRect()
        return sum && sum.height > 20 && sum.bottom <= innerHeight + 1
          && lowest <= dock.getBoundingClientRect().top + 1 }"""
    )
    assert min(dashboard.sizes("weights")) >= 11
