"""The tables of Conventions: every fact of every framework, and what strangers typed stays text."""

from html import escape
from html.parser import HTMLParser

from pages.conftest import as_text

from attention.frameworks.records import CONVENTIONS, Answer
from attention.html.frameworks import arguments, facts, sentences
from attention.session.compare.compare_frameworks import FrameworkAnswer


def cells(text: str) -> list[list[str]]:
    class Rows(HTMLParser):
        rows, open = [], False

        def handle_starttag(self, tag, attributes):
            if tag == "tr":
                self.rows = [*self.rows, []]
            if tag in ("td", "th"):
                self.rows[-1].append("")

        def handle_data(self, data):
            self.rows[-1][-1] += data

    reader = Rows()
    reader.feed(as_text(text))
    return reader.rows


def test_each_framework_has_a_line_of_facts_below_ours():
    head, ours, *rows = cells(facts())
    assert ours[0] == "ours"
    assert len(head) == len(ours) == 8
    for row, c in zip(rows, CONVENTIONS.values(), strict=True):
        assert row == [
            f"{c.name} ({c.version})",
            c.when,
            c.true_means,
            c.hidden_row,
            c.causal,
            c.scale,
            c.layout,
            c.source,
        ]


def test_each_framework_has_a_line_of_the_arguments_for_parts():
    head, ours, *rows = cells(arguments())
    assert ours[:2] == ["ours", "kv_heads="] and len(head) == 6
    for row, c in zip(rows, CONVENTIONS.values(), strict=True):
        assert row == [f"{c.name} ({c.version})", c.groups, c.softcap, c.window, c.sinks, c.bias]


def test_a_sentence_with_a_token_in_it_is_text():
    text = sentences([FrameworkAnswer("torch_mha", Answer(), "Row <b>x</b> sees no key.")])
    assert escape("<b>x</b>") in text
    name = "nn.MultiheadAttention, need_weights=True (torch 2.13.0)"
    assert cells(text)[1] == [name, "Row <b>x</b> sees no key."]
