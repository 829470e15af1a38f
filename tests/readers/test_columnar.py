"""Tables that pandas and pyarrow write as .parquet and .feather, and files that say too much."""

import io
import struct
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from attention.limits import BadInput
from attention.readers.entry import ALONE
from attention.readers.opening import opened
from attention.readers.select import Selection, select

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

TWO = [[0.5, -1.25], [3.0, 4.0]]
FORMS = ("parquet", "feather")


def written(frame: pd.DataFrame, form: str, **options) -> bytes:
    buffer = io.BytesIO()
    getattr(frame, f"to_{form}")(buffer, **options)
    return buffer.getvalue()


def the_one(frame, form, **options):
    found = opened(f"a.{form}", written(frame, form, **options))
    assert list(found) == [ALONE]
    return found[ALONE]


def refused(content: bytes, name: str = "a.parquet") -> str:
    with pytest.raises(BadInput) as problem:
        next(iter(opened(name, content).values())).read()
    return str(problem.value)


@pytest.mark.parametrize("compression", [None, "snappy", "gzip", "zstd", "lz4"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8"])
def test_columns_of_parquet_stand_beside_each_other(dtype, compression):
    values = np.arange(20).reshape(5, 4).astype(dtype)
    frame = pd.DataFrame(values, columns=list("abcd"))
    entry = the_one(frame, "parquet", compression=compression)
    assert (entry.read().tolist(), entry.rows, entry.remark) == (values.tolist(), (), "")


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_columns_of_feather_stand_beside_each_other(compression):
    values = np.random.default_rng(0).standard_normal((50, 4))
    frame = pd.DataFrame(values, columns=list("abcd"))
    assert the_one(frame, "feather", compression=compression).read().tobytes() == values.tobytes()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("categories", [False, True])
def test_a_column_of_words_labels_the_rows(form, categories):
    frame = pd.DataFrame(TWO, columns=["a", "b"])
    words = pd.Series(["cat", "dog"], dtype="category" if categories else None)
    frame.insert(1, "word", words)
    frame["source"] = "web"
    entry = the_one(frame, form)
    assert (entry.read().tolist(), entry.rows) == (TWO, ("cat", "dog"))
    assert entry.remark == "Passed over: source."
    assert select(entry, "X", "it", Selection(words="dog")).values.tolist() == [TWO[1]]


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_vectors_is_a_matrix(form):
    frame = pd.DataFrame({"id": [7, 8], "word": ["cat", "dog"], "embedding": TWO})
    entry = the_one(frame, form)
    assert (entry.read().tolist(), entry.rows) == (TWO, ("cat", "dog"))
    assert entry.remark == "Passed over: id."


def test_an_index_of_words_labels_the_rows_and_one_of_numbers_is_left_away():
    frame = pd.DataFrame(TWO, columns=["a", "b"], index=["cat", "dog"])
    assert the_one(frame, "parquet").rows == ("cat", "dog")
    frame.index = [7, 9]
    entry = the_one(frame, "parquet")
    assert (entry.read().tolist(), entry.rows) == (TWO, ())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["token_id", "ID", "index"])
def test_a_column_of_ids_labels_the_rows_and_is_no_dimension(form, name):
    frame = pd.DataFrame({"a": [0.5, 3.0, 1.0], name: [101, 7, 9], "b": [-1.25, 4.0, 2.0]})
    entry = the_one(frame, form)
    values = [[0.5, -1.25], [3.0, 4.0], [1.0, 2.0]]
    assert (entry.read().tolist(), entry.rows) == (values, ("101", "7", "9"))
    frame["word"] = ["cat", "dog", "bird"]
    entry = the_one(frame, form)
    assert (entry.read().tolist(), entry.rows) == (values, ("cat", "dog", "bird"))
    assert entry.remark == f"Passed over: {name}."


@pytest.mark.parametrize(
    ("name", "labels"), [("step", ()), ("token_id", ("101", "7", "9")), (None, ())]
)
def test_an_index_of_numbers_is_no_dimension_and_labels_the_rows_by_its_name(name, labels):
    index = pd.Index([101, 7, 9], name=name)
    entry = the_one(pd.DataFrame({"a": [0.5, 3.0, 1.0]}, index=index), "parquet")
    assert (entry.read().tolist(), entry.rows, entry.remark) == ([[0.5], [3.0], [1.0]], labels, "")


def test_columns_of_truth_are_a_mask():
    entry = the_one(pd.DataFrame(np.eye(3) > 0, columns=list("abc")), "parquet")
    assert (entry.dtype, entry.read().tolist()) == ("bool", (np.eye(3) > 0).tolist())


@pytest.mark.parametrize("form", FORMS)
def test_vectors_of_other_lengths_and_tables_without_numbers_are_refused(form):
    ragged = pd.DataFrame({"x": [[1.0, 2.0], [3.0]]})
    assert refused(written(ragged, form), f"a.{form}") == (
        f"a.{form}, row 2 holds 1 numbers; 2 are wanted, as in row 1."
    )
    words = pd.DataFrame({"x": ["a"], "y": ["b"]})
    assert refused(written(words, form), f"a.{form}") == (
        f"a.{form} holds no column of numbers; it has x, y."
    )


@pytest.mark.parametrize("form", FORMS)
def test_more_numbers_than_are_read_are_refused(form):
    frame = pd.DataFrame(np.zeros((500_000, 2)), columns=["a", "b"])
    message = f"a.{form} is 500,000 × 2; at most 400,000 numbers are read."
    assert refused(written(frame, form), f"a.{form}") == message


@pytest.mark.parametrize("form", FORMS)
def test_a_small_file_that_unpacks_to_a_large_one_takes_no_memory(form):
    large = "x" * 2_100_000
    frame = pd.DataFrame({"a": np.zeros(17), "word": [f"{large}{k}" for k in range(17)]})
    content = written(frame, form, compression="zstd")
    assert len(content) < 100_000
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    assert "bytes unpacked; at most 33,554,432 are read." in refused(content, f"a.{form}")
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
    assert pa.total_allocated_bytes() - before < 10_000_000


def arrow(batches, **options) -> bytes:
    buffer = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_file(buffer, batches[0].schema, options=options) as file:
        for batch in batches:
            file.write_batch(batch)
    return buffer.getvalue()


FRAMING = {
    "of today": {},
    "until 2019": {"use_legacy_format": True},
}


@pytest.mark.parametrize("framing", FRAMING)
def test_batches_are_counted_and_read_however_they_are_framed(framing):
    words = pa.array(["cat", "dog", "cat"]).dictionary_encode()
    batch = pa.record_batch({"a": np.array([1.0, 2.0, 3.0]), "word": words})
    for compression in (None, "zstd"):
        content = arrow([batch] * 2, compression=compression, **FRAMING[framing])
        entry = opened("a.feather", content)[ALONE]
        assert entry.read().tolist() == [[1.0], [2.0], [3.0]] * 2
        assert entry.rows == ("cat", "dog", "cat") * 2
    zeros = pa.record_batch({"a": np.zeros(2**21)})  # 16 MiB
    content = arrow([zeros] * 3, compression="zstd", **FRAMING[framing])
    assert len(content) < 100_000
    before = pa.total_allocated_bytes()
    message = "a.feather takes 50,331,648 bytes unpacked; at most 33,554,432 are read."
    assert refused(content, "a.feather") == message
    assert pa.total_allocated_bytes() == before


def test_a_footer_that_names_one_block_many_times_is_counted_each_time():
    batch = pa.record_batch({"a": np.zeros(2**20)})  # 8 MiB
    content = arrow([batch] * 5, compression="zstd")
    with pa.ipc.open_file(pa.BufferReader(content)) as file:
        assert file.num_record_batches == 5
    blocks = [content.rindex(struct.pack("<q", at)) for at in starts(content)]
    other = bytearray(content)
    for at in blocks[1:]:
        other[at : at + 24] = content[blocks[0] : blocks[0] + 24]
    message = "a.feather takes 41,943,040 bytes unpacked; at most 33,554,432 are read."
    assert refused(bytes(other), "a.feather") == message


def starts(content):
    """Where the messages of rows begin: each after four bytes of ones, the schema's before."""
    mark, found, at = b"\xff" * 4, [], 8
    while (at := content.find(mark, at + 1)) >= 0:
        found.append(at)
    return found[:-1]  # the last ends the file


def test_lists_that_share_one_long_list_are_no_rows():
    long = pa.array([list(np.zeros(1000))])
    shared = pa.DictionaryArray.from_arrays(np.zeros(2000, np.int32), long)
    assert refused(arrow([pa.record_batch({"a": shared})]), "a.feather") == (
        "a.feather holds no column of numbers; it has a."
    )


def test_words_that_lie_one_over_the_other_are_refused():
    offsets = np.array([0, 9, 0, 9], np.int32)
    words = pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"x" * 9))
    batch = pa.RecordBatch.from_arrays([words, pa.array([1.0, 2.0, 3.0])], ["w", "a"])
    assert refused(arrow([batch]), "a.feather") == (
        "a.feather is damaged, or written in a way not read (ArrowInvalid)."
    )


