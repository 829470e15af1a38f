"""The Explore page through AppTest: each control changes its setting and nothing else."""

import gc
import html
import io
import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import messages
import numpy as np
import pytest
from files import stored
from oracle import COMPUTED
from pages.conftest import as_text, link_of, ran, settings_of, words
from pages.conftest import uploaded as put
from safetensors.numpy import save as safetensors
from streamlit.testing.v1 import AppTest

from attention import multi_head_attention
from attention.explain.view import View
from attention.limits import BadInput
from attention.models.snippet import LINES
from attention.readers.cells.entry import PASTED
from attention.samples.weights import drawn
from attention.session.edit.changes import set_sentence
from attention.session.state import links
from attention.session.state.about import source_of
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.session.state.validate import check
from attention.vocabulary.sentences import capital
from attention.vocabulary.stages import WEIGHTS

APP = Path(__file__).parents[2] / "app.py"
EXPLORE, VARIANCE = "attention/pages/explore.py", "attention/pages/variance.py"
CONVENTIONS, CHECK = "attention/pages/conventions.py", "attention/pages/check.py"


def opened(**link) -> AppTest:
    at = AppTest.from_file(str(APP), default_timeout=120)  # Matplotlib's first import is slow
    for name, value in ({"example": "four-words"} | link).items():
        at.query_params[name] = value
    return ran(at)


def stages(at: AppTest) -> dict[str, bytes]:
    trace = run(settings_of(at))
    return {name: getattr(trace, name).tobytes() for name in COMPUTED}


def said(at: AppTest, kind: str) -> list[str]:
    """The sentences in boxes of a kind: "refused", "understood" or "flag"."""
    bodies = [as_text(element.proto.body) for element in at.get("html")]
    box = re.compile(f"<(?:p role='status'|div role='status'><details) class='said {kind}'>.*")
    plain = [re.sub(" <u>More</u></summary>", " ", body) for body in bodies if box.fullmatch(body)]
    return [html.unescape(re.sub("<[^>]*>", "", body)) for body in plain]


