"""Learn in a real browser: the whole way by clicks and keys, and back to where one was."""

import messages
import numpy as np
from browser.dashboard import until

from attention.session import lesson
from attention.session.examples import EXAMPLES
from attention.session.matrix import Matrix
from attention.session.run import run, view
from attention.strip import strongest

CAT = EXAMPLES["cat-sat"].build()
DONE = ".st-key-lesson .ask.done"
DIM = "[...document.querySelectorAll('.board-pane:not(.dim)')].map(pane => pane.dataset.stage)"


def test_the_whole_way_by_clicks_and_keys(visit):
    dashboard = visit().open("learn", example="cat-sat")
    page = dashboard.page
    done = page.locator(DONE)

    def on(k):
        page.keyboard.press("ArrowRight")
        until(page.get_by_role("heading", name=f"{k} of 8 {lesson.STEPS[k - 1].title}"))
        dashboard.idle()
        assert done.count() == 0
        seen = set(page.evaluate(DIM))
        assert seen == set(lesson.STEPS[k - 1].stages) - set(lesson.STEPS[k - 1].hides)

    X, query = CAT.matrices["X"].values.copy(), CAT.query
    X[query, 0] = 2
    typed = CAT.with_matrix("X", Matrix(X))
    key = strongest(view(typed, run(typed)), query)
    assert set(page.evaluate(DIM)) == {"X", "W_Q", "Q"}
    dashboard.write("X", query, 0, "2")  # 1: another number for the word that asks
    until(done)
    page.locator(".st-key-lesson h2").click()  # keys are the page's again
    on(2)
    dashboard.click("Q", 1, 0)
    until(done)
    dashboard.click("Q", query, 0)
    page.locator(".st-key-lesson h2").click()
    on(3)
    dashboard.click("scores", query, key)
    until(done)
    page.locator(".st-key-lesson h2").click()
    on(4)
    dashboard.menu("set_scale_kind", "none (× 1)")
    until(done)
    page.locator(".st-key-lesson h2").click()
    on(5)
    until(page.locator(".board-pane[data-stage=masked]:not(.behind)"))  # of which the step speaks
    dashboard.menu("set_mask", "look-ahead (causal)")
    until(done)
    page.locator(".st-key-lesson h2").click()
    on(6)
    page.locator(".st-key-set_lesson_guess").get_by_text(CAT.tokens[key], exact=True).click()
    until(done)
    assert messages.GUESS_IS_RIGHT in done.inner_text()
    until(page.locator(".board-pane[data-stage=weights]"))
    page.locator(".st-key-lesson h2").click()
    on(7)
    dashboard.click("masked", query, key)
    dashboard.after(lambda: page.keyboard.press("Space"))
    until(done)
    assert np.isnan(dashboard.numbers("weights")[query, key])
    page.locator(".st-key-lesson h2").click()
    on(8)
    dashboard.menu("set_heads", "2")
    page.locator(".st-key-set_head").get_by_text("1", exact=True).click()
    until(done)
    # leave, and come back where one was
    dashboard.choose_page("Explore")
    until(page.locator(".st-key-set_below"))
    dashboard.choose_page("Guided way")
    until(page.get_by_role("heading", name="8 of 8 Two heads"))
    assert "step=8" in page.url
