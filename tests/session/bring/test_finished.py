"""Finished attention weights are looked at, drawn and exported alone, to the last bit."""

import csv
import io
import json
import zipfile
from dataclasses import replace

import messages
import numpy as np
import pytest
from build import four_words

from attention.explain import spread
from attention.explain.arithmetic import cell
from attention.explain.captions import formula
from attention.exports.formats import FORMATS, PageContents, everything
from attention.figures.panes.panes import panes
from attention.limits import BadInput
from attention.readers.cells.entry import ALONE, ArrayEntry
from attention.readers.opening import opened
from attention.readers.select import FINISHED, select
from attention.readers.texts import texts
from attention.session.bring.adopt import adopt, family_of, likely, picks_of
from attention.session.compare import check_yours
from attention.session.edit.changes import set_mask, set_output_weights, set_sentence
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.links import from_file, to_file
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, sizes, view
from attention.session.state.settings import DRAWN
from attention.session.state.validate import check

RNG = np.random.default_rng(0)


def softmax(scores) -> np.ndarray:
    """Row by row, with Python's own sum."""
    rows = scores.reshape(-1, scores.shape[-1])
    shares = [[np.exp(v - max(row)) for v in row] for row in rows.tolist()]
    return np.array([[v / sum(row) for v in row] for row in shares]).reshape(scores.shape)


def entry(values, name=ALONE, **more) -> ArrayEntry:
    return ArrayEntry(name, values.shape, values.dtype.name, lambda: values, **more)


def brought(values, s=None, **more):
    found = select(entry(values, **more), FINISHED, "it")
    return adopt(s or four_words(), {FINISHED: found})


def shown(s):
    return view(s, run(s))


@pytest.mark.parametrize("shape", [(4, 4), (3, 4, 4), (1, 2, 5, 5), (3, 6), (2, 3, 6)])
def test_the_weights_of_the_board_are_those_that_were_brought_and_stand_alone(shape):
    A = softmax(3 * RNG.standard_normal(shape))
    s, said = brought(A)
    heads = A.reshape(-1, *shape[-2:])
    for head, weights in enumerate(heads):
        found = shown(replace(s, head=head))
        assert list(found.stages) == ["weights"] == list(sizes(s))
        assert np.array_equal(found.stages["weights"], weights)
    assert said == [
        messages.NOW_ON_THE_BOARD.format(
            inputs=f"weights ({' × '.join(map(str, shape[-3:]))})".replace("(1 × ", "(")
        ),
        messages.FINISHED_WEIGHTS,
    ]
    assert s.heads == len(heads) and s.weights_alone
    assert len(s.tokens) == shape[-2] and len(s.key_tokens) == shape[-1]
    assert links.from_file(links.to_file(s)) == s


def test_zeros_stay_zeros_and_what_all_heads_hide_is_masked():
    A = softmax(RNG.standard_normal((2, 4, 4))) * np.tril(np.ones((4, 4)))
    A[1, 3, 0] = 0  # in one head alone
    A /= A.sum(axis=-1, keepdims=True)
    s, said = brought(A)
    assert said[2] == messages.ZEROS_ARE_MASKED
    assert s.mask == DRAWN and np.array_equal(s.drawn, np.tril(np.ones((4, 4), bool)))
    assert list(shown(s).stages) == ["mask", "weights"] == list(sizes(s))
    assert np.array_equal(run(s).weights, A)


