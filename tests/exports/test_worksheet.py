"""Worksheets: what a person works out from the paper is what the key says."""

import io
import math
import re
from collections import Counter
from dataclasses import replace
from datetime import date
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import oracle
import pypdf
import pypdfium2
import pytest
from amount import amount
from pypdfium2 import raw

from attention import RMSNorm, Rotary, program
from attention.exports.worksheet import Wanted, sheets_of, to_bytes
from attention.html.mathml import mathml
from attention.limits import BadInput
from attention.readers.select import SelectedArray
from attention.session.changes import (
    set_dimension,
    set_mask,
    set_memory,
    set_output_weights,
    set_sentence,
)
from attention.session.examples import EXAMPLES
from attention.session.finished import with_weights
from attention.session.matrix import Matrix
from attention.session.prepared import set_biases, set_positions
from attention.session.run import run, view
from attention.worksheet import choices, refusal

MM = 72 / 25.4  # points
CAT = EXAMPLES["cat-sat"].build()
NAMES = {"WQ": "W_Q", "WK": "W_K", "WV": "W_V", "M": "mask", "A": "weights", "Z": "output"}
NAMES |= {name: name for name in ("X", "Q", "K", "V", "scores", "scaled", "masked", "x")}
NUMBER = re.compile(r"−?(\d+(\.\d+)?(e−?\d+)?|∞)")
EIGHT = set_mask(set_sentence(CAT, "one two three four five six seven eight"), "causal")
for name in ("d_model", "d_k", "d_v"):
    EIGHT = set_dimension(EIGHT, name, 8)
STATES = {
    "two words": set_sentence(CAT, "hello world"),
    "six words": CAT,
    "eight words, widths of eight": EIGHT,
    "long words": replace(
        EXAMPLES["four-words"].build(),
        tokens=("antidisestablishment" * 2, "W" * 40, "$x$ \\$", "<b>&amp;"),
    ),
    "scripts": set_sentence(CAT, "مرحبا بالعالم 猫 坐 שלום"),
    "long numbers": CAT.with_matrix("X", Matrix(CAT.matrices["X"].values * 123456.789)),
    "one of two heads": EXAMPLES["sentence"].build(),
}


def normal(seed=3, **more):
    """A state with numbers that no paper holds to the last digit."""
    rng, s = np.random.default_rng(seed), EXAMPLES["four-words"].build()
    for name, matrix in s.matrices.items():
        s = s.with_matrix(name, Matrix(rng.normal(size=matrix.shape)))
    return replace(s, **more)


# ---- reading the paper ---------------------------------------------------------------------------


def number(text):
    return float(text.replace("−", "-").replace("∞", "inf"))


@cache
def lines_of(pdf):
    """The lines of each page, as PDFium, which is none of Matplotlib's, reads them."""
    pages = pypdfium2.PdfDocument(pdf)
    return [page.get_textpage().get_text_range().splitlines() for page in pages]


def grids_of(lines):
    """What stands in grids: (name, rows of texts); texts are () where the grid is empty."""
    found, wide = [], 0
    for line in lines:
        first, *rest = line.split() or [""]
        if first in NAMES and rest and not rest[0].startswith("="):
            found.append((NAMES[first], []))
            wide = len(rest)
        elif wide and len(rest) in (0, wide) and all(map(NUMBER.fullmatch, rest)):
            found[-1][1].append(tuple(rest))
        else:
            wide = 0
    return found


def sheets_and_keys(pdf):
    """By the number of the sheet: what is given, what is asked, and the key."""
    sheets, keys, at = {}, {}, None
    for lines in lines_of(pdf):
        for line in lines:
            head = re.search(r"(Key to )?[Ss]heet (\d+)$", line)
            if head:
                at = (keys if head[1] else sheets).setdefault(int(head[2]), [])
            elif at is not None:
                at.append(line)
    read = {k: grids_of(lines) for k, lines in sheets.items()}
    given = {k: {n: rows for n, rows in read[k] if all(rows)} for k in read}
    asked = {k: {n: rows for n, rows in read[k] if not any(rows)} for k in read}
    return given, asked, {k: dict(grids_of(lines)) for k, lines in keys.items()}


