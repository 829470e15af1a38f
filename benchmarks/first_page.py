"""The first page beside that of another checkout, by ``benchmarks/first_page.py --beside PATH``.

``git worktree add PATH COMMIT --detach`` makes one. Two servers and one Chromium; the two pages are
opened in turns, each in a browser with an empty cache. Prints a Markdown table and saves nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.board import (
    EXPLORE,
    RESTS,
    answering,
    asked,
    new_page,
    opened,
    row,
    serving,
    versions,
)
from benchmarks.chromium import CHROMIUM

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
    with (
        serving("app.py", options.port) as here,
        serving("app.py", options.port + 1, root=options.beside.resolve()) as there,
        sync_playwright() as playwright,
    ):
        answering(here), answering(there)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        print(versions(browser), end="\n\n")
        for address in (here, there):
            once(browser, address)
        turns = [
            [once(browser, address) for address in (there, here)] for _ in range(options.opens)
        ]
        print(row("", "before", "now", "ratio"))
        print("|---|---:|---:|---:|")
        for k, words in enumerate(ROWS):
            before, now = (median(turn[side][k] for turn in turns) for side in (0, 1))
            ratio = median(turn[1][k] / turn[0][k] for turn in turns)
            print(row(words, before, now, f"{ratio:.2f}"))
        browser.close()


if __name__ == "__main__":
    main()
