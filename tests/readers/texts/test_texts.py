"""Numbers out of text: every form to the bit, every refusal one whole sentence, and no text that
takes the memory.

Of the texts of 8 MB a share of those unlike each other, by the growth of a process; with THOROUGH=1
all of them, also by what Python counts, which takes five times as long.
"""

import csv
import io
import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from itertools import product
from pathlib import Path

import messages
import numpy as np
import pandas as pd
import pytest
from amount import THOROUGH, few, some
from hypothesis import given
from hypothesis import strategies as st

from attention.exports import text as exports
from attention.limits import LIMIT, BadInput
from attention.readers import opening
from attention.readers.cells.entry import ALONE
from attention.readers.texts.tables import disarmed, rearmed
from attention.readers.texts.texts import entries
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view

ROOT = Path(__file__).parents[3]
VALUES = [[0.1, -2.5, 1 / 3], [-0.0, 123456789.125, 5e-324]]
LABELS = ("cat", "dog")
HEAD = messages.FIRST_LINE_NAMES_COLUMNS
DECIMAL = messages.COMMAS_ARE_DECIMAL


def the_one(text, comma=None):
    found = entries(text, "it", {"comma": comma} if comma else {})
    assert list(found) == [ALONE]
    return found[ALONE]


def same(entry, values) -> None:
    """The very bits, so that −0 is not 0."""
    values = np.array(values, dtype=np.float64)
    assert entry.shape == entry.read().shape == values.shape
    assert entry.read().tobytes() == values.tobytes()


def lines(values, separator, decimal=".") -> str:
    return "\n".join(separator.join(repr(v).replace(".", decimal) for v in row) for row in values)


# ---- numbers and what separates them ------------------------------------------------------------


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";", ", ", "   ", " ; ", "\t ", " , "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", " \n"])
def test_numbers_are_read_to_the_bit_whatever_separates_them(separator, end):
    same(the_one("\ufeff" + lines(VALUES, separator).replace("\n", end) + end), VALUES)


@given(st.lists(st.tuples(*[st.floats(-LIMIT, LIMIT)] * 2), min_size=2, max_size=5))
def test_any_number_in_any_form_comes_back_bit_for_bit(rows):
    rows = [list(row) for row in rows]
    pairs = dict(enumerate(rows))
    for separator in (" ", "\t", ",", ";"):
        same(the_one(lines(rows, separator)), rows)
        same(
            the_one(
                "\n".join(f"w{k}{separator}{lines([row], separator)}" for k, row in pairs.items())
            ),
            rows,
        )
    same(the_one(lines(rows, "\t", ","), "decimal"), rows)
    same(the_one(json.dumps(rows)), rows)
    same(the_one(json.dumps({f"w{k}": row for k, row in pairs.items()})), rows)
    same(the_one(repr(rows)), rows)
    with np.printoptions(precision=17, floatmode="unique"):
        same(the_one(repr(np.array(rows))), rows)
    same(entries(f"X = {rows}", "it")["X"], rows)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5", [[5]]),
        ("1 2 3", [[1, 2, 3]]),
        ("0.5 1; 3 4", [[0.5, 1], [3, 4]]),
        ("[1 2; 3 4]", [[1, 2], [3, 4]]),
        ("0.5, 1; 3, 4", [[0.5, 1], [3, 4]]),
        ("1 2;\n3 4;", [[1, 2], [3, 4]]),
        ("1,2,\n3,4,", [[1, 2], [3, 4]]),
        ("1;2;\n3;4;", [[1, 2], [3, 4]]),
        ("1 2\n, ,\n3 4,", [[1, 2], [3, 4]]),
        ("\u22121 2", [[-1, 2]]),
        ("1 2\n\n3 4\n\n\n5 6", [[1, 2], [3, 4], [5, 6]]),
        ("nan inf\n-inf 1", [[np.nan, np.inf], [-np.inf, 1]]),
    ],
)
def test_the_usual_ways_to_type_numbers(text, values):
    same(the_one(text), values)


# ---- what programs print ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["<f4", "<f8"])
@pytest.mark.parametrize("shape", [(3,), (1, 1), (2, 30), (2, 3, 4), (3, 1, 2)])
@pytest.mark.parametrize("write", [str, repr, lambda a: f"X = np.{a!r}", lambda a: f"x: {a}"])
def test_numpy_prints_and_the_same_numbers_are_read(kind, shape, write):
    array = np.random.default_rng(1).standard_normal(shape).astype(kind)
    with np.printoptions(precision=17, floatmode="unique", threshold=10**6):
        (entry,) = entries(write(array), "it").values()
    printed = np.array(
        [float(str(value)) for value in array.ravel()]
    )  # float32 0.1 is printed as 0.1
    same(entry, printed.reshape(shape if len(shape) > 1 else (1, *shape)))


TWO = [[0.5, -1.25], [3, 4]]


@pytest.mark.parametrize(
    "text",
    [
        "tensor([[ 0.5000, -1.2500],\n        [ 3.0000,  4.0000]], grad_fn=<MmBackward0>)",
        (
            "tensor([[ 0.5000, -1.2500],\n        [ 3.0000,  4.0000]], device='cuda:0',"
            " dtype=torch.float16)"
        ),
        (
            "Parameter containing:\ntensor([[ 0.5000, -1.2500],\n        [ 3.0000,  4.0000]],"
            " requires_grad=True)"
        ),
        "Array([[ 0.5 , -1.25],\n       [ 3.  ,  4.  ]], dtype=float32)",
        "tf.Tensor(\n[[ 0.5  -1.25]\n [ 3.    4.  ]], shape=(2, 2), dtype=float32)",
        (
            "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[ 0.5 , -1.25],\n       [ 3. "
            " ,  4.  ]], dtype=float32)>"
        ),
        (
            "<tf.Variable 'x:0' shape=(2, 2) dtype=float32, numpy=\narray([[ 0.5 , -1.25],\n      "
            " [ 3.  ,  4.  ]], dtype=float32)>"
        ),
        "[[np.float64(0.5), np.float64(-1.25)], [np.float64(3.0), np.float64(4.0)]]",
        "[[5.e-01, -125e-2],\n [3, 4]]",
    ],
)
def test_frameworks_print_and_the_same_numbers_are_read(text):
    same(the_one(text), TWO)


def test_several_axes_of_pytorch_are_read():
    text = "tensor([[[1., 2.],\n         [3., 4.]],\n\n        [[5., 6.],\n         [7., 8.]]])"
    same(the_one(text), [[[1, 2], [3, 4]], [[5, 6], [7, 8]]])


def test_assignments_are_read_by_name_and_lists_of_words_are_passed_over():
    found = entries(
        "words = ['a', 'b']\nX = [[1, 2],\n     [3, 4]]\nW_Q = np.array([[0.5, 1.]])\nK ="
        " torch.tensor([[7.]])\n",
        "it",
    )
    assert list(found) == ["X", "W_Q", "K"]
    same(found["X"], [[1, 2], [3, 4]])
    same(found["W_Q"], [[0.5, 1]])
    same(found["K"], [[7]])


