"""Figures as PDF and SVG made by the server: Plotly's Kaleido draws them in an installed Chrome or Chromium."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

WAIT = 60  # seconds, for one figure, and for those before it
_ONE_AT_A_TIME = Lock()  # a browser takes hundreds of megabytes
_HOUSE = Path(__file__).resolve().parents[2]


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
    if not _ONE_AT_A_TIME.acquire(timeout=WAIT):
        raise NoImage("The server is drawing for others; try again in a minute.")
    try:
        return _drawn_apart(figure, form)
    except OSError:  # a read-only or full disk
        raise NoImage(
            "The server finds no folder to write into while it draws; take the SVG, which your"
            " browser makes."
        ) from None
    finally:
        _ONE_AT_A_TIME.release()


def _drawn_apart(figure: dict, form: str) -> bytes:
    """Drawn in a process of its own: Kaleido's timeout begins when the browser answers, and some never do."""
    with TemporaryDirectory(
        prefix="attention_", ignore_cleanup_errors=True
    ) as folder:  # a killed browser leaves files
        paths = os.pathsep.join(filter(None, (str(_HOUSE), os.environ.get("PYTHONPATH"))))
        process = subprocess.Popen(
            [sys.executable, "-m", "attention.exports.images", form],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": paths, "TMPDIR": folder},
            start_new_session=True,
        )
        with process:
            try:
                answer, _ = process.communicate(json.dumps(figure).encode(), timeout=WAIT)
            except subprocess.TimeoutExpired:
                raise _failed("TimeoutError") from None
            finally:
                _end(process)
    if process.returncode:
        raise _failed(answer.decode() or f"code {process.returncode}")
    return answer


def _end(process: subprocess.Popen) -> None:
    """The process with all it started; those that ended well are gone already."""
    if os.name == "posix":
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _failed(why: str) -> NoImage:
    return NoImage(
        f"Chrome or Chromium could not draw the figure ({why}); try again, or take the SVG."
    )


def _draw_here(figure: dict, form: str) -> bytes:
    import kaleido
    from choreographer import browser_async
    from choreographer.browsers.chromium import Chromium

    arguments = Chromium.get_popen_args
    Chromium.get_popen_args = lambda self: {
        **arguments(self),
        "start_new_session": False,
    }  # so that we can end it
    browser_async.kill = lambda browser: (
        browser.kill()
    )  # its own would end the group, and that is us as well
    size = {
        "format": form,
        "width": figure["layout"]["width"],
        "height": figure["layout"]["height"],
    }
    return kaleido.calc_fig_sync(figure, size, kopts={"mathjax": False, "timeout": WAIT})


def _main() -> int:
    """The other process: a figure as JSON comes in; out go its bytes, or the name of what went wrong."""
    try:
        answer = _draw_here(json.load(sys.stdin), sys.argv[1])
    except Exception as problem:  # a browser that does not start or dies
        sys.stdout.write(type(problem).__name__)
        return 1
    sys.stdout.buffer.write(answer)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
