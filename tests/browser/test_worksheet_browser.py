"""Worksheets as a page: how a browser prints them, on A4 and on Letter."""

import re
from dataclasses import replace

import messages
import pypdfium2
import pytest

from attention import RMSNorm, Rotary
from attention.explain.worksheet import choices
from attention.exports.worksheet import Wanted, to_bytes
from attention.session.edit import changes
from attention.session.edit.parts import set_biases
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.teach.by_hand import made

MM = 72 / 25.4  # points
PX = 96 / 25.4  # CSS pixels
MARGIN = 12  # mm
PAPERS = {"A4": (210, 297), "Letter": (215.9, 279.4)}
CAT = EXAMPLES["cat-sat"].build()
FOUR = EXAMPLES["four-words"].build()
HOSTILE = ("<img src=x onerror=alert(1)>", "<b>b</b>", "&amp;", "W" * 40)
KEY = "Answer key\r\n"  # the heading
MADE = view(made(1), run(made(1)))


def words(text):
    return changes.set_sentence(CAT, text)


EIGHT = changes.set_mask(words("one two three four five six seven eight"), "causal")
for name in ("d_model", "d_k", "d_v"):
    EIGHT = changes.set_dimension(EIGHT, name, 8)
LONG = EIGHT.with_matrix("X", Matrix(EIGHT.matrices["X"].values * 123456.789))
LARGEST = changes.set_memory(replace(EIGHT, softcap=2.0, sinks=(0.5,), context=True), True)
LARGEST = changes.set_sentence(LARGEST, "a b c d e f g h", memory=True)
LARGEST = set_biases(changes.set_output_weights(LARGEST, True), True)
PAGES = {  # of a sheet from Q on
    "two words": (words("hello world"), 1),
    "four words": (FOUR, 1),
    "long words": (replace(FOUR, tokens=("antidisestablishment" * 2, "W" * 40, "a" * 39, "b")), 2),
    "scripts": (words("مرحبا بالعالم 猫 坐 שלום"), 2),
    "six words": (CAT, 2),
    "long numbers": (replace(LONG, digits=8), 4),
    "one head of two": (EXAMPLES["sentence"].build(), 2),
    "every part": (
        changes.set_output_weights(
            replace(FOUR, softcap=2.0, sinks=(0.5,), norm=RMSNorm(), rotary=Rotary(), context=True),
            True,
        ),
        2,
    ),
    "eight words, widths of eight": (EIGHT, 4),
    "the largest": (LARGEST, 6),
}
ENDS = {  # the first and the last word of the grids that have these
    "six words": [("cat", "mat")],
    "eight words, widths of eight": [("two", "eight")],
}
BOXES = """() => {
  const box = node => {
    const {x, y, width, height} = node.getBoundingClientRect()
    return [x, y, x + width, y + height]
  }
  const boxes = (selector, within = document) => [...within.querySelectorAll(selector)].map(box)
  return {
    blanks: boxes('td.blank'), inked: boxes('.sheet *, .keys *'),
    sheets: [...document.querySelectorAll('.sheet')].map(sheet => boxes(
      'h1, .who, .sheet > p, h2, .grids > table, .task, .squares, footer', sheet)),
    cut: [...document.querySelectorAll('td')].filter(n => n.scrollWidth > n.clientWidth).length,
  }
}"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    yield page
    page.close()


def show(page, content):
    """Open a worksheet as a printer gets it."""
    page.emulate_media(media="print")
    page.set_content(content.decode())


def printed(page, paper):
    """What the printer gets, page by page: its text; nothing of it is in the margins."""
    document = pypdfium2.PdfDocument(page.pdf(format=paper))
    for sheet in document:
        size = [side / MM for side in sheet.get_size()]
        assert size == pytest.approx(PAPERS[paper], abs=0.5)
        ink = sheet.render(grayscale=True).to_numpy() < 250  # a pixel a point
        edge, number = int(MM * (MARGIN - 0.5)), int(MM * 5)
        assert ink.any() and not ink[:edge].any() and not ink[-number:].any()
        assert not ink[:, :edge].any() and not ink[:, -edge:].any()
    return [sheet.get_textpage().get_text_range() for sheet in document]


def boxes(page, paper):
    """Where things are in print media, in millimetres within the margins: left, top, right, bottom.

    In one flow, not yet cut into pages.
    """
    wide = PAPERS[paper][0] - 2 * MARGIN
    page.set_viewport_size({"width": int(wide * PX), "height": 900})
    found = page.evaluate(BOXES)

    def mm(places):
        return [tuple(side / PX for side in place) for place in places]

    return {
        "blanks": mm(found["blanks"]),
        "inked": mm(found["inked"]),
        "sheets": [mm(places) for places in found["sheets"]],
        "cut": found["cut"],
        "wide": wide,
    }


def are_apart(one, other):
    """Whether two boxes have no more than a hair of room in common."""
    (left, top, right, bottom), (left_2, top_2, right_2, bottom_2) = one, other
    across = min(right, right_2) - max(left, left_2)
    return across < 0.1 or min(bottom, bottom_2) - max(top, top_2) < 0.1


def assert_boxes_fit(page, paper):
    """Blank cells to write in, within the margins, and nothing on anything else."""
    found = boxes(page, paper)
    for left, top, right, bottom in found["blanks"]:
        assert right - left >= 10.8 and bottom - top >= 7.8
    assert min(place[0] for place in found["inked"]) >= 0
    assert max(place[2] for place in found["inked"]) <= found["wide"]
    assert found["cut"] == 0
    for places in found["sheets"]:
        for k, one in enumerate(places):
            assert all(are_apart(one, other) for other in places[:k])
    return found


def test_each_pupil_of_a_class_has_a_page_and_the_keys_others(page):
    show(page, to_bytes(Wanted(sheets=5), FOUR))
    for paper in PAPERS:
        texts = printed(page, paper)
        for k in range(1, 6):
            assert re.findall(r"Sheet (\d+)", texts[k - 1]) == [str(k)]
            assert {"Name", "Date", f"exercise {k} "} <= set(
                re.findall(r"Name|Date|exercise \d+ ", texts[k - 1])
            )
            assert set("12345678") <= {*re.findall(r"(?<!\S)(\d)\.(?!\d)", texts[k - 1])}
            assert "key to" not in texts[k - 1]
        keys = "".join(texts[5:])
        assert 1 <= len(texts[5:]) <= 2 and "Sheet " not in keys
        assert re.findall(r"Answer key to sheet (\d)", keys) == list("12345")


@pytest.mark.parametrize("first", choices(MADE))
def test_a_sheet_of_a_class_is_one_page_from_every_stage_on(page, first):
    """On Letter, as A4 is taller and the sheet as wide on both."""
    show(page, to_bytes(Wanted(first, with_key=False, sheets=2, seed=10), FOUR))  # longest words
    assert len(printed(page, "Letter")) == 2
    assert_boxes_fit(page, "Letter")


def test_each_of_forty_sheets_has_room_on_one_page(page):
    """Where there is room for all of it, the test above prints one page of it."""
    show(page, to_bytes(Wanted(with_key=False, sheets=40, seed=120), FOUR))
    found = assert_boxes_fit(page, "Letter")
    assert len(found["sheets"]) == 40
    for places in found["sheets"]:
        top, bottom = min(place[1] for place in places), max(place[3] for place in places)
        assert bottom - top <= PAPERS["Letter"][1] - 2 * MARGIN


@pytest.mark.parametrize("case", PAGES)
def test_a_sheet_of_ones_own_has_as_few_pages_as_it_needs_and_cuts_no_grid(page, case):
    s, count = PAGES[case]
    asked = choices(view(s, run(s)))
    show(page, to_bytes(Wanted(asked[0]), s))
    for paper in PAPERS:
        texts = printed(page, paper)
        assert [KEY in text for text in texts] == [False] * count + [True] + [False] * (
            len(texts) - count - 1
        )
        for text in texts:
            for first, last in ENDS.get(case, []):
                assert text.count(first) == text.count(last)  # of each grid, in a row or in both
    assert_boxes_fit(page, "A4")  # the narrower
    show(page, to_bytes(Wanted(asked[-1], with_key=False), s))
    assert len(printed(page, "Letter")) == 1  # the shorter


def test_words_that_are_typed_stay_text(page):
    show(page, to_bytes(Wanted(), replace(FOUR, tokens=HOSTILE)))
    assert "<img src=x onerror=alert(1)>" in printed(page, "A4")[0].replace("\r\n", " ")
    assert page.locator("img, section > b, th b").count() == 0
    assert page.locator("th", has_text="<b>b</b>").count() > 4


def test_how_to_print_is_on_the_screen_and_not_on_paper(page):
    show(page, to_bytes(Wanted("output", with_key=False, sheets=1), FOUR))
    (text,) = printed(page, "A4")
    assert "Ctrl+P" not in text and not page.locator(".print").is_visible()
    page.emulate_media(media="screen")
    assert page.locator(".print").inner_text() == messages.PRINT_THE_SHEET


def test_an_exercise_on_paper_is_a_page_without_its_key(page, visit):
    dashboard = visit()
    dashboard.open("exercises", exercise_seed="5", asked="output")
    button = dashboard.page.get_by_role("button", name="Download worksheet (HTML)")
    name, content = dashboard.download(button.click)
    assert name == "attention_exercise.html"
    show(page, content)
    (text,) = printed(page, "A4")
    assert "Sheet 1" in text and "exercise 5 " in text and KEY not in text
    assert_boxes_fit(page, "A4")
