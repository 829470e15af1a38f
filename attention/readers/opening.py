"""The arrays of any file, by what its bytes are."""

from __future__ import annotations

import re

from attention.limits import MAX_FIELD, BadInput
from attention.readers import array_files, texts
from attention.readers.entry import ArrayEntry, shown
from attention.readers.printouts import is_number

SUFFIXES = ["csv", "tsv", "txt", "vec", "json", "npy", "npz", "safetensors"]  # of files


def opened(filename: str, content: bytes, comma: str | None = None) -> dict[str, ArrayEntry]:
    """The arrays of a file by name, whatever form it has; a text file is UTF-8."""
    where = shown(filename)
    if array_files.is_arrays(filename, content):
        return array_files.entries(filename, content)
    array_files.check_size(content, where)
    return texts.entries(decoded(content, where), where, comma)


_NO_PROSE = re.compile(r"[\[\]{}=\t\x00]|\S[,;|]\S|\b(?:true|false)\b", re.IGNORECASE)


def sentence_in(content: bytes) -> str | None:
    """The text of words alone; None where it holds a number, or is written like code or a table.

    >>> sentence_in(b"the cat sat\\n"), sentence_in(b"cat 1 2"), sentence_in(b"a,b,c")
    ('the cat sat', None, None)
    """
    if len(content) > MAX_FIELD:
        return None
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return None
    if _NO_PROSE.search(text) or not any(character.isalpha() for character in text):
        return None
    return None if any(is_number(word.strip(".,;:!?()")) for word in text.split()) else text


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
