"""What a person brings: the array meant, to the bit; the settings that follow; and what is said of
it.
"""

import io
import json
from dataclasses import replace

import messages
import numpy as np
import oracle
import pytest
from amount import few

from attention import causal, self_attention
from attention.exports.tables import to_npz
from attention.limits import MAX_FILE, BadInput
from attention.readers.cells.entry import ALONE, ArrayEntry
from attention.readers.opening import opened
from attention.readers.select import SelectedArray, Selection, gather, select, thirds
from attention.readers.texts import texts
from attention.session.bring import adopt as adopting
from attention.session.bring.adopt import ROLES, adopt, axis_of, family_of, picks_of
from attention.session.edit.changes import (
    set_heads,
    set_kv_heads,
    set_mask,
    set_memory,
    set_output_weights,
)
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run
from attention.session.state.settings import allowed
from attention.session.state.validate import check

RNG = np.random.default_rng(0)


def four_words():
    return check(EXAMPLES["four-words"].build())


def entry(values, name=ALONE, **more) -> ArrayEntry:
    values = np.asarray(values)
    return ArrayEntry(name, values.shape, values.dtype.name, lambda: values, **more)


def brought(**arrays) -> dict[str, SelectedArray]:
    return {role: select(entry(values), role, "it") for role, values in arrays.items()}


def transposed(values, role, name=ALONE) -> SelectedArray:
    return select(entry(values, name), role, "it", Selection(transposed=True))


def refused(act, *arguments) -> str:
    with pytest.raises(BadInput) as problem:
        act(*arguments)
    assert 0 < len(str(problem.value)) <= 300
    return str(problem.value)


# ---- opened -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["<f2", ">f2", "<f4", ">f4", ">f8", "<f8", "<i8", ">i4", "|u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_of_any_type_and_order_becomes_the_same_numbers(dtype, order):
    array = np.asarray((100 * np.abs(RNG.standard_normal((3, 4)))).astype(dtype), order=order)
    buffer = io.BytesIO()
    np.save(buffer, array)
    (found,) = opened("a.npy", buffer.getvalue()).values()
    values = select(found, "X", "a.npy").values
    assert values.dtype == np.float64
    assert [[float(v) for v in row] for row in array] == values.tolist()


def safetensors(tensors: dict[str, np.ndarray], kind: str = "F32") -> bytes:
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + len(raw)],
        }
        body += raw
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def test_bfloat16_becomes_the_same_numbers():
    ml_dtypes = pytest.importorskip(
        "ml_dtypes", reason="the package ml_dtypes is not installed (tests/requirements.txt)"
    )
    array = RNG.standard_normal((3, 4)).astype(ml_dtypes.bfloat16)
    found = opened("m.safetensors", safetensors({"X": array}, "BF16"))
    assert select(found["X"], "X", "m").values.tolist() == [
        [float(v) for v in row] for row in array
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 2".encode("utf-16"), messages.UTF_16_TEXT.format(place="a.txt")),
        (b"\xfe\xff\x001", messages.UTF_16_TEXT.format(place="a.txt")),
        (b"1 2\n\xe9 4", messages.NOT_UTF_8_TEXT.format(place="a.txt", position=5, byte="0xe9")),
        (
            bytes(MAX_FILE + 1),
            messages.TOO_MANY_BYTES.format(place="a.txt", found="8,388,609", limit="8,388,608")
            + messages.LINES_FOR_WORDS,
        ),
        (b"", messages.EMPTY_TEXT.format(place="a.txt")),
        (b"PK\x03\x04", messages.DAMAGED_ZIP.format(place="a.txt")),
        (b"\x93NUMPY\x09\x00", messages.UNKNOWN_NPY_VERSION.format(place="a.txt", version="0900")),
    ],
)
def test_a_file_that_cannot_be_opened_is_explained(content, message):
    assert refused(opened, "folder/a.txt", content) == message


def test_a_byte_order_mark_of_utf_8_does_no_harm():
    (found,) = opened("a.txt", b"\xef\xbb\xbf1 2\n3 4").values()
    assert found.read().tolist() == [[1, 2], [3, 4]]


# ---- take ---------------------------------------------------------------------------------------


WORDS = "cat 1 2\ndog 3 4\nCatalogue 5 6\ncat 7 8\n, 9 0\nnew york 0 1\n"


def words(text, cut="") -> SelectedArray:
    return select(texts.entries(WORDS, "it")[ALONE], "X", "it", Selection(words=text, cut=cut))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", [0, 1, 2, 3, 4, 5]),
        ("dog cat", [1, 0]),
        ("dog, dog,cat,", [1, 1, 0]),
        ("Catalogue", [2]),
        (",", [4]),
        ("dog ,", [1, 4]),
        ("new york", [5]),
        ("new york, dog", [5, 1]),
    ],
)
def test_words_are_taken_in_the_order_typed_as_often_as_typed(text, rows):
    numbers = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 0], [0, 1]]
    labels = ["cat", "dog", "Catalogue", "cat", ",", "new york"]
    found = words(text)
    assert found.values.tolist() == [numbers[k] for k in rows]
    assert found.tokens == tuple(labels[k] for k in rows)


