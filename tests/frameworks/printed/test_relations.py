"""Relations of printed arrays: those of a notebook are found, and none among numbers of chance."""

import re

import numpy as np
import pytest

from attention.frameworks.printed.fits import factors, named_factor
from attention.frameworks.printed.relations import Printed, relations
from attention.limits import MAX_RELATED, MAX_RELATED_NUMBERS


def printed(name, values, decimals=8, named=True):
    """Return the array as NumPy prints it, read again digit by digit."""
    values = np.asarray(values)
    if values.dtype == bool:
        return Printed(name, values, 0, named)
    text = np.array2string(values, precision=decimals, threshold=10**9)
    tokens = re.findall(r"-?(?:inf|nan|\d+\.?\d*(?:e[+-]?\d+)?)", text)
    places = [re.fullmatch(r"-?\d+\.?(\d*)(?:e([+-]?\d+))?", token) for token in tokens]
    most = max((len(found[1]) for found in places if found), default=0)
    exact = most == 0
    units = [10.0 ** (int(found[2] or 0) - most) if found and not exact else 0 for found in places]
    numbers = np.array([float(token) for token in tokens])
    shape = values.shape
    return Printed(name, numbers.reshape(shape), np.array(units).reshape(shape), named)


def by_hand(X, W_Q, W_K, W_V, ahead=False, root=None):
    """Return every stage by plain loops in extended precision."""

    def times(A, B):
        rows, inner, columns = len(A), len(B), len(B[0])
        C = np.zeros((rows, columns), np.longdouble)
        for i in range(rows):
            for j in range(columns):
                for k in range(inner):
                    C[i, j] += np.longdouble(A[i][k]) * np.longdouble(B[k][j])
        return C

    Q, K, V = times(X, W_Q), times(X, W_K), times(X, W_V)
    scores = times(Q, K.T)
    scaled = scores / np.sqrt(np.longdouble(root or K.shape[1]))
    masked, weights = scaled.copy(), np.zeros_like(scaled)
    for i, row in enumerate(masked):
        for j in range(len(row)):
            if ahead and j > i:
                row[j] = -np.inf
        powers = [np.exp(score - max(row)) for score in row]
        weights[i] = [power / sum(powers) for power in powers]
    stages = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "Q": Q, "K": K, "V": V}
    stages |= {"scores": scores, "scaled": scaled} | ({"masked": masked} if ahead else {})
    stages |= {"weights": weights, "output": times(weights, V)}
    return {name: np.asarray(M, float) for name, M in stages.items()}


def drawn(seed, n=4, d_model=5, d_k=3, d_v=3, normal=True, **more):
    rng = np.random.default_rng(seed)
    draw = rng.standard_normal if normal else lambda shape: rng.integers(-2, 3, shape) * 1.0
    inputs = [draw(shape) for shape in ((n, d_model), (d_model, d_k), (d_model, d_k))]
    return by_hand(*inputs, draw((d_model, d_v)), **more)


def found_of(stages, decimals=4, named=True):
    return relations([printed(name, M, decimals, named) for name, M in stages.items()])


def said(found):
    return [str(r) for r in found.relations if r.used]


STEPS = [
    "Q = X W_Q",
    "K = X W_K",
    "V = X W_V",
    "scores = Q Kᵀ",
]


@pytest.mark.parametrize("decimals", [2, 3, 4, 8])
@pytest.mark.parametrize("normal", [True, False])
@pytest.mark.parametrize("ahead", [True, False])
def test_every_stage_of_a_notebook_is_found(decimals, normal, ahead):
    for seed, (n, d_model, d_k, d_v) in enumerate([(3, 5, 4, 4), (4, 4, 3, 5), (6, 8, 2, 6)]):
        stages = drawn(seed, n, d_model, d_k, d_v, normal, ahead=ahead)
        found = found_of(stages, decimals)
        assert [use.role for use in found.uses] == list(stages)
        assert {use.by for use in found.uses} == {"relation"}
        mask = ["masked = scaled, look-ahead"] if ahead else []
        source = "masked" if ahead else "scaled"
        end = [f"weights = softmax({source})", "output = weights V"]
        scaled = "scaled = scores / 2" if d_k == 4 else f"scaled = scores / √{d_k}"
        assert said(found) == [*STEPS, scaled, *mask, *end]


