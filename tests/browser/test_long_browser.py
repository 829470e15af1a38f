"""Long context in a real browser: 16,384 tokens down to single weights, 131,072 and Cancel."""

import io
import json
import re
from urllib.parse import urlencode

import messages
import numpy as np
import pytest
from browser.dashboard import MOMENTS, succeeds, until

from attention.samples.patterns import made

MAP = ".zoom[data-tag]"
EXACT = ".zoom[data-exact=true]"
SHOWN = """() => { const { values } = document.querySelector('.zoom-map').painted
  return [...values] }"""
CORNER = "canvas => [...canvas.getContext('2d').getImageData(0, 0, 1, 1).data]"
OTHER = "tag => document.querySelector('.zoom').dataset.tag !== tag"


def link(**long) -> str:
    return urlencode({"long": json.dumps(long)})


@pytest.fixture
def opened(visit):
    def open(**long):
        dashboard = visit().open(f"long?{link(**long)}", ready=MAP, bare=True)
        return dashboard, dashboard.page

    return open


def until_exact(page) -> None:
    """Wait for the exact map; a slow machine says first how long it takes, and wants a yes."""
    start = page.get_by_role("button", name="Compute all")

    def compute():
        if start.count():
            succeeds(lambda: start.click(timeout=MOMENTS))

    until(page.locator(EXACT), act=compute)


def asked(dashboard, act) -> None:
    """After a move of the map, once its answer is exact and the address has it."""
    tag = dashboard.page.locator(MAP).get_attribute("data-tag")
    act()
    dashboard.wait_for(OTHER, tag)
    until_exact(dashboard.page)
    dashboard.idle()


def window(page) -> list[int]:
    """As the address has it."""
    long = page.evaluate("new URLSearchParams(location.search).get('long')")
    return json.loads(long)["window"]


def full(n: int, top: int, bottom: int, left: int, right: int) -> np.ndarray:
    """The weights of a window in float64: whole rows, and then the part."""
    Q, K = (M.astype(float) for M in made("induction", n)[:2])
    rows = []
    for i in range(top, bottom):
        scores = K[: i + 1] @ Q[i] / np.sqrt(Q.shape[1])
        grown = np.exp(scores - scores.max())
        rows.append(np.pad(grown / grown.sum(), (0, n - i - 1))[left:right])
    return np.array(rows)