def test_a_label_with_spaces_around_it_may_be_typed_without_them():
    labelled = texts.entries('" the",1,2\n"cat ",3,4\n"cat",5,6\n', "it")[ALONE]
    found = select(labelled, "X", "it", Selection(words="the cat"))
    assert (found.tokens, found.values.tolist()) == ((" the", "cat"), [[1, 2], [5, 6]])
    message = messages.NEAR_WORDS.format(place="it", word="c", near="cat")
    assert refused(select, labelled, "X", "it", Selection(words="c")) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dog cow", messages.NO_SUCH_WORD.format(place="it", word="cow")),
        ("ca", messages.NEAR_WORDS.format(place="it", word="ca", near="cat, Catalogue")),
        ("x" * 99, messages.NO_SUCH_WORD.format(place="it", word=f"{'x' * 11}…{'x' * 12}")),
    ],
)
def test_a_word_that_is_not_there_is_answered_with_near_ones(text, message):
    assert refused(words, text) == message


def test_of_more_words_than_fit_the_wanted_ones_are_asked_for():
    text = "".join(f"w{k} {k} 1\n" for k in range(513))
    found = texts.entries(text, "it")[ALONE]
    assert refused(select, found, "X", "it") == messages.TOO_MANY_WORDS.format(
        place="it", words=513, limit=512
    )
    assert select(found, "X", "it", Selection(words="w512 w0")).values.tolist() == [
        [512, 1],
        [0, 1],
    ]


CUBE = RNG.standard_normal((2, 3, 4))


@pytest.mark.parametrize(
    ("cut", "wanted"),
    [
        ("0", CUBE[0]),
        ("1, :, 1:3", CUBE[1, :, 1:3]),
        ("[:, 2]", CUBE[:, 2]),
        (":,1:", CUBE[:, 1:]),
        ("1,:2", CUBE[1, :2]),
    ],
)
def test_a_slice_is_numpys(cut, wanted):
    found = select(entry(CUBE), "X", "it", Selection(cut=cut))
    assert found.values.tobytes() == np.ascontiguousarray(wanted).tobytes()


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        ("0,0,0,0", messages.SLICE_OF_MORE_AXES.format(place="it", axes=3, cut="0,0,0,0", parts=4)),
        ("2", messages.SLICE_OUTSIDE.format(part=2, place="it", size="2 × 3 × 4")),
        ("0, 1:9", messages.SLICE_OUTSIDE.format(part="1:9", place="it", size="2 × 3 × 4")),
        ("0, 2:2", messages.SLICE_OUTSIDE.format(part="2:2", place="it", size="2 × 3 × 4")),
        ("-1", messages.NOT_A_SLICE.format(part="-1")),
        ("::2", messages.NOT_A_SLICE.format(part="::2")),
        (
            "0,0",
            messages.RESHAPE_TO_ROWS.format(place="it", size=messages.ONE_AXIS.format(count=4)),
        ),
        (
            "0,0,0",
            messages.AXES_OR_BATCH_EXPECTED.format(place="it", size="one number", role="X"),
        ),
    ],
)
def test_a_slice_that_is_not_there_is_explained(cut, message):
    assert refused(select, entry(CUBE), "X", "it", Selection(cut=cut)) == message


def test_what_does_not_have_the_axes_of_its_role_is_refused():
    four = entry(np.ones((1, 1, 2, 2)), "W")
    message = messages.AXES_OR_BATCH_EXPECTED.format(place="it, W", size="1 × 1 × 2 × 2", role="Q")
    assert refused(select, four, "Q", "it") == message
    message = messages.AXES_EXPECTED.format(place="it", size="2 × 3 × 4", role="W_Q")
    assert refused(select, entry(CUBE), "W_Q", "it") == message
    message = messages.AXES_EXPECTED.format(place="it", size="0 × 3", role="W_Q")
    assert refused(select, entry(np.ones((0, 3))), "W_Q", "it") == message
    message = messages.AXES_EXPECTED.format(place="it", size="2 × 3 × 4", role="mask")
    assert refused(select, entry(CUBE > 0), "mask", "it") == message


@pytest.mark.parametrize("role", [role for role in ROLES if role != "mask"])
def test_bool_is_a_mask_and_nothing_else(role):
    message = messages.BOOL_IS_A_MASK.format(place="it", role=role)
    assert refused(select, entry(np.eye(2, dtype=bool)), role, "it") == message


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.nan, "nan"),
        (np.inf, "inf"),
        (-np.inf, "-inf"),
        (1e13, "1e+13"),
        (1234567890123.5, "1234567890123.5"),
        (9007199254740993, "9007199254740993"),
    ],
)
def test_a_number_that_is_none_or_too_large_is_located(value, shown):
    for shape, at, spot in (
        ((2, 3), (1, 2), "row 2, column 3"),
        ((2, 2, 2), (1, 0, 1), "block 2, row 1, column 2"),
    ):
        values = np.zeros(shape, np.array(value).dtype)
        values[at] = value
        message = messages.NUMBER_TOO_LARGE.format(place=f"it, T, {spot}", found=shown)
        assert refused(select, entry(values, "T"), "X", "it") == message


# ---- masks --------------------------------------------------------------------------------------


SEEN = np.tril(np.ones((4, 4), bool))


