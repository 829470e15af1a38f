"""The uploader: what is in it, what it refuses, and that Streamlit keeps nothing of it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import messages
import numpy as np
import pytest
from pages.conftest import ran, uploaded
from pages.test_check_page import opened, said
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from attention.limits import MAX_FILE, MAX_LONG_FILE
from attention.pages import server
from attention.pages.frame import internals
from attention.pages.panels import upload
from attention.pages.panels.upload import UploadedFile
from attention.readers.files.array_files import Bounds
from attention.readers.files.array_files import entries as arrays
from attention.readers.files.other_files import OtherKind
from attention.vocabulary.numbers import megabytes

CHECK = "attention/pages/check.py"


def page():
    return opened(CHECK)


def of_file(at) -> bool:
    """Whether there is a file that can be used."""
    return not at.button(key="check_use_output").disabled


def test_a_file_stays_until_it_is_removed_and_streamlit_forgets_it_at_once(monkeypatch):
    forgotten = []
    monkeypatch.setattr(internals, "forget_upload", forgotten.append)
    at = page()
    assert not of_file(at)
    uploaded(at, "check_file", "mine.txt", b"1 2\n3 4")
    assert of_file(ran(at)) and len(forgotten) == 1
    assert of_file(ran(at)) and len(forgotten) == 1
    uploaded(at, "check_file", "other.txt", b"5 6")  # over the first
    assert of_file(ran(at)) and len(set(forgotten)) == 2
    (box,) = at.file_uploader
    box.set_value(None)
    assert not of_file(ran(at))


def test_the_server_checks_the_size_which_a_browser_alone_does_before():
    at = page()
    uploaded(at, "check_file", "large.txt", b"1 " * (MAX_FILE // 2 + 1))
    refusal = messages.UPLOAD_TOO_LARGE.format(
        name="large.txt", size=megabytes(MAX_FILE + 2), limit=megabytes(MAX_FILE)
    )
    assert not of_file(ran(at)) and refusal in said(at)
    assert at.file_uploader[0].proto.max_upload_size_mb == MAX_FILE / 2**20
    uploaded(at, "check_file", "mine.txt", b"1 2\n3 4")
    assert of_file(ran(at)) and refusal not in said(at)


def test_a_file_that_streamlit_has_deleted_is_one_sentence(monkeypatch):
    """As after a restart of the server, or where the next one came before it was read."""
    at = page()
    with monkeypatch.context() as deleted:
        deleted.setattr(MemoryUploadedFileManager, "get_files", lambda *_, **__: [])
        uploaded(at, "check_file", "mine.txt", b"1 2\n3 4")
        ran(at)
    assert not of_file(at) and messages.FILE_NO_LONGER_THERE in said(at)
    uploaded(at, "check_file", "mine.txt", b"1 2\n3 4")
    assert of_file(ran(at))


@pytest.mark.parametrize(
    ("name", "start", "kind"),
    [("m.pt", b"PK", OtherKind), ("m.gguf", b"GGUF", OtherKind), ("x.parquet", b"PAR1", OtherKind)],
)
def test_a_file_of_another_kind_comes_with_lines_of_python(name, start, kind):
    with pytest.raises(kind) as refused:
        UploadedFile(name, start + bytes(100)).content()
    assert name in str(refused.value) and refused.value.code


@pytest.mark.parametrize("key", ["load_file", "check_file", "long_file"])
def test_the_lines_below_an_uploader_write_a_file_of_arrays(key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {name: np.arange(6.0).reshape(3, 2) for name in ("array", "output", "Q", "K")}
    exec(upload.LINES[key], dict(given))
    read = arrays("part.npz", (tmp_path / "part.npz").read_bytes(), Bounds(10**6, 10**6))
    assert read and all(np.array_equal(each.read(), given["Q"]) for each in read.values())


# ---- what the server keeps -----------------------------------------------------------------------


def put(app, session: str, file: str, size: int) -> None:
    """One upload as the server is asked for it."""

    async def send(message) -> None: ...

    scope = {
        "type": "http",
        "method": "PUT",
        "path": f"/base/_stcore/upload_file/{session}/{file}",
        "headers": [(b"content-length", str(size).encode())],
    }
    with ThreadPoolExecutor(1) as elsewhere:  # a browser's tests may have a loop in this thread
        elsewhere.submit(asyncio.run, app(scope, None, send)).result()


def test_the_newest_upload_of_a_session_is_kept_and_of_all_those_within_a_bound(monkeypatch):
    files = MemoryUploadedFileManager("/upload")

    async def streamlit_app(scope, receive, send):
        *_, session, file = scope["path"].split("/")
        if session != "refused":
            files.add_file(session, UploadedFileRec(file, f"{file}.npz", "", b"PK"))
        status = 403 if session == "refused" else 204
        await send({"type": "http.response.start", "status": status})

    monkeypatch.setattr(internals, "forget_upload", lambda f, s: files.remove_file(s, f))
    monkeypatch.setattr(server, "MAX_LONG_HELD", 3 * MAX_LONG_FILE)
    app = server.NewestUploads(streamlit_app)

    def kept() -> dict:
        return {session: list(some) for session, some in files.file_storage.items() if some}

    for session, file in (("a", "1"), ("b", "2"), ("a", "3")):
        put(app, session, file, MAX_LONG_FILE)
    assert kept() == {"a": ["3"], "b": ["2"]}
    put(app, "refused", "0", 10**12)
    assert kept() == {"a": ["3"], "b": ["2"]}
    put(app, "c", "4", MAX_LONG_FILE)
    assert kept() == {"a": ["3"], "b": ["2"], "c": ["4"]}
    put(app, "d", "5", 10)
    assert kept() == {"a": ["3"], "c": ["4"], "d": ["5"]}  # b's is the oldest
    put(app, "c", "6", 10)  # the place of its own older one is free
    assert kept() == {"a": ["3"], "c": ["6"], "d": ["5"]}
