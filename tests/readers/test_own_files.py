"""What the page makes opens again to the same numbers, or is answered by what to open instead."""

from dataclasses import replace

import numpy as np
import pytest

from attention.exports.formats import FORMATS, PageContents, everything
from attention.limits import BadInput
from attention.readers.opening import opened
from attention.session import changes
from attention.session.examples import EXAMPLES
from attention.session.run import run, view
from attention.session.validate import check

HEAD = "stage,row,column,row_label,column_label,value,item,head,origin\n"
INSTEAD = "which is not read; save “The state as a file” and open its state.json."


@pytest.fixture(scope="module")
def page() -> PageContents:
    """Two heads, the second one shown, with W_O."""
    s = changes.set_output_weights(EXAMPLES["sentence"].build(), True)
    s = check(replace(s, head=1, mask="causal"))
    trace = run(s)
    return PageContents(s, trace, view(s, trace), "A title", list)


@pytest.mark.parametrize("form", ["csv", "matrices", "json", "latex", "markdown"])
def test_tables_and_texts_of_two_heads_hold_the_inputs_of_both(page, form):
    found = opened(FORMATS[form].filename, FORMATS[form].write(page))
    exact = form not in ("latex", "markdown")
    for name, matrix in page.settings.matrices.items():
        read = found[name].read()
        assert read.shape == matrix.shape, name
        assert np.allclose(read, matrix.values, rtol=0, atol=0 if exact else 0.005), name
    assert found["X"].rows == page.settings.tokens or form == "latex"
    said = (
        "These numbers are rounded to 2 digits, as their file says; the state as a file is exact."
    )
    assert all((entry.remark == said) is not exact for entry in found.values())


def test_cells_of_two_heads_of_one_stage_stand_beside_each_other():
    lines = ["W_Q,1,1,1,1,5,,2,", "W_Q,1,1,1,1,-3,,1,", "W_Q,2,1,2,1,4,,1,", "W_Q,2,1,2,1,6,,2,"]
    found = opened("c.csv", (HEAD + "\n".join(sorted(lines))).encode())
    assert found["W_Q"].read().tolist() == [[-3, 5], [4, 6]]
    assert found["W_Q"].remark == "W_Q: its 2 heads stand beside each other."


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("X,1,1,a,1,5,1,,\nX,1,1,a,1,5,1,,", "line 3: this cell of X stands there twice."),
        ("X,1,1,a,1,5,1,,\nX,1,1,a,1,5,2,,", "line 3: X is of several items; keep one."),
        ("X,0,1,a,1,5,1,,", "line 2, column row: “0” is no number from 1."),
        (
            "X,2,1,a,1,5,1,,",
            "X has 1 lines, and 2 × 1 cells are wanted; some are missing.",
        ),
    ],
)
def test_what_is_wrong_among_the_cells_is_said_in_a_sentence(lines, sentence):
    with pytest.raises(BadInput) as refused:
        opened("c.csv", (HEAD + lines).encode())
    assert str(refused.value) == f"c.csv, {sentence}"


@pytest.mark.parametrize(
    ("form", "what"),
    [("python", "Python script"), ("notebook", "notebook"), ("report", "report")],
)
def test_what_holds_no_arrays_is_answered_by_what_to_open(page, form, what):
    name = FORMATS[form].filename
    with pytest.raises(BadInput) as refused:
        opened(name, FORMATS[form].write(page))
    assert str(refused.value) == f"{name} is the {what} that this page makes, {INSTEAD}"


def test_the_zip_is_answered_by_the_file_inside_that_opens(page):
    with pytest.raises(BadInput) as refused:
        opened("all.zip", list(everything(replace(page, stages=())))[-1][2])
    assert str(refused.value) == (
        "all.zip is the zip that this page makes; unpack it and open the state.json in it."
    )
