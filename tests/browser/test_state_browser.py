"""States too large for a link, lost connections and restarted servers, in a real browser."""

import json
import os
import signal
import time
from dataclasses import replace

import messages
import numpy as np
from browser.dashboard import CHART, IN_COLOURS, POLL, TAG, in_colours, succeeds, until

from attention.figures.panes.shades import MOST_NUMBERED
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.settings import Settings

APP = "document.querySelector('[data-testid=stApp]')"
CONNECTION = f"{APP}.dataset.testConnectionState"
DAMAGED = messages.KEPT_DAMAGED
TABLES = """const tables = async mode => {
  const request = indexedDB.open('attention-stage-by-stage')
  request.onupgradeneeded = () => {
    for (const name of ['states', 'parts']) request.result.createObjectStore(name) }
  await new Promise(done => { request.onsuccess = done })
  const transaction = request.result.transaction(['states', 'parts'], mode)
  return [transaction.objectStore('states'), transaction.objectStore('parts'), new Promise(done => {
    transaction.oncomplete = () => { request.result.close(); done() } })]
}
const answer = request => new Promise(done => { request.onsuccess = () => done(request.result) })
"""
BACK_AND_THEN = """() => {{ // do something once the run that Back asks for is under way
  window.went = 0
  addEventListener('popstate', () => {{ window.went += 1 }})
  const app = APP
  const watch = new MutationObserver(changes => {{ // a busy browser may tell of its end as well
    const began = changes.some(change => change.oldValue === 'running')
    if (!began && app.dataset.testScriptState !== 'running') return
    watch.disconnect()
    {}
  }})
  const begin = () => watch.observe(app, {{ attributeOldValue: true }})
  addEventListener('popstate', begin, {{ once: true }})
  history.back()
}}""".replace("APP", APP)
RESTS = """() => new Promise(done => { // no run for longer than the page takes for rest
  let resting = 0
  const rest = () => {
    clearTimeout(resting)
    if (app.dataset.testScriptState === 'notRunning') resting = setTimeout(done, 1500)
  }
  const app = APP
  new MutationObserver(rest).observe(app, { attributeFilter: ['data-test-script-state'] })
  rest()
})""".replace("APP", APP)
DENIED = """Object.defineProperty(window, 'indexedDB', {
  get () { throw new DOMException('it is denied', 'SecurityError') } })"""


