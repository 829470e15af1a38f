"""The board as a spreadsheet, with real keys and a real mouse."""

import io
import re
import struct
from functools import partial
from xml.etree import ElementTree

import messages
import numpy as np
import pytest
from browser.conftest import CLIPBOARD
from browser.dashboard import IN_COLOURS, TABS, clipboard, in_colours, until
from PIL import Image

from attention.explain.captions import describe
from attention.explain.colours import LIGHT, colour_limits, hidden_cells, shade
from attention.limits import MAX_EDITED
from attention.pages.frame import scripts
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from benchmarks.states import rolled

LENGTH = "() => history.length"
FOCUSED = "document.activeElement.getAttribute('aria-label')"
SHIFTS = """window.shifts = [] // how much, and what went from where to where
window.asked = '' // what is to change: what lies in it may move
const within = ({ x, y, width, height }) => [x, y, width, height].map(Math.round)
new PerformanceObserver(list => {
  for (const { value, sources } of list.getEntries()) {
    if (asked && sources.every(({ node }) => !node || node.closest?.(asked))) continue
    shifts.push([value, ...sources.map(({ node, previousRect, currentRect }) =>
      [node?.className ?? node?.nodeName, within(previousRect), within(currentRect)])])
  }
}).observe({ type: 'layout-shift', buffered: true })"""


def shifted(dashboard) -> float:
    """How much of the page has moved without being asked, as browsers reckon it."""
    return dashboard.page.evaluate("shifts.reduce((sum, [value]) => sum + value, 0)")


def own(n: int, d: int = 4) -> dict[str, str]:
    """The link of a system of one's own: n tokens, d wide, all numbers small and whole."""
    return {
        "example": "own",
        "tokens": ",".join(f'"t{k}"' for k in range(n)),
        "X": ";".join(["1 0 2 1"[: 2 * d - 1]] * n),
        **{f"W_{name}": f"integers,{k},{d}x{d},0,3" for k, name in enumerate("QKV")},
    }


def short(label: str) -> str:
    """A label as it is painted: "the₁" for "the (1)"."""
    digits = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return re.sub(r" \((\d+)\)$", lambda found: found[1].translate(digits), label)


def choose(dashboard, stage: str, i: int, j: int) -> None:
    """Click a cell of the board, and wait until the server has heard of it."""
    dashboard.click(stage, i, j).idle()


def holds(dashboard, stage: str, matrix) -> None:
    """Wait until a stage shows these numbers, and all that was typed has arrived."""
    dashboard.wait_for(
        """([stage, matrix]) => JSON.stringify(document.querySelector(
        `.board-pane[data-stage=${stage}] .board-canvas`)?.painted?.z.map(row => [...row]))
        === JSON.stringify(matrix)""",
        [stage, np.asarray(matrix, float).tolist()],
    )
    dashboard.idle()


def test_forty_numbers_typed_without_a_pause_all_arrive(look):
    dashboard = look(**own(10))
    choose(dashboard, "X", 0, 0)
    numbers = np.round(np.linspace(-9.75, 9.75, 40), 3)
    for value in numbers:
        dashboard.page.keyboard.type(repr(float(value)))
        dashboard.page.keyboard.press("Tab")
    holds(dashboard, "X", numbers.reshape(10, 4))
    expected = dashboard.settings()
    assert np.array_equal(expected.matrices["X"].values, numbers.reshape(10, 4))
    now = view(expected, run(expected))
    for stage in ("Q", "K", "V", "scores", "weights", "output"):
        assert np.array_equal(dashboard.numbers(stage), now.stages[stage]), stage


def test_enter_goes_down_and_esc_gives_back_then_leaves(look):
    dashboard = look()
    X = EXAMPLES["four-words"].build().matrices["X"].values.copy()
    choose(dashboard, "X", 0, 1)
    press = dashboard.page.keyboard.press
    dashboard.page.keyboard.type("7")
    press("Enter")
    dashboard.page.keyboard.type("8")
    press("Enter")
    press("Delete")
    X[0:3, 1] = 7, 8, 0
    holds(dashboard, "X", X)
    dashboard.page.keyboard.type("9")
    press("Escape")
    assert dashboard.page.locator(".board-input").count() == 0
    press("Escape")
    press("Tab")
    assert dashboard.page.evaluate(FOCUSED) == "tools of W_Q"
    # a heading is before its cells
    for before in ("X, word embeddings 4 × 4", "tools of X", "Add a token to X"):
        press("Shift+Tab")
        assert dashboard.page.evaluate(FOCUSED) == before
    assert dashboard.numbers("X").tolist() == X.tolist()


def test_an_untouched_number_keeps_every_digit_and_sends_nothing(look):
    link = own(2, 2) | {"X": "0.1 0.30000000000000004;1e-7 123456.789012345"}
    dashboard = look(**link)
    choose(dashboard, "X", 0, 1)
    tag = dashboard.tag()
    for key in ("F2", "Enter", "F2"):
        dashboard.page.keyboard.press(key)
    box = dashboard.page.locator(".board-input")
    assert box.input_value() == "123456.789012345"
    dashboard.page.keyboard.press("Enter")
    choose(dashboard, "X", 0, 1)
    dashboard.page.keyboard.press("Enter")
    assert box.input_value() == "0.30000000000000004"
    dashboard.page.keyboard.press("Escape")
    dashboard.idle()
    assert dashboard.tag() == tag


def test_a_block_from_a_spreadsheet_is_pasted_at_the_cell_and_is_one_step_of_back(look):
    dashboard = look()
    W = EXAMPLES["four-words"].build().matrices["W_V"].values.copy()
    choose(dashboard, "W_V", 1, 2)
    before = dashboard.page.evaluate(LENGTH)
    clipboard(dashboard, "0.5\t-1\n2e-3\t1e13\n1\t1\n7\t7\n")
    changed = W.copy()
    changed[1:4, 2:4] = [[0.5, -1], [0.002, W[2, 3]], [1, 1]]
    holds(dashboard, "W_V", changed)
    said = dashboard.page.locator(".board [role=status]")
    assert said.inner_text() == (
        messages.NUMBER_TOO_LARGE.format(place="WV, row 3, column 4", found="1e13")
    )
    dashboard.wait_for("before => history.length === before + 1", before)
    dashboard.page.go_back()
    holds(dashboard, "W_V", W)


