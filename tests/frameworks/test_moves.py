"""From one library to another: each cause was tried, and the lines undo what is seen."""

import itertools

import messages
import numpy as np
import pytest
from amount import some

from attention.frameworks.libraries.convention import FACETS
from attention.frameworks.moves import CHECK, digits_alike, moved
from attention.frameworks.records import CONVENTIONS, answer

SDPA, MHA = "F.scaled_dot_product_attention", "nn.MultiheadAttention"
PLAIN = {"torch_sdpa", "torch_mha", "jax", "keras_mha", "onnx_23", "hf_sdpa", "openvino"}
PAIRS = list(itertools.permutations(CONVENTIONS, 2))
LOWEST = float(np.finfo(np.float32).min)


def numbers(n_q=3, n_k=3, lead=(), dtype="float32", seed=0):
    """Q, K and V."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((*lead, n, 4)).astype(dtype) for n in (n_q, n_k, n_k)]


def seen(a, b, *arrays, **rest) -> list[str]:
    return [change.sentence for change in moved(a, b, *arrays, **rest).changes]


# ---- the causes ----------------------------------------------------------------------------------


def test_the_polarity_of_a_mask_is_named_and_turned():
    mask = np.array([[True, False, True]] * 3)
    move = moved("torch_sdpa", "torch_mha", *numbers(), mask=mask)
    assert [change.sentence for change in move.changes] == [messages.TRUE_MEANS_HIDE]
    assert (move.before, move.after, move.undone) == (("mask = ~mask",), (), True)
    assert move.checks == (CHECK["true_means"],)


@pytest.mark.parametrize(
    ("a", "b", "here", "there", "fill"),
    [
        ("torch_sdpa", "jax", "weights of 0", "equal weights", "0"),
        ("jax", "torch_sdpa", "equal weights", "weights of 0", "V.mean(axis=-2, keepdims=True)"),
        ("torch_mha", "torch_mha_no_weights", "NaN", "weights of 0", "np.nan"),
    ],
)
def test_a_row_that_sees_no_key_is_told_on_both_sides(a, b, here, there, fill):
    mask = np.array([[True, False, True], [False] * 3, [True] * 3])
    mask = ~mask if a == "torch_mha" else mask
    move = moved(a, b, *numbers(), mask=mask, rows=["“x”", "“y”", "“z”"])
    a_, b_ = (CONVENTIONS[name] for name in (a, b))
    titles = [side.title if a_.title != b_.title else side.name for side in (a_, b_)]
    assert [change.sentence for change in move.changes] == [
        messages.ROW_SEES_NO_KEY.format(
            rows="Row “y” sees", some="", there=there, here=here, a=titles[0], b=titles[1]
        )
    ]
    assert move.after == (f"output = np.where(seen, output, {fill})",)


@pytest.mark.parametrize(("fill", "facet"), [(-np.inf, "infinite_row"), (LOWEST, "lowest_row")])
def test_a_row_that_a_bias_hides_is_told_as_such(fill, facet):
    bias = np.zeros((3, 3), np.float32)
    bias[1] = fill
    changes = moved("torch_sdpa", "jax", *numbers(), bias=bias).changes
    if fill == -np.inf:
        assert [change.facet for change in changes] == [facet]
    else:
        assert changes == ()  # equal weights in both


def test_a_row_hidden_in_one_item_alone_says_in_how_many():
    mask = np.ones((2, 3, 3), bool)
    mask[1, 2] = False
    (sentence,) = seen("torch_sdpa", "jax", *numbers(lead=(2,)), mask=mask)
    assert sentence.startswith("Row 3 sees no key in 1 of 2 items: ")


def test_the_corner_is_named_only_where_it_matters():
    a, b = "torch_sdpa", "onnx_cache"
    titles = {"a": SDPA, "b": "ONNX Attention"}
    said = messages.CORNERS_DIFFER.format(at="lower right", there="upper left", **titles)
    move = moved(a, b, *numbers(2, 4), causal=True)
    assert [change.sentence for change in move.changes] == [said]
    assert move.before == (
        "mask = np.tri(Q.shape[-2], K.shape[-2], dtype=bool)",
        "causal = False",
    )
    assert seen(a, b, *numbers(3, 3), causal=True) == []


def test_a_switch_that_hides_nothing_from_a_single_query_is_named():
    said = messages.SWITCH_HIDES_NOTHING.format(library="Hugging Face sdpa attention")
    assert seen("torch_sdpa", "hf_sdpa", *numbers(1, 4), causal=True) == [said]
    mask = np.ones((1, 4), bool)
    assert seen("torch_sdpa", "hf_sdpa", *numbers(1, 4), causal=True, mask=mask) == []


def test_a_missing_scale_is_named_and_no_scale_of_ones_own_removes_it():
    said = messages.DOES_NOT_DIVIDE.format(a=SDPA, b="keras.layers.Attention")
    move = moved("torch_sdpa", "keras_attention", *numbers())
    assert [change.sentence for change in move.changes] == [said]
    assert move.before == ("Q = Q / Q.shape[-1] ** 0.5",)
    assert not seen("torch_sdpa", "keras_attention", *numbers(), scale=1.0)


def test_a_part_without_an_argument_is_left_out_and_cannot_be_undone():
    move = moved("hf_eager", "torch_sdpa", *numbers(), softcap=0.5)
    said = messages.LEAVES_A_PART_OUT.format(library=SDPA, part="soft cap")
    assert said in [change.sentence for change in move.changes] and not move.undone
    back = moved("torch_sdpa", "hf_eager", *numbers(), softcap=0.5)
    assert back.undone and "softcap = None" in back.before


def test_a_finite_filler_that_a_score_outweighs_is_named():
    Q, K, V = np.array([[1.0]]), np.array([[-2e9], [0.0]]), np.array([[1.0], [2.0]])
    arrays, mask = [M.astype("f4") for M in (Q, K, V)], np.array([[True, False]])
    keeps = messages.FILLER_KEEPS_WEIGHT.format(library="keras.layers.Attention", share=1)
    loses = messages.FILLER_LOSES_WEIGHT.format(library="keras.layers.MultiHeadAttention", share=1)
    assert seen("torch_sdpa", "keras_attention", *arrays, mask=mask) == [keeps]
    assert seen("torch_sdpa", "keras_mha_scores", *arrays, mask=mask) == [loses]


@pytest.mark.parametrize("stage", [1, 2])
def test_a_hidden_nan_that_reaches_one_answer_is_named(stage):
    arrays = numbers()
    arrays[stage][1] = np.nan
    mask = np.array([[True, False, True]])
    said = messages.NAN_REACHES_ANSWER.format(library=SDPA)
    assert seen("ours", "torch_sdpa", *arrays, mask=mask) == [said]
    clean = stage == 1  # JAX puts its filler in the place of hidden scores, but multiplies V by 0
    assert (seen("jax", "torch_sdpa", *arrays, mask=mask) == [said]) is clean


def test_digits_are_told_apart_from_what_is_seen():
    Q, K, V = (
        np.full((1, 3), 141, "f4"),
        np.array([[141, 141, 141], [141, 141, 140.99]], "f4"),
        np.eye(2, 3, dtype="f4"),
    )
    (change,) = moved("torch_sdpa", "onnx_23", Q, K, V).changes
    assert change.fine
    assert change.sentence == messages.ROOTS_OF_SCALE.format(library="ONNX Attention")
    (change,) = moved("ours", "hf_eager", *numbers(dtype="float64")).changes
    library = "Hugging Face eager attention"
    assert change.fine and change.sentence == messages.SOFTMAX_IN_FLOAT32.format(library=library)


def test_a_row_that_sees_keys_where_the_mask_is_dropped_is_said_last():
    mask = np.array([[False, True, True]] * 3)
    move = moved("torch_sdpa", "openvino", *numbers(), mask=mask, causal=True)
    first, last = [change.sentence for change in move.changes]
    assert first == messages.IGNORES_THE_MASK.format(
        library="OpenVINO scaled_dot_product_attention"
    )
    assert last.startswith(messages.ONCE_THE_MASK_IS_READ) and "NaN" in last
    assert np.isfinite(move.b.output).all() and move.undone


def test_causes_that_undo_each_other_are_no_difference():
    """The row sees no key in both, by either reading of the mask's only place."""
    Q, K, V = numbers(1, 1)
    move = moved("keras_mha", "torch_mha", Q, K, V, mask=np.array([[False]]))
    assert not move.changes and move.undone


