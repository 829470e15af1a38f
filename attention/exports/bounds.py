"""How many numbers each format takes, and how many of them this page opens again."""

from __future__ import annotations

from attention.limits import MAX_COMMAS, MAX_ELEMENTS, MAX_FILE, MAX_LISTED, MAX_TYPESET
from attention.view import OF_ALL_HEADS, View

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
    where = f" in all {heads} heads" * (heads > 1)
    return (
        f"these stages hold {numbers:,} numbers{where}; at most {most:,} fit. NPZ holds them all."
    )


LONGEST = 20  # characters of most numbers that are written exactly
# Of each format that opens again, how many characters and lines there are for a number besides it.
BESIDE = {"matrices": (1, 0), "json": (6, 1)}


def opens_not(key: str, view: View) -> str:
    """Why this page may not open again what it writes in a format; "" where it will.

    >>> import numpy as np
    >>> view = View({"weights": np.zeros((600, 600))}, {"queries": (), "keys": ()}, None, 1.0)
    >>> opens_not("json", view)
    'may be too long to be opened here again; the state as a file opens, and NPZ in NumPy'
    >>> opens_not("matrices", view)
    ''
    """
    if key not in BESIDE:
        return ""
    beside, lines = BESIDE[key]
    numbers = sum(matrix.size for matrix in view.stages.values())
    size = numbers * (LONGEST + beside)
    fits = numbers <= MAX_COMMAS and numbers * lines <= MAX_ELEMENTS and size <= MAX_FILE
    told = "may be too long to be opened here again; the state as a file opens, and NPZ in NumPy"
    return "" if fits else told
