"""512 and 1,024 tokens through Streamlit's AppTest: every panel and page is drawn."""

import gc
import html
import json
import re
from dataclasses import replace

import messages
import numpy as np
import pytest
from pages.test_explore import opened, ran, said, settings
from streamlit.testing.v1 import AppTest

from attention.colours import colour_limits
from attention.exports.bounds import MOST
from attention.figures.shades import shades
from attention.limits import BadInput
from attention.pages.state import capital
from attention.session import links
from attention.session.run import run, view
from attention.session.settings import DRAWN
from attention.session.validate import check
from attention.view import View

N, D = 512, 16


def link(n: int = N, **more: str) -> dict[str, str]:
    words = ",".join(f'"t{k}"' for k in range(n))
    weights = {f"W_{name}": f"normal,{k},{D}x{D}" for k, name in enumerate("QKV")}
    return {"example": "own", "tokens": words, "X": f"normal,9,{n}x{D}", **weights, **more}


@pytest.fixture(scope="module")
def large() -> AppTest:
    at = opened(**link())
    assert not said(at, "refused") and len(settings(at).tokens) == N
    return at


def shown(at: AppTest, panel: str) -> AppTest:
    at.session_state["visit"].page_values["below"] = panel
    return ran(at)


def bodies(at: AppTest) -> list[str]:
    return [element.proto.body for element in at.get("html")]


def test_the_board_gets_a_byte_for_each_cell_of_a_large_stage(large):
    (board,) = (e.proto.bytes for e in large.get("bidi_component") if b'"panes"' in e.proto.bytes)
    written, codes = board.split(b"\0", 1)
    now, at = view(settings(large), run(settings(large))), 0
    for pane in json.loads(written)["panes"]:
        matrix = now.stages[pane["name"]]
        assert ("z" in pane["figure"]["data"][0]) is not pane.get("large", False)
        if pane.get("large"):
            expected = shades(matrix, colour_limits(now)[pane["name"]])
            assert codes[at : at + matrix.size] == expected
            at += matrix.size
    assert at == len(codes) and len(board) < 2e6


def test_the_walk_and_the_spread_show_so_many_lines_and_say_so(large):
    at = shown(large, "Step by step")
    at.session_state["visit"].page_values["steps"] = 6
    (walk,) = (body for body in bodies(ran(at)) if "class='walk'" in body)
    assert walk.count("<tr") == 1 + 64 + 1  # the heads, so many keys, the sums
    first = messages.FIRST_OF_MANY.format(shown=64, count=512, what="keys")
    assert f"<p class='fine'>{first} {messages.SUMS_OF_ALL}</p>" in walk
    (spread,) = (body for body in bodies(shown(large, "Spread")) if "entropy" in body)
    first = messages.FIRST_OF_MANY.format(shown=64, count=512, what="queries")
    assert f"<p class='fine'>{first}</p>" in spread
    assert spread.count('<th scope="row">t') == 64


def test_a_cell_has_its_arithmetic_abridged_and_its_number_beside_its_name(large):
    at = shown(large, "This cell")
    visit = at.session_state["visit"]
    visit.settings = replace(visit.settings, cell=("weights", 500, 3))
    (cell,) = (body for body in bodies(ran(at)) if "data-cell" in body)
    lines = html.unescape(re.search("<pre[^>]*>(.*)</pre>", cell, re.DOTALL)[1]).splitlines()
    now = view(settings(at), run(settings(at)))
    exponentials = lines[2].removeprefix("Σ of the row = ").partition(" = ")[0].split(" + ")
    assert len(exponentials) == 4 + 1 + 2 and exponentials[4] == f"… {N - 6} more …"
    assert f"row t500, column t3 = {lines[-1].removeprefix('= ')}</b>" in cell
    mantissa, _, power = lines[-1].removeprefix("= ").replace("−", "-").partition("e")
    value = float(mantissa) * 10.0 ** int(power or 0)
    assert value == pytest.approx(now.stages["weights"][500, 3], rel=0.05, abs=0.005)


@pytest.mark.parametrize("heads", [1, 8])
def test_what_is_too_large_to_write_is_not_offered_and_a_sentence_says_why(large, heads):
    """Formats with code hold all heads, the others the one that is shown, with whole inputs."""
    visit = large.session_state["visit"]
    before = visit.settings
    visit.settings = replace(before, heads=heads)
    at = shown(large, "Take it away")
    now = view(settings(at), run(settings(at)))
    same = {"X", "joined"}  # for all heads
    whole = {"W_Q", "W_K", "W_V"}
    one = sum(m.size * (heads if name in whole else 1) for name, m in now.stages.items())
    all_heads = sum(m.size * (1 if name in same else heads) for name, m in now.stages.items())
    off = {b.key.removeprefix("take_") for b in at.get("download_button") if b.proto.disabled}
    assert off == {*MOST, "lines", "worksheet"} and one > 1_000_000
    tables = "“CSV, a line for each cell”, “CSV, matrices”, “JSON”"
    code = "“Python script”, “Jupyter notebook”"
    texts, report, lines = "“LaTeX”, “Markdown”", "“HTML report”", "“SVG, who looks at whom”"

    def of_one(labels, most):
        why = messages.STAGES_TOO_LARGE.format(numbers=f"{one:,}", place="", most=most)
        return messages.NOT_OFFERED.format(labels=labels, why=why)

    def of_all(labels, most):
        why = messages.STAGES_TOO_LARGE.format(
            numbers=f"{all_heads:,}", place=" in all 8 heads", most=most
        )
        return messages.NOT_OFFERED.format(labels=labels, why=why)

    too_many = messages.LINES_TOO_MANY_WORDS.format(most=32, count=len(settings(at).tokens))
    no_lines = messages.NOT_OFFERED.format(labels=lines, why=too_many)
    notes = [html.unescape(re.sub("<[^>]*>", "", body)) for body in bodies(at)]
    begin = messages.NOT_OFFERED.partition("{labels}")[0]
    assert [note for note in notes if note.startswith(begin)] == (
        [
            of_one(f"{tables}, {code}", "1,000,000"),
            of_one(f"{texts}, {report}", "250,000"),
            no_lines,
        ]
        if heads == 1
        else [
            of_one(tables, "1,000,000"),
            of_one(texts, "250,000"),
            no_lines,
            of_all(code, "1,000,000"),
            of_all(report, "250,000"),
        ]
    )
    visit.settings = before