def test_several_causes_stand_in_the_order_in_which_they_were_tried():
    mask = np.array([[False, True, True]])
    facets = [
        c.facet
        for c in moved("ours", "keras_attention", *numbers(), mask=mask, causal=True).changes
    ]
    assert facets == ["hidden_row", "default_scale"]


def test_what_one_refuses_has_no_causes():
    move = moved("torch_sdpa", "keras_attention", *numbers(), mask=np.tri(3, dtype=bool))
    assert move.b.refused == messages.KERAS_MASK_OVER_KEYS
    assert move.a.output is not None and not move.changes and not move.undone


def test_what_these_numbers_cannot_show_is_listed():
    mask = np.array([[True, False, True]] * 3)
    move = moved("torch_sdpa", "torch_mha", *numbers(), mask=mask)
    assert {"hidden_row", "axes", "layout"} <= set(move.unseen) <= set(FACETS)
    assert "true_means" not in move.unseen  # it is seen


def test_digits_alike_counts_decimal_digits():
    Q, K, V = numbers(dtype="float64")
    assert digits_alike(moved("ours", "torch_sdpa", Q, K, V)) >= 15
    assert digits_alike(moved("ours", "jax", Q, K, V)) in (6, 7)
    assert digits_alike(moved("ours", "keras_attention", Q, K, V)) == 0


