"""The words that every sentence is made of: numbers of things, lists of names, capitals."""

import pytest

from attention.vocabulary.sentences import (
    amount,
    capital,
    first_few,
    in_words,
    joints,
    numbered,
    plural,
    they_are,
    to_decimals,
)


@pytest.mark.parametrize(
    ("count", "one", "many", "said"),
    [
        (0, "cell", "", "0 cells"),
        (1, "cell", "", "1 cell"),
        (2, "cell", "", "2 cells"),
        (0, "query", "queries", "0 queries"),
        (1, "query", "queries", "1 query"),
        (2, "query", "queries", "2 queries"),
        (1234, "key", "", "1,234 keys"),
    ],
)
def test_only_one_thing_is_singular(count, one, many, said):
    assert amount(count, one, many) == said
    assert plural(count, one, many) == said.split(" ")[1]


@pytest.mark.parametrize(
    ("names", "most", "said"),
    [
        ([], 0, ""),
        (["Q"], 0, "Q"),
        (["Q", "K"], 0, "Q and K"),
        (["Q", "K", "V"], 0, "Q, K and V"),
        (["Q", "K", "V"], 3, "Q, K and V"),
        (["Q", "K", "V"], 2, "Q, K and 1 more"),
        (["Q", "K", "V"], 1, "Q and 2 more"),
    ],
)
def test_the_last_name_follows_and(names, most, said):
    assert in_words(names, most) == said


@pytest.mark.parametrize("count", range(5))
def test_each_name_has_one_joint(count):
    assert len(joints(count)) == count


def test_a_verb_agrees_with_its_names():
    assert they_are(["Q"]) == "Q is"
    assert they_are(["Q", "K", "V"]) == "Q, K and V are"
    assert numbered("head", [3]) == "head 3"
    assert numbered("head", [0, 2]) == "heads 0, 2"


@pytest.mark.parametrize(
    ("count", "said"), [(0, ""), (1, "a"), (2, "a, b"), (3, "a, b, …"), (5, "a, b, …")]
)
def test_only_names_that_are_left_out_need_dots(count, said):
    assert first_few("abcde"[:count], 2) == said


@pytest.mark.parametrize(
    ("digits", "said"), [(0, "to whole numbers"), (1, "to 1 decimal"), (2, "to 2 decimals")]
)
def test_no_decimals_are_whole_numbers(digits, said):
    assert to_decimals(digits) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("a", "A"),
        ("every number is NaN", "Every number is NaN"),
        ("“cat” sees no key", "“cat” sees no key"),
        ("the mask is 2 × 3.", "The mask is 2 × 3."),
        ("3 digits", "3 digits"),
        ("weights.npz is empty", "weights.npz is empty"),
        ("b_O is left out", "b_O is left out"),
        ("W_Q is transposed", "W_Q is transposed"),
        ("a b_O", "A b_O"),
    ],
)
def test_names_keep_their_first_letter(text, said):
    assert capital(text) == said
