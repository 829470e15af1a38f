"""The inputs and answers of Check yours: read, refused, and handed to the search."""

import re
from dataclasses import replace

import messages
import numpy as np
import pytest
from files import npy, stored, torn

from attention import RMSNorm, Rotary, self_attention
from attention.frameworks.diagnosis.mistakes import BY_NAME, MISTAKES
from attention.frameworks.precision import Written, printed
from attention.limits import BadInput
from attention.readers.cells.entry import ALONE
from attention.readers.files import array_files
from attention.readers.texts import texts
from attention.session.compare import check_yours as inputs
from attention.session.edit.changes import set_mask
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run
from attention.session.state.validate import check

USUAL = {"mask": "none", "true_means": "may look", "heads": 1, "kv_heads": None, "softcap": None}


BUILT = {name: example.build() for name, example in EXAMPLES.items()}
WITH_SOFTMAX = [name for name, s in BUILT.items() if s.softmax and not s.sinks]


def bench(example="four-words", mask="none"):
    return inputs.bench_of(inputs.from_settings(set_mask(EXAMPLES[example].build(), mask)))


@pytest.mark.parametrize("example", WITH_SOFTMAX)
def test_explores_inputs_give_explores_output(example):
    settings = EXAMPLES[example].build()
    trace = run(settings)
    expected = trace.projected if trace.projected is not None else trace.joined
    expected = expected[settings.item] if settings.batch else expected
    right = bench(example, settings.mask).right["output"]
    seen = ~trace.hidden_rows if settings.fill == "-inf" else inputs.allowed(settings).any(axis=-1)
    rows = seen[settings.item] if settings.batch and seen.ndim > 1 else seen
    rows = rows[0] if rows.ndim > 1 else rows  # −1e9 fills rows that see no key: there ours is 0
    np.testing.assert_allclose(right[rows], expected[rows], rtol=1e-12, atol=1e-14)
    there = bench(example, settings.mask)
    assert inputs.explain(there, {"output": str(there.right["output"].tolist())}).correct


@pytest.mark.parametrize("name", ["output", "weights"])
@pytest.mark.parametrize("example", ["random-qkv", "sentence"])
def test_a_planted_mistake_is_written_in_full_and_found_from_its_text(example, name):
    there = bench(example, "causal")
    for mistake in there.applicable:
        written = re.findall(r"[^\s,\[\]]+", inputs.planted(there, mistake, name))
        expected = there.run((mistake,))[name].ravel()
        assert np.array_equal([float(n) for n in written], expected, equal_nan=True), mistake
    unscaled = BY_NAME["scale: none"]
    found = inputs.explain(there, {name: inputs.planted(there, unscaled, name)})
    assert [e.mistakes for e in found.explanations] == [(unscaled,)]


def test_right_numbers_as_numpy_prints_them_are_right():
    there = bench("random-qkv", "causal")
    for way in (str, repr):
        found = inputs.explain(there, {"output": way(there.right["output"])})
        assert found.correct
        assert found.explanations[0].digits in (8, 9)


def test_several_heads_of_weights_are_read_as_numpy_prints_them():
    there = bench("sentence")
    assert inputs.explain(there, {"weights": str(there.right["weights"])}).correct
    assert inputs.explain(there, {"weights": str(there.right["weights"].tolist())}).correct


