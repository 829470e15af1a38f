"""Numbers next to a matrix that are none of it: read as what they are, or refused."""

import messages
import numpy as np
import pytest

from attention.limits import BadInput
from attention.readers.cells.entry import ALONE
from attention.readers.texts.texts import entries

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


def after_fields(sentence: str) -> str:
    """Return the end of a sentence, after all that it fills in."""
    return sentence.rpartition("}")[2]


NO_ROW = after_fields(messages.NO_ROW)
INSIDE = after_fields(messages.NUMBER_AMONG_WORDS)
NO_NUMBER = after_fields(messages.NOT_A_NUMBER)
TITLE = after_fields(messages.TOO_FEW_NAMES)
ASKS = after_fields(messages.AMBIGUOUS_FIRST_NUMBER)


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
    assert INSIDE in refused(text(before, separator=separator))


@pytest.mark.parametrize("separator", [" ", ",", ", ", "\t", ";"])
@pytest.mark.parametrize("before", ["{i}", "{k}", "1{i}", "{k}."])
@pytest.mark.parametrize("decimals", [2, 4])
def test_a_column_that_numbers_the_rows_is_labels_unless_the_user_says_otherwise(
    before, separator, decimals
):
    rows = text(before + separator, separator=separator, decimals=decimals)
    firsts = tuple(before.format(i=i, k=i + 1) for i in range(3))
    entry = entries(rows, "it")[ALONE]
    (choice,) = entry.choices
    assert (choice.key, choice.taken) == ("labels", "labels")
    assert ASKS in choice.question
    assert (entry.read().tolist(), entry.rows) == (ROWS.tolist(), firsts)
    entry = entries(rows, "it", {"labels": "numbers"})[ALONE]
    assert (entry.shape, entry.read()[:, 0].tolist()) == ((3, 4), [float(one) for one in firsts])
    assert (entry.rows, entry.choices[0].taken) == ((), "numbers")


def test_the_number_of_a_word_that_takes_none_belongs_to_its_label_next_to_shares():
    entry = entries(text("page 1{i} "), "it")[ALONE]
    assert entry.rows == ("page 10", "page 11", "page 12")
    assert entry.choices[0].key == "labels"


@pytest.mark.parametrize(
    ("text", "quoted"), [("shape\t1\t2", "“shape 1 2”"), ("(1, 2)\n(3, 4)", "“(1, 2) (3, 4)”")]
)
def test_a_quoted_line_has_blanks_for_tabs_and_line_breaks(text, quoted):
    assert quoted in refused(text)


@pytest.mark.parametrize("name", ["#", "No.", "row", "Head", "epoch"])
@pytest.mark.parametrize("form", ["csv", "markdown"])
def test_a_column_that_is_called_a_number_of_rows_labels_them(name, form):
    if form == "csv":
        head, separator = [f'"{name}",a,b,c'], ","
    else:
        head, separator = [f"{name} | a | b | c", "--|--|--|--"], " | "
    entry = entries(text("{k}" + separator, separator=separator, head=head), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (ROWS.tolist(), ("1", "2", "3"))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("1 1 0\n2 0 1\n3 2 2", 3),
        ("1 0.5 0.25 0.25\n2 0.25 0.5 0.25", 4),
        ("0 0.5\n1 0.25", 2),
        ("0 1.5 2.5\n1 0.5 0.5\n2 0.5 1.5", 3),
        ("0 0.50 1.20\n1 0.10 0.30\n2 0.20 0.40", 3),
        ("1 1.0\n2 1.0\n3 1.0", 2),
        ("the 0 0.5\nthe 1 0.25", 2),
        ("the 0 1.5\ncat 1 0.5\nsat 2 0.5", 2),
    ],
)
def test_a_first_column_that_counts_is_asked_about(text, columns):
    entry = entries(text, "it")[ALONE]
    firsts = [float(line.split()[-columns]) for line in text.split("\n")]
    assert entry.read()[:, 0].tolist() == firsts
    assert (entry.shape[1], entry.remark) == (columns, "")
    line = " ".join(text.split("\n")[0].split())
    asked = messages.AMBIGUOUS_FIRST_NUMBER.format(place="it", line=1, quoted=line)
    assert [(choice.taken, choice.question) for choice in entry.choices] == [("numbers", asked)]
    others = entries(text, "it", {"labels": "labels"})[ALONE]
    assert others.read().tolist() == entry.read()[:, 1:].tolist()
    assert [float(label.split()[-1]) for label in others.rows] == firsts