def warned(at: AppTest) -> str:
    return " ".join(said(at, "refused"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_opens_with_its_notice(example):
    at = opened(example=example)
    assert settings_of(at) == EXAMPLES[example].build()
    assert not said(at, "refused")


def test_the_list_of_examples_shows_all_of_them_with_a_sentence_each_and_opens_them():
    at = opened(example=FIRST)
    assert not [button for button in at.button if button.key.startswith("example_")]
    at.session_state[f"examples_{FIRST}"] = True
    at.run()
    titles = [button.label for button in at.button if button.key.startswith("example_")]
    assert titles == [example.title for example in EXAMPLES.values()]
    assert titles[:2] == ["The cat sat on the mat", "Four words, by hand"]
    sentences = [example.sentence for example in EXAMPLES.values()]
    assert [caption.value for caption in at.sidebar.caption][1:] == sentences
    assert all(re.fullmatch(r".{20,90}\.", sentence) for sentence in sentences)
    ran(at.button(key="example_softmax").click())
    assert settings_of(at) == EXAMPLES["softmax"].build()


MOVES = {
    "digits": ("slider", "set_digits", 5, "digits", 5),
    "mask": ("selectbox", "set_mask", "causal", "mask", "causal"),
    "padding": ("multiselect", "set_padding", [1], "padding", (1,)),
    "fill": ("selectbox", "set_fill", "-1e9", "fill", "-1e9"),
    "scale": ("selectbox", "set_scale_kind", "none", "scale", 1.0),
    "softmax": ("button_group", "set_parts", [], "softmax", False),
    "context": ("button_group", "set_parts", ["softmax", "context"], "context", True),
    "heads": ("selectbox", "set_heads", 2, "heads", 2),
    "cross": (
        "button_group",
        "set_parts",
        ["softmax", "cross"],
        "memory_tokens",
        ("a", "dog", "barks"),
    ),
    "W_O": ("button_group", "set_parts", ["softmax", "output_weights"], "d_v", 4),
    "own scale": ("selectbox", "set_scale_kind", "number", "scale", 0.5),
    "d_k": ("slider", "set_d_k", 6, "d_k", 6),
    "d_v": ("slider", "set_d_v", 2, "d_v", 2),
    "d_model": ("slider", "set_d_model", 5, "d_model", 5),
    "qkv": ("button_group", "set_parts", ["softmax", "typed_qkv"], "typed_qkv", True),
}


FIELDS = [field.name for field in fields(Settings) if field.name != "matrices"]
ALSO = {  # the matrices that have to follow
    "cross": {"memory"},
    "W_O": {"W_O"},
    "d_k": {"W_Q", "W_K"},
    "d_v": {"W_V"},
    "d_model": {"X", "W_Q", "W_K", "W_V"},
    "qkv": {"X", "W_Q", "W_K", "W_V", "Q", "K", "V"},
}


def differences(one, two) -> set[str]:
    """The settings and the matrices that are not the same."""
    names = {*one.matrices, *two.matrices}
    return {name for name in FIELDS if getattr(one, name) != getattr(two, name)} | {
        name for name in names if one.matrices.get(name) != two.matrices.get(name)
    }


@pytest.mark.parametrize("move", MOVES)
def test_a_control_changes_its_setting_and_the_link_opens_the_same(move):
    kind, key, value, field, wanted = MOVES[move]
    at = opened(**({"mask": "causal"} if move == "fill" else {}))
    before = settings_of(at)
    ran(getattr(at, kind)(key=key).set_value(value))
    assert getattr(settings_of(at), field) == wanted
    assert differences(before, settings_of(at)) == {field} & set(FIELDS) | ALSO.get(move, set())
    assert settings_of(opened(**link_of(at))) == settings_of(at)


def test_the_digits_change_no_number():
    kind, key, value, *_ = MOVES["digits"]
    at = opened()
    before = stages(at)
    ran(getattr(at, kind)(key=key).set_value(value))
    assert stages(at) == before


@pytest.mark.parametrize(("page", "step"), [(EXPLORE, "0"), ("attention/pages/learn.py", "4")])
def test_a_number_of_a_link_beyond_the_bounds_of_its_control_is_shown(page, step):
    at = opened(scale="1e-09", step=step)
    ran(at.switch_page(page))
    assert settings_of(at).scale == at.number_input(key="set_scale").value == 1e-9
    ran(at.number_input(key="set_scale").set_value(0.5))
    assert settings_of(at).scale == 0.5


def test_a_slider_obeys_every_move_in_a_row():
    at = opened()
    for value in (3, 4, 5, 4, 9, 0):
        ran(at.slider(key="set_digits").set_value(value))
        assert settings_of(at).digits == at.slider(key="set_digits").value == value


def test_settings_survive_a_visit_to_the_other_page():
    at = opened(example="sentence")
    ran(at.slider(key="set_digits").set_value(7))
    ran(at.selectbox(key="set_mask").set_value("causal"))
    before = settings_of(at)
    ran(at.switch_page(VARIANCE))
    ran(at.switch_page(EXPLORE))
    assert settings_of(at) == before
    assert at.slider(key="set_digits").value == 7
    assert at.selectbox(key="set_mask").value == "causal"


def test_reset_returns_to_the_example():
    at = opened(example="sentence", mask="causal", digits="5")
    ran(at.button(key="reset").click())
    assert settings_of(at) == EXAMPLES["sentence"].build()
    assert link_of(at) == {"example": "sentence"}


def below(at: AppTest, part: str) -> AppTest:
    """One of the parts below the board."""
    return ran(at.button_group(key="set_below").set_value(part))


def initialising(at: AppTest, name: str) -> AppTest:
    below(at, "Initialise")
    return ran(at.selectbox(key="set_matrix").set_value(name))


def test_changing_one_input_never_rolls_another():
    at = opened()
    initialising(at, "W_K")
    ran(at.selectbox(key="set_kind_W_K").set_value("normal"))
    ran(at.button(key="roll_W_K").click())
    rolled = settings_of(at).matrices["W_K"]
    assert np.array_equal(rolled.values, drawn("normal", (4, 4), 3, "W_K"))
    initialising(at, "W_Q")
    ran(at.button(key="roll_W_Q").click())
    ran(at.slider(key="set_d_v").set_value(3))
    ran(at.selectbox(key="set_mask").set_value("causal"))
    assert settings_of(at).matrices["W_K"] == rolled


def test_a_matrix_chosen_as_the_button_was_pressed_is_the_one_that_is_filled():
    at = opened()
    initialising(at, "W_K")
    before = settings_of(at).matrices
    at.selectbox(key="set_matrix").set_value("W_V")
    ran(at.button(key="roll_W_K").click())
    after = settings_of(at).matrices
    assert {name for name in before if before[name] != after[name]} == {"W_V"}
    assert np.array_equal(after["W_V"].values, drawn("integers", (4, 4), 4, "W_V"))


def test_pressing_roll_again_takes_the_next_seed():
    at = opened()
    initialising(at, "W_V")
    ran(at.button(key="roll_W_V").click())
    first = settings_of(at).matrices["W_V"]
    ran(at.button(key="roll_W_V").click())
    second = settings_of(at).matrices["W_V"]
    assert (first.recipe.seed, second.recipe.seed) == (4, 5)
    assert at.number_input(key="set_seed_W_V").value == 5
    assert np.array_equal(second.values, drawn("integers", (4, 4), 5, "W_V"))


def pasted(at: AppTest, text: str, role: str | None = None) -> AppTest:
    """Numbers in the box under “Your data”, as this input."""
    below(at, "Your data")
    ran(at.text_area(key="set_load_text").set_value(text))
    return at if role is None else ran(at.selectbox(key="set_load_role").set_value(role))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("A =\n\n     1     2\n     3     4\n\n", messages.PRINTOUT_OF_MATLAB),
        (r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}", messages.LATEX_TEXT),
        ("stage,row,column,value\nQ,1,1,0.5\n", messages.ROW_PER_CELL),
    ],
)
def test_a_text_of_another_kind_is_named_with_what_to_save_instead(text, sentence):
    at = opened()
    before = settings_of(at)
    pasted(at, text)
    assert said(at, "refused") == [capital(sentence.format(place=PASTED))]
    assert settings_of(at) == before