def worked_out(given):
    """Every stage, by plain loops, from what is given as text."""
    read = {name: [[number(t) for t in row] for row in rows] for name, rows in given.items()}
    for name in "QKV":
        if f"W_{name}" in read:
            read[name] = oracle.product(
                read.get("memory", read["X"]) if name != "Q" else read["X"], read[f"W_{name}"]
            )
    M = read.get("mask")
    allowed = [[x > -math.inf for x in row] for row in M] if M else None
    bias = [[x if x > -math.inf else 0 for x in row] for row in M] if M else None
    return read | oracle.attend(read["Q"], read["K"], read["V"], allowed, bias)


def agrees(text, value, digits=2):
    """Whether a text is that number, rounded to these digits."""
    said = number(text)
    if "e" in text or math.isinf(said):
        return said == value or math.isclose(said, value, rel_tol=0.51 * 10 ** -max(digits - 1, 0))
    return abs(said - value) <= 0.5 * 10**-digits + 1e-9


# ---- the numbers ---------------------------------------------------------------------------------


A_CLASS = amount(4, 12)  # sheets


@cache
def class_set(sheets=A_CLASS, seed=1, first="Q"):
    return to_bytes(Wanted(first, sheets=sheets, seed=seed), CAT, "pdf")


def test_the_keys_of_a_class_follow_from_the_numbers_on_its_sheets():
    given, asked, keys = sheets_and_keys(class_set())
    assert list(given) == list(asked) == list(keys) == list(range(1, A_CLASS + 1))
    for k in keys:
        stages = worked_out(given[k])
        assert list(keys[k]) == list(asked[k]) == list(oracle.COMPUTED)
        for name, rows in keys[k].items():
            for i, row in enumerate(rows):
                for j, text in enumerate(row):
                    assert agrees(text, stages[name][i][j]), (k, name, i, j)


def test_a_class_of_40_has_40_sheets_and_40_keys_each_with_numbers_of_its_own():
    given, asked, keys = sheets_and_keys(class_set(40, first="weights"))
    assert list(given) == list(asked) == list(keys) == list(range(1, 41))
    assert len({str(given[k]) for k in given}) == len({str(keys[k]) for k in keys}) == 40
    for k in keys:
        assert list(keys[k]) == ["weights", "output"]
        masked = [[number(text) for text in row] for row in given[k]["masked"]]
        V = [[number(text) for text in row] for row in given[k]["V"]]
        weights = [oracle.share(row, [x > -math.inf for x in row]) for row in masked]
        for name, exact in ("weights", weights), ("output", oracle.product(weights, V)):
            assert all(map(agrees, sum(keys[k][name], ()), sum(exact, []))), (k, name)


def test_the_keys_stand_behind_all_sheets_and_each_sheet_begins_a_page():
    pages = lines_of(class_set(3, 9998))
    begun = [lines[0] for lines in pages if "page 1" in lines[-1]]
    assert begun == [*(f"Attention by hand Sheet {k}" for k in (1, 2, 3)), "Key to sheet 1"]
    assert not any("Key" in line for lines in pages[:6] for line in lines)
    feet = [lines[-1] for lines in pages if "page 1" in lines[-1]]
    assert [re.search(r"seed \d+|page", foot)[0] for foot in feet] == [
        "seed 9998",
        "seed 9999",
        "seed 1",
        "page",
    ]


def test_the_same_seed_makes_the_same_sheet_in_another_set():
    of = {k: sheets_of(Wanted(sheets=7, seed=k), CAT) for k in (1, 5)}
    alike = [
        (one.given, one.tasks) == (other.given, other.tasks)
        for one, other in zip(of[1][4:], of[5], strict=False)
    ]
    assert alike == [True] * 3


def test_powers_of_e_are_given_where_few_are_needed_and_do_not_say_which():
    given, _, keys = sheets_and_keys(class_set())
    for k, grids in given.items():
        (texts,) = grids["x"]
        most = len(texts) // 4
        powers = [math.exp(x / 2) for x in range(-2 * most, 2 * most + 1)]
        assert all(map(agrees, texts, powers))
        needed = {abs(number(t)) for row in keys[k]["masked"] for t in row} - {math.inf}
        assert max(needed) <= most


def test_numbers_that_paper_cannot_hold_are_rounded_first_and_the_key_is_made_of_these():
    (sheet,) = sheets_of(Wanted(), normal())
    assert sheet.notes[:2] == (
        "Round to 2 decimals. The key goes on with unrounded numbers, so your last digit may"
        " differ.",
        "What is given was rounded first, and the key is computed from it as it is.",
    )
    stages = worked_out({grid.name: grid.texts for grid in sheet.given})
    exact = view(normal(), run(normal())).stages["scores"]
    (scores,) = (task.grid for task in sheet.tasks if task.grid.name == "scores")
    assert not all(
        agrees(t, exact[i, j]) for i, r in enumerate(scores.texts) for j, t in enumerate(r)
    )  # the test can fail
    for task in sheet.tasks:
        for i, row in enumerate(task.grid.texts):
            for j, text in enumerate(row):
                assert agrees(text, stages[task.grid.name][i][j])


