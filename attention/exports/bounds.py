"""How many numbers each format takes, so that no file is too large to be opened again."""

from __future__ import annotations

from attention.limits import MAX_LISTED, MAX_TYPESET
from attention.view import View

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
    """
    numbers = sum(matrix.size for matrix in view.stages.values())
    most = MOST.get(key, numbers)
    if numbers <= most:
        return ""
    return f"these stages hold {numbers:,} numbers; at most {most:,} fit. NPZ holds them all."