def test_an_empty_box_that_is_read_is_said_to_be_empty():
    at = pasted(opened(), "\n \n")
    assert warned(at) == ""
    ran(at.button(key="load_read").click())
    assert warned(at) == capital(messages.EMPTY_BOX)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "1 0 1 0\n0 2 0",
            messages.ROW_LENGTH.format(
                place="The text", line=2, found=3, plural="s", expected=4, first=1
            ),
        ),
        (
            "1 0 x 0",
            messages.NOT_A_NUMBER.format(place="The text, line 1, column 3", found="x"),
        ),
        ("nan 0", messages.NUMBER_TOO_LARGE.format(place="The text, row 1, column 1", found="nan")),
        (
            "1e308 0",
            messages.NUMBER_TOO_LARGE.format(place="The text, line 1, column 1", found="1e308"),
        ),
        ("[[1, 2", messages.NOT_CLOSED.format(place="The text, line 1")),
    ],
)
def test_a_bad_paste_gets_one_sentence_and_offers_nothing(text, sentence):
    at = opened()
    before = settings_of(at)
    pasted(at, text)
    assert warned(at) == sentence
    assert "load_use" not in [button.key for button in at.button]
    assert settings_of(at) == before


def test_nothing_changes_before_the_numbers_are_used():
    at = opened()
    before = settings_of(at)
    pasted(at, "cat 1 2 3 4\ndog 5 6 7 8")
    assert at.selectbox(key="set_load_role").value == "X"
    assert settings_of(at) == before
    ran(at.button(key="load_use").click())
    assert settings_of(at).tokens == ("cat", "dog")
    assert settings_of(at).matrices["X"].values.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert said(at, "understood") == [messages.NOW_ON_THE_BOARD.format(inputs="X (2 × 4)")]
    ran(at.button(key="reset").click())
    assert settings_of(at) == EXAMPLES["own"].build()


def test_a_sentence_in_the_box_becomes_tokens_with_embeddings_by_word():
    at = opened()
    before = settings_of(at)
    pasted(at, "the cat sat on the mat")
    tokens = "the · cat · sat · on · the · mat"
    assert messages.A_SENTENCE_OF.format(count="6 tokens", tokens=tokens) in page_text(at)
    assert settings_of(at) == before
    ran(at.button(key="load_sentence_False").click())
    assert settings_of(at) == check(set_sentence(before, "the cat sat on the mat"))


@pytest.mark.parametrize(
    ("text", "understood"), [("I have 2 cats", "a sentence"), ("I have 2", "numbers")]
)
def test_words_with_a_number_are_understood_as_said_or_as_is_chosen(text, understood):
    at = pasted(opened(), text)
    assert at.button_group(key="set_load_as").value == understood
    ran(at.button_group(key="set_load_as").set_value("numbers"))
    assert not [button for button in at.button if button.key == "load_sentence_False"]
    ran(at.button_group(key="set_load_as").set_value("a sentence"))
    ran(at.button(key="load_sentence_False").click())
    assert settings_of(at).tokens == tuple(text.split())
    pasted(at, "cat 1 2 3 4")
    assert "set_load_as" not in [group.key for group in at.button_group]


def test_a_sentence_can_be_the_second_sequence_where_there_is_one():
    at = opened()
    pasted(at, "a mat")
    assert "load_sentence_True" not in [button.key for button in at.button]
    ran(at.button_group(key="set_parts").set_value(["softmax", "cross"]))
    ran(at.button(key="load_sentence_True").click())
    assert settings_of(at).memory_tokens == ("a", "mat")
    assert settings_of(at).tokens == ("w1", "w2", "w3", "w4")


def test_a_sentence_that_is_too_long_is_refused_before_it_can_be_used():
    at = pasted(opened(), "word " * 513)
    assert warned(at) == messages.TOO_MANY_TOKENS.format(found=513, limit=512)
    assert not [button for button in at.button if button.key.startswith("load_sentence")]


def page_text(at: AppTest) -> str:
    return html.unescape(words(at))


