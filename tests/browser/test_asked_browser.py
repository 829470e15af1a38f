"""What the board of Explore shows between two answers: clicks, the pointer and a drag."""

from dataclasses import replace

import numpy as np
import pytest
from browser.conftest import SOCKETS
from browser.dashboard import TAG, until
from browser.test_state_browser import restart

from attention.session.edit.changes import set_dimension
from attention.session.state import links
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view

CARD = ".board-card[data-cell='{},{},{}']"
CHOSEN = "weights", 1, 3  # in the lit row
LINK = {"example": "cat-sat", "query": "1", "cell": "weights,1,3"}
HOLD = """() => { // what the page tells the server from now on, until it is released
  const { socket } = window, { send } = socket, held = []
  socket.send = told => held.push(told)
  window.release = () => { socket.send = send; held.forEach(told => send.call(socket, told)) } }"""
SEEN = """() => { // the cells whose arithmetic is seen, one after the other
  const card = document.querySelector('.board-card')
  window.seen = [card.dataset.cell]
  new MutationObserver(() => seen.push(card.dataset.cell))
    .observe(card, { attributeFilter: ['data-cell'] }) }"""
LENGTH = "history.length"
SAID = ".board-live[aria-live=polite]"


@pytest.fixture
def explored(visit):
    """Open Explore; ``asked`` are its requests from then on, ``told`` its messages."""
    return lambda **link: explore(visit(), **link)


def explore(dashboard, **link):
    page = dashboard.page
    page.add_init_script(SOCKETS)
    dashboard.asked, dashboard.told = [], []

    def keep(request) -> None:
        if "/asked/" in request.url:
            dashboard.asked.append(request.url)

    keep_told = lambda frame: dashboard.told.append(frame)  # noqa: E731  Playwright marks it
    page.on("request", keep)
    page.on("websocket", lambda socket: socket.on("framesent", keep_told))
    dashboard.open(**LINK | link)
    page.wait_for_timeout(300)  # for what opening tells the server late
    dashboard.told.clear()
    return dashboard


def numbers(s, stage: str) -> np.ndarray:
    return view(s, run(s)).stages[stage]


def value(s, stage: str, i: int, j: int) -> str:
    """The number of a cell as its card writes it."""
    return view(s, run(s)).texts(stage, s.digits)[i][j]


def shows(dashboard, s, stage: str, i: int, j: int) -> None:
    """Wait for the card of a cell, with the number that it has in these settings."""
    until(dashboard.page.locator(CARD.format(stage, i, j)))
    text = value(s, stage, i, j)
    dashboard.wait_for(
        "text => document.querySelector('.board-card .value').innerText === text", text
    )


def point(dashboard, stage: str, i: int, j: int) -> None:
    """Move the mouse over a cell."""
    x, y = dashboard.place(stage, i, j)
    dashboard.page.mouse.move(x - 2, y - 2)
    dashboard.page.mouse.move(x, y)


def press(dashboard, stage: str, i: int, j: int) -> None:
    dashboard.page.mouse.click(*dashboard.place(stage, i, j))


def chose(dashboard, stage: str, i: int, j: int):
    """Wait until the address says a cell, and nothing is on its way; what it stands for."""
    said = f"cell={stage}%2C{i}%2C{j}"
    dashboard.wait_for("said => location.search.includes(said)", said)
    return dashboard.idle().settings()


# ---- clicks --------------------------------------------------------------------------------------


def test_a_click_shows_its_arithmetic_before_the_server_hears_of_it(explored, visit):
    dashboard = explored()
    page, s, before = dashboard.page, dashboard.settings(), dashboard.page.url
    page.evaluate(HOLD)
    press(dashboard, "scores", 3, 5)
    shows(dashboard, s, "scores", 3, 5)
    assert page.url == before
    page.evaluate("release()")
    now = chose(dashboard, "scores", 3, 5)
    assert (now.query, now.cell) == (3, ("scores", 3, 5))
    shows(dashboard, now, "scores", 3, 5)
    other = visit().open(bare=True, **dict(links.write(now)))
    assert other.cell() == dashboard.cell()
    page.go_back()
    dashboard.wait_for("before => location.href === before", before)
    shows(dashboard, s, *CHOSEN)


