"""How long a slider move takes on the board and as nine charts: ``python benchmarks/board.py``.

Two servers and one Chromium are started; the three ways to draw take turns, move by move. A move is
timed in the page: from the key press until all nine graphs hold the new values and their cells are
painted, and one more frame. Prints a Markdown table and saves nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from urllib.parse import urlencode
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from attention.session.links import write  # noqa: E402
from benchmarks.states import D, rolled  # noqa: E402

WARM_UP = 3
WINDOW = {"width": 1440, "height": 900}

# clock() runs from the next key press, or from the navigation, until ready() holds, and one frame.
CLOCK = """
window.clock = ready => {
  let began = 0
  window.took = null
  addEventListener('keydown', () => { began = performance.now() }, { capture: true, once: true })
  const look = () => {
    if (ready()) requestAnimationFrame(() => { window.took = performance.now() - began })
    else requestAnimationFrame(look)
  }
  look()
}
window.graphs = () => [...document.querySelectorAll('.js-plotly-plot')]
window.painted = gd => gd._fullLayout && gd.querySelector('.hm image')
window.nine = seed => graphs().length === 9 &&
  graphs().every(gd => painted(gd) && gd._fullLayout.meta === seed)
"""
READY = {
    "board": "() => document.querySelector('.board')?.dataset.tag === '{seed}'",
    "charts": "() => nine({seed})",
    "nothing": "() => document.querySelector('#seed')?.textContent === '{seed}'",
}
EXPLORE = "() => document.querySelector('.board')?.dataset.tag"
EXPLORE_D_K = """() => document.querySelector('[data-stage=Q] .board-canvas')
    .painted.z[0].length === {d_k}"""

# How the board fitted each figure into its place when it still drew numbers and labels by Plotly:
# its size, its tick labels, and whether numbers are printed. For 4, 8, 16, 32 and 64 tokens.
FITS = json.loads((ROOT / "benchmarks" / "fits.json").read_text())


@contextmanager
def serving(script: str, port: int, *options: str):
    """The page's address, while its server runs."""
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "benchmarks/server.py",
        "--server.headless=true",
    ]
    command += [
        "--server.address=localhost",
        f"--server.port={port}",
        "--",
        str(ROOT / script),
        *options,
    ]
    server = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL
    )
    try:
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait()


def asked(address: str) -> bytes:
    with urlopen(address) as answer:
        return answer.read()


def answering(address: str) -> None:
    for _ in range(100):
        try:
            return asked(f"{address}/_stcore/health")
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"No server answers at {address}.")


def moved(page: Page, address: str, key: str, ready: str | None) -> dict:
    """Press a key, wait for what it changes, and ask both sides how long it took."""
    asked(f"{address}/clock/runs")
    if ready:
        page.evaluate(f"clock({ready})")
    page.keyboard.press(key)
    if ready:
        page.wait_for_function("took !== null")
    time.sleep(0.5)  # so that what comes after is neither lost nor in the next move's way
    server = json.loads(asked(f"{address}/clock/runs"))
    painted = page.evaluate("took") if ready else 0.0
    run, own = (sum(times) for times in zip(*server["runs"], strict=True))
    return {"painted": painted, "run": run, "own": own, "count": len(server["runs"])} | server


def opened(page: Page, address: str, ready: str) -> float:
    """Milliseconds from the navigation to the first drawing."""
    page.goto(address, wait_until="commit")
    page.evaluate(f"clock({ready})")
    page.wait_for_function("took !== null")
    return page.evaluate("took")


def focused(page: Page, widget: str) -> None:
    page.bring_to_front()
    page.locator(f".st-key-{widget}").get_by_role("slider").focus()


def new_page(browser) -> Page:
    page = browser.new_context(viewport=WINDOW).new_page()
    page.add_init_script(CLOCK)
    return page


def compare(browser, address: str, tokens: int, runs: int, opens: int) -> tuple[dict, dict]:
    """The moves and the first paints of the three ways to draw, taking turns."""
    found, pages, links = {}, {}, {}
    fits = json.dumps(FITS[str(tokens)], separators=(",", ":"))
    for draw in READY:
        pages[draw] = new_page(browser)
        links[draw] = f"{address}/?{urlencode({'draw': draw, 'tokens': tokens, 'fits': fits})}"
        opened(pages[draw], links[draw], READY[draw].format(seed=0))
        found[draw] = []
    for seed in range(1, WARM_UP + runs + 1):
        for draw, page in pages.items():
            focused(page, "seed")
            found[draw].append(moved(page, address, "ArrowRight", READY[draw].format(seed=seed)))
    for page in pages.values():
        page.context.close()
    paints = {
        draw: first_paint(browser, link, READY[draw].format(seed=0), opens)
        for draw, link in links.items()
    }
    return {draw: moves[WARM_UP:] for draw, moves in found.items()}, paints


