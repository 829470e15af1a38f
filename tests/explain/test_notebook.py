"""A trace as text fits on a screen, and as HTML in a notebook: bounded, static, and true."""

import math
import pickle
import subprocess
import sys
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import messages
import numpy as np
import pytest

from attention import causal, diagnose, padding, report, scaled_dot_product_attention
from attention import self_attention as attend
from attention.explain.arithmetic import cell
from attention.explain.colours import LIGHT, shade
from attention.explain.notebook import CUT_COLUMNS, CUT_ROWS, table
from attention.explain.view import View
from attention.models.taken import Taken
from attention.vocabulary.numbers import number, rounded

RNG = np.random.default_rng(0)
VOID = {"br", "hr"}


class Page(HTMLParser):
    """The tables of a page; every tag has to be closed where it stands."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.tables, self.words = [], set(), [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert {name for name, _ in attrs} <= {"style", "align", "cellpadding"}
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "table" in self.open:
            self.tables[-1][-1][-1] += data
        else:
            self.words += f"{data} "


def draw(*shape):
    return RNG.standard_normal(shape)


def small():
    X, W = draw(5, 4), [draw(4, 6) for _ in range(3)]
    return attend(X, *W, W_O=draw(6, 3), allowed=causal(5, 5) & padding([True] + [False] * 4))


def broken():
    x = draw(2, 8, 30, 4)
    x[:, :, ::3, 1], x[:, :, 1::3, 0], x[1, 1, 1, 1] = np.inf, np.nan, 1e200
    return scaled_dot_product_attention(x, x, x, allowed=causal(30, 30), softcap=3.0)


def crowded():
    X, W = draw(400, 40).astype(np.float32), [draw(40, 40) * 1e-9 for _ in range(3)]
    more = {"W_O": draw(40, 40) * 1e9, "bias": draw(400, 400), "softcap": 2.0}
    return attend(X, *W, memory=draw(400, 40), allowed=causal(400, 400), **more)


def ordinary(*shape):
    x = draw(*shape)
    return scaled_dot_product_attention(x, x, x)


CASES = {
    "small": small,
    "broken": broken,
    "crowded": crowded,
    "integers": lambda: attend([[1, 2], [3, 4]], *[np.eye(2, dtype=np.int64)] * 3),
    "no queries": lambda: scaled_dot_product_attention(draw(0, 3), draw(4, 3), draw(4, 2)),
    "no keys": lambda: scaled_dot_product_attention(draw(4, 3), draw(0, 3), draw(0, 2)),
    "no items": lambda: ordinary(0, 3, 4, 5),
    "no columns": lambda: scaled_dot_product_attention(draw(4, 3), draw(4, 3), draw(4, 0)),
    "many axes": lambda: ordinary(*[1, 2] * 4, 3, 2),
    "many tokens": lambda: ordinary(1500, 2),
    "largest": lambda: scaled_dot_product_attention([[1.0]], [[1.0]], [[1.7e308, -1.7e308]]),
}


@pytest.mark.parametrize("case", CASES)
def test_as_text_it_fits_on_a_screen(case):
    lines = repr(CASES[case]()).split("\n")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("case", CASES)
def test_as_html_it_is_small_static_and_well_formed(case):
    text = CASES[case]()._repr_html_()
    assert len(text.encode()) < 300_000
    assert Page(text).tags <= {"div", "b", "table", "tr", "td", "th"}


def test_small_matrices_are_complete_and_their_numbers_those_of_the_trace():
    trace = small()
    stages = View.of(trace).stages
    found = Page(trace._repr_html_())
    assert len(found.tables) == len(stages)
    for cells, (name, matrix) in zip(found.tables, stages.items(), strict=True):
        wanted = rounded(matrix, shares=name == "weights")
        assert [row[1:] for row in cells[1:]] == wanted
    assert "first" not in found.words


def test_large_matrices_are_cut_and_it_is_said():
    trace = crowded()
    found = Page(trace._repr_html_())
    weights = found.tables[list(View.of(trace).stages).index("weights")]
    corner = trace.weights[:CUT_ROWS, :CUT_COLUMNS]  # not all whole, so two digits each
    wanted = [[str(int(v)) if v in (0, 1) else f"{v:.2f}" for v in row] for row in corner]
    assert [row[1:-1] for row in weights[1:-1]] == wanted
    assert {"…"} == {row[-1] for row in weights[:-1]} == set(weights[-1])
    assert "the first 6 × 8 of 400 × 400" in found.words


def test_of_a_large_trace_the_scale_and_the_mask_are_still_those_of_the_whole():
    x = draw(30, 64)
    seen = np.ones((30, 30), bool)
    seen[20, 20] = False
    words = Page(scaled_dot_product_attention(x, x, x, allowed=seen)._repr_html_()).words
    assert "scaled  = scores / √d_k" in words
    assert messages.CELLS_HIDDEN.format(hidden=1, cells=900) in words


def test_the_text_names_sizes_scale_hidden_rows_and_where_further_warnings_are():
    assert repr(broken()).split("\n")[:3] == [
        "AttentionTrace: 30 queries × 30 keys, d_k 4, d_v 4, leading axes (2, 8), float64",
        "  scores × 0.5000 = 1/√d_k; capped at ±3; softmax of each row",
        "  " + messages.CELLS_HIDDEN.format(hidden="6,960", cells="14,400"),
    ]
    assert repr(broken()).endswith(f"\n  {messages.OTHERS_IN_WARNINGS}")
    x = draw(3, 2)
    text = repr(scaled_dot_product_attention(x, x, x, allowed=np.arange(9).reshape(3, 3) > 2))
    assert f"  {messages.QUERY_WITHOUT_KEYS.format(hidden=3, cells=9)}\n" in text


def test_a_label_is_text():
    name = "<script>alert(1)</script>&\"'"
    text = table("", np.eye(1), (name,), (name,), limits=(0, 1))
    assert Page(text).tables[0][0][1] == "<script>alert…"
    assert "<script" not in text


def test_colours_go_evenly_from_one_stop_to_the_next():
    def parts(colour):
        return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])

    for role, limits, stops in (
        ("share", (0.0, 1.0), (0.0, 0.5, 1.0)),
        ("diverging", (-2.0, 2.0), (-2.0, -1.0, 0.0, 1.0, 2.0)),
    ):
        known = [parts(colour) for _, colour in LIGHT[role]]
        for value in np.linspace(*limits, 41):
            wanted = [np.interp(value, stops, [c[k] for c in known]) for k in range(3)]
            assert np.abs(parts(shade(value, limits, role)) - wanted).max() <= 0.5 + 1e-9


def planted(**more):
    Q, K, V = draw(3, 20, 4)
    raw = np.exp(Q @ K.T)
    return diagnose(Q, K, V, output=raw / raw.sum(axis=-1, keepdims=True) @ V, **more)


def test_a_diagnosis_says_its_sentences_and_shows_the_numbers_it_was_given():
    found = planted()
    page = Page(found._repr_html_())
    said = " ".join(page.words.split())
    assert said.startswith(found.verdict) and all(sentence in said for sentence in found.details)
    theirs = found.answers["output"][0]
    wanted = [[number(v) for v in row] for row in theirs[:CUT_ROWS]]
    assert wanted in [[row[1:] for row in cells[1:-1]] for cells in page.tables]
    assert len(page.tables) == 6
    folded = {"details", "summary"}
    assert page.tags - folded <= {"div", "b", "table", "tr", "td", "th"}
    noise = diagnose(*draw(3, 20, 4), output=draw(20, 4))
    page = Page(noise._repr_html_())
    assert folded <= page.tags and noise.more[-1] in page.words


@pytest.mark.parametrize("output", [[[np.nan, 1.0]], [[np.inf, 1.0]]])
def test_a_diagnosis_without_a_finite_number_still_shows(output):
    page = Page(diagnose([[1.0]], [[1.0]], [[1.0, 2.0]], output=output)._repr_html_())
    assert "finite" in page.words or page.tables


UNPICKLED = """
import pickle, sys
loaded = pickle.load(sys.stdin.buffer)
shown = repr(loaded) + getattr(loaded, "_repr_html_", str)()
sys.stdout.buffer.write(shown.encode())
"""


@pytest.mark.parametrize("make", [small, planted, lambda: Taken("mine", missed=["decoder"])])
def test_a_new_process_shows_what_it_unpickles(make):
    """Their repr and HTML are given to the classes by the package, whatever is imported first."""
    found = make()
    shown = repr(found) + getattr(found, "_repr_html_", str)()
    ran = subprocess.run(
        [sys.executable, "-c", UNPICKLED],
        input=pickle.dumps(found),
        capture_output=True,
        timeout=60,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert ran.stdout.decode() == shown and "object at" not in shown


# ---- the ends of float64 -------------------------------------------------------------------------

ENDS = [5e-324, 1e-320, 2.2e-308, 1e-200, 1.0, 1e200, 1.7e308]


@pytest.mark.parametrize("most", ENDS)
def test_a_cell_is_coloured_as_far_as_exact_fractions_say_however_small_or_large_the_range(most):
    for value in (-math.inf, -1e308, -most, -most / 2, 0.0, 5e-324, most / 3, most, 1e308):
        if not math.isfinite(value):
            assert shade(value, (-most, most), "diverging") == LIGHT["broken"][0][1]
            continue
        exact = min(max(Fraction(value) / Fraction(most), -1), 1)
        assert shade(value, (-most, most), "diverging") == shade(
            float(exact), (-1.0, 1.0), "diverging"
        )


@pytest.mark.parametrize("value", ENDS)
def test_the_smallest_and_largest_numbers_are_shown(value, tmp_path):
    trace = scaled_dot_product_attention([[value]], [[1.0]], [[-value]])
    assert number(-value, 2) in trace._repr_html_()
    report(trace, tmp_path / "x.html")
    assert number(-value, 2) in (tmp_path / "x.html").read_text(encoding="utf-8")


def test_a_diagnosis_of_the_smallest_numbers_is_shown():
    found = diagnose([[5e-324]], [[1.0]], [[5e-324]], output=np.array([[1e-323]]))
    assert Page(found._repr_html_()).tables


def test_the_sum_of_outputs_that_goes_beyond_float64_is_infinite_without_a_warning():
    trace = scaled_dot_product_attention(np.eye(2), np.eye(2), np.full((2, 2), 1e308))
    assert trace.context.tolist() == [math.inf, math.inf]
    assert View.of(trace, context=True).stages["context"].tolist() == [[math.inf, math.inf]]


def test_the_lines_behind_a_weight_of_infinite_scores_are_written_without_a_warning():
    huge = np.full((2, 2), 1e200)
    view = View.of(scaled_dot_product_attention(huge, huge, huge))
    for name in view.stages:
        assert cell(view, name, 0, 0)
    assert cell(view, "weights", 0, 0)[-1] == "= NaN"
