"""What the board sends: read without trust, carried out one by one, refused with a sentence."""

from dataclasses import replace

import messages
import numpy as np
import pytest

from attention.limits import MAX_EDITED, MAX_TOKENS
from attention.session.edit.board_edits import Operation, apply, read
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.settings import DRAWN, allowed, as_drawn


def before():
    return EXAMPLES["four-words"].build()


def cell(number: int, stage: str, row: int, column: int, text: str) -> Operation:
    return Operation(number, "cell", stage, row, column, text)


def test_a_typed_number_changes_its_cell_and_no_other_to_the_last_bit():
    third = np.full((4, 4), 1 / 3)
    s = before().with_matrix("X", Matrix(third))
    after, refused = apply(s, [cell(1, "X", 2, 3, "0.1"), cell(2, "X", 0, 0, "\u22122e-3")])
    expected = third.copy()
    expected[2, 3], expected[0, 0] = 0.1, -0.002
    assert not refused
    assert after.matrices["X"].values.tobytes() == expected.tobytes()
    assert {name: m for name, m in after.matrices.items() if name != "X"} == {
        name: m for name, m in s.matrices.items() if name != "X"
    }


@pytest.mark.parametrize("head", [0, 1])
@pytest.mark.parametrize("name", ["W_Q", "W_K", "W_V"])
def test_the_cell_of_the_head_that_is_shown_changes(name, head):
    s = replace(before(), heads=2, head=head)
    after, refused = apply(s, [cell(1, name, 3, 1, "77")])
    assert not refused
    shown = view(after, run(after)).stages[name]
    was = view(s, run(s)).stages[name]
    assert np.argwhere(shown != was).tolist() == [[3, 1]] and shown[3, 1] == 77
    assert np.argwhere(after.matrices[name].values != s.matrices[name].values).tolist() == [
        [3, 2 * head + 1]
    ]


def test_the_item_of_the_batch_that_is_shown_changes():
    s = replace(EXAMPLES["batch"].build(), item=3)
    after, refused = apply(s, [cell(1, "K", 2, 5, "9")])
    assert not refused
    shown, was = view(after, run(after)).stages["K"], view(s, run(s)).stages["K"]
    assert np.argwhere(shown != was).tolist() == [[2, 5]] and shown[2, 5] == 9
    others = [k for k in range(s.batch) if k != 3]
    assert np.array_equal(after.matrices["K"].values[others], s.matrices["K"].values[others])


REFUSED = [
    (
        cell(1, "X", 1, 2, "abc"),
        messages.NOT_A_NUMBER.format(place="X, row 2, column 3", found="abc"),
    ),
    (cell(1, "X", 0, 0, ""), messages.EMPTY_CELL.format(place="X, row 1, column 1")),
    (
        cell(1, "W_V", 0, 1, "1e308"),
        messages.NUMBER_TOO_LARGE.format(place="W_V, row 1, column 2", found="1e308"),
    ),
    (
        cell(1, "X", 4, 0, "1"),
        messages.NO_SUCH_CELL.format(stage="X", row=5, column=1, size="4 × 4"),
    ),
    (
        cell(1, "X", 0, -1, "1"),
        messages.NO_SUCH_CELL.format(stage="X", row=1, column=0, size="4 × 4"),
    ),
    (cell(1, "weights", 0, 0, "1"), messages.CANNOT_BE_EDITED.format(stage="weights")),
    (cell(1, "x" * 900, 0, 0, "1"), messages.CANNOT_BE_EDITED.format(stage="x" * 40)),
    (
        Operation(1, "mask", "masked", 0, 4, "1"),
        messages.NO_SUCH_CELL.format(stage="the mask", row=1, column=5, size="4 × 4"),
    ),
    (
        Operation(1, "mask", "masked", 0, 3, "0"),
        messages.KEY_IS_PADDING.format(token="w4"),
    ),
    (Operation(1, "token", "X", 1, 0, " "), messages.NAMELESS_TOKEN.format(token="token 2")),
    (Operation(1, "token", "X", -1, 0, "a"), messages.NO_SUCH_ROW.format(stage="X", row=0, rows=4)),
    (
        Operation(1, "token", "W_Q", 0, 0, "a"),
        messages.ROWS_ARE_NO_TOKENS.format(stage="“W_Q”"),
    ),
    (
        Operation(1, "token", "X", 0, 0, "a" * 41),
        messages.TOKEN_TOO_LONG.format(token="token 1", found=41, limit=40),
    ),
    (
        Operation(1, "add", "X", 0, 3, ""),
        messages.ROWS_BY_NOW.format(stage="X", rows=4, expected=3),
    ),
    (Operation(1, "delete", "X", 4, 4, ""), messages.NO_SUCH_ROW.format(stage="X", row=5, rows=4)),
]


@pytest.mark.parametrize(("operation", "sentence"), REFUSED)
def test_what_does_not_fit_is_refused_with_a_sentence_and_changes_nothing(operation, sentence):
    s = replace(before(), padding=(3,))
    assert apply(s, [operation]) == (s, [(1, sentence)])


