"""What programs print: read as the numbers that were printed, or refused in one sentence.

pandas, NumPy and this page's own exports write here; torch's prints were recorded with torch 2.13.0
and transformers 5.23.0. MATLAB's, Octave's and R's are written as their manuals show them.
"""

import io
import json
import re
import signal
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from attention.exports import text as exports
from attention.limits import BadInput
from attention.readers import opening
from attention.readers.entry import ALONE
from attention.readers.select import MASK
from attention.readers.texts import entries
from attention.session.adopt import likely
from attention.session.examples import EXAMPLES
from attention.session.run import run, view

TWO = [[0.5, -1.25], [3, 4]]
OTHER = [[1, 2], [7, 8.5]]


def read(text) -> dict:
    return {name: entry.read().tolist() for name, entry in entries(text, "it").items()}


def refused(text) -> str:
    with pytest.raises(BadInput) as problem:
        for entry in entries(text, "it").values():
            entry.read()
    return str(problem.value)


# ---- what this page exports ---------------------------------------------------------------------


@pytest.mark.parametrize("form", ["to_latex", "to_markdown"])
@pytest.mark.parametrize("example", EXAMPLES)
def test_latex_and_markdown_of_this_page_are_read_with_the_digits_they_show(form, example):
    settings = EXAMPLES[example].build()
    shown = view(settings, run(settings))
    found = entries(getattr(exports, form)(shown, 3).decode(), "it")
    assert list(found) == list(shown.stages)
    for name, matrix in shown.stages.items():
        values = found[name].read()
        assert values.shape == matrix.shape
        finite = np.isfinite(matrix)
        assert np.array_equal(values[~finite], matrix[~finite])
        error = np.abs(values[finite] - matrix[finite])
        assert (error <= 0.0005 + 1e-3 * np.abs(matrix[finite])).all()
        if form == "to_markdown":
            assert found[name].rows == tuple(shown.rows(name))


def test_tokens_come_back_out_of_markdown_as_they_were():
    tokens = ("a|b", "*c*", "d_e", "`f`")
    settings = replace(EXAMPLES["four-words"].build(), tokens=tokens)
    text = exports.to_markdown(view(settings, run(settings))).decode()
    assert entries(text, "it")["X"].rows == tokens


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        (r"$$B = \begin{pmatrix} 0.5 & -1.25 \\ 3 & 4 \\ \end{pmatrix}$$", "B", TWO),
        (r"\left[\begin{array}{cc} .5&-1.25\\[2pt] \hline 3&4 \end{array}\right]", ALONE, TWO),
        (
            r"\begin{bmatrix} 2 \cdot 10^{-3} & -\infty \\ 0 & 1 \end{bmatrix}",
            ALONE,
            [[0.002, -np.inf], [0, 1]],
        ),
        ("| a | b |\n|:--|--:|\n| 0.5 | -1.25 |\n| 3 | 4 |", ALONE, TWO),
        ("## Mine\n\na | b\n--|--\n0.5 | −1.25\n3 | 4", "Mine", TWO),
    ],
)
def test_matrices_of_others_in_latex_and_markdown_are_read(text, name, values):
    assert read(text) == {name: values}


PMATRIX = r"\begin{pmatrix} 0.5 & -1.25 \\ 3 & 4 \end{pmatrix}"
BMATRIX = r"\begin{bmatrix} 1 & 2 \\ 7 & 8.5 \end{bmatrix}"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"2 {PMATRIX}", "it: “2”"),
        (rf"A = \frac{{1}}{{2}} {PMATRIX}", "it: “\\frac{1}{2}”"),
        (f"{PMATRIX}^T", "it: “^T”"),
        (rf"\left({PMATRIX}\right)^\top", "it: “\\right)^\\top”"),
        (rf"\[ A \cdot {PMATRIX} \]", "it: “A \\cdot”"),
        (rf"\mathrm{{softmax}}({PMATRIX})", "it: “\\mathrm{softmax}(”"),
        (f"$$A = {PMATRIX} + I$$", "it: “+ I”"),
        (f"B = {BMATRIX}\n\nA = {PMATRIX} {BMATRIX}", "it, before matrix 3: “\\begin{bmatrix}”"),
        (f"B = {BMATRIX}, A = {PMATRIX} - 1", "it, after matrix 2: “- 1”"),
    ],
)
def test_what_stands_beside_a_matrix_in_latex_is_not_passed_over(text, place):
    assert refused(text) == (
        f"{place} stands beside the matrix; nothing is computed here, so write the result."
    )


