"""Every format is opened again and compared with the trace; what strangers typed stays text."""

import csv
import io
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import NamedTuple

import messages
import numpy as np
import pytest
from amount import few
from PIL import Image

from attention import View, figure, paper_figure, self_attention
from attention.explain import arithmetic
from attention.explain.card import card_of
from attention.explain.worksheet import worksheet
from attention.exports import code, formats, text
from attention.exports.formats import FORMATS, PageContents, everything
from attention.exports.report import to_report
from attention.figures.panes import panes
from attention.html import looks
from attention.paper import Paper
from attention.readers import opening
from attention.session.edit import changes
from attention.session.state import links
from attention.session.state.about import UNKNOWN
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.validate import check

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


def hostile() -> PageContents:
    settings = FOUR.with_matrix("X", Matrix(np.ones((len(HOSTILE), 4))))
    return shown(replace(settings, tokens=HOSTILE), "".join(HOSTILE))


def value(cell) -> float:
    return float(cell)


@pytest.mark.parametrize("name", few(CASES))
def test_json_holds_every_cell_of_every_stage(name):
    s = shown(CASES[name])
    found = json.loads(text.to_json(s.view), parse_constant=pytest.fail)
    assert list(found["stages"]) == list(s.view.stages)
    for stage, matrix in s.view.stages.items():
        read = np.array([[value(cell) for cell in row] for row in found["stages"][stage]["values"]])
        assert np.array_equal(read, matrix, equal_nan=True)
        assert tuple(found["stages"][stage]["rows"]) == s.view.rows(stage)


@pytest.mark.parametrize("name", few(CASES))
def test_the_csv_of_matrices_reads_back_bit_for_bit(name):
    s = shown(CASES[name])
    blocks, block = [], []
    content = text.to_matrices(s.view, s.about).decode()
    said, _, content = content.partition("\r\n\r\n")
    assert [line[2:] for line in said.split("\r\n")] == s.about.lines()
    for row in csv.reader(io.StringIO(content, newline="")):
        block = [*block, row] if row else (blocks.append(block) or [])
    assert [rows[0][0] for rows in blocks] == list(s.view.stages)
    for rows, matrix in zip(blocks, s.view.stages.values(), strict=True):
        assert np.array_equal(
            np.array([[float(c) for c in row[1:]] for row in rows[1:]]), matrix, equal_nan=True
        )


@pytest.mark.parametrize("digits", [0, 3])
@pytest.mark.parametrize("name", few(CASES))
def test_latex_and_markdown_hold_the_rounded_numbers(name, digits):
    s = shown(CASES[name])
    latex = text.to_latex(s.view, digits).decode()
    found = [matrix_of(part) for part in re.findall(r"\\\[(.*?)\\\]", latex, re.DOTALL)]
    tables = text.to_markdown(s.view, digits).decode().split("### ")[1:]
    for tex, table, name in zip(found, tables, s.view.stages, strict=True):
        matrix = s.view.stages[name]
        rows = [[_number(c) for c in row] for row in tex.cells]
        for labels, there in ((tex.rows, s.view.rows(name)), (tex.columns, s.view.columns(name))):
            counted = [str(k) for k in range(1, len(there) + 1)]
            assert labels == (list(there) if list(there) != counted else [])
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


class Tex(NamedTuple):
    rows: list[str]
    columns: list[str]
    cells: list[list[str]]


def matrix_of(display: str) -> Tex:
    """A displayed matrix taken apart, its columns counted as LaTeX would count them."""
    kind, form, body = re.search(
        r"\\begin\{(bmatrix|array)\}(?:\{([r|]*)\})?\n(.*)\n\\end\{\1\}", display, re.DOTALL
    ).groups()
    lines = [line.strip() for line in body.split(r"\\")]
    ruled = len(lines) > 1 and lines[1].startswith(r"\hline")
    cells = [[c.strip() for c in line.removeprefix(r"\hline").split("&")] for line in lines]
    if kind == "array":
        assert {len(row) for row in cells} == {form.count("r")}
    beside = bool(form and form.startswith("r|"))
    columns = [_word(cell) for cell in cells.pop(0)[beside:]] if ruled else []
    rows = [_word(row.pop(0)) for row in cells] if beside else []
    return Tex(rows, columns, cells)