@pytest.mark.parametrize("text", ["{:.4f}", "{:.4e}"])
def test_inputs_pasted_as_they_were_printed_count_as_rounded(text):
    exact = np.random.default_rng(0).normal(size=(3, 6, 4))
    shares = np.exp(exact[0] @ exact[1].T / 2)
    output = shares / shares.sum(axis=1, keepdims=True) @ exact[2]

    def typed(M):
        return "\n".join(" ".join(text.format(number) for number in row) for row in M)

    there = inputs.bench_of(
        inputs.pasted(
            "qkv", {name: typed(M) for name, M in zip("QKV", exact, strict=True)}, **USUAL
        )
    )
    found = inputs.explain(there, {"output": typed(output), "weights": ""})
    assert found.correct and "print them with M.tolist()" in found.details[0], str(found)
    wrong = shares**1.02 / (shares**1.02).sum(axis=1, keepdims=True) @ exact[2]
    assert not inputs.explain(there, {"output": typed(wrong), "weights": ""}).explanations
    in_full = {name: str(M.tolist()) for name, M in zip("QKV", exact, strict=True)}
    there = inputs.bench_of(inputs.pasted("qkv", in_full, **USUAL))
    assert there.given.rounded == {}


PRINTED = "0.1235 0.5000\n0.2500 0.1250\n0.3333 1.0000"


@pytest.mark.parametrize(
    ("filename", "content", "text"),
    [
        ("Q.txt", PRINTED, PRINTED),
        ("Q.csv", PRINTED.replace(" ", ","), PRINTED),
        ("Q.json", '{"K": [[1, 2]], "Q": [[0.5000, 0.1250], [1.0000, -0.0000]]}', None),
        ("Q.txt", "1.2350e-01 5.0000e-01", "1.2350e-01 5.0000e-01"),
        ("Q.txt", "0,1235\t0,5000\n0,2500\t0,1250", "0.1235 0.5000\n0.2500 0.1250"),
        ("Q.txt", "0.1235 nan\n-inf 0.5000", "0.1235 nan\n-inf 0.5000"),
        ("Q.txt", "0.12 0.50\n0.25 0.13", "0.12 0.5\n0.25 0.13"),
        ("Q.txt", "[[1.0000, 0.5000], [2.0000, 0.2500]]", "1.0000 0.5000\n2.0000 0.2500"),
    ],
)
def test_an_uploaded_text_keeps_the_decimals_it_was_printed_with(filename, content, text):
    """In the box it counts as rounded just as the same text does when it is pasted."""
    box = inputs.from_file(filename, content.encode(), "Q")
    assert text in (None, box)
    read = [inputs._array(each, "Q", "Q").read() for each in (content, box)]
    np.testing.assert_array_equal(*read)
    assert printed(box, read[0]) == printed(content, read[0])


def test_an_uploaded_array_of_short_numbers_is_written_in_full():
    array = np.array([[0.125, 0.5], [0.25, 1.0]])
    assert inputs.from_file("a.npy", npy(array), "output") == "0.125 0.5\n0.25 1"


def test_inputs_from_explore_are_exact_whatever_their_decimals():
    assert bench("random-qkv").given.rounded == {}


def test_output_and_weights_may_have_decimals_of_their_own():
    there = bench("random-qkv", "causal")
    output, weights = there.right["output"], there.right["weights"]
    typed = {"output": str(output.round(6)), "weights": str(weights.round(2))}
    assert inputs.explain(there, typed).correct


def test_nan_is_a_number_in_an_answer():
    there = bench("random-qkv", "causal")
    output = there.right["output"].copy()
    output[1] = np.nan
    assert inputs.explain(there, {"output": str(output)}).explanations == ()


