"""Make the pictures of README and docs anew: ``.venv/bin/python docs/pictures.py [NAME ...]``.

Each is a real page in a real browser, at 1440 × 900; ``tour``, ``play`` and ``pointed`` move. It
needs what the tests need (tests/requirements.txt) and Chromium or Chrome.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser.dashboard import Dashboard, until
from browser.monkey import chromium, serving

DOCS = Path(__file__).parent
SIZE = {"width": 1440, "height": 900}
Picture = Callable[[Dashboard], None]
SMALL = {"width": 1280, "height": 720}  # of the moving picture
COLOURS = 160  # of the moving picture: a page has few
POINTER = """() => {
  const pointer = document.createElement('div')
  pointer.style.cssText = 'position:fixed;z-index:2e9;left:0;top:0;pointer-events:none;'
  pointer.innerHTML = '<svg width="22" height="30" viewBox="0 0 22 30"><path d="M1 1v23l6-5 4 9'
    + ' 5-2-4-9h8z" fill="#111" stroke="#fff" stroke-width="1.6"/></svg>'
  document.body.append(pointer)
  addEventListener('mousemove', ({ clientX, clientY }) => {
    pointer.style.transform = `translate(${clientX}px, ${clientY}px)` }, true)
}"""


class Film:
    """Frames of a page, each with how long it stays."""

    def __init__(self, page: Page):
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []
        self.at = SMALL["width"] / 2, SMALL["height"] / 2  # of the pointer

    def stay(self, ms: int) -> None:
        """Show the page as it is for so long."""
        taken = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(taken)
        self.times.append(ms)

    def point(self, x: float, y: float) -> None:
        """Move the pointer there, in a few frames."""
        ways = tuple(zip(self.at, (x, y), strict=True))
        for share in (0.5, 0.8, 1.0):
            self.page.mouse.move(*(a + (b - a) * share for a, b in ways))
            self.page.wait_for_timeout(30)
            self.stay(70)
        self.at = x, y

    def click(self, x: float, y: float) -> None:
        self.point(x, y)
        self.page.mouse.click(x, y)

    def save(self, file: Path) -> None:
        width, height = self.frames[0].size
        ends = Image.new("RGB", (width, 2 * height))  # parts may be faded in one of them
        ends.paste(self.frames[0], (0, 0))
        ends.paste(self.frames[-1], (0, height))
        colours = ends.quantize(COLOURS, dither=Image.Dither.NONE)
        flat = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in self.frames]
        flat[0].save(
            file, save_all=True, append_images=flat[1:], duration=self.times, loop=0, optimize=True
        )


def with_pointer(dashboard: Dashboard) -> Film:
    """Open Explore in a small window, where the pointer is seen, and begin a film of it."""
    dashboard.page.set_viewport_size(SMALL)
    dashboard.open(bare=True)
    dashboard.page.evaluate(POINTER)
    return Film(dashboard.page)


def middle(page: Page, selector: str) -> tuple[float, float]:
    """Where in the window the middle of an element is."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None, selector
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def tour(dashboard: Dashboard) -> None:
    """Type a sentence, randomize the weights, click a weight, switch the division by √d_k off."""
    page, film = dashboard.page, with_pointer(dashboard)
    film.stay(900)
    film.click(*middle(page, ".st-key-sentence_box input"))
    page.keyboard.press("Control+a")
    film.stay(200)
    words = "my dog likes the park"
    for start in range(0, len(words), 3):
        page.keyboard.type(words[start : start + 3])
        film.stay(110)
    dashboard.after(lambda: page.keyboard.press("Enter"))
    page.wait_for_timeout(300)
    film.stay(1500)
    film.point(*middle(page, ".st-key-randomize button"))
    dashboard.after(lambda: page.mouse.click(*film.at))
    page.wait_for_timeout(300)
    film.stay(1500)
    row = words.split().index("likes")
    column = int(np.argmax(dashboard.numbers("weights")[row]))
    film.click(*dashboard.place("weights", row, column))
    until(page.locator(f"[data-cell='weights,{row},{column}']").first)
    film.point(*middle(page, ".board-card .value"))
    page.wait_for_timeout(300)
    film.stay(2000)
    film.point(*middle(page, ".st-key-set_scale_kind input"))
    page.mouse.click(*film.at)
    option = page.get_by_role("option", name="none (× 1)")
    until(option)
    page.wait_for_timeout(300)
    film.stay(500)
    box = option.bounding_box()
    assert box is not None
    film.point(box["x"] + 60, box["y"] + box["height"] / 2)
    dashboard.after(lambda: page.mouse.click(*film.at))
    page.wait_for_timeout(300)
    film.stay(2500)
    film.save(DOCS / "tour.gif")