@pytest.mark.parametrize("panel", ["Initialise", "Your data", "Code"])
def test_every_other_panel_is_drawn(large, panel):
    assert sum(map(len, bodies(shown(large, panel)))) < 200_000


def test_conventions_are_compared_for_fewer_tokens_and_say_so():
    at = ran(opened(**link()).switch_page("attention/pages/conventions.py"))
    assert said(at, "flag")[:1] == [
        messages.COMPARED_SCORES.format(max_compared="16,384", cells="262,144")
    ]


def test_eight_heads_of_512_tokens_are_shown_one_at_a_time():
    at = opened(**link() | {"heads": "8", "head": "7"})
    assert settings(at).heads == 8 and not said(at, "refused")
    (board,) = (e.proto.bytes for e in at.get("bidi_component") if b'"panes"' in e.proto.bytes)
    assert len(board) < 2e6


def test_a_sentence_of_512_words_is_a_state_that_opens_again():
    at = opened()
    words = " ".join(f"word{k}" for k in np.random.default_rng(0).integers(0, 99, N))
    ran(at.text_input(key="set_sentence").set_value(words))
    assert len(settings(at).tokens) == N and not said(at, "refused")
    assert at.text_input(key="set_sentence").value == words
    assert links.from_file(links.to_file(settings(at))) == settings(at)
    ran(at.text_input(key="set_sentence").set_value(" ".join([words] * 4)))
    assert len(settings(at).tokens) == 4 * N and not said(at, "refused")
    assert links.from_file(links.to_file(settings(at))) == settings(at)
    ran(at.text_input(key="set_sentence").set_value(" ".join([words] * 4) + " more"))
    assert said(at, "refused") == [
        capital(messages.SENTENCE_OF_TOO_MANY_TOKENS.format(found="2,049", limit="2,048"))
    ]
    assert len(settings(at).tokens) == 4 * N


# ---- more than are drawn cell by cell -----------------------------------------------------------


@pytest.fixture(scope="module")
def pooled() -> AppTest:
    at = opened(**link(2 * N, mask="causal"))
    assert not said(at, "refused") and len(settings(at).tokens) == 2 * N
    return at


def test_a_board_of_more_is_pooled_into_as_many_bytes(pooled):
    (board,) = (e.proto.bytes for e in pooled.get("bidi_component") if b'"panes"' in e.proto.bytes)
    written, codes = board.split(b"\0", 1)
    panes = {pane["name"]: pane for pane in json.loads(written)["panes"]}
    assert (panes["weights"]["shape"], len(panes["weights"]["rows"])) == ("1024 × 1024", N)
    assert (panes["X"]["edit"], panes["masked"]["edit"]) == ("pooled", "")
    assert "tokens" not in panes["X"] and "z" in panes["W_Q"]["figure"]["data"][0]
    assert len(board) < 2.5e6 and codes.count(254) == 3 * N * (N - 1) // 2  # hidden, of M too


@pytest.mark.parametrize(
    "panel", ["Step by step", "Lines", "Spread", "Initialise", "Your data", "Take it away"]
)
def test_every_panel_is_drawn_of_more(pooled, panel):
    assert sum(map(len, bodies(shown(pooled, panel)))) < 300_000


def test_what_more_tokens_do_not_fit_into_says_so(pooled):
    at = ran(opened(**link(2 * N)).switch_page("attention/pages/compare.py"))
    assert messages.COMPARED_TOKENS.format(most=512, count="1,024") in said(at, "flag")
    gc.collect()
    views = [each for each in gc.get_objects() if isinstance(each, View)]  # these have 32 MB each
    assert not [view for view in views if len(view.labels["keys"]) == 2 * N]
    at = ran(opened(**link(2 * N)).switch_page("attention/pages/learn.py"))
    begin = messages.WAY_NEEDS_WORDS.partition("{fewest}")[0]
    assert any(flag.startswith(begin) for flag in said(at, "flag"))
    s = settings(pooled)
    drawn = replace(s, mask=DRAWN, drawn=((True,) * 2 * N,) * 2 * N)
    refusal = messages.MASK_TOO_LARGE.format(queries="1,024", keys="1,024", most="262,144")
    with pytest.raises(BadInput, match=re.escape(refusal)):
        check(drawn)
    refusal = messages.TOO_MANY_SCORES.format(cells="8,388,608", limit="4,194,304")
    with pytest.raises(BadInput, match=re.escape(refusal)):
        check(replace(s, heads=8))