@pytest.mark.parametrize("decimals", [3, 4, 8])
@pytest.mark.parametrize("ahead", [True, False])
def test_names_are_not_needed(decimals, ahead):
    for seed in range(5):
        stages = drawn(seed, 5, 6, 4, 3, ahead=ahead)
        found = found_of(stages, decimals, named=False)
        assert [use.role for use in found.uses] == list(stages)


@pytest.mark.parametrize("grid", ["whole", "one decimal", "normal"])
def test_arrays_of_chance_are_not_related(grid):
    rng = np.random.default_rng(3)
    for _ in range(250):
        shapes = [(3, 3), (3, 4), (4, 3), (4, 4), (3,), (2, 2)]
        arrays = []
        for k in range(rng.integers(3, 8)):
            shape = shapes[rng.integers(len(shapes))]
            M = {
                "whole": rng.integers(-3, 4, shape) * 1.0,
                "one decimal": rng.integers(-30, 31, shape) / 10,
                "normal": rng.standard_normal(shape),
            }[grid]
            arrays.append(printed(f"numbers {k}", M, 2, False))
        chance = ("sums", "equal", "transposed", "row")  # which 2 x 2 numbers may be
        assert [r for r in relations(arrays).relations if r.kind not in chance] == []


@pytest.mark.parametrize(
    ("factor", "written"),
    [(0.5, " / 2"), (5**-0.5, " / √5"), (2.0, " × 2"), (1 / 3, " / 3"), (1 / 6, " / 6")],
)
def test_a_scale_is_named_by_its_root_or_whole_number(factor, written):
    S = np.random.default_rng(0).standard_normal((4, 4))
    found = relations([printed("scores", S, 4), printed("scaled", S * factor, 4)])
    assert said(found) == [f"scaled = scores{written}"]


def test_scaled_scores_whose_rows_are_multiples_are_recognised():
    Q, K = np.array([[1, 0, 1], [0, 2, 0]]), np.array([[1, 1, 0], [0, 1, 1]])
    found = found_of({"Q": Q, "K": K, "scores": Q @ K.T / np.sqrt(3)}, 8)
    assert str(found) == "“scores” = Q Kᵀ / √3"
    assert found.uses[2].role == "scaled"


def test_the_root_of_d_model_is_seen():
    stages = drawn(2, d_model=7, d_k=3, root=7)
    assert "scaled = scores / √7" in said(found_of(stages))


@pytest.mark.parametrize("mask", [np.tri(4, dtype=bool), ~np.tri(4, dtype=bool), np.tri(4)])
def test_a_printed_mask_is_found_either_way_round(mask):
    stages = drawn(4, ahead=True)
    del stages["masked"]
    found = found_of(stages | {"mask": mask})
    assert "weights = softmax(scaled), look-ahead “mask”" in said(found)
    assert found.uses[-1].role == "mask"


PLACES = {  # that are visible
    "padding": np.broadcast_to(np.arange(5) < 3, (5, 5)),
    "look-ahead and padding": np.tri(5, dtype=bool) & (np.arange(5) < 3),
    "anywhere": np.random.default_rng(8).random((5, 5)) < 0.7,
}


