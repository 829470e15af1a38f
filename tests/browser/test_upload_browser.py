"""Files uploaded, dropped, replaced, removed and lost on the way, in a real browser."""

import messages
import numpy as np
import pytest
from browser.dashboard import until

from attention.limits import MAX_FILE
from attention.pages import upload

CHIPS = "[data-testid=stFileChipName]"
ROOM = "[data-testid=stFileUploader]"
PREVIEW = ".st-key-dock_content table.numbers"
ONE, TWO = b"1,2,3,4\n5,6,7,8\n", b"word,a,b,c,d\ncat,9,8,7,6\ndog,5,4,3,2\nant,1,1,1,1\n"


def names(dashboard) -> list[str]:
    return dashboard.page.locator(CHIPS).all_inner_texts()


def slowed(dashboard, bytes_a_second: int) -> None:
    """Let uploads take their time; -1: none."""
    chromium = dashboard.page.context.new_cdp_session(dashboard.page)
    chromium.send("Network.enable")
    speed = {"offline": False, "latency": 0, "downloadThroughput": -1}
    chromium.send("Network.emulateNetworkConditions", speed | {"uploadThroughput": bytes_a_second})


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
                until(dashboard.page.locator("p.intro", has_text="as each framework would answer"))
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


@pytest.mark.parametrize("ends", ["removed", "replaced"])
def test_an_upload_that_does_not_arrive_leaves_what_is_open(visit, tmp_path, ends):
    run = tmp_path / "slow.npz"
    run.write_bytes(b"PK" + bytes(12 * 2**20))
    dashboard = visit().open()
    before = dashboard.numbers("X")
    dashboard.tab("Your data")
    until(dashboard.page.locator(ROOM))
    slowed(dashboard, 2**18)
    dashboard.choose_file(run)
    until(dashboard.page.locator(CHIPS, has_text="slow.npz"))
    if ends == "removed":
        dashboard.page.get_by_role("button", name="Remove slow.npz").click()
        until(dashboard.page.locator(CHIPS), "detached")
        until(dashboard.page.get_by_text(messages.NOTHING_CHANGES_YET))
    slowed(dashboard, -1)
    dashboard.upload("two.csv", TWO)
    until(dashboard.page.locator(PREVIEW, has_text="X, 3 × 4"))
    assert names(dashboard) == ["two.csv"]
    assert np.array_equal(dashboard.numbers("X"), before)
