"""The table of formats: what a person can take away, and how each is written."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from attention.exports import bounds, code, paper, tables, text
from attention.exports.report import to_report
from attention.figures.panes import Pane
from attention.limits import BadInput
from attention.session.links import to_file
from attention.session.settings import Settings
from attention.trace import AttentionTrace
from attention.view import View


@dataclass(frozen=True, eq=False)
class PageContents:
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
    write: Callable[[PageContents], bytes]


def _npz(page: PageContents) -> bytes:
    settings = page.settings
    return tables.to_npz(
        page.trace,
        tokens=settings.tokens,
        key_tokens=settings.memory_tokens,
        context=settings.context,
    )


def _report(page: PageContents) -> bytes:
    settings = page.settings
    facts = {
        "tokens": ", ".join(settings.tokens),
        "heads": str(settings.heads),
        "scale": repr(page.trace.scale),
        "mask": settings.mask,
        "softmax": "on" if settings.softmax else "off",
    }
    for name, matrix in settings.matrices.items():
        rolled = str(matrix.recipe) if matrix.recipe else "as given"
        facts[f"{name} was rolled" if matrix.recipe else name] = matrix.remark or rolled
    return to_report(
        page.view,
        page.panes(),
        title=page.title,
        facts=facts,
        code=code.to_python(settings, page.trace, page.title).decode(),
        digits=settings.digits,
    )


FORMATS = {
    "csv": Format(
        "CSV, a line for each cell",
        "cells.csv",
        "text/csv",
        "Tidy: stage, row, column, labels, value; exact.",
        lambda page: tables.to_csv(page.view),
    ),
    "matrices": Format(
        "CSV, matrices",
        "matrices.csv",
        "text/csv",
        "One block for each stage; exact.",
        lambda page: text.to_matrices(page.view),
    ),
    "npz": Format(
        "NPZ for NumPy",
        "stages.npz",
        "application/octet-stream",
        "Every stage with its batch and head axes; exact.",
        _npz,
    ),
    "json": Format(
        "JSON",
        "stages.json",
        "application/json",
        "Every stage with its labels; exact.",
        lambda page: text.to_json(page.view),
    ),
    "latex": Format(
        "LaTeX",
        "stages.tex",
        "text/x-tex",
        "A bmatrix for each stage, rounded as on the page.",
        lambda page: text.to_latex(page.view, page.settings.digits),
    ),
    "markdown": Format(
        "Markdown",
        "stages.md",
        "text/markdown",
        "A table for each stage, rounded as on the page.",
        lambda page: text.to_markdown(page.view, page.settings.digits),
    ),
    "python": Format(
        "Python script",
        "recompute.py",
        "text/x-python",
        "Recomputes every stage with NumPy alone, and checks it.",
        lambda page: code.to_python(page.settings, page.trace, page.title),
    ),
    "notebook": Format(
        "Jupyter notebook",
        "recompute.ipynb",
        "application/x-ipynb+json",
        "The same, cell by cell.",
        lambda page: code.to_notebook(page.settings, page.trace, page.title),
    ),
    "report": Format(
        "HTML report",
        "report.html",
        "text/html",
        "Figures, tables and code in one file; needs no network.",
        _report,
    ),
    "state": Format(
        "The state as a file",
        "state.json",
        "application/json",
        "Opens under “Your data” to this page again.",
        lambda page: to_file(page.settings),
    ),
}


def everything(page: PageContents) -> Iterator[tuple[float, str, bytes]]:
    """A zip of all formats and of the figure to print, file by file.

    Yields how much is done, from 0 to 1, what comes next, and at the end the whole zip. Where the
    figure cannot be drawn, or a file would be too large, a text in the zip says why.
    """
    buffer = io.BytesIO()
    files: dict[str, Callable[[], bytes | str]] = {
        format.filename: partial(_bounded, key, page) for key, format in FORMATS.items()
    }
    figure = cache(lambda: paper.figure_of(page.settings, page.trace))
    files |= {f"figure.{form}": partial(_figure, figure, form) for form in paper.FORMS}
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for k, (name, write) in enumerate(files.items()):
            yield k / len(files), name, b""
            try:
                archive.writestr(name, write())
            except BadInput as problem:
                archive.writestr(f"{name}.txt", str(problem))
    yield 1.0, "the zip", buffer.getvalue()


def _bounded(key: str, page: PageContents) -> bytes:
    """The file, or BadInput where the page holds more than it takes."""
    if refusal := bounds.too_large(key, page.view):
        raise BadInput(refusal)
    return FORMATS[key].write(page)


def _figure(figure: Callable[[], Any], form: str) -> bytes:
    return paper.to_bytes(figure(), form)
