"""Texts of kinds that are not read: one sentence names the kind and what to save instead.

Those of R, MATLAB, Octave and Julia are written as their manuals show them.
"""

import json
import signal
from contextlib import contextmanager

import messages
import pandas as pd
import pytest
from amount import amount

from attention.exports.tables import to_csv
from attention.exports.text import to_latex
from attention.limits import MAX_FILE, BadInput
from attention.readers.cells.entry import ALONE, PASTED
from attention.readers.opening import opened
from attention.readers.texts import other_texts
from attention.readers.texts.texts import entries
from attention.session.compare import check_yours
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view

TWO = [[0.5, -1.25], [3, 4]]
SETTINGS = EXAMPLES["sentence"].build()
SHOWN = view(SETTINGS, run(SETTINGS))
CELLS = to_csv(SHOWN).decode()
R_MATRIX = "     [,1]  [,2]\n[1,]  0.5 -1.25\n[2,]  3.0  4.00\n"
KINDS = {
    messages.LATEX_TEXT: {
        "this page's": to_latex(SHOWN).decode(),
        "named": r"$$B = \begin{pmatrix} 0.5 & -1.25 \\ 3 & 4 \\ \end{pmatrix}$$",
        "array": r"\left[\begin{array}{cc} .5&-1.25\\[2pt] \hline 3&4 \end{array}\right]",
        "table of pandas": (
            "\\begin{tabular}{lrr}\n\\toprule\n & x & y \\\\\n\\midrule\ncat & 0.5 & -1.25 \\\\\n"
            "dog & 3.0 & 4.0 \\\\\n\\bottomrule\n\\end{tabular}\n"
        ),
        "rows": "0.5 & -1.25 \\\\\n3 & 4 \\\\\n",
        "rows and rules": "0.5 & -1.25 \\\\ \\hline\n3 & 4 \\\\ \\hline\n",
        "cut off": r"\begin{matrix} 1 & 2",
    },
    messages.PRINTOUT_OF_MATLAB: {
        "short": "A =\n\n    0.5000   -1.2500\n    3.0000    4.0000\n\n",
        "lines of Windows": "A =\r\n\r\n    0.5000   -1.2500\r\n    3.0000    4.0000\r\n",
        "prompt": ">> A\n\nA =\n\n     1     2\n     3     4\n\n",
        "factor": "A =\n\n   1.0e+03 *\n\n    0.0005   -0.0013\n    3.0000    4.0000\n",
        "factor alone": "   1.0e+03 *\n\n    0.0005   -0.0013\n    3.0000    4.0000\n",
        "groups": "A =\n\n  Columns 1 through 2\n\n    0.5   -1.2\n\n  Column 3\n\n    7.0\n",
        "groups alone": "  Columns 1 through 8\n\n    0.5   -1.2\n\n  Columns 9 through 10\n\n 7\n",
        "groups of Octave": "A =\n\n Columns 1 and 2:\n\n   0.5  -1.2\n\n Column 3:\n\n   7\n",
        "two": "Q =\n\n     1     2\n\nK =\n\n   NaN  -Inf\n",
        "pages": "A(:,:,1) =\n\n     1     2\n\nA(:,:,2) =\n\n     5     6\n",
        "kind": "ans =\n\n  2×2 single matrix\n\n    0.5000   -1.2500\n    3     4\n",
        "logical": "M =\n\n  2×2 logical array\n\n   true   false\n   true   true\n",
        "diagonal": "A =\n\nDiagonal Matrix\n\n   1   0\n   0   1\n\n",
    },
    messages.PRINTOUT_OF_R: {
        "matrix": R_MATRIX,
        "groups": "     [,1]\n[1,]  0.5\n[2,]  3.0\n      [,2]\n[1,] -1.25\n[2,]  4.00\n",
        "names of columns": "       a     b\n[1,] 0.5 -1.25\n[2,] 3.0  4.00\n",
        "names of rows": "    [,1]  [,2]\ncat  0.5 -1.25\ndog  3.0  4.00\n",
        "vector": "[1] 0.5 -1.25 3.00\n[4] 4.00\n",
        "truth": "[1]  TRUE FALSE\n",
        "pages": f", , 1\n\n{R_MATRIX}\n, , 2\n\n{R_MATRIX}",
        "prompt": f"> Q\n{R_MATRIX}",
        "list": f"$Q\n{R_MATRIX}\n$K\n{R_MATRIX}\n",
    },
    messages.PRINTOUT_OF_JULIA: {
        "matrix": "2×2 Matrix{Float64}:\n 0.5  -1.25\n 3.0   4.0\n",
        "prompt": "julia> A\n2×3 Matrix{Int64}:\n 1  2  7\n 3  4  8\n",
        "vector": "3-element Vector{Float64}:\n 1.0\n 2.0\n 3.0\n",
        "adjoint": "2×2 adjoint(::Matrix{Float64}) with eltype Float64:\n 1.0 2.0\n 3.0 4.0\n",
    },
    messages.ARRAY_IN_C: {
        "matrix": "float W[2][2] = {\n  {0.5f, -1.25f},\n  {3.0f, 4.0f}\n};",
        "two": "static double Q[1][2] = {{.5, -1.25}}; // mine\nint K[][2] = {{1, 2}, {7, 8}};",
        "vector": "const float x[3] = {1.f, 2e0F, 3.0L};",
        "braces": "{{0.5, -1.25}, {3, 4}}",
        "std::vector": "std::vector<std::vector<float>> W = {\n  { 0.5f, -1.25f },\n  { 3, 4 }};",
    },
    messages.ROW_PER_CELL: {
        "this page's": CELLS,
        "semicolons": CELLS.replace(".", ",").replace(",", ";"),
        "tabs and quotes": '"stage"\t"row"\t"column"\t"value"\n"Q"\t1\t1\t0.5\n',
        "other columns": "column,value,row\n1,0.5,1\n",
    },
}
CASES = [
    pytest.param(text, sentence, id=f"{sentence[8:30]}, {case}")
    for sentence, texts in KINDS.items()
    for case, text in texts.items()
]


