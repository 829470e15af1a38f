"""Play in a real browser: by click, by keys, with less motion, and given up for what else is done.

What is seen at each moment is held by tests in Node.
"""

from browser.dashboard import until

NOW = ".board.playing .board-card .steps [aria-current=step]"
SEEN = "document.querySelector('.board-play').toDataURL()"
OVER = "() => !document.querySelector('.board.playing')"
BEHIND = "document.querySelector('.board-pane[data-stage=scaled]').classList.contains('behind')"
LOOK_AHEAD = {"example": "cat-sat", "mask": "causal"}


def played(dashboard, sent: list | None = None, **link):
    """A page on which Play is pressed, with the messages to the server from then on in ``sent``."""
    page = dashboard.page
    if sent is not None:
        keep = lambda frame: sent.append(frame)  # noqa: E731  Playwright marks what it calls
        page.on("websocket", lambda socket: socket.on("framesent", keep))
    dashboard.open(**link)
    page.wait_for_timeout(300)  # for what opening tells the server late
    if sent is not None:
        sent.clear()
    page.locator(".board-control.main").click()
    until(page.locator(NOW))
    return page


def step(page) -> str:
    return page.locator(NOW).inner_text()


def test_a_query_is_played_step_by_step_without_the_server(visit):
    sent: list = []
    page = played(visit(motion="no-preference"), sent, **LOOK_AHEAD)
    assert step(page) == "1 Dot products"
    cards = "document.querySelector('.board-card h2').textContent"
    page.wait_for_function(f"{cards} === 'Score of “sat” with “cat”'", polling=25)
    page.keyboard.press("Space")
    page.get_by_role("button", name="Go on (Space)").wait_for()
    paused = page.evaluate(SEEN)
    page.wait_for_timeout(200)
    assert page.evaluate(SEEN) == paused
    for key, name in (
        *(("ArrowRight", "2 Scale"), ("ArrowRight", "3 Mask"), ("ArrowRight", "4 Softmax")),
        ("ArrowLeft", "3 Mask"),
    ):
        page.keyboard.press(key)
        assert step(page) == name
    live = page.locator(".board-live[aria-live=polite]")
    assert live.inner_text() == "3 Mask: Hide the masked keys"
    page.get_by_role("button", name="5 Mix").click()
    assert step(page) == "5 Mix"
    page.get_by_role("button", name="Play again (Space)").wait_for()
    page.keyboard.press("ArrowRight")
    assert step(page) == "5 Mix"  # no step leads out of Play
    page.keyboard.press("Space")
    assert step(page) == "1 Dot products"
    page.locator(".board-control.speed").click()
    page.wait_for_function(f"document.querySelector('{NOW}').textContent === '5 Mix'")
    page.get_by_role("button", name="Previous step (←)").focus()
    page.keyboard.press("Escape")
    page.wait_for_function(OVER)
    assert page.evaluate("document.activeElement.ariaLabel") == "Play “sat”"
    assert sent == []


def test_tabs_turn_with_the_steps_and_back(visit):
    dashboard = visit(1366, 768, motion="no-preference")
    page = played(dashboard, **LOOK_AHEAD | {"cell": "masked,2,1"})
    page.keyboard.press("Space")
    assert page.locator(".board-tab[data-stage=scaled]").count()
    page.keyboard.press("ArrowRight")
    assert not page.evaluate(BEHIND)
    page.keyboard.press("ArrowRight")
    assert page.evaluate(BEHIND)
    page.keyboard.press("ArrowLeft")
    assert not page.evaluate(BEHIND)
    page.keyboard.press("Escape")
    assert page.evaluate(BEHIND)  # the chosen cell is one of masked


def test_what_is_clicked_or_typed_meanwhile_is_done(visit):
    dashboard = visit(motion="no-preference")
    page = played(dashboard, example="cat-sat")
    page.mouse.click(*dashboard.place("weights", 4, 1))  # there is no tip meanwhile
    page.wait_for_function(OVER)
    until(page.locator(".board-card[data-cell='weights,4,1']"))
    dashboard.idle().click("W_Q", 0, 0).idle()
    page.locator(".board-control.main").focus()
    page.keyboard.press("Enter")
    until(page.locator(NOW))
    page.locator(".board-pane[data-stage=W_Q] .board-plot").focus()
    page.keyboard.type("7")
    page.wait_for_function(OVER)
    dashboard.after(lambda: page.keyboard.press("Enter"))
    assert dashboard.settings().matrices["W_Q"].values[0, 0] == 7
    page.locator(".board-control.main").click()
    until(page.locator(NOW))
    dashboard.after(lambda: page.get_by_role("radio", name="mat").click())
    page.wait_for_function(OVER)
    assert dashboard.settings().query == 5
    page.locator(".board-control.main").click()
    until(page.locator(NOW))
    dashboard.menu("set_mask", "look-ahead (causal)")  # the server sends other numbers
    page.wait_for_function(OVER)


def test_with_less_motion_the_ends_of_the_steps_are_shown(visit):
    page = played(visit(), example="cat-sat")
    for expected in ("1 Dot products", "2 Scale", "3 Softmax", "4 Mix"):
        assert step(page) == expected
        seen = page.evaluate(SEEN)
        page.wait_for_timeout(100)
        assert page.evaluate(SEEN) == seen
        page.locator(".board-control.main").click()
    assert step(page) == "1 Dot products"


def test_on_a_phone_the_block_of_a_step_is_between_strip_and_sheet(phone):
    page = phone.open(example="cat-sat").page
    page.locator(".board-control.main").tap()
    until(page.locator(NOW))
    page.get_by_role("button", name="4 Mix").tap()
    inside = """() => {
      const ends = node => document.querySelector(node).getBoundingClientRect()
      const [strip, card] = ['.board-strip', '.board-card'].map(ends)
      const parts = ['V', 'weights', 'output'].map(s => ends(`.board-pane[data-stage=${s}]`))
      return parts.every(({ top, bottom }) => top > strip.bottom - 1 && bottom < card.top + 1) }"""
    page.wait_for_function(inside)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Leave Play").tap()
    page.wait_for_function(OVER)