def large(seed: int, d_model: int = 16) -> Settings:
    """A state too large for a link; of half a megabyte with a d_model of 256."""
    rng = np.random.default_rng(seed)
    shapes = {"X": (4, d_model), "W_V": (d_model, d_model // 8)}
    shapes |= dict.fromkeys(("W_Q", "W_K"), (d_model, d_model // 4))
    matrices = {name: Matrix(rng.standard_normal(shape)) for name, shape in shapes.items()}
    return replace(EXAMPLES["four-words"].build(), matrices=matrices)


def mark(settings: Settings) -> str:
    return links.address(settings)[0]["partial"]


def bring(dashboard, settings: Settings) -> str:
    """Open a saved state, wait until the browser keeps it, and return the tag of what is drawn."""
    dashboard.upload("state.json", links.to_file(settings))
    until(dashboard.page.locator("[data-testid=stFileChipName]"))  # Python has it
    before = dashboard.idle().tag()
    for _ in range(10):  # the button may still be that of the file before
        dashboard.page.get_by_role("button", name="Open this state").click()
        if succeeds(lambda: arrived(dashboard, settings, 10_000)):
            break
    dashboard.wait_for(f"before => {TAG} !== before", before)
    until_kept(dashboard.idle(), settings)
    return dashboard.tag()


MARKS = f"""async () => {{ {TABLES} const [states] = await tables('readonly')
  return answer(states.getAllKeys()) }}"""


def until_kept(dashboard, settings: Settings | None) -> set[str]:
    """Wait until the browser keeps these settings, or nothing at all; the marks it keeps."""
    last = time.monotonic() + 60
    while time.monotonic() < last:
        marks = set(dashboard.page.evaluate(MARKS))
        if mark(settings) in marks if settings else not marks:
            return marks
        dashboard.page.wait_for_timeout(50)
    raise AssertionError(f"the browser keeps {marks}")


def arrived(dashboard, settings: Settings, timeout: float | None = None) -> None:
    """The address carries the mark of these settings."""
    carries = "mark => location.search.includes(mark)"
    dashboard.page.wait_for_function(carries, arg=mark(settings), polling=POLL, timeout=timeout)


def shows(dashboard, tag: str) -> None:
    dashboard.wait_for(f"tag => {TAG} === tag", tag)


def holds(dashboard, settings: Settings) -> None:
    for name, matrix in settings.matrices.items():
        dashboard.front(name)
        if matrix.values.size > MOST_NUMBERED:
            dashboard.wait_for(IN_COLOURS, in_colours(settings, name))
        else:
            assert np.array_equal(dashboard.numbers(name), matrix.values), name


def connected(dashboard, yes: bool = True) -> None:
    is_so = f"yes => ({CONNECTION} === 'CONNECTED') === yes"  # the page tries ever less often
    dashboard.page.wait_for_function(is_so, arg=yes, polling=POLL, timeout=120_000)


def restart(server, dashboard) -> None:
    """Kill the server under an open page and start another; the page is connected with it again."""
    server.kill()
    connected(dashboard, False)
    server.start()
    connected(dashboard)
    dashboard.idle()


def expire(dashboard) -> None:
    """Cut the connection: the server forgets the session, and the page begins another."""
    dashboard.idle().page.evaluate("() => { window.lost = window.socket; window.lost.close() }")
    dashboard.wait_for(f"() => window.socket !== window.lost && {CONNECTION} === 'CONNECTED'")


def slider(d) -> None:
    d.page.locator(".st-key-set_digits input").focus()
    d.page.keyboard.press("ArrowRight")


def said(dashboard) -> list[str]:
    until(dashboard.page.locator(".said").first)
    return dashboard.page.locator(".said").all_inner_texts()


def test_large_states_outlive_back_reload_and_a_restart_under_an_open_page(pages, server):
    dashboard, one, two = pages().open(), large(1), large(2, 256)
    first, second = bring(dashboard, one), bring(dashboard, two)
    dashboard.page.go_back()
    shows(dashboard, first)
    dashboard.page.go_forward()
    shows(dashboard, second)
    restart(server, dashboard)
    slider(dashboard)
    arrived(dashboard, replace(two, digits=3))
    holds(dashboard, two)
    moved = dashboard.tag()
    dashboard.page.go_back()
    shows(dashboard, second)
    dashboard.page.go_forward()
    shows(dashboard, moved)
    dashboard.page.reload()
    shows(dashboard, moved)
    holds(dashboard, two)
    assert mark(replace(two, digits=3)) in dashboard.page.url
    assert dashboard.page.locator(".said.refused").count() == 0


def test_back_while_the_server_restarts_is_answered_by_the_next_one(pages, server):
    dashboard = pages().open()
    before, size = dashboard.tag(), dashboard.page.locator(".st-key-set_d_k_number input")
    d_k = size.input_value()
    size.fill("7")
    dashboard.after(lambda: size.press("Enter"))
    server.kill()
    dashboard.page.evaluate("history.back()")
    connected(dashboard, False)
    server.start()
    shows(dashboard, before)
    assert size.input_value() == d_k != "7"


def test_back_is_asked_of_the_next_server_too_until_the_page_rests_or_another_move(visit):
    """The page is said to be connected again, as after a restart, at three moments."""
    dashboard = visit().open()
    page, again = dashboard.page, f"{APP}.dataset.testConnectionState = 'CONNECTED'"
    dashboard.after(lambda: slider(dashboard))
    page.evaluate(BACK_AND_THEN.format(again))
    dashboard.wait_for("() => window.went === 2")
    page.evaluate(RESTS)
    page.evaluate(f"() => {{ {again} }}")
    page.evaluate("history.forward()")
    dashboard.wait_for("() => window.went === 3")
    page.keyboard.press("Shift")
    page.evaluate(f"() => {{ {again} }}")
    page.evaluate(RESTS)
    assert page.evaluate("window.went") == 3


def test_forward_while_back_is_under_way_counts(visit):
    dashboard = visit().open()
    dashboard.after(lambda: slider(dashboard))
    here, tag = dashboard.page.url, dashboard.tag()
    dashboard.page.evaluate(BACK_AND_THEN.format("history.forward()"))
    dashboard.wait_for("() => window.went === 2")
    dashboard.page.evaluate(RESTS)
    assert (dashboard.page.url, dashboard.tag()) == (here, tag)


def test_no_move_sends_the_matrices_unless_they_are_lost_and_another_page_asks_for_them(visit):
    dashboard, state, frames = visit(), large(4), []
    numbers = links.write_matrix(state.matrices["W_Q"])[-200:].encode()
    dashboard.page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda f: frames.append(numbers in f)),
    )
    dashboard.open()
    bring(dashboard, state)
    assert frames.count(True) == 1
    slider(dashboard)
    until_kept(dashboard, replace(state, digits=3))
    assert frames.count(True) == 1
    lose = f"""async () => {{ {TABLES} const [, parts, over] = await tables('readwrite')
      parts.clear(); await over }}"""
    dashboard.page.evaluate(lose)
    slider(dashboard)
    until_kept(dashboard, replace(state, digits=4))
    assert frames.count(True) == 2
    before = dashboard.tag()
    dashboard.page.reload()
    shows(dashboard, before)
    holds(dashboard, state)
    dashboard.page.goto(f"{dashboard.address}why?example=four-words&partial={mark(state)}")
    until(dashboard.page.locator(".said.flag", has_text=messages.DO_NOT_FIT_INTO_A_LINK))
    assert dashboard.page.locator(".said.refused").count() == 0
    assert mark(state) in dashboard.page.url


def test_an_unknown_mark_and_another_state_under_a_mark_are_one_sentence_each(visit):
    one = large(1)
    dashboard = visit().open(example="four-words", partial=mark(one))
    assert said(dashboard) == [messages.STATE_NOT_KEPT]
    assert dashboard.page.locator(".st-key-load_file").is_visible()
    assert dashboard.numbers("scores").tolist()[0] == [55, 35, 54, 85]  # the example's
    bring(dashboard, one)
    holds(dashboard, one)
    other = f"""async one => {{ {TABLES} const [states, , over] = await tables('readwrite')
      const state = await answer(states.get(one))
      state.link.digits = '5'
      states.put(state, one); await over }}"""
    dashboard.page.evaluate(other, mark(one))
    dashboard.open(example="four-words", partial=mark(one))
    assert said(dashboard) == [DAMAGED]
    assert dashboard.numbers("scores").tolist()[0] == [55, 35, 54, 85]


def test_a_browser_that_refuses_storage_says_so_and_the_page_works_on(visit):
    dashboard = visit()
    dashboard.page.add_init_script(DENIED)
    dashboard.open(example="four-words", partial=mark(large(1)))
    why = messages.THE_BROWSER_SAYS.format(why="it is denied")
    assert said(dashboard) == [messages.STATE_NOT_KEPT.removesuffix(".") + why]
    dashboard.upload("state.json", links.to_file(large(1)))
    dashboard.after(lambda: dashboard.page.get_by_role("button", name="Open this state").click())
    nothing = messages.NOTHING_IS_KEPT_AS.format(why="it is denied")
    until(dashboard.page.locator(".said.flag", has_text=nothing))
    holds(dashboard, large(1))
    slider(dashboard)
    arrived(dashboard, replace(large(1), digits=3))
    holds(dashboard, large(1))


def test_the_newest_fifty_states_stay_and_all_can_be_forgotten(visit):
    dashboard, state = visit().open(), large(5)
    tag = bring(dashboard, state)
    fill = f"""async () => {{ {TABLES} const [states, , over] = await tables('readwrite')
      for (let k = 1; k <= 60; k++)
        states.put({{ link: {{ example: 'own' }}, at: k, sizes: {{}} }}, `old${{k}}`)
      await over }}"""
    dashboard.page.evaluate(fill)
    slider(dashboard)
    kept = until_kept(dashboard, replace(state, digits=3))
    assert kept == {
        mark(state),
        mark(replace(state, digits=3)),
        *(f"old{k}" for k in range(13, 61)),
    }
    dashboard.tab("Export")
    dashboard.page.get_by_role("button", name="Delete states saved in this browser").click()
    nothing = messages.NOTHING_IS_KEPT_AS.format(why=messages.TOLD_TO_FORGET)
    until(dashboard.page.locator(".said.flag", has_text=nothing))
    until_kept(dashboard, None)
    holds(dashboard, state)
    dashboard.page.locator(".st-key-set_digits input").focus()
    dashboard.page.keyboard.press("ArrowLeft")
    until_kept(dashboard, state)
    dashboard.page.reload()
    shows(dashboard, tag)


def test_a_page_that_the_menu_led_to_is_one_step_of_back(visit):
    dashboard = visit().open(bare=True)
    opening, page = dashboard.tag(), dashboard.page
    dashboard.after(lambda: slider(dashboard))
    moved = dashboard.tag()
    address = page.evaluate("location.search")
    before = page.evaluate("history.length")
    for name, drawn in (("Why √dₖ", CHART), ("Explore", ".board-pane[data-stage=W_Q]")):
        dashboard.choose_page(name)
        until(page.locator(drawn).first)
        dashboard.idle()
        assert page.evaluate("location.search") == address
    assert page.evaluate("history.length") == before + 2
    page.go_back()
    until(page.locator(CHART).first)
    assert page.evaluate("location.pathname + location.search") == f"/why{address}"
    page.go_back()
    shows(dashboard, moved)
    page.go_back()
    shows(dashboard, opening)
    assert page.evaluate("location.pathname + location.search") == "/"


SHOWN = """() => JSON.stringify([...document.querySelectorAll('[class*=st-key-set_] input')].map(
  input => [input.closest('[class*=st-key-set_]').className, input.value, input.checked]))"""


def test_back_from_another_page_shows_every_control_as_it_was(visit, subtests):
    dashboard = visit().open()
    page = dashboard.page
    for key in ("digits", "d_k", "d_v"):
        page.locator(f".st-key-set_{key} input").first.focus()
        dashboard.after(lambda: page.keyboard.press("ArrowRight"))
    shown = page.evaluate(SHOWN)
    assert len(json.loads(shown)) > 10
    for name in ("Compare", "Exercises"):
        with subtests.test(name=name):
            dashboard.choose_page(name)
            dashboard.wait_for("() => location.pathname !== '/'")
            dashboard.idle()
            page.go_back()
            dashboard.wait_for("() => location.pathname === '/'")
            dashboard.wait_for(f"before => ({SHOWN})() === before", shown)
            dashboard.idle()
            assert page.evaluate(SHOWN) == shown


def test_the_page_that_python_led_away_from_is_no_step_of_back_where_its_path_is_said_late(visit):
    page = visit().open(bare=True).page
    say = """url => {
        history.pushState(0, '', url)
        return [location.pathname + location.search, history.length] }"""
    before = page.evaluate("history.length")
    assert page.evaluate(say, "?digits=3&to=learn") == ["/learn?digits=3", before + 1]
    assert page.evaluate(say, "/") == ["/learn?digits=3", before + 1]
    page.evaluate("document.body.click()")  # on the menu, as it were
    assert page.evaluate(say, "/") == ["/?digits=3", before + 2]


GOES_BACK = """if (performance.getEntriesByType('navigation')[0].type === 'reload') {
  const { send } = WebSocket.prototype
  WebSocket.prototype.send = function (asked) {
    WebSocket.prototype.send = send
    send.call(this, asked)
    history.back() } }"""


def test_back_while_a_reloaded_page_is_on_its_way_shows_what_the_address_stands_for(visit):
    dashboard = visit()
    dashboard.page.add_init_script(GOES_BACK)
    first = dashboard.open().tag()
    dashboard.after(lambda: slider(dashboard))
    dashboard.page.reload()
    dashboard.wait_for("() => location.search === '?example=four-words'")
    shows(dashboard, first)


# ---- the first move after a restart --------------------------------------------------------------


def typed(d, key: str, text: str):
    box = d.page.locator(f".st-key-{key}").locator("input, textarea").first
    box.fill(text)
    box.press("Control+Enter" if key == "set_load_text" else "Enter")


def cell(d):
    board = d.page.locator(".board-pane[data-stage=weights] .board-plot")
    board.focus()
    d.page.keyboard.press("Enter")


def number(d):
    d.page.locator(".board-pane[data-stage=W_V] .board-plot").focus()
    d.page.keyboard.type("5")
    d.page.keyboard.press("Enter")


def chosen(key: str, label: str):
    return lambda d: d.choose(key, label)


PRESS = "button => button.click()"  # in one go: the page may be moving under the mouse just then


def button(name: str):
    return lambda d: d.page.get_by_role("button", name=name, exact=True).evaluate(PRESS)


# One of each kind: tests/pages/frame/test_state.py has other controls. Each is the first move in
# its session, one after the other; with what it does to the address
FIRST_MOVES = [
    (slider, "digits=3"),
    (chosen("set_mask", "look-ahead (causal)"), "mask=causal"),
    (lambda d: typed(d, "set_scale", "3"), "scale=3"),
    (button("Initialise"), "W_K=integers"),
    (button("Reset"), r"\?example=four-words$"),
    (cell, "cell=weights%2C0%2C0"),
    (number, "W_V=5_2_1_1"),
]


def test_the_first_move_of_a_new_session_is_carried_out_whatever_the_control(pages):
    dashboard = pages().open(digits="2", scale="2")
    dashboard.initialise("W_K")
    panel = ".st-key-set_matrix"  # of the page alone: it stays open
    for move, address in FIRST_MOVES:
        expire(dashboard)
        move(dashboard)
        dashboard.wait_for("part => new RegExp(part).test(location.search)", address)
        until(dashboard.page.locator(panel))
        if move is cell:
            until(dashboard.page.locator(".board-card[data-cell='weights,0,0']"))
        assert dashboard.page.locator("[data-testid=stException]").count() == 0, address
    assert dashboard.page.locator(".said.refused").count() == 0
    # a cell chosen as soon as the page is connected again shows its arithmetic, before the new
    # session has heard which panel is open
    dashboard.idle().initialise("W_K")
    dashboard.idle().page.evaluate(
        """() => {
            const board = document.querySelector('.board-pane[data-stage=weights] .board-plot')
            const press = () => {
              board.focus()
              board.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })) }
            const lost = window.socket
            lost.close()
            const look = setInterval(() => {
              if (window.socket === lost) return
              clearInterval(look)
              const { socket } = window, { send } = socket
              socket.send = function (asked) { // the first is the page's own, for a run
                socket.send = send
                send.call(socket, asked)
                setTimeout(press) } }, 1) }"""
    )
    until(dashboard.page.locator(".board-card[data-cell^='weights']"))
    assert "cell=weights" in dashboard.page.url


def test_what_was_pasted_and_a_file_come_into_the_next_session_and_the_file_before_is_gone(pages):
    dashboard = pages().open()
    dashboard.paste("1 2 3 4\n5 6 7 8")
    use = dashboard.page.locator(".st-key-load_use button:enabled").first
    until(use)
    expire(dashboard)
    dashboard.after(lambda: use.evaluate(PRESS))
    assert dashboard.numbers("X").tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    dashboard.upload("before.csv", b"4,3,2,1\n5,6,7,8\n")
    shown = "document.querySelector('.st-key-dock_content table.numbers td')?.innerText"
    dashboard.wait_for(f"() => {shown} === '4'")  # not that of what was pasted any more
    expire(dashboard)
    until(dashboard.page.get_by_text(messages.FILE_NO_LONGER_THERE))
    dashboard.upload("first.csv", b"9,8,7,6\n5,4,3,2\n")
    dashboard.wait_for(f"() => {shown} === '9'")
    dashboard.use()
    assert dashboard.numbers("X").tolist() == [[9, 8, 7, 6], [5, 4, 3, 2]]
    expire(dashboard)
    until(dashboard.page.locator("[data-testid=stFileChipName]"), "detached")


def test_while_the_server_is_away_files_and_clicks_are_said_not_to_be_taken(pages, server):
    dashboard = pages().open()
    dashboard.tab("Your data")
    uploader = dashboard.page.locator("[data-testid=stFileUploader]")
    until(uploader)
    dashboard.idle()
    before = dashboard.numbers("X")
    os.kill(server.process.pid, signal.SIGSTOP)
    dashboard.upload("lost.csv", b"1,2\n3,4\n")
    server.kill()  # under a file that it was asked to take
    connected(dashboard, False)
    below = "node => getComputedStyle(node, '::after').content"
    assert uploader.evaluate(below) == f'"{messages.UPLOAD_AGAIN}"'
    dashboard.page.keyboard.press("Escape")  # what Streamlit says of it lies over the page
    cell(dashboard)
    of_click = dashboard.page.locator(".board [role=status]")
    until(of_click)
    assert of_click.inner_text() == f"{messages.SERVER_IS_AWAY} {messages.TRY_AGAIN_LATER}"
    server.start()
    connected(dashboard)
    assert uploader.evaluate(below) == "none"
    assert np.array_equal(dashboard.idle().numbers("X"), before)
    dashboard.upload("one.csv", b"1,2,3,4\n5,6,7,8\n")
    until(dashboard.page.locator(".st-key-dock_content table.numbers", has_text="X, 2 × 4"))
    cell(dashboard)
    dashboard.wait_for("() => location.search.includes('cell=')")
    assert of_click.is_hidden()
