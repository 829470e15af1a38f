"""Tables out of .parquet and .feather, by pyarrow, bounded before a column is read.

A small file can say it is large: rows, values and the sizes of unpacked pages are looked at in the
file itself, as pyarrow makes room by what a page says.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from attention.limits import MAX_ARRAYS, MAX_BUFFERS, MAX_ELEMENTS, MAX_INFLATED, BadInput
from attention.readers.entry import ALONE, ArrayEntry, shown
from attention.readers.label_columns import LABELLING
from attention.readers.printouts import sides


class Chosen(NamedTuple):
    """Columns that are read: at most one of labels, and numbers beside each other or in lists."""

    labels: tuple[str, ...]
    numbers: tuple[str, ...]
    in_lists: bool
    remark: str


PARQUET, FEATHER, OLD_FEATHER = b"PAR1", b"ARROW1", b"FEA1"


def is_columnar(content: bytes) -> bool:
    """Whether a file begins as .parquet or .feather do."""
    return content.startswith((PARQUET, FEATHER, OLD_FEATHER))


def entries(filename: str, content: bytes) -> dict[str, ArrayEntry]:
    """The table of a file as one array: columns of numbers, or of lists of numbers, and labels."""
    where = shown(filename)
    if content.startswith(OLD_FEATHER):
        raise BadInput(f"{where} is in the first form of Feather; save it anew with pandas.")
    try:
        import pyarrow  # noqa: F401  (comes with Streamlit; the package alone does without it)
    except ImportError:
        raise BadInput(f"{where} needs the package pyarrow to be read; save it as CSV.") from None
    read = _parquet if content.startswith(PARQUET) else _feather
    try:
        table, chosen = read(content, where)
        return {ALONE: _array(table, chosen, where)}
    except BadInput:
        raise
    except Exception as problem:  # pyarrow's errors are many, and say nothing to a person
        kind = type(problem).__name__
        raise BadInput(f"{where} is damaged, or written in a way not read ({kind}).") from None


# ---- .parquet -----------------------------------------------------------------------------------


def _parquet(content: bytes, where: str) -> tuple[Any, Chosen]:
    import pyarrow as pa
    from pyarrow import parquet

    file = parquet.ParquetFile(pa.BufferReader(content))
    meta = file.metadata
    _check(meta.num_rows, meta.num_columns, where)
    chunks = [
        meta.row_group(group).column(column)
        for group in range(meta.num_row_groups)
        for column in range(meta.num_columns)
    ]
    if sum(chunk.num_values for chunk in chunks) > 2 * MAX_ELEMENTS:
        raise BadInput(f"{where} holds too many values; at most {MAX_ELEMENTS:,} are read.")
    _check_size(sum(_unpacked(content, chunk) for chunk in chunks), where)
    chosen = _chosen(file.schema_arrow, where)
    # words stay one copy each, however many rows they stand in
    file = parquet.ParquetFile(pa.BufferReader(content), read_dictionary=list(chosen.labels))
    table = file.read(columns=[*chosen.labels, *chosen.numbers], use_threads=False)
    return table, chosen


def _unpacked(content: bytes, chunk: Any) -> int:
    """How many bytes the pages of a column say they take unpacked."""
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        starts.append(chunk.dictionary_page_offset)
    at, total = min(starts), 0
    end = min(at + chunk.total_compressed_size, len(content))
    while at < end:
        at, sizes = _page(content, at)
        total += sizes[2]
        at += sizes[3]
    return total


def _page(content: bytes, at: int) -> tuple[int, dict[int, int]]:
    """Where a page's header ends, and its whole numbers: 2 is its size unpacked, 3 as it is."""
    found: dict[int, int] = {}
    at = _struct(content, at, found, 0)
    if found.get(3, -1) < 0 or found.get(2, -1) < 0:
        raise ValueError("no page")
    return at, found


def _struct(content: bytes, at: int, found: dict[int, int], depth: int) -> int:
    """Skip a record of Thrift's compact protocol, and keep the whole numbers of the first level."""
    field = 0
    while content[at] & 15:
        kind, delta = content[at] & 15, content[at] >> 4
        at += 1
        if delta:
            field += delta
        else:
            field, at = _varint(content, at)
        if kind in (4, 5, 6):
            number, at = _varint(content, at)
            if depth == 0:
                found[field] = (number >> 1) ^ -(number & 1)
        else:
            at = _skip(content, at, kind, depth)
    return at + 1