def test_a_paste_of_more_cells_than_a_message_holds_arrives_whole_and_is_one_step_of_back(visit):
    n = 200
    assert n * n > 2 * MAX_EDITED
    link = own(4) | {f"W_{name}": f"integers,{k},{n}x{n},0,3" for k, name in enumerate("QKV")}
    link["X"] = f"integers,0,4x{n},0,3"
    s, _ = links.read(link)
    dashboard = visit(permissions=CLIPBOARD).open(**link)
    dashboard.front("W_Q")
    dashboard.wait_for(IN_COLOURS, in_colours(s, "W_Q"))
    choose(dashboard, "W_Q", 0, 0)
    before = dashboard.page.evaluate(LENGTH)
    block = np.add.outer(7 * np.arange(n), np.arange(n)) % 10
    clipboard(dashboard, "\n".join("\t".join(map(str, row)) for row in block))
    dashboard.wait_for(IN_COLOURS, in_colours(s.with_matrix("W_Q", Matrix(block)), "W_Q"))
    dashboard.wait_for("before => history.length === before + 1", before)
    dashboard.page.go_back()
    dashboard.wait_for(IN_COLOURS, in_colours(s, "W_Q"))


def test_a_number_is_dragged_with_shift_ten_times_as_fine_and_that_is_one_step_of_back(visit):
    dashboard = visit().open()
    W = EXAMPLES["four-words"].build().matrices["W_Q"].values.copy()
    choose(dashboard, "W_Q", 1, 2)
    before = dashboard.page.evaluate(LENGTH)
    x, y = dashboard.place("W_Q", 1, 2)
    dashboard.drag((x, y), (x + 40, y), steps=20)
    W[1, 2] = 3  # ten steps of a tenth more than 2
    holds(dashboard, "W_Q", W)
    dashboard.wait_for("before => history.length === before + 1", before)
    W[1, 2] = 2
    dashboard.page.keyboard.press("Control+z")
    holds(dashboard, "W_Q", W)
    W[1, 2] = 3
    dashboard.page.keyboard.press("Control+y")
    holds(dashboard, "W_Q", W)
    dashboard.page.evaluate(  # at once, and past the state that the page was opened with
        """() => { for (let k = 0; k < 6; k++) document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true })) }"""
    )
    W[1, 2] = 2
    holds(dashboard, "W_Q", W)
    until(dashboard.page.locator(".st-key-set_digits input"))
    assert "127.0.0.1" in dashboard.page.url
    x, y = dashboard.place("W_Q", 1, 2)
    dashboard.page.keyboard.down("Shift")
    dashboard.drag((x, y), (x + 40, y), steps=20)
    dashboard.page.keyboard.up("Shift")
    W[1, 2] = 2.1  # ten steps of a hundredth
    holds(dashboard, "W_Q", W)


def test_a_number_typed_and_not_entered_is_kept_when_another_page_is_chosen(visit):
    dashboard = visit().open()
    choose(dashboard, "X", 0, 0)
    for typed in "123456":
        dashboard.page.keyboard.type(typed)
        dashboard.page.keyboard.press("Tab")
    dashboard.page.keyboard.type("7.5")
    dashboard.choose_page("Conventions")
    dashboard.page.wait_for_url("**/conventions*")
    dashboard.idle().choose_page("Explore")
    until(dashboard.page.locator(".board[data-tag] [data-stage=X]"))
    X = EXAMPLES["four-words"].build().matrices["X"].values.copy()
    X[0], X[1, :3] = [1, 2, 3, 4], [5, 6, 7.5]
    holds(dashboard, "X", X)


def test_a_mask_is_painted_and_turned_and_each_is_one_step_of_back(look):
    dashboard = look()
    before = dashboard.page.evaluate(LENGTH)
    dashboard.front("masked")  # without a mask it is behind the scaled scores
    dashboard.page.get_by_role("button", name="Draw mask").click()
    dashboard.drag(dashboard.place("masked", 0, 1), dashboard.place("masked", 0, 3), steps=3)
    hidden = "() => location.search.includes('drawn=1000.1111.1111.1111')"
    dashboard.wait_for(hidden)
    dashboard.idle()
    assert dashboard.page.evaluate(LENGTH) == before + 1
    assert np.argwhere(np.isnan(dashboard.numbers("weights"))).tolist() == [[0, 1], [0, 2], [0, 3]]
    dashboard.page.get_by_role("button", name="Draw mask").click()
    choose(dashboard, "masked", 2, 0)
    dashboard.page.keyboard.press("Space")
    dashboard.wait_for("() => location.search.includes('drawn=1000.1111.0111.1111')")
    dashboard.page.keyboard.press("Space")
    dashboard.wait_for(hidden)


def test_the_masked_scores_stay_in_front_while_they_are_masked(look):
    dashboard = look(1366, 768, **own(10) | {"mask": "causal"})
    dashboard.front("masked")
    dashboard.page.locator(".board-pane[data-stage=masked] .board-plot").focus()
    dashboard.page.keyboard.press("End")
    for _ in range(2):
        dashboard.after(lambda: dashboard.page.keyboard.press("Space"))
        dashboard.page.keyboard.press("ArrowUp")
    masked = dashboard.page.locator(".board-pane[data-stage=masked]")
    assert "behind" not in masked.get_attribute("class")
    assert dashboard.page.evaluate(
        "document.activeElement.closest('.board-pane').dataset.stage"
    ) == ("masked")


def test_tab_leaves_an_input_after_its_last_number(look):
    dashboard = look()
    page = dashboard.page
    choose(dashboard, "W_Q", 3, 2)
    page.keyboard.type("7")
    dashboard.after(lambda: page.keyboard.press("Tab"))
    pane = "document.activeElement.closest('.board-pane')?.dataset.stage"
    assert page.evaluate(pane) == "W_Q"  # on its last number
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate(pane) != "W_Q"


def test_the_inputs_do_not_fold_away_under_the_hand(look):
    dashboard = look(1366, 768, example="cat-sat")
    page = dashboard.page
    choose(dashboard, "X", 0, 0)
    for typed in ("40", "12.5", "-1000"):  # for which the inputs have no room
        page.keyboard.type(typed)
        dashboard.after(lambda: page.keyboard.press("Enter"))
        page.keyboard.press("ArrowUp")
        assert page.locator(".board-pane[data-stage=X]").is_visible()
        assert page.evaluate("document.activeElement.closest('.board-pane').dataset.stage") == "X"