# ---- between any two -----------------------------------------------------------------------------


def inputs(seed):
    """Q, K, V and the options of one case of many."""
    rng = np.random.default_rng(seed)
    n_q, n_k = rng.integers(1, 5, 2).tolist()
    n_k = n_q if seed % 3 == 0 else n_k
    lead = [(), (2,), (4,), (2, 4)][seed % 4 if seed > 15 else seed % 3]
    arrays = numbers(n_q, n_k, lead, ("float32", "float64")[seed % 2], seed)
    if lead[-1:] == (4,) and seed % 2:
        arrays[1:] = [M[..., :2, :, :] for M in arrays[1:]]
    rest = {}
    if seed % 4:
        mask = rng.random((n_q, n_k) if seed % 5 else (1, n_k)) > 0.5
        rest["mask"] = np.broadcast_to(mask, (n_q, n_k))
    rest |= {"causal": True} if seed % 2 else {}
    rest |= {"window": 2} if seed % 7 == 0 else {}
    rest |= {"scale": float(rng.choice([0.3, 1]))} if seed % 6 == 1 else {}
    if seed % 5 == 2:
        bias = rng.standard_normal((n_q, n_k))
        bias[rng.random((n_q, n_k)) > 0.5] = (-np.inf, LOWEST)[seed % 2]
        rest["bias"] = bias
    return arrays, rest | ({"softcap": 0.5} if seed % 8 == 3 else {})


@pytest.mark.parametrize(("pair", "seed"), some(itertools.product(PAIRS, range(24)), of=24))
def test_a_cause_is_named_just_where_numbers_differ_and_the_lines_undo_it(pair, seed):
    (a, b), (arrays, rest) = pair, inputs(seed)
    move = moved(a, b, *arrays, **rest)
    if move.a.refused or move.b.refused:
        return
    size = max(1.0, np.abs(move.a.output[np.isfinite(move.a.output)]).max(initial=1))
    near = {"rtol": 0, "atol": 1e-5 * size, "equal_nan": True}
    same = np.allclose(move.a.output, move.b.output, **near)
    same = same and np.allclose(move.a.weights, move.b.weights, **near)
    assert any(not change.fine for change in move.changes) is not same
    facets = {change.facet for change in move.changes if not change.fine}
    by_lines = {"true_means", "default_scale", "beside", "scale", "hidden_row"}
    assert move.undone or not ({*pair} <= PLAIN and facets <= by_lines) or "bias" in rest
    if move.undone:
        names = dict(zip("QKV", arrays, strict=True)) | {"np": np, "causal": False}
        names |= dict.fromkeys(("mask", "scale", "softcap", "window", "bias")) | rest
        for line in move.before:
            exec(line, names)
        options = {key: names[key] for key in ("mask", "causal", "scale", "softcap", "window")}
        undone = answer(b, names["Q"], names["K"], names["V"], bias=names["bias"], **options)
        names["output"] = undone.output
        for line in move.after:
            exec(line, names)
        np.testing.assert_allclose(names["output"], move.a.output, **near)


def test_most_differences_are_undone_and_nan_is_blamed_where_there_is_one():
    told = undone = refused = cases = 0
    for pair, seed in list(itertools.product(PAIRS, range(24)))[::97]:
        arrays, rest = inputs(seed)
        move = moved(*pair, *arrays, **rest)
        cases, refused = cases + 1, refused + bool(move.a.refused or move.b.refused)
        seen_ = [change for change in move.changes if not change.fine]
        told, undone = told + bool(seen_), undone + bool(seen_ and move.undone)
        blamed = any("NaN or ∞ at a hidden key" in change.sentence for change in seen_)
        assert not blamed or not all(np.isfinite(a.output).all() for a in (move.a, move.b))
    assert refused < 0.5 * cases and undone > 0.6 * told and told > 0.2 * cases


def test_lists_are_taken_as_arrays():
    Q, K, V = (M.tolist() for M in numbers())
    bias = [[0.0, 0.0, 0.0], [-np.inf] * 3, [0.0, 0.0, 0.0]]
    move = moved("torch_sdpa", "jax", Q, K, V, bias=bias)
    assert move.undone and move.after


def test_a_window_in_the_mask_is_read_as_the_mask_is():
    move = moved("torch_sdpa", "torch_mha", *numbers(), window=2)
    assert [change.sentence for change in move.changes] == [messages.TRUE_MEANS_HIDE]
    assert move.undone and move.before[0].startswith("mask = ~(np.tri(")


def test_a_library_without_boolean_masks_is_named():
    mask = np.tri(3, dtype=bool)
    (change,) = moved("torch_sdpa", "hf_eager", *numbers(), mask=mask).changes
    assert change.fine and change.facet == "true_means"
