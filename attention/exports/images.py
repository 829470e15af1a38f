"""Figures as PDF and SVG made by the server: Plotly's Kaleido draws them in an installed Chrome or Chromium."""

from __future__ import annotations

from functools import cache
from threading import Lock

WAIT = 60  # seconds, for one figure
_ONE_AT_A_TIME = Lock()  # a browser takes hundreds of megabytes


class NoImage(RuntimeError):
    """The server cannot draw; the message is the one sentence a person reads."""


@cache
def missing() -> str | None:
    """What has to be installed before this server can draw; None where everything is there."""
    try:
        import kaleido  # noqa: F401
        from choreographer.browsers.chromium import Chromium
    except ImportError:
        return "The server makes PDF with Kaleido, which is not installed: pip install kaleido. SVG and PNG are made by your browser."
    try:
        Chromium.find_browser(skip_local=False)
    except Exception:  # it says so with errors of several kinds
        return (
            "The server makes PDF with Chrome or Chromium, and finds neither: install one (Debian: apt-get install chromium)"
            " and start the dashboard anew. SVG and PNG are made by your browser."
        )
    return None


def draw(figure: dict, form: str) -> bytes:
    """The figure as "pdf" or "svg", as large as its layout says; nothing is fetched from a network.

    A CSS pixel is 3/4 of a point, so a sheet 10 cm wide is a page 10 cm wide.
    """
    if missing():
        raise NoImage(missing())
    import kaleido

    size = {"format": form, "width": figure["layout"]["width"], "height": figure["layout"]["height"]}
    try:
        with _ONE_AT_A_TIME:
            return kaleido.calc_fig_sync(figure, size, kopts={"mathjax": False, "timeout": WAIT})
    except Exception as problem:  # a browser that does not start, hangs or dies
        raise NoImage(
            f"Chrome or Chromium could not draw the figure ({type(problem).__name__}); try again, or take the SVG."
        ) from None