@pytest.mark.parametrize("text", ["1 2\n3 4", "0 1\n1 0", "25 0.3\n40 0.8"])
def test_few_whole_numbers_in_front_are_numbers(text):
    entry = entries(text, "it")[ALONE]
    assert (entry.shape, entry.remark, entry.choices) == ((2, 2), "", ())


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("no,yes\n1,2\n2,3", messages.COLUMN_NUMBERS_ROWS.format(first="no")),
        ("head layer\n1 3\n2 4", messages.COLUMN_NUMBERS_ROWS.format(first="head")),
        ("no,word,x\n1,the,3\n2,cat,4", messages.COLUMNS_PASSED_OVER.format(names="no")),
        (
            "Apollo 11,0.1,0.2\nSaturn 5,0.3,0.4",
            messages.LABELS_END_IN_NUMBERS.format(label="Apollo 11"),
        ),
        (
            "loss: 0.5\nacc: 0.9",
            messages.ROW_IS_LABEL_AND_NUMBER.format(label="loss:"),
        ),
    ],
)
def test_what_may_be_read_otherwise_is_said(text, remark):
    assert entries(text, "it")[ALONE].remark.removeprefix(HEAD).strip() == remark


HEAD = messages.FIRST_LINE_NAMES_COLUMNS
# Rows with labels that have digits, marks or words of shapes in them, and their numbers.
RIGHT = [
    (
        "12:30 0.1 0.2\ncat 0.3 0.4\ndog 0.1 0.3",
        "12:30|cat|dog",
        [[0.1, 0.2], [0.3, 0.4], [0.1, 0.3]],
    ),
    ("a=1 0.1 0.2\ncat 0.3 0.4", "a=1|cat", [[0.1, 0.2], [0.3, 0.4]]),
    ("c:3 1 2\nthe 3 4", "c:3|the", [[1, 2], [3, 4]]),
    ("a=1\t0.1\nb=2\t0.3", "a=1|b=2", [[0.1], [0.3]]),
    ("xbox:360,0.1,0.2\ncat,0.3,0.4", "xbox:360|cat", [[0.1, 0.2], [0.3, 0.4]]),
    ("word,x,y\na=1,3,4\nb=2,5,6", "a=1|b=2", [[3, 4], [5, 6]]),
    ("word x y\na=1 3 4\nb=2 5 6", "a=1|b=2", [[3, 4], [5, 6]]),
    ("word,x,y\ntop 10,3,4\nthe,5,6", "top 10|the", [[3, 4], [5, 6]]),
    ("rocket,0.3,0.4\nApollo 11,0.1,0.2", "rocket|Apollo 11", [[0.3, 0.4], [0.1, 0.2]]),
    ("rocket,x,y\nApollo 11,1,2\nSaturn 5,3,4", "Apollo 11|Saturn 5", [[1, 2], [3, 4]]),
    ("layer 1,0.1,0.2\nlayer 3,0.3,0.4", "layer 1|layer 3", [[0.1, 0.2], [0.3, 0.4]]),
    ("layer 1;0.1;0.2\nlayer 3;0.3;0.4", "layer 1|layer 3", [[0.1, 0.2], [0.3, 0.4]]),
    ("at 12:30,5,6\nthe,3,4", "at 12:30|the", [[5, 6], [3, 4]]),
    ("a +,1,2\nb -,3,4", "a +|b -", [[1, 2], [3, 4]]),
    ('"a: 1",0.5,0.2\n"b 2",3,4', "a: 1|b 2", [[0.5, 0.2], [3, 4]]),
    ("word,x,y\nshape,1,2\nred,3,4", "shape|red", [[1, 2], [3, 4]]),
    ("word,x,y\nshape:,1,2\nred:,3,4", "shape:|red:", [[1, 2], [3, 4]]),
    ("a 1 2\nsize 3 4", "a|size", [[1, 2], [3, 4]]),
    ("shape\t1\t2\nred\t3\t4", "shape|red", [[1, 2], [3, 4]]),
    ("the: 3\ncat: 4", "the:|cat:", [[3], [4]]),
    ("A: 1\nB: 2", "A:|B:", [[1], [2]]),
    ("the = 3\ncat = 4", "the =|cat =", [[3], [4]]),
    ("the:\t3\ncat:\t4", "the:|cat:", [[3], [4]]),
    ("the:,3\ncat,4", "the:|cat", [[3], [4]]),
    ("word,count\nthe:,3\ncat,4", "the:|cat", [[3], [4]]),
    ("the 0 0.5\nthe 1 0.25", "the|the", [[0, 0.5], [1, 0.25]]),
    ("the 3 4\nthe 1 2", "the|the", [[3, 4], [1, 2]]),
    ("key 5 0.3", "key", [[5, 0.3]]),
    ("head,5,0.3", "head", [[5, 0.3]]),
    ("x,y,z\nsize,2,5", "size", [[2, 5]]),
]