@pytest.mark.parametrize(
    "text",
    [
        rf"\begin{{align}}\label{{eq:a}} G &= {PMATRIX}, \\ B &= {BMATRIX}.\nonumber \end{{align}}",
        f"G = {PMATRIX}\nB = {BMATRIX}",
        rf"Let $G = {PMATRIX}$ and \( B := {BMATRIX} \) be given.",
        rf"G = \Bigl({PMATRIX}\Bigr) \in \mathbb{{R}}^{{2 \times 2}}, \quad B = {BMATRIX}",
    ],
)
def test_names_punctuation_and_marks_beside_a_matrix_in_latex_mean_nothing(text):
    assert read(text) == {"G": TWO, "B": OTHER}


# by DataFrame.to_latex of pandas 3.1.1
TABULAR = {
    "index=False": ("{rr}", "0 & 1 \\\\\n\\midrule\n0.5 & -1.25 \\\\\n3.0 & 4.0 \\\\\n", ()),
    "default": (
        "{lrr}",
        " & 0 & 1 \\\\\n\\midrule\n0 & 0.500000 & -1.250000 \\\\\n1 & 3.000000 & 4.000000 \\\\\n",
        ("0", "1"),
    ),
    "names": (
        "{lrr}",
        " & x & y \\\\\nword &  &  \\\\\n\\midrule\n"
        "cat & 0.5 & -1.25 \\\\\na\\_b & 3.0 & 4.0 \\\\\n",
        ("cat", "a_b"),
    ),
}


@pytest.mark.parametrize("case", TABULAR)
def test_tables_that_pandas_writes_in_latex_are_read_without_the_names_of_columns(case):
    form, body, labels = TABULAR[case]
    text = f"\\begin{{tabular}}{form}\n\\toprule\n{body}\\bottomrule\n\\end{{tabular}}\n"
    entry = entries(text, "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, labels)
    said = "The line above the numbers names the columns."
    assert entry.remark == (said if case != "names" else "")


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (r"\hline 0 & 1 \\ \hline 0.5 & -1.25 \\ 3 & 4 \\ \hline", TWO),
        (r"\hline x & y \\ \hline 0.5 & -1.25 \\ \hline 3 & 4 \\ \hline", TWO),
        (r"\hline 0 & 1 \\ \hline 0.5 & -1.25 \\ \hline 3 & 4 \\ \hline", [[0, 1], *TWO]),
    ],
)
def test_a_line_under_the_first_row_of_a_table_makes_it_names_unless_each_row_has_one(body, rows):
    assert read(rf"\begin{{tabular}}{{|c|c|}} {body} \end{{tabular}}") == {ALONE: rows}


def test_markdown_with_labels_has_tokens():
    entry = entries("| word | x |\n|---|---|\n| **cat** | 1 |\n| dog | 2 |", "it")[ALONE]
    assert (entry.rows, entry.read().tolist()) == (("cat", "dog"), [[1], [2]])
    entry = entries("| token_id | x |\n|---|---|\n| 101 | 1 |\n| 7 | 2 |", "it")[ALONE]
    assert (entry.rows, entry.read().tolist()) == (("101", "7"), [[1], [2]])


# ---- comments -----------------------------------------------------------------------------------


@pytest.mark.parametrize("comments", ["# ", "% "])
@pytest.mark.parametrize("delimiter", [" ", ",", "\t"])
@pytest.mark.parametrize("header", ["made by me, on Monday", "0 1", "a b\nand a second line"])
def test_what_numpy_saves_with_a_header_is_read(comments, delimiter, header):
    text = io.StringIO()
    values = np.array(TWO)
    np.savetxt(text, values, delimiter=delimiter, header=header, footer="end", comments=comments)
    assert read(text.getvalue()) == {ALONE: TWO}
    assert opening.prose_in(text.getvalue().encode()) is None


