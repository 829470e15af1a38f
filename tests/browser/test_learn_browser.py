"""Learn in a real browser: the whole tour by clicks and keys, on a board that stays in place."""

import numpy as np
from browser.dashboard import until

from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.teach import tour
from attention.session.teach.tour import Now

CAT = EXAMPLES["cat-sat"].build()
DONE = ".st-key-lesson .ask.done"
MISSED = ".st-key-lesson .ask.missed"
LIT = "[...document.querySelectorAll('.board-pane:not(.dim)')].map(pane => pane.dataset.stage)"
PLACES = """() => Object.fromEntries(
    [...document.querySelectorAll('.board-pane:not([hidden]) .board-canvas')].map(canvas => {
        const { x, y, width, height } = canvas.getBoundingClientRect()
        return [canvas.closest('.board-pane').dataset.stage, [x, y, width, height].map(Math.round)]
    }))"""


def test_the_whole_tour_by_clicks_and_keys(visit):
    dashboard = visit(1366, 768).open("learn", example="cat-sat")
    page = dashboard.page
    done, heading = page.locator(DONE), page.locator("h1")
    places = page.evaluate(PLACES)
    assert all(y >= 0 and y + height <= 768 for _, y, _, height in places.values())
    for key in ("set_scale_kind", "set_mask", "set_heads", "tour"):
        box = page.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] < 700  # with room for the choice of the head

    def on(k):
        heading.click()  # keys are the page's again
        page.keyboard.press("ArrowRight")
        until(page.get_by_role("heading", name=tour.STEPS[k].title.replace("√d_k", "√dk")))
        dashboard.idle()
        assert done.count() == 0
        stages = set(tour.STEPS[k].stages)
        if k != tour.DRAWS_MASK and "masked" in stages:  # there is no mask as a step begins
            stages = stages - {"masked"} | {"scaled"}
        assert set(page.evaluate(LIT)) == stages

    def is_done(moves=False):
        """A mask and two heads bring stages in."""
        until(done)
        dashboard.idle()
        if not moves:
            assert page.evaluate(PLACES) == places
        assert page.evaluate("document.querySelector('.stMain').scrollTop") == 0

    def word(k):
        dashboard.after(page.locator(".board-words button").nth(k).click)

    X, query = CAT.matrices["X"].values.copy(), CAT.query
    X[query, 0] = 2
    key = Now(CAT.with_matrix("X", Matrix(X))).strongest
    word(1)
    is_done()
    word(query)
    on(1)
    dashboard.write("X", query, 0, "2")
    is_done()
    on(2)
    word(1)
    is_done()
    word(query)
    on(3)
    dashboard.click("scores", 1, 1)
    until(page.locator(MISSED))
    dashboard.click("scores", query, key)
    is_done()
    on(4)
    dashboard.menu("set_scale_kind", "none (× 1)")
    is_done()
    on(5)
    dashboard.menu("set_mask", "look-ahead (causal)")
    is_done(moves=True)
    on(6)
    assert not any(text for row in dashboard.printed("weights") for text in row)
    page.locator(".st-key-set_tour_answer").get_by_text(CAT.tokens[key], exact=True).click()
    is_done()
    on(7)
    dashboard.click("masked", query, key)
    dashboard.after(lambda: page.keyboard.press("Space"))
    is_done(moves=True)
    assert np.isnan(dashboard.numbers("weights")[query, key])
    on(8)
    dashboard.menu("set_heads", "2")
    page.locator(".st-key-set_head").get_by_text("1", exact=True).click()
    is_done(moves=True)
    # leave, and come back where one was
    dashboard.choose_page("Explore")
    until(page.locator(".st-key-set_below"))
    dashboard.choose_page("Guided tour")
    until(page.get_by_role("heading", name=tour.STEPS[8].title.replace("√d_k", "√dk")))
    assert "step=8" in page.url
    page.locator(".st-key-tour_skip button").click()
    page.get_by_role("link", name="Practise in Exercises").click()
    until(page.get_by_role("heading", name="Exercises"))