@pytest.mark.parametrize(("text", "sentence"), CASES)
def test_a_text_of_another_kind_is_named_in_one_sentence(text, sentence):
    ways = {
        PASTED: lambda: opened(PASTED, text.encode()),
        "it.txt": lambda: opened("it.txt", text.encode()),
        "your output": lambda: check_yours.explain(BENCH, {"output": text}),
    }
    for place, read in ways.items():
        with pytest.raises(BadInput) as problem:
            read()
        assert str(problem.value) == sentence.format(place=place)


BENCH = check_yours.bench_of(check_yours.from_settings(SETTINGS))


# As the call that each sentence names writes the two rows.
SAVED = {
    "write.csv": ('"","V1","V2"\n"1",0.5,-1.25\n"2",3,4\n', ("1", "2")),
    "write.csv of named rows": ('"","V1","V2"\n"cat",0.5,-1.25\n"dog",3,4\n', ("cat", "dog")),
    "writematrix": ("0.5,-1.25\n3,4\n", ()),
    "csvwrite": ("0.5,-1.25\n3,4\n", ()),
    "writedlm": ("0.5,-1.25\n3.0,4.0\n", ()),
    "to_csv": (pd.DataFrame(TWO, index=["cat", "dog"]).to_csv(), ("cat", "dog")),
}


@pytest.mark.parametrize("way", SAVED)
def test_what_is_saved_instead_is_read(way):
    text, rows = SAVED[way]
    entry = opened("A.csv", text.encode())[ALONE]
    assert (entry.read().tolist(), entry.rows) == (TWO, rows)


READ = {
    "lists of one number": ("[[1,], [2,]]", [[1], [2]]),
    "a list and a comma": ("[1,]", [[1]]),
    "rows of NumPy": ("[1]\n[2]", [[1], [2]]),
    "MATLAB, typed": ("A = [1 2; 3 4]", [[1, 2], [3, 4]]),
    "a name above brackets": ("A =\n[[1 2]\n [3 4]]", [[1, 2], [3, 4]]),
    "a name above a tensor": ("A =\ntensor([[1., 2.]])", [[1, 2]]),
    "ampersands": ("a & b 1 2\nc & d 3 4", [[1, 2], [3, 4]]),
    "a row of braces": ("{1, 2}\n{3, 4}", [[1, 2], [3, 4]]),
    "backslashes": ('"a & b \\\\",1,2\n"x\\",3,4', [[1, 2], [3, 4]]),
    "columns of Q, K, V": ("word,query,key\ncat,1,2\ndog,3,4", [[1, 2], [3, 4]]),
    "words in JSON": (
        json.dumps({"tokens": [r"\begin{bmatrix}", "\n[1,] 2"], "X": [[1, 2], [3, 4]]}),
        [[1, 2], [3, 4]],
    ),
}


@pytest.mark.parametrize("case", READ)
def test_marks_that_other_texts_have_as_well_are_read(case):
    text, values = READ[case]
    (entry,) = entries(text, "it").values()
    assert entry.read().tolist() == values


@contextmanager
def at_once():
    """Stop what takes minutes."""

    def stop(number, frame):
        raise TimeoutError("still at it")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


RUNS = ("{", "{ ", "\n", " ", "&\\\\", "&1\\\\ \\hline ", "A =\n", "1×", "[1", "Columns 1 ", "]= ")


@pytest.mark.parametrize("run", RUNS)
def test_the_longest_text_of_marks_is_told_in_seconds(run):
    text = "x\n" + run * (MAX_FILE // len(run) // amount(4, 1))
    with at_once(), pytest.raises(BadInput):
        other_texts.refuse(text, "it")
        raise BadInput("of no such kind")


HOSTILE = (
    "\\begin{bmatrix}" * 50_000,
    "\\begin{bmatrix}" + "1 & " * 200_000,
    "A =\n" * 50_000,
    "[1,] 1\n" * 50_000,
    "a \\\n" * 50_000,
    "int a[1] = {" * 10_000,
    "float " * 100_000 + "a[1] = {1}",
    "A =\n1x1" + " " * 100_000 + "!\n",
    "A =\nColumns 1" + " " * 200_000 + "!\n",
    "float W[1] = {1};\n" + "/* " * 200_000,
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_refused_without_delay(text):
    with at_once(), pytest.raises(BadInput) as problem:
        for entry in entries(text, "it").values():
            entry.read()
    assert len(str(problem.value)) <= 300
