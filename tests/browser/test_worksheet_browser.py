"""Worksheets as a page: how a browser prints them."""

from dataclasses import replace

import pypdfium2

from attention.exports.worksheet import Wanted, to_bytes
from attention.session.examples import EXAMPLES

MM = 72 / 25.4  # points
FOUR = EXAMPLES["four-words"].build()
HOSTILE = ("<img src=x onerror=alert(1)>", "<b>b</b>", "&amp;", "W" * 40)


def printed(page, content):
    """What the printer gets, page by page: its text."""
    page.set_content(content.decode())
    paper = pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True))
    for sheet in paper:
        wide, high = sheet.get_size()
        assert abs(wide / MM - 210) < 0.5 and abs(high / MM - 297) < 0.5
        ink = sheet.render(scale=1).to_numpy()[..., :3].min(axis=-1) < 250
        edge = int(12 * MM)
        assert not ink[:, :edge].any() and not ink[:, -edge:].any()
        assert not ink[:edge].any() and not ink[-edge:].any()
    return [sheet.get_textpage().get_text_range() for sheet in paper]


def test_a_class_set_prints_each_sheet_on_a_leaf_of_a4_and_its_keys_behind(browser):
    page = browser.new_page()
    texts = printed(page, to_bytes(Wanted(sheets=3), FOUR, "html"))
    heads = [text.split("\r\n")[0] for text in texts]
    assert len(texts) == 8
    for k in (1, 2, 3):
        assert f"Sheet {k}" in texts[2 * k - 2] and "Sheet" not in texts[2 * k - 1]
    assert heads[6:] == ["Key to sheet 1", "Key to sheet 3"]

    texts = printed(page, to_bytes(Wanted(), replace(FOUR, tokens=HOSTILE), "html"))
    assert page.locator("img, section > b, th b").count() == 0
    assert page.locator("th", has_text="<b>b</b>").count() > 4
    page.close()