def test_what_does_not_fit_is_refused_before_it_can_be_used():
    at = opened()
    before = settings_of(at)
    pasted(at, "1 2\n3 4", "W_Q")
    assert warned(at) == messages.ADD_THE_OTHERS.format(
        name="W_Q", size="2 × 2", width=4, others="W_K and W_V"
    )
    assert not [button for button in at.button if button.key == "load_use"]
    assert settings_of(at) == before


def test_a_comma_with_two_meanings_is_asked_about():
    at = pasted(opened(), "1,2 3,4 5,6 7,8")
    assert at.button_group(key="set_load_comma").value == "decimal"
    asked = messages.AMBIGUOUS_COMMA.format(
        place="The text", line=1, quoted="1,2 3,4 5,6 7,8", separated="numbers"
    )
    assert asked in page_text(at)
    ran(at.button_group(key="set_load_comma").set_value("separates"))
    assert "1 × 8" in page_text(at)
    ran(at.button_group(key="set_load_comma").set_value("decimal"))
    ran(at.button(key="load_use").click())
    assert settings_of(at).matrices["X"].values.tolist() == [[1.2, 3.4, 5.6, 7.8]]


def test_what_numbers_the_rows_is_asked_about_with_a_guess():
    at = pasted(opened(), "1. 0.5 0.5 0 0\n2. 0 1 0 0")
    control = at.button_group(key="set_load_labels")
    assert control.value == "labels"
    assert "2 × 4" in page_text(at)
    ran(control.set_value("numbers"))
    assert "2 × 5" in page_text(at)
    pasted(at, "0.5 1\n2 3")
    assert not [one for one in at.button_group if one.key == "set_load_labels"]


def test_a_range_of_a_spreadsheet_says_how_its_commas_are_read_and_brings_its_words():
    at = pasted(
        opened(),
        "word\td 1\td 2\td 3\td 4\r\n"
        "der\t0,5\t-1,25\t0\t3\r\n"
        "Hund\t2,75\t1e-3\t-0,125\t1\r\n"
        "=SUMME(A1)\t1\t2\t3\t4\r\n",
    )
    assert messages.COMMAS_ARE_DECIMAL in page_text(at)
    ran(at.button(key="load_use").click())
    expected = [[0.5, -1.25, 0, 3], [2.75, 0.001, -0.125, 1], [1, 2, 3, 4]]
    assert settings_of(at).matrices["X"].values.tolist() == expected
    assert settings_of(at).tokens == ("der", "Hund", "=SUMME(A1)")


def test_several_arrays_are_used_together():
    at = pasted(opened(), SEVERAL)
    assert [at.selectbox(key=f"set_load_pick_{name}").value for name in "QKV"] == ["Q", "K", "V"]
    ran(at.button(key="load_use").click())
    assert settings_of(at).typed_qkv
    assert settings_of(at).matrices["V"].values.tolist() == [[5, 6, 7]]


def test_either_orientation_of_a_typed_matrix_is_read_and_said():
    at = pasted(opened(), "1 2 3 4\n5 6 7 8", "W_V")
    ran(at.button(key="load_use").click())
    assert settings_of(at).matrices["W_V"].values.tolist() == [[1, 5], [2, 6], [3, 7], [4, 8]]
    brought = messages.NOW_ON_THE_BOARD.format(inputs="W_V (2 × 4)")
    turned = messages.READ_AS_D_OUT_D_IN.format(name="W_V", rows=2, columns=4)
    assert said(at, "understood") == [f"{brought} {turned}"]


@pytest.mark.parametrize("transposed", [True, False])
def test_a_square_weight_is_transposed_where_that_is_ticked(transposed):
    numbers = np.arange(16).reshape(4, 4)
    at = pasted(opened(), "\n".join(" ".join(map(str, row)) for row in numbers), "W_Q")
    ran(at.checkbox(key="set_load_transposed_W_Q").set_value(transposed))
    ran(at.button(key="load_use").click())
    assert np.array_equal(
        settings_of(at).matrices["W_Q"].values, numbers.T if transposed else numbers
    )


def test_a_broken_link_gives_the_example_and_names_the_parameter():
    at = opened(example="four-words", digits="many", nonsense="1")
    assert settings_of(at) == EXAMPLES["four-words"].build()
    assert "digits" in warned(at) and "nonsense" in warned(at)


def test_typed_matrices_too_large_for_a_link_are_said_to_be():
    at = opened(example="three-widths")
    ran(at.slider(key="set_digits").set_value(3))
    assert link_of(at) == {"example": "three-widths", "digits": "3"}
    rows = np.random.default_rng(0).standard_normal((10, 25)).tolist()
    pasted(at, "\n".join(" ".join(map(repr, row)) for row in rows), "W_V")
    ran(at.button(key="load_use").click())
    assert settings_of(at).matrices["W_V"].values.tolist() == rows
    assert link_of(at) == links.address(settings_of(at))[0]
    assert messages.DO_NOT_FIT_INTO_A_LINK in " ".join(said(at, "flag"))
    assert links.from_file(links.to_file(settings_of(at))) == settings_of(at)


