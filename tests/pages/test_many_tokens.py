"""512 tokens through Streamlit's AppTest, every panel and page; and more, which go on."""

import html
import json
import re
from dataclasses import replace

import board_bytes
import messages
import numpy as np
import pytest
import streamlit as st
from pages.conftest import ran, settings_of, uploaded
from pages.test_explore import opened, said
from streamlit.testing.v1 import AppTest

from attention.explain.colours import colour_limits
from attention.exports.bounds import MOST
from attention.figures.panes.shades import MOST_NUMBERED, shades
from attention.pages.frame import store
from attention.session.edit import changes
from attention.session.long.long_inputs import LongInputs
from attention.session.state import links
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.settings import Settings, TooManyTokens
from attention.session.state.validate import check
from attention.vocabulary.sentences import capital

N, D = 512, 16
TOO_MANY = messages.TOO_MANY_TOKENS.replace("{limit}", str(N))


def link(n: int = N, **more: str) -> dict[str, str]:
    words = ",".join(f'"t{k}"' for k in range(n))
    weights = {f"W_{name}": f"normal,{k},{D}x{D}" for k, name in enumerate("QKV")}
    return {"example": "own", "tokens": words, "X": f"normal,9,{n}x{D}", **weights, **more}


@pytest.fixture(scope="module")
def large() -> AppTest:
    at = opened(**link())
    assert not said(at, "refused") and len(settings_of(at).tokens) == N
    return at


def shown(at: AppTest, panel: str) -> AppTest:
    at.session_state["visit"].page_values["below"] = panel
    return ran(at)


def bodies(at: AppTest) -> list[str]:
    return [element.proto.body for element in at.get("html")]


def test_the_board_gets_a_byte_for_each_cell_of_a_large_stage(large):
    (board,) = (e.proto.bytes for e in large.get("bidi_component") if b'"panes"' in e.proto.bytes)
    now = view(settings_of(large), run(settings_of(large)))
    for name, pane in board_bytes.panes_of(board).items():
        matrix, large_one = now.stages[name], pane["large"]
        assert large_one is (matrix.size > MOST_NUMBERED) and (pane["texts"] is None) is large_one
        expected = shades(matrix, colour_limits(now)[name], by_root=large_one)
        assert pane["codes"].tobytes() == expected
        if not large_one:
            assert pane["values"].tobytes() == matrix.tobytes()
    assert len(board) < 2e6


def test_the_spread_shows_every_query(large):
    _, sharpness = (element.value for element in shown(large, "Spread").dataframe)
    assert list(sharpness["query"]) == list(settings_of(large).tokens)


@pytest.mark.parametrize("heads", [1, 8])
def test_what_is_too_large_to_write_is_not_offered_and_a_sentence_says_why(large, heads):
    """Formats with code hold all heads, the others the one that is shown."""
    visit = large.session_state["visit"]
    before = visit.settings
    visit.settings = replace(before, heads=heads)
    at = shown(large, "Export")
    now = view(settings_of(at), run(settings_of(at)))
    same = {"X", "joined"}  # for all heads
    one = sum(m.size for m in now.stages.values())
    all_heads = sum(m.size * (1 if name in same else heads) for name, m in now.stages.items())
    off = {b.key.removeprefix("take_") for b in at.get("download_button") if b.proto.disabled}
    assert off == {*MOST, "lines", "worksheet"} and one > 1_000_000
    tables = "“CSV, one row per cell”, “CSV, matrices”, “JSON”"
    code = "“Python script”, “Jupyter notebook”"
    texts, report, lines = "“LaTeX”, “Markdown”", "“HTML report”", "“SVG, attention lines”"

    def of_one(labels, most):
        why = messages.STAGES_TOO_LARGE.format(numbers=f"{one:,}", place="", most=most)
        return messages.NOT_OFFERED.format(labels=labels, why=why)

    def of_all(labels, most):
        why = messages.STAGES_TOO_LARGE.format(
            numbers=f"{all_heads:,}", place=" in all 8 heads", most=most
        )
        return messages.NOT_OFFERED.format(labels=labels, why=why)

    too_many = messages.LINES_TOO_MANY_WORDS.format(most=32, count=len(settings_of(at).tokens))
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
    assert settings_of(at).heads == 8 and not said(at, "refused")
    (board,) = (e.proto.bytes for e in at.get("bidi_component") if b'"panes"' in e.proto.bytes)
    assert len(board) < 2e6