def test_the_sources_of_a_chosen_cell_stay_marked_when_the_mouse_has_gone(look):
    dashboard = look()
    marked = """() => [...document.querySelectorAll('.board-mark, .board-cursor')]
        .filter(node => node.style.display === 'block')
        .map(node => node.closest('.board-pane').dataset.stage).sort().join()"""
    choose(dashboard, "scores", 2, 1)
    assert dashboard.page.evaluate(marked) == "K,Q,scores"
    dashboard.hover("W_V", 0, 0)
    dashboard.wait_for(f"() => ({marked})() === 'W_V'")
    dashboard.page.mouse.move(5, 5)
    dashboard.wait_for(f"() => ({marked})() === 'K,Q,scores'")
    assert not dashboard.page.locator(".board-tip").is_visible()
    choose(dashboard, "masked", 1, 2)  # from one stage to the next, the mouse at rest
    choose(dashboard, "scores", 2, 1)
    assert dashboard.page.evaluate(marked) == "K,Q,scores"
    assert dashboard.page.locator(".board-tip").is_visible()
    dashboard.page.locator(".st-key-set_sentence input").focus()
    dashboard.page.mouse.move(5, 5)
    dashboard.wait_for(f"() => ({marked})() === 'K,Q,scores'")  # those of the card
    assert not dashboard.page.locator(".board-tip").is_visible()


def test_no_bubble_hides_the_number_typed_above_the_next_cell(look):
    dashboard = look()
    choose(dashboard, "X", 0, 0)
    bubble = dashboard.page.locator(".board-tip")
    until(bubble)
    dashboard.page.keyboard.type("5")
    dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
    assert dashboard.page.evaluate("document.activeElement.textContent").startswith("w2, 1: ")
    assert not bubble.is_visible()
    dashboard.hover("X", 2, 1)
    until(bubble)


def test_enter_after_tabs_goes_to_the_column_where_they_began(look):
    dashboard = look(**own(4))
    choose(dashboard, "W_Q", 0, 1)
    for k, key in enumerate(["Tab", "Tab", "Enter", "Tab", "Tab", "Enter", "Enter"], 1):
        dashboard.page.keyboard.type(str(10 + k))
        dashboard.page.keyboard.press(key)
    dashboard.wait_for("() => location.search.includes('17')")
    dashboard.idle()
    numbers = dashboard.numbers("W_Q").tolist()
    assert [row[1:] for row in numbers[:2]] == [[11, 12, 13], [14, 15, 16]]
    assert numbers[2][1] == 17


def test_a_block_that_is_not_all_numbers_is_refused_whole_and_decimal_commas_are_read(look):
    dashboard = look(**own(4))
    before = dashboard.numbers("W_Q")
    choose(dashboard, "W_Q", 1, 1)
    clipboard(dashboard, "0.5\t1,25\n-2\tx y")
    refused = dashboard.page.locator(".board-untaken")
    odd = messages.BLOCK_HOLDS_NO_NUMBER.format(row=1, column=2, found="1,25")
    until(refused.get_by_text(odd))
    box, dock = refused.bounding_box(), dashboard.page.locator(".st-key-dock").bounding_box()
    assert box["y"] > 0 and box["y"] + box["height"] < dock["y"]
    assert np.array_equal(dashboard.numbers("W_Q"), before)
    dashboard.after(lambda: clipboard(dashboard, "0,5\t1,25\n-2\t3"))
    assert dashboard.numbers("W_Q")[1:3, 1:3].tolist() == [[0.5, 1.25], [-2, 3]]


def test_a_key_after_a_click_acts_on_the_cell_and_on_nothing_else(visit, subtests):
    dashboard = visit().open()
    dashboard.initialise("W_K")
    dashboard.after(dashboard.page.get_by_role("button", name="Initialise").click)
    rolled = dashboard.numbers("W_K")
    for key in ("Enter", "r", "c"):
        with subtests.test(key=key):
            choose(dashboard, "weights", 1, 2)
            dashboard.page.keyboard.press("ArrowLeft")
            dashboard.page.keyboard.press(key)
            dashboard.page.keyboard.press("Enter")
            until(dashboard.page.locator(".board-card[data-cell='weights,1,1']"))
            dashboard.idle()
            assert np.array_equal(dashboard.numbers("W_K"), rolled)
            assert dashboard.page.locator("[role=dialog]").count() == 0


def test_tokens_are_renamed_added_and_deleted_where_they_stand(look):
    dashboard = look()
    x, y = dashboard.place("X", 1, 0)
    left = dashboard.page.locator(".board-pane[data-stage=X] .board-plot").bounding_box()["x"]
    dashboard.page.mouse.dblclick(left + 12, y)
    dashboard.page.keyboard.type("cat")
    dashboard.page.keyboard.press("Enter")
    labels = """labels => document.querySelector('.board-pane[data-stage=weights] .board-canvas')
        ?.painted?.columns.join() === labels"""
    dashboard.wait_for(labels, "w1,cat,w3,w4")
    dashboard.page.get_by_role("button", name="Add a token to X").click()
    until(dashboard.page.locator(".board-input"))
    dashboard.page.keyboard.type("dog")
    dashboard.page.keyboard.press("Enter")
    dashboard.wait_for(labels, "w1,cat,w3,w4,dog")
    for key in ("ArrowUp", "ArrowUp", "Delete"):
        dashboard.page.keyboard.press(key)
    dashboard.wait_for(labels, "w1,cat,w4,dog")
    assert dashboard.idle().settings().tokens == ("w1", "cat", "w4", "dog")


