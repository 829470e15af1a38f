"""Two processes behind nginx, and one of them is killed: ``python benchmarks/two_processes.py``.

nginx runs with docs/nginx.conf as it is, but for its ports. Visitors without a browser and a few
pages of Chromium, half of them with a state too large for their address, make moves; one process is
killed; all go on at the other, each with their own numbers, and a file is brought there. Then all
pages are walked under its Content-Security-Policy. Whatever is not so ends it with a sentence.
Needs nginx (Debian: ``apt-get install nginx-light``) and Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from playwright.async_api import ConsoleMessage, Page, async_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from attention.pages.frame.navigation import PAGES  # noqa: E402
from attention.session.state.links import write  # noqa: E402
from benchmarks.board import answering, row  # noqa: E402
from benchmarks.chromium import CHROMIUM  # noqa: E402
from benchmarks.load import CHECKS, Person, crowd  # noqa: E402
from benchmarks.states import rolled  # noqa: E402
from benchmarks.wire import Gone, Visitor  # noqa: E402

FLAGS = ["--no-sandbox", "--disable-gpu"]
LARGE = 96  # tokens of a state that no address holds
WRAPPED = """daemon off;
pid {where}/pid;
error_log {where}/errors warn;
events {{}}
http {{
    include /etc/nginx/mime.types;
    log_format seats '$cookie_seat $upstream_addr';
    access_log {where}/seats seats;
{temporary}
{site}
}}
"""
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
CONNECTED = """() => { const { testScriptState, testConnectionState } =
  document.querySelector('[data-testid=stApp]').dataset
  return testScriptState === 'notRunning' && testConnectionState === 'CONNECTED' }"""
SUMS = """() => [...document.querySelectorAll('.board-pane')].map(pane => {
  const z = pane.querySelector('.board-canvas')?.painted
  return [pane.dataset.stage, JSON.stringify(z?.texts ?? [...(z?.codes ?? [])])] })"""
SAID = "nodes => nodes.map(node => node.innerText)"


@contextmanager
def dashboard(port: int) -> Iterator[subprocess.Popen]:
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    command += [f"--server.port={port}", "--server.address=127.0.0.1"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, stdout=quiet, stderr=quiet)
    try:
        answering(f"http://127.0.0.1:{port}")
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def proxy(program: str, port: int, ports: tuple[int, int]) -> Iterator[Path]:
    """nginx with the configuration of the docs; the folder of its logs."""
    site = (ROOT / "docs" / "nginx.conf").read_text()
    for told, taken in (
        ("listen 80", f"listen 127.0.0.1:{port}"),
        ("    listen [::]:80;\n", ""),
        ("8501", f"{ports[0]}"),
        ("8502", f"{ports[1]}"),
    ):
        assert told in site, told
        site = site.replace(told, taken)
    with tempfile.TemporaryDirectory() as folder:
        temporary = "\n".join(f"    {kind}_temp_path {folder}/{kind};" for kind in TEMPORARY)
        config = Path(folder) / "nginx.conf"
        config.write_text(WRAPPED.format(where=folder, temporary=temporary, site=site))
        process = subprocess.Popen([program, "-e", f"{folder}/errors", "-c", str(config)])
        try:
            answering(f"http://127.0.0.1:{port}")
            yield Path(folder)
        finally:
            process.terminate()
            process.wait()


def seats(address: str, logs: Path, port: int, many: int) -> Iterator[str]:
    """Cookies of visitors whose process is that of the port."""
    for k in range(many * 20):
        cookie = f"seat=visitor{k}"
        urlopen(Request(f"{address}/_stcore/health", headers={"Cookie": cookie})).close()
        for _ in range(100):  # the log is written once the answer is sent
            found = re.findall(rf"^visitor{k} \S+:(\d+)$", (logs / "seats").read_text(), re.M)
            if found:
                break
            time.sleep(0.01)
        if found and int(found[0]) == port:
            yield cookie


def demand(holds: bool, sentence: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {sentence}")


# ---- without a browser --------------------------------------------------------------------------


async def on(person: Person) -> tuple[float, bool]:
    """A move, at the other process where one's own is gone; milliseconds, and whether it was."""
    began, before = time.perf_counter(), (person.moves, person.typed)
    try:
        await person.move()
        return (time.perf_counter() - began) * 1000, False
    except Gone:
        person.moves, person.typed = before  # what was on its way is lost, and made again
    await person.visitor.connect()
    again = await person.visitor.rerun()
    person.answers.append((again, person.typed))
    demand(len(again.sentences) <= 1, f"one sentence at most, not {again.sentences}")
    await person.move()
    return (time.perf_counter() - began) * 1000, True


# ---- in a browser -------------------------------------------------------------------------------


async def opened(browser, address: str, cookie: str, link: dict[str, str]) -> Page:
    context = await browser.new_context()
    name, _, value = cookie.partition("=")
    await context.add_cookies([{"name": name, "value": value, "url": address}])
    page = await context.new_page()
    page.set_default_timeout(60_000)
    await page.goto(f"{address}/?{urlencode(link)}")
    await rested(page)
    return page


async def rested(page: Page) -> None:
    await page.wait_for_selector(".board[data-tag]")
    await page.wait_for_function(CONNECTED)


async def tag(page: Page) -> str:
    return await page.evaluate("document.querySelector('.board').dataset.tag")


async def after(page: Page, act: Callable) -> None:
    before = await tag(page)
    await act()
    await page.wait_for_function(
        "before => document.querySelector('.board')?.dataset.tag !== before", arg=before
    )
    await rested(page)


async def randomized(page: Page) -> None:
    await after(page, lambda: page.locator(".st-key-randomize button").first.click())


