"""README and docs tell the truth: limits and tables are the package's, and the Python runs."""

import re
from dataclasses import replace

import numpy as np
import pytest
from readme import DRAWING, HOME, PYTHON, prints_what_it_says

from attention import limits
from attention.frameworks.records import CONVENTIONS
from attention.limits import BadInput
from attention.session.matrix import Matrix
from attention.session.settings import Settings
from attention.session.validate import check


def test_the_table_of_frameworks_is_that_of_the_package():
    table = (HOME / "docs" / "frameworks.md").read_text(encoding="utf-8")
    for c in CONVENTIONS.values():
        star = "" if c.ran else " *"
        said = (c.when, c.true_means, c.hidden_row, c.causal, c.scale)
        assert f"| {c.name} ({c.version}){star} | {' | '.join(said)} |" in table
    parts = table[table.index("## Parts of real layers") :]
    for c in CONVENTIONS.values():
        said = (c.groups, c.softcap, c.window, c.sinks, c.bias)
        assert f"| {c.name}{'' if c.ran else ' *'} | {' | '.join(said)} |" in parts
    assert table.split("\n\n")[1].count("\n") == len(CONVENTIONS) + 2


def test_what_it_points_to_is_there():
    for page in (HOME / "README.md", *(HOME / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page.name, link)


def test_its_python_runs_and_prints_what_it_says(capsys):
    exec(PYTHON, {})
    assert prints_what_it_says(capsys.readouterr().out)


def test_the_limits_it_names_are_those_of_the_package():
    text = " ".join((HOME / "docs" / "dashboard.md").read_text(encoding="utf-8").split())
    said = (
        f"At most {limits.MAX_FILE // 2**20} MB a file,"
        f" {limits.MAX_PASTED / 1e6:g} million characters pasted,"
        f" {limits.MAX_ELEMENTS:,} numbers an array, {limits.MAX_TOKENS:,} tokens,"
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
        (2049, 4): "2,049 tokens are too many for this page; at most 2,048 fit.",
        (2, 513): "X has 513 columns; 1 to 512 are allowed.",
    }
    for sizes, sentence in refused.items():
        with pytest.raises(BadInput) as problem:
            check(board(*sizes))
        assert str(problem.value) == sentence


def test_what_it_draws_and_saves_can_be_drawn_and_saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert DRAWING.count("attention.figure") == 2
    exec(f"{PYTHON}\n{DRAWING}", {})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "trace.csv",
        "trace.html",
        "weights.pdf",
        "weights.tex",
    ]