def test_pasted_inputs_are_those_of_explore():
    X, *W = (m.values for m in EXAMPLES["four-words"].build().matrices.values())
    texts = {
        name: str(M.tolist()) for name, M in zip(("X", "W_Q", "W_K", "W_V"), (X, *W), strict=True)
    }
    there = inputs.bench_of(inputs.pasted("weights", texts, **USUAL))
    np.testing.assert_allclose(there.right["output"], self_attention(X, *W).output, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "true_means"),
    [
        ("1 0\n1 1", "may look"),
        ("False True\nFalse False", "hide"),
        ("[[0, 1], [0, 0]]", "hide"),
        ("[[0., -inf], [0, 0]]", "hide"),
        ("true false; true true", "may look"),
    ],
)
def test_a_pasted_mask_is_read_in_its_own_polarity(text, true_means):
    texts = {"Q": "1\n2", "K": "1\n2", "V": "1\n2", "mask": text}
    given = inputs.pasted("qkv", texts, **USUAL | {"mask": "pasted", "true_means": true_means})
    assert given["allowed"].tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ({}, {}, messages.EMPTY_TEXT.format(place="Q")),
        (
            {"Q": "1 x", "K": "1", "V": "1"},
            {},
            messages.NOT_A_NUMBER.format(place="Q, line 1, column 2", found="x"),
        ),
        (
            {"Q": "nan", "K": "1", "V": "1"},
            {},
            messages.NUMBER_TOO_LARGE.format(place="Q, row 1, column 1", found="nan"),
        ),
        (
            {"Q": "1 2", "K": "1", "V": "1"},
            {},
            messages.D_K_DIFFERS.format(q=2, k=1),
        ),
        (
            {"Q": "1 2", "K": "1 2", "V": "1"},
            {"heads": 3},
            messages.NOT_EQUAL_HEADS.format(what="Q has 2 columns; they", heads=3),
        ),
        (
            {"Q": "1", "K": "1", "V": "1", "mask": "1 2"},
            {"mask": "pasted"},
            messages.MASK_NOT_TRUTH.format(place="mask", row=1, column=2, value=2),
        ),
        (
            {"Q": "1", "K": "1", "V": "1", "mask": "1 1"},
            {"mask": "pasted"},
            messages.SHAPE_DOES_NOT_FIT.format(name="the mask", shape="(1, 2)", scores="(1, 1)"),
        ),
    ],
)
def test_inputs_that_do_not_fit_are_refused_in_a_sentence(texts, options, message):
    with pytest.raises(BadInput) as refused:
        inputs.bench_of(inputs.pasted("qkv", texts, **USUAL | options))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 2\n3",
            messages.ROW_LENGTH.format(
                place="your output", line=2, found=1, plural="", expected=2, first=1
            ),
        ),
        ("1 2", messages.ANSWER_SHAPE.format(name="your output", shape="(1, 2)", wanted="(4, 4)")),
        ("<b>", messages.NO_NUMBERS.format(place="your output")),
    ],
)
def test_answers_that_do_not_fit_are_refused_in_a_sentence(text, message):
    with pytest.raises(BadInput) as refused:
        inputs.explain(bench(), {"output": text})
    assert str(refused.value) == message


def test_a_huge_number_beside_tiny_ones_is_answered_without_a_warning():
    tiny = {"Q": "1 0\n0 1", "K": "1 0\n0 1", "V": "1e-300 0\n0 1e-300"}
    there = inputs.bench_of(inputs.pasted("qkv", tiny, mask="none", true_means="may look"))
    found = inputs.explain(there, {"output": "1e12 0\n0 1e-300"})
    assert not found.correct and not found.explanations
    assert found.closest is None and float(found.answers["output"][2].max()) == 1e12


def test_more_scores_than_can_be_searched_in_time_are_refused():
    given = {name: np.ones((256, 64)) for name in "QKV"} | {"heads": 4}
    with pytest.raises(BadInput) as refused:
        inputs.bench_of(given)
    assert str(refused.value) == messages.TOO_MANY_SCORES_SEARCHED.format(
        sides="4 × 256 × 256", found="262,144", limit="131,072"
    )