def test_a_row_of_zeros_sees_no_key_also_where_it_does_in_another_head():
    A = np.array([[[0.25, 0.75], [0.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]])
    assert np.array_equal(run(brought(A)[0]).weights, A)
    assert np.array_equal(np.squeeze(run(brought(A[0])[0]).weights), A[0])


def test_printed_weights_stay_as_they_are_and_it_is_said_how_far_their_rows_are_off_1():
    A = softmax(RNG.standard_normal((4, 4))).round(2)
    A[0] = [0.33, 0.33, 0.33, 0.0]
    s, said = brought(A)
    assert np.array_equal(shown(s).stages["weights"], A)
    assert said[-1] == messages.ROWS_OFF_ONE.format(worst="0.0100")


def test_what_stood_on_the_board_before_does_not_change_them():
    s = set_output_weights(set_mask(four_words(), "causal"), True)
    A = softmax(RNG.standard_normal((4, 4)))
    new, _ = brought(A, replace(s, context=True, fill="-1e9"))
    assert np.array_equal(shown(new).stages["weights"], A)
    assert new.mask == "none" and set(new.matrices) == set("QKV")


@pytest.mark.parametrize(
    "other",
    [
        lambda s: replace(s, softmax=True),
        lambda s: replace(s, scale=None),
        lambda s: s.with_matrix("Q", Matrix(2 * s.matrices["Q"].values)),
        lambda s: s.with_matrix("K", Matrix(2 * s.matrices["K"].values)),
        lambda s: s.with_matrix("V", Matrix(2 * s.matrices["V"].values)),
        lambda s: set_output_weights(s, True),
    ],
)
def test_with_other_numbers_or_another_rule_they_are_an_attention_like_any(other):
    s = other(brought(softmax(RNG.standard_normal((2, 4, 4))))[0])
    assert not s.weights_alone
    assert {"Q", "K", "V", "scores", "output"} <= set(shown(s).stages)


@pytest.mark.parametrize("hidden", [{"mask": "causal"}, {"padding": "1"}])
def test_a_link_that_hides_weights_brought_as_finished_makes_them_an_attention_like_any(hidden):
    A = softmax(RNG.standard_normal((2, 4, 4)))
    s, notices = links.read(links.write(brought(A)[0]) | hidden)
    assert notices == [] and not s.finished and not s.weights_alone
    assert links.from_file(links.to_file(s)) == s
    seen = np.tri(4) if "mask" in hidden else np.arange(4) != 1
    assert np.array_equal(run(s).weights, A * seen)
    exec(FORMATS["python"].write(contents(s)).decode(), {})


def test_a_mask_that_hides_zeros_alone_leaves_them_finished():
    A = softmax(RNG.standard_normal((4, 4))) * np.tri(4)
    A /= A.sum(axis=-1, keepdims=True)
    s = check(set_mask(brought(A)[0], "causal"))
    assert s.weights_alone and np.array_equal(run(s).weights, A)


def test_identities_that_were_typed_are_an_attention_like_any():
    one = Matrix(np.eye(3))
    s = replace(four_words(), tokens=("a", "b", "c"), matrices=dict.fromkeys("QKV", one))
    s = check(replace(s, softmax=False, scale=1.0))
    assert not s.weights_alone and {"Q", "scores", "output"} <= set(shown(s).stages)


def test_what_was_set_otherwise_once_is_finished_no_more_and_a_link_says_so():
    s, _ = brought(softmax(RNG.standard_normal((3, 3))))
    assert links.read(links.write(s)) == (s, [])
    other = check(replace(s, softmax=True))
    assert not check(replace(other, softmax=False)).weights_alone
    again, notices = links.read(links.write(s) | {"distribution": "xyz"})
    assert again == s and len(notices) == 1


def test_no_example_is_taken_for_finished_weights():
    assert not any(example.build().weights_alone for example in EXAMPLES.values())


def test_a_sentence_of_as_many_words_names_them_and_another_is_refused():
    s, _ = brought(softmax(RNG.standard_normal((3, 5))))
    named = set_sentence(s, "[CLS] play ##ing")
    named = set_sentence(named, "the cat sat down.", memory=True)
    assert (named.tokens, named.key_tokens) == (
        ("[CLS]", "play", "##ing"),
        ("the", "cat", "sat", "down", "."),
    )
    assert named.weights_alone and named.matrices == s.matrices
    with pytest.raises(BadInput) as refused:
        set_sentence(s, "the cat")
    assert str(refused.value) == (
        messages.SENTENCE_BESIDE_WEIGHTS.format(words=2, count=3, side="rows")
    )


def test_what_is_brought_after_them_stands_on_an_example_and_is_normalised():
    s, _ = brought(softmax(RNG.standard_normal((3, 3))))
    X = RNG.standard_normal((3, 4))
    after, _ = adopt(s, {"X": select(entry(X), "X", "it")})
    assert after.softmax and after.scale is None and np.array_equal(after.matrices["X"].values, X)
    with pytest.raises(BadInput) as refused:
        adopt(s, {"Q": select(entry(X), "Q", "it")})
    assert str(refused.value) == messages.QKV_INCOMPLETE.format(names="K and V", verb="are")


def test_board_cell_and_figures_speak_of_weights_alone():
    A = softmax(RNG.standard_normal((2, 3, 3))) * np.tri(3)
    A /= A.sum(axis=-1, keepdims=True)
    s, _ = brought(A)
    found = shown(replace(s, head=1))
    assert formula(found) == [("Attention weights A", "weights"), ("   head 1 of 0–1", None)]
    assert [(pane.name, pane.formula) for pane in panes(found)] == [
        ("mask", "0 or −∞"),
        ("weights", "finished weights"),
    ]
    assert cell(found, "weights", 0, 0) == [messages.FINISHED_WEIGHT, "= 1"]
    assert cell(found, "weights", 0, 1) == [messages.HIDDEN_KEY, messages.WEIGHT_IS_0]
    assert spread.variances(found) == {} and len(spread.sharpness(found)["query"]) == 3


def contents(s) -> PageContents:
    found = shown(s)
    return PageContents(s, run(s), found, "mine", lambda: panes(found))


def test_every_export_holds_the_weights_and_no_stage_besides():
    A = softmax(RNG.standard_normal((2, 3, 4)))
    s, _ = brought(A)
    page = contents(s)
    written = {name: format.write(page) for name, format in FORMATS.items()}
    rows = list(csv.DictReader(io.StringIO(written["csv"].decode(), newline="")))
    assert [row["stage"] for row in rows] == ["weights"] * 12
    assert [float(row["value"]) for row in rows] == A[0].ravel().tolist()
    with np.load(io.BytesIO(written["npz"])) as arrays:
        assert np.array_equal(arrays["weights"], A)
        assert not {"Q", "K", "V", "scores", "output", "joined"} & set(arrays.files)
    assert list(json.loads(written["json"])["stages"]) == ["weights"]
    space = {}
    exec(written["python"].decode(), space)
    assert np.array_equal(space["weights"], A) and not {"Q", "K", "output"} & set(space)
    assert "weights = " in written["notebook"].decode()
    for name in ("latex", "markdown", "report", "matrices"):
        text = written[name].decode().partition("<script")[0]
        assert "weights" in text or "A = " in text
        assert "softmax" not in text and "scores" not in text, name


def test_the_zip_and_its_figure_are_made_of_weights_alone():
    s, _ = brought(softmax(RNG.standard_normal((3, 3))))
    *_, (_, _, content) = everything(contents(s))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert "figure.svg" in archive.namelist()
        assert not [name for name in archive.namelist() if name.endswith(".txt")]


def test_check_yours_says_that_there_is_nothing_to_compare_with():
    with pytest.raises(BadInput) as refused:
        check_yours.from_settings(brought(np.full((2, 2), 0.5))[0])
    assert str(refused.value) == messages.NO_INPUTS_TO_COMPARE


def test_among_the_arrays_of_a_file_one_of_finished_weights_is_chosen():
    layers = {f"layer{k}": entry(softmax(RNG.standard_normal((1, 2, 3, 3)))) for k in range(2)}
    assert family_of(layers) == "finished"
    assert picks_of(layers, "finished") == {FINISHED: "layer0"}
    beside = layers | {"X": entry(np.ones((3, 4)))}
    assert family_of(beside) == "weights"
    assert picks_of(beside, "finished") == {FINISHED: "layer0"}
    assert picks_of({"a": entry(np.ones((2, 2)))}, "finished") == {FINISHED: None}


def test_what_the_page_saves_of_them_comes_in_again_as_they_were():
    A = softmax(RNG.standard_normal((2, 3, 3))) * np.tri(3)
    A /= A.sum(axis=-1, keepdims=True)
    s, _ = brought(A)
    found = opened("mine.npz", FORMATS["npz"].write(contents(s)))
    assert family_of(found) == "finished"
    name = picks_of(found, "finished")[FINISHED]
    again, _ = adopt(four_words(), {FINISHED: select(found[name], FINISHED, "it")})
    assert np.array_equal(run(again).weights, A) and again.drawn == s.drawn


@pytest.mark.parametrize("shape", [(12, 64, 64), (12, 2, 100), (8, 128, 128)])
def test_all_heads_of_a_layer_open_again_from_a_saved_state(shape):
    A = softmax(RNG.standard_normal(shape))
    s, _ = brought(A)
    again = from_file(to_file(s))
    assert again == s
    assert np.array_equal(run(again).weights, A)


def test_more_columns_than_a_matrix_holds_are_cut_by_heads():
    with pytest.raises(BadInput) as refused:
        brought(softmax(RNG.standard_normal((300, 14, 14))))
    assert str(refused.value) == (
        messages.HEADS_TOO_WIDE.format(heads=300, keys=14, columns="4,200", limit="4,096", cut=292)
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            np.array([[0.5, 0.5], [1.5, -0.5]]),
            messages.NOT_A_SHARE.format(head="", row=2, column=1, found="1.50"),
        ),
        (
            np.array([[0.5, 0.5], [0.5, 0.2]]),
            messages.ROW_SUM.format(head="", row=2, found="0.70"),
        ),
        (
            np.array([[[0.5, 0.5]], [[0.5, 0.2]]]),
            messages.ROW_SUM.format(head="head 1, ", row=1, found="0.70"),
        ),
    ],
)
def test_what_is_no_matrix_of_weights_is_refused(values, message):
    with pytest.raises(BadInput) as refused:
        brought(values)
    assert str(refused.value) == message


