"""docs/nginx.conf, put where docs/deploying.md says on Debian, shows the dashboard."""

import os
import re
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "docs" / "nginx.conf"
DEBIAN = Path("/etc/nginx")
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
pytestmark = pytest.mark.skipif(
    NGINX is None or not (DEBIAN / "sites-enabled" / "default").exists(),
    reason="nginx with Debian's configuration is not installed: apt-get install nginx-light",
)


class Dashboard(BaseHTTPRequestHandler):
    """Stands for a process of the dashboard."""

    def do_GET(self):
        body = b"the dashboard, asked for as " + self.headers["Host"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as free:
            free.bind(("::1", 0))
        return True
    except OSError:
        return False


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """The port of nginx with the distribution's files and ours, in a folder of their own."""
    folder, taken = tmp_path_factory.mktemp("nginx"), free_port()
    behind = ThreadingHTTPServer(("127.0.0.1", 0), Dashboard)
    threading.Thread(target=behind.serve_forever, daemon=True).start()
    for name in ("conf.d", "sites-enabled"):
        (folder / name).mkdir()
    theirs = (DEBIAN / "sites-enabled" / "default").read_text()
    ours = re.sub("850[12]", str(behind.server_port), SITE.read_text(), count=1)
    ours = re.sub(r"\n.*server 127\.0\.0\.1:8502.*", "", ours)
    for site, text in (("sites-enabled/default", theirs), ("conf.d/nginx.conf", ours)):
        text = re.sub(r"listen (\[::\]:)?80\b", rf"listen \g<1>{taken}", text)
        if not has_ipv6():
            text = re.sub(r"\n[ \t]*listen \[::\].*", "", text)
        (folder / site).write_text(text)
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in TEMPORARY)
    main = (DEBIAN / "nginx.conf").read_text().replace("http {", f"http {{ {temporary}", 1)
    main = re.sub(r"(?m)^(user|pid) .*", "", main).replace("/var/log/nginx", str(folder))
    for name in ("conf.d", "sites-enabled"):
        main = main.replace(f"{DEBIAN}/{name}", f"{folder}/{name}")
    (folder / "nginx.conf").write_text(f"daemon off; pid {folder}/pid;\n{main}")
    command = [NGINX, "-e", f"{folder}/errors", "-c", f"{folder}/nginx.conf"]
    with running(command) as process:
        last = time.monotonic() + 30
        while not listens(taken):
            assert process.poll() is None and time.monotonic() < last, (
                folder / "errors"
            ).read_text()
            time.sleep(0.05)
        yield taken
    behind.shutdown()
    behind.server_close()


@contextmanager
def running(command: list[str]):
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def page(port: int, host: str, address: str = "127.0.0.1") -> str:
    """What a browser is shown that asks for this name."""
    with socket.create_connection((address, port)) as connection:
        asked = f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        connection.sendall(asked.encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


@pytest.mark.parametrize(
    "host", ["example.org", "localhost:8080", "192.0.2.1", "a.b.example.org:80"]
)
def test_every_name_leads_to_the_dashboard(host, port):
    answer = page(port, host)
    assert answer.startswith("HTTP/1.1 200")
    assert f"the dashboard, asked for as {host}" in answer
    assert "seat=" in answer and "Content-Security-Policy" in answer


def test_so_it_does_by_ipv6(port):
    if not has_ipv6():
        pytest.skip("this machine has no IPv6")
    assert "the dashboard, asked for as [::1]" in page(port, "[::1]", "::1")
