"""How long a move takes on the board and as nine charts: ``python benchmarks/board.py``.

Three servers and one Chromium are started; the three ways to draw take turns, move by move. A move
is timed in the page: from the key press until all nine graphs hold the new values and their cells
are painted, and one more frame. Prints Markdown tables and saves nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from attention.session.state.links import write  # noqa: E402
from benchmarks.charts import FITS  # noqa: E402
from benchmarks.chromium import CHROMIUM  # noqa: E402
from benchmarks.states import D, rolled  # noqa: E402

WARM_UP = 3
WINDOW = {"width": 1440, "height": 900}

# clock() runs from the next key or click, or from the navigation, until ready() holds, and one
# frame. count() begins to count frames and answers that were painted. All layout shifts are added,
# and by themselves those that Chromium's CLS counts: half a second or more after a key or click.
CLOCK = """
window.clock = ready => {
  let began = 0
  window.took = null
  const start = () => { began = performance.now() }
  for (const kind of ['keydown', 'pointerdown'])
    addEventListener(kind, start, { capture: true, once: true })
  const look = () => {
    if (ready()) requestAnimationFrame(() => { window.took = performance.now() - began })
    else requestAnimationFrame(look)
  }
  look()
}
window.count = () => {
  const counted = window.counted = { frames: 0, answers: 0 }
  const frame = () => {
    counted.frames++
    if (counted === window.counted) requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
  new MutationObserver(() => counted.answers++)
    .observe(document.querySelector('.board'), { attributeFilter: ['data-tag'] })
}
window.shifted = 0
window.late = 0
new PerformanceObserver(list => {
  for (const { value, hadRecentInput } of list.getEntries()) {
    window.shifted += value
    if (!hadRecentInput) window.late += value
  }
}).observe({ type: 'layout-shift', buffered: true })
window.repaints = [] // ms of script for each answer that is painted
new PerformanceObserver(list => {
  for (const { name, duration } of list.getEntries())
    if (name === 'attention: repaint') window.repaints.push(duration)
}).observe({ type: 'measure' })
window.graphs = () => [...document.querySelectorAll('.js-plotly-plot')]
window.painted = gd => gd._fullLayout && gd.querySelector('.hm image')
window.nine = tag => graphs().length === 9 &&
  graphs().every(gd => painted(gd) && (tag === undefined || gd._fullLayout.meta === tag))
window.middle = (stage, i, j) => {
  const canvas = document.querySelector(`.board-pane[data-stage=${stage}] .board-canvas`)
  if (canvas.closest('.board-pane').hidden) document.querySelector('.board-fold').click()
  canvas.closest('.board-pane').scrollIntoView({ block: 'center', behavior: 'instant' })
  const { left, top } = canvas.getBoundingClientRect(), { x, y } = canvas.painted.axes
  return [left + x(j), top + y(i)]
}
"""
READY = {
    "board": "() => document.querySelector('.board')?.dataset.tag === '{tag}'",
    "charts": "() => nine('{tag}')",
    "nothing": "() => document.querySelector('#seed')?.textContent === '{tag}'",
}
EXPLORE = "() => document.querySelector('.board')?.dataset.tag"
EXPLORE_D_K = """() => document.querySelector('[data-stage=Q] .board-canvas')
    .painted.z[0].length === {d_k}"""
CHANGED = "() => ![undefined, '{tag}'].includes(document.querySelector('.board').dataset.tag)"
ARITHMETIC = "() => document.querySelector('.board-card')?.dataset.cell === '{cell}'"
RESTS = "() => document.querySelector('.stApp').dataset.testScriptState === 'notRunning'"
SCRUB = 120  # mouse moves, one for each frame of two seconds
STEP = 4  # px of each, as a hand drags: a new number each frame


@contextmanager
def serving(script: str, port: int, *options: str, root: Path = ROOT):
    """The page's address, while its server runs, out of this checkout or another."""
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
        str(root / script),
        *options,
    ]
    server = subprocess.Popen(
        command, cwd=root, env=os.environ | {"PYTHONPATH": str(root)}, stdout=subprocess.DEVNULL
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


def moved(page: Page, address: str, act: Callable[[], None], ready: str) -> dict:
    """Do something, wait for what it changes, and ask both sides how long it took."""
    asked(f"{address}/clock/runs")
    before = page.evaluate("shifted")
    page.evaluate(f"clock({ready})")
    act()
    page.wait_for_function("took !== null")
    time.sleep(0.5)  # so that what comes after is neither lost nor in the next move's way
    server = json.loads(asked(f"{address}/clock/runs"))
    shift = page.evaluate("shifted") - before
    run, own = (sum(times) for times in zip(*server["runs"], strict=True))
    found = {"painted": page.evaluate("took"), "run": run, "own": own, "shift": shift}
    return found | {"count": len(server["runs"])} | server


def opened(page: Page, address: str, ready: str) -> float:
    """Milliseconds from the navigation to the first drawing."""
    page.goto(address, wait_until="commit")
    page.evaluate(f"clock({ready})")
    page.wait_for_function("took !== null")
    return page.evaluate("took")


def focused(page: Page, widget: str) -> None:
    page.bring_to_front()
    page.locator(f".st-key-{widget}").get_by_role("slider").focus()


def typed(page: Page, draw: str, text: str) -> None:
    """Type into the first cell of X, or into the field that stands for it; Enter comes later."""
    page.bring_to_front()
    if draw == "board":
        page.evaluate("middle('X', 0, 0)")  # which opens the inputs
        page.locator(".board-pane[data-stage=X] .board-plot").focus()
        page.keyboard.press("ArrowUp")
    else:
        page.locator(".st-key-typed input").focus()
        page.keyboard.press("Control+a")
    page.keyboard.type(text)


def new_page(browser) -> Page:
    page = browser.new_context(viewport=WINDOW).new_page()
    page.add_init_script(CLOCK)
    return page


def compare(
    browser, address: str, tokens: int, runs: int, opens: int
) -> tuple[dict[str, dict[str, list[dict]]], dict[str, tuple[float, float]], list[dict]]:
    """Slider moves, numbers entered and first paints of the three ways to draw, taking turns; and
    numbers dragged on the board.
    """
    found: dict[str, dict[str, list[dict]]] = {"slider": {}, "Enter": {}}
    pages, links = {}, {}
    for draw, ready in READY.items():
        pages[draw] = new_page(browser)
        links[draw] = f"{address}/?{urlencode({'draw': draw, 'tokens': tokens})}"
        opened(pages[draw], links[draw], ready.format(tag="0 0"))
        for moves in found.values():
            moves[draw] = []
    number = 0.0
    for seed in range(1, WARM_UP + runs + 1):
        for draw, page in pages.items():
            focused(page, "seed")
            ready = READY[draw].format(tag=f"{seed} {number:g}")
            found["slider"][draw].append(
                moved(page, address, lambda page=page: page.keyboard.press("ArrowRight"), ready)
            )
        number = seed % 8 + 0.5
        for draw, page in pages.items():
            typed(page, draw, f"{number:g}")
            ready = READY[draw].format(tag=f"{seed} {number:g}")
            found["Enter"][draw].append(
                moved(page, address, lambda page=page: page.keyboard.press("Enter"), ready)
            )
    scrubs = [scrubbed(pages["board"], "X", turn) for turn in range(3)]
    for page in pages.values():
        page.context.close()
    paints = {
        draw: first_paint(browser, link, READY[draw].format(tag="0 0"), opens)
        for draw, link in links.items()
    }
    for moves in found.values():
        for draw in moves:
            moves[draw] = moves[draw][WARM_UP:]
    return found, paints, scrubs


def slid(key: str, press: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f".st-key-set_{key} input[type=range]").press(press)


def chosen(key: str, place: int) -> Callable[[Page], None]:
    def choose(page: Page) -> None:
        control = page.locator(f".st-key-set_{key} input")
        control.scroll_into_view_if_needed()
        page.wait_for_timeout(300)  # a list closes where the page scrolls
        control.click()
        page.get_by_role("option").nth(place).click()

    return choose


def pressed(key: str, text: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f".st-key-{key}").get_by_text(text, exact=True).click()


def asked_for(page: Page) -> None:
    page.locator(".board-strip [role=radio]").nth(3).click()


def clicked(stage: str, i: int, j: int, text: str = "") -> Callable[[Page], None]:
    """A click on a cell, and a number typed there."""

    def click(page: Page) -> None:
        page.mouse.click(*page.evaluate(f"middle('{stage}', {i}, {j})"))
        if text:
            page.keyboard.type(text)
            page.keyboard.press("Enter")

    return click


def said(sentence: str) -> Callable[[Page], None]:
    def say(page: Page) -> None:
        page.locator(".st-key-set_sentence input").fill(sentence)
        page.keyboard.press("Enter")

    return say


def example(title: str) -> Callable[[Page], None]:
    def choose(page: Page) -> None:
        page.locator("[data-testid=stSidebar] [data-testid=stPopoverButton]").filter(
            visible=True
        ).click()
        page.locator(".st-key-set_example").get_by_text(title, exact=True).first.click()

    return choose


TABS = (
    "Spread",
    "Initialise",
    "Your data",
    "Export",
    "Code",
)
PARTS = (
    *("softmax", "second sentence", "W_O"),
    *("sum of outputs", "enter Q, K, V directly"),
)
# What a person does on the first example, one after the other; each comes twice where it goes back.
SHIFTS: dict[str, list[Callable[[Page], None]]] = {
    "digits, 2 to 10 and back to 0": [slid("digits", k) for k in ("ArrowRight", "End", "Home")],
    "a cell clicked": [clicked("weights", 1, 2), clicked("X", 0, 0)],
    "a number typed": [clicked("X", 0, 0, "-3.25"), clicked("X", 0, 0, "12")],
    "Randomize": [lambda page: page.locator(".st-key-randomize button").first.click()],
    "query": [asked_for],
    "scale": [chosen("scale_kind", k) for k in (1, 2, 0)],
    "mask": [chosen("mask", k) for k in (1, 2, 0)],
    "heads": [chosen("heads", k) for k in (1, 0)],
    "d_k": [slid("d_k", k) for k in ("ArrowRight", "ArrowLeft")],
    "d_v": [slid("d_v", k) for k in ("ArrowRight", "ArrowLeft")],
    "d_model": [slid("d_model", k) for k in ("ArrowRight", "ArrowLeft")],
    **{f"tab {tab}": [pressed("set_below", tab)] for tab in TABS},
    **{f"part {part}": [pressed("set_parts", part)] * 2 for part in PARTS},
    "a sentence of 4 tokens": [said("the dog barks .")],
    "a sentence of 8 tokens": [said("the small dog barks at the big cat")],
    "an example": [example(title) for title in ("Four words, by hand", "The cat sat on the mat")],
}


def shifts(browser, address: str) -> list[str]:
    """The layout shift of each kind of move on the page as it opens, the most of its moves."""
    page = new_page(browser)
    opened(page, address, EXPLORE)
    page.wait_for_timeout(2000)
    loading = page.evaluate("[shifted, late]")
    size = "{width} × {height}".format(**WINDOW)
    lines = [f"\n**Layout shift, the first example at {size}** (the most of a move)\n"]
    lines += [row("", "all entries", "those of CLS"), "|---|---:|---:|"]
    lines.append(row("opening", *(f"{value:.3f}" for value in loading)))
    for words, moves in SHIFTS.items():
        most = [0.0, 0.0]
        for move in moves:
            before = page.evaluate("[shifted, late]")
            move(page)
            page.wait_for_timeout(300)
            page.wait_for_function(RESTS)
            page.wait_for_timeout(900)  # for what comes late
            added = zip(most, page.evaluate("[shifted, late]"), before, strict=True)
            most = [max(value, after - then) for value, after, then in added]
        lines.append(row(words, *(f"{value:.3f}" for value in most)))
    page.context.close()
    return lines


def explore(browser, address: str, tokens: int, runs: int) -> dict[str, Any]:
    """The real page: the slider of d_k changes a matrix, that of the digits all texts; a click."""
    page = new_page(browser)
    opened(page, f"{address}/?{urlencode(write(rolled(tokens)))}", EXPLORE)
    page.wait_for_timeout(2000)
    loading = page.evaluate("shifted")
    found: dict[str, list[dict]] = {"slider of d_k": [], "slider of digits": [], "click": []}
    for turn in range(WARM_UP + runs):
        key, d_k = ("ArrowRight", D + 1) if turn % 2 == 0 else ("ArrowLeft", D)

        def press(key=key) -> None:
            page.keyboard.press(key)

        focused(page, "set_d_k")
        found["slider of d_k"].append(moved(page, address, press, EXPLORE_D_K.format(d_k=d_k)))
        focused(page, "set_digits")
        tag = page.evaluate("document.querySelector('.board').dataset.tag")
        found["slider of digits"].append(moved(page, address, press, CHANGED.format(tag=tag)))
        j = 1 + turn % 2
        x, y = page.evaluate(f"middle('scores', 1, {j})")
        ready = ARITHMETIC.format(cell=f"scores,1,{j}")
        found["click"].append(moved(page, address, lambda x=x, y=y: page.mouse.click(x, y), ready))
    scrubs = [scrubbed(page, "W_Q", turn) for turn in range(3)]
    page.context.close()
    moves = {name: moves[WARM_UP:] for name, moves in found.items()}
    return {"moves": moves, "scrubs": scrubs, "loading": loading}


def beside(browser, addresses: dict[str, str], tokens: int, runs: int) -> list[str]:
    """Moves on Explore of this checkout and of another, in turns."""
    pages = {name: new_page(browser) for name in addresses}
    link = urlencode(write(rolled(tokens)))
    for name, page in pages.items():
        opened(page, f"{addresses[name]}/?{link}", EXPLORE)
        page.wait_for_timeout(2000)
    found: dict[str, dict[str, list[float]]] = {}
    for turn in range(WARM_UP + runs):
        for slider in ("digits", "d_k"):
            for name, page in pages.items():
                focused(page, f"set_{slider}")
                ready = CHANGED.format(tag=page.evaluate(EXPLORE))
                key = "ArrowLeft" if turn % 2 else "ArrowRight"
                took = moved(
                    page, addresses[name], lambda p=page, k=key: p.keyboard.press(k), ready
                )
                found.setdefault(slider, {}).setdefault(name, []).append(took["painted"])
    for page in pages.values():
        page.context.close()
    lines = [
        f"\n**Explore beside the other checkout, {tokens} tokens** (medians of {runs}, in ms)\n"
    ]
    lines += [row("", *addresses, "ratio"), "|---|---:|---:|---:|"]
    for slider, times in found.items():
        here, there = (median(times[name][WARM_UP:]) for name in addresses)
        lines.append(row(f"slider of {slider} → repainted", here, there, f"{here / there:.2f}"))
    return lines


def scrubbed(page: Page, stage: str, turn: int) -> dict[str, float]:
    """Frames and painted answers a second while the first number of a stage is dragged."""
    page.bring_to_front()
    x, y = page.evaluate(f"middle('{stage}', 0, 0)")
    page.mouse.click(x, y)
    page.wait_for_timeout(1000)
    x, y = page.evaluate(f"middle('{stage}', 0, 0)")
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("count(), repaints = []")
    began = time.perf_counter()
    for k in range(SCRUB):
        page.mouse.move(x + STEP * (k if turn % 2 else -k), y)
        time.sleep(max(0.0, began + (k + 1) / 60 - time.perf_counter()))
    counted, seconds = page.evaluate("counted"), time.perf_counter() - began
    script = median(page.evaluate("repaints"))
    page.mouse.up()
    page.wait_for_timeout(1000)
    return {name: count / seconds for name, count in counted.items()} | {"script": script}


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


def rates(scrubs: list[dict[str, float]]) -> str:
    frames, answers, script = (
        median(scrub[name] for scrub in scrubs) for name in ("frames", "answers", "script")
    )
    return (
        f"A number that is dragged is painted in {frames:.0f} frames a second, with"
        f" {answers:.0f} answers a second; to repaint for one takes {script:.1f} ms of script."
    )


def comparison(
    found: dict[str, dict[str, list[dict]]],
    paints: dict[str, tuple[float, float]],
    scrubs: list[dict[str, float]],
    tokens: int,
) -> list[str]:
    moves = found["slider"]
    turns = len(moves["board"])
    lines = [f"\n**The nine panes, {tokens} tokens** (medians of {turns} moves each, in ms)\n"]
    head = ("the board", "nine `st.plotly_chart`", "ratio", "nothing drawn", "board ÷ nothing")
    lines += [row("", *head), "|---|" + "---:|" * len(head)]
    for words, kind, what in (
        ("key press on a slider → all nine repainted", "slider", "painted"),
        ("Enter in a cell → all nine repainted", "Enter", "painted"),
        *((words, "slider", what) for words, what in SERVER),
    ):
        a, b, c = (middle(found[kind][draw], what) for draw in READY)
        lines.append(row(words, a, b, f"{b / a:.1f}", c, f"{a / c:.1f}"))
    for words, k in (("opening the page, empty cache", 0), ("opening the page, full cache", 1)):
        a, b, c = (paints[draw][k] for draw in READY)
        lines.append(row(words, a, b, f"{b / a:.1f}", c, f"{a / c:.1f}"))
    return [*lines, f"\n{rates(scrubs)}"]


def real_page(
    found: dict[str, Any], paints: dict[str, tuple[float, float]], tokens: int
) -> list[str]:
    moves = found["moves"]
    turns = len(moves["click"])
    lines = [
        f"\n**Explore itself, {tokens} tokens, all its panes**"
        f" (medians of {turns} moves each, in ms)\n"
    ]
    lines += [row("", *moves), "|---|" + "---:|" * len(moves)]
    lines += [row(words, *(middle(m, what) for m in moves.values())) for words, what in SERVER]
    lines.append(row("key press or click → shown", *(middle(m, "painted") for m in moves.values())))
    slider, click = (middle(moves[name], "painted") for name in ("slider of d_k", "click"))
    counts = (f"{middle(m, 'count'):.0f}" for m in moves.values())
    lines.append(row("script runs for one move", *counts))
    shifts = (f"{max(move['shift'] for move in m):.3f}" for m in moves.values())
    lines.append(row("layout shift, the most of a move", *shifts))
    (cold, warm), (cold_charts, warm_charts) = paints["board"], paints["charts"]
    return [
        *lines,
        f"\nA click shows its arithmetic in {click / slider:.2f} × a slider move."
        f" {rates(found['scrubs'])}"
        f" Opening Explore takes {cold:.0f} ms with an empty cache and {warm:.0f} ms with a full"
        f" one; with nine `st.plotly_chart` in place of its board {cold_charts:.0f} and"
        f" {warm_charts:.0f} ms (ratios {cold / cold_charts:.2f} and {warm / warm_charts:.2f})."
        f" Layout shift while it opens: {found['loading']:.3f}.",
    ]


def versions(browser) -> str:
    names = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "plotly", "numpy"))
    python, cores = platform.python_version(), os.cpu_count()
    load = f"{cores} cores, load {os.getloadavg()[0]:.1f}"
    chromium = f"Chromium {browser.version} without a window"
    return f"{date.today()}; Python {python}, {names}, {chromium}; {load}."


