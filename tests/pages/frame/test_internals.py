"""What Streamlit does not document and the pages use: it is there, and they do without it."""

import asyncio
import gc
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pkgutil import resolve_name

import messages
import pytest
import streamlit as st
import uvicorn
from pages.conftest import sent
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest

from attention.__main__ import streamlit_options
from attention.limits import MAX_LISTED, MAX_STATE
from attention.pages import server
from attention.pages.frame import internals

APP = Path(__file__).parents[3] / "app.py"
OURS = APP.parent / "attention"
PAIRS = [(use, name) for use, names in internals.ATTRIBUTES.items() for name in names]


@pytest.mark.parametrize("use", internals.NAMES)
def test_streamlit_has_each_name(use):
    assert internals.named(use) is resolve_name(internals.NAMES[use])


@pytest.mark.parametrize(("use", "name"), PAIRS)
def test_what_has_the_name_has_each_attribute(use, name):
    kind = internals.named(use)
    assert hasattr(kind, name) or name in kind.__dataclass_fields__


def test_the_store_of_uploads_has_what_is_asked_of_it():
    assert callable(MemoryUploadedFileManager.remove_file)


def test_no_other_file_imports_what_streamlit_does_not_document():
    """But for the command, which is Streamlit's own command with other defaults."""
    found = {
        (path.relative_to(OURS).as_posix(), line.strip())
        for path in OURS.rglob("*.py")
        for line in path.read_text().splitlines()
        if line.strip().startswith(("from streamlit.", "import streamlit."))
    }
    assert found == {
        ("__main__.py", "from streamlit.web.cli import main_run"),
        ("pages/real_model.py", "from streamlit.delta_generator import DeltaGenerator"),  # a type
    }


class Transport(asyncio.Transport):
    """Takes what is written, up to so many bytes before it says that nobody reads them."""

    def __init__(self, protocol):
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.protocol, self.kept = protocol, b""

    def write(self, data):
        self.kept += data
        if len(self.kept) > 2**16:
            self.protocol.pause_writing()

    def is_closing(self):
        return False

    def close(self):
        pass

    pause_reading = resume_reading = close


def frame(opcode: int, content: bytes, ends: bool) -> bytes:
    """A short frame of RFC 6455 as a browser masks it, with a mask of zeros."""
    return bytes([opcode | 0x80 * ends, 0x80 | len(content), 0, 0, 0, 0]) + content


