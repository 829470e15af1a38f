"""A heatmap of Plotly as a browser draws it: each cell with its own number, colour and labels."""

import io
import math
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from attention.explain.colours import LIGHT
from attention.figures.panes.pane import Pane
from attention.figures.plotly.heatmap import MOST_PRINTED, TAKEN, stage_figure

NASTY = (
    *("$x$", "3", "2024-01-01", "<b>", "%{y}", "&lt;", "a<br>b", " ", "", "1", "0", "2", "-0.5"),
    *("#000032", "&#99;onstructor", "null", "NaN", "1e5", "a token with many letters", "a  b"),
    *("</text>", "%{x}$", "שלום", "犬", "the", "the", "the (1)", *sorted(TAKEN), "the"),
)
# Plotly looks where the pointer is at most every 50 ms: on this clock it has always waited enough.
HOVERED = """([rows, columns]) => {
  let now = Date.now()
  Date.now = () => now += 1000
  const area = document.querySelector('.nsewdrag'), box = area.getBoundingClientRect(), found = []
  const [across, down] = [box.width / columns, box.height / rows]
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) {
    const at = { clientX: box.left + (j + 0.4) * across, clientY: box.top + (i + 0.4) * down }
    area.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, ...at }))
    found.push([...document.querySelectorAll('.hoverlayer .hovertext')].map(
      label => [...label.querySelectorAll('.nums .line')].map(line => line.textContent)))
  }
  return found }"""
PLACES = """selector => {
  const box = document.querySelector('.nsewdrag').getBoundingClientRect()
  return [...document.querySelectorAll(selector)].map(drawn => {
    const { left, right, top, bottom } = drawn.getBoundingClientRect()
    return { text: drawn.textContent, x: ((left + right) / 2 - box.left) / box.width,
      y: ((top + bottom) / 2 - box.top) / box.height,
      width: (right - left) / box.width, height: (bottom - top) / box.height } }) }"""


@pytest.fixture
def opened(browser, tmp_path):
    """Open the figure of a pane, as ``write_html`` writes it; nothing on the page may fail."""
    page, errors = browser.new_page(viewport={"width": 1100, "height": 950}), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text))

    def open_(pane):
        stage_figure(pane).write_html(tmp_path / "figure.html", include_plotlyjs=True)
        page.goto((tmp_path / "figure.html").as_uri())
        page.wait_for_selector(".hm image")
        return page

    yield open_
    page.close()
    assert errors == []


