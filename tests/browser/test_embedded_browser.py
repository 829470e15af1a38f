"""The board alone in a frame: what is seen of the page, one stage as a product, a click in it."""

from browser.dashboard import until

from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view

BOXES = """() => Object.fromEntries(
  [...document.querySelectorAll('.board-pane:not([hidden])')].map(pane =>
    [pane.dataset.stage, pane.querySelector('.board-canvas').getBoundingClientRect()]))"""
AROUND = "[data-testid=stSidebar], [data-testid=stTopNavLink]"


def test_one_stage_is_a_product_without_the_menu_and_explains_the_cell_that_is_clicked(visit):
    dashboard = visit(width=900, height=480)
    dashboard.open("board", example="cat-sat", embed="true", embed_stage="scores")
    page = dashboard.page
    boxes = page.evaluate(BOXES)
    assert (
        set(boxes) == {"Q", "K", "scores"} and not page.locator(AROUND).filter(visible=True).count()
    )
    scores = boxes["scores"]
    assert boxes["Q"]["right"] <= scores["left"] and boxes["K"]["bottom"] <= scores["top"]
    assert scores["bottom"] <= 480
    dashboard.after(lambda: dashboard.click("scores", 1, 2))
    s = EXAMPLES["cat-sat"].build()
    score = view(s, run(s)).stages["scores"][1, 2]
    until(page.locator(".board-card", has_text="Score of “cat” with “sat”"))
    assert f"= {score:.0f}" in page.locator(".board-card").inner_text().replace("\n", " ")
    page.reload()
    until(page.locator(".board[data-tag]"))
    assert set(page.evaluate(BOXES)) == {"Q", "K", "scores"}  # its address stays


def test_an_input_of_a_stage_is_its_left_factor(visit):
    dashboard = visit(width=900, height=480)
    dashboard.open("board", example="cat-sat", embed="true", embed_stage="Q")
    boxes = dashboard.page.evaluate(BOXES)
    assert set(boxes) == {"X", "W_Q", "Q"}
    assert boxes["X"]["right"] <= boxes["Q"]["left"] and boxes["W_Q"]["bottom"] <= boxes["Q"]["top"]
