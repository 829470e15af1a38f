"""What a list offers is read whole: in the open list, and in the box where it is chosen."""

import io
import re

import numpy as np
import pytest
from browser.dashboard import MOMENTS, succeeds, until

WINDOWS = [(390, 844), (1366, 768)]  # a menu that a finger opened stays open in the wider one
BOXES = "[data-testid=stSelectbox] input:enabled:not([type=hidden])"
# Which entries of the open list are cut, and which are wider than the room in its box.
CUT = """() => {
    const box = document.querySelector('[role=combobox][aria-expanded=true]')
    const style = getComputedStyle(box)
    const pen = document.createElement('canvas').getContext('2d')
    pen.font = style.font
    const room = box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
    const listed = ({ firstElementChild: text, clientHeight }) => // a font may leave its line by 1
        text.scrollWidth <= text.clientWidth && text.scrollHeight <= text.clientHeight + 2
        && text.clientHeight <= clientHeight
    const entries = [...document.querySelectorAll('[role=option]')]
    const cut = holds => entries.filter(entry => !holds(entry)).map(entry => entry.innerText)
    return { entries: entries.length, listed: cut(listed),
        chosen: cut(entry => pen.measureText(entry.innerText).width <= room + 1) } }"""


def opened(dashboard, box) -> dict:
    """What is cut of a list that is opened, and closed again."""

    def click() -> None:
        box.click(timeout=MOMENTS)

    until(dashboard.page.get_by_role("option").first, act=lambda: succeeds(click))
    found = dashboard.page.evaluate(CUT)
    dashboard.page.keyboard.press("Escape")
    until(dashboard.page.get_by_role("listbox"), "detached")
    assert found.pop("entries")
    return found


def turned(dashboard, window: tuple[int, int]) -> None:
    """Another window, once the page has its width."""
    width, height = window
    dashboard.page.set_viewport_size({"width": width, "height": height})
    dashboard.wait_for("width => document.querySelector('.stApp').clientWidth === width", width)
    dashboard.page.wait_for_timeout(300)  # what slides in


@pytest.mark.parametrize(
    ("path", "ready"),
    [("", ".board[data-tag]"), ("long", ".st-key-title h1"), ("check", ".st-key-set_check_plant")],
)
def test_no_entry_of_a_list_is_cut(visit, path, ready, subtests):
    dashboard = visit(*WINDOWS[0]).open(path, ready=ready).idle()
    page = dashboard.page
    until(page.locator(BOXES).first, "attached")  # it comes after what says that a page is ready
    places = [".stMain"]
    if page.locator("[data-testid=stSidebar] " + BOXES).count():
        places.append("[data-testid=stSidebar]")
    menu = page.locator("[data-testid=stExpandSidebarButton]")
    for window in WINDOWS:
        turned(dashboard, window)
        seen = 0
        for place in places:
            if menu.count() and (place != ".stMain" or window[0] > 700):  # as it opens with a mouse
                menu.click()
                page.wait_for_timeout(300)  # it slides in
            for box in page.locator(f"{place} {BOXES}").all():
                with subtests.test(window=window, box=box.get_attribute("aria-label")):
                    seen += 1
                    assert opened(dashboard, box) == {"listed": [], "chosen": []}
        assert seen


def test_long_names_of_tensors_are_listed_whole(visit, subtests):
    name = "model.language_model.layers.{}.self_attention.{}_proj.weight"
    dashboard = visit(*WINDOWS[0]).open()
    box = dashboard.page.locator(".st-key-set_load_pick_W_Q input")
    for layers in (2, 12):  # of more than 25 entries a list holds only some
        file = io.BytesIO()
        np.savez(file, **{name.format(k, n): np.eye(8) for k in range(layers) for n in "qkvo"})
        dashboard.upload("names.npz", file.getvalue())
        until(dashboard.page.get_by_text(re.compile(rf"\b{4 * layers} arrays")))
        until(box)
        for window in WINDOWS:
            with subtests.test(layers=layers, window=window):
                turned(dashboard, window)
                assert opened(dashboard, box)["listed"] == []
