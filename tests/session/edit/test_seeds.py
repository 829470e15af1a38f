"""The seeds that Randomize counts on to, against plain loops over columns, queries, keys and
weights.
"""

import math
from dataclasses import replace
from functools import partial

import messages
import numpy as np
import pytest

from attention.limits import MAX_SEED
from attention.samples.weights import INITIALISERS
from attention.session.edit import changes, editing, seeds
from attention.session.edit.changes import set_dimension, set_mask, set_sentence
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.matrix import Matrix
from attention.session.state.run import run

ENDS = editing.WEIGHT_ENDS
KINDS = [kind for kind in INITIALISERS if kind != "identity"]


def first():
    return EXAMPLES[FIRST].build()


def draw_of(s, kind="integers", with_X=False):
    low, high = ENDS.get(kind, (0, 1))
    return partial(editing.randomize, s, kind=kind, low=low, high=high, with_X=with_X)


def has_equal_columns(M):
    columns = [[float(x) for x in column] for column in M.reshape(-1, M.shape[-1]).T]
    return any(
        all(a == b for a, b in zip(one, other, strict=True))
        or all(a == -b for a, b in zip(one, other, strict=True))
        for k, one in enumerate(columns)
        for other in columns[:k]
    )


def has_zero_row(M):
    """M: (…, n, d), of each head apart."""
    return any(all(x == 0 for x in row) for row in M.reshape(-1, M.shape[-1]).tolist())


def is_degenerate(s):
    """By the stages that the attention itself gives."""
    weights = [s.matrices[name].values for name in ("W_Q", "W_K", "W_V") if name in s.matrices]
    pick = s.item if s.batch and s.typed_qkv else ...  # the others stay whatever the seed
    trace = run(s)
    queries = trace.X if trace.X_P is None else trace.X_P
    keys = queries if trace.memory is None else trace.memory
    return any(map(has_equal_columns, weights)) or any(
        has_zero_row(stage[pick] if source is None else stage[..., source.any(axis=-1), :])
        for stage, source in ((trace.Q, queries), (trace.K, keys))
    )


def is_peaked(s):
    """More than half of the weights that visible keys have, as softmax gives them, are below
    0.005; divided by √d_k, and not capped.
    """
    trace = run(replace(s, softcap=None, softmax=True))
    picked = s.item if s.batch and s.typed_qkv else ...
    scores, allowed = trace.scores[picked], trace.allowed[picked]
    bias = np.broadcast_to(0.0 if trace.bias is None else trace.bias, trace.scores.shape)[picked]
    few = count = 0
    for row in np.ndindex(scores.shape[:-1]):
        seen = [j for j in range(scores.shape[-1]) if allowed[row][j]]
        powers = [
            math.exp(scores[row][j] / math.sqrt(trace.Q.shape[-1]) + bias[row][j]) for j in seen
        ]
        count += len(seen)
        few += sum(power / sum(powers) < 0.005 for power in powers)
    return few > count / 2


def by_loop(draw, seed):
    """What the next seed has to be."""
    regular = []
    for k in range(50):
        tried = (seed + k) % (MAX_SEED + 1)
        if not is_degenerate(draw(tried)):
            regular.append(tried)
            if not is_peaked(draw(tried)):
                return tried
    return (regular or [seed])[0]


def with_heads(s, heads):
    return replace(s, heads=heads)


def zero_row(s):
    X = s.matrices["X"].values.copy()
    X[2] = 0
    return s.with_matrix("X", Matrix(X))


def enlarged(s, times=3):
    return s.with_matrix("X", Matrix(times * s.matrices["X"].values))


