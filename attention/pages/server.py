"""What the server adds to Streamlit: plotly.js out of the installed package, and warm imports."""

from __future__ import annotations

import gc
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from attention.exports.report import plotly_script
from attention.pages.board import PLOTLY_URL


@cache
def _plotly(compressed: bool) -> bytes:
    script = plotly_script().encode()
    return gzip.compress(script, 6) if compressed else script


def plotly_js(request: Request) -> Response:
    """plotly.js, compressed where the browser reads gzip (1.4 MB instead of 4.7)."""
    compressed = "gzip" in request.headers.get("accept-encoding", "")
    headers = {
        "Cache-Control": "public, max-age=86400",
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    if compressed:
        headers["Content-Encoding"] = "gzip"
    return Response(_plotly(compressed), media_type="text/javascript", headers=headers)


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[dict]:
    """Import what the first visitor needs, then keep it out of the garbage collector's way.

    Streamlit collects garbage after every run; frozen modules are not looked through again, which
    halves the processor time of a move.
    """
    import attention.pages.controls
    import attention.pages.editors  # noqa: F401

    _plotly(True)
    gc.collect()
    gc.freeze()
    yield {}


routes = [Route("/" + PLOTLY_URL, plotly_js)]
