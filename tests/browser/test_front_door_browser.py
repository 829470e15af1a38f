"""The way in, as someone new goes it: a sentence, random weights, one cell, the link."""

import messages
import numpy as np
import pytest
from browser.conftest import CLIPBOARD
from browser.dashboard import until

from attention.pages.frame import share
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view

LABELS = """labels => JSON.stringify(document.querySelector(
  '.board-pane[data-stage=Q] .board-canvas')?.painted?.rows) === JSON.stringify(labels)"""


def sentence(dashboard):
    return dashboard.page.locator(".st-key-set_sentence input")


def test_a_sentence_is_typed_weights_are_randomized_and_the_copied_link_opens_them_elsewhere(visit):
    dashboard = visit(permissions=CLIPBOARD).open(bare=True)
    sentence(dashboard).fill("the small dog and the cat.")
    dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
    dashboard.wait_for(LABELS, ["the₁", "small", "dog", "and", "the₂", "cat", "."])
    s = dashboard.settings()
    assert s.tokens == ("the", "small", "dog", "and", "the", "cat", ".")
    np.testing.assert_array_equal(dashboard.numbers("weights"), view(s, run(s)).stages["weights"])

    before = {name: dashboard.numbers(name) for name in ("W_Q", "W_K", "W_V")}
    dashboard.after(
        lambda: dashboard.page.locator(".st-key-randomize button").first.evaluate("b => b.click()")
    )
    for name, old in before.items():
        assert not np.array_equal(dashboard.numbers(name), old)
    s = dashboard.settings()
    np.testing.assert_array_equal(dashboard.numbers("W_K"), s.matrices["W_K"].values)

    dashboard.page.get_by_role("button", name="Share", exact=True).click()
    panel = dashboard.page.locator("[data-testid=stPopoverBody]")
    panel.get_by_role("button", name="Copy: The link").click()
    until(panel.get_by_text(messages.IT_WAS_COPIED))
    assert panel.get_by_text(share.LOCAL).is_visible()
    assert panel.get_by_text(messages.NO_QR_CODE).is_visible()
    link = dashboard.page.evaluate("navigator.clipboard.readText()")
    other = visit()
    other.page.goto(link)
    other.page.wait_for_selector(".board[data-tag]")
    np.testing.assert_array_equal(other.numbers("output"), dashboard.numbers("output"))
    line = panel.locator(".copy input").nth(1).input_value()
    assert line.startswith("<iframe title=") and "embed=true" in line


def test_without_a_clipboard_the_link_is_selected_to_be_copied_by_hand(visit):
    dashboard = visit()
    dashboard.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
        "document.execCommand = () => false"
    )
    dashboard.open(bare=True)
    dashboard.page.get_by_role("button", name="Share", exact=True).click()
    dashboard.page.get_by_role("button", name="Copy: The link").click()
    until(dashboard.page.locator(".copy").get_by_text(messages.IT_IS_SELECTED))
    assert dashboard.page.evaluate(
        "() => { const f = document.activeElement; return f.value.slice("
        "f.selectionStart, f.selectionEnd) === f.value && f.value.includes('?example=') }"
    )


def test_a_list_that_a_key_opens_has_the_focus_and_esc_gives_it_back(visit):
    dashboard = visit(permissions=CLIPBOARD).open(bare=True)
    keyboard = dashboard.page.keyboard
    dashboard.page.get_by_role("button", name="Share", exact=True).focus()
    keyboard.press("Enter")
    dashboard.wait_for("document.activeElement.closest('[data-testid=stPopoverBody] .copy')")
    keyboard.press("Tab")
    keyboard.press("Enter")
    until(dashboard.page.locator(".copy").get_by_text(messages.IT_WAS_COPIED))
    link = dashboard.page.evaluate("navigator.clipboard.readText()")
    assert link == dashboard.page.locator(".copy input").first.input_value()
    keyboard.press("Escape")
    until(dashboard.page.locator("[data-testid=stPopoverBody]"), "detached")
    assert dashboard.page.evaluate("document.activeElement.innerText").startswith("Share")


SEEN = """text => { const node = [...document.querySelectorAll('.board-card .line')].find(
    node => node.textContent.includes(text))
  const box = node?.getBoundingClientRect()
  return box && box.height && box.top > 0 && box.bottom <= innerHeight }"""
MENU_OPEN = "() => !document.querySelector('[data-testid=stExpandSidebarButton]')"
MENU_CLOSED = "() => !!document.querySelector('[data-testid=stExpandSidebarButton]')"


