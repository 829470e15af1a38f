"""Positions that are added to word embeddings."""

from __future__ import annotations

import numpy as np

from attention.arrays.checks import check_count, check_positive


def sinusoidal(n: int, d_model: int, *, base: float = 10000.0, offset: int = 0) -> np.ndarray:
    """P of (n, d_model): waves, each slower than the one before it.

    P[p, 2k] = sin(p / base^(2k / d_model)) and P[p, 2k + 1] = cos of the same, as in Vaswani et
    al. 2017, section 3.5. The first row is that of position ``offset``.

    >>> sinusoidal(2, 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    n, d_model = check_count("n", n, 0), check_count("d_model", d_model)
    base, offset = check_positive("base", base), check_count("offset", offset, 0)
    column = np.arange(d_model)
    angles = np.arange(offset, offset + n)[:, None] / base ** (column // 2 * 2 / d_model)
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))