def test_every_mistake_can_be_planted_somewhere():
    found = {
        d
        for example in ("four-words", "sentence", "random-qkv", "customers")
        for d in bench(example, "causal").applicable
    }
    elsewhere = {
        m.name
        for m in MISTAKES
        if m.parts & {"groups", "cap", "leak", "bias", "b_Q", "b_K", "b_V", "b_O", "relative"}
        or (m.parts & {"positions", "norm", "rotary", "sinks"} and "added" not in m.name)
        or m.fitted
        or ": only " in m.name
    }  # Explore has no shared heads, no cap, no NaN, and none of the parts of real layers
    masks = {m.name for m in found if "mask" in m.parts}
    assert masks == {
        "mask: inverted",
        "mask: ignored",
        "mask: transposed",
        "mask: diagonal hidden",
        "mask: one ahead",
    }  # look-ahead alone, n_q = n_k, one mask for all
    missing = {m.name for m in MISTAKES if m not in found and "mask" not in m.parts} - elsewhere
    assert missing == {
        "axes: tokens first",  # one item
        "scale: default",
        "scale: twice",  # n_q = n_k, no scale of its own
        "W_O: transposed",
        "W_O: missing",
        "W_Q, W_K, W_V, W_O: transposed",  # no W_O
        "softmax: taken",  # no sigmoid
    }


def real():
    """Four words, two heads, with every part of a real layer that Check yours can carry."""
    s = EXAMPLES["four-words"].build()
    rng = np.random.default_rng(4)
    m = {"X": (4, 6), "W_Q": (6, 8), "W_K": (6, 4), "W_V": (6, 4), "W_O": (8, 5), "P": (4, 6)}
    m |= {"b_Q": (1, 8), "b_K": (1, 4), "b_V": (1, 4), "b_O": (1, 5), "R": (4, 2)}
    s = replace(
        s,
        matrices={name: Matrix(rng.standard_normal(shape)) for name, shape in m.items()},
        heads=2,
        mask="causal",
        window=2,
        alibi=True,
        softcap=2.0,
        sinks=(0.5, -0.2),
        norm=RMSNorm(rng.standard_normal(4), rng.standard_normal(4)),
        rotary=Rotary(pairs="interleaved"),
    )
    return check(s)


def test_the_parts_on_explore_go_along_and_a_mistake_in_one_is_found():
    s = real()
    there = inputs.bench_of(inputs.from_settings(s))
    trace = run(s)
    np.testing.assert_allclose(there.right["output"], trace.projected, rtol=1e-12)
    np.testing.assert_allclose(there.right["weights"], trace.weights, rtol=1e-12)
    assert inputs.explain(there, {"output": str(trace.projected.tolist())}).correct
    less = replace(s, rotary=Rotary(pairs="halves"))
    found = inputs.explain(there, {"output": str(run(less).projected.tolist())})
    assert [e.mistakes for e in found.explanations] == [(BY_NAME["rotary: other pairs"],)]


@pytest.mark.parametrize(
    ("part", "off", "name"),
    [
        ("rotary", None, "rotary: left out"),
        ("norm", None, "norm: left out"),
        ("sinks", (), "sinks: left out"),
        ("softcap", None, "cap: left out"),
        ("window", 0, "mask: no window"),
        ("window", 3, "mask: wider"),
        ("alibi", False, "bias: ignored"),
    ],
)
def test_a_part_left_out_is_named(part, off, name):
    there = inputs.bench_of(inputs.from_settings(real()))
    less = run(replace(real(), **{part: off})).projected
    found = inputs.explain(there, {"output": str(less.tolist())})
    assert (BY_NAME[name],) in [e.mistakes for e in found.explanations], str(found)


# ---- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_an_array_out_of_a_file_is_read_in_full_and_found_right(dtype):
    there = bench("sentence")
    for name in ("output", "weights"):
        array = there.right[name].astype(dtype)
        for filename, content in (
            ("a.npy", npy(array)),
            ("a.npz", stored(**{name: array, "other": array[:1]})),
        ):
            text = inputs.from_file(filename, content, name)
            assert np.array_equal(texts.entries(text, name)[ALONE].read(), array.astype("f8"))
            assert inputs.explain(there, {name: text}).correct


