"""Hundreds of tokens in a real browser: colours without numbers, and every number a click away."""

from dataclasses import replace
from urllib.parse import urlsplit
from xml.etree import ElementTree

import messages
import numpy as np
import pytest
from browser.dashboard import IN_COLOURS, Dashboard, in_colours, until

from attention.explain.colours import LIGHT, colour_limits
from attention.session.state import links
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.settings import DRAWN, as_drawn
from attention.session.state.validate import check
from attention.vocabulary.numbers import number

N = 200
TIP = "document.querySelector('.board-tip').textContent"
RECORD = """name => { // what is drawn from now on, in window.drawn
    const { prototype } = CanvasRenderingContext2D, draw = prototype[name]
    window.drawn = []
    prototype[name] = function (...at) { window.drawn.push(at); return draw.apply(this, at) } }"""
OPENED = "value => document.querySelector('.board-input')?.value === value"


def link_of(n: int) -> dict[str, str]:
    """The link of n tokens, 4 wide, look-ahead."""
    words = ",".join(f'"t{k}"' for k in range(n))
    weights = {f"W_{name}": f"normal,{k},4x4" for k, name in enumerate("QKV")}
    X = {"X": f"normal,9,{n}x4", "mask": "causal"}
    return {"example": "own", "tokens": words, **weights, **X}


def shown(dashboard: Dashboard, s) -> None:
    """Wait until the large stages have the colours of these settings."""
    for stage in ("scores", "masked", "weights"):
        dashboard.wait_for(IN_COLOURS, in_colours(s, stage))


@pytest.fixture
def opened(visit):
    link = link_of(N)
    s, notices = links.read(link)
    assert notices == [] and len(s.tokens) == N
    dashboard = visit().open(**link)
    shown(dashboard, s)
    return dashboard, s


def test_a_cell_is_named_under_the_mouse_and_a_click_gives_its_number(opened):
    dashboard, s = opened
    dashboard.hover("weights", 150, 20)
    assert dashboard.page.evaluate(TIP).split("   ") == ["t150 · t20", messages.CLICK_FOR_NUMBER]
    dashboard.hover("masked", 3, 150)
    assert dashboard.page.evaluate(TIP).split("   ") == ["t3 · t150", "hidden"]
    dashboard.click("weights", 150, 20)
    value = view(s, run(s)).stages["weights"][150, 20]
    assert dashboard.result() == number(value, 2)
    dashboard.wait_for(f"() => /t150 · t20 +[0-9]/.test({TIP})")
    assert dashboard.page.evaluate(TIP).split("   ")[1] == dashboard.result()


def test_the_colour_bar_of_a_picture_writes_its_numbers_as_the_board_does(opened):
    """With two significant digits: there is no room for more."""
    dashboard, s = opened
    low, high = colour_limits(view(s, run(s)))["scores"]
    ends = [float(f"{value:.2g}") for value in (low, (low + high) / 2, high)]

    def bar(stage: str) -> list[str]:
        dashboard.front(stage)
        _, drawing = dashboard.download(lambda: dashboard.tool(stage, "Download SVG"))
        svg = "{http://www.w3.org/2000/svg}"
        groups = ElementTree.fromstring(drawing).iter(svg + "g")
        return [text.text for group in groups if group.get("class") == "bar" for text in group]

    assert bar("scores") == [number(value) for value in ends]
    assert bar("weights") == ["0", "0.25", "1"]


def test_the_pixels_of_a_stage_have_the_colours_of_its_cells(opened):
    """Seen large, where each cell has pixels of its own."""
    dashboard, s = opened
    dashboard.page.locator("[data-stage=weights] .board-tool", has_text="⋯").click()
    dashboard.page.locator("[data-stage=weights]").get_by_role("button", name="Present").click()
    dashboard.wait_for(
        """n => { const { across, down } = document.querySelector(
        '[data-stage=weights] .board-canvas').painted.axes
        return across >= 2 && down >= 2 }"""
    )
    colours = """([i, j, side]) => { const canvas = document.querySelector(
        '[data-stage=weights] .board-canvas'), { x, y } = canvas.painted.axes
        const { data } = canvas.getContext('2d').getImageData(x(j), y(i), side, side)
        return Array.from({ length: side * side }, (_, k) => [...data.slice(4 * k, 4 * k + 3)]) }"""
    weights = view(s, run(s)).stages["weights"]
    hidden, largest = LIGHT["hidden"][0][1], LIGHT["share"][-1][1]
    rgb = [[int(text[k : k + 2], 16) for k in (1, 3, 5)] for text in (hidden, largest)]
    assert rgb[0] in dashboard.page.evaluate(colours, [99, 180, 9])  # between two strokes
    assert weights[0, 0] == 1
    near = np.abs(np.subtract(dashboard.page.evaluate(colours, [0, 0, 1])[0], rgb[1]))
    assert near.max() <= 1
    dashboard.page.keyboard.press("Escape")


