"""Copies of what attention was handed, as NumPy's arrays, to which nobody else writes."""

from __future__ import annotations

from typing import Any

import numpy as np


def copied(tensor: Any) -> np.ndarray:
    """Return a copy of a tensor in C order, bfloat16 as float32, which holds its numbers exactly.

    ``numpy`` is asked of the copy alone: the model could not resize a tensor of which it was asked.
    """
    own = tensor.detach().clone()
    try:
        M = own.numpy(force=True)
    except TypeError:  # NumPy has no bfloat16
        M = own.float().numpy(force=True)
    return np.ascontiguousarray(M)


class Rows:
    """The keys or the values of a layer, from call to call.

    Each step of a generation hands over all rows of the one before and a few behind them, and
    cross-attention the same rows again: what is there already is not copied once more.
    """

    def __init__(self) -> None:
        self.kept: np.ndarray | None = None  # (…, room, d); no row is written to a second time
        self.count = 0  # of the rows that are filled

    def copied(self, tensor: Any) -> np.ndarray:
        """Return a copy of (…, n, d) to read, in the memory of the call before where it begins with
        the rows of that one.
        """
        M, kept, before = copied(tensor), self.kept, self.count
        n = M.shape[-2]
        if kept is None or not _begins_with(M, kept[..., :before, :]):
            kept = M
        else:
            if n > kept.shape[-2]:
                room = np.empty((*M.shape[:-2], 2 * n, M.shape[-1]), M.dtype)
                room[..., :before, :] = kept[..., :before, :]
                kept = room
            kept[..., before:n, :] = M[..., before:, :]
        self.kept, self.count = kept, n
        seen = kept[..., :n, :]
        seen.setflags(write=False)  # of other calls as well
        return seen


def _begins_with(M: np.ndarray, rows: np.ndarray) -> bool:
    """Check whether the first rows are the same to the bit."""
    if M.dtype != rows.dtype or M.ndim != rows.ndim:
        return False
    bits = f"u{M.itemsize}"
    return np.array_equal(M[..., : rows.shape[-2], :].view(bits), rows.view(bits))