def test_one_long_word_in_many_rows_is_one_word_in_memory():
    word = pa.DictionaryArray.from_arrays(np.zeros(100_000, np.int32), ["x" * 100_000])
    table, buffer = pa.table({"a": np.zeros(100_000), "word": word}), io.BytesIO()
    parquet.write_table(table, buffer, store_schema=False)  # which would say that it is one word
    content = buffer.getvalue()
    assert len(content) < 1_000_000
    tracemalloc.start()
    entry = opened("a.parquet", content)[ALONE]
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    assert len(entry.rows) == 100_000 and len(entry.rows[-1]) == 100_000


@pytest.mark.parametrize("form", FORMS)
def test_a_file_with_one_byte_changed_is_read_or_refused_in_one_sentence(form):
    frame = pd.DataFrame({"word": ["cat", "dog"], "a": [1.0, 2.0], "b": [3.0, 4.0]})
    content = written(frame, form)
    rng = np.random.default_rng(0)
    for at in rng.integers(8, len(content) - 8, 150):
        other = bytearray(content)
        other[at] ^= int(rng.integers(1, 256))
        try:
            opened(f"a.{form}", bytes(other))[ALONE].read()
        except BadInput as problem:
            assert len(str(problem)) < 300


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_is_cut_off_is_refused(form):
    content = written(pd.DataFrame({"a": [1.0, 2.0]}), form)
    message = refused(content[: len(content) // 2], f"a.{form}")
    assert message.startswith(f"a.{form} is damaged, or written in a way not read (")
