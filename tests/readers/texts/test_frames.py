"""Frames as pandas prints them: without their size and the name of their index, never cut."""

import messages
import numpy as np
import pandas as pd
import pytest
from build import read, refused

from attention.readers.cells.entry import ALONE
from attention.readers.texts.texts import entries

TWO = [[0.5, -1.25], [3, 4]]
LEAVES_OUT = messages.FRAME_LEAVES_OUT.format(place="it")


@pytest.mark.parametrize("shape", [(100, 3), (3, 100), (100, 100)])
def test_a_frame_that_pandas_cuts_short_is_refused(shape):
    frame = pd.DataFrame(np.ones(shape))
    assert refused(str(frame)) == LEAVES_OUT


@pytest.mark.parametrize("size", ["\n[100 rows x 2 columns]", ""])
def test_a_frame_of_narrow_columns_that_pandas_cuts_short_is_refused(size):
    text = str(pd.DataFrame(np.ones((100, 2), int)))
    assert ".. .. .." in text and text.endswith("[100 rows x 2 columns]")
    assert refused(text.removesuffix("[100 rows x 2 columns]") + size) == LEAVES_OUT


def test_the_name_that_pandas_prints_above_an_index_is_no_row():
    frame = pd.DataFrame(np.tile(TWO, 9), index=pd.Index(["cat", "New York"], name="word"))
    texts = [frame.to_string(), frame.add_prefix("x").rename_axis(columns="dim").to_string()]
    for text in [*texts, "\n".join(line.rstrip() for line in texts[0].splitlines())]:
        entry = entries(text, "it")[ALONE]
        assert (entry.read().tolist(), entry.rows) == (frame.values.tolist(), ("cat", "New York"))
    assert refused("the 0.5 1\ncat\ndog 3 4") == messages.NOT_A_NUMBER.format(
        place="it, line 2, column 1", found="cat"
    )
    assert refused("dim\ncat\ndog 3 4") == messages.ROW_LENGTH.format(
        place="it", line=3, found=3, plural="s", expected=1, first=2
    )


def test_a_number_below_the_name_of_an_index_is_named_by_its_line():
    frame = pd.DataFrame({"x": ["0.5", "1"], "y": ["1", "2_"]}, index=pd.Index([*"ab"], name="w"))
    place = "it, line 4, column 3"
    assert refused(frame.to_string()) == messages.NOT_A_NUMBER.format(place=place, found="2_")


def test_more_than_ten_columns_called_x_are_names():
    frame = pd.DataFrame(np.tile(TWO, 9)).add_prefix("x")
    for text in (frame.to_string(), frame.to_csv(index=False)):
        assert read(text) == {ALONE: frame.values.tolist()}


def test_a_frame_with_other_sides_than_it_says_is_refused():
    text = pd.DataFrame(TWO).to_string() + "\n\n[100 rows x 2 columns]"
    assert refused(text) == messages.FRAME_OF_OTHER_SIZE.format(
        place="it", told="100 × 2", found="2 × 2"
    )
    tokens = pd.DataFrame(TWO, index=["..", "..."]).to_string(show_dimensions=True)
    assert entries(tokens, "it")[ALONE].rows == ("..", "...")


def test_the_size_below_a_frame_is_no_row():
    text = pd.DataFrame(TWO).to_string(show_dimensions=True)
    assert text.endswith("[2 rows x 2 columns]")
    assert read(text) == {ALONE: TWO}


WIDE = pd.DataFrame(np.arange(90.0).reshape(3, 30) / 8, index=["cat", "new york", "dog"])


@pytest.mark.parametrize("line_width", [30, 60])
@pytest.mark.parametrize(
    "frame",
    [
        WIDE,
        WIDE.rename_axis("word"),
        WIDE.add_prefix("x").rename_axis(columns="dim"),
        WIDE.reset_index(drop=True),
    ],
)
def test_columns_that_go_on_below_are_joined(frame, line_width):
    text = frame.to_string(line_width=line_width, show_dimensions=True)
    for shown in (text, text.removesuffix("\n\n[3 rows x 30 columns]"), "\n" + text):
        entry = entries(shown, "it")[ALONE]
        assert entry.read().tolist() == frame.values.tolist()
        assert entry.rows == tuple(map(str, frame.index))
    names = tuple(frame.columns) if frame.columns[0] == "x0" else ()
    assert entry.columns == names


def test_groups_of_columns_with_other_rows_are_refused():
    text = WIDE.to_string(line_width=60)
    for other in (text.replace("dog", "fox", 1), text[: text.rindex("\n")]):
        assert refused(other) == messages.GROUPS_OF_OTHER_ROWS.format(place="it")


BOX = """shape: (2, 3)
┌──────┬──────┬───────┐
│ word ┆ x    ┆ y     │
│ ---  ┆ ---  ┆ ---   │
│ str  ┆ f64  ┆ f64   │
╞══════╪══════╪═══════╡
│ cat  ┆ 0.5  ┆ -1.25 │
│ a|b  ┆ 3.0  ┆ 4.0   │
└──────┴──────┴───────┘"""


def test_the_box_of_polars_is_read():
    entry = entries(BOX.replace("a|b", "dog"), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("cat", "dog"))
    assert entry.columns == ("x", "y")
    without_types = "\n".join(BOX.replace("a|b", "dog").split("\n")[:3])
    below = "\n".join(BOX.replace("a|b", "dog").split("\n")[5:])
    assert read(f"{without_types}\n{below}") == {ALONE: TWO}


def test_a_box_that_leaves_rows_out_or_has_another_size_is_refused():
    assert refused(BOX.replace("│ a|b  ┆ 3.0  ┆ 4.0   │", "│ …    ┆ …    ┆ …     │")) == LEAVES_OUT
    assert refused(BOX.replace("a|b", "dog").replace("(2, 3)", "(9, 3)")) == (
        messages.FRAME_OF_OTHER_SIZE.format(place="it", told="9 × 3", found="2 × 3")
    )
    assert entries(BOX, "it")[ALONE].rows == ("cat", "a|b")
    assert refused(BOX.replace("-1.25", "oops ")) == messages.NOT_A_NUMBER.format(
        place="it, line 7, column 3", found="oops"
    )


def test_several_empty_lines_between_groups_of_columns_are_one():
    text = "      a \\\ncat   1\n\n   \n\n      b\ncat   2\n\n  \n"
    entry = entries(text, "it")[ALONE]
    assert (entry.rows, entry.read().tolist()) == (("cat",), [[1, 2]])
