"""What a client does wrong leaves one line in the log."""

import asyncio
import os
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import messages
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from attention.pages.server import middleware

ROOT = Path(__file__).parents[2]
HEAD = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a.txt"\r\n\r\n'


async def takes_a_file(request: Request) -> Response:
    await request.form()
    return Response(status_code=204)


async def takes_bytes(websocket) -> None:
    await websocket.accept()
    try:
        await websocket.receive_bytes()
    except WebSocketDisconnect:
        return


APP = Starlette(
    routes=[
        Route("/upload", takes_a_file, methods=["PUT"]),
        WebSocketRoute("/stream", takes_bytes),
    ],
    middleware=middleware,
)


def answered(scope: dict, *heard: dict) -> list[dict]:
    """What our middleware around an application sends to a client that sends this."""
    left, sent = list(heard), []

    async def receive() -> dict:
        return left.pop(0)

    async def send(message: dict) -> None:
        sent.append(message)

    async def answer() -> None:
        await APP(scope | {"query_string": b"", "root_path": ""}, receive, send)

    with ThreadPoolExecutor(1) as other:  # in this one a loop of the browser's tests may be running
        other.submit(asyncio.run, answer()).result()
    return sent


def test_a_cancelled_upload_is_one_line(caplog):
    headers = [(b"content-type", b"multipart/form-data; boundary=x")]
    scope = {"type": "http", "method": "PUT", "path": "/upload", "headers": headers}
    part = {"type": "http.request", "body": HEAD + b"a" * 99, "more_body": True}
    assert answered(scope, part, {"type": "http.disconnect"}) == []
    assert [record.getMessage() for record in caplog.records] == [messages.UPLOAD_CANCELLED]
    assert caplog.records[0].exc_info is None


def test_text_in_place_of_bytes_ends_the_connection_and_is_one_line(caplog):
    scope = {"type": "websocket", "path": "/stream", "headers": [], "subprotocols": []}
    text = {"type": "websocket.receive", "text": "hello"}  # as uvicorn hands it on
    sent = answered(scope, {"type": "websocket.connect"}, text)
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.close"]
    assert sent[1]["code"] == 1003
    assert [record.getMessage() for record in caplog.records] == [messages.SENT_TEXT]


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory):
    """The port of a dashboard, and the file of its log."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("log") / "log"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    with log.open("wb") as file:
        server = subprocess.Popen(
            [*command, f"--server.port={port}"], cwd=ROOT, stdout=file, stderr=file, env=os.environ
        )
        try:
            last = time.monotonic() + 120
            while "URL:" not in log.read_text():
                assert server.poll() is None and time.monotonic() < last, log.read_text()
                time.sleep(0.1)
            yield port, log
        finally:
            server.kill()
            server.wait()


@pytest.mark.parametrize(
    ("sent", "text", "said"),
    [
        ("hello", True, messages.SENT_TEXT),
        (b"\xff\xff\xff\x00abc", False, "Error deserializing back message"),
        (b"\xff\xfe", True, "Invalid UTF-8 sequence received from client."),
    ],
    ids=["text", "no message", "no UTF-8"],
)
def test_wrong_bytes_end_the_connection_and_are_one_line(sent, text, said, dashboard):
    port, log = dashboard
    before = len(log.read_text())
    with connect(f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=["streamlit"]) as connection:
        connection.send(sent, text=text)
        with pytest.raises(ConnectionClosed):
            connection.recv(timeout=30)
    lines = log.read_text()[before:].splitlines()
    assert [re.sub(r"^[\d.: -]+", "", line) for line in lines] == [said]