@pytest.mark.parametrize(("text", "labels", "values"), RIGHT)
def test_a_label_with_a_digit_or_a_mark_stays_one(text, labels, values):
    entry = entries(text, "it")[ALONE]
    assert (entry.rows, entry.read().tolist()) == (tuple(labels.split("|")), values)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Head 0 0.34 0.09 0.20 0.37", [[0.34, 0.09, 0.2, 0.37]]),
        ("Head 0 1 2\nHead 1 3 4", [[1, 2], [3, 4]]),
        ("Head 0 0.5\nHead 1 0.25", [[0.5], [0.25]]),
        ("Head,0,0.5\nHead,1,0.25", [[0.5], [0.25]]),
    ],
)
def test_the_number_after_a_word_that_takes_one_belongs_to_the_label_and_is_asked_about(
    text, values
):
    entry = entries(text, "it")[ALONE]
    assert (entry.read().tolist(), entry.rows[0], entry.remark) == (values, "Head 0", "")
    assert [(choice.key, choice.taken) for choice in entry.choices] == [("labels", "labels")]
    others = entries(text, "it", {"labels": "numbers"})[ALONE]
    assert (others.read()[:, 1:].tolist(), others.rows[0]) == (values, "Head")


@pytest.mark.parametrize("after", [" | sum {s}", " | sum: {s}", " | total = {s}", " |Σ {s}"])
@pytest.mark.parametrize("before", ["{w} ", "Head {i} ", "Head {i}: ", ""])
@pytest.mark.parametrize("head", [(), ("the cat sat",)])
def test_the_sum_after_each_row_is_skipped(before, after, head):
    entry = entries(text(before, after, head=head), "it")[ALONE]
    assert entry.read().tolist() == ROWS.tolist()
    assert len(entry.rows) == 3 * bool(before)
    assert entry.remark.endswith(messages.SUMS_ARE_SKIPPED)


def test_a_sum_after_one_row_alone_is_refused():
    rows = text("{w} ").split("\n")
    said = refused("\n".join([rows[0], rows[1] + " | sum 1.00", rows[2]]))
    assert said.startswith("it, line 2")


@pytest.mark.parametrize(
    "after", [" sum {s}", " sum: {s}", " = {s}", " -> {s}", " | {s}", " ± 0.01"]
)
@pytest.mark.parametrize("before", ["{w} ", "Head {i} ", "Head {i}: ", ""])
def test_a_number_after_the_row_is_refused(before, after):
    said = refused(text(before, after))
    if before:
        assert said.startswith(f"it, line 1: “{before.format(i=0, w='the')}0.5"[:18])
        assert messages.NUMBER_AMONG_WORDS.format(place="", found="0.25") in said
    else:
        mark = after.split()[0]
        assert said == messages.NOT_A_NUMBER.format(place="it, line 1, column 4", found=mark)