@pytest.mark.parametrize(
    ("values", "means", "said"),
    [
        (SEEN, "may look", messages.MASK_MEANS.format(true_means="may look")),
        (~SEEN, "hide", messages.MASK_MEANS.format(true_means="hide")),
        (SEEN.astype("f4"), "may look", messages.MASK_MEANS.format(true_means="may look")),
        ((~SEEN).astype("i8"), "hide", messages.MASK_MEANS.format(true_means="hide")),
        (np.where(SEEN, 0, -np.inf), "may look", messages.MASK_IS_ADDED),
        (np.where(SEEN, 0, -np.inf), "hide", messages.MASK_IS_ADDED),
    ],
)
def test_a_mask_in_either_polarity_lets_the_same_pairs_look(values, means, said):
    mask = select(entry(values), "mask", "it", Selection(true_means=means))
    before = set_mask(four_words(), "none")
    s, remarks = adopt(before, {"mask": mask})
    assert np.array_equal(allowed(s), SEEN)
    assert remarks == [messages.NOW_ON_THE_BOARD.format(inputs="mask (4 × 4)"), said]
    trace = run(before)
    expected = oracle.attend(trace.Q, trace.K, trace.V, allowed=SEEN)
    np.testing.assert_allclose(np.squeeze(run(s).weights), expected["weights"], rtol=1e-12)
    assert before.mask == "none"


def test_a_mask_that_is_the_same_for_every_item_and_head_is_one():
    mask = select(entry(np.broadcast_to(SEEN, (2, 3, 4, 4))), "mask", "it")
    assert np.array_equal(mask.values, SEEN)


def test_a_mask_of_other_numbers_is_refused():
    message = messages.MASK_NOT_TRUTH.format(place="it", row=1, column=2, value="0.50")
    assert refused(select, entry([[1, 0.5], [0, 1]]), "mask", "it") == message
    message = messages.MASK_SIZE.format(size="3 × 4", queries=4, keys=4)
    assert refused(adopt, four_words(), brought(mask=np.ones((3, 4)))) == message


# ---- use: X and weights -------------------------------------------------------------------------


def normal(*shape) -> np.ndarray:
    return RNG.standard_normal(shape)


def test_embeddings_bring_their_tokens_and_the_rest_stays():
    before = four_words()
    found = texts.entries("cat 1 2 3 4\ndog 5 6 7 8", "it")[ALONE]
    s, remarks = adopt(before, {"X": select(found, "X", "it")})
    assert s.tokens == ("cat", "dog")
    assert s.matrices["X"].values.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    for name in ("W_Q", "W_K", "W_V"):
        assert np.array_equal(s.matrices[name].values, before.matrices[name].values)
    assert remarks == [messages.NOW_ON_THE_BOARD.format(inputs="X (2 × 4)")]
    assert before == four_words()


def test_weights_that_do_not_fit_are_rolled_anew_and_that_is_said():
    s, remarks = adopt(four_words(), brought(X=normal(5, 3)))
    assert s.tokens == ("w1", "w2", "w3", "w4", "w5")
    assert [s.shape(name) for name in ("W_Q", "W_K", "W_V")] == [(3, 4)] * 3
    assert all(s.matrices[name].is_rolled for name in ("W_Q", "W_K", "W_V"))
    assert remarks == [
        messages.NOW_ON_THE_BOARD.format(inputs="X (5 × 3)"),
        messages.ROLLED_ANEW.format(names="W_Q, W_K and W_V are", d_model=3),
    ]


def test_brought_weights_bring_their_partner_to_the_same_width():
    W_Q = normal(4, 2)
    before = four_words()
    s, remarks = adopt(before, brought(W_Q=W_Q))
    assert s.matrices["W_Q"].values.tolist() == W_Q.tolist()
    assert s.matrices["W_K"].values.tolist() == before.matrices["W_K"].values[:, :2].tolist()
    assert s.matrices["W_V"] is before.matrices["W_V"]
    assert remarks == [
        messages.NOW_ON_THE_BOARD.format(inputs="W_Q (4 × 2)"),
        messages.READ_AS_D_IN_D_OUT.format(name="W_Q", rows=4, columns=2, note=""),
        messages.FITTED_TO_COLUMNS.format(names="W_K is", columns=2),
    ]


def test_all_brought_together_give_the_packages_attention():
    X, W_Q, W_K, W_V, W_O = normal(5, 6), normal(6, 4), normal(6, 4), normal(6, 8), normal(8, 3)
    start = replace(four_words(), heads=2)
    s, _ = adopt(start, brought(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V.T, W_O=W_O, mask=causal(5, 5)))
    expected = self_attention(X, W_Q, W_K, W_V, heads=2, W_O=W_O, allowed=causal(5, 5))
    np.testing.assert_array_equal(run(s).projected, expected.projected)
    assert (s.heads, s.example) == (2, "own")


def test_a_batch_of_embeddings_is_attended_item_by_item():
    X = normal(3, 2, 4)
    s, _ = adopt(four_words(), brought(X=X))
    for k, item in enumerate(X):
        alone, _ = adopt(four_words(), brought(X=item))
        np.testing.assert_allclose(
            run(s).output[k], run(alone).output.reshape(run(s).output[k].shape), rtol=1e-12
        )


