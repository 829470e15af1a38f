"""A running dashboard and a real Chromium; without one, these tests are skipped and say so."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser.dashboard import Dashboard

from attention.session.state import links
from benchmarks.chromium import CHROMIUM

ROOT = Path(__file__).parents[2]
DASHBOARD = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
DASHBOARD += ["--server.address=127.0.0.1"]
FIRST_HALF = (  # of the processor time that the tests in a browser take, by file
    "test_explore_browser",
    "test_board_browser",
    "test_comparing_browser",
    "test_front_door_browser",
    "test_text_browser",
    "test_data_browser",
)


def pytest_collection_modifyitems(items):
    """Each of two workers begins with about half of the tests in a browser, which take longest.

    Of what is in order the first gets the first half, the other the second. So both come to the
    short tests last, and the one that is done sooner takes over some from the other to the end.
    """
    in_browser = [item for item in items if "browser" in item.path.parts]
    others = [item for item in items if "browser" not in item.path.parts]
    first = [item for item in in_browser if item.path.stem in FIRST_HALF]
    second = [item for item in in_browser if item.path.stem not in FIRST_HALF]
    middle = max(0, len(items) // 2 - len(first))
    items[:] = [*first, *others[:middle], *second, *others[middle:]]
    for item in in_browser:
        # with its process, as closing a page that answers no more has no end either
        item.add_marker(pytest.mark.timeout(300, method="thread"))
    if CHROMIUM is None:
        reason = "no Chromium or Chrome is installed; Debian: apt-get install chromium"
        for item in in_browser:
            item.add_marker(pytest.mark.skip(reason=reason))


class Server:
    """A dashboard at a port of its own, to kill and start again under an open page."""

    def __init__(self, command: list[str], where: Path):
        """Start it by a command that ends with the port."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.command, self.where = [*command, str(port)], where
        self.address = f"http://127.0.0.1:{port}/"
        self.start()

    def start(self) -> None:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(self.command, cwd=self.where, **quiet)
        try:
            until_healthy(self.address, self.process)
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def _serving(command: list[str], where: Path):
    """The address of a dashboard that runs until the end; its command ends with the port."""
    server = Server(command, where)
    try:
        yield server.address
    finally:
        server.kill()


def until_healthy(url: str, server: subprocess.Popen) -> None:
    """Wait until a dashboard that was started answers."""
    last = time.monotonic() + 120
    while time.monotonic() < last:
        try:
            urllib.request.urlopen(url + "_stcore/health", timeout=5).close()
            return
        except OSError:
            assert server.poll() is None, "the dashboard did not start"
            time.sleep(0.1)
    raise AssertionError("the dashboard did not start in time")


@pytest.fixture(scope="session")
def serving():
    """``with serving(command, folder) as address`` runs a dashboard of one's own."""
    return _serving


@pytest.fixture(scope="session")
def address(serving):
    with serving([*DASHBOARD, "--server.port"], ROOT) as url:
        yield url


