"""The first row of Explore: a sentence, d_model beside it, Randomize, and the link."""

import json
import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import messages
import numpy as np
import pytest
from oracle import COMPUTED
from pages.conftest import link_of, ran, sent, settings_of
from pages.test_explore import opened as opened_page
from pages.test_explore import pasted, said
from session.edit.test_seeds import is_degenerate

from attention.pages.frame import share
from attention.pages.panels import words
from attention.samples.weights import drawn
from attention.samples.words import KINDS, word_vectors
from attention.session.state import links
from attention.session.state.examples import FIRST
from attention.session.state.matrix import Matrix
from attention.session.state.run import run


def opened(**link):
    """The page with the list of its numbers open."""
    at = opened_page(**link)
    at.session_state[words.NUMBERS] = True
    return ran(at)


def typed(at, sentence, key="set_sentence"):
    return ran(at.text_input(key=key).set_value(sentence))


def test_a_sentence_typed_is_its_tokens_with_one_vector_for_each_word():
    at = typed(opened(example="four-words"), "The dog saw the cat.")
    s = settings_of(at)
    X = s.matrices["X"].values
    assert s.tokens == ("The", "dog", "saw", "the", "cat", ".")
    np.testing.assert_array_equal(X[0], X[3])
    assert len({row.tobytes() for row in X}) == 5
    again = typed(opened(example="four-words"), "A cat, the dog")
    np.testing.assert_array_equal(settings_of(again).matrices["X"].values[[1, 3, 4]], X[[4, 3, 1]])
    assert settings_of(opened(**link_of(at))) == s


@pytest.mark.parametrize("move", ["sentence", "vectors", "also X"])
def test_where_embeddings_by_word_end_a_batch_the_page_says_so(move):
    at = pasted(opened(), "X = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]")
    ran(at.button(key="load_use").click())
    assert settings_of(at).batch == 2
    if move == "sentence":
        typed(at, "The dog saw the cat.")
    elif move == "vectors":
        ran(at.selectbox(key="set_vectors").set_value("identity"))
    else:
        ran(next(c for c in at.checkbox if c.key == "set_randomize_X").check())
        ran(at.button(key="randomize").click())
    assert not settings_of(at).batch
    assert said(at, "understood") == [messages.BATCH_ENDS.format(item=0)]


def test_a_sentence_with_too_many_words_is_refused_and_stays_in_its_box():
    at = opened(example=FIRST)
    before, long = settings_of(at), "word " * 513
    typed(at, long)
    assert settings_of(at) == before
    assert said(at, "refused") == [messages.TOO_MANY_TOKENS.format(found=513, limit=512)]
    assert at.text_input(key="set_sentence").value == long
    typed(at, "two words")
    assert settings_of(at).tokens == ("two", "words")
    assert not said(at, "refused")


def test_after_another_move_the_box_of_a_refused_sentence_says_what_the_board_shows():
    at = typed(opened(example=FIRST), "word " * 513)
    ran(at.slider(key="set_digits").set_value(3))
    assert at.text_input(key="set_sentence").value == "the cat sat on the mat"


def test_randomize_draws_the_three_weights_anew_each_for_itself_and_takes_the_next_seed():
    at = opened(example=FIRST)
    before = settings_of(at)
    ran(at.number_input(key="set_randomize_seed").set_value(7))
    ran(at.selectbox(key="set_randomize_kind").set_value("normal"))
    ran(at.button(key="randomize").click())
    s = settings_of(at)
    drawn = [s.matrices[name].values for name in ("W_Q", "W_K", "W_V")]
    assert all(old != s.matrices[name] for name, old in before.matrices.items() if name != "X")
    assert s.matrices["X"] == before.matrices["X"]
    assert not np.array_equal(drawn[0], drawn[1])
    assert at.number_input(key="set_randomize_seed").value == 8
    ran(at.button(key="randomize").click())
    assert not np.array_equal(settings_of(at).matrices["W_Q"].values, drawn[0])
    ran(at.number_input(key="set_randomize_seed").set_value(7))
    ran(at.button(key="randomize").click())
    np.testing.assert_array_equal(settings_of(at).matrices["W_Q"].values, drawn[0])


def test_randomize_draws_the_vectors_of_the_words_too_where_that_is_ticked():
    at = opened(example=FIRST)
    ran(at.checkbox(key="set_randomize_X").check())
    ran(at.number_input(key="set_randomize_seed").set_value(7))
    ran(at.button(key="randomize").click())
    s = settings_of(at)
    assert s.matrices["X"].values.tolist() == word_vectors(s.tokens, 4, seed=7).tolist()
    np.testing.assert_array_equal(
        s.matrices["W_Q"].values, drawn("integers", (4, 4), 7, "W_Q", -1, 2)
    )
    assert settings_of(opened(**link_of(at))) == s


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_word_vectors_is_drawn_at_once_and_for_the_next_sentence(kind):
    at = opened(example=FIRST)
    ran(at.selectbox(key="set_vectors").set_value(kind))
    typed(at, "the cat sat")
    s = settings_of(at)
    assert s.matrices["X"].recipe.kind == at.selectbox(key="set_vectors").value == kind
    ends = {"uniform": (-1, 1)}.get(kind, (-2, 3))
    wanted = word_vectors(("the", "cat", "sat"), s.d_model, 56, kind, *ends)
    if kind == "identity":
        assert s.d_model == 5  # of "the cat sat on the mat"
        wanted = np.eye(3, 5)
    assert s.matrices["X"].values.tolist() == wanted.tolist()


