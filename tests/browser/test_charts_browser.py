"""Charts and tables by Streamlit: what is drawn again, and the files that they give."""

import csv
import io
import struct

from browser.dashboard import CHART, until

from attention.samples import variance as maths

DRAWN = "name => document.querySelector(`.st-key-plotly_${name} .js-plotly-plot`)"
WATCH = f"""() => {{ window.redrawn = []
  window.watched = ['variances', 'row', 'explored'].map(name => [name, ({DRAWN})(name)])
  for (const [name, chart] of watched) chart.on('plotly_afterplot', () => redrawn.push(name)) }}"""
SHARP = 3  # pixels of a picture for each of the screen


def sizes(chart) -> list[float]:
    box = chart.bounding_box()
    return [box["width"], box["height"]]


def test_a_chart_whose_numbers_stay_is_not_drawn_again(visit):
    dashboard = visit()
    page = dashboard.open("why", ready=CHART).page
    until(page.locator(".st-key-plotly_explored .main-svg").first)
    page.evaluate(WATCH)
    page.locator(".st-key-set_sample_d_k").get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    dashboard.wait_for(f"() => ({DRAWN})('variances').data[0].x.at(-1) < 64")
    d_k = dashboard.idle().settings().sample_d_k
    drawn = page.evaluate(f"({DRAWN})('variances').data[0].y")
    assert drawn == [p.raw.variance for p in maths.measure_all("normal", d_k, 0, 1000)]
    kept = page.evaluate(f"watched.map(([name, chart]) => [name, ({DRAWN})(name) === chart])")
    assert kept == [["variances", False], ["row", False], ["explored", True]]
    assert "explored" not in page.evaluate("redrawn")


def test_the_picture_of_a_chart_is_sharp_and_it_opens_in_full_screen(visit):
    dashboard = visit()
    page = dashboard.open("why", ready=CHART).page
    chart = page.locator(".st-key-plotly_variances")
    width, height = sizes(chart)
    button = chart.get_by_role("button", name="Download plot as a PNG")
    name, picture = dashboard.download(button.click)
    assert name == "attention_variances.png" and picture.startswith(b"\x89PNG")
    assert struct.unpack(">2I", picture[16:24]) == (SHARP * width, SHARP * height)
    chart.get_by_role("button", name="Fullscreen").click()
    until(chart.get_by_role("button", name="Close fullscreen"))
    dashboard.wait_for(f"() => ({DRAWN})('variances').clientHeight > 600")
    page.keyboard.press("Escape")
    dashboard.wait_for(f"height => ({DRAWN})('variances').clientHeight === height", height)


def test_the_download_of_a_table_has_every_digit(visit):
    dashboard = visit()
    page = dashboard.page
    page.add_init_script("delete window.showSaveFilePicker")  # which asks where to save it
    dashboard.open("why", ready=CHART)
    page.get_by_text("Numbers in these charts").click()
    table = page.get_by_test_id("stDataFrame").last
    table.scroll_into_view_if_needed()
    button = page.get_by_role("button", name="Download as CSV").last
    until(button, act=table.hover)  # it is there while the table is pointed at
    name, content = dashboard.download(button.click)
    assert name.endswith(".csv")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))[1:]
    found = [(int(d_k), kind, *map(float, numbers)) for d_k, kind, *numbers in rows]
    measured = maths.measure_all("normal", 64, 0, 1000)
    lines = [(p.d_k, k, m) for p in measured for k, m in (("scores", p.raw), ("scaled", p.scaled))]
    assert found == [(d_k, kind, *vars(measures).values()) for d_k, kind, measures in lines]


BOXES = """() => [...document.querySelectorAll('[data-testid=stPlotlyChart]')].map(chart => {
  const box = node => { const { left, top, right, bottom } = node.getBoundingClientRect()
    return [left, top, right, bottom] }
  const words = ['.gtitle', '.g-xtitle', '.legend'].map(name => chart.querySelector(name))
  return [chart, ...words].map(box) })"""


def test_on_a_phone_too_no_words_of_a_chart_are_cut_or_lie_on_others(phone):
    page = phone.open("why", ready=CHART).page
    until(page.locator(".st-key-plotly_explored .main-svg").first)
    found = page.evaluate(BOXES)
    assert len(found) == 5
    for (left, top, right, bottom), *words in found:
        assert right <= 390
        assert all(left <= x0 < x1 <= right for x0, _, x1, _ in words)
        ends = [y for _, y0, _, y1 in words for y in (y0, y1)]
        assert [top, *ends, bottom] == sorted([top, *ends, bottom])