def test_two_clicks_in_a_hurry_show_the_second_and_nothing_of_before(explored):
    dashboard = explored()
    page = dashboard.page
    places = [dashboard.place("weights", i, j) for i, j in ((4, 2), (2, 0))]
    page.evaluate(SEEN)
    page.evaluate(HOLD)
    for x, y in places:
        page.mouse.click(x, y)
    until(page.locator(CARD.format("weights", 2, 0)))
    page.evaluate("release()")
    s = chose(dashboard, "weights", 2, 0)
    shows(dashboard, s, "weights", 2, 0)
    seen = page.evaluate("seen")
    assert seen[-1] == "weights,2,0"
    assert seen.index("weights,2,0") == len(seen) - 1, seen


def test_a_click_and_a_slider_at_once_end_with_the_numbers_of_both(explored):
    dashboard = explored()
    page = dashboard.page
    digits = page.locator(".st-key-set_digits input").first
    press(dashboard, "weights", 4, 2)
    digits.press("ArrowRight")
    dashboard.wait_for("() => location.search.includes('digits=')")
    s = chose(dashboard, "weights", 4, 2)
    shows(dashboard, s, "weights", 4, 2)
    before = dashboard.tag()
    digits.press("ArrowRight")
    dashboard.wait_for(f"before => {TAG} !== before", before)  # cells may have moved by then
    press(dashboard, "scores", 2, 1)
    s = chose(dashboard, "scores", 2, 1)
    assert s.digits == links.read(LINK)[0].digits + 2
    shows(dashboard, s, "scores", 2, 1)


# ---- the pointer and keys ------------------------------------------------------------------------


def test_along_the_lit_row_each_cell_shows_its_arithmetic_and_the_server_is_asked_once(explored):
    dashboard = explored()
    s = dashboard.settings()
    point(dashboard, "weights", 1, 0)
    shows(dashboard, s, "weights", 1, 0)
    asked = len(dashboard.asked)
    assert asked == 1
    for j in range(1, len(s.tokens)):
        point(dashboard, "weights", 1, j)
        shows(dashboard, s, "weights", 1, j)
    point(dashboard, "weights", 2, 4)  # a row that is not lit
    shows(dashboard, s, *CHOSEN)
    point(dashboard, "scores", 1, 0)
    shows(dashboard, s, "scores", 1, 0)
    dashboard.page.mouse.move(3, 3)
    shows(dashboard, s, *CHOSEN)
    assert (len(dashboard.asked), dashboard.told) == (2, [])
    assert dashboard.settings() == s


def test_keys_along_the_lit_row_show_its_arithmetic_and_enter_says_it_and_is_one_step(explored):
    dashboard = explored()
    page, s = dashboard.page, dashboard.settings()
    page.locator(".board-pane[data-stage=weights] .board-plot").focus()
    steps = page.evaluate(LENGTH)
    for key, cell in (("Right", (1, 4)), ("Down", (2, 4)), ("Up", (1, 4)), ("Left", (1, 3))):
        page.keyboard.press(f"Arrow{key}")
        shows(dashboard, s, *(("weights", *cell) if cell[0] == 1 else CHOSEN))
    page.keyboard.press("ArrowLeft")
    shows(dashboard, s, "weights", 1, 2)
    assert dashboard.told == []
    page.keyboard.press("Enter")
    s = chose(dashboard, "weights", 1, 2)
    dashboard.wait_for(
        "end => document.querySelector('.board-live').innerText.endsWith(end)",
        f": {value(s, 'weights', 1, 2)}",
    )
    assert page.evaluate(LENGTH) == steps + 1


def test_a_click_in_the_lit_row_is_said_to_a_screen_reader(explored):
    dashboard = explored()
    s = dashboard.settings()
    point(dashboard, "weights", 1, 0)
    shows(dashboard, s, "weights", 1, 0)
    assert dashboard.page.locator(SAID).inner_text() == ""
    press(dashboard, "weights", 1, 0)
    dashboard.wait_for(
        "end => document.querySelector('.board-live').innerText.endsWith(end)",
        f": {value(s, 'weights', 1, 0)}",
    )


def test_what_changes_under_a_resting_pointer_shows_its_new_numbers(explored):
    dashboard = explored()
    point(dashboard, "weights", 1, 2)
    shows(dashboard, dashboard.settings(), "weights", 1, 2)
    for more, cell in (
        ({"scale": "1"}, ("weights", 1, 2)),
        ({"scale": "1", "mask": "causal"}, ("weights", 1, 2)),
        ({"query": "2"}, CHOSEN),  # the row is not lit any more
    ):
        link = LINK | more
        dashboard.after(lambda link=link: dashboard.turn_to(**link))
        shows(dashboard, links.read(link)[0], *cell)


