"""The page of one visitor, what a person does on it, and how a test waits for it."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import numpy as np

from attention.explain.colours import colour_limits, hidden_cells
from attention.figures.panes.shades import shades
from attention.pages.frame.navigation import PAGES
from attention.session.state import links
from attention.session.state.run import run, view
from attention.session.state.settings import Settings

TAG = "[...document.querySelectorAll('.board')].map(board => board.dataset.tag).join()"
IDLE = """() => { const { testScriptState, testConnectionState } =
  document.querySelector('[data-testid=stApp]').dataset
  return testScriptState === 'notRunning' && testConnectionState === 'CONNECTED'
    && !document.querySelector('.board[data-ahead]') }"""
PAINTED_TWICE = """() => new Promise(done =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""
IN_COLOURS = """([stage, codes]) => [...(document.querySelector(
    `.board-pane[data-stage=${stage}] .board-canvas`)?.painted?.codes ?? [])].join() === codes"""
CHART = ".st-key-plotly_variances .main-svg"  # on Why, once it is drawn
PAINTED = "document.querySelector(`.board-pane[data-stage=${stage}] .board-canvas`)?.painted"
MOMENTS = 2400  # ms; given 2500 or more, Playwright soon looks only every half second
POLL = 25  # ms between two looks; at every frame, which is the default, looking costs more
TABS = {  # the parts below the board, and what is on each
    "Spread": ".st-key-dock_spread [data-testid=stDataFrame]",
    "Heatmap": ".st-key-dock_heatmap .nsewdrag",
    "Table": ".st-key-dock_table [data-testid=stDataFrame]",
    "Initialise": ".st-key-set_matrix",
    "Your data": "textarea",
    "Export": ".st-key-paper_preview img",
    "Code": "[data-testid=stCode]",
}


def succeeds(act) -> bool:
    """Whether it comes to an end in the time it has; who asks tries again where it does not."""
    from playwright.sync_api import TimeoutError as TooLate

    try:
        act()
    except TooLate:
        return False
    return True


def appears(locator, state: str = "visible") -> bool:
    """Whether it comes within moments; who asks tries again where it does not."""
    return succeeds(lambda: locator.wait_for(state=state, timeout=MOMENTS))


def clipboard(dashboard, text: str) -> None:
    """Paste where the focus is."""
    dashboard.page.evaluate("text => navigator.clipboard.writeText(text)", text)
    dashboard.page.keyboard.press("Control+v")


def until(locator, state: str = "visible", act=lambda: None) -> None:
    """Wait until it is seen, or "detached"; ``act``, which brings it, is done again for each try.

    Given a minute, Playwright would look every half second; given two seconds, it looks often.
    """
    for _ in range(25):
        act()
        if appears(locator, state):
            return
    raise AssertionError(f"{locator} is never {state}; {there(locator.page)}")


def there(page) -> str:
    """Where a page is and what it says, for the message of a test that waits in vain."""
    return f"at {page.url} the page says:\n{page.locator('body').inner_text()}"


def choose_page(page, name: str) -> None:
    """Press the entry of the menu at the top that is called so, also in a section of it."""
    section = next(section for _, called, section in PAGES.values() if called == name)
    kind = "Dropdown" if section else ""
    if section:
        page.get_by_test_id("stTopNavSection").get_by_text(section, exact=True).click()
    page.get_by_test_id(f"stTopNav{kind}Link").get_by_text(name, exact=True).click()


class Dashboard:
    """One visitor's page, and the few things a person does on it."""

    def __init__(self, page, address):
        self.page, self.address, self.errors = page, address, []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_default_timeout(60_000)  # a busy machine; costs nothing where all is well

    def open(
        self, path: str = "", ready: str = ".board[data-tag]", bare: bool = False, **link
    ) -> Dashboard:
        """Open a page with this link, of the four words if it names no example, or as it is."""
        link = link if bare else {"example": "four-words"} | link
        self.page.goto(self.address + path + ("?" + urlencode(link) if link else ""))
        until(self.page.locator(ready).first)
        return self.idle()

    def turn_to(self, **link) -> None:
        """Another link on the page that is open, as Back and Forward bring one."""
        self.page.evaluate(  # in one task, as a browser does it: no answer comes between
            """link => {
              history.pushState(null, '', link)
              dispatchEvent(new Event('popstate'))
            }""",
            "?" + urlencode(link),
        )

    def choose_page(self, name: str) -> None:
        """Another page, by the menu at the top."""
        choose_page(self.page, name)

    def settings(self) -> Settings:
        """What the address says, which holds all that the server has taken."""
        found, notices = links.read(dict(parse_qsl(self.page.evaluate("location.search.slice(1)"))))
        assert not notices, notices
        return found

    def tag(self) -> str:
        """A digest of all that is drawn."""
        return self.page.evaluate(TAG)

    def after(self, act) -> Dashboard:
        """Do something that changes what is drawn, and wait until it is."""
        before = self.tag()
        act()
        self.wait_for(f"before => {TAG} !== before", before)
        return self.idle()

    def idle(self) -> Dashboard:
        """Wait until the server has sent all of the page."""
        self.wait_for(IDLE)
        return self

    def wait_for(self, script: str, arg=None):
        """Wait until a function of arg says something other than false or nothing; what it says."""
        from playwright.sync_api import TimeoutError as TooLate

        try:
            return self.page.wait_for_function(script, arg=arg, polling=POLL)
        except TooLate as late:
            raise AssertionError(f"{script} never holds; {there(self.page)}") from late

    def stages(self) -> list[str]:
        """The stages that can be seen: a mask of 0 and −∞ alone has no place on a plan."""
        return self.page.eval_on_selector_all(
            ".board-pane:not([data-stage=mask][hidden])", "nodes => nodes.map(n => n.dataset.stage)"
        )

    def numbers(self, stage: str) -> np.ndarray:
        """What was painted of a stage, in the browser. Hidden cells are NaN."""
        found = self.painted(stage, "painted.z.map(row => [...row].map(String))")
        return np.array([[float(value) for value in row] for row in found])

    def printed(self, stage: str) -> list[list[str]]:
        """The texts that were painted in the cells of a stage."""
        return self.painted(stage, "painted.texts")

    def sizes(self, stage: str) -> list[float]:
        """The sizes of the numbers that were painted in the cells of a stage, in pixels."""
        texts, size = self.painted(stage, "[painted.texts ?? [], painted.size]")
        return [size for row in texts for text in row if text]

    def labels(self, stage: str, side: str = "rows") -> list[str]:
        """The labels that were painted beside the "rows" or over the "columns" of a stage."""
        return self.painted(stage, f"painted.{side}")

    def painted(self, stage: str, what: str):
        """Something of what the canvas of a stage says that it has painted, once it has."""
        script = f"stage => {{ const painted = {PAINTED}; return painted && {{ found: {what} }} }}"
        pane = "document.querySelector(`.board-pane[data-stage=${stage}]`)"
        self.wait_for(f"stage => {PAINTED} || {pane}?.hidden", stage)
        found = self.page.evaluate(script, stage)
        if not found and self.is_folded(stage):
            self.front(stage)
        return (found or self.wait_for(script, stage).json_value())["found"]

    def is_folded(self, stage: str) -> bool:
        """Whether it is one of the inputs, which are folded to one line."""
        return self.page.locator(f".board-pane[data-stage={stage}][hidden]").count() > 0

    def front(self, stage: str) -> None:
        """Bring a stage into sight where inputs are folded, or another one shares its place."""
        script = """stage => {
            const pane = document.querySelector(`.board-pane[data-stage=${stage}]`)
            if (!pane) return false
            if (pane.hidden) document.querySelector('.board-fold[aria-expanded=false]')?.click()
            else if (!pane.classList.contains('behind')) return true
            else document.querySelector(`.board-tab[data-stage=${stage}]`)?.click()
            return false }"""
        self.wait_for(script, stage)

    def place(self, stage: str, i: int, j: int) -> tuple[float, float]:
        """Where in the window a cell is, after it was brought into sight."""
        self.front(stage)
        script = f"""([stage, i, j]) => {{
            if (!{PAINTED}?.axes) return null
            const pane = document.querySelector(`.board-pane[data-stage=${{stage}}]`)
            pane.scrollIntoView({{ block: 'center', behavior: 'instant' }}) // above the dock
            const canvas = pane.querySelector('.board-canvas')
            const box = canvas.getBoundingClientRect(), [x, y] = canvas.painted.axes.at(i, j)
            return [box.left + x, box.top + y] }}"""
        return self.wait_for(script, [stage, i, j]).json_value()

    def hover(self, stage: str, i: int, j: int) -> None:
        def point() -> None:
            x, y = self.place(stage, i, j)
            self.page.mouse.move(x - 3, y - 3)
            self.page.mouse.move(x, y)

        # a pane that moved or was drawn anew meanwhile is pointed at again
        until(self.page.locator(".board-tip"), act=point)

    def click(self, stage: str, i: int, j: int) -> Dashboard:
        self.hover(stage, i, j)
        x, y = self.place(stage, i, j)
        self.page.mouse.click(x, y)
        until(self.page.locator(f"[data-cell='{stage},{i},{j}']").first)
        return self

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 5) -> None:
        """Press the mouse at one place, move it to another in so many steps, and let it go."""
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move(*end, steps=steps)
        mouse.up()

    def part(self, stage: str) -> list[int]:
        """The first and last row, then the first and last column, of what is seen of a stage."""
        return self.painted(stage, "[...painted.axes.rows, ...painted.axes.columns]")

    def tab(self, label: str) -> None:
        """Show one of the parts below the board; a click on the one that is open would close it."""
        tabs = self.page.locator(".st-key-set_below")
        tabs.first.wait_for()
        if not tabs.locator("[aria-checked=true]").get_by_text(label, exact=True).count():
            tabs.get_by_text(label, exact=True).click()

    def close(self) -> None:
        """Close the part below the board that is open, if any."""
        open_tab = self.page.locator(".st-key-set_below [aria-checked=true]")
        if open_tab.count():
            open_tab.first.click()
            until(self.page.locator(".st-key-dock_content"), "detached")
            self.idle()

    def cell(self) -> list[str]:
        """What the card says, line by line."""
        return self.page.locator(".board-card").inner_text().splitlines()

    def result(self) -> str:
        """The number whose arithmetic is shown."""
        return self.page.locator(".board-card .value").inner_text()

    def menu(self, key: str, label: str) -> Dashboard:
        """Choose an entry of a selectbox by its text, and wait for what it changes on the board."""
        return self.after(lambda: self.choose(key, label))

    def choose(self, key: str, label: str) -> None:
        option = self.page.get_by_role("option", name=label, exact=True)
        for _ in range(20):  # a list that was open when the page was drawn anew is opened again
            self.page.locator(f".st-key-{key} input").click()
            if appears(option) and succeeds(lambda: option.click(timeout=MOMENTS)):
                return
        raise AssertionError(f"{label} cannot be chosen")

    def initialise(self, matrix: str) -> None:
        """Open the panel that draws one matrix."""
        self.tab("Initialise")
        self.choose("set_matrix", matrix)
        until(self.page.locator(f".st-key-set_kind_{matrix}").first)

    def write(self, stage: str, i: int, j: int, text: str) -> Dashboard:
        """Type over a number of the board, and wait until its effect is drawn."""
        self.click(stage, i, j).idle()
        self.page.keyboard.type(text)
        return self.after(lambda: self.page.keyboard.press("Enter"))

    def paste(self, text: str) -> None:
        """Put a text into the box of "Your data"."""
        self._data()
        self.page.locator(".st-key-set_load_text textarea").fill(text)
        self.page.keyboard.press("Control+Enter")

    def upload(self, name: str, content: bytes) -> None:
        """Open a file under "Your data"."""
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        self.choose_file(file)

    def choose_file(self, file: dict | Path) -> None:
        """The same with one that is on the disk, which costs less where it is large."""
        self._data()
        self.page.locator(".st-key-dock_content input[type=file]").set_input_files(file)

    def _data(self) -> None:
        if not self.page.locator(".st-key-set_load_text").count():
            self.tab("Your data")

    def use(self) -> Dashboard:
        """Take what was understood, and wait until it is drawn."""
        button = ".st-key-load_use button:enabled"
        until(self.page.locator(button).first)
        self.page.evaluate(PAINTED_TWICE)  # the browser notes what it heard after it paints
        return self.after(lambda: self.page.locator(button).first.click())

    def download(self, act) -> tuple[str, bytes]:
        with self.page.expect_download() as download:
            act()
        return download.value.suggested_filename, Path(download.value.path()).read_bytes()

    def tool(self, symbol: str, name: str) -> None:
        """Press an entry in the menu of a pane."""
        self.page.get_by_role("button", name=f"tools of {symbol}", exact=True).click()
        self.page.locator(".board-menu:not([hidden])").get_by_role("button", name=name).click()

    def write_on_figure(self, label: str, text: str) -> None:
        """Type the title or the caption of the figure to print, and wait for another preview."""
        preview = self.page.locator(".st-key-paper_preview img")
        before = preview.get_attribute("src")
        self.page.get_by_label(label, exact=True).fill(text)
        self.page.keyboard.press("Control+Enter")
        self.wait_for(
            "src => ![src, null].includes(document.querySelector("
            "'.st-key-paper_preview img')?.getAttribute('src') ?? null)",
            before,
        )

    def notice(self) -> str:
        said = self.page.locator(".said").first
        until(said)
        return html.unescape(re.sub("<[^>]*>", "", said.inner_html().replace("<sub>", "_")))


def in_colours(s: Settings, stage: str) -> list[str]:
    """What IN_COLOURS waits for: the shades of a large stage, from the numbers of the settings."""
    now = view(s, run(s))
    limits, hidden = colour_limits(now)[stage], hidden_cells(now, stage)
    return [stage, ",".join(map(str, shades(now.stages[stage], limits, hidden)))]
