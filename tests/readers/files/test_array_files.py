"""Arrays out of files: exact where accepted, one sentence where refused, and nothing large made
before it is checked.
"""

import io
import json
import pickle
import re
import tracemalloc
import zipfile

import messages
import numpy as np
import pytest
from files import stored, torn
from hypothesis import given
from hypothesis import strategies as st

from attention.limits import MAX_FILE, BadInput
from attention.readers.files.array_files import entries, readable, the_one

RNG = np.random.default_rng(0)
GOOD = RNG.standard_normal((3, 4))


def npy(array, **options) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def npz(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def header(descr="'<f8'", order="False", shape="(3, 4)") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def safetensors(tensors: dict, body: bytes = b"") -> bytes:
    text = tensors if isinstance(tensors, bytes) else json.dumps(tensors).encode()
    return len(text).to_bytes(8, "little") + text + body


def tensor(array, kind) -> bytes:
    raw = array.tobytes()
    return safetensors(
        {"W": {"dtype": kind, "shape": list(array.shape), "data_offsets": [0, len(raw)]}}, raw
    )


@pytest.mark.parametrize(
    "dtype", ["<f2", "<f4", "<f8", ">f2", ">f4", ">f8", "<i8", ">i4", "|i1", "|u1", "<u2", "|b1"]
)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (5,), (), (0, 3)])
def test_npy_is_read_to_the_bit(dtype, order, shape):
    array = np.asarray((100 * RNG.standard_normal(shape)).astype(dtype), order=order)
    for version in ((1, 0), (2, 0), (3, 0)):
        entry = entries("a.npy", npy(array, version=version))["numbers"]
        assert (entry.shape, entry.dtype) == (shape, array.dtype.name)
        assert entry.read().tobytes() == np.ascontiguousarray(array).tobytes()


def test_every_member_of_an_npz_is_an_entry():
    found = entries("a.npz", npz(output=GOOD, weights=GOOD.astype("f4")))
    assert list(found) == ["output", "weights"]
    assert np.array_equal(found["output"].read(), GOOD)
    assert found["weights"].read().dtype == np.float32
    assert the_one(found, "weights", "a.npz") is found["weights"]


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("F64", "<f8"), ("F32", "<f4"), ("F16", "<f2"), ("I64", "<i8"), ("U8", "|u1")],
)
def test_safetensors_are_read_to_the_bit(kind, dtype):
    array = np.abs(100 * GOOD).astype(dtype)
    entry = entries("m.safetensors", tensor(array, kind))["W"]
    assert entry.read().tobytes() == array.tobytes()


def test_bfloat16_becomes_the_same_numbers_in_float32():
    ml_dtypes = pytest.importorskip(
        "ml_dtypes", reason="the package ml_dtypes is not installed (tests/requirements.txt)"
    )
    array = GOOD.astype(ml_dtypes.bfloat16)
    entry = entries("m.safetensors", tensor(array, "BF16"))["W"]
    assert entry.dtype == "bfloat16"
    assert entry.read().dtype == np.float32
    assert np.array_equal(entry.read(), array.astype(np.float32))


def zipped(**members) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


PLACE = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def at(begin: int, end: int) -> dict:
    return PLACE | {"data_offsets": [begin, end]}


