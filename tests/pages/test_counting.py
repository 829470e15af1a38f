"""Heads and items count from 0 wherever a person reads them: all pages, all files, all figures."""

import io
import json
import re
import zipfile
from dataclasses import replace

import messages
import numpy as np
import pandas
import pytest
from pages.conftest import ran, sent, settings_of
from pages.test_check_page import opened, panes
from pages.test_explore import below

from attention.exports.paper import about, figure_of
from attention.exports.worksheet import Wanted, sheets_of
from attention.pages.frame.navigation import PAGES
from attention.session.compare import pair
from attention.session.edit import changes
from attention.session.state import links
from attention.session.state.examples import EXAMPLES, OWN
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.validate import check
from attention.session.teach import tour
from attention.session.teach.exercise import faded

# what nothing of two heads and two items may say: there is no second of them, and no first of two
FROM_ONE = re.compile(r"(?i)(?<![a-z])(?:head|item)s?[ _]?2(?![0-9])|(?:head|item) \d of [12]\b")
BOTH = "item 1 of 0–1, head 1 of 0–1"
PARTS = ("Lines", "Spread", "Initialise", "Your data", "Export")


def two_heads(**others):
    """A batch of two items with two heads; the second of each is looked at."""
    X = np.round(np.random.default_rng(1).normal(size=(2, 4, 4)), 1)
    s = replace(EXAMPLES["four-words"].build(), example=OWN, names={}).with_matrix("X", Matrix(X))
    s = changes.set_sinks(changes.set_output_weights(changes.set_heads(s, 2), True), True)
    look = {"head": 1, "item": 1, "cell": ("joined", 0, 1), "mask": "causal", "context": True}
    return check(replace(s, **look | others))


def shown(s, page="explore"):
    return opened(f"attention/pages/{page}.py", **links.write(s))


def words_of(name: str, content: bytes) -> str:
    """What a person reads in a file; of a notebook also the text of its cells."""
    if name.endswith(".npz"):
        with np.load(io.BytesIO(content)) as arrays:
            return "\n".join(arrays["about"])
    if name.endswith(".ipynb"):
        return "".join(part for cell in json.loads(content)["cells"] for part in cell["source"])
    return content.decode(errors="replace")


def never_from_one(text: str) -> None:
    assert [text[max(m.start() - 60, 0) : m.end() + 20] for m in FROM_ONE.finditer(text)] == []


# Real model speaks of MiniLM's heads, of which there is a head 2
@pytest.mark.parametrize("page", [file[:-3] for file, *_ in PAGES.values() if file[0] != "r"])
def test_no_page_calls_a_head_or_an_item_by_the_next_number(page):
    at = shown(two_heads(), page)
    text = sent(at)
    assert settings_of(at).head == settings_of(at).item == 1
    if page in ("explore", "conventions"):
        assert "head 1 of 0–1" in text
    if page in ("explore", "compare"):  # above the board, or in its pictures
        assert "item 1 of 0–1" in text
    never_from_one(text)


@pytest.mark.parametrize("part", PARTS)
def test_no_part_below_the_board_calls_a_head_by_the_next_number(part):
    at = below(shown(two_heads()), part)
    if part == "Initialise":
        ran(at.selectbox(key="set_matrix").set_value("X"))
    text = sent(at)
    never_from_one(text)
    if part == "Initialise":
        assert messages.ONLY_ITEM_IS_FILLED.format(item=1) in text


def test_the_controls_of_heads_and_items_offer_their_numbers_from_0():
    at = shown(two_heads())
    at.session_state["real_layers"] = True
    at = below(at, "Export")
    for key in ("set_head", "set_paper_heads"):
        assert at.button_group(key=key).options == ["0", "1"]
    item = at.number_input(key="set_item")
    assert (item.min, item.max, item.value) == (0, 1, 1)
    assert "Sink of head 1" in [control.label for control in at.number_input]
    ran(item.set_value(0))
    ran(at.button_group(key="set_head").set_value(0))
    assert (settings_of(at).item, settings_of(at).head) == (0, 0)


def test_panes_are_titled_and_saved_by_the_number_of_their_head():
    for pane in panes(shown(two_heads())).values():
        assert pane["filename"].endswith("_head1")
        assert pane["title"].endswith("· head 1")