def test_a_comment_between_rows_parts_nothing_and_counts_as_a_line():
    assert read("1 2\n3 4\n# now others\n5 6\n7 8") == {ALONE: [[1, 2], [3, 4], [5, 6], [7, 8]]}
    assert refused("# mine\n1 2\n3 x") == (
        "it, line 3, column 2 holds “x”; a number such as 3, -0.5 or 2e-3 is wanted."
    )


def test_words_that_begin_with_a_mark_are_no_comments():
    entry = entries("the 0.1 0.2\n# 0.3 0.4\n#tag 0.5 0.6\n% 1 2\n", "it")[ALONE]
    assert entry.rows == ("the", "#", "#tag", "%")


# ---- MATLAB and Octave --------------------------------------------------------------------------


APART = "print each array under its name, as “> Q” does."
MATLAB = {
    "short": ("A =\n\n    0.5000   -1.2500\n    3.0000    4.0000\n\n", {"A": TWO}),
    "common factor": (
        "A =\n\n   1.0e+03 *\n\n    0.0005   -0.0013\n    3.0000    4.0000\n",
        {"A": [[0.5, -1.3], [3000, 4000]]},
    ),
    "column groups": (
        (
            "A =\n\n  Columns 1 through 2\n\n    0.5000   -1.2500\n    3.0000    4.0000\n\n"
            "  Column 3\n\n    7.0000\n   -8.0000\n\n"
        ),
        {"A": [[0.5, -1.25, 7], [3, 4, -8]]},
    ),
    "Octave": (
        "A =\n\n Columns 1 and 2:\n\n   0.5000  -1.2500\n   3.0000   4.0000\n\n"
        " Column 3:\n\n   7\n   8\n",
        {"A": [[0.5, -1.25, 7], [3, 4, 8]]},
    ),
    "two": ("Q =\n\n     1     2\n\nK =\n\n   NaN  -Inf\n", {"Q": [[1, 2]], "K": None}),
    "pages": (
        "A(:,:,1) =\n\n     1     2\n     3     4\n\nA(:,:,2) =\n\n     5     6\n     7     8\n",
        {"A": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]},
    ),
    "kind": ("ans =\n\n  2×2 single matrix\n\n    0.5000   -1.2500\n    3     4\n", {"ans": TWO}),
}


@pytest.mark.parametrize("case", MATLAB)
def test_what_matlab_and_octave_print_is_read(case):
    text, wanted = MATLAB[case]
    found = read(text)
    assert list(found) == list(wanted)
    for name, values in wanted.items():
        assert values is None or found[name] == values
    if case == "two":
        assert np.array_equal(found["K"], [[np.nan, -np.inf]], equal_nan=True)


def test_the_common_factor_multiplies_as_if_it_had_been_typed():
    assert read("A =\n\n   1.0e-04 *\n\n    0.1230\n") == {"A": [[0.1230e-4]]}
    assert read("A =\n\n   1.0e+03 *\n\n    1.    -Inf\n") == {"A": [[1000, -np.inf]]}


def test_matlabs_groups_of_other_heights_are_refused():
    text = "A =\n\n  Columns 1 through 2\n\n  1 2\n  3 4\n\n  Column 3\n\n  5\n"
    assert refused(text) == (
        "it: a group of columns has 1 rows and the first has 2; part of it may be cut off."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A =\n\n  1 2\n\nA =\n\n  3 4\n", "it holds A twice."),
        ("A(:,:,1) =\n\n  1 2\n\n" * 65, "it, A is 65 matrices; at most 64 fit."),
        ("A =\n\nB =\n\n  1 2\n", "it, A holds no numbers."),
        ("     [,1] [,2]\n[1,]    1\n", "it, row [1,] has 1 number; 2 are wanted, as above it."),
        ("     [,1]\n[1,]    1\n[1,]    2\n", f"it: row 2 is called [1,]; {APART}"),
        (
            "".join(f", , {k}\n\n     [,1]\n[1,]    1\n\n" for k in range(65)),
            "it is 65 matrices; at most 64 are read.",
        ),
        (
            "\\begin{matrix}1\\end{matrix}\n" * 4097,
            "it holds 4,097 arrays; at most 4,096 are read.",
        ),
        ("\\begin{matrix} 1 & 2", "it: \\end{matrix} is missing; part of it may be cut off."),
        (
            "\\begin{tabular} \\begin{tabular} a & 1 \\\\ \\end{tabular}",
            "it: matrix 2 begins inside another one; paste them apart.",
        ),
        (
            "\\begin{matrix} 1 & 2 \\\\ 3 \\end{matrix}",
            "it, row 2 has 1 number and row 1 has 2; every row needs the same.",
        ),
        (
            "| a |\n|---|\n| x1 2 |",
            "it holds no number.",
        ),
    ],
)
def test_what_is_cut_off_or_stands_there_twice_is_refused(text, message):
    assert refused(text) == message


