"""The tables of the page: the trace's numbers, true sentences, everything typed escaped."""

import math
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from amount import few
from build import view_of

from attention.html.spread import rows_table, statistics_table
from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.validate import check
from attention.vocabulary.numbers import number

FOUR = EXAMPLES["four-words"].build()
CASES = {
    **{name: e.build() for name, e in EXAMPLES.items()},
    "hidden row": replace(FOUR, mask="causal", padding=(0,)),
    "raw and masked": replace(EXAMPLES["bare-bones"].build(), mask="causal", padding=(0,)),
    "crossed": replace(changes.set_memory(FOUR, True), mask="causal_lower_right"),
}


class Reader(HTMLParser):
    """The cells of a table as text, row by row, and every tag that was met."""

    def __init__(self, text: str):
        super().__init__()
        self.rows, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def close(text: str, value: float, digits: int) -> bool:
    """The text is that of the value, or of one that differs from it in its last bits only."""
    if text == number(value, digits):
        return True
    return math.isclose(
        float(text.replace("−", "-").replace("∞", "inf")), value, rel_tol=1e-9, abs_tol=1e-12
    )


@pytest.mark.parametrize("name", few(CASES))
def test_the_variances_are_those_of_the_visible_cells(name):
    now = view_of(CASES[name])
    found = {line[0]: line[1] for line in Reader(statistics_table(now, 2)).rows[1:]}
    for stage in ("Q", "K", "scores", "scaled"):
        assert close(found[stage], population_variance(now.stages[stage].ravel().tolist()), 4)
    seen = [
        now.stages["masked"][at]
        for at in np.ndindex(now.allowed.shape)
        if now.allowed[at] and (now.bias is None or now.bias[at] == 0)
    ]
    assert ("masked (visible cells)" in found) == ("mask" in now.stages)
    if "mask" in now.stages:
        assert close(found["masked (visible cells)"], population_variance(seen), 4)


def population_variance(values) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((v - mean) ** 2 for v in values) / len(values)


def test_the_variances_of_random_q_k_v_are_the_printed_ones():
    found = {
        line[0]: line[1]
        for line in Reader(statistics_table(view_of(CASES["random-qkv"]), 2)).rows[1:]
    }
    assert [found[stage] for stage in ("Q", "K", "scores", "scaled")] == [
        "0.9439",
        "0.8519",
        "7.9681",
        "0.9960",
    ]


@pytest.mark.parametrize("name", few(CASES))
def test_each_query_has_its_entropy_and_the_largest_of_its_visible_weights(name):
    now = view_of(CASES[name])
    for i, line in enumerate(Reader(rows_table(now, 4)).rows[1:]):
        row = now.stages["weights"][i].tolist()
        visible = {j: w for j, w in enumerate(row) if now.allowed[i, j]}
        assert line[0] == now.labels["queries"][i]
        assert line[4] == str(len(visible))
        if not visible:
            assert line[1:4] == ["0" if now.softmax else "–", "0", "none"]
            continue
        top = max(visible, key=visible.get)
        assert line[2:4] == [number(visible[top], 4), now.labels["keys"][top]]
        if now.softmax:
            assert close(line[1], -math.fsum(w * math.log(w) for w in row if w) + 0.0, 4)
        else:
            assert line[1] == "–"


def test_without_softmax_a_hidden_key_is_never_the_largest():
    matrices = {**FOUR.matrices, "W_K": type(FOUR.matrices["X"])(-np.eye(4))}
    settings = check(replace(FOUR, matrices=matrices, softmax=False, mask="causal"))
    now = view(settings, run(settings))
    assert (now.stages["weights"][:, 0] < 0).all()
    assert Reader(rows_table(now, 2)).rows[1][2:4] == [number(now.stages["weights"][0, 0], 2), "w1"]


def test_hostile_tokens_are_text():
    tokens = ("<b>x</b>", "<img src=x onerror=alert(1)>", "</td><script>", "a&lt;b")
    settings = check(replace(FOUR, tokens=tokens))
    now = view(settings, run(settings))
    read = Reader(rows_table(now, 2))
    assert set(read.tags) <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert [line[0] for line in read.rows[1:5]] == list(tokens)
