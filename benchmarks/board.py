"""How long a move takes on Explore: ``python benchmarks/board.py``.

A server and one Chromium are started. A move is timed in the page: from the key press or click
until what it changes is painted, and one more frame. Prints Markdown tables and saves nothing:
where the time of a move goes, numbers that are dragged, the pointer along the lit row, and with
--shifts layout shifts.

With ``--beside CHECKOUT`` another checkout takes turns with this one, move by move. Only such
ratios tell: the same machine takes up to twice as long in some hours.
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
from urllib.parse import urlencode
from urllib.request import urlopen

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from attention.session.state.links import write  # noqa: E402
from benchmarks.chromium import CHROMIUM  # noqa: E402
from benchmarks.states import rolled  # noqa: E402

WARM_UP = 3
WINDOW = {"width": 1440, "height": 900}

# clock() runs from the next key or click, or from the navigation, until ready() holds, and one
# frame. count() begins to count frames and answers that were painted. All layout shifts are added,
# and by themselves those that Chromium's CLS counts: half a second or more after a key or click.
CLOCK = """
window.clock = ready => {
  let began = 0
  window.took = null
  const start = () => {
    window.began = began = performance.now()
    window.messages.length = 0
    for (const found of Object.values(window.script)) found.length = 0
  }
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
// ms of script, by what the board calls it: for each answer that is painted, for each move of the
// pointer; and when what was sent and received, from the key press or click
window.script = { 'attention: repaint': [], 'attention: pointed': [] }
new PerformanceObserver(list => {
  for (const { name, duration } of list.getEntries()) window.script[name]?.push(duration)
}).observe({ type: 'measure' })
window.messages = []
const Plain = WebSocket
window.WebSocket = class extends Plain {
  constructor (...asked) {
    super(...asked)
    this.addEventListener('message', () => messages.push(['received', performance.now()]))
  }
  send (message) {
    messages.push(['sent', performance.now()])
    super.send(message)
  }
}
window.middle = (stage, i, j) => {
  const canvas = document.querySelector(`.board-pane[data-stage=${stage}] .board-canvas`)
  if (canvas.closest('.board-pane').hidden) document.querySelector('.board-fold').click()
  canvas.closest('.board-pane').scrollIntoView({ block: 'center', behavior: 'instant' })
  const { left, top } = canvas.getBoundingClientRect(), { x, y } = canvas.painted.axes
  return [left + x(j), top + y(i)]
}
"""
EXPLORE = "() => document.querySelector('.board')?.dataset.tag"
CHANGED = "() => ![undefined, '{tag}'].includes(document.querySelector('.board').dataset.tag)"
# When the first message left, the first answer came and the last, and the script of the board.
TIMES = """() => {
  const at = kind => messages.filter(([name]) => name === kind).map(([, when]) => when - began)
  const repaints = script['attention: repaint']
  return {
    sent: at('sent')[0] ?? 0, first: at('received')[0] ?? 0, last: at('received').at(-1) ?? 0,
    board: repaints.reduce((all, each) => all + each, 0)
  }
}"""
ARITHMETIC = "() => document.querySelector('.board-card')?.dataset.cell === '{cell}'"
RESTS = "() => document.querySelector('.stApp').dataset.testScriptState === 'notRunning'"
TAG = "document.querySelector('.board').dataset.tag"
SCRUBS = 6  # drags
FRAMES = "frames", "answers", "script"
SCRUB = 120  # mouse moves, one for each frame of two seconds
STEP = 4  # px of each, as a hand drags: a new number each frame


Moves = dict[str, list[dict[str, float]]]  # what was measured of each, by the names of moves


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
    work = worked(page)
    act()
    page.wait_for_function("took !== null")
    time.sleep(0.5)  # so that what comes after is neither lost nor in the next move's way
    server = json.loads(asked(f"{address}/clock/runs"))
    found = {"painted": page.evaluate("took"), "shift": page.evaluate("shifted") - before}
    found |= {name: 1000 * (after - work[name]) for name, after in worked(page).items()}
    run, own = (sum(times) for times in zip(*server["runs"], strict=True))
    found |= {"run": run, "own": own, "count": len(server["runs"])}
    found |= page.evaluate(TIMES)
    return found | server


_CLIENTS: dict[Page, CDPSession] = {}


def worked(page: Page) -> dict[str, float]:
    """Seconds that the page's main thread has worked so far, by what it did."""
    if page not in _CLIENTS:  # each counts from when it begins
        _CLIENTS[page] = page.context.new_cdp_session(page)
        _CLIENTS[page].send("Performance.enable")
    found = _CLIENTS[page].send("Performance.getMetrics")["metrics"]
    names = "TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"
    return {one["name"]: one["value"] for one in found if one["name"] in names}


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


Prepared = tuple[Callable[[], None], str]  # what to do, and when it is there


def pressed_on(slider: str) -> Callable[[Page, int], Prepared]:
    """A key press on a slider: one up, the next down."""

    def prepare(page: Page, turn: int) -> Prepared:
        focused(page, f"set_{slider}")
        key = "ArrowLeft" if turn % 2 else "ArrowRight"
        return lambda: page.keyboard.press(key), CHANGED.format(tag=page.evaluate(TAG))

    return prepare


def clicked_on(column: int) -> Callable[[Page, int], Prepared]:
    """A click on a cell of the scores, in another row than in the turn before."""

    def prepare(page: Page, turn: int) -> Prepared:
        page.bring_to_front()
        i = 1 + turn % 3
        x, y = page.evaluate(f"middle('scores', {i}, {column})")
        return lambda: page.mouse.click(x, y), ARITHMETIC.format(cell=f"scores,{i},{column}")

    return prepare


# A mouse points before it clicks: in the lit row that asks for the card before the clock runs.
MOVES = {
    "slider of d_k": pressed_on("d_k"),
    "slider of digits": pressed_on("digits"),
    "click in another row": clicked_on(0),
    "lit row, pointed at, then clicked": clicked_on(2),  # the row of the click before
}


def explore(browser, addresses: dict[str, str], tokens: int, runs: int) -> dict[str, Moves]:
    """Moves on Explore of each checkout, in turns."""
    pages = {name: new_page(browser) for name in addresses}
    link = urlencode(write(rolled(tokens)))
    found: dict[str, Moves] = {}
    for name, page in pages.items():
        opened(page, f"{addresses[name]}/?{link}", EXPLORE)
        page.wait_for_timeout(2000)
        found[name] = {words: [] for words in MOVES} | {"dragged": [], "pointed": []}
    for turn in range(WARM_UP + runs):
        for words, prepare in MOVES.items():
            for name, page in pages.items():
                act, ready = prepare(page, turn)
                found[name][words].append(moved(page, addresses[name], act, ready))
    for turn in range(SCRUBS):
        for name, page in pages.items():
            found[name]["dragged"].append(scrubbed(page, "W_Q", turn))
    for name, page in pages.items():
        found[name]["pointed"] = [{"script": ms} for ms in pointed(page, tokens)]
        page.context.close()
    return {
        name: {words: m[WARM_UP:] if words in MOVES else m for words, m in moves.items()}
        for name, moves in found.items()
    }


def pointed(page: Page, tokens: int) -> list[float]:
    """Milliseconds of script for each move of the pointer along the lit row of the scores."""
    page.bring_to_front()
    cell = page.evaluate("document.querySelector('.board-card').dataset.cell")
    i = int(cell.split(",")[1])
    for turn in range(2):  # the first time the cards are asked for
        page.evaluate("script['attention: pointed'].length = 0")
        for j in range(min(tokens, 16)):
            page.mouse.move(*page.evaluate(f"middle('scores', {i}, {j})"))
            page.wait_for_timeout(100 if turn else 300)
    return page.evaluate("script['attention: pointed']")


def scrubbed(page: Page, stage: str, turn: int) -> dict[str, float]:
    """Frames and painted answers a second while the first number of a stage is dragged."""
    page.bring_to_front()
    x, y = page.evaluate(f"middle('{stage}', 0, 0)")
    page.mouse.click(x, y)
    page.wait_for_timeout(1000)
    x, y = page.evaluate(f"middle('{stage}', 0, 0)")
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("count(), script['attention: repaint'].length = 0")
    began = time.perf_counter()
    for k in range(SCRUB):
        page.mouse.move(x + STEP * (k if turn % 2 else -k), y)
        time.sleep(max(0.0, began + (k + 1) / 60 - time.perf_counter()))
    counted, seconds = page.evaluate("counted"), time.perf_counter() - began
    took = median(page.evaluate("script['attention: repaint']"))
    page.mouse.up()
    page.wait_for_timeout(1000)
    return {name: count / seconds for name, count in counted.items()} | {"script": took}


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


PARTS = (
    ("key press or click → the first message is sent", "sent"),
    ("→ the first answer of the server comes", "first"),
    ("→ the last one comes", "last"),
    ("→ what changed is painted", "painted"),
    ("script of the board, all repaints of the move", "board"),
    ("main thread of the page, all of the move", "TaskDuration"),
    ("of it script, Streamlit’s and ours", "ScriptDuration"),
    ("of it style", "RecalcStyleDuration"),
    ("of it layout", "LayoutDuration"),
    ("server: the script's processor time", "own"),
    ("server: the script by the clock, beside a busy browser", "run"),
    ("server: processor time of all threads, sending included", "processor"),
)


def where(moves: Moves, tokens: int) -> list[str]:
    """The table of where the time of each move goes."""
    runs = len(moves["slider of d_k"])
    lines = [f"\n**Where the time goes, {tokens} tokens** (medians of {runs} moves each, in ms)\n"]
    lines += [row("", *MOVES), "|---|" + "---:|" * len(MOVES)]
    lines += [row(words, *(middle(moves[m], what) for m in MOVES)) for words, what in PARTS]
    counts = (f"{middle(moves[m], 'count'):.0f}" for m in MOVES)
    shifts = (f"{max(move['shift'] for move in moves[m]):.3f}" for m in MOVES)
    lines += [row("script runs for one move", *counts)]
    lines += [row("layout shift, the most of a move", *shifts)]
    frames, answers, took = (middle(moves["dragged"], what) for what in FRAMES)
    return [
        *lines,
        f"\nA number that is dragged is painted in {frames:.0f} frames a second, with"
        f" {answers:.0f} answers a second; to repaint for one takes {took:.1f} ms of script. A move"
        f" of the pointer along the lit row takes {middle(moves['pointed'], 'script'):.1f} ms.",
    ]


def side_by_side(found: dict[str, Moves], tokens: int) -> list[str]:
    """The table of two checkouts: medians, and the median of the ratios turn by turn."""
    before, now = found["before"], found["now"]
    runs = len(now["slider of d_k"])
    lines = [f"\n**Before and now, {tokens} tokens** (medians of {runs}, in turns)\n"]
    lines += [row("", "before", "now", "ratio"), "|---|---:|---:|---:|"]
    rows = [(f"{words} → painted, ms", words, "painted") for words in MOVES]
    rows += [(f"{words}: processor time of the server, ms", words, "processor") for words in MOVES]
    rows += [("answers a second, a number dragged", "dragged", "answers")]
    rows += [("frames a second, a number dragged", "dragged", "frames")]
    rows += [("script of one repaint, dragged, ms", "dragged", "script")]
    for label, words, what in rows:
        turns = [(a[what], b[what]) for a, b in zip(before[words], now[words], strict=True)]
        lines.append(compared(label, turns))
    return lines


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=30, help="moves of each kind")
    parser.add_argument("--tokens", type=int, nargs="+", default=[16])
    parser.add_argument("--opens", type=int, default=5, help="how often the page is opened")
    parser.add_argument("--port", type=int, default=8620, help="this port and the next are used")
    parser.add_argument("--shifts", action="store_true", help="measure the layout shifts, too")
    parser.add_argument(
        "--profile", action="store_true", help="profile the server too; its times mislead then"
    )
    parser.add_argument("--beside", type=Path, help="another checkout, which takes turns with this")
    options = parser.parse_args()
    if options.beside:
        with both(options.beside, options.port) as (browser, there, here):
            print(versions(browser))
            for tokens in options.tokens:
                found = explore(browser, {"before": there, "now": here}, tokens, options.runs)
                lines = side_by_side(found, tokens) + where(found["now"], tokens)
                print("\n".join(lines), flush=True)
        return
    more = ["--profile"] if options.profile else []
    with serving("app.py", options.port, *more) as app, sync_playwright() as playwright:
        answering(app)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        print(versions(browser))
        for tokens in options.tokens:
            found = explore(browser, {"now": app}, tokens, options.runs)
            print("\n".join(where(found["now"], tokens)), flush=True)
            link = urlencode(write(rolled(tokens)))
            cold, warm = first_paint(browser, f"{app}/?{link}", EXPLORE, options.opens)
            print(f"\nOpening Explore: {cold:.0f} ms, with a full cache {warm:.0f} ms.")
        if options.shifts:
            print("\n".join(shifts(browser, app)), flush=True)
        if options.profile:
            print(asked(f"{app}/clock/profile").decode())
        browser.close()


if __name__ == "__main__":
    main()
