"""Every convention against what its library answered, each way of calling it."""

import json
import warnings
from dataclasses import fields

import messages
import numpy as np
import pytest
from peers.questions import BLIND as BLIND_ROW
from peers.questions import CASES, QUESTIONS, RECORDED, SOME, drawn, parts_of

from attention import scaled_dot_product_attention, window
from attention.frameworks.libraries.convention import (
    CORNERS,
    FACETS,
    NO_ARGUMENT,
    NOT_KNOWN,
    PARTS,
    word,
)
from attention.frameworks.records import CONVENTIONS, answer

FAMILIES = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(RECORDED.glob("*"))
}
VERSIONS = {family: said.pop("versions") for family, said in FAMILIES.items()}
ASKED = {family: said.pop("questions") for family, said in FAMILIES.items()}
WAYS = {name: way for ways in FAMILIES.values() for name, way in ways.items()}
FAMILY = {name: family for family, ways in FAMILIES.items() for name in ways}
THEIRS = [name for name in CONVENTIONS if name != "ours"]
NARROW = ("torch_nested", "curated_transformers_sdp")  # no mask, or as many queries as keys
BLIND = np.array([[True, False, True], [False, False, False], [True, True, False]])


def numbers(n_q=3, n_k=3, lead=(), dtype="float64", seed=0):
    """Q, K and V."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((*lead, n, 4)).astype(dtype) for n in (n_q, n_k, n_k)]


# ---- the table -----------------------------------------------------------------------------------

WORDS = {  # what a field begins with
    "true_means": ("may look", "hide", "no boolean mask"),
    "integers": ("may look", "hide", "added", "refused", NOT_KNOWN),
    "numbers": ("may look", "hide", "added", "refused", NOT_KNOWN),
    "hidden_row": ("0", "NaN", "uniform", "as if nothing were hidden", "refused"),
    "infinite_row": ("0", "NaN", "uniform", NO_ARGUMENT),
    "lowest_row": ("0", "NaN", "uniform", NO_ARGUMENT),
    "beside": ("both", "refused", "mask dropped", "switch dropped", "no switch"),
    "default_scale": ("1/√d_k", "1"),
    "scale_zero": ("0", "not given", "refused", NO_ARGUMENT),
    "group_order": ("neighbours", "tiled", NO_ARGUMENT),
    "floats": ("as given", "float32", "softmax in float32", "float32 and back"),
    "half": ("right", "NaN", "refused", NOT_KNOWN),
}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_no_text_of_an_entry_is_empty_and_its_words_are_those_of_the_table(name):
    entry = CONVENTIONS[name]
    texts = {field.name: getattr(entry, field.name) for field in fields(entry)}
    texts = {key: text for key, text in texts.items() if isinstance(text, str)}
    assert all(
        text == text.strip() and (text or key in ("mode", "nan_note"))
        for key, text in texts.items()
    )
    for field, words in WORDS.items():
        assert word(texts[field]) in words, field
    assert all(isinstance(getattr(entry, facet), str) for facet in FACETS)
    unsaid = {part for part in (*PARTS, "groups") if texts[part].startswith(NO_ARGUMENT)}
    assert not unsaid & entry.takes and entry.takes <= {*PARTS, "groups"}


def test_every_name_is_distinct_and_short_and_says_title_and_mode():
    names = [entry.name for entry in CONVENTIONS.values()]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 60  # in a menu, on a phone
    assert CONVENTIONS["torch_sdpa"].name == "F.scaled_dot_product_attention"
    assert CONVENTIONS["torch_mha"].name == "nn.MultiheadAttention, need_weights=True"


def test_every_record_was_run_in_the_version_it_names():
    assert {way["convention"] for way in WAYS.values()} == set(THEIRS)
    for name, way in WAYS.items():
        assert way["convention"] == name or name not in CONVENTIONS
        if name in CONVENTIONS:
            version = VERSIONS[FAMILY[name]][way["package"]].split("+")[0]
            assert CONVENTIONS[name].version == f"{way['package']} {version}"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_recorded_questions_are_those_that_are_drawn(family):
    assert ASKED[family] == json.loads(json.dumps(QUESTIONS))


# ---- against the libraries -----------------------------------------------------------------------

HALF = [name for name, case in QUESTIONS.items() if case["dtype"] == "float16"]
AS_IT_IS = [name for name, case in QUESTIONS.items() if case["given"]]


@pytest.mark.parametrize("way", WAYS)
def test_a_record_equals_its_library(way):
    apart = []
    for question, recorded in WAYS[way]["answers"].items():
        if question not in HALF + AS_IT_IS and "not asked" not in recorded:
            apart += [f"{question}: {what}" for what in unlike(way, question, recorded)]
    assert not apart


def unlike(way, question, recorded):
    """In what the record answers otherwise than the library."""
    case = QUESTIONS[question]
    (Q, K, V, mask), parts, name = drawn(case), parts_of(case), WAYS[way]["convention"]
    given = answer(name, Q, K, V, mask=mask, causal=case["causal"], **parts)
    if given.refused or "refused" in recorded:
        assert not given.refused or given.output is given.weights is None
        if bool(given.refused) != ("refused" in recorded):
            yield f"refused: {given.refused!r}, not {recorded.get('refused', '')!r}"
        return
    exact = recorded["dtype"] == "float64" and CONVENTIONS[name].floats == "as given"
    if given.output.dtype != recorded["dtype"]:
        yield f"of {given.output.dtype}, not {recorded['dtype']}"
    if not {*parts} <= CONVENTIONS[name].takes:
        yield f"takes no {', '.join({*parts} - CONVENTIONS[name].takes)}"
    for stage in {"output", "weights"} & set(recorded):
        expected = np.array(recorded[stage], float)  # null is NaN
        close = {"rtol": 0, "atol": 1e-14 if exact else 1e-6}
        if not np.allclose(getattr(given, stage), expected, equal_nan=True, **close):
            yield stage


def test_each_part_is_taken_by_somebody():
    for part in (*PARTS, "groups"):
        assert any(part in CONVENTIONS[name].takes for name in THEIRS)


def _plain(Q, K, V, keep=None, added=0.0, scale=0.5):
    """Attention in loops of a book, in float64."""
    scores = Q.astype(float) @ K.astype(float).swapaxes(-1, -2) * scale + added
    scores = scores if keep is None else np.where(keep, scores, -np.inf)
    with np.errstate(invalid="ignore"):  # a row that sees no key
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True) @ V.astype(float)


def _fits(recorded, readings) -> set[str]:
    """The readings whose output was recorded."""
    if "refused" in recorded:
        return {"refused"}
    output = np.array(recorded["output"], float)
    return {
        said
        for said, V in readings.items()  # what is in a row without a key has its own test
        if np.allclose(output, np.where(np.isnan(V), output, V), atol=1e-5)
    }


@pytest.mark.parametrize(("kind", "field"), [("int32", "integers"), ("float32", "numbers")])
@pytest.mark.parametrize("name", THEIRS)
def test_ones_in_a_mask_mean_what_the_table_says(name, kind, field):
    question = f"a mask of ones and zeros, {kind}"
    recorded, said = WAYS[name]["answers"][question], word(getattr(CONVENTIONS[name], field))
    if "not asked" in recorded:
        assert said == NOT_KNOWN
        return
    Q, K, V, mask = drawn(QUESTIONS[question])
    scale = 1.0 if CONVENTIONS[name].default_scale == "1" else 0.5
    readings = {
        "may look": _plain(Q, K, V, mask > 0, scale=scale),
        "hide": _plain(Q, K, V, mask == 0, scale=scale),
        "added": _plain(Q, K, V, added=mask, scale=scale),
    }
    assert said in _fits(recorded, readings)


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("name", THEIRS)
def test_a_mask_of_other_axes_is_read_as_the_table_says(name, axes):
    recorded = WAYS[name]["answers"][f"a mask of {axes} axes"]
    said = dict(part.split(": ") for part in CONVENTIONS[name].axes.split("; ") if ": " in part)
    if "not asked" in recorded or str(axes) not in said:
        assert "not asked" in recorded or said.get(str(axes)) is None
        return
    Q, K, V, mask = drawn(QUESTIONS[f"a mask of {axes} axes"])
    keep = ~mask if CONVENTIONS[name].true_means == "hide" else mask
    added = {"added": mask} if CONVENTIONS[name].true_means == "no boolean mask" else {}
    if axes == 2:
        readings = {"(n_q, n_k)": keep, "(B, n_k)": keep[:, None, None]}
    else:
        readings = {"(H, n_q, n_k)": keep, "(B, n_q, n_k)": keep[:, None]}
    found = {
        said: _plain(Q, K, V, added=kept) if added else _plain(Q, K, V, kept)
        for said, kept in readings.items()
    }
    assert said[str(axes)] in _fits(recorded, found) or (
        # as many items and heads as in the question do not fit one axis for both
        # nor 2 queries of 3 keys a library that takes as many of both
        said[str(axes)] in ("(B·H, n_q, n_k)", "(B, n_k)") and "refused" in recorded
    )


def _what_stands_in(row, scores, V) -> set[str]:
    """The words of the table that a recorded row of an output fits."""
    unmasked = np.exp(scores - scores.max())
    found = {"0": np.zeros(V.shape[-1]), "NaN": np.full(V.shape[-1], np.nan)}
    found |= {"uniform": V.mean(axis=-2)}
    found |= {"as if nothing were hidden": unmasked / unmasked.sum() @ V}
    return {w for w, row_ in found.items() if np.allclose(row, row_, atol=5e-3, equal_nan=True)}


@pytest.mark.parametrize("question", ["a hidden row, float16", "no key at all, float16"])
@pytest.mark.parametrize("name", THEIRS)
def test_what_a_hidden_row_gets_in_float16_is_what_the_table_says(name, question):
    case, recorded = QUESTIONS[question], WAYS[name]["answers"][question]
    if "output" not in recorded:
        return
    Q, K, V, mask = (M[0, 0] if M.ndim == 4 else M for M in map(np.asarray, drawn(case)))
    Q, K, V = (M.astype(np.float64) for M in (Q, K, V))
    mask = np.broadcast_to(mask, (len(Q), len(K)))
    hidden = (mask.all(axis=-1)) if CONVENTIONS[name].true_means == "hide" else ~mask.any(axis=-1)
    first, *more = CONVENTIONS[name].hidden_row.split("; ")
    expected = next((m.removesuffix(" in float16") for m in more if m.endswith("float16")), first)
    assert recorded["dtype"] == "float16" or "float32 of float16" in CONVENTIONS[name].half
    for i in np.flatnonzero(hidden):
        row = np.array(recorded["output"][0][0][i], float)
        scale = 1 if CONVENTIONS[name].default_scale == "1" else 0.5
        assert expected in _what_stands_in(row, Q[i] @ K.T * scale, V)


@pytest.mark.parametrize("name", THEIRS)
def test_float16_scores_beyond_65504_are_what_the_table_says(name):
    question = "scores beyond 65504, float16"
    recorded, said = WAYS[name]["answers"][question], word(CONVENTIONS[name].half)
    if "not asked" in recorded:
        assert said in (NOT_KNOWN, "refused")
    elif said == "NaN":
        assert None in np.array(recorded["output"]).ravel()
    else:
        Q, K, V, _ = drawn(QUESTIONS[question])
        scale = 1 if CONVENTIONS[name].default_scale == "1" else 0.5
        found = {"right": _plain(Q, K, V, scale=scale)}
        near = "refused" in recorded or np.allclose(
            np.array(recorded["output"], float), found["right"], atol=5e-3
        )
        assert near and said == ("refused" if "refused" in recorded else "right")


@pytest.mark.parametrize("name", THEIRS)
def test_a_row_that_a_bias_fills_is_what_the_table_says(name):
    for fill, field in (("-inf", "infinite_row"), ("lowest", "lowest_row")):
        question = f"a bias of {fill} for a row, float32"
        recorded, said = WAYS[name]["answers"][question], word(getattr(CONVENTIONS[name], field))
        if "output" not in recorded:
            assert said == NO_ARGUMENT or "refused" in recorded
            continue
        Q, K, V, _ = (M if M is None else M[0, 0] for M in drawn(QUESTIONS[question]))
        row = np.array(recorded["output"][0][0][1], float)
        assert said in _what_stands_in(row, Q[1] @ K.T * 0.5, V)


def test_the_recorded_libraries_do_differ():
    question = "a hidden row, float32"
    rows = {
        name: np.array(WAYS[name]["answers"][question]["output"][0][0][1], float)
        for name in THEIRS
        if "output" in WAYS[name]["answers"][question]
    }
    for first in ("0", "NaN", "uniform"):
        assert any(word(CONVENTIONS[name].hidden_row) == first for name in rows)
    whole = {name: WAYS[name]["answers"]["no key at all, float32"] for name in THEIRS}
    assert whole["torch_mha"] != whole["torch_sdpa"]
    assert WAYS["hf_eager"]["answers"]["a hidden row"]["output"][0][0][1] == [None] * 4


@pytest.mark.parametrize(
    ("one", "other", "question"),
    [
        ("torch_sdpa", "torch_sdpa_math", "causal and a mask"),
        ("torch_sdpa", "torch_sdpa_lower_right", "causal, 2 queries and 4 keys"),
        ("torch_mha", "torch_mha_no_weights", "a mask"),
        ("keras_mha", "keras_mha_scores", "a hidden row"),
        ("onnx_23", "onnx_cache", "causal, 2 queries and 4 keys"),
        ("hf_eager", "hf_sdpa", "causal, 1 query and 4 keys"),
        ("ncnn_sdpa", "ncnn_mha", "a hidden row, float32"),
        ("tvm", "tvm_lower_right", "causal, 4 queries and 2 keys"),
    ],
)
def test_two_modes_that_are_two_records_were_recorded_to_differ(one, other, question):
    asked = (WAYS[name]["answers"][question].get("output") for name in (one, other))
    assert next(asked) != next(asked)


def test_what_a_library_refused_was_its_own_error():
    kinds = {
        (way["convention"], question, way["answers"][question]["refused"].split(":")[0])
        for way in FAMILIES["libraries"].values()
        for question in CASES
        if "refused" in way["answers"][question]
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


# ---- the fields say what the numbers do ----------------------------------------------------------


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_hidden_row_is_what_the_table_says(name):
    Q, K, V = numbers(dtype="float32")
    hides = CONVENTIONS[name].true_means == "hide"
    mask = np.array([[False, False, False]]) ^ hides
    given = answer(name, Q, K, V, mask=mask)
    if given.refused:
        return
    weights = given.weights
    rows = {"0": 0, "NaN": np.nan, "uniform": 1 / 3}
    rows |= {"as if nothing were hidden": answer(name, Q, K, V).weights}
    expected = rows[word(CONVENTIONS[name].hidden_row)]
    near = 1e-3 if np.ndim(expected) else 1e-6  # a finite filler that is added costs digits
    np.testing.assert_allclose(weights, np.broadcast_to(expected, weights.shape), atol=near)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_true_means_what_the_table_says(name):
    given = answer(name, *numbers(2, 2), mask=[[True, False]])
    expected = [0, 1] if CONVENTIONS[name].true_means == "hide" else [1, 0]
    assert given.refused or given.weights[0].tolist() == expected


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize(("n_q", "n_k"), [(3, 3), (2, 4)])
def test_causal_is_aligned_as_the_table_says(name, n_q, n_k):
    corner = CORNERS[CONVENTIONS[name].corner]
    given = answer(name, *numbers(n_q, n_k), causal=True)
    assert given.refused or ((given.weights > 0) == corner(n_q, n_k)).all()


def test_a_window_is_an_argument_or_part_of_the_mask():
    Q, K, V = numbers(2, 4, dtype="float32")
    for name, convention in CONVENTIONS.items():
        if convention.true_means == "hide":  # the array is handed over as it is
            continue
        given = answer(name, Q, K, V, window=2)
        if given.refused:
            assert given.refused == messages.KERAS_MASK_OVER_KEYS or name in NARROW
            continue
        past = 2 if convention.from_the_end else 0
        np.testing.assert_array_equal(given.weights > 0, window(2, 4, 2, past))


def test_a_look_ahead_beside_a_window_without_an_argument_is_part_of_the_mask_as_well():
    Q, K, V = numbers(4, 4)
    given = answer(
        "torch_sdpa_math", Q, K, V, window=2, causal=True, mask=[[True, True, True, False]]
    )
    expected = window(4, 4, 2) & [True, True, True, False]
    np.testing.assert_array_equal(given.weights > 0, expected)


def test_fewer_heads_of_keys_are_refused_where_there_is_no_argument():
    Q, K, V = (np.ones((heads, 3, 4)) for heads in (4, 2, 2))
    for name, convention in CONVENTIONS.items():
        refused = answer(name, Q, K, V).refused
        assert refused == ("" if "groups" in convention.takes else messages.NO_FEWER_HEADS)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_scale_is_used_where_there_is_an_argument_for_it(name):
    Q, K, V = numbers(dtype="float32")
    given = answer(name, Q, K, V, scale=2.0)
    if "scale" in CONVENTIONS[name].takes:
        np.testing.assert_allclose(given.output, _plain(Q, K, V, scale=2.0), atol=1e-6)
    else:
        np.testing.assert_array_equal(given.output, answer(name, Q, K, V).output)


def test_the_record_of_ours_is_our_own_attention():
    Q, K, V = numbers(2, 3, lead=(2,))
    K[:, 1, 0], V[:, 1, 1] = np.nan, np.inf
    bias = np.random.default_rng(1).standard_normal((2, 3))
    options = {"scale": 0.3, "softcap": 0.7, "sinks": np.array([0.2, -1.0]), "bias": bias}
    for mask in ([[True, False, True]], [[False, False, True], [False, False, False]]):
        ours = scaled_dot_product_attention(Q, K, V, allowed=mask, **options)
        given = answer("ours", Q, K, V, mask=mask, **options)
        np.testing.assert_allclose(given.weights, ours.weights, rtol=0, atol=1e-15)
        np.testing.assert_allclose(given.output, ours.output, rtol=0, atol=1e-15)


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
def test_what_a_framework_cannot_be_handed_is_a_sentence_in_the_answer(
    name, arrays, mask, sentence
):
    given = answer(name, *arrays, mask=mask)
    assert (given.weights, given.output, given.refused) == (None, None, sentence)


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
            {"scale": -1.0},
            ValueError,
            messages.POSITIVE_EXPECTED.format(name="scale", given="-1.0"),
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


# ---- the edges -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize(
    ("n_q", "n_k", "lead"), [(2, 0, ()), (0, 2, ()), (2, 2, (0,)), (0, 0, (0, 3))]
)
def test_nothing_to_do_is_done(name, n_q, n_k, lead):
    arrays = numbers(n_q, n_k, lead)
    given = answer(name, *arrays, causal=True)
    if given.refused:
        assert given.refused.endswith(".") and name not in ("ours", "torch_sdpa", "hf_eager")
        return
    assert given.weights.shape == (*lead, n_q, n_k)
    assert given.output.shape == (*lead, n_q, 4) and not given.output.any()


@pytest.mark.parametrize("name", CONVENTIONS)
def test_leading_axes_are_so_many_attentions_side_by_side(name):
    Q, K, V = numbers(2, 3, lead=(2, 3))
    mask = np.random.default_rng(5).random((2, 1, 2, 3)) > 0.5
    mask = mask[..., :1, :] if name == "keras_attention" else mask
    together = answer(name, Q, K, V, mask=mask, causal=True)
    if together.refused:
        return
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
        assert answer(name, Q, K, V, causal=True)
    for M, kept in zip((Q, K, V), before, strict=True):
        np.testing.assert_array_equal(M, kept)
