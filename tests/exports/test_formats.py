"""Every format is opened again and compared with the trace; what strangers typed stays text."""

import csv
import io
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from attention.exports import code, text
from attention.exports.formats import FORMATS, PageContents, everything
from attention.figures import panes
from attention.paper import Paper
from attention.readers import opening
from attention.session import changes, links
from attention.session.examples import EXAMPLES
from attention.session.matrix import Matrix
from attention.session.run import run, view
from attention.session.validate import check

SENTENCE, FOUR = EXAMPLES["sentence"].build(), EXAMPLES["four-words"].build()
CASES = {
    **{name: e.build() for name, e in EXAMPLES.items()},
    "W_O, hidden row": replace(
        changes.set_output_weights(SENTENCE, True),
        head=1,
        mask="causal_lower_right",
        padding=(0,),
        context=True,
    ),
    "crossed, all hidden": replace(changes.set_memory(FOUR, True), padding=tuple(range(3))),
}
HOSTILE = (
    '<b>"x"</b>',
    "$x$ %{y}",
    "`a` | *b*",
    "=1+1",
    "</script><script>alert(1)</script>",
    "\\end{bmatrix}",
    "שלום",
    "e\u0301\u200d🙂",
)


def shown(settings, title="A title") -> PageContents:
    settings = check(settings)
    trace = run(settings)
    now = view(settings, trace)
    return PageContents(settings, trace, now, title, lambda: panes.panes(now))


@pytest.fixture(autouse=True)
def small_plotly(monkeypatch):
    """plotly.js has nearly five megabytes, which no test here draws with."""
    source = "window.Plotly = { newPlot () {} }"
    monkeypatch.setattr("attention.exports.report.plotly_script", lambda: source)


def hostile() -> PageContents:
    settings = FOUR.with_matrix("X", Matrix(np.ones((len(HOSTILE), 4))))
    return shown(replace(settings, tokens=HOSTILE), "".join(HOSTILE))


def value(cell) -> float:
    return float(cell)


@pytest.mark.parametrize("name", CASES)
def test_json_holds_every_cell_of_every_stage(name):
    s = shown(CASES[name])
    found = json.loads(text.to_json(s.view), parse_constant=pytest.fail)
    assert list(found["stages"]) == list(s.view.stages)
    for stage, matrix in s.view.stages.items():
        read = np.array([[value(cell) for cell in row] for row in found["stages"][stage]["values"]])
        assert np.array_equal(read, matrix, equal_nan=True)
        assert tuple(found["stages"][stage]["rows"]) == s.view.rows(stage)


@pytest.mark.parametrize("name", CASES)
def test_the_csv_of_matrices_reads_back_bit_for_bit(name):
    s = shown(CASES[name])
    blocks, block = [], []
    for row in csv.reader(io.StringIO(text.to_matrices(s.view).decode(), newline="")):
        block = [*block, row] if row else (blocks.append(block) or [])
    assert [rows[0][0] for rows in blocks] == list(s.view.stages)
    for rows, matrix in zip(blocks, s.view.stages.values(), strict=True):
        assert np.array_equal(
            np.array([[float(c) for c in row[1:]] for row in rows[1:]]), matrix, equal_nan=True
        )


@pytest.mark.parametrize("digits", [0, 3])
@pytest.mark.parametrize("name", CASES)
def test_latex_and_markdown_hold_the_rounded_numbers(name, digits):
    s = shown(CASES[name])
    latex = text.to_latex(s.view, digits).decode()
    assert latex.count("\\begin{bmatrix}") == latex.count("\\end{bmatrix}") == len(s.view.stages)
    bodies = re.findall(r"\\begin\{bmatrix\}\n(.*?)\n\\end\{bmatrix\}", latex, re.DOTALL)
    tables = text.to_markdown(s.view, digits).decode().split("### ")[1:]
    for body, table, matrix in zip(bodies, tables, s.view.stages.values(), strict=True):
        rows = [[_number(c) for c in row.split("&")] for row in body.split("\\\\")]
        lines = [line.split(" | ")[1:] for line in table.splitlines() if line.startswith("| **")]
        assert np.shape(rows) == np.shape(lines) == matrix.shape
        printed = np.array(
            [[_number(c.strip(" |").replace("−", "-")) for c in row] for row in lines]
        )
        for read in (np.array(rows), printed):
            near = np.isclose(
                read,
                matrix,
                rtol=0.6 * 10.0 ** -max(digits - 1, 0),
                atol=0.51 * 10.0**-digits,
                equal_nan=True,
            )
            assert (near | (read == matrix)).all()


