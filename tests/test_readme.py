"""README and docs tell the truth: limits and tables are the package's, and the Python runs."""

import inspect
import re
import runpy
import tomllib
from dataclasses import replace

import messages
import numpy as np
import pytest
from readme import DRAWING, HOME, PYTHON, examples, prints_what_it_says
from readme import PAGES as PAGES_RUN

from attention import limits
from attention.explain import worksheet
from attention.figures.panes import shades
from attention.figures.plotly import heatmap
from attention.frameworks.records import CONVENTIONS
from attention.html import looks
from attention.limits import BadInput
from attention.long.attention import long_attention
from attention.session.long import long_work
from attention.session.state.matrix import Matrix
from attention.session.state.settings import Settings
from attention.session.state.validate import check


def test_the_tables_of_libraries_are_those_of_the_package():
    docs = HOME / "docs"
    page = (docs / "frameworks.md").read_text(encoding="utf-8")
    written = runpy.run_path(str(docs / "tables.py"))["written"]
    assert written(page) == page
    assert page.count(f"| {CONVENTIONS['torch_mha'].name}") == page.count("\n## ") - 1 == 4


def test_what_it_points_to_is_there():
    for page in (*HOME.glob("*.md"), *(HOME / "docs").glob("*.md")):
        prose = re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", prose):
            assert (page.parent / link).exists(), (page.name, link)


@pytest.mark.parametrize(("page", "most"), [("README.md", 90), ("CONTRIBUTING.md", 60)])
def test_it_is_short(page, most):
    assert len((HOME / page).read_text(encoding="utf-8").splitlines()) <= most


@pytest.mark.parametrize("place", PYTHON)
def test_each_example_runs_by_itself(place):
    exec(PYTHON[place], {})


def test_readme_prints_what_it_says(capsys):
    for code in examples("README.md").values():
        exec(code, {})
    assert prints_what_it_says(capsys.readouterr().out)


def test_no_example_of_these_pages_is_left_out():
    """Each is one of Python, and is found; commands and what is printed are indented."""
    fences = sum((HOME / page).read_text(encoding="utf-8").count("```") for page in PAGES_RUN)
    assert fences == 2 * (len(PYTHON) + len(DRAWING)) > 20


def mb(count: int) -> str:
    return f"{count // 2**20} MB"


def text_of(page: str) -> str:
    return " ".join((HOME / page).read_text(encoding="utf-8").split())


SAID = {  # where a page names a limit, in its words
    "README.md": [f"maps of {limits.MAX_LONG_TOKENS:,} tokens"],
    "docs/dashboard.md": [
        f"it has up to {limits.MAX_QR} letters",
        f"up to {mb(limits.MAX_IMAGE)} and {limits.MAX_PIXELS // 10**6} million pixels",
        f"each with its number; up to {looks.MOST} words",
        f"numbers up to {heatmap.MOST_PRINTED} × {heatmap.MOST_PRINTED}; pointed at",
        f"up to {limits.MAX_STYLED:,} numbers, plain up to {limits.MAX_TABLE:,}, more as a file",
        f"**Up to {limits.MAX_TOKENS:,} tokens.**",
        f"A stage of more than {shades.MOST_NUMBERED:,} cells",
        f"of your numbers, up to {worksheet.MOST} words",
        f"a class set of up to {limits.MAX_SHEETS} sheets",
        f"is for up to {limits.MAX_LONG_TOKENS:,} tokens",
        f"in at most {long_work.CELLS} × {long_work.CELLS} cells",
        f"At most {mb(limits.MAX_FILE)} a file",  # and all that follows, below
        f"*Long context* reads files of {mb(limits.MAX_LONG_FILE)}.",
    ],
    "docs/architecture.md": [
        f"A pane of more than {shades.MOST_NUMBERED:,} cells has no numbers",
    ],
    "docs/deploying.md": [
        f"of up to {mb(limits.MAX_LONG_FILE)} on *Long context*, {mb(limits.MAX_CAPTURE)} on"
        f" *Real model*, {mb(limits.MAX_STATE)} (a saved state) or {mb(limits.MAX_FILE)} elsewhere",
        f"takes files of up to {mb(limits.MAX_LONG_FILE)} (`server.maxUploadSize`",
        "A message over the WebSocket has at most 28 MB (`server.maxMessageSize`)",
        f"a saved state of {mb(limits.MAX_STATE)} fits",
    ],
    "docs/python.md": [
        f"{limits.MAX_LONG_TOKENS:,} tokens take",
        "at most 512 × 512 cells: summed over keys",
    ],
    "docs/real-models.md": [
        f"({mb(limits.MAX_CAPTURE)}, or the weights of 32 heads of 512 tokens)",
        f"Files of up to {mb(limits.MAX_CAPTURE)}, {limits.MAX_CAPTURED_CELLS // 2**20} million"
        f" weights and {limits.MAX_CAPTURED_HEADS:,} heads are read",
        f"heads of up to {limits.MAX_TOKENS:,} tokens open on Explore",
        f"also opens captures of up to {mb(limits.MAX_LONG_FILE)}",
        f"what it inflates to, at most {mb(8 * limits.MAX_CAPTURED_CELLS)} (*Long context*:"
        f" {mb(8 * limits.MAX_LONG_WEIGHTS)})",
    ],
}


PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (HOME / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_every_limit_that_a_page_names_is_that_of_the_package(page):
    text = text_of(page)
    for said in SAID.get(page, []):
        assert said in text
        text = text.replace(said, "")
    assert re.findall(r"(?i).{20}\b(?<!adds )(?<!add )(?:up to|at most) [0-9].{20}", text) == []


def test_what_they_say_without_a_name_follows_from_the_limits():
    assert limits.MAX_CAPTURED_CELLS == 32 * 512 * 512
    config = tomllib.loads((HOME / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["maxUploadSize"] * 2**20 == limits.MAX_LONG_FILE
    assert inspect.signature(long_attention).parameters["pool"].default == 512


def test_the_limits_it_names_are_those_of_the_package():
    text = text_of("docs/dashboard.md")
    said = (
        f"At most {limits.MAX_FILE // 2**20} MB a file,"
        f" {limits.MAX_PASTED / 1e6:g} million characters pasted,"
        f" {limits.MAX_ELEMENTS:,} numbers an array, {limits.MAX_LINES:,} lines a table,"
        f" {limits.MAX_PRINTED_BRACKETS:,} brackets a printout,"
        f" {limits.MAX_TOKENS:,} tokens,"
        f" widths of {limits.MAX_DIMENSION}, {limits.MAX_CELLS:,} scores of all heads"
        f" and items together, saved states of {limits.MAX_STATE // 2**20} MB,"
        " numbers up to ±10¹²."
    )
    assert said in text
    assert limits.LIMIT == 1e12
    assert limits.MAX_SIDE == limits.MAX_DIMENSION


def board(tokens: int, width: int) -> Settings:
    weights = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (width, width))
    shapes = {"X": (tokens, width), "memory": (tokens, width)} | weights
    matrices = {name: Matrix(np.full(shape, 1e12)) for name, shape in shapes.items()}
    words = tuple(f"w{k}" for k in range(tokens))
    return Settings("four-words", words, matrices, words)


def test_what_it_says_fits_on_the_board_fits_together_and_what_is_more_is_refused():
    s = check(board(512, 512))
    assert (len(s.tokens), s.d_model, s.d_k, s.d_v) == (512, 512, 512, 512)
    assert check(replace(s, heads=8)).heads == 8
    refused = {
        (513, 4): messages.NO_PLACE_ON_LONG_CONTEXT.format(found=513, limit=512, left="W_O"),
        (2, 513): messages.COLUMNS_OUT_OF_RANGE.format(name="X", columns=513, most=512),
    }
    for sizes, sentence in refused.items():
        with pytest.raises(BadInput) as problem:
            check(board(*sizes))
        assert str(problem.value) == sentence


def test_what_it_draws_and_saves_can_be_drawn_and_saved(tmp_path, monkeypatch):
    pytest.importorskip("plotly", reason="the extra [app] is not installed")
    assert "".join(DRAWING.values()).count("attention.figure") == 2
    monkeypatch.chdir(tmp_path)
    for code in DRAWING.values():
        exec(code, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "trace.csv",
        "trace.html",
        "weights.pdf",
        "weights.tex",
    ]
