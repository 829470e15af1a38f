"""What the tests of pages by AppTest need once, as a server has it, not for each page or run."""

import json
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1 import AppTest, app_test

from attention.pages.frame.internals import look_up_alone
from attention.session.state.settings import Settings

APP = Path(__file__).parents[2] / "app.py"


@pytest.fixture(scope="session", autouse=True)
def kept_as_a_server_keeps_it() -> Iterator[None]:
    """Each new AppTest reads what all installed packages say of themselves, and each of its runs
    compiles the pages anew; that was half of the processor time of these tests. A server has each
    control look up its own value alone.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (manifest_scanner, "scan_component_manifests"),
            (app_test, "ScriptCache"),
        ):
            patch.setattr(module, name, cache(getattr(module, name)))
        patch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)
        look_up_alone()  # until the patch is taken back
        yield


@pytest.fixture
def offered(monkeypatch) -> dict:
    """What each button saves: label → (name of the file, its bytes or what writes them)."""
    found, button = {}, st.download_button

    def recorded(label, data, file_name, *rest, **options):
        found[label] = file_name, data
        return button(label, data, file_name, *rest, **options)

    monkeypatch.setattr(st, "download_button", recorded)
    return found


def uploaded(at, key: str, name: str, content: bytes) -> None:
    """Put a file into the uploader of this key; the next run reads it."""
    kept = at.session_state["visit"].page_values.get(f"{key}_uploaded")
    widget = f"{key}_{kept.emptied if kept else 0}"
    at.file_uploader(key=widget).set_value((name, content, "application/octet-stream"))


def ran(moved) -> AppTest:
    """Run the page after a move of the app or of one of its controls; nothing may raise."""
    at = moved.run()
    assert not at.exception, [e.value for e in at.exception]
    return at


def opened_at(page: str, **link: str) -> AppTest:
    """Open a page with this link, of the four words if there is none."""
    at = AppTest.from_file(str(APP), default_timeout=30)
    for name, value in (link or {"example": "four-words"}).items():
        at.query_params[name] = value
    ran(at)
    return ran(at.switch_page(page))


def settings_of(at: AppTest) -> Settings:
    return at.session_state["visit"].settings


def link_of(at: AppTest) -> dict[str, str]:
    """The parameters of the address."""
    return {
        name: value[0] if isinstance(value, list) else value
        for name, value in at.query_params.items()
    }


def words(at: AppTest) -> str:
    """What our own HTML says, with the indices of W_Q and d_k written as in texts."""
    return as_text(" ".join(h.proto.body for h in at.get("html")))


def as_text(html: str) -> str:
    """HTML with the indices of W_Q and d_k written as in texts."""
    return re.sub(r"\b([A-Za-z])<sub>(\w+)</sub>", r"\1_\2", html)


def sent(at) -> str:
    """All texts that the browser is sent: labels, options, helps, HTML, the board's JSON."""
    protos = (node.proto for node in from_top(at._tree))
    return "\n".join(
        p.SerializeToString(deterministic=True).decode(errors="replace") for p in protos
    )


def from_top(node) -> Iterator[Any]:
    """All blocks and elements, in the order of the page."""
    if getattr(node, "proto", None) is not None:
        yield node
    for child in getattr(node, "children", {}).values():
        yield from from_top(child)


class Drawn(NamedTuple):
    """A chart as the browser is sent it."""

    figure: dict
    alt: str
    filename: str  # of its picture
    sentence: str  # below it


def charts(at) -> dict[str, Drawn]:
    """The charts of a page by the names they are drawn under."""
    found, nodes = {}, from_top(at._tree)
    for node in nodes:
        if node.type == "plotly_chart":
            proto, note = node.proto, next(nodes)
            assert note.type == "html"
            sentence = unescape(re.sub("<[^>]*>", "", as_text(note.proto.body)))
            filename = json.loads(proto.config)["toImageButtonOptions"]["filename"]
            name = proto.id.partition("-plotly_")[2]
            found[name] = Drawn(json.loads(proto.spec), proto.alt, filename, sentence)
    return found