def _word(text: str) -> str:
    return re.fullmatch(r"\\text\{(.*)\}", text)[1].replace("\\_", "_")


def _number(text: str) -> float:
    text = (
        text.strip().replace(r"\infty", "inf").replace(r"\mathrm{NaN}", "nan").replace("∞", "inf")
    )
    mantissa, _, power = text.replace(r" \cdot 10^{", "e").rstrip("}").partition("e")
    return float(f"{mantissa}e{power}" if power else mantissa)


def test_a_small_weight_is_printed_alike_everywhere():
    """Word 1 gives 3.06e−7 of its attention to itself; cells have the decimals of the others."""
    s = shown(replace(FOUR, digits=8))
    drawn = panes.panes(s.view, digits=8)
    (weights,) = (pane for pane in drawn if pane.name == "weights")
    drawn_on_paper = paper_figure(s.trace, digits=8, paper=Paper(width=12))
    printed = {
        "board": str(weights.texts),
        "arithmetic": str(arithmetic.cell(s.view, "weights", 0, 0, 8)),
        "card": str(card_of(s.view, ("weights", 0, 0), 8)),
        "Plotly": str(figure(s.trace, digits=8).data),
        "Matplotlib": str([t.get_text() for t in drawn_on_paper.axes[0].texts]),
        "worksheet": str(worksheet(s.view, "weights", title="", sentence="", digits=8).tasks),
        "report": to_report(drawn, title="", about=UNKNOWN, facts={}).decode(),
        "Markdown": text.to_markdown(s.view, 8).decode(),
        "LaTeX": text.to_latex(s.view, 8).decode(),
    }
    for where, found in printed.items():
        by_itself = where in ("arithmetic", "card", "Markdown")  # which opens again
        assert ("3.0590217e−7" if by_itself else "0.00000031") in found, where
    for exact in (text.to_json, text.to_matrices):
        assert repr(float(s.trace.weights[0, 0])).encode() in exact(s.view)


@pytest.mark.parametrize("name", few(CASES))
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


@pytest.mark.parametrize("name", few(CASES))
def test_the_brief_code_computes_the_weights_from_the_inputs(name):
    s = shown(CASES[name])
    inputs, *_ = [text for _, text in code.sections(s.settings, s.trace)]
    names = {}
    exec(inputs + "\n" + code.brief(s.settings, s.trace), names)
    item = s.settings.item if s.settings.batch else ...
    np.testing.assert_allclose(names["weights"], s.trace.weights[item], rtol=1e-9, atol=1e-12)


def test_the_brief_code_of_the_first_example_is_eleven_lines_without_a_matrix():
    s = shown(EXAMPLES["cat-sat"].build())
    lines = code.brief(s.settings, s.trace).splitlines()
    assert len(lines) == 11 and not any("np.array" in line for line in lines)


def test_the_script_fails_where_a_number_is_another():
    s = shown(FOUR)
    source = code.to_python(s.settings, s.trace, s.title).decode()
    assert "55.0" in source
    with pytest.raises(AssertionError, match="scores"):
        exec(source.replace("55.0", "55.1"), {})


@pytest.mark.parametrize("name", few(CASES))
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


@pytest.mark.parametrize("name", few(CASES))
def test_the_state_reads_back_as_the_same_settings(name):
    s = shown(CASES[name])
    assert links.from_file(FORMATS["state"].write(s)) == s.settings


def zipped(s: PageContents) -> tuple[list, dict[str, bytes]]:
    """What a person is told on the way, and the files."""
    steps = list(everything(s))
    with zipfile.ZipFile(io.BytesIO(steps[-1][2])) as archive:
        return steps, {name: archive.read(name) for name in archive.namelist()}


FIGURES = [f"figure.{form}" for form in ("pdf", "svg", "png")]