def _number(text: str) -> float:
    text = (
        text.strip().replace(r"\infty", "inf").replace(r"\mathrm{NaN}", "nan").replace("∞", "inf")
    )
    mantissa, _, power = text.replace(r" \cdot 10^{", "e").rstrip("}").partition("e")
    return float(f"{mantissa}e{power}" if power else mantissa)


@pytest.mark.parametrize("name", CASES)
def test_the_script_runs_with_numpy_alone_and_checks_every_stage(name, tmp_path):
    s = shown(CASES[name])
    script = tmp_path / "recompute.py"
    script.write_bytes(code.to_python(s.settings, s.trace, s.title))
    ran = subprocess.run(
        [sys.executable, "-I", "-W", "error", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == ("every stage matches\n", "")


def test_the_script_fails_where_a_number_is_another():
    s = shown(FOUR)
    source = code.to_python(s.settings, s.trace, s.title).decode()
    assert "55.0" in source
    with pytest.raises(AssertionError, match="scores"):
        exec(source.replace("55.0", "55.1"), {})


@pytest.mark.parametrize("name", CASES)
def test_the_notebook_runs_cell_by_cell(name, capsys):
    s = shown(CASES[name])
    book = json.loads(code.to_notebook(s.settings, s.trace, s.title))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    space = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
    assert capsys.readouterr().out == "every stage matches\n"
    assert np.allclose(
        space["weights"], s.trace.weights[s.settings.item] if s.settings.batch else s.trace.weights
    )


def test_every_character_of_a_token_comes_out_of_the_script_and_the_notebook():
    s, names = hostile(), {}
    exec(code.to_python(s.settings, s.trace, s.title).decode(), names)
    assert names["tokens"] == list(HOSTILE)
    cells = json.loads(code.to_notebook(s.settings, s.trace, s.title))["cells"]
    first = next(cell for cell in cells if cell["cell_type"] == "code")
    names = {}
    exec("".join(first["source"]), names)
    assert names["tokens"] == list(HOSTILE)


def test_a_title_stands_in_the_script_as_it_is_read():
    s = shown(FOUR, "−1e9 beside −∞")
    first = code.to_python(s.settings, s.trace, s.title).decode().splitlines()[0]
    assert first.startswith('"""−1e9 beside −∞: scaled dot-product attention')


@pytest.mark.parametrize("name", CASES)
def test_the_state_reads_back_as_the_same_settings(name):
    s = shown(CASES[name])
    assert links.from_file(FORMATS["state"].write(s)) == s.settings


def zipped(s: PageContents) -> tuple[list, dict[str, bytes]]:
    """What a person is told on the way, and the files."""
    steps = list(everything(s))
    with zipfile.ZipFile(io.BytesIO(steps[-1][2])) as archive:
        return steps, {name: archive.read(name) for name in archive.namelist()}


FIGURES = ["figure.pdf", "figure.svg", "figure.png"]


def test_the_zip_holds_every_format_and_the_figure_and_says_how_far_it_is():
    s = shown(SENTENCE)
    steps, files = zipped(s)
    assert [done for done, _, _ in steps] == sorted(done for done, _, _ in steps)
    assert steps[-1][0] == 1
    assert [what for _, what, _ in steps] == [*files, "the zip"]
    assert list(files) == [*(f.filename for f in FORMATS.values()), *FIGURES]
    starts = [files[name][:5] for name in FIGURES]
    assert starts == [b"%PDF-", b"<?xml", b"\x89PNG\r"]
    for found in FORMATS.values():
        if found.filename != "stages.npz":  # its zip holds the time
            assert files[found.filename] == found.write(s)


def test_the_zip_is_whole_and_says_why_where_no_figure_can_be_drawn():
    paper = Paper(height=2)
    _, files = zipped(shown(replace(FOUR, paper=paper, paper_stages=())))
    assert set(files) == {f.filename for f in FORMATS.values()} | {f"{n}.txt" for n in FIGURES}
    assert (
        files["figure.png.txt"]
        == (
            "12 panels do not fit on 8.25 × 2 cm with letters of 8 pt: choose fewer panels, smaller"
            " letters, or a larger width or height."
        ).encode()
    )


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", ["npz", "json", "matrices"])
def test_what_is_taken_away_can_be_brought_again_exactly(name, form):
    s = shown(CASES[name])
    found = opening.opened(FORMATS[form].filename, FORMATS[form].write(s))
    for stage, matrix in s.view.stages.items():
        if stage in found and (form != "npz" or s.settings.heads == 1 and not s.settings.batch):
            assert np.array_equal(np.atleast_2d(found[stage].read()), matrix, equal_nan=True), stage
    wanted = "Q" if s.settings.typed_qkv else "X"
    assert found[wanted].rows == (s.settings.tokens if form == "npz" else s.view.rows(wanted))


# ---- the report -------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self, content: bytes):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(content.decode())

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]


def test_the_report_fetches_nothing_and_runs_only_its_own_two_scripts():
    found = Tags(FORMATS["report"].write(shown(SENTENCE)))
    assert not [a for a in found.attributes if a[1] in ("src", "href", "action", "srcset")]
    assert found.tags.count("script") == 3  # data, plotly.js, and the few lines that draw
    policy = next(
        value for _, name, value in found.attributes if name == "content" and "default-src" in value
    )
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert "unsafe-eval" not in policy


def test_hidden_cells_of_the_report_are_struck_through_and_a_line_says_why():
    content = FORMATS["report"].write(shown(replace(FOUR, mask="causal"))).decode()
    data = content.split('id="panes">')[1].split("</script>")[0]
    layouts = {pane["name"]: pane["figure"]["layout"] for pane in json.loads(data)}
    strokes = {
        name: [shape["path"].count("M") for shape in layout.get("shapes", []) if "path" in shape]
        for name, layout in layouts.items()
    }
    hidden = {name: count for name, count in strokes.items() if count}
    assert hidden == {"mask": [6], "masked": [6], "weights": [6]}
    assert content.count("Struck through: hidden by the mask.") == 3


def test_every_token_is_text_in_every_format():
    s = hostile()
    plainly = Tags(FORMATS["report"].write(replace_tokens(s)))
    marked = Tags(FORMATS["report"].write(s))
    assert marked.tags == plainly.tags  # not one element more
    assert "</script><script>alert(1)" not in FORMATS["report"].write(s).decode()
    exec(FORMATS["python"].write(s).decode(), {})
    for cell in json.loads(FORMATS["notebook"].write(s))["cells"]:
        if cell["cell_type"] == "markdown":
            assert "<script>" not in "".join(cell["source"])
    assert "<b>" not in FORMATS["markdown"].write(s).decode().replace("\\<b\\>", "")
    assert "\\end{bmatrix}x" not in FORMATS["latex"].write(s).decode()
    assert json.loads(FORMATS["json"].write(s))["stages"]["scores"]["rows"] == list(HOSTILE)
    rows = list(csv.reader(io.StringIO(FORMATS["matrices"].write(s).decode(), newline="")))
    assert ["'=1+1"] in [row[:1] for row in rows]


def replace_tokens(s: PageContents) -> PageContents:
    return shown(replace(s.settings, tokens=tuple(f"t{k}" for k in range(len(HOSTILE)))), "t")
