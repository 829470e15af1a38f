"""Present in a real browser: a stage over the whole window, by keys, fingers and clickers."""

import numpy as np
from browser.dashboard import until

from attention.session.compare import pair
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.vocabulary.numbers import rounded
from attention.vocabulary.stages import STAGES

READABLE = 28  # px at 1920 × 1080, of four tokens: one stage, or that of two states
TOGETHER = 20  # px: all stages of a formula
ARITHMETIC = 26  # px: the card of the chosen cell
SEEN = """() => [...document.querySelectorAll('.board-pane')]
  .filter(pane => pane.checkVisibility({ visibilityProperty: true }))
  .map(pane => pane.dataset.stage)"""
FILLS = """() => { const { left, top, right, bottom } =
    document.querySelector('.board.presenting').getBoundingClientRect()
  const seen = document.elementFromPoint(innerWidth - 3, 3).closest('.board')
  return !!seen && left <= 0 && top <= 0 && right >= innerWidth && bottom >= innerHeight }"""
EDGES = """stage => { // the colour of the left edge of each row
  const canvas = document.querySelector(`.board-pane[data-stage=${stage}] .board-canvas`)
  const { width } = canvas, { x, y } = canvas.painted.axes, ratio = width / canvas.clientWidth
  const at = i => [x(-0.5) * ratio, y(i) * ratio].map(Math.floor)
  const context = canvas.getContext('2d')
  return canvas.painted.z.map((_, i) => String(context.getImageData(...at(i), 1, 1).data)) }"""
LIT = """stage => { // whether the lit row is the one that the query has in this stage
  const canvas = document.querySelector(`.board-pane[data-stage=${stage}] .board-canvas`)
  const middle = i => canvas.getBoundingClientRect().top + canvas.painted.axes.y(i)
  const bars = [...document.querySelectorAll('.board-lit')].filter(bar => bar.checkVisibility())
  const boxes = bars.map(bar => bar.getBoundingClientRect())
  return canvas.painted.z.map((_, i) =>
    boxes.some(({ top, bottom }) => top < middle(i) && middle(i) < bottom)) }"""
SAID = ".board-live"
GIVEN = {"X", "W_Q", "W_K", "W_V", "mask"}
FACTORS = {
    **{name: {"X", f"W_{name}"} for name in "QKV"},
    **{"scores": {"Q", "K"}, "scaled": {"scores"}, "masked": {"scaled", "mask"}},
    **{"weights": {"masked"}, "output": {"weights", "V"}},
}


PARTS = {  # of the formula, each with what it stands for
    **{"Q": ["Q"], "K": ["Kᵀ"], "V": ["V"], "scores": ["Q", "Kᵀ"], "scaled": ["/ √dk"]},
    **{"masked": ["+ M"], "weights": ["softmax"], "output": ["Attention"]},
}


def seen(dashboard):
    return dashboard.page.evaluate(SEEN)