@pytest.mark.parametrize(
    ("line", "number", "kind"),
    [
        ("q1 · k1 = 2*-1 + 0*3 = -8", 1, NO_ROW),
        ("q1.k1 = -8", 1, NO_ROW),
        ("epoch 1 loss 0.5", 1, INSIDE),
        ("epoch 1 loss 0.5 acc 0.9", 1, INSIDE),
        ("epoch: 1 loss: 0.5", 1, NO_ROW),
        ("In [3]: 5", 1, NO_ROW),
        ("Out[3]: 5", 1, NO_ROW),
        ("d_k = 4", 1, NO_ROW),
        ("d_k: 4\nloss: 0.5", 1, NO_ROW),
        ("Sum of row 1: 1.0", 1, NO_ROW),
        ("mean 0.5 std 0.1", 1, INSIDE),
        ("shape: 2 3", 1, NO_ROW),
        ("pages 1 - 2", 1, INSIDE),
        ("from 1 to 5", 1, INSIDE),
        ("cat 2 / 3", 1, INSIDE),
        ("cat 1.2 × 10 3", 1, INSIDE),
        ("cat 1.2 x10^3 4", 1, INSIDE),
        ("a 1.5 ± 0.1", 1, INSIDE),
        ("cat 3 cm 4", 1, INSIDE),
        ("cat $ 5", 1, INSIDE),
        ("cat 50 % 25", 1, INSIDE),
        ("cat 1/2 0.5", 1, INSIDE),
        ("at 12:30 5", 1, INSIDE),
        ("INFO 2024-01-02 loss 0.5", 1, INSIDE),
        ("cat 0.5 [1] 0.3", 1, INSIDE),
        ("a 1 b 2\nc 3 d 4", 1, INSIDE),
        ("x = 1, 2, 3", 1, INSIDE),
        ("the 0.5 cat 0.25 sat 0.25", 1, INSIDE),
        ("a 1 2 | 3\nb 3 4 | 7", 1, INSIDE),
        ("1 2 | 3\n3 4 | 7", 1, NO_NUMBER),
        ("| 1 | 2 |\n| 3 | 4 |", 1, messages.NO_NUMBER.format(place="it, line 1")),
        (
            "- 0.5 0.3\n- 0.2 0.7",
            1,
            messages.SIGN_ON_EVERY_LINE.format(place="it, line 1", sign="-"),
        ),
        ("10^3 *\n1 2\n3 4", 1, NO_NUMBER),
        (
            "x10^3\n1 2\n3 4",
            2,
            messages.ROW_LENGTH.format(
                place="it", line=2, found=2, plural="s", expected=1, first=1
            ),
        ),
        ("My weights\n1 2 3\n3 4 5", 1, TITLE),
        (
            "Step 1:\n1 -2 3\n4 5 -6",
            1,
            messages.TITLE_ABOVE_NUMBERS.format(place="it, line 1: “Step 1:”"),
        ),
        ("1 2\n1 -2 3\n4 5 -6", 1, TITLE),
        ("the [1 2] 3\ncat [3 4] 7", 1, after_fields(messages.TEXT_BESIDE_NUMBERS)),
        (
            "# Q\n1 2\n3 4\n# K\n5 6\n7 8",
            4,
            messages.NAME_BETWEEN_ROWS.format(place="it", line=4),
        ),
        ("size 3 4", 1, NO_ROW),
        ("Q.shape 4 3\nK.shape 4 3", 1, NO_ROW),
        ("shape\t1\t2", 1, NO_ROW),
        ("loss: 0.5", 1, NO_ROW),
        ("d_k: 4\nthe 0.5", 1, NO_ROW),
        ("the 0.5,0.25,0.25\ncat 0.1,0.2,0.7", 1, INSIDE),
        ("word x\na 1 b 2\nc 3 d 4", 2, INSIDE),
    ],
)
def test_a_line_that_is_no_row_is_refused(line, number, kind):
    said = refused(line)
    assert said.startswith(f"it, line {number}" if number else "it: ")
    assert kind in said


@pytest.mark.parametrize("title", ["Attention weights", "Step 1:", "shape: (3, 3)", "12:00:01"])
def test_a_title_above_rows_is_passed_over(title):
    rows = "0.5 0.25 0.25 0\n0.1 0.2 0.7 0\n0.33 0.33 0.34 0"
    assert entries(f"{title}\n{rows}", "it")[ALONE].shape == (3, 4)


@pytest.mark.parametrize(
    "word", [". . .", "at name@domain.com", "1,000", "=", "-", "|", "1999", "12:30", "a=1"]
)
def test_words_of_word_vectors_stay_labels(word):
    entry = entries(f"the 0.1 0.2\n{word} 0.3 0.4\nof 0.5 0.6", "it")[ALONE]
    assert (entry.rows[1], entry.read()[1].tolist()) == (word, [0.3, 0.4])
