"""Numbers next to a matrix that are none of it: read as what they are, or refused."""

import numpy as np
import pytest

from attention.limits import BadInput
from attention.readers.entry import ALONE
from attention.readers.texts import entries

ROWS = np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0.33, 0.33, 0.34]])
WORDS = ["the", "cat", "sat"]


def text(before="", after="", separator=" ", decimals=2, head=()) -> str:
    """Write the rows with something before and after each; ``{i}`` counts, ``{w}`` is a word."""
    rows = [
        before.format(i=i, k=i + 1, w=WORDS[i])
        + separator.join(f"{value:.{decimals}f}" for value in row)
        + after.format(s=f"{row.sum():.2f}")
        for i, row in enumerate(ROWS)
    ]
    return "\n".join([*head, *rows])


def refused(text) -> str:
    with pytest.raises(BadInput) as problem:
        for entry in entries(text, "it").values():
            entry.read()
    assert len(str(problem.value)) <= 300
    return str(problem.value)


@pytest.mark.parametrize(
    ("before", "label"),
    [
        ("Head {i} ", "Head 0"),
        ("row {k} ", "row 1"),
        ("step {k}0 ", "step 10"),
        ("page 1{i} ", "page 10"),
        ("Head {i}: ", "Head 0:"),
        ("Head {i} | ", "Head 0 |"),
        ("Word {k} ({w}): ", "Word 1 (the):"),
        ("{w} ({i}) ", "the (0)"),
        ("q {i} = ", "q 0 ="),
        ("{w}: ", "the:"),
    ],
)
def test_the_number_in_a_label_is_no_number_of_the_row(before, label):
    entry = entries(text(before), "it")[ALONE]
    assert entry.read().tolist() == ROWS.tolist()
    assert entry.rows[0] == label


@pytest.mark.parametrize("separator", [",", ", ", "\t", ";"])
def test_a_label_in_a_cell_may_end_in_a_number(separator):
    entry = entries(text("Row {k}" + separator, separator=separator), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows[2]) == (ROWS.tolist(), "Row 3")


@pytest.mark.parametrize("separator", [",", ", ", ";"])
@pytest.mark.parametrize("before", ["{w}: ", "{w} = ", "{w} | ", "Head {i}: ", "loss=", "{w},1,"])
def test_a_label_that_took_the_first_number_is_refused(before, separator):
    if before == "{w},1,":
        separator = " "
    assert "before its last numbers" in refused(text(before, separator=separator))


@pytest.mark.parametrize("separator", [" ", ",", ", ", "\t", ";"])
@pytest.mark.parametrize("before", ["{i}", "{k}", "1{i}", "{k}."])
@pytest.mark.parametrize("decimals", [2, 4])
def test_a_column_that_numbers_the_rows_is_refused(before, separator, decimals):
    said = refused(text(before + separator, separator=separator, decimals=decimals))
    assert "remove the numbers of the rows" in said


@pytest.mark.parametrize("name", ["#", "No.", "row", "Head", "epoch"])
@pytest.mark.parametrize("form", ["csv", "markdown"])
def test_a_column_that_is_called_a_number_of_rows_labels_them(name, form):
    if form == "csv":
        head, separator = [f'"{name}",a,b,c'], ","
    else:
        head, separator = [f"{name} | a | b | c", "--|--|--|--"], " | "
    entry = entries(text("{k}" + separator, separator=separator, head=head), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (ROWS.tolist(), ("1", "2", "3"))


def test_a_first_column_of_whole_numbers_that_counts_is_said():
    entry = entries("1 1 0\n2 0 1\n3 2 2", "it")[ALONE]
    assert entry.shape == (3, 3)
    assert entry.remark == "The first column counts; if it numbers the rows, remove it."


@pytest.mark.parametrize("text", ["1 2\n3 4", "0 1\n1 0", "0 0.5\n1 0.25", "25 0.3\n40 0.8"])
def test_few_rows_that_count_are_numbers(text):
    entry = entries(text, "it")[ALONE]
    assert (entry.shape, entry.remark) == ((2, 2), "")


@pytest.mark.parametrize(
    "after", [" | sum {s}", " sum {s}", " sum: {s}", " = {s}", " -> {s}", " | {s}", " ± 0.01"]
)
@pytest.mark.parametrize("before", ["{w} ", "Head {i} ", "Head {i}: ", ""])
def test_a_number_after_the_row_is_refused(before, after):
    assert refused(text(before, after))


@pytest.mark.parametrize(
    "line",
    [
        "q1 · k1 = 2*-1 + 0*3 = -8",
        "q1.k1 = -8",
        "epoch 1 loss 0.5",
        "epoch 1 loss 0.5 acc 0.9",
        "epoch: 1 loss: 0.5",
        "In [3]: 5",
        "Out[3]: 5",
        "d_k = 4",
        "d_k: 4\nloss: 0.5",
        "Sum of row 1: 1.0",
        "mean 0.5 std 0.1",
        "shape: 2 3",
        "pages 1 - 2",
        "from 1 to 5",
        "cat 2 / 3",
        "cat 1.2 × 10 3",
        "cat 1.2 x10^3 4",
        "a 1.5 ± 0.1",
        "cat 3 cm 4",
        "cat $ 5",
        "cat 50 % 25",
        "cat 1/2 0.5",
        "at 12:30 5",
        "INFO 2024-01-02 loss 0.5",
        "cat 0.5 [1] 0.3",
        "a 1 b 2\nc 3 d 4",
        "x = 1, 2, 3",
        "the 0.5 cat 0.25 sat 0.25",
        "a 1 2 | 3\nb 3 4 | 7",
        "1 2 | 3\n3 4 | 7",
        "| 1 | 2 |\n| 3 | 4 |",
        "- 0.5 0.3\n- 0.2 0.7",
        "Head 0 0.34 0.09 0.20 0.37",
        "Head 0 1 2\nHead 1 3 4",
        "10^3 *\n1 2\n3 4",
        "x10^3\n1 2\n3 4",
        "Weights\n1 2\n3 4",
        "Step 1:\n1 -2 3\n4 5 -6",
        "1 2\n1 -2 3\n4 5 -6",
        "the [1 2] 3\ncat [3 4] 7",
        "# Q\n1 2\n3 4\n# K\n5 6\n7 8",
    ],
)
def test_a_line_that_is_no_row_is_refused(line):
    refused(line)


@pytest.mark.parametrize("title", ["Attention weights", "Step 1:", "shape: (3, 3)", "12:00:01"])
def test_a_title_above_rows_is_passed_over(title):
    rows = "0.5 0.25 0.25 0\n0.1 0.2 0.7 0\n0.33 0.33 0.34 0"
    assert entries(f"{title}\n{rows}", "it")[ALONE].shape == (3, 4)


@pytest.mark.parametrize("word", [". . .", "at name@domain.com", "1,000", "=", "-", "|", "1999"])
def test_words_of_word_vectors_stay_labels(word):
    entry = entries(f"the 0.1 0.2\n{word} 0.3 0.4\nof 0.5 0.6", "it")[ALONE]
    assert (entry.rows[1], entry.read()[1].tolist()) == (word, [0.3, 0.4])