def test_arrays_that_cannot_be_read_are_named_and_the_others_wait_until_they_are_asked_for():
    content = torn(stored(output=np.eye(2), weights=np.ones((2, 2))), "weights")
    why = messages.DAMAGED_MEMBER.format(place="a.npz, weights")
    with pytest.raises(array_files.Unreadable) as refused:
        inputs.from_file("a.npz", content, "output")
    assert str(refused.value) == messages.SOME_ARRAYS_UNREADABLE.format(
        unread=1, arrays=2, reasons=why, more=""
    )
    assert inputs.from_file("a.npz", content, "output", others=True) == "1 0\n0 1"
    for others in (False, True):
        with pytest.raises(BadInput) as refused:
            inputs.from_file("a.npz", content, "weights", others)
        assert str(refused.value) == why


@pytest.mark.parametrize("first", [(0, 1, 2), (3, 4, 5)])
@pytest.mark.parametrize("blocks", [(), (2,)])
def test_a_first_column_that_counts_comes_back_out_of_the_box(first, blocks):
    array = np.zeros((*blocks, 3, 3)) + 0.25
    array[..., 0] = first
    text = inputs.from_file("a.npy", npy(array), "output")
    assert np.array_equal(inputs._array(text, "output", "it").read(), array)


def test_several_answers_without_names_are_refused():
    with pytest.raises(BadInput) as refused:
        inputs.explain(bench(), {"weights": "[[1 0]\n [0 1]]\n[[0 1]\n [1 0]]"})
    assert str(refused.value) == (
        messages.ARRAYS_WITHOUT_NAMES.format(place="your weights", arrays=2)
    )


def test_an_integer_out_of_a_file_keeps_all_its_digits():
    text = inputs.from_file("a.npy", npy(np.array([[9007199254740993, -3]])), "output")
    assert text == "9007199254740993 -3"


@pytest.mark.parametrize(
    ("filename", "content"),
    [
        ("a.csv", ",k1,k2\nq1,0.5,1e-3\nq2,-1,2\n"),
        ("a.tsv", "q1\t0,5\t0,001\nq2\t-1\t2\n"),
        ("a.json", '{"output": [[0.5, 0.001], [-1, 2]], "x": [[1]]}'),
        ("a.txt", "tensor([[ 5.00e-01,  1.00e-03],\n        [-1.00e+00,  2.00e+00]])"),
    ],
)
def test_tables_json_and_printouts_are_read_as_everywhere(filename, content):
    assert inputs.from_file(filename, content.encode(), "output") == "0.5 0.001\n-1 2"


def test_a_row_of_column_numbers_is_named_where_the_shape_is_wrong():
    text = "0 1 2 3\n" + "\n".join(["0.25 0.25 0.25 0.25"] * 4)
    shape = messages.ANSWER_SHAPE.format(name="your weights", shape="(5, 4)", wanted="(4, 4)")
    with pytest.raises(BadInput) as refused:
        inputs.explain(bench(), {"weights": text})
    asked = messages.AMBIGUOUS_FIRST_LINE.format(place="your weights", line=1, quoted="0 1 2 3")
    assert str(refused.value) == f"{shape} {asked}"


def test_a_comma_that_can_mean_two_things_is_refused_with_a_way_out():
    message = messages.AMBIGUOUS_COMMA.format(
        place="a.txt", line=1, quoted="0,5 1,5", separated="numbers"
    )
    with pytest.raises(BadInput) as refused:
        inputs.from_file("a.txt", b"0,5 1,5", "output")
    assert str(refused.value) == f"{message} {messages.SAVE_WITH_POINTS}"
    message = messages.AMBIGUOUS_COMMA.format(
        place="your output", line=1, quoted="0,5 1,5", separated="numbers"
    )
    with pytest.raises(BadInput) as refused:
        inputs.explain(bench(), {"output": "0,5 1,5"})
    assert str(refused.value) == f"{message} {messages.WRITE_WITH_POINTS}"


def test_a_text_file_is_its_text_without_a_byte_order_mark():
    assert inputs.from_file("a.txt", "\ufeff1 2".encode(), "output") == "1 2"


