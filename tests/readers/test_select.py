"""Weights out of large arrays: the slice is taken first, counted, and copied alone."""

import io
import tracemalloc
from collections.abc import Callable

import messages
import numpy as np
import pytest
from safetensors.numpy import save as safetensors

from attention.limits import MAX_ELEMENTS, MAX_FILE, BadInput
from attention.readers import opening
from attention.readers.files import array_files
from attention.readers.select import Selection, TooWide, select, thirds

LARGE = np.random.default_rng(0).integers(-99, 99, (960, 1980)).astype("<f4")
PARTS = {  # a slice, and whether it is transposed
    "rows and columns": (Selection(cut="100:164, 7:71"), LARGE[100:164, 7:71]),
    "transposed": (Selection(cut="100:164, 7:39", transposed=True), LARGE[100:164, 7:39].T),
    "columns": (Selection(cut=":, 0:64"), LARGE[:, :64]),
}


def of_npy(values: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


def of_npz(values: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, numbers=values)
    return buffer.getvalue()


FILES: dict[str, tuple[str, Callable[[np.ndarray], bytes]]] = {
    ".npy": ("a.npy", of_npy),
    ".npy by columns": ("a.npy", lambda values: of_npy(np.asfortranarray(values))),
    ".npz": ("a.npz", of_npz),
    ".safetensors": ("a.safetensors", lambda values: safetensors({"numbers": values})),
}


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_an_array_that_is_too_large_is_read(form, part):
    name, write = FILES[form]
    asked, wanted = PARTS[part]
    content = write(LARGE)
    assert len(content) <= MAX_FILE and LARGE.size > MAX_ELEMENTS
    (entry,) = opening.opened(name, content).values()
    assert entry.shape == LARGE.shape
    found = select(entry, "W_Q", name, asked)
    assert np.array_equal(found.values, wanted) and found.transposed is asked.transposed


@pytest.mark.parametrize("form", [form for form in FILES if form != ".npz"])  # which is inflated
def test_no_copy_of_the_whole_array_is_made(form):
    name, write = FILES[form]
    (entry,) = opening.opened(name, write(LARGE)).values()
    tracemalloc.start()
    select(entry, "W_Q", name, Selection(cut="0:64, 0:64"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 64 * 8 * 8


def test_no_copy_of_a_whole_bfloat16_is_made():
    """Its bytes are the upper halves of float32."""
    bits = LARGE[:, :1900].view("<u4") >> 16
    content = safetensors({"numbers": bits.astype("<u2")}).replace(b'"U16"', b'"BF16"', 1)
    content = bytes([content[0] + 1]) + content[1:]  # of the header's length
    (entry,) = opening.opened("a.safetensors", content).values()
    assert entry.dtype == "bfloat16"
    tracemalloc.start()
    found = select(entry, "W_Q", "a.safetensors", Selection(cut="0:64, 0:64"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.array_equal(found.values, LARGE[:64, :64]) and peak < 64 * 64 * 8 * 8


def test_an_array_that_is_too_large_is_counted_when_it_is_read():
    (entry,) = opening.opened("a.npy", of_npy(LARGE)).values()
    with pytest.raises(BadInput) as refused:
        select(entry, "X", "a.npy")
    assert str(refused.value) == messages.TOO_MANY_NUMBERS_IN_FILE.format(
        place="a.npy", shape="960 × 1980", found="1,900,800", limit="400,000"
    )


def test_one_array_of_a_zip_that_is_too_large_leaves_the_others():
    buffer = io.BytesIO()
    np.savez(buffer, large=np.zeros((700, 700), "f4"), small=np.eye(3))
    arrays, question = array_files.readable(opening.opened("a.npz", buffer.getvalue()))
    assert question == "" and {name: e.shape for name, e in arrays.items()} == {
        "large": (700, 700),
        "small": (3, 3),
    }


@pytest.mark.parametrize("transposed", [False, True])
def test_weights_as_wide_as_gpt_2_name_what_records_the_layer(transposed):
    fused = np.zeros((2304, 768) if transposed else (768, 2304), "<f2")
    content = safetensors({"h.0.attn.c_attn.weight": fused})
    (entry,) = opening.opened("gpt2.safetensors", content).values()
    for role, cut in zip(("W_Q", "W_K", "W_V"), thirds(entry.shape), strict=True):
        with pytest.raises(TooWide) as refused:
            select(entry, role, "gpt2.safetensors", Selection(cut=cut, transposed=transposed))
        place = "gpt2.safetensors, h.0.attn.c_attn.weight"
        what = f"{place}: {role} would be 768 × 768"
        assert str(refused.value) == messages.WEIGHTS_TOO_WIDE.format(what=what, limit=512)


def test_a_slice_of_bool_is_looked_at_as_the_whole_is():
    content = bytearray(safetensors({"numbers": np.ones((4, 4), bool)}))
    content[-1] = 7  # neither 0 nor 1
    (entry,) = opening.opened("a.safetensors", bytes(content)).values()
    assert entry.of_part((slice(0, 2),)).all()
    with pytest.raises(BadInput) as refused:
        entry.of_part((slice(2, 4),))
    assert str(refused.value) == messages.BOOL_WITH_OTHER_BYTES.format(
        place="a.safetensors, numbers"
    )