@pytest.fixture(scope="session")
def server():
    """Another dashboard, which a test may kill; a lost connection ends its session."""
    running = Server([*DASHBOARD, "--server.disconnectedSessionTTL=0", "--server.port"], ROOT)
    yield running
    running.kill()


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # one process for all pages of a profile: a tenth less processor time, see Profile
        flags = ["--no-sandbox", "--process-per-site"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


CLIPBOARD = ("clipboard-read", "clipboard-write")
VISITS = 40  # of one profile: its process grows with each page, to a gigabyte by then


class Profile:
    """The browser of one person. What one test leaves in it is cleared before the next.

    All its pages run in one process, which a page without a script keeps alive: so Streamlit is
    compiled once and not for each test. A page that is done with is left empty, as closing it would
    end what all of them have in memory, a hundred files, too.
    """

    def __init__(self, browser, address, **device):
        self.context = browser.new_context(accept_downloads=True, **device)
        self.kept = self.context.new_page()
        self.kept.goto(address + "_stcore/health")
        self.storage = self.context.new_cdp_session(self.kept)
        self.visits = 0

    def open(self, width: int, height: int, scheme: str, permissions: tuple[str, ...], motion: str):
        """A new page."""
        self.visits += 1
        if permissions:
            self.context.grant_permissions(permissions)
        page = self.context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        return page

    def clear(self, address: str) -> None:
        """Leave all pages and forget what this address has kept."""
        for page in self.context.pages:
            if page is not self.kept and page.url != "about:blank":
                page.goto("about:blank")
        self.context.clear_permissions()
        self.context.set_offline(False)
        kinds = "cookies,local_storage,indexeddb,cache_storage,service_workers"
        what = {"origin": address.rstrip("/"), "storageTypes": kinds}
        self.storage.send("Storage.clearDataForOrigin", what)


@pytest.fixture(scope="session")
def profiles() -> list[Profile]:
    """Those of the first, the second ... visitor of a test."""
    return []


@pytest.fixture
def visit(browser, address, profiles):
    """Open pages as fresh visitors; at the end no page may have raised an error."""
    opened = []

    def visitor(
        width=1440,
        height=900,
        scheme="light",
        at=address,
        permissions=(),
        motion="reduce",  # what moves is drawn anew sixty times a second
        fresh=False,  # a browser that has nothing in memory: what it has may not be asked for again
    ) -> Dashboard:
        if len(opened) == len(profiles):
            profiles.append(Profile(browser, address))
        if profiles[len(opened)].visits >= (1 if fresh else VISITS):
            profiles[len(opened)].context.close()
            profiles[len(opened)] = Profile(browser, address)
        page = profiles[len(opened)].open(width, height, scheme, permissions, motion)
        opened.append(Dashboard(page, at))
        return opened[-1]

    yield visitor
    for profile, dashboard in zip(profiles, opened, strict=False):
        profile.clear(dashboard.address)
    assert [dashboard.errors for dashboard in opened if dashboard.errors] == []


SOCKETS = """const Plain = WebSocket
window.WebSocket = class extends Plain {
  constructor (...asked) { super(...asked); window.socket = this } }"""


@pytest.fixture
def pages(server, visit):
    """Fresh visitors of the server that can be killed; their connection is in window.socket."""

    def visitor() -> Dashboard:
        dashboard = visit(at=server.address)
        dashboard.page.add_init_script(SOCKETS)
        return dashboard

    return visitor


class Onlooker:
    """One page for each size of the window, which is turned to the link that a test is about."""

    def __init__(self, browser, address):
        self.profile, self.address = Profile(browser, address), address
        self.pages: dict[tuple[int, int], Dashboard] = {}

    def look(self, width: int = 1440, height: int = 900, **link) -> Dashboard:
        """The page of that size, turned to this link; the test puts back what no link holds.

        The board has to show something else then: another title of a figure alone has no end.
        """
        link, size = {"example": "four-words"} | link, (width, height)
        dashboard = self.pages.pop(size, None)  # given back only where it could be turned
        # a browser keeps 50 steps of Back, and then counts no more of them
        if dashboard is None or dashboard.page.evaluate("history.length") > 30:
            page = self.profile.open(width, height, "light", CLIPBOARD, "reduce")
            dashboard = Dashboard(page, self.address).open(**link)
        elif links.read(link)[0] != dashboard.idle().settings():
            dashboard.after(lambda: dashboard.turn_to(**link))
        dashboard.close()
        dashboard.page.mouse.move(5, 5)
        dashboard.page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop = 0")
        self.pages[size] = dashboard
        return dashboard


@pytest.fixture(scope="session")
def touched(browser, address) -> Profile:
    """The browser of a phone."""
    return Profile(browser, address, has_touch=True, is_mobile=True)


@pytest.fixture
def phone(touched, address):
    """A page that is touched."""
    dashboard = Dashboard(touched.open(390, 844, "light", (), "no-preference"), address)
    yield dashboard
    touched.clear(address)
    assert dashboard.errors == []


@pytest.fixture(scope="session")
def onlooker(browser, address) -> Onlooker:
    return Onlooker(browser, address)


@pytest.fixture
def look(onlooker):
    """See what a link shows, on a page that others have turned before; it raises no error."""
    yield onlooker.look
    assert [found.errors for found in onlooker.pages.values() if found.errors] == []
