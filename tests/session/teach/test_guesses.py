"""The questions of Why √d_k: their right answers against samples drawn here."""

import numpy as np
import pytest

from attention.samples import variance as maths
from attention.session.teach.guesses import GUESSED_D_K, guesses


def test_the_right_guesses_hold_for_samples_drawn_here():
    point = maths.measure("normal", GUESSED_D_K, 0, 1000)
    spread, shares = guesses(point)
    rng = np.random.default_rng(5)
    q, k = rng.standard_normal((2, 20_000, 64))
    drawn = (q * k).sum(axis=1)
    assert float(spread.right[0]) == pytest.approx(drawn.var(), rel=0.05)
    assert f"{point.raw.variance:.1f}" in spread.answer
    rows = np.einsum("nd,nkd->nk", q[:1000], rng.standard_normal((1000, maths.N_KEYS, 64)))
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    largest = (powers / powers.sum(axis=1, keepdims=True)).max(axis=1).mean()
    assert float(shares.right[0]) == pytest.approx(largest, abs=0.03)
    assert len(set(shares.options)) == 4