CROSSED = set_memory(normal(), True)
WITHIN = {
    "a state": normal(),
    "masked": normal(mask="causal"),
    "filled": normal(mask="causal", fill="-1e9"),
    "another scale": normal(scale=0.3),
    "unscaled": normal(scale=1.0, digits=1),
    "without softmax": normal(softmax=False, digits=3),
    "without softmax, masked": normal(softmax=False, mask="causal"),
    "the sum": normal(context=True),
    "a row that sees no key": normal(padding=(0,), mask="causal"),
    "two sequences": CROSSED,
    "whole numbers": normal(digits=0),
    "output weights": set_output_weights(normal(context=True), True),
    "one head of two": EXAMPLES["sentence"].build(),
    "soft cap and sink": normal(softcap=2.0, sinks=(0.5,), mask="causal"),
    "a sigmoid": normal(softmax="sigmoid", mask="causal"),
    "biases and positions": set_positions(
        set_biases(set_output_weights(normal(), True), True), True
    ),
    "rotated, with distances": normal(rotary=Rotary(), alibi=True),
    "normed": normal(norm=RMSNorm(), window=2, mask="causal"),
} | {name: EXAMPLES[name].build() for name in ("softmax", "minus-1e9", "lookup", "customers")}


@pytest.mark.parametrize("case", WITHIN)
def test_each_stage_follows_from_what_the_sheet_gives_wherever_it_begins(case):
    s = WITHIN[case]
    shown = view(s, run(s))
    for first in choices(shown):
        (sheet,) = sheets_of(Wanted(first), s)
        known = {
            grid.name: [[number(t) for t in row] for row in grid.texts] for grid in sheet.given
        }
        for task in sheet.tasks:
            name, exact = task.grid.name, by_formula(task, known, s)
            known[name] = exact
            for i, row in enumerate(task.grid.texts):
                for j, text in enumerate(row):
                    assert agrees(text, exact[i][j], s.digits), (first, name, i, j)


def _seen(row):
    return [x > -math.inf for x in row]


def by_formula(task, known, s):
    """A stage, from the formula that stands on the sheet."""
    formula = task.formula.replace(r"\mathrm", "").replace(r"\,", " ")
    symbols = {"A": "weights", "Z": "output", "M": "mask", "Y": "memory", "(X + P)": "X_P"}

    def matrix(symbol):
        symbol = symbol.strip(" {}")
        return known[symbols.get(symbol, symbol)]

    left, right = formula.split(" = ", 1)
    if bias := re.search(r"(.*) \+ (b_\w)$", right):
        rows = oracle.product(*map(matrix, bias[1].rsplit(" ", 1)))
        return [[x + b for x, b in zip(row, known[bias[2]][0], strict=True)] for row in rows]
    if "tanh" in right:
        rows = known["scaled"]
        return [[s.softcap * math.tanh(x / s.softcap) for x in row] for row in rows]
    if "sigmoid" in right:
        return [[1 / (1 + math.exp(-x)) for x in row] for row in known["masked"]]
    if s.sinks and "softmax" in right:
        with_sink = [
            oracle.share([*row, s.sinks[0]], [*_seen(row), True]) for row in known["masked"]
        ]
        return [row[:-1] for row in with_sink]
    if "softmax" in right:
        rows = matrix(re.search(r"softmax\}\(\{(\w+)\}\)|softmax\}\((\w+)\)", right)[1])
        return [oracle.share(row, [x > -math.inf for x in row]) for row in rows]
    if "sum" in right:
        return [[math.fsum(column) for column in zip(*known["output"], strict=True)]]
    if r"\top" in right:
        rows = [
            next(known[name] for name in (f"{one}_rotated", f"{one}_normed", one) if name in known)
            for one in "QK"
        ]
        return [[oracle.dot(q, k) for k in rows[1]] for q in rows[0]]
    if r"\dfrac" in right:
        root = float(re.search(r"√(\d+)", task.sentence)[1]) ** 0.5
        return [[x / root for x in row] for row in known["scores"]]
    if r"\cdot" in right:
        factor = float(right.rsplit(" ", 1)[1])
        return [[x * factor for x in row] for row in known["scores"]]
    if "+ M" in right:
        rows, added = matrix(right.split("+")[0]), known["mask"]
        return [
            [a + b for a, b in zip(*both, strict=True)] for both in zip(rows, added, strict=True)
        ]
    if len(right.split()) == 1:  # softmax is off
        return [[x if x > -math.inf else 0.0 for x in row] for row in matrix(right)]
    one, other = right.rsplit(" ", 1)
    return oracle.product(matrix(one), matrix(other))


