"""Files of arrays as bytes, whole and damaged."""

import io
import struct
import zipfile

import numpy as np


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