def explore(browser, address: str, tokens: int, runs: int) -> dict[str, list[dict]]:
    """The real page: the slider of d_k changes a matrix, that of the digits all texts."""
    page = new_page(browser)
    opened(page, f"{address}/?{urlencode(write(rolled(tokens)))}", EXPLORE)
    found = {"d_k": [], "digits": []}
    for turn in range(WARM_UP + runs):
        key, d_k = ("ArrowRight", D + 1) if turn % 2 == 0 else ("ArrowLeft", D)
        focused(page, "set_d_k")
        found["d_k"].append(moved(page, address, key, EXPLORE_D_K.format(d_k=d_k)))
        focused(page, "set_digits")
        found["digits"].append(moved(page, address, key, None))
    page.context.close()
    return {name: moves[WARM_UP:] for name, moves in found.items()}


def first_paint(browser, link: str, ready: str, times: int) -> tuple[float, float]:
    """Opening the page with an empty cache, and again with a full one."""
    cold, warm = [], []
    for _ in range(times):
        page = new_page(browser)
        cold.append(opened(page, link, ready))
        warm.append(opened(page, link, ready))
        page.context.close()
    return median(cold), median(warm)


def middle(moves: list[dict], what: str) -> float:
    return median(move[what] for move in moves)


def row(words: str, *cells) -> str:
    return (
        "| " + " | ".join([words, *(c if isinstance(c, str) else f"{c:.1f}" for c in cells)]) + " |"
    )


SERVER = (
    ("server: the script's processor time", "own"),
    ("server: the script by the clock, beside a busy browser", "run"),
    ("server: processor time of all threads, sending included", "processor"),
)


def comparison(
    found: dict[str, list[dict]], paints: dict[str, tuple[float, float]], tokens: int
) -> list[str]:
    board, charts, nothing = found["board"], found["charts"], found["nothing"]
    floor = middle(nothing, "painted")
    lines = [f"\n**The nine panes, {tokens} tokens** (medians of {len(board)} moves each, in ms)\n"]
    lines += [
        row("", "the board", "nine `st.plotly_chart`", "ratio", "nothing drawn"),
        "|---|---:|---:|---:|---:|",
    ]
    for words, what in (
        ("key press → all nine repainted", "painted"),
        *SERVER,
    ):
        a, b = middle(board, what), middle(charts, what)
        lines.append(row(words, a, b, f"{b / a:.1f}", middle(nothing, what)))
    a, b = middle(board, "painted") - floor, middle(charts, "painted") - floor
    lines.append(
        row("repainting alone (first line less “nothing drawn”)", a, b, f"{b / a:.1f}", "–")
    )
    for words, k in (("opening the page, empty cache", 0), ("opening the page, full cache", 1)):
        a, b = paints["board"][k], paints["charts"][k]
        lines.append(row(words, a, b, f"{b / a:.1f}", paints["nothing"][k]))
    return lines


def real_page(found: dict[str, list[dict]], paint: tuple[float, float], tokens: int) -> list[str]:
    moves = list(found.values())
    lines = [
        f"\n**Explore itself, {tokens} tokens, all its panes**"
        f" (medians of {len(moves[0])} moves each, in ms)\n"
    ]
    lines += [row("", *(f"slider of {name}" for name in found)), "|---|" + "---:|" * len(moves)]
    lines += [row(words, *(middle(m, what) for m in moves)) for words, what in SERVER]
    lines.append(row("key press → repainted", middle(found["d_k"], "painted"), "–"))
    lines.append(row("script runs for one move", *(f"{middle(m, 'count'):.0f}" for m in moves)))
    return [
        *lines,
        f"\nOpening it takes {paint[0]:.0f} ms with an empty cache"
        f" and {paint[1]:.0f} ms with a full one.",
    ]


def versions(browser) -> str:
    names = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "plotly", "numpy"))
    python, cores = platform.python_version(), os.cpu_count()
    load = f"{cores} cores, load {os.getloadavg()[0]:.1f}"
    chromium = f"Chromium {browser.version} without a window"
    return f"{date.today()}; Python {python}, {names}, {chromium}; {load}."


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--runs", type=int, default=30, help="slider moves for each way to draw")
    options.add_argument(
        "--tokens", type=int, nargs="+", default=[16], choices=sorted(map(int, FITS))
    )
    options.add_argument(
        "--opens", type=int, default=5, help="how often each page is opened for the first paint"
    )
    options.add_argument("--port", type=int, default=8620, help="this port and the next are used")
    options.add_argument(
        "--profile", action="store_true", help="profile Explore too; its times mislead then"
    )
    chosen = options.parse_args()
    more = ["--profile"] if chosen.profile else []
    with (
        serving("benchmarks/page.py", chosen.port) as bench,
        serving("app.py", chosen.port + 1, *more) as app,
        sync_playwright() as playwright,
    ):
        answering(bench)
        answering(app)
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        print(versions(browser))
        for tokens in chosen.tokens:
            moves, paints = compare(browser, bench, tokens, chosen.runs, chosen.opens)
            print("\n".join(comparison(moves, paints, tokens)))
            moves = explore(browser, app, tokens, chosen.runs)
            paint = first_paint(
                browser, f"{app}/?{urlencode(write(rolled(tokens)))}", EXPLORE, chosen.opens
            )
            print("\n".join(real_page(moves, paint, tokens)), flush=True)
        if chosen.profile:
            print(asked(f"{app}/clock/profile").decode())
        browser.close()


if __name__ == "__main__":
    main()
