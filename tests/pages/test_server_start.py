"""The server's start: it looks up no address but its own."""

import asyncio
import inspect
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import pytest
import streamlit as st
from starlette.requests import Request
from starlette.routing import Match
from streamlit.runtime.state import SafeSessionState, SessionState

from attention.pages.components.board import BOARD
from attention.pages.frame import internals, scripts
from attention.pages.server import (
    _index,
    _routes,
    qr_svg,
    routes,
    script_hashes,
)

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "attention" / "pages"
MODULES = PAGES / "js"
STREAMLITS_OWN = SafeSessionState.filtered_state  # which the tests of pages replace later
# Runs `streamlit run app.py` with a resolver that writes down what is asked and knows this machine
# alone, and ends it once it has said where it can be opened.
STARTED = """
import os, socket, sys
from streamlit.web import bootstrap, cli

known, told = socket.getaddrinfo, bootstrap._print_url

def getaddrinfo(host, *more, **options):
    print("ASKED", host, flush=True)
    if host in (None, "", "localhost", "127.0.0.1", b"127.0.0.1"):
        return known(host, *more, **options)
    raise socket.gaierror(socket.EAI_NONAME, "this resolver knows this machine alone")

def print_url(**options):
    told(**options)
    print("TOLD", flush=True)
    os._exit(0)

socket.getaddrinfo, bootstrap._print_url = getaddrinfo, print_url
sys.argv = ["streamlit", "run", "app.py", "--server.headless=true", "--server.port=0"]
cli.main()
"""


