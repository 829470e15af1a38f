"""A visitor without a browser: Streamlit's connection as the browser speaks it.

Like a browser it holds what each control shows and sends all of it with each move; a move is over
with the last message of its run.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
import websockets
from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attention.figures.panes.shades import LAST
from attention.session.state import links
from attention.session.state.run import run, view
from attention.session.state.settings import Settings

PATIENCE = 60  # seconds for a run to end
CLIENT = "load"  # the name under which operations on the board are counted
# What a control shows is sent as this field, and comes as that of its message.
FIELDS = {
    "slider": ("double_array_value", "value"),
    "number_input": ("double_value", "value"),
    "selectbox": ("string_value", "raw_value"),
    "multiselect": ("string_array_value", "raw_values"),
    "button_group": ("string_array_value", "raw_values"),
    "checkbox": ("bool_value", "value"),
    "text_input": ("string_value", "value"),
}


@dataclass
class Answer:
    """One run: how long it took, and what it said."""

    milliseconds: float
    query: str  # of the address, with which it ended
    sentences: list[str]  # of HTML that is marked as said
    exceptions: list[str]
    boards: dict[str, bytes] = field(default_factory=dict)  # by the component's name


class Gone(Exception):
    """The connection ended before the run did."""


class Visitor:
    """One person with a page open."""

    def __init__(self, address: str, cookie: str = ""):
        self.stream = address.replace("http", "ws", 1).rstrip("/") + "/_stcore/stream"
        self.cookie = cookie
        self.query = ""
        self.ids: dict[str, str] = {}  # of each control and component, by its key
        self.shown: dict[str, tuple[str, Any]] = {}  # of each control: field and value
        self.session = ""
        self.page = ""
        self.turn = 0  # counts operations on the board
        self.socket: Any = None

    async def come(self, query: str | dict[str, str] = "") -> Answer:
        """Open a page at an address; timed from the first packet."""
        self.query = query if isinstance(query, str) else urlencode(query)
        began = time.perf_counter()
        await self.connect()
        answer = await self.rerun()
        answer.milliseconds = (time.perf_counter() - began) * 1000
        return answer

    async def connect(self) -> None:
        headers = {"Cookie": self.cookie} if self.cookie else None
        protocols = [websockets.Subprotocol(p) for p in ("streamlit", "none", self.session) if p]
        self.socket = await websockets.connect(
            self.stream,
            subprotocols=protocols,
            additional_headers=headers,
            max_size=None,
            compression=None,
            ping_interval=None,
            open_timeout=PATIENCE,
        )

    async def leave(self) -> None:
        await self.socket.close()

    # ---- moves ------------------------------------------------------------------------------

    async def set(self, key: str, value: Any) -> Answer:
        """Move a control."""
        kind, _ = self.shown[key]
        self.shown[key] = kind, value
        return await self.rerun()

    async def press(self, key: str) -> Answer:
        return await self.rerun((self.ids[key], "trigger_value", True))

    async def send(self, key: str, name: str, value: Any) -> Answer:
        """What a component of ours sends."""
        event = json.dumps([{"event": name, "value": value}])
        identity = f"$$STREAMLIT_INTERNAL_KEY_{self.ids[key]}__events"
        return await self.rerun((identity, "json_trigger_value", event))

    async def upload(self, key: str, file: str, name: str, size: int) -> Answer:
        """What the uploader sends of a file once the server has it by this id."""
        uploaded = FileUploaderState()
        uploaded.uploaded_file_info.add(file_id=file, name=name, size=size)
        return await self.rerun((self.ids[key], "file_uploader_state_value", uploaded))

    async def type(self, stage: str, i: int, j: int, text: str) -> Answer:
        """Type a number into a cell of the board."""
        self.turn += 1
        operation = [self.turn, "cell", stage, i, j, text, ""]
        message = {"client": CLIENT, "operations": [operation], "more": False}
        return await self.send("board", "edited", message)

    # ---- the wire ---------------------------------------------------------------------------

    async def rerun(self, trigger: tuple[str, str, Any] | None = None) -> Answer:
        """Ask for a run with all that the controls show, and wait for its last message."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_script_hash = self.query, self.page
        states = [(self.ids[key], *shown) for key, shown in self.shown.items()]
        for identity, kind, value in [*states, *([trigger] if trigger else [])]:
            state = asked.widget_states.widgets.add(id=identity)
            if isinstance(value, list):
                getattr(state, kind).data.extend(value)
            elif isinstance(value, Message):
                getattr(state, kind).CopyFrom(value)
            elif value is not None:
                setattr(state, kind, value)
        began = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                await self.socket.send(message.SerializeToString())
                answer = await self._ended()
        except websockets.ConnectionClosed:
            raise Gone from None
        answer.milliseconds = (time.perf_counter() - began) * 1000
        return answer

    async def _ended(self) -> Answer:
        answer, seen = Answer(0, self.query, [], []), set()
        while True:
            message = ForwardMsg.FromString(await self.socket.recv())
            match message.WhichOneof("type"):
                case "new_session":
                    self.session = message.new_session.initialize.session_id or self.session
                    seen.clear()
                case "navigation":
                    self.page = message.navigation.page_script_hash
                case "page_info_changed":
                    self.query = answer.query = message.page_info_changed.query_string
                case "delta":
                    if message.delta.WhichOneof("type") == "new_element":
                        seen.add(self._drawn(message.delta.new_element, answer))
                case "script_finished":
                    if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                        break
        self.shown = {key: shown for key, shown in self.shown.items() if key in seen}
        return answer

    def _drawn(self, element: Any, answer: Answer) -> str:
        """Take in one element; its key, where it has one."""
        kind = element.WhichOneof("type")
        drawn = getattr(element, kind)
        if kind == "exception":
            answer.exceptions.append(f"{drawn.type}: {drawn.message}")
        if kind == "html" and "said" in drawn.body[:200]:
            answer.sentences.append(drawn.body)
        identity = getattr(drawn, "id", "")
        if not identity.startswith("$$ID-"):
            return ""
        key = identity.split("-", 2)[2]
        known = self.ids.get(key) == identity
        self.ids[key] = identity
        if kind == "bidi_component" and drawn.WhichOneof("data") == "bytes":
            answer.boards[key] = drawn.bytes
        if kind in FIELDS:
            sent, told = FIELDS[kind]
            if drawn.set_value:
                value = getattr(drawn, told)
                self.shown[key] = sent, value if isinstance(value, BARE) else list(value)
            elif not known or key not in self.shown:
                self.shown[key] = sent, _default(kind, drawn)
        return key


