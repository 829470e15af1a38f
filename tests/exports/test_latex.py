"""The LaTeX that is written, read token by token as TeX does: it would compile, to what was typed.

A reader of its own, which knows nothing of the writer: groups and environments close, a row has as
many cells as its environment has columns, no mark of TeX stands alone, and letters that TeX would
set as one stand apart.
"""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.explain.view import View
from attention.exports.text import to_latex

MARKS = r"% _ & # \ \\ ~ ^ { } $ ä 你 <s> | ' `` '' -- --- ,, ?` !` [CLS] * \end{array} {}"
WORDS = (
    *MARKS.split(),
    *("$x_1^2$", "-{}", "don't", "▁the", r"\text{x}", r"%\\ &", "a & b", "100 %", '"', ""),
)
TOKEN = re.compile(r"\\([A-Za-z]+|.)\s*|%[^\n]*|(.)", re.DOTALL)  # of TeX, comments among them
LETTERS = {  # by commands of LaTeX's text mode
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textquotedbl": '"',
} | dict(zip("{}$&%#_", "{}$&%#_", strict=True))
LIGATURES = ("--", "''", ",,", "``", "?`", "!`", "<<", ">>")  # of TeX's fonts in T1
FORMULA = {"cdot", "infty", "mathrm", "mathsf", "hline", "sqrt", "top", "tilde", "sum"}


def tokens_of(source: str):
    """(is a command, what) for each token; blanks after a command's name belong to it."""
    at = 0
    while at < len(source):
        found = TOKEN.match(source, at)
        name = found[1]
        at = found.end() if name is None or name[0].isalpha() else found.start() + 2
        if name is not None or found[2] is not None:
            yield name is not None, found[2] if name is None else name


def group(stream) -> list[tuple[bool, str]]:
    """What stands between the braces that come next."""
    assert next(stream) == (False, "{")
    inner, depth = [], 1
    for command, what in stream:
        depth += {"{": 1, "}": -1}.get(what, 0) * (not command)
        if not depth:
            return inner
        inner.append((command, what))
    raise AssertionError("a group is not closed")


def set_as(text: list[tuple[bool, str]]) -> str:
    """What a ``\\text{…}`` shows; nothing in it may mean anything else to TeX."""
    shown = ""
    for command, what in text:
        if command:
            shown += LETTERS[what] + "\x00"
        else:
            assert what not in "%$&#_^~\\"
            shown += "\x00" if what in "{}" else what
    assert not any(pair in shown for pair in LIGATURES), shown
    return shown.replace("\x00", "")


def formulas(source: str) -> list[tuple[str, str, list[list[str]]]]:
    """Of each displayed formula: what is its environment, its columns, and its rows of cells."""
    found, stream = [], tokens_of(source)
    for command, what in stream:
        if not (command and what == "["):
            assert not command or what == "setcounter"
            continue
        rows, columns, kind = [[""]], "", ""
        while (token := next(stream)) != (True, "]"):
            command, what = token
            if token == (True, "begin"):
                assert not kind
                kind = "".join(letter for _, letter in group(stream))
                if kind == "array":
                    columns = "".join(letter for _, letter in group(stream))
                rows = [[""]]
            elif token == (True, "end"):
                assert "".join(letter for _, letter in group(stream)) == kind
            elif token == (True, "text"):
                rows[-1][-1] += set_as(group(stream))
            elif token == (True, "\\"):
                rows.append([""])
            elif token == (False, "&"):
                rows[-1].append("")
            else:
                assert not command or what in FORMULA, what
                rows[-1][-1] += what if not command else ""
        found.append((kind, columns, [[cell.strip() for cell in row] for row in rows]))
    return found


@pytest.mark.parametrize("beside", [False, True])
def test_words_stand_beside_and_above_as_they_were_typed_and_every_row_has_its_columns(beside):
    words = tuple(" ".join(word.split()) for word in WORDS)
    counted = tuple(str(k) for k in range(1, len(words) + 1))
    labels = {"queries": words if beside else counted, "keys": words, "d_v": counted}
    matrix = np.linspace(-1, 1, len(words) ** 2).reshape(len(words), -1)
    stages = {"masked": np.where(matrix > 0, -np.inf, matrix * 1e-6), "output": matrix}
    first, second = formulas(
        to_latex(View(stages, labels, np.ones(matrix.shape, bool), 1.0)).decode()
    )
    kind, columns, rows = first
    assert kind == "array" and columns == "r|" * beside + "r" * len(words)
    assert [len(row) for row in rows] == [len(words) + beside] * (len(words) + 1)
    assert rows[0] == [""] * beside + list(words)
    assert [row[0] for row in rows[1:]] == list(words) or not beside
    assert {row[-1] for row in rows[1:]} >= {"-"}  # and ∞
    kind, columns, rows = second
    assert kind == ("array" if beside else "bmatrix")
    assert {len(row) for row in rows} == {len(words) + beside}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1, max_size=4))
def test_any_words_are_set_as_typed_in_one_line(words):
    labels = tuple(" ".join(word.split()) or "w" for word in words)
    size = len(labels)
    matrix = np.arange(float(size * size)).reshape(size, size)
    stages, beside = {"scores": matrix}, {"queries": labels, "keys": labels}
    view = View(stages, beside, np.ones((size, size), bool), 1.0)
    ((_, _, rows),) = formulas(to_latex(view).decode())
    numbers = [[f"{value:.0f}" for value in row] for row in matrix]
    counted = labels == tuple(str(k) for k in range(1, size + 1))
    if counted:
        assert rows == numbers
    else:
        assert rows[0] == ["", *labels]
        assert rows[1:] == [[label, *row] for label, row in zip(labels, numbers, strict=True)]


def test_a_matrix_of_more_than_ten_columns_asks_amsmath_for_as_many():
    labels = {"queries": ("1", "2"), "d_v": tuple(map(str, range(1, 12)))}
    view = View({"output": np.zeros((2, 11))}, labels, np.ones((2, 2), bool), 1.0)
    source = to_latex(view).decode()
    assert "\\setcounter{MaxMatrixCols}{11}\n\\[" in source
    assert [len(row) for row in formulas(source)[0][2]] == [11, 11]
