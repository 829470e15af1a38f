"""Nested lists of numbers in JSON, beside json.loads."""

import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.limits import MAX_BRACKETS, BadInput
from attention.readers.texts.json_numbers import layers_in

SHAPES = st.lists(st.integers(1, 3), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(SHAPES, st.integers(0, 2**32 - 1), st.sampled_from([None, 1]))
def test_it_reads_what_json_reads(shape, seed, indent):
    values = np.random.default_rng(seed).normal(size=shape)
    text = json.dumps(values.tolist(), indent=indent)
    found = layers_in(text.encode(), "a.json", 10**6)[""]
    expected = np.array(json.loads(text), np.float32)
    np.testing.assert_array_equal(found, expected)


def test_layers_keep_their_own_shapes_and_nan_is_read():
    text = "[[[0.5, 0.5]], [[1, NaN, -Infinity], [1e-3, 0, 2]]]"
    one, other = layers_in(text.encode(), "a.json", 100)[""]
    assert one.tolist() == [[0.5, 0.5]] and other.shape == (2, 3)
    assert np.isnan(other[0, 1]) and other[0, 2] == -np.inf


def test_an_object_has_arrays_and_words():
    document = {"model": "x", "attentions": [[[1.0]]], "tokens": ["[CLS]", "]"], "more": {"a": [1]}}
    found = layers_in(json.dumps(document).encode(), "a.json", 100)
    assert found.keys() == {"attentions", "tokens", "more"} and found["tokens"] == ["[CLS]", "]"]
    assert found["attentions"].shape == (1, 1, 1)


COMMA = "a.json is not valid JSON: a comma has no number or list beside it."
ODD = {
    "[[1, 2], [3]": "a.json is not complete JSON: a “]” is missing.",
    "[[[1, 2], [3]]]": "a.json has rows of different lengths inside of one layer.",
    "[1,,2]": COMMA,
    "[[1,0],[0,1,]]": COMMA,
    "[[1, 0 ,\n], [0, 1,]]": COMMA,
    "[[,1,0],[0,1]]": COMMA,
    "[[1,0],[0,1],]": "a.json is not valid JSON: lists need one comma between them.",
    "[[1],,[2]]": "a.json is not valid JSON: lists need one comma between them.",
    "[[1 0]]": "a.json holds something other than numbers.",
    "[[nan(1)]]": "a.json holds something other than numbers.",
    "[[], []]": "a.json has an empty list.",
    "[[1], [null]]": "a.json holds something other than numbers.",
    "[[1], 2]": "a.json has something other than lists beside lists.",
    "[2, [1]]": "a.json has something other than lists beside lists.",
    "[[1] [2]]": "a.json is not valid JSON: lists need one comma between them.",
    "[[[1], 2]]": "a.json has something other than lists beside lists.",
    "[]": "a.json has an empty list.",
    "[[1]] x": "a.json has text after its JSON: “x”.",
    '{"a": [[1]], "b"}': "a.json is not valid JSON near",
    '{"a": [[1]] "b": 1}': "a.json is not valid JSON after “a”.",
    '{"a": [1], "a": [1]}': "a.json holds a twice.",
    '{"a": [1], "b": tru}': "a.json, b is not valid JSON, or too long for words.",
    "3": "a.json holds no list of numbers.",
    "[" * 9 + "1" + "]" * 9: "a.json is nested more than 6 lists deep.",
    "[" * (MAX_BRACKETS + 1): "a.json has 100,001 lists; at most 100,000 are read.",
    "[" + "0," * 200 + "0]": "a.json holds 201 numbers; at most 100 are read.",
}


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_what_is_no_list_of_numbers_is_refused(text):
    with pytest.raises(BadInput) as problem:
        layers_in(text.encode(), "a.json", 100)
    assert str(problem.value).startswith(ODD[text])


def test_words_of_any_alphabet_are_read_and_of_any_length():
    words = ["Ġcat", "猫", "🙂"] * 2000  # more than are looked at first
    document = {"n": 12, "tokens": {"decoder": words}, "ключ": [[1.0]], "last": 5}
    for indent in (None, 1):
        text = json.dumps(document, indent=indent, ensure_ascii=False)
        found = layers_in(b"\xef\xbb\xbf" + text.encode(), "a.json", 100)
        assert found["tokens"] == document["tokens"] and found["ключ"].tolist() == [[1]]
    with pytest.raises(BadInput, match=r"^a\.json is not UTF-8 text: byte 3 is 0xff;"):
        layers_in(b'{"\xff": [1]}', "a.json", 100)


def test_an_object_of_nothing_has_no_members():
    assert layers_in(b" { } ", "a.json", 100) == {}


@pytest.mark.parametrize("number", ["0", "0.25", "0.123456789", "0.5" + " " * 40])
@pytest.mark.parametrize("word", ["a", "猫", "🙂"])
def test_memory_grows_by_at_most_four_times_the_text(number, word):
    row = "[" + ",".join([number] * 100) + "]"
    text = "[" + ",".join(["[" + ",".join([row] * 100) + "]"] * 40) + "]"
    text = f'{{"tokens": ["{word}"], "A": {text}}}'.encode()
    tracemalloc.start()
    try:
        layers_in(text, "a.json", 10**6)
        grown = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert grown <= 4 * len(text)
