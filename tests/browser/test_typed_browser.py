"""What is typed outlives a reload, a restart of the server and the page of another address."""

import messages
from browser.dashboard import choose_page, until
from browser.test_state_browser import expire, restart

DENIED = """Object.defineProperty(window, 'sessionStorage', {
  get () { throw new DOMException('it is denied', 'SecurityError') } })"""
HOLDS = """([key, text]) =>
  document.querySelector(`.st-key-set_${key} textarea`)?.value === text"""
LOST = messages.TYPED_IS_LOST.partition("{why}")[0]


def box(dashboard, key):
    return dashboard.page.locator(f".st-key-set_{key} textarea")


def checking(dashboard):
    return dashboard.open("check", ready=".st-key-set_check_output textarea")


def sent(dashboard, key, text):
    """Type a text and leave the box, and wait until the server has it."""
    box(dashboard, key).fill(text)
    box(dashboard, key).press("Control+Enter")
    return dashboard.idle()


def holds(dashboard, key, text):
    dashboard.wait_for(HOLDS, [key, text])


def test_what_was_typed_in_check_yours_is_there_after_a_reload_also_unsent(visit):
    dashboard = checking(visit())
    dashboard.page.locator(".st-key-set_check_source").get_by_text("Q, K and V").click()
    until(box(dashboard, "check_Q"))
    sent(dashboard, "check_Q", "1 0\n0 1")
    sent(dashboard, "check_K", "1 2\n3 4")
    heads = dashboard.page.locator(".st-key-set_check_heads input")
    heads.fill("2")
    heads.press("Enter")
    dashboard.wait_for("() => sessionStorage['attention-stage-by-stage typed check_heads'] === '2'")
    box(dashboard, "check_V").press_sequentially("5 6\n7")  # and reload in the middle of it
    dashboard.page.wait_for_timeout(100)
    dashboard.page.reload()
    for key, text in (("check_Q", "1 0\n0 1"), ("check_K", "1 2\n3 4"), ("check_V", "5 6\n7")):
        holds(dashboard, key, text)
    dashboard.idle()
    assert heads.input_value() == "2"
    box(dashboard, "check_V").press("End")
    box(dashboard, "check_V").press_sequentially(" 8")
    box(dashboard, "check_V").press("Control+Enter")
    dashboard.idle()
    holds(dashboard, "check_V", "5 6\n7 8")
    assert LOST not in dashboard.page.inner_text("body")


def test_what_was_pasted_as_data_is_there_after_a_reload_and_cleared_stays_cleared(visit):
    dashboard = visit().open()
    dashboard.tab("Your data")
    sent(dashboard, "load_text", "1 2 3 4\n5 6 7 8")
    until(dashboard.page.locator(".st-key-load_use button").first)
    dashboard.page.reload()
    until(dashboard.page.locator(".board[data-tag]"))
    dashboard.idle().tab("Your data")
    holds(dashboard, "load_text", "1 2 3 4\n5 6 7 8")
    until(dashboard.page.locator(".st-key-load_use button").first)
    sent(dashboard, "load_text", "")
    dashboard.page.reload()
    until(dashboard.page.locator(".board[data-tag]"))
    dashboard.idle().tab("Your data")
    until(box(dashboard, "load_text"))
    assert box(dashboard.idle(), "load_text").input_value() == ""


def test_what_was_typed_outlives_the_session_on_this_page_and_the_server_on_another(pages, server):
    dashboard = checking(pages())
    sent(dashboard, "check_output", "1 2\n3 4")
    box(dashboard, "check_weights").press_sequentially("5 6")
    expire(dashboard)
    dashboard.idle()
    holds(dashboard, "check_output", "1 2\n3 4")
    holds(dashboard, "check_weights", "5 6")
    sent(dashboard, "check_weights", "5 6 7 8")
    choose_page(dashboard.page, "Explore")
    until(dashboard.page.locator(".board-pane[data-stage=W_Q]"))
    restart(server, dashboard)
    choose_page(dashboard.page, "Check yours")
    holds(dashboard, "check_output", "1 2\n3 4")
    holds(dashboard, "check_weights", "5 6 7 8")


def test_a_browser_that_keeps_nothing_says_so_before_anything_is_typed(visit):
    dashboard = visit()
    dashboard.page.add_init_script(DENIED)
    checking(dashboard)
    says_so = dashboard.page.locator(".said.flag", has_text=LOST)
    until(says_so)
    sent(dashboard, "check_output", "1 2\n3 4")
    assert says_so.is_visible()
    choose_page(dashboard.page, "Explore")
    until(dashboard.page.locator(".board-pane[data-stage=W_Q]"))
    assert not says_so.count()
    dashboard.idle().tab("Your data")
    until(says_so)
    sent(dashboard, "load_text", "1 2\n3 4")
    assert says_so.is_visible()


def test_what_is_forgotten_by_this_browser_is_not_there_after_a_reload(visit):
    dashboard = checking(visit())
    sent(dashboard, "check_output", "1 2\n3 4")
    choose_page(dashboard.page, "Explore")
    until(dashboard.page.locator(".board-pane[data-stage=W_Q]"))
    dashboard.tab("Export")
    dashboard.page.locator(".st-key-forget button").first.click()
    dashboard.idle()
    dashboard.wait_for("() => !Object.keys(sessionStorage).some(key => key.includes('check_'))")
    checking(dashboard)
    assert box(dashboard, "check_output").input_value() == ""
