"""How many numbers each format takes."""

from __future__ import annotations

from attention.explain.view import OF_ALL_HEADS, View
from attention.limits import MAX_LISTED, MAX_TYPESET

ALL_HEADS = ("python", "notebook", "report")  # these hold the code, which computes all heads
ONCE = (*OF_ALL_HEADS, "mask")  # of the stages, the same for all heads
MOST = dict.fromkeys(("csv", "matrices", "json", "python", "notebook"), MAX_LISTED)
MOST |= dict.fromkeys(("latex", "markdown", "report"), MAX_TYPESET)


def too_large(key: str, view: View) -> str:
    """Why a format of :data:`attention.exports.formats.FORMATS` is not written; "" where it is.

    >>> import numpy as np
    >>> stages = {"Q": np.zeros((600, 512)), "K": np.zeros((2, 512))}
    >>> too_large("latex", View(stages, {}, np.ones((600, 2), bool), 1.0))
    'these stages hold 308,224 numbers; at most 250,000 fit. NPZ holds them all.'
    >>> too_large("csv", View(stages, {}, np.ones((600, 2), bool), 1.0))
    ''
    >>> too_large("python", View(stages, {}, np.ones((600, 2), bool), 1.0, heads=4))
    'these stages hold 1,232,896 numbers in all 4 heads; at most 1,000,000 fit. NPZ holds them all.'
    """
    heads = view.heads if key in ALL_HEADS else 1
    numbers = sum(
        matrix.size * (1 if name in ONCE else heads) for name, matrix in view.stages.items()
    )
    most = MOST.get(key, numbers)
    if numbers <= most:
        return ""
    where = f" in all {heads} heads" if heads > 1 else ""
    return (
        f"these stages hold {numbers:,} numbers{where}; at most {most:,} fit. NPZ holds them all."
    )