def test_a_pane_is_a_grid_that_says_its_active_cell(look):
    dashboard = look()
    choose(dashboard, "X", 2, 3)
    grid = dashboard.page.locator(".board-pane[data-stage=X] [role=grid]")
    names = ("aria-rowcount", "aria-colcount", "aria-readonly")
    assert [grid.get_attribute(name) for name in names] == ["4", "5", "false"]
    active = dashboard.page.locator(f"[id={grid.get_attribute('aria-activedescendant')}]")
    assert (active.get_attribute("role"), active.text_content()) == ("gridcell", "w3, 4: 2")
    assert active.locator("..").get_attribute("aria-rowindex") == "3"
    assert active.get_attribute("aria-colindex") == "5"
    for _ in range(4):
        dashboard.page.keyboard.press("ArrowLeft")
    places = [active.get_attribute(name) for name in ("role", "aria-colindex")]
    assert places == ["rowheader", "1"]
    dashboard.page.keyboard.press("Enter")
    until(dashboard.page.locator(".board-input"))
    owned = """() => [...document.querySelectorAll('[role=grid] :is(button, input, select, a)')]
        .filter(node => !node.closest('[role=row] > [role=gridcell]')).length"""
    assert dashboard.page.evaluate(owned) == 0
    dashboard.page.keyboard.press("Escape")


AT = """([stage, i, j]) => {
  const canvas = document.querySelector(`.board-pane[data-stage=${stage}] .board-canvas`)
  const [x, y] = canvas.painted.axes.at(i, j), { left, top } = canvas.getBoundingClientRect()
  return [left + x, top + y].map(Math.round) }"""


@pytest.mark.parametrize("width", [390, 1440])
def test_factors_are_left_of_their_product_and_above_it(look, width):
    dashboard = look(width, example="sentence")
    n = len(dashboard.settings().tokens)

    def at(stage: str, i: int, j: int) -> tuple[int, int]:
        return dashboard.page.evaluate(AT, [stage, i, j])

    for k in range(n):
        for left, product in (("Q", "scores"), ("weights", "output")):
            assert at(left, k, 0)[1] == at(product, k, 0)[1]
            assert at(left, k, 0)[0] < at(product, k, 0)[0]
        assert at("K", k, 0)[0] == at("scores", 0, k)[0]  # Kᵀ has its keys as columns
        assert at("K", k, 0)[1] < at("scores", 0, k)[1]
    for j in range(len(dashboard.numbers("V")[0])):
        assert at("V", 0, j)[0] == at("output", 0, j)[0]
        assert at("V", n - 1, j)[1] < at("output", 0, j)[1]


def test_a_part_is_zoomed_into_and_out_of_and_a_swipe_scrolls_the_page(look):
    dashboard = look(width=390, height=844)
    axes = "document.querySelector('[data-stage=weights] .board-canvas').painted.axes"
    width = f"({axes}.x(%s) - {axes}.x(-0.5))"
    whole = dashboard.page.evaluate(width % "3.5")
    dashboard.drag(dashboard.place("weights", 0, 0), dashboard.place("weights", 2, 2))
    assert dashboard.part("weights") == [0, 2, 0, 2]
    assert abs(dashboard.page.evaluate(width % "2.5") - whole) < 1  # whole cells
    zoom_out = dashboard.page.locator("[data-stage=weights] header").get_by_text("Zoom out")
    zoom_out.click()
    assert dashboard.part("weights") == [0, 3, 0, 3]
    assert not zoom_out.is_visible()

    x, y = dashboard.place("weights", 1, 1)
    scrolled = "document.querySelector('[data-testid=stMain]').scrollTop"
    before = dashboard.page.evaluate(scrolled)
    chromium = dashboard.page.context.new_cdp_session(dashboard.page)
    for k in range(12):
        touch = {"type": "touchMove" if k else "touchStart", "touchPoints": [{"x": x, "y": y}]}
        chromium.send("Input.dispatchTouchEvent", touch)
        y += 10
    chromium.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    chromium.detach()
    dashboard.wait_for(f"before => {scrolled} < before - 60", before)
    assert dashboard.part("weights") == [0, 3, 0, 3]


def test_a_stage_behind_another_waits_for_the_end_of_a_drag_and_then_has_its_numbers(visit):
    dashboard = visit().open(**links.write(rolled(16)))
    page = dashboard.page

    def drawn(stage: str) -> list:  # also of one that is behind
        return page.evaluate(f"document.querySelector('[data-stage={stage}] canvas').painted.z")

    choose(dashboard, "X", 0, 0)
    assert page.locator("[data-stage=scaled].behind").count() == 1
    scores, scaled, address = drawn("scores"), drawn("scaled"), page.url
    x, y = dashboard.place("X", 0, 0)
    page.mouse.move(x, y)
    page.mouse.down()
    dashboard.after(lambda: page.mouse.move(x + 40, y, steps=4))
    assert drawn("scores") != scores and drawn("scaled") == scaled
    assert not page.locator(".board-tip").is_visible()
    page.mouse.up()
    dashboard.wait_for("before => location.href !== before", address)
    s = dashboard.idle().settings()
    stages = view(s, run(s)).stages
    assert np.array_equal(drawn("scaled"), stages["scaled"])
    for name in dashboard.stages():
        shown = dashboard.numbers(name)
        is_seen = ~np.isnan(shown)
        assert is_seen.any() and np.array_equal(shown[is_seen], stages[name][is_seen]), name


def test_a_flat_drag_shows_columns_and_a_double_click_all_again(look):
    dashboard = look()
    page, at = dashboard.page, dashboard.place
    box = page.locator("[data-stage=scores] .board-box")
    (x, y), (x1, y1) = at("scores", 1, 1), at("scores", 1, 2)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x1, y1 + 3, steps=3)
    assert box.is_visible()
    assert box.bounding_box()["height"] > 3 * box.bounding_box()["width"] / 2  # of all rows
    page.mouse.up()
    assert not box.is_visible()
    assert dashboard.part("scores") == [0, 3, 1, 2]
    assert page.evaluate("String(getSelection())") == ""
    dashboard.drag(at("scores", 1, 2), (at("scores", 3, 2)[0] + 3, 2000))  # out of the window
    assert dashboard.part("scores") == [1, 3, 1, 2]
    dashboard.drag(at("scores", 2, 1), (at("scores", 2, 1)[0] + 5, at("scores", 2, 1)[1] + 2))
    assert dashboard.part("scores") == [1, 3, 1, 2]  # a click whose hand trembled
    assert dashboard.part("scaled") == [0, 3, 0, 3]
    until(page.locator(".board-card[data-cell='scores,2,1']"))
    page.mouse.move(*at("scores", 1, 1))
    page.mouse.down()
    page.mouse.move(*at("scores", 3, 2), steps=3)
    let_go = "new PointerEvent('pointermove', { pointerId: 1, buttons: 0 })"
    page.evaluate(f"dispatchEvent({let_go})")  # where the page did not hear of it
    assert not box.is_visible()
    page.mouse.up()
    assert dashboard.part("scores") == [1, 3, 1, 2]
    page.mouse.dblclick(*at("scores", 3, 2))
    assert dashboard.part("scores") == [0, 3, 0, 3]
    dashboard.idle().drag(at("scores", 1, 1), at("scores", 2, 2))
    assert dashboard.part("scores") == [1, 2, 1, 2]
    page.locator("[data-stage=scores] .board-plot").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")  # to a cell that is not seen
    assert dashboard.part("scores") == [0, 3, 0, 3]
    dashboard.idle().drag(at("X", 0, 0), at("X", 1, 1))
    assert dashboard.part("X") == [0, 1, 0, 1]
    page.mouse.dblclick(*at("X", 0, 0))
    until(page.locator("[data-stage=X] .board-input"))  # of an input it opens the cell
    page.keyboard.press("Escape")
    assert dashboard.part("X") == [0, 1, 0, 1]
    page.locator("[data-stage=X] header").get_by_text("Zoom out").click()


