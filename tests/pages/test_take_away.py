"""Export on Explore: names of files, chosen stages, the zip beside the figure, citing."""

import io
import json
import re
import zipfile

import messages
import numpy as np
import pytest
from files import stored
from pages.conftest import link_of, ran, settings_of
from pages.test_explore import below, opened, uploaded
from pages.test_paper_page import figure_of

from attention.exports import citation
from attention.vocabulary.sentences import capital


def taking(**link):
    return below(opened(**(link or {"example": "sentence"})), "Export")


def test_files_of_one_head_are_named_by_it_and_those_of_all_are_not(offered):
    taking(example="sentence", head="1")
    assert {label: name for label, (name, _) in offered.items()} == {
        "CSV, one row per cell": "attention_sentence_cells_head1.csv",
        "CSV, matrices": "attention_sentence_matrices_head1.csv",
        "NPZ for NumPy": "attention_sentence_stages.npz",
        "JSON": "attention_sentence_stages_head1.json",
        "LaTeX": "attention_sentence_stages_head1.tex",
        "Markdown": "attention_sentence_stages_head1.md",
        "SVG, attention lines": "attention_sentence_who_looks_at_whom_head1.svg",
        "Python script": "attention_sentence_recompute.py",
        "Jupyter notebook": "attention_sentence_recompute.ipynb",
        "HTML report": "attention_sentence_report_head1.html",
        "Save state (.json)": "attention_sentence_state.json",
        "Save as PDF": "attention_sentence_head1.pdf",
        "Save as SVG": "attention_sentence_head1.svg",
        "Save as PNG": "attention_sentence_head1.png",
        "Download worksheet (HTML)": "attention_sentence_head1_worksheet.html",
    }


@pytest.mark.parametrize(
    ("heads", "name"),
    [("0", "attention_sentence_head0.pdf"), ("0.1", "attention_sentence_all_heads.pdf")],
)
def test_a_figure_is_named_by_the_heads_on_it(offered, heads, name):
    taking(example="sentence", head="1", paper_heads=heads)
    assert offered["Save as PDF"][0] == name


def test_one_head_alone_needs_no_name(offered):
    taking(example="four-words")
    names = [name for name, _ in offered.values()]
    assert not any("head" in name or "item" in name for name in names)


def test_tables_and_texts_hold_the_chosen_stages_and_the_others_all(offered):
    at = taking()
    ran(at.multiselect(key="set_text_stages").set_value(["weights", "scores"]))
    latex, markdown, csv, matrices, found = (
        offered[label][1]()
        for label in ("LaTeX", "Markdown", "CSV, one row per cell", "CSV, matrices", "JSON")
    )
    assert latex.count(rb"\[") == markdown.count(b"\n### ") == 2
    stages = {line.split(b",")[0] for line in csv.splitlines()[1:]}
    assert stages == {b"scores", b"weights"}
    assert [b.split(b",")[0] for b in matrices.split(b"\r\n\r\n")[1:3]] == [b"scores", b"weights"]
    assert list(json.loads(found)["stages"]) == ["scores", "weights"]
    assert b"W_Q = np.array" in offered["Python script"][1]()
    ran(at.multiselect(key="set_text_stages").set_value([]))
    assert len(json.loads(offered["JSON"][1]())["stages"]) > 8


def test_the_zip_holds_all_stages_whatever_the_texts_hold(offered):
    at = taking()
    ran(at.multiselect(key="set_text_stages").set_value(["weights"]))
    ran(at.button(key="build_zip").click())
    name, content = offered["Save the zip"]
    assert name == "attention_sentence_head0.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert len(json.loads(archive.read("stages_head0.json"))["stages"]) > 8
        assert {"figure_head0.png", "stages/weights_head0.png"} <= set(archive.namelist())


def test_a_file_is_named_in_what_is_taken_away_from_its_link_too(offered):
    at = opened()
    uploaded(at, "mine.npz", stored(W_Q=np.arange(16.0).reshape(4, 4), W_K=np.eye(4)))
    ran(at.button(key="load_use").click())
    visit, K = at.session_state["visit"], settings_of(at).matrices["W_K"]
    visit.settings = visit.settings.with_matrix("W_K", K.edited((0, 0), 7))
    taking(**link_of(ran(at)))
    example = messages.OF_AN_EXAMPLE.format(title="Four words, by hand")
    assert json.loads(offered["JSON"][1]())["about"]["inputs"] == {
        "X": example,
        "W_Q": "mine.npz, W_Q",
        "W_K": messages.CHANGED_BY_HAND.format(source="mine.npz, W_K"),
        "W_V": example,
    }


def test_building_a_zip_leaves_the_figure_that_was_made_before():
    at = taking()
    ran(at.text_input(key="set_paper_title").set_value("Mine"))
    drawn = figure_of(at)
    ran(at.button(key="build_zip").click())
    assert figure_of(at) is drawn
    labels = [button.proto.label for button in at.get("download_button")]
    assert {"Save as PDF", "Save as SVG", "Save as PNG", "Save the zip"} <= set(labels)


def test_how_to_cite_stands_there_to_copy():
    at = taking()
    texts = [code.value for code in at.code]
    assert texts == [citation.sentence(), citation.bibtex()]
    assert "How to cite" in [expander.label for expander in at.expander]


def test_a_worksheet_is_of_the_numbers_on_the_board_or_a_set_for_a_class(offered):
    at = taking(example="four-words", mask="causal")
    options = at.selectbox(key="set_worksheet_first").options
    assert options == ["Q, K, V", "scores", "scaled", "masked", "weights", "output"]
    ran(at.selectbox(key="set_worksheet_first").set_value("output"))
    ran(at.toggle(key="set_worksheet_key").set_value(False))
    page = offered["Download worksheet (HTML)"][1]().decode()
    assert page.count('<section class="task">') == 1 and "Answer key" not in page
    assert messages.OPEN_AND_PRINT in said_by(at)
    assert messages.KEYS_ON_OWN_PAGES not in said_by(at)
    ran(at.button_group(key="set_worksheet_numbers").set_value("a class set"))
    ran(at.number_input(key="set_worksheet_count").set_value(2))
    ran(at.number_input(key="set_worksheet_seed").set_value(9))
    assert messages.OPEN_AND_PRINT in said_by(at) and messages.KEYS_ON_OWN_PAGES in said_by(at)
    name, write = offered["Download worksheet (HTML)"]
    assert name == "attention_class_set_worksheet.html"
    assert re.findall(r"<span>Sheet \d+|made by seed \d+", write().decode()) == [
        "<span>Sheet 1",
        "made by seed 9",
        "<span>Sheet 2",
        "made by seed 10",
    ]


def test_why_there_is_no_worksheet_is_said_and_a_class_set_is_there_anyway():
    at = taking(example="three-widths")
    off = {b.key for b in at.get("download_button") if b.proto.disabled}
    assert off == {"take_worksheet"}
    why = messages.WORKSHEET_HAS_NO_ROOM.format(words=8, wide=8, name="X", size="5 × 10")
    assert capital(why) in said_by(at)
    ran(at.button_group(key="set_worksheet_numbers").set_value("a class set"))
    assert not any(b.proto.disabled for b in at.get("download_button"))


def said_by(at) -> str:
    return " ".join(one.proto.body for one in at.get("html"))