def test_on_a_phone_a_finger_finds_examples_and_pages_and_sees_what_an_edit_does(phone):
    page = phone.open(bare=True).page

    def menu():
        page.locator("[data-testid=stExpandSidebarButton]").tap()
        phone.wait_for(MENU_OPEN)

    menu()
    page.locator("[data-testid=stSidebar] [data-testid=stPopoverButton]").filter(visible=True).tap()
    words = page.locator(".st-key-set_example")
    until(words.get_by_text("Four words, by hand", exact=True))
    for example in EXAMPLES.values():
        assert words.get_by_text(example.sentence, exact=True).count() == 1
    phone.after(lambda: words.get_by_text("Four words, by hand", exact=True).tap())
    phone.wait_for(MENU_CLOSED)
    menu()
    page.get_by_role("link", name="Conventions").tap()
    phone.wait_for("() => location.pathname === '/conventions'")
    phone.wait_for(MENU_CLOSED)
    menu()
    page.get_by_role("link", name="Explore").tap()
    until(page.locator(".board-pane[data-stage=Q]"))
    phone.wait_for(MENU_CLOSED)

    x, y = phone.idle().place("W_Q", 0, 0)
    page.touchscreen.tap(x, y)
    until(page.get_by_text(messages.TAP_TO_CHANGE))
    until(page.locator(".board-card[data-cell='W_Q,0,0']"))
    phone.idle()
    page.touchscreen.tap(*phone.place("W_Q", 0, 0))
    until(page.locator(".board-input"))
    page.keyboard.type("-9")
    phone.after(lambda: page.keyboard.press("Enter"))
    s = phone.settings()
    assert s.matrices["W_Q"].values[0, 0] == -9
    seen = view(s, run(s)).stages
    largest = seen["weights"][0].argmax()
    phone.wait_for(SEEN, f"“{s.tokens[largest]}” {seen['weights'][0, largest]:.2f}")
    phone.wait_for(SEEN, f"{seen['output'][0, 0]:.2f}".replace("-", "−"))


def test_on_a_phone_a_token_is_deleted_and_nothing_is_cut(phone):
    page = phone.open(bare=True).page
    button = page.get_by_role("button", name="Delete the token sat", exact=True)

    def tap_the_label() -> None:
        _, y = phone.idle().place("X", 2, 0)
        left = page.locator(".board-pane[data-stage=X] .board-plot").bounding_box()["x"]
        page.touchscreen.tap(left + 20, y)

    until(button, act=tap_the_label)  # a pane that moved meanwhile is tapped again
    phone.after(button.tap)
    phone.wait_for(LABELS, ["the₁", "cat", "on", "the₂", "mat"])
    assert phone.idle().settings().tokens == ("the", "cat", "on", "the", "mat")
    main = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"{main}.scrollWidth <= {main}.clientWidth")
    phone.open("check", ready=".st-key-set_check_plant")
    assert page.locator(".st-key-set_check_plant").bounding_box()["width"] > 300


def test_embedded_in_another_page_it_shows_the_same_numbers(look, visit):
    dashboard = look(mask="causal")
    numbers, tag = dashboard.numbers("output"), dashboard.tag()
    link = dashboard.page.url
    dashboard.page.get_by_role("button", name="Share", exact=True).click()
    field = dashboard.page.locator(".copy input").nth(1)
    until(field)
    line = field.input_value()
    other = visit()
    other.page.route("**/lecture", lambda route: route.fulfill(body=line, content_type="text/html"))
    other.page.goto(other.address + "lecture")
    frame = other.page.frame_locator("iframe")
    until(frame.locator(".board[data-tag]"))
    assert frame.locator(".board").get_attribute("data-tag") == tag
    canvas = frame.locator("[data-stage=output] .board-canvas")
    found = canvas.evaluate("node => node.painted.z.map(row => [...row])")
    np.testing.assert_array_equal(found, numbers)
    assert "embed=true" in line and link.split("?")[1].split("&")[0] in line


@pytest.mark.parametrize(
    ("width", "height", "example"),
    [(1440, 900, "cat-sat"), (1920, 1080, "cat-sat"), (1440, 900, "sentence")],
)
def test_inputs_all_stages_and_the_arithmetic_are_seen_without_scrolling(
    look, width, height, example
):
    dashboard = look(width, height, example=example)
    dashboard.wait_for(
        """() => {
        const dock = document.querySelector('[data-testid=stBottomBlockContainer]')
        const foot = dock.getBoundingClientRect().top
        const panes = [...document.querySelectorAll('.board-pane:not(.behind):not([hidden])')]
        const parts = [...panes, ...document.querySelectorAll('.board-inputs, .board-card')]
        const boxes = parts.map(part => part.getBoundingClientRect())
        return panes.length > 6 && boxes.every(box => box.height > 20 && box.bottom <= foot) }"""
    )
    assert min(dashboard.sizes("weights")) >= 11


def test_the_menu_has_one_order_for_eyes_and_keys_and_esc_leaves_a_section(look):
    page = look().page
    items = page.locator("[data-testid=stTopNav] :is(a, button):visible").all()
    seen = sorted(items, key=lambda item: item.bounding_box()["x"])
    names = [item.inner_text() for item in seen]
    assert names == ["Explore", "Learn", "Compare", "Models", "Check"]
    page.get_by_role("link", name="Explore").focus()
    for name in names[1:]:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText") == name
    page.keyboard.press("Enter")
    check = page.get_by_role("menu", name="Check")
    until(check.get_by_role("menuitem", name="Check yours").and_(page.locator(":focus")))
    page.keyboard.press("ArrowDown")
    until(check.get_by_role("menuitem", name="Conventions").and_(page.locator(":focus")))
    page.keyboard.press("Escape")
    until(check, "detached")
    assert page.evaluate("document.activeElement.innerText") == "Check"


def test_an_address_that_no_page_has_says_so(visit):
    dashboard = visit()
    dashboard.page.goto(dashboard.address + "nosuchpage")
    until(dashboard.page.get_by_text("Page not found"))