BARE = (str, float, bool, int)


def _default(kind: str, drawn: Any) -> Any:
    """What a control shows that nobody has moved yet."""
    if kind == "selectbox":
        return drawn.options[drawn.default] if drawn.HasField("default") else None
    if kind == "multiselect":
        return [drawn.options[place] for place in drawn.default]
    if kind == "button_group":
        return [drawn.options[place].content for place in drawn.default]
    return list(drawn.default) if kind == "slider" else drawn.default


# ---- what was answered --------------------------------------------------------------------------


def standing(answer: Answer) -> Settings:
    """What the address stands for."""
    return links.read(dict(parse_qsl(answer.query, keep_blank_values=True)))[0]


def panes(answer: Answer) -> dict[str, np.ndarray]:
    """The numbers on the board, NaN where a cell is hidden; stages drawn in shades are left out."""
    head, _, raw = answer.boards["board"].partition(b"\0")
    found, at = dict[str, np.ndarray](), 0
    for pane in json.loads(head)["panes"]:
        shape = len(pane["rows"]), len(pane["columns"])
        count = shape[0] * shape[1]
        codes = np.frombuffer(raw[at : at + count], np.uint8).reshape(shape)
        at += count
        if not pane["large"]:
            values = np.frombuffer(raw[at : at + 8 * count], "<f8").reshape(shape)
            found[pane["name"]] = np.where(codes > LAST, np.nan, values)
            at += 8 * count
    return found


def wrong(answer: Answer, settings: Settings) -> str:
    """What of the board is not what the package computes of these settings; "" where all is."""
    if answer.exceptions:
        return answer.exceptions[0]
    drawn, stages = panes(answer), view(settings, run(settings)).stages
    for name in ("X", "Q", "scores", "output"):
        if not np.array_equal(drawn[name], stages[name]):
            return f"{name} is another's"
    return ""
