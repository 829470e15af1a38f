"""Who looks at whom: each line's ends and thickness against the weights of plain loops."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import messages
import numpy as np
import pytest

from attention.html import looks
from attention.session.edit.changes import set_mask, set_tokens
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.settings import as_drawn
from attention.vocabulary.sentences import low

SVG = "{http://www.w3.org/2000/svg}"
CAT = EXAMPLES["cat-sat"].build()


def drawn(s, query=0, **more):
    shown = view(s, run(s))
    return shown, ET.fromstring(looks.svg(shown, query, **more))


WORDS = [
    ("I", "a", "b", "c"),
    ("WWWWMMMM", "mwmwmwm", "bodysuit", "QUOTED"),
    ("the", "cat", "a", "d" * 40),
]


@pytest.mark.parametrize("tokens", WORDS)
def test_no_word_and_no_heading_is_cut_off_in_a_wide_font(tokens):
    font_manager = pytest.importorskip("matplotlib.font_manager")
    path = pytest.importorskip("matplotlib.textpath")
    bold = font_manager.FontProperties(family="DejaVu Sans", weight="bold")
    _, picture = drawn(replace(EXAMPLES["four-words"].build(), tokens=tokens))
    width, headings = float(picture.get("width")), []
    for text in picture.iter(f"{SVG}text"):
        size = 12 if text.get("class") == "of" else 15  # as the style says
        wide = path.TextPath((0, 0), text.text, size=size, prop=bold).get_extents().x1
        ends = text.get("text-anchor") == "end"
        begin = float(text.get("x")) - wide * ends
        assert begin >= 0 and begin + wide <= width, text.text
        headings += [text.text] if size == 12 else []
    assert headings == ["query", "key"]


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_each_share_that_can_be_seen_is_a_line_between_its_words_as_thick_as_it_is_large(mask):
    shown, picture = drawn(set_mask(CAT, mask), query=2)
    at = {}  # where each word stands, by side
    for text in picture.iter(f"{SVG}text"):
        at.setdefault(text.get("class"), []).append((text.text, float(text.get("y"))))
    assert sorted(word for word, _ in at["query"]) == sorted(map(low, shown.labels["queries"]))
    places = dict(at["query"]), dict(at["key"])
    found = {}
    words = {"the first “the”": "the₁", "the second “the”": "the₂"}
    words |= {f"“{word}”": word for word in CAT.tokens}
    for line in picture.iter(f"{SVG}line"):
        query, key, share = re.fullmatch("(.+) → (.+): (.+)", line[0].text).groups()
        query, key = (words[word] for word in (query, key))
        assert (float(line.get("y1")), float(line.get("y2"))) == (places[0][query], places[1][key])
        found[query, key] = float(line.get("stroke-width")), float(share)
    weights = shown.stages["weights"]
    for i, query in enumerate(shown.labels["queries"]):
        for j, key in enumerate(shown.labels["keys"]):
            thick = looks.WIDEST * weights[i, j]
            if thick < looks.THINNEST:
                assert (low(query), low(key)) not in found
            else:
                assert found[low(query), low(key)] == pytest.approx(
                    (thick, weights[i, j]), abs=0.006
                )


def test_each_group_says_the_shares_of_its_query_next_to_the_keys():
    shown, picture = drawn(CAT, query=2)
    for group in picture.iter(f"{SVG}g"):
        i = int(group.get("data-query"))
        said = [text.text for text in group if text.get("class") == "share"]
        assert said == [f"{100 * share:.0f}%" for share in shown.stages["weights"][i]]


def test_the_lines_of_the_query_lie_above_the_others():
    shown, picture = drawn(CAT, query=1)
    groups = [g for g in picture.iter(f"{SVG}g")]
    assert [g.get("class") for g in groups] == ["from"] * 5 + ["from chosen"]
    assert groups[-1][0].text == shown.labels["queries"][1]
    best = shown.labels["keys"][int(np.argmax(shown.stages["weights"][1]))]
    said = messages.LINES_LEAD_TO.format(query="cat", key=best)
    assert picture.get("aria-label").endswith(said)


def test_words_are_text_and_a_file_says_what_it_is():
    s = replace(CAT, tokens=("<b>", "&", "'", '"', "x", "y"))
    _, picture = drawn(s, about=["made by <us>"])
    texts = {text.text for text in picture.iter(f"{SVG}text")}
    assert {"<b>", "&", "'", '"'} <= texts
    assert picture.find(f"{SVG}desc").text == "made by <us>"


def test_even_shares_of_many_words_are_lines_too_and_a_query_that_sees_no_key_has_none():
    tokens = tuple(f"w{k}" for k in range(looks.MOST))
    even = replace(set_tokens(CAT, tokens, [0] * len(tokens)), mask="drawn")
    seen = np.ones((len(tokens),) * 2, bool)
    seen[3] = False
    _, picture = drawn(replace(even, drawn=as_drawn(seen)), query=3)
    *others, chosen = (len(list(g.iter(f"{SVG}line"))) for g in picture.iter(f"{SVG}g"))
    assert (set(others), chosen) == ({looks.MOST}, 0)
    assert picture.get("aria-label") == messages.NO_LINES.format(query="w3")


def test_scores_without_a_softmax_are_no_shares():
    s = replace(CAT, softmax=False)
    assert looks.refusal(view(s, run(s))) == (messages.LINES_WITHOUT_SOFTMAX)


def test_more_words_than_can_be_told_apart_are_refused_with_a_sentence():
    words = tuple(f"w{k}" for k in range(40))
    many = set_tokens(CAT, words, [None] * 40)
    assert looks.refusal(view(many, run(many))) == (
        messages.LINES_TOO_MANY_WORDS.format(most=32, count=40)
    )
    assert looks.refusal(view(CAT, run(CAT))) == ""
