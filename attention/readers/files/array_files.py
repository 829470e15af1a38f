"""Arrays out of .npy, .npz and .safetensors, checked before any is allocated, read to the bit.

Nothing here unpickles, evaluates or opens a path; what is refused is one sentence that names the
place.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from attention.limits import (
    MAX_ARRAYS,
    MAX_ELEMENTS,
    MAX_FILE,
    MAX_HEADER,
    MAX_INFLATED,
    MAX_RANK,
    BadInput,
)
from attention.readers.cells.entry import (
    ALONE,
    REFUSED,
    ArrayEntry,
    Index,
    refused,
    repeated,
    shape_of,
    shown,
)
from attention.readers.cells.printouts import sides
from attention.vocabulary.sentences import first_few

HEAD = 12_000  # bytes of a .npy that hold its header
VERSIONS = (b"\x01\x00", b"\x02\x00", b"\x03\x00")  # of .npy
WORDS = "words"  # instead of the type of numbers


class Bounds(NamedTuple):
    """How much is read of a file, and of one of its arrays."""

    size: int = MAX_FILE  # bytes of the file
    numbers: int = MAX_ELEMENTS  # of one array
    rank: int = MAX_RANK  # its axes


BOARD = Bounds()


class Unreadable(BadInput):
    """Some arrays of a file cannot be read, and the others can; it says which and why."""


class UnknownType(BadInput):
    """Numbers of a type that is not read; the arrays beside them may be."""


def entries(filename: str, content: bytes, bounds: Bounds = BOARD) -> dict[str, ArrayEntry]:
    """Return the arrays of a file by name; a .npy file has one, named "numbers"."""
    where = shown(filename)
    check_size(content, where, bounds.size)
    if not content:
        raise BadInput(f"{where} is empty.")
    if content[:6] == b"\x93NUMPY":
        return {ALONE: npy(content[:HEAD], len(content), lambda: content, where, bounds=bounds)}
    if content[:2] == b"PK":
        return npz(content, where, bounds)
    if filename.lower().endswith(".safetensors"):
        return safetensors(content, where, bounds)
    raise BadInput(f"{where} is not a .npy, .npz or .safetensors file: it does not begin like one.")


def check_size(content: bytes, where: str, most: int = MAX_FILE) -> None:
    """Refuse a file that is too large, before anything is made of it."""
    if len(content) > most:
        raise BadInput(f"{where} has {len(content):,} bytes; at most {most:,} are read.")


# ---- .npy ---------------------------------------------------------------------------------------

# The header as NumPy writes it.
_HEADER = re.compile(
    r"\{\s*'descr':\s*('[<>|=]?[A-Za-z?](?:\d{0,4}|8\[\w{1,9}\])'|\[[^\]]{0,9000}\]),"
    r"\s*'fortran_order':\s*(True|False),"
    r"\s*'shape':\s*\(([\d, ]{0,99})\),?\s*\}\s*"
)
_OTHER = {
    "[": "a structured array",
    "O": "Python objects",
    "U": "text",
    "S": "text",
    "a": "text",
    "V": "numbers of a type that NumPy does not know, such as bfloat16",
}
_SPARSE = {"data", "format", "shape"}  # of scipy.sparse.save_npz


def npy(
    head: bytes,
    size: int,
    whole: Callable[[], bytes],
    where: str,
    name: str = ALONE,
    bounds: Bounds = BOARD,
) -> ArrayEntry:
    """Return the array of a .npy of ``size`` bytes that begins with ``head``.

    ``whole`` gets all its bytes, when the array is read. What the header says is compared with the
    size before anything is made of it.
    """
    version = head[6:8]
    if version not in VERSIONS:
        raise BadInput(
            f"{where}: its .npy version is {version.hex() or 'missing'}; 1.0, 2.0 and 3.0 are read."
        )
    start, header = _header(head)
    if size < start or not header:
        raise BadInput(f"{where}: its .npy header is damaged.")
    descr, fortran, lengths = header.groups()
    dtype = _number_type(descr, where)
    sides_said = lengths.replace(" ", "").split(",")
    shape = tuple(int(side) for side in sides_said if side)
    _fits(size - start, shape, dtype.itemsize, where)

    def numbers() -> np.ndarray:
        content = whole()
        _fits(len(content) - start, shape, dtype.itemsize, where)
        flat = np.frombuffer(content, dtype, math.prod(shape), start)
        return flat.reshape(shape, order="F" if fortran == "True" else "C")

    return _entry(name, shape, dtype.name, numbers, where, bounds)


def _header(content: bytes) -> tuple[int, re.Match | None]:
    """Where the numbers begin, and what stands before them; None unless NumPy wrote it."""
    start = 10 if content[6:8] == VERSIONS[0] else 12
    length = int.from_bytes(content[8:start], "little")
    return start + length, _HEADER.fullmatch(
        content[start : start + min(length, 10_000)].decode("latin-1")
    )


def _entry(
    name: str,
    shape: tuple[int, ...],
    dtype: str,
    numbers: Callable[[], np.ndarray],
    where: str,
    bounds: Bounds,
) -> ArrayEntry:
    """Return an array of which parts are read: cut out and counted before anything is copied.

    ``numbers`` returns all of it, as a view of the file's bytes.
    """

    def part(index: Index) -> np.ndarray:
        _check_axes(shape, where, bounds)
        _check_count(shape_of(shape, index), where, bounds.numbers)
        chosen = _sound(numbers()[index], where)
        return (chosen.astype("<u4") << 16).view("<f4") if dtype == BFLOAT else chosen

    return ArrayEntry(name, shape, dtype, lambda: part(()), part=part)


def _check_count(shape: tuple[int, ...], where: str, most: int) -> None:
    """Refuse more numbers than are read."""
    if math.prod(shape) > most:
        raise BadInput(
            f"{where} is {sides(shape)}, {math.prod(shape):,} numbers; at most {most:,} are read."
        )


def _check_axes(shape: tuple[int, ...], where: str, bounds: Bounds) -> None:
    if len(shape) > bounds.rank:
        raise BadInput(f"{where} has {len(shape)} axes; at most {bounds.rank} are read.")
    most = bounds.numbers
    # a side of 0 hides the others from the product
    if 0 in shape and math.prod(filter(None, shape)) > most:
        raise BadInput(
            f"{where} is {sides(shape)}, without any number; the product of its other sides may be"
            f" at most {most:,}."
        )


def _number_type(descr: str, where: str) -> np.dtype:
    """Return the type of plain numbers that the header names; nothing else is built from a file."""
    other = _OTHER.get("[" if descr[0] == "[" else descr.strip("'<>|=")[0])
    try:
        dtype = np.dtype(float if other else descr.strip("'"))
    except (TypeError, ValueError):
        raise BadInput(f"{where}: its .npy header is damaged.") from None
    if other or dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise BadInput(
            f"{where} holds {other or dtype.name}; floats up to float64, integers and masks of bool"
            " are read."
        )
    return dtype


def _sound(values: np.ndarray, where: str) -> np.ndarray:
    """Bytes that say they are bool must be 0 or 1."""
    if values.dtype == bool and (values.view(np.uint8) > 1).any():
        raise BadInput(f"{where} says it is bool, and holds bytes other than 0 and 1.")
    return values


def _fits(size: int, shape: tuple[int, ...], itemsize: int, where: str) -> None:
    wanted = math.prod(shape) * itemsize
    if size != wanted:
        raise BadInput(
            f"{where} says it is {sides(shape)}, which takes {wanted:,} bytes; {size:,} follow."
        )


# ---- .npz ---------------------------------------------------------------------------------------


def npz(content: bytes, where: str, bounds: Bounds = BOARD) -> dict[str, ArrayEntry]:
    """Each member of the zip is one .npy. Headers are read now, numbers when they are chosen.

    Of a zip that is small when inflated all is read once, so that no damage goes unseen.
    """
    files = content.count(b"PK\x01\x02")
    if files > MAX_ARRAYS:  # before a list of them is made
        raise BadInput(f"{where} holds {files:,} files; at most {MAX_ARRAYS:,} are read.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        members = archive.infolist()
    except (
        zipfile.BadZipFile,
        ValueError,
        OverflowError,
        NotImplementedError,
        struct.error,
        EOFError,
    ):
        raise BadInput(f"{where} is a damaged zip file.") from None
    if (said := _said_to_hold(content)) not in (len(members), 0xFFFF):  # or too many for its place
        raise BadInput(
            f"{where} is a damaged zip file: it says that it holds {said:,} files, and lists"
            f" {len(members):,}."
        )
    small = sum(member.file_size for member in members) <= MAX_INFLATED
    listed = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        place = f"{where}, {shown(name)}"
        if name in listed:
            raise BadInput(f"{where} holds {shown(name)} twice.")
        try:
            listed[name] = _member(archive, member, name, place, bounds)
            if small:
                _check_sound(listed[name], bounds)
        except BadInput as problem:
            listed[name] = refused(name, problem)
    if listed.keys() >= _SPARSE and all(len(entry.shape) < 2 for entry in listed.values()):
        raise BadInput(
            f"{where} is a sparse matrix of SciPy; save scipy.sparse.load_npz(…).toarray() by"
            " np.save instead."
        )
    words = {name: entry.rows for name, entry in listed.items() if entry.dtype == WORDS}
    arrays = {
        name: _labelled(entry, words) for name, entry in listed.items() if entry.dtype != WORDS
    }
    if not arrays:
        raise BadInput(f"{where} holds no array.")
    return _some(arrays)


def _check_sound(entry: ArrayEntry, bounds: Bounds) -> None:
    """Read a member of a zip for its damage; of one too large as a whole all but its bytes."""
    entry.of_part(() if math.prod(entry.shape) <= bounds.numbers else (slice(0),))


def _said_to_hold(content: bytes) -> int:
    """How many files a zip of few says that it holds; one damaged byte can hide all that follow."""
    end = content.rfind(b"PK\x05\x06")
    return int.from_bytes(content[end + 10 : end + 12], "little")


def _some(arrays: dict[str, ArrayEntry]) -> dict[str, ArrayEntry]:
    """Return the arrays, if one of them can be read; otherwise why the first cannot."""
    if all(entry.dtype == REFUSED for entry in arrays.values()):
        next(iter(arrays.values())).read()
    return arrays


def readable(arrays: dict[str, ArrayEntry]) -> tuple[dict[str, ArrayEntry], str]:
    """Return the arrays that can be read, and what to ask about the others, "" if none."""
    why = [entry.remark for entry in arrays.values() if entry.dtype == REFUSED]
    if not why:
        return arrays, ""
    more = f" The same holds for {len(why) - 3:,} more." if len(why) > 3 else ""
    question = f"{len(why):,} of {len(arrays):,} arrays cannot be read. {' '.join(why[:3])}{more}"
    return {name: entry for name, entry in arrays.items() if entry.dtype != REFUSED}, question


def _labelled(entry: ArrayEntry, words: dict[str, tuple[str, ...]]) -> ArrayEntry:
    """With the tokens this page saves beside its arrays as labels of the rows."""
    of_keys = (
        "memory_tokens"
        if entry.name in ("K", "V", "memory") and "memory_tokens" in words
        else "tokens"
    )
    fits = (
        len(entry.shape) > 1
        and entry.name in ("X", "memory", "Q", "K", "V")
        and of_keys in words
        and entry.shape[-2] == len(words[of_keys])
    )
    return replace(entry, rows=words[of_keys]) if fits else entry


def _member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, place: str, bounds: Bounds
) -> ArrayEntry:
    head = _inflated(archive, member, HEAD, place)
    if head[:6] != b"\x93NUMPY":
        raise BadInput(f"{place} is not a .npy array.")
    most = max(bounds.numbers * 8, MAX_INFLATED) + HEAD
    if member.file_size > most:
        raise BadInput(f"{place} takes {member.file_size:,} bytes; at most {most:,} are read.")
    whole = partial(_inflated, archive, member, most + 1, place)
    if name in ("tokens", "memory_tokens", "about") and (words := _labels_in(whole())):
        return ArrayEntry(name, (len(words),), WORDS, lambda: np.array(words), words)
    return npy(head, member.file_size, whole, place, name, bounds)


def words_in(content: bytes) -> tuple[str, ...] | None:
    """Return the words that a .npz has under ``tokens``, () where these are none; None without."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            member = archive.getinfo("tokens.npy")
            return _labels_in(_inflated(archive, member, MAX_INFLATED, "tokens"))
    except (zipfile.BadZipFile, KeyError):
        return None


