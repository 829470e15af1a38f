"""Files uploaded, dropped, replaced, removed and lost on the way, in a real browser."""

import messages
import numpy as np
from browser.dashboard import POLL, until

from attention.limits import MAX_FILE
from attention.pages.panels import upload

CHIPS = "[data-testid=stFileChipName]"
ROOM = "[data-testid=stFileUploader]"
PREVIEW = ".st-key-dock_content table.numbers"
ONE, TWO = b"1,2,3,4\n5,6,7,8\n", b"word,a,b,c,d\ncat,9,8,7,6\ndog,5,4,3,2\nant,1,1,1,1\n"


def names(dashboard) -> list[str]:
    return dashboard.page.locator(CHIPS).all_inner_texts()


def test_a_file_gives_way_to_the_next_stays_beneath_back_and_can_be_removed(visit):
    dashboard = visit().open(example="four-words")
    dashboard.upload("one.csv", ONE)
    until(dashboard.page.locator(PREVIEW, has_text="X, 2 × 4"))
    dashboard.upload("two.csv", TWO)
    until(dashboard.page.locator(PREVIEW, has_text="X, 3 × 4"))
    assert names(dashboard) == ["two.csv"]
    dashboard.upload("two.csv", TWO)  # over itself
    until(dashboard.page.locator(CHIPS, has_text="two.csv"))
    dashboard.use()
    dashboard.after(dashboard.page.go_back)
    assert names(dashboard) == ["two.csv"]
    dashboard.use()
    assert dashboard.numbers("X").tolist() == [[9, 8, 7, 6], [5, 4, 3, 2], [1, 1, 1, 1]]
    dashboard.page.get_by_role("button", name="Remove two.csv").click()
    until(dashboard.page.get_by_text(messages.NOTHING_CHANGES_YET))
    assert names(dashboard) == []
    dashboard.upload("two.csv", TWO)
    until(dashboard.page.locator(PREVIEW, has_text="X, 3 × 4"))


def test_a_file_is_gone_once_its_place_was_left(visit, subtests):
    dashboard = visit().open()
    for away in ("another part", "another page"):
        with subtests.test(away=away):
            dashboard.upload("one.csv", ONE)
            until(dashboard.page.locator(PREVIEW))
            if away == "another part":
                dashboard.tab("Spread")
                until(dashboard.page.locator(".st-key-dock_spread"))
                dashboard.tab("Your data")
            else:
                dashboard.choose_page("Conventions")
                until(dashboard.page.locator(".st-key-title h1", has_text="From one library"))
                dashboard.idle()  # a page that is left before it was drawn was never there
                dashboard.choose_page("Explore")
            until(dashboard.page.get_by_text(messages.NOTHING_CHANGES_YET))
            assert names(dashboard) == []
            until(dashboard.page.locator(PREVIEW), "detached")


DROP = """([selector, text]) => {
  const area = document.querySelector(selector), dataTransfer = new DataTransfer()
  dataTransfer.items.add(new File([text], 'dropped.csv'))
  for (const kind of ['dragenter', 'dragover', 'drop'])
    area.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }))
}"""


def test_a_file_is_dropped_and_one_of_the_largest_size_arrives_whole(visit, tmp_path):
    dashboard = visit().open()
    dashboard.tab("Your data")
    area = "[data-testid=stFileUploaderDropzone]"
    until(dashboard.page.locator(area))
    dashboard.page.evaluate(DROP, [area, ONE.decode()])
    until(dashboard.page.locator(PREVIEW, has_text="X, 2 × 4"))
    assert names(dashboard) == ["dropped.csv"]
    last = b"1 2 3\n4 5 6\n"
    note = b"# " + b"x" * (MAX_FILE - len(last) - 3) + b"\n"
    (tmp_path / "full.txt").write_bytes(note + last)
    (tmp_path / "over.txt").write_bytes(note + last + b"\n")
    dashboard.choose_file(tmp_path / "full.txt")
    until(dashboard.page.locator(PREVIEW, has_text="X, 2 × 3"))
    dashboard.choose_file(tmp_path / "over.txt")
    large = messages.TOO_MANY_BYTES.format(place="over.txt", found="8,388,609", limit="8,388,608")
    until(dashboard.page.locator(".said.refused", has_text=large))
    dashboard.upload("one.csv", ONE)
    until(dashboard.page.locator(PREVIEW, has_text="X, 2 × 4"))


def test_a_file_that_is_too_large_is_not_sent_and_lines_of_python_stand_below(visit, tmp_path):
    file = tmp_path / "large.safetensors"
    with file.open("wb") as grows:
        grows.truncate(3 * 10**9)
    dashboard, sent = visit(), []
    dashboard.page.on("request", lambda request: sent.append(request.method))
    dashboard.open()
    dashboard.upload("one.csv", ONE)
    until(dashboard.page.locator(PREVIEW))
    sent.clear()
    dashboard.choose_file(file)
    until(dashboard.page.locator(ROOM, has_text="File must be 18.0MB or smaller."))
    assert "PUT" not in sent
    dashboard.page.get_by_text(upload.INSTEAD).click()
    lines = dashboard.page.locator(".st-key-dock_content pre")
    until(lines)
    assert lines.inner_text().strip() == upload.LINES["load_file"]


def test_an_upload_that_does_not_arrive_leaves_what_is_open(visit):
    dashboard, on_the_way = visit().open(), []
    page, before = dashboard.page, dashboard.numbers("X")

    def upload_for_ever() -> None:  # as nobody answers
        asked = len(on_the_way)
        page.route("**/upload_file/**", lambda route: on_the_way.append(route), times=1)
        dashboard.upload("slow.npz", b"PK")
        until(page.locator(CHIPS, has_text="slow.npz"))
        while len(on_the_way) == asked:
            page.wait_for_timeout(POLL)

    upload_for_ever()
    page.get_by_role("button", name="Cancel upload of slow.npz").click()
    until(page.locator(CHIPS), "detached")
    until(page.get_by_text(messages.NOTHING_CHANGES_YET))
    upload_for_ever()
    dashboard.upload("two.csv", TWO)  # over one that is still on its way
    until(page.locator(PREVIEW, has_text="X, 3 × 4"))
    assert names(dashboard) == ["two.csv"]
    assert np.array_equal(dashboard.numbers("X"), before)