def play(dashboard: Dashboard) -> None:
    """Play one query at half its speed, so that there is time to take it; shown at the whole."""
    page = dashboard.page
    page.set_viewport_size(SMALL)
    dashboard.open(bare=True)
    speed = page.get_by_role("button", name="Speed: 1×")
    while speed.count() or not page.get_by_role("button", name="Speed: ½×").count():
        page.locator(".board-control.speed").click()
    film = Film(page)
    film.stay(600)
    page.locator(".board-control.main").click()
    page.mouse.move(2, 2)
    while page.locator(".board-control.main").get_attribute("aria-label") != "Play again (Space)":
        began = time.monotonic()
        page.wait_for_timeout(60)
        film.stay(0)
        film.times[-1] = round((time.monotonic() - began) * 1000 / 2)
    film.stay(1500)
    film.save(DOCS / "play.gif")


def pointed(dashboard: Dashboard) -> None:
    """Point along the lit row of the weights, then of the output."""
    page, film = dashboard.page, with_pointer(dashboard)
    film.at = middle(page, ".board-strip")
    page.mouse.move(*film.at)
    film.stay(900)
    row = dashboard.settings().query
    for stage, columns in (("weights", range(6)), ("output", range(4))):
        for column in columns:
            film.point(*dashboard.place(stage, row, column))
            until(page.locator(f".board-card[data-cell='{stage},{row},{column}']"))
            film.stay(700)
    film.stay(1200)
    film.save(DOCS / "pointed.gif")


def of(name: str, path: str = "", ready: str = ".board[data-tag]", **link: str) -> Picture:
    """Make the picture of a page as a link opens it."""

    def take(dashboard: Dashboard) -> None:
        dashboard.open(path, ready, bare=not link, **link)
        shot(dashboard, name)

    return take


def data(dashboard: Dashboard) -> None:
    """Read word vectors that were pasted."""
    dashboard.open(bare=True)
    dashboard.paste("cat 0.2 -1.3 0.7\nsat 1.1 0.4 -0.6\nmat 0.3 -0.9 0.8")
    until(dashboard.page.locator(".st-key-load_use button:enabled").first)
    shot(dashboard, "data")


def shot(dashboard: Dashboard, name: str) -> None:
    dashboard.idle().page.wait_for_timeout(1500)  # what fades in, and charts
    dashboard.page.screenshot(path=DOCS / f"{name}.png")


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    given.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    names = given.parse_args().names or list(PICTURES)
    with serving() as server, chromium() as browser:
        for name in names:
            PICTURES[name](visit(browser, server.address))
            print(name)


def visit(browser: Browser, address: str) -> Dashboard:
    return Dashboard(browser.new_context(viewport=SIZE).new_page(), address)


PICTURES: dict[str, Picture] = {
    "tour": tour,
    "play": play,
    "pointed": pointed,
    "explore": of("explore"),
    "learn": of("learn", "learn", example="cat-sat", step="3"),
    "exercises": of("exercises", "exercises"),
    "compare": of("compare", "compare"),
    "check": of("check", "check"),
    "real-model": of("real-model", "model", ".st-key-title h1"),
    "long-context": of("long-context", "long", ".st-key-plotly_long_entropy .nsewdrag"),
    "data": data,
}

if __name__ == "__main__":
    main()
