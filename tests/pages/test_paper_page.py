"""What one takes away to print: each control sets one thing, and the files are of that figure."""

import re
import sys
from base64 import b64decode
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import messages
import numpy as np
import pytest
from pages.conftest import ran, settings_of
from pages.test_explore import VARIANCE, below, opened, said

from attention import paper_figure, self_attention
from attention.figures.paper import printing
from attention.pages.panels import paper as paper_page
from attention.paper import Paper
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run
from attention.vocabulary.sentences import capital


def figure_of(at):
    """The figure that the page shows."""
    return at.session_state["visit"].page_values["paper_drawn"][1][0]


def preview(at) -> str:
    """The picture of it."""
    return at.session_state["visit"].page_values["paper_drawn"][1][1]


def panels(at) -> list:
    return [axes for axes in figure_of(at).axes if axes.get_label()[:1] not in ("", "<")]


def taking(**link):
    return below(opened(**(link or {"example": "sentence"})), "Export")


MOVES = [
    ("number_input", "height", 12.0, Paper(height=12)),
    ("number_input", "font_size", 10.0, Paper(font_size=10)),
    ("number_input", "tick_size", 5.5, Paper(tick_size=5.5)),
    ("toggle", "numbers", False, Paper(numbers=False)),
    ("toggle", "bar", False, Paper(bar=False)),
    ("toggle", "logarithmic", True, Paper(logarithmic=True)),
    ("toggle", "letters", False, Paper(letters=False)),
    ("toggle", "axis_titles", False, Paper(axis_titles=False)),
    ("toggle", "count_repeats", False, Paper(count_repeats=False)),
    ("selectbox", "shares", "magma", Paper(shares="magma")),
    ("selectbox", "signs", "cividis", Paper(signs="cividis")),
    ("text_input", "query", "Zeile", Paper(query="Zeile")),
    ("text_input", "key", "Spalte", Paper(key="Spalte")),
    ("text_input", "bar_title", "α", Paper(bar_title="α")),
    ("text_input", "title", "A title", Paper(title="A title")),
    ("text_area", "caption", "A caption", Paper(caption="A caption")),
    ("button_group", "size", "slide", Paper(width="slide")),
    ("number_input", "width", 9.0, Paper(width=9.0)),
    ("selectbox", "limits", "data", Paper(limits="data")),
    ("selectbox", "limits", "own", Paper(limits="own")),
]


@pytest.mark.parametrize(("kind", "name", "value", "paper"), MOVES, ids=lambda part: str(part)[:12])
def test_each_control_sets_one_thing_which_a_link_and_a_saved_state_keep(kind, name, value, paper):
    at = taking()
    before, shown = settings_of(at), preview(at)
    ran(getattr(at, kind)(key=f"set_paper_{name}").set_value(value))
    now = settings_of(at)
    assert now.paper == paper and before.paper == Paper()
    assert links.from_file(links.to_file(now)) == now
    assert links.read(links.write(now)) == (now, [])
    assert now.matrices == before.matrices and not said(at, "refused")
    same = name in ("letters", "signs", "height", "count_repeats") or value == "own"
    assert (preview(at) == shown) is same  # one panel from 0 to 1, of words that differ


def test_the_figure_on_the_page_is_that_of_the_settings():
    at = taking()
    ran(at.text_input(key="set_paper_query").set_value("Zeile"))
    (axes,) = panels(at)
    assert axes.get_ylabel() == "Zeile"
    (picture,) = (at.get("imgs") or at.get("image"))[0].proto.imgs
    alt = "weights; rows: the, cat, purrs, because, it, ate"
    assert picture.alt == messages.PREVIEW_OF.format(alt=alt)
    assert picture.url == preview(at)  # in the page itself, and no file that can be gone
    content = b64decode(preview(at).removeprefix("data:image/png;base64,"), validate=True)
    assert content.startswith(b"\x89PNG")
    cells = axes.collections[0].get_array()
    assert np.array_equal(cells, run(settings_of(at)).weights[0])
    drawn = figure_of(at)
    ran(at.button_group(key="set_paper_dpi").set_value(600))
    assert figure_of(at) is drawn  # nothing of it changed
    ran(at.button_group(key="set_head").set_value(1))
    assert np.array_equal(panels(at)[0].collections[0].get_array(), run(settings_of(at)).weights[1])


def test_all_heads_stand_as_a_grid_with_one_bar():
    at = taking()
    ran(at.button(key="paper_all_heads").click())
    assert settings_of(at).paper_heads == (0, 1)
    assert [axes.get_title("left") for axes in panels(at)] == ["(a) head 0", "(b) head 1"]
    assert len(figure_of(at).axes) == 3