def test_under_a_resting_pointer_no_other_card_comes_between_two_of_a_cell(explored):
    dashboard = explored()
    page, slider = dashboard.page, dashboard.page.locator(".st-key-set_digits input").first
    point(dashboard, "weights", 1, 2)
    shows(dashboard, dashboard.settings(), "weights", 1, 2)
    seen = []
    for digits in (3, 4, 5):
        page.evaluate(SEEN)
        slider.press("ArrowRight")
        shows(dashboard, replace(dashboard.settings(), digits=digits), "weights", 1, 2)
        dashboard.idle()
        seen.append(set(page.evaluate("seen")))
    assert {"weights,1,2"} in seen  # a machine that is busy for long shows the chosen one


def test_where_the_cell_under_the_pointer_goes_others_still_show_their_arithmetic(explored):
    dashboard = explored()
    point(dashboard, "weights", 1, 5)
    shows(dashboard, dashboard.settings(), "weights", 1, 5)
    link = LINK | {"example": "four-words"}
    dashboard.after(lambda: dashboard.turn_to(**link))
    s = links.read(link)[0]
    shows(dashboard, s, *CHOSEN)
    point(dashboard, "scores", 1, 2)
    shows(dashboard, s, "scores", 1, 2)


def test_a_finger_shows_only_what_it_taps(phone):
    explore(phone)
    s = phone.settings()
    x, y = phone.place("weights", 1, 0)
    phone.page.touchscreen.tap(x, y)
    until(phone.page.locator(CARD.format("weights", 1, 0)))
    s = chose(phone, "weights", 1, 0)
    shows(phone, s, "weights", 1, 0)


# ---- Play, editors, Present ----------------------------------------------------------------------


def test_while_play_runs_or_a_number_is_typed_the_pointer_shows_nothing_of_its_own(explored):
    dashboard = explored()
    page, s = dashboard.page, dashboard.settings()
    page.locator(".board-control.main").click()
    until(page.locator(".board.playing .board-card"))
    played = page.locator(".board-card h2").inner_text()
    page.mouse.move(*dashboard.place("weights", 1, 0))
    page.wait_for_timeout(200)
    assert page.locator(".board-card h2").inner_text() == played
    page.keyboard.press("Escape")
    page.mouse.move(3, 3)
    dashboard.click("X", 1, 1)
    s = chose(dashboard, "X", 1, 1)
    page.keyboard.type("4")
    point_at = dashboard.place("weights", 1, 0)
    page.mouse.move(*point_at)
    page.wait_for_timeout(200)
    shows(dashboard, s, "X", 1, 1)


def test_in_present_the_card_is_of_the_stage_that_is_presented(explored):
    dashboard = explored(cell="scores,1,3")
    page, s = dashboard.page, dashboard.settings()
    page.locator(".board-pane[data-stage=scores] .board-plot").focus()
    page.keyboard.press("p")
    until(page.locator(".board.presenting"))
    shows(dashboard, s, "scores", 1, 3)
    point(dashboard, "scores", 1, 0)
    shows(dashboard, s, "scores", 1, 0)
    point(dashboard, "Q", 1, 0)  # a factor
    page.wait_for_timeout(200)
    shows(dashboard, s, "scores", 1, 3)
    page.mouse.move(3, 3)
    page.evaluate(HOLD)
    for stage in ("scaled", "weights"):
        page.keyboard.press("ArrowRight")
        shows(dashboard, s, stage, 1, 3)
    page.evaluate("release()")
    assert chose(dashboard, "weights", 1, 3).query == 1


# ---- drags ---------------------------------------------------------------------------------------


def dragged(dashboard, i: int, j: int, by: int):
    """Hold the number of a cell of X and move it so far."""
    page = dashboard.page
    x, y = dashboard.place("X", i, j)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by, y, steps=by // 4)


def same(dashboard, stage: str, matrix) -> None:
    """Wait until a stage shows these numbers."""
    dashboard.wait_for(
        """([stage, matrix]) => JSON.stringify(document.querySelector(
        `.board-pane[data-stage=${stage}] .board-canvas`)?.painted?.z.map(row => [...row]))
        === JSON.stringify(matrix)""",
        [stage, np.asarray(matrix, float).tolist()],
    )


def changed(s, i: int, j: int, number: float):
    X = s.matrices["X"].values.copy()
    X[i, j] = number
    return s.with_matrix("X", Matrix(X))


