"""Every file says what it is, in words that other tools read and pass over."""

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import messages
import numpy as np
import pandas
import pypdf
import pytest
from pages.conftest import as_text
from PIL import Image

import attention
from attention import report, save, self_attention
from attention.exports import formats, paper
from attention.exports.formats import FORMATS, PageContents, everything
from attention.figures.panes import panes
from attention.readers import opening
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.origin import Origin
from attention.session.state.run import run, view
from attention.session.state.settings import DRAWN, Settings, as_drawn
from attention.session.state.validate import check

FILE = "model.safetensors, h.0.attn.c_attn.weight, 100 % #1"
BEHIND = messages.NOT_ON_EXPLORE.format(missing=messages.BIAS_OF_EACH_SCORE, difference="0.5")
EXAMPLE = messages.OF_AN_EXAMPLE.format(title="A sentence, two heads")
SECONDS = {"1970-01-02": "86400", "1970-01-03": "172800"}


@pytest.fixture(autouse=True)
def on_a_day(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", SECONDS["1970-01-02"])


def page(**changes) -> PageContents:
    """Two heads, the second one shown, with W_K out of a file."""
    s = EXAMPLES["sentence"].build()
    W_K = s.matrices["W_K"].values
    s = s.with_matrix("W_K", Matrix(W_K, origin=Origin.of(FILE, W_K, BEHIND)))
    return of(check(replace(s, **{"head": 1, "mask": "causal"} | changes)))


def of(s: Settings) -> PageContents:
    trace = run(s)
    now = view(s, trace)
    return PageContents(s, trace, now, "A title", lambda: panes.panes(now))


MADE = f"attention-stages {attention.__version__}, 1970-01-02"
SAID = [
    EXAMPLE,
    FILE,
    "look-ahead (causal)",
    BEHIND,
]
LINES = [
    MADE,
    "head 1 of 0–1",
    f"X, W_Q, W_V: {EXAMPLE}",
    f"W_K: {FILE}",
    "mask: look-ahead (causal)",
    BEHIND,
]
WHOLE = [LINES[0], "all 2 heads", *LINES[2:]]
EXACT = messages.TEXT_IS_ROUNDED.format(digits=2)


def written(name: str, contents: PageContents | None = None) -> bytes:
    return FORMATS[name].write(contents or page())


# ---- each with a tool that is not ours -----------------------------------------------------------


def test_pandas_reads_the_tidy_csv_as_it_is_and_finds_item_head_and_origin_in_it():
    frame = pandas.read_csv(io.BytesIO(written("csv")), converters={"value": float})
    assert list(frame)[6:] == ["item", "head", "origin"]
    empty = {n: set(frame.loc[frame[n].isna(), "stage"]) for n in ("item", "head")}
    assert empty["item"] == {"W_Q", "W_K", "W_V"}
    assert empty["head"] == {"X", "joined"}
    assert set(frame["item"].dropna()) == {0} and set(frame["head"].dropna()) == {1}
    first = frame[(frame["row"] == 1) & (frame["column"] == 1)].set_index("stage")["origin"]
    assert frame["origin"].notna().sum() == len(first)
    assert frame["origin"][0] == first["X"] == "; ".join(LINES)
    assert first["W_K"] == f"{FILE}; {MADE}"
    assert first["mask"] == f"look-ahead (causal); {MADE}"
    assert first["weights"] == f"computed; {MADE}; {BEHIND}"
    shown = page().view
    weights = frame[frame["stage"] == "weights"].pivot(
        index="row", columns="column", values="value"
    )
    assert np.array_equal(weights.to_numpy(), shown.stages["weights"])


def test_pandas_passes_over_the_comments_of_the_csv_of_matrices():
    content, X = written("matrices"), page().view.stages["X"]
    head = content.decode().split("\r\n\r\n")[0].split("\r\n")
    assert [line.removeprefix("# ") for line in head] == LINES
    block = pandas.read_csv(io.BytesIO(content), comment="#", nrows=len(X), index_col=0)
    assert block.index.name == "X" and np.array_equal(block.to_numpy(), X)


def test_numpy_reads_the_lines_out_of_the_npz_without_unpickling():
    with np.load(io.BytesIO(written("npz")), allow_pickle=False) as arrays:
        assert arrays["about"].tolist() == WHOLE


def test_json_has_it_by_name():
    found = json.loads(written("json"))
    assert found["about"] == {
        "program": "attention-stages",
        "version": attention.__version__,
        "date": "1970-01-02",
        "item": "the only one",
        "head": "head 1 of 0–1",
        "inputs": {
            **dict.fromkeys(("X", "W_Q"), SAID[0]),
            "W_K": FILE,
            "W_V": SAID[0],
            "mask": SAID[2],
        },
        "stayed_behind": [BEHIND],
    }
    state = json.loads(written("state"))
    assert (state["version"], state["saved"]) == (attention.__version__, "1970-01-02")
    assert state["inputs"] == found["about"]["inputs"]
    assert state["stayed_behind"] == [BEHIND]
    assert (state["link"]["item"], state["link"]["head"]) == ("0", "1")


def test_latex_says_it_in_comments_and_nowhere_else():
    lines = written("latex").decode().splitlines()
    assert [line[2:] for line in lines[:7]] == [*LINES, EXACT]
    code = [line for line in lines if not line.startswith("%")]
    assert not any(word in line for line in code for word in ("safetensors", "attention-stages"))


def test_markdown_says_it_in_a_list_above_the_tables():
    lines = written("markdown").decode().splitlines()
    plain = [re.sub(r"\\(.)", r"\1", line) for line in lines]
    assert plain[:8] == [*(f"- {line}" for line in [*LINES, EXACT]), ""]
    assert plain[8].startswith("### ")


def test_the_script_says_it_in_its_docstring_and_the_notebook_in_its_first_cell():
    space = {}
    exec(compile(written("python"), "recompute.py", "exec"), space)
    assert space["__doc__"].splitlines()[2:] == WHOLE
    first = json.loads(written("notebook"))["cells"][0]
    plain = re.sub(r"\\(.)", r"\1", "".join(first["source"]))
    assert plain.splitlines()[4:] == [f"- {line}" for line in WHOLE]


def test_nothing_in_a_source_ends_a_comment_or_a_docstring():
    hostile = 'x\n"""\nraise SystemExit\n# \\end{array} -->\r</style><b>|' + "\\N{BELL}\\"
    s = page().settings
    W = s.matrices["W_V"].values
    s = s.with_matrix("W_V", Matrix(W, origin=Origin.of(hostile, W, hostile)))
    contents = of(s)
    now = contents.view
    exec(FORMATS["python"].write(contents).decode(), {})
    assert "SystemExit" not in re.sub(r"(?m)^%.*$", "", FORMATS["latex"].write(contents).decode())
    assert "<b>" not in FORMATS["report"].write(contents).decode()
    rows = list(csv.reader(io.StringIO(FORMATS["csv"].write(contents).decode(), newline="")))
    assert {len(row) for row in rows} == {9}
    for form in ("matrices", "json", "npz", "markdown"):
        found = opening.opened(FORMATS[form].filename, FORMATS[form].write(contents))
        assert set(now.stages) <= set(found) | {"mask"}, form


def test_the_report_says_it_in_its_first_table():
    s = page().settings
    cells = np.tri(len(s.tokens), dtype=bool)
    origin = Origin.of("mymask.csv", cells)
    contents = of(replace(s, mask=DRAWN, drawn=as_drawn(cells), drawn_from=origin))
    table = re.search(r"<tbody>.*?</tbody>", written("report", contents).decode(), re.DOTALL)[0]
    lines = [[cell.text for cell in line] for line in ElementTree.fromstring(as_text(table))]
    assert dict(lines) == {
        "made by": MADE,
        "holds": "head 1 of 0–1",
        "X, W_Q, W_V": SAID[0],
        "W_K": FILE,
        "mask": "mymask.csv",
        "tokens": ", ".join(s.tokens),
        "heads": "2",
        "formula": "Attention(Q, K, V) = softmax( Q Kᵀ / √d_k + M ) V   head 1 of 0–1",
        "scale": repr(contents.trace.scale),
        "softmax": "on",
        "stayed behind": BEHIND,
    }


@pytest.mark.parametrize(
    ("heads", "part"), [((), "head 1 of 0–1"), ((0,), "head 0 of 0–1"), ((0, 1), "all 2 heads")]
)
def test_figures_say_it_where_their_kinds_of_file_have_room(heads, part):
    now = page(paper_heads=heads)
    figure = paper.figure_of(now.settings, now.trace)
    text = "; ".join([part, *LINES[2:]])
    info = pypdf.PdfReader(io.BytesIO(paper.to_bytes(figure, "pdf"))).metadata
    assert (info.creator, info.subject) == (MADE, text)
    assert info.creation_date.date().isoformat() == "1970-01-02"
    with Image.open(io.BytesIO(paper.to_bytes(figure, "png"))) as picture:
        assert picture.text["Software"] == MADE
        assert picture.text["Description"] == text
        assert picture.text["Creation Time"] == "1970-01-02"
    svg = ElementTree.fromstring(paper.to_bytes(figure, "svg"))
    told = " ".join(" ".join(svg.find("{*}metadata").itertext()).split())
    assert MADE in told and text in told and "1970-01-02" in told


# ---- the names of files --------------------------------------------------------------------------


def test_names_of_files_say_the_item_and_the_head_where_there_are_several():
    names = {key: format.name(page().about) for key, format in FORMATS.items()}
    assert names == {
        "csv": "cells_head1.csv",
        "matrices": "matrices_head1.csv",
        "npz": "stages.npz",
        "json": "stages_head1.json",
        "latex": "stages_head1.tex",
        "markdown": "stages_head1.md",
        "lines": "who_looks_at_whom_head1.svg",
        "python": "recompute.py",
        "notebook": "recompute.ipynb",
        "report": "report_head1.html",
        "state": "state.json",
    }
    batch = EXAMPLES["batch"].build()
    now = view(batch, run(batch))
    alone = PageContents(batch, run(batch), now, "", list)
    assert FORMATS["csv"].name(alone.about) == "cells_item0.csv"


# ---- the date alone ------------------------------------------------------------------------------


def dated(monkeypatch, day: str, write) -> bytes:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", SECONDS[day])
    return write()


@pytest.mark.parametrize("name", FORMATS)
def test_two_saves_of_one_state_differ_in_the_date_alone(name, monkeypatch):
    contents = page()
    first, again, later = (
        dated(monkeypatch, day, lambda: written(name, contents))
        for day in ("1970-01-02", "1970-01-02", "1970-01-03")
    )
    assert first == again != later
    if name == "npz":
        before, after = (dict(np.load(io.BytesIO(content))) for content in (first, later))
        assert [key for key in before if not np.array_equal(before[key], after[key])] == ["about"]
    else:
        assert first.replace(b"1970-01-02", b"1970-01-03") == later


@pytest.mark.parametrize("form", paper.FORMS)
def test_two_files_of_a_figure_differ_in_the_date_alone(form, monkeypatch):
    now = page()

    def write() -> bytes:
        return paper.to_bytes(paper.figure_of(now.settings, now.trace), form)

    first = dated(monkeypatch, "1970-01-02", write)
    assert dated(monkeypatch, "1970-01-02", write) == first
    later = dated(monkeypatch, "1970-01-03", write)
    if form == "png":
        with Image.open(io.BytesIO(first)) as a, Image.open(io.BytesIO(later)) as b:
            assert np.array_equal(np.array(a), np.array(b))
    else:
        for old, new in ((b"1970-01-02", b"1970-01-03"), (b"D:19700102", b"D:19700103")):
            first = first.replace(old, new)
        assert first == later


def test_two_zips_of_one_state_are_the_same_bytes_at_any_hour(monkeypatch):
    """With texts for the figures, of which the test above has two of each kind."""
    monkeypatch.setattr(formats, "_figure", lambda figure, form: form.encode())
    monkeypatch.setattr(formats, "_picture", lambda page, stage: stage.encode())
    zips = []
    for hour in (0, 5):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(86400 + 3600 * hour))
        zips.append(list(everything(page()))[-1][2])
    assert zips[0] == zips[1]
    with zipfile.ZipFile(io.BytesIO(zips[0])) as archive:
        assert {file.date_time for file in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


# ---- from Python ---------------------------------------------------------------------------------


@pytest.fixture
def trace():
    W = [np.eye(4) * k for k in (1, 2, 3)]
    return self_attention(np.arange(24.0).reshape(2, 3, 4), *W, heads=2)


def test_a_trace_saved_from_python_says_version_part_and_the_source_it_was_given(trace, tmp_path):
    given = {"item": 1, "head": 0, "source": "layer 3\nof my model"}
    save(trace, tmp_path / "a.json", **given)
    about = json.loads((tmp_path / "a.json").read_text())["about"]
    assert about["inputs"] == dict.fromkeys(("X", "W_Q", "W_K", "W_V"), "layer 3 of my model")
    assert (about["item"], about["head"]) == ("item 1 of 0–1", "head 0 of 0–1")
    save(trace, tmp_path / "a.npz", source="mine")
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["about"].tolist() == [
            MADE,
            "all 2 items, all 2 heads",
            "X, W_Q, W_K, W_V: mine",
        ]
    save(trace, tmp_path / "a.tex", **given)
    assert "% X, W_Q, W_K, W_V: layer 3 of my model\n" in (tmp_path / "a.tex").read_text()
    report(trace, tmp_path / "a.html", **given)
    assert "layer 3 of my model" in (tmp_path / "a.html").read_text()
    save(trace, tmp_path / "b.md")
    assert messages.GIVEN_FROM_PYTHON in (tmp_path / "b.md").read_text()


def test_some_stages_of_a_trace_can_be_saved(trace, tmp_path):
    save(trace, tmp_path / "a.tex", stages=["weights"])
    found = (tmp_path / "a.tex").read_text()
    assert re.findall(r"(?m)^% (\w+)$", found) == ["weights"]
    save(trace, tmp_path / "a.csv", stages=("scores", "weights"))
    assert set(pandas.read_csv(tmp_path / "a.csv")["stage"]) == {"scores", "weights"}


@pytest.mark.parametrize(
    ("name", "given", "error", "sentence"),
    [
        (
            "a.tex",
            {"stages": ["W_O"]},
            ValueError,
            messages.STAGE_NOT_IN_TRACE.format(
                name="'W_O'",
                known="X, W_Q, W_K, W_V, Q, K, V, scores, scaled, masked, weights, output, joined",
            ),
        ),
        (
            "a.npz",
            {"stages": ["X"]},
            ValueError,
            messages.NPZ_HOLDS_ALL,
        ),
        ("a.csv", {"source": 3}, TypeError, messages.TEXT_EXPECTED.format(name="source", given=3)),
    ],
)
def test_what_cannot_be_said_is_refused_in_a_sentence(
    trace, tmp_path, name, given, error, sentence
):
    with pytest.raises(error) as refused:
        save(trace, tmp_path / name, **given)
    assert str(refused.value) == sentence
    assert list(tmp_path.iterdir()) == []
