"""Copies of keys and values from call to call; a stand-in has what is asked of torch's tensors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.models.recording.copies import GrowingRows, copied

LEAD, WIDTH = (1, 2), 3


class Tensor:
    """A stand-in: its own memory is handed to nobody, bfloat16 not before it is wider."""

    def __init__(self, M, narrow=False, own=False):
        self.M, self.narrow, self.own = M, narrow, own
        self._version = 0

    def detach(self):
        return self

    @property
    def shape(self):
        return self.M.shape

    def __getitem__(self, place):
        return Tensor(self.M[place], self.narrow)

    def is_contiguous(self):
        return self.M.flags.c_contiguous

    def contiguous(self):
        assert not self.is_contiguous()  # it would be the tensor itself
        return Tensor(self.M.copy(order="C"), self.narrow, own=True)

    def clone(self):
        return Tensor(self.M.copy(order="K"), self.narrow, own=True)

    def float(self):
        return Tensor(self.M.astype(np.float32), own=True)

    def numpy(self, force):
        assert force and self.own
        if self.narrow:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.M


def numbers(seed, n, lead=LEAD):
    return np.random.default_rng(seed).normal(size=(*lead, n, WIDTH))


# a cache grows, is handed over again, is cut, starts anew, changes a row, or becomes another
MOVES = ["grow", "same", "cut", "anew", "change", "items", "type", "zero", "sign", "nan"]


@given(st.lists(st.sampled_from(MOVES), max_size=12), st.integers(0, 2**31))
def test_each_copy_stays_what_was_handed_over(moves, seed):
    rows, rng, M = GrowingRows(), np.random.default_rng(seed), numbers(seed, 3)
    seen = [(rows.copied(Tensor(M)), M.copy())]
    for move in moves:
        if move == "grow":
            M = np.concatenate([M, numbers(rng.integers(99), rng.integers(1, 5), M.shape[:2])], 2)
        elif move == "cut":
            M = M[..., : max(M.shape[2] - 1, 1), :]
        elif move == "anew":
            M = numbers(rng.integers(99), rng.integers(1, 6))
        elif move == "change":
            M[0, 0, rng.integers(M.shape[2])] += 1  # in place, as a cache of fixed size
        elif move == "items":
            M = np.concatenate([M, M])
        elif move == "zero":
            M = np.zeros_like(M)
        elif move == "sign":
            M = -M
        elif move == "nan":
            M = np.where(M > 0, np.nan, M)
        elif move == "type":
            M = M.astype(np.float32 if M.dtype == np.float64 else np.float64)
        seen.append((rows.copied(Tensor(M)), M.copy()))
    M += 1
    for kept, right in seen:
        assert kept.dtype == right.dtype and not kept.flags.writeable
        assert kept.tobytes() == right.tobytes()


def test_the_steps_of_a_generation_take_the_room_of_the_last():
    """Room is made for twice as many rows, so all rooms together are below four times the last."""
    rows, whole = GrowingRows(), numbers(0, 64)
    steps = [rows.copied(Tensor(whole[..., :n, :])) for n in range(1, 65)]
    rooms = {
        id(room): room for room in (each if each.base is None else each.base for each in steps)
    }
    assert sum(room.nbytes for room in rooms.values()) < 4 * whole.nbytes


def test_cross_attention_keeps_its_keys_once():
    rows, M = GrowingRows(), numbers(0, 5)
    first, second = rows.copied(Tensor(M)), rows.copied(Tensor(M.copy()))
    assert np.shares_memory(first, second)


@pytest.mark.parametrize("copy", [copied, GrowingRows().copied])
def test_a_narrow_type_is_copied_wider(copy):
    M = numbers(0, 4).astype(np.float16)
    kept = copy(Tensor(M, narrow=True))
    assert kept.dtype == np.float32
    np.testing.assert_array_equal(kept, M)


def test_a_copy_is_in_rows_and_its_own():
    M = numbers(0, 4)
    kept = copied(Tensor(M.swapaxes(1, 2)))
    assert kept.flags.c_contiguous and not np.shares_memory(kept, M)


def test_what_a_cache_put_behind_the_last_tensor_is_not_compared():
    rows, whole = GrowingRows(), numbers(0, 8)
    first, second = Tensor(whole[..., :5, :]), Tensor(whole[..., :6, :])
    rows.copied(first)
    second.M = np.where(np.arange(6)[:, None] < 5, np.nan, second.M)  # nobody looks at these
    np.testing.assert_array_equal(rows.copied(second, first), whole[..., :6, :])


@pytest.mark.parametrize("why", ["written to", "not counted", "another"])
def test_a_tensor_that_may_be_another_by_now_is_compared(why):
    class Uncounted(Tensor):
        @property
        def _version(self):
            raise RuntimeError("Inference tensors do not track version counter.")

        @_version.setter
        def _version(self, value):
            pass

    rows, whole, changed = GrowingRows(), numbers(0, 8), numbers(1, 8)
    kind = Uncounted if why == "not counted" else Tensor
    first, second = kind(whole[..., :5, :]), kind(changed[..., :6, :])
    rows.copied(first)
    if why == "written to":
        first._version += 1
    before = kind(first.M) if why == "another" else first
    np.testing.assert_array_equal(rows.copied(second, before), changed[..., :6, :])
