"""Tables without brackets below lines that name them."""

import numpy as np
import pandas as pd
import pytest

from attention.limits import MAX_BLOCKS, BadInput
from attention.readers.cells.entry import ALONE
from attention.readers.texts.texts import entries

ARRAYS = {"K": [[1, 0, 2], [0, 1, 1]], "Q": [[1, 1, 1], [2, 2, 2]], "V": [[3, 3, 3], [4, 5.5, 4]]}
LABELS = ["{}", "{}:", "{} =", "## {}", "# {}", "{}\t\t", "{};;", "{}:\n", "{}\n"]


def text_of(label: str, cell: str = " ", row: str = "\n", between: str = "\n\n") -> str:
    return between.join(
        label.format(name) + "\n" + row.join(cell.join(map(str, line)) for line in rows)
        for name, rows in ARRAYS.items()
    )


def check(text: str) -> None:
    found = entries(text, "it")
    assert {name: entry.read().tolist() for name, entry in found.items()} == ARRAYS
    assert list(found) == list(ARRAYS)
    assert not any("behind" in entry.remark for entry in found.values())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("cell", [" ", "\t", ";", ",", ", "])
@pytest.mark.parametrize("label", LABELS)
def test_each_table_is_called_as_the_line_above_it(label, cell, end):
    check(text_of(label, cell).replace("\n", end))


def test_decimal_commas_below_labels():
    check(text_of("{}", ";").replace(".", ","))
    check(text_of("{}:", "  ").replace("1", "1.0").replace("2", "2.0").replace(".", ","))


@pytest.mark.parametrize("mark", [":", " ="])
def test_a_marked_label_needs_no_empty_line_before_it(mark):
    check(text_of("{}" + mark, between="\n"))
    check("My printout\n\n" + text_of("{}" + mark, between="\n"))


def test_rows_and_columns_keep_their_names_below_a_label():
    found = entries("Q\nthe cat\n1 2\n3 4\n\nK:\na 5 6\nb 7 8", "it")
    assert found["Q"].columns == ("the", "cat") and not found["Q"].rows
    assert found["K"].rows == ("a", "b")


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("label", ["Weights:", "Weights", "# Weights"])
@pytest.mark.parametrize("names", [{}, {"columns": ["the", "cat"]}, {"index": ["the", "cat"]}])
def test_a_frame_below_a_label(label, names, header):
    frame = pd.DataFrame([[1.5, 2], [4, 5]], **names)
    for text in (frame.to_string(header=header), frame.rename_axis("of").to_string()):
        alone = entries(text, "it")[ALONE]
        entry = entries(f"{label}\n{text}", "it")["Weights"]
        assert np.array_equal(entry.read(), alone.read())
        assert (entry.rows, entry.columns) == (alone.rows, alone.columns)


def test_a_word_above_one_column_names_it():
    assert list(entries("x\n1\n2\n\nx\n3\n4", "it")) == [ALONE]
    assert list(entries("word\nthe 1 2\ncat 3 4", "it")) == [ALONE]


def test_a_table_without_a_label_beside_others_has_a_number():
    found = entries("1 2\n3 4\nK:\n5 6\n7 8\n\n9 1\n2 3", "it")
    assert {name: entry.read()[0, 0] for name, entry in found.items()} == {
        "numbers 1": 1,
        "K": 5,
        "numbers 3": 9,
    }


def test_a_line_that_is_refused_is_counted_in_the_whole_text():
    found = entries("Q:\n1 2\n3 4\n\nK:\n\n1 2\n3 x\n", "it")
    with pytest.raises(BadInput, match="it, line 8, column 2 holds “x”"):
        found["K"].read()


def test_labels_that_are_too_many_or_repeated_are_refused():
    with pytest.raises(BadInput, match="it holds Q twice."):
        entries("Q:\n1 2\nQ:\n3 4", "it")
    text = "\n".join(f"w{chr(97 + k // 26)}{chr(97 + k % 26)}:\n1 2" for k in range(MAX_BLOCKS + 1))
    with pytest.raises(BadInput, match=f"it holds {MAX_BLOCKS + 1} arrays; at most {MAX_BLOCKS}"):
        entries(text, "it")


@pytest.mark.parametrize("above", ["Gewichte:\n", "", "a b c\n"])
@pytest.mark.parametrize("last", ["Summe 1,000", "sum: 1,0"])
def test_another_line_below_rows_with_decimal_commas_is_named(above, last):
    text = above + "0,168 0,565 0,267\n0,268 0,465 0,267\n0,368 0,365 0,267\n"
    (entry,) = entries(text, "it").values()
    assert entry.read()[2].tolist() == [0.368, 0.365, 0.267]
    line = text.count("\n") + 1
    with pytest.raises(BadInput) as problem:
        entries(text + last, "it")
    assert str(problem.value) == (
        f"it, line {line}: “{last}” is not like the rows above it; remove it."
    )