def _skip(content: bytes, at: int, kind: int, depth: int) -> int:
    """Where a value of this kind ends."""
    if depth > 8:
        raise ValueError("too deep")
    if kind in (1, 2):  # true and false take no room
        return at
    if kind == 8:
        length, at = _varint(content, at)
        return at + length
    if kind == 12:
        return _struct(content, at, {}, depth + 1)
    if kind in (9, 10):
        count, inner = content[at] >> 4, content[at] & 15
        at += 1
        if count == 15:
            count, at = _varint(content, at)
        for _ in range(min(count, 10_000)):
            at = _varint(content, at)[1] if inner in (4, 5, 6) else _skip(content, at, inner, depth)
        return at
    return at + {3: 1, 7: 8}[kind]


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        byte = content[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at
    raise ValueError("no number")


# ---- .feather -----------------------------------------------------------------------------------


def _feather(content: bytes, where: str) -> tuple[Any, Chosen]:
    import pyarrow as pa

    sizes = list(islice(_buffers(content), MAX_BUFFERS + 1))
    if len(sizes) > MAX_BUFFERS:
        raise BadInput(f"{where} holds more than {MAX_BUFFERS:,} pieces; too many.")
    _check_size(sum(sizes), where)
    with pa.ipc.open_file(pa.BufferReader(content)) as file:
        if file.num_record_batches > MAX_ARRAYS:
            raise BadInput(f"{where} holds {file.num_record_batches:,} parts; too many.")
        _check(0, len(file.schema), where)
        batches = [file.get_batch(k) for k in range(file.num_record_batches)]
        table = pa.Table.from_batches(batches, file.schema)
    _check(table.num_rows, table.num_columns, where)
    table.validate(full=True)  # words may not say that they lie one over the other
    return table, _chosen(table.schema, where)


def _buffers(content: bytes) -> Iterator[int]:
    """How many bytes each buffer of an Arrow file takes, unpacked.

    By the blocks that its footer names, as pyarrow reads these and no others.
    """
    end = len(content) - 10
    (length,) = struct.unpack_from("<i", content, end)
    if not 0 < length <= end - 8:
        raise ValueError("no footer")
    start = end - length
    footer = start + struct.unpack_from("<I", content, start)[0]
    for number in (2, 3):  # dictionaries, and rows
        for at, meta in _entries(content, _field(content, footer, number), "<qi12x"):
            yield 0  # a block without a buffer counts as one
            yield from _of_block(content, at, at + meta)


def _of_block(content: bytes, at: int, body: int) -> Iterator[int]:
    """The sizes of the buffers of the message at a place; until 2019 four bytes fewer led it."""
    if not 0 < at < body <= len(content):
        raise ValueError("no block")
    start = at + (8 if content[at : at + 4] == b"\xff\xff\xff\xff" else 4)
    message = start + struct.unpack_from("<I", content, start)[0]
    version, kind = _field(content, message, 0), _field(content, message, 1)
    table = _followed(content, _field(content, message, 2))
    if not kind or content[kind] not in (2, 3):
        raise ValueError("no rows")
    if content[kind] == 2:  # a dictionary
        table = _followed(content, _field(content, table, 1))
    old = not version or content[version] < 4  # may say in its metadata that it is packed
    packed = _field(content, table, 3) or (old and _field(content, message, 4))
    yield from _sizes(content, table, body, bool(packed))


def _followed(content: bytes, at: int) -> int:
    """Where the table stands that a field points to."""
    if not at:
        raise ValueError("no table")
    return at + struct.unpack_from("<I", content, at)[0]


def _field(content: bytes, table: int, number: int) -> int:
    """Where a field of a FlatBuffers table stands; 0 where it has none."""
    vtable = table - struct.unpack_from("<i", content, table)[0]
    if vtable < 0:
        raise ValueError("no table")
    (size,) = struct.unpack_from("<H", content, vtable)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", content, vtable + 4 + 2 * number)
    return table + offset if offset else 0


def _entries(content: bytes, vector: int, form: str) -> Iterator[tuple[int, ...]]:
    """The structs of a vector, one by one; none where there is no vector."""
    if not vector:
        return
    first = vector + struct.unpack_from("<I", content, vector)[0]
    (count,) = struct.unpack_from("<I", content, first)
    for k in range(min(count, len(content))):
        yield struct.unpack_from(form, content, first + 4 + struct.calcsize(form) * k)


def _sizes(content: bytes, table: int, body: int, packed: bool) -> Iterator[int]:
    """The sizes of the buffers of some rows: of a packed one, what stands in front of it."""
    for offset, length in _entries(content, _field(content, table, 2), "<qq"):
        size = length
        if packed and length >= 8:
            (size,) = struct.unpack_from("<q", content, body + offset)
        yield max(size, length)


# ---- what was read ------------------------------------------------------------------------------


def _check(rows: int, columns: int, where: str) -> None:
    if columns > MAX_ARRAYS:
        raise BadInput(f"{where} has {columns:,} columns; at most {MAX_ARRAYS:,} are read.")
    if rows * max(columns, 1) > 2 * MAX_ELEMENTS:
        raise BadInput(
            f"{where} is {rows:,} × {columns:,}; at most {MAX_ELEMENTS:,} numbers are read."
        )


def _check_size(size: int, where: str) -> None:
    if size > MAX_INFLATED:
        raise BadInput(f"{where} takes {size:,} bytes unpacked; at most {MAX_INFLATED:,} are read.")


def _chosen(schema: Any, where: str) -> Chosen:
    """Which columns are read, by their types and names."""
    import pyarrow as pa

    words: list[str] = []
    numbers: list[str] = []
    lists: list[str] = []
    for name, stored in zip(schema.names, schema.types, strict=True):
        kind = stored.value_type if pa.types.is_dictionary(stored) else stored
        if _is_number(kind) or pa.types.is_boolean(kind):
            numbers.append(name)
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            words.append(name)
        elif _is_list(stored) and _is_number(stored.value_type):
            lists.append(name)
    index = _index(schema)
    beside = [name for name in numbers if name in index or name.lower() in LABELLING]
    chosen = lists[:1] or [name for name in numbers if name not in beside]
    names = ", ".join(shown(name, 20) for name in schema.names[:6])
    if not chosen:
        raise BadInput(f"{where} holds no column of numbers; it has {names or 'none'}.")
    if len(set(schema.names)) < len(schema.names):
        raise BadInput(f"{where} has several columns of one name.")
    ids = [name for name in beside if name.lower() in LABELLING]
    ids.sort(key=lambda name: name.lower() == "index")  # what pandas' reset_index counts
    labels = [*words, *ids][:1]
    over = [name for name in schema.names if name not in {*chosen, *labels, *index}]
    told = ", ".join(shown(name, 20) for name in over[:6])
    remark = f"Passed over: {told}{', …' * (len(over) > 6)}." if over else ""
    return Chosen(tuple(labels), tuple(chosen), bool(lists), remark)


def _index(schema: Any) -> set[str]:
    """The columns of a pandas index, which its metadata names."""
    try:
        stored = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError, RecursionError):
        stored = []
    named = (
        {name for name in stored if isinstance(name, str)} if isinstance(stored, list) else set()
    )
    return named | {name for name in schema.names if name.startswith("__index_level_")}


