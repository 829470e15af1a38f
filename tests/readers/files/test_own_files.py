"""What the page makes opens again to the same numbers, or is answered by what to open instead."""

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from attention.exports import formats
from attention.exports.formats import FORMATS, PageContents, everything
from attention.limits import BadInput
from attention.readers.cells.entry import PASTED
from attention.readers.files import own_files
from attention.readers.files.own_files import state_in
from attention.readers.opening import opened
from attention.readers.select import Selection, gather
from attention.session.bring import adopt
from attention.session.edit import changes
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.validate import check

INSTEAD = "which is not read; save “Save state (.json)” and open its state.json."


@pytest.fixture(scope="module")
def page() -> PageContents:
    """Two heads, the second one shown, with W_O."""
    s = changes.set_output_weights(EXAMPLES["sentence"].build(), True)
    s = check(replace(s, head=1, mask="causal"))
    trace = run(s)
    return PageContents(s, trace, view(s, trace), "A title", list)


@pytest.mark.parametrize("form", ["matrices", "json", "markdown"])
def test_tables_and_texts_open_to_the_numbers_of_the_one_head(page, form):
    found = opened(FORMATS[form].filename, FORMATS[form].write(page))
    assert list(found) == list(page.view.stages)
    for name, matrix in page.view.stages.items():
        read = found[name].read()
        assert read.shape == matrix.shape, name
        error = 0.005 if form == "markdown" else 0
        assert np.allclose(read, matrix, rtol=0, atol=error), name
        assert found[name].heads is None
    assert found["W_Q"].shape[1] == page.settings.d_k == page.settings.shape("W_Q")[1] // 2
    assert found["X"].rows == page.settings.tokens


def test_small_numbers_in_e_notation_open_with_all_their_digits(page):
    """However small they are, half of the digits stay."""
    small = page.settings.matrices["X"]
    values = np.array(small.values) * 10.0 ** -np.arange(small.values.size).reshape(small.shape) / 3
    matrices = {**page.settings.matrices, "X": replace(small, values=values)}
    s = check(replace(page.settings, digits=8, matrices=matrices))
    shown = view(s, run(s))
    content = FORMATS["markdown"].write(PageContents(s, run(s), shown, "A title", list))
    assert "e−".encode() in content
    read = opened("x.md", content)["X"].read()
    assert np.allclose(read, values, rtol=5e-4, atol=0)


@pytest.mark.parametrize(
    ("form", "what"),
    [("python", "Python script"), ("notebook", "notebook"), ("report", "report")],
)
def test_what_holds_no_arrays_is_answered_by_what_to_open(page, form, what):
    name = FORMATS[form].filename
    with pytest.raises(BadInput) as refused:
        opened(name, FORMATS[form].write(page))
    assert str(refused.value) == f"{name} is the {what} that this page makes, {INSTEAD}"


@pytest.mark.parametrize("begin", ["import numpy", "X = ", "# The numbers that were on"])
def test_a_part_of_the_script_and_a_report_copied_out_of_a_browser_are_answered_too(page, begin):
    script = FORMATS["python"].write(page).decode()
    with pytest.raises(BadInput) as refused:
        opened(PASTED, script[script.index(begin) :].encode())
    assert str(refused.value) == f"the text is the code that this page makes, {INSTEAD}"
    rendered = "A title\n\nmade by\tattention-stages 0.4.0, 2026-11-22\t\nholds\thead 2 of 2\n"
    with pytest.raises(BadInput) as refused:
        opened(PASTED, f"{rendered}X = word embeddings\nthe\t0.00\t1.00\n".encode())
    assert str(refused.value) == f"the text is the report that this page makes, {INSTEAD}"


def test_the_number_of_heads_is_taken_over_from_an_npz(page):
    found = opened("stages.npz", FORMATS["npz"].write(page))
    picks = {name: (name, Selection()) for name in ("X", "W_Q", "W_K", "W_V")}
    one_head = EXAMPLES["four-words"].build()
    after, said = adopt.adopt(one_head, gather(found, picks, "it"))
    assert (one_head.heads, after.heads) == (1, 2)
    assert "2 heads share the columns of W_Q, as its file says." in said
    assert adopt.adopt(one_head, gather(found, picks, "it"), heads=4)[0].heads == 4


@pytest.fixture
def without_pictures(monkeypatch):
    """Drawing them takes seconds."""
    for name in ("_picture", "_figure"):
        monkeypatch.setattr(formats, name, lambda *_: b"")


def test_the_saved_state_in_the_zip_is_found_and_no_other(page, without_pictures):
    whole = list(everything(replace(page, stages=())))[-1][2]
    assert links.from_file(state_in(whole)) == page.settings
    assert state_in(whole[:-40]) == state_in(b"PK\x03\x04") == state_in(b"1 2") == b""
    for first in ("cells.csv", "cells_item1_head2.csv", "a.csv"):
        with zipfile.ZipFile(other := io.BytesIO(), "w") as archive:
            archive.writestr(first, "")
            archive.writestr("state.json", "{}")
        assert state_in(other.getvalue()) == (b"" if first == "a.csv" else b"{}")


def test_a_state_that_unpacks_to_more_than_is_read_is_passed_over(monkeypatch):
    with zipfile.ZipFile(bomb := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cells.csv", "")
        archive.writestr("state.json", b" " * 10_001)
    monkeypatch.setattr(own_files, "MAX_STATE", 10_001)
    assert len(state_in(bomb.getvalue())) == 10_001
    monkeypatch.setattr(own_files, "MAX_STATE", 10_000)
    assert state_in(bomb.getvalue()) == b""


def test_the_zip_is_answered_by_the_file_inside_that_opens(page, without_pictures):
    with pytest.raises(BadInput) as refused:
        opened("all.zip", list(everything(replace(page, stages=())))[-1][2])
    assert str(refused.value) == (
        "all.zip is the zip that this page makes; unpack it and open the state.json in it."
    )