@pytest.mark.parametrize("allowed", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("of", ["scaled", "Q K"])
@pytest.mark.parametrize("mask", ["not printed", "printed"])
def test_weights_of_exactly_0_show_what_is_hidden(allowed, of, mask):
    stages = drawn(1, n=5)
    masked = np.where(allowed, stages["scaled"], -np.inf)
    powers = np.exp(masked - masked.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    kept = {name: stages[name] for name in of.split()} | {"V": stages["V"]}
    kept |= {"padding mask": allowed} if mask == "printed" else {}
    found = found_of(kept | {"weights": weights, "output": weights @ stages["V"]})
    source = "scaled" if of == "scaled" else "Q Kᵀ / √3"
    hides = ", mask “padding mask”" if mask == "printed" else ", hidden where it is 0"
    assert said(found) == [f"weights = softmax({source}){hides}", "output = weights V"]
    assert found.remarks == ()
    softmax = next(r for r in found.relations if r.kind == "softmax")
    assert softmax.mask == ("printed" if mask == "printed" else "other")


def test_zeros_that_chance_chose_make_no_weights():
    """Hidden places that follow from the weights are no evidence for them."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        powers = np.exp(rng.standard_normal((4, 4))) * (rng.random((4, 4)) < 0.5)
        weights = powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-9)
        scores = rng.integers(-3, 4, (4, 4)) * 1.0
        found = found_of({"scores": scores, "weights": weights}, 2)
        assert "softmax" not in str(found)


def test_softmax_of_columns_is_recognised():
    S = np.random.default_rng(1).standard_normal((4, 4))
    W = np.exp(S) / np.exp(S).sum(0)
    found = relations([printed("scores", S, 4), printed("Attention weights", W, 4)])
    assert said(found) == ["weights = softmax(scores) of each column"]
    assert next(r for r in found.relations if r.kind == "softmax").columns


def test_tokens_as_columns_are_recognised():
    stages = drawn(5)
    stages["X"] = stages["X"].T
    found = found_of(stages, named=False)
    assert [use.role for use in found.uses] == list(stages)
    assert found.uses[0].transposed and not found.uses[1].transposed


def test_a_transposed_copy_of_the_keys_is_one_of_the_keys():
    stages = drawn(6)
    stages["K^T"] = stages["K"].T
    found = found_of(stages)
    assert found.uses[-1].role == "K" and found.uses[-1].transposed
    assert [use.role for use in found.uses[:-1]] == list(stages)[:-1]


def test_vectors_are_rows_of_stages():
    stages = drawn(7)
    row = {"query 2": stages["Q"][1], "weights 2": stages["weights"][1]}
    found = found_of({k: stages[k] for k in ("X", "W_Q", "scaled")} | row)
    query, weights = found.uses[3:]
    assert (query.role, query.row, query.is_row) == ("Q", 1, True)
    assert (weights.role, weights.row, weights.is_row) == ("weights", 1, True)
    assert "“query 2” = row 2 of X W_Q" in said(found)


def test_numbers_win_over_names_that_contradict():
    stages = drawn(8)
    stages = {{"Q": "K", "K": "Q"}.get(name, name): M for name, M in stages.items()}
    uses = dict(zip(stages, found_of(stages).uses, strict=True))
    assert (uses["K"].role, uses["Q"].role) == ("Q", "K")
    assert uses["Q"].remark == "It is called “Q”, but its numbers are K."


@pytest.mark.parametrize("twice", ["Q", "K"])
@pytest.mark.parametrize("names", [("Q", "K", "V"), ("Queries", "Keys", "Value matrix")])
def test_given_queries_keys_and_values_keep_their_names(twice, names):
    """Q Qᵀ and K Kᵀ are mistakes for Q Kᵀ, which the comparison with the board has to show."""
    Q, K, V = np.split(np.random.default_rng(0).integers(-2, 3, (3, 10)) * 1.0, [4, 8], axis=1)
    A = {"Q": Q, "K": K}[twice]
    powers = np.exp(A @ A.T / 2)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    stages = dict(zip(names, (Q, K, V), strict=True)) | {"weights": weights}
    for more in ({}, {"scores": A @ A.T}):
        found = found_of(stages | more | {"output": weights @ V}, 8)
        roles = ["Q", "K", "V", "weights", *more, "output"]
        assert [use.role for use in found.uses] == roles
        assert not any(use.remark for use in found.uses)
        wrong = f"scores = {twice} {twice}ᵀ" if more else f"softmax({twice} {twice}ᵀ"
        assert wrong in str(found) and wrong not in " · ".join(said(found))


@pytest.mark.parametrize(
    ("values", "role"),
    [
        ([[1, 2], [3, 4]], None),
        ([[0.5, -0.1], [0.2, 0.3]], None),
        ([[0.5, 0.1], [0.2, np.inf]], None),
        ([[0.5, 0.1], [1.0, 0.3]], "weights"),
        ([[np.nan, np.nan], [1.0000001, 0.0]], "weights"),
    ],
)
def test_only_shares_are_weights_by_one_letter(values, role):
    assert relations([printed("A", np.array(values))]).uses[0].role == role
    assert relations([printed("Attention weights", np.array(values))]).uses[0].role == "weights"


def test_two_explanations_are_both_given():
    stages = drawn(9)
    stages["K"] = stages["Q"]
    stages["scores"] = stages["Q"] @ stages["Q"].T
    kept = {name: stages[name] for name in ("Q", "K", "scores")}
    found = found_of(kept)
    assert [use.role for use in found.uses] == ["Q", "K", "scores"]
    pairs = {r.operands for r in found.relations if r.kind == "product"}
    assert {(0, 1), (1, 0)} <= pairs


def test_heads_are_compared_together():
    heads = [drawn(seed) for seed in range(2)]
    stages = {
        k: np.stack([head[k] for head in heads]) for k in ("Q", "K", "V", "weights", "output")
    }
    found = found_of(stages)
    assert [use.role for use in found.uses] == list(stages)
    assert said(found) == ["weights = softmax(Q Kᵀ / √3)", "output = weights V"]


def test_order_and_shape_propose_what_no_relation_shows():
    rng = np.random.default_rng(0)
    shapes = ((3, 4), (3, 4), (3, 2))
    three = [printed(f"numbers {k}", rng.normal(size=s), 2, False) for k, s in enumerate(shapes)]
    assert [(u.role, u.by) for u in relations(three).uses] == [(x, "order") for x in "QKV"]
    shapes = ((3, 4), (4, 2), (4, 2), (4, 5))
    four = [printed(f"numbers {k}", rng.normal(size=s), 2, False) for k, s in enumerate(shapes)]
    roles = [use.role for use in relations(four).uses]
    assert roles == ["X", "W_Q", "W_K", "W_V"]
    mask = printed("numbers 1", np.tri(3, dtype=bool), 2, False)
    assert relations([mask]).uses[0].role == "mask"


def test_what_is_too_large_or_too_much_is_not_compared():
    one = Printed("x", np.ones((1, 2)), 0, False)
    found = relations([Printed("big", np.ones((1, MAX_RELATED_NUMBERS + 1)), 0), *[one] * 30])
    assert len(found.uses) == 31 and len(found.remarks) == 2
    assert str(MAX_RELATED) in found.remarks[1]


def test_factors_are_those_of_every_number():
    """Compare the range with factors that are tried one by one."""
    rng = np.random.default_rng(0)
    tried = np.linspace(0.001, 3, 3000)
    for _ in range(50):
        d, error = rng.normal(size=5), rng.uniform(0, 0.1, 5)
        low = 0.7 * d - rng.uniform(0, 0.2, 5)
        high = 0.7 * d + rng.uniform(0, 0.2, 5)
        fits = [all(c * (d - error) <= high) and all(c * (d + error) >= low) for c in tried]
        least, most = factors(d, error, low, high)
        assert ((tried >= least) & (tried <= most)).tolist() == fits


def test_only_whole_numbers_name_a_factor():
    assert named_factor(0.35, 0.36) == pytest.approx(8**-0.5)
    assert named_factor(0.1, 0.2) is None


@pytest.mark.parametrize("fill", [-np.inf, -1e9, -1e4])
def test_what_float32_rounded_is_scaled_and_masked(fill):
    rng = np.random.default_rng(7)
    Q, K = rng.standard_normal((2, 5, 3)).astype(np.float32)
    scores = Q @ K.T
    masked = scores / np.sqrt(np.float32(3)) + np.where(np.tri(5), 0, np.float32(fill))
    found = relations([printed("scores", scores), printed("masked", masked.astype(np.float32))])
    assert str(found) == "masked = scores / √3, look-ahead"


def test_where_not_all_ways_were_tried_it_is_said():
    """The weights are those of something that is not printed, so each way to make them fails."""
    stages, powers = drawn(1, n=5), np.exp(np.random.default_rng(0).standard_normal((5, 5)))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    names = ("X", "W_Q", "W_K", "W_V", "Q", "K", "V", "scaled")
    shown = [printed(name, stages[name]) for name in names]
    found = relations(
        [*shown, printed("weights", weights), printed("output", weights @ stages["V"])]
    )
    assert "weights = softmax" not in str(found)
    assert found.remarks == (
        "These arrays may be made of each other in so many ways that not all were tried.",
    )