def test_the_notice_of_an_example_goes_with_its_words():
    at = opened(example="cat-sat")
    assert any(f"“the” and “cat” {messages.LOOK_MOST_AT}" in e.proto.body for e in at.get("html"))
    ran(at.text_input(key="set_sentence").set_value("dogs chase red balls"))
    bodies = [e.proto.body for e in at.get("html")]
    assert not [body for body in bodies if messages.LOOK_MOST_AT in body]
    assert f"<p class='notice'>{messages.WORDS_ARE_YOUR_OWN}</p>" in bodies


def test_a_fully_hidden_row_is_flagged():
    at = opened(mask="causal", padding="0")
    assert said(at, "flag") == [messages.QUERY_SEES_NO_KEY.format(query="“w1”")]


def test_scores_beyond_the_float_type_are_flagged_with_the_queries_they_belong_to(monkeypatch):
    def large(settings):
        trace = run(settings)
        Q = trace.Q * [[1e200], [0], [1e200], [0]]
        return multi_head_attention(Q, trace.K * 1e200, trace.V)

    monkeypatch.setattr("attention.session.state.run.run", large)
    reason = messages.SCORES_TOO_LARGE.format(kind="float64", end="1.8e+308")
    assert said(opened(), "flag") == [f"Queries “w1” and “w3”: {reason}."]


def test_one_token_is_said_to_have_nothing_to_choose_from():
    at = opened(tokens='"w1"', X="1 2 3 4")
    assert settings_of(at).tokens == ("w1",)
    assert said(at, "flag") == [messages.ONE_KEY]


BREAKING = [  # links that once stopped the page: too wide for its sliders
    {"W_Q": "normal,1,4x513", "W_K": "normal,1,4x513"},
    {"W_V": "normal,1,4x600"},
    {
        "X": "normal,1,4x600",
        "W_Q": "normal,1,600x4",
        "W_K": "normal,1,600x4",
        "W_V": "normal,1,600x4",
    },
]


@pytest.mark.parametrize("link", BREAKING)
def test_a_link_wider_than_the_page_is_passed_over(link):
    at = opened(**link)
    assert settings_of(at) == EXAMPLES["four-words"].build()
    size = messages.SIZE_OUT_OF_RANGE.partition("{size}")[2]
    columns = messages.COLUMNS_OUT_OF_RANGE.partition("{columns}")[2]
    assert any(each.format(most=512) in warned(at) for each in (size, columns))


def test_typed_addresses_and_markup_do_not_come_alive_in_the_boxes():
    at = opened(
        tokens='"https://evil.example","<b>b</b>","a@evil.example","w"', mask="causal", padding="0"
    )
    (flag,) = said(at, "flag")
    assert flag == messages.QUERY_SEES_NO_KEY.format(query="“https://evil.example”")
    assert not at.warning and not at.info


SEVERAL = "Q = [[1, 2]]\nK = [[3, 4]]\nV = [[5, 6, 7]]"
KEPT = {  # a choice, and what it falls back on
    "below": None,
    "load_family": "weights",
    "load_pick_Q": None,
    "paper_dpi": 300,
}


def offering(at: AppTest, name: str) -> AppTest:
    """The page with the control of this name on it."""
    return pasted(at, SEVERAL) if name.startswith("load") else below(at, "Export")


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("value", ["gone", None])
def test_a_kept_choice_that_is_no_longer_on_offer_gives_way(name, value):
    at = offering(opened(), name)
    at.session_state["visit"].page_values[name] = value
    ran(at)
    kept = at.session_state["visit"].page_values
    assert kept[name] == KEPT[name]


@pytest.mark.parametrize("name", ["load_family", "paper_dpi"])
def test_a_choice_that_must_be_made_is_never_taken_back(name):
    at = offering(opened(), name)
    before = at.session_state["visit"].page_values[name]
    ran(at.button_group(key=f"set_{name}").set_value(None))
    assert at.session_state["visit"].page_values[name] == before
    assert at.button_group(key=f"set_{name}").value == before


def noted(at: AppTest) -> list[str]:
    """All pieces of text of the page."""
    return [element.proto.body for element in (*at.get("html"), *at.get("markdown"))]


def uploaded(at: AppTest, name: str, content: bytes) -> AppTest:
    """A file that was chosen under “Your data”."""
    below(at, "Your data")
    put(at, "load_file", name, content)
    return ran(at)