def test_a_sentence_of_512_words_is_a_state_that_opens_again():
    at = opened()
    words = " ".join(f"word{k}" for k in np.random.default_rng(0).integers(0, 99, N))
    ran(at.text_input(key="set_sentence").set_value(words))
    assert len(settings_of(at).tokens) == N and not said(at, "refused")
    assert at.text_input(key="set_sentence").value == words
    assert links.from_file(links.to_file(settings_of(at))) == settings_of(at)
    ran(at.text_input(key="set_sentence").set_value(f"{words} more"))
    assert said(at, "refused") == [TOO_MANY.format(found=N + 1)]
    assert len(settings_of(at).tokens) == N


def test_the_tour_asks_for_fewer_tokens():
    at = ran(opened(**link()).switch_page("attention/pages/learn.py"))
    begin = messages.TOUR_NEEDS_WORDS.partition("{fewest}")[0]
    assert any(flag.startswith(begin) for flag in said(at, "flag"))


# ---- more than a board shows ---------------------------------------------------------------------

LONG = 600
PARTS = {
    "mask": "causal",
    "padding": "0.3",
    "scale": "0.3",
    "softcap": "5",
    "rotary": "{}",
    "heads": "4",
    "head": "2",
}


def is_long(at: AppTest) -> bool:
    """Whether this is Long context, with what came from Explore."""
    return (
        any(box.key == "set_long_of" for box in at.selectbox) and settings_of(at).long.pattern == ""
    )


def brought(at: AppTest) -> LongInputs:
    return at.session_state["visit"].page_values["long_brought"]


def asked(**parts: str) -> Settings:
    with pytest.raises(TooManyTokens) as found:
        links.read(link(LONG, **parts))
    return found.value.settings


def buttons(at: AppTest) -> list[str]:
    return [button.key for button in at.button if button.label == "Continue on Long context"]


def shows(at: AppTest, s: Settings) -> None:
    """Long context shows the weights that the trace of the settings has."""
    assert is_long(at) and said(at, "understood") == [messages.HERE_FROM_EXPLORE.format(limit=N)]
    assert not said(at, "refused") and not said(at, "flag") and settings_of(at).long.head == s.head
    work = at.session_state["visit"].page_values["long_work"][1]
    trace = run(s)
    weights = trace.weights[s.head] if s.heads > 1 else trace.weights
    for query in (0, 301, LONG - 1):
        found = work.weights(query, s.head)
        np.testing.assert_allclose(found, weights[query], rtol=1e-9, atol=1e-14)


def test_a_link_of_more_tokens_opens_on_long_context_at_once():
    at = opened(**link(LONG, **PARTS))
    shows(at, asked(**PARTS))
    assert len(settings_of(at).tokens) < N
    made = {"set_long_tokens", "set_long_seed", "set_long_rotary"}  # controls of a pattern
    assert not made & {control.key for control in (*at.selectbox, *at.number_input, *at.toggle)}
    ran(at.switch_page("attention/pages/explore.py"))
    assert not is_long(at) and not said(at, "refused") and not buttons(at)


def test_going_back_to_such_a_link_leads_nobody_on_again():
    at = opened(example="four-words")
    at.query_params.clear()
    for name, text in link(LONG, **PARTS).items():
        at.query_params[name] = text
    ran(at)
    assert said(at, "refused") == [TOO_MANY.format(found=LONG)] and buttons(at) == ["continue"]
    shows(ran(at.button(key="continue").click()), asked(**PARTS))


def test_a_saved_state_of_more_tokens_opens_on_long_context():
    s = asked(mask="causal")
    at = shown(opened(), "Your data")
    uploaded(at, "load_file", "state.json", links.to_file(s))
    ran(ran(at).button(key="open_file").click())
    shows(at, s)