def test_scripts_are_fetched_once_also_at_the_second_try(visit):
    dashboard = visit(fresh=True)
    page, fetched, received = dashboard.page, [], []
    page.route("**/board/board.js", lambda route: route.abort())
    # the sentence in the board's place goes as soon as the server has heard of it
    dashboard.open(ready=f"text={messages.WITHOUT_BOARD}")
    page.unroute("**/board/board.js")
    page.on("request", lambda request: fetched.append(request.url))
    hear = lambda frame: received.append(frame)  # noqa: E731
    page.on("websocket", lambda socket: socket.on("framereceived", hear))

    def second_try(route) -> None:
        route.continue_() if "-300/" in route.request.url else route.abort()

    page.route("**/board/edit/grid.js", second_try)  # one that the board imports
    dashboard.open().hover("scores", 1, 1)
    page.locator(".st-key-set_digits input").focus()
    dashboard.after(lambda: page.keyboard.press("ArrowRight"))
    again = [url.split("-300/")[1] for url in fetched if "-300/" in url]
    assert sorted(again) == sorted(scripts.needed("board/board.js"))
    assert received and not [frame for frame in received if b"class Board" in frame]
    for form, begin in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        name, picture = dashboard.download(partial(dashboard.tool, "scores", f"Download {form}"))
        assert name.endswith(f".{form.lower()}") and picture.startswith(begin)


@pytest.mark.parametrize(
    ("link", "stage"),
    [
        ({"example": "cat-sat", "mask": "causal", "digits": "8"}, "masked"),
        ({"example": "sentence"}, "weights"),
    ],
)
def test_a_pane_is_downloaded_with_the_numbers_labels_and_colours_of_the_trace(look, link, stage):
    dashboard = look(**link)
    s = dashboard.settings()
    now = view(s, run(s))
    matrix, hidden = now.stages[stage], hidden_cells(now, stage)
    covered = np.zeros(matrix.shape, bool) if hidden is None else hidden
    limits = colour_limits(now)[stage]
    role = "share" if limits == (0, 1) else "diverging"
    expected = [
        LIGHT["hidden"][0][1] if behind else shade(value, limits, role)
        for value, behind in zip(matrix.ravel(), covered.ravel(), strict=True)
    ]

    def rgb(colour: str) -> list[int]:
        return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]

    dashboard.front(stage)
    _, drawing = dashboard.download(lambda: dashboard.tool(stage, "Download SVG"))
    root, svg = ElementTree.fromstring(drawing), "{http://www.w3.org/2000/svg}"
    (body,) = root.findall(svg + "g")
    rects = [r for r in body.findall(svg + "rect") if r.get("fill").startswith("#")]
    colours = [rgb(rect.get("fill")) for rect in rects]
    assert np.abs(np.subtract(colours, [*map(rgb, expected)])).max() <= 2  # of 255: a shade
    groups = {group.get("class"): group for group in body.findall(svg + "g")}
    texts = {name: [text.text for text in groups[name]] for name in groups}
    assert texts["numbers"] == [text for row in now.texts(stage, s.digits) for text in row]
    assert texts["rows"] == [*map(short, now.rows(stage))]
    assert texts["columns"] == [*map(short, now.columns(stage))]
    heading = "".join(root.find(svg + "text").itertext())
    assert heading.startswith(f"{stage} = {describe(now, stage)['formula']} · ".replace("_", ""))

    _, png = dashboard.download(lambda: dashboard.tool(stage, "Download PNG"))
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    assert picture.size == tuple(3 * round(float(root.get(side))) for side in ("width", "height"))
    above = float(re.search(r"translate\(0 ([\d.]+)\)", body.get("transform"))[1])
    for rect, colour in zip(rects, colours, strict=True):
        left, top = (float(rect.get(side)) for side in ("x", "y"))
        # near the corner that no stroke meets
        found = picture.getpixel((int(3 * (left + 3)), int(3 * (top + above + 3))))
        assert np.abs(np.subtract(found, colour)).max() <= 1


def test_hidden_cells_differ_by_more_than_their_colour_on_the_page_and_in_files(look):
    dashboard = look(example="four-words", mask="causal")
    # two corners of a cell: a stroke goes through one of them
    alike = """([i, j]) => {
        const canvas = document.querySelector('[data-stage=masked] .board-canvas')
        const { x, y } = canvas.painted.axes, ratio = devicePixelRatio
        const at = v => String(canvas.getContext('2d').getImageData(
          ratio * x(j + v / 3), ratio * y(i + 1 / 3), 1, 1).data)
        return at(-1) === at(1) }"""
    for i in range(4):
        for j in range(4):
            assert dashboard.page.evaluate(alike, [i, j]) == (j <= i), (i, j)
    dashboard.front("masked")
    _, svg = dashboard.download(lambda: dashboard.tool("masked", "Download SVG"))
    strokes = re.findall(r'<path[^>]* d="((?:M[^ML"]+L[^ML"]+)+)"', svg.decode())
    assert [path.count("M") for path in strokes if path.count("M") > 1] == [6]