def test_a_matlab_logical_is_a_mask():
    entry = entries("M =\n\n  2×2 logical array\n\n   true   false\n   true   true\n", "it")["M"]
    assert (entry.dtype, entry.read().tolist()) == ("bool", [[True, False], [True, True]])


# ---- R ------------------------------------------------------------------------------------------


R = {
    "matrix": "     [,1]  [,2]\n[1,]  0.5 -1.25\n[2,]  3.0  4.00\n",
    "in groups": "     [,1]\n[1,]  0.5\n[2,]  3.0\n      [,2]\n[1,] -1.25\n[2,]  4.00\n",
    "named columns": "       a     b\n[1,] 0.5 -1.25\n[2,] 3.0  4.00\n",
}


@pytest.mark.parametrize("case", R)
def test_rs_matrices_are_read_without_their_row_numbers_or_decimal_commas(case):
    (entry,) = entries(R[case], "it").values()
    assert (entry.read().tolist(), entry.rows, entry.remark) == (TWO, (), "")


def test_rs_row_names_are_labels():
    entry = entries("    [,1]  [,2]\ncat  0.5 -1.25\ndog  3.0  4.00\n", "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("cat", "dog"))


def test_an_r_vector_and_an_r_array_are_read():
    assert read("[1] 0.5 -1.25 3.00\n[4] 4.00\n") == {ALONE: [[0.5, -1.25, 3, 4]]}
    page = "     [,1] [,2]\n[1,]    1    2\n[2,]    3    4\n\n"
    assert read(f", , 1\n\n{page}, , 2\n\n{page}") == {ALONE: [[[1, 2], [3, 4]]] * 2}


def test_an_r_matrix_of_truth_is_a_mask_and_na_is_no_number():
    entry = entries("      [,1]  [,2]\n[1,] TRUE FALSE\n[2,] TRUE  TRUE\n", "it")[ALONE]
    assert (entry.dtype, entry.read().tolist()) == ("bool", [[True, False], [True, True]])
    found = read("     [,1] [,2]\n[1,]   NA -Inf\n")
    assert np.array_equal(found[ALONE], [[np.nan, -np.inf]], equal_nan=True)


R_TWO = "     [,1]  [,2]\n[1,]  0.5 -1.25\n[2,]  3.0  4.00\n"
R_OTHER = "     [,1] [,2]\n[1,]    1  2.0\n[2,]    7  8.5\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"> Q\n{R_TWO}> K\n{R_OTHER}", {"Q": TWO, "K": OTHER}),
        (f"$Q\n{R_TWO}\n$K\n{R_OTHER}\n", {"Q": TWO, "K": OTHER}),
        ("> print(a)\n[1] 1 2\n[3] 3\n> b\n[1] 4 5 6\n", {"a": [[1, 2, 3]], "b": [[4, 5, 6]]}),
        (f"> Q <- matrix(1:4, 2)\n> Q\n{R_TWO}>\n", {"Q": TWO}),
    ],
)
def test_arrays_under_names_of_r_stay_apart(text, wanted):
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            R_TWO + R_OTHER,
            f"it: columns from [,1] on do not follow the 2 before them; {APART}",
        ),
        (
            "    a b\nx 1.0 2\n    a b\nx 3.0 4\n".replace("x", "[1,]"),
            f"it: columns from a on do not follow the 2 before them; {APART}",
        ),
        (
            "     a b\n[1,] 1 2\n     c d\n[1,] 3 4\n",
            f"it: columns from c on do not follow the 2 before them; {APART}",
        ),
        (
            "    [,1] [,2]\ncat    1    2\n    c d\ncat 3 4\n",
            f"it: columns from c on do not follow the 2 before them; {APART}",
        ),
        ("[1] 1 2 3\n[1] 4 5 6\n", f"it: [1] does not follow 3 numbers; {APART}"),
        (
            f"{R_TWO}> K\n{R_OTHER}",
            f"it holds 2 arrays, not all with names; {APART}",
        ),
        (
            f", , 1\n\n{R_TWO}\n, , 1\n\n{R_OTHER}",
            f"it holds the page “, , 1” twice; {APART}",
        ),
        (
            f", , 1\n\n{R_TWO}\n, , 2\n\n     [,1]\n[1,]    1\n",
            "it: its pages have different shapes.",
        ),
        (
            "     [,1]\n[1,]    1\n[2,]    2\n     [,2]\n[1,]    3\n",
            "it: a group of columns has other rows than the first.",
        ),
        (  # no names above the first group
            "1 2\n3 4\nb\n[1,] 1\n",
            "it: a group of columns has other rows than the first.",
        ),
        (
            R_TWO + " [ reached 'max' / getOption(\"max.print\") -- omitted 98 rows ]\n",
            "it: the printout leaves numbers out (max.print); print all, with"
            " options(max.print = 1e6).",
        ),
    ],
)
def test_what_r_does_not_print_as_one_array_is_refused(text, message):
    assert refused(text) == message