def pane_of(rows, columns, **options):
    """Numbers with two digits, none twice in 40 × 40, some hidden and some not finite."""
    rng = np.random.default_rng(rows * 100 + columns)
    values = rng.permutation(np.arange(10, 10 + rows * columns)) / 100
    values = (values * rng.choice([-1, 1], values.size)).reshape(rows, columns)
    hidden = np.triu(np.ones(values.shape, bool), 2)
    values[-1, 0], values[rows // 2, 0] = math.nan, math.inf
    tokens = (NASTY * 2)[: max(rows, columns)]
    most = float(np.abs(values[np.isfinite(values)]).max(initial=1))
    return Pane(
        name="scores",
        values=values,
        rows=tokens[:rows][::-1],
        columns=tokens[:columns],
        limits=(-most, most),
        hidden=hidden,
        **options,
    )


def labels_of(tokens):
    """The tokens, with a number after each that repeats."""
    counts, seen = Counter(tokens), Counter()
    for token in tokens:
        seen[token] += 1
        while f"{token} ({seen[token]})" in counts:
            seen[token] += 1
        yield f"{token} ({seen[token]})" if counts[token] > 1 else token


def text_of(pane, i, j):
    value = pane.values[i, j]
    if pane.hidden[i, j]:
        return "hidden"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞"
    return f"{value:.2f}".replace("-", "−")


def colour_of(pane, i, j):
    """Red, green and blue of a cell."""
    value, kind = pane.values[i, j], "diverging"
    if pane.hidden[i, j] or not math.isfinite(value):
        kind, value = "hidden" if pane.hidden[i, j] else "broken", 0
    stops = [at for at, _ in LIGHT[kind]]
    at = (value - pane.limits[0]) / (pane.limits[1] - pane.limits[0])
    parts = [[int(colour[k : k + 2], 16) for _, colour in LIGHT[kind]] for k in (1, 3, 5)]
    return [np.interp(at, stops, part) for part in parts]


SHAPES = [(1, 1), (1, 5), (5, 1), (3, 3), (13, 13), (9, 24), (24, 24), (25, 25), (40, 40)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_cell_has_its_number_its_colour_and_its_labels(opened, shape):
    pane = pane_of(*shape)
    page, cells = opened(pane), list(np.ndindex(shape))
    rows, columns = list(labels_of(pane.rows)), list(labels_of(pane.columns))
    said = page.evaluate(HOVERED, shape)
    for (i, j), labels in zip(cells, said, strict=True):
        assert labels == [[f"{rows[i]} · {columns[j]}", text_of(pane, i, j)]], (i, j)
    # a text of a cell per trace, in order; those without a text leave none
    printed = {}
    for drawn in page.evaluate(PLACES, ".heatmap-label text"):
        cell = math.floor(drawn["y"] * shape[0]), math.floor(drawn["x"] * shape[1])
        assert printed.setdefault(cell, drawn["text"]) is drawn["text"], "two in one cell"
        assert drawn["width"] * shape[1] < 1 and drawn["height"] * shape[0] < 1
    expected = {(i, j): text_of(pane, i, j) for i, j in cells if not pane.hidden[i, j]}
    assert printed == (expected if max(shape) <= MOST_PRINTED else {})
    page.mouse.move(1, 1)
    page.evaluate("document.querySelector('.hoverlayer').remove()")
    box = page.locator(".nsewdrag").bounding_box()
    picture = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int)
    for i, j in cells:
        y = box["y"] + box["height"] * (i + 0.12) / shape[0]
        x = box["x"] + box["width"] * (j + 0.2) / shape[1]
        apart = np.abs(picture[math.ceil(y), math.ceil(x)] - colour_of(pane, i, j))
        assert apart.max() <= 2, (i, j)


@pytest.mark.parametrize("shape", [(3, 3), (13, 13), (40, 40)], ids=str)
def test_ticks_are_at_their_rows_and_columns(opened, shape):
    pane = pane_of(*shape)
    page = opened(pane)
    step = math.ceil(max(shape) / 32)
    for axis, tokens in (("x", pane.columns), ("y", pane.rows)):
        labels = list(labels_of(tokens))
        ticks = {}
        for tick in page.evaluate(PLACES, f".{axis}tick text"):
            place, off = divmod(tick[axis] * len(labels), 1)
            assert 0.3 < off < 0.7
            ticks[int(place)] = tick["text"]
        short = {k: text[:13] + "…" if len(text) > 14 else text for k, text in enumerate(labels)}
        assert ticks == {k: text for k, text in short.items() if k % step == 0 and text}


def test_frames_are_around_their_row_and_cell_where_labels_are_numbers(opened):
    marks = (("query", 1, None), ("cell", 2, 0))
    numbers = Pane(
        name="scores",
        values=np.arange(12.0).reshape(3, 4),
        rows=("2", "0", "1"),
        columns=("3", "0", "2", "1"),
        limits=(-11, 11),
        marks=marks,
    )
    row, cell = opened(numbers).evaluate(PLACES, ".shapelayer path")
    for drawn, x, y, width in ((row, 1 / 2, 1 / 2, 1), (cell, 1 / 8, 5 / 6, 1 / 4)):
        assert (drawn["x"], drawn["y"]) == pytest.approx((x, y), abs=0.01)
        assert (drawn["width"], drawn["height"]) == pytest.approx((width, 1 / 3), abs=0.03)


def test_what_is_zoomed_keeps_its_numbers_and_labels(opened):
    pane = pane_of(12, 12)
    page = opened(pane)
    box = page.locator(".nsewdrag").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.01, box["y"] + box["height"] * 0.26)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.49, box["y"] + box["height"] * 0.74, steps=5)
    page.mouse.up()
    page.wait_for_function("document.querySelectorAll('.ytick').length < 12")
    said = page.evaluate(HOVERED, (6, 6))
    for (i, j), labels in zip(np.ndindex(6, 6), said, strict=True):
        assert labels == [[f"{pane.rows[i + 3]} · {pane.columns[j]}", text_of(pane, i + 3, j)]]