def test_the_page_has_the_numbers_of_the_pdf():
    wanted = Wanted(sheets=3, seed=7)
    given, asked, keys = sheets_and_keys(to_bytes(wanted, CAT, "pdf"))
    read = Tables(to_bytes(wanted, CAT, "html"))
    for k in (1, 2, 3):
        whole = read.of[f"Sheet {k}"]
        assert {n: t for n, t in whole.items() if any(t[0])} == renamed(given[k])
        blank = {n: [tuple(filter(None, row)) for row in t] for n, t in whole.items()}
        assert {n: t for n, t in blank.items() if not any(t)} == asked[k]
        assert read.of[f"Key to sheet {k}"] == keys[k]
    assert read.blanks == sum(
        len(task.grid.rows) * len(task.grid.columns)
        for sheet in sheets_of(wanted, CAT)
        for task in sheet.tasks
    )


def renamed(given):
    return {"powers" if name == "x" else name: rows for name, rows in given.items()}


class Tables(HTMLParser):
    """The tables of each sheet and each key."""

    def __init__(self, content):
        super().__init__()
        self.of, self.blanks, self.inside = {}, 0, ""
        self.heading = self.title = ""
        self.feed(content.decode())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ("h1", "h2"):
            self.heading = ""
        if tag == "table":
            self.rows = self.of[self.title][attributes["data-stage"]] = []
        if tag == "td":
            self.rows[-1] = (*self.rows[-1], "")
            self.blanks += attributes.get("class") == "blank"
        if tag == "tr" and self.inside == "tbody":
            self.rows.append(())
        self.inside = tag

    def handle_data(self, text):
        if self.inside in ("h1", "h2", "span"):
            self.heading += text
        if self.inside == "td":
            self.rows[-1] = (*self.rows[-1][:-1], text)

    def handle_endtag(self, tag):
        self.inside = "tbody" if tag == "tr" else ""
        if tag in ("h1", "h2") and (found := re.search(r"(Key to s|S)heet \d+", self.heading)):
            self.title = found[0]
            self.of[self.title] = {}


# ---- the paper -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", STATES)
def test_pages_are_a4_with_nothing_cut_and_cells_to_write_in(case):
    s = STATES[case]
    (sheet,) = sheets_of(Wanted(), s)
    pages = pypdfium2.PdfDocument(to_bytes(Wanted(), s, "pdf"))
    blank = 0
    for page in pages:
        wide, high = page.get_size()
        assert abs(wide / MM - 210) < 0.1 and abs(high / MM - 297) < 0.1
        ink = page.render(scale=1).to_numpy()[..., :3].min(axis=-1) < 250
        edge = int(12 * MM)
        assert ink.any() and not ink[:edge].any() and not ink[-edge:].any()
        assert not ink[:, :edge].any() and not ink[:, -edge:].any()
        boxes = Counter(map(size_of, filter(is_path, page.get_objects(max_depth=4))))
        for (across, down), count in boxes.items():
            if 9 <= down <= 11 and across < 100:
                assert across >= 15
                blank += count
    assert blank == sum(len(task.grid.rows) * len(task.grid.columns) for task in sheet.tasks)
    read = [line for page in pages for line in page.get_textpage().get_text_range().splitlines()]
    numbered = [int(found[1]) for line in read if (found := re.match(r"(\d+)\. ", line))]
    assert numbered == list(range(1, len(sheet.tasks) + 1))


def is_path(found):
    return found.type == raw.FPDF_PAGEOBJ_PATH


def size_of(found):
    """(across, down) in millimetres."""
    left, bottom, right, top = found.get_bounds()
    return round((right - left) / MM, 1), round((top - bottom) / MM, 1)


