"""The first page beside that of another checkout, by ``benchmarks/first_page.py --beside PATH``.

``git worktree add PATH COMMIT --detach`` makes one. Two servers and one Chromium; the two pages are
opened in turns, each in a browser with an empty cache. Prints a Markdown table and saves nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from playwright.sync_api import Browser

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.board import EXPLORE, RESTS, asked, both, compared, new_page, opened, row, versions

CONTROLS = "button, input, select, textarea, summary, a[href], [role=slider], [role=combobox]"
COUNTED = """controls => {
  const seen = [...document.querySelectorAll(controls)].filter(node => node.checkVisibility())
  const inside = node => { const { top, bottom } = node.getBoundingClientRect()
    return bottom > 0 && top < innerHeight }
  return [document.querySelectorAll('*').length, seen.length, seen.filter(inside).length] }"""
ROWS = (
    "opening, cold, until the board is painted, ms",
    "server: processor time of the script, ms",
    "elements of the page",
    "controls",
    "controls in sight, 1440 × 900",
)


def once(browser: Browser, address: str) -> list[float]:
    """One opening, in the order of the rows."""
    asked(f"{address}/clock/runs")
    page = new_page(browser)
    took = opened(page, address, EXPLORE)
    page.wait_for_function(RESTS)
    page.wait_for_timeout(500)
    own = sum(own for _, own in json.loads(asked(f"{address}/clock/runs"))["runs"])
    counted = page.evaluate(COUNTED, CONTROLS)
    page.context.close()
    return [took, own, *counted]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--beside", type=Path, required=True, help="another checkout")
    parser.add_argument("--opens", type=int, default=15, help="of each page")
    parser.add_argument("--port", type=int, default=8640, help="this port and the next are used")
    options = parser.parse_args()
    with both(options.beside, options.port) as (browser, there, here):
        print(versions(browser), end="\n\n")
        for address in (here, there):
            once(browser, address)
        turns = [
            [once(browser, address) for address in (there, here)] for _ in range(options.opens)
        ]
        print(row("", "before", "now", "ratio"))
        print("|---|---:|---:|---:|")
        for k, words in enumerate(ROWS):
            print(compared(words, [(before[k], now[k]) for before, now in turns]))


if __name__ == "__main__":
    main()