def test_a_state_that_the_browser_keeps_is_carried_on_as_a_link_is(monkeypatch):
    s = asked(mask="causal").with_matrix("X", Matrix(np.ones((LONG, D))))
    mark = links.address(s)[0]["partial"]
    file = json.dumps({"attention": "stage by stage", "link": links.write(s)})

    def find(turn, mark, found):
        found({"mark": mark, "file": file})
        st.rerun()

    monkeypatch.setattr(store, "find", find)
    shows(opened(example="own", partial=mark), s)


@pytest.mark.parametrize("page", ["explore", "compare", "learn"])
def test_a_sentence_of_more_tokens_goes_on_by_the_button_below_its_refusal(page):
    at = opened(example="four-words")
    own = settings_of(at)
    if page != "explore":
        ran(at.switch_page(f"attention/pages/{page}.py"))
    before, words = settings_of(at), " ".join(["the cat sat"] * 200)
    ran(at.text_input(key="set_sentence").set_value(words))
    assert said(at, "refused") == [TOO_MANY.format(found=LONG)] and buttons(at) == ["continue"]
    assert settings_of(at) == before
    made_of = own if page == "compare" else before  # not B alone: a sentence goes to both
    with pytest.raises(TooManyTokens) as found:
        check(changes.set_sentence(made_of, words))
    ran(at.button(key="continue").click())
    shows(at, found.value.settings)
    assert settings_of(at) == replace(own, long=settings_of(at).long)


def test_the_offer_ends_with_the_next_change():
    at = opened(example="four-words")
    ran(at.text_input(key="set_sentence").set_value("cat " * LONG))
    ran(at.button(key="randomize").click())
    assert not buttons(at) and not said(at, "refused")


@pytest.mark.parametrize("text", ["cat " * LONG, "1 2 3 4\n" * LONG], ids=["words", "numbers"])
def test_what_is_pasted_goes_on_before_it_is_used(text):
    at = shown(opened(example="four-words"), "Your data")
    ran(at.text_area(key="set_load_text").set_value(text))
    assert said(at, "refused") == [TOO_MANY.format(found=LONG)]
    assert buttons(at) == ["load_continue"]
    ran(at.button(key="load_continue").click())
    assert is_long(at) and (brought(at).n_q, brought(at).scale) == (LONG, 0.5)


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ({"softmax": "0"}, "raw scores"),
        ({"softmax": "sigmoid"}, "a sigmoid"),
        ({"fill": "-1e9"}, "−1e9 for what is hidden"),
        ({"W_O": f"normal,3,{D}x{D}"}, "W_O"),
        (
            {"mask": "drawn", "drawn": ".".join(["1" * 513] * 513)},
            "a drawn mask",
        ),
    ],
)
def test_what_cannot_go_on_is_named_without_a_button(parts, left):
    n = 513
    at = opened(**link(n, **parts))
    refusal = messages.NO_PLACE_ON_LONG_CONTEXT.format(found=n, limit=N, left=left)
    assert not is_long(at) and not buttons(at)
    assert refusal in " ".join(said(at, "refused"))


def test_a_sentence_under_a_sigmoid_is_refused_without_a_button():
    at = opened(example="four-words", softmax="sigmoid")
    ran(at.text_input(key="set_sentence").set_value("cat " * LONG))
    refusal = messages.NO_PLACE_ON_LONG_CONTEXT.format(found=LONG, limit=N, left="a sigmoid")
    assert said(at, "refused") == [refusal] and not buttons(at)


def test_numbers_beyond_what_is_computed_are_refused_there():
    at = opened(**link(LONG, scale="1") | {"X": "uniform,9,600x16,1e11,1e12"})
    (refused,) = said(at, "refused")
    assert refused == capital(messages.LONG_BEYOND_LIMIT.format(word="queries", limit="1e+12"))
    assert messages.LONG_UPLOAD_IS_MISSED in " ".join(said(ran(at), "flag"))
