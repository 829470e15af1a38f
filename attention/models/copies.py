"""Copies of what attention was handed, as NumPy's arrays, to which nobody else writes."""

from __future__ import annotations

from typing import Any

import numpy as np


def copied(tensor: Any) -> np.ndarray:
    """Return a copy of a tensor, bfloat16 as float32, which holds its numbers exactly."""
    return np.array(_seen(tensor), order="C")


def _seen(tensor: Any) -> np.ndarray:
    """Return a tensor's numbers; on the CPU they are its own memory."""
    try:
        return np.asarray(tensor.numpy(force=True))
    except TypeError:  # NumPy has no bfloat16
        return np.asarray(tensor.float().numpy(force=True))


class Rows:
    """The keys or the values of a layer, from call to call.

    Each step of a generation hands over all rows of the one before and a few behind them, and
    cross-attention the same rows again: what is there already is not copied once more.
    """

    def __init__(self) -> None:
        self.kept: np.ndarray | None = None  # (…, room, d); no row is written to a second time
        self.count = 0  # of the rows that are filled

    def copied(self, tensor: Any) -> np.ndarray:
        """Return a copy of (…, n, d), in the memory of the call before where it begins with the
        rows of that one.
        """
        M, kept, before = _seen(tensor), self.kept, self.count
        n = M.shape[-2]
        if kept is None or not _begins_with(M, kept[..., :before, :]):
            self.kept, self.count = np.array(M, order="C"), n
            return self.kept
        if n > kept.shape[-2]:
            room = np.empty((*M.shape[:-2], 2 * n, M.shape[-1]), M.dtype)
            room[..., :before, :] = kept[..., :before, :]
            self.kept = kept = room
        kept[..., before:n, :] = M[..., before:, :]
        self.count = n
        return kept[..., :n, :]


def _begins_with(M: np.ndarray, rows: np.ndarray) -> bool:
    same = M.dtype == rows.dtype and M.ndim == rows.ndim
    return bool(same and np.array_equal(M[..., : rows.shape[-2], :], rows))