# ---- JSON ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        (VALUES, ()),
        ({"values": VALUES, "rows": ["cat", "dog"]}, LABELS),
        ({"cat": VALUES[0], "dog": VALUES[1]}, LABELS),
    ],
)
def test_json_of_one_array_is_read_with_its_labels(value, rows):
    for indent in (None, 2):
        entry = the_one(json.dumps(value, indent=indent))
        same(entry, VALUES)
        assert (entry.rows, entry.remark) == (rows, "")


def test_json_of_several_arrays_is_read_by_name():
    found = entries(
        json.dumps({"tokens": LABELS, "X": VALUES, "W": {"values": [[1]]}, "note": "x"}), "it"
    )
    assert list(found) == ["X", "W"]
    same(found["X"], VALUES)
    assert (found["X"].rows, found["W"].rows) == (LABELS, ())
    assert found["X"].remark == messages.PASSED_OVER_NO_ROWS.format(names="note", more="")


@pytest.mark.parametrize(
    "text",
    [
        "[[0, -0, 0.0, 0e-999, 999999999999, 0.1]]",
        "0 -0 0.0 0e-999 999999999999 0.1",
        "array([[0, -0, 0.0, 0e-999, 999999999999, 0.1]])",
    ],
)
def test_zero_stays_zero_and_an_integer_stays_whole_in_every_form(text):
    same(the_one(text), [[0, -0.0, 0, 0, 999999999999, 0.1]])


def test_json_knows_no_infinity_and_words_stand_for_it():
    same(
        the_one('[["inf", "-inf", NaN], [-Infinity, "nan", 1]]'),
        [[np.inf, -np.inf, np.nan], [-np.inf, np.nan, 1]],
    )


@pytest.mark.parametrize("form", [exports.to_json, exports.to_matrices])
@pytest.mark.parametrize("example", few(EXAMPLES))
def test_what_this_page_saves_it_reads(form, example):
    settings = EXAMPLES[example].build()
    shown = view(settings, run(settings))
    found = entries(form(shown).decode(), "it")
    assert list(found) == list(shown.stages)
    for name, matrix in shown.stages.items():
        same(found[name], matrix)
        assert found[name].rows == tuple(shown.rows(name))


@pytest.mark.parametrize("form", [exports.to_json, exports.to_matrices])
def test_spaces_around_a_token_are_saved_and_read(form):
    tokens = (" the", "cat ", "\u00a0sat", " =1 ")
    settings = replace(EXAMPLES["four-words"].build(), tokens=tokens)
    found = entries(form(view(settings, run(settings))).decode(), "it")
    assert {found[name].rows for name in ("X", "Q", "scores", "output")} == {tokens}


# ---- tables -------------------------------------------------------------------------------------


