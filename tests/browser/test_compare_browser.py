"""Compare in a real browser: from Explore to A, B and B − A, by real clicks and keys."""

import messages
import numpy as np
from browser.dashboard import until

from attention.session.compare import pair
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix

CAT = EXAMPLES["cat-sat"].build()
LEFTS = """() => { const left = node => node.getBoundingClientRect().left
  const lefts = [...document.querySelectorAll('.board-pane')].map(left)
  return [[...new Set(lefts)], left(document.querySelector('.board-groups'))] }"""
# the stages in whose pane the cell in row i and column j has a frame that is pointed at
MARKED = """(cell) => [...document.querySelectorAll('.board-pane')]
  .filter(pane => [...pane.querySelectorAll('.board-mark:not([hidden])')].some(box => {
    const { x, y } = pane.querySelector('.board-canvas').painted.axes
    const rect = box.getBoundingClientRect()
    const canvas = pane.querySelector('.board-canvas').getBoundingClientRect()
    const [i, j] = cell
    return Math.abs(canvas.left + x(j) - (rect.left + rect.right) / 2) < 3
      && Math.abs(canvas.top + y(i) - (rect.top + rect.bottom) / 2) < 3 }))
  .map(pane => pane.dataset.stage)"""


def apart(dashboard, compared, stage):
    """A, B and B − A as painted, beside what the formula gives."""
    a, b = (view.stages[stage] for view in pair.views(compared))
    shown = [dashboard.numbers(name) for name in (f"{stage}_a", stage, f"{stage}_difference")]
    for painted, M in zip(shown, (a, b, b - a), strict=True):
        seen = ~np.isnan(painted)
        assert seen.any()
        np.testing.assert_array_equal(painted[seen], M[seen])


def test_from_explore_to_a_comparison_and_back_by_clicks_and_keys(visit):
    dashboard = visit().open(example="cat-sat")
    page = dashboard.page
    dashboard.choose_page("Compare")
    until(page.get_by_text("scale: 1/√dk → 1"))  # k is below the line
    dashboard.idle()
    assert "scale" not in page.url  # an opening to look at, which is no step of Back
    dashboard.after(lambda: page.get_by_role("button", name="Make B equal to A").click())
    until(page.get_by_text(messages.A_AND_B_ARE_THE_SAME))
    dashboard.idle()
    # one number of X is typed: A is what was there before
    x, y = dashboard.place("X", 1, 2)
    page.mouse.click(x, y)
    until(page.locator("pre.cell[data-cell='B,X,1,2']"))
    dashboard.idle()
    page.keyboard.type("7")
    dashboard.after(lambda: page.keyboard.press("Enter"))
    X = CAT.matrices["X"].values.copy()
    before, X[1, 2] = X[1, 2], 7
    said = f"X, row 2, column 3: {before:g} → 7".replace("-", "−")
    until(page.get_by_text(said))
    compared = pair.Pair(CAT, CAT.with_matrix("X", Matrix(X)))
    for stage in ("X", "weights", "output"):
        apart(dashboard, compared, stage)
    # what is pointed at in A is marked in B and in their difference
    dashboard.hover("weights_a", 1, 3)
    assert set(dashboard.page.evaluate(MARKED, [1, 3])) >= {"weights", "weights_difference"}
    # and a part that is seen closer is the same of all three
    weights = ("weights_a", "weights", "weights_difference")
    dashboard.drag(dashboard.place("weights_a", 1, 1), dashboard.place("weights_a", 2, 2))
    assert [dashboard.part(name) for name in weights] == [[1, 2, 1, 2]] * 3
    page.get_by_role("button", name="Zoom out").last.click()
    n = len(compared.b.tokens)
    assert [dashboard.part(name) for name in weights] == [[0, n - 1] * 2] * 3
    assert not page.get_by_role("button", name="Zoom out").count()
    # Back undoes, Forward brings it again, and a reload keeps it
    page.go_back()
    until(page.get_by_text("scale: 1/√dk → 1"))  # k is below the line
    page.go_forward()
    until(page.get_by_text(said))
    page.reload()
    until(page.get_by_text(said))
    dashboard.idle()
    # a comparison made by one click, of which A is opened on Explore
    dashboard.after(lambda: page.get_by_text("look-ahead mask", exact=True).click())
    until(page.get_by_text("mask: none → look-ahead (causal)"))
    apart(dashboard, pair.PRESETS["mask"].make(compared.b), "weights")
    with page.context.expect_page() as another:
        page.get_by_role("link", name="Open A").click()
    explore = type(dashboard)(another.value, dashboard.address)
    until(another.value.locator(".st-key-set_below"))
    np.testing.assert_array_equal(explore.idle().numbers("X"), X)
    assert "a." not in another.value.url


def test_lines_of_the_board_have_the_same_columns_and_another_number_moves_none(visit):
    """What is moved in the page loses the focus."""
    dashboard = visit().open("compare", example="cat-sat")
    lefts, edge = dashboard.page.evaluate(LEFTS)
    assert len(lefts) == 3 and lefts[0] == edge
    dashboard.after(dashboard.page.get_by_text("look-ahead mask", exact=True).click)
    dashboard.page.evaluate(
        """() => { window.moved = []
        const heard = list => list.forEach(({ addedNodes }) => moved.push(...addedNodes))
        const board = document.querySelector('.board-groups')
        new MutationObserver(heard).observe(board, { childList: true }) }"""
    )
    assert dashboard.page.locator(".board-group").count() > 2
    box = dashboard.page.locator(".st-key-set_digits input").first
    dashboard.after(lambda: box.press("ArrowRight"))
    assert dashboard.page.evaluate("moved.length") == 0