@contextmanager
def both(beside: Path, port: int) -> Iterator[tuple[Browser, str, str]]:
    """A browser, and the addresses of the dashboard of another checkout and of this one."""
    with (
        serving("app.py", port) as here,
        serving("app.py", port + 1, root=beside.resolve()) as there,
        sync_playwright() as playwright,
    ):
        answering(here), answering(there)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser, there, here
        browser.close()


def compared(words: str, turns: Sequence[Sequence[float]]) -> str:
    """A row of a table: the medians of before and now, and of their ratios turn by turn."""
    before, now = (median(turn[side] for turn in turns) for side in (0, 1))
    ratio = median(now / before for before, now in turns)
    return row(words, before, now, f"{ratio:.2f}")


def only_beside(options: argparse.Namespace) -> None:
    with both(options.beside, options.port) as (browser, there, here):
        addresses = {"this checkout": here, "the other": there}
        print(versions(browser))
        for tokens in options.tokens:
            print("\n".join(beside(browser, addresses, tokens, options.runs)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=30, help="slider moves for each way to draw")
    parser.add_argument(
        "--tokens", type=int, nargs="+", default=[16], choices=sorted(map(int, FITS))
    )
    parser.add_argument(
        "--opens", type=int, default=5, help="how often each page is opened for the first paint"
    )
    parser.add_argument(
        "--port", type=int, default=8620, help="this port and the next two are used"
    )
    parser.add_argument(
        "--profile", action="store_true", help="profile Explore too; its times mislead then"
    )
    parser.add_argument(
        "--beside", type=Path, help="another checkout, whose Explore takes turns with this one's"
    )
    options = parser.parse_args()
    if options.beside:
        return only_beside(options)
    more = ["--profile"] if options.profile else []
    with (
        serving("benchmarks/page.py", options.port) as bench,
        serving("app.py", options.port + 1, *more) as app,
        serving("benchmarks/charts.py", options.port + 2) as charts,
        sync_playwright() as playwright,
    ):
        for address in (bench, app, charts):
            answering(address)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        print(versions(browser))
        print("\n".join(shifts(browser, app)), flush=True)
        for tokens in options.tokens:
            compared = compare(browser, bench, tokens, options.runs, options.opens)
            print("\n".join(comparison(*compared, tokens)), flush=True)
            real = explore(browser, app, tokens, options.runs)
            link = urlencode(write(rolled(tokens)))
            paints = {
                "board": first_paint(browser, f"{app}/?{link}", EXPLORE, options.opens),
                "charts": first_paint(browser, f"{charts}/?{link}", "() => nine()", options.opens),
            }
            print("\n".join(real_page(real, paints, tokens)), flush=True)
        if options.profile:
            print(asked(f"{app}/clock/profile").decode())
        browser.close()


if __name__ == "__main__":
    main()
