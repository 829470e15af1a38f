"""Where inputs came from is remembered beside them, travels with links, and is said in words."""

import json
from dataclasses import replace

import messages
import numpy as np
import pytest

import attention
from attention import program
from attention.readers import opening
from attention.readers.cells.entry import PASTED
from attention.readers.select import MASK, Selection, gather
from attention.session.bring import adopt
from attention.session.edit import board_edits, changes, editing
from attention.session.edit.board_edits import Operation
from attention.session.state import kept, links
from attention.session.state.about import what_it_is
from attention.session.state.examples import EXAMPLES, OWN
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.origin import Origin
from attention.session.state.run import run
from attention.session.state.validate import check

CAT, FOUR, TWO_HEADS = (EXAMPLES[name].build() for name in ("cat-sat", "four-words", "sentence"))
BERT = "encoder.layer.0.attention.self"


def checkpoint() -> bytes:
    """Weights of one layer, (out, in), as safetensors.numpy writes them."""
    save = pytest.importorskip("safetensors.numpy").save
    rng = np.random.default_rng(3)
    tensors = {f"{BERT}.{name}.weight": rng.normal(size=(4, 4)) for name in ("query", "key")}
    return save(tensors)


def brought(s, where, content, picks, typed=False):
    arrays = opening.opened(where, content)
    return adopt.adopt(s, gather(arrays, picks, where, typed=typed))[0]


@pytest.fixture
def bert():
    picks = {
        "W_Q": (f"{BERT}.query.weight", Selection(transposed=True)),
        "W_K": (f"{BERT}.key.weight", Selection(cut="0:4, :", transposed=True)),
    }
    return brought(FOUR, "a folder/bert.safetensors", checkpoint(), picks)


def sources(s) -> dict[str, str]:
    return dict(what_it_is(s).inputs)


def typed(s, stage, text="7.25"):
    after, refused = board_edits.apply(s, [Operation(1, "cell", stage, 0, 0, text)])
    assert refused == []
    return after


# ---- where it came from --------------------------------------------------------------------------


def test_an_example_is_said_by_its_title_and_its_draws_by_kind_and_seed():
    title = messages.OF_AN_EXAMPLE.format(title="The cat sat on the mat")
    assert sources(CAT) == {
        "X": f"{title}, random integers from -2 to below 3 for each word, seed 56",
        "W_Q": f"{title}, random integers from -1 to below 2, seed 175",
        "W_K": f"{title}, random integers from -1 to below 2, seed 263",
        "W_V": f"{title}, random integers from -1 to below 2, seed 1190",
    }
    assert set(sources(FOUR).values()) == {
        messages.OF_AN_EXAMPLE.format(title="Four words, by hand")
    }


def test_a_number_typed_over_an_example_is_said():
    example = messages.OF_AN_EXAMPLE.format(title="Four words, by hand")
    assert sources(typed(FOUR, "W_Q"))["W_Q"] == messages.CHANGED_BY_HAND.format(source=example)


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        (Recipe("normal", 4), "standard normal, seed 4"),
        (Recipe("uniform", 5, -0.5, 2), "uniform from -0.5 to below 2, seed 5"),
        (Recipe("xavier", 6), "Xavier / Glorot, seed 6"),
        (Recipe("identity"), "identity"),
    ],
)
def test_a_drawn_matrix_is_said_by_kind_range_and_seed(recipe, said):
    drawn = editing.roll(FOUR, "W_V", recipe)
    assert sources(drawn)["W_V"] == said
    assert sources(typed(drawn, "W_V"))["W_V"] == messages.CHANGED_BY_HAND.format(source=said)


def test_a_new_sentence_is_drawn_and_no_longer_of_the_example():
    s = changes.set_sentence(CAT, "dogs chase red balls")
    assert sources(s)["X"] == "random integers from -2 to below 3 for each word, seed 56"


def test_numbers_of_a_link_that_says_nothing_are_not_said_to_be_typed():
    link = {"example": "own", "X": "1_2;3_4;5_6", "W_Q": "1_0;0_1", "d_model": "2"}
    link |= {"W_K": "1_0;0_1", "W_V": "1;2"}
    assert set(sources(links.read(link)[0]).values()) == {messages.NO_RECORD}
    assert set(sources(replace(FOUR, example=OWN)).values()) == {messages.NO_RECORD}


