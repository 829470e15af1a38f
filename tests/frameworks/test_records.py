"""Every convention against what its library answered, each way of calling it."""

import json
import warnings
from dataclasses import fields

import messages
import numpy as np
import pytest
from peers.record import BLIND as BLIND_ROW
from peers.record import CASES, FILE, LIBRARIES, PART_CASES, PARTS_FILE, SOME, drawn, parts_of

from attention import causal, causal_lower_right, scaled_dot_product_attention, window
from attention.frameworks.reasons import CAUSES, Case, differs
from attention.frameworks.records import (
    CONVENTIONS,
    NO_ARGUMENT,
    NO_PARTS,
    PARTS,
    answer,
    checked_parts,
)

RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
WITH_PARTS = json.loads(PARTS_FILE.read_text(encoding="utf-8"))
MASK_OR_SWITCH = ("torch_sdpa_math", "torch_sdpa_lower_right")
BLIND = np.array([[True, False, True], [False, False, False], [True, True, False]])


def whole(*causes: str) -> str:
    """The causes as one sentence."""
    text = "; ".join(causes)
    return f"{text[0].upper()}{text[1:]}."


AGREES = messages.AGREES.partition("{")[0].capitalize()
AGREES_7, AGREES_16 = (whole(messages.AGREES.format(digits=digits)) for digits in (7, 16))
EVENLY = messages.WHERE_OURS_IS_0.format(there=messages.SPREADS_EVENLY)
HIDES = messages.HIDES_WHAT_YOU_MEANT.format(function="nn.MultiheadAttention")


