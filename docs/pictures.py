"""Make the moving picture of README anew: ``.venv/bin/python docs/pictures.py``.

It shows real pages in a real browser, and needs what the tests need (tests/requirements.txt) and
Chromium or Chrome.
"""

from __future__ import annotations

import io
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser.dashboard import Dashboard, until

from benchmarks.chromium import CHROMIUM

DOCS = Path(__file__).parent
ROOT = DOCS.parent
SIZE = {"width": 1280, "height": 720}
COLOURS = 64  # a page has few
POINTER = """() => {
  const pointer = document.createElement('div')
  pointer.style.cssText = 'position:fixed;z-index:2e9;left:0;top:0;pointer-events:none;'
  pointer.innerHTML = '<svg width="22" height="30" viewBox="0 0 22 30"><path d="M1 1v23l6-5 4 9'
    + ' 5-2-4-9h8z" fill="#111" stroke="#fff" stroke-width="1.6"/></svg>'
  document.body.append(pointer)
  addEventListener('mousemove', ({ clientX, clientY }) => {
    pointer.style.transform = `translate(${clientX}px, ${clientY}px)` }, true)
}"""


@contextmanager
def serving() -> Iterator[str]:
    """The dashboard's address, while it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    command += ["--server.address=127.0.0.1", f"--server.port={port}"]
    address = f"http://127.0.0.1:{port}/"
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(address + "_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()


class Film:
    """Frames of a page, each with how long it stays."""

    def __init__(self, page: Page):
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def stay(self, ms: int) -> None:
        """Show the page as it is for so long."""
        taken = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(taken)
        self.times.append(ms)

    def point(self, x: float, y: float) -> None:
        """Move the pointer there, in a few frames."""
        start = getattr(self, "at", (SIZE["width"] / 2, SIZE["height"] / 2))
        for share in (0.5, 0.8, 1.0):
            self.page.mouse.move(*(a + (b - a) * share for a, b in zip(start, (x, y), strict=True)))
            self.page.wait_for_timeout(30)
            self.stay(70)
        self.at = x, y

    def click(self, x: float, y: float) -> None:
        self.point(x, y)
        self.page.mouse.click(x, y)

    def save(self, file: Path) -> None:
        colours = self.frames[-1].quantize(COLOURS, dither=Image.Dither.NONE)
        flat = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in self.frames]
        flat[0].save(
            file, save_all=True, append_images=flat[1:], duration=self.times, loop=0, optimize=True
        )


def middle(page: Page, selector: str) -> tuple[float, float]:
    """Where in the window the middle of an element is."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None, selector
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def tour(dashboard: Dashboard) -> None:
    """Type a sentence, randomize the weights, click a weight, switch the division by √d_k off."""
    page = dashboard.page
    dashboard.open(bare=True)
    page.evaluate(POINTER)
    film = Film(page)
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


def main() -> None:
    with serving() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tour(Dashboard(browser.new_context(viewport=SIZE).new_page(), address))


if __name__ == "__main__":
    main()