def test_vectors_that_were_given_are_called_so_and_stay_until_a_kind_is_chosen():
    at = opened(example="four-words")
    menu = at.selectbox(key="set_vectors")
    assert (menu.value, menu.options[0]) == ("given", "my numbers")
    before = settings_of(at)
    ran(menu.set_value("given"))
    assert settings_of(at) == before
    ran(menu.set_value("identity"))
    assert settings_of(at).matrices["X"].values.tolist() == np.eye(4).tolist()
    assert "my numbers" not in at.selectbox(key="set_vectors").options


def test_where_q_k_and_v_are_given_there_are_no_words_to_draw_for():
    at = opened(example="customers")
    keys = {element.key for kind in ("selectbox", "checkbox") for element in at.get(kind)}
    assert "set_randomize_kind" in keys
    assert not keys & {"set_vectors", "set_randomize_X"}


def test_the_field_and_the_slider_of_a_size_are_the_same_size():
    at = opened(example=FIRST)
    ran(at.number_input(key="set_d_model_number").set_value(6))
    assert at.slider(key="set_d_model").value == settings_of(at).d_model == 6
    ran(at.slider(key="set_d_model").set_value(3))
    assert at.number_input(key="set_d_model_number").value == settings_of(at).d_model == 3


def test_the_numbers_are_behind_a_button_and_randomize_draws_without_them():
    at = opened_page(example=FIRST)
    assert not {"set_randomize_seed", "set_vectors"} & {
        element.key for kind in ("number_input", "selectbox") for element in at.get(kind)
    }
    ran(at.button(key="randomize").click())
    assert settings_of(at).matrices["W_Q"].recipe.seed == 179


def test_a_second_sentence_has_a_box_of_its_own():
    at = opened(example=FIRST)
    ran(at.button_group(key="set_parts").set_value(["softmax", "cross"]))
    assert settings_of(at).memory_tokens != settings_of(at).tokens
    typed(at, "die Katze", "set_second_sentence")
    assert settings_of(at).memory_tokens == ("die", "Katze")
    assert settings_of(at).tokens == ("the", "cat", "sat", "on", "the", "mat")


def test_a_link_that_opens_in_this_browser_alone_is_not_offered_for_another_page():
    at = opened(example="four-words")
    frames = "Embed this page", "Embed the board", "Embed one stage: scores"
    assert list(shared(at)) == ["The link", *frames]
    large = {
        name: Matrix(np.random.default_rng(1).normal(size=shape))
        for name, shape in {"W_Q": (4, 300), "W_K": (4, 300)}.items()
    }
    visit = at.session_state["visit"]
    visit.settings = replace(settings_of(at), matrices=settings_of(at).matrices | large)
    assert list(shared(ran(at))) == ["The link"] and share.PART in sent(at)
    visit.not_kept = links.address(visit.settings)[0]["partial"], "it is denied"
    assert list(shared(ran(at))) == ["The link"] and share.NOWHERE in sent(at)


def shared(at) -> dict[str, str]:
    """The lines to copy, by their labels."""
    return dict(
        line
        for node in at.get("bidi_component")
        if node.proto.component_name == "attention_copy"
        for line in json.loads(node.proto.bytes)["lines"]
    )


@pytest.mark.parametrize("example", ["", "batch"])
def test_the_copied_link_opens_the_same_numbers_and_says_that_it_holds_them(example):
    at = opened(**({"example": example} if example else {}))
    ran(at.slider(key="set_digits").set_value(4))
    assert share.WHOLE in sent(at)
    link = shared(at)["The link"]
    again, refused = links.read(dict(parse_qsl(link.removeprefix("?"))))
    assert again == settings_of(at) and not refused
    ours, theirs = run(again), run(settings_of(at))
    for name in COMPUTED:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_frames_show_the_page_the_board_or_the_stage_of_the_chosen_cell():
    at = opened(example="cat-sat", cell="scores,1,2")
    lines = shared(at)
    link = lines.pop("The link")
    sources = [unescape(re.search('src="([^"]*)"', line)[1]) for line in lines.values()]
    parameters = parse_qsl(link.removeprefix("?"))
    assert [parse_qsl(urlsplit(source).query) for source in sources] == [
        [*parameters, ("embed", "true")],
        [*parameters, ("embed", "true")],
        [*parameters, ("embed_stage", "scores"), ("embed", "true")],
    ]
    assert [urlsplit(source).path for source in sources] == ["", "board", "board"]


