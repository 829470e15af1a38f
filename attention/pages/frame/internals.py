"""Names of Streamlit that it does not document: all that the pages and the server use, here alone.

Another version of Streamlit may lack one. It is served all the same: the function that needed the
name says what the product then does without, and the log says once which name is missing.
"""

from __future__ import annotations

import gc
import logging
import socket
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any

import streamlit as st

READ_IN = "1.67."  # the version of Streamlit of which a class is changed
LOG = logging.getLogger("attention")
# What each is used for: where it stands. A colon ends the name of the module.
NAMES = {
    "context": "streamlit.runtime.scriptrunner:get_script_run_ctx",
    "context's class": "streamlit.runtime.scriptrunner_utils.script_run_context:ScriptRunContext",
    "runtime": "streamlit.runtime:Runtime",
    "values": "streamlit.runtime.state.safe_session_state:SafeSessionState",
    "connection": "uvicorn.protocols.websockets.websockets_sansio_impl:WebSocketsSansIOProtocol",
}
# What the objects of these classes are asked for.
ATTRIBUTES = {
    "context's class": ("is_history_navigation", "page_script_hash", "session_id"),
    "runtime": ("exists", "instance", "is_active_session", "uploaded_file_mgr"),
    "values": ("filtered_state",),
    "connection": ("handle_cont", "handle_ping", "connection_lost"),
}


@cache
def missing(name: str) -> None:
    """Write once to the log that Streamlit has no such name."""
    LOG.warning("Streamlit %s has no %s; the dashboard does without it.", st.__version__, name)


def named(use: str) -> Any:
    """Return what stands at one of ``NAMES``; None where it is not there.

    >>> named("context")() is None  # no script runs here
    True
    """
    try:
        return resolve_name(NAMES[use])
    except (ImportError, AttributeError):
        missing(NAMES[use])
        return None


def _of_context(attribute: str, otherwise: Any) -> Any:
    """An attribute of the running script's context."""
    context = found() if (found := named("context")) else None
    if context is None:
        return otherwise
    try:
        return getattr(context, attribute)
    except AttributeError:
        missing(f"ScriptRunContext.{attribute}")
        return otherwise


def went_back() -> bool:
    """Check whether Back or Forward began this run. Without it: never."""
    return bool(_of_context("is_history_navigation", False))


def page_hash() -> str:
    """Return what stands for this run's page. Without it: "", as if there were one page."""
    return str(_of_context("page_script_hash", ""))


def session_id() -> str:
    """Return what Streamlit calls this run's session. Without it: ""."""
    return str(_of_context("session_id", ""))


def is_open(session: str) -> bool:
    """Check whether the page of a session is open. Without it: always."""
    runtime = named("runtime")
    try:
        exists = session and runtime is not None and runtime.exists()
        return not exists or bool(runtime.instance().is_active_session(session))
    except AttributeError as problem:
        missing(str(problem))
        return True


def forget_upload(file: str, session: str = "") -> None:
    """Have the server forget an uploaded file, of this session if no other is named. Without it:
    it is kept until the end of the session.
    """
    runtime, session = named("runtime"), session or session_id()
    try:
        if runtime is not None and runtime.exists():
            runtime.instance().uploaded_file_mgr.remove_file(session, file)
    except AttributeError as problem:
        missing(str(problem))


class Values(Mapping[str, Any]):
    """What the controls of a visit hold, each looked up when it is asked for."""

    def __init__(self, state: Any, gathered: Callable[[Any], dict[str, Any]]) -> None:
        self._state = state
        self._gathered = gathered  # of all controls, as Streamlit does it

    def __getitem__(self, key: str) -> Any:
        return self._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._gathered(self._state))

    def __len__(self) -> int:
        return len(self._gathered(self._state))


def look_up_alone() -> None:
    """Have each control look up its own value alone. Without it: a move costs an eighth more.

    Boxes, menus and texts of Streamlit gather the values of all controls, to see whether their own
    is None. The property that gathers them is replaced in the versions in which its use was read.
    """
    if not st.__version__.startswith(READ_IN):
        missing(f"SafeSessionState.filtered_state as in {READ_IN}x")
        return
    kind = named("values")
    gathered = getattr(kind, "filtered_state", None)
    if isinstance(gathered, property) and gathered.fget is not None:
        gather = gathered.fget
        kind.filtered_state = property(lambda state: Values(state, gather))
    else:
        missing("SafeSessionState.filtered_state")


def send_at_once() -> None:
    """Have every connection send small answers at once (TCP_NODELAY). Without it: the second of two
    small answers in a row waits 40 ms for the browser to confirm the first.

    Streamlit leaves that off, and asyncio cannot tell that its socket is one of TCP. Connections
    inherit it from the socket that listens at our port, which Streamlit hands to nobody, so it is
    looked for.
    """
    port = st.get_option("server.port")
    ours = [
        found
        for found in gc.get_objects()
        if isinstance(found, socket.socket) and _listens(found, port)
    ]
    for found in ours:
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not ours:
        missing("socket that listens at server.port")


def log_without_tracebacks() -> None:
    """Have the log say in one line that a client sent bytes that are no message. Without it: in ten
    lines, most of them of this server's files.
    """
    for name in ("streamlit.web.server.starlette.starlette_websocket", "uvicorn.error"):
        logging.getLogger(name).addFilter(_of_one_line)


def _of_one_line(record: logging.LogRecord) -> bool:
    """Leave out the traceback of a message that could not be decoded."""
    problem = record.exc_info[1] if record.exc_info else None
    is_protobufs = type(problem).__name__ == "DecodeError"
    if is_protobufs or str(record.msg).startswith("Invalid UTF-8 sequence"):
        record.exc_info = record.exc_text = None
    return True


def hold_once() -> None:
    """Have a connection hold what it was sent once, and only while it lasts. Without it: a message
    in pieces of one byte takes twenty times its size, pings whose answers nobody reads take as much
    as was sent, and a connection that ended keeps all of it for as long as its session waits.

    uvicorn bounds the bytes of a message (server.maxMessageSize), but not the number of its pieces.
    """
    kind = named("connection")
    try:
        _, handle_ping, connection_lost = (getattr(kind, name) for name in ATTRIBUTES["connection"])
    except AttributeError as problem:
        missing(str(problem))
        return

    def joined(self: Any, frame: Any) -> None:
        whole = self.frames[0] if self.frames else b""
        whole = whole if isinstance(whole, bytearray) else bytearray(whole)
        whole += frame.data
        self.frames = [whole]
        if frame.fin:
            self.frames = [bytes(whole)]
            self.send_receive_event_to_app()

    def answered(self: Any) -> None:
        if self.writable.is_set():
            handle_ping(self)
        else:
            self.conn.data_to_send()  # dropped: who sends pings and reads nothing is no browser

    def ended(self: Any, problem: Exception | None) -> None:
        connection_lost(self, problem)
        self.frames = []
        self.conn.reader.discard()

    kind.handle_cont, kind.handle_ping, kind.connection_lost = joined, answered, ended


def _listens(found: socket.socket, port: int) -> bool:
    """Return whether this is an open TCP socket that listens at a port."""
    return (
        found.fileno() >= 0
        and found.family in (socket.AF_INET, socket.AF_INET6)
        and found.type == socket.SOCK_STREAM
        and bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
        and found.getsockname()[1] == port
    )