def picked(at: AppTest, role: str, name: str, part: str = "") -> AppTest:
    """An array of the file as this input, all of it or a part."""
    ran(at.selectbox(key=f"set_load_pick_{role}").set_value(name))
    return ran(at.selectbox(key=f"set_load_part_{role}").set_value(part)) if part else at


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "words.csv",
            b"a,1,2\nb,3,x\n",
            messages.NOT_A_NUMBER.format(place="words.csv, line 2, column 3", found="x"),
        ),
        (
            "late.txt",
            b"caf\xe9 1 2",
            messages.NOT_UTF_8_TEXT.format(place="late.txt", position=4, byte="0xe9"),
        ),
        ("../../x.npy", b"\x93NUMPY\x01\x00", messages.DAMAGED_NPY_HEADER.format(place="x.npy")),
        ("mine.npz", b"PK\x03\x04", messages.DAMAGED_ZIP.format(place="mine.npz")),
    ],
)
def test_a_bad_file_is_one_sentence_and_changes_nothing(name, content, sentence):
    at = opened()
    before = settings_of(at)
    uploaded(at, name, content)
    assert said(at, "refused") == [capital(sentence)]
    assert settings_of(at) == before
    assert "load_use" not in [button.key for button in at.button]


def test_an_unreadable_array_waits_for_a_yes_and_another_file_asks_again():
    def unread(arrays, reasons) -> list[str]:
        said = {"unread": 1, "arrays": arrays, "reasons": reasons, "more": ""}
        return [messages.SOME_ARRAYS_UNREADABLE.format(**said)]

    reason = messages.UNSUPPORTED_DTYPE.format(place="{}, {}", name="text")
    X, W_Q, text = np.full((3, 4), 2.5), np.tri(4), np.array([["a"]])
    at = uploaded(opened(), "mixed.npz", stored(X=X, W_Q=W_Q, W_K=text))
    assert said(at, "flag") == unread(3, reason.format("mixed.npz", "W_K"))
    assert at.checkbox(key="set_load_others").label == "Continue with the others"
    assert "load_use" not in [button.key for button in at.button]
    ran(at.checkbox(key="set_load_others").check())
    assert not at.button(key="load_use").disabled
    uploaded(at, "again.npz", stored(X=X, W_Q=text))
    assert said(at, "flag") == unread(2, reason.format("again.npz", "W_Q"))
    assert at.checkbox(key="set_load_others").label == "Continue with the other one"
    assert "load_use" not in [button.key for button in at.button]
    uploaded(at, "mixed.npz", stored(X=X, W_Q=W_Q, W_K=text))
    ran(at.checkbox(key="set_load_others").check())
    ran(at.button(key="load_use").click())
    assert np.array_equal(settings_of(at).matrices["X"].values, X)
    assert np.array_equal(settings_of(at).matrices["W_Q"].values, W_Q)
    W_K = EXAMPLES["four-words"].build().matrices["W_K"].values
    assert np.array_equal(settings_of(at).matrices["W_K"].values, W_K)


def test_a_slice_is_of_q_k_and_v_together_and_what_true_means_is_chosen():
    Q, K, V = np.random.default_rng(4).standard_normal((3, 3, 3, 4))
    mask = ~np.tri(3, dtype=bool)
    at = uploaded(opened(), "qkv.npz", stored(Q=Q, K=K, V=V, mask=mask))
    ran(at.text_input(key="set_load_cut_QKV").set_value("2"))
    ran(at.button_group(key="set_load_true_mask").set_value("hide"))
    assert messages.MASK_MEANS.format(true_means="hide") in page_text(at)
    ran(at.button(key="load_use").click())
    s = settings_of(at)
    for name, stack in zip("QKV", (Q, K, V), strict=True):
        assert np.array_equal(s.matrices[name].values, stack[2]), name
    assert np.array_equal(run(s).allowed, ~mask)


def test_words_wanted_are_looked_up_among_word_vectors():
    rows = {"the": [0.418, 0.25, -0.41], "cat": [0.45, -0.5, 0.5], ".": [0.15, 0.3, -0.2]}
    text = "\n".join(" ".join([word, *map(str, row)]) for word, row in rows.items())
    at = pasted(opened(), text)
    ran(at.text_input(key="set_load_words_X").set_value("the cat the ."))
    ran(at.button(key="load_use").click())
    wanted = ["the", "cat", "the", "."]
    assert settings_of(at).tokens == tuple(wanted)
    assert settings_of(at).matrices["X"].values.tolist() == [rows[word] for word in wanted]
    rolled = messages.ROLLED_ANEW.format(names="W_Q, W_K and W_V are", d_model=3)
    assert rolled in " ".join(said(at, "understood"))


