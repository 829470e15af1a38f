"""The table of formats: what a person can take away, and how each is written."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from attention.exports import code, images, tables, text
from attention.exports.report import to_report
from attention.figures.panes import Pane
from attention.session.links import to_file
from attention.session.settings import Settings
from attention.trace import AttentionTrace
from attention.view import View


@dataclass(frozen=True, eq=False)
class Shown:
    """All that stands on the page, as the writers need it."""

    settings: Settings
    trace: AttentionTrace
    view: View
    title: str
    panes: Callable[[], list[Pane]]  # the board's figures


@dataclass(frozen=True)
class Format:
    """One way to take the numbers away; ``write`` makes the whole file."""

    label: str
    filename: str
    mime: str
    help: str
    write: Callable[[Shown], bytes]


def _report(shown: Shown) -> bytes:
    s = shown.settings
    facts = {
        "tokens": ", ".join(s.tokens),
        "heads": str(s.heads),
        "scale": repr(shown.trace.scale),
        "mask": s.mask,
        "softmax": "on" if s.softmax else "off",
    }
    facts |= {
        f"{name} was rolled" if m.recipe else name: m.remark
        or (str(m.recipe) if m.recipe else "as given")
        for name, m in s.matrices.items()
    }
    script = code.to_python(s, shown.trace, shown.title).decode()
    return to_report(
        shown.view,
        shown.panes(),
        title=shown.title,
        facts=facts,
        code=script,
        digits=s.digits,
    )


FORMATS = {
    "csv": Format(
        "CSV, a line for each cell",
        "cells.csv",
        "text/csv",
        "Tidy: stage, row, column, labels, value; exact",
        lambda shown: tables.to_csv(shown.view),
    ),
    "matrices": Format(
        "CSV, matrices",
        "matrices.csv",
        "text/csv",
        "One block for each stage; exact",
        lambda shown: text.to_matrices(shown.view),
    ),
    "npz": Format(
        "NPZ for NumPy",
        "stages.npz",
        "application/octet-stream",
        "Every stage with its batch and head axes; exact",
        lambda shown: tables.to_npz(
            shown.trace,
            tokens=shown.settings.tokens,
            key_tokens=shown.settings.memory_tokens,
            context=shown.settings.context,
        ),
    ),
    "json": Format(
        "JSON",
        "stages.json",
        "application/json",
        "Every stage with its labels; exact",
        lambda shown: text.to_json(shown.view),
    ),
    "latex": Format(
        "LaTeX",
        "stages.tex",
        "text/x-tex",
        "A bmatrix for each stage, rounded as on the page",
        lambda shown: text.to_latex(shown.view, shown.settings.digits),
    ),
    "markdown": Format(
        "Markdown",
        "stages.md",
        "text/markdown",
        "A table for each stage, rounded as on the page",
        lambda shown: text.to_markdown(shown.view, shown.settings.digits),
    ),
    "python": Format(
        "Python script",
        "recompute.py",
        "text/x-python",
        "Recomputes every stage with NumPy alone, and checks it",
        lambda shown: code.to_python(shown.settings, shown.trace, shown.title),
    ),
    "notebook": Format(
        "Jupyter notebook",
        "recompute.ipynb",
        "application/x-ipynb+json",
        "The same, cell by cell",
        lambda shown: code.to_notebook(shown.settings, shown.trace, shown.title),
    ),
    "report": Format(
        "HTML report",
        "report.html",
        "text/html",
        "Figures, tables and code in one file; needs no network",
        _report,
    ),
    "state": Format(
        "The state as a file",
        "state.json",
        "application/json",
        "Open it here to see this page again",
        lambda shown: to_file(shown.settings),
    ),
}


IMAGES = {"stages.svg": "svg", "stages.pdf": "pdf"}


def everything(shown: Shown, figure: dict) -> Iterable[tuple[float, str, bytes]]:
    """A zip of all formats and of the figure: how much is done, from 0 to 1, what comes next, and at the end the whole.

    Where the server cannot draw, a text in the zip says what to install.
    """
    buffer = io.BytesIO()
    files = {found.filename: partial(found.write, shown) for found in FORMATS.values()}
    if images.missing():
        files["figures.txt"] = images.missing().encode
    else:
        files |= {name: partial(images.draw, figure, form) for name, form in IMAGES.items()}
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for k, (name, write) in enumerate(files.items()):
            yield k / len(files), name, b""
            try:
                archive.writestr(name, write())
            except images.NoImage as problem:
                archive.writestr(f"{name}.txt", str(problem))
    yield 1.0, "the zip", buffer.getvalue()