@pytest.mark.parametrize("fails", [False, True], ids=["asked", "requests fail"])
def test_a_number_that_is_dragged_is_seen_in_every_stage_and_is_one_step(explored, fails):
    dashboard = explored(example="four-words", query="1", cell="X,1,1")
    page, s = dashboard.page, dashboard.settings()
    press(dashboard, "X", 1, 1)
    dashboard.idle()
    if fails:
        page.route("**/asked/**", lambda route: route.abort())
    steps, before = page.evaluate(LENGTH), page.url
    dashboard.told.clear()
    dragged(dashboard, 1, 1, 40)
    now = changed(s, 1, 1, 0.1)  # from 0 by ten steps of a hundredth
    for stage in ("X", "Q", "scores", "weights", "output"):
        same(dashboard, stage, numbers(now, stage))
    shows(dashboard, now, "X", 1, 1)
    assert (page.url, page.evaluate(LENGTH)) == (before, steps)
    assert bool(dashboard.told) == fails
    page.mouse.move(page.viewport_size["width"] - 3, 3)  # far more
    page.mouse.up()
    dashboard.wait_for("before => location.href !== before", before)
    then = dashboard.idle().settings()
    number = then.matrices["X"].values[1, 1]
    assert number > 0.1
    now = changed(s, 1, 1, number)
    for stage in dashboard.stages():
        same(dashboard, stage, numbers(now, stage))
    shows(dashboard, now, "X", 1, 1)
    assert page.evaluate(LENGTH) == steps + 1
    page.go_back()
    same(dashboard, "weights", numbers(s, "weights"))


# ---- what is seen before the server has answered -------------------------------------------------


def slid(dashboard):
    """Move a slider, of which the server hears nothing yet; the settings that are seen then."""
    page, s = dashboard.page, set_dimension(dashboard.settings(), "d_k", 3)
    page.evaluate(HOLD)
    page.locator(".st-key-set_d_k input").first.press("ArrowLeft")
    same(dashboard, "scores", numbers(s, "scores"))
    return s


def test_no_card_is_of_other_numbers_than_those_that_a_slider_shows(explored):
    dashboard = explored()
    page = dashboard.page
    s = slid(dashboard)
    shows(dashboard, s, *CHOSEN)
    point(dashboard, "scores", 1, 2)
    page.wait_for_timeout(200)
    shows(dashboard, s, *CHOSEN)
    press(dashboard, "scores", 1, 4)
    page.wait_for_timeout(200)
    shows(dashboard, s, *CHOSEN)
    page.evaluate("release()")
    chose(dashboard, "scores", 1, 4)
    shows(dashboard, s, "scores", 1, 4)
    point(dashboard, "scores", 1, 2)
    shows(dashboard, s, "scores", 1, 2)


def test_a_slider_that_is_back_where_it_began_lets_the_pointer_show_cards(explored):
    dashboard = explored()
    s = dashboard.settings()
    slid(dashboard)
    dashboard.page.locator(".st-key-set_d_k input").first.press("ArrowRight")
    same(dashboard, "scores", numbers(s, "scores"))
    point(dashboard, "scores", 1, 2)
    shows(dashboard, s, "scores", 1, 2)


def test_what_was_refused_is_no_longer_said_once_a_slider_has_changed_the_numbers(explored):
    dashboard = explored(example="four-words", query="1", cell="X,1,1")
    page, said = dashboard.page, dashboard.page.locator(".board-untaken")
    dashboard.click("X", 1, 1).idle()
    page.keyboard.type("1e999")
    page.keyboard.press("Enter")
    until(said)
    page.wait_for_timeout(2200)  # it stays as long at least
    slid(dashboard)
    page.evaluate("release()")
    until(said, "hidden")


def test_no_card_is_of_other_numbers_than_those_that_a_drag_has_left(explored):
    dashboard = explored(example="four-words", query="1", cell="X,1,1")
    page = dashboard.page
    press(dashboard, "X", 1, 1)
    s = changed(dashboard.idle().settings(), 1, 1, 0.1)
    page.evaluate(HOLD)
    dragged(dashboard, 1, 1, 40)
    same(dashboard, "scores", numbers(s, "scores"))
    page.mouse.up()
    point(dashboard, "scores", 1, 2)
    page.wait_for_timeout(200)
    shows(dashboard, s, "X", 1, 1)
    page.evaluate("release()")
    shows(dashboard, s, "scores", 1, 2)


# ---- a server that goes, and boards that ask nothing ---------------------------------------------


