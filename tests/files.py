"""Files of arrays as bytes, whole and damaged."""

import io
import struct
import zipfile
from importlib.metadata import version

import numpy as np

# Options by which pandas.read_csv reads every float64 exactly, as it does by default from 3.1 on.
_IS_EXACT = tuple(map(int, version("pandas").split(".")[:2])) >= (3, 1)
EXACTLY = {} if _IS_EXACT else {"float_precision": "round_trip"}


def npy(array, **options) -> bytes:
    """One array, as numpy.save writes it."""
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def stored(**arrays) -> bytes:
    """A .npz that is not compressed."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def torn(content: bytes, name: str) -> bytes:
    """A .npz with the last byte of an array changed: its checksum is wrong."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        member = archive.getinfo(f"{name}.npy")
    start = member.header_offset + 30
    last = start + sum(struct.unpack("<HH", content[start - 4 : start])) + member.compress_size - 1
    return content[:last] + bytes([content[last] ^ 1]) + content[last + 1 :]