def test_none_chosen_are_all_stages():
    at = taking(example="four-words")
    ran(at.button_group(key="set_paper_stages").set_value([]))
    ran(at.button_group(key="set_paper_size").set_value("text"))
    assert len(panels(at)) == 12


def test_what_does_not_fit_is_refused_in_a_sentence_and_nothing_can_be_saved():
    at = taking(example="four-words")
    ran(at.button_group(key="set_paper_stages").set_value([]))
    ran(at.number_input(key="set_paper_height").set_value(3.0))
    assert said(at, "refused") == [
        messages.PANELS_DO_NOT_FIT.format(count=12, wide=8.25, high=3, size=8)
    ]
    assert not [b for b in at.get("download_button") if b.proto.label == "Save as PDF"]


def test_letters_that_no_font_has_and_numbers_too_small_are_said():
    at = taking()
    ran(at.text_input(key="set_paper_title").set_value("a \U000123ab"))
    begin = messages.NO_FONT.partition("{listed}")[0]
    (said_so,) = [text for text in said(at, "flag") if begin in text]
    assert said_so == messages.NO_FONT.format(listed="\U000123ab (U+123AB)", more="")
    at = taking(example="sentence")
    ran(at.number_input(key="set_paper_width").set_value(3.0))
    begin = messages.NUMBERS_LEFT_OUT.partition("{names}")[0]
    assert [text for text in said(at, "flag") if begin in text]


def test_a_png_too_large_to_draw_is_not_offered():
    at = taking(paper='{"width": 120, "height": 120, "font_size": 30}')
    ran(at.button_group(key="set_paper_dpi").set_value(600))
    begin, _, end = messages.TOO_MANY_DOTS.partition("{tall}")
    (why,) = [text for text in said(at, "flag") if text.endswith(end.partition("{max_dots}")[2])]
    assert why.startswith(capital(begin.format(wide="120.0")))
    buttons = {b.proto.label: b.proto.disabled for b in at.get("download_button")}
    assert buttons["Save as PNG"] and not buttons["Save as PDF"] and not buttons["Save as SVG"]


def test_a_sentence_says_what_is_awaited_until_the_figure_is_there(monkeypatch):
    """Matplotlib at first; later those whose figures are drawn before."""
    said_so = []

    @contextmanager
    def spinner(text, show_time):
        said_so.append(text)
        yield
        said_so.append("")

    monkeypatch.setattr(paper_page.st, "spinner", spinner)
    monkeypatch.setattr(paper_page.state, "page_value", lambda *asked: None)
    monkeypatch.setattr(paper_page.state, "set_page_value", lambda *kept: None)
    figure = paper_figure(self_attention(*[[[1.0]]] * 4))
    for sentence in (
        messages.FIGURE_WAITS,
        messages.MATPLOTLIB_IS_LOADED,
    ):
        assert paper_page._drawn("seen", lambda on_panel: figure)[0] is figure
        assert said_so == [sentence, ""]
        said_so.clear()
        monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)


