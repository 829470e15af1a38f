"""What Streamlit does not document and the pages use: it is there, and they do without it."""

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pkgutil import resolve_name

import messages
import pytest
import streamlit as st
from pages.conftest import sent
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest

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

    named = {"context": Bare, "runtime": Bare, "values": Bare}
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