def test_the_zip_holds_every_format_and_the_figure_and_says_how_far_it_is(monkeypatch):
    """One picture is drawn and stands for those of all stages."""
    draw = formats._picture
    drawn = cache(lambda: draw(s, "weights"))
    monkeypatch.setattr(formats, "_picture", lambda *_: drawn())
    s = shown(SENTENCE)
    steps, files = zipped(s)
    assert [done for done, _, _ in steps] == sorted(done for done, _, _ in steps)
    assert steps[-1][0] == 1
    assert [what for _, what, _ in steps] == [*files, "the zip"]
    figures = [name.replace(".", "_head0.") for name in FIGURES]
    pictures = [f"stages/{name}_head0.png" for name in s.view.stages]
    assert list(files) == [*(f.name(s.about) for f in FORMATS.values()), *figures, *pictures]
    assert [files[name][:5] for name in figures] == [b"%PDF-", b"<?xml", b"\x89PNG\r"]
    for name in pictures:
        with Image.open(io.BytesIO(files[name])) as picture:
            assert picture.format == "PNG" and picture.width == int(8.25 / 2.54 * 300)
    for found in FORMATS.values():
        assert files[found.name(s.about)] == found.write(s)


def test_the_zip_is_whole_and_says_why_where_no_figure_can_be_drawn(monkeypatch):
    monkeypatch.setattr(formats, "_picture", lambda page, stage: stage.encode())
    paper = Paper(height=2)
    _, files = zipped(shown(replace(FOUR, paper=paper, paper_stages=())))
    assert {f.filename for f in FORMATS.values()} | {f"{n}.txt" for n in FIGURES} == {
        name for name in files if not name.startswith("stages/")
    }
    assert (
        files["figure.png.txt"]
        == messages.PANELS_DO_NOT_FIT.format(count=12, wide=8.25, high=2, size=8).encode()
    )


@pytest.mark.parametrize("name", few(CASES))
@pytest.mark.parametrize("form", ["npz", "json", "matrices"])
def test_what_is_taken_away_can_be_brought_again_exactly(name, form):
    s = shown(CASES[name])
    found = opening.opened(FORMATS[form].filename, FORMATS[form].write(s))
    for stage, matrix in s.view.stages.items():
        if stage in found and (form != "npz" or s.settings.heads == 1 and not s.settings.batch):
            assert np.array_equal(np.atleast_2d(found[stage].read()), matrix, equal_nan=True), stage
    wanted = "Q" if s.settings.typed_qkv else "X"
    assert found[wanted].rows == (s.settings.tokens if form == "npz" else s.view.rows(wanted))


@pytest.mark.parametrize("name", few(CASES))
def test_the_csv_holds_the_numbers_of_the_one_head(name):
    s = shown(CASES[name])
    cells = {}
    for line in csv.DictReader(io.StringIO(FORMATS["csv"].write(s).decode(), newline="")):
        place = int(line["row"]) - 1, int(line["column"]) - 1
        cells.setdefault(line["stage"], {})[place] = float(line["value"])
    for stage, matrix in s.view.stages.items():
        assert cells[stage] == pytest.approx(
            dict(np.ndenumerate(matrix)), rel=0, abs=0, nan_ok=True
        )


@pytest.mark.parametrize("name", few(CASES))
def test_markdown_can_be_brought_again_with_its_words(name):
    s = shown(replace(CASES[name], digits=6))
    found = opening.opened("stages.md", FORMATS["markdown"].write(s))
    assert list(found) == list(s.view.stages)
    for stage, matrix in s.view.stages.items():
        read = np.atleast_2d(found[stage].read())
        np.testing.assert_allclose(read, matrix, rtol=1e-4, atol=1e-6, err_msg=stage)
        words = s.view.rows(stage)
        if words != tuple(str(k) for k in range(1, len(words) + 1)):
            assert found[stage].rows == words, stage


def test_words_in_other_scripts_say_what_compiles_them():
    s = shown(replace(FOUR, tokens=("a", "é", "שלום", "🙂")))
    note = b"% labels in other scripts: compile with LuaLaTeX and a font that has them\n"
    assert note in FORMATS["latex"].write(s)
    assert note not in FORMATS["latex"].write(shown(replace(FOUR, tokens=("a", "é", "ü", "ß"))))