def test_a_map_of_16384_tokens_is_zoomed_to_single_weights_by_box_keys_and_back(opened):
    dashboard, page = opened(tokens=16384)
    until_exact(page)
    canvas = page.locator(".zoom-map")
    box = canvas.bounding_box()
    x, y = box["x"] + 0.25 * box["width"], box["y"] + 0.5 * box["height"]

    def drag():
        page.mouse.move(x - 20, y - 25)
        page.mouse.down()
        page.mouse.move(x + 20, y + 25, steps=4)
        page.mouse.up()

    asked(dashboard, drag)
    top, bottom, left, right = window(page)
    assert 700 < bottom - top < 2200 and 600 < right - left < 2000
    edges = np.append(np.arange(top, bottom, -(-(bottom - top) // 512)), bottom)
    columns = np.arange(left, right, -(-(right - left) // 512))
    values = np.reshape(page.evaluate(SHOWN), (len(edges) - 1, len(columns)))
    for i in (0, len(edges) // 2):  # two rows of cells against all their weights
        rows = full(16384, edges[i], edges[i + 1], left, right)
        wanted = np.add.reduceat(rows, columns - left, axis=1).mean(axis=0)
        np.testing.assert_allclose(values[i], wanted, rtol=2e-3, atol=1e-8)

    canvas.focus()
    while True:
        top, bottom, left, right = window(page)
        if bottom - top <= 64 and right - left <= 64:
            break
        asked(dashboard, lambda: page.keyboard.press("Enter"))
    values = np.reshape(page.evaluate(SHOWN), (bottom - top, right - left))
    wanted = full(16384, top, bottom, left, right)
    np.testing.assert_allclose(values, wanted, rtol=2e-3, atol=1e-9)
    page.keyboard.press("ArrowDown")
    readout = page.locator(".zoom-readout").inner_text()
    row, column = (bottom - top) // 2 + 1, (right - left) // 2
    assert readout.startswith(
        f"query {top + row + 1:,} “w{(top + row) % 4096}” → key {left + column + 1:,}"
    )
    assert "weight " in readout

    closer = page.locator(".zoom").get_by_role("button", name="Zoom in")
    assert closer.is_enabled()
    while bottom - top > 8 or right - left > 8:
        asked(dashboard, closer.click)
        top, bottom, left, right = window(page)
    assert closer.is_disabled()
    canvas.focus()
    page.keyboard.press("Enter")  # changes nothing: else the next step back would undo that
    asked(dashboard, lambda: page.go_back())
    assert closer.is_enabled() and window(page) != [top, bottom, left, right]
    asked(dashboard, lambda: page.get_by_role("button", name="Reset zoom").click())
    assert len(page.evaluate(SHOWN)) == 512 * 512


def test_131072_tokens_say_what_they_take_end_on_request_and_give_way_to_a_file(opened):
    dashboard, page = opened(tokens=131072)
    assert page.locator(MAP).get_attribute("data-exact") == "false"
    begin, _, end = messages.ALL_QUERIES_TAKE.partition("{time}")
    words = page.get_by_text(begin.strip())
    until(words)
    assert end.format(given="64 MB", beside="150 MB") in words.inner_text()
    best = full(131072, 69999, 70000, 0, 131072)[0].argsort()[::-1][:2]
    page.get_by_role("button", name="Compute all").click()
    bar = page.get_by_test_id("stProgress")
    until(bar)
    until(page.get_by_text(re.compile("All queries: [1-9]")))
    field = page.get_by_role("spinbutton", name="Query")  # the page can be used meanwhile
    field.fill("70000")
    field.press("Enter")
    until(page.get_by_text("Query 70,000"))
    begin = messages.STRONGEST_KEYS.partition("{keys}")[0]
    until(page.get_by_text(f"{begin}{min(best) + 1:,}\xa0“w{min(best) % 32768}”"))
    page.get_by_role("button", name="Cancel").click()
    until(page.get_by_role("button", name="Compute all"))
    assert page.locator(MAP).get_attribute("data-exact") == "false"

    dashboard.choose("set_long_source", "a file")  # larger than 8 MB, which other pages take
    Q = np.random.default_rng(0).standard_normal((2100, 512)).astype("f4")
    file = io.BytesIO()
    np.savez(file, Q=Q, K=Q)
    run = {"name": "run.npz", "mimeType": "application/zip", "buffer": file.getvalue()}
    page.locator("input[type=file]").set_input_files(run)
    until(page.get_by_text("run.npz: Q, K: 2,100 queries × 2,100 keys"))


def test_on_a_phone_and_in_the_dark_the_map_fits_and_a_finger_zooms(opened):
    dashboard, page = opened(tokens=1024, pattern="local")
    until_exact(page)
    light = page.locator(".zoom-map").evaluate(CORNER)
    page.emulate_media(color_scheme="dark")
    until(page.locator(".zoom[data-drawn=dark]"))
    dark = page.locator(".zoom-map").evaluate(CORNER)
    assert light != dark
    page.set_viewport_size({"width": 390, "height": 844})
    dashboard.wait_for("() => document.querySelector('.zoom').scrollWidth <= innerWidth")
    page.locator(".zoom-map").click()
    asked(dashboard, lambda: page.locator(".zoom").get_by_role("button", name="Zoom in").click())
    top, bottom, left, right = window(page)
    assert (bottom - top, right - left) == (256, 256)
    page.get_by_role("button", name="Show this query").click()
    chosen = "JSON.parse(new URLSearchParams(location.search).get('long')).query"
    dashboard.wait_for(f"() => {chosen} >= 0")
    query = page.evaluate(chosen)
    assert top <= query < bottom
    shown = "document.querySelector('[class*=st-key-set_long_query] input')?.value"
    dashboard.wait_for(f"query => {shown} === query", str(query + 1))
