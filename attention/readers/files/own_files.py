"""Files that this page makes: which hold no arrays, and how many heads share the columns."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace

from attention.limits import MAX_ARRAYS, MAX_STATE
from attention.readers.cells.entry import ArrayEntry
from attention.vocabulary.stages import PROJECTIONS

_ZIP = re.compile(r"cells(?:_(?:item|head)[\w-]*)?\.csv")
STATE = "state.json"  # in a zip of all formats
_OF_CODE = b"# True where query i may look at key j", b"assert_allclose(globals()[name]"
_RENDERED = re.compile(rb"\bmade by\s{1,9}attention-stages \d")  # a report as a browser shows it
_MARK, _NAME = b"recomputed with NumPy alone.", b"attention-stages"


def told(member: str, head: bytes) -> str:
    """Return what is said of a zip, script, notebook or report of this page; "" of any other file.

    ``member`` is the first file in a zip; ``head`` are the file's first bytes.
    """
    start = head.lstrip()[:15].lower()
    if _RENDERED.search(head[:4000]):
        return _instead("report")
    if _ZIP.fullmatch(member):
        return "is the zip that this page makes; unpack it and open the state.json in it."
    if start.startswith(b"<!doctype html") and b'name="generator" content="' + _NAME in head:
        return _instead("report")
    if _MARK in head and _NAME in head:
        if start.startswith(b'"""'):
            return _instead("Python script")
        if start.startswith(b"{") and b'"cells"' in head:
            return _instead("notebook")
    return _instead("code") if any(mark in head for mark in _OF_CODE) else ""


def state_in(content: bytes) -> bytes:
    """Return the saved state in a zip of this page; b"" of any other file, and of a damaged one."""
    if content[:4] != b"PK\x03\x04" or content.count(b"PK\x01\x02") > MAX_ARRAYS:
        return b""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if not _ZIP.fullmatch(archive.namelist()[0]):
                return b""
            with archive.open(STATE) as file:
                state = file.read(MAX_STATE + 1)
    except Exception:  # what zipfile and zlib raise of damaged files is many
        return b""
    return state if len(state) <= MAX_STATE else b""


def _instead(what: str) -> str:
    return (
        f"is the {what} that this page makes, which is not read; save “Save state (.json)” and"
        " open its state.json."
    )


def with_count(found: dict[str, ArrayEntry]) -> dict[str, ArrayEntry]:
    """Add how many heads share the columns of the weights in an .npz of this page, which says it.

    Weights whose columns cannot be shared by so many heads stay as they are.
    """
    count = found.get("heads")
    if count is None or count.shape or "scale" not in found or not count.dtype.startswith("int"):
        return found
    heads = int(count.read())
    return {
        name: replace(entry, heads=heads)
        if heads > 1 and name in PROJECTIONS and entry.shape and entry.shape[-1] % heads == 0
        else entry
        for name, entry in found.items()
    }