def test_weights_of_too_many_tokens_are_refused_before_anything_is_made(monkeypatch):
    wide = entry(np.full((3, 513), 1 / 513))

    def never(*args):
        raise AssertionError("a matrix of 513 × 513 was made")

    monkeypatch.setattr(np, "eye", never)
    with pytest.raises(BadInput) as refused:
        adopt(four_words(), {FINISHED: select(wide, FINISHED, "it")})
    assert str(refused.value) == messages.NO_PLACE_ON_LONG_CONTEXT.format(
        found=513, limit=512, left="finished weights"
    )


def test_weights_stand_alone():
    A = select(entry(np.full((2, 2), 0.5)), FINISHED, "it")
    X = select(entry(np.ones((2, 2))), "X", "it")
    with pytest.raises(BadInput) as refused:
        adopt(four_words(), {FINISHED: A, "X": X})
    assert str(refused.value) == messages.WEIGHTS_STAND_ALONE


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (softmax(RNG.standard_normal((4, 4))), FINISHED),
        (softmax(RNG.standard_normal((12, 5, 5))).astype("f2"), FINISHED),
        (softmax(RNG.standard_normal((4, 6))).round(2), FINISHED),
        (np.eye(4), "X"),  # one-hot embeddings
        (RNG.standard_normal((4, 4)), "X"),
        (np.array([[0.2, 0.3], [0.5, 0.5]]), "X"),
        (np.array([[1.0], [1.0]]), "X"),
    ],
)
def test_weights_are_recognised_and_embeddings_are_not_taken_for_them(values, role):
    assert likely(ALONE, entry(values), four_words()) == role


def test_words_beside_printed_weights_are_the_tokens():
    found = texts.entries("cat,0.75,0.25\ndog,0.5,0.5\n", "it")[ALONE]
    s, _ = adopt(four_words(), {FINISHED: select(found, FINISHED, "it")})
    assert s.tokens == ("cat", "dog")
