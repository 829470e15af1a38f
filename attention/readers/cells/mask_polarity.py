"""What the cells of a mask mean: True is "may look" or "hide"; numbers to add need no word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attention.limits import BadInput
from attention.vocabulary.numbers import number

HIDDEN_FROM = -9e3  # a mask hides with this or lower: −1e4 added to a score, −65504, −1e9, −∞
POLARITIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "may look": lambda mask: mask == 1,
    "hide": lambda mask: mask == 0,
}


def as_allowed(mask: np.ndarray, true_means: str, where: str = "mask") -> np.ndarray:
    """Return a mask of 0 and 1, or of numbers to be added, as True where the query may look.

    Of numbers to be added, −∞ hides, and so do those that leave no weight, such as −1e9.

    >>> as_allowed(np.array([[0, 1]]), "hide")
    array([[ True, False]])
    """
    if is_added(mask):
        return mask > HIDDEN_FROM
    odd = np.argwhere((mask != 0) & (mask != 1))
    if len(odd):
        row, column = odd[0][-2:]
        value = number(mask[tuple(odd[0])])
        raise BadInput(
            f"{where}, row {row + 1}, column {column + 1} holds {value}; 0 and 1, or True and"
            " False, are allowed."
        )
    return POLARITIES[true_means](mask)


def is_added(mask: np.ndarray) -> bool:
    """Whether the cells are numbers to add to the scores: −∞, or −1e9, can only mean this."""
    return bool((mask <= HIDDEN_FROM).any() and (mask < np.inf).all())


def is_bias(mask: np.ndarray) -> bool:
    """Whether the cells are numbers to add that hide nothing, as distances are."""
    return bool(np.isfinite(mask).all() and (mask % 1 != 0).any())