def test_one_array_of_a_file_is_taken_as_three_weights():
    """As GPT-2 keeps c_attn; and its c_proj by a slice that is typed, transposed."""
    rng = np.random.default_rng(0)
    c_attn, c_proj = rng.standard_normal((8, 24)), rng.standard_normal((9, 8))
    names = ["h.0.attn.c_attn.weight", "h.0.attn.c_proj.weight"]
    file = safetensors(dict(zip(names, (c_attn, c_proj), strict=True)))
    at = uploaded(opened(), "gpt2.safetensors", file)
    assert at.button_group(key="set_load_family").value == "weights"
    boxes = [at.selectbox(key=f"set_load_pick_{role}") for role in ("X", *WEIGHTS)]
    assert [box.value for box in boxes] == [None] * 5  # no name of a model chooses one
    assert boxes[0].options == [f"{names[0]}   8 × 24", f"{names[1]}   9 × 8"]
    picked(at, "W_Q", names[0], ":, 0:8")
    add = messages.ADD_THE_OTHERS.format(name="W_Q", size="8 × 8", width=4, others="W_K and W_V")
    assert said(at, "refused") == [add]
    picked(at, "W_K", names[0], ":, 8:16")
    picked(at, "W_V", names[0], ":, 16:24")
    picked(at, "W_O", names[1], "a slice")
    ran(at.text_input(key="set_load_cut_W_O").set_value("1:9"))
    ran(at.checkbox(key="set_load_transposed_W_O").check())
    ran(at.button(key="load_use").click())
    s = settings_of(at)
    assert s.shape("X") == (4, 8)
    for role, first in (("W_Q", 0), ("W_K", 8), ("W_V", 16)):
        assert np.array_equal(s.matrices[role].values, c_attn[:, first : first + 8])
    assert np.array_equal(s.matrices["W_O"].values, c_proj[1:].T)
    assert source_of(s, "W_V") == "gpt2.safetensors, h.0.attn.c_attn.weight[:, 16:24]"


def test_the_only_array_of_a_file_can_be_several_inputs():
    buffer = io.BytesIO()
    np.save(buffer, np.arange(48.0).reshape(12, 4))
    at = uploaded(opened(), "qkv.npy", buffer.getvalue())
    ran(at.selectbox(key="set_load_role").set_value("several"))
    for role, part in (("W_Q", "0:4, :"), ("W_K", "4:8, :"), ("W_V", "8:12, :")):
        picked(at, role, "numbers", part)
        ran(at.checkbox(key=f"set_load_transposed_{role}").check())
    ran(at.button(key="load_use").click())
    wanted = np.arange(32.0, 48).reshape(4, 4).T
    assert np.array_equal(settings_of(at).matrices["W_V"].values, wanted)


def test_weights_as_wide_as_gpt_2_are_answered_with_the_lines_that_record_the_layer():
    name = "h.0.attn.c_attn.weight"
    at = uploaded(opened(), "gpt2.safetensors", safetensors({name: np.zeros((768, 2304), "<f2")}))
    ran(at.selectbox(key="set_load_role").set_value("W_Q"))
    ran(at.selectbox(key="set_load_part_W_Q").set_value(":, 0:768"))
    what = f"gpt2.safetensors, {name}: W_Q would be 768 × 768"
    assert said(at, "refused") == [messages.WEIGHTS_TOO_WIDE.format(what=what, limit=512)]
    assert LINES.strip() in [code.value for code in at.get("code")]


def test_a_config_json_holds_no_array():
    config = json.dumps({"model_type": "gpt2", "n_head": 12})
    message = messages.JSON_WITHOUT_ARRAYS.format(place="config.json")
    assert said(uploaded(opened(), "config.json", config.encode()), "refused") == [capital(message)]
    message = messages.JSON_WITHOUT_ARRAYS.format(place="the text")
    assert said(pasted(opened(), config), "refused") == [capital(message)]


def test_check_yours_and_conventions_say_which_parts_go_along_and_which_do_not():
    link = {"example": "four-words", "softcap": "2.0", "alibi": "1"}
    at = AppTest.from_file(str(APP), default_timeout=120)
    for name, value in link.items():
        at.query_params[name] = value
    ran(at)
    assert settings_of(at).parts == ("softcap", "alibi")
    ran(at.switch_page(CHECK))
    beside = f"“Soft cap” and “ALiBi”. {messages.CHANGE_IT_THERE}"
    assert any(beside in text for text in noted(at))
    ran(at.switch_page(CONVENTIONS))
    assert said(at, "flag") == [messages.NEITHER_HAS.format(parts="soft cap")]
    ran(at.selectbox(key="set_move_from").set_value("ours"))
    left = messages.LEAVES_A_PART_OUT.format(library="nn.MultiheadAttention", part="soft cap")
    assert any(left in text.value.replace("\\", "") for text in at.markdown)