def test_a_second_sequence_comes_beside_the_first_and_goes_where_it_does_not_fit():
    before = four_words()
    s, _ = adopt(before, brought(memory=normal(2, 4)))
    assert (s.tokens, s.memory_tokens) == (before.tokens, ("k1", "k2"))
    assert s.matrices["X"] is before.matrices["X"]
    again, remarks = adopt(s, brought(X=normal(2, 3)))
    assert again.memory_tokens == () and "memory" not in again.matrices
    assert messages.SECOND_DOES_NOT_FIT in remarks
    kept, remarks = adopt(s, brought(X=normal(3, 4)))
    assert kept.matrices["memory"] is s.matrices["memory"]
    assert remarks == [messages.NOW_ON_THE_BOARD.format(inputs="X (3 × 4)")]


def test_what_no_longer_fits_is_taken_away_and_that_is_said():
    s = replace(set_output_weights(four_words(), True), heads=4, padding=(3,))
    s = check(set_mask(s, "drawn"))
    new, remarks = adopt(s, brought(X=normal(2, 4), W_V=normal(4, 3)))
    assert (new.heads, new.mask, new.drawn, new.padding) == (1, "none", (), ())
    assert "W_O" not in new.matrices
    assert remarks[2:] == [
        messages.W_O_DOES_NOT_FIT,
        messages.HEADS_CANNOT_SHARE.format(heads=4),
        messages.PADDING_TAKEN_AWAY,
        messages.DRAWN_MASK_TAKEN_AWAY,
    ]


def test_a_square_weight_is_read_as_it_is_unless_transposed():
    W = normal(4, 4)
    s, remarks = adopt(four_words(), brought(W_Q=W))
    assert s.matrices["W_Q"].values.tolist() == W.tolist()
    assert remarks[1].endswith(messages.BOTH_WAYS_FIT)
    s, remarks = adopt(four_words(), {"W_Q": transposed(W, "W_Q")})
    assert s.matrices["W_Q"].values.tolist() == W.T.tolist()
    assert remarks[1] == messages.WAS_TRANSPOSED.format(name="W_Q", rows=4, columns=4)


# ---- use: Q, K and V ----------------------------------------------------------------------------


def test_q_k_and_v_together_are_attended_themselves():
    Q, K, V = normal(3, 4), normal(5, 4), normal(5, 2)
    s, remarks = adopt(four_words(), brought(Q=Q, K=K, V=V))
    assert (s.tokens, s.memory_tokens) == (("w1", "w2", "w3"), ("k1", "k2", "k3", "k4", "k5"))
    assert remarks == [messages.NOW_ON_THE_BOARD.format(inputs="Q (3 × 4), K (5 × 4), V (5 × 2)")]
    np.testing.assert_allclose(
        np.squeeze(run(s).output), oracle.attend(Q, K, V)["output"], rtol=1e-12
    )
    other, _ = adopt(s, brought(V=normal(5, 2)))
    assert other.matrices["Q"] is s.matrices["Q"]


def test_labels_of_keys_name_the_second_sequence():
    read = lambda text: texts.entries(text, "it")[ALONE]  # noqa: E731
    found = {"Q": read("a 1 2\nb 3 4"), "K": read("c 1 2\nd 3 4"), "V": read("c 1 2\nd 3 4")}
    s, _ = adopt(four_words(), {name: select(e, name, "it") for name, e in found.items()})
    assert (s.tokens, s.memory_tokens) == (("a", "b"), ("c", "d"))
    found["Q"] = found["K"]
    s, _ = adopt(four_words(), {name: select(e, name, "it") for name, e in found.items()})
    assert (s.tokens, s.memory_tokens) == (("c", "d"), ())


QKV = {"Q": np.ones((2, 3)), "K": np.ones((2, 3)), "V": np.ones((2, 3))}


def typed():
    return adopt(four_words(), brought(**QKV))[0]