def test_a_sheet_of_a_class_is_one_leaf_and_two_keys_fill_a_page():
    pages = [len(lines_of(class_set(*which))) for which in ((), (3, 9998))]
    assert pages == [2 * A_CLASS + A_CLASS // 2, 8]
    alone = to_bytes(Wanted(sheets=1, with_key=False), CAT, "pdf")
    assert len(lines_of(alone)) == 2 and "Key" not in str(lines_of(alone))


def test_no_two_words_of_a_page_lie_on_each_other():
    for page in pypdfium2.PdfDocument(to_bytes(Wanted(), STATES["long numbers"], "pdf")):
        places = [
            found.get_bounds()
            for found in page.get_objects(max_depth=4)
            if found.type == raw.FPDF_PAGEOBJ_TEXT
        ]
        boxes = np.array([p for p in places if p[2] - p[0] > 4])
        left, low, right, high = boxes.T
        apart = (left[:, None] >= right - 1) | (left >= right[:, None] - 1)  # an index
        apart |= (low[:, None] >= high - 0.5) | (low >= high[:, None] - 0.5)
        assert (apart | np.eye(len(boxes), dtype=bool)).all()


def test_letters_without_a_font_are_named_and_no_text_is_read_as_a_formula():
    pages = lines_of(to_bytes(Wanted(), set_sentence(CAT, "\U00012000 a"), "pdf"))
    assert any("boxes stand for letters without a font here: U+12000" in li for li in pages[0])
    text = "\n".join(lines_of(to_bytes(Wanted(), STATES["long words"], "pdf"))[0])
    assert "$x$" in text.replace(" ", "") and "<b>" in text.replace(" ", "")


def test_what_is_typed_is_text_in_the_page():
    page = to_bytes(Wanted(), STATES["long words"], "html").decode()
    assert "<b>&" not in page.replace("<b>1.", "") and "script" not in page.split("</style>")[1]
    assert "default-src 'none'" in page and "@page { size: A4" in page


def test_files_say_what_they_are_and_two_of_them_are_alike(monkeypatch):
    monkeypatch.setattr(program, "today", lambda: date(2030, 1, 2))
    one, two = (to_bytes(Wanted("output"), CAT, "pdf") for _ in range(2))
    assert one == two and to_bytes(Wanted(), CAT, "html") == to_bytes(Wanted(), CAT, "html")
    said = pypdf.PdfReader(io.BytesIO(one)).metadata
    assert said.title == "Attention by hand" and said.creation_date.date() == date(2030, 1, 2)
    assert said.creator == program.made_by() and "example “The cat sat on the mat”" in said.subject
    assert program.made_by() in " ".join(lines_of(one)[0][-5:])
    assert f"<footer>{program.made_by()} · X" in to_bytes(Wanted(), CAT, "html").decode()
    said = pypdf.PdfReader(io.BytesIO(class_set(3, 9998))).metadata.subject
    assert said.startswith(
        "3 sheets; Sheet 1: numbers made by seed 9998, as exercise 9998 of the page Exercises;"
    )


# ---- what is refused -----------------------------------------------------------------------------


def test_what_does_not_fit_is_said_in_a_sentence():
    wide = EXAMPLES["three-widths"].build()
    shown = view(wide, run(wide))
    assert refusal(shown, "Q") == (
        "a worksheet has room for 8 words and matrices 8 wide; X is 5 × 10 here."
    )
    with pytest.raises(BadInput, match="has room for 8 words"):
        to_bytes(Wanted(), wide, "pdf")
    assert refusal(view(CAT, run(CAT)), "Q") == ""


def test_finished_weights_leave_nothing_to_work_out():
    s, _ = with_weights(CAT, SelectedArray(np.eye(6)), CAT.tokens, CAT.tokens)
    assert choices(view(s, run(s))) == []
    assert refusal(view(s, run(s)), "").startswith("finished weights leave nothing")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"sheets": 41}, "41 sheets are too many; a set has 1 to 40."),
        ({"seed": 0}, "the first seed is 0; 1 to 9999 are allowed."),
    ],
)
def test_a_set_has_up_to_40_sheets(asked, sentence):
    with pytest.raises(BadInput, match=re.escape(sentence)):
        Wanted(**asked)


def test_formulas_are_well_formed():
    for s in (*WITHIN.values(), CAT):
        (sheet,) = sheets_of(Wanted(choices(view(s, run(s)))[0]), s)
        for latex in [task.formula for task in sheet.tasks] + [g.symbol for g in sheet.given]:
            root = ET.fromstring(mathml(latex))
            assert root.tag == "math" and "\\" not in "".join(root.itertext())