BAD = {
    "empty": ("a.npy", b"", messages.EMPTY_FILE.format(place="a.npy")),
    "text": (
        "a.npy",
        b"1 2 3",
        messages.NOT_AN_ARRAY_FILE.format(place="a.npy"),
    ),
    "too large": (
        "a.npy",
        b"\x93NUMPY" + bytes(MAX_FILE),
        messages.TOO_MANY_BYTES.format(place="a.npy", found="8,388,614", limit="8,388,608"),
    ),
    "version": (
        "a.npy",
        b"\x93NUMPY\x09\x00",
        messages.UNKNOWN_NPY_VERSION.format(place="a.npy", version="0900"),
    ),
    "object": (
        "a.npy",
        npy(np.array([{}], object), allow_pickle=True),
        messages.UNSUPPORTED_DTYPE.format(place="a.npy", name="Python objects"),
    ),
    "structured": (
        "a.npy",
        npy(np.zeros(2, "f4,f8")),
        messages.UNSUPPORTED_DTYPE.format(place="a.npy", name="a structured array"),
    ),
    "complex": (
        "a.npy",
        npy(np.zeros(2, "c16")),
        messages.UNSUPPORTED_DTYPE.format(place="a.npy", name="complex128"),
    ),
    "dates": (
        "a.npy",
        npy(np.zeros(2, "M8[s]")),
        messages.UNSUPPORTED_DTYPE.format(place="a.npy", name="datetime64[s]"),
    ),
    "long": (
        "a.npy",
        npy(np.zeros(2, "g")),
        messages.UNSUPPORTED_DTYPE.format(place="a.npy", name=np.dtype("g").name),
    ),
    "no boolean": (
        "a.npy",
        header("'|b1'", shape="(2,)") + b"\x01\x02",
        messages.BOOL_WITH_OTHER_BYTES.format(place="a.npy"),
    ),
    "words": (
        "a.npy",
        npy(np.array(["a"])),
        messages.UNSUPPORTED_DTYPE.format(place="a.npy", name="text"),
    ),
    "words by an old name": (
        "a.npy",
        header("'<a8'", shape="(1,)") + bytes(8),
        messages.UNSUPPORTED_DTYPE.format(place="a.npy", name="text"),
    ),
    "cut off": (
        "a.npy",
        npy(GOOD)[:-1],
        messages.BYTES_DO_NOT_FIT.format(place="a.npy", shape="3 × 4", expected=96, found=95),
    ),
    "longer": (
        "a.npy",
        npy(GOOD) + b"x",
        messages.BYTES_DO_NOT_FIT.format(place="a.npy", shape="3 × 4", expected=96, found=97),
    ),
    "15 GB": (
        "a.npy",
        header(shape="(2000000000,)"),
        messages.BYTES_DO_NOT_FIT.format(
            place="a.npy", shape="2000000000", expected="16,000,000,000", found=0
        ),
    ),
    "many axes": (
        "a.npy",
        header(shape="(1, 1, 1, 1, 1)") + bytes(8),
        messages.TOO_MANY_AXES_IN_FILE.format(place="a.npy", found=5, limit=4),
    ),
    "no row and wide": (
        "a.npy",
        header(shape=f"(0, {10**60})"),
        messages.EMPTY_ARRAY.format(place="a.npy", shape=f"0 × {10**60}", most="400,000"),
    ),
    "no row and two wide": (
        "a.npy",
        header(shape="(0, 300000, 300000)"),
        messages.EMPTY_ARRAY.format(place="a.npy", shape="0 × 300000 × 300000", most="400,000"),
    ),
    "no row of a tensor and wide": (
        "a.safetensors",
        safetensors({"W": at(0, 0) | {"shape": [0, 2**39, 2**39]}}),
        messages.EMPTY_ARRAY.format(
            place="a.safetensors, W", shape=f"0 × {2**39} × {2**39}", most="400,000"
        ),
    ),
    "pickle": (
        "a.npy",
        pickle.dumps(GOOD),
        messages.NOT_AN_ARRAY_FILE.format(place="a.npy"),
    ),
    "folders": ("../../etc/a.npy", b"", messages.EMPTY_FILE.format(place="a.npy")),
    "zip cut off": ("a.npz", npz(a=GOOD)[:-30], messages.DAMAGED_ZIP.format(place="a.npz")),
    "zip without arrays": ("a.npz", zipped(), messages.NO_ARRAY.format(place="a.npz")),
    "zip of tokens": (
        "a.npz",
        npz(tokens=np.array(["a"])),
        messages.NO_ARRAY.format(place="a.npz"),
    ),
    "zip of tokens and no numbers": (
        "a.npz",
        npz(tokens=np.array(["a"]), b=np.array([["x"]])),
        messages.UNSUPPORTED_DTYPE.format(place="a.npz, b", name="text"),
    ),
    "zip of a folder": (
        "a.npz",
        zipped(**{"b/": ""}),
        messages.NO_NPY_ARRAY.format(place="a.npz, b"),
    ),
    "zip of a folder in one": (
        "a.npz",
        zipped(**{"b/c/": ""}),
        messages.NO_NPY_ARRAY.format(place="a.npz, c"),
    ),
    "zip of text": (
        "a.npz",
        zipped(**{"b.txt": "hello"}),
        messages.NO_NPY_ARRAY.format(place="a.npz, b.txt"),
    ),
    "twice": (
        "a.npz",
        zipped(**{"b.npy": npy(GOOD), "b": npy(GOOD)}),
        messages.NAME_TWICE.format(place="a.npz", name="b"),
    ),
    "bomb": (
        "a.npz",
        zipped(**{"b.npy": header(shape="(9,)") + bytes(50_000_000)}),
        messages.MEMBER_TOO_LARGE.format(place="a.npz, b", found="50,000,067", limit="33,566,432"),
    ),
    "no header": (
        "a.safetensors",
        b"123",
        messages.SAFETENSORS_CUT_OFF.format(place="a.safetensors"),
    ),
    "long header": (
        "a.safetensors",
        (2**62).to_bytes(8, "little"),
        messages.SAFETENSORS_CUT_OFF.format(place="a.safetensors"),
    ),
    "broken header": (
        "a.safetensors",
        safetensors(b"{"),
        messages.DAMAGED_SAFETENSORS_HEADER.format(place="a.safetensors"),
    ),
    "deep header": (
        "a.safetensors",
        safetensors(b"[" * 100_000),
        messages.DAMAGED_SAFETENSORS_HEADER.format(place="a.safetensors"),
    ),
    "no tensor": (
        "a.safetensors",
        safetensors({}),
        messages.NO_TENSOR.format(place="a.safetensors"),
    ),
    "name twice": (
        "a.safetensors",
        safetensors(b'{"a": 1, "a": 2}'),
        messages.NAME_STANDS_TWICE.format(place="a.safetensors", name="a"),
    ),
    "type": (
        "a.safetensors",
        safetensors({"W": PLACE | {"dtype": "F8_E4M3"}}, bytes(8)),
        messages.UNSUPPORTED_TENSOR_TYPE.format(place="a.safetensors, W", kind="F8_E4M3"),
    ),
    "half a character": (
        "a.safetensors",
        safetensors(b'{"\\ud800": 1}'),
        messages.HALF_A_CHARACTER.format(half="a.safetensors: \\ud800"),
    ),
    "misdeclared": (
        "a.safetensors",
        safetensors({"W": PLACE | {"shape": [3]}}, bytes(8)),
        messages.BYTES_DO_NOT_FIT.format(place="a.safetensors, W", shape="3", expected=12, found=8),
    ),
}


