"""Files chosen, dropped, changed for others and taken away, in a real browser."""

import json

import messages
import numpy as np
from browser.conftest import until
from safetensors.numpy import save as safetensors

from attention.limits import MAX_FILE
from attention.readers.other_files import answer

NAMES = ".st-key-load_file .chooser-name"
PREVIEW = ".st-key-dock_content table.numbers"
RNG = np.random.default_rng(8)
ONE, TWO = b"1,2,3,4\n5,6,7,8\n", b"word,a,b,c,d\ncat,9,8,7,6\ndog,5,4,3,2\nant,1,1,1,1\n"


def names(dashboard) -> list[str]:
    return dashboard.page.locator(NAMES).all_inner_texts()


def test_a_file_gives_way_to_the_next_stays_beneath_back_and_can_be_taken_away(visit):
    dashboard = visit().open(example="four-words")
    dashboard.upload("one.csv", ONE)
    until(dashboard.page.locator(PREVIEW, has_text="X, 2 × 4"))
    dashboard.upload("two.csv", TWO)
    until(dashboard.page.locator(PREVIEW, has_text="X, 3 × 4"))
    assert names(dashboard) == ["two.csv"]
    dashboard.upload("two.csv", TWO)  # over itself
    until(dashboard.page.locator(NAMES, has_text="two.csv"))
    dashboard.use()
    dashboard.after(dashboard.page.go_back)
    assert names(dashboard) == ["two.csv"]
    dashboard.use()
    assert dashboard.numbers("X").tolist() == [[9, 8, 7, 6], [5, 4, 3, 2], [1, 1, 1, 1]]
    dashboard.page.get_by_role("button", name="Take two.csv away").click()
    until(dashboard.page.get_by_text(messages.NOTHING_CHANGES_YET))
    assert names(dashboard) == []
    assert dashboard.page.evaluate("() => document.activeElement.type") == "file"
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


def test_the_first_bytes_of_three_gigabytes_are_answered_and_several_files_can_be_chosen(
    visit, tmp_path
):
    part = "model.layers.{}.self_attn.{}_proj.weight"
    names_in_it = [part.format(layer, name) for layer in (7, 8) for name in "qkv"]
    header = {
        name: {"dtype": "F32", "shape": [4, 4], "data_offsets": [64 * k, 64 * k + 64]}
        for k, name in enumerate(names_in_it)
    }
    text = json.dumps(header).encode()
    head, size = len(text).to_bytes(8, "little") + text, 3 * 10**9
    file = tmp_path / "large.safetensors"
    file.write_bytes(head)
    with file.open("r+b") as grows:
        grows.truncate(size)
    dashboard, sent = visit(), []
    dashboard.page.on("websocket", lambda s: s.on("framesent", lambda b: sent.append(len(b))))
    dashboard.open()
    dashboard.tab("Your data")
    dashboard.page.locator(".st-key-load_file input").set_input_files(file)
    told = answer(file.name, head, size)
    until(dashboard.page.locator(".said.refused", has_text=str(told)))
    assert dashboard.page.locator(".st-key-dock_content pre").inner_text().strip() == told.code
    assert max(sent) < 2e6
    assert dashboard.page.locator(".chooser-size").inner_text() == "3 GB"

    tensors = {f"W_{name}": RNG.standard_normal((8, 8)).astype(np.float32) for name in "QKV"}
    kind = "application/octet-stream"
    files = [("config.json", b"{}"), ("vocab.txt", b"a\nb\n")]
    files.append(("model.safetensors", safetensors(tensors)))
    payload = [{"name": name, "mimeType": kind, "buffer": content} for name, content in files]
    dashboard.page.locator(".st-key-load_file input").set_input_files(payload)
    left = messages.ONE_FILE_AT_A_TIME.format(names="config.json, vocab.txt")
    until(dashboard.page.locator(".said.flag", has_text=left))
    until(dashboard.page.locator(PREVIEW, has_text="W_Q, 8 × 8"))
    assert names(dashboard) == [name for name, _ in files]


def test_the_chooser_is_opened_with_the_keyboard_and_read_out_by_its_label(visit):
    dashboard, opened = visit(), []
    # from the beginning, as Chromium hears of it late
    dashboard.page.on("filechooser", lambda chooser: opened.append(chooser))
    dashboard.open()
    dashboard.tab("Your data")
    dashboard.page.get_by_role("button", name="Read it").focus()
    dashboard.idle()
    dashboard.page.keyboard.press("Tab")
    chooser = dashboard.page.get_by_label("Choose a file, or drop it here")
    assert chooser.evaluate("node => node === document.activeElement")
    dashboard.page.keyboard.press("Enter")
    for _ in range(400):
        if not opened:
            dashboard.page.wait_for_timeout(50)
    opened[0].set_files({"name": "one.csv", "mimeType": "text/csv", "buffer": ONE})
    until(dashboard.page.locator(PREVIEW, has_text="X, 2 × 4"))


UNREADABLE = """() => {
  FileReader.prototype.readAsDataURL = () => { throw new Error('it was moved') } }"""
DROP = """([selector, text]) => {
  const area = document.querySelector(selector), dataTransfer = new DataTransfer()
  dataTransfer.items.add(new File([text], 'dropped.csv'))
  for (const kind of ['dragenter', 'dragover', 'drop'])
    area.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }))
}"""


def test_a_file_is_dropped_on_the_chooser_and_stays_before_one_that_cannot_be_read(visit):
    dashboard = visit().open()
    dashboard.tab("Your data")
    until(dashboard.page.locator(".chooser-area"))
    dashboard.page.evaluate(DROP, [".chooser-area", ONE.decode()])
    until(dashboard.page.locator(PREVIEW, has_text="X, 2 × 4"))
    assert names(dashboard) == ["dropped.csv"]
    dashboard.page.evaluate(UNREADABLE)
    dashboard.upload("two.csv", TWO)
    until(dashboard.page.locator(".chooser-status", has_text="it was moved"))
    assert dashboard.page.locator(".chooser-status").inner_text() == (
        messages.UNREADABLE_BY_THE_BROWSER.format(name="two.csv", why="it was moved")
    )
    assert names(dashboard) == ["dropped.csv"]


def test_a_file_of_the_largest_size_arrives_whole(visit, tmp_path):
    dashboard = visit().open()
    rows = b"w 1 2\n" * 3 + b"# " + b"x" * 100 + b"\n"
    last = b"1 2 3\n4 5 6\n"
    note = b"# " + b"x" * (MAX_FILE - len(last) - 3) + b"\n"
    (tmp_path / "full.txt").write_bytes(note + last)
    (tmp_path / "over.txt").write_bytes(note + last + b"\n")
    dashboard.choose_file(tmp_path / "full.txt")
    until(dashboard.page.locator(PREVIEW, has_text="X, 2 × 3"))
    dashboard.choose_file(tmp_path / "over.txt")
    large = messages.TOO_MANY_BYTES.format(place="over.txt", found="8,388,609", limit="8,388,608")
    until(dashboard.page.locator(".said.refused", has_text=large))
    dashboard.upload("words.txt", rows)
    until(dashboard.page.locator(PREVIEW, has_text="X, 3 × 2"))