REFUSED = {
    "nothing": (four_words, {}, messages.NOTHING_CHOSEN),
    "only Q": (
        four_words,
        {"Q": np.ones((2, 3))},
        messages.QKV_INCOMPLETE.format(names="K and V", verb="are"),
    ),
    "Q and K": (
        four_words,
        {"Q": np.ones((2, 3)), "K": np.ones((2, 3))},
        messages.QKV_INCOMPLETE.format(names="V", verb="is"),
    ),
    "both": (
        four_words,
        QKV | {"X": np.ones((2, 3))},
        messages.COMPUTED_BESIDE_QKV.format(odd="X"),
    ),
    "weights alone": (
        typed,
        {"W_Q": np.ones((2, 3))},
        messages.X_MISSING,
    ),
    "K of another width": (
        four_words,
        QKV | {"K": np.ones((2, 4))},
        messages.SIZE_EXPECTED.format(name="Q", size="2 × 3", wanted="2 × 4"),
    ),
    "V of another length": (
        four_words,
        QKV | {"V": np.ones((3, 3))},
        messages.SIZE_EXPECTED.format(name="V", size="3 × 3", wanted="2 × 3"),
    ),
    "weight": (
        four_words,
        {"W_V": np.ones((3, 5))},
        messages.ADD_THE_OTHERS.format(name="W_V", size="3 × 5", width=4, others="W_Q and W_K"),
    ),
    "two weights": (
        four_words,
        {"W_Q": np.ones((4, 3)), "W_K": np.ones((4, 2))},
        (messages.Q_AND_K_DIFFER.format(q=3, k=2)),
    ),
    "W_O": (
        four_words,
        {"W_O": np.ones((3, 5))},
        messages.SIDE_DOES_NOT_FIT.format(name="W_O", rows=3, columns=5, width=4),
    ),
    "memory": (
        four_words,
        {"memory": np.ones((2, 3))},
        messages.SIZE_EXPECTED.format(name="memory", size="2 × 3", wanted="2 × 4"),
    ),
    "many tokens": (
        four_words,
        {"X": np.ones((513, 4))},
        messages.TOO_MANY_TOKENS.format(found=513, limit=512),
    ),
    "wide": (
        four_words,
        {"X": np.ones((2, 513))},
        messages.COLUMNS_OUT_OF_RANGE.format(name="X", columns=513, most=512),
    ),
    "mask": (
        four_words,
        {"mask": np.ones((4, 5))},
        messages.MASK_SIZE.format(size="4 × 5", queries=4, keys=4),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_explained_and_changes_nothing(case):
    start, arrays, message = REFUSED[case]
    before = start()
    assert refused(adopt, before, brought(**arrays)) == message
    assert before == start()


@pytest.mark.parametrize("label", ['"a\nb"', "a\ufffe", "\uffff"])
def test_a_label_that_cannot_be_a_token_is_refused(label):
    found = texts.entries(f"{label},1,2,3,4\nc,1,2,3,4", "it")[ALONE]
    message = messages.CONTROL_CHARACTER.format(token="token 1")
    assert refused(adopt, four_words(), {"X": select(found, "X", "it")}) == message


# ---- weights out of a model's file --------------------------------------------------------------


D, HEADS = 64, 4


def attended(x, Q, K, V, W_O):
    """The output of a layer in plain loops, head by head."""
    parts = [np.split(np.array(M), HEADS, axis=1) for M in (Q, K, V)]
    joined = np.hstack([oracle.attend(*head)["output"] for head in zip(*parts, strict=True)])
    return oracle.product(joined, W_O)


def layer_in(file: bytes, picks, x):
    """The trace of x through the weights that are chosen out of a .safetensors."""
    found = opened("model.safetensors", file)
    picked = gather(found, picks, "model.safetensors")
    s, _ = adopt(replace(four_words(), mask="none"), brought(X=x) | picked, HEADS)
    return run(check(s))


def test_the_fused_c_attn_of_a_gpt_2_is_taken_in_three_slices():
    """Conv1D keeps (in, out): W_Q, W_K and W_V side by side."""
    save = pytest.importorskip("safetensors.numpy").save
    c_attn, c_proj = normal(D, 3 * D).astype("f4"), normal(D, D).astype("f4")
    file = save({"h.0.attn.c_attn.weight": c_attn, "h.0.attn.c_proj.weight": c_proj})
    picks = {
        role: ("h.0.attn.c_attn.weight", Selection(cut=cut))
        for role, cut in zip(("W_Q", "W_K", "W_V"), thirds((D, 3 * D)), strict=True)
    }
    x = normal(5, D)
    trace = layer_in(file, picks | {"W_O": ("h.0.attn.c_proj.weight", Selection())}, x)
    products = [
        oracle.product(x, c_attn[:, start : start + D].astype("f8")) for start in (0, D, 2 * D)
    ]
    for name, product in zip("QKV", products, strict=True):
        joined = np.hstack(list(getattr(trace, name)))
        np.testing.assert_allclose(joined, product, rtol=1e-12, atol=1e-12)
    wanted = attended(x, *products, c_proj.astype("f8"))
    np.testing.assert_allclose(trace.projected, wanted, rtol=1e-10, atol=1e-12)


def test_weights_of_linears_are_transposed_as_the_user_says():
    """A Linear keeps (out, in), and computes x Wᵀ."""
    names = {"W_Q": "q_proj", "W_K": "k_proj", "W_V": "v_proj", "W_O": "o_proj"}
    tensors = {f"{name}.weight": normal(D, D).astype("f4") for name in names.values()}
    picks = {role: (f"{name}.weight", Selection(transposed=True)) for role, name in names.items()}
    x = normal(5, D)
    trace = layer_in(safetensors(tensors), picks, x)
    Q, K, V = (oracle.product(x, tensors[f"{name}_proj.weight"].T) for name in "qkv")
    wanted = attended(x, Q, K, V, tensors["o_proj.weight"].T)
    np.testing.assert_allclose(trace.projected, wanted, rtol=1e-10, atol=1e-12)


def test_a_fused_linear_is_cut_by_rows_and_then_transposed():
    fused = normal(3 * D, D)
    for role, cut, start in zip("QKV", thirds(fused.shape), (0, D, 2 * D), strict=True):
        asked = Selection(cut=cut, transposed=True)
        found = select(entry(fused), f"W_{role}", "it", asked).values
        assert np.array_equal(found, fused[start : start + D].T)


def test_a_transposed_weight_is_not_turned_back_to_fit():
    message = messages.ROWS_NEEDED.format(role="W_Q", size="3 × 4", rows=4, giver="X")
    wide = brought(X=normal(2, 4)) | {"W_Q": transposed(np.ones((4, 3)), "W_Q")}
    assert refused(adopt, four_words(), wide) == message
    message = messages.ROWS_NEEDED.format(role="W_O", size="3 × 4", rows=4, giver="W_V")
    W_O = {"W_O": transposed(np.ones((4, 3)), "W_O")}
    assert refused(adopt, four_words(), W_O) == message


def test_a_real_safetensors_file_is_the_same():
    package = pytest.importorskip(
        "safetensors.numpy", reason="the package safetensors is not installed"
    )
    tensors = {f"layer.{name}": normal(6, 8).astype("f4") for name in ("weight", "bias", "other")}
    found = opened("m.safetensors", package.save(tensors))
    assert set(found) == set(tensors)
    for name, array in tensors.items():
        assert found[name].read().tobytes() == array.tobytes()


def three(d_model: int) -> dict[str, SelectedArray]:
    """W_Q, W_K and W_V of Linears that take so many numbers in."""
    return {role: transposed(normal(6, d_model), role) for role in ("W_Q", "W_K", "W_V")}


def test_weights_of_a_model_alone_get_embeddings_as_wide_as_they_take_in():
    cat = EXAMPLES["cat-sat"].build()
    told = messages.DRAWN_ANEW.format(names="X is drawn", width=16)
    weights = three(16)
    s, remarks = adopt(cat, weights)
    assert (s.tokens, s.example) == (cat.tokens, "own")
    drawn = cat.matrices["X"].recipe.fill((6, 16), cat.rows_of("X"))
    np.testing.assert_array_equal(s.matrices["X"].values, drawn)
    for name, weight in weights.items():
        np.testing.assert_array_equal(s.matrices[name].values, weight.values)
    assert remarks[1] == told
    assert adopt(s, weights)[1][1] == (  # they fit now
        messages.X_IS_DRAWN.format(width=16)
    )
    both, remarks = adopt(set_memory(cat, True), weights)
    assert both.shape("memory") == (6, 16) and both.shape("X") == (6, 16)
    assert remarks[1] == messages.DRAWN_ANEW.format(names="X and Y are drawn", width=16)


def test_a_weight_of_another_width_asks_for_those_beside_it():
    others = {"W_Q": "W_K and W_V", "W_V": "W_Q and W_K"}
    for role, missing in others.items():
        message = messages.ADD_THE_OTHERS.format(name=role, size="9 × 6", width=4, others=missing)
        assert refused(adopt, four_words(), {role: transposed(normal(6, 9), role)}) == message


def test_three_weights_alone_are_turned_alike():
    weights = {"W_Q": normal(8, 5), "W_K": normal(8, 5), "W_V": normal(5, 5)}
    s, _ = adopt(four_words(), brought(**weights))
    assert [s.shape(name) for name in ("X", *weights)] == [(4, 5), (5, 8), (5, 8), (5, 5)]


def test_weights_over_typed_qkv_and_over_a_batch_get_embeddings_by_word():
    typed = check(EXAMPLES["random-qkv"].build())
    s, remarks = adopt(typed, three(5))
    assert (s.tokens, s.shape("X"), s.typed_qkv) == (typed.tokens, (4, 5), False)
    assert messages.QKV_GIVE_WAY in remarks
    batch, _ = adopt(four_words(), brought(X=normal(3, 2, 4)))
    s, remarks = adopt(batch, three(5))
    assert (s.batch, s.shape("X")) == (0, (2, 5))
    assert messages.BATCH_ENDS.format(item=0) in remarks


def test_weights_wider_than_the_board_name_what_records_the_layer():
    one = transposed(np.zeros((8, 768)), "W_Q")
    message = messages.WEIGHTS_TOO_WIDE.format(what="the weights have 768 inputs", limit=512)
    assert refused(adopt, four_words(), dict.fromkeys(("W_Q", "W_K", "W_V"), one)) == message


# ---- what an array most likely is ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["Wq", "W_Q"])
def test_a_weight_of_one_axis_is_refused_by_its_name(name):
    content = io.BytesIO()
    np.savez(content, **{name: np.ones(4), "Wk": np.ones((4, 4)), "Wv": np.ones((4, 4))})
    found = opened("a.npz", content.getvalue())
    picks = picks_of(found, "weights")
    assert (picks["W_Q"], picks["W_K"]) == (name, "Wk")
    message = messages.RESHAPE_TO_ROWS.format(
        place=f"a.npz, {name}", size=messages.ONE_AXIS.format(count=4)
    )
    assert refused(gather, found, {"W_Q": (name, Selection())}, "a.npz") == message


@pytest.mark.parametrize("name", ["mask", "memory"])
def test_a_mask_of_one_axis_is_left_out(name):
    content = io.BytesIO()
    weights = {name: np.ones((4, 4)) for name in ("W_Q", "W_K", "W_V")}
    np.savez(content, X=np.ones((3, 4)), **weights, **{name: np.array([1, 1, 0])})
    found = opened("a.npz", content.getvalue())
    picks = picks_of(found, family_of(found))
    assert (picks["X"], picks["W_V"], picks[name]) == ("X", "W_V", None)
    chosen = {role: (name, Selection()) for role, name in picks.items() if name}
    assert gather(found, chosen, "a.npz")["X"].values.shape == (3, 4)


def test_a_weight_with_two_axes_comes_before_one_with_one():
    found = {"W_Q": entry(np.ones(4), "W_Q"), "wq": entry(np.ones((4, 4)), "wq")}
    assert picks_of(found, "weights")["W_Q"] == "wq"


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("W_K", np.ones((2, 2)), "W_K"),
        ("wk", np.ones((2, 2)), "W_K"),
        ("h.0.attn.c_proj.weight", np.ones((2, 2)), "X"),
        ("anything", np.ones((2, 2)), "X"),
        ("X", np.eye(2, dtype=bool), "mask"),
        ("numbers", np.array([[0, -np.inf], [0, 0]]), "mask"),
        ("memory", np.ones((2, 2)), "memory"),
    ],
)
def test_a_single_array_is_guessed_by_its_name(name, values, role):
    assert adopting.likely(name, entry(values, name), four_words()) == role
    assert adopting.likely("anything", entry(np.ones((2, 2))), typed()) == "Q"