def test_columns_with_names_are_one_matrix_where_r_had_no_room_for_the_next():
    line = "".join(f"  column{k:02}" for k in range(7))
    text = f"    {line}\n[1,]{'      0.25' * 7}\n      column07\n[1,]      0.25\n"
    assert read(text) == {ALONE: [[0.25] * 8]}


def test_a_token_that_stands_twice_among_rs_row_names_is_read():
    text = "    [,1]\nthe  0.5\ncat  1.0\nthe  2.0\n    [,2]\nthe    3\ncat    4\nthe    5\n"
    entry = entries(text, "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (
        [[0.5, 3], [1, 4], [2, 5]],
        ("the", "cat", "the"),
    )


# ---- pandas -------------------------------------------------------------------------------------


def test_a_frame_that_pandas_breaks_into_groups_of_columns_is_read():
    values = np.random.default_rng(0).integers(-99, 99, (3, 30)) / 4
    frame = pd.DataFrame(values, index=["cat", "new york", "dog"])
    entry = entries(frame.to_string(line_width=60), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (values.tolist(), tuple(frame.index))


@pytest.mark.parametrize("shape", [(100, 3), (3, 100), (100, 100)])
def test_a_frame_that_pandas_cuts_short_is_refused(shape):
    frame = pd.DataFrame(np.ones(shape))
    assert refused(str(frame)) == (
        "it: the printout leaves numbers out (...); print all, with print(frame.to_string())."
    )


@pytest.mark.parametrize("size", ["\n[100 rows x 2 columns]", ""])
def test_a_frame_of_narrow_columns_that_pandas_cuts_short_is_refused(size):
    text = str(pd.DataFrame(np.ones((100, 2), int)))
    assert ".. .. .." in text and text.endswith("[100 rows x 2 columns]")
    assert refused(text.removesuffix("[100 rows x 2 columns]") + size) == (
        "it: the printout leaves numbers out (...); print all, with print(frame.to_string())."
    )


def test_the_name_that_pandas_prints_above_an_index_is_no_row():
    frame = pd.DataFrame(np.tile(TWO, 9), index=pd.Index(["cat", "New York"], name="word"))
    texts = [frame.to_string(), frame.to_string(line_width=60)]
    texts.append(frame.add_prefix("x").rename_axis(columns="dim").to_string())
    for text in [*texts, "\n".join(line.rstrip() for line in texts[0].splitlines())]:
        entry = entries(text, "it")[ALONE]
        assert (entry.read().tolist(), entry.rows) == (frame.values.tolist(), ("cat", "New York"))
    assert refused("the 0.5 1\ncat\ndog 3 4") == (f"it, line 2, column 1 holds “cat”; {NUMBER}")


@pytest.mark.parametrize(
    "text",
    [
        "2×2 Matrix{Float64}:\n 0.5  -1.25\n 3.0   4.0\n",
        "matrix of mine\n0.5 -1.25 7\n3.0 4.0 8",
        "2×3 Matrix{Int64}:\n 1  2  7\n 3  4  8\n",
        "matrix([[1, 2, 7],\n        [3, 4, 8]])",
        "A =\n\nDiagonal Matrix\n\n   1   0\n   0   1\n\n",
        ">> A\n\nA =\n\n     1     2\n     3     4\n\n",
    ],
)
def test_what_a_program_prints_above_numbers_makes_no_labels_of_them(text):
    (entry,) = entries(text, "it").values()
    numbers = [float(cell) for cell in re.findall(r"(?<![\d×])-?\d+(?:\.\d+)?(?![\d×}])", text)]
    assert entry.rows == ()
    assert entry.read().ravel().tolist() == numbers


def test_a_frame_with_other_sides_than_it_says_is_refused():
    text = pd.DataFrame(TWO).to_string() + "\n\n[100 rows x 2 columns]"
    assert refused(text) == (
        "it says that it is 100 × 2, and 2 × 2 stand there; print all, with"
        " print(frame.to_string())."
    )
    tokens = pd.DataFrame(TWO, index=["..", "..."]).to_string(show_dimensions=True)
    assert entries(tokens, "it")[ALONE].rows == ("..", "...")


def test_the_size_below_a_frame_is_no_row():
    text = pd.DataFrame(TWO).to_string(show_dimensions=True)
    assert text.endswith("[2 rows x 2 columns]")
    assert read(text) == {ALONE: TWO}


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
    assert entry.remark == "Each record is a row, with 2 numbers."


def test_a_name_of_ids_in_records_labels_the_rows_and_is_no_dimension():
    frame = pd.DataFrame(TWO, columns=["a", "b"])
    frame.insert(1, "Token_ID", [101, 7])
    entry = entries(frame.to_json(orient="records"), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("101", "7"))
    frame["word"] = ["cat", "dog"]
    entry = entries(frame.to_json(orient="records"), "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("cat", "dog"))
    assert entry.remark == "Each record is a row, with 2 numbers. Passed over: Token_ID."
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
    with pytest.raises(BadInput) as problem:
        entries(json.dumps(answer), "it")
    assert str(problem.value) == "it, record 2 has no list “embedding”."


def test_a_vector_in_each_record_is_a_row():
    text = json.dumps([{"text": "cat", "embedding": TWO[0]}, {"text": "dog", "embedding": TWO[1]}])
    entry = entries(text, "it")[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, ("cat", "dog"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1, "b": 2}, {"a": 3}]', "it, record 2 has no “b”."),
        ('[{"a": 1}, {"a": 3, "b": 2}]', "it, record 2 has an extra “b”."),
        (
            '[{"a": "x"}]',
            "it is a list of records; numbers are wanted in them, and none there.",
        ),
        (
            '[{"a": 1}, {"a": "x"}]',
            "it, row 2, column 1 holds “x”; a number such as 3, -0.5 or 2e-3 is wanted.",
        ),
    ],
)
def test_records_that_do_not_agree_are_refused(text, message):
    assert refused(text) == message


