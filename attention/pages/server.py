"""What the server adds to Streamlit: our scripts at their addresses, pages that wait for style, and
warm imports.
"""

from __future__ import annotations

import base64
import gc
import gzip
import hashlib
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import segno
import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.limits import MAX_LONG_FILE, MAX_LONG_HELD, MAX_QR
from attention.pages import asked
from attention.pages.components.board import BOARD
from attention.pages.frame import internals, scripts
from attention.pages.frame.navigation import PAGES
from attention.pages.frame.pieces import dress
from attention.pages.frame.share import QR_URL


@cache
def _packed(script: bytes) -> bytes:
    return gzip.compress(script, 6)


def _javascript(request: Request, script: bytes, kept: str) -> Response:
    """A script, packed where the browser reads gzip."""
    compressed = "gzip" in request.headers.get("accept-encoding", "")
    headers = {
        "Cache-Control": kept,
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    if compressed:
        headers["Content-Encoding"] = "gzip"
    content = _packed(script) if compressed else script
    return Response(content, media_type="text/javascript", headers=headers)


async def component_js(request: Request) -> Response:
    """A module of our components; that of another version is not kept under its address.

    A coroutine needs no thread, which takes longer to start than the answer.
    """
    script = scripts.files().get(request.path_params["file"])
    if script is None:
        return Response(status_code=404)
    is_ours = request.path_params["digest"] == scripts.digest()
    kept = "public, max-age=31536000, immutable" if is_ours else "no-store"
    return _javascript(request, script, kept)


def qr_svg(request: Request) -> Response:
    """A link as a QR code, for a camera in a room; 400 for what is no link, or too long to read."""
    text = request.query_params.get("text", "")
    if not text.startswith(("http://", "https://")) or len(text) > MAX_QR:
        return Response(status_code=400)
    drawn = io.BytesIO()
    segno.make_qr(text, error="m").save(drawn, kind="svg", scale=4, light="white")
    return Response(drawn.getvalue(), media_type="image/svg+xml")


_HERE = Path(__file__).parent
SCRIPT = (_HERE / "history.js").read_text(encoding="utf-8")
# Until a page has its first line, and with it its style, Streamlit lays it out in its own way and
# moves all of it twice. That is not shown, though no longer than this many seconds.
STYLE = """<style>
.stApp { animation: waiting 4s step-end }
.stApp:has(.st-key-title h1, .awaiting) { animation-duration: 0s }
@keyframes waiting { from { visibility: hidden } }
</style>"""


@cache
def _index() -> str:
    """Streamlit's own page with our script and style; "" where Streamlit has it elsewhere, so that
    the one it serves itself is used.
    """
    index = Path(st.__file__).parent / "static" / "index.html"
    board = "".join(  # of nearly all pages; Streamlit's own scripts, which draw the page, go first
        f'<link rel="modulepreload" fetchpriority="low" href="{scripts.address(file)}">'
        for file in scripts.needed(BOARD)
    )
    ours = f"<script>{SCRIPT}</script>{STYLE}{board}"
    theirs = index.read_text(encoding="utf-8") if index.is_file() else ""
    if "</head>" not in theirs:
        internals.missing("static/index.html with a </head>")
        return ""
    return theirs.replace("</head>", f"{ours}</head>", 1)


def script_hashes() -> list[str]:
    """The scripts inside of our pages, as a Content-Security-Policy names them."""
    inside = re.findall(r"<script>(.*?)</script>", _index() + dress(), re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in inside)
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def index_html(request: Request) -> HTMLResponse:
    """Streamlit's own page around ours, which is seen once it stands."""
    return HTMLResponse(_index(), headers={"Cache-Control": "no-cache"})


class NewestUploads:
    """Middleware that keeps only the newest upload of each session, and those that fit into a bound
    of all sessions.

    A page reads a file at once and has Streamlit forget it. What is uploaded without a page would
    stay for as long as the session.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._sizes: dict[tuple[str, str], int] = {}  # bytes by session and file, oldest first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; after one that uploaded a file, have older ones forgotten."""
        path = _UPLOAD.search(scope.get("path", "")) if scope.get("method") == "PUT" else None
        if path is None:
            await self._app(scope, receive, send)
            return
        statuses = []

        async def heard(message: Message) -> None:
            statuses.append(message.get("status"))
            await send(message)

        await self._app(scope, receive, heard)
        if STORED not in statuses:
            return
        newest = path[1], path[2]
        length = dict(scope["headers"]).get(b"content-length", b"")
        size = int(length) if length.isdigit() else MAX_LONG_FILE
        self._sizes[newest] = min(max(size, LEAST_COUNTED), MAX_LONG_FILE)
        beyond = sum(self._sizes.values()) - MAX_LONG_HELD
        for each in sorted(self._sizes, key=lambda each: each[0] != newest[0]):
            if each != newest and (each[0] == newest[0] or beyond > 0):
                beyond -= self._sizes.pop(each)
                internals.forget_upload(*each[::-1])


class ClientFaults:
    """Middleware that writes one line to the log where a client cancels an upload, or sends text
    instead of bytes; of both, Starlette and uvicorn write a traceback of forty lines.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or a connection; one that ends early is no fault of the server."""

        async def heard() -> Message:
            message = await receive()
            if message["type"] != "websocket.receive" or message.get("bytes") is not None:
                return message
            internals.LOG.warning("A client sent text, not bytes; its connection was closed.")
            await send({"type": "websocket.close", "code": NOT_BYTES})
            return {"type": "websocket.disconnect", "code": NOT_BYTES}

        try:
            await self._app(scope, heard, send)
        except ClientDisconnect:
            internals.LOG.warning("A client cancelled its upload.")


NOT_BYTES = 1003  # of RFC 6455: data that the server does not take
STORED = 204  # how Streamlit answers an upload that it took
LEAST_COUNTED = 2**20  # bytes of a file, so that no more than a thousand are counted
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)$")
middleware = [Middleware(ClientFaults), Middleware(NewestUploads)]


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[dict]:
    """Import what the first visitor needs, then keep it out of the garbage collector's way.

    Streamlit collects garbage after every run; frozen modules are not looked through again, which
    halves the processor time of a move.
    """
    import attention.pages.panels.controls
    import attention.pages.panels.initialise  # noqa: F401

    for script in scripts.files().values():
        _packed(script)
    internals.look_up_alone()
    internals.send_at_once()
    internals.log_without_tracebacks()
    internals.hold_once()
    gc.collect()
    gc.freeze()
    yield {}


def _routes(base: str) -> list[Route]:
    """What is served under the path that all pages of this server stand under, "" for none."""
    answers = {
        "scripts/{digest}/{file:path}": component_js,
        QR_URL: qr_svg,
        asked.address("{name}/{revision}/cards"): asked.cards,
        asked.address("{name}/{revision}/preview"): asked.preview,
        **dict.fromkeys(PAGES if _index() else (), index_html),
    }
    return [Route(f"{base}/{path}", answer) for path, answer in answers.items()]


_BASE = st.get_option("server.baseUrlPath").strip("/")
routes = _routes(f"/{_BASE}" if _BASE else "")