def test_a_cell_is_pointed_at_and_clicked_while_the_server_is_started_anew(pages, server):
    dashboard = explore(pages())
    s = dashboard.settings()
    point(dashboard, "weights", 1, 0)
    shows(dashboard, s, "weights", 1, 0)
    restart(server, dashboard)
    shows(dashboard, s, "weights", 1, 0)
    press(dashboard, "weights", 4, 2)
    now = chose(dashboard, "weights", 4, 2)
    shows(dashboard, now, "weights", 4, 2)
    point(dashboard, "weights", 4, 1)
    shows(dashboard, now, "weights", 4, 1)


@pytest.mark.parametrize("path", ["compare", "learn", "exercises"])
def test_boards_of_other_pages_ask_nothing(visit, path):
    dashboard = visit()
    asked: list[str] = []
    dashboard.page.on("request", lambda request: asked.append(request.url))
    dashboard.open(path, example="cat-sat", query="1")
    stage = next(name for name in dashboard.stages() if name.startswith("weights"))
    for j in range(2):
        dashboard.hover(stage, 1, j)
    assert not [url for url in asked if "/asked/" in url]


# ---- sliders -------------------------------------------------------------------------------------

TAGS = """() => { // what is drawn, one after the other
  const board = document.querySelector('.board')
  window.drawn = [board.dataset.tag]
  new MutationObserver(() => drawn.push(board.dataset.tag))
    .observe(board, { attributeFilter: ['data-tag'] }) }"""


def has(dashboard, s, stage: str) -> None:
    """Wait until a stage on the board has the numbers of these settings."""
    wanted = numbers(s, stage).tolist()
    painted = f"document.querySelector('.board-pane[data-stage={stage}] .board-canvas').painted.z"
    dashboard.wait_for(
        f"wanted => JSON.stringify({painted}.map(row => [...row])) === JSON.stringify(wanted)",
        wanted,
    )


def test_what_a_slider_makes_is_seen_before_the_server_runs_the_page(explored):
    dashboard = explored()
    page, s, before = dashboard.page, dashboard.settings(), dashboard.page.url
    page.evaluate(HOLD)
    page.locator(".st-key-set_d_v input").first.press("ArrowRight")
    wider = set_dimension(s, "d_v", s.d_v + 1)
    has(dashboard, wider, "output")
    assert page.url == before
    page.evaluate("release()")
    dashboard.wait_for("() => location.search.includes('W_V=')")
    now = dashboard.idle().settings()
    assert now.d_v == s.d_v + 1
    has(dashboard, now, "output")
    page.go_back()  # it is one step
    dashboard.wait_for("before => location.href === before", before)
    has(dashboard, s, "output")


def test_a_slider_in_a_hurry_never_goes_back_to_what_it_showed_before(explored):
    dashboard = explored()
    page = dashboard.page
    page.evaluate(TAGS)
    digits = page.locator(".st-key-set_digits input").first
    digits.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(60)
    dashboard.wait_for("() => location.search.includes('digits=8')")
    dashboard.idle()
    drawn = page.evaluate("drawn.filter((tag, k) => tag !== drawn[k - 1])")
    assert len(drawn) == len(set(drawn)), drawn
    shows(dashboard, dashboard.settings(), *CHOSEN)


def test_a_slider_is_seen_as_it_is_dragged_and_counts_once_it_is_let_go(explored):
    dashboard = explored()
    page, s = dashboard.page, dashboard.settings()
    slider = page.locator(".st-key-set_d_v [data-testid=stSliderThumbValue]").locator("..")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 6
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 12, y, steps=6)
    width = int(page.locator(".st-key-set_d_v input").first.input_value())
    assert width > s.d_v
    has(dashboard, set_dimension(s, "d_v", width), "output")
    assert dashboard.settings() == s and not dashboard.told
    page.mouse.up()
    dashboard.wait_for("() => location.search.includes('W_V=')")
    assert dashboard.idle().settings().d_v == width


def test_back_right_after_a_slider_ends_with_what_the_address_says(explored):
    dashboard = explored()
    page, s = dashboard.page, dashboard.settings()
    digits = page.locator(".st-key-set_digits input").first
    digits.press("ArrowRight")
    dashboard.wait_for("() => location.search.includes('digits=3')")
    digits.press("ArrowRight")
    page.go_back()
    page.wait_for_timeout(1500)
    now = dashboard.idle().settings()
    assert dashboard.printed("weights") == view(now, run(now)).texts("weights", now.digits)
    assert now.digits in (s.digits, s.digits + 1, s.digits + 2)