STATES = {
    "the first example": first,
    "two heads": lambda: with_heads(first(), 2),
    "four heads of one column": lambda: with_heads(first(), 4),
    "keys of one column": lambda: set_dimension(first(), "d_k", 1),
    "embeddings of one column": lambda: set_dimension(first(), "d_model", 1),
    "embeddings of two columns": lambda: set_dimension(first(), "d_model", 2),
    "six columns": lambda: set_dimension(first(), "d_k", 6),
    "one word": lambda: set_sentence(first(), "hello"),
    "a token whose vector is 0": lambda: zero_row(first()),
    "a batch of Q, K and V": EXAMPLES["batch"].build,
    "one query": EXAMPLES["lookup"].build,
    "Q, K and V of one column": EXAMPLES["softmax"].build,
    "a batch of one": EXAMPLES["customers"].build,
    "biases": EXAMPLES["biases"].build,
    "positions": EXAMPLES["positions"].build,
    "rotary positions": EXAMPLES["rotary"].build,
    "shared keys": EXAMPLES["grouped"].build,
    "a mixing matrix": lambda: changes.set_output_weights(first(), True),
    "a second sentence": lambda: changes.set_memory(first(), True),
    "large vectors": lambda: enlarged(first()),
    "softmax off": lambda: replace(first(), softmax=False),
    "a window of two among many": lambda: replace(
        set_sentence(first(), " ".join(f"w{k}" for k in range(210))), window=2, mask="causal"
    ),
    "not scaled": lambda: replace(first(), scale=1.0),
    "capped scores": lambda: replace(enlarged(first()), softcap=0.5),
    "a look-ahead mask": lambda: set_mask(enlarged(first()), "causal"),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("seed", [1, 176, MAX_SEED])
def test_the_next_seed_is_the_first_whose_numbers_are_worth_a_look(state, seed):
    draw = draw_of(STATES[state]())
    assert seeds.regular(draw, seed) == by_loop(draw, seed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_X", [False, True])
def test_every_kind_of_draw_skips_its_own_degenerate_seeds(kind, with_X):
    draw = draw_of(first(), kind, with_X)
    for seed in range(170, 190):
        assert seeds.regular(draw, seed) == by_loop(draw, seed)


def test_a_query_that_is_zero_but_for_rounding_counts_as_zero():
    s = first()
    X = s.matrices["X"].values.copy()
    X[1] = 0.1, 0.2, 0.3, 0
    W = np.array([[1.0, 1, 1, 1], [1, 1, 1, 1], [-1, -1, -1, -1], [0, 1, 2, 3]])
    assert 0 < np.abs(X[1] @ W).max() < 1e-15

    def draw(seed):
        drawn = editing.randomize(s.with_matrix("X", Matrix(X)), 178)
        return drawn if seed == 6 else drawn.with_matrix("W_Q", Matrix(W))

    assert seeds.regular(draw, 5) == 6


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_equal_and_opposite_columns_are_named_by_their_places(columns):
    rng = np.random.default_rng(columns)
    for _ in range(200):
        W = rng.integers(-1, 2, (2, columns)).astype(float)
        found = seeds.repeated_columns(W)
        assert (found is not None) == has_equal_columns(W)
        if found:
            j, k, sign = found
            assert j < k and (W[:, k] == sign * W[:, j]).all()


def test_equal_columns_are_named_once_for_each_weight():
    s = editing.randomize(first(), 176)
    W_Q, W_V = (s.matrices[name].values for name in ("W_Q", "W_V"))
    said = seeds.repetition(s)
    assert (W_Q[:, 0] == W_Q[:, 1]).all() and (W_V[:, 0] == -W_V[:, 1]).all()
    equal = messages.EQUAL_COLUMNS.format(first=1, second=2, name="W_Q")
    opposite = messages.OPPOSITE_COLUMNS.format(first=1, second=2, name="W_V")
    assert said == f"{equal} and {opposite}"
    assert seeds.repetition(editing.randomize(first(), 5, "normal")) == ""


def test_after_fifty_seeds_in_vain_the_first_is_taken():
    """Heads of one column, over rows that are one-hot, meet a 0 at any seed."""
    asked = []
    s = first()
    wide = {name: Matrix(np.ones((512, 512))) for name in ("W_Q", "W_K", "W_V")}
    X = Matrix(np.eye(512)[:300])
    s = replace(s, tokens=("w",) * 300, matrices={"X": X, **wide}, heads=512)

    def draw(seed):
        asked.append(seed)
        return editing.randomize(s, seed)

    assert seeds.regular(draw, MAX_SEED) == MAX_SEED
    assert asked == [MAX_SEED, *range(49)]


def test_weights_that_would_mostly_be_0_are_passed_over_whatever_scale_and_cap_are_set():
    s = enlarged(first())
    nexts = {seeds.regular(draw_of(changed), 1) for changed in (s, replace(s, scale=1.0))}
    assert nexts == {seeds.regular(draw_of(replace(s, softcap=0.5)), 1)}
    (seed,) = nexts
    assert not is_peaked(editing.randomize(s, seed))
    passed = [k for k in range(1, seed) if not is_degenerate(editing.randomize(s, k))]
    assert passed and all(is_peaked(editing.randomize(s, k)) for k in passed)


def test_among_hundreds_of_keys_a_seed_is_only_passed_over_for_its_columns_queries_and_keys():
    s = set_sentence(first(), " ".join(f"w{k}" for k in range(201)))
    draw = draw_of(s)
    assert seeds.regular(draw, 1) == next(k for k in range(1, 51) if not is_degenerate(draw(k)))