def test_a_pane_and_the_board_are_copied_as_pictures_or_saved(visit):
    dashboard = visit(permissions=CLIPBOARD).open()
    said = dashboard.page.locator(".board [role=status]")
    size = """async () => {
        const [item] = await navigator.clipboard.read()
        const { width, height } = await createImageBitmap(await item.getType('image/png'))
        return [width, height] }"""
    dashboard.tool("weights", "Copy picture")
    until(said.get_by_text(messages.PICTURE_WAS_COPIED.format(what="weights")))
    _, png = dashboard.download(lambda: dashboard.tool("weights", "Download PNG"))
    assert dashboard.page.evaluate(size) == list(struct.unpack(">2I", png[16:24]))
    dashboard.page.evaluate(
        """() => { window.written = []
        const { fillText } = CanvasRenderingContext2D.prototype
        CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
          written.push(text)
          fillText.call(this, text, ...place) } }"""
    )
    dashboard.tool("weights", "Copy board as picture")
    until(said.get_by_text(messages.PICTURE_WAS_COPIED.format(what="the board")))
    written = set(dashboard.page.evaluate("written"))
    assert {"scaled", "weights"} <= written  # and no button, nor anything that is cut
    assert not written & {"masked", "Present", "⋯", "…"}
    box = dashboard.page.locator(".board-groups").bounding_box()
    width, height = dashboard.page.evaluate(size)
    assert abs(width - 2 * (box["width"] + 32)) <= 2
    assert height > 2 * box["height"]

    dashboard.page.evaluate("window.ClipboardItem = undefined")
    name, again = dashboard.download(lambda: dashboard.tool("weights", "Copy picture"))
    assert (name, again[:4]) == ("attention_four-words_weights.png", b"\x89PNG")
    assert said.inner_text() == messages.NO_CLIPBOARD_FOR_PICTURES.format(
        name="attention_four-words_weights.png"
    )
    dashboard.page.evaluate("() => { HTMLCanvasElement.prototype.toBlob = given => given(null) }")
    dashboard.tool("weights", "Copy board as picture")
    not_made = messages.PICTURE_NOT_MADE.format(name="attention_board.png")
    until(said.get_by_text(not_made, exact=True))


def test_what_changed_is_marked_unless_less_motion_is_asked_for(look):
    dashboard = look()
    for typed, motion, marked in (("5", "reduce", None), ("6", "no-preference", "1")):
        dashboard.page.emulate_media(reduced_motion=motion)
        choose(dashboard, "X", 0, 0)
        dashboard.page.keyboard.type(typed)
        dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
        frame = dashboard.page.locator(".board-pane[data-stage=X] .board-plot")
        assert frame.get_attribute("data-changed") == marked
    dashboard.page.emulate_media(reduced_motion="reduce")


def test_nothing_jumps_while_a_page_opens_or_a_number_is_typed(visit):
    dashboard = visit(motion="no-preference")
    dashboard.page.add_init_script(SHIFTS)
    seen = []
    for _ in range(3):  # beside many others one opening of some moved by 0.2 to 0.3
        dashboard.open(**links.write(rolled(16)))
        seen.append(dashboard.page.evaluate("shifts"))
        if shifted(dashboard) < 0.1:
            break
    assert shifted(dashboard) < 0.1, seen
    choose(dashboard, "X", 0, 0)  # which opens the inputs
    before = shifted(dashboard)
    for typed in ("5", "1"):  # scores below −10, and none
        dashboard.page.keyboard.type(typed)
        dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
        dashboard.page.keyboard.press("ArrowUp")
    assert shifted(dashboard) - before < 0.02


MOVES = {
    "heads": lambda d: d.choose("set_heads", "2"),
    "digits": lambda d: d.page.locator(".st-key-set_digits input").press("ArrowRight"),
    "fewer digits": lambda d: d.page.locator(".st-key-set_digits input").press("Home"),
    "many digits": lambda d: d.page.locator(".st-key-set_digits input").press("End"),
    "d_k": lambda d: d.page.locator(".st-key-set_d_k input").first.press("ArrowRight"),
    "d_model": lambda d: d.page.locator(".st-key-set_d_model input").first.press("ArrowRight"),
    "scale": lambda d: d.choose("set_scale_kind", "none (× 1)"),
    "mask": lambda d: d.choose("set_mask", "look-ahead (causal)"),
    "no mask": lambda d: d.choose("set_mask", "none"),
    "query": lambda d: d.page.get_by_role("radio", name="on,").click(),
    "second sequence": lambda d: part(d, "second sentence"),
    "and none": lambda d: part(d, "second sentence"),
    "softmax": lambda d: part(d, "softmax"),
    "Randomize": lambda d: d.page.locator(".st-key-randomize button").first.click(),
    "Q, K, V typed": lambda d: part(d, "enter Q, K, V directly"),
    "and none typed": lambda d: part(d, "enter Q, K, V directly"),
    "eight tokens": lambda d: said(d, "the small dog barks at the big cat"),
    "four tokens": lambda d: said(d, "the dog barks ."),
}


def part(dashboard, name: str) -> None:
    dashboard.page.locator(".st-key-set_parts").get_by_text(name, exact=True).click()


def show(dashboard, tab: str) -> None:
    dashboard.tab(tab)
    until(dashboard.page.locator(TABS[tab]).first)


def said(dashboard, sentence: str) -> None:
    box = dashboard.page.locator(".st-key-set_sentence input")
    box.fill(sentence)
    box.press("Enter")


def test_no_move_shifts_what_stands_on_the_page(visit):
    """But for the stages of the board, which have other sizes then."""
    dashboard = visit(motion="no-preference")
    dashboard.page.add_init_script(SHIFTS)
    dashboard.open(bare=True)
    tabs = ["Spread", "Initialise", "Your data", "Code"]
    moves = MOVES | {tab: lambda d, tab=tab: show(d, tab) for tab in tabs}
    moves |= {"a cell": lambda d: choose(d, "weights", 1, 2)}
    found = {}
    dashboard.page.wait_for_timeout(1500)  # for what opening brings late
    for name, move in moves.items():
        # on a busy machine a panel comes later than what browsers count as asked for
        asked = ".st-key-dock_content" if name in tabs else ".board"
        if name in ("second sequence", "and none"):  # its field is beside the sentence
            asked += ", .st-key-words"
        dashboard.idle().page.evaluate("panel => { shifts = []; asked = panel }", asked)
        if name in MOVES:
            dashboard.after(lambda move=move: move(dashboard))
        else:
            move(dashboard)
        dashboard.page.wait_for_timeout(150)  # for what would come late
        shifts = dashboard.idle().page.evaluate("shifts")
        if sum(value for value, *_ in shifts) >= 0.02:
            found[name] = shifts
    assert not found, found