# ---- torch's dicts, C ---------------------------------------------------------------------------


Q = "tensor([[ 0.5000, -1.2500],\n        [ 3.0000,  4.0000]])"
K = "tensor([[1.0000, 2.0000],\n        [7.0000, 8.5000]])"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"{{'q': {Q}, 'k': {K}}}", {"q": TWO, "k": OTHER}),
        (f"({Q}, {K})", {"numbers 1": TWO, "numbers 2": OTHER}),
        (f"({Q},)", {ALONE: TWO}),
        ("[tensor([ 0.5000, -1.2500]), tensor([3., 4.])]", {ALONE: TWO}),
        (
            f"OrderedDict([('q.weight', {Q}), ('k.weight', {K})])",
            {"q.weight": TWO, "k.weight": OTHER},
        ),
        (
            (
                "BaseModelOutput(last_hidden_state=tensor([[[ 0.5000, -1.2500],\n"
                "         [ 3.0000,  4.0000]]]), hidden_states=None,"
                " attentions=(tensor([[[1.0000, 2.0000],\n         [7.0000, 8.5000]]]),))"
            ),
            {"last_hidden_state": [TWO], "attentions": [OTHER]},
        ),
        (
            (
                "{'weight': Parameter containing:\ntensor([[ 0.5000, -1.2500],\n"
                "        [ 3.0000,  4.0000]], requires_grad=True)}"
            ),
            {"weight": TWO},
        ),
        (repr({"Q": np.array(TWO), "K": np.array(OTHER)}), {"Q": TWO, "K": OTHER}),
    ],
)
def test_dicts_tuples_and_outputs_of_torch_and_numpy_are_read(text, wanted):
    got = read(text)
    squeezed = {name: np.squeeze(values).tolist() for name, values in got.items()}
    assert squeezed == {name: np.squeeze(values).tolist() for name, values in wanted.items()}