def test_keys_go_through_all_stages_in_numbers_that_a_room_can_read_and_esc_leads_back(visit):
    link = {"example": "four-words", "mask": "causal"}
    dashboard = visit(width=1920, height=1080).open(**link)
    page, keys = dashboard.page, dashboard.page.keyboard
    s = links.read(link)[0]
    shown = view(s, run(s))
    dashboard.click("Q", 2, 1).idle()
    board, sizes = seen(dashboard), dashboard.sizes("Q")
    stages = [name for name in dashboard.stages() if name not in GIVEN]
    keys.press("p")
    until(page.get_by_role("dialog", name="Presentation"))
    dashboard.wait_for(FILLS)
    assert set(seen(dashboard)) == {"Q"} | FACTORS["Q"]  # where one was
    for _ in stages:
        keys.press("PageUp")
    assert page.locator(SAID).inner_text() == f"The whole board, 1 of {len(stages) + 1}"
    together = [size for name in seen(dashboard) for size in dashboard.sizes(name)]
    assert set(stages) - {"scores", "scaled", "masked"} <= set(seen(dashboard))
    assert min(together) >= TOGETHER
    found = []
    for k, name in enumerate(stages, 2):
        keys.press("ArrowRight")
        assert {name} <= set(seen(dashboard)) <= {name} | FACTORS[name]
        assert page.locator(SAID).inner_text().endswith(f"{k} of {len(stages) + 1}")
        painted = dashboard.numbers(name)
        there = ~np.isnan(painted)
        np.testing.assert_array_equal(painted[there], shown.stages[name][there])
        found.append(min(dashboard.sizes(name)))
        # the arithmetic of this stage, of the query and the key of before
        until(page.locator(f".board-card[data-cell^='{name},']"))
        letters = page.locator(".board-card").evaluate("card => parseFloat(card.style.fontSize)")
        assert letters >= ARITHMETIC
        lit = page.locator(".board-formula .presented").all_inner_texts()
        assert [part.strip() for part in lit] == PARTS[name]
    assert min(found) >= READABLE
    keys.press("ArrowRight")
    assert stages[-1] in seen(dashboard)
    # a query: its row is lit in every stage that has one
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    query = shown.labels["queries"][1]
    for name in reversed(stages):
        assert name in seen(dashboard)
        assert page.locator(SAID).inner_text().endswith(f"query {query}")
        line = page.locator(".board-line").inner_text()
        if STAGES[name].rows == "queries":
            assert page.evaluate(LIT, name) == [False, True, False, False]
            row = ", ".join(rounded(shown.printed(name), s.digits)[1])
            assert line.endswith(f"→ {STAGES[name].heading} ({row})")
        else:
            assert not line
        keys.press("ArrowLeft")
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    assert "query" not in page.locator(SAID).inner_text()
    keys.press("Escape")
    until(page.get_by_role("dialog", name="Presentation"), "detached")
    assert seen(dashboard) == board
    assert page.locator(".board-groups > .board-formula").count() == 1  # where it was
    dashboard.wait_for("() => innerWidth === 1920 && !document.fullscreenElement")
    dashboard.wait_for(
        "size => document.querySelector('[data-stage=Q] .board-canvas').painted.size === size",
        sizes[0],
    )
    assert page.evaluate("document.activeElement.closest('.board-pane').dataset.stage") == "Q"


CODE = "vendor/qr.svg?text=https%3A%2F%2Fexample.org%2F"  # this server has none: it is here alone
WITH_CODE = f"""const {{ parse }} = JSON
  JSON.parse = (...given) => {{
    const found = parse(...given)
    return found?.spokenOf ? {{ ...found, code: '{CODE}' }} : found }}"""


def test_the_link_is_shown_as_a_code_that_fills_the_window(visit):
    dashboard = visit()
    dashboard.page.add_init_script(WITH_CODE)
    dashboard.open()
    page, keys = dashboard.page, dashboard.page.keyboard
    code = page.get_by_role("img", name="The link to this page as a QR code")
    keys.press("p")
    until(page.get_by_role("dialog", name="Presentation"))
    page.get_by_role("button", name="Show the link as a QR code (Q)").click()
    until(code)
    height = "() => Math.min(innerWidth, innerHeight)"
    assert code.bounding_box()["height"] > 0.9 * page.evaluate(height)
    assert code.evaluate("node => node.decode().then(() => node.naturalWidth)") > 50
    keys.press("Escape")  # back to the board
    until(code, "hidden")
    keys.press("q")
    until(code)
    keys.press("ArrowRight")
    until(code, "hidden")
    until(page.get_by_role("dialog", name="Presentation"))
    keys.press("Escape")
    until(page.get_by_role("dialog", name="Presentation"), "detached")


def test_without_a_full_screen_it_lies_over_the_page_and_compares_in_one_line(visit):
    compared = pair.PRESETS["mask"].make(EXAMPLES["four-words"].build())
    link, _ = links.address(pair.compared(compared))
    dashboard = visit(width=1920, height=1080, scheme="dark")
    refuses = "Element.prototype.requestFullscreen = () => Promise.reject(new Error('refused'))"
    dashboard.page.add_init_script(refuses)
    dashboard.open("compare", **link)
    page, keys = dashboard.page, dashboard.page.keyboard
    keys.press("p")
    dashboard.wait_for(FILLS)
    sides = ["masked_a", "masked", "masked_difference"]
    while seen(dashboard) != sides:
        keys.press("PageDown")
    tops = {page.locator(f"[data-stage={name}] canvas").first.bounding_box()["y"] for name in sides}
    assert len(tops) == 1
    keys.press("PageDown")
    assert seen(dashboard) == [name.replace("masked", "weights") for name in sides]
    keys.press("ArrowDown")
    for name in seen(dashboard):
        assert min(dashboard.sizes(name)) >= READABLE
        first, *others = page.evaluate(EDGES, name)
        assert len(set(others)) == 1 and first not in others
    # what is typed in an input is no key of its own, and Tab does not leave
    for _ in range(7):
        keys.press("Tab")
        assert page.evaluate("!!document.activeElement.closest('.board')")
    keys.press("Escape")
    until(page.get_by_role("dialog", name="Presentation"), "detached")
    page.locator(".st-key-set_sentence input").focus()
    keys.type("p")
    assert page.locator(".board.presenting").count() == 0