async def connection():
    """A connection of the server that waits for a message, and what it is told."""
    told = []

    async def app(scope, receive, send):
        await receive()
        await send({"type": "websocket.accept"})
        told.append(await receive())

    config = uvicorn.Config(app, ws="websockets-sansio", ws_max_size=28_000_000, log_config=None)
    config.load()
    one = config.ws_protocol_class(config, uvicorn.server.ServerState(), {})
    one.connection_made(Transport(one))
    one.data_received(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    await asyncio.sleep(0.01)
    return one, told


def held_by(steps) -> list[int]:
    """The bytes that are held after each of these steps, beyond those before the first."""
    internals.hold_once()

    async def life():
        one, told = await connection()
        tracemalloc.start()
        try:
            before, found = tracemalloc.get_traced_memory()[0], []
            for step in steps:
                step(one)
                await asyncio.sleep(0.01)
                found.append(tracemalloc.get_traced_memory()[0] - before)
        finally:
            tracemalloc.stop()
        return found, told

    with ThreadPoolExecutor(1) as elsewhere:
        return elsewhere.submit(asyncio.run, life()).result()


def test_a_message_in_pieces_of_one_byte_is_held_in_its_own_size():
    pieces = frame(2, b"x", False) + frame(0, b"y", False) * 100_000
    steps = (
        lambda one: one.data_received(pieces),
        lambda one: one.data_received(frame(0, b"z", 1)),
    )
    (held, _), told = held_by(steps)
    assert held < 300_000
    assert told == [{"type": "websocket.receive", "bytes": b"x" + b"y" * 100_000 + b"z"}]


def test_a_connection_that_ended_holds_nothing_of_what_was_sent():
    begun = b"\x82\xff" + (20_000_000).to_bytes(8, "big") + bytes(4) + b"x" * 5_000_000
    steps = (lambda one: one.data_received(begun), lambda one: one.connection_lost(None))
    (held, after), _ = held_by(steps)
    assert held >= 5_000_000 > 200_000 > after


def test_pings_whose_answers_nobody_reads_take_no_memory():
    pings = frame(9, b"x" * 125, True) * 500  # as a socket hands them over
    held, _ = held_by([lambda one: one.data_received(pings)] * 40)
    assert max(held) < 300_000


def test_pings_are_answered():
    async def life():
        one, _ = await connection()
        one.transport.kept = b""
        one.data_received(frame(9, b"hello", True))
        return one.transport.kept

    internals.hold_once()
    with ThreadPoolExecutor(1) as elsewhere:
        kept = elsewhere.submit(asyncio.run, life()).result()
    assert kept == b"\x8a\x05hello"


def test_messages_are_bounded_as_the_deployment_says():
    options = streamlit_options()
    assert options["server.maxMessageSize"] == 28
    # A saved state as JSON from the browser's own store, and the script that holds most numbers.
    assert MAX_STATE < 25e6 < 28e6
    assert MAX_LISTED * len(", -1.2345678901234567e-100") < 28e6


@pytest.fixture
def log(monkeypatch, caplog):
    """The lines of the log; each missing name is written anew, and nothing stays frozen."""
    monkeypatch.setattr(gc, "freeze", lambda: None)
    internals.missing.cache_clear()
    server._index.cache_clear()
    yield caplog
    internals.missing.cache_clear()
    server._index.cache_clear()


def starts_and_draws() -> None:
    """Begin the life of a server, and open Explore."""

    async def life() -> None:
        async with server.lifespan(None):
            pass

    with ThreadPoolExecutor(1) as elsewhere:  # a browser's tests may have a loop in this thread
        elsewhere.submit(asyncio.run, life()).result()
    at = AppTest.from_file(str(APP), default_timeout=120).run()
    assert not at.exception, [error.value for error in at.exception]
    assert messages.ROW_SHARES_OUT_1 in sent(at)  # over the weights


@pytest.mark.parametrize("use", internals.NAMES)
def test_without_a_name_the_server_starts_and_explore_is_drawn(use, monkeypatch, log):
    monkeypatch.setitem(internals.NAMES, use, f"{internals.NAMES[use]}_of_another_version")
    starts_and_draws()
    internals.named(use)
    end = messages.STREAMLIT_HAS_NO.partition("{name}")[2]
    said = [text for text in log.messages if text.endswith(end)]
    assert any(text.endswith(f"{internals.NAMES[use]}{end}") for text in said)
    assert len(said) == len(set(said))  # once each


def test_without_the_attributes_the_server_starts_and_explore_is_drawn(monkeypatch, log):
    class Bare:
        """Has nothing of what is asked for but a runtime that is there."""

        exists = staticmethod(lambda: True)
        instance = staticmethod(lambda: Bare())

    named = {"context": Bare, "runtime": Bare, "values": Bare, "connection": Bare}
    monkeypatch.setattr(internals, "named", named.get)
    starts_and_draws()
    internals.went_back()
    internals.forget_upload("file")
    for name in ("is_history_navigation", "page_script_hash", "session_id"):
        assert messages.STREAMLIT_HAS_NO.format(name=f"ScriptRunContext.{name}") in log.text
    lacking = messages.STREAMLIT_HAS_NO.format(name="SafeSessionState.filtered_state")
    assert lacking in log.text
    assert "has no attribute 'uploaded_file_mgr'" in log.text


@pytest.mark.parametrize("page", [None, "<html><body></body></html>"])
def test_where_streamlit_has_another_page_its_own_is_served(page, monkeypatch, log, tmp_path):
    if page:
        (tmp_path / "static").mkdir()
        (tmp_path / "static" / "index.html").write_text(page)
    monkeypatch.setattr(st, "__file__", str(tmp_path / "__init__.py"))
    assert server._index() == ""
    assert "/compare" not in [route.path for route in server._routes("")]
    lacking = messages.STREAMLIT_HAS_NO.format(name="static/index.html with a </head>")
    assert lacking in log.text