def test_a_bar_counts_the_panels_of_a_large_figure_until_it_is_there(monkeypatch):
    shown = []

    class Place:
        def progress(self, share, text):
            shown.append((share, text))

        def empty(self):
            shown.append("nothing")

    seconds = iter([0.0, 0.2, 0.6, 0.7])  # the first panels need no bar
    kept = {}
    monkeypatch.setattr(paper_page, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(paper_page.st, "empty", Place)
    monkeypatch.setattr(paper_page.state, "page_value", lambda name, default: default)
    monkeypatch.setattr(paper_page.state, "set_page_value", kept.__setitem__)
    s = replace(EXAMPLES["four-words"].build(), paper_stages=("scores", "scaled", "weights"))
    figure, preview = paper_page._drawn("seen", partial(paper_page.figure_of, s, run(s)))
    assert len(figure.axes) > 3 and preview.startswith("data:image/png;base64,")
    two, three = (messages.PANELS_ARE_DRAWN.format(number=k, count=3) for k in (2, 3))
    assert shown == [(2 / 3, two), (1.0, three), "nothing"]
    assert kept["paper_drawn"] == ("seen", (figure, preview))


DAMAGED = [
    ("[]", messages.SETTINGS_WANTED),
    ('{"poster": 1}', messages.NO_SUCH_SETTING.format(name="'poster'")),
    ('{"size": 1}', messages.NO_SUCH_SETTING.format(name="'size'")),
    ('{"numbers": 1}', messages.TRUE_OR_FALSE_EXPECTED.format(name="numbers", given=1)),
    (
        '{"height": true}',
        messages.RANGE_WITH_UNIT_EXPECTED.format(
            name="height", given=True, least=2, most=120, unit="cm"
        ),
    ),
    (
        '{"title": ["a"]}',
        messages.LETTERS_EXPECTED.format(name="title", given="['a']", most="2,000"),
    ),
    (
        '{"width": "poster"}',
        messages.NAME_OR_RANGE_EXPECTED.format(
            name="width",
            given="'poster'",
            names="column, text, slide",
            least=2,
            most=120,
            unit="cm",
        ),
    ),
    (
        '{"limits": [1, 0]}',
        messages.ONE_OF_WANTED.format(name="limits", given="[1, 0]", known="stage, data, own"),
    ),
    (
        '{"limits": "own", "lowest": 2}',
        messages.LESS_EXPECTED.format(name="lowest", given=2, most=1),
    ),
    (
        '{"caption": "%s"}' % ("a" * 2001),
        messages.LETTERS_EXPECTED.partition("{given}")[0].format(name="caption") + "'a",
    ),
    ("{", messages.UNREADABLE_PARAMETER),
]


@pytest.mark.parametrize(("text", "why"), DAMAGED)
def test_settings_that_cannot_be_are_passed_over_in_a_sentence(text, why):
    found, (notice,) = links.read({"example": "four-words", "paper": text})
    assert found == EXAMPLES["four-words"].build()
    assert notice.startswith(messages.PASSED_OVER.format(what="parameter paper was", why=why))


def test_stages_and_heads_that_are_not_there_are_left_out_and_said():
    found, notices = links.read(
        {"example": "sentence", "paper_stages": "output attention X", "paper_heads": "7.1"}
    )
    assert (found.paper_stages, found.paper_heads) == (("X", "output"), (1,))
    assert [re.search("“.*”|head [0-9]+", notice)[0] for notice in notices] == [
        "“attention”",
        "head 7",
    ]


class NoFolder:
    """Refuses Matplotlib as Matplotlib itself does where it finds no folder to write to."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "matplotlib":
            raise OSError("Matplotlib requires access to a writable cache directory")


def test_where_nothing_can_be_written_one_sentence_says_why_and_the_other_files_are_there(
    monkeypatch,
):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [NoFolder, *sys.meta_path])
    at = taking(example="four-words")
    assert not at.exception
    assert said(at, "refused") == [capital(printing.NO_FOLDER)]
    offered = {b.key for b in at.get("download_button") if not b.proto.disabled}
    assert {"take_csv", "take_json", "take_worksheet"} <= offered
    assert not {"take_pdf", "take_svg", "take_png"} & offered


@pytest.mark.parametrize(
    ("page", "name", "first"),
    [
        (VARIANCE, "attention_why", "variances"),
        ("attention/pages/conventions.py", "attention_conventions", "ours"),
        ("attention/pages/check.py", "attention_check", "ours"),
    ],
    ids=["variance", "conventions", "check"],
)
def test_the_other_pages_have_a_figure_of_what_they_show(page, name, first):
    at = ran(opened(example="cat-sat").switch_page(page))
    if "check" in page:
        ran(at.selectbox(key="set_check_plant").set_value(messages.OVER_QUERIES))
        ran(at.button(key="check_planted").click())
    ran(at.toggle(key=f"set_paper_open_{name}").set_value(True))
    ran(at.text_input(key=f"set_paper_title_{name}").set_value("Mine"))
    figure = figure_of(at)
    assert figure.axes[0].get_label().endswith(first)
    assert "Mine" in [text.get_text() for text in figure.texts]
    assert settings_of(at).paper == Paper()  # words of one page stay there


WEIGHTS = ("weights_ours", "weights_theirs")


def test_range_and_logarithm_hold_where_libraries_are_compared():
    at = ran(opened(example="cat-sat").switch_page("attention/pages/conventions.py"))
    ran(at.toggle(key="set_paper_open_attention_conventions").set_value(True))
    weights = [axes for axes in panels(at) if axes.get_label() in WEIGHTS]
    assert {axes.collections[0].get_clim() for axes in weights} == {(0, 1)}
    ran(at.selectbox(key="set_paper_limits").set_value("data"))
    ran(at.toggle(key="set_paper_logarithmic").set_value(True))
    weights = [axes.collections[0] for axes in panels(at) if axes.get_label() in WEIGHTS]
    shown = np.concatenate([cells.get_array().compressed() for cells in weights])
    for cells in weights:  # what is compared has one range
        assert cells.get_clim() == (shown[shown > 0].min(), shown.max())
        assert cells.norm(cells.get_clim()).tolist() == [0, 1] and cells.norm.vmin > 0
        assert cells.norm(np.sqrt(cells.norm.vmin * cells.norm.vmax)) == pytest.approx(0.5)
    begin, _, end = messages.COLOURS_STAY_LINEAR.partition("{linear}")
    (note,) = [text for text in said(at, "flag") if end in text]
    assert note == f"{begin}weights, output{end}"
    assert settings_of(at).paper == Paper(limits="data", logarithmic=True)
