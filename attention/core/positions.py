"""Positions that are added to word embeddings."""

from __future__ import annotations

import numpy as np

from attention.arrays.checks import check_count, check_positive


def sinusoidal(n: int, d_model: int, *, base: float = 10000.0, offset: int = 0) -> np.ndarray:
    """Return the sinusoidal position encodings P: waves, each slower than the one before it.

    P[p, 2k] = sin(p / base^(2k / d_model)) and P[p, 2k + 1] = cos of the same: Vaswani et al. 2017,
    section 3.5.

    Parameters
    ----------
    n, d_model : int
        Numbers of positions and of columns.
    base : float
        The wavelengths grow from 2π positions towards 2π · base; the angles are in radians.
    offset : int
        The position of the first row.

    Returns
    -------
    ndarray, (n, d_model)

    Raises
    ------
    ValueError
        If ``n`` or ``offset`` is not a whole number from 0, ``d_model`` not one from 1, or ``base``
        is not a positive, finite number.

    >>> sinusoidal(2, 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    n, d_model = check_count("n", n, 0), check_count("d_model", d_model)
    base, offset = check_positive("base", base), check_count("offset", offset, 0)
    column = np.arange(d_model)
    angles = np.arange(offset, offset + n)[:, None] / base ** (column // 2 * 2 / d_model)
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))
