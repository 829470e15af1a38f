"""Small maps beside plain loops over the cells that share a place."""

import tracemalloc

import numpy as np
import pytest

from attention.figures.panes.maps import SIDE, in_few_cells


def groups(n):
    """The places of each row or column of a map: one each, or about as many in each of 96."""
    count = min(n, SIDE)
    ends = [k * n // count for k in range(count)] + [n]
    return [range(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]


@pytest.mark.parametrize("shape", [(1, 1), (5, 300), (96, 97), (97, 96), (109, 2), (211, 130)])
def test_a_place_has_the_largest_weight_that_is_seen_of_its_cells(shape):
    rng = np.random.default_rng(shape[0])
    weights, allowed = rng.random(shape), rng.random(shape) < 0.3
    found = in_few_cells(weights, allowed)
    for i, rows in enumerate(groups(shape[0])):
        for j, columns in enumerate(groups(shape[1])):
            seen = [weights[r, c] for r in rows for c in columns if allowed[r, c]]
            assert found.mask[i, j] == (not seen)
            assert found.data[i, j] == max(seen, default=0)


def test_a_large_map_is_made_without_a_copy_of_its_weights():
    weights, allowed = np.ones((1500, 1500), np.float32), np.ones((1, 1500), bool)
    tracemalloc.start()
    try:
        in_few_cells(weights, allowed)
        assert tracemalloc.get_traced_memory()[1] < weights.nbytes / 2
    finally:
        tracemalloc.stop()
