"""What the server draws: a PDF as large as was asked, an SVG with every number; or advice."""

import io
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from attention.exports import images
from attention.figures import panes
from attention.figures.sheet import Sheet, compose
from attention.session.examples import EXAMPLES
from attention.session.run import run, view

drawn = pytest.mark.skipif(images.missing() is not None, reason=str(images.missing()))
FOUR = EXAMPLES["four-words"].build()


def sheet(**more) -> dict:
    return compose(panes.panes(view(FOUR, run(FOUR))), Sheet(**more))


@drawn
@pytest.mark.parametrize("width", [8.6, 25.4])
def test_the_pdf_is_one_page_of_the_chosen_width_and_holds_the_numbers(width):
    pypdf = pytest.importorskip(
        "pypdf", reason="the package pypdf is not installed (tests/requirements.txt)"
    )
    (page,) = pypdf.PdfReader(
        io.BytesIO(
            images.draw(sheet(width_cm=width, height_cm=40, title="Four <b>words</b>"), "pdf")
        )
    ).pages
    assert float(page.mediabox.width) / 72 * 2.54 == pytest.approx(width, abs=0.03)
    words = page.extract_text().split()
    assert {"55", "35", "54", "85", "27.50", "42.50"} <= set(words)
    assert "<b>words</b>" in words


@drawn
def test_the_svg_parses_and_holds_the_numbers():
    root = ElementTree.fromstring(images.draw(sheet(), "svg"))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"55", "35", "54", "85"} <= set(texts)
    assert root.get("viewBox") == f"0 0 643 {sheet()['layout']['height']}"


@pytest.fixture
def fresh():
    images.missing.cache_clear()
    yield
    images.missing.cache_clear()


def test_without_kaleido_it_says_so(fresh, monkeypatch):
    monkeypatch.setitem(sys.modules, "kaleido", None)
    assert images.missing() == (
        "The server makes PDF with Kaleido, which is not installed: pip install kaleido."
        " SVG and PNG are made by your browser."
    )
    with pytest.raises(images.NoImage, match="pip install kaleido"):
        images.draw({}, "pdf")


def test_without_a_browser_it_says_so(fresh, monkeypatch):
    chromium = pytest.importorskip(
        "choreographer.browsers.chromium", reason="Kaleido is not installed"
    )

    def nowhere(*, skip_local):
        raise RuntimeError

    monkeypatch.setattr(chromium.Chromium, "find_browser", nowhere)
    assert "install one (Debian: apt-get install chromium)" in images.missing()


SMALL = {"data": [], "layout": {"width": 100, "height": 100}}


@pytest.fixture
def browser(tmp_path, monkeypatch):
    """Puts a program in the place of the browser, which the process that draws is given."""
    pytest.importorskip("kaleido", reason="Kaleido is not installed")
    monkeypatch.setattr(images, "missing", lambda: None)
    path = tmp_path / "browser"

    def put(script: str) -> None:
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("BROWSER_PATH", str(path))

    return put


def alive(word: str) -> bool:
    commands = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
    return any(word.encode() in command for command in commands)


def test_a_browser_that_fails_becomes_one_sentence(browser):
    browser("exit 3")
    with pytest.raises(
        images.NoImage,
        match=r"^Chrome or Chromium could not draw the figure \(\w+\); try again, or",
    ):
        images.draw(SMALL, "pdf")


@pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="processes are counted in /proc"
)
def test_a_browser_that_hangs_is_ended_with_all_it_started(browser, monkeypatch, tmp_path):
    browser(f"touch {tmp_path}/started; sleep 3917")
    monkeypatch.setattr(images, "WAIT", 4)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    start = time.monotonic()
    with pytest.raises(images.NoImage, match=r"\(TimeoutError\); try again, or take the SVG\.$"):
        images.draw(SMALL, "pdf")
    assert time.monotonic() - start < 10
    assert (tmp_path / "started").exists()
    assert not alive("sleep\x003917")
    assert not list(tmp_path.glob("attention_*"))
    assert not images._ONE_AT_A_TIME.locked()


def test_on_a_read_only_file_system_it_says_so(browser, monkeypatch, tmp_path):
    browser("exit 3")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(images.NoImage) as refused:
        images.draw(SMALL, "pdf")
    assert str(refused.value) == (
        "The server finds no folder to write into while it draws; take the SVG, which your"
        " browser makes."
    )
    assert not images._ONE_AT_A_TIME.locked()


def test_who_waits_too_long_for_others_is_told_so(browser, monkeypatch):
    browser("exit 3")
    monkeypatch.setattr(images, "WAIT", 0.1)
    with (
        images._ONE_AT_A_TIME,
        pytest.raises(images.NoImage, match=r"^The server is drawing for others; try again in a"),
    ):
        images.draw(SMALL, "pdf")


@drawn
def test_it_draws_wherever_the_dashboard_was_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert images.draw(SMALL, "pdf").startswith(b"%PDF")