WRITTEN = """() => {
  const ends = node => node.getBoundingClientRect()
  const said = document.querySelector('.board-said')
  const panes = [...document.querySelectorAll('.board-pane:not([hidden])')].map(pane => {
    const { texts, size } = pane.querySelector('.board-canvas').painted
    const [head, title] = ['.board-head', '.board-title'].map(name => pane.querySelector(name))
    const whole = head.hidden || ends(title).right <= ends(head).right + 1
    const isBehind = pane.classList.contains('behind')
    return [pane.dataset.stage, texts, size, title.textContent, whole, isBehind] })
  const inSight = ends(said).bottom <= ends(said.closest('.board-formula')).bottom + 1
  return [said.textContent, inSight, panes] }"""
LINKS = {
    "narrow cells": {"example": "cat-sat", "scale": "2"},
    "three decimals": {"example": "cat-sat", "scale": "2", "digits": "3"},
    "hidden and tiny": {"example": "cat-sat", "digits": "6", "mask": "causal", "scale": "2"},
    "ten decimals": {"example": "sentence", "digits": "10"},
    "powers of ten": own(6) | {"digits": "6", "X": ";".join(["2500000.5 0 -1234567.25 3"] * 6)},
    "many tokens": own(30) | {"digits": "4"},
    "in colours": own(96),
}
SMALLEST = 10.5  # px


def explained(text: str, whole: str, value: float, decimals: int) -> bool:
    """Whether a text is the whole one, or as near as so many decimals are: ≈0 for tiny ones."""
    if text == whole or (value in (0, 1) and text == str(int(value))):
        return True
    unit = 10.0**-decimals
    if text in ("≈0", "≈1"):
        return 0 < abs(value - int(text[1])) <= 0.5 * unit
    mantissa, _, power = text.replace("−", "-").partition("e")
    if "∞" not in text and float(f"{mantissa}e{power or 0}") == value:
        return True  # decimals that are 0 in all of a stage say nothing
    unit = unit * 10 ** (int(power) + 1) if power else unit
    places = len(mantissa.partition(".")[2]) + bool(power)
    return places == decimals and abs(float(f"{mantissa}e{power or 0}") - value) <= 0.501 * unit


@pytest.mark.parametrize("size", [(1366, 768), (1440, 900), (390, 844)])
@pytest.mark.parametrize("name", LINKS)
def test_numbers_are_whole_or_the_board_says_what_they_lack(look, name, size):
    dashboard = look(*size, **LINKS[name])
    s = dashboard.settings()
    shown = view(s, run(s))
    seen = set()
    for stage in ("weights", "X"):  # the second opens the inputs, where they are folded
        dashboard.front(stage)
        said, in_sight, panes = dashboard.page.evaluate(WRITTEN)
        fewer = re.search(r"with (\d+) of (\d+) decimals", said)
        decimals, asked = map(int, fewer.groups()) if fewer else (s.digits, s.digits)
        assert in_sight and asked == s.digits
        for pane, painted, letters, heading, in_heading, behind in panes:
            assert in_heading, heading
            seen.add(pane)
            if painted is None:
                named = re.search(r"In colours: ([^.]*)[.]", said)
                assert (
                    "in colours" in heading
                    or "are colours" in said
                    or (named and pane.replace("_", "") in named[1].split(", "))
                    or behind  # the one in front says it
                ), (pane, heading, said)
                continue
            assert letters >= SMALLEST, pane
            whole = shown.texts(pane, s.digits)
            for k, texts in enumerate(zip(sum(painted, []), sum(whole, []), strict=True)):
                value = shown.stages[pane].ravel()[k]
                assert explained(*texts, value, decimals), (pane, texts, value, said)
    # a mask of 0 and −∞ says no more than the masked scores do
    assert set(dashboard.stages()) - seen <= {"mask"}


def test_what_the_board_has_no_room_for_is_in_files_tables_and_parts(look):
    dashboard = look(example="cat-sat", digits="8")
    s = dashboard.settings()
    whole = view(s, run(s)).texts("weights", s.digits)
    said = dashboard.page.locator(".board-said")
    few = dashboard.printed("weights")
    decimals = len(few[0][0].partition(".")[2])
    assert said.inner_text().startswith(messages.FEWER_DECIMALS.format(kept=decimals, asked=8))
    _, svg = dashboard.download(lambda: dashboard.tool("weights", "Download SVG"))
    assert f">{whole[1][2]}<" in svg.decode()
    assert not re.search("decimals|rounded", svg.decode())  # it has room
    dashboard.tool("weights", "Show as table")
    cells = dashboard.page.locator("[data-stage=weights] .board-table tbody td")
    assert cells.all_inner_texts() == sum(whole, [])
    dashboard.tool("weights", "Show as heatmap")
    dashboard.drag(dashboard.place("weights", 1, 1), dashboard.place("weights", 2, 2))
    assert dashboard.printed("weights")[1][1:3] == whole[1][1:3]
    dashboard.page.get_by_role("button", name="Zoom out").click()
    assert dashboard.printed("weights") == few
    many = look(**links.write(rolled(20)) | {"digits": "10"})
    _, svg = many.download(lambda: many.tool("weights", "Download SVG"))
    shown = messages.DECIMALS_SHOWN.format(shown=r"\d", asked=10)
    assert re.search(f" · {shown}<", svg.decode())


MODULES = """
const { createObjectURL } = URL
window.scripts = {}
URL.createObjectURL = blob => {
  const url = createObjectURL.call(URL, blob)
  blob.text().then(text => {
    for (const name of ['board', 'copy'])
      if (text.includes(`st-bidi-attention_${name}-`)) window.scripts[name] = url })
  return url }"""