def _labels_in(content: bytes) -> tuple[str, ...]:
    """Return the labels in a .npy of text, 4 bytes for each character; () for anything else."""
    start, header = _header(content)
    text = header and re.fullmatch(r"'<U(\d{1,3})'", header[1])
    if not header or not text or not re.fullmatch(r"\d{1,4},", header[3]):
        return ()
    width, count = 4 * int(text[1]), int(header[3][:-1])
    if len(content) - start != width * count or not width:
        return ()
    labels = [content[start + k * width : start + (k + 1) * width] for k in range(count)]
    try:
        return tuple(cell.decode("utf-32-le").rstrip("\0") for cell in labels)
    except UnicodeDecodeError:
        return ()


def _inflated(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int, place: str) -> bytes:
    try:
        with archive.open(member) as stream:
            return stream.read(most)
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        NotImplementedError,
        RuntimeError,
        EOFError,
        struct.error,
        OSError,
    ):
        raise BadInput(f"{place} is damaged, encrypted or compressed in an unknown way.") from None


# ---- .safetensors -------------------------------------------------------------------------------

BFLOAT = "bfloat16"
TYPES = {
    "BF16": "<u2",  # the upper half of a float32
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}


def safetensors(content: bytes, where: str, bounds: Bounds = BOARD) -> dict[str, ArrayEntry]:
    """Eight bytes of length, a JSON of names, types, shapes and places, then the numbers."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(MAX_HEADER, len(content) - 8):
        raise BadInput(
            f"{where} is not a complete .safetensors file: its header does not fit into it."
        )
    try:
        text = content[8 : 8 + length].decode("utf-8")
        whole(text)
        header = json.loads(text, object_pairs_hook=once)
    except BadInput as problem:
        raise BadInput(f"{where}: {problem}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{where}: its .safetensors header is damaged.") from None
    body = memoryview(content)[8 + length :]
    tensors = (
        {name: tensor for name, tensor in header.items() if name != "__metadata__"}
        if isinstance(header, dict)
        else {}
    )
    if not tensors:
        raise BadInput(f"{where} holds no tensor.")
    if len(tensors) > MAX_ARRAYS:
        raise BadInput(f"{where} holds {len(tensors):,} tensors; at most {MAX_ARRAYS:,} are read.")
    places = {name: f"{where}, {shown(name)}" for name in tensors}
    spans = ((*_span(tensor, places[name]), places[name]) for name, tensor in tensors.items())
    _check_cover(sorted(spans), len(body))
    arrays = {}
    for name, tensor in tensors.items():
        try:
            arrays[name] = _tensor(name, tensor, body, places[name], bounds)
        except UnknownType as problem:
            arrays[name] = refused(name, problem)
    return _some(arrays)


def _span(tensor: dict, place: str) -> tuple[int, int]:
    """Where the numbers of a tensor begin and end, after its entry in the header was looked at."""
    try:
        shape, (begin, end) = tensor["shape"], tensor["data_offsets"]
        sound = isinstance(tensor["dtype"], str) and begin <= end
        sound = sound and all(type(n) is int and 0 <= n < 2**40 for n in (*shape, begin, end))
    except (TypeError, KeyError, ValueError):
        sound = False
    if not sound:
        raise BadInput(f"{place}: its entry in the header is damaged.")
    return begin, end


def _check_cover(spans: list[tuple[int, int, str]], size: int) -> None:
    """Refuse tensors that overlap or leave bytes between them or at the end: each byte is of one.

    ``spans`` are sorted: where each tensor begins and ends, and its name in a sentence.
    """
    reached = 0
    for begin, end, place in spans:
        if begin != reached:
            overlap = f"inside of the tensor that ends at byte {reached:,}"
            hole = f"and the bytes from {reached:,} up to it are of no tensor"
            raise BadInput(
                f"{place} begins at byte {begin:,} of the numbers,"
                f" {overlap if begin < reached else hole}."
            )
        reached = end
    if reached != size:
        why = "it is cut off" if reached > size else "the rest is of no tensor"
        raise BadInput(
            f"{place} ends at byte {reached:,} of the numbers, and the file at {size:,}; {why}."
        )


_HALF = re.compile(r"(?i)\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]..")


def whole(text: str) -> None:
    """Refuse JSON with half of a surrogate pair, which no text on a page can hold."""
    if half := _HALF.search(text):
        raise BadInput(f"{half[0]} is half of a character; the other half is missing.")


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object, refused where a name stands in it twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BadInput(f"{shown(repeated(name for name, _ in pairs) or '')} appears twice.")
    return found


def _tensor(name: str, tensor: dict, body: memoryview, place: str, bounds: Bounds) -> ArrayEntry:
    kind, shape = tensor["dtype"], tuple(tensor["shape"])
    begin, end = tensor["data_offsets"]
    if kind not in TYPES:
        raise UnknownType(
            f"{place} holds {shown(kind)}; F64, F32, F16, BF16, integers and BOOL are read."
        )
    dtype = np.dtype(TYPES[kind])
    _fits(end - begin, shape, dtype.itemsize, place)

    def numbers() -> np.ndarray:
        return np.frombuffer(body[begin:end], dtype).reshape(shape)

    return _entry(name, shape, BFLOAT if kind == "BF16" else dtype.name, numbers, place, bounds)


def is_arrays(filename: str, content: bytes) -> bool:
    """Whether a file is one of these, and not text."""
    return (
        content[:6] == b"\x93NUMPY"
        or content[:2] == b"PK"
        or filename.lower().endswith((".npy", ".npz", ".safetensors"))
    )


def the_one(arrays: dict[str, ArrayEntry], name: str, where: str) -> ArrayEntry:
    """Return the array of that name, or the only one; the names, where it is neither."""
    if name in arrays:
        return arrays[name]
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    if all(each.startswith(ALONE) for each in arrays):
        raise BadInput(
            f"{where} holds {len(arrays)} arrays without names; give one, or put [ ] around all of"
            " them if they are heads."
        )
    names = first_few([shown(each, 20) for each in arrays], 6)
    raise BadInput(f"{where} holds {len(arrays)} arrays, and none named {name}: {names}.")