def test_a_number_of_a_large_matrix_is_typed_and_comes_back(visit):
    n = 120
    link = link_of(4) | {f"W_{name}": f"integers,{k},{n}x{n},0,3" for k, name in enumerate("QKV")}
    link["X"] = f"integers,0,4x{n},0,3"
    s, _ = links.read(link)
    dashboard = visit().open(**link)
    dashboard.click("W_Q", 60, 70).idle()
    dashboard.page.keyboard.type("2.75")
    dashboard.page.keyboard.press("Enter")
    W = s.matrices["W_Q"].values.copy()
    W[60, 70] = 2.75
    typed = check(s.with_matrix("W_Q", Matrix(W)))
    dashboard.wait_for(IN_COLOURS, in_colours(typed, "W_Q"))
    dashboard.idle().click("W_Q", 60, 70).idle()
    dashboard.wait_for(f"() => {TIP}.endsWith('2.75')")
    dashboard.page.keyboard.press("Enter")  # which now opens the number itself
    dashboard.wait_for(OPENED, "2.75")
    dashboard.page.keyboard.press("Escape")
    W = typed.matrices["W_Q"].values
    dashboard.page.keyboard.press("ArrowDown")  # to a number that is not here yet
    dashboard.page.keyboard.press("F2")
    dashboard.wait_for(OPENED, f"{W[61, 70]:g}")
    dashboard.page.keyboard.press("Escape")
    row, column = np.argwhere(W == 2)[-1].tolist()
    dashboard.page.mouse.dblclick(*dashboard.place("W_Q", row, column))
    dashboard.wait_for(OPENED, "2")
    dashboard.page.keyboard.press("Escape")


def test_the_mask_of_many_tokens_is_turned_cell_by_cell_and_survives_a_reload(opened):
    dashboard, s = opened
    dashboard.page.get_by_role("button", name="Draw mask").click()
    x, y = dashboard.place("masked", 10, 150)
    dashboard.page.evaluate(RECORD, "fillRect")
    before = urlsplit(dashboard.page.url).query
    dashboard.page.mouse.click(x, y)
    seen = np.tril(np.ones((N, N), bool))
    seen[10, 150] = True
    drawn = check(replace(s, mask=DRAWN, drawn=as_drawn(seen)))
    shown(dashboard, drawn)
    small = [wide for _, _, wide, _ in dashboard.page.evaluate("drawn") if wide < 2]
    assert small and min(small) > 0  # the cell that waits for its answer
    # the address before it has a mark, too
    said = "before => location.search.includes('partial=') && location.search.slice(1) !== before"
    dashboard.wait_for(said, before)
    mark = urlsplit(dashboard.page.url).query
    dashboard.idle().page.reload()
    shown(dashboard, drawn)
    assert urlsplit(dashboard.page.url).query == mark


def test_a_part_is_dragged_to_be_seen_closer_and_put_back(opened):
    dashboard, _ = opened
    corners = dashboard.place("masked", 20, 20), dashboard.place("masked", 120, 120)
    dashboard.page.evaluate(RECORD, "moveTo")
    dashboard.drag(*corners)
    zoom_out = dashboard.page.locator("[data-stage=masked] header").get_by_text("Zoom out")
    until(zoom_out)
    assert 18 <= dashboard.part("masked")[2] <= 22
    strokes = np.array(dashboard.page.evaluate("drawn"))  # through hidden cells in sight alone
    assert len(strokes) and strokes.min() > -20 and strokes.max() < 600
    zoom_out.click()
    assert dashboard.part("masked") == [0, N - 1, 0, N - 1]
    assert not zoom_out.is_visible()


def test_of_cells_that_share_a_pixel_the_one_furthest_from_0_is_seen(visit):
    n, at = 512, 301
    link = {"example": "own", "tokens": ",".join(f'"t{k}"' for k in range(n))}
    link |= {f"W_{name}": "1" for name in "QKV"}
    link["X"] = ";".join("1" if k == at else "0" for k in range(n))
    dashboard = visit().open(**link)
    dashboard.wait_for(IN_COLOURS, in_colours(links.read(link)[0], "scores"))
    dashboard.place("scores", at, at)
    seen = dashboard.page.evaluate(
        """at => { const canvas = document.querySelector('[data-stage=scores] .board-canvas')
        const { x, y, across, down } = canvas.painted.axes
        const { data } = canvas.getContext('2d').getImageData(
          Math.round(x(at)) - 3, Math.round(y(at)) - 3, 7, 7)
        const pixels = Array.from({ length: 49 }, (_, k) => [...data.slice(4 * k, 4 * k + 3)])
        return [across, down, pixels] }""",
        at,
    )
    across, down, pixels = seen
    assert across < 1 and down < 1  # a pixel has several cells
    largest, zero = (LIGHT["diverging"][k][1] for k in (-1, 2))
    rgb = [[int(text[k : k + 2], 16) for k in (1, 3, 5)] for text in (largest, zero)]
    assert pixels.count(rgb[0]) == 1 and pixels.count(rgb[1]) == 48


def test_more_than_512_tokens_go_on_to_long_context_by_one_button(visit):
    n = 600
    dashboard = visit().open(example="four-words")
    box = dashboard.page.get_by_label("Sentence", exact=True)
    box.fill("cat dog " * (n // 2))
    box.press("Enter")
    go_on = dashboard.page.get_by_role("button", name="Continue on Long context")
    until(go_on)
    refusal = dashboard.page.locator(".said.refused")
    assert refusal.inner_text() == messages.TOO_MANY_TOKENS.format(found=n, limit=512)
    go_on.click()
    until(dashboard.page.locator(".zoom[data-exact=true]"))
    assert "/long?" in dashboard.page.url
    understood = dashboard.page.locator(".said.understood").inner_text()
    assert understood == messages.HERE_FROM_EXPLORE.format(limit=512)


def test_a_link_of_more_than_512_tokens_opens_long_context(visit):
    dashboard = visit().open(**link_of(600), ready=".zoom[data-exact=true]", bare=True)
    assert "/long?" in dashboard.page.url
