"""What rounding alone may change in a recorded output, by plain loops over its definition."""

import numpy as np
import pytest

from attention import causal, scaled_dot_product_attention
from attention.models.verify import rounding

ROUNDED = 4  # times on the way to a score
SINGLE = 2.0**-24


def by_loops(Q, K, V, scale, allowed):
    """A score is a sum of as many products as K has columns; the output, of as many as it has
    keys.
    """
    found = np.zeros((len(Q), V.shape[1]))
    for i, q in enumerate(Q):
        seen = [j for j in range(len(K)) if allowed[i][j]]
        scores = {j: scale * sum(a * b for a, b in zip(q, K[j], strict=True)) for j in seen}
        moved = 0.0
        for j in seen:
            products = scale * sum(abs(a * b) for a, b in zip(q, K[j], strict=True))
            step = ROUNDED * SINGLE * (1 + abs(scores[j]))
            moved = max(moved, step + (K.shape[1] + ROUNDED) * SINGLE * products)
        total = sum(np.exp(score) for score in scores.values())
        share = min(2 * moved, 2.0) + ROUNDED * SINGLE + (len(K) + ROUNDED) * SINGLE
        for column in range(V.shape[1]):
            terms = [np.exp(scores[j]) / total * V[j, column] for j in seen]
            sizes = sum(abs(term) for term in terms)
            found[i, column] = share * sizes + SINGLE * abs(sum(terms))
    return found


@pytest.mark.parametrize(("keys", "columns"), [(3, 64), (40, 2)])
def test_rounding_counts_the_columns_of_a_score_and_the_keys_of_an_output(keys, columns):
    rng = np.random.default_rng(keys)
    Q, K = (rng.standard_normal((n, columns)) for n in (3, keys))
    V, allowed = rng.standard_normal((keys, 5)), causal(3, keys)
    trace = scaled_dot_product_attention(Q, K, V, allowed=allowed, scale=0.3)
    np.testing.assert_allclose(
        rounding(trace, "float32"), by_loops(Q, K, V, 0.3, allowed), rtol=1e-9
    )