def numbers(n_q=3, n_k=3, lead=(), dtype="float64", seed=0):
    """Q, K and V."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((*lead, n, 4)).astype(dtype) for n in (n_q, n_k, n_k)]


def sentence(name, Q, K, V, *, mask=None, causal=False, rows=None, **ours):
    """How ``name`` differs from ours, ours having been given the mask as what may be seen."""
    if "allowed" not in ours and (mask is not None or causal):
        ours["allowed"] = np.logical_and(
            True if mask is None else mask, _corner(Q, K) if causal else True
        )
    trace = scaled_dot_product_attention(Q, K, V, **ours)
    return differs(
        name,
        trace,
        answer(name, Q, K, V, mask=mask, causal=causal),
        mask=mask,
        causal=causal,
        rows=rows,
    )


def _corner(Q, K):
    return causal(Q.shape[-2], K.shape[-2])


# ---- the table -----------------------------------------------------------------------------------


def test_the_entries_stand_in_the_order_of_the_menu():
    assert list(CONVENTIONS) == [
        "torch_sdpa",
        "torch_sdpa_math",
        "torch_sdpa_lower_right",
        "torch_mha",
        "torch_mha_no_weights",
        "keras_attention",
        "keras_mha",
        "keras_mha_scores",
        "keras_ops",
        "jax",
        "onnx_23",
        "onnx_cache",
        "hf_eager",
        "hf_sdpa",
    ]


@pytest.mark.parametrize("name", CONVENTIONS)
def test_no_text_of_an_entry_is_empty_and_its_words_are_those_of_the_table(name):
    entry = CONVENTIONS[name]
    texts = {field.name: getattr(entry, field.name) for field in fields(entry)}
    texts = {key: text for key, text in texts.items() if isinstance(text, str)}
    assert len(texts) == 17
    assert all(text == text.strip() and (text or key == "mode") for key, text in texts.items())
    assert entry.true_means in ("may look", "hide", "no boolean mask")
    assert entry.causal.split(";")[0] in ("upper left", "lower right", "the caller's mask")
    assert entry.hidden_row.split(";")[0] in ("0", "NaN", "uniform")
    assert entry.infinite_row in ("0", "NaN")
    assert entry.scale in ("1/√d_k", "1")
    unsaid = {part for part in (*PARTS, "groups") if texts[part].startswith(NO_ARGUMENT)}
    assert not unsaid & entry.takes and entry.takes <= {*PARTS, "groups"}
    assert entry.floats in ("as given", "float32", "softmax in float32")


def test_every_name_is_distinct_and_short_and_says_title_and_mode():
    names = [entry.name for entry in CONVENTIONS.values()]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 50  # in a pill, on a phone
    assert CONVENTIONS["torch_sdpa"].name == "F.scaled_dot_product_attention"
    assert CONVENTIONS["torch_mha"].name == "nn.MultiheadAttention, need_weights=True"


def test_every_row_was_run_and_recorded_in_the_version_it_names():
    assert list(LIBRARIES) == [name for name in RECORDED if name not in ("cases", "versions")]
    assert [name for name in LIBRARIES if name in CONVENTIONS] == list(CONVENTIONS)
    for name, way in LIBRARIES.items():
        assert way.convention == name or name not in CONVENTIONS
        package = "jax" if way.convention == "jax" else way.package
        version = RECORDED["versions"][package].split("+")[0]
        assert CONVENTIONS[way.convention].version == f"{package} {version}"


def test_the_recorded_cases_are_those_the_inputs_are_drawn_from():
    assert RECORDED["cases"] == json.loads(json.dumps(CASES))


# ---- against the libraries -----------------------------------------------------------------------


HALF = [case for case in CASES if CASES[case]["dtype"] == "float16"]


@pytest.mark.parametrize("case", [case for case in CASES if case not in HALF])
@pytest.mark.parametrize("way", LIBRARIES)
def test_a_convention_that_ran_equals_its_library(way, case):
    Q, K, V, mask = drawn(CASES[case])
    name, recorded = LIBRARIES[way].convention, RECORDED[way][case]
    given = answer(name, Q, K, V, mask=mask, causal=CASES[case]["causal"])
    if "not asked" in recorded:
        assert way != name, "what a convention is called for every case, or refused"
        return
    assert bool(given.refused) == ("refused" in recorded)
    if given.refused:
        assert given.output is given.weights is None
        return
    exact = recorded["dtype"] == "float64" and CONVENTIONS[name].floats == "as given"
    assert given.output.dtype == recorded["dtype"]
    for stage in {"output", "weights"} & set(recorded):
        expected = np.array(recorded[stage], float)  # null is NaN
        close = {"rtol": 0, "atol": 1e-14 if exact else 1e-6}
        np.testing.assert_allclose(getattr(given, stage), expected, **close)


@pytest.mark.parametrize("case", PART_CASES)
@pytest.mark.parametrize("way", LIBRARIES)
def test_a_convention_with_parts_equals_its_library_or_has_no_argument_for_one(way, case):
    (Q, K, V, mask), parts = drawn(PART_CASES[case]), parts_of(PART_CASES[case])
    name, recorded = LIBRARIES[way].convention, WITH_PARTS[way][case]
    used = {*parts, *(["groups"] if K.shape[1] < Q.shape[1] else [])}
    if "not asked" in recorded:
        assert way != name or used - CONVENTIONS[name].takes
        return
    given = answer(name, Q, K, V, mask=mask, causal=PART_CASES[case]["causal"], **parts)
    assert bool(given.refused) == ("refused" in recorded)
    if given.refused:
        return
    assert used <= CONVENTIONS[name].takes and given.output.dtype == recorded["dtype"]
    exact = recorded["dtype"] == "float64" and CONVENTIONS[name].floats == "as given"
    for stage in {"output", "weights"} & set(recorded):
        expected = np.array(recorded[stage], float)
        close = {"rtol": 0, "atol": 1e-14 if exact else 1e-6}
        np.testing.assert_allclose(getattr(given, stage), expected, **close)


def test_the_recorded_parts_are_of_the_same_versions_and_each_is_taken_by_somebody():
    assert WITH_PARTS["cases"] == json.loads(json.dumps(PART_CASES))
    assert WITH_PARTS["versions"] == RECORDED["versions"]
    for part in (*PARTS, "groups"):
        assert any(part in CONVENTIONS[name].takes for name in CONVENTIONS)


HEADS = [np.random.default_rng(k).standard_normal((2, 3, 4)) for k in range(3)]
GIVEN = {
    "softcap": 0.5,
    "window": 2,
    "sinks": np.array([0.5, -1.0]),
    "bias": np.random.default_rng(9).standard_normal((2, 3, 3)),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_part_is_answered_as_ours_or_left_out_and_that_is_said(name, part):
    given, Q, K, V = {part: GIVEN[part]}, *(M.astype("f4") for M in HEADS)
    seen = {"allowed": window(3, 3, 2)} if part == "window" else given
    ours = scaled_dot_product_attention(Q, K, V, **seen)
    theirs = answer(name, Q, K, V, **given)
    parts = checked_parts((2, 3, 3), np.dtype("f4"), **given)
    said = differs(name, ours, theirs, parts=parts)
    if theirs.refused:
        assert said == theirs.refused
        return
    without = answer(name, Q, K, V)
    if part in CONVENTIONS[name].takes:
        scaled = CONVENTIONS[name].scale != "1"
        assert said.startswith(AGREES) == scaled and "out:" not in said
    else:
        assert theirs.output.tolist() == without.output.tolist()
        text = getattr(CONVENTIONS[name], part)
        left_out = messages.LEAVES_A_PART_OUT.format(part=PARTS[part], why=text)
        assert said.lower().startswith(left_out.lower())
    assert differs(name, scaled_dot_product_attention(Q, K, V), without, parts=NO_PARTS) == (
        differs(name, scaled_dot_product_attention(Q, K, V), without)
    )


def test_a_window_of_fewer_queries_is_aligned_as_the_table_says():
    Q, K, V = numbers(2, 4, dtype="float32")
    for name in (name for name in CONVENTIONS if "window" in CONVENTIONS[name].takes):
        past = 2 if CONVENTIONS[name].corner == "lower right" else 0
        weights = answer(name, Q, K, V, window=2).weights
        assert ((weights > 0) == window(2, 4, 2, past)).all()
        ours = scaled_dot_product_attention(Q, K, V, allowed=window(2, 4, 2, 2 - past))
        parts = checked_parts((2, 4), np.dtype("f4"), window=2)
        said = differs(name, ours, answer(name, Q, K, V, window=2), parts=parts)
        corners = ("lower right", "upper left")[:: 1 if past else -1]
        differ = messages.CORNERS_DIFFER.format(theirs=corners[0], ours=corners[1])
        assert said.startswith(whole(differ).removesuffix("."))


def test_a_window_has_no_room_beside_causal_lower_right():
    said = messages.LOWER_RIGHT_ALONE
    assert answer("torch_sdpa_lower_right", *numbers(), window=2).refused == said


def test_fewer_heads_of_keys_are_refused_where_there_is_no_argument():
    Q, K, V = (np.ones((heads, 3, 4)) for heads in (4, 2, 2))
    for name, convention in CONVENTIONS.items():
        refused = answer(name, Q, K, V).refused
        assert refused == ("" if "groups" in convention.takes else messages.NO_FEWER_HEADS)


def test_what_a_library_refused_was_its_own_error():
    kinds = {
        (LIBRARIES[way].convention, case, answers[case]["refused"].split(":")[0])
        for way, answers in RECORDED.items()
        if way in LIBRARIES
        for case in CASES
        if "refused" in answers[case]
    }
    both = [case for case in CASES if CASES[case]["causal"] and CASES[case]["mask"]]
    by_row = [case for case in CASES if CASES[case]["mask"] in (SOME, BLIND_ROW, [[SOME[:2]]])]
    narrow = [case for case in CASES if CASES[case]["d_v"] != 4]
    assert kinds == {
        ("torch_sdpa", "narrow values, causal and a mask", "RuntimeError"),
        *(("torch_sdpa_math", case, "RuntimeError") for case in both),
        *(("torch_sdpa_lower_right", case, "ValueError") for case in both),
        *(("torch_mha", case, "AssertionError") for case in narrow),
        *(("torch_mha_no_weights", case, "AssertionError") for case in narrow),
        *(("keras_attention", case, "ValueError") for case in by_row),
        *(("jax", case, kind) for case in narrow for kind in ("ValueError", "TypeError")),
    }


def _what_stands_in(row, scores, V) -> set[str]:
    """The words of the table that a recorded row of an output fits."""
    unmasked = np.exp(scores - scores.max())
    found = {"0": np.zeros(V.shape[-1]), "NaN": np.full(V.shape[-1], np.nan)}
    found |= {"uniform": V.mean(axis=-2)}
    found |= {"as if nothing were hidden": unmasked / unmasked.sum() @ V}
    return {w for w, row_ in found.items() if np.allclose(row, row_, atol=5e-3, equal_nan=True)}


@pytest.mark.parametrize("case", HALF)
@pytest.mark.parametrize("name", CONVENTIONS)
def test_what_a_hidden_row_gets_in_float16_is_what_the_table_says(name, case):
    recorded = RECORDED[name][case]
    if "refused" in recorded:
        assert name == "keras_attention" and CASES[case]["mask"] == BLIND_ROW
        return
    Q, K, V, mask = (M[0, 0] if M.ndim == 4 else M for M in map(np.asarray, drawn(CASES[case])))
    Q, K, V = (M.astype(np.float64) for M in (Q, K, V))
    mask = np.broadcast_to(mask, (len(Q), len(K)))
    hidden = (mask.all(axis=-1)) if CONVENTIONS[name].true_means == "hide" else ~mask.any(axis=-1)
    first, *more = CONVENTIONS[name].hidden_row.split("; ")
    expected = next((m.removesuffix(" in float16") for m in more if m.endswith("float16")), first)
    assert recorded["dtype"] == "float16"
    for i in np.flatnonzero(hidden):
        row = np.array(recorded["output"][0][0][i], float)
        scale = 1 if CONVENTIONS[name].scale == "1" else 0.5
        assert expected in _what_stands_in(row, Q[i] @ K.T * scale, V)


def test_the_recorded_libraries_do_differ():
    case = "a hidden row, float32"
    rows = {name: RECORDED[name][case].get("output", [[[[], []]]])[0][0][1] for name in CONVENTIONS}
    zero = ("torch_sdpa", "torch_sdpa_math", "torch_sdpa_lower_right", "keras_mha_scores")
    zero += ("onnx_23", "onnx_cache", "hf_sdpa")
    assert all(rows[name] == [0.0] * 4 for name in zero)
    assert all(any(rows[name]) for name in ("keras_mha", "keras_ops", "jax", "hf_eager"))
    whole = {name: RECORDED[name]["no key at all, float32"]["output"][0][0] for name in CONVENTIONS}
    assert whole["torch_mha"] != whole["torch_sdpa"]
    assert RECORDED["hf_eager"]["a hidden row"]["output"][0][0][1] == [None] * 4


@pytest.mark.parametrize(
    ("one", "other", "case"),
    [
        ("torch_sdpa", "torch_sdpa_math", "causal and a mask"),
        ("torch_sdpa", "torch_sdpa_lower_right", "causal, 2 queries and 4 keys"),
        ("torch_mha", "torch_mha_no_weights", "a mask"),
        ("keras_mha", "keras_mha_scores", "a hidden row"),
        ("onnx_23", "onnx_cache", "causal, 2 queries and 4 keys"),
        ("hf_eager", "hf_sdpa", "causal, 1 query and 4 keys"),
    ],
)
def test_two_modes_that_are_two_records_were_recorded_to_differ(one, other, case):
    assert RECORDED[one][case].get("output") != RECORDED[other][case].get("output")


# ---- the fields say what the numbers do ----------------------------------------------------------


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_hidden_row_is_what_the_table_says(name):
    Q, K, V = numbers(dtype="float32")
    hides = CONVENTIONS[name].true_means == "hide"
    mask = np.array([[False, False, False]]) ^ hides
    weights = answer(name, Q, K, V, mask=mask).weights
    expected = {"0": 0, "NaN": np.nan, "uniform": 1 / 3}[CONVENTIONS[name].hidden_row.split(";")[0]]
    np.testing.assert_allclose(weights, np.full(weights.shape, expected), atol=1e-6)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_true_means_what_the_table_says(name):
    weights = answer(name, *numbers(1, 2), mask=[[True, False]]).weights
    expected = [[0, 1]] if CONVENTIONS[name].true_means == "hide" else [[1, 0]]
    assert weights.tolist() == expected


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize(("n_q", "n_k"), [(3, 3), (2, 4)])
def test_causal_is_aligned_as_the_table_says(name, n_q, n_k):
    corner = causal_lower_right if CONVENTIONS[name].causal == "lower right" else causal
    weights = answer(name, *numbers(n_q, n_k), causal=True).weights
    assert ((weights > 0) == corner(n_q, n_k)).all()


def test_half_precision_is_computed_in_float32_and_integers_in_float64():
    for name in CONVENTIONS:
        assert answer(name, *numbers(dtype="float16")).output.dtype == "float32"
    assert answer("torch_sdpa", [[1]], [[1]], [[7]]).output.tolist() == [[7.0]]


# ---- what cannot be handed over, and what is refused ---------------------------------------------


@pytest.mark.parametrize(
    ("name", "arrays", "mask", "sentence"),
    [
        (
            "keras_attention",
            numbers(),
            BLIND,
            messages.KERAS_MASK_OVER_KEYS,
        ),
        *(
            (name, numbers(2, 0), None, messages.ONNX_WITHOUT_KEYS)
            for name in ("onnx_23", "onnx_cache")
        ),
        *(
            (
                name,
                [*numbers()[:2], numbers()[2][:, :2]],
                None,
                messages.V_AS_WIDE_AS_K.format(d_v=2, d_k=4),
            )
            for name in ("torch_mha", "torch_mha_no_weights", "jax")
        ),
    ],
)
def test_what_a_framework_cannot_be_handed_is_a_sentence_in_the_answer_and_the_difference(
    name, arrays, mask, sentence
):
    given = answer(name, *arrays, mask=mask)
    assert (given.weights, given.output, given.refused) == (None, None, sentence)
    assert differs(name, scaled_dot_product_attention(*arrays), given, mask=mask) == sentence


@pytest.mark.parametrize(
    ("name", "d_v", "sentence"),
    [
        ("torch_sdpa", 4, ""),
        ("torch_sdpa", 2, messages.MASK_AND_LOOK_AHEAD),
        ("torch_sdpa_math", 4, messages.MASK_AND_LOOK_AHEAD),
        ("torch_sdpa_lower_right", 4, messages.MASK_OR_LOWER_RIGHT),
    ],
)
def test_which_paths_of_torch_refuse_a_mask_beside_a_look_ahead(name, d_v, sentence):
    Q, K, V = numbers()
    both = answer(name, Q, K, V[:, :d_v], mask=BLIND, causal=True)
    assert (both.refused, both.output is None) == (sentence, bool(sentence))
    for one in ({"mask": BLIND}, {"causal": True}):
        assert not answer(name, Q, K, V[:, :d_v], **one).refused


def test_keras_attention_takes_a_mask_over_keys_in_any_shape_that_says_the_same_for_all_queries():
    for mask in ([True, False, True], [[True, False, True]], [[True, False, True]] * 3):
        assert not answer("keras_attention", *numbers(), mask=mask).refused


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (
            {"name": "torch"},
            ValueError,
            messages.NOT_IN_THE_TABLE.format(name="'torch'", names=", ".join(CONVENTIONS)),
        ),
        (
            {"mask": [[1, 0, 1]]},
            TypeError,
            messages.BOOLEAN_MASK_EXPECTED.format(dtype="int64"),
        ),
        (
            {"mask": [[True, False]]},
            ValueError,
            messages.SHAPE_DOES_NOT_FIT.format(name="mask", shape="(1, 2)", scores="(3, 3)"),
        ),
        (
            {"mask": np.ones((5, 3, 3), bool)},
            ValueError,
            messages.SHAPE_DOES_NOT_FIT.format(name="mask", shape="(5, 3, 3)", scores="(3, 3)"),
        ),
        (
            {"mask": [[True], [True, False]]},
            ValueError,
            messages.ROWS_OF_DIFFERENT_LENGTHS.format(name="mask"),
        ),
        (
            {"K": np.ones((3, 5))},
            ValueError,
            messages.D_K_DIFFERS.format(q=4, k=5),
        ),
    ],
)
def test_a_refusal_names_the_argument_what_came_and_what_is_wanted(change, kind, message):
    arguments = dict(zip(("name", "Q", "K", "V"), ("torch_sdpa", *numbers()), strict=True)) | change
    with pytest.raises(kind) as raised:
        answer(**arguments)
    assert str(raised.value) == message


# ---- the sentences -------------------------------------------------------------------------------


def test_the_same_arithmetic_agrees_to_every_digit():
    assert sentence("torch_sdpa", *numbers(), mask=BLIND) == AGREES_16
    assert sentence("torch_sdpa", *numbers(dtype="float32")) == AGREES_7


def test_float32_is_named_where_ours_is_float64_and_not_where_it_is_float32():
    jax, eager = (sentence(name, *numbers()) for name in ("jax", "hf_eager"))
    for said, cause in (
        (jax, messages.COMPUTES_IN_FLOAT32),
        (eager, messages.SOFTMAX_IN_FLOAT32),
    ):
        agrees = [messages.AGREES_BUT.format(digits=digits, cause=cause) for digits in (6, 7)]
        assert said in map(whole, agrees)  # by the processor
    agrees = [messages.AGREES.format(digits=digits) for digits in (6, 7)]
    assert sentence("jax", *numbers(dtype="float32")) in map(whole, agrees)


def test_numbers_that_float32_cannot_hold_leave_no_digit():
    Q, K, V = numbers()
    assert sentence("jax", Q * 1e25, K * 1e25, V) == whole(
        messages.DIFFERS_AT_ONCE.format(cause=messages.COMPUTES_IN_FLOAT32)
    )


def test_the_other_polarity_is_named():
    mask = np.array([[True, False, True]] * 3)
    assert sentence("torch_mha", *numbers(), mask=mask) == whole(HIDES)
    assert sentence("torch_mha", *numbers(), mask=~mask & False) == whole(
        messages.SHOWS_WHAT_YOU_MEANT.format(function="nn.MultiheadAttention")
    )


def test_a_mask_of_ones_hides_every_key_where_true_means_hide():
    assert sentence("torch_mha", *numbers(), mask=np.ones((3, 3), bool)) == whole(
        HIDES, messages.ROWS_SEE_NO_KEY.format(rows="1, 2 and 3", there=messages.NAN_THERE)
    )


def test_a_hidden_row_is_told_by_what_stands_there():
    single = numbers(dtype="float32")
    assert sentence("torch_sdpa", *single, mask=BLIND) == AGREES_7
    assert sentence("jax", *single, mask=BLIND) == whole(
        messages.ROW_SEES_NO_KEY.format(row=2, there=EVENLY)
    )
    assert sentence("hf_eager", *numbers(), mask=BLIND) == (
        whole(
            messages.ROW_SEES_NO_KEY.format(
                row=2, there=messages.WHERE_OURS_IS_0.format(there=messages.NAN_THERE)
            ),
            messages.SOFTMAX_IN_FLOAT32,
        )
    )
    far = [np.array(M, "f4") for M in ([[1.0]], [[0.0], [6400.0]], [[1.0], [2.0]])]
    assert sentence("keras_attention", *far, mask=np.zeros((1, 2), bool)) == (
        whole(
            messages.ROW_SEES_NO_KEY.format(
                row=1,
                there=messages.WHERE_OURS_IS_0.format(there=messages.AS_IF_NOTHING_WERE_HIDDEN),
            )
        )
    )


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("torch_sdpa", None),
        ("torch_mha", messages.NAN_THERE),
        ("torch_mha_no_weights", None),
        ("keras_ops", None),
        ("jax", messages.NAN_THERE),
        ("onnx_23", None),
        ("hf_eager", messages.NAN_THERE),
        ("hf_sdpa", None),
    ],
)
def test_a_row_that_a_bias_hides_is_named_where_it_is_not_0(name, there):
    Q, K, V = numbers(dtype="float32")
    bias = np.where(BLIND, np.float32(0), np.float32(-np.inf))
    ours = scaled_dot_product_attention(Q, K, V, bias=bias)
    parts = checked_parts(bias.shape, Q.dtype, bias=bias)
    said = differs(name, ours, answer(name, Q, K, V, bias=bias), parts=parts)
    if there is None:
        assert said == AGREES_7
    else:
        there = messages.WHERE_OURS_IS_0.format(there=there)
        assert said == whole(messages.ROW_SEES_NO_KEY.format(row=2, there=there))


def test_a_row_may_be_named_by_its_label_and_many_are_counted():
    names = ("the", "cat", "sat")
    assert sentence("jax", *numbers(dtype="float32"), mask=BLIND, rows=names) == whole(
        messages.ROW_SEES_NO_KEY.format(row="cat", there=EVENLY)
    )
    none = np.zeros((7, 3), bool)
    assert sentence("jax", *numbers(7, 3, dtype="float32"), mask=none) == whole(
        messages.ROWS_SEE_NO_KEY.format(rows="1, 2, 3 and 4 more", there=EVENLY)
    )


def test_a_row_hidden_in_one_head_alone_says_in_how_many():
    mask = np.ones((2, 3, 3), bool)
    mask[1, 2] = False
    assert sentence("jax", *numbers(lead=(2,), dtype="float32"), mask=mask) == whole(
        messages.ROW_SEES_NO_KEY_IN.format(row=3, some=1, items=2, there=EVENLY)
    )


def test_the_missing_scale_is_named_and_no_scale_on_our_side_removes_it():
    single = numbers(dtype="float32")
    assert sentence("keras_attention", *single) == whole(messages.DOES_NOT_DIVIDE)
    assert sentence("keras_attention", *single, scale=1.0) == AGREES_7
    assert sentence("torch_sdpa", *single, scale=1.0) == whole(messages.DIVIDES.format(scale=1))
    assert sentence("keras_attention", *single, scale=2.0) == whole(
        messages.DOES_NOT_DIVIDE_BUT.format(scale=2)
    )


def test_the_causal_corner_is_named_only_where_it_matters():
    lower_right = {"causal": True, "allowed": causal_lower_right(2, 4)}
    two_by_four = numbers(2, 4, dtype="float32")
    assert sentence("torch_sdpa_lower_right", *two_by_four, causal=True) == whole(
        messages.CORNERS_DIFFER.format(theirs="lower right", ours="upper left")
    )
    for name in ("torch_sdpa", "torch_mha", "jax"):
        expected = whole(messages.CORNERS_DIFFER.format(theirs="upper left", ours="lower right"))
        assert sentence(name, *two_by_four, **lower_right) == expected
        assert sentence(name, *two_by_four, causal=True) == AGREES_7
    for name in ("torch_sdpa_lower_right", "onnx_cache"):
        expected = whole(messages.CORNERS_DIFFER.format(theirs="lower right", ours="upper left"))
        assert sentence(name, *two_by_four, causal=True) == expected
        assert sentence(name, *two_by_four, **lower_right).startswith(AGREES)


def test_a_switch_that_hides_nothing_from_a_single_query_is_named_where_it_matters():
    one_by_four = numbers(1, 4, dtype="float32")
    expected = whole(messages.SWITCH_HIDES_NOTHING)
    assert sentence("hf_sdpa", *one_by_four, causal=True) == expected
    everything = {"causal": True, "allowed": causal_lower_right(1, 4)}
    assert sentence("hf_sdpa", *one_by_four, **everything) == AGREES_7
    masked = {"causal": True, "mask": np.ones((1, 4), bool)}
    assert sentence("hf_sdpa", *one_by_four, **masked) == AGREES_7


def test_two_modes_of_a_framework_have_two_sentences():
    single = numbers(dtype="float32")
    assert sentence("keras_mha", *single, mask=BLIND) == whole(
        messages.ROW_SEES_NO_KEY.format(row=2, there=EVENLY)
    )
    assert sentence("keras_mha_scores", *single, mask=BLIND) == AGREES_7
    ones = np.ones((3, 3), bool)
    assert sentence("torch_mha", *single, mask=ones) == whole(
        HIDES, messages.ROWS_SEE_NO_KEY.format(rows="1, 2 and 3", there=messages.NAN_THERE)
    )
    assert sentence("torch_mha_no_weights", *single, mask=ones) == whole(HIDES)


def test_two_roots_of_the_scale_cost_digits_of_large_scores():
    Q, K, V = (
        np.full((1, 3), 141, "f4"),
        np.array([[141, 141, 141], [141, 141, 140.99]], "f4"),
        np.eye(2, 3, dtype="f4"),
    )
    assert sentence("torch_sdpa", Q, K, V) == AGREES_7
    assert sentence("onnx_23", Q, K, V) == whole(
        messages.AGREES_BUT.format(digits=2, cause=messages.ROOTS_OF_SCALE)
    )


def test_a_finite_filler_that_a_score_outweighs_is_named():
    Q, K, V = np.array([[1.0]]), np.array([[-2e9], [0.0]]), np.array([[1.0], [2.0]])
    mask = np.array([[True, False]])
    assert sentence("keras_attention", *(M.astype("f4") for M in (Q, K, V)), mask=mask) == whole(
        messages.FILLER_KEEPS_WEIGHT.format(share=1)
    )
    assert sentence("keras_mha_scores", *(M.astype("f4") for M in (Q, K, V)), mask=mask) == whole(
        messages.FILLER_LOSES_WEIGHT.format(share=1)
    )
    assert sentence("torch_sdpa", Q, K, V, mask=mask) == AGREES_16


@pytest.mark.parametrize("stage", [1, 2])
def test_a_hidden_nan_that_reaches_the_answer_is_named(stage):
    arrays = numbers(dtype="float32")
    arrays[stage][1] = np.nan
    mask = np.array([[True, False, True]])
    assert sentence("torch_sdpa", *arrays, mask=mask) == whole(messages.NAN_REACHES_ANSWER)
    clean = stage == 1  # JAX puts its filler in the place of hidden scores, but multiplies V by 0
    assert sentence("jax", *arrays, mask=mask) == (
        AGREES_7 if clean else whole(messages.NAN_REACHES_ANSWER)
    )


def test_what_only_ours_was_given_is_not_blamed_on_them():
    rest = whole(messages.OURS_WAS_GIVEN_MORE)
    bias = np.random.default_rng(3).random((3, 3))
    for change in ({"softcap": 1.0}, {"bias": bias}, {"softmax": False}):
        assert sentence("torch_sdpa", *numbers(), **change) == rest
    assert sentence("torch_sdpa", *numbers(), allowed=causal(3, 3)) == whole(
        messages.HIDES_OTHERWISE
    )


def test_causes_that_undo_each_other_are_no_difference():
    Q, K, V = numbers(2, 1)
    assert sentence("torch_mha", Q, K, V, mask=np.array([[True]])) == whole(
        HIDES, messages.ROWS_SEE_NO_KEY.format(rows="1 and 2", there=messages.NAN_THERE)
    )


def test_several_causes_stand_in_one_sentence():
    assert sentence(
        "keras_attention", *numbers(2, 4), mask=np.zeros((1, 4), bool), causal=True
    ) == whole(messages.ROWS_SEE_NO_KEY.format(rows="1 and 2", there=EVENLY))
    mask = np.array([[False, True, True]])
    assert sentence("keras_attention", *numbers(), mask=mask, causal=True) == whole(
        messages.DOES_NOT_DIVIDE,
        messages.ROW_SEES_NO_KEY.format(row=1, there=EVENLY),
        messages.COMPUTES_IN_FLOAT32,
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_sentence_says_agrees_just_where_the_numbers_do(name, seed):
    rng = np.random.default_rng(seed)
    n_q, n_k, switched = *rng.integers(1, 5, 2).tolist(), bool(seed % 2)
    arrays = numbers(
        n_q, n_k, lead=(2,) * (seed % 3), dtype=("float32", "float64")[seed // 2 % 2], seed=seed
    )
    mask = None if seed % 4 == 0 else rng.random((1, n_k) if seed % 3 else (n_q, n_k)) > 0.3
    allowed = np.logical_and(True if mask is None else mask, causal(n_q, n_k) if switched else True)
    allowed = np.broadcast_to(allowed, (*arrays[0].shape[:-1], n_k))
    mask = mask if mask is None else np.broadcast_to(mask, allowed.shape)
    ours = scaled_dot_product_attention(*arrays, allowed=allowed)
    theirs = answer(name, *arrays, mask=mask, causal=switched)
    said = differs(name, ours, theirs, mask=mask, causal=switched)
    if not theirs.refused:
        exact = theirs.output.dtype == "float64" and CONVENTIONS[name].floats == "as given"
        near = dict(rtol=0, atol=1e-10 if exact else 1e-5 * max(1, np.abs(ours.output).max()))
        agrees = np.allclose(theirs.weights, ours.weights, **near) and np.allclose(
            theirs.output, ours.output, **near
        )
        assert said.startswith(AGREES) == agrees
    assert said.endswith(".") and ". " not in said


def test_putting_every_cause_right_gives_our_numbers():
    Q, K, V = numbers(2, 4)
    ours = scaled_dot_product_attention(Q, K, V, allowed=causal(2, 4) & [True, False, False, True])
    mask = np.broadcast_to([True, False, False, True], (2, 4))
    for convention in CONVENTIONS.values():
        right, options = Case(convention, ours, mask, True, NO_PARTS).changed(hidden_row="0"), {}
        for cause in CAUSES:
            changes = cause.put_right(right)
            options |= {key: changes.pop(key) for key in ("factor", "leaks") if key in changes}
            right = right.changed(**changes)
        np.testing.assert_allclose(right.answer(**options).output, ours.output, atol=1e-15)


# ---- the edges -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize(
    ("n_q", "n_k", "lead"), [(2, 0, ()), (0, 2, ()), (2, 2, (0,)), (0, 0, (0, 3))]
)
def test_nothing_to_do_is_done(name, n_q, n_k, lead):
    arrays = numbers(n_q, n_k, lead)
    given = answer(name, *arrays, causal=True)
    if given.refused:
        assert (name in ("onnx_23", "onnx_cache"), n_k) == (True, 0)
        return
    assert given.weights.shape == (*lead, n_q, n_k)
    assert given.output.shape == (*lead, n_q, 4) and not given.output.any()
    assert sentence(name, *arrays, causal=True) == AGREES_16


@pytest.mark.parametrize("name", [name for name in CONVENTIONS if name not in MASK_OR_SWITCH])
def test_leading_axes_are_so_many_attentions_side_by_side(name):
    Q, K, V = numbers(2, 3, lead=(2, 3))
    mask = np.random.default_rng(5).random((2, 1, 2, 3)) > 0.5
    mask = mask[..., :1, :] if name == "keras_attention" else mask
    together = answer(name, Q, K, V, mask=mask, causal=True)
    for b, h in np.ndindex(2, 3):
        alone = answer(name, Q[b, h], K[b, h], V[b, h], mask=mask[b, 0], causal=True)
        np.testing.assert_allclose(together.output[b, h], alone.output, atol=1e-6)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_nan_and_infinity_are_silent_and_inputs_are_left_alone(name):
    Q, K, V = numbers()
    Q[0], K[1], V[2] = np.inf, np.nan, -np.inf
    before = [M.copy() for M in (Q, K, V)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sentence(name, Q, K, V, mask=None, causal=True)
    for M, kept in zip((Q, K, V), before, strict=True):
        np.testing.assert_array_equal(M, kept)