def test_no_file_calls_a_head_or_an_item_by_the_next_number(offered):
    at = below(shown(two_heads()), "Export")
    ran(at.button(key="build_zip").click())
    files = {name: data() if callable(data) else data for name, data in offered.values()}
    with zipfile.ZipFile(io.BytesIO(files["attention_own_item1_head1.zip"])) as archive:
        files |= {f"zip/{name}": archive.read(name) for name in archive.namelist()}
    for name, content in files.items():
        never_from_one(name)
        text = words_of(name, content)
        never_from_one(text)
        if "_head1" in name and not name.endswith((".zip", ".png", ".pdf")):
            assert BOTH in text.replace('",\n  "head": "', ", "), name
    table = pandas.read_csv(io.BytesIO(files["attention_own_cells_item1_head1.csv"]))
    for column in ("item", "head"):
        assert set(table[column].dropna()) == {1}
    found = json.loads(files["attention_own_stages_item1_head1.json"])
    assert (found["head"], found["heads"]) == (1, 2)
    assert (found["about"]["item"], found["about"]["head"]) == tuple(BOTH.split(", "))


def test_a_figure_of_both_heads_has_their_numbers():
    s = two_heads(paper_heads=(0, 1))
    figure = figure_of(s, run(s))
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles[:2] == ["(a) head 0", "(b) head 1"]
    assert about(s).suffix == "_item1_all_heads"
    assert figure.about.startswith("item 1 of 0–1, all 2 heads; ")


def test_compare_and_its_files_have_the_numbers_of_both_sides(offered):
    both = pair.compared(pair.Pair(two_heads(head=0, item=0), two_heads()))
    at = shown(both, "compare")
    assert "<li>item: 0 → 1</li><li>head: 0 → 1</li>" in sent(at)
    never_from_one(sent(at))
    ran(at.button_group(key="set_below_compare").set_value("Export"))
    for name, write in offered.values():
        never_from_one(text := words_of(name, write()))
        if not name.endswith(".json"):
            assert "A: item 0 of 0–1, head 0 of 0–1" in text
            assert f"B: {BOTH}" in text


def test_an_exercise_on_ones_own_numbers_and_its_sheet_name_the_head(offered):
    s = two_heads(exercise="state", cell=None)
    s = replace(s, asked=faded(view(s, run(s)), 2, 1))
    at = shown(s, "exercises")
    never_from_one(sent(at))
    _, write = offered["Download worksheet (HTML)"]
    assert b"Head 1 of 0\xe2\x80\x931." in write()
    (sheet,) = sheets_of(Wanted("scores"), s)
    assert "Head 1 of 0–1." in sheet.notes and BOTH in sheet.about


def test_check_yours_offers_the_heads_by_their_numbers():
    at = opened(example="sentence", mask="causal")
    at = ran(at.selectbox(key="set_check_plant").set_value(messages.OVER_QUERIES))
    at = ran(at.button(key="check_planted").click())
    assert at.button_group(key="set_check_head").options == ["0", "1"]
    never_from_one(sent(at))


@pytest.mark.parametrize("example", ["sentence", "alibi", "grouped", "trained-it"])
def test_what_to_notice_in_an_example_names_the_heads_that_are_offered(example):
    notice = EXAMPLES[example].notice
    heads = EXAMPLES[example].build().heads
    named = re.findall(r"[Hh]eads? (\d+)(?: and (\d+))?", notice)
    named = {int(number) for both in named for number in both if number}
    assert named <= set(range(max(heads, 2))) and named
    assert "counted from" not in notice


def test_the_tour_asks_for_the_head_that_it_then_finds():
    begun = tour.Now(tour.go(EXAMPLES["four-words"].build(), 8))
    expected = re.escape(messages.TOUR_ASKS_HEADS.format(heads=2, head="HEAD"))
    wanted = int(re.search(expected.replace("HEAD", r"(\d+)"), tour.reply(begun, begun).text)[1])
    two = changes.set_heads(begun.s, 2)
    assert tour.reply(begun, tour.Now(replace(two, head=wanted))).kind == "done"
    assert tour.reply(begun, tour.Now(replace(two, head=0))).kind == "ask"
