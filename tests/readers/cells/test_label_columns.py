"""Words and ids beside the numbers label rows or are passed over, in every form pandas writes."""

import messages
import pandas as pd
import pytest

from attention.limits import BadInput
from attention.readers.cells.entry import ALONE
from attention.readers.opening import opened

VALUES = [[0.5, -1.25, 2.0], [3.0, 4.5, -0.75], [1.5, 0.25, 7.0]]
WORDS, IDS = ["[CLS]", "cats", "2"], [101, 7592, 102]


def markdown(frame: pd.DataFrame) -> bytes:
    """As tabulate 0.9 writes it for DataFrame.to_markdown."""
    lines = [["", *frame.columns], ["---"] * (1 + len(frame.columns))]
    lines += [list(map(str, row)) for row in frame.itertuples()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).encode()


ORIENTS = ("columns", "index", "split", "records", "table")
WRITERS = {
    "csv": lambda frame: frame.to_csv().encode(),
    "tsv": lambda frame: frame.to_csv(sep="\t").encode(),
    "decimal commas": lambda frame: frame.to_csv(sep=";", decimal=",").encode(),
    "csv without index": lambda frame: frame.to_csv(index=False).encode(),
    "print": lambda frame: repr(frame).encode(),
    "print without index": lambda frame: frame.to_string(index=False).encode(),
    "markdown": markdown,
} | {
    f"json {orient}": lambda frame, orient=orient: frame.to_json(orient=orient).encode()
    for orient in ORIENTS
}
WITHOUT_INDEX = ("csv without index", "print without index", "json records")


def frame(beside: dict[str, list], index: list | None = None, last: bool = False) -> pd.DataFrame:
    values = pd.DataFrame(VALUES, columns=["x", "y", "z"], index=index)
    others = pd.DataFrame(beside, index=index)
    return pd.concat([values, others] if last else [others, values], axis=1)


def the_one(writer: str, written: pd.DataFrame):
    ending = writer.partition(" ")[0]
    found = opened(f"it.{ending}", WRITERS[writer](written))
    assert list(found) == [ALONE]
    return found[ALONE]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_column_of_ids_beside_a_counting_index_labels_the_rows_and_is_no_dimension(writer):
    for last in (False, True):
        entry = the_one(writer, frame({"token_id": IDS}, last=last))
        assert entry.read().tolist() == VALUES
        assert entry.rows == tuple(map(str, IDS))
        assert messages.COLUMNS_PASSED_OVER.partition("{")[0] not in entry.remark
        assert "token_id" not in entry.remark


@pytest.mark.parametrize("writer", WRITERS)
def test_words_beside_ids_label_the_rows_and_the_ids_are_passed_over_which_is_said(writer):
    for last in (False, True):
        entry = the_one(writer, frame({"token": WORDS, "token_id": IDS}, last=last))
        assert entry.read().tolist() == VALUES
        assert entry.rows == tuple(WORDS)
        assert messages.COLUMNS_PASSED_OVER.format(names="token_id") in entry.remark
    if writer not in WITHOUT_INDEX:
        entry = the_one(writer, frame({"token_id": IDS}, index=WORDS))
        assert (entry.read().tolist(), entry.rows) == (VALUES, tuple(WORDS))
        assert messages.COLUMNS_PASSED_OVER.format(names="token_id") in entry.remark


def test_a_named_index_in_a_print_is_one_too():
    written = frame({"token_id": IDS}, index=WORDS).rename_axis("token")
    entry = the_one("print", written)
    assert (entry.read().tolist(), entry.rows) == (VALUES, tuple(WORDS))
    passed_over = messages.COLUMNS_PASSED_OVER.format(names="token_id")
    assert entry.remark == f"{messages.FIRST_LINE_NAMES_COLUMNS} {passed_over}"


@pytest.mark.parametrize("writer", ["csv", "print", "markdown", "json columns", "json split"])
def test_tokens_that_are_called_as_ids_are_stay_columns_of_tokens_against_tokens(writer):
    tokens = ["key", "id", "token"]
    weights = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    entry = the_one(writer, pd.DataFrame(weights, index=tokens, columns=tokens))
    assert (entry.read().tolist(), entry.rows) == (weights, tuple(tokens))


def test_a_second_column_of_words_is_passed_over_and_said():
    entry = the_one("csv", frame({"tag": ["x", "y", "z"], "word": WORDS}))
    assert (entry.read().tolist(), entry.rows) == (VALUES, tuple(WORDS))
    assert entry.remark.endswith(messages.COLUMNS_PASSED_OVER.format(names="tag"))
    entry = the_one("json records", frame({"a": WORDS, "b": ["x", "y", "z"]}))
    assert (entry.read().tolist(), entry.rows) == (VALUES, tuple(WORDS))
    assert entry.remark == " ".join(
        [
            messages.RECORDS_ARE_ROWS.format(numbers="3 numbers"),
            messages.COLUMNS_PASSED_OVER.format(names="b"),
        ]
    )


@pytest.mark.parametrize("writer", ["csv", "print", "json split"])
def test_levels_of_an_index_before_its_words_are_no_dimensions(writer):
    levels = [[0, 0, 1], WORDS]
    written = pd.DataFrame(VALUES, columns=["x", "y", "z"])
    written.index = pd.MultiIndex.from_arrays(levels, names=["layer", "token"])
    if writer in ("print", "json split"):  # which leave out what repeats
        written = written.reset_index()
    entry = the_one(writer, written)
    assert (entry.read().tolist(), entry.rows) == (VALUES, tuple(WORDS))
    assert messages.COLUMNS_PASSED_OVER.format(names="layer") in entry.remark


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "token_id,x,word\n7,1.5,cat\n8,oops,dog",
            messages.NOT_A_NUMBER.format(place="it, line 3, column 2", found="oops"),
        ),
        (
            "x,word,y\n1.5,cat,2\n2.5,dog",
            messages.NOT_A_NUMBER.format(place="it, line 3, column 2", found="dog"),
        ),
    ],
)
def test_a_cell_that_is_no_number_is_named_by_its_place_in_the_file(text, message):
    with pytest.raises(BadInput) as problem:
        opened("it", text.encode())[ALONE].read()
    assert str(problem.value) == message


def test_rows_that_pandas_indexed_by_words_in_json_are_rows_where_words_or_ids_tell():
    written = frame({"token_id": IDS}, index=WORDS)
    assert the_one("json index", written).remark == " ".join(
        [messages.NAMES_ARE_ROWS, messages.COLUMNS_PASSED_OVER.format(names="token_id")]
    )


@pytest.mark.parametrize("table", ["a,b\n0.5,50%\n1,2\n", "word,a,b\nthe,0.5,50%\ncat,1,2\n"])
def test_a_share_below_names_is_refused_at_its_own_place(table):
    column = table.splitlines()[1].split(",").index("50%") + 1
    with pytest.raises(BadInput) as problem:
        opened("table.csv", table.encode())["numbers"].read()
    place = f"table.csv, line 2, column {column}"
    assert str(problem.value) == messages.NOT_A_NUMBER.format(place=place, found="50%")