# ---- seeds that give equal columns -------------------------------------------

EQUAL = messages.WITH_SEED.format(
    seed=176,
    said=messages.EQUAL_COLUMNS.format(first=1, second=2, name="W_Q")
    + " and "
    + messages.OPPOSITE_COLUMNS.format(first=1, second=2, name="W_V"),
)


def seed_of(at):
    return settings_of(at).matrices["W_Q"].recipe.seed


def seed_field(at):
    return at.number_input(key="set_randomize_seed")


def pressed(at):
    return ran(at.button(key="randomize").click())


def test_the_first_press_takes_the_first_seed_that_is_not_degenerate():
    at = opened(example=FIRST)
    assert (
        seed_field(at).value == 179
    )  # 176 has equal columns, 177 and 178 too few weights that are seen
    pressed(at)
    assert seed_of(at) == 179 and not said(at, "understood")
    assert settings_of(opened(**link_of(at))) == settings_of(at)


def test_seeds_that_the_page_counts_skip_and_are_the_ones_shown():
    at, skipped = opened(example=FIRST), 0
    for _ in range(8):
        shown = seed_field(at).value
        assert not is_degenerate(settings_of(pressed(at)))
        assert seed_of(at) == shown
        skipped += seed_field(at).value > shown + 1
    assert skipped


@pytest.mark.parametrize("hurried", [False, True])
def test_a_typed_seed_is_used_as_it_is_and_equal_columns_are_said(hurried):
    at = opened(example=FIRST)
    seed_field(at).set_value(176)
    if not hurried:
        ran(at)
    pressed(at)
    assert seed_of(at) == 176 and said(at, "understood") == [EQUAL]
    assert seed_field(at).value == 179
    assert settings_of(opened(**link_of(at))) == settings_of(at)
    pressed(at)
    assert seed_of(at) == 179 and not said(at, "understood")


@pytest.mark.parametrize("typed", [False, True])
def test_a_counted_seed_skips_by_the_sizes_of_now_and_a_typed_one_does_not(typed):
    at = opened(example=FIRST)
    if typed:  # the very seed that the page had counted
        ran(seed_field(at).set_value(5))
        ran(seed_field(at).set_value(179))
    ran(at.number_input(key="set_d_model_number").set_value(2))
    pressed(at)
    assert seed_of(at) == (179 if typed else 215)
    assert bool(said(at, "understood")) == typed


def test_given_queries_and_keys_skip_the_seeds_that_make_one_zero():
    at = opened(example="customers")
    for _ in range(4):
        s = settings_of(pressed(at))
        assert all(s.matrices[name].values.all() for name in "QK")


@pytest.mark.parametrize(
    ("page", "is_local"),
    [
        ("http://localhost:8501/", True),
        ("http://a.localhost/compare", True),
        ("http://127.0.0.2:80/", True),
        ("http://[::1]:8501/", True),
        ("http://0.0.0.0:8501/", True),
        ("http://192.168.0.7:8501/", False),
        ("https://localhost.example.org/", False),
    ],
)
def test_an_address_of_this_computer_alone_is_known(page, is_local):
    assert share.works_here_alone(page) == is_local


@pytest.mark.parametrize(
    ("link", "is_local", "whole", "why"),
    [
        ("https://example.org/?a=1", False, True, ""),
        ("https://example.org/?a=1", True, True, messages.NO_CODE_HERE),
        ("https://example.org/?a=1", False, False, messages.NO_CODE_OF_A_PART),
        ("https://e.org/?" + 300 * "a", False, True, messages.NO_CODE_TOO_LONG.format(found=315)),
        ("?a=1", False, True, messages.NO_CODE_OF_NO_ADDRESS),
    ],
)
def test_a_link_has_a_code_or_a_reason_why_not(link, is_local, whole, why):
    assert share.why_no_code(link, is_local, whole) == why


def test_present_gets_the_code_of_the_link_where_it_has_one(monkeypatch):
    def codes(at):
        sent = [element.proto.bytes for element in at.get("bidi_component")]
        (head,) = (each.partition(b"\0")[0] for each in sent if b'"panes"' in each)
        return json.loads(head)["code"]

    at = opened()
    assert codes(at) == ""  # of this computer alone
    monkeypatch.setattr(share, "addresses", lambda page: ("https://example.org/", ""))
    address, _, text = codes(ran(at)).partition("?text=")
    assert address == "https://example.org/vendor/qr.svg"
    link, _, parameters = unquote_plus(text).partition("?")
    assert link == "https://example.org/"
    assert links.read(dict(parse_qsl(parameters)))[0] == settings_of(at)
