"""Worksheets: what a person works out from the paper is what the key says."""

import math
import re
from dataclasses import replace
from datetime import date
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import messages
import numpy as np
import oracle
import pytest
from amount import amount

from attention import RMSNorm, Rotary, program
from attention.explain.worksheet import choices, refusal
from attention.exports.worksheet import Wanted, sheets_of, to_bytes
from attention.html.mathml import mathml
from attention.limits import BadInput
from attention.readers.select import SelectedArray
from attention.session.bring.finished import with_weights
from attention.session.edit.changes import (
    set_memory,
    set_output_weights,
)
from attention.session.edit.parts import set_biases, set_positions
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view

CAT = EXAMPLES["cat-sat"].build()
LONG_WORDS = replace(
    EXAMPLES["four-words"].build(),
    tokens=("antidisestablishment" * 2, "W" * 40, "$x$ \\$", "<b>&amp;"),
)


def normal(seed=3, **more):
    """A state with numbers that no paper holds to the last digit."""
    rng, s = np.random.default_rng(seed), EXAMPLES["four-words"].build()
    for name, matrix in s.matrices.items():
        s = s.with_matrix(name, Matrix(rng.normal(size=matrix.shape)))
    return replace(s, **more)


# ---- reading the paper ---------------------------------------------------------------------------


def number(text):
    return float(text.replace("−", "-").replace("∞", "inf"))


class Tables(HTMLParser):
    """The tables of each sheet and each key; texts are () where a table is blank."""

    def __init__(self, content):
        super().__init__()
        self.of, self.blanks, self.inside = {}, 0, ""
        self.heading = self.title = ""
        self.feed(content.decode())
        for tables in self.of.values():
            for name, rows in tables.items():
                tables[name] = [row if any(row) else () for row in rows]

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
        if tag in ("h1", "h2") and (found := re.search(r"(key to s|S)heet \d+", self.heading)):
            self.title = found[0]
            self.of[self.title] = {}


def sheets_and_keys(content):
    """By the number of the sheet: what is given, what is asked, and the key."""
    given, asked, keys = {}, {}, {}
    for title, tables in Tables(content).of.items():
        name, _, number = title.rpartition(" ")
        if name == "Sheet":
            given[int(number)] = {stage: rows for stage, rows in tables.items() if all(rows)}
            asked[int(number)] = {stage: rows for stage, rows in tables.items() if not any(rows)}
        else:
            keys[int(number)] = tables
    return given, asked, keys


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
    return to_bytes(Wanted(first, sheets=sheets, seed=seed), CAT)


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


def test_each_sheet_names_its_seed_and_the_keys_come_last():
    page = class_set(3, 9998).decode()
    heads = re.findall(r"<h1>.*?</h1>|(?<=<h2>)Answer.*?(?=</h2>)", page)
    titles = [f"<h1><span>Attention by hand</span><span>Sheet {k}</span></h1>" for k in (1, 2, 3)]
    assert heads == [*titles, *(f"Answer key to sheet {k}" for k in (1, 2, 3))]
    assert re.findall(r"exercise (\d+)", page) == ["9998", "9999", "1"]


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
        (texts,) = grids["powers"]
        most = len(texts) // 4
        powers = [math.exp(x / 2) for x in range(-2 * most, 2 * most + 1)]
        assert all(map(agrees, texts, powers))
        needed = {abs(number(t)) for row in keys[k]["masked"] for t in row} - {math.inf}
        assert max(needed) <= most


def test_numbers_that_paper_cannot_hold_are_rounded_first_and_the_key_is_made_of_these():
    (sheet,) = sheets_of(Wanted(), normal())
    said = messages.ROUND_TO.format(to="2 decimals"), messages.GIVEN_IS_ROUNDED
    assert sheet.notes[:2] == said
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


def test_every_number_that_is_asked_has_a_blank_cell():
    wanted = Wanted(sheets=3, seed=7)
    assert Tables(to_bytes(wanted, CAT)).blanks == sum(
        len(task.grid.rows) * len(task.grid.columns)
        for sheet in sheets_of(wanted, CAT)
        for task in sheet.tasks
    )


# ---- the page ------------------------------------------------------------------------------------


def test_what_is_typed_is_text_in_the_page():
    page = to_bytes(Wanted(), LONG_WORDS).decode()
    assert "<b>&" not in page.replace("<b>1.", "") and "script" not in page.split("</style>")[1]
    assert "$x$ \\$" in page and "default-src 'none'" in page


def test_a_page_names_its_program_and_origins_and_two_are_the_same(monkeypatch):
    monkeypatch.setattr(program, "today", lambda: date(2030, 1, 2))
    page = to_bytes(Wanted("output"), CAT).decode()
    assert page.encode() == to_bytes(Wanted("output"), CAT)
    assert "<title>Attention by hand</title>" in page
    assert f"<footer>{program.made_by()} · X" in page and "2030-01-02" in program.made_by()
    assert "example “The cat sat on the mat”" in page.split("<footer>")[1]


def test_a_page_says_how_to_print_it_and_leaves_the_key_out():
    page = to_bytes(Wanted(sheets=1, with_key=False), CAT).decode()
    assert messages.PRINT_THE_SHEET in page
    assert "Answer key" not in page and list(Tables(page.encode()).of) == ["Sheet 1"]


# ---- what is refused -----------------------------------------------------------------------------


def test_what_does_not_fit_is_said_in_a_sentence():
    wide = EXAMPLES["three-widths"].build()
    shown = view(wide, run(wide))
    why = messages.WORKSHEET_HAS_NO_ROOM.format(words=8, wide=8, name="X", size="5 × 10")
    assert refusal(shown, "Q") == why
    with pytest.raises(BadInput, match=re.escape(why)):
        to_bytes(Wanted(), wide)
    assert refusal(view(CAT, run(CAT)), "Q") == ""


def test_finished_weights_leave_nothing_to_work_out():
    s, _ = with_weights(CAT, SelectedArray(np.eye(6)), CAT.tokens, CAT.tokens)
    assert choices(view(s, run(s))) == []
    assert refusal(view(s, run(s)), "") == messages.NOTHING_TO_WORK_OUT


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"sheets": 41}, messages.TOO_MANY_SHEETS.format(count=41, most=40)),
        ({"seed": 0}, messages.FIRST_SEED_IS.format(seed=0, most=9999)),
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