def test_x_with_tokens_as_columns_is_told_to_be_transposed():
    weights = {name: np.ones((4, 2)) for name in ("W_Q", "W_K", "W_V")}
    with pytest.raises(BadInput) as refused:
        adopting.adopt(four_words(), brought(X=np.ones((4, 3)), **weights))
    assert str(refused.value) == messages.TOKENS_ARE_COLUMNS.format(shape="4 × 3", width=4)
    turned = select(entry(np.arange(12.0).reshape(4, 3)), "X", "it", Selection(transposed=True))
    s, _ = adopting.adopt(four_words(), brought(**weights) | {"X": turned})
    assert s.matrices["X"].values.tolist() == np.arange(12.0).reshape(4, 3).T.tolist()


def test_q_k_and_v_by_name_are_that_family():
    def family(names):
        return dict.fromkeys(names, entry(np.eye(3)))

    assert adopting.family_of(family(["Q", "K", "V"])) == "qkv"
    assert adopting.family_of(family(["X", "Q", "K", "V"])) == "weights"
    assert adopting.family_of(family(["W_Q"])) == "weights"
    found = {name: entry(np.eye(2), name) for name in ("q", "k", "v")}
    assert picks_of(found, "qkv") == {"Q": "q", "K": "k", "V": "v", "W_O": None, "mask": None}