def bad(tensors: dict, size: int, message: str) -> tuple[str, bytes, str]:
    return "a.safetensors", safetensors(tensors, bytes(size)), f"a.safetensors, {message}"


BAD |= {
    "negative": bad(
        {"W": PLACE | {"shape": [-2]}},
        8,
        messages.DAMAGED_SAFETENSORS_ENTRY.format(place="W"),
    ),
    "type no text": bad(
        {"W": PLACE | {"dtype": 1}},
        8,
        messages.DAMAGED_SAFETENSORS_ENTRY.format(place="W"),
    ),
    "cut off tensor": bad(
        {"W": PLACE},
        7,
        messages.TENSOR_CUT_OFF.format(place="W", reached=8, size=7),
    ),
    "end early": bad(
        {"W": PLACE},
        9,
        messages.TENSORS_END_EARLY.format(place="W", reached=8, size=9),
    ),
    "hole": bad(
        {"W": PLACE, "b": at(12, 20)},
        20,
        messages.TENSOR_LEAVES_HOLE.format(place="b", begin=12, reached=8),
    ),
    "hole at the beginning": bad(
        {"W": at(4, 12)},
        12,
        messages.TENSOR_LEAVES_HOLE.format(place="W", begin=4, reached=0),
    ),
    "overlap": bad(
        {"b": at(4, 12), "W": PLACE},
        12,
        messages.TENSOR_OVERLAPS.format(place="b", begin=4, reached=8),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_is_explained_and_takes_no_memory(case):
    filename, content, message = BAD[case]
    tracemalloc.start()
    with pytest.raises(BadInput) as refused:
        next(iter(entries(filename, content).values())).read()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert str(refused.value) == message
    assert len(message) <= 300
    assert peak < 20_000_000


SIDES = st.integers(0, 3)
SHIFTS = st.sampled_from([0, 0, 0, 0, 0, 0, 4, -4])


@given(
    st.lists(
        st.tuples(st.lists(SIDES, max_size=2), SHIFTS, SHIFTS, SHIFTS), min_size=1, max_size=4
    ),
    SHIFTS,
    st.randoms(use_true_random=False),
)
def test_of_tensors_placed_anyhow_the_same_files_are_taken_as_by_the_formats_own_library(
    tensors, more, shuffled
):
    reference = pytest.importorskip("safetensors", reason="safetensors is not installed")
    entries_of, reached = [], 0
    for k, (shape, begin, end, width) in enumerate(tensors):
        ends = reached + 4 * int(np.prod(shape)) + width
        span = [max(reached + begin, 0), max(ends + end, 0)]
        entries_of.append((f"T{k}", PLACE | {"shape": shape, "data_offsets": span}))
        reached = ends
    shuffled.shuffle(entries_of)
    content = safetensors(dict(entries_of), RNG.bytes(max(reached + more, 0)))
    try:
        wanted = {name: bytes(what["data"]) for name, what in reference.deserialize(content)}
    except reference.SafetensorError:
        damaged = re.escape(messages.DAMAGED_SAFETENSORS_ENTRY.format(place=""))
        with pytest.raises(BadInput, match=rf"^m\.safetensors, T\d[ :].*\d.*\.$|{damaged}$"):
            entries("m.safetensors", content)
    else:
        found = entries("m.safetensors", content)
        assert {name: entry.read().tobytes() for name, entry in found.items()} == wanted


def test_a_sparse_matrix_of_scipy_and_a_bfloat16_of_jax_say_what_they_are():
    file = io.BytesIO()  # as scipy.sparse.save_npz writes a diagonal
    parts = {"indices": np.arange(2), "indptr": np.arange(3), "data": np.ones(2)}
    np.savez(file, **parts, format=np.array(b"csr"), shape=np.array([2, 2]))
    with pytest.raises(BadInput) as problem:
        entries("a.npz", file.getvalue())
    assert str(problem.value) == messages.SPARSE_MATRIX.format(place="a.npz")
    np.save(file := io.BytesIO(), np.zeros((2, 2), "V2"))
    with pytest.raises(BadInput) as problem:
        entries("a.npy", file.getvalue())
    assert str(problem.value) == (
        messages.UNSUPPORTED_DTYPE.format(place="a.npy", name=messages.UNKNOWN_TO_NUMPY)
    )


@pytest.mark.parametrize(
    ("kind", "dtype"), [("U16", "<u2"), ("U32", "<u4"), ("U64", "<u8"), ("I16", "<i2")]
)
def test_integers_of_every_width_are_read_to_the_bit(kind, dtype):
    array = np.arange(12, dtype=dtype).reshape(3, 4)
    assert entries("m.safetensors", tensor(array, kind))["W"].read().tobytes() == array.tobytes()


def test_a_tensor_of_another_type_stands_beside_others_until_it_is_chosen():
    both = {"W": PLACE, "S": at(8, 10) | {"dtype": "F8_E4M3"}}
    found = entries("m.safetensors", safetensors(both, bytes(10)))
    assert found["W"].read().tolist() == [0, 0]
    with pytest.raises(BadInput) as problem:
        found["S"].read()
    assert str(problem.value) == messages.UNSUPPORTED_TENSOR_TYPE.format(
        place="m.safetensors, S", kind="F8_E4M3"
    )


def test_every_array_that_cannot_be_read_is_told_with_why():
    long = RNG.standard_normal((400, 10))  # more than its header is read with
    content = torn(stored(X=GOOD, W_Q=long, words=np.array([["a"]])), "W_Q")
    found, told = readable(entries("a.npz", content))
    assert list(found) == ["X"]
    assert told == messages.SOME_ARRAYS_UNREADABLE.format(
        unread=2,
        arrays=3,
        reasons=messages.DAMAGED_MEMBER.format(place="a.npz, W_Q")
        + " "
        + messages.UNSUPPORTED_DTYPE.format(place="a.npz, words", name="text"),
        more="",
    )


def test_of_many_arrays_that_cannot_be_read_three_are_told_and_the_others_counted():
    words = {f"w{k:02}": np.array([["a"]]) for k in range(50)}
    found, told = readable(entries("a.npz", stored(X=GOOD, **words)))
    assert list(found) == ["X"] and told.startswith(
        messages.SOME_ARRAYS_UNREADABLE.format(unread=50, arrays=51, reasons="a.npz, w00", more="")
    )
    assert told.endswith(messages.SAME_FOR_MORE.format(count=47)) and len(told) < 400


def test_where_all_can_be_read_nothing_is_told():
    found = entries("a.npz", stored(X=GOOD, tokens=np.array(["a", "b", "c"])))
    assert readable(found) == (found, "")


def test_of_several_arrays_the_names_are_told():
    with pytest.raises(BadInput) as problem:
        the_one(entries("a.npz", npz(a=GOOD, b=GOOD)), "output", "a.npz")
    assert str(problem.value) == messages.NO_ARRAY_OF_THAT_NAME.format(
        place="a.npz", count=2, name="output", names="a, b", more=""
    )


def test_the_tokens_this_page_saves_are_labels_of_the_rows():
    found = entries(
        "a.npz", npz(tokens=np.array(["cat", "שלום 🙂", ""]), X=GOOD, W_Q=GOOD, K=GOOD[:2])
    )
    assert list(found) == ["X", "W_Q", "K"]
    assert found["X"].rows == ("cat", "שלום 🙂", "")
    assert found["W_Q"].rows == found["K"].rows == ()
    found = entries(
        "a.npz", npz(tokens=np.array(["a"] * 3), memory_tokens=np.array(["b"] * 3), X=GOOD, K=GOOD)
    )
    assert (found["X"].rows, found["K"].rows) == (("a",) * 3, ("b",) * 3)


@pytest.mark.parametrize("beside", [{}, {"tokens": np.array(["a"])}])
def test_an_array_of_no_row_has_no_labels(beside):
    found = entries("a.npz", npz(Q=np.zeros((0, 4)), **beside))
    assert found["Q"].rows == () and found["Q"].read().shape == (0, 4)


def test_an_array_that_cannot_be_read_stands_beside_others_until_it_is_chosen():
    found = entries("a.npz", npz(names=np.array([["x"]]), X=GOOD))
    assert np.array_equal(found["X"].read(), GOOD)
    with pytest.raises(BadInput) as problem:
        found["names"].read()
    assert str(problem.value) == messages.UNSUPPORTED_DTYPE.format(
        place="a.npz, names", name="text"
    )


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_no_damaged_byte_of_a_zips_list_hides_an_array(flip):
    whole = npz(Q=GOOD, K=GOOD, V=GOOD)
    for place in range(whole.index(b"PK\x01\x02"), len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= flip
        try:
            found = entries("a.npz", bytes(damaged))
        except BadInput as problem:
            assert str(problem).startswith("a.npz")
        else:
            assert len(found) == 3, place
