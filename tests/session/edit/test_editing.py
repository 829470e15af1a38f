"""Typing and rolling change exactly what they name."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from build import four_words

from attention.readers.select import SelectedArray
from attention.session.bring.adopt import adopt
from attention.session.edit import editing
from attention.session.edit.changes import set_dimension
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.validate import check

WEIGHTS = ("W_Q", "W_K", "W_V")
RECORDED = {  # seed 1, whole numbers from −1 to 1
    "W_Q": [[-1, -1, 1, -1], [-1, 1, 0, -1], [1, 0, 1, 1], [0, 1, 0, 0]],
    "W_K": [[1, 0, -1, 1], [0, 0, 1, 1], [0, 1, 1, 0], [-1, 1, -1, 1]],
    "W_V": [[0, -1, 0, -1], [0, 0, 1, -1], [0, 0, 1, -1], [0, 1, 0, 1]],
}


def test_rolling_draws_with_the_seed_shown_and_then_with_the_next():
    first = editing.roll(four_words(), "W_V", Recipe("normal", 7))
    again = editing.roll(first, "W_V", Recipe("normal", 7))
    for s, seed in ((first, 7), (again, 8)):
        assert s.matrices["W_V"].recipe == Recipe("normal", seed, stream="W_V")
        assert s.matrices["W_V"].values.tolist() == by_hand("W_V", seed, 4, 4)
    assert all(again.matrices[name] is four_words().matrices[name] for name in ("X", "W_Q", "W_K"))


def by_hand(name, seed, rows, columns):
    """Standard normal numbers of the stream that a name and a seed have, row by row."""
    digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
    words = [int.from_bytes(digest[k : k + 4], "little") for k in range(0, 16, 4)]
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words])))
    return [[rng.standard_normal() for _ in range(512)][:columns] for _ in range(rows)]


DRAWS = {"integers": (-1000, 1000), "uniform": (-1, 1), "normal": (0, 3), "xavier": (0, 3)}


@pytest.mark.parametrize("kind", DRAWS)
def test_no_two_matrices_that_are_rolled_are_equal_whatever_their_seeds(kind):
    low, high = DRAWS[kind]
    s = editing.roll(four_words(), "W_K", Recipe(kind, 2, low, high))
    for _ in range(3):  # seeds 1, 2 and 3, one of which is W_K's
        s = editing.roll(s, "W_Q", Recipe(kind, 1, low, high))
        one, other = (s.matrices[name].values for name in ("W_Q", "W_K"))
        assert not (one == other).any()


@pytest.mark.parametrize("kind", DRAWS)
def test_randomize_draws_each_weight_from_a_stream_of_its_own_and_leaves_the_rest(kind):
    before = four_words()
    s = check(editing.randomize(before, 5, kind, *DRAWS[kind]))
    Q, K, V = (s.matrices[name].values for name in WEIGHTS)
    assert not (Q == K).any() and not (Q == V).any() and not (K == V).any()
    assert s.matrices["X"] is before.matrices["X"]
    assert all(s.matrices[name].is_rolled for name in WEIGHTS)
    assert replace(s, matrices=before.matrices) == before
    again = editing.randomize(before, 5, kind, *DRAWS[kind])
    assert again == s


def test_randomize_draws_small_whole_numbers_that_were_recorded():
    s = editing.randomize(four_words(), 1)
    assert {name: s.matrices[name].values.astype(int).tolist() for name in WEIGHTS} == RECORDED


def test_each_press_of_randomize_takes_the_next_seed():
    s, seeds = four_words(), []
    for _ in range(3):
        seeds.append(editing.next_seed(s))
        s = editing.randomize(s, seeds[-1])
    assert seeds == [1, 2, 3]
    last = editing.randomize(s, 2**32 - 1)
    assert editing.next_seed(last) == 0


def test_queries_keys_and_values_that_are_given_are_randomized_themselves():
    before = EXAMPLES["batch"].build()
    s = check(editing.randomize(replace(before, item=3), 9, "normal"))
    for name in "QKV":
        changed = (s.matrices[name].values != before.matrices[name].values).any(axis=(1, 2))
        assert np.flatnonzero(changed).tolist() == [3]
    assert not (s.matrices["Q"].values[3] == s.matrices["K"].values[3]).any()


@pytest.mark.parametrize("first", [Recipe("normal", 7), Recipe("normal", 7, stream="W_Q")])
def test_columns_that_grow_differ_from_matrix_to_matrix(first):
    same = Matrix.rolled((4, 4), Recipe("normal", 7))  # as links without a stream have them
    s = four_words().with_matrix("W_Q", Matrix.rolled((4, 4), first)).with_matrix("W_K", same)
    grown = set_dimension(s, "d_k", 7)
    one, other = (grown.matrices[name].values[:, 4:] for name in ("W_Q", "W_K"))
    assert not (one == other).any()


@pytest.mark.parametrize("kind", ["identity", "integers", "uniform", "normal"])
def test_a_rolled_matrix_that_grows_is_still_what_its_recipe_gives(kind):
    for rows, columns in ((4, 4), (2, 7), (9, 3)):
        small = Matrix.rolled((rows, columns), Recipe(kind, 3, -5, 5, "W_V"))
        large = small.resized(9, 11, "W_V")
        assert large.is_rolled
        assert (large.values[:rows, :columns] == small.values).all()


def test_weights_rolled_for_brought_embeddings_differ_though_their_recipes_were_equal():
    s = four_words()
    for name in WEIGHTS:
        s = s.with_matrix(name, Matrix.rolled((4, 4), Recipe("normal", 7)))
    brought = {"X": SelectedArray(np.ones((3, 6)))}
    s, _ = adopt(s, brought)
    Q, K, V = (s.matrices[name].values for name in WEIGHTS)
    assert Q.shape == K.shape == V.shape == (6, 4)
    assert not (Q == K).any() and not (Q == V).any() and not (K == V).any()