def test_finished_weights_are_recognised_and_stand_alone_below_and_beside_the_board_too():
    at = pasted(opened(), "0.75 0.25\n0.5 0.5")
    assert at.selectbox(key="set_load_role").value == "weights"
    ran(at.button(key="load_use").click())
    assert messages.FINISHED_WEIGHTS in said(at, "understood")[0]
    found = view(settings_of(at), run(settings_of(at)))
    assert {name: m.tolist() for name, m in found.stages.items()} == {
        "weights": [[0.75, 0.25], [0.5, 0.5]]
    }
    keys = {widget.key for kind in ("selectbox", "slider", "button") for widget in at.get(kind)}
    assert {"set_digits", "reset"} <= keys
    assert not {"set_mask", "set_scale_kind", "set_d_k", "randomize"} & keys
    for tab in ("Spread", "Initialise", "Export", "Code"):
        below(at, tab)
    assert any(messages.NOTHING_LEADS_TO_THEM in text for text in noted(below(at, "Initialise")))
    ran(at.text_input(key="set_sentence").set_value("hello world"))
    assert settings_of(at).tokens == ("hello", "world") and settings_of(at).weights_alone
    ran(at.switch_page(CONVENTIONS))
    assert messages.FRAMEWORKS_NEED_INPUTS in said(at, "flag")[0]
    ran(at.switch_page(CHECK))
    assert messages.NO_INPUTS_TO_COMPARE in said(at, "refused")[0]


def test_the_trained_example_opens_with_the_lines_of_it():
    at = opened(example="trained-it")
    assert at.button_group(key="set_below").value == "Lines"
    assert settings_of(at).tokens[settings_of(at).query] == "it"
    at = opened(example="cat-sat")
    assert at.button_group(key="set_below").value is None
    at.session_state["examples_cat-sat"] = True
    ran(ran(at).button(key="example_trained-it").click())
    assert at.button_group(key="set_below").value == "Lines"


def test_code_shows_the_lines_first_and_the_whole_script_once_it_is_asked_for():
    at = below(opened(example="cat-sat"), "Code")
    [lines] = [block.value for block in at.code]
    assert lines.startswith("Q = X @ W_Q\n") and "np.array" not in lines
    at.session_state["script"] = True
    _, script = [block.value for block in ran(at).code]
    assert "tokens = ['the', 'cat', 'sat', 'on', 'the', 'mat']\n" in script


def test_one_of_several_arrays_of_finished_weights_is_chosen():
    layers = {f"layer{k}": [[[k / 4, 1 - k / 4], [0.5, 0.5]]] for k in (1, 2, 3)}
    at = pasted(opened(), json.dumps(layers))
    assert at.button_group(key="set_load_family").value == "finished"
    ran(at.selectbox(key="set_load_pick_weights").set_value("layer3"))
    ran(at.button(key="load_use").click())
    assert view(settings_of(at), run(settings_of(at))).stages["weights"].tolist() == [
        [0.75, 0.25],
        [0.5, 0.5],
    ]


def test_the_page_says_which_files_hold_the_head_shown_and_which_hold_all():
    at = below(opened(example="sentence", softcap="2"), "Export")
    assert messages.FILES_HOLD in page_text(at)


def test_a_text_that_was_refused_is_let_go_of():
    at = opened()
    for text in ("1 2\n3", "1 2\n3 4\n5"):
        pasted(at, text)
        kept = at.session_state["visit"].page_values["load_found"][1]
        assert isinstance(kept, BadInput)
        assert kept.__traceback__ is kept.__context__ is kept.__cause__ is None


def views() -> int:
    return sum(isinstance(each, View) for each in gc.get_objects())


def test_a_run_lets_go_of_its_stages_at_its_end():
    """Not only once Python looks for circles: by then many runs' stages would lie there."""
    at = opened()
    gc.collect()
    before = views()
    gc.disable()
    try:
        for _ in range(3):
            ran(at.button(key="randomize").click())
        assert views() <= before
    finally:
        gc.enable()


# What the page loads in a fresh interpreter; Streamlit imports parts of Plotly by itself.
LOADED = """
import sys
from streamlit.testing.v1 import AppTest

before = set(sys.modules)

def loaded():
    new = {name.split(".")[0] for name in set(sys.modules) - before}
    print(*sorted(new & {"pandas", "plotly", "matplotlib"}), sep=",")

page = AppTest.from_file(sys.argv[1], default_timeout=60).run()
loaded()
for tab in ("Lines", "Code", "Heatmap", "Table", "Export"):
    page.button_group(key="set_below").set_value(tab).run()
    assert not page.exception
    loaded()
"""


def test_the_first_page_loads_what_draws_and_lists_only_with_the_tab_that_needs_it():
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, str(APP)], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    first, lines, code, heatmap, table, export = ran.stdout.split("\n")[:6]
    assert first == lines == code == ""
    assert heatmap == "plotly"
    assert table == "pandas,plotly"
    assert export == "matplotlib,pandas,plotly"
