"""The arrays of any file, by what its bytes are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from attention.limits import MAX_HEADER, MAX_PROSE, BadInput
from attention.readers.cells.entry import ArrayEntry, shown
from attention.readers.cells.printouts import is_figure
from attention.readers.cells.what_is_meant import embeddings, without_comments
from attention.readers.files import array_files, other_files
from attention.readers.files.own_files import with_count
from attention.readers.texts import texts


def opened(
    filename: str, content: bytes, chosen: Mapping[str, str] | None = None
) -> dict[str, ArrayEntry]:
    """Return the arrays of a file by name, whatever form it has; a text file is UTF-8.

    ``chosen``: as for :func:`attention.readers.texts.texts.entries`.
    """
    where = shown(filename)
    if told := other_files.answer(filename, content[: MAX_HEADER + 8], len(content)):
        raise told
    if array_files.is_arrays(filename, content):
        return embeddings(with_count(array_files.entries(filename, content)), where)
    array_files.check_size(content, where)
    return texts.entries(decoded(content, where), where, chosen)


def text_in(filename: str, content: bytes) -> str:
    """Return the text of a file that :func:`opened` reads as text; of other files none."""
    if array_files.is_arrays(filename, content):
        return ""
    return decoded(content, shown(filename))


_NO_PROSE = re.compile(r"^\||[\[\]{}=\t\x00]|\S[,;|]\S|\b(?:true|false)\b", re.IGNORECASE)
_WITH_COMMA = re.compile(r"(?<!\S)\d+,\d+(?!\S)")  # 3,50 euros: no separator


class Prose(NamedTuple):
    """A text that can be read as a sentence."""

    text: str
    likely: bool  # rather a sentence than a table with labels
    has_numbers: bool


def prose_in(content: bytes) -> Prose | None:
    """Return the text as a sentence; None where it is written like code or a table.

    A number is a token like any other where words go on after it, and words are the more. Where one
    number ends a line of several words, or each of several lines holds as many, it may be either.

    >>> prose_in(b"I have 2 cats\\n")
    Prose(text='I have 2 cats', likely=True, has_numbers=True)
    >>> prose_in(b"I have 2").likely, prose_in(b"cat 1 2"), prose_in(b"a,b,c")
    (False, None, None)
    >>> prose_in(b"my nan bakes bread").likely, prose_in(b"cat nan inf")
    (True, None)
    """
    if len(content) > MAX_PROSE:
        return None
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return None
    if not any(character.isalpha() for character in without_comments(text)):
        return None
    if _NO_PROSE.search(_WITH_COMMA.sub("0", text)) or not any(
        character.isalpha() for character in text
    ):
        return None
    lines = [[is_figure(token) for token in line.split()] for line in text.splitlines() if line]
    figures, tokens = sum(map(sum, lines)), sum(map(len, lines))
    if not figures:
        return Prose(text, True, False)
    if tokens - figures <= figures:
        return None
    if len(lines) == 1 and not any(character.isdigit() for character in text):
        return Prose(text, not lines[0][-1], True)  # nan and infinity are words as well
    alike = len(lines) > 1 and len({sum(line) for line in lines}) == 1
    if re.search(r"\d[^\d\s]*[ ]+[^\W\d_]{2}", text):  # a word after a number
        return Prose(text, not alike, True)
    return Prose(text, False, True) if len(lines) == figures == 1 else None


def check_not_utf16(content: bytes, where: str) -> None:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput(f"{where} is UTF-16 text; save it as UTF-8.")


def decoded(content: bytes, where: str) -> str:
    check_not_utf16(content, where)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BadInput(
            f"{where} is not UTF-8 text: byte {problem.start + 1} is {content[problem.start]:#04x};"
            " save it as UTF-8."
        ) from None