CALLS = """async name => {
  const call = (await import(window.scripts[name])).default
  const place = document.createElement('div')
  place.innerHTML = `<div class="${name}"></div>`
  document.body.append(place)
  const begin = tag => {
    const head = { tag, panes: [], spokenOf: [], compared: [],
      palettes: { light: {}, dark: {} } }
    const sent = name === 'copy' ? { lines: [['The link', tag]] } : head
    const behind = name === 'copy' ? '' : '\\0' // where the numbers of panes would come
    const data = new TextEncoder().encode(JSON.stringify(sent) + behind)
    return call({ data, parentElement: place, setTriggerValue: () => {} }) }
  const [first, second] = [begin('one'), begin('two')]
  const count = () => place.firstChild.childElementCount
  const found = [count()]
  const rest = () => new Promise(done => setTimeout(done, 50))
  const late = begin('late') // one that was overtaken comes last, and ends at once
  late()
  const { tag } = place.firstChild.dataset
  for (const end of [first, second]) {
    end()
    await rest()
    found.push(count()) }
  place.remove()
  while (count()) await rest()
  return [found, tag] }"""


def test_a_call_that_ends_takes_away_what_has_left_the_page_and_nothing_else(visit, subtests):
    """Streamlit ends one where two answers come while a component is fetched, or Back does."""
    dashboard = visit()
    dashboard.page.add_init_script(MODULES)
    dashboard.open()
    dashboard.page.get_by_role("button", name="Share", exact=True).click()
    until(dashboard.page.locator(".copy input").first)
    for name in ("board", "copy"):
        with subtests.test(name=name):
            (begun, after_first, after_second), tag = dashboard.page.evaluate(CALLS, name)
            assert begun == after_first == after_second > 0
            if name == "board":
                assert tag == "two"


def test_a_pane_that_has_no_room_for_its_cells_breaks_nothing(visit):
    """Nor one that is not shown: a page which is left has no size while it still stands."""
    dashboard = visit(width=390, height=844).open(example="four-words", mask="causal")
    for name, value, back in (("width", "20px", "400px"), ("display", "none", "")):
        for now in (value, back):
            dashboard.page.evaluate(
                "([name, now]) => (document.querySelector('.board').style[name] = now)", [name, now]
            )
            dashboard.page.evaluate("() => new Promise(done => setTimeout(done, 100))")
    assert dashboard.numbers("weights").shape == (4, 4)
    assert dashboard.errors == []


def test_a_digit_after_escape_begins_a_number_or_says_where_numbers_go(visit):
    dashboard = visit().open()
    keyboard, before = dashboard.page.keyboard, dashboard.numbers("X")
    dashboard.click("X", 1, 2)
    keyboard.press("Escape")

    def type_seven() -> None:
        keyboard.press("7")
        keyboard.press("Enter")

    dashboard.after(type_seven)
    before[1, 2] = 7
    assert (dashboard.numbers("X") == before).all()
    said = dashboard.page.locator(".board-untaken")
    inputs = "X, WQ, WK, WV"
    for keys in ("7", "Escape 7"):  # with a chosen cell and without
        dashboard.click("scores", 0, 1)
        for key in keys.split():
            keyboard.press(key)
        assert said.inner_text() == messages.IS_COMPUTED.format(name="scores", inputs=inputs)
    dashboard.click("masked", 0, 1)
    keyboard.press("0")
    assert said.inner_text() == messages.PRESS_SPACE_TO_HIDE


def test_a_cell_of_weights_has_one_colour_which_is_that_of_its_weight(visit):
    """A bar that ends in the middle of the digits looks as if it crossed them out."""
    dashboard = visit().open()
    weights = dashboard.numbers("weights")
    colours = dashboard.page.evaluate(CELL_COLOURS)
    assert np.shape(colours)[:2] == weights.shape
    for i, j in np.ndindex(weights.shape):
        wanted = shade(round(weights[i, j] * 252) / 252, (0, 1), "share")
        wanted = [int(wanted[k : k + 2], 16) for k in (1, 3, 5)]
        for colour in colours[i][j]:  # at the upper left of the cell, and at its lower left
            assert np.abs(np.subtract(colour, wanted)).max() <= 2
            assert contrast(colour, LIGHT["ink"]) >= 4.5


def test_numbers_lose_a_decimal_before_they_become_colours(visit):
    tokens = ",".join(
        f'"{word}"'
        for word in ["the", "animal", "did", "not", "cross", "because", "it", "was", "too"]
    )
    link = {"tokens": f'{tokens},"tired"', "X": "normal,4,10x4"}
    link |= {f"W_{name}": f"xavier,{seed},4x8" for seed, name in enumerate("QKV", 5)}
    dashboard = visit(1366, 768).open(example="cat-sat", **link)
    said = dashboard.page.locator(".board-said").inner_text()
    assert said.startswith(messages.FEWER_DECIMALS.format(kept=1, asked=2))
    for stage, digits in (("Q", 1), ("K", 1), ("scores", 1), ("weights", 2), ("output", 1)):
        texts = sum(dashboard.printed(stage), [])
        assert {len(text.partition(".")[2]) for text in texts if "≈" not in text} == {digits}


def test_where_cells_are_in_colours_the_board_says_what_gives_them_numbers(visit):
    tokens = ",".join(f'"{k}a"' for k in range(24))
    dashboard = visit(1366, 768).open(example="cat-sat", tokens=tokens, X="normal,4,24x4")
    said = dashboard.page.locator(".board-said")
    assert said.inner_text().endswith(messages.FOR_NUMBERS)
    dashboard.page.locator("[data-testid=stSidebarCollapseButton] button").click()
    until(said.filter(has_not_text="fold the sidebar"))


def contrast(colour, ink: str) -> float:
    """The contrast of two colours by WCAG 2."""
    channels = np.array([colour, [int(ink[k : k + 2], 16) for k in (1, 3, 5)]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    low, high = sorted(linear @ [0.2126, 0.7152, 0.0722])
    return (high + 0.05) / (low + 0.05)


CELL_COLOURS = """() => {
  const canvas = document.querySelector('.board-pane[data-stage=weights] .board-canvas')
  const { z, axes } = canvas.painted, context = canvas.getContext('2d')
  const ratio = context.getTransform().a
  const at = (x, y) => [...context.getImageData(x * ratio, y * ratio, 1, 1).data].slice(0, 3)
  return z.map((row, i) => Array.from(row, (_, j) => [-0.35, 0.35].map(down =>
    at(axes.x(j - 0.42), axes.y(i + down))))) }"""
