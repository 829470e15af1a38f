"""What the server draws: a PDF as large as was asked, an SVG with every number; or one sentence on what to install."""

import io
import sys
from xml.etree import ElementTree

import pytest

from attention.exports import images
from attention.figures import board
from attention.figures.sheet import Sheet, compose
from attention.inputs.examples import EXAMPLES
from attention.inputs.system import run, view

drawn = pytest.mark.skipif(images.missing() is not None, reason=str(images.missing()))
FOUR = EXAMPLES["four-words"].build()


def sheet(**more) -> dict:
    return compose(board.panes(view(FOUR, run(FOUR))), Sheet(**more))


@drawn
@pytest.mark.parametrize("width", [8.6, 25.4])
def test_the_pdf_is_one_page_of_the_chosen_width_and_holds_the_numbers(width):
    pypdf = pytest.importorskip("pypdf", reason="the package pypdf is not installed (tests/requirements.txt)")
    (page,) = pypdf.PdfReader(io.BytesIO(images.draw(sheet(width_cm=width, title="Four <b>words</b>"), "pdf"))).pages
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
        "The server makes PDF with Kaleido, which is not installed: pip install kaleido. SVG and PNG are made by your browser."
    )
    with pytest.raises(images.NoImage, match="pip install kaleido"):
        images.draw({}, "pdf")


def test_without_a_browser_it_says_so(fresh, monkeypatch):
    chromium = pytest.importorskip("choreographer.browsers.chromium", reason="Kaleido is not installed")

    def nowhere(*, skip_local):
        raise RuntimeError

    monkeypatch.setattr(chromium.Chromium, "find_browser", nowhere)
    assert "install one (Debian: apt-get install chromium)" in images.missing()


def test_a_browser_that_fails_becomes_one_sentence(monkeypatch):
    kaleido = pytest.importorskip("kaleido", reason="Kaleido is not installed")

    def broken(*args, **more):
        raise TimeoutError

    monkeypatch.setattr(images, "missing", lambda: None)
    monkeypatch.setattr(kaleido, "calc_fig_sync", broken)
    with pytest.raises(
        images.NoImage, match=r"^Chrome or Chromium could not draw the figure \(TimeoutError\); try again"
    ):
        images.draw({"layout": {"width": 1, "height": 1}}, "pdf")