def swipe(dashboard, across, down):
    finger = dashboard.page.context.new_cdp_session(dashboard.page)
    for kind, share in (("touchStart", 0), ("touchMove", 0.5), ("touchMove", 1)):
        point = {"x": 195 + share * across, "y": 300 + share * down}
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    finger.detach()


def test_on_a_phone_buttons_lead_on_and_show_nothing_that_is_asked(phone):
    page = phone.open("learn", example="cat-sat", step="6").page
    hidden = {"weights", "output"}
    page.locator("[data-stage=Q] .board-plot").tap()
    page.locator("[data-stage=Q] .board-tool", has_text="⋯").tap()
    page.locator(".board-menu:not([hidden])").get_by_role("button", name="Present").tap()
    phone.wait_for(FILLS)
    begun = seen(phone)
    assert set(begun) == {"Q"} | FACTORS["Q"]
    passed = set(begun)
    for _ in phone.stages():
        page.get_by_role("button", name="Next stage").tap()
        passed |= set(seen(phone))
    assert passed == set(phone.stages()) and hidden < passed
    assert not any(text for stage in hidden for row in phone.printed(stage) for text in row)
    last = seen(phone)
    swipe(phone, -150, 0)  # to the left: on, where nothing more comes
    assert seen(phone) == last
    swipe(phone, 150, 0)
    before = phone.stages()[-2]
    factors = {"scaled" if name == "masked" else name for name in FACTORS[before]}  # without a mask
    assert before in seen(phone) and set(seen(phone)) <= {before} | factors
    leave = page.get_by_role("button", name="Leave the presentation")
    # a tap right after a swipe may be taken for one that stops it
    until(page.get_by_role("dialog", name="Presentation"), "detached", leave.tap)


def test_a_page_that_is_left_as_it_begins_to_be_presented_raises_no_error(visit):
    dashboard = visit().open()
    dashboard.page.evaluate(
        """() => { Element.prototype.requestFullscreen = () => new Promise((_, refuse) => {
             window.refuse = () => refuse(new Error('the window is no longer in front')) }) }"""
    )
    dashboard.page.keyboard.press("p")
    until(dashboard.page.locator(".board.presenting"))
    dashboard.page.evaluate(
        """() => { const board = document.querySelector('.board')
             new MutationObserver((_, seen) => { if (!board.isConnected) {
               seen.disconnect(); refuse(); window.refused = true } })
             .observe(document, { childList: true, subtree: true })
             history.pushState(null, '', '/why')
             dispatchEvent(new Event('popstate')) }"""
    )
    dashboard.wait_for("() => window.refused")
    dashboard.idle()


def test_what_is_left_before_the_window_is_filled_does_not_fill_it(visit):
    dashboard = visit().open()
    dashboard.page.evaluate(
        """() => { const fill = Element.prototype.requestFullscreen
             Element.prototype.requestFullscreen = async function () {
               await new Promise(left => { window.left = left })
               await fill.call(this)
               window.filled = true } }"""
    )
    dashboard.page.keyboard.press("p")
    until(dashboard.page.locator(".board.presenting"))
    dashboard.page.keyboard.press("Escape")
    until(dashboard.page.locator(".board.presenting"), "detached")
    dashboard.page.evaluate("left()")
    dashboard.wait_for("() => window.filled && !document.fullscreenElement")
    dashboard.page.locator(".st-key-set_sentence input").focus()
    assert dashboard.page.evaluate("document.activeElement.tagName") == "INPUT"
