"""How long a move takes with hundreds of tokens: ``python benchmarks/many.py``.

Explore, one head, d_model = d_k = d_v = 64, a look-ahead mask. Randomize changes every stage but X.
The slider of d_k is moved on pages of few and of many tokens, in turns (d_model is 32), so that
their ratio holds on a busy machine. A move is timed as in benchmarks/board.py, until all that
changed is painted. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from attention.session.state.links import write  # noqa: E402
from benchmarks.board import (  # noqa: E402
    ARITHMETIC,
    CHANGED,
    EXPLORE,
    answering,
    focused,
    middle,
    moved,
    new_page,
    opened,
    row,
    serving,
    versions,
)
from benchmarks.chromium import CHROMIUM  # noqa: E402
from benchmarks.states import rolled  # noqa: E402

WIDTH = 64
WARM_UP = 2
HEADS = (
    *("tokens", "Randomize", "click → its arithmetic"),
    *("server, script", "server, all threads"),
)
SLID = "tokens", "slider of d_k", "of the fewest", "server, script", "server, all threads"
TAG = "document.querySelector('.board').dataset.tag"


def pressed(page: Page, address: str, ready: str) -> dict:
    """Randomize by its key."""
    page.bring_to_front()
    page.locator(".st-key-randomize button").first.focus()
    return moved(page, address, lambda: page.keyboard.press("Enter"), ready)


def measured(browser, board: str, tokens: int, runs: int) -> str:
    """The line of the table for so many tokens."""
    page = new_page(browser)
    page.set_default_timeout(120_000)
    opened(page, f"{board}/?{urlencode(write(rolled(tokens, width=WIDTH)))}", EXPLORE)
    page.wait_for_timeout(3000)
    moves: dict[str, list[dict]] = {"board": [], "click": []}
    for turn in range(WARM_UP + runs):
        ready = CHANGED.format(tag=page.evaluate(TAG))
        moves["board"].append(pressed(page, board, ready))
        i = tokens // 2 + turn % 2
        x, y = page.evaluate(f"middle('scores', {i}, 5)")
        moves["click"].append(clicked(page, board, x, y))
    page.context.close()
    last = {name: found[WARM_UP:] for name, found in moves.items()}
    server = [middle(last["board"], what) for what in ("own", "processor")]
    return row(str(tokens), *(middle(last[name], "painted") for name in last), *server)


def clicked(page: Page, address: str, x: float, y: float) -> dict:
    """A click on a cell; which one it was, of cells below a pixel, its arithmetic says."""
    before = page.evaluate("document.querySelector('.board-card')?.dataset.cell")
    other = ARITHMETIC.replace("===", "!==").format(cell=before)
    return moved(page, address, lambda: page.mouse.click(x, y), other)


def slid(browser, board: str, sizes: list[int], runs: int) -> list[str]:
    """A line for each number of tokens: how long a move of the slider of d_k takes."""
    pages = {tokens: new_page(browser) for tokens in sizes}
    for tokens, page in pages.items():
        page.set_default_timeout(120_000)
        opened(page, f"{board}/?{urlencode(write(rolled(tokens, width=32)))}", EXPLORE)
    moves: dict[int, list[dict]] = {tokens: [] for tokens in sizes}
    for turn in range(WARM_UP + runs):
        for tokens, page in pages.items():
            focused(page, "set_d_k")
            key = ("ArrowRight", "ArrowLeft")[turn % 2]
            ready = CHANGED.format(tag=page.evaluate(TAG))
            moves[tokens].append(moved(page, board, partial(page.keyboard.press, key), ready))
    last = {tokens: found[WARM_UP:] for tokens, found in moves.items()}
    took = {tokens: middle(found, "painted") for tokens, found in last.items()}
    return [
        row(
            f"{tokens:,}",
            took[tokens],
            f"{took[tokens] / took[min(sizes)]:.2f}",
            *(middle(found, what) for what in ("own", "processor")),
        )
        for tokens, found in last.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=12, help="moves of each kind")
    parser.add_argument("--tokens", type=int, nargs="*", default=[128, 256, 512])
    parser.add_argument("--slider", type=int, nargs="*", default=[16, 512])
    parser.add_argument("--port", type=int, default=8640, help="of the server")
    options = parser.parse_args()
    with serving("app.py", options.port) as board, sync_playwright() as playwright:
        answering(board)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        print(versions(browser))
        if options.slider:
            print(row(*SLID), "|" + "---:|" * len(SLID), sep="\n")
            print(*slid(browser, board, options.slider, options.runs), "", sep="\n", flush=True)
        print(row(*HEADS), "|" + "---:|" * len(HEADS), sep="\n")
        for tokens in options.tokens:
            print(measured(browser, board, tokens, options.runs), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