def test_a_file_is_said_with_its_tensor_and_slice_and_without_its_folder(bert):
    found = sources(bert)
    assert found["W_Q"] == messages.TRANSPOSED.format(
        source=f"bert.safetensors, {BERT}.query.weight"
    )
    assert found["W_K"] == messages.TRANSPOSED.format(
        source=f"bert.safetensors, {BERT}.key.weight[0:4, :]"
    )
    assert found["X"] == messages.OF_AN_EXAMPLE.format(title="Four words, by hand")


def test_what_stayed_behind_is_said_once_while_an_input_of_it_is_there():
    s = FOUR
    for name in ("W_Q", "W_K"):
        values = s.matrices[name].values
        s = s.with_matrix(name, Matrix(values, origin=Origin.of("a run", values, "a bias")))
    assert what_it_is(s).behind == ("a bias",)
    assert links.write(s)["origins"].count("a bias") == 1
    without_first = editing.roll(s, "W_Q", Recipe("normal", 1))
    assert what_it_is(without_first).behind == ("a bias",)
    assert what_it_is(editing.roll(without_first, "W_K", Recipe("normal", 1))).behind == ()


def test_a_weight_that_was_turned_to_fit_says_so():
    s = changes.set_dimension(FOUR, "d_k", 3)
    text = b"1 2 3 4\n5 6 7 8\n9 1 2 3"
    for content, said in (
        (text, messages.TRANSPOSED.format(source="w.csv")),
        (b"1 2 3\n" * 4, "w.csv"),
    ):
        turned = brought(s, "w.csv", content, {"W_Q": ("numbers", Selection())})
        assert sources(turned)["W_Q"] == said


def test_a_number_changed_after_the_file_is_said_and_the_old_one_typed_again_too(bert):
    changed = typed(bert, "W_Q")
    source = messages.TRANSPOSED.format(source=f"bert.safetensors, {BERT}.query.weight")
    assert sources(changed)["W_Q"] == messages.CHANGED_BY_HAND.format(source=source)
    old = repr(float(bert.matrices["W_Q"].values[0, 0]))
    assert sources(typed(changed, "W_Q", old))["W_Q"] == source
    wider = changes.set_dimension(bert, "d_k", 5)
    assert sources(wider)["W_Q"] == messages.CHANGED_BY_HAND.format(source=source)


def test_the_file_is_forgotten_when_the_matrix_is_drawn_or_pasted_or_an_example_taken(bert):
    assert sources(editing.roll(bert, "W_Q", Recipe("normal", 2)))["W_Q"] == (
        "standard normal, seed 2"
    )
    text = b"1 2 3 4\n5 6 7 8\n9 1 2 3\n4 5 6 7"
    picks = {"W_Q": ("numbers", Selection())}
    assert sources(brought(bert, PASTED, text, picks, typed=True))["W_Q"] == "typed"
    assert sources(brought(bert, PASTED, text, picks))["W_Q"] == "the text"  # a file called so
    assert FOUR.origins == {} == EXAMPLES["four-words"].build().origins


def test_a_mask_that_was_brought_is_said_and_forgotten_with_another(bert):
    mask = np.tril(np.ones((4, 4)))
    s = brought(
        bert,
        "mask.txt",
        "\n".join(" ".join(map(str, row)) for row in mask).encode(),
        {MASK: ("numbers", Selection())},
    )
    assert sources(s)[MASK] == "mask.txt"
    painted, _ = board_edits.apply(s, [Operation(1, "mask", "masked", 0, 3, "1")])
    assert sources(painted)[MASK] == messages.CHANGED_BY_HAND.format(source="mask.txt")
    other = changes.set_mask(changes.set_mask(s, "causal"), "drawn")
    assert sources(other)[MASK] == messages.DRAWN_BY_HAND
    assert links.read(links.write(s))[0] == s


def test_computed_q_and_the_weights_made_of_it_say_what_they_are_made_of(bert):
    projected = changes.start_from(bert, True, run(bert))
    W_Q = messages.TRANSPOSED.format(source=f"bert.safetensors, {BERT}.query.weight")
    example = messages.OF_AN_EXAMPLE.format(title="Four words, by hand")
    made = f"X ({example}) and W_Q ({W_Q})"
    assert sources(projected)["Q"] == messages.PRODUCT_OF.format(factors=made)
    assert what_it_is(projected).behind == what_it_is(bert).behind[1:]
    again = changes.start_from(projected, False, run(projected))
    assert sources(again)["X"] == messages.ONE_HOT_ROWS
    assert sources(again)["W_Q"] == f"Q ({messages.PRODUCT_OF.format(factors=made)})"


