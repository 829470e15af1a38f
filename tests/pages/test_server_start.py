"""The server's start: it looks up no address but its own."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
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
from attention.pages.server import lifespan

async def life():
    listening = socket.create_server(("127.0.0.1", 0))
    print("before:", connection(listening))
    async with lifespan(None):
        print("after:", connection(listening))

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
    assert run.stdout == "before: False\nafter: True\n", run.stderr
