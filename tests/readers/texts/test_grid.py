"""Tables in Markdown: this page's own, pandas' and those of others, by their headings."""

from dataclasses import replace

import messages
import numpy as np
import pytest
from amount import few
from build import read, refused

from attention.exports.text import to_markdown
from attention.readers.cells.entry import ALONE
from attention.readers.texts import grid
from attention.readers.texts.texts import entries
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view

TWO = [[0.5, -1.25], [3, 4]]


@pytest.mark.parametrize("example", few(EXAMPLES))
def test_markdown_of_this_page_is_read_with_its_digits(example):
    settings = EXAMPLES[example].build()
    shown = view(settings, run(settings))
    found = entries(to_markdown(shown, 3).decode(), "it")
    assert list(found) == list(shown.stages)
    for name, matrix in shown.stages.items():
        values = found[name].read()
        assert values.shape == matrix.shape
        finite = np.isfinite(matrix)
        assert np.array_equal(values[~finite], matrix[~finite])
        error = np.abs(values[finite] - matrix[finite])
        assert (error <= 0.0005 + 1e-3 * np.abs(matrix[finite])).all()
        assert (found[name].rows, found[name].remark) == (tuple(shown.rows(name)), "")


def test_tokens_come_back_out_of_markdown_as_they_were():
    tokens = ("a|b", "*c*", "d_e", "`f`")
    settings = replace(EXAMPLES["four-words"].build(), tokens=tokens)
    text = to_markdown(view(settings, run(settings))).decode()
    assert entries(text, "it")["X"].rows == tokens


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("| a | b |\n|:--|--:|\n| 0.5 | -1.25 |\n| 3 | 4 |", ALONE),
        ("## Mine\n\na | b\n--|--\n0.5 | −1.25\n3 | 4", "Mine"),
    ],
)
def test_tables_of_others_are_read(text, name):
    assert read(text) == {name: TWO}


def test_markdown_with_labels_has_tokens():
    entry = entries("| word | x |\n|---|---|\n| **cat** | 1 |\n| dog | 2 |", "it")[ALONE]
    assert (entry.rows, entry.read().tolist()) == (("cat", "dog"), [[1], [2]])
    entry = entries("| token_id | x |\n|---|---|\n| 101 | 1 |\n| 7 | 2 |", "it")[ALONE]
    assert (entry.rows, entry.read().tolist()) == (("101", "7"), [[1], [2]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "| a |\n|---|\n| x1 2 |",
            messages.NOT_A_NUMBER.format(place="it, line 3, column 1", found="x1 2"),
        ),
        (
            "| a | b |\n|--|--|\n| 1 | 2 |\n| 3 |",
            messages.ROW_LENGTH.format(place="it", line=4, found=1, plural="", expected=2, first=3),
        ),
        (
            "# Q\n|a|\n|--|\n|1|\n\n# Q\n|a|\n|--|\n|2|",
            messages.NAME_TWICE.format(place="it", name="Q"),
        ),
        (
            "|a|\n|--|\n|1|\n\n" * 40_000,
            messages.TOO_MANY_ARRAYS_IN_JSON.format(place="it", found="40,000", limit="4,096"),
        ),
    ],
)
def test_what_is_wrong_in_a_table_is_refused(text, message):
    assert refused(text) == message


def test_long_rules_are_refused_without_delay():
    assert len(refused("|" * 100_000 + "\n" + "|-" * 100_000)) <= 300


@pytest.mark.parametrize("row", ["1|2|3|4", "| 1 | 2 | 3 | 4 |", "a|1|2|3", "|" * 5])
def test_a_table_that_is_too_large_is_refused_before_its_rows_are_split(row, monkeypatch):
    def split(line):
        raise AssertionError(f"{line!r} was split")

    monkeypatch.setattr(grid, "_cells", split)
    text = "a|b|c|d\n--|--|--|--\n" + f"{row}\n" * 133_334
    assert refused(text) == messages.TABLE_TOO_LARGE.format(place="it", limit="400,000")


def test_lines_of_a_table_are_counted_before_they_are_read():
    text = "a|b\n--|--\n" + "\n" * 150_000
    assert refused(text) == messages.TOO_MANY_LINES.format(
        place="it", found="150,002", limit="150,000"
    )


def test_labels_beside_as_many_numbers_as_are_read_do_not_count():
    text = "a|b|c|d|e\n--|--|--|--|--\n" + "cat|1|2|3|4\n" * 100_000
    assert entries(text, "it")[ALONE].shape == (100_000, 4)