async def typed(page: Page) -> None:
    """A number in the first cell of X."""

    async def type_it() -> None:
        await page.locator("[data-stage=X] .board-plot").focus()
        await page.keyboard.press("ArrowUp")
        await page.keyboard.type("4.25")
        await page.keyboard.press("Enter")

    await after(page, type_it)


async def below(page: Page, part: str) -> None:
    await page.locator(".st-key-set_below").get_by_text(part, exact=True).click()


async def brought(page: Page, text: str) -> None:
    """A file, by the uploader."""
    if not await page.locator(".st-key-load_file input").count():
        await below(page, "Your data")
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": text.encode()}
    await page.locator(".st-key-load_file input").set_input_files(file)
    await page.wait_for_selector(".st-key-load_file [data-testid=stFileChipName]")
    await page.wait_for_function(CONNECTED)


async def walked(browser, address: str) -> list[str]:
    """What the console says on the way through all pages."""
    context = await browser.new_context()
    page = await context.new_page()
    said: list[str] = []
    where = ""

    def heard(line: ConsoleMessage) -> None:
        # Streamlit asks under each path whether its server stands there, and is told that not
        if line.type == "error" and "/_stcore/h" not in line.location["url"]:
            said.append(f"{where}: {line.text} {line.location['url']}")

    page.on("console", heard)
    page.on("pageerror", lambda error: said.append(f"{where}: {error}"))
    for path, (_, where, _) in PAGES.items():  # noqa: B007
        await page.goto(f"{address}/{path}")
        await page.wait_for_selector(".st-key-title h1")
        await page.wait_for_function(CONNECTED)
        await page.wait_for_timeout(1500)  # for what comes late
        if not path:
            for part in await page.locator(".st-key-set_below button").all_inner_texts():
                if not part:  # its help
                    continue
                await below(page, part)
                await page.wait_for_function(CONNECTED)
                await page.wait_for_timeout(400)
    await context.close()
    return said


# ---- all of it ----------------------------------------------------------------------------------


async def measured(address: str, logs: Path, ports: tuple[int, int], first, people: int) -> None:
    at_first = seats(address, logs, ports[0], people)
    at_second = seats(address, logs, ports[1], people)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        links = {"small": write(rolled(6, 900)), "large": write(rolled(LARGE, 901, 64))}
        links["file"] = write(rolled(5, 902))
        pages = {
            kind: await opened(browser, address, next(at_first), link)
            for kind, link in links.items()
        }
        for page in pages.values():
            await typed(page)
        await brought(pages["file"], "1,2\n3,4\n")
        there = crowd(address, people - len(pages))
        for k, person in enumerate(there):
            person.visitor = Visitor(address, next((at_first, at_second)[k % 2]))
        await asyncio.gather(*(person.come() for person in there))
        for _ in range(4):
            await asyncio.gather(*(person.move() for person in there))
        sums = {kind: await page.evaluate(SUMS) for kind, page in pages.items()}
        marks = {kind: urlsplit(page.url).query for kind, page in pages.items()}
        demand("partial=" in marks["large"], "the large state stands in the address as a mark")

        first.send_signal(signal.SIGKILL)
        first.wait()
        began = time.perf_counter()
        moved = await asyncio.gather(*map(on, there))
        lost = [took for took, was_gone in moved if was_gone]
        demand(len(lost) == (len(there) + 1) // 2, "half of the visitors sat at the killed process")
        for _ in range(3):
            await asyncio.gather(*(person.move() for person in there))
        CHECKS.look(there)
        for kind, page in pages.items():
            await page.wait_for_function(CONNECTED)
            await rested(page)
            now = await page.evaluate(SUMS)
            demand(now == sums[kind], f"the page with a {kind} state shows the numbers it showed")
            demand(urlsplit(page.url).query == marks[kind], f"its address is the same ({kind})")
            said = await page.locator(".said").evaluate_all(SAID)
            said = [text for text in said if "do not fit into a link" not in text]
            demand(len(said) <= 1, f"one sentence at most stands there, not {said}")
            print(f"page with a {kind} state: after {time.perf_counter() - began:.1f} s;", said)
            await randomized(page)
            demand(urlsplit(page.url).query != marks[kind], "the next move counts")
        await brought(pages["file"], "5,6\n7,8\n")
        print(row("", "measured"), "|---|---:|", sep="\n")
        print(row(f"people at the killed process, of {people}", f"{len(lost) + len(pages)}"))
        print(row("their next move, with coming back, median", f"{median(lost):.0f} ms"))
        print(row("the longest", f"{max(lost):.0f} ms"))
        print(row("answers compared, without a browser", f"{CHECKS.checked}"))
        print(row("of others", f"{len(CHECKS.faults)}"))
        demand(not CHECKS.faults, "; ".join(CHECKS.faults[:3]))
        await browser.close()


async def walk(address: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        said = await walked(browser, address)
        await browser.close()
    print(row("console errors on the way through all pages", f"{len(said)}"))
    demand(not said, "\n".join(dict.fromkeys(said)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--port", type=int, default=8660, help="this and the next two are used")
    parser.add_argument("--walk", action="store_true", help="only walk through all pages")
    options = parser.parse_args()
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not program or not CHROMIUM:
        raise SystemExit("nginx and Chromium are needed; Debian: apt-get install nginx-light")
    ports = options.port + 1, options.port + 2
    with ExitStack() as stack:
        first, _ = [stack.enter_context(dashboard(port)) for port in ports]
        logs = stack.enter_context(proxy(program, options.port, ports))
        address = f"http://127.0.0.1:{options.port}"
        if not options.walk:
            asyncio.run(measured(address, logs, ports, first, options.people))
        asyncio.run(walk(address))


if __name__ == "__main__":
    main()