def test_what_is_refused_holds_up_nothing_else():
    operations = [cell(1, "X", 0, 0, "5"), cell(2, "X", 0, 1, "no"), cell(3, "X", 0, 2, "6")]
    after, refused = apply(before(), operations)
    assert [number for number, _ in refused] == [2]
    assert after.matrices["X"].values[0].tolist() == [5, 1, 6, 2]


def test_a_turned_cell_makes_the_mask_that_is_shown_a_drawn_one():
    s = replace(before(), mask="causal", padding=(3,))
    operations = [
        Operation(1, "mask", "masked", 0, 2, "1"),
        Operation(2, "mask", "masked", 2, 0, "0"),
    ]
    after, refused = apply(s, operations)
    expected = np.tri(4, dtype=bool)
    expected[0, 2], expected[2, 0] = True, False
    assert not refused and after.mask == DRAWN
    assert np.array_equal(after.drawn, expected)
    expected[:, 3] = False
    assert np.array_equal(allowed(after), expected)


def test_tokens_are_renamed_added_and_deleted_with_their_rows():
    s = before()
    operations = [
        Operation(1, "token", "X", 1, 0, " cat "),
        Operation(2, "add", "X", 0, 4, ""),
        Operation(3, "token", "X", 4, 0, "new"),
        Operation(4, "delete", "X", 0, 5, ""),
    ]
    after, refused = apply(s, operations)
    assert not refused
    assert after.tokens == ("cat", "w3", "w4", "new")
    X = s.matrices["X"].values
    assert np.array_equal(after.matrices["X"].values, [*X[1:], np.zeros(4)])


def test_a_deleted_row_takes_its_padding_and_its_part_of_a_drawn_mask_with_it():
    drawn = as_drawn(np.tri(4, dtype=bool))
    s = replace(before(), mask=DRAWN, drawn=drawn, padding=(1, 3))
    after, refused = apply(s, [Operation(1, "delete", "X", 1, 4, "")])
    assert not refused
    assert (after.tokens, after.padding) == (("w1", "w3", "w4"), (2,))
    assert after.drawn == ((True, False, False), (True, True, False), (True, True, True))


def test_a_row_of_the_second_sequence_is_its_own():
    s = replace(before(), memory_tokens=("a", "b")).with_matrix("memory", Matrix(np.ones((2, 4))))
    after, refused = apply(s, [Operation(1, "add", "memory", 0, 2, "")])
    assert not refused
    assert (after.tokens, after.memory_tokens) == (s.tokens, ("a", "b", "w3"))


def test_one_token_too_many_is_refused_and_the_last_one_stays():
    s = before()
    tokens = tuple(f"t{k}" for k in range(MAX_TOKENS))
    full = replace(s, tokens=tokens).with_matrix("X", Matrix(np.ones((MAX_TOKENS, 4))))
    assert apply(full, [Operation(1, "add", "X", 0, MAX_TOKENS, "")]) == (
        full,
        [(1, messages.TOO_MANY_TOKENS.format(found=513, limit=512))],
    )
    one = replace(s, tokens=("a",)).with_matrix("X", Matrix(np.ones((1, 4))))
    assert apply(one, [Operation(1, "delete", "X", 0, 1, "")]) == (
        one,
        [(1, messages.EMPTY_TABLE)],
    )


FOREIGN = [
    None,
    "text",
    [],
    {},
    {"client": "", "operations": [], "more": False},
    {"client": "a" * 41, "operations": [], "more": False},
    {"client": 1, "operations": [], "more": False},
    {"client": "a", "operations": {}, "more": False},
    {"client": "a", "operations": [], "more": 1},
    {"client": "a", "operations": [[1, "cell", "X", 0, 0, ""]], "more": False},
    {"client": "a", "operations": [[1, "cell", "X", True, 0, "1", ""]], "more": False},
    {"client": "a", "operations": [[1, "cell", "X", 0, 0.5, "1", ""]], "more": False},
    # the next whole number has more digits than Python writes
    {"client": "a", "operations": [[1, "cell", "X", 10**4300 - 1, 0, "1", ""]], "more": False},
    {"client": "a", "operations": [[1, "cell", "X", 0, 0, 1, ""]], "more": False},
    {"client": "a", "operations": [[1, "launch", "X", 0, 0, "1", ""]], "more": False},
    {"client": "a", "operations": [[1, ["cell"], "X", 0, 0, "1", ""]], "more": False},
    {"client": "a", "operations": [[1, "end", "", 0, 0, "", ""]] * (MAX_EDITED + 1), "more": False},
]


@pytest.mark.parametrize("value", FOREIGN)
def test_what_is_no_message_of_the_board_is_passed_over(value):
    assert read(value) is None


def test_a_message_is_read_as_it_was_sent():
    sent = {"client": "a", "operations": [[7, "cell", "X", 0, 2, "0.5", ""]], "more": True}
    message = read(sent)
    assert message is not None
    assert (message.client, message.more) == ("a", True)
    assert message.operations == (cell(7, "X", 0, 2, "0.5"),)