def _array(table: Any, chosen: Chosen, where: str) -> ArrayEntry:
    """The chosen columns as one matrix, with labels."""
    labels = tuple(_words(table.column(chosen.labels[0]))) if chosen.labels else ()
    first = table.column(chosen.numbers[0])
    values = _rows(first, where) if chosen.in_lists else _beside(table, chosen.numbers, where)
    if values.size > MAX_ELEMENTS:
        raise BadInput(
            f"{where} is {sides(values.shape)}; at most {MAX_ELEMENTS:,} numbers are read."
        )
    pick: Callable | None = (lambda rows: values[list(rows)]) if labels else None
    return ArrayEntry(
        ALONE, values.shape, values.dtype.name, lambda: values, labels, pick, chosen.remark
    )


def _is_list(kind: Any) -> bool:
    """Whether each row has numbers of its own; not those of another row, as views may."""
    import pyarrow as pa

    kinds = pa.types
    return kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _words(column: Any) -> Iterator[str]:
    """Words or numbers as text; one that is missing is empty."""
    for chunk in column.chunks:
        known = chunk.dictionary.to_pylist() if hasattr(chunk, "dictionary") else None
        cells = chunk.indices.to_pylist() if known is not None else chunk.to_pylist()
        for cell in cells:
            yield "" if cell is None else str(known[cell] if known is not None else cell)


def _beside(table: Any, names: tuple[str, ...], where: str) -> np.ndarray:
    """Columns of numbers as a matrix; missing cells are NaN."""
    parts = [table.column(name).to_numpy() for name in names]
    if all(part.dtype == bool for part in parts):
        return np.column_stack(parts)
    try:
        return np.column_stack([part.astype(np.float64) for part in parts])
    except (TypeError, ValueError):
        raise BadInput(f"{where}: a column holds cells that are no numbers.") from None


def _rows(column: Any, where: str) -> np.ndarray:
    """Lists of numbers of one length as the rows of a matrix."""
    rows = column.to_pylist()
    for number, row in enumerate(rows, 1):
        if row is None or len(row) != len(rows[0] or ()):
            held = "nothing" if row is None else f"{len(row)} numbers"
            raise BadInput(
                f"{where}, row {number} holds {held}; {len(rows[0] or ())} are wanted, as in row 1."
            )
    return np.array([[np.nan if v is None else v for v in row] for row in rows], np.float64)