def test_a_second_sequence_that_is_typed_keeps_the_first():
    s, _ = adopt(set_memory(four_words(), True), brought(memory=[[1, 2, 3, 4], [5, 6, 7, 8]]))
    assert (len(s.tokens), len(s.memory_tokens)) == (4, 2)
    assert s.matrices["X"] == four_words().matrices["X"]
    assert isinstance(s.matrices["memory"], Matrix)


# ---- what was once misread ----------------------------------------------------------------------


def test_heads_in_an_axis_of_their_own_stand_beside_each_other_afterwards():
    Q, K, V = normal(2, 3, 4), normal(2, 3, 4), normal(2, 3, 5)
    picks = {
        role: select(entry(M, role), role, "it", Selection(axis="heads"))
        for role, M in zip("QKV", (Q, K, V), strict=True)
    }
    s, _ = adopt(four_words(), picks)
    assert (s.heads, s.batch, s.d_k, s.d_v) == (2, 0, 4, 5)
    for h in range(2):
        one, _ = adopt(four_words(), brought(Q=Q[h], K=K[h], V=V[h]))
        assert np.array_equal(run(s).output[h], run(one).output)
    batch, remarks = adopt(
        four_words(),
        {
            role: select(entry(M, role), role, "it")
            for role, M in zip("QKV", (Q, K, V), strict=True)
        },
    )
    assert (batch.heads, batch.batch) == (1, 2)
    assert messages.TAKEN_AS_BATCH.format(role="Q", items=2) in remarks


@pytest.mark.parametrize(
    "example", [name for name in few(EXAMPLES) if not EXAMPLES[name].build().parts]
)
def test_what_this_page_saves_as_npz_is_the_same_attention_again(example):
    s = EXAMPLES[example].build()
    found = opened("a.npz", to_npz(run(s), tokens=s.tokens, key_tokens=s.memory_tokens))
    family, axis = family_of(found), axis_of(found)
    picks = {
        role: (name, Selection(axis=axis)) for role, name in picks_of(found, family).items() if name
    }
    again, _ = adopt(
        EXAMPLES["four-words"].build(), gather(found, picks, "it"), heads=int(found["heads"].read())
    )
    assert again.tokens == s.tokens and again.heads == s.heads
    ours, theirs = (
        run(replace(again, scale=s.scale, softmax=s.softmax)),
        run(replace(s, fill="-inf")),
    )
    if s.fill == "-inf":
        assert np.array_equal(ours.output, theirs.output)
    assert np.array_equal(ours.Q, theirs.Q) and np.array_equal(ours.V, theirs.V)