FRAME = pd.DataFrame(VALUES, columns=["a", "b", "c"], index=LABELS)
TABLES = {
    "pandas": (FRAME.to_csv(), LABELS, HEAD),
    "pandas without index": (FRAME.to_csv(index=False), (), HEAD),
    "pandas with a name": (FRAME.rename_axis("word").to_csv(sep="\t"), LABELS, HEAD),
    "pandas in Europe": (
        FRAME.to_csv(sep=";", decimal=","),
        LABELS,
        f"{DECIMAL} {HEAD}",
    ),
    "tabs": (
        "word\ta\tb\tc\r\ncat\t" + lines(VALUES, "\t").replace("\n", "\r\ndog\t") + "\r\n",
        LABELS,
        HEAD,
    ),
    "decimal": ("cat\t" + lines(VALUES, "\t", ",").replace("\n", "\ndog\t"), LABELS, DECIMAL),
    "quoted": (
        '"cat","' + lines(VALUES, '","').replace("\n", '"\r\n"dog","') + '"\r\n',
        LABELS,
        "",
    ),
    "trailing lines": (
        "cat," + lines(VALUES, ",").replace("\n", "\ndog,") + "\n,,,\n,,,\n",
        LABELS,
        "",
    ),
    "spaced": ("a b c\n" + lines(VALUES, "  "), (), HEAD),
    "comma after the word": ("cat, " + lines(VALUES, " ").replace("\n", "\ndog, "), LABELS, ""),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_with_their_heads_and_labels(name):
    text, rows, remark = TABLES[name]
    entry = the_one("\ufeff" + text)
    same(entry, VALUES)
    assert (entry.rows, entry.remark) == (rows, remark)


def test_quotation_marks_keep_what_separates_inside_a_cell():
    entry = the_one('"big, red",1,2\n"say ""no""",3,4\n"two\nlines",5,6\n')
    assert entry.rows == ("big, red", 'say "no"', "two\nlines")
    same(entry, [[1, 2], [3, 4], [5, 6]])


@pytest.mark.parametrize("separator", list(",;\t"))
@pytest.mark.parametrize(
    "labels", [("a\nb", "c\td"), ("c\td", "a\nb"), ("a\n\nb;c", "d\t,e"), ('"\n"', '"\t;,')]
)
def test_a_line_break_in_one_quoted_cell_and_a_separator_in_another_are_parts_of_these_cells(
    labels, separator
):
    text = io.StringIO()
    rows = [[labels[0], 1, 2], [labels[1], 3, 4], ["x", 5, 6]]
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    entry = the_one(text.getvalue())
    assert entry.rows == (*labels, "x")
    same(entry, [[1, 2], [3, 4], [5, 6]])


HOSTILE = [
    "=1+1",
    "'=x",
    "''",
    "'",
    "-a",
    "+",
    "@me",
    "\tx",
    "＝1+1",
    "＋",
    "－a",
    "＠me",
    "'＝",
    '"',
    'a"b',
    "🙂",
    "שלום",
    "\u200b",
    "\u202ereversed",
    "a,b",
    "a;b",
    "−",
    "<b>",
]


@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_labels_come_back_as_they_were(label):
    assert rearmed(disarmed(label)) == label
    for separator in "\t;,":
        text = io.StringIO()
        pd.DataFrame([[1.5, 2], [3, 4]], index=[disarmed(label), "x"]).to_csv(
            text, sep=separator, header=False
        )
        assert the_one(text.getvalue()).rows == (label, "x")
    assert the_one(json.dumps({label: [1, 2], "x": [3, 4]})).rows == (label, "x")


@given(st.text(max_size=9))
def test_any_label_is_disarmed_and_rearmed(label):
    assert rearmed(disarmed(label)) == label
    assert not disarmed(label).startswith(tuple("=+-@＝＋－＠\t\r\n"))


@pytest.mark.parametrize("label", ["＝1+1", "＋", "－a", "＠me", "\nx"])
def test_a_label_that_a_spreadsheet_runs_is_disarmed(label):
    assert disarmed(label) == f"'{label}"


def test_blocks_between_empty_lines_are_several_arrays():
    same(the_one("1 2\n3 4\n\n5 6\n7 8"), [[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
    found = entries("1 2\n3 4\n\n\n5 6 7\n8 9 0\n", "it")
    assert list(found) == ["numbers 1", "numbers 2"]
    same(found["numbers 2"], [[5, 6, 7], [8, 9, 0]])
    found = entries("Q,a,b\nw1,1,2\nw2,3,4\n\nK,a\nw1,5\nw2,6\n", "it")
    assert list(found) == ["Q", "K"]
    same(found["K"], [[5], [6]])
    assert found["K"].rows == ("w1", "w2")


# ---- word vectors -------------------------------------------------------------------------------


GLOVE = [
    "the",
    ",",
    ".",
    ";",
    "of",
    "1,000",
    "''",
    '"',
    "'-",
    "0",
    ". . .",
    "at name@domain.com",
    "=",
    "|",
    "🙂",
    "(",
    "1999",
]


def test_glove_has_no_header_and_its_words_may_be_anything():
    numbers = np.random.default_rng(2).standard_normal((len(GLOVE), 5)).round(6)
    text = "".join(
        f"{word} {' '.join(map(repr, row))}\n"
        for word, row in zip(GLOVE, numbers.tolist(), strict=True)
    )
    entry = the_one(text)
    assert (entry.rows, entry.remark) == (tuple(GLOVE), "")
    same(entry, numbers)
    assert entry.pick([3, 3, 0]).tolist() == numbers[[3, 3, 0]].tolist()


def test_commas_of_words_far_below_separate_nothing():
    words = [*(f"w{k}" for k in range(300)), ",", ";", "2,5"]
    entry = the_one("".join(f"{word} {k} 0.5\n" for k, word in enumerate(words)))
    assert entry.rows == tuple(words)
    assert entry.read()[:, 0].tolist() == list(range(303))


@pytest.mark.parametrize(
    ("count", "remark"),
    [(3, ""), (400_000, messages.OTHER_COUNT_OF_WORDS.format(told="400,000", found=3))],
)
def test_word2vec_and_fasttext_begin_with_two_counts(count, remark):
    entry = the_one(f"{count} 2\nthe 0.5 -1 \n, 1 2 \n3 4 5 \n")
    assert (entry.rows, entry.remark) == (("the", ",", "3"), remark)
    same(entry, [[0.5, -1], [1, 2], [4, 5]])


def test_of_long_word_vectors_only_the_wanted_lines_are_read():
    entry = the_one(
        "".join(f"w{k} {'0.5 ' * 49}{k}\n" for k in range(9_000)) + "broken " + "x " * 50
    )
    assert entry.shape == (9_001, 50)
    assert entry.pick([8_999, 3])[:, -1].tolist() == [8_999, 3]
    with pytest.raises(BadInput) as problem:
        entry.read()
    assert str(problem.value) == messages.TOO_MANY_NUMBERS_AT_ONCE.format(
        place="it", size="9,001 × 50", limit="400,000"
    )


# ---- commas that can be read in two ways --------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0,5\t1,25\n3\t4", [[0.5, 1.25], [3, 4]]),
        ("0,5;1,25\n3;4", [[0.5, 1.25], [3, 4]]),
        ("cat 0,5 1,25\ndog 3 4", [[0.5, 1.25], [3, 4]]),
        ("1,234\t0,5", [[1.234, 0.5]]),
        ("1,234,567\t1,000", [[1234567, 1000]]),
        ("1, 2;\n3, 4", [[1, 2], [3, 4]]),
        ("1,2,3\n4,5,6", [[1, 2, 3], [4, 5, 6]]),
        ("0.5,1 2\n3,4 5", [[0.5, 1, 2], [3, 4, 5]]),
    ],
)
def test_a_comma_that_can_mean_one_thing_only_is_not_asked_about(text, values):
    entry = the_one(text)
    same(entry, values)
    assert "comma" not in [choice.key for choice in entry.choices]


@pytest.mark.parametrize(
    ("text", "what", "shown", "decimal", "separates"),
    [
        (
            "1,2 3,4\n5,6 7,8",
            "numbers",
            "1,2 3,4",
            [[1.2, 3.4], [5.6, 7.8]],
            [[1, 2, 3, 4], [5, 6, 7, 8]],
        ),
        ("1,5;2,5", "numbers", "1,5;2,5", [[1.5, 2.5]], [[1, 5], [2, 5]]),
        ("2\t1,234\n3\t4", "thousands", "1,234", [[2, 1.234], [3, 4]], [[2, 1234], [3, 4]]),
        ("2;1,234\n3;4", "thousands", "1,234", [[2, 1.234], [3, 4]], [[2, 1234], [3, 4]]),
    ],
)
def test_a_comma_that_can_mean_two_things_is_asked_about(text, what, shown, decimal, separates):
    entry = the_one(text)
    (choice,) = entry.choices
    assert (choice.key, choice.taken) == ("comma", "decimal")
    assert list(choice.options) == ["decimal", "separates"]
    assert choice.question == messages.AMBIGUOUS_COMMA.format(
        place="it", line=1, quoted=shown, separated=what
    )
    same(entry, decimal)
    same(the_one(text, "decimal"), decimal)
    same(the_one(text, "separates"), separates)
    assert the_one(text, "separates").choices[0].taken == "separates"
    same(the_one(text, "no such answer"), decimal)


# ---- what is refused ----------------------------------------------------------------------------


BAD = {
    "empty": ("", messages.EMPTY_TEXT.format(place="it")),
    "blank": (" \r\n\t\n", messages.EMPTY_TEXT.format(place="it")),
    "only separators": (" ,\n;,;", messages.NO_NUMBERS.format(place="it")),
    "only quoted nothing": ('"",""\n"",', messages.NO_NUMBERS.format(place="it")),
    "short line": (
        "1 2\n\n3\n",
        messages.ROW_LENGTH.format(place="it", line=3, found=1, plural="", expected=2, first=1),
    ),
    "a short line of words": (
        "1 2 3\n4 five",
        messages.NOT_A_NUMBER.format(place="it, line 2, column 2", found="five"),
    ),
    "long line": (
        "1,2\n3,4,5",
        messages.ROW_LENGTH.format(place="it", line=2, found=3, plural="s", expected=2, first=1),
    ),
    "short labelled line": (
        "cat 1 2\ndog 3",
        messages.ROW_LENGTH.format(place="it", line=2, found=1, plural="", expected=2, first=1),
    ),
    "letters": ("1 2\n3 x", messages.NOT_A_NUMBER.format(place="it, line 2, column 2", found="x")),
    "letters in line 1": (
        "1 x\n3 4",
        messages.NOT_A_NUMBER.format(place="it, line 1, column 2", found="x"),
    ),
    "letters after a label": (
        "cat 1 2\ndog 3 x",
        messages.NOT_A_NUMBER.format(place="it, line 2, column 3", found="x"),
    ),
    "a word": ("cat", messages.NO_NUMBERS.format(place="it")),
    "words": ("the cat sat", messages.NO_NUMBERS.format(place="it")),
    "long word": (
        "1 " + "x" * 99,
        messages.NOT_A_NUMBER.format(place="it, line 1, column 2", found=f"{'x' * 23}…"),
    ),
    "empty cell": ("1,,2\n3,4,5", messages.EMPTY_CELL.format(place="it, line 1, column 2")),
    "too large": (
        "1 2\n3 -1e13",
        messages.NUMBER_TOO_LARGE.format(place="it, line 2, column 2", found="-1e13"),
    ),
    "after an empty line": (
        "1 2\n3 4\n\n5 6\n7 x",
        messages.NOT_A_NUMBER.format(place="it, line 5, column 2", found="x"),
    ),
    "open quotation mark": (
        '1,2\n"3,4\n5,6',
        messages.OPEN_QUOTATION.format(place="it", line=3),
    ),
    "quotation mark inside": (
        '"a"b,1\nc,2',
        messages.OPEN_QUOTATION.format(place="it", line=1),
    ),
    "zero byte": ("1 2\n3\x00", messages.ZERO_BYTE.format(place="it", chr=6)),
    "ellipsis": (
        "[[1 2 ... 3]]",
        messages.DOTS_STAND_FOR_NUMBERS.format(
            place="it, line 1", line="np.set_printoptions(threshold=10**6)"
        ),
    ),
    "bracket missing": (
        "[[1, 2], [3, 4",
        messages.NOT_CLOSED.format(place="it, line 1"),
    ),
    "printed words": ("X = ['a', 'b']", messages.NO_NUMBERS.format(place="it")),
    "printed ragged": (
        "X = [[1, 2], [3]]",
        messages.RAGGED_PRINTED.format(place="it, line 1", row=2, found=1, plural="", expected=2),
    ),
    "block twice": (
        "Q,a\nx,1\ny,2\n\nQ,a\nx,1\ny,2\n",
        messages.NAME_TWICE.format(place="it", name="Q"),
    ),
    "many arrays": (
        "\n".join(f"a{k}:\n[[1], [2]]" for k in range(4_097)),
        messages.TOO_MANY_ARRAYS_IN_JSON.format(place="it", found="4,097", limit="4,096"),
    ),
    "JSON broken": (
        '{"X":\n [[1, 2], [3, 4}',
        messages.NO_JSON.format(place="it", line=2, column=16, why="expecting ',' delimiter"),
    ),
    "JSON name twice": (
        '{"X": [[1]], "X": [[2]]}',
        messages.NAME_STANDS_TWICE.format(place="it", name="X"),
    ),
    "JSON nested": (
        "[" * 50_000 + "1" + "]" * 50_000,
        messages.NESTED_TOO_DEEPLY.format(place="it"),
    ),
    "JSON axes": (
        "[[[[[1]]]]]",
        messages.TOO_MANY_AXES.format(place="it", axes=5, size="1 × 1 × 1 × 1 × 1"),
    ),
    "JSON empty": ("[]", messages.EMPTY_LIST.format(place="it")),
    "JSON empty rows": ("[[], []]", messages.EMPTY_LIST.format(place="it, row 1")),
    "JSON empty blocks": (
        '{"X": [[[]]]}',
        messages.EMPTY_LIST.format(place="it, X, block 1, row 1"),
    ),
    "JSON without arrays": (
        '{"a": 1}',
        messages.JSON_WITHOUT_ARRAYS.format(place="it"),
    ),
    "JSON ragged": (
        '{"X": [[1, 2], [3]]}',
        messages.ENTRIES_DIFFER.format(place="it, X, row 2", found="1 entry", expected=2),
    ),
    "JSON no row": (
        "[[1, 2], 3]",
        messages.ENTRIES_DIFFER.format(place="it, row 2", found="“3”", expected=2),
    ),
    "JSON no row but 0": (
        "[[1, 2], 0]",
        messages.ENTRIES_DIFFER.format(place="it, row 2", found="“0”", expected=2),
    ),
    "JSON null": ("[[1, null]]", messages.EMPTY_CELL.format(place="it, row 1, column 2")),
    "JSON word": (
        '[[[1], ["x"]]]',
        messages.NOT_A_NUMBER.format(place="it, block 1, row 2, column 1", found="x"),
    ),
    "JSON bool": (
        "[[1, true]]",
        messages.NOT_A_NUMBER_IN_JSON.format(place="it, row 1, column 2", found="true"),
    ),
    "JSON list": (
        "[[1, [2]]]",
        messages.NOT_A_NUMBER_IN_JSON.format(place="it, row 1, column 2", found="a list"),
    ),
    "JSON large": (
        "[[1e13]]",
        messages.NUMBER_TOO_LARGE.format(place="it, row 1, column 1", found="1e13"),
    ),
    "JSON beyond float64": (
        "[[1, 1e400]]",
        messages.NUMBER_TOO_LARGE.format(place="it, row 1, column 2", found="1e400"),
    ),
    "JSON vector beyond float64": (
        '{"cat": [-1e400, 2]}',
        messages.NUMBER_TOO_LARGE.format(place="it, row 1, column 1", found="-1e400"),
    ),
    "JSON integer": (
        "[[9007199254740993]]",
        messages.NUMBER_TOO_LARGE.format(place="it, row 1, column 1", found=9007199254740993),
    ),
    "JSON below float64": (
        "[[1e-400]]",
        messages.NUMBER_VANISHES.format(place="it, row 1, column 1", found="1e-400"),
    ),
    "beyond float64": (
        "1 2\n3 1e400",
        messages.NUMBER_TOO_LARGE.format(place="it, line 2, column 2", found="1e400"),
    ),
    "integer": (
        "1 2\n3 9007199254740993",
        messages.NUMBER_TOO_LARGE.format(place="it, line 2, column 2", found=9007199254740993),
    ),
    "below float64": (
        "1 2\n3 -0.02e-400",
        messages.NUMBER_VANISHES.format(place="it, line 2, column 2", found="-0.02e-400"),
    ),
    "thousands": (
        "1\t2\n3\t1,000,000,000,001.5",
        messages.NUMBER_TOO_LARGE.format(place="it, line 2, column 2", found="1,000,000,000,001.5"),
    ),
    "printed beyond float64": (
        "array([[1., 1e400]])",
        messages.NUMBER_TOO_LARGE.format(place="it, line 1", found="1e400"),
    ),
    "printed integer": (
        "tensor([[9007199254740993]])",
        messages.NUMBER_TOO_LARGE.format(place="it, line 1", found=9007199254740993),
    ),
    "printed below float64": (
        "array([[1., 1e-400]])",
        messages.NUMBER_VANISHES.format(place="it, line 1", found="1e-400"),
    ),
    "JSON half a character": (
        '{"\\ud83d": [[1]]}',
        messages.HALF_A_CHARACTER.format(half="it: \\ud83d"),
    ),
    "JSON wide": (
        "[" + "1," * 400_000 + "1]",
        messages.TOO_MANY_NUMBERS.format(place="it", size="1 × 400001", limit="400,000"),
    ),
    "JSON arrays": (
        "{" + ",".join(f'"{k}":[[1]]' for k in range(4_097)) + "}",
        messages.TOO_MANY_ARRAYS_IN_JSON.format(place="it", found="4,097", limit="4,096"),
    ),
    "characters": (
        " " * (8 * 2**20 + 1),
        messages.TOO_MANY_MARKS.format(
            place="it", found="8,388,609", marks="characters", limit="8,388,608"
        ),
    ),
    "lines": (
        "1\n" * 400_001,
        messages.TOO_MANY_MARKS.format(place="it", found="400,001", marks="lines", limit="400,000"),
    ),
    "old lines": (
        "1\r" * 400_001,
        messages.TOO_MANY_MARKS.format(place="it", found="400,001", marks="lines", limit="400,000"),
    ),
    "lines of a table": (
        "a 1\n" * 150_001,
        messages.TOO_MANY_LINES.format(place="it", found="150,001", limit="150,000"),
    ),
    "old lines of a table": (
        "a 1\r" * 150_001,
        messages.TOO_MANY_LINES.format(place="it", found="150,001", limit="150,000"),
    ),
    "printed numbers": (
        "array([" + ("[" + "1, " * 4_000 + "1],\n") * 100 + "])",
        messages.TOO_MANY_PRINTED.format(place="it, line 1", found="400,100", limit="400,000"),
    ),
    "printed heads": (
        "[" + ("[" + f"[{'1 ' * 400}]\n" * 20 + "]\n") * 51 + "]",
        messages.TOO_MANY_PRINTED.format(place="it, line 1", found="408,000", limit="400,000"),
    ),
    "brackets": (
        "[" * 100_001,
        messages.TOO_MANY_MARKS.format(
            place="it", found="100,001", marks="brackets", limit="100,000"
        ),
    ),
    "braces": (
        "{" * 100_001,
        messages.TOO_MANY_MARKS.format(
            place="it", found="100,001", marks="brackets", limit="100,000"
        ),
    ),
    "colons": (
        "{" + ":" * 100_001,
        messages.TOO_MANY_MARKS.format(
            place="it", found="100,001", marks="colons", limit="100,000"
        ),
    ),
    "commas": (
        "," * 1_200_001,
        messages.TOO_MANY_MARKS.format(
            place="it", found="1,200,001", marks="commas", limit="1,200,000"
        ),
    ),
    "tabs": (
        "1" + "\t" * 1_200_001,
        messages.TOO_MANY_MARKS.format(
            place="it", found="1,200,001", marks="tabs", limit="1,200,000"
        ),
    ),
    "semicolons": (
        ";" * 400_001,
        messages.TOO_MANY_MARKS.format(
            place="it", found="400,001", marks="semicolons", limit="400,000"
        ),
    ),
    "wide line": (
        "1 " * 400_001,
        messages.TOO_MANY_CELLS.format(place="it", line=1, found="400,001", limit="400,000"),
    ),
    "many numbers": (
        "1 2 3 4 5\n" * 80_001,
        messages.TOO_MANY_NUMBERS.format(place="it", size="80,001 × 5", limit="400,000"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_is_explained_with_its_place(case):
    text, message = BAD[case]
    with pytest.raises(BadInput) as refused:
        for entry in entries(text, "it").values():
            entry.read()
    assert str(refused.value) == message


LONG = "é\x07\u202e<b>🙂" * 5_000


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        f"1 {LONG}",
        f'["{LONG}"]',
        f'{{"{LONG}": [[{{}}]]}}',
        f'{{"{LONG}": 1, "{LONG}": 2}}',
        f'[["{LONG}"]]',
        f'[[1], "{LONG}"]',
        f"X = [[{LONG}]]",
        f"a{LONG}\t1\nb\t{LONG}",
        f"{'1' * 9_999},5 2,5",
        f"{'1' * 9_999},5;1,5",
        f'"{LONG}',
        f"array([[1, {LONG}",
        f"[[[[[[1,{LONG}",
        f"{'9' * 9_999}\t1,000",
    ],
)
def test_no_sentence_grows_with_what_it_is_about(text):
    where = "w" * 40
    with pytest.raises(BadInput) as refused:
        for entry in entries(text, where).values():
            entry.read()
    assert 0 < len(str(refused.value)) <= 300


# ---- memory -------------------------------------------------------------------------------------


def filled(piece: str, before: str = "", after: str = "", most: int = 10**9) -> str:
    """A piece over and over, up to 8 MB or as often as is accepted."""
    room = 8 * 2**20 - len((before + after).encode())
    return before + piece * min(room // len(piece.encode()), most) + after


HEAVY = {
    "lines": lambda: filled("ab 1 2 3 4 5 6 7 8 9\n"),
    "emoji": lambda: filled("🙂" * 4 + " 1\n"),
    "one emoji among letters": lambda: filled("ab 1 2 3 4 5 6 7 8 9\n", "🙂 1 2 3 4 5 6 7 8 9\n"),
    "quoted": lambda: filled('"🙂","2","33"\r\n', most=390_000),
    "quotation marks": lambda: filled('"'),
    "commas": lambda: filled("11,", most=1_199_999),
    "commas and spaces": lambda: filled("11 ", "1, 2 "),
    "tabs": lambda: filled("a\t11\t22\t33\n", most=390_000),
    "semicolons": lambda: filled("11 22;", most=399_999),
    "decimal commas": lambda: filled("1,5\t2,5\t3,5\n", most=390_000),
    "words": lambda: filled("ab "),
    "printout": lambda: filled("11 ", "array([[", "]])"),
    "blocks": lambda: filled("11 22\n33 44\n\n", most=40_000),
    "brackets": lambda: filled("[11],", most=99_999),
    "JSON of empty lists": lambda: filled("[],", "[", "[]]", most=99_990),
    "JSON of empty objects": lambda: filled("{},", "[", "{}]", most=99_990),
    "JSON of words": lambda: filled('"🙂",', '{"tokens":[', '"a"],"X":[[1]]}', most=1_199_000),
    "JSON of names": lambda: "{" + ",".join(f'"{k}🙂":0' for k in range(99_000)) + "}",
    "JSON of numbers": lambda: filled("1.5,", "[[", "1]]", most=1_199_000),
    "JSON on each line": lambda: filled('{"a":1,"b":2}\n', most=49_000),
    "Markdown": lambda: filled("|1|2|\n", "|a|b|\n|-|-|\n", most=199_000),
    "comments": lambda: filled("# a b\n", after="1 2", most=390_000),
}


ALIKE = {"lines", "tabs", "decimal commas", "semicolons", "words"}  # slow, and like another above


STATUS = Path("/proc/self/status")
READ = """
import os, re, sys
from pathlib import Path
from attention.limits import BadInput
from attention.readers import opening

def held(what):
    return 1024 * int(re.search(what + r":\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])

for path in sys.stdin:
    if os.fork():  # a process for each text, in which all is imported and nothing was read
        os.wait()
        continue
    content = Path(path.strip()).read_bytes()
    text = content.decode()
    before, said = held("VmRSS"), ""
    del text
    try:
        for entry in opening.opened("a.txt", content).values():
            entry.read()
    except BadInput as refused:
        said = str(refused)
    print(held("VmHWM") - before, len(said), flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def reader():
    """A process that reads the file of each line it is given; says how it grew, and what it said.

    BLAS on one thread: a process of several cannot be forked safely.
    """
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command, pipe = [sys.executable, "-c", READ], subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True, env=alone) as ran:
        yield ran
        ran.stdin.close()


@pytest.mark.skipif(not STATUS.exists(), reason="how a process has grown is read in /proc")
@pytest.mark.parametrize("name", some((name for name in HEAVY if name not in ALIKE), of=4))
def test_no_text_of_8_mb_makes_a_process_grow_by_180_mb_beyond_itself(name, tmp_path, reader):
    file = tmp_path / "a.txt"
    file.write_bytes(HEAVY[name]().encode())
    assert file.stat().st_size <= 8 * 2**20
    reader.stdin.write(f"{file}\n")
    reader.stdin.flush()
    grown, said = map(int, reader.stdout.readline().split())
    assert -1_000_000 < grown < 180_000_000  # the kernel counts roughly
    assert said <= 300


@pytest.mark.skipif(STATUS.exists() and not THOROUGH, reason="THOROUGH=1 runs it")
@pytest.mark.parametrize("name", HEAVY)
def test_no_text_of_8_mb_takes_150_mb_above_itself(name):
    content = HEAVY[name]().encode()
    itself = sys.getsizeof(content.decode())
    tracemalloc.start()
    try:
        for entry in opening.opened("a.txt", content).values():
            entry.read()
    except BadInput as refused:
        assert len(str(refused)) <= 300
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - itself < 150_000_000


# ---- good tables of many makes ------------------------------------------------------------------

HEADS = ["none", "words", "corner", "numbers"]


LABELLED = [(), ("cat", "dog", "it's"), ("New York", ". .", "e\u0301"), ("1990s a", "the", "of")]
BETWEEN = [" ", "   ", ",", ", ", "\t", ";", "; "]


@pytest.mark.parametrize(
    ("head", "labels", "between", "decimal"), some(product(HEADS, LABELLED, BETWEEN, ".,"), of=8)
)
def test_every_make_of_a_table_is_read_as_it_was_meant_or_asked_about(
    head, labels, between, decimal
):
    values = [[0.5, -1.25, 3.0], [2.0, 1e-3, -0.125], [10.0, 20.5, 30.0]]
    heads = {
        "none": [],
        "words": ["x", "y", "z"],
        "corner": ["word", "x", "y", "z"],
        "numbers": ["word", "0", "1", "2"],
    }[head]
    if (not labels and head in ("corner", "numbers")) or (
        labels and head == "words" and between.strip()
    ):
        pytest.skip("no program writes this")
    if decimal == "," and between.strip() == ",":
        pytest.skip("nobody can read this")
    if " " in "".join(labels) and between in (", ", "; "):
        between = between.strip()
    number = lambda v: repr(v).replace(".", decimal)  # noqa: E731
    lines = [between.join(heads)] * bool(heads)
    lines += [between.join([*labels[k : k + 1], *map(number, row)]) for k, row in enumerate(values)]
    text = "\n".join(lines)
    found = entries(text, "it")
    assert found[ALONE].read().tolist() == values
    assert found[ALONE].rows == labels


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("columns", [["a", "b"], [0, 1], ["0", "1"]])
@pytest.mark.parametrize("names", [None, ["cat", "dog", "bird"], [7, 8, 9]])
def test_what_pandas_writes_and_prints_is_read_as_it_was_meant(index, columns, names):
    values = [[0.5, -1.25], [2.0, 0.001], [10.0, 20.5]]
    frame = pd.DataFrame(values, columns=columns, index=names)
    labels = tuple(map(str, frame.index)) if index else ()
    for text in (
        frame.to_csv(index=index),
        frame.to_csv(index=index, sep="\t"),
        frame.to_string(index=index),
    ):
        found = entries(text, "it")[ALONE]
        assert (found.read().tolist(), found.rows) == (values, labels)
        numbered = not index and columns[0] != "a"
        assert found.remark == ("" if numbered else HEAD)
        assert [(choice.key, choice.taken) for choice in found.choices] == [
            ("names", "names")
        ] * numbered
        assert found.columns == (("a", "b") if columns[0] == "a" else ())


@pytest.mark.parametrize("text", ["0 1\n0.5 0.5", "0,1\n1,0", "0, 1\n0.5, 2.5", "0,1\n0.5,2"])
def test_a_first_row_of_0_and_1_is_a_row_where_no_program_wrote_it(text):
    assert the_one(text).shape == (2, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (pd.DataFrame([[5, 6], [8, 9]]).to_csv(index=False), True),
        (pd.DataFrame([[5, 6], [8, 9]]).to_csv(index=False, sep="\t"), True),
        (pd.DataFrame([[5, -6], [-8, 9]]).to_string(index=False), True),
        ("0,1\n0.5,2", True),
        ("0 1\n1 0", False),
        ("0, 1\n1, 0", False),
    ],
)
def test_a_first_row_0_1_that_a_program_may_have_written_as_names_is_asked_about(text, said):
    entry = the_one(text)
    assert (entry.read()[0].tolist(), entry.remark) == ([0, 1], "")
    assert [(choice.key, choice.taken) for choice in entry.choices] == [("names", "numbers")] * said
    named = entries(text, "it", {"names": "names"})[ALONE]
    assert len(named.read()) == len(entry.read()) - said


MISREAD = {  # once read as something else without a word
    "a number too many": (
        "cat 0.1 0.2\ndog 0.3 0.4 0.5\nbird 1 2",
        messages.ROW_LENGTH.format(place="it", line=2, found=3, plural="s", expected=2, first=1),
    ),
    "other counts": (
        "2 5\na 1 2 3\nb 1 2 3",
        messages.ROW_LENGTH.format(place="it", line=2, found=3, plural="s", expected=1, first=1),
    ),
    "turned afterwards": (
        "np.array([[1, 2], [3, 4]]).T",
        messages.TEXT_BESIDE_NUMBERS.format(place="it, line 1", text=".T"),
    ),
    "multiplied afterwards": (
        "X = [[1,2],[3,4]] * 2",
        messages.TEXT_BESIDE_NUMBERS.format(place="it, line 1", text="* 2"),
    ),
    "commas in brackets": (
        "[[0,5 1,5]\n [2,5 3,5]]",
        messages.AMBIGUOUS_ROW.format(place="it, line 1", row="0,5 1,5"),
    ),
    "bad cell under heads": (
        "word,d0,d1\ncat,0.1,x\ndog,0.4,0.5",
        messages.NOT_A_NUMBER.format(place="it, line 2, column 3", found="x"),
    ),
}


@pytest.mark.parametrize("case", MISREAD)
def test_what_could_be_misread_is_refused(case):
    text, message = MISREAD[case]
    with pytest.raises(BadInput) as refused:
        entries(text, "it")["numbers"].read()
    assert str(refused.value) == message


def test_an_empty_line_within_a_table_parts_nothing():
    found = entries("cat 0.1 0.2\ndog 1 2\n\nbird 0.3 0.4\nfish 3 4", "it")[ALONE]
    assert found.rows == ("cat", "dog", "bird", "fish")
    assert found.shape == (4, 2)


def test_quoted_decimal_commas_are_read_and_quoted_thousands_asked_about():
    assert entries('cat,"1,5","2,25"\ndog,"0,25",3', "it")[ALONE].read().tolist() == [
        [1.5, 2.25],
        [0.25, 3],
    ]
    assert [choice.key for choice in the_one('cat,"1,234","2,345"').choices] == ["comma"]
    assert entries("Haus\t1.234,5\t0,25", "it")[ALONE].read().tolist() == [[1234.5, 0.25]]
    assert entries("house\t1,234.5\t0.25", "it")[ALONE].read().tolist() == [[1234.5, 0.25]]


@pytest.mark.parametrize(
    "text",
    [
        (
            "<tf.Tensor: shape=(2, 2), dtype=bool, numpy=\narray([[ True, False],\n       [ True, "
            " True]])>"
        ),
        "tensor([[True, False],\n        [True, True]], device='cuda:0')",
        '{"mask": [[true, false], [true, true]], "X": [[1, 2], [3, 4]]}',
        "X = [[1., 2], [3, 4]]\nmask = [[True, False], [True, True]]",
    ],
)
def test_masks_of_truth_are_read_in_every_printout(text):
    found = entries(text, "it")
    assert found.get("mask", next(iter(found.values()))).read().tolist() == [[1, 0], [1, 1]]


def test_a_question_about_commas_says_what_it_asks_about():
    (choice,) = the_one("1,5 2,5\n3,5 4,5").choices
    assert choice.question == (
        messages.AMBIGUOUS_COMMA.format(place="it", line=1, quoted="1,5 2,5", separated="numbers")
    )


# ---- several in brackets ------------------------------------------------------------------------

A, B = [[1, 2], [3, 4]], [[5, 6], [7, 8]]
ONE, OTHER = "[[1 2]\n [3 4]]", "[[5 6]\n [7 8]]"


@pytest.mark.parametrize("between", [" ", "\n", "\n\n", ", ", ",\n"])
def test_printouts_that_follow_each_other_are_arrays_of_their_own(between):
    found = entries(between.join([ONE, OTHER, ONE]), "it")
    assert [entry.read().tolist() for entry in found.values()] == [A, B, A]
    assert {entry.remark for entry in found.values()} == {
        messages.MATRICES_ARE_ARRAYS.format(found=3)
    }


@pytest.mark.parametrize("text", [f"[{ONE}\n\n {OTHER}]", "1 2\n3 4\n\n5 6\n7 8", repr([A, B])])
def test_what_says_that_it_is_one_array_stays_one(text):
    same(the_one(text), [A, B])


@pytest.mark.parametrize("text", ["([[1, 2], [3, 4]], [[5, 6], [7, 8]])", "[1 2; 3 4]\n[5 6; 7 8]"])
def test_a_tuple_and_matrices_of_matlab_are_several_arrays(text):
    assert [entry.read().tolist() for entry in entries(text, "it").values()] == [A, B]


@pytest.mark.parametrize("shape", ["(2, 2)", "(2,2)", "( 2, 2 )"])
@pytest.mark.parametrize("text", ["{0}\n{1}", "{1}\n{0}", "{1} {0}", "{0}\n{1}\n{0}", "({1}, {0})"])
def test_a_shape_next_to_its_matrix_is_passed_over(text, shape):
    same(the_one(text.format(shape, "[[1, 2],\n [3, 4]]")), A)
    assert entries(f"Q = {ONE}\n{shape}", "it")["Q"].read().tolist() == A


@pytest.mark.parametrize("shape", ["torch.Size([2, 2])", "(2, 2)", "shape: (2, 2)", "(1, 2, 2)"])
@pytest.mark.parametrize("name", ["", "X.shape: ", "X.shape = ", "X.shape ", ">>> X.shape\n"])
@pytest.mark.parametrize("array", ["{}", "array({})", "\ntensor({})", ">>> X\narray({})"])
def test_a_shape_above_a_printed_array_is_passed_over(shape, name, array):
    printed = array.format("[[1., 2.],\n        [3., 4.]]")
    if name.endswith("\n") == array.startswith(">>>") and not (name and "shape" in shape):
        (found,) = entries(f"{name}{shape}\n{printed}", "it").values()
        assert found.read().tolist() == A


@pytest.mark.parametrize(
    "line",
    ["Q: torch.Size([2, 2])", "Q shape: torch.Size([2, 2])", "Q shape: (2, 2)", "Q.size (2, 2)"],
)
def test_a_shape_with_a_name_is_passed_over(line):
    (found,) = entries(f"{line}\ntensor([[1., 2.],\n        [3., 4.]])", "it").values()
    assert found.read().tolist() == A
    (found,) = entries(f"{line}\ntensor([[1., 2., 3.],\n        [3., 4., 5.]])", "it").values()
    assert found.remark == messages.SHAPE_DIFFERS.format(told="2 × 2", found="2 × 3")
    (found,) = entries("(4,)\narray([1, 2, 3, 4])", "it").values()
    assert found.read().ravel().tolist() == [1, 2, 3, 4]


def test_a_name_on_a_line_of_its_own_or_in_a_prompt_names_the_array_below():
    for text in (
        "Q =\n[[1 2]\n [3 4]]\nK =\n[[5 6]\n [7 8]]",
        ">>> Q\narray([[1, 2], [3, 4]])\n>>> print(K)\n[[5 6]\n [7 8]]",
        "Q.shape (2, 2)\nQ:\n[[1 2]\n [3 4]]\nK:\n[[5 6]\n [7 8]]",
    ):
        found = entries(text, "it")
        assert {name: found[name].read().tolist() for name in found} == {
            "Q": A,
            "K": [[5, 6], [7, 8]],
        }


@pytest.mark.parametrize(
    "text",
    [
        "(4, 3) (4, 3) (4, 3)",
        "(4, 3)",
        "(1, 2)\n(3, 4)",
        "(1, 2), (3, 4, 5)",
    ],
)
def test_shapes_alone_and_rows_of_two_lengths_are_no_matrix(text):
    with pytest.raises(BadInput):
        for entry in entries(text.format(ONE), "it").values():
            entry.read()


@pytest.mark.parametrize("text", ["[1 2]\n[3 4]", "[1, 2], [3, 4]", "(1 2)\n(3 4)"])
def test_rows_in_brackets_of_their_own_are_one_matrix(text):
    same(the_one(text), A)


@pytest.mark.parametrize(
    ("text", "rows", "told"),
    [
        ("(1.5, 2)\n(3, 4)", [[1.5, 2], [3, 4]], False),
        ("(3, 4)\n(1, -2)", [[3, 4], [1, -2]], False),
        ("(0.3, 0.7), (2, 1)", [[0.3, 0.7], [2, 1]], False),
        ("(1, 0), (0, 1)", [[1, 0], [0, 1]], False),
        ("(1,2),(3,4)", [[1, 2], [3, 4]], True),
        ("(1,2),\n(3,4),\n", [[1, 2], [3, 4]], True),
        ("(1,2,3),(4,5,6)", [[1, 2, 3], [4, 5, 6]], True),
    ],
)
def test_rows_in_parentheses_are_no_shapes(text, rows, told):
    entry = entries(text, "it")[ALONE]
    assert entry.read().tolist() == rows
    said = messages.PARENTHESES_ARE_ROWS
    assert entry.remark == (said if told else "")


@pytest.mark.parametrize("text", ["(1, 2)\n(3, 4)", "(4, 3) (4, 3)", "(4, 3)"])
def test_shapes_alone_say_how_to_write_rows(text):
    with pytest.raises(BadInput) as problem:
        entries(text, "it")
    shape = text.replace("\n", " ")
    assert str(problem.value) == messages.SHAPE_ALONE.format(place="it", shape=shape)


def test_a_comment_between_rows_is_told():
    entry = entries("# weights\n0.5 0.5\n# masked row\n1 0", "it")["weights"]
    assert entry.read().tolist() == [[0.5, 0.5], [1, 0]]
    assert entry.remark == messages.COMMENT_BETWEEN_ROWS.format(between=3)


@pytest.mark.parametrize("names", ["QK", ("weights", "scores:"), ("W_Q =", "W_K =")])
def test_a_name_in_a_comment_between_rows_is_refused(names):
    first, second = names
    with pytest.raises(BadInput) as problem:
        entries(f"# {first}\n1 2\n# {second}\n3 4", "it")
    assert str(problem.value) == messages.NAME_BETWEEN_ROWS.format(place="it", line=3)


# ---- a sentence ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        ("my nan bakes bread", True),
        ("I love Infinity Pool", True),
        ("Nan is here", True),
        ("my nan and my inf", False),
        ("cat nan inf", None),
        ("row a nan\nrow b inf", None),
    ],
)
def test_nan_and_infinity_are_words_among_words(text, likely):
    found = opening.prose_in(text.encode())
    assert (found and found.likely) is likely


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("the cat sat on the mat", "the cat sat on the mat"),
        ("\ufeff  Well, who's there?\r\n", "Well, who's there?"),
        ("two lines\nof words", "two lines\nof words"),
        ("猫坐在垫子上。", "猫坐在垫子上。"),
        ("cat", "cat"),
        ("cat 1 2", None),
        ("3.14", None),
        ("nan inf", None),
        ("cat true false", None),
        ("a,b,c\nd,e,f", None),
        ("a,1\nb,2", None),
        ("w0,0.0,1.0\nw1,0.0,1.0", None),
        ("1e-3,5\n2e-3,6", None),
        ("a\tb", None),
        ("X = [[", None),
        ('{"a": "b"}', None),
        ("", None),
        ("?!", None),
        ("a\x00b", None),
        ("word " * 5000, None),
    ],
)
def test_a_text_of_words_alone_is_a_sentence(text, sentence):
    found = opening.prose_in(text.encode())
    assert found == (sentence and opening.Prose(sentence, True, False))


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        ("I have 2 cats", True),
        ("I have 2, or 3.", True),
        ("In 1990 the wall was gone.", True),
        ("It cost 3,50 euros, not 4.20 dollars", True),
        ("We met at 12:30 (or 13:00) by the door", True),
        ("2 dogs barked\nall night long", True),
        ("3 rows of 4 columns", True),
        ("I have 2", False),
        ("Je suis né en 1990.", False),
        ("1 the cat\n2 the dog", False),
        ("cat 0.5", None),
        ("1 0 x 0", None),
        ("cat 1 x", False),
        ("cat 1 dog 2", None),
        ("epoch 1 loss 0.5 accuracy 0.9", None),
        ("1 2 3 cat\n4 5 6 dog", None),
        ("1 cat\n2 dog", None),
        ("token d1 d2\ncat 1 2\ndog 3 4", None),
        ("a b c\n1 2 3", None),
        ("the cat 1 2\nthe dog 3 4", None),
        ("the cat 1\nthe dog 3", None),
        ("2 2\ncat 1 2\ndog 3 4", None),
    ],
)
def test_a_number_within_a_sentence_is_a_token_and_a_table_with_labels_stays_one(text, likely):
    found = opening.prose_in(text.encode())
    assert found == (None if likely is None else opening.Prose(text, likely, True))


def test_what_is_no_utf8_text_is_no_sentence():
    assert opening.prose_in("café".encode("latin-1")) is None


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";", ", ", " | "])
@pytest.mark.parametrize("label", ["", "cat", "the cat"])
def test_no_table_of_numbers_is_taken_for_a_sentence(separator, label):
    text = "\n".join(f"{label}{separator}{row}" for row in lines(VALUES, separator).split("\n"))
    assert opening.prose_in(text.encode()) is None


@pytest.mark.parametrize("name", ["input_ids", "Input_Ids"])
def test_what_a_tokenizer_gives_for_one_sentence_as_json_is_no_matrix(name):
    text = (
        f'{{"{name}": [101, 7592, 102], "token_type_ids": [0, 0, 0], "attention_mask": [1, 1, 1]}}'
    )
    with pytest.raises(BadInput) as problem:
        entries(text, "a.json")
    assert str(problem.value) == (
        messages.TOKENIZER_OUTPUT.format(
            place="a.json", told=f"{name}, token_type_ids, attention_mask"
        )
    )
