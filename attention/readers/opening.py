"""The arrays of any file, by what its bytes are."""

from __future__ import annotations

from attention.limits import BadInput
from attention.readers import array_files, texts
from attention.readers.entry import ArrayEntry, shown

SUFFIXES = ["csv", "tsv", "txt", "vec", "json", "npy", "npz", "safetensors"]  # of files


def opened(filename: str, content: bytes, comma: str | None = None) -> dict[str, ArrayEntry]:
    """The arrays of a file by name, whatever form it has; a text file is UTF-8."""
    where = shown(filename)
    if array_files.is_arrays(filename, content):
        return array_files.entries(filename, content)
    array_files.check_size(content, where)
    return texts.entries(decoded(content, where), where, comma)


def decoded(content: bytes, where: str) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput(f"{where} is UTF-16 text; save it as UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BadInput(
            f"{where} is no UTF-8 text: byte {problem.start + 1} is {content[problem.start]:#04x};"
            " save it as UTF-8."
        ) from None
