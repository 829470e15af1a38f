"""The table of formats: what a person can take away, and how each is written."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

from attention import program
from attention.core.trace import AttentionTrace
from attention.explain.captions import formula
from attention.explain.view import View
from attention.exports import bounds, code, paper, tables, text
from attention.exports.report import to_report
from attention.figures.panes.pane import Pane
from attention.html import looks
from attention.limits import BadInput
from attention.paper import Paper
from attention.session.state.about import About, what_it_is
from attention.session.state.links import to_file, too_large
from attention.session.state.settings import SOFTMAX, Settings

FIRST = (1980, 1, 1, 0, 0, 0)  # of the times that a zip knows
PICTURE = Paper(letters=False)  # of one stage


@dataclass(frozen=True, eq=False)
class PageContents:
    """All that stands on the page, as the writers need it."""

    settings: Settings
    trace: AttentionTrace
    view: View
    title: str
    panes: Callable[[], list[Pane]]  # the board's figures
    stages: tuple[str, ...] = ()  # of the tables and texts; () for all

    @cached_property
    def about(self) -> About:
        return what_it_is(self.settings)

    @property
    def chosen(self) -> View:
        """Return the view with the chosen stages alone, of the item and head that are shown."""
        return self.view.only(self.stages) if self.stages else self.view


@dataclass(frozen=True)
class Format:
    """One way to take the numbers away; ``write`` makes the whole file."""

    label: str
    filename: str
    mime: str
    contents: str
    write: Callable[[PageContents], bytes]
    one: bool = True  # whether its stages are of one item and head, and its name says which

    def name(self, about: About) -> str:
        """The file's name, which says the item and the head where it holds one of several."""
        stem, dot, ending = self.filename.partition(".")
        return stem + (about.suffix if self.one else "") + dot + ending


def _npz(page: PageContents) -> bytes:
    settings = page.settings
    return tables.to_npz(
        page.trace,
        tokens=settings.tokens,
        key_tokens=settings.memory_tokens,
        context=settings.context,
        about=what_it_is(settings, whole=True),
    )


def _report(page: PageContents) -> bytes:
    settings = page.settings
    facts = {"tokens": ", ".join(settings.tokens), "heads": str(settings.heads)}
    if not settings.weights_alone:
        facts |= {"formula": "".join(words for words, _ in formula(page.view))}
        facts |= {"scale": repr(page.trace.scale), "softmax": SOFTMAX[settings.softmax]}
    return to_report(
        page.panes(),
        title=page.title,
        about=page.about,
        facts=facts,
        code=code.to_python(settings, page.trace, page.title).decode(),
        lines=""
        if looks.refusal(page.view)
        else looks.svg(page.view, settings.query, settings.digits),
    )


def _as_lines(page: PageContents) -> bytes:
    drawn = looks.svg(page.view, page.settings.query, page.settings.digits, page.about.lines())
    return drawn.encode()


FORMATS = {
    "csv": Format(
        "CSV, one row per cell",
        "cells.csv",
        "text/csv",
        "Stage, row, column, labels, value, item, head and origin of each cell. Exact.",
        lambda page: tables.to_csv(page.chosen, page.about),
    ),
    "matrices": Format(
        "CSV, matrices",
        "matrices.csv",
        "text/csv",
        "One block per stage. Exact.",
        lambda page: text.to_matrices(page.chosen, page.about),
    ),
    "npz": Format(
        "NPZ for NumPy",
        "stages.npz",
        "application/octet-stream",
        "Every stage with its batch and head axes. Exact.",
        _npz,
        one=False,
    ),
    "json": Format(
        "JSON",
        "stages.json",
        "application/json",
        "The stages with their labels. Exact.",
        lambda page: text.to_json(page.chosen, page.about),
    ),
    "latex": Format(
        "LaTeX",
        "stages.tex",
        "text/x-tex",
        "One matrix per stage with its words, rounded to the digits chosen under *Options*.",
        lambda page: text.to_latex(page.chosen, page.settings.digits, page.about),
    ),
    "markdown": Format(
        "Markdown",
        "stages.md",
        "text/markdown",
        "One table per stage, rounded to the same digits.",
        lambda page: text.to_markdown(page.chosen, page.settings.digits, page.about),
    ),
    "lines": Format(
        "SVG, attention lines",
        "who_looks_at_whom.svg",
        "image/svg+xml",
        "The weights as lines from word to word. The chosen query is in front.",
        _as_lines,
    ),
    "python": Format(
        "Python script",
        "recompute.py",
        "text/x-python",
        "Code that recomputes every stage with NumPy alone, and checks it.",
        lambda page: code.to_python(page.settings, page.trace, page.title),
        one=False,
    ),
    "notebook": Format(
        "Jupyter notebook",
        "recompute.ipynb",
        "application/x-ipynb+json",
        "The Python script as the cells of a notebook.",
        lambda page: code.to_notebook(page.settings, page.trace, page.title),
        one=False,
    ),
    "report": Format(
        "HTML report",
        "report.html",
        "text/html",
        "The stages as coloured tables, the lines and the code. Needs no network.",
        _report,
    ),
    "state": Format(
        "Save state (.json)",
        "state.json",
        "application/json",
        "All settings and numbers. Upload it under “Your data” to continue.",
        lambda page: to_file(page.settings),
        one=False,
    ),
}


def everything(page: PageContents) -> Iterator[tuple[float, str, bytes]]:
    """A zip of all formats, of the figure to print and of a picture of each stage, file by file.

    Yields how much is done, from 0 to 1, what comes next, and at the end the whole zip. Where a
    figure cannot be drawn, or a file would be too large, a text in the zip says why.
    """
    buffer, page = io.BytesIO(), replace(page, stages=())
    made = max((*program.today().timetuple()[:3], 0, 0, 0), FIRST)
    files: dict[str, Callable[[], bytes | str]] = {
        format.name(page.about): partial(_bounded, key, page) for key, format in FORMATS.items()
    }
    figure = cache(lambda: paper.figure_of(page.settings, page.trace))
    part = paper.about(page.settings).suffix
    files |= {f"figure{part}.{form}": partial(_figure, figure, form) for form in paper.FORMS}
    for stage in page.view.stages:
        name = f"stages/{stage}{page.about.suffix}.png"
        files[name] = partial(_picture, page, stage)
    with zipfile.ZipFile(buffer, "w") as archive:
        for k, (name, write) in enumerate(files.items()):
            yield k / len(files), name, b""
            try:
                content = write()
            except BadInput as problem:
                name, content = f"{name}.txt", str(problem)
            file = zipfile.ZipInfo(name, made)
            archive.writestr(file, content, zipfile.ZIP_DEFLATED)
    yield 1.0, "the zip", buffer.getvalue()


def refusal(key: str, page: PageContents) -> str:
    """Why a format is not written of this page; "" where it is."""
    if key == "lines":
        return looks.refusal(page.view)
    if key == "state":
        return too_large(page.settings)
    return bounds.too_large(key, page.view if key in bounds.ALL_HEADS else page.chosen)


def _bounded(key: str, page: PageContents) -> bytes:
    """The file, or BadInput where the page holds more than it takes."""
    if why := refusal(key, page):
        raise BadInput(why)
    return FORMATS[key].write(page)


def _figure(figure: Callable[[], Any], form: str) -> bytes:
    return paper.to_bytes(figure(), form)


def _picture(page: PageContents, stage: str) -> bytes:
    """One stage of the head that is shown, at a paper's width."""
    alone = replace(page.settings, paper_stages=(stage,), paper_heads=(), paper=PICTURE)
    return paper.to_bytes(paper.figure_of(alone, page.trace), "png")