@pytest.mark.parametrize(
    "text", [f"{{'q': {Q}.T}}", f"({Q} @ {K})", f"{{'q': {Q}, 'k': 2 * {K}}}", f"{{'q': {Q}"]
)
def test_nothing_beside_printed_tensors_is_computed_or_passed_over(text):
    assert refused(text).startswith("it")


C = {
    "float W[2][2] = {\n  {0.5f, -1.25f},\n  {3.0f, 4.0f}\n};": {"W": TWO},
    "static double Q[2][2] = {{.5, -1.25}, {3, 4}}; // mine\nint K[][2] = {{1, 2}, {7, 8}};": {
        "Q": TWO,
        "K": [[1, 2], [7, 8]],
    },
    "/* two */ std::vector<float> unused;\nconst float x[3] = {1.f, 2e0F, 3.0L};": None,
}


@pytest.mark.parametrize("text", list(C)[:2])
def test_arrays_of_c_are_read_by_name(text):
    assert read(text) == C[text]


@pytest.mark.parametrize("form", ["[2][2]", "[][2]", "[N][2]", "[1][2][2]"])
def test_sides_that_an_array_of_c_is_declared_with_may_be_left_out(form):
    values = "{{{0.5, -1.25}, {3, 4}}}" if form[1] == "1" else "{{0.5, -1.25}, {3, 4}}"
    assert read(f"float W{form} = {values};") == {"W": TWO}


@pytest.mark.parametrize(
    ("form", "values", "held"),
    [
        ("[2][3]", "{{1, 2}, {3, 4}}", "2 × 2"),
        ("[3][2]", "{{1, 2}, {3, 4}}", "2 × 2"),
        ("[4]", "{1, 2, 3}", "1 × 3"),
        ("[2][2]", "{0}", "1 × 1"),
        ("[2][2]", "{1, 2, 3, 4}", "1 × 4"),
    ],
)
def test_an_array_of_c_with_other_sides_than_declared_is_refused(form, values, held):
    assert refused(f"float W{form} = {values};") == (
        f"it, W is declared {form}, and {held} stand there; write each row in its brackets, with"
        " the zeros that C fills in."
    )


def test_octal_numbers_of_c_are_refused_and_decimals_that_begin_with_0_are_not():
    assert refused("int a[2] = {010, 1};") == (
        "it: 010 is octal in C; write it without the 0 in front."
    )
    assert read("float a[4] = {0, 010.5f, 1e-02, 0.01};") == {"a": [[0, 10.5, 0.01, 0.01]]}


def test_code_around_arrays_of_c_is_told():
    assert refused(list(C)[2]) == (
        "it: “std::vector…loat> unused” stands before the first name; only named arrays are read"
        " beside each other."
    )


# ---- masks and tokenizers -----------------------------------------------------------------------


