"""Typing and rolling change exactly what they name."""

from dataclasses import replace

import numpy as np
import pytest

from attention.limits import BadInput
from attention.session import editing
from attention.session.changes import set_mask
from attention.session.examples import EXAMPLES
from attention.session.matrix import Recipe
from attention.session.validate import check


def four_words():
    return EXAMPLES["four-words"].build()


def edit(s, name, **found):
    found = {"edited_rows": {}, "added_rows": [], "deleted_rows": []} | found
    return check(editing.edit(s, name, editing.content(s, name), found))


def test_a_typed_cell_is_kept_to_the_bit_and_alone():
    before = four_words()
    s = edit(before, "X", edited_rows={0: {"c1": "0.1"}, 2: {"token": "cat"}})
    assert s.matrices["X"].values[0, 1] == 0.1
    assert s.tokens == ("w1", "w2", "cat", "w4")
    assert (
        np.delete(s.matrices["X"].values.ravel(), 1).tolist()
        == np.delete(before.matrices["X"].values, 1).tolist()
    )
    assert all(s.matrices[name] is before.matrices[name] for name in ("W_Q", "W_K", "W_V"))


def test_a_new_row_is_0_where_nothing_was_typed():
    s = edit(four_words(), "X", added_rows=[{"token": "cat", "c2": "7"}, {}])
    assert s.tokens == ("w1", "w2", "w3", "w4", "cat", "w6")
    assert s.matrices["X"].values[4:].tolist() == [[0, 0, 7, 0], [0, 0, 0, 0]]


def test_a_deleted_row_takes_its_token_padding_and_mask_with_it():
    s = set_mask(set_mask(check(four_words()), "causal"), "drawn")
    s = check(replace(s, padding=(1, 3)))
    s = edit(s, "X", deleted_rows=[1])
    assert s.tokens == ("w1", "w3", "w4")
    assert s.padding == (2,)
    assert s.drawn == ((True, False, False), (True, True, False), (True, True, True))
    assert s.matrices["X"].values.tolist() == [[0, 1, 1, 2], [1, 1, 0, 2], [2, 1, 1, 1]]


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            {"edited_rows": {1: {"c2": "abc"}}},
            "X, row 2, column 3 holds “abc”; a number such as 3, -0.5 or 2e-3 is wanted.",
        ),
        ({"edited_rows": {1: {"c2": None}}}, "X, row 2, column 3 is empty; a number is wanted."),
        (
            {"edited_rows": {0: {"c0": "1e308"}}},
            "X, row 1, column 1 holds 1e308; numbers from -1e12 to 1e12 are allowed.",
        ),
        ({"edited_rows": {0: {"token": " "}}}, "token 1 has no name; type a word."),
        ({"deleted_rows": [0, 1, 2, 3]}, "the table is empty; at least one token is needed."),
    ],
)
def test_a_bad_edit_is_one_sentence(found, sentence):
    with pytest.raises(BadInput) as problem:
        edit(four_words(), "X", **found)
    assert str(problem.value) == sentence


def test_only_the_batch_item_shown_is_edited():
    before = EXAMPLES["batch"].build()
    s = edit(replace(before, item=3), "K", edited_rows={2: {"c5": "9"}})
    changed = s.matrices["K"].values != before.matrices["K"].values
    assert np.argwhere(changed).tolist() == [[3, 2, 5]]
    assert s.matrices["K"].values[3, 2, 5] == 9


def test_rows_of_keys_belong_to_the_second_sequence():
    s = edit(EXAMPLES["lookup"].build(), "K", edited_rows={0: {"token": "z"}}, deleted_rows=[3])
    assert s.memory_tokens == ("z", "a c", "b")
    assert s.tokens == ("a c ?",)
    assert s.shape("V") == (3, 5)


def test_rolling_draws_with_the_seed_shown_and_then_with_the_next():
    first = editing.roll(four_words(), "W_V", Recipe("normal", 7))
    again = editing.roll(first, "W_V", Recipe("normal", 7))
    for s, seed in ((first, 7), (again, 8)):
        assert (
            s.matrices["W_V"].values.tolist()
            == np.random.default_rng(seed).standard_normal((4, 4)).tolist()
        )
    assert all(again.matrices[name] is four_words().matrices[name] for name in ("X", "W_Q", "W_K"))