# ---- the report -------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self, content: bytes):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(content.decode())

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]


class Tables(HTMLParser):
    """The cells of the coloured tables, line by line."""

    def __init__(self, content: bytes):
        super().__init__()
        self.found, self.inside = [], False
        self.feed(content.decode())

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.inside = ("class", "heat") in attributes
            self.found += [[]] * self.inside
        elif self.inside and tag == "tr":
            self.found[-1] = [*self.found[-1], []]
        elif self.inside and tag in ("td", "th"):
            self.found[-1][-1].append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "table"

    def handle_data(self, data):
        if self.inside and data.strip():
            self.found[-1][-1][-1] += data


def test_the_report_fetches_nothing_runs_nothing_and_is_small():
    content = FORMATS["report"].write(shown(SENTENCE))
    found = Tags(content)
    assert not [a for a in found.attributes if a[1] in ("src", "href", "action", "srcset")]
    assert "script" not in found.tags
    policy = next(
        value for _, name, value in found.attributes if name == "content" and "default-src" in value
    )
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline';")
    assert "script-src" not in policy
    assert len(content) < 60_000


@pytest.mark.parametrize("name", few(CASES))
def test_the_report_prints_every_number_of_every_stage_with_its_labels(name):
    s = shown(CASES[name])
    found = Tables(FORMATS["report"].write(s)).found
    assert len(found) == len(s.view.stages)
    for (head, *lines), stage in zip(found, s.view.stages, strict=True):
        assert head == ["", *s.view.columns(stage)]
        assert [row[0] for row in lines] == list(s.view.rows(stage))
        printed = [[_number(cell.replace("−", "-")) for cell in row[1:]] for row in lines]
        near = np.isclose(printed, s.view.stages[stage], rtol=0.06, atol=0.0051, equal_nan=True)
        assert near.all(), stage


def test_the_report_says_of_a_large_matrix_that_npz_holds_it():
    wide = np.linspace(-1, 1, 130 * 130).reshape(130, 130)
    large = self_attention(wide, wide, wide, np.eye(130)[:, :4])
    content = to_report(panes.panes(View.of(large)), title="", about=UNKNOWN, facts={})
    said = messages.TOO_MANY_TO_PRINT.format(size="130 × 130")
    assert content.decode().count(f'<p class="fine">{said}</p>') == 9
    assert [len(table) for table in Tables(content).found] == [131, 131, 131]
    assert "img" not in Tags(content).tags


def test_the_report_draws_who_looks_at_whom_where_shares_are_few_enough():
    drawn = Tags(FORMATS["report"].write(shown(SENTENCE)))
    shares = shown(SENTENCE).view.stages["weights"]
    assert drawn.tags.count("svg") == 1
    assert drawn.tags.count("line") == np.count_nonzero(shares * looks.WIDEST >= looks.THINNEST)
    scores = shown(replace(SENTENCE, softmax=False))
    assert "svg" not in Tags(FORMATS["report"].write(scores)).tags


def test_hidden_cells_of_the_report_are_struck_through_and_a_line_says_why():
    content = FORMATS["report"].write(shown(replace(FOUR, mask="causal"))).decode()
    parts = content.split("<h2 id=")[1:]
    hidden = {part.split('"')[1]: part.count("<td class=h>") for part in parts}
    assert {name: count for name, count in hidden.items() if count} == {
        "mask": 6,
        "masked": 6,
        "weights": 6,
    }
    assert content.count(messages.STRUCK_THROUGH) == 3
    assert ".h { background: linear-gradient(" in content


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
    with np.load(io.BytesIO(FORMATS["npz"].write(s)), allow_pickle=False) as arrays:
        assert tuple(arrays["tokens"]) == HOSTILE
    assert links.from_file(FORMATS["state"].write(s)) == s.settings


def replace_tokens(s: PageContents) -> PageContents:
    return shown(replace(s.settings, tokens=tuple(f"t{k}" for k in range(len(HOSTILE)))), "t")
