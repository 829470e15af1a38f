"""JSON as pandas and services write it: records, frames, and a vector in each record."""

import json

import messages
import pandas as pd
import pytest
from build import read, refused

from attention.readers.cells.entry import ALONE
from attention.readers.texts.texts import entries

TWO = [[0.5, -1.25], [3, 4]]


@pytest.mark.parametrize(
    ("orient", "lines"),
    [
        ("records", True),
        *((way, False) for way in ["records", "columns", "index", "values", "split"]),
    ],
)
def test_json_of_pandas_is_read(orient, lines):
    frame = pd.DataFrame(TWO, columns=["a", "b"])
    found = read(frame.to_json(orient=orient, lines=lines))
    assert list(found.values()) == [TWO]


def test_a_name_of_words_in_records_labels_the_rows():
    frame = pd.DataFrame(TWO, columns=["a", "b"])
    frame.insert(0, "word", ["cat", "dog"])
    entry = entries(frame.to_json(orient="records"), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("cat", "dog"))
    assert entry.remark == messages.RECORDS_ARE_ROWS.format(numbers="2 numbers")


def test_a_name_of_ids_in_records_labels_the_rows_and_is_no_dimension():
    frame = pd.DataFrame(TWO, columns=["a", "b"])
    frame.insert(1, "Token_ID", [101, 7])
    entry = entries(frame.to_json(orient="records"), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("101", "7"))
    frame["word"] = ["cat", "dog"]
    entry = entries(frame.to_json(orient="records"), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("cat", "dog"))
    said = messages.RECORDS_ARE_ROWS.format(numbers="2 numbers")
    assert entry.remark == f"{said} {messages.COLUMNS_PASSED_OVER.format(names='Token_ID')}"
    text = json.dumps([{"id": 7, "embedding": TWO[0]}, {"id": 8, "embedding": TWO[1]}])
    entry = entries(text, "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("7", "8"))


def test_the_answer_of_an_embedding_service_is_its_vectors():
    data = [{"object": "embedding", "index": k, "embedding": row} for k, row in enumerate(TWO)]
    answer = {"object": "list", "data": data, "model": "m", "usage": {"total_tokens": 2}}
    entry = entries(json.dumps(answer), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ())
    data.reverse()  # a service need not keep the order
    assert entries(json.dumps(answer), "it")[ALONE].read().tolist() == TWO
    data.reverse()
    del data[1]["embedding"]
    assert refused(json.dumps(answer)) == messages.RECORD_WITHOUT_EMBEDDING.format(
        place="it, record 2"
    )


def test_a_vector_in_each_record_is_a_row():
    text = json.dumps([{"text": "cat", "embedding": TWO[0]}, {"text": "dog", "embedding": TWO[1]}])
    entry = entries(text, "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("cat", "dog"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[{"a": 1, "b": 2}, {"a": 3}]',
            messages.RECORD_DIFFERS.format(place="it, record 2", verb="has no", name="b"),
        ),
        (
            '[{"a": 1}, {"a": 3, "b": 2}]',
            messages.RECORD_DIFFERS.format(place="it, record 2", verb="has an extra", name="b"),
        ),
        (
            '[{"a": "x"}]',
            messages.RECORDS_WITHOUT_NUMBERS.format(place="it"),
        ),
        (
            '[{"a": 1}, {"a": "x"}]',
            messages.NOT_A_NUMBER.format(place="it, row 2, column 1", found="x"),
        ),
    ],
)
def test_records_that_do_not_agree_are_refused(text, message):
    assert refused(text) == message


def test_lists_of_rows_further_inside_are_found_with_their_tokens():
    layers = [{"layer": k, "attn": [[0.5, 0.5], [k, 1]]} for k in range(3)]
    text = json.dumps({"tokens": ["the", "dog"], "layers": layers})
    found = entries(text, "it")
    assert list(found) == ["layers.attn"]
    assert found["layers.attn"].rows == ("the", "dog")
    assert found["layers.attn"].read().tolist() == [one["attn"] for one in layers]


def test_records_of_several_lists_of_rows_keep_their_places():
    text = json.dumps({"heads": [{"q": [[1]], "k": [[2]]}, {"q": [[3]], "k": [[4]]}]})
    found = entries(text, "it")
    assert {name: entry.read().tolist() for name, entry in found.items()} == {
        "heads[0].q": [[1]],
        "heads[0].k": [[2]],
        "heads[1].q": [[3]],
        "heads[1].k": [[4]],
    }
