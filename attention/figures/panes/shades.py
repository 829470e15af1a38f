"""A matrix in colours: one byte for each cell."""

from __future__ import annotations

import numpy as np

from attention.explain.colours import between

MOST_NUMBERED = 8192  # cells; a matrix of more goes to the board without its numbers
LAST = 252  # the shade of the upper limit; that of the middle is 126
SHARE = (0, 1)
# What stands beside the colour bar of shares: of 512 keys each gets a 512th, which would look as 0.
ROOTS = "0", "0.25", "1"
BY_ROOT = "Colours follow the square root."
BLANK, HIDDEN, BROKEN = 253, 254, 255  # to be filled in; behind a mask; not finite


def shades(
    matrix: np.ndarray,
    limits: tuple[float, float],
    hidden: np.ndarray | None = None,
    by_root: bool = True,
) -> bytes:
    """(rows, columns) as bytes, row by row: 0 to 252 on the way between the limits, 254 or 255.

    Shares, from 0 to 1, have the shades of their square roots where they go ``by_root``.

    >>> matrix = np.array([[-2.0, -1, 0, 1, 2, 9, np.inf, 1]])
    >>> list(shades(matrix, (-2, 2), np.array([[False] * 7 + [True]])))
    [0, 63, 126, 189, 252, 252, 255, 254]
    >>> list(shades(np.array([[0, 0.25, 1]]), (0, 1)))
    [0, 126, 252]
    """
    finite = np.isfinite(matrix)
    place = between(np.where(finite, matrix, limits[0]), *limits)
    if by_root and limits == SHARE:
        place = np.sqrt(place)
    codes = np.rint(place * LAST).astype(np.uint8)
    codes[~finite] = BROKEN
    if hidden is not None:
        codes[hidden] = HIDDEN
    return codes.tobytes()
