"""The layout of the board on the real page: what is drawn in which window, and whether all is seen.

Four cases by default, all with THOROUGH=1; with WRITE=1 their lines of ``measured.txt`` are
written anew. In it are the size of a cell and of the numbers, what shares a place ("SM": scaled and
masked, "SSM": scores too), whether weights lack their 0 (".47"), whether inputs are open, and what
is in colours.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from amount import THOROUGH
from browser.dashboard import until
from pages.js.board.cases import CASES

from attention.session.edit.changes import set_sentence
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.teach import tour
from attention.vocabulary.stages import STAGES

SMALLEST = 10.5  # px: no text of the board is smaller
PHONE = (390, 844)
WINDOWS = [
    *[(1366, 768), (1440, 900), (1920, 1080), (1366, 650), (1440, 760), (1536, 730), (1920, 950)],
    PHONE,
]
FEWER = [(1366, 768), (1366, 650), (1920, 1080)]
TITLES = {  # in all windows
    "cat-sat": "6 tokens",
    "padding": "6 tokens, two keys hidden",
    "own8": "8 tokens, look-ahead",
    "own10": "10 tokens, look-ahead",
    "own12": "12 tokens, look-ahead",
    "random-qkv": "4 tokens, Q K V of 8 columns",
    "d16": "d_k = 16",
    "d64": "d_k = 64",
    "d256": "d_k = 256",
    "heads2": "two heads, W_O",
    "cross": "cross-attention, 6 queries, 7 keys",
    "own16": "16 tokens, look-ahead",
    "t24": "24 tokens",
    "t64": "64 tokens",
    "biases": "with b_Q, b_K, b_V",
    "batch": "batch of 64, d_k = 64",
}
FEW_WINDOWS = {
    "heads8": "d_model = 256, eight heads, W_O",
    "values256": "d_v = 256, two heads, W_O",
    "rotary-norm": "rotary with norm",
    "alibi": "ALiBi, 8 tokens",
    "sinks": "a sink",
    "softcap": "soft cap",
    "grouped": "grouped heads",
    "weights-alone": "attention weights alone",
    "numerals": "the tokens 1, 2 and 3",
}
FEW_WINDOWS |= {name: name for name in EXAMPLES if name not in TITLES | FEW_WINDOWS}
ALL = TITLES | FEW_WINDOWS
TABLE = Path(__file__).with_name("measured.txt")
USUAL = ("own8", "heads2", "own16", "numerals")
# All that is seen of the board and of the page around it, in px.
FOUND = """() => {
  const all = (what, node = document) => [...node.querySelectorAll(what)]
  const isSeen = node => node.checkVisibility({ visibilityProperty: true })
  const place = node => { const { left, top, right, bottom } = node.getBoundingClientRect()
    return [left, top, right, bottom] }
  const board = document.querySelector('.board'), main = board.closest('[data-testid=stMain]')
  const card = board.querySelector('.board-card:not([hidden])')
  const ruler = document.createElement('canvas').getContext('2d')
  const widest = texts => Math.max(0, ...texts.map(text => ruler.measureText(text).width))
  const isWhole = node => node.scrollWidth <= node.clientWidth + 1 || !node.clientWidth
  const seen = pane => {
    const canvas = pane.querySelector('.board-canvas'), { texts, size, axes, z } = canvas.painted
    const font = `${size}px ${getComputedStyle(board).fontFamily}`
    Object.assign(ruler, { font, textRendering: 'geometricPrecision' })
    const cells = texts?.flatMap((row, i) => row.map((text, j) => [text, Number.isNaN(z[i][j])]))
    const [hidden, open] = [true, false].map(
      which => (cells ?? []).filter(cell => cell[1] === which).map(([text]) => text))
    const [head, title] = ['.board-head', '.board-title'].map(name => pane.querySelector(name))
    return {
      stage: pane.dataset.stage, place: place(canvas), cell: [axes.across, axes.down],
      size: texts ? size : 0, wide: [widest(open), widest(hidden)],
      tight: open.some(text => text.startsWith('.')), letters: canvas.letters ?? [],
      heading: title.textContent,
      whole: head.hidden || (isWhole(title) && place(title)[2] <= place(head)[2] + 1),
      tabs: all('.board-tab', pane).map(tab => ({
        stage: tab.dataset.stage, seen: isSeen(tab) && isWhole(tab), reached: tab.tabIndex === 0,
        chosen: tab.ariaSelected === 'true' })) } }
  const texts = [], each = document.createTreeWalker(board.querySelector('.board-groups'), 4)
  for (let text; (text = each.nextNode());) {
    const size = parseFloat(getComputedStyle(text.parentElement).fontSize)
    if (text.data.trim() && isSeen(text.parentElement)) texts.push([size, text.data])
  }
  const isCut = node => isSeen(node) &&
    (!isWhole(node) || node.scrollHeight > node.clientHeight + 1)
  return {
    panes: all('.board-pane:not([hidden], .behind)', board).map(seen), texts,
    card: card && place(card), dock: place(document.querySelector('[data-testid=stBottom]'))[1],
    cut: all('.board-formula, .board-card, .board-inputs', board).filter(isCut)
      .map(node => node.className),
    width: innerWidth, scrolls: [main.scrollWidth - main.clientWidth,
      document.documentElement.scrollWidth - innerWidth, main.scrollHeight - main.clientHeight],
    open: !!board.querySelector('.board-fold[aria-expanded=true]'),
    folded: all('.board-mini', board).length,
    stages: all('.board-pane', board).map(pane => pane.dataset.stage),
    masks: !!board.querySelector('[data-stage=mask]') } }"""
LETTERS = """() => { // note the sizes of all letters that a canvas has, from now on
  const { prototype } = CanvasRenderingContext2D, { setTransform, fillText } = prototype
  prototype.setTransform = function (...to) { // which begins a picture
    this.canvas.letters = []
    return setTransform.apply(this, to) }
  prototype.fillText = function (...what) {
    this.canvas.letters?.push(parseFloat(this.font.match(/([0-9.]+)px/)[1]))
    return fillText.apply(this, what) } }"""
# by how much the last name of a folded input is outside of its line
LAST_NAME = """() => {
  const edge = what => [...document.querySelectorAll(what)].at(-1).getBoundingClientRect().right
  return edge('.board-mini') - edge('.board-inputs') }"""
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
AT = "([x, y]) => document.elementFromPoint(x, y)?.closest('.board-pane')?.dataset.stage"


def link_of(name: str) -> dict[str, str]:
    """The link of a case, which holds all of it."""
    build = CASES[name] if name in CASES else EXAMPLES[name].build
    link, is_all = links.address(build())
    assert is_all, name
    return link


def found(page) -> dict:
    """What is seen once the page has come to rest."""
    before = None
    for _ in range(200):
        page.evaluate(DRAWN)
        now = page.evaluate(FOUND)
        if now == before:
            return now
        before = now
        page.wait_for_timeout(50)
    raise AssertionError("the page never comes to rest")


def is_input(pane: dict) -> bool:
    return STAGES[pane["stage"]].place.line == "inputs"


def inputs_of(seen: dict) -> int:
    """How many inputs have a name of their own: a bias is under its weights."""
    places = [STAGES[stage].place for stage in seen["stages"] if stage in STAGES]
    return sum(place.line == "inputs" and not place.under for place in places)


def in_words(seen: dict) -> str:
    """How a board is drawn: 34×23 12.5 SM .47 open colours: K V."""
    panes = [pane for pane in seen["panes"] if not is_input(pane)]
    square = next(pane for pane in panes if STAGES[pane["stage"]].columns == "keys")
    size = "×".join(f"{round(side, 2):g}" for side in square["cell"])
    lost = sorted(pane["stage"] for pane in panes if not pane["size"])
    if len(lost) == len(panes):
        return f"{size} colours"
    words = [size, f"{max(pane['size'] for pane in panes):g}"]
    shared = [{tab["stage"] for tab in pane["tabs"]} for pane in panes]
    if seen["width"] > PHONE[0]:  # there all of these share a place
        if any({"scores", "scaled"} <= stages for stages in shared):
            words.append("SSM")
        elif seen["masks"] and any({"scaled", "masked"} <= stages for stages in shared):
            words.append("SM")  # without a mask masked is behind scaled wherever there is room
    words += [".47"] if any(pane["tight"] for pane in panes) else []
    words += ["open"] if seen["open"] else []
    return " ".join(words + (["colours:", *lost] if lost else []))


def faults(seen: dict) -> list[str]:
    """What is out of sight, cut, too small or too wide."""
    wider, beyond, higher = seen["scrolls"]
    said = [f"{name} is cut" for name in seen["cut"]]
    said += [f"“{text}” has {px:g} px" for px, text in seen["texts"] if px < SMALLEST]
    said += [f"the page is {max(wider, beyond)} px wider"] if max(wider, beyond) > 0 else []
    places = {pane["stage"]: pane["place"] for pane in seen["panes"]}
    if seen["width"] > PHONE[0]:
        said += [] if seen["card"] else ["there is no card"]
        places |= {"the card": seen["card"]} if seen["card"] else {}
        said += [f"the page is {higher} px higher"] if higher > 0 else []
        said += [f"{name} is below the tabs" for name, at in places.items() if at[3] > seen["dock"]]
    for name, (left, _, right, _) in places.items():
        said += [f"{name} is outside"] if left < 0 or right > seen["width"] + 0.5 else []
    sizes = {pane["size"] for pane in seen["panes"] if not is_input(pane)} - {0}
    said += [f"numbers have {sizes} px"] if len(sizes) > 1 else []
    inputs = inputs_of(seen)
    if not seen["open"] and inputs and seen["folded"] != inputs:
        said.append(f"{seen['folded']} of {inputs} folded inputs are named")
    return said + [each for pane in seen["panes"] for each in faults_of(pane)]


def faults_of(pane: dict) -> list[str]:
    """The same of one pane."""
    name, size, said = pane["stage"], pane["size"], []
    for wide, air in zip(pane["wide"], (max(6, 0.4 * size), 3), strict=True):
        if size and wide + air > pane["cell"][0] + 0.1:
            said.append(f"a number of {name} has {wide:.1f} px in {pane['cell'][0]:g}")
    if min(pane["letters"], default=SMALLEST) < SMALLEST:
        said.append(f"{name} has letters of {min(pane['letters'])} px")
    if not pane["whole"] or "…" in pane["heading"]:
        said.append(f"the heading “{pane['heading']}” is cut")
    said += [f"the tab {tab['stage']} is not seen" for tab in pane["tabs"] if not tab["seen"]]
    reached = [tab["stage"] for tab in pane["tabs"] if tab["reached"] and tab["chosen"]]
    if pane["tabs"] and reached != [name]:
        said.append(f"keys reach {reached} of the tabs of {name}")
    return said


def table() -> dict[str, list[str]]:
    """The lines of each case."""
    parts = re.split(r"\n(?! )", TABLE.read_text(encoding="utf-8").strip("\n"))
    return {title: lines for title, *lines in map(str.splitlines, parts)}


def write(title: str, lines: list[str]) -> None:
    rows = table() | {title: lines}
    text = [line for each in ALL.values() if each in rows for line in (each, *rows[each])]
    TABLE.write_text("\n".join(text) + "\n", encoding="utf-8")


@pytest.mark.parametrize("name", [n for n in ALL if THOROUGH or n in USUAL])
def test_the_board_is_drawn_as_measured_and_all_of_it_is_in_sight(visit, name):
    dashboard = visit(*WINDOWS[0]).open(**link_of(name))
    page = dashboard.page
    dashboard.close()  # the lines of the example that opens with them
    page.evaluate(LETTERS)
    lines, said = [], []
    for width, height in WINDOWS if name in TITLES else FEWER:
        page.set_viewport_size({"width": width, "height": height})
        seen = found(page)
        page.evaluate("dispatchEvent(new Event('resize'))")  # which draws all anew
        again = found(page)
        lines.append(f"  {width}×{height}  {in_words(again)}")
        said += [f"{width}×{height}: {each}" for each in faults(again)]
        if in_words(seen) != in_words(again):
            said.append(f"{width}×{height}: at first it was {in_words(seen)}")
    if (width, height) == PHONE:
        rows, columns = np.shape(dashboard.numbers("weights"))
        for cell in ((0, 0), (rows - 1, columns - 1)):
            assert page.evaluate(AT, dashboard.place("weights", *cell)) == "weights"
    if os.environ.get("WRITE"):
        write(ALL[name], lines)
    assert not said, "\n".join(said)
    assert lines == table()[ALL[name]]


@pytest.mark.parametrize("name", ["positions", "cross"])
def test_inputs_that_are_folded_are_all_named_on_a_phone(visit, name):
    dashboard = visit(*PHONE).open(**link_of(name))
    for size in (PHONE, (360, 740)):
        dashboard.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        seen = found(dashboard.page)
        assert seen["folded"] == inputs_of(seen) > 4
        assert dashboard.page.evaluate(LAST_NAME) <= 0


@pytest.mark.parametrize(
    ("link", "stage"),
    [({"mask": "causal"}, "masked"), ({"scale": "1"}, "scaled"), ({"query": "1"}, "scores")],
)
def test_a_shared_place_shows_the_stage_that_a_change_changes(visit, link, stage):
    dashboard = visit(*PHONE).open(example="cat-sat")
    in_front = ".board-pane[data-stage={}]:not(.behind):visible"
    until(dashboard.page.locator(in_front.format("scores")))
    dashboard.after(lambda: dashboard.turn_to(example="cat-sat", **link))
    until(dashboard.page.locator(in_front.format(stage)))
    dashboard.after(lambda: dashboard.turn_to(example="cat-sat"))
    assert not dashboard.page.locator(in_front.format("masked")).count()  # as scaled is


def test_the_tabs_of_a_shared_place_are_turned_by_arrow_keys(visit):
    dashboard = visit(*WINDOWS[0]).open(**link_of("own10"))
    dashboard.page.locator(".board-tab[data-stage=scores][aria-selected=true]:visible").focus()
    for stage in ("scaled", "masked", "scores"):
        dashboard.page.keyboard.press("ArrowRight")
        until(dashboard.page.locator(f".board-pane[data-stage={stage}]:not(.behind)"))
        assert dashboard.page.evaluate("document.activeElement.dataset.stage") == stage


BOXES = """selector => [...document.querySelectorAll(selector)]
  .filter(node => node.checkVisibility())
  .map(node => node.getBoundingClientRect()).map(({ left, right }) => [left, right])"""
LARGER = """() => { const px = node => parseFloat(getComputedStyle(node).fontSize)
  const title = px(document.querySelector('h1'))
  return [...document.querySelectorAll('.stApp :is(h2, h3):not(.board *)')]
    .filter(node => node.checkVisibility() && px(node) > title).map(node => node.innerText) }"""


def test_the_menu_of_a_phone_has_a_name_and_the_links_of_the_title(phone):
    page = phone.open(example="cat-sat").page
    button = page.get_by_test_id("stExpandSidebarButton")
    assert button.evaluate("node => getComputedStyle(node, '::after').content") == '"Menu"'
    button.tap()
    links = page.locator(".st-key-menu_links :is(a, button)")
    page.wait_for_function("() => document.querySelector('.st-key-menu_links').checkVisibility()")
    assert links.count() == 3
    links.first.tap()
    page.get_by_role("heading", name=tour.STEPS[0].title).wait_for()


@pytest.mark.parametrize("path", ["", "compare"])
def test_no_tab_below_the_board_of_a_phone_is_cut(phone, path):
    phone.open(path, example="cat-sat")
    tabs = phone.page.evaluate(BOXES, ".st-key-dock button")
    assert len(tabs) >= 4
    assert all(left >= 0 and right <= 390 for left, right in tabs)


@pytest.mark.parametrize("path", ["why", "model", "long", "check", "conventions", "exercises"])
def test_no_heading_is_larger_than_the_title_of_its_page(visit, path):
    assert visit(width=1366, height=768).open(path, ready="h1").page.evaluate(LARGER) == []


def test_titles_on_conventions_end_before_their_buttons(phone):
    page = phone.open("conventions").page
    page.locator(".board-pane").first.wait_for()
    names, tools = (page.evaluate(BOXES, f".board-{part}") for part in ("title", "tools"))
    assert all(name[1] <= tool[0] for name, tool in zip(names, tools, strict=True))


def test_an_own_sentence_leaves_no_empty_space_in_the_sidebar(visit):
    link = links.write(set_sentence(EXAMPLES["cat-sat"].build(), "a b c d e f"))
    page = visit(width=1366, height=768).open(**link).page
    note = page.locator("section[data-testid=stSidebar] .notice")
    note.wait_for()
    assert note.evaluate("node => node.clientHeight") < 60
