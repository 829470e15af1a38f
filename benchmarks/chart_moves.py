"""Moves on pages of charts beside those of another checkout, by ``--beside PATH``.

``git worktree add PATH COMMIT --detach`` makes one. Two servers and one Chromium: the pages are
open in both and move in turns. Prints a Markdown table and saves nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.board import both, compared, row, versions

STEPS = (12, 14, 16, 20, 24, 28, 32, 40, 48)  # of the slider
# Whether all charts show this d_k, or one this query; of charts that a board drew by its heading.
DRAWN = """value => {
  const graphs = [...document.querySelectorAll('.js-plotly-plot')]
  const marked = graphs.filter(graph => graph.layout?.shapes?.length)
  return marked.length > 0 && marked.every(graph => graph.layout.shapes[0].x0 === value)
    && graphs.every(graph => graph._fullLayout) }"""
QUERY = """value => {
  const named = `Query ${value.toLocaleString('en-US')}`
  const graphs = [...document.querySelectorAll('.js-plotly-plot')]
  const board = document.querySelector('.board-pane[data-stage=long_row]')?.closest('.board')
  return graphs.some(({ layout }) => layout?.title?.text?.includes(named))
    || (board?.dataset.tag !== window.before
      && !!board?.querySelector('.board-symbol')?.textContent.startsWith(named)) }"""
BEGUN = """kind => {
  const board = document.querySelector('.board-pane[data-stage=long_row]')?.closest('.board')
  window.before = board?.dataset.tag
  const begin = () => (window.begun = performance.now())
  addEventListener(kind, begin, { capture: true, once: true }) }"""
TOOK = """async ([value, holds]) => {
  while (!eval(holds)(value)) await new Promise(done => setTimeout(done, 2))
  const frame = () => new Promise(done => requestAnimationFrame(done))
  await frame()
  await frame()
  return performance.now() - window.begun }"""


def slid(page: Page, turn: int) -> float:
    """Press an arrow key on the slider *Largest d_k* of Why √d_k; ms until its charts show it."""
    there = STEPS[len(STEPS) // 2 :]
    k = turn % (2 * (len(there) - 1))
    up = k < len(there) - 1
    value = there[k + 1] if up else there[2 * (len(there) - 1) - k - 1]
    page.locator(".st-key-set_sample_d_k").get_by_role("slider").focus()
    page.evaluate(BEGUN, "keydown")
    page.keyboard.press("ArrowRight" if up else "ArrowLeft")
    return page.evaluate(TOOK, [value, DRAWN])


def stepped(page: Page, turn: int) -> float:
    """Step to another query of Long context; ms until its row is drawn."""
    field = page.locator(".st-key-set_long_query")
    step = -1 if turn % 2 == 0 else 1
    value = int(field.locator("input").input_value()) + step
    page.evaluate(BEGUN, "pointerdown")
    field.get_by_test_id(f"stNumberInputStep{'Down' if step < 0 else 'Up'}").click()
    return page.evaluate(TOOK, [value, QUERY])


MOVES = {
    "*Why √dₖ*, *Largest dₖ*, ms": (f"why?sample_d_k={STEPS[len(STEPS) // 2]}", slid),
    "*Long context*, *Query*, ms": ("long", stepped),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--beside", type=Path, required=True, help="another checkout")
    parser.add_argument("--moves", type=int, default=30, help="of each page")
    parser.add_argument("--port", type=int, default=8660, help="this port and the next are used")
    options = parser.parse_args()
    with both(options.beside, options.port) as (browser, there, here):
        print(versions(browser), end="\n\n")
        print(row("", "before", "now", "ratio"))
        print("|---|---:|---:|---:|")
        for words, (path, move) in MOVES.items():
            pages = []
            for address in (there, here):
                page = browser.new_context(viewport={"width": 1366, "height": 900}).new_page()
                page.goto(f"{address}/{path}")
                page.wait_for_selector(".js-plotly-plot")
                page.wait_for_timeout(6000)  # what is made exact beside the page
                pages.append(page)
            turns = []
            for turn in range(-4, options.moves):
                took = []
                for page in pages:
                    took.append(move(page, turn + 4))
                    page.wait_for_timeout(250)
                turns += [took] if turn >= 0 else []
            print(compared(words, turns))
            for page in pages:
                page.context.close()


if __name__ == "__main__":
    main()
