"""Copies of what attention was handed, as NumPy's arrays, to which nobody else writes."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np


def copied(tensor: Any) -> np.ndarray:
    """Return a copy of a tensor in C order, bfloat16 as float32, which holds its numbers exactly.

    ``numpy`` is asked of the copy alone: the model could not resize a tensor of which it was asked.
    """
    given = tensor.detach()
    own = given.clone() if given.is_contiguous() else given.contiguous()  # either is a copy
    try:
        M = own.numpy(force=True)
    except TypeError:  # NumPy has no bfloat16
        M = own.float().numpy(force=True)
    return np.asarray(M)


class GrowingRows:
    """The keys or the values of a layer, from call to call.

    Each step of a generation hands over all rows of the one before and a few behind them, and
    cross-attention the same rows again: what is there already is not copied once more. It is known
    where a cache put new rows behind the very tensor that was copied last; else it is compared.
    """

    def __init__(self) -> None:
        self.kept: np.ndarray | None = None  # (…, room, d); no row is written to a second time
        self.count = 0  # of the rows that are filled
        self.last: ref[Any] | None = None  # the tensor that was copied
        self.version: int | None = None  # of it

    def copied(self, tensor: Any, grown_from: Any = None) -> np.ndarray:
        """Return a copy of (…, n, d) to read, in the memory of the call before where it begins with
        the rows of that one; ``grown_from``: a tensor that it is known to begin with.
        """
        before = self.count
        if self._is_last(grown_from):
            kept = self._with(copied(tensor[..., before:, :]))
        else:
            kept = copied(tensor)
            if self.kept is not None and _begins_with(kept, self.kept[..., :before, :]):
                kept = self._with(kept[..., before:, :])
        self.kept, self.count = kept, tensor.shape[-2]
        self.last, self.version = ref(tensor), version_of(tensor)
        seen = kept[..., : self.count, :]
        seen.setflags(write=False)  # of other calls as well
        return seen

    def _with(self, new: np.ndarray) -> np.ndarray:
        """Return what is kept, with new rows behind those that are filled."""
        kept, before, n = self.kept, self.count, self.count + new.shape[-2]
        assert kept is not None
        if n > kept.shape[-2]:
            room = np.empty((*kept.shape[:-2], 2 * n, kept.shape[-1]), kept.dtype)
            room[..., :before, :] = kept[..., :before, :]
            kept = room
        kept[..., before:n, :] = new
        return kept

    def _is_last(self, tensor: Any) -> bool:
        """Check whether a tensor is what was copied last, and was not written to since."""
        if tensor is None or self.last is None or self.last() is not tensor:
            return False
        return self.version is not None and self.version == version_of(tensor)


def version_of(tensor: Any) -> int | None:
    """How often a tensor was written to; None where torch does not count, as in inference mode."""
    try:
        return int(tensor._version)
    except RuntimeError:
        return None


def _begins_with(M: np.ndarray, rows: np.ndarray) -> bool:
    """Check whether the first rows are the same to the bit."""
    if M.dtype != rows.dtype or M.ndim != rows.ndim:
        return False
    bits = f"u{M.itemsize}"
    return np.array_equal(M[..., : rows.shape[-2], :].view(bits), rows.view(bits))