MASK_TEXTS = {
    "NumPy": str(np.array(TWO) > 0),
    "repr": repr(np.array(TWO) > 0),
    "torch": "tensor([[ True, False],\n        [ True,  True]])",
    "cuda": "tensor([[ True, False],\n        [ True,  True]], device='cuda:0')",
    "pandas": str(pd.DataFrame(np.array(TWO) > 0)),
    "CSV": pd.DataFrame(np.array(TWO) > 0).to_csv(index=False),
    "CSV with index": pd.DataFrame(np.array(TWO) > 0).to_csv(),
    "typed": "true false\ntrue true",
    "JSON": "[[true, false], [true, true]]",
}


@pytest.mark.parametrize("case", MASK_TEXTS)
def test_a_printed_matrix_of_true_and_false_is_the_mask(case):
    (entry,) = entries(MASK_TEXTS[case], "it").values()
    assert (entry.dtype, entry.shape) == ("bool", (2, 2))
    assert entry.read().dtype == bool
    assert entry.read().tolist() == [[True, False], [True, True]]
    assert likely(entry.name, entry, EXAMPLES["four-words"].build()) == MASK


def test_true_and_false_beside_numbers_are_no_mask():
    assert refused("1 True\n0 2") == (
        "it, line 1, column 2 holds “True”; a number such as 3, -0.5 or 2e-3 is wanted."
    )


@pytest.mark.parametrize(
    "text",
    [
        "{'input_ids': tensor([[101,   5, 102]]), 'attention_mask': tensor([[1, 1, 1]])}",
        '{"input_ids": [[101, 5, 102]], "attention_mask": [[1, 1, 1]]}',
        "input_ids = [[101, 5, 102]]\nattention_mask = [[1, 1, 1]]",
    ],
)
def test_what_a_tokenizer_gives_is_no_embedding(text):
    assert refused(text) == (
        "it holds what a tokenizer gives (input_ids, attention_mask), and no embeddings; the rows"
        " of the model's embedding matrix for these tokens are wanted."
    )


def test_beside_embeddings_what_a_tokenizer_gives_is_passed_over():
    text = json.dumps({"offset_mapping": [[0, 3], [4, 7]], "X": TWO})
    found = entries(text, "it")
    assert list(found) == ["X"]
    assert found["X"].remark == "Passed over, as a tokenizer gives it: offset_mapping."


# ---- hostile ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "\\begin{bmatrix}" * 50_000,
        "\\begin{bmatrix}" + "1 & " * 200_000,
        "|" * 100_000 + "\n" + "|-" * 100_000,
        "A =\n" * 50_000,
        "[1,] 1\n" * 50_000,
        "{'a': tensor(" * 20_000,
        "(" + "tensor([1.]), " * 5_000 + "x",
        "a \\\n" * 50_000,
        "int a[1] = {" * 10_000,
        "#\n" * 100_000,
        "x: " * 100_000 + "tensor(",
        "float " * 100_000 + "a[1] = {1}",
    ],
)
def test_hostile_printouts_are_refused_without_delay(text):
    assert len(refused(text)) <= 300


@contextmanager
def at_once():
    """Stops what takes minutes."""

    def stop(number, frame):
        raise TimeoutError("still at it")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


RESULT = "nothing is computed here, so paste the result."
NUMBER = "a number such as 3, -0.5 or 2e-3 is wanted."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "A =\n1x1" + " " * 100_000 + "!\n",
            f"it, A, row 1, column 1 holds “1x1”; {NUMBER}",
        ),
        (
            "A =\nColumns 1" + " " * 200_000 + "!\n",
            f"it, A, row 1, column 1 holds “Columns”; {NUMBER}",
        ),
        (
            "\\begin{matrix}1" + " " * 200_000 + "2\\end{matrix}",
            f"it, row 1, column 1 holds “1{' ' * 22}…”; {NUMBER}",
        ),
        (
            "float W[1] = {1};\n" + "/* " * 200_000,
            f"it, W: “/* /* /* /*… /* /* /* /*” follows the numbers; {RESULT}",
        ),
        ("|a|\n|--|\n|1|\n\n" * 40_000, "it holds 40,000 arrays; at most 4,096 are read."),
    ],
)
def test_what_took_minutes_to_refuse_is_refused_at_once(text, message):
    with at_once():
        assert refused(text) == message