@pytest.mark.parametrize(
    ("filename", "content", "message"),
    [
        (
            "a.txt",
            b"1 \xff",
            messages.NOT_UTF_8_TEXT.format(place="a.txt", position=3, byte="0xff"),
        ),
        (
            "a.npz",
            stored(a=np.ones(2), b=np.ones(2)),
            messages.NO_ARRAY_OF_THAT_NAME.format(
                place="a.npz", count=2, name="output", names="a, b", more=""
            ),
        ),
        (
            "a.npy",
            npy(np.ones(3)),
            (messages.CHECKED_SHAPE.format(place="a.npy", shape="(3,)", limit="131,072")),
        ),
        (
            "a.npy",
            npy(np.ones((600, 600))),
            (messages.CHECKED_SHAPE.format(place="a.npy", shape="(600, 600)", limit="131,072")),
        ),
        (
            "../a.npy",
            b"\x93NUMPY",
            messages.UNKNOWN_NPY_VERSION.format(place="a.npy", version="missing"),
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_a_sentence(filename, content, message):
    with pytest.raises(BadInput) as refused:
        inputs.from_file(filename, content, "output")
    assert str(refused.value) == message


def from_boxes(boxes):
    given = inputs.pasted(
        boxes["source"],
        boxes,
        mask=boxes["mask_kind"],
        true_means=boxes["true"],
        **{name: boxes[name] for name in ("heads", "kv_heads", "scale", "softcap")},
    )
    return inputs.explain(inputs.bench_of(given), {name: boxes[name] for name in inputs.ANSWERS})


WINDOW = replace(set_mask(EXAMPLES["four-words"].build(), "causal"), window=2)


@pytest.mark.parametrize(
    "s",
    [
        EXAMPLES["four-words"].build(),
        EXAMPLES["random-qkv"].build(),
        set_mask(replace(EXAMPLES["four-words"].build(), scale=0.25), "causal"),
        WINDOW,
    ],
    ids=["weights", "qkv", "scale and mask", "own mask"],
)
def test_settings_and_answers_fill_the_boxes_and_come_back_out_of_them(s):
    trace = run(s)
    boxes = inputs.in_boxes(s, {"weights": trace.weights, "scores": trace.scores}, {})
    assert boxes["output"] == ""
    assert from_boxes(boxes).correct
    wrong = trace.weights @ (trace.V + 1)
    boxes = inputs.in_boxes(s, {"output": wrong.round(4)}, {"output": Written(4)})
    assert re.search(r"\.\d{4}\n", boxes["output"])
    assert not from_boxes(boxes).correct


def test_what_has_no_box_is_not_filled_in():
    s = EXAMPLES["four-words"].build()
    answers = {"output": run(s).output}
    assert inputs.in_boxes(s, {"scores": run(s).scores}, {}) is None
    assert inputs.in_boxes(check(replace(s, rotary=Rotary())), answers, {}) is None
    assert inputs.in_boxes(replace(s, softmax=False), answers, {}) is None
    assert inputs.in_boxes(s, {"output": np.zeros((1 << 11, 1 << 10))}, {}) is None


def test_a_paste_fills_each_box_once_with_the_decimals_that_it_has():
    there = bench("random-qkv")
    text = "QK^T:\n[[0.1250, 2.0000], [1.0000, 0.5000]]\n\nloss: 0.3\n\nattn:\n[[1, 0], [0, 1]]"
    assert inputs.filled(there, text) == {
        "scores": "0.1250 2.0000\n1.0000 0.5000",
        "weights": "1 0\n0 1",
    }
    twice = "scores:\n[[1.0, 2.0]]\n\nQ @ K.T:\n[[3.0, 4.0]]"
    with pytest.raises(BadInput) as refused:
        inputs.filled(there, twice)
    assert str(refused.value) == messages.BOTH_ARE.format(
        one="scores", other="Q @ K.T", name="scores"
    )