def test_a_server_without_a_screen_asks_no_one_for_its_address_and_says_where_it_is():
    run = subprocess.run(
        [sys.executable, "-c", STARTED], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert run.stdout.endswith("TOLD\n"), run.stdout + run.stderr
    asked = {line.split()[1] for line in run.stdout.splitlines() if line.startswith("ASKED ")}
    assert asked <= {"None", "localhost", "127.0.0.1"}
    assert "http://localhost:" in run.stdout


# Begins the dashboard's life with a socket that listens as Streamlit's does, and says what a
# connection to it does with small answers.
LIFE = """
import asyncio, socket
from streamlit import config
from attention.pages.server import lifespan

async def life():
    listening, another = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
    config.set_option("server.port", listening.getsockname()[1])
    print("before:", connection(listening))
    async with lifespan(None):
        print("after:", connection(listening))
        print("at another port:", connection(another))

def connection(listening):
    with socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            return accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) > 0

asyncio.run(life())
"""


def test_connections_of_the_server_send_small_answers_at_once():
    run = subprocess.run(
        [sys.executable, "-c", LIFE], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert run.stdout == "before: False\nafter: True\nat another port: False\n", run.stderr


def code(text: str):
    scope = {"type": "http", "query_string": urlencode({"text": text}).encode(), "headers": []}
    return qr_svg(Request(scope))


def test_a_link_is_drawn_as_a_code_of_its_own_with_a_white_margin():
    # QRCodeDetector of OpenCV 5.0 read both drawings back to their links
    links = (f"https://example.org/?example=cat-sat&mask={mask}" for mask in ("none", "causal"))
    drawn = [code(link) for link in links]
    first, second = (ET.fromstring(answer.body) for answer in drawn)
    assert drawn[0].media_type == "image/svg+xml" and drawn[0].status_code == 200
    sides = float(first.get("width")), float(first.get("height"))
    assert sides[0] == sides[1] == 4 * (33 + 2 * 4)  # 33 modules for 53 letters, and the margin
    assert drawn[0].body != drawn[1].body and first.tag == second.tag


@pytest.mark.parametrize("text", ["", "javascript:alert(1)", "https://" + "a" * 300])
def test_what_is_no_link_or_too_long_to_be_read_gets_no_code(text):
    assert (code(text).status_code, code(text).body) == (400, b"")


def returned(coroutine):
    """What a coroutine returns, also where a browser's loop goes on in this thread."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, coroutine).result()


def asked_for(path: str):
    """What the server answers at this path."""
    path, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    scope["query_string"] = query.encode()
    for route in routes:
        match, more = route.matches(scope)
        if match is Match.FULL:
            answer = route.endpoint(Request(scope | more))
            return returned(answer) if inspect.iscoroutine(answer) else answer
    raise AssertionError(f"nothing answers at {path}")


COMPONENTS = [file for file in scripts.files() if b"\nexport default " in scripts.files()[file]]


@pytest.mark.parametrize("file", scripts.files())
def test_each_module_is_kept_under_the_address_of_this_version_alone(file):
    answer = asked_for("/" + scripts.address(file))
    assert answer.media_type == "text/javascript"
    assert answer.body == (MODULES / file).read_bytes()
    assert "immutable" in answer.headers["cache-control"]
    for folder in ("0123456789abcdef", f"{scripts.digest()}-300"):  # another version, a second try
        other = asked_for(f"/scripts/{folder}/{file}")
        assert other.body == answer.body and other.headers["cache-control"] == "no-store"


def test_every_import_names_a_module_and_every_module_is_needed():
    assert {"board/board.js", "maps.js", "store.js"} <= set(COMPONENTS)
    needed = [file for component in COMPONENTS for file in scripts.needed(component)]
    assert set(needed) == set(scripts.files())
    assert {path.name for path in PAGES.rglob("*.js") if MODULES not in path.parents} == {
        "history.js",
        "menu.js",
    }


def test_the_page_names_the_board_and_all_that_it_imports():
    named = re.findall(
        '<link rel="modulepreload" fetchpriority="low" href="(scripts/[^"]+)">', _index()
    )
    assert named == [scripts.address(file) for file in scripts.needed(BOARD)]
    for file in scripts.needed(BOARD):
        sources = re.findall(r"from '(.+)'", scripts.files()[file].decode())
        found = [(MODULES / file).parent.joinpath(name).resolve() for name in sources]
        assert {str(path.relative_to(MODULES)) for path in found} <= set(scripts.needed(BOARD))


@pytest.mark.parametrize("path", ["history.js", "../history.js", "board/none.js", "globals.d.ts"])
def test_what_is_no_module_is_not_found(path):
    assert asked_for(f"/scripts/{scripts.digest()}/{path}").status_code == 404


def test_under_a_path_of_its_own_the_server_answers_there():
    assert "/att/x/scripts/{digest}/{file:path}" in [route.path for route in _routes("/att/x")]
    assert "/att/x/" in [route.path for route in _routes("/att/x")]


def test_a_control_looks_up_its_own_value_alone(monkeypatch):
    monkeypatch.setattr(SafeSessionState, "filtered_state", STREAMLITS_OWN)
    inner = SessionState()
    state = SafeSessionState(inner, lambda: None)
    state["tokens"], state["words"] = 3, None
    gathered = dict(state.filtered_state)
    internals.look_up_alone()
    assert gathered == dict(state.filtered_state) == {"tokens": 3, "words": None}
    monkeypatch.setattr(SessionState, "filtered_state", None)  # it is not gathered any more
    assert state.filtered_state["words"] is None and "tokens" in state.filtered_state
    assert "another" not in state.filtered_state


def test_in_a_version_that_was_not_read_controls_are_looked_up_as_streamlit_does(monkeypatch):
    monkeypatch.setattr(SafeSessionState, "filtered_state", STREAMLITS_OWN)
    monkeypatch.setattr(st, "__version__", "1.99.0")
    internals.look_up_alone()
    assert SafeSessionState.filtered_state is STREAMLITS_OWN


def test_the_policy_in_the_docs_names_the_scripts_inside_of_our_pages():
    """Streamlit's own, the first of them, is that of its version."""
    policy = (ROOT / "docs" / "nginx.conf").read_text()
    assert len(script_hashes()) == 3
    assert all(known in policy for known in script_hashes()[1:])