def test_finished_weights_say_their_file():
    A = "0.25 0.75\n0.5 0.5"
    s = brought(FOUR, "heads.csv", A.encode(), {"weights": ("numbers", Selection())})
    assert sources(s) == {"weights": "heads.csv"}


def test_numbers_of_an_example_say_so_beside_embeddings_of_a_file():
    text = b"1 2 3 4\n5 6 7 8\n9 1 2 3\n4 5 6 7"
    s = brought(typed(FOUR, "W_K"), "mine.csv", text, {"X": ("numbers", Selection())})
    assert s.example == OWN
    example = messages.OF_AN_EXAMPLE.format(title="Four words, by hand")
    assert sources(s) == {
        "X": "mine.csv",
        "W_Q": example,
        "W_K": messages.CHANGED_BY_HAND.format(source=example),
        "W_V": example,
    }
    assert links.read(links.write(s)) == (s, [])
    assert links.write(s)["origins"].count("Four words") == 1


# ---- in links and states -------------------------------------------------------------------------


def test_links_and_states_keep_it(bert):
    edited = typed(bert, "W_K")
    for s in (bert, edited):
        assert links.read(links.write(s)) == (s, [])
        opened = links.from_file(links.to_file(s))
        assert opened == s
        assert what_it_is(opened) == what_it_is(s)
    link, parts = kept.pack(bert)
    assert json.loads(link["origins"]) and parts


def test_what_has_no_origin_adds_nothing_to_its_link():
    for example in EXAMPLES.values():
        assert "origins" not in links.write(example.build())


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "{}5",
        "[1]",
        '{"": 1}',
        '{"": {"a": "W_Q"}}',
        '{"": {"a": {"W_Q": "12"}}}',
        '{"": {"a": {"W_Q": 3}}}',
        '{"": {"a": {"W_Q": ["0123456789ab"]}}}',
    ],
)
def test_damaged_origins_are_passed_over_and_the_numbers_stay(bert, text):
    link = links.write(bert) | {"origins": text}
    found, notices = links.read(link)
    assert len(notices) == 1
    assert notices[0].startswith(messages.PASSED_OVER.format(what="parameter origins was", why=""))
    assert found.origins == {}
    assert np.array_equal(found.matrices["W_Q"].values, bert.matrices["W_Q"].values)


def test_what_a_stranger_wrote_into_a_link_is_one_printable_line():
    origin = Origin('x\n"""\r\u2028import os\x00\u202e' + "y" * 900, "0123456789ab", "\n# a\x1b")
    assert origin.source.startswith('x """ import os y')
    assert len(origin.source) <= 300
    assert origin.source.isprintable() and origin.behind == "# a"
    assert Origin(origin.source, origin.mark, origin.behind) == origin


# ---- the sentences -------------------------------------------------------------------------------


def test_the_lines_name_program_date_part_inputs_and_what_stayed_behind(bert, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    s = check(replace(bert, heads=2, head=1, mask="causal", padding=(0,)))
    assert what_it_is(s).lines() == [
        f"attention-stages {attention.__version__}, 1970-01-02",
        "head 1 of 0–1",
        "X, W_V: " + messages.OF_AN_EXAMPLE.format(title="Four words, by hand"),
        "W_Q: " + messages.TRANSPOSED.format(source=f"bert.safetensors, {BERT}.query.weight"),
        "W_K: " + messages.TRANSPOSED.format(source=f"bert.safetensors, {BERT}.key.weight[0:4, :]"),
        "mask: look-ahead (causal)",
        "padding: key 1 hidden",
        *what_it_is(bert).behind,
    ]
    assert what_it_is(s, whole=True).lines()[1] == "all 2 heads"
    assert what_it_is(s).suffix == "_head1"
    assert what_it_is(s, whole=True).suffix == "_all_heads"
    assert what_it_is(s).record() == {
        "program": program.NAME,
        "version": attention.__version__,
        "date": "1970-01-02",
        "item": "the only one",
        "head": "head 1 of 0–1",
        "inputs": sources(s),
        "stayed_behind": list(what_it_is(bert).behind),
    }


def test_a_batch_says_its_item():
    X = np.ones((3, 4, 4))
    s = check(replace(FOUR.with_matrix("X", Matrix(X)), item=2))
    assert what_it_is(s).part == "item 2 of 0–2"
    assert what_it_is(s, whole=True).part == "all 3 items"
    assert what_it_is(s).suffix == "_item2"