def test_labels_follow_a_slice():
    e = entry(normal(2, 3, 4), "X", rows=("a", "b", "c"))
    assert select(e, "X", "it", Selection(cut="0, 0:2")).tokens == ("a", "b")
    assert select(e, "X", "it", Selection(cut="1, 1:, :2")).tokens == ("b", "c")
    assert select(e, "X", "it", Selection(cut="1")).tokens == ("a", "b", "c")
    assert select(e, "X", "it", Selection(cut=":, 0")).tokens == ()


def test_embeddings_over_a_typed_second_sequence_end_it_and_say_so():
    crossed, _ = adopt(four_words(), brought(Q=normal(2, 4), K=normal(3, 4), V=normal(3, 4)))
    assert crossed.memory_tokens
    s, remarks = adopt(crossed, brought(X=normal(4, 4)))
    assert s.memory_tokens == ()
    assert messages.SECOND_WITHOUT_EMBEDDINGS in remarks


def test_padding_goes_with_the_keys_it_hid():
    s = replace(four_words(), padding=(3,))
    for new in ({"X": normal(6, 4)}, {"mask": np.ones((4, 4), bool)}):
        again, remarks = adopt(s, brought(**new))
        assert again.padding == ()
        assert messages.PADDING_TAKEN_AWAY in remarks
    again, _ = adopt(s, brought(W_V=normal(4, 4)))
    assert again.padding == (3,)


def test_the_window_ends_with_the_mask_that_is_brought():
    s = check(replace(four_words(), window=1))
    again, remarks = adopt(s, brought(mask=np.tri(4) == 1))
    assert allowed(again).tolist() == np.tri(4, dtype=bool).tolist() and again.window == 0
    assert messages.WINDOW_REPLACED in remarks


@pytest.mark.parametrize(
    ("name", "shape", "heads", "widths"),
    [
        ("X", (3, 6), None, (2, 1, 2, 2)),
        ("W_Q", (4, 6), None, (2, 1, 3, 2)),
        ("W_K", (4, 3), None, (2, 1, 3, 2)),
        ("W_Q", (4, 5), None, (1, 1, 5, 2)),
        ("W_Q", (4, 6), 1, (1, 1, 6, 4)),
        ("X", (3, 6), 4, (4, 4, 1, 1)),
    ],
)
def test_heads_go_on_sharing_keys_where_they_can(name, shape, heads, widths):
    shared = check(set_kv_heads(set_heads(four_words(), 2), 1))
    s, remarks = adopt(shared, brought(**{name: normal(*shape)}), heads)
    assert (s.heads, s.kv_heads, s.d_k, s.d_v) == widths
    assert (messages.HEADS_NO_LONGER_GROUPED in remarks) == (widths[1] > 1)


def test_words_that_stay_over_new_numbers_are_said():
    _, remarks = adopt(four_words(), brought(X=normal(4, 4)))
    assert messages.ROWS_WITHOUT_WORDS in remarks


def test_no_array_is_chosen_by_a_models_name_for_it():
    names = ["layers.0.self_attn.q_proj.weight", "h.0.attn.c_attn.weight", "key", "query.weight"]
    found = {name: entry(normal(4, 4), name) for name in names}
    assert family_of(found) == "weights" and set(picks_of(found, "weights").values()) == {None}


def test_a_batch_that_no_file_could_hold_is_refused():
    message = messages.TOO_MANY_SEQUENCES.format(batch=65, limit=64)
    assert refused(adopt, four_words(), brought(X=normal(65, 3, 4))) == message
    wide = {"X": normal(64, 60, 512)} | {name: normal(512, 8) for name in ("W_Q", "W_K", "W_V")}
    message = messages.MATRICES_TOO_LARGE.format(found="1,978,368", limit="1,572,864")
    assert refused(adopt, four_words(), brought(**wide)) == message


def test_a_word_that_stands_there_twice_is_taken_row_by_row():
    e = texts.entries("the 1 2\ncat 3 4\nthe 5 6", "it")[ALONE]
    assert select(e, "X", "it", Selection(words="the cat the the")).values.tolist() == [
        [1, 2],
        [3, 4],
        [5, 6],
        [5, 6],
    ]
    assert select(e, "X", "it", Selection(words="the")).values.tolist() == [[1, 2]]


def test_a_label_of_several_words_is_one_word():
    e = texts.entries("New York,1,2\nNew,3,4\nYork,5,6", "it")[ALONE]
    assert select(e, "X", "it", Selection(words="New York")).values.tolist() == [[1, 2]]
    assert select(e, "X", "it", Selection(words="New York, York")).values.tolist() == [
        [1, 2],
        [5, 6],
    ]


@pytest.mark.parametrize(("keys", "heads_of_keys"), [(4, 2), (2, 1)])
def test_queries_and_keys_alone_leave_the_width_of_the_values_where_heads_share_them(
    keys, heads_of_keys
):
    s = set_kv_heads(EXAMPLES["sentence"].build(), 1)
    W_Q, W_K = np.ones((5, 4)), np.eye(5, keys)
    found, said = adopt(s, {"W_Q": SelectedArray(W_Q), "W_K": SelectedArray(W_K)})
    assert (found.heads, found.kv_heads, found.d_v) == (2, heads_of_keys, s.d_v)
    assert (found.matrices["W_V"].values[:, :2] == s.matrices["W_V"].values).all()
    own = messages.HEADS_NO_LONGER_GROUPED in said
    assert own == (heads_of_keys == 2)
